"""What a lecturer takes along: slides that fit and in which figures train, sheets, a packed week
that opens from disk, quizzes that check themselves, and what a class guessed, summed up.
"""

import json
import re
import shutil
from copy import copy
from functools import cache, partial
from itertools import pairwise
from urllib.parse import quote, unquote
from zipfile import ZipFile

import pytest
from bs4 import BeautifulSoup
from pypdf import PdfReader

from scripts import load
from visits import BUILD, eventually

course = load("book/_ext/course.py")
kit = load("book/_ext/kit.py")
deck = load("book/_ext/deck.py")
marking = load("book/_ext/marking.py")
WEEKS = dict(enumerate(course.course()["weeks"], 1))
READY = "() => window.Reveal?.isReady() && document.fonts.status === 'loaded'"
SIZES = (28, 24)  # pixels of the letters on a slide of 1280
PICTURES = (
    "() => Array.from(Reveal.getCurrentSlide().querySelectorAll('img'), (one) => one.naturalWidth)"
)
ROOM = """() => {
  const slide = Reveal.getCurrentSlide();
  return [slide.scrollHeight, slide.scrollWidth, parseFloat(getComputedStyle(slide).fontSize)];
}"""
# How many pixels of a slide lie between its first words and its last, and how many key presses of it show nothing.
USED = """() => {
  const slide = Reveal.getCurrentSlide();
  const parts = [...slide.children].filter((part) => !part.matches(".foot, .notes, .part"));
  const unseen = [...slide.querySelectorAll(".fragment:not(.disabled)")].filter((part) => !part.offsetHeight);
  return [Math.max(...parts.map((part) => part.offsetTop + part.offsetHeight)) - parts[0].offsetTop, unseen.length];
}"""
GO_TO = """(name) => Reveal.slide(
  [...document.querySelectorAll(".slides > section")].findIndex((slide) => slide.dataset.name === name))"""
COVERED = """() => {
  const slide = Reveal.getCurrentSlide(), walk = document.createTreeWalker(slide, NodeFilter.SHOW_TEXT);
  const taken = [...document.querySelectorAll(".slide-number, .controls button, section.present .foot")];
  const across = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const found = [];
  while (walk.nextNode()) {
    const words = walk.currentNode, range = document.createRange();
    if (!words.textContent.trim() || words.parentElement.closest(".foot, .notes, mjx-assistive-mml")) continue;
    range.selectNodeContents(words);
    const boxes = [...range.getClientRects()];
    const isCovered = (one) => boxes.some((box) => across(box, one.getBoundingClientRect()));
    if (taken.some(isCovered)) found.push(words.textContent);
  }
  return found;
}"""
# Of a picture on a slide the least letters: those of a still one are 12 of its 700 units across, and one that opens a
# chapter has none.
LETTERS = """() => {
  const slide = Reveal.getCurrentSlide(), shown = [...slide.querySelectorAll("svg text")].filter((text) =>
    text.checkVisibility());
  const sizes = shown.map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a);
  for (const { clientWidth, clientHeight, naturalWidth, naturalHeight } of slide.querySelectorAll("img:not(.opening)"))
    sizes.push(12 * Math.min(clientWidth / naturalWidth, clientHeight / naturalHeight));
  return Math.min(99, ...sizes);
}"""
IN_FRAME = """() => ({
  axes: Math.min(...Array.from(document.querySelectorAll(".js-plotly-plot text"), (text) =>
    parseFloat(getComputedStyle(text).fontSize))),
  faces: [".mha-live", ".xtick text"].map((name) => getComputedStyle(document.querySelector(name)).fontFamily),
  ink: getComputedStyle(document.querySelector(".mha-live")).color,
  controls: parseFloat(getComputedStyle(document.querySelector(".mha-control")).fontSize),
  panel: document.querySelector(".js-plotly-plot")._fullLayout.yaxis._length,
  below: document.querySelector(".mha-live").scrollHeight - innerHeight,
})"""
SCALE = 1.18  # of a live figure on a slide
BROKEN = "() => document.querySelectorAll('merror, .MathJax_Error').length"


@pytest.fixture
def slides(new_visit):
    """Give the way to open the slides of a week at 1280 × 720."""
    opened = []

    def open_one(k):
        visit = new_visit(f"kit/week-{k}/slides.html")
        opened.append(visit)
        visit.page.set_viewport_size({"width": 1280, "height": 720})
        visit.page.goto(visit.site + visit.name)
        visit.page.wait_for_function(READY)
        return visit

    yield open_one
    for visit in opened:
        visit.context.close()


def assert_drawn(page):
    assert all(page.evaluate(PICTURES)), "a picture is missing"


def left(fault):
    """Whether it is a live figure that was still on its way when its slide was left, or the worker
    that trains it."""
    address = fault.removeprefix("failed: ")
    return address.startswith("blob:") or (
        address.startswith(("http:", "file:")) and "/figures/" in address
    )


@cache
def slides_of(k):
    """The slides of week k by their names, without title, plan, outlines of proofs and sheet."""
    page = BeautifulSoup(
        (BUILD / "kit" / f"week-{k}" / "slides.html").read_text("utf-8"), "html.parser"
    )
    return {slide["data-name"]: slide for slide in page.select(".slides > [data-name*='/']")}


def notes_of(k, name):
    """The notes of a slide of week k."""
    return slides_of(k)[name].select_one(".notes").get_text(" ")


@pytest.mark.parametrize("k", WEEKS)
def test_a_statement_keeps_its_mark(k):
    for name, slide in slides_of(k).items():
        for title in slide.select(".proof > .admonition-title"):
            assert title.select_one(".mha-known"), name


def test_a_sentence_of_a_statement_keeps_its_mark_and_a_lead_its_formulas():
    assert "itself is [second-hand], from" in slides_of(5)["9/prop-population-loss"].get_text()
    factorization = slides_of(5)["10/prop-factorization"]
    for slide in (factorization, slides_of(2)["2/cor-1-self-bounded"]):
        first, formula, *_ = slide.select(".lead > *")
        assert first.name == "p" and formula["class"][0] == "math"


def test_a_theorem_is_built_up_claim_by_claim_and_then_has_all_sentences_of_its_proof():
    shown = slides_of(4)["5/thm-collapse"]
    first, *claims = shown.select(".theorem-content > *")
    assert "fragment" not in first.get("class", ()) and len(claims) >= 2
    assert all("fragment" in each["class"] for each in claims)
    _, *outlines = parsed("5/thm-collapse", {"part": "x"})
    assert outlines[0].h2.get_text() == "Proof of Theorem 5.2 (Zero-initialization collapse)"
    steps = [step.get_text() for each in outlines for step in each.select(".steps > li")]
    assert steps[3].startswith("What the heads receive. Suppose that")
    assert "The two plotted numbers are" in steps[-1]
    for each in outlines:
        first, *others = each.select(".steps > li")
        assert "class" not in first.attrs and all(step["class"] == ["fragment"] for step in others)


def parsed(name, part, setter=None):
    """The slides of a name, each as parsed HTML."""
    made = deck.slide(name, part, setter)
    return [BeautifulSoup(each.body, "html.parser") for each in made]


def behind(slide):
    """The slides of a proof behind that of its statement."""
    found = []
    for each in slide.find_next_siblings("section"):
        if each["class"] != ["outline"]:
            break
        found.append(each)
    return found


