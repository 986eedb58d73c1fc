"""What the page kernels/14_traps says, held against what its cells leave."""

import numpy as np
import pytest

import mhalib as mha
from mhabook.c14_traps import lines
from mhabook.c14_traps import statements as traps
from page import Page

page = Page("kernels/14_traps")
UNQUOTED = {
    "what is proved, or defined": (
        "idea-text: Its output would first",
        "prove-barrier: In words",
        "prove-barrier: If all",
        "prove-barrier: The task has four keys",
        "prove-rising: Its values increase",
        "prove-rising: The keys must be distinct",
        "prove-rising: With keys 0, 1, 1",
        "check-barrier-text",
        "seen",
    ),
    "what a cell or a figure does": ("breaks: Each panel",),
    "what the abstract of a paper says": (
        "prove-rising: Their conditions",
        "prove-rising: The first task",
    ),
    "another page's": ("prove-rising: For random tasks",),
    "of these observations": ("breaks-seen: There are two more",),
}
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


@page.after(
    "descend",
    says=(
        "The Gaussian weights now decrease slowly with distance",
        "So neither kernel is free of traps, and neither always traps its query",
    ),
)
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


@page.after(
    "check-barrier",
    says=(
        "In the first task, the values by decreasing key are $1,2,-2,3$, "
        "so the means are $1,\\frac32,\\frac13,1$. The target is 2. "
        "So no query to the right of zero has a loss below $\\frac18$",
        "In the first task, the output of the query is already larger than this mean",
        "At the start, the output is 1.05, larger than 1, so the query stays on the right",
        "because the value at the smallest key is 3: far enough to the left, the output is larger than 2",
    ),
)
def test_the_first_task_satisfies_the_conditions_of_the_barrier(
    k, means, most, query, said, target, u
):
    values, tops, (aim, bound, start, mean, value, left) = said[:4], said[4:8], said[8:]
    np.testing.assert_array_equal(u[np.argsort(-k)], values)
    np.testing.assert_allclose(means, tops)
    assert target == aim
    np.testing.assert_allclose(means, traps.top_means(k, u))
    assert means[-1] == mean < start == pytest.approx(query.output([0.3])[0], abs=0.005)
    assert most < means.max()
    assert (target - means.max()) ** 2 / 2 == bound
    assert u[k.argmin()] == value
    assert query.output([-9.0])[0] > left == target


@page.after(
    "check-minima",
    says=(
        "the other key is at distance 4 from the left key",
        "Both conditions hold, 0.27 < 0.5 and 0.54 < 0.86",
        "reaches a key whose value is less than the target, and on both sides of this key, its output would "
        "be smaller",
    ),
)
def test_the_second_task_satisfies_the_conditions_of_a_trap_and_has_one(held, rising, said, w):
    distance, *conditions = said
    assert np.ptp(rising[0]) == distance
    assert conditions == pytest.approx([2 * w, rising[2] - 1, 4 * w, 1 - w], abs=0.005)
    assert rising[1][0] < rising[2]
    sides = lines.Line(*rising[:2], mha.gaussian).output(
        [held[0].q + side for side in (-0.2, 0, 0.2)]
    )
    assert np.argmax(sides) == 1
    weights, spill = traps.spare(
        mha.gaussian, *(np.array(part, float)[:, None] for part in rising[:2])
    )
    assert (weights[0], spill[0]) == pytest.approx((w, 2 * w))
    assert 2 * w < rising[2] - 1 and 4 * w < 1 - w
    assert [one.spurious for one in held] == [True, False, False]


@page.after(
    "figure-released",
    says=(
        "The first task has four queries, all right of zero; the second has two, at $-1$.",
        "stop at a key with too small a value, but the other key can come nearer and add its own",
        "These are observations in two tasks, not a theorem",
    ),
)
def test_moving_keys_free_the_queries_and_so_do_moving_keys_and_values(free, said):
    *counts, at, tasks = said
    starts = [next(iter(ways.values()))[0].WQ for ways in free.values()]
    assert [WQ.size for WQ in starts] == counts and len(starts) == tasks
    assert starts[0].min() > 0 and (starts[1] == at).all()
    soft, gauss = (list(ways.values()) for ways in free.values())
    assert soft[0].loss[-1] > 1 and max(run.loss[-1] for run in soft[1:]) < 1e-3
    assert gauss[0].loss[-1] > 0.2 and max(run.loss[-1] for run in gauss[1:]) < 1e-20
    before, after = (np.argsort(model.WK.ravel()).tolist() for model in (soft[1][0], soft[1][-1]))
    assert before != after
    before, after = (
        abs(model.WK.max() - model.WQ.max())
        for model in gauss[1].models[:: len(gauss[1].models) - 1]
    )
    assert after < before


@page.after(
    "solution-push",
    says="from all four starts, the loss decreases to the right, away from the barrier at 0",
)
def test_no_rule_gets_a_query_out_of_the_first_task(pushed, query, said, target):
    starts, barrier = said
    firsts = next(iter(pushed.values()))[0].WQ.ravel()
    assert len(firsts) == starts
    assert (np.diff(query.loss(np.linspace(barrier, firsts.min(), 9), target)) < 0).all()
    assert all(path[-1].WQ.min() > 0.9 and path.loss[-1] > 1.3 for path in pushed.values())
