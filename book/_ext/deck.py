"""The slides of a week of the course, made from the built pages; kit.py writes them.

A lecture of course.yml names what each of its parts shows: ``2/guesses``, ``2/prop-1-hessian``. A slide is

- ``question``: the title of a chapter, its first paragraph, and its first figure if that comes with it,
- ``guesses``: what a chapter asks to predict,
- ``idea``: the drawn picture of its idea,
- ``seen``: what the chapter has shown,
- the label of a statement, the number of a figure (``figure-2``), the id of a section,
- or the name of a live figure, which trains on the slide.
"""

from html import escape
from pathlib import Path

import built
import course
import guesses
from built import element, moved, section, taken

HERE = "kit/week-1"  # any folder of a week: all are as far from the pages


def slides(k, week):
    """The slides of week ``k``, each as HTML.

    Raises ValueError naming the part that no page has.
    """
    yield framed(f"<h1>{escape(week['title'])}</h1><p>{escape(week['aim'])}</p>"
                 f"<p><small>Week {k} of six · How Attention Learns</small></p>", kind="title",
                 notes="<p>S opens these notes in a window of their own, F fills the screen, ? lists all keys.</p>")
    parts = "".join(f"<li>{escape(part['part'])} <small>{part['minutes']} minutes</small></li>"
                    for part in week["lecture"])
    yield framed(f"<h2>Ninety minutes</h2><ol>{parts}</ol>")
    shows = {item["figure"]: item["show"] for item in week["live"]}
    for part in week["lecture"]:
        for name in part["slides"]:
            yield slide(name, part, shows)
    problems = "".join(f"<li>{escape(problem)}</li>" for problem in titles_of_sheet(k))
    yield framed(f"<h2>Sheet {k}</h2><ul>{problems}</ul>")


def slide(name, part, shows):
    """One slide of a part of the lecture."""
    page, label = name.split("/")
    file = built.file_of(page)
    body, kind = KINDS[label](page) if label in KINDS else labelled(page, label)
    ask = f"<p>{escape(shows[label])}</p>" if label in shows else ""
    where = f"Chapter {page}" if page.isdigit() else course.title(file)
    return framed(body, kind, part["part"], f"<p>{escape(part['part'])}: {part['minutes']} minutes.</p>{ask}",
                  f'<a href="{moved(f"{Path(file).name}.html", file, HERE)}" target="_blank">{escape(where)}</a>')


def framed(body, kind="", part="", notes="", foot=""):
    """A slide with the part of the lecture above it and its page below."""
    body = str(body).replace("<section", "<div").replace("</section", "</div")  # to reveal.js each section is a slide
    return (f'<section class="{kind}"><p class="part">{escape(part)}</p>{body}<p class="foot">{foot}</p>'
            f'<aside class="notes">{notes}</aside></section>')


def question(page):
    file, found = built.file_of(page), section(page, "")
    first = found.find("p", recursive=False)
    before = [each for each in found.find_all("figure", class_="mha-figure") if each.find_parent("section") is found]
    drawn = picture(file, before[0]) if before else ""
    return f"<h1>{escape(course.title(file))}</h1>{taken(first, file, HERE)}{drawn}", "question"


def asked(page):
    """The guesses of a chapter: what is asked, and what one may choose."""
    name = element_of_guesses(page)["id"].removeprefix("guesses-")
    rows = []
    for number, guess in guesses.groups()[name].items():
        choices = " · ".join(map(escape, guess.get("choices", ["draw it"] if "curve" in guess else [])))
        rows.append(f"<li><b>{number}</b> {escape(guess['ask'])}<br><small>{choices}</small></li>")
    return f'<h2>Guess first</h2><ul class="guesses">{"".join(rows)}</ul>', "guesses"


def element_of_guesses(page):
    found = built.page(built.file_of(page)).find(class_="mha-guesses")
    if found is None:
        raise ValueError(f"{page}/guesses: the page {built.file_of(page)} asks for no guess")
    return found


def idea(page):
    file, found = built.file_of(page), section(page, "the-idea")
    drawing = found.find("figure", class_="mha-idea")
    if drawing is None:
        raise ValueError(f"{page}/idea: the section {found['id']} has no drawn picture")
    words = taken(found.find("p", recursive=False), file, HERE)
    return f"{heading(found, file)}{taken(drawing, file, HERE)}{words}", "idea"


def seen(page):
    file, found = built.file_of(page), section(page, "what-we-have-seen")
    return f"<h2>What we have seen</h2>{taken(found.find('ul'), file, HERE)}", "seen"


KINDS = {"question": question, "guesses": asked, "idea": idea, "seen": seen}


def labelled(page, label):
    """The slide of a statement, a figure, a section or a live figure, and its kind."""
    file, found = built.file_of(page), element(page, label)
    if found.name == "figure":
        return f"<h2>{escape(found.find('figcaption').get_text(strip=True))}</h2>{picture(file, found)}", "figure"
    if found.name == "section":
        return without_cells(taken(found, file, HERE)), "text"
    if "proof" in found.get("class", ()):
        return str(taken(found, file, HERE)), "statement"
    live = found.find_next("figure", class_="mha-fallback")
    if not (built.HTML / "figures" / f"{label}.html").exists() or live is None:
        raise ValueError(f"{page}/{label}: expected a statement, a figure, a section or a live figure")
    name = escape(live.find("figcaption").get_text(strip=True))
    return f'<iframe data-src="../../figures/{label}.html" title="{name}"></iframe>', "live"


def picture(file, figure):
    """A still figure as an image, from the folder of pictures."""
    number = figure["id"].removeprefix("figure-")
    source = f"../../figures/{Path(file).name}-{number}.svg"
    return f'<img src="{source}" alt="{escape(figure["aria-label"])}">'


def heading(found, file):
    return str(taken(found.find(["h2", "h3"]), file, HERE)).replace("<h3", "<h2").replace("</h3", "</h2")


def without_cells(part):
    """A section without its code, its dropdowns and the sections inside it."""
    for each in part.select("div.cell, .dropdown, section section, table"):
        each.decompose()
    return str(part).replace("<h3", "<h2").replace("</h3", "</h2")


def titles_of_sheet(k):
    """The problems of sheet ``k``, as they are called there."""
    sheet = built.sheet(k)
    return [each.get_text(" ", strip=True) for each in
            sheet.select("ol > li > p:first-child, .exercise > .admonition-title")]
