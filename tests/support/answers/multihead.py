"""What the answers of Part I equal, chapters 1 to 8."""

from functools import cache

import numpy as np

import mhabook
import mhalib as mha
from answers.numerics import NUMERIC, ROUNDED, at_largest, root
from mhabook.c01_model import selection
from mhabook.c02_curvature import bounds, derivatives, loss_bounds
from mhabook.c03_first_step import ntk
from mhabook.c03_first_step.first_phase import covariances, randomized_step, signal
from mhabook.c03_first_step.max_margin import max_margin, ntk_features
from mhabook.c04_convergence import chain, starts
from mhabook.c04_convergence import statements as convergence
from mhabook.c06_planted import statements as planted
from mhabook.c07_generalization import statements as generalization
from mhabook.c07_generalization.leave_one_out import leave_one_out

MIXTURE = mha.data.tokenized_mixture(n=12, T=4, d=6, M=3, zeta=0.5, sigma=0.3)


def two_tokens(u, w):
    """The model and the sample of ex-1-two-tokens."""
    return mha.MultiHeadAttention(np.array([[[w]]]), np.array([[[u], [0.0]]])), np.array(
        [[[1.0], [0.0]]]
    )


def logit_slope(u, w):
    model, X = two_tokens(u, w)
    return model.features(X)[0, 0]


def logit_hessian(u, w):
    model, X = two_tokens(u, w)
    return derivatives.logit_hessian(model, X)[0].reshape(3, 3)


def selecting_gap(eps, zeta):
    return root(lambda gap: selection.selected_mass(zeta, gap) - (1 - eps), -9, 12)


@cache
def without_selection():
    """The decoder alone, in the first run of chapter 1: training accuracy and test loss."""
    data = mha.data.tokenized_mixture(n=100, T=10, d=8, M=4, zeta=0.1, S=2.0, sigma=0.2, seed=0)
    mean, y, u = data.X.mean(axis=1), data.y, np.zeros(8)
    for _ in range(2000):  # Φ = ⟨u, 10 x̄⟩ with ten rows u: a step on each row sees x̄
        u = u + mean.T @ (y / (1 + np.exp(y * (mean @ u) * 10))) / len(y)
    test = data.fresh(n=300, seed=1)
    losses = np.logaddexp(0, -test.y * (test.X.mean(axis=1) @ u) * 10)
    return (y * (mean @ u) > 0).mean(), losses.mean()


def two_point_deviation(p):
    return bounds.deviation(np.array([-1.0, 1.0]), np.array([(1 - p) / 2, (1 + p) / 2]))


@cache
def smoothness_at_the_start():
    """Of the training run of chapter 2."""
    data = mha.data.tokenized_mixture(n=40, T=8, d=6, M=3, zeta=0.25, S=1.0, sigma=0.1, seed=0)
    return loss_bounds.smoothness(
        mha.MultiHeadAttention.random(H=4, T=8, d=6, scale=0.3, seed=0), data
    )


def margins_by_hand(S):
    return ntk.mixture_margins(4, 0.5, S, 2)


def speeds_along_look(p, q, r):
    """How fast y Φ grows in the two samples of two tokens, along the move of attention, for one row
    in all places."""
    plus, minus, nu = 2 * np.eye(3)
    X, row, look = np.array([[plus, nu], [minus, nu]]), p * plus + q * minus + r * nu, plus + minus
    W = np.outer(look + nu, look)
    dW, _ = mha.MultiHeadAttention(np.zeros((1, 3, 3)), np.stack([[row, row]])).logit_gradients(X)
    return np.array([1, -1]) * (dW[:, 0] * W).sum(axis=(1, 2)) / np.linalg.norm(W)


def spread_tokens(T, *samples):
    """Samples whose mean token and covariance are (a, 0) and diag(0, v), for each (a, v)."""
    apart = np.linspace(-1, 1, T)
    apart /= apart.std()
    return np.array([np.stack([np.full(T, a), v**0.5 * apart], axis=1) for a, v in samples])


def gram_entry(T, a, b):
    """For ψ = (0, 1), three heads and signs that are not equal."""
    X = spread_tokens(T, (1.0, 1.0), (a, b))
    rows = np.array([1.0, -1.0, 1.0])[:, None, None] * np.broadcast_to([0.0, 1.0], (3, T, 2))
    features = mha.MultiHeadAttention(np.zeros((3, 2, 2)), rows).features(X)
    return features[0] @ features[1]


