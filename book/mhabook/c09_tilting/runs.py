"""The stored errors of chapter 9 and their slopes, and what its figures draw of tokens with other
densities."""

from collections.abc import Mapping

import numpy as np

from mhabook.c09_tilting.statements import exponent
from mhabook.tables import stored
from mhalib.models import AttentionRegression

VS = [0.5, 0.5**0.5, 0.8, 1.0, 1.4, 2.0]


def drawn_errors() -> tuple[np.ndarray, dict[float, np.ndarray]]:
    """Numbers of tokens (n,), and v → the squared errors of 100 draws (100, n)."""
    runs = stored("exponents.npz")
    return runs["n"][0], {v: runs.where(v=v)["error"] for v in VS}


def exact_errors() -> tuple[np.ndarray, dict[float, np.ndarray]]:
    """Numbers of tokens (n,), of which the first are those of the draws, and v → the exact mean
    squared errors (n,)."""
    exact = stored("exponents_exact.npz")
    return exact["n"][0], {v: exact.where(v=v)["error"][0] for v in VS}


def slope(ns: np.ndarray, values: np.ndarray) -> float:
    """The slope of ln(values) over ln n from the fifth number of tokens on."""
    return np.polyfit(np.log(ns[4:]), np.log(values[4 : len(ns)]), 1)[0]


def spread(ns: np.ndarray, errors: np.ndarray) -> float:
    """The standard error of the slope of the mean: its deviation over 200 resamples of the
    draws."""
    # Whole draws are resampled: the samples of one draw are nested, and their errors go together.
    resample = np.random.default_rng(0).integers(0, 100, (200, 100))
    return float(np.std([slope(ns, errors[rows].mean(axis=0)) for rows in resample]))


def slopes_table(
    ns: np.ndarray, errors: Mapping[float, np.ndarray], true: Mapping[float, np.ndarray]
) -> None:
    """Print the slopes of the means, of the exact errors and of the medians, and the derived
    exponents."""
    lines = ["     v  mean of 100 draws    exact   median  derived"]
    for v in VS:
        mean, median = (slope(ns, middle(errors[v], axis=0)) for middle in (np.mean, np.median))
        lines += [
            f"{v:6.3f}  {mean:8.3f} ± {spread(ns, errors[v]):.3f}  {slope(ns, true[v]):7.3f}  "
            f"{median:7.3f}  {exponent(v):7.3f}"
        ]
    print(*lines, sep="\n")


def steepness(
    sizes: np.ndarray, true: Mapping[float, np.ndarray]
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Minus the slopes of the exact errors from one number of tokens to the next, and the derived
    exponents."""
    middle, vs = np.sqrt(sizes[1:] * sizes[:-1]), (0.5, 0.5**0.5, 1.0, 2.0)
    lines = {
        f"v = {v:.3g}": (middle, -np.diff(np.log(true[v])) / np.diff(np.log(sizes))) for v in vs
    }
    levels = np.concatenate([[-exponent(v)] * 2 + [np.nan] for v in vs])
    return lines | {"derived slope": (np.tile([middle[0], middle[-1], np.nan], len(vs)), levels)}


def densities(g: np.ndarray) -> dict[str, np.ndarray]:
    """A normal and a uniform density of variance 1 on a grid with steps of 1/20, each also tilted
    by exp(1.5 g)."""
    plain = {
        "normal": np.exp(-(g**2) / 2) / np.sqrt(2 * np.pi),
        "uniform": (abs(g) <= np.sqrt(3)) / np.sqrt(12),
    }
    tilt = np.exp(1.5 * g)
    return {
        name: density
        for kind, one in plain.items()
        for name, density in (
            (kind, one),
            (f"{kind}, tilted by attention", one * tilt / (one * tilt).sum() / 0.05),
        )
    }


def other_tokens() -> dict[str, tuple[np.ndarray, float]]:
    """100,000 tokens of variance 1 from each of four densities, and the mean that a query at 1 has
    in the limit."""
    rng = np.random.default_rng(0)
    # The limits are the derivatives of ln E e^{tx} at t = 1; Student's tokens have no such moment.
    return {
        "Gaussian": (rng.standard_normal(100_000), 1.0),
        "uniform": (rng.uniform(-(3**0.5), 3**0.5, 100_000), float(3**0.5 / np.tanh(3**0.5) - 1)),
        "Laplace": (rng.laplace(0, 0.5**0.5, 100_000), 1 / (1 - 0.5)),
        "Student, 5 degrees": (rng.standard_t(5, 100_000) * 0.6**0.5, np.inf),
    }


def at_one(tokens: np.ndarray) -> tuple[float, float]:
    """The attention mean of tokens (n,) for a query at 1 whose scores are the tokens, and the
    effective tokens."""
    one = (np.ones((1, 1)), tokens[:, None])
    unit = AttentionRegression(A=np.ones((1, 1)), B=np.ones((1, 1)))
    return float(unit.means(*one)[0, 0]), float(unit.effective_tokens(*one)[0])
