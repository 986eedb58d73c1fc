"""``sweep``: the same table on one core, on two, on a cluster; and what it refuses."""

import io
import linecache
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest
from distributed import Client, LocalCluster
from threadpoolctl import threadpool_limits

import mhalib as mha
import swept
from checks import assert_refused
from mhabook.studies import configurations, sweep
from swept import assert_same, marked, started

ROOT = Path(__file__).parents[2]
GRID = {"H": [1, 3], "lr": [0.1, 0.5]}


@pytest.fixture(autouse=True)
def two_processes():
    """Two at once, wherever a test does not say otherwise."""
    with joblib.parallel_config(n_jobs=2):
        yield


@pytest.fixture
def one_core():
    with joblib.parallel_config(n_jobs=1):
        yield


@pytest.fixture(scope="module")
def expected():
    with joblib.parallel_config(n_jobs=1):
        return sweep(swept.trained, GRID, seeds=3)


@pytest.fixture(scope="module")
def cluster():
    """A real Dask cluster of two worker processes."""
    settings = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": None,
    }
    with LocalCluster(**settings) as cluster, Client(cluster) as client:
        yield client


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_a_table_is_the_same_on_every_backend(backend, expected):
    with joblib.parallel_config(backend, n_jobs=2):
        assert_same(sweep(swept.trained, GRID, seeds=3), expected)


def test_a_table_is_the_same_on_a_dask_cluster(cluster, expected):
    with joblib.parallel_config("dask"):
        assert_same(sweep(swept.trained, GRID, seeds=3), expected)


def test_a_dask_cluster_fills_and_reads_the_cache(cluster, expected, tmp_path):
    with joblib.parallel_config("dask"):
        sweep(swept.trained, GRID, seeds=2, cache=tmp_path)
    assert_same(sweep(swept.trained, GRID, seeds=3, cache=tmp_path), expected)


@pytest.mark.parametrize("backend, here", [("loky", False), ("threading", True)])
def test_runs_happen_in_the_processes_of_the_backend(backend, here, tmp_path):
    with joblib.parallel_config(backend, n_jobs=2):
        sweep(marked(swept.trained, tmp_path), GRID, seeds=2)
    assert len(started(tmp_path / "marks")) == 8
    assert len(started(tmp_path / "marks", os.getpid())) == 8 * here


def test_a_dask_cluster_runs_on_its_workers(cluster, tmp_path):
    workers = {
        worker["id"]: address for address, worker in cluster.scheduler_info()["workers"].items()
    }
    assert len(workers) == 2
    pids = set(cluster.run(os.getpid).values())
    with joblib.parallel_config("dask"):
        sweep(marked(swept.trained, tmp_path), GRID, seeds=2)
    assert {int(path.name.split("-")[1]) for path in (tmp_path / "marks").iterdir()} <= pids


def test_rows_are_ordered_by_the_grid_and_then_by_seed(expected):
    order = [(H, lr, seed) for H in (1, 3) for lr in (0.1, 0.5) for seed in range(3)]
    assert (
        list(zip(*(expected[name].tolist() for name in ("H", "lr", "seed")), strict=True)) == order
    )
    assert len(expected) == 12


def test_each_row_is_its_run(expected):
    for k in range(len(expected)):
        config = {name: expected[name][k].item() for name in ("H", "lr", "seed")}
        for name, value in swept.trained(**config).items():
            assert np.array_equal(expected[name][k], value), name


def test_columns_have_the_shapes_and_kinds_of_the_results(expected):
    form = {name: (column.dtype.kind, column.shape) for name, column in expected.columns.items()}
    assert form == {
        "H": ("i", (12,)),
        "lr": ("f", (12,)),
        "seed": ("i", (12,)),
        "loss": ("f", (12, 4)),
        "final": ("f", (12,)),
        "attention": ("f", (12, 5, 5)),
        "steps": ("i", (12,)),
        "learned": ("b", (12,)),
        "rule": ("U", (12,)),
    }


def test_a_table_says_what_made_it(expected):
    python = ".".join(map(str, sys.version_info[:3]))
    assert expected.about == {
        "function": "swept.trained",
        "seeds": [0, 1, 2],
        "configurations": configurations(GRID),
        "versions": [{"mhalib": mha.__version__, "numpy": np.__version__, "python": python}],
    }


def test_several_rows_come_from_one_run(one_core):
    table = sweep(swept.side_by_side, {"lr": [0.1, 0.5]}, seeds=2)
    assert table["H"].tolist() == [1, 3] * 4
    assert table["lr"].tolist() == [0.1] * 4 + [0.5] * 4
    assert table["seed"].tolist() == [0, 0, 1, 1] * 2
    row = table.where(H=3, lr=0.5, seed=1)
    assert np.array_equal(row["loss"][0], swept.trained(seed=1, H=3, lr=0.5)["loss"])


