"""numpy, torch, or a record? The arrays decide. No formula knows that torch exists; only this file
does. And none knows whether it is being recorded (``Recorded``).

A formula asks ``xp = namespace(X, W)`` and writes ``xp.exp(S)``. What ``xp`` may offer is the list
``PERMITTED`` below and nothing else: each name means the same thing in numpy and in torch, ``out=``
included. Operators and the methods ``.mT``, ``.reshape``, ``.sum(axis=…)``, ``.mean(axis=…)``,
``.max()``, ``.min()`` agree already and need no entry. torch is never imported here: if an argument
is a tensor, its owner did that.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from math import cos, inf, isclose, isfinite, log10
from numbers import Real
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeGuard, TypeVar, Union

import numpy as np

if TYPE_CHECKING:
    import torch

Array: TypeAlias = Union[np.ndarray, "torch.Tensor"]
"""A numpy array or a torch tensor; all arrays of one call belong to the same library."""
Given = TypeVar("Given", bound=Array)
"""The type of an array that a function gives back as it came."""

PERMITTED = (
    "abs",
    "concatenate",
    "diagonal",
    "divide",
    "empty",
    "exp",
    "isfinite",
    "log",
    "matmul",
    "maximum",
    "multiply",
    "sqrt",
    "stack",
    "sum",
    "where",
    "zeros",
    "zeros_like",
)
"""Functions that numpy and torch both have, with the same name and meaning.

