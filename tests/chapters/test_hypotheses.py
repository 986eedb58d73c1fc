"""One list of hypotheses: what a statement and its proof say, what its row lists, and what its
check asks for."""

import re
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import mhabook
import notebooks
from mhabook.c01_model.instances import confident
from mhabook.c03_first_step import ntk
from mhabook.c05_heads.collapse import RULES
from mhabook.c05_heads.late_steps import NO_NOISE
from mhabook.c10_structure.stationary import flat_saddles
from mhabook.c11_data_and_compute.scaling import Law
from mhabook.c15_landscapes.statements import missed_saddle
from mhalib.attention import gaussian
from mhalib.data import from_arrays
from mhalib.data.sequences import SequenceDataset
from mhalib.models import AttentionRegression, MultiHeadAttention
from plain import says, spelled

# What the arguments of a check cannot violate: it builds them so, or takes no argument for it.
BUILT = {
    "prop-flat-saddles": ["N = diag(s, s′)", "U = e₂uᵀ", "V = e₂vᵀ", "uᵀv = s′"],
    "prop-plan": [],
    "prop-blind": ["x̃_i = Cx_i", "the same targets", "whitened steps"],
    "prop-blind-variants": ["x̃_i = Cx_i", "the same targets", "the steps of SA1 or SA2"],
    "prop-late-factor": ["infinitely many samples"],
    "lemma-symmetrization": [],
    "cor-2-test-loss": [
        "every token has norm at most R",
        "|Φ(X;θ₀)| ≤ B_Φ",
        "‖θ*‖ = 1",
        "D₀ = (B_Φ + ½ + log K)/γ",
    ],
    "prop-rising": ["d = m = 1"],
    "prop-missed-saddle": ["two directions with independent standard normal entries"],
}
# What a proof has no need to say again: the letters of the statement.
LETTERS = {
    "prop-flat-saddles": ["N = diag(s, s′)", "U = e₂uᵀ", "V = e₂vᵀ"],
    "prop-blind": ["x̃_i = Cx_i", "the same targets"],
    "prop-blind-variants": ["x̃_i = Cx_i", "the same targets", "the steps of SA1 or SA2"],
    "prop-rising": ["d = m = 1"],
}


def law(**changes):
    """The law of ``prop-plan``'s first instance, with numbers that a ``Law`` refuses."""
    plain = mhabook.ledger["prop-plan"].random(0)["law"]
    return {"law": SimpleNamespace(**vars(plain) | changes)}


def flipped():
    """Tokens of the other label in the place of the first sample's: the direction does not separate
    them."""
    data = mhabook.ledger["cor-2-test-loss"].random(0)["data"]
    return {
        "data": SimpleNamespace(X=data.X, y=data.y * np.where(np.arange(len(data)) == 0, -1, 1))
    }


def depending(id):
    """A start for a training set, as one that depends on its samples."""
    return {"start": {(0,): mhabook.ledger[id].random(0)["start"]}}


def several_tokens(T, R, size=1.0):
    """Tokens in ℝ² of length around R, and two heads of a size."""
    rng = np.random.default_rng(0)
    data = from_arrays(R * rng.standard_normal((3, T, 2)), np.array([1.0, -1.0, 1.0]))
    return {"model": size * MultiHeadAttention.random(2, T, 2), "data": data}


