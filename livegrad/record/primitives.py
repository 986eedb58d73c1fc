"""Elementwise functions that formulas may call beside those that are here, added by whoever needs
them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from livegrad.record import cpp, javascript, numeric, trace
from livegrad.record import derivatives as derived

TRIED = (-1.7, -0.6, 0.3, 1.2)
"""Where a derivative is compared with differences, unless something else is said."""
# Central differences err by about STEP², and in rounding by about 1e-16 / STEP.
STEP, TOLERANCE = 1e-5, 1e-7


def primitive(
    name: str,
    function: Callable[..., Any],
    derivatives: Callable[..., Sequence[Any]],
    form: str,
    *,
    compiled: str | None = None,
    tried: Sequence[float] = TRIED,
) -> Callable[..., Any]:
    """Add an elementwise function to what is recorded, differentiated and printed.

    What numpy has under this name, formulas call as they always did: ``np.cosh(x)``. Anything else
    they call by what is returned here, which takes numbers, numpy's arrays and recorded ones.

    Parameters
    ----------
    name : of the function, as numpy has it if it does
    function : the function of numpy's arrays
    derivatives : its value and its arguments → its derivative in each argument, written in what is
        recorded already
    form : the function in JavaScript, with ``{}`` for each argument, such as ``Math.cosh({})``; it
        is not run here, but a live figure compares what it gives with numpy before it trains
    compiled : the same in C++, of the functions in runtime.h; without it there is no compiled
        program
    tried : numbers at which the derivatives are compared with differences, for each argument the
        same

    Raises ValueError if the name is no identifier, or known already, the function is not
    elementwise, or the forms do not have a place for each argument; ArithmeticError if a derivative is
    not that of the function; Untraceable if one cannot be recorded.

    Examples
    --------
    >>> from livegrad.record import array, evaluate, gradient, primitive
    >>> softsign = primitive("softsign", lambda x: x / (1 + abs(x)), lambda v, x: [(1 - abs(v)) ** 2],
    ...                      "({0} / (1 + Math.abs({0})))")
    >>> x = array("x", (2,))
    >>> slope, = gradient(softsign(x).sum(), [x])
    >>> evaluate([slope], {"x": np.array([0.0, 1.0])})[0].tolist()
    [1.0, 0.25]
    """
    _require_new(name)
    arguments = _count(derivatives)
    for text in (form, compiled):
        _require_form(text, arguments)
    # Added before it is checked, because the check records and differentiates it.
    derived.PARTIALS[name] = lambda value, *args: list(derivatives(value, *args))
    numeric.NUMPY[name] = function
    trace.FUNCTIONS[name] = partial(trace.elementwise, name)
    javascript.FORMS[name] = form
    if compiled is not None:
        cpp.FUNCTIONS[name] = compiled
    try:
        points = np.meshgrid(*[np.array(tried, dtype=float)] * arguments)
        _require_elementwise(name, function, points)
        _require_derivatives(name, function, points)
    except Exception:
        _forget(name)
        raise

    def either(*args: Any) -> Any:
        is_recorded = any(isinstance(x, trace.Traced) for x in args)
        return trace.elementwise(name, *args) if is_recorded else function(*args)

    return either


def _forget(name):
    """Take back what was added."""
    for known in (
        derived.PARTIALS,
        numeric.NUMPY,
        trace.FUNCTIONS,
        javascript.FORMS,
        cpp.FUNCTIONS,
    ):
        known.pop(name, None)


def _require_new(name):
    if not (isinstance(name, str) and name.isascii() and name.isidentifier()):
        raise ValueError(f"name: expected letters of ASCII, digits and _, got {name!r:.80}")
    if name in trace.FUNCTIONS or name in derived.PARTIALS or name in derived.PULLBACKS:
        raise ValueError(f"name: expected one that is not recorded yet, got {name!r}")


def _count(derivatives):
    """The number of arguments: one parameter is the value."""
    try:
        count = derivatives.__code__.co_argcount - 1
    except AttributeError:
        raise TypeError(
            f"derivatives: expected a function, got {type(derivatives).__name__}"
        ) from None
    if count < 1:
        raise TypeError(
            "derivatives: expected a function of the value and the arguments, such as lambda v, "
            "x: [1 / x]"
        )
    return count


def _require_form(text, arguments):
    if text is None:
        return
    try:
        printed = text.format(*(f"argument{k}" for k in range(arguments)))
    except (IndexError, KeyError, ValueError) as error:
        raise ValueError(
            f"form: expected {arguments} places such as {{}} in {text!r:.80}: {error}"
        ) from None
    missing = [k for k in range(arguments) if f"argument{k}" not in printed]
    if missing:
        raise ValueError(
            f"form: expected a place for each of {arguments} arguments in {text!r:.80}"
        )


def _require_elementwise(name, function, points):
    """Check that a function does to an array what it does to each of its entries."""
    whole = np.asarray(function(*points))
    each = [function(*(a.flat[k : k + 1] for a in points)) for k in range(points[0].size)]
    # Up to rounding: of an array numpy may take another way than of a number.
    if whole.shape != points[0].shape or not np.allclose(
        whole.ravel(), np.ravel(each), 1e-12, 0.0, equal_nan=True
    ):
        raise ValueError(
            f"{name}: expected a function that does to an array what it does to each entry; write "
            "others, such as a mean, by functions that are recorded"
        )


def _require_derivatives(name, function, points):
    """Compare the recorded derivatives with differences, at every combination of the numbers."""
    points = {f"x{k}": a for k, a in enumerate(points)}
    inputs = [trace.array(x, a.shape) for x, a in points.items()]
    found = numeric.evaluate(
        derived.gradient(trace.elementwise(name, *inputs).sum(), inputs), points
    )
    for k, derivative in enumerate(found):
        above, below = (
            [a + STEP * sign * (j == k) for j, a in enumerate(points.values())] for sign in (1, -1)
        )
        wanted = (function(*above) - function(*below)) / (2 * STEP)
        off = abs(derivative - wanted) > TOLERANCE * (1 + abs(wanted))
        if off.any() or not np.isfinite(derivative).all():
            # nanargmax raises where all are NaN.
            worst = np.nanargmax(abs(derivative - wanted)) if np.isfinite(derivative).any() else 0
            at = ", ".join(f"{a.flat[worst]:g}" for a in points.values())
            raise ArithmeticError(
                f"{name}: at {at} the derivative in argument {k + 1} is "
                f"{derivative.flat[worst]:.6g} by `derivatives`, and {wanted.flat[worst]:.6g} by "
                f"differences of `function`"
            )
