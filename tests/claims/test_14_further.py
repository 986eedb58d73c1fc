"""What the page kernels/14_further says, held against what its cells leave."""

import numpy as np
import pytest

import mhabook
import mhalib as mha
from mhabook.c14_traps import lines
from mhabook.c14_traps import statements as traps
from mhabook.c14_traps.minima import minima_of
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
    return traps.waiting_time(np.array([start]), keys, values, np.array([0.9]), 1.0, mha.gaussian, near=3.0)


@pytest.mark.parametrize("name", ["prop-values-allow", "prop-star", "thm-waiting"])
def test_each_statement_holds_and_fails_without_its_hypothesis(name):
    assert mhabook.ledger[name].chapter == page.name
    assert mhabook.ledger[name].check(0).holds
    assert not mhabook.ledger[name].twin(0).holds


@page.after("table-examples")
def test_softmax_and_the_control_fail_in_b1_and_b2_and_the_gaussian_kernel_stays_in_b3(KINDS, runs):
    arrived = {name: [bool(runs[name, kind].loss[-1] < ZERO) for kind in KINDS] for name in ("B1", "B2", "B3")}
    assert arrived == {"B1": [False, True, False], "B2": [False, True, False], "B3": [True, False, True]}
    stays = runs["B3", "Gaussian"]
    assert np.ptp(stays.loss) < 1e-6 and 0.5e-7 < stays.grad_norm[-1] < 2e-7


@page.after("table-examples")
def test_softmax_ends_in_b2_at_a_minimum_and_arrives_from_minus_one(runs):
    last, data = runs["B2", "softmax"][-1], traps.example("B2", mha.softmax)[1]
    queries = traps.query_directions(last)
    hessian = np.array([[last.hvp(data.X, data.y, e).dot(f) for e in queries] for f in queries])
    assert runs["B2", "softmax"].grad_norm[-1] < 1e-12 and np.linalg.eigvalsh(hessian).min() > 0.2
    other = traps.example("B2", mha.softmax, start=(-1.0,) * 4)
    assert mha.train(*other, mha.GradientDescent(0.1), 1000, only=("WQ",), record=[0, 1000]).loss[-1] < ZERO


@page.after("figure-one-query")
def test_the_minima_and_hills_of_b2(B2, KINDS, seen_by):
    kinds = [[one.spurious for one in seen_by[kind].minima(B2["y"])] for kind in KINDS]
    assert kinds == [[False, True], [False] * 4, [False, True]]
    hills = [seen_by[kind].basins(B2["y"])[0][1] for kind in KINDS]
    assert abs(hills[0]) < 1e-12 and hills[2] < 0
    for kind in (KINDS[0], KINDS[2]):
        left, right = seen_by[kind].minima(B2["y"])
        assert left.q < 0 < right.q and right.loss > 0.1


@page.after("figure-other-way")
def test_in_b4_the_control_is_softmax_and_only_the_gaussian_kernel_is_held(KINDS, shown, turned):
    assert np.allclose(shown["softmax"], shown[KINDS[2]])
    assert [one.spurious for one in turned["Gaussian"].minima(1.5)] == [True, False, False]
    assert abs(turned["Gaussian"].minima(1.5)[0].q + 2) < 0.01
    (one,) = turned["softmax"].minima(1.5)
    assert abs(one.q) < 1e-9 and not one.spurious and turned["softmax"].limits().tolist() == [1, 2]


@page.after("figure-two-free-turned")
def test_with_two_queries_there_are_so_many_minima_and_so_many_descents_arrive(KINDS, seen_by, square, square4, turned):
    for maps, sides, y, minima, arrived in ((square, seen_by, 2, [[1, 3], [16, 0], [1, 3]], [1, 4, 0]),
                                            (square4, turned, 1.5, [[1, 0], [4, 5], [1, 0]], [4, 1, 4])):
        assert [[len(sort) for sort in maps[kind][1]] for kind in KINDS] == minima
        ends = [sides[kind].loss(maps[kind][2][-1], y).sum(axis=0) for kind in KINDS]
        assert [int((end < 1e-9).sum()) for end in ends] == arrived


@page.after("slices-two-free-table")
def test_slices_find_the_minima_that_pairs_have(cuts, square):
    for kind, cut in cuts.items():
        pairs, minima = [pair for sort in square[kind][1] for pair in sort], minima_of(cut)
        assert all(one.strict for one in minima) and len(minima) == len(pairs)
        assert all(min(np.abs(np.subtract(one.at, pair)).max() for one in minima) < 1e-5 for pair in pairs)


@page.after("wait")
def test_the_query_of_b3_waits_a_few_percent_longer_than_the_theorem_says(steps):
    assert round(waiting_in_b3(-1.0)) == 2_001_830  # the cell prints it
    assert 1 < steps / waiting_in_b3(-1.0) < 1.1
    assert 9e8 < waiting_in_b3(-2.0) < 1e9
    assert (0.9 - np.exp(-4.5)) ** 2 / 2 > 0.97 * 0.405