# What violates a condition, alone, where the row's first instance is changed so.
VIOLATED = [
    ("prop-flat-saddles", "s > 0", {"s_left": -0.1}),
    ("prop-flat-saddles", "s > 0", {"s_left": 0.0}),
    ("prop-flat-saddles", "g > 0", {"s_kept": 0.0, "size": 0.0}),
    ("prop-flat-saddles", "0 ≤ s′ ≤ g²", {"s_kept": -0.1}),
    ("prop-flat-saddles", "0 ≤ s′ ≤ g²", {"s_kept": 1.1, "size": 1.0}),
    ("prop-flat-saddles", "‖u‖ = ‖v‖ = g", {"s_kept": 1.0, "size": 2.0, "length": 1.0}),
    ("prop-plan", "a run costs Kn^q", {"power": 1.0, "assumed": 2.0}),
    ("prop-plan", "q > 0", {"power": 0.0}),
    ("prop-plan", "q > 0", {"power": -1.0}),
    ("prop-plan", "a > 0; 0 < ε < a", law(amplitude=-1.0)),
    ("prop-plan", "φ > 0", law(floor=0.0)),
    ("prop-plan", "0 < ρ < 1", law(factor=1.0)),
    ("prop-plan", "0 < ρ < 1", law(factor=0.0)),
    ("prop-plan", "0 < ε < a", {"target": 1e9}),
    ("prop-plan", "0 < ε < a", {"target": 0.0}),
    ("prop-plan", "all real n, K > 0 with aρ^K + φ/n = ε", {"share": 1.0}),
    ("prop-plan", "all real n, K > 0 with aρ^K + φ/n = ε", {"share": 0.0}),
    ("prop-blind", "Σ̂ and C are invertible", {"mix": np.ones((2, 2))}),
    ("prop-blind", "Σ̂ and C are invertible", {"x": np.ones((7, 2))}),
    ("prop-blind-variants", "Σ̂ and C are invertible", {"mix": np.ones((2, 2))}),
    ("prop-blind-variants", "Σ̂ and C are invertible", {"x": np.ones((7, 2))}),
    ("prop-blind-variants", "U ≠ 0", {"A": np.zeros((2, 2))}),
    ("prop-blind-variants", "V ≠ 0", {"B": np.zeros((2, 2))}),
    ("prop-late-factor", "s_1 > s_2 ≥ … ≥ s_ℓ > 0", {"target": np.eye(2)}),
    (
        "prop-late-factor",
        "s_1 > s_2 ≥ … ≥ s_ℓ > 0; 0 < η ≤ κ/(1 + κ)",
        {"target": np.diag([1.0, 0.0])},
    ),
    ("prop-late-factor", "λ = 1", {"balance": 0.5}),
    ("prop-late-factor", "at every point of the optimum manifold", {"away": 0.1}),
    ("prop-late-factor", "0 < η ≤ κ/(1 + κ)", {"lr": 0.0}),
    ("prop-late-factor", "0 < η ≤ κ/(1 + κ)", {"lr": 1.0}),
    (
        "lemma-symmetrization",
        "the samples are independent and identically distributed",
        {"repeats": False},
    ),
    (
        "lemma-symmetrization",
        "θ₀, η, and K do not depend on them",
        depending("lemma-symmetrization"),
    ),
    ("cor-2-test-loss", "the samples are independent and identically distributed", {"copies": 2}),
    ("cor-2-test-loss", "θ₀, η, and K do not depend on them", depending("cor-2-test-loss")),
    ("cor-2-test-loss", "y⟨∇Φ(X;θ₀),θ*⟩ ≥ γ > 0", flipped()),  # without a γ there is no D₀
    ("cor-2-test-loss", "K ≥ 5", {"steps": 4}),
    ("cor-2-test-loss", "√H ≥ (64/7) D₀² B", {"steps": 10**9, "lr": 1e-9}),
    ("cor-2-test-loss", "0 < η ≤ 1/ρ", {"lr": 0.0}),
    ("cor-2-test-loss", "0 < η ≤ 1/ρ", {"lr": 1e9}),
    ("prop-rising", "softmax", {"kernel": gaussian}),
    (
        "prop-rising",
        "n ≥ 2; y lies strictly between the smallest and the largest value",
        {"keys": [1.0], "values": [1.0]},
    ),
    (
        "prop-rising",
        "the keys are distinct",
        {"keys": [0.0, 1, 1], "values": [0.0, 1, 3], "y": 2.5},
    ),
    (
        "prop-rising",
        "(u_j − u_i)/(k_j − k_i) ≥ χ > 0",
        {"keys": [0.0, 1, 2], "values": [0.0, 2, 1], "y": 1.5},
    ),
    (
        "prop-rising",
        "(u_j − u_i)/(k_j − k_i) ≥ χ > 0",
        {"keys": [0.0, 1, 2], "values": [0.0, 1, 1], "y": 0.5},
    ),
    (
        "prop-rising",
        "y lies strictly between the smallest and the largest value",
        {"keys": [0.0, 1], "values": [0.0, 1], "y": 1.0},
    ),
    ("prop-missed-saddle", "p ≥ 3", {"values": [-1.0, 2], "down": 1.0, "up": 2.0}),
    ("prop-missed-saddle", "−β ≤ μ_1 < 0", {"values": [-1.1, 2, 2], "down": 1.0, "up": 2.0}),
    ("prop-missed-saddle", "−β ≤ μ_1 < 0", {"values": [0.0, 2, 2], "down": 1.0, "up": 2.0}),
    (
        "prop-missed-saddle",
        "all others are at least γ > 0",
        {"values": [-1.0, 2, 1.9], "down": 1.0, "up": 2.0},
    ),
    (
        "prop-missed-saddle",
        "all others are at least γ > 0",
        {"values": [-1.0, 2, 2], "down": 1.0, "up": 0.0},
    ),
]
# Data whose patterns are not known violate what a row asks of patterns.
MIXTURES = {
    "prop-ntk-margins": ntk.PATTERNS,
    "thm-exact-margin": f"{ntk.PATTERNS}; ψ = ψ₀, no sampling noise",
    "prop-zero-margin": f"{ntk.ORTHOGONAL}; {ntk.PAIR}",
    "prop-saturated": ntk.PATTERNS,
    "prop-pull": f"{NO_NOISE}; relevant tokens are μ_y",
}
VIOLATED += [
    (id, conditions, {"data": several_tokens(4, 1.0)["data"]})
    for id, conditions in MIXTURES.items()
]
# Inequalities of a text that are no hypotheses: over which indices its formulas go, and its cases.
CASES = {"prop-late-factor": {"i,j≤ℓ", "i≤j≤ℓ", "i≤ℓ", "p≠d"}}
# The statements whose text has every condition of their row in the row's own characters. The others
# say some condition in other words, or leave it to the opening of their section.
STATED = """lemma-margin-distance lemma-symmetrization cor-2-test-loss prop-mean-error prop-optimum-spectrum
    prop-conserved
    prop-balance-decays prop-saddles prop-flat-saddles lemma-lift thm-local-rate prop-blind
    prop-blind-variants prop-scale-free
    prop-late-factor prop-mean-over-starts prop-least-squares thm-finite-gradient prop-plan lemma-same-rank
    prop-normalized-gaussian
    prop-query-force prop-jacobian-rank prop-flat prop-width prop-inside-hull prop-larger-is-better
    thm-neighborhood prop-star thm-waiting thm-wells prop-rising thm-barrier prop-mean-curvature
    prop-interlacing prop-missed-saddle prop-gaussian-plateau prop-loudness"""
