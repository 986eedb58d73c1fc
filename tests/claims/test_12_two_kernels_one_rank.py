"""What the page kernels/12_two_kernels_one_rank says, held against what its cells leave."""

import numpy as np

import mhabook
import mhalib as mha
from mhabook.c12_two_kernels import statements as two_kernels
from page import Page

page = Page("kernels/12_two_kernels_one_rank")


# --- three keys on a line --------------------------------------------------------------------------------------


@page.after("figure-weights")
def test_only_the_distance_selects_the_middle_key(between, gauss, soft):
    assert [round(float(w[:, 1].max()), 2) for w in (soft, gauss, between)] == [0.35, 1.0, 0.59]


@page.after("figure-weights")
def test_a_query_on_the_middle_key_gives_it_the_weight_1(gauss, queries):
    assert queries[80, 0] == 0
    assert gauss[80].round(2).tolist() == [0.14, 1.0, 0.61]
    assert round(gauss[80].sum(), 2) == 1.74


@page.after("figure-weights")
def test_stretching_the_line_helps_the_control_and_not_softmax(keys, queries):
    stretched = mha.softmax(mha.softmax.scores(np.linspace(-1, 1, 2001)[:, None], 4 * keys))
    assert round(float(stretched[:, 1].max()), 2) == 0.35
    narrow = mha.gaussian(mha.gaussian.scores(4 * queries, 4 * keys))
    assert (narrow / narrow.sum(axis=1, keepdims=True))[:, 1].max() > 0.99


@page.after("figure-weights")
def test_the_bound_on_the_middle_key_is_the_top_of_its_softmax_curve(soft):
    shares = np.array([1, 2]) / 3
    entropy = -(shares * np.log(shares)).sum()
    assert round(entropy, 3) == 0.637
    assert round(1 / (1 + np.exp(entropy)), 3) == 0.346 == round(float(soft[:, 1].max()), 3)


@page.after("ledger")
def test_every_statement_holds_and_its_twin_fails(checks, names):
    assert all(check.holds for check in checks)
    assert not any(mhabook.ledger[name].twin(0).holds for name in names)


@page.after("ledger")
def test_far_from_the_keys_the_gaussian_output_is_flatter(keys, values):
    far, u = np.array([[8.0]]), values[:, None]
    soft, gauss = mha.softmax(mha.softmax.scores(far, keys)), mha.gaussian(mha.gaussian.scores(far, keys))
    slope = (soft @ (u * keys) - soft @ u * (soft @ keys))[0, 0]
    assert round(-slope, 3) == 0.001
    assert round((gauss @ (u * (keys - 8)))[0, 0] * 1e10) == 2


def forces(drawn):
    """The force on the query under softmax, the Gaussian kernel, and the control."""
    return [round(drawn[f"{name}_here_force"], 2) for name in THREE]


def hills(drawn):
    """The largest weight of the middle key under each of the three."""
    return [max(drawn[f"{name}_weight"]) for name in THREE]
