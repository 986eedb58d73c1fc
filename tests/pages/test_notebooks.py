"""The runnable notebooks of the built book: all that a page has, in Markdown that every program
shows."""

import ast
import base64
import io
import json
import posixpath
import re
import sys
from itertools import pairwise
from pathlib import Path
from urllib.parse import urldefrag

import pytest
from bs4 import BeautifulSoup
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from PIL import Image

import mhabook
import notebooks
from checks import missing
from scripts import load
from visits import BUILD, NO_BUILD

ROOT = Path(__file__).parents[2]
edition, writer = load("book/_ext/edition.py"), load("book/_ext/runnable.py")
paint = load("book/_ext/paint.py")
PAGES = [page for page in edition.pages(ROOT) if (ROOT / f"{page.name}.ipynb").exists()]
FOLDER = BUILD.parent / "notebooks"
MARKUP = {
    "a directive": r"^\s*(`{3,}|:{3,})\s*\{",
    "a role": r"\{[\w:-]+\}`",
    "an option": r"^\s*:[\w-]+:( |$)",
    "a target": r"^\([\w-]+\)=\s*$",
    "TeX's own brackets": r"\\[()\[\]]",
    "a mark of a formula": "[\ue000\ue001]",
    "a way to where it is": "open this page in Colab",
    "HTML": r'<(?!/?(details|summary|b)>|a id="[\w.-]+"></a>|/a>)/?[a-z]',
}
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def notebook(page):
    if not FOLDER.exists():
        missing(NO_BUILD)
    return notebooks.read(FOLDER / page.notebook)


def article(page):
    return BeautifulSoup(
        (BUILD / f"{page.name}.html").read_text("utf-8"), "html.parser"
    ).select_one("article")


def left_over(markdown):
    """What of MyST or HTML is left in a text, formulas and code aside, by name."""
    text = re.sub(r"(?s)\$\$.*?\$\$|\$[^$]+\$|(?<![`}])`(?!`)[^`\n]+`(?!`)", "", markdown)
    return [name for name, mark in MARKUP.items() if re.search(mark, text, re.MULTILINE)]


@every_page
def test_no_markup_of_the_source_is_left(page):
    found = {
        cell["id"]: left_over(notebooks.source(cell))
        for cell in notebook(page)["cells"]
        if cell["cell_type"] == "markdown"
    }
    assert not {where: what for where, what in found.items() if what}


@pytest.mark.parametrize(
    "planted",
    [
        "````{prf:lemma} Bound",
        "See {prf:ref}`thm-collapse`.",
        ":label: thm",
        "(see)=",
        r"By \(x\) it",
        "<div>x</div>",
        "{cite:t}`deora2023`",
        '<a href="#l">x</a>',
        "open this page in Colab or with `make lab`",
    ],
)
def test_markup_that_is_left_is_found(planted):
    assert left_over(f"It holds that $x<y$.\n\n{planted}\n")


@every_page
def test_each_statement_proof_exercise_and_solution_of_the_page_is_there(page):
    read, built = notebook(page), article(page)
    text = notebooks.text(read)
    kinds = "Theorem|Lemma|Proposition|Corollary|Definition|Assumption|Exercise"
    titles = [
        title.get_text() for title in built.select(":is(.proof, .exercise) > .admonition-title")
    ]
    boxes = re.findall(rf"(?m)^> \*\*((?:{kinds}) S?[\d.]*\d)", text)
    assert boxes == [re.match(rf"(?:{kinds}) S?[\d.]*\d", title)[0] for title in titles]
    folds = re.findall(r"<summary><b>(.*?)</b>", text)
    # some are code alone
    folds += [notebooks.lines(cell)[0].removeprefix("# @title ") for cell in notebooks.code(read)]
    shut = [title.get_text() for title in built.select("div.dropdown > .admonition-title")]
    for kind in ("Proof", "Solution to Exercise"):
        ours, theirs = (
            [re.match(rf"{kind} ?[S\d.]*", name)[0] for name in names if name.startswith(kind)]
            for names in (folds, shut)
        )
        assert sorted(set(ours)) == sorted(set(theirs))
        assert kind != "Proof" or len(ours) == len(theirs)


@every_page
def test_every_code_cell_of_the_source_is_there_in_its_order(page):
    """And none that the page leaves out comes between a text and its code."""
    read = notebook(page)
    top, *cells = notebooks.code(read)
    cells = [cell for cell in cells if not cell["id"].startswith("guesses-")]
    sources = notebooks.code(notebooks.read(ROOT / f"{page.name}.ipynb"))
    assert top["id"] == "set-up"
    assert [cell["id"] for cell in cells] == [cell["id"] for cell in sources]
    for cell, source in zip(cells, sources, strict=True):
        assert same_code(cell, source)
        assert "assert" not in notebooks.source(cell)
    left_out = {cell["id"] for cell in sources[1:] if "remove-cell" in notebooks.tags(cell)}
    for before, cell in pairwise(read["cells"]):
        assert cell["id"] not in left_out or before["cell_type"] == "code", cell["id"]


