"""A plotly figure as a still: a small SVG that shows its start where no script runs."""

from mhalib._still.page import svg

__all__ = ["svg"]