def test_above_a_proof_stands_all_that_it_proves_or_a_sentence_of_the_course():
    for k in WEEKS:
        sentences = {}
        for part in WEEKS[k]["lecture"]:
            sentences |= part.get("add", {})
        for name, slide in slides_of(k).items():
            whole = "".join(words_of(slide, ".proof > [class$='-content']"))
            for each in behind(slide)[:1]:
                claim = "".join(words_of(each, ".claim"))
                assert claim and (claim == whole or f"{name}/proof" in sentences), name
    first, second = behind(slides_of(6)["14/thm-barrier"])
    assert len(first.select(".claim > ol > li")) == 3, "claims keep their numbers"
    assert second.select_one(".claim").get_text().startswith("Suppose"), "as the course says"
    _, _, second = parsed("5/thm-slow-attention", {"part": "x"})
    assert not second.select(".claim") and "(How far attention" in second.h2.get_text(), "no room"
    name = "4-further/lemma-bounded-iterates"
    _, first, second = parsed(name, {"part": "x", "add": {f"{name}/proof": "It stays near."}})
    assert str(first.select_one(".claim")) == str(second.select_one(".claim")), "a short one again"


def test_a_short_sentence_of_a_proof_is_no_step_of_its_own():
    said = ["Let $M$ be it.", " Then it is as large as anything can be in this ball.", "So."]
    said += [
        "Write $k$.",
        "<em>A name.</em> So.",
        "Since it is as large as it is, it is also small.",
    ]
    assert deck.steps_of(said) == [
        " ".join(said[:3]),
        " ".join(said[3:5]),
        said[5],
    ]


def test_a_formula_broken_for_a_phone_has_longer_lines_on_a_slide():
    with kit.mathematics.Setter() as setter:
        (regret,) = deck.slide("4-further/lemma-regret", {"part": "x"} | NO_PROOF, setter)
        (near,) = deck.slide("3/prop-ntk-margins", {"part": "x"} | NO_PROOF, setter)
    (formula,) = BeautifulSoup(regret.body, "html.parser").select(".proof div.math")
    assert len(formula.select("math mtr")) == 1 and "+52" in formula.math.get_text()
    (formula,) = BeautifulSoup(near.body, "html.parser").select(".proof div.math")
    assert len(formula.select("math mtr mtr")) == 3, "three formulas"


NO_PROOF = {"proofs_in_notes": ["4-further/lemma-regret", "3/prop-ntk-margins"]}


def test_a_proof_of_a_long_statement_has_its_number_and_its_name_or_a_sentence():
    part, name = WEEKS[3]["lecture"][0], "5/thm-collapse"
    _, proof, *_ = deck.slide(name, part | {"add": {}})
    title = BeautifulSoup(proof.body, "html.parser").h2.get_text()
    assert (
        title == "Proof of Theorem 5.2 (Zero-initialization collapse)" and "claim" not in proof.body
    )
    _, proof, *_ = deck.slide(name, part | {"add": {f"{name}/proof": "It converges."}})
    assert '<h2>Proof of Theorem 5.2</h2><div class="claim"><p>It converges.</p>' in proof.body
    for key in ("add", "if_late"):
        unseen = {"slides": ["9/idea"], key: {"9/idea/proof": "It tilts."}}
        with pytest.raises(ValueError, match=f"{key}, 9/idea/proof: expected a proof or"):
            deck.of_part(part | unseen, WEEKS[5], None)


def test_a_proof_is_cut_into_its_sentences_with_their_formulas():
    words = "<p>One. <em>A name.</em> Two goes on:</p><div class='math'>x.</div><p>Three</p>"
    parts = BeautifulSoup(words, "html.parser").find_all(True, recursive=False)
    assert [BeautifulSoup(said, "html.parser").get_text() for said in deck.sentences(parts)] == [
        "One.",
        "A name. Two goes on:x.",
        "Three",
    ]
    said = ["One (two. Three) four.", "(Five. Six.)", "Seven."]
    parts = BeautifulSoup(f"<p>{' '.join(said)}</p>", "html.parser").find_all("p")
    assert list(deck.sentences(parts)) == said


def test_below_a_statement_that_is_no_theorem_its_proof_waits_for_a_key():
    shown = slides_of(2)["2/lemma-logistic"].select_one(".short.fragment")
    assert shown.get_text().startswith("Proof. Put")
    assert not slides_of(3)["3/def-ntk"].select(".short")
    shown = slides_of(3)["4-further/lemma-regret"]
    said, proof = shown.select(".add > *")
    assert said.get_text().startswith("Constants that hold") and "class" not in said.attrs
    assert said.parent.find_next_sibling("div", class_="proof"), "it says what the symbols mean"
    assert proof["class"] == ["short", "fragment"] and proof.get_text().startswith("Proof. Let")


def test_a_proof_without_room_below_its_statement_has_all_its_sentences_on_slides_behind_it():
    statement = slides_of(3)["4/lemma-one-point"]
    first, second = statement.find_next_siblings("section")[:2]
    assert not statement.select(".short")
    assert first.h2.get_text() == "Proof of Lemma 4.1"
    assert second.h2.get_text() == "Proof of Lemma 4.1, continued"
    steps = [step.get_text() for each in (first, second) for step in each.select("li")]
    assert steps[0].startswith("Let ") and steps[-1].endswith("This is the first inequality.")
    assert second.ol["start"] == str(1 + len(first.select("li")))
    for name in ("3/prop-ntk-margins", "4-further/lemma-regret"):  # proofs_in_notes
        assert slides_of(3)[name].find_next_sibling("section")["class"] != ["outline"]
    assert "Proof" in notes_of(3, "3/prop-ntk-margins")
    assert "Proof" not in notes_of(3, "4-further/lemma-regret"), "the slide has it"


def test_words_that_the_course_adds_stand_below_a_slide_in_place_of_those_before_it():
    training = slides_of(3)["4/thm-1-training"]
    assert "at the distance" in training.select_one(".add").get_text()
    assert not training.select(".lead")
    assert slides_of(3)["4/lemma-one-point"].select(".lead")
    foot = slides_of(3)["4-further/lemma-regret"].select_one(".foot")
    assert foot.string == "Chapter 4, further"


def numbers_of(text):
    """The numbers of the statements that a text names."""
    found = re.finditer(NAMED, text)
    return {number for each in found for number in each.groups() if number}


NAMED = r"(?:Lemma|Theorem|Corollary|Proposition|Definition)s? (\d+\.\d+)(?: and (\d+\.\d+))?"


def test_a_statement_that_is_cited_in_words_of_the_course_is_named_by_a_page_that_was_shown():
    shown = set()
    for k in WEEKS:
        said = [each for slide in slides_of(k).values() for each in (slide, *behind(slide))]
        of_pages = [copy(each) for each in said]
        for words in (part for each in of_pages for part in each.select(".add, .claim")):
            words.decompose()
        shown |= numbers_of(" ".join(each.get_text(" ") for each in of_pages))
        cited = numbers_of(
            " ".join(part.get_text() for each in said for part in each.select(".add"))
        )
        assert cited <= shown, f"week {k}"


def test_minutes_of_slides_sum_to_those_of_their_part_and_a_theorem_takes_longer_than_a_figure():
    assert deck.shared(10, [1, 1, 1]) == [4, 3, 3] and deck.shared(2, [5, 4, 1]) == [1, 1, 0]
    assert deck.shared(13, [1, 6]) == [3, 10] and deck.shared(7, [9, 1, 1]) == [3, 2, 2]
    for k in WEEKS:
        page = BeautifulSoup(
            (BUILD / "kit" / f"week-{k}" / "slides.html").read_text("utf-8"), "html.parser"
        )
        notes = " ".join(each.get_text() for each in page.select(".notes"))
        timed = re.findall(r"slide (\d+) · (\d+) min · minute (\d+)", notes)
        numbers, said, begins = (list(map(int, each)) for each in zip(*timed, strict=True))
        assert numbers == [*range(3, 3 + len(numbers))] and "less than 1 min" not in notes
        assert 82 <= sum(said) <= 85 and min(said) >= 2
        assert begins == [sum(said[:n]) for n in range(len(said))]


