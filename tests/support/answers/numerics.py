"""Tolerances, and numerics that several answers need."""

import numpy as np
from scipy.optimize import brentq, minimize_scalar

NUMERIC = 1e-6
ROUNDED = 6e-3
"""Where a run ends is typed with three digits; the page asks for two of them."""


def slope(function, x, h=1e-5):
    return (function(x + h) - function(x - h)) / (2 * h)


def root(function, low, high):
    return brentq(function, low, high, xtol=1e-14)


def smallest(function, low, high):
    """Where, and how small."""
    found = minimize_scalar(
        function, bounds=(low, high), method="bounded", options={"xatol": 1e-13}
    )
    return found.x, found.fun


def at_largest(function, low, high):
    return smallest(lambda x: -function(x), low, high)[0]


def best_step(curvatures):
    """The step size with the smallest largest factor, and this factor."""
    return smallest(lambda lr: abs(1 - lr * curvatures).max(), 0, 2 / curvatures.max())


def gaussian_mean(function, nodes=120):
    x, weight = np.polynomial.hermite_e.hermegauss(nodes)
    return weight @ function(x) / weight.sum()
