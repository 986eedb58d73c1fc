"""What the page multihead/08_heads_on_real_data says, held against what its cells leave."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import mhalib as mha
from mhabook.c02_curvature import bounds, loss_bounds
from mhabook.c08_digits import TextTransformer, sst2, text
from page import Page
from scripts import load

page = Page("multihead/08_heads_on_real_data")


def medians(at_the_end, scale, **setting):
    """The median loss of eight seeds after 300 steps, for 1, 2, 4, …, 64 heads."""
    return np.median(at_the_end("loss", scale, **setting), axis=1)


def map_of(at_the_end, scale):
    """The same at the step sizes 2^(−1), 2^(−1/2), …, 2^(7/2): (step sizes, heads)."""
    return np.array([medians(at_the_end, scale, power=lambda H, p=p: p) for p in range(-2, 8)])


def error(differences):
    """The standard error of a mean over seeds."""
    return differences.std(axis=-1, ddof=1) / differences.shape[-1] ** 0.5


@page.after("figure-constant")
def test_from_a_small_start_more_heads_are_slower(at_the_end):
    small = at_the_end("loss", 0.1)
    assert np.median(small, axis=1).round(3).tolist() == [0.054, 0.066, 0.081, 0.093, 0.108, 0.125, 0.153]
    assert small[0].max() < 0.065 and small[-1].min() > 0.115
    assert (np.diff(np.median(at_the_end("test_loss", 0.1), axis=1)) > 0).all()


@page.after("figure-constant")
def test_from_a_small_start_more_heads_are_less_accurate(at_the_end):
    accuracy = at_the_end("test_accuracy", 0.1)
    gain = accuracy[-1] - accuracy[0]
    assert accuracy.mean(axis=1)[[0, -1]].round(3).tolist() == [0.964, 0.942]
    assert round(gain.mean(), 3) == -0.022 and round(error(gain), 3) == 0.007


@page.after("figure-constant")
def test_from_a_large_start_their_number_hardly_matters(at_the_end):
    middle = medians(at_the_end, 1.0)
    assert round(middle[0], 3) == 0.054
    assert middle[1:].min() > 0.042 and middle[1:].max() < 0.049


@page.after("figure-map")
def test_from_a_small_start_fewer_heads_are_lower_at_every_step_size_up_to_four(at_the_end, eta):
    small = map_of(at_the_end, 0.1)
    assert eta[6] == 4 and (np.diff(small[:7], axis=1) > 0).all()


@page.after("figure-map")
def test_one_head_with_step_size_four_does_more_than_keep_up(POWERS, at_the_end):
    one = map_of(at_the_end, 0.1)[6, 0]
    assert one.round(3) == 0.016
    assert one < medians(at_the_end, 0.1, power=POWERS["η ∝ √H"])[-1]


@page.after("figure-map")
def test_from_a_large_start_the_lines_lie_together(at_the_end):
    large = map_of(at_the_end, 1.0)
    single, several = large[:, 0], large[:, 1:]
    assert (several.max(axis=1) / several.min(axis=1))[:9].max() < 1.31
    assert (single / np.median(several, axis=1))[:7].max() < 1.2


@page.after("figure-map")
def test_the_largest_steps_need_more_than_one_head(at_the_end, eta):
    large = map_of(at_the_end, 1.0)
    single, several = large[:, 0], large[:, 1:]
    assert single[8] > 2.5 * several[8].max() and eta[8] == 8
    assert single[9] > 6 * several[9].max() and round(eta[9], 1) == 11.3


@page.after("figure-map")
def test_a_single_head_is_best_at_the_same_step_size_from_both_starts(at_the_end, eta):
    assert map_of(at_the_end, 0.1)[:, 0].argmin() == 7 == map_of(at_the_end, 1.0)[:, 0].argmin()
    assert round(eta[7], 1) == 5.7


@page.after("figure-map")
def test_with_adam_more_heads_end_lower(at_the_end):
    adam = [medians(at_the_end, scale, rule="adam")[[0, -1]].round(3).tolist() for scale in (0.1, 1.0)]
    assert adam == [[0.052, 0.007], [0.079, 0.009]]


def accuracies(texts, lr):
    """The last test accuracy for 1, 2, 4, 8 and 16 heads, and every seed: (heads, seeds)."""
    return np.array([texts.where(lr=lr, H=H)["test_accuracy"][:, -1] for H in (1, 2, 4, 8, 16)]).astype(float)


@page.after("check-move")
def test_at_a_constant_step_size_a_head_of_many_moves_less(moved):
    constant, root = moved
    assert constant[[0, -1]].round(2).tolist() == [4.81, 0.57] and root[[0, -1]].round(2).tolist() == [4.81, 2.31]
    assert 8 < constant[0] / constant[-1] < 9 and round(constant[0] / constant[-1], 1) == 8.5
    assert round(root[0] / root[-1], 1) == 2.1


def final(compared, scale):
    """The last losses of the run and of the frozen run, by the number of heads."""
    return {H: (run[-1], frozen[-1]) for H, (_, run, frozen) in compared[scale].items()}


def ends(live, **values):
    """The last loss, test loss and test accuracy of a run of the live figure, and its highest recorded loss."""
    path = live.path(**values)
    return path.loss[-1], path.test_loss[-1], path.test_accuracy[-1], path.loss.max()


@page.after("solution-nine")
def test_four_against_nine_shows_the_same(at_the_end, rows):
    assert list(rows.values()) == [[-0.035, 0.005], [0.006, 0.003], [0.009, 0.004], [0.009, 0.003]]
    assert (np.diff(medians(at_the_end, 0.1, pair="49")) > 0).all()
