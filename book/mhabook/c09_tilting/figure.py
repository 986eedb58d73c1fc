"""The live figures of chapter 9: a cloud of tokens by the weights of a query, and what n tokens of
it cost."""

from statistics import NormalDist

import numpy as np

from livegrad.arrays import Array
from livegrad.live.frames import dot, guess, line, panels
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import Path
from mhabook.c09_tilting.statements import exponent
from mhabook.figure_parts import QUERY
from mhalib.attention import softmax
from mhalib.data import RegressionDataset
from mhalib.data.regression import LinearTruth
from mhalib.models import AttentionRegression
from mhalib.plots import ATTENTION, GRAY, INK

SIZES = (16, 32, 64, 128, 256, 512, 1024)
SAMPLES = 8
NORMS = (0.25, 0.5, 0.7, 0.8, 1.0, 1.2, 1.4, 1.7, 2.0)
QUERIES = np.arange(-40, 41) / 10
TOKENS = {"gaussian": "Gaussian", "box": "uniform, variance 1"}
END = 3**0.5
"""A uniform token of variance 1 is at most as far from zero."""
WIDTH = 0.5
"""Of a bar of a histogram."""
EDGES = np.arange(-10, 11) * WIDTH
SEEN = np.arange(-50, 51) / 10
"""The queries over which the first figure shows outputs, and the tokens over which it shows a
density."""


def cloud(data: RegressionDataset, layer: AttentionRegression) -> LiveFigure:
    """A live figure of what one query does to a cloud of tokens: its histogram by weight, and the
    output.

    Sliders move the query, take the first n tokens, and press the same tokens into a box, x ↦ √3 (2
    Φ(x) − 1).

    Parameters
    ----------
    data : tokens of dimension one with variance one, ten or more, as ``linear_regression(d=1)``
        draws them
    layer : an ``AttentionRegression`` with p = d = 1; neither A nor B is zero

    Raises TypeError or ValueError if data or layer are others.

    Source: Lemma "Tilting a Gaussian shifts its mean" (this book).
    """
    a, b = _one_by_one(layer)
    tokens = {"gaussian": _standard_tokens(data)}
    tokens["box"] = END * (2 * np.array([NormalDist().cdf(x) for x in tokens["gaussian"]]) - 1)
    read = _Read(tokens, layer, a, b)
    n = len(data)
    return LiveFigure(
        FigureSpec(
            title="Tokens and their attention weights",
            alt=_alt(n),
            model="cloud",
            data={
                "kind": "cloud",
                "tokens": {name: values.tolist() for name, values in tokens.items()},
                "queries": SEEN.tolist(),
                "edges": EDGES.tolist(),
            },
            start={"kind": "zeros"},
            record=(0,),
            curves=("loss",),
            fixed={"optimizer": "gd", "A": a, "B": b},
            final=tuple(read.measures),
            controls=(
                Control("x", "query x", tuple(k / 2 for k in range(-8, 9)), 1.0),
                Control(
                    "n",
                    "number of tokens n",
                    tuple(k for k in (10, 30, 100, 300) if k < n) + (n,),
                    n,
                ),
                Control(
                    "tokens",
                    "token distribution",
                    tuple(TOKENS),
                    "gaussian",
                    tuple(TOKENS.values()),
                    "choice",
                ),
            ),
            tries={
                "Initial settings": {},
                "A query farther out": {"x": 2.0},
                "A query beyond the tokens": {"x": 4.0},
                "Uniform tokens": {"tokens": "box"},
            },
            frame=_cloud_frame(abs(a * b)),
            summary="The query is {x}, with {n} tokens ({tokens}), and its effective number of "
            "tokens is {effective}. The output is {output}. With infinitely many tokens it is "
            "{limit}.",
            train=read.path,
            measure=read.measures,
        ),
        __file__,
    )