@pytest.mark.parametrize("k", WEEKS)
def test_the_notes_of_the_plan_name_the_slides_that_are_skipped_if_time_is_short_as_theirs_do(k):
    page = BeautifulSoup(
        (BUILD / "kit" / f"week-{k}" / "slides.html").read_text("utf-8"), "html.parser"
    )
    told = page.select_one(".plan .notes").get_text()
    shown = enumerate(page.select(".slides > section"), 1)
    late = [n for n, each in shown if "skip this slide" in each.select_one(".notes").get_text()]
    assert [int(n) for n in re.findall(r"\d+", told)] == late != []


def test_the_plan_says_what_the_marks_behind_statements_mean():
    page = BeautifulSoup(
        (BUILD / "kit" / "week-3" / "slides.html").read_text("utf-8"), "html.parser"
    )
    said = page.select_one(".plan .known").get_text()
    assert [each.get_text() for each in page.select(".plan .known em")] == [
        "ours",
        "recalled",
        "ledger",
    ]
    assert "recalled, as we remember the paper;" in said
    assert deck.key_to_marks([deck.Slide("<h2>x</h2>", "idea")]) == ""


def test_a_proof_is_skipped_without_its_statement():
    late = [each for each in behind(slides_of(1)["1/lemma-selection"]) if "skip this" in str(each)]
    assert len(late) == 1 and "skip this" not in notes_of(1, "1/lemma-selection")


def test_guesses_come_behind_the_question_below_the_words_that_lead_to_them():
    for k in WEEKS:
        names = [*slides_of(k)]
        for name in (each for each in names if each.endswith("/guesses")):
            assert names.index(name.replace("guesses", "question")) < names.index(name)
            assert slides_of(k)[name].select_one(".lead p"), name


def test_a_section_takes_as_many_slides_as_its_text_and_a_statement_what_follows_from_it():
    first = slides_of(5)["10/the-idea-stretching-is-a-change-of-coordinates"]
    second, third = first.find_next_siblings("section")[:2]
    assert "variance" in second.select_one("th").get_text() and "20" in second.get_text()
    assert second.h2.get_text() == f"{first.h2.get_text()}, continued" == third.h2.get_text()
    limit = slides_of(5)["9/behind-lemma-tilting"]
    assert limit.h2.get_text() == "What follows from Lemma 9.2" and limit.select("div.math")
    printed = slides_of(2)["2/a-loss-that-does-not-bound-its-slope"].get_text()
    assert "Nothing in this chapter" in printed and "used above" not in printed


def answers_of(slide):
    """What the notes of guesses say is true."""
    notes = [each.get_text() for each in slide.select(".notes p")]
    return [each for each in notes if re.match(r"\d\. ", each)]


def test_answers_have_the_number_of_their_question_and_of_the_slide_that_shows_it():
    shown = slides_of(5)
    number = 1 + len(shown["9/figure-1"].find_previous_siblings("section"))
    said = answers_of(shown["9/guesses"])
    assert said[0].startswith("1. Around zero") and said[0].endswith(f"(slide {number})")
    number = 1 + len(shown["10/figure-1"].find_previous_siblings("section"))
    whitened = answers_of(shown["10/guesses"])[1]
    assert whitened.endswith(f"for all others. (slide {number})"), "its answer names a section"
    assert [each[:2] for each in said] == ["1.", "2.", "3."] and said[2].startswith("3. 53 of")


def test_notes_have_what_is_written_for_a_slide(monkeypatch):
    monkeypatch.setattr(deck, "written", lambda: {"1/idea": "Say *why* $x<1$.\n\nThen wait."})
    week = {"lecture": [], "live": [{"figure": "idea", "show": "Ask."}]}
    part = {"part": "x", "minutes": 9, "slides": ["1/idea", "1/prop-first-step"]}
    with kit.mathematics.Setter() as setter:
        first, second = deck.of_part(part, week | {"lecture": [part]}, setter)
    begins = "<p><b>Ask.</b></p><p>Say <em>why</em> <math"
    notes = deck.in_mathml(first.notes)
    assert notes.startswith(begins) and notes.endswith(".</p><p>Then wait.</p>")
    assert "mjx" not in notes and "mjx" in first.notes and second.notes == ""


def test_where_a_formula_comes_from_stands_beside_the_mark_of_its_statement():
    title = slides_of(5)["9/prop-population-loss"].select_one(".proof > .admonition-title")
    assert "The formula itself is [second-hand]" in title.get_text()


def test_title_slides_say_which_week_of_which_course_and_have_a_picture():
    page = BeautifulSoup((BUILD / "kit" / "week-3" / "slides.html").read_text(), "html.parser")
    title = page.select_one(".slides > section")
    (about,) = page.select(".about")
    assert about.get_text() == "Week 3 of 6 · How Attention Learns" and about in title
    assert title.select_one("img.opening")["src"].startswith("data:image/svg+xml,%3Csvg")
    assert "text" not in unquote(title.select_one("img.opening")["src"])


def test_a_question_has_the_picture_of_its_chapter_unless_another_slide_has_it():
    for k, name in ((4, "7"), (5, "10"), (6, "14")):
        assert slides_of(k)[f"{name}/question"].select_one(".mha-idea svg"), name
    for k in WEEKS:
        first, *_ = [slide for slide in slides_of(k).values() if slide["class"] == ["question"]]
        has_words = f"{first['data-name']}/instead" in WEEKS[k]["lecture"][0].get("add", {})
        assert bool(first.select(".mha-idea, img")) == has_words, "the title slide has it"
    near = slides_of(2)["2/question"]
    assert not near.select("img") and "next slide" in near.get_text()
    assert near.find_next_sibling("section")["data-name"] == "2/figure-1"


def test_a_note_on_a_slide_of_a_proof_or_of_a_section_is_for_that_slide(monkeypatch):
    part = {"part": "x", "minutes": 9, "slides": ["5/thm-slow-attention"], "add": {}}
    named = {f"5/thm-slow-attention{at}": f"At{at}." for at in ("", "/proof", "/proof-2")}
    monkeypatch.setattr(deck, "written", lambda: named)
    made = deck.of_part(part, {"lecture": [part], "live": []}, None)
    assert [each.notes for each in made] == [f"<p>{said}</p>" for said in named.values()]
    section = "10/the-idea-stretching-is-a-change-of-coordinates"
    assert [each.noted for each in deck.slide(section, part)] == [
        section,
        f"{section}/2",
        f"{section}/3",
    ]
    monkeypatch.undo()
    for name in (name for name in deck.written() if name.endswith("/proof")):
        (k,) = (k for k in WEEKS if name.removesuffix("/proof") in slides_of(k))
        first, *others = behind(slides_of(k)[name.removesuffix("/proof")])
        begins = " ".join(deck.written()[name].split("$")[0].split()[:4])
        assert begins in first.select_one(".notes").get_text(), name
        assert not [each for each in others if begins in each.get_text()], name


def test_a_title_of_the_course_is_the_heading_of_a_slide_and_words_above_need_a_statement():
    traps = slides_of(6)["14/picture-2"]
    assert traps.h2.get_text() == "Both theorems on the two pictures"
    for fault, name in (("title", "1/def-head"), ("above", "1/idea")):
        part = {"part": "x", "minutes": 9, "slides": [name], "add": {f"{name}/{fault}": "y"}}
        with pytest.raises(ValueError, match=f"add, {name}/{fault}: expected a"):
            deck.of_part(part, {"lecture": [part], "live": []}, None)


