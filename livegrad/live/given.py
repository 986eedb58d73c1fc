"""What a reader hands to ``live.figure``: taken, or refused by name.

Names that come from outside are texts to be shown and keys to be looked up. No program has them: it
numbers its arrays.
"""

from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import fields, is_dataclass, replace
from itertools import islice
from math import inf, isfinite
from numbers import Real
from reprlib import repr as short
from typing import Any
from unicodedata import normalize

import numpy as np

from livegrad.arrays import is_array, require_own_meaning, same_value, shown
from livegrad.live.spec import Control
from livegrad.model.contract import require_dataset, require_weights
from livegrad.model.weights import attributes, probe, weights, with_attributes
from livegrad.record.trace import Traced, Untraceable
from livegrad.training import Path

USED = {"loss", "steps", "stopped", "optimizer", "scaling"}
"""Names that a run in the page, or the sentence about it, uses for something else than a
control."""
MANY = 500
"""Values that a slider has room for."""
NAMED = 100
"""Sliders, and curves, that a figure has room for."""
WHOLE = 2**53
"""From here on a double is no longer every whole number."""


def require_text(argument: str, text: str) -> None:
    """Check that a text is one that a page and a file can hold.

    Raises TypeError if it is no text, ValueError if it has half of a character.
    """
    if not isinstance(text, str):
        raise TypeError(f"{argument}: expected a text, got {shown(text)}")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{argument}: expected whole characters, got {short(text)} with half of one, a lone "
            f"surrogate, at place {error.start}"
        ) from None


def tries_of(tries: Any) -> dict[str, dict[str, Any]]:
    """The words of a button → the values that it sets.

    Raises TypeError or ValueError where words are no text, or values no dictionary.
    """
    if tries is None:
        return {}
    if not isinstance(tries, Mapping):
        raise TypeError(
            "tries: expected a dictionary, the words of a button → the values that it sets, such "
            f"as {{'Ten times the step': {{'lr': 10.0}}}}, got {shown(tries)}"
        )
    for words, values in tries.items():
        require_text("tries", words)
        if not isinstance(values, Mapping):
            raise TypeError(
                f"tries: expected for {short(words)} a dictionary, name → value, got "
                f"{shown(values)}"
            )
    return {words: dict(values) for words, values in tries.items()}


# --- controls
# ---------------------------------------------------------------------------------------------------------


def numbers_of(rule: Any) -> dict[str, float]:
    """Name → number, of an update rule."""
    return {field.name: float(getattr(rule, field.name)) for field in fields(rule)}


def controls_of(controls: Any, rule: Any, start: Any) -> dict[str, Control]:
    """Name → control, with the value at the start from rule or model; without any the step size has
    one.

    Raises TypeError or ValueError for what no slider can have.
    """
    if controls is None:
        controls = {"lr": _around(float(rule.lr))}
    if not isinstance(controls, Mapping):
        raise TypeError(
            "controls: expected a dictionary, name → the values of its slider, such as "
            f"{{'lr': [0.1, 1.0]}}, got {type(controls).__name__}"
        )
    if not controls:
        raise ValueError(
            "controls: expected at least one name; leave controls out for a slider of the step size"
        )
    _require_room("controls", controls)
    found = {}
    for name, values in _as_python_reads("controls", controls).items():
        value = _number_at_start(name, rule, start)
        choices = _choices(name, values, value)
        _require_allowed(name, choices, rule if name in numbers_of(rule) else start)
        found[name] = Control(name, "step size η" if name == "lr" else name, choices, value)
    return found


def _around(lr):
    """A step size, and three about it."""
    others = (float(f"{lr * factor:.3g}") for factor in (0.1, 0.3, 3))
    return sorted({lr, *(other for other in others if 0 < other < inf)})


def _require_name(argument, name, example):
    if not isinstance(name, str):
        raise TypeError(f"{argument}: expected names such as {example}, got {short(name)}")
    if not name.isidentifier():
        raise ValueError(
            f"{argument}: expected names such as {example}, one word, got {short(name)}"
        )


