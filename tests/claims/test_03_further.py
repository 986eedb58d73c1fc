"""What the page multihead/03_further says, held against what its cells leave."""

from math import comb

import numpy as np
import pytest

import mhabook
import mhalib as mha
from mhabook.c03_first_step import margins, ntk
from mhabook.c03_first_step.max_margin import ntk_margin
from page import Page

page = Page("multihead/03_further")


@page.after("table-starts")
def test_the_step_written_out_is_the_library_s_and_its_margin_does_not_depend_on_heads(
    data, one_random_step, starts, table
):
    assert np.array_equal(one_random_step(data, ntk.signs(4, seed=0)).U, starts["first phase"].U)
    for H in (1, 64):
        assert ntk_margin(ntk.first_phase(data, H), data).margin == pytest.approx(
            table["first phase"][4], rel=1e-12
        )
    one, many = (abs(one_random_step(data, np.ones(H))(data.X)).max() for H in (1, 64))
    assert many == pytest.approx(8 * one)


@page.after("table-starts")
def test_the_starts_are_as_long_and_differ_in_the_margin_from_w(table):
    zero, gaussian, first = (table[name] for name in ("zero", "Gaussian", "first phase"))
    assert gaussian[0] == pytest.approx(first[0], rel=1e-12)
    assert zero[3] == 0 < gaussian[3] < first[3]
    assert zero[2] == pytest.approx(gaussian[2], rel=1e-12) == pytest.approx(first[2], rel=1e-12)


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
def test_noise_keeps_the_order_of_the_starts_and_zero_loses_most_in_every_dataset(noise_table):
    names = ("zero", "Gaussian", "first phase")
    zero, gaussian, first = (noise_table[name, 0.5] for name in names)
    assert ((zero < gaussian) & (gaussian < first)).all()
    lost = [noise_table[name, 0.0] - noise_table[name, 0.5] for name in names]
    assert (lost[0] > np.maximum(*lost[1:])).all()


@page.after("say-fresh")
def test_random_rows_gain_little_one_random_row_more_and_the_step_most(gain):
    assert (gain["random"] > 0).all()
    assert (10 * gain["random"] < gain["after"]).all()
    assert (gain["row"] < gain["after"]).all()
    assert 4 * gain["random"].mean() < gain["row"].mean() < gain["after"].mean() / 2


@page.after("say-fresh")
def test_a_longer_random_decoder_beats_the_step_in_some_data_sets(anew):
    longer = margins.over_datasets(
        lambda data, seed: 5 * ntk.gaussian_of_equal_norm(data, 1, seed), sigma=0.0
    )
    assert 0 < (longer > anew["after"]).sum() < len(longer) / 2


def test_in_more_than_half_of_the_data_sets_a_step_of_one_head_sets_all_labels_right():
    zero, rule = mha.MultiHeadAttention.zeros(H=1, T=10, d=12), mha.GradientDescent(lr=2.0)
    drawn = [mha.data.tokenized_mixture(60, 10, 12, 5, 0.2, 2.0, 0.0, seed) for seed in range(20)]
    right = [
        (mha.train(zero, data, rule, steps=1)[-1].margins(data.X, data.y) > 0).all()
        for data in drawn
    ]
    assert 10 < sum(right) < 20


def test_noisy_samples_are_never_a_pair():
    """Of a hundred samples with one distracting token each: without noise they hold a pair, and
    with mirrors."""
    quiet, noisy = (
        mha.data.tokenized_mixture(n=100, T=4, d=4, M=2, zeta=0.75, S=1.0, sigma=sigma, seed=0)
        for sigma in (0.0, 0.1)
    )
    assert ntk.has_a_pair(quiet)
    assert ntk.has_a_pair(ntk.mirrored(noisy))
    assert not ntk.has_a_pair(noisy)