def same_code(cell, source):
    """Has a cell the code of the source, behind a switch if it is a solution?"""
    if not notebooks.source(cell).startswith("# @title Solution"):
        bare = notebooks.source(cell).replace(f"# {writer.FIRST}\n", "")
        return bare.endswith(notebooks.source(source))
    off, branch = ast.parse(notebooks.source(cell)).body
    body = "\n".join(map(ast.unparse, branch.body))
    shown = re.sub(r"(?s)^display\((.*)\)$", r"\1", ast.unparse(branch.body[-1]))
    whole = body.removesuffix(ast.unparse(branch.body[-1])) + shown
    assert (
        ast.unparse(off) == "show_solution = False" and ast.unparse(branch.test) == "show_solution"
    )
    return whole == "\n".join(map(ast.unparse, ast.parse(notebooks.source(source)).body))


def test_nothing_needs_a_solution_but_the_solution_itself():
    """A reader runs them one by one, or none of them."""
    for path in notebooks.paths():
        made_by = {}
        for cell, solution in notebooks.with_solutions(notebooks.read(path)):
            bound, used = notebooks.bound_and_used(cell)
            needed = {
                name: made_by[name] for name in used if made_by.get(name, solution) != solution
            }
            assert not needed, f"{path.name}, {notebooks.name(cell)}"
            for name in bound:
                if solution or name in made_by:
                    made_by[name] = solution


@every_page
def test_folded_code_says_what_it_does(page):
    titles = [
        notebooks.lines(cell)[0]
        for cell in notebooks.code(notebook(page))
        if "cellView" in cell["metadata"]
    ]
    assert all(
        re.fullmatch(r"# @title (Figure: )?[^a-z\s].{3,}", title) and "hidden" not in title
        for title in titles
    )
    own = [title for title in titles if not re.match("# @title (Your answer|Solution)", title)]
    assert sorted(own) == sorted(set(own))


@pytest.fixture(scope="module")
def shell():
    """A Python as a notebook's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # whose place it takes
        shell = InteractiveShell.instance(colors="nocolor")
        yield shell
        InteractiveShell.clear_instance()


@every_page
def test_a_cell_that_is_run_too_early_says_so(page, shell, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "mhabook", None)  # the book's packages are missing
    _, *cells = notebooks.code(notebook(page))
    solutions = {cell["id"] for cell in cells if writer.SWITCH in notebooks.source(cell)}
    folded = {cell["id"] for cell in cells if "cellView" in cell["metadata"]}
    for cell in cells:
        if cell["id"] in folded - solutions:
            with pytest.raises((NameError, ModuleNotFoundError), match=re.escape(writer.FIRST)):
                exec(shell.transform_cell(notebooks.source(cell)), {})
    for seen in [cell for cell in cells if cell["id"] not in folded][:1]:
        shell.reset(new_session=False)
        assert not shell.run_cell(notebooks.source(seen)).success
        assert writer.FIRST in capsys.readouterr().out.rsplit("Traceback", 1)[-1], seen["id"]


@every_page
def test_guesses_can_be_chosen_and_come_back(page):
    text = notebooks.text(notebooks.read(ROOT / f"{page.name}.ipynb"))
    cells = [cell for cell in notebooks.code(notebook(page)) if cell["id"].startswith("guesses-")]
    places = [place.split() for place in re.findall(r"```{guesse[sd]} (.+)", text)]
    called = [re.findall('"([^"]+)"', notebooks.lines(cell)[-1]) for cell in cells]
    for found in (places, called):
        assert all(name == found[0][0] for name, *_ in found)
    assert called[:1] == places[:1]
    assert sum((numbers for _, *numbers in called), []) == sum((n for _, *n in places), [])
    for cell in cells:
        made = eval(notebooks.lines(cell)[-1], {"mhabook": mhabook})
        for output in cell["outputs"]:
            assert "".join(output["data"]["text/html"]) == made.fallback()


@every_page
def test_a_result_has_the_number_of_its_cell_and_a_picture_the_width_that_it_has_on_the_page(page):
    for cell in notebooks.code(notebook(page)):
        for output in cell["outputs"]:
            assert output.get("execution_count", cell["execution_count"]) == cell["execution_count"]
            if picture := output.get("data", {}).get("image/png"):
                width = output["metadata"]["image/png"]["width"]
                assert (
                    Image.open(io.BytesIO(base64.b64decode("".join(picture)))).width
                    == paint.SCALE * width
                )


@every_page
def test_a_picture_stands_below_the_title_that_it_has_on_the_page(page):
    shown = [
        "".join(output["data"].get("text/markdown", "")).replace("\\", "")
        for cell in notebooks.code(notebook(page))
        for output in cell["outputs"]
        if "data" in output
    ]
    drawn = article(page).select("figure:has(> figcaption):has(.mha-picture)")
    for figure in [each for each in drawn if not each.find_parent(class_="solution")]:
        title = figure.select_one("figcaption").get_text()
        at = shown.index(f"**{title}**")
        read = figure.select_one(".mha-live-summary")
        assert read is None or shown[at + 2] == read.get_text()


@every_page
def test_a_notebook_is_small_and_its_links_lead_somewhere(page):
    read = notebook(page)
    assert len(json.dumps(read)) < 1_000_000
    text = notebooks.text(read)
    for link in re.findall(r"(?<!!)\]\(([^)\s]+)[^)]*\)", text):
        path, anchor = urldefrag(link.removeprefix(page.on_the_web("")))
        if link.startswith(page.on_the_web("")):
            html = (BUILD / path).read_text("utf-8")
            assert (
                not anchor or "=" in anchor or re.search(f"id=[\"']{re.escape(anchor)}[\"']", html)
            ), link
        elif not path and not anchor.startswith("laboratory="):
            assert f'<a id="{anchor}"></a>' in text, link
        elif path and not re.match("[a-z]+:", link):
            assert (FOLDER / posixpath.dirname(page.notebook) / path).exists(), link


@every_page
def test_the_download_button_gives_it(page):
    assert notebook(page) == notebooks.read(BUILD / "_sources" / f"{page.name}.ipynb")
    colab = [
        link["href"]
        for link in BeautifulSoup(
            (BUILD / f"{page.name}.html").read_text("utf-8"), "html.parser"
        ).select("a[href*='colab.research']")
        if "/blob/" in link["href"]
    ]
    assert colab and all(link.endswith(f"/blob/notebooks/{page.notebook}") for link in colab)


OWN = """import numpy as np
import mhalib as mha

