"""``train`` on a compiled program: the results of numpy, and numpy wherever anything is in the
way."""

import importlib.util
import os
import select
import shutil
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import mhalib as mha
from checks import assert_close, missing
from executors import Everything, TwoLayers, Words
from livegrad.model import compiled_gradient
from livegrad.record import Program, native
from mhalib.models import compiled_workspace as module
from mhalib.models.compiled_workspace import compiled_workspace
from optional import torch
from strategies import problem

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
DATA, TEST = (mha.data.tokenized_mixture(n=n, T=6, d=5, M=2, zeta=1 / 3, seed=n) for n in (37, 16))
START = mha.MultiHeadAttention.random(H=3, T=6, d=5, scale=0.3, seed=1)
COPIES = START.map(lambda a: a[[0, 1, 0, 2, 1, 0]])
FOLDER = native._folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def fresh(cache, monkeypatch):
    """Every test as in a new process, with the cache of this file."""
    monkeypatch.setattr(native, "_folder", lambda: cache)
    monkeypatch.setattr(native, "_found", {})
    monkeypatch.setattr(native, "_said", {})
    monkeypatch.delenv("LIVEGRAD_COMPILED", raising=False)
    native._compiler.cache_clear()
    native._private.cache_clear()
    yield
    native._compiler.cache_clear()


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """An empty cache."""
    folder = tmp_path / "empty"
    monkeypatch.setattr(native, "_folder", lambda: folder)
    return folder


def both(monkeypatch, *arguments, **options):
    """A run compiled, and the same by numpy."""
    path = mha.train(*arguments, **options)
    assert "compiled by" in native.status()
    with monkeypatch.context() as patch:
        patch.setenv("LIVEGRAD_COMPILED", "0")
        return path, mha.train(*arguments, **options)


def assert_same(one, two):
    """The same runs, up to rounding."""
    assert one.steps.tolist() == two.steps.tolist() and one.curves.keys() == two.curves.keys()
    for name, curve in two.curves.items():
        assert_close(one.curves[name], curve, 1e-12, np.abs(curve).max())
    for model, other in zip(one, two, strict=True):
        for name, a in other.arrays().items():
            assert_close(model.arrays()[name], a, 1e-12, np.abs(a).max())
            assert model.arrays()[name].base is None  # owns its memory


class Normalized:
    """A rule of a reader's own."""

    def start(self, theta):
        return 0.0 * theta

    def step(self, theta, grad, state, k):
        state = state + grad**2
        return theta - 0.05 * grad / (state**0.5 + 0.1), state


RULES = [
    mha.GradientDescent(0.5),
    mha.GradientDescent(mha.Cosine(0.5, 30)),
    mha.Momentum(0.2),
    mha.Adam(0.03),
    mha.AdamW(0.03, weight_decay=0.1),
    Normalized(),
]
OPTIONS = {
    "plain": {},
    "few records": {"record": [3, 17]},
    "test set": {"test": TEST},
    "minibatches": {"batch": 10},
    "one weight": {"only": "U"},
}


ROWS = [
    (rule, name)
    for rule in RULES
    for name in OPTIONS
    if name == "plain" or type(rule) in (mha.Adam, Normalized)
]
"""Each rule once, and each option with a rule of flat weights and one of models."""


@pytest.mark.parametrize("rule, name", ROWS, ids=lambda one: str(one).split(" object at ")[0])
@pytest.mark.parametrize("model", [START, COPIES], ids=["heads", "copies"])
def test_a_compiled_run_is_the_run_of_numpy(model, rule, name, monkeypatch):
    assert_same(*both(monkeypatch, model, DATA, rule, 40, **OPTIONS[name]))


@pytest.mark.parametrize(
    "model", [mha.MultiHeadAttention.zeros(4, 6, 5), START * 40], ids=["zero", "saturated"]
)
def test_a_long_run_is_the_run_of_numpy(model, monkeypatch):
    assert_same(*both(monkeypatch, model, DATA, mha.GradientDescent(0.3), 200))


def test_data_without_marks_have_no_score(monkeypatch):
    drawn = problem(n=3, T=5, d=1, H=2)
    data = mha.data.from_arrays(drawn.X, drawn.y)
    assert_same(*both(monkeypatch, drawn.model, data, mha.GradientDescent(0.1), 20))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_run_that_diverges_stops_where_that_of_numpy_does(monkeypatch):
    rng = np.random.default_rng(0)
    hopeless = mha.data.from_arrays(
        30 * rng.standard_normal((40, 6, 5)), np.where(rng.random(40) < 0.5, -1.0, 1.0)
    )
    one, two = both(
        monkeypatch, START, hopeless, mha.GradientDescent(lambda k: 10.0 ** min(60 * k, 308)), 20
    )
    assert one.stopped == two.stopped and "stopped being finite" in one.stopped
    assert one.steps.tolist() == two.steps.tolist() and len(one) > 1


