"""Gradient descent of the multi-head classifier, as different users would write it.

Each competitor is a function (W, U, X, y, lr) → (step, parameters): ``step(k)`` advances its own
parameters by k full-batch steps, and ``parameters()`` gives them as arrays (H, d, d) and (H, T, d).
"""

from functools import partial

import mhalib as mha


def mhalib_train(W, U, X, y, lr):
    """mhalib's workspace, driven by its own optimizer: the inner loop of ``mha.train``, compiled if
    it may."""
    model = mha.MultiHeadAttention(W, U)
    return stepper(model, model.workspace_for(X, y, entrywise=True, steps=1000), lr)


def mhalib_numpy(W, U, X, y, lr):
    """The same without a compiler."""
    model = mha.MultiHeadAttention(W, U)
    return stepper(model, model.workspace(X, y), lr)


def stepper(model, workspace, lr):
    """Steps of a workspace from a model."""
    optimizer = mha.GradientDescent(lr)
    theta = workspace.pack(model)

    def step(steps):
        nonlocal theta
        for k in range(steps):
            _, grad = workspace.loss_and_grad(theta)
            theta, _ = optimizer.step(theta, grad, None, k)

    return step, lambda: ((now := workspace.unpack(theta)).W, now.U)


def mhalib_formula(W, U, X, y, lr):
    """The paper's line, literally: model = model − lr · grad, on numpy."""
    model = mha.MultiHeadAttention(W, U)

    def step(steps):
        nonlocal model
        for _ in range(steps):
            model = model - lr * model.loss_and_grad(X, y)[1]

    return step, lambda: (model.W, model.U)


def einsum_of_the_formula(W, U, X):
    """Logits as the formula reads: scores x_tᵀ W x_j, softmax, weighted means against U; X (n, T,
    d) or (T, d)."""
    import torch

    A = torch.softmax(torch.einsum("...ta,hab,...jb->...htj", X, W, X), dim=-1)
    return torch.einsum("htd,...htj,...jd->...", U, A, X)


def einsum_in_pairs(W, U, X):
    """The same logits, each einsum with two operands, in the order of the forward pass."""
    import torch

    queries = torch.einsum("nta,hab->nhtb", X, W)
    A = torch.softmax(torch.einsum("nhtb,njb->nhtj", queries, X), dim=-1)
    return torch.einsum("nhtd,htd->n", torch.einsum("nhtj,njd->nhtd", A, X), U)


def torch_eager(logits_of, W, U, X, y, lr):
    """torch, einsum, autograd and torch.optim.SGD: what most people write."""
    import torch
    from torch.nn.functional import softplus

    # as torch is installed by default; jax would bring opt_einsum along
    torch.backends.opt_einsum.enabled = False
    X, y, W, U = (
        torch.tensor(X),
        torch.tensor(y),
        *(torch.tensor(a, requires_grad=True) for a in (W, U)),
    )
    optimizer = torch.optim.SGD([W, U], lr)

    def step(steps):
        for _ in range(steps):
            optimizer.zero_grad()
            logits = logits_of(W, U, X) / len(W) ** 0.5
            softplus(-y * logits, threshold=1e4).mean().backward()
            optimizer.step()

    return step, lambda: (W.detach(), U.detach())


def torch_ordered(W, U, X, y, lr):
    """torch without autograd: the same workspace as mhalib, on tensors."""
    import torch

    return mhalib_numpy(*map(torch.tensor, (W, U, X, y)), lr)


def jax_scan(W, U, X, y, lr):
    """jax: value_and_grad inside a jitted scan of many steps."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    X, y, theta = jnp.asarray(X), jnp.asarray(y), (jnp.asarray(W), jnp.asarray(U))

    def loss(theta):
        W, U = theta
        R = jnp.einsum("njb,hab->njha", X, W)
        A = jax.nn.softmax(jnp.einsum("nta,njha->nhtj", X, R), axis=-1)
        P = jnp.einsum("htd,njd->nhtj", U, X)
        return jax.nn.softplus(-y * (A * P).sum((1, 2, 3)) / len(W) ** 0.5).mean()

    def one(theta, _):
        grad = jax.grad(loss)(theta)
        return jax.tree.map(lambda p, g: p - jnp.asarray(lr, p.dtype) * g, theta, grad), None

    many = jax.jit(lambda theta, steps: jax.lax.scan(one, theta, length=steps)[0], static_argnums=1)

    def step(steps):
        nonlocal theta
        theta = jax.block_until_ready(many(theta, steps)) if steps else theta

    return step, lambda: theta


COMPETITORS = {
    "mhalib": mhalib_train,
    "mhalib numpy": mhalib_numpy,
    "mhalib formula": mhalib_formula,
    "torch eager": partial(torch_eager, einsum_of_the_formula),
    "torch pairs": partial(torch_eager, einsum_in_pairs),
    "torch ordered": torch_ordered,
    "jax scan": jax_scan,
}
