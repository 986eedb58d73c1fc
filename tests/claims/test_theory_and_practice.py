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


# --- Move the condition yourself
# ------------------------------------------------------------------------------


@page.after("live")
def test_the_figure_opens_with_more_heads_than_are_asked_for(live):
    opened = drawn(live)
    assert opened["steps"][-1] == 1000
    assert 1e11 < opened["heads_needed"] < 1e12
    assert live.drawn(H=10**12)["loss"] == opened["loss"]


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


# --- The rows
# -------------------------------------------------------------------------------------------------


@page.after("all-rows")
def test_the_curvature_of_these_data_is_far_below_its_bound_which_others_attain(rows):
    assert named(rows, "curvature").factor > 100
    assert mhabook.ledger["prop-1-hessian"].check(0).slack == 0


@page.after("all-rows")
def test_more_heads_come_nearer_to_the_limit():
    off = list(multihead.off_the_limit(mha.data.tokenized_mixture(seed=0)).values())
    assert off == sorted(off, reverse=True)


@page.after("all-rows")
def test_the_least_that_was_tried_is_enough_where_a_row_says_so(rows):
    least = {
        "samples": min(stored("generalization_gap.npz").where(start="many", sigma=0.0)["n"]),
        "tokens for a start": min(preconditioning.stored_floors()),
        "samples for SA1": min(preconditioning.stored_floors()),
        "dimension, all weights": min(kernels.left_over("WQ WK WV", "softmax", False, 0.5)),
    }
    for label, number in least.items():
        assert f"{number}, the least" in named(rows, label).runs


@page.after("all-rows")
def test_all_weights_may_take_the_longer_step():
    layer, sequences = kernels.layer_and_data()
    rule = mha.GradientDescent(1 / value_smoothness(layer, sequences.X))
    rest = mha.train(layer, sequences, rule, 100, record=2)
    assert rest.loss[-1] < 1e-6 * rest.loss[0]


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
    far, sharp = (
        sum(map(wanted, factors.values())) for wanted in (lambda f: f > 1000, lambda f: f <= 2)
    )
    assert (len(main), len(rows), len(factors), far, sharp) == (19, 29, 27, 10, 9)
    assert 2 < factors["steps of waiting"] < 2.05


@page.after("attained")
def test_three_attained_theorems_are_those_with_nearly_equal_sides():
    least = least_shares()
    for id in ("thm-local-rate", "thm-neighborhood", "thm-2-left-out"):
        assert abs(least[id]) < 0.01, id
