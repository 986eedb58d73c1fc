"""What the page multihead/03_what_one_random_step_knows says, held against what its cells leave."""

from dataclasses import replace

import numpy as np
import pytest

import mhalib as mha
from mhabook.c03_first_step import ntk
from mhabook.c03_first_step.max_margin import ntk_margin
from page import Page

page = Page("multihead/03_what_one_random_step_knows")


def signed_points(live, **values):
    """The points of the figure, U and W, times their labels: (2, n)."""
    drawn = live.drawn(**values)
    return np.array(
        [[*drawn[f"plus_{part}"], *(-np.array(drawn[f"minus_{part}"]))] for part in "UW"]
    )


@page.after("train")
def test_the_step_tells_every_label_in_both_ways_and_before_it_attention_tells_none(live, step):
    np.testing.assert_allclose(live.path()[-1].U, step.U, rtol=1e-12)
    assert (signed_points(live) > 0).all()
    assert not signed_points(live, initialization="zero")[1].any()
    before, after = (live.path(initialization=kind) for kind in ("zero", "first"))
    assert before.margin[0] == before.margin_U[0] == pytest.approx(after.margin_U[0], rel=1e-12)
    assert after.margin[0] > np.hypot(after.margin_U[0], after.margin_W[0])


@page.after("say-train")
def test_attention_alone_has_a_narrow_margin_with_a_random_decoder_which_adds_hardly_anything(
    live, data, step, random_decoder, random_W, alone, of_moves
):
    drawn = live.path(initialization="gaussian")
    assert drawn.margin_W[0] == pytest.approx(random_W, rel=1e-9)
    assert np.linalg.norm(random_decoder.U) == pytest.approx(np.linalg.norm(step.U))
    assert 0 < 10 * random_W < alone[1]
    assert 1 < ntk_margin(random_decoder, data).margin / of_moves.U < 1.01


@page.after("say-train")
def test_the_samples_hold_a_pair_and_slow_ones_are_fast_along_the_other_component(
    live, data, zero, after, alone, of_moves
):
    assert ntk.has_a_pair(data)
    assert ntk_margin(zero, data).margin == pytest.approx(of_moves.U, rel=1e-9)
    in_U, in_W = signed_points(live)
    assert after > np.hypot(*alone) + 0.01 and np.corrcoef(in_U, in_W)[0, 1] < -0.5


@page.after("train")
def test_shuffled_labels_are_never_separated_at_zero_but_by_noise_after_the_step_and_a_random_decoder(
    zero, rule
):
    for seed in range(10):
        for sigma, least, most in ((0.5, 0, 1 / 6), (1.0, 1 / 3, 0.6)):
            data = mha.data.tokenized_mixture(60, 10, 12, 5, 0.2, 2.0, sigma, seed)
            step = mha.train(zero, data, rule, steps=1)[-1]
            shuffled = replace(data, y=np.random.default_rng(seed).permutation(data.y))
            before, after = (ntk_margin(model, shuffled).margin for model in (zero, step))
            assert before == 0
            assert least < after / ntk_margin(step, data).margin < most
        random = ntk.gaussian_of_equal_norm(data, 1, seed)
        assert ntk_margin(random, shuffled).margin > ntk_margin(random, data).margin / 2


@page.after("moves-end")
def test_the_best_move_of_attention_has_the_larger_margin_and_sampling_noise_adds_a_hundredth_at_most(
    start, pairs, after, of_moves
):
    without_noise = ntk_margin(start, pairs).margin
    assert of_moves.both < without_noise - 0.1
    assert 0 < float(after) - without_noise < 0.01


@page.after("train")
def test_under_noise_only_the_start_at_zero_loses_its_margin(live):
    drawn = live.drawn(sigma=0.5)
    zero, random, first = (
        np.array(drawn[f"over_{kind}"]) for kind in ("zero", "gaussian", "first")
    )
    assert (zero < random).all() and (random < first).all()
    assert all((np.diff(margins[:5]) < 0).all() for margins in (zero, random, first))
    assert zero[-1] == 0 < random.min()
    assert random[-1] > random[-2] and first[-1] > first[-2]


@page.after("moves-end")
def test_the_two_moves_have_the_margins_of_the_formulas_on_every_sample(U, W, start, psi):
    np.testing.assert_allclose(start.U, np.broadcast_to(psi, start.U.shape), atol=1e-14)
    right = ntk.mixture_margins(T=10, zeta=0.2, S=2.0, M=5)
    np.testing.assert_allclose(U, right.U, rtol=1e-12)
    np.testing.assert_allclose(W, right.W, rtol=1e-12)


@page.after("solution-open")
def test_only_rows_that_differ_beat_the_step(all_rows, equal_rows, known):
    assert equal_rows < known < all_rows
