"""The live figure of a reader's own model: its formulas are recorded, and printed as the program that the page runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path as File
from types import SimpleNamespace
from typing import Any

import numpy as np

from mhalib._array import is_array, require_count, to_numpy
from mhalib.javascript import LOGADDEXP, Printer
from mhalib.live.formulas import RULES
from mhalib.live.frames import line, panels, step_axis
from mhalib.live.spec import Control, FigureSpec
from mhalib.live.widget import LiveFigure
from mhalib.models.vector import Vector, with_attributes
from mhalib.optim import GradientDescent
from mhalib.optim.rules import Rule
from mhalib.trace import HIDDEN, Traced, Untraceable, array, evaluate, gradient, recorded, strictly
from mhalib.training import Path, recorded_steps, train


def figure(start: Any, data: Any, rule: Rule, steps: int = 500, controls: Mapping[str, Sequence[Any]] | None = None,
           curves: Mapping[str, Callable[[Any, Any], Any]] | None = None, title: str = "A model, live") -> LiveFigure:
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
    data : anything with arrays ``X`` and ``y``; the page carries all its arrays
    rule : ``GradientDescent``, ``Momentum``, ``Adam`` or ``AdamW``, with a number as its step size
    steps : how many steps a run has
    controls : name → the values of its slider; a name is one of the rule's numbers, such as ``lr``, or an attribute of
        ``start`` that is a number. The value at the start is the one that rule or model has
    curves : name → function of (model, data), drawn beside the loss
    title : the figure's caption

    Examples
    --------
    >>> data = mha.data.tokenized_mixture(n=20, T=4, d=6, M=2, zeta=0.25, seed=0)
    >>> zero = mha.MultiHeadAttention.zeros(H=1, T=4, d=6)
    >>> figure = mha.live.figure(zero, data, mha.GradientDescent(lr=1.0), steps=50, controls={"lr": [0.1, 1.0]})
    >>> bool(figure.path(lr=0.1).loss[-1] > figure.path(lr=1.0).loss[-1])
    True
    """
    require_count(steps=steps)
    curves = dict(curves or {})
    _require_rule(rule)
    around = {rule.lr, *(float(f"{rule.lr * x:.3g}") for x in (0.1, 0.3, 3))}  # pyright: ignore
    moved = _moved(start, rule, controls or {"lr": sorted(around)})
    known = {"loss", "steps", "stopped", "grad_norm", *moved}
    if wrong := [name for name, of in curves.items() if not callable(of) or not name.isidentifier() or name in known]:
        raise ValueError("curves: expected names such as score, which are no control's, and for each a function of "
                         f"(model, data); got {wrong}")
    own = {name: control.values for name, control in moved.items() if name not in _numbers_of(rule)}
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
        model="own", data={"kind": "given", "arrays": {k: a.ravel().tolist() for k, a in recorded.data.items()}},
        start={"kind": "given", "fixed": recorded.scalars} | recorded.start_and_check(),
        record=tuple(record), curves=("loss", *curves), controls=tuple(moved.values()),
        fixed={"optimizer": RULES[type(rule)]} | _numbers_of(rule), frame=_frame(curves, steps),
        summary=f"After {{steps}} steps of {type(rule).__name__} with "
                + ", ".join(f"{control.label} = {{{name}}}" for name, control in moved.items())
                + ": " + ", ".join(f"{name} {{{name}}}" for name in ("loss", *curves)) + ".",
        train=run)
    losses = description.path(description.defaults).loss
    if losses.min() > 0 and losses.max() > 100 * losses.min():
        description.frame.update_yaxes(type="log", row=1, col=1)
    return LiveFigure(description, File(__file__).with_suffix(".js"), program=recorded.program())


def _require_rule(rule):
    if type(rule) not in RULES:
        raise TypeError(f"rule: expected one of {', '.join(known.__name__ for known in RULES)}, got {rule!r}")
    if callable(rule.lr):
        raise TypeError("rule: expected a number as its step size, got a function of the step")


def _numbers_of(rule):
    return {f.name: float(getattr(rule, f.name)) for f in fields(rule)}


def _moved(start, rule, controls):
    """Name → control, with the value at the start from rule or model."""
    found = {}
    for name, values in controls.items():
        both = _numbers_of(rule), getattr(start, "__dict__", {})
        value = (both[0] | both[1]).get(name)
        if (name in both[0] and name in both[1]) or name in ("optimizer", "scaling"):
            raise ValueError(f"controls: expected a name that only one of rule and model has, got {name!r}")
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            raise ValueError(f"controls: expected the name of a number of the rule or of the model, got {name!r}")
        choices = tuple(float(choice) for choice in values)
        if value not in choices:
            raise ValueError(f"controls: expected among the values of {name} the one at the start, {value}, "
                             f"got {list(values)}")
        found[name] = Control(name, "step size η" if name == "lr" else name, choices, float(value))
    return found


