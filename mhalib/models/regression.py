"""The softmax self-attention layer of Part II, which does linear regression: forward, gradient,
Hessian times vector.

All n tokens of a batch are context for every one of them. The n × n attention matrix is never held:
queries are taken in blocks, and a block's weights are used and forgotten.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike

from livegrad.arrays import (
    LARGE,
    Array,
    namespace,
    precision,
    require,
    require_count,
    require_number,
    require_same_dtype,
    require_seed,
    shown,
    to_numpy,
)
from livegrad.model.axes import Axes
from livegrad.model.vector import Vector
from livegrad.model.workspace import Workspace
from livegrad.vouched import vouched
from mhalib.attention import softmax

ENTRIES = 2**18
"""About how many attention weights a block has: two such arrays stay in a processor's cache."""


@vouched
@dataclass(frozen=True, eq=False, repr=False)
class AttentionRegression(Vector):
    r"""One softmax attention head whose output is a linear prediction.

    .. math:: f(x_i) = A \sum_j \pi_{ij} x_j, \qquad \pi_i = \mathrm{softmax}_j(x_i^\top B x_j)

    A ``Path`` of it has the curves ``loss``, ``grad_norm``, ``effective_tokens``, ``norm_A``,
    ``norm_B`` and ``excess``. A minibatch is one of queries: all tokens stay their context.

    Raises TypeError if A and B differ in library or dtype, or are not floating point; ValueError if
    shapes do not fit, an axis is empty, or an entry is not finite.

    Parameters
    ----------
    A : (p, d) output matrix
    B : (d, d) key–query product

    Source: Goel et al. 2026 [paper]; that every token attends to all, itself included, is this
    book's choice.

    Examples
    --------
    >>> data = mha.data.linear_regression(n=200, d=3, p=2, seed=0)
    >>> model = mha.AttentionRegression.random(d=3, p=2, scale=0.1, seed=0)
    >>> path = mha.train(model, data, mha.StructureAware(lr=0.5), steps=30)
    >>> bool(path.excess[-1] < path.excess[0] / 10)
    True
    """

    A: Array
    B: Array
    axes: ClassVar[Axes] = Axes({"A": "p d", "B": "d d"}, {"X": "m d", "y": "m p"})

    def __post_init__(self) -> None:
        require("A", self.A, ("p", "d"))
        require("B", self.B, ("d", "d"))
        require_same_dtype(A=self.A, B=self.B)
        if not self.A.shape[1] == self.B.shape[0] == self.B.shape[1]:
            raise ValueError(
                "expected A (p, d) and B (d, d) with the same d, "
                f"got A {tuple(self.A.shape)} and B {tuple(self.B.shape)}"
            )

    @classmethod
    def random(
        cls, d: int, p: int, scale: float = 1.0, seed: int = 0, dtype: DTypeLike = np.float64
    ) -> Self:
        """Independent N(0, scale²) entries: first all of A, then all of B, from one seeded
        stream."""
        require_count(d=d, p=p)
        require_number("scale", scale, above=-LARGE, below=LARGE)
        require_seed(seed)
        dtype = precision(dtype)
        rng = np.random.default_rng([seed, 3])
        return cls(
            *((scale * rng.standard_normal(shape)).astype(dtype) for shape in ((p, d), (d, d)))
        )

    @classmethod
    def spectral(cls, data: Any) -> Self:
        r"""The balanced factors of the least-squares fit of ``data``, a start near the optimum.

        .. math:: \Bigl(\frac1n \sum_i y_i x_i^\top\Bigr) \hat\Sigma^{-1/2} = P S W^\top, \qquad
                  A = P S^{1/2} \hat\Sigma^{-1/2}, \qquad B = \hat\Sigma^{-1/2} W S^{1/2} \hat\Sigma^{-1/2}

        filled up with zeros where p < d. The signs of the columns of P and W are those that numpy's
        decomposition has: the law of the excess for large n does not depend on them, the excess on
        given tokens does.

        Raises TypeError if data is no regression; ValueError if the second moment Σ̂ of the tokens
        is singular, as for n < d.

        Source: this book, after the abstract of Goel et al. 2026.
        """
        if not all(hasattr(data, name) for name in ("x", "y", "whitening")):
            raise TypeError(
                f"data: expected a RegressionDataset, got {shown(data)}; "
                "mhalib.data.regression_from_arrays(x, y) makes one"
            )
        whitening, x, y = data.whitening(), to_numpy(data.x), to_numpy(data.y)
        P, S, Wt = np.linalg.svd(whitening.fit(x, y), full_matrices=False)
        # Where p < d, products with it append the missing columns of zeros.
        width = np.eye(len(S), x.shape[1])
        return cls(**whitening.balanced(P @ width, S @ width, Wt.T @ width, data.x))

    @property
    def sizes(self) -> tuple[int, int]:
        """The numbers (p, d)."""
        return tuple(self.A.shape)

    def __call__(self, x: Array, context: Array | None = None) -> Array:
        """Predictions f(x) (m, p) of queries x (m, d); they attend to ``context`` (n, d), by
        default to themselves."""
        return self.means(x, context) @ self.A.mT

    def means(self, x: Array, context: Array | None = None) -> Array:
        """Attention means m_i = Σ_j π_ij x_j (m, d)."""
        context = self._context(x, context)
        return namespace(x).concatenate(
            [softmax(self._scores(rows, context)) @ context for rows in _blocks(x, context)]
        )

    def effective_tokens(self, x: Array, context: Array | None = None) -> Array:
        """1/Σ_j π_ij² (m,): how many equal weights would spread as far, between 1 and n."""
        context = self._context(x, context)
        return namespace(x).concatenate(
            [
                1 / (softmax(self._scores(rows, context)) ** 2).sum(axis=1)
                for rows in _blocks(x, context)
            ]
        )

    def loss(self, x: Array, y: Array, context: Array | None = None) -> Any:
        """Half the mean squared error (1/2m) Σ‖y_i − f(x_i)‖² of targets y (m, p)."""
        self._require_targets(x, y)
        residuals = y - self(x, context)
        return (residuals * residuals).sum() / (2 * len(y))

    def loss_and_grad(self, x: Array, y: Array, context: Array | None = None) -> tuple[Any, Self]:
        r"""Loss and gradient, which is again an ``AttentionRegression``, in one pass over blocks of
        queries.

        .. math:: \nabla_A = -\frac1m \sum_i r_i m_i^\top, \qquad \nabla_B = \sum_i x_i g_i^\top C_i

        with r_i = y_i − A m_i, g_i = −Aᵀ r_i/m and C_i = Σ_j π_ij x_j x_jᵀ − m_i m_iᵀ. Source: this
        book.
        """
        self._require_targets(x, y)
        context = self._context(x, context)
        xp, total = namespace(x), 0.0
        dA, dB = xp.zeros_like(self.A), xp.zeros_like(self.B)
        for rows, targets in zip(_blocks(x, context), _blocks(y, context), strict=True):
            P = softmax(self._scores(rows, context))
            mean = P @ context
            r = targets - mean @ self.A.mT
            # Divided by all queries, not those of the block, so that blocks add up to the mean.
            g = r @ self.A / -len(x)
            dA = dA - r.mT @ mean / len(x)
            dB = dB + rows.mT @ _covary(P, g @ context.mT, context, mean, g)
            total = total + (r * r).sum() / (2 * len(x))
        return total, self._with({"A": dA, "B": dB})

    def hvp(self, x: Array, y: Array, V: Self, context: Array | None = None) -> Self:
        """Product ∇²L(θ) V of the Hessian with a direction V (an ``AttentionRegression``), in
        closed form.

        It is the derivative of ``loss_and_grad`` along V, term by term, in the same blocks.
        """
        self._require_targets(x, y)
        self.require_direction(V)
        context = self._context(x, context)
        xp = namespace(x)
        dA, dB = xp.zeros_like(self.A), xp.zeros_like(self.B)
        for rows, targets in zip(_blocks(x, context), _blocks(y, context), strict=True):
            P = softmax(self._scores(rows, context))
            # Scores are linear in B: along V they move by V's own; vjp is symmetric.
            P_ = softmax.vjp(P, V._scores(rows, context))
            mean, mean_ = P @ context, P_ @ context
            r, r_ = targets - mean @ self.A.mT, -mean @ V.A.mT - mean_ @ self.A.mT
            g, g_ = r @ self.A / -len(x), (r @ V.A + r_ @ self.A) / -len(x)
            Q = g @ context.mT
            # How C_i g_i = Σ_j π_ij (x_j·g_i) x_j − m_i (m_i·g_i) moves: with g, π, then m.
            C_ = _covary(P, g_ @ context.mT, context, mean, g_) + (P_ * Q) @ context
            C_ = (
                C_
                - mean_ * (mean * g).sum(axis=1)[:, None]
                - mean * (mean_ * g).sum(axis=1)[:, None]
            )
            dA = dA - (r_.mT @ mean + r.mT @ mean_) / len(x)
            dB = dB + rows.mT @ C_
        return self._with({"A": dA, "B": dB})

    def workspace(self, X: Array, y: Array) -> Workspace:
        """What ``train`` runs on: this formula, and what a recorded step measures."""
        self._require_targets(X, y)
        return RegressionWorkspace(self, X, y)

    def norms(self) -> dict[str, float]:
        """The spectral norms of the two matrices: norm_A and norm_B."""
        return {
            f"norm_{name}": float(np.linalg.norm(to_numpy(a), 2))
            for name, a in self.arrays().items()
        }

    def against(self, data: Any) -> dict[str, float]:
        """What the truth behind ``data`` says, where it is known: {"excess": L(A, B) − L*} of the
        population loss."""
        if getattr(data, "Sigma", None) is None:
            return {}
        return {
            "excess": excess(
                to_numpy(self.A), to_numpy(self.B), to_numpy(data.Sigma), to_numpy(data.M)
            )
        }

    def _scores(self, rows, context):
        return rows @ self.B @ context.mT

    def _context(self, x, context):
        require("x", x, ("m", self.sizes[1]))
        if context is None:
            context = x
        require("context", context, ("n", self.sizes[1]))
        require_same_dtype(x=x, context=context, A=self.A)
        return context

    def _require_targets(self, x, y):
        require("x", x, ("m", self.sizes[1]))
        require("y", y, (len(x), self.sizes[0]))
        require_same_dtype(x=x, y=y, A=self.A)


