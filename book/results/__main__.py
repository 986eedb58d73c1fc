"""Make the tables of this folder again, one script after the other: ``python book/results``, or
``make results``.

``--list`` says what would run, and runs nothing; names of scripts run these alone: ``python
book/results heads text``. The scripts of the folder large, which need data from outside or a GPU,
are not among them, and one that measures the machine is named and left out. Finished runs are kept
in the folder .cache, so that a second command goes on where the first was stopped. They know the
source of a run, not that of mhalib: after a change of mhalib ``--fresh`` removes them, and all
begins anew. Tables that are there are replaced only with ``--overwrite``, which ``make results``
gives. After each script its tables are compared with those that were there before.
"""

import argparse
import ast
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from mhabook.studies import add_overwrite, refuse_overwriting, table_names
from mhabook.tables import Table

HERE = Path(__file__).parent
OUTSIDE = {"scale": "it measures the machine that it runs on"}
TIME = r"[\w-]+(?: [\w-]+)? (?:seconds?|minutes?)"


def scripts(folder=HERE):
    """Name → docstring of every script of the folder."""
    paths = sorted(path for path in folder.glob("*.py") if path.stem != "__main__")
    return {path.stem: ast.get_docstring(ast.parse(path.read_text("utf-8"))) for path in paths}


def times(docstring):
    """How long a script took when it was last measured, in the words of its docstring, on one
    core."""
    found = re.findall(rf"(?:\(|takes |in )(?:some )?({TIME})", " ".join(docstring.split()))
    return ", ".join(found) or "not measured"


def load(folder, names):
    """The tables of these names that are there."""
    return {name: Table.load(folder / name) for name in names if (folder / name).exists()}


def difference(before, after):
    """What has changed from one table to another of the same name, in a few words."""
    if before is None:
        return "new"
    if set(before.columns) != set(after.columns) or len(before) != len(after):
        return f"{before!r} is now {after!r}"
    largest = {name: apart(before[name], after[name]) for name in after.columns}
    worst = max(largest, key=largest.get)
    return (
        f"{worst} differs by up to {largest[worst]:.1g}" if largest[worst] else "the same numbers"
    )


def apart(a, b):
    """The largest difference of two columns, relative to the largest entry; 1 for words that
    differ."""
    if a.shape != b.shape or a.dtype.kind not in "bif":
        return float(a.shape != b.shape or (a != b).any())
    a, b = (np.nan_to_num(column.astype(float), nan=-1.0) for column in (a, b))
    return float(abs(a - b).max() / max(abs(a).max(), 1e-300))


def remake(name, docstring, folder):
    """Run one script in the working directory; whether it came to its end."""
    before, began = load(folder, table_names(docstring)), time.perf_counter()
    print(f"== {name} (on one core when last measured: {times(docstring)})", flush=True)
    failed = subprocess.run([sys.executable, str(folder / f"{name}.py"), "--overwrite"]).returncode
    print(f"   {'failed' if failed else 'done'} after {time.perf_counter() - began:.0f} s")
    for table, after in load(folder, table_names(docstring)).items():
        if not failed:
            print(f"   {table}: {difference(before.get(table), after)}", flush=True)
    return not failed


def main(arguments=None, folder=HERE):
    """What the command does; the number of scripts that failed."""
    parser = argparse.ArgumentParser(
        prog="python book/results",
        description=__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "names", nargs="*", metavar="name", help="scripts to run, without .py (default: all)"
    )
    parser.add_argument("--list", action="store_true", help="say what would run, and run nothing")
    parser.add_argument("--fresh", action="store_true", help="do the runs that are kept again, too")
    add_overwrite(parser)
    chosen, known = parser.parse_args(arguments), scripts(folder)
    if unknown := sorted(set(chosen.names) - set(known)):
        parser.error(f"name: expected one of {', '.join(known)}, got {', '.join(unknown)}")
    run = [name for name in chosen.names or known if name not in OUTSIDE]
    written = [folder / table for name in run for table in table_names(known[name])]
    refuse_overwriting(parser, written, chosen.overwrite or chosen.list)
    kept = folder / ".cache"
    if kept.is_dir() and not chosen.list:
        if chosen.fresh:
            shutil.rmtree(kept)
        else:
            print(f"== finished runs in {kept} are not done again; --fresh removes them")
    failed = []
    for name in chosen.names or known:
        if name in OUTSIDE:
            print(f"== {name} is left out: {OUTSIDE[name]}")
        elif chosen.list:
            print(f"== {name}: {', '.join(table_names(known[name]))} ({times(known[name])})")
        elif not remake(name, known[name], folder):
            failed.append(name)
    if failed:
        print(f"failed: {', '.join(failed)}")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
