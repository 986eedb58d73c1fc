"""The environments that the commands make: each holds what it needs, wherever the folder lies, and
nothing unknown."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from scripts import load

ROOT = Path(__file__).parents[2]
PROJECTS = "pyproject.toml", "mhalib/pyproject.toml", "livegrad/pyproject.toml"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
NEWEST, LIBRARIES = ((ROOT / ".ci" / name).read_text("utf-8") for name in ("newest", "libraries"))
OWNERS = metadata.packages_distributions()
NOT_RUN = re.findall(r"--ignore tests/(\w+)", NEWEST)


def spelled(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def names(requirement):
    """The package that a requirement asks for, and what it asks of it: dask and distributed of
    dask[distributed]>=1."""
    return set(
        map(spelled, re.findall(r"[\w.-]+", re.match(r"[\w.-]+(\[[^]]*\])?", requirement)[0]))
    )


def asked_for():
    """The packages that `make newest` installs by name, and those that a kernel cannot do
    without."""
    extras = re.search(r"(?m)\[([\w,]+)\]\"$", LIBRARIES)[1].split(",")
    found = PROJECT["dependencies"] + [
        line for extra in extras for line in PROJECT["optional-dependencies"][extra]
    ]
    found += (
        re.search(r"(?m)^tools=\(([\w ]+)", LIBRARIES)[1].split()
        + ["ziglang"]
        + metadata.requires("ipykernel")
    )
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
    tops = {
        module.split(".")[0] for path in run for module in imported(path)
    } - sys.stdlib_module_names
    owners = {
        top: set(map(spelled, OWNERS.get(top, ()))) - {"livegrad", "mhabook", "mhalib"}
        for top in tops
    }
    assert not {top for top, found in owners.items() if found and not found & asked_for()}


# What .ci/hashes holds the hashes of; torch.txt there has torch and what only its default build for
# Linux needs.
LISTS = {
    "book": "requirements.txt",
    "tools": ".ci/tools.txt",
    "bench": "benchmarks/requirements.txt",
    "browsers": ".ci/browsers.txt",
    "edit": ".ci/edit.txt",
    "certify": ".ci/certify.txt",
}


def pins(path):
    """name → requirement, as a list for pip has them, and name → hashes."""
    found, hashes = {}, {}
    for line in re.sub(r"\\\n", " ", (ROOT / path).read_text("utf-8")).splitlines():
        if line.startswith("#") or not line.strip():
            continue
        requirement, *known = re.split(r"\s+--hash=sha256:", line)
        asked = Requirement(requirement)
        name = spelled(asked.name)
        assert name not in found
        found[name], hashes[name] = (
            (version(asked), str(asked.marker)),
            [each.strip() for each in known],
        )
    return found, hashes


def version(requirement):
    """The one version that a pin allows."""
    (exact,) = requirement.specifier
    assert exact.operator == "=="
    return exact.version


def test_each_pin_has_hashes_and_nothing_else_has():
    assert {path.stem for path in (ROOT / ".ci/hashes").iterdir()} == {*LISTS, "torch"}
    for name, path in LISTS.items():
        wanted, _ = pins(path)
        wanted.pop("torch", None)
        assert pins(f".ci/hashes/{name}.txt")[0] == wanted


def test_torch_has_hashes_and_so_has_what_only_its_default_build_needs():
    wanted, (found, _) = pins("requirements.txt")[0], pins(".ci/hashes/torch.txt")
    assert found.pop("torch") == wanted["torch"]
    assert not found.keys() & wanted.keys()
    assert all(
        "sys_platform == 'linux'" in marker.replace('"', "'") for _, marker in found.values()
    )


@pytest.mark.parametrize("name", [*LISTS, "torch"])
def test_hashes_are_sha256_and_differ(name):
    _, hashes = pins(f".ci/hashes/{name}.txt")
    assert all(hashes.values())
    every = [each for known in hashes.values() for each in known]
    assert all(re.fullmatch("[0-9a-f]{64}", each) for each in every)
    assert len(every) == len(set(every))


def needs(name, extra, environment):
    """What an installed package asks for there."""
    for text in metadata.requires(name) or ():
        requirement = Requirement(text)
        if not requirement.marker or requirement.marker.evaluate(environment | {"extra": extra}):
            yield requirement


@pytest.mark.parametrize("system", ["linux", "darwin"])
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("lists", [["book"], ["book", "tools"]], ids=" and ".join)
def test_the_pins_need_nothing_beyond_them_and_fit_each_other(python, system, lists):
    """Installing them looks up and compares nothing (--no-deps), so this is where it is seen.

    What torch needs beside the pins hangs on its build: a CPU build nothing, the default one for
    Linux what .ci/hashes/torch.txt adds.
    """
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.0",
        "sys_platform": system,
        "platform_system": system.capitalize(),
    }
    pinned = {name: pin for each in lists for name, pin in pins(LISTS[each])[0].items()}
    asked, missing = [(name, "") for name, (_, marker) in pinned.items() if marker == "None"], []
    pinned = pins(".ci/hashes/torch.txt")[0] | pinned
    for name, extra in asked:  # which grows meanwhile
        for requirement in needs(name, extra, environment):
            wanted = spelled(requirement.name)
            has, _ = pinned.get(wanted, ("", ""))
            if not has or not requirement.specifier.contains(has, prereleases=True):
                missing.append(f"{name} needs {requirement}")
            asked += [(wanted, more) for more in requirement.extras if (wanted, more) not in asked]
    assert not missing


# A Python that does nothing but say what it was asked, and make environments of itself.
STAND_IN = """#!/bin/sh
case "$*" in
    --version) echo "Python {version}" ;;
    "-c import sys"*) echo "{version}" ;;
    "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
    -) ;;  # is it fit? It says nothing against it
    *" install "*) echo "$*" >>"${{SAID:-/dev/null}}"
        case "$*" in
            *--index-url*+cpu) exit "${{INDEX:-0}}" ;;  # has PyTorch's index a CPU build, and is it reached?
            *+cpu) exit "${{CPU:-0}}" ;;  # do pip's own settings lead to one?
            *hashes/book.txt) [ -z "${{PIP:-}}" ] || exec "$PIP" "$@" ;;
        esac ;;
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
    """The files that `make` reads, in a folder whose name has a space, with an environment of
    Python 3.11.2."""
    root = tmp_path / "two words"
    shutil.copytree(ROOT / ".ci", root / ".ci")
    for file in ("Makefile", "requirements.txt", *PROJECTS):
        (root / file).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / file, root / file)
    stand_in(root / ".venv/bin/python", "3.11.2")
    (root / ".venv/.ready").write_text(str(root))
    (root / ".venv/.tools").touch()
    return root


