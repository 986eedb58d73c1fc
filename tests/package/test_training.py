"""``train``: the steps that one would write by hand, what is recorded of them, and how a run ends
early."""

import pickle
import warnings
from dataclasses import dataclass

import numpy as np
import pytest

import livegrad as lg
import mhalib as mha
from checks import assert_close
from mhalib.models.classifier_workspace import ClassifierWorkspace
from optional import torch

DATA = mha.data.tokenized_mixture(n=12, T=5, d=6, M=3, zeta=0.2, S=1.5, sigma=0.3, seed=4)
TEST = DATA.fresh(n=9, seed=5)
START = mha.MultiHeadAttention.random(H=3, T=5, d=6, scale=0.3, seed=6)
# Every example with both labels: nothing fits it, so a long step overshoots.
HOPELESS = mha.data.from_arrays(np.concatenate([DATA.X, DATA.X]), np.concatenate([DATA.y, -DATA.y]))
CURVES = {"loss", "accuracy", "grad_norm", "norm_W", "norm_U"}
RULES = [
    mha.GradientDescent(0.5),
    mha.GradientDescent(lambda k: 2 / (k + 1) ** 0.5),
    mha.Momentum(0.1),
    mha.Adam(0.02),
]
rules = pytest.mark.parametrize(
    "rule", RULES, ids=["gradient descent", "decreasing lr", "momentum", "Adam"]
)


def by_hand(steps, lr, model=START, data=DATA):
    """The paper's line, literally."""
    models = [model]
    for _ in range(steps):
        _, grad = model.loss_and_grad(data.X, data.y)
        model = model - lr * grad
        models.append(model)
    return models


@rules
def test_train_is_the_rule_on_the_plain_formula(rule):
    model, state = START, rule.start(START)
    for k in range(20):
        model, state = rule.step(model, model.loss_and_grad(DATA.X, DATA.y)[1], state, k)
    # Adam divides by √v̂ and so magnifies rounding where a gradient is small.
    assert_close(mha.train(START, DATA, rule, steps=20)[-1].ravel(), model.ravel(), 1e-9)


def test_curves_are_those_of_the_recorded_models():
    path = mha.train(START, DATA, mha.GradientDescent(0.5), steps=20, test=TEST, record=7)
    for k, model in enumerate(path):
        A, grad = model.attention(DATA.X), model.loss_and_grad(DATA.X, DATA.y)[1]
        expected = {
            "loss": model.loss(DATA.X, DATA.y),
            "grad_norm": grad.norm(),
            "accuracy": (DATA.y * model(DATA.X) > 0).mean(),
            "attention_score": (A * DATA.relevant[:, None, None]).sum(axis=-1).mean(),
            "test_loss": model.loss(TEST.X, TEST.y),
            "test_accuracy": (TEST.y * model(TEST.X) > 0).mean(),
        } | model.norms()
        assert {name: path.curves[name][k] for name in path.curves} == pytest.approx(
            expected, rel=1e-11
        )


def test_curves_are_attributes_of_one_length():
    path = mha.train(START, DATA, mha.GradientDescent(0.5), steps=50, test=TEST, record=10)
    assert set(path.curves) == CURVES | {"attention_score", "test_loss", "test_accuracy"}
    for name in path.curves:
        assert getattr(path, name).shape == path.steps.shape == (len(path),)


def test_data_without_marks_and_test_have_fewer_curves():
    path = mha.train(START, mha.data.from_arrays(DATA.X, DATA.y), mha.GradientDescent(0.5), steps=3)
    assert set(path.curves) == CURVES
    with pytest.raises(
        AttributeError, match="no curve 'attention_score'; it recorded accuracy, grad_norm, loss"
    ):
        _ = path.attention_score


def test_no_step_leaves_the_start():
    path = mha.train(START, DATA, mha.Adam(0.1), steps=0)
    assert path.steps.tolist() == [0]
    assert len(path) == 1
    assert_close(path[-1].ravel(), START.ravel(), 0)
    assert path.stopped is None


