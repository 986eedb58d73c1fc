"""``sweep``: one function over a grid and seeds, wherever joblib can reach; and how
``book/results`` writes tables."""

import argparse
import hashlib
import json
import os
import platform
import re
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from inspect import getsource, isfunction, signature, unwrap
from itertools import product
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import joblib
import numpy as np
from joblib.parallel import get_active_backend
from threadpoolctl import threadpool_limits

import mhalib
from livegrad.arrays import require_count, require_seed
from livegrad.walk import interrupts_raised
from mhabook.tables import RESERVED, Table, stored

__all__ = ["Table", "stored", "sweep"]


def sweep(
    run: Callable[..., Any],
    grid: Any,
    seeds: int | Iterable[int] = 5,
    *,
    cache: str | Path | None = None,
    progress: bool = True,
) -> Table:
    """Call ``run(seed=…, **configuration)`` for every configuration of a grid and every seed: a
    table of the results.

    The runs go to all cores, one a core with one thread each. Inside
    ``joblib.parallel_config(...)`` they go where that says, with no other change: ``n_jobs=1`` for
    this process alone, ``"dask"`` for the cluster whose ``Client`` is open. On machines of one kind
    the table is the same wherever it was made, bit by bit, if ``run`` depends on its arguments
    alone: whether ``mhalib.train`` is compiled does not depend on what ran before, but on the
    machine.

    Parameters
    ----------
    run : a function defined at the top level of a file or notebook, or a ``functools.partial`` of
        one. It returns a dict name → number, word or array, of the same names and shapes in every
        run; or a list of such dicts, a row each, with what tells it from the others among them
    grid : a dict name → values, of which the product is taken, the last name varying fastest; or
        dicts of the same names. The values are numbers, words, True and False. No column can be
        called about, allow_pickle or file
    seeds : how many seeds, 0, 1, 2, …; or a list of them
    cache : a folder. Every run is kept there as soon as its result arrives, in a file that
        ``Table.load`` reads, and is not done again: an interrupted sweep goes on where it was. A
        run counts as the same if configuration, seed, mhalib's version, the source of ``run`` and
        what a ``partial`` binds are; what ``run`` calls is not looked at, so take another folder
        after a change there. What cannot be read is named in a warning, and its run done again. A
        file holds numbers and words, no pickle, so it runs no code; but its numbers are believed,
        so whoever may write to the folder may change your results
    progress : whether joblib says now and then how many of the runs that are left are done. It
        writes to stderr, and nothing where that is a file. A page of the book says False

    Raises
    ------
    TypeError, ValueError
        if an argument does not fit, or nothing can be written to the cache, before any run; or if
        two runs return different names, kinds or shapes.
    RuntimeError
        as soon as a run fails, or returns what cannot be a column, with its configuration, seed and
        traceback. What is finished stays in the cache.
    """
    configs, seeds = configurations(grid), seed_list(seeds)
    # One configuration speaks for all: they have the same names.
    _require_run(run, configs[0])
    tasks = [(config, seed) for config in configs for seed in seeds]
    kept = None if cache is None else Kept(_writable(cache), origin(run))
    done = {k: found for k, task in enumerate(tasks) if kept and (found := kept.load(*task))}
    first = next(iter(done.values()), None)
    # Kept results are compared before anything runs, so that a mismatch costs no time.
    for k, result in done.items():
        _require_alike(_form(result), _form(first), tasks[k])
    missing = {k: task for k, task in enumerate(tasks) if k not in done}
    # The limit of the whole is for runs in threads of this process, of which each would lift that
    # of the others.
    with (
        threadpool_limits(1),
        interrupts_raised(),
        _ended(_results(run, missing, progress)) as results,
    ):
        for k, returned, failure in results:
            if failure:
                raise RuntimeError(f"the run with {_words(*tasks[k])} failed: {failure}")
            done[k] = _rows(*returned, first, tasks[k])
            first = first or done[k]
            if kept:
                kept.save(*tasks[k], done[k])
    # Results come in any order; the table has that of the grid.
    return _table(run, tasks, [done[k] for k in range(len(tasks))])


