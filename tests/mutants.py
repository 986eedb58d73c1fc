"""Do the tests see a wrong formula? ``python tests/mutants.py [--count N] [--seed S] [--files ...]``.
And do the ledger's rows see a wrong statement? ``python tests/mutants.py --ledger [ID ...]``.

Changes one operator or one number of the package at a time, in a copy, and runs the tests of the
package until one fails. Prints each change that no test saw, and ends with 1 if there is one that
is not known to change nothing (``EQUAL``). It runs every week, since it takes an hour. Of the rows
it prints the mutants that get through, and ends with 1 if the stored table has one of them as caught.
"""

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FILES = (
    "mhalib/attention.py",
    "mhalib/losses.py",
    "mhalib/whitening.py",
    "livegrad/optim/rules.py",
    "livegrad/optim/schedules.py",
    "mhalib/models/multihead.py",
    "mhalib/models/multihead_hessian.py",
    "mhalib/models/head_groups.py",
    "mhalib/models/multihead_workspace.py",
    "mhalib/models/compiled_workspace.py",
    "mhalib/models/layer.py",
    "mhalib/models/regression.py",
    "livegrad/model/programs.py",
    "livegrad/record/derivatives.py",
    "livegrad/record/numeric.py",
    "livegrad/record/loops.py",
    "livegrad/record/cpp.py",
    "mhalib/data/mixture.py",
    "mhalib/data/regression.py",
)
"""Where formulas stand."""
EQUAL: dict[str, str] = {}
"""A change that leaves the results as they are, as it is printed → why."""
OTHER = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
}
"""Operator → what stands in its place."""


class Mutant(NamedTuple):
    """A file, a line of it, and that line with one change."""

    file: str
    line: int
    right: str
    wrong: str

    def __str__(self) -> str:
        return f"{self.file}: {self.right.strip()} -> {self.wrong.strip()}"


def mutants(file: str) -> list[Mutant]:
    """Every change of one operator or one number in the functions of a file."""
    text = (ROOT / file).read_text("utf-8")
    lines = text.split("\n")
    found = []
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            if change := _change(node):
                row, begin, end, symbol, other = change
                # Columns of the syntax tree count bytes.
                line = lines[row - 1].encode()
                at = line.find(symbol.encode(), begin, end)
                if at >= 0:
                    wrong = line[:at] + other.encode() + line[at + len(symbol.encode()) :]
                    found.append(Mutant(file, row, lines[row - 1], wrong.decode()))
    return sorted(set(found))


SYMBOLS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def _change(node):
    """Row, the columns between which it stands, a symbol, and what to put in its place."""
    if isinstance(node, ast.BinOp) and type(node.op) in OTHER:
        left, right, op = node.left, node.right, node.op
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in OTHER:
        left, right, op = node.left, node.comparators[0], node.ops[0]
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        if node.lineno != node.end_lineno:
            return None
        text = repr(node.value)
        return node.lineno, node.col_offset, node.end_col_offset, text, f"({text} + 1)"
    else:
        return None
    if left.end_lineno != right.lineno:
        return None
    return (
        left.end_lineno,
        left.end_col_offset,
        right.col_offset,
        SYMBOLS[type(op)],
        OTHER[type(op)],
    )


def is_seen(mutant: Mutant, copy: Path) -> str | None:
    """The name of a test that fails of it, or None."""
    path = copy / mutant.file
    text = path.read_text("utf-8")
    lines = text.split("\n")
    lines[mutant.line - 1] = mutant.wrong
    path.write_text("\n".join(lines), "utf-8")
    environment = os.environ | {
        "PYTHONPATH": f"{copy}{os.pathsep}{copy / 'book'}",
        "XDG_CACHE_HOME": str(copy / "cache"),
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "2", "-p", "no:cacheprovider"]
    command += ["--no-header", "--tb=no", "-W", "ignore", "tests/package"]
    try:
        ended = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, text=True, timeout=900
        )
    except subprocess.TimeoutExpired:
        return "it does not end"
    finally:
        path.write_text(text, "utf-8")
    if ended.returncode == 0:
        return None
    failed = [line for line in ended.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0] if failed else ended.stdout[-200:]


def main(count: int, seed: int, files: list[str]) -> int:
    """The number of changes that no test saw."""
    every = [mutant for file in files for mutant in mutants(file)]
    chosen = random.Random(seed).sample(every, min(count, len(every)))
    print(f"{len(chosen)} of {len(every)} changes", flush=True)
    unseen = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        shutil.copytree(
            ROOT, copy, ignore=shutil.ignore_patterns(".git", ".venv*", "_build", "__pycache__")
        )
        for mutant in chosen:
            seen = is_seen(mutant, copy)
            unseen += seen is None and str(mutant) not in EQUAL
            print("seen  " if seen else "UNSEEN", mutant, f"  [{seen}]" if seen else "", flush=True)
    print(f"{len(chosen) - unseen} of {len(chosen)} were seen")
    return unseen


def main_of_ledger(ids: list[str]) -> int:
    """The number of mutants of these rows, or of all, that get through and did not."""
    # The changes of the package need none of this.
    from mhabook import ledger, stored
    from mhabook.mutants import CAUGHT, THROUGH, run

    table, lost = stored("mutants.npz"), 0
    for id in ids or [statement.id for statement in ledger]:
        known = table.where(id=id)
        before = dict(zip(known["mutant"].tolist(), known["outcome"].tolist(), strict=True))
        found = run(id=id, seed=0)
        caught, through = (
            [row for row in found if row["outcome"] in outcomes] for outcomes in (CAUGHT, THROUGH)
        )
        print(f"{id}: {len(caught)} of {len(caught) + len(through)} are caught", flush=True)
        for row in through:
            was_caught = before.get(row["mutant"]) in CAUGHT
            lost += was_caught
            print("LOST  " if was_caught else "      ", row["mutant"], f"  [{row['ratio']:.3g}]")
    return lost


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100, help="how many changes are tried")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--files", nargs="+", default=FILES, help="where")
    parser.add_argument(
        "--ledger", nargs="*", metavar="ID", help="mutants of these rows instead, or of all"
    )
    asked = parser.parse_args()
    if asked.ledger is not None:
        sys.exit(bool(main_of_ledger(asked.ledger)))
    sys.exit(bool(main(asked.count, asked.seed, list(asked.files))))
