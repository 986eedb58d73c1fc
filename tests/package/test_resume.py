"""A run that goes on is one long run, bit by bit; what it leaves behind is kept in a file, exactly;
and whatever does not fit together is refused."""

import json
import os
import signal
import subprocess
import sys
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import livegrad as lg
import mhalib as mha
from checks import assert_refused
from livegrad.model import stored
from livegrad.training import minibatches
from optional import torch
from rules import Heir, InPlace, Keeping, Loss, Noisy, Smooth, Squares

RNG = np.random.default_rng(3)
HEADS = mha.data.tokenized_mixture(n=11, T=4, d=5, M=2, zeta=0.25, S=1.5, sigma=0.3, seed=4)
REGRESSION = mha.data.linear_regression(n=11, d=3, p=2, seed=1)
SEQUENCES = mha.data.random_sequences(11, 3, 4, 2)
LINE = lg.Samples(RNG.standard_normal((11, 3, 2)), RNG.standard_normal(11))
PLACES = {
    "heads": (mha.MultiHeadAttention.random(3, 4, 5, scale=0.3, seed=6), HEADS),
    "equal heads": (mha.MultiHeadAttention.zeros(4, 4, 5), HEADS),
    "layer": (mha.AttentionLayer.random(D=4, d=3, m=2, kernel=mha.gaussian, seed=1), SEQUENCES),
    "regression": (mha.AttentionRegression.random(d=3, p=2, scale=0.5, seed=2), REGRESSION),
    "own": (Loss(RNG.normal(size=(2, 3)), RNG.normal(size=3), RNG.normal(size=())), LINE),
    # W lies in memory column by column, and b with its axes in another order: products round
    # otherwise than of the usual order
    "own, by column": (
        Loss(RNG.normal(size=(3, 2)).T, RNG.normal(size=6)[::2], RNG.normal(size=())),
        LINE,
    ),
}
"""Models and data, of each kind of workspace."""
RULES = {
    "gradient descent": mha.GradientDescent(0.1),
    "by a cosine": mha.GradientDescent(mha.Cosine(0.2, 13)),
    "momentum": mha.Momentum(0.05),
    "momentum, warmed up": mha.Momentum(mha.Warmup(0.05, 9)),
    "Adam": mha.Adam(0.02),
    "Adam, one cycle": mha.Adam(mha.OneCycle(0.05, 13, 0.4)),
    "AdamW": mha.AdamW(0.02, weight_decay=0.1),
    "clipped Adam, up and down": (
        mha.clip(norm=0.05) | mha.Adam(mha.Warmup(1.0, 5) * mha.Cosine(0.02, 13))
    ),
    "backtracking": mha.Backtracking(1.0),
    "own, elementwise": Smooth(0.05),
    "own, of squares": Squares(0.05),
    "own, random": Noisy(0.05),
    "own, in place": InPlace(0.05),
    "own, a list": Keeping(0.02),
    "heir of Adam": Heir(0.02),
    "preconditioned": mha.Preconditioned(0.1),
    "structure-aware": mha.StructureAware(0.1),
}
BATCHES = {"all samples": {}, "batches": {"batch": 3, "seed": 5}}
ENGINES = {"numpy": False, "compiled": True}
OF_A_REGRESSION = ("preconditioned", "structure-aware")
OF_EACH_KIND = ("momentum", "Adam", "own, elementwise", "own, random", *OF_A_REGRESSION)
"""The rules for all places but one of flat weights and one of models."""
STEPS, HALF = 13, 6
ROWS = [
    (place, rule, batch, engine)
    for place in PLACES
    for rule in RULES
    for batch in BATCHES
    for engine in ENGINES
    if (place == "regression" or rule not in OF_A_REGRESSION)
    and not (rule == "backtracking" and batch == "batches")
    and not (engine == "compiled" and place == "regression")
    and (place in ("heads", "own") or rule in OF_EACH_KIND)
]
"""A rule that is told whitened tokens has a regression's, one that compares losses takes no batch,
and a regression has no compiled program."""


