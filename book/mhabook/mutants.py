"""How much a row of the ledger sees: mutants of a statement, and which of them its instances
refute.

A mutant is a statement in which one expression of the check is changed: a constant by 4 %, a mean
for a maximum, a factor lost. The check is the function of the statement with every function of its
own chapter that it calls. ``python book/results/mutants.py`` stores what becomes of each.
"""

import ast
import inspect
import signal
import textwrap
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf, isfinite, isnan, nan
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from mhabook.ledger import AMPLE, TINY, TOLERANCE, Check, Instance, Statement, ledger, missing
from mhabook.true_mutants import why_true

SEEDS = 5
"""Random instances of each row, and twins: the first of those that the ledger page shows."""
SECONDS = 20
"""A mutant that runs longer than this does not end."""
SMALLEST = 1e-5
"""Constants below this are tolerances, which say nothing of a statement."""


@dataclass(frozen=True)
class Mutant:
    """A change of one expression: its ``kind``, ``label`` says it in words, ``code`` is what the
    ``function`` does then, and ``half_more`` what it does where the expression is half as large
    again."""

    kind: str
    label: str
    function: FunctionType
    code: CodeType
    half_more: CodeType


MEASURED = {
    "_has_no_sampling_noise": "asks for a hypothesis",
    "_gap_error": "compares with the model's own gradients",
    "_integrals": "integrates over a grid",
    "_is_well": "asks for a hypothesis",
    "_kernel_means": "integrates over a grid",
    "_late_ratio": "iterates to a limit",
    "_mass": "integrates over a grid",
    "_moments_on_a_grid": "integrates over a grid",
    "_patterned": "asks for a hypothesis",
    "_require_tokens": "refuses an argument",
    "_rounding": "says what rounding may leave",
    "best_scale": "searches for a minimum",
    "first_within": "runs gradient descent",
    "fitted": "asks for a hypothesis",
    "has_every_even_sample": "asks for a hypothesis",
    "hvp": "is the model's second derivative",
    "is_covariance": "asks for a hypothesis",
    "layer_error": "integrates over a grid",
    "logit_hessian": "is the model's second derivative",
    "max_margin": "solves a convex problem",
    "nearest_in_hull": "solves a convex problem",
    "numerical_hessian": "takes differences",
    "tilted_quadrature": "integrates over a grid",
}
"""Functions that a check calls to measure or to search, and that state nothing → what they do."""

# What is changed

REDUCTIONS = {"mean": ("max", "min"), "max": ("mean", "min"), "min": ("mean", "max")}
REDUCTIONS |= {"sum": ("max",), "maximum": ("minimum",), "minimum": ("maximum",)}
BUILTIN = {"max": ("min",), "min": ("max",), "sum": ("max",)}
ORDERS: dict[type, type] = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
ROOM = {"TINY", "ROUNDING", "TOLERANCE", "ERRORS"}


def own_functions(function: Callable[..., Any]) -> list[FunctionType]:
    """The function, and all that it calls of its own chapter's package, one after the other; but
    not what is ``MEASURED``."""
    found = [function]
    for one in found:
        for name in sorted(_names(one)):
            other = one.__globals__.get(name)
            if _is_plain(other) and _package(other) == _package(function) and other not in found:
                found.append(other)
    return [one for one in found if _is_plain(one) and one.__name__ not in MEASURED]


