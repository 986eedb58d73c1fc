"""What the page start/sheets says, held against what its cells leave."""

import numpy as np

from page import Page

page = Page("start/sheets")


@page.after("solution-weights")
def test_softmax_of_logarithms_is_proportional_to_the_numbers(j, weights):
    assert np.allclose(weights, 2 * j / (19 * 20))


@page.after("solution-weights")
def test_of_nineteen_tokens_none_has_more_than_a_tenth(weights):
    assert abs(weights.max() - 0.1) < 1e-12


@page.after("solution-copies")
def test_eight_copies_with_shorter_decoders_are_one_head(data, eight, one):
    assert np.allclose(eight(data.X), one(data.X), rtol=1e-12)


@page.after("solution-quadratic")
def test_a_step_on_a_quadratic_multiplies(curvature, eta, x):
    assert np.allclose(x, (1 - eta * curvature) ** 5)


@page.after("solution-price")
def test_twice_the_way_asks_for_64_or_16_times_the_heads(factors):
    assert np.allclose(factors, [2 ** 6, 2 ** 4], rtol=1e-3)


@page.after("solution-error")
def test_the_standard_error_of_an_accuracy(formula, right):
    assert abs(formula - (0.8 * 0.2 / 872) ** 0.5) < 1e-12
    assert round(formula, 3) == 0.014
    assert 2 * formula > 0.02
    assert abs(right.mean(axis=1).std() / formula - 1) < 0.02


@page.after("solution-effective")
def test_the_formula_gives_18_of_1000_tokens_and_the_median_draw_52(formula, median):
    assert round(formula) == 18
    assert round(median) == 52


@page.after("solution-effective")
def test_the_formula_gives_19_of_1024_tokens():
    assert round(1024 * np.exp(-4)) == 19


@page.after("solution-effective")
def test_97_of_100_draws_have_no_score_of_four_standard_deviations(draws):
    assert round((draws.max(axis=1) < 4).mean(), 2) == 0.97


@page.after("solution-halfway")
def test_halfway_under_both_kernels(gauss, q, soft):
    assert np.allclose(soft, 1 / (1 + np.exp(-2 * q[:, 0])))
    assert np.allclose(gauss, [np.exp(-0.5), 1, 0.5])


@page.after("solution-halfway")
def test_every_softmax_query_arrives_and_of_the_gaussian_ones_those_that_start_near(g, s):
    assert (1 - s).max() < 0.003
    assert (1 - g[:2]).max() < 0.001
    assert g[2:].max() < 1e-5