@pytest.mark.parametrize("kernel", [mha.softmax, mha.gaussian, mha.normalized_gaussian], ids=repr)
@pytest.mark.parametrize(
    "rule", [mha.Adam(0.01), mha.Backtracking()], ids=lambda r: type(r).__name__
)
def test_a_layer_is_compiled_with_its_kernel(kernel, rule, monkeypatch):
    rng = np.random.default_rng(0)
    layer = mha.AttentionLayer.random(D=5, d=4, m=2, H=3, kernel=kernel)
    data = SimpleNamespace(X=rng.standard_normal((13, 6, 5)), y=rng.standard_normal((13, 6, 2)))
    assert_same(*both(monkeypatch, layer, data, rule, 30))


def test_runs_in_threads_leave_each_other_alone():
    """A program has static sizes and pointers."""
    other = mha.data.tokenized_mixture(n=90, T=9, d=8, M=2, zeta=1 / 3, seed=5)
    runs = [
        (START, DATA),
        (mha.MultiHeadAttention.random(H=4, T=9, d=8, scale=0.3, seed=2), other),
    ] * 2
    train = partial(mha.train, optimizer=mha.GradientDescent(0.5), steps=300)
    alone = [train(*run) for run in runs]
    with ThreadPoolExecutor(4) as threads:
        for one, two in zip(threads.map(lambda run: train(*run), runs), alone, strict=True):
            assert_same(one, two)


def test_what_a_layer_was_asked_stays():
    """Its gradients own their arrays, and a summary is that of its own weights."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4, 3, 5))
    y = rng.standard_normal((4, 3, 2))
    layer = mha.AttentionLayer.random(5, 4, 2)
    space = compiled_workspace(layer, X, y)
    _, slope = space.loss_and_grad(layer)
    space.loss_and_grad(2.0 * layer)
    assert_close(slope.WQ, layer.loss_and_grad(X, y)[1].WQ, 1e-12)
    assert space.summary(layer)["loss"] == pytest.approx(layer.loss(X, y), rel=1e-12)


def test_a_loss_alone_is_recorded_once():
    """A gradient that is derived costs a run one record, however many steps it has."""
    before = Counted.recorded
    path = mha.train(Counted(np.ones((2, 3))), DATA, mha.GradientDescent(0.1), 20, record=2)
    assert path.loss[-1] < path.loss[0] and Counted.recorded == before + 1
    _, slope = path[-1].loss_and_grad(DATA.X, DATA.y)
    assert path.grad_norm[-1] == pytest.approx(slope.norm(), rel=1e-12)


def test_a_gradient_that_is_asked_by_hand_is_recorded_once_for_each_shape_and_setting(monkeypatch):
    def recorded(*asked):
        before = Counted.recorded
        for model, data in asked:
            _, grad = model.loss_and_grad(data.X, data.y)
            assert_close(grad.W, 2 * Counted.factor * model.power * model.W, 1e-12)
        return Counted.recorded - before

    model = Counted(np.ones((2, 5)))
    assert recorded((model, DATA), (0.5 * model, DATA), (0.0 * model, DATA), (model, DATA)) == 1
    assert recorded((model, TEST), (model, DATA), (model, TEST)) == 1
    assert recorded((replace(model, power=3.0), DATA), (model, DATA)) == 1
    monkeypatch.setattr(Counted, "factor", 7.0)  # nothing of the model, and it is noticed
    assert recorded((0.0 * model, DATA), (model, DATA)) == 1
    assert recorded(*((Counted(np.ones((k, 1))), DATA) for k in range(1, 9))) == 8
    assert recorded((model, DATA)) == 1  # it was the one that was asked for longest ago


@dataclass(frozen=True, eq=False, repr=False)
class Counted(mha.models.Vector):
    """A model with a loss alone, which counts how often it is recorded."""

    W: np.ndarray
    power: float = 1.0
    recorded = 0
    factor = 1.0

    def loss(self, X, y):
        Counted.recorded += not isinstance(X, np.ndarray)
        return Counted.factor * self.power * (self.W * self.W).sum()


@dataclass(frozen=True, eq=False, repr=False)
class Gram(mha.models.Vector):
    """Samples meet each other."""

    w: np.ndarray

    def loss(self, X, y):
        means = X.mean(axis=1) * self.w
        return ((means @ means.T) ** 2).sum() / len(y)


class Largest(Gram):
    """A maximum over samples."""

    def loss(self, X, y):
        return (X.mean(axis=1) * self.w).max()


class Thresholded(Gram):
    """Another function of many samples than of few."""

    def loss(self, X, y):
        factor = 3.0 if len(y) == 37 else 1.0
        return factor * ((X.mean(axis=1) * self.w) ** 2).mean()


class LogOfExp(Gram):
    """A logarithm of an exponential that becomes small."""

    def loss(self, X, y):
        return -np.log(np.exp(X @ self.w)).mean()


def other_values():
    layer = mha.AttentionLayer.random(D=5, d=4, m=1)
    return mha.AttentionLayer(layer.WQ, layer.WK, layer.WV[..., :2], layer.WO[:, :2])


@dataclass(frozen=True, eq=False, repr=False)
class Heir(mha.MultiHeadAttention):
    """A model whose formulas may be others."""


@pytest.mark.parametrize(
    "model, data",
    [
        (START.map(lambda a: a.astype("float32")), DATA.map(lambda a: a.astype("float32"))),
        (Heir(START.W, START.U), DATA),
        (mha.AttentionRegression.random(d=3, p=2), mha.data.linear_regression(n=9, d=3, p=2)),
        (other_values(), SimpleNamespace(X=np.ones((2, 3, 5)), y=np.ones((2, 3, 1)))),
        (
            mha.MultiHeadAttention.random(2, 3, 25),
            SimpleNamespace(X=np.ones((2, 3, 25)), y=np.ones(2)),
        ),
        (
            mha.MultiHeadAttention.zeros(2, 3, 51),
            SimpleNamespace(X=np.ones((2, 3, 51)), y=np.ones(2)),
        ),
        (
            mha.AttentionLayer.random(65, 2, 1),
            SimpleNamespace(X=np.ones((2, 3, 65)), y=np.ones((2, 3, 1))),
        ),
    ],
    ids=[
        "float32",
        "heir",
        "regression",
        "narrow values",
        "wide heads",
        "a wide head",
        "a wide layer",
    ],
)
def test_all_else_keeps_its_way(model, data):
    with pytest.raises(native.Unusable):
        compiled_workspace(model, data.X, data.y)
    assert native._found == {}


def test_torch_keeps_its_way():
    data = DATA.map(torch.as_tensor)
    with pytest.raises(native.Unusable, match="arrays of numpy in double precision"):
        compiled_workspace(START.map(torch.as_tensor), data.X, data.y)
    assert native._found == {}


def test_a_batch_beyond_the_memory_keeps_its_way(monkeypatch):
    monkeypatch.setattr(compiled_gradient, "LARGEST", 1000)
    with pytest.raises(native.Unusable, match="do not fit into a program's memory"):
        compiled_workspace(START, DATA.X, DATA.y)


def test_what_was_not_computed_at_theta_is_computed():
    """A summary is that of its θ and its marks, whatever was asked before."""
    space = compiled_workspace(START, DATA.X, DATA.y)
    plain = START.workspace(DATA.X, DATA.y)
    zero = space.pack(0 * START)
    marks = DATA.relevant.astype(float)
    for theta, model in ((zero, 0 * START), (space.pack(START), START), (zero, 0 * START)):
        for relevant in (None, marks, 1 - marks, marks):
            expected = plain.summary(plain.pack(model), relevant)
            assert space.summary(theta, relevant) == pytest.approx(expected, rel=1e-12)


def numpy_because(reason):
    """A run is numpy's, and this is why."""
    path = mha.train(START, DATA, mha.GradientDescent(0.5), 5)
    assert reason in native.status() and "compiled by" not in native.status()
    assert path.loss[-1] < path.loss[0]


