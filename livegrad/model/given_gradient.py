"""Is the gradient that a model brings the slope of its loss? Asked where a run or a landscape
begins."""

from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from livegrad.arrays import Array, as_like, is_array, require_count, shown, to_numpy
from livegrad.model.contract import require_dataset, require_weights
from livegrad.model.vector import Vector
from livegrad.model.weights import attributes, probe, require_left, weights, with_weights
from livegrad.vouched import is_vouched

# Well above √ε, so the rounding of a difference, about ε/step, stays far below TOLERANCES.
STEPS = {8: 1e-6, 4: 3e-3}
"""How far to look to both sides, relative to the weights, by the bytes of a number."""
TOLERANCES = {8: 1e-4, 4: 3e-2}
"""How far the slope may be from a difference of the loss, relative to the gradient."""
CURE = (
    "is that its gradient? A subclass that changes what its loss is made of writes "
    "loss_and_grad, too, or says loss_and_grad = livegrad.Vector.loss_and_grad, which derives "
    "it"
)


NEAR = 0.1
"""How far beside the start the gradient is compared too: at special weights, such as zeros, a wrong
one may be right."""


def require_gradient(model: Any, X: Array, y: Array) -> None:
    """Check that ``loss_and_grad`` gives the loss of ``loss``, and its slope along a direction that
    moves all weights; at the start and beside it.

    At a kink it is compared beside it alone. Models that are ``vouched`` are not asked, nor those
    that write their loss alone.

    Raises ArithmeticError that names the class; TypeError as ``require_left``, or if
    ``loss_and_grad`` gives something else than one number and a point of the model's shapes.
    """
    kind = type(model)
    if not _has_own_gradient(kind):
        return
    before = attributes(model)
    with np.errstate(all="ignore"):
        found = model.loss_and_grad(X, y)
    require_left("loss_and_grad", model, before, attributes(model))
    _require_pair(model, found)
    if not _can_be_compared(model):
        return
    with np.errstate(all="ignore"):
        model.loss(X, y)
        require_left("loss", model, before, attributes(model))
        _require_slope("at the start", model, X, y)
        _require_slope("near the start", _beside(model), X, y)


def require_end(model: Any, X: Array, y: Array) -> None:
    """Check at the end of a run as ``require_gradient`` at its start: a term that is flat there,
    such as a sixth power at zero, is not flat here.

    Raises ArithmeticError that names the class.
    """
    if _has_own_gradient(type(model)) and _can_be_compared(model):
        with np.errstate(all="ignore"):
            _require_slope("at the end of the run", model, X, y)


def require_samples(model: Any, X: Array, y: Array, batch: int) -> None:
    """Check that a loss is one of samples that stand in X and y alone, so that a minibatch has one:
    it takes so many of them, and is the same for all in another order; and that a gradient which
    the model brings is its slope there, too.

    Models that are ``vouched`` are not asked.

    Raises ValueError that says what a number of a single sample would have to be; ArithmeticError
    as ``require_gradient``.
    """
    if is_vouched(type(model)):
        return
    order = np.random.default_rng(0).permutation(len(X))
    cure = "put numbers that belong to samples into X or y"
    # Also beside the start, where a weight for each sample may be the same for all. Both are
    # copies, into which a loss may write.
    for point in (_beside(model, 0.0), _beside(model)):
        before, again, after = (_loss(point, X[rows], y[rows]) for rows in (..., ..., order))
        part = order[:batch]
        try:
            _loss(point, X[part], y[part])
        except (ValueError, IndexError, RuntimeError, TypeError) as error:
            raise ValueError(
                f"batch: expected a loss of any {len(part)} samples, got {type(error).__name__}: "
                f"{error}; {cure}"
            ) from error
        close = {"rtol": 1e-9 if _bytes(model) == 8 else 1e-3, "atol": 1e-12}
        if not np.isfinite([before, again, after]).all():
            continue
        if not np.isclose(before, again, **close):
            from livegrad.record.trace import HIDDEN  # loads what a bare import leaves out

            raise ValueError(
                f"batch: expected the same loss of the same samples and weights, got {before:.6g} "
                f"and {again:.6g}: {HIDDEN}"
            )
        if not np.isclose(before, after, **close):
            raise ValueError(
                f"batch: expected the same loss of the samples in another order, got {before:.6g} "
                f"and {after:.6g}; {cure}"
            )
    if _has_own_gradient(type(model)) and _can_be_compared(model):
        where = f"near the start, of {len(part)} samples,"
        with np.errstate(all="ignore"):
            _require_slope(where, _beside(model), X[part], y[part])


