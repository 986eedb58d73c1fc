"""What the page preconditioning/09_attention_is_a_tilted_average says, held against what its cells leave."""

import numpy as np

import mhabook
from mhabook.c09_tilting import finite_context
from mhabook.c09_tilting import statements as tilting
from mhabook.c09_tilting.runs import VS, slope, spread
from notebooks import BOOK, code, read, source
from page import Page

page = Page("preconditioning/09_attention_is_a_tilted_average")


# --- 1,000 tokens ----------------------------------------------------------------------------------------------


def row_of(queries, x):
    return int(np.argmin(abs(queries[:, 0] - x)))


@page.after("effective-tokens")
def test_the_mean_is_near_the_query_up_to_2_and_ends_near_the_largest_token(data, means, queries):
    at_1, at_2, at_5 = (means[row_of(queries, x), 0] for x in (1, 2, 5))
    assert at_1.round(2) == 0.95
    assert at_2.round(2) == 1.82
    assert at_5.round(2) == 2.98
    assert data.x.max().round(2) == 3.18
    assert data.x.min().round(2) == -3.18


@page.after("effective-tokens")
def test_queries_1_2_and_3_read_389_53_and_11_tokens(effective, queries):
    assert effective[[row_of(queries, x) for x in (1, 2, 3)]].round(0).tolist() == [389, 53, 11]


@page.after("effective-tokens")
def test_the_limit_says_368_18_and_a_tenth_of_a_token():
    assert (1000 * np.exp(-np.array([1, 4, 9]))).round(1).tolist() == [367.9, 18.3, 0.1]


@page.after("effective-tokens")
def test_the_exact_integral_is_far_from_the_limit_at_3():
    assert [round(1 / finite_context.query_error(1000, tau)[1]) for tau in (1, 2, 3)] == [371, 34, 7]


# --- the error against the number of tokens --------------------------------------------------------------------


def local_slopes(sizes, true):
    """v → the slopes of the logarithm of the exact error from one size to the next."""
    return {v: np.diff(np.log(true[v])) / np.diff(np.log(sizes)) for v in VS}


def at_scale(CS, values, c):
    return float(values[CS.tolist().index(c)])


@page.after("solution-largest")
def test_about_two_tokens_share_the_weight_far_beyond_the_edge(shares):
    assert [round(value, 2) for value in shares.values()] == [0.57, 0.54, 0.52, 0.51]


@page.after("solution-open")
def test_the_excess_of_the_training_loss_falls_by_a_power_of_about_a_quarter(gaps):
    assert gaps[250] > gaps[1000] > gaps[4000] > 0
    assert abs(np.diff(np.log(list(gaps.values()))) / np.log(4) + 0.25).max() < 0.04


@page.after("solution-open")
def test_its_own_token_helps_a_query_at_the_identity(fresh, gaps):
    assert all(gaps[n] < fresh[n] for n in gaps)
    assert gaps[250] < 0.65 * fresh[250]
