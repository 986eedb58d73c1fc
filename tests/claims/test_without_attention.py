"""What the page without_attention says of livegrad's five examples."""

from pathlib import Path

import numpy as np

from livegrad.examples import two_layer_network
from page import Page

page = Page("without_attention")
UNQUOTED = {
    "what a model is, or a question": (
        "logistic-question",
        "layers-question",
        "matrix-question: The loss depends",
        "mixture-question",
        "recurrence-question",
    ),
}


@page.after(
    "logistic",
    says=(
        "Yet the loss can still fall, because a $w$ with a larger norm gives every point a larger margin",
        "So the norm grows for as long as you train, although more and more slowly",
    ),
)
def test_the_length_grows_after_the_first_step_separated_and_with_a_penalty_it_rests(one):
    free, held = one.path(), one.path(penalty=0.1)
    assert (free.margin[1:] > 0).all() and (np.diff(free.length) > 0).all()
    growth = np.diff(free.length) / np.diff(free.steps)
    assert growth[-1] < 0.01 * growth[0]
    assert held.grad_norm[-1] < 1e-9


@page.after(
    "layers",
    says=(
        "The loss first falls to that of the best straight line",
        "become steep enough to be nonlinear, and then it falls again",
        "With less momentum (a smaller `beta`), the plateau is longer",
    ),
)
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


@page.after(
    "matrix",
    says=(
        "A matrix of rank 2 is to be written as a product of two factors of rank 4",
        "the error on the unseen entries falls together with the loss",
    ),
)
def test_the_error_on_what_is_not_seen_falls_too(said, three):
    rank, _, width = said
    path = three.path()
    start, last = path[0], path[-1]
    assert start.U.shape[1] == width
    sizes = np.linalg.svd(last.U @ last.V.T)[1]
    assert sum(sizes > 0.1 * sizes[0]) == rank
    assert path.unseen[-1] < 0.05 * path.unseen[0]


@page.after(
    "mixture",
    says=(
        "between them grows, slowly at first, until they separate",
        "Then the loss falls to its final value, in less time than it spent on the plateau",
        "With a small step size, 500 steps do not show the separation",
    ),
)
def test_the_bells_part_after_a_plateau_and_not_at_small_steps(four, said):
    path = four.path()
    assert [path.steps[-1]] == said
    plateau = (path.steps >= 20) & (path.steps <= 200)
    assert np.ptp(path.loss[plateau]) < 0.02 < 0.1 < path.loss[plateau].min() - path.loss[-1]
    assert path.gap[0] < 0.3 and path.gap[-1] > 4
    falls = path.steps[(path.loss < 2.2) & (path.loss > 1.99)]
    assert np.ptp(falls) < falls[0]
    assert max(four.path(lr=lr).gap[-1] for lr in (0.03, 0.1)) < 1


@page.after(
    "recurrence",
    says="The loss falls by a factor of more than ten, and the matrix that carries the memory from one number to "
    "the next grows in norm",
)
def test_the_loss_of_the_recurrence_falls_by_ten_and_its_matrix_grows(five, said):
    (factor,) = said
    path = five.path()
    assert factor < path.loss[0] / path.loss[-1] and path.kept[-1] > path.kept[0]


@page.after(
    "logistic",
    says=(
        "This page shows five models without attention",
        "Each model is a file of at most 60 lines",
        "The five files are in the folder",
    ),
)
def test_each_example_is_a_file_of_at_most_60_lines(said):
    models, most, there = said
    files = list((Path(two_layer_network.__file__).parent).glob("[!_]*.py"))
    assert len(files) == models == there
    assert all(len(file.read_text("utf-8").splitlines()) <= most for file in files)
