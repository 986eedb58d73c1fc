"""A torch network as a point of a vector space: for update rules, slices, straight lines and
Lanczos' method on networks of many layers."""

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import nn
from torch.func import functional_call
from torch.nn.attention import SDPBackend, sdpa_kernel

from livegrad.arrays import shown, torch_gradient, torch_hvp
from livegrad.model.vector import Vector


@dataclass(frozen=True, eq=False, repr=False)
class NetworkPoint(Vector):
    """The parameters of a torch network, by name; loss, gradient and Hessian products are
    autograd's.

    Make one with ``NetworkPoint.of(network, loss)``, and train it on ``Samples``, whose arrays
    become tensors where the network is, in its precision. The network is shared by all points and
    never changes.

    Examples
    --------
    >>> import torch
    >>> net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2)).double()
    >>> def loss(output, y):
    ...     return torch.nn.functional.cross_entropy(output, y.long())
    >>> data = lg.Samples(np.eye(3), [0, 1, 1])
    >>> path = lg.train(lg.NetworkPoint.of(net, loss), data, lg.Adam(0.1), steps=50)
    >>> bool(path.loss[-1] < 0.1 * path.loss[0]), path[-1].network()
    (True, Sequential(
      (0): Linear(in_features=3, out_features=4, bias=True)
      (1): Tanh()
      (2): Linear(in_features=4, out_features=2, bias=True)
    ))
    """

    parameters: dict[str, torch.Tensor]
    module: Any

    fixed: ClassVar[tuple[str, ...]] = ("module",)
    filter_axis = -1
    """A row of a weight belongs to one output of the map, and a row of an embedding to one word."""

    @classmethod
    def of(cls, network: Any, loss: Callable[[Any, Any], Any] | None = None) -> Self:
        """The point at which a network stands now; later changes of the network do not move it.

        Parameters that require no gradient stay as they are.

        Raises TypeError if it is no torch module, or has no loss; ValueError if it has no parameter
        that requires a gradient, or its loss is another one at each call, because of dropout or
        batch normalization in training mode.

        Parameters
        ----------
        network : a torch module, which is called with the inputs X
        loss : a function of the network's output and y, such as
            ``torch.nn.functional.mse_loss``. A network that has ``loss(X, y)`` and ``batch(X, y)``,
            which makes the tensors for it, needs none
        """
        if not isinstance(network, nn.Module):
            raise TypeError(f"network: expected a torch module, got {type(network).__name__}")
        if loss is None and not (hasattr(network, "loss") and hasattr(network, "batch")):
            raise TypeError(
                "loss: expected a function of output and y, such as "
                f"torch.nn.functional.mse_loss, got none, and a {type(network).__name__}, which "
                "has no loss(X, y) and batch(X, y)"
            )
        if loss is not None and not callable(loss):
            raise TypeError(f"loss: expected a function of output and y, got {type(loss).__name__}")
        _require_one_loss(network)
        moving = {name: p.detach() for name, p in network.named_parameters() if p.requires_grad}
        if not moving:
            raise ValueError("network: expected a parameter that requires a gradient, got none")
        own = _Loss(deepcopy(network).requires_grad_(False), loss)
        return cls({name: p.clone() for name, p in moving.items()}, own)

    def __repr__(self) -> str:
        arrays = list(self.arrays().values())
        return (
            f"{type(self).__name__}({type(self.module.network).__name__}, "
            f"{sum(a.numel() for a in arrays)} parameters, {arrays[0].dtype})"
        )

    def arrays(self) -> dict[str, Any]:
        """The parameters by name, as ``named_parameters`` of the network lists them."""
        return dict(self.parameters)

    def _require_alike(self, other):
        # Networks are copied into their points, so equal ones are seldom the same object.
        if self.module is other.module:
            return
        mine, theirs = (point.module.settings(point.parameters) for point in (self, other))
        for name in mine | theirs:
            if not _same(mine.get(name), theirs.get(name)):
                raise self._unlike(name, mine.get(name), theirs.get(name), "module")

    def _with(self, arrays):
        return super()._with({"parameters": self.parameters | arrays})

    @property
    def field(self) -> str:
        """Which array of a dataset the network reads."""
        return getattr(self.module.network, "field", "X")

    def chosen(self, names: str | Iterable[str]) -> list[str]:
        """The parameters that one name or several stand for: pieces of their dotted names."""
        found = [name for name in chosen(self.module.network, names) if name in self.parameters]
        if not found:
            raise ValueError(
                f"only: expected parameters that require a gradient, got {names!r:.80}, which "
                "stay as they are"
            )
        return found

    def network(self) -> Any:
        """A network of its own with these parameters."""
        network = deepcopy(self.module.network)
        # Not strict: buffers, and what does not move, stay those of the copy.
        network.load_state_dict(self.parameters, strict=False)
        for name, p in network.named_parameters():
            p.requires_grad_(name in self.parameters)
        return network

    @torch.no_grad()
    def loss(self, X: Any, y: Any) -> float:
        """The mean loss at these parameters."""
        return self._loss(self.parameters, X, y).item()

    def loss_and_grad(self, X: Any, y: Any) -> tuple[float, Self]:
        """Loss and gradient, which is again a ``NetworkPoint``."""
        loss, slopes = torch_gradient(lambda at: self._loss(at, X, y), self.parameters)
        return loss, self._with(slopes)

    def hvp(self, X: Any, y: Any, V: Self) -> Self:
        """Product of the Hessian of the loss with a direction V, by differentiating the gradient
        along V."""
        self.require_direction(V)
        # torch's fused attention has a first derivative and no second one
        with sdpa_kernel(SDPBackend.MATH):
            image = torch_hvp(lambda at: self._loss(at, X, y), self.parameters, V.parameters)
        return self._with(image)

    def _loss(self, parameters, X, y):
        named = {f"network.{name}": p for name, p in parameters.items()}
        return functional_call(self.module, named, (X, y))


