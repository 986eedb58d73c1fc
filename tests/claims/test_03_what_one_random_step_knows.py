"""What the page multihead/03_what_one_random_step_knows says, held against what its cells leave."""

import numpy as np
import pytest

import mhalib as mha
from mhabook.c03_first_step import margins, ntk
from page import Page

page = Page("multihead/03_what_one_random_step_knows")


def signed_points(live, **values):
    """The points of the figure, U and W, times their labels: (2, n)."""
    drawn = live.drawn(**values)
    return np.array([[*drawn[f"plus_{part}"], *(-np.array(drawn[f"minus_{part}"]))] for part in "UW"])


@page.after("train")
def test_the_figure_is_the_run_of_the_lines_above_it(live, step):
    np.testing.assert_allclose(live.path()[-1].U, step.U, rtol=1e-12)


@page.after("train")
def test_after_the_step_both_ways_of_moving_tell_every_sample_s_label(live):
    assert (signed_points(live) > 0).all()


@page.after("train")
def test_before_the_step_attention_changes_nothing_and_the_decoder_as_much_as_after(live):
    assert not signed_points(live, initialization="zero")[1].any()
    before, after = (live.path(initialization=kind) for kind in ("zero", "first"))
    assert before.margin[0] == before.margin_U[0] == pytest.approx(after.margin_U[0], rel=1e-12)
    assert after.margin[0] > np.hypot(after.margin_U[0], after.margin_W[0]) > 1.3 * before.margin[0]


@page.after("train")
def test_a_random_decoder_moves_some_logits_to_the_wrong_side_and_gains_almost_nothing(live):
    across, up = signed_points(live, initialization="gaussian")
    assert up.min() < 0 and abs(up).max() < across.min() / 2
    random, zero = (live.path(initialization=kind).margin[0] for kind in ("gaussian", "zero"))
    assert 1 < random / zero < 1.01


@page.after("train")
def test_under_noise_the_start_at_zero_loses_its_margin_first(live):
    drawn = live.drawn(sigma=0.5)
    zero, random, first = (np.array(drawn[f"over_{kind}"]) for kind in ("zero", "gaussian", "first"))
    assert (zero[1:] < random[1:]).all() and (random < first).all()
    assert zero[-1] == 0 and random.min() > 0.4
    assert random[-1] > random[-2] > random[-3]
    assert np.ptp(signed_points(live, sigma=0.5)) > np.ptp(signed_points(live))


@page.after("moves-end")
def test_the_two_moves_have_the_margins_of_the_formulas_on_every_sample(U, W):
    right = ntk.mixture_margins(T=10, zeta=0.2, S=2.0, M=5)
    np.testing.assert_allclose(U, right.U, rtol=1e-12)
    np.testing.assert_allclose(W, right.W, rtol=1e-12)


def test_noisy_samples_are_never_a_pair():
    """Of a hundred samples with one distracting token each: without noise they hold a pair, and with mirrors."""
    quiet, noisy = (mha.data.tokenized_mixture(n=100, T=4, d=4, M=2, zeta=0.75, S=1.0, sigma=sigma, seed=0)
                    for sigma in (0.0, 0.1))
    assert ntk.has_a_pair(quiet)
    assert ntk.has_a_pair(ntk.mirrored(noisy))
    assert not ntk.has_a_pair(noisy)


@page.after("noise-and-samples")
def test_under_noise_margins_fall_with_more_samples_and_at_zero_to_nothing(fall):
    assert all((np.diff(line) < 0).all() for line in fall.values())
    assert (margins.over_datasets(margins.STARTS["zero"], 0.5, n=400, samples=5) == 0).all()
    assert fall["after the step"][-1] > 0.8 * fall["after the step"][3]


@page.after("solution-length")
def test_a_longer_step_asks_for_fewer_heads(best, c, heads_asked, one):
    assert 10 < c[best] < 25
    assert heads_asked[one] > 100 * heads_asked[best]


@page.after("solution-open")
def test_only_rows_that_differ_beat_the_step(all_rows, equal_rows, known):
    assert equal_rows < known < all_rows
