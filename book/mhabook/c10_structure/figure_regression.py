"""What the live figures on a linear regression share: the draws that a page carries, starts, rules,
controls."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from livegrad.arrays import Array
from livegrad.live.spec import Control
from livegrad.training import Data, Path, run
from mhalib.data.regression import LinearTruth, RegressionDataset, linear_regression, rotation
from mhalib.models import AttentionRegression
from mhalib.optim import GradientDescent, Preconditioned, StructureAware

FIXED = {"kappa": 16.0, "kappa_M": 4.0, "sigma": 0.1, "radius": 0.5, "share": 0.2}
"""What a figure takes where it has no control for it. Plain descent takes a ``share`` of η: 0.5 is
far too large."""
RULES = {"gd": GradientDescent, "preconditioned": Preconditioned, "structure_aware": StructureAware}
NO_RADIUS = 1e9
"""A radius that no run reaches: JSON has no infinity."""
CONTROLS = (
    Control(
        "optimizer",
        "algorithm",
        tuple(RULES),
        "structure_aware",
        ("gradient descent, η/5", "SA1 step", "SA2"),
        "choice",
    ),
    Control(
        "start", "start", ("random", "spectral"), "random", ("random N(0, 1)", "spectral"), "choice"
    ),
    Control("lr", "step size η", (0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9), 0.5),
    Control("s_max", "sₘₐₓ", (0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0), 0.4),
)
"""What the reader can change in every such figure."""


def sample(values: dict[str, Any], n: int, d: int, seed: int) -> RegressionDataset:
    """The ``RegressionDataset`` for the values of the controls, with as many targets as
    dimensions."""
    kappa, s_max, kappa_M, sigma = (
        (FIXED | values)[name] for name in ("kappa", "s_max", "kappa_M", "sigma")
    )
    return linear_regression(n, d, d, kappa, s_max, kappa_M, sigma, seed)


def start_on(data: RegressionDataset, values: dict[str, Any], seed: int) -> AttentionRegression:
    """N(0, 1) entries, or the spectral start with signs such that each column of V has a positive
    sum.

    With any signs of the columns U and V are balanced factors of the same fit, but of few tokens
    they make different predictions; and which signs a singular value decomposition has is the
    library's affair.
    """
    d = data.x.shape[1]
    if values["start"] == "random":
        return AttentionRegression.random(d, d, seed=seed)
    whitening = data.whitening()
    U, V = whitening.whiten(AttentionRegression.spectral(data))
    signs = np.sign(V.sum(axis=0))
    return AttentionRegression(**whitening.arrays(U * signs, V * signs, data.x))


def path_of(start: AttentionRegression, data: Data, values: dict[str, Any], steps: int) -> Path:
    """The run of the chosen rule, every step recorded, without a warning where it diverges."""
    rule, lr, fixed = RULES[values["optimizer"]], values["lr"], FIXED | values
    if rule is GradientDescent:
        rule = GradientDescent(fixed["share"] * lr)
    else:
        rule = rule(lr, **({"radius": fixed["radius"]} if rule is StructureAware else {}))
    return run(start, data, rule, steps, None, range(steps + 1))


def fitted(curve: Array, length: int) -> np.ndarray:
    """The numbers of another run, cut, or filled up with not-a-number, to a length."""
    return np.concatenate([curve[:length], np.full(max(length - len(curve), 0), np.nan)])


def page_data(n: int, sizes: Sequence[int], seeds: Iterable[int]) -> dict[str, Any]:
    """The draws of ``linear_regression`` as the browser reads them, an instance for each seed.

    Tokens and noise of every d are the first numbers of one stream; rotations are there for each d
    of ``sizes``.
    """
    return {
        "kind": "regression",
        "instances": [_instance(n, sizes, seed, (seed, 1)) for seed in seeds],
    }


def redrawn(n: int, d: int, seed: int, draws: int) -> dict[str, Any]:
    """The draws of ``linear_regression`` as the browser reads them, and of ``fresh(n, seed=k)`` for
    k from 1 on."""
    streams = [(seed, 1), *((seed, 2, k) for k in range(1, draws))]
    return {
        "kind": "regression",
        "instances": [_instance(n, (d,), seed, stream) for stream in streams],
    }


def _instance(n, sizes, seed, stream):
    tokens, noise = (
        np.random.default_rng([*stream, kind]).standard_normal(n * max(sizes)) for kind in range(2)
    )
    rotations = {}
    for d in sizes:
        # linear_regression begins this stream anew for every d, with the three in this order.
        rng = np.random.default_rng([seed, 0])
        rotations[str(d)] = {
            name: rotation(rng, d).ravel().tolist() for name in ("basis", "left", "right")
        }
    return {"tokens": tokens.tolist(), "noise": noise.tolist(), "rotations": rotations}


def streams(d: int, seeds: Iterable[int]) -> dict[str, Any]:
    """The starts as the browser reads them: the draws of ``AttentionRegression.random``, for any d
    up to this one."""
    drawn = [np.random.default_rng([seed, 3]).standard_normal(2 * d * d).tolist() for seed in seeds]
    return {"kind": "side_by_side", "streams": drawn}


def recipe_of(data: Any) -> dict[str, Any]:
    """What ``linear_regression`` was called with, but for n and p = d.

    Raises TypeError if ``data`` are not its samples as it draws them, with as many targets as
    dimensions.
    """
    truth = data.truth if isinstance(data, RegressionDataset) else None
    if isinstance(truth, LinearTruth) and len(truth.M) == len(truth.Sigma) >= 2:
        eigenvalues, s = np.linalg.eigvalsh(truth.Sigma), truth.singular_values
        numbers = {
            "kappa": eigenvalues[-1] / eigenvalues[0],
            "s_max": s[0],
            "kappa_M": s[0] / s[-1],
            "sigma": truth.sigma,
        }
        # 0.4, and no rounding of it
        recipe: dict[str, Any] = {name: float(f"{x:.10g}") for name, x in numbers.items()}
        drawn = linear_regression(len(data), len(s), len(s), **recipe, seed=truth.seed)
        if drawn.x.dtype == data.x.dtype and all(map(_equal, (drawn.x, drawn.y), (data.x, data.y))):
            return recipe | {"d": len(s), "seed": truth.seed}
    raise TypeError(
        "data: expected the samples of a linear_regression as it draws them, with as many "
        "targets as dimensions, because a slider draws them anew; mha.live.figure takes any data"
    )


def _equal(a, b):
    # Σ and M are made again of numbers that were read off them: samples agree up to rounding.
    return np.allclose(a, b, rtol=1e-9, atol=1e-12)
