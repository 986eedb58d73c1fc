"""What the answers of the opening pages and of the sheets' own problems equal."""

import numpy as np
from scipy.stats import binom

import mhalib as mha
from answers.multihead import price
from answers.numerics import NUMERIC, at_largest, best_step, gaussian_mean, root, slope
from mhabook.c03_first_step.max_margin import max_margin
from mhabook.c04_convergence import chain
from mhabook.start.surface import Surface

FIGURE = (2.0, 1.0, -1.0)
COOLED = np.array([1.0, 0.0, -1.0])


def score_slope(a1, token=0):
    """How fast the weight of a token grows with the first of the scores (a₁, 0, −1)."""
    return slope(lambda a: mha.softmax(np.array([a, 0.0, -1.0]))[token], a1)


def score_of_weight(p):
    return root(lambda a1: mha.softmax(np.array([a1, 0.0, -1.0]))[0] - p, -20, 20)


def gap_of_weight(p, T):
    return root(lambda gap: mha.softmax(np.array([gap] + [0.0] * (T - 1)))[0] - p, -20, 20)


def mean_slope(a1, v=FIGURE):
    return sum(v[token] * score_slope(a1, token) for token in range(3))


def mean_slope_with(v1, vbar):
    """The largest slope, where the others offer two numbers with that weighted mean."""
    low, high = mha.softmax(np.array([0.0, -1.0]))
    v = (v1, vbar + high, vbar - low)
    return mean_slope(at_largest(lambda a1: mean_slope(a1, v), -8, 8), v)


def steepest_score():
    return at_largest(mean_slope, -3, 3)


def steps_until(done, x, factor):
    """How often a number is multiplied by a factor until something holds of it."""
    steps = 0
    while not done(x):
        x, steps = x * factor, steps + 1
    return steps


def product_model(u, w, x):
    """u·w·x, and its gradient in (u, w) by differences, which are exact for it."""
    return u * w * x, np.array(
        [(u + 1) * w * x - (u - 1) * w * x, u * (w + 1) * x - u * (w - 1) * x]
    ) / 2


def product_kernel(u0, w0, x, xp):
    return product_model(u0, w0, x)[1] @ product_model(u0, w0, xp)[1]


def product_error(x, du, dw, u0=0.7, w0=-0.4):
    here, slope = product_model(u0, w0, x)
    return product_model(u0 + du, w0 + dw, x)[0] - here - slope @ [du, dw]


def wide_product_norm(x, H):
    """The spectral norm of the Hessian of H^{-1/2} Σ u_h w_h x, a quadratic form, by its values."""

    def value(at):
        return (at[..., :H] * at[..., H:]).sum(-1) * x / H**0.5

    ones = np.eye(2 * H)
    return np.linalg.norm(value(ones[:, None] + ones) - value(ones)[:, None] - value(ones), 2)


def wide_product_kernel(H, x, xp):
    """The mean kernel over normal starts, by quadrature of one head's share."""
    share = gaussian_mean(lambda u: np.array([product_kernel(each, 0.0, x, xp) for each in u]))
    return H * 2 * share / H


def way_to_margin(m, gamma):
    """Along the best direction of features with the margin γ."""
    features, y = np.random.default_rng(0).normal(size=(4, 9)), np.array([1.0, -1.0, 1.0, -1.0])
    best = max_margin(features, y)
    margins = y * (features @ best.direction) * gamma / best.margin
    return root(lambda D: (D * margins).min() - m, 0, 100)


def change_of_kernel(H):
    data = mha.data.tokenized_mixture(n=16, T=4, d=4, M=2, zeta=0.25, sigma=0.5, seed=0)
    begin = mha.MultiHeadAttention.random(H, T=4, d=4, seed=0)
    end = mha.train(begin, data, mha.GradientDescent(0.3), steps=200, record=2)[-1]
    first, last = (model.features(data.X) @ model.features(data.X).T for model in (begin, end))
    return np.linalg.norm(last - first) / np.linalg.norm(first)


def weights_of_logarithms(T):
    return mha.softmax(np.log(np.arange(1, T + 1)))


def copies_of_one(H, phi):
    return mha.MultiHeadAttention(np.zeros((H, 1, 1)), np.full((H, 1, 1), phi))(np.ones((1, 1, 1)))[
        0
    ]


def spread_of_signs(H, phi):
    """The standard deviation of the logit of H heads with random signs, of which k are +."""
    k = np.arange(H + 1)
    logits = copies_of_one(H, phi) * (2 * k - H) / H
    return (binom.pmf(k, H, 0.5) @ logits**2) ** 0.5


def quadratic(eta, lambda_, K):
    x = 1.0
    for _ in range(K):
        x = x - eta * lambda_ * x
    return x


def accuracy_error(p, M):
    return np.sqrt(((1 - p) ** 2 * p + p**2 * (1 - p)) / M)