def is_kink(along: Callable[[float], float], h: float, rounding: float = 2.0**-52) -> bool:
    """Whether a loss has slopes to either side that differ, as that of a ReLU at zeros: more than
    one gradient is right there.

    ``along`` gives the loss so far along a direction. On a quarter of the way what a smooth loss
    bends is a quarter, and a kink is what it was.
    """
    here = along(0.0)
    wide, narrow = (abs(along(by) + along(-by) - 2 * here) / by for by in (h, h / 4))
    return narrow > wide / 2 + 80 * rounding * abs(here) / h


def _loss(model, X, y):
    """The loss as a number, without recording a gradient."""
    with np.errstate(all="ignore"):
        return float(model.loss(X, y) if hasattr(model, "loss") else model.loss_and_grad(X, y)[0])


def _require_pair(model, found):
    """Check that ``loss_and_grad`` gives one number, and a point with the weights of the model."""
    kind = type(model).__name__
    if not isinstance(found, (tuple, list)) or len(found) != 2:
        raise TypeError(f"{kind}.loss_and_grad: expected the loss and a {kind}, got {shown(found)}")
    loss, grad = found
    if getattr(loss, "ndim", 0) or not (is_array(loss) or isinstance(loss, Real)):
        raise TypeError(
            f"{kind}.loss_and_grad: expected a loss that is one number, got {shown(loss)}"
        )
    if not callable(getattr(grad, "dot", None)) or is_array(grad):
        raise TypeError(
            f"{kind}.loss_and_grad: expected a {kind} that holds the derivatives, got {shown(grad)}"
        )
    shapes = [{name: tuple(a.shape) for name, a in weights(of).items()} for of in (model, grad)]
    if shapes[0] != shapes[1]:
        raise TypeError(
            f"{kind}.loss_and_grad: expected a {kind} with derivatives of shapes {shapes[0]}, got "
            f"{type(grad).__name__} with {shapes[1]}"
        )


def _has_own_gradient(kind):
    """Whether a class writes a gradient that nobody vouches for."""
    return not is_vouched(kind) and kind.loss_and_grad is not Vector.loss_and_grad


def _can_be_compared(model):
    """Whether a model has a loss whose differences say its slope."""
    return hasattr(type(model), "loss") and _bytes(model) in STEPS


def _bytes(model):
    """Of the smallest number among the weights."""
    return min(a.dtype.itemsize for a in weights(model).values())


def _beside(model, far=NEAR):
    """The model with other weights, so far away, in arrays of its own."""
    near = {
        name: as_like(to_numpy(a) + far * probe(tuple(a.shape), first=3), a)
        for name, a in weights(model).items()
    }
    return with_weights(model, near)


def _require_slope(where, model, X, y):
    """The same at one point."""
    kind, moving, size = type(model).__name__, weights(model), _bytes(model)
    loss, grad = model.loss_and_grad(X, y)
    loss, own = float(loss), float(model.loss(X, y))
    slopes = {name: to_numpy(a) for name, a in weights(grad).items()}
    if not (
        np.isfinite(own)
        and slopes.keys() == moving.keys()
        and all(map(_is_finite, slopes.values()))
    ):
        return  # the run says so
    rounding = 2.0 ** (-52 if size == 8 else -23)
    if not np.isclose(loss, own, rtol=rounding**0.5, atol=rounding):
        raise ArithmeticError(
            f"{where} the loss is {own:.6g} by {kind}.loss, and {loss:.6g} by its "
            f"loss_and_grad: {CURE}"
        )
    far = STEPS[size] * max(1.0, float(model.dot(model)) ** 0.5)
    way = with_weights(
        model,
        {
            name: as_like(probe(a.shape, first=k + 1), moving[name])
            for k, (name, a) in enumerate(slopes.items())
        },
    )
    way = way * (1.0 / float(way.dot(way)) ** 0.5)

    def along(by):
        return float((model + way * by).loss(X, y))

    sides = [(along(by) - own) / by for by in (far, -far)]
    slope, steepness = float(grad.dot(way)), float(grad.dot(grad)) ** 0.5
    # The second term is the rounding of two losses, magnified by the division by the step.
    off = TOLERANCES[size] * steepness + 20 * rounding * max(1.0, abs(own)) / far
    if not np.isfinite(sides).all() or min(sides) - off <= slope <= max(sides) + off:
        return
    if not is_kink(along, far, rounding):
        raise ArithmeticError(
            f"{where} the loss rises by {sum(sides) / 2:.6g} along a direction in which all "
            f"weights move, by differences of {kind}.loss, and by {slope:.6g} by its "
            f"loss_and_grad: {CURE}"
        )