def _names(function):
    """The global names that a function reads."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    read = {node.id for line in tree.body for node in ast.walk(line) if isinstance(node, ast.Name)}
    return read - set(function.__code__.co_varnames)


def _package(function):
    return function.__module__.rpartition(".")[0]


def _is_plain(function):
    return inspect.isfunction(function) and not function.__closure__


def mutants(statement: Statement) -> list[Mutant]:
    """Every mutant of a statement, in the order of its source."""
    return [mutant for one in own_functions(statement.function) for mutant in _mutants(one)]


def _mutants(function):
    source = textwrap.dedent(inspect.getsource(function))
    tree = ast.parse(source)
    definition = tree.body[0]
    definition.decorator_list = []
    definition.body = [line for line in definition.body if not _is_text(line)] or definition.body
    counts = {}
    for site in _places(definition):
        parent, field, _, node = site
        changes = _changes(node, parent, field, function.__globals__)
        before = ast.unparse(node)
        for after, (kind, other) in {ast.unparse(one[1]): one for one in changes}.items():
            label = f"{function.__name__}: {before} → {after}"
            # One expression may stand in a function twice.
            counts[label] = counts.get(label, 0) + 1
            label += f" ({counts[label]})" if counts[label] > 1 else ""
            yield Mutant(kind, label, function, *_codes(function, definition, site, other))


def _codes(function, definition, site, other):
    """What a function does with an expression changed, and with it half as large again."""
    *where, node = site
    for one in (other, ast.BinOp(ast.Constant(1.5), ast.Mult(), node)):
        with _replaced(*where, one):
            yield _compiled(definition, function)


def _is_text(line):
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)


PLUMBING = {"range", "linspace", "geomspace", "arange", "logspace", "zeros", "ones", "full", "eye"}
PLUMBING |= {"reshape", "default_rng", "leggauss", "hermegauss", "clip", "require", "isclose"}


def _places(node) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Every expression with its parent, and where it stands there; without indices, keyword
    arguments, defaults, annotations, and what only lays out a grid or an array."""
    for field, value in ast.iter_fields(node):
        if isinstance(node, ast.FunctionDef) and field != "body":
            continue
        if field in ("slice", "keywords", "annotation", "returns", "args") and not (
            field == "args" and isinstance(node, ast.Call) and _called(node) not in PLUMBING
        ):
            continue
        several = isinstance(value, list)
        for place, child in enumerate(value if several else [value]):
            if isinstance(child, ast.Raise | ast.JoinedStr) or not isinstance(child, ast.AST):
                continue
            if isinstance(child, ast.BinOp) and (_is_room(child.left) or _is_room(child.right)):
                continue
            yield node, field, place if several else None, child
            yield from _places(child)


def _is_room(node):
    """Whether it is what a check leaves for rounding."""
    number = _number(node)
    known = number is not None and 0 < abs(number) < SMALLEST
    return known or (isinstance(node, ast.Name) and node.id in ROOM)


def _called(call):
    function = getattr(call, "func", None)
    return getattr(function, "attr", getattr(function, "id", ""))


@contextmanager
def _replaced(parent, field, place, other):
    value = getattr(parent, field)
    old = value if place is None else value[place]

    def put(node):
        if place is None:
            setattr(parent, field, node)
        else:
            value[place] = node

    put(other)
    try:
        yield
    finally:
        put(old)


def _compiled(definition, function):
    module = ast.fix_missing_locations(ast.Module([definition], []))
    names = dict(function.__globals__)
    exec(compile(module, f"<mutant of {function.__name__}>", "exec"), names)
    return names[function.__name__].__code__


def _changes(node, parent, field, names):
    """Kind and new expression of every change of one expression."""
    exponent = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow) and field == "right"
    if not exponent:
        yield from _constants(node, parent, names)
    yield from _powers(node)
    yield from _reductions(node)
    yield from _factors(node)
    yield from _terms(node)
    if isinstance(node, ast.Compare) and type(node.ops[0]) in ORDERS:
        other = ORDERS[type(node.ops[0])]()
        yield "order", ast.Compare(node.left, [other, *node.ops[1:]], node.comparators)


def _constants(node, parent, names):
    """A number of arithmetic by 4 % and by 2 %, up and down."""
    number = _number(node)
    if isinstance(node, ast.Name) and node.id.isupper() and type(names.get(node.id)) is float:
        number = names[node.id]
    in_arithmetic = isinstance(parent, ast.BinOp | ast.UnaryOp | ast.Compare) or (
        isinstance(parent, ast.Call) and _called(parent) in ("Check", "maximum", "minimum", "max")
    )
    if (
        number is None
        or _is_room(node)
        or not in_arithmetic
        or not SMALLEST < abs(number) < 1 / SMALLEST
    ):
        return
    if _called(parent) == "Check" and abs(number) < 0.1:
        return  # an error that is allowed
    for share in (1.04, 0.96, 1.02, 0.98):
        kind = "constant" if abs(share - 1) > 0.03 else "constant, 2 %"
        yield kind, ast.BinOp(ast.Constant(share), ast.Mult(), node)


