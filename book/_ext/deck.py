"""The slides of a week of the course, made from the built pages; kit.py writes them.

A lecture of course.yml names what each of its parts shows: ``2/guesses``, ``2/prop-1-hessian``. A
slide is

- ``question``: the title of a chapter, its first paragraph, and the picture that it opens with,
- ``guesses``: what a chapter asks to predict, with the answers in the notes,
- ``idea``: the drawn picture of its idea; ``picture-2``: the second drawn picture of the page,
- ``seen``: what the chapter has shown,
- the label of a statement, the number of a figure (``figure-2``), the id of a section,
- or the name of a live figure, which trains on the slide.

The notes of a slide have its share of the minutes, what to ask, and what the chapter says beside
it: after a statement its proof, after a figure what there is to see. A theorem is built up: first
what it supposes, then each of its claims, and on a slide of its own how its proof goes. The proof of
another statement stands below it where there is room (deck.js).
"""

import re
from html import escape
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import built
import course
import guesses
import problems
from bs4 import BeautifulSoup, NavigableString
from built import element, moved, section, taken

HERE = "kit/week-1"  # any folder of a week: all are as far from the pages


def slides(k, week, given):
    """The slides of week ``k`` of a course (course.py), each as HTML.

    Raises ValueError naming the part that no page has.
    """
    said = about(k, week, given)
    yield framed(
        f"<h1>{escape(week['title'])}</h1><p>{escape(week['aim'])}</p>{said}{cover(week)}",
        kind="title",
        notes="<p>S opens these notes in a window of their own, F fills the screen, ? lists all "
        "keys.</p>",
    )
    yield framed(plan(week), kind="plan")
    shows = {item["figure"]: item["show"] for item in week["live"]}
    for part in week["lecture"]:
        for name in part["slides"]:
            yield slide(name, part, shows, said)
    titles = [*titles_of_sheet(week), *titles_of_drawn(week, given)]
    rows = "".join(f"<li>{escape(title)}</li>" for title in titles)
    yield framed(f"<h2>Sheet {week['week']}</h2><ul>{rows}</ul>", kind="sheet")


def about(k, week, given):
    """Which week of which course it is, who gives it, and when."""
    number = f"Week {k} of {len(given['weeks'])}"
    words = filter(None, (number, str(week.get("date", "")), called(given)))
    return f'<p class="about">{escape(" · ".join(words))}</p>'


def cover(week):
    """The picture that the first chapter of a lecture opens with."""
    names = [name for part in week["lecture"] for name in part["slides"]]
    asked = [name.split("/")[0] for name in names if name.endswith("/question")]
    return opening(asked[0]) if asked else ""


def plan(week):
    """The parts of a lecture, each with a bar as long as it takes, and what was to be read."""
    whole = sum(part["minutes"] for part in week["lecture"])
    parts = "".join(
        f"<li><b>{part['minutes']}′</b> {escape(part['part'])}"
        f'<i style="width: {part["minutes"] / whole:.1%}"></i></li>'
        for part in week["lecture"]
    )
    pages = " · ".join(map(course.title, week["read"]))
    return f"<h2>{whole} minutes</h2><ol>{parts}</ol><p>Read before: {escape(pages)}</p>"


def called(given):
    """How a course is called, and who gives it."""
    return " · ".join(filter(None, (given["course"], given["by"])))


def slide(name, part, shows, said=""):
    """One slide of a part of the lecture, and behind that of a theorem one on its proof."""
    page, label = name.split("/")
    file = built.file_of(page)
    numbered = re.fullmatch(r"picture-(\d+)", label)
    if numbered:
        body, kind, notes = drawn(page, int(numbered[1]))
    else:
        body, kind, notes = KINDS[label](page) if label in KINDS else labelled(page, label)
    if kind == "question":
        body += said + opening(page)
    ask = f"<p><b>{escape(shows[label])}</b></p>" if label in shows else ""
    where = f"Chapter {page}" if page.isdigit() else course.title(file)
    share = max(1, round(part["minutes"] / len(part["slides"])))
    notes = f"<p>{name}, about {share} of {part['minutes']} minutes.</p>{ask}{notes}"
    foot = f'<a href="{moved(f"{Path(file).name}.html", file, HERE)}" target="_blank">{escape(where)}</a>'
    shown = framed(body, kind, part["part"], notes, foot, name)
    goes = how_it_goes(page, label) if kind == "statement" else ""
    if goes:
        proof = words([proof_of(element(page, label))], file)
        shown += framed(goes, "outline", part["part"], proof, foot)
    return shown