def _is_finite(a):
    return bool(np.isfinite(a).all())


class SlopeError(NamedTuple):
    """How far a gradient is from differences of the loss, in one weight: the norm of what they
    differ by, relative to the larger of the two; and the entry that differs most, with both
    numbers."""

    relative: float
    entry: tuple[int, ...]
    gradient: float
    difference: float


def check_gradient(model: Any, data: Any, entries: int = 200) -> dict[str, SlopeError]:
    """Compare the gradient of ``loss_and_grad`` with central differences of ``loss``: weight → how
    far it is from them, at the model or beside it, wherever that is farther: at special weights,
    such as zeros, a wrong gradient may be right.

    Of each weight so many ``entries`` are tried, evenly spaced, or all. A right gradient is off by
    about 1e-9 in double precision, and 1e-3 in single. At a kink, such as that of a ReLU at zeros,
    an entry is compared beside the model alone.

    Raises TypeError as ``require_weights``, if data have no arrays X and y, or ``loss_and_grad``
    gives something else than one number and a point of the model's shapes; ValueError if entries is
    no whole number ≥ 1, or the loss is not finite.

    Examples
    --------
    >>> from livegrad.examples.logistic_regression import LogisticRegression, clouds
    >>> found = lg.check_gradient(LogisticRegression(np.array([0.3, -0.2])), clouds())
    >>> found["w"].relative < 1e-8
    True
    """
    require_weights("model", model)
    require_dataset("data", data)
    require_count(entries=entries)
    loss, grad = model.loss_and_grad(data.X, data.y)
    _require_pair(model, (loss, grad))
    if not np.isfinite(float(loss)):
        raise ValueError(f"model: expected one whose loss is finite, got {float(loss)}")
    here = _errors(model, grad, data, entries)
    with np.errstate(all="ignore"):
        beside = _beside(model)
        loss, grad = beside.loss_and_grad(data.X, data.y)
        there = _errors(beside, grad, data, entries) if np.isfinite(float(loss)) else here
    return {
        name: there[name] if there[name].relative > error.relative else error
        for name, error in here.items()
    }


def _errors(model, grad, data, entries):
    slopes = weights(grad)
    return {
        name: _error(model, data, name, a, to_numpy(slopes[name]), entries)
        for name, a in weights(model).items()
    }


def _error(model, data, name, a, slope, entries):
    """How far the slope in one weight is from differences."""
    size, here = a.dtype.itemsize, to_numpy(a)
    tried = np.unique(np.linspace(0, here.size - 1, min(entries, here.size)).astype(int))
    own, differences = slope.ravel()[tried].astype(float), np.empty(len(tried))
    tolerance = TOLERANCES[8 if size == 8 else 4] * np.linalg.norm(own)
    for k, entry in enumerate(tried):
        at = np.unravel_index(entry, here.shape)
        h = (6e-6 if size == 8 else 5e-3) * max(1.0, abs(float(here[at])))

        def end(by, at=at):
            moved = here.copy()
            moved[at] += by
            there = with_weights(model, {name: as_like(moved, a)})
            return float(there.loss(data.X, data.y)), float(moved[at])

        (up, right), (down, left) = end(h), end(-h)
        differences[k] = (up - down) / (right - left)
        if abs(own[k] - differences[k]) > tolerance and is_kink(
            lambda by, end=end: end(by)[0], h, 2.0 ** (-52 if size == 8 else -23)
        ):
            differences[k] = own[k]
    off, worst = own - differences, int(np.argmax(abs(own - differences)))
    scale = max(np.linalg.norm(own), np.linalg.norm(differences))
    return SlopeError(
        float(np.linalg.norm(off) / scale) if scale else 0.0,
        tuple(int(i) for i in np.unravel_index(tried[worst], here.shape)),
        float(own[worst]),
        float(differences[worst]),
    )
