"""What the page preconditioning/09_further says, held against what its cells leave."""

import numpy as np

from mhabook.c09_tilting.runs import VS, slope, spread
from mhabook.c09_tilting.statements import best_scale, exponent
from page import Page

page = Page("preconditioning/09_further")


@page.after("slopes-table")
def test_slopes_of_means_are_the_exact_ones_up_to_chance_and_those_of_medians_are_steeper(
    errors, ns, true
):
    for v in VS:
        assert abs(slope(ns, errors[v].mean(axis=0)) - slope(ns, true[v])) < 4 * spread(
            ns, errors[v]
        )
    assert all(slope(ns, np.median(errors[v], axis=0)) < slope(ns, true[v]) for v in VS[1:])


@page.after("z-scores")
def test_drawn_tokens_agree_with_the_integral_in_66_means(z):
    assert np.size([*z.values()]) == 66
    assert np.abs([*z.values()]).max() < 3.5


@page.after("say-slopes")
def test_slopes_are_near_the_derived_ones_at_a_million_tokens_and_nearer_at_1e60(
    at_million, sizes, true
):
    million = np.array([at_million[v] - exponent(v) for v in VS])
    last = [
        np.log(true[v][-1] / true[v][-2]) / np.log(sizes[-1] / sizes[-2]) - exponent(v) for v in VS
    ]
    assert np.argmax(abs(million)) == VS.index(0.5**0.5)
    assert (million < 0)[[v >= 1.4 for v in VS]].all()
    assert np.abs(last).max() < 0.0135


@page.after("say-scale")
def test_costs_are_least_next_to_the_best_scale_of_the_formula(CS, cost, half, mean, ratio, scales):
    best = best_scale(np.diag(half), np.diag(half))
    assert abs(CS - best).argmin() == mean.argmin()
    assert 0.24 < mean.min() / mean[CS == 1][0] < 0.28
    assert ratio[CS == 1.5][0] < 0.3 < 0.85 < ratio[mean.argmin()] < 1
    assert abs([scales.where(c=c)["fresh"].mean() for c in CS] / mean - 1).max() < 0.025


@page.after("live")
def test_more_tokens_help_little_where_scores_are_strong_and_not_at_all_in_a_box(live):
    cases = {}, {"v": 2.0}, {"n": 1024}, {"tokens": "box"}
    plain, strong, many, box = (live.drawn(**values) for values in cases)
    assert [round(case["right"][0] / plain["right"][0], 2) for case in (strong, many)] == [0.5, 1.2]
    assert 2 < many["two"] / plain["two"] < 2.5
    assert (
        strong["error"][0] / strong["error"][-1] < 4 < 16 < plain["error"][0] / plain["error"][-1]
    )
    assert 0.1 < min(box["error"][2:]) < max(box["error"][2:]) < 0.11 < 0.15 < box["error"][0]


@page.after("other-tokens-table")
def test_tokens_with_outliers_have_few_effective_ones_and_a_mean_near_the_largest(drawn, found):
    means, counts = np.array([found[name] for name in drawn]).T
    assert abs(means[:2] - [1, drawn["uniform"][1]]).max() < 0.01
    assert counts[1] > counts[2] > 100 > counts[3].round() == 2
    assert 0.9 < means[3] / drawn["Student, 5 degrees"][0].max() < 1


def test_the_line_of_another_paper_lies_below_the_exponent_and_meets_it_to_the_fourth_order():
    """n^{−1/(1+v²)} is the square of the reference line in the code of Bohbot et al.; the
    difference is about 1/v⁶."""
    for v in np.geomspace(0.05, 50, 200):
        assert -exponent(v) > 1 / (1 + v**2)
    for v in (20.0, 40.0):
        assert np.isclose((-exponent(v) - 1 / (1 + v**2)) * v**6, 1, rtol=0.02)
