"""What the page ledger says of all statements, held against what its cells compute and count."""

from fractions import Fraction

import numpy as np
import pytest

import mhabook
from mhabook import mutants
from mhabook.c02_curvature import bounds
from mhabook.certificates import registry
from mhabook.ledger import Check, Ledger, Statement, number_in_paper
from mhabook.pages.ledger import checked, count, outcome, summary
from page import Page
from strategies import SEEDS

page = Page("ledger")
UNQUOTED = {
    "how to read the page": (
        "columns: It treats",
        "columns: A second click",
        "columns: | [recalled]",
        "columns: Most statements",
        "columns: Some instances",
        "columns: At slack 0,",
        "columns: Some statements",
        "columns: For these statements",
        "mutants: A mutant is set aside",
        "uncaught-heading: At 1",
        "what-needs-what: If",
    ),
}


def wrong(row):
    """A row as it would be if a random instance violated the statement, and a twin held."""
    return row | {"holds": False, "slack": -0.25, "twins_fail": False}


@page.after("check-all")
def test_every_statement_holds_on_every_instance(rows):
    assert [row["id"] for row in rows if not row["holds"]] == []


@page.after("check-all")
def test_every_twin_fails(rows):
    assert [row["id"] for row in rows if not row["twins_fail"]] == []


@page.after(
    "check-all",
    says=(
        "Some rows name a statement of a paper that equals or corresponds to the statement of "
        "the row, but most rows name none"
    ),
)
def test_every_statement_has_its_row(rows):
    named = [bool(number_in_paper(statement.source)) for statement in mhabook.ledger]
    assert 0 < sum(named) < len(named) / 2
    assert [row["id"] for row in rows] == [statement.id for statement in mhabook.ledger]


@page.after("table", says=("The first 20 of these are the instances of this page"))
def test_instances_and_twins_are_counted_as_they_are_run(rows, said):
    seeds = int(said[0])
    called = []
    ledger = Ledger()
    ledger.register(
        Statement(
            id="a-number",
            title="",
            source="",
            mark="ours",
            chapter="",
            assumptions="",
            breaks="all",
            function=lambda x: called.append(x) or Check(x, 1.0, "x ≤ 1"),
            random=lambda seed: {"x": seed / 40},
            extremal=(lambda: {"x": 1.0}, lambda: {"x": 0.9}),
            broken=lambda seed: {"x": 2.0 + seed},
        )
    )
    row = ledger.rows(seeds=seeds)[0]
    assert len(set(called)) == row["instances"] + row["twins"] == seeds + 2 + seeds
    for row, statement in zip(rows, mhabook.ledger, strict=True):
        assert row["instances"] == seeds + len(statement.extremal)
        assert row["twins"] == (seeds if statement.broken else 0)
    instances = seeds * len(mhabook.ledger) + sum(
        len(statement.extremal) for statement in mhabook.ledger
    )
    twins = seeds * sum(statement.broken is not None for statement in mhabook.ledger)
    assert f" checked on {instances} instances, " in summary(rows)
    assert f" on {twins} with a broken hypothesis. " in summary(rows)


@page.after("summary")
def test_the_summary_says_that_all_hold_and_else_names_what_does_not(rows):
    assert outcome(rows) == "All statements hold, and all twins fail, as they must."
    for bad in ({"holds": False}, {"twins_fail": False}):
        said = outcome([*rows[:3], rows[3] | bad, *rows[4:]])
        assert f"{{prf:ref}}`{rows[3]['id']}`" in said
        assert rows[2]["id"] not in said
        assert "All statements hold" not in said


@page.after("table")
def test_a_row_that_fails_says_so(rows):
    row = next(row for row in rows if row["twins"])
    *_, slack, twin, _ = checked(row)
    assert "violated" not in slack
    assert twin.endswith("all 20 fail")
    *_, slack, twin, _ = checked(wrong(row))
    assert slack == "**violated:** -0.25"
    assert twin.endswith("**not all 20 fail**")


@page.after("table")
def test_a_row_with_a_certificate_says_so_beside_its_mark(rows):
    kept = mhabook.stored("certificates.npz")["id"].tolist()
    assert f" {len(kept)} statements have a certificate. " in summary(rows)
    for row in rows:
        _, text, mark, *_ = checked(row)
        assert mark == row["mark"] + " · certificate" * (row["id"] in kept)
        assert ("<summary>Certificate</summary>" in text) == (row["id"] in kept)


@page.after(
    "power",
    says=(
        "it moves a constant by 4 percent, exchanges a mean and a maximum, drops a factor, or "
        "leaves out a hypothesis",
        "or on one of five random ones, if it holds on a twin, or if it leaves more slack than "
        "is recorded for an extremal instance",
        "The mutants in the last three rows of the table were written when most instances stood",
    ),
)
def test_most_mutants_are_caught_and_the_row_says_how_many(rows, said):
    percent, seeds, last = said
    assert (mutants.SEEDS, len(mutants.LATER)) == (seeds, last)
    moved = mhabook.stored("mutants.npz")
    assert any(
        f"{1 + percent / 100:g}" in one for one in moved["mutant"][moved["kind"] == "constant"]
    )
    every, loose = count(), count(id="thm-finite-gradient")
    assert 0.9 < every.caught / every.planted < 1
    # Its bounds are thousands of times what they bound, so that a changed constant is not seen.
    rest = every.planted - loose.planted
    assert (every.caught - loose.caught) / rest > 0.93
    for row in rows:
        assert checked(row)[-1] == str(count(id=row["id"]))


@page.after(
    "table",
    says=(
        "its source and the test that repeats the check in the test suite on 200 random instances",
        "Two more items are folded below the statement",
    ),
)
def test_the_suite_repeats_the_checks_on_200_random_instances(said):
    seeds, items = said
    assert items == 2
    assert seeds == SEEDS


@page.after(
    "own-check", says=("The twin violates the hypothesis that every token has norm at most $R$")
)
def test_the_statement_that_is_asked_for_holds_and_its_twin_does_not(data, model):
    statement = mhabook.ledger["prop-1-hessian"]
    assert statement.check(seed=0).holds
    assert not statement.twin(seed=0).holds
    assert bounds.hessian_bound(model, data).holds


@page.after("table", says="At slack 0.9, the left side is at most a tenth of the right")
def test_the_slack_is_the_unused_share_of_the_bound(said):
    slack, tenth = said
    assert Check(tenth, 1.0, "").slack == pytest.approx(slack)


@page.after("table", says="Differences of one part in a billion count as rounding")
def test_a_billionth_is_rounding():
    assert Check(1 + 0.9e-9, 1.0, "").holds and not Check(1 + 1.1e-9, 1.0, "").holds


@page.after(
    "table",
    says="It also tries every certificate with a constant that is 1 percent better, which must fail",
)
def test_a_better_constant_is_one_percent_away(said):
    (percent,) = said
    assert [
        1 - Fraction(int(percent), 100),
        1 + Fraction(int(percent), 100),
    ] == [registry.LESS, registry.MORE]


@page.after(
    "table",
    says="It covers only the instances that it was given, in computer arithmetic with sixteen digits",
)
def test_numbers_have_sixteen_digits(said):
    assert said == [np.ceil(-np.log10(np.finfo(float).eps))]
