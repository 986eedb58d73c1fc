"""Mutants of a statement: which changes are made of its check, what becomes of each, and that the
stored table is of the rows as they stand."""

from dataclasses import replace

import numpy as np
import pytest

import mhabook
from mhabook import mutants
from mhabook.ledger import Check, Statement
from mhabook.mutants import Row
from mhabook.pages import ledger as page
from mhabook.true_mutants import TRUE, why_true

TABLE = mhabook.stored("mutants.npz")


def attained(x, n):
    return Check(float(abs(x).sum()), n**0.5 * float((x**2).sum() ** 0.5), "Σ|x| ≤ √n ‖x‖")


def loose(x, n):
    return Check(float(abs(x).sum()), 3.0 * n * float(abs(x).max()), "Σ|x| ≤ 3 n max|x|")


def equal(x, n):
    error = abs(x.sum() - n * x.mean())
    return Check(float(error / (n * abs(x).max())), 1e-12, "Σx = n · mean x")


def row(function, slack=None):
    """A row of vectors and their lengths; its twins are told that they are shorter."""

    def random(seed, less=0):
        n = 3 + seed % 3
        return {"x": np.random.default_rng(seed).standard_normal(n), "n": n - less}

    statement = Statement(
        id="a",
        title="",
        source="",
        mark="ours",
        chapter="",
        assumptions="",
        function=function,
        random=random,
        extremal=(lambda: {"x": np.ones(3), "n": 3},),
        slack=(slack,),
        broken=lambda seed: {"x": np.ones(4), "n": 1},
        breaks="n is the length",
        hypotheses=lambda x, n: {"n is the length": len(x) == n, "x is finite": True},
    )
    return Row(statement, seeds=5)


def outcomes(function, slack=None):
    made = row(function, slack)
    return {
        mutant.label.removeprefix(f"{function.__name__}: "): made.judge(mutant).outcome
        for mutant in mutants.mutants(made.statement)
    }


def test_a_bound_that_is_attained_has_every_change_of_it_refuted_or_told():
    found = outcomes(attained, 1e-9)
    assert found["n ** 0.5 * float((x ** 2).sum() ** 0.5) → float((x ** 2).sum() ** 0.5)"] == (
        "refuted"
    )
    assert found["(x ** 2).sum() → (x ** 2).max()"] == "refuted"
    assert found["x ** 2 → x"] == "refuted"
    # Claims that are true, too, and leave slack where the bound leaves none.
    assert found["n ** 0.5 → n"] == found["abs(x).sum() → abs(x).max()"] == "looser"


def test_what_a_loose_bound_leaves_open_gets_through_with_its_nearest_ratio():
    found = outcomes(loose)
    assert found["3.0 → 0.96 * 3.0"] == found["3.0 → 0.98 * 3.0"] == "through"
    assert found["abs(x).max() → abs(x).min()"] == "refuted"
    made = row(loose)
    shorter = next(one for one in mutants.mutants(made.statement) if "0.96" in one.label)
    assert made.judge(shorter).ratio == pytest.approx(1 / (3 * 0.96))


def test_in_an_equality_both_sides_are_pinned_and_the_measure_of_the_error_is_not():
    found = outcomes(equal)
    for change in ("n * x.mean() → x.mean()", "x.mean() → x.max()", "x.sum() → x.max()"):
        assert found[change] == "refuted", change
    assert found["x.sum() - n * x.mean() → x.sum() + n * x.mean()"] == "refuted"
    assert found["n * abs(x).max() → abs(x).max()"] == "idle"


def test_functions_of_another_file_of_the_chapter_are_changed_and_those_that_measure_are_not():
    def names(id):
        return {one.__name__ for one in mutants.own_functions(mhabook.ledger[id].function)}

    assert {"regret", "follow", "regret_link", "head_distance"} <= names("lemma-regret")
    assert not {"token_radius", "decoder_sizes"} & names("thm-1-fewer-heads")
    assert "hessian_constant" in names("cor-1-smoothness")
    assert "logit_hessian" not in names("cor-1-smoothness")


def test_a_function_is_as_it_was_after_each_mutant():
    before = attained.__code__
    outcomes(attained)
    assert attained.__code__ is before


def test_a_hypothesis_counts_if_a_twin_breaks_it_alone():
    assert row(loose).conditions() == {"n is the length": "twin", "x is finite": "unseen"}


