"""Whatever a reader may bring is computed right, or refused in a sentence that names it: every cell
of the table."""

import pytest

from brought import COLUMNS, THINGS, outcome

pytestmark = pytest.mark.long


@pytest.mark.parametrize("thing", THINGS, ids=lambda thing: f"{thing.group}: {thing.words}")
def test_it_is_right_or_refused(thing):
    found = [outcome(thing, column) for column in COLUMNS]
    letters = "".join({"right": "R", "–": "-"}.get(cell, "x") for cell in found)
    assert letters == thing.cells, dict(zip(COLUMNS, found, strict=True))


def test_many_kinds_of_things_are_tried():
    assert len(THINGS) >= 60 and {thing.group for thing in THINGS} == {
        "rule",
        "model",
        "data",
        "name",
        "surroundings",
    }
    assert len({(thing.group, thing.words) for thing in THINGS}) == len(THINGS)