class _Loss(nn.Module):
    """A network whose output is its loss: ``functional_call`` can swap the parameters of a
    ``forward`` only."""

    def __init__(self, network: nn.Module, loss: Callable[[Any, Any], Any] | None) -> None:
        super().__init__()
        # torch's stubs say of a module's attribute that it may be a tensor
        self.network: Any = network
        self.loss: Any = loss

    def forward(self, X: Any, y: Any) -> torch.Tensor:
        if self.loss is None:
            return self.network.loss(*self.network.batch(X, y))
        like = next(self.network.parameters())
        X, y = (_as_tensor(a, like) for a in (X, y))
        output = self.network(X)
        # torch broadcasts these to (n, n), and says so in a warning at most
        if y.is_floating_point() and output.shape == (*y.shape, 1):
            raise ValueError(
                f"y: expected the shape of the network's output, {tuple(output.shape)}, got "
                f"{tuple(y.shape)}; write y[:, None]"
            )
        found = self.loss(output, y)
        if not isinstance(found, torch.Tensor) or found.shape:
            raise TypeError(
                f"loss: expected a tensor of shape (), the mean over samples, got {shown(found)}"
            )
        return found

    def settings(self, moving: Iterable[str]) -> dict[str, Any]:
        """What the modules hold besides the parameters that move, by dotted name: heads, kernels,
        factors, buffers, and the loss."""
        network = self.network
        found = {
            f"network.{path}.{name}".replace("..", "."): value
            for path, module in network.named_modules()
            for name, value in vars(module).items()
            # Names with _ are torch's own bookkeeping, the parameters among it.
            if not name.startswith("_") and name != "training"
        }
        fixed = chain(network.named_buffers(), network.named_parameters())
        found |= {f"network.{name}": a for name, a in fixed if name not in moving}
        return found | {"loss": self.loss}


def _as_tensor(a, like):
    """An array as a tensor where another one is, and in its precision if it is no whole numbers."""
    a = torch.as_tensor(a, device=like.device)
    return a.to(like.dtype) if a.is_floating_point() else a


def _require_one_loss(network):
    """Check that a network neither draws nor remembers when it is called."""
    draw = (nn.modules.dropout._DropoutNd, nn.RReLU)
    for name, module in network.named_modules():
        draws = isinstance(module, draw) and getattr(module, "p", 1) > 0
        inside = getattr(module, "dropout", None)  # as attention and recurrent layers have it
        draws |= isinstance(inside, (int, float)) and inside > 0
        if module.training and (draws or getattr(module, "track_running_stats", False)):
            kind = type(module).__name__
            raise ValueError(
                "network: expected one whose loss is the same at each call, got one with "
                f"{kind} in training mode ({f'module {name!r}' if name else 'the network itself'}), which "
                f"{'draws' if draws else 'remembers'}; call network.eval() first"
            )


def _same(one, other):
    """Whether two are equal, or of one class and hold the same."""
    if type(one) is not type(other):
        return False
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    held, theirs = (getattr(thing, "__dict__", None) for thing in (one, other))
    if held and theirs and not callable(getattr(one, "__get__", None)):
        return held.keys() == theirs.keys() and all(
            _same(held[name], theirs[name]) for name in held
        )
    return one is other or bool(np.all(one == other))


def chosen(network: Any, only: str | Iterable[str]) -> list[str]:
    """The names of the parameters that one name or several stand for, in the order of the network.

    A name is that of a part that the network knows, with the parameters ``network.parts()[name]``:
    "WQ" of a ``TextTransformer`` is the query maps of all layers. Or else it is a piece of the
    dotted names of parameters: "attention.out" chooses layers.0.attention.out.weight and three
    more.

    Raises ValueError or TypeError naming what there is, if a name is none of them.
    """
    only = tuple(only) if isinstance(only, Iterable) and not isinstance(only, str) else (only,)
    if not all(isinstance(name, str) for name in only):
        raise TypeError(f"only: expected names of parameters, got {list(only)!r:.80}")
    parts = network.parts() if hasattr(network, "parts") else {}
    names = [name for name, _ in network.named_parameters()]
    found = set()
    for wanted in only:
        # Dots around both, so that only whole pieces of a name match.
        own = parts.get(wanted) or [name for name in names if f".{wanted}." in f".{name}."]
        if not own:
            raise ValueError(
                f"only: expected names among {', '.join([*parts, *names])}, got {wanted!r}"
            )
        found |= set(own)
    if not found:
        raise ValueError("only: expected the name of a parameter, got none")
    return [name for name in names if name in found]
