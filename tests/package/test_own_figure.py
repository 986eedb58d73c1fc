"""A figure of a reader's own model: what the page computes is what Python computes, or the figure says so."""

import json

import numpy as np
import pytest
from py_mini_racer import MiniRacer

import mhalib as mha
from mhalib.trace import Untraceable
from own import DATA, FIGURES, LINE_DATA, TEMPERED, Line, Tempered, score


def in_v8(figure, values, change=lambda source: source):
    v8 = MiniRacer()
    v8.eval(change(figure._esm).replace("export default", "globalThis.made ="))
    v8.eval(f"globalThis.training = made.run({json.dumps(figure.spec)}, {json.dumps(values)}); training.advance();")
    return json.loads(v8.eval("JSON.stringify(training.result)"))


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


BUGS = {"a factor": ("(1.0 / 12.0)", "(1.0 / 13.0)"), "a sign": ("= ((-", "= ((+"),
        "a function": ("Math.exp(theta_tau", "Math.sin(theta_tau"),
        "a place": ("theta.subarray(36, 60)", "theta.subarray(35, 59)")}


@pytest.mark.parametrize("right, wrong", BUGS.values(), ids=BUGS)
def test_a_program_that_is_not_the_formula_does_not_train(right, wrong):
    figure = FIGURES["a loss alone"]()
    assert right in figure._esm
    with pytest.raises(Exception, match="the loss and gradient are .* here and .* in Python"):
        in_v8(figure, figure.values, lambda source: source.replace(right, wrong))


def test_the_gradient_of_a_loss_trains_in_python_too():
    path = mha.train(TEMPERED, DATA, mha.GradientDescent(lr=0.3), 40)
    assert path.loss[-1] < 0.5 * path.loss[0]
    _, grad = TEMPERED.loss_and_grad(DATA.X, DATA.y)
    ends = [(TEMPERED + h * grad).loss(DATA.X, DATA.y) for h in (1e-5, -1e-5)]
    assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(grad.dot(grad), rel=1e-6)


def test_a_class_of_its_own_trains_in_python_too():
    path = mha.train(Line(np.zeros(3)), LINE_DATA, mha.GradientDescent(lr=0.5), 200)
    best = np.linalg.lstsq(LINE_DATA.X, LINE_DATA.y)[0]
    np.testing.assert_allclose(path[-1].w, best, rtol=1e-6)
    assert path.grad_norm[-1] < 1e-6


def wrong_gradient():
    class Wrong(Line):
        def loss_and_grad(self, X, y):
            loss, grad = super().loss_and_grad(X, y)
            return loss, 1.1 * grad
    return mha.live.figure(Wrong(np.zeros(3)), LINE_DATA, mha.GradientDescent(lr=0.1))


def branching():
    class Branching(Line):
        def loss_and_grad(self, X, y):
            return super().loss_and_grad(X, y) if self.w[0] > 0 else (0, self)
    return mha.live.figure(Branching(np.zeros(3)), LINE_DATA, mha.GradientDescent(lr=0.1))


def of_line(rule=None, start=None, data=LINE_DATA, **options):
    start = Line(np.zeros(3)) if start is None else start
    return mha.live.figure(start, data, rule or mha.GradientDescent(lr=0.1), **options)


REFUSED = {
    "a gradient of another loss": (wrong_gradient, ArithmeticError, "is loss_and_grad the gradient of loss"),
    "a branch": (branching, Untraceable, r"test_own_figure\.py, line \d+: a branch on the values"),
    "a rule": (lambda: of_line(mha.Backtracking()), TypeError, "rule: expected one of GradientDescent"),
    "a schedule": (lambda: of_line(mha.GradientDescent(lr=lambda k: 0.1)), TypeError, "a number as its step size"),
    "a control": (lambda: of_line(controls={"beta": [0.1]}), ValueError, "the name of a number .* got 'beta'"),
    "the value at the start": (lambda: of_line(controls={"lr": [1.0]}), ValueError,
                               r"the one at the start, 0.1, got \[1.0\]"),
    "a curve's name": (lambda: of_line(curves={"my curve": score}), ValueError, "names such as score"),
    "a curve of many numbers": (lambda: of_line(curves={"w": lambda model, data: model.w}), Untraceable,
                                r"shape \(3,\)"),
    "a number of both": (lambda: mha.live.figure(TEMPERED, DATA, mha.AdamW(lr=0.1)), ValueError, "got decay"),
    "single precision": (lambda: of_line(start=Line(np.zeros(3, "f4"))), TypeError, "w: expected an array in double"),
    "a number of numpy": (lambda: of_line(start=Tempered(*TEMPERED.arrays().values(), np.float64(0.1)), data=DATA),
                          TypeError, "decay: expected .* float64"),
    "no model": (lambda: of_line(start=np.zeros(3)), TypeError, "start: expected a model with loss"),
    "no data": (lambda: of_line(data=np.zeros(3)), TypeError, "data: expected something with arrays X and y"),
    "no steps": (lambda: of_line(steps=0), ValueError, "steps: expected a whole number ≥ 1"),
}


@pytest.mark.parametrize("make, kind, said", REFUSED.values(), ids=REFUSED)
def test_what_a_figure_cannot_be_is_refused(make, kind, said):
    with pytest.raises(kind, match=said):
        make()
