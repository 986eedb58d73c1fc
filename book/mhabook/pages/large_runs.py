"""The page *Large runs*: what a step costs, from the tables that ``book/results/scale.py`` and
``book/results/large/cost.py`` store."""

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
    return (
        table("| heads $H$ | sequences $n$ | a step | memory |\n|--:|--:|--:|--:|", rows)
        + f"\n\n{made_by(measured)}"
    )


def networks(measured: Table, steps: int = 50_000) -> str:
    """The table of time and memory of the networks of chapter 16 at full size, and what made it."""
    rows = (
        [
            f"{task}, {tokens:,} tokens",
            kernel,
            f"{batch}",
            f"{1e3 * seconds:.0f}",
            f"{steps * seconds / 60:.0f}",
            f"{held / 1e3:.1f}",
        ]
        for task, kernel, tokens, batch, seconds, held in zip(
            *map(
                measured.__getitem__, ("task", "kernel", "tokens", "batch", "seconds", "megabytes")
            ),
            strict=True,
        )
    )
    head = f"| task | kernel | samples a step | ms a step | {steps:,} steps, minutes | memory, GB |"
    return table(f"{head}\n|:--|:--|--:|--:|--:|--:|", rows) + f"\n\n{made_by(measured)}"


def made_by(measured: Table) -> str:
    """The sentence that names the command, the hardware and the versions behind a table."""
    versions = ", ".join(
        f"{name} {version}" for name, version in measured.about["versions"][0].items()
    )
    hardware = measured["hardware"][0]
    where = f"one {hardware}" if hardware.startswith("NVIDIA") else f"one core of {hardware}"
    return f"Made by `{measured.about['command']}` on {where}, with {versions}."