@pytest.mark.parametrize(
    "steps, record",
    [
        (0, 2),
        (1, 2),
        (5, 2),
        (5, 6),
        (5, 200),
        (100, 10),
        (100, 11),
        (1000, 200),
        (200, 200),
        (199, 200),
        (7, 3),
    ],
)
def test_first_and_last_steps_are_recorded_and_no_more_than_asked(steps, record):
    path = mha.train(START, DATA, mha.GradientDescent(0.1), steps=steps, record=record)
    assert path.steps[0] == 0
    assert path.steps[-1] == steps
    assert (np.diff(path.steps) > 0).all()
    assert len(path) == len(path.models) == len(path.loss) <= max(record, 2)
    if steps < record:
        assert path.steps.tolist() == list(range(steps + 1))


def test_records_are_dense_early_and_spread_to_the_end():
    steps = mha.train(START, DATA, mha.GradientDescent(0.01), steps=2000, record=40).steps
    assert (steps <= 20).sum() >= 5
    assert np.diff(steps).max() <= 2000 / 15


def test_chosen_steps_are_recorded():
    path = mha.train(START, DATA, mha.GradientDescent(0.5), steps=9, record=[7, 2, np.int64(2)])
    assert path.steps.tolist() == [2, 7]
    assert_close(path[1].ravel(), by_hand(7, 0.5)[-1].ravel(), 1e-12)
    assert set(path.curves) == CURVES | {"attention_score"}


def test_recording_does_not_change_the_run():
    sparse, dense = (
        mha.train(START, DATA, mha.Momentum(0.1), steps=40, test=TEST, record=record)
        for record in (2, 41)
    )
    assert_close(sparse[-1].ravel(), dense[-1].ravel(), 0)


def test_recorded_models_are_not_overwritten():
    path = mha.train(START, DATA, mha.GradientDescent(0.5), steps=5)
    first = path[0].ravel().copy()
    mha.train(path[0], DATA, mha.GradientDescent(0.5), steps=5)
    assert_close(path[0].ravel(), START.ravel(), 0)
    assert_close(path[0].ravel(), first, 0)
    assert len({id(model) for model in path}) == 6


@pytest.mark.parametrize(
    "lr", [1e308, lambda k: 10.0 ** min(60 * k, 308)], ids=["constant", "growing"]
)
def test_a_diverging_run_stops_at_the_first_loss_that_is_not_finite(lr):
    rates = lr if callable(lr) else lambda k: lr
    model, losses = START, []
    with np.errstate(all="ignore"):
        for k in range(8):
            loss, grad = model.loss_and_grad(HOPELESS.X, HOPELESS.y)
            losses.append(loss)
            model = model - rates(k) * grad
    first = int(np.argmin(np.isfinite(losses)))
    assert first >= 2
    with pytest.warns(
        RuntimeWarning, match=rf"stopped being finite at step {first} of GradientDescent with lr = "
    ):
        path = mha.train(START, HOPELESS, mha.GradientDescent(lr), steps=100)
    assert path.steps.tolist() == list(range(first))
    assert_close(path.loss / losses[:first], np.ones(first), 1e-9)
    assert np.isfinite(path.loss).all()
    assert f"last finite loss was {path.loss[-1]:.3g}" in path.stopped
    assert "smaller lr" in path.stopped
    said = "2 / landscape.sharpness(path, data, points=1).values[0]"
    assert said in path.stopped
    assert 0 < eval(said, {"landscape": mha.landscape, "path": path, "data": HOPELESS}) < rates(1)


def test_a_diverging_run_keeps_its_last_finite_step():
    with pytest.warns(RuntimeWarning, match="stopped being finite at step 2"):
        path = mha.train(START, HOPELESS, mha.GradientDescent(1e308), steps=100, record=[50])
    assert path.steps.tolist() == [1]
    assert_close(path.loss[0] / path[0].loss(HOPELESS.X, HOPELESS.y), 1.0, 1e-12)


