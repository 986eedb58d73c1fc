"""The cache of a sweep: no finished run is lost, none is taken for another."""

import io
import os
import pickle
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import joblib
import numpy as np
import pytest

import mhalib as mha
import swept
from mhabook.studies import Table, origin, sweep
from swept import assert_same, marked, started

ROOT = Path(__file__).parents[2]
GRID = {"H": [1, 3], "lr": [0.1, 0.5]}


def kept(cache):
    """The files of the runs that are kept."""
    return sorted(Path(cache).glob("*.npz"))


@pytest.fixture(autouse=True)
def one_core():
    """No other process, except in tests that make one."""
    with joblib.parallel_config(n_jobs=1):
        yield


def test_a_finished_run_is_not_done_again(tmp_path):
    run = marked(swept.trained, tmp_path)
    first = sweep(run, GRID, seeds=2, cache=tmp_path / "cache")
    assert started(tmp_path / "marks") == [0] * 4 + [1] * 4
    assert_same(sweep(run, GRID, seeds=2, cache=tmp_path / "cache"), first)
    assert len(started(tmp_path / "marks")) == 8
    assert_same(
        sweep(run, GRID, seeds=3, cache=tmp_path / "cache"), sweep(swept.trained, GRID, seeds=3)
    )
    assert started(tmp_path / "marks")[8:] == [2] * 4


def test_the_cache_may_be_at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    sweep(swept.plain, {}, seeds=3, cache="~/cache")
    assert len(kept(tmp_path / "cache")) == 3


