"""The ledger: every statement holds where its hypothesis does, fails where it is broken, and is
registered once."""

import pickle
import re
from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest

import mhabook
import mhalib as mha
import notebooks
from checks import assert_close
from mhabook.c01_model.instances import valley
from mhabook.c02_curvature import bounds
from mhabook.ledger import MARKS, Along, Check, Ledger, Statement, along, missing
from mhabook.mutants import Row
from own import LINE_DATA, Line
from scripts import ROOT
from strategies import SEEDS

TWINS = 20
EQUIVALENT = r"if and\s+only\s+if|exactly one|almost surely|almost every|strict"
statements = pytest.mark.parametrize("statement", list(mhabook.ledger), ids=lambda s: s.id)


def entry(id="a-number", mark="ours", **changes):
    """A statement that is easy to see through: lhs ≤ 1."""
    fields = {
        "id": id,
        "title": "A number is at most one",
        "source": "here",
        "mark": mark,
        "chapter": "none",
        "assumptions": "none",
        "function": lambda x: Check(x, 1.0, "x ≤ 1"),
        "random": lambda seed: {"x": 0.1 * seed},
    }
    return Statement(**fields | changes)


@statements
def test_statements_hold_on_random_instances(statement, request):
    assert request.node.nodeid.split("@")[0] == statement.test, "the ledger names another test"
    for seed in range(SEEDS):
        check = statement.on(statement.random(seed))
        assert check.holds, f"seed {seed}: {check}"


@statements
def test_statements_hold_on_extremal_instances(statement):
    for make in statement.extremal:
        check = statement.on(make())
        assert check.holds, check
    assert len(statement.slack) <= max(len(statement.extremal), 1)


# Every extremal instance of which a slack is recorded, and two at which another claim is the
# nearest.
recorded = [
    pytest.param(one, make, slack, id=f"{one.id}-{k}")
    for one in mhabook.ledger
    for k, (make, slack) in enumerate(zip(one.extremal, one.slack, strict=False))
    if slack is not None
]
recorded += [
    pytest.param(mhabook.ledger[id], make, slack, id=f"{id}-other")
    for id, make, slack in (
        ("lemma-logistic", lambda: {"z": np.array([-500.0, 30.0])}, 1e-9),
        ("cor-1-quasi-convexity", lambda: valley(0.5), 0.026),
    )
]


@pytest.mark.parametrize("statement, make, slack", recorded)
def test_bounds_leave_the_recorded_slack_and_nine_tenths_of_them_are_violated(
    statement, make, slack
):
    """Some lose more than a tenth by their proof: these are no looser than recorded either."""
    check = statement.on(make())
    assert check.holds and -1e-9 <= check.slack <= slack
    assert (check.slack > 0.1) == (slack > 0.1) == check._replace(rhs=0.9 * check.rhs).holds


def test_a_statement_without_a_recorded_instance_has_a_tolerance_on_its_right_side():
    """For two it is five standard errors of what they draw."""
    named = {case.values[0].id for case in recorded} | {
        "prop-mean-over-starts",
        "prop-least-squares",
    }
    for statement in mhabook.ledger:
        if statement.id not in named:
            sides = {next(statement.every_check([seed])).rhs for seed in range(6)}
            assert len(sides) == 1, statement.id


@statements
def test_instances_say_something(statement):
    """Random instances are no special cases: most leave slack, none has an empty right side."""
    found = [statement.function(**statement.random(seed)) for seed in range(20)]
    every = [(each,) if isinstance(each, Check) else each for each in found]
    assert all(check.rhs > 0 for checks in every for check in checks)
    left = {tuple(check.lhs for check in checks) for checks in every}
    assert len(left) > 1 or statement.id == "lemma-1-blocks"


