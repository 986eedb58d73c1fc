"""What the page large_runs says, held against what its cells leave."""

import numpy as np
from claims.page import Page

page = Page("large_runs")


@page.after("table")
def test_table_checked(measured, rows, table):
    pairs, megabytes = table["n"] * table["H"], table["megabytes"]
    pace = table["seconds"][pairs >= 1e5] / pairs[pairs >= 1e5]
    assert len(rows) == len(table) + 1 == 16 and (4096, 100_000) not in measured
    assert pace.max() / pace.min() < 2 and round(1e6 * np.median(pace), 1) == 2.6
    assert megabytes.max() < 350 and round(2 * 8 * 10 * 10 * pairs.max() / 1e9) == 66
    assert 4 * 4096 * 100_000 * np.median(pace) / 3600 > 1


@page.after("torch-agrees")
def test_torch_agrees(one, other):
    assert abs(one.loss - other.loss).max() < 1e-12
