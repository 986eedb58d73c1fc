"""The formulas, written out one example, one head, one query and one key at a time. Imports nothing
of the package.

Derivatives come from torch's autograd; ``exact_loss`` computes with sixty decimal digits.
"""

from decimal import Decimal, localcontext

import numpy as np

from optional import torch


def softmax(scores):
    """s_j = exp(S_j) / Σ_k exp(S_k) of one row of scores."""
    powers = [torch.exp(score - max(scores)) for score in scores]
    return torch.stack([power / sum(powers) for power in powers])


def softmax_rows(S):
    """The softmax of each row of S (…, T, T)."""
    rows = [softmax(list(row)) for row in S.reshape(-1, S.shape[-1])]
    return torch.stack(rows).reshape(S.shape)


def gaussian_weights(Q, K, c):
    """A_ij = exp(−c ‖q_i − k_j‖² / √d)."""
    root = Q.shape[-1] ** 0.5
    return torch.stack(
        [torch.stack([torch.exp(-c * ((q - k) ** 2).sum() / root) for k in K]) for q in Q]
    )


def attention(X, W):
    """The weights of one example X (T, d) under one head W (d, d): row t is softmax over j of x_tᵀ
    W x_j."""
    return torch.stack([softmax([x @ W @ key for key in X]) for x in X])


def logit(X, W, U):
    """Φ(X) = H^{−1/2} Σ_h Σ_t ⟨u_ht, Σ_j s_htj x_j⟩ of one example X (T, d)."""
    total = torch.zeros((), dtype=X.dtype)
    for W_h, U_h in zip(W, U, strict=True):
        for u, s in zip(U_h, attention(X, W_h), strict=True):
            total = total + u @ sum(weight * token for weight, token in zip(s, X, strict=True))
    return total / len(W) ** 0.5


def logits(X, W, U):
    """Φ of every example, (n,)."""
    return torch.stack([logit(x, W, U) for x in X])


def loss(X, y, W, U):
    """(1/n) Σ_i log(1 + exp(−y_i Φ(X_i)))."""
    return -sum(
        torch.nn.functional.logsigmoid(label * logit(x, W, U))
        for x, label in zip(X, y, strict=True)
    ) / len(X)


def tensors(*arrays):
    """Arrays as tensors that share no memory with them."""
    return [torch.tensor(a) for a in arrays]


def loss_and_grad(X, y, W, U):
    """The loss and its gradient (dW, dU) by autograd, as numpy."""
    X, y, W, U = tensors(X, y, W, U)
    value = loss(X, y, W.requires_grad_(), U.requires_grad_())
    dW, dU = torch.autograd.grad(value, (W, U))
    return float(value.detach()), dW.numpy(), dU.numpy()


def per_head(vector, H, T, d):
    """(W, U) from one vector: head after head, W_h row by row, then U_h row by row."""
    heads = [row.split([d * d, T * d]) for row in vector.reshape(H, -1)]
    return torch.stack([W.reshape(d, d) for W, _ in heads]), torch.stack(
        [U.reshape(T, d) for _, U in heads]
    )


def loss_hessian(X, y, vector, sizes):
    """∇²L (p, p) by autograd at the parameters of one vector, as numpy."""
    X, y, vector = tensors(X, y, vector)
    return torch.autograd.functional.hessian(
        lambda v: loss(X, y, *per_head(v, *sizes)), vector
    ).numpy()


def logit_gradients(X, vector, sizes):
    """∇Φ(X_i) (n, p) by autograd, as numpy."""
    X, vector = tensors(X, vector)
    return torch.autograd.functional.jacobian(
        lambda v: logits(X, *per_head(v, *sizes)), vector
    ).numpy()


def logit_hessian(x, vector, sizes):
    """∇²Φ (p, p) of one example x (T, d) by autograd, as numpy."""
    x, vector = tensors(x, vector)
    return torch.autograd.functional.hessian(
        lambda v: logit(x, *per_head(v, *sizes)), vector
    ).numpy()


def exact_logit(x, W, U):
    """Φ of one example in the arithmetic of ``decimal``: all arguments nested lists of Decimal."""
    total = Decimal(0)
    for W_h, U_h in zip(W, U, strict=True):
        for query, u in zip(x, U_h, strict=True):
            scores = [_dot(query, [_dot(row, key) for row in W_h]) for key in x]
            powers = [(score - max(scores)).exp() for score in scores]
            total += sum(p * _dot(u, key) for p, key in zip(powers, x, strict=True)) / sum(powers)
    return total / Decimal(len(W)).sqrt()


def exact_loss(X, y, W, U):
    """The mean logistic loss of float arrays, with sixty digits, rounded once at the end."""
    with localcontext(prec=60):
        X, y, W, U = map(_decimals, (X, y, W, U))
        losses = [
            exact_logistic(label * exact_logit(x, W, U)) for x, label in zip(X, y, strict=True)
        ]
        return float(sum(losses) / len(losses))


def exact_logistic(z):
    """log(1 + e^{−z}) of a Decimal, without losing the small one of the two terms."""
    # Sixty digits do not hold 1 + e^{−z} when z is large; log(1 + p) = 2 artanh(p / (2 + p)) does.
    power = (-abs(z)).exp()
    ratio = power / (2 + power)
    series = 2 * sum(ratio**k / k for k in range(1, 120, 2))
    return series + max(-z, Decimal(0))


def _dot(a, b):
    return sum((p * q for p, q in zip(a, b, strict=True)), Decimal(0))


def _decimals(a):
    return [_decimals(row) for row in a] if np.ndim(a) else Decimal(float(a))
