"""What further answers of the chapters equal, as in answers.py: formulas, and constants of proofs."""

import numpy as np
from scipy.stats import norm

import mhalib as mha
from answers import EXACT, NUMERIC, at_largest, equal_heads_step, gaussian_mean
from mhabook.c03_first_step import ntk
from mhabook.c03_first_step.first_phase import randomized_step, signal
from mhabook.c03_first_step.max_margin import ntk_features
from mhabook.c09_tilting import finite_context
from mhabook.c09_tilting import statements as tilting
from mhabook.c10_structure import factorization, stationary
from mhabook.c12_two_kernels import statements as two_kernels
from mhalib.attention import Gaussian

MIXTURE = mha.data.tokenized_mixture(n=12, T=4, d=6, M=3, zeta=0.5, sigma=0.3)


def spread_tokens(T, *samples):
    """Samples whose mean token and covariance are (a, 0) and diag(0, v), for each (a, v)."""
    apart = np.linspace(-1, 1, int(T))
    apart /= apart.std()
    return np.array([np.stack([np.full(int(T), a), v**0.5 * apart], axis=1) for a, v in samples])


def gram_entry(T, a, b):
    """For ψ = (0, 1), three heads and signs that are not equal."""
    X = spread_tokens(T, (1.0, 1.0), (a, b))
    rows = np.array([1.0, -1.0, 1.0])[:, None, None] * np.broadcast_to([0.0, 1.0], (3, int(T), 2))
    features = mha.MultiHeadAttention(np.zeros((3, 2, 2)), rows).features(X)
    return float(features[0] @ features[1])


def equal_signs(H):
    one, many = (randomized_step(mha.MultiHeadAttention.zeros(h, 4, 6), MIXTURE, np.ones(h)) for h in (1, int(H)))
    return float(abs(many(MIXTURE.X)).max() / abs(one(MIXTURE.X)).max())


def wanted_product(zeta, S):
    """y⟨ψ₀, μ_y − ν_j⟩: ψ₀ is proportional to the share, here one half."""
    mixture = mha.data.tokenized_mixture(n=4, T=4, d=6, M=3, zeta=0.5, S=S, sigma=0.0).truth
    return float(zeta / 0.5 * signal(mixture) @ (mixture.mu[1] - mixture.nu[2]))


def free_rows(d, M):
    mixture = mha.data.tokenized_mixture(n=4, T=4, d=int(d), M=int(M), zeta=0.5, sigma=0.0).truth
    return d - np.linalg.matrix_rank((mixture.mu[:, None] - mixture.nu).reshape(-1, int(d)))


def mean_decoder_gram(s, x, c):
    """The mean over decoders with independent entries: a sum over their entries, each of size s alone."""
    X = spread_tokens(3, (1.0, 1.0), (x / 3 - c**0.5, c))
    alone = s * np.eye(6).reshape(6, 1, 3, 2)
    features = [ntk_features(mha.MultiHeadAttention(np.zeros((1, 2, 2)), U), X, "W") for U in alone]
    return float(sum(first @ second for first, second in features))


def seen_decay(H, decoder, **given):
    """The decay of a step θ ← θ − ηλθ, in the step size that the gradient has there."""
    return given["lambda"] / equal_heads_step(int(H), 0.5, decoder)


def second_step(beta):
    start = mha.MultiHeadAttention.zeros(2, 4, 6)
    moved, plain = (mha.train(start, MIXTURE, rule, 2)[-1].W for rule in
                    (mha.Momentum(0.1, beta), mha.GradientDescent(0.1)))
    return float((moved * plain).sum() / (plain**2).sum())


def long_steps(beta):
    """How far a step of momentum goes under a gradient that stays 1."""
    rule, theta = mha.Momentum(1.0, beta), 0.0
    state = rule.start(theta)
    for k in range(2000):
        before, (theta, state) = theta, rule.step(theta, 1.0, state, k)
    return before - theta


def samples_without_logarithm(zeta, target):
    return 1 / (ntk.mixture_margins(10, zeta, 1.0, 4).U ** 2 * target)


def shifted_limit(A, B, mu, Sigma, x):
    """The attention mean of N(μ, Σ) tokens, by quadrature."""
    weight, token = (lambda g: np.exp(B * x * Sigma**0.5 * g)), (lambda g: mu + Sigma**0.5 * g)
    return A * gaussian_mean(lambda g: token(g) * weight(g)) / gaussian_mean(weight)


def worst_query(v):
    """Where chance times error is largest: a query of u has the chance n^(−(u/v)²)."""
    return at_largest(lambda u: float(finite_context.query_rate(u)) - (u / v) ** 2, 3**-0.5, 1.0)


def own_token(v):
    """The largest exponent of n over s."""
    s = np.linspace(0, 3, 300_001)
    return float((-(s**2) + np.minimum(0, 2 * (2 * (v - v * v / 2) * s**2 - 1))).max())


