"""The pages of the course, made from book/start/course.yml: the goals, the routes, the sheets; the
map is course_map.py's.

Each directive writes Markdown into its page: ``course-contents`` and ``course-goals`` with the
folder of a part, ``course-routes``, ``course-weeks``, ``course-weekend``, ``course-researcher``,
``course-sheet`` with the number of a week.
"""

import json
import re
from pathlib import Path

import marking
import thumbnails
import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[2]
COURSE = ROOT / "book" / "start" / "course.yml"
SHEETS = "book/start/sheets"
PARTS = {
    "start": "Before you start",
    "multihead": "Part I · Multi-head attention",
    "preconditioning": "Part II · Preconditioning",
    "kernels": "Part III · Two kernels",
    "laboratory": "Laboratory",
}
"""Folder → the name of its part in the contents."""


def course():
    """The course as a dictionary; its pages by file."""
    found = yaml.safe_load(COURSE.read_text("utf-8"))
    weeks = [{"week": k} | week for k, week in enumerate(found["weeks"], 1)]
    pages = {page["file"]: page for page in found["pages"]}
    return found | {"weeks": weeks, "pages": pages}


def number(file):
    """The number of a chapter, as in its file name; "" for an opening page."""
    return (re.match(r"(\d\d)_", Path(file).name) or [""])[0].lstrip("0").rstrip("_")


def name_of(file):
    """The short name of a page: its number, or the first word of its file."""
    return number(file) or Path(file).name.split("_")[0]


