"""What the page theory_and_practice says, held against what its cells leave."""

from itertools import product

import numpy as np

import mhabook
import mhalib as mha
from mhabook.c04_convergence import chain, starts
from page import Page

page = Page("theory_and_practice")


# --- Move the condition yourself ------------------------------------------------------------------------------


@page.after("live-runs")
def test_the_figure_opens_with_more_heads_than_are_asked_for(live, opened):
    assert opened["steps"][-1] == 1000
    assert f"{opened['heads_needed']:.1e}" == "4.3e+11"
    assert live.drawn(H=10 ** 12)["loss"] == opened["loss"]


@page.after("live-runs")
def test_the_loss_falls_below_the_promise_at_all_four_settings(bold, easiest, opened, two):
    for drawn in (opened, two, bold, easiest):
        assert (np.array(drawn["loss"]) < drawn["guarantee"]).all()
        assert (np.diff(drawn["loss"]) < 0).all()


@page.after("live-runs")
def test_two_heads_and_a_long_step_are_the_ends_of_the_sliders(BOLD, LEAST, two):
    assert (LEAST, BOLD) == (2, 10)
    assert f"{two['largest_step']:.1e}" == "1.1e-04"


@page.after("live-runs")
def test_two_heads_end_far_below_the_promise(two):
    assert round(two["loss"][-1], 4) == 0.0032
    assert round(two["guarantee"][-1], 2) == 0.61


@page.after("live-runs")
def test_the_easiest_setting_asks_for_a_two_hundred_thousandth(easiest, opened):
    assert f"{easiest['heads_needed']:.1e}" == "1.9e+06"
    assert 200_000 < opened["heads_needed"] / easiest["heads_needed"] < 250_000


def heads_asked(zeta, S, T):
    """What Theorem 1 asks for in the live figure at these settings."""
    data = mha.data.tokenized_mixture(n=16, T=T, d=7, M=5, zeta=zeta, S=S, sigma=0.0, seed=0)
    start = starts.first_phase_groups(data, (1, 1))
    toward = chain.reference_along(start, starts.mixture_witness(data, start.copies), data, 1000)
    return chain.heads_needed(toward.distance, chain.decoder_sizes(start)[0], T, S)


@page.after("live-runs")
def test_no_setting_of_the_three_sliders_asks_for_fewer_heads(EASIEST, easiest, live):
    settings = product(*(live.controls[name].values for name in EASIEST))
    assert min(settings, key=lambda values: heads_asked(*values)) == tuple(EASIEST.values())
    assert abs(heads_asked(**EASIEST) / easiest["heads_needed"] - 1) < 1e-9


# --- The rows -------------------------------------------------------------------------------------------------


@page.after("part-1")
def test_equal_heads_are_one_and_random_starts_end_higher(error, higher):
    assert error < 1e-13
    assert 1.3 < higher < 1.4


@page.after("part-1")
def test_the_curvature_of_these_data_is_far_below_its_bound_which_others_attain(rows):
    assert 100 < rows[-1]["factor"] < 10_000
    assert mhabook.ledger["prop-1-hessian"].check(0).slack == 0


@page.after("margins")
def test_thirty_samples_have_nearly_the_exact_margin(exact, margin):
    assert 1 < margin / exact < 1.01


@page.after("attention")
def test_more_heads_come_nearer_to_the_limit(off):
    assert list(off.values()) == sorted(off.values(), reverse=True)


@page.after("samples")
def test_the_promises_on_samples_are_far_off(few, promised, samples, test, train):
    assert samples.samples == 20438
    assert few == 8
    assert 1.2e5 < promised / (test - train) < 1.3e5


@page.after("start-near")
def test_fewer_tokens_than_asked_reach_the_floor(asked, derived, ends, needed):
    assert (asked, needed) == (2000, 250)
    assert max(ends.values()) < 1.25 * derived


@page.after("rates")
def test_the_best_constant_step_and_the_excess_are_as_derived(excess, rows):
    assert abs(excess[40] / excess[39] - 0.36) < 1e-3
    assert rows[-1]["factor"] < 1.1


@page.after("dimension")
def test_the_dimension_for_values_alone_is_sharp(sharp, values):
    assert sharp == 32
    assert np.median(values[24]) > 0.1
    assert np.median(values[40]) < 1e-11


@page.after("dimension")
def test_the_least_dimension_tried_is_enough_for_all_weights(everything, whole):
    assert whole == min(everything) == 16


@page.after("steps")
def test_all_weights_may_take_the_longer_step(layer, sequences, smooth):
    rest = mha.train(layer, sequences, mha.GradientDescent(1 / smooth), 100, record=2)
    assert rest.loss[-1] < 1e-6 * rest.loss[0]


@page.after("steps-rows")
def test_steps_first_loss_and_step_size(begin, close, shorter, taken, told):
    assert 1.5 < told / taken < 2
    assert 1e8 < begin / close < 2e8
    assert 400 < shorter < 500


@page.after("all-rows")
def test_wells_are_found_from_a_width_on(found):
    assert found == [sorted(each) for each in found]


@page.after("all-rows")
def test_no_row_is_better_than_its_theorem(factors, rows):
    assert len(factors) + 2 == len({row["label"] for row in rows}) == len(rows)
    assert min(factors.values()) > 1 - 1e-12


@page.after("more-table")
def test_there_are_as_many_rows_and_factors_as_the_text_counts(factors, main, rows):
    far, sharp = (sum(map(wanted, factors.values())) for wanted in (lambda f: f > 1000, lambda f: f <= 2))
    assert (len(main), len(rows), len(factors), far, sharp) == (17, 27, 25, 8, 9)


@page.after("more-table")
def test_the_steps_of_waiting_are_just_above_two(factors):
    assert 2 < factors["steps of waiting"] < 2.05


@page.after("more-table")
def test_every_factor_has_its_size(factors):
    spans = {"heads": (2.1e11, 2.2e11), "heads, head by head": (7.9e7, 8.1e7), "step size, 2 heads": (8.8e4, 8.9e4),
             "samples": (2500, 2600), "how far W has moved": (2500, 2600), "distance of two runs": (23, 24),
             "loss of the left-out sample": (4.7, 4.8), "power of n in the error": (1.5, 1.6),
             "tokens for a start": (8, 8), "steps of waiting": (2, 2.1), "keys far apart": (1.8, 1.9),
             "target beyond a barrier": (1.2, 1.3), "dimension, values alone": (1, 1),
             "slope, queries alone": (3700, 3900)}
    for label, (low, high) in spans.items():
        assert low <= factors[label] <= high, label


@page.after("attained")
def test_three_attained_theorems_are_those_with_nearly_equal_sides(least):
    for id in ("thm-local-rate", "thm-neighborhood", "thm-2-left-out"):
        assert abs(least[id]) < 0.01, id


@page.after("attained")
def test_the_shares_of_the_training_theorems_are_those_of_chapter_4(least):
    assert round(least["thm-1-training"], 2) == 0.26
    assert round(least["thm-1-fewer-heads"], 2) == 0.19
