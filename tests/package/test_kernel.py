"""The compiled kernel of the live figures, in V8 as in a browser: it is mhalib's formulas,
compiled."""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from py_mini_racer import MiniRacer

from checks import assert_close, missing
from engines import ATTENTION, LIVE, exposed
from mhalib.losses import logistic
from strategies import REMAINDERS, SCALES, direction, problem, problems, rounding, steepness

ROOT = Path(__file__).parents[2]
KERNEL = exposed(LIVE / "programs.js", ATTENTION / "engine" / "multihead.js")
NO_COMPILER = "no ziglang, so NOBODY COMPARED THE PROGRAMS WITH THE FORMULAS: install the pins of .ci/tools.txt"

# mini_racer hands numbers over as text, which JavaScript and Python write so that no bit is lost.
BYTES = list((ATTENTION / "programs" / "heads.wasm").read_bytes())
HARNESS = (
    f"const bytes = Uint8Array.from({BYTES}), problems = [];"
    + """
const add = (n, T, d, H, X, y) => problems.push(headsProgram({ n, T, d, X, y }, H)) - 1;
const ask = (program, entry, found, given) => {
  for (const name of Object.keys(given)) program[name].set(given[name]);
  program.loaded();
  if (entry === "product") program.call("point");
  program.loaded();
  return [program.call(entry), ...program[found]].join(" ");
};
"""
)


@pytest.fixture(scope="module")
def browser():
    """V8 with what the engine's module of the heads exports."""
    context = MiniRacer()
    context.eval(KERNEL + HARNESS)
    return context


def add_problem(browser, X, y, heads):
    """Hands tokens and labels to the kernel, and gives the number of the problem that it made."""
    return int(
        browser.eval(f"add({json.dumps([*X.shape, heads, X.ravel().tolist(), y.tolist()])[1:-1]})")
    )


def ask(browser, number, theta, entry="gradient", found="slope", **given):
    """The loss that an entry of the kernel gives for a problem and a θ, and an array that it
    leaves."""
    given = json.dumps(
        {name: np.ravel(a).tolist() for name, a in (given | {"theta": theta}).items()}
    )
    loss, *array = browser.eval(f"ask(problems[{number}], '{entry}', '{found}', {given})").split()
    return float(loss), np.array(array, dtype=float)


@pytest.mark.parametrize(
    "sizes, scale",
    [
        *((sizes, "plain") for sizes in REMAINDERS),
        *((REMAINDERS[-3], scale) for scale in SCALES if scale != "plain"),
    ],
)
def test_product_and_score_are_those_of_the_formulas(browser, sizes, scale):
    """What a figure asks beside the gradient, which is in test_executors.py."""
    model, X, y = problem(3, **dict(zip("nTdH", sizes, strict=True)), **SCALES[scale])
    V = direction(model, 5)
    number = add_problem(browser, X, y, model.sizes[0])
    theta = model.ravel()
    if scale != "large parameters":  # there too much cancels
        along = ask(browser, number, theta, "product", "along", direction=V.ravel())[1]
        assert_close(along, model.hvp(X, y, V).ravel(), 1e-11)
    relevant = np.random.default_rng(8).random(X.shape[:2]) < 0.4
    found = ask(browser, number, theta, "forward", "score", relevant=relevant)[1]
    want = (
        (model.attention(X) * relevant[:, None, None, :]).sum(axis=-1).mean(keepdims=True).ravel()
    )
    assert_close(found, want, 1e-13, size=1.0)


