"""The live figure of chapter 12: how much weight a query on a line can give to a key between two
others."""

from typing import Any, TypeAlias

import numpy as np

from livegrad.arrays import Array
from livegrad.live.frames import guess, line, panels
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import Path
from mhabook.c12_two_kernels.formulas import CHOSEN_KEY, KEY, LOOKS, NAMES, kernels_of
from mhabook.c12_two_kernels.hull import most_between
from mhabook.figure_parts import together
from mhalib.attention import Gaussian
from mhalib.models import AttentionLayer

# Quarters are exact in binary, so that a key can be compared with == to them.
PLACES = tuple(k / 4 for k in range(-16, 17))
"""Where the slider can bring the middle key."""
ALL_PLACES = np.round(np.linspace(-4, 4, 161), 3)
"""Where the right panel asks for the most weight."""
STRETCHES = (0.25, 0.5, 1.0, 2.0, 4.0)
Values: TypeAlias = dict[str, Any]


def selecting(queries: Array, keys: Array, kernel: Gaussian) -> LiveFigure:
    """A live figure: the weight of the second of three keys on a line, under softmax and under a
    Gaussian kernel.

    On the left is its weight for every query, on the right the most that any query can give it, for
    every place where it may stand. Sliders move it, also by hand, and stretch the line: both panels
    are drawn in units of the stretch. It is a computation and no training.

    Parameters
    ----------
    queries : those of the left panel, (n, 1)
    keys : (3, 1), the first below the last, both from −4 to 3; the second one of −4, −3.75, …, 4
    kernel : ``Gaussian(c)``, which is shown as it is and with its rows divided by their sums

    Raises TypeError or ValueError for other arguments.

    Source: Proposition "Softmax never selects a key that is an average of the others" (this book).
    """
    places, (first, middle, last) = _on_a_line("queries", queries), _three(keys)
    if type(kernel) is not Gaussian:
        raise TypeError(
            f"kernel: expected mha.gaussian or another Gaussian(c), got {kernel!r}; softmax and "
            "the Gaussian with divided rows are drawn anyway"
        )

    def measured(values: Values) -> Values:
        return _measured(places, (first, values["k"], last), kernel.c, values["stretch"])

    names = measured({"k": middle, "stretch": 1.0})
    measures = together(names, measured)
    return LiveFigure(
        FigureSpec(
            title="How much weight can the middle key get?",
            alt=_ALT,
            summary=_SUMMARY,
            model="selecting",
            data={
                "kind": "line",
                "queries": places.tolist(),
                "first": first,
                "last": last,
                "c": kernel.c,
                "places": ALL_PLACES.tolist(),
            },
            start={"kind": "zeros"},
            record=(0,),
            curves=("loss",),
            fixed={"optimizer": "gd"},
            final=tuple(names),
            controls=(
                Control("k", "position of the middle key", PLACES, middle),
                Control("stretch", "stretching factor", STRETCHES, 1.0),
            ),
            tries={
                "Initial settings": {},
                "Stretched by four": {"stretch": 4.0},
                "Squeezed by four": {"stretch": 0.25},
                "Past the last key": {"k": min(PLACES, key=lambda place: abs(place - last - 1))},
            },
            frame=_frame(places, (first, last)),
            train=lambda values: _path(measured(values)),
            measure=measures,
        ),
        __file__,
    )


def _on_a_line(name, points):
    points = np.asarray(points, float)
    if points.ndim != 2 or points.shape[1] != 1 or not points.size or not np.isfinite(points).all():
        raise ValueError(
            f"{name}: expected finite numbers of shape (n, 1), points on a line, got shape "
            f"{points.shape}"
        )
    return points[:, 0]