def test_a_reader_may_switch_it_off(monkeypatch):
    monkeypatch.setenv("LIVEGRAD_COMPILED", "0")
    numpy_because("numpy: LIVEGRAD_COMPILED=0")


def test_without_a_compiler_numpy_does_the_work(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(native, "find_spec", lambda name: None)
    numpy_because("no compiler found; pip install 'livegrad[fast]'")


def test_the_first_run_compiles_however_short_it_is(empty):
    mha.train(START, DATA, mha.GradientDescent(0.5), 1)
    assert "compiled by" in native.status() and len(list(empty.iterdir())) == 1


def test_a_test_set_may_be_compiled_where_the_training_set_is_not(monkeypatch):
    """One may be too large, and the other not."""
    sizes = [{"n": len(data.X), "T": 6, "d": 5, "H": 3} for data in (DATA, TEST)]
    library = native.library(module.HEADS)
    larger, smaller = (library.bytes(module.HEADS, each) for each in sizes)
    monkeypatch.setattr(compiled_gradient, "LARGEST", (larger + smaller) // 2)
    compiled_workspace(START, TEST.X, TEST.y)
    with pytest.raises(native.Unusable):
        compiled_workspace(START, DATA.X, DATA.y)
    path = mha.train(START, DATA, mha.GradientDescent(0.5), 20, test=TEST)
    assert path.test_loss[-1] == pytest.approx(path[-1].loss(TEST.X, TEST.y), rel=1e-12)


@pytest.mark.parametrize(
    "right, wrong",
    [
        ("return at_loss[0];", "return at_loss[0] *= 1 + 1e-10;"),
        ("return at_loss[0];", "at_score[0] += 1e-11; return at_loss[0];"),
        ("wide(exp_(", "wide(1e-9 + exp_("),
    ],
)
def test_a_program_that_errs_is_not_used(right, wrong, monkeypatch, empty):
    text = Program.text
    monkeypatch.setattr(Program, "text", lambda self: text(self).replace(right, wrong))
    assert right in text(module.HEADS)
    numpy_because("than numpy at the sizes")
    assert list(empty.iterdir()) == []


def test_without_a_cache_the_library_lies_in_a_folder_of_the_process(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(native, "_folder", lambda: tmp_path / "file" / "livegrad")
    mha.train(START, DATA, mha.GradientDescent(0.5), 5)
    in_a_folder_of_the_process("[Errno")  # 20, not a directory; or 17, it exists


def in_a_folder_of_the_process(reason):
    """It is compiled, lies in a folder that nobody else may enter, and this is why."""
    assert (
        "compiled by" in native.status()
        and f", for this process alone: {reason}" in native.status()
    )
    folder = native._found["MultiHeadAttention"].path.parent
    assert folder.name.startswith("livegrad-") and stat.S_IMODE(folder.stat().st_mode) == 0o700


# One call, one result

EDGE = """
import hashlib
import mhalib as mha
from livegrad.record import native
data = mha.data.tokenized_mixture(n=40, T=5, d=6, M=3, zeta=0.2, seed=0)
start = mha.MultiHeadAttention.random(3, 5, 6, scale=0.3, seed=0)
for _ in range(3):
    path = mha.train(start, data, mha.Momentum(30.0), 3000)
    print(hashlib.sha256(path.loss.tobytes() + path[-1].W.tobytes()).hexdigest())
print("compiled by" in mha.native.status())
"""
"""Three times the same run, at an edge of stability: it enlarges a difference in the last digit."""


def said_by(code, tmp_path, **environment):
    """What a process of its own prints, with a cache in this folder, and the compiler that writes
    down its calls."""
    home = {
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "LIVEGRAD_COMPILED": "1",
    } | environment
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | home | {"PATH": path},
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return ended.stdout.split()


@pytest.mark.skipif(os.name == "nt", reason="the compiler is a shell script here")
def test_the_same_call_gives_the_same_bits_in_every_process(tmp_path):
    compiler = shutil.which("c++") or f"{sys.executable} -m ziglang cc -x c++"
    script(tmp_path / "c++", f'echo "$@" >> {tmp_path}/calls\nexec {compiler} "$@"')
    first, second, third = (said_by(EDGE, tmp_path) for _ in range(3))
    assert first == second == third
    assert first == [first[0]] * 3 + ["True"]
    assert said_by(EDGE, tmp_path, LIVEGRAD_COMPILED="0")[0] != first[0]  # it would be seen
    assert (tmp_path / "calls").read_text().count("-shared") == 1


def test_a_process_keeps_to_what_it_decided(monkeypatch, empty):
    with monkeypatch.context() as patch:
        patch.setattr(Program, "text", lambda self: "this is no program")
        numpy_because("does not compile it: ")
    numpy_because("does not compile it: ")


# What a compiler may do


def script(path, text):
    """A shell script to call."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


OUTPUT = 'while [ "$1" != -o ]; do shift; done; out="$2"; '
COMPILERS = {
    "words in Latin-1": ("printf 'Fehler: \\374' >&2; exit 1", "does not compile it: Fehler: �"),
    "killed": ("kill -9 $$", "does not compile it: it is killed by signal 9"),
    "nothing": ("exit 0", "it ends with status 0 and leaves no library"),
    "an empty library": (f'{OUTPUT}: > "$out"', "ends with status 1 when it is tried"),
    "words for a library": (f'{OUTPUT}echo words > "$out"', "ends with status 1 when it is tried"),
    "a folder": (f'{OUTPUT}mkdir "$out"', "leaves no library"),
    "a pipe": (f'{OUTPUT}mkfifo "$out"', "leaves no library"),
}


@pytest.mark.skipif(os.name == "nt", reason="the compiler is a shell script here")
@pytest.mark.parametrize("text, reason", COMPILERS.values(), ids=COMPILERS)
def test_whatever_a_compiler_does_numpy_does_the_work(text, reason, monkeypatch, tmp_path, empty):
    script(tmp_path / "bin" / "c++", text)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    numpy_because(reason)
    assert list(empty.iterdir()) == []


CRASHING = 'extern "C" int lanes() { return 4; } extern "C" double layout(char *, const double *) '
PROGRAMS = {
    "no program": ("this is no program", "does not compile it: "),
    "without functions": (
        'extern "C" int x; int x;',
        "ends with status 1 when it is tried: AttributeError",
    ),
    "crashes": (f"{CRASHING} {{ __builtin_trap(); }}", "is killed by signal"),
    "claims a huge memory": (
        f"{CRASHING} {{ return 1e18; }}",
        "ends with status 1 when it is tried",
    ),
    "ends the process": (
        '#include <stdlib.h>\nextern "C" int lanes() { _Exit(0); }',
        "FileNotFoundError",
    ),
}


@pytest.mark.skipif(os.name == "nt", reason="the signals of POSIX")
@pytest.mark.parametrize("text, reason", PROGRAMS.values(), ids=PROGRAMS)
def test_a_library_that_is_no_good_is_not_kept(text, reason, monkeypatch, empty):
    monkeypatch.setattr(Program, "text", lambda self: text)
    numpy_because(reason)
    assert list(empty.iterdir()) == []


def test_a_library_that_was_cut_is_not_kept(monkeypatch, empty):
    compiled = native._compiled
    monkeypatch.setattr(native, "_compiled", lambda *arguments: compiled(*arguments)[:5000])
    numpy_because("when it is tried")
    assert list(empty.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="the compiler is a shell script here")
def test_a_compiler_that_takes_long_says_so_and_is_ended_by_an_interrupt_with_what_it_started(
    monkeypatch, tmp_path, empty, capsys
):
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    # The compiler itself interrupts the run that waits for it, once that has said that it waits.
    script(
        tmp_path / "bin" / "c++",
        f"sleep 1000 > {alive} &\nwhile [ ! -e {tmp_path}/said ]; do :; done; kill -INT $PPID\nwait",
    )
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(native, "PATIENT", 1.0)
    monkeypatch.setattr(native.sys, "stderr", Telling(tmp_path / "said"))
    monkeypatch.delenv("LIVEGRAD_FIGURES", raising=False)
    end = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(KeyboardInterrupt):
            mha.train(START, DATA, mha.GradientDescent(0.5), 5)
        # nobody holds its other end
        assert select.select([end], [], [], 60)[0] and os.read(end, 1) == b""
    finally:
        os.close(end)
    assert "c++ compiles MultiHeadAttention, once for this machine; interrupt it, and" in (
        tmp_path / "said"
    ).read_text("utf-8")
    assert native._found == {}  # the next run tries again


@pytest.mark.parametrize(
    ("asked", "words"), [("book", ""), ("cdn", "c++ compiles Model, once for this machine")]
)
def test_a_page_of_the_book_says_nothing_of_a_compiler_that_takes_long(
    monkeypatch, capsys, asked, words
):
    monkeypatch.setenv("LIVEGRAD_FIGURES", asked)
    monkeypatch.setattr(native, "Timer", AtOnce)
    with native._told("Model", "c++"):
        pass
    assert capsys.readouterr().err[: len(words) or None] == words


class AtOnce:
    """A timer whose time is over when it starts."""

    def __init__(self, seconds, end):
        self.start = end

    def cancel(self):
        """Nothing is left to end."""


class Telling:
    """A file that appears when something is written."""

    def __init__(self, path):
        self.path = path

    def write(self, text):
        self.path.write_text(text, "utf-8")


@pytest.mark.skipif(os.name == "nt", reason="a pipe of POSIX")
def test_a_pipe_is_no_compiler(monkeypatch, tmp_path, empty):
    for name in ("c++", "g++", "clang++"):
        os.mkfifo(tmp_path / name, 0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(native, "find_spec", lambda name: None)
    numpy_because("no compiler found")


@pytest.mark.skipif(os.name == "nt", reason="the compiler is a shell script here")
@pytest.mark.parametrize(
    "text, said",
    [
        ("printf 'c\\374 1'", "c� 1"),
        ("sleep 1000", "c++ (which does not say its version)"),
        ("exit 1", "c++ (which does not say its version)"),
    ],
    ids=["Latin-1", "hangs", "says nothing"],
)
def test_a_version_may_be_anything(text, said, monkeypatch, tmp_path):
    script(tmp_path / "c++", text)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(native, "QUESTION", 1.0)
    assert native.status() == f"nothing was trained yet; {said}"


@pytest.mark.skipif(os.name == "nt", reason="the command is a shell script here")
@pytest.mark.parametrize(
    "text, stub",
    [("sleep 1000", True), ("exit 2", True), ("printf '\\374'", False), (None, True)],
    ids=["hangs", "fails", "Latin-1", "missing"],
)
def test_on_macos_the_tools_are_asked_for(text, stub, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(native, "QUESTION", 1.0)
    monkeypatch.setattr(native.sys, "platform", "darwin")
    if text:
        script(tmp_path / "xcode-select", text)
    assert native._is_stub("/usr/bin/c++") is stub
    assert native._is_stub("/opt/bin/c++") is False


# Whose the cache is

POSIX = pytest.mark.skipif(os.name == "nt", reason="owners and modes of POSIX")


@POSIX
def test_the_cache_is_closed_to_others_whatever_the_umask(empty, monkeypatch):
    folder = empty / "above" / "livegrad"
    monkeypatch.setattr(native, "_folder", lambda: folder)
    before = os.umask(0)
    try:
        mha.train(START, DATA, mha.GradientDescent(0.5), 5)
    finally:
        os.umask(before)
    (file,) = folder.iterdir()
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (empty, folder.parent, folder, file)]
    assert modes == [0o700, 0o700, 0o700, 0o600]
    assert str(file) in native.status()


@pytest.fixture
def planted(cache, empty, monkeypatch):
    """The user's own library, alone in a cache."""
    with monkeypatch.context() as patch:
        patch.setattr(native, "_folder", lambda: cache)
        library = native.library(module.HEADS)
    native._found.clear()
    empty.mkdir(0o700)
    return Path(shutil.copy2(library.path, empty))


def test_a_library_that_lies_in_the_cache_is_taken(planted, monkeypatch):
    monkeypatch.setattr(native, "_compiled", None)
    mha.train(START, DATA, mha.GradientDescent(0.5), 5)
    assert f"at once: {planted}" in native.status()


@pytest.mark.parametrize(
    "damaged",
    [lambda data: data[:1000], lambda data: data[:-1] + bytes([data[-1] ^ 1])],
    ids=["cut", "one bit"],
)
def test_a_damaged_library_is_compiled_again(damaged, planted):
    whole = planted.read_bytes()
    planted.write_bytes(damaged(whole))
    mha.train(START, DATA, mha.GradientDescent(0.5), 5)
    assert f"at once: {planted}" in native.status() and planted.read_bytes() == whole


@POSIX
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770])
def test_nothing_is_loaded_from_a_folder_where_others_may_write(mode, planted, empty):
    empty.chmod(mode)
    mha.train(START, DATA, mha.GradientDescent(0.5), 5)
    in_a_folder_of_the_process(f"others may write to {empty}; `chmod go-w {empty}` forbids it")


@POSIX
def test_nothing_is_loaded_that_belongs_to_another_user(planted, empty, monkeypatch):
    me = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: me + 1)
    assert native._cache()[1] == f"{empty} belongs to user {me}, not to {me + 1}"
    numpy_because("cannot be read again")  # for the folder of the process is another user's, too