draws = np.random.default_rng(0)
data = mha.data.from_arrays(draws.normal(size=(200, 10, 8)), np.sign(draws.normal(size=200)))
start, rule = mha.MultiHeadAttention.zeros(H=8, T=10, d=8), mha.GradientDescent(lr=1.0)


def wave(k, phase=0.0):
    t = np.linspace(0, 7, 200)
    return mha.plots.curves(t, {"wave": np.sin(k * t + phase)}, log_y=False)


display(mha.live.heads(data), mha.live.figure(start, data, rule, steps=50, controls={"lr": [0.1, 1.0]}))
mha.explore(wave, k=(1, 9))"""


def test_an_own_notebook_that_was_run_and_saved_is_small(monkeypatch):
    monkeypatch.delenv("LIVEGRAD_FIGURES", raising=False)
    saved = new_notebook(cells=[new_code_cell(OWN)])
    NotebookClient(saved, store_widget_state=True).execute()
    state = saved.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    anywidgets = [one for one in state.values() if one["model_module"] == "anywidget"]
    assert len(anywidgets) == 3
    assert len(json.dumps(saved)) < 2_000_000


def test_outputs_are_compared():
    # all begin with the same cell
    cells = [cell for page in PAGES for cell in notebooks.code(notebook(page))[1:]]
    assert sum("nbval-check-output" in notebooks.tags(cell) for cell in cells) >= 130


BOXES = r"""<article><section id="a"><span id="t"></span><h1>1. A title</h1>
<p><img alt="" class="mha-thumbnail" src="a.svg"/>Let <span class="math" data-tex="x|y"></span>.</p>
<div class="proof lemma admonition" id="l">
<p class="admonition-title"><span>Lemma 1.1 </span> (Of <span class="math" data-tex="H"></span>)</p>
<section><div class="math" data-tex="a\\
b"></div><p>See <a class="reference" href="#l">it</a>, <a href="#t">the title</a>,<br/>
<a href="#a">all</a>, <a href="02.html">two</a> and
<a href="../notation.html#x">x</a>.</p></section></div>
<div class="dropdown admonition"><p class="admonition-title">Proof</p><p>So.</p><div class="math" data-tex="c"></div>
<table><thead><tr><th>q</th></tr></thead><tbody><tr><td>r</td></tr></tbody></table><p>So?</p></div>
<dl><dt>term</dt><dd><p>words</p></dd></dl><table><thead><tr><th>a</th></tr></thead>
<tbody><tr><td><span class="math" data-tex="\|v\| |w|"></span><br/>b</td></tr></tbody></table></section></article>"""
EXPECTED = r"""# 1. A title <a id="t"></a>

