"""The live figure of a reader's own model: its formulas are recorded, and printed as the program that the page runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path as File
from typing import Any

import numpy as np

from mhalib._array import require_count
from mhalib.compiler.derivatives import gradient
from mhalib.compiler.javascript import LOGADDEXP, printed
from mhalib.compiler.numeric import evaluate, origin
from mhalib.compiler.trace import HIDDEN, Traced, array, recorded, strictly, topological
from mhalib.live.formulas import RULES
from mhalib.live.frames import line, panels, step_axis
from mhalib.live.given import (
    Read,
    controls_of,
    curves_of,
    doubles_of,
    numbers_of,
    require_model,
    require_number,
    require_text,
    tries_of,
    weights_of,
)
from mhalib.live.payload import numbers
from mhalib.live.spec import FigureSpec
from mhalib.live.widget import LiveFigure
from mhalib.models.vector import Vector
from mhalib.models.weights import weights, with_attributes
from mhalib.optim import GradientDescent
from mhalib.optim.rules import Rule
from mhalib.training import Path, recorded_steps, train


def figure(start: Any, data: Any, rule: Rule, steps: int = 500, controls: Mapping[str, Sequence[Any]] | None = None,
           curves: Mapping[str, Callable[[Any, Any], Any]] | None = None, title: str = "A model, live",
           tries: Mapping[str, Mapping[str, Any]] | None = None) -> LiveFigure:
    """A live figure of any model whose loss is written in numpy: the page trains it, by the same formulas.

    The formulas are run once on arrays that record what is done with them, and the record is printed as JavaScript.
    Without a ``loss_and_grad`` of its own the model's gradient is derived from its ``loss``. Program and formula are
    compared before the figure is made, and again in the page before its first run.

    Raises Untraceable (a TypeError) naming file and line where a formula cannot be recorded; TypeError or ValueError if
    a rule, control or curve is none that a page can have; ArithmeticError if program and formula differ.

    Parameters
    ----------
    start : where a run begins: an object with ``loss(X, y)`` or also ``loss_and_grad(X, y)``, whose attributes that are
        arrays are its weights. A dataclass that extends ``mha.models.Vector`` has the ``+ − *`` that training asks for
    data : anything with arrays ``X`` and ``y``, of doubles or of whole numbers; the page carries those of its arrays
        that loss and curves read
    rule : ``GradientDescent``, ``Momentum``, ``Adam`` or ``AdamW``, with a number as its step size
    steps : how many steps a run has
    controls : name → the values of its slider, in the order that it shows; a name is one of the rule's numbers, such as
        ``lr``, or an attribute of ``start`` that is a number. The values contain the one at the start, which is the one
        that rule or model has
    curves : name, one word → function of (model, data), drawn beside the loss
    title : the figure's caption
    tries : telling cases as buttons: words → the values that they set, ``{"Ten times the step": {"lr": 10.0}}``; the
        other controls go to where they start

    Examples
    --------
    >>> data = mha.data.tokenized_mixture(n=20, T=4, d=6, M=2, zeta=0.25, seed=0)
    >>> zero = mha.MultiHeadAttention.zeros(H=1, T=4, d=6)
    >>> figure = mha.live.figure(zero, data, mha.GradientDescent(lr=1.0), steps=50, controls={"lr": [0.1, 1.0]})
    >>> bool(figure.path(lr=0.1).loss[-1] > figure.path(lr=1.0).loss[-1])
    True
    """
    require_count(steps=steps)
    require_text("title", title)
    _require_rule(rule)
    require_model(start)
    moved = controls_of(controls, rule, start)
    curves = curves_of(curves, moved)
    own = {name: control.values for name, control in moved.items() if name not in numbers_of(rule)}
    data = Read(data, {name: getattr(data, name).copy() for name in doubles_of(data)})  # as they are now
    recorded = _Recorded(start, data, curves, own)
    record = recorded_steps(steps, 50)

    def run(values: dict[str, Any]) -> Path:
        mine = {name: values[name] for name in recorded.scalars}
        theirs = {name: value for name, value in values.items() if name not in mine}
        path = train(with_attributes(start, mine), data, replace(rule, **theirs), steps, record=record)  # pyright: ignore
        measured = {name: np.array([float(of(model, data)) for model in path.models]) for name, of in curves.items()}
        return replace(path, curves=path.curves | measured)

    description = FigureSpec(
        title=title, alt=f"The training loss{''.join(f', {name}' for name in curves)} over {steps} steps of "
        f"{type(rule).__name__}, with sliders for {', '.join(moved)}.",
        model="own", data={"kind": "given", "arrays": recorded.carried()},
        start={"kind": "given"} | recorded.start_and_check(),
        record=tuple(record), curves=("loss", *curves), controls=tuple(moved.values()),
        fixed={"optimizer": RULES[type(rule)]} | numbers_of(rule), frame=_frame(curves, steps),
        summary=f"After {{steps}} steps of {type(rule).__name__} with "
                + ", ".join(f"{control.label} = {{{name}}}" for name, control in moved.items())
                + ": " + ", ".join(f"{name} {{{name}}}" for name in ("loss", *curves)) + ".",
        train=run, tries=tries_of(tries),
        no_slope="The gradient is NaN or infinite at step {steps}, where the loss is not: a smaller step size does not "
                 "help. The curve is what came before; in Python, figure.path(…).stopped names the formula's line.")
    first = description.path(description.defaults)
    if not len(first):
        raise ArithmeticError(f"start: expected a loss that is finite. {first.stopped}")
    losses = first.loss
    if losses.min() > 0 and losses.max() > 100 * losses.min():
        description.frame.update_yaxes(type="log", row=1, col=1)
    return LiveFigure(description, File(__file__).with_suffix(".js"), program=recorded.program())


def _require_rule(rule):
    if type(rule) not in RULES:
        raise TypeError(f"rule: expected one of {', '.join(known.__name__ for known in RULES)}, got {rule!r}")
    if callable(rule.lr):
        raise TypeError("rule: expected a number as its step size, got a function of the step")


def _frame(curves, steps):
    rows = 1 + len(curves) // 2
    frame = panels("loss", *curves, columns=min(2, 1 + len(curves)), height=380 if rows == 1 else 310 * rows)
    for k, name in enumerate(("loss", *curves)):
        row, column = k // 2 + 1, k % 2 + 1
        line(frame, "at the start", column, row, shows=name, once=True, legend=k == 0)
        line(frame, "now", column, row, shows=name, color=1, legend=k == 0, dash="solid")
    step_axis(frame, steps)
    return frame.update_yaxes(exponentformat="power")


def _given_gradient(model, answer, theta, scalars):
    """The loss and, by name, the derivatives that a model's ``loss_and_grad`` gave."""
    if not (isinstance(answer, tuple) and len(answer) == 2):
        raise TypeError("loss_and_grad: expected the pair of a loss and a model that holds the derivatives, "
                        f"got {type(answer).__name__}" + (f" of {len(answer)}" if isinstance(answer, tuple) else ""))
    loss, grad = answer
    slopes = {name: getattr(grad, name, None) for name in theta}
    slopes = {name: recorded(slope) if isinstance(slope, np.ndarray) else slope for name, slope in slopes.items()}
    for (name, slope), w in zip(slopes.items(), theta.values(), strict=True):
        if not isinstance(slope, Traced) or slope.shape != w.shape:
            raise TypeError(f"loss_and_grad: expected a model whose {name} is an array of shape {w.shape}, the "
                            f"derivatives with respect to {name}; got a {type(grad).__name__} "
                            + ("without it" if slope is None else f"with {slope!r}"))
    for name in scalars:
        if getattr(grad, name, None) is not getattr(model, name):
            raise TypeError(f"loss_and_grad: expected derivatives that carry the {name} of the model, as "
                            f"dataclasses.replace(self, {', '.join(f'{weight}=d{weight}' for weight in theta)}) has it")
    return loss, slopes