def drift(lr):
    """The change of the imbalance in a run of length 5."""
    U, V = np.array([[1.0, 0.2], [0.0, 0.5]]), np.array([[0.3, 0.1], [0.4, 0.9]])
    before = stationary.imbalance(U, V)
    for _ in range(round(5 / lr)):
        dU, dV = factorization.gradient(U, V, np.diag([1.0, 0.5]), balance=0.0)
        U, V = U - lr * dU, V - lr * dV
    return np.linalg.norm(stationary.imbalance(U, V) - before)


def steps_worth(K, b, n):
    """Attention weights of the small batches, over those of one full one."""
    tokens = np.zeros((int(n), 1))
    few, all_of_them = (mha.softmax(tokens[:rows] @ tokens.T).size for rows in (int(b), int(n)))
    return K * few / all_of_them


def heavy_mean(v):
    """Twice the power of n of a mean of numbers with the tail of exp(½ v²x²/(1 + v²)), x normal."""
    logs = np.array([1e5, 2e5])
    chance = norm.logsf(np.sqrt(2 * logs * (1 + v * v) / (v * v)))
    index = -float(np.diff(chance)[0] / np.diff(logs)[0])
    return 2 * (1 / index - 1)


def query_force(q, k, u, r, c, h=1e-5):
    """The derivative of ½(o − y)² by differences, y such that the residual at q is r."""
    kernel = Gaussian(c)

    def output(at):
        return float(kernel(kernel.scores(np.array([[at]]), np.array([[k]])))[0, 0]) * u

    y = output(q) - r
    return ((output(q + h) - y) ** 2 - (output(q - h) - y) ** 2) / (4 * h)


def equal_values_force():
    """The same for softmax over three keys with one value."""
    outputs = [float(mha.softmax(q * np.array([-2.0, 0.3, 1.0])) @ np.full(3, 0.7)) for q in (0.49, 0.51)]
    return (outputs[1] - outputs[0]) / 0.02


def directions_left():
    layer = mha.AttentionLayer.random(D=6, d=4, m=3, seed=2, kernel=mha.normalized_gaussian)
    J = two_kernels.token_jacobians(layer, mha.data.random_sequences(N=1, n=3, D=6, m=3, seed=2).X)
    return float(np.linalg.matrix_rank(J[0][0], tol=1e-9))


def rank_of_single_tokens(N, D, kernel):
    X = mha.data.random_sequences(int(N), 1, int(D), 1, seed=1).X
    return float(np.linalg.matrix_rank(mha.AttentionLayer.random(int(D), 3, 1, 2, kernel=kernel, seed=3).mixed(X)))


def factor_moves(eta, psi, rule):
    """How far the first step of a rule moves ψW^V, where the weights carry the factor ψ; and the plain gradient."""
    plain = mha.AttentionLayer.random(5, 3, 1, seed=4)
    data = mha.data.random_sequences(6, 4, 5, 1, seed=4)
    # S ψ X W^V W^O: the factor may as well stand at W^O.
    scaled = plain.with_arrays(WV=plain.WV / psi, WO=psi * plain.WO)
    wanted, found = (layer.loss_and_grad(data.X, data.y)[1].WV for layer in (plain, scaled))
    moved, _ = rule(eta).step(scaled.WV, found, rule(eta).start(scaled.WV), 0)
    return psi * abs(moved - scaled.WV), abs(wanted)


def descent_with_factor(eta, psi):
    moves, plain = factor_moves(eta, psi, mha.GradientDescent)
    return float((moves / plain).mean())


def adam_with_factor(eta, psi):
    return float(np.median(factor_moves(eta, psi, mha.Adam)[0]))


TRUTH = {
    "ex-3-kernel": [(gram_entry, 1e-9), (equal_signs, 1e-9)],
    "ex-3-needs": [(wanted_product, 1e-9), (free_rows, EXACT)],
    "ex-5-decay": [
        (lambda H, **given: seen_decay(H, False, **given), 1e-9),
        (lambda H, **given: seen_decay(H, True, **given), 1e-9),
    ],
    "ex-5-momentum": [(second_step, 1e-9), (long_steps, 1e-9)],
    "ex-7-replace": ["the bound on the gap is $\\frac{3G^2}n"],
    "ex-7-monotone": ["the constant would be $\\frac32$"],
    "ex-9-mean": [(shifted_limit, 1e-9)],
    "ex-9-own": [(own_token, 1e-4), (lambda: own_token(0.2), EXACT)],
    "ex-10-drift": [(lambda: np.log2(drift(0.01) / drift(0.005)), 0.02)],
    "ex-10-minibatch": [(steps_worth, EXACT)],
    "ex-11-exponent": [(heavy_mean, 1e-4), (lambda: 2 * tilting.exponent(2**0.5), EXACT)],
    "ex-12-equal": [(equal_values_force, NUMERIC), (query_force, NUMERIC)],
    "ex-12-third": [(directions_left, EXACT)],
    "ex-13-rank": [
        (lambda N, D: rank_of_single_tokens(N, D, mha.softmax), EXACT),
        (lambda N, D: rank_of_single_tokens(N, D, mha.gaussian), EXACT),
    ],
    "ex-16-factor": [(descent_with_factor, 1e-9), (adam_with_factor, 1e-4)],
}