def test_the_first_of_checks_that_are_as_good_is_named():
    """Which of several rounding errors is the largest depends on the processor."""
    errors = [Check(lhs, 1e-12, name) for lhs, name in ((1e-17, "a"), (5e-16, "b"), (0.0, "c"))]
    one = entry(function=lambda checks: tuple(checks))
    assert one.on({"checks": errors}).statement == "a"
    assert one.on({"checks": [*errors, Check(0.5, 1.0, "d")]}).statement == "d"
    assert one.on({"checks": [*errors, Check(2e-12, 1e-12, "e")]}).statement == "e"
    attained = [Check(1.0, 1.0, "f"), Check(1.0, 1.0 - 2e-16, "g"), Check(1.0, inf, "h")]
    assert one.on({"checks": attained[:2]}).statement == "f"
    assert one.on({"checks": attained}).statement == "h"


@statements
def test_twins_fail(statement):
    if statement.broken is None:
        assert not statement.breaks
        return
    for seed in range(TWINS):
        twin = statement.twin(seed)
        assert not twin.holds, f"seed {seed}: {twin}"
        assert twin.slack < 0, f"seed {seed}: {twin}"


@statements
def test_a_counterexample_violates_one_hypothesis_alone_and_the_statement_is_false_there(statement):
    instances = [make() for make in statement.counterexamples]
    assert [len(missing(statement, instance)) for instance in instances] == [1] * len(instances)
    found = statement.without()
    assert len(found) == len(instances), "two violate the same hypothesis"
    assert not [f"{name}: {check}" for name, check in found.items() if check.holds]


@statements
def test_what_is_refused_violates_one_hypothesis_alone_and_has_no_answer(statement):
    row = Row(statement, seeds=1) if statement.refused else None
    for make in statement.refused:
        assert len(missing(statement, make())) == 1
        with np.errstate(all="ignore"):
            assert row._answer(make()) is None


@statements
def test_instances_satisfy_every_hypothesis_and_twins_break_one(statement):
    """Or what a twin breaks is a part of the claim: another function."""
    assert statement.hypotheses is not None
    for instance in (
        *map(statement.random, range(TWINS)),
        *(make() for make in statement.extremal),
    ):
        assert all(statement.hypotheses(**instance).values()), statement.hypotheses(**instance)
    for seed in range(TWINS if statement.broken else 0):
        whole = all(statement.hypotheses(**statement.broken(seed)).values())
        assert whole == (statement.false_claim is not None), f"seed {seed}"


@statements
def test_instances_and_twins_are_different_ones(statement):
    """The ledger counts them: the same one twice would count for two."""
    for make in filter(None, (statement.random, statement.broken)):
        assert len({pickle.dumps(make(seed)) for seed in range(TWINS)}) == TWINS


def test_statements_are_registered_with_all_they_need():
    for statement in mhabook.ledger:
        assert statement.mark in MARKS
        assert mhabook.ledger[statement.id] is statement
        for text in (
            statement.id,
            statement.title,
            statement.source,
            statement.chapter,
            statement.assumptions,
        ):
            assert text.strip() == text != ""
        assert statement.function.__doc__
        assert (statement.broken is None) == (statement.breaks == "")
        assert statement.broken is None or set(statement.random(0)) <= set(statement.broken(0))
        assert statement.on(statement.random(3)) == statement.on(statement.random(3))


@pytest.mark.parametrize(
    "source, number",
    [
        ("this book, after Deora et al. 2023, Theorem 1", "Theorem 1 of Deora et al. 2023"),
        ("Deora et al. 2023, Proposition 1, not a quotation", "Proposition 1 of Deora et al. 2023"),
        ("this book, after Deora et al. 2023, Lemma 2", "Lemma 2 of Deora et al. 2023"),
        ("this book, after Goel et al. 2026", ""),
        ("identity: Chen et al. 2021; rank: this book", ""),
        ("this book", ""),
    ],
)
def test_the_number_in_the_paper_is_that_of_the_source(source, number):
    assert replace(entry(), source=source).number == number