def _number_at_start(name, rule, start):
    """The number that a rule or a model has under this name."""
    _require_name("controls", name, "lr")
    theirs, mine = numbers_of(rule), attributes(start)
    if name in theirs and name in mine:
        raise ValueError(
            f"controls: expected a name that only one of rule and model has, got {short(name)}; "
            "rename the number of the model"
        )
    if name in USED:
        raise ValueError(
            f"controls: expected a name that the figure does not use itself, got {short(name)}; "
            "rename the number of the model"
        )
    numbers = {
        known: value
        for known, value in (theirs | mine).items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    if name not in numbers and name in mine:
        raise ValueError(
            f"controls: expected a number of the model, got {short(name)}, which is "
            f"{shown(mine[name])}"
        )
    if name not in numbers:
        raise ValueError(
            f"controls: expected the name of a number of the rule or of the model "
            f"({', '.join(numbers)}), got {short(name)}"
        )
    value = numbers[name]
    return _finite(name, value)


def _choices(name, values, value):
    """The values of a slider as doubles, the one at the start as rule or model has it."""
    try:
        # These can be iterated, but as letters, names, or in no order.
        listed = (
            None
            if isinstance(values, (str, bytes, Mapping, Set))
            else list(islice(values, MANY + 1))
        )
    except TypeError:
        listed = None
    if listed is None:
        raise TypeError(
            f"controls: expected a list of numbers for {name}, got {type(values).__name__}"
        )
    if len(listed) > MANY:
        raise ValueError(f"controls: expected at most {MANY} values of {name}, got more")
    choices = [_finite(name, choice) for choice in listed]
    largest = max(map(abs, choices), default=0.0)
    # In order, equal values are neighbors: one pass compares what matters.
    ordered = sorted(choices)
    for one, other in zip(ordered, ordered[1:], strict=False):
        if same_value(one, other, largest):
            raise ValueError(f"controls: expected each value of {name} once, got {one} and {other}")
    same = [k for k, choice in enumerate(choices) if same_value(value, choice, largest)]
    if not same:
        more = " and more" if len(choices) > 9 else ""
        raise ValueError(
            f"controls: expected among the values of {name} the one at the start, {value}, "
            f"got {choices[:9]}{more}"
        )
    # The start must be one of the values exactly, which ``Control`` asks for.
    choices[same[0]] = value
    return tuple(choices)


def _finite(name, value):
    """A number as a double."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"controls: expected numbers as the values of {name}, got {short(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = inf
    if not isfinite(number):
        raise ValueError(
            f"controls: expected finite numbers as the values of {name}, got {short(value)}"
        )
    if number != value:
        raise ValueError(
            f"controls: expected values of {name} that a double holds, got {short(value)}"
        )
    return number


def _require_allowed(name, choices, of):
    """Check that rule or model takes all values of a slider as they are: a page asks nobody before
    it trains."""
    for choice in (
        choices if is_dataclass(of) and name in {field.name for field in fields(of)} else ()
    ):
        try:
            taken = getattr(replace(of, **{name: choice}), name)
        except ValueError as error:
            raise ValueError(f"controls: {error}") from None
        if taken != choice:
            raise ValueError(
                f"controls: expected values of {name} that {type(of).__name__} takes as they "
                f"are, got {choice}, of which it makes {short(taken)}"
            )


def _require_room(argument, named):
    if len(named) > NAMED:
        raise ValueError(f"{argument}: expected at most {NAMED} names, got {len(named):,}")


def _as_python_reads(argument, named):
    """The same dictionary with its names as Python reads them in a program: the sign µ is the
    letter μ."""
    found = {
        normalize("NFKC", name) if isinstance(name, str) else name: value
        for name, value in named.items()
    }
    if len(found) < len(named):
        raise ValueError(f"{argument}: expected each name once, got two that Python reads as one")
    return found


# --- curves
# -----------------------------------------------------------------------------------------------------------


def curves_of(curves: Any, controls: Collection[str]) -> dict[str, Callable[[Any, Any], Any]]:
    """Name → function of (model, data), which says the name when it fails.

    Raises TypeError or ValueError for names and functions that no curve can have.
    """
    curves = {} if curves is None else curves
    if not isinstance(curves, Mapping):
        raise TypeError(
            "curves: expected a dictionary, name → function of (model, data), got "
            f"{type(curves).__name__}"
        )
    _require_room("curves", curves)
    curves = _as_python_reads("curves", curves)
    for name, of in curves.items():
        _require_name("curves", name, "score")
        if name in ("loss", "grad_norm", *(field.name for field in fields(Path))) or hasattr(
            Path, name
        ):
            raise ValueError(
                f"curves: expected a name that a Path does not use itself, got {short(name)}"
            )
        if name in controls:
            raise ValueError(f"curves: expected names which are no control's, got {short(name)}")
        if not callable(of):
            raise TypeError(
                f"curves: expected for {short(name)} a function of (model, data), got {short(of)}"
            )
    first = {f"first_{name}" for name in ("loss", *curves)}
    for name in [*curves, *controls]:
        # the sentence below a figure says the first value of a curve by such a name
        if name in first:
            argument = "curves" if name in curves else "controls"
            raise ValueError(
                f"{argument}: expected a name that the figure does not use itself, got "
                f"{short(name)}"
            )
    return {name: _named(name, of) for name, of in curves.items()}


def _named(name, of):
    def measured(model, data):
        try:
            return of(model, data)
        except Untraceable as error:
            raise Untraceable(f"curves: {name}: {error}") from error
        except Exception as error:
            raise ValueError(f"curves: {name} raised {type(error).__name__}: {error}") from error

    return measured


def require_number(name: str, value: Any) -> None:
    """Check that a formula gave one recorded number.

    Raises Untraceable if it did not.
    """
    if isinstance(value, Traced) and not value.shape:
        return
    shape = getattr(value, "shape", ())
    got = (
        f"{type(value).__name__} of shape {shape}"
        if shape and not isinstance(value, Traced)
        else repr(value)
    )
    # An array of model or data itself stands in no line of the formula.
    of_formula = isinstance(value, Traced) and value.node.f != "input"
    line = f"{value.node.line}: " if of_formula else ""
    raise Untraceable(
        f"{line}{name}: expected one number that depends on model and data, got {got}"
    )


# --- model and data
# ---------------------------------------------------------------------------------------------------


def require_model(start: Any) -> None:
    """Check that a model is one that a page can train: with its weights by their numbers alone.

    Raises TypeError naming what it lacks, or what its class does beside.
    """
    for name in ("loss", "loss_and_grad"):
        if not hasattr(start, name):
            raise TypeError(
                "start: expected a model with loss(X, y), and weights that are arrays: a "
                "dataclass that extends livegrad.Vector, or a class with loss_and_grad, too; "
                f"got {type(start).__name__} without {name}"
            )
    for name, value in attributes(start).items():
        if is_array(value) and callable(getattr(type(start), name, None)):
            raise TypeError(
                f"start: expected weights whose names are no methods of {type(start).__name__}, "
                f"got {short(name)}; rename the weight"
            )
        if isinstance(value, np.generic):
            raise TypeError(
                f"{name}: expected an array in double precision, which is trained, or a number "
                f"of Python, which is not; got {type(value).__name__}: np.array({name}) is an "
                f"array, float({name}) a "
                "number"
            )
    _require_no_lone_numbers(start)
    require_weights("start", start)


def weights_of(start: Any) -> dict[str, np.ndarray]:
    """The weights of a model that a page can train, by name.

    Raises TypeError or ValueError if they are no arrays of doubles, or move otherwise than number
    by number.
    """
    found = weights(start)
    for name, value in found.items():
        _require_plain_array(name, value)
        if value.dtype != float:
            raise TypeError(
                f"{name}: expected an array in double precision, as the page computes, got "
                f"{value.dtype}; {name}.astype(float) is one"
            )
        if not np.isfinite(value).all():
            raise ValueError(f"{name}: expected finite numbers at the start, got NaN or infinity")
    _require_plain_operators(start, found)
    return found


def _require_plain_operators(start, found):
    """Check that points are added and multiplied number by number, which is how a page steps."""
    numbers = {name: probe(a.shape) for name, a in found.items()}
    other = with_attributes(start, numbers)
    # Also to either side of 0, where a clip or a projection would show.
    above = {name: abs(a) + 1.0 for name, a in found.items()}
    below = {name: -a for name, a in above.items()}
    for here in (found, above, below):
        moved = weights(with_attributes(start, here) - other * 0.5)
        if not all(
            np.allclose(moved[name], a - 0.5 * numbers[name], rtol=1e-12, atol=1e-12)
            for name, a in here.items()
        ):
            raise TypeError(
                f"start: expected points whose − and * act number by number, as the page steps, "
                f"got a {type(start).__name__} with operators of its own; train takes it"
            )


def _require_no_lone_numbers(start):
    """Check that a field which says that it is an array is one: a number of Python is not
    trained."""
    for field in fields(start) if is_dataclass(start) else ():
        value = getattr(start, field.name, None)
        if field.type in (np.ndarray, "np.ndarray") and isinstance(value, (int, float)):
            raise TypeError(
                f"{field.name}: expected an array, as the field of {type(start).__name__} says, "
                f"got the number {value!r}, which is not trained; np.array({float(value)}) is an "
                f"array of shape ()"
            )


def doubles_of(data: Any) -> dict[str, np.ndarray]:
    """The arrays of data by name, X and y first, in doubles.

    Raises TypeError or ValueError if X or y is missing, or an array of numbers is none that a
    double can hold.
    """
    require_dataset("data", data)
    given = {"X": data.X, "y": data.y}
    for name, value in given.items():
        if not is_array(value) or isinstance(value, np.generic) or _kind(value) not in "fiub":
            of = f" of {value.dtype}" if is_array(value) else ""
            raise TypeError(
                f"{name}: expected an array of numbers, got {type(value).__name__}{of}; "
                f"np.asarray({name}, float) is one"
            )
    for name, value in getattr(data, "__dict__", {}).items():
        if is_array(value) and not isinstance(value, np.generic) and _kind(value) in "fiub":
            given[name] = value
    for name, value in given.items():
        _require_plain_array(name, value)
    return {name: value.astype(float) for name, value in given.items()}


def _kind(value):
    return getattr(value.dtype, "kind", "f")


def _require_plain_array(name, value):
    """Check that an array is one of numpy's own, not empty, whose numbers are doubles or can be."""
    name = short(name) if not name.isidentifier() else name
    if not isinstance(value, np.ndarray):
        raise TypeError(
            f"{name}: expected a numpy array, got {type(value).__module__}.{type(value).__name__}; "
            f"{name}.detach().numpy() is one"
        )
    require_own_meaning(name, value)
    if not value.size:
        raise ValueError(f"{name}: expected an array with no empty axis, got shape {value.shape}")
    if value.dtype.kind == "f" and value.dtype.itemsize != 8:
        raise TypeError(
            f"{name}: expected an array in double precision, as the page computes, got "
            f"{value.dtype}; {name}.astype(float) is one"
        )
    # In Python's integers, because the absolute value of the least int64 overflows.
    if value.dtype.kind in "iu" and max(abs(int(value.max())), abs(int(value.min()))) > WHOLE:
        raise ValueError(
            f"{name}: expected whole numbers up to 2**53, which doubles can hold, got larger ones"
        )


class Given:
    """Data whose arrays are recorded; whatever else a formula asks of them, it gets as they have
    it."""

    def __init__(self, data: Any, arrays: Mapping[str, Traced]) -> None:
        self.__given = data
        self.__dict__.update(getattr(data, "__dict__", {}))
        # Last, so that records stand in the place of the arrays that the data have.
        self.__dict__.update(arrays)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__given, name)

    def __len__(self) -> int:
        return len(self.__given)
