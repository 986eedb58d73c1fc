"""``fleet``: each run of many is the run that ``train`` makes of it alone."""

import sys
import warnings

import numpy as np
import pytest
import torch

import mhalib as mha
from mhalib.models import multihead_workspace
from mhalib.models.multihead_fleet import MultiHeadFleet
from mhalib.training import Records
from oracles import assert_close, assert_refused
from strategies import problem

DATA = mha.data.tokenized_mixture(n=12, T=5, d=6, M=3, zeta=0.2, S=1.5, sigma=0.3, seed=4)
TEST = DATA.fresh(n=9, seed=5)
# Every example with both labels: nothing fits it, so a long step overshoots.
HOPELESS = mha.data.from_arrays(np.concatenate([DATA.X, DATA.X]), np.concatenate([DATA.y, -DATA.y]))
FLEET = sys.modules["mhalib.fleet"]  # mhalib.fleet itself is the function
RULES = {"gradient descent": mha.GradientDescent, "momentum": mha.Momentum, "Adam": mha.Adam}


class Normalized:
    """A rule of one's own: a step of length lr. It is no rule for each parameter by itself."""

    def __init__(self, lr):
        self.lr = lr

    def start(self, theta):
        return None

    def step(self, theta, grad, state, k):
        return theta - self.lr / (grad ** 2).sum() ** 0.5 * grad, state


class Plain(mha.MultiHeadAttention):
    """A model of one's own, which could have other formulas."""

    workspace = mha.MultiHeadAttention.__mro__[1].workspace


@pytest.fixture(autouse=True, params=[1 << 22, 1400, 1], ids=["one block", "some heads", "single heads"])
def heads_in_blocks(request, monkeypatch):
    """Every test with the heads of a fleet in one block and in several, which runs may straddle."""
    monkeypatch.setattr(multihead_workspace, "BLOCK_BYTES", request.param)


def zeros(H):
    return mha.MultiHeadAttention.zeros(H, 5, 6)


def randoms(H, seed=0):
    return mha.MultiHeadAttention.random(H, 5, 6, scale=0.3, seed=seed)


def steep():
    """A head with scores beyond the range of exp, which softmax has to shift."""
    model, tokens = mha.MultiHeadAttention(1000 * randoms(1).W, randoms(1).U), DATA.X[:, None]
    assert (tokens @ model.W @ tokens.mT).max() > np.log(np.finfo(float).max)
    return model


def with_copies(H):
    """H heads, of which only the first two differ."""
    model = randoms(2, seed=9)
    return type(model)(model.W[[0] + [1] * (H - 1)], model.U[[0] + [1] * (H - 1)])


def assert_same_path(path, other, rel=1e-12):
    """Steps, curves, models and end of two runs."""
    assert path.steps.tolist() == other.steps.tolist()
    assert path.curves.keys() == other.curves.keys()
    assert path.stopped == other.stopped
    for name, curve in other.curves.items():
        assert_close(path.curves[name], curve, rel)
    for ours, theirs in zip(path, other, strict=True):
        assert_close(ours.W, theirs.W, rel, size=rel * abs(theirs.ravel()).max())
        assert_close(ours.U, theirs.U, rel)


def assert_is_train_of_each(models, rules, data=DATA, steps=30, rel=1e-12, **settings):
    paths = mha.fleet(models, data, rules, steps, **settings)
    for path, model, rule in zip(paths, models, rules, strict=True):
        assert_same_path(path, mha.train(model, data, rule, steps, **settings), rel)
    return paths


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@pytest.mark.parametrize("start", [zeros, randoms, with_copies])
@pytest.mark.parametrize("test", [None, TEST], ids=["no test", "test"])
def test_each_run_is_that_of_train(rule, start, test):
    models, rates = [start(H) for H in (1, 3, 2, 5)], (0.02, 0.01, lambda k: 0.03 / (k + 1), 0.02)
    assert_is_train_of_each(models, [rule(lr) for lr in rates], test=test, record=7)


def test_runs_of_all_kinds_come_back_in_their_order():
    models = [randoms(2), randoms(1), zeros(3), Plain(randoms(2).W, randoms(2).U), randoms(4), randoms(2), zeros(1)]
    rules = [mha.Adam(0.02), mha.GradientDescent(0.5), mha.Momentum(0.1), mha.GradientDescent(0.5),
             Normalized(0.1), mha.Adam(0.02, beta1=0.5), mha.GradientDescent(np.float64(0.2))]
    assert_is_train_of_each(models, rules)