def _number(node):
    known = isinstance(node, ast.Constant) and type(node.value) in (int, float)
    return node.value if known else None


def _powers(node):
    """A root or a square becomes the thing itself, another power the one below."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        k = _number(node.right)
        if isinstance(k, int) and k > 2:
            yield "power", ast.BinOp(node.left, ast.Pow(), ast.Constant(k - 1))
        elif k is not None:
            yield "power", node.left
    if isinstance(node, ast.Call) and _called(node) == "sqrt" and len(node.args) == 1:
        yield "power", node.args[0]


def _reductions(node):
    """A mean, a maximum, a minimum for each other, and a maximum for a sum."""
    if not isinstance(node, ast.Call) or any(map(_is_room, node.args)):
        return
    known = BUILTIN if isinstance(node.func, ast.Name) else REDUCTIONS
    for other in known.get(_called(node), ()):
        if isinstance(node.func, ast.Name):
            name = ast.Name(other, ast.Load())
        else:
            name = ast.Attribute(node.func.value, other, ast.Load())
        yield "mean, sum, max", ast.Call(name, node.args, node.keywords)
    if _called(node) == "mean" and not isinstance(node.func, ast.Name):
        yield "root mean square", _root_mean_square(node)


def _root_mean_square(mean):
    """(x²).mean()^½ for x.mean()."""
    of_a_name = isinstance(mean.func.value, ast.Name) and mean.func.value.id == "np"
    x = mean.args[0] if of_a_name else mean.func.value
    square = ast.BinOp(x, ast.Pow(), ast.Constant(2))
    if of_a_name:
        call = ast.Call(mean.func, [square, *mean.args[1:]], mean.keywords)
    else:
        call = ast.Call(ast.Attribute(square, "mean", ast.Load()), mean.args, mean.keywords)
    return ast.BinOp(call, ast.Pow(), ast.Constant(0.5))


def _terms(node):
    """A term is lost, or its sign."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        minus = isinstance(node.op, ast.Sub)
        yield "term", node.left
        yield "term", ast.BinOp(node.left, ast.Add() if minus else ast.Sub(), node.right)


def _factors(node):
    """A factor is lost: a name, a size or a length, or a power of one."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div)):
        return
    if _is_size(node.right):
        yield "factor", node.left
    if _is_size(node.left):
        one = ast.Constant(1.0)
        yield (
            "factor",
            node.right if isinstance(node.op, ast.Mult) else ast.BinOp(one, ast.Div(), node.right),
        )


def _is_size(node):
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return _is_size(node.left)
    if isinstance(node, ast.Call):
        return _called(node) == "len" or (
            _called(node) == "sqrt" and len(node.args) == 1 and _is_size(node.args[0])
        )
    if isinstance(node, ast.Subscript):
        return _called(ast.Call(node.value, [], [])) in ("sizes", "shape")
    return isinstance(node, ast.Name)


# What a row does with them


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: ``outcome`` is one of OUTCOMES, ``ratio`` the largest lhs/rhs of the
    claims that it changes."""

    outcome: str
    ratio: float


