"""The guesses of a reader: fields below "Predict", what was said beside the result, and a page of
all of them; and those of a class, on one page.

``guesses`` writes the fields of a group, such as ``chapter-6``; ``guessed`` the places of some of
its guesses, as ``chapter-6 1 3a``; ``guesses-of-all-pages`` the table, and ``guesses-of-a-class``
that of a class. A group stands in the ``questions.yml`` of its chapter: number of a guess → what is
asked, and the choices where there are some, or the curve that is to be drawn (``curves.py``).
``mhabook/exercises/guesses.js`` fills all of it from what the reader's browser keeps, ``class.js``
from what a class hands in.

Beside choices stand ``why``, a sentence, and the ``answer``, where the page confirms one of them; a
number or a curve that a lecture asks for has ``why`` as well. Both are for whoever teaches: in the
notes of a lecture (``deck.py``), and folded on the page of a class. Where one guesses is neither.
"""

import json
import posixpath
from html import escape
from pathlib import Path

import course
import curves
import edition
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from livegrad.live.modules import link
from mhabook.exercises.curves import copy, empty
from mhabook.exercises.guess import YOURS, fields, groups, on_a_page, place_of_guess

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "book" / "mhabook" / "exercises"
ALL = "book/start/guesses"
CLASS = "book/start/class"
WITHOUT_SCRIPT = (
    "<noscript><p>Without JavaScript no guess is kept, and this table stays empty.</p></noscript>"
)
HAND_IN = (
    '<p class="mha-hands-in" data-class="class.html"><label>Hand in <select>'
    '<option value="">the guesses of all pages</option>{pages}</select></label> '
    '<button type="button" data-as="link">Copy a link</button> '
    '<button type="button" data-as="file">Save a file</button> <span role="status"></span></p>'
)
FORGET = (
    '<p><button type="button" class="mha-forget">Forget all my guesses and answers</button> '
    '<span role="status"></span></p>'
)


def pages():
    """Name of a group → its page."""
    texts = {
        page.name: course.markdown_of(page.name)
        for page in edition.pages(ROOT)
        if (ROOT / f"{page.name}.ipynb").exists()
    }
    return {
        name: page
        for name in groups()
        for page, text in texts.items()
        if f"{{guesses}} {name}\n" in text
    }


def titled(page):
    """The title of a page with the number of its chapter, for HTML; that of a further page has
    it."""
    number, title = course.number(page), course.title(page)
    return escape(
        f"Chapter {number} · {title}" if number and not title.startswith("Chapter") else title
    )


def relative(page, start):
    return posixpath.relpath(f"{page}.html", posixpath.dirname(start))


class Guesses(SphinxDirective):
    """The fields of a group of guesses."""

    required_arguments = 1

    def run(self):
        there = f', and <a href="{relative(ALL, self.env.docname)}">on one page</a>'
        return [nodes.raw("", fields(self.arguments[0], there), format="html")]


class Guessed(SphinxDirective):
    """What was said, of one guess or several of a group."""

    required_arguments, final_argument_whitespace = 1, True

    def run(self):
        name, *numbers = self.arguments[0].split()
        group = groups()[name]
        places = (
            place_of_guess(name, number, group[number], on_a_page(group[number]))
            for number in numbers
        )
        return [nodes.raw("", "".join(places), format="html")]


