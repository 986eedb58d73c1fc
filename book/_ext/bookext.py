"""What the book adds to Sphinx: figures that plotly.js draws, live figures, and its own style."""

import json
import os
import re
import shutil
from base64 import b64decode, b64encode
from html import unescape
from itertools import count
from pathlib import Path

import edition
import numpy as np
from docutils import nodes
from vendor import FIGURES

from livegrad.live.modules import link
from livegrad.live.widget import SAVED, name_of

PAGES = Path(__file__).parents[1] / "mhabook" / "pages"

WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
MANAGER = r"vendor/(require|paths|html-manager/embed-amd)\.js"
# A frame may be forbidden to keep anything, and to ask is an error then: what is kept in its place
# lasts as long as the page. It has the keys of what is kept as its own, as the browser's has.
STORAGE = """<script>
try {
  localStorage.getItem("mode");
} catch {
  const standIn = () => Object.create({
    getItem(key) { return Object.hasOwn(this, key) ? this[key] : null; },
    setItem(key, text) { this[key] = String(text); },
    removeItem(key) { delete this[key]; },
  });
  for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, { value: standIn() });
}
</script>
"""
THEME = """<script>
if ((localStorage.getItem("mode") || "auto") === "auto")
  localStorage.setItem("theme", matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
</script>
"""
# The letters come with the style sheet, but a browser sets the page in others while it reads them: it shows nothing for
# that moment, so that no line moves.
FACE = """<style>html.mha-wait body { visibility: hidden; }</style>
<script>
{
  const root = document.documentElement, show = () => root.classList.remove("mha-wait");
  root.classList.add("mha-wait");
  document.fonts.load('16px "Source Sans 3"').then(show, show);
  setTimeout(show, 500);
}
</script>
"""
# What a font file has, as its package says.
LETTERS = {
    "latin": "U+0000-00FF, U+0131, U+0152-0153, U+02BB-02BC, U+02C6, U+02DA, U+02DC, U+2000-206F, "
    "U+20AC, U+2122, U+2191, U+2193, U+2212, U+2215, U+FEFF, U+FFFD",
    "greek": "U+0370-03FF",
}
FIGURE = re.compile(
    r'(class="mha-drawing".*?<script type="application/json">)(.*?)(</script>)', re.DOTALL
)
# what the layout of a figure in a plane has
FLAT = re.compile("(?!geo|map|polar|scene|smith|ternary)")
ARRAY = re.compile(r'"dtype":"(f[48])","bdata":"([^"]+)"')
VIEW = re.compile(
    r'(?:(class="mha-fallback").*?)?<script type="application/vnd\.jupyter\.widget-view\+json">'
    ".*?</script>",
    re.DOTALL,
)
STATIC = re.compile('<figure class="mha-figure"')
LIVE = re.compile('(<figure class="mha-fallback"[^>]*><figcaption>)([^<]*)')
QUESTION = re.compile(r"(</h1>\s*<p>.*?)(</p>)", re.DOTALL)
STILL = "<noscript><p>Without JavaScript this figure stands still.</p></noscript>"
UNCHECKED = "<noscript><p>Without JavaScript no answer is checked here.</p></noscript>"
ROLE = '<div role="list" class="citation-list">'
FIGURE_MARKS = ('class="mha-figure"', "application/vnd.jupyter.widget-view+json")
LIVE_MARK = 'class="mha-fallback"'
PLOTLY = "_static/vendor/plotly-cartesian.min.js"


def lead_to_the_figure(app, pagename, templatename, context, doctree):
    """Let the question of a chapter end in a link to its live figure, which stands two screens
    below it; but for the laboratory, where it is the next thing."""
    body = context.get("body", "")
    begins = body.find("<em>Reading time:")
    if begins >= 0 and (figure := LIVE.search(body, begins)):
        name = name_of(unescape(figure[2]))
        way = (
            rf'\1 <a class="mha-to-figure" href="#{name}" title="To the live figure">Try it.</a>\2'
        )
        context["body"] = QUESTION.sub(way, body, count=1)


def put_code_below_pictures(app, doctree):
    """Move a cell that only prepares the picture after it to the place below the picture, so that
    no fold stands between a question and its picture."""
    folded = [each for each in doctree.findall(nodes.container) if each.get("hide_mode") == "all"]
    for cell in folded:
        picture = cell.next_node(descend=False, siblings=True)
        if {"tag_hide-input", "tag_remove-input"} & {*(picture or {}).get("classes", ())}:
            cell.parent.remove(cell)
            picture.parent.insert(picture.parent.index(picture) + 1, cell)


def take_executed(app, config):
    """Take the outputs of notebooks from the cache that BOOK_CACHE names, if execute.py has made
    one."""
    if cache := os.environ.get("BOOK_CACHE"):
        config.nb_execution_mode, config.nb_execution_cache_path = "cache", cache


