"""The live figure of chapter 3: the browser's margins are mhalib's."""

import json
from functools import cache

import numpy as np
import pytest
from py_mini_racer import MiniRacer

from engines import BOOK, assert_follows, exposed, plain
from mhabook.c03_first_step import figure as c03
from mhabook.c03_first_step.max_margin import max_margin

SETTINGS = [
    {},
    {"initialization": "gaussian", "sigma": 0.3, "mirror": False},
    {"initialization": "zero", "sigma": 1.0},
    {"S": 3.0, "M": 1, "zeta": 0.7},
    {"M": 8, "sigma": 0.5, "mirror": False},
]


def normals(n, p):
    return np.random.default_rng([n, p, 200]).standard_normal((n, p))


@cache
def figure():
    return c03.realizability()


@pytest.mark.parametrize("values", SETTINGS, ids=str)
def test_the_figure_follows_mhalib(values):
    assert_follows(plain(figure()), figure(), values)


@pytest.mark.parametrize("kind", ["random", "few kinds", "not separable", "zero"])
def test_the_browser_finds_the_nearest_point_of_any_hull(kind):
    rows = {
        "random": normals(30, 50),
        "few kinds": np.tile(normals(5, 8), (6, 1)),
        "not separable": normals(60, 2),
        "zero": np.zeros((4, 3)),
    }[kind]
    v8 = MiniRacer()
    v8.eval(exposed(BOOK / "c03_first_step" / "margin.js"))
    found = v8.eval(
        f"maxMargin(Float64Array.from({json.dumps(rows.ravel().tolist())}), {len(rows)})"
    )
    assert found == pytest.approx(max_margin(rows, np.ones(len(rows))).margin, rel=1e-11)


def test_an_odd_number_of_samples_has_no_mirror():
    with pytest.raises(ValueError, match="n: expected an even number.*got 7"):
        c03.realizability(n=7)