listed = pytest.mark.parametrize("id", BUILT)


def edge(id, **changes):
    """The row's first instance with changes that its hypotheses still allow."""
    return pytest.param(id, changes, id=f"{id}-{'-'.join(changes)}")


def fitted():
    """Targets that the start of ``prop-blind`` meets: every loss before the first step is
    rounding."""
    instance = mhabook.ledger["prop-blind"].random(0)
    return AttentionRegression(instance["A"], instance["B"])(instance["x"])


def zero_tokens():
    data = mhabook.ledger["prop-values-allow"].random(0)["data"]
    return SequenceDataset(np.zeros_like(data.X), data.y)


I2, Z2 = np.eye(2), np.zeros((2, 2))
# Rows whose errors are relative to the decoders or to the tokens.
FROM_ZERO = ["prop-first-step", "prop-equal-heads", "lemma-uniform-features"]
EDGES = [
    edge("prop-population-loss", sigma=0.0),
    edge("prop-population-loss", A=I2, B=I2, M=I2, Sigma=I2, sigma=0.0),
    edge("prop-population-loss", A=Z2, M=Z2, sigma=0.0),
    *(edge("prop-mean-error", U=I2, V=v * I2) for v in (0.0, 0.66, 0.7, 0.705, 0.7071)),
    edge("prop-mean-error", U=I2, V=np.array([[0.5, 0.5], [0.0, 0.0]]) * 0.999),
    edge("lemma-exact-error", n=1),
    edge("prop-factorization", A=I2, B=I2, M=I2, Sigma=I2),
    edge("prop-factorization", A=Z2, B=I2, M=Z2, Sigma=I2),
    edge("prop-conserved", U=I2, V=I2, N=I2),
    edge("prop-conserved", U=Z2, V=Z2, N=I2),
    edge("prop-balance-decays", U=I2, V=I2, N=I2),
    edge("prop-balance-decays", U=I2, V=I2, N=np.ones((2, 2))),
    edge("prop-balance-decays", U=Z2, V=Z2, N=Z2),
    *(edge("prop-fitted-noise", U=I2, V=v * np.diag([1.0, 0.0])) for v in (0.0, 0.5)),
    edge("prop-fitted-noise", U=I2, V=0.7 * I2),
    edge("prop-values-allow", data=zero_tokens()),
    edge("prop-mean-curvature", H=Z2),
    edge("prop-interlacing", H=np.zeros((3, 3)), frame=np.eye(3, 2)),
    edge("prop-flat-saddles", s_kept=0.0),
    edge("prop-flat-saddles", s_kept=1.0, size=1.0),
    edge("prop-flat-saddles", s_left=1e-9),
    edge("prop-flat-saddles", s_left=1e3, s_kept=1e-9, size=1e-4),
    edge("prop-plan", power=1e-12),
    edge("prop-plan", power=1e4),
    edge("prop-plan", share=1e-12),
    edge("prop-plan", law=Law(1.0, 1e-9, 1e9), target=1 - 1e-12),
    edge("prop-plan", law=Law(1.0, 1 - 1e-9, 1e-9), target=1e-9),
    edge("prop-blind", y=fitted()),
    edge("prop-blind", y=np.zeros((7, 2))),
    edge("prop-blind", mix=np.diag([1e-2, 1e2])),
    edge("prop-blind-variants", mix=np.diag([1e-2, 1e2])),
    edge("prop-blind-variants", y=fitted()),
    edge("prop-blind-variants", y=np.zeros((7, 2))),
    edge("prop-late-factor", target=np.ones((1, 1)), turn=np.eye(1), lr=0.5),
    edge("prop-late-factor", target=np.diag([2.0, 1.0, 1.0]), turn=np.eye(3), lr=2 / 3),
    edge("prop-late-factor", target=np.eye(2, 4) * [2, 1, 0, 0], turn=np.eye(4), lr=2 / 3),
    edge("prop-late-factor", target=np.eye(4, 2) * [2, 1], turn=np.eye(2), lr=2 / 3),
    # the solution lies on the grid: the second task of chapter 14, and two more
    edge("prop-rising", keys=np.array([-2.0, 2]), values=np.array([1.0, 2]), y=1.5),
    edge("prop-rising", keys=np.array([0.0, 1]), values=np.array([0.0, 1]), y=0.5),
    edge("prop-rising", keys=np.arange(3.0), values=np.arange(3.0), y=1.0),
    edge("prop-rising", keys=np.array([0.0, 1e-3]), values=np.array([0.0, 1.0]), y=1e-6),
    edge("prop-rising", keys=np.array([0.0, 1, 2]), values=np.array([0.0, 1e-3, 5]), y=4.99),
    edge("prop-missed-saddle", values=np.array([-1.0, 1e-17, 1e-17]), down=1.0, up=1e-17),
    edge("prop-missed-saddle", values=np.array([-1e-9, 1.0, 1.0]), down=1.0, up=1.0),
    edge("lemma-logistic", z=np.array([745.0, 800.0])),
    edge("lemma-log-lipschitz", **confident(800.0), other=confident(1e4)["model"]),
    edge("prop-first-look", U=np.ones((1, 2)), X=np.ones((1, 2))),
    edge("prop-first-look", U=np.array([[1.0, 2], [-1, -2]]), X=np.eye(2)),
    edge("prop-first-look", U=Z2, X=np.eye(2)),
    edge("thm-many-heads", steps=1),
    edge(
        "lemma-margin-distance",
        features=np.zeros((2, 2)),
        y=np.array([1.0, -1.0]),
        theta=np.array([1.0, 0.0]),
        weights=np.array([0.5, 0.5]),
    ),
    edge("lemma-1-derivatives", X=np.zeros((3, 2)), W=np.eye(2), U=np.ones((3, 2))),
    edge("lemma-1-derivatives", X=np.eye(3, 2), W=np.eye(2), U=np.zeros((3, 2))),
    edge("prop-equal-rows", U=np.ones((1, 2)), teacher=np.eye(1, 2), teachers=np.ones((9, 1, 2))),
    # One token, none that is not 0, short ones, and long ones, which saturate.
    *(
        edge("lemma-1-blocks", **several_tokens(T, R))
        for T, R in ((1, 1), (3, 0), (3, 1e-5), (3, 1e4))
    ),
    *(edge(id, **several_tokens(3, R, 0.0)) for id in FROM_ZERO for R in (0, 1)),
    *(
        edge("thm-collapse", data=several_tokens(T, R)["data"], rule=rule)
        for T, R in ((1, 0.3), (4, 0))
        for rule in RULES
    ),
]