@POSIX
@pytest.mark.parametrize("exchange", ["others may write", "a link", "a pipe"])
def test_a_library_that_others_may_have_written_is_compiled_again(exchange, planted, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    if exchange == "others may write":
        planted.chmod(0o666)
    else:
        planted.rename(elsewhere)
    if exchange == "a link":
        planted.symlink_to(elsewhere)
    elif exchange == "a pipe":
        os.mkfifo(planted)
    mha.train(START, DATA, mha.GradientDescent(0.5), 5)
    assert f"at once: {planted}" in native.status()
    mode = planted.lstat().st_mode
    assert stat.S_IMODE(mode) == 0o600 and stat.S_ISREG(mode)


@POSIX
@pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="files have no names by their numbers here"
)
def test_what_was_opened_is_loaded_whatever_has_its_name_by_now(planted, tmp_path):
    with native.open_own(planted) as opened:
        planted.rename(tmp_path / "elsewhere")
        planted.write_text("another file")
        assert native.Library(opened).lanes == native.library(module.HEADS).lanes


@pytest.mark.skipif(sys.platform == "darwin" or os.name == "nt", reason="the folder of XDG")
def test_a_relative_cache_folder_counts_as_none(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for chosen in ("here", "", "./here"):
        monkeypatch.setenv("XDG_CACHE_HOME", chosen)
        assert FOLDER() == tmp_path / ".cache" / "livegrad"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "there"))
    assert FOLDER() == tmp_path / "there" / "livegrad"
    monkeypatch.setenv("HOME", "here")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setattr(native, "_folder", FOLDER)
    assert native._cache()[1] == "here/.cache/livegrad is no absolute path"


