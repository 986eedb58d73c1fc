"""Do the claims of the book hold on other machines? ``python .ci/everywhere.py [--only NAME ...]
[--list]``.

Executes every page and checks all claims about it in each environment that this machine can
imitate: the kernels that OpenBLAS, PyTorch and MKL choose on other processors, training without a
compiler, two threads, random numbers moved by one unit in the last place, other Pythons (on PATH,
or named by the variable PYTHONS), and the oldest and newest libraries that pyproject.toml allows.
Prints a table, environment by page, of how many claims fell, and then which. With ``--record`` it
writes how many held to book/results/environments.json, which the first page and the colophon show.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from shutil import which
from typing import NamedTuple
from xml.etree import ElementTree

ROOT, CLAIMS = Path(__file__).resolve().parents[1], "tests/claims"
RECORD = ROOT / "book" / "results" / "environments.json"
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
KERNELS = ("OPENBLAS_CORETYPE", "ATEN_CPU_CAPABILITY", "MKL_CBWR")
# The instructions that a kind of processor needs, and the KERNELS that libraries choose on it.
PROCESSORS = {
    "sse4_2": ("Nehalem", "default", "COMPATIBLE"),
    "avx": ("Sandybridge", "default", "AVX"),
    "avx2": ("Haswell", "avx2", "AVX2"),
    "avx512f": ("SkylakeX", "avx512", "AVX512"),
}
COLUMNS = [f"{number:02}" for number in range(1, 18)] + ["other"]


class Environment(NamedTuple):
    """What variables are set, what pytest is told, and the folder of the Python, with the command
    that makes it."""

    name: str
    variables: dict = {}
    options: tuple = ()
    folder: str = ".venv"
    made_by: tuple = ()
    python: str = ""


def instructions():
    """The instructions of this processor, where the system tells them."""
    cpuinfo = Path("/proc/cpuinfo")
    flags = re.search(r"(?m)^flags\s*:(.*)", cpuinfo.read_text()) if cpuinfo.exists() else None
    return set(flags[1].split()) if flags else set()


def pythons():
    """version → path of the Pythons from 3.11 on that are here; not that of .venv."""
    named = [*os.environ.get("PYTHONS", "").split(), "python3.11", "python3.12", "python3.13"]
    found = {version(path): path for name in named if (path := which(name))}
    return {
        each: found[each]
        for each in sorted(found.keys() - {"", version(ROOT / ".venv/bin/python")})
    }


def version(python):
    program = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", program], capture_output=True, text=True).stdout.strip()


def environments():
    """All that this machine can imitate; "farthest" is the oldest processor, on random numbers that
    have moved."""
    two, moved = dict.fromkeys(THREADS, "2"), ("--nudged",)
    kernels = [
        dict(zip(KERNELS, kinds, strict=True))
        for needs, kinds in PROCESSORS.items()
        if needs in instructions()
    ]
    numpy = {"LIVEGRAD_COMPILED": "0"}  # a compiled program knows the processor that is here
    yield Environment("this machine")
    yield Environment("numpy alone", numpy)
    yield Environment("farthest", kernels[0] | numpy if kernels else numpy, moved)
    yield Environment("two threads", two)
    yield Environment("data moved", options=moved)
    for chosen in kernels:
        yield Environment(chosen["OPENBLAS_CORETYPE"], chosen | numpy)
    for each, path in pythons().items():
        yield Environment(
            f"Python {each}",
            folder=f".venv-{each}",
            made_by=(".ci/venv", f".venv-{each}", "tools"),
            python=path,
        )
    for age in ("oldest", "newest"):  # these alone are not pinned
        yield Environment(
            f"{age} libraries",
            folder=f".venv-{age}",
            made_by=(".ci/libraries", age, f".venv-{age}"),
        )


def run(environment):
    """The tests of one environment, as elements of pytest's report."""
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in (*KERNELS, "PYTHON", "MAKEFLAGS", "MAKELEVEL")
    }
    if environment.made_by:
        named = {"PYTHON": environment.python} if environment.python else {}
        subprocess.run(
            environment.made_by, cwd=ROOT, env=clean | named, check=True, stdout=subprocess.DEVNULL
        )
    variables = (
        clean | dict.fromkeys(THREADS, "1") | {"LIVEGRAD_FIGURES": "book"} | environment.variables
    )
    # threads of two workers fight over two cores
    workers = "1" if environment.variables.keys() & {*THREADS} else "2"
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.xml")
        command = [
            ROOT / environment.folder / "bin/python",
            "-m",
            "pytest",
            CLAIMS,
            "-q",
            "-n",
            workers,
            "--dist",
            "loadfile",
            "-p",
            "no:cacheprovider",
            f"--junitxml={report}",
            *environment.options,
        ]
        done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True)
        cases = list(ElementTree.parse(report).iter("testcase")) if report.exists() else []
    if not any(case.find("skipped") is None for case in cases):
        sys.exit(
            f"{environment.name}: the tests did not run\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        )
    return cases


def trouble(case):
    """What a test that fell says, or nothing."""
    return next((part.get("message", "?") for part in case if part.tag in ("failure", "error")), "")


def column(case):
    number = re.search(r"\.test_(\d\d)_", case.get("classname"))
    return number[1] if number else "other"


def recorded(environment, held, of):
    """Write down how many claims of how many held in an environment today; what is known of others
    stays."""
    known = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
    known[environment] = {"held": held, "of": of, "on": datetime.now(UTC).date().isoformat()}
    RECORD.write_text(json.dumps(known, indent=2) + "\n", "utf-8")


def main(only=(), record=False):
    """Print a row for each environment, then what fell; say by the exit status that something
    did."""
    chosen = [each for each in environments() if not only or each.name in only]
    if unknown := set(only) - {each.name for each in chosen}:
        sys.exit(f"--only: expected names of --list, got {', '.join(sorted(unknown))}")
    print(
        f"{'claims that fell':18}" + "".join(f"{name:>4}" for name in COLUMNS[:-1]) + "  other",
        flush=True,
    )
    fallen, count = [], 0
    for environment in chosen:
        start, cases = time.monotonic(), run(environment)
        fell = [case for case in cases if trouble(case)]
        counts = Counter(map(column, fell))
        row = "".join(f"{counts[name] or '·':>{4 if name.isdigit() else 7}}" for name in COLUMNS)
        print(
            f"{environment.name:18}{row}   {len(cases) - len(fell)} of {len(cases)} hold, "
            f"{time.monotonic() - start:.0f} s",
            flush=True,
        )
        if record:
            recorded(environment.name, len(cases) - len(fell), len(cases))
        fallen, count = fallen + [(environment.name, case) for case in fell], count + len(cases)
    for name, case in fallen:
        print(f"\n{name}: {case.get('classname')} {case.get('name')}\n   {trouble(case)[:400]}")
    print(f"\n{count - len(fallen)} passed, {len(fallen)} failed")
    return bool(fallen)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="NAME",
        help="this environment; may be repeated",
    )
    parser.add_argument(
        "--record", action="store_true", help="write the counts to book/results/environments.json"
    )
    parser.add_argument(
        "--list", action="store_true", help="name the environments, and run nothing"
    )
    asked = parser.parse_args()
    if asked.list:
        print(*(environment.name for environment in environments()), sep="\n")
    else:
        sys.exit(main(asked.only, asked.record))