def test_words_in_place_of_a_section_or_a_question_leave_its_own_to_the_notes():
    question = slides_of(3)["4/question"]
    words, notes = question.p.find_next_sibling("p").get_text(), notes_of(3, "4/question")
    assert words.startswith("Four runs start") and "for example near a saddle" in notes
    with kit.mathematics.Setter() as setter:
        part = {"part": "x", "add": {"4/why-so-many-heads/instead": "| | |\n|-|-|\n| $x$ | y |"}}
        (slide,) = deck.slide("4/why-so-many-heads", part, setter)
        shown = BeautifulSoup(slide.body, "html.parser")
        assert shown.h2.get_text() == "Why so many heads?" and len(shown.select("td")) == 2
        assert "realizability" in slide.notes and "realizability" not in slide.body
        steps = "1. *One.* So\n\n   $$x=y$$\n\n2. Two."
        part = {"part": "x", "add": {"5/thm-collapse/proof/instead": steps}}
        _, proof = parsed("5/thm-collapse", part, setter)
        assert [len(each.select("div.math")) for each in proof.select(".steps > li")] == [1, 0]
        for name, refusal in (("5/thm-collapse/proof", "a numbered list"), ("1/idea", "a section")):
            part = {"part": "x", "add": {f"{name}/instead": "Words."}}
            with pytest.raises(ValueError, match=f"add, {name}/instead: expected {refusal}"):
                deck.slide(name.removesuffix("/proof"), part, setter)


def test_words_in_place_of_a_later_slide_of_a_section_bring_its_formulas_and_tables():
    name = "10/the-idea-stretching-is-a-change-of-coordinates"
    first = slides_of(5)[name]
    second, third = first.find_next_siblings("section")[:2]
    assert "uv" in first.select_one("div.math").get_text() and "What happens" in first.get_text()
    assert "16 + 256" in second.table.get_text() and "valley of minima" in second.aside.get_text()
    assert third.p.find_next_sibling("p").get_text().startswith("Variances 4 and 1")
    part, more = {"part": "x", "minutes": 9, "slides": [name]}, {f"{name}/4/instead": "y"}
    with pytest.raises(ValueError, match=f"{name}/4: expected a proof or a part of a section"):
        deck.of_part(part | {"add": more}, {"lecture": [part], "live": []}, None)
    with pytest.raises(ValueError, match="expected at most one {} for each formula and table"):
        deck.slide(name, part | {"add": {f"{name}/3/instead": "{}"}})


def test_what_stands_behind_a_question_waits_for_a_key():
    first = slides_of(1)["1/by-hand-one-query-two-tokens"]
    second = first.find_next_sibling("section")
    assert [len(each.select("tbody > tr.fragment")) for each in (first, second)] == [3, 3]
    asked, output, leads = first.find_all("p", class_=lambda name: name != "part", recursive=False)[
        :3
    ]
    assert "class" not in asked.attrs and output["class"] == leads["class"] == ["fragment"]
    (lemma,) = slides_of(1)["1/lemma-selection"].select(".proof")
    assert "fragment" in lemma["class"], "its lead asks"
    assert "fragment" not in slides_of(1)["1/def-head"].select_one(".proof")["class"]
    shown = slides_of(6)["14/when-a-query-is-trapped"]
    assert "fragment" not in shown.select_one("div.math")["class"], "what comes before a question"
    assert deck.waiting("<h2>x</h2><p>So it is.</p>", False) == (
        "<h2>x</h2><p>So it is.</p>",
        False,
    )


def test_a_picture_stands_on_its_slide_below_the_name_of_its_statement():
    (slide,) = deck.slide("3/picture-2", WEEKS[3]["lecture"][0])
    shown = BeautifulSoup(slide.body, "html.parser")
    assert shown.select_one(".mha-idea svg")
    assert shown.h2.get_text() == "Definition 3.1 (Tangent features and their margin)"


def test_a_slide_that_leads_to_the_next_figure_comes_before_it():
    for k in WEEKS:
        for slide, after in pairwise(slides_of(k).values()):
            if slide["class"] == ["text"] and "The next figure" in slide.get_text():
                assert after["class"][0] in ("figure", "live")


def test_notes_have_paragraphs_formulas_in_mathml_and_no_holes_around_them():
    x, y = "<math><mi>x</mi></math>", '<math display="block"><mi>y</mi></math>'
    html = (
        f"<p>the <em>query</em>, and <mjx-container><i>x</i>{x}</mjx-container>: Deora "
        f'[<a href="#b">2023</a>].</p><div><p>5 &lt; 6</p><div class="math">'
        f"<mjx-container>{y}</mjx-container></div></div>"
    )
    parts = BeautifulSoup(html, "html.parser").find_all(True, recursive=False)
    said = f"<p>the <em>query</em>, and {x}: Deora [2023].</p><p>5 &lt; 6</p><p>{y}</p>"
    assert deck.in_mathml(deck.words(parts, "book/start/softmax")) == said
    for k in WEEKS:
        for name, slide in slides_of(k).items():
            notes = slide.select_one(".notes")
            assert not re.search(r"\\[a-z]+|None\b(?! [a-z])| [,;.:]", notes.get_text()), name
    assert len(slides_of(3)["3/prop-ntk-margins"].select(".notes p")) > 5, "a proof is no block"


def test_notes_have_a_proof_that_no_slide_has_and_of_guesses_what_is_true():
    said = "A covariance is at most the product of two standard deviations"
    (proof,) = behind(slides_of(2)["2/prop-1-hessian"])
    assert said in proof.ol.get_text() and said not in proof.select_one(".notes").get_text()
    assert said not in notes_of(2, "2/prop-1-hessian")
    assert "Put" not in notes_of(2, "2/lemma-logistic")
    assert "Proof" in notes_of(2, "2-further/lemma-deviation")
    answers = [
        guess["answer"] for guess in load("book/_ext/guesses.py").groups()["chapter-2"].values()
    ]
    assert all(answer in notes_of(2, "2/guesses") for answer in answers) and len(answers) == 3


def words_of(slide, place):
    """The words of some parts of a slide, without the blanks between them."""
    found = [part for each in slide.select(place) for part in each.find_all(True, recursive=False)]
    return ["".join(part.get_text().split()) for part in found]


def assert_says(place, said):
    assert place.inner_text() == said


@pytest.mark.parametrize("k", WEEKS)
def test_every_slide_fits_and_can_be_read_from_the_back(slides, k):
    visit = slides(k)
    page = visit.page
    named = [name for part in WEEKS[k]["lecture"] for name in part["slides"]]
    assert [*slides_of(k)] == named
    for number in range(page.evaluate("Reveal.getTotalSlides()")):
        page.evaluate(f"Reveal.slide({number})")
        height, width, letters = page.evaluate(ROOM)
        assert height <= 720 and width <= 1280 and letters in SIZES, (number, height, width)
        used, unseen = page.evaluate(USED)
        is_short = page.evaluate(
            "Reveal.getCurrentSlide().matches('.outline, .question')"
        )  # of two lines, perhaps
        assert used >= (150 if is_short else 240) and not unseen, (number, used, unseen)
        assert page.evaluate(COVERED) == [], number
        assert page.evaluate(LETTERS) >= 18, number
        eventually(page, partial(assert_drawn, page))
    assert not page.evaluate(BROKEN)
    assert not [fault for fault in visit.failures if not left(fault)] and not visit.complaints


