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
from livegrad.model.contract import cure_of_module, require_weights
from livegrad.model.given_gradient import require_gradient
from livegrad.model.weights import layout
from livegrad.path import M
from livegrad.training import Data, Model, Point

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
    P, _, product = _on_vectors(model, data, only)
    if P > 2000:
        raise ValueError(f"model: expected at most 2,000 parameters that move, got {P}")
    H = np.array([product(unit) for unit in np.eye(P)])
    if not np.isfinite(H).all():
        raise ValueError("model: expected a finite Hessian, got NaN or infinity among its entries")
    # Each row is a product of its own, and rounding leaves H asymmetric; ``eigh`` reads one
    # triangle.
    return (H + H.T) / 2


class Spectrum(NamedTuple, Generic[M]):
    """Both ends of a Hessian's spectrum: eigenvalues in rising order, and for each its eigenvector,
    a model."""

    values: Floats
    directions: tuple[M, ...]


SMALL = 128
"""Up to so many parameters the dense Hessian takes about as many products as Lanczos' method."""


def spectrum(
    model: Point,
    data: Data,
    count: int = 1,
    only: str | Iterable[str] | None = None,
    seed: int = 0,
    tol: float | None = None,
    maxiter: int = 300,
) -> Spectrum[Point]:
    """The ``count`` smallest and the ``count`` largest eigenvalues of the Hessian of a model's
    loss.

    Lanczos' method (ARPACK) on the model's ``hvp`` keeps some 20 models in memory; the dense
    Hessian, which is taken up to 128 parameters, is P² numbers. The products run in the dtype of
    the model's arrays and where they live; ARPACK's own vectors are numpy's, in double precision.
    An eigenvalue that occurs more than once, as those of equal units do, is counted as often: for
    ``count`` > 1 what was found is put aside, and the rest searched for more.

    Raises ValueError if 2 ``count`` eigenvalues are not fewer than the P parameters that move, a
    name is none of the model's, ``tol`` or ``maxiter`` is not positive, or the Hessian is not
    finite; RuntimeError if some have not converged after ``maxiter`` restarts; the message says how
    many have, and what can be done.

    Parameters
    ----------
    model, data : as in ``slice``; the model has ``hvp``
    count : how many at either end
    only : names of the weights that move; all unless you choose
    seed : fixes the vectors that the method starts from
    tol : how long a residual Hv − λv may be, by the method's own estimate, as a share of the
        largest eigenvalue in size; 32 times the rounding of the model's dtype unless you choose:
        7e-15, in single precision 4e-6
    maxiter : how many restarts of some 20 products the method may take for it

    Examples
    --------
    >>> from livegrad.examples.two_layer_network import start, wave
    >>> low, high = lg.landscape.spectrum(start(), wave()).values
    >>> bool(low < 0 < high)
    True
    """
    require_count(count=count, maxiter=maxiter)
    require_seed(seed)
    if not (tol is None or is_positive(tol)):
        raise ValueError(f"tol: expected a positive number or None, got {shown(tol)}")
    P, point, product = _on_vectors(model, data, only)
    if not 2 * count < P:
        raise ValueError(
            f"count: expected 2 count < {P}, the number of parameters that move, got {count}"
        )
    # ARPACK works in doubles, but the products are no more exact than the coarsest dtype.
    tol = tol or 32 * max(namespace(a).eps(a) for a in model.arrays().values())
    image = product(np.random.default_rng([seed, 8]).standard_normal(P))
    if not np.isfinite(image).all():
        raise ValueError(
            "model: expected a finite Hessian, got NaN or infinity in a product with it"
        )
    # a flat surface, of which ARPACK would only say that its first vector became zero
    if not image.any():
        values, vectors = np.zeros(2 * count), np.eye(P, 2 * count)
    elif P <= SMALL:
        values, vectors = _outermost(*np.linalg.eigh(hessian(model, data, only)), count)
    else:
        values, vectors = _Lanczos(P, product, tol, maxiter, seed).ends(count)
    return Spectrum(values, tuple(point(vector) for vector in vectors.T))


