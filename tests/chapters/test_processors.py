"""What the checks of the ledger print is the same text on every processor, but for what the
notebooks' sanitizer takes out: the digits of rounding errors."""

import os
import re
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path

import pytest

from scripts import load

ROOT = Path(__file__).parents[2]
everywhere = load(".ci/everywhere.py")
HERE = [
    kinds[0] for needs, kinds in everywhere.PROCESSORS.items() if needs in everywhere.instructions()
]
"""The processors that this one can imitate, the oldest first."""
PROGRAM = """
import re
import mhabook
for each in mhabook.ledger:
    checks = [*map(each.check, range(2)), *map(each.twin, range(2))]
    print(each.id, *checks, sep="\\n")
    # Pages of these chapters print the slacks.
    if re.search("/(07|09|10|13)_", each.chapter):
        print(*(f"{check.slack:.2g}" for check in checks if check is not None))
"""


def sanitized(text):
    rules = RawConfigParser()
    rules.read(ROOT / "book" / "_ext" / "nbval_sanitize.cfg", "utf-8")
    for rule in rules.sections():
        text = re.sub(rules[rule]["regex"], rules[rule]["replace"], text)
    return text.splitlines()


def printed(processor):
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | {"OPENBLAS_CORETYPE": processor, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return sanitized(found.stdout)


@pytest.mark.skipif(len(HERE) < 2, reason="this processor imitates no other")
def test_checks_print_one_text_on_the_oldest_processor_and_the_newest():
    assert printed(HERE[0]) == printed(HERE[-1])
