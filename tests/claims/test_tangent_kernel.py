"""What the page start/tangent_kernel says, held against what its cells leave."""

import numpy as np

from page import Page

page = Page("start/tangent_kernel")


def ends_at(live, **values):
    """Of a run of the live figure: loss, loss of the linearization, distance of the logits."""
    run = live.path(**values)
    return run.loss[-1], run.linear_loss[-1], run.distance[-1]


@page.after("start")
def test_sixteen_samples_have_128_features(data, start):
    assert start.features(data.X).shape == (16, 128)


@page.after("figure-train")
def test_the_two_losses_end_close_together(linear, path):
    assert 1 < linear.loss[-1] / path.loss[-1] < 1.1


@page.after("figure-train")
def test_the_logits_drift_apart(apart, data, path):
    assert path.steps[1] == 1
    assert apart[-1] > 10 * apart[1]
    assert abs(path[-1](data.X)).min() > 4
    assert abs(path[-1](data.X)).max() < 9


@page.after("check-order")
def test_a_tenth_of_the_way_leaves_a_hundredth_of_the_error(errors):
    assert 90 < errors[0] / errors[1] < 110


@page.after("check-kernel")
def test_the_kernel_predicts_the_logits_after_one_step(data, linear, predicted):
    assert abs(predicted - linear[1](data.X)).max() < 1e-12


@page.after("figure-width")
def test_from_4_heads_to_64_the_distance_shrinks_a_little_faster_than_the_root(heads, means):
    assert [heads[k] for k in (0, 2, 6)] == [1, 4, 64]
    distance = means["distance of the logits"]
    assert 4 < distance[2] / distance[6] < 6
    assert -0.65 < np.polyfit(np.log(heads), np.log(distance), 1)[0] < -0.5


@page.after("figure-width")
def test_the_way_hardly_depends_on_the_heads_and_attention_moves_less(means):
    way, change = means["distance of the parameters"], means["change of attention weights"]
    assert 2.5 < way.min() <= way.max() < 3.9
    assert change[6] < change[0] / 3


@page.after("live-linearized")
def test_a_large_step_leaves_the_neighborhood_and_fits_all_the_same(live):
    loss, linear_loss, distance = ends_at(live, lr=3.0)
    assert live.path(lr=3.0).distance[1] > 2
    assert distance > 2
    assert loss < 4e-4
    assert linear_loss < 4e-4


@page.after("live-linearized")
def test_a_small_start_learns_features_and_its_linearization_lags(live):
    loss, linear_loss, distance = ends_at(live, scale=0.1)
    assert 5 < linear_loss / loss < 7
    assert distance > 2 * ends_at(live)[2]


@page.after("live-linearized")
def test_the_first_step_from_a_small_start_takes_them_less_than_a_tenth_as_far_apart(live):
    small, large = (live.path(scale=scale).distance[1] for scale in (0.1, 1.0))
    assert small < 0.1 * large


@page.after("live-linearized")
def test_sixty_four_heads_keep_the_logits_together_and_help_a_small_start_too(live):
    assert ends_at(live, H=64)[2] < ends_at(live)[2] / 10
    assert ends_at(live, H=64, scale=0.1)[2] < ends_at(live, scale=0.1)[2] / 2


@page.after("solution-still")
def test_the_kernel_changes_by_nearly_half_with_4_heads_and_by_less_than_a_twentieth_with_64(
    change_of_kernel,
):
    assert 0.45 < change_of_kernel(4) < 0.5
    assert change_of_kernel(64) < 0.05