def test_runs_of_one_kind_of_rule_take_their_steps_together(monkeypatch):
    alone = []
    monkeypatch.setattr(FLEET, "run", lambda model, *others: alone.append(model) or Records().path(None))
    models = [*(randoms(H) for H in (1, 2, 3, 4, 5)), Plain(randoms(2).W, randoms(2).U)]
    rules = [mha.Momentum(0.1), mha.Momentum(0.2), Normalized(0.1), mha.Momentum(0.1, beta=0.5),
             mha.GradientDescent(0.1), mha.Momentum(0.3)]
    mha.fleet(models, DATA, rules, steps=2)
    assert alone == models[2:]


@pytest.mark.parametrize("models, rules", [([zeros(2), randoms(3)], mha.GradientDescent(0.5)),
                                           (randoms(3), [mha.GradientDescent(0.5), mha.GradientDescent(0.1)]),
                                           (randoms(3), mha.GradientDescent(0.5)), ([randoms(3)], [Normalized(0.1)])],
                         ids=["one rule", "one model", "one run", "one run in lists"])
def test_what_is_given_once_is_for_all_runs(models, rules):
    paths = mha.fleet(models, DATA, rules, steps=5)
    models = models if isinstance(models, list) else [models] * len(paths)
    rules = rules if isinstance(rules, list) else [rules] * len(paths)
    assert len(paths) == max(len(models), len(rules))
    for path, model, rule in zip(paths, models, rules, strict=True):
        assert_same_path(path, mha.train(model, DATA, rule, 5))


def test_runs_and_steps_to_record_may_come_from_iterators():
    rules = [mha.Momentum(0.1), mha.Momentum(0.2)]
    paths = mha.fleet((randoms(H) for H in (1, 2)), DATA, iter(rules), steps=20, record=(k for k in (20, 0, 10)))
    assert [path.steps.tolist() for path in paths] == [[0, 10, 20]] * 2


