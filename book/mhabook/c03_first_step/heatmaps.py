"""Heatmaps of chapter 3: decoders and gradients in the patterns of the mixture."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from livegrad.arrays import Array
from mhalib.models import MultiHeadAttention
from mhalib.plots import matrix

NAMES = ("μ₋", "μ₊", *(f"ν{j}" for j in "₁₂₃₄₅"))
"""Of the seven patterns, in the order of their rows."""


def decoders(
    models: Mapping[str, MultiHeadAttention], patterns: Array, title: str, alt: str
) -> go.Figure:
    """The first row of every decoder of some models, in the unit patterns (7, d)."""
    rows = [f"{name} {h}" for name, model in models.items() for h in range(len(model.U))]
    entries = np.concatenate([model.U[:, 0] @ patterns.T for model in models.values()])
    return _named(entries, rows, "pattern", "decoder", title, alt)


def in_patterns(W: Array, patterns: Array, title: str, alt: str) -> go.Figure:
    """A key–query matrix (d, d) in the unit patterns (7, d)."""
    return _named(
        patterns @ W @ patterns.T, NAMES, "what a key shows", "what a query shows", title, alt
    )


def _named(
    entries: np.ndarray, rows: Sequence[str], xlabel: str, ylabel: str, title: str, alt: str
) -> go.Figure:
    heatmap = matrix(entries, xlabel, ylabel, title, diverging=True, colorbar="entry", alt=alt)
    heatmap.update_xaxes(tickvals=list(range(len(NAMES))), ticktext=list(NAMES))
    return heatmap.update_yaxes(tickvals=list(range(len(rows))), ticktext=list(rows))
