"""The live figures of chapter 11: what samples and steps buy, and where a run ends for want of
either."""

from dataclasses import replace
from functools import cache

import numpy as np

from livegrad.arrays import require_count
from livegrad.live.frames import line, panels
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import run
from mhabook.c10_structure.figure_regression import (
    CONTROLS,
    FIXED,
    NO_RADIUS,
    fitted,
    page_data,
    path_of,
    recipe_of,
    redrawn,
    sample,
    start_on,
    streams,
)
from mhabook.c10_structure.population import PopulationRegression
from mhabook.c11_data_and_compute.statements import floor_constant, spectral_constant
from mhabook.figure_parts import with_value
from mhalib.data.regression import RegressionDataset, linear_regression
from mhalib.models import AttentionRegression
from mhalib.optim import Preconditioned
from mhalib.plots import INK, looks

SMALLEST = 1e-9
"""What a curve of the limit shows of anything smaller, which is rounding in part."""
D = 3
ALT = (
    "Left, the population excess over 30 steps of SA2 from a random initialization, for 40, 80, "
    "160, 320, and infinitely many tokens, dotted, on a logarithmic scale. All curves fall "
    "together at first. With fewer tokens a curve ends higher, and the curve for infinitely many tokens "
    "continues to fall. Right, the final excess against the number of tokens, close to a line "
    "with the slope of 1/n."
)


def bought(
    data: RegressionDataset,
    start: AttentionRegression,
    rule: Preconditioned,
    steps: int = 30,
    draws: int = 6,
) -> LiveFigure:
    """A live figure: the excess over the steps for n, n/2, n/4 and n/8 samples, and where it ends
    over the samples.

    A curve is a mean over some draws of the samples: ``data``, and ``data.fresh(n, seed=k)`` for k
    from 1 on. The smaller samples are the first ones of each. Beside them the same run with
    infinitely many, and on the right φ/n of ``floor_constant`` where it is finite. Sliders are the
    step size, the noise of the targets, and the ratio of their strongest to their weakest
    direction.

    Parameters
    ----------
    data : a ``linear_regression`` of n ≥ 80 samples, as it draws them, with as many targets as
        dimensions, d ≥ 2
    start : an ``AttentionRegression`` for its tokens
    rule : ``Preconditioned`` with a number as its step size, which whitens by the tokens
    steps : how many steps a run has
    draws : how many draws of the samples a mean is over

    Raises TypeError or ValueError if an argument is another, or steps or draws is no whole number
    ≥ 1.

    Source: this book, after Theorem 2 of Goel et al. 2026 [paper].
    """
    require_count(steps=steps, draws=draws)
    recipe, n = recipe_of(data), len(data)
    if n < 80:
        raise ValueError(
            f"data: expected 80 samples or more, of which an eighth is trained on too, got {n}"
        )
    _require_start(start, recipe["d"])
    _require_rule(rule)
    runs = _Bought(n, steps, draws, recipe, start, rule)
    own = {"lr": float(rule.lr)} | {name: recipe[name] for name in ("sigma", "kappa_M")}
    return LiveFigure(
        FigureSpec(
            title="What do steps buy, and what do samples buy?",
            alt=_alt(runs.sizes, steps),
            model="bought",
            data=redrawn(n, recipe["d"], recipe["seed"], draws),
            start={
                "kind": "given",
                "theta": np.concatenate([start.A.ravel(), start.B.ravel()]).tolist(),
            },
            record=tuple(range(steps + 1)),
            curves=("loss", *runs.curves),
            final=tuple(runs.measures),
            fixed={name: recipe[name] for name in ("kappa", "s_max", "d")}
            | {
                "sizes": runs.sizes,
                "n": n,
                "optimizer": "preconditioned",
                "balance": float(rule.balance),
            },
            controls=(
                Control(
                    "lr", "step size", with_value((0.1, 0.2, 0.3, 0.5, 0.7), own["lr"]), own["lr"]
                ),
                Control(
                    "sigma",
                    "noise of the targets, σ",
                    with_value((0.0, 0.1, 0.2, 0.3), own["sigma"]),
                    own["sigma"],
                ),
                Control(
                    "kappa_M",
                    "sₘₐₓ/sₘᵢₙ of the target",
                    with_value((1, 2, 4, 8), own["kappa_M"]),
                    own["kappa_M"],
                ),
            ),
            tries={
                "Initial settings": {},
                "Smaller steps": {"lr": 0.2},
                "Targets without noise": {"sigma": 0.0},
                "Equal singular values": {"kappa_M": 1.0},
            },
            frame=_bought_frame(runs.sizes, steps),
            train=runs.path,
            measure=runs.measures,
            summary=f"After {{steps}} steps of size {{lr}}, with noise {{sigma}} and sₘₐₓ/sₘᵢₙ "
            f"= {{kappa_M}}: mean excess {{{runs.curves[3]}}} with {runs.sizes[3]} samples, "
            f"{{{runs.curves[0]}}} with {n}, "
            "{excess_limit} with infinitely many.",
        ),
        __file__,
    )