def framed(body, kind="", part="", notes="", foot="", name=""):
    """A slide with the part of the lecture above it and its page below; its name is that of
    course.yml."""
    # to reveal.js each section is a slide
    body = str(body).replace("<section", "<div").replace("</section", "</div")
    return (
        f'<section class="{kind}" data-name="{name}"><p class="part">{escape(part)}</p>{body}<p class="foot">{foot}</p>'
        f'<aside class="notes">{notes}</aside></section>'
    )


def question(page):
    file, found = built.file_of(page), section(page, "")
    first = found.find("p", recursive=False)
    body = f"<h1>{escape(course.title(file))}</h1>{taken(first, file, HERE)}"
    return body, "question", following(first, file)


def opening(page):
    """The first picture of a chapter. A still figure stands here without letters, which would be too
    small: a slide of its own has them."""
    file = built.file_of(page)
    first = built.page(file).find("figure", class_=["mha-idea", "mha-figure"])
    if first is None or "mha-idea" in first["class"]:
        return str(picture(file, first)) if first else ""
    svg = ElementTree.parse(built.HTML / "figures" / still(file, first)).getroot()
    for each in svg.findall(f"{SVG}g"):
        if not each.attrib:  # letters, legend and color bar: what is no panel
            svg.remove(each)
    shown = quote(ElementTree.tostring(svg, "unicode"))
    return f'<img class="opening" src="data:image/svg+xml,{shown}" alt="">'


SVG = "{http://www.w3.org/2000/svg}"
ElementTree.register_namespace("", SVG.strip("{}"))  # its elements are written without a prefix


def asked(page):
    """The guesses of a chapter: what is asked, and what one may choose."""
    found = built.page(built.file_of(page)).find(class_="mha-guesses")
    if found is None:
        raise ValueError(f"{page}/guesses: the page {built.file_of(page)} asks for no guess")
    rows, answers = [], []
    for guess in guesses.groups()[found["id"].removeprefix("guesses-")].values():
        words = guess.get("choices", ["draw it"] if "curve" in guess else [])
        choices = "".join(f"<span>{escape(each)}</span>" for each in words)
        rows.append(f'<li>{escape(guess["ask"])}<p class="choices">{choices}</p></li>')
        answer = f"<b>{escape(guess['answer'])}</b>: " if "answer" in guess else ""
        answers.append(f"<li>{answer}{escape(guess.get('why', 'The chapter shows it.'))}</li>")
    return (
        f'<h2>Guess first</h2><ol class="guesses">{"".join(rows)}</ol>',
        "guesses",
        f"<ol>{''.join(answers)}</ol>",
    )


def idea(page):
    found = section(page, "the-idea")
    if found.find("figure", class_="mha-idea") is None:
        raise ValueError(f"{page}/idea: the section {found['id']} has no drawn picture")
    return drawn(page, len(found.find_all_previous("figure", class_="mha-idea")) + 1)


def drawn(page, number):
    """A drawn picture of a page, counted from 1, below the heading of its section; what leads to it
    goes into the notes.

    Raises ValueError where the page has fewer.
    """
    file = built.file_of(page)
    drawings = built.page(file).find_all("figure", class_="mha-idea")
    if not 1 <= number <= len(drawings):
        raise ValueError(f"{page}/picture-{number}: the page {file} has {len(drawings)} of them")
    drawing, before = drawings[number - 1], []
    cell = drawing.find_parent("div", class_="cell")
    for each in cell.find_previous_siblings():
        if {"cell", "proof"} & set(each.get("class", ())):
            break
        if is_text(each):
            before.insert(0, each)
    found = drawing.find_parent("section")
    body = f"{heading(found, file)}{picture(file, drawing)}"
    return body, "idea", words(before, file) + following(cell, file)


def seen(page):
    file, found = built.file_of(page), section(page, "what-we-have-seen")
    return f"<h2>What we have seen</h2>{taken(found.find('ul'), file, HERE)}", "seen", ""


KINDS = {"question": question, "guesses": asked, "idea": idea, "seen": seen}


