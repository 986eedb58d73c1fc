"""Certificates: those with fractions are computed again, those with balls where python-flint is
there; with a constant 1 % better none comes out. The page shows what is stored."""

from fractions import Fraction

import numpy as np
import pytest

import mhabook
from mhabook.c09_tilting.finite_context import query_error
from mhabook.c14_traps.lines import Line
from mhabook.certificates import NotCertified, certificates, registry
from mhabook.certificates.balls import ball, everywhere, identical, roots
from mhabook.certificates.lines import Task
from mhabook.certificates.tokens import POWERS
from mhabook.pages import ledger as page
from mhalib.attention import Gaussian, NormalizedGaussian, softmax

TABLE = mhabook.stored("certificates.npz")
EXACT = [one for one in certificates.values() if one.exact]
balls = pytest.mark.skipif(registry.flint is None, reason="python-flint is not installed")


def comes_out_but_not_better(one):
    assert one.certify() == TABLE.where(id=one.id)["value"][0]
    with pytest.raises(NotCertified):
        one.certify(one.better)


@pytest.mark.parametrize("one", EXACT, ids=lambda one: one.id)
def test_fractions_come_out_and_none_of_them_can_be_better(one, monkeypatch):
    monkeypatch.setattr(registry, "flint", None)
    comes_out_but_not_better(one)


@balls
@pytest.mark.parametrize(
    "one", [one for one in certificates.values() if not one.exact], ids=lambda one: one.id
)
def test_balls_come_out_and_no_constant_can_be_better(one):
    comes_out_but_not_better(one)


def test_the_stored_certificates_are_those_of_the_code():
    """Others need ``python book/results certificates --fresh --overwrite``."""
    assert TABLE["id"].tolist() == [*certificates] and len(certificates) >= 12
    for name in ("on", "covers", "leaves"):
        assert TABLE[name].tolist() == [getattr(one, name) for one in certificates.values()]
    for one in certificates.values():
        assert one.id in mhabook.ledger
        assert one.covers.endswith(".") and one.leaves.endswith(".")
        assert registry.LEAVES in one.find.__doc__
        assert one.better in (registry.LESS, registry.MORE)


def test_the_page_folds_what_a_certificate_covers_and_what_not():
    folded = page.certificate("lemma-one-point")
    assert folded.startswith("<details><summary>Certificate</summary>For all κD² ≤ 7/16. ")
    assert "*Not covered:* the inequality with ι, which is in the proof.</details>" in folded
    assert r"t\* lies between" in page.certificate("thm-waiting")
    assert page.certificate("lemma-regret") == ""


def test_without_the_extra_a_sentence_names_it(monkeypatch):
    monkeypatch.setattr(registry, "flint", None)
    with pytest.raises(ImportError, match="^flint: .* python-flint, .* `make certify` installs it"):
        certificates["prop-plan"].certify()


def test_an_identity_is_told_from_what_is_none():
    assert identical(lambda x, y: (x + y) ** 2 - x * x - 2 * x * y - y * y, 2, 2)
    # Zero at 1, 2 and 3, but not at 4.
    assert not identical(lambda x: (x - 1) * (x - 2) * (x - 3), 3)


@balls
def test_every_root_is_found_once_and_a_double_one_is_refused():
    def cubic(x):
        return x * (x - 1) * (x + 1)

    found = roots(cubic, lambda x: 3 * x * x - 1, Fraction(-5), Fraction(6))
    assert [round(float(x.mid()), 9) for x in found] == [-1, 0, 1]
    assert all(x.contains(k) for x, k in zip(found, (-1, 0, 1), strict=True))
    with pytest.raises(NotCertified, match="double zero"):
        roots(lambda x: x * x, lambda x: 2 * x, Fraction(-1), Fraction(2))
    # A box that ends at a zero: its sign there is not certain.
    with pytest.raises(NotCertified, match="edge"):
        roots(lambda x: x, lambda x: ball(1), Fraction(0), Fraction(1))


@balls
def test_branch_and_bound_proves_what_is_true_and_stops_where_it_is_not():
    box = (Fraction(0), Fraction(1)), (Fraction(0), Fraction(1))
    everywhere(lambda x, y: x * (1 - x) * y < ball(Fraction(1, 4)) + ball(Fraction(1, 100)), *box)
    with pytest.raises(NotCertified, match=r"near 0\.[456]"):
        everywhere(lambda x, y: x * (1 - x) < ball(Fraction(1, 4)) - ball(Fraction(1, 100)), *box)


@balls
@pytest.mark.parametrize("seed", range(6))
def test_the_minima_are_those_of_the_line_in_floating_point(seed):
    rng = np.random.default_rng([seed, 14])
    keys = np.sort(rng.choice(np.arange(-4, 5), size=4, replace=False)).tolist()
    values, y = rng.integers(-3, 4, size=4).tolist(), Fraction(int(rng.integers(1, 20)), 7)
    half = Fraction(1, 2)
    sides = {softmax: {}, NormalizedGaussian(0.5): {"c": half}, Gaussian(0.5): {"c": half}}
    for kernel, width in sides.items():
        task = Task(keys, values, y, **width, means=kernel.normalized)
        found = [(float(q.mid()), float(loss.mid())) for q, loss in task.minima()]
        wanted = [(one.q, one.loss) for one in Line(keys, values, kernel).minima(float(y))]
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("square", POWERS)
def test_the_integrals_are_those_of_the_chapter(square):
    for digits, claim in zip((10, 20, 40), POWERS[square], strict=True):
        length = digits * np.log(10)
        found = np.log(query_error(10.0**digits, (2 * float(square) * length) ** 0.5)) / length
        np.testing.assert_allclose(found, [float(word) for word in claim.split()], atol=1e-5)


@balls
@pytest.mark.parametrize(
    "width", [{}, {"c": Fraction(1, 2)}, {"c": Fraction(1, 2), "means": False}]
)
def test_the_end_of_the_line_is_certain_far_out_alone(width):
    task = Task((-2, -1, 1, 2), (3, -2, 2, 1), Fraction(2), **width)
    for side in (task, task.mirrored):
        assert side.ends(Fraction(12)) and not side.ends(Fraction(1))
    # A target that is the limit is met at infinity: it is refused.
    assert not Task((-1, 1), (0, 2), Fraction(2)).ends(Fraction(12))