def effective_tokens(n, tau):
    """n times the square of the mean weight over the mean square, by quadrature."""
    return (
        n
        * gaussian_mean(lambda g: np.exp(tau * g)) ** 2
        / gaussian_mean(lambda g: np.exp(2 * tau * g))
    )


def halfway(q, k, kernel):
    return (kernel(kernel.scores(np.array([[q]]), np.array([[k], [-k]]))) @ [1.0, 0.0])[0]


TRUTH = {
    "ex-softmax-gap": [(gap_of_weight, 1e-9), (lambda: gap_of_weight(0.9, 10), 1e-9)],
    "ex-softmax-cooling": [
        (lambda: slope(lambda beta: mha.softmax(beta * COOLED) @ COOLED, 1.0), 1e-9)
    ],
    "ex-softmax-fastest": [
        (lambda: mha.softmax(np.array([at_largest(score_slope, -3, 3), 0.0, -1.0]))[0], 1e-3),
        (lambda: score_slope(at_largest(score_slope, -3, 3)), NUMERIC),
        (lambda: score_slope(score_of_weight(0.5)) / score_slope(score_of_weight(0.99)), NUMERIC),
    ],
    "ex-softmax-slope": [
        (mean_slope_with, NUMERIC),
        (lambda: mean_slope(steepest_score()), NUMERIC),
        (steepest_score, 1e-3),
    ],
    "ex-descent-two": [
        lambda: root(
            lambda lr: abs(Surface((4.0, 0.25)).descend((1.0, 0.0), lr, 1)[-1, 0]) - 1, 0.3, 1
        ),
        (lambda: best_step(np.array([4.0, 0.25]))[0], NUMERIC),
        (lambda: best_step(np.array([4.0, 0.25]))[1], NUMERIC),
    ],
    "ex-descent-steps": [
        (lambda eps, eta, lambda_: root(lambda K: (1 - eta * lambda_) ** K - eps, 0, 1e4), 1e-9),
        lambda: np.argmax(Surface((1.0, 0.05)).descend((0.0, 1.0), 1.0, 200)[:, 1] < 1e-3),
    ],
    "ex-descent-leaving": [
        lambda: steps_until(lambda far: far > 0.1, 1e-6, 1 + 0.5 * 0.5),
        (lambda: root(lambda K: 1.25**K - 1e3, 0, 99), 1e-9),
    ],
    "ex-descent-h": [(lambda eps: np.exp(root(lambda h: 3 * h - np.log(eps), -30, 0)), 1e-9)],
    "ex-tangent-product": [
        (product_kernel, 1e-9),
        (product_error, 1e-9),
        (lambda: product_kernel(2, 1, 3, -1), 1e-9),
    ],
    "ex-tangent-wide": [(wide_product_norm, 1e-9), (wide_product_kernel, 1e-9)],
    "ex-tangent-way": [  # at the second number of heads Taylor's bound leaves half of the margin m
        (way_to_margin, 1e-9),
        (
            lambda B, m, gamma: root(
                lambda H: m - B / H**0.5 * (m / gamma) ** 2 / 2 - m / 2, 1e-9, 1e7
            ),
            1e-9,
        ),
    ],
    "ex-tangent-still": [
        (lambda: change_of_kernel(4), 1e-4),
        (lambda: change_of_kernel(64), 1.5e-3),
    ],
    "ex-sheet-weights": [
        lambda j, T: weights_of_logarithms(T)[j - 1],
        lambda: next(T for T in range(1, 99) if weights_of_logarithms(T).max() < 0.1 + 1e-12),
    ],
    "ex-sheet-copies": [
        copies_of_one,
        lambda H: 1 / copies_of_one(H, 1.0),
        (spread_of_signs, 1e-9),
    ],
    "ex-sheet-quadratic": [quadratic, lambda lambda_: 2 / lambda_],
    "ex-sheet-price": [
        (lambda r: price(r, chain.heads_needed), 1e-5),
        lambda r: price(r, chain.fewer_heads_needed),
    ],
    "ex-sheet-error": [accuracy_error, lambda: accuracy_error(0.8, 872)],
    "ex-sheet-effective": [(effective_tokens, 1e-9), (lambda: effective_tokens(1000, 2.0), 1e-9)],
    "ex-sheet-halfway": [
        lambda q, k: halfway(q, k, mha.softmax),
        lambda q, k: halfway(q, k, mha.gaussian),
        (lambda k: root(lambda q: halfway(q, k, mha.gaussian) - 0.5, k, k + 5), 1e-9),
        (lambda q, k: slope(lambda x: halfway(x, k, mha.softmax), q), NUMERIC),
        (lambda q, k: slope(lambda x: halfway(x, k, mha.gaussian), q), NUMERIC),
    ],
}
