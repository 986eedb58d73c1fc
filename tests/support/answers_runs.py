"""What those answers of the chapters equal that a reader finds by running code, as in answers.py: runs and tables."""

from functools import cache

import numpy as np

import mhabook
import mhalib as mha
from answers import EXACT, NUMERIC, price, smoothness_at_the_start
from answers_by_hand import mean_decoder_gram, samples_without_logarithm, worst_query
from mhabook.c03_first_step import ntk
from mhabook.c03_first_step.first_phase import covariances
from mhabook.c03_first_step.max_margin import max_margin
from mhabook.c04_convergence import chain, starts
from mhabook.c04_convergence import statements as convergence
from mhabook.c07_generalization import statements as generalization
from mhabook.c07_generalization.leave_one_out import leave_one_out
from mhabook.c09_tilting import finite_context
from mhabook.c09_tilting.statements import mean_excess
from mhabook.c11_data_and_compute import scaling
from mhabook.c11_data_and_compute import statements as data_and_compute

ROUNDED = 6e-3
"""Where a run ends is typed with three digits; the page asks for two of them."""
NS = (250, 500, 1000, 2000, 4000)
STEPS = np.arange(10, 51)


@cache
def without_selection():
    """The decoder alone, in the first run of chapter 1: training accuracy and test loss."""
    data = mha.data.tokenized_mixture(n=100, T=10, d=8, M=4, zeta=0.1, S=2.0, sigma=0.2, seed=0)
    mean, y, u = data.X.mean(axis=1), data.y, np.zeros(8)
    for _ in range(2000):  # Φ = ⟨u, 10 x̄⟩ with ten rows u: a step on each row sees x̄
        u = u + mean.T @ (y / (1 + np.exp(y * (mean @ u) * 10))) / len(y)
    test = data.fresh(n=300, seed=1)
    losses = np.logaddexp(0, -test.y * (test.X.mean(axis=1) @ u) * 10)
    return float((y * (mean @ u) > 0).mean()), float(losses.mean())


def margin_of_infinitely_many():
    """The limit of the Gram matrix on the data of chapter 3, by its entries."""
    data = mha.data.tokenized_mixture(n=60, T=10, d=12, M=5, zeta=0.2, S=2.0, sigma=0.0, seed=0)
    mean, C = data.X.mean(axis=1), covariances(data.X)
    variance = (ntk.first_phase(data, H=4).U[0] ** 2).mean()
    K = 10 * mean @ mean.T + variance * np.einsum("itd,jtd->ij", data.X, data.X) * np.einsum("ide,jed->ij", C, C)
    values, vectors = np.linalg.eigh(K)
    return max_margin(vectors * values.clip(0) ** 0.5, data.y).margin


def share_used():
    """Of the bound of ex-4-stationary, along the run with two trillion heads."""
    data = mha.data.tokenized_mixture(n=100, T=10, d=7, M=5, zeta=0.2, S=1.0, sigma=0.0, seed=0)
    large = starts.first_phase_groups(data, starts.coin_tosses(2 * 10**12, seed=0))
    toward = chain.reference_along(large, starts.mixture_witness(data, large.copies), data, 3000)
    run = chain.follow(large, toward.model, data, 0.33, 3000)
    right = 5 / 3 * run.reference_loss + 4 / 3 * run.from_reference * run.squared_gradient**0.5
    return float((run.loss / right).max())


def demanded_power(zeta):
    heads = [convergence.mixture_demand(T=20, zeta=share).heads for share in (zeta, zeta / 2)]
    return float(np.log2(heads[1] / heads[0]))


def second_head_alone():
    data = mha.data.planted(n=400, T=6, d=4, seed=0)
    start, rule = mha.MultiHeadAttention.random(H=8, T=6, d=4, scale=0.3, seed=0), mha.GradientDescent(0.3 * 8**0.5)
    end, test = mha.train(start, data, rule, 600, record=2)[-1], data.fresh(n=1000)
    return float((mha.MultiHeadAttention(end.W[[1]], end.U[[1]])(test.X) * test.y > 0).mean())


def samples(zeta, target):
    return generalization.samples_needed(zeta=zeta, target=target).samples


def estimate_off(sigma):
    """The largest factor between the loss of left-out samples and the test loss, in chapter 7."""
    data = mha.data.tokenized_mixture(n=20, T=10, d=8, M=4, zeta=0.2, S=1.0, sigma=sigma, seed=0)
    run = leave_one_out(mha.MultiHeadAttention.zeros(1, 10, 8), data, lr=1.0, steps=500, test=data.fresh(1000, seed=1))
    off = np.log(run.left_loss.mean(axis=1) / run.left_test_loss.mean(axis=1))
    return float(np.exp(abs(off).max()))


def half_of_the_error(v):
    z = np.arange(0.005, 8, 0.01)
    share = np.cumsum([finite_context.query_error(1e6, v * x)[0] * np.exp(-x * x / 2) for x in z])
    return float(v * np.interp(share[-1] / 2, share, z) / (2 * np.log(1e6)) ** 0.5)


def squared_weights(n):
    return finite_context.query_error(n, 2 * (2 * np.log(n)) ** 0.5)[1]


@cache
def law(kind):
    """The law of SA2 at s_max = 0.4, fitted to the mean or to the median over the seeds."""
    table = mhabook.stored("data_and_compute.npz").where(rule="SA2", s_max=0.4)
    runs = np.stack([table.where(n=n)["excess"] for n in NS], axis=1)[:, :, STEPS]
    return scaling.fit_law(STEPS, np.array(NS), kind(runs, axis=0)[None], resamples=1).law


