"""What every model has beside its formulas: a gradient and a Hessian that are derived from its loss."""

from collections.abc import Callable
from functools import partial
from os import PathLike
from typing import Any, Self

from livegrad.arrays import Array
from livegrad.model.algebra import Algebra
from livegrad.model.workspace import Workspace

# What derives a gradient is imported by the first model that has none of its own.


DERIVED_HESSIAN = "hvp", "hessian_operator"
"""The methods of which a model with another loss has none from a class with its own."""


class Vector(Algebra):
    """A model: a point of a vector space, by ``Algebra``, with a loss.

    A frozen dataclass that extends it writes ``loss(X, y)``, in numpy; or ``loss_and_grad(X, y)``
    where it has a closed form of the gradient; or both. Whatever it does not write is derived.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # @dataclass would take the inherited method of that name as the field's default value.
        for name in vars(cls).get("__annotations__", {}):
            if hasattr(Vector, name) and name != "fixed":
                raise TypeError(
                    f"{name}: expected a field with a name of its own, got one that every model "
                    f"has: Vector.{name}; rename the field of {cls.__name__}"
                )
        for name in DERIVED_HESSIAN:
            if any(_is_newer(cls, loss, name) for loss in ("loss", "loss_and_grad")):
                # an inherited one is that of another loss
                setattr(cls, name, getattr(Vector, name))

    def norms(self) -> dict[str, float]:
        """What a recorded step says of the size of the weights, name → number: nothing, unless a
        model overrides it."""
        return {}

    def against(self, data: Any) -> dict[str, float]:
        """What the truth behind ``data`` says of this model, name → number: nothing, unless a model
        overrides it."""
        return {}

    def save(self, file: str | PathLike[str]) -> None:
        """Write this model to one file, whose name ends in .npz; ``load`` reads it.

        Every number is kept as it is, and nothing is pickled. A setting that is no number, such as
        a function, is not kept: ``load(file, like=model)`` takes it from another model.

        Raises ValueError if the name has another ending; FileNotFoundError if there is no such
        folder.
        """
        from livegrad.model import stored

        stored.save(file, "model", self, {"model": self})

    # X and y are Any, so that a model may say of its own loss what they are.
    def loss(self, X: Any, y: Any) -> Any:
        """The loss that ``loss_and_grad`` gives; a model overrides one of the two, or both.

        Raises TypeError for a model with neither.
        """
        if type(self).loss_and_grad is Vector.loss_and_grad:
            raise TypeError(
                f"{type(self).__name__}: expected a model with loss(X, y) or loss_and_grad(X, y)"
            )
        return self.loss_and_grad(X, y)[0]

    def loss_and_grad(self, X: Any, y: Any) -> tuple[Any, Self]:
        """The loss and its gradient, derived from what ``loss`` does; a model with a closed form
        overrides it.

        Raises Untraceable (a TypeError) where ``loss`` does what cannot be recorded,
        ArithmeticError where the record is another function than ``loss``.
        """
        from livegrad.model.derived import derived_loss_and_grad

        return derived_loss_and_grad(self, X, y)

    def hvp(self, X: Array, y: Array, V: Self) -> Self:
        """Product ∇²L(θ) V of the Hessian of the loss with a direction V, a point of the same
        class.

        It is the gradient of ⟨∇L(θ), V⟩, derived from what ``loss`` or ``loss_and_grad`` do; a
        model with a closed form overrides it.

        Raises Untraceable (a TypeError) where they do what cannot be recorded; as
        ``require_direction`` if V is none.
        """
        return self.hessian_operator(X, y)(V)

    def hessian_operator(self, X: Array, y: Array) -> Callable[[Self], Self]:
        """The map V ↦ ∇²L(θ) V on a batch, with everything that does not depend on V computed
        once."""
        if type(self).hvp is not Vector.hvp:
            return partial(self.hvp, X, y)
        from livegrad.model.derived import derived_hessian

        return derived_hessian(
            self, X, y, closed=type(self).loss_and_grad is not Vector.loss_and_grad
        )

    def gauss_newton_operator(self, X: Array, y: Array) -> Callable[[Self], Self]:
        r"""The map V ↦ G V of the Gauss–Newton matrix on a batch, for a model that says its outputs.

        .. math:: G = J^\top\, \nabla^2_z \ell(z)\, J, \qquad z = f_\theta(X)

        z are the outputs ``self(X)``, one array of any shape; J (size of z, P) is their Jacobian in
        the P weights; ℓ is what ``loss`` makes of them, so G is positive semidefinite where ℓ is
        convex. V and G V are points of the model's class. numpy computes the product.

        Raises TypeError if the model has no ``__call__``, ``loss`` does not call ``self(X)`` or reads
        weights beside it, or they are tensors of torch; otherwise as ``hvp``.

        Examples
        --------
        In a class that has G in place of its Hessian, ``spectrum``, ``sharpness`` and ``density``
        are those of G:

        >>> from livegrad.examples.two_layer_network import TwoLayers, start, wave
        >>> class GaussNewton(TwoLayers):
        ...     hessian_operator = TwoLayers.gauss_newton_operator
        >>> model = GaussNewton(**start().arrays())
        >>> low, high = lg.landscape.spectrum(model, wave()).values
        >>> bool(abs(low) < 1e-12 < high)
        True
        """
        from livegrad.model.derived import derived_gauss_newton

        return derived_gauss_newton(self, X, y)

    def hessians(
        self, X: Array, y: Array, products: int, compiled: bool | None = None
    ) -> Callable[[Self], Callable[[Self], Self]]:
        """The map θ ↦ (V ↦ ∇²L(θ) V) on a batch, at this model and others of its class: the fastest
        that there is for so many products.

        A product that is derived is recorded once, and compiled where ``train`` would compile as
        many steps; ``compiled`` is as there.

        Raises as ``hvp``; RuntimeError where a program is asked for, and there is none.
        """
        own = [getattr(type(self), name) for name in DERIVED_HESSIAN]
        if own == [getattr(Vector, name) for name in DERIVED_HESSIAN]:
            from livegrad.model.derived import derived_hessians

            closed = type(self).loss_and_grad is not Vector.loss_and_grad
            return derived_hessians(self, X, y, closed, products, compiled)
        if compiled:
            raise RuntimeError(
                "compiled: expected a Hessian that can be compiled; of models with an hvp of their "
                "own numpy computes it"
            )
        return lambda theta: theta.hessian_operator(X, y)

    def workspace(self, X: Array, y: Array) -> Workspace:
        """What ``train`` runs on: the plain formula here, a faster equivalent where a model has
        one."""
        if type(self).loss_and_grad is not Vector.loss_and_grad:
            return Workspace(self, X, y)
        from livegrad.model.derived import Derived

        return Derived(self, X, y)

    def workspace_for(
        self, X: Array, y: Array, *, entrywise: bool, steps: int, compiled: bool | None = None
    ) -> Workspace:
        """The workspace of a run of so many steps: the fastest that there is; ``compiled`` is as in
        ``train``.

        ``entrywise`` says that the update rule moves every number by its own gradient alone:
        weights that are equal stay equal, and may be computed as one.
        """
        from livegrad.model.derived import flat_or_not

        space = self.workspace(X, y).for_steps(steps, compiled)
        return flat_or_not(space) if entrywise else space


def _is_newer(kind, name, than):
    """Whether a class has, or inherits from one nearer by, another method of one name than of the
    other."""
    of = [
        next(k for k, base in enumerate(kind.__mro__) if each in vars(base))
        for each in (name, than)
    ]
    return of[0] < of[1]
