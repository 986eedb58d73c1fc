"""Where a formula has no derivative, a record has that of torch; masks compute as numpy's; and what
is NaN is said."""

import copy
import os
import pickle
import signal
from dataclasses import asdict, astuple, dataclass
from types import SimpleNamespace

import numpy as np
import pytest

import mhalib as mha
from livegrad.record.derivatives import gradient
from livegrad.record.numeric import evaluate
from livegrad.record.trace import Untraceable, array
from optional import torch

AT = np.array([-2.0, -1.0, 0.0, 0.0, 1.0, 2.0])
EDGES = {
    "maximum": (lambda x: np.maximum(x, 0), lambda x: torch.maximum(x, 0 * x.detach())),
    "maximum, turned": (lambda x: np.maximum(0, x), lambda x: torch.maximum(0 * x.detach(), x)),
    "minimum": (lambda x: np.minimum(x, 0), lambda x: torch.minimum(x, 0 * x.detach())),
    "maximum of itself": (lambda x: np.maximum(x, 1.0 * x), lambda x: torch.maximum(x, 1.0 * x)),
    "maximum with a negative": (lambda x: np.maximum(x, -x), lambda x: torch.maximum(x, -x)),
    "abs": (lambda x: abs(x), abs),
    "clip": (lambda x: np.clip(x, -1, 1), lambda x: torch.clamp(x, -1, 1)),
    "clip from below": (lambda x: np.clip(x, 0, None), lambda x: torch.clamp(x, min=0)),
    "clip from above": (lambda x: np.clip(x, None, 1), lambda x: torch.clamp(x, max=1)),
    "clip by names": (lambda x: np.clip(x, min=-1, max=0), lambda x: torch.clamp(x, -1, 0)),
    "clip to one number": (lambda x: np.clip(x, 1, -1), lambda x: torch.clamp(x, 1, -1)),
    "where": (
        lambda x: np.where(x > 0, x * x, -3 * x),
        lambda x: torch.where(x > 0, x * x, -3 * x),
    ),
    "root of what was chosen": (
        lambda x: np.sqrt(np.where(x > 0, x, 0.0)) + 1,
        lambda x: torch.sqrt(torch.where(x > 0, x, torch.tensor(0.0).double())) + 1,
    ),
    "root of a maximum": (
        lambda x: np.sqrt(np.maximum(x + 1.5, 0)),
        lambda x: torch.sqrt(torch.maximum(x + 1.5, torch.tensor(0.0))),
    ),
    "norm": (lambda x: np.linalg.norm(0 * x) + 1, lambda x: torch.linalg.norm(0 * x) + 1),
    "norm of rows": (
        lambda x: np.linalg.norm(x.reshape(2, 3) * np.array([[0.0], [1]]), axis=1),
        lambda x: torch.linalg.norm(x.reshape(2, 3) * torch.tensor([[0.0], [1]]), dim=1),
    ),
    "power of 0": (
        lambda x: x ** np.array([0.0, 1, 0, 1, 2, 3]),
        lambda x: x ** torch.tensor([0.0, 1, 0, 1, 2, 3]),
    ),
    "cube": (lambda x: x**3, lambda x: x**3),
    "0 to a power": (
        lambda x: np.array([0.0, 0, 0, 0, 2, 3]) ** (x * x),
        lambda x: torch.tensor([0.0, 0, 0, 0, 2, 3]) ** (x * x),
    ),
    "largest of ties": (lambda x: (x * x).max(), lambda x: (x * x).amax()),
    "no spread": (
        lambda x: (0 * x + 1).std() + x.std(),
        lambda x: (0 * x + 1).std() + x.std(correction=0),
    ),
    "largest of rows": (
        lambda x: abs(x).reshape(2, 3).max(axis=0),
        lambda x: abs(x).reshape(2, 3).amax(0),
    ),
    "smallest of ties": (lambda x: (x * x).min(), lambda x: (x * x).amin()),
    "stable logistic": (
        lambda x: np.maximum(x, 0) + np.log1p(np.exp(-abs(x))),
        lambda x: torch.maximum(x, 0 * x.detach()) + torch.log1p(torch.exp(-abs(x))),
    ),
}


