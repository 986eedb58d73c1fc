"""The live figure of a reader's own model, which trains in the page by the same formulas."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path as File
from typing import Any

import numpy as np

from livegrad.arrays import require_count
from livegrad.live.frames import line, panels, step_axis
from livegrad.live.given import (
    Given,
    controls_of,
    curves_of,
    doubles_of,
    numbers_of,
    require_model,
    require_text,
    tries_of,
)
from livegrad.live.own_checks import NEAR, compare, require_unchanged
from livegrad.live.own_formulas import Formulas, module
from livegrad.live.payload import numbers
from livegrad.live.rule_formulas import RULES
from livegrad.live.spec import FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.model.weights import attributes, probe, with_attributes
from livegrad.optim.rules import Rule
from livegrad.path import M
from livegrad.record.trace import topological
from livegrad.training import Path, recorded_steps, train

LONGEST = 1_000_000
"""Steps of a run that a reader may still wait for."""
ROOM = 2_000_000
"""How many numbers of data and weights a page carries."""
LARGEST = 50_000_000
"""How many numbers an array may have that the page computes on its way."""


def figure(
    start: M,
    data: Any,
    rule: Rule,
    steps: int = 500,
    controls: Mapping[str, Sequence[Any]] | None = None,
    curves: Mapping[str, Callable[[M, Any], Any]] | None = None,
    title: str = "A model, live",
    tries: Mapping[str, Mapping[str, Any]] | None = None,
) -> LiveFigure[M]:
    """A live figure of any model whose loss is written in numpy: the page trains it, by the same
    formulas.

    The formulas are run once on arrays that record what is done with them, and the record is
    printed as JavaScript, and as WebAssembly, some six times faster, where the wheel ``ziglang`` is
    installed (the extra ``fast``). Without a ``loss_and_grad`` of its own the model's gradient is
    derived from its ``loss``. Program and formula are compared before the figure is made, and again
    in the page before its first run.

    Raises Untraceable (a TypeError) naming file and line where a formula cannot be recorded;
    TypeError or ValueError if a rule, control or curve is none that a page can have;
    ArithmeticError if program and formula differ.

    Parameters
    ----------
    start : where a run begins: an object with ``loss(X, y)`` or also ``loss_and_grad(X, y)``, whose
        attributes that are arrays are its weights. A dataclass that extends ``livegrad.Vector``
        has the ``+ − *`` that training asks for
    data : anything with arrays ``X`` and ``y``, of doubles or of whole numbers; the page carries
        those of its arrays that loss and curves read
    rule : ``GradientDescent``, ``Momentum``, ``Adam`` or ``AdamW``, with a number as its step size
    steps : how many steps a run has
    controls : name → the values of its slider, in the order that it shows; a name is one of the
        rule's numbers, such as ``lr``, or an attribute of ``start`` that is a number. The values
        contain the one at the start, which is the one that rule or model has
    curves : name, one word → function of (model, data), drawn beside the loss
    title : the figure's caption
    tries : telling cases as buttons: words → the values that they set, ``{"Ten times the step":
        {"lr": 10.0}}``; the other controls go to where they start

    Examples
    --------
    >>> from livegrad.examples.logistic_regression import LogisticRegression, clouds
    >>> zero, rule = LogisticRegression(np.zeros(2)), lg.GradientDescent(lr=1.0)
    >>> figure = lg.live.figure(zero, clouds(), rule, steps=50, controls={"lr": [0.1, 1.0]})
    >>> bool(figure.path(lr=0.1).loss[-1] > figure.path(lr=1.0).loss[-1])
    True
    """
    require_count(steps=steps)
    if steps > LONGEST:
        raise ValueError(f"steps: expected at most {LONGEST:,} in a page, got {steps:,}")
    require_text("title", title)
    _require_rule(rule)
    require_model(start)
    moved = controls_of(controls, rule, start)
    curves = curves_of(curves, moved)
    own = {name: control.values for name, control in moved.items() if name not in numbers_of(rule)}
    data, start = _as_they_are(data, start)
    formulas = Formulas(start, data, curves, {name: float(getattr(start, name)) for name in own})
    _require_room(formulas)
    program, start_and_check = formulas.program(), _start_and_check(formulas)
    for there in _settings(own, formulas.numbers):
        compare(formulas, there)
    record = recorded_steps(steps, 50)

    def run(values: dict[str, Any]) -> Path:
        mine = {name: values[name] for name in formulas.numbers}
        theirs = {name: value for name, value in values.items() if name not in mine}
        require_unchanged(formulas, start_and_check["check"]["wanted"])
        path = train(
            with_attributes(start, mine), data, replace(rule, **theirs), steps, record=record
        )  # pyright: ignore
        measured = {
            name: np.array([float(of(model, data)) for model in path.models])
            for name, of in curves.items()
        }
        return replace(path, curves=path.curves | measured)

    description = FigureSpec(
        title=title,
        alt=f"The training loss{''.join(f', {name}' for name in curves)} over {steps} steps of "
        f"{type(rule).__name__}, with sliders for {', '.join(moved)}.",
        model="own",
        data={
            "kind": "given",
            "arrays": {number: numbers(a) for number, a in formulas.read.items()},
        },
        start={"kind": "given", "sizes": [len(data.X)] * len(program.sizes)} | start_and_check,
        record=tuple(record),
        curves=("loss", *curves),
        controls=tuple(moved.values()),
        fixed={"optimizer": RULES[type(rule)]} | numbers_of(rule),
        frame=_frame(curves, steps),
        summary=f"After {{steps}} steps of {type(rule).__name__} with "
        + ", ".join(f"{control.label} = {{{name}}}" for name, control in moved.items())
        + ": "
        + ", ".join(f"{name} {{{name}}}" for name in ("loss", *curves))
        + ".",
        train=run,
        tries=tries_of(tries),
        no_slope="The gradient is NaN or infinite at step {steps}, where the loss is not: a "
        "smaller step size does not help. The curve shows the steps before it; in Python, "
        "figure.path(…).stopped names the formula's line.",
    )
    # The description remembers this run, so that the frame at the start costs no second one.
    first = description.path(description.defaults)
    if not len(first):
        raise ArithmeticError(f"start: expected a loss that is finite. {first.stopped}")
    losses = first.loss
    if losses.min() > 0 and losses.max() > 100 * losses.min():
        description.frame.update_yaxes(type="log", row=1, col=1)
    return LiveFigure(description, File(__file__).with_suffix(".js"), program=module(program))


def _as_they_are(data, start):
    """Copies of data and model, which nobody changes after the figure is made."""
    own = {k: a for k, a in attributes(start).items() if isinstance(a, np.ndarray)}
    given = doubles_of(data)
    size = sum(a.size for a in (*given.values(), *own.values()))
    if size > ROOM:
        largest = max(given | own, key=lambda name: (given | own)[name].size)
        raise ValueError(
            f"{largest}: expected at most {ROOM:,} numbers of data and weights in a page, got "
            f"{size:,}; take a part of the samples"
        )
    return (
        Given(data, {name: getattr(data, name).copy() for name in given}),
        with_attributes(start, {name: a.copy() for name, a in own.items()}),
    )


def _require_room(formulas):
    """Check that a page has room for what formulas bring along, and for each array on their way."""
    every = [x.node for results in formulas.record.values() for x in results.values()]
    brought = 0
    for v in topological(every):
        size = prod(v.shape)
        brought += size if v.f == "constant" else 0
        if brought > ROOM:
            raise ValueError(
                f"{v.line}: expected at most {ROOM:,} numbers that formulas bring along in a page, "
                f"got {brought:,}; compute with smaller arrays"
            )
        if size > LARGEST:
            raise ValueError(
                f"{v.line}: expected at most {LARGEST:,} numbers in one array of a page, got "
                f"{size:,}; take a part of the samples"
            )


def _settings(own, start):
    """Every value of every slider, the others as at the start; and all sliders moved at once, to
    their values of each place, from both ends."""
    for name, values in own.items():
        for value in values:
            yield {**start, name: value}
    if len(own) < 2:
        return
    for k in range(max(map(len, own.values()))):
        together = {name: values[k % len(values)] for name, values in own.items()}
        turned = {name: own[name][-1 - k % len(own[name])] for name in list(own)[1::2]}
        yield together
        yield together | turned


def _require_rule(rule):
    if type(rule) not in RULES:
        raise TypeError(
            f"rule: expected one of {', '.join(known.__name__ for known in RULES)}, got {rule!r}"
        )
    if callable(rule.lr):
        raise TypeError("rule: expected a number as its step size, got a function of the step")


def _frame(curves, steps):
    rows = 1 + len(curves) // 2
    frame = panels(
        "loss", *curves, columns=min(2, 1 + len(curves)), height=410 if rows == 1 else 310 * rows
    )
    for k, name in enumerate(("loss", *curves)):
        row, column = k // 2 + 1, k % 2 + 1
        line(frame, "at the start", column, row, shows=name, once=True, legend=k == 0)
        line(frame, "now", column, row, shows=name, legend=k == 0)
    step_axis(frame, steps)
    return frame.update_yaxes(exponentformat="power")


def _start_and_check(formulas: Formulas):
    """The weights, one behind the other, and what the program must give near them."""
    loss, slope, curves = compare(formulas, formulas.numbers)
    theta = formulas.vector()
    scale = max(1.0, abs(loss), float(np.linalg.norm(slope)))
    check = {
        "by": NEAR,
        "scale": scale,
        "wanted": [loss, float(probe(theta.shape) @ slope), *curves],
    }
    return {
        "theta": numbers(theta),
        "check": check,
        "fixed": list(formulas.numbers.values()),
        "moved": list(formulas.numbers),
    }