def _alt(sizes, steps):
    few = ", ".join(str(n) for n in sizes[::-1])
    return (
        f"Left, the mean population excess over {steps} steps from one initialization, for {few} "
        "and infinitely many samples, dotted, on a logarithmic scale. All curves fall together at first. "
        "Then the curves for few samples level off, one below the other, and the curve for "
        "infinitely many samples falls along a line. Right, the final excess against the number "
        "of samples, close to a line with the slope of 1/n."
    )


def _require_start(start, d):
    if type(start) is not AttentionRegression or start.sizes != (d, d):
        raise TypeError(
            f"start: expected an AttentionRegression with p = d = {d}, as the data has, got "
            f"{start!r}; mha.live.figure takes any model"
        )


def _require_rule(rule):
    if type(rule) is not Preconditioned or callable(rule.lr) or rule.whitening is not None:
        raise TypeError(
            "rule: expected Preconditioned with a number as its step size, which whitens by the "
            f"tokens, got {rule!r}; mha.live.figure takes other rules"
        )


class _Bought:
    """The runs of ``bought`` by mhalib, for every n and draw of the samples."""

    def __init__(self, n, steps, draws, recipe, start, rule):
        self.sizes, self.steps, self.draws = [n // k for k in (1, 2, 4, 8)], steps, draws
        self.recipe, self.start, self.rule = recipe, start, rule
        self.curves = [*(f"excess_{n}" for n in self.sizes), "excess_limit"]
        self.paths = cache(lambda items: self.means(dict(items)))
        self.measures = {
            "sizes": lambda path, values: self.sizes,
            "finals": lambda path, values: [
                float(path.curves[name][-1]) for name in self.curves[:-1]
            ],
            "predicted": self.predicted,
        }

    def path(self, values):
        return self.paths(tuple(values.items()))

    def sample(self, values):
        recipe = self.recipe | {name: values[name] for name in ("sigma", "kappa_M")}
        d, seed = recipe.pop("d"), recipe.pop("seed")
        return linear_regression(self.sizes[0], d, d, **recipe, seed=seed)

    def means(self, values):
        data, rule = self.sample(values), replace(self.rule, lr=values["lr"])
        draws = [data, *(data.fresh(len(data), seed=k) for k in range(1, self.draws))]
        runs = [
            [
                self.run(self.start, replace(drawn, x=drawn.x[:n], y=drawn.y[:n]), rule)
                for drawn in draws
            ]
            for n in self.sizes
        ]
        limit = self.run(PopulationRegression.of(self.start), data.population(), rule)
        return _mean_path(self.curves, runs, [limit])

    def run(self, start, data, rule):
        return run(start, data, rule, self.steps, None, range(self.steps + 1))

    def predicted(self, path, values):
        """φ/n for every n, or nothing where there is no such number."""
        truth = self.sample(values).truth
        floor = floor_constant(truth.singular_values, len(truth.Sigma), len(truth.M), truth.sigma)
        return [floor / n for n in self.sizes] if np.isfinite(floor) else []


def _mean_path(names, runs, limits):
    """The shortest of the ``runs`` (a row for every n), with the mean loss of all, and the mean
    excess of each row.

    The first to stop ends them all.
    """
    every = [path for row in runs for path in row]
    first = min(every, key=len)
    k = len(first)
    curves = [np.mean([path.excess[:k] for path in row], axis=0) for row in runs]
    # With infinitely many samples the loss is the excess itself.
    curves.append(np.mean([np.maximum(fitted(path.loss, k), SMALLEST) for path in limits], axis=0))
    loss = np.mean([path.loss[:k] for path in every], axis=0)
    return replace(first, curves={"loss": loss} | dict(zip(names, curves, strict=True)))


def _bought_frame(sizes, steps):
    frame = panels("mean excess, step by step", f"mean excess after {steps} steps")
    names = [f"{n} samples" for n in sizes[::-1]]
    for name, n, look in zip(names, sizes[::-1], looks(names), strict=True):
        line(frame, name, 1, shows=f"excess_{n}", color=look["color"])
    line(frame, "infinitely many", 1, shows="excess_limit", dash="dot")
    frame.add_scatter(
        name="derived, φ/n",
        mode="lines",
        line={"color": INK, "dash": "dot"},
        row=1,
        col=2,
        meta={"x": "sizes", "y": "predicted"},
    )
    frame.add_scatter(
        name="at the end",
        mode="markers",
        marker={"color": INK, "size": 9},
        row=1,
        col=2,
        showlegend=False,
        meta={"x": "sizes", "y": "finals"},
    )
    frame.update_xaxes(range=[0, steps], title="step", col=1)
    frame.update_xaxes(
        type="log",
        range=np.log10([sizes[-1] / 1.2, sizes[0] * 1.2]).tolist(),
        tickvals=sizes[::-1],
        title="samples n",
        col=2,
    )
    frame.update_yaxes(type="log", dtick=1, exponentformat="power", range=[-5.2, 0.3], col=1)
    return frame.update_yaxes(
        type="log", dtick=1, exponentformat="power", range=[-3.5, -0.7], col=2
    )


def data_and_compute(n: int = 320, steps: int = 30, instances: int = 2) -> LiveFigure:
    """A live figure: the excess over the steps for n, n/2, n/4 and n/8 tokens, and where it ends
    over the tokens.

    Means over some instances, each with its own Σ, M, tokens and start; the smaller samples are the
    first tokens of the largest. Beside them the same runs in the limit of infinitely many tokens,
    from the start of the largest n. As many targets as dimensions, d = 3, κ(Σ) = 16, σ = 0.1.

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
        raise ValueError(
            f"n: expected 80 tokens or more, of which an eighth is trained on too, got {n}"
        )
    runs = _Runs(n, steps, range(instances))
    return LiveFigure(
        FigureSpec(
            title="What tokens and steps buy",
            alt=ALT,
            model="data_and_compute",
            data=page_data(n, (D,), runs.seeds),
            start=streams(D, runs.seeds),
            record=tuple(range(steps + 1)),
            fixed=FIXED | {"sizes": runs.sizes, "n": n, "d": D},
            curves=("loss", *runs.curves),
            final=tuple(runs.measures),
            controls=(
                *CONTROLS,
                Control("kappa_M", "sₘₐₓ/sₘᵢₙ", (1.0, 2.0, 4.0, 8.0, 16.0), 4.0),
                Control(
                    "radius",
                    "radius r of SA2",
                    (0.25, 0.35, 0.5, 0.7, 1.0, NO_RADIUS),
                    0.5,
                    ("0.25", "0.35", "0.5", "0.7", "1", "∞"),
                ),
            ),
            frame=_frame(runs.sizes, steps),
            summary=f"After {{steps}} steps of {{optimizer}}, with η = {{lr}}, start {{start}}, "
            f"sₘₐₓ = {{s_max}}, κ = {{kappa_M}}, r = {{radius}}: mean population excess "
            f"{{{runs.curves[3]}}} with {runs.sizes[3]} tokens, {{{runs.curves[0]}}} with {n}, "
            f"{{excess_limit}} in the limit.",
            train=runs.path,
            measure=runs.measures,
        ),
        __file__,
    )


class _Runs:
    """The runs of the figure by mhalib, for every n and instance: the first to stop ends them
    all."""

    def __init__(self, n, steps, seeds):
        self.sizes, self.steps, self.seeds = [n // k for k in (1, 2, 4, 8)], steps, seeds
        self.curves = [*(f"excess_{n}" for n in self.sizes), "excess_limit"]
        # asked for by the curves and by their ends
        self.paths = cache(lambda items: self.means(dict(items)))
        self.measures = {
            "sizes": lambda path, values: self.sizes,
            "finals": lambda path, values: [
                float(path.curves[name][-1]) for name in self.curves[:-1]
            ],
            "predicted": lambda path, values: [_spectral(values) / n for n in self.sizes],
        }

    def path(self, values):
        return self.paths(tuple(values.items()))

    def means(self, values):
        runs = [[self.run(values, n, seed) for seed in self.seeds] for n in self.sizes]
        limits = [self.run(values, self.sizes[0], seed, limit=True) for seed in self.seeds]
        return _mean_path(self.curves, runs, limits)

    def run(self, values, n, seed, limit=False):
        data = sample(values, n, D, seed)
        start = start_on(data, values, seed)
        if limit:
            data, start = data.population(), PopulationRegression.of(start)
        return path_of(start, data, values, self.steps)


def _spectral(values):
    """What n times the excess of the spectral start tends to."""
    # The singular values depend neither on n nor on the seed.
    return spectral_constant(sample(values, 1, D, 0).truth.singular_values, D, D, FIXED["sigma"])


def _frame(sizes, steps):
    frame = panels("population excess", f"population excess after {steps} steps")
    names = [f"n = {n}" for n in sizes[::-1]]
    for name, n, look in zip(names, sizes[::-1], looks(names), strict=True):
        line(frame, name, 1, shows=f"excess_{n}", color=look["color"])
    line(frame, "n = ∞", 1, shows="excess_limit", dash="dot")
    frame.add_scatter(
        name="at the end",
        mode="lines+markers",
        marker={"color": INK, "size": 8},
        line={"color": INK},
        row=1,
        col=2,
        showlegend=False,
        meta={"x": "sizes", "y": "finals"},
    )
    frame.add_scatter(
        name="spectral start, for large n",
        mode="lines",
        line={"color": INK, "dash": "dot"},
        row=1,
        col=2,
        meta={"x": "sizes", "y": "predicted"},
    )
    frame.update_xaxes(range=[0, steps], title="step", col=1)
    frame.update_xaxes(
        type="log",
        range=np.log10([sizes[-1] / 1.2, sizes[0] * 1.2]).tolist(),
        tickvals=sizes[::-1],
        title="tokens n",
        col=2,
    )
    frame.update_yaxes(type="log", dtick=2, exponentformat="power", range=[-5, 2], col=1)
    return frame.update_yaxes(type="log", dtick=1, exponentformat="power", range=[-4, 1], col=2)
