"""A torch network as a point of a vector space: for slices, straight lines and Lanczos on networks
of many layers."""

from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import nn
from torch.func import functional_call

from livegrad.arrays import derivatives_on, leaves
from livegrad.model.vector import Vector
from mhabook.c08_digits.network_training import chosen


@dataclass(frozen=True, eq=False, repr=False)
class NetworkPoint(Vector):
    """The parameters of a torch network, by name; loss, gradient and Hessian products are
    autograd's.

    Make one with ``NetworkPoint.of(network)``. The network says what its loss is, ``network.loss(X,
    y)``, and how arrays become tensors, ``network.batch(X, y)``, as ``TextTransformer`` and
    ``PatchTransformer`` do. It is shared by all points and never changes.
    """

    parameters: dict[str, torch.Tensor]
    module: Any

    fixed: ClassVar[tuple[str, ...]] = ("module",)
    filter_axis = -1
    """A row of a weight belongs to one output of the map, and a row of an embedding to one word."""

    @classmethod
    def of(cls, network: Any) -> Self:
        """The point at which a network stands now; later changes of the network do not move it.

        Raises TypeError if it is no torch module with ``loss`` and ``batch``.
        """
        if not (
            isinstance(network, nn.Module)
            and hasattr(network, "loss")
            and hasattr(network, "batch")
        ):
            raise TypeError(
                "network: expected a torch module with loss(X, y) and batch(X, y), "
                f"got {type(network).__name__}"
            )
        loss = _Loss(deepcopy(network).requires_grad_(False))
        return cls({name: p.detach() for name, p in loss.network.named_parameters()}, loss)

    def __repr__(self) -> str:
        arrays = list(self.arrays().values())
        return (
            f"NetworkPoint({type(self.module.network).__name__}, "
            f"{sum(a.numel() for a in arrays)} parameters, {arrays[0].dtype})"
        )

    def arrays(self) -> dict[str, Any]:
        """The parameters by name, as ``named_parameters`` of the network lists them."""
        return dict(self.parameters)

    def _require_alike(self, other):
        # Networks are copied into their points, so equal ones are seldom the same object.
        if self.module is other.module:
            return
        mine, theirs = (_settings(point.module.network) for point in (self, other))
        for name in mine | theirs:
            if not _same(mine.get(name), theirs.get(name)):
                raise self._unlike(f"network.{name}", mine.get(name), theirs.get(name), "module")

    def _with(self, arrays):
        return super()._with({"parameters": self.parameters | arrays})

    @property
    def field(self) -> str:
        """Which array of a dataset the network reads."""
        return getattr(self.module.network, "field", "X")

    def chosen(self, names: str | Iterable[str]) -> list[str]:
        """The parameters that one name or several stand for, as ``train_network`` reads them:
        ``chosen``."""
        return chosen(self.module.network, names)

    def network(self) -> Any:
        """A network of its own with these parameters."""
        network = deepcopy(self.module.network).requires_grad_(True)
        # Not strict: buffers are no parameters, and stay those of the copy.
        network.load_state_dict(self.parameters, strict=False)
        return network

    @torch.no_grad()
    def loss(self, X: Any, y: Any) -> float:
        """The loss that the network says, at these parameters."""
        return self._loss(self.parameters, X, y).item()

    @derivatives_on()
    def loss_and_grad(self, X: Any, y: Any) -> tuple[float, Self]:
        """Loss and gradient, which is again a ``NetworkPoint``."""
        tracked = self._tracked()
        loss = self._loss(tracked, X, y)
        return loss.item(), self._with(_gradient(loss, tracked))

    @derivatives_on()
    def hvp(self, X: Any, y: Any, V: Self) -> Self:
        """Product of the Hessian of the loss with a direction V, by differentiating the gradient
        along V."""
        self.require_direction(V)
        tracked = self._tracked()
        gradient = _gradient(self._loss(tracked, X, y), tracked, create_graph=True)
        slope = sum((g * V.parameters[name]).sum() for name, g in gradient.items())
        return self._with(_gradient(slope, tracked))

    def _tracked(self):
        return leaves(self.parameters)

    def _loss(self, parameters, X, y):
        return functional_call(
            self.module,
            {f"network.{name}": p for name, p in parameters.items()},
            tuple(self.module.network.batch(X, y)),
        )


def _settings(network):
    """What the modules of a network hold besides parameters, by dotted name: heads, kernels,
    factors."""
    return {
        f"{path}.{name}".strip("."): value
        for path, module in network.named_modules()
        for name, value in vars(module).items()
        # Names with _ are torch's own bookkeeping, the parameters among it.
        if not name.startswith("_") and name != "training"
    }


def _same(one, other):
    """Whether two are equal, or of one class and hold the same."""
    if type(one) is not type(other):
        return False
    held, theirs = (getattr(thing, "__dict__", None) for thing in (one, other))
    if held and theirs and not callable(getattr(one, "__get__", None)):
        return held.keys() == theirs.keys() and all(
            _same(held[name], theirs[name]) for name in held
        )
    return one is other or bool(np.all(one == other))


class _Loss(nn.Module):
    """A network whose output is its loss: ``functional_call`` can swap the parameters of a
    ``forward`` only."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        # torch's stubs say of a module's attribute that it may be a tensor
        self.network: Any = network

    def forward(self, *batch: torch.Tensor) -> torch.Tensor:
        return self.network.loss(*batch)


def _gradient(value, parameters, create_graph=False):
    # materialize_grads: a parameter that the loss does not reach has the gradient 0, not None.
    found = torch.autograd.grad(
        value, list(parameters.values()), create_graph=create_graph, materialize_grads=True
    )
    return dict(zip(parameters, found, strict=True))
