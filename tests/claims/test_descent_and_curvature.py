"""What the page start/descent_and_curvature says, held against what its cells leave."""

import numpy as np

from mhabook.start.surface import Surface
from page import Page

page = Page("start/descent_and_curvature")
SADDLE = {"low": -0.5, "q1": 1.0}
ON_THE_RIDGE, BESIDE = SADDLE | {"q2": 0.75}, SADDLE | {"q2": 1.0}


def final_loss(live, **values):
    """Where the loss of the live figure ends."""
    return float(live.path(**values).loss[-1])


@page.after("valley")
def test_sixty_steps_take_the_loss_down_to_less_than_a_millionth(points, valley):
    loss = valley.loss(points)
    assert loss[60] < 1e-6
    assert (np.diff(loss) < 0).all()


@page.after("hessian")
def test_the_hessian_of_the_valley_has_its_curvatures(valley):
    assert np.allclose(valley.hessian(), [[0.658, 0.456], [0.456, 0.392]])
    assert np.allclose(np.linalg.eigvalsh(valley.hessian()), [0.05, 1.0])


@page.after("check-closed")
def test_each_step_multiplies_each_coordinate_by_its_own_number(u, v):
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


@page.after("check-closed")
def test_the_condition_number_is_20(valley):
    assert round(valley.curvatures[0] / valley.curvatures[1]) == 20


@page.after("check-hvp")
def test_a_difference_of_gradients_is_the_product_with_the_hessian(ahead, behind, exact):
    assert ((ahead - behind) / 2e-5 - exact).norm() < 1e-8 * exact.norm()


@page.after("live-surface")
def test_step_size_1_ends_more_than_150_times_higher_than_1_8(live):
    assert 1.5e2 < final_loss(live, lr=1.0) / final_loss(live) < 2e2
    assert 4e-7 < final_loss(live) < 5e-7


@page.after("live-surface")
def test_below_at_and_beyond_the_border(live):
    assert 1.6e-3 < final_loss(live, lr=1.95) < 1.7e-3
    assert abs(final_loss(live, lr=2.0) - 0.78125) < 1e-4
    assert final_loss(live, lr=2.05) > 200


@page.after("live-surface")
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


@page.after("live-surface")
def test_from_beside_the_ridge_a_run_finds_a_minimum(live):
    assert live.path(**BESIDE, lr=0.5).loss[-1] < 1e-9


@page.after("live-surface")
def test_with_long_steps_sixty_are_enough_to_enlarge_rounding_errors_to_the_size_of_the_figure(
    live,
):
    assert 1e-16 * (1 + 1.8 * 0.5) ** 60 > 1
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
