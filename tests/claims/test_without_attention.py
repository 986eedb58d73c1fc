"""What the page without_attention says of livegrad's five examples."""

from pathlib import Path

import numpy as np

from livegrad.examples import two_layer_network
from page import Page

page = Page("without_attention")


@page.after("logistic")
def test_the_length_grows_after_the_first_step_separated_and_with_a_penalty_it_rests(one):
    free, held = one.path(), one.path(penalty=0.1)
    assert (free.margin[1:] > 0).all() and (np.diff(free.length) > 0).all()
    growth = np.diff(free.length) / np.diff(free.steps)
    assert growth[-1] < 0.01 * growth[0]
    assert held.grad_norm[-1] < 1e-9


@page.after("layers")
def test_the_loss_waits_near_that_of_the_best_line_and_longer_without_momentum(two):
    data = two_layer_network.wave()
    x = data.X[:, 0]
    line = np.mean((data.y - (x @ data.y) / (x @ x) * x) ** 2) / 2

    def wait(path):
        """How many steps lie between the loss of the line and half of it."""
        first, then = (path.steps[np.argmax(path.loss < share * line)] for share in (1.05, 0.5))
        return then - first

    waits = [wait(two.path(beta=beta)) for beta in (0.9, 0.5, 0.0)]
    assert 0 < waits[0] < waits[1] < waits[2]
    path = two.path()
    bent = path.loss < 0.5 * line
    assert path.steepest[bent].min() > 1 > path.steepest[0] and path.steepest[~bent].max() < 3


@page.after("matrix")
def test_the_error_on_what_is_not_seen_falls_too(three):
    start, path = three.path()[0], three.path()
    assert start.U.shape[1] == 4
    assert path.unseen[-1] < 0.05 * path.unseen[0]


@page.after("mixture")
def test_the_bells_part_after_a_plateau_and_not_at_small_steps(four):
    path = four.path()
    plateau = (path.steps >= 20) & (path.steps <= 200)
    assert np.ptp(path.loss[plateau]) < 0.02 < 0.1 < path.loss[plateau].min() - path.loss[-1]
    assert path.gap[0] < 0.3 and path.gap[-1] > 4
    falls = path.steps[(path.loss < 2.2) & (path.loss > 1.99)]
    assert np.ptp(falls) < falls[0]
    assert max(four.path(lr=lr).gap[-1] for lr in (0.03, 0.1)) < 1


@page.after("recurrence")
def test_the_loss_of_the_recurrence_falls_by_ten_and_its_matrix_grows(five):
    path = five.path()
    assert path.loss[-1] < path.loss[0] / 10 and path.kept[-1] > path.kept[0]


@page.after("recurrence")
def test_each_example_is_a_file_of_at_most_60_lines(one, two, three, four, five):
    files = list((Path(two_layer_network.__file__).parent).glob("[!_]*.py"))
    assert len(files) == 5
    assert all(len(file.read_text("utf-8").splitlines()) <= 60 for file in files)
