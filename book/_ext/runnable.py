"""The runnable edition: the pages as notebooks, ``python book/_ext/runnable.py`` →
``_build/notebooks``.

Text comes from the built pages, where statements are numbered and references resolved, and becomes
plain Markdown. Code comes from the sources, cell by cell: what a page hides is folded, in
JupyterLab and in Colab, and nothing is left out.
"""

import ast
import base64
import posixpath
import re
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urldefrag

import nbformat
from bs4 import BeautifulSoup, Tag
from jupyter_cache import get_cache
from markdownify import MarkdownConverter
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

sys.path.insert(0, str(Path(__file__).parent))
import edition
import make_wheel
import paint
from built import article_of
from setup_cell import setup

import mhabook

ROOT = Path(__file__).parents[2]
FOLDED = {"hide-input", "remove-input", "hide-cell", "remove-cell"}
# characters: a printed result up to this length is compared when the notebook is tested
SHORT = 4000
# numbers that differ from one processor to another
ROUNDING = re.compile(r"\de-(1[2-9]|[2-9]\d|\d{3})\b")
# what those programs ask for that write a notebook as a script or in colors
PYTHON = {
    "name": "python",
    "file_extension": ".py",
    "mimetype": "text/x-python",
    "nbconvert_exporter": "python",
    "pygments_lexer": "ipython3",
}
FIRST = "Run the cells above this one first, from “Set up” on."
NOT_IMPORTED = f"""if "mhabook" not in globals():
    raise NameError("{FIRST}")"""
NOT_SET_UP = f"""try:
    import mhabook
except ModuleNotFoundError:
    raise ModuleNotFoundError("{FIRST}") from None"""
SWITCH = 'show_solution = False  #@param {type:"boolean"}'  # Colab makes a box to tick of it
# what a link begins with that sets the laboratory of its page (links.js)
LABORATORY = "#laboratory="
# as the rocket of each page (bookext.py)
COLAB = "https://colab.research.google.com/github/{}/blob/notebooks/"
CONTENTS = """# How Attention Learns: the notebooks

These notebooks run what the pages of the book show. They are made from [the repository]({repository}), where their
sources are; changes belong there. The first cell of each installs the packages from the wheels beside it, where
they are missing. After `pip install pytest nbval`,
`pytest --nbval-lax --nbval-sanitize-with nbval_sanitize.cfg .` runs all of them and compares what they print, but for
what processors round in different ways. Text: CC BY 4.0. Code: MIT.

{list}
"""
QUOTED_TABLE = re.compile(r"(?:^(?:> ?)+\|.*\n?)+", re.MULTILINE)
FORMULA = re.compile("(?P<lead>^[> ]*)?\ue000(?P<number>\\d+)\ue001", re.MULTILINE)
# what a page says to readers who have no kernel
ELSEWHERE = re.compile(r"\s\(open\sthis\spage\sin\sColab\sor\swith\s`make\slab`\)")
new_tag = BeautifulSoup("", "html.parser").new_tag
AS_SET = re.compile(r"(?s)<mjx-container.*?</mjx-container>")
"""A formula as it is set: thousands of elements on a page, whose TeX stands beside them."""


def prepare(
    article: Tag, page: edition.Page, runnable: dict[str, edition.Page]
) -> list[tuple[str, bool]]:
    """Make the article of a page ready for ``Markdown``; returns its formulas, each with whether it
    is displayed."""
    ask_in_cells(article)
    for thing in article.select("script, style, .headerlink, .mha-thumbnail"):
        thing.decompose()
    marks = mark(article)
    formulas = [put_aside(formula, k) for k, formula in enumerate(article.select(".math"))]
    for link in article.select("a.mha-experiment"):
        link.insert_after(in_python(link["href"]))
    for link in article.select("a[href]"):
        if link["href"] not in marks and not link["href"].startswith(LABORATORY):
            link.attrs = {"href": target(link["href"], page, runnable)}
    for admonition in article.select(".admonition:not(details)"):
        box(admonition)
    return formulas


