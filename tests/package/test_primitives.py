"""Functions that a reader adds: recorded, differentiated and printed as those that are there, or
refused by name."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from py_mini_racer import MiniRacer
from scipy.special import logsumexp

import mhalib as mha
from checks import assert_close
from livegrad.record import array, evaluate, gradient, primitive, primitives
from livegrad.record.javascript import printed
from livegrad.record.trace import LOGSUMEXP, WRITTEN, Untraceable

X = np.linspace(-2.0, 2.0, 7)
README = Path(primitives.__file__).with_name("README.md")


@pytest.fixture(autouse=True)
def forgotten():
    """What a test adds is known to it alone."""
    yield
    for name in ("arcsinh", "cosh", "hypot", "softsign"):
        primitives._forget(name)


def add_cosh():
    primitive("arcsinh", np.arcsinh, lambda v, x: [(1 + x * x) ** -0.5], "Math.asinh({})")
    return primitive("cosh", np.cosh, lambda v, x: [(np.exp(x) - np.exp(-x)) / 2], "Math.cosh({})")


def in_v8(value, x):
    """The numbers that the JavaScript of a recorded array gives."""
    printer = printed({"out": value}, "b")
    lines = "\n".join([f"const x = {json.dumps(x.tolist())};", *printer.made, *printer.lines])
    found = MiniRacer().eval(
        f"(() => {{ {lines} return JSON.stringify(Array.from({printer.at['out']})); }})()"
    )
    return np.array(json.loads(found))


def test_a_function_of_numpy_is_called_as_ever_differentiated_twice_and_printed():
    add_cosh()
    x = array("x", X.shape)
    (slope,) = gradient(np.cosh(2 * x).sum(), [x])
    (second,) = gradient(slope.sum(), [x])
    assert_close(evaluate([slope], {"x": X})[0], 2 * np.sinh(2 * X), 1e-13)
    assert_close(evaluate([second], {"x": X})[0], 4 * np.cosh(2 * X), 1e-13)
    assert_close(in_v8(slope, X), 2 * np.sinh(2 * X), 1e-13)
    assert_close(in_v8(np.cosh(x), X), np.cosh(X), 1e-15)


def test_a_function_that_numpy_has_not_is_called_by_what_is_returned():
    softsign = primitive(
        "softsign",
        lambda x: x / (1 + abs(x)),
        lambda v, x: [(1 - abs(v)) ** 2],
        "({0} / (1 + Math.abs({0})))",
    )
    assert softsign(-1.0) == -0.5
    x = array("x", X.shape)
    assert_close(evaluate([softsign(x)], {"x": X})[0], X / (1 + abs(X)), 1e-15)
    assert_close(in_v8(softsign(3 * x), X), 3 * X / (1 + abs(3 * X)), 1e-15)


def test_two_arguments_have_a_derivative_each():
    hypot = primitive("hypot", np.hypot, lambda v, x, y: [x / v, y / v], "Math.hypot({}, {})")
    x, y = array("x", (2,)), array("y", (2,))
    slopes = evaluate(
        gradient(hypot(x, y).sum(), [x, y]), {"x": np.array([3.0, 5.0]), "y": np.array([4.0, 12.0])}
    )
    assert_close(slopes[0], np.array([3 / 5, 5 / 13]), 1e-15)
    assert_close(slopes[1], np.array([4 / 5, 12 / 13]), 1e-15)


@dataclass(frozen=True, eq=False, repr=False)
class LogCosh(mha.models.Vector):
    """A regression by the loss log cosh."""

    w: np.ndarray

    def loss(self, X, y):
        return np.log(np.cosh(X @ self.w - y)).mean()


def test_a_model_trains_and_has_curvature_by_it():
    add_cosh()
    rng = np.random.default_rng(0)
    data = SimpleNamespace(X=rng.standard_normal((30, 3)), y=rng.standard_normal(30))
    model = LogCosh(rng.standard_normal(3))
    error = data.X @ model.w - data.y
    assert_close(model.loss_and_grad(data.X, data.y)[1].w, np.tanh(error) @ data.X / 30, 1e-13)
    hessian = (data.X.T / np.cosh(error) ** 2) @ data.X / 30
    assert_close(mha.landscape.hessian(model, data), hessian, 1e-12)
    path = mha.train(model, data, mha.GradientDescent(lr=0.5), steps=50)
    assert path.loss[-1] < path.loss[0]


REFUSED = {
    "a wrong derivative": (
        ("cosh", np.cosh, lambda v, x: [v], "Math.cosh({})"),
        {},
        ArithmeticError,
        r"cosh: at .* the derivative in argument 1 is .* by `derivatives`, and .* by differences",
    ),
    "a derivative that is not finite": (
        ("cosh", np.cosh, lambda v, x: [x / (x - x)], "Math.cosh({})"),
        {},
        ArithmeticError,
        "cosh: at ",
    ),
    "a derivative that is not recorded": (
        ("cosh", np.cosh, lambda v, x: [np.sinh(x)], "Math.cosh({})"),
        {},
        Untraceable,
        r"test_primitives.py, line \d+: np.sinh is not among",
    ),
    "no function of entries": (
        ("cosh", lambda x: np.sort(x)[::-1], lambda v, x: [-1 + 0 * x], "{}"),
        {},
        ValueError,
        "cosh: expected a function that does to an array what it does to each entry",
    ),
    "a mean": (
        ("cosh", np.mean, lambda v, x: [0 * x], "{}"),
        {},
        ValueError,
        "cosh: expected a function that does",
    ),
    "a name that is known": (
        ("exp", np.exp, lambda v, x: [v], "Math.exp({})"),
        {},
        ValueError,
        "name: .* 'exp'",
    ),
    "a name that is code": (
        ("f();g", np.exp, lambda v, x: [v], "{}"),
        {},
        ValueError,
        "name: expected letters",
    ),
    "a form without a place": (
        ("hypot", np.hypot, lambda v, x, y: [x / v, y / v], "Math.hypot({0})"),
        {},
        ValueError,
        "form: expected a place for each of 2 arguments",
    ),
    "a form with too many": (
        ("cosh", np.cosh, lambda v, x: [v], "Math.pow({}, {})"),
        {},
        ValueError,
        "form: expected 1 places",
    ),
    "no function": (
        ("cosh", np.cosh, 3, "Math.cosh({})"),
        {},
        TypeError,
        "derivatives: expected a function, got int",
    ),
    "no arguments": (
        ("cosh", np.cosh, lambda v: [v], "1"),
        {},
        TypeError,
        "derivatives: expected a function of the",
    ),
}


@pytest.mark.parametrize("arguments, options, error, words", REFUSED.values(), ids=REFUSED)
def test_what_would_be_wrong_in_silence_is_refused_and_leaves_nothing(
    arguments, options, error, words
):
    with pytest.raises(error, match=words):
        primitive(*arguments, **options)
    with pytest.raises(Untraceable, match="is not among the functions that are recorded"):
        np.cosh(array("x", (2,)))


@pytest.mark.parametrize(
    "name",
    ["cosh", "cumsum", "exp2", "log10", "log2", "prod", "reciprocal", "sinh", "tan"],
)
def test_what_is_to_be_written_is_recorded_and_is_the_function(name):
    formula = WRITTEN[name].partition(", of")[0]
    numbers = np.array([0.5, 2.0, 3.0])
    value = eval(formula, {"np": np, "x": array("x", (3,)), "n": 3})
    assert_close(evaluate([value], {"x": numbers})[0], getattr(np, name)(numbers), 1e-13)


@pytest.mark.parametrize(
    "asked",
    [
        lambda z: logsumexp(z, axis=1),
        lambda z: np.logaddexp.reduce(z, axis=1),
        lambda z: z.logsumexp(1),
    ],
)
def test_who_asks_for_logsumexp_hears_what_to_write(asked):
    with pytest.raises(TypeError, match=re.escape(f"{LOGSUMEXP}")):
        asked(array("z", (3, 4)))
    formula, _, m = LOGSUMEXP.partition(" with m = ")
    z, numbers = array("z", (3, 4)), 400 * np.random.default_rng(0).standard_normal((3, 4))
    value = eval(formula, {"np": np, "z": z, "m": eval(m, {"z": z})})
    found = evaluate([value], {"z": numbers})[0]
    assert_close(found, logsumexp(numbers, axis=1, keepdims=True), 1e-14)


def test_the_page_on_one_screen_runs_as_it_stands():
    space = {}
    for block in re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL):
        exec(block, space)
    assert_close(evaluate([space["slope"]], space["numbers"])[0], _slope(space["numbers"]), 1e-13)


def _slope(a):
    margins = a["y"] * (a["X"] @ a["w"])
    return -(a["y"] / (1 + np.exp(margins))) @ a["X"] / len(a["y"])


def test_the_page_names_every_file():
    named = set(re.findall(r"`(\w+\.(?:py|h))`", README.read_text("utf-8")))
    files = {path.name for path in README.parent.iterdir() if path.suffix in (".py", ".h")}
    assert {name for name in files if not name.startswith("_")} <= named