def excess(A: np.ndarray, B: np.ndarray, Sigma: np.ndarray, M: np.ndarray) -> float:
    """Population loss above its minimum, ½‖(A Σ Bᵀ − M) Σ^{1/2}‖²: the risk of infinitely many
    tokens."""
    return float(excess_and_grad(A, B, Sigma, M)[0])


def excess_and_grad(A: Array, B: Array, Sigma: Array, M: Array) -> tuple[Any, Array, Array]:
    """The same, ∇_A = E B Σ and ∇_B = Eᵀ A Σ, with E = (A Σ Bᵀ − M) Σ."""
    away = A @ Sigma @ B.mT - M
    E = away @ Sigma
    # ⟨away Σ, away⟩ = ‖away Σ^{1/2}‖², so no root of Σ is needed.
    return (E * away).sum() / 2, E @ B @ Sigma, E.mT @ A @ Sigma


def _blocks(a, context):
    """The rows of a, as many at a time as have ``ENTRIES`` weights on the context."""
    size = max(1, ENTRIES // len(context))
    return (a[first : first + size] for first in range(0, len(a), size))


def _covary(P, Q, context, mean, g):
    """C_i g_i for every query, (b, d), with Q = g contextᵀ: the weighted covariance of the tokens,
    times g_i."""
    # Each C_i is applied to g_i without being formed: (b, n) weights, and no (b, d, d) array.
    return (P * Q) @ context - mean * (mean * g).sum(axis=1)[:, None]


class RegressionWorkspace(Workspace):
    """The plain formula, and the measures of a regression."""

    def partial(self, theta: Any, rows: Any) -> tuple[Any, Any]:
        """Loss and gradient of some queries; all tokens are their context."""
        return theta.loss_and_grad(self.X[rows], self.y[rows], self.X)

    def summary(self, theta: Any, known: Any = None) -> dict[str, float]:
        """Half the mean squared error, and the mean number of effective tokens."""
        effective = to_numpy(theta.effective_tokens(self.X))
        return super().summary(theta) | {"effective_tokens": float(effective.mean())}
