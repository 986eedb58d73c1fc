"""Loss landscapes: slices along two directions, and how a loss curves."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, Generic, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from livegrad.arrays import (
    LARGE,
    as_like,
    is_positive,
    namespace,
    require_count,
    require_number,
    require_seed,
    require_values,
    shown,
    to_numpy,
)
from livegrad.foreign import converted
from livegrad.lanczos import Lanczos, outermost
from livegrad.model.contract import cure_of_module, require_weights
from livegrad.model.given_gradient import require_gradient
from livegrad.model.weights import layout
from livegrad.path import M, Path
from livegrad.training import Data, Model, Point, require_compiled

Floats = NDArray[np.float64]


def random_direction(
    model: Point,
    seed: int = 0,
    only: str | Iterable[str] | None = None,
    normalize: str | None = "filter",
) -> Point:
    """A direction with independent standard normal entries, a point of the model's class.

    Raises TypeError if model is none; ValueError if ``normalize`` is none of these, or a name is
    none of the model's.

    Parameters
    ----------
    model : where the slice is taken; its weights scale the direction
    seed : fixes the draws
    only : names of the weights that move; all unless you choose
    normalize : "filter" gives every column of every weight matrix the norm of that column of the
        model (every row, in a torch network, and a vector counts as one), so that slices of models
        of different scale can be compared (Li et al. 2018); "whole" gives the direction the norm of
        the weights that move; None leaves it as it is
    """
    _require_model("model", model)
    require_seed(seed)
    if not (normalize is None or isinstance(normalize, str) and normalize in ("filter", "whole")):
        raise ValueError(f'normalize: expected "filter", "whole" or None, got {shown(normalize)}')
    arrays = {}
    for k, (name, weights) in enumerate(model.arrays().items()):
        # A stream for each array: its draws do not depend on the sizes of those before it.
        drawn = np.random.default_rng([seed, 6, k]).standard_normal(tuple(weights.shape))
        if normalize == "filter":
            axis = getattr(model, "filter_axis", -2) if drawn.ndim > 1 else None
            size, mine = (
                np.linalg.norm(a, axis=axis, keepdims=True) for a in (to_numpy(weights), drawn)
            )
            drawn = drawn * size / mine
        arrays[name] = as_like(drawn, weights)
    direction, moving = model.with_arrays(**arrays), model
    if only is not None:
        direction, moving = direction.only(only), model.only(only)
    return direction * (moving.norm() / direction.norm()) if normalize == "whole" else direction


def direction(model: Point, vector: ArrayLike) -> Point:
    """A vector (P,) as a point of the model's class, in the order of ``model.arrays()``: an
    eigenvector, for example.

    Raises TypeError if model is none, or vector holds no numbers; ValueError if it does not have as many
    entries as the model has parameters.
    """
    _require_model("model", model)
    vector, names = to_numpy(converted("vector", vector)).astype(float), list(model.arrays())
    if vector.shape != ((P := _size(model, names)),):
        raise ValueError(f"vector: expected {P} numbers, one a parameter, got shape {vector.shape}")
    return _filled(model, names, vector)


def _size(model, names):
    """How many parameters these arrays have."""
    return sum(prod(model.arrays()[name].shape) for name in names)


def _filled(model, names, vector):
    """The model with the numbers of a vector in these of its arrays, one after the other."""
    arrays = {name: model.arrays()[name] for name in names}
    return model.with_arrays(
        **{
            name: as_like(vector[part].reshape(shape), arrays[name])
            for name, (part, shape) in layout(arrays).items()
        }
    )


@dataclass(frozen=True, eq=False)
class Slice(Generic[M]):
    """The loss on the plane θ + a u + b v: ``loss[i, j]`` at (a_j, b_i)."""

    model: M
    data: Any
    u: M
    v: M
    a: Floats
    b: Floats
    loss: Floats

    def at(self, a: float, b: float) -> M:
        """The model θ + a u + b v."""
        require_number("a", a)
        require_number("b", b)
        return self.model + float(a) * self.u + float(b) * self.v

    def derivatives(self, a: float, b: float) -> tuple[float, Floats, Floats]:
        """Loss, gradient (2,) and Hessian (2, 2) of the slice at (a, b), by the model's own
        formulas."""
        here, (X, y) = self.at(a, b), _arrays(self.model, self.data)
        require_gradient(here, X, y)
        loss, grad = here.loss_and_grad(X, y)
        # Two Hessian–vector products give all four entries wᵀ∇²L w′; the Hessian is never formed.
        images = [here.hvp(X, y, w) for w in (self.u, self.v)]
        hessian = np.array([[image.dot(w) for w in (self.u, self.v)] for image in images])
        return (
            float(loss),
            np.array([grad.dot(self.u), grad.dot(self.v)]),
            (hessian + hessian.T) / 2,
        )

    def coordinates(self, model: M) -> Floats:
        """The point (a, b) of the plane that is nearest to a model, by least squares."""
        _require_like("model", model, self.model)
        off = model - self.model
        # Normal equations: u and v need be neither orthogonal nor of length 1.
        gram = np.array(
            [[self.u.dot(self.u), self.u.dot(self.v)], [self.u.dot(self.v), self.v.dot(self.v)]]
        )
        return np.linalg.solve(gram, np.array([off.dot(self.u), off.dot(self.v)]))


def slice(
    model: Point, data: Data, u: Point, v: Point, radius: float = 1.0, resolution: int = 41
) -> Slice[Point]:
    """The loss on the square of half-width ``radius`` around a model, spanned by two directions.

    Raises TypeError or ValueError if a direction is none of this model's, if u and v are parallel
    as far as their dtype can tell (the angle is below 1e-6, in single precision 0.02), or a number
    is outside of its range.

    Parameters
    ----------
    model : the middle θ
    data : a dataset with y and the array that the model reads, X unless the model names another as
        its ``field``
    u, v : directions, points of the model's class; ``random_direction`` makes them. Their weights
        alone count: the directions of one model cut the landscape of another with the same shapes,
        whatever its kernel
    radius : how far a and b go, in units of u and v
    resolution : how many values of each, an odd number has the model itself in the middle

    Examples
    --------
    >>> from livegrad.examples.two_layer_network import start, wave
    >>> model, data = start(), wave()
    >>> u, v = (lg.landscape.random_direction(model, seed=s) for s in (1, 2))
    >>> plane = lg.landscape.slice(model, data, u, v, radius=0.5, resolution=5)
    >>> plane.loss.shape, bool(np.isclose(plane.loss[2, 2], model.loss(data.X, data.y)))
    ((5, 5), True)
    """
    _require_model("model", model)
    X, y = _arrays(model, data)
    _require_resolution(resolution, 1000)
    require_number("radius", radius, above=0, below=LARGE)
    _require_like("u", u, model)
    _require_like("v", v, model)
    u, v = (model.with_arrays(**direction.arrays()) for direction in (u, v))
    # The difference below is ‖u‖²‖v‖² sin² of the angle, exact to some eps ‖u‖²‖v‖²; sin² is
    # 4096 eps at the angles of the docstring. Negated, so that NaN and zero directions fail, too.
    rounding = 4096 * max(namespace(a).eps(a) for a in u.arrays().values())
    if not u.dot(u) * v.dot(v) - u.dot(v) ** 2 > rounding * u.dot(u) * v.dot(v):
        raise ValueError(
            "u, v: expected two directions that span a plane, got parallel ones, or zero"
        )
    # A single value would be −radius by linspace, and not the model in the middle.
    at = np.linspace(-radius, radius, resolution) if resolution > 1 else np.zeros(1)
    rows = [model + float(b) * v for b in at]
    loss = np.array([[float((row + float(a) * u).loss(X, y)) for a in at] for row in rows])
    return Slice(model, data, u, v, at, at, loss)


def hessian(model: Model, data: Data, only: str | Iterable[str] | None = None) -> Floats:
    """The full Hessian (P, P) of a small model's loss, by one product for each of the P parameters
    that move.

    Parameters count in the order of ``model.arrays()``. ``only`` names the weights that move; all
    unless you choose.

    Raises ValueError if there are more than 2,000 of them, a name is none of the model's, or the
    Hessian is not finite.
    """
    _require_model("model", model)
    P, names = _moving(model, only)
    if P > 2000:
        raise ValueError(f"model: expected at most 2,000 parameters that move, got {P}")
    operator = _hessians(model, data, P, None)(model)
    return _dense(P, _on_vectors(model, names, operator)[1])


class Spectrum(NamedTuple, Generic[M]):
    """Ends of a Hessian's spectrum: eigenvalues in rising order, and for each its eigenvector, a
    model."""

    values: Floats
    directions: tuple[M, ...]


SMALL = 128
"""Up to so many parameters the dense Hessian takes about as many products as Lanczos' method."""
PRODUCTS = 40
"""About so many products find an end of a spectrum to rounding, and a quarter of them one that is
known nearly."""
ENDS = {"both": (1, 1), "low": (1, 0), "high": (0, 1)}
"""Which ends of a spectrum → whether there are smallest eigenvalues, and largest ones."""