def predictions_off(r):
    """n times the error of the predictions at s_max = 2 and the radius r."""
    s = 2 * np.geomspace(1, 1 / 4, 5)
    v = s**0.5 * r / s[0] ** 0.5
    return mean_excess(np.diag(s / v), np.diag(v)) + (0.25 - data_and_compute.fitted_noise(s, v)) / 2


def ratio_below():
    """The mean over twenty seeds of what the values cannot fit, D = 16."""
    found = []
    for seed in range(20):
        data = mha.data.random_sequences(8, 4, 16, 1, seed=seed)
        B, y = mha.AttentionLayer.random(16, 8, 1, tied=True, seed=seed).mixed(data.X), data.y.reshape(-1, 1)
        found.append(((y - B @ np.linalg.pinv(B) @ y) ** 2).sum() / (y**2).sum())
    return float(np.mean(found))


def best_less_last():
    setting = {"rule": "adam", "embedding": 1.0, "gain": 3**-0.5, "length": 8}
    rows = mhabook.stored("words.npz").where(**setting, kernel="softmax", scale=4.0)
    tried = [rows.where(lr=lr) for lr in np.unique(rows["lr"])]
    accuracy = max(tried, key=lambda runs: runs["validation_accuracy"][:, -1].mean())["test_accuracy"]
    return float((accuracy.max(axis=1) - accuracy[:, -1]).mean())


@cache
def laboratory():
    return mhabook.laboratory()


def largest_loss(schedule):
    settings = laboratory().experiments["edge"] | {"schedule": schedule}
    return float(laboratory().path(**settings).loss.max())


def edge_at_the_start():
    data = laboratory().run()["data"]
    return 2 / float(mha.landscape.spectrum(laboratory().path(steps=50)[0], data).values[-1])


def first_rise():
    """Of the step sizes of the slider from one half on."""
    rates = [lr for lr in laboratory().controls["lr"].values if lr >= 0.5]
    return next(lr for lr in rates if (np.diff(laboratory().path(lr=lr, steps=50).loss) > 0).any())


def enough_unknowns():
    """The least D of the slider at which σ_min(B) is positive."""
    settings = laboratory().experiments["narrow"]
    for D in laboratory().controls["D"].values:
        drawn = laboratory().run(**settings | {"D": D})["data"].X
        B = mha.AttentionLayer.random(D, 8, 1, seed=0).mixed(drawn)
        if np.linalg.matrix_rank(B) == B.shape[0]:
            return float(D)


TRUTH = {
    "ex-1-uniform": [(lambda: without_selection()[0], EXACT), (lambda: without_selection()[1], ROUNDED)],
    "ex-2-power": [(lambda: smoothness_at_the_start().lhs, 1e-4)],
    "ex-3-infinite": [(mean_decoder_gram, 1e-9), (margin_of_infinitely_many, 1e-3)],
    "ex-4-stationary": [(share_used, ROUNDED)],
    "ex-4-share": [(lambda: np.log2(price(2.0, chain.heads_needed)), 1e-5), (lambda: demanded_power(0.1), ROUNDED)],
    "ex-6-prune": [(second_head_alone, EXACT)],
    "ex-7-samples": [
        (lambda: samples_without_logarithm(0.2, 0.1) / samples_without_logarithm(0.2, np.log(2)), EXACT),
        (lambda: samples(0.2, 0.1) / samples(0.2, 0.693), ROUNDED),
        (lambda: samples_without_logarithm(0.1, 0.5) / samples_without_logarithm(0.2, 0.5), EXACT),
        (lambda: samples(0.1, 0.693) / samples(0.2, 0.693), ROUNDED),
    ],
    "ex-7-estimate": [(lambda: estimate_off(0.3), ROUNDED), (lambda: estimate_off(1.0), ROUNDED)],
    "ex-9-queries": [
        (worst_query, NUMERIC),
        (lambda: half_of_the_error(1.0), ROUNDED),
        (lambda: half_of_the_error(2.0), ROUNDED),
    ],
    "ex-9-largest": [(lambda: squared_weights(1e6), ROUNDED), (lambda: 1 / squared_weights(1e40), 0.03)],
    "ex-11-cheaper": [
        (lambda: scaling.plan(1e-3, law(np.mean), power=1).n, EXACT),
        (lambda: scaling.split(1e-3, law(np.mean), 1)[2], ROUNDED),
    ],
    "ex-11-radius": [
        (lambda: predictions_off(0.5), 1e-3),
        (lambda: min((0.1, 0.2, 0.3, 0.4, 0.5, 0.6), key=predictions_off), EXACT),
    ],
    "ex-11-typical": [(lambda: law(np.median).factor, ROUNDED), (lambda: law(np.median).floor, 1e-3)],
    "ex-13-below-code": [(ratio_below, 0.06)],
    "ex-16-best": [(best_less_last, ROUNDED)],
    "ex-17-warm-up": [(lambda: largest_loss("constant"), ROUNDED), (lambda: largest_loss("warmup"), ROUNDED)],
    "ex-17-edge": [(edge_at_the_start, 1e-3), (first_rise, EXACT)],
    "ex-17-unknowns": [(enough_unknowns, EXACT)],
}
