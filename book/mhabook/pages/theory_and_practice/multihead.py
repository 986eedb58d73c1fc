"""Part I: what the theorems of chapters 1 to 7 ask for or promise, and what runs need."""

from math import log

import numpy as np

import mhalib as mha
from mhabook.c02_curvature import loss_bounds
from mhabook.c03_first_step.first_phase import first_phase, mirrored
from mhabook.c03_first_step.ntk import exact_margins, mixture_margins, ntk_margin
from mhabook.c05_heads import early_steps
from mhabook.c05_heads.collapse import one_head_run
from mhabook.c07_generalization.statements import samples_needed
from mhabook.pages.theory_and_practice.row import Row, Rows, power
from mhabook.tables import Table, stored
from mhalib.data import Dataset
from mhalib.live import LiveFigure


def collapse(mixture: Dataset, zero: Table) -> Rows:
    """The mixture of chapter 1, eight heads; the stored runs have 2,000 steps."""
    return [
        Row(
            "thm-collapse",
            "a start at zero",
            "every parameter exactly 0",
            f"8 heads are one head up to {power(equal_heads(mixture))} after 1,000 steps; random "
            f"entries of 0.1 end with {random_heads(zero):.1f} times the loss",
            "equality",
        )
    ]


def equal_heads(mixture: Dataset) -> float:
    """The relative difference of eight heads from the one that they are, 1,000 steps from zero."""
    eight = mha.MultiHeadAttention.zeros(8, 10, 8)
    one = one_head_run(mixture, mha.GradientDescent(1.0), 8, 1000)
    for _ in range(1000):
        eight = eight - eight.loss_and_grad(mixture.X, mixture.y)[1]
    return max(
        abs(eight.W - one.W).max() / abs(one.W).max(),
        abs(8**0.5 * eight.U - one.U).max() / abs(one.U).max(),
    )


def random_heads(zero: Table) -> float:
    """The loss at the end from random entries of 0.1, over that from zero: the median of the stored
    runs."""
    some = stored("heads_random.npz").where(rule="gd", H=8, scale=0.1)
    return float(np.median(some["loss"][:, -1] / zero.where(rule="gd", H=8)["loss"][:, -1]))


def curvature() -> Rows:
    """A random start of two heads on a small mixture."""
    small = mha.data.tokenized_mixture(n=60, T=8, d=6, M=2, zeta=0.25)
    curved = loss_bounds.smoothness(
        mha.MultiHeadAttention.random(2, T=8, d=6, scale=0.3, seed=0), small
    )
    return [
        Row(
            "cor-1-smoothness",
            "curvature",
            f"at most {power(curved.rhs)}",
            f"{power(curved.lhs)} at a random start",
            curved.rhs / curved.lhs,
        )
    ]


def margins() -> Rows:
    """What is promised for every sample of the mixture, and what 30 drawn samples have."""
    exact, witness = exact_margins(10, 0.2, 2.0, 5).both, mixture_margins(10, 0.2, 2.0, 5).both
    drawn = mha.data.tokenized_mixture(n=30, T=10, d=7, M=5, zeta=0.2, S=2.0, sigma=0.0, seed=0)
    margin = ntk_margin(first_phase(mirrored(drawn), 1), drawn).margin
    return [
        Row(
            "thm-exact-margin",
            "exact margin",
            f"no noise; promises {exact:.4f}",
            f"30 drawn samples have {margin:.4f}",
            margin / exact,
        ),
        Row(
            "prop-ntk-margins",
            "margin of a direction",
            f"promises {witness:.3f}",
            f"the largest is {exact:.3f}",
            exact / witness,
        ),
    ]