# What to run


def configurations(grid: Any) -> list[dict[str, Any]]:
    """The configurations of a grid in order, as dicts of Python's own numbers, words and truth
    values.

    Raises TypeError or ValueError if the grid is empty, its configurations differ in names or
    kinds, or one of them occurs twice.
    """
    configs = [
        {name: _plain(name, value) for name, value in config.items()} for config in _listed(grid)
    ]
    if not configs or any(config.keys() != configs[0].keys() for config in configs):
        raise ValueError(
            "grid: expected one configuration or more, all of the same names, "
            f"got {sorted({', '.join(config) for config in configs}) or 'none'}"
        )
    for name in configs[0]:
        # One column holds one kind: NumPy would turn True beside 2 into 1, and 2 beside a word into
        # "2".
        if len(kinds := {_kind(np.array(config[name])) for config in configs}) > 1:
            raise TypeError(
                f"grid: expected {name} to be always of one kind, got {' and '.join(sorted(kinds))}"
            )
    _require_distinct("grid", [_words(config) for config in configs])
    return configs


def seed_list(seeds: int | Iterable[int]) -> list[int]:
    """The seeds 0, 1, 2, … for a number of them, or those of a list.

    Raises ValueError if there is none, one is no whole number ≥ 0 (below 2⁶³), or one occurs twice.
    """
    if not isinstance(seeds, Iterable):
        require_count(seeds=seeds)
        seeds = range(seeds)
    seeds = list(seeds)
    for seed in seeds:
        require_seed(seed)
    if not seeds or max(seeds) >= 2**63:
        raise ValueError(f"seeds: expected one or more below 2⁶³, got {max(seeds, default='none')}")
    _require_distinct("seeds", seeds)
    # Python's own numbers: the key of a kept run is JSON, which takes none of NumPy's.
    return [int(seed) for seed in seeds]


def _listed(grid):
    if isinstance(grid, Mapping):
        for name, values in grid.items():
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise TypeError(f"grid: expected a list of values for {name}, got {values!r}")
        return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    listed = list(grid) if isinstance(grid, Iterable) else [grid]
    if not all(isinstance(config, Mapping) for config in listed):
        raise TypeError(
            f"grid: expected a dict name → values, or dicts name → value, got {grid!r:.80}"
        )
    return listed


def _plain(name, value):
    value = value.item() if isinstance(value, np.generic) else value
    # An integer of more than 64 bits would make a column of objects.
    if not isinstance(value, (bool, int, float, str)) or np.array(value).dtype.kind == "O":
        raise TypeError(
            f"grid: expected numbers, words, True and False, got {name}={value!r}; "
            "build anything else inside of run"
        )
    if not isinstance(name, str) or name in ("seed", *RESERVED):
        raise ValueError(
            f"grid: expected names other than seed, {', '.join(RESERVED)}, which are reserved, "
            f"got {name!r}"
        )
    return value


def _require_distinct(name, values):
    value, count = Counter(values).most_common(1)[0]
    if count > 1:
        raise ValueError(f"{name}: expected no entry twice, got {value} {count} times")


def _words(config, *seed):
    """A configuration, perhaps with its seed, as it would be written in a call."""
    return ", ".join(
        f"{name}={value!r}" for name, value in (*config.items(), *(("seed", one) for one in seed))
    )


def _kind(array):
    return {"b": "truth values", "U": "words"}.get(array.dtype.kind, "numbers")


def _require_run(run, config):
    function = _inner(run)
    if (
        not isfunction(function)
        or function.__qualname__ != function.__name__
        or function.__name__ == "<lambda>"
    ):
        raise TypeError(
            "run: expected a function defined at the top level of a file or notebook, or a "
            f"functools.partial of one, so that other processes find it; got {function!r}"
        )
    try:
        signature(run).bind(seed=0, **config)
    except TypeError as error:
        raise TypeError(
            f"run: expected a function of {', '.join([*config, 'seed'])}; {error}"
        ) from None