def test_a_full_disk_is_left_as_it_was(monkeypatch, empty):
    def full(part, path):
        raise OSError(28, "No space left on device")

    empty.mkdir(0o700)
    monkeypatch.setattr(os, "replace", full)
    numpy_because("No space left on device")
    assert list(empty.iterdir()) == list(native._private().iterdir()) == []


# Ahead


def test_everything_is_compiled_ahead(monkeypatch):
    names = [
        "MultiHeadAttention",
        "AttentionLayer(Softmax())",
        "AttentionLayer(Gaussian(c=0.5))",
        "AttentionLayer(NormalizedGaussian(c=0.5))",
    ]
    said = mha.native.warm()
    assert said == native.status()
    assert [line.partition(":")[0] for line in said.splitlines()] == names
    assert said.count(": compiled by") == 4
    monkeypatch.setattr(native, "_compiled", None)  # nothing is left to do
    assert mha.native.warm() == said


def test_what_is_switched_off_is_not_compiled_ahead(monkeypatch, empty):
    monkeypatch.setenv("LIVEGRAD_COMPILED", "0")
    said = mha.native.warm().splitlines()
    assert len(said) == 4 and all(line.endswith(": numpy: LIVEGRAD_COMPILED=0") for line in said)
    assert native._found == {}


def test_the_wheel_of_ziglang_compiles_too(monkeypatch, empty):
    if importlib.util.find_spec("ziglang") is None:
        missing("no ziglang, so NOBODY COMPILED WITH IT: pip install ziglang")
    monkeypatch.setenv("PATH", "")
    path = mha.train(START, DATA, mha.GradientDescent(0.5), 20)
    assert "compiled by ziglang" in native.status()
    assert_same(path, mha.train(START, DATA, mha.GradientDescent(0.5), 20, compiled=False))