def training(live: LiveFigure) -> Rows:
    """The live figure of the page with the least number of heads, two."""
    H, lr = live.controls["H"].values[0], live.controls["lr"].values[-1]
    two = live.drawn(H=H)
    K, allowed, promise = two["steps"][-1], two["largest_step"], two["guarantee"][-1]
    first = two["steps"][int(np.argmax(np.array(two["loss"]) < promise))]
    keep = f"{H}, the least of the slider, keep the promise at every step"
    return [
        Row(
            "thm-1-training",
            "heads",
            f"{power(two['heads_needed'])} for {K:,} steps",
            keep,
            two["heads_needed"] / H,
        ),
        Row(
            "thm-1-fewer-heads",
            "heads, head by head",
            f"{power(two['fewer_heads_needed'])} for {K:,} steps",
            keep,
            two["fewer_heads_needed"] / H,
        ),
        Row(
            "thm-1-training",
            "steps",
            f"{K:,} for a loss of {promise:.2f}",
            f"{H} heads have it after {first}",
            K / first,
        ),
        Row(
            "thm-1-training",
            "step size, 2 heads",
            f"η ≤ {power(allowed)}",
            f"the loss falls with η = {lr:g}",
            lr / allowed,
        ),
    ]


def attention(mixture: Dataset, zero: Table) -> Rows:
    """The mixture of chapter 1 from zero: a stored run of 64 heads after ten steps, and how many
    are near the limit."""
    begun = zero.where(rule="gd", H=64, seed=0)
    k = int(np.flatnonzero(begun["steps"][0] == 10)[0])
    bound = early_steps.slow_attention_bound(mixture, 1.0, 1 / 64, 10, begun["loss"][0, :k].max())
    moved = begun["norm_W"][0, k]
    enough = min(H for H, off in off_the_limit(mixture).items() if off < 0.01)
    return [
        Row(
            "thm-slow-attention",
            "how far W has moved",
            f"at most {power(bound)} in 10 steps of 64 heads",
            f"by {moved:.3f}",
            bound / moved,
        ),
        Row(
            "thm-many-heads",
            "infinitely many heads",
            "H → ∞, 100 steps",
            f"the loss is within 1% of the limit's from H = {enough:,} on",
            "limit",
        ),
    ]


def off_the_limit(mixture: Dataset) -> dict[int, float]:
    """H → how far the loss after 100 steps is from that of infinitely many heads, as a share of
    it."""
    row, _ = early_steps.many_heads_run(mixture, 1.0, 100)
    limit = mha.losses.logistic(10 * mixture.y * (mixture.X.mean(axis=1) @ row)).mean()
    runs = {
        H: one_head_run(mixture, mha.GradientDescent(1.0), H, 100)
        for H in (2 ** np.arange(4, 17)).tolist()
    }
    return {H: float(abs(run.loss(mixture.X, mixture.y) / limit - 1)) for H, run in runs.items()}


def samples() -> Rows:
    """Stored runs on mixtures without noise, eight training sets of each size, 2·10¹³ heads, 1,000
    steps."""
    gaps = stored("generalization_gap.npz").where(start="many", sigma=0.0)
    needed, at = samples_needed().samples, {int(step): k for k, step in enumerate(gaps["steps"][0])}
    tests = {
        n: gaps.where(n=n)["test_loss"][:, at[10]].mean() for n in np.unique(gaps["n"]).tolist()
    }
    few = min(n for n, loss in tests.items() if loss < log(2))
    apart, received, promised, paid, left, test, train = (
        gaps.where(n=256)[name][:, at[1000]].mean()
        for name in ("distance", "bound", "promise", "paid", "left_loss", "test_loss", "loss")
    )
    return [
        Row(
            "thm-2-stability",
            "distance of two runs",
            f"at most {1.5 * received:.2f} without one of 256 samples",
            f"{apart:.3f}",
            1.5 * received / apart,
        ),
        Row(
            "thm-2-generalization",
            "test minus training loss",
            f"at most {promised:.0f} with 256 samples",
            power(test - train),
            promised / (test - train),
        ),
        Row(
            "thm-2-left-out",
            "loss of the left-out sample",
            f"at most {paid:.3f} with 256 samples",
            f"{left:.3f}",
            paid / left,
        ),
        Row(
            "cor-2-test-loss",
            "samples",
            f"{needed:,} for a test loss below log 2",
            f"{few}, the least stored, and 10 steps have {tests[few]:.2f}",
            needed / few,
        ),
    ]