def _outermost(values, vectors, count):
    """The ``count`` smallest and largest of some eigenvalues, in rising order, with their vectors,
    columns."""
    order = np.argsort(values)
    chosen = np.concatenate([order[:count], order[len(order) - count :]])
    return values[chosen], vectors[:, chosen]


class _Lanczos:
    """ARPACK on H/s + 2I, with the spectral norm s of H: all eigenvalues lie between 1 and 3, up to
    the error of s.

    So its tolerance, a share of each eigenvalue, is one of s. Rounding of the products is, too: it
    would never come below a share of an eigenvalue near zero.
    """

    def __init__(
        self,
        P: int,
        product: Callable[[np.ndarray], np.ndarray],
        tol: float,
        maxiter: int,
        seed: int,
    ) -> None:
        self.P, self.product, self.tol, self.maxiter = P, product, tol, maxiter
        self.rng, self.products = np.random.default_rng([seed, 8]), 0
        # A rough norm will do: an error of s only moves the ends of [1, 3], which stay off zero.
        self.scale = abs(self._eigenpairs(self._counted, 1, "LM", 0.1)[0][0])

    def ends(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The ``count`` smallest and largest eigenvalues and their vectors; none of a multiple one
        is left out."""
        # From one starting vector Lanczos' method sees a single direction of each eigenspace, so
        # copies of a multiple eigenvalue may be missing, and others further inside have taken their
        # places.
        values, vectors = self._beside(np.empty((self.P, 0)), 0.0, count)
        while count > 1:
            low, high = values[count - 1 : count + 1]
            # What was found counts as the middle of the spectrum, which no search of ends finds.
            more, ways = self._beside(vectors, (low + high) / 2, 1)
            missed = (more < low - self.tol * self.scale) | (more > high + self.tol * self.scale)
            if not missed.any():
                break
            values, vectors = _outermost(
                np.append(values, more[missed]), np.hstack([vectors, ways[:, missed]]), count
            )
        return values, vectors

    def _beside(self, vectors, middle, count):
        """Both ends on the complement of orthonormal columns, which count as eigenvectors of
        ``middle``."""

        def shifted(v):
            inside = vectors @ (vectors.T @ v)
            image = self._counted(v - inside)
            image = image - vectors @ (vectors.T @ image)
            return (image + middle * inside) / self.scale + 2 * v

        # ARPACK's tolerance is a share of each eigenvalue, and those of H/s + 2I reach 3.
        values, ways = self._eigenpairs(shifted, 2 * count, "BE", self.tol / 3)
        return _outermost((values - 2) * self.scale, ways, count)

    def _counted(self, v):
        self.products += 1
        return self.product(v)

    def _eigenpairs(self, operator, k, which, tol):
        from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

        wanted = LinearOperator((self.P, self.P), lambda v: operator(v.ravel()), dtype=float)
        try:
            return eigsh(
                wanted,
                k,
                which=which,
                v0=self.rng.standard_normal(self.P),
                tol=tol,
                maxiter=self.maxiter,
            )
        except ArpackNoConvergence as error:
            raise RuntimeError(
                f"spectrum: {len(error.eigenvalues)} of {k} eigenvalues have converged to tol = "
                f"{self.tol:.1e} of the largest after maxiter = {self.maxiter} restarts "
                f"({self.products:,} Hessian-vector products); take a "
                "larger tol or maxiter, a smaller count, or model and data in double precision"
            ) from error


def _on_vectors(model, data, only):
    """The Hessian in the P weights that move: P, how a vector (P,) becomes a direction, and the
    product with one."""
    _require_model("model", model)
    zero, (X, y) = 0 * model, _arrays(model, data)
    require_gradient(model, X, y)
    names = list(model.arrays()) if only is None else model.chosen(only)
    hvp = (
        model.hessian_operator(X, y)
        if hasattr(model, "hessian_operator")
        else partial(model.hvp, X, y)
    )

    def point(vector):
        # Based on zero, so that the weights that stay have no part in a direction.
        return _filled(zero, names, vector.ravel())

    def product(vector):
        image = hvp(point(vector)).arrays()
        return np.concatenate([to_numpy(image[name]).ravel() for name in names]).astype(float)

    return _size(model, names), point, product


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
