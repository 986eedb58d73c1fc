"""What the page theory_and_practice says, held against what its cells leave."""

from functools import cache
from itertools import product

import numpy as np

import mhabook
import mhalib as mha
from mhabook.c04_convergence import chain, starts
from mhabook.c13_layer.statements import value_smoothness
from mhabook.pages.theory_and_practice import kernels, least_shares, multihead, preconditioning
from mhabook.tables import stored
from page import Page

page = Page("theory_and_practice")
EASIEST = {"zeta": 0.8, "S": 0.5, "T": 20}


@cache
def drawn(live, **values):
    return live.drawn(**values)


def named(rows, label):
    """The row with this label."""
    (row,) = (row for row in rows if row.label == label)
    return row


# --- Move the condition yourself ------------------------------------------------------------------------------


@page.after("live")
def test_the_figure_opens_with_more_heads_than_are_asked_for(live):
    opened = drawn(live)
    assert opened["steps"][-1] == 1000
    assert 1e11 < opened["heads_needed"] < 1e12
    assert live.drawn(H=10 ** 12)["loss"] == opened["loss"]


@page.after("live")
def test_the_loss_falls_below_the_promise_at_all_four_settings(live):
    for values in ({}, {"H": 2}, {"H": 2, "lr": 10}, {"H": 2} | EASIEST):
        run = drawn(live, **values)
        assert (np.array(run["loss"]) < run["guarantee"]).all()
        assert (np.diff(run["loss"]) < 0).all()


@page.after("live")
def test_two_heads_and_a_long_step_are_the_ends_of_the_sliders(live):
    assert (live.controls["H"].values[0], live.controls["lr"].values[-1]) == (2, 10)
    assert drawn(live, H=2)["largest_step"] < 1e-3


@page.after("live")
def test_the_easiest_setting_asks_for_a_two_hundred_thousandth(live):
    easiest = drawn(live, H=2, **EASIEST)["heads_needed"]
    assert 200_000 < drawn(live)["heads_needed"] / easiest < 250_000


def heads_asked(zeta, S, T):
    """What Theorem 1 asks for in the live figure at these settings."""
    data = mha.data.tokenized_mixture(n=16, T=T, d=7, M=5, zeta=zeta, S=S, sigma=0.0, seed=0)
    start = starts.first_phase_groups(data, (1, 1))
    toward = chain.reference_along(start, starts.mixture_witness(data, start.copies), data, 1000)
    return chain.heads_needed(toward.distance, chain.decoder_sizes(start)[0], T, S)


@page.after("live")
def test_no_setting_of_the_three_sliders_asks_for_fewer_heads(live):
    settings = product(*(live.controls[name].values for name in EASIEST))
    assert min(settings, key=lambda values: heads_asked(*values)) == tuple(EASIEST.values())
    assert abs(heads_asked(**EASIEST) / drawn(live, H=2, **EASIEST)["heads_needed"] - 1) < 1e-9


# --- The rows -------------------------------------------------------------------------------------------------


@page.after("all-rows")
def test_equal_heads_are_one_and_random_starts_end_higher():
    assert multihead.equal_heads(mha.data.tokenized_mixture(seed=0)) < 1e-13
    assert 1.3 < multihead.random_heads(stored("heads.npz")) < 1.4


@page.after("all-rows")
def test_the_curvature_of_these_data_is_far_below_its_bound_which_others_attain(rows):
    assert 100 < named(rows, "curvature").factor < 10_000
    assert mhabook.ledger["prop-1-hessian"].check(0).slack == 0


@page.after("all-rows")
def test_thirty_samples_have_nearly_the_exact_margin(rows):
    assert 1 < named(rows, "exact margin").factor < 1.01


@page.after("all-rows")
def test_more_heads_come_nearer_to_the_limit():
    off = list(multihead.off_the_limit(mha.data.tokenized_mixture(seed=0)).values())
    assert off == sorted(off, reverse=True)


@page.after("all-rows")
def test_the_promises_on_samples_are_far_off(rows):
    row = named(rows, "samples")
    assert row.asks.startswith("20,438 for ") and row.runs.startswith("8, the least stored,")
    assert 1.2e5 < named(rows, "test minus training loss").factor < 1.3e5


@page.after("all-rows")
def test_fewer_tokens_than_asked_reach_the_floor(rows):
    row = named(rows, "tokens for a start")
    assert row.asks.endswith(": 2,000, in 20 of 20 draws") and row.runs.startswith("250, the least stored:")
    derived = preconditioning.derived_floor(mha.data.linear_regression(n=2000, d=5, p=5, seed=0))
    assert max(preconditioning.stored_floors().values()) < 1.25 * derived


@page.after("all-rows")
def test_the_best_constant_step_and_the_excess_are_as_derived(rows):
    excess = preconditioning.constant_step(mha.data.linear_regression(n=2000, d=5, p=5, seed=0))
    assert abs(excess[40] / excess[39] - 0.36) < 1e-3
    assert named(rows, "excess that n samples leave").factor < 1.1


@page.after("all-rows")
def test_the_dimension_for_values_alone_is_sharp(rows):
    assert "from D = 32 on" in named(rows, "dimension, values alone").runs
    left = kernels.left_over("WV", "softmax", True, 1.0)
    assert np.median(left[24]) > 0.1
    assert np.median(left[40]) < 1e-11


@page.after("all-rows")
def test_the_least_dimension_tried_is_enough_for_all_weights(rows):
    assert min(kernels.left_over("WQ WK WV", "softmax", False, 0.5)) == 16
    assert "at 16, the least tried," in named(rows, "dimension, all weights").runs


@page.after("all-rows")
def test_all_weights_may_take_the_longer_step():
    layer, sequences = kernels.layer_and_data()
    rule = mha.GradientDescent(1 / value_smoothness(layer, sequences.X))
    rest = mha.train(layer, sequences, rule, 100, record=2)
    assert rest.loss[-1] < 1e-6 * rest.loss[0]


@page.after("all-rows")
def test_steps_first_loss_and_step_size(rows):
    spans = {"steps, values alone": (1.5, 2), "first loss, all weights": (1e8, 2e8),
             "step size, all weights": (400, 500)}
    for label, (low, high) in spans.items():
        assert low < named(rows, label).factor < high, label


@page.after("all-rows")
def test_wells_are_found_from_a_width_on():
    for holds in (kernels.promised_well, kernels.has_well):
        found = [holds(c) for c in kernels.WIDTHS]
        assert found == sorted(found)


@page.after("all-rows")
def test_no_row_is_better_than_its_theorem(factors, rows):
    assert len(factors) + 2 == len({row.label for row in rows}) == len(rows)
    assert min(factors.values()) > 1 - 1e-12


@page.after("more-table")
def test_there_are_as_many_rows_and_factors_as_the_text_counts(factors, main, rows):
    far, sharp = (sum(map(wanted, factors.values())) for wanted in (lambda f: f > 1000, lambda f: f <= 2))
    assert (len(main), len(rows), len(factors), far, sharp) == (17, 27, 25, 8, 9)
    assert 2 < factors["steps of waiting"] < 2.05


@page.after("attained")
def test_three_attained_theorems_are_those_with_nearly_equal_sides():
    least = least_shares()
    for id in ("thm-local-rate", "thm-neighborhood", "thm-2-left-out"):
        assert abs(least[id]) < 0.01, id
