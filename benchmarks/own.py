"""Second order of a reader's own model, which has a loss alone: what is derived of it against what
automatic differentiation offers. Every competitor's result is compared with mhalib's before it is
timed.

The model has two layers of attention, a temperature and a residual stream, and 181 parameters.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from scipy.sparse.linalg import LinearOperator, eigsh
from torch.func import grad, jvp

import mhalib as mha
from benchmarks import installed, medians

n, T, d = 200, 12, 6
SHAPES = (d, d), (d, d), (d, d), (T, d), ()
STEPS, POINTS = 400, 60
LIBRARY = {"curvlinops": "curvlinops", "jax": "jax"}


def logits(theta, X, library, softmax):
    """Two layers of attention; in numpy, torch or jax."""
    W, V, Q, U, tau = theta
    Z = X + softmax(library.exp(tau) * (X @ W @ X.mT)) @ X @ V
    return (softmax(Z @ Q @ Z.mT) @ Z * U).sum((1, 2))


def softmax(S):
    """Along the last axis."""
    E = np.exp(S - S.max(axis=-1, keepdims=True))
    return E / E.sum(axis=-1, keepdims=True)


@dataclass(frozen=True, eq=False, repr=False)
class Two(mha.models.Vector):
    """The model as a reader writes it."""

    W: np.ndarray
    V: np.ndarray
    Q: np.ndarray
    U: np.ndarray
    tau: np.ndarray

    def loss(self, X, y):
        """Mean logistic loss."""
        z = logits((self.W, self.V, self.Q, self.U, self.tau), X, np, softmax)
        return np.logaddexp(0, -y * z).mean()


def problem():
    """The model at a random point, and its data."""
    rng = np.random.default_rng(0)
    data = mha.data.tokenized_mixture(n=n, T=T, d=d, M=4, zeta=1 / T, S=2.0, sigma=0.2, seed=0)
    return Two(*(np.array(0.3 * rng.standard_normal(shape)) for shape in SHAPES)), data


def flat(point):
    """The arrays of a model, or those of a library, as one vector."""
    arrays = point.arrays().values() if isinstance(point, Two) else point
    return np.concatenate([np.asarray(a).ravel() for a in arrays])


def parts(vector, make):
    """A vector as the arrays of θ, made by a library."""
    ends = np.cumsum([np.prod(shape, dtype=int) for shape in SHAPES])[:-1]
    arrays = np.split(np.ravel(vector), ends)
    return tuple(make(a.reshape(shape)) for a, shape in zip(arrays, SHAPES, strict=True))


def loss_of_torch(data):
    """θ ↦ mean logistic loss."""
    X, y = torch.tensor(data.X), torch.tensor(data.y)
    soft = partial(torch.softmax, dim=-1)

    def loss(theta):
        z = -y * logits(theta, X, torch, soft)
        return torch.logaddexp(torch.zeros_like(z), z).mean()

    return loss


# A Hessian at any θ: data → (θ, a tuple of arrays → (vector → vector)).


def by_autograd(data):
    """The gradient of the gradient's product with a vector."""
    loss = loss_of_torch(data)

    def at(theta):
        theta = tuple(torch.tensor(a, requires_grad=True) for a in theta)

        def product(vector):
            slopes = torch.autograd.grad(loss(theta), theta, create_graph=True)
            v = parts(vector, torch.tensor)
            along = sum((g * w).sum() for g, w in zip(slopes, v, strict=True))
            return flat(torch.autograd.grad(along, theta))

        return product

    return at


def by_torch_func(data):
    """The forward derivative of the gradient."""
    slope = grad(loss_of_torch(data))

    def at(theta):
        theta = tuple(map(torch.tensor, theta))
        return lambda vector: flat(jvp(slope, (theta,), (parts(vector, torch.tensor),))[1])

    return at


def by_curvlinops(data):
    """The Hessian operator of curvlinops."""
    from curvlinops import HessianLinearOperator

    batch = torch.tensor(data.X), torch.tensor(data.y)
    soft = partial(torch.softmax, dim=-1)

    class Network(torch.nn.Module):
        def __init__(self, theta):
            super().__init__()
            self.theta = torch.nn.ParameterList(map(torch.tensor, theta))

        def forward(self, X):
            return logits(tuple(self.theta), X, torch, soft)

    class Logistic(torch.nn.Module):
        reduction = "mean"

        def forward(self, found, y):
            return torch.logaddexp(torch.zeros_like(found), -y * found).mean()

    def at(theta):
        network = Network(theta)
        operator = HessianLinearOperator(
            network, Logistic(), list(network.parameters()), [batch], check_deterministic=False
        )
        return lambda vector: (operator @ torch.tensor(vector.ravel())).detach().numpy()

    return at


