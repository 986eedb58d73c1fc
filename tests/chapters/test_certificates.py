"""Certificates: those with fractions are computed again, those with balls where python-flint is
there; with a constant 1 % better none comes out. The page shows what is stored."""

from fractions import Fraction

import pytest

import mhabook
from mhabook.certificates import NotCertified, certificates, registry
from mhabook.certificates.balls import ball, everywhere, identical, roots
from mhabook.pages import ledger as page

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


def test_rows_with_a_certificate_say_so_beside_their_mark_and_fold_what_it_covers():
    rows = {row["id"]: page.checked(row) for row in mhabook.ledger.rows(seeds=1)}
    for id, cells in rows.items():
        assert cells[2].endswith(" · certified") == (id in certificates)
        assert ("<summary>Certificate</summary>" in cells[1]) == (id in certificates)
    assert (
        "*Not covered:* the inequality with ι, which is in the proof." in rows["lemma-one-point"][1]
    )
    assert r"t\* lies between" in rows["thm-waiting"][1]


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