class _Read:
    """What the first figure shows, by mhalib."""

    def __init__(self, tokens, layer, a, b):
        self.tokens, self.layer, self.a, self.b = tokens, layer, a, b
        self.measures = {
            "ticks": _asked(lambda values: self.context(values)[:, 0].tolist()),
            "floor": _asked(lambda values: [-0.05] * values["n"]),
            "plain": _asked(
                lambda values: self.histogram(values, np.full(values["n"], 1 / values["n"]))
            ),
            "weighted": _asked(lambda values: self.histogram(values, self.weights(values))),
            "tilted": _asked(lambda values: _tilted(values["tokens"], b * values["x"]).tolist()),
            "outputs": _asked(lambda values: self.outputs(values, SEEN).tolist()),
            "limits": _asked(lambda values: self.limits(values, SEEN).tolist()),
            "here": _asked(lambda values: [values["x"]]),
            "output": lambda path, values: float(self.outputs(values, np.array([values["x"]]))[0]),
            "here_output": _asked(
                lambda values: self.outputs(values, np.array([values["x"]])).tolist()
            ),
            "limit": lambda path, values: float(self.limits(values, np.array([values["x"]]))[0]),
            "effective": lambda path, values: float(1 / (self.weights(values) ** 2).sum()),
        }

    def context(self, values):
        return self.tokens[values["tokens"]][: values["n"], None]

    def weights(self, values):
        scores = self.b * values["x"] * self.context(values)[:, 0]
        return softmax(scores)

    def histogram(self, values, weights):
        """The heights of the bars, each twice: at its left and at its right edge."""
        heights, _ = np.histogram(self.context(values)[:, 0], EDGES, weights=weights / WIDTH)
        return np.repeat(heights, 2).tolist()

    def outputs(self, values, queries):
        return self.layer(queries[:, None], self.context(values))[:, 0]

    def limits(self, values, queries):
        return self.a * _limit_mean(values["tokens"], self.b * queries)

    def path(self, values):
        x = np.array([values["x"]])
        away = self.outputs(values, x) - self.limits(values, x)
        return Path(np.array([0]), (self.layer,), {"loss": away**2})


def _limit_mean(kind: str, b: Array) -> Array:
    """The mean of infinitely many tokens under the weights e^{bx}: b, or for uniform ones √3
    coth(√3 b) − 1/b."""
    if kind == "gaussian":
        return b
    # Both branches are evaluated: any number but 0 will do where the mean is 0.
    away = np.where(b == 0, 1.0, b)
    return np.where(b == 0, 0.0, END / np.tanh(END * away) - 1 / away)


def _tilted(kind: str, b: float) -> Array:
    """The density of infinitely many tokens by the weights e^{bx}, over ``SEEN``."""
    if kind == "gaussian":
        return np.exp(-((SEEN - b) ** 2) / 2) / (2 * np.pi) ** 0.5
    total = 2 * END if b == 0 else 2 * np.sinh(END * b) / b
    return np.where(abs(SEEN) <= END, np.exp(b * SEEN) / total, 0.0)


def _one_by_one(layer):
    if type(layer) is not AttentionRegression or layer.sizes != (1, 1):
        raise TypeError(f"layer: expected an AttentionRegression with p = d = 1, got {layer!r}")
    a, b = float(layer.A[0, 0]), float(layer.B[0, 0])
    if a * b == 0:
        raise ValueError(f"layer: expected A and B that are not zero, got {a:g} and {b:g}")
    return a, b


def _standard_tokens(data):
    """The tokens (n,), where they are drawn from N(0, 1)."""
    truth = data.truth if isinstance(data, RegressionDataset) else None
    if isinstance(truth, LinearTruth) and data.Sigma.shape == (1, 1) and len(data) >= 10:
        return np.asarray(data.x)[:, 0]
    raise TypeError(
        "data: expected ten or more tokens of a linear_regression of dimension d = 1, because a "
        "slider presses these into a box"
    )


def _alt(n):
    return (
        f"Left, {n} tokens as ticks and as a gray histogram, and their weighted histogram for the "
        "query 1: a Gaussian of the same width, shifted by about one unit to the right, close to "
        "the dotted curve for infinitely many tokens. Right, the output against the query: close to "
        "the dotted line for infinitely many tokens in the middle, flat at both ends."
    )


