"""Is the record of a reader's formulas what they compute? Compared before a figure is made, and
again in the page."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from livegrad.live.own_formulas import Formulas
from livegrad.model.given_gradient import is_kink
from livegrad.model.vector import Vector
from livegrad.model.weights import probe, weights, with_attributes
from livegrad.optim import GradientDescent
from livegrad.record.numeric import evaluate, origin
from livegrad.record.trace import HIDDEN
from livegrad.training import train

NEAR = 0.1
"""How far from the start the record is compared, along ``probe``."""


def compare(
    formulas: Formulas, numbers: Mapping[str, float]
) -> tuple[float, np.ndarray, list[float]]:
    """Loss, slope and curves near the start by the record, at some values of the model's own
    numbers.

    They are compared with the formulas, at the start and near it; the slope in each weight also
    with differences of the loss; and a step is taken.

    Raises ArithmeticError that says where record and formula differ; what the formulas raise.
    """
    at = " and ".join(f"{name} = {value:g}" for name, value in numbers.items())
    at = f", with {at}," if at else ""
    _compare_at_start(formulas, numbers, at)
    theta = formulas.vector()
    moved = theta + NEAR * probe(theta.shape)
    near = formulas.model(moved, numbers)
    inputs = formulas.values(near, numbers)
    loss, *curves = map(float, evaluate([formulas.loss, *formulas.measured], inputs))
    slope = _slope(formulas, inputs)
    _require_values(formulas, near, at, loss, slope, curves)
    _require_slopes(formulas, numbers, at, moved, loss, slope)
    train(near, formulas.data, GradientDescent(lr=1e-3), 1)
    return loss, slope, curves


def require_unchanged(formulas: Formulas, wanted: Sequence[float]) -> None:
    """Check that loss and curves near the start are still what they were when the figure was made,
    as its page has them.

    Raises ArithmeticError if they are not.
    """
    theta, data = formulas.vector(), formulas.data
    near = formulas.model(theta + NEAR * probe(theta.shape), formulas.numbers)
    before = {"the loss": wanted[0]} | dict(zip(formulas.curves, wanted[2:], strict=True))
    with np.errstate(all="ignore"):
        now = {"the loss": near.loss(data.X, data.y)}
        now |= {name: of(near, data) for name, of in formulas.curves.items()}
    for name, value in before.items():
        if not np.isclose(float(now[name]), value, rtol=1e-9, atol=1e-12, equal_nan=True):
            raise ArithmeticError(
                f"{name} near the start is {float(now[name])} now, and was {value} when the figure "
                "was made: what it reads beside weights and data has changed; make the figure again"
            )


def _slope(formulas, inputs):
    """The derivatives by the record, one behind the other."""
    return np.concatenate(
        [part.ravel() for part in evaluate(list(formulas.slopes.values()), inputs)]
    )


def _require_values(formulas, near, at, loss, slope, curves):
    """Loss, curves and the length of the gradient near the start are those of the formulas."""
    data = formulas.data
    steepness, own = float(np.linalg.norm(slope)), weights(near.loss_and_grad(data.X, data.y)[1])
    length = sum(
        float(own[name].ravel() @ slope[part])
        for name, part in formulas.parts.items()
        if name in own
    )
    pairs = {
        "the loss": (loss, float(near.loss(data.X, data.y))),
        "the length of the gradient": (steepness, length / (steepness or 1.0)),
    }
    for (name, of), value in zip(formulas.curves.items(), curves, strict=True):
        pairs[name] = value, float(of(near, data))
    for name, (found, wanted) in pairs.items():
        if not np.isfinite(wanted) and not np.isfinite(found):
            raise ArithmeticError(
                f"near the start{at} {name} is {wanted}: expected a finite number there; is there "
                "NaN in the data, or 0 in a logarithm, a root or a quotient?"
            )
        # Negated, so that NaN on either side counts as a difference.
        if not abs(found - wanted) <= 1e-9 * abs(wanted) + 1e-12:
            raise ArithmeticError(
                f"near the start{at} {name} is {_hidden(formulas, wanted, found)}"
            )


def _require_slopes(formulas, numbers, at, moved, loss, slope):
    """The slope in each weight, and along itself, is that of differences of the loss."""
    data, steepness = formulas.data, float(np.linalg.norm(slope))
    ways = {f"in {name}": _only(probe(slope.shape), part) for name, part in formulas.parts.items()}
    ways["along itself"] = slope
    for name, way in ways.items():
        way = way / (np.linalg.norm(way) or 1.0)
        ends = [
            float(formulas.model(moved + h * way, numbers).loss(data.X, data.y))
            for h in (1e-5, -1e-5)
        ]
        found, wanted = float(way @ slope), (ends[0] - ends[1]) / 2e-5
        # A central difference rounds by about eps |loss| / h, which is 2e-11 |loss| for h = 1e-5.
        if abs(found - wanted) <= 1e-4 * steepness + 1e-10 * abs(loss):
            continue
        if np.isfinite(found) and type(formulas.start).loss_and_grad is not Vector.loss_and_grad:
            words = f"{wanted} by differences of the loss and {found} by loss_and_grad: is that the gradient?"
        else:
            words = _hidden(formulas, wanted, found)
        raise ArithmeticError(f"near the start{at} the slope {name} is {words}")


def _compare_at_start(formulas, numbers, at):
    """Loss and curves at the start itself, where entries may tie, and a curve may be infinite."""
    start, data = with_attributes(formulas.start, numbers), formulas.data
    inputs = formulas.values(start, numbers)
    with np.errstate(all="ignore"):
        found = evaluate([formulas.loss, *formulas.measured], inputs)
        wanted = {"the loss": start.loss(data.X, data.y)}
        wanted |= {name: of(start, data) for name, of in formulas.curves.items()}
    for (name, right), number in zip(wanted.items(), found, strict=True):
        if not np.isclose(float(number), float(right), rtol=1e-9, atol=1e-12, equal_nan=True):
            raise ArithmeticError(f"at the start{at} {name} is {_hidden(formulas, right, number)}")
    if np.isfinite(found[0]):
        _compare_slope_at_start(formulas, start, numbers, float(found[0]), at)


def _compare_slope_at_start(formulas, start, numbers, loss, at):
    """The gradient at the start: that of ``loss_and_grad``, and, beside a kink, that of differences
    of the loss."""
    data, inputs = formulas.data, formulas.values(start, numbers)
    with np.errstate(all="ignore"):
        slope = _slope(formulas, inputs)
        own = weights(start.loss_and_grad(data.X, data.y)[1])
    if not np.isfinite(slope).all():
        raise ArithmeticError(
            f"at the start{at} the gradient is NaN or infinite, where the loss is {loss:.3g}; it "
            f"becomes so in {origin(list(formulas.slopes.values()), inputs)}: keep the argument "
            f"of a root, a logarithm or a power "
            "away from 0, on both sides of a np.where, or start elsewhere"
        )
    steepness, theta, h = float(np.linalg.norm(slope)), formulas.vector(), 1e-6
    for name, part in formulas.parts.items():
        if not np.allclose(
            own[name].ravel(), slope[part], rtol=1e-9, atol=1e-12 + 1e-9 * steepness
        ):
            raise ArithmeticError(
                f"at the start{at} the gradient in {name} is another one by the formula in numpy "
                f"than by its record: {HIDDEN} {_suspects(formulas)}"
            )
        way = _only(probe(theta.shape), part)
        way = way / (np.linalg.norm(way) or 1.0)

        def along(by, way=way):
            return float(formulas.model(theta + by * way, numbers).loss(data.X, data.y))

        sides = [(along(side) - loss) / side for side in (h, -h)]
        # One-sided differences: eps |loss| / h is 2e-10 |loss| for h = 1e-6.
        off = 1e-4 * steepness + 1e-9 * abs(loss) + 1e-12
        between = min(sides) - off <= way @ slope <= max(sides) + off
        if not between and not is_kink(along, h):
            raise ArithmeticError(
                f"at the start{at} the slope in {name} is between {min(sides)} and {max(sides)} by "
                f"differences of the loss, and {way @ slope} by its gradient: is that the gradient?"
            )


def _only(a, part):
    """An array with zeros outside of a part."""
    found = np.zeros_like(a)
    found[part] = a[part]
    return found


def _hidden(formulas, wanted: Any, found: Any) -> str:
    """What a number is by the formula and by its record, and what may be hidden from a record."""
    return f"{wanted} by the formula in numpy and {found} by its record: {HIDDEN} {_suspects(formulas)}"


def _suspects(formulas):
    """What in the data may compute otherwise in numpy than in doubles."""
    given = {name: getattr(formulas.data, name).dtype for name in formulas.arrays}
    whole = [
        f"{name}, which is {kind}? {name}.astype(float) computes as the page does"
        for name, kind in given.items()
        if kind.kind != "f"
    ]
    return " Or is it ".join(["NaN in the data, a root or a logarithm of 0?", *whole])
