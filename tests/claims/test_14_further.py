"""What the page kernels/14_further says, held against what its cells leave."""

import inspect

import numpy as np
import pytest

import mhalib as mha
from mhabook.c14_traps import figure_two_tokens, lines
from mhabook.c14_traps import statements as traps
from mhalib.attention import Gaussian, NormalizedGaussian
from page import Page
from scripts import load

page = Page("kernels/14_further")
UNQUOTED = {
    "what the page contains, and questions": (
        "title: This page",
        "live-traps-seen: Drag",
        "live: In which",
        "live: Move",
        "your-turn",
    ),
    "what is proved, or defined": (
        "one-query-read: For two",
        "other-way-read: With two",
        "examples-read: The loss",
        "prove-reach",
        "slices-two-free-read",
        "live-traps-seen: Here a minimum",
        "lifted-text: In two dimensions",
    ),
    "what we only suppose": ("random-read: Perhaps",),
}
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


@page.after(
    "table-examples",
    says=(
        "keys −2, −1, 1, and 2 with values 3, −2, 2, and 1, and the target 2",
        "The second task has keys −5 and 5 with values 0 and 1, the target 0.9, and a query that starts at −1 and uses "
        "step size 1",
        "Three such examples have names",
        "- **B1**: keys 1, −1, and 0; values 1, 1, and 0; target 0.5; starts 0.8, −0.3, and 0.1; $\\eta=1$",
        "starts 0.3, 0.8, 1.2, and 1.6; $\\eta=0.1$",
        "- **B3**: keys −5 and 5, values 0 and 1; $\\eta=1$. Only one token has the target 0.9, and its query starts "
        "at −1",
    ),
)
def test_the_examples_are_those_that_are_named(said):
    one, two, three = (traps.EXAMPLES[name] for name in ("B1", "B2", "B3"))
    third = [*three["keys"], *three["values"]]
    ends = [three["y"], *three["start"]]
    assert said == [
        *two["keys"],
        *two["values"],
        two["y"],
        *third,
        *ends,
        three["lr"],
        len((one, two, three)),
        *(number for part in one.values() for number in np.atleast_1d(part)),
        *two["start"],
        two["lr"],
        *third,
        three["lr"],
        *ends,
    ]


@page.after(
    "table-examples",
    says=(
        "after 1,000 steps, the Gaussian loss still has its initial value",
        "These three failures are of different kinds",
    ),
)
def test_the_gaussian_kernel_stays_in_b3_where_it_has_a_slope(runs, said):
    steps, failures = said
    assert {path.steps[-1] for path in runs.values()} == {steps}
    assert len({name for name, _ in runs} - {"B4"}) == failures
    stays = runs["B3", "Gaussian"]
    assert np.ptp(stays.loss) < 1e-6 and 0.5e-7 < stays.grad_norm[-1] < 2e-7


@page.after(
    "table-examples",
    says=(
        "from four queries that start at −1, the loss falls to zero, up to rounding",
        "and all four eigenvalues of the Hessian are positive",
    ),
)
def test_softmax_ends_in_b2_at_a_minimum_and_arrives_from_minus_one(runs, said):
    count, place, positive = said
    last, data = runs["B2", "softmax"][-1], traps.example("B2", mha.softmax)[1]
    queries = traps.query_directions(last)
    hessian = np.array([[last.hvp(data.X, data.y, e).dot(f) for e in queries] for f in queries])
    assert len(hessian) == positive
    assert runs["B2", "softmax"].grad_norm[-1] < 1e-12 and np.linalg.eigvalsh(hessian).min() > 0.2
    other = traps.example("B2", mha.softmax, start=(place,) * int(count))
    assert (
        mha.train(*other, mha.GradientDescent(0.1), 1000, only=("WQ",), record=[0, 1000]).loss[-1]
        < ZERO
    )


@page.after(
    "figure-other-way",
    says=(
        "Softmax has two minima: one with loss zero on the left, and a spurious one on the right. The hill between "
        "them is at $q=0$",
        "The Gaussian output crosses 2 four times, and every minimum is such a crossing",
        "values that rise: keys −2 and 2, values 1 and 2, target 1.5. The softmax output rises from 1 to 2 and crosses "
        "1.5 once",
        "There the output is 1, its maximum in the neighborhood: wherever the query moves, its output first decreases",
    ),
)
def test_where_the_hills_of_b2_and_the_trap_of_b4_are(
    B2, B4, KINDS, seen_by, shown, turned, minima, said
):
    two, hill, y, crossings, *keys, one, more, target, low, high, also, top = said
    assert [least.spurious for least in minima["softmax"]] == [False, True] and two == 2
    assert len(minima["Gaussian"]) == crossings and y == B2["y"]
    assert not any(least.spurious for least in minima["Gaussian"])
    assert [*keys, one, more, target] == [*B4["keys"], *B4["values"], B4["y"]]
    assert [least.spurious for least in turned["softmax"].minima(also)] == [False]
    around = turned["Gaussian"].output(np.array(keys[0]) + [-0.1, 0.0, 0.1])
    assert around.argmax() == 1 and abs(around[1] - top) < 1e-3
    hills = [seen_by[kind].basins(2.0)[0][1] for kind in KINDS]
    assert (
        abs(hills[0] - hill) < 1e-12 and -0.7 < hills[2] < -0.2
    )  # between two starts of the live figure
    assert np.allclose(shown["softmax"], shown[KINDS[2]])
    assert abs(turned["Gaussian"].minima(1.5)[0].q + 2) < 0.01 and turned[
        "softmax"
    ].limits().tolist() == [low, high]