def ask_in_cells(article: Tag) -> None:
    """Make the fields for guesses a cell of code, and the places where they come back, as many as
    stand one below the other."""
    for fields in article.select(".mha-guesses"):
        fields["class"].append("cell")
        fields["call"] = f'"{fields["id"].removeprefix("guesses-")}"'
    for place in article.select(".mha-guessed"):
        name, number = place["data-guess"].rsplit("-", 1)
        before = place.find_previous_sibling()
        if before and "mha-guessed" in before.get("class", ()):
            place.decompose()
        else:
            place["class"].append("cell")
            before = place
            before["call"] = f'"{name}"'
        before["call"] += f', "{number}"'


def guesses_cell(piece: Tag) -> NotebookNode:
    """The cell in which one guesses, and sees below a result what one has guessed; until it runs it
    lists the questions."""
    name, *numbers = ast.literal_eval(f"({piece['call']},)")
    one = "" if len(numbers) == 1 else "s"
    title = f"You guessed: question{one} {' and '.join(numbers)}" if numbers else "Your guesses"
    made = folded(new_code_cell(id="-".join(["guesses", name, *numbers])))
    made.source = f"# @title {title}\nmhabook.guesses({piece['call']})"
    if not numbers:
        html = mhabook.guesses(name).fallback()
        made.outputs = [new_output("display_data", {"text/html": html})]
    made.metadata.tags = ["nbval-ignore-output"]
    return made


def in_python(href: str) -> Tag:
    """What does the same as a link that sets the laboratory, where links do not reach it, as in
    Colab and VS Code."""
    name = parse_qs(urldefrag(href).fragment)["experiment"][0]
    words, code = new_tag("span"), new_tag("code")
    code.string = f'laboratory.values = laboratory.experiments["{name}"]'
    words.extend([" (In Colab and in VS Code, run ", code, " instead.)"])
    return words


def mark(article: Tag) -> set[str]:
    """Mark the boxes and headings to which links of the same page lead; returns the addresses of
    these places."""
    linked = {link["href"] for link in article.select("a[href^='#']")}
    marked = set()
    for place in article.select(".admonition[id], span[id]:has(+ :is(h1, h2, h3, h4))"):
        title = place.select_one(":scope > .admonition-title") or place.find_next_sibling()
        if (address := f"#{place['id']}") in linked:
            title.extend([" ", new_tag("a", id=place["id"])])
            marked.add(address)
    return marked


def put_aside(formula: Tag, k: int) -> tuple[str, bool]:
    """Leave a mark in place of a formula, whose TeX is not to be read as Markdown."""
    number = formula.select_one(".eqno")
    tag = rf" \tag{{{number.extract().get_text().strip('()# ')}}}" if number else ""
    tex = re.sub(r"\n\s*\n", "\n", formula["data-tex"].strip() + tag)
    if formula.find_parent("table"):  # where a bar would end the cell
        tex = tex.replace(r"\|", r"\Vert ").replace("|", r"\vert ").strip()
    formula.string = f"\ue000{k}\ue001"
    return tex, formula.name == "div"


def target(href: str, page: edition.Page, runnable: dict[str, edition.Page]) -> str:
    """Where a link leads that does not stay: to the notebook of another page, or to a place of the
    book on the web."""
    if re.match(r"[a-z]+:", href):
        return href
    path, anchor = urldefrag(href)
    file = edition.resolved(path, page) if path else f"{page.name}.html"
    if not anchor and (name := file.removesuffix(".html")) in runnable:
        return posixpath.relpath(runnable[name].notebook, posixpath.dirname(page.notebook))
    return page.on_the_web(file, anchor)


def box(admonition: Tag) -> None:
    """Make a statement, an exercise or a remark a quotation that begins with its title, a proof or
    solution a fold."""
    title = admonition.select_one(":scope > .admonition-title").extract()
    source = known(title)
    words, marks = " ".join(title.get_text().split()), title.select("a[id]")
    if content := admonition.select_one(":scope > section"):
        content.unwrap()
    if "dropdown" in admonition["class"]:
        admonition.name, admonition["title"] = "details", words
        return
    admonition.name, title.name, title.string = "blockquote", "strong", f"{words}."
    first = admonition.find(True, recursive=False)
    if first is None or first.name != "p":
        first = new_tag("p")
        admonition.insert(0, first)
    first.insert(0, title)
    title.insert_after(*marks, " ", *source)