def test_a_live_figure_trains_on_its_slide_and_notes_say_what_to_ask(slides):
    page = slides(2).page
    page.evaluate(GO_TO, "2/how-negative-is-the-curvature")
    frame = page.frame_locator("section.present iframe")
    live = frame.locator(".mha-live[data-state=done]")
    live.wait_for()
    summary = frame.locator(".mha-live-summary")
    assert summary.bounding_box()["height"] >= 20, "what the figure says can be read"
    before = summary.inner_text()
    frame.locator("input[type=range]").first.press("End")
    frame.locator(".mha-live-summary").filter(has_not_text=before).filter(
        has_not_text="Training"
    ).wait_for()
    notes = page.locator("section.present .notes").text_content()
    assert " min · minute " in notes and "Ask how large the negative curvature is" in notes
    (figure,) = [each for each in page.frames if "how-negative" in each.url]
    seen = figure.evaluate(IN_FRAME)
    assert SCALE * seen["axes"] >= 18 and SCALE * seen["controls"] >= 18 and seen["below"] <= 0
    assert SCALE * seen["panel"] >= 330, "its names are long: others have more room"
    assert all("Source Sans 3" in face for face in seen["faces"])
    assert seen["ink"] == "rgb(34, 40, 50)"
    moved = summary.inner_text()
    frame.locator("input[type=range]").first.press("PageDown")  # the key of a presenter
    page.locator("section.present.text").wait_for()
    page.keyboard.press("PageUp")
    page.locator("section.present.live").wait_for()
    assert summary.inner_text() == moved, "the figure stands as it was left"


def test_a_live_figure_starts_near_its_slide_and_stays_and_may_have_its_first_panel_alone(slides):
    page, name = slides(1).page, "softmax/three-scores-three-weights"
    started = "() => document.querySelectorAll('iframe[src]').length"
    assert page.evaluate(started) == 0, "none at the title slide"
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("section.live figure svg:visible").count() == 2, "on paper its picture"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    page.evaluate(GO_TO, name)
    assert page.evaluate(started) == 1 and not page.locator("section.live figure:visible").count()
    frame = page.frame_locator("section.present iframe")
    frame.locator(".mha-live[data-state=done]").wait_for()
    assert frame.locator(".xtitle, .x2title").count() == 1
    said = frame.locator(".mha-live-summary")
    assert said.inner_text().endswith("weights 0.665, 0.245, 0.09.")
    frame.locator("input[type=range]").first.press("End")
    said.filter(has_text="a₁ = 3").wait_for()
    for k in (0, 10):
        page.evaluate(f"Reveal.slide({k})")
    assert said.inner_text().startswith("a₁ = 3"), "it stays"


HERE = "() => Reveal.getIndices().h"
BY = {"ArrowRight": 1, "ArrowLeft": -1, "Space": 1, "Shift+Space": -1, "n": 1, "PageDown": 1}


@pytest.fixture
def on_live(slides):
    """Give the slides of week 2 at a live figure: the page, and the frame of the figure."""
    page = slides(2).page
    page.evaluate(GO_TO, "2/how-negative-is-the-curvature")
    frame = page.frame_locator("section.present iframe")
    frame.locator(".mha-live[data-state=done]").wait_for()
    return page, frame


@pytest.mark.parametrize("key", [*BY, "Home", "End"])
def test_after_a_click_into_a_picture_the_slides_hear_every_key(on_live, key):
    page, frame = on_live
    frame.locator(".mha-live-picture").click()
    before, last = page.evaluate(HERE), page.evaluate("Reveal.getTotalSlides()") - 1
    there = {"Home": 0, "End": last}.get(key, before + BY.get(key, 0))
    page.keyboard.press(key)
    page.wait_for_function(f"() => Reveal.getIndices().h === {there}")


def test_after_a_click_into_a_picture_the_slides_pause_show_all_and_list_their_keys(on_live):
    page, frame = on_live
    frame.locator(".mha-live-picture").click()
    for key, seen, back in (
        ("b", "Reveal.isPaused()", "b"),
        ("Escape", "Reveal.isOverview()", "Escape"),
        ("Shift+Slash", "Boolean(document.querySelector('.r-overlay-help'))", "Escape"),
    ):
        page.keyboard.press(key)
        page.wait_for_function(seen)
        page.keyboard.press(back)
        page.wait_for_function(f"!{seen}")
    page.keyboard.press("f")
    page.wait_for_function("Boolean(document.fullscreenElement)")


def test_a_control_of_a_slide_keeps_its_own_keys_and_gives_the_others_up(on_live):
    page, frame = on_live
    slider, before = frame.locator("input[type=range]").first, page.evaluate(HERE)
    slider.focus()
    for key, value in (("Home", "0"), ("ArrowRight", "1"), ("ArrowUp", "2"), ("ArrowLeft", "1")):
        slider.press(key)
        assert slider.input_value() == value
    reset = frame.get_by_role("button", name="Reset")
    reset.press("Space")
    assert slider.input_value() != "1" and page.evaluate(HERE) == before
    slider.press("Escape")
    page.keyboard.press("ArrowLeft")  # the slider has been left
    page.wait_for_function(f"() => Reveal.getIndices().h === {before - 1}")
    page.evaluate(f"Reveal.slide({before})")
    slider.press("Space")
    page.wait_for_function(f"() => Reveal.getIndices().h === {before + 1}")


@pytest.mark.parametrize(
    "name", ["2/nothing", "99/question", "1/predict-1", "softmax/idea", "1/picture-9"]
)
def test_a_part_that_no_page_has_is_named(name):
    with pytest.raises(ValueError, match=re.escape(name.split("/")[0])):
        deck.slide(name, WEEKS[1]["lecture"][0])


@pytest.mark.parametrize("k", WEEKS)
def test_a_sheet_has_every_problem_with_its_minutes_and_the_solutions_all_of_them(k):
    folder = BUILD / "kit" / f"week-{k}"
    sheet, solved = (
        BeautifulSoup((folder / f"{name}.html").read_text("utf-8"), "html.parser")
        for name in ("sheet", "solutions")
    )
    count = len(WEEKS[k]["sheet"]) + len(WEEKS[k]["own"])
    problems = sheet.select(
        ".arabic > li > .asked:first-child > p:first-child, .exercise .admonition-title"
    )
    drawn = len(kit.problems.drawn(k, 1))
    assert drawn > 1 and len(problems) - drawn == count == len(solved.select(".solution"))
    titles = " ".join(each.get_text() for each in problems)
    told = re.findall(r"about \d+ minutes, (\d+) points?", titles)
    assert len(told) == len(problems)
    first = len(WEEKS[k]["sheet"]) + 1
    added = [each.get_text() for each in sheet.select(".exercise .admonition-title")]
    numbers = [f"Exercise S{k}.{n}" for n in range(first, count + drawn + 1)]
    assert [title.split(" · ")[0] for title in added] == numbers
    (alone,) = [each.get_text() for each in sheet.select("p") if "this sheet" in each.get_text()]
    assert (
        f"Exercises {kit.in_words(numbers[-drawn:])} are drawn".replace("Exercise S", "S") in alone
    )
    assert "make kit" not in sheet.get_text()  # a student gets it
    earned = [int(each.get_text().split()[0]) for each in sheet.select(".asked .earns")]
    assert sum(earned) == sum(map(int, told)), "the parts sum to the problems"
    listed = [marking.points(marking.parts(label)) for label in course.problems(WEEKS[k])]
    counted = [table.caption.get_text() for table in solved.select(".solution + table.marks")]
    assert counted == [marking.counted(points) for points in listed]
    intro = sheet.section.p.get_text()
    every, some, chosen = re.search(
        r"together take about (\d+) minutes\. For (\d+) minutes, choose Exercises (.+?)\. ",
        intro + " ",
    ).groups()
    assert int(every) == sum(map(int, re.findall(r"about (\d+) minutes, ", titles)))
    minutes = dict(re.findall(r"Exercise ([\w.]+) [^\d]*?about (\d+) minutes, ", titles))
    assert int(some) == sum(int(minutes[number]) for number in re.split(r",? and |, ", chosen))
    assert not sheet.select(".solution, .mha-exercise, script") and not solved.select(
        ".mha-exercise, script"
    )
    assert all(len(each.get_text()) > 80 for each in solved.select(".solution"))
    assert "mhabook.say" not in solved.get_text()