def labelled(page, label):
    """The slide of a statement, a figure, a section or a live figure: its body, its kind, its
    notes."""
    file, found = built.file_of(page), element(page, label)
    if found.name == "figure":
        body = f"<h2>{escape(found.find('figcaption').get_text(strip=True))}</h2>{picture(file, found)}"
        return body, "figure", following(found.find_parent("div", class_="cell"), file)
    if found.name == "section":
        return without_cells(taken(found, file, HERE)), "text", ""
    if "proof" in found.get("class", ()):
        return statement(found, file)
    live = found.find_next("figure", class_="mha-fallback")
    if not (built.HTML / "figures" / f"{label}.html").exists() or live is None:
        raise ValueError(
            f"{page}/{label}: expected a statement, a figure, a section or a live figure"
        )
    name = escape(live.find("figcaption").get_text(strip=True))
    body = f'<iframe data-src="../../figures/{label}.html?slides" title="{name}"></iframe>'
    return body, "live", following(live.find_parent("div", class_="cell"), file)


def statement(found, file):
    """A statement below the sentence that leads to it, and a proof below it, as its notes have it;
    that of a theorem has a slide of its own."""
    led = "".join(str(taken(each, file, HERE)) for each in leading(found))
    lead = f'<div class="lead">{led}</div>' if led else ""
    shown = taken(found, file, HERE)
    sources = [each for each in shown.find_all("p") if SOURCES.match(each.get_text())]
    for each in sources:
        each.extract()
    proof = proof_of(found)
    notes = words(sources, file)
    if "theorem" in found["class"] and proof:
        for each in shown.select(".theorem-content > *")[1:]:
            each["class"] = [*each.get("class", ()), "fragment"]
        return f"{lead}{shown}", "statement", words(leading(found), file) + notes
    notes += words([proof], file) if proof else following(found, file)
    below = f'<div class="short fragment">{without_title(proof, file)}</div>' if proof else ""
    return f"{lead}{shown}{below}", "statement", notes


def proof_of(found):
    """The proof behind a statement, or None."""
    after = found.find_next_sibling()
    return after if after is not None and "dropdown" in after.get("class", ()) else None


def without_title(proof, file):
    """A proof that begins with its name."""
    proof = taken(proof, file, HERE)
    proof.find(class_="admonition-title").decompose()
    first = proof.find("p")
    first.insert(0, BeautifulSoup("<b>Proof.</b> ", "html.parser"))
    return "".join(map(str, paragraphs(proof)))


def how_it_goes(page, label):
    """How the proof of a theorem goes: each step that the page names, with its first sentence, or
    sentence by sentence. Nothing for other statements."""
    file, found = built.file_of(page), element(page, label)
    proof = proof_of(found)
    if "theorem" not in found["class"] or proof is None:
        return ""
    title = found.find(class_="admonition-title").get_text(" ", strip=True)
    parts = paragraphs(taken(proof, file, HERE))[1:]
    named = [
        k for k, each in enumerate(parts) if each.contents[:1] == each.find_all("em")[:1] != []
    ]
    steps = [next(sentences(parts[k:])) for k in named] if len(named) > 2 else sentences(parts)
    rows = "".join(f'<li class="fragment">{step}</li>' for step in steps)
    return f"<h2>How {re.match(r'Theorem [0-9.]+', title)[0]} is proved</h2><ol>{rows}</ol>"


def sentences(parts):
    """The sentences of paragraphs and displayed formulas, as HTML; a name with a period, such as
    "The decoder.", belongs to the sentence behind it."""
    said = ""
    for part in parts:
        for each in [part] if is_formula(part) else part.contents:
            if isinstance(each, NavigableString):
                *ended, rest = ENDS.split(escape(each, quote=False))
            else:
                ended, rest = ([each], "") if closes(each) else ([], each)
            for sentence in ended:
                yield f"{said}{sentence}"
                said = ""
            said += str(rest)
        if part.get_text().rstrip().endswith((".", "?")) and said.strip():
            yield said
            said = ""
    if said.strip():
        yield said


ENDS = re.compile(r"(?<=[.?!])\s+(?=[A-Z]|$)")


def closes(part):
    """Does a formula end a sentence, displayed or with a mark behind it?"""
    together = "mha-together" in part.get("class", ())
    return (is_formula(part) or together) and part.get_text().rstrip().endswith((".", "?"))


SOURCES = re.compile(r"\s*(It has the shape of|This (theorem )?is the counterpart of)")
# what a page says to its readers alone
TO_READERS = re.compile(r"\s*(Reading time: |Here are the answers\.)")


# how a paragraph begins that leads to the code or the figure behind it, which no note has
LEADS_ON = re.compile(r"\s*(In code,|Here is |The figure shows )")


def is_text(part):
    """Is it a paragraph or a displayed formula?"""
    return part.name == "p" or is_formula(part)


