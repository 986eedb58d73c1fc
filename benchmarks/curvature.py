"""Curvature and tangent kernel of the multi-head classifier: the closed forms against what automatic differentiation
offers. Every competitor's result is compared with mhalib's before it is timed."""

import time

import numpy as np
import torch
from scipy.sparse.linalg import LinearOperator, eigsh
from torch.func import grad, jacrev, jvp, vmap

import mhalib as mha
from benchmarks import SIZES, installed

TOLERANCE = 1e-8


def problem(size, H):
    """A model that is not at its start, and its data."""
    n, T, d = SIZES[size]
    data = mha.data.tokenized_mixture(n=n, T=T, d=d, M=4, zeta=1 / T, S=2.0, sigma=0.2, seed=0)
    return mha.MultiHeadAttention.random(H, T, d, scale=0.1, seed=0), data


def logits(theta, X):
    """Φ as one would write it in torch; X (n, T, d) or (T, d)."""
    W, U = theta
    A = torch.softmax(torch.einsum("...ta,hab,...jb->...htj", X, W, X), dim=-1)
    return torch.einsum("...htj,...jb,htb->...", A, X, U) / len(W) ** 0.5


def loss_of(data):
    """θ ↦ mean logistic loss."""
    X, y = torch.as_tensor(data.X), torch.as_tensor(data.y)
    return lambda theta: torch.nn.functional.softplus(-y * logits(theta, X)).mean()


def parts(vector, like):
    """A vector as the tensors (W, U)."""
    vector, at = torch.as_tensor(vector.ravel()), like[0].numel()
    return vector[:at].reshape(like[0].shape), vector[at:].reshape(like[1].shape)


def flat(pair):
    """The tensors (W, U) as a vector."""
    return np.concatenate([part.detach().numpy().ravel() for part in pair])


def ends(product, size):
    """Both ends of a spectrum by the same method for all: ARPACK's Lanczos, to rounding, from the same vector."""
    start = np.random.default_rng([0, 8]).standard_normal(size)
    operator = LinearOperator((size, size), product, dtype=float)
    return np.sort(eigsh(operator, 2, which="BE", v0=start, tol=0, return_eigenvectors=False))


def by_autograd(model, data):
    """Lanczos on the gradient of the gradient's product with a vector."""
    loss, theta = loss_of(data), [torch.tensor(a, requires_grad=True) for a in (model.W, model.U)]

    def product(vector):
        slopes = torch.autograd.grad(loss(theta), theta, create_graph=True)
        along = sum((g * v).sum() for g, v in zip(slopes, parts(vector, theta), strict=True))
        return flat(torch.autograd.grad(along, theta))

    return lambda: ends(product, model.W.size + model.U.size)


def by_torch_func(model, data):
    """Lanczos on the forward derivative of the gradient."""
    loss, theta = loss_of(data), tuple(torch.as_tensor(a) for a in (model.W, model.U))

    def product(vector):
        return flat(jvp(grad(loss), (theta,), (parts(vector, theta),))[1])

    return lambda: ends(product, model.W.size + model.U.size)


def by_curvlinops(model, data):
    """Lanczos on the Hessian operator of curvlinops."""
    from curvlinops import HessianLinearOperator

    class Classifier(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.W, self.U = (torch.nn.Parameter(torch.as_tensor(a).clone()) for a in (model.W, model.U))

        def forward(self, X):
            return logits((self.W, self.U), X)

    class Logistic(torch.nn.Module):
        reduction = "mean"

        def forward(self, found, y):
            return torch.nn.functional.softplus(-y * found).mean()

    network, batch = Classifier(), (torch.as_tensor(data.X), torch.as_tensor(data.y))
    operator = HessianLinearOperator(network, Logistic(), list(network.parameters()), [batch],
                                     check_deterministic=False)
    return lambda: ends(lambda v: (operator @ torch.as_tensor(v.ravel())).detach().numpy(),
                        model.W.size + model.U.size)


SPECTRA = {"mhalib": lambda model, data: lambda: mha.landscape.spectrum(model, data).values,
           "autograd": by_autograd, "torch.func": by_torch_func, "curvlinops": by_curvlinops}


def kernel_by_loop(model, data):
    """Gram matrix of per-example gradients, one backward pass for each example."""
    theta, X = [torch.tensor(a, requires_grad=True) for a in (model.W, model.U)], torch.as_tensor(data.X)

    def gram():
        rows = np.stack([flat(torch.autograd.grad(logits(theta, x), theta)) for x in X])
        return rows @ rows.T

    return gram


def kernel_by(transform):
    """Gram matrix of per-example gradients, by a transform of torch.func: (f, θ, X) → the two jacobians."""
    def make(model, data):
        theta, X = tuple(torch.as_tensor(a) for a in (model.W, model.U)), torch.as_tensor(data.X)

        def gram():
            rows = torch.cat([part.reshape(len(X), -1) for part in transform(logits, theta, X)], dim=1)
            return (rows @ rows.T).numpy()

        return gram
    return make


def closed_kernel(model, data):
    """Gram matrix of the closed features."""
    def gram():
        features = model.features(data.X)
        return features @ features.T

    return gram


KERNELS = {"mhalib": closed_kernel, "autograd": kernel_by_loop,
           "vmap of grad": kernel_by(lambda f, theta, X: vmap(grad(f), (None, 0))(theta, X)),
           "jacrev": kernel_by(lambda f, theta, X: jacrev(f)(theta, X))}


def row(makers, size, H, rounds):
    """Check all, time all in interleaved rounds, print medians of CPU milliseconds."""
    model, data = problem(size, H)
    runs = {name: make(model, data) for name, make in makers.items()}
    wanted = runs["mhalib"]()
    for name, run in runs.items():
        if not np.allclose(run(), wanted, rtol=TOLERANCE, atol=TOLERANCE * abs(wanted).max()):
            raise SystemExit(f"{name} disagrees with mhalib at {size}, H = {H}")
    times = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            begun = time.process_time()
            run()
            times[name].append(time.process_time() - begun)
    cost = {name: 1e3 * float(np.median(values)) for name, values in times.items()}
    print(f"{size:8}{H:3}" + "".join(f"{value:12,.1f} ({value / cost['mhalib']:5.1f}×)" for value in cost.values()),
          flush=True)


def table(rounds=5):
    """Print both tables."""
    torch.set_num_threads(1)
    for title, makers in (("Both ends of the Hessian's spectrum, Lanczos to rounding", SPECTRA),
                          ("Tangent kernel (n, n)", KERNELS)):
        makers = installed(makers, {"curvlinops": "curvlinops"})
        print(f"\n{title}: CPU milliseconds, medians of {rounds} interleaved rounds; (×) = times slower than mhalib.\n"
              f"{'size':8}{'H':>3}" + "".join(f"{name:>21}" for name in makers))
        for size in SIZES:
            for H in (1, 4):
                row(makers, size, H, rounds)


if __name__ == "__main__":
    table()