def spectrum(
    model: Point,
    data: Data,
    count: int = 1,
    only: str | Iterable[str] | None = None,
    seed: int = 0,
    tol: float | None = None,
    maxiter: int = 300,
    *,
    ends: str = "both",
    start: Any = None,
    compiled: bool | None = None,
) -> Spectrum[Point]:
    """The ``count`` smallest and the ``count`` largest eigenvalues of the Hessian of a model's
    loss, or those of one end.

    Lanczos' method on the model's ``hvp`` keeps some 20 models in memory; the dense Hessian, which
    is taken for both ends of up to 128 parameters, is P² numbers. The products run in the dtype of
    the model's arrays and where they live; the method's own vectors are numpy's, in double
    precision. An eigenvalue that occurs more than once, as those of equal units do, is counted as
    often: for ``count`` > 1 what was found is put aside, and the rest searched for more.

    Raises ValueError if the eigenvalues are not fewer than the P parameters that move, a name is
    none of the model's or of an end, ``tol`` or ``maxiter`` is not positive, or the Hessian is not
    finite; TypeError if ``start`` is no point of the model's class; RuntimeError if some have not
    converged after ``maxiter`` restarts, or a program is asked for, and there is none; the message
    says how many have, and what can be done.

    Parameters
    ----------
    model, data : as in ``slice``; the model has ``hvp``
    count : how many at either end
    only : names of the weights that move; all unless you choose
    seed : fixes the vectors that the method starts from
    tol : how long a residual Hv − λv may be, by the method's own estimate, as a share of the
        largest eigenvalue in size; 32 times the rounding of the model's dtype unless you choose:
        7e-15, in single precision 4e-6. It is asked for after every product, and the error of an
        eigenvalue is about tol² where no other is near
    maxiter : how many restarts of some 20 products the method may take for it
    ends : "both", "low" or "high"
    start : a direction near what is searched for, such as one of the eigenvectors of a model
        nearby; the method starts there, with a tenth of a random one added. With a large tol it
        may end there, too, where another eigenvalue has overtaken that one
    compiled : True for products by a compiled program, False for numpy's; None takes what is faster
        for about 40 products, as ``train`` does for its steps

    Examples
    --------
    >>> from livegrad.examples.two_layer_network import start, wave
    >>> low, high = lg.landscape.spectrum(start(), wave()).values
    >>> bool(low < 0 < high)
    True
    """
    low, high = _ends(ends, count)
    _require_search(seed, tol, maxiter, compiled)
    _require_model("model", model)
    if start is not None:
        _require_like("start", start, model)
    P, names = _moving(model, only)
    if not low + high < P:
        said = f"{'2 ' * (ends == 'both')}count"
        raise ValueError(
            f"count: expected {said} < {P}, the number of parameters that move, got {count}"
        )
    is_dense = P <= SMALL and ends == "both"
    products = P if is_dense else PRODUCTS * (low + high)
    point, product = _on_vectors(model, names, _hessians(model, data, products, compiled)(model))
    if is_dense:
        values, vectors = outermost(*np.linalg.eigh(_dense(P, product)), low, high)
    else:
        first = None if start is None else _flat(start, names)
        if first is not None and not first.any():
            raise ValueError("start: expected a direction, got zero")
        method = Lanczos(P, product, tol or _rounding(model), maxiter, seed)
        values, vectors = method.ends(low, high, first)
    return Spectrum(values, tuple(point(vector) for vector in vectors.T))