@pytest.mark.parametrize(
    "arguments", [{"only": "U"}, {"only": "W"}, {"batch": 8}, {"batch": 8, "only": "U"}], ids=str
)
def test_a_diverging_run_of_some_weights_or_samples_leaves_its_path(arguments):
    rng = np.random.default_rng(0)
    data = mha.data.from_arrays(
        30 * rng.standard_normal((40, 4, 3)), np.where(rng.random(40) < 0.5, -1.0, 1.0)
    )
    start = mha.MultiHeadAttention.random(H=2, T=4, d=3, seed=0)
    with pytest.warns(RuntimeWarning, match="stopped being finite"):
        path = mha.train(start, data, mha.GradientDescent(1e308), 40, **arguments)
    assert path.steps.tolist() == [0] and np.isfinite(path.grad_norm).all()
    assert_close(path[0].ravel(), start.ravel(), 0)


@pytest.mark.parametrize(
    "arguments", [{}, {"only": "A"}, {"batch": 8, "seed": 3}, {"batch": 8, "only": ("A",)}], ids=str
)
def test_the_last_gradient_of_a_diverged_run_is_of_the_kind_of_the_others(arguments):
    data = mha.data.linear_regression(n=50, d=3, p=2, seed=0)
    start = mha.AttentionRegression.random(d=3, p=2, scale=0.1, seed=0)
    with pytest.warns(RuntimeWarning, match="stopped being finite"):
        whole = mha.train(
            start, data, mha.GradientDescent(50.0), 400, record=range(401), **arguments
        )
        short = mha.train(
            start, data, mha.GradientDescent(50.0), 400, record=[0, 1, 2], **arguments
        )
    assert short.steps.tolist() == [0, 1, 2, whole.steps[-1]] and whole.steps[-1] > 3
    assert short.grad_norm.tolist() == whole.grad_norm[[0, 1, 2, -1]].tolist()


def test_a_rule_that_compares_losses_of_all_samples_takes_no_minibatch():
    data = mha.data.linear_regression(n=50, d=3, p=2, seed=0)
    start = mha.AttentionRegression.random(d=3, p=2, seed=0)
    with pytest.raises(
        ValueError, match="batch: expected no number with this rule.*batch=8 with Backtracking"
    ):
        mha.train(start, data, mha.Backtracking(), 3, batch=8)
    assert mha.train(start, data, mha.Backtracking(), 3).loss[-1] < start.loss(data.x, data.y)


def test_a_start_that_is_not_finite_says_so():
    with pytest.warns(RuntimeWarning, match=r"not finite at the start \(step 0\)"):
        path = mha.train(1e308 * START, DATA, mha.GradientDescent(0.1), steps=5)
    assert len(path) == 0
    with pytest.raises(AttributeError, match="it recorded nothing: The loss is not finite at the"):
        _ = path.loss


def test_a_run_that_converges_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mha.train(START, DATA, mha.GradientDescent(0.5), steps=5).stopped is None


def test_torch_trains_as_numpy():
    ours = mha.train(START, DATA, mha.Adam(0.02), steps=15, test=TEST)
    theirs = mha.train(
        START.map(torch.tensor),
        DATA.map(torch.tensor),
        mha.Adam(0.02),
        steps=15,
        test=TEST.map(torch.tensor),
    )
    assert isinstance(theirs[-1].W, torch.Tensor)
    for name, curve in ours.curves.items():
        assert_close(theirs.curves[name], curve, 1e-9)