@pytest.mark.filterwarnings("ignore:(divide by zero|invalid value)")
@pytest.mark.parametrize("formula, of_torch", EDGES.values(), ids=EDGES)
def test_at_an_edge_the_slope_is_that_of_torch(formula, of_torch):
    x = array("x", AT.shape)
    weights = np.arange(1.0, 7)
    recorded = formula(x)
    weighted = (recorded * weights[: recorded.size].reshape(recorded.shape)).sum()
    value, slope = evaluate([recorded, *gradient(weighted, [x])], {"x": AT})
    leaf = torch.tensor(AT, requires_grad=True)
    right = of_torch(leaf)
    (right * torch.tensor(weights[: right.numel()]).reshape(right.shape)).sum().backward()
    np.testing.assert_allclose(value, formula(AT), rtol=1e-15)
    np.testing.assert_allclose(slope, leaf.grad.numpy(), rtol=1e-14)


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_a_slope_that_is_infinite_in_torch_is_so_here():
    x = array("x", ())
    assert evaluate(gradient(np.sqrt(x), [x]), {"x": np.array(0.0)}) == [np.inf]


M, N = AT > 0, AT < 2
MASKS = {
    "+": lambda x, m: (x > 0) + (x < 2),
    "*": lambda x, m: (x > 0) * m,
    "&": lambda x, m: (x > 0) & m,
    "|": lambda x, m: (x > 0) | m,
    "^": lambda x, m: (x > 0) ^ m,
    "~": lambda x, m: ~(x > 0),
    "!=": lambda x, m: m != x,
    "a count": lambda x, m: (x > 0).sum(),
    "a share": lambda x, m: m.mean(),
    "twice": lambda x, m: (x > 0) * 2,
    "one less": lambda x, m: 1 - m,
    "negative of numbers": lambda x, m: -(1.0 * m),
    "square": lambda x, m: m**2 + m,
    "or of a sum": lambda x, m: (m + m) + 1,
    "any": lambda x, m: np.any(m),
    "all": lambda x, m: np.all(m | (x < 9)),
    "any of rows": lambda x, m: (x > 0).reshape(2, 3).any(axis=1),
    "not": lambda x, m: np.logical_not(x),
    "and of numbers": lambda x, m: np.logical_and(x, m),
    "where": lambda x, m: np.where(m, x > 0, x < 1) + m,
    "stack": lambda x, m: np.stack([m, x > 0]) + np.stack([m, m]),
    "largest": lambda x, m: m.max() + m.max(),
    "as numbers": lambda x, m: m.astype(float) + (x > 0).astype(int),
    "True": lambda x, m: (x > 0) + True,
    "product of numbers": lambda x, m: m.astype(float) @ x,
    "reshape": lambda x, m: m.reshape(2, 3) + M.reshape(2, 3),
    "one of them": lambda x, m: m[2] + m[4],
    "turned": lambda x, m: m.reshape(2, 3).T + m.reshape(2, 3).T,
    "abs": lambda x, m: abs(m) + m,
    "maximum": lambda x, m: np.maximum(m, x > 0) + m,
    "sign": lambda x, m: np.sign(x),
}


@pytest.mark.parametrize("formula", MASKS.values(), ids=MASKS)
def test_masks_compute_as_those_of_numpy(formula):
    recorded = formula(array("x", AT.shape), array("m", M.shape, bool))
    right = formula(AT, M)
    (found,) = evaluate([recorded], {"x": AT, "m": M})
    np.testing.assert_array_equal(found, right)
    assert recorded.dtype.kind == np.asarray(right).dtype.kind


NO_MASKS = {
    "difference": (lambda x, m: (x > 0) - m, "− of two masks, which numpy refuses"),
    "negative": (lambda x, m: -m, "− of a mask, which numpy refuses"),
    "not of numbers": (lambda x, m: ~x, "of numbers"),
    "and of numbers": (lambda x, m: x & m, "of numbers"),
    "product": (lambda x, m: m @ m, "a product of two masks is a mask"),
    "small whole numbers": (lambda x, m: x.astype("i1"), "astype"),
}


@pytest.mark.parametrize("formula, said", NO_MASKS.values(), ids=NO_MASKS)
def test_what_numpy_refuses_of_masks_is_refused(formula, said):
    with pytest.raises(Untraceable, match=rf"^test_edges\.py, line \d+: .*{said}"):
        formula(array("x", AT.shape), array("m", M.shape, bool))


def test_axes_may_be_transposed_by_method():
    x, numbers = array("x", (2, 3, 4)), np.arange(24.0).reshape(2, 3, 4)
    for order in ((), (0, 2, 1), ((2, 0, 1),), (-1, 0, 1)):
        (found,) = evaluate([x.transpose(*order)], {"x": numbers})
        np.testing.assert_array_equal(found, numbers.transpose(*order))
    with pytest.raises(Untraceable, match="transpose of an array of 3 axes"):
        x.transpose(0, 1)