def test_a_sweep_that_is_all_in_the_cache_starts_no_process(tmp_path, monkeypatch):
    sweep(swept.plain, {}, seeds=3, cache=tmp_path)
    monkeypatch.setattr(joblib, "Parallel", None)
    assert len(sweep(swept.plain, {}, seeds=3, cache=tmp_path)) == 3


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_an_interrupted_sweep_goes_on_where_it_was(blow, tmp_path):
    cache, marks, gate = (tmp_path / name for name in ("cache", "marks", "gate"))
    marks.mkdir()
    os.mkfifo(gate)
    path = os.pathsep.join(str(ROOT / part) for part in ("", "book", "tests/support"))
    environment = os.environ | {"PYTHONPATH": path}
    with subprocess.Popen(
        [sys.executable, swept.__file__, tmp_path],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        assert [process.stdout.readline() for _ in range(4)] == [b"kept\n"] * 4
        with gate.open("wb"):  # it opens when a run has come to the gate
            process.send_signal(blow)
            assert process.wait(swept.SECONDS) != 0
            gate.unlink()
    before = {path: path.read_bytes() for path in kept(cache)}
    assert len(before) == 4
    run = partial(swept.patient, marks=str(marks), gate=str(gate))
    table = sweep(run, {"scale": [2.0]}, 12, cache=cache)
    assert_same(table, sweep(run, {"scale": [2.0]}, 12))
    assert started(marks, os.getpid()) == sorted([*range(4, 12), *range(12)])
    assert {path: path.read_bytes() for path in before} == before


def test_half_a_run_is_not_kept(tmp_path):
    """Within a sweep ``train`` does not end an interrupted run as if it were done."""
    with pytest.raises(KeyboardInterrupt):
        sweep(swept.stopped, {}, seeds=2, cache=tmp_path)
    assert len(kept(tmp_path)) == 1


DAMAGES = {
    "truncated": lambda data: data[:-40],
    "empty": lambda data: b"",
    "words": lambda data: b"something else",
    "a bit flipped": lambda data: data[:300] + bytes([data[300] ^ 4]) + data[301:],
    "a pickle": lambda data: pickle.dumps(Trap()),
    "an array of pickles": lambda data: objects(),
    "another run": lambda data: foreign({"versions": {}, "of": {"seed": 7}}),
    "a table of no run": lambda data: foreign({}),
}


class Trap:
    """It leaves a mark where it is made from a pickle."""

    def __reduce__(self):
        return setattr, (Trap, "sprung", True)


def objects():
    """An archive that holds a pickle."""
    buffer = io.BytesIO()
    np.savez(buffer, about=np.array("{}"), loss=np.array([Trap()], dtype=object))
    return buffer.getvalue()


def foreign(about):
    """A table of something else."""
    with TemporaryDirectory() as folder:
        Table({"loss": np.ones(1)}, about).save(Path(folder, "table.npz"))
        return Path(folder, "table.npz").read_bytes()


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_what_cannot_be_read_is_named_and_its_run_done_again(damage, tmp_path):
    run, cache = marked(swept.trained, tmp_path, H=2, lr=0.5), tmp_path / "cache"
    table = sweep(run, {}, seeds=3, cache=cache)
    file = kept(cache)[1]
    file.write_bytes(damage(file.read_bytes()))
    with pytest.warns(
        RuntimeWarning, match=f"^cache: {file}: .*; the run is done again$"
    ) as warned:
        assert_same(sweep(run, {}, seeds=3, cache=cache), table)
    assert len(warned) == 1 and not hasattr(Trap, "sprung")
    assert_same(sweep(run, {}, seeds=3, cache=cache), table)
    assert len(started(tmp_path / "marks")) == 4


def test_a_cache_is_tables_and_nothing_else(tmp_path):
    """What is no table has no say: a foreign file beside them takes no finished run away."""
    run, cache = marked(swept.trained, tmp_path, H=2, lr=0.5), tmp_path / "cache"
    table = sweep(run, {}, seeds=3, cache=cache)
    assert sorted(cache.iterdir()) == kept(cache)
    (cache / "func_code.py").write_text("")
    (cache / "output.pkl").write_bytes(pickle.dumps(Trap()))
    assert_same(sweep(run, {}, seeds=3, cache=cache), table)
    assert len(started(tmp_path / "marks")) == 3 and not hasattr(Trap, "sprung")


def test_a_kept_run_says_what_it_is_of(tmp_path):
    sweep(swept.plain, {"H": [2]}, seeds=[7], cache=tmp_path)
    table = Table.load(kept(tmp_path)[0])
    assert table["value"].tolist() == [9]
    assert {name: table.about["of"][name] for name in ("function", "configuration", "seed")} == {
        "function": "swept.plain",
        "configuration": {"H": 2},
        "seed": 7,
    }


def test_a_number_that_equals_nothing_is_found_again(tmp_path, monkeypatch):
    sweep(swept.plain, {"H": [float("nan")]}, seeds=1, cache=tmp_path)
    monkeypatch.setattr(joblib, "Parallel", None)
    assert np.isnan(
        sweep(swept.plain, {"H": [float("nan")]}, seeds=1, cache=tmp_path)["value"]
    ).all()


SOURCE = "def run(*, seed, factor=1):\n    return {'value': factor * seed}\n"


def imported(folder, source):
    """The function ``run`` of a file with this source."""
    path = folder / f"source_{abs(hash(source))}.py"
    path.write_text(source, "utf-8")
    module = type(sys)("swept_source")
    module.__file__ = str(path)
    exec(compile(source, path, "exec"), module.__dict__)
    return module.run


@pytest.mark.parametrize("change", ["source", "bound argument", "configuration", "version"])
def test_another_origin_is_another_run(change, tmp_path, monkeypatch):
    run, other, grid = imported(tmp_path, SOURCE), None, {}
    first = sweep(run, {}, seeds=[5], cache=tmp_path / "cache")
    if change == "source":
        other = imported(tmp_path, SOURCE.replace("* seed", "* seed + 1"))
    elif change == "bound argument":
        other = partial(run, factor=3)
    elif change == "configuration":
        grid = {"factor": [1]}
    else:
        monkeypatch.setattr(mha, "__version__", "0.1.1")
    table = sweep(other or run, grid, seeds=[5], cache=tmp_path / "cache")
    assert len(kept(tmp_path / "cache")) == 2
    assert first["value"].tolist() == [5]
    assert table["value"].tolist() == {"source": [6], "bound argument": [15]}.get(change, [5])


@pytest.mark.parametrize(
    "bind",
    [lambda what: partial(swept.returning, what=what), lambda what: partial(swept.mark, what)],
    ids=["by name", "by place"],
)
def test_bound_arrays_tell_runs_apart(bind):
    runs = [bind({"value": np.arange(3.0) + shift}) for shift in (0, 0, 1)]
    first, same, other = (origin(run) for run in runs)
    assert first == same != other


def test_versions_of_cached_runs_are_theirs(tmp_path, monkeypatch):
    sweep(swept.plain, {}, seeds=1, cache=tmp_path)
    monkeypatch.setattr(np, "__version__", "3.0")
    versions = sweep(swept.plain, {}, seeds=2, cache=tmp_path).about["versions"]
    assert len(versions) == 2
    assert "3.0" in {found["numpy"] for found in versions}
