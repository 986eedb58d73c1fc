"""NTK margins of three starts with four heads, on one dataset and over many: the tables of chapter
3."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from livegrad.arrays import Array
from mhabook.c03_first_step.first_phase import (
    first_phase,
    gaussian_of_equal_norm,
    gaussian_row_of_equal_norm,
    mirrored,
)
from mhabook.c03_first_step.max_margin import good_initialization, max_margin, ntk_margin
from mhalib.data import Dataset, tokenized_mixture
from mhalib.models import MultiHeadAttention

Make: TypeAlias = Callable[[Dataset, int], MultiHeadAttention]
"""Makes a start from a dataset and a seed."""
STARTS: dict[str, Make] = {
    "zero": lambda data, seed: MultiHeadAttention.zeros(4, *data.X.shape[1:]),
    "Gaussian": lambda data, seed: gaussian_of_equal_norm(data, 4, seed),
    "first phase": lambda data, seed: first_phase(data, 4, seed),
}


def without_sampling_noise(data: Dataset, seed: int) -> MultiHeadAttention:
    """One head after the first phase on the mirrored sample; its signs, which no margin knows, are
    always the same."""
    return first_phase(mirrored(data), 1)


def of_start(model: MultiHeadAttention, data: Dataset) -> list[float]:
    """The norm of a head, the largest logit, and the margins of the features in U, in W and in
    both."""
    parts = [ntk_margin(model, data, only).margin for only in ("U", "W", None)]
    return [*good_initialization(model, data)[:2], *parts]


def print_starts(table: Mapping[str, Sequence[float]]) -> None:
    """What ``of_start`` says of each start, a line each."""
    print(
        f"{'start':>12}{'norm of a head':>16}{'largest logit':>15}{'U alone':>9}{'W alone':>9}{'both':>8}"
    )
    for name, row in table.items():
        print(f"{name:>12}{row[0]:16.3f}{row[1]:15.3f}{row[2]:9.3f}{row[3]:9.3f}{row[4]:8.3f}")


def over_datasets(make: Make, sigma: float, n: int = 60, samples: int = 20) -> np.ndarray:
    """The margins of a start on as many ``tokenized_mixture`` of the chapter's sizes with noise σ,
    (samples,)."""
    drawn = (tokenized_mixture(n, 10, 12, 5, 0.2, 2.0, sigma, seed) for seed in range(samples))
    return np.array([ntk_margin(make(each, seed), each).margin for seed, each in enumerate(drawn)])


def by_samples(make: Make, sigma: float, counts: Iterable[int]) -> np.ndarray:
    """``over_datasets`` on five datasets each of so many samples: (numbers of samples, 5)."""
    return np.array([over_datasets(make, sigma, n, 5) for n in counts])


def gain_with_one_gaussian_row(data: Dataset, step: MultiHeadAttention, H: int, seed: int) -> float:
    """Of what ``step`` gains over zero, the share of H heads with one Gaussian row each, repeated,
    as long as its."""
    _, T, d = data.X.shape
    alike = gaussian_row_of_equal_norm(data, H, seed)
    found, zero, after = (
        ntk_margin(model, data).margin for model in (alike, MultiHeadAttention.zeros(1, T, d), step)
    )
    return (found - zero) / (after - zero)


def of_random_labels(sigma: float, samples: int = 10) -> np.ndarray:
    """The margins of one Gaussian head on mirrored samples with noise σ whose labels are dealt out
    anew, (samples,)."""
    found = []
    for seed in range(samples):
        drawn = mirrored(tokenized_mixture(20, 10, 10, 5, 0.2, 2.0, sigma, seed))
        features = gaussian_of_equal_norm(drawn, 1, seed).features(drawn.X)
        found.append(max_margin(features, np.random.default_rng(seed).permutation(drawn.y)).margin)
    return np.array(found)


def print_noise(table: Mapping[tuple[str, float], np.ndarray]) -> None:
    """The least, the middle and the largest margin of each start without noise and with noise 0.5,
    a line a start."""
    print(f"{'start':>12}{'no noise':>24}{'noise 0.5':>24}")
    for name in STARTS:
        cells = [np.quantile(table[name, sigma], [0, 0.5, 1]) for sigma in (0.0, 0.5)]
        print(
            f"{name:>12}"
            + "".join(f"{low:10.3f}{middle:7.3f}{high:7.3f}" for low, middle, high in cells)
        )


def of_machine(machine: Any, K: Array) -> float:
    """1/√(Σ a_i a_j K_ij) for the signed dual weights a of a fitted ``sklearn.svm.SVC``: its
    margin, with a bias."""
    support, dual = machine.support_, machine.dual_coef_[0]
    # ‖w‖² = aᵀKa, and the margin of a hard-margin machine is 1/‖w‖.
    return float(1 / np.sqrt(dual @ K[np.ix_(support, support)] @ dual))
