"""The planted head of Part I: normal tokens, labels from the sign of a hidden attention head."""

from dataclasses import dataclass

import numpy as np

from livegrad.arrays import LARGE, require_count, require_number, require_seed
from mhalib.attention import softmax
from mhalib.data.dataset import Dataset

REFERENCE = 10_000
"""How many samples the teacher's typical logit is measured on."""
CANDIDATES = 1000
"""How many candidates are drawn at a time: a prefix of the samples does not depend on how many are
asked for."""


@dataclass(frozen=True, eq=False)
class Planted:
    """A hidden head and the rule that makes labels of its logits, ready to ``sample``.

    ``W`` (d, d) and ``U`` (T, d) are the teacher's; ``scale`` is the root mean square of its
    logits. Samples whose logit is below ``margin`` · ``scale`` in absolute value are drawn again; a
    share ``flip`` of labels is turned.
    """

    W: np.ndarray
    U: np.ndarray
    margin: float
    flip: float
    scale: float
    seed: int

    def logits(self, X: np.ndarray) -> np.ndarray:
        """Φ(X_i; U*, W*) = ⟨U*, softmax(X_i W* X_iᵀ) X_i⟩ (n,)."""
        A = softmax(X @ self.W @ X.mT)
        return (A @ X * self.U).sum(axis=(1, 2))

    def sample(self, n: int, seed: int) -> Dataset:
        """n new samples; no two teachers, and no two seeds, share their draws."""
        require_seed(seed)
        return self.draw(n, (self.seed, 2, seed))

    def draw(self, n: int, seed: tuple[int, ...]) -> Dataset:
        """The ``Dataset`` of n samples from the streams of ``seed``, a tuple of integers."""
        require_count(n=n)
        # Two streams: how many candidates are refused does not change which labels are turned.
        tokens, turned = (np.random.default_rng([*seed, kind]) for kind in range(2))
        kept = []
        while sum(map(len, kept)) < n:
            X = tokens.standard_normal((CANDIDATES, *self.U.shape))
            kept.append(X[abs(self.logits(X)) >= self.margin * self.scale])
        X = np.concatenate(kept)[:n]
        sign = np.where(turned.random(n) < self.flip, -1.0, 1.0)
        # ``np.sign`` would give a logit of 0 no label.
        return Dataset(X, sign * np.where(self.logits(X) < 0, -1.0, 1.0), truth=self)


def planted(
    n: int = 1000,
    T: int = 10,
    d: int = 5,
    strength: float = 1.0,
    margin: float = 0.0,
    flip: float = 0.0,
    seed: int = 0,
) -> Dataset:
    """n samples of T standard normal tokens in R^d, labeled by the sign of a hidden attention head.

    .. math:: x_t \\sim \\mathcal N(0, I_d), \\qquad y = \\operatorname{sign}\\,\\Phi(X; U^*, W^*)

    The paper's teacher is not known to us. Ours has independent entries, N(0, strength²) in W* and
    N(0, 1) in U*: its scores have standard deviation ``strength`` · d.

    Raises ValueError if a size is no whole number ≥ 1, or strength, margin or flip is outside of
    its range.

    Returns a ``Dataset``: X (n, T, d), y (n,), and truth, the ``Planted`` teacher with its W (d, d)
    and U (T, d). No token is relevant or not, so ``relevant`` is None.

    Parameters
    ----------
    n, T, d : numbers of samples, tokens, dimensions
    strength : standard deviation of the entries of W*, ≥ 0; 0 is a teacher that looks everywhere
        alike
    margin : samples whose logit is smaller than this, in units of the logit's root mean square, are
        drawn again; at least 0 and below 2
    flip : share of labels that are wrong, at least 0 and below ½
    seed : fixes teacher and samples; ``fresh`` keeps the teacher and draws new samples

    Source: Deora et al. 2023, data model DM2 [recalled]; the teacher's distribution is this book's
    choice.

    Examples
    --------
    >>> data = mha.data.planted(n=100, T=4, d=3, seed=0)
    >>> data.X.shape, bool((data.y == np.sign(data.truth.logits(data.X))).all())
    ((100, 4, 3), True)
    """
    require_count(n=n, T=T, d=d)
    require_seed(seed)
    # infinite scores have no logit, and samples would be drawn for ever
    require_number("strength", strength, least=0, below=LARGE)
    require_number("margin", margin, least=0, below=2)
    require_number("flip", flip, least=0, below=0.5)
    normal = np.random.default_rng([seed, 0])
    W, U = strength * normal.standard_normal((d, d)), normal.standard_normal((T, d))
    # Logits do not depend on ``scale``, so a stand-in of 1 measures them.
    teacher = Planted(W, U, margin, flip, 1.0, seed)
    logits = teacher.logits(np.random.default_rng([seed, 4]).standard_normal((REFERENCE, T, d)))
    scale = float(np.sqrt((logits**2).mean()))
    return Planted(W, U, margin, flip, scale, seed).draw(n, (seed, 1))
