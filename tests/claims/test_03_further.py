"""What the page multihead/03_further says, held against what its cells leave."""

from math import comb

import numpy as np
from sklearn.svm import SVC

import mhabook
import mhalib as mha
from mhabook.c03_first_step import ntk
from mhabook.c03_first_step.first_phase import noise_size, sampling_noise, signal
from mhabook.c03_first_step.max_margin import max_margin, ntk_margin
from page import Page

page = Page("multihead/03_further")
EXAMPLE = {"T": 10, "zeta": 0.2, "S": 2.0, "M": 5}


@page.after("table-starts")
def test_the_step_written_out_is_the_library_s(data, one_random_step, step):
    assert np.array_equal(one_random_step(data, ntk.signs(4, seed=0)).U, step.U)
    assert not step.W.any()


@page.after("table-starts")
def test_four_heads_have_1056_features(data, zero):
    assert zero.features(data.X).shape == (60, 1056)
    assert 144 + 120 == 1056 / 4


@page.after("table-starts")
def test_gaussian_decoders_are_as_long_as_those_of_the_step(starts):
    lengths = {name: np.linalg.norm(model.U, axis=(1, 2)) for name, model in starts.items()}
    assert np.ptp(lengths["Gaussian"]) < 1e-12
    assert abs(lengths["Gaussian"] - lengths["first phase"]).max() < 1e-12


@page.after("table-starts")
def test_the_step_lifts_the_margin_and_gaussian_decoders_hardly_do(starts, table):
    assert np.allclose([table[name][4] for name in starts], [0.8944, 0.9054, 1.2487], atol=5e-5)


@page.after("table-starts")
def test_what_the_step_changes_is_the_margin_in_w(table):
    assert table["zero"][3] == 0
    assert round(table["Gaussian"][3], 3) == 0.133
    assert round(table["first phase"][3], 3) == 0.831
    assert np.ptp([row[2] for row in table.values()]) < 1e-12


@page.after("table-starts")
def test_the_table_has_norms_and_logits(table):
    assert np.allclose([row[0] for row in table.values()], [0, 0.959, 0.959], atol=5e-4)
    assert round(table["first phase"][1], 2) == 1.81
    assert round(table["Gaussian"][1], 2) == 0.55
    assert table["zero"][1] == 0


@page.after("table-starts")
def test_heads_do_not_change_the_margin_after_the_step(data, table):
    one, many = (ntk_margin(ntk.first_phase(data, H), data).margin for H in (1, 64))
    assert abs(one - many) < 1e-12
    assert abs(one - table["first phase"][4]) < 1e-12


@page.after("table-starts")
def test_the_gaussian_start_stays_where_it_is_with_more_heads(data):
    margins = [ntk_margin(ntk.gaussian_of_equal_norm(data, H), data).margin for H in (1, 64)]
    assert min(margins) > 0.895
    assert max(margins) < 0.915


@page.after("table-starts")
def test_equal_gaussian_rows_bring_a_third_of_the_gain(data, step, table):
    margins = [with_one_gaussian_row(data, step, 4, seed) for seed in range(20)]
    assert np.quantile(margins, [0, 0.5, 1]).round(2).tolist() == [0.95, 1.0, 1.1]
    share = (np.median(margins) - table["zero"][4]) / (table["first phase"][4] - table["zero"][4])
    assert 0.25 < share < 0.35


@page.after("table-starts")
def test_64_heads_with_equal_gaussian_rows_stay_far_from_the_step(data, step):
    assert round(np.mean([with_one_gaussian_row(data, step, 64, seed) for seed in range(5)]), 2) == 1.01


@page.after("figure-gradient")
def test_the_gradient_in_w_is_a_matrix_of_rank_one(gradient, patterns):
    singular = np.linalg.svd(patterns @ gradient @ patterns.T, compute_uv=False)
    assert singular[1] < 1e-12 * singular[0]