def test_rows_of_several_matrices_are_those_of_one_only_where_they_lie_so():
    products = {"together": "nthk,kj->nthj", "apart": "nthk,kj->ntjh", "exchanged": "nthk,kj->nhtj"}
    found = native.library(
        Program(
            lambda a: {
                "all": {"loss": a["y"].sum()}
                | {
                    name: np.einsum(subscripts, a["A"], a["B"])
                    for name, subscripts in products.items()
                }
            },
            {"A": "n T H d", "B": "d m", "y": "n"},
            "n",
            name="products",
        )
    )
    assert found, native.status()  # it is compared with numpy before it is given


# A reader's own model

OWN = TwoLayers(
    *(
        0.3 * np.random.default_rng(0).standard_normal(shape)
        for shape in ((5, 5), (5, 5), (5, 5), (6, 5))
    )
)


@pytest.fixture
def eager(monkeypatch):
    """Every own model is worth a compiler."""
    monkeypatch.setattr(compiled_gradient, "WORTH", 0.0)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_run_of_an_own_model_is_the_run_of_numpy(options, monkeypatch, eager):
    assert_same(*both(monkeypatch, OWN, DATA, mha.Adam(0.03), 40, **options))


@pytest.mark.parametrize("rule", [mha.Adam(0.03), Normalized()], ids=["flat", "models"])
@pytest.mark.parametrize("batch", [None, 10])
def test_the_loss_of_a_test_set_is_compiled_where_the_gradients_are(batch, rule, monkeypatch):
    asked = []
    plain = TwoLayers.loss

    def counted(self, X, y):
        asked.append(X is TEST.X)
        return plain(self, X, y)

    monkeypatch.setattr(TwoLayers, "loss", counted)
    run = {"batch": batch, "test": TEST, "record": 9}
    path = mha.train(OWN, DATA, rule, 40, compiled=True, **run)
    assert sum(asked) == 1  # it is compared once
    wanted = [plain(model, TEST.X, TEST.y) for model in path]
    np.testing.assert_allclose(path.test_loss, wanted, rtol=1e-12)
    asked.clear()
    mha.train(OWN, DATA, rule, 40, compiled=False, **run)
    assert sum(asked) == len(path.steps)


