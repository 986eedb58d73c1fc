"""The course and its sheets: what course.yml says is so in the table of contents and in
the notebooks."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

import notebooks
from figures import FIGURES, figure
from scripts import load

ROOT = Path(__file__).parents[2]
course = load("book/_ext/course.py")
marking = load("book/_ext/marking.py")
own_course = load("book/_ext/own_course.py")
problems = load("book/_ext/problems.py")
FOUND = course.course()
PAGES, WEEKS = FOUND["pages"], FOUND["weeks"]
PARTS = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))["parts"]
TOC = [entry["file"] for part in PARTS for entry in part["chapters"]]
CHAPTERS = [file for file in TOC if course.number(file)]
each_chapter = pytest.mark.parametrize("file", CHAPTERS)


def labels(file):
    return set(
        re.findall(r"\{exercise(?:-start)?\}[^\n]*\n:label: (\S+)", course.markdown_of(file))
    )


def test_every_page_of_the_course_is_in_the_book_in_its_order_and_needs_only_what_comes_before_it():
    assert [file for file in TOC if file in PAGES] == list(PAGES)
    assert set(CHAPTERS) <= set(PAGES)
    for k, page in enumerate(PAGES.values()):
        assert set(page["needs"]) <= set(list(PAGES)[:k])


def test_reading_is_counted_in_words_and_formulas_and_proofs_take_three_times_as_long():
    assert course.reading("word " * 240 + "$x$ " * 5 + "$$y$$") == 2 + 0.6
    assert [course.in_fives(number) for number in (0, 7.4, 7.6, 62)] == [5, 5, 10, 60]
    assert course.proofs("book/start/softmax") == 0
    assert course.minutes("book/multihead/05_further") > course.minutes("book/multihead/01_further")


@each_chapter
def test_a_chapter_says_how_long_it_takes_as_it_is_counted(file):
    said = re.search(
        r"\*Reading time: (\d+) minutes(?:, plus (\d+) for the proofs|, plus your own experiments)\.\*",
        course.markdown_of(file),
    )
    assert 20 <= int(said[1]) == course.minutes(file) <= 30
    assert int(said[2] or 0) == course.proofs(file)


@each_chapter
def test_a_chapter_needs_the_chapters_that_it_says_it_needs(file):
    """A link under "Prerequisites" is a line of the map, and the other way round."""
    said = re.search(
        r"\*\*Prerequisites\.\*\*(.*?)(?:\n\n|\Z)", course.markdown_of(file), re.DOTALL
    )
    linked = {
        Path(path).stem
        for path in re.findall(r"\]\(([^)]*\d\d_\w+)\.ipynb\)", said[1] if said else "")
    }
    needed = {Path(need).name for need in PAGES[file]["needs"] if course.number(need)}
    assert linked == needed or "Any chapter before this one" in said[1]


@pytest.mark.parametrize("file", PAGES)
def test_goals_can_be_checked(file):
    goals = PAGES[file]["goals"]
    checks = [label for goal in goals for label in goal["check"]]
    assert 3 <= len(goals) <= 5 and all(goal["check"] for goal in goals)
    assert set(checks) <= labels(file) and len(set(checks)) == len(checks)


def slides_of(week):
    return [name for part in week["lecture"] for name in part["slides"]]


def seen(week):
    """The pages that are read or looked into before a lecture."""
    return week["read"] + [item["page"] for item in week.get("look", ())]


def test_a_lecture_is_on_two_chapters_at_most_and_its_reading_takes_less_than_two_hours():
    for week in WEEKS:
        assert 1 <= len([file for file in week["read"] if course.number(file)]) <= 2
        assert 45 <= sum(course.minutes(file) + course.proofs(file) for file in week["read"]) < 120
    left_out = [item["page"] for week in WEEKS for item in week.get("skip", ())]
    read = [file for week in WEEKS for file in week["read"]]
    assert {*left_out, *read} & {*CHAPTERS} == {*CHAPTERS[:16]} and not {*left_out} & {*read}


def test_a_sheet_asks_for_exercises_of_what_was_read_and_a_lecture_shows_no_other_page():
    assert len(WEEKS) == 6
    for k, week in enumerate(WEEKS, 1):
        before = [file for earlier in WEEKS[:k] for file in seen(earlier)]
        assert set(week["sheet"]) <= set().union(*map(labels, before)), f"week {k}"
        assert {item["page"] for item in week["live"]} <= set(before), f"week {k}"
        assert {need for file in week["read"] for need in PAGES[file]["needs"]} <= set(before), (
            f"week {k}"
        )
        told = re.findall(
            r"\d+", " ".join(re.findall(r"chapters? ([\d, and]+)", str(week["lecture"])))
        )
        assert set(told) <= {course.number(file) for file in before}, f"week {k}"
        assert 4 <= len(week["sheet"]) + len(week["own"]) <= 8
        assert 82 <= sum(item["minutes"] for item in week["lecture"]) <= 85, "of ninety"


def test_what_is_shown_live_is_a_figure_of_its_page():
    shown = [
        item for week in WEEKS for item in week["live"] if not item["page"].endswith("laboratory")
    ]
    for page, name in ((f"{item['page']}.html", item["figure"]) for item in shown):
        assert name in {figure(page, k).spec["name"] for k in range(len(FIGURES[page]))}


def test_a_sheet_brings_the_text_of_its_problems_with_it():
    lines = course.sheet(FOUND, "3")
    effort = "*about 15 minutes, 3 points*"
    assert lines.count(f"1. **{{ref}}`ex-3-by-hand`** · By hand: four tokens · {effort}") == 1
    assert "   Let $T=4$, $\\zeta=\\frac12$" in "\n".join(lines)
    with pytest.raises(ValueError, match="expected labels of exercises, got 'ex-0'"):
        course.problem(FOUND, "ex-0")
    texts = ["\n".join(course.sheet(FOUND, k)) for k in "123456"]
    assert not [text for text in texts if ".ipynb" in text], "a link of its own page"
    assert not [
        text for text in texts if re.search(r"[Tt]his (chapter|page)|\b(above|earlier)\b", text)
    ], "whose?"


def test_a_part_counts_what_its_rows_earn_and_a_point_takes_five_minutes():
    parts = [marking.part("a", [{1: "x"}, {2: "y"}]), marking.part("b, Python", [{1: "z"}])]
    assert [(each.name, each.points, each.needs) for each in parts] == [
        ("a", 3, ""),
        ("b", 1, "Python"),
    ]
    assert marking.effort(parts) == "about 20 minutes, 4 points"
    assert marking.effort(parts[1:]) == "about 5 minutes, 1 point"
    with pytest.raises(ValueError, match=r"ex-0: expected what its parts count .* sheets.yml"):
        marking.parts("ex-0")


@pytest.mark.parametrize("k", range(1, len(WEEKS) + 1))
def test_a_class_with_ninety_minutes_chooses_problems_of_its_sheet_in_their_order(k):
    chosen, labels = marking.said()["choose"][k], course.problems(WEEKS[k - 1])
    assert chosen == [label for label in labels if label in chosen]
    drawn = [each.parts for each in problems.drawn(k, 0)]
    points = sum(map(marking.points, [*map(marking.parts, chosen), *drawn]))
    assert 80 <= marking.MINUTES * points <= 90


def stated(label):
    """The text of an exercise of a sheet, and that of its solution."""
    (file,) = [file for file in [*PAGES, course.SHEETS] if course.stated_in(file, label)]
    solved = re.search(
        rf"(?s)(`{{4,}})\{{solution(-start)?\}} {label}\n(.*?)\n\1(?:\n|$)(.*)",
        course.markdown_of(file),
    )
    begun = solved[4].split("{solution-end}")[0] if solved[2] else ""
    return course.stated_in(file, label)[3], solved[3] + begun


def test_every_part_of_a_problem_counts_something_and_no_other_exercise_has_marks():
    asked = [label for week in WEEKS for label in course.problems(week)]
    assert [*marking.said()["marks"]] == asked == [*marking.said()["errors"]]
    for label in asked:
        text, solution = stated(label)
        names, solved = (re.findall(r"(?m)^\(([a-z])\) ", said) for said in (text, solution))
        assert names == [part.name for part in marking.parts(label)] == solved, label
        assert names == [*"abcdef"[: len(names)]] and len(names) > 1, label


def test_a_solution_rests_on_what_its_sheet_has():
    for week in WEEKS:
        facts = {said.split("/")[-1] for said in marking.said()["facts"][week["week"]]}
        for label in course.problems(week):
            used = re.findall(r"\{prf:ref\}`([\w-]+)`", stated(label)[1])
            assert {*used} <= facts, label


def test_an_error_says_in_which_part_it_is_and_what_it_still_earns():
    for label, error in marking.said()["errors"].items():
        names = {part.name for part in marking.parts(label)}
        told = re.findall(r"\((\w)\)", error)
        assert told and {*told} <= names, label
        assert re.search(r"no point|\d of \d points", error), label
        most = max(part.points for part in marking.parts(label))
        assert all(
            int(some) < int(of) <= most for some, of in re.findall(r"(\d) of (\d) points", error)
        )
    with pytest.raises(ValueError, match=r"ex-0: expected a typical error .* sheets.yml"):
        marking.error("ex-0")


def test_a_part_needs_python_where_the_page_of_sheets_says_so():
    text = course.markdown_of(course.SHEETS)
    for k, week in enumerate(WEEKS, 1):
        intro = text.split(f"(sheet-{k})=")[1].split("```{course-sheet}")[0]
        told = set(re.findall(r"\{ref\}`(ex-[\w-]+)`", intro))
        needing = {
            label
            for label in course.problems(week)
            if any(part.needs for part in marking.parts(label))
        }
        assert needing <= told, f"week {k}"


@pytest.mark.parametrize("week", ["0", "7", "-1", "three", "1.5", None])
def test_a_sheet_of_no_week_is_refused(week):
    with pytest.raises(ValueError, match="sheet: expected the number of a week, 1 to 6, got"):
        course.sheet(FOUND, week)


def test_a_wrong_argument_is_an_error_of_its_line(tmp_path):
    """Of a page of its own, built by Sphinx, which goes on and names it."""
    (tmp_path / "conf.py").write_text(
        f"import sys\nsys.path.append({str(ROOT / 'book' / '_ext')!r})\n"
        "extensions = ['myst_parser', 'course']\n"
    )
    (tmp_path / "index.md").write_text("# A page\n\n```{course-sheet} 9\n```\n")
    command = [sys.executable, "-m", "sphinx", "-q", tmp_path, tmp_path / "built"]
    run = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=True)
    assert (
        "index.md:3: ERROR: course-sheet: sheet: expected the number of a week, 1 to 6, got '9'"
        in run.stderr
    )


def test_every_sheet_stands_on_the_page_of_sheets_with_its_own_problems():
    text = course.markdown_of("book/start/sheets")
    parts = re.split(r"\(sheet-\d\)=", text)[1:]
    assert [re.findall(r":label: (\S+)", part) for part in parts] == [week["own"] for week in WEEKS]
    assert re.findall(r"\{course-sheet\} (\d)", text) == list("123456")
    assert all(f"{{solution-start}} {label}\n" in text for week in WEEKS for label in week["own"])


def test_problems_of_a_sheet_are_counted_within_their_sheet_and_those_of_the_opening_begin_with_zero():
    counted = {
        label: (13 + k,) for k, label in enumerate(label for week in WEEKS for label in week["own"])
    }
    chapter = {"exercise": {"ex-3-kernel": (3, 2)}}
    opening = {"exercise": {"ex-tangent-wide": (10,)}}
    numbers = {
        course.SHEETS: {"exercise": dict(counted)},
        "book/start/tangent_kernel": opening,
        "book/multihead/03_what_one_random_step_knows": chapter,
        "book/start/map": {},
    }
    env = SimpleNamespace(toc_fignumbers=numbers)
    for _ in range(2):  # a second build of the same pages counts them once
        assert course.number_problems(None, env) == []
    assert chapter == {"exercise": {"ex-3-kernel": (3, 2)}} and opening == {
        "exercise": {"ex-tangent-wide": ("0", 10)}
    }
    found = numbers[course.SHEETS]["exercise"]
    assert list(found) == list(counted)
    assert found["ex-sheet-copies"] == ("S1", 6) and found["ex-sheet-price"] == ("S3", 6)
    assert course.number_problems(None, SimpleNamespace(toc_fignumbers={})) == [], (
        "a book without its sheets"
    )


NOTES = yaml.safe_load(course.COURSE.with_name("lecture_notes.yml").read_text("utf-8"))
SLIDES = {name: k for k, week in enumerate(WEEKS, 1) for name in slides_of(week)}
"""Name of a slide → its week."""


@pytest.mark.parametrize("k", range(1, len(WEEKS) + 1))
def test_a_lecturer_has_a_note_at_every_slide_of_a_week(k):
    assert not [name for name, week in SLIDES.items() if week == k and name not in NOTES]


def test_a_note_is_text_for_a_slide_of_the_course_or_for_its_proof():
    assert {re.sub(r"/(proof(-\d)?|\d)$", "", name) for name in NOTES} <= {*SLIDES}
    assert all(len(said.split()) >= 20 and said.count("$") % 2 == 0 for said in NOTES.values())


def test_routes_lead_to_pages_of_the_book():
    named = {
        file for week in WEEKS for file in [*seen(week), *(item["page"] for item in week["live"])]
    }
    named |= {item["page"] for week in WEEKS for item in week.get("skip", ())}
    named |= {step["page"] for block in FOUND["weekend"] for step in block["steps"]}
    named |= {
        path
        for item in FOUND["researcher"]
        for path in re.findall(r"`(?:[^<`]*<)?/(book/[\w/-]+)", item["go"])
    }
    assert named <= set(TOC)
    assert set(PAGES) <= named, "a page on no route"


def test_the_first_page_lists_every_page_of_the_course_with_its_title_and_its_minutes():
    folders = re.findall(r"\{course-contents\} (\w+)", course.markdown_of("book/index"))
    rows = [row for folder in folders for row in course.contents(FOUND, folder)]
    assert re.findall(r"</(book/[\w/]+)>", "\n".join(rows)) == list(PAGES)
    long = "book/multihead/05_more_heads_slower_or_faster"
    words = f"{{doc}}`Chapter 5 · One head, two step sizes </{long}>` · {course.minutes(long)} minutes\\"
    (place,) = [k for k, row in enumerate(rows) if row.endswith(f">{words}")]
    assert rows[place].count('<img class="mha-thumbnail') == 2  # one for light pages, one for dark
    assert rows[place + 1] == "  " + PAGES[long]["about"]


def test_a_week_says_what_to_read_and_what_to_look_into():
    lines = course.weeks(FOUND, None)
    looks = [line for line in lines if line.startswith("**Look into**")]
    assert [len(week.get("look", ())) for week in WEEKS] == [0, 0, 0, 2, 0, 1] and len(looks) == 2
    assert lines.count("**Leave out**") == 3
    takes = [line for line in lines if line.startswith("**Take along**")]
    assert [re.findall(r'href="../../kit/week-(\d)/', line) for line in takes] == [
        [str(k)] * 5 for k in range(1, 7)
    ]
    assert (
        "Chapter 6 · A head that was planted </book/multihead/06_a_planted_head>`: {ref}`see-6`"
        in looks[0]
    )


def test_the_routes_page_says_first_where_each_route_stands_and_starts():
    lines = course.routes(FOUND, None)
    places = [re.match(r"- \{ref\}`([\w-]+)`", line)[1] for line in lines[:3]]
    assert places == ["course-of-six-weeks", "route-weekend", "route-researcher"]
    assert all("</book/start/softmax>" in line for line in lines[:2])


def of(tmp_path, **said):
    file = tmp_path / "my.yml"
    file.write_text(yaml.safe_dump(said), "utf-8")
    return own_course.read(file)


def test_a_course_of_ones_own_has_weeks_of_the_book_in_its_own_order_and_words(tmp_path):
    lecture = [{"minutes": 60, "part": "Tilting", "slides": ["9/idea"]}]
    lecture[0]["add"] = {
        "9/idea/proof": "It tilts.",
        "9/idea/proof-2": "x",
        "9/idea/2/instead": "x",
        "9/idea/title": "Tilts",
    }
    made = of(tmp_path, by="Ada", weeks=[{"week": 5, "lecture": lecture}, {"week": 1}])
    assert (made["course"], made["by"]) == ("How Attention Learns", "Ada")
    assert made["weeks"] == [WEEKS[4] | {"lecture": lecture}, WEEKS[0]]


def lecture(**part):
    return {
        "weeks": [
            {"week": 1, "lecture": [{"minutes": 9, "part": "x", "slides": ["9/idea"]} | part]}
        ]
    }


def live(figure, **more):
    item = {"page": "book/start/softmax", "figure": figure, "show": "x"} | more
    return {"weeks": [{"week": 1, "live": [item]}]}


@pytest.mark.parametrize(
    ("said", "refusal"),
    [
        ({"weeks": [], "name": "x"}, "my.yml: expected weeks, course, by, seed, got 'name'"),
        ({"course": "x"}, "my.yml: expected weeks, which is missing"),
        ({"weeks": []}, "my.yml: expected at least one entry below weeks, as - week: 1"),
        ({"weeks": {"week": 1}}, "my.yml: expected weeks to be a list, got {'week': 1}"),
        ({"course": 2027, "weeks": []}, "my.yml: expected course to be text, got 2027"),
        ({"seed": True, "weeks": []}, "my.yml: expected seed to be a whole number, got True"),
        ({"seed": -1, "weeks": []}, "my.yml: expected seed to be 0 or more, got -1"),
        ({"weeks": [5]}, "my.yml, week 1: expected week, title, aim, date, lecture, live, got 5"),
        ({"weeks": [{"week": 7}]}, "my.yml, week 1: expected week: 1 to 6, got 7"),
        ({"weeks": [{"week": 1}, {"week": 2, "lectures": []}]}, "live, got 'lectures'"),
        ({"weeks": [{"week": 1, "date": 3}]}, "week 1: expected date to be a date or text, got 3"),
        (
            {"weeks": [{"week": 1, "lecture": []}]},
            "my.yml, week 1: expected at least one part below lecture",
        ),
        (
            {"weeks": [{"week": 1, "lecture": [{"minutes": 9, "part": "x"}]}]},
            "my.yml, week 1, part 1 of lecture: expected slides, which is missing",
        ),
        (lecture(minutes=0), "part 1 of lecture: expected minutes: 1 or more, got 0"),
        (lecture(slides=[]), "part 1 of lecture: expected at least one of slides"),
        (lecture(slides=[9]), "part 1 of lecture: expected slides such as 9/idea, got 9"),
        (lecture(slides=["idea"]), "expected slides such as 9/idea, got 'idea'"),
        (
            lecture(proofs_in_notes=["9/x"]),
            "proofs_in_notes: expected one of its slides, got '9/x'",
        ),
        (lecture(add={"9/x": "y"}), "add: expected one of its slides, got '9/x'"),
        (lecture(if_late=["9/x/proof"]), "if_late: expected one of its slides, got '9/x/proof'"),
        (lecture(proofs_in_notes=["9/idea/proof"]), "one of its slides, got '9/idea/proof'"),
        (lecture(add={"9/idea/proof-1": "y"}), "one of its slides, got '9/idea/proof-1'"),
        (lecture(takes={}), "proofs_in_notes, add, if_late, got 'takes'"),
        (lecture(add={"9/idea": "$x"}), "each formula between two $, got '$x'"),
        (
            lecture(slides=["99/idea"]),
            "slide 99/idea: expected the number of a chapter or the name of an opening page, got '99'",
        ),
        (live("x", first=1), "week 1, live: expected first to be true or false, got 1"),
        (live("nothing"), "my.yml, week 1, live: no slide shows 'nothing'; name it among"),
    ],
)
def test_what_a_course_of_ones_own_cannot_say_is_refused(tmp_path, said, refusal):
    with pytest.raises(ValueError, match=re.escape(refusal)):
        of(tmp_path, **said)


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        (b"weeks:\n  - week: 1\n aim: x\n", "my.yml: line 3 is no YAML (expected <block end>"),
        (b"\xff\xfe", "my.yml: expected text in UTF-8; save it as such"),
        (b"", "my.yml: expected weeks, course, by, seed, got None"),
        (None, "my.yml: cannot be read (No such file or directory); give its path"),
    ],
)
def test_a_file_of_a_course_that_cannot_be_read_is_refused_in_a_line(tmp_path, text, refusal):
    file = tmp_path / "my.yml"
    if text is not None:
        file.write_bytes(text)
    with pytest.raises(ValueError, match=re.escape(refusal)) as refused:
        own_course.read(file)
    assert "\n" not in str(refused.value)


GLOSSARY = (ROOT / "book" / "start" / "glossary.md").read_text("utf-8").split(":sorted:")[1]
TERMS = dict(re.findall(r"(?m)^(\w[^\n{]*)\n  (.+)$", GLOSSARY))
"""Term of the glossary → its entry."""


def test_the_glossary_has_its_terms_in_order_and_each_leads_somewhere():
    assert 50 <= len(TERMS) <= 90
    assert list(TERMS) == sorted(TERMS, key=str.lower)
    assert all(re.search(r"\{(doc|prf:ref)\}`", entry) for entry in TERMS.values())


def test_a_term_of_the_glossary_is_used_where_its_entry_leads():
    files = [
        *PAGES,
        *(
            section["file"]
            for part in PARTS
            for page in part["chapters"]
            for section in page.get("sections", ())
        ),
    ]
    texts = {file: course.markdown_of(file) for file in files if (ROOT / f"{file}.ipynb").exists()}
    homes = {
        label: file for file, text in texts.items() for label in re.findall(r":label: (\S+)", text)
    }
    for term, entry in TERMS.items():
        pages = [homes[label] for label in re.findall(r"\{prf:ref\}`([^`]+)`", entry)]
        for path in re.findall(r"\{doc\}`(?:[^<`]*<)?/?([\w/-]+)", entry):
            pages.append(path if path.startswith("book/") else f"book/start/{path}")
        stems = [word[:5] for word in re.findall(r"\w{4,}", term.lower())]
        assert any(all(stem in read(page).lower() for stem in stems) for page in pages), (
            f"{term}: not in {pages}"
        )


def read(file):
    path = ROOT / f"{file}.ipynb"
    if path.exists():
        return "\n".join(map(notebooks.source, notebooks.read(path)["cells"]))
    return (ROOT / f"{file}.md").read_text("utf-8")
