"""What the page ledger says of all statements, held against what its cells compute and count."""

import mhabook
from mhabook.c02_curvature import bounds
from mhabook.ledger import Check, Ledger, Statement
from mhabook.pages.ledger import checked, count, outcome, summary
from page import Page
from strategies import SEEDS

page = Page("ledger")


def wrong(row):
    """A row as it would be if a random instance violated the statement, and a twin held."""
    return row | {"holds": False, "slack": -0.25, "twins_fail": False}


@page.after("check-all")
def test_every_statement_holds_on_every_instance(rows):
    assert [row["id"] for row in rows if not row["holds"]] == []


@page.after("check-all")
def test_every_twin_fails(rows):
    assert [row["id"] for row in rows if not row["twins_fail"]] == []


@page.after("check-all")
def test_every_statement_has_its_row(rows):
    assert [row["id"] for row in rows] == [statement.id for statement in mhabook.ledger]


@page.after("summary")
def test_instances_and_twins_are_counted_as_they_are_run(rows):
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
    row = ledger.rows(seeds=20)[0]
    assert len(set(called)) == row["instances"] + row["twins"] == 22 + 20
    for row, statement in zip(rows, mhabook.ledger, strict=True):
        assert row["instances"] == 20 + len(statement.extremal)
        assert row["twins"] == (20 if statement.broken else 0)
    instances = 20 * len(mhabook.ledger) + sum(
        len(statement.extremal) for statement in mhabook.ledger
    )
    twins = 20 * sum(statement.broken is not None for statement in mhabook.ledger)
    assert f" checked on {instances} instances. " in summary(rows)
    assert f" twins were checked on {twins} instances " in summary(rows)


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


@page.after("power")
def test_most_mutants_are_caught_and_the_row_says_how_many(rows):
    every, loose = count(), count(id="thm-finite-gradient")
    assert 0.75 < every.caught / every.planted < 1
    # Its bounds are thousands of times what they bound, so that a changed constant is not seen.
    rest = every.planted - loose.planted
    assert (every.caught - loose.caught) / rest > 0.8
    for row in rows:
        assert checked(row)[-1] == str(count(id=row["id"]))


@page.after("table")
def test_the_suite_repeats_the_checks_on_200_random_instances():
    assert SEEDS == 200


@page.after("own-check")
def test_the_statement_that_is_asked_for_holds_and_its_twin_does_not(data, model):
    statement = mhabook.ledger["prop-1-hessian"]
    assert statement.check(seed=0).holds
    assert not statement.twin(seed=0).holds
    assert bounds.hessian_bound(model, data).holds
