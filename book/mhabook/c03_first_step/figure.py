"""The live figure of chapter 3: the maximum margin of a start's features, its parts, and the closed
forms."""

from collections.abc import Callable
from functools import cache

import numpy as np

from livegrad.arrays import require_count
from livegrad.live.frames import dot, line, panels
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import Path
from mhabook.c03_first_step.max_margin import ntk_margin
from mhabook.c03_first_step.ntk import (
    even_square,
    exact_margins,
    first_phase,
    gaussian_of_equal_norm,
    mirrored,
    mixture_margins,
    signs,
)
from mhalib.data.mixture import draw, patterns, tokenized_mixture
from mhalib.models import MultiHeadAttention
from mhalib.models.multihead import normals
from mhalib.plots import ATTENTION, DECODER, INK

STARTS: dict[str, Callable[..., MultiHeadAttention]] = {
    "zero": lambda data, seed: MultiHeadAttention.zeros(1, *data.X.shape[1:]),
    "gaussian": lambda data, seed: gaussian_of_equal_norm(data, 1, seed),
    "first": lambda data, seed: first_phase(data, 1, seed),
}
START_NAMES = {"zero": "zero", "gaussian": "Gaussian of equal norm", "first": "first phase"}
NOISES = (0.0, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
PATTERNS = (1, 2, 3, 5, 8)


def realizability(n: int = 40, T: int = 10, d: int = 10, seed: int = 0) -> LiveFigure:
    """A live figure: the maximum NTK margin of one head at a start, from U, from W and from both,
    on a mixture.

    It is a computation and no training: assembly of the data, start, features, and the hard margin
    by active sets, in the browser as in Python.

    Parameters
    ----------
    n, T, d, seed : as in ``tokenized_mixture``; n is even, T is 10 or a multiple of it, and d at
        least 10

    Raises ValueError for what ``tokenized_mixture`` refuses, or if n is odd.

    Source: Propositions "Margins after the first phase" and "The largest margin at zero
    initialization", Theorem "The exact margin" (this book).
    """
    require_count(n=n)
    if n % 2:
        raise ValueError(
            f"n: expected an even number, half of the samples and half mirrors, got {n}"
        )
    margins = _Margins(n, T, d, seed)
    return LiveFigure(
        FigureSpec(
            title="What an initialization can already separate",
            alt="Left, after the first phase, bars of the maximum margin of the features in U, "
            "in W, and in both, 0.894, 0.865 and 1.24, with the closed forms on them. Right, the "
            "margin over the noise for three starts: the first phase is highest everywhere, zero "
            "lowest.",
            model="realizability",
            data=_page_data(n, T, d, seed),
            record=(0,),
            start={
                "kind": "decoder",
                "stream": normals(T * d, seed).tolist(),
                "sign": signs(1, seed).item(),
            },
            fixed={"optimizer": "gd", "grid": list(NOISES)},
            curves=("loss", "margin_U", "margin_W", "margin"),
            final=tuple(margins.measures),
            controls=(
                Control("zeta", "relevant fraction ζ", SHARES, 0.2),
                Control("S", "norm S of the patterns", (0.5, 0.75, 1.0, 1.5, 2.0, 3.0), 2.0),
                Control("M", "distracting patterns M", PATTERNS, 5),
                Control("sigma", "noise σ", NOISES, 0.0),
                Control(
                    "initialization",
                    "initialization",
                    tuple(STARTS),
                    "first",
                    tuple(START_NAMES.values()),
                    "choice",
                ),
                Control(
                    "mirror",
                    "mirror the samples: no sampling noise",
                    (False, True),
                    True,
                    kind="switch",
                ),
            ),
            frame=_frame(),
            summary="Maximum margin at ζ = {zeta}, S = {S}, M = {M}, σ = {sigma}, initialization: "
            "{initialization}: {margin_U} from U alone, {margin_W} from W alone, {margin} from "
            "both. After the first phase, without noise, the margin is γ* = {gamma_star} in the "
            "best direction and γ = {gamma} in the direction of the closed form.",
            train=margins.path,
            measure=margins.measures,
        ),
        __file__,
    )


class _Margins:
    """What the figure shows, by mhalib."""

    def __init__(self, n, T, d, seed):
        self.n, self.T, self.d, self.seed = n, T, d, seed
        # each is asked for by a bar and by a curve over the noise
        self.margin = cache(self._margin)
        self.measures = {
            "bar_U": _bar("margin_U"),
            "bar_W": _bar("margin_W"),
            "bar_both": _bar("margin"),
            "closed": lambda path, values: [*self.closed(mixture_margins, values)],
            "gamma": lambda path, values: self.closed(mixture_margins, values).both,
            "exact": lambda path, values: [*self.closed(exact_margins, values)],
            "gamma_star": lambda path, values: self.closed(exact_margins, values).both,
            "over_zero": self.over_noise("zero"),
            "over_gaussian": self.over_noise("gaussian"),
            "over_first": self.over_noise("first"),
            "here": lambda path, values: [values["sigma"]],
            "here_margin": lambda path, values: [float(path.margin[0])],
        }

    def sample(self, zeta, S, M, sigma, mirror):
        n = self.n // 2 if mirror else self.n
        drawn = tokenized_mixture(n, self.T, self.d, M, zeta, S, sigma, self.seed)
        return mirrored(drawn) if mirror else drawn

    def _margin(self, kind, only=None, **values):
        data = self.sample(**values)
        return ntk_margin(STARTS[kind](data, self.seed), data, only).margin

    def over_noise(self, kind):
        return lambda path, values: [
            self.margin(kind, **_of_data(values) | {"sigma": sigma}) for sigma in NOISES
        ]

    def closed(self, formula, values):
        return formula(self.T, values["zeta"], values["S"], values["M"])

    def path(self, values):
        data = self.sample(**_of_data(values))
        model = STARTS[values["initialization"]](data, self.seed)
        curves = {"loss": model.loss(data.X, data.y)}
        for name, only in (("margin_U", "U"), ("margin_W", "W"), ("margin", None)):
            curves[name] = self.margin(values["initialization"], only, **_of_data(values))
        return Path(
            np.array([0]),
            (model,),
            {name: np.array([float(value)]) for name, value in curves.items()},
        )


def _bar(name):
    return lambda path, values: [0.0, float(path.curves[name][0])]


def _of_data(values):
    return {name: values[name] for name in ("zeta", "S", "M", "sigma", "mirror")}


def _page_data(n, T, d, seed):
    """The draws, with patterns of norm 1 and their indices for each M: all else is the same for all
    M."""
    draws = {M: draw(n, T, d, M, (seed, 1)) for M in PATTERNS}
    own = {}
    for M in PATTERNS:
        mu, nu = patterns(M, d, 1.0, seed)
        own[str(M)] = {
            "mu": mu.ravel().tolist(),
            "nu": nu.ravel().tolist(),
            "pattern": draws[M].pattern.ravel().tolist(),
            "square": {zeta: even_square(T, zeta, M) for zeta in SHARES},
        }
    # Each field of the draws has its own stream, so these three are the same for every M.
    shared = {name: getattr(draws[1], name).ravel().tolist() for name in ("sign", "rank", "normal")}
    return {"kind": "realizability", "n": n, "T": T, "d": d, "patterns": own} | shared


def _frame():
    frame = panels("maximum margin from …", "margin from both, against noise σ")
    bars = {"U": DECODER, "W": ATTENTION, "both": INK}
    for k, (name, color) in enumerate(bars.items()):
        frame.add_scatter(
            x=[k, k],
            name=name,
            mode="lines",
            line={"color": color, "width": 34},
            opacity=0.5,
            row=1,
            col=1,
            showlegend=False,
            meta={"y": f"bar_{name}"},
        )
    for name, shown, symbol, size in (
        ("γ* (exact)", "exact", "circle-open", 14),
        ("γ (witness)", "closed", "square", 7),
    ):
        frame.add_scatter(
            x=[0, 1, 2],
            name=name,
            mode="markers",
            marker={"color": INK, "symbol": symbol, "size": size},
            row=1,
            col=1,
            meta={"y": shown},
        )
    for kind, dash in (("zero", "dash"), ("gaussian", "longdash"), ("first", "solid")):
        line(frame, START_NAMES[kind], 2, shows=f"over_{kind}", over=NOISES, color=INK, dash=dash)
    dot(frame, "here", 2, shows="here_margin", over="here")
    frame.update_xaxes(
        tickvals=[0, 1, 2], ticktext=["U", "W", "both"], range=[-0.6, 2.6], showgrid=False, col=1
    )
    frame.update_xaxes(zeroline=False, col=1)
    frame.update_xaxes(range=[-0.04, 1.04], title="noise σ", col=2)
    frame.update_yaxes(rangemode="tozero")
    return frame