def _cloud_frame(slope):
    frame = panels("weighted tokens", "output against the query")
    # As many as heights: a bar ends where the next one begins.
    steps = np.repeat(EDGES, 2)[1:-1]
    line(frame, "histogram of the tokens", 1, shows="plain", over=steps, faint=True)
    line(frame, "tokens by weight", 1, shows="weighted", over=steps, color=ATTENTION)
    line(frame, "infinitely many tokens", 1, shows="tilted", over=SEEN, dash="dot")
    frame.add_scatter(
        name="tokens",
        mode="markers",
        row=1,
        col=1,
        meta={"x": "ticks", "y": "floor"},
        marker={"color": INK, "size": 9, "symbol": "line-ns-open"},
        opacity=0.5,
    )
    line(frame, "output", 2, shows="outputs", over=SEEN)
    line(frame, "infinitely many tokens", 2, shows="limits", over=SEEN, dash="dot")
    guess(frame, "chapter-9-1", 2)
    frame.add_scatter(
        name="this query",
        mode="markers",
        marker=QUERY,
        row=1,
        col=2,
        meta={"x": "here", "y": "here_output"},
    )
    frame.update_xaxes(title="token", range=[-5, 5], dtick=1, zeroline=False, col=1)
    # As high as it has to be: few tokens, or a query beyond them, make a bar many times as high.
    frame.update_yaxes(title="density", zeroline=False, col=1)
    frame.update_xaxes(title="query x", range=[-5, 5], dtick=1, zeroline=False, col=2)
    return frame.update_yaxes(range=[-5 * slope, 5 * slope], col=2)


def tilting(seed: int = 0) -> LiveFigure:
    """A live figure: attention means of all queries, effective tokens, and the error against the
    number of tokens.

    It is a computation and no training. Tokens have dimension one and variance one; queries go
    from −4 to 4.

    Parameters
    ----------
    seed : fixes eight samples of 1,024 tokens, rounded to four decimals; n tokens are the first n
        of a sample

    Source: Propositions "The effective number of tokens", "The error of one query", Theorem "The
    exponent" (this book).
    """
    measured = _Measured(seed)
    return LiveFigure(
        FigureSpec(
            title="Attention outputs and their error",
            alt="Left, attention means of one sample of 128 tokens for queries from −4 to 4: they "
            "follow the line of slope 1 in the middle, then level off at −2.3 and 1.5. Middle, "
            "the effective number of tokens: it falls from 128 at the query 0 to a few at ±4, and "
            "is above the curve n e^(−v²x²) at the sides. Right, the mean squared error falls "
            "with the number of tokens, about as steeply as the guide line of the derived "
            "exponent.",
            model="tilting",
            data=measured.page_data(),
            start={"kind": "zeros"},
            record=(0,),
            curves=("loss",),
            fixed={"optimizer": "gd"},
            final=tuple(measured.measures),
            controls=(
                Control("v", "key–query product v", NORMS, 1.0),
                Control("n", "tokens n", SIZES, 128),
                Control("sample", "sample", tuple(range(1, SAMPLES + 1)), 1),
                Control(
                    "tokens",
                    "token distribution",
                    tuple(TOKENS),
                    "gaussian",
                    tuple(TOKENS.values()),
                    "choice",
                ),
            ),
            frame=_frame(),
            summary="v = {v}, n = {n} tokens ({tokens}), sample {sample}. At the query x = 2 the "
            "effective number of tokens is {two}, and n e^(−v²x²), or 1 if that is less, is "
            "{two_expected}. Its attention mean is {two_mean}, and the limit for Gaussian tokens "
            "is {two_limit}. The mean squared error over queries and eight samples is {loss}, and "
            "the derived slope is {slope}.",
            train=measured.path,
            measure=measured.measures,
        ),
        __file__,
    )


