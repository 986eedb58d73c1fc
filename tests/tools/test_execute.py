"""`make book` says each page as it goes; of one that fails it says the cell, and the error once."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from scripts import loaded

ROOT = Path(__file__).parents[2]


@pytest.fixture
def execute(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "book/_ext")
    (tmp_path / "_config.yml").write_text("execute: {timeout: 60}")
    with loaded("book/_ext/execute.py") as module:  # its processes find its function by its name
        monkeypatch.setattr(module, "ROOT", tmp_path)
        yield module


def write(folder, name, *sources):
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{i}") for i, source in enumerate(sources)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    path = folder / f"{name}.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), path)
    return path


def run(module, tmp_path, monkeypatch, capfd, **pages):
    paths = [write(tmp_path, name, *sources) for name, sources in pages.items()]
    monkeypatch.setattr(module, "notebooks", lambda: paths)
    try:
        module.main(str(tmp_path / "executed"))
        failed = ""
    except module.Unbuilt as error:
        failed = str(error)
    return failed, *capfd.readouterr()


def test_each_page_has_a_line_and_nothing_else_is_said(execute, tmp_path, monkeypatch, capfd):
    failed, out, err = run(
        execute, tmp_path, monkeypatch, capfd, one=["x = 1"], two=["print(2)", "x = 3"]
    )
    assert not failed
    assert sorted(line.split()[::2] for line in out.splitlines()) == [["one", "s"], ["two", "s"]]
    assert err == ""
    cached = execute.get_cache(str(tmp_path / "executed"))
    assert len(cached.list_cache_records()) == 2


def test_a_page_that_raises_says_its_cell_and_the_error_once(execute, tmp_path, monkeypatch, capfd):
    failed, out, err = run(
        execute, tmp_path, monkeypatch, capfd, good=["x = 1"], bad=["x = 1", "1 / 0", "x = 2"]
    )
    assert failed == "bad failed, as said above" and re.search("bad +FAILED", out)
    assert "\nbad, cell cell-1\n" in err
    assert err.count("ZeroDivisionError: division by zero") == 1
    assert "make edit" in err and "\x1b" not in err


def test_a_kernel_that_dies_ends_all_and_says_how_far_it_came(
    execute, tmp_path, monkeypatch, capfd
):
    failed, out, err = run(
        execute,
        tmp_path,
        monkeypatch,
        capfd,
        dead=["x = 1", "import os\nos._exit(3)"],
        never=["import threading\nthreading.Event().wait()"],
    )
    assert re.match("the kernel of dead died.*cell cell-[01], or the next one: DeadKernel", failed)
    assert not out + err


def test_a_worker_that_is_killed_ends_all_but_what_others_began(
    execute, tmp_path, monkeypatch, capfd
):
    kill = "import os, psutil\npsutil.Process(os.getppid()).kill()"
    wait = "import sys; sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", wait], stdin=subprocess.PIPE) as other:
        failed, out, err = run(execute, tmp_path, monkeypatch, capfd, killer=[kill])
        assert other.poll() is None
    assert other.returncode == 0
    assert failed == "the process running killer.ipynb was killed, perhaps for lack of memory"
    assert not out + err