def equal_signs(H):
    one, many = (
        randomized_step(mha.MultiHeadAttention.zeros(h, 4, 6), MIXTURE, np.ones(h)) for h in (1, H)
    )
    return abs(many(MIXTURE.X)).max() / abs(one(MIXTURE.X)).max()


def wanted_product(zeta, S):
    """y⟨ψ₀, μ_y − ν_j⟩: ψ₀ is proportional to the share, here one half."""
    mixture = mha.data.tokenized_mixture(n=4, T=4, d=6, M=3, zeta=0.5, S=S, sigma=0.0).truth
    return zeta / 0.5 * signal(mixture) @ (mixture.mu[1] - mixture.nu[2])


def free_rows(d, M):
    mixture = mha.data.tokenized_mixture(n=4, T=4, d=d, M=M, zeta=0.5, sigma=0.0).truth
    return d - np.linalg.matrix_rank((mixture.mu[:, None] - mixture.nu).reshape(-1, d))


def mean_decoder_gram(sigma0, x, c):
    """The mean over decoders with independent entries: a sum over their entries, each of size
    sigma0 alone."""
    X = spread_tokens(3, (1.0, 1.0), (x / 3 - c**0.5, c))
    alone = sigma0 * np.eye(6).reshape(6, 1, 3, 2)
    features = [ntk_features(mha.MultiHeadAttention(np.zeros((1, 2, 2)), U), X, "W") for U in alone]
    return sum(first @ second for first, second in features)


def margin_of_infinitely_many():
    """The limit of the Gram matrix on the data of chapter 3, by its entries."""
    data = mha.data.tokenized_mixture(n=60, T=10, d=12, M=5, zeta=0.2, S=2.0, sigma=0.0, seed=0)
    mean, C = data.X.mean(axis=1), covariances(data.X)
    variance = (ntk.first_phase(data, H=4).U[0] ** 2).mean()
    K = 10 * mean @ mean.T + variance * np.einsum("itd,jtd->ij", data.X, data.X) * np.einsum(
        "ide,jed->ij", C, C
    )
    values, vectors = np.linalg.eigh(K)
    return max_margin(vectors * values.clip(0) ** 0.5, data.y).margin


