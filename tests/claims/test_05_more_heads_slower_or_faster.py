"""What the page multihead/05_more_heads_slower_or_faster says, held against what its cells
leave."""

import numpy as np

import mhalib as mha
from page import Page

page = Page("multihead/05_more_heads_slower_or_faster")
SAME = {"H": 64}
ROOT = {"H": 64, "scaling": "root"}
ADAM = {"H": 64, "optimizer": "adam", "lr": 0.01}


def rises(values, axis=0):
    return (np.diff(values, axis=axis) > 0).all()


def falls(values, axis=0):
    return (np.diff(values, axis=axis) < 0).all()


# See: more heads, three ways


def moved(path):
    """The first recorded step at which the attention score is above 0.12."""
    return path.steps[path.attention_score > 0.12][0]


@page.after("train")
def test_one_head_soon_begins_to_attend_and_gives_half_of_its_weight(path):
    assert path.steps[path.attention_score > 0.12][0] <= 10
    assert path.attention_score[-1] > 0.5


@page.after("train")
def test_the_buttons_are_the_cases_that_the_text_tells(live):
    tried = [case["values"] for case in live.spec["tries"]]
    assert live.values["H"] == 64
    assert tried == [live.values | values for values in ({}, ROOT, ADAM, {"H": 1})]


@page.after("train")
def test_64_heads_wait_at_the_same_step_alone_and_end_ten_times_higher_a_little_lower_and_ten_times_lower(
    live,
):
    for values, low, high in ((SAME, 8, 13), (ROOT, 0.5, 0.9), (ADAM, 0, 0.1)):
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


@page.after("figure-plane-gd")
def test_straight_down_the_loss_rises_and_down_the_diagonal_it_hardly_changes(grid):
    for power in (-2, -1):  # on both sides of 0.3
        down, diagonal = (along(grid, power, down) for down in (True, False))
        assert rises(down)
        assert down[-1] > 8 * down[0]
        assert diagonal.max() < 2 * diagonal.min()


@page.after("two-steps")
def test_one_head_with_two_step_sizes_has_the_training_curves_of_64_heads(live, data, rule, path):
    one, same, root = (live.path(**case["values"]).loss for case in live.spec["tries"])
    np.testing.assert_allclose(one[-1], path.loss[-1], rtol=1e-9)
    for curve, lr in ((same, rule.lr), (root, 8 * rule.lr)):
        heads = mha.MultiHeadAttention.zeros(64, 10, 8)
        many = mha.train(heads, data, mha.GradientDescent(lr), 2000, record=live.spec["record"])
        np.testing.assert_allclose(curve, many.loss, rtol=1e-8)
    steps = np.array(live.spec["record"])
    assert abs(same / one - 1)[steps <= 5].max() < 0.02
    assert (same / one)[steps > 15].min() > 3
    assert 8 < same[-1] / one[-1] < 13
    assert root[steps < 10].max() > one[0]
    assert (abs(np.log(root / one))[steps > 30] < np.log(1.6)).all()
    assert 0.5 < root[-1] / one[-1] < 0.9


@page.after("figure-plane-gd")
def test_at_the_right_edge_more_heads_are_not_always_slower(grid):
    assert not rises(along(grid, 3, down=True))


# Check it by number


@page.after("check-same")
def test_64_heads_are_one_head_with_two_step_sizes(many, one):
    assert abs(many.W - one.W).max() < 1e-12
    assert abs(8 * many.U - one.U).max() < 1e-12


@page.after("waits")
def test_with_the_same_step_the_wait_grows_like_the_root_or_faster(heads, waits):
    same, *others = waits.values()
    assert rises(same)
    assert same[0] == 7
    assert 70 < same[heads.index(64)] < 95
    assert (np.array(same[2:]) / same[0] > np.sqrt(heads[2:])).all()
    assert all(max(other) < 1.5 * min(other) for other in others)


# Where it breaks


@page.after("figure-specialize")
def test_from_a_random_start_one_head_gives_most_of_its_weight_and_some_hardly_look(from_random):
    assert (from_random > 0.5).sum() == 1
    assert (from_random < 0.15).sum() >= 2


# Exercises


@page.after("solution-decay")
def test_with_weight_decay_more_heads_rest_with_a_shorter_W_and_less_attention(decays):
    assert falls(decays[:, [0, 2]])
    assert decays[:, 3].max() < 1e-3
