"""The workspaces of ``train`` on a compiled program: the model's own formulas, recorded once for
all sizes."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import livegrad
from livegrad.arrays import Array
from livegrad.model.compiled_gradient import (
    Gradient,
    chosen,
    require_doubles,
    require_room,
)
from livegrad.model.programs import parts, program
from livegrad.model.workspace import Workspace
from livegrad.record import Program
from livegrad.record.native import Arena, Unusable, library
from mhalib.attention import (
    Gaussian,
    NormalizedGaussian,
    Softmax,
    gaussian,
    normalized_gaussian,
    softmax,
)
from mhalib.models.classifier_workspace import ClassifierWorkspace
from mhalib.models.layer import AttentionLayer
from mhalib.models.multihead import MultiHeadAttention
from mhalib.models.multihead_workspace import Groups, all_heads, groups_of_equal_heads

WIDEST, WIDEST_ALONE, WIDEST_LAYER = 24, 50, 64
"""Lengths of a token beyond which numpy's products of matrices are faster: for several heads, for
one, for a layer."""
SOURCES = tuple(
    path
    for package in (Path(livegrad.__file__).parent, Path(__file__).parents[1])
    for folder in (package, package / "model", package / "models")
    for path in sorted(folder.glob("*.py"))
)
"""The files that the formulas of the package's own models stand in."""


def chosen_workspace(
    model: Any,
    X: Array,
    y: Array,
    entrywise: bool,
    compiled: bool | None,
    plain: Callable[[Array, Array], Workspace],
) -> Workspace:
    """The compiled workspace of a run, or the ``plain`` one; raises as ``chosen``."""
    return chosen(
        compiled,
        type(model).__name__,
        lambda: compiled_workspace(model, X, y, entrywise),
        lambda: plain(X, y),
    )


def compiled_workspace(model: Any, X: Array, y: Array, entrywise: bool = True) -> Workspace:
    """A workspace on a compiled program of one of the package's models.

    ``entrywise`` says that the update rule moves every number by its own gradient alone: equal
    heads stay equal.

    Raises Unusable, which says why, where numpy or torch is to do the work: that depends on the
    model's kind and sizes, the rule, and what ``livegrad.record.native`` finds on this machine. And
    what ``model.workspace(X, y)`` does.
    """
    kind: Any = {MultiHeadAttention: HeadsWorkspace, AttentionLayer: LayerWorkspace}.get(
        type(model)
    )
    if kind is None:
        raise Unusable(f"the formulas of {type(model).__name__} may be its own")
    require_doubles(X, y, *model.arrays().values())
    model.require_batch(X, y)
    program = kind.program(model, entrywise)
    found, sizes = library(program), kind.sizes(model, X, entrywise)
    require_room(found, program, sizes)
    return kind(model, X, y, Arena(found, program, sizes), entrywise)


def _require_narrow(width, widest):
    if width > widest:
        raise Unusable(
            f"its tokens have {width} numbers, and of more than {widest} numpy's products are faster"
        )


def _program(axes, formulas, name, more=None):
    return program(axes, formulas, {"theta": ""}, {"slope": "d"}, more, name=name, sources=SOURCES)


def _heads(a):
    """What is computed of the classifier, and what a recorded step says of it, the score for each
    head."""
    model, X, y = MultiHeadAttention(a["W"], a["U"]), a["X"], a["y"]
    loss, grad = model.loss_and_grad(X, y)
    scores = (model.attention(X) * a["relevant"][:, None, None, :]).sum(axis=-1).mean(axis=(0, 2))
    measured = {"accuracy": (model.margins(X, y) > 0).mean(), "score": scores}
    return {
        "gradient": {"loss": loss} | parts("d", grad) | measured,
        "summary": {"loss": loss} | measured,
    }


HEADS = _program(MultiHeadAttention.axes, _heads, "MultiHeadAttention", {"relevant": "n T"})


def _groups(model: MultiHeadAttention, entrywise: bool) -> Groups:
    """Which heads are computed as one: those that are equal, if the update rule keeps them so."""
    return groups_of_equal_heads(model) if entrywise else all_heads(model)


