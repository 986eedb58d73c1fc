"""What the page kernels/14_traps says, held against what its cells leave."""

import numpy as np
import pytest

import mhalib as mha
from mhabook.c14_traps import lines
from mhabook.c14_traps import statements as traps
from mhabook.c14_traps.minima import minima_of
from mhalib.attention import Gaussian
from page import Page

page = Page("kernels/14_traps")
ZERO = 1e-20
"""Losses below are zero up to rounding, which is some 10⁻³⁰."""


def column(example, name):
    """Keys or values of an example as the theorems take them, (n, 1)."""
    return np.array(traps.EXAMPLES[example][name])[:, None]


def waiting_in_b3(start):
    """The steps that a query of B3 waits before it is within 3 of the key at 5."""
    q, y = np.array([start]), np.array([0.9])
    return traps.waiting_time(q, column("B3", "keys"), column("B3", "values"), y, 1.0, mha.gaussian, near=3.0)


def line_of(example, kernel):
    return lines.Line(traps.EXAMPLES[example]["keys"], traps.EXAMPLES[example]["values"], kernel)


def rounded_minima(line, y, digits):
    return [(round(one.q, 2), round(one.loss, digits)) for one in line.minima(y)]


# See: three examples


@page.after("solution-push")
def test_no_rule_gets_a_query_out_of_b2(pushed):
    assert all(1.349 < path.loss[-1] < 1.36 for path in pushed.values())
    assert all(path[-1].WQ.min() > 0.9 for path in pushed.values())