def test_a_test_set_that_the_program_errs_on_is_numpys(monkeypatch):
    monkeypatch.setattr(
        compiled_gradient.Compiled, "losses", lambda self, X, y: lambda weights: 0.5
    )
    path = mha.train(OWN, DATA, mha.Adam(0.03), 20, test=TEST, compiled=True)
    assert path.test_loss[-1] == path[-1].loss(TEST.X, TEST.y)


def test_a_place_beyond_an_axis_is_numpys_to_say():
    rng = np.random.default_rng(0)
    model = Words(
        *(rng.standard_normal(shape) for shape in ((5, 4), (3, 4), (4, 4), (3, 3), (4, 5)))
    )
    X, y = rng.integers(0, 5, (9, 3)), rng.integers(0, 5, 9)
    space = model.workspace(X, y).for_steps(10**9)
    space.loss_and_grad(model)
    (executor,) = space._executors.values()
    assert type(executor).__name__ == "Compiled", native.status()
    weights = {f"theta_{name}": a for name, a in model.arrays().items()}
    for place in (5, -6):
        with pytest.raises(IndexError, match=rf"executors.py, line \d+: .* of 5, got {place}$"):
            executor(weights | {"X": X, "y": np.where(y == y[3], place, y)})


def test_a_short_run_is_not_worth_a_compiler():
    """Arguments decide, never a cache: steps times what a record computes."""
    mha.train(OWN, DATA, mha.GradientDescent(0.1), 5)
    said = "TwoLayers: numpy: 5 steps take it less than a compiler takes; compiled=True compiles"
    assert native.status().startswith(said)
    mha.train(OWN, DATA, mha.GradientDescent(0.1), 3000)
    assert "TwoLayers " in native.status() and "compiled by" in native.status()


def test_a_run_is_compiled_or_not_as_it_is_asked(monkeypatch):
    by_numpy = mha.train(OWN, DATA, mha.Adam(0.03), 40, compiled=False)
    assert native.status() == "TwoLayers: numpy: compiled=False"
    compiled = mha.train(OWN, DATA, mha.Adam(0.03), 40, compiled=True)
    assert "compiled by" in native.status()
    assert_same(compiled, by_numpy)
    assert not np.array_equal(compiled.loss, by_numpy.loss)
    assert np.array_equal(mha.train(OWN, DATA, mha.Adam(0.03), 40).loss, by_numpy.loss)
    one, two = (
        mha.train(START, DATA, mha.GradientDescent(0.1), 5, compiled=asked)
        for asked in (True, False)
    )
    assert_same(one, two)