class Sharpness(NamedTuple):
    """The largest eigenvalue of the Hessian along a run: steps (points,), and the eigenvalues
    (points,)."""

    steps: np.ndarray
    values: np.ndarray


def sharpness(
    path: Path[Any],
    data: Data,
    points: int = 60,
    only: str | Iterable[str] | None = None,
    seed: int = 0,
    tol: float | None = 1e-3,
    maxiter: int = 300,
    compiled: bool | None = None,
) -> Sharpness:
    """The largest eigenvalue of the Hessian of the loss at recorded steps of a run: gradient descent
    with a constant learning rate is stable where it is below 2 / lr.

    At each step the search starts from the three outermost directions that it has found at the step
    before, so that it takes few products, and sees an eigenvalue that overtakes another. Source of
    the bound: Cohen et al. 2021.

    Raises TypeError if path is none; otherwise as ``spectrum``, with the step.

    Parameters
    ----------
    path : what ``train`` gave back
    data : the samples of the loss, as a rule those that the run was trained on
    points : at how many of the recorded steps, every so many of them; all if there are fewer
    only, seed, maxiter : as in ``spectrum``
    tol : as in ``spectrum``
    compiled : as in ``spectrum``, for all products together

    Examples
    --------
    >>> from livegrad.examples.two_layer_network import start, wave
    >>> path = lg.train(start(), wave(), lg.GradientDescent(lr=0.1), steps=20)
    >>> steps, values = lg.landscape.sharpness(path, wave(), points=3)
    >>> steps
    array([ 0, 10, 20])
    """
    if not (hasattr(path, "steps") and hasattr(path, "models")):
        raise TypeError(f"path: expected what train gave back, got {shown(path)}")
    if not len(path):
        raise ValueError(f"path: expected one that recorded a model, got none: {path.stopped}")
    require_count(points=points)
    _require_search(seed, tol, maxiter, compiled)
    chosen = np.unique(np.linspace(0, len(path) - 1, min(points, len(path))).round().astype(int))
    first = path[0]
    _require_model("path", first)
    P, names = _moving(first, only)
    hessian_at = _hessians(first, data, len(chosen) * PRODUCTS // 4, compiled)
    values, near = [], None
    for k in chosen:
        _, product = _on_vectors(path[k], names, hessian_at(path[k]))
        try:
            value, near = Lanczos(P, product, tol or _rounding(first), maxiter, seed).largest(near)
        except (ValueError, RuntimeError) as error:
            raise type(error)(f"step {path.steps[k]}: {error}") from error
        values.append(value)
    return Sharpness(np.asarray(path.steps)[chosen], np.array(values))


class Estimate(NamedTuple):
    """A number that is estimated from random vectors, and its standard error."""

    value: float
    error: float


@dataclass(frozen=True, eq=False)
class Density:
    """How the eigenvalues λᵢ of a Hessian (P, P) lie, as nodes and weights of a quadrature: one rule
    (steps,) for each random vector, whose weights add up to 1."""

    P: int
    nodes: np.ndarray
    weights: np.ndarray

    def trace(self, f: Callable[[np.ndarray], Any] = lambda values: values) -> Estimate:
        """tr f(H) = Σ f(λᵢ), of H itself unless you give an f, and the standard error over the
        vectors; infinite for a single one."""
        found = self.P * (self.weights * f(self.nodes)).sum(axis=1)
        count = len(found)
        spread = float(found.std(ddof=1)) if count > 1 else np.inf
        return Estimate(float(found.mean()), spread / count**0.5)

    def at(self, values: ArrayLike, width: float) -> np.ndarray:
        r"""The density (1/P) Σ δ(λ − λᵢ) at some values, each δ a Gaussian whose standard deviation is
        ``width``; its integral is 1."""
        require_number("width", width, above=0, below=LARGE)
        values = np.asarray(values, dtype=float)
        far = (values[..., None, None] - self.nodes) / width
        bells = self.weights * np.exp(-(far**2) / 2) / (width * (2 * np.pi) ** 0.5)
        return bells.sum(axis=(-2, -1)) / len(self.nodes)


def density(
    model: Any,
    data: Data,
    probes: int = 10,
    steps: int = 40,
    only: str | Iterable[str] | None = None,
    seed: int = 0,
    compiled: bool | None = None,
) -> Density:
    r"""The spectral density of the Hessian of a model's loss, and traces of its functions, by
    stochastic Lanczos quadrature: ``probes`` times ``steps`` products.

    For a random unit vector v Lanczos' method gives nodes θₖ and weights τₖ with
    Σ τₖ f(θₖ) ≈ vᵀ f(H) v, exactly for polynomials f of degree below twice the steps; and
    P vᵀ f(H) v is tr f(H) in the mean. Source: Ubaru, Chen, Saad 2017.

    Raises ValueError or TypeError if a number is outside of its range, a name is none of the
    model's, or the Hessian is not finite; RuntimeError if a program is asked for, and there is none.

    Parameters
    ----------
    model, data : as in ``slice``; the model has ``hvp``
    probes : how many random vectors
    steps : how many products with each, at most the P weights that move
    only, seed, compiled : as in ``spectrum``

    Examples
    --------
    >>> from livegrad.examples.two_layer_network import start, wave
    >>> found = lg.landscape.density(start(), wave(), probes=20)
    >>> exact = np.trace(lg.landscape.hessian(start(), wave()))
    >>> bool(abs(found.trace().value - exact) < 4 * found.trace().error)
    True
    """
    require_count(probes=probes, steps=steps)
    _require_search(seed, None, 1, compiled)
    _require_model("model", model)
    P, names = _moving(model, only)
    operator = _hessians(model, data, probes * min(steps, P), compiled)(model)
    method = Lanczos(P, _on_vectors(model, names, operator)[1], seed=seed)
    nodes, weights = np.zeros((2, probes, min(steps, P)))
    for k in range(probes):
        found, own = method.quadrature(steps)
        # A vector in an invariant subspace has fewer nodes; the others weigh nothing.
        nodes[k, : len(found)], weights[k, : len(own)] = found, own
    return Density(P, nodes, weights)


def _ends(ends, count):
    """How many smallest and largest eigenvalues are asked for."""
    require_count(count=count)
    if not (isinstance(ends, str) and ends in ENDS):
        raise ValueError(f'ends: expected "both", "low" or "high", got {shown(ends)}')
    low, high = ENDS[ends]
    return low * count, high * count


def _require_search(seed, tol, maxiter, compiled):
    require_count(maxiter=maxiter)
    require_compiled(compiled)
    require_seed(seed)
    if not (tol is None or is_positive(tol)):
        raise ValueError(f"tol: expected a positive number or None, got {shown(tol)}")


def _rounding(model):
    """To how much of the largest a product can tell an eigenvalue: it is no more exact than the
    coarsest dtype."""
    return 32 * max(namespace(a).eps(a) for a in model.arrays().values())


def _dense(P, product):
    """The matrix of some products."""
    H = np.array([product(unit) for unit in np.eye(P)])
    if not np.isfinite(H).all():
        raise ValueError("model: expected a finite Hessian, got NaN or infinity among its entries")
    # Each row is a product of its own, and rounding leaves H asymmetric; ``eigh`` reads one
    # triangle.
    return (H + H.T) / 2


def _moving(model, only):
    """How many weights move, and the names of their arrays."""
    names = list(model.arrays()) if only is None else model.chosen(only)
    return _size(model, names), names


def _hessians(model, data, products, compiled):
    """The map θ ↦ (V ↦ ∇²L(θ) V), for about so many products."""
    X, y = _arrays(model, data)
    require_gradient(model, X, y)
    if hasattr(model, "hessians"):
        return model.hessians(X, y, products, compiled)
    if hasattr(model, "hessian_operator"):
        return lambda theta: theta.hessian_operator(X, y)
    return lambda theta: partial(theta.hvp, X, y)


def _flat(model, names):
    """Some arrays of a model in one vector."""
    arrays = model.arrays()
    return np.concatenate([to_numpy(arrays[name]).ravel() for name in names]).astype(float)


def _on_vectors(model, names, operator):
    """The Hessian in the weights that move: how a vector (P,) becomes a direction, and the product
    with one."""
    zero = 0 * model

    def point(vector):
        # Based on zero, so that the weights that stay have no part in a direction.
        return _filled(zero, names, vector.ravel())

    return point, lambda vector: _flat(operator(point(vector)), names)


def interpolation(
    first: Point, second: Point, data: Data, resolution: int = 41
) -> tuple[Floats, Floats]:
    """The loss on the straight line from one model to another: shares (resolution,) of the way, and
    losses.

    Raises TypeError or ValueError if there is no such line: the two differ in class, shapes,
    library or dtype, or in their kernel.
    """
    _require_model("first", first)
    _require_like("second", second, first)
    _require_resolution(resolution, 1_000_000)
    share, way, (X, y) = np.linspace(0, 1, resolution), second - first, _arrays(first, data)
    return share, np.array([float((first + float(s) * way).loss(X, y)) for s in share])


def _require_resolution(resolution, most):
    require_count(resolution=resolution)
    if resolution > most:
        raise ValueError(f"resolution: expected at most {most:,}, got {resolution:,}")


def _require_model(name, model):
    if isinstance(model, type) or not all(
        hasattr(model, part) for part in ("arrays", "with_arrays", "loss")
    ):
        raise TypeError(
            f"{name}: expected a model such as MultiHeadAttention.zeros(H, T, d), got "
            f"{shown(model)}{cure_of_module(model)}"
        )
    require_weights(name, model)


def _require_like(name, point, model):
    """Check that a point, or a direction, lies in the space of this model, whatever its kernel."""
    if type(point) is not type(model):
        raise TypeError(
            f"{name}: expected a point of class {type(model).__name__}, got {shown(point)}"
        )
    mine, theirs = (
        {key: tuple(a.shape) for key, a in one.arrays().items()} for one in (model, point)
    )
    if mine != theirs:
        raise ValueError(f"{name}: expected a point like {model!r}, got {point!r}")


def _arrays(model, data):
    """The two arrays of the data that the model's loss reads."""
    field = getattr(model, "field", "X")
    if isinstance(data, type) or not (hasattr(data, field) and hasattr(data, "y")):
        raise TypeError(
            f"data: expected a dataset with arrays {field} and y, got {shown(data)}; "
            "livegrad.Samples(X, y) makes one"
        )
    X, y = getattr(data, field), data.y
    for name, a in {field: X, "y": y}.items():
        if a is not None:  # a loss may read neither
            require_values(name, a)
    return X, y
