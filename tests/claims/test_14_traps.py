"""What the page kernels/14_traps says, held against what its cells leave."""

import numpy as np
import pytest

import mhalib as mha
from mhabook.c14_traps import lines
from mhabook.c14_traps import statements as traps
from page import Page

page = Page("kernels/14_traps")
ZERO, CLEAR = 1e-4, 0.1
"""Losses that are nearly zero, and losses that are not."""


def ends(live, **values):
    """Where the two queries of the figure end, and their losses there: softmax, then the Gaussian
    kernel."""
    drawn = live.drawn(**values)
    return [drawn[f"{short}_last{part}"] for short in ("soft", "gauss") for part in ("", "_loss")]


@page.after("descend")
def test_zero_is_where_the_ways_part_under_softmax(live, path, query, target):
    np.testing.assert_allclose(live.path().soft_q[-1], path[-1, 0], rtol=1e-9)
    assert any(one.q < 0 and not one.spurious for one in query.minima(target))
    for q in (-2.0, -0.4, -0.1, 0.1, 0.3, 2.0):
        end, loss, _, _ = ends(live, q=q)
        assert (end < 0, loss < ZERO, loss > CLEAR) == (q < 0, q < 0, q > 0)


@page.after("descend")
def test_the_gaussian_query_goes_right_and_arrives_and_where_values_rise_the_roles_change(live):
    _, _, end, loss = ends(live)
    assert end > 0.3 and loss < ZERO
    _, soft, end, loss = ends(live, case="that rise", q=-1.0)
    assert soft < ZERO and loss > CLEAR and abs(end + 2) < 0.01
    _, _, end, loss = ends(live, case="that rise", q=-1.0, c=0.125)
    assert loss < ZERO and np.exp(-0.125 * (end - np.array([-2, 2])) ** 2).min() > 0.25


@page.after("check-descent")
def test_the_loss_is_that_of_the_library_and_descent_ends_where_the_figure_ends(
    half, k, path, q, query_loss, rising, target, u
):
    assert query_loss(0.3, k, u, target) == pytest.approx(half, rel=1e-12)
    keys, values, y = (np.array(part) for part in rising)
    line = lines.Line(keys, values, mha.gaussian)
    assert query_loss(-1.0, keys, values, y, "Gaussian") == pytest.approx(
        line.loss(-1.0, y), rel=1e-12
    )
    assert q == pytest.approx(path[-1, 0], abs=1e-6)


@page.after("check-barrier")
def test_the_first_task_satisfies_the_conditions_of_the_barrier(k, means, most, query, u):
    np.testing.assert_allclose(means, [1, 1.5, 1 / 3, 1])
    np.testing.assert_allclose(means, traps.top_means(k, u))
    assert (
        query.output([0.3])[0] > means[-1]
        and most < means.max()
        and (2 - means.max()) ** 2 / 2 == 1 / 8
    )


@page.after("check-minima")
def test_the_second_task_satisfies_the_conditions_of_a_trap_and_has_one(held, rising, w):
    weights, spill = traps.spare(
        mha.gaussian, *(np.array(part, float)[:, None] for part in rising[:2])
    )
    assert (weights[0], spill[0]) == pytest.approx((w, 2 * w))
    assert 2 * w < rising[2] - 1 and 4 * w < 1 - w
    assert [one.spurious for one in held] == [True, False, False]


@page.after("figure-released")
def test_moving_keys_free_the_queries_and_so_do_moving_keys_and_values(free):
    soft, gauss = (list(ways.values()) for ways in free.values())
    assert soft[0].loss[-1] > 1 and max(run.loss[-1] for run in soft[1:]) < 1e-3
    assert gauss[0].loss[-1] > 0.2 and max(run.loss[-1] for run in gauss[1:]) < 1e-20
    before, after = (np.argsort(model.WK.ravel()).tolist() for model in (soft[1][0], soft[1][-1]))
    assert before != after
    np.testing.assert_array_equal(gauss[1][0].WQ, -1)
    before, after = (
        abs(model.WK.max() - model.WQ.max())
        for model in gauss[1].models[:: len(gauss[1].models) - 1]
    )
    assert after < before


@page.after("solution-push")
def test_no_rule_gets_a_query_out_of_the_first_task(pushed):
    assert all(path[-1].WQ.min() > 0.9 and path.loss[-1] > 1.3 for path in pushed.values())
