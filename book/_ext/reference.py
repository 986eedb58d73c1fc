"""What the reference pages need: links into the ledger, and docstrings that Sphinx can read."""

import re


def label_ledger_rows(app, env):
    """Let {ref}`text <ledger-ID>` lead to a statement's row: rows come from a cell, where Sphinx finds no labels."""
    from mhalib import ledger

    std = env.get_domain("std")
    for statement in ledger:
        label = f"ledger-{statement.id}"
        std.anonlabels[label] = "book/ledger", label
        std.labels[label] = "book/ledger", label, statement.title


def read_docstring(app, what, name, obj, options, lines):
    """Read `name : words` as a description, not a type; `Source: …` as a section; and | as mathematics does."""
    text = "\n".join(lines).replace("|", r"\|")
    text = re.sub(r"(?m)^([\w, ]+) : ", r"\1\n    ", text)
    lines[:] = re.sub(r"(?m)^Source: ", "Source\n------\n", text).split("\n")


def setup(app):
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.napoleon")
    app.connect("env-updated", label_ledger_rows)
    app.connect("autodoc-process-docstring", read_docstring, priority=100)  # before napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}