@pytest.mark.parametrize(
    "model, data, words",
    [
        (
            START.map(lambda a: a.astype("float32")),
            DATA.map(lambda a: a.astype("float32")),
            "double",
        ),
        (
            mha.AttentionRegression.random(5, 5),
            mha.data.linear_regression(20, 5, 5),
            "numpy computes",
        ),
    ],
    ids=["float32", "a closed form"],
)
def test_who_asks_for_a_program_hears_why_there_is_none(model, data, words):
    with pytest.raises(RuntimeError, match=f"compiled: expected a run .*; .*{words}"):
        mha.train(model, data, mha.GradientDescent(0.1), 5, compiled=True)
    with pytest.raises(TypeError, match="compiled: expected True, False or None, got 'yes'"):
        mha.train(model, data, mha.GradientDescent(0.1), 5, compiled="yes")


def test_another_formula_of_the_same_name_is_another_program(eager, empty):
    """A reader edits a class, and runs its cell again."""
    losses = []
    for factor in (1.0, 2.0):
        made = dataclass(frozen=True, eq=False, repr=False)(
            type(
                "Edited",
                (TwoLayers,),
                {"loss": lambda self, X, y, factor=factor: factor * TwoLayers.loss(self, X, y)},
            )
        )
        path = mha.train(made(*OWN.arrays().values()), DATA, mha.GradientDescent(0.1), 3)
        losses.append(path.loss[0])
    assert losses[1] == pytest.approx(2 * losses[0]) and len(list(empty.iterdir())) == 2
    assert native.status().count("Edited ") == 2


@pytest.mark.parametrize(
    "model, data, reason",
    [
        (
            OWN.map(lambda a: a.astype("float32")),
            DATA.map(lambda a: a.astype("float32")),
            "programs compute on arrays of numpy in double precision",
        ),
        (
            Everything(np.full((130, 2), 0.01), np.ones(2), np.array(1.0)),
            SimpleNamespace(X=np.ones((4, 130)), y=np.ones(4)),
            "of weights with more than 128 rows its products are faster",
        ),
        (
            Counted(np.ones((2, 3))),
            SimpleNamespace(X=np.ones((3, 2)), y=np.ones(4)),
            "X and y have not one row for each sample",
        ),
        (Gram(np.ones(5)), DATA, "samples meet each other"),
        (Largest(np.ones(5)), DATA, "a maximum over samples has no compiled form"),
    ],
    ids=["float32", "a wide weight", "no row a sample", "samples that meet", "no compiled form"],
)
def test_what_cannot_be_compiled_is_numpys_and_status_says_why(model, data, reason, eager):
    path = mha.train(model, data, mha.GradientDescent(1e-6), 3)
    assert (
        path.loss[-1] < path.loss[0]
        and reason in native.status()
        and "compiled by" not in native.status()
    )


def test_a_formula_that_knows_the_number_of_samples_is_numpys(eager):
    """Its program is that of a few samples, and it is another function of all."""
    model = Thresholded(np.ones(5))
    space = model.workspace(DATA.X, DATA.y).for_steps(10)
    loss, grad = space.loss_and_grad(model)
    assert loss == pytest.approx(model.loss(DATA.X, DATA.y), rel=1e-12)
    assert_close(grad.w, model.loss_and_grad(DATA.X, DATA.y)[1].w, 1e-12)
    assert [type(executor).__name__ for executor in space._executors.values()] == ["Evaluator"]


def test_what_is_not_finite_is_numpys_to_say(eager):
    """Below e^-708 the program's exponential is 0, and numpy's is not yet."""
    model = LogOfExp(np.full(5, -0.1))
    data = SimpleNamespace(X=np.ones((3, 5)), y=np.ones(3))
    space = model.workspace(data.X, data.y).for_steps(10)
    assert space.loss_and_grad(model)[0] == pytest.approx(model.loss(data.X, data.y), rel=1e-12)
    assert [type(executor).__name__ for executor in space._executors.values()] == ["Compiled"]
    loss, grad = space.loss_and_grad(1417.0 * model)
    assert loss == pytest.approx(708.5, rel=1e-12) and np.isfinite(grad.w).all()


def test_the_cache_keeps_what_was_used_last(eager, empty, monkeypatch):
    monkeypatch.setattr(native, "MOST", 2)
    for size in (2, 3, 4):
        mha.train(Counted(np.ones((size, 3))), DATA, mha.GradientDescent(0.1), 3)
    assert (
        native.status().count("compiled by") == 3
        and len(list(empty.glob(f"*{native.SUFFIX}"))) == 2
    )


def test_what_differs_at_all_samples_is_refused_and_status_says_so(eager, monkeypatch):
    monkeypatch.setattr(compiled_gradient.Compiled, "is_right", lambda self, inputs: False)
    mha.train(OWN, DATA, mha.GradientDescent(0.1), 5)
    assert "of all 37 samples it gives another gradient than numpy" in native.status()
    assert "compiled by" not in native.status()
