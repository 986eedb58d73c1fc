"""The linear regression of Part II: Gaussian tokens, linear targets, and conditioning that is
chosen."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from livegrad.arrays import (
    LARGE,
    Array,
    as_like,
    require,
    require_count,
    require_number,
    require_same_dtype,
    require_seed,
)
from livegrad.console import printed
from livegrad.foreign import converted
from mhalib.data.dataset import Samples
from mhalib.whitening import Whitening


@printed
@dataclass(frozen=True, eq=False, repr=False)
class RegressionDataset(Samples):
    """Tokens x (n, d) with targets y (n, p); every token is one sample, and all n tokens are the
    context of each.

    ``Sigma`` (d, d), ``M`` (p, d) and ``sigma`` are the covariance of the tokens, the regression
    matrix and the noise, where they are known. ``truth`` is the object that made the data; it can
    draw ``fresh`` samples.
    """

    x: Array
    y: Array
    truth: Any = None

    @property
    def X(self) -> Array:
        """The tokens x, under the name that ``train`` asks for."""
        return self.x

    @property
    def Sigma(self) -> np.ndarray | None:
        """Covariance Σ (d, d) of the tokens, or None."""
        return getattr(self.truth, "Sigma", None)

    @property
    def M(self) -> np.ndarray | None:
        """Regression matrix M (p, d), or None."""
        return getattr(self.truth, "M", None)

    @property
    def sigma(self) -> float | None:
        """Standard deviation σ of the noise of each target, or None."""
        return getattr(self.truth, "sigma", None)

    def __repr__(self) -> str:
        (n, d), p = self.x.shape, self.y.shape[1]
        return f"RegressionDataset(n={n}, d={d}, p={p}, from {self._source}, {self.x.dtype})"

    def map(self, function: Callable[[Array], Array]) -> Self:
        """The same data with ``function`` applied to x and y: ``data.map(torch.as_tensor)``."""
        return replace(self, x=function(self.x), y=function(self.y))

    def whitening(self) -> Whitening:
        """The ``Whitening`` of these tokens, by their own second moment Σ̂; refused where that is
        singular."""
        return Whitening.of(self.x)

    def population(self) -> "Population":
        """The ``Population`` behind these samples, where it is known, in their library and
        dtype."""
        if self.Sigma is None or self.M is None:
            raise ValueError(
                "population: expected a dataset made by mhalib.data.linear_regression; "
                "of one made from arrays Σ and M are not known"
            )
        return Population(*(as_like(a, self.x) for a in (self.Sigma, self.M)), self.truth)


@dataclass(frozen=True, eq=False, repr=False)
class Population:
    """Infinitely many samples of a ``LinearTruth``: what a model of the population loss trains on,
    with X = Σ and y = M.

    ``Sigma`` (d, d) and ``M`` (p, d) are the covariance of the tokens and the regression matrix.
    """

    Sigma: Array
    M: Array
    truth: Any = None

    infinite: ClassVar[bool] = True
    """The rows of X and y are no samples, of which a batch could be made."""

    @property
    def X(self) -> Array:
        """Σ, under the name that ``train`` asks for."""
        return self.Sigma

    @property
    def y(self) -> Array:
        """M, under the name that ``train`` asks for."""
        return self.M

    def map(self, function: Callable[[Array], Array]) -> Self:
        """The same with ``function`` applied to Σ and M: ``population.map(torch.as_tensor)``."""
        return replace(self, Sigma=function(self.Sigma), M=function(self.M))

    def __repr__(self) -> str:
        source = "arrays" if self.truth is None else type(self.truth).__name__
        return f"Population(d={len(self.Sigma)}, p={len(self.M)}, from {source})"

    def whitening(self) -> Whitening:
        """The ``Whitening`` of Σ itself."""
        return Whitening.roots(self.Sigma)


@dataclass(frozen=True, eq=False)
class LinearTruth:
    """y = M x + w with x ~ N(0, Σ) and w ~ N(0, σ² I), ready to ``sample``.

    ``root`` (d, d) is the symmetric Σ^{1/2}, ``singular_values`` those of M Σ^{1/2}, in falling
    order.
    """

    Sigma: np.ndarray
    M: np.ndarray
    sigma: float
    root: np.ndarray
    singular_values: np.ndarray
    seed: int

    @classmethod
    def of(
        cls,
        basis: Array,
        eigenvalues: Array,
        left: Array,
        singular_values: Array,
        right: Array,
        sigma: float,
        seed: int,
    ) -> Self:
        """Σ = Q diag(λ) Qᵀ, M Σ^{1/2} = P diag(s) Rᵀ of ``basis`` Q (d, d), ``left`` P (p, k),
        ``right`` R (d, k)."""
        root, inverse = (basis * eigenvalues**power @ basis.T for power in (0.5, -0.5))
        Sigma, M = basis * eigenvalues @ basis.T, left * singular_values @ right.T @ inverse
        return cls(Sigma, M, sigma, root, singular_values, seed)

    def sample(self, n: int, seed: int) -> RegressionDataset:
        """n new samples; no two instances, and no two seeds, share their draws."""
        require_seed(seed)
        return self.draw(n, (self.seed, 2, seed))

    def draw(self, n: int, seed: tuple[int, ...]) -> RegressionDataset:
        """The ``RegressionDataset`` of n samples from the streams of ``seed``, a tuple of
        integers."""
        require_count(n=n)
        tokens, noise = (
            np.random.default_rng([*seed, kind]).standard_normal((n, size))
            # M is (p, d): reversed, the tokens' d comes first and the noise's p second.
            for kind, size in enumerate(self.M.shape[::-1])
        )
        return RegressionDataset(*self.assembled(tokens, noise), self)

    def assembled(self, tokens: Array, noise: Array) -> tuple[Array, Array]:
        """x (n, d) and y (n, p) of N(0, 1) draws of their shapes."""
        x = tokens @ self.root
        return x, x @ self.M.T + self.sigma * noise


def linear_regression(
    n: int = 1000,
    d: int = 5,
    p: int = 5,
    kappa: float = 16.0,
    s_max: float = 0.4,
    kappa_M: float = 4.0,
    sigma: float = 0.1,
    seed: int = 0,
) -> RegressionDataset:
    """n tokens x ~ N(0, Σ) in R^d with targets y = M x + w in R^p, w ~ N(0, σ² I).

    Σ has geometrically spaced eigenvalues with condition number ``kappa`` and trace d, in a random
    basis. M Σ^{1/2} has the min(p, d) singular values s_max, …, s_max/kappa_M, geometrically
    spaced, between random bases.

    Raises ValueError if a size is no whole number ≥ 1, or a number is outside of its range.

    Returns a ``RegressionDataset``: x (n, d), y (n, p), Sigma (d, d), M (p, d), and truth, the
    ``LinearTruth`` behind them.

    Parameters
    ----------
    n, d, p : numbers of samples, dimensions and targets
    kappa : condition number of Σ, ≥ 1; not read where d = 1, for then Σ is one number
    s_max : largest singular value of M Σ^{1/2}, ≥ 0; 0 is the regression that explains nothing
    kappa_M : ratio of its largest to its smallest one, ≥ 1; not read where min(p, d) = 1, for then
        there is one
    sigma : standard deviation of the noise, ≥ 0
    seed : fixes Σ, M and the samples; ``fresh`` keeps Σ and M and draws new samples

    Source: this book; the setting after Goel et al. 2026.

    Examples
    --------
    >>> data = mha.data.linear_regression(n=100, d=3, p=2, kappa=16, seed=0)
    >>> data.x.shape, data.y.shape, round(float(np.linalg.cond(data.truth.Sigma)), 6)
    ((100, 3), (100, 2), 16.0)
    """
    require_count(n=n, d=d, p=p)
    require_seed(seed)
    for name, value in {"kappa": kappa, "kappa_M": kappa_M}.items():
        require_number(name, value, least=1, below=LARGE)
    for name, value in {"s_max": s_max, "sigma": sigma}.items():
        require_number(name, value, least=0, below=LARGE)
    rng = np.random.default_rng([seed, 0])
    eigenvalues = np.geomspace(1, kappa, d)
    eigenvalues *= d / eigenvalues.sum()
    basis, left, right = rotation(rng, d), rotation(rng, p), rotation(rng, d)
    singular_values = s_max * np.geomspace(1, 1 / kappa_M, min(p, d))
    k = len(singular_values)
    truth = LinearTruth.of(
        basis, eigenvalues, left[:, :k], singular_values, right[:, :k], float(sigma), seed
    )
    return truth.draw(n, (seed, 1))


def rotation(rng: np.random.Generator, d: int, k: int | None = None) -> np.ndarray:
    """A uniformly distributed orthogonal matrix (d, d), or k ≤ d columns of one."""
    Q, R = np.linalg.qr(rng.standard_normal((d, d if k is None else k)))
    # QR is unique only with a positive diagonal of R; without the signs Q is not uniform.
    return Q * np.where(np.diag(R) < 0, -1.0, 1.0)


def regression_from_arrays(x: Any, y: Any) -> RegressionDataset:
    """A ``RegressionDataset`` from your own data: tokens x (n, d) and targets y (n, p).

    What is taken and what is refused is as in ``from_arrays``.

    Raises TypeError or ValueError naming the argument, what was expected and what came.

    Examples
    --------
    >>> data = mha.data.regression_from_arrays(np.ones((4, 3)), np.zeros((4, 2)))
    >>> len(data)
    4
    """
    x = converted("x", x)
    require("x", x, ("n", "d"))
    y = converted("y", y, like=x)
    if y.ndim == 1:
        column = "np.reshape(y, (-1, 1))" if isinstance(y, np.ndarray) else "y.reshape(-1, 1)"
        raise ValueError(
            f"y: expected shape ({len(x)}, p), got {tuple(y.shape)}; {column} is a single target"
        )
    require("y", y, (len(x), "p"))
    require_same_dtype(x=x, y=y)
    return RegressionDataset(x, y)
