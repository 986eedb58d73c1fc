"""A figure of a reader's own model: what the page computes is what Python computes, or the figure
says so."""

import re
import struct
from dataclasses import dataclass, replace
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import erf

import mhalib as mha
from livegrad.record.trace import Untraceable
from own import DATA, FIGURES, LINE_DATA, TEMPERED, Line, Tempered, in_v8, of_line, score


@pytest.mark.parametrize("make", FIGURES.values(), ids=FIGURES)
def test_the_page_trains_as_python_does_at_every_value(make):
    figure = make()
    for name, control in figure.controls.items():
        for value in control.values:
            values = figure.values | {name: value}
            found, right = in_v8(figure, values), figure.drawn(**values)
            assert found["steps"] == right["steps"]
            for curve, numbers in found["curves"].items():
                np.testing.assert_allclose(numbers, right[curve], rtol=1e-9, atol=1e-12)


@dataclass(frozen=True, eq=False, repr=False)
class Confusing(mha.models.Vector):
    """A loss whose weights have the names of data, and of a curve's buffers, with a size and a
    weight decay."""

    y: np.ndarray
    w_0: np.ndarray
    power: int = 2
    weight_decay: float = 0.0

    def loss(self, X, y):
        terms = sum((X @ self.w_0) ** k for k in range(1, self.power + 1))
        return ((terms + self.y - y) ** 2).mean() + (self.y**2).mean()


def test_names_of_weights_data_and_curves_do_not_meet():
    start = Confusing(np.full(20, 0.5), np.array([0.1, 0.2, 0.3]))
    figure = mha.live.figure(
        start,
        LINE_DATA,
        mha.AdamW(lr=0.01, weight_decay=0.1),
        30,
        {"lr": [0.01], "beta1": [0.5, 0.9]},
        {"theta_w": lambda model, data: model.w_0.sum()},
    )
    for values in ({"lr": 0.01, "beta1": 0.5}, {"lr": 0.01, "beta1": 0.9}):
        found, right = in_v8(figure, values), figure.drawn(**values)
        for curve in ("loss", "theta_w"):
            np.testing.assert_allclose(found["curves"][curve], right[curve], rtol=1e-9)
    with pytest.raises(ValueError, match="only one of rule and model has, got 'weight_decay'"):
        mha.live.figure(start, LINE_DATA, mha.AdamW(lr=0.01), controls={"weight_decay": [0.0]})


def test_weight_decay_has_a_slider():
    figure = of_line(
        mha.AdamW(lr=0.1), TEMPERED, DATA, steps=20, controls={"weight_decay": [0.01, 0.5]}
    )
    for value in (0.01, 0.5):
        found = in_v8(figure, {"weight_decay": value})["curves"]["loss"]
        np.testing.assert_allclose(found, figure.path(weight_decay=value).loss, rtol=1e-9)


BUGS = {
    "a factor": ("const number0 = 1.0 * n;", "const number0 = 1.1 * n;"),
    "a sign": ("= ((-", "= ((+"),
    "a function": ("Math.exp(theta_2", "Math.sin(theta_2"),
    "a place": ("theta_1[6 * 6 + ", "theta_1[6 * 6 - 1 + "),
}


def without_webassembly(source):
    """The module of a figure that was made where there is no compiler for it."""
    return re.sub(r'const hex = "[0-9a-f]*"', 'const hex = ""', source)


@pytest.mark.parametrize("right, wrong", BUGS.values(), ids=BUGS)
def test_a_program_that_is_not_the_formula_does_not_train(right, wrong):
    figure = FIGURES["a loss alone"]()
    assert right in figure._esm
    with pytest.raises(Exception, match="loss, gradient and curves are .* here and .* in Python"):
        in_v8(
            figure, figure.values, lambda source: without_webassembly(source).replace(right, wrong)
        )


@pytest.mark.skipif(
    not find_spec("ziglang"), reason="no compiler for pages: livegrad[fast] has one"
)
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_the_same_with_and_without_webassembly(name):
    figure = FIGURES[name]()
    assert without_webassembly(figure._esm) != figure._esm
    one = in_v8(figure, figure.values)["curves"]
    two = in_v8(figure, figure.values, without_webassembly)["curves"]
    for curve in two:
        np.testing.assert_allclose(one[curve], two[curve], rtol=1e-9, atol=1e-12)