def test_several_rows_are_cached(tmp_path, one_core):
    first, second = (
        sweep(swept.side_by_side, {"lr": [0.1]}, seeds=2, cache=tmp_path) for _ in range(2)
    )
    assert_same(second, first)


@pytest.mark.parametrize(
    "grid",
    [
        {"H": [2, 1]},
        [{"H": 2}, {"H": 1}],
        ({"H": H} for H in (2, 1)),
        {"H": np.array([2, 1])},
        {"H": range(2, 0, -1)},
    ],
    ids=["dict", "dicts", "iterator", "array", "range"],
)
def test_grids_are_dicts_of_values_or_dicts(grid, one_core):
    table = sweep(swept.plain, grid, seeds=[7, np.int64(3)])
    assert table["value"].tolist() == [9, 5, 8, 4]
    assert table["seed"].tolist() == [7, 3, 7, 3]


def test_a_sweep_over_seeds_alone(one_core):
    assert sweep(swept.plain, {}, seeds=3)["value"].tolist() == [1, 2, 3]


@pytest.mark.parametrize("backend", ["sequential", "threading"])
def test_products_have_one_thread_during_a_run_and_theirs_again_after_it(backend):
    with threadpool_limits(2):
        before = swept.threads(seed=0)
        with joblib.parallel_config(backend, n_jobs=2):
            table = sweep(swept.threads, {}, seeds=8)
        assert swept.threads(seed=0) == before == {"threads": 2}
    assert table["threads"].tolist() == [1] * 8


def test_products_have_one_thread_in_the_processes_of_the_backend():
    with joblib.parallel_config("loky", n_jobs=2, inner_max_num_threads=2):
        assert sweep(swept.threads, {}, seeds=4)["threads"].tolist() == [1] * 4


def test_results_are_copied(one_core):
    assert sweep(swept.reusing, {}, seeds=3)["value"][:, 0].tolist() == [0, 1, 2]


def test_warnings_of_a_run_are_its_own(one_core):
    with pytest.warns(RuntimeWarning, match="a warning of a run"):
        assert len(sweep(swept.warning, {}, seeds=2)) == 2


