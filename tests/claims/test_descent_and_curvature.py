"""What the page start/descent_and_curvature says, held against what its cells leave."""

import mhalib as mha
import numpy as np
from claims.page import Page

page = Page("start/descent_and_curvature")


@page.after("valley-numbers")
def test_valley_numbers(points, u, v, valley):
    loss = valley.loss(points)
    assert round(loss[0], 2) == 0.82 and loss[60] < 1e-6 and (np.diff(loss) < 0).all()
    assert np.allclose(valley.hessian(), [[0.658, 0.456], [0.456, 0.392]])
    assert np.allclose(u, u[0] * (-0.8) ** np.arange(61)) and np.allclose(v, v[0] * 0.91 ** np.arange(61))


@page.after("check-hvp")
def test_check_numbers(ahead, behind, exact, u, v, valley):
    assert np.allclose([u[60] / u[0], v[60] / v[0]], [0.8 ** 60, 0.91 ** 60])
    assert ((ahead - behind) / 2e-5 - exact).norm() < 1e-8 * exact.norm()
    rng = np.random.default_rng(0)
    for surface in (valley, mha.Surface((1.0, -0.5)), mha.Surface((2.0, 0.3), (0.6, 0.8))):
        theta, rho = rng.uniform(-2, 2, (200, 2)), max(map(abs, surface.curvatures))
        slope = surface.gradient(theta)
        for eta in (0.1, 1 / rho, 1.9 / rho):
            gain = surface.loss(theta) - surface.loss(theta - eta * slope)
            assert (gain >= eta * (1 - eta * rho / 2) * (slope ** 2).sum(axis=1) - 1e-12).all()
        if surface.curvatures[1] > 0:
            assert ((slope ** 2).sum(axis=1) >= 2 * surface.curvatures[1] * surface.loss(theta) - 1e-12).all()
    assert round(1 / 0.05) == 20


@page.after("live-surface")
def test_live_surface_numbers(live):
    def final_loss(**values):
        return float(live.path(**values).loss[-1])
    assert 1.5e2 < final_loss(lr=1.0) / final_loss() < 2e2 and 4e-7 < final_loss() < 5e-7
    assert 1.6e-3 < final_loss(lr=1.95) < 1.7e-3 and abs(final_loss(lr=2.0) - 0.78125) < 1e-4 and final_loss(lr=2.05) > 200
    for angle in (0, 16, 53, 90):
        turned = live.path(angle=angle).loss
        assert 0.9 < (turned[60] / turned[40]) ** (1 / 40) < 0.92
    ridge, beside, long_steps = (live.path(low=-0.5, q1=1.0, q2=q2, lr=lr) for q2, lr in ((0.75, 0.5), (1.0, 0.5), (0.75, 1.8)))
    assert round(ridge.loss[-1], 3) == 0.101 and np.linalg.norm(ridge[-1]) < 1e-4 and beside.loss[-1] < 1e-9
    assert round(long_steps.loss[50], 3) == 0.101 and long_steps.loss[-1] < 0.09
    assert live.path(low=1.0).loss[-1] < 1e-11 and live.drawn(low=-0.5)["kappa"].startswith("none")
    assert round(0.5 * 2 / np.pi ** 2, 3) == 0.101


@page.after("solution-h")
def test_solution_numbers(errors):
    assert round(8 / 17, 3) == 0.471 and round(15 / 17, 3) == 0.882
    assert round(np.log(1e-3) / np.log(0.95), 1) == 134.7 and round(20 * np.log(1e3), 1) == 138.2
    assert round(np.log(1e5) / np.log(1.25), 1) == 51.6 and round(np.log(1e3) / np.log(1.25), 1) == 31.0
    assert min(errors, key=errors.get) in (4, 5, 6) and errors[12] > 1e3 * errors[5] and 50 < errors[2] / errors[3] < 200
