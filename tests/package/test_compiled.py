"""Recorded formulas as programs for all sizes: the committed ones are mhalib's formulas."""

import json

import numpy as np
import pytest
from py_mini_racer import MiniRacer

from checks import assert_close
from engines import LIVE, exposed
from executors import PROGRAMS as MAKERS
from executors import RUN, committed, flat, plain
from livegrad.record import Program
from livegrad.record.trace import Untraceable, recorded
from mhabook.live import formulas

PROGRAMS = {name: make() for name, make in MAKERS.items()}
# Others than those that a formula is recorded at; with odd ones, so that the last register is not
# full.
OTHERS = (13, 5, 7, 2, 3, 11, 0.6), (2, 3, 11, 7, 5, 1, 1.7), (1, 1, 2, 1, 1, 1, 0.5)


def drawn(program, sizes):
    """Arrays for the formulas, and the same as the program takes them."""
    rng = np.random.default_rng(5)
    arrays = {
        name: rng.standard_normal([sizes[size] for size in shape.split()]) / 2
        for name, shape in program.shapes.items()
    }
    if "relevant" in arrays:
        arrays |= {"y": np.sign(arrays["y"]), "relevant": (arrays["relevant"] > 0).astype(float)}
    return arrays


def compiled(name):
    """A V8 with the committed program of WebAssembly."""
    v8 = MiniRacer()
    v8.eval(exposed(LIVE / "programs.js") + RUN)
    content = list(committed(f"{name}.wasm").read_bytes())
    v8.eval(f"const made = makeProgram(Uint8Array.from({content}));")
    return v8


def assert_is_the_formula(v8, program, rel=1e-12):
    for values in OTHERS:
        sizes = dict(zip(program.sizes, values, strict=False))
        if "c" in sizes:
            sizes["c"] = values[-1]
        arrays = drawn(program, sizes)
        given = {name: a.tolist() for name, a in flat(program, arrays, sizes).items()}
        for entry, results in program.formulas(arrays | {"c": sizes.get("c")}).items():
            asked = f"run(made({list(sizes.values())}), {json.dumps(given)}, '{entry}')"
            found = json.loads(v8.eval(asked))
            results = {
                name: np.asarray(getattr(x, "numpy", lambda x=x: x)(), float)
                for name, x in results.items()
            }
            for name, want in flat(program, results, sizes).items():
                assert_close(
                    np.array(found[name]), want, rel, size=max(1e-3, float(np.abs(want).max()))
                )


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_committed_program_is_the_formula_at_other_sizes(name):
    assert_is_the_formula(compiled(name), PROGRAMS[name])


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_plain_program_is_the_formula_at_other_sizes(name):
    text = committed(f"{name}.js").read_text("utf-8")
    assert text.endswith(PROGRAMS[name].javascript())
    assert_is_the_formula(plain(text), PROGRAMS[name])


def test_a_regression_in_several_blocks_of_queries_is_refused(monkeypatch):
    monkeypatch.setattr("mhalib.models.regression.ENTRIES", 20)
    with pytest.raises(
        Untraceable, match=r"formulas.py, line \d+: the number 6 is 4 with other sizes"
    ):
        _ = formulas.regression().record


def one_entry(formula, **shapes):
    return Program(
        lambda a: {"entry": {"result": formula(*(a[name] for name in shapes))}}, shapes, "n"
    )


@pytest.mark.parametrize(
    "formula, words",
    [
        (lambda X: sum(X[:, k].sum() for k in range(X.shape[1])), "a loop over a size"),
        (lambda X: X[:, X.shape[1] - 1].sum(), "a place that depends on one"),
        (lambda X: X.sum() / (X.shape[1] + 1), "no product of powers of n, d"),
        (lambda X: (X * np.ones(X.shape[1])).sum(), "the same array for all sizes"),
    ],
    ids=["loop", "place", "sum of sizes", "array"],
)
def test_what_no_program_for_all_sizes_can_be_is_refused_with_its_line(formula, words):
    with pytest.raises(Untraceable, match=rf"test_compiled.py, line \d+: .*{words}"):
        _ = one_entry(formula, X="n d").record


def test_a_number_that_another_formula_has_does_not_lend_its_line():
    other = recorded(np.ones(2)) * 8  # that of the formula, at its first size
    formula = lambda X: X.sum() / (X.shape[1] + 1)  # noqa: E731
    with pytest.raises(
        Untraceable, match=f"test_compiled.py, line {formula.__code__.co_firstlineno}: the number 8"
    ):
        _ = one_entry(formula, X="n d").record
    del other


@pytest.mark.parametrize(
    "results",
    [
        lambda A, B: {"A": 2 * B, "B": 3 * A},
        lambda A, B: {"A": A.T},
        lambda A, B: {"A": 2 * A, "C": np.stack([A.reshape(-1), B.reshape(-1)])},
    ],
    ids=["exchanged", "transposed", "another shape"],
)
def test_a_result_over_what_is_still_to_be_read_is_refused(results):
    program = Program(lambda a: {"entry": results(a["A"], a["B"])}, {"A": "n n", "B": "n n"}, "n")
    with pytest.raises(Untraceable, match=r"line \d+: A is read after a result of that name"):
        program.javascript()


@pytest.mark.parametrize(
    "formula, words",
    [
        (lambda X: (X @ X.T).sum(), "samples meet each other"),
        (lambda X: (X[0] * X).sum(), "samples meet each other"),
        (lambda X: X.max(), "a maximum over samples"),
        (lambda X: X.sum(1)[X[:, 0].astype(int)].sum(), "samples meet each other"),
    ],
    ids=["samples meet", "one for all", "maximum", "a sample by its place"],
)
def test_what_has_no_compiled_form_is_refused_with_its_line(formula, words):
    with pytest.raises(Untraceable, match=rf"test_compiled.py, line \d+: .*{words}"):
        one_entry(formula, X="n 3").text()