class HeadsWorkspace(ClassifierWorkspace):
    """``MultiHeadWorkspace``, compiled. θ is one vector, as ``ravel`` has it, of a head for each
    group of equal ones.

    The program knows no copies. But a logit is linear in U, and is H^(−1/2) times a sum over heads:
    c equal heads of H add c H^(−1/2) ⟨U, …⟩, and one head of the program's G adds G^(−1/2) ⟨V, …⟩.
    These are equal for V = c √(G/H) U, so the program gets U that many times as long.

    Its derivative with respect to U is then c √(G/H) times the one with respect to V, and belongs
    to all c copies together: each has a c-th of it. That is the same as for W, with length 1.
    """

    def __init__(
        self, model: MultiHeadAttention, X: Array, y: Array, arena: Arena, entrywise: bool
    ) -> None:
        super().__init__(model, X, y)
        (H, T, d), (self._first, self._member) = model.sizes, _groups(model, entrywise)
        copies, groups = np.bincount(self._member), len(self._first)
        self._share, self._d = copies / H, d
        # How many heads each entry of θ stands for, and how much longer the program's is; None
        # where all are 1.
        self._counts = self._lengths = None
        if groups < H:
            self._counts = np.repeat(copies, d * d + T * d)
            ones = np.ones((groups, d * d))
            longer = np.repeat(copies[:, None] * (groups / H) ** 0.5, T * d, axis=1)
            self._lengths = np.hstack([ones, longer]).ravel()
        self._arena, self._relevant = arena, None
        self._theta, self._grad, self._loss, self._accuracy, self._score = map(
            arena.array, ("theta", "slope", "loss", "accuracy", "score")
        )
        self._compute_all, self._compute_summary = arena.entry("gradient"), arena.entry("summary")
        self._load(X=X, y=y)

    @staticmethod
    def program(model: MultiHeadAttention, entrywise: bool) -> Program:
        """What is compiled, where it pays; else Unusable is raised."""
        alone = len(_groups(model, entrywise)[0]) == 1
        _require_narrow(model.sizes[2], WIDEST_ALONE if alone else WIDEST)
        return HEADS

    @staticmethod
    def sizes(model: MultiHeadAttention, X: Array, entrywise: bool) -> dict[str, int]:
        """The sizes of the program."""
        n, T, d = X.shape
        return {"n": n, "T": T, "d": d, "H": len(_groups(model, entrywise)[0])}

    def _load(self, **arrays):
        self._arena.load(**arrays)
        self._theta[0] = np.nan  # nothing is computed of any θ

    def _longer(self, theta):
        """The program's own θ."""
        return theta if self._lengths is None else self._lengths * theta

    def pack(self, model: Any) -> np.ndarray:
        """θ of a model, one head for each group of copies."""
        return model.with_arrays(W=model.W[self._first], U=model.U[self._first]).ravel()

    def unpack(self, theta: Array) -> Any:
        """The model of θ, with all H heads."""
        W, U = self._parts(theta)
        return self.model.with_arrays(W=W[self._member], U=U[self._member])

    def _parts(self, theta):
        rows, d = theta.reshape(len(self._first), -1), self._d
        return rows[:, : d * d].reshape(-1, d, d), rows[:, d * d :].reshape(len(rows), -1, d)

    def loss_and_grad(self, theta: Array) -> tuple[Any, Array]:
        """Mean logistic loss and its gradient in the form of θ; the gradient is overwritten by the
        next call."""
        np.copyto(self._theta, self._longer(theta))
        loss = self._compute_all()
        # The chain rule of V = c √(G/H) U, and of that a c-th for each copy.
        return loss, self._grad if self._counts is None else self._grad * (
            self._lengths / self._counts
        )

    def summary(self, theta: Array, known: Array | None = None) -> dict[str, float]:
        """As for every classifier; free if ``loss_and_grad`` was just called at θ."""
        if known is not None and known is not self._relevant:
            self._load(relevant=known)
            self._relevant = known
        # The NaN that ``_load`` writes equals nothing, so new samples are always computed.
        if not np.array_equal(self._theta, self._longer(theta)):
            np.copyto(self._theta, self._longer(theta))
            self._compute_summary()
        measured = {"loss": float(self._loss[0]), "accuracy": float(self._accuracy[0])}
        return (
            measured
            if known is None
            else measured | {"attention_score": float(self._share @ self._score)}
        )

    def norms(self, theta: Array, model: Any) -> dict[str, float]:
        """As of the model."""
        W, U = (
            np.sqrt(np.einsum("hij,hij->h", part, part)) @ self._share
            for part in self._parts(theta)
        )
        return {"norm_W": float(W), "norm_U": float(U) * len(self._member) ** 0.5}

    def grad_norm(self, grad: Array) -> float:
        """The norm of the gradient of all H heads."""
        return float(grad @ (grad if self._counts is None else self._counts * grad)) ** 0.5


@cache
def _layer(kernel):
    """The program of a layer with this kernel."""

    def formulas(a):
        layer = AttentionLayer(*(a[name] for name in AttentionLayer.axes.weights), kernel)
        loss, grad = layer.loss_and_grad(a["X"], a["y"])
        return {"gradient": {"loss": loss} | parts("d", grad)}

    # All kernels have the same sources, so the name has to tell their programs apart.
    return _program(AttentionLayer.axes, formulas, f"AttentionLayer({kernel!r})")


class LayerWorkspace(Workspace):
    """The gradient of a layer, compiled; θ stays the model itself, because a step takes long
    anyway."""

    def __init__(
        self, model: AttentionLayer, X: Array, y: Array, arena: Arena, entrywise: bool
    ) -> None:
        super().__init__(model, X, y)
        self._gradient = Gradient(arena, {name: a.shape for name, a in model.arrays().items()})
        self._gradient.load(X, y)

    @staticmethod
    def program(model: AttentionLayer, entrywise: bool) -> Program:
        """What is compiled: the formula of the usual kernels, where values are as wide as keys,
        where it pays; else Unusable is raised."""
        # Exact types: a subclass may compute otherwise, and its file is not among SOURCES.
        if type(model.kernel) not in (Softmax, Gaussian, NormalizedGaussian):
            raise Unusable("its kernel is none of the package's own")
        if model.WV.shape != model.WK.shape:
            raise Unusable("its values are not as wide as its keys")
        _require_narrow(model.sizes[1], WIDEST_LAYER)
        return _layer(model.kernel)

    @staticmethod
    def sizes(model: AttentionLayer, X: Array, entrywise: bool) -> dict[str, int]:
        """The sizes of the program."""
        (N, n, D), (H, _, d, m) = X.shape, model.sizes
        return {"N": N, "n": n, "D": D, "m": m, "H": H, "d": d}

    def loss_and_grad(self, theta: Any) -> tuple[Any, Any]:
        """Loss and gradient, which owns its arrays."""
        loss, slopes = self._gradient(theta.arrays())
        self._last = theta, loss
        return loss, theta.with_arrays(**slopes)


PROGRAMS = (HEADS, *(_layer(kernel) for kernel in (softmax, gaussian, normalized_gaussian)))
"""All of them: what ``mha.native.warm`` compiles."""