@dataclass(frozen=True, eq=False, repr=False)
class Bent(lg.Vector):
    """A model of a reader's own, with settings of several kinds."""

    w: np.ndarray
    scale: float
    mask: np.ndarray
    bend: object = np.tanh
    fixed = ("mask",)

    def loss(self, X, y):
        return ((self.bend(X @ (self.w * self.mask)) * self.scale - y) ** 2).mean()


BENT = Bent(RNG.normal(size=3), 0.5, np.array([1.0, 0.0, 1.0]))
BENT_DATA = lg.Samples(RNG.standard_normal((9, 3)), RNG.standard_normal(9))


@pytest.fixture(scope="module", autouse=True)
def engine_of_the_row():
    """What decides between the engines is the argument alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("LIVEGRAD_COMPILED", raising=False)
        yield


def train(place, rule, steps, **options):
    model, data = PLACES[place]
    return mha.train(model, data, RULES[rule], steps, **{"record": range(steps + 1)} | options)


def assert_same(one, other):
    """Steps, curves, weights and state of two paths, bit by bit."""
    assert one.steps.tolist() == other.steps.tolist()
    assert one.curves.keys() == other.curves.keys()
    for name, curve in one.curves.items():
        np.testing.assert_array_equal(other.curves[name], curve, err_msg=name)
        assert other.curves[name].dtype == curve.dtype
    for mine, theirs in zip(one.models, other.models, strict=True):
        assert_same_point(mine, theirs)
    assert one.stopped == other.stopped
    assert one.state.k == other.state.k and one.state.first_loss == other.state.first_loss
    assert one.state.recipe | {"rule": ""} == other.state.recipe | {"rule": ""}
    assert_same_value(one.state.model, other.state.model)
    assert_same_value(one.state.memory, other.state.memory)


def assert_same_point(one, other):
    assert type(one) is type(other)
    assert list(one.arrays()) == list(other.arrays())
    for name, a in one.arrays().items():
        b = other.arrays()[name]
        assert type(a) is type(b) and a.dtype == b.dtype
        np.testing.assert_array_equal(np.asarray(b), np.asarray(a), err_msg=name)


def assert_same_value(one, other):
    assert type(one) is type(other)
    if isinstance(one, (list, tuple)):
        for mine, theirs in zip(one, other, strict=True):
            assert_same_value(mine, theirs)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        assert_same_value(list(one.values()), list(other.values()))
    elif isinstance(one, lg.Vector):
        assert_same_point(one, other)
    elif isinstance(one, (np.ndarray, np.generic)):
        assert one.dtype == other.dtype and one.shape == other.shape
        np.testing.assert_array_equal(one, other)
    else:
        assert one == other or one != one


@pytest.mark.long
@pytest.mark.parametrize("place, rule, batch, engine", ROWS, ids=lambda part: part)
def test_a_run_that_goes_on_is_one_long_run(place, rule, batch, engine, tmp_path):
    options = BATCHES[batch] | {"compiled": ENGINES[engine]}
    long = train(place, rule, STEPS, **options)
    half = train(place, rule, HALF, **options)
    assert half.state.k == HALF < STEPS == long.state.k
    assert_same(long, train(place, rule, STEPS, resume=half, **options))
    half.save(tmp_path / "half.npz")
    read = mha.load(tmp_path / "half.npz", like=PLACES[place][0])
    # The first resumed run has left what it went on from as it was.
    assert_same(half, read)
    assert_same(long, train(place, rule, STEPS, resume=read, **options))


def test_a_run_goes_on_in_pieces_of_any_length():
    """Through every place of a pass over the samples, and from a run of no steps."""
    options = {"batch": 3, "seed": 1}
    path = train("heads", "Adam", 0, **options)
    for steps in range(1, STEPS + 1):
        path = train("heads", "Adam", steps, resume=path, **options)
    assert_same(train("heads", "Adam", STEPS, **options), path)


@pytest.mark.parametrize("place", ["heads", "own"])
def test_two_engines_agree_up_to_rounding(place):
    # steps are few and small: in a long run that overshoots, rounding grows
    half = train(place, "momentum", HALF, compiled=False)
    mixed = train(place, "momentum", STEPS, compiled=True, resume=half)
    long = train(place, "momentum", STEPS, compiled=False)
    for name, curve in long.curves.items():
        np.testing.assert_allclose(mixed.curves[name], curve, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"batch": 4}], ids=str)
def test_some_weights_and_a_test_set_go_on(options):
    options = options | {"only": "W", "test": HEADS.fresh(5, 1)}
    half = train("heads", "AdamW", HALF, **options)
    assert_same(
        train("heads", "AdamW", STEPS, **options),
        train("heads", "AdamW", STEPS, resume=half, **options),
    )


def test_heads_that_have_become_equal_keep_their_own_moments():
    """Two heads with equal weights and unlike moments are two, as in the run that goes on."""
    model, data = PLACES["heads"]
    half = mha.train(model, data, mha.Momentum(0.05), HALF)
    same = half.state.model.map(lambda a: a[[0, 0, 2]])
    path = mha.train(
        model,
        data,
        mha.Momentum(0.05),
        STEPS,
        resume=replace(half, state=replace(half.state, model=same)),
    )
    assert not np.array_equal(path[-1].W[0], path[-1].W[1])


def test_tensors_go_on(tmp_path):
    model, data = (part.map(torch.tensor) for part in PLACES["heads"])
    runs = {
        steps: mha.train(model, data, mha.Adam(0.02), steps, record=range(steps + 1))
        for steps in (HALF, STEPS)
    }
    runs[HALF].save(tmp_path / "half.npz")
    read = mha.load(tmp_path / "half.npz")
    assert isinstance(read[-1].W, torch.Tensor)
    for half in (runs[HALF], read):
        again = mha.train(model, data, mha.Adam(0.02), STEPS, record=range(STEPS + 1), resume=half)
        assert_same(runs[STEPS], again)


def test_what_was_recorded_before_stays():
    half = train("heads", "momentum", HALF, record=[1, 5])
    path = train("heads", "momentum", STEPS, record=[0, 2, 9], resume=half)
    assert path.steps.tolist() == [1, 5, 9]


@pytest.mark.parametrize("first", range(12))
def test_minibatches_begin_anywhere(first):
    whole, rest = minibatches(11, 3, 5), minibatches(11, 3, 5, first)
    wanted = [next(whole).tolist() for _ in range(25)][first:]
    assert [next(rest).tolist() for _ in wanted] == wanted


def test_every_pass_has_all_samples_in_an_order_of_its_own():
    rows = minibatches(11, 3, 5)
    passes = [np.concatenate([next(rows) for _ in range(4)]).tolist() for _ in range(3)]
    assert all(sorted(order) == list(range(11)) for order in passes)
    assert len(set(map(tuple, passes))) == 3


def test_a_path_is_gone_on_with_twice():
    """What a rule writes into is its own each time."""

    class Writing(Smooth):
        def step(self, theta, grad, state, k):
            for name, a in state.arrays().items():
                a *= 0.9
                a += grad.arrays()[name]
            return theta - self.lr * state, state

    model, data = PLACES["own"]
    half = mha.train(model, data, Writing(0.05), HALF)
    one, two = (mha.train(model, data, Writing(0.05), STEPS, resume=half) for _ in range(2))
    assert_same(one, two)


@pytest.mark.parametrize("rule", ["Adam", "own, elementwise"])
def test_the_state_is_not_what_a_reader_writes_into(rule):
    half = train("layer", rule, HALF)
    for a in half[-1].arrays().values():
        a *= 0
    path = train("layer", rule, STEPS, resume=half)
    assert_same_point(train("layer", rule, STEPS)[-1], path[-1])


def test_another_step_size_goes_on():
    model, data = PLACES["heads"]
    half = mha.train(model, data, mha.GradientDescent(0.5), HALF)
    path = mha.train(model, data, mha.GradientDescent(0.1), HALF + 1, resume=half)
    grad = half[-1].loss_and_grad(data.X, data.y)[1]
    np.testing.assert_allclose(path[-1].W, (half[-1] - 0.1 * grad).W, rtol=1e-12)


OTHER = mha.data.tokenized_mixture(n=11, T=4, d=5, M=2, zeta=0.25, S=1.5, sigma=0.3, seed=5)
OPTIONS = {"batch": 3, "seed": 5}
MISFITS = {
    "another start": ({"model": 2 * PLACES["heads"][0]}, "model: expected the one that"),
    "the last model": ({"model": "last"}, "model: expected the one that"),
    "another class": (
        {"model": PLACES["regression"][0], "data": REGRESSION},
        "model: expected the one that",
    ),
    "other data": ({"data": OTHER}, "data: expected the samples of"),
    "another rule": (
        {"optimizer": mha.AdamW(0.02)},
        "optimizer: expected Adam, as in the run that resume goes on with, got AdamW",
    ),
    "clipped before": (
        {"optimizer": mha.clip(1.0) | mha.Adam(0.02)},
        "optimizer: expected Adam, as in the run that resume goes on with, got clip | Adam",
    ),
    "another batch": ({"batch": 4}, "batch: expected 3, as in"),
    "no batch": ({"batch": None}, "batch: expected 3, as in"),
    "another seed": ({"seed": 6}, "seed: expected 5, as in"),
    "some weights": ({"only": "U"}, "only: expected None, as in"),
    "a test set": ({"test": OTHER}, "test: expected the test set of"),
    "as many steps": ({"steps": HALF}, f"for {HALF} further ones write steps={2 * HALF}"),
    "fewer steps": ({"steps": 2}, f"steps: expected more than the {HALF} that the path has taken"),
    "a file": ({"resume": "half.npz"}, "resume: expected a Path that train returned"),
    "a model": ({"resume": PLACES["heads"][0]}, "resume: expected a Path that train returned"),
}


@pytest.mark.parametrize("changed, words", MISFITS.values(), ids=MISFITS)
def test_what_does_not_fit_is_refused_by_name(changed, words):
    model, data = PLACES["heads"]
    half = train("heads", "Adam", HALF, **OPTIONS)
    given = {"model": model, "data": data, "optimizer": RULES["Adam"], "steps": STEPS}
    given |= OPTIONS | {"resume": half} | changed
    if changed.get("model") == "last":
        given["model"] = half[-1]
    error = TypeError if "resume" in changed else ValueError
    assert_refused(lambda: mha.train(**given), error, [words])


@pytest.mark.parametrize("setting", [{"scale": 0.6}, {"mask": np.ones(3)}], ids=["number", "array"])
def test_another_setting_of_a_model_is_refused(setting):
    half = lg.train(BENT, BENT_DATA, lg.GradientDescent(0.1), HALF)
    other = replace(BENT, **setting)
    with pytest.raises(ValueError, match="model: expected the one that"):
        lg.train(other, BENT_DATA, lg.GradientDescent(0.1), STEPS, resume=half)


def test_other_curves_are_refused():
    model, data = PLACES["heads"]
    half = mha.train(model, data, mha.Adam(0.02), HALF)
    unmarked = mha.data.from_arrays(data.X, data.y)
    with pytest.raises(
        ValueError, match="resume: expected a run with the curves .*attention_score"
    ):
        mha.train(model, unmarked, mha.Adam(0.02), STEPS, resume=half)


def test_a_run_that_diverged_is_not_gone_on_with():
    model, data = PLACES["regression"]
    with pytest.warns(RuntimeWarning, match="stopped being finite"):
        path = mha.train(model, data, mha.GradientDescent(1e6), 50)
    assert path.state is None
    with pytest.raises(ValueError, match="resume: expected a path with a state.*stopped being fin"):
        mha.train(model, data, mha.GradientDescent(0.1), 60, resume=path)


class Interrupted(Smooth):
    """A rule that is interrupted in the middle of a step, after it has changed what it remembers."""

    def step(self, theta, grad, state, k):
        if k == 3:
            raise KeyboardInterrupt
        return super().step(theta, grad, state, k)


def test_a_run_interrupted_in_a_step_of_ones_own_has_no_state():
    model, data = PLACES["heads"]
    with pytest.warns(RuntimeWarning, match="Interrupted after step 3"):
        path = mha.train(model, data, Interrupted(0.05), STEPS)
    assert path.state is None


@pytest.mark.parametrize("record", [range(STEPS + 1), 4, [3, 5, 13]])
def test_an_interrupted_run_goes_on_and_records_what_a_long_one_does(record):
    model, data = PLACES["own"]
    calls = iter(range(1000))

    def cosine(k):
        if next(calls) == 7:
            raise KeyboardInterrupt
        return 0.05 / (k + 1)

    with pytest.warns(RuntimeWarning, match="Interrupted"):
        part = mha.train(model, data, mha.Adam(cosine), STEPS, record=record)
    assert part.steps[-1] == part.state.k == 7
    options = {"record": record}
    assert_same(
        mha.train(model, data, mha.Adam(lambda k: 0.05 / (k + 1)), STEPS, **options),
        mha.train(model, data, mha.Adam(cosine), STEPS, resume=part, **options),
    )


# Callbacks.


def test_a_callback_stops_the_run_and_it_goes_on(recwarn):
    seen = []

    def enough(path):
        seen.append((int(path.steps[-1]), float(path.loss[-1])))
        return path.steps[-1] == HALF

    part = train("heads", "Adam", STEPS, callback=enough)
    assert part.stopped == (
        f"Stopped by the callback at step {HALF}: the path up to there is kept, and resume goes on "
        "from it."
    )
    assert not recwarn.list  # it is what was asked for
    long = train("heads", "Adam", STEPS)
    assert [k for k, _ in seen] == list(range(HALF + 1))
    assert [loss for _, loss in seen] == long.loss[: HALF + 1].tolist()
    assert_same(long, train("heads", "Adam", STEPS, resume=part))


@pytest.mark.parametrize("place", ["heads", "own", "layer"])
@pytest.mark.parametrize("rule", ["Adam", "own, elementwise"])
def test_what_a_callback_writes_into_is_its_own(place, rule):
    def writing(path):
        for a in (*path[-1].arrays().values(), *path.state.model.arrays().values()):
            a *= 0
        memory = path.state.memory
        for point in memory if isinstance(memory, tuple) else (memory,):
            for a in point.arrays().values():
                a += 1
        path.loss[:] = 0

    assert_same(train(place, rule, STEPS), train(place, rule, STEPS, callback=writing))


def test_a_path_that_a_callback_was_given_is_gone_on_with():
    kept = []
    long = train("heads", "own, elementwise", STEPS, callback=kept.append)
    assert_same(long, train("heads", "own, elementwise", STEPS, resume=kept[4]))


@pytest.mark.parametrize(
    "options, error, words",
    [
        ({"callback": 3}, TypeError, "callback: expected a function of the path so far"),
        (
            {"callback": lambda path: 3},
            TypeError,
            "callback: expected a function that returns True",
        ),
        (
            {"callback": lambda step, path: None},
            TypeError,
            "callback: expected a function of one argument, callback(path), the path so far, got "
            "one of (step, path)",
        ),
        ({"every": 3}, ValueError, "every: expected a checkpoint=file"),
        ({"checkpoint": "a.npz", "every": 0}, ValueError, "every: expected a whole number ≥ 1"),
        (
            {"checkpoint": "a.txt"},
            ValueError,
            "checkpoint: expected the path of a file that",
        ),
        ({"checkpoint": 3}, TypeError, "checkpoint: expected the path of a file, got 3"),
        ({"checkpoint": "no/such/a.npz"}, FileNotFoundError, "checkpoint: expected a folder"),
    ],
    ids=[
        "no function",
        "a function of 3",
        "a function of two arguments",
        "every alone",
        "every 0",
        "another ending",
        "a number",
        "no folder",
    ],
)
def test_a_wrong_watch_is_refused(options, error, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_refused(lambda: train("heads", "Adam", STEPS, **options), error, [words])


# Checkpoints.


def test_a_checkpoint_is_the_path_so_far(tmp_path):
    file, found = tmp_path / "run.npz", []

    def look(path):
        found.append(mha.load(file))

    path = train("heads", "Adam", STEPS, checkpoint=file, every=4, callback=look)
    assert [one.state.k for one in found] == [4 * (k // 4) for k in range(STEPS + 1)]
    assert_same(path, mha.load(file))
    for part in (found[1], found[-1]):
        assert_same(path, train("heads", "Adam", STEPS, resume=part))


def test_a_checkpoint_outlives_a_run_that_diverges(tmp_path):
    model, data = PLACES["regression"]
    with pytest.warns(RuntimeWarning):
        mha.train(model, data, mha.GradientDescent(1e6), 50, checkpoint=tmp_path / "a.npz", every=1)
    kept = mha.load(tmp_path / "a.npz")
    assert kept.state is not None and np.isfinite(kept.loss).all()


KILLED = """
import os, signal, sys
import mhalib as mha
data = mha.data.tokenized_mixture(n=11, T=4, d=5, M=2, zeta=0.25, S=1.5, sigma=0.3, seed=4)
model = mha.MultiHeadAttention.random(3, 4, 5, scale=0.3, seed=6)
def kill(path):
    if path.steps[-1] == 10:
        os.kill(os.getpid(), signal.SIGKILL)
