"""An exercise that checks itself, by keyboard, on the page of sheets; and the map, whose boxes are links."""

import re

import pytest

from mhabook.exercises import QUESTIONS
from visits import BUILD, eventually

SHEETS, MAP = "book/start/sheets.html", "book/start/map.html"
FORGOTTEN = "() => [document.cookie, ...Object.values(localStorage)].some((kept) => kept.includes('sqrt(H)'))"


@pytest.fixture(scope="module")
def sheets(new_visit):
    visit = new_visit(SHEETS).open()
    yield visit
    assert not visit.failures + visit.complaints
    visit.context.close()


@pytest.fixture
def field(sheets):
    """The first field of an exercise of sheet 1: H equal heads with the logit φ each.

    The page is opened again for each test: a field counts the tries, and keeps the hints it gave.
    """
    box = sheets.open().page.get_by_role("group", name="Check your answer: The logit of H equal heads")
    return box.locator(".mha-part").first


def answer(field, text):
    """Type and press Enter; give what is said of it."""
    field.locator("input").fill("")
    field.locator("input").press_sequentially(text)
    field.locator("input").press("Enter")
    return field.get_by_role("status").inner_text()


def test_every_exercise_of_the_page_takes_its_answer(sheets):
    asked = [question for label in QUESTIONS if label.startswith("ex-sheet") for question in QUESTIONS[label]]
    for question in asked:
        field = sheets.page.locator(".mha-part").filter(has=sheets.page.get_by_text(question.ask, exact=True)).first
        field.locator("input").fill(question.answer)
        field.get_by_role("button", name="Check").click()
        assert field.get_by_role("status").inner_text().startswith("Right")
    assert sheets.page.locator(".mha-part").count() == len(asked)


def test_problems_are_numbered_within_their_sheet(sheets):
    titles = sheets.page.locator(".exercise > .admonition-title").all_inner_texts()
    assert [re.match(r"Exercise (S\d\.\d) ", title)[1] for title in titles] == [
        "S1.5", "S1.6", "S2.6", "S3.6", "S4.6", "S5.7", "S6.7"]
    assert "Exercise S3.6" in " ".join(sheets.page.locator(".solution > .admonition-title").all_inner_texts())


def test_a_wrong_answer_is_told_where_it_differs_and_after_two_what_is_right(field):
    said = answer(field, "H*phi+1")
    assert "differs on all 24" in said and "your formula gives" in said and "ours" not in said
    assert not field.get_by_role("button", name="Our value there").is_visible()
    answer(field, "H+phi")
    field.get_by_role("button", name="Our value there").press("Enter")
    assert ", ours " in field.get_by_role("status").inner_text()
    assert "factor 1/√H" in answer(field, "H*φ")


def test_what_cannot_be_read_is_marked(field):
    assert answer(field, "2H").startswith("At character 2: Write every product with *")
    assert field.locator("mark").inner_text() == "H"
    assert field.locator("input").get_attribute("aria-invalid") == "true"
    assert answer(field, "sqrt(H)*phi").startswith("Right")
    assert field.locator("input").get_attribute("aria-invalid") == "false"


def test_a_rounded_number_in_a_formula_and_a_power_without_parentheses_are_named(field):
    assert "formula is near, and not the same" in answer(field, "H^0.5001*phi")
    assert "With these parentheses it is right: H^(1/2)*phi" in answer(field, "H^1/2*phi")


def test_hints_come_one_by_one_and_the_keyboard_is_not_lost(sheets, field):
    hint = field.get_by_role("button", name="Hint")
    hint.press("Enter")
    assert field.locator("li").all_inner_texts() == list(QUESTIONS["ex-sheet-copies"][0].hints)
    assert not hint.is_visible()
    assert field.locator("input").evaluate("(node) => node === document.activeElement")


def test_nothing_is_kept_and_nothing_is_sent(sheets, field):
    before = len(sheets.requests)
    answer(field, "sqrt(H)*phi")
    assert not sheets.page.evaluate(FORGOTTEN)
    assert len(sheets.requests) == before


def test_every_box_of_the_map_leads_to_a_page_and_lights_its_lines(new_visit):
    visit = new_visit(MAP).open()
    boxes = visit.page.locator(".course-map a")
    assert all((BUILD / "book/start" / box.get_attribute("href")).exists() for box in boxes.all())
    file = boxes.last.get_attribute("data-file")
    boxes.first.focus()
    for _ in range(boxes.count() - 1):
        visit.page.keyboard.press("Tab")
    assert visit.page.evaluate("() => document.activeElement.dataset.file") == file

    def only_its_lines_are_bright():
        bright = visit.page.locator(".course-map .edge").evaluate_all(
            "(all) => all.filter((edge) => getComputedStyle(edge).opacity === '1').map((edge) => edge.dataset.to)")
        assert bright and set(bright) == {file}

    eventually(visit.page, only_its_lines_are_bright)
    visit.context.close()
