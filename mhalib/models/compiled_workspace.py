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
    compiled: bool | None,
    plain: Callable[[Any, Array, Array], Workspace],
) -> Workspace:
    """The compiled workspace of a run, or the ``plain`` one; raises as ``chosen``."""
    return chosen(
        compiled,
        type(model).__name__,
        lambda: compiled_workspace(model, X, y),
        lambda: plain(model, X, y),
    )


def compiled_workspace(model: Any, X: Array, y: Array) -> Workspace:
    """A workspace on a compiled program of one of the package's models.

    Raises Unusable, which says why, where numpy or torch is to do the work: that depends on the
    model's kind and sizes, and what ``livegrad.record.native`` finds on this machine. And what
    ``model.workspace(X, y)`` does.
    """
    kind: Any = {MultiHeadAttention: HeadsWorkspace, AttentionLayer: LayerWorkspace}.get(
        type(model)
    )
    if kind is None:
        raise Unusable(f"the formulas of {type(model).__name__} may be its own")
    require_doubles(X, y, *model.arrays().values())
    model.require_batch(X, y)
    program = kind.program(model)
    found, sizes = library(program), kind.sizes(model, X)
    require_room(found, program, sizes)
    return kind(model, X, y, Arena(found, program, sizes))


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


class HeadsWorkspace(ClassifierWorkspace):
    """``MultiHeadWorkspace``, compiled. θ is one vector, as ``ravel`` has it."""

    def __init__(self, model: MultiHeadAttention, X: Array, y: Array, arena: Arena) -> None:
        super().__init__(model, X, y)
        self._arena, self._relevant = arena, None
        self._theta, self._grad, self._loss, self._accuracy, self._score = map(
            arena.array, ("theta", "slope", "loss", "accuracy", "score")
        )
        self._compute_all, self._compute_summary = arena.entry("gradient"), arena.entry("summary")
        self._load(X=X, y=y)

    @staticmethod
    def program(model: MultiHeadAttention) -> Program:
        """What is compiled, where it pays; else Unusable is raised."""
        H, _, d = model.sizes
        _require_narrow(d, WIDEST_ALONE if H == 1 else WIDEST)
        return HEADS

    @staticmethod
    def sizes(model: MultiHeadAttention, X: Array) -> dict[str, int]:
        """The sizes of the program."""
        n, T, d = X.shape
        return {"n": n, "T": T, "d": d, "H": model.sizes[0]}

    def _load(self, **arrays):
        self._arena.load(**arrays)
        self._theta[0] = np.nan  # nothing is computed of any θ

    def pack(self, model: Any) -> np.ndarray:
        """θ of a model."""
        return model.ravel()

    def unpack(self, theta: Array) -> Any:
        """The model of θ."""
        return self.model.unravel(theta).map(lambda a: a + 0)  # each array by itself

    def loss_and_grad(self, theta: Array) -> tuple[Any, Array]:
        """Mean logistic loss and its gradient in the form of θ; the gradient is overwritten by the
        next call."""
        np.copyto(self._theta, theta)
        return self._compute_all(), self._grad

    def grad_norm(self, grad: Array) -> float:
        """Its Euclidean norm."""
        return float(grad @ grad) ** 0.5

    def summary(self, theta: Array, known: Array | None = None) -> dict[str, float]:
        """As for every classifier; free if ``loss_and_grad`` was just called at θ."""
        if known is not None and known is not self._relevant:
            self._load(relevant=known)
            self._relevant = known
        # The NaN that ``_load`` writes equals nothing, so new samples are always computed.
        if not np.array_equal(self._theta, theta):
            np.copyto(self._theta, theta)
            self._compute_summary()
        measured = {"loss": float(self._loss[0]), "accuracy": float(self._accuracy[0])}
        return (
            measured
            if known is None
            else measured | {"attention_score": self.over_heads(self._score)}
        )


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

    def __init__(self, model: AttentionLayer, X: Array, y: Array, arena: Arena) -> None:
        super().__init__(model, X, y)
        self._gradient = Gradient(arena, model.arrays())
        self._gradient.load(X, y)

    @staticmethod
    def program(model: AttentionLayer) -> Program:
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
    def sizes(model: AttentionLayer, X: Array) -> dict[str, int]:
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
