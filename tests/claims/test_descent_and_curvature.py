"""What the page start/descent_and_curvature says, held against what its cells leave."""

import numpy as np
import pytest

from mhabook.start.surface import Surface
from page import Page

page = Page("start/descent_and_curvature")
UNQUOTED = {
    "what is proved, or defined": (
        "title",
        "curvature: If one",
        "curvature: With parameters",
        "curvature: and costs",
        "prove",
    ),
    "what a cell or a figure does, or asks": (
        "predict: The graph",
        "check-hvp-text",
        "sliders",
        "live-surface-seen: This answers",
    ),
    "another page's": ("where-used",),
}
SADDLE = {"low": -0.5, "q1": 1.0}
ON_THE_RIDGE, BESIDE = SADDLE | {"q2": 0.75}, SADDLE | {"q2": 1.0}


def final_loss(live, **values):
    """Where the loss of the live figure ends."""
    return float(live.path(**values).loss[-1])


@page.after(
    "valley", says="In sixty steps, the loss falls from {glue:text}`before` to below one millionth"
)
def test_sixty_steps_take_the_loss_down_to_less_than_a_millionth(points, said, valley):
    steps, most = said
    loss = valley.loss(points)
    assert 0.1 * most < loss[int(steps)] < most
    assert (np.diff(loss) < 0).all()


@page.after("hessian", says="The curvature is $1$ across the valley and $0.05$ along it")
def test_the_hessian_of_the_valley_has_its_curvatures(said, valley):
    assert valley.curvatures == pytest.approx(said)
    assert np.allclose(valley.hessian(), [[0.658, 0.456], [0.456, 0.392]])
    assert np.allclose(np.linalg.eigvalsh(valley.hessian()), [0.05, 1.0])


@page.after(
    "check-closed", says="After 60 steps, the two coordinates should have been multiplied by"
)
def test_each_step_multiplies_each_coordinate_by_its_own_number(said, u, v):
    assert [len(u) - 1, 2] == said
    assert np.allclose(u, u[0] * (-0.8) ** np.arange(61))
    assert np.allclose(v, v[0] * 0.91 ** np.arange(61))
    assert np.allclose([u[60] / u[0], v[60] / v[0]], [0.8**60, 0.91**60])


@page.after("check-closed")
def test_the_descent_lemma_and_the_inequality_of_a_bowl(valley):
    rng = np.random.default_rng(0)
    for surface in (valley, Surface((1.0, -0.5)), Surface((2.0, 0.3), (0.6, 0.8))):
        theta, rho = rng.uniform(-2, 2, (200, 2)), max(map(abs, surface.curvatures))
        slope = surface.gradient(theta)
        for eta in (0.1, 1 / rho, 1.9 / rho):
            gain = surface.loss(theta) - surface.loss(theta - eta * slope)
            assert (gain >= eta * (1 - eta * rho / 2) * (slope**2).sum(axis=1) - 1e-12).all()
        if surface.curvatures[1] > 0:
            assert (
                (slope**2).sum(axis=1) >= 2 * surface.curvatures[1] * surface.loss(theta) - 1e-12
            ).all()


@page.after("check-closed", says="Here it is $20$, the square of the ratio")
def test_the_condition_number_is_20(said, valley):
    assert [valley.curvatures[0] / valley.curvatures[1]] == pytest.approx(said)


@page.after("check-hvp")
def test_a_difference_of_gradients_is_the_product_with_the_hessian(ahead, behind, exact):
    assert ((ahead - behind) / 2e-5 - exact).norm() < 1e-8 * exact.norm()