RNG = np.random.default_rng(0)
DATA = SimpleNamespace(X=RNG.standard_normal((30, 3)), y=RNG.standard_normal(30))


def model(form, start):
    """A model with the loss form(w, X, y)."""

    @dataclass(frozen=True, eq=False, repr=False)
    class Formed(mha.models.Vector):
        w: np.ndarray

        def loss(self, X, y):
            return form(self.w, X, y)

    return Formed(start)


ROOT = model(
    lambda w, X, y: ((np.where(X @ w >= 0, X @ w, np.sqrt(-(X @ w))) - y) ** 2).mean(), np.ones(3)
)
EDGE = model(lambda w, X, y: np.sqrt((w * w).sum()) + ((X @ w - y) ** 2).mean(), np.zeros(3))


@pytest.mark.parametrize("lr", [0.1, 1e-12])
@pytest.mark.parametrize(
    "start, operation", [(ROOT, "in sqrt"), (EDGE, "in the derivative of sqrt")], ids=["<", "0"]
)
def test_a_gradient_that_is_nan_at_the_start_is_said_to_be_that(start, operation, lr):
    said = (
        r"^The gradient with respect to w is NaN or infinite at the start \(step 0\), .* "
        rf"test_edges.py, line \d+, {operation}"
    )
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning, match=said) as caught:
        path = mha.train(start, DATA, mha.GradientDescent(lr=lr), 5)
    assert path.steps.tolist() == [0] and "Try a smaller" not in str(caught[0].message)


def test_a_gradient_that_becomes_nan_on_the_way_is_said_to_be_that():
    """Descent on |w| from 1 by steps of 1 meets 0, where this root has no slope."""
    meets = model(lambda w, X, y: np.sqrt(w * w).sum(), np.ones(1))
    with (
        np.errstate(all="ignore"),
        pytest.warns(RuntimeWarning, match="infinite at step 1, where the loss is 0;"),
    ):
        path = mha.train(meets, DATA, mha.GradientDescent(lr=1.0), 5, record=[0, 5])
    assert path.steps.tolist() == [0, 1]


def test_a_gradient_that_is_nan_at_the_last_step_is_said_to_be_that():
    meets = model(lambda w, X, y: np.sqrt(w * w).sum(), np.ones(1))
    with (
        np.errstate(all="ignore"),
        pytest.warns(RuntimeWarning, match="NaN or infinite at step 1, where the loss"),
    ):
        mha.train(meets, DATA, mha.GradientDescent(lr=1.0), 1)


@pytest.mark.parametrize("start", [0.5, 4.0])
@pytest.mark.parametrize("rise, growth", [(9.9, 2.0), (10.1, 2.0), (1.0, 990.0), (1.0, 1010.0)])
def test_ten_times_the_loss_or_thousandfold_weights_are_those_of_a_run_that_diverges(
    start, rise, growth
):
    """The first step leads from the loss 2 to ``rise`` times that at w = ``to``, where the root has no
    slope: only a run that diverges goes on there."""
    to = growth * max(1.0, start)
    way = to - start
    bend = (rise + way - 1 - way * (1 - way)) / way**2
    meets = model(
        lambda w, X, y: (
            2
            * (
                np.sqrt((w - to) ** 2) + 1 - way + (1 - way) * (w - start) + bend * (w - start) ** 2
            ).sum()
        ),
        np.full(1, start),
    )
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning) as caught:
        path = mha.train(meets, DATA, mha.GradientDescent(0.5), 5, record=range(6))
    assert path[1].w[0] == to and path.loss == pytest.approx([2.0, 2 * rise])
    met = "NaN or infinite at step 1" in str(caught[0].message)
    assert met == (max(rise / 10, growth / 1000) < 1)


def test_a_smaller_step_is_advised_where_it_helps():
    falls = model(lambda w, X, y: (w**4).sum(), np.ones(1))
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning, match="Try a smaller lr"):
        mha.train(falls, DATA, mha.GradientDescent(lr=10.0), 50)


def test_a_smaller_step_is_advised_where_the_first_was_too_long():
    near = model(lambda w, X, y: (np.log(w) + 1e3 * w).sum(), np.full(1, 1e-9))
    square = model(lambda w, X, y: (w * w).sum(), np.ones(1))
    for start, lr in ((near, 1.0), (square, 1e200)):
        with np.errstate(all="ignore"), pytest.warns(RuntimeWarning, match="Try a smaller lr"):
            mha.train(start, DATA, mha.GradientDescent(lr=lr), 5)