@page.after("basins-table")
def test_half_of_all_starts_arrive_in_b2_under_softmax_and_fewer_with_the_control(KINDS, basins):
    share = {kind: [float(basins.where(kind=kind, s=s)["arrived"][0][1]) for s in (1.0, 2.0, 4.0, 8.0)]
             for kind in KINDS}
    deviation = 0.5 / 4000 ** 0.5
    assert deviation < 0.01 and abs(share["softmax"][0] - 0.5) < 2 * deviation
    assert share[KINDS[2]][0] < share["softmax"][0] < share["Gaussian"][0]
    assert all(shares[-1] < shares[1] for shares in (share["softmax"], share["Gaussian"]))


@page.after("random-table")
def test_the_gaussian_kernel_has_spurious_minima_two_to_five_times_as_often(random):
    kept, only = random["kept"][:, None], random["only"].astype(float)
    stuck, away = random["stuck"] / kept, random["outward"] / kept
    assert ((1.95 < stuck[:, 1] / stuck[:, 0]) & (stuck[:, 1] / stuck[:, 0] < 5)).all()
    assert ((stuck * (1 - stuck) / kept) ** 0.5).max() < 0.01
    assert ((only[:, 1] - only[:, 0]) / only.sum(axis=1) ** 0.5).min() > 8
    assert abs(away[:, 0] - 0.41).max() < 0.03 and abs(away[:, 1] - 0.66).max() < 0.03
    assert (random["arrives"].argmax(axis=1) == 0).all()
    assert (stuck[:, 0] < stuck[:, 2]).all() and (stuck[:, 2] < stuck[:, 1]).all()


@page.after("teachers-table")
def test_students_learn_from_teachers_of_their_kernel_if_queries_alone_train(teachers):
    done = {only: [int((teachers.where(teacher=a, student=b, only=only)["relative"][:, 1] < 1e-6).sum())
                   for a in ("softmax", "gaussian") for b in ("softmax", "gaussian")] for only in ("WQ", "WQ WK WV")}
    assert done == {"WQ": [16, 9, 4, 12], "WQ WK WV": [19, 18, 19, 18]}


@page.after("live-traps")
def test_starts_moved_by_minus_one_let_two_four_and_one_query_away(B2, seen_by):
    moved = {kind: line.descend(np.array(B2["start"]) - 1, 2.0, 0.1, 300)[-1] for kind, line in seen_by.items()}
    assert [int((seen_by[kind].loss(q, 2.0) < 1e-6).sum()) for kind, q in moved.items()] == [2, 4, 1]


@page.after("live-traps")
def test_b3_arrives_from_1_or_with_a_wider_kernel():
    narrow, wide = (line_of("B3", Gaussian(c)) for c in (0.5, 0.125))
    ends = narrow.descend([0.0, 0.8, 1.0], 0.9, 1.0, 300)[-1]
    assert (narrow.loss(ends, 0.9) < 1e-6).tolist() == [False, False, True]
    assert wide.loss(wide.descend([-1.0], 0.9, 1.0, 300)[-1], 0.9)[0] < 1e-6


@page.after("width-b1")
def test_a_narrower_kernel_is_trapped_at_zero_in_b1_and_the_control_arrives(by_width):
    assert [(a < 1e-9, b < 1e-9) for a, b in by_width.values()] == [(True, False), (False, True), (False, True)]
    for c in by_width:
        line, control = line_of("B1", Gaussian(c)), line_of("B1", NormalizedGaussian(c))
        left, here, right = line.output([-1e-3, 0.0, 1e-3])
        assert here == pytest.approx(2 * np.exp(-c))
        assert (left - 2 * here + right) / 1e-6 == pytest.approx(4 * c * np.exp(-c) * (2 * c - 1), abs=1e-5)
        assert control.output(np.linspace(-5, 5, 1001)).min() == pytest.approx(1 / (1 + np.exp(c) / 2))
        assert [one.q for one in line.minima(0.5) if one.spurious] == pytest.approx([0] * (c > 0.5), abs=1e-9)


@page.after("all-weights-runs")
def test_where_the_keys_move_too_b2_holds_no_query(escaped):
    assert max(loss for (only, _), loss in escaped.items() if only != ("WQ",)) < 0.002


@page.after("lifted")
def test_softmax_and_the_control_are_trapped_on_the_line_and_the_gaussian_kernel_far_off_it(KINDS, lifted_ends):
    still = [lifted_ends[0.0, kind].grad_norm[-1] < 1e-6 and lifted_ends[0.0, kind].loss[-1] > 0.8 for kind in KINDS]
    assert still == [True, False, True]
    falling = [path for (lift, kind), path in lifted_ends.items() if lift and kind != "Gaussian"]
    assert all(path.loss[-1] < 0.98 * path.loss[1] for path in falling)
    assert (lifted_ends[0.1, "softmax"][-1].WQ[0, :, 0] > 0).all()
    far = lifted_ends[1.0, "Gaussian"]
    assert far.grad_norm[-1] < 1e-9 and far.loss[-1] > 0.1


@page.after("solution-rounding")
def test_neighbors_count_more_than_three_times_as_many_minima_as_there_are(dip, true):
    assert dip.any(axis=1).sum() > 3 * len(true) > 0
