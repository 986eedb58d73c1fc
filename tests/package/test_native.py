"""``train`` on a compiled program: the results of numpy, and numpy wherever anything is in the way."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import mhalib as mha
from mhalib import native
from mhalib.models import compiled_workspace as module
from mhalib.models.compiled_workspace import compiled_workspace
from oracles import assert_close
from strategies import problem

ROOT = Path(__file__).parents[2]
DATA, TEST = (mha.data.tokenized_mixture(n=n, T=6, d=5, M=2, zeta=1 / 3, seed=n) for n in (37, 16))
START = mha.MultiHeadAttention.random(H=3, T=6, d=5, scale=0.3, seed=1)
COPIES = START.map(lambda a: a[[0, 1, 0, 2, 1, 0]])


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def fresh(cache, monkeypatch):
    """Every test as in a new process that has spent a second already, with the cache of this file."""
    monkeypatch.setattr(native, "_folder", lambda: cache)
    monkeypatch.setattr(native, "_found", {})
    monkeypatch.setattr(native, "_seconds", native.PAYS)
    monkeypatch.delenv("MHALIB_COMPILED", raising=False)
    native._compiler.cache_clear()
    yield
    native._compiler.cache_clear()


def both(monkeypatch, *arguments, **options):
    """A run compiled, and the same by numpy."""
    path = mha.train(*arguments, **options)
    assert "compiled by" in native.status()
    with monkeypatch.context() as patch:
        patch.setenv("MHALIB_COMPILED", "0")
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
        state = state + grad ** 2
        return theta - 0.05 * grad / (state ** 0.5 + 0.1), state


RULES = [mha.GradientDescent(0.5), mha.GradientDescent(mha.Cosine(0.5, 30)), mha.Momentum(0.2), mha.Adam(0.03),
         mha.AdamW(0.03, weight_decay=0.1), Normalized()]
OPTIONS = {"plain": {}, "few records": {"record": [3, 17]}, "test set": {"test": TEST}, "minibatches": {"batch": 10},
           "one weight": {"only": "U"}}


@pytest.mark.parametrize("rule", RULES, ids=lambda r: type(r).__name__)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("model", [START, COPIES], ids=["heads", "copies"])
def test_a_compiled_run_is_the_run_of_numpy(model, rule, options, monkeypatch):
    assert_same(*both(monkeypatch, model, DATA, rule, 40, **options))


@pytest.mark.parametrize("model", [mha.MultiHeadAttention.zeros(4, 6, 5), START * 40], ids=["zero", "saturated"])
def test_a_long_run_is_the_run_of_numpy(model, monkeypatch):
    assert_same(*both(monkeypatch, model, DATA, mha.GradientDescent(0.3), 200))


def test_data_without_marks_have_no_score(monkeypatch):
    drawn = problem(n=3, T=5, d=1, H=2)
    data = mha.data.from_arrays(drawn.X, drawn.y)
    assert_same(*both(monkeypatch, drawn.model, data, mha.GradientDescent(0.1), 20))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_run_that_diverges_stops_where_that_of_numpy_does(monkeypatch):
    rng = np.random.default_rng(0)
    hopeless = mha.data.from_arrays(30 * rng.standard_normal((40, 6, 5)), np.where(rng.random(40) < 0.5, -1.0, 1.0))
    one, two = both(monkeypatch, START, hopeless, mha.GradientDescent(lambda k: 10.0 ** min(60 * k, 308)), 20)
    assert one.stopped == two.stopped and "stopped being finite" in one.stopped
    assert one.steps.tolist() == two.steps.tolist() and len(one) > 1


@pytest.mark.parametrize("kernel", [mha.softmax, mha.gaussian, mha.normalized_gaussian], ids=repr)
@pytest.mark.parametrize("rule", [mha.Adam(0.01), mha.Backtracking()], ids=lambda r: type(r).__name__)
def test_a_layer_is_compiled_with_its_kernel(kernel, rule, monkeypatch):
    rng = np.random.default_rng(0)
    layer = mha.AttentionLayer.random(D=5, d=4, m=2, H=3, kernel=kernel)
    data = SimpleNamespace(X=rng.standard_normal((13, 6, 5)), y=rng.standard_normal((13, 6, 2)))
    assert_same(*both(monkeypatch, layer, data, rule, 30))


def test_runs_in_threads_leave_each_other_alone():
    """A program has static sizes and pointers."""
    other = mha.data.tokenized_mixture(n=90, T=9, d=8, M=2, zeta=1 / 3, seed=5)
    runs = [(START, DATA), (mha.MultiHeadAttention.random(H=4, T=9, d=8, scale=0.3, seed=2), other)] * 2
    train = partial(mha.train, optimizer=mha.GradientDescent(0.5), steps=300)
    alone = [train(*run) for run in runs]
    with ThreadPoolExecutor(4) as threads:
        for one, two in zip(threads.map(lambda run: train(*run), runs), alone, strict=True):
            assert_same(one, two)


def test_what_a_layer_was_asked_stays():
    """Its gradients own their arrays, and a summary is that of its own weights."""
    rng = np.random.default_rng(0)
    X, y, layer = rng.standard_normal((4, 3, 5)), rng.standard_normal((4, 3, 2)), mha.AttentionLayer.random(5, 4, 2)
    space = compiled_workspace(layer, X, y, 10)
    _, slope = space.loss_and_grad(layer)
    space.loss_and_grad(2.0 * layer)
    assert_close(slope.WQ, layer.loss_and_grad(X, y)[1].WQ, 1e-12)
    assert space.summary(layer)["loss"] == pytest.approx(layer.loss(X, y), rel=1e-12)


def test_a_loss_alone_is_recorded_once():
    """A gradient that is derived costs a run one record, however many steps it has."""
    path = mha.train(Counted(np.ones((2, 3))), DATA, mha.GradientDescent(0.1), 20, record=2)
    assert path.loss[-1] < path.loss[0] and Counted.recorded == 1
    _, slope = path[-1].loss_and_grad(DATA.X, DATA.y)
    assert path.grad_norm[-1] == pytest.approx(slope.norm(), rel=1e-12)


@dataclass(frozen=True, eq=False, repr=False)
class Counted(mha.models.Vector):
    """A model with a loss alone, which counts how often it is recorded."""

    W: np.ndarray
    recorded = 0

    def loss(self, X, y):
        Counted.recorded += not isinstance(X, np.ndarray)
        return (self.W * self.W).sum()


def other_values():
    layer = mha.AttentionLayer.random(D=5, d=4, m=1)
    return mha.AttentionLayer(layer.WQ, layer.WK, layer.WV[..., :2], layer.WO[:, :2])


@dataclass(frozen=True, eq=False, repr=False)
class Heir(mha.MultiHeadAttention):
    """A model whose formulas may be others."""


@pytest.mark.parametrize("model, data", [
    (START.map(lambda a: a.astype("float32")), DATA.map(lambda a: a.astype("float32"))),
    (START.map(torch.as_tensor), DATA.map(torch.as_tensor)), (Heir(START.W, START.U), DATA),
    (mha.AttentionRegression.random(d=3, p=2), mha.data.linear_regression(n=9, d=3, p=2)),
    (other_values(), SimpleNamespace(X=np.ones((2, 3, 5)), y=np.ones((2, 3, 1)))),
    (mha.MultiHeadAttention.random(2, 3, 25), SimpleNamespace(X=np.ones((2, 3, 25)), y=np.ones(2))),
    (mha.MultiHeadAttention.zeros(2, 3, 51), SimpleNamespace(X=np.ones((2, 3, 51)), y=np.ones(2))),
    (mha.AttentionLayer.random(65, 2, 1), SimpleNamespace(X=np.ones((2, 3, 65)), y=np.ones((2, 3, 1))))],
    ids=["float32", "torch", "heir", "regression", "narrow values", "wide heads", "a wide head", "a wide layer"])
def test_all_else_keeps_its_way(model, data):
    assert compiled_workspace(model, data.X, data.y, 10) is None
    assert native._found == {}


def test_a_batch_beyond_the_memory_keeps_its_way(monkeypatch):
    monkeypatch.setattr(module, "LARGEST", 1000)
    assert compiled_workspace(START, DATA.X, DATA.y, 10) is None


def test_what_was_not_computed_at_theta_is_computed():
    """A summary is that of its θ and its marks, whatever was asked before."""
    space = compiled_workspace(START, DATA.X, DATA.y, 10)
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
    monkeypatch.setenv("MHALIB_COMPILED", "0")
    numpy_because("numpy: MHALIB_COMPILED=0")


def test_without_a_compiler_numpy_does_the_work(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(native, "find_spec", lambda name: None)
    numpy_because("no compiler found; pip install 'mhalib[fast]'")


def test_short_runs_are_not_compiled_until_they_are_many(monkeypatch, tmp_path):
    monkeypatch.setattr(native, "_folder", lambda: tmp_path)
    monkeypatch.setattr(native, "_seconds", 0.0)
    numpy_because("not compiled yet")
    assert not list(tmp_path.iterdir())
    mha.train(START, DATA, mha.GradientDescent(0.5), 30_000, record=2)
    assert "compiled by" in native.status()


def test_a_test_set_may_be_compiled_where_the_training_set_is_not(monkeypatch, tmp_path):
    """What pays may be reached between the two."""
    monkeypatch.setattr(native, "_folder", lambda: tmp_path)
    monkeypatch.setattr(native, "_seconds", native.PAYS - 20 * 6e-5)
    path = mha.train(START, DATA, mha.GradientDescent(0.5), 20, test=TEST)
    assert "compiled by" in native.status()
    assert path.test_loss[-1] == pytest.approx(path[-1].loss(TEST.X, TEST.y), rel=1e-12)


def test_what_the_compiler_says_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(native, "_folder", lambda: tmp_path)
    monkeypatch.setattr(native.Formulas, "text", lambda self: "this is no program")
    numpy_because("does not compile it")


@pytest.mark.parametrize("right, wrong", [
    ("return at_loss[0];", "return at_loss[0] *= 1 + 1e-10;"),
    ("return at_loss[0];", "at_score[0] += 1e-11; return at_loss[0];"), ("wide(exp_(", "wide(1e-9 + exp_(")])
def test_a_program_that_errs_is_not_used(right, wrong, monkeypatch, tmp_path):
    text = native.Formulas.text
    monkeypatch.setattr(native, "_folder", lambda: tmp_path)
    monkeypatch.setattr(native.Formulas, "text", lambda self: text(self).replace(right, wrong))
    assert right in text(module._HEADS)
    numpy_because("than numpy at the sizes")


@pytest.mark.parametrize("damaged", [lambda data: data[:1000], lambda data: data[:-1] + bytes([data[-1] ^ 1])],
                         ids=["cut", "one bit"])
def test_a_damaged_library_is_compiled_again(damaged, monkeypatch, tmp_path):
    monkeypatch.setattr(native, "_folder", lambda: tmp_path)
    mha.train(START, DATA, mha.GradientDescent(0.5), 5)
    file, = tmp_path.iterdir()
    whole = file.read_bytes()
    file.unlink()  # what is mapped is not written over
    file.write_bytes(damaged(whole))
    native._found.clear()
    mha.train(START, DATA, mha.GradientDescent(0.5), 5)
    assert "compiled by" in native.status() and file.read_bytes() == whole


def test_without_a_cache_the_library_lies_in_a_folder_of_the_process(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(native, "_folder", lambda: tmp_path / "file" / "mhalib")
    mha.train(START, DATA, mha.GradientDescent(0.5), 5)
    assert "compiled by" in native.status()
    folder = native._found["MultiHeadAttention"].path.parent
    assert folder.name.startswith("mhalib-")
    shutil.rmtree(folder)


@pytest.mark.skipif(os.name == "nt", reason="the compiler is a shell script here")
def test_a_second_process_compiles_nothing(tmp_path):
    (tmp_path / "c++").write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n'
                                  f'exec {sys.executable} -m ziglang cc -x c++ "$@"\n')
    (tmp_path / "c++").chmod(0o755)
    code = ("import mhalib as mha; data = mha.data.tokenized_mixture(n=9, seed=0); mha.native._seconds = 1.0; "
            "path = mha.train(mha.MultiHeadAttention.zeros(1, 10, 8), data, mha.GradientDescent(1.0), 5); "
            "print(path.loss.tolist(), 'compiled by' in mha.native.status())")
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    first, second = (subprocess.run([sys.executable, "-c", code], env=os.environ | home, cwd=ROOT, check=True,
                                    capture_output=True, text=True).stdout for _ in range(2))
    assert first == second and first.endswith("True\n")
    compiled = [line for line in (tmp_path / "calls").read_text().splitlines() if "-shared" in line]
    assert len(compiled) == 1


def test_the_wheel_of_ziglang_compiles_too(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(native, "_folder", lambda: tmp_path)
    assert_same(*both(monkeypatch, START, DATA, mha.GradientDescent(0.5), 20))
    assert "ziglang" in native.status()


def test_rows_of_several_matrices_are_those_of_one_only_where_they_lie_so():
    products = {"together": "nthk,kj->nthj", "apart": "nthk,kj->ntjh", "exchanged": "nthk,kj->nhtj"}
    found = native.library(native.Formulas(
        "products", lambda a: {"all": {"loss": a["y"].sum()} | {
            name: np.einsum(subscripts, a["A"], a["B"]) for name, subscripts in products.items()}},
        {"A": "n T H d", "B": "d m", "y": "n"}, "n", {}), 0.0)
    assert found, native.status()  # it is compared with numpy before it is given