@pytest.mark.skipif(
    not find_spec("ziglang"), reason="no compiler for pages: livegrad[fast] has one"
)
def test_webassembly_that_is_not_the_formula_leaves_it_to_javascript():
    """A coefficient of the exponential's series is spoiled, and each program is tried in the
    page."""
    figure, right = FIGURES["a loss alone"](), struct.pack("<d", 1 / 6).hex()
    assert right in figure._esm
    spoiled = in_v8(
        figure, figure.values, lambda source: source.replace(right, struct.pack("<d", 0.17).hex())
    )
    expected = in_v8(figure, figure.values, without_webassembly)
    assert spoiled["curves"] == expected["curves"]


def logarithm(self, X, y):
    """A function that WebAssembly has not."""
    return np.log(1 + (X @ self.w - y) ** 2).mean()


def error_function(self, X, y):
    """It has another series in a page than in Python."""
    return ((X @ self.w + erf(3 * X @ self.w) - y) ** 2).mean()


def knows_the_number(self, X, y):
    """Another function of other numbers of samples."""
    return ((X @ self.w - y) ** 2).mean() * (1.0 if len(y) == 20 else 3.0)


def has_an_array(self, X, y):
    """An array of as many numbers as there are samples comes from elsewhere."""
    return ((X @ self.w - y + np.sin(np.arange(20.0))) ** 2).mean()


@pytest.mark.parametrize(
    "loss", [logarithm, error_function, knows_the_number, has_an_array], ids=lambda f: f.__name__
)
def test_what_has_no_webassembly_trains_by_javascript(loss):
    model = dataclass(frozen=True, eq=False, repr=False)(
        type("Own", (mha.models.Vector,), {"__annotations__": {"w": np.ndarray}, "loss": loss})
    )
    figure = of_line(start=model(np.full(3, 0.1)), steps=10)
    found = in_v8(figure, figure.values)["curves"]["loss"]
    np.testing.assert_allclose(found, figure.path().loss, rtol=1e-9)


@dataclass(frozen=True, eq=False, repr=False)
class Penalized(mha.models.Vector):
    """A line with a closed form alone, and a penalty."""

    w: np.ndarray
    decay: float = 0.0

    def loss_and_grad(self, X, y):
        r = X @ self.w - y
        loss = (r * r).mean() / 2 + self.decay * (self.w * self.w).sum()
        return loss, replace(self, w=X.T @ r / len(y) + self.penalty())

    def penalty(self):
        return 2 * self.decay * self.w


@dataclass(frozen=True, eq=False, repr=False)
class Turned(mha.models.Vector):
    """A line whose slope in b has the wrong sign."""

    w: np.ndarray
    b: np.ndarray

    def loss_and_grad(self, X, y):
        r = X @ self.w + self.b - y
        return (r * r).mean() / 2, replace(self, w=X.T @ r / len(y), b=-r.mean())


@dataclass(frozen=True, eq=False, repr=False)
class Kinked(mha.models.Vector):
    """A line and |w|, whose closed form says what the slope of |w| is at 0."""

    w: np.ndarray
    at: float = 0.0

    def loss(self, X, y):
        return ((X @ self.w - y) ** 2).mean() / 2 + abs(self.w).sum()

    def loss_and_grad(self, X, y):
        slope = (
            X.T @ (X @ self.w - y) / len(y) + np.sign(self.w) + np.where(self.w == 0, self.at, 0.0)
        )
        return self.loss(X, y), replace(self, w=slope)


@dataclass(frozen=True, eq=False, repr=False)
class Rooted(Kinked):
    """A line and a root that has no slope at 0."""

    loss_and_grad = mha.models.Vector.loss_and_grad

    def loss(self, X, y):
        return ((X @ self.w - y) ** 2).mean() / 2 + np.sqrt((self.w * self.w).sum())


@dataclass(frozen=True, eq=False, repr=False)
class Meeting(Rooted):
    """A root that a run of steps of 1 from 1 meets at 0, where it has no slope."""

    def loss(self, X, y):
        return np.sqrt(self.w * self.w).sum()


