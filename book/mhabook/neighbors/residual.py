"""Neighbor "Residual against rank": what a skip does to the output of an attention layer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from livegrad.arrays import Array
from mhalib.attention import Gaussian, Softmax, gaussian, softmax
from mhalib.data import random_sequences
from mhalib.models import AttentionLayer

N, TOKENS, D, WIDTH = 8, 4, 48, 8
"""Samples, tokens of each, dimensions of a token, and of a query: those of chapter 13."""
KERNELS: dict[str, Softmax | Gaussian | None] = {
    "none": None,
    "softmax": softmax,
    "Gaussian": gaussian,
}
"""How tokens are mixed; with "none" each token sees itself alone, S = I."""
STEPS, LAYERS = 300, 3
"""Steps of the readout, and how many layers the tokens pass for the last column."""


@dataclass(frozen=True)
class SkipRow:
    """What was measured under one kernel, without or with skips, one entry a draw."""

    kernel: str
    skip: bool
    ratio: np.ndarray
    left: np.ndarray
    rank_left: np.ndarray


def square_values(D: int, seed: int = 0) -> np.ndarray:
    """A value matrix W^V (D, D) with entries N(0, 1/D): square, so that X + S X W^V exists."""
    return np.random.default_rng([seed, 6]).standard_normal((D, D)) / D**0.5


def layer_output(X: Array, kernel: str, skip: bool, seed: int) -> np.ndarray:
    """S X W^V, or X + S X W^V, (N, n, D) of tokens X (N, n, D), with random queries and keys.

    Raises KeyError if there is no such kernel.
    """
    size, found = X.shape[-1], KERNELS[kernel]
    seen = X
    if found is not None:
        head = AttentionLayer.random(D=size, d=WIDTH, m=1, kernel=found, seed=seed)
        seen = head.weights(X)[:, 0] @ X
    output = seen @ square_values(size, seed)
    return X + output if skip else output


def singular_ratio(output: Array) -> float:
    """σ_min/σ_max of the matrix that has all tokens of all samples (N, n, D) as its rows."""
    values = np.linalg.svd(output.reshape(-1, output.shape[-1]), compute_uv=False)
    return float(values[-1] / values[0])


def readout_left(output: Array, y: Array, steps: int = STEPS) -> float:
    r"""Which share of the loss is left after descent on a readout w from zero, by steps of 1/L.

    .. math:: f(w) = \tfrac1{2N} \|Ow - y\|^2, \qquad
              f_t \le (1 - \sigma_{\min}^2/\sigma_{\max}^2)^{2t} f_0

    with the rows of O (N n, D) linearly independent, and targets y (N, n, 1).

    Source: this book, the proof of Theorem "Training the values must succeed", with O for B.
    """
    seen, target = output.reshape(-1, output.shape[-1]), y.reshape(-1)
    w, step = np.zeros(seen.shape[1]), 1 / np.linalg.norm(seen, 2) ** 2
    for _ in range(steps):
        w = w - step * seen.T @ (seen @ w - target)
    return float(((seen @ w - target) ** 2).sum() / (target**2).sum())


def second_singular(X: Array) -> float:
    """σ₂/σ₁ of the n × D tokens of a sample, the median over samples (N, n, D): 0 for rank one."""
    values = np.linalg.svd(X, compute_uv=False)
    return float(np.median(values[:, 1] / values[:, 0]))


def stacked_layers(X: Array, kernel: str, skip: bool, layers: int, seed: int) -> np.ndarray:
    """The tokens (N, n, D) after some layers, each with random weights of its own."""
    for depth in range(layers):
        X = layer_output(X, kernel, skip, seed=1000 * seed + depth)
    return X


def skip_rows(draws: Iterable[int] = range(8)) -> list[SkipRow]:
    """Every kernel without and with skips, on the same tokens and targets; a draw is a seed."""
    rows = []
    for kernel in KERNELS:
        for skip in (False, True):
            measured = [_one_draw(kernel, skip, seed) for seed in draws]
            rows.append(SkipRow(kernel, skip, *np.transpose(measured)))
    return rows


def _one_draw(kernel, skip, seed):
    data = random_sequences(N=N, n=TOKENS, D=D, seed=seed)
    output = layer_output(data.X, kernel, skip, seed=1000 * seed)
    deep = stacked_layers(data.X, kernel, skip, LAYERS, seed)
    return singular_ratio(output), readout_left(output, data.y), second_singular(deep)


def skip_table(rows: Sequence[SkipRow]) -> None:
    """Print the medians over draws, a line a kernel without or with skips."""
    print(f"{'':16}{'one layer':>12}{'loss left':>18}{f'{LAYERS} layers':>12}")
    print(f"{'kernel    skip':16}{'σmin/σmax':>12}{f'after {STEPS} steps':>18}{'σ2/σ1':>12}")
    for row in rows:
        ratio, left, rank = (np.median(part) for part in (row.ratio, row.left, row.rank_left))
        name = f"{row.kernel:10}{'yes' if row.skip else 'no':6}"
        print(f"{name}{ratio:12.0e}{left:18.0e}{rank:12.0e}")
