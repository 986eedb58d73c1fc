"""A page of the book, executed once, and what its prose says, held against what its cells leave."""

import ast
import contextlib
import functools
import inspect
import os
import tempfile
from pathlib import Path

from IPython.core.inputtransformer2 import TransformerManager

from livegrad.live.widget import LiveFigure
from notebooks import BOOK, code, read, source


class Page:
    """The notebook ``book/NAME.ipynb`` and the claims about it.

    The first claim that is asked for executes the whole page in one namespace. Each claim is called
    when its cell has run, before the next one does: it sees the page's names as its cell leaves
    them.
    """

    def __init__(self, name):
        self.name, self.claims, self.outcomes = name, {}, None

    def after(self, cell):
        """Decorator: a claim about what the cell with this id leaves; its parameters are names of
        the page."""

        def tie(claim):
            self.claims.setdefault(cell, []).append(claim)

            @functools.wraps(claim)
            def test():
                self.outcomes = self.outcomes or self.execute()
                if error := self.outcomes.get(claim):
                    raise error

            del test.__wrapped__  # else pytest takes the page's names for fixtures
            return test

        return tie

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
