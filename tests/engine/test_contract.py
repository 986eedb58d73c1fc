"""What a reader brings is computed right, or refused in a sentence that names it: in Python, in a
figure, and in both."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

import livegrad as lg

RNG = np.random.default_rng(11)
X = RNG.standard_normal((30, 3))
DATA = lg.Samples(X, np.tanh(X @ [1.0, -2.0, 0.5]))
STEP = lg.GradientDescent(0.1)
START = np.array([0.3, -0.2, 0.1])
model = dataclass(frozen=True, eq=False, repr=False)


@model
class Line(lg.Vector):
    w: np.ndarray
    kind: float = 1.0

    def loss(self, X, y):
        return ((X @ self.w - y) ** 2).mean()


def own_loss(of):
    """A line whose loss is this function of the line, X and y."""
    return type("Own", (Line,), {"loss": of})(START)


# --- points


def test_norm_and_dot_of_numpy_are_those_of_the_whole_point():
    g, h = Line(START), Line(START**2 + 1)
    assert np.linalg.norm(g) == g.norm() == g.dot(g) ** 0.5
    assert np.dot(g, h) == np.vdot(g, h) == np.inner(g, h) == g.dot(h)


def test_entrywise_functions_give_points():
    g = Line(START)
    for found, wanted in ((1 / g, 1 / START), (abs(g), abs(START)), (np.abs(g), abs(START))):
        assert type(found) is Line
        np.testing.assert_array_equal(found.w, wanted)


@pytest.mark.parametrize(
    "ask",
    [
        np.mean,
        np.sum,
        np.zeros_like,
        lambda g: np.linalg.norm(g, 1),
        lambda g: np.dot(2.0, g),
        lambda g: np.concatenate([g, g]),
    ],
)
def test_other_functions_of_numpy_say_what_a_point_has(ask):
    with pytest.raises(TypeError, match=r"np\.\S+: expected arrays, got a Line; .*norm\(\), dot"):
        ask(Line(START))


# --- rules


@pytest.mark.parametrize("rule", [lg.GradientDescent, lg.Momentum, lg.Adam, lg.AdamW])
def test_a_schedule_is_asked_once_a_step(rule):
    asked = []

    def schedule(k):
        asked.append(k)
        return 0.01

    lg.train(Line(START), DATA, rule(schedule), 20)
    assert asked == list(range(20))


# --- models


def test_one_array_in_two_fields_is_refused():
    @model
    class Tied(lg.Vector):
        E: np.ndarray
        D: np.ndarray

        def loss(self, X, y):
            return ((X @ self.E @ self.D - y) ** 2).mean()

    A = RNG.standard_normal((3, 3))
    for one, other in ((A, A[0]), (A, A.T[:, 1]), (A[:, :2], A[1:, 0])):
        with pytest.raises(TypeError, match="D: .* shares its numbers with E"):
            lg.train(Tied(one, other), DATA, STEP, 5)
    halves = np.hstack([A, np.ones((3, 1))])
    lg.train(Tied(halves[:, :3], halves[:, 3]), DATA, STEP, 5)  # two parts of one array


def test_a_gradient_that_is_wrong_beside_a_special_start_is_refused():
    class Forgotten(Line):
        def loss(self, X, y):
            return super().loss(X, y) + (self.w**2).sum() / 2

        def loss_and_grad(self, X, y):
            return self.loss(X, y), replace(self, w=2 * X.T @ (X @ self.w - y) / len(X))

    with pytest.raises(ArithmeticError, match="near the start the loss rises by"):
        lg.train(Forgotten(np.zeros(3)), DATA, STEP, 5)


def test_a_gradient_that_is_wrong_only_far_from_the_start_is_refused_at_the_end():
    class Sixth(Line):
        """Its last term is too flat near zero for the error to show there."""

        def loss(self, X, y):
            return super().loss(X, y) + (self.w**6).sum()

        def loss_and_grad(self, X, y):
            return self.loss(X, y), replace(self, w=2 * X.T @ (X @ self.w - y) / len(X))

    with pytest.raises(ArithmeticError, match="at the end of the run the loss rises by"):
        lg.train(Sixth(np.zeros(3)), lg.Samples(X, 2 * X.sum(axis=1)), STEP, 100)


@pytest.mark.parametrize("batch", [None, 10])
def test_a_loss_that_reads_what_changes_is_refused(batch):
    share = {"beta": 0.0}
    line = own_loss(lambda self, X, y: Line.loss(self, X, y) + share["beta"] * (self.w**2).sum())

    class Annealed:
        def start(self, theta):
            return None

        def step(self, theta, grad, state, k):
            share["beta"] = k / 50
            return theta - 0.1 * grad, state

    with pytest.raises(ArithmeticError, match="has changed on the way"):
        lg.train(line, DATA, Annealed(), 100, batch=batch)


def test_a_write_into_a_weight_without_axes_is_refused_and_a_number_is_none():
    @model
    class Shifted(Line):
        b: np.ndarray = None

        def loss(self, X, y):
            s = self.b
            s += 0.1
            return ((X @ self.w + s - y) ** 2).mean()

    with pytest.raises(TypeError, match="a write into an array"):
        lg.train(Shifted(START, b=np.array(0.0)), DATA, STEP, 5)

    def loss(self, X, y):
        kind = self.kind
        kind += 1.0
        mean = (X @ self.w).mean()
        mean += 1.0  # a number of NumPy's, too, is another one then
        return kind * Line.loss(self, X, y) + mean

    figure = lg.live.figure(own_loss(loss), DATA, STEP, steps=5, controls={"kind": [1.0, 2.0]})
    assert np.isfinite(figure.path(kind=2.0).loss).all()


@pytest.mark.parametrize("steps", [300, 60_000])
@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (1, 6)])
def test_a_weight_is_read_in_another_shape_in_short_runs_and_long_ones(steps, shape):
    @model
    class Reshaped(lg.Vector):
        A: np.ndarray

        def loss(self, X, y):
            return ((X @ (self.A.reshape(shape).sum() * np.ones(3)) - y) ** 2).mean()

    path = lg.train(Reshaped(np.arange(6.0) / 10), DATA, lg.GradientDescent(1e-3), steps, record=3)
    whole = lg.train(Line(np.full(3, 1.5)), DATA, STEP, 0)
    assert path.loss[0] == pytest.approx(whole.loss[0]) and path.loss[-1] < path.loss[0]


def test_the_usual_split_into_heads_trains_and_is_live():
    @model
    class Heads(lg.Vector):
        W: np.ndarray
        u: np.ndarray

        def loss(self, X, y):
            n, T, _ = X.shape
            Q = (X @ self.W).reshape(n, T, 2, 3)
            return ((np.tanh(Q).sum(axis=(1, 3)) @ self.u - y) ** 2).mean()

    X = RNG.standard_normal((24, 5, 4))
    data, start = lg.Samples(X, np.tanh(X[:, 0, 0])), Heads(RNG.standard_normal((4, 6)), np.ones(2))
    assert max(error.relative for error in lg.check_gradient(start, data).values()) < 1e-7
    long = lg.train(start, data, lg.GradientDescent(1e-3), 60_000, record=[0, 300, 60_000])
    short = lg.train(start, data, lg.GradientDescent(1e-3), 300, record=[0, 300])
    np.testing.assert_allclose(long.loss[:2], short.loss, rtol=1e-9)
    lg.live.figure(start, data, lg.GradientDescent(1e-3), steps=5)


# --- figures


@pytest.mark.parametrize(
    "chosen",
    [
        lambda kind: {1: np.tanh, 2: np.sin, 3: np.tanh}.get(kind, np.tanh),
        lambda kind: np.sin if kind in {2} else np.tanh,
        lambda kind: np.sin if str(kind).startswith("2") else np.tanh,
        lambda kind: np.tanh if isinstance(kind, float) else np.sin,
        lambda kind: np.sin if kind == 2 else np.tanh,
        lambda kind: (np.tanh, np.sin, np.tanh)[int(kind) - 1],
    ],
    ids=["dictionary", "set", "text", "type", "branch", "index"],
)
def test_a_control_that_is_asked_in_any_way_but_arithmetic_is_refused(chosen):
    line = own_loss(lambda self, X, y: ((chosen(self.kind)(X @ self.w) - y) ** 2).mean())
    with pytest.raises((TypeError, ArithmeticError)):
        lg.live.figure(line, DATA, STEP, steps=5, controls={"kind": [1.0, 2.0, 3.0]})


@pytest.mark.parametrize("kind", ["uint8", "int8", "int32", "uint64"])
def test_a_mask_becomes_no_small_whole_number(kind):
    curves = {"d": lambda m, d: ((m.w > 0).astype(kind) - (m.w > 1).astype(kind)).mean()}
    with pytest.raises(TypeError, match="curves: d: .*wrap around"):
        lg.live.figure(Line(START), DATA, STEP, steps=5, curves=curves)


def test_a_figure_stays_what_it_was_made_of():
    w, share = START.copy(), {"beta": 1.0}
    line = type("Own", (Line,), {"loss": lambda self, X, y: share["beta"] * Line.loss(self, X, y)})(
        w
    )
    figure = lg.live.figure(line, DATA, STEP, steps=5)
    before = figure.path(lr=0.3).loss
    w[:] = 5.0
    figure = lg.live.figure(Line(v := START.copy()), DATA, STEP, steps=5)
    v[:] = 5.0
    np.testing.assert_array_equal(figure.path(lr=0.3).loss, before)


def test_a_figure_whose_formula_has_changed_says_so():
    share = {"beta": 1.0}
    line = own_loss(lambda self, X, y: share["beta"] * Line.loss(self, X, y))
    figure = lg.live.figure(line, DATA, STEP, steps=5)
    share["beta"] = 2.0
    with pytest.raises(ArithmeticError, match="the loss near the start .* make the figure again"):
        figure.path(lr=0.3)


@pytest.mark.parametrize(
    "asked, words",
    [
        ({"steps": 10**9}, "steps: expected at most 1,000,000 in a page"),
        ({"controls": {"lr": [0.1 * k for k in range(1, 10**6)]}}, "at most 500 values of lr"),
    ],
    ids=["steps", "values"],
)
def test_sizes_that_no_page_has_are_refused_at_once(asked, words):
    with pytest.raises(ValueError, match=words):
        lg.live.figure(Line(START), DATA, STEP, **asked)


# --- a gradient of one's own


def test_check_gradient_names_the_entry_that_is_wrong():
    class Wrong(Line):
        def loss_and_grad(self, X, y):
            loss, grad = lg.Vector.loss_and_grad(Line(self.w), X, y)
            return loss, replace(self, w=grad.w + np.array([0.0, 1e-3, 0.0]))

    (right,), (wrong,) = (lg.check_gradient(kind(START), DATA).values() for kind in (Line, Wrong))
    assert right.relative < 1e-8 < 1e-4 < wrong.relative
    assert wrong.entry == (1,)
    assert wrong.gradient - wrong.difference == pytest.approx(1e-3, rel=1e-3)


def test_check_gradient_of_arrays_says_what_it_takes():
    with pytest.raises(
        TypeError, match=r"data: expected a dataset .* got ndarray; .*Samples\(X, y\)"
    ):
        lg.check_gradient(Line(START), X, DATA.y)


@model
class Offset(lg.Vector):
    b: float = 0.0

    def loss(self, X, y):
        return ((y - self.b) ** 2).mean()


@pytest.mark.parametrize(
    "made, words",
    [
        (Line(np.zeros(3, int)), r"w: .*floating-point numbers, got int64 .*w\.astype\(float\)"),
        (Line([0.0, 0.0, 0.0]), r"w: expected an array, got .*np\.array\(w, dtype=float\)"),
        (Offset(), "model: expected a model with weights that are arrays; Offset has none"),
    ],
    ids=["whole numbers", "a list", "a number"],
)
def test_a_gradient_asked_by_hand_refuses_weights_as_train_does(made, words):
    for ask in (
        lambda: made.loss_and_grad(X, DATA.y),
        lambda: made.hvp(X, DATA.y, made),
        lambda: lg.train(made, DATA, STEP, 1),
    ):
        with pytest.raises(TypeError, match=words):
            ask()


# --- data


@pytest.mark.parametrize(
    "y, words",
    [
        (DATA.y[:, None], r"y: .* a column \(30, 1\), .* write y\[:, 0\]"),
        (DATA.y[:-1], "y: expected as many rows as X has"),
        (np.full(30, np.nan), "y: .*finite"),
        (["a"] * 30, "y: "),
    ],
    ids=["a column", "a row too few", "NaN", "words"],
)
def test_targets_that_are_none_are_refused(y, words):
    with pytest.raises((TypeError, ValueError), match=words):
        lg.Samples(X, y)


# --- what someone brought who had not read the checks


def test_a_point_in_an_if_is_refused():
    class Careful(lg.GradientDescent):
        def step(self, theta, grad, state, k):
            return (theta if np.isnan(grad) else theta - 0.1 * grad), state

    with pytest.raises(TypeError, match="Line: expected a question that has one answer"):
        lg.train(Line(START), DATA, Careful(0.1), 3)


@model
class Two(lg.Vector):
    w: np.ndarray
    s: float = 0.0
    t: float = 0.0

    def loss(self, X, y):
        return ((X @ self.w - y) ** 2).mean() + self.extra() * (self.w**2).sum()


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (lambda m: {(1.0, 1.0): 5.0}.get((m.s, m.t), 0.0), "a number of the model as a key"),
        (lambda m: {0.0: 1.0, 1.0: 2.0}[m.s], "a number of the model as a key"),
        (
            lambda m: m.s * (m.t if isinstance(m.t, float) else 0.0),
            "with s = 1 and t = 1, the loss",
        ),
    ],
)
def test_sliders_that_act_only_together_or_as_keys_are_refused(extra, words):
    kind = type("Own", (Two,), {"extra": extra})
    with pytest.raises((TypeError, ArithmeticError), match=words):
        lg.live.figure(
            kind(START), DATA, STEP, steps=3, controls={"s": [0.0, 1.0], "t": [0.0, 1.0]}
        )


def test_a_slider_takes_no_number_that_a_double_does_not_hold():
    with pytest.raises(ValueError, match="values of kind that a double holds"):
        lg.live.figure(Line(START), DATA, STEP, controls={"kind": [1, 2**60 + 1]})


def test_what_is_written_into_a_path_changes_no_figure():
    made = lg.live.figure(Line(START), DATA, STEP, steps=5)
    path = made.path()
    loss = path.loss.copy()
    path.loss[:], path[-1].w[:] = 7.0, 99.0
    np.testing.assert_array_equal(made.path().loss, loss)
    assert made.path()[-1].w.max() < 9


def test_a_subtraction_of_its_own_is_refused_in_a_page_wherever_it_starts():
    class Clipped(Line):
        def __sub__(self, other):
            return replace(self, w=np.maximum(self.w - other.w, 0.0))

    with pytest.raises(TypeError, match="operators of its own"):
        lg.live.figure(Clipped(np.array([0.3, 0.2, 0.1]) + 2), DATA, STEP)


WEIGHTS = RNG.random(30)


@pytest.mark.parametrize("batch", [1, 7, 30, 40])
def test_numbers_that_belong_to_samples_are_refused_in_minibatches(batch):
    own = own_loss(lambda self, X, y: (WEIGHTS * (X @ self.w - y) ** 2).mean())
    assert np.isfinite(lg.train(own, DATA, STEP, 3).loss).all()
    with pytest.raises(ValueError, match="batch: .* put numbers that belong to samples into X"):
        lg.train(own, DATA, STEP, 3, batch=batch)


def test_a_gradient_that_is_wrong_in_a_minibatch_is_refused():
    class Fixed(Line):
        def loss_and_grad(self, X, y):
            r = X @ self.w - y
            return (r**2).mean(), replace(self, w=2 * X.T @ r / 30)

    own = Fixed(START)
    assert np.isfinite(lg.train(own, DATA, STEP, 3).loss).all()
    with pytest.raises(ArithmeticError, match="of 5 samples, the loss rises"):
        lg.train(own, DATA, STEP, 3, batch=5)


@pytest.mark.parametrize(
    "found",
    [
        lambda loss, grad: loss,
        lambda loss, grad: None,
        lambda loss, grad: (grad, loss),
        lambda loss, grad: (loss, grad.w),
        lambda loss, grad: (loss, {"w": grad.w}),
        lambda loss, grad: (np.full(1, loss), grad),
        lambda loss, grad: (loss, grad, 0),
        lambda loss, grad: (loss, replace(grad, w=grad.w[:, None])),
    ],
)
def test_what_loss_and_grad_must_give_is_said(found):
    class Own(Line):
        def loss_and_grad(self, X, y):
            r = X @ self.w - y
            return found((r**2).mean(), replace(self, w=2 * X.T @ r / len(y)))

    with pytest.raises(TypeError, match=r"Own\.loss_and_grad: expected"):
        lg.train(Own(START), DATA, STEP, 3)


def test_sizes_that_no_page_has_are_refused_by_name():
    wide = lg.Samples(np.zeros((1_000_000, 3)), np.zeros(1_000_000))
    with pytest.raises(ValueError, match="X: expected at most 2,000,000 numbers"):
        lg.live.figure(Line(START), wide, STEP)
    one, other = Line(START), Line(START[::-1])
    with pytest.raises(ValueError, match="resolution: expected at most 1,000"):
        lg.landscape.slice(one, DATA, one, other, resolution=10**7)
    with pytest.raises(ValueError, match="resolution: expected at most 1,000,000"):
        lg.landscape.interpolation(one, other, DATA, resolution=10**12)


def test_weights_and_curves_that_are_not_finite_are_said_to_be():
    with pytest.raises(ValueError, match="w: expected finite numbers at the start"):
        lg.live.figure(Line(np.array([np.nan, 0.0, 0.0])), DATA, STEP)
    with pytest.raises(ArithmeticError, match="gap is nan: expected a finite number"):
        lg.live.figure(
            Line(START), DATA, STEP, curves={"gap": lambda m, data: np.log(-(m.w**2).sum())}
        )


# --- what someone else brought


@pytest.mark.parametrize("ask", [np.array, np.asarray, lambda g: np.linalg.norm(np.array(g))])
def test_a_point_becomes_no_array(ask):
    with pytest.raises(TypeError, match=r"expected arrays, got a Line; .*norm\(\)"):
        ask(Line(START))


@pytest.mark.parametrize("batch", [None, 10])
@pytest.mark.parametrize("changed", [range(10, 30), (20,)], ids=["for a while", "in one step"])
def test_a_loss_that_changes_between_recorded_steps_is_refused(batch, changed):
    share = {"beta": 0.0}
    line = own_loss(lambda self, X, y: Line.loss(self, X, y) + share["beta"] * (self.w**2).sum())

    def pulse(k):
        share["beta"] = float(k in changed)
        return 0.1

    class Pulsed(lg.GradientDescent):
        def step(self, theta, grad, state, k):
            pulse(k)
            return super().step(theta, grad, state, k)

    for rule in (Pulsed(0.1), lg.GradientDescent(pulse), lg.clip(1.0) | lg.GradientDescent(pulse)):
        with pytest.raises(ArithmeticError, match="has changed on the way"):
            lg.train(line, DATA, rule, 40, batch=batch, record=2)


def test_samples_of_two_libraries_are_refused():
    torch = pytest.importorskip("torch")
    for parts in ((torch.ones(30, 3), DATA.y), (X, torch.ones(30))):
        with pytest.raises(TypeError, match="expected all arrays from one library"):
            lg.Samples(*parts)


@pytest.mark.parametrize("value", [True, None, "tanh"])
def test_a_slider_of_what_is_no_number_says_what_it_is(value):
    with pytest.raises(ValueError, match="controls: .*'kind', which is "):
        lg.live.figure(replace(Line(START), kind=value), DATA, STEP, controls={"kind": [1.0, 2.0]})


@model
class Offsets(lg.Vector):
    """A weight for each sample, all alike at the start."""

    w: np.ndarray
    u: np.ndarray

    def loss(self, X, y):
        return ((X @ self.w + self.u[: len(y)] - y) ** 2).mean()


@pytest.mark.parametrize("batch", [1, 7, 30])
def test_weights_of_samples_that_begin_alike_are_refused_in_minibatches(batch):
    with pytest.raises(ValueError, match="batch: .* in another order"):
        lg.train(Offsets(np.zeros(3), np.zeros(30)), DATA, STEP, 3, batch=batch)


def test_a_first_sample_that_counts_more_is_refused_in_minibatches_from_zeros():
    line = own_loss(lambda self, X, y: Line.loss(self, X, y) + (X[0] @ self.w) ** 2)
    with pytest.raises(ValueError, match="batch: .* in another order"):
        lg.train(replace(line, w=np.zeros(3)), DATA, STEP, 3, batch=10)


def test_a_write_in_a_loss_of_minibatches_is_named_and_leaves_the_model():
    def loss(self, X, y):
        w = self.w
        w += 0.1
        return Line.loss(self, X, y)

    line = own_loss(loss)
    with pytest.raises(ValueError, match="batch: .* of the same samples .* a write in place"):
        lg.train(line, DATA, STEP, 3, batch=10)
    np.testing.assert_array_equal(line.w, START)


@pytest.mark.parametrize(
    "term",
    [lambda w: 0.5 * (w**2).sum(), lambda w: (w**4).sum(), lambda w: 0.3 * np.abs(w).sum()],
    ids=["square", "fourth power", "kink"],
)
def test_check_gradient_finds_a_term_that_is_flat_at_the_model(term):
    class Forgotten(Line):
        def loss(self, X, y):
            return super().loss(X, y) + term(self.w)

        def loss_and_grad(self, X, y):
            return self.loss(X, y), replace(self, w=2 * X.T @ (X @ self.w - y) / len(X))

    assert lg.check_gradient(Forgotten(np.zeros(3)), DATA)["w"].relative > 1e-3


@pytest.mark.parametrize("slope", [lambda w: w[None], list], ids=["another shape", "a list"])
def test_check_gradient_refuses_what_train_refuses(slope):
    class Own(Line):
        def loss_and_grad(self, X, y):
            return self.loss(X, y), replace(self, w=slope(2 * X.T @ (X @ self.w - y) / len(X)))

    with pytest.raises(TypeError, match=r"Own\.loss_and_grad: expected"):
        lg.check_gradient(Own(START), DATA)


def test_a_right_gradient_at_a_kink_is_taken():
    @model
    class Layer(lg.Vector):
        A: np.ndarray
        b: np.ndarray

        def loss(self, X, y):
            return ((np.maximum(X @ self.A, 0) @ self.b - y) ** 2).mean()

        def loss_and_grad(self, X, y):
            h = X @ self.A
            r = 2 * (np.maximum(h, 0) @ self.b - y) / len(X)
            dA = X.T @ (r[:, None] * self.b * (h > 0) * slope)
            return self.loss(X, y), replace(self, A=dA, b=np.maximum(h, 0).T @ r)

    start = Layer(np.zeros((3, 4)), np.ones(4))
    slope = 1.0
    assert lg.train(start, DATA, STEP, 3).loss[-1] == pytest.approx((DATA.y**2).mean())
    assert lg.live.figure(start, DATA, STEP, 3, {"lr": [STEP.lr]}).path().stopped is None
    assert lg.check_gradient(start, DATA)["A"].relative < 1e-8
    slope = 2.0
    with pytest.raises(ArithmeticError, match="near the start the loss rises by"):
        lg.train(start, DATA, STEP, 3)
    with pytest.raises(ArithmeticError, match="near the start the slope in A is"):
        lg.live.figure(start, DATA, STEP, 3, {"lr": [STEP.lr]})
    assert lg.check_gradient(start, DATA)["A"].relative > 0.1


def test_a_gradient_that_is_wrong_at_a_smooth_start_alone_is_named_however_steep_the_loss():
    class Wrong(Line):
        def loss_and_grad(self, X, y):
            loss, grad = lg.Vector.loss_and_grad(Line(self.w), X, y)
            return loss, replace(self, w=grad.w * np.where(self.w == 0, 2.0, 1.0))

    steep, zeros = SimpleNamespace(X=1e3 * X, y=DATA.y), np.zeros(3)
    with pytest.raises(ArithmeticError, match="^at the start the loss rises by"):
        lg.train(Wrong(zeros), steep, STEP, 3)
    with pytest.raises(ArithmeticError, match="^at the start the slope in w"):
        lg.live.figure(Wrong(zeros), steep, STEP, 3, {"lr": [STEP.lr]})
    assert lg.check_gradient(Wrong(zeros), steep)["w"].relative > 0.1


@pytest.mark.parametrize("kind", ["bfloat16", "float16", "float32"])
def test_weights_and_data_of_few_digits_are_trained(kind):
    torch = pytest.importorskip("torch")
    few = getattr(torch, kind)
    data = SimpleNamespace(X=torch.tensor(X).to(few), y=torch.tensor(DATA.y).to(few))
    path = lg.train(Line(torch.tensor(START).to(few)), data, STEP, 12, record=2)
    right = lg.train(Line(START), DATA, STEP, 12, record=2)
    assert path[-1].w.dtype == few
    np.testing.assert_allclose(path[-1].w.float().numpy(), right[-1].w, atol=0.03)


def test_half_precision_beside_double_is_named():
    for start in (Offsets(START, np.zeros(30, "f2")), Line(START.astype("f2"))):
        with pytest.raises(TypeError, match="expected one dtype, got .* has float16"):
            lg.train(start, DATA, STEP, 3)


@pytest.mark.parametrize(
    ("curve", "words"),
    [
        (lambda m, d: np.exp(m.w > 1).mean(), "exp of a mask, which numpy computes in float16"),
        (lambda m, d: np.logaddexp(m.w > 1, m.w > 2).mean(), "logaddexp of a mask"),
        (lambda m, d: ((m.w > 1) * np.uint8(200) * 2).mean(), "whole numbers of uint8 meet masks"),
        (lambda m, d: ((m.w > 1) + np.array([100, 9, 9], "i1")).sum(), "whole numbers of int8"),
        (lambda m, d: m.w, "^curves: c: expected one number"),
        (lambda m, d: np.zeros(m.kind).sum() + m.w.sum(), "its use as an index or a size"),
        (lambda m, d: m.w.sum(axis=m.kind), "its use as an index or a size"),
    ],
)
def test_what_numpy_computes_otherwise_than_a_page_is_refused_in_a_curve(curve, words):
    with pytest.raises(TypeError, match=words):
        lg.live.figure(
            Line(START), DATA, STEP, steps=5, controls={"kind": [1, 2]}, curves={"c": curve}
        )


def _pairs(self, X, y):
    z = (np.ones((4000, 1)) @ self.w[None]).sum(axis=1)
    return (np.tanh((z[:, None] - z[None])[:, :, None] * np.ones(9)) ** 2).mean()


def _unrolled(self, X, y):
    z = self.w
    for _ in range(10**6):
        z = np.tanh(z)
    return z.sum()


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (
            lambda: lg.live.figure(
                own_loss(lambda self, X, y: (np.eye(2000) * self.w[0]).mean()), DATA, STEP
            ),
            "at most 2,000,000 numbers that formulas bring along",
        ),
        (
            lambda: lg.live.figure(own_loss(_pairs), DATA, STEP),
            "line .*: expected at most 50,000,000 numbers in one array",
        ),
        (lambda: lg.train(own_loss(_unrolled), DATA, STEP, 3), "a loop was written out"),
        (
            lambda: lg.live.figure(
                Line(START),
                DATA,
                STEP,
                curves={f"c{k}": lambda m, d: m.w.sum() for k in range(200)},
            ),
            "curves: expected at most 100 names, got 200",
        ),
        (
            lambda: lg.live.figure(
                Line(START), DATA, STEP, controls={f"c{k}": [1.0] for k in range(200)}
            ),
            "controls: expected at most 100 names, got 200",
        ),
        (
            lambda: lg.train(Line(START), DATA, STEP, 5, record=range(10**12)),
            "record: expected whole numbers between 0 and 5, got 6, 7, 8",
        ),
    ],
    ids=["constants", "an array on the way", "a loop", "curves", "sliders", "recorded steps"],
)
def test_what_has_no_room_is_refused_at_once(made, words):
    with pytest.raises((TypeError, ValueError), match=words):
        made()


@pytest.mark.parametrize(
    "wrong", [lambda: lg.clip(1.0)(lg.Adam(0.1)), lambda: lg.Adam(0.1) | lg.clip(1.0)]
)
def test_clip_says_where_it_stands(wrong):
    with pytest.raises(TypeError, match=r"clip: expected before a rule, as in clip\(norm=1.0\) \|"):
        wrong()


def test_a_path_that_recorded_nothing_says_why():
    with pytest.warns(RuntimeWarning):
        path = lg.train(Line(np.full(3, np.nan)), DATA, STEP, 3)
    with pytest.raises(IndexError, match="expected a recorded step, got Path.nothing recorded"):
        path[-1]