@page.after("figure-gradient")
def test_every_query_asks_for_the_label_s_pattern_and_not_for_distractors(data, gradient, patterns):
    entries, (own, other) = patterns @ gradient @ patterns.T, (1, 0) if data.y[0] > 0 else (0, 1)
    shown = entries[abs(entries).max(axis=1) > 1e-12]
    assert abs(entries[:, other]).max() < 1e-12
    assert (data.y[0] * shown[:, own] > 0).all()
    assert (data.y[0] * shown[:, 2:] <= 1e-12).all()


@page.after("table-noise")
def test_noise_lowers_all_margins(noise_table):
    assert quantiles(noise_table["zero", 0.0]) == [0.894] * 3
    assert quantiles(noise_table["zero", 0.5]) == [0.130, 0.221, 0.391]
    assert quantiles(noise_table["Gaussian", 0.0]) == [0.903, 0.909, 0.915]
    assert quantiles(noise_table["Gaussian", 0.5]) == [0.449, 0.522, 0.669]
    assert quantiles(noise_table["first phase", 0.0]) == [1.243, 1.247, 1.252]
    assert quantiles(noise_table["first phase", 0.5]) == [0.736, 0.858, 1.179]


@page.after("table-noise")
def test_noise_takes_three_quarters_at_zero_and_a_third_after_the_step(noise_table):
    middle = {key: np.median(found) for key, found in noise_table.items()}
    assert 0.7 < 1 - middle["zero", 0.5] / middle["zero", 0.0] < 0.8
    assert 0.3 < 1 - middle["first phase", 0.5] / middle["first phase", 0.0] < 0.35


@page.after("table-noise")
def test_an_earlier_computation_lies_in_the_ranges(noise_table):
    earlier = {"zero": (0.894, 0.150), "Gaussian": (0.910, 0.535), "first phase": (1.246, 0.965)}
    for name, values in earlier.items():
        for value, sigma in zip(values, (0.0, 0.5), strict=True):
            least, _, largest = quantiles(noise_table[name, sigma])
            assert least <= value <= largest


@page.after("table-noise")
def test_zero_loses_most_in_each_of_the_twenty_datasets(noise_table):
    lost = {name: noise_table[name, 0.0] - noise_table[name, 0.5] for name in ("zero", "Gaussian", "first phase")}
    assert (lost["zero"] > lost["Gaussian"]).all()
    assert (lost["zero"] > lost["first phase"]).all()


@page.after("table-noise")
def test_noise_keeps_the_order_of_the_starts(noise_table):
    assert (noise_table["first phase", 0.5] > noise_table["Gaussian", 0.5]).all()
    assert (noise_table["Gaussian", 0.5] > noise_table["zero", 0.5]).all()


# --- Prove: margins before and after the step -----------------------------------------------------------------


@page.after("table-noise")
def test_sampling_noise_is_two_fifths_of_the_signal(data):
    size = np.linalg.norm(signal(data.truth))
    assert round(noise_size(data.truth, 60) ** 0.5 / size, 2) == 0.42
    assert round(np.linalg.norm(sampling_noise(data)) / size, 2) == 0.39


@page.after("table-noise")
def test_mirrors_leave_no_sampling_noise(data):
    assert np.linalg.norm(sampling_noise(ntk.mirrored(data))) < 1e-14


@page.after("table-noise")
def test_inner_products_of_features_know_neither_heads_nor_signs(data, step):
    mean, features = data.X.mean(axis=1), step.features(data.X)
    psi = data.y @ mean / 60
    along = np.stack([(x - m).T @ ((x - m) @ psi) / 10 for x, m in zip(data.X, mean, strict=True)])
    assert np.allclose(features @ features.T, 10 * (mean @ mean.T) * (1 + 10 * along @ along.T), rtol=0, atol=1e-12)


