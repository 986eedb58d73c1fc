"""The live figure at the top of chapter 3: what the gradients of a head can tell apart, before and
after one step."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from livegrad.live.frames import dot, line, panels
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import Path, train
from mhabook.c03_first_step.max_margin import ntk_features, ntk_margin
from mhabook.c03_first_step.ntk import gaussian_of_equal_norm
from mhabook.figure_parts import (
    Measures,
    mixture_draws,
    mixture_of,
    plain_step,
    with_value,
    zero_heads,
)
from mhalib.data import Dataset
from mhalib.data.mixture import tokenized_mixture
from mhalib.models import MultiHeadAttention
from mhalib.models.multihead import normals
from mhalib.optim import GradientDescent
from mhalib.plots import ATTENTION, DECODER, GRAY, INK

STARTS = {"zero": "before the step", "gaussian": "random decoder", "first": "after the step"}
LABELS = ("true", "shuffled")
NOISES = (0.0, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
NORMS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
LINES = ("below", "border", "above")
LEAST = 1e-6
"""A margin below is none."""
ROOM = 1.2
"""The drawn circle over the farthest sample."""


def one_step(data: Dataset, start: MultiHeadAttention, rule: GradientDescent) -> LiveFigure:
    """A live figure of one step of ``rule`` from ``start``: what can the gradients tell apart,
    before and after it?

    Every sample is a point: its derivatives along the parts of the best direction in U and in W,
    each scaled to norm 1. Controls choose the model before the step, after it, or with a random
    decoder as long as that of the step, shuffle the labels after the step, and change the noise,
    the norm of the patterns, and how many tokens carry the label. The browser draws the data anew for each of them.

    Parameters
    ----------
    data : the samples of a ``tokenized_mixture``, as it draws them
    start : one head that is zero, ``MultiHeadAttention.zeros(1, T, d)``
    rule : ``GradientDescent`` with a number as its step size

    Raises TypeError or ValueError if data, start or rule are others.

    Source: Propositions "The largest margin at zero initialization" and "Margins after the first
    phase" (this book).
    """
    mixture, n, (H, T, d) = mixture_of(data), len(data), zero_heads(start).sizes
    if H != 1:
        raise ValueError(
            f"start: expected one head, got {H}; the margin after a first phase does not depend "
            f"on them"
        )
    if (T, d) != data.X.shape[1:]:
        raise ValueError(
            f"start: expected a head for the data's T, d = {data.X.shape[1:]}, got {(T, d)}"
        )
    size = plain_step(rule) / 2  # with a step size of 2 a step from zero is the first phase
    # Patterns are S times columns of a QR factor: rounding gives back the S of the slider.
    M, S, seed = len(mixture.nu), float(round(np.linalg.norm(mixture.nu[0]), 12)), mixture.seed
    steps = _Steps(n, T, d, M, seed, start, rule)
    unit = mixture_draws(mixture, n, (seed, 1)) | {
        "kind": "step",
        "mu": (mixture.mu / S).ravel().tolist(),
        "nu": (mixture.nu / S).ravel().tolist(),
        "order": _shuffled(n, mixture.seed).tolist(),
    }
    shares, own = [k / T for k in range(1, T)], mixture.n_relevant / T
    return LiveFigure(
        FigureSpec(
            title="What can the gradients tell apart?",
            alt="Left, a disc for each sample of label +1 and a ring for each of label −1: the rate "
            "of change of the logit, horizontally if "
            "only the decoder moves at unit speed along its part of the best direction, and "
            "vertically if only attention does. After the step positive samples are at the upper "
            "right and negative samples at the lower left, with a wide empty band between. Right, "
            "the margin, half the width of the band, against the noise: it is largest after the "
            "step and smallest before the step. With labels shuffled after the step it is zero "
            "without noise, and grows with the noise for two of the three models.",
            model="step",
            data=unit,
            record=(0,),
            fixed={"optimizer": "gd", "grid": with_value(NOISES, mixture.sigma)},
            start={
                "kind": "decoder",
                "stream": normals(T * d, seed).tolist(),
                "sign": 1,
                "size": size,
            },
            curves=("loss", "margin_U", "margin_W", "margin"),
            final=tuple(steps.measures(with_value(NOISES, mixture.sigma))),
            controls=(
                Control(
                    "initialization",
                    "model",
                    tuple(STARTS),
                    "first",
                    tuple(STARTS.values()),
                    "choice",
                ),
                Control(
                    "labels",
                    "labels",
                    LABELS,
                    LABELS[0],
                    ("true", "shuffled after the step"),
                    "choice",
                ),
                Control("sigma", "noise σ", with_value(NOISES, mixture.sigma), mixture.sigma),
                Control("S", "norm S of the patterns", with_value(NORMS, S), S),
                Control("zeta", "fraction ζ of relevant tokens", tuple(shares), own),
            ),
            tries={
                "After the step": {},
                "Before the step": {"initialization": "zero"},
                "A random decoder": {"initialization": "gaussian"},
                "Noise": {"sigma": 0.5},
                "Shuffled labels": {"sigma": 1.0, "labels": "shuffled"},
            },
            frame=_frame(with_value(NOISES, mixture.sigma)),
            summary="Model: {initialization}. Labels: {labels}. With noise {sigma}, patterns of norm "
            "{S}, and a fraction {zeta} of relevant tokens, the margin is {margin}. It is {margin_U} if only "
            "the decoder moves, and {margin_W} if only attention moves.",
            train=steps.path,
            measure=steps.measures(with_value(NOISES, mixture.sigma)),
        ),
        __file__,
    )


class _Steps:
    """What the figure shows, by mhalib."""

    def __init__(self, n, T, d, M, seed, start, rule):
        self.sizes, self.seed, self.start, self.rule = (n, T, d, M), seed, start, rule
        # each is asked for by a curve over the noise, and by the sentence
        self.margin = cache(self._margin)
        self.points = cache(self._points)  # by every model, for the scale of all
        self.shown = cache(self._shown)

    def data(self, zeta, S, sigma):
        return tokenized_mixture(*self.sizes, zeta, S, sigma, self.seed)

    def model(self, kind, data):
        if kind == "zero":
            return self.start
        if kind == "first":
            return train(self.start, data, self.rule, 1)[-1]
        return MultiHeadAttention(
            self.start.W, self.rule.lr / 2 * gaussian_of_equal_norm(data, 1, self.seed).U
        )

    def labelled(self, data, labels):
        """The samples that a move is to separate: the step was taken with the labels of the data."""
        if labels == "true":
            return data
        return replace(data, y=data.y[_shuffled(len(data), self.seed)])

    def _margin(self, kind, labels, only=None, **values):
        data = self.data(**values)
        return float(ntk_margin(self.model(kind, data), self.labelled(data, labels), only).margin)

    def _points(self, kind, labels, **values):
        data = self.data(**values)
        return _points(self.model(kind, data), self.labelled(data, labels))

    def _shown(self, initialization, labels, **values):
        # The three models are drawn at one scale, so that their bands can be compared.
        points = {kind: self.points(kind, labels, **values) for kind in STARTS}
        reach = ROOM * max(float(np.hypot(of.U, of.W).max()) for of in points.values())
        y = self.labelled(self.data(**values), labels).y
        return _plane(points[initialization], y, reach)

    def path(self, values):
        kind, labels, rest = values["initialization"], values["labels"], _of_data(values)
        data = self.data(**rest)
        model, own = self.model(kind, data), self.labelled(data, labels)
        curves = {
            "loss": model.loss(own.X, own.y),
            "margin_U": self.margin(kind, labels, "U", **rest),
            "margin_W": self.margin(kind, labels, "W", **rest),
            "margin": self.shown(**values)["margin"],
        }
        return Path(
            np.array([0]),
            (model,),
            {name: np.array([float(value)]) for name, value in curves.items()},
        )

    def measures(self, noises) -> Measures:
        names = [f"{name}_{part}" for name in ("plus", "minus", *LINES) for part in "UW"]
        names.append("reach")
        found: Measures = {
            name: lambda path, values, name=name: self.shown(**values)[name] for name in names
        }
        for kind in STARTS:
            found[f"over_{kind}"] = lambda path, values, kind=kind: [
                self.margin(kind, values["labels"], **_of_data(values) | {"sigma": sigma})
                for sigma in noises
            ]
        return found | {
            "here": lambda path, values: [values["sigma"]],
            "here_margin": lambda path, values: [self.shown(**values)["margin"]],
        }


def _shuffled(n, seed):
    """The order in which labels say nothing about the tokens."""
    return np.random.default_rng(seed).permutation(n)


def _of_data(values):
    return {name: values[name] for name in ("zeta", "S", "sigma")}


@dataclass(frozen=True)
class _Points:
    """The samples (U, W): derivatives along the two parts of the best direction, each scaled to
    norm 1; the lengths of the parts; and the margin."""

    U: np.ndarray
    W: np.ndarray
    lengths: dict[str, float]
    margin: float


def _points(model, data):
    """Where nothing separates, the direction is that of the mean signed features."""
    margin, direction, _ = ntk_margin(model, data)
    if margin < LEAST:
        margin, direction = 0.0, data.y @ model.features(data.X)
        direction = direction / np.linalg.norm(direction)
    d = data.X.shape[2]
    parts = {"U": direction[d * d :], "W": direction[: d * d]}
    lengths = {name: float(np.linalg.norm(part)) for name, part in parts.items()}
    # At zero parameters the features in W vanish, and with them that part of the direction: then
    # the length is 0, and 1 stands in its place.
    rates = {
        name: ntk_features(model, data.X, name) @ part / (lengths[name] or 1)
        for name, part in parts.items()
    }
    return _Points(**rates, lengths=lengths, margin=margin)


def _plane(points, y, reach):
    """The samples of each label, and the lines where the logit changes by −γ, 0 and γ along the
    best direction, to the circle of radius ``reach``."""
    margin, lengths = points.margin, points.lengths
    found = {"margin": margin, "reach": [-reach, reach]}
    for name, label in (("plus", 1), ("minus", -1)):
        found |= {f"{name}_{part}": getattr(points, part)[y == label].tolist() for part in "UW"}
    # The lengths have norm 1, so the line ⟨lengths, (U, W)⟩ = level has its foot at level · lengths
    # and runs along their quarter turn.
    for name, level in zip(LINES, (-margin, 0.0, margin), strict=True):
        half = np.sqrt(max(reach**2 - level**2, 0.0))
        for part, turn in (("U", -lengths["W"]), ("W", lengths["U"])):
            found[f"{name}_{part}"] = [level * lengths[part] + end * turn for end in (-half, half)]
    return found


def _titled(text, color):
    return {"text": text, "font": {"color": color}}


def _frame(noises):
    frame = panels("rate of change of each logit", "margin against the noise")
    for name, symbol in (("plus", "circle"), ("minus", "circle-open")):
        frame.add_scatter(
            name="label +1" if name == "plus" else "label −1",
            mode="markers",
            row=1,
            col=1,
            marker={"color": INK, "symbol": symbol, "size": 7},
            meta={"x": f"{name}_U", "y": f"{name}_W"},
        )
    for name in LINES:
        is_border = name == "border"
        line(
            frame,
            "border" if is_border else "margin",
            1,
            shows=f"{name}_W",
            over=f"{name}_U",
            dash="solid" if is_border else "dot",
            legend=name != "below",
        )
        frame.data[-1].line.width = 1.5
    # not seen: it keeps one scale for the three models
    frame.add_scatter(
        name="reach",
        mode="markers",
        marker={"color": INK, "opacity": 0},
        hoverinfo="skip",
        showlegend=False,
        row=1,
        col=1,
        meta={"x": "reach", "y": "reach"},
    )
    # What was before the step is gray, and a decoder has its color.
    for kind, color in (("zero", GRAY), ("gaussian", DECODER), ("first", INK)):
        line(frame, STARTS[kind], 2, shows=f"over_{kind}", over=noises, color=color)
    dot(frame, "here", 2, shows="here_margin", over="here")
    frame.update_xaxes(title=_titled("through the decoder U", DECODER), col=1)
    frame.update_yaxes(title=_titled("through attention W", ATTENTION), scaleanchor="x", col=1)
    frame.update_xaxes(range=[-0.04, 1.04], title="noise σ", col=2)
    return frame.update_yaxes(rangemode="tozero", col=2)