def _frame(curves, steps):
    rows = 1 + len(curves) // 2
    frame = panels("loss", *curves, columns=min(2, 1 + len(curves)), height=380 if rows == 1 else 310 * rows)
    for k, name in enumerate(("loss", *curves)):
        row, column = k // 2 + 1, k % 2 + 1
        line(frame, "at the start", column, row, shows=name, once=True, legend=k == 0)
        line(frame, "now", column, row, shows=name, color=1, legend=k == 0, dash="solid")
    step_axis(frame, steps)
    return frame.update_yaxes(exponentformat="power")


def _arrays(model):
    """The weights of a model by name: its attributes that are arrays."""
    named = model.arrays() if hasattr(model, "arrays") else {k: a for k, a in vars(model).items() if is_array(a)}
    return {name: to_numpy(a) for name, a in named.items()}


def _given_gradient(model, answer, theta, scalars):
    """The loss and, by name, the derivatives that a model's ``loss_and_grad`` gave."""
    if not (isinstance(answer, tuple) and len(answer) == 2):
        raise TypeError("loss_and_grad: expected the pair of a loss and a model that holds the derivatives, "
                        f"got {answer!r}")
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


class _Recorded:
    """The formulas of a model on its data, run on arrays that record; ``controls`` are those of its own numbers."""

    def __init__(self, start, data, curves, controls):
        if lacking := [name for name in ("loss", "loss_and_grad", "__dict__") if not hasattr(start, name)]:
            raise TypeError(f"start: expected a model with loss(X, y), and weights that are arrays: a dataclass that "
                            "extends mha.models.Vector, or a class with loss_and_grad, too; "
                            f"got {type(start).__name__} without {lacking[0]}")
        self.start, self.weights = start, _arrays(start)
        if not self.weights:
            raise TypeError(f"start: expected weights that are arrays; {type(start).__name__} has none")
        if not (hasattr(data, "X") and hasattr(data, "y")):
            raise TypeError(f"data: expected something with arrays X and y, got {type(data).__name__}")
        ends = np.cumsum([a.size for a in self.weights.values()]).tolist()
        self.places = {name: (end - a.size, end) for (name, a), end in zip(self.weights.items(), ends, strict=True)}
        given = {"X": data.X, "y": data.y} | {k: a for k, a in getattr(data, "__dict__", {}).items() if is_array(a)}
        self.data = {name: to_numpy(a).astype(float) for name, a in given.items()}
        numbers = self.weights | self.data
        for name, a in {**given, **vars(start)}.items():
            if isinstance(a, np.generic) or (name in numbers and str(a.dtype).endswith(("float32", "float16"))):
                raise TypeError(f"{name}: expected an array in double precision, as the page computes, or a number of "
                                f"Python; got {type(a).__name__} of {a.dtype}")
        self.scalars, self.of, self.given = {name: float(vars(start)[name]) for name in controls}, curves, data
        with strictly():
            self._record(curves)
        for name, values in controls.items():
            for value in {min(values), max(values)}:
                self._compared(self.scalars | {name: value})

    def _record(self, curves):
        theta = {name: array(f"theta_{name}", a.shape) for name, a in self.weights.items()}
        model = with_attributes(self.start, theta | {name: array(f"set_{name}", ()) for name in self.scalars})
        read = {name: array(f"data_{name}", a.shape) for name, a in self.data.items()}
        data = SimpleNamespace(**(getattr(self.given, "__dict__", {}) | read))
        if type(model).loss_and_grad is Vector.loss_and_grad:
            self.loss = model.loss(data.X, data.y)
            self.grad = dict(zip(theta, gradient(self.loss, list(theta.values())), strict=True))
        else:
            self.loss, self.grad = _given_gradient(
                model, model.loss_and_grad(data.X, data.y), theta, self.scalars)
        self.curves = {name: of(model, data) for name, of in curves.items()}
        for name, value in {"loss": self.loss, **self.curves}.items():
            if not isinstance(value, Traced) or value.shape:
                raise Untraceable(f"{name}: expected one number that depends on model and data, got {value!r}")

    def start_and_check(self):
        """The weights, one behind the other, and what the program must give near them."""
        theta, probe = self._theta_and_probe()
        loss, slope, curves = self._compared(self.scalars)
        scale = max(1.0, abs(loss), float(np.linalg.norm(slope)))
        check = {"by": 0.1, "scale": scale, "wanted": [loss, float(probe @ slope), *curves]}
        return {"theta": theta.tolist(), "check": check}

    def _theta_and_probe(self):
        theta = np.concatenate([a.ravel() for a in self.weights.values()])
        return theta, np.cos(np.arange(theta.size) + 1.0)

    def _compared(self, scalars):
        """Loss, slope and curves near the start by the program, at some values of the model's own numbers.

        Loss, slope and curves are compared with the formulas, the slope in each weight with differences of the loss,
        too; and a step is taken.
        """
        theta, probe = self._theta_and_probe()
        near, X, y = self._model(theta + 0.1 * probe, scalars), self.data["X"], self.data["y"]
        inputs = ({f"theta_{name}": getattr(near, name) for name in self.weights} | {
            f"data_{name}": a for name, a in self.data.items()} | {
            f"set_{name}": np.array(x) for name, x in scalars.items()})
        loss, *curves = map(float, evaluate([self.loss, *self.curves.values()], inputs))
        slope = np.concatenate([part.ravel() for part in evaluate(list(self.grad.values()), inputs)])
        steepness, along = float(np.linalg.norm(slope)), {}
        ways = {f"in {name}": _only(probe, *place) for name, place in self.places.items()} | {"along itself": slope}
        for name, way in ways.items():
            way = way / (np.linalg.norm(way) or 1.0)
            ends = [float(self._model(theta + 0.1 * probe + h * way, scalars).loss(X, y)) for h in (1e-5, -1e-5)]
            along[f"the slope {name}"] = float(way @ slope), (ends[0] - ends[1]) / 2e-5
        own = _arrays(near.loss_and_grad(X, y)[1])
        length = sum(float(own[name].ravel() @ slope[slice(*self.places[name])]) for name in own) / (steepness or 1.0)
        of = {"the loss": (loss, float(near.loss(X, y))), "the length of the gradient": (steepness, length)} | {
            name: (x, float(f(near, self.given))) for (name, f), x in zip(self.of.items(), curves, strict=True)}
        where = "".join(f", with {name} = {value:g}," for name, value in scalars.items())
        for name, (found, wanted) in (of | along).items():
            off = 1e-4 * steepness + 1e-10 * abs(loss) if name in along else 1e-9 * abs(wanted) + 1e-12
            if abs(found - wanted) <= off:
                continue
            if name in along and np.isfinite(found) and type(near).loss_and_grad is not Vector.loss_and_grad:
                said = f"{wanted} by differences of the loss and {found} by loss_and_grad: is that the gradient?"
            else:
                said = (f"{wanted} by the formula in numpy and {found} by its record: {HIDDEN} NaN in the data, a root "
                        "or a logarithm of 0?")
            raise ArithmeticError(f"near the start{where} {name} is {said}")
        train(near, self.given, GradientDescent(lr=1e-3), 1)
        return loss, slope, curves

    def _model(self, theta, scalars):
        """The model of weights that lie one behind the other."""
        return with_attributes(self.start, scalars | {name: theta[slice(*self.places[name])].reshape(a.shape)
                                            for name, a in self.weights.items()})

    def program(self):
        """The JavaScript of the loss, its gradient and the curves."""
        step = Printer({"loss": self.loss} | {f"d{name}": g for name, g in self.grad.items()}, "b")
        loss = Printer({"loss": self.loss}, "f")
        curves = {name: Printer({name: value}, f"curve_{name}_") for name, value in self.curves.items()}
        read = [f"const theta_{name} = theta.subarray({begin}, {end});" for name, (begin, end) in self.places.items()]
        written = [f"grad.set({step.at[f'd{name}']}, {begin});" for name, (begin, _) in self.places.items()]
        measured = [_method(f"{name}({{ theta }})", read, one, name) for name, one in curves.items()]
        lines = [
            LOGADDEXP, "export function program(data, values) {",
            *(f"const data_{name} = data.{name};" for name in self.data),
            *(f"const set_{name} = [values.{name}];" for name in self.scalars),
            *(buffer for one in (step, loss, *curves.values()) for buffer in one.made),
            f"return {{ size: {max(end for _, end in self.places.values())}, final: {{}},",
            _method("forward(theta)", read, loss, "loss"),
            _method("lossAndGrad(theta, grad)", read, step, "loss", written),
            "curves: {", "loss: ({ loss }) => loss,", *measured, "} };", "}", ""]
        return "\n".join(lines)


def _method(head, read, printed, result, written=()):
    return "\n".join([f"{head} {{", *read, *printed.lines, *written, f"return {printed.at[result]}[0];", "},"])
