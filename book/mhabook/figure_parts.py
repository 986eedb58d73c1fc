"""What live figures of several chapters read of the data, the start and the rule that a notebook
hands them, and the mark of a query."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from livegrad.live.frames import RULES
from livegrad.live.spec import Control
from mhalib.data import Dataset
from mhalib.data.mixture import Mixture, tokenized_mixture
from mhalib.models import MultiHeadAttention
from mhalib.models.multihead import normals
from mhalib.optim import GradientDescent
from mhalib.plots import INK

Measures: TypeAlias = dict[str, Callable[..., Any]]
"""Name → function of (path, values)."""
QUERY = {"symbol": "triangle-up-open", "size": 12, "color": INK, "line": {"width": 2}}
"""A query is a triangle, as in the drawings."""
SCALINGS = {"constant": "η", "root": "η √H"}


def scaling_control(label: str = "step size") -> Control:
    """The menu of how the step size goes with the number of heads."""
    return Control(
        "scaling", label, tuple(SCALINGS), "constant", tuple(SCALINGS.values()), "choice"
    )


def together(names: Iterable[str], compute: Callable[[dict[str, Any]], dict[str, Any]]) -> Measures:
    """Measures of the values alone that are computed at once: name → what ``compute(values)`` has
    under it."""
    # A dict cannot be hashed, its items can: all measures of the same values share one computation.
    once = cache(lambda items: compute(dict(items)))
    # name=name: without it every lambda would see the last name.
    return {
        name: lambda path, values, name=name: once(tuple(values.items()))[name] for name in names
    }


def mixture_draws(mixture: Mixture, n: int, stream: tuple[int, ...]) -> dict[str, Any]:
    """The n samples of a stream as the browser reads them: it draws them, and assembles X for any ζ
    and σ."""
    M, d = mixture.nu.shape
    return {
        "kind": "mixture",
        "n": n,
        "T": mixture.T,
        "d": d,
        "M": M,
        "stream": list(stream),
        "mu": mixture.mu.ravel().tolist(),
        "nu": mixture.nu.ravel().tolist(),
    }


def mixture_of(data: Dataset) -> Mixture:
    """The mixture of a figure that draws its samples anew.

    Raises TypeError if ``data`` are not the samples of a ``tokenized_mixture`` as it draws them.
    """
    mixture = getattr(data, "truth", None)
    if isinstance(mixture, Mixture):
        # All patterns have the length S, which a mixture does not store.
        (M, d), S = mixture.nu.shape, float(np.linalg.norm(mixture.nu[0]))
        drawn = tokenized_mixture(
            len(data),
            mixture.T,
            d,
            M,
            mixture.n_relevant / mixture.T,
            S,
            mixture.sigma,
            mixture.seed,
        )
        # S comes back from a norm, so the samples agree up to rounding and not bit by bit.
        if drawn.X.shape == data.X.shape and np.allclose(drawn.X, data.X, rtol=1e-12, atol=1e-12):
            return mixture
    raise TypeError(
        "data: expected the samples of a tokenized_mixture as it draws them, because sliders "
        "draw them anew; mha.live.heads(data) takes any Dataset"
    )


def zero_heads(start: Any) -> MultiHeadAttention:
    """The start of a figure that trains from zero.

    Raises TypeError if it is another model.
    """
    if type(start) is not MultiHeadAttention or start.norm() != 0:
        raise TypeError(
            "start: expected MultiHeadAttention.zeros(H, T, d), got another model; "
            "mha.live.figure takes any"
        )
    return start


def drawn_heads(start: Any, seed: int = 0) -> float:
    """The scale of the random start of a figure, which is ``MultiHeadAttention.random(H, T, d,
    scale, seed)``.

    Raises TypeError if it is another model.
    """
    if type(start) is MultiHeadAttention and start.norm() != 0:
        drawn = normals(start.W.size + start.U.size, seed)
        entries = np.concatenate([np.ravel(start.W), np.ravel(start.U)])
        # 0.3, not the 0.30000000000000004 of a division
        scale = float(f"{entries[0] / drawn[0]:.12g}")
        # No absolute tolerance: within one, any model of a small enough scale would pass.
        if np.allclose(entries, scale * drawn, rtol=1e-12, atol=0):
            return scale
    raise TypeError(
        f"start: expected MultiHeadAttention.random(H, T, d, scale, seed={seed}), got another "
        "model; mha.live.figure takes any"
    )


def plain_step(rule: Any) -> float:
    """The step size of a figure that trains by gradient descent and has it on a slider.

    Raises TypeError if the rule is another one.
    """
    if type(rule) is not GradientDescent or callable(rule.lr):
        raise TypeError(
            f"rule: expected GradientDescent with a number as its step size, got {rule!r}; "
            "mha.live.figure takes other rules"
        )
    return float(rule.lr)


def with_value(values: Iterable[Any], value: Any) -> tuple[Any, ...]:
    """The values of a slider, with the one of the run among them."""
    return tuple(sorted({*values, value}))


def rule_name(rule: Any) -> str:
    """Under which name a figure that takes a rule has it, "gd", "momentum" or "adam".

    Raises TypeError if it is another rule, or has more than its step size set.
    """
    for name, kind in RULES.items():
        # type and not isinstance: a subclass may step otherwise than the browser does.
        if type(rule) is kind and not callable(rule.lr) and rule == kind(rule.lr):
            return name
    raise TypeError(
        "rule: expected GradientDescent, Momentum or Adam with a number as its step size and "
        f"nothing else set, got {rule!r}; mha.live.figure takes other rules"
    )
