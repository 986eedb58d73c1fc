"""The Transformer layer of Part III: queries, keys, values and outputs apart, and either kernel.

Everything is batched over N samples and H heads: an array of a sample and a head is (N, H, …).
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import DTypeLike

from livegrad.arrays import (
    LARGE,
    Array,
    precision,
    require,
    require_count,
    require_flag,
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
from mhalib.attention import Gaussian, Softmax, softmax


@vouched
@dataclass(frozen=True, eq=False, repr=False)
class AttentionLayer(Vector):
    r"""One layer of multi-head attention with separate queries and keys, by a softmax or a Gaussian
    kernel.

    .. math:: f(X) = \sum_h S_h X W^V_h W^O_h, \qquad S_h = \mathrm{kernel}(X W^Q_h, X W^K_h)

    It trains compiled where there is a compiler, in NumPy's double precision, on tokens of up to 64
    numbers.

    Raises TypeError if the weights differ in library or dtype or are not floating point, or the
    kernel is none; ValueError if shapes do not fit, an axis is empty, or an entry is not finite.

    Parameters
    ----------
    WQ, WK : (H, D, d) query and key matrices
    WV : (H, D, w) value matrices; the width w is usually d
    WO : (H, w, m) output matrices
    kernel : ``mha.softmax``, or ``mha.gaussian`` or another ``Gaussian(c)``

    Source: Song et al. 2024 (model second-hand; the Gaussian with c = ½ is this book's default).

    Examples
    --------
    >>> layer = mha.AttentionLayer.random(H=2, d=4, D=8, m=1, seed=0)
    >>> X = np.random.default_rng(0).standard_normal((3, 5, 8))
    >>> layer(X).shape
    (3, 5, 1)
    """

    WQ: Array
    WK: Array
    WV: Array
    WO: Array
    kernel: Softmax | Gaussian = softmax
    axes: ClassVar[Axes] = Axes(
        {"WQ": "H D d", "WK": "H D d", "WV": "H D d", "WO": "H d m"}, {"X": "N n D", "y": "N n m"}
    )
    # of the usual layer, whose values are as wide as its keys

    def __post_init__(self) -> None:
        require("WQ", self.WQ, ("H", "D", "d"))
        require("WK", self.WK, tuple(self.WQ.shape))
        require("WV", self.WV, (*self.WQ.shape[:2], "w"))
        require("WO", self.WO, (self.WQ.shape[0], self.WV.shape[2], "m"))
        require_same_dtype(WQ=self.WQ, WK=self.WK, WV=self.WV, WO=self.WO)
        if not isinstance(self.kernel, (Softmax, Gaussian)):
            raise TypeError(
                "kernel: expected mhalib.softmax or a Gaussian such as mhalib.gaussian, "
                f"got {shown(self.kernel)}"
            )

    @classmethod
    def random(
        cls,
        D: int,
        d: int,
        m: int,
        H: int = 1,
        scale: float = 1.0,
        tied: bool = False,
        kernel: Softmax | Gaussian = softmax,
        seed: int = 0,
        dtype: DTypeLike = np.float64,
    ) -> Self:
        """Entries N(0, scale²/D) in the queries, keys and values, N(0, 1/d) in the outputs, from
        one seeded stream.

        ``tied`` starts with W^K = W^Q: then every token looks at itself most under the Gaussian
        kernel.
        """
        require_count(D=D, d=d, m=m, H=H)
        require_number("scale", scale, above=-LARGE, below=LARGE)
        require_flag(tied=tied)
        require_seed(seed)
        dtype = precision(dtype)
        rng = np.random.default_rng([seed, 4])
        # WK is drawn even if tied, so that WV and WO do not depend on ``tied``.
        WQ, WK, WV = (scale / D**0.5 * rng.standard_normal((H, D, d)) for _ in range(3))
        WO = rng.standard_normal((H, d, m)) / d**0.5
        weights = (WQ, WQ.copy() if tied else WK, WV, WO)
        return cls(*(W.astype(dtype) for W in weights), kernel)

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """The numbers (H, D, d, m)."""
        return (*self.WQ.shape, self.WO.shape[2])

    def weights(self, X: Array) -> Array:
        """Attention weights S (N, H, n, n) of samples X (N, n, D); rows are queries."""
        self._require_tokens(X)
        return self.kernel(self._scores(X))

    def mixed(self, X: Array) -> Array:
        """The matrix B = [S_1 X … S_H X] (N n, H D), a row for each token: outputs are B times the
        values.

        Full row rank, which needs H D ≥ N n, is what the training theorem asks for.
        """
        S, (N, n, D) = self.weights(X), X.shape
        return (S @ X[:, None]).swapaxes(1, 2).reshape(N * n, S.shape[1] * D)

    def __call__(self, X: Array) -> Array:
        """Outputs f (N, n, m) of samples X (N, n, D)."""
        return self._output(self.weights(X), X)

    def loss(self, X: Array, y: Array) -> Any:
        """(1/2N) Σ ‖f(X_i) − Y_i‖² for targets y (N, n, m)."""
        self.require_batch(X, y)
        r = self(X) - y
        return (r * r).sum() / (2 * X.shape[0])

    def loss_and_grad(self, X: Array, y: Array) -> tuple[Any, Self]:
        r"""Loss and gradient, which is again an ``AttentionLayer``.

        With U = X W^V W^O, R = f(X) − Y and G = R Uᵀ/N for each sample and head, the scores have
        the gradient kernel.vjp(S, G), and

        .. math:: \nabla W^V = \tfrac1N X^\top S^\top R\, W^{O\top}, \qquad
                  \nabla W^O = \tfrac1N W^{V\top} X^\top S^\top R

        summed over samples.  Source: this book.
        """
        self.require_batch(X, y)
        V = _heads(X, self.WV)
        Q, K = _heads(X, self.WQ), _heads(X, self.WK)
        S = self.kernel(self.kernel.scores(Q, K))
        R = self._output(S, X) - y
        # The output is a plain sum over heads, so each head gets the same residual R.
        dS = self.kernel.vjp(S, (R[:, None] @ (V @ self.WO).mT) / X.shape[0])
        dQ, dK = self.kernel.scores_vjp(Q, K, dS)
        back = S.mT @ R[:, None] / X.shape[0]
        gradient = {
            "WQ": _pull(X, dQ),
            "WK": _pull(X, dK),
            "WV": _pull(X, back @ self.WO.mT),
            "WO": (V.mT @ back).sum(axis=0),
        }
        return (R * R).sum() / (2 * X.shape[0]), self._with(gradient)

    def hvp(self, X: Array, y: Array, V: Self) -> Self:
        """Product ∇²L(θ) V of the Hessian of the loss with a direction V (an ``AttentionLayer``),
        in closed form.

        It is the derivative of ``loss_and_grad`` along V, line by line.
        """
        self.require_batch(X, y)
        self.require_direction(V)
        kernel, N = self.kernel, X.shape[0]
        values, values_ = _heads(X, self.WV), _heads(X, V.WV)
        Q, K, Q_, K_ = (_heads(X, W) for W in (self.WQ, self.WK, V.WQ, V.WK))
        S = kernel(kernel.scores(Q, K))
        # The derivative of weights in scores is symmetric, so vjp is the forward one, too.
        S_ = kernel.vjp(S, kernel.scores_along(Q, K, Q_, K_))
        U, U_ = values @ self.WO, values_ @ self.WO + values @ V.WO
        R, R_ = (S @ U).sum(axis=1) - y, (S_ @ U + S @ U_).sum(axis=1)
        dA, dA_ = R[:, None] @ U.mT / N, (R_[:, None] @ U.mT + R[:, None] @ U_.mT) / N
        dS, dS_ = kernel.vjp(S, dA), kernel.vjp_along(S, dA, S_, dA_)
        # scores_vjp is linear in dS and linear in (Q, K): one term of the product rule for each.
        (dQ1, dK1), (dQ2, dK2) = kernel.scores_vjp(Q, K, dS_), kernel.scores_vjp(Q_, K_, dS)
        back, back_ = S.mT @ R[:, None] / N, (S_.mT @ R[:, None] + S.mT @ R_[:, None]) / N
        return self._with(
            {
                "WQ": _pull(X, dQ1 + dQ2),
                "WK": _pull(X, dK1 + dK2),
                "WV": _pull(X, back_ @ self.WO.mT + back @ V.WO.mT),
                "WO": (values_.mT @ back + values.mT @ back_).sum(axis=0),
            }
        )

    def workspace(self, X: Array, y: Array) -> Workspace:
        """What ``train`` runs on: this formula; a recorded step measures the loss."""
        self.require_batch(X, y)
        return Workspace(self, X, y)

    def workspace_for(
        self, X: Array, y: Array, *, entrywise: bool, steps: int, compiled: bool | None = None
    ) -> Workspace:
        """The same compiled, where that is faster."""
        # the compiler comes with the first run
        from mhalib.models.compiled_workspace import chosen_workspace

        return chosen_workspace(self, X, y, compiled, type(self).workspace)

    def norms(self) -> dict[str, float]:
        """The Euclidean norm of every weight: norm_WQ, norm_WK, norm_WV, norm_WO."""
        return {
            f"norm_{name}": float(np.linalg.norm(to_numpy(W))) for name, W in self.arrays().items()
        }

    def _scores(self, X):
        return self.kernel.scores(_heads(X, self.WQ), _heads(X, self.WK))

    def _output(self, S, X):
        return (S @ (_heads(X, self.WV) @ self.WO)).sum(axis=1)

    def _require_tokens(self, X):
        require("X", X, ("N", "n", self.sizes[1]))
        require_same_dtype(X=X, WQ=self.WQ)

    def require_batch(self, X: Array, y: Array) -> None:
        """Check that this layer takes tokens X and targets y."""
        self._require_tokens(X)
        require("y", y, (X.shape[0], X.shape[1], self.sizes[3]))
        require_same_dtype(X=X, y=y)


def _heads(X, W):
    """X W_h for every sample and head: (N, n, D), (H, D, w) → (N, H, n, w)."""
    return X[:, None] @ W


def _pull(X, dQ):
    """Σ_i X_iᵀ dQ_i: (N, n, D), (N, H, n, d) → (H, D, d)."""
    return (X[:, None].mT @ dQ).sum(axis=0)
