"""What the page multihead/03_what_one_random_step_knows says, held against what its cells leave."""

from math import comb

import numpy as np
from sklearn.svm import SVC

import mhabook
import mhalib as mha
from mhabook.c03_first_step import margins, ntk
from mhabook.c03_first_step.first_phase import noise_size, sampling_noise, signal
from mhabook.c03_first_step.max_margin import max_margin, ntk_margin
from page import Page

page = Page("multihead/03_what_one_random_step_knows")
EXAMPLE = {"T": 10, "zeta": 0.2, "S": 2.0, "M": 5}


def quantiles(margins):
    """The least, the middle and the largest, as the page's table prints them."""
    return np.quantile(margins, [0, 0.5, 1]).round(3).tolist()


# --- See: what a start can tell apart -------------------------------------------------------------------------


def with_one_gaussian_row(data, step, H, seed):
    """The margin of H heads with one Gaussian row each, repeated at all positions, as long as the step's decoders."""
    U = np.random.default_rng([seed, 7]).standard_normal((H, 1, 12)).repeat(10, axis=1)
    U *= np.linalg.norm(step.U[0]) / np.linalg.norm(U, axis=(1, 2), keepdims=True)
    return ntk_margin(mha.MultiHeadAttention(np.zeros((H, 12, 12)), U), data).margin


def chance_and_bound(H, plus):
    """P(|Z| ≥ z), and the δ whose bound is z, for the z that ``plus`` heads forward and the others backward leave."""
    z = abs(2 * plus - H) / H ** 0.5
    chance = sum(comb(H, k) for k in range(H + 1) if abs(2 * k - H) >= abs(2 * plus - H)) / 2 ** H
    return chance, 2 * np.exp(-z * z / 2)


def over(live, name):
    """What the figure shows at each value of one slider."""
    return {value: live.drawn(**{name: value}) for value in live.controls[name].values}


def margin_of_random_labels(sigma, seed):
    drawn = ntk.mirrored(mha.data.tokenized_mixture(20, 10, 10, 5, 0.2, 2.0, sigma, seed))
    features = ntk.gaussian_of_equal_norm(drawn, 1, seed).features(drawn.X)
    return max_margin(features, np.random.default_rng(seed).permutation(drawn.y)).margin


@page.after("noise-and-samples")
def test_four_hundred_noisy_samples_cannot_be_separated_at_zero():
    assert (margins.over_datasets(margins.STARTS["zero"], 0.5, n=400, samples=5) == 0).all()


@page.after("noise-and-samples")
def test_under_noise_margins_fall_with_more_samples(fall):
    assert all((np.diff(line) < 0).all() for line in fall.values())
    assert 0.2 < fall["Gaussian"][-1] < 0.3
    assert round(fall["first phase"][-1], 2) == 0.72
    assert 0.75 < fall["first phase"][3] < 0.85


@page.after("rare")
def test_for_a_rare_pattern_the_step_is_mostly_chance(ratio):
    assert 6 < ratio < 7
    rare = ntk.mixture_margins(100, 0.01, 2.0, 5)
    assert round(rare.W / rare.U, 2) == 0.15


@page.after("solution-by-hand")
def test_four_tokens_by_hand(at_two, small):
    stated, exact = small
    assert np.allclose(stated[:2], [0.5 ** 0.5, 2 / 512 ** 0.5], atol=3e-4)
    assert np.allclose(exact, [0.5 ** 0.5, (5 / 256) ** 0.5, 0.721], atol=3e-4)
    assert abs(at_two.W - at_two.U) < 1e-12


@page.after("solution-length")
def test_a_longer_step_asks_for_fewer_heads(best, c, heads_asked, one):
    assert 15 < c[best] < 25
    assert 200 < heads_asked[one] / heads_asked[best] < 400


@page.after("solution-open")
def test_only_rows_that_differ_beat_the_step(all_rows, equal_rows, known):
    assert equal_rows < known
    assert known < all_rows
