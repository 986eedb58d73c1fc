"""What the page kernels/14_further says, held against what its cells leave."""

import numpy as np
import pytest

import mhalib as mha
from mhabook.c14_traps import lines
from mhabook.c14_traps import statements as traps
from mhalib.attention import Gaussian, NormalizedGaussian
from page import Page

page = Page("kernels/14_further")
ZERO = 1e-20
"""Losses below are zero up to rounding, which is some 10⁻³⁰."""


def line_of(example, kernel):
    return lines.Line(traps.EXAMPLES[example]["keys"], traps.EXAMPLES[example]["values"], kernel)


def waiting_in_b3(start):
    """The steps that a query of B3 waits before it is within 3 of the key at 5."""
    keys, values = (np.array(traps.EXAMPLES["B3"][part])[:, None] for part in ("keys", "values"))
    return traps.waiting_time(
        np.array([start]), keys, values, np.array([0.9]), 1.0, mha.gaussian, near=3.0
    )


@page.after("table-examples")
def test_the_gaussian_kernel_stays_in_b3_where_it_has_a_slope(runs):
    stays = runs["B3", "Gaussian"]
    assert np.ptp(stays.loss) < 1e-6 and 0.5e-7 < stays.grad_norm[-1] < 2e-7


@page.after("table-examples")
def test_softmax_ends_in_b2_at_a_minimum_and_arrives_from_minus_one(runs):
    last, data = runs["B2", "softmax"][-1], traps.example("B2", mha.softmax)[1]
    queries = traps.query_directions(last)
    hessian = np.array([[last.hvp(data.X, data.y, e).dot(f) for e in queries] for f in queries])
    assert runs["B2", "softmax"].grad_norm[-1] < 1e-12 and np.linalg.eigvalsh(hessian).min() > 0.2
    other = traps.example("B2", mha.softmax, start=(-1.0,) * 4)
    assert (
        mha.train(*other, mha.GradientDescent(0.1), 1000, only=("WQ",), record=[0, 1000]).loss[-1]
        < ZERO
    )


@page.after("figure-other-way")
def test_where_the_hills_of_b2_and_the_trap_of_b4_are(KINDS, seen_by, shown, turned):
    hills = [seen_by[kind].basins(2.0)[0][1] for kind in KINDS]
    assert abs(hills[0]) < 1e-12 and -0.7 < hills[2] < -0.2  # between two starts of the live figure
    assert np.allclose(shown["softmax"], shown[KINDS[2]])
    assert abs(turned["Gaussian"].minima(1.5)[0].q + 2) < 0.01 and turned[
        "softmax"
    ].limits().tolist() == [1, 2]


@page.after("figure-two-free-turned")
def test_with_two_queries_there_are_so_many_minima_and_so_many_descents_arrive(
    KINDS, seen_by, square, square4, turned
):
    for maps, sides, y, minima, arrived in (
        (square, seen_by, 2, [[1, 3], [16, 0], [1, 3]], [1, 4, 0]),
        (square4, turned, 1.5, [[1, 0], [4, 5], [1, 0]], [4, 1, 4]),
    ):
        assert [[len(sort) for sort in maps[kind][1]] for kind in KINDS] == minima
        ends = [sides[kind].loss(maps[kind][2][-1], y).sum(axis=0) for kind in KINDS]
        assert [int((end < 1e-9).sum()) for end in ends] == arrived


@page.after("wait")
def test_the_query_of_b3_waits_a_few_percent_longer_than_the_theorem_says(steps):
    assert 1 < steps / waiting_in_b3(-1.0) < 1.1
    assert 9e8 < waiting_in_b3(-2.0) < 1e9
    assert (0.9 - np.exp(-4.5)) ** 2 / 2 > 0.97 * 0.405


@page.after("basins-table")
def test_fewer_starts_arrive_in_b2_with_the_control_than_under_softmax(KINDS, basins):
    share = {
        kind: [float(basins.where(kind=kind, s=s)["arrived"][0][1]) for s in (1.0, 2.0, 4.0, 8.0)]
        for kind in KINDS
    }
    assert share[KINDS[2]][0] < share["softmax"][0] < share["Gaussian"][0]
    assert all(shares[-1] < shares[1] for shares in (share["softmax"], share["Gaussian"]))


