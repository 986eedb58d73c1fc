"""What the reference pages need: links into the ledger, and docstrings that Sphinx can read."""

import re


def label_statements(app, env):
    """Let `[text](#ledger-ID)` lead to a statement's row, and `[text](#ID)` from the row to the
    statement.

    Rows come from a cell, where Sphinx finds no labels; and it finds those of statements only as
    {prf:ref}.
    """
    from mhabook import ledger

    std = env.get_domain("std")
    for statement in ledger:
        places = {
            f"ledger-{statement.id}": "book/ledger",
            statement.id: env.proof_list[statement.id]["docname"],
        }
        for label, page in places.items():
            std.anonlabels[label] = page, label
            std.labels[label] = page, label, statement.title


AS_IT_IS = re.compile(
    r"(?ms)``.+?``|`.+?`|^ *>>> .*?(?=^ *$|\Z)|^ *\.\. math::.*?(?=^ *$|\Z)|(?P<bar>\|)"
)
"""What keeps its bars: code, examples and formulas; elsewhere a bar would begin a substitution."""


def read_docstring(app, what, name, obj, options, lines):
    """Read `name : words` as a description, not a type; `Raises …` and `Source: …` as sections; a
    bar as itself."""
    text = AS_IT_IS.sub(lambda part: r"\|" if part["bar"] else part[0], "\n".join(lines))
    text = re.sub(r"(?m)^([\w, ]+) : ", r"\1\n    ", text)
    text = re.sub(r"(?m)(^|  )Source: ", "\n\nSource\n------\n", text)
    raised = re.compile(
        r"(?ms)(?:^|(?<=\.) )Raises ((?:[A-Z]\w+Error(?:, | or )?)+) (.*?)(?=\n\n|\Z)"
    )

    def section(found):  # two blank lines end it
        return f"\n\nRaises\n------\n{found[1]}\n    " + found[2].replace("\n", "\n    ") + "\n\n"

    text = raised.sub(section, text)
    lines[:] = text.split("\n")


def setup(app):
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.napoleon")
    app.connect("env-updated", label_statements)
    app.connect("autodoc-process-docstring", read_docstring, priority=100)  # before napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}
