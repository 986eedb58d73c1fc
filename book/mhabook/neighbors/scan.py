"""Neighbor "Scan and snap": attention over token identities, trained to predict the next token."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from livegrad.arrays import Array
from mhabook import plots
from mhalib.attention import softmax

NEXT = 5
"""Next tokens K. The tokens are a common one and two distinct ones for each: M = 2K + 1."""
TOKENS = {"common": 0.5, "distinct, frequent": 0.3, "distinct, rare": 0.2}
"""Which share of its sequences a token has."""
STEPS, ATTENTION_LR = 2_000, 0.1


@dataclass(frozen=True)
class Setting:
    """The step size of the decoder, and whether the head's output is scaled to length 1."""

    decoder_lr: float
    scaled: bool = True


SETTINGS = {
    "decoder as fast": Setting(ATTENTION_LR),
    "decoder 10 times as fast": Setting(10 * ATTENTION_LR),
    "decoder 100 times as fast": Setting(100 * ATTENTION_LR),
    "10 times as fast, not scaled": Setting(10 * ATTENTION_LR, scaled=False),
}


def log_frequencies(common: float = 0.5, frequent: float = 0.3) -> np.ndarray:
    """log P (K, M), P_nl the share of token l in sequences before the next token n.

    The common token is l = 0. Tokens that do not occur have −∞.
    """
    P = np.zeros((NEXT, 2 * NEXT + 1))
    P[:, 0] = common
    for n in range(NEXT):
        P[n, 2 * n + 1 : 2 * n + 3] = frequent, 1 - common - frequent
    with np.errstate(divide="ignore"):
        return np.log(P)


def attended(z: Array, log_P: Array) -> np.ndarray:
    r"""The attention c (K, M) that a token gets in all its places of an infinitely long sequence.

    .. math:: c_{nl} = \frac{P_{nl}\, e^{z_l}}{\sum_k P_{nk}\, e^{z_k}}

    with the scores z (M,) that the query, the same in all sequences, gives the tokens.
    """
    return softmax(log_P + z)


def likelihood_slopes(Y: Array, c: Array, scaled: bool = True) -> tuple[np.ndarray, np.ndarray]:
    r"""The gradients in the decoder Y (M, K) and in the scores z (M,), at attention c (K, M), of

    .. math:: \frac1K \sum_n \log \mathrm{softmax}(Y^\top f_n)_n, \qquad f_n = c_n/\|c_n\|

    or, if not ``scaled``, with f_n = c_n.  Source: Tian et al. 2023, Lemma 1, for a full batch.
    """
    length = np.linalg.norm(c, axis=1, keepdims=True) if scaled else np.ones((len(c), 1))
    f = c / length
    residuals = (np.eye(len(c)) - softmax(f @ Y)) / len(c)
    df = residuals @ Y.T
    if scaled:  # to move along f changes no direction
        df = df - f * (f * df).sum(axis=1, keepdims=True)
    return f.T @ residuals, softmax.vjp(c, df / length).sum(axis=0)


def attention_path(setting: Setting, log_P: Array, steps: int = STEPS) -> np.ndarray:
    """The attention (steps + 1, K, M) over a run of ascent from Y = 0 and z = 0."""
    K, M = log_P.shape
    Y, z, path = np.zeros((M, K)), np.zeros(M), []
    for _ in range(steps + 1):
        path.append(attended(z, log_P))
        dY, dz = likelihood_slopes(Y, path[-1], setting.scaled)
        Y, z = Y + setting.decoder_lr * dY, z + ATTENTION_LR * dz
    return np.array(path)


def scan_paths(settings: Mapping[str, Setting] = SETTINGS) -> dict[str, np.ndarray]:
    """Setting → the attention (steps + 1, 3) on the three tokens of a sequence."""
    log_P = log_frequencies()
    return {name: attention_path(setting, log_P)[:, 0, :3] for name, setting in settings.items()}


def scan_figure(paths: Mapping[str, np.ndarray]) -> go.Figure:
    """Attention over steps, from step 1 on, a panel a setting."""
    at = np.unique(np.geomspace(1, STEPS, 120).astype(int))
    panels, ends = {}, []
    for name, path in paths.items():
        panels[name] = {f"attention, {token}": path[None, at, k] for k, token in enumerate(TOKENS)}
        common, frequent, rare = path[-1]
        ends.append(f"{name}: common {common:.2f}, frequent {frequent:.2f}, rare {rare:.2f}")
    alt = (
        "Four panels of attention over the steps 1 to 2,000, on a logarithmic axis. In each the "
        "common token falls from 0.5 and the frequent distinct one rises from 0.3. "
        f"At step 2,000: {'; '.join(ends)}."
    )
    return plots.multiples(at, panels, span=(0.0, 1.0), title="Attention on three tokens", alt=alt)