@pytest.mark.parametrize("k", WEEKS)
def test_a_sheet_has_a_line_for_points_and_says_what_its_python_needs_and_solutions_name_errors(k):
    sheet, solved = (
        BeautifulSoup(
            (BUILD / "kit" / f"week-{k}" / f"{name}.html").read_text("utf-8"), "html.parser"
        )
        for name in ("sheet", "solutions")
    )
    intro = sheet.section.p.get_text()
    every, some = re.search(r"about (\d+) minutes\. For (\d+) minutes", intro).groups()
    line = [each.get_text() for each in sheet.select(".handed-in span")]
    of, chosen = (int(minutes) // marking.MINUTES for minutes in (every, some))
    assert line == ["Name", "Date", f"Points, of {of}, or of {chosen} for the choice"]
    for name, said in (("sheet", "in Colab or JupyterLab"), ("own", "with NumPy alone")):
        parts = [part for label in WEEKS[k][name] for part in marking.parts(label)]
        assert (said in intro) == any(part.needs == "Python" for part in parts)
    errors = [table.select("td")[-1].get_text() for table in solved.select("table.marks")]
    assert all(each.startswith("Typical error. ") for each in errors), errors


@pytest.mark.parametrize("k", WEEKS)
def test_a_sheet_has_what_its_problems_refer_to_and_room_for_those_by_hand(k):
    sheet = BeautifulSoup(
        (BUILD / "kit" / f"week-{k}" / "sheet.html").read_text("utf-8"), "html.parser"
    )
    for link in sheet.select(".asked a"):
        if re.match(r"(Theorem|Lemma|Proposition|Corollary|Definition) \d", link.get_text()):
            assert sheet.select_one(f".facts {link['href']}"), link.get_text()
    millimeters = marking.said()["room"][k]
    for part in sheet.select(".asked"):
        points, _, needs = part.select_one(".earns").get_text().partition(", with ")
        problem = part.find_parent(["li", "div"]).get_text()
        shown = "Show" in part.get_text() or "Show the following" in problem
        room = int(points.split()[0]) * millimeters * (1.5 if shown else 1)
        assert part.select_one(".room").get("style", "") == ("" if needs else f"height: {room:g}mm")


@pytest.mark.parametrize("k", WEEKS)
def test_the_problems_of_a_sheet_print_on_five_pages_at_most_and_none_on_two(chromium, tmp_path, k):
    shutil.unpack_archive(BUILD / "kit" / f"week-{k}.zip", tmp_path)
    page = chromium.new_page()
    kit.print_page(page, tmp_path / f"week-{k}", "sheet")
    page.close()
    pages = PdfReader(tmp_path / f"week-{k}" / f"week-{k}-sheet.pdf").pages
    assert 4 <= len(pages) <= 6  # the statements have the last one
    texts = [page.extract_text() for page in pages]
    assert "What the problems use" in texts[-1] and "What the problems use" not in "".join(
        texts[:-1]
    )
    begun = [re.findall(r"(?m)^\(([a-z])\)", text) for text in texts[:-1]]
    assert all(letters[0] == "a" for letters in begun), "a problem begins each page"
    assert f"Sheet {k} · How Attention Learns · page 1 of {len(pages)}" in pages[0].extract_text()


def test_parts_that_a_problem_does_not_have_are_named():
    place = BeautifulSoup("<li><p>Lines</p><p>(a) Draw.</p></li>", "html.parser").li
    with pytest.raises(ValueError, match=r"Lines: expected the parts a, b, got \['a'\]"):
        kit.leave_room(place, [marking.Part(name, ((1, "x"),)) for name in "ab"], 10)


def test_a_packed_week_opens_from_disk_with_all_that_it_needs(chromium, tmp_path):
    packed = BUILD / "kit" / "week-2.zip"
    assert packed.stat().st_size < 6e6
    shutil.unpack_archive(packed, tmp_path)
    page = chromium.new_page(viewport={"width": 1280, "height": 720})
    failed, asked = [], []
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "week-2" / "slides.html").as_uri())
    page.wait_for_function(READY)
    for number in range(page.evaluate("Reveal.getTotalSlides()")):
        page.evaluate(f"Reveal.slide({number})")
    page.evaluate(GO_TO, "descent_and_curvature/a-step-size-and-two-curvatures")
    page.frame_locator("section.present iframe").locator(".mha-live[data-state=done]").wait_for()
    here = (tmp_path / "week-2").as_uri()
    assert not [url for url in failed if not left(url)]
    assert all(url.startswith((here, "blob:", "data:")) for url in asked)
    assert "../../" not in (tmp_path / "week-2" / "sheet.html").read_text("utf-8")
    read_me = (tmp_path / "week-2" / "read-me.html").read_text("utf-8")
    beside = {path.name for path in (tmp_path / "week-2").iterdir() if path.is_file()}
    assert {*re.findall('<a href="([^"]+)">', read_me)} == beside - {"read-me.html"}
    assert "The solutions of the problems whose numbers are drawn are not here" in read_me
    assert "There are no PDFs here" in read_me
    (tmp_path / "week-2" / "week-2-notes.pdf").touch()
    with_pdf = kit.listed(tmp_path / "week-2")
    assert "are here as pages and as PDFs" in with_pdf and ">week-2-notes.pdf</a>" in with_pdf
    page.close()


def test_printed_slides_keep_their_margins_and_with_notes_have_a_page_of_them(chromium, tmp_path):
    shutil.unpack_archive(BUILD / "kit" / "week-1.zip", tmp_path)
    page = chromium.new_page(viewport={"width": 1280, "height": 720})
    kit.print_slides(page, tmp_path / "week-1", "slides")
    kit.print_slides(page, tmp_path / "week-1", "both", "&showNotes=separate-page")
    page.close()
    slides, both = (PdfReader(tmp_path / "week-1" / f"{name}.pdf") for name in ("slides", "both"))
    for sheet in slides.pages:
        starts = []
        sheet.extract_text(
            visitor_text=lambda text, to, at, *_, seen=starts: seen.append(
                at[4] * to[0] + at[5] * to[2] + to[4] if text.strip() else 99
            )
        )
        assert min(starts) > 20, "points from the edge"
    assert "coordinate" in slides.pages[5].extract_text(), "a picture has room on its page"
    assert len(slides.pages) < len(both.pages)
    assert " · minute 0" not in slides.pages[2].extract_text()
    assert re.search(
        r"slide 3\W+\d+ min\W+minute 0", "".join(sheet.extract_text() for sheet in both.pages[:8])
    )