mha.train(model, data, mha.Adam(0.02), 13, record=range(14), batch=3, seed=5, compiled=False,
          checkpoint=sys.argv[1], every=4, callback=kill)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_killed_run_goes_on_from_its_checkpoint(tmp_path):
    file = tmp_path / "run.npz"
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(file)], cwd=Path(__file__).parents[2], check=False
    )
    assert done.returncode == -signal.SIGKILL
    part = mha.load(file)
    assert part.state.k == 8
    options = {"batch": 3, "seed": 5, "compiled": False}
    assert_same(
        train("heads", "Adam", STEPS, **options),
        train("heads", "Adam", STEPS, resume=part, **options),
    )


def test_a_file_that_is_cut_short_while_it_is_written_leaves_the_one_before(tmp_path, monkeypatch):
    path = train("heads", "Adam", HALF)
    path.save(tmp_path / "run.npz")
    before = (tmp_path / "run.npz").read_bytes()

    def full(*given, **named):
        raise OSError("no space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(OSError, match="no space left"):
        path.save(tmp_path / "run.npz")
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]
    assert (tmp_path / "run.npz").read_bytes() == before


# Files.


MODELS = {
    "heads": PLACES["heads"][0],
    "single precision": PLACES["heads"][0].map(lambda a: a.astype(np.float32)),
    "a softmax layer": mha.AttentionLayer.random(D=4, d=3, m=2, seed=1),
    "a Gaussian layer": mha.AttentionLayer.random(D=4, d=3, m=2, kernel=mha.gaussian),
    "a wider Gaussian": mha.AttentionLayer.random(D=4, d=3, m=2, kernel=type(mha.gaussian)(0.2)),
    "a regression": PLACES["regression"][0],
    "groups of heads": mha.models.HeadGroups(np.ones((2, 5, 5)), np.ones((2, 4, 5)), (3, 1)),
    "numbers at the edge": mha.MultiHeadAttention.zeros(1, 1, 2)
    .map(lambda a: a + np.nextafter(0, 1))
    .map(lambda a: -a),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_a_model_of_the_package_comes_back_by_itself(model, tmp_path):
    model.save(tmp_path / "model.npz")
    again = mha.load(tmp_path / "model.npz")
    assert_same_point(model, again)
    if hasattr(model, "kernel"):
        assert again.kernel == model.kernel
    if hasattr(model, "copies"):
        assert again.copies == model.copies
    with np.load(tmp_path / "model.npz", allow_pickle=False) as archive:  # nothing is pickled
        assert all(archive[name].dtype.kind in "Uf" for name in archive)


def test_a_model_that_is_not_finite_comes_back(tmp_path):
    model = PLACES["heads"][0].map(lambda a: np.where(a > 0, np.inf, np.nan))
    model.save(tmp_path / "model.npz")
    assert_same_point(model, mha.load(tmp_path / "model.npz"))


def test_a_model_of_ones_own_comes_back_beside_another(tmp_path):
    file, like = tmp_path / "bent.npz", replace(BENT, w=np.zeros(3), scale=7.0, mask=np.ones(3))
    BENT.save(file)
    again = lg.load(file, like=like)
    assert_same_point(BENT, again)
    assert again.scale == 0.5 and again.mask.tolist() == [1, 0, 1] and again.bend is np.tanh
    assert like.scale == 7.0  # it is left as it was
    with pytest.raises(TypeError, match=r"like: expected a model of the class Bent.*like=model"):
        lg.load(file)
    with pytest.raises(TypeError, match="like: expected a Bent, which the file holds, got a Multi"):
        lg.load(file, like=PLACES["heads"][0])
    with pytest.raises(
        TypeError, match="like: expected a model of the class that was saved, got 3"
    ):
        lg.load(file, like=3)


def test_a_class_whose_weights_have_new_names_is_refused(tmp_path):
    BENT.save(tmp_path / "bent.npz")

    @dataclass(frozen=True, eq=False, repr=False)
    class Bent(lg.Vector):
        v: np.ndarray

    with pytest.raises(
        ValueError, match="like: expected a Bent with the weights w.*got one with v"
    ):
        lg.load(tmp_path / "bent.npz", like=Bent(np.zeros(3)))


def test_a_path_of_ones_own_model_and_curves_goes_on_from_a_file(tmp_path):
    rule = lg.Adam(0.05)
    half = lg.train(BENT, BENT_DATA, rule, HALF, record=range(STEPS)[: HALF + 1])
    half.save(tmp_path / "half.npz")
    read = lg.load(tmp_path / "half.npz", like=BENT)
    assert_same(half, read)
    options = {"record": range(STEPS + 1)}
    assert_same(
        lg.train(BENT, BENT_DATA, rule, STEPS, **options),
        lg.train(BENT, BENT_DATA, rule, STEPS, resume=read, **options),
    )


def test_what_a_rule_remembers_comes_back(tmp_path):
    path = train("own", "momentum", HALF)
    memory = {
        "numbers": [1, 2**80, 0.1, -0.0, np.inf, np.nan, True, None, "ü"],
        "scalars": (np.float32(0.1), np.int64(3)),
        "arrays": [np.arange(6).reshape(2, 3).T, np.zeros((0, 2)), np.array(2.0), np.array([True])],
        "points": [path[0], {3: path[1]}],
    }
    path = replace(path, state=replace(path.state, memory=memory))
    path.save(tmp_path / "path.npz")
    assert_same(path, lg.load(tmp_path / "path.npz", like=path[0]))


def test_arrays_come_back_in_their_order_in_memory(tmp_path):
    """A product of matrices may round otherwise where rows lie one after the other, not columns."""
    orders = [
        RNG.normal(size=(2, 3, 4)).transpose(axes) for axes in ((0, 1, 2), (2, 0, 1), (2, 1, 0))
    ]
    path = train("own", "momentum", HALF)
    path = replace(path, state=replace(path.state, memory=orders))
    path.save(tmp_path / "path.npz")
    again = lg.load(tmp_path / "path.npz", like=path[0]).state.memory
    assert [a.strides for a in again] == [a.strides for a in orders]
    assert_same_value(orders, again)


class Told(Smooth):
    """A rule that remembers a function."""

    def start(self, theta):
        return np.sin

    def step(self, theta, grad, state, k):
        return theta - self.lr * grad, state


def test_what_a_file_cannot_hold_is_refused_by_name(tmp_path):
    model, data = PLACES["own"]
    path = mha.train(model, data, Told(0.1), 3)
    with pytest.raises(TypeError, match="state.memory: expected numbers.*got .*sin.*state=None"):
        path.save(tmp_path / "path.npz")
    assert not list(tmp_path.iterdir())
    replace(path, state=None).save(tmp_path / "path.npz")
    assert lg.load(tmp_path / "path.npz", like=model).state is None


@pytest.fixture
def saved(tmp_path):
    train("heads", "Adam", HALF).save(tmp_path / "run.npz")
    return tmp_path / "run.npz"


def test_a_truncated_file_is_refused(saved):
    whole = saved.read_bytes()
    for end in range(0, len(whole), max(1, len(whole) // 60)):
        saved.write_bytes(whole[:end])
        with pytest.raises(ValueError, match=r"file: expected a whole file.*'run.npz'.*copy"):
            mha.load(saved)


def test_a_damaged_file_is_refused_or_read_as_it_was(saved):
    whole, path = saved.read_bytes(), mha.load(saved)
    rng = np.random.default_rng(0)
    for at in rng.integers(len(whole), size=200):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << int(rng.integers(8))
        saved.write_bytes(damaged)
        try:
            again = mha.load(saved)
        except ValueError as error:
            assert str(error).startswith("file: expected")
        else:
            assert_same(path, again)


def rewritten(file, change):
    """The same file with another account of itself."""
    with np.load(file) as archive:
        arrays = dict(archive)
    about = json.loads(str(arrays["about"]))
    change(about)
    np.savez(file, **arrays | {"about": np.array(json.dumps(about))})


def test_a_file_of_a_newer_version_is_refused(saved):
    def newer(about):
        about["livegrad"] = stored.FORMAT + 1
        about["versions"]["livegrad"] = "9.1"

    rewritten(saved, newer)
    words = ["'run.npz' of format 2, which livegrad 9.1 wrote; update livegrad"]
    assert_refused(lambda: mha.load(saved), ValueError, words)


def test_a_file_says_its_versions_and_its_recipe(saved):
    with np.load(saved) as archive:
        about = json.loads(str(archive["about"]))
    assert about["livegrad"] == stored.FORMAT and about["kind"] == "path"
    assert about["versions"] == {"livegrad": lg.__version__, "numpy": np.__version__}
    recipe = mha.load(saved).state.recipe
    assert recipe["optimizer"] == "Adam" and recipe["rule"].startswith("Adam(lr=0.02")


def test_a_class_is_not_imported_by_its_name(saved):
    def foreign(about):
        about["model"]["class"] = "antigravity.MultiHeadAttention"

    rewritten(saved, foreign)
    with pytest.raises(TypeError, match="like: expected a model of the class MultiHeadAttention"):
        mha.load(saved)
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize(
    "said",
    [
        {"_class__": 1},
        {"array": ["none", []]},
        {"object": ["os.system", {}]},
        {"object": ["mhalib.losses.Logistic", {}]},
        {"array": 1, "number": 2},
        {"tuple": 3},
    ],
    ids=str,
)
def test_an_account_that_makes_no_sense_is_refused(said, saved):
    rewritten(saved, lambda about: about["parts"].update(curves=said))
    assert_refused(lambda: mha.load(saved), ValueError, ["file: expected a whole file"])


def test_a_foreign_file_is_refused(tmp_path):
    file = tmp_path / "data.npz"
    np.savez(file, X=np.zeros(3), y=np.zeros(3))
    words = ["file: expected one that path.save or model.save wrote, got 'data.npz' with X, y"]
    assert_refused(lambda: lg.load(file), ValueError, words)
    np.savez(file, X=np.array([{}], object))
    assert_refused(lambda: lg.load(file), ValueError, ["file: expected a whole file"])
    file.write_bytes(b"PK, or so it says")
    assert_refused(lambda: lg.load(file), ValueError, ["file: expected a whole file"])
    with zipfile.ZipFile(file, "w"):
        pass
    assert_refused(lambda: lg.load(file), ValueError, ["got 'data.npz' with nothing"])


@pytest.mark.parametrize(
    "file, error, words",
    [
        (3, TypeError, "file: expected the path of a file, got 3"),
        ("a.pt", ValueError, "ends in .npz, got 'a.pt'"),
        ("a\0.npz", TypeError, "file: expected the path"),
        ("none.npz", FileNotFoundError, "none.npz"),
    ],
)
def test_a_path_of_no_file_is_named(file, error, words):
    with pytest.raises(error, match=words):
        lg.load(file)


def test_a_path_without_a_model_is_not_saved(tmp_path):
    empty = lg.Path(np.zeros(0, int), (), {}, "nothing")
    with pytest.raises(ValueError, match="path: expected one that recorded a model, got none"):
        empty.save(tmp_path / "a.npz")


def test_a_path_made_otherwise_has_no_state():
    path = lg.Path(np.arange(1), (PLACES["heads"][0],), {"loss": np.zeros(1)})
    assert path.state is None
    assert SimpleNamespace(**vars(path)).stopped is None