``namespace`` adds, adapted where the two differ: ``amax(x, axis, keepdims)``,
``ascontiguousarray(x)``, ``einsum(subscripts, *operands)`` (at most two operands, by matrix
product), ``new_empty(shape, like)``, ``new_ones(shape, like)``, ``norm(x, axis)``,
``softplus(x)`` = log(1 + eˣ) without overflow, and of the dtype of x ``eps(x)``, the distance of 1
to the next number, and ``log_max(x)`` = log of the largest number."""


def _torch():
    return sys.modules.get("torch")


class Recorded:
    """An array that records what is done with it; who makes records says what ``namespace`` gives
    for them."""

    functions: ClassVar[Callable[[], Any]]


def is_array(a: object) -> TypeGuard[Array]:
    """Whether a is a numpy array, a torch tensor, or an array that records a formula."""
    torch = _torch()
    return (
        isinstance(a, (np.ndarray, np.generic))
        or (torch is not None and isinstance(a, torch.Tensor))
        or isinstance(a, Recorded)
    )


def namespace(*arrays: Array, **named: Array) -> Any:
    """The functions of the library that all the arrays belong to.

    Raises TypeError if an argument is no array of real numbers, numpy and torch are mixed, or
    tensors live on two devices: no array is converted silently.
    """
    if all(map(_is_plain, (*arrays, *named.values()))):
        return _numpy()  # the usual case, decided in a microsecond
    named = {f"argument {k + 1}": a for k, a in enumerate(arrays)} | named
    kinds = {name: _kind(name, a) for name, a in named.items()}
    libraries = set(kinds.values())
    if len(libraries) > 1 and libraries != {"numpy", "recorded"}:  # a record takes numbers of numpy
        found = ", ".join(f"{name} is {kind}" for name, kind in kinds.items())
        raise TypeError(
            f"expected all arrays from one library, got {' and '.join(sorted(libraries))} mixed: "
            f"{found}; convert one side, for example model.map(torch.as_tensor)"
        )
    if "recorded" in libraries:
        return Recorded.functions()
    if "numpy" in libraries:
        return _numpy()
    _require_one_device(named)
    return _torch_namespace()


def _is_plain(a):
    # type, not isinstance: masked arrays and matrices are ndarrays with operators of their own.
    return type(a) is np.ndarray and a.dtype.kind in "fiub"


def _require_one_device(tensors):
    if len({a.device for a in tensors.values()}) > 1:
        found = ", ".join(f"{name} is on {a.device}" for name, a in tensors.items())
        raise TypeError(
            f"expected all tensors on one device, got two: {found}; "
            "move one side, for example data.map(lambda a: a.to(device))"
        )


def _kind(name, a):
    """The library of an array; a TypeError where the formulas would misread it."""
    if _is_plain(a):
        return "numpy"
    if not is_array(a):
        cure = f"; np.array({name}, float) makes one" if isinstance(a, (list, tuple)) else ""
        cure = f"; {name}.to_numpy() makes one" if hasattr(a, "to_numpy") else cure
        cure = f"; {name}.toarray() makes one" if hasattr(a, "toarray") else cure
        raise TypeError(
            f"{name}: expected a numpy array or a torch tensor, got {type(a).__name__}{cure}"
        )
    if isinstance(a, Recorded):
        return "recorded"
    if type(a) is np.ndarray and a.dtype.kind == "c":
        return "numpy"  # a formula may be differentiated by a complex step
    if isinstance(a, (np.ndarray, np.generic)):
        require_own_meaning(name, a)
        return "numpy"
    if not is_dense(a):
        raise TypeError(
            f"{name}: expected a dense tensor, got one of layout {a.layout}; {name}.to_dense() "
            f"makes one"
        )
    return "torch"


def require_own_meaning(name: str, a: np.ndarray) -> None:
    """Check that a numpy array means the numbers that it holds, row by row: no mask, no unit, no
    other product.

    Raises TypeError for a masked array, a matrix or another subclass, and for entries that are no
    real numbers.
    """
    # Ahead of other subclasses: np.asarray, their cure, would drop the mask silently.
    if isinstance(a, np.ma.MaskedArray):
        raise TypeError(
            f"{name}: expected an array without a mask, got a masked one of shape {a.shape}; "
            f"{name}.filled(value) says what stands in the gaps"
        )
    # A memmap differs only in where its numbers lie.
    if isinstance(a, np.ndarray) and type(a) not in (np.ndarray, np.memmap):
        raise TypeError(
            f"{name}: expected a plain numpy array, got {shown(a)}; np.asarray({name}) makes one"
        )
    if a.dtype.kind not in "fiub":
        raise TypeError(f"{name}: expected real numbers, got {shown(a)}{_cure(name, a.dtype)}")


def is_dense(tensor: "torch.Tensor") -> bool:
    """Whether a tensor holds all its numbers, and not those alone that are not zero."""
    return tensor.layout == _torch().strided and not tensor.is_quantized


@cache
def _numpy():
    return SimpleNamespace(
        **{name: getattr(np, name) for name in PERMITTED},
        amax=np.max,
        ascontiguousarray=np.ascontiguousarray,
        # Only with optimize does numpy's einsum use BLAS.
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
        # torch.logaddexp takes tensors alone, and one of x's dtype promotes nothing.
        softplus=lambda x: torch.logaddexp(x.new_zeros(()), x),
        eps=lambda x: float(torch.finfo(x.dtype).eps),
        log_max=lambda x: float(np.log(torch.finfo(x.dtype).max)),
    )


def is_tensor(a: object) -> bool:
    """Whether a is a tensor of torch."""
    torch = _torch()
    return torch is not None and isinstance(a, torch.Tensor)


def on_device(a: Array) -> bool:
    """Whether an array is a tensor that lives elsewhere than in the memory of the CPU."""
    return is_tensor(a) and a.device.type != "cpu"


@contextmanager
def derivatives_on() -> Iterator[None]:
    """Let torch derive in here, although a reader has switched that off around it: by no_grad,
    inference_mode or set_grad_enabled(False)."""
    torch = _torch()
    with torch.inference_mode(False), torch.enable_grad():
        yield


def derivable(a: "torch.Tensor") -> "torch.Tensor":
    """The tensor; a copy of one that was made in inference_mode, of which torch derives nothing."""
    return a.clone() if a.is_inference() else a


def leaves(arrays: dict[str, "torch.Tensor"]) -> dict[str, "torch.Tensor"]:
    """The same numbers as tensors with respect to which torch derives."""
    # Detached first, so that the flag is set on a new tensor and not on the model's own.
    return {name: derivable(a).detach().requires_grad_() for name, a in arrays.items()}


@derivatives_on()
def torch_gradient(
    loss: Callable[[dict[str, Array]], Any], arrays: dict[str, Array]
) -> tuple[float, dict[str, Array]]:
    """The loss of named tensors, a number, and its derivatives by torch's own reverse mode; zeros
    where it has none."""
    at = leaves(arrays)
    value = _one_number(loss, at)
    slopes = _torch().autograd.grad(
        value, list(at.values()), allow_unused=True, materialize_grads=True
    )
    return value.item(), dict(zip(at, slopes, strict=True))


@derivatives_on()
def torch_hvp(
    loss: Callable[[dict[str, Array]], Any], arrays: dict[str, Array], along: dict[str, Array]
) -> dict[str, Array]:
    """∇² of a loss of named tensors, times a direction, by torch's own reverse mode, twice."""
    at = leaves(arrays)
    value, options = _one_number(loss, at), {"allow_unused": True, "materialize_grads": True}
    found = _torch().autograd.grad(value, list(at.values()), create_graph=True, allow_unused=True)
    if all(slope is None for slope in found):
        raise TypeError(
            "loss: expected a loss that torch computes from the weights it is given, got one of "
            "copies of them, as detach() makes; write loss(X, y) without detach or backward"
        )
    slopes = [
        0 * a if slope is None else slope for a, slope in zip(at.values(), found, strict=True)
    ]
    # ∇⟨∇L(θ), V⟩ = ∇²L(θ) V, because V does not move with θ.
    product = sum(
        (slope * derivable(along[name])).sum() for name, slope in zip(at, slopes, strict=True)
    )
    if not product.requires_grad:  # a loss that is linear
        return {name: 0 * a for name, a in arrays.items()}
    products = _torch().autograd.grad(product, list(at.values()), **options)
    return dict(zip(at, products, strict=True))


