"""What the answers of the self-checking exercises equal: by mhalib, or by the definition of what is asked."""

import numpy as np
from scipy.optimize import brentq, minimize_scalar

import mhabook
import mhalib as mha
from mhabook.c01_model import selection
from mhabook.c02_curvature import bounds, loss_bounds
from mhabook.c03_first_step import ntk
from mhabook.c04_convergence import chain
from mhabook.c04_convergence import statements as convergence
from mhabook.c06_planted import statements as planted
from mhabook.c10_structure import factorization, stationary
from mhabook.c11_data_and_compute import statements as data_and_compute
from mhabook.c13_layer import statements as one_layer
from mhabook.c14_traps import statements as traps
from mhabook.c15_landscapes import statements as landscapes
from mhabook.c16_networks import statements as networks
from mhalib.attention import Gaussian


def two_tokens(u, w):
    """The model, sample and label of ex-1-two-tokens."""
    model = mha.MultiHeadAttention(np.array([[[w]]]), np.array([[[u], [0.0]]]))
    return model, np.array([[[1.0], [0.0]]])


def logit_slope(u, w):
    model, X = two_tokens(u, w)
    return float(model.features(X)[0, 0])


def logit_hessian(u, w):
    model, X = two_tokens(u, w)
    return model.logit_hessian(X)[0].reshape(3, 3)


def smoothness_at_the_start():
    """Of the training run of chapter 2."""
    data = mha.data.tokenized_mixture(n=40, T=8, d=6, M=3, zeta=0.25, S=1.0, sigma=0.1, seed=0)
    return loss_bounds.smoothness(mha.MultiHeadAttention.random(H=4, T=8, d=6, scale=0.3, seed=0), data)


def slope(function, x, h=1e-5):
    return (function(x + h) - function(x - h)) / (2 * h)


def root(function, low, high):
    return brentq(function, low, high, xtol=1e-14)


def selecting_gap(eps, zeta):
    return root(lambda gap: selection.selected_mass(zeta, gap) - (1 - eps), -9, 12)