@pytest.mark.parametrize("lr", [0.5, np.float64(0.5)], ids=["float", "np.float64"])
def test_single_precision_stays_single(lr):
    def single(a):
        return a.astype("float32")

    path = mha.train(START.map(single), DATA.map(single), mha.GradientDescent(lr), steps=20)
    assert {model.W.dtype.name for model in path} | {model.U.dtype.name for model in path} == {
        "float32"
    }
    assert_close(path.loss, mha.train(START, DATA, mha.GradientDescent(0.5), steps=20).loss, 1e-5)


def test_a_model_without_buffers_trains_too():
    class Plain(mha.MultiHeadAttention):
        def workspace(self, X, y):
            return ClassifierWorkspace(self, X, y)

    path = mha.train(Plain(START.W, START.U), DATA, mha.GradientDescent(0.5), steps=10, test=TEST)
    fast = mha.train(START, DATA, mha.GradientDescent(0.5), steps=10, test=TEST)
    for name, curve in fast.curves.items():
        assert_close(path.curves[name], curve, 1e-11)


def test_paths_are_pickled():
    path = mha.train(START, DATA, mha.GradientDescent(0.5), steps=4)
    again = pickle.loads(pickle.dumps(path))
    assert_close(again.loss, path.loss, 0)
    assert again.steps.tolist() == path.steps.tolist()


def test_digits_are_learned_and_generalize():
    digits = mha.data.digits(classes=(3, 8), n=100, seed=0)
    model = mha.MultiHeadAttention.zeros(H=2, T=8, d=8)
    path = mha.train(model, digits, mha.Adam(0.02), steps=150, test=digits.fresh(), record=3)
    assert path.accuracy[-1] > 0.97
    assert path.test_accuracy[-1] > 0.9


def test_a_path_shows_its_ends():
    path = mha.train(START, DATA, mha.GradientDescent(0.1), steps=5)
    words = (
        f"Path(6 recorded steps, loss {path.loss[0]:.3g} at step 0 → {path.loss[-1]:.3g} at step 5)"
    )
    assert repr(path) == words


def test_steps_to_record_may_come_from_an_iterator():
    path = mha.train(
        START, DATA, mha.GradientDescent(0.1), steps=20, record=(k for k in (20, 0, 10))
    )
    assert path.steps.tolist() == [0, 10, 20]


@dataclass(frozen=True, eq=False, repr=False)
class Curve(lg.Vector):
    w: np.ndarray
    b: np.ndarray

    def loss(self, X, y):
        return np.square(np.tanh(X @ self.w + self.b) - y).mean()


@dataclass(frozen=True, eq=False, repr=False)
class OnTheSphere(Curve):
    def __sub__(self, other):
        moved = super().__sub__(other)
        return moved.with_arrays(w=moved.w / np.linalg.norm(moved.w))


POINTS = lg.Samples(np.arange(12.0).reshape(4, 3) / 10, np.array([0.5, -0.5, 0.2, 0.1]))
RULES = {
    "descent": lg.GradientDescent(0.5),
    "momentum": lg.Momentum(0.5, beta=0.9),
    "Adam": lg.Adam(0.1),
    "AdamW": lg.AdamW(0.1),
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_steps_on_all_weights_in_one_array_are_those_on_models_bit_by_bit(rule):
    theta = Curve(np.full(3, 0.1), np.array(0.2))
    path, state = mha.train(theta, POINTS, rule, 20, compiled=False), rule.start(theta)
    for k in range(20):
        theta, state = rule.step(theta, theta.loss_and_grad(POINTS.X, POINTS.y)[1], state, k)
    assert (path[-1].w == theta.w).all() and (path[-1].b == theta.b).all()
    assert path[-1].b.shape == () and path[3].w is not path[4].w


def test_a_model_with_arithmetic_of_its_own_moves_by_it():
    path = mha.train(OnTheSphere(np.eye(3)[0], np.array(0.0)), POINTS, RULES["descent"], 5)
    assert np.linalg.norm(path[-1].w) == pytest.approx(1, rel=1e-15) and path[-1].w[1] != 0
