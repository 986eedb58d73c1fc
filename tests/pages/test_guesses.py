"""The guesses of "Predict": each has its field below the list it stands in, and comes back where it
is answered."""

import base64
import re

import numpy as np
import pytest

import notebooks
from mhabook.exercises.guess import checked, field, groups, on_a_page
from mhabook.exercises.guess import guesses as in_a_notebook
from scripts import load

guesses = load("book/_ext/guesses.py")
curves = guesses.curves
GROUPS = groups()


def uses(directive):
    """Name of a group → (page, cell, numbers) of each place that has the directive, in the order of
    the cells."""
    found = {}
    for path in notebooks.paths():
        for place, cell in enumerate(notebooks.read(path)["cells"]):
            for words in re.findall(rf"```{{{directive}}} ([^\n]+)\n```", notebooks.source(cell)):
                name, *numbers = words.split()
                found.setdefault(name, []).append((path.stem, place, cell["id"], numbers))
    return found


def test_every_section_predict_has_the_fields_of_its_group():
    asked = uses("guesses")
    asking = {
        path.stem
        for path in notebooks.paths()
        if "\n## Predict" in f"\n{notebooks.text(notebooks.read(path))}"
    }
    assert set(asked) == set(GROUPS) and all(len(places) == 1 for places in asked.values())
    assert {page for [(page, _, cell, _)] in asked.values() if cell == "predict"} == asking
    assert all(
        cell == "predict" or page.endswith("_further") for [(page, _, cell, _)] in asked.values()
    )


def test_every_guess_comes_back_once_behind_its_field():
    answered = uses("guessed")
    for name, [(page, place, _, _)] in uses("guesses").items():
        assert all(there == page and behind > place for there, behind, _, _ in answered[name])
        assert sorted(number for *_, numbers in answered[name] for number in numbers) == sorted(
            GROUPS[name]
        ), name


def test_a_guess_is_a_question_and_has_two_choices_or_more_or_none():
    for guess in (guess for group in GROUPS.values() for guess in group.values()):
        kind = set(guess) - {"answer"}
        assert kind - {"why"} in ({"ask"}, {"ask", "curve"}, {"ask", "choices"})
        assert "why" in guess or "choices" not in guess
        assert guess["ask"].endswith("?")
        assert len(set(guess.get("choices", "ab"))) >= 2


def test_nearly_every_guess_with_choices_has_its_answer_among_them_and_a_sentence_that_says_why():
    choosing = [
        guess for group in GROUPS.values() for guess in group.values() if "choices" in guess
    ]
    answered = [guess for guess in choosing if "answer" in guess]
    assert len(answered) >= 0.9 * len(choosing)
    assert all(guess["answer"] in guess["choices"] for guess in answered)
    for guess in (each for group in GROUPS.values() for each in group.values() if "why" in each):
        assert len(guess["why"].split()) <= 25, guess["why"]
        assert re.fullmatch(r"(?:(?!\. ).)+\.", guess["why"]), guess["why"]


def test_what_a_reason_quotes_stands_in_the_book():
    book = notebooks.BOOK
    files = [*notebooks.paths(), *book.glob("mhabook/**/*.py"), *book.glob("*/*.md")]
    texts = "".join(path.read_text("utf-8") for path in files)
    for guess in (guess for group in GROUPS.values() for guess in group.values()):
        for quoted in re.findall("“(.*?)”", guess.get("why", "")):
            assert quoted in texts, quoted


@pytest.mark.parametrize("group", GROUPS)
def test_the_guesses_of_a_page_are_numbered_from_one(group):
    assert list(GROUPS[group]) == [str(k + 1) for k in range(len(GROUPS[group]))]


@pytest.mark.parametrize("guess", [{"choices": ["up", "down"], "answer": "UP"}, {"answer": "up"}])
def test_an_answer_that_is_no_choice_stops_the_build(guess):
    with pytest.raises(
        ValueError, match="chapter-99 2: expected an answer among .*, got '(UP|up)'"
    ):
        checked("chapter-99", {"1": {"ask": "?"}, "2": {"ask": "?", **guess}})


def test_no_answer_stands_where_one_guesses_and_a_class_may_unfold_it():
    guess = {
        "ask": "Up?",
        "choices": ["up", "down"],
        "answer": "up",
        "why": "The hill is behind it.",
    }
    bare = {key: guess[key] for key in ("ask", "choices")}
    assert field("chapter-99", "1", guess) == field("chapter-99", "1", bare)
    assert on_a_page(guess) == on_a_page(bare)
    of_a_class = guesses.asked_of_a_class("chapter-99-1", "1", guess)
    assert 'data-truth="up: The hill is behind it."' in of_a_class
    assert 'data-truth=""' in guesses.asked_of_a_class("chapter-99-1", "1", bare)


