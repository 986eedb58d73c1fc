"""numpy, torch, or a record? The arrays decide. No formula knows that torch exists; only this file does. And none knows
whether it is being recorded (``mhalib.trace``).

A formula asks ``xp = namespace(X, W)`` and writes ``xp.exp(S)``. What ``xp`` may offer is the list
``PERMITTED`` below and nothing else: each name means the same thing in numpy and in torch, ``out=`` included.
Operators and the methods ``.mT``, ``.reshape``, ``.sum(axis=…)``, ``.mean(axis=…)``, ``.max()``, ``.min()``
agree already and need no entry. torch is never imported here: if an argument is a tensor, its owner did that.
"""

import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from math import cos, isfinite
from numbers import Real
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, Union

import numpy as np

if TYPE_CHECKING:
    import torch

Array: TypeAlias = Union[np.ndarray, "torch.Tensor"]
"""A numpy array or a torch tensor; all arrays of one call belong to the same library."""

PERMITTED = ("abs", "concatenate", "diagonal", "divide", "empty", "exp", "isfinite", "log", "matmul", "maximum",
             "multiply", "sqrt", "stack", "sum", "where", "zeros", "zeros_like")
"""Functions that numpy and torch both have, with the same name and meaning.

``namespace`` adds, adapted where the two differ: ``amax(x, axis, keepdims)``, ``ascontiguousarray(x)``,
``einsum(subscripts, *operands)`` (at most two operands, by matrix product), ``new_empty(shape, like)``,
``new_ones(shape, like)``, ``norm(x, axis)``, ``softplus(x)`` = log(1 + eˣ) without overflow, and of the dtype of x
``eps(x)``, the distance of 1 to the next number, and ``log_max(x)`` = log of the largest number."""


def _torch():
    return sys.modules.get("torch")


def _is_recorded(a):
    """Whether a is an array that records what is done with it, ``mhalib.trace.Traced``."""
    trace = sys.modules.get("mhalib.trace")
    return trace is not None and isinstance(a, trace.Traced)


def is_array(a: object) -> TypeGuard[Array]:
    """Whether a is a numpy array, a torch tensor, or an array that records a formula."""
    torch = _torch()
    return (isinstance(a, (np.ndarray, np.generic)) or (torch is not None and isinstance(a, torch.Tensor))
            or _is_recorded(a))


def namespace(*arrays: Array, **named: Array) -> Any:
    """The functions of the library that all the arrays belong to.

    Raises TypeError if an argument is no array, or numpy and torch are mixed: no array is converted silently.
    """
    if not named and all(type(a) is np.ndarray for a in arrays):
        return _numpy()  # the usual case, decided in a fraction of a microsecond
    named = {f"argument {k + 1}": a for k, a in enumerate(arrays)} | named
    kinds = {name: _kind(name, a) for name, a in named.items()}
    if len(mixed := sorted(set(kinds.values()))) > 1:
        found = ", ".join(f"{name} is {kind}" for name, kind in kinds.items())
        raise TypeError(f"expected all arrays from one library, got {' and '.join(mixed)} mixed: {found}; "
                        "convert one side, for example model.map(torch.as_tensor)")
    if "recorded" in kinds.values():
        return sys.modules["mhalib.trace"].namespace()
    return _numpy() if "numpy" in kinds.values() else _torch_namespace()


def _kind(name, a):
    if isinstance(a, (np.ndarray, np.generic)):
        return "numpy"
    if is_array(a):
        return "recorded" if _is_recorded(a) else "torch"
    raise TypeError(f"{name}: expected a numpy array or a torch tensor, got {type(a).__name__}")


@cache
def _numpy():
    return SimpleNamespace(
        **{name: getattr(np, name) for name in PERMITTED},
        amax=np.max,
        ascontiguousarray=np.ascontiguousarray,
        einsum=partial(np.einsum, optimize=True),
        new_empty=lambda shape, like: np.empty(shape, like.dtype),
        new_ones=lambda shape, like: np.ones(shape, like.dtype),
        norm=lambda x, axis: np.sqrt((x * x).sum(axis=axis)),
        softplus=partial(np.logaddexp, 0),
        eps=lambda x: float(np.finfo(x.dtype).eps),
        log_max=lambda x: float(np.log(np.finfo(x.dtype).max)),
    )


@cache
def _torch_namespace():
    torch = _torch()
    return SimpleNamespace(
        **{name: getattr(torch, name) for name in PERMITTED},
        amax=lambda x, axis, keepdims=False: torch.amax(x, axis, keepdims),
        ascontiguousarray=torch.Tensor.contiguous,
        einsum=torch.einsum,
        new_empty=lambda shape, like: like.new_empty(shape),
        new_ones=lambda shape, like: like.new_ones(shape),
        norm=lambda x, axis: torch.sqrt((x * x).sum(axis=axis)),
        softplus=lambda x: torch.logaddexp(x.new_zeros(()), x),
        eps=lambda x: float(torch.finfo(x.dtype).eps),
        log_max=lambda x: float(np.log(torch.finfo(x.dtype).max)),
    )


def is_tensor(a: object) -> bool:
    """Whether a is a tensor of torch."""
    torch = _torch()
    return torch is not None and isinstance(a, torch.Tensor)


def torch_gradient(loss: Callable[[dict[str, Array]], Any], arrays: dict[str, Array]) -> tuple[float, dict[str, Array]]:
    """The loss of named tensors, a number, and its derivatives by torch's own reverse mode; zeros where it has none."""
    leaves = {name: a.detach().requires_grad_() for name, a in arrays.items()}
    value = _one_number(loss, leaves)
    slopes = _torch().autograd.grad(value, list(leaves.values()), allow_unused=True, materialize_grads=True)
    return value.item(), dict(zip(leaves, slopes, strict=True))