KINDS = {
    "constant": "a constant, by 4 %",
    "power": "a root or a square for the thing itself, a power for the one below",
    "mean, sum, max": "mean, maximum, minimum for each other, maximum for sum",
    "factor": "a factor lost",
    "order": "< for ≤",
    "hypothesis": "a hypothesis that numbers can violate, left out",
    "constant, 2 %": "a constant, by 2 %",
    "term": "a term of a sum lost, or its sign",
    "root mean square": "root mean square for mean",
}
WHY = {
    "cor-1-smoothness": "The factor of B/√H could be ⅔ on all instances that we know.",
    "cor-1-quasi-convexity": "Where the length of a decoder shows, the other end may have a slightly "
    "longer one alone, or the segment is too long for the bound to be nearly attained.",
    "thm-exact-margin": "No weight of ours is 0 to the last bit.",
    "prop-zero-margin": "No weight of ours is 0 to the last bit.",
    "lemma-regret": "Whether it holds with the loss at the start subtracted we can neither refute "
    "nor prove.",
    "thm-1-training": "Whether it holds with the loss at the start subtracted we can neither refute "
    "nor prove.",
    "prop-start-logits": "The exponent and the 2 in log(2/δ) would show by 4 % only with "
    "thousands of heads.",
    "lemma-one-point": "The bound is attained for κD² → 0 alone, where the denominator of ι is 1.",
    "thm-1-fewer-heads": "The proof loses a large factor, so that how far a head of the reference "
    "may be is not pinned, nor the sign of the loss at the start.",
    "cor-2-mixture": "The proof needs K ≥ 5; on all instances that we know the bound holds with "
    "fewer steps, too. None uses more than two fifths of it, so that neither 5/3 nor the ½ of D₀ is "
    "pinned.",
    "thm-slow-attention": "The proof loses a factor of four or more, so its constants are not "
    "pinned.",
    "prop-equal-rows": "A change of Td + 2 by 0.04 is less than the standard errors. U = 0 has no "
    "cosine, and the check sets it to 0.",
    "lemma-expansion": "The bound is attained for κD² → 0 alone: only the ½ of ς is pinned, not "
    "that it grows, nor which end has the longer decoder.",
    "lemma-leave-one-out": "The exponential is nearly 1 on runs that are so near, so that what is "
    "in it is not seen; decoders hardly grow along them.",
    "thm-2-stability": "No instance that we know violates the bound with fewer heads, and ascent "
    "parts two runs less.",
    "thm-2-generalization": "No instance that we know uses a tenth of the bound, with fewer heads "
    "neither, and the proof leaves 6 % of it: that a term is lost, or a mean is a minimum, we can "
    "neither refute nor prove.",
    "lemma-log-lipschitz": "Beyond 700 a mutant sees less of a loss, and at short tokens G is the "
    "same at both ends.",
    "thm-2-left-out": "A longer step makes the exponential larger still, and no instance that we "
    "know violates the bound with fewer heads. Where it is nearly attained, there is one sample "
    "alone, so that no mean is pinned.",
    "cor-2-test-loss": "No instance that we know uses half of the bound, and none violates it with "
    "fewer steps or heads; the proof leaves an eighth of it. The largest loss for the mean would show "
    "with thousands of draws from three samples or more.",
    "prop-first-order": "At the end of a short step B is the same as at its start.",
    "prop-mean-error": "For ‖V‖ = 0.75 the check asks for a growth by ten, and it is by 25 or more. "
    "No V of ours has ‖V‖² = ½ to the last bit.",
    "lemma-query-rate": "Where the pieces meet they have the same slope: a change a little above "
    "⅓ moves the rate by less than is allowed.",
    "prop-flat-saddles": "For the 2 of 2s + s′ 1 would do on all instances that we know. Where the "
    "bound is so nearly attained that eight roundings matter, its slack is rounding.",
    "thm-local-rate": "The worst instances that a search found allow a rate 2.71 times as large, so "
    "that the regularizer may be another, too.",
    "prop-late-factor": "Where s_1 = s_2 a step has no derivative, but the check's central "
    "differences have the limit that is claimed; s_ℓ = 0 has no κ. The number of eigenvalues is "
    "whole.",
    "prop-least-squares": "A change of n − d − 1 by 0.04 is less than five standard errors.",
    "prop-fitted-noise": "No grid of ours reaches ‖V‖ = 1. For other singular vectors the check has "
    "the length of U along those of V in place of s_i/v_i.",
    "lemma-gradient-gap": "The bounds are attained in one coordinate as U → 0, so that the 2 of "
    "2‖U‖‖V‖ is not pinned, nor is a sum over coordinates.",
    "thm-finite-gradient": "The proof uses Markov's inequality five times, each time at an eighth "
    "of the chance, so that ε is thousands of times the gap, and its constants are not pinned. What "
    "holds for every data set is attained where no query is controlled, not where queries are. For "
    "r < 0.67 a slightly larger q does as well, and so does a slightly different k. The tokens of an "
    "instance fit into one block.",
    "thm-finite-descent": "All runs that we know contract faster than the rate, so that it is not "
    "pinned, nor the exact gradient; p ≥ d and the rank are needed for the contraction that the "
    "proof cites, and a larger ε is in the bound.",
    "prop-plan": "A law outside of the ranges of φ and ρ is no law, and is refused.",
    "thm-neighborhood": "The proof loses a factor of a thousand, so its constants are not pinned.",
    "thm-wells": "Its weights are Gaussian whatever kernel it is given.",
    "prop-almost-every-start": "The check asks for the rank of B alone, which more heads do not "
    "lower.",
    "thm-barrier": "No query of ours lies where the slope is 0 to the last bit.",
    "prop-loudness": "No kernel of ours has a negative weight.",
    "prop-best-of": "Of the bound 3.6 % stay unused at the largest M whose binomial coefficients "
    "are floats.",
}
"""Row → why no instance of ours refutes what gets through."""
LATER = ("constant, 2 %", "term", "root mean square")
"""Kinds that were written when the instances of all rows stood. Later instances answer some."""
UNANSWERED = (1428, 1711)
"""How many mutants of these kinds were caught, and planted in the own file of each row alone, before
any instance answered them."""
OUTCOMES = {
    "refuted": "an instance violates it",
    "twin": "it holds on a twin, which must fail",
    "slack": "it leaves more slack somewhere than is recorded",
    "through": "it claims more somewhere, and passes",
    "unseen": "no instance tells it from the statement",
    "idle": "nor would it, were the expression half as large again: it measures an error",
    "looser": "it claims less, and the slack or a twin tells",
    "less": "it claims less, and passes: it is true if the statement is",
    "stops": "it stops with an error, or does not end; or the check refuses what violates it",
    "true": "it is true if the statement is, by a proof",
}
CAUGHT = ("refuted", "twin", "slack")
THROUGH = ("through", "unseen")


