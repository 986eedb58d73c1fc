"""What a run was given, in numbers and words that fit into a file: a run that goes on is given the
same."""

import re
from collections.abc import Iterable
from dataclasses import is_dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np

from livegrad.arrays import is_array, namespace, shown, to_numpy
from livegrad.model.weights import attributes, weights, with_weights
from livegrad.optim.clipping import name_of
from livegrad.own_rule import fingerprint
from livegrad.path import Path, RunState
from livegrad.vouched import PACKAGES


def recipe(
    model: Any,
    data: Any,
    test: Any,
    optimizer: Any,
    batch: int | None,
    seed: int,
    only: str | Iterable[str] | None,
) -> dict[str, Any]:
    """What decides a run beside how many steps it takes, name of an argument → what tells it from
    another."""
    return {
        "model": [type(model).__name__, *(_print(v) for v in sorted(attributes(model).items()))],
        "data": list(fingerprint(data)),
        "test": None if test is None else list(fingerprint(test)),
        "optimizer": name_of(optimizer),
        "batch": None if batch is None else int(batch),
        "seed": None if batch is None else int(seed),
        "only": None if only is None else list(model.chosen(only)),
        "rule": _words(optimizer),
    }


COMPARED = {
    "model": ("the one that {} began with", "another one"),
    "data": ("the samples of {}", "others"),
    "test": ("the test set of {}, or none where it had none", "another one"),
}
"""What a message says in place of numbers that tell things apart."""


def resumed(path: Any, given: dict[str, Any], model: Any, steps: int) -> RunState:
    """The state that a run goes on from, of its own arrays, for a model in place of its start.

    Raises TypeError or ValueError that names the argument which does not fit to the path.
    """
    if not isinstance(path, Path):
        raise TypeError(
            f"resume: expected a Path that train returned, got {shown(path)}; load(file) reads "
            "one that was saved"
        )
    if path.state is None:
        raise ValueError(
            f"resume: expected a path with a state, got one without"
            f"{f' ({path.stopped})' if path.stopped else ''}; start a new run from path[-1]"
        )
    state = path.state.copied()
    for name in ("model", "data", "test", "optimizer", "batch", "seed", "only"):
        was, now = state.recipe[name], given[name]
        if was != now:
            words = COMPARED.get(name, (f"{was}, as in {{}}", f"{now}"))
            raise ValueError(
                f"{name}: expected {words[0].format('the run that resume goes on with')}, got "
                f"{words[1]}; to change it, start a new run from the last model, path[-1]"
            )
    if steps <= state.k:
        raise ValueError(
            f"steps: expected more than the {state.k} that the path has taken, because steps are "
            f"counted from its start, got {steps}; for {steps} further ones write "
            f"steps={state.k + steps}"
        )
    for name, a in weights(model).items():
        namespace(**{f"model.{name}": a, f"resume.{name}": weights(state.model)[name]})
    # of the model come what its loss reads beside the weights, and the class
    return replace(state, model=with_weights(model, weights(state.model)))


def _words(optimizer):
    """A rule as it is written, to be read in a file: it is not compared."""
    return re.sub(" at 0x[0-9a-fA-F]+", "", str(optimizer))[:500] if is_dataclass(optimizer) else ""


def _print(named):
    """The name of an attribute, and what tells its value from another."""
    name, value = named
    if is_array(value):
        a = np.ascontiguousarray(to_numpy(value))
        return [name, str(a.dtype), list(value.shape), crc32(a.tobytes())]
    if value is None or isinstance(value, (bool, int, float, str)):
        return [name, repr(value)]
    # The words of a reader's object may be where it lies in memory.
    kind = type(value)
    of_ours = is_dataclass(value) and kind.__module__.partition(".")[0] in PACKAGES
    return [name, repr(value) if of_ours else kind.__name__]
