"""What the page large_runs says, held against its stored tables and what its cells leave."""

from collections import namedtuple

import numpy as np

from mhabook.pages.large_runs import costs
from page import Page

page = Page("large_runs")


def large(table):
    """Of rows with a hundred thousand pairs of a sequence and a head, or more: pairs, and seconds a
    pair."""
    pairs = table["n"] * table["H"]
    return pairs[pairs >= 1e5], table["seconds"][pairs >= 1e5] / pairs[pairs >= 1e5]


def rows(table):
    """The rows of a table, with names."""
    names = ("n", "H", "seconds", "first_loss", "last_loss")
    Row = namedtuple("Row", names)
    return [Row(*values) for values in zip(*(table[name] for name in names), strict=True)]


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


@page.after("gpu-table")
def test_from_ten_thousand_pairs_on_the_gpu_is_faster_and_up_to_two_thousand_the_cpu(table, on_gpu):
    cpu, gpu = ({(row.n, row.H): row.seconds for row in rows(part)} for part in (table, on_gpu))
    faster = {n * H: gpu[n, H] < cpu[n, H] for n, H in cpu}
    assert {faster[pairs] for pairs in faster if pairs >= 10_000} == {True}
    assert {faster[pairs] for pairs in faster if pairs < 2_000} == {False}


@page.after("gpu-table")
def test_the_smallest_steps_take_1_7_to_2_8_milliseconds_and_a_pair_four_nanoseconds(on_gpu):
    pairs = on_gpu["n"] * on_gpu["H"]
    small = 1e3 * on_gpu["seconds"][pairs < 2_000]
    assert (round(small.min(), 1), round(small.max(), 1)) == (1.7, 2.8)
    assert round(on_gpu["seconds"].max(), 1) == 1.8
    assert round(1e9 * on_gpu["seconds"].max() / pairs.max()) == 4
    assert round(on_gpu["megabytes"].max() / 1e3, 1) == 2.2


@page.after("gpu-table")
def test_where_both_were_run_the_losses_agree_to_3e_7(table, on_gpu):
    for name in ("first_loss", "last_loss"):
        cpu, gpu = (
            {(row.n, row.H): getattr(row, name) for row in rows(t)} for t in (table, on_gpu)
        )
        assert max(abs(gpu[key] - loss) for key, loss in cpu.items()) < 3e-7


@page.after("torch-agrees")
def test_torch_trains_as_numpy(one, other):
    assert len(one.loss) == len(other.loss) > 1
    assert abs(one.loss - other.loss).max() < 1e-12