def link_script(app):
    """Write page.js with the modules that it imports: a page on a disk may import none."""
    script = Path(app.outdir) / "_static" / "page.js"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(f"(() => {{\n{link(PAGES / 'page.js')}\nlinked();\n}})();\n", "utf-8")


def bring_plotly(app):
    """Lay the plotly.js of live figures beside the other files of others, and the colors of figures
    beside the book's."""
    vendor = Path(app.outdir) / "_static" / "vendor"
    shutil.copytree(
        FIGURES, vendor, ignore=shutil.ignore_patterns("manifest.json"), dirs_exist_ok=True
    )
    shutil.copy(FIGURES.parent / "colors.css", vendor.parent)


def write_letters(app):
    """Write the style sheet with the letters of words in it, so that the first paint has them, from
    a disk too; Greek ones are asked for where they are needed."""
    faces = []
    for part, ranges in LETTERS.items():
        name = f"vendor/source-sans/source-sans-3-{part}-wght-normal.woff2"
        content = (Path(app.srcdir) / "book/_static" / name).read_bytes()
        inside = f"data:font/woff2;base64,{b64encode(content).decode()}"
        place = inside if part == "latin" else name
        faces.append(
            f'@font-face {{ font-family: "Source Sans 3"; font-weight: 200 900; font-display: swap; '
            f'src: url("{place}") format("woff2"); unicode-range: {ranges}; }}\n'
        )
    path = Path(app.outdir) / "_static" / "letters.css"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(faces), "utf-8")


def load_figures(app, pagename, templatename, context, doctree):
    """Let figures.js draw, which asks for plotly.js in time, on pages that have a figure, and
    nowhere else."""
    if any(mark in context.get("body", "") for mark in FIGURE_MARKS):
        app.add_js_file("figures.js", priority=110)
        app.add_js_file("figure_menu.js")
    # plotly.js comes while the page is being read; it runs when it is needed
    if LIVE_MARK in context.get("body", ""):
        address = context["pathto"](PLOTLY, resource=True)
        context["metatags"] = context.get("metatags", "") + (
            f'<link rel="preload" href="{address}" as="script" fetchpriority="low">\n'
        )


def load_live_figures(app, pagename, templatename, context, doctree):
    """Where every widget of a page is a live figure, show them by live.js instead of the large
    widget manager."""
    states = [js for js in context["script_files"] if js.attributes.get("type") == WIDGET_STATE]
    models = [
        model for js in states for model in json.loads(js.attributes["body"])["state"].values()
    ]
    if models and all(
        is_live(model) or model["model_module"] == "@jupyter-widgets/base" for model in models
    ):
        app.add_js_file("live.js", priority=120)
        looks = {model["state"].get("_css", ""): None for model in models}
        context["metatags"] = f"{context.get('metatags', '')}<style>{''.join(looks)}</style>\n"
        for js in states:
            js.attributes["body"] = said_once(js.attributes["body"])
        context["script_files"] = [
            js for js in context["script_files"] if not re.search(MANAGER, str(js.filename))
        ]


def said_once(body):
    """The states of a page's widgets without their style; of those that share their code the first
    has its text."""
    states, first = json.loads(body), {}
    for name, model in states["state"].items():
        model["state"].pop("_css", None)
        if text := model["state"].get("_esm"):
            model["state"]["_esm"] = {"as": first[text]} if text in first else text
            first.setdefault(text, name)
    # no word of it ends the script
    return json.dumps(states, separators=(",", ":")).replace("<", r"\u003c")


def shorten_figures(app, pagename, templatename, context, doctree):
    """Leave out of figures what no eye tells: digits, how their template draws other traces, what
    frames repeat."""
    context["body"] = FIGURE.sub(
        lambda figure: figure[1] + shortened(figure[2]) + figure[3], context.get("body", "")
    )


def shortened(figure):
    """The text of a figure with shorter arrays, of its template what its own traces ask for, of
    frames what changes."""
    told = json.loads(ARRAY.sub(rounded, figure))
    template = told["layout"].get("template", {})
    kinds = {trace.get("type", "scatter") for trace in told["data"]}
    for part, asked in (("data", kinds.__contains__), ("layout", FLAT.match)):
        template[part] = {
            name: looks for name, looks in template.get(part, {}).items() if asked(name)
        }
    for k, trace in enumerate(told["data"]):
        moved = [frame["data"][k] for frame in told.get("frames", ()) if "traces" not in frame]
        for name in trace.keys() - {"y", "z"}:
            if all(each.get(name) == trace[name] for each in moved):
                for each in moved:
                    del each[name]
    return json.dumps(told, ensure_ascii=False, separators=(",", ":")).replace("<", r"\u003c")


