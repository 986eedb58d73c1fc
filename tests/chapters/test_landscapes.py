"""Chapter 15: every claim of its statements is attained, and sees a wrong constant."""

import numpy as np
import pytest

import mhabook
from mhabook.c15_landscapes import statements as landscapes


@pytest.mark.parametrize(
    "at, attained",
    [([0, 1], ["μ_1 ≤ ν_1", "μ_2 ≤ ν_2"]), ([-2, -1], ["ν_1 ≤ μ_{p−1}", "ν_2 ≤ μ_p"])],
)
def test_interlacing_is_attained_by_planes_of_eigenvectors(at, attained):
    H = np.diag([-3.0, -1, 2, 5])
    checks = landscapes.interlacing(H, np.eye(4)[:, at])
    assert all(checks)
    assert [check.statement for check in checks if check.slack < 1e-9] == attained
    assert not any(check._replace(lhs=check.lhs + 1e-8) for check in checks if check.slack < 1e-9)


@pytest.mark.parametrize("wrong, seen", [(1.05, [True, False, True]), (0.95, [False, False, True])])
def test_a_chance_to_see_a_saddle_is_neither_too_large_nor_too_small(wrong, seen, monkeypatch):
    missed = landscapes.missed
    monkeypatch.setattr(landscapes, "missed", lambda P, down, up: wrong * missed(P, down, up))
    found = landscapes.missed_saddle(**mhabook.ledger["prop-missed-saddle"].extremal[1]())
    assert [bool(check) for check in found] == seen


def test_planes_that_are_counted_tell_a_wrong_chance(monkeypatch):
    right = landscapes.chances
    monkeypatch.setattr(landscapes, "chances", lambda values, v: 0.9 * right(values, v))
    assert not landscapes.missed_saddle(**mhabook.ledger["prop-missed-saddle"].extremal[1]())[2]


@pytest.mark.parametrize("walls", [(0.3, 5.0), (2.0, 0.7)])
def test_the_chance_in_three_dimensions_is_an_integral_over_normals(walls):
    """A plane with the normal w has the determinant det H · wᵀH⁻¹w."""
    angles = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
    around, b = np.stack([np.cos(angles), np.sin(angles)], axis=1), 1.3
    s = around**2 @ (1 / np.array(walls))
    # negative where w_1² < s/(s + 1/b), and w_1 is uniform in [−1, 1]
    expected = (s / (s + 1 / b)) ** 0.5
    assert landscapes.chances(np.array([-b, *walls]), around).mean() == pytest.approx(
        expected.mean(), rel=1e-10
    )


@pytest.mark.parametrize(
    "moments", [((1.0, 0.5), (-1.0, 0.5)), ((0.0, 0.5), (2**0.5, 0.25), (-(2**0.5), 0.25))]
)
def test_other_entries_have_the_mean_and_not_the_variance(moments):
    mean, variance = landscapes.mean_curvature(
        mhabook.ledger["prop-mean-curvature"].random(1)["H"], moments
    )
    assert mean and not variance
