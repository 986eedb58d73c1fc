"""Curvature and tangent kernel of the multi-head classifier: the closed forms against what
automatic differentiation offers. Every competitor's result is compared with mhalib's before it is
timed."""

import numpy as np
import torch
from scipy.sparse.linalg import LinearOperator, eigsh
from torch.func import grad, jacrev, jvp, vmap
from torch.nn.functional import softplus

import mhalib as mha
from benchmarks import SIZES, installed, medians
from benchmarks.competitors import einsum_of_the_formula

TOLERANCE = 1e-8
torch.set_num_threads(1)


def problem(size, H):
    """A model that is not at its start, and its data."""
    n, T, d = SIZES[size]
    data = mha.data.tokenized_mixture(n=n, T=T, d=d, M=4, zeta=1 / T, S=2.0, sigma=0.2, seed=0)
    return mha.MultiHeadAttention.random(H, T, d, scale=0.1, seed=0), data


def logits(theta, X):
    """Φ as one would write it in torch; X (n, T, d) or (T, d)."""
    return einsum_of_the_formula(*theta, X) / len(theta[0]) ** 0.5


def loss_of(data):
    """θ ↦ mean logistic loss."""
    X, y = torch.as_tensor(data.X), torch.as_tensor(data.y)
    return lambda theta: softplus(-y * logits(theta, X)).mean()


def parameters(model, requires_grad=False):
    """θ = (W, U) as tensors of their own."""
    return tuple(torch.tensor(a, requires_grad=requires_grad) for a in (model.W, model.U))


def parts(vector, like):
    """A vector as the tensors (W, U)."""
    W, U = torch.as_tensor(vector.ravel()).split([part.numel() for part in like])
    return W.reshape(like[0].shape), U.reshape(like[1].shape)


def flat(pair):
    """The tensors (W, U) as a vector."""
    return np.concatenate([part.detach().numpy().ravel() for part in pair])


def ends(product_of):
    """Both ends of a spectrum by the same method for all: ARPACK's Lanczos, to rounding, from the
    same vector."""

    def make(model, data):
        product, size = product_of(model, data), model.W.size + model.U.size
        start = np.random.default_rng([0, 8]).standard_normal(size)
        operator = LinearOperator((size, size), product, dtype=float)
        return lambda: np.sort(
            eigsh(operator, 2, which="BE", v0=start, tol=0, return_eigenvectors=False)
        )

    return make


def by_autograd(model, data):
    """The gradient of the gradient's product with a vector."""
    loss, theta = loss_of(data), parameters(model, requires_grad=True)

    def product(vector):
        slopes = torch.autograd.grad(loss(theta), theta, create_graph=True)
        along = sum((g * v).sum() for g, v in zip(slopes, parts(vector, theta), strict=True))
        return flat(torch.autograd.grad(along, theta))

    return product


def by_torch_func(model, data):
    """The forward derivative of the gradient."""
    loss, theta = loss_of(data), parameters(model)
    return lambda vector: flat(jvp(grad(loss), (theta,), (parts(vector, theta),))[1])


def by_curvlinops(model, data):
    """The Hessian operator of curvlinops."""
    from curvlinops import HessianLinearOperator

    class Classifier(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.W, self.U = map(torch.nn.Parameter, parameters(model))

        def forward(self, X):
            return logits((self.W, self.U), X)

    class Logistic(torch.nn.Module):
        reduction = "mean"

        def forward(self, found, y):
            return softplus(-y * found).mean()

    network, batch = Classifier(), (torch.as_tensor(data.X), torch.as_tensor(data.y))
    operator = HessianLinearOperator(
        network, Logistic(), list(network.parameters()), [batch], check_deterministic=False
    )
    return lambda vector: (operator @ torch.as_tensor(vector.ravel())).detach().numpy()


SPECTRA = {
    "mhalib": lambda model, data: lambda: mha.landscape.spectrum(model, data).values,
    "autograd": ends(by_autograd),
    "torch.func": ends(by_torch_func),
    "curvlinops": ends(by_curvlinops),
}


def gram(features):
    """Φ'Φ'ᵀ of per-example gradients (n, parameters)."""

    def make(model, data):
        def run():
            rows = features(model, data.X)
            return rows @ rows.T

        return run

    return make


def by_loop(model, X):
    """One backward pass for each example."""
    theta = parameters(model, requires_grad=True)
    return np.stack(
        [flat(torch.autograd.grad(logits(theta, x), theta)) for x in torch.as_tensor(X)]
    )


def by_transform(model, X, transform):
    """A transform of torch.func: (f, θ, X) → the two jacobians."""
    found = transform(logits, parameters(model), torch.as_tensor(X))
    return torch.cat([part.reshape(len(X), -1) for part in found], dim=1).numpy()


KERNELS = {
    "mhalib": gram(lambda model, X: model.features(X)),
    "autograd": gram(by_loop),
    "vmap of grad": gram(
        lambda *both: by_transform(*both, lambda f, *at: vmap(grad(f), (None, 0))(*at))
    ),
    "jacrev": gram(lambda *both: by_transform(*both, lambda f, *at: jacrev(f)(*at))),
}


def row(makers, size, H, rounds):
    """Check all, time all in interleaved rounds, print medians of CPU milliseconds."""
    model, data = problem(size, H)
    runs = {name: make(model, data) for name, make in makers.items()}
    wanted = runs["mhalib"]()
    for name, run in runs.items():
        if not np.allclose(run(), wanted, rtol=TOLERANCE, atol=TOLERANCE * abs(wanted).max()):
            raise SystemExit(f"{name} disagrees with mhalib at {size}, H = {H}")
    cost = medians(runs, rounds)
    cells = (f"{1e3 * value:12,.1f} ({value / cost['mhalib']:5.1f}×)" for value in cost.values())
    print(f"{size:8}{H:3}{''.join(cells)}", flush=True)


def table(rounds=5):
    """Print both tables."""
    for title, makers in (
        ("Both ends of the Hessian's spectrum, Lanczos to rounding", SPECTRA),
        ("Tangent kernel (n, n)", KERNELS),
    ):
        makers = installed(makers, {"curvlinops": "curvlinops"})
        print(
            f"\n{title}: CPU milliseconds, medians of {rounds} interleaved rounds; (×) = times "
            f"slower than mhalib.\n{'size':8}{'H':>3}" + "".join(f"{name:>21}" for name in makers)
        )
        for size in SIZES:
            for H in (1, 4):
                row(makers, size, H, rounds)


if __name__ == "__main__":
    table()
