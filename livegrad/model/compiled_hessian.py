"""The product of a derived Hessian with a direction, compiled where that is faster than numpy: as
the gradient is, and refused where that is."""

from collections.abc import Mapping
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from livegrad.arrays import Array
from livegrad.model.compiled_gradient import (
    TOLERANCE,
    Executor,
    chosen,
    own_program,
    point_of,
    require_form,
    require_room,
    require_worth,
)
from livegrad.model.programs import parts
from livegrad.model.weights import layout, probe
from livegrad.record import Program, native
from livegrad.record.numeric import Evaluator


def products_or(
    evaluator: Evaluator,
    model: Any,
    X: Array,
    y: Array,
    products: int,
    compiled: bool | None = None,
) -> Executor:
    """The product ∇²L(θ) V on some samples, compiled; ``evaluator``, which does the same, where
    numpy is to do it.

    Which of the two depends on the arguments, and what ``livegrad.record.native`` finds on this
    machine, as for gradients. For ``products = 0`` it is always numpy.

    Raises as ``chosen``.
    """
    if products == 0:
        return evaluator

    def program():
        if not compiled:
            require_worth(evaluator, products, "products")
        return _compiled(evaluator, model, X, y)

    return chosen(compiled, _name(model), program, lambda: evaluator)


def _name(model):
    return f"{type(model).__name__}.hvp"


_programs: WeakKeyDictionary[Evaluator, Program] = WeakKeyDictionary()
"""The program of each record that is remembered: to print one takes as long as many products."""


def _compiled(evaluator, model, X, y):
    """The program; Unusable is raised where there is none."""
    require_form(evaluator, model, X, y)
    own = _programs.get(evaluator)
    if own is None:
        own = _programs[evaluator] = _program(model, X, y)
    library = native.library(own)
    require_room(library, own, {"n": len(X)})
    found = Products(native.Arena(library, own, {"n": len(X)}), evaluator, model, X, y)
    if not found.is_right():
        native.refuse(own, f"of all {len(X)} samples it gives another product than numpy")
    return found


def _program(model, X, y):
    """The program of ∇²L(θ) V."""

    def formulas(a):
        theta, along = (point_of(model, a, prefix) for prefix in ("theta_", "along_theta_"))
        return {"product": parts("dtheta_", theta.hvp(a["X"], a["y"], along))}

    reads = {"theta": "", "along": "along_"}
    return own_program(model, X, y, formulas, reads, {"image": "d"}, _name(model))


class Products:
    """The entry ``product`` of a program on its samples, called as the ``Evaluator`` is; what is not
    finite is numpy's to say.

    The weights lie one after the other in ``theta``, those of the direction in ``along``, and those
    of the product in ``image``.
    """

    def __init__(
        self, arena: native.Arena, evaluator: Evaluator, model: Any, X: Array, y: Array
    ) -> None:
        self._ask, self._evaluator, self._model = arena.entry("product"), evaluator, model
        self._read = {prefix: arena.array(prefix) for prefix in ("theta", "along")}
        self._image = arena.array("image")
        self._parts = layout(model.arrays())
        self._samples = {"X": X, "y": y}
        self._alone = Lock()  # whoever got the operator may ask it in two threads
        arena.load(X=X, y=y)

    def __call__(self, inputs: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """∇²L(θ) V, by the weights in their order, of inputs such as ``theta_W`` and ``along_W``;
        owns its arrays."""
        with self._alone:
            for prefix, buffer in self._read.items():
                for name, (part, _) in self._parts.items():
                    buffer[part] = inputs[f"{prefix}_{name}"].ravel()
            self._ask()
            image = self._image.copy()
        if not np.isfinite(image.sum()):
            return self._evaluator(inputs)
        return [image[part].reshape(shape).copy() for part, shape in self._parts.values()]

    def is_right(self) -> bool:
        """Whether it gives what numpy gives, near the model's weights and along a direction in which
        all move."""
        inputs = {
            **self._samples,
            **parts("theta_", self._model.map(lambda a: a + 0.1 * probe(a.shape))),
            **parts("along_", self._model.map(lambda a: probe(a.shape, first=3))),
        }
        found, wanted = self(inputs), self._evaluator(inputs)
        scale = max(np.abs(a).max(initial=0.0) for a in wanted)
        return all(
            np.abs(one - other).max(initial=0.0) <= TOLERANCE * scale
            for one, other in zip(found, wanted, strict=True)
        )