def by_jax(data):
    """The forward derivative of the gradient, compiled."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    X, y = jnp.asarray(data.X), jnp.asarray(data.y)

    def loss(theta):
        return jnp.logaddexp(0.0, -y * logits(theta, X, jnp, jax.nn.softmax)).mean()

    image = jax.jit(lambda theta, v: jax.jvp(jax.grad(loss), (theta,), (v,))[1])

    def at(theta):
        theta = tuple(map(jnp.asarray, theta))
        return lambda vector: flat(image(theta, parts(vector, jnp.asarray)))

    return at


COMPETITORS = {
    "autograd": by_autograd,
    "torch.func": by_torch_func,
    "curvlinops": by_curvlinops,
    "jax": by_jax,
}


def largest(product, size, tol, start):
    """The largest eigenvalue by ARPACK, and its vector."""
    operator = LinearOperator((size, size), product, dtype=float)
    values, vectors = eigsh(operator, 1, which="LA", v0=start, tol=tol)
    return values[0], vectors[:, 0]


def product_runs(model, data, hessians):
    """One product with one direction."""
    v = np.random.default_rng(1).standard_normal(flat(model).size)
    along = Two(*parts(v, np.array))

    def of_ours(compiled):
        operator = model.hessians(data.X, data.y, 1, compiled)(model)
        return lambda: flat(operator(along))

    theta = tuple(model.arrays().values())
    return {"mhalib": of_ours(True), "numpy": of_ours(False)} | {
        name: partial(at(theta), v) for name, at in hessians.items()
    }


def eigenvalue_runs(model, data, hessians, tol=1e-4):
    """The largest eigenvalue at one point."""
    start = np.random.default_rng(1).standard_normal(flat(model).size)

    def of_ours(compiled):
        return lambda: (
            mha.landscape.spectrum(model, data, ends="high", tol=tol, compiled=compiled).values
        )

    def of(at):
        theta = tuple(model.arrays().values())
        return lambda: np.array([largest(at(theta), start.size, tol, start)[0]])

    return {"mhalib": of_ours(True), "numpy": of_ours(False)} | {
        name: of(at) for name, at in hessians.items()
    }


def sharpness_runs(model, data, hessians, tol=1e-3):
    """The largest eigenvalue along a run, each search from the vector before."""
    path = mha.train(model, data, mha.GradientDescent(0.3), STEPS)
    chosen = mha.landscape.sharpness(path, data, POINTS, tol=tol).steps
    models = [path[k] for k in np.searchsorted(path.steps, chosen)]

    def of_ours(compiled):
        return lambda: (
            mha.landscape.sharpness(path, data, POINTS, tol=tol, compiled=compiled).values
        )

    def of(at):
        def run():
            found, near = [], np.random.default_rng(1).standard_normal(flat(model).size)
            for each in models:
                theta = tuple(each.arrays().values())
                value, near = largest(at(theta), near.size, tol, near)
                found.append(value)
            return np.array(found)

        return run

    return {"mhalib": of_ours(True), "numpy": of_ours(False)} | {
        name: of(at) for name, at in hessians.items()
    }


class Measured(NamedTuple):
    """What makes the runs of a row, how far their results may differ, relative to the largest number,
    how often a round repeats each, and how many rounds there are at most."""

    runs: Callable[..., dict[str, Callable[[], np.ndarray]]]
    tolerance: float
    times: int
    most: int


ROWS = {
    "a Hessian product": Measured(product_runs, 1e-8, 20, 100),
    "the largest eigenvalue": Measured(eigenvalue_runs, 1e-3, 1, 100),
    # half a minute for some
    f"{POINTS} points of sharpness": Measured(sharpness_runs, 1e-2, 1, 1),
}


def repeated(run, times):
    """So many runs, one after the other."""
    for _ in range(times):
        run()


def table(rounds=5):
    """Print the table."""
    model, data = problem()
    makers = installed(COMPETITORS, LIBRARY)
    hessians = {name: make(data) for name, make in makers.items()}
    names = ["mhalib", "numpy", *makers]
    print(
        f"\nAn own model, n = {n}, T = {T}, d = {d}, {flat(model).size} parameters: CPU milliseconds, "
        f"medians of {rounds} interleaved rounds, the last row once; (×) = times slower than mhalib compiled.\n"
        f"{'':24}" + "".join(f"{name:>21}" for name in names)
    )
    for title, (make, tolerance, times, most) in ROWS.items():
        runs = make(model, data, hessians)
        wanted = runs["mhalib"]()
        for name, run in runs.items():
            if not np.allclose(run(), wanted, rtol=0, atol=tolerance * abs(wanted).max()):
                raise SystemExit(f"{name} disagrees with mhalib in {title} of an own model")
        cost = medians(
            {name: partial(repeated, run, times) for name, run in runs.items()}, min(rounds, most)
        )
        cells = (
            f"{1e3 * value / times:12,.2f} ({value / cost['mhalib']:5.1f}×)"
            for value in cost.values()
        )
        print(f"{title:24}{''.join(cells)}", flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    table()