def _three(keys):
    keys = _on_a_line("keys", keys)
    if len(keys) != 3:
        raise ValueError(f"keys: expected three, got {len(keys)}")
    if not -4 <= keys[0] < keys[2] <= 3:
        raise ValueError(
            "keys: expected the first below the last, both from −4 to 3, so that there is room "
            f"beyond them, got {keys[0]:g} and {keys[2]:g}"
        )
    if keys[1] not in PLACES:
        raise ValueError(
            "keys: expected the second to be one of −4, −3.75, …, 4, where the slider can bring "
            f"it, got {keys[1]:g}"
        )
    return tuple(keys.tolist())


def _measured(places, keys, c, stretch):
    """Weights of the second key for all queries, and the most it can get, at its place and at all
    of them."""
    Q = stretch * places[:, None]
    K = stretch * np.array(keys)[:, None]
    ends = (stretch * keys[0], stretch * keys[2])
    found = {"middle": [keys[1]]}
    for short, kernel in kernels_of(c).items():
        found[f"{short}_weight"] = kernel(kernel.scores(Q, K))[:, 1].tolist()
    # The undivided Gaussian kernel is left out: a query on the key gives it the weight 1 anyway.
    for short, width in {"soft": 0.0, "between": c}.items():
        found[f"{short}_all"] = [most_between(stretch * place, ends, width) for place in ALL_PLACES]
        found[f"{short}_most"] = most_between(stretch * keys[1], ends, width)
        found[f"{short}_here"] = [found[f"{short}_most"]]
    return found


# A path needs a model; nothing trains here, so any layer will do.
def _path(found):
    return Path(
        np.array([0]), (AttentionLayer.random(1, 1, 1),), {"loss": np.array([found["soft_most"]])}
    )


_ALT = (
    "Left, the weight of the middle key against the query: under softmax a low peak of about a "
    "third, under the Gaussian kernel a peak of one at the key, and under the Gaussian kernel "
    "with normalized rows a peak of more than a half. The three keys are marked below. Right, the "
    "largest weight that any query can give to the middle key, against its position: between the "
    "outer keys it sags from a half to a third under softmax, and rises from a half to more under "
    "the normalized Gaussian kernel. Beyond the outer keys both are one."
)
_SUMMARY = (
    "With the middle key at {k} and the line stretched by {stretch}, the largest weight that a "
    "query can give it is {soft_most} under softmax and {between_most} under the Gaussian kernel "
    "with normalized rows."
)


def _frame(places, ends):
    frame = panels("weight of the middle key", "largest weight of any query")
    for short, name in NAMES.items():
        line(frame, name, 1, shows=f"{short}_weight", over=places.tolist(), **LOOKS[short])
    guess(frame, "chapter-12-1b", 1)
    for short, name in NAMES.items():
        if short != "gauss":
            line(
                frame,
                name,
                2,
                shows=f"{short}_all",
                over=ALL_PLACES.tolist(),
                **LOOKS[short],
            )
            frame.add_scatter(
                name=f"{name}, here",
                mode="markers",
                marker={"color": LOOKS[short]["color"], "size": 10},
                showlegend=False,
                row=1,
                col=2,
                meta={"x": "middle", "y": f"{short}_here"},
            )
    for column in (1, 2):
        frame.add_scatter(
            x=list(ends),
            y=[0, 0],
            name="outer keys",
            mode="markers",
            row=1,
            col=column,
            marker=KEY,
            showlegend=column == 1,
        )
        frame.add_scatter(
            y=[0],
            name="middle key",
            mode="markers",
            row=1,
            col=column,
            showlegend=column == 1,
            marker=CHOSEN_KEY,
            meta={"x": "middle", "drag": {"x": "k"}},
        )
    # The chapter compares shares of the weight: the line that is none steps back.
    frame.update_traces(line_width=3, selector={"name": NAMES["between"]})
    frame.update_traces(line_width=2, selector={"name": NAMES["gauss"]})
    frame.update_xaxes(title="query / stretching factor", zeroline=False, range=[-4.1, 4.1], col=1)
    frame.update_xaxes(title="position of the middle key", zeroline=False, range=[-4.1, 4.1], col=2)
    return frame.update_yaxes(range=[-0.07, 1.05])
