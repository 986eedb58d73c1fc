"""The page *Theory against practice*: what each theorem asks for or promises, beside what runs
need.

The rows are computed by part of the book: ``multihead``, ``preconditioning``, ``kernels``.
"""

from collections.abc import Iterable, Sequence

import mhalib as mha
from mhabook.ledger import ledger
from mhabook.pages.text import sortable, table, to_section
from mhabook.pages.theory_and_practice import kernels, multihead, preconditioning
from mhabook.pages.theory_and_practice.row import Row, Rows, power
from mhabook.tables import stored
from mhalib.live import LiveFigure

SECTIONS = {
    "multihead/02_further": "move-the-sliders-heads-against-curvature",
    "multihead/03_what_one_random_step_knows": "see-what-the-gradients-can-tell-apart",
    "multihead/03_further": "move-the-sliders",
    "multihead/04_why_training_cannot_get_lost": "see-does-the-run-come-nearer-to-a-good-model",
    "multihead/04_further": "move-the-sliders-theory-against-practice",
    "multihead/05_more_heads_slower_or_faster": "see-more-heads-three-ways",
    "multihead/05_further": "move-the-sliders-five-curves-at-once",
    "multihead/07_does_it_generalize": "see-a-run-and-the-run-without-one-sample",
    "multihead/07_further": "move-the-sliders-one-sample-more-or-less",
    "preconditioning/09_further": "move-the-sliders",
    "preconditioning/10_further": "move-the-sliders",
    "preconditioning/11_further": "move-the-sliders",
    "kernels/13_when_gradient_descent_must_succeed": "see-train-the-values",
    "kernels/13_further": "move-the-sliders",
    "kernels/14_traps": "see-where-a-query-stops",
    "kernels/14_further": "move-the-sliders",
}
"""Chapter → the section with the live figure that shows its conditions."""
HEAD = "| Statement | Requires or guarantees | Runs | Factor | Mark | Live figure |\n|---|---|---|--:|---|---|"


def all_rows(live: LiveFigure) -> Rows:
    """The rows of all chapters; ``live`` is the figure of the page."""
    mixture, zero = mha.data.tokenized_mixture(seed=0), stored("heads.npz")
    return [
        *multihead.collapse(mixture, zero),
        *multihead.curvature(),
        *multihead.margins(),
        *multihead.training(live),
        *multihead.attention(mixture, zero),
        *multihead.samples(),
        *preconditioning.exponent(),
        *preconditioning.regression(),
        *preconditioning.finite_data(),
        *kernels.values_alone(),
        *kernels.queries_alone(),
        *kernels.all_weights(),
        *kernels.waiting(),
        *kernels.barrier(),
        *kernels.wells(),
    ]


def by_theorem(rows: Sequence[Row]) -> tuple[Rows, Rows]:
    """The first row of each theorem, in the order of the ledger, and the other rows."""
    main = [
        next(row for row in rows if row.statement == entry.id)
        for entry in ledger
        if entry.id.startswith("thm-")
    ]
    return main, [row for row in rows if row not in main]


def factors(rows: Iterable[Row]) -> dict[str, float]:
    """Label → factor of the rows that have one, the least first."""
    return dict(
        sorted(
            ((row.label, row.factor) for row in rows if not isinstance(row.factor, str)),
            key=lambda pair: pair[1],
        )
    )


def as_table(rows: Iterable[Row]) -> str:
    """Rows as a table, each with its mark and a link to its live figure."""
    return sortable(table(HEAD, map(_cells, rows)))


def _cells(row: Row):
    entry, factor = ledger[row.statement], row.factor
    return [
        f"{{prf:ref}}`{entry.id}`",
        f"**{row.label}:** {row.asks}",
        row.runs,
        factor if isinstance(factor, str) else power(factor),
        entry.mark,
        to_section(entry.chapter, SECTIONS[entry.chapter]),
    ]


def least_shares() -> dict[str, float]:
    """Theorem → the least unused share of its bound on instances built to meet it, where there are
    any."""
    return {
        entry.id: min((entry.on(make()).slack for make in entry.extremal), key=abs)
        for entry in ledger
        if entry.id.startswith("thm-") and entry.extremal
    }


def attained() -> str:
    """The least shares as a table, and how many are below one percent."""
    least = least_shares()
    reached = sum(abs(slack) < 0.01 for slack in least.values())
    rows = (
        [f"{{prf:ref}}`{id}`", ledger[id].title, "0" if abs(slack) < 1e-9 else power(slack)]
        for id, slack in least.items()
    )
    return (
        f"Of {len(least)} such theorems {reached} leave less than one percent, three of them for "
        f"the reason just "
        "named.\n\n" + sortable(table("| Theorem | Title | Unused share |\n|---|---|--:|", rows))
    )
