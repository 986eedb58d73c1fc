"""What stands at the number of a statement: where it comes from, and its row in the ledger."""

import re
from functools import cache

STATEMENT = re.compile(
    r'(<div class="proof \w+ admonition" id="([^"]+)">\s*'
    r'(?:<span id="index-\d+"></span>)?<p class="admonition-title">.*?)(</p>\s*<section[^>]*>\s*<p>)'
    # A formula keeps the bracket behind it in a box of its own.
    r"(?:<strong>\[((?:(?!</p>).)*?)\]((?:</span>)*)</strong>\s*)?",
    re.DOTALL,
)
MARKED = '{title} <span class="mha-known">{words}</span>{rest}'
ROW = '<a href="{address}#ledger-{name}" aria-label="{name} in the ledger">ledger</a>'


@cache
def in_the_ledger():
    """The ids of the statements that have a row."""
    from mhabook import ledger

    return {statement.id for statement in ledger}


def mark_statements(app, pagename, templatename, context, doctree):
    """Move the mark of a statement, which its text begins with, to its number, and link its row
    there."""

    def marked(found):
        title, name, rest, mark, ends = found.groups()
        row = (
            ROW.format(address=context["pathto"]("book/ledger"), name=name)
            if name in in_the_ledger()
            else None
        )
        words = " · ".join(word for word in (mark and mark + ends, row) if word)
        return MARKED.format(title=title, words=words, rest=rest) if words else found[0]

    context["body"] = STATEMENT.sub(marked, context.get("body", ""))


def setup(app):
    app.connect("html-page-context", mark_statements)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