@pytest.mark.parametrize("record", [200, [0, 2, 50], [50]], ids=["every step", "some steps", "the last step"])
@pytest.mark.parametrize("rule", [mha.GradientDescent, mha.Momentum], ids=["gradient descent", "momentum"])
def test_a_diverging_run_ends_alone(rule, record):
    """The others go on as they would alone, among them one whose scores are beyond the range of exp."""
    models = [randoms(2), randoms(3), steep(), randoms(2, seed=1), randoms(2)]
    rules = [rule(lr) for lr in (0.1, 1e307, 1e-3, lambda k: 10.0 ** min(20 * k, 307), 0.1)]
    with pytest.warns(RuntimeWarning) as warned:
        paths = mha.fleet(models, HOPELESS, rules, 50, record=record, test=TEST)
    assert [str(warning.message).split(" being")[0] for warning in warned] == [f"run {k}: The loss stopped"
                                                                               for k in (1, 3)]
    assert {warning.filename for warning in warned} == {__file__}
    with pytest.warns(RuntimeWarning):
        alone = [mha.train(model, HOPELESS, rule, 50, record=record, test=TEST)
                 for model, rule in zip(models, rules, strict=True)]
    for k in (0, 2, 4):
        assert_same_path(paths[k], alone[k], 1e-11)
    for k in (1, 3):  # what overflows is off by rounding times its size: the end is the same, and the way there
        assert paths[k].steps.tolist() == alone[k].steps.tolist()
        assert paths[k].stopped == alone[k].stopped
        assert np.allclose(paths[k].loss, alone[k].loss, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:run")
def test_runs_that_all_diverge_all_end():
    models, rules = [randoms(H) for H in (1, 2, 3)], [mha.GradientDescent(1e308)] * 3
    paths = mha.fleet(models, HOPELESS, rules, 100, record=[50])
    for path, model, rule in zip(paths, models, rules, strict=True):
        with pytest.warns(RuntimeWarning, match="stopped being finite"):
            assert path.stopped == mha.train(model, HOPELESS, rule, 100, record=[50]).stopped
        assert len(path) == 1


def test_what_overflows_in_one_run_leaves_the_others_alone():
    """The logits of run 1 are infinite and right, so that its loss is 0 and its test loss infinite, then nothing."""
    models = [mha.MultiHeadAttention(randoms(H).W, size * abs(randoms(H).U))
              for H, size in ((2, 1), (1, 1e308), (3, 1))]
    data, test = (mha.data.from_arrays(abs(DATA.X), sign * abs(DATA.y), DATA.relevant) for sign in (1, -1))
    with pytest.warns(RuntimeWarning, match="run 1: The loss stopped being finite at step 1"):
        paths = mha.fleet(models, data, mha.GradientDescent(0.1), 5, test=test)
    assert paths[1].loss.tolist() == [0]
    assert paths[1].test_loss.tolist() == [np.inf]
    for k in (0, 2):
        assert_same_path(paths[k], mha.train(models[k], data, mha.GradientDescent(0.1), 5, test=test))


def test_a_start_that_is_not_finite_ends_alone():
    with np.errstate(over="ignore"):
        models = [randoms(2), 1e308 * (100 * randoms(2)), steep()]
    with pytest.warns(RuntimeWarning, match=r"run 1: The loss is not finite at the start \(step 0\)"):
        paths = mha.fleet(models, DATA, mha.Adam(0.02), 10)
    assert [len(path) for path in paths] == [11, 0, 11]
    for k in (0, 2):
        assert_same_path(paths[k], mha.train(models[k], DATA, mha.Adam(0.02), 10))


def test_lr_is_asked_once_a_step():
    asked = {1: [], 2: []}
    mha.fleet(randoms(2), DATA, [mha.GradientDescent(lambda k, r=r: asked[r].append(k) or 0.5) for r in asked], steps=4)
    assert asked == {1: [0, 1, 2, 3], 2: [0, 1, 2, 3]}


def test_no_step_leaves_the_starts():
    paths = mha.fleet([randoms(2), zeros(1)], DATA, mha.Adam(0.1), steps=0)
    assert [path.steps.tolist() for path in paths] == [[0], [0]]
    assert_close(paths[0][0].ravel(), randoms(2).ravel(), 0)


def test_recorded_models_own_their_memory():
    paths = mha.fleet([randoms(2), randoms(3)], DATA, mha.GradientDescent(0.5), steps=3)
    arrays = [a for path in paths for model in path for a in model.arrays().values()]
    assert not any(np.shares_memory(a, b) for k, a in enumerate(arrays) for b in arrays[:k])


def test_runs_that_converge_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mha.fleet([randoms(2), zeros(1)], DATA, mha.GradientDescent(0.5), steps=5)


def test_torch_trains_as_numpy():
    models = [randoms(2), randoms(3), zeros(1)]
    rules = [mha.Momentum(lr) for lr in (0.1, lambda k: 0.1, 0.2)]
    paths = mha.fleet([model.map(torch.tensor) for model in models], DATA.map(torch.tensor), rules, steps=15,
                      test=TEST.map(torch.tensor))
    assert isinstance(paths[0][-1].W, torch.Tensor)
    for path, other in zip(paths, mha.fleet(models, DATA, rules, steps=15, test=TEST), strict=True):
        assert_same_path(path, other, 1e-11)


@pytest.mark.parametrize("rule", [mha.GradientDescent(0.5), mha.GradientDescent(np.float64(0.5)), mha.Adam(0.02)],
                         ids=["float", "np.float64", "Adam"])
def test_single_precision_stays_single(rule):
    def single(a):
        return a.astype("float32")
    models = [randoms(2), randoms(3)]
    paths = mha.fleet([model.map(single) for model in models], DATA.map(single), rule, steps=20)
    for path, other in zip(paths, mha.fleet(models, DATA, rule, steps=20), strict=True):
        assert {a.dtype.name for model in path for a in model.arrays().values()} == {"float32"}
        assert_close(path.loss, other.loss, 1e-5)


@pytest.fixture(params=[lambda a: a, torch.tensor], ids=["numpy", "torch"])
def side_by_side(request):
    """Three models with 2, 3 and 4 heads, some of them copies, and a batch."""
    first, second, third = (problem(seed, H=H, W=1.0).map(request.param) for seed, H in enumerate((2, 3, 2)))
    copied = type(third.model)(third.model.W[[0, 1, 1, 0]], third.model.U[[0, 1, 1, 0]])
    return [first.model, second.model, copied], first.X, first.y


def test_the_workspace_equals_the_formula_for_each_model(side_by_side):
    models, X, y = side_by_side
    space = MultiHeadFleet(models, X, y)
    losses, grad = space.loss_and_grad(space.pack(models))
    for loss, ours, model in zip(losses, space.unpack(grad), models, strict=True):
        expected, theirs = model.loss_and_grad(X, y)
        assert_close(loss, expected, 1e-13)
        assert_close(ours.ravel(), theirs.ravel(), 1e-12)


def test_pack_and_unpack_are_inverse(side_by_side):
    models, X, y = side_by_side
    space = MultiHeadFleet(models, X, y)
    for ours, model in zip(space.unpack(space.pack(models)), models, strict=True):
        assert_close(ours.ravel(), model.ravel(), 0)


def test_columns_of_some_runs_are_the_columns_of_their_own_fleet(side_by_side):
    models, X, y = side_by_side
    space = MultiHeadFleet(models, X, y)
    for runs in ([0], [1], [2], [0, 2], [1, 2], [0, 1, 2], []):
        chosen = [models[r] for r in runs]
        expected = MultiHeadFleet(chosen, X, y).pack(chosen) if runs else space.pack(models)[:, :0]
        assert_close(space.pack(models)[:, space.columns_of(runs)], expected, 0)


def test_values_are_spread_over_the_columns_of_their_run(side_by_side):
    models, X, y = side_by_side
    space = MultiHeadFleet(models, X, y)
    scaled = space.unpack(space.along_columns([2, 3, 5]) * space.pack(models))
    for ours, factor, model in zip(scaled, (2.0, 3.0, 5.0), models, strict=True):
        assert_close(ours.ravel(), factor * model.ravel(), 0)


def test_what_is_measured_is_that_of_each_model(side_by_side):
    models, X, y = side_by_side
    relevant = X[:, :, 0] * 0 + (X[:, :, 0] > 0.2)
    space = MultiHeadFleet(models, X, y)
    theta = space.pack(models)
    measured = space.summary(theta, relevant) | space.norms(theta, space.loss_and_grad(theta)[1])
    for r, model in enumerate(models):
        alone = model.workspace(X, y)
        expected = alone.summary(alone.pack(model), relevant) | model.norms()
        expected["grad_norm"] = model.loss_and_grad(X, y)[1].norm()
        assert {name: float(values[r]) for name, values in measured.items()} == pytest.approx(expected, rel=1e-12)


MODEL, STEP = randoms(2), mha.GradientDescent(0.1)
CALLS = {
    "lengths that differ": (lambda: mha.fleet([MODEL] * 3, DATA, [STEP] * 2, 5), ValueError,
                            ["models, optimizers: expected as many", "got 3 and 2"]),
    "no run": (lambda: mha.fleet([], DATA, STEP, 5), ValueError, ["at least one", "got 0 and 0"]),
    "no rule": (lambda: mha.fleet(MODEL, DATA, [], 5), ValueError, ["at least one", "got 0 and 0"]),
    "an array among models": (lambda: mha.fleet([MODEL, DATA.X], DATA, STEP, 5), TypeError,
                              ["run 1: model: expected a model", "ndarray"]),
    "a class among rules": (lambda: mha.fleet(MODEL, DATA, [STEP, mha.Adam], 5), TypeError,
                            ["run 1: optimizer: expected an update rule"]),
    "a model of other tokens": (lambda: mha.fleet([MODEL, mha.MultiHeadAttention.zeros(2, 5, 7)], DATA, STEP, 5),
                                ValueError, ["run 1: X: expected shape (n, 5, 7)", "got (12, 5, 6)"]),
    "a model in torch": (lambda: mha.fleet([MODEL, MODEL.map(torch.tensor)], DATA, STEP, 5), TypeError,
                         ["run 1: expected all arrays from one library"]),
    "an array for a dataset": (lambda: mha.fleet(MODEL, DATA.X, STEP, 5), TypeError, ["data: expected a Dataset"]),
    "test of other tokens": (lambda: mha.fleet(MODEL, DATA, STEP, 5, test=mha.data.tokenized_mixture(n=2)), ValueError,
                             ["test: X: expected shape (n, 5, 6)"]),
    "steps negative": (lambda: mha.fleet(MODEL, DATA, STEP, -1), ValueError, ["steps: expected"]),
    "record beyond the end": (lambda: mha.fleet(MODEL, DATA, STEP, 5, record=[6]), ValueError, ["record: expected"]),
    "lr function negative": (lambda: mha.fleet([MODEL] * 2, DATA, mha.GradientDescent(lambda k: 1.0 - k), 5),
                             ValueError, ["lr: expected a function that returns numbers ≥ 0", "-1.0", "step 2"]),
}


@pytest.mark.parametrize("call, error, words", CALLS.values(), ids=CALLS)
def test_bad_input_is_named(call, error, words):
    assert_refused(call, error, words)