@page.after(
    "live-surface",
    says=(
        "the loss ends more than $150$ times *higher* than at",
        "It is multiplied by $0.95$ in each step, compared with $0.91$ at the larger step size",
        "The jumps across the valley do no harm as long as they shrink",
    ),
)
def test_step_size_1_ends_more_than_150_times_higher_than_1_8(live, said, valley):
    times, small, large = said
    assert times < final_loss(live, lr=1.0) / final_loss(live) < 1.3 * times
    assert [1 - lr * valley.curvatures[1] for lr in (1.0, live.values["lr"])] == pytest.approx(
        [small, large]
    )
    assert 4e-7 < final_loss(live) < 5e-7


@page.after(
    "live-surface",
    says=(
        "At $1.95$, the jumps hardly shrink, so the steep coordinate is now the slow one, and the loss ends at "
        "$0.0017$",
        "At the threshold $2$, the loss stays at $0.78$ forever. At $2.05$, it grows past $200$",
        "The threshold is $2$, and the larger curvature sets it. The number of steps depends on the smaller "
        "curvature, as long as the jumps shrink fast enough",
    ),
)
def test_below_at_and_beyond_the_border(live, said, valley):
    below, end, at, stays, beyond, most, threshold = said
    assert final_loss(live, lr=below) == pytest.approx(end, abs=6e-5)
    assert abs(1 - below * valley.curvatures[0]) > 1 - below * valley.curvatures[1]
    assert at == threshold == 2 / max(valley.curvatures)
    assert abs(final_loss(live, lr=at) - stays) < 5e-3
    assert most < final_loss(live, lr=beyond) < 2 * most


@page.after("live-surface", says="its slope is still given by the slower factor")
def test_a_turned_valley_falls_to_a_line_of_the_same_slope(live):
    for angle in (0, 16, 53, 90):
        turned = live.path(angle=angle).loss
        assert 0.9 < (turned[60] / turned[40]) ** (1 / 40) < 0.92


@page.after("live-surface")
def test_from_the_ridge_a_run_ends_at_the_saddle(live):
    ridge = live.path(**ON_THE_RIDGE, lr=0.5)
    assert round(ridge.loss[-1], 3) == 0.101
    assert round(0.5 * 2 / np.pi**2, 3) == 0.101
    assert np.linalg.norm(ridge[-1]) < 1e-4
    assert live.drawn(low=-0.5)["kappa"].startswith("none")


@page.after(
    "live-surface",
    says="The loss falls at every step, by the descent lemma, and yet a run may end at a point",
)
def test_from_beside_the_ridge_a_run_finds_a_minimum(live):
    assert all(
        (np.diff(live.path(**start, lr=0.5).loss) <= 0).all() for start in (ON_THE_RIDGE, BESIDE)
    )
    assert live.path(**BESIDE, lr=0.5).loss[-1] < 1e-9


@page.after(
    "live-surface",
    says=(
        "Next to the ridge, the distance from it at first grows by the factor",
        "errors in the sixteenth digit grow by the factor $1.9$ in each step. Sixty such steps are enough",
    ),
)
def test_with_long_steps_sixty_are_enough_to_enlarge_rounding_errors_to_the_size_of_the_figure(
    live, said
):
    factor, steps = said
    assert factor == 1 + 1.8 * 0.5
    assert 1e-16 * factor**steps > 1
    assert round(live.path(**ON_THE_RIDGE, lr=1.8).loss[40], 3) == 0.101
    saddle, nearly = Surface((1.0, -0.5), (0.8, 0.6)), (1.0, 0.75 + 1e-14)
    assert saddle.loss(saddle.descend(nearly, 1.8, 60)[-1]) < 0.09
    assert round(saddle.loss(saddle.descend(nearly, 0.5, 60)[-1]), 3) == 0.101


@page.after("live-surface")
def test_a_round_bowl_is_left_by_no_step(live):
    assert live.path(low=1.0).loss[-1] < 1e-11


@page.after("solution-h")
def test_solution_of_how_small_h_should_be(errors):
    assert min(errors, key=errors.get) in (4, 5, 6)
    assert errors[12] > 1e3 * errors[5]
    assert 50 < errors[2] / errors[3] < 200
