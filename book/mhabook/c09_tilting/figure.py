"""The live figure of chapter 9: what softmax attention reads of n tokens in one dimension, and what that costs."""

import numpy as np

from mhabook.c09_tilting.statements import exponent
from mhalib.live.frames import line, panels
from mhalib.live.spec import Control, FigureSpec
from mhalib.live.widget import LiveFigure
from mhalib.models import AttentionRegression
from mhalib.plots import COLORS, GRAY, HERE
from mhalib.training import Path

SIZES = (16, 32, 64, 128, 256, 512, 1024)
SAMPLES = 8
NORMS = (0.25, 0.5, 0.7, 0.8, 1.0, 1.2, 1.4, 1.7, 2.0)
QUERIES = np.arange(-40, 41) / 10
TOKENS = {"gaussian": "Gaussian", "box": "uniform, variance 1"}


def tilting(seed: int = 0) -> LiveFigure:
    """A live figure: attention means of all queries, effective tokens, and the error against the number of tokens.

    It is a computation and no training. Tokens have dimension one and variance one; queries go from −4 to 4.

    Parameters
    ----------
    seed : fixes eight samples of 1,024 tokens, rounded to four decimals; n tokens are the first n of a sample

    Source: Propositions "How many tokens are effective", "The error of one query", Theorem "The exponent" (this book).
    """
    measured = _Measured(seed)
    return LiveFigure(FigureSpec(
        title="What a query reads",
        alt="Left, attention means of one sample of 128 tokens over queries from −4 to 4: they follow the line of "
            "slope 1 in the middle, then level off, at −2.3 and 1.5. Middle, effective tokens: a hill that falls from "
            "128 at query 0 to few at ±4, outside above the curve n e^(−v²x²). Right, the mean squared error falls "
            "with the number of tokens, about as steeply as the guide of the derived exponent.",
        model="tilting", data=measured.carried(), start={"kind": "zeros"}, record=(0,), curves=("loss",),
        fixed={"optimizer": "gd"}, final=tuple(measured.measures),
        controls=(Control("v", "key–query product v", NORMS, 1.0),
                  Control("n", "tokens n", SIZES, 128),
                  Control("sample", "sample", tuple(range(1, SAMPLES + 1)), 1),
                  Control("tokens", "tokens are", tuple(TOKENS), "gaussian", tuple(TOKENS.values()), "choice")),
        frame=_frame(),
        summary="v = {v}, n = {n} tokens ({tokens}), sample {sample}: the query x = 2 has {two} effective tokens; "
                "n e^(−v²x²), or 1 where that is less, is {two_expected}. Its attention mean is {two_mean}, the limit "
                "for Gaussian tokens {two_limit}. Over queries and eight samples the mean squared error is {loss}; "
                "derived slope {slope}.",
        train=measured.path, measure=measured.measures), __file__)


class _Measured:
    """What the figure shows, by mhalib."""

    def __init__(self, seed):
        normal = np.random.default_rng([seed, 99]).standard_normal((SAMPLES, SIZES[-1]))
        box = np.random.default_rng([seed, 100]).uniform(-3 ** 0.5, 3 ** 0.5, normal.shape)
        self.tokens = {"gaussian": normal.round(4), "box": box.round(4)}
        self.measures = {"mean": _asked(self.mean), "effective": _asked(self.effective), "limit": _asked(_limit),
                         "expected": _asked(_expected), "right": _asked(_edge, 1), "left": _asked(_edge, -1),
                         "error": _asked(self.errors), "guide": _asked(self.guide), "here": _asked(lambda v: [v["n"]]),
                         "here_error": lambda path, values: [float(path.loss[0])],
                         "two": _asked(self.effective, at=2.0), "two_mean": _asked(self.mean, at=2.0),
                         "two_expected": _asked(_expected, at=2.0), "two_limit": _asked(_limit, at=2.0),
                         "slope": _asked(lambda values: exponent(values["v"]))}

    def carried(self):
        return {"kind": "tilting", "queries": QUERIES.tolist(), "sizes": SIZES,
                "tokens": {name: drawn.ravel().tolist() for name, drawn in self.tokens.items()}}

    def context(self, values):
        return self.tokens[values["tokens"]][values["sample"] - 1, :values["n"], None]

    def mean(self, values):
        return _model(values).means(QUERIES[:, None], self.context(values))[:, 0].tolist()

    def effective(self, values):
        return _model(values).effective_tokens(QUERIES[:, None], self.context(values)).tolist()

    def errors(self, values):
        """For each size: the squared distance from v x, over the queries by their density and over all samples."""
        density = np.exp(-QUERIES ** 2 / 2) / np.exp(-QUERIES ** 2 / 2).sum()
        samples, limit, model = self.tokens[values["tokens"]][..., None], values["v"] * QUERIES, _model(values)
        return [float(np.mean([density @ (model.means(QUERIES[:, None], tokens[:n])[:, 0] - limit) ** 2
                               for tokens in samples])) for n in SIZES]

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
    return np.maximum(1, values["n"] * np.exp(-(values["v"] * QUERIES) ** 2)).tolist()


def _edge(values, side):
    return [side * float((2 * np.log(values["n"])) ** 0.5) / values["v"]] * 2


def _frame():
    frame = panels("attention mean, over query x", "effective tokens, over x", "squared error, over n", columns=3)
    queries = QUERIES.tolist()
    line(frame, "attention mean m(x)", 1, shows="mean", over=queries)
    line(frame, "limit v x", 1, shows="limit", over=queries, faint=True)
    for edge in ("left", "right"):
        frame.add_scatter(y=[-5, 5], name="|v x| = √(2 ln n)", mode="lines", showlegend=edge == "left", row=1, col=1,
                          line={"color": COLORS[3], "dash": "dot"}, meta={"x": edge})
    line(frame, "effective tokens", 2, shows="effective", over=queries, legend=False)
    line(frame, "n exp(−v²x²), or 1", 2, shows="expected", over=queries, faint=True, legend=True)
    line(frame, "error, mean of 8 samples", 3, shows="error", over=SIZES, color=1)
    frame.add_scatter(x=SIZES, name="derived slope", mode="lines", line={"color": GRAY, "dash": "dot"}, row=1, col=3,
                      meta={"y": "guide"})
    frame.add_scatter(name="here", mode="markers", marker=HERE | {"size": 10}, row=1, col=3,
                      meta={"x": "here", "y": "here_error"})
    frame.update_xaxes(range=[-4.1, 4.1], dtick=2, zeroline=False, col=1)
    frame.update_xaxes(range=[-4.1, 4.1], dtick=2, zeroline=False, col=2)
    frame.update_yaxes(range=[-4.2, 4.2], col=1)
    frame.update_yaxes(type="log", range=[-0.1, 3.1], dtick=1, col=2)
    frame.update_xaxes(type="log", range=[1.1, 3.1], dtick=1, col=3)
    return frame.update_yaxes(type="log", range=[-4.5, 1], dtick=1, exponentformat="power", col=3)