@pytest.mark.filterwarnings("ignore:The gradient")
def test_a_gradient_that_is_nan_on_the_way_is_said_to_be_that_in_the_page():
    figure = of_line(mha.GradientDescent(lr=1.0), Meeting(np.ones(1)), steps=5)
    found = in_v8(figure, figure.values)
    assert found["noSlope"] and found["steps"][-1] == 1
    assert re.search(r"line \d+, in the derivative of sqrt", figure.path().stopped)
    diverged = in_v8(of_line(mha.GradientDescent(lr=1e200), steps=5), {"lr": 1e200})
    assert diverged["stopped"] and not diverged["noSlope"]


def test_any_slope_between_those_of_both_sides_is_one():
    assert of_line(start=Kinked(np.zeros(3), 0.5), steps=3).path().stopped is None


def of_penalized(**methods):
    """A figure of a line of which some methods are others."""
    start = type("Other", (Penalized,), methods)(np.zeros(3))
    return of_line(start=start, controls={"decay": [0.0, 0.1]})


def test_a_closed_form_alone_is_a_model():
    figure = of_penalized()
    for decay in (0.0, 0.1):
        found = in_v8(figure, {"decay": decay})["curves"]["loss"]
        np.testing.assert_allclose(found, figure.path(decay=decay).loss, rtol=1e-9)


def caught(self):
    try:
        return self.w if self.w.sum() > 0 else 2 * self.decay * self.w
    except Exception:
        return 2 * self.decay * self.w


class Hidden(Penalized):
    """A loss alone, whose record is another function."""

    loss_and_grad = mha.models.Vector.loss_and_grad

    def loss(self, X, y):
        return (X @ self.w - y).mean() * (2 if isinstance(X, np.ndarray) else 1)


class Beside(Hidden):
    """A loss whose record is another function but at the weights 0."""

    def loss(self, X, y):
        return (X @ self.w - y).mean() * (2 if isinstance(X, np.ndarray) and self.w.any() else 1)


def test_a_record_is_compared_beside_the_weights_too():
    with pytest.raises(ArithmeticError, match="^near the weights the loss is"):
        mha.train(Beside(np.zeros(3)), LINE_DATA, mha.GradientDescent(lr=0.1), 5)


def test_a_run_does_not_follow_the_gradient_of_another_function():
    with pytest.raises(ArithmeticError, match="by the record .* a branch on the type of an array"):
        mha.train(Hidden(np.zeros(3)), LINE_DATA, mha.GradientDescent(lr=0.1), 5)
    empty = type("Empty", (Penalized,), {"loss_and_grad": mha.models.Vector.loss_and_grad})
    with pytest.raises(
        TypeError, match=r"Empty: expected a model with loss\(X, y\) or loss_and_grad"
    ):
        mha.train(empty(np.zeros(3)), LINE_DATA, mha.Adam(0.1), 5)


def with_gradient(change, scale=1.0):
    """A figure of a line whose gradient is changed, on data of a scale."""

    class Wrong(Line):
        def loss_and_grad(self, X, y):
            loss, grad = super().loss_and_grad(X, y)
            return loss, Line(change(grad.w))

    data = SimpleNamespace(X=scale * LINE_DATA.X, y=scale * LINE_DATA.y)
    return mha.live.figure(Wrong(np.zeros(3)), data, mha.GradientDescent(lr=0.1))


class Named(Line):
    """A line with a number that belongs to its class alone."""

    decay = 0.0


def branching():
    class Branching(Line):
        def loss_and_grad(self, X, y):
            return super().loss_and_grad(X, y) if self.w[0] > 0 else (0, self)

    return mha.live.figure(Branching(np.zeros(3)), LINE_DATA, mha.GradientDescent(lr=0.1))


def scaled(w):
    w *= 2
    return w


