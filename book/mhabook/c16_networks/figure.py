"""The live figure of chapter 16: two networks, trained from several seeds, and what their
differences tell."""

from functools import cache
from typing import Any

import numpy as np
from scipy.stats import t as student

from livegrad.arrays import require_count
from livegrad.live.frames import line, panels
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import Path, run
from mhabook.c16_networks import sentences
from mhabook.figure_parts import Measures, together, with_value
from mhalib.attention import Gaussian, Softmax, gaussian, normalized_gaussian, softmax
from mhalib.optim import Adam
from mhalib.plots import ATTENTION, GAUSSIAN, INK

KERNELS = {"softmax": softmax, "gaussian": gaussian, "normalized": normalized_gaussian}
OTHERS = {
    "gaussian": "Gaussian kernel",
    "normalized": "Gaussian, normalized",
    "again": "softmax, another initialization",
}
LEFT_OUT = {"all": "", "plain": sentences.NOT}
"""The word that no sentence of a choice has."""
TEXTS = {"all": "with “not”", "plain": "without “not”"}
SEEDS, STEP_SIZES = (2, 3, 4, 6, 8, 10, 12), (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
MOST = SEEDS[-1]
QUANTILES = tuple(float(student.ppf(0.975, seeds - 1)) for seeds in range(2, MOST + 1))
"""Of Student's t, for intervals of 95 percent from 2, 3, … seeds."""
FINAL = (
    "left",
    "right",
    "first",
    "second",
    "gaussian",
    "again",
    "pairs",
    "heights",
    "first_mean",
    "second_mean",
    "mean",
    "low",
    "high",
    "count",
    "means",
    "around",
    "ends",
    "room",
    "interval",
    "verdict",
)
INSIDE = "The interval contains zero, so this could be luck alone."
OUTSIDE = "The interval does not contain zero: more than luck, at these step sizes."
CONTAINS, MISSES = "95 % interval: contains 0", "95 % interval: 0 is outside"
ROOMS = (0.1, 0.2, 0.4, 0.8)
"""How far up and down the right panel can reach: a tenth farther than the last interval, at least."""


def compared(first: Softmax, second: Gaussian, lr: float, steps: int, seeds: int) -> LiveFigure:
    """A live figure of two networks that differ in their kernel: each is trained from every seed,
    in the page.

    A seed draws the sentences of ``sentences.train_and_test`` and the start, for both networks
    alike. Left, the test accuracies, those of one seed joined by a line. Right, their mean
    difference and its 95 % interval by Student's t, from the first two seeds, the first three, and
    so on. One more choice compares the first network with itself, from another start, and one
    trains and tests on sentences in which "not" does not occur.

    Parameters
    ----------
    first : ``mha.softmax``
    second : ``mha.gaussian`` or ``mha.normalized_gaussian``
    lr : the step size of Adam, for both networks
    steps : how many steps a run has
    seeds : how many seeds there are, 2 to 12

    Raises TypeError or ValueError if an argument is another.

    Source: this book.
    """
    require_count(steps=steps, seeds=seeds)
    names = {kernel: name for name, kernel in KERNELS.items()}
    if first is not softmax or second not in (gaussian, normalized_gaussian):
        raise TypeError(
            "first, second: expected mha.softmax, and mha.gaussian or mha.normalized_gaussian, "
            f"got {first!r} and {second!r}"
        )
    if seeds not in range(2, MOST + 1):
        raise ValueError(f"seeds: expected a whole number from 2 to {MOST}, got {seeds!r}")
    Adam(lr)  # refuses what is no step size
    own = {"other": names[second], "seeds": seeds, "lr_first": float(lr), "lr_second": float(lr)}
    tries = {
        "Initial settings": {},
        "Twelve seeds": {"seeds": MOST},
        "A network against itself": {"other": "again", "seeds": MOST},
        "A task that they learn": {"texts": "plain", "seeds": MOST},
        "Large step size for both": {"seeds": MOST, "lr_first": 0.2, "lr_second": 0.2},
    }
    rates = with_value(STEP_SIZES, float(lr))
    measures = _measures(steps)
    return LiveFigure(
        FigureSpec(
            title="Two networks, seed by seed",
            alt=_alt(seeds),
            summary=SUMMARY,
            model="networks",
            data=_page_data(),
            start={"kind": "networks"},
            record=(0, steps),
            fixed={"H": sentences.HEADS, "d": sentences.WIDTH, "lr": float(lr)},
            curves=("loss",),
            final=FINAL,
            measure=measures,
            controls=(
                Control(
                    "other",
                    "compared with softmax",
                    tuple(OTHERS),
                    own["other"],
                    tuple(OTHERS.values()),
                    "choice",
                ),
                Control("texts", "sentences", tuple(TEXTS), "all", tuple(TEXTS.values()), "choice"),
                Control("seeds", "seeds", with_value(SEEDS, seeds), seeds),
                Control("lr_first", "step size of softmax", rates, own["lr_first"]),
                Control("lr_second", "step size of the other", rates, own["lr_second"]),
            ),
            tries=tries,
            frame=_frame(),
            train=lambda values: _trained(values, steps),
        ),
        __file__,
    )


SUMMARY = (
    "Mean test accuracy over {seeds} seeds: softmax {first_mean} (step size {lr_first}), the "
    "other {second_mean} (step size {lr_second}). Mean difference {mean}, 95 % interval from "
    "{low} to {high}. {verdict}"
)


def _alt(seeds):
    return (
        f"Left, the test accuracies of two networks for {seeds} seeds. A line joins the two "
        "accuracies of each seed; some lines go up and some go down. Right, from two seeds "
        "on, the mean difference in a gray band, its interval, which narrows as seeds are added. "
        "The band's name says whether the last interval contains zero."
    )


def _page_data():
    return {
        "kind": "sentences",
        "texts": {texts: _texts(without) for texts, without in LEFT_OUT.items()},
        "words": len(sentences.WORDS),
        "length": sentences.LENGTH,
        "trained": sentences.TRAINED,
        "quantiles": QUANTILES,
    }


def _texts(without):
    """The sentences of all seeds as word numbers, one after the other, and their labels."""
    drawn = [sentences.sentences(seed, without) for seed in range(MOST)]
    return {
        "numbers": [sentences.word_numbers(texts).ravel().tolist() for texts in drawn],
        "labels": [sentences.encoded(texts)[1][:, 0, 0].tolist() for texts in drawn],
    }


def _other(values, seed):
    """The kernel of the second network, and the seed of its start: another one where the first
    meets itself."""
    # Seeds are below MOST, so that no start of the second network is one of the first.
    return ("softmax", seed + MOST) if values["other"] == "again" else (values["other"], seed)


# A reader who adds a seed or moves one step size keeps all other runs.
@cache
def one_run(
    kernel: str, start: int, seed: int, lr: float, steps: int, without: str = ""
) -> tuple[Path, float]:
    """A run from the start of one seed on the sentences of another, and the test accuracy at its
    end."""
    trained, tested = sentences.train_and_test(seed, without)
    path = run(
        sentences.network(KERNELS[kernel], start), trained, Adam(lr), steps, None, (0, steps)
    )
    return path, float(sentences.right(path[-1], tested).mean())


def _both(values, steps):
    """The runs of the two networks, seed by seed."""
    seeds, without = range(values["seeds"]), LEFT_OUT[values["texts"]]
    firsts = [one_run("softmax", seed, seed, values["lr_first"], steps, without) for seed in seeds]
    seconds = [
        one_run(*_other(values, seed), seed, values["lr_second"], steps, without) for seed in seeds
    ]
    return firsts, seconds


def _trained(values, steps):
    paths = [path for runs in _both(values, steps) for path, _ in runs]
    models = tuple(zip(*(path.models for path in paths), strict=True))
    return Path(
        paths[0].steps, models, {"loss": np.mean([path.loss for path in paths], axis=0)}, None
    )


def _measures(steps: int) -> Measures:
    return together(
        FINAL,
        lambda values: outcome(
            *([accuracy for _, accuracy in runs] for runs in _both(values, steps)), values["other"]
        ),
    )


def outcome(first: list[float], second: list[float], other: str = "gaussian") -> dict[str, Any]:
    """What the figure shows of the accuracies of two networks, seed by seed; ``other`` says which
    the second one is."""
    apart = np.subtract(second, first)
    # From two seeds on: one difference has no variance.
    count = np.arange(2, len(apart) + 1)
    means = np.array([apart[:k].mean() for k in count])
    halves = np.array([QUANTILES[k - 2] * apart[:k].std(ddof=1) / k**0.5 for k in count])
    lows, highs = means - halves, means + halves
    farthest = max(-lows[-1], highs[-1])
    inside = bool(lows[-1] <= 0 <= highs[-1])
    room = next((room for room in ROOMS if farthest <= 0.9 * room), ROOMS[-1])
    wide = np.flatnonzero(np.maximum(-lows, highs)[:-1] > room)
    # From there on no interval leaves the panel.
    fits = slice(wide[-1] + 1 if wide.size else 0, None)
    pairs = [place for _ in first for place in (0, 1, None)]
    heights = [height for pair in zip(first, second, strict=True) for height in (*pair, None)]
    return {
        "left": [0] * len(first),
        "right": [1] * len(first),
        "first": list(first),
        "second": list(second),
        "gaussian": other != "again",
        "again": other == "again",
        "pairs": pairs,
        "heights": heights,
        "first_mean": float(np.mean(first)),
        "second_mean": float(np.mean(second)),
        "mean": float(means[-1]),
        "low": float(lows[-1]),
        "high": float(highs[-1]),
        "count": count.tolist(),
        "means": means.tolist(),
        # Around the band: along its upper end, and back along the lower one.
        "around": [*count[fits].tolist(), *count[fits][::-1].tolist()],
        "ends": [*highs[fits].tolist(), *lows[fits][::-1].tolist()],
        "room": [-room, room],
        "interval": CONTAINS if inside else MISSES,
        "verdict": INSIDE if inside else OUTSIDE,
    }


def _frame():
    frame = panels("test accuracy, seed by seed", "mean difference and its interval", height=480)
    frame.add_scatter(
        name="one seed",
        mode="lines",
        line={"color": INK, "width": 1},
        row=1,
        col=1,
        meta={"x": "pairs", "y": "heights"},
    )
    other = {"x": "right", "y": "second"}
    for name, meta, color, symbol in (
        ("softmax", {"x": "left", "y": "first"}, ATTENTION, "circle"),
        ("the other", other | {"visible": "gaussian"}, GAUSSIAN, "square"),
        ("the other", other | {"visible": "again"}, ATTENTION, "square"),
    ):
        frame.add_scatter(
            name=name,
            mode="markers",
            row=1,
            col=1,
            meta=meta,
            marker={"color": color, "size": 9, "symbol": symbol},
            showlegend=False,
        )
    frame.add_scatter(
        name=CONTAINS,
        mode="lines",
        fill="toself",
        fillcolor=INK,
        opacity=0.25,
        line={"color": INK, "width": 4},  # which is all that there is of it after two seeds
        row=1,
        col=2,
        meta={"x": "around", "y": "ends", "name": "interval", "yaxis": {"range": "room"}},
    )
    line(frame, "zero", 2, shows=[0.0, 0.0], over=[1.5, MOST + 0.5], legend=False)
    frame.data[-1].line.width = 1
    # The title of the panel names it.
    line(frame, "mean difference", 2, shows="means", over="count", legend=False)
    frame.data[-1].update(mode="lines+markers", marker={"color": INK, "size": 8})
    frame.update_xaxes(range=[-0.5, 1.5], tickvals=[0, 1], ticktext=["softmax", "the other"], col=1)
    frame.update_xaxes(title="seeds so far", range=[1.5, MOST + 0.5], dtick=1, col=2)
    # Above 1, so that a dot there is whole.
    return frame.update_yaxes(range=[0.35, 1.03], col=1)