def _one_number(loss, at):
    try:
        value = loss(at)
    except RuntimeError as error:
        if "requires grad" not in str(error):
            raise
        value = None  # a function of numpy was asked
    if not (is_tensor(value) and value.ndim == 0 and value.requires_grad):
        shape = f" of shape {tuple(value.shape)}" if is_array(value) else ""
        raise TypeError(
            "loss: expected one number that torch computed from the weights, a tensor of shape "
            f"() that wants a gradient, got {type(value).__name__}{shape}; write torch.exp and "
            "not np.exp, and leave float() out"
        )
    return value


def to_numpy(a: Array) -> np.ndarray:
    """The array as a numpy array, copied from wherever it lives; one that records as it is."""
    if _kind("a", a) == "torch":
        here = a.detach().cpu()
        # numpy has no such numbers; each is one of single precision, too
        return (here.float() if str(a.dtype) == "torch.bfloat16" else here).numpy()
    return a if isinstance(a, Recorded) else np.asarray(a)


def as_like(a: np.ndarray, like: Array) -> Array:
    """A numpy array a in the library, dtype and place of the array ``like``."""
    if _kind("like", like) == "torch":
        return _torch().as_tensor(a, dtype=like.dtype, device=like.device)
    return a if isinstance(a, Recorded) else np.asarray(a, str(like.dtype))


def as_tensor(a: np.ndarray, beside: Array | None) -> Array:
    """A numpy array as a tensor of its dtype, on the device of the tensor ``beside``, or the CPU.

    Raises ImportError if torch was not imported.
    """
    torch = _torch()
    if torch is None:
        raise ImportError(
            "torch: expected it to be imported, because the file holds its tensors; import torch, "
            "and load again"
        )
    return torch.as_tensor(a, device=None if beside is None else beside.device)


def require(name: str, a: Array, shape: Sequence[int | str], finite: bool = True) -> None:
    """Check that an array has single or double precision, the expected shape and only finite
    numbers.

    Raises TypeError if a is no array of such numbers; ValueError if the shape differs, an axis is
    empty, or (unless ``finite=False``) an entry is NaN or infinite.

    Parameters
    ----------
    name : the argument's name, for the message
    shape : one entry an axis: a number where the size is fixed, a letter where any size ≥ 1 will do
    """
    _kind(name, a)
    wanted = "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
    if not in_precision(a):
        raise TypeError(
            f"{name}: expected floating-point numbers of shape {wanted} in single or double "
            f"precision, got dtype {a.dtype}{_cure(name, a.dtype)}"
        )
    fits = a.ndim == len(shape) and all(
        isinstance(want, str) or got == want for got, want in zip(a.shape, shape, strict=True)
    )
    if not fits or 0 in a.shape:
        raise ValueError(
            f"{name}: expected shape {wanted} with no empty axis, got {tuple(a.shape)}"
        )
    # A tensor on torch's meta device has a shape, but no numbers to check.
    if finite and not getattr(a, "is_meta", False) and not bool(namespace(a).isfinite(a).all()):
        raise ValueError(
            f"{name}: expected finite numbers, got NaN or infinity among its {tuple(a.shape)} "
            f"entries"
        )