def test_no_smaller_step_is_advised_where_the_loss_ends():
    """It is defined at the start alone."""
    ends = model(lambda w, X, y: (w - np.log(np.where(w >= 1, 1.0, 0.0))).sum(), np.ones(1))
    with (
        np.errstate(all="ignore"),
        pytest.warns(RuntimeWarning, match="a smaller lr does not help"),
    ):
        mha.train(ends, DATA, mha.GradientDescent(lr=1.0), 5)


def test_nan_at_the_start_is_not_said_to_be_too_large():
    with (
        np.errstate(all="ignore"),
        pytest.warns(RuntimeWarning, match="at the start .step 0., but NaN"),
    ):
        mha.train(
            model(lambda w, X, y: np.log(w).sum(), -np.ones(2)), DATA, mha.GradientDescent(0.1), 5
        )


class Interrupted(mha.GradientDescent):
    """Gradient descent, and the stop button at a step."""

    def step(self, theta, grad, state, k):
        if k == 7:
            os.kill(os.getpid(), signal.SIGINT)
        return super().step(theta, grad, state, k)


@pytest.fixture
def python_is_interrupted():
    """SIGINT raises KeyboardInterrupt, which it does not in a process that began in the
    background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("python_is_interrupted")
def test_an_interrupt_keeps_the_path_so_far():
    start, data = mha.MultiHeadAttention.zeros(2, 10, 8), mha.data.tokenized_mixture(n=20, seed=0)
    with pytest.warns(RuntimeWarning, match="^Interrupted after step 7"):
        path = mha.train(start, data, Interrupted(0.1), 1000, record=[0, 5, 1000])
    whole = mha.train(start, data, mha.GradientDescent(0.1), 7, record=[0, 5, 7])
    assert path.steps.tolist() == [0, 5, 7]
    np.testing.assert_allclose(path.loss, whole.loss, rtol=1e-12)


@pytest.mark.usefixtures("python_is_interrupted")
def test_an_interrupt_ends_a_run_that_must_be_whole():
    from livegrad.walk import interrupts_raised

    start, data = mha.MultiHeadAttention.zeros(2, 10, 8), mha.data.tokenized_mixture(n=20, seed=0)
    with pytest.raises(KeyboardInterrupt), interrupts_raised():
        mha.train(start, data, Interrupted(0.1), 1000)


def test_torch_derives_a_loss_of_its_tensors():
    def form(w, X, y):
        return ((X @ w - y) ** 2).mean() + abs(w).sum()

    start = model(form, torch.full((3,), 0.5, dtype=torch.float64))
    data = SimpleNamespace(X=torch.as_tensor(DATA.X), y=torch.as_tensor(DATA.y))
    path = mha.train(start, data, mha.GradientDescent(lr=0.1), 20)
    by_record = mha.train(model(form, np.full(3, 0.5)), DATA, mha.GradientDescent(lr=0.1), 20)
    np.testing.assert_allclose(path.loss, by_record.loss, rtol=1e-12)
    with pytest.raises(TypeError, match="^loss: expected one number that torch computed"):
        mha.train(
            model(lambda w, X, y: np.exp(w).sum(), start.w), data, mha.GradientDescent(0.1), 2
        )


def test_single_precision_trains_in_single_precision():
    def form(w, X, y):
        return ((X @ w - y) ** 2).mean()

    single = SimpleNamespace(X=DATA.X.astype("f4"), y=DATA.y.astype("f4"))
    path = mha.train(model(form, np.zeros(3, "f4")), single, mha.GradientDescent(lr=0.1), 20)
    assert path[-1].w.dtype == np.float32
    np.testing.assert_allclose(
        path.loss,
        mha.train(model(form, np.zeros(3)), DATA, mha.GradientDescent(lr=0.1), 20).loss,
        rtol=1e-5,
    )


def line(w, X, y):
    return ((X @ w - y) ** 2).mean()


@pytest.mark.parametrize("off", ["no_grad", "inference_mode", "set_grad_enabled"])
def test_torch_derives_where_a_reader_has_switched_that_off(off):
    def tensors():
        return model(line, torch.full((3,), 0.5, dtype=torch.float64)), SimpleNamespace(
            X=torch.tensor(DATA.X), y=torch.tensor(DATA.y)
        )

    rule, (start, data) = mha.GradientDescent(lr=0.1), tensors()
    direction = start.map(lambda a: a + 1)
    path, product = mha.train(start, data, rule, 5), start.hvp(data.X, data.y, direction)
    switched_off = getattr(torch, off)
    with switched_off(False) if off == "set_grad_enabled" else switched_off():
        # what is made in here is marked by torch, too
        for there, theirs in ((start, data), tensors()):
            np.testing.assert_array_equal(mha.train(there, theirs, rule, 5).loss, path.loss)
            found = there.hvp(theirs.X, theirs.y, direction * 1.0)
            np.testing.assert_array_equal(found.w, product.w)
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


@dataclass(eq=False, repr=False)
class Counting(mha.models.Vector):
    w: np.ndarray
    count: int = 0

    def loss(self, X, y):
        self.count += 1
        return line(self.w, X, y)


@dataclass(eq=False, repr=False)
class CountingGradients(Counting):
    def loss_and_grad(self, X, y):
        self.count += 1
        e = X @ self.w - y
        return (e**2).mean(), CountingGradients(2 * X.T @ e / len(e), self.count)


@pytest.mark.parametrize(
    "make",
    [
        lambda w: Counting(w),
        lambda w: Counting(torch.tensor(w)),
        lambda w: CountingGradients(w),
    ],
)
def test_a_loss_that_counts_its_calls_in_the_model_is_refused_in_words(make):
    start = make(np.zeros(3))
    data = DATA
    if not isinstance(start.w, np.ndarray):
        data = SimpleNamespace(X=torch.tensor(DATA.X), y=torch.tensor(DATA.y))
    said = r"^count: expected a Counting\w* whose loss\w* changes nothing of it, got 0 .* and 1 "
    with pytest.raises(TypeError, match=said):
        mha.train(start, data, mha.GradientDescent(0.1), 5)


@dataclass(frozen=True, eq=False, repr=False)
class Centering(mha.models.Vector):
    """Writes into the data; the second time nothing changes."""

    w: np.ndarray

    def loss(self, X, y):
        X -= X.mean(0)
        return line(self.w, X, y)


class CenteringGradients(Centering):
    def loss_and_grad(self, X, y):
        X -= X.mean(0)
        e = X @ self.w - y
        return (e**2).mean(), CenteringGradients(2 * X.T @ e / len(e))


def test_a_loss_that_writes_into_the_data_is_refused():
    said = "^data: expected a loss of Centering.* that leaves X and y as they are"
    of_numpy = CenteringGradients(np.zeros(3)), SimpleNamespace(X=DATA.X.copy(), y=DATA.y)
    of_torch = (
        Centering(torch.zeros(3, dtype=torch.float64)),
        SimpleNamespace(X=torch.tensor(DATA.X), y=torch.tensor(DATA.y)),
    )
    for start, data in (of_numpy, of_torch):
        with pytest.raises(TypeError, match=said):
            mha.train(start, data, mha.GradientDescent(0.1), 5)


def test_data_without_samples_are_named():
    start, none = model(line, np.zeros(3)), SimpleNamespace(X=DATA.X[:0], y=DATA.y[:0])
    said = r"^X: expected at least one sample, got an empty array of shape \(0, 3\)"
    with pytest.raises(ValueError, match=said):
        mha.train(start, none, mha.GradientDescent(0.1), 5)
    with pytest.raises(ValueError, match=said):
        mha.train(start, DATA, mha.GradientDescent(0.1), 5, test=none)


def test_the_list_form_of_einsum_is_refused_in_words():
    start = model(lambda w, X, y: np.einsum(X, [0, 1], w, [1], [0]).sum(), np.zeros(3))
    with pytest.raises(TypeError, match="einsum with lists of axes; write letters"):
        start.loss_and_grad(DATA.X, DATA.y)


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy])
def test_a_loss_may_copy_what_it_is_given(copied):
    @dataclass(frozen=True, eq=False)
    class Copying(mha.models.Vector):
        w: np.ndarray

        def loss(self, X, y):
            return line(copied(self).w, X, y) + line(copied(self.w), X, y)

    @dataclass(frozen=True, eq=False)
    class Tuples(mha.models.Vector):
        w: np.ndarray

        def loss(self, X, y):
            return line(asdict(self)["w"], X, y) + line(astuple(self)[0], X, y)

    w = np.arange(3.0)
    wanted = 4 * DATA.X.T @ (DATA.X @ w - DATA.y) / len(DATA.y)
    for kind in (Copying, Tuples):
        np.testing.assert_allclose(kind(w).loss_and_grad(DATA.X, DATA.y)[1].w, wanted)


def test_a_record_is_not_pickled():
    start = model(lambda w, X, y: line(pickle.loads(pickle.dumps(w)), X, y), np.zeros(3))
    with pytest.raises(Untraceable, match="test_edges.py, line .* a recorded array is pickled"):
        start.loss_and_grad(DATA.X, DATA.y)
