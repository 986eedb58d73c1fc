"""What chapter 5 draws from the stored runs: five curves by the number of heads, and planes of two
step sizes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from livegrad.arrays import Array
from mhabook.plots import multiples, plane, slider
from mhabook.tables import Table
from mhalib.plots import ATTENTION, INK, ORDERED, curves

PANELS = {
    "training loss": "loss",
    "test loss": "test_loss",
    "average ‖W‖": "norm_W",
    "average ‖U‖": "norm_U",
    "attention score": "attention_score",
}
"""Panel → stored curve."""
MARKED = np.array([1, 4, 16, 64])
"""The numbers of heads that a path on a plane marks."""
PAIRS = [(ORDERED[k], dash) for k in (0, 3, 5) for dash in ("solid", "dash")]
"""Color and dash of lines that come in pairs: two step sizes of one rule, or its two losses."""
MEASURED_AND_REDUCED = [(ATTENTION, "solid"), (INK, "dot"), (ATTENTION, "dash"), (INK, "dashdot")]
"""Those of two attention scores, each with what a reduced model predicts."""


def five_curves(
    rows: Table, seen: str | None = None, title: str | None = None, guide: bool = True
) -> go.Figure:
    """The stored curves of ``PANELS`` by the number of heads; ``seen`` goes on after the first
    words of the alt text.

    ``guide``: beside both losses a line of slope 1/t.
    """
    steps, heads = rows["steps"][0], np.unique(rows["H"]).tolist()
    alt = (
        seen and f"Five panels over {steps[-1]:,} steps for {heads[0]} to {heads[-1]} heads. {seen}"
    )
    panels = {
        panel: {f"H = {H}": rows.where(H=H)[curve] for H in heads}
        for panel, curve in PANELS.items()
    }
    # 30 · 3e-4 = 2000 · 4.5e-6: both ends of a line of slope −1.
    guides = (
        [(panel, "slope of 1/t", [30, 2000], [3e-4, 4.5e-6]) for panel in list(PANELS)[:2]]
        if guide
        else []
    )
    return multiples(steps, panels, guides, title=title, alt=alt)


def over_heads(
    heads: Sequence[int],
    named: Mapping[str, Any],
    ylabel: str,
    title: str,
    log_y: bool = True,
    looks: Sequence[tuple[str, str]] = PAIRS,
) -> go.Figure:
    """Lines over the number of heads, whose axis is logarithmic and names each of them; ``looks`` are
    their colors and dashes."""
    figure = curves(heads, named, "heads H", ylabel, log_x=True, log_y=log_y, title=title)
    for line, (color, dash) in zip(figure.data, looks, strict=False):
        line.line = {"color": color, "dash": dash}
    return figure.update_xaxes(tickvals=heads)


def descent(lr: float | Array) -> tuple[np.ndarray, np.ndarray]:
    """(η, η/H): the step sizes of Ũ and W that gradient descent with step size η has on each of
    ``MARKED`` heads."""
    return lr * np.ones(len(MARKED)), lr / MARKED


def on_plane(rows: Table, step: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(η_u, η_w, Z): the median over trials of the decimal logarithm of the loss; NaN where there
    is no run."""
    x, y = np.unique(rows["eta_U"]), np.unique(rows["eta_W"])
    at = [[(rows["eta_U"] == u) & (rows["eta_W"] == w) for u in x] for w in y]
    values = np.log10(rows["loss"][:, rows["steps"][0] == step][:, 0])
    return (
        x,
        y,
        np.array(
            [[np.median(values[cell]) if cell.any() else np.nan for cell in row] for row in at]
        ),
    )


def planes(
    rows: Table,
    paths: Mapping[str, tuple[Array, Array]],
    low: float,
    high: float,
    title: str,
    alt: str,
) -> go.Figure:
    """A slider over the steps 50, 500, 2,000; ``low`` is the least η_w drawn, ``high`` the largest
    of both step sizes.

    ``paths`` are {name: (η_u, η_w)}, lines over the plane.
    """
    drawn = {}
    for step in (50, 500, 2000):
        x, y, Z = on_plane(rows, step)
        inside, columns = (y >= low) & (y <= high), x <= high
        words = f"{alt} Median decimal logarithms from {np.nanmin(Z):.1f} to {np.nanmax(Z):.1f}."
        drawn[step] = plane(
            x[columns],
            y[inside],
            Z[np.ix_(inside, columns)],
            paths,
            "step size of Ũ",
            "step size of W",
            "log₁₀ loss",
            zrange=(-6, -0.2),
            alt=words,
        )
    return slider(drawn, "step", start=2000).update_layout(title=title)