@pytest.mark.parametrize(
    "lhs, rhs, slack, holds",
    [
        (1.0, 2.0, 0.5, True),
        (2.0, 2.0, 0.0, True),
        (0.0, 2.0, 1.0, True),
        (-2.0, 2.0, 2.0, True),
        (3.0, 2.0, -0.5, False),
        (0.0, 0.0, 0.0, True),
        (1.0, 0.0, -inf, False),
        (-1.0, 0.0, inf, True),
        (1 + 1e-10, 1.0, -1e-10, True),
        (1 + 1e-8, 1.0, -1e-8, False),
        (1e-30 * (1 + 1e-8), 1e-30, -1e-8, False),
        (-3.0, -2.0, 0.5, True),
        (-1.0, -2.0, -0.5, False),
        (1.0, -2.0, -1.5, False),
        (1.0, inf, 1.0, False),
        (-inf, 1.0, inf, False),
    ],
)
def test_slack_is_the_unused_share(lhs, rhs, slack, holds):
    check = Check(lhs, rhs, "lhs ≤ rhs")
    assert check.slack == pytest.approx(slack, rel=1e-6)
    assert check.holds is bool(check) is holds


@pytest.mark.parametrize(
    "lhs, rhs", [(1.0, inf), (inf, inf), (nan, 1.0), (1.0, nan), (-inf, 1.0), (0.0, -inf)]
)
def test_what_is_not_finite_does_not_hold(lhs, rhs):
    assert not Check(lhs, rhs, "lhs ≤ rhs").holds


@pytest.mark.parametrize(
    "lhs, rhs, words",
    [
        (1.0, 2.0, "a ≤ b holds: 1 ≤ 2"),
        (2.447e-16, 9.095e-13, "a ≤ b holds: 2.45e-16 ≤ 9.09e-13"),
        (3.89711, 3.89711, "a ≤ b holds: 3.89711 ≤ 3.89711"),
        (3.332, 0.4165, "a ≤ b fails: 3.33 > 0.416"),
        (1.0002, 1.0001, "a ≤ b fails: 1.0002 > 1.0001"),
        (1.0, inf, "a ≤ b fails: 1 against inf"),
    ],
)
def test_a_check_says_whether_it_holds_and_by_which_numbers(lhs, rhs, words):
    assert repr(Check(lhs, rhs, "a ≤ b")) == words


def test_a_check_of_a_long_statement_takes_two_lines():
    # whether its numbers are short or long: so rounding does not decide it
    for lhs in (1.0, 1.23456e-17):
        for n, between in ((51, " "), (52, "\n      ")):
            assert repr(Check(lhs, 2.0, "w" * n)) == f"{'w' * n}{between}holds: {lhs:.3g} ≤ 2"
    assert len(repr(Check(1.23456e-17, 1.23457e-17, "w" * 51))) == 84


def test_the_worst_instance_is_reported():
    statement = entry(extremal=(lambda: {"x": 0.7}, lambda: {"x": 0.4}))
    assert statement.check(3).lhs == 0.7
    assert statement.check(8).lhs == 0.8
    assert statement.check(12).holds is False
    assert statement.twin(0) is None
    assert replace(statement, broken=lambda seed: {"x": 2.0 + seed}).twin(1).lhs == 3.0


def test_a_ledger_keeps_its_order_and_its_ids_apart():
    ledger = Ledger()
    for id in ("b", "a"):
        ledger.register(entry(id))
    assert [statement.id for statement in ledger] == ["b", "a"]
    assert len(ledger) == 2
    with pytest.raises(ValueError, match="id: expected a new id, got 'a' again"):
        ledger.register(entry("a"))
    with pytest.raises(ValueError, match=r"mark: expected one of .*'recalled'.*, got 'guessed'"):
        ledger.register(entry("c", mark="guessed"))
    with pytest.raises(KeyError, match="no statement 'c'; the ledger has b, a"):
        _ = ledger["c"]


