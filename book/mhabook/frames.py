"""What the live figures of several chapters share beside ``mhalib.live``."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeAlias

from mhalib.data.mixture import Mixture, MixtureDraws
from mhalib.live.spec import Control

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


def mixture_draws(mixture: Mixture, draws: MixtureDraws) -> dict[str, Any]:
    """The draws of a ``Mixture`` as the browser reads them: it assembles X for any ζ and σ."""
    n, T, d = draws.normal.shape
    flat = {name: getattr(draws, name).ravel().tolist() for name in ("sign", "rank", "pattern", "normal")}
    return {"kind": "mixture", "n": n, "T": T, "d": d, "mu": mixture.mu.ravel().tolist(),
            "nu": mixture.nu.ravel().tolist(), **flat}
