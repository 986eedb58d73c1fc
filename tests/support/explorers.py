"""A function that explorers explore, and what one does to them, for the tests of mha.explore."""

import json

import plotly.graph_objects as go

ALT = {"meta": {"alt": "a line & its <end>"}}


class Line:
    """A function of H that counts its calls, and has trouble where it is told to."""

    __name__ = "line"

    def __init__(self, fails_at=None, error=ValueError):
        self.calls, self.fails_at, self.error = [], fails_at, error

    def __call__(self, H=3, slope=2.0):
        self.calls.append(H)
        if self.fails_at == H:
            raise self.error(f"{H} heads are <too many>")
        return go.Figure(go.Scatter(y=[H, slope * H], name=f"{H}"), layout=ALT)


def drawn(explorer):
    """The values that the displayed widget draws."""
    return json.loads(explorer.panel.canvas.figure)["data"][0]["y"]


def slide(H):
    return lambda explorer: setattr(explorer.controls["H"], "value", H)