Let $x|y$.

> **Lemma 1.1 (Of $H$).**<a id="l"></a>
>
> $$ a\\ b $$
>
> See [it](#l), [the title](#t),\
> [all](https://book/book/m/01.html#a), [two](02.ipynb) and
> [x](https://book/book/notation.html#x).

<details>
<summary><b>Proof</b></summary>

> So.
>
> $$ c $$
>

| q |
| --- |
| r |

>
> So?

</details>

**term**

words

| a |
| --- |
| $\Vert v\Vert  \vert w\vert$<br>b |"""


def test_a_page_in_markdown():
    page, two = (
        edition.Page(f"book/m/{n}", "part", f"https://book/book/m/{n}.html") for n in ("01", "02")
    )
    made = BeautifulSoup(BOXES, "html.parser").article
    markdown = writer.Markdown(writer.prepare(made, page, {two.name: two}))
    assert markdown([made]) == EXPECTED


def test_a_small_picture_keeps_a_color_that_few_dots_have():
    picture = Image.linear_gradient("L").resize((900, 600))
    picture = Image.merge("RGB", (picture, picture.rotate(90), picture.rotate(180)))
    picture.paste((213, 94, 0), (440, 290, 448, 298))
    file = io.BytesIO()
    picture.save(file, "png")
    made = Image.open(io.BytesIO(paint.small(file.getvalue())))
    color = made.convert("RGB").getpixel((444, 294))
    assert color == pytest.approx((213, 94, 0), abs=16)


@pytest.mark.parametrize(
    ("code", "title"),
    [
        ("mhabook.exercise('ex-1')", "Your answer"),
        ("mha.plots.curves(x, y, title='It falls', alt='A.')", "Figure: It falls"),
        ("a, b = 1, 2\n\n\ndef f(x):\n    return x", "Prepare a, b, f"),
        ("_, b = 1, 2", "Prepare b"),
        ("import numpy as np\nfrom mhabook import c06_planted", "Import what this page needs"),
        ("if True:\n    %pip install x", "Prepare one cell"),
        ("mhabook.say(low=f'{a:.1f}', high=f'{b:.1f}')", "Numbers of the text: low, high"),
    ],
)
def test_the_title_of_a_folded_cell(code, title):
    cell = writer.new_code_cell(code, id="one-cell")
    assert writer.title_of(cell, BeautifulSoup("", "html.parser"), "") == title
    cell.metadata["title"] = "It says so itself"
    assert writer.title_of(cell, BeautifulSoup("", "html.parser"), "") == "It says so itself"


def test_the_folded_cell_of_a_picture_says_what_is_drawn():
    drawn = BeautifulSoup('<figure class="mha-idea"></figure>', "html.parser")
    titles = [
        writer.title_of(writer.new_code_cell("idea.drawn()", id=name), drawn, "")
        for name in ("idea", "planted-head", "figure-valleys")
    ]
    assert titles == ["Picture: the idea", "Picture: planted head", "Picture: valleys"]


def test_a_drawing_of_a_page_becomes_dots_with_the_books_own_letters():
    page = '<svg viewBox="0 0 40 20" role="img"><clipPath id="c"><rect width="20" height="20"/></clipPath>'
    box = '<g clip-path="url(#c)"><rect width="40" height="20" fill="currentColor"/></g>'
    for words in ("", '<text x="22" y="15" font-family="Open Sans, sans-serif">∇ᵤ</text>'):
        drawing = BeautifulSoup(f"{page}{box}{words}</svg>", "html.parser")
        dots = Image.open(io.BytesIO(paint.png(str(drawing)))).convert("L")
        assert (
            dots.size == (60, 30) and dots.getpixel((10, 15)) < 60 and dots.getpixel((32, 2)) > 250
        )
        assert (min(dots.crop((32, 0, 60, 30)).getdata()) < 120) == bool(words)


def test_an_idea_is_stored_as_a_row_of_its_panels():
    ideas = [
        (page, output)
        for page in PAGES
        for cell in notebooks.code(notebook(page))
        for output in cell["outputs"]
        if cell["id"] == "idea"
    ]
    assert len(ideas) > 10
    for page, output in ideas:
        html = BeautifulSoup((BUILD / f"{page.name}.html").read_text("utf-8"), "html.parser")
        panels = html.select("#the-idea .mha-idea, .mha-idea")
        widths = [260 * len(idea.select("svg")) for idea in panels]
        assert output["metadata"]["image/png"]["width"] in widths
