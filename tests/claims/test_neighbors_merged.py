"""What the section "One drop, or one plateau after another" says, held against what its cells
leave."""

import inspect
from itertools import product

import numpy as np
import pytest

import mhalib as mha
from mhabook.neighbors import merged
from page import shared

page = shared("neighbors")
UNQUOTED = {
    "what the paper states": ("merged-0: With keys", "merged-0: With separate"),
    "a question, what a cell does, and links": (
        "merged-0: How often",
        "merged-2: The next cell",
        "merged-3: *Related",
    ),
    "holds by the formula": ("merged-3: The first factor",),
}
LEVELS = merged.plateau_levels()
DATA = merged.prompts()


def apart_losses(seed, scale=merged.SCALE, steps=2000):
    start = merged.small_heads("apart", seed, scale)
    return mha.train(
        start, DATA, mha.GradientDescent(lr=merged.LR), steps, record=range(steps + 1)
    ).loss


@page.after(
    "nb-merged-drops",
    says=(
        "There are eight heads, and three directions with different variances",
        "a run with merged heads has a hundred steps, whereas a run with separate keys and queries has a thousand",
        "We count a drop when the speed at which the loss falls has passed a minimum and has tripled since then",
    ),
)
def test_merged_heads_drop_once_and_heads_apart_three_times(paths, said):
    heads, directions, short, long = said
    assert heads == merged.HEADS and len({*merged.VARIANCES}) == directions
    assert [losses.shape[1] - 1 for losses in paths.values()] == [short, long]
    assert inspect.signature(merged.drops).parameters["factor"].default == 3
    assert merged.drop_counts(paths) == {"merged": [1, 1, 1], "apart": [3, 3, 3]}


def test_other_starts_have_as_many_drops():
    """So it was for 40 starts of merged heads, and for 60 of heads apart, which need up to 1,413
    steps."""
    rule = mha.GradientDescent(lr=merged.LR)
    for seed in range(10, 16):
        run = mha.train(merged.small_heads("merged", seed), DATA, rule, 100, record=range(101))
        assert merged.drops(run.loss) == 1
        assert merged.drops(apart_losses(seed)) == 3


@page.after("nb-merged-figure")
def test_both_kinds_end_at_the_least_loss(paths):
    for losses in paths.values():
        np.testing.assert_allclose(losses[:, -1], LEVELS[-1], rtol=1e-3)
    least = np.trace(DATA.X) - np.trace(DATA.X @ DATA.X @ DATA.X @ np.linalg.inv(DATA.y))
    assert pytest.approx(least, rel=1e-12) == LEVELS[-1]


@page.after("nb-merged-figure")
def test_heads_apart_wait_at_the_levels_of_the_formula_and_for_different_times(paths):
    """36 to 739 of 1,000 steps within a hundredth of each level; merged heads 1 at most between
    first and last."""
    near = np.abs(paths["apart"][..., None] - LEVELS[:3]) < 0.01 * LEVELS[0]
    waits = near.sum(axis=1)
    assert (waits >= 15).all()
    assert (waits.max(axis=0) > 1.15 * waits.min(axis=0)).all()
    between = np.abs(paths["merged"][..., None] - LEVELS[1:3]) < 0.01 * LEVELS[0]
    assert (between.sum(axis=1) <= 5).all()


@page.after(
    "nb-merged-figure",
    says="The loss falls more slowly toward the end, but there is no earlier plateau",
)
def test_the_first_plateau_of_heads_apart_is_at_the_start(paths):
    assert (paths["apart"][:, 20] > 0.99 * LEVELS[0]).all()
    speed = -np.diff(paths["merged"], axis=1)
    assert (speed > 0).all() and (10 * speed[:, -1] < speed.max(axis=1)).all()


def heads_for(directions):
    """Heads apart that have learned some of the directions, one head each, and merged ones with the
    same P."""
    v, k = np.zeros(merged.HEADS), np.zeros((merged.HEADS, 3))
    for d in directions:
        v[d] = (DATA.X[d, d] / DATA.y[d, d]) ** (1 / 3)
        k[d, d] = v[d]
    apart = merged.ApartHeads(v, k, k.copy())
    G = np.zeros((merged.HEADS, 3, 3))
    G[0] = apart.product()
    values = np.zeros(merged.HEADS)
    values[0] = float(len(directions) > 0)
    return apart, merged.MergedHeads(values, G)