@page.after("random-table")
def test_the_gaussian_kernel_has_spurious_minima_two_to_five_times_as_often(random):
    kept, only = random["kept"][:, None], random["only"].astype(float)
    stuck, away = random["stuck"] / kept, random["outward"] / kept
    assert (stuck[:, 1] > 1.95 * stuck[:, 0]).all() and (stuck[:, 1] < 5 * stuck[:, 0]).all()
    assert ((stuck * (1 - stuck) / kept) ** 0.5).max() < 0.01
    assert ((only[:, 1] - only[:, 0]) / only.sum(axis=1) ** 0.5).min() > 8
    assert abs(away[:, 0] - 0.41).max() < 0.03 and abs(away[:, 1] - 0.66).max() < 0.03
    assert (random["arrives"].argmax(axis=1) == 0).all()
    assert (stuck[:, 0] < stuck[:, 2]).all() and (stuck[:, 2] < stuck[:, 1]).all()


@page.after("teachers-table")
def test_softmax_learns_from_its_own_teachers_and_with_all_weights_nearly_every_run_succeeds(
    teachers,
):
    learned = teachers["relative"][:, 1] < 1e-6
    alone, own = teachers["only"] == "WQ", teachers["teacher"] == teachers["student"]
    soft = teachers["student"] == "softmax"
    assert learned[alone & soft & own].sum() > 3 * learned[alone & soft & ~own].sum()
    assert learned[~alone].sum() > 0.9 * (~alone).sum()


@page.after("live-traps")
def test_b2_moved_by_minus_one_lets_two_four_and_one_query_away_and_b3_arrives_from_1_or_with_a_wide_kernel(
    B2, seen_by
):
    def arrived(line, q, y, lr):
        return (line.loss(line.descend(np.array(q), y, lr, 300)[-1], y) < 1e-6).tolist()

    assert [
        sum(arrived(line, np.array(B2["start"]) - 1, 2.0, 0.1)) for line in seen_by.values()
    ] == [2, 4, 1]
    assert arrived(line_of("B3", Gaussian(0.5)), [0.0, 0.8, 1.0], 0.9, 1.0) == [False, False, True]
    assert arrived(line_of("B3", Gaussian(0.125)), [-1.0], 0.9, 1.0) == [True]


@page.after("width-b1")
def test_a_narrower_kernel_is_trapped_at_zero_in_b1_and_the_control_arrives(by_width):
    assert [(a < 1e-9, b < 1e-9) for a, b in by_width.values()] == [
        (True, False),
        (False, True),
        (False, True),
    ]
    for c in by_width:
        line, control = line_of("B1", Gaussian(c)), line_of("B1", NormalizedGaussian(c))
        left, here, right = line.output([-1e-3, 0.0, 1e-3])
        assert here == pytest.approx(2 * np.exp(-c))
        assert (left - 2 * here + right) / 1e-6 == pytest.approx(
            4 * c * np.exp(-c) * (2 * c - 1), abs=1e-5
        )
        assert control.output(np.linspace(-5, 5, 1001)).min() == pytest.approx(
            1 / (1 + np.exp(c) / 2)
        )
        assert [one.q for one in line.minima(0.5) if one.spurious] == pytest.approx(
            [0] * (c > 0.5), abs=1e-9
        )


@page.after("all-weights-runs")
def test_where_the_keys_move_too_b2_holds_no_query(escaped):
    assert max(loss for (only, _), loss in escaped.items() if only != ("WQ",)) < 0.002


@page.after("lifted")
def test_softmax_and_the_control_are_trapped_on_the_line_and_the_gaussian_kernel_far_off_it(
    KINDS, lifted_ends
):
    still = [
        lifted_ends[0.0, kind].grad_norm[-1] < 1e-6 and lifted_ends[0.0, kind].loss[-1] > 0.8
        for kind in KINDS
    ]
    assert still == [True, False, True]
    falling = [path for (lift, kind), path in lifted_ends.items() if lift and kind != "Gaussian"]
    assert all(path.loss[-1] < 0.98 * path.loss[1] for path in falling)
    assert (lifted_ends[0.1, "softmax"][-1].WQ[0, :, 0] > 0).all()
    far = lifted_ends[1.0, "Gaussian"]
    assert far.grad_norm[-1] < 1e-9 and far.loss[-1] > 0.1


@page.after("solution-rounding")
def test_neighbors_count_more_than_three_times_as_many_minima_as_there_are(dip, true):
    assert dip.any(axis=1).sum() > 3 * len(true) > 0
