"""The notebooks of the book, and reading one, the plain dictionary of its JSON: its cells,
directives and prose."""

import ast
import json
import re
import symtable
from pathlib import Path

BOOK = Path(__file__).parents[2] / "book"

HIDING = {"remove-cell", "remove-input", "hide-input", "hide-cell"}
FENCE = re.compile(r"\s*(?P<fence>`{3,}|:{3,})(?P<info>.*)")
DIRECTIVE = re.compile(r"\{(?P<name>[\w:-]+)\}\s*(?P<title>.*)")
NOT_WORDS = (
    r"(?s)\$\$.*?\$\$|\\begin\{(\w+\*?)\}.*?\\end\{\1\}|\$[^$\n]+\$"  # formulas
    r"|`[^`\n]*`|\]\([^)]*\)"  # code, addresses
)
NOT_PROSE = {"math", "code", "code-block", "code-cell", "bibliography"}


def paths(book=BOOK):
    """Every notebook of a folder, in order; not the copies that Jupyter keeps of unsaved ones."""
    return sorted(path for path in book.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)


def read(path):
    return json.loads(path.read_text("utf-8"))


def source(cell):
    return "".join(cell["source"])


def tags(cell):
    return set(cell["metadata"].get("tags", []))


def name(cell):
    return f"cell {cell.get('id', '(no id)')}"


def code(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def text(notebook):
    """All Markdown, as one text."""
    return "\n\n".join(
        source(cell) for cell in notebook["cells"] if cell["cell_type"] == "markdown"
    )


def lines(cell):
    return [line for line in source(cell).splitlines() if line.strip()]


def with_solutions(notebook):
    """Each code cell, with the label of the exercise that it solves, or ""."""
    label = ""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            for edge, exercise in re.findall(r"\{solution-(start|end)\}(.*)", source(cell)):
                label = exercise.strip() if edge == "start" else ""
        elif cell["cell_type"] == "code":
            yield cell, label


def split_by_visibility(notebook):
    """The code cells whose input a reader meets, and the others."""
    visible, hidden = [], []
    for cell, solution in with_solutions(notebook):
        (hidden if solution or tags(cell) & HIDING else visible).append(cell)
    return visible, hidden


def bound_and_used(cell):
    """The names that a cell binds in the notebook, and those that it takes from there."""
    python = re.sub(r"(?m)^(\s*)([%!].*|[\w.]+\?+)$", r"\1pass", source(cell))
    top = symtable.symtable(python, name(cell), "exec")
    bound = {
        each.get_name() for each in top.get_symbols() if each.is_assigned() or each.is_imported()
    }
    inner = list(top.get_children())
    used = {each.get_name() for each in top.get_symbols() if each.is_referenced()}
    while inner:
        table = inner.pop()
        used |= {each.get_name() for each in table.get_symbols() if each.is_global()}
        inner += table.get_children()
    return bound, used - bound


def nodes(cell):
    """The syntax tree, flat; lines that only IPython understands are blanked."""
    python = re.sub(r"(?m)^(\s*)([%!].*|[\w.]+\?+)$", r"\1pass", source(cell))
    return list(ast.walk(ast.parse(python)))


def directives(notebook):
    """(name, title, body) of every directive, nested ones too."""
    rows, found = text(notebook).splitlines(), []
    for number, row in enumerate(rows):
        opening = FENCE.match(row)
        directive = DIRECTIVE.match(opening["info"]) if opening else None
        if directive:
            fence = opening["fence"]
            ends = (i for i in range(number + 1, len(rows)) if closes(rows[i], fence))
            body = "\n".join(rows[number + 1 : next(ends, len(rows))])
            found.append((directive["name"], directive["title"], body))
    return found


def closes(row, fence):
    row = row.strip()
    return row.startswith(fence) and set(row) == {fence[0]}


def option(body, key):
    match = re.search(rf"(?m)^\s*:{key}:\s*(.*)$", body)
    return match[1].strip() if match else ""


def prose(markdown):
    """What a reader reads as sentences: no code, no formulas, no markup of directives."""
    kept, open_fences = [], []
    for row in markdown.splitlines():
        opening = FENCE.match(row)
        if open_fences and closes(row, open_fences[-1][0]):
            open_fences.pop()
        elif opening:
            directive = DIRECTIVE.match(opening["info"])
            is_prose = bool(directive) and directive["name"] not in NOT_PROSE
            open_fences.append((opening["fence"], is_prose))
        elif all(is_prose for _, is_prose in open_fences) and not re.match(r"\s*:[\w-]+:", row):
            kept.append(row)
    return re.sub(NOT_WORDS, " ", "\n".join(kept))
