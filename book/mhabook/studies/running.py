"""``sweep``: run a function for every configuration of a grid and every seed, wherever joblib can reach."""

import warnings
from contextlib import contextmanager
from inspect import isfunction, signature
from itertools import starmap

import joblib
import numpy as np
from joblib.parallel import get_active_backend
from threadpoolctl import threadpool_limits

from mhabook.studies.finished import Finished, inner, name, origin
from mhabook.studies.grid import configurations, kind, seed_list, words
from mhabook.studies.progress import Progress
from mhabook.studies.table import Table
from mhabook.studies.task import attempt, versions


def sweep(run, grid, seeds=5, *, cache=None, progress=True):
    """Call ``run(seed=…, **configuration)`` for every configuration of a grid and every seed: a table of the results.

    The runs go to all cores, one a core with one thread each. Inside ``joblib.parallel_config(...)`` they go where that
    says, with no other change: ``n_jobs=1`` for this process alone, ``"dask"`` for the cluster whose ``Client`` is
    open. On machines of one kind the table is the same wherever it was made, bit by bit, if ``run`` depends on its
    arguments alone.

    Parameters
    ----------
    run : a function defined at the top level of a file or notebook, or a ``functools.partial`` of one. It returns a
        dict name → number, word or array, of the same names and shapes in every run; or a list of such dicts, a row
        each, with what tells it from the others among them
    grid : a dict name → values, of which the product is taken, the last name varying fastest; or dicts of the same
        names. The values are numbers, words, True and False. No column can be called about, allow_pickle or file
    seeds : how many seeds, 0, 1, 2, …; or a list of them
    cache : a folder. Every run is a file there as soon as its result arrives, and is not done again: an interrupted
        sweep goes on where it was. A run counts as the same if configuration, seed, mhalib's version, the source of
        ``run`` and what a ``partial`` binds are; what ``run`` calls is not looked at, so take another folder after a
        change there. A damaged file is named in a warning, and its run done again
    progress : whether to keep a line in the terminal or notebook that says how many runs are done. It is written to
        stderr, and not at all where that is a file. A page of the book says False

    Returns
    -------
    Table

    Raises
    ------
    TypeError, ValueError
        if an argument does not fit, before any run; or if two runs return different names, kinds or shapes.
    RuntimeError
        as soon as a run fails, or returns what cannot be a column, with its configuration, seed and traceback. What is
        finished stays in the cache.
    """
    configs, seeds = configurations(grid), seed_list(seeds)
    _require_run(run, configs[0])
    tasks = [(config, seed) for config in configs for seed in seeds]
    finished = None if cache is None else Finished(cache, origin(run, versions()["mhalib"]))
    done = list(starmap(finished.load, tasks)) if finished else [None] * len(tasks)
    first = next(filter(None, done), None)
    for (config, seed), result in zip(tasks, done, strict=True):
        if result:
            _require_alike(result, first, config | {"seed": seed})
    missing = {k: task for k, task in enumerate(tasks) if not done[k]}
    # The limit of the whole is for runs in threads of this process, of which each would lift that of the others.
    with (threadpool_limits(1), Progress(len(tasks), len(tasks) - len(missing), progress) as line,
          _ended(_results(run, missing)) as results):
        for k, result, failure in results:
            config, seed = tasks[k]
            if failure:
                raise RuntimeError(f"the run with {words(config | {'seed': seed})} failed: {failure}")
            first = first or result
            _require_alike(result, first, config | {"seed": seed})
            if finished:
                finished.save(config, seed, *result)
            done[k] = result
            line.add()
    return _table(run, tasks, done)


def _results(run, tasks):
    """What ``attempt`` gives back for each k → (configuration, seed), as it comes."""
    backend, n_jobs = get_active_backend()
    n_jobs = -1 if n_jobs is None else n_jobs  # unless it was chosen, all there are
    calls = [joblib.delayed(attempt)(run, k, *task) for k, task in tasks.items()]
    if calls and getattr(backend, "supports_return_generator", False):
        settings = {"batch_size": 1, "max_nbytes": None, "return_as": "generator_unordered"}
        return joblib.Parallel(n_jobs, **settings)(calls)
    # Such a backend gives all results back together: ask for as many as it computes together.
    together = joblib.effective_n_jobs(n_jobs)
    return (result for start in range(0, len(calls), together)
            for result in joblib.Parallel(n_jobs, batch_size=1)(calls[start:start + together]))


@contextmanager
def _ended(results):
    """However it ends, what still runs ends too, without joblib's warning that it was running."""
    try:
        yield results
    finally:
        with warnings.catch_warnings(action="ignore"):
            results.close()


def _table(run, tasks, done):
    rows = [(config | {"seed": seed}, part)
            for (config, seed), (parts, _) in zip(tasks, done, strict=True) for part in parts]
    columns = {name: np.array([config[name] for config, _ in rows]) for name in rows[0][0]}
    columns |= {name: np.stack([part[name] for _, part in rows]) for name in rows[0][1]}
    used = {tuple(sorted(versions.items())) for _, versions in done}
    return Table(columns, {
        "function": name(run), "versions": [dict(versions) for versions in sorted(used)],
        "configurations": list({words(config): config for config, _ in tasks}.values()),
        "seeds": list(dict.fromkeys(seed for _, seed in tasks)),
    })


def _require_run(run, config):
    function = inner(run)
    if not isfunction(function) or function.__qualname__ != function.__name__ or function.__name__ == "<lambda>":
        raise TypeError("run: expected a function defined at the top level of a file or notebook, or a "
                        f"functools.partial of one, so that other processes find it; got {function!r}")
    try:
        signature(run).bind(seed=0, **config)
    except TypeError as error:
        raise TypeError(f"run: expected a function of {', '.join([*config, 'seed'])}; {error}") from None


def _require_alike(result, first, task):
    expected = _form(first[0][0])
    for form in map(_form, result[0]):
        differing = sorted(name for name in form.keys() | expected.keys() if form.get(name) != expected.get(name))
        if differing:
            found = "; ".join(f"{name}: {form.get(name, 'missing')}, elsewhere {expected.get(name, 'missing')}"
                              for name in differing)
            raise ValueError(f"run: expected the same names, kinds and shapes from every run; with {words(task)} it "
                             f"returned {found}. What is shorter can be filled up with NaN")


def _form(part):
    return {name: f"{kind(array)} of shape {array.shape}" for name, array in part.items()}
