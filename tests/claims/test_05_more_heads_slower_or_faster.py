"""What the page multihead/05_more_heads_slower_or_faster says, held against what its cells
leave."""

import numpy as np
import pytest

import mhalib as mha
from page import Page

page = Page("multihead/05_more_heads_slower_or_faster")
UNQUOTED = {
    "what is proved, or defined": (
        "idea-text",
        "prove-equal",
        "idea-rules: Apart from",
        "idea-rules: So under each",
        "idea-rules: The slanted",
        "plane-read: The gray curve",
        "prove-wait",
        "below-short: While",
        "below-decay",
        "solution-short-end: (c) Since",
        "seen: - Heads that start",
        "seen: - For heads from zero",
    ),
    "what a cell or a figure does": (
        "title",
        "predict: Sixty-four heads",
        "see",
        "train-seen: Two gray lines",
        "train-seen: The three cases differ",
        "idea-rules: The paths",
        "idea-rules: Its gray levels",
        "check",
        "check-wait-text",
        "breaks: Here sixteen",
        "solution-short-end: The rows",
        "solution-decay-end: The rows",
    ),
    "held on the further page": (
        "plane-read: Adam has",
        "breaks-seen: In our",
        "breaks-seen: If half",
        "breaks-seen: Under",
    ),
    "a guess at a reason": (
        "plane-read: At the same step size",
        "plane-read: On the paths",
        "waits-seen: With many heads, the wait grows faster than its lower bound, probably",
    ),
}
SAME = {"H": 64}
ROOT = {"H": 64, "scaling": "root"}
ADAM = {"H": 64, "optimizer": "adam", "lr": 0.01}


def rises(values, axis=0):
    return (np.diff(values, axis=axis) > 0).all()


def falls(values, axis=0):
    return (np.diff(values, axis=axis) < 0).all()


# See: more heads, three ways


def moved(path, score=0.12):
    """The first recorded step at which the attention score is above this."""
    return path.steps[path.attention_score > score][0]


@page.after(
    "train",
    says=(
        "At first, every token receives a tenth of the weight",
        "the weight on the relevant (starred) token has grown from 0.10 to 0.12 by step 7",
        "At the end, most of the weight is on the relevant token",
    ),
)
def test_one_head_soon_begins_to_attend_and_gives_half_of_its_weight(data, path, said):
    share, before, after, step = said
    alone = mha.train(
        mha.MultiHeadAttention.zeros(1, 10, 8), data, mha.GradientDescent(0.3), 10, record=11
    )
    scores = alone.attention_score
    assert 1 / 10 == share == before == pytest.approx(scores[0])
    assert scores[int(step) - 1] < after <= scores[int(step)]
    assert path.attention_score[-1] > 0.5


@page.after("train")
def test_the_buttons_are_the_cases_that_the_text_tells(live):
    tried = [case["values"] for case in live.spec["tries"]]
    assert live.values["H"] == 64
    assert tried == [live.values | values for values in ({}, ROOT, ADAM, {"H": 1})]


@page.after(
    "train",
    says=(
        "More heads are slower. Attention stays at its initial value for a long time and then moves slowly, "
        "so the loss ends about ten times as high as with one head",
        "Now attention starts to move as early as with one head, and the loss ends slightly below that of "
        "one head",
        "More heads are faster: attention starts to move at the same step as with one head (dashed), but "
        "the loss ends lower by a factor of more than ten",
        "In all three cases, 64 heads end with less attention on the relevant token than one head",
        "On all three paths, 64 heads end with less attention than one head",
        "In our runs, more heads were slower at the same step size, about as fast as one head at a step size",
        ", and faster under Adam",
    ),
)
def test_64_heads_wait_at_the_same_step_alone_and_end_ten_times_higher_a_little_lower_and_ten_times_lower(
    live, said
):
    higher, lower, *cases = said
    sides = (SAME, 0.8 * higher, 1.3 * higher), (ROOT, 0.5, 0.9), (ADAM, 0.2 / lower, 1 / lower)
    assert cases == [len(sides), SAME["H"]] * 2
    for values, low, high in sides:
        one, many = live.path(**(values | {"H": 1})), live.path(**values)
        assert moved(many) > 8 * moved(one) if values is SAME else moved(many) <= moved(one)
        assert low < many.loss[-1] / one.loss[-1] < high
        assert many.attention_score[-1] < one.attention_score[-1]
        assert many.norm_U[-1] > 1.5 * one.norm_U[-1]


# The theorem


def along(grid, power, down):
    """Medians of the loss at step 2,000 for 1, 4, 16, 64 heads: with the step size 2^power, or with
    that times √H."""
    return np.array(
        [
            np.median(grid.where(eta_U=2.0 ** (power + k * (not down)), H=4**k)["loss"][:, -1])
            for k in range(4)
        ]
    )