def is_formula(part):
    return part.name == "div" and "math" in part.get("class", ())


def leading(found):
    """The sentence before a statement, with the displayed formulas in it."""
    parts = []
    for each in found.find_previous_siblings():
        inside = not parts or is_formula(parts[0])
        sentence = each.name == "p" and inside and not each.find("strong", recursive=False)
        if not (sentence or is_formula(each)):
            break
        parts.insert(0, each)
    return parts


def following(found, file):
    """The paragraphs and formulas behind a part of a page, up to the next heading, figure or
    statement; those that lead to a drawn picture are among its notes."""
    behind = []
    for each in found.find_next_siblings() if found is not None else ():
        if not is_text(each):
            leads_on = each.name == "div" and each.find("figure", class_="mha-idea")
            if behind and "cell" in each.get("class", ()) and LEADS_ON.match(behind[-1].get_text()):
                behind.pop()
            return "" if leads_on else words(behind, file)
        if "mha-guessed" not in each.get("class", ()) and not TO_READERS.match(each.get_text()):
            behind.append(each)
    return words(behind, file)


def words(parts, file):
    """Parts of a page for the notes, paragraph by paragraph."""
    return "".join(
        f"<p>{said(each)}</p>" for part in parts for each in paragraphs(taken(part, file, HERE))
    )


def paragraphs(part):
    """The paragraphs of a part, and its displayed formulas; a paragraph in a list is one."""
    return [part] if is_text(part) else part.find_all(is_text)


def said(paragraph):
    """A paragraph as the window of the notes shows it, which has no styles of the book: words, with
    what is emphasized, and formulas in MathML, which browsers set by themselves."""
    if is_formula(paragraph):
        return str(paragraph.find("math"))
    for formula in paragraph.select(".math"):
        formula.replace_with(formula.find("math"))
    if "admonition-title" in paragraph.get("class", ()):
        paragraph.string.wrap(BeautifulSoup().new_tag("b"))
    for each in paragraph.find_all(lambda tag: not (tag.name in KEPT or tag.find_parent("math"))):
        each.unwrap()
    return " ".join(paragraph.decode_contents().split())


KEPT = ("math", "b", "em", "strong")


def picture(file, figure):
    """A drawn picture, or a still figure as an image, from the folder of pictures."""
    if "mha-idea" in figure["class"]:
        return taken(figure, file, HERE)
    source = f"../../figures/{still(file, figure)}"
    return f'<img src="{source}" alt="{escape(figure["aria-label"])}">'


def still(file, figure):
    """The name of the image of a still figure in the folder of pictures."""
    return f"{Path(file).name}-{figure['id'].removeprefix('figure-')}.svg"


def heading(found, file):
    return raised(taken(found.find(["h2", "h3"]), file, HERE))


def raised(part):
    """A part of a page as HTML, its heading as high as any of a slide."""
    return str(part).replace("<h3", "<h2").replace("</h3", "</h2")


def without_cells(part):
    """A section without its code, its figures, its dropdowns and the sections inside it; what a
    cell prints stays."""
    for cell in part.select("div.cell"):
        printed = cell.find("div", class_=re.compile("stream|text_plain"))
        cell.replace_with(printed.extract()) if printed else cell.decompose()
    for each in part.select(".dropdown, section section, table"):
        each.decompose()
    return raised(part)


def titles_of_sheet(week):
    """The problems of the sheet of a week, as they are called there, with their minutes and
    points."""
    sheet = built.sheet(week["week"])
    from_the_book = [
        each.get_text(" ", strip=True) for each in sheet.select("ol > li > p:first-child")
    ]
    own = [each.get_text(" ", strip=True) for each in sheet.select(".exercise > .admonition-title")]
    efforts = [course.effort(course.work(course.SHEETS, label)).strip("*") for label in week["own"]]
    return from_the_book + [
        f"{title} · {effort}" for title, effort in zip(own, efforts, strict=True)
    ]


def titles_of_drawn(week, given):
    """The same of the problems whose numbers are drawn, which are the last of a sheet."""
    k = week["week"]
    return [
        f"Exercise S{k}.{n} ({each.title}) · {course.effort(each.minutes).strip('*')}"
        for n, each in numbered(week, problems.drawn(k, given["seed"]))
    ]


def numbered(week, drawn):
    """(number, problem): those whose numbers are drawn come after all others of a sheet."""
    return enumerate(drawn, len(week["sheet"]) + len(week["own"]) + 1)
