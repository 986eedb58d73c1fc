"""The page *Large runs*: what a step costs, from the table that ``book/results/scale.py``
stores."""

from itertools import product

from mhabook.pages.text import table
from mhabook.tables import Table


def costs(measured: Table) -> str:
    """The table of time and memory by heads and sequences, and what made it."""
    cells = {
        (H, n): [f"{1e3 * seconds:,.2f} ms", f"{held:,.1f} MB"]
        for H, n, seconds, held in zip(
            *map(measured.__getitem__, ("H", "n", "seconds", "megabytes")), strict=True
        )
    }
    rows = (
        [f"{H:,}", f"{n:,}", *cells.get((H, n), ["not run", "not run"])]
        for H, n in product((1, 16, 256, 4096), (100, 1_000, 10_000, 100_000))
    )
    versions = ", ".join(
        f"{name} {version}" for name, version in measured.about["versions"][0].items()
    )
    return (
        table("| heads $H$ | sequences $n$ | a step | memory |\n|--:|--:|--:|--:|", rows)
        + f"\n\nMade by `{measured.about['command']}` on one core of {measured['hardware'][0]}, "
        f"with {versions}."
    )