@page.after(
    "figure-two-free-turned",
    says=(
        "the paths of four gradient descent runs from the same starts",
        "Softmax has four minima, of which three are spurious. The Gaussian kernel has sixteen, all with loss zero. "
        "The control has four again, three of them spurious",
        "three of the four runs do so under softmax, and all four with the control",
        "The Gaussian kernel has nine, five of them spurious: these five are the pairs in which at least one query is "
        "at the left key",
    ),
)
def test_with_two_queries_there_are_so_many_minima_and_so_many_descents_arrive(
    KINDS, seen_by, square, square4, turned, said
):
    runs, soft, spurious, gauss, also, control, caught, of, all_of, nine, five, at_key = said
    assert [runs, runs] == [of, all_of]
    assert [len(square[kind][2][-1].T) for kind in KINDS] == [runs] * 3
    left = [pair for pair in square4["Gaussian"][1][1] if min(pair) < -1.9]
    assert len(left) == at_key == five
    for maps, sides, y, minima, arrived in (
        (
            square,
            seen_by,
            2,
            [[soft - spurious, spurious], [gauss, 0], [also - control, control]],
            [runs - caught, 4, runs - all_of],
        ),
        (square4, turned, 1.5, [[1, 0], [nine - five, five], [1, 0]], [4, 1, 4]),
    ):
        assert [[len(sort) for sort in maps[kind][1]] for kind in KINDS] == minima
        ends = [sides[kind].loss(maps[kind][2][-1], y).sum(axis=0) for kind in KINDS]
        assert [int((end < 1e-9).sum()) for end in ends] == arrived


@page.after(
    "wait",
    says=(
        "In B3, only the key at 5 has a nonzero value, so $\\ell_0=6$",
        "the query waits for at least two million steps, with a loss that stays near its initial value",
        "The query needs a few percent more steps than the bound says. For a start at −2, the bound is nearly a "
        "billion steps",
    ),
)
def test_the_query_of_b3_waits_a_few_percent_longer_than_the_theorem_says(steps, said):
    key, away, least, farther = said
    B3 = traps.EXAMPLES["B3"]
    assert B3["keys"][B3["values"].index(1.0)] == key == away + B3["start"][0]
    assert least <= waiting_in_b3(-1.0) < 1.01 * least
    assert 1 < steps / waiting_in_b3(-1.0) < 1.1
    assert 9e8 < waiting_in_b3(farther) < 1e9
    assert (0.9 - np.exp(-4.5)) ** 2 / 2 > 0.97 * 0.405


@page.after(
    "basins-table",
    says=(
        "if and only if it starts to the left of the hill at 0. So half of all starts fail if they are spread evenly "
        "over both sides of 0",
        "We drew 4,000 standard normal numbers once, multiplied them by each scale $s$, and ran 5,000 steps",
        "The sampling error of such a fraction is less than a hundredth (one standard deviation, 4,000 draws), so the "
        "first rows are consistent with one half for softmax",
        "At $s=8$, many queries start so far out that 5,000 steps are too few under each kernel",
        "The control does *worse* than softmax when queries start near 0",
    ),
)
def test_fewer_starts_arrive_in_b2_with_the_control_than_under_softmax(
    KINDS, seen_by, basins, said
):
    hill, half, _, draws, steps, error, again, share_of, far, few, _ = said
    assert abs(seen_by["softmax"].basins(2.0)[0][1] - hill) < 1e-12
    assert (draws, steps) == (again, few) and {*basins["steps"][:, 1]} == {steps}
    assert 0.5 / draws**0.5 < error and (basins["arrived"] * draws % 1 == 0).all()
    near = [basins.where(kind="softmax", s=s)["arrived"][0][1] for s in (0.5, 1.0)]
    assert abs(np.array(near) - share_of).max() < 2 * error and half == share_of
    share = {
        kind: [float(basins.where(kind=kind, s=s)["arrived"][0][1]) for s in (1.0, 2.0, 4.0, far)]
        for kind in KINDS
    }
    assert share[KINDS[2]][0] < share["softmax"][0] < share["Gaussian"][0]
    assert all(shares[-1] < shares[1] for shares in (share["softmax"], share["Gaussian"]))


