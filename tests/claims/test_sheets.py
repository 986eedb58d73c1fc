"""What the page start/sheets says, held against what its cells leave."""

from page import Page

page = Page("start/sheets")


@page.after("solution-error")
def test_the_standard_error_of_an_accuracy(formula, right):
    assert 2 * formula > 0.02
    assert abs(right.mean(axis=1).std() / formula - 1) < 0.02


@page.after("solution-effective")
def test_most_draws_have_several_times_as_many_tokens_as_the_formula_says(formula, median):
    assert 2 * formula < median < 4 * formula


@page.after("solution-halfway")
def test_every_softmax_query_arrives_and_of_the_gaussian_ones_those_that_start_near(g, s):
    assert (1 - s).max() < 0.003
    assert (1 - g[:2]).max() < 0.001
    assert g[2:].max() < 1e-5
