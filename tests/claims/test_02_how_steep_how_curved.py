"""What the page multihead/02_how_steep_how_curved says, held against what its cells leave."""

import numpy as np
import pytest

import mhabook
from mhabook.c01_model import instances
from mhabook.c02_curvature import bounds, loss_bounds
from page import Page

page = Page("multihead/02_how_steep_how_curved")
STATEMENTS = [statement for statement in mhabook.ledger if statement.chapter == page.name]


def of_two_heads():
    """Which entries of a Hessian of three heads with 10 parameters each belong to two different heads."""
    head = np.repeat(np.arange(3), 10)
    return head[:, None] != head


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.id)
def test_each_statement_holds_and_fails_without_its_hypothesis(statement):
    assert statement.check(1).holds
    assert not statement.twin(1).holds


@page.after("figure-squared")
def test_the_share_stays_within_a_factor_of_two_for_the_logistic_loss_alone(both):
    assert np.ptp(np.log(both["logistic"][1])) < np.log(2)
    assert both["squared"][1][-1] > 5 * both["squared"][1][0]


@page.after("squared-extremal")
def test_on_the_extremal_data_the_squared_loss_exceeds_the_bound_at_once():
    instance = instances.opposite_tokens()
    assert not loss_bounds.self_bounded_weak_convexity(**instance, loss=bounds.MarginSquared()).holds


@page.after("solution-flat")
def test_all_curvature_is_bounded_by_a_multiple_of_the_loss(constant, path, top):
    assert (top.lhs <= constant * path.loss).all()


@page.after("solution-flat")
def test_the_largest_eigenvalue_over_the_loss_rises_from_0_5_to_2(path, top):
    ratio = top.lhs / path.loss
    assert round(ratio[0], 1) == 0.5
    assert ratio[-8:].min() > 1.9
    assert ratio.max() < 2.1


@page.after("solution-step")
def test_the_loss_falls_up_to_a_step_of_7_5_which_is_400_times_what_is_proved(check, largest):
    assert largest == 7.5
    assert largest * check.rhs > 400
    assert 1 < largest * check.lhs / 2 < 2


@page.after("solution-open")
def test_the_estimate_of_the_moments_loses_most(factors):
    assert factors.min() > 1
    assert factors.argmax() == 1
    assert factors[1] > 10
