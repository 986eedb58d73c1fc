"""The environments that the commands make: each holds what it needs, wherever the folder lies."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from scripts import load

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NEWEST, LIBRARIES = ((ROOT / ".ci" / name).read_text("utf-8") for name in ("newest", "libraries"))
OWNERS = metadata.packages_distributions()
NOT_RUN = re.findall(r"--ignore tests/(\w+)", NEWEST)


def spelled(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def names(requirement):
    """The package that a requirement asks for, and what it asks of it: dask and distributed of dask[distributed]>=1."""
    return set(map(spelled, re.findall(r"[\w.-]+", re.match(r"[\w.-]+(\[[^]]*\])?", requirement)[0])))


def asked_for():
    """The packages that `make newest` installs by name, and those that a kernel cannot do without."""
    extras = re.search(r"(?m)\[([\w,]+)\]\"$", LIBRARIES)[1].split(",")
    found = PROJECT["dependencies"] + [line for extra in extras for line in PROJECT["optional-dependencies"][extra]]
    found += re.search(r"(?m)^tools=\(([\w ]+)", LIBRARIES)[1].split() + ["ziglang"] + metadata.requires("ipykernel")
    return set().union(*map(names, found))


def imported(path):
    """The dotted names that a file imports."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module


def test_newest_holds_what_the_tests_import():
    run = [path for path in (ROOT / "tests").rglob("*.py") if path.parent.name not in NOT_RUN]
    tops = {module.split(".")[0] for path in run for module in imported(path)} - sys.stdlib_module_names
    owners = {top: set(map(spelled, OWNERS.get(top, ()))) - {"mhalib"} for top in tops}
    assert not {top for top, found in owners.items() if found and not found & asked_for()}


# A Python that does nothing but say what it was asked, and make environments of itself.
STAND_IN = """#!/bin/sh
case "$*" in
    --version) echo "Python {version}" ;;
    "-c import sys"*) echo "{version}" ;;
    "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
    -) ;;  # is it fit? It says nothing against it
    *) echo "BOOK_CACHE=$BOOK_CACHE" >&2 ;;
esac
"""


def stand_in(path, version):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(STAND_IN.format(version=version))
    path.chmod(0o755)
    return path


@pytest.fixture
def folder(tmp_path):
    """The files that `make` reads, in a folder whose name has a space, with an environment of Python 3.11.2."""
    root = tmp_path / "two words"
    shutil.copytree(ROOT / ".ci", root / ".ci")
    for file in ("Makefile", "requirements.txt", "pyproject.toml"):
        shutil.copy(ROOT / file, root)
    stand_in(root / ".venv/bin/python", "3.11.2")
    (root / ".venv/.ready").touch()
    return root


def make(folder, *arguments):
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHON", "MAKEFLAGS", "MAKELEVEL")}
    run = subprocess.run(["make", *arguments], cwd=folder, env=clean, text=True, check=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT)
    return run.stdout


def test_a_folder_with_a_space_builds_its_book(folder):
    assert f"BOOK_CACHE={folder}/_build/executed\n" in make(folder, "book")


def test_an_environment_stays_until_another_python_is_named(folder, tmp_path):
    same, other = (stand_in(tmp_path / "a python" / version, version) for version in ("3.11.2", "3.12.1"))
    environment = folder / ".venv/bin/python"
    for arguments in ([], [f"PYTHON={same}"]):
        assert "installing" not in make(folder, "links", *arguments)
    assert "making the environment" in make(folder, "links", f"PYTHON={other}")
    assert environment.read_text() == other.read_text()
    assert "installing" not in make(folder, "links", f"PYTHON={other}")
    assert "installing" not in make(folder, "links")
    assert environment.read_text() == other.read_text()


def test_a_named_python_that_is_not_there_ends_the_command(folder):
    with pytest.raises(subprocess.CalledProcessError):
        make(folder, "links", "PYTHON=python9.9")


@pytest.mark.parametrize("report", ["<testsuites/>", "<testsuite><testcase><skipped/></testcase></testsuite>"])
def test_an_environment_in_which_no_claim_is_tested_fails(report, tmp_path):
    python = tmp_path / "bin/python"
    python.parent.mkdir()
    python.write_text(f"#!/bin/sh\nfor a; do case $a in --junitxml=*) echo '{report}' >${{a#*=}};; esac; done\n")
    python.chmod(0o755)
    everywhere = load(".ci/everywhere.py")
    with pytest.raises(SystemExit, match="^bare: the tests did not run\n"):
        everywhere.run(everywhere.Environment("bare", folder=tmp_path))
