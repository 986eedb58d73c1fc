"""The rules of the book's notebooks: pure functions, notebook → list of offences, empty when all is
well.

A *chapter* is a notebook named NN_title.ipynb in the folder of its part; what its walk has no room
for is on a *further* page, NN_further.ipynb. Code is *visible* unless a tag hides its input, or it
is a solution of an exercise.
"""

import ast
import re

from notebooks import (
    FENCE,
    closes,
    code,
    directives,
    lines,
    name,
    nodes,
    option,
    prose,
    source,
    split_by_visibility,
    tags,
    text,
)

TAGS = {
    "remove-cell",
    "remove-input",
    "hide-input",
    "hide-cell",
    "hide-output",
    "raises-exception",
    "full-width",
}
SECTIONS = {
    "predict": r"\bpredict",
    "see": r"\bsee\b",
    "check": r"\bcheck",
    "breaks": r"\bbreaks?\b",
    "exercises": r"\bexercises\b",
    "what we have seen": r"\bwhat we have seen\b",
    "sources": r"\bsources\b",
}
STATEMENT = re.compile(r"prf:(theorem|lemma|proposition|corollary|definition)")
MARK = re.compile(r"\[(paper|second-hand|recalled|ours)\b[^\]]*\]")
EMOJI = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u26ff\u2705\u2728\u274c\u274e\u2753-\u2757\u2795-\u2797\u2b50\u2b55\ufe0f]"
)


# --- every notebook
# -----------------------------------------------------------------------------------------


def unknown_tags(notebook):
    """The builder ignores a misspelled tag in silence."""
    return [f"{name(c)}: {t}" for c in notebook["cells"] for t in sorted(tags(c) - TAGS)]


def unstable_ids(notebook):
    ids = [cell.get("id", "") for cell in notebook["cells"]]
    malformed = [
        f"cell {i}: id {x!r}" for i, x in enumerate(ids) if not re.fullmatch("[a-z0-9-]+", x)
    ]
    return malformed + [f"id {x!r} is used twice" for x in sorted(set(ids)) if ids.count(x) > 1]


def stored_outputs(notebook):
    """A source keeps no output; those of the runnable edition come from the built book."""
    return [
        f"{name(c)}: has outputs"
        for c in code(notebook)
        if c.get("outputs") or c.get("execution_count")
    ]


def assertions(notebook):
    """A reader may change a number and go on; what the prose says is checked by
    ``tests/claims``."""
    return [f"{name(c)}: assert" for c in code(notebook) if "assert" in source(c)]


def foreign_kernel(notebook):
    """A kernel named after someone's environment does not exist anywhere else."""
    kernel = notebook["metadata"].get("kernelspec", {}).get("name")
    return [] if kernel == "python3" else [f"kernel {kernel!r} instead of 'python3'"]


def emoji(notebook):
    return [f"{name(c)}: {found}" for c in notebook["cells"] for found in EMOJI.findall(source(c))]


def repeated_functions(notebooks):
    """A helper defined twice drifts apart: path → notebook for the whole book in, one offence per
    name."""
    homes = {}
    for path, notebook in notebooks.items():
        for node in (node for cell in code(notebook) for node in nodes(cell)):
            if isinstance(node, ast.FunctionDef):
                homes.setdefault(node.name, set()).add(str(path))
    return [f"{f} in {', '.join(sorted(paths))}" for f, paths in homes.items() if len(paths) > 1]


# --- the code of a chapter
# ----------------------------------------------------------------------------------


def long_visible_cells(notebook):
    visible, _ = split_by_visibility(notebook)
    counts = {
        name(cell): sum(not line.startswith(("import ", "from ")) for line in lines(cell))
        for cell in visible
    }
    return [f"{cell}: {count} lines, at most 8" for cell, count in counts.items() if count > 8]


def cut_code(notebook):
    """The column of a desk is 84 characters of code wide, in a solution, too."""
    folded = {"remove-cell", "remove-input", "hide-input", "hide-cell"}
    shown = [cell for cell in code(notebook) if not tags(cell) & folded]
    return [f"{name(c)}: {line}" for c in shown for line in source(c).split("\n") if len(line) > 84]


def long_hidden_cells(notebook):
    _, hidden = split_by_visibility(notebook)
    return [f"{name(c)}: {len(lines(c))} lines, at most 15" for c in hidden if len(lines(c)) > 15]


def visible_nodes(notebook):
    visible, _ = split_by_visibility(notebook)
    return [(cell, node) for cell in visible for node in nodes(cell)]


def visible_loops(notebook):
    """None but one, where the loop is the lesson."""
    loops = (ast.For, ast.While, ast.AsyncFor)
    found = [
        f"{name(c)}: line {n.lineno}, a second loop"
        for c, n in visible_nodes(notebook)
        if isinstance(n, loops)
    ]
    return found[1:]


def visible_definitions(notebook):
    """None but one function, the lesson; and what a cell hands to ``mha.explore``, which is the
    reader's, to change."""
    offences = [f"{name(c)}: {n.name}, a second definition" for c, n in lessons(notebook)[1:]]
    assigned = [(c, n.value) for c, n in visible_nodes(notebook) if isinstance(n, ast.Assign)]
    return offences + [
        f"{name(c)}: a lambda with a name" for c, v in assigned if isinstance(v, ast.Lambda)
    ]


