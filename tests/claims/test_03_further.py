"""What the page multihead/03_further says, held against what its cells leave."""

from math import comb

import numpy as np
import pytest

import mhabook
import mhalib as mha
from mhabook.c03_first_step import ntk
from mhabook.c03_first_step.first_phase import noise_size, sampling_noise, signal
from mhabook.c03_first_step.max_margin import max_margin, ntk_margin
from page import Page

page = Page("multihead/03_further")


@page.after("starts")
def test_the_step_written_out_is_the_library_s_and_equal_signs_let_its_logits_grow(data, one_random_step, starts):
    assert np.array_equal(one_random_step(data, ntk.signs(4, seed=0)).U, starts["first phase"].U)
    one, many = (abs(one_random_step(data, np.ones(H))(data.X)).max() for H in (1, 64))
    assert abs(many / one - 8) < 1e-12


@page.after("table-starts")
def test_the_step_lifts_the_margin_and_gaussian_decoders_as_long_hardly_do(starts, table):
    norm, logit, U, W, both = (dict(zip(table, column, strict=True)) for column in zip(*table.values(), strict=True))
    assert abs(norm["Gaussian"] - norm["first phase"]) < 1e-12 and logit["zero"] == W["zero"] == 0
    assert np.ptp(list(U.values())) < 1e-12
    assert 1 < both["Gaussian"] / both["zero"] < 1.02
    assert 1.35 < both["first phase"] / both["zero"] < 1.45
    assert W["first phase"] > 5 * W["Gaussian"]


@page.after("table-starts")
def test_heads_do_not_change_the_margin_after_the_step_and_hardly_that_of_gaussian_decoders(data, table):
    for H in (1, 64):
        assert ntk_margin(ntk.first_phase(data, H), data).margin == pytest.approx(table["first phase"][4], rel=1e-12)
        assert abs(ntk_margin(ntk.gaussian_of_equal_norm(data, H), data).margin / table["Gaussian"][4] - 1) < 0.015


def gain_with_one_gaussian_row(data, step, H, seed):
    """Of the gain of the step, the share of H heads with one Gaussian row each, repeated and as long as its rows."""
    U = np.random.default_rng([seed, 7]).standard_normal((H, 1, 12)).repeat(10, axis=1)
    U *= np.linalg.norm(step.U[0]) / np.linalg.norm(U, axis=(1, 2), keepdims=True)
    found = ntk_margin(mha.MultiHeadAttention(np.zeros((H, 12, 12)), U), data).margin
    zero = ntk_margin(mha.MultiHeadAttention.zeros(1, 10, 12), data).margin
    return (found - zero) / (ntk_margin(step, data).margin - zero)


@page.after("table-starts")
def test_equal_gaussian_rows_bring_a_third_of_the_gain_with_4_heads_and_with_64(data, step):
    assert 0.25 < np.median([gain_with_one_gaussian_row(data, step, 4, seed) for seed in range(20)]) < 0.35
    assert 0.25 < np.mean([gain_with_one_gaussian_row(data, step, 64, seed) for seed in range(5)]) < 0.4


@page.after("figure-gradient")
def test_every_query_asks_for_the_label_s_pattern_and_not_for_distractors(data, gradient, patterns):
    entries, (own, other) = patterns @ gradient @ patterns.T, (1, 0) if data.y[0] > 0 else (0, 1)
    singular = np.linalg.svd(entries, compute_uv=False)
    assert singular[1] < 1e-12 * singular[0]
    shown = entries[abs(entries).max(axis=1) > 1e-12]
    assert abs(entries[:, other]).max() < 1e-12
    assert (data.y[0] * shown[:, own] > 0).all()
    assert (data.y[0] * shown[:, 2:] <= 1e-12).all()


@page.after("table-noise")
def test_noise_takes_three_quarters_at_zero_and_a_third_after_the_step(noise_table):
    middle = {key: np.median(found) for key, found in noise_table.items()}
    assert 0.7 < 1 - middle["zero", 0.5] / middle["zero", 0.0] < 0.8
    assert 0.3 < 1 - middle["first phase", 0.5] / middle["first phase", 0.0] < 0.35


@page.after("table-noise")
def test_noise_keeps_the_order_of_the_starts_and_zero_loses_most_in_every_dataset(noise_table):
    names = ("zero", "Gaussian", "first phase")
    zero, gaussian, first = (noise_table[name, 0.5] for name in names)
    assert ((zero < gaussian) & (gaussian < first)).all()
    lost = [noise_table[name, 0.0] - noise_table[name, 0.5] for name in names]
    assert (lost[0] > np.maximum(*lost[1:])).all()


@page.after("table-noise")
def test_sampling_noise_is_two_fifths_of_the_signal(data):
    size = np.linalg.norm(signal(data.truth))
    assert noise_size(data.truth, 60) ** 0.5 / size == pytest.approx(0.4, abs=0.03)
    assert np.linalg.norm(sampling_noise(data)) / size == pytest.approx(0.4, abs=0.03)