def test_heads_apart_have_eight_fixed_points_and_merged_heads_two_of_them():
    for chosen in product((False, True), repeat=3):
        directions = [d for d in range(3) if chosen[d]]
        apart, one = heads_for(directions)
        assert apart.loss_and_grad(DATA.X, DATA.y)[1].norm() < 1e-12
        slope = one.loss_and_grad(DATA.X, DATA.y)[1].norm()
        assert slope < 1e-12 if len(directions) in (0, 3) else slope > 0.1


def test_levels_are_the_losses_with_the_first_directions_learned():
    for m in range(4):
        apart, _ = heads_for(range(m))
        assert apart.loss(DATA.X, DATA.y) == pytest.approx(LEVELS[m], rel=1e-12)


def test_the_loss_is_that_of_prompts():
    """A simulation of 40,000 prompts, sample size fixed beforehand: at z = 5 a false alarm in two
    million."""
    rng, n, pairs = np.random.default_rng(2), 40_000, merged.PAIRS
    root = np.sqrt(np.diag(DATA.X))
    x, w = rng.standard_normal((n, pairs, 3)) * root, rng.standard_normal((n, 3))
    query, P = rng.standard_normal((n, 3)) * root, 0.3 * rng.standard_normal((3, 3))
    beta = np.einsum("npd,np->nd", x, np.einsum("npd,nd->np", x, w)) / pairs
    errors = ((w * query).sum(axis=1) - ((beta @ P) * query).sum(axis=1)) ** 2
    exact = merged.MergedHeads(np.ones(1), P[None]).loss(DATA.X, DATA.y)
    assert abs(errors.mean() - exact) < 5 * errors.std() / n**0.5


@pytest.mark.parametrize("kind", ["merged", "apart"])
def test_gradients_are_the_derivatives(kind):
    here, along = (merged.small_heads(kind, seed, 0.5) for seed in (1, 2))
    h, grad = 1e-5, here.loss_and_grad(DATA.X, DATA.y)[1]
    ahead, back = ((here + k * along).loss(DATA.X, DATA.y) for k in (h, -h))
    assert (ahead - back) / (2 * h) == pytest.approx(grad.dot(along), rel=1e-6)


@page.after("nb-merged-figure", says="it takes longer to learn a weaker one")
def test_a_head_grows_the_more_slowly_the_weaker_its_direction():
    """From one small size, a head along a direction of less variance needs more steps to half of
    its way."""
    needed = []
    for d in range(3):
        v, k = np.full(1, 0.05), 0.05 * np.eye(3)[d : d + 1]
        run = mha.train(
            merged.ApartHeads(v, k, k.copy()),
            DATA,
            mha.GradientDescent(lr=merged.LR),
            1500,
            record=range(1501),
        )
        needed.append(np.argmax(run.loss < (run.loss[0] + run.loss[-1]) / 2))
    assert 0 < 2 * needed[0] < needed[1] < needed[2] / 2


@page.after("nb-merged-figure", says="with entries five times as large, some runs skip a plateau")
def test_from_entries_five_times_as_large_some_starts_skip_a_plateau(said):
    """16 of 40 starts had two drops, and the others three."""
    found = [
        merged.drops(apart_losses(seed, said[0] * merged.SCALE, steps=400)) for seed in range(24)
    ]
    assert found.count(2) > 0 and found.count(3) > 0


@page.after("nb-merged-figure", says="Its loss is that of a product of two matrices")
def test_two_matrix_factors_take_one_singular_value_after_the_other_from_a_tiny_start(said):
    """½‖UVᵀ − N‖² of chapter 10 with singular values 2, 1.2, 0.7: three drops in 15 starts of
    15."""
    N = np.diag(merged.VARIANCES)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        U, V = (1e-6 * rng.standard_normal((3, 3)) for _ in range(int(said[0])))
        losses = []
        for _ in range(600):
            away = U @ V.T - N
            losses.append((away**2).sum() / 2)
            U, V = U - 0.1 * away @ V, V - 0.1 * away.T @ U
        assert merged.drops(np.array(losses)) == 3