@pytest.fixture(scope="module")
def texts():
    """Label → the text of a statement, and that of its proof."""
    found = {}
    for path in notebooks.paths():
        directives = notebooks.directives(notebooks.read(path))
        for (kind, _, body), (_, title, after) in pairwise([*directives, ("", "", "")]):
            if kind.startswith("prf:"):
                found[notebooks.option(body, "label")] = body, after if title == "Proof" else ""
    return found


@pytest.mark.parametrize("statement", list(mhabook.ledger), ids=lambda statement: statement.id)
def test_what_a_check_asks_for_stands_in_the_list_of_its_row(statement):
    assert len(set(statement.conditions)) == len(statement.conditions)
    for seed in range(4):
        assert set(statement.hypotheses(**statement.random(seed))) <= set(statement.conditions)


@pytest.mark.parametrize("id, conditions, changes", VIOLATED)
def test_a_condition_is_told_to_fail_by_its_name(id, conditions, changes):
    statement = mhabook.ledger[id]
    changed = {
        name: np.array(value) if isinstance(value, list) else value
        for name, value in changes.items()
    }
    found = statement.hypotheses(**statement.random(0) | changed)
    assert {condition for condition, holds in found.items() if not holds} == set(
        conditions.split("; ")
    )


@listed
def test_a_check_asks_for_all_that_its_row_lists_but_for_what_it_builds(id):
    statement = mhabook.ledger[id]
    asked = {
        one for name, conditions, _ in VIOLATED if name == id for one in conditions.split("; ")
    }
    assert set(statement.hypotheses(**statement.random(0))) == asked
    assert sorted(statement.conditions) == sorted([*asked, *BUILT[id]])