def known(title: Tag) -> list[Tag | str]:
    """Take from the title of a statement where it comes from and its row in the ledger, which
    stand beside it in small letters on the page: ``[ours · ledger]``."""
    if (said := title.select_one(".mha-known")) is None:
        return []
    said.extract().insert(0, "[")
    said.append("]")
    return [said, " "]


class Markdown(MarkdownConverter):
    """Pieces of a prepared article as the text of a cell."""

    def __init__(self, formulas: list[tuple[str, bool]]) -> None:
        super().__init__(
            heading_style="atx", bullets="-", escape_misc=False, newline_style="backslash"
        )
        self.formulas = formulas

    def __call__(self, pieces: list[Tag]) -> str:
        """The pieces one below the other."""
        text = "\n\n".join(self.convert_soup(piece) for piece in pieces)
        text = re.sub(r"(?m)[ \t]+$", "", ELSEWHERE.sub("", text))
        text = QUOTED_TABLE.sub(self._table, text)
        return FORMULA.sub(self._formula, re.sub(r"\n{3,}", "\n\n", text)).strip()

    def _table(self, rows):
        """A table out of its quotation, in which nbconvert, and so Voilà, reads none."""
        return re.sub(r"(?m)^(> ?)+", "", f"\n{rows[0]}\n")

    def _formula(self, mark):
        """A formula in its place; in a box or a list a displayed one is a single line, which no
        program tears apart."""
        (tex, displayed), lead = self.formulas[int(mark["number"])], mark["lead"] or ""
        if not displayed:
            return f"{lead}${tex}$"
        return f"{lead}$$ {' '.join(tex.split())} $$" if lead else f"$$\n{tex}\n$$"

    def convert_details(self, el, text, parent_tags):
        """A fold; between empty lines Markdown goes on inside, but a cell of a table is one
        line."""
        if "td" in parent_tags:
            return f" <details>{text.strip()}</details>"
        title = el.get("title")
        if title is None:  # not an admonition, but written as a fold
            title, text = text.strip().removeprefix("<summary>").split("</summary>", 1)
        quoted = re.sub("(?m)^", "> ", text.strip())  # so that one sees where it ends
        return f"\n\n<details>\n<summary><b>{title}</b></summary>\n\n{quoted}\n\n</details>\n\n"

    def convert_summary(self, el, text, parent_tags):
        """What is seen of a fold."""
        return f"<summary>{text.strip()}</summary> "

    def convert_td(self, el, text, parent_tags):
        """A cell of a table, which a bar does not end."""
        return super().convert_td(el, text.replace("|", r"\|"), parent_tags)

    def convert_a(self, el, text, parent_tags):
        """A link, or a mark to which links lead."""
        return str(el) if el.get("id") else super().convert_a(el, text, parent_tags)

    def convert_br(self, el, text, parent_tags):
        """A new line, also in a cell of a table."""
        return "<br>" if "td" in parent_tags else super().convert_br(el, text, parent_tags)

    def convert_dt(self, el, text, parent_tags):
        """A term: CommonMark has no lists of definitions."""
        return f"\n\n**{text.strip()}**\n\n"

    def convert_dd(self, el, text, parent_tags):
        """What a term means."""
        return f"\n\n{text.strip()}\n\n"


def flow(element: Tag, solution: str = "") -> Iterator[tuple[Tag, str]]:
    """The pieces of an article, each with the title of the solution it stands in: a cell, or what
    holds no cell."""
    for child in element.find_all(True, recursive=False):
        if "cell" in child.get("class", []) or not (
            child.name == "section" or child.select_one(".cell")
        ):
            yield child, solution
        else:
            yield from flow(child, child.get("title", solution))