@page.after(
    "random-table",
    says=(
        "has spurious minima more often: two to five times as often as softmax. The standard deviation of each "
        "percentage is below one percentage point",
        "it is above 8 in every row",
        "About four problems in ten have such a valley under softmax, and two in three under the Gaussian kernel",
        "Softmax reaches the target most often",
        "For four keys, the control is between softmax and the Gaussian kernel; for eight keys, it is closer to the "
        "Gaussian kernel",
    ),
)
def test_the_gaussian_kernel_has_spurious_minima_two_to_five_times_as_often(random, said):
    least, most, z, four, ten, two, three, few, many = said
    kept, only = random["kept"][:, None], random["only"].astype(float)
    stuck, away = random["stuck"] / kept, random["outward"] / kept
    assert (stuck[:, 1] > (least - 0.05) * stuck[:, 0]).all() and (
        stuck[:, 1] < most * stuck[:, 0]
    ).all()
    assert ((stuck * (1 - stuck) / kept) ** 0.5).max() < 0.01
    assert ((only[:, 1] - only[:, 0]) / only.sum(axis=1) ** 0.5).min() > z
    assert abs(away[:, 0] - four / ten).max() < 0.04 and abs(away[:, 1] - two / three).max() < 0.03
    assert (random["arrives"].argmax(axis=1) == 0).all()
    assert (stuck[:, 0] < stuck[:, 2]).all() and (stuck[:, 2] < stuck[:, 1]).all()
    assert {*random["n"]} == {few, many}
    share = (stuck[:, 2] - stuck[:, 0]) / (stuck[:, 1] - stuck[:, 0])
    assert ((share > 0.6) == (random["n"] == many)).all() and (share < 0.8).all()


@page.after(
    "teachers-table",
    says=(
        "and 2,000 steps of gradient descent with backtracking",
        "We count the runs, out of 20, whose loss falls below $10^{-6}$ of its initial value",
        "softmax learns better from a softmax teacher than from a Gaussian one",
        "With 20 runs, a fraction has a standard deviation of about 0.11, so the table does not decide which student "
        "is better",
        "nearly all runs succeed in all four rows",
    ),
)
def test_softmax_learns_from_its_own_teachers_and_with_all_weights_nearly_every_run_succeeds(
    teachers, said
):
    steps, runs, _, again, deviation, rows = said
    script = inspect.getsource(load("book/results/traps.py").lesson)
    assert f"mha.Backtracking(), {steps:.0f}," in script and runs == again
    assert len(teachers) == 2 * rows * runs and abs(0.5 / runs**0.5 - deviation) < 0.003
    learned = teachers["relative"][:, 1] < 1e-6
    alone, own = teachers["only"] == "WQ", teachers["teacher"] == teachers["student"]
    soft = teachers["student"] == "softmax"
    assert learned[alone & soft & own].sum() > 3 * learned[alone & soft & ~own].sum()
    assert learned[~alone].sum() > 0.9 * (~alone).sum()


@page.after(
    "live-traps",
    says=(
        "Two queries escape under softmax, and one with the control. Under softmax, those at −0.7 and −0.2 escape, "
        "because they are to the left of 0",
        "so only the query at −0.7 escapes with the control. Under the Gaussian kernel, all four reach the target",
        "The outcome changes in two panels. The Gaussian kernel, which solved B1, now traps all queries at 0, a "
        "spurious minimum",
        "because the weight of the middle key has grown enough",
        "Queries starting at 1 or farther right reach the target within these 300 steps; those at 0.8 do not. With "
        "$c=\\frac18$, those at −1 succeed as well, because a wider kernel acts over a larger distance",
    ),
)
def test_b2_moved_by_minus_one_lets_two_four_and_one_query_away_and_b3_arrives_from_1_or_with_a_wide_kernel(
    B2, seen_by, live, said
):
    count, *left, hill, control, every, panels, at, far, steps, near, c, start = said

    def arrived(line, q, y, lr):
        return (line.loss(line.descend(np.array(q), y, lr, int(steps))[-1], y) < 1e-6).tolist()

    assert live.path().steps[-1] == steps
    moved = np.array(B2["start"]) - 1
    assert np.allclose(moved[moved < hill], left) and control == left[0]
    assert arrived(seen_by["Gaussian, rows normalized"], moved, 2.0, 0.1) == [True] + [False] * 3
    changes = {
        kernel: [
            all(arrived(line_of("B1", kernel(width)), traps.EXAMPLES["B1"]["start"], 0.5, 1.0))
            for width in (0.5, 1.0)
        ]
        for kernel in (Gaussian, NormalizedGaussian)
    }
    assert [*changes.values()] == [[True, False], [False, True]] and len(changes) == panels
    stuck = line_of("B1", Gaussian(1.0)).descend(
        np.array(traps.EXAMPLES["B1"]["start"]), 0.5, 1.0, int(steps)
    )
    assert abs(stuck[-1] - at).max() < 1e-3

    assert [
        sum(arrived(line, np.array(B2["start"]) - 1, 2.0, 0.1)) for line in seen_by.values()
    ] == [count, every, 1]
    assert arrived(line_of("B3", Gaussian(0.5)), [0.0, near, far], 0.9, 1.0) == [
        False,
        False,
        True,
    ]
    assert arrived(line_of("B3", Gaussian(c)), [start], 0.9, 1.0) == [True]


