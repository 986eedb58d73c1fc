"""What the rows of the ledger see: mutants of every statement, and which of them its instances
refute.

``python book/results/mutants.py`` writes mutants.npz (some ten minutes of one core). A row is one
change of one expression in the check of a statement (``mhabook.mutants`` says which), or one
hypothesis left out: its kind, the expression before and after, the outcome, and the largest lhs/rhs
among the claims that it changes. Instances are the extremal ones and five random ones, with five
twins.
"""

from mhabook import ledger
from mhabook.mutants import run
from mhabook.studies import write_tables

if __name__ == "__main__":
    write_tables(__file__, __doc__, mutants=(run, {"id": [row.id for row in ledger]}, 1))