def make(folder, *arguments):
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in ("PYTHON", "MAKEFLAGS", "MAKELEVEL")
    }
    run = subprocess.run(
        ["make", *arguments],
        cwd=folder,
        env=clean,
        text=True,
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return run.stdout


def test_a_folder_with_a_space_builds_its_book(folder):
    assert f"BOOK_CACHE={folder}/_build/executed\n" in make(folder, "links")


def test_an_environment_stays_until_another_python_is_named(folder, tmp_path):
    same, other = (
        stand_in(tmp_path / "a python" / version, version) for version in ("3.11.2", "3.12.1")
    )
    environment = folder / ".venv/bin/python"
    for arguments in ([], [f"PYTHON={same}"]):
        assert "installing" not in make(folder, "links", *arguments)
    assert "making the environment" in make(folder, "links", f"PYTHON={other}")
    assert environment.read_text() == other.read_text()
    assert "installing" not in make(folder, "links", f"PYTHON={other}")
    assert "installing" not in make(folder, "links")
    assert environment.read_text() == other.read_text()


def test_an_environment_that_was_moved_is_made_anew(folder, tmp_path):
    python = stand_in(tmp_path / "a python", "3.11.2")
    assert "making the environment" not in make(folder, "links", f"PYTHON={python}")
    moved = folder.rename(tmp_path / "elsewhere")
    assert "making the environment" in make(moved, "links", f"PYTHON={python}")
    assert "installing" not in make(moved, "links", f"PYTHON={python}")


def test_a_named_python_that_is_not_there_ends_the_command(folder):
    with pytest.raises(subprocess.CalledProcessError):
        make(folder, "links", "PYTHON=python9.9")


def install(folder, **variables):
    """What .ci/venv says on its way, and what it asked pip for."""
    environment = (
        os.environ
        | {"PYTHON": str(folder / ".venv/bin/python"), "SAID": str(folder / "said")}
        | variables
    )
    run = subprocess.run(
        [".ci/venv", ".venv"],
        cwd=folder,
        env=environment,
        text=True,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    said = (folder / "said").read_text().splitlines() if (folder / "said").exists() else []
    return run.returncode, run.stdout, said


def test_an_index_of_torch_is_asked_for_torch_alone(folder):
    status, _, said = install(folder, TORCH_INDEX="https://index")
    assert status == 0
    torch = [line for line in said if "https://index" in line]
    assert len(torch) == 1 and re.search(
        r" --no-deps --index-url https://index torch==[\d.]+$", torch[0]
    )
    assert all("--no-deps" in line for line in said)
    assert sum("--require-hashes -r .ci/hashes/book.txt" in line for line in said) == 1
    assert len(said) == 3, "the book's packages, torch, and the packages of this folder"


OWN = r" install --no-deps torch==[\d.]+\+cpu$"
INDEX = r" --index-url https://download\.pytorch\.org/whl/cpu torch==[\d.]+\+cpu$"
DEFAULT = r" --require-hashes -r \.ci/hashes/torch\.txt$"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the default build is a CPU build")
@pytest.mark.parametrize(
    ("asked", "variables"),
    [
        ([OWN], {}),
        ([OWN, INDEX], {"CPU": "1"}),
        ([OWN, INDEX, DEFAULT], {"CPU": "1", "INDEX": "1"}),
        ([DEFAULT], {"TORCH_INDEX": "pypi"}),
    ],
)
def test_a_cpu_build_of_torch_is_taken_where_there_is_one(folder, asked, variables):
    status, words, said = install(folder, **{"TORCH_INDEX": "", **variables})
    assert status == 0
    torch = [line for line in said if "torch" in line]
    assert len(torch) == len(asked) and all(map(re.search, asked, torch))
    assert ("torch comes with CUDA" in words) is (len(asked) == 3)


def test_a_pin_without_hashes_is_refused(folder):
    with open(folder / "requirements.txt", "a") as file:
        file.write("plain==1.0\nsimple==2.0\n")
    status, words, said = install(folder)
    assert status == 1 and not said
    assert (
        "requirements.txt: no hashes are known of plain==1.0, simple==2.0; `make hashes` adds them"
        in words
    )


def wheel(folder):
    """The smallest package that pip installs."""
    path = folder / "plain-1.0-py3-none-any.whl"
    with ZipFile(path, "w") as archive:
        archive.writestr("plain.py", "")
        archive.writestr(
            "plain-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: plain\nVersion: 1.0\n"
        )
        archive.writestr(
            "plain-1.0.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        archive.writestr("plain-1.0.dist-info/RECORD", "")
    return path


@pytest.mark.parametrize("known", [True, False])
def test_a_file_is_installed_only_if_its_hash_is_known(folder, tmp_path, known):
    """With pip itself, which finds the file in a folder."""
    contents = wheel(tmp_path).read_bytes()
    digest = sha256(contents if known else contents + b"another").hexdigest()
    (folder / "requirements.txt").write_text("plain==1.0\ntorch==1.0\n")
    (folder / ".ci/hashes/book.txt").write_text(f"plain==1.0 --hash=sha256:{digest}\n")
    (folder / ".ci/hashes/torch.txt").write_text("torch==1.0\n")
    status, words, _ = install(
        folder,
        PIP=sys.executable,
        PIP_CONFIG_FILE=os.devnull,
        PIP_NO_INDEX="1",
        PIP_FIND_LINKS=str(tmp_path),
        PIP_TARGET=str(tmp_path / "installed"),
    )
    assert (tmp_path / "installed/plain.py").exists() is known
    assert (status == 0) is known
    assert (
        "plain==1.0: the file that pip found is none of those whose hashes .ci/hashes holds"
        in words
    ) is not known


@pytest.mark.parametrize(
    "report", ["<testsuites/>", "<testsuite><testcase><skipped/></testcase></testsuite>"]
)
def test_an_environment_in_which_no_claim_is_tested_fails(report, tmp_path):
    python = tmp_path / "bin/python"
    python.parent.mkdir()
    python.write_text(
        f"#!/bin/sh\nfor a; do case $a in --junitxml=*) echo '{report}' >${{a#*=}};; esac; done\n"
    )
    python.chmod(0o755)
    everywhere = load(".ci/everywhere.py")
    with pytest.raises(SystemExit, match="^bare: the tests did not run\n"):
        everywhere.run(everywhere.Environment("bare", folder=tmp_path))