@settings(max_examples=60)
@given(problems)
def test_kernel_is_the_formulas_at_every_scale(browser, drawn):
    model, X, y = drawn
    V, number = direction(model), add_problem(browser, X, y, model.sizes[0])
    (loss, grad), (want_loss, want) = ask(browser, number, model.ravel()), model.loss_and_grad(X, y)
    # As in test_gradient.py and test_multihead.py: relative to the size of what cancels where
    # attention is saturated.
    tolerance, z, G = 1e-14 * rounding(model, X), model.margins(X, y), steepness(model, X)
    slope, curvature = abs(logistic.slope(z)).mean(), logistic.curvature(z).mean()
    # Below 1e-308 the kernel's exponential is 0.
    assert_close(loss, want_loss, tolerance, size=1e-290)
    assert_close(grad, want.ravel(), tolerance, size=max(slope * G, 1e-290))
    along = ask(browser, number, model.ravel(), "product", "along", direction=V.ravel())[1]
    assert_close(
        along,
        model.hvp(X, y, V).ravel(),
        tolerance,
        max((G**2 * curvature + G**3 * slope) * V.norm(), 1e-290),
    )


def test_what_was_computed_before_does_not_matter(browser):
    model, X, y = problem(4, n=3)
    theta, fresh, used = (
        model.ravel(),
        *(add_problem(browser, X, y, model.sizes[0]) for _ in range(2)),
    )
    marks, along = {"relevant": np.eye(3, 4)}, {"direction": direction(model).ravel()}
    ask(browser, used, 30 * theta, "product", direction=theta)
    ask(browser, used, -theta, "forward", relevant=1 - np.eye(3, 4))
    ask(browser, used, 2 * theta)
    for asked in (
        ("forward", "score", marks),
        ("product", "along", along),
        ("forward", "score", marks),
        ("gradient", "slope", {}),
    ):
        one, other = (
            ask(browser, number, theta, *asked[:2], **asked[2])[1] for number in (fresh, used)
        )
        np.testing.assert_array_equal(one, other)


# Half-way between two powers of 2 the exponential's polynomial is farthest from its centre.
@pytest.mark.parametrize(
    "size", [1.0, 30.499 * np.log(2), 30.501 * np.log(2), 40.0, 700.0, 1e4, 1e150, 1e300]
)
@pytest.mark.parametrize("label", [1.0, -1.0])
def test_loss_is_accurate_at_every_margin(browser, size, label):
    # One token that reads 1: the decoder is the logit. Divided by it, no square in a norm
    # overflows.
    number = add_problem(browser, np.ones((1, 1, 1)), np.array([label]), 1)
    loss, grad = ask(browser, number, np.array([0.3, size]))
    margin = np.array(label * size)
    assert_close(loss / size, logistic(margin) / size, 2e-15)
    assert_close(grad, np.array([0.0, label * logistic.slope(margin)]), 2e-13)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_a_diverged_parameter_leaves_no_finite_loss(browser, value):
    model, X, y = problem(n=3)
    number, theta = add_problem(browser, X, y, model.sizes[0]), model.ravel()
    assert np.isfinite(ask(browser, number, theta)[0])
    for k in range(len(theta)):
        spoiled = theta.copy()
        spoiled[k] = value
        assert not np.isfinite(ask(browser, number, spoiled)[0]), f"parameter {k}"


@pytest.mark.parametrize("label", [1.0, -1.0])
@pytest.mark.parametrize(
    "theta", [[0.3, 1e308], [0.3, -1e308], [1e308, 0.5], [np.inf, 0.5]], ids=str
)
def test_overflow_is_that_of_mhalib_and_shows(browser, theta, label):
    # A logit of +∞ with the right sign has the loss 0: then the gradient is no number, nor is the
    # next loss.
    X, y = np.full((1, 1, 1), 30.0), np.array([label])
    loss, grad = ask(browser, add_problem(browser, X, y, 1), np.array(theta))
    with np.errstate(all="ignore"):
        np.testing.assert_equal(
            loss, problem(n=1, T=1, d=1, H=1)[0].unravel(np.array(theta)).loss(X, y)
        )
    assert not np.isfinite([loss, *grad]).all()


def test_one_score_that_is_no_number_leaves_no_finite_loss(browser):
    # The first query's scores are 0 and ∞ − ∞, the second's are 0.
    number = add_problem(browser, np.array([[[0.0, 0.0, 1.0], [30.0, -30.0, 0.0]]]), np.ones(1), 1)
    assert not np.isfinite(
        ask(browser, number, np.array([0.0] * 6 + [1e307, 1e307, 0.0] + [0.5] * 6))[0]
    )