@page.after(
    "live-two-tokens",
    says=(
        "From the starts in the lower-left quadrant. A query that starts on an axis, that is, at 0, does not move, "
        "because 0 is a maximum of its loss",
        "At $c=\\frac12$, there are four minima, all with loss zero. At $c=0.75$ and $c=1$, there are nine, and those "
        "with a query at 0 are spurious",
    ),
)
def test_two_free_queries_of_b2_and_b1(B2, seen_by, said):
    axis, top, wide, four, middle, narrow, nine, at = said
    soft = seen_by["softmax"]
    assert abs(soft.slope([axis])[0]) < 1e-12 and soft.loss([-0.1, top, 0.1], 2.0).argmax() == 1
    ends = soft.loss(soft.descend(np.array([-3.0, -0.5, 0.5, 3.0]), B2["y"], 0.1, 5000)[-1], 2.0)
    assert (ends < 1e-6).tolist() == [True, True, False, False]
    assert [*map(len, figure_two_tokens.pairs("B1", Gaussian(wide)))] == [four, 0]
    for c in (middle, narrow):
        zero, spurious = figure_two_tokens.pairs("B1", Gaussian(c))
        assert len(zero) + len(spurious) == nine
        assert all(abs(np.array(pair) - at).min() < 1e-9 for pair in spurious)
        assert all(abs(np.array(pair) - at).min() > 0.1 for pair in zero)


@page.after(
    "width-b1",
    says=(
        "Choose B1, and move $c$ from 0.5 to 1",
        "For larger $c$, the outcome is reversed. At $c=0.75$ and $c=1$, the Gaussian kernel is trapped",
        "For $c=\\frac12$, this is a maximum above the target 0.5",
        "so for $c>\\frac12$ the output has a minimum at 0 instead. As long as $2e^{-c}>0.5$, that is, $c<\\ln4$, the "
        "point 0 is a minimum",
        "which falls below 0.5 at $c=\\ln2$",
    ),
)
def test_a_narrower_kernel_is_trapped_at_zero_in_b1_and_the_control_arrives(by_width, said):
    first, last, *narrow, width, target, above, at, half, zero, crossed = said
    assert [*by_width] == [first, *narrow] and last == narrow[-1] and at == zero == 0
    assert first == width == above and traps.EXAMPLES["B1"]["y"] == target == half == crossed
    assert [(a < 1e-9, b < 1e-9) for a, b in by_width.values()] == [
        (True, False),
        (False, True),
        (False, True),
    ]
    for kernel, turn in ((Gaussian, 4), (NormalizedGaussian, 2)):
        below = [
            line_of("B1", kernel(np.log(turn) + side)).output([0.0])[0] for side in (-0.1, 0.1)
        ]
        assert min(below) < target < max(below)
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


@page.after(
    "all-weights-runs",
    says=(
        "with $\\eta=0.1$ and 1,000 steps, for both kernels and the control",
        "As soon as the keys may move as well, all three losses fall below 0.002",
    ),
)
def test_where_the_keys_move_too_b2_holds_no_query(escaped, said, trained):
    lr, steps, three, small = said
    assert len({kind for _, kind in escaped}) == three
    assert inspect.signature(trained).parameters["lr"].default == lr
    assert trained(*traps.example("B2", mha.softmax)).steps[-1] == steps
    assert max(loss for (only, _), loss in escaped.items() if only != ("WQ",)) < small


@page.after("lifted", says="give the queries a second entry, which is 0 at the start")
def test_softmax_and_the_control_are_trapped_on_the_line_and_the_gaussian_kernel_far_off_it(
    KINDS, lifted_ends, said
):
    assert {*lifted_ends[0.1, "softmax"][0].WQ[..., 1].ravel()} == {*said}
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


@page.after(
    "solution-rounding",
    says="more than three times as many problems seem to have a spurious minimum",
)
def test_neighbors_count_more_than_three_times_as_many_minima_as_there_are(dip, true, said):
    assert dip.any(axis=1).sum() > said[0] * len(true) > 0
