"""Groups of equal heads: any number of heads in F groups is F heads with other decoders and other
step sizes."""

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from livegrad.arrays import Array, as_number, require
from livegrad.model.vector import Vector
from mhalib.models.classifier_workspace import ClassifierWorkspace
from mhalib.models.multihead import MultiHeadAttention
from mhalib.models.multihead_workspace import groups_of_equal_heads


@dataclass(frozen=True, eq=False, repr=False)
class HeadGroups(Vector):
    r"""H heads in F groups: the N_f heads of group f all have the parameters (W_f, U_f).

    .. math:: \Phi(X) = H^{-1/2} \sum_f N_f \langle U_f, \mathrm{softmax}(X W_f X^\top)\, X \rangle,
              \qquad H = \sum_f N_f

    A point of the space of all H heads: ``dot``, ``norm`` and gradients are those of H heads, at
    the cost of F.

    Parameters
    ----------
    W : (F, d, d) key–query products
    U : (F, T, d) decoders
    copies : N_1, …, N_F, how many heads each group has: whole numbers ≥ 1

    Raises TypeError or ValueError as ``MultiHeadAttention`` does, or if copies are not F whole
    numbers ≥ 1.

    Source: this book, Proposition "Groups of equal heads".
    """

    W: Array
    U: Array
    copies: tuple[int, ...]

    def __post_init__(self) -> None:
        MultiHeadAttention(self.W, self.U)  # refuses what does not fit
        require("W", self.W, (len(self.copies), "d", "d"))
        # The compiler records copies as numbers without values, which stay as they are.
        counts = [n for n in self.copies if not getattr(n, "is_meta", False)]
        if any(isinstance(n, bool) or not isinstance(n, Integral) or n < 1 for n in counts):
            raise ValueError(
                f"copies: expected whole numbers ≥ 1, one for each group, got {self.copies}"
            )
        object.__setattr__(self, "copies", tuple(map(int, counts)) or self.copies)

    @classmethod
    def of(cls, model: MultiHeadAttention) -> "HeadGroups":
        """The groups of equal heads of a ``MultiHeadAttention``."""
        first, member = groups_of_equal_heads(model)
        return cls(model.W[first], model.U[first], tuple(np.bincount(member).tolist()))

    def expand(self) -> MultiHeadAttention:
        """All H heads, one by one."""
        return MultiHeadAttention(
            *(np.repeat(part, self.copies, axis=0) for part in (self.W, self.U))
        )

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The numbers (H, T, d)."""
        return sum(self.copies), *self.U.shape[1:]

    def few(self) -> MultiHeadAttention:
        """The F heads (W_f, √(F/H) N_f U_f), which have the same logits."""
        like = MultiHeadAttention.zeros(*self.U.shape)
        return like._with({"W": self.W, "U": self._scale() * self._counts() * self.U})

    def __call__(self, X: Array) -> np.ndarray:
        """Logits Φ(X) (n,)."""
        return self.few()(X)

    def attention(self, X: Array) -> np.ndarray:
        """Attention weights (n, F, T, T), one head a group."""
        return self.few().attention(X)

    def loss(self, X: Array, y: Array) -> float:
        """Mean logistic loss."""
        return self.few().loss(X, y)

    def margins(self, X: Array, y: Array) -> np.ndarray:
        """Margins y_i Φ(X_i), (n,)."""
        return self.few().margins(X, y)

    def loss_and_grad(self, X: Array, y: Array) -> tuple[float, "HeadGroups"]:
        """Mean logistic loss, and the gradient that each head of a group receives."""
        loss, grad = self.few().loss_and_grad(X, y)
        return loss, self.share(grad)

    def share(self, grad: MultiHeadAttention) -> "HeadGroups":
        """From the gradient of the F heads ``few()`` to what one head of each group receives."""
        # By the chain rule group f receives ∇_W L and √(F/H) N_f ∇_Ũ L, of which each of its N_f
        # equal heads has its share.
        return self._with({"W": grad.W / self._counts(), "U": self._scale() * grad.U})

    def dot(self, other: Vector) -> float:
        """The inner product in the space of all H heads."""
        self._require_same_copies(other)
        product = self.W * other.W, self.U * other.U
        return as_number(
            sum(part.sum(axis=(1, 2)) for part in product) @ self._counts().reshape(-1)
        )

    def norms(self) -> dict[str, float]:
        """norm_W = (1/H) Σ‖W_h‖ and norm_U = H^{−1/2} Σ‖U_h‖, over all H heads."""
        H, few = self.sizes[0], self.map(lambda a: np.sqrt((a * a).sum(axis=(1, 2), keepdims=True)))
        total = {name: float((self._counts() * a).sum()) for name, a in few.arrays().items()}
        return {"norm_W": total["W"] / H, "norm_U": total["U"] / H**0.5}

    def workspace(self, X: Array, y: Array) -> ClassifierWorkspace:
        """Buffers for many fast steps on one batch; the attention score counts every head."""
        return _GroupsWorkspace(self, X, y)

    def _apply(self, op, other):
        if isinstance(other, Vector):
            self._require_same_copies(other)
        return super()._apply(op, other)

    def _require_same_copies(self, other):
        if not isinstance(other, HeadGroups) or other.copies != self.copies:
            raise ValueError(
                f"other: expected HeadGroups with the copies {self.copies}, "
                f"got {getattr(other, 'copies', type(other).__name__)}"
            )

    def _counts(self):
        return np.stack([as_number(n) for n in self.copies])[:, None, None]

    def _scale(self):
        return (len(self.copies) / self.sizes[0]) ** 0.5


class _GroupsWorkspace(ClassifierWorkspace):
    def __init__(self, model, X, y):
        super().__init__(model, X, y)
        # Of a random model, because the workspace of one with equal heads insists on their staying
        # equal.
        self.few = MultiHeadAttention.random(*model.U.shape).workspace(X, y)

    def loss_and_grad(self, theta):
        loss, grad = self.few.loss_and_grad(self.few.pack(theta.few()))
        return loss, theta.share(self.few.unpack(grad))

    def attention_score(self, theta, relevant):
        # (F,)
        on_relevant = (
            (theta.attention(self.X) * relevant[:, None, None, :]).sum(axis=-1).mean(axis=(0, 2))
        )
        return float(on_relevant @ theta.copies / sum(theta.copies))
