"""The ledger's table in a reader's browser: headers sort, words and values filter, and it needs no
script."""

import pytest

from engines import BOOK
from livegrad.live.modules import link
from visits import at_rest, eventually

SCRIPT = f"(() => {{ {link(BOOK / 'pages' / 'page.js')}\nlinked(); }})();"
LEDGER = "book/ledger.html"
SHOWN = """() => [...document.querySelectorAll(".sortable tbody tr")].filter((row) => !row.hidden)
  .map((row) => [...row.cells].map((cell) => cell.textContent.trim()))"""


@pytest.fixture(scope="module")
def ledger(new_visit):
    """The ledger page, opened once."""
    visit = new_visit(LEDGER)
    yield visit.open()
    visit.context.close()


def shown(visit):
    return visit.page.evaluate(SHOWN)


def press(visit, header, key="Enter"):
    """Press a header by the keyboard, and give what it says of the order."""
    button = visit.page.get_by_role("button", name=header)
    button.focus()
    visit.page.keyboard.press(key)
    return button.evaluate("(node) => node.closest('th').getAttribute('aria-sort')")


def test_a_header_sorts_up_down_and_back(ledger):
    before = shown(ledger)
    assert press(ledger, "Worst slack") == "ascending"
    slacks = [row[5] for row in shown(ledger)]
    numbers = [float(slack) for slack in slacks if slack != "–"]
    assert numbers == sorted(numbers) and len(set(numbers)) > 10
    assert slacks[len(numbers) :] == ["–"] * (len(before) - len(numbers)) != []
    assert press(ledger, "Worst slack", "Space") == "descending"
    assert [float(row[5]) for row in shown(ledger)[: len(numbers)]] == numbers[::-1]
    assert press(ledger, "Worst slack") is None
    assert shown(ledger) == before


def test_an_address_may_end_in_anything(ledger):
    ledger.page.evaluate("() => { location.hash = '#%'; }")
    at_rest(ledger.page)
    assert not ledger.complaints


def test_numbers_sort_as_numbers_and_only_one_column_is_sorted(ledger):
    assert press(ledger, "Number") == press(ledger, "Statement") == "ascending"
    assert ledger.page.locator(".sortable th[aria-sort]").count() == 1
    assert press(ledger, "Number") == "ascending"
    lemmas = [row[0].split()[1] for row in shown(ledger) if row[0].startswith("Lemma")]
    assert lemmas == sorted(lemmas, key=lambda number: [int(part) for part in number.split(".")])
    press(ledger, "Number")
    press(ledger, "Number")


def test_numbers_are_read_as_the_book_writes_them(chromium):
    ascending = [
        "−5.5 · 10³",
        "−3",
        "2·10⁻³",
        "0.5",
        "9",
        "1,150",
        "20,000",
        "5.5·10¹⁰",
        "equality",
        "limit",
    ]
    rows = "".join(f"<tr><td>{text}</td></tr>" for text in ascending[::2] + ascending[1::2])
    head = "<thead><tr><th>Number</th></tr></thead>"
    page = chromium.new_page()
    page.set_content(
        f"<script>{SCRIPT}</script>"
        f"<div class=sortable><table>{head}<tbody>{rows}</tbody></table></div>"
    )
    page.get_by_role("button", name="Number").click()
    assert [text for (text,) in page.evaluate(SHOWN)] == ascending
    page.close()


def test_words_and_values_filter_and_a_link_brings_its_row_back(ledger):
    page, every = ledger.page, shown(ledger)
    page.get_by_label("Mark").select_option("recalled")
    assert shown(ledger) == [row for row in every if row[2] == "recalled"] != []
    page.get_by_label("Part").select_option("III")
    page.get_by_label("Words").fill("rank CHEN")
    assert [row[2:4] for row in shown(ledger)] == [["recalled", "III · 12"]]
    assert page.get_by_role("status").inner_text() == f"1 of {len(every)} rows"
    page.evaluate("() => { location.hash = 'ledger-thm-collapse'; }")
    page.wait_for_function(
        "() => document.querySelector('tr:has(#ledger-thm-collapse)').checkVisibility()"
    )
    assert shown(ledger) == every


def row_in_sight(page, label):
    row = page.locator(f"tr:has(#ledger-{label})")
    assert row.is_visible() and 0 <= row.bounding_box()["y"] < 900


def test_a_link_to_a_row_is_followed_again_and_whatever_stands_behind_its_name(ledger):
    page, every = ledger.page, shown(ledger)
    page.set_viewport_size({"width": 1280, "height": 900})
    for end in ("", "", ".", "&fbclid=IwAR1x", "%3Futm_source=a", "”)."):
        page.get_by_label("Words").fill("rank CHEN")  # the reader goes on from there
        assert shown(ledger) != every and not page.evaluate("() => location.hash")
        page.evaluate("(end) => { location.hash = `ledger-thm-barrier${end}`; }", end)
        eventually(page, lambda: row_in_sight(page, "thm-barrier"))
        assert shown(ledger) == every