def test_a_browser_prints_each_slide_on_a_page_in_landscape_and_the_notes_upright(
    chromium, tmp_path
):
    shutil.unpack_archive(BUILD / "kit" / "week-1.zip", tmp_path)
    page = chromium.new_page(viewport={"width": 900, "height": 700})

    def printed(name):
        page.pdf(path=tmp_path / f"{name}.pdf", prefer_css_page_size=True)
        return PdfReader(tmp_path / f"{name}.pdf").pages

    page.goto((tmp_path / "week-1" / "slides.html").as_uri())
    page.wait_for_function(READY)
    count = page.evaluate("Reveal.getTotalSlides()")
    shown = page.screenshot(animations="disabled")  # the arrows have faded in
    slides = printed("slides")
    assert len(slides) == count
    texts = [each.extract_text() for each in slides]
    for number, (each, text) in enumerate(zip(slides, texts, strict=True), 1):
        assert tuple(each.mediabox[2:]) == (960, 540), "points: 1280 by 720 pixels"
        assert text.endswith(f"{number}") and "Speaker notes" not in text
    assert "The first inequality is an equality" in texts[12], "what waits for a key is there"
    page.wait_for_function("() => !document.documentElement.className.includes('on-paper')")
    assert page.screenshot(animations="disabled") == shown, "afterward the slides are as before"
    page.goto((tmp_path / "week-1" / "notes.html").as_uri())
    notes = printed("notes")
    assert notes[0].mediabox.height > notes[0].mediabox.width
    said = "".join(each.extract_text() for each in notes)
    assert [int(k) for k in re.findall(r"slide (\d+) · \d+ min", said)] == [*range(3, count)]
    page.close()