def _inner(run):
    """The function itself, also of a ``partial``."""
    return run.func if isinstance(run, partial) else run


def _name(run):
    return f"{_inner(run).__module__}.{_inner(run).__qualname__}"


# The runs, and what is kept of them


class Kept:
    """The finished runs of a function in a folder: of each a table of its rows, which says what
    they come from."""

    def __init__(self, folder: Path, origin: Mapping[str, str]) -> None:
        self.folder: Path = folder
        self.origin: dict[str, str] = dict(origin)

    def load(self, config: Mapping[str, Any], seed: int) -> Table | None:
        """The rows of a run; None if it has to run, with a warning if there is something else in
        its place."""
        path = self._path(config, seed)
        if not path.is_file():
            return None
        try:
            table = Table.load(path)
            about = table.about
            # The file says itself which run it is: one that was renamed or copied is not believed.
            if _text(about.get("of")) != self._of(config, seed) or not isinstance(
                about.get("versions"), dict
            ):
                raise ValueError(f"{path}: not the run with {_words(config, seed)}")
        except (OSError, ValueError) as error:
            warnings.warn(f"cache: {error}; the run is done again", RuntimeWarning, stacklevel=3)
            return None
        return table

    def save(self, config: Mapping[str, Any], seed: int, rows: Table) -> None:
        """Keep the rows of a run."""
        of = json.loads(self._of(config, seed))
        Table(rows.columns, {**rows.about, "of": of}).save(self._path(config, seed))

    def _of(self, config, seed):
        return _text({**self.origin, "configuration": dict(config), "seed": seed})

    def _path(self, config, seed):
        return (
            # 32 hexadecimal digits are 128 bits: no two runs meet by chance.
            self.folder / f"{hashlib.sha256(self._of(config, seed).encode()).hexdigest()[:32]}.npz"
        )


def _text(about):
    # Sorted, so that a grid with its names in another order finds the same runs.
    return json.dumps(about, sort_keys=True)


def _writable(cache):
    """The folder of a cache, made if it is not there."""
    if not isinstance(cache, (str, os.PathLike)):
        raise TypeError(f"cache: expected a folder, got {type(cache).__name__}")
    folder = Path(cache).expanduser()
    if why := unwritable(folder):
        raise ValueError(f"cache: expected a folder to write to: {why}")
    return folder


def unwritable(folder: Path) -> str:
    """Why no file can be written to a folder, which is made if it is not there; nothing if one
    can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Tried, not asked: permission bits do not tell of a disk that is mounted read-only.
        TemporaryFile(dir=folder).close()
    except OSError as error:
        return str(error)
    return ""


def origin(run: Callable[..., Any]) -> dict[str, str]:
    """What results depend on besides configuration and seed: the function's name and source, what
    is bound to it.

    Raises ValueError if the source cannot be read.
    """
    try:
        function = unwrap(_inner(run))
        # from exec; Python 3.13 reads the text of `python -c` for it
        if function.__code__.co_filename == "<string>":
            raise OSError
        source = getsource(function)
    except (OSError, TypeError):
        raise ValueError(
            "cache: the source of run cannot be read, so a change of it would go unnoticed; "
            "put the function into a file or a notebook, or sweep without a cache"
        ) from None
    # By content: the repr of a large array leaves most of it out.
    bound = joblib.hash((run.args, run.keywords)) if isinstance(run, partial) else ""
    return {
        "function": _name(run),
        "source": hashlib.sha256(source.encode()).hexdigest(),
        "bound": bound,
        "mhalib": mhalib.__version__,
    }


def _results(run, tasks, progress):
    """What ``attempt`` gives back for each k → (configuration, seed), as it comes."""
    backend, n_jobs = get_active_backend()
    n_jobs = -1 if n_jobs is None else n_jobs  # unless it was chosen, all there are
    seen = sys.stderr.isatty() or type(sys.stderr).__module__.startswith("ipykernel")
    # One run a batch: in a larger one, a finished run would wait for the others before it is kept.
    settings = {"n_jobs": n_jobs, "batch_size": 1, "verbose": 10 * (progress and seen)}
    calls = [joblib.delayed(attempt)(run, k, *task) for k, task in tasks.items()]
    if calls and getattr(backend, "supports_return_generator", False):
        # Unordered: a long run must not hold back those that are done. Without max_nbytes=None
        # joblib passes large bound arrays as memory maps, which are read-only.
        return joblib.Parallel(**settings, max_nbytes=None, return_as="generator_unordered")(calls)
    # Such a backend gives all results back together: ask for as many as it computes together.
    together = joblib.effective_n_jobs(n_jobs)
    return (
        result
        for start in range(0, len(calls), together)
        for result in joblib.Parallel(**settings)(calls[start : start + together])
    )


@contextmanager
def _ended(results: Iterator[Any]) -> Iterator[Iterator[Any]]:
    """However it ends, what still runs ends too, without joblib's warning that it was running."""
    try:
        yield results
    finally:
        with warnings.catch_warnings(action="ignore"):
            results.close()