def cells(
    article: Tag, source: NotebookNode, outputs: dict[str, list[NotebookNode]], markdown: Markdown
) -> Iterator[NotebookNode]:
    """The cells of the runnable edition: a text from heading to heading or to the next code.

    A cell of which the page has no trace stands behind the one before it, so that a text leads to
    the code that a reader sees below it.
    """
    code, text = [cell for cell in source.cells if cell.cell_type == "code"], Text(markdown)

    def removed():
        while code and "remove-cell" in code[0].metadata.get("tags", ()):
            yield code_cell(code.pop(0), BeautifulSoup(), "", [], markdown)

    for piece, solution in flow(article):
        if "cell" in piece.get("class", []):
            yield from text.cell()
            if "call" in piece.attrs:
                yield guesses_cell(piece)
                continue
            yield from removed()
            cell = code.pop(0)
            yield code_cell(cell, piece, solution, outputs[cell.id], markdown)
            yield from removed()
        else:
            if piece.name in ("h1", "h2", "h3"):
                yield from text.cell()
            text.add(piece, solution)
    yield from text.cell()
    yield from removed()


class Text:
    """Collects pieces of text until a cell is full."""

    def __init__(self, markdown: Markdown) -> None:
        self.markdown, self.pieces, self.number, self.begun = markdown, [], 0, set()

    def add(self, piece: Tag, solution: str) -> None:
        """Add a piece; the pieces of a solution stand in a fold of their own."""
        if not solution:
            self.pieces.append(piece)
            return
        if not (self.pieces and self.pieces[-1].get("solution") == solution):
            title = f"{solution}, continued" if solution in self.begun else solution
            self.pieces.append(new_tag("details", title=title, solution=solution))
            self.begun.add(solution)
        self.pieces[-1].append(piece.extract())

    def cell(self) -> Iterator[NotebookNode]:
        """The cell of what was collected, if that is anything; then begin anew."""
        if text := self.markdown(self.pieces):
            self.number += 1
            cell = new_markdown_cell(text, id=f"text-{self.number}")
            if pictures := [image for piece in self.pieces for image in piece.select("img[png]")]:
                cell.attachments = {
                    image["src"].split(":")[1]: {"image/png": image["png"]} for image in pictures
                }
            yield cell
        self.pieces = []


def code_cell(
    cell: NotebookNode, piece: Tag, solution: str, printed: list[NotebookNode], markdown: Markdown
) -> NotebookNode:
    """A code cell of the source as the runnable edition has it: folded if the page hides it, with
    what it shows.

    A solution runs, and shows something, when it is asked to. What is printed is compared when the
    notebook is tested, unless it is a table with rounding errors in it. A picture stands there for
    what a run draws in another form.
    """
    made = new_code_cell(cell.source, id=cell.id)
    if solution or FOLDED & set(cell.metadata.get("tags", ())):
        code = on_demand(cell.source, printed) if solution else cell.source
        folded(made).source = f"# @title {title_of(cell, piece, solution)}\n{code}"
    if solution:
        return made
    made.outputs = [
        one for image in piece.select("[role=img][png]") for one in pictured(image, markdown)
    ]
    if any("text/markdown" in one.get("data", ()) for one in printed):
        made.outputs = [
            new_output(
                "display_data", {"text/markdown": markdown(piece.select(".cell_output > *"))}
            )
        ]
    compared = not made.outputs and printed and all(map(is_text, printed))
    if compared:
        made.outputs = [one for one in printed if one.get("name") != "stderr"]
        text = "\n".join(str(one.get("text", one.get("data"))) for one in made.outputs)
        compared = len(text) <= SHORT and not (
            "cellView" in made.metadata and ROUNDING.search(text)
        )
    if made.outputs:
        made.metadata.tags = ["nbval-check-output" if compared else "nbval-ignore-output"]
    return made


def on_demand(source: str, printed: list[NotebookNode]) -> str:
    """The code of a solution behind a switch, so that running the whole notebook does not give it
    away.

    What a cell shows because it stands last there has to be displayed in a branch.
    """
    last = ast.parse(source).body[-1]
    if isinstance(last, ast.Expr) and any(one.output_type != "stream" for one in printed):
        segment = ast.get_source_segment(source, last)
        source = f"{source.rstrip().removesuffix(segment)}display({segment})"
    return f"{SWITCH}\nif show_solution:\n{textwrap.indent(source, '    ')}"