def refusing(x, n):
    if n < 1:
        raise ValueError("n: expected 1 or more")
    return attained(x, n)


def test_what_is_refused_counts_as_refused_and_a_mutant_that_answers_there_is_caught():
    none = replace(
        row(refusing).statement,
        refused=(lambda: {"x": np.ones(0), "n": 0},),
        broken=None,
        hypotheses=lambda x, n: {"n ≥ 1": n >= 1},
    )
    made = Row(none, seeds=5)
    assert made.conditions() == {"n ≥ 1": "stops"}
    code = (lambda x, n: Check(1.0, 2.0 * n, "1 ≤ 2n")).__code__
    answers = mutants.Mutant("order", "it answers for n = 0", refusing, code, code)
    assert made.judge(answers).outcome == "refuted"


def test_below_a_negative_left_side_a_larger_bound_claims_less():
    before, larger, smaller = (Check(-1.0, rhs, "") for rhs in (2.0, 3.0, 1.5))
    assert mutants._change(larger, before) > 0 > mutants._change(smaller, before)


def test_a_mutant_that_is_true_is_set_apart_and_a_reason_that_an_instance_refutes_is_an_error(
    monkeypatch,
):
    label = "star: w * np.delete(sizes, weights.argmax()).sum() + 1e-14 * sizes.sum() → "
    found = {one["mutant"]: one["outcome"] for one in mutants.run(id="prop-star", seed=0)}
    true, refuted = (
        [one for one in found if found[one] == outcome] for outcome in ("true", "refuted")
    )
    assert true and all(one.startswith(label) for one in true)
    monkeypatch.setitem(TRUE, "prop-star", {"It is not.": (refuted[0],)})
    with pytest.raises(RuntimeError, match="is not true because 'It is not.'"):
        mutants.run(id="prop-star", seed=0)


def test_every_reason_is_that_of_a_mutant():
    for id, reasons in TRUE.items():
        labels = TABLE.where(id=id)["mutant"].tolist()
        used = {why_true(id, label) for label in labels} - {""}
        assert used == set(reasons), id
        assert {one for some in reasons.values() for one in some} <= set(labels), id


def test_the_stored_table_is_of_the_rows_as_they_stand():
    """A check that has changed needs ``python book/results/mutants.py --overwrite``."""
    stored = {}
    for id, label in zip(TABLE["id"].tolist(), TABLE["mutant"].tolist(), strict=True):
        stored.setdefault(id, []).append(label)
    assert list(stored) == [statement.id for statement in mhabook.ledger]
    for statement in mhabook.ledger:
        conditions = [f"without: {name}" for name in statement.hypotheses(**statement.random(0))]
        if statement.false_claim:
            conditions.append(f"without: {statement.breaks}")
        labels = [mutant.label for mutant in mutants.mutants(statement)]
        assert stored[statement.id] == labels + conditions, statement.id


def test_a_hypothesis_that_nothing_violates_alone_has_a_reason():
    alone = TABLE.where(kind="hypothesis", outcome="unseen")["id"]
    assert set(alone.tolist()) <= set(mutants.WHY)
    # No reason outlives the mutants that it explains.
    through = np.isin(TABLE["outcome"], mutants.THROUGH)
    assert set(mutants.WHY) <= set(TABLE["id"][through].tolist())


@pytest.mark.parametrize("id", ["prop-star", "lemma-logistic", "prop-1-gradient"])
def test_three_rows_of_the_table_come_out_again(id):
    found = [(row["mutant"], row["outcome"]) for row in mutants.run(id=id, seed=0)]
    stored = TABLE.where(id=id)
    assert found == list(zip(stored["mutant"].tolist(), stored["outcome"].tolist(), strict=True))


def test_the_page_counts_every_mutant_that_claims_more():
    every = page.count()
    assert every.planted == sum(page.count(id=one.id).planted for one in mhabook.ledger)
    assert every.caught == sum(page.count(kind=kind).caught for kind in mutants.KINDS)
    assert str(every) in page.power()
    listed = page.uncaught()
    assert listed.count("(no difference)") == int((TABLE["outcome"] == "unseen").sum())
    assert set(TABLE["outcome"].tolist()) <= set(mutants.OUTCOMES)