def markdown_of(file):
    """All Markdown of a notebook, as one text."""
    cells = json.loads((ROOT / f"{file}.ipynb").read_text("utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def title(file):
    """The title of a notebook: its first heading."""
    return re.search(r"(?m)^# (.+)$", markdown_of(file))[1].strip()


def reading(text):
    """Minutes of reading: 120 words or 10 formulas a minute."""
    prose, formulas = re.subn(r"\$\$.+?\$\$|\$[^$]+\$", " ", text, flags=re.DOTALL)
    return len(re.findall(r"[^\W\d_][\w'’-]+", prose)) / 120 + formulas / 10


def in_fives(number):
    """A number of minutes in steps of 5, and not less than 5."""
    return max(5, 5 * round(number / 5))


def minutes(file):
    """How long a first reading takes, in steps of 5: the text with proofs and solutions folded, and
    2 minutes for each guess, which is made, tried in a live figure, and looked at again."""
    text = re.sub(r"(?s)(`{4,}|:{4,})\{(?:admonition|solution)\}.*?\1", "", markdown_of(file))
    text = re.split(r"\n## [^\n]*[Ee]xercises", text)[0]
    guesses = [
        number for row in re.findall(r"\{guessed\} [\w-]+ ([^\n]+)", text) for number in row.split()
    ]
    return in_fives(reading(text) + 2 * len(guesses))


def proofs(file):
    """How long its proofs take, in steps of 5: three times as long as other text. Zero where it has
    none."""
    found = re.findall(r"(?s)(`{4,}|:{4,})\{admonition\} Proof(.*?)\1", markdown_of(file))
    return in_fives(3 * sum(reading(proof) for _, proof in found)) if found else 0


def called(file):
    """A page by its number and title: "Chapter 3 · What one step knows"."""
    return (f"Chapter {number(file)} · " if number(file) else "") + title(file)


def named(file):
    """A link to a page, as it is called."""
    return f"{{doc}}`{called(file)} </{file}>`"


# --- the texts
# ------------------------------------------------------------------------------------------------


def bullets(items, words):
    """A list of pages with what to do there."""
    return [f"- {named(item['page'])}. {item[words]}" for item in items] + [""]


def shown(item):
    """What to show of a page, with a link to its live figure, and to the figure alone, for a screen
    in class."""
    there, alone = (
        f"../../{item['page']}.html#{item['figure']}",
        f"../../figures/{item['figure']}.html",
    )
    also = "" if item["page"].endswith("laboratory") else f' or <a href="{alone}">alone</a>'
    return (
        f'- {named(item["page"])}. {item["show"]} Open it <a href="{there}">on its page</a>{also}.'
    )


def pages_of(found, folder):
    """file → page, for the pages of a part."""
    return {file: page for file, page in found["pages"].items() if Path(file).parent.name == folder}


def contents(found, folder):
    """The pages of a part, for the first page: picture, number, title, how long a first reading
    takes, and what is there."""

    def picture(file):
        return thumbnails.images(thumbnails.IDEAS[name_of(file)][-1:], "../")

    return [
        line
        for file, page in pages_of(found, folder).items()
        for line in (
            f"- {picture(file)}{named(file)} · {minutes(file)} minutes\\",
            f"  {page['about']}",
        )
    ]


def goals(found, folder):
    """The pages of a part: what each needs, how long it takes, what one can do then, and what
    checks that."""
    out = []
    for file, page in pages_of(found, folder).items():
        before = ", ".join(
            f"{{doc}}`{number(need) or title(need)} </{need}>`" for need in page["needs"]
        )
        out += [f"**{named(file)}**", ""]
        out += [f"*{minutes(file)} minutes. Needs {before or 'nothing from before'}.*", ""]
        for goal in page["goals"]:
            check = ", ".join(f"{{ref}}`{label}`" for label in goal.get("check", ()))
            out.append(
                f"- {goal['text'][0].upper()}{goal['text'][1:]}." + f" ({check})" * bool(check)
            )
        out.append("")
    return out


def routes(found, _):
    """The three routes with a link to each, how long it takes, and where it starts."""
    hours = {
        route: round(sum(map(minutes, files)) / 60)
        for route, files in {
            "weeks": [file for week in found["weeks"] for file in week["read"]],
            "weekend": [step["page"] for block in found["weekend"] for step in block["steps"]],
        }.items()
    }
    return [
        f"- {{ref}}`course-of-six-weeks`: six lectures of ninety minutes and about "
        f"{hours['weeks']} hours of reading. Start with {named(found['weeks'][0]['read'][0])}.",
        f"- {{ref}}`route-weekend`: two days, up to {hours['weekend']} hours of reading. "
        f"Start with {named(found['weekend'][0]['steps'][0]['page'])}.",
        "- {ref}`route-researcher`: twenty minutes. Start with your question.",
        "",
    ]


def weeks(found, _):
    """Six weeks, each with its reading, its lecture, what to show, its sheet, and what to take
    along."""
    out = []
    for k, week in enumerate(found["weeks"], 1):
        total, unfolded = sum(map(minutes, week["read"])), sum(map(proofs, week["read"]))
        out += [
            f"### Week {k}: {week['title']}",
            "",
            week["aim"],
            "",
            f"**Read before** ({total} minutes, and {unfolded} with the proofs): "
            f"{'; '.join(map(named, week['read']))}.",
            "",
        ]
        if "look" in week:
            parts = "; ".join(f"{named(item['page'])}: {item['at']}" for item in week["look"])
            out += [f"**Look into**: {parts}.", ""]
        if "skip" in week:
            out += ["**Leave out**", "", *bullets(week["skip"], "why")]
        lecture = [f"1. {item['part']}. *{item['minutes']} minutes.*" for item in week["lecture"]]
        out += [
            "**The lecture**",
            "",
            *lecture,
            "",
            "**Show live**",
            "",
            *map(shown, week["live"]),
            "",
        ]
        out += taken_along(k)
    return out


def taken_along(k):
    """What kit.py makes for week ``k``: links to its pages, which stand beside the book's."""

    def link(file, words):
        saved = "" if file.endswith(".html") else " download"
        return f'<a href="../../kit/week-{k}/{file}"{saved}>{words}</a>'

    return [
        f"**Take along**: {link('slides.html', 'slides')} with the live figures in them; [sheet "
        f"{k}](sheet-{k}), {link('sheet.html', 'to print')} and "
        f"{link('solutions.html', 'its solutions')}; the {{ref}}`quiz <quiz-{k}>`, "
        f"{link('quiz.gift.txt', 'for Moodle')} and "
        f"{link('quiz-qti.zip', 'for other platforms')}. All of it "
        f'<a href="../../kit/week-{k}.zip">in one file</a>.',
        "",
    ]


def weekend(found, _):
    out = []
    for block in found["weekend"]:
        time = sum(minutes(step["page"]) for step in block["steps"])
        out += [f"**{block['when']}** (up to {time} minutes)", "", *bullets(block["steps"], "do")]
    return out


def researcher(found, _):
    return [
        line for item in found["researcher"] for line in (f"{item['want']}", f": {item['go']}", "")
    ]


def problem(found, label):
    """The title of an exercise, and its text with links that hold on other pages, from the notebook
    that holds it."""
    for file in found["pages"]:
        stated = stated_in(file, label)
        if stated:
            folder = Path(file).parent.as_posix()
            text = re.sub(
                r"\[([^\]]+)\]\((\w+)\.ipynb\)", rf"{{doc}}`\1 </{folder}/\2>`", stated[3]
            )
            return stated[2].strip(), text.strip()
    raise ValueError(f"sheet: expected labels of exercises, got {label!r}")


def stated_in(file, label):
    """The match of an exercise in the notebook of a page: its fence, its title, its text. None
    where it has none."""
    row = rf"(?s)(`{{4,}})\{{exercise(?:-start)?\}} *([^\n]*)\n:label: {label}\n(.*?)\n\1"
    return re.search(row, markdown_of(file))


def problems(week):
    """The labels of the problems of a week that stand in the book, in the order of its sheet."""
    return [*week["sheet"], *week["own"]]


def sheet(found, week):
    """The problems of a week that stand in the book, each with a link to its place, its field and
    its solution."""
    out = ["**From the book**", ""]
    if week not in map(str, range(1, len(found["weeks"]) + 1)):
        raise ValueError(
            f"sheet: expected the number of a week, 1 to {len(found['weeks'])}, got {week!r}"
        )
    for label in found["weeks"][int(week) - 1]["sheet"]:
        title, text = problem(found, label)
        effort = marking.effort(marking.parts(label))
        out += [f"1. **{{ref}}`{label}`**{' · ' + title if title else ''} · *{effort}*", ""]
        out += [f"   {line}".rstrip() for line in text.split("\n")] + [""]
    own = ", ".join(
        f"{{ref}}`{label}` *{marking.effort(marking.parts(label))}*"
        for label in found["weeks"][int(week) - 1]["own"]
    )
    return [*out, f"**Of this sheet alone**: {own}.", ""]


def own_numbers(found):
    """label → the number of a problem that a sheet adds: ("S3", 6) is the sixth of sheet 3."""
    return {
        label: (f"S{k}", place)
        for k, week in enumerate(found["weeks"], 1)
        for place, label in enumerate(week["own"], len(week["sheet"]) + 1)
    }


def number_problems(app, env):
    """Sphinx counts all exercises outside of chapters in one run: before chapter 1 they are 0.1,
    0.2, …, and those of the sheets count within their sheet."""
    for file, kinds in env.toc_fignumbers.items():
        if file.startswith("book/start/"):
            counted = kinds.get("exercise", {})
            counted.update(
                {label: ("0", *found) for label, found in counted.items() if len(found) == 1}
            )
    env.toc_fignumbers.get(SHEETS, {}).get("exercise", {}).update(own_numbers(course()))
    return []


class Text(SphinxDirective):
    """Markdown made from the course."""

    optional_arguments = 1

    def run(self):
        self.env.note_dependency(str(COURSE))
        self.env.note_dependency(str(marking.SHEETS))
        try:
            lines = self.make(course(), *(self.arguments or [None]))
        # a directive with a wrong argument is named with its line, and fails the build
        except ValueError as error:
            raise self.error(f"{self.name}: {error}") from error
        made = nodes.Element()
        self.state.nested_parse(
            StringList(lines, str(COURSE)), self.content_offset, made, match_titles=True
        )
        return made.children


def setup(app):
    app.add_css_file("course.css")
    app.connect("env-get-updated", number_problems, priority=900)  # after Sphinx has counted
    for make in (contents, goals, routes, weeks, weekend, researcher, sheet):
        app.add_directive(
            f"course-{make.__name__}", type(make.__name__, (Text,), {"make": staticmethod(make)})
        )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