def lessons(notebook):
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    nodes = list(visible_nodes(notebook))
    methods = {
        method for _, node in nodes if isinstance(node, ast.ClassDef) for method in node.body
    }
    return [
        (cell, node)
        for cell, node in nodes
        if isinstance(node, kinds)
        and node not in methods
        and f"mha.explore({node.name}," not in source(cell)
    ]


def visible_plotting(notebook):
    return mentions(notebook, r"^(go|px|plt|plotly|matplotlib)\b")


def visible_randomness(notebook):
    modules = r"^((np|numpy|torch)\.)?random\b"
    functions = r"\b(default_rng|RandomState|manual_seed)$"
    return mentions(notebook, f"{modules}|{functions}")


def mentions(notebook, pattern):
    spoken = {
        (name(cell), words): None
        for cell, node in visible_nodes(notebook)
        for words in dotted(node)
    }
    return [f"{cell}: {words}" for cell, words in spoken if re.search(pattern, words)]


def dotted(node):
    """The names that a node of a syntax tree speaks of, with their dots."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return [ast.unparse(node)] if isinstance(node, ast.Name | ast.Attribute) else []


# --- the words of a chapter
# ---------------------------------------------------------------------------------


def thin_prose(notebook):
    visible, _ = split_by_visibility(notebook)
    rows = sum(len(lines(cell)) for cell in visible)
    words = len(re.findall(r"[^\W\d_][\w'’-]+", prose(text(notebook))))
    return (
        []
        if words >= 12 * rows
        else [f"{words} words for {rows} visible lines of code, not {12 * rows}"]
    )


def sections_out_of_order(notebook):
    headings = [
        row.lower() for row in prose(text(notebook)).splitlines() if re.match("#{2,3} ", row)
    ]
    offences, start, before = [], 0, "the title"
    for section, pattern in SECTIONS.items():
        at = next((i for i in range(start, len(headings)) if re.search(pattern, headings[i])), None)
        if at is None:
            offences.append(f"no heading {section!r} after {before!r}")
        else:
            start, before = at + 1, section
    return offences


def missing_exercises(notebook):
    """At least five, each with a solution in a dropdown."""
    found = directives(notebook)
    labels = [
        option(body, "label") for kind, _, body in found if kind in {"exercise", "exercise-start"}
    ]
    solved = {title: body for kind, title, body in found if kind in {"solution", "solution-start"}}
    offences = [] if len(labels) >= 5 else [f"{len(labels)} exercises, at least 5"]
    offences += [
        f"exercise {label or '(no label)'}: no solution" for label in labels if label not in solved
    ]
    open_ones = [title for title, body in solved.items() if "dropdown" not in option(body, "class")]
    return offences + [f"solution of {title}: not in a dropdown" for title in open_ones]


def unmarked_statements(notebook):
    """Every statement says where it comes from; the build moves the mark to its number, and links
    its row there."""
    offences = []
    for kind, title, body in directives(notebook):
        if STATEMENT.fullmatch(kind):
            called = f"{kind} {title or option(body, 'label')}"
            if not MARK.search(title + body):
                offences.append(f"{called}: no mark")
            if re.search(r"(?m)^\*\*\[[^\]]*\]\*\* +[a-z]", body):
                offences.append(f"{called}: no sentence without its mark")
    return offences


def unclosed_fences(notebook):
    """What a cell begins it ends: a proposition without its end would hold its own proof."""
    offences = []
    for cell in (cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"):
        fences = []
        for row in source(cell).splitlines():
            if fences and closes(row, fences[-1]):
                fences.pop()
            elif opening := FENCE.match(row):
                fences.append(opening["fence"])
        offences += [f"{name(cell)}: no end of {fence}" for fence in fences]
    return offences


def broken_dropdowns(notebook):
    """A {prf:proof} has no title to click on: as a dropdown it stops every other dropdown of its
    page."""
    proofs = [body for kind, _, body in directives(notebook) if kind == "prf:proof"]
    return [
        "prf:proof with class dropdown" for body in proofs if "dropdown" in option(body, "class")
    ]


def pictures_without_alt(notebook):
    empty = re.findall(r"!\[\s*\]\(([^)]*)\)", text(notebook))
    drawn = [
        (title, body) for kind, title, body in directives(notebook) if kind in {"figure", "image"}
    ]
    return [
        f"{path}: no alt text"
        for path in empty + [t for t, body in drawn if not option(body, "alt")]
    ]


def figures_without_mhabook(notebook):
    """Imported, mhabook gives the figures of a page the book's renderer."""
    drawn = [
        name(cell)
        for cell in code(notebook)
        if re.search(r"\bplots\.\w|\bmha\.explore\(", source(cell))
    ]
    known = any(
        "import mhabook" in source(cell) or "from mhabook" in source(cell)
        for cell in code(notebook)
    )
    return [] if known else [f"{cell}: a figure, and no import of mhabook" for cell in drawn]


def bluster(notebook):
    """Words that stand where a reason should."""
    return [f"{word!r}" for word in re.findall(r"(?i)\b(?:clearly|obviously)\b", text(notebook))]