class Row:
    """A statement with its instances and twins, made before anything is changed."""

    def __init__(self, statement: Statement, seeds: int = SEEDS) -> None:
        self.statement: Statement = statement
        self.extremal: list[Instance] = [make() for make in statement.extremal]
        self.random: list[Instance] = [statement.random(seed) for seed in range(seeds)]
        broken = statement.broken
        self.twins: list[Instance] = [] if broken is None else [*map(broken, range(seeds))]
        self.counterexamples: list[Instance] = [make() for make in statement.counterexamples]
        self.refused: list[Instance] = [make() for make in statement.refused]
        self.right: list[list[Check]] = [self._checks(one) for one in self.instances]

    @property
    def instances(self) -> list[Instance]:
        """Extremal ones first, which refute most."""
        return [*self.extremal, *self.random]

    def _checks(self, instance, function=None):
        found = (function or self.statement.function)(**instance)
        return [found] if isinstance(found, Check) else list(found)

    def _answer(self, instance):
        """The checks of an instance, or None where they stop with an error or give no number."""
        try:
            checks = self._checks(instance)
        except TimeoutError:
            raise
        except Exception:
            return None
        numbers = all(isfinite(lhs) and not isnan(rhs) for lhs, rhs, _ in checks)
        return checks if numbers else None

    def judge(self, mutant: Mutant) -> Verdict:
        """What becomes of a mutant on all instances."""
        verdict = self._with(mutant.function, mutant.code)
        is_idle = (
            verdict.outcome == "unseen"
            and mutant.kind != "order"
            and self._with(mutant.function, mutant.half_more).outcome == "unseen"
        )
        return Verdict("idle", nan) if is_idle else verdict

    def _with(self, function, code):
        with _changed(function, code):
            try:
                with _limited(SECONDS), warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    return self._judged()
            except Exception:
                return Verdict("stops", nan)

    def _judged(self):
        more, less, told, ratio = False, False, "", -inf
        for k, (instance, right) in enumerate(zip(self.instances, self.right, strict=True)):
            checks = self._checks(instance)
            for check, before in zip(checks, right, strict=True):
                if not check.holds:
                    return Verdict("refuted", 1 - check.slack)
                change = _change(check, before)
                more, less = more or change < 0, less or change > 0
                if change:
                    ratio = max(ratio, 1 - check.slack)
            if min(check.slack for check in checks) > self._recorded(k):
                told = "slack"
        claim = self.statement.false_claim or self.statement.function
        twins = [(twin, claim) for twin in self.twins] + [
            (one, None) for one in self.counterexamples
        ]
        if any(all(check.holds for check in self._checks(*twin)) for twin in twins):
            told = "twin"
        # A mutant may answer where the statement does not: what it says there is checked.
        for checks in filter(None, map(self._answer, self.refused)):
            if not all(check.holds for check in checks):
                return Verdict("refuted", max(1 - check.slack for check in checks))
            told = "twin"
        if more or not (less or told):
            outcome = told or ("through" if more else "unseen")
        else:
            outcome = "looser" if told else "less"
        return Verdict(outcome, ratio if ratio > -inf else nan)

    def _recorded(self, k):
        """The slack that the instance k leaves at most, as far as it is recorded."""
        slacks = self.statement.slack[: len(self.extremal)]
        return inf if k >= len(slacks) or slacks[k] is None else slacks[k]

    def conditions(self) -> dict[str, str]:
        """Each hypothesis that numbers can violate → what becomes of the statement without it:
        a twin violates it alone, or the check refuses an instance that does, or neither."""
        hypotheses = self.statement.hypotheses
        if hypotheses is None:
            return {}
        seen = dict.fromkeys(hypotheses(**self.random[0]), "unseen")
        with np.errstate(all="ignore"):
            stopped = [one for one in self.refused if self._answer(one) is None]
        for outcome, instances in (
            ("stops", stopped),
            ("twin", [*self.twins, *self.counterexamples]),
        ):
            for one in instances:
                wrong = missing(self.statement, one)
                seen |= {name: outcome for name in wrong if len(wrong) == 1}
        # What a false claim drops is a part of the claim, and no condition of an instance.
        part = {self.statement.breaks: "twin"} if self.statement.false_claim else {}
        return seen | part