def require_detached(name: str, a: Array) -> None:
    """Check that torch waits for no gradient of an array.

    Raises TypeError if it is a tensor that requires one.
    """
    if getattr(a, "requires_grad", False):
        raise TypeError(
            f"{name}: expected numbers, got a tensor that requires a gradient; {name}.detach() "
            "gives its numbers"
        )


def share_memory(a: Array, b: Array) -> bool:
    """Whether two arrays have numbers in common, so that a write into one changes the other."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.may_share_memory(a, b) and np.shares_memory(a, b)
    if is_tensor(a) and is_tensor(b):
        return a.data_ptr() == b.data_ptr() != 0
    return a is b


def require_values(name: str, a: Array) -> None:
    """Check that this is an array whose numbers a run can compute on.

    Raises TypeError if it is no array of numpy or torch, masked, sparse or of anything but real
    numbers, or if it is a tensor that requires a gradient, or lives on the meta device; ValueError
    if it is empty.
    """
    if _kind(name, a) == "numpy":
        require_own_meaning(name, a)
    require_detached(name, a)
    if getattr(a, "is_meta", False):
        raise TypeError(
            f"{name}: expected numbers, got a tensor on torch's meta device, which has none"
        )
    if 0 in a.shape:
        raise ValueError(
            f"{name}: expected at least one sample, got an empty array of shape {tuple(a.shape)}"
        )


PRECISIONS = np.dtype(np.float32), np.dtype(np.float64)


def in_precision(a: Array) -> bool:
    """Whether an array is in the single or double precision of this machine, in which all formulas
    are tested."""
    # A dtype of foreign byte order equals neither, so it is refused, too.
    if isinstance(a.dtype, np.dtype):
        return a.dtype in PRECISIONS
    return str(a.dtype) in ("torch.float32", "torch.float64")


def _cure(name, dtype):
    """What to do with an array of another dtype, as the end of a sentence."""
    if "torch" in str(dtype):
        return (
            f"; {name}.double() has them"
            if not dtype.is_complex
            else f"; take {name}.real or abs({name})"
        )
    if dtype.names:
        return f"; np.lib.recfunctions.structured_to_unstructured({name}) makes one array of its columns"
    cures = {
        "c": f"take {name}.real or abs({name})",
        "M": "take differences of times, in a unit",
        "m": f"divide by a unit, {name} / np.timedelta64(1, 's')",
        "U": f"numbers in text are read by {name}.astype(float)",
    }
    if name == "y":
        cures["U"] = "for labels in words there is np.where(y == word, 1.0, -1.0)"
    return "; " + cures.get(dtype.kind, f"{name}.astype(float) has them")


def require_same_dtype(**arrays: Array) -> None:
    """Check that named arrays come from one library, live on one device and share one dtype;
    nothing is promoted.

    Raises TypeError if libraries, devices or dtypes differ.
    """
    namespace(**arrays)
    if len({a.dtype for a in arrays.values()}) > 1:
        found = ", ".join(f"{name} has {a.dtype}" for name, a in arrays.items())
        to = "float()" if any(map(is_tensor, arrays.values())) else "astype('float32')"
        raise TypeError(
            f"expected one dtype, got {found}; convert one side, for example with "
            f"data.map(lambda a: a.{to})"
        )


def require_labels(y: Array, X: Array, written: str = "y") -> None:
    """Check labels y (n,) in {−1, +1} for a batch X (n, …) of the same library and dtype.

    Raises TypeError if y is no array of floating-point numbers, or differs from X in library or
    dtype; ValueError if its shape is not (n,) or an entry is neither −1 nor +1. The message says
    how the labels become −1 and +1, with ``written`` for y.
    """
    _kind("X", X)
    _kind("y", y)
    has_values = not getattr(y, "is_meta", False)
    if not X.ndim or not len(X):
        raise ValueError(f"X: expected a batch of samples with no empty axis, got {tuple(X.shape)}")
    if tuple(y.shape) == (len(X), 1):
        row = "np.ravel(y)" if isinstance(y, np.ndarray) else "y.ravel()"
        raise ValueError(
            f"y: expected shape ({len(X)},), got the column {tuple(y.shape)}; {row} is a row of it"
        )
    # Asked before ``require``, whose cure, astype(float), would only lead to the next error. The
    # cure says 2.0, because 2 * 0 − 1 is 255 in uint8.
    is_whole_or_truth = not in_precision(y) and any(
        kind in str(y.dtype) for kind in ("int", "bool")
    )
    if has_values and is_whole_or_truth and _values(y) <= {0, 1}:
        raise TypeError(
            f"y: expected labels −1 and +1 as floating-point numbers, got 0 and 1 of dtype "
            f"{y.dtype}; use y = 2.0 * {written} - 1"
        )
    require("y", y, (len(X),))
    require_same_dtype(y=y, X=X)
    if has_values and not bool((abs(y) == 1).all()):
        values = sorted(_values(y))
        found = ", ".join(f"{value:g}" for value in values[:5])
        if set(values) <= {0, 1}:
            cure = f"for labels 0/1 use y = 2.0 * {written} - 1"
        else:
            cure = (
                f"y = 2.0 * ({written} == {values[-1]:g}) - 1 makes +1 of {values[-1]:g}, and −1 "
                "of the others"
            )
        raise ValueError(f"y: expected labels −1 and +1, got {found}; {cure}")


def _values(a):
    """The different numbers of an array."""
    return set(to_numpy(a).ravel().tolist())


def shown(value: object) -> str:
    """A value as the end of an error's sentence: short, and an array by shape and dtype, never by
    its numbers.

    Examples
    --------
    >>> shown(0.5), shown(np.zeros((2, 3))), shown([0.5] * 99)
    ('0.5', 'an ndarray of shape (2, 3) and dtype float64', 'a list of 99')
    """
    # Python refuses to print an int of more than 4300 digits; log10 takes any.
    if isinstance(value, int) and abs(value) >= 10**20:
        return f"a whole number of {int(log10(abs(value))) + 1} digits"
    if (
        hasattr(value, "dtype")
        and hasattr(value, "shape")
        # numpy's scalars and their classes have both attributes and are no arrays.
        and not isinstance(value, (np.generic, type))
    ):
        return f"{_a(type(value))} of shape {tuple(value.shape)} and dtype {str(value.dtype)[:40]}"
    if isinstance(value, (Real, complex, str, bytes, type(None))):
        return words if len(words := repr(value)) <= 80 else words[:80] + "…"
    if isinstance(value, (list, tuple, set, frozenset, dict)):
        items = value.values() if isinstance(value, dict) else value
        is_short = len(value) <= 8 and all(
            isinstance(item, (Real, str, type(None))) for item in items
        )
        return (
            repr(value)
            if is_short and len(repr(value)) <= 80
            else f"{_a(type(value))} of {len(value)}"
        )
    if isinstance(value, type) or hasattr(value, "__qualname__"):
        return f"{'the class' if isinstance(value, type) else 'the function'} {value.__name__}"
    return _a(type(value))


def _a(kind):
    return (
        f"{'an' if kind.__name__[0] in 'aeiouAEIOU' or kind is np.ndarray else 'a'} {kind.__name__}"
    )


def require_seed(seed: int) -> None:
    """Check that a seed is a whole number ≥ 0.

    Raises ValueError if it is not: results without a seed could not be repeated.
    """
    if not is_whole(seed) or seed < 0:
        raise ValueError(f"seed: expected a whole number ≥ 0, got {shown(seed)}")


MOST = 2**53
"""No count is larger: formulas with 10¹³ heads are asked for, and floats hold every whole number up
to here."""


def require_count(**counts: int) -> None:
    """Check that every named number is a whole number ≥ 1.

    Raises ValueError naming the first that is not.
    """
    for name, count in counts.items():
        if not is_whole(count) or count < 1:
            raise ValueError(f"{name}: expected a whole number ≥ 1, got {shown(count)}")
        if count > MOST:
            raise ValueError(f"{name}: expected a whole number up to {MOST:,}, got {shown(count)}")


def is_whole(number: object) -> TypeGuard[int]:
    """Whether this is a whole number, of Python or of numpy."""
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)


LARGE = 1e100
"""Data and weights stay below it, so that products of three of their numbers are numbers."""


def require_number(
    name: str, number: object, *, least: float = -inf, above: float = -inf, below: float = inf
) -> None:
    """Check that a number is real and finite, at least ``least``, above ``above`` and below
    ``below``.

    Raises ValueError if it is not.
    """
    if not (is_number(number) and least <= number < below and number > above):
        bounds = {"≥": least, ">": above, "and below": below}
        words = "".join(f" {word} {bound:g}" for word, bound in bounds.items() if isfinite(bound))
        raise ValueError(f"{name}: expected a finite number{words}, got {shown(number)}")


def require_flag(**flags: bool) -> None:
    """Check that every named value is True or False.

    Raises TypeError naming the first that is neither: any text is true, "no" among them.
    """
    for name, flag in flags.items():
        if not isinstance(flag, (bool, np.bool_)):
            raise TypeError(f"{name}: expected True or False, got {shown(flag)}")


def precision(dtype: Any) -> np.dtype[Any]:
    """The numpy dtype of this name: single or double precision.

    Raises TypeError for any other.
    """
    try:
        found = np.dtype(dtype)
    # numpy parses text with commas as a list of fields, so "f4,(" is a SyntaxError.
    except (TypeError, ValueError, SyntaxError):
        found = None
    if found is None or found not in PRECISIONS:
        raise TypeError(
            f"dtype: expected np.float64 or np.float32, got {shown(dtype)}; "
            "model.map(torch.as_tensor) takes a model to torch"
        )
    return found


def as_number(number: Any) -> Any:
    """The number as a float, because a np.float64 would turn float32 arrays into float64; one that
    records as it is."""
    return number if isinstance(number, Recorded) else float(number)


_OF_NUMBERS = SimpleNamespace(
    cos=cos, maximum=max, minimum=min, where=lambda condition, a, b: a if condition else b
)


def of_numbers(number: Any) -> Any:
    """``cos``, ``maximum``, ``minimum`` and ``where`` of numbers: Python's own, or those of a
    number that records."""
    return namespace(number) if isinstance(number, Recorded) else _OF_NUMBERS


def is_number(number: object) -> TypeGuard[float]:
    """Whether this is a real and finite number that a float can hold; True and False are none."""
    if not isinstance(number, Real) or isinstance(number, bool):
        return False
    try:
        return isfinite(float(number))
    except OverflowError:
        return False


def is_positive(number: object) -> TypeGuard[float]:
    """Whether this is a finite number > 0."""
    return is_number(number) and float(number) > 0


def same_value(known: Any, value: Any, largest: float = 0.0) -> bool:
    """Whether two values mean the same: numbers up to rounding, as 0.1 + 0.2 means 0.3; but 1 is
    not True.

    ``largest`` is the largest magnitude around: what ``linspace(-1, 1)`` has near its middle
    means 0.
    """
    if isinstance(known, bool) or isinstance(value, bool):
        return known is value
    if is_number(known) and is_number(value):
        # Relative to 0 nothing else is close, so there the tolerance is absolute.
        return isclose(
            known, value, rel_tol=1e-9, abs_tol=0.0 if known and value else 1e-15 * largest
        )
    return known is value or (
        isinstance(value, type(known)) and not is_array(known) and bool(known == value)
    )


def matching(values: Iterable[Any], value: Any) -> list[Any]:
    """Those of some values that are ``value`` up to rounding, the nearest first."""
    values = list(values)
    largest = max((abs(known) for known in values if is_number(known)), default=0.0)
    same = [known for known in values if same_value(known, value, largest)]
    return sorted(same, key=lambda known: abs(known - value)) if is_number(value) else same