def test_a_curve_has_few_points_in_their_order_and_none_of_its_lines_is_left_to_draw():
    drawn = {
        name: guess["curve"]
        for name, group in GROUPS.items()
        for guess in group.values()
        if "curve" in guess
    }
    assert len(drawn) >= 3
    for name, curve in drawn.items():
        at = [float(x) for x in curve["at"]]
        assert set(curve) == {"x", "at", "y", "from", "to", "line"}, name
        assert (
            6 <= len(at) <= 9
            and at == sorted(set(at))
            and float(curve["from"]) < float(curve["to"])
        ), name


FIGURE = """<div class="mha-drawing"></div><script type="application/json">{"data": [{"name": "other"},
{"name": "a &amp; b", "line": {"color": "#123456"}, "x": {"dtype": "f4", "bdata": "%s"},
"y": {"dtype": "f8", "bdata": "%s"}}], "layout": {}}</script>"""


def result_of(line, above, x, y):
    """The page with a figure above or below the place of a result."""
    bytes_of = [
        base64.b64encode(np.array(values, kind)).decode()
        for values, kind in ((x, "<f4"), (y, "<f8"))
    ]
    parts = [
        FIGURE.replace("&amp;", "&") % tuple(bytes_of),
        f'<path class="mha-result" data-line="{line}" data-at="1 10 100"/>',
    ]
    context = {"body": "".join(parts if above else reversed(parts))}
    curves.draw_results(None, "page", None, context, None)
    return context["body"]


def test_the_result_is_the_line_of_the_figure_above_in_its_color():
    body = result_of("a &amp; b", True, [np.nan, 1, 10, 1000], [9, 0, 1, 3])
    style, points = re.search(
        r'<path class="mha-result" style="([^"]+)" d="M([^"]+)"/>$', body
    ).groups()
    columns, values = np.array([point.split() for point in points.split("L")], dtype=float).T
    assert style == "stroke: #123456"
    np.testing.assert_allclose(columns[[0, -1]], [0.5, 2.5])
    np.testing.assert_allclose(values, 0.5 - columns, atol=6e-3)  # log10 x, downward


def test_on_the_page_of_a_class_a_result_is_that_of_the_page_of_its_guess(tmp_path):
    (tmp_path / "class.html").write_text(curves.place_of("chapter-1-2"), "utf-8")
    other, ours = (f'<path class="mha-result" style="stroke: red" d="M1 {k}"/>' for k in (1, 2))
    page = f'<p id="said-chapter-1-1">{other}</p><p id="said-chapter-1-2">{ours}</p>'
    (tmp_path / "one.html").write_text(page, "utf-8")
    for _ in range(2):  # also when the page of the class stays and the others are built anew
        curves.draw_for_a_class(tmp_path, "class", {"chapter-1": "one"})
        drawn = (tmp_path / "class.html").read_text("utf-8")
        assert drawn == ours.replace("style", 'data-of="chapter-1-2" style')
    (tmp_path / "one.html").write_text(other, "utf-8")
    with pytest.raises(ValueError, match="the page of chapter-1-2: expected the result"):
        curves.draw_for_a_class(tmp_path, "class", {"chapter-1": "one"})


def test_a_result_without_its_line_stops_the_build():
    for line, above in (("a & c", True), ("a &amp; b", False)):
        with pytest.raises(
            ValueError, match="expected the name of a line in a figure above, got 'a & "
        ):
            result_of(line, above, [1, 100], [0, 1])


def test_a_notebook_has_the_fields_of_a_group_or_what_was_said_of_some_with_the_answers():
    fields = in_a_notebook("chapter-6")
    assert fields.guesses["html"].count('class="mha-guess"') == len(GROUPS["chapter-6"])
    assert "The answer" not in fields.guesses["html"] + fields.fallback()
    assert "0.3 · 0.7 · 0.99" in fields.fallback()
    said = in_a_notebook("chapter-6", "1", "3").guesses["html"]
    assert re.findall('data-guess="([^"]+)"', said) == ["chapter-6-1", "chapter-6-3"]
    assert re.findall("The answer: <strong>([^<]+)", said) == ["0.99", "worse than one"]
    assert "mha-yours" in in_a_notebook("chapter-12", "2").guesses["html"]


@pytest.mark.parametrize("given", [("chapter-99",), ("chapter-6", "1", "4")])
def test_guesses_that_nobody_asked_for_are_refused_by_name(given):
    with pytest.raises(ValueError, match=f"expected one of .*, got '{given[-1]}'"):
        in_a_notebook(*given)
