"""What to run: the configurations of a grid, and the seeds."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import product

import numpy as np

from mhabook.studies.files import RESERVED
from mhalib._array import require_count, require_seed


def configurations(grid):
    """The configurations of a grid in order, as dicts of Python's own numbers, words and truth values.

    Raises
    ------
    TypeError, ValueError
        if the grid is empty, its configurations differ in names or kinds, or one of them occurs twice.
    """
    configs = [{name: _plain(name, value) for name, value in config.items()} for config in _listed(grid)]
    if not configs or any(config.keys() != configs[0].keys() for config in configs):
        raise ValueError("grid: expected one configuration or more, all of the same names, "
                         f"got {sorted({', '.join(config) for config in configs}) or 'none'}")
    for name in configs[0]:
        if len(kinds := {kind(np.array(config[name])) for config in configs}) > 1:
            raise TypeError(f"grid: expected {name} to be always of one kind, got {' and '.join(sorted(kinds))}")
    _require_distinct("grid", [words(config) for config in configs])
    return configs


def seed_list(seeds):
    """The seeds 0, 1, 2, … for a number of them, or those of a list.

    Raises
    ------
    ValueError
        if there is none, one is no whole number ≥ 0 (below 2⁶³), or one occurs twice.
    """
    if not isinstance(seeds, Iterable):
        require_count(seeds=seeds)
        seeds = range(seeds)
    seeds = list(seeds)
    for seed in seeds:
        require_seed(seed)
    if not seeds or max(seeds) >= 2 ** 63:
        raise ValueError(f"seeds: expected one or more below 2⁶³, got {max(seeds, default='none')}")
    _require_distinct("seeds", seeds)
    return [int(seed) for seed in seeds]


def words(config):
    """A configuration as it would be written in a call."""
    return ", ".join(f"{name}={value!r}" for name, value in config.items())


def kind(array):
    """What an array holds."""
    return {"b": "truth values", "U": "words"}.get(array.dtype.kind, "numbers")


def _listed(grid):
    if isinstance(grid, Mapping):
        for name, values in grid.items():
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise TypeError(f"grid: expected a list of values for {name}, got {values!r}")
        return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    listed = list(grid) if isinstance(grid, Iterable) else [grid]
    if not all(isinstance(config, Mapping) for config in listed):
        raise TypeError(f"grid: expected a dict name → values, or dicts name → value, got {grid!r:.80}")
    return listed


def _plain(name, value):
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, (bool, int, float, str)) or np.array(value).dtype.kind == "O":
        raise TypeError(f"grid: expected numbers, words, True and False, got {name}={value!r}; "
                        "build anything else inside of run")
    if not isinstance(name, str) or name in ("seed", *RESERVED):
        raise ValueError(f"grid: expected names other than seed, {', '.join(RESERVED)}, which are reserved, "
                         f"got {name!r}")
    return value


def _require_distinct(name, values):
    value, count = Counter(values).most_common(1)[0]
    if count > 1:
        raise ValueError(f"{name}: expected no entry twice, got {value} {count} times")
