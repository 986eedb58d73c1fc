"""The tokenized mixture of Part I: a few tokens carry the label, the others distract."""

from dataclasses import dataclass

import numpy as np

from livegrad.arrays import LARGE, require_count, require_number, require_seed
from mhalib.data.dataset import Dataset
from mhalib.data.regression import rotation


@dataclass(frozen=True, eq=False)
class MixtureDraws:
    """The random numbers behind n samples, before any parameter but the sizes has been used.

    Each field has its own stream, so the first n samples are the same however many are drawn, and
    the same draws serve every ζ, S and σ: what a slider changes is the assembly, never the luck.
    """

    sign: np.ndarray  # (n,) −1 or +1, equally likely
    rank: np.ndarray  # (n, T) a random order of the tokens; the relevant ones have rank 0 … ζT − 1
    pattern: np.ndarray  # (n, T) index in 0 … M−1 of the distracting pattern
    normal: np.ndarray  # (n, T, d) standard normals


@dataclass(frozen=True, eq=False)
class Mixture:
    """A tokenized mixture with fixed patterns, ready to ``sample``.

    With label y, a token is μ_y if it is relevant, and ν_j + σ z otherwise: j uniform in [M], z ~
    N(0, I_d). ``mu`` (2, d) holds μ₋ and μ₊, ``nu`` (M, d) the ν_j: M + 2 orthogonal vectors of
    norm S.
    """

    mu: np.ndarray
    nu: np.ndarray
    T: int
    n_relevant: int
    sigma: float
    seed: int

    def sample(self, n: int, seed: int) -> Dataset:
        """n new samples; no two mixtures, and no two seeds, share their draws."""
        require_seed(seed)
        M, d = self.nu.shape
        return self.assemble(draw(n, self.T, d, M, (self.seed, 2, seed)))

    def assemble(self, draws: MixtureDraws) -> Dataset:
        """The ``Dataset`` of given draws: X_it = μ_{y_i} on relevant tokens, ν_{j_it} + σ z_it on
        the others."""
        relevant = draws.rank < self.n_relevant
        own = self.mu[(draws.sign > 0).astype(int)][:, None, :]  # (n, 1, d)
        others = self.nu[draws.pattern] + self.sigma * draws.normal
        return Dataset(np.where(relevant[..., None], own, others), draws.sign, relevant, self)


def draw(n: int, T: int, d: int, M: int, seed: tuple[int, ...]) -> MixtureDraws:
    """The ``MixtureDraws`` of n samples of T tokens in R^d with M distracting patterns; seed: a
    tuple of integers."""
    require_count(n=n, T=T, d=d, M=M)
    sign, rank, pattern, normal = (np.random.default_rng([*seed, kind]) for kind in range(4))
    return MixtureDraws(
        sign=np.where(sign.random(n) < 0.5, -1.0, 1.0),
        # The second argsort inverts the permutation of the first: it gives each token its rank.
        rank=rank.random((n, T)).argsort(axis=1).argsort(axis=1),
        pattern=pattern.integers(M, size=(n, T)),
        normal=normal.standard_normal((n, T, d)),
    )


def patterns(M: int, d: int, S: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """M + 2 orthogonal vectors of norm S in R^d, uniformly rotated: μ (2, d) and ν (M, d)."""
    vectors = S * rotation(np.random.default_rng([seed, 0]), d, M + 2).T
    return vectors[:2], vectors[2:]


def tokenized_mixture(
    n: int = 100,
    T: int = 10,
    d: int = 8,
    M: int = 4,
    zeta: float = 0.1,
    S: float = 2.0,
    sigma: float = 0.2,
    seed: int = 0,
) -> Dataset:
    """n samples of T tokens in R^d, of which ζT carry the label and the rest distract.

    Raises ValueError if a size is no whole number ≥ 1, ζT is not whole, the patterns do not fit
    (M + 2 > d), S ≤ 0 or σ < 0, or one of them is beyond 10¹⁰⁰.

    Returns a ``Dataset``: X (n, T, d), y (n,), relevant (n, T), and truth, the ``Mixture`` with its
    patterns mu (2, d) and nu (M, d).

    Parameters
    ----------
    n, T, d, M : numbers of samples, tokens, dimensions, and distracting patterns; M + 2 ≤ d
    zeta : share of relevant tokens; ζT must be a whole number between 1 and T
    S : norm of every pattern, > 0
    sigma : standard deviation of each coordinate of the noise on distracting tokens, ≥ 0
    seed : fixes patterns and samples; ``fresh`` keeps the patterns and draws new samples

    Source: Deora et al. 2023, data model DM1 [recalled].

    Examples
    --------
    >>> data = mha.data.tokenized_mixture(n=6, T=10, d=8, zeta=0.2, seed=0)
    >>> data.X.shape, sorted(set(data.y.tolist())), data.relevant.sum(axis=1)
    ((6, 10, 8), [-1.0, 1.0], array([2, 2, 2, 2, 2, 2]))
    >>> len(data.fresh(n=300, seed=1))
    300
    """
    require_count(n=n, T=T, d=d, M=M)
    require_seed(seed)
    require_number("zeta", zeta, below=LARGE)
    require_number("S", S, above=0, below=LARGE)
    require_number("sigma", sigma, least=0, below=LARGE)
    relevant = round(zeta * T)
    # Decimal shares are rounded in binary: 0.07 * 100 is 7.000000000000001.
    if not 1 <= relevant <= T or abs(zeta * T - relevant) > 1e-9:
        raise ValueError(
            f"zeta: expected zeta * T to be a whole number between 1 and T, "
            f"got zeta = {zeta} and T = {T}, whose product is {zeta * T:g}"
        )
    if d < M + 2:
        raise ValueError(f"d: expected room for M + 2 = {M + 2} orthogonal patterns, got d = {d}")
    mu, nu = patterns(M, d, S, seed)
    return Mixture(mu, nu, T, relevant, sigma, seed).assemble(draw(n, T, d, M, (seed, 1)))
