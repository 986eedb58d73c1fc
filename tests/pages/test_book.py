"""Every notebook of the book keeps the book's rules (book_rules.py says what each is)."""

from pathlib import Path

import pytest

import book_rules as rules
from notebooks import directives, option, paths, read

ROOT = Path(__file__).parents[2]
NOTEBOOKS = paths()
NUMBERED = [p for p in NOTEBOOKS if p.match("book/*/[0-9][0-9]_*.ipynb")]
CHAPTERS = [p for p in NUMBERED if not p.stem.endswith("_further")]
"""The walks; each may have a further page, with the same number."""


def of_each(paths):
    return pytest.mark.parametrize(
        "path", paths, ids=lambda p: p.relative_to(ROOT / "book").as_posix()
    )


every_notebook = of_each(NOTEBOOKS)
every_chapter = of_each(CHAPTERS)
every_numbered = of_each(NUMBERED)


def in_order(path):
    """A chapter comes before its further page."""
    return path.name[:2], path.stem.endswith("_further")


def assert_keeps(rule, path, *more):
    offences = rule(read(path), *more)
    assert not offences, "\n  ".join(
        [f"{path.relative_to(ROOT)} breaks {rule.__name__}:", *offences]
    )


def test_there_are_chapters():
    assert CHAPTERS


def test_no_function_has_two_homes():
    assert not rules.repeated_functions({p.relative_to(ROOT): read(p) for p in NOTEBOOKS})


@every_notebook
def test_tags_are_known(path):
    assert_keeps(rules.unknown_tags, path)


@every_notebook
def test_cell_ids_are_stable(path):
    assert_keeps(rules.unstable_ids, path)


@every_notebook
def test_outputs_are_stripped(path):
    assert_keeps(rules.stored_outputs, path)


@every_notebook
def test_no_number_stops_a_reader(path):
    assert_keeps(rules.assertions, path)


@every_notebook
def test_kernel_is_python3(path):
    assert_keeps(rules.foreign_kernel, path)


@every_notebook
def test_there_is_no_emoji(path):
    assert_keeps(rules.emoji, path)


@every_notebook
def test_pictures_have_alt_text(path):
    assert_keeps(rules.pictures_without_alt, path)


@every_notebook
def test_a_page_that_draws_imports_mhabook(path):
    assert_keeps(rules.figures_without_mhabook, path)


@every_notebook
def test_dropdowns_have_titles(path):
    assert_keeps(rules.broken_dropdowns, path)


@every_notebook
def test_code_in_sight_is_not_cut(path):
    assert_keeps(rules.cut_code, path)


@every_chapter
def test_visible_cells_are_thin(path):
    assert_keeps(rules.long_visible_cells, path)


@every_numbered
def test_hidden_cells_are_short(path):
    assert_keeps(rules.long_hidden_cells, path)


@every_chapter
def test_visible_code_has_no_loop(path):
    assert_keeps(rules.visible_loops, path)


@every_chapter
def test_visible_code_defines_only_the_lesson(path):
    assert_keeps(rules.visible_definitions, path)


@every_numbered
def test_visible_code_does_not_plot(path):
    assert_keeps(rules.visible_plotting, path)


@every_numbered
def test_visible_code_draws_no_random_numbers(path):
    assert_keeps(rules.visible_randomness, path)


@every_chapter
def test_prose_outweighs_code(path):
    assert_keeps(rules.thin_prose, path)


@every_chapter
def test_sections_come_in_order(path):
    assert_keeps(rules.sections_out_of_order, path)


@every_chapter
def test_exercises_have_solutions(path):
    assert_keeps(rules.missing_exercises, path)


@every_numbered
def test_statements_say_where_they_come_from(path):
    assert_keeps(rules.unmarked_statements, path)


@every_numbered
def test_nothing_is_clear_without_a_reason(path):
    assert_keeps(rules.bluster, path)


def test_every_row_of_the_ledger_is_a_statement_of_its_chapter():
    from mhabook import ledger

    for statement in ledger:
        found = directives(read(ROOT / "book" / f"{statement.chapter}.ipynb"))
        stated = {
            option(body, "label"): title + body
            for kind, title, body in found
            if kind.startswith("prf:")
        }
        assert statement.id in stated, f"{statement.chapter} states no {statement.id}"
        assert f"[{statement.mark}" in stated[statement.id], (
            f"{statement.id}: the chapter has another mark"
        )


def test_every_statement_but_a_definition_is_a_row_of_the_ledger():
    from mhabook import ledger

    registered = {statement.id for statement in ledger}
    kinds = {"prf:theorem", "prf:lemma", "prf:proposition", "prf:corollary"}
    stated = {
        option(body, "label")
        for path in NUMBERED
        for kind, _, body in directives(read(path))
        if kind in kinds
    }
    assert stated == registered


def test_the_ledger_lists_every_definition_in_the_order_of_the_book():
    from mhabook.definitions import DEFINITIONS

    stated = []
    for path in sorted(NUMBERED, key=in_order):
        chapter = path.relative_to(ROOT / "book").with_suffix("").as_posix()
        found = [each for each in directives(read(path)) if each[0] == "prf:definition"]
        stated += [
            (option(body, "label"), title, rules.MARK.search(body)[1], chapter)
            for _, title, body in found
        ]
    assert [(d.id, d.title, d.mark, d.chapter) for d in DEFINITIONS] == stated


def test_a_statement_has_one_title():
    from mhabook import ledger

    for statement in ledger:
        found = directives(read(ROOT / "book" / f"{statement.chapter}.ipynb"))
        titles = {
            option(body, "label"): title for kind, title, body in found if kind.startswith("prf:")
        }
        plain = titles[statement.id].replace(r"\sqrt ", "√").replace("$", "")
        assert plain == statement.title
