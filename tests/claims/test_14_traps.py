"""What the page kernels/14_traps says, held against what its cells leave."""

import numpy as np
import pytest

import mhabook
import mhalib as mha
from mhabook.c14_traps import lines
from mhabook.c14_traps import statements as traps
from page import Page

page = Page("kernels/14_traps")
NEARLY_ZERO = 1e-4
RISING = {"case": "that rise", "q": -1.0}


def ends(live, **values):
    """Where the two queries of the figure end, and their losses there."""
    drawn = live.drawn(**values)
    return [(drawn[f"{short}_last"], drawn[f"{short}_last_loss"]) for short in ("soft", "gauss")]


@page.after("descend")
def test_the_figure_is_the_run_of_the_lines_above_it(live, path):
    np.testing.assert_allclose(live.path().soft_q[-1], path[-1, 0], rtol=1e-9)


@page.after("descend")
def test_as_it_starts_both_go_to_the_right_and_the_gaussian_query_alone_meets_the_target(live, query, target):
    (soft, soft_loss), (gauss, gauss_loss) = ends(live)
    assert min(soft, gauss) > 0.3 and gauss_loss < NEARLY_ZERO < 0.3 < soft_loss
    assert any(one.q < 0 and not one.spurious for one in query.minima(target))


@page.after("descend")
def test_zero_is_where_the_ways_part_under_softmax(live):
    for q in (-2.0, -0.4, -0.1, 0.1, 2.0):
        (soft, loss), _ = ends(live, q=q)
        assert (soft < 0, loss < NEARLY_ZERO) == (q < 0, q < 0)


@page.after("descend")
def test_where_values_rise_the_roles_change_and_a_wide_kernel_arrives(live):
    (_, soft), (gauss, loss) = ends(live, **RISING)
    assert soft < NEARLY_ZERO < 0.1 < loss and abs(gauss + 2) < 0.01
    _, (wide, loss) = ends(live, **RISING, c=0.125)
    weights = np.exp(-0.125 * (wide - np.array([-2, 2])) ** 2)
    assert loss < NEARLY_ZERO and -2 < wide < 2 and weights.min() > 0.25


@page.after("idea")
def test_every_softmax_weight_is_equal_at_zero_and_a_gaussian_query_reads_less_beside_its_key(query, rising):
    assert np.ptp(query.weights([0.0])) < 1e-15
    line = lines.Line(*rising[:2], mha.gaussian)
    trap = next(one.q for one in line.minima(rising[2]) if one.spurious)
    left, here, right = line.output([trap - 1, trap, trap + 1])
    assert max(left, right) < here < rising[2]


@pytest.mark.parametrize("name", ["thm-barrier", "thm-wells", "prop-rising"])
def test_each_statement_holds_and_fails_without_its_hypothesis(name):
    assert mhabook.ledger[name].chapter == page.name
    assert mhabook.ledger[name].check(0).holds
    assert not mhabook.ledger[name].twin(0).holds


def test_these_are_all_statements_of_the_chapter():
    assert sum(statement.chapter == page.name for statement in mhabook.ledger) == 3


@page.after("idea")
def test_the_first_task_satisfies_the_conditions_of_the_barrier(keys, values, query):
    means = traps.top_means(np.array(keys), np.array(values))
    np.testing.assert_allclose(means, [1, 1.5, 1 / 3, 1])
    assert query.output([0.3])[0] > 1 and (2 - means.max()) ** 2 / 2 == 1 / 8


@page.after("idea")
def test_two_values_at_one_key_keep_the_output_below_their_mean():
    line = lines.Line(np.array([0.0, 1, 1]), np.array([0.0, 1, 3]))
    assert line.output(np.linspace(-50, 30, 161)).max() < 2
    assert (line.trend(np.linspace(-50, 50, 101)) > 0).all()


@page.after("check-loss")
def test_the_loss_is_that_of_the_layer_and_of_a_gaussian_line(k, loss, read, rising, target, u):
    assert loss(0.3, k, u, target) == pytest.approx((read - target) ** 2 / 2, rel=1e-12)
    keys, values, y = (np.array(part) for part in rising)
    line = lines.Line(keys, values, mha.gaussian)
    assert loss(-1.0, keys, values, y, "Gaussian") == pytest.approx(line.loss(-1.0, y), rel=1e-12)


@page.after("check-descent")
def test_descent_by_two_values_of_the_loss_ends_where_the_figure_ends(path, q):
    assert q == pytest.approx(path[-1, 0], abs=1e-6)


@page.after("check-barrier")
def test_no_query_right_of_zero_reads_more_than_the_largest_mean(means, most):
    assert most < means.max() == 1.5


@page.after("check-wells")
def test_the_second_task_satisfies_the_conditions_of_a_trap_and_has_one(for_gauss, target_2, w):
    weights, spill = traps.spare(mha.gaussian, for_gauss_column(for_gauss.keys), for_gauss_column(for_gauss.values))
    assert weights[0] == pytest.approx(w) and spill[0] == pytest.approx(2 * w)
    assert 2 * w < target_2 - 1 and 4 * w < 1 - w
    assert [one.spurious for one in for_gauss.minima(target_2)] == [True, False, False]


def for_gauss_column(numbers):
    """As the theorems take them, (n, 1)."""
    return np.array(numbers, float)[:, None]


@page.after("figure-released")
def test_moving_keys_free_the_softmax_queries_and_moving_values_free_both(free):
    soft, gauss = (list(ways.values()) for ways in free.values())
    assert soft[0].loss[-1] > 1 and max(run.loss[-1] for run in soft[1:]) < 1e-3
    assert min(run.loss[-1] for run in gauss[:2]) > 0.1 and gauss[2].loss[-1] < 1e-20


@page.after("figure-released")
def test_the_freed_softmax_queries_have_keys_that_changed_places(free):
    run = free["softmax, values up and down"]["queries and keys"]
    before, after = (np.argsort(model.WK.ravel()).tolist() for model in (run[0], run[-1]))
    assert before != after


def test_three_random_keys_never_make_a_trap_under_softmax():
    rng, at = np.random.default_rng(3), np.linspace(-40, 40, 1001)
    for _ in range(200):
        line, y = lines.Line(3 * rng.standard_normal(3), rng.standard_normal(3)), rng.standard_normal()
        reads = line.output(at)
        if reads.min() < y < reads.max():
            assert not any(one.spurious for one in line.minima(y))


@page.after("solution-push")
def test_no_rule_gets_a_query_out_of_the_first_task(pushed):
    assert all(path[-1].WQ.min() > 0.9 and path.loss[-1] > 1.3 for path in pushed.values())