@page.after(
    "figure-plane-gd",
    says=(
        "*Straight down*, the loss rises. *Down the diagonal*, it changes little",
        "We have only observed, on these data, that the loss falls to the right and upward in the plane",
    ),
)
def test_straight_down_the_loss_rises_and_down_the_diagonal_it_hardly_changes(grid):
    for power in (-2, -1):  # on both sides of 0.3
        down, diagonal = (along(grid, power, down) for down in (True, False))
        assert rises(down)
        assert down[-1] > 8 * down[0]
        assert diagonal.max() < 2 * diagonal.min()


@page.after(
    "two-steps",
    says=(
        "At first, attention hardly moves in either run, and the curves are close",
        "Then the loss falls much later than on the gray curve",
        "In the first ten steps, the loss rises",
        "these are also the curves of 64 heads",
    ),
)
def test_one_head_with_two_step_sizes_has_the_training_curves_of_64_heads(
    live, data, rule, path, said
):
    first, H = said
    one, same, root = (live.path(**case["values"]).loss for case in live.spec["tries"])
    np.testing.assert_allclose(one[-1], path.loss[-1], rtol=1e-9)
    for curve, lr in ((same, rule.lr), (root, 8 * rule.lr)):
        heads = mha.MultiHeadAttention.zeros(int(H), 10, 8)
        many = mha.train(heads, data, mha.GradientDescent(lr), 2000, record=live.spec["record"])
        np.testing.assert_allclose(curve, many.loss, rtol=1e-8)
    steps = np.array(live.spec["record"])
    assert abs(same / one - 1)[steps <= 5].max() < 0.02
    assert (same / one)[steps > 15].min() > 3
    assert 8 < same[-1] / one[-1] < 13
    assert first / 2 < steps[root > one[0]].max() < first
    assert (abs(np.log(root / one))[steps > 30] < np.log(1.6)).all()
    assert 0.5 < root[-1] / one[-1] < 0.9


@page.after(
    "figure-plane-gd",
    says="the first steps overshoot, and more heads at the same step size are not always slower",
)
def test_at_the_right_edge_more_heads_are_not_always_slower(grid):
    assert not rises(along(grid, 3, down=True))


# Check it by number


@page.after(
    "check-same",
    says="After a hundred steps, each of the 64 heads has the same $W$ as the one head",
)
def test_64_heads_are_one_head_with_two_step_sizes(data, many, one, said):
    steps, H = map(int, said)
    there = mha.train(mha.MultiHeadAttention.zeros(H, 10, 8), data, mha.GradientDescent(0.3), steps)
    np.testing.assert_allclose(many.W, there[-1].W, rtol=1e-9)
    assert abs(many.W - one.W).max() < 1e-12
    assert abs(8 * many.U - one.U).max() < 1e-12


@page.after(
    "waits",
    says=(
        "the wait grows with the number of heads: sixty-four heads reach 0.12 at step {glue:text}`wait`",
        "With a step size proportional to $\\sqrt H$, and under Adam, the wait hardly changes",
    ),
)
def test_with_the_same_step_the_wait_grows_like_the_root_or_faster(data, heads, said, waits):
    H, score = said
    run = mha.train(
        mha.MultiHeadAttention.zeros(int(H), 10, 8), data, mha.GradientDescent(0.3), 95, record=96
    )
    assert moved(run, score) == waits["the same step, 0.3"][heads.index(H)]
    same, *others = waits.values()
    assert rises(same)
    assert same[0] == 7
    assert 70 < same[heads.index(64)] < 95
    assert (np.array(same[2:]) / same[0] > np.sqrt(heads[2:])).all()
    assert all(max(other) < 1.5 * min(other) for other in others)


# Where it breaks


@page.after(
    "figure-specialize",
    says=(
        "From zero, all heads have the same score",
        "in this run, some hardly attend to the relevant token, and one gives it most of its weight",
    ),
)
def test_from_a_random_start_one_head_gives_most_of_its_weight_and_some_hardly_look(
    from_random, scores
):
    assert np.ptp(scores["from zero"]) == 0
    assert (from_random > 0.5).sum() == 1
    assert (from_random < 0.15).sum() >= 2


# Exercises


@page.after(
    "solution-short",
    says="At steps 3, 4, 10, and 30, this is 3, 6, 45, and 435 times its value at step 2",
)
def test_the_sums_grow_as_the_norms_of_W_do_while_nothing_is_learned(growth, marks, said):
    steps, times, (second,) = np.split(np.array(said), [4, 8])
    assert [second, *steps] == marks
    assert (steps * (steps - 1) / (second * (second - 1)) == times).all()
    assert abs(growth[:, 1:] / times - 1).max() < 0.1


@page.after(
    "solution-decay",
    says=(
        "The last column is near zero",
        "to different points: the more heads, the lower the attention score",
    ),
)
def test_with_weight_decay_more_heads_rest_with_a_shorter_W_and_less_attention(decays):
    assert falls(decays[:, [0, 2]])
    assert decays[:, 3].max() < 1e-3