@page.after("table-noise")
def test_the_bound_on_the_logits_is_nearest_with_two_heads():
    chance, delta = chance_and_bound(2, 0)
    assert chance == 0.5
    assert round(delta, 2) == 0.74
    assert round(2 / np.e, 2) == 0.74
    others = (chance_and_bound(H, plus) for H in range(1, 301) if H != 2 for plus in range(H // 2 + 1))
    assert max(p / bound for p, bound in others if bound <= 1) < 0.6 < chance / delta


@page.after("table-noise")
def test_the_row_of_the_logits_has_that_instance():
    statement = mhabook.ledger["prop-start-logits"]
    nearest = statement.on(statement.extremal[0]())
    assert nearest.lhs == 0.5
    assert round(nearest.rhs, 2) == 0.74


@page.after("table-noise")
def test_equal_signs_let_the_logits_grow_with_the_heads(data, one_random_step):
    one, many = (abs(one_random_step(data, np.ones(H))(data.X)).max() for H in (1, 64))
    assert abs(many / one - 8) < 1e-12


@page.after("table-noise")
def test_noisy_samples_are_never_a_pair():
    """Of a hundred samples with one distracting token each: without noise they hold a pair, and with mirrors."""
    quiet, noisy = (mha.data.tokenized_mixture(n=100, T=4, d=4, M=2, zeta=0.75, S=1.0, sigma=sigma, seed=0)
                    for sigma in (0.0, 0.1))
    assert ntk.has_a_pair(quiet)
    assert ntk.has_a_pair(ntk.mirrored(noisy))
    assert not ntk.has_a_pair(noisy)


# --- Check it by number ---------------------------------------------------------------------------------------


@page.after("closed-forms")
def test_closed_forms_of_the_example(sizes):
    assert sizes == EXAMPLE
    assert np.round(ntk.mixture_margins(**sizes), 4).tolist() == [0.8944, 0.6842, 1.1261]
    assert np.round(ntk.exact_margins(**sizes), 4).tolist() == [0.8944, 0.8631, 1.2429]


@page.after("even")
def test_twenty_even_samples_have_the_exact_margins(even, start):
    found = [ntk_margin(start, even, only).margin for only in ("U", "W", None)]
    assert np.allclose(found, ntk.exact_margins(**EXAMPLE), rtol=1e-12, atol=0)
    assert len(even) == 20


@page.after("even")
def test_the_witness_has_one_margin_on_all_even_samples(even, start):
    witness = ntk.witness(start, even.truth)
    margins = even.y * (start.features(even.X) @ witness.ravel())
    assert np.ptp(margins) < 1e-12
    assert abs(margins[0] - ntk.mixture_margins(**EXAMPLE).both) < 1e-12
    assert abs(witness.norm() - 1) < 1e-12


@page.after("svm-margins")
def test_a_bias_shifts_the_margin_of_scikit_learn_a_little(certificate, ours, shift):
    assert 2.5e-4 < shift < 3.5e-4
    assert abs(certificate - ours.margin) < 1e-12


@page.after("svm-margins")
def test_on_mirrored_samples_scikit_learn_agrees(data):
    mirror = ntk.mirrored(data)
    features = ntk.first_phase(mirror, 4).features(mirror.X)
    K = features @ features.T
    machine = SVC(kernel="precomputed", C=1e6, tol=1e-6).fit(K, mirror.y)
    dual, support = machine.dual_coef_[0], machine.support_
    assert abs(machine.intercept_[0]) < 1e-4
    margin = 1 / np.sqrt(dual @ K[np.ix_(support, support)] @ dual)
    assert abs(margin / max_margin(features, mirror.y).margin - 1) < 1e-6


@page.after("approach")
def test_margins_approach_the_exact_one_from_above(excess):
    assert min(map(min, excess)) > 0
    assert 0.015 < max(map(max, excess)) < 0.016
    assert np.mean(excess, axis=1)[0] > 4e-3
    assert np.mean(excess, axis=1)[-1] < 5e-4


@page.after("approach")
def test_without_sampling_noise_they_reach_it(no_chance):
    assert np.mean(no_chance, axis=1)[-1] < 2e-5
    assert min(map(min, no_chance)) > -1e-12


@page.after("approach")
def test_the_margin_found_before_the_theorem_is_that_of_one_dataset():
    earlier = mha.data.tokenized_mixture(200, 10, 12, 5, 0.2, 2.0, 0.0, seed=1)
    assert round(ntk_margin(ntk.first_phase(earlier, 4), earlier).margin, 4) == 1.2457


@page.after("approach")
def test_sampling_noise_spreads_the_margins_of_the_witness(data, step):
    margins = data.y * (step.features(data.X) @ ntk.witness(step, data.truth).ravel())
    assert round(margins.min(), 2) == 1.05
    assert round(margins.max(), 2) == 1.20


@page.after("figure-saturated")
def test_moved_attention_gains_a_factor_that_tends_to_five(exact, limit, reached):
    assert round(limit, 3) == 4.472
    assert abs(reached[0] - exact.U) < 1e-12
    assert 0.97 < reached[-1] / limit < 1
    assert (np.diff(reached) > 0).all()
    assert round(limit / exact.U, 12) == 5


@page.after("figure-saturated")
def test_its_margins_are_the_formula(mixture, reached, strengths):
    formula = [ntk.saturation(mixture, strength)[1] for strength in strengths]
    assert abs(np.array(reached) - formula).max() < 1e-12


# --- Move the sliders -----------------------------------------------------------------------------------------


@page.after("live")
def test_the_part_of_w_overtakes_at_long_patterns(live):
    ratio = {S: found["margin_W"][0] / found["margin_U"][0] for S, found in over(live, "S").items()}
    assert round(ratio[0.5], 3) == 0.015
    assert round(ratio[3.0], 1) == 3.3
    assert [S for S in ratio if ratio[S] > 1] == [3.0]


@page.after("live")
def test_seven_tenths_relevant_tokens_give_w_most(live):
    exact = {zeta: found["exact"][1] for zeta, found in over(live, "zeta").items()}
    assert max(exact, key=exact.get) == 0.7


@page.after("live")
def test_gaussian_decoders_come_near_where_nothing_is_at_stake(live):
    gaussian, first = ({S: live.drawn(S=S, initialization=kind)[f"over_{kind}"][0] for S in (0.5, 3.0)}
                       for kind in ("gaussian", "first"))
    assert gaussian[0.5] > 0.999 * first[0.5]
    assert gaussian[3.0] < 0.35 * first[3.0]


@page.after("live")
def test_without_mirrors_only_the_bar_of_u_stays(live):
    plain = live.drawn(mirror=False)
    assert 1 < plain["margin"][0] / plain["gamma_star"] < 1.01
    assert abs(plain["margin_U"][0] - plain["exact"][0]) < 1e-12


@page.after("live")
def test_at_large_noise_two_curves_bend_up_again(live):
    drawn = live.drawn()
    assert drawn["over_zero"][-1] < 0.05
    assert drawn["over_first"][-1] > max(0.85, drawn["over_first"][-2])
    assert drawn["over_gaussian"][-1] > drawn["over_gaussian"][-2]
    assert round(drawn["over_gaussian"][4], 2) == 0.57
    assert round(drawn["over_gaussian"][6], 2) == 0.65


@page.after("live")
def test_noise_can_be_memorized():
    memory = [np.mean([margin_of_random_labels(sigma, seed) for seed in range(10)]) for sigma in (0.5, 1.0)]
    assert np.round(memory, 2).tolist() == [0.11, 0.23]


# --- Where it breaks ------------------------------------------------------------------------------------------


@page.after("twin")
def test_patterns_of_unequal_norm_miss_the_exact_margin():
    assert not mhabook.ledger["thm-exact-margin"].twin(seed=1).holds


# --- Exercises ------------------------------------------------------------------------------------------------


@page.after("solution-infinite")
def test_infinitely_many_gaussian_heads_are_like_64(infinite, many):
    assert abs(infinite / many - 1) < 5e-3
    assert 0.905 < infinite < 0.92
