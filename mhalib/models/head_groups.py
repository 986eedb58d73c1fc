"""Groups of identical heads: any number of heads in F groups is F heads with other decoders and
other step sizes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from livegrad.arrays import Array, as_like, as_number, namespace, require, to_numpy
from livegrad.model.vector import Vector
from mhalib.models.classifier_workspace import ClassifierWorkspace
from mhalib.models.multihead import MultiHeadAttention
from mhalib.models.multihead_workspace import workspace_of


@dataclass(frozen=True, eq=False, repr=False)
class HeadGroups(Vector):
    r"""H heads in F groups: the N_f heads of group f all have the parameters (W_f, U_f).

    .. math:: \Phi(X) = H^{-1/2} \sum_f N_f \langle U_f, \mathrm{softmax}(X W_f X^\top)\, X \rangle,
              \qquad H = \sum_f N_f

    A point of the space of all H heads: ``dot``, ``norm`` and gradients are those of H heads, at
    the cost of F. ``train`` runs a ``MultiHeadAttention`` with equal heads as one of these.

    Parameters
    ----------
    W : (F, d, d) key–query products
    U : (F, T, d) decoders
    copies : N_1, …, N_F, how many heads each group has: whole numbers ≥ 1

    Raises TypeError or ValueError as ``MultiHeadAttention`` does, or if copies are not F whole
    numbers ≥ 1.

    Source: this book, Proposition "Groups of identical heads".
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
        few, every = self.few(), list(range(len(self.copies)))
        few.require_batch(X, y)
        return GroupsWorkspace(self, workspace_of(few, X, y), self.copies, every, every)

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
        return as_like(np.stack([as_number(n) for n in self.copies]), self.U)[:, None, None]

    def _scale(self):
        return (len(self.copies) / self.sizes[0]) ** 0.5


class GroupsWorkspace(ClassifierWorkspace):
    """A workspace of F heads for all H: θ has its form, but holds the (W_f, U_f) of ``HeadGroups``.

    ``inner`` computes with the heads of ``HeadGroups.few``, and each of the H heads gets what
    ``HeadGroups.share`` says: products of θ, and of the gradient, with numbers. ``first`` and
    ``group`` are as of ``groups_of_equal_heads``.
    """

    def __init__(
        self,
        model: Any,
        inner: ClassifierWorkspace,
        copies: Sequence[int],
        first: list[int],
        group: list[int],
    ) -> None:
        super().__init__(model, inner.X, inner.y)
        self._inner, self._first, self._group = inner, first, group
        ones = inner.model.map(lambda a: namespace(a).zeros_like(a) + 1)
        groups = HeadGroups(ones.W, ones.U, tuple(copies))
        self._to_few = inner.pack(groups.few())
        self._to_each = inner.pack(ones.with_arrays(**groups.share(ones).arrays()))
        self._copies = self._to_few / self._to_each
        inner.head_share = np.array(copies) / sum(copies)
        self._seen: tuple[Any, Any] = None, None  # θ, and that of the inner workspace

    def pack(self, model: Any) -> Array:
        """θ of a model, one head for each group.

        Raises ValueError if two heads that were equal in the model of this workspace are not equal
        in this one.
        """
        for a in map(to_numpy, model.arrays().values()):
            if not np.array_equal(a, a[self._first][self._group], equal_nan=True):
                raise ValueError(
                    f"model: this workspace counts {len(self._group)} heads as {len(self._first)}, "
                    "because the others were copies of them; expected a model with the same copies"
                )
        return self.pack_unchecked(model)

    def pack_unchecked(self, model: Any) -> Array:
        """The same of a model or gradient whose copies are equal by construction: the first of a
        group stands for all, though a product may have rounded each by itself."""
        W, U = model.W[self._first], model.U[self._first]
        return self._inner.pack(self._inner.model.with_arrays(W=W, U=U))

    def unpack(self, theta: Array) -> Any:
        """The model of θ."""
        groups = self._inner.unpack(theta)
        return self.model.with_arrays(W=groups.W[self._group], U=groups.U[self._group])

    def loss_and_grad(self, theta: Array) -> tuple[Any, Array]:
        """Mean logistic loss and its gradient in the form of θ."""
        few = self._to_few * theta
        self._seen = theta, few
        loss, grad = self._inner.loss_and_grad(few)
        return loss, self._to_each * grad

    def partial(self, theta: Array, rows: Any) -> tuple[Any, Array]:
        """The same of some rows."""
        loss, grad = self._inner.partial(self._to_few * theta, rows)
        return loss, self._to_each * grad

    def grad_norm(self, grad: Array) -> float:
        """The norm of the gradient of all H heads."""
        return float((self._copies * grad * grad).sum()) ** 0.5

    def summary(self, theta: Array, known: Array | None = None) -> dict[str, float]:
        """As for every classifier, of all heads."""
        # At the very array that ``loss_and_grad`` made, of which nothing is computed again.
        few = self._seen[1] if theta is self._seen[0] else self._to_few * theta
        return self._inner.summary(few, known)


def groups_of_equal_heads(model: Any) -> tuple[list[int], list[int]]:
    """The index of the first head of each group of equal ones, and for every head the number of its
    group."""
    number, group = {}, []
    for W, U in zip(to_numpy(model.W), to_numpy(model.U), strict=True):
        # Bytes can be keys: one pass over the heads, and no comparison of all pairs.
        group.append(number.setdefault((W.tobytes(), U.tobytes()), len(number)))
    return [group.index(k) for k in range(len(number))], group


def equal_heads_once(
    model: MultiHeadAttention, workspace: Callable[[MultiHeadAttention], Any]
) -> ClassifierWorkspace:
    """A workspace that computes equal heads as one, on what ``workspace`` makes of heads that all
    differ."""
    first, group = groups_of_equal_heads(model)
    if len(first) == len(group):
        return workspace(model)
    inner = workspace(model.map(lambda a: a[first]))
    return GroupsWorkspace(model, inner, np.bincount(group).tolist(), first, group)
