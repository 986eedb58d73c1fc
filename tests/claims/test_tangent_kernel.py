"""What the page start/tangent_kernel says, held against what its cells leave."""

import numpy as np
from claims.page import Page

page = Page("start/tangent_kernel")


@page.after("train-numbers")
def test_train_numbers(apart, data, linear, path, start):
    assert start.features(data.X).shape == (16, 128)
    assert round(path.loss[-1], 4) == 0.0042 and round(linear.loss[-1], 4) == 0.0044
    assert path.steps[1] == 1 and round(apart[1], 2) == 0.04 and round(apart[-1], 1) == 0.9
    assert abs(path[-1](data.X)).min() > 4 and abs(path[-1](data.X)).max() < 9


@page.after("figure-width")
def test_width_numbers(data, errors, heads, linear, means, predicted):
    assert 90 < errors[0] / errors[1] < 110 and abs(predicted - linear[1](data.X)).max() < 1e-12
    assert means.round(2)[0, [0, 2, 6]].tolist() == [1.64, 0.79, 0.16] and 2.5 < means[1].min() <= means[1].max() < 3.9
    assert means.round(2)[2, [0, 6]].tolist() == [0.26, 0.07] and round(means[0, 2] / means[0, 6]) == 5
    assert round(np.polyfit(np.log(heads), np.log(means[0]), 1)[0], 2) == -0.57


@page.after("live-linearized")
def test_live_linearized_numbers(live):
    def ends_at(**values):
        run = live.path(**values)
        return run.loss[-1], run.linear_loss[-1], run.distance[-1]
    few, many, hot, small = ends_at(), ends_at(H=64), ends_at(lr=3.0), ends_at(scale=0.1)
    assert round(few[2], 1) == 0.9 and round(many[2], 2) == 0.07
    assert live.path(lr=3.0).distance[1] > 2 and hot[2] > 2 and hot[0] < 4e-4 and hot[1] < 4e-4
    assert round(small[2], 1) == 1.9 and 5 < small[1] / small[0] < 7 and round(small[0], 3) == 0.005 and round(small[1], 3) == 0.029
    first_steps = [live.path(scale=scale).distance[1] for scale in (0.1, 1.0)]
    assert first_steps[0] < 0.1 * first_steps[1]
    wide = ends_at(H=64, scale=0.1)
    assert round(wide[2], 1) == 0.7 and wide[2] < small[2]


@page.after("solution-still")
def test_solution_numbers(change_of_kernel):
    changes = [change_of_kernel(H) for H in (4, 64)]
    assert [round(change, 3) for change in changes] == [0.472, 0.046]