def at_largest(function, low, high):
    return minimize_scalar(lambda x: -function(x), bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x


def two_point_deviation(p):
    return bounds.deviation(np.array([-1.0, 1.0]), np.array([(1 - p) / 2, (1 + p) / 2]))


def by_hand(S):
    return ntk.mixture_margins(4, 0.5, S, 2)


def training_bound_begins():
    K = np.arange(5, 5000)
    data = mha.data.tokenized_mixture(n=100, T=10, d=7, M=5, zeta=0.2, S=1.0, sigma=0.0, seed=0)
    D = (0.5 + np.log(K)) / convergence.sample_demand(data).margin
    return float(K[np.argmax(chain.guarantee(D, 1 / K, np.log(2), 0.33, K) < np.log(2))])


def equal_heads_step(H, a, decoder):
    """The step sizes that H equal heads with the factor H^{-a} amount to, at η = 1, by mhalib's gradients."""
    rng, few = np.random.default_rng(0), mha.data.tokenized_mixture(n=5, T=4, d=6, M=2, zeta=0.25)
    one = mha.MultiHeadAttention(rng.normal(size=(1, 6, 6)), rng.normal(size=(1, 4, 6)))
    # Φ = H^{-a} Σ Φ_h is mhalib's model with decoders H^{1/2-a} U_h; here U_h = H^{a-1} Ũ.
    many = mha.MultiHeadAttention(np.repeat(one.W, H, 0), np.repeat(H ** (a - 1) * H ** (0.5 - a) * one.U, H, 0))
    wanted, found = (model.loss_and_grad(few.X, few.y)[1] for model in (one, many))
    if decoder:
        return float((H ** (1 - a) * H ** (0.5 - a) * found.U[0] / wanted.U[0]).mean())
    return float((found.W[0] / wanted.W[0]).mean())


def short_growth(k):
    few = mha.data.tokenized_mixture(n=20, T=5, d=6, M=3, zeta=0.2)
    path = mha.train(mha.MultiHeadAttention.zeros(1, 5, 6), few, mha.GradientDescent(1e-5), 40, record=[2, int(k)])
    return float(path.norm_W[-1] / path.norm_W[0])


def one_of(H, a=1.0):
    heads = np.zeros((H, H, H))
    heads[np.arange(H), 0, np.arange(H)] = 1
    heads[0] *= a
    return planted.cosine(heads, np.stack([heads[0] / a] * H))


def random_start(H, mean):
    """The root mean square over signs of decoders of Φ′ against Φ; then of the Gram matrices, times H."""
    few = mha.data.tokenized_mixture(n=4, T=4, d=6, M=2, zeta=0.25)
    model = mha.MultiHeadAttention.random(H, 4, 6, seed=1)
    other = mha.MultiHeadAttention(model.W, model.U / H**0.5)
    logit = float((other(few.X) / model(few.X)).mean())
    return logit if mean else H * logit**2


def nine_against_four():
    table = mhabook.stored("digits.npz")
    last = [table.where(pair="49", scale=0.1, rule="gd", power=0, H=H)["test_accuracy"] for H in (1, 64)]
    ends = [column[:, -1] if column.ndim > 1 else column for column in last]
    return float(np.mean(ends[1] - ends[0]))


def gaussian_mean(function, nodes=120):
    x, weight = np.polynomial.hermite_e.hermegauss(nodes)
    return float(weight @ function(x) / weight.sum())


def exponential_of_square(v):
    z = np.linspace(-60, 60, 120_001)
    return float(np.trapezoid(np.exp(-(0.5 - v * v) * z * z), z) / (2 * np.pi) ** 0.5)


def effective_tokens(n, tau):
    """n times the square of the mean weight over the mean square, by quadrature."""
    return n * gaussian_mean(lambda g: np.exp(tau * g)) ** 2 / gaussian_mean(lambda g: np.exp(2 * tau * g))


def accuracy_error(p, M):
    return float(np.sqrt(((1 - p) ** 2 * p + p**2 * (1 - p)) / M))


def copies_of_one(H, phi):
    model = mha.MultiHeadAttention(np.zeros((H, 1, 1)), np.full((H, 1, 1), phi))
    return float(model(np.ones((1, 1, 1)))[0])


def scalar_hessian(s, at):
    point = np.array([[at]])
    return float(np.linalg.eigvalsh(factorization.hessian(point, point, np.array([[s]])))[-1])


def spectrum(s1=2.0, s2=1.0):
    U, V = factorization.optimum(np.diag([s1, s2]))
    found = np.linalg.eigvalsh(factorization.hessian(U, V, np.diag([s1, s2])))
    return found[found > 1e-9]


def best_step(curvatures):
    worst = minimize_scalar(
        lambda lr: abs(1 - lr * curvatures).max(),
        bounds=(0, 2 / curvatures.max()),
        method="bounded",
        options={"xatol": 1e-13},
    )
    return worst.x, worst.fun


def balanced_stay(s):
    """The time in which the steepest way out of a balanced saddle that misses s grows by a factor of 1000."""
    N = np.diag([2.0, s])
    U, V = factorization.optimum(N, kept=[0])
    return np.log(1000) / -np.linalg.eigvalsh(factorization.hessian(U, V, N))[0]


def flat_stay(s):
    """The least such time at the flat saddle of size 10, by the bound of the statement."""
    return np.log(1000) / stationary.flat_saddles(s, s, 10.0)[0].rhs


def blind_directions(d, kernel):
    """The dimension of the matrices M that, to first order, leave a kernel's scores at Q(1 + M), K(1 − Mᵀ) the same.

    Row sums of scores do not matter to softmax; here they do not change either.
    """
    Q, K = np.random.default_rng(0).normal(size=(2, 3 * d, d))
    moved = [kernel.scores_along(Q, K, Q @ M, -K @ M.T).ravel() for M in np.eye(d * d).reshape(-1, d, d)]
    return d * d - np.linalg.matrix_rank(np.array(moved), tol=1e-9)


def layer_of_one_token(o, x, r, c, d):
    """A layer whose query and key of one token are r apart: (α, L)."""
    WQ, WK = np.zeros((2, 1, d, d))
    WQ[0, 0, 0] = r / x
    value, out = np.zeros((1, d, d)), np.zeros((1, d, 1))
    out[0, 0, 0] = o
    layer = mha.AttentionLayer(WQ, WK, value, out, Gaussian(c))
    X = np.zeros((1, 1, d))
    X[0, 0, 0] = x
    return one_layer.value_smoothness(layer, X)


def unreachable_share(H, D, N, n):
    X = np.random.default_rng(0).normal(size=(N, n, D))
    B = mha.AttentionLayer.random(D, 3, 1, H, seed=1).mixed(X)
    return 1 - np.linalg.matrix_rank(B) / (N * n)


def least_b1(loss):
    layer, _ = traps.example("B1", mha.softmax)
    outputs = [
        layer.with_arrays(WQ=np.full_like(layer.WQ, q))(np.eye(3)[None])[0, 0, 0] for q in np.linspace(-3, 3, 601)
    ]
    least = min(outputs)
    return 3 * (least - 0.5) ** 2 / 2 if loss else float(least)


def stretched_width(s, c):
    scores = [
        Gaussian(width).scores(np.array([[t * 0.7]]), np.array([[t * -0.4]]))[0, 0] for width, t in ((1.0, 1.0), (c, s))
    ]
    return float(scores[1] / scores[0])


def lifted_entry(c):
    """The last entry that makes softmax's scores equal to the Gaussian ones, up to a constant of the row."""
    q, keys = 0.6, np.array([-1.0, 0.3, 2.0])
    right = -c * (q - keys) ** 2
    return float(np.polyfit(keys, right - 2 * c * q * keys, 2)[0])


def product_of_two(direction, t):
    x, y = t * np.asarray(direction)
    return float((x * y - 1) ** 2 / 2)


def product_curvature(phi):
    H = np.array([[0.0, -1.0], [-1.0, 0.0]])
    v = np.array([np.cos(phi), np.sin(phi)])
    return float(v @ H @ v)


def half_missed(p):
    return brentq(lambda beta: landscapes.missed(p, beta, 1) - 0.5, 1e-9, 1e5, xtol=1e-12, rtol=1e-14)


def late_rate(kappa, lr):
    """The largest factor of an error near the optimum of SA2, apart from directions that do not matter."""
    found = data_and_compute.late_eigenvalues(np.diag([kappa, 1.0]), lr)
    return abs(found[found < 1 - 1e-12]).max()


def best_late(kappa):
    found = minimize_scalar(lambda lr: late_rate(kappa, lr), bounds=(0, 1), method="bounded", options={"xatol": 1e-13})
    return found.x, found.fun


def quadratic(eta, **given):
    x = np.array(1.0)
    for _ in range(int(given["K"])):
        x = x - eta * given["lambda"] * x
    return float(x)


def price(r, heads):
    """The growth of what the theorem asks for, where decoders at the start are short and D₀ is long."""
    return heads(r * 1e7, 0.0, 10, 1.0) / heads(1e7, 0.0, 10, 1.0)


def halfway(q, k, kernel):
    return float((kernel(kernel.scores(np.array([[q]]), np.array([[k], [-k]]))) @ [1.0, 0.0])[0])


# label → for each question: what it equals by mhalib or by numbers, and how exactly. Where the answer is a constant of
# a proof, which no instance attains: what the solution says of it.
EXACT, NUMERIC = 1e-12, 1e-6
TRUTH = {
    "ex-1-two-tokens": [
        (logit_slope, EXACT),
        (lambda: at_largest(lambda w: logit_slope(1.0, w), -3, 3.1), NUMERIC),
        (lambda u: logit_slope(u, 0.0), EXACT),
    ],
    "ex-1-half": [(selecting_gap, 1e-9), (lambda: selecting_gap(0.01, 0.1), 1e-9)],
    "ex-2-two-tokens": [
        (lambda u, w: logit_hessian(u, w)[0, 0], EXACT),
        (lambda w: logit_hessian(1.7, w)[0, 1], EXACT),
    ],
    "ex-2-worst": [(two_point_deviation, EXACT), (lambda: at_largest(two_point_deviation, 0.1, 0.9), NUMERIC)],
    "ex-2-step": [(lambda: 1 / smoothness_at_the_start().rhs, 1e-5), (lambda: 2 / smoothness_at_the_start().lhs, 1e-4)],
    "ex-3-by-hand": [
        (lambda S: by_hand(S).U, EXACT),
        (lambda S: by_hand(S).W / by_hand(S).U, EXACT),
        (lambda: root(lambda S: by_hand(S).W - by_hand(S).U, 1, 3), EXACT),
    ],
    "ex-3-length": ["exact margin becomes $\\sqrt{\\gamma_U^2+c^2\\gamma_W^{*2}}$"],
    "ex-4-constant": [(lambda: root(lambda x: convergence.share_lost(x) - 0.25, 0, 1), EXACT), "\\approx0.864$"],
    "ex-4-convex": ["the constants are $\\frac12$", "$\\frac12$, $1$ and $0$"],
    "ex-4-begin": [(training_bound_begins, EXACT)],
    "ex-5-factor": [
        (lambda eta, H, a: eta * equal_heads_step(int(H), a, False), 1e-9),
        (lambda eta, H, a: eta * equal_heads_step(int(H), a, True), 1e-9),
    ],
    "ex-5-short": [(short_growth, 1e-3)],
    "ex-5-largest": [(lambda: max(x * (1 - x) / 4 for x in np.linspace(0, 1, 2001)), EXACT)],
    "ex-6-one": [(lambda H: one_of(int(H)), EXACT), (lambda a, H: one_of(int(H), a), EXACT)],
    "ex-7-convex": ["the constant is 1, with no condition", "at most $\\frac{2G^2}n", "\\tfrac12D_0^2"],
    "ex-7-lipschitz": ["$\\frac32\\frac{\\eta G}nK$"],
    "ex-8-mean": [
        (lambda H: random_start(int(H), True), EXACT),
        (lambda eta, H: eta * random_start(int(H), False), EXACT),
    ],
    "ex-8-nine": [(nine_against_four, 0.02)],
    "ex-9-moments": [
        (lambda tau: gaussian_mean(lambda g: g**2 * np.exp(tau * g)), 1e-9),
        (lambda tau: gaussian_mean(lambda g: (g - tau) ** 2 * np.exp(2 * tau * g)), 1e-9),
    ],
    "ex-9-threshold": [(exponential_of_square, 1e-9), "so $v<\\frac12$"],
    "ex-10-scalar": [(lambda s: scalar_hessian(s, 0.0), EXACT), (lambda s: scalar_hessian(s, s**0.5), EXACT)],
    "ex-10-spectrum": [
        (lambda: float((abs(spectrum() - 3) < 1e-9).sum()), EXACT),
        (lambda: best_step(spectrum())[0], NUMERIC),
        (lambda s1, s2: best_step(spectrum(s1, s2))[1], NUMERIC),
    ],
    "ex-10-escape": [(balanced_stay, 1e-9), (flat_stay, 0.01)],
    "ex-11-rate": [(lambda kappa: best_late(kappa)[0], NUMERIC), (lambda kappa: best_late(kappa)[1], NUMERIC)],
    "ex-11-rows": [(lambda eta, kappa: data_and_compute.late_factor([kappa, 1.0], 3, 2, eta) ** 2, EXACT)],
    "ex-11-tenth": [
        (lambda rho: root(lambda K: rho**K - 0.1, 0, 99), 1e-9),
        (lambda: root(lambda K: 0.854**K - 0.1, 0, 99), 1e-9),
    ],
    "ex-12-turn": [
        (lambda d: blind_directions(int(min(d, 5)), mha.softmax) + d * d - min(d, 5) ** 2, EXACT),
        (
            lambda d: blind_directions(int(min(d, 5)), mha.gaussian) + (d * (d - 1) - min(d, 5) * (min(d, 5) - 1)) / 2,
            EXACT,
        ),
    ],
    "ex-12-lift": [(lifted_entry, 1e-9)],
    "ex-13-one": [(layer_of_one_token, EXACT)],
    "ex-13-below": [(unreachable_share, EXACT)],
    "ex-14-b1": [(lambda: least_b1(False), EXACT), (lambda: least_b1(True), EXACT)],
    "ex-14-stretch": [(stretched_width, EXACT)],
    "ex-15-two": [(product_curvature, EXACT), (lambda t: product_of_two((1, -1), t), EXACT)],
    "ex-15-chance": [(half_missed, 1e-9), (lambda: half_missed(10_002), 1e-9)],
    "ex-16-one": [
        (lambda c, sigma, d: 1 / networks.mean_weight(sigma, d, c), EXACT),
        (lambda: 1 / networks.mean_weight(1.0, 32), EXACT),
    ],
    "ex-16-wide": [(lambda c0, sigma: networks.mean_weight(sigma, 1e9, c0 / 1e9**0.5), 1e-6)],
    "ex-sheet-weights": [
        (lambda j, T: mha.softmax(np.log(np.arange(1, T + 1)))[int(j) - 1], EXACT),
        (lambda: next(T for T in range(1, 99) if mha.softmax(np.log(np.arange(1, T + 1))).max() < 0.1 + 1e-12), EXACT),
    ],
    "ex-sheet-copies": [
        (lambda H, phi: copies_of_one(int(H), phi), EXACT),
        (lambda H: 1 / copies_of_one(int(H), 1.0), EXACT),
        (lambda eta: eta * equal_heads_step(8, 0.5, True), 1e-9),
        (lambda eta: eta * equal_heads_step(8, 0.5, False), 1e-9),
    ],
    "ex-sheet-quadratic": [(quadratic, EXACT), (lambda **given: 2 / given["lambda"], EXACT)],
    "ex-sheet-price": [
        (lambda r: price(r, chain.heads_needed), 1e-5),
        (lambda r: price(r, chain.fewer_heads_needed), EXACT),
    ],
    "ex-sheet-error": [(accuracy_error, EXACT), (lambda: accuracy_error(0.8, 872), EXACT)],
    "ex-sheet-effective": [(effective_tokens, 1e-9), (lambda: effective_tokens(1000, 2.0), 1e-9)],
    "ex-sheet-halfway": [
        (lambda q, k: halfway(q, k, mha.softmax), EXACT),
        (lambda q, k: halfway(q, k, mha.gaussian), EXACT),
        (lambda k: root(lambda q: halfway(q, k, mha.gaussian) - 0.5, k, k + 5), 1e-9),
        (lambda q, k: slope(lambda x: halfway(x, k, mha.softmax), q), NUMERIC),
        (lambda q, k: slope(lambda x: halfway(x, k, mha.gaussian), q), NUMERIC),
    ],
}
