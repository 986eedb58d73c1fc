"""The cache of a sweep: no finished run is lost, none is taken for another."""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest

import mhalib as mha
import swept
from mhabook.studies import origin, sweep
from swept import assert_same, marked, started

ROOT = Path(__file__).parents[2]
GRID = {"H": [1, 3], "lr": [0.1, 0.5]}


def kept(cache):
    """The files of the runs that are kept."""
    return list(Path(cache).rglob("output.pkl"))


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
    assert_same(sweep(run, GRID, seeds=3, cache=tmp_path / "cache"), sweep(swept.trained, GRID, seeds=3))
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
    with subprocess.Popen([sys.executable, swept.__file__, tmp_path], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, start_new_session=True) as process:
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


DAMAGES = {"truncated": lambda data: data[:-40], "empty": lambda data: b"", "words": lambda data: b"something else",
           "a bit flipped": lambda data: data[:300] + bytes([data[300] ^ 4]) + data[301:]}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_what_cannot_be_read_is_named_and_its_run_done_again(damage, tmp_path, caplog):
    run, cache = marked(swept.trained, tmp_path, H=2, lr=0.5), tmp_path / "cache"
    table = sweep(run, {}, seeds=3, cache=cache)
    kept(cache)[1].write_bytes(damage(kept(cache)[1].read_bytes()))
    for _ in range(2):
        assert_same(sweep(run, {}, seeds=3, cache=cache), table)
    assert len(started(tmp_path / "marks")) == 4
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "Exception while loading results for _kept" in caplog.text


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


@pytest.mark.parametrize("bind", [lambda what: partial(swept.returning, what=what),
                                  lambda what: partial(swept.mark, what)], ids=["by name", "by place"])
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