@page.after("nearest-end")
def test_the_walk_in_the_hull_closes_in_on_the_largest_margin(least, most, exact):
    assert least < exact < most < 1.001 * least


@page.after("rare")
def test_for_a_rare_pattern_the_step_is_mostly_chance(ratio):
    assert ratio > 5


def chance_and_bound(H, plus):
    """P(|Z| ≥ z), and the δ whose bound is z, for the z that ``plus`` heads forward and the others backward leave."""
    z = abs(2 * plus - H) / H ** 0.5
    chance = sum(comb(H, k) for k in range(H + 1) if abs(2 * k - H) >= abs(2 * plus - H)) / 2 ** H
    return chance, 2 * np.exp(-z * z / 2)


def test_the_bound_on_the_logits_is_nearest_with_two_heads_and_the_row_has_that_instance():
    chance, delta = chance_and_bound(2, 0)
    assert chance == 0.5 and delta == pytest.approx(2 / np.e)
    others = (chance_and_bound(H, plus) for H in range(1, 301) if H != 2 for plus in range(H // 2 + 1))
    assert max(p / bound for p, bound in others if bound <= 1) < 0.6 < chance / delta
    statement = mhabook.ledger["prop-start-logits"]
    nearest = statement.on(statement.extremal[0]())
    assert (nearest.lhs, nearest.rhs) == pytest.approx((chance, delta))


@page.after("svm-margins")
def test_a_bias_shifts_the_margin_of_scikit_learn_by_less_than_a_thousandth(certificate, ours, shift):
    assert 0 < shift < 1e-3
    assert abs(certificate - ours.margin) < 1e-12


@page.after("approach")
def test_margins_approach_the_exact_one_from_above(excess, no_chance):
    assert excess.min() > 0 and excess.max() < 0.02
    assert excess.mean(axis=1)[-1] < excess.mean(axis=1)[0] / 8
    assert no_chance.min() > -1e-12 and no_chance.mean(axis=1)[-1] < 2e-5


@page.after("approach")
def test_sampling_noise_spreads_the_margins_of_the_witness(data, step, sizes):
    margins = data.y * (step.features(data.X) @ ntk.witness(step, data.truth).ravel())
    assert 1.1 * margins.min() < margins.max() and margins.min() < ntk.mixture_margins(**sizes).both < margins.max()


@page.after("figure-saturated")
def test_moved_attention_gains_a_factor_that_tends_to_five(exact, limit, reached):
    assert abs(reached[0] - exact.U) < 1e-12 and limit == pytest.approx(5 * exact.U)
    assert 0.97 < reached[-1] / limit < 1
    assert (np.diff(reached) > 0).all()


def over(live, name):
    """What the figure shows at each value of one slider."""
    return {value: live.drawn(**{name: value}) for value in live.controls[name].values}


@page.after("live")
def test_only_the_longest_patterns_have_w_in_front_and_seven_tenths_relevant_tokens_give_it_most(live):
    ratio = {S: found["margin_W"][0] / found["margin_U"][0] for S, found in over(live, "S").items()}
    assert ratio[0.5] < 0.02 and [S for S in ratio if ratio[S] > 1] == [3.0]
    exact = {zeta: found["exact"][1] for zeta, found in over(live, "zeta").items()}
    assert max(exact, key=exact.get) == 0.7


@page.after("live")
def test_gaussian_decoders_come_near_where_nothing_is_at_stake(live):
    drawn = {S: live.drawn(S=S) for S in (0.5, 3.0)}
    share = {S: found["over_gaussian"][0] / found["over_first"][0] for S, found in drawn.items()}
    assert share[0.5] > 0.999
    assert 0.3 < share[3.0] < 0.37


@page.after("live")
def test_without_mirrors_only_the_bar_of_u_stays(live):
    plain = live.drawn(mirror=False)
    assert 1 < plain["margin"][0] / plain["gamma_star"] < 1.01
    assert abs(plain["margin_U"][0] - plain["exact"][0]) < 1e-12


def margin_of_random_labels(sigma, seed):
    drawn = ntk.mirrored(mha.data.tokenized_mixture(20, 10, 10, 5, 0.2, 2.0, sigma, seed))
    features = ntk.gaussian_of_equal_norm(drawn, 1, seed).features(drawn.X)
    return max_margin(features, np.random.default_rng(seed).permutation(drawn.y)).margin


@page.after("live")
def test_at_large_noise_two_curves_bend_up_again_because_noise_can_be_memorized(live):
    drawn = live.drawn()
    for kind in ("first", "gaussian"):
        assert drawn[f"over_{kind}"][-1] > drawn[f"over_{kind}"][-2]
    half, all_of_it = (np.mean([margin_of_random_labels(sigma, seed) for seed in range(10)]) for sigma in (0.5, 1.0))
    assert all_of_it == pytest.approx(2 * half, rel=0.15) and half > 0.05