def share_used():
    """Of the bound of ex-4-stationary, along the run with a trillion heads."""
    data = mha.data.tokenized_mixture(n=20, T=10, d=7, M=5, zeta=0.2, S=1.0, sigma=0.0, seed=0)
    large = starts.first_phase_groups(data, (10**12 // 2,) * 2)
    toward = chain.reference_along(large, starts.mixture_witness(data, large.copies), data, 1000)
    run = chain.follow(large, toward.model, data, 0.3, 1000)
    return (
        run.loss
        / (5 / 3 * run.reference_loss + 4 / 3 * run.from_reference * run.squared_gradient**0.5)
    ).max()


def training_bound_begins():
    K = np.arange(5, 5000)
    data = mha.data.tokenized_mixture(n=100, T=10, d=7, M=5, zeta=0.2, S=1.0, sigma=0.0, seed=0)
    D = (0.5 + np.log(K)) / convergence.sample_demand(data).margin
    return K[np.argmax(chain.guarantee(D, 1 / K, np.log(2), 0.33, K) < np.log(2))]


def price(r, heads):
    """The growth of what the theorem asks for, where decoders at the start are short and D₀ is
    long."""
    return heads(r * 1e7, 0.0, 10, 1.0) / heads(1e7, 0.0, 10, 1.0)


def demanded_power(zeta):
    heads = [convergence.mixture_demand(T=20, zeta=share).heads for share in (zeta, zeta / 2)]
    return np.log2(heads[1] / heads[0])


def equal_heads_step(H, a, decoder):
    """The step sizes that H equal heads with the factor H^{-a} amount to, at η = 1, by mhalib's
    gradients."""
    rng, few = np.random.default_rng(0), mha.data.tokenized_mixture(n=5, T=4, d=6, M=2, zeta=0.25)
    one = mha.MultiHeadAttention(rng.normal(size=(1, 6, 6)), rng.normal(size=(1, 4, 6)))
    # Φ = H^{-a} Σ Φ_h is mhalib's model with decoders H^{1/2-a} U_h; here U_h = H^{a-1} Ũ.
    many = mha.MultiHeadAttention(
        np.repeat(one.W, H, 0), np.repeat(H ** (a - 1) * H ** (0.5 - a) * one.U, H, 0)
    )
    wanted, found = (model.loss_and_grad(few.X, few.y)[1] for model in (one, many))
    if decoder:
        return (H ** (1 - a) * H ** (0.5 - a) * found.U[0] / wanted.U[0]).mean()
    return (found.W[0] / wanted.W[0]).mean()


def root_of_the_product():
    """The p for which η² H^{2p − 1} is the same for 2 and for 64 heads."""
    few, many = (equal_heads_step(H, 0.5, True) * equal_heads_step(H, 0.5, False) for H in (2, 64))
    return np.log(few / many) / (2 * np.log(64 / 2))


def second_step(beta):
    start = mha.MultiHeadAttention.zeros(2, 4, 6)
    moved, plain = (
        mha.train(start, MIXTURE, rule, 2)[-1].W
        for rule in (mha.Momentum(0.1, beta), mha.GradientDescent(0.1))
    )
    return (moved * plain).sum() / (plain**2).sum()


def long_steps(beta):
    """How far a step of momentum goes under a gradient that stays 1."""
    rule, theta = mha.Momentum(1.0, beta), 0.0
    state = rule.start(theta)
    for k in range(2000):
        before, (theta, state) = theta, rule.step(theta, 1.0, state, k)
    return before - theta


def short_growth(k):
    few = mha.data.tokenized_mixture(n=20, T=5, d=6, M=3, zeta=0.2)
    path = mha.train(
        mha.MultiHeadAttention.zeros(1, 5, 6), few, mha.GradientDescent(1e-5), 40, record=[2, k]
    )
    return path.norm_W[-1] / path.norm_W[0]


def one_of(H, a=1.0):
    heads = np.zeros((H, H, H))
    heads[np.arange(H), 0, np.arange(H)] = 1
    heads[0] *= a
    return planted.cosine(heads, np.stack([heads[0] / a] * H))


def second_head_alone():
    data = mha.data.planted(n=400, T=6, d=4, seed=0)
    start = mha.MultiHeadAttention.random(H=8, T=6, d=4, scale=0.3, seed=0)
    rule = mha.GradientDescent(1.0)
    end, test = mha.train(start, data, rule, 600, record=2)[-1], data.fresh(n=1000)
    return (mha.MultiHeadAttention(end.W[[1]], end.U[[1]])(test.X) * test.y > 0).mean()


def samples(zeta, target):
    return generalization.samples_needed(zeta=zeta, target=target).samples


def samples_without_logarithm(zeta, target):
    return 1 / (ntk.mixture_margins(10, zeta, 1.0, 4).U ** 2 * target)


def estimate_off(sigma):
    """The largest factor between the loss of left-out samples and the test loss, in chapter 7."""
    data = mha.data.tokenized_mixture(n=20, T=10, d=8, M=4, zeta=0.2, S=1.0, sigma=sigma, seed=0)
    run = leave_one_out(
        mha.MultiHeadAttention.zeros(1, 10, 8),
        data,
        lr=1.0,
        steps=500,
        test=data.fresh(1000, seed=1),
    )
    return np.exp(abs(np.log(run.left_loss.mean(axis=1) / run.left_test_loss.mean(axis=1))).max())


def random_start(H):
    """The root mean square over signs of decoders of Φ′ against Φ."""
    few = mha.data.tokenized_mixture(n=4, T=4, d=6, M=2, zeta=0.25)
    model = mha.MultiHeadAttention.random(H, 4, 6, seed=1)
    return (mha.MultiHeadAttention(model.W, model.U / H**0.5)(few.X) / model(few.X)).mean()


def nine_against_four():
    table = mhabook.stored("digits.npz")
    last = [
        table.where(pair="49", scale=0.1, rule="gd", power=0, H=H)["test_accuracy"] for H in (1, 64)
    ]
    one, many = (column[:, -1] if column.ndim > 1 else column for column in last)
    return np.mean(many - one)


TRUTH = {
    "ex-1-two-tokens": [
        logit_slope,
        (lambda: at_largest(lambda w: logit_slope(1.0, w), -3, 3.1), NUMERIC),
        lambda u: logit_slope(u, 0.0),
    ],
    "ex-1-half": [(selecting_gap, 1e-9), (lambda: selecting_gap(0.01, 0.1), 1e-9)],
    "ex-1-uniform": [lambda: without_selection()[0], (lambda: without_selection()[1], ROUNDED)],
    "ex-2-two-tokens": [
        lambda u, w: logit_hessian(u, w)[0, 0],
        lambda w: logit_hessian(1.7, w)[0, 1],
    ],
    "ex-2-worst": [
        two_point_deviation,
        (lambda: at_largest(two_point_deviation, 0.1, 0.9), NUMERIC),
    ],
    "ex-2-power": [(lambda: smoothness_at_the_start().lhs, 1e-4)],
    "ex-2-step": [
        (lambda: 1 / smoothness_at_the_start().rhs, 3e-4),
        (lambda: 2 / smoothness_at_the_start().lhs, 1e-4),
    ],
    "ex-3-by-hand": [
        lambda S: margins_by_hand(S).U,
        lambda S: margins_by_hand(S).W / margins_by_hand(S).U,
        lambda: root(lambda S: margins_by_hand(S).W - margins_by_hand(S).U, 1, 3),
    ],
    "ex-3-row": [
        (lambda p, r: speeds_along_look(p, 0.0, r)[0], 1e-9),
        (lambda p, q, r: speeds_along_look(p, q, r).min(), 1e-9),
    ],
    "ex-3-kernel": [(gram_entry, 1e-9), (equal_signs, 1e-9)],
    "ex-3-needs": [(wanted_product, 1e-9), free_rows],
    "ex-3-infinite": [(mean_decoder_gram, 1e-9), (margin_of_infinitely_many, 1e-3)],
    "ex-3-length": ["maximum margin becomes $\\sqrt{\\gamma_U^2+c^2\\gamma_W^{*2}}$"],
    "ex-4-constant": [
        lambda: root(lambda x: convergence.share_lost(x) - 0.25, 0, 1),
        "\\approx0.864$",
    ],
    "ex-4-convex": ["the constants are $\\frac12$", "$\\frac12$, $1$, and $0$"],
    "ex-4-stationary": [(share_used, ROUNDED)],
    "ex-4-begin": [training_bound_begins],
    "ex-4-share": [
        (lambda: np.log2(price(2.0, chain.heads_needed)), 1e-5),
        (lambda: demanded_power(0.1), ROUNDED),
    ],
    "ex-5-power": [
        (lambda eta, H, p: eta * H**p * equal_heads_step(H, 0.5, True), 1e-9),
        (lambda eta, H, p: eta * H**p * equal_heads_step(H, 0.5, False), 1e-9),
        root_of_the_product,
    ],
    "ex-5-factor": [
        (lambda eta, H, a: eta * equal_heads_step(H, a, False), 1e-9),
        (lambda eta, H, a: eta * equal_heads_step(H, a, True), 1e-9),
    ],
    "ex-5-decay": [  # of a step θ ← θ − ηλθ, in the step size that the gradient has there
        (lambda H, lambda_: lambda_ / equal_heads_step(H, 0.5, False), 1e-9),
        (lambda H, lambda_: lambda_ / equal_heads_step(H, 0.5, True), 1e-9),
    ],
    "ex-5-momentum": [(second_step, 1e-9), (long_steps, 1e-9)],
    "ex-5-short": [(short_growth, 1e-3)],
    "ex-5-largest": [lambda: max(x * (1 - x) / 4 for x in np.linspace(0, 1, 2001))],
    "ex-6-one": [one_of, one_of],
    "ex-6-prune": [second_head_alone],
    "ex-7-convex": [
        "the constant is 1, with no condition",
        "at most $\\frac{2G^2}n",
        "\\tfrac12D_0^2",
    ],
    "ex-7-replace": ["the bound on the gap is $\\frac{3G^2}n"],
    "ex-7-lipschitz": ["$\\frac32\\frac{\\eta G}nK$"],
    "ex-7-samples": [
        lambda: samples_without_logarithm(0.2, 0.1) / samples_without_logarithm(0.2, np.log(2)),
        (lambda: samples(0.2, 0.1) / samples(0.2, 0.693), ROUNDED),
        lambda: samples_without_logarithm(0.1, 0.5) / samples_without_logarithm(0.2, 0.5),
        (lambda: samples(0.1, 0.693) / samples(0.2, 0.693), ROUNDED),
    ],
    "ex-7-estimate": [(lambda: estimate_off(0.3), ROUNDED), (lambda: estimate_off(1.0), ROUNDED)],
    "ex-7-monotone": ["the constant would be $\\frac32$"],
    "ex-8-mean": [random_start, lambda eta, H: eta * H * random_start(H) ** 2],
    "ex-8-nine": [(nine_against_four, 0.02)],
}
