"""Set every formula when the pages are made, by the book's own MathJax in V8: no reader's browser
has to do it.

The HTML is what MathJax makes in a browser, with the MathML that screen readers speak; its TeX is
kept in ``data-tex``.
"""

import json
import re
from contextlib import suppress
from functools import cache
from html import escape, unescape
from pathlib import Path

from docutils import nodes
from docutils.nodes import SkipNode
from py_mini_racer import MiniRacer
from sphinx.ext.mathjax import html_visit_displaymath, html_visit_math
from sphinx.util import logging

MATHJAX = Path(__file__).parents[1] / "_static" / "vendor" / "mathjax"
FONTS = "vendor/mathjax/output/chtml/fonts/woff-v2"
FIRST = ("Main-Regular", "Math-Italic")  # the fonts that nearly every formula needs
SHEET = "mathematics.css"
# Not from a disk: there WebKit refuses what is asked for like this, and then leaves the font out.
AT_ONCE = """<script>
if (location.protocol !== "file:")
  for (const href of %s) {
    const font = { rel: "preload", as: "font", type: "font/woff", crossOrigin: "", href };
    document.head.append(Object.assign(document.createElement("link"), font));
  }
</script>
"""
TEX = re.compile(r"\\[(\[](?P<tex>.*)\\[)\]]|(?P<lines>\\begin\{.*\\end\{[a-z]+\*?\})", re.DOTALL)
MARK = re.compile(r"[.,;:!?)\]’”]+")  # after a formula; no line begins with it
# what it cannot set, and names that it lacks
WRONG = re.compile(r'data-mjx-error="([^"]*)"|mathcolor="red">([^<]*)')
# MathJax asks for modules of Node that it then does not use, and loads its parts when the first
# formula needs them.
PREPARE = """(files, chtml) => {
  globalThis.process = { env: {} };
  globalThis.require = () => ({ DOMImplementation: class { createDocument() {} }, install() {} });
  globalThis.MathJax = {
    chtml, startup: { typeset: false },
    loader: { load: ["adaptors/liteDOM"], require: (path) => (0, eval)(files[path.split("/es5/")[1]]) },
  };
}"""
# An em of 16 pixels in which a small x is as high as in MathJax's own font: it need not be scaled.
SET = """(tex, display) => MathJax.tex2chtmlPromise(tex, { display, em: 16, ex: 16 * 0.442 })
  .then((formula) => MathJax.startup.adaptor.outerHTML(formula))"""
# What MathJax measures in a browser: a formula is as large as makes its small x as high as that of
# the words around it.
SIZE = "\n\nmjx-container[jax] {\n  font-size: calc(1ex / 0.442);\n}\n"


class Setter:
    """MathJax in V8, which sets each formula once."""

    def __init__(self) -> None:
        self.context = MiniRacer()
        files = {
            path.relative_to(MATHJAX).as_posix(): path.read_text("utf-8")
            for path in MATHJAX.glob("*/**/*.js")
        }
        self._call(PREPARE, files, {"fontURL": FONTS})
        self.context.eval((MATHJAX / "tex-mml-chtml.js").read_text("utf-8"))
        self.set = cache(self.set)

    def __enter__(self) -> "Setter":
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()  # a V8 that is left open keeps a program from ending

    def _call(self, function, *values):
        """What a function of JavaScript returns, or its promise: nothing that it asks for has to be
        waited for."""
        self.context.eval(
            f"said = error = ''; Promise.resolve(({function})(...{json.dumps(values)})).then("
            f"(value) => {{ said = value; }}, (fault) => {{ error = String(fault); }}); 0"
        )
        if fault := self.context.eval("error"):
            raise ValueError(fault)
        return self.context.eval("said")

    def set(self, tex: str, display: bool) -> str:
        """A formula as HTML.

        Raises ValueError for what is no TeX, and for a name that MathJax does not know.
        """
        made = self._call(SET, tex, display)
        if fault := WRONG.search(made):
            raise ValueError(f"MathJax cannot set {tex}: {unescape(fault[1] or fault[2])}")
        return made

    def sheet(self) -> str:
        """The style sheet of all formulas that it has set."""
        return (
            self._call("() => MathJax.startup.adaptor.textContent(MathJax.chtmlStylesheet())")
            + SIZE
        )


setter = cache(Setter)


def visiting(sphinxs):
    """As Sphinx writes a formula for MathJax in the browser, but set."""

    def visit(self, node):
        start = len(self.body)
        with suppress(SkipNode):
            sphinxs(self, node)
        html = "".join(self.body[start:])
        found = TEX.search(html)
        tex = unescape(found["tex"] or found["lines"])
        try:
            made = setter().set(tex, html.startswith("<div"))
        except ValueError as fault:
            logging.getLogger(__name__).warning(str(fault), location=node)
            made = ""
        html = html[: found.start()] + made + html[found.end() :]
        self.body[start:] = [
            html.replace('nohighlight"', f'nohighlight" data-tex="{escape(tex)}"', 1)
        ]
        raise SkipNode

    return visit


def keep_marks(app, doctree, docname):
    """Keep a formula and the mark that follows it together: a browser would break the line between
    them."""
    for formula in list(doctree.findall(nodes.math)):
        parent, at = formula.parent, formula.parent.index(formula)
        after = parent[at + 1] if at + 1 < len(parent) else None
        if isinstance(after, nodes.Text) and (mark := MARK.match(after)):
            both = nodes.inline("", "", formula, nodes.Text(mark[0]), classes=["mha-together"])
            parent[at : at + 2] = [both, nodes.Text(after[mark.end() :])]


def load_sheet(app, pagename, templatename, context, doctree):
    """Load the style sheet of formulas where there are any, and at once the fonts that nearly all
    of them need."""
    if "<mjx-container" in context.get("body", ""):
        app.add_css_file(SHEET)
        fonts = [
            context["pathto"](f"_static/{FONTS}/MathJax_{name}.woff", resource=True)
            for name in FIRST
        ]
        context["metatags"] += AT_ONCE % json.dumps(fonts)


def write_sheet(app, fault):
    """Write the style sheet; when only some pages were made again it keeps the rules of the
    others."""
    if fault is None and app.builder.format == "html":
        add_rules(app.outdir / "_static" / SHEET, setter())


def add_rules(path, setter):
    """Add the rules of all formulas that were set to a style sheet."""
    old = path.read_text("utf-8") if path.exists() else ""
    rules = dict.fromkeys(rule.strip() for rule in f"{old}\n\n{setter.sheet()}".split("\n\n"))
    path.write_text("\n\n".join(filter(None, rules)) + "\n", "utf-8")


def setup(app):
    app.add_html_math_renderer(
        "set", (visiting(html_visit_math), None), (visiting(html_visit_displaymath), None)
    )
    app.connect("doctree-resolved", keep_marks)
    app.connect("html-page-context", load_sheet)
    app.connect("build-finished", write_sheet)
    return {"parallel_read_safe": True}