def attempt(
    run: Callable[..., Any], k: int, config: dict[str, Any], seed: int
) -> tuple[int, Any, str | None]:
    """k, and what the run returned and the versions it ran on, or why it failed.

    A failure is brought home as text, since not every exception can travel.
    """
    versions = {
        "mhalib": mhalib.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    try:
        with threadpool_limits(1), interrupts_raised():  # half a run is not taken for a whole one
            returned = run(seed=seed, **config)
        return k, (_parts(returned, config), versions), None
    # Not BaseException: an interrupt is no failure of the run, and ends the sweep.
    except Exception as error:
        return k, None, f"{type(error).__name__}: {error}\n\n{traceback.format_exc().rstrip()}"


def _parts(returned, config):
    """What a run returned, as a list of dicts name → array."""
    found = [returned] if isinstance(returned, Mapping) else returned
    if (
        not isinstance(found, list)
        or not found
        or not all(isinstance(part, Mapping) and part for part in found)
    ):
        raise TypeError(
            "run: expected it to return a dict of numbers and arrays, or a list of such dicts, "
            f"got {returned if found == [] else type(returned).__name__}"
        )
    for name in {name for part in found for name in part}:
        if not isinstance(name, str) or name in config or name in ("seed", *RESERVED):
            raise ValueError(
                f"run: expected results named otherwise than the configuration, and than seed, "
                f"{', '.join(RESERVED)}, which are reserved, got {name!r}"
            )
    return [{name: _array(name, value) for name, value in part.items()} for part in found]


def _array(name, value):
    if isinstance(value, (list, tuple)) or (array := np.array(value)).dtype.kind not in "biufU":
        raise TypeError(
            f"run: expected {name} to be a number, a word or an array of numbers, "
            f"got {type(value).__name__}"
        )
    return array


def _rows(parts, versions, first, task):
    """What a run returned as a table; ``first`` is that of another run, or None."""
    expected = _form(first) if first else _form_of(parts[0])
    for part in parts:
        _require_alike(_form_of(part), expected, task)
    return Table(
        {name: np.stack([part[name] for part in parts]) for name in parts[0]},
        {"versions": versions},
    )


def _require_alike(form, expected, task):
    differing = sorted(
        name for name in form.keys() | expected.keys() if form.get(name) != expected.get(name)
    )
    if differing:
        found = "; ".join(
            f"{name}: {form.get(name, 'missing')}, elsewhere {expected.get(name, 'missing')}"
            for name in differing
        )
        raise ValueError(
            f"run: expected the same names, kinds and shapes from every run; with "
            f"{_words(*task)} it returned {found}. What is shorter can be filled up with NaN"
        )


def _form(table):
    return _form_of({name: column[0] for name, column in table.columns.items()})


def _form_of(part):
    return {name: f"{_kind(array)} of shape {array.shape}" for name, array in part.items()}


def _table(run, tasks, done):
    configs = []
    for (config, seed), rows in zip(tasks, done, strict=True):
        configs += [config | {"seed": seed}] * len(rows)
    columns = {name: np.array([config[name] for config in configs]) for name in configs[0]}
    columns |= {name: np.concatenate([rows[name] for rows in done]) for name in done[0].columns}
    # A cache may hold runs of several versions of NumPy and Python: each is named once.
    used = {tuple(sorted(rows.about["versions"].items())) for rows in done}
    return Table(
        columns,
        {
            "function": _name(run),
            "versions": [dict(versions) for versions in sorted(used)],
            "configurations": list({_words(config): config for config, _ in tasks}.values()),
            "seeds": list(dict.fromkeys(seed for _, seed in tasks)),
        },
    )


# The command line of a script of book/results


def write_tables(
    script: str, docstring: str, **studies: tuple[Callable[..., Any], Any, int]
) -> None:
    """Sweep and save each table; ``write_tables(__file__, __doc__, heads=(run, grid, seeds))`` is
    all of a script.

    The docstring names the command and the tables, and is shown by ``--help``. The tables lie
    beside the script, unless ``--out`` names another folder, or a file for the only one. The
    command ends here, before anything is computed, for ``--help``, for an argument that is not
    known, where nothing can be written, and where a table would be replaced without
    ``--overwrite``. Finished runs are kept in the folder .cache beside the script, so it can be
    interrupted.
    """
    script, names = Path(script), table_names(docstring)
    parser = argparse.ArgumentParser(
        prog=f"python book/results/{script.name}",
        description=docstring,
        epilog=f"Tables: {', '.join(names)}.",
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="PLACE",
        default=script.parent,
        help="folder to write to (that of the script), or a file for the only table",
    )
    files = _places(parser, names)
    for name, (run, grid, seeds) in studies.items():
        began = time.perf_counter()
        table = sweep(run, grid, seeds, cache=script.parent / ".cache" / script.stem)
        table.save(files[f"{name}.npz"], command=f"python book/results/{script.name}")
        print(f"{name}.npz: {table!r} in {time.perf_counter() - began:.1f} s", flush=True)


def _places(parser, names):
    """Name of a table → the file to write it to."""
    add_overwrite(parser)
    chosen = parser.parse_args()
    place = chosen.out.expanduser()
    files = {name: place / name for name in names}
    if place.suffix == ".npz" and len(names) == 1 and not place.is_dir():
        files = {names[0]: place}
    elif not place.is_dir() and (place.suffix == ".npz" or place.exists()):
        parser.error(
            f"--out: expected a folder{' or a new .npz file' * (len(names) == 1)} for "
            f"{', '.join(names)}, got the file {place}"
        )
    refuse_overwriting(parser, files.values(), chosen.overwrite)
    refuse_unwritable(parser, files.values())
    return files


def table_names(docstring: str) -> list[str]:
    """The names of the tables that a script writes, as its docstring gives them."""
    return sorted(set(re.findall(r"\w+\.npz", docstring)))


def add_overwrite(parser: argparse.ArgumentParser) -> None:
    """Give a parser the option without which ``refuse_overwriting`` ends the command."""
    parser.add_argument("--overwrite", action="store_true", help="replace tables that are there")


def refuse_overwriting(
    parser: argparse.ArgumentParser, files: Iterable[Path], overwrite: bool
) -> None:
    """End with a message if one of the files is there, and nobody asked to replace it."""
    if not overwrite and (there := [str(file) for file in files if file.exists()]):
        named = ", ".join(there[:3]) + (f" and {len(there) - 3} more" if len(there) > 3 else "")
        elsewhere = ", or write elsewhere with --out" if "--out" in parser.format_usage() else ""
        parser.error(
            f"nothing was computed, since {named} would be replaced: add --overwrite{elsewhere}"
        )


def refuse_unwritable(parser: argparse.ArgumentParser, files: Iterable[Path]) -> None:
    """End with a message if one of the files is a folder, or cannot be written."""
    for file in files:
        why = f"{file} is a folder" if file.is_dir() else unwritable(file.parent)
        if why:
            parser.error(f"--out: nothing was computed, since nothing can be written: {why}")