def test_problems_do_not_share_memory(browser):
    first, second = problem(1), problem(2, n=6, T=3, d=5, H=4)
    numbers = [add_problem(browser, X, y, model.sizes[0]) for model, X, y in (first, second)]
    for number, (model, X, y) in zip(numbers, (first, second), strict=True):
        loss, grad = ask(browser, number, model.ravel())
        assert_close(loss, model.loss(X, y), 1e-13)
        assert_close(grad, model.loss_and_grad(X, y)[1].ravel(), 1e-12)


@pytest.mark.parametrize(
    "sizes", [(65536, 65536, 8, 1), (2, 65536, 65536, 65536), (0, 8, 8, 1), (65537, 1, 1, 1)]
)
def test_sizes_that_do_not_fit_give_no_kernel(browser, sizes):
    assert browser.eval(f"makeProgram(bytes)({list(sizes)}) === null")


@pytest.mark.parametrize(
    "spoil",
    [
        "globalThis.WebAssembly = undefined",
        "globalThis.WebAssembly = {}",
        "bytes[4] = 9",
        *(
            f"WebAssembly.{part} = class {{ constructor() {{ throw RangeError(); }} }}"
            for part in ("Module", "Instance")
        ),
    ],
)
def test_a_browser_that_cannot_run_the_kernel_gets_none(spoil):
    context = MiniRacer()
    context.eval(KERNEL + HARNESS)
    context.eval(f"{spoil}; 0")
    assert context.eval("(makeProgram(bytes)?.([1, 1, 1, 1]) ?? null) === null")


@pytest.mark.parametrize("webassembly", [True, False])
def test_a_page_carries_the_committed_kernel_and_uses_it_where_it_may(webassembly):
    context = MiniRacer()
    context.eval(("" if webassembly else "globalThis.WebAssembly = undefined;") + KERNEL + HARNESS)
    context.eval("const made = headsProgram({ n: 1, T: 1, d: 1, X: [1], y: [1] }, 1);")
    assert context.eval('made.call("gradient")') == pytest.approx(np.log(2))
    shares = context.eval("made.X.buffer.byteLength > 8")
    assert shares is webassembly  # a program of WebAssembly has one memory for all its arrays


@pytest.fixture
def copy(tmp_path):
    """A copy of what the build of the kernel reads and writes."""
    if importlib.util.find_spec("ziglang") is None:
        missing(NO_COMPILER)
    for name in [".ci/kernel.py", ".ci/tools.txt"]:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ["livegrad", "mhalib", "book/mhabook"]:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def build(root, *arguments):
    command = [sys.executable, root / ".ci" / "kernel.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_committed_programs_are_what_their_source_compiles_to_and_another_is_found(copy):
    folder = copy / "mhalib" / "live" / "programs"
    files = [
        *folder.iterdir(),
        *(copy / "livegrad/live/programs").iterdir(),
        *(copy / "book/mhabook/live/programs").iterdir(),
        *copy.glob("book/mhabook/*/program*.js"),
    ]
    built = folder / "heads.wasm"
    committed = {file: file.read_bytes() for file in files}
    spoiled = committed[built][:-1] + bytes([committed[built][-1] ^ 1])
    built.write_bytes(spoiled)
    check = build(copy, "--check")
    assert check.returncode == 1 and "make kernel" in check.stderr
    assert built.read_bytes() == spoiled
    assert build(copy).returncode == 0
    assert {file: file.read_bytes() for file in files} == committed


def test_another_compiler_is_refused(copy):
    pins = copy / ".ci/tools.txt"
    pins.write_text(pins.read_text("utf-8").replace("ziglang==", "ziglang==0."), "utf-8")
    check = build(copy, "--check")
    assert check.returncode == 2
    assert "ziglang 0." in check.stderr
