"""How large and how dense the code is: ``python .ci/measures.py [--at COMMIT]``.

A table of packages: files, lines, lines of code, expressions (of Python's syntax tree), expressions
a line of code, the width that nine of ten lines of code keep to, comments for a hundred lines of
code, public definitions, test functions. A line cut into two packed halves is still packed: the
numbers say where to look, and a reader decides.
"""

import argparse
import ast
import io
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "mhalib",
    "livegrad",
    "book/mhabook",
    "book/_ext",
    "book/results",
    "tests/support",
    "tests",
)
NO_CODE = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
)


class Measures(NamedTuple):
    """What is counted of one file or of several."""

    files: int
    lines: int
    widths: list[int]
    expressions: int
    comments: int
    public: int
    tests: int


def measured(text: str) -> Measures:
    """The measures of one file."""
    tree, docstrings = ast.parse(text), set()
    for node in ast.walk(tree):
        # A string that stands alone explains: a docstring, or what stands below a constant.
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            docstrings.update(range(node.lineno, node.end_lineno + 1))
    code, comments = set(), 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments += 1
        elif token.type not in NO_CODE:
            code.update(range(token.start[0], token.end[0] + 1))
    lines = text.splitlines()
    widths = [len(lines[k - 1]) for k in sorted(code - docstrings)]
    definitions = [
        node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    ]
    expressions = sum(isinstance(node, ast.expr) for node in ast.walk(tree))
    return Measures(
        1,
        len(lines),
        widths,
        expressions,
        comments,
        sum(not node.name.startswith("_") for node in definitions),
        sum(node.name.startswith("test_") for node in definitions),
    )


def files(folder: str, commit: str) -> Iterator[str]:
    """The texts of a folder's Python files, as they are, or as they were at a commit."""
    if not commit:
        yield from (path.read_text("utf-8") for path in sorted((ROOT / folder).rglob("*.py")))
        return
    names = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", commit, folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    for name in names:
        if name.endswith(".py"):
            shown = subprocess.run(
                ["git", "show", f"{commit}:{name}"], cwd=ROOT, capture_output=True, check=True
            )
            yield shown.stdout.decode("utf-8")


def row(folder: str, commit: str) -> str:
    """The measures of a folder, as a line of the table."""
    found = [measured(text) for text in files(folder, commit)]
    if not found:
        return f"{folder:18} none"
    widths = sorted(width for one in found for width in one.widths)
    lines, expressions, comments = (
        sum(each)
        for each in zip(*((one.lines, one.expressions, one.comments) for one in found), strict=True)
    )
    return line(
        folder,
        f"{len(found)}",
        f"{lines:,}",
        f"{len(widths):,}",
        f"{expressions:,}",
        f"{expressions / len(widths):.1f}",
        f"{widths[int(0.9 * len(widths))]}",
        f"{100 * comments / len(widths):.1f}",
        f"{sum(one.public for one in found)}",
        f"{sum(one.tests for one in found)}",
    )


HEAD = ("files", "lines", "code", "expressions", "a line", "p90", "comments", "public", "tests")


def line(first: str, *columns: str) -> str:
    """A line of the table."""
    return f"{first:18}" + "".join(
        f"{column:>{len(head) + 4}}" for column, head in zip(columns, HEAD, strict=True)
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--at", default="", metavar="COMMIT", help="as the code was then")
    commit = parser.parse_args().at
    print(line("", *HEAD))
    for folder in PACKAGES:
        print(row(folder, commit), flush=True)