def pictured(drawing: Tag, markdown: Markdown) -> Iterator[NotebookNode]:
    """What a cell shows in place of a drawing: its picture, as wide as on the page, below its title
    and above the sentence that reads it."""
    figure = drawing.find_parent("figure")
    title = figure.select("figcaption:not(:has(a))")  # under an idea it is a link to the picture
    if title:
        yield new_output("display_data", {"text/markdown": f"**{markdown(title)}**"})
    data = {"image/png": drawing["png"], "text/plain": drawing["aria-label"]}
    yield new_output("display_data", data, metadata={"image/png": {"width": int(drawing["wide"])}})
    if read := figure.select(".mha-live-summary"):
        yield new_output("display_data", {"text/markdown": markdown(read)})


def folded(cell: NotebookNode) -> NotebookNode:
    """The same cell, whose code JupyterLab and Colab hide until it is asked for."""
    cell.metadata.update(cellView="form", jupyter={"source_hidden": True})
    return cell


def say_what_to_run_first(cells: list[NotebookNode]) -> None:
    """Let cells that are run too early say so: a folded one by code that raises a sentence, the
    first that is seen by a comment, which Python shows beside its error. The others are the book's
    lesson, and keep to it."""
    for cell in cells:
        if "cellView" in cell.metadata and SWITCH not in cell.source:
            title, code = cell.source.split("\n", 1)
            imports = cell is cells[0] or cell.id.startswith("guesses-")
            cell.source = "\n".join([title, NOT_SET_UP if imports else NOT_IMPORTED, code])
    if seen := next((cell for cell in cells if "cellView" not in cell.metadata), None):
        lines = seen.source.split("\n")
        used = next((k for k, line in enumerate(lines) if re.search(r"\bmha(book)?\b", line)), 0)
        # with the line of an error Python shows two above it
        lines.insert(used if used > 1 else 0, f"# {FIRST}")
        seen.source = "\n".join(lines)


def is_text(output):
    return output.output_type == "stream" or set(output.get("data", ())) == {"text/plain"}


def title_of(cell: NotebookNode, piece: Tag, solution: str) -> str:
    """What a folded cell does, in a few words: it says so itself, or its code does."""
    if solution:
        return solution.split(" (")[0]
    if title := cell.metadata.get("title"):
        return title
    tree, words = (
        ast.parse(re.sub(r"(?m)^(\s*)%", r"\1pass  # ", cell.source) or "pass"),
        cell.id.replace("-", " "),
    )
    words = words.removeprefix("figure ")
    titles = [
        keyword.value.value
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg == "title" and isinstance(keyword.value, ast.Constant)
    ]
    if "mhabook.exercise(" in cell.source:
        return "Your answer"
    if piece.select_one(".mha-fallback"):
        return "A live figure"
    if titles or piece.select_one(".mha-figure"):
        return f"Figure: {titles[0] if titles else words}"
    if piece.select_one(".mha-idea"):
        return f"Picture: {words.replace('idea', 'the idea')}"
    if piece.select_one(".cell_output"):
        return f"Result: {words}"
    if all(isinstance(line, ast.Import | ast.ImportFrom) for line in tree.body):
        return "Import what this page needs"
    defined, said = [name for name in names(tree) if name != "_"], [*kept_words(tree)]
    if said and not defined:
        return f"Numbers of the text: {', '.join(said)}"
    return f"Prepare {', '.join(defined) or words}"


