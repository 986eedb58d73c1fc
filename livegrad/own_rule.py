"""A step by an update rule that is not the package's own: it sees models, whatever form training
keeps θ in."""

from collections.abc import Callable
from typing import Any
from zlib import crc32

import numpy as np

from livegrad.arrays import is_array, to_numpy
from livegrad.model.contract import says_where
from livegrad.model.weights import attributes, weights
from livegrad.model.workspace import Workspace
from livegrad.optim import ENTRYWISE, Rule
from livegrad.optim.clipping import Clipped, name_of
from livegrad.vouched import is_vouched

LARGE = 1e15
"""Beyond this size numbers overflow in products of many."""


class NotANumber(ArithmeticError):
    """A rule returned NaN: the message says so."""


def on_models(
    rule: Rule, workspace: Workspace, model: Any, data: Any
) -> Callable[..., tuple[Any, Any]]:
    """``rule.step`` for θ in the form of a workspace. The rule itself gets and returns points like
    ``model``.

    Both are copied, so that a rule may write into them or keep them; but not for one that
    ``leaves_all``.

    The step raises TypeError if the rule returns anything but a pair whose first is a point of the
    model's class, with its shapes, library and dtypes, or has changed the data; NotANumber if that
    has NaN where weights and gradient have none.
    """
    before = fingerprint(data)

    def step(theta: Any, grad: Any, state: Any, k: int) -> tuple[Any, Any]:
        here, slope = workspace.unpack(theta), workspace.unpack(grad)
        moved, state = _required(rule.step(here * 1.0, slope * 1.0, state, k), model, name_of(rule))
        if fingerprint(data) != before:
            raise TypeError(
                f"data: expected data that {name_of(rule)}.step leaves as they are, got "
                f"others after step {k}; train in pieces, each from the last model on its own "
                f"data"
            )
        wrong = not_a_number(moved)
        if wrong and not _beyond(here) and not _beyond(slope):
            raise NotANumber(
                f"{name_of(rule)}.step returned NaN in {', '.join(wrong)} at step {k}, from "
                "a gradient that is finite: does it divide 0 by 0? Add a small number to the "
                "divisor."
            )
        return workspace.pack_unchecked(moved * 1.0), state

    def trusted(theta: Any, grad: Any, state: Any, k: int) -> tuple[Any, Any]:
        moved, state = rule.step(workspace.unpack(theta), workspace.unpack(grad), state, k)
        return workspace.pack_unchecked(moved), state

    return trusted if leaves_all(rule) else step


def leaves_all(rule: Rule) -> bool:
    """Whether a rule is known to write into nothing: one of the package, or one that is
    ``vouched``, also behind ``clip``."""
    if isinstance(rule, Clipped):
        return leaves_all(rule.rule)
    return type(rule) in ENTRYWISE or is_vouched(type(rule))


def fingerprint(data: Any) -> tuple[int, ...]:
    """A number for each array of the data, which is another one after a change."""
    return tuple(
        0 if a is None else crc32(np.ascontiguousarray(to_numpy(a)).data.cast("B"))
        for a in (data.X, data.y)
    )


def require_steady(name: str, data: Any) -> None:
    """Check that data have the same numbers whenever they are asked.

    Raises TypeError if they do not.
    """
    # A property may build an equal array at each access, which is fine; identity spares the usual
    # case four checksums.
    if not (data.X is data.X and data.y is data.y) and fingerprint(data) != fingerprint(data):
        raise TypeError(
            f"{name}: expected arrays X and y that stay as they are, got others at the second "
            "look; train in pieces, each on data of its own"
        )


def _beyond(model):
    """Whether a point has NaN, or numbers so large that a rule may overflow on them: then the run
    diverges."""
    # Negated so that NaN, for which every comparison is false, counts as beyond.
    return any(not (abs(to_numpy(a)) < LARGE).all() for a in weights(model).values())


def not_a_number(model: Any) -> list[str]:
    """The names of the weights among whose entries is NaN."""
    return [name for name, a in weights(model).items() if np.isnan(to_numpy(a)).any()]


def not_finite(model: Any) -> list[str]:
    """The names of the weights among whose entries is NaN or infinity."""
    return [name for name, a in weights(model).items() if not np.isfinite(to_numpy(a)).all()]


def _required(answer, model, name):
    """What a rule returned, if it is a point like the model, and a state."""
    expected = f"optimizer: expected {name}.step to return the pair of a {type(model).__name__} and a state"
    if not (isinstance(answer, tuple) and len(answer) == 2):
        raise TypeError(f"{expected}, got {_kind(answer)}")
    moved, _ = answer
    if type(moved) is not type(model):
        raise TypeError(f"{expected}, got {_kind(moved)} in place of the {type(model).__name__}")
    found = weights(moved)
    for weight, a in weights(model).items():
        if weight not in found or _kind(found[weight]) != _kind(a):
            got = _kind(found[weight]) if weight in found else "none"
            raise TypeError(f"{expected}, with {weight} as {_kind(a)}, got {got}")
    others = {} if says_where(type(model)) else attributes(model)
    for attribute, mine in others.items():
        if attribute not in found and not _same(attributes(moved).get(attribute), mine):
            raise TypeError(
                f"{expected}, of which only weights move, got one with another {attribute}; "
                f"train in pieces, each from the last model with its new {attribute}"
            )
    return answer


def _same(one, other):
    """Whether a rule has left this as it was."""
    if one is other:
        return True
    if is_array(one) or is_array(other):
        return is_array(one) and is_array(other) and np.array_equal(to_numpy(one), to_numpy(other))
    # The types first: 1 == True, and two classes may call unlike things equal.
    return type(one) is type(other) and bool(one == other)


def _kind(value):
    """Type, dtype and shape of a value, in words."""
    if not is_array(value):
        return type(value).__name__
    library = type(value).__module__.partition(".")[0]
    dtype = str(value.dtype).removeprefix("torch.")
    return f"an array of {library}, {dtype}, shape {tuple(value.shape)}"
