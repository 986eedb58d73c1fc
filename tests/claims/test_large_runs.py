"""What the page large_runs says, held against its stored table and what its cells leave."""

import numpy as np

from mhabook.pages.large_runs import costs
from page import Page

page = Page("large_runs")


def large(table):
    """Of rows with a hundred thousand pairs of a sequence and a head, or more: pairs, and seconds a
    pair."""
    pairs = table["n"] * table["H"]
    return pairs[pairs >= 1e5], table["seconds"][pairs >= 1e5] / pairs[pairs >= 1e5]


@page.after("table")
def test_one_row_of_sixteen_was_not_run(table):
    _, _, *rows = (line for line in costs(table).splitlines() if line.startswith("|"))
    assert len(rows) == len(table) + 1 == 16
    assert [row for row in rows if "not run" in row] == ["| 4,096 | 100,000 | not run | not run |"]


@page.after("table")
def test_a_pair_costs_2_6_microseconds_up_to_a_factor_of_two(table):
    _, pace = large(table)
    assert pace.max() / pace.min() < 2
    assert round(1e6 * np.median(pace), 1) == 2.6


@page.after("table")
def test_memory_stops_growing_below_what_a_whole_pass_would_keep(table):
    pairs, _ = large(table)
    assert table["megabytes"].max() < 350
    assert round(2 * 8 * 10 * 10 * pairs.max() / 1e9) == 66


@page.after("table")
def test_the_row_that_was_not_run_would_take_more_than_an_hour(table):
    _, pace = large(table)
    assert 4 * 4096 * 100_000 * np.median(pace) / 3600 > 1


@page.after("torch-agrees")
def test_torch_trains_as_numpy(one, other):
    assert len(one.loss) == len(other.loss) > 1
    assert abs(one.loss - other.loss).max() < 1e-12