def kept_words(tree):
    """The names under which a cell keeps words for the text."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "mhabook.say":
            yield from (keyword.arg for keyword in call.keywords if keyword.arg)


def names(tree):
    """What a cell defines."""
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            yield statement.name
        elif isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            yield from (
                name.id
                for target in targets
                for name in ast.walk(target)
                if isinstance(name, ast.Name)
            )


def photograph(article: Tag) -> None:
    """Give every drawing of a page its picture, and put one that stands in the text in its place
    there.

    Programs do not show the SVG of a notebook that they have not run; a picture they all show.
    """
    for drawing in article.select("svg.mha-picture"):
        drawing.attrs |= painted(str(drawing))
    for idea in article.select(".mha-idea"):
        # Its link has all panels in a row.
        file = idea.select_one("figcaption a")["href"].split(",")[1]
        idea.select_one("[role=img]").attrs |= painted(base64.b64decode(file).decode())
    for k, drawing in enumerate(article.select(".proof-map svg")):
        drawing["class"] = "proof-map"  # as its style calls it
        alt = " ".join(words.get_text() for words in drawing.select("title, desc"))
        image = new_tag("img", alt=alt, src=f"attachment:drawing-{k}.png")
        image.attrs |= painted(str(drawing))
        drawing.replace_with(image)


def painted(svg: str) -> dict[str, str]:
    """A drawing in dots, as attributes of what stands for it, and how wide it is on a page."""
    wide = re.search(r'viewbox="\S+ \S+ (\S+)', svg, re.IGNORECASE)[1]
    return {"png": base64.b64encode(paint.png(svg)).decode(), "wide": wide}


def notebook(
    page: edition.Page,
    html: str,
    runnable: dict[str, edition.Page],
    executed: NotebookNode,
) -> NotebookNode:
    """A built page as a notebook, with what its code printed when it was executed."""
    source = nbformat.read(ROOT / f"{page.name}.ipynb", 4)
    article = article_of(AS_SET.sub("", html))
    photograph(article)
    markdown = Markdown(prepare(article, page, runnable))
    outputs = {cell.id: cell.get("outputs", []) for cell in executed.cells}
    first, *others = cells(article, source, outputs, markdown)
    for number, cell in enumerate((cell for cell in others if cell.cell_type == "code"), 2):
        cell.execution_count = number if cell.outputs else None  # the set-up cell was the first
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = number
    say_what_to_run_first([cell for cell in others if cell.cell_type == "code"])
    first.source += (
        f"\n\n*This notebook contains the code behind [a page of the book]({page.web}).*"
    )
    top = folded(new_code_cell(setup(edition.repository(ROOT)), id="set-up"))
    return new_notebook(
        cells=[first, top, *others],
        metadata={
            "kernelspec": source.metadata.kernelspec,
            "language_info": PYTHON,
            "colab": {"provenance": []},
        },
    )


def contents(titles: dict[edition.Page, str]) -> str:
    """What a visitor of the folder reads first."""
    repository = edition.repository(ROOT)
    colab = COLAB.format(repository.removeprefix("https://github.com/"))
    lines = [
        f"- [{title}]({page.notebook}): [in Colab]({colab}{page.notebook}), [as a page]({page.web})"
        for page, title in titles.items()
    ]
    return CONTENTS.format(repository=repository, list="\n".join(lines))


def main(build: Path = ROOT / "_build") -> None:
    """Write all notebooks, and hand them to the download buttons of the built pages."""
    cache, folder, titles = get_cache(build / "executed"), build / "notebooks", {}
    executed = {
        Path(record.uri).relative_to(ROOT).with_suffix("").as_posix(): record.pk
        for record in cache.list_cache_records()
    }
    runnable = {page.name: page for page in edition.pages(ROOT) if page.name in executed}
    shutil.rmtree(folder, ignore_errors=True)
    for name, page in runnable.items():
        html = (build / "html" / f"{name}.html").read_text("utf-8")
        made = notebook(page, html, runnable, cache.get_cache_bundle(executed[name]).nb)
        titles[page] = made.cells[0].source.split("\n")[0].removeprefix("# ")
        for path in (folder / page.notebook, build / "html" / "_sources" / f"{name}.ipynb"):
            path.parent.mkdir(parents=True, exist_ok=True)
            nbformat.write(made, path)
    (folder / "README.md").write_text(contents(titles), "utf-8")
    shutil.copy(Path(__file__).with_name("nbval_sanitize.cfg"), folder)
    make_wheel.build(folder)
    print(f"   {len(runnable)} notebooks")


if __name__ == "__main__":
    main()
