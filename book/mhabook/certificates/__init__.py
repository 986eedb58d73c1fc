"""Certificates: what is certain of a statement for all reals of a set, or for one exact instance.

A row of the ledger tries instances in floating point. A certificate computes with balls, each a
number with a bound of its error (python-flint), or with fractions, so that what it says is proved,
as far as its docstring says. ``make certify`` computes all of them again; pages read the stored ones.
"""

from mhabook.certificates import constants, lines, tokens
from mhabook.certificates.registry import Certificate, NotCertified, certificates

__all__ = ["Certificate", "NotCertified", "certificates", "constants", "lines", "run", "tokens"]


def run(*, id: str, seed: int) -> dict[str, str]:
    """One certificate as a row of the stored table."""
    one = certificates[id]
    return {"on": one.on, "covers": one.covers, "leaves": one.leaves, "value": one.certify()}
