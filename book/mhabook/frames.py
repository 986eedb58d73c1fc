"""What the live figures of several chapters share beside ``mhalib.live``."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from mhalib.data import Dataset
from mhalib.data.mixture import Mixture, tokenized_mixture
from mhalib.live.spec import Control
from mhalib.models import MultiHeadAttention

Measures: TypeAlias = dict[str, Callable[..., Any]]
"""Name → function of (path, values)."""
SCALINGS = {"constant": "η", "root": "η √H"}


def scaling_control(label: str = "step size") -> Control:
    """The menu of how the step size goes with the number of heads."""
    return Control("scaling", label, tuple(SCALINGS), "constant", tuple(SCALINGS.values()), "choice")


def together(names: Iterable[str], compute: Callable[[dict[str, Any]], dict[str, Any]]) -> Measures:
    """Measures of the values alone that are computed at once: name → what ``compute(values)`` has under it."""
    once = cache(lambda items: compute(dict(items)))
    return {name: lambda path, values, name=name: once(tuple(values.items()))[name] for name in names}


def mixture_draws(mixture: Mixture, n: int, stream: tuple[int, ...]) -> dict[str, Any]:
    """The n samples of a stream as the browser reads them: it draws them, and assembles X for any ζ and σ."""
    M, d = mixture.nu.shape
    return {"kind": "mixture", "n": n, "T": mixture.T, "d": d, "M": M, "stream": list(stream),
            "mu": mixture.mu.ravel().tolist(), "nu": mixture.nu.ravel().tolist()}


def mixture_of(data: Dataset) -> Mixture:
    """The mixture of a figure that draws its samples anew.

    Raises TypeError if ``data`` are not the samples of a ``tokenized_mixture`` as it draws them.
    """
    mixture = getattr(data, "truth", None)
    if isinstance(mixture, Mixture):
        (M, d), S = mixture.nu.shape, float(np.linalg.norm(mixture.nu[0]))
        drawn = tokenized_mixture(len(data), mixture.T, d, M, mixture.n_relevant / mixture.T, S, mixture.sigma,
                                  mixture.seed)
        if drawn.X.shape == data.X.shape and np.allclose(drawn.X, data.X, rtol=1e-12, atol=1e-12):
            return mixture
    raise TypeError("data: expected the samples of a tokenized_mixture as it draws them, because sliders draw them "
                    "anew; mha.live.heads(data) takes any Dataset")


def zero_heads(start: Any) -> MultiHeadAttention:
    """The start of a figure that trains from zero.

    Raises TypeError if it is another model.
    """
    if type(start) is not MultiHeadAttention or start.norm() != 0:
        raise TypeError("start: expected MultiHeadAttention.zeros(H, T, d), got another model; mha.live.figure takes "
                        "any")
    return start
