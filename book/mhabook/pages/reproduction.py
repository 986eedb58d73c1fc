"""The page *Reproduction*: the papers' figures, made from the register ``mhabook.reproduction``."""

from collections.abc import Mapping
from typing import Any

from mhabook.pages.text import sortable, table, to_section
from mhabook.reproduction import FIGURES, STATUSES, Figure, Outcome


def statuses() -> str:
    """The table of what a status means, and how many figures have it."""
    counts = {status: sum(figure.status == status for figure in FIGURES) for status in STATUSES}
    return table(
        "| Status | Figures | Meaning |\n|---|--:|---|",
        ([status, str(counts[status]), meaning] for status, meaning in STATUSES.items()),
    )


def overview() -> str:
    """The table of all figures: status, chapter and command."""
    head = (
        "| <span data-filter>Paper</span> | Figure | <span data-filter>Status</span> | Where | "
        "Command |\n|---|---|---|---|---|"
    )
    return sortable(
        table(
            head,
            (
                [
                    figure.paper,
                    _to(figure),
                    figure.status,
                    to_section(figure.chapter, figure.section),
                    f"`{figure.command or figure.full}`" if figure.table else "–",
                ]
                for figure in FIGURES
            ),
        )
    )


def settings() -> str:
    """The table of the papers' settings beside ours."""
    return table(
        "| Paper | Figure | The paper's | Ours | Status |\n|---|---|---|---|---|",
        (
            [figure.paper, _to(figure), figure.setting, _ours(figure), figure.status]
            for figure in FIGURES
        ),
    )


def details(outcomes: Mapping[str, Outcome]) -> str:
    """A box for each figure, with its outcome."""
    return "\n\n".join(_box(figure, outcomes[figure.id]) for figure in FIGURES)


def _to(figure: Figure):
    return f"[{figure.name}](#{figure.id})"


def _ours(figure: Figure):
    script = "; ".join(f"`{parameter}`" for parameter in figure.fixed)
    return ", ".join(f"`{model}`" for model in figure.models) + (f": {script}" if script else "")


def _box(figure: Figure, outcome: Outcome):
    lines = [
        f"**Shows** [{figure.mark}]. {figure.shows}",
        f"**Setting.** {figure.setting}.",
        f"**Came out here.** {outcome.words}",
        f"**Not known to us.** {figure.unknown[0].upper()}{figure.unknown[1:]}.",
    ]
    if figure.table:
        ours = "; ".join(_values(name, found) for name, found in figure.parameters().items())
        fixed = ", ".join(f"`{parameter}`" for parameter in figure.fixed)
        lines += [
            f"**Our parameters.** {ours}. In the script: {fixed}.",
            f"**Command.** `{figure.command}`, stored in `book/results/{figure.table}`; "
            f"made with {' and '.join(figure.versions)}.",
        ]
    if figure.full:
        lines += [f"**At full size**, not run: `{figure.full}`"]
    tests = ", ".join(f"`{test}`" for test in figure.tests)
    lines += [
        f"**Where.** {to_section(figure.chapter, figure.section)}. **Tests.** "
        f"<small>{tests}</small>"
    ]
    title = f"{figure.paper}, {figure.name}: {figure.status}"
    return (
        f"````{{admonition}} {title}\n:class: figure-entry\n:name: {figure.id}\n\n"
        + "\n\n".join(lines)
        + "\n````"
    )


def _values(name: str, found: list[Any]):
    if name == "seed":
        return f"{len(found)} seeds"
    words = [f"{value:g}" if isinstance(value, float) else f"{value}" for value in found]
    return f"{name} {', '.join(words)}"
