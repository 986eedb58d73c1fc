"""What is certain of a statement: the certificates that the ledger page shows.

``python book/results/certificates.py`` writes certificates.npz (some 20 seconds), with python-flint,
which ``make certify`` installs. A row is the certificate of one statement: the set or the exact
instance that it is about, what it covers and what not, and its value, in words.
"""

from mhabook.certificates import certificates, run
from mhabook.studies import write_tables

if __name__ == "__main__":
    write_tables(__file__, __doc__, certificates=(run, {"id": [*certificates]}, 1))
