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
    assert round(path.loss[-1], 4) == 0.0042
    assert round(linear.loss[-1], 4) == 0.0044


@page.after("figure-train")
def test_the_logits_drift_apart(apart, data, path):
    assert path.steps[1] == 1
    assert round(apart[1], 2) == 0.04
    assert round(apart[-1], 1) == 0.9
    assert abs(path[-1](data.X)).min() > 4
    assert abs(path[-1](data.X)).max() < 9


@page.after("check-order")
def test_a_tenth_of_the_way_leaves_a_hundredth_of_the_error(errors):
    assert 90 < errors[0] / errors[1] < 110


@page.after("check-kernel")
def test_the_kernel_predicts_the_logits_after_one_step(data, linear, predicted):
    assert abs(predicted - linear[1](data.X)).max() < 1e-12


@page.after("figure-width")
def test_from_4_heads_to_64_the_distance_shrinks_five_times(heads, means):
    assert [heads[k] for k in (0, 2, 6)] == [1, 4, 64]
    distance = means["distance of the logits"]
    assert distance.round(2)[[0, 2, 6]].tolist() == [1.64, 0.79, 0.16]
    assert round(distance[2] / distance[6]) == 5
    assert (64 / 4) ** 0.5 == 4


@page.after("figure-width")
def test_the_distance_falls_about_like_the_power_0_57(heads, means):
    assert round(np.polyfit(np.log(heads), np.log(means["distance of the logits"]), 1)[0], 2) == -0.57


@page.after("figure-width")
def test_the_way_hardly_depends_on_the_heads_and_attention_moves_less(means):
    way, change = means["way of all parameters"], means["change of attention weights"]
    assert 2.5 < way.min() <= way.max() < 3.9
    assert change.round(2)[[0, 6]].tolist() == [0.26, 0.07]


@page.after("live-linearized")
def test_sixty_four_heads_keep_the_logits_together(live):
    assert round(ends_at(live)[2], 1) == 0.9
    assert round(ends_at(live, H=64)[2], 2) == 0.07


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
    assert round(distance, 1) == 1.9
    assert 5 < linear_loss / loss < 7
    assert round(loss, 3) == 0.005
    assert round(linear_loss, 3) == 0.029


@page.after("live-linearized")
def test_the_first_step_from_a_small_start_takes_them_less_than_a_tenth_as_far_apart(live):
    small, large = (live.path(scale=scale).distance[1] for scale in (0.1, 1.0))
    assert small < 0.1 * large


@page.after("live-linearized")
def test_more_heads_help_a_small_start_too(live):
    few, many = ends_at(live, scale=0.1)[2], ends_at(live, H=64, scale=0.1)[2]
    assert round(many, 1) == 0.7
    assert many < few


@page.after("solution-still")
def test_the_kernel_changes_by_half_with_4_heads_and_by_a_twentieth_with_64(change_of_kernel):
    few, many = (change_of_kernel(H) for H in (4, 64))
    assert round(few, 3) == 0.472
    assert round(many, 3) == 0.046
