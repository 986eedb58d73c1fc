"""What conditioning costs near the optimum: steps to an excess of 10⁻¹⁰ from a perturbed optimum,
infinite data.

``python book/results/conditioning.py`` writes conditioning.npz (some two minutes of one core). A
row is one instance (κ(Σ), seed; d = p = 5, s_max = 0.4, κ = 4): every entry of U* and V* is
multiplied by 1 + 0.3 z with standard normal z. Each method gets the best constant step size of a
grid of factor 1.1: ``one`` is gradient descent in (A, B), ``two`` the same with a second step size
for B, ``whitened`` gradient descent on Q in (U, V). ``condition`` is the ratio of the largest to
the smallest nonzero eigenvalue of the Hessian at the optimum in the coordinates of ``one``.
"""

import numpy as np

import mhalib as mha
from mhabook.c10_structure.factorization import gradient, optimum
from mhabook.c10_structure.population import PopulationRegression
from mhabook.studies import write_tables

TARGET, MOST = 1e-10, 6000
RATES = 0.02 * 1.1 ** np.arange(60)
RATIOS = 2.0 ** np.arange(-4, 5)


def run(*, kappa, seed):
    """One instance: the least number of steps of each method, and its step size."""
    data = mha.data.linear_regression(n=1, d=5, p=5, kappa=kappa, s_max=0.4, kappa_M=4, seed=seed)
    N, inverse = data.M @ data.truth.root, np.linalg.inv(data.truth.root)
    # a stream of its own, apart from the instance of the same seed
    rng = np.random.default_rng([seed, 104])
    U, V = (part * (1 + 0.3 * rng.standard_normal(part.shape)) for part in optimum(N))
    A, B = U @ inverse, inverse @ V @ inverse
    row = {"condition": condition(data, N, inverse)}
    for name, found in {
        "one": plain(A, B, data, np.ones(1)),
        "two": plain(A, B, data, RATIOS),
        "whitened": whitened(U, V, N),
    }.items():
        row |= dict(zip((name, f"{name}_rate"), found, strict=True))
    return row


def plain(A, B, data, ratios):
    """Gradient descent in (A, B) with step sizes η and η·ratio, all pairs side by side."""
    rates, ratio = (grid.ravel()[:, None, None] for grid in np.meshgrid(RATES, ratios))

    def step(A, B):
        away = A @ data.Sigma @ B.mT - data.M
        E = away @ data.Sigma
        moved = A - rates * E @ B @ data.Sigma, B - rates * ratio * E.mT @ A @ data.Sigma
        return (E * away).sum(axis=(1, 2)) / 2, *moved

    return fewest(A, B, step, rates)


def whitened(U, V, N):
    """Gradient descent on Q in (U, V), all step sizes side by side."""
    rates = RATES[:, None, None]

    def step(U, V):
        dU, dV = gradient(U, V, N)
        return ((U @ V.mT - N) ** 2).sum(axis=(1, 2)) / 2, U - rates * dU, V - rates * dV

    return fewest(U, V, step, rates)


def fewest(first, second, step, rates):
    """The least number of steps to the target, and the step size that needs it."""
    first, second = (np.repeat(part[None], len(rates), axis=0) for part in (first, second))
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(MOST + 1):
            excess, first, second = step(first, second)
            if (excess < TARGET).any():
                return k, float(rates.ravel()[np.nanargmin(excess)])
    return MOST, np.nan


def condition(data, N, inverse):
    """Largest over smallest nonzero eigenvalue of the Hessian of the excess in (A, B) at the
    balanced optimum."""
    U, V = optimum(N)
    model = PopulationRegression(U @ inverse, inverse @ V @ inverse)
    size, columns = model.A.size, []
    for unit in np.eye(size + model.B.size):
        there = model.with_arrays(
            A=unit[:size].reshape(model.A.shape), B=unit[size:].reshape(model.B.shape)
        )
        image = model.hvp(data.Sigma, data.M, there)
        columns.append(np.concatenate([image.A.ravel(), image.B.ravel()]))
    eigenvalues = np.linalg.eigvalsh(np.array(columns))
    # what is left out is zero but for rounding: directions in which A Σ Bᵀ stays as it is
    return float(eigenvalues[-1] / eigenvalues[eigenvalues > 1e-9 * eigenvalues[-1]][0])


if __name__ == "__main__":
    write_tables(__file__, __doc__, conditioning=(run, {"kappa": [1.0, 16.0, 256.0]}, 5))
