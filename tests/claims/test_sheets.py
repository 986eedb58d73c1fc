"""What the page start/sheets says, held against what its cells leave."""

import numpy as np
from claims.page import Page

page = Page("start/sheets")


@page.after("solution-weights")
def test_solution_weights(j, weights):
    assert np.allclose(weights, 2 * j / (19 * 20))
    assert abs(weights.max() - 0.1) < 1e-12


@page.after("solution-copies")
def test_solution_copies(data, eight, one):
    assert np.allclose(eight(data.X), one(data.X), rtol=1e-12)


@page.after("solution-quadratic")
def test_solution_quadratic(curvature, eta, x):
    assert np.allclose(x, (1 - eta * curvature) ** 5)


@page.after("solution-price")
def test_solution_price(factors):
    assert np.allclose(factors, [2 ** 6, 2 ** 4], rtol=1e-3)


@page.after("solution-error")
def test_solution_error(right):
    assert abs(right.mean(axis=1).std() / (0.8 * 0.2 / 872) ** 0.5 - 1) < 0.02


@page.after("solution-effective")
def test_solution_effective(draws, formula, median):
    assert round(formula) == 18 and round(median) == 52 and round(1024 * np.exp(-4)) == 19
    assert round((draws.max(axis=1) < 4).mean(), 2) == 0.97


@page.after("solution-halfway")
def test_solution_halfway(g, gauss, q, s, soft):
    assert np.allclose(soft, 1 / (1 + np.exp(-2 * q[:, 0])))
    assert np.allclose(gauss, [np.exp(-0.5), 1, 0.5])
    assert (1 - s).max() < 0.003 and (1 - g[:2]).max() < 0.001 and g[2:].max() < 1e-5
