"""One command makes all stored tables again (book/results/__main__.py), and says what it leaves
out."""

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import mhabook
from mhabook import studies
from scripts import load, loaded

RESULTS = Path(__file__).parents[2] / "book" / "results"
remaking = load("book/results/__main__.py", "remaking")
SCRIPTS = remaking.scripts()
TOY = '''"""A toy.

``python toy.py`` writes toy.npz (a second of one core).
"""
from pathlib import Path

import numpy as np

from mhabook.tables import Table

Table({"loss": np.array([1.0, 2.0])}).save(Path(__file__).with_name("toy.npz"))
'''


def test_every_table_is_written_by_one_script_that_runs():
    run = [name for name in SCRIPTS if name not in remaking.OUTSIDE]
    written = [(table, name) for name in run for table in remaking.table_names(SCRIPTS[name])]
    commands = {
        path.name: mhabook.stored(path.name).about["command"] for path in RESULTS.glob("*.npz")
    }
    commands = {
        table: said
        for table, said in commands.items()
        if Path(said.split()[1]).stem not in remaking.OUTSIDE
        and Path(said.split()[1]).parent.name != "large"  # what measures a GPU
    }
    assert {table: f"python book/results/{name}.py" for table, name in written} == commands
    assert len(written) == len(commands)


@pytest.mark.parametrize("name", SCRIPTS)
def test_docstrings_say_the_command_and_how_long_it_takes(name):
    assert f"python book/results/{name}.py" in SCRIPTS[name]
    assert name in remaking.OUTSIDE or remaking.times(SCRIPTS[name]) != "not measured"


def test_the_list_runs_nothing(capsys, monkeypatch):
    monkeypatch.setattr(remaking.subprocess, "run", None)
    assert remaking.main(["--list"]) == 0
    said = capsys.readouterr().out
    assert all(f"== {name}" in said for name in SCRIPTS)
    assert "heads.npz (47 seconds)" in said
    assert "scale is left out: it measures the machine" in said


def test_scripts_run_and_tables_are_compared(tmp_path, capfd):
    (tmp_path / "toy.py").write_text(TOY, "utf-8")
    (tmp_path / "broken.py").write_text(
        '"""Writes broken.npz."""\nraise SystemExit("no data")', "utf-8"
    )
    assert remaking.main([], tmp_path) == 1
    said, complaint = capfd.readouterr()
    assert "toy.npz: new" in said
    assert said.endswith("failed: broken\n")
    assert "no data" in complaint
    assert remaking.main(["toy", "--overwrite"], tmp_path) == 0
    assert "toy.npz: the same numbers" in capfd.readouterr().out


def test_runs_that_are_kept_are_named_and_done_again_if_asked(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "toy.py").write_text(TOY, "utf-8")
    (tmp_path / ".cache").mkdir()
    assert remaking.main(["--list"], tmp_path) == remaking.main(["toy"], tmp_path) == 0
    assert capfd.readouterr().out.count("finished runs in") == 1 and (tmp_path / ".cache").is_dir()
    assert remaking.main(["--fresh", "--list"], tmp_path) == 0 and (tmp_path / ".cache").is_dir()
    assert (
        remaking.main(["--fresh", "--overwrite", "toy"], tmp_path) == 0
        and not (tmp_path / ".cache").exists()
    )
    assert "finished runs" not in capfd.readouterr().out


@pytest.mark.parametrize(
    "changed, words",
    [
        ({"loss": [1.0, 2.0], "rule": ["a", "b"]}, "the same numbers"),
        ({"loss": [1.0, 2.0 + 2e-9], "rule": ["a", "b"]}, "loss differs by up to 1e-09"),
        ({"loss": [1.0, np.nan], "rule": ["a", "b"]}, "loss differs by up to 2"),
        ({"loss": [1.0, 2.0], "rule": ["a", "c"]}, "rule differs by up to 1"),
        ({"loss": [1.0, 2.0]}, "Table(2 rows of loss, rule) is now Table(2 rows of loss)"),
    ],
)
def test_a_difference_is_named(changed, words):
    before = mhabook.Table({"loss": np.array([1.0, 2.0]), "rule": np.array(["a", "b"])})
    assert (
        remaking.difference(before, mhabook.Table({k: np.array(v) for k, v in changed.items()}))
        == words
    )


@pytest.fixture
def command(monkeypatch, capsys):
    """What the command line of a script does, in this process and without its runs: exit status,
    and what it says.

    It fails if a file of book/results has changed, is new or is gone.
    """

    def run(name, *arguments):
        before = files()
        monkeypatch.setattr(sys, "argv", [f"{name}.py", *map(str, arguments)])
        try:
            runpy.run_path(str(RESULTS / f"{name}.py"), run_name="__main__")
            status = 0
        except SystemExit as ended:
            status = ended.code
        assert files() == before
        said = capsys.readouterr()
        return status, said.out + said.err

    def computed(*args, **options):
        pytest.fail("it computes")

    monkeypatch.setattr(studies, "sweep", computed)
    monkeypatch.setattr(mhabook, "sweep", computed)  # of scale.py
    return run


