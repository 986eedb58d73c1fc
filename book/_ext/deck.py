"""The slides of a week of the course, made from the built pages; kit.py writes them.

A lecture of course.yml names what each of its parts shows: ``2/guesses``, ``2/prop-1-hessian``. A
slide is

- ``question``: the title of a chapter, its first paragraph, and a drawn picture if that comes with it,
- ``guesses``: what a chapter asks to predict, with the answers in the notes,
- ``idea``: the drawn picture of its idea; ``picture-2``: the second drawn picture of the page,
- ``seen``: what the chapter has shown,
- the label of a statement, the number of a figure (``figure-2``), the id of a section,
- or the name of a live figure, which trains on the slide.

The notes of a slide have its share of the minutes, what to ask, and what the chapter says beside
it: after a statement its proof, after a figure what there is to see. A theorem is built up: first
what it supposes, then each of its claims, last the
steps of its proof where the page names them.
"""

import re
from html import escape
from pathlib import Path

import built
import course
import guesses
from built import element, moved, section, taken

HERE = "kit/week-1"  # any folder of a week: all are as far from the pages


def slides(k, week, given):
    """The slides of week ``k`` of a course (course.py), each as HTML.

    Raises ValueError naming the part that no page has.
    """
    yield framed(
        f"<h1>{escape(week['title'])}</h1><p>{escape(week['aim'])}</p>"
        f"<p><small>Week {k} of {len(given['weeks'])} · {escape(called(given))}</small></p>",
        kind="title",
        notes="<p>S opens these notes in a window of their own, F fills the screen, ? lists all "
        "keys.</p>",
    )
    parts = "".join(
        f"<li>{escape(part['part'])} <small>{part['minutes']} minutes</small></li>"
        for part in week["lecture"]
    )
    yield framed(f"<h2>Ninety minutes</h2><ol>{parts}</ol>")
    shows = {item["figure"]: item["show"] for item in week["live"]}
    for part in week["lecture"]:
        for name in part["slides"]:
            yield slide(name, part, shows)
    problems = "".join(f"<li>{escape(problem)}</li>" for problem in titles_of_sheet(week))
    yield framed(f"<h2>Sheet {week['week']}</h2><ul>{problems}</ul>")


def called(given):
    """How a course is called, and who gives it."""
    return " · ".join(filter(None, (given["course"], given["by"])))


def slide(name, part, shows):
    """One slide of a part of the lecture."""
    page, label = name.split("/")
    file = built.file_of(page)
    numbered = re.fullmatch(r"picture-(\d+)", label)
    if numbered:
        body, kind, notes = drawn(page, int(numbered[1]))
    else:
        body, kind, notes = KINDS[label](page) if label in KINDS else labelled(page, label)
    ask = f"<p><b>{escape(shows[label])}</b></p>" if label in shows else ""
    where = f"Chapter {page}" if page.isdigit() else course.title(file)
    share = max(1, round(part["minutes"] / len(part["slides"])))
    return framed(
        body,
        kind,
        part["part"],
        f"<p>About {share} of {part['minutes']} minutes.</p>{ask}{notes}",
        f'<a href="{moved(f"{Path(file).name}.html", file, HERE)}" target="_blank">{escape(where)}</a>',
    )


def framed(body, kind="", part="", notes="", foot=""):
    """A slide with the part of the lecture above it and its page below."""
    # to reveal.js each section is a slide
    body = str(body).replace("<section", "<div").replace("</section", "</div")
    return (
        f'<section class="{kind}"><p class="part">{escape(part)}</p>{body}<p class="foot">{foot}</p>'
        f'<aside class="notes">{notes}</aside></section>'
    )


def question(page):
    file, found = built.file_of(page), section(page, "")
    first = found.find("p", recursive=False)
    before = [
        each
        for each in found.find_all("figure", class_="mha-idea")
        if each.find_parent("section") is found
    ]
    shown = picture(file, before[0]) if before else ""
    body = f"<h1>{escape(course.title(file))}</h1>{taken(first, file, HERE)}{shown}"
    return body, "question", following(first, file)


def asked(page):
    """The guesses of a chapter: what is asked, and what one may choose."""
    found = built.page(built.file_of(page)).find(class_="mha-guesses")
    if found is None:
        raise ValueError(f"{page}/guesses: the page {built.file_of(page)} asks for no guess")
    rows, answers = [], []
    for guess in guesses.groups()[found["id"].removeprefix("guesses-")].values():
        choices = " · ".join(
            map(escape, guess.get("choices", ["draw it"] if "curve" in guess else []))
        )
        rows.append(f"<li>{escape(guess['ask'])}<br><small>{choices}</small></li>")
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
    """A statement below the sentence that leads to it; its sources and its proof go into the
    notes."""
    led = "".join(str(taken(each, file, HERE)) for each in leading(found))
    lead = f'<div class="lead">{led}</div>' if led else ""
    shown = taken(found, file, HERE)
    sources = [each for each in shown.find_all("p") if SOURCES.match(each.get_text())]
    for each in sources:
        each.extract()
    after = found.find_next_sibling()
    proof = after if after is not None and "dropdown" in after.get("class", ()) else None
    notes = words(sources, file) + (words([proof], file) if proof else following(found, file))
    steps = ""
    if "theorem" in found["class"]:
        for each in shown.select(".theorem-content > *")[1:]:
            each["class"] = [*each.get("class", ()), "fragment"]
        steps = steps_of(taken(proof, file, HERE)) if proof else ""
    return f"{lead}{shown}{steps}", "statement", notes


def steps_of(proof):
    """The steps of a proof, where its paragraphs begin with their names."""
    first = [each.contents[0] for each in paragraphs(proof) if each.name == "p" and each.contents]
    steps = [each.decode_contents().rstrip(".") for each in first if each.name == "em"]
    if len(steps) < 2:
        return ""
    return f'<p class="steps fragment"><b>The proof, step by step.</b> {" · ".join(steps)}</p>'


SOURCES = re.compile(r"\s*(It has the shape of|This is the counterpart of)")
# what a page says to its readers alone
TO_READERS = re.compile(r"\s*(Reading time: |Here are the answers\.)")


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
    """A paragraph as the window of the notes shows it, which has no styles of the book: words, and
    formulas in MathML, which browsers set by themselves."""
    if is_formula(paragraph):
        return str(paragraph.find("math"))
    for formula in paragraph.select(".math"):
        formula.replace_with(formula.find("math"))
    for each in paragraph.find_all(lambda tag: not (tag.name == "math" or tag.find_parent("math"))):
        each.unwrap()
    return " ".join(paragraph.decode_contents().split())


def picture(file, figure):
    """A drawn picture, or a still figure as an image, from the folder of pictures."""
    if "mha-idea" in figure["class"]:
        return taken(figure, file, HERE)
    number = figure["id"].removeprefix("figure-")
    source = f"../../figures/{Path(file).name}-{number}.svg"
    return f'<img src="{source}" alt="{escape(figure["aria-label"])}">'


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
