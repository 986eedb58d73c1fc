"""A page of the book, executed once, and what its prose says, held against what its cells leave."""

import ast
import contextlib
import functools
import inspect
import os
import re
import tempfile
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager

from livegrad.live.widget import LiveFigure
from notebooks import BOOK, code, read, source
from sentences import numbers, places


class Page:
    """The notebook ``book/NAME.ipynb`` and the claims about it.

    The first claim that is asked for executes the whole page in one namespace. Each claim is called
    when its cell has run, before the next one does: it sees the page's names as its cell leaves
    them.
    """

    def __init__(self, name):
        self.name, self.claims, self.said, self.outcomes = name, {}, {}, None

    def after(self, cell, says=()):
        """Decorator: a claim about what the cell with this id leaves; its parameters are names of
        the page.

        ``says`` quotes what the claim holds: each quotation stands once on the page, in the section
        of its cell or near it, or later. Where it has numbers, in digits or words, the
        claim takes them as ``said``, and holds the cell against them.
        """
        says = (says,) if isinstance(says, str) else says
        said = [number for quotation in says for number in numbers(quotation)]

        def tie(claim):
            self.claims.setdefault(cell, []).append(claim)
            self.said[claim] = said
            reads = "said" in inspect.signature(claim).parameters
            takes = "takes said" if reads else "takes no said"
            assert reads == bool(said), f"{claim.__name__} quotes the numbers {said} and {takes}"

            @functools.wraps(claim)
            def test():
                for quotation in says:
                    self.find(quotation, cell)
                self.outcomes = self.outcomes or self.execute()
                if error := self.outcomes.get(claim):
                    raise error

            del test.__wrapped__  # else pytest takes the page's names for fixtures
            return test

        return tie

    def find(self, quotation, cell):
        """Assert that a quotation stands once on the page, and not far before its cell."""
        section, home, found, solved = 0, 0, [], False
        for each in read(BOOK / f"{self.name}.ipynb")["cells"]:
            if each["cell_type"] == "markdown":
                for part in re.split("(?m)^(?=## )", source(each)):
                    section += part.startswith("## ")
                    solved |= part.startswith("## Exercises")
                    found += [section] * len(places(quotation, part))
            elif each["id"] == cell and not solved:  # what a solution finds is told before, too
                home = section
        times = f"{len(found)} times" if found else "nowhere"
        assert len(found) == 1, f"{self.name} says {times}: {quotation!r}"
        assert found[0] >= home - 2, f"{quotation!r} stands far before {cell!r}"

    def execute(self):
        """claim → the error that it raised, or None. Where a cell raises, every claim that would
        have held fails."""
        namespace, outcomes = {"__name__": "__main__"}, {}
        cells = code(read(BOOK / f"{self.name}.ipynb"))
        failure = None
        with in_a_folder_of_its_own():
            for cell in cells:
                try:
                    run(cell, f"{self.name}, cell {cell['id']}", namespace)
                except Exception as error:
                    failure = AssertionError(
                        f"{self.name}: cell {cell['id']!r} raises {type(error).__name__}: {error}"
                    )
                    failure.__cause__ = error
                    break
                for claim in self.claims.get(cell["id"], ()):
                    outcomes[claim] = self.outcome(claim, cell["id"], namespace)
        known = {cell["id"] for cell in cells}
        for cell, claims in self.claims.items():
            gone = None if cell in known else AssertionError(f"{self.name} has no cell {cell!r}")
            outcomes |= {claim: outcomes.get(claim) or gone or failure for claim in claims}
        return outcomes

    def outcome(self, claim, cell, namespace):
        namespace = namespace | {"said": self.said[claim]}
        missing = [name for name in inspect.signature(claim).parameters if name not in namespace]
        try:
            assert not missing, f"{self.name} has no {', '.join(missing)} after cell {cell!r}"
            claim(**{name: namespace[name] for name in inspect.signature(claim).parameters})
        except Exception as error:
            return error


def run(cell, title, namespace):
    """Execute a cell as IPython would, but for its display: a live figure that it shows is the
    claims' ``live``."""
    module = ast.parse(TransformerManager().transform_cell(source(cell)), title)
    shown = (
        module.body.pop().value
        if module.body and isinstance(module.body[-1], ast.Expr)
        else ast.Constant(None)
    )
    exec(compile(module, title, "exec"), namespace)
    shown = eval(
        compile(ast.Expression(ast.fix_missing_locations(shown)), title, "eval"), namespace
    )
    if isinstance(shown, LiveFigure):
        namespace["live"] = shown


@functools.cache
def shared(name):
    """The page whose claims stand in several files: it is executed once for all of them."""
    return Page(name)


@contextlib.contextmanager
def in_a_folder_of_its_own():
    """What a page writes does not stay; what it reads it finds without the folder that it stands
    in."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
