"""What softmax makes of three scores, in Python and in the live figure of its page."""

import numpy as np

from livegrad.arrays import Array
from livegrad.record import Program
from mhalib.attention import softmax

READ = np.array([2.0, 1.0, -1.0])
"""What the three tokens read."""


def scores(
    s1: Array, s2: Array, s3: Array, shift: Array, tau: Array, first: Array
) -> dict[str, Array]:
    """Of three scores, moved by ``shift`` and divided by ``tau``, and of other first ones, (q,).

    −log π₁; the weights π (3,); diag(π) − ππᵀ; the attention mean, its slope along a₁, which is the
    covariance of what is read with the first token, divided by τ, and the variance of what is read;
    a piece of the tangent, of length 2: its ends along the axis, and its heights there; the mean
    over ``first`` (q,).
    """

    def weights(one):
        return softmax((np.stack([one, s2 + 0 * one, s3 + 0 * one], axis=-1) + shift) / tau)

    pi = weights(s1)
    mean, tilt = pi @ READ, softmax.vjp(pi, READ)[0] / tau
    ends = np.array([-1.0, 1.0]) / (1 + tilt * tilt) ** 0.5
    return {
        "loss": -np.log(pi[0]),
        "weights": pi,
        "jacobian": softmax.vjp(pi, np.eye(3)),
        "mean": mean,
        "tilt": tilt,
        "variance": pi @ (READ - mean) ** 2,
        "tangent": s1 + ends,
        "tangent_mean": mean + ends * tilt,
        "over": weights(first) @ READ,
    }


def program() -> Program:
    """``scores``."""
    given = dict.fromkeys(("s1", "s2", "s3", "shift", "tau"), "") | {"first": "q"}
    return Program(lambda a: {"scores": scores(**{name: a[name] for name in given})}, given, "q")
