"""Schedules: what they say at every step, that every rule follows them, and what they refuse."""

import numpy as np
import pytest

import mhalib as mha
from checks import assert_refused

SCHEDULES = {
    "root": (mha.InverseRoot(0.6), [0.6, 0.6 / 2**0.5, 0.6 / 3**0.5, 0.3, 0.6 / 5**0.5]),
    "warm-up": (mha.Warmup(0.6, rise=3), [0.2, 0.4, 0.6, 0.6, 0.6]),
    "cosine": (
        mha.Cosine(0.6, steps=4),
        [0.6, 0.3 + 0.3 * 0.5**0.5, 0.3, 0.3 - 0.3 * 0.5**0.5, 0.0],
    ),
    "a product": (
        mha.Warmup(2.0, rise=4) * mha.Cosine(0.3, steps=4),
        [0.15, 0.15 + 0.15 * 0.5**0.5, 0.225, 0.3 - 0.3 * 0.5**0.5, 0.0],
    ),
    "one cycle": (mha.OneCycle(0.6, steps=5, rise=0.4), [0.024, 0.6, 0.4000008, 0.2000016, 2.4e-6]),
}
each = pytest.mark.parametrize(("schedule", "sizes"), SCHEDULES.values(), ids=SCHEDULES)


@each
def test_a_schedule_says_the_size_of_every_step(schedule, sizes):
    np.testing.assert_allclose([schedule(k) for k in range(5)], sizes, rtol=1e-14, atol=1e-16)


@pytest.mark.parametrize("rule", [mha.GradientDescent, mha.Momentum, mha.Adam, mha.AdamW])
def test_a_rule_takes_the_steps_of_its_schedule(rule):
    (schedule, sizes), theta = SCHEDULES["one cycle"], 2.0
    other = theta
    state = scheduled_state = rule(1.0).start(theta)
    for k, size in enumerate(sizes[:4]):
        grad = theta**3
        theta, state = rule(float(size)).step(theta, grad, state, k)
        other, scheduled_state = rule(schedule).step(other, grad, scheduled_state, k)
        assert other == pytest.approx(theta, rel=1e-14)


def test_a_product_is_written_as_it_is_made():
    product = mha.Warmup(1.0, 5) * mha.Cosine(0.1, 50) * mha.InverseRoot(1.0)
    assert repr(product) == (
        "Warmup(peak=1.0, rise=5) * Cosine(peak=0.1, steps=50) * InverseRoot(peak=1.0)"
    )


@pytest.mark.parametrize("other", [2.0, np.float64(2.0), np.ones(3), lambda k: 1.0, None])
def test_schedules_are_multiplied_by_schedules_alone(other):
    for product in (lambda: mha.Warmup(1.0, 5) * other, lambda: other * mha.Warmup(1.0, 5)):
        assert_refused(product, TypeError, ["*: expected two schedules", "got a Warmup and"])


@pytest.mark.parametrize("other", [mha.Cosine(0.1, 50), 0.1])
def test_a_sum_of_schedules_is_refused_with_the_product_that_is_meant(other):
    said = ["+: expected *, because schedules are multiplied", "Warmup(1.0, rise=50) * Cosine("]
    for total in (lambda: mha.Warmup(1.0, 5) + other, lambda: other + mha.Warmup(1.0, 5)):
        assert_refused(total, TypeError, said)


def test_cosine_stays_at_zero():
    assert mha.Cosine(0.6, steps=4)(9) == 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mha.Cosine(0.0, 5), ["peak: expected a positive number"]),
        (lambda: mha.InverseRoot(float("nan")), ["peak: expected a positive number"]),
        (lambda: mha.Warmup(lambda k: 1.0, 5), ["peak: expected a positive number"]),
        (lambda: mha.Warmup(0.1, rise=0), ["rise: expected a whole number ≥ 1, got 0"]),
        (lambda: mha.Cosine(0.1, steps=2.5), ["steps: expected a whole number ≥ 1, got 2.5"]),
        (lambda: mha.Cosine(0.1, steps=True), ["steps: expected a whole number"]),
    ],
)
def test_bad_schedules_are_refused(call, words):
    assert_refused(call, ValueError, words)