def test_rows_say_what_was_checked():
    ledger = Ledger()
    ledger.register(entry(extremal=(lambda: {"x": 0.75},)))
    ledger.register(
        entry(
            "broken",
            random=lambda seed: {"x": 2.0},
            broken=lambda seed: {"x": 2.0 - seed},
            breaks="all",
        )
    )
    plain, broken = ledger.rows(seeds=5)
    expected = {
        "id": "a-number",
        "title": "A number is at most one",
        "claim": "x ≤ 1",
        "source": "here",
        "number": "",
        "mark": "ours",
        "chapter": "none",
        "assumptions": "none",
        "instances": 6,
        "holds": True,
        "slack": 0.25,
        "breaks": "",
        "twins": 0,
        "without": [],
        "by_proof": "",
        "twins_fail": True,
        "test": "tests/chapters/test_ledger.py::test_statements_hold_on_random_instances[a-number]",
    }
    assert plain == expected
    assert broken == expected | {
        "id": "broken",
        "test": expected["test"].replace("a-number", "broken"),
        "instances": 5,
        "holds": False,
        "slack": -1.0,
        "breaks": "all",
        "twins": 5,
        "twins_fail": False,
    }
    assert ledger.rows(seeds=100)[1]["twins"] == 20


def test_a_row_names_every_claim_and_fails_where_one_does():
    ledger = Ledger()
    ledger.register(entry(function=lambda x: (Check(x, 1.0, "x ≤ 1"), Check(0.0, 1 + x, "x ≥ −1"))))
    ledger.register(
        entry("another", function=lambda x: (Check(x, 1.0, "x ≤ 1"), Check(x, 0.05, "x ≤ 0.05")))
    )
    assert [(row["claim"], row["holds"]) for row in ledger.rows(seeds=3)] == [
        ("x ≤ 1; x ≥ −1", True),
        ("x ≤ 1; x ≤ 0.05", False),
    ]


def test_along_checks_every_recorded_model():
    data = mha.data.tokenized_mixture(n=4, T=5, d=6, M=2, zeta=0.2)
    path = mha.train(
        mha.MultiHeadAttention.zeros(2, 5, 6),
        data,
        mha.GradientDescent(1.0),
        steps=6,
        record=[0, 2, 6],
    )
    result = along(path, data, bounds.gradient_bound)
    checks = [bounds.gradient_bound(model, data) for model in path]
    assert result.steps.tolist() == [0, 2, 6]
    assert_close(result.lhs, [check.lhs for check in checks], 0)
    assert_close(result.rhs, [check.rhs for check in checks], 0)
    assert_close(result.slack, [check.slack for check in checks], 1e-15)
    assert result.statement == checks[0].statement


@pytest.fixture
def short():
    """A run of five steps, and its data."""
    data = mha.data.tokenized_mixture(n=4, T=5, d=6, M=2, zeta=0.2)
    zero = mha.MultiHeadAttention.zeros(2, 5, 6)
    return mha.train(zero, data, mha.GradientDescent(1.0), steps=5), data


def test_a_statement_is_checked_along_a_run_by_its_name(short):
    path, data = short
    found = mhabook.ledger.along(path, data, "prop-1-hessian", R=3.0)
    both = [bounds.hessian_bounds(model, data, 3.0) for model in path]
    least = [min(pair, key=lambda check: check.slack) for pair in both]
    assert_close(found.slack, [check.slack for check in least], 1e-12)
    assert found.holds and found.worst.slack == min(found.slack)
    assert not Along(found.steps, found.rhs + 1, found.rhs, "one more").holds