def test_a_course_of_ones_own_has_its_name_its_slides_and_the_sheet_of_its_week(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(kit, "KIT", tmp_path / "kit")
    file = tmp_path / "spring.yml"
    lecture = "[{minutes: 90, part: All, slides: [9/idea]}]"
    file.write_text(f"course: Spring\nby: Ada\nweeks: [{{week: 5, lecture: {lecture}}}]\n")
    (folder,) = kit.of_a_lecturer(file)
    assert folder == tmp_path / "kit" / "spring" / "week-1"
    pages = {
        path.stem: BeautifulSoup(path.read_text(), "html.parser") for path in folder.glob("*.html")
    }
    title, _, shown, last = pages["slides"].select(".slides > section")
    assert "Week 1 of 1 · Spring · Ada" in title.get_text() and shown["class"] == ["idea"]
    assert (
        last.h2.string == "Sheet 5" and pages["sheet"].select_one(".book").string == "Spring · Ada"
    )
    assert kit.pack(folder, folder.parent).exists()


def test_solutions_of_drawn_problems_are_written_for_a_lecturer_alone(monkeypatch, tmp_path):
    published = [path.name for path in (BUILD / "kit").rglob("*")]
    assert "sheet.html" in published and f"{kit.DRAWN}.html" not in published
    packed = [ZipFile(BUILD / "kit" / f"week-{k}.zip").namelist() for k in WEEKS]
    assert not [name for names in packed for name in names if kit.DRAWN in name]
    monkeypatch.setattr(kit, "KIT", tmp_path)
    solved = []
    for seed in (3, 4):
        file = tmp_path / f"of-{seed}.yml"
        file.write_text(f"seed: {seed}\nweeks: [{{week: 4, date: 2027-05-04}}]\n")
        (folder,) = kit.of_a_lecturer(file)
        sheet = BeautifulSoup((folder / "sheet.html").read_text(), "html.parser")
        asked = [each.get_text() for each in sheet.select(".exercise .admonition-title")][-3:]
        assert [title.split(" · ")[0] for title in asked] == [f"Exercise S4.{n}" for n in (7, 8, 9)]
        page = BeautifulSoup((folder / f"{kit.DRAWN}.html").read_text(), "html.parser")
        assert [each.get_text() for each in page.select(".solution > .admonition-title")] == asked
        assert page.h2.get_text() == f"Sheet 4: solutions for the seed {seed}"
        solved.append(page.get_text())
        title = BeautifulSoup((folder / "slides.html").read_text(), "html.parser").section
        assert "Week 1 of 1 · 2027-05-04 · How Attention Learns" in title.get_text()
        assert f"week-1/{kit.DRAWN}.html" in ZipFile(kit.pack(folder, folder.parent)).namelist()
        assert f'<a href="{kit.DRAWN}.html">' in kit.about(folder)
        assert "are not here" not in kit.about(folder)
    assert solved[0] != solved[1]


def test_formulas_of_drawn_problems_have_their_letters():
    rules = (BUILD / "_static" / "mathematics.css").read_text("utf-8")
    for k in WEEKS:
        sheet = (BUILD / "kit" / f"week-{k}" / "sheet.html").read_text("utf-8")
        assert all(f"mjx-c.{letter}" in rules for letter in re.findall(r"mjx-c[0-9A-F]{2,}", sheet))


def test_links_of_a_packed_week_lead_to_the_published_book_or_are_words(monkeypatch):
    link = (
        'See <a class="x" href="../../book/start/map.html#a" target="_blank">the <em>map</em></a>.'
    )
    monkeypatch.setattr(kit.edition, "web_address", lambda root: "https://someone.github.io/book/")
    assert 'href="https://someone.github.io/book/book/start/map.html#a"' in kit.online(link)
    monkeypatch.setattr(kit.edition, "web_address", lambda root: "")
    assert kit.online(link) == "See the <em>map</em>."


def test_a_quiz_says_at_once_what_is_right_and_what_is_wrong_with_a_choice(open_page):
    page = open_page("book/start/quizzes.html").page
    asked = page.locator(".mha-quiz fieldset").first
    assert asked.locator(".mha-quiz-said > :visible").count() == 0
    for choice in asked.locator("label").all():
        choice.click()
        (said,) = asked.locator(".mha-quiz-said > :visible").all_inner_texts()
        assert said.startswith("Right." if "do not change" in choice.inner_text() else "Not so.")
    asked.locator("input").last.press("ArrowUp")
    assert asked.locator(".mha-quiz-said > :visible").count() == 1
    assert page.locator(".mha-quiz fieldset").count() == 30


# --- a class
# --------------------------------------------------------------------------------------------------

CLASS = "book/start/class.html"


def handed(reader, at=None, **guesses):
    sheet = {
        "reader": reader,
        "guesses": {name.replace("_", "-"): guess for name, guess in guesses.items()},
    }
    return "https://any.where/class.html#guesses=" + quote(
        json.dumps(sheet | ({"at": at} if at else {}))
    )


@pytest.fixture
def of_a_class(new_visit):
    visit = new_visit(CLASS)
    yield visit.open().page
    visit.context.close()


def added(page, *links):
    page.locator("textarea").fill("\n".join(links))
    page.get_by_role("button", name="Add the links").click()
    return page.locator(".mha-hand-in [role=status]").inner_text()


def answers(page, name):
    """The bars of a question, in words."""
    return page.locator(f"[data-asked='{name}'] li").all_inner_texts()


def test_guesses_of_a_class_are_counted_by_choice_and_its_curves_drawn(of_a_class):
    page = of_a_class
    said = added(
        page,
        handed("a", chapter_1_1="0.8", chapter_1_2="0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6"),
        handed("b", chapter_1_1="0.8"),
        handed("c", chapter_1_1="0.1"),
        handed("c", chapter_1_1="0.5"),
    )
    assert said.startswith("Guesses of 3 readers.")
    row = page.locator("[data-asked='chapter-1-1']")
    assert row.locator(".mha-count").inner_text() == "3"
    assert answers(page, "chapter-1-1") == [
        "0.1: 0 (0%)",
        "0.5: 1 (33%)",
        "0.8: 2 (67%)",
        "1: 0 (0%)",
    ]
    row.locator("summary").click()
    assert row.locator("details").inner_text().startswith("What is true\n0.8: ")
    drawn = page.locator("[data-asked='chapter-1-2'] .mha-yours").get_attribute("d")
    assert drawn.count("M") == 1
    curve = page.locator("[data-asked='chapter-1-2']")
    assert not curve.locator(".mha-result").is_visible(), "a class is asked first"
    curve.locator("summary").click()
    assert curve.locator(".mha-result").is_visible() and "dashed" in curve.inner_text()
    assert page.locator(".mha-class:visible").count() == 1, "pages that nobody guessed on stay away"


def test_what_is_no_guess_is_named_and_the_rest_is_counted(of_a_class):
    said = added(
        of_a_class,
        "https://elsewhere.org",
        handed("a", chapter_1_1="0.8")[:-9],
        "x#guesses=" + quote('{"reader": 3, "guesses": {}}'),
        handed("b", chapter_1_1="<b>0.9</b>", chapter_99_1="no"),
        handed("c", chapter_1_1="0.8"),
    )
    assert said.split("\n\n") == [
        "Guesses of 2 readers.",
        "Read just now: 4, of 2 new readers.",
        "Line 2 is cut off: copy the whole link, or hand in the file.",
        "Line 3 holds something else than guesses.",
        "Line 4: 2 of its guesses fit no question of this page and were left out.",
        "Without a link of guesses: Line 1.",
    ]
    assert of_a_class.locator("[data-asked='chapter-1-1'] .mha-count").inner_text() == "1"


def test_links_are_found_in_whatever_stands_around_them(of_a_class):
    said = added(
        of_a_class,
        f"Ann: <{handed('a', chapter_1_1='0.8')}> (hers), {handed('b', chapter_1_1='0.8')}.",
        f'"{handed("c", chapter_5_further_1="it’s (about) two!")}"; see you!',
    )
    assert said.split("\n\n") == ["Guesses of 3 readers.", "Read just now: 3, of 3 new readers."]
    assert answers(of_a_class, "chapter-5-further-1") == ["it’s (about) two!: 1 (100%)"]


def test_links_that_a_mail_program_changed_are_read(of_a_class):
    plain = handed("a", chapter_1_1="0.8")
    wrapped = (
        f"https://safe.links/?url={quote(handed('b', chapter_1_1='0.8'), safe='')}&data=05%7C02%7C0"
    )
    written = unquote(handed("c", chapter_1_1="0.8", chapter_5_further_1="about two"))
    twice = f"100% sure: {quote(quote(handed('d', chapter_1_1='0.8'), safe=''), safe='')}"
    broken = (plain[:70], plain[70:90], plain[90:])
    said = added(of_a_class, "Ann wrote:", *broken, wrapped, written, twice)
    assert said.split("\n\n") == [
        "Guesses of 4 readers.",
        "Read just now: 4, of 4 new readers.",
        "Without a link of guesses: Line 1.",
    ]


def test_a_link_that_is_opened_in_the_window_of_the_class_is_counted(of_a_class):
    page = of_a_class
    added(page, handed("a", chapter_1_1="0.8"))
    page.evaluate(
        "(link) => { location.hash = link.split('#')[1]; }", handed("b", chapter_1_1="0.1")
    )
    eventually(page, lambda: assert_counts(page, "0.1: 1 (50%)"))


def assert_counts(page, bar):
    assert bar in answers(page, "chapter-1-1")


def test_of_a_reader_the_newer_guess_to_each_question_counts_whichever_was_pasted_last(of_a_class):
    added(
        of_a_class,
        handed("a", "2026-10-02T10:00", chapter_1_1="0.8"),
        handed("a", "2026-10-01T10:00", chapter_1_1="0.1", chapter_9_3="7"),
    )
    assert answers(of_a_class, "chapter-1-1")[2] == "0.8: 1 (100%)"
    assert answers(of_a_class, "chapter-9-3") == ["7: 1 (100%)"], "an older sheet may answer more"


def test_spellings_of_one_number_are_one_answer(of_a_class):
    spellings = ["1e6", "10^6", "1000000", "a million", "A million ", "64"]
    added(of_a_class, *(handed(str(k), chapter_9_3=guess) for k, guess in enumerate(spellings)))
    assert answers(of_a_class, "chapter-9-3") == [
        "64: 1 (17%)",
        "1e6: 3 (50%)",
        "a million: 2 (33%)",
    ]


def test_the_sum_is_there_after_a_look_at_a_chapter_and_gone_once_it_is_cleared(of_a_class):
    page = of_a_class
    added(page, handed("a", chapter_1_1="0.8"))
    page.locator(".mha-class:visible caption a").click()
    page.go_back()
    status = page.locator(".mha-hand-in [role=status]")
    eventually(page, partial(assert_says, status, "Guesses of 1 reader."))
    assert answers(page, "chapter-1-1")[2] == "0.8: 1 (100%)"
    page.once("dialog", lambda question: question.accept())
    page.get_by_role("button", name="Clear").click()
    page.reload()
    eventually(page, partial(assert_says, status, "No guesses yet."))
    assert page.locator(".mha-class:visible").count() == 0


def test_the_guesses_of_one_chapter_alone_can_be_handed_in(new_visit):
    visit = new_visit("book/start/guesses.html")
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit.open().page
    for name, guess in (("1-1", "0.8"), ("1-further-1", "up"), ("4-3", "7")):
        page.evaluate(
            "([name, guess]) => localStorage.setItem(`mha:guess:chapter-${name}`, guess)",
            [name, guess],
        )
    page.get_by_label("Hand in").select_option("chapter-1")
    status = page.locator(".mha-hands-in [role=status]")
    page.get_by_role("button", name="Copy a link").click()
    status.filter(has_text="copied").wait_for()
    sheet = json.loads(
        unquote(page.evaluate("() => navigator.clipboard.readText()").split("#guesses=")[1])
    )
    assert sheet["guesses"] == {"chapter-1-1": "0.8"} and sheet["at"].startswith("20")
    visit.context.close()


def test_a_page_from_a_disk_hands_in_no_address(chromium):
    context = chromium.new_context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto((BUILD / "book/start/guesses.html").as_uri())
    page.evaluate("() => localStorage.setItem('mha:guess:chapter-4-3', '7')")
    page.get_by_role("button", name="Copy a link").click()
    status = page.locator(".mha-hands-in [role=status]")
    status.filter(has_text="pasted").wait_for()
    assert (
        status.inner_text().startswith("This page was opened from a disk")
        and "file:" not in status.inner_text()
    )
    assert page.evaluate("() => navigator.clipboard.readText()").startswith("guesses=%7B")
    context.close()


def test_a_reader_hands_in_by_link_and_by_file_and_the_class_reads_both(new_visit):
    visit = new_visit("book/start/guesses.html")
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = visit.open().page
    button = page.get_by_role("button", name="Copy a link")
    button.click()
    assert page.locator(".mha-hands-in [role=status]").inner_text() == "There is no guess yet."
    page.evaluate("() => localStorage.setItem('mha:guess:chapter-1-1', '0.8')")
    page.evaluate("() => localStorage.setItem('mha:answer:ex-1-half-0', 'secret')")
    button.click()
    page.locator(".mha-hands-in [role=status]").filter(has_text="copied").wait_for()
    link = page.evaluate("() => navigator.clipboard.readText()")
    assert "secret" not in link and "/book/start/class.html#guesses=" in link
    with page.expect_download() as got:
        page.get_by_role("button", name="Save a file").click()
    page.goto(link)
    status = page.locator(".mha-hand-in [role=status]")
    assert (
        status.inner_text().split("\n\n")[0] == "Guesses of 1 reader."
        and "that led here" in status.inner_text()
    )
    page.locator("input[type=file]").set_input_files(got.value.path())
    eventually(
        page,
        partial(assert_says, status, "Guesses of 1 reader.\n\nRead just now: 1, of 0 new readers."),
    )
    assert page.locator("[data-asked='chapter-1-1'] .mha-count").inner_text() == "1", (
        "who hands in twice counts once"
    )
    visit.context.close()
