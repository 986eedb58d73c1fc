"""The live figure of chapter 11: what tokens and steps buy, and where a run ends for want of either."""

from dataclasses import replace
from functools import cache

import numpy as np

from mhabook.c10_structure.figure_regression import (
    CONTROLS,
    FIXED,
    NO_RADIUS,
    carried,
    fitted,
    path_of,
    sample,
    start_on,
    streams,
)
from mhabook.c10_structure.population import PopulationRegression
from mhabook.c11_data_and_compute.statements import spectral_constant
from mhalib._array import require_count
from mhalib.live.frames import line, panels
from mhalib.live.spec import Control, FigureSpec
from mhalib.live.widget import LiveFigure
from mhalib.plots import COLORS, GRAY

SMALLEST = 1e-9
"""What a curve of the limit shows of anything smaller, which is rounding in part."""
D = 3
ALT = ("Left, the population excess over 30 steps of SA2 from a random start, for 40, 80, 160, 320 and infinitely many "
       "tokens, on a logarithmic scale. All fall together at first; the fewer the tokens, the higher a curve ends, "
       "and that of infinitely many tokens goes on falling. Right, the excess at the end over the number of tokens, "
       "close to a line with the slope of 1/n.")


def data_and_compute(n: int = 320, steps: int = 30, instances: int = 2) -> LiveFigure:
    """A live figure: the excess over the steps for n, n/2, n/4 and n/8 tokens, and where it ends over the tokens.

    Means over some instances, each with its own Σ, M, tokens and start; the smaller samples are the first tokens of the
    largest. Beside them the same runs in the limit of infinitely many tokens, from the start of the largest n. As many
    targets as dimensions, d = 3, κ(Σ) = 16, σ = 0.1.

    Parameters
    ----------
    n : how many tokens there are at most, 80 or more
    steps : how many steps a run has
    instances : how many draws a mean is of

    Raises ValueError if n < 80, or if steps or instances is no whole number ≥ 1.

    Source: this book, after Theorem 2 of Goel et al. 2026 [paper].
    """
    require_count(n=n, steps=steps, instances=instances)
    if n < 80:
        raise ValueError(f"n: expected 80 tokens or more, of which an eighth is trained on too, got {n}")
    runs = _Runs(n, steps, range(instances))
    return LiveFigure(FigureSpec(
        title="What tokens and steps buy", alt=ALT,
        model="data_and_compute", data=carried(n, (D,), runs.seeds), start=streams(D, runs.seeds),
        record=tuple(range(steps + 1)), fixed=FIXED | {"sizes": runs.sizes, "n": n, "d": D},
        curves=("loss", *runs.curves), final=tuple(runs.measures),
        controls=(*CONTROLS,
                  Control("kappa_M", "s_max/s_min", (1.0, 2.0, 4.0, 8.0, 16.0), 4.0),
                  Control("radius", "radius r of SA2", (0.25, 0.35, 0.5, 0.7, 1.0, NO_RADIUS), 0.5,
                          ("0.25", "0.35", "0.5", "0.7", "1", "∞"))),
        frame=_frame(runs.sizes, steps),
        summary=f"After {{steps}} steps of {{optimizer}}, with η = {{lr}}, start {{start}}, s_max = {{s_max}}, "
                f"κ = {{kappa_M}}, r = {{radius}}: mean population excess {{{runs.curves[3]}}} with "
                f"{runs.sizes[3]} tokens, {{{runs.curves[0]}}} with {n}, {{excess_limit}} in the limit.",
        train=runs.path, measure=runs.measures), __file__)


class _Runs:
    """The runs of the figure by mhalib, for every n and instance: the first to stop ends them all."""

    def __init__(self, n, steps, seeds):
        self.sizes, self.steps, self.seeds = [n // k for k in (1, 2, 4, 8)], steps, seeds
        self.curves = [*(f"excess_{n}" for n in self.sizes), "excess_limit"]
        self.paths = cache(lambda items: self.means(dict(items)))  # asked for by the curves and by their ends
        self.measures = {"sizes": lambda path, values: self.sizes,
                         "finals": lambda path, values: [float(path.curves[name][-1]) for name in self.curves[:-1]],
                         "predicted": lambda path, values: [_spectral(values) / n for n in self.sizes]}

    def path(self, values):
        return self.paths(tuple(values.items()))

    def means(self, values):
        """The shortest of the paths, with the mean loss of all and the mean excess for every n."""
        runs = [[self.run(values, n, seed) for seed in self.seeds] for n in self.sizes]
        limits = [self.run(values, self.sizes[0], seed, limit=True) for seed in self.seeds]
        every = [path for row in runs for path in row]
        first = min(every, key=len)
        k = len(first)
        curves = [np.mean([path.excess[:k] for path in row], axis=0) for row in runs]
        curves.append(np.mean([np.maximum(fitted(path.loss, k), SMALLEST) for path in limits], axis=0))
        loss = np.mean([path.loss[:k] for path in every], axis=0)
        return replace(first, curves={"loss": loss} | dict(zip(self.curves, curves, strict=True)))

    def run(self, values, n, seed, limit=False):
        data = sample(values, n, D, seed)
        start = start_on(data, values, seed)
        if limit:
            data, start = data.population(), PopulationRegression.of(start)
        return path_of(start, data, values, self.steps)


def _spectral(values):
    """What n times the excess of the spectral start tends to."""
    return spectral_constant(sample(values, 1, D, 0).truth.singular_values, D, D, FIXED["sigma"])


def _frame(sizes, steps):
    frame = panels("population excess", f"population excess after {steps} steps")
    for color, n in enumerate(sizes):
        line(frame, f"n = {n}", 1, shows=f"excess_{n}", color=color)
    line(frame, "n = ∞", 1, shows="excess_limit", faint=True)
    frame.add_scatter(name="at the end", mode="lines+markers", marker={"color": COLORS[0], "size": 8},
                      line={"color": COLORS[0]}, row=1, col=2, showlegend=False, meta={"x": "sizes", "y": "finals"})
    frame.add_scatter(name="spectral start, for large n", mode="lines", line={"color": GRAY, "dash": "dot"},
                      row=1, col=2, meta={"x": "sizes", "y": "predicted"})
    frame.update_xaxes(range=[0, steps], title="step", col=1)
    frame.update_xaxes(type="log", range=np.log10([sizes[-1] / 1.2, sizes[0] * 1.2]).tolist(), tickvals=sizes[::-1],
                       title="tokens n", col=2)
    frame.update_yaxes(type="log", dtick=2, exponentformat="power", range=[-5, 2], col=1)
    return frame.update_yaxes(type="log", dtick=1, exponentformat="power", range=[-4, 1], col=2)