def test_these_texts_have_every_condition_of_their_row(texts):
    found = [
        one.id
        for one in mhabook.ledger
        if all(says(texts[one.id][0], words) for words in one.conditions)
    ]
    assert found == STATED.split()


@listed
def test_statement_and_proof_say_what_the_row_lists(id, texts):
    text, proof = texts[id]
    conditions = mhabook.ledger[id].conditions
    assert [one for one in conditions if not says(text, one)] == []
    assert [one for one in conditions if not says(proof, one)] == LETTERS.get(id, [])


@listed
def test_a_text_has_no_inequality_that_the_row_does_not_list(id, texts):
    text, _ = texts[id]
    stated = re.findall(
        r"\$[^$]+\$", re.sub(r"(?s)\$\$.*?\$\$", "", re.split("[^.]*row in the ledger", text)[0])
    )
    inequalities = {
        spelled(formula) for formula in stated if re.search("[<>≤≥≠]", spelled(formula))
    }
    listed = re.sub(r"\s", "", spelled("; ".join(mhabook.ledger[id].conditions)))
    assert {formula for formula in inequalities if formula not in listed} == CASES.get(id, set())


@pytest.mark.parametrize("id, changes", EDGES)
def test_a_statement_is_computed_right_up_to_the_edge_of_its_hypotheses(id, changes):
    statement = mhabook.ledger[id]
    instance = statement.random(0) | changes
    assert all(statement.hypotheses(**instance).values())
    assert statement.on(instance).holds, statement.on(instance)