def _change(check, before):
    """How much slack a claim has gained, or lost: below 0 it claims more."""
    # How much of an allowed error is used says nothing of what should be equal.
    if abs(before.rhs) <= TOLERANCE and before.slack > AMPLE:
        return 0.0
    change = check.slack - before.slack
    # Below a left side < 0 the slack is above 1, and falls as the right side grows.
    if check.lhs == before.lhs <= 0 and isfinite(check.rhs):
        change = (check.rhs - before.rhs) / max(abs(before.rhs), TINY)
    return change if abs(change) > 1e-9 * max(1.0, abs(before.slack)) else 0.0


@contextmanager
def _changed(function, code):
    kept, function.__code__ = function.__code__, code
    try:
        yield
    finally:
        function.__code__ = kept


@contextmanager
def _limited(seconds):
    def stop(*_):
        raise TimeoutError

    kept = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, kept)


def run(*, id: str, seed: int) -> list[dict[str, Any]]:
    """Every mutant of one row of the ledger, and what became of it.

    Raises RuntimeError for one that is true by ``mhabook.true_mutants`` and that an instance
    refutes.
    """
    row, found = Row(ledger[id]), []
    judged = [(one.kind, one.label, row.judge(one)) for one in mutants(row.statement)]
    judged += [
        ("hypothesis", f"without: {name}", Verdict(outcome, nan))
        for name, outcome in row.conditions().items()
    ]
    for kind, label, verdict in judged:
        if why_true(id, label):
            if verdict.outcome == "refuted" or (kind, verdict.outcome) == ("hypothesis", "twin"):
                raise RuntimeError(
                    f"{id}: an instance refutes {label!r}, so that it is not true because "
                    f"{why_true(id, label)!r}: mend true_mutants.py"
                )
            if verdict.outcome in CAUGHT + THROUGH:
                verdict = Verdict("true", nan)
        found.append({"kind": kind, "mutant": label} | verdict.__dict__)
    return found