REFUSED = {
    "a number whose type is asked": (
        lambda: of_penalized(
            penalty=lambda self: 2 * self.decay * self.w * (isinstance(self.decay, float) + 1)
        ),
        ArithmeticError,
        "decay = 0.1, the length of the gradient is .* a branch on the type",
    ),
    "a gradient that forgets a number": (
        lambda: of_penalized(penalty=lambda self: 0),
        ArithmeticError,
        "with decay = 0.1, the slope .* by differences of the loss",
    ),
    "a branch whose refusal is caught": (
        lambda: of_penalized(penalty=caught),
        Untraceable,
        "a branch on the values",
    ),
    "a gradient that is another model": (
        lambda: of_penalized(
            loss_and_grad=lambda self, X, y: (
                self.w.sum() + self.decay,
                type(self)(self.w / self.w),
            )
        ),
        TypeError,
        r"carry the decay of the model, as dataclasses.replace\(self, w=dw\)",
    ),
    "a gradient without a model": (
        lambda: of_penalized(loss_and_grad=lambda self, X, y: (self.w.sum(), {"w": self.w})),
        TypeError,
        r"a model whose w is an array of shape \(3,\), .* got a dict without it",
    ),
    "a gradient of another shape": (
        lambda: of_penalized(
            loss_and_grad=lambda self, X, y: (self.w.sum(), replace(self, w=np.ones(4)))
        ),
        TypeError,
        r"whose w is an array of shape \(3,\), .* got a Other with a recorded array of shape \(4,\)",
    ),
    "three answers": (
        lambda: of_penalized(loss_and_grad=lambda self, X, y: (1, 2, 3)),
        TypeError,
        "expected the pair of a loss and a model",
    ),
    "a write into an array": (
        lambda: of_penalized(penalty=lambda self: scaled(self.w)),
        Untraceable,
        r"test_own_figure\.py, line \d+: a write into an array by",
    ),
    "no gradient at the start": (
        lambda: of_line(start=Rooted(np.zeros(3))),
        ArithmeticError,
        r"at the start the gradient is NaN .* line \d+, in the derivative of sqrt",
    ),
    "a gradient of another loss": (
        lambda: with_gradient(lambda g: 1.1 * g),
        ArithmeticError,
        "by differences",
    ),
    "a gradient that is wrong in one of two weights": (
        lambda: of_line(start=Turned(np.ones(3), np.array(0.3))),
        ArithmeticError,
        "slope in b is .* by differences",
    ),
    "a gradient that leaves a weight out": (
        lambda: with_gradient(lambda g: g * np.array([1.0, 0.0, 1.0])),
        ArithmeticError,
        "by differences of the loss",
    ),
    "half a gradient on small data": (
        lambda: with_gradient(lambda g: g / 2, 1e-3),
        ArithmeticError,
        "by differences",
    ),
    "random numbers in a curve": (
        lambda: of_line(
            curves={"luck": lambda model, data: (model.w * np.random.default_rng().random(3)).sum()}
        ),
        ArithmeticError,
        "luck is .* are there random numbers",
    ),
    "NaN in the data": (
        lambda: of_line(data=SimpleNamespace(X=np.nan * LINE_DATA.X, y=LINE_DATA.y)),
        ArithmeticError,
        "NaN in the data",
    ),
    "a curve with the name of a control": (
        lambda: of_line(curves={"lr": score}),
        ValueError,
        "which are no control's",
    ),
    "a number of the class": (
        lambda: of_line(start=Named(np.zeros(3)), controls={"decay": [0.0]}),
        ValueError,
        "a number of the rule or of the model",
    ),
    "a branch": (branching, Untraceable, r"test_own_figure\.py, line \d+: a branch on the values"),
    "a rule": (
        lambda: of_line(mha.Backtracking()),
        TypeError,
        "rule: expected one of GradientDescent",
    ),
    "a schedule": (
        lambda: of_line(mha.GradientDescent(lr=lambda k: 0.1)),
        TypeError,
        "a number as its step size",
    ),
    "a control": (
        lambda: of_line(controls={"beta": [0.1]}),
        ValueError,
        "the name of a number .* got 'beta'",
    ),
    "single precision": (
        lambda: of_line(start=Line(np.zeros(3, "f4"))),
        TypeError,
        "w: expected an array in double",
    ),
    "a number of numpy": (
        lambda: of_line(start=Tempered(*TEMPERED.arrays().values(), np.float64(0.1)), data=DATA),
        TypeError,
        "decay: expected .* float64",
    ),
    "no model": (
        lambda: of_line(start=np.zeros(3)),
        TypeError,
        "start: expected a model with loss",
    ),
    "no steps": (lambda: of_line(steps=0), ValueError, "steps: expected a whole number ≥ 1"),
}


@pytest.mark.parametrize("make, kind, said", REFUSED.values(), ids=REFUSED)
def test_what_a_figure_cannot_be_is_refused(make, kind, said):
    with pytest.raises(kind, match=said):
        make()