@pytest.mark.parametrize("id", [*MIXTURES, "lemma-first-phase", "prop-start-logits"])
def test_a_check_on_a_mixture_refuses_other_data(id):
    statement = mhabook.ledger[id]
    instance = statement.random(0)
    data = instance["data"]
    instance |= {"data": from_arrays(data.X, data.y)}
    with pytest.raises(
        ValueError, match="data: expected samples .* no hypothesis on patterns holds"
    ):
        statement.on(instance)


@pytest.mark.parametrize("rule", RULES)
def test_labels_whose_mean_tokens_are_equal_are_refused(rule):
    """The gradient in the decoders is rounding, of which every rule makes steps."""
    X = np.random.default_rng(0).standard_normal((3, 3, 2))
    data = from_arrays(np.concatenate([X, X]), np.repeat([1.0, -1.0], 3))
    with pytest.raises(ValueError, match="data: expected labels whose mean tokens differ"):
        mhabook.ledger["thm-collapse"].on({"data": data, "rule": rule, "H": 3})


@pytest.mark.parametrize("V", [0.71 * I2, 0.31 * np.eye(3), 0.1 * np.eye(4)])
def test_noise_that_no_grid_integrates_is_refused(V):
    with pytest.raises(ValueError, match="V: expected a matrix .d, d. with ‖V‖ ≤ 0.8"):
        mhabook.ledger["prop-fitted-noise"].on({"U": V, "V": V})


@pytest.mark.parametrize("seed", range(20))
def test_where_every_plane_sees_the_saddle_its_chance_is_one(seed):
    """In two dimensions, which the statement leaves out: rounding puts some of the computed chances
    above 1."""
    assert all(missed_saddle(np.array([-1.0, 2.0]), 1.0, 2.0, seed))


@pytest.mark.parametrize(
    "s_left, s_kept, size, curvature, bound",
    [(0.1, -1.0, 2.0, 0.0273, -0.02), (1.0, -1.5, 2.0, 0.5495, 0.125)],
)
def test_a_saddle_whose_signs_are_opposite_is_steeper_than_the_bound(
    s_left, s_kept, size, curvature, bound
):
    """And it is one: ∇L = 0, and s is missing."""
    steep, stationary, missing = flat_saddles(s_left, s_kept, size)
    assert (round(steep.lhs, 4), round(steep.rhs, 4)) == (curvature, bound)
    assert not steep and stationary and missing
    asked = mhabook.ledger["prop-flat-saddles"].hypotheses(s_left, s_kept, size)
    assert [condition for condition, holds in asked.items() if not holds] == ["0 ≤ s′ ≤ g²"]


@pytest.mark.parametrize("tex", ["$K\\ge50$", "$2K\\ge5$", "$K\\ge5/2$", "$K>5$", "$K$"])
def test_a_part_of_another_condition_does_not_count(tex):
    assert not says(f"Let {tex}, then", "K ≥ 5")
    assert says(rf"Let {tex} and $K\ge5$.", "K ≥ 5")