class _Measured:
    """What the figure shows, by mhalib."""

    def __init__(self, seed):
        normal = np.random.default_rng([seed, 99]).standard_normal((SAMPLES, SIZES[-1]))
        box = np.random.default_rng([seed, 100]).uniform(-(3**0.5), 3**0.5, normal.shape)
        # Rounded before anything is computed: the page has the very same tokens in few digits.
        self.tokens = {"gaussian": normal.round(4), "box": box.round(4)}
        self.measures = {
            "mean": _asked(self.mean),
            "effective": _asked(self.effective),
            "limit": _asked(_limit),
            "expected": _asked(_expected),
            "right": _asked(_edge, 1),
            "left": _asked(_edge, -1),
            "error": _asked(self.errors),
            "guide": _asked(self.guide),
            "here": _asked(lambda v: [v["n"]]),
            "here_error": lambda path, values: [float(path.loss[0])],
            "two": _asked(self.effective, at=2.0),
            "two_mean": _asked(self.mean, at=2.0),
            "two_expected": _asked(_expected, at=2.0),
            "two_limit": _asked(_limit, at=2.0),
            "slope": _asked(lambda values: exponent(values["v"])),
        }

    def page_data(self):
        return {
            "kind": "tilting",
            "queries": QUERIES.tolist(),
            "sizes": SIZES,
            "tokens": {name: drawn.ravel().tolist() for name, drawn in self.tokens.items()},
        }

    def context(self, values):
        return self.tokens[values["tokens"]][values["sample"] - 1, : values["n"], None]

    def mean(self, values):
        return _model(values).means(QUERIES[:, None], self.context(values))[:, 0].tolist()

    def effective(self, values):
        return _model(values).effective_tokens(QUERIES[:, None], self.context(values)).tolist()

    def errors(self, values):
        """For each size: the squared distance from v x, over the queries by their density and over
        all samples."""
        density = np.exp(-(QUERIES**2) / 2) / np.exp(-(QUERIES**2) / 2).sum()
        samples = self.tokens[values["tokens"]][..., None]
        limit = values["v"] * QUERIES
        model = _model(values)
        return [
            float(
                np.mean(
                    [
                        density @ (model.means(QUERIES[:, None], tokens[:n])[:, 0] - limit) ** 2
                        for tokens in samples
                    ]
                )
            )
            for n in SIZES
        ]

    def guide(self, values):
        first = self.errors(values)[0]
        return [first * (n / SIZES[0]) ** exponent(values["v"]) for n in SIZES]

    def path(self, values):
        loss = self.errors(values)[SIZES.index(values["n"])]
        return Path(np.array([0]), (_model(values),), {"loss": np.array([loss])})


def _asked(formula, *more, at=None):
    """A measure of the values alone; or its number at one query."""
    if at is None:
        return lambda path, values: formula(values, *more)
    return lambda path, values: formula(values)[int(np.searchsorted(QUERIES, at))]


def _model(values):
    return AttentionRegression(np.array([[1.0]]), np.array([[values["v"]]]))


def _limit(values):
    return (values["v"] * QUERIES).tolist()


def _expected(values):
    return np.maximum(1, values["n"] * np.exp(-((values["v"] * QUERIES) ** 2))).tolist()


def _edge(values, side):
    return [side * float((2 * np.log(values["n"])) ** 0.5) / values["v"]] * 2


def _frame():
    frame = panels(
        "attention mean against x",
        "effective tokens against x",
        "squared error against n",
        columns=3,
    )
    queries = QUERIES.tolist()
    line(frame, "attention mean m(x)", 1, shows="mean", over=queries)
    line(frame, "limit v x", 1, shows="limit", over=queries, dash="dot")
    for edge in ("left", "right"):
        frame.add_scatter(
            y=[-5, 5],
            name="|v x| = √(2 ln n)",
            mode="lines",
            showlegend=edge == "left",
            row=1,
            col=1,
            line={"color": GRAY, "width": 1.5},
            meta={"x": edge},
        )
    line(frame, "effective tokens", 2, shows="effective", over=queries)
    line(frame, "n exp(−v²x²), or 1", 2, shows="expected", over=queries, dash="dot")
    line(frame, "error, mean of 8 samples", 3, shows="error", over=SIZES)
    frame.add_scatter(
        x=SIZES,
        name="derived slope",
        mode="lines",
        line={"color": INK, "dash": "dot"},
        row=1,
        col=3,
        meta={"y": "guide"},
    )
    dot(frame, "here", 3, shows="here_error", over="here")
    frame.update_xaxes(range=[-4.1, 4.1], dtick=2, zeroline=False, col=1)
    frame.update_xaxes(range=[-4.1, 4.1], dtick=2, zeroline=False, col=2)
    frame.update_yaxes(range=[-4.2, 4.2], col=1)
    decades = {"type": "log", "dtick": 1, "exponentformat": "power"}
    frame.update_yaxes(range=[-0.1, 3.1], **decades, col=2)
    frame.update_xaxes(range=[1.1, 3.1], **decades, col=3)
    return frame.update_yaxes(range=[-4.5, 1], **decades, col=3)