def rounded(array):
    """The text of an array in single precision; as it was, where a number is too large or too small
    for that.

    Of the 23 binary digits after a number's first the last ten are zero, which the network need not
    carry, if the numbers are not whole and none moves by a thousandth of what they span.
    """
    given = np.frombuffer(b64decode(json.loads(f'"{array[2]}"')), f"<{array[1]}")
    with np.errstate(over="ignore", under="ignore"):
        single = given.astype("<f4")
    if not np.allclose(single, given, rtol=1e-6, atol=0, equal_nan=True):
        return array[0]
    finite = single[np.isfinite(single)]
    short = ((finite.view("<u4") + 0x200) & ~np.uint32(0x3FF)).view("<f4")
    if (finite % 1).any() and abs(short - finite).max() < np.ptp(finite) / 1000:
        single[np.isfinite(single)] = short
    return f'"dtype":"f4","bdata":"{b64encode(single.tobytes()).decode()}"'


def is_live(model):
    """Tell whether a widget is one of the book's: an anywidget that needs neither kernel nor
    buffers."""
    return model["state"].get("_anywidget_id", "").startswith(("livegrad.live.", "mhabook."))


def name_figures(app, pagename, templatename, context, doctree):
    """Give each figure a place that an address can name: figure-1, figure-2, … and a live one its
    own name."""
    numbers = count(1)
    body = STATIC.sub(
        lambda mark: f'<figure id="figure-{next(numbers)}" class="mha-figure"',
        context.get("body", ""),
    )
    context["body"] = LIVE.sub(
        lambda mark: f'<span id="{name_of(unescape(mark[2]))}"></span>{mark[0]}', body
    )


def say_what_needs_scripts(app, pagename, templatename, context, doctree):
    """Say below each widget what a reader misses who lets no script run."""
    context["body"] = VIEW.sub(
        lambda view: view[0] + (STILL if view[1] else UNCHECKED), context.get("body", "")
    )


def mend_roles(app, pagename, templatename, context, doctree):
    """Leave out a role of the bibliography whose rules its entries do not keep, and a name that
    hides a fold's own."""
    body = context.get("body", "").replace(ROLE, ROLE.replace(' role="list"', ""))
    context["body"] = body.replace(' aria-label="Toggle hidden content"', "")


def drop_thebe(app, pagename, templatename, context, doctree):
    """Leave out the in-page kernel that the theme always prepares: it would come from another
    host."""
    context["script_files"] = [
        js
        for js in context["script_files"]
        if "thebe" not in f"{js.filename} {js.attributes.get('body', '')}".lower()
    ]


def open_the_runnable_edition(app, pagename, templatename, context, doctree):
    """Let the rocket of a page open the notebook that readers run, which the workflow publishes on
    its own branch."""
    notebook = edition.Page(pagename, "", "").notebook
    for group in context.get("header_buttons", ()):
        for button in group.get("buttons", ()):
            if button["text"] == "Colab":
                button["url"] = re.sub("/blob/.*", f"/blob/notebooks/{notebook}", button["url"])


def lead_from_chapter_to_chapter(app, pagename, templatename, context, doctree):
    """Let *next* and *previous* pass over the further pages, which no chapter needs."""
    relations = app.builder.relations
    for name, place in (("prev", 1), ("next", 2)):
        page = relations[pagename][place] if pagename in relations else None
        while page and page.endswith("_further"):
            page = relations[page][place]
        if page:
            title = app.builder.render_partial(app.env.titles[page])["title"]
            context[name] = {"link": app.builder.get_relative_uri(pagename, page), "title": title}


def choose_theme(app, pagename, templatename, context, doctree):
    """Say which theme the reader's system asks for before the theme's own first script looks, and
    before any paint; and before all other scripts, whether the page was saved."""
    letters = context["pathto"]("_static/letters.css", resource=True)
    face = f'<link rel="stylesheet" href="{letters}">\n{FACE}'
    context["metatags"] = context.get("metatags", "") + SAVED + STORAGE + THEME + face


def ask_the_register(app, uri):
    """Look a DOI up where it is registered: the publishers, to whom it leads, refuse programs."""
    return uri.replace("https://doi.org/", "https://doi.org/api/handles/")


def setup(app):
    app.add_css_file("book.css")
    app.add_css_file("colors.css")
    app.add_js_file("book.js")
    app.add_js_file("page.js")
    app.connect("builder-inited", link_script)
    app.connect("builder-inited", bring_plotly)
    app.connect("builder-inited", write_letters)
    app.connect("linkcheck-process-uri", ask_the_register)
    app.connect("config-inited", take_executed)
    app.connect("doctree-read", put_code_below_pictures)
    app.connect("html-page-context", load_figures)
    app.connect("html-page-context", shorten_figures)
    app.connect("html-page-context", lead_to_the_figure)
    app.connect("html-page-context", name_figures)
    app.connect("html-page-context", say_what_needs_scripts)
    app.connect("html-page-context", mend_roles)
    app.connect("html-page-context", choose_theme)
    app.connect("html-page-context", lead_from_chapter_to_chapter)
    app.connect("html-page-context", load_live_figures, priority=800)
    app.connect("html-page-context", drop_thebe, priority=900)
    app.connect("html-page-context", open_the_runnable_edition, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