@page.after("noise-and-samples")
def test_under_noise_margins_fall_with_more_samples_and_at_zero_to_nothing(fall):
    assert all((np.diff(line) < 0).all() for line in fall.values())
    assert (margins.over_datasets(margins.STARTS["zero"], 0.5, n=400, samples=5) == 0).all()


def test_with_equal_rows_gradients_span_fewer_dimensions_than_there_are_samples_and_four_random_decoders_more():
    many = mha.data.tokenized_mixture(n=800, T=10, d=12, M=5, zeta=0.2, S=2.0, sigma=0.5)
    ranks = {
        name: np.linalg.matrix_rank(make(many, 0).features(many.X))
        for name, make in margins.STARTS.items()
    }
    assert ranks["first phase"] == 12 + 12**2 and ranks["Gaussian"] == 588


@page.after("nearest-end")
def test_the_walk_in_the_hull_closes_in_on_the_largest_margin(least, most, exact):
    assert least < exact < most < 1.001 * least


@page.after("rare")
def test_for_a_rare_pattern_the_step_is_mostly_chance(ratio):
    assert ratio > 5


def chance_and_bound(H, plus):
    """P(|Z| ≥ z), and the δ whose bound is z, for the z that ``plus`` heads forward and the others
    backward leave."""
    z = abs(2 * plus - H) / H**0.5
    chance = sum(comb(H, k) for k in range(H + 1) if abs(2 * k - H) >= abs(2 * plus - H)) / 2**H
    return chance, 2 * np.exp(-z * z / 2)


def test_the_bound_on_the_logits_is_nearest_with_two_heads_and_the_row_has_that_instance():
    chance, delta = chance_and_bound(2, 0)
    assert chance == 0.5 and delta == pytest.approx(2 / np.e)
    others = (
        chance_and_bound(H, plus) for H in range(1, 301) if H != 2 for plus in range(H // 2 + 1)
    )
    assert max(p / bound for p, bound in others if bound <= 1) < 0.6 < chance / delta
    statement = mhabook.ledger["prop-start-logits"]
    nearest = statement.on(statement.extremal[0]())
    assert (nearest.lhs, nearest.rhs) == pytest.approx((chance, delta))


@page.after("approach")
def test_margins_approach_the_exact_one_from_above_and_those_of_the_witness_scatter(
    data, step, sizes, excess, no_chance
):
    assert excess.min() > 0 and no_chance.min() > -1e-12
    assert excess.mean(axis=1)[-1] < excess.mean(axis=1)[0] / 8
    of_witness = data.y * (step.features(data.X) @ ntk.witness(step, data.truth).ravel())
    assert of_witness.min() < ntk.mixture_margins(**sizes).both < of_witness.max()


@page.after("figure-saturated")
def test_moved_attention_gains_a_factor_that_tends_to_one_over_the_share(exact, limit, reached):
    assert reached[0] == pytest.approx(exact.U, rel=1e-12) and (np.diff(reached) > 0).all()
    assert 0.97 < reached[-1] / limit < 1


@page.after("live")
def test_what_the_sliders_show(live):
    lengths, shares = (
        {value: live.drawn(**{name: value}) for value in live.controls[name].values}
        for name in ("S", "zeta")
    )
    assert [S for S, found in lengths.items() if found["margin_W"][0] > found["margin_U"][0]] == [
        3.0
    ]
    assert max(shares, key=lambda zeta: shares[zeta]["exact"][1]) == 0.7
    gaussian = {
        S: found["over_gaussian"][0] / found["over_first"][0] for S, found in lengths.items()
    }
    assert gaussian[0.5] > 0.999 and gaussian[3.0] < 0.5
    plain = live.drawn(mirror=False)
    assert plain["margin"][0] > plain["gamma_star"] and plain["margin_U"][0] == pytest.approx(
        plain["exact"][0]
    )
    for kind in ("first", "gaussian"):
        assert live.drawn()[f"over_{kind}"][-1] > live.drawn()[f"over_{kind}"][-2]