@pytest.mark.parametrize(
    "id, more, error, words",
    [
        ("prop-1-hessian", {"R": 0.5}, ValueError, "prop-1-hessian needs: every token has norm at"),
        ("prop-first-step", {}, ValueError, "needs: all parameters are zero"),
        ("prop-1-hessian", {"radius": 1.0}, TypeError, "prop-1-hessian takes no radius"),
        ("lemma-tied-start", {}, TypeError, "is about layer, X, not about a model on data"),
        ("prop-2-hessian", {}, KeyError, "no statement 'prop-2-hessian'"),
    ],
)
def test_what_a_statement_does_not_cover_is_refused_along_a_run(short, id, more, error, words):
    with pytest.raises(error, match=words):
        mhabook.ledger.along(*short, id, **more)


def test_a_model_that_a_statement_does_not_know_is_named():
    path, data = mha.train(Line(np.zeros(3)), LINE_DATA, mha.GradientDescent(0.1), 2), LINE_DATA
    with pytest.raises(TypeError, match="prop-1-hessian is about MultiHeadAttention, got Line"):
        mhabook.ledger.along(path, data, "prop-1-hessian", R=1e3)


def test_a_statement_says_its_text_and_where_it_stands():
    for statement in mhabook.ledger:
        assert statement.text and statement.url.endswith(f".html#{statement.id}")
        page = statement.url[statement.url.index("book/") : statement.url.index(".html")]
        assert f":label: {statement.id}" in (ROOT / f"{page}.ipynb").read_text("utf-8")


def test_a_row_says_what_it_leaves_to_the_proof():
    """An equivalence is two claims: both are checked, or one of them is left to the proof."""
    silent = []
    for statement in mhabook.ledger:
        claims = {check.statement for check in statement.every_check([0])}
        both_ways = any("exactly" in claim for claim in claims)
        if re.search(EQUIVALENT, on_its_page(statement)) and not both_ways | bool(
            statement.by_proof
        ):
            silent.append(statement.id)
        assert "\n" not in statement.by_proof and not statement.by_proof.endswith(".")
    assert silent == []


def on_its_page(statement):
    """What the page says in the box of a statement."""
    page = notebooks.text(notebooks.read(notebooks.BOOK / f"{statement.chapter}.ipynb"))
    return page.split(f":label: {statement.id}\n")[1].split("\n````")[0]


def test_a_statement_has_its_proof_and_no_other():
    proofs = {statement.id: statement.proof for statement in mhabook.ledger}
    assert [id for id, proof in proofs.items() if not proof] == ["prop-1-recalled"]
    assert proofs["lemma-1-blocks"].startswith(
        "$\\Phi_h$ depends only on the parameters of head $h$"
    )
    assert "By lemma-1-blocks, it suffices" in proofs["prop-1-hessian"]
    assert "*Proof of the best constant.* If $m=0$" in proofs["lemma-deviation"]
    shared = [id for id, proof in proofs.items() if list(proofs.values()).count(proof) > 1]
    assert shared == ["cor-1-gradient", "cor-1-smoothness", "cor-1-weak-convexity"]
    assert not any(":class:" in proof or "{prf:" in proof for proof in proofs.values())
    elsewhere = replace(mhabook.ledger["lemma-1-blocks"], chapter="multihead/02")
    with pytest.raises(FileNotFoundError, match="lemma-1-blocks is proved at .*#lemma-1-blocks$"):
        _ = elsewhere.proof


def test_a_bound_that_is_not_finite_is_never_hidden():
    makes = (lambda: {"rhs": 1.0}, lambda: {"rhs": float("inf")}, lambda: {"rhs": float("nan")})
    for order in (makes, makes[::-1]):
        statement = Statement(
            id="x",
            title="",
            source="",
            mark="ours",
            chapter="",
            assumptions="",
            function=lambda rhs: Check(0.5, rhs, "x"),
            random=lambda seed: {"rhs": 1.0},
            extremal=order,
        )
        assert not statement.check(0).holds


def test_the_ledger_knows_its_ids():
    assert "prop-1-hessian" in mhabook.ledger
    assert "prop-7" not in mhabook.ledger
    assert "prop-1-hessian" in repr(mhabook.ledger)