class GuessesOfAllPages(SphinxDirective):
    """A table of all guesses, page by page."""

    def run(self):
        found, home = groups(), pages()
        tables = "".join(self.table(name, found[name], home[name]) for name in found)
        choices = "".join(f'<option value="{name}">{titled(home[name])}</option>' for name in found)
        hand_in = HAND_IN.format(pages=choices)
        return [nodes.raw("", f"{WITHOUT_SCRIPT}{hand_in}{FORGET}{tables}", format="html")]

    def table(self, name, group, page):
        there, title = relative(page, self.env.docname), titled(page)
        rows = "".join(
            f'<tr><td>{key}. {escape(guess["ask"])}</td><td><span data-unless="{name}-{key}">–</span><span '
            f'data-guess="{name}-{key}" hidden><a href="{there}#said-{name}-{key}">'
            f"{copy(guess['curve']) if 'curve' in guess else YOURS}</a></span></td></tr>"
            for key, guess in group.items()
        )
        return (
            '<table class="table mha-all-guesses mha-none">'
            f'<caption><a href="{there}#guesses-{name}">{title}</a></caption>'
            "<thead><tr><th>What was asked</th><th>Your guess</th></tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )


class GuessesOfAClass(SphinxDirective):
    """Fields for what a class hands in, and a table of all that is asked, page by page, which
    ``class.js`` fills."""

    def run(self):
        home = pages()
        tables = "".join(self.table(name, group, home[name]) for name, group in groups().items())
        return [nodes.raw("", f"{GATHER}{tables}", format="html")]

    def table(self, name, group, page):
        there = f"{relative(page, self.env.docname)}#guesses-{name}"
        rows = "".join(
            asked_of_a_class(f"{name}-{number}", number, guess) for number, guess in group.items()
        )
        return (
            f'<table class="table mha-class" hidden><caption><a href="{there}">{titled(page)}</a></caption>'
            "<thead><tr><th>What was asked</th><th>How many</th><th>What they said</th>"
            f"</tr></thead><tbody>{rows}</tbody></table>"
        )


GATHER = (
    '<div class="mha-hand-in"><p><label>Links<textarea rows="4"></textarea></label></p>'
    '<p><button type="button" data-act="add">Add the links</button> '
    '<button type="button" data-act="clear">Clear</button></p>'
    '<p><label>Files, or drop them here <input type="file" multiple></label></p>'
    '<div role="status"><p>No guesses yet.</p></div></div>'
    "<noscript><p>Without JavaScript this page cannot sum up.</p></noscript>"
)


def asked_of_a_class(name, number, guess):
    """The row of one guess: the question, how many answered it, and room for their answers."""
    choices = escape(json.dumps(guess.get("choices", [])))
    answers = (
        f'<span aria-hidden="true">{empty(guess["curve"], curves.place_of(name))}</span>'
        if "curve" in guess
        else "<ul></ul>"
    )
    truth = ": ".join(guess[key] for key in ("answer", "why") if key in guess)
    if "curve" in guess:
        truth = f"{truth} The dashed line is the result.".lstrip()
    truth = escape(truth)
    return (
        f'<tr data-asked="{name}" data-choices="{choices}" data-truth="{truth}">'
        f"<td>{number}. {escape(guess['ask'])}</td>"
        f'<td class="mha-count"></td><td>{answers}</td></tr>'
    )


def load_script(app, pagename, templatename, context, doctree):
    """Run guesses.js or class.js where it has something to do: a module, so that it begins when the
    page is read; and style what they fill."""
    styled = False
    for file, marks in (
        ("guesses.js", ("mha-guesses", "mha-all-guesses")),
        ("class.js", ("mha-hand-in",)),
    ):
        if any(mark in context.get("body", "") for mark in marks):
            app.add_js_file(None, body=f"{link(SCRIPTS / file)}\nlinked();", type="module")
            styled = True
    if styled:
        style = (SCRIPTS / "guess.css").read_text("utf-8")
        context["metatags"] = f"{context.get('metatags', '')}<style>{style}</style>\n"


def draw_results_of_a_class(app, fault):
    """What the chapters show is known when all pages are written."""
    if fault is None and app.builder.format == "html" and (app.outdir / f"{CLASS}.html").exists():
        curves.draw_for_a_class(app.outdir, CLASS, pages())


def setup(app):
    app.add_directive("guesses", Guesses)
    app.add_directive("guessed", Guessed)
    app.add_directive("guesses-of-all-pages", GuessesOfAllPages)
    app.add_directive("guesses-of-a-class", GuessesOfAClass)
    app.connect("html-page-context", load_script)
    app.connect("html-page-context", curves.draw_results)
    app.connect("build-finished", draw_results_of_a_class)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