def files():
    """Of every file of the folder: when it was written, and its size."""
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in RESULTS.glob("*.*")}


def toy_sweep(*args, **options):
    return mhabook.Table({"loss": np.array([1.0])})


@pytest.mark.parametrize("name", [*SCRIPTS, "__main__"])
def test_help_says_the_command_and_its_tables_and_writes_nothing(name, command):
    status, said = command(name, "--help")
    assert status == 0
    assert said.startswith("usage: ")
    wanted = ["python book/results"] if name == "__main__" else [f"python book/results/{name}.py"]
    assert all(word in said for word in wanted + remaking.table_names(SCRIPTS.get(name, "")))


@pytest.mark.parametrize("name", [*SCRIPTS, "__main__"])
def test_a_stored_table_is_not_replaced_unasked(name, command):
    status, said = command(name)
    assert status == 2
    assert "nothing was computed" in said and "would be replaced: add --overwrite" in said
    status, said = command(name, "--T", "20")
    assert status == 2
    assert "unrecognized arguments: --T" in said or "expected one of" in said


def test_a_table_goes_where_out_says(command, tmp_path, monkeypatch):
    monkeypatch.setattr(studies, "sweep", toy_sweep)
    for _ in range(2):
        assert command("heads", "--out", tmp_path / "f.npz", "--overwrite")[0] == 0
    assert command("traps", "--out", tmp_path / "new")[0] == 0
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.npz")} == {
        "f.npz",
        "new/traps.npz",
        "new/traps_random.npz",
        "new/traps_teachers.npz",
    }
    assert mhabook.Table.load(tmp_path / "f.npz").about["command"] == "python book/results/heads.py"
    status, said = command("heads", "--out", tmp_path / "f.npz")
    assert status == 2 and f"{tmp_path / 'f.npz'} would be replaced" in said


def test_several_tables_ask_for_a_folder(command, tmp_path):
    status, said = command("traps", "--out", tmp_path / "f.npz")
    assert (
        status == 2
        and "--out: expected a folder for traps.npz, traps_random.npz, traps_teachers.npz" in said
    )
    (tmp_path / "f.txt").write_text("", "utf-8")
    status, said = command("heads", "--out", tmp_path / "f.txt")
    assert status == 2 and "--out: expected a folder or a new .npz file for heads.npz" in said


@pytest.mark.parametrize("name", ["heads", "traps", "scale"])
def test_where_nothing_can_be_written_nothing_is_computed(name, command, tmp_path):
    (tmp_path / "file").touch()
    status, said = command(name, "--out", tmp_path / "file" / "below")
    assert status == 2 and "--out: nothing was computed, since nothing can be written: " in said


def test_a_folder_may_be_called_as_a_table(command, tmp_path, monkeypatch):
    monkeypatch.setattr(studies, "sweep", toy_sweep)
    (tmp_path / "folder.npz" / "traps.npz").mkdir(parents=True)
    assert command("heads", "--out", tmp_path / "folder.npz")[0] == 0
    assert (tmp_path / "folder.npz" / "heads.npz").is_file()
    status, said = command("traps", "--out", tmp_path / "folder.npz", "--overwrite")
    assert (
        status == 2
        and f"nothing can be written: {tmp_path / 'folder.npz' / 'traps.npz'} is a folder" in said
    )


def test_all_scripts_but_the_one_left_out_have_the_same_command_line():
    """They begin with it: nothing is computed before."""
    for name in set(SCRIPTS) - set(remaking.OUTSIDE):
        text = (RESULTS / f"{name}.py").read_text("utf-8")
        ends = text.split('if __name__ == "__main__":\n')[1]
        assert re.search(r"(?m)^    write_tables\(\s*__file__,\s*__doc__,", ends), name


def test_a_name_that_is_no_script_is_refused(capsys):
    with pytest.raises(SystemExit):
        remaking.main(["haeds"])
    assert "name: expected one of certificates, conditioning," in capsys.readouterr().err


def test_toy_sizes_leave_the_stored_table_alone(tmp_path, monkeypatch, capsys):
    kept = (RESULTS / "scale_cpu.npz").read_bytes()
    with loaded("book/results/scale.py") as scale:
        monkeypatch.setattr(scale, "__file__", str(tmp_path / "scale.py"))
        toy = ["--toy", "--cache", str(tmp_path / "cache")]
        scale.main(toy)
        assert not list(tmp_path.glob("*.npz"))
        assert capsys.readouterr().out.count("ms a step") == 4
        scale.main([*toy, "--out", str(tmp_path / "toy.npz")])
    assert len(mhabook.Table.load(tmp_path / "toy.npz")["seconds"]) == 4
    assert (RESULTS / "scale_cpu.npz").read_bytes() == kept