def torch_hvp(loss: Callable[[dict[str, Array]], Any], arrays: dict[str, Array],
              along: dict[str, Array]) -> dict[str, Array]:
    """∇² of a loss of named tensors, times a direction, by torch's own reverse mode, twice."""
    leaves = {name: a.detach().requires_grad_() for name, a in arrays.items()}
    options = {"allow_unused": True, "materialize_grads": True}
    slopes = _torch().autograd.grad(_one_number(loss, leaves), list(leaves.values()), create_graph=True, **options)
    product = sum((slope * along[name]).sum() for name, slope in zip(leaves, slopes, strict=True))
    if not product.requires_grad:  # a loss that is linear
        return {name: 0 * a for name, a in arrays.items()}
    products = _torch().autograd.grad(product, list(leaves.values()), **options)
    return dict(zip(leaves, products, strict=True))


def _one_number(loss, leaves):
    try:
        value = loss(leaves)
    except RuntimeError as error:
        if "requires grad" not in str(error):
            raise
        value = None  # a function of numpy was asked
    if not (is_tensor(value) and value.ndim == 0 and value.requires_grad):
        shape = f" of shape {tuple(value.shape)}" if is_array(value) else ""
        raise TypeError("loss: expected one number that torch computed from the weights, a tensor of shape () that "
                        f"wants a gradient, got {type(value).__name__}{shape}; write torch.exp and not np.exp, and "
                        "leave float() out")
    return value


def to_numpy(a: Array) -> np.ndarray:
    """The array as a numpy array, copied from wherever it lives; one that records as it is."""
    if _kind("a", a) == "torch":
        return a.detach().cpu().numpy()
    return a if _is_recorded(a) else np.asarray(a)


def as_like(a: np.ndarray, like: Array) -> Array:
    """A numpy array a in the library, dtype and place of the array ``like``."""
    if _kind("like", like) == "torch":
        return _torch().as_tensor(a, dtype=like.dtype, device=like.device)
    return a if _is_recorded(a) else np.asarray(a, str(like.dtype))


def require(name: str, a: Array, shape: Sequence[int | str], finite: bool = True) -> None:
    """Check that an array has a floating dtype, the expected shape and only finite numbers.

    Raises TypeError if a is no array of floating-point numbers; ValueError if the shape differs, an axis is empty, or
    (unless ``finite=False``) an entry is NaN or infinite.

    Parameters
    ----------
    name : the argument's name, for the message
    shape : one entry an axis: a number where the size is fixed, a letter where any size ≥ 1 will do
    """
    _kind(name, a)
    wanted = "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
    if not str(a.dtype).removeprefix("torch.").startswith(("float", "bfloat")):
        raise TypeError(f"{name}: expected floating-point numbers of shape {wanted}, got dtype {a.dtype}")
    fits = a.ndim == len(shape) and all(isinstance(want, str) or got == want
                                        for got, want in zip(a.shape, shape, strict=True))
    if not fits or 0 in a.shape:
        raise ValueError(f"{name}: expected shape {wanted} with no empty axis, got {tuple(a.shape)}")
    if finite and not getattr(a, "is_meta", False) and not bool(namespace(a).isfinite(a).all()):
        raise ValueError(f"{name}: expected finite numbers, got NaN or infinity among its {tuple(a.shape)} entries")


def require_same_dtype(**arrays: Array) -> None:
    """Check that named arrays come from one library and share one dtype; nothing is promoted silently.

    Raises TypeError if libraries or dtypes differ.
    """
    namespace(**arrays)
    if len({a.dtype for a in arrays.values()}) > 1:
        found = ", ".join(f"{name} has {a.dtype}" for name, a in arrays.items())
        raise TypeError(f"expected one dtype, got {found}; convert one side, for example with "
                        "data.map(lambda a: a.astype('float32'))")


def require_labels(y: Array, X: Array) -> None:
    """Check labels y (n,) in {−1, +1} for a batch X (n, …) of the same library and dtype.

    Raises TypeError if y is no array of floating-point numbers, or differs from X in library or dtype; ValueError if
    its shape is not (n,) or an entry is neither −1 nor +1.
    """
    _kind("X", X)
    require("y", y, (len(X),))
    require_same_dtype(y=y, X=X)
    if not getattr(y, "is_meta", False) and not bool((abs(y) == 1).all()):
        found = ", ".join(f"{value:g}" for value in sorted(set(to_numpy(y).tolist()))[:5])
        raise ValueError(f"y: expected labels −1 and +1, got {found}; for labels 0/1 use 2 * y − 1")


def require_seed(seed: int) -> None:
    """Check that a seed is a whole number ≥ 0.

    Raises ValueError if it is not: results without a seed could not be repeated.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed: expected a whole number ≥ 0, got {seed!r}")


def require_count(**counts: int) -> None:
    """Check that every named number is a whole number ≥ 1.

    Raises ValueError naming the first that is not.
    """
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < 1:
            raise ValueError(f"{name}: expected a whole number ≥ 1, got {count!r}")


def as_number(number: Any) -> Any:
    """The number as a float, because a np.float64 would turn float32 arrays into float64; one that records as it is."""
    return number if _is_recorded(number) else float(number)


_OF_NUMBERS = SimpleNamespace(cos=cos, maximum=max, minimum=min, where=lambda condition, a, b: a if condition else b)


def of_numbers(number: Any) -> Any:
    """``cos``, ``maximum``, ``minimum`` and ``where`` of numbers: Python's own, or those of a number that records."""
    return namespace(number) if _is_recorded(number) else _OF_NUMBERS


def is_positive(number: object) -> TypeGuard[float]:
    """Whether this is a finite number > 0."""
    return isinstance(number, Real) and not isinstance(number, bool) and isfinite(number) and number > 0