EXPECTED = {
    "convergence": {"lemma-descent", "thm-1-training", "thm-local-rate", "thm-values"},
    "converging": {"thm-1-training", "thm-neighborhood"},
    "tangent kernel": {"def-ntk", "lemma-linearization", "prop-random-gram"},
    "NTK": {"def-ntk", "thm-exact-margin"},
    "edge of stability": {"cor-1-smoothness", "lemma-descent"},
    "max margin": {"lemma-margin-distance", "thm-exact-margin"},
    "generalizes": {"thm-2-stability", "thm-2-generalization"},
    "saddle points": {"prop-saddles", "prop-flat-saddles", "prop-missed-saddle"},
    "descent lemma": {"lemma-descent"},
    "heads needed": {"thm-1-training", "thm-1-fewer-heads"},
    "how many heads": {"thm-1-training", "thm-1-fewer-heads"},
    "max-margin": {"lemma-margin-distance", "thm-exact-margin"},
    "PL": {"thm-values", "thm-neighborhood", "thm-queries"},
} | dict.fromkeys(
    ["1/sqrt(H)", "1/sqrt H", "H^-1/2", "1/√H"], {"def-model", "prop-1-hessian", "lemma-1-blocks"}
)
"""What a reader types → some of the rows that must be found, by label."""
LABELS = """() => [...document.querySelectorAll(".sortable tbody tr")].filter((row) => !row.hidden)
  .map((row) => row.querySelector("[id^=ledger-]").id.slice("ledger-".length))"""


@pytest.mark.parametrize("query", EXPECTED)
def test_plain_words_find_the_statements_that_do_not_use_them(ledger, query):
    ledger.page.get_by_label("Words").fill(query)
    found = set(ledger.page.evaluate(LABELS))
    assert EXPECTED[query] <= found and len(found) < 20
    ledger.page.get_by_label("Words").fill("")


def test_roots_are_found_as_they_are_typed(ledger):
    found = {}
    for query in ("sqrt(H)", "√H", "sqrt(T/2)", "√(T/2)"):
        ledger.page.get_by_label("Words").fill(query)
        found[query] = ledger.page.evaluate(LABELS)
    ledger.page.get_by_label("Words").fill("")
    assert "thm-1-training" in found["sqrt(H)"] == found["√H"]
    assert "prop-zero-margin" in found["sqrt(T/2)"] == found["√(T/2)"]


@pytest.mark.parametrize(
    ("query", "is_found"),
    [
        # of chapter 4, and of no chapter 14
        ("Theorem 4", lambda number: number.startswith("Theorem 4.")),
        ("lemma 4.1", lambda number: number == "Lemma 4.1"),  # not Lemma 4.10
        ("Lemma 4.10", lambda number: number == "Lemma 4.10"),
    ],
)
def test_a_number_finds_the_statements_that_have_it(ledger, query, is_found):
    numbers = {row[0] for row in shown(ledger)}
    ledger.page.get_by_label("Words").fill(query)
    assert {row[0] for row in shown(ledger)} == set(filter(is_found, numbers))
    ledger.page.get_by_label("Words").fill("")


def test_filter_and_table_begin_on_the_first_screen(ledger):
    page = ledger.page
    page.set_viewport_size({"width": 1280, "height": 800})
    page.evaluate("() => window.scrollTo(0, 0)")
    at_rest(page)
    row = page.locator(".sortable tbody tr").first.bounding_box()
    assert (
        0
        < page.locator(".table-filters").bounding_box()["y"]
        < row["y"]
        < row["y"] + row["height"]
        < 800
    )


@pytest.mark.parametrize("bar", [0, 17])
@pytest.mark.parametrize("width", [720, 760, 980, 1200, 1240, 1280])
def test_no_column_is_cut_on_a_desk_and_the_head_stays_in_sight(ledger, width, bar):
    page = ledger.page
    page.set_viewport_size({"width": width, "height": 900})
    # of a scroll bar
    page.evaluate("(bar) => (document.documentElement.style.marginRight = `${bar}px`)", bar)
    at_rest(page)  # a table is measured anew after the last change of width
    page.locator(".sortable.fits").wait_for()
    page.evaluate("() => document.getElementById('ledger-thm-barrier').scrollIntoView()")
    places = [
        ".bd-header-article",
        ".sortable th:nth-child(2)",
        "tr:has(#ledger-thm-barrier) td:first-child a[href]",
    ]
    boxes = [page.locator(place).bounding_box() for place in places]
    assert all(
        upper["y"] + upper["height"] <= lower["y"] + 5
        for upper, lower in zip(boxes, boxes[1:], strict=False)
    )
    assert boxes[-1]["y"] < 250


def test_a_phone_shows_cards_that_name_their_columns(ledger):
    ledger.page.set_viewport_size({"width": 390, "height": 844})
    cell = ledger.page.locator("tr:has(#ledger-thm-collapse) td").nth(4)
    assert cell.evaluate("(node) => getComputedStyle(node, '::before').content") == '"Instances: "'
    assert cell.get_attribute("role") == "cell"
    assert ledger.page.get_by_role("region", name="Table").get_attribute("tabindex") == "0"
    ledger.page.set_viewport_size({"width": 1280, "height": 900})


def test_without_scripts_the_table_stands_there_whole(new_visit, ledger, chromium):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(ledger.site + LEDGER)
    assert (
        page.locator(".sortable tbody tr").count()
        == ledger.page.locator(".sortable tbody tr").count()
        > 118
    )
    assert page.locator(".sortable button, .table-filters").count() == 0
    context.close()