def _only(a, begin, end):
    """An array with zeros outside of a part."""
    return np.where((np.arange(a.size) >= begin) & (np.arange(a.size) < end), a, 0.0)


def _numbered(prefix, names):
    """Name → how the program calls it. A name itself, which may come from anywhere, is never printed."""
    return {name: f"{prefix}_{k}" for k, name in enumerate(names)}


class _Recorded:
    """The formulas of a model on its data, run on arrays that record; ``controls`` are those of its own numbers."""

    def __init__(self, start, data, curves, controls):
        self.start, self.given, self.of = start, data, curves
        self.weights, self.data = weights_of(start), doubles_of(data)
        ends = np.cumsum([a.size for a in self.weights.values()]).tolist()
        self.places = {name: (end - a.size, end) for (name, a), end in zip(self.weights.items(), ends, strict=True)}
        self.scalars = {name: float(getattr(start, name)) for name in controls}
        self.names = [_numbered("theta", self.weights), _numbered("data", self.data), _numbered("set", self.scalars)]
        with strictly():
            self._record()
        for name, values in controls.items():
            for value in {min(values), max(values)}:
                self._compared(self.scalars | {name: value})

    def _record(self):
        thetas, arrays, sets = self.names
        theta = {name: array(thetas[name], a.shape) for name, a in self.weights.items()}
        model = with_attributes(self.start, theta | {name: array(number, ()) for name, number in sets.items()})
        data = Read(self.given, {name: array(arrays[name], a.shape, mask=getattr(self.given, name).dtype == bool)
                                 for name, a in self.data.items()})
        if type(model).loss_and_grad is Vector.loss_and_grad:
            self.loss = model.loss(data.X, data.y)
            self.grad = dict(zip(theta, gradient(self.loss, list(theta.values())), strict=True))
        else:
            self.loss, self.grad = _given_gradient(
                model, model.loss_and_grad(data.X, data.y), theta, self.scalars)
        require_number("loss", self.loss)
        self.curves = {name: of(model, data) for name, of in self.of.items()}
        for name, value in self.curves.items():
            require_number(f"curves: {name}", value)
        formulas = [self.loss, *self.grad.values(), *self.curves.values()]
        inputs = {v.detail for v in topological(x.node for x in formulas) if v.f == "input"}
        self.read = {name: number for name, number in arrays.items() if number in inputs}

    def carried(self):
        """The arrays of the data that the page reads, as JSON carries them, by their names in the program."""
        return {number: numbers(self.data[name]) for name, number in self.read.items()}

    def start_and_check(self):
        """The weights, one behind the other, and what the program must give near them."""
        theta, probe = self._theta_and_probe()
        loss, slope, curves = self._compared(self.scalars)
        scale = max(1.0, abs(loss), float(np.linalg.norm(slope)))
        check = {"by": 0.1, "scale": scale, "wanted": [loss, float(probe @ slope), *curves]}
        return {"theta": numbers(theta), "check": check, "fixed": list(self.scalars.values()),
                "moved": list(self.scalars)}

    def _theta_and_probe(self):
        theta = np.concatenate([a.ravel() for a in self.weights.values()])
        return theta, np.cos(np.arange(theta.size) + 1.0)

    def _inputs(self, near, scalars):
        """What the record reads, by its names there."""
        thetas, arrays, sets = self.names
        return ({number: getattr(near, name) for name, number in thetas.items()}
                | {number: self.data[name] for name, number in arrays.items()}
                | {number: np.array(scalars[name]) for name, number in sets.items()})

    def _compared(self, scalars):
        """Loss, slope and curves near the start by the program, at some values of the model's own numbers.

        Loss, slope and curves are compared with the formulas, the slope in each weight with differences of the loss,
        too; and a step is taken.
        """
        where = "".join(f", with {name} = {value:g}," for name, value in scalars.items())
        self._compared_at_start(scalars, where)
        theta, probe = self._theta_and_probe()
        near, X, y = self._model(theta + 0.1 * probe, scalars), self.given.X, self.given.y
        inputs = self._inputs(near, scalars)
        loss, *curves = map(float, evaluate([self.loss, *self.curves.values()], inputs))
        slope = np.concatenate([part.ravel() for part in evaluate(list(self.grad.values()), inputs)])
        steepness, along = float(np.linalg.norm(slope)), {}
        ways = {f"in {name}": _only(probe, *place) for name, place in self.places.items()} | {"along itself": slope}
        for name, way in ways.items():
            way = way / (np.linalg.norm(way) or 1.0)
            ends = [float(self._model(theta + 0.1 * probe + h * way, scalars).loss(X, y)) for h in (1e-5, -1e-5)]
            along[f"the slope {name}"] = float(way @ slope), (ends[0] - ends[1]) / 2e-5
        own = weights(near.loss_and_grad(X, y)[1])
        length = sum(float(own[name].ravel() @ slope[slice(*self.places[name])]) for name in own) / (steepness or 1.0)
        of = {"the loss": (loss, float(near.loss(X, y))), "the length of the gradient": (steepness, length)} | {
            name: (x, float(f(near, self.given))) for (name, f), x in zip(self.of.items(), curves, strict=True)}
        for name, (found, wanted) in (of | along).items():
            off = 1e-4 * steepness + 1e-10 * abs(loss) if name in along else 1e-9 * abs(wanted) + 1e-12
            if abs(found - wanted) <= off:
                continue
            if name in along and np.isfinite(found) and type(near).loss_and_grad is not Vector.loss_and_grad:
                said = f"{wanted} by differences of the loss and {found} by loss_and_grad: is that the gradient?"
            else:
                said = f"{wanted} by the formula in numpy and {found} by its record: {HIDDEN} {self._suspects()}"
            raise ArithmeticError(f"near the start{where} {name} is {said}")
        train(near, self.given, GradientDescent(lr=1e-3), 1)
        return loss, slope, curves

    def _compared_at_start(self, scalars, where):
        """Loss and curves at the start itself, where entries may tie, and a curve may be infinite."""
        start = with_attributes(self.start, scalars)
        with np.errstate(all="ignore"):
            found = evaluate([self.loss, *self.curves.values()], self._inputs(start, scalars))
            wanted = {"the loss": start.loss(self.given.X, self.given.y)} | {
                name: of(start, self.given) for name, of in self.of.items()}
        for (name, right), number in zip(wanted.items(), found, strict=True):
            if not np.isclose(float(number), float(right), rtol=1e-9, atol=1e-12, equal_nan=True):
                raise ArithmeticError(f"at the start{where} {name} is {right} by the formula in numpy and {number} by "
                                      f"its record: {HIDDEN} {self._suspects()}")
        if np.isfinite(found[0]):
            self._compared_slope_at_start(start, float(found[0]), self._inputs(start, scalars), where)

    def _compared_slope_at_start(self, start, loss, inputs, where):
        """The gradient at the start: that of ``loss_and_grad``, and between the slopes to either side of a kink."""
        X, y, grad = self.given.X, self.given.y, list(self.grad.values())
        with np.errstate(all="ignore"):
            slope = np.concatenate([part.ravel() for part in evaluate(grad, inputs)])
            own = weights(start.loss_and_grad(X, y)[1])
        if not np.isfinite(slope).all():
            raise ArithmeticError(
                f"at the start{where} the gradient is NaN or infinite, where the loss is {loss:.3g}; it becomes so in "
                f"{origin(grad, inputs)}: keep the argument of a root, a logarithm or a power away from 0, on both "
                "sides of a np.where, or start elsewhere")
        steepness, (theta, probe), h = float(np.linalg.norm(slope)), self._theta_and_probe(), 1e-6
        for name, place in self.places.items():
            if not np.allclose(own[name].ravel(), slope[slice(*place)], rtol=1e-9, atol=1e-12 + 1e-9 * steepness):
                raise ArithmeticError(f"at the start{where} the gradient in {name} is another one by the formula in "
                                      f"numpy than by its record: {HIDDEN} {self._suspects()}")
            way = _only(probe, *place)
            way = way / (np.linalg.norm(way) or 1.0)
            sides = []
            for side in (h, -h):
                there = with_attributes(start, weights(self._model(theta + side * way, {})))
                sides.append((float(there.loss(X, y)) - loss) / side)
            off = 1e-4 * steepness + 1e-9 * abs(loss) + 1e-12
            if not min(sides) - off <= way @ slope <= max(sides) + off:
                raise ArithmeticError(f"at the start{where} the slope in {name} is between {min(sides)} and "
                                      f"{max(sides)} by differences of the loss, and {way @ slope} by its gradient: is "
                                      "that the gradient?")

    def _suspects(self):
        """What in the data may compute otherwise in numpy than in doubles."""
        given = {name: getattr(self.given, name).dtype for name in self.data}
        whole = [f"{name}, which is {kind}? {name}.astype(float) computes as the page does"
                 for name, kind in given.items() if kind.kind != "f"]
        return " Or is it ".join(["NaN in the data, a root or a logarithm of 0?", *whole])

    def _model(self, theta, scalars):
        """The model of weights that lie one behind the other."""
        return with_attributes(self.start, scalars | {name: theta[slice(*self.places[name])].reshape(a.shape)
                                            for name, a in self.weights.items()})

    def program(self):
        """The JavaScript of the loss, its gradient and the curves."""
        thetas, _, sets = self.names
        slopes = {f"d{thetas[name]}": slope for name, slope in self.grad.items()}
        step, loss = printed({"loss": self.loss} | slopes, "b"), printed({"loss": self.loss}, "f")
        curves = [printed({"curve": value}, f"c{k}_") for k, value in enumerate(self.curves.values())]
        read = [f"const {thetas[name]} = theta.subarray({begin}, {end});" for name, (begin, end) in self.places.items()]
        written = [f"grad.set({step.at[f'd{thetas[name]}']}, {begin});" for name, (begin, _) in self.places.items()]
        lines = [
            LOGADDEXP, "export function program(data, moved) {",
            *(f"const {number} = data.{number};" for number in self.read.values()),
            *(f"const {number} = [moved[{k}]];" for k, number in enumerate(sets.values())),
            *(buffer for one in (step, loss, *curves) for buffer in one.made),
            f"return {{ size: {max(end for _, end in self.places.values())},",
            _function("forward(theta)", read, loss, "loss"),
            _function("lossAndGrad(theta, grad)", read, step, "loss", written),
            "curves: [", *(_function("({ theta }) =>", read, one, "curve") for one in curves), "] };", "}", ""]
        return "\n".join(lines)


def _function(head, read, statements, result, written=()):
    return "\n".join([f"{head} {{", *read, *statements.lines, *written, f"return {statements.at[result]}[0];", "},"])