def test_a_run_at_an_edge_of_stability_is_the_same_to_the_last_bit(tmp_path):
    """By a sweep, by the same sweep again and by a loop, in processes that have compiled nothing
    before."""
    path = os.pathsep.join(str(ROOT / part) for part in ("", "book", "tests/support"))
    environment = {"PYTHONPATH": path, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    said = {}
    for compiled in "1", "0":
        ended = subprocess.run(
            [sys.executable, "-c", "import swept; swept.edges()"],
            check=True,
            cwd=tmp_path,
            env=os.environ | environment | {"LIVEGRAD_COMPILED": compiled},
            stdout=subprocess.PIPE,
        )
        said[compiled] = [line.split() for line in ended.stdout.decode().splitlines()]
        *hashes, whether = said[compiled]
        assert [len(set(found)) for found in hashes] == [1, 1]
        assert len(set(whether)) == 1
    # where there is a compiler, the two differ: a mixture would be seen
    if "True" in said["1"][-1]:
        assert said["1"][0] != said["0"][0]


# Runs that fail


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("backend", ["sequential", "loky", "dask"])
def test_a_failing_run_is_named(backend, request):
    if backend == "dask":
        request.getfixturevalue("cluster")
    with joblib.parallel_config(backend), pytest.raises(RuntimeError) as raised:
        sweep(swept.failing, {"H": [1, 2, 3, 4, 5]}, seeds=2)
    message = str(raised.value)
    assert message.startswith("the run with H=2, seed=1 failed: Untravelled: lost at sea")
    assert "raise Untravelled" in message  # the line where it happened


def test_a_failing_run_leaves_the_finished_ones_in_the_cache(tmp_path, one_core):
    run = marked(swept.failing, tmp_path)
    with pytest.raises(RuntimeError, match="H=2, seed=1"):
        sweep(run, {"H": [1, 2, 3]}, seeds=2, cache=tmp_path / "cache")
    assert started(tmp_path / "marks") == [0, 0, 1, 1]
    table = sweep(run, [{"H": 1}, {"H": 3}], seeds=2, cache=tmp_path / "cache")
    assert table["value"].tolist() == [1, 2, 3, 4]
    assert started(tmp_path / "marks") == [0, 0, 0, 1, 1, 1]


def test_runs_of_different_shapes_are_named(tmp_path, one_core):
    for cache in (None, tmp_path, tmp_path):
        with pytest.raises(
            ValueError,
            match=r"with seed=1 it returned curve: numbers of shape \(4,\), elsewhere "
            r"numbers of shape \(3,\)",
        ):
            sweep(swept.ragged, {}, seeds=2, cache=cache)


RETURNED = {
    "nothing": (None, TypeError, ["expected it to return a dict", "NoneType"]),
    "a number": (1.0, TypeError, ["expected it to return a dict", "float"]),
    "no rows": ([], TypeError, ["expected it to return a dict", "[]"]),
    "no results": ({}, TypeError, ["expected it to return a dict"]),
    "a list of numbers": ([1.0], TypeError, ["expected it to return a dict"]),
    "a list in a dict": (
        {"value": [1.0]},
        TypeError,
        ["value to be a number, a word or an array", "list"],
    ),
    "an object": ({"value": None}, TypeError, ["value to be a number", "NoneType"]),
    "objects": ({"value": np.array([None])}, TypeError, ["value to be a number", "ndarray"]),
    "the seed": ({"value": 1.0, "seed": 3}, ValueError, ["results named otherwise", "'seed'"]),
    **{
        f"the name {name}": (
            {"value": 1.0, name: 2.0},
            ValueError,
            [
                "results named otherwise",
                f"got '{name}'",
                "about, allow_pickle, file, which are reserved",
            ],
        )
        for name in ("about", "allow_pickle", "file")
    },
    "a number for a name": ({3: 1.0}, ValueError, ["results named otherwise", "3"]),
    "configuration": ({"value": 1.0, "H": 3}, ValueError, ["results named otherwise", "'H'"]),
    "another name": (
        {"loss": 1.0},
        None,
        ["loss: numbers of shape (), elsewhere missing", "value: missing"],
    ),
    "one name more": ({"value": 1.0, "loss": 1.0}, None, ["loss: numbers", "elsewhere missing"]),
    "another kind": (
        {"value": "one"},
        None,
        ["value: words of shape (), elsewhere numbers of shape ()"],
    ),
    "rows that differ": ([{"value": 1.0}, {"loss": 1.0}], None, ["loss", "missing"]),
}


@pytest.mark.parametrize("what, error, words", RETURNED.values(), ids=RETURNED)
def test_what_a_run_returns_in_error_is_named(what, error, words, one_core):
    with pytest.raises(ValueError if error is None else RuntimeError) as raised:
        sweep(partial(swept.returning, what=what), {"H": [1]}, seeds=2)
    for word in [
        "H=1, seed=1",
        *words,
        error.__name__ if error else "the same names, kinds and shapes",
    ]:
        assert word in str(raised.value)


def test_a_name_that_no_column_can_have_ends_the_sweep_at_its_first_run(tmp_path, one_core):
    with pytest.raises(
        RuntimeError, match="seed=0 failed: ValueError: run: expected results named otherwise"
    ):
        sweep(marked(swept.misnamed, tmp_path), {}, seeds=5)
    assert started(tmp_path / "marks") == [0]


def outer():
    def run(*, seed):
        return {"value": seed}

    return run


class Callable:
    def __call__(self, *, seed):
        return {"value": seed}

    def run(self, *, seed):
        return {"value": seed}


CALLS = {
    "a nested function": (
        lambda: sweep(outer(), {}),
        TypeError,
        ["run: expected a function defined at the top"],
    ),
    "a lambda": (
        lambda: sweep(lambda *, seed: {"value": seed}, {}),
        TypeError,
        ["top level", "<lambda>"],
    ),
    "a method": (lambda: sweep(Callable().run, {}), TypeError, ["top level", "method"]),
    "an object": (lambda: sweep(Callable(), {}), TypeError, ["top level", "Callable"]),
    "a partial of a lambda": (
        lambda: sweep(partial(lambda *, seed: {}), {}),
        TypeError,
        ["top level"],
    ),
    "a result": (lambda: sweep(swept.plain(seed=1), {}), TypeError, ["run: expected a function"]),
    "an unknown name": (
        lambda: sweep(swept.plain, {"heads": [1]}),
        TypeError,
        ["run: expected a function of heads, seed", "'heads'"],
    ),
    "a name too few": (
        lambda: sweep(swept.trained, {"H": [1]}),
        TypeError,
        ["run: expected", "'lr'"],
    ),
    "a seed in the grid": (
        lambda: sweep(swept.plain, {"seed": [1]}),
        ValueError,
        ["grid: expected names other"],
    ),
    **{
        f"{name} in the grid": (
            lambda name=name: sweep(swept.open_to_all, {name: [1]}),
            ValueError,
            ["grid: expected names other", "about, allow_pickle, file, which are reserved", name],
        )
        for name in ("about", "allow_pickle", "file")
    },
    "a number for a grid": (
        lambda: sweep(swept.plain, 3),
        TypeError,
        ["grid: expected a dict name → values", "got 3"],
    ),
    "words for a grid": (
        lambda: sweep(swept.plain, "H"),
        TypeError,
        ["grid: expected a dict name → values", "got 'H'"],
    ),
    "a number for values": (
        lambda: sweep(swept.plain, {"H": 3}),
        TypeError,
        ["a list of values for H, got 3"],
    ),
    "a word for values": (
        lambda: sweep(swept.plain, {"H": "abc"}),
        TypeError,
        ["a list of values for H", "abc"],
    ),
    "no value": (
        lambda: sweep(swept.plain, {"H": []}),
        ValueError,
        ["grid: expected one configuration", "none"],
    ),
    "no configuration": (
        lambda: sweep(swept.plain, []),
        ValueError,
        ["grid: expected one configuration"],
    ),
    "names that differ": (
        lambda: sweep(swept.plain, [{"H": 1}, {}]),
        ValueError,
        ["all of the same names", "H"],
    ),
    "a value twice": (
        lambda: sweep(swept.plain, {"H": [1, 2, 1]}),
        ValueError,
        ["no entry twice", "H=1 2 times"],
    ),
    "an object for a value": (
        lambda: sweep(swept.plain, {"H": [mha.Adam(0.1)]}),
        TypeError,
        ["grid: expected numbers", "H=Adam", "inside of run"],
    ),
    "None for a value": (
        lambda: sweep(swept.plain, {"H": [None]}),
        TypeError,
        ["expected numbers", "H=None"],
    ),
    "a huge number": (
        lambda: sweep(swept.plain, {"H": [2**70]}),
        TypeError,
        ["grid: expected numbers", "H="],
    ),
    "kinds mixed": (
        lambda: sweep(swept.plain, {"H": [1, "two"]}),
        TypeError,
        ["H to be always of one kind", "numbers and words"],
    ),
    "no seed": (
        lambda: sweep(swept.plain, {}, seeds=0),
        ValueError,
        ["seeds: expected a whole number", "0"],
    ),
    "an empty list of seeds": (
        lambda: sweep(swept.plain, {}, seeds=[]),
        ValueError,
        ["seeds: expected", "none"],
    ),
    "a fractional seed": (
        lambda: sweep(swept.plain, {}, seeds=[1.5]),
        ValueError,
        ["seed: expected", "1.5"],
    ),
    "a huge seed": (lambda: sweep(swept.plain, {}, seeds=[2**63]), ValueError, ["below 2⁶³"]),
    "a seed twice": (
        lambda: sweep(swept.plain, {}, seeds=[1, 2, 1]),
        ValueError,
        ["seeds: expected no entry"],
    ),
    "a number for a cache": (
        lambda: sweep(swept.plain, {}, cache=5),
        TypeError,
        ["cache: expected a folder, got int"],
    ),
    "a file for a cache": (
        lambda: sweep(swept.plain, {}, cache=__file__),
        ValueError,
        ["cache: expected a folder to write to: ", "File exists"],
    ),
    "a cached function without source": (
        lambda: sweep(eval_run(), {}, cache="nowhere"),
        ValueError,
        ["cache: the source of run cannot be read"],
    ),
}


def eval_run():
    """A function whose source is nowhere."""
    space = {}
    exec("def run(*, seed):\n    return {'value': seed}", space)
    return space["run"]


@pytest.mark.parametrize("call, error, words", CALLS.values(), ids=CALLS)
def test_bad_input_is_named(call, error, words, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(joblib, "Parallel", None)  # before any run
    assert_refused(call, error, words)


def test_the_interpreters_own_text_is_not_taken_for_the_source(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    # From 3.13 on Python keeps the text of `python -c` under the name that functions from exec
    # have.
    monkeypatch.setitem(linecache.cache, "<string>", (9, None, ["import sys\n"], "<string>"))
    assert_refused(*CALLS["a cached function without source"])


# The line of progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_sees_how_far_the_sweep_is(monkeypatch, tmp_path, one_core):
    sweep(swept.plain, {}, seeds=1, cache=tmp_path)
    monkeypatch.setattr(sys, "stderr", seen := Terminal())
    sweep(swept.plain, {}, seeds=3, cache=tmp_path)
    assert "Done 2 out of 2 | elapsed" in seen.getvalue()  # one of three was there


@pytest.mark.parametrize(
    "stream, progress", [(io.StringIO, True), (Terminal, False)], ids=["a file", "unwanted"]
)
def test_nothing_is_written_where_no_one_looks(stream, progress, monkeypatch, one_core):
    monkeypatch.setattr(sys, "stderr", seen := stream())
    sweep(swept.plain, {}, seeds=2, progress=progress)
    assert seen.getvalue() == ""
