"""The live figure of chapter 15: a slice through a network whose second direction is turned toward
the way down."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from livegrad.landscape import direction as as_model
from livegrad.landscape import hessian, random_direction, slice
from livegrad.live.frames import line, panels
from livegrad.live.spec import Control, FigureSpec
from livegrad.live.widget import LiveFigure
from livegrad.training import Path
from mhabook.figure_parts import together
from mhalib.attention import Gaussian, NormalizedGaussian, softmax
from mhalib.data.sequences import SequenceDataset
from mhalib.models import AttentionLayer
from mhalib.plots import HERE, INK, LEVELS, MINIMUM, ORDERED

Values: TypeAlias = dict[str, Any]
DEGREES = tuple(range(0, 91, 5))
"""How far the second direction can be turned; the left panel asks for all of them."""
PAIRS = tuple(range(1, 21))
RADII = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
RESOLUTION = 25
"""How many points the picture has along each side."""


@dataclass(frozen=True)
class _Curved:
    """A network, the spectrum of its Hessian, and the direction of least curvature, as long as the
    network."""

    layer: AttentionLayer
    mean: float
    least: float
    way: AttentionLayer


def turned(networks: Mapping[str, AttentionLayer], data: SequenceDataset) -> LiveFigure:
    """A live figure: the loss on a plane through a network, and the least curvature that the plane
    shows.

    Two random directions span the plane. The second one can be turned toward the eigenvector of the
    least eigenvalue of the Hessian, downhill. On the left is the least curvature of the plane in
    its middle, for every turn, beside the mean and the least of all eigenvalues; on the right the
    loss on the plane, above or below that of the network. Controls choose the network, the random
    pair, the turn, and how far the picture reaches. It is a computation and no training.

    Parameters
    ----------
    networks : words → a layer with at most 2,000 weights; the first is the one that it starts with
    data : what the losses are those of

    Raises TypeError or ValueError for other arguments.

    Source: Propositions "The curvature along a random direction" and "The eigenvalues of a
    slice interlace those of the full Hessian" (this book).
    """
    if not isinstance(data, SequenceDataset):
        raise TypeError(f"data: expected a SequenceDataset, got {type(data).__name__}")
    if not _is_double(data.X):
        raise TypeError(
            f"data: expected NumPy arrays in double precision, as the page computes, got {data!r}"
        )
    if not isinstance(networks, Mapping):
        raise TypeError(
            f"networks: expected a dict of words and layers, got {type(networks).__name__}"
        )
    curved = {words: _curved(words, layer, data) for words, layer in networks.items()}
    if not curved:
        raise ValueError("networks: expected one network or more, got none")

    def measured(values: Values) -> Values:
        return _measured(
            curved[values["network"]], data, values["pair"], values["turn"], values["radius"]
        )

    first = next(iter(curved))
    names = measured({"network": first, "pair": 1, "turn": 0, "radius": 0.1})
    return LiveFigure(
        FigureSpec(
            title="A plane turned toward negative curvature",
            alt=_ALT.format(first),
            summary=_SUMMARY,
            model="turned",
            data={
                "kind": "networks",
                "networks": {words: _page_data(one, data) for words, one in curved.items()},
            },
            start={"kind": "zeros"},
            record=(0,),
            curves=("loss",),
            fixed={"optimizer": "gd"},
            final=tuple(names),
            controls=(
                Control("turn", "turn, in degrees", DEGREES, 0),
                Control("network", "network", tuple(curved), first, kind="choice"),
                Control("pair", "random pair of directions", PAIRS, 1),
                Control("radius", "radius of the picture", RADII, 0.1),
            ),
            tries=_tries(curved),
            frame=_frame(),
            train=lambda values: Path(
                np.array([0]),
                (curved[values["network"]].layer,),
                {"loss": np.array([curved[values["network"]].layer.loss(data.X, data.y)])},
            ),
            measure=together(names, measured),
        ),
        __file__,
    )


def _curved(words, layer, data):
    known = type(layer) is AttentionLayer and (
        layer.kernel is softmax or type(layer.kernel) in (Gaussian, NormalizedGaussian)
    )
    if not known:
        raise TypeError(
            f"networks: {words}: expected an AttentionLayer with softmax or a Gaussian kernel, got "
            f"{layer!r}"
        )
    if not _is_double(layer.WQ):
        raise TypeError(
            f"networks: {words}: expected NumPy arrays in double precision, as the page "
            f"computes, got {layer!r}"
        )
    values, vectors = np.linalg.eigh(hessian(layer, data))
    way = as_model(layer, vectors[:, 0])
    # The sign of an eigenvector is arbitrary: this one is turned downhill.
    uphill = layer.loss_and_grad(data.X, data.y)[1].dot(way) > 0
    return _Curved(
        layer,
        float(values.mean()),
        float(values[0]),
        (-1.0 if uphill else 1.0) * layer.norm() * way,
    )


def _is_double(array):
    return isinstance(array, np.ndarray) and array.dtype == np.float64


def _flat(layer):
    return np.concatenate([np.ravel(array) for array in layer.arrays().values()]).tolist()


def _page_data(one, data):
    (N, n, D), m = data.X.shape, data.y.shape[-1]
    kernel = one.layer.kernel
    name = {Gaussian: "gaussian", NormalizedGaussian: "normalized"}.get(type(kernel), "softmax")
    H, _, d = one.layer.WQ.shape
    return {
        "N": N,
        "n": n,
        "D": D,
        "m": m,
        "X": np.ravel(data.X).tolist(),
        "y": np.ravel(data.y).tolist(),
        "H": H,
        "d": d,
        "kernel": name,
        "c": getattr(kernel, "c", 0.5),
        "theta": _flat(one.layer),
        "way": _flat(one.way),
        "mean": one.mean,
        "least": one.least,
        "degrees": list(DEGREES),
    }


def _tries(curved):
    tries: dict[str, dict[str, Any]] = {
        "A random plane": {},
        "Turned half way": {"turn": 45},
        "Turned all the way": {"turn": 90},
    }
    for words in list(curved)[1:2]:
        tries[f"A random plane, {words}"] = {"network": words}
    return tries


def _towards(one, drawn, degrees):
    """A random direction, turned by so many degrees toward the way down, as long as the network."""
    angle = np.radians(degrees)
    mixed = np.cos(angle) * drawn + np.sin(angle) * one.way
    return mixed * (one.layer.norm() / mixed.norm())


def _measured(one, data, pair, turn, radius):
    """The loss on the plane, and the least curvature that the plane shows, at every turn."""
    layer, here = one.layer, one.layer.loss(data.X, data.y)
    u, drawn = (random_direction(layer, 2 * pair + k, normalize="whole") for k in (0, 1))
    plane = slice(layer, data, u, _towards(one, drawn, turn), radius, RESOLUTION)
    lowest = np.unravel_index(plane.loss.argmin(), plane.loss.shape)
    shown = _shown(one, data, u, drawn)
    above, edge = plane.loss - here, radius + radius / (RESOLUTION - 1)  # half a tile stands out
    seen = shown[DEGREES.index(turn)]
    return {
        "at": plane.a.tolist(),
        "span": [-edge, edge],
        # Divided and not shifted: 0 stays the loss of the network.
        "above": (above / abs(above).max()).tolist(),
        "low_a": [float(plane.a[lowest[1]])],
        "low_b": [float(plane.b[lowest[0]])],
        "curvature": shown,
        "turned": [turn],
        "here": [seen],
        "seen": seen,
        "mean": [one.mean] * 2,
        "average": one.mean,
        "least": [one.least] * 2,
        "lowest": one.least,
        "middle": float(here),
        "bottom": float(plane.loss.min()),
        "weights": sum(array.size for array in layer.arrays().values()),
    }


def _shown(one, data, u, drawn):
    """The least curvature of the plane for every turn, per unit of length: the least eigenvalue of
    its Hessian."""
    found, X, y = [], data.X, data.y
    # Three products with the Hessian serve all turns.
    H_u, H_drawn, H_way = (one.layer.hvp(X, y, v) for v in (u, drawn, one.way))
    for degrees in DEGREES:
        v, angle = _towards(one, drawn, degrees), np.radians(degrees)
        # The mixture before it gets its length, and its image: products with the Hessian are
        # linear.
        mixed = np.cos(angle) * drawn + np.sin(angle) * one.way
        image = (np.cos(angle) * H_drawn + np.sin(angle) * H_way) * (
            one.layer.norm() / mixed.norm()
        )
        gram = np.array([[a.dot(b) for b in (u, v)] for a in (u, v)])
        K = np.array([[u.dot(H_u), v.dot(H_u)], [v.dot(H_u), v.dot(image)]])
        found.append(_least_of(K, gram))
    return found


def _least_of(K, G):
    """The least λ with det(K − λ G) = 0, for symmetric 2 × 2 matrices, G positive definite."""
    a = np.linalg.det(G)
    b = K[0, 0] * G[1, 1] + K[1, 1] * G[0, 0] - 2 * K[0, 1] * G[0, 1]
    # a = det G > 0, so the smaller root is the one with the minus.
    return float((b - np.sqrt(b**2 - 4 * a * np.linalg.det(K))) / (2 * a))


_SUMMARY = (
    "The network {network}, random pair {pair}, second direction turned by {turn} degrees. The "
    "smallest curvature of the plane at its center is {seen}. The {weights} eigenvalues have the "
    "mean {average}, and the smallest is {lowest}. The loss is {middle} at the center and at "
    "least {bottom} in the picture, whose radius is {radius} times the norm of the weights."
)
_ALT = (
    "Left, the smallest curvature of a plane through the network {} against the turn of its second "
    "direction, from 0 to 90 degrees: the curve starts between zero and the mean of all "
    "eigenvalues, falls below zero near 60 degrees, and ends at the smallest eigenvalue. Right, a "
    "map of the loss on the plane in eight levels, the lighter the higher: dark in the middle, where "
    "the loss is that of the network, and lighter all around. A disc marks the network, and a star the "
    "minimum in the picture."
)


def _frame():
    frame = panels("smallest curvature of the plane", "loss minus that of the network", height=490)
    line(frame, "smallest curvature of the plane", 1, shows="curvature", over=DEGREES)
    of_all = {"color": ORDERED[-1], "dash": "dot"}
    line(frame, "mean of all eigenvalues", 1, shows="mean", over=(0, 90), **of_all)
    line(frame, "smallest eigenvalue", 1, shows="least", over=(0, 90), dash="dot")
    frame.add_scatter(
        name="here",
        mode="markers",
        row=1,
        col=1,
        marker={"color": INK, "size": 11},
        showlegend=False,
        meta={"x": "turned", "y": "here"},
    )
    # Bars of colors stand at the right of a figure, so the map does too.
    frame.add_heatmap(
        **LEVELS,
        colorbar={"title": "relative"},
        hoverinfo="skip",
        row=1,
        col=2,
        meta={
            "x": "at",
            "y": "at",
            "z": "above",
            "xaxis": {"range": "span"},
            "yaxis": {"range": "span"},
        },
    )
    edge = {"line": {"color": "white", "width": 1}}
    frame.add_scatter(
        x=[0],
        y=[0],
        name="network",
        mode="markers",
        row=1,
        col=2,
        marker=HERE | edge | {"size": 11},
    )
    frame.add_scatter(
        name="minimum in the picture",
        mode="markers",
        row=1,
        col=2,
        marker=MINIMUM | edge | {"size": 15},
        meta={"x": "low_a", "y": "low_b"},
    )
    frame.update_xaxes(title="turn of second direction, degrees", range=[-3, 93], dtick=30, col=1)
    frame.update_xaxes(title="first direction", zeroline=False, col=2)
    return frame.update_yaxes(title="second direction", zeroline=False, col=2)
