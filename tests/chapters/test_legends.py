"""A picture says what it shows: its legends, titles, axes and sentences against quantities computed
here.

Nothing here reads what a figure says of its own traces. Lines are found as a reader finds them, by
the title of their panel and their name in the legend, at settings where all of them differ.
"""

import re
from dataclasses import replace
from functools import cache
from statistics import NormalDist

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import expit, logsumexp
from scipy.stats import ttest_rel
from sklearn.svm import SVC

import mhalib as mha
from figures import PLACES, figure, place_id
from legends import as_drawn, by_name
from livegrad.examples import (
    logistic_regression,
    matrix_factorization,
    mixture,
    recurrence,
    two_layer_network,
)
from mhabook.c01_model.instances import token_radius
from mhabook.c02_curvature.bounds import decoder_sizes, gradient_constant, smoothness_constant
from mhabook.c02_curvature.loss_bounds import curvature_constant
from mhabook.c03_first_step.first_phase import step_from_zero
from mhabook.c03_first_step.max_margin import ntk_margin
from mhabook.c03_first_step.ntk import (
    exact_margins,
    first_phase,
    gaussian_of_equal_norm,
    mirrored,
    mixture_margins,
)
from mhabook.c04_convergence import chain
from mhabook.c04_convergence.starts import first_phase_groups, mixture_witness
from mhabook.c09_tilting.statements import exponent
from mhabook.c10_structure.figure_regression import path_of, sample, start_on
from mhabook.c10_structure.population import PopulationRegression
from mhabook.c11_data_and_compute.statements import floor_constant, spectral_constant
from mhabook.c13_layer.figure import problem
from mhabook.c13_layer.statements import value_rate, value_smoothness
from mhabook.c14_traps.lines import Line
from mhabook.c14_traps.statements import EXAMPLES, example
from mhabook.c16_networks import sentences as short_sentences
from mhabook.start.figure_words import sentences
from mhabook.start.linearized import Linearized
from mhalib.plots import GRAY
from shown import (
    Panel,
    accuracies,
    assert_all_differ,
    assert_axes_say,
    assert_says,
    assert_shows,
    attention_scores,
    cosine,
    each,
    losses,
    sentence_of,
    softmax_of,
)

KERNELS = ("softmax", "Gaussian", "Gaussian, rows normalized")


def weights_of(kernel, queries, keys, c):
    """The weights of the keys for every query, both on a line, under a kernel by its name in the
    legend."""
    if kernel == "softmax":
        return softmax_of(np.outer(queries, keys))
    bells = np.exp(-c * np.subtract.outer(queries, keys) ** 2)
    return bells if kernel == "Gaussian" else bells / bells.sum(axis=1, keepdims=True)


# --- the figures, in the order of the book: (what stands in each panel, what the sentence says)
# ----------------------


def words(made, path, first, lr):
    data = sentences()
    names = ["on", "sunday", "we", "saw", "a", "great★", "film", "with", "my", "sister"]
    weights = each(path, lambda model: model.attention(data.X[:1])[0, 0].mean(axis=0))
    loss, score = losses(path, data), attention_scores(path, data)
    # After the last step there is a scale from 107 to 143 for the last weights.
    rows, nothing = np.arange(10), np.full(10, np.nan)
    ends = np.full(10, 107), 107 + 36 * weights[-1], nothing
    bars = np.column_stack(ends).ravel(), np.column_stack([rows, rows, nothing]).ravel()
    return {
        "attention, step by step": Panel(
            "", "", {"heatmap": weights, "final weight": bars}, ticks={"y": names}
        ),
        "loss": Panel("step", "", {"loss": loss}, path.steps),
    }, [("η = {}", lr), ("“great” is {}, and the loss is {}.", score[-1], loss[-1])]


def finding(made, path, first, zeta, sigma, lr, sample):
    data = mha.data.tokenized_mixture(n=100, T=10, d=8, M=4, S=2.0, zeta=zeta, sigma=sigma, seed=0)
    usual = mha.data.tokenized_mixture(n=100, T=10, d=8, M=4, S=2.0, zeta=0.1, sigma=0.2, seed=0)
    test = data.fresh(seed=1)
    right = accuracies(path, data)
    fresh = accuracies(path, test)
    score = attention_scores(path, data)
    weights, star = path[-1].attention(data.X)[sample, 0], data.relevant[sample]
    label = "+1" if data.y[sample] > 0 else "−1"
    return {
        "fractions, step by step": Panel(
            "log step",
            "",
            {
                "training accuracy": right,
                "test accuracy": fresh,
                "weight on relevant token": score,
                "weight, initial settings": attention_scores(first, usual),
            },
            path.steps,
        ),
        "attention weights": Panel(
            "key token",
            "query token",
            {"heatmap": weights},
            ticks={"x": [f"{t}★" if own else f"{t}" for t, own in enumerate(star)]},
        ),
    }, [
        ("step size {}, noise {}, and a fraction {} of relevant tokens", lr, sigma, zeta),
        ("weight on the relevant token {}", score[-1]),
        ("the training loss is {}", losses(path, data)[-1]),
        ("the test accuracy {}", fresh[-1]),
        (
            f"sample {sample}, label {label}, this weight is {{}}",
            weights[:, star].sum(axis=1).mean(),
        ),
    ]


def heads(made, path, first, H, lr, optimizer):
    data = mha.data.tokenized_mixture(n=64, T=8, zeta=0.125)
    loss, score = losses(path, data), attention_scores(path, data)
    return {
        "loss": Panel(
            "log step",
            "log",
            {"default settings": losses(first, data), "training loss": loss},
            path.steps,
        ),
        "attention score": Panel(
            "log step",
            "",
            {"default settings": attention_scores(first, data), "attention score": score},
            path.steps,
        ),
    }, [
        ("H = {}, η = {}, Adam", H, lr),
        ("training loss {}, attention score {}", loss[-1], score[-1]),
    ]


def downward(made, path, first, H, lr, scale):
    data = mha.data.tokenized_mixture(n=40, T=8, d=6, M=3, zeta=0.25, S=1.0, sigma=0.1, seed=0)

    def downward_of(of):
        return each(of, lambda model: -mha.landscape.spectrum(model, data).values[0])

    def bounds_of(of):
        return each(of, lambda model: curvature_constant(model, data, token_radius(data.X)))

    loss, usual = losses(path, data), losses(first, data)
    bend, bound = downward_of(path), bounds_of(path)
    return {
        "negative curvature / loss": Panel(
            "log loss, log scale: training goes to the left",
            "log times the loss, log scale",
            {
                "initial settings": [
                    (usual, bounds_of(first)),
                    (usual, downward_of(first) / usual),
                ],
                "its bound B/√H": (loss, bound),
                "measured": (loss, bend / loss),
            },
        ),
    }, [
        ("Heads: {}. With step size {} and initialization scale {}", H, lr, scale),
        ("the loss goes from {} to {}", loss[0], loss[-1]),
        ("negative curvature from {} to {}", bend[0], bend[-1]),
        ("At the end it is {} times the loss", bend[-1] / loss[-1]),
        ("its bound {} times the loss", bound[-1]),
    ]


def curvature(made, path, first, H, lr, scale):
    data = mha.data.tokenized_mixture(n=40, T=8, d=6, M=3, zeta=0.25, S=1.0, sigma=0.1, seed=0)
    R = token_radius(data.X)
    ends = each(path, lambda model: mha.landscape.spectrum(model, data).values[[0, -1]])
    kappa, loss = each(path, lambda model: curvature_constant(model, data, R)), losses(path, data)
    return {
        "upward": Panel(
            "log step",
            "log",
            {
                "largest eigenvalue": ends[:, 1],
                "its bound ρ": each(path, lambda model: smoothness_constant(model, R)),
                "2/η": np.full(len(path), 2 / lr),
            },
            path.steps,
        ),
        "downward": Panel(
            "log step",
            "log",
            {
                "− smallest eigenvalue": -ends[:, 0],
                "its bound (B/√H) L": kappa * loss,
                "loss L": loss,
            },
            path.steps,
        ),
    }, [
        ("H = {}, η = {}, and initialization scale {}", H, lr, scale),
        ("the loss goes from {} to {}", loss[0], loss[-1]),
        ("the largest eigenvalue from {} to {}", ends[0, 1], ends[-1, 1]),
        ("the negative curvature from {} to {}", -ends[0, 0], -ends[-1, 0]),
    ]


def one_step(made, path, first, zeta, S, sigma):
    noises = (0.0, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)

    def data_of(noise):
        return mha.data.tokenized_mixture(60, 10, 12, 5, zeta, S, noise, 0)

    starts = {
        "before the step": lambda data: mha.MultiHeadAttention.zeros(1, 10, 12),
        "random decoder": lambda data: gaussian_of_equal_norm(data, 1, 0),
        "after the step": lambda data: step_from_zero(data, np.ones(1)),
    }
    data = data_of(sigma)
    model = starts["after the step"](data)
    # with the opposite of each sample it has no bias
    machine = SVC(kernel="linear", C=1e9, tol=1e-12).fit(
        np.concatenate([model.features(data.X), -model.features(data.X)]),
        np.concatenate([data.y, -data.y]),
    )
    W, U = machine.coef_[0, :144], machine.coef_[0, 144:]
    across, up, length = np.linalg.norm(U), np.linalg.norm(W), np.linalg.norm(machine.coef_)
    dW, dU = (part.reshape(60, -1) for part in model.logit_gradients(data.X))
    points = np.array([dU @ U / across, dW @ W / up])
    # after the step a sample is farther from the origin than for the two other models
    reach = 1.2 * np.linalg.norm(points, axis=0).max()
    middle, along = np.array([across, up]) / length, np.array([-up, across]) / length

    def line(level):
        half = np.sqrt(reach**2 - level**2)
        return tuple(np.array([level * middle - half * along, level * middle + half * along]).T)

    margin = 1 / length
    alone = [ntk_margin(model, data, only).margin for only in "UW"]
    curves = {
        name: [ntk_margin(start(data_of(noise)), data_of(noise)).margin for noise in noises]
        for name, start in starts.items()
    }
    return {
        "rate of change of each logit": Panel(
            "through the decoder U",
            "through attention W",
            {
                "label +1": tuple(points[:, data.y > 0]),
                "label −1": tuple(points[:, data.y < 0]),
                "border": line(0),
                "margin": [line(-margin), line(margin)],
                "reach": ([-reach, reach], [-reach, reach]),
            },
            rounded=1e-4,
        ),
        "margin against the noise": Panel(
            "noise σ", "", curves | {"here": ([sigma], [margin])}, noises, rounded=1e-4
        ),
    }, [
        (
            "Model: after the step. Labels: true. With noise {}, patterns of norm {}, and a fraction {}",
            sigma,
            S,
            zeta,
        ),
        ("the margin is {}.", margin),
        ("It is {} if only the decoder moves, and {} if only attention moves.", *alone),
    ]


def realizability(made, path, first, zeta, sigma, mirror):
    T, S, M, noises = 10, 2.0, 5, (0.0, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)

    def data_of(noise):
        drawn = mha.data.tokenized_mixture(20 if mirror else 40, T, 10, M, zeta, S, noise, 0)
        return mirrored(drawn) if mirror else drawn

    def margin(start, data, only=None):
        return ntk_margin(start(data), data, only).margin

    starts = {
        "zero": lambda data: mha.MultiHeadAttention.zeros(1, 10, 10),
        "Gaussian of equal norm": lambda data: gaussian_of_equal_norm(data, 1, 0),
        "first phase": lambda data: first_phase(data, 1, 0),
    }
    own = data_of(sigma)
    witness = mixture_margins(T, zeta, S, M)
    exact = exact_margins(T, zeta, S, M)
    U, W, both = (margin(starts["first phase"], own, only) for only in ("U", "W", None))
    bars = {"U": ([0, 0], [0, U]), "W": ([1, 1], [0, W]), "both": ([2, 2], [0, both])}
    curves = {
        name: [margin(start, data_of(noise)) for noise in noises] for name, start in starts.items()
    }
    return {
        "maximum margin from …": Panel(
            "",
            "",
            bars
            | {
                "γ* (exact)": [exact.U, exact.W, exact.both],
                "γ (witness)": [witness.U, witness.W, witness.both],
            },
            [0, 1, 2],
            {"x": ["U", "W", "both"]},
        ),
        "margin from both, against noise σ": Panel(
            "noise σ", "", curves | {"here": ([sigma], [both])}, noises
        ),
    }, [
        ("ζ = {}, S = {}, M = {}, σ = {}, initialization: first phase: ", zeta, S, M, sigma),
        ("{} from U alone, {} from W alone, {} from both", U, W, both),
        ("the margin is γ* = {} in the best direction", exact.both),
        ("γ = {} in the direction of the closed form", witness.both),
    ]


def nearer(made, path, first, H, lr, zeta):
    def against_the_good_model(H, zeta):
        data = mha.data.tokenized_mixture(20, 10, 7, 5, zeta, 1.0, 0.0, 0)
        start = first_phase_groups(data, (H // 2,) * 2)
        return (
            data,
            start,
            chain.reference_along(start, mixture_witness(data, start.copies), data, 1000),
        )

    data, start, good = against_the_good_model(H, zeta)
    _, _, usual = against_the_good_model(10**12, 0.2)
    D0 = good.distance
    (far, near) = (float(m.loss(data.X, data.y)) for m in (good.model, start))
    steps = path.steps
    loss = losses(path, data)
    promised = 2 * D0**2 / (3 * lr * steps) + 5 * far / 3 + near / (3 * steps)
    to_good = each(path, lambda model: (model - good.model).norm())
    needed = chain.heads_needed(D0, decoder_sizes(start)[0], 10, 1.0)
    largest = chain.largest_step(chain.ball_constants(start, 1.0, D0), D0, far, near, 1000)
    return {
        "loss": Panel(
            "log step",
            "log",
            {
                "loss": loss,
                "bound of the theorem": promised,
                "loss of the good model": np.full(len(path), far),
            },
            steps,
        ),
        "distance": Panel(
            "log step",
            "",
            {
                "to the good model, initial settings": each(
                    first, lambda model: (model - usual.model).norm()
                ),
                "to the good model": to_good,
                "to the initialization": each(path, lambda model: (model - start).norm()),
            },
            steps,
        ),
    }, [
        ("With {} heads, step size {}, and a fraction {} of", H, lr, zeta),
        ("is {}, and the bound of the theorem is {}.", loss[-1], promised[-1]),
        ("goes from {} to {}.", D0, to_good[-1]),
        ("requires {} heads,", needed),
        ("a step size of at most {}.", largest),
    ]


def theory(made, path, first, H, lr, zeta, S, T):
    data = mha.data.tokenized_mixture(16, T, 7, 5, zeta, S, 0.0, 0)
    start = first_phase_groups(data, (H // 2,) * 2)
    reference = chain.reference_along(start, mixture_witness(data, start.copies), data, 1000)
    D0, R, decoder = reference.distance, token_radius(data.X), decoder_sizes(start)[0]
    far, near = (float(model.loss(data.X, data.y)) for model in (reference.model, start))
    loss = losses(path, data)
    promised = 2 * D0**2 / (3 * lr * path.steps) + 5 * far / 3 + near / (3 * path.steps)
    moved, score = (
        each(path, lambda model: (model - start).norm()),
        attention_scores_of_groups(path, data),
    )
    grid = 10 ** (np.arange(31) / 15)
    needed, fewer = (
        [function(D, decoder, T, R) for D in (D0, grid)]
        for function in (chain.heads_needed, chain.fewer_heads_needed)
    )
    largest = chain.largest_step(chain.ball_constants(start, R, D0), D0, far, near, 1000)
    return {
        "loss over steps": Panel(
            "log", "log", {"loss": loss, "bound of the theorem": promised}, path.steps
        ),
        "distance over steps": Panel(
            "log",
            "log",
            {
                "distance ‖θₖ − θ₀‖": moved,
                "distance ‖θₖ − θ‖": each(path, lambda model: (model - reference.model).norm()),
                "3D₀": np.full(len(path), 3 * D0),
            },
            path.steps,
        ),
        "attention score over steps": Panel("log", "", {"attention score": score}, path.steps),
        "required heads against D₀": Panel(
            "log",
            "log",
            {
                "heads: training theorem": needed[1],
                "heads: with fewer": fewer[1],
                "heads: the run": np.full(31, H),
                "heads at D₀": ([D0, D0], [needed[0], fewer[0]]),
            },
            grid,
        ),
    }, [
        ("After 1000 steps with {} heads and η = {}, the loss is {}", "10⁴", lr, loss[-1]),
        ("bound of the training theorem is {}.", promised[-1]),
        ("from the initialization is {}, with the bound {}.", moved[-1], 3 * D0),
        ("attention score is {}.", score[-1]),
        ("The training theorem requires {} heads", needed[0]),
        ("the theorem with fewer heads {}.", fewer[0]),
        ("allows η up to {}.", largest),
    ]


def attention_scores_of_groups(path, data):
    """The same for groups of equal heads, each counted as often as it has heads."""

    def score(model):
        one = model.few()
        shares = (
            (one.attention(data.X) * data.relevant[:, None, None]).sum(axis=-1).mean(axis=(0, 2))
        )
        return np.average(shares, weights=model.copies)

    return each(path, score)


def step_sizes(made, path, first, H, lr, scaling, optimizer):
    data, zero = mha.data.tokenized_mixture(), mha.MultiHeadAttention.zeros(1, 10, 8)
    rules = {"gradient descent, 0.3": mha.GradientDescent(0.3), "Adam, 0.01": mha.Adam(0.01)}
    runs = {
        f"1 head, {name}": mha.train(zero, data, rule, 2000, record=first.steps)
        for name, rule in rules.items()
    }
    curves = {name: (losses(run, data), attention_scores(run, data)) for name, run in runs.items()}
    now = losses(path, data), attention_scores(path, data)
    own = ("loss of H heads", "attention of H heads")
    return {
        f"{title}, step by step": Panel(
            "log step",
            "log" if k == 0 else "",
            {name: pair[k] for name, pair in curves.items()} | {own[k]: now[k]},
            path.steps,
        )
        for k, title in enumerate(("training loss", "attention score"))
    }, [
        ("Heads: {}. Optimizer: momentum", H),
        ("η √H with η = {}", lr),
        (
            "training loss is {}, and the attention score is {}.",
            *(curve[-1] for curve in now),
        ),
    ]


def two_steps(made, path, first, eta_u, eta_w):
    data, theta, H = (
        mha.data.tokenized_mixture(),
        mha.MultiHeadAttention.zeros(1, 10, 8),
        [1, 4, 16, 64],
    )
    run, one = [], mha.train(theta, data, mha.GradientDescent(0.3), 2000, record=path.steps)
    for _ in range(2001):
        loss, grad = theta.loss_and_grad(data.X, data.y)
        run.append(loss)
        theta = mha.MultiHeadAttention(theta.W - eta_w * grad.W, theta.U - eta_u * grad.U)
    return {
        "the plane of two step sizes": Panel(
            "log step size of the decoder",
            "log step size of attention",
            {
                "1, 4, 16, 64 heads, the same step": ([0.3] * 4, [0.3 / h for h in H]),
                "1, 4, 16, 64 heads, step × √H": (
                    [0.3 * h**0.5 for h in H],
                    [0.3 / h**0.5 for h in H],
                ),
                "this head": ([eta_u], [eta_w]),
            },
        ),
        "training loss, step by step": Panel(
            "log step",
            "log",
            {
                "one head, both step sizes 0.3": losses(one, data),
                "one head, these step sizes": np.array(run)[path.steps],
            },
            path.steps,
        ),
    }, [
        ("decoder has the step size {}, and its attention {}:", eta_u, eta_w),
        ("after 2000 steps the training loss is {}.", run[-1]),
    ]


def width(made, path, first, H, lr, scaling, zeta, sigma):
    def curves(of, zeta, sigma):
        data = mha.data.tokenized_mixture(64, 8, 8, 4, zeta, 2.0, sigma, seed=0)
        norms = [
            each(
                of,
                lambda model, name=name: np.linalg.norm(getattr(model, name), axis=(1, 2)).mean(),
            )
            for name in "WU"
        ]
        return (
            losses(of, data),
            losses(of, data.fresh(seed=1)),
            norms[0],
            H_root(of) * norms[1],
            attention_scores(of, data),
        )

    def H_root(of):
        return of[0].sizes[0] ** 0.5

    now, usual = curves(path, zeta, sigma), curves(first, 1 / 8, 0.2)
    return {
        "loss, by step": Panel(
            "log",
            "log",
            {
                "default settings": usual[0],
                "training": now[0],
                "test": now[1],
                "the slope of 1/t": ([1, 500], [0.3, 0.3 / 500]),
            },
            path.steps,
        ),
        "average ‖W‖, by step": Panel("log", "log", {"norm W": [usual[2], now[2]]}, path.steps),
        "average ‖U‖, by step": Panel("log", "log", {"norm U": [usual[3], now[3]]}, path.steps),
        "attention score, by step": Panel(
            "log", "", {"attention score": [usual[4], now[4]]}, path.steps
        ),
    }, [
        ("H = {}", H),
        ("η √H at η = {}, ζ = {}, σ = {}", lr, zeta, sigma),
        ("training loss {}, test loss {}, ‖W‖ = {}, ‖U‖ = {}", *(curve[-1] for curve in now[:4])),
        ("attention score {}.", now[4][-1]),
    ]


def planted(made, path, first, H, scale, n, lr):
    most = max(made.controls["n"].values)
    data = mha.data.planted(n=most, T=6, d=4, seed=0)
    own, test = data[:n], data.fresh(n=most, seed=1)

    def alignment_of(run, name):
        teacher = getattr(data.truth, name)[None]
        return each(
            run,
            lambda model: cosine(getattr(model, name), np.repeat(teacher, len(model.W), axis=0)),
        )

    right = accuracies(path, own)
    fresh = accuracies(path, test)
    (W, U) = (alignment_of(path, name) for name in "WU")
    heads = [cosine(head, data.truth.W) for head in path[-1].W]
    return {
        "step by step": Panel(
            "log step",
            "",
            {
                "alignment of W, initial settings": alignment_of(first, "W"),
                "training accuracy": right,
                "test accuracy": fresh,
                "alignment of W": W,
            },
            path.steps,
        ),
        "cosine of each head": Panel(
            "head", "", {"head": (range(1, H + 1), heads), "the hidden head": ([0.4, 8.6], [1, 1])}
        ),
    }, [
        ("Heads: {}. With initialization scale {}, {} samples, and step size {},", H, scale, n, lr),
        ("training accuracy is {}, the test accuracy {}", right[-1], fresh[-1]),
        ("alignment with the hidden head {} in W and {} in U.", W[-1], U[-1]),
    ]


def leaving_out(made, path, first, samples, sigma, lr, left):
    data, steps = mha.data.tokenized_mixture(samples, 10, 8, 4, 0.2, 1.0, sigma, 0), range(501)
    test, own, at = data.fresh(1000, seed=1), data[[left]], path.steps
    zero = mha.MultiHeadAttention.zeros(1, 10, 8)
    rest = data[np.delete(np.arange(samples), left)]
    full = mha.train(zero, data, mha.GradientDescent(lr), 500, record=steps)
    less = mha.train(
        zero, rest, mha.GradientDescent(lr * (samples - 1) / samples), 500, record=steps
    )
    pushes = lr / samples * each(full, lambda model: model.loss_and_grad(own.X, own.y)[1].norm())
    pushed = (np.cumsum(pushes) - pushes)[at]
    traveled = each(full, lambda model: model.norm())[at]
    distance = np.array([(a - b).norm() for a, b in zip(full.models, less.models, strict=True)])[at]
    shown = losses(full, own)[at], losses(less, own)[at], losses(path, data), losses(path, test)
    names = "that sample, included", "that sample, left out", "training loss", "test loss"
    return {
        "distance, step by step": Panel(
            "log step",
            "distance of weights",
            {
                "from zero, ÷ 10": traveled / 10,
                "sum of its pushes": pushed,
                "between the two runs": distance,
            },
            at,
        ),
        "losses, step by step": Panel(
            "log step", "log loss, log scale", dict(zip(names, shown, strict=True)), at
        ),
    }, [
        ("With {} samples, noise {}, and step size {},", samples, sigma, lr),
        ("at distance {} from its initialization and at distance {}", traveled[-1], distance[-1]),
        ("without sample {}, whose pushes add up to {}.", left, pushed[-1]),
        ("is {} when it is left out and {} when it is included.", shown[1][-1], shown[0][-1]),
        ("The training loss is {}, and the test loss is {}.", shown[2][-1], shown[3][-1]),
    ]


def generalization(made, path, first, samples, sigma, zeta, lr, H, left):
    data, steps = mha.data.tokenized_mixture(samples, 8, 8, 4, zeta, 1.0, sigma, 0), range(501)
    test, own, at = data.fresh(128, seed=1), data[[left]], path.steps
    rest = data[np.delete(np.arange(samples), left)]
    zero = mha.MultiHeadAttention.zeros(H, 8, 8)
    full = mha.train(zero, data, mha.GradientDescent(lr), 500, record=steps)
    less = mha.train(
        zero, rest, mha.GradientDescent(lr * (samples - 1) / samples), 500, record=steps
    )
    G = each(full, lambda model: gradient_constant(model, token_radius(data.X)))
    loss = losses(full, data)
    test_loss = losses(full, test)
    own_loss = losses(full, own)
    left_loss = losses(less, own)
    pushes = each(full, lambda model: model.loss_and_grad(own.X, own.y)[1].norm())

    def before(values):
        return lr * (np.cumsum(values) - values)

    distance = np.array([(a - b).norm() for a, b in zip(full.models, less.models, strict=True)])
    gap_bound, bound = 3 / samples * G * before(G * loss), 1.5 / samples * before(G * own_loss)
    panels = {
        "loss": {"training loss": loss, "test loss": test_loss},
        "test loss − training loss": {"gap": test_loss - loss, "bound of Theorem 2": gap_bound},
        "distance, one sample left out": {
            "distance": distance,
            "(3/2)(η/n) Σ G ℓᵢ": bound,
            "(η/n) Σ ‖∇ℓᵢ‖": before(pushes) / samples,
        },
        "loss of that sample": {"trained on it": own_loss, "without it": left_loss},
    }
    return {
        title: Panel("log step", "log", {name: curve[at] for name, curve in lines.items()}, at)
        for title, lines in panels.items()
    }, [
        ("n = {} samples with σ = {}, ζ = {}, η = {}, H = {}:", samples, sigma, zeta, lr, H),
        ("training loss {}, test loss {},", loss[-1], test_loss[-1]),
        ("test accuracy {};", (np.sign(full[-1](test.X)) == test.y).mean()),
        ("gap {}, bound {}.", test_loss[-1] - loss[-1], gap_bound[-1]),
        ("The run without sample {}", left),
        ("a distance of {}, with the bound {},", distance[-1], bound[-1]),
        ("is {} instead of {}.", left_loss[-1], own_loss[-1]),
    ]


def many_heads(made, path, first, H, lr, scale):
    data = mha.data.digits((3, 8), 60)

    def moved(path):
        return [
            sum(
                np.sqrt(((now - then) ** 2).sum())
                for now, then in zip(model.W, path[0].W, strict=True)
            )
            / len(model.W)
            for model in path.models
        ]

    return {
        "training loss, step by step": Panel(
            "log step",
            "log",
            {"initial settings": losses(first, data), "these heads": losses(path, data)},
            path.steps,
        ),
        "how far a head's attention has moved": Panel(
            "log step",
            "log",
            {"initial settings": moved(first), "their attention": moved(path)},
            path.steps,
        ),
    }, [
        ("Heads: {}. With step size {}, initialization scale {}, and random seed 0,", H, lr, scale),
        (
            "the training loss is {}, and the attention matrix of a head has moved by {}.",
            losses(path, data)[-1],
            moved(path)[-1],
        ),
    ]


def digits(made, path, first, H, lr, scale):
    data = mha.data.digits((3, 8), 60, 0)
    test = data.fresh(80)
    loss, test_loss, right, test_right = (
        measure(path, of) for measure in (losses, accuracies) for of in (data, test)
    )
    return {
        "loss": Panel(
            "log step",
            "log",
            {
                "training loss, default settings": losses(first, data),
                "training": loss,
                "test": test_loss,
            },
            path.steps,
        ),
        "accuracy": Panel(
            "log step",
            "",
            {
                "test accuracy, default settings": accuracies(first, test),
                "training accuracy": right,
                "test accuracy": test_right,
            },
            path.steps,
        ),
    }, [
        ("After 200 steps with H = {}, step size η with η = {}, ", H, lr),
        (", initialization scale {}, random seed 0:", scale),
        (
            "training loss {}, test loss {}, training accuracy {}, test accuracy {}.",
            loss[-1],
            test_loss[-1],
            right[-1],
            test_right[-1],
        ),
    ]


def cloud(made, path, first, x, n, tokens):
    drawn = mha.data.linear_regression(n=1000, d=1, p=1).x[:n, 0]
    boxed = 3**0.5 * (2 * np.array([NormalDist().cdf(token) for token in drawn]) - 1)
    edges, at = np.arange(-5, 5.25, 0.5), np.arange(-50, 51) / 10
    steps, inside = np.repeat(edges, 2)[1:-1], abs(at) < 3**0.5
    outputs = softmax_of(np.outer(at, boxed)) @ boxed
    weights = softmax_of(x * boxed)

    def heights(weights):
        return np.repeat(np.histogram(boxed, edges, weights=weights)[0] / 0.5, 2)

    # middles of 20,000 cells between the ends
    grid = 3**0.5 * (np.arange(-9999.5, 10_000) / 10_000)
    powers = np.exp(np.outer(at, grid))
    limits = (powers @ grid) / powers.sum(axis=1)
    total = 2 * 3**0.5 * np.exp(x * grid).mean()
    here, limit = (np.interp(x, at, values) for values in (outputs, limits))
    return {
        "weighted tokens": Panel(
            "token",
            "density",
            {
                "histogram of the tokens": (steps, heights(np.full(n, 1 / n))),
                "tokens by weight": (steps, heights(weights)),
                "infinitely many tokens": (at, np.where(inside, np.exp(x * at), 0) / total),
                "tokens": (boxed, np.full(n, -0.05)),
            },
        ),
        "output against the query": Panel(
            "query x",
            "",
            {
                "output": outputs,
                "infinitely many tokens": limits,
                "this query": ([x], [here]),
            },
            at,
        ),
    }, [
        ("The query is {}, with {} tokens", x, n),
        ("its effective number of tokens is {}.", 1 / (weights**2).sum()),
        ("The output is {}.", here),
        ("infinitely many tokens it is {}.", limit),
    ]


def tilting(made, path, first, v, n, sample):
    queries, sizes = np.arange(-40, 41) / 10, np.array([16, 32, 64, 128, 256, 512, 1024])
    drawn = np.array(made.spec["data"]["tokens"]["gaussian"]).reshape(8, 1024)

    def weights(tokens):
        return softmax_of(v * np.outer(queries, tokens))

    tokens = drawn[sample - 1, :n]
    means, effective = weights(tokens) @ tokens, 1 / (weights(tokens) ** 2).sum(axis=1)
    expected, edge = np.maximum(1, n * np.exp(-((v * queries) ** 2))), (2 * np.log(n)) ** 0.5 / v
    density = np.exp(-(queries**2) / 2)
    errors = (
        np.array(
            [
                np.mean(
                    [density @ (weights(one[:m]) @ one[:m] - v * queries) ** 2 for one in drawn]
                )
                for m in sizes
            ]
        )
        / density.sum()
    )
    here, two = errors[sizes == n], queries == 2
    return {
        "attention mean against x": Panel(
            "",
            "",
            {
                "attention mean m(x)": means,
                "limit v x": v * queries,
                "|v x| = √(2 ln n)": [([-edge, -edge], [-5, 5]), ([edge, edge], [-5, 5])],
            },
            queries,
        ),
        "effective tokens against x": Panel(
            "", "log", {"effective tokens": effective, "n exp(−v²x²), or 1": expected}, queries
        ),
        "squared error against n": Panel(
            "log",
            "log",
            {
                "error, mean of 8 samples": errors,
                "derived slope": errors[0] * (sizes / 16) ** exponent(v),
                "here": ([n], here),
            },
            sizes,
        ),
    }, [
        ("v = {}, n = {} tokens", v, n),
        ("sample {}.", sample),
        ("the effective number of tokens is {}", *effective[two]),
        ("1 if that is less, is {}.", *expected[two]),
        ("attention mean is {}, and the limit", *means[two]),
        ("Gaussian tokens is {}.", 2 * v),
        ("eight samples is {},", *here),
        ("slope is {}.", exponent(v)),
    ]


def stretched(made, path, first, kappa, plain_lr, lr, steps):
    round_, data = (mha.data.linear_regression(n=200, d=3, p=3, kappa=k) for k in (1, kappa))
    drawn, back = mha.AttentionRegression.random(3, 3, 0.5, seed=1), np.linalg.inv(data.truth.root)
    start = mha.AttentionRegression(drawn.A @ back, back @ drawn.B @ back)

    def excess(data, start, rule, steps=60):
        return mha.train(start, data, rule, steps, record=range(steps + 1)).excess

    rules = mha.Preconditioned(lr, balance=0), mha.GradientDescent(plain_lr)
    ours, theirs = (excess(data, start, rule, steps) for rule in rules)
    values, directions = np.linalg.eigh(data.Sigma)
    assert np.allclose(values[-1] / values[0], kappa)
    wide, narrow = (data.x @ directions[:, k] for k in (-1, 0))
    shown = made.drawn(kappa=kappa, plain_lr=plain_lr, lr=lr, steps=steps)
    wide, narrow = (
        side * np.sign(side @ shown[name]) for side, name in ((wide, "wide"), (narrow, "narrow"))
    )
    return {
        "the tokens": Panel("widest direction", "narrowest direction", {"tokens": (wide, narrow)}),
        "population excess, step by step": Panel(
            "step",
            "log",
            {
                "plain descent, initial settings": (
                    range(61),
                    excess(round_, drawn, mha.GradientDescent(0.5)),
                ),
                "plain descent": theirs,
                "with whitening": ours,
            },
            path.steps,
        ),
    }, [
        ("With variance ratio {}, after {} steps", kappa, steps),
        ("excess is {} with whitening (step size {})", ours[-1], lr),
        ("{} with plain descent (step size {})", theirs[-1], plain_lr),
    ]


def descent(made, path, first, **values):
    data = sample(values, values["n"], values["d"], 0)
    plain = path_of(
        start_on(data, values, 0), data, {"optimizer": "gd", "lr": 0.1, "share": 1.0}, 40
    )
    root, floor = data.truth.root, 0.1**2 * values["d"] / 2

    def curves(of):
        return {
            "training loss": losses(of, data),
            "population excess": each(of, lambda model: model.against(data)["excess"]),
            "‖V‖": each(of, lambda model: np.linalg.norm(root @ model.B @ root, 2)),
            "effective tokens, mean": each(of, lambda model: model.effective_tokens(data.x).mean()),
        }

    ours, theirs = curves(path), curves(plain)
    panels = {
        title: Panel(
            "step",
            "log",
            {"chosen algorithm": ours[title], "plain descent": theirs[title]},
            path.steps,
        )
        for title in ours
    }
    panels["training loss"].lines["noise floor σ²p/2"] = np.full(len(path), floor)
    panels["‖V‖"].lines["‖V‖ = 1/√2"] = ([0, 40], [0.5**0.5] * 2)
    return panels, [
        ("After 40 steps of SA2, with η = {}, initialization random N(0, 1), ", values["lr"]),
        (
            "κ(Σ) = {}, sₘₐₓ = {}, d = {}, n = {}:",
            *(values[name] for name in ("kappa", "s_max", "d", "n")),
        ),
        ("Plain descent with η = 0.1 ",),
        (
            "training loss {}, noise floor {}, population excess {}, ‖V‖ = {}, {} effective "
            "tokens.",
            ours["training loss"][-1],
            floor,
            ours["population excess"][-1],
            ours["‖V‖"][-1],
            ours["effective tokens, mean"][-1],
        ),
        (
            "from the same initialization: training loss {}, population excess {}.",
            theirs["training loss"][-1],
            theirs["population excess"][-1],
        ),
    ]


def bought(made, path, first, lr, sigma, kappa_M):
    whole = mha.data.linear_regression(320, 3, 3, kappa=1, kappa_M=kappa_M, sigma=sigma)
    draws = [whole, *(whole.fresh(320, seed=k) for k in range(1, 6))]
    start, rule = mha.AttentionRegression.random(3, 3, 0.5, seed=1), mha.Preconditioned(lr)
    curves = {}
    for n in (320, 160, 80, 40):
        found = []
        for drawn in draws:
            data = replace(drawn, x=drawn.x[:n], y=drawn.y[:n])
            run = mha.train(start, data, rule, 30)
            found.append(each(run, lambda model, data=data: model.against(data)["excess"]))
        curves[n] = np.mean(found, axis=0)
    population = whole.population()
    limit = losses(mha.train(PopulationRegression.of(start), population, rule, 30), population)
    floor = floor_constant(whole.truth.singular_values, 3, 3, sigma)
    return {
        "mean excess, step by step": Panel(
            "step",
            "log",
            {f"{n} samples": curve for n, curve in curves.items()} | {"infinitely many": limit},
            path.steps,
        ),
        "mean excess after 30 steps": Panel(
            "log samples n",
            "log",
            {
                "at the end": [curve[-1] for curve in curves.values()],
                "derived, φ/n": [floor / n for n in curves],
            },
            tuple(curves),
        ),
    }, [
        (
            "After 30 steps of size {}, with noise {} and sₘₐₓ/sₘᵢₙ = {}: mean excess {} with "
            "40 samples, {} with 320, {} with infinitely many.",
            lr,
            sigma,
            kappa_M,
            curves[40][-1],
            curves[320][-1],
            limit[-1],
        )
    ]


def gradient_gaps(made, path, first, r, d):
    sizes, radii = (40, 80, 160, 320, 640), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0)
    whole = mha.data.linear_regression(640, d, d, kappa=16, s_max=0.1, kappa_M=4, sigma=0.1)

    def gap(data, n, r):
        x, y, V = data.x[:n], data.y[:n], r * np.eye(d)
        values, basis = np.linalg.eigh(x.T @ x / n)
        inverse = basis / values**0.5 @ basis.T
        model = mha.AttentionRegression(A=V @ inverse, B=inverse @ V @ inverse)
        slope = model.loss_and_grad(x, y)[1]
        fit = np.linalg.lstsq(x @ inverse, y, rcond=None)[0].T
        # in whitened coordinates, by the chain rule; of ½‖UVᵀ − N̂‖²
        dU = slope.A @ inverse - (V @ V.T - fit) @ V
        dV = inverse @ slope.B @ inverse - (V @ V.T - fit).T @ V
        return np.sqrt((dU**2).sum() + (dV**2).sum())

    draws = [whole, *(whole.fresh(640, seed=k) for k in (1, 2, 3))]
    gaps = {
        size: [np.mean([gap(data, n, size) for data in draws]) for n in sizes] for size in radii
    }
    x = np.log(sizes) - np.log(sizes).mean()
    powers = {size: x @ np.log(found) / (x @ x) for size, found in gaps.items()}
    return {
        "mean gap of gradients": Panel(
            "log samples n",
            "log",
            {
                "measured": gaps[r],
                "slope −1/2, through n = 640": gaps[r][-1] * (640 / np.array(sizes)) ** 0.5,
            },
            sizes,
        ),
        "measured power of n, for every r": Panel(
            "radius r",
            "",
            {
                "measured": list(powers.values()),
                "power −1/2": ([0, 1.1], [-0.5, -0.5]),
                "limit 1/√2": ([0.5**0.5] * 2, [-1.3, 0]),
                "here": ([r], [powers[r]]),
            },
            radii,
        ),
    }, [
        ("With r = {} and d = {}, the mean gap is {} with 40 samples", r, d, gaps[r][0]),
        ("and {} with 640", gaps[r][-1]),
        ("it falls like n to the power {}.", powers[r]),
    ]


def data_and_compute(made, path, first, **values):
    sizes = (320, 160, 80, 40)

    def excess(n, limit=False):
        found = []
        for seed in (0, 1):
            data = sample(values, n, 3, seed)
            start = start_on(data, values, seed)
            if limit:
                population = data.population()
                run = path_of(PopulationRegression.of(start), population, values, 30)
                found.append(np.maximum(losses(run, population), 1e-9))
            else:
                run = path_of(start, data, values, 30)
                found.append(each(run, lambda model, data=data: model.against(data)["excess"]))
        return np.mean(found, axis=0)

    curves, limit = {n: excess(n) for n in sizes}, excess(320, limit=True)
    slope = spectral_constant(sample(values, 1, 3, 0).truth.singular_values, 3, 3, 0.1)
    return {
        "population excess": Panel(
            "step",
            "log",
            {f"n = {n}": curve for n, curve in curves.items()} | {"n = ∞": limit},
            path.steps,
        ),
        "population excess after 30 steps": Panel(
            "log tokens n",
            "log",
            {
                "at the end": [curve[-1] for curve in curves.values()],
                "spectral start, for large n": [slope / n for n in sizes],
            },
            sizes,
        ),
    }, [
        ("After 30 steps of SA2, with η = {}, start random N(0, 1), ", values["lr"]),
        ("sₘₐₓ = {}, κ = {}, r = {}", values["s_max"], values["kappa_M"], values["radius"]),
        (
            "excess {} with 40 tokens, {} with 320, {} in the limit.",
            curves[40][-1],
            curves[320][-1],
            limit[-1],
        ),
    ]


def selecting(made, path, first, k, stretch):
    queries = np.linspace(-4, 4, 161)
    keys = np.array([-2.0, k, 1.0])
    places = np.round(np.linspace(-4, 4, 161), 3)

    def most(kernel, place):
        """By a search among queries: the logarithm of the other weights, relative to that of the
        key, is convex."""
        outer, own = stretch * np.array([-2.0, 1.0]), stretch * place
        handicap = 0 if kernel == "softmax" else (outer**2 - own**2) / 2

        def others(q):
            return logsumexp(q * (outer - own) - handicap)

        return expit(
            -minimize_scalar(
                others, bounds=(-1e3, 1e3), method="bounded", options={"xatol": 1e-9}
            ).fun
        )

    weights = {
        kernel: weights_of(kernel, stretch * queries, stretch * keys, 0.5)[:, 1]
        for kernel in KERNELS
    }
    shares = {
        kernel: [most(kernel, place) for place in places] for kernel in (KERNELS[0], KERNELS[2])
    }
    here = {kernel: most(kernel, k) for kernel in shares}
    places_of_keys = {"outer keys": ([-2, 1], [0, 0]), "middle key": ([k], [0])}
    return {
        "weight of the middle key": Panel(
            "query / stretching factor", "", weights | places_of_keys, queries
        ),
        "largest weight of any query": Panel(
            "position of the middle key",
            "",
            shares
            | {f"{kernel}, here": ([k], [value]) for kernel, value in here.items()}
            | places_of_keys,
            places,
        ),
    }, [
        ("middle key at {} and the line stretched by {}", k, stretch),
        ("give it is {} under softmax and {} under the Gaussian kernel", *here.values()),
    ]


def kernels(made, path, first, q, k1, k2, k3, c, y):
    queries = np.arange(-50, 51) / 10
    keys = np.array([k1, k2, k3])
    u = np.array([1.0, 2.0, -1.0])
    h = 1e-6

    def output(kernel, at):
        return weights_of(kernel, at, keys, c) @ u

    def force(kernel, at):
        up, down = ((output(kernel, at + by) - y) ** 2 / 2 for by in (h, -h))
        return (down - up) / (2 * h)

    parts = {
        "weight of the second key": lambda kernel, at: weights_of(kernel, at, keys, c)[:, 1],
        "output": output,
        "force on the query": force,
    }
    here, panels, numbers = np.array([q]), {}, {}
    for title, part in parts.items():
        numbers[title] = [part(kernel, here)[0] for kernel in KERNELS]
        panels[title] = Panel(
            "query",
            "",
            {kernel: part(kernel, queries) for kernel in KERNELS}
            | {
                f"{kernel}, here": ([q], [x])
                for kernel, x in zip(KERNELS, numbers[title], strict=True)
            },
            queries,
        )
    panels["weight of the second key"].lines |= {
        "second key": ([k2], [0]),
        "other keys": [([k1], [0]), ([k3], [0])],
    }
    panels["output"].lines["target"] = ([-5, 5], [y, y])
    return panels, [
        ("query = {}, keys {}, {}, {}, c = {}", q, k1, k2, k3, c),
        ("target {}.", y),
        (
            "second key: softmax {}, Gaussian {}, normalized {}.",
            *numbers["weight of the second key"],
        ),
        (
            "Force on the query: softmax {}, Gaussian {}, normalized {}.",
            *numbers["force on the query"],
        ),
        ("sum to {};", weights_of("Gaussian", here, keys, c).sum()),
        ("softmax loss {}.", (output("softmax", here)[0] - y) ** 2 / 2),
    ]


def layer(made, path, first, **values):
    data, starts = problem(values)
    names, curves, spectra, said = {"softmax": "softmax", "gaussian": "Gaussian"}, {}, {}, []
    for k, (kernel, name) in enumerate(names.items()):
        loss = np.array([pair[k].loss(data.X, data.y) for pair in path.models])
        rate = (
            values["lr"]
            / value_smoothness(starts[kernel], data.X)
            * value_rate(starts[kernel], data.X)
        )
        curves |= {name: loss / loss[0], f"guaranteed, {name}": (1 - rate) ** (2.0 * path.steps)}
        spectra[name] = np.linalg.svd(starts[kernel].mixed(data.X), compute_uv=False)
        said.append(
            (f"{name} {{}}, guarantee {{}}", curves[name][-1], curves[f"guaranteed, {name}"][-1])
        )
    unknowns, equations = values["H"] * values["D"], values["n"] * values["N"]
    return {
        "loss / initial loss": Panel("step", "log", curves, path.steps),
        "initial singular values of B": Panel(
            "in decreasing order", "log", spectra, np.arange(1, equations + 1)
        ),
    }, [
        (
            "Trained: values. D = {}, n = {}, N = {}, H = {}, scale {}, keys their own, η·L = {};",
            *(values[name] for name in ("D", "n", "N", "H", "scale", "lr")),
        ),
        ("after 300 steps",),
        ("HD = {}, nN = {}.", unknowns, equations),
        (
            "Initial σ_min(B): softmax {}, Gaussian {}.",
            spectra["softmax"][-1],
            spectra["Gaussian"][-1],
        ),
        *said,
    ]


def promised(made, path, first, **values):
    X, y = (
        part.reshape(32, -1)
        for part in (mha.data.random_sequences(8, 4, 48).X, mha.data.random_sequences(8, 4).y)
    )

    def seen(model, D):
        return np.concatenate(
            [
                S[0] @ part[:, :D]
                for S, part in zip(
                    model.weights(X[:, :D].reshape(8, 4, D)), X.reshape(8, 4, -1), strict=True
                )
            ]
        )

    B, D, left = seen(path[-1], values["D"]), values["D"], path.loss / path.loss[0]
    spectrum = np.linalg.svd(B, compute_uv=False)
    rest = y - B @ np.linalg.pinv(B) @ y
    least = (rest**2).sum() / 16 / path.loss[0] if D < 32 else 0.0
    known = (
        (1 - (spectrum[-1] / spectrum[0]) ** 2) ** (2.0 * path.steps)
        if D >= 32
        else np.ones(len(path))
    )
    return {
        "loss / initial loss": Panel(
            "step",
            "log",
            {
                "the run": left,
                "guaranteed bound": known,
                "minimum over all values": np.full(len(path), max(least, 1e-9)),
            },
            path.steps,
        ),
        "initial singular values of B": Panel(
            "in decreasing order",
            "log",
            {
                "B, initial settings": (
                    np.arange(1, 33),
                    np.linalg.svd(seen(first[-1], 48), compute_uv=False),
                ),
                "B now": (np.arange(1, len(spectrum) + 1), spectrum),
            },
        ),
    }, [
        ("With {} dimensions, Gaussian weights", D),
        ("of size {}, and keys their own:", values["scale"]),
        ("after 2000 steps, loss / initial loss is {}.", left[-1]),
        ("before the first step is {}.", known[-1]),
        ("over all values is {}.", least),
    ]


# --- chapter 14
# -----------------------------------------------------------------------------------------------------

KERNEL_OF = {
    "softmax": lambda c: mha.softmax,
    "Gaussian": mha.attention.Gaussian,
    "Gaussian, rows normalized": mha.attention.NormalizedGaussian,
}


def one_loss(kernel, name, at, c):
    """The loss of queries of an example, each alone."""
    keys, values, y = (np.array(EXAMPLES[name][part]) for part in ("keys", "values", "y"))
    return (weights_of(kernel, np.asarray(at, float), keys, c) @ values - y) ** 2 / 2


def two_kinds(kernel, name, c):
    """Where the loss of one query has minima: the lowest, and the others."""
    keys, values = (np.array(EXAMPLES[name][part]) for part in ("keys", "values"))
    found = Line(keys, values, KERNEL_OF[kernel](c)).minima(EXAMPLES[name]["y"])
    lowest = min(minimum.loss for minimum in found)
    return [
        np.array([minimum.q for minimum in found if (minimum.loss < lowest + 1e-9) == best])
        for best in (True, False)
    ]


def in_the_picture(points):
    return points[abs(points) <= 4]


def descended(kernel, name, begin, lr, c):
    """The losses of a run, and its queries (steps, queries)."""
    rule = mha.GradientDescent(EXAMPLES[name]["lr"] * lr)
    run = mha.train(*example(name, KERNEL_OF[kernel](c), begin), rule, 300, only=("WQ",), record=60)
    return run.loss, each(run, lambda model: model.WQ.ravel()[: len(begin)])


def reached(points, kinds):
    """How many points are at a minimum of each kind."""
    return [int((abs(points[:, None] - kind) < 0.05).any(axis=1).sum()) for kind in kinds]


def held(made, path, first, case, q, c):
    assert case == "that rise"
    keys, values, y, at = np.array([-2.0, 2.0]), np.array([1.0, 2.0]), 1.5, np.linspace(-4, 4, 161)

    def reads(kernel, at):
        return weights_of(kernel, np.atleast_1d(at), keys, c) @ values

    def way(kernel):
        layer = mha.AttentionLayer(
            np.full((1, 2, 1), q),
            keys.reshape(1, 2, 1),
            values.reshape(1, 2, 1),
            np.ones((1, 1, 1)),
            KERNEL_OF[kernel](c),
        )
        data = mha.data.SequenceDataset(np.eye(2)[None], np.full((1, 2, 1), y))
        run = mha.train(layer, data, mha.GradientDescent(0.1), 300, only=("WQ",), record=path.steps)
        return each(run, lambda model: model.WQ[0, 0, 0])

    ways = {kernel: way(kernel) for kernel in KERNELS[:2]}
    panels = {}
    for title, of in (
        ("output at the query", reads),
        ("loss", lambda kernel, at: (reads(kernel, at) - y) ** 2 / 2),
    ):
        shown = {kernel: (at, of(kernel, at)) for kernel in ways}
        shown |= {f"{kernel} path": (walk, of(kernel, walk)) for kernel, walk in ways.items()}
        # From this start softmax meets the target, and the Gaussian query stops at the left key.
        met, trap = (walk[-1:] for walk in ways.values())
        assert abs(reads("softmax", met)[0] - y) < 0.01 and abs(trap[0] + 2) < 0.01
        shown |= {"target met": (met, of("softmax", met)), "trap": (trap, of("Gaussian", trap))}
        shown["end"] = [], []
        shown["start"] = [([q], of(kernel, q)) for kernel in ways]
        panels[title] = Panel("query", "", shown, rounded=1e-6)
    stems = [-2, -2, np.nan, 2, 2, np.nan], [0, 1, np.nan, 0, 2, np.nan]
    panels["output at the query"].lines |= {
        "values at their keys": (keys, values),
        "keys": (keys, [0, 0]),
        "stems": stems,
        "target": ([-4, 4], [y, y]),
    }
    ends = {kernel: (walk[-1], reads(kernel, walk[-1])[0]) for kernel, walk in ways.items()}
    soft, gauss = (
        np.round([place, read, (read - y) ** 2 / 2], 6) + 0.0 for place, read in ends.values()
    )
    return panels, [
        ("Values that rise, target {}, c = {}, initial query {}.", y, c, q),
        ("the softmax query is at {}, its output is {}, and its loss is {}.", *soft),
        ("The Gaussian query is at {}, its output is {}, and its loss is {}", *gauss),
    ]


def traps(made, path, first, shift, lr, c):
    name, line, panels, ends, said = "B2", np.linspace(-4, 4, 161), {}, {}, []
    for kernel, title in zip(KERNELS, ("softmax", "Gaussian", "normalized"), strict=True):
        loss, queries = descended(
            kernel, name, tuple(np.array(EXAMPLES[name]["start"]) + shift), lr, c
        )
        kinds, gaps = two_kinds(kernel, name, c), np.full(queries.shape[1], np.nan)
        walk = np.column_stack([queries.T, gaps]).ravel()
        points = {
            "global minimum": in_the_picture(kinds[0]),
            "spurious minimum": in_the_picture(kinds[1]),
            "descent": walk,
            "start": queries[0],
            "end": queries[-1],
        }
        panels[f"{title}: loss of a query"] = Panel(
            "",
            "",
            {kernel: (line, one_loss(kernel, name, line, c))}
            | {label: (at, one_loss(kernel, name, at, c)) for label, at in points.items()},
            rounded=1e-6,
        )
        ends[kernel] = np.maximum(loss, 1e-10)
        lowest = 4 * one_loss(kernel, name, kinds[0], c)[0]
        said.append(
            (
                f"{kernel} {{}} (lowest possible {{}}), {{}} of 4 at a global and {{}} at a "
                f"spurious one",
                loss[-1],
                round(lowest, 9),
                *reached(queries[-1], kinds),
            )
        )
    panels["loss f of all, over steps"] = Panel("log step", "log", ends, path.steps)
    words = "B2 (η = 0.1), shift of the starts {}, step size {}, c = {}. Loss f after 300 steps"
    return panels, [(words, shift, 0.1 * lr, c), *said]


def two_tokens(made, path, first, q1, q2, lr, c):
    name, axis, panels, ends, said = "B2", np.linspace(-4, 4, 65), {}, {}, []
    alone = {kernel: one_loss(kernel, name, axis, c) for kernel in KERNELS}
    maps = {kernel: np.add.outer(losses, losses) for kernel, losses in alone.items()}
    top = max(loss.max() for loss in maps.values())
    for kernel in KERNELS:
        loss, queries = descended(kernel, name, (q1, q2), lr, c)
        kinds = two_kinds(kernel, name, c)
        inside = in_the_picture(np.concatenate(kinds))
        every = np.array(np.meshgrid(inside, inside, indexing="ij")).reshape(2, -1)
        lowest = np.isin(every, kinds[0]).all(axis=0)
        points = {
            "global minimum": every[:, lowest],
            "spurious minimum": every[:, ~lowest],
            "descent": queries.T,
            "start": queries[:1].T,
            "end": queries[-1:].T,
        }
        panels[kernel] = Panel(
            "q₁",
            "q₂",
            {"heatmap": np.sqrt(maps[kernel] / top).round(3)}
            | {label: tuple(at) for label, at in points.items()},
            rounded=1e-6,
        )
        ends[kernel] = np.maximum(loss, 1e-10)
        at_best, at_other = reached(queries[-1], kinds)
        verdict = (
            "a global minimum"
            if at_best == 2
            else "a spurious minimum"
            if at_best + at_other == 2
            else "no"
        )
        said.append(
            (
                f"{kernel[0].upper()}{kernel[1:]}: {{}} minima in the square, {{}} of them "
                f"spurious; descent ends at f = {{}}, {verdict}",
                every.shape[1],
                int((~lowest).sum()),
                loss[-1],
            )
        )
    panels["loss f over steps"] = Panel("log step", "log", ends, path.steps)
    return panels, [
        ("B2 (η = 0.1) from ({}, {}), step size {}, c = {}, 300 steps.", q1, q2, 0.1 * lr, c),
        *said,
    ]


# --- the pages before chapter 1, and a reader's own model
# -----------------------------------------------------------


def turned(made, path, first, turn, network, pair, radius):
    data = mha.data.random_sequences(N=6, n=4, D=6, m=1, seed=0)
    layer = mha.AttentionLayer.random(D=6, d=3, m=1, H=2, seed=0)
    if network == "after 30 steps":
        layer = mha.train(layer, data, mha.Backtracking(), 30)[-1]
    values, vectors = np.linalg.eigh(mha.landscape.hessian(layer, data))
    theta, at = flat(layer), np.linspace(-radius, radius, 25)
    uphill = flat(layer.loss_and_grad(data.X, data.y)[1]) @ vectors[:, 0] > 0
    way = vectors[:, 0] * (-1 if uphill else 1)
    u, drawn = (
        flat(mha.landscape.random_direction(layer, 2 * pair + k, normalize=None)) for k in (0, 1)
    )

    def plane(degrees):
        angle = np.radians(degrees)
        v = np.cos(angle) * drawn / np.linalg.norm(drawn) + np.sin(angle) * way
        return np.linalg.norm(theta) * np.stack([u / np.linalg.norm(u), v / np.linalg.norm(v)])

    def loss(vector):
        return mha.landscape.direction(layer, vector).loss(data.X, data.y)

    def least(degrees):
        across = np.linalg.qr(plane(degrees).T)[0]
        return np.linalg.eigvalsh(across.T @ mha.landscape.hessian(layer, data) @ across)[0]

    degrees, (u, v), middle = np.arange(0, 91, 5), plane(turn), loss(theta)
    above = np.array([[loss(theta + a * u + b * v) for a in at] for b in at]) - middle
    row, column = np.unravel_index(above.argmin(), above.shape)
    seen = least(turn)
    return {
        "smallest curvature of the plane": Panel(
            "turn of second direction, degrees",
            "",
            {
                "smallest curvature of the plane": (
                    degrees,
                    [least(each_turn) for each_turn in degrees],
                ),
                "mean of all eigenvalues": ([0, 90], [values.mean()] * 2),
                "smallest eigenvalue": ([0, 90], values[[0, 0]]),
                "here": ([turn], [seen]),
            },
        ),
        "loss minus that of the network": Panel(
            "first direction",
            "second direction",
            {
                "heatmap": above / abs(above).max(),
                "network": ([0], [0]),
                "minimum in the picture": (at[[column]], at[[row]]),
            },
        ),
    }, [
        ("random pair {}, second direction turned by {} degrees", pair, turn),
        ("at its center is {}.", seen),
        (
            "The {} eigenvalues have the mean {}, and the smallest is {}.",
            114,
            values.mean(),
            values[0],
        ),
        (
            "The loss is {} at the center and at least {} in the picture",
            middle,
            middle + above.min(),
        ),
        ("radius is {} times", radius),
    ]


def flat(model):
    return np.concatenate([array.ravel() for array in model.arrays().values()])


def compared(made, path, first, other, texts, seeds, lr_first, lr_second):
    def accuracy(kernel, start, seed, lr):
        trained, tested = short_sentences.train_and_test(seed, "not")
        layer = mha.train(
            short_sentences.network(kernel, start), trained, mha.Adam(lr), 150, record=2
        )[-1]
        return (np.sign(layer(tested.X).mean(axis=1)[:, 0]) == tested.y[:, 0, 0]).mean()

    assert (other, texts) == ("again", "plain")
    ours = np.array([accuracy(mha.softmax, seed, seed, lr_first) for seed in range(seeds)])
    theirs = np.array([accuracy(mha.softmax, seed + 12, seed, lr_second) for seed in range(seeds)])
    apart = theirs - ours
    tests = [ttest_rel(theirs[:k], ours[:k]).confidence_interval(0.95) for k in range(2, seeds + 1)]
    over = np.arange(2, seeds + 1)
    middle = np.array([apart[:k].mean() for k in range(2, seeds + 1)])
    lines = np.column_stack([ours, theirs, np.full(seeds, np.nan)]).ravel()
    inside = tests[-1].low <= 0 <= tests[-1].high
    band = f"95 % interval: {'contains 0' if inside else '0 is outside'}"
    # Of the first intervals those are left out that would leave the panel, and all before them.
    reach = np.array([max(-test.low, test.high) for test in tests])
    room = next(room for room in (0.1, 0.2, 0.4, 0.8) if reach[-1] <= 0.9 * room)
    begin = 1 + max(np.flatnonzero(reach > room), default=-1)
    assert begin > 0
    kept, drawn = tests[begin:], over[begin:]
    around = np.append([test.high for test in kept], [test.low for test in kept[::-1]])
    return {
        "test accuracy, seed by seed": Panel(
            "",
            "",
            {
                "one seed": (np.tile([0, 1, np.nan], seeds), lines),
                "softmax": (np.zeros(seeds), ours),
                "the other": (np.ones(seeds), theirs),
            },
            ticks={"x": ["softmax", "the other"]},
        ),
        "mean difference and its interval": Panel(
            "seeds so far",
            "",
            {
                "zero": ([1.5, 12.5], [0, 0]),
                "mean difference": (over, middle),
                band: (np.append(drawn, drawn[::-1]), around),
            },
        ),
    }, [
        ("over {} seeds: softmax {} (step size {})", seeds, ours.mean(), lr_first),
        ("the other {} (step size {})", theirs.mean(), lr_second),
        ("Mean difference {}", middle[-1]),
        ("from {} to {}", tests[-1].low, tests[-1].high),
    ]


def scores(made, path, first, a1, a2, a3, tau):
    read, over = np.array([2.0, 1.0, -1.0]), np.arange(-30, 31) / 5
    pi = softmax_of(np.array([a1, a2, a3]) / tau)
    curve = softmax_of(np.column_stack([over, np.full(61, a2), np.full(61, a3)]) / tau) @ read
    mean, tilt = pi @ read, pi[0] * (read[0] - pi @ read) / tau
    along = np.array([-1.0, 1.0]) / np.hypot(1, tilt)
    return {
        "weights": Panel(
            "token",
            "",
            {
                "scatter": [([j, j], [0, weight]) for j, weight in enumerate(pi, start=1)],
                "equal weights": ([0.5, 3.5], [1 / 3, 1 / 3]),
            },
        ),
        "diag(π) − ππᵀ": Panel("token", "", {"heatmap": np.diag(pi) - np.outer(pi, pi)}),
        "mean against a₁": Panel(
            "a₁",
            "",
            {
                "attention mean": (over, curve),
                "tangent": (a1 + along, mean + along * tilt),
                "here": ([a1], [mean]),
            },
        ),
    }, [
        ("a₁ = {}, a₂ = {}, a₃ = {}", a1, a2, a3),
        ("τ = {}", tau),
        ("weights {}, {}, {};", *pi),
        (
            "mean {}, slope along a₁ {}, variance of the values {};",
            mean,
            tilt,
            pi @ (read - mean) ** 2,
        ),
        ("π₁ = {}.", -np.log(pi[0])),
    ]


def surface(made, path, first, lr, low, angle, q1, q2):
    at, along, rates = np.arange(-20, 21) / 10, np.arange(-40, 41) / 20, np.arange(53) / 20
    steep, flat = np.array([0.96, 0.28]), np.array([-0.28, 0.96])

    def f(theta):
        return (theta @ steep) ** 2 / 2 + low * (theta @ flat) ** 2 / 2

    def walk(point, curvatures, rate):
        points = [np.array(point)]
        for _ in range(60):
            slope = (
                curvatures[0] * (points[-1] @ steep) * steep
                + curvatures[1] * (points[-1] @ flat) * flat
            )
            points.append(points[-1] - rate * slope)
        return np.array(points)

    points, loss = walk((q1, q2), (1.0, low), lr), f(walk((q1, q2), (1.0, low), lr))
    usual_steep, usual_flat = np.array([0.8, 0.6]), np.array([-0.6, 0.8])
    factors = [abs(1 - lr), abs(1 - lr * low)]
    # On the default settings λ₂ = 0.05, η = 1.8, and the start is (0.25, 1.75).
    u, v = np.array([0.25, 1.75]) @ usual_steep, np.array([0.25, 1.75]) @ usual_flat
    k = np.arange(61)
    usual = np.maximum(
        (u * (1 - 1.8) ** k) ** 2 / 2 + 0.05 * (v * (1 - 1.8 * 0.05) ** k) ** 2 / 2, 1e-12
    )
    return {
        "path on f, θ₂ against θ₁": Panel(
            "",
            "",
            {
                "heatmap": np.sqrt(f(np.stack(np.meshgrid(at, at), axis=-1))),
                "direction of λ₁": tuple(np.outer(steep, [-2, 2])),
                "direction of λ₂": tuple(np.outer(flat, [-2, 2])),
                "descent": tuple(points.T),
                "start": ([q1], [q2]),
            },
        ),
        "f along the two directions": Panel(
            "",
            "",
            {"steep, λ₁": f(along[:, None] * steep), "flat, λ₂": f(along[:, None] * flat)},
            along,
        ),
        "loss f over steps": Panel(
            "step", "log", {"default settings": usual, "loss": np.maximum(loss, 1e-12)}, k
        ),
        "factor of a step against η": Panel(
            "step size η",
            "",
            {
                "|1 − ηλ₁|": abs(1 - rates),
                "|1 − ηλ₂|": abs(1 - low * rates),
                "threshold η = 2/λ₁": ([0, 2, 2], [1, 1, 0]),
                "here": ([lr, lr], factors),
            },
            rates,
        ),
    }, [
        ("η = {}, λ₁ = 1, λ₂ = {}", lr, low),
        ("θ₁ = {}, θ₂ = {}:", q1, q2),
        ("from {} to {}.", loss[0], loss[-1]),
        ("condition number is {}.", 1 / low),
        ("coordinates by {} and {}.", *factors),
    ]


def linearized(made, path, first, H, lr, scale):
    data = mha.data.tokenized_mixture(16, T=4, d=4, M=2, zeta=0.25, sigma=0.5, seed=0)

    def run_on_tangent(of, lr):
        return mha.train(Linearized.at(of[0]), data, mha.GradientDescent(lr), 200, record=of.steps)

    def apart(of, tangent):
        pairs = zip(of.models, tangent.models, strict=True)
        return np.maximum([np.sqrt(np.mean((a(data.X) - b(data.X)) ** 2)) for a, b in pairs], 1e-4)

    tangent, usual = run_on_tangent(path, lr), run_on_tangent(first, 0.3)
    loss, linear, distance = losses(path, data), losses(tangent, data), apart(path, tangent)
    return {
        "loss": Panel("log step", "log", {"model": loss, "linearization": linear}, path.steps),
        "distance of the logits": Panel(
            "log step",
            "log",
            {"distance, default settings": apart(first, usual), "distance": distance},
            path.steps,
        ),
        "the model's logits": Panel(
            "its linearization's",
            "",
            {"equal": ([-26, 26], [-26, 26]), "sample": (tangent[-1](data.X), path[-1](data.X))},
        ),
    }, [
        ("H = {}, η = {}, s = {}", H, lr, scale),
        ("the loss is {}, and that of the linearization is {}.", loss[-1], linear[-1]),
        ("difference of their logits is {},", distance[-1]),
        ("have moved by {}.", (path[-1] - path[0]).norm()),
    ]


def own_model(data, words, **measures):
    """The teller of a figure of a model's own loss, from what its other panels show of a model."""

    def tell(made, path, first, **values):
        curves = {
            "loss": (losses(first, data), losses(path, data)),
            **{name: (each(first, of), each(path, of)) for name, of in measures.items()},
        }
        last = [now[-1] for _, now in curves.values()]
        return {
            name: Panel(
                "log step",
                "log" if name == "loss" and max(usual) > 100 * min(usual) else "",
                {"at the start": usual, "now": now},
                path.steps,
            )
            for name, (usual, now) in curves.items()
        }, [
            *((f"{words[name]} {{}}", value) for name, value in values.items()),
            (", ".join(f"{name} {{}}" for name in curves) + ".", *last),
        ]

    return tell


def hidden_error(factors):
    seen, Y = matrix_factorization.matrix().X, matrix_factorization.matrix().y
    return np.mean((factors.U @ factors.V.T - Y)[seen == 0] ** 2)


def second_share(mixture):
    return 1 / (1 + np.exp(mixture.logits[0] - mixture.logits[1]))


def on_relevant(head):
    """The attention of one head on relevant tokens."""
    return (head.attention(MIXTURE.X) * MIXTURE.relevant[:, None]).sum(axis=-1).mean()


MIXTURE, CLOUDS = mha.data.tokenized_mixture(n=60, seed=0), logistic_regression.clouds()
TEMPERED = own_model(
    MIXTURE,
    {"lr": "step size η ="},
    score=on_relevant,
    temperature=lambda model: np.exp(-model.tau),
)
WITHOUT_ATTENTION = {
    0: own_model(
        CLOUDS,
        {"lr": "step size η =", "penalty": "penalty ="},
        length=lambda model: (model.w @ model.w) ** 0.5,
        margin=lambda model: (CLOUDS.X @ model.w * CLOUDS.y).min(),
    ),
    1: own_model(
        two_layer_network.wave(),
        {"lr": "step size η =", "beta": "beta ="},
        steepest=lambda model: np.abs(model.a * model.w).max(),
    ),
    2: own_model(matrix_factorization.matrix(), {"lr": "step size η ="}, unseen=hidden_error),
    3: own_model(
        mixture.sample(),
        {"lr": "step size η ="},
        gap=lambda model: np.ptp(model.m),
        share=second_share,
    ),
    4: own_model(
        recurrence.sequences(),
        {"lr": "step size η ="},
        kept=lambda model: np.sqrt((model.A**2).sum()),
    ),
}


SHOWN = {
    ("book/index.html", 0): (words, {"lr": 0.3}),
    ("book/multihead/01_a_small_attention_model.html", 0): (
        finding,
        {"zeta": 0.2, "sigma": 0.75, "lr": 0.3, "sample": 5},
    ),
    ("book/multihead/02_how_steep_how_curved.html", 0): (
        downward,
        {"H": 2, "lr": 0.3, "scale": 0.1},
    ),
    ("book/multihead/02_further.html", 0): (curvature, {"H": 4, "lr": 0.3, "scale": 0.1}),
    ("book/multihead/03_what_one_random_step_knows.html", 0): (
        one_step,
        {"zeta": 0.3, "S": 1.5, "sigma": 0.2},
    ),
    ("book/multihead/03_further.html", 0): (
        realizability,
        {"zeta": 0.4, "sigma": 0.2, "mirror": False},
    ),
    ("book/multihead/04_why_training_cannot_get_lost.html", 0): (
        nearer,
        {"H": 100, "lr": 0.1, "zeta": 0.4},
    ),
    ("book/multihead/04_further.html", 0): (
        theory,
        {"H": 10**4, "lr": 0.1, "zeta": 0.4, "S": 0.5, "T": 5},
    ),
    ("book/multihead/05_more_heads_slower_or_faster.html", 0): (
        step_sizes,
        {"H": 16, "lr": 0.1, "scaling": "root", "optimizer": "momentum"},
    ),
    ("book/multihead/05_more_heads_slower_or_faster.html", 1): (
        two_steps,
        {"eta_u": 1.2, "eta_w": 0.0375},
    ),
    ("book/multihead/01_further.html", 0): (heads, {"H": 4, "lr": 0.03, "optimizer": "adam"}),
    ("book/multihead/05_further.html", 0): (
        width,
        {"H": 4, "lr": 0.3, "scaling": "root", "zeta": 0.25, "sigma": 0.6},
    ),
    ("book/multihead/06_a_planted_head.html", 0): (
        planted,
        {"H": 2, "n": 100, "lr": 0.3, "scale": 0.3},
    ),
    ("book/multihead/06_further.html", 0): (planted, {"H": 4, "n": 50, "lr": 0.1, "scale": 0.01}),
    ("book/multihead/07_does_it_generalize.html", 0): (
        leaving_out,
        {"samples": 40, "sigma": 0.5, "lr": 0.3, "left": 2},
    ),
    ("book/multihead/07_further.html", 0): (
        generalization,
        {"samples": 32, "sigma": 0.5, "zeta": 0.375, "lr": 0.3, "H": 4, "left": 2},
    ),
    ("book/multihead/08_heads_on_real_data.html", 0): (
        many_heads,
        {"H": 4, "lr": 0.3, "scale": 1.0},
    ),
    ("book/multihead/08_further.html", 0): (digits, {"H": 2, "lr": 0.3, "scale": 1.0}),
    ("book/preconditioning/09_attention_is_a_tilted_average.html", 0): (
        cloud,
        {"x": 1.5, "n": 300, "tokens": "box"},
    ),
    ("book/preconditioning/09_further.html", 0): (tilting, {"v": 1.2, "n": 256, "sample": 3}),
    ("book/preconditioning/10_descent_that_knows_the_structure.html", 0): (
        stretched,
        {"kappa": 8.0, "plain_lr": 0.2, "lr": 0.7, "steps": 120},
    ),
    ("book/preconditioning/10_further.html", 0): (
        descent,
        {
            "kappa": 8.0,
            "d": 4,
            "n": 300,
            "optimizer": "structure_aware",
            "start": "random",
            "lr": 0.3,
            "s_max": 0.7,
        },
    ),
    ("book/preconditioning/11_data_and_compute.html", 0): (
        bought,
        {"lr": 0.3, "sigma": 0.2, "kappa_M": 2.0},
    ),
    ("book/preconditioning/11_further.html", 0): (gradient_gaps, {"r": 0.6, "d": 3}),
    ("book/preconditioning/11_further.html", 1): (
        data_and_compute,
        {
            "optimizer": "structure_aware",
            "start": "random",
            "lr": 0.3,
            "s_max": 0.7,
            "kappa_M": 2.0,
            "radius": 0.35,
        },
    ),
    ("book/kernels/12_two_kernels_one_rank.html", 0): (selecting, {"k": -0.75, "stretch": 2.0}),
    ("book/kernels/12_further.html", 0): (
        kernels,
        {"q": 1.5, "k1": -1.5, "k2": 0.5, "k3": 2.5, "c": 0.25, "y": 1.0},
    ),
    ("book/kernels/13_when_gradient_descent_must_succeed.html", 0): (
        promised,
        {"D": 40, "scale": 0.3, "tied": False, "kernel": "gaussian"},
    ),
    ("book/kernels/13_further.html", 0): (
        layer,
        {"moves": "WV", "D": 32, "H": 2, "N": 6, "n": 3, "scale": 0.5, "tied": False, "lr": 0.2},
    ),
    ("book/kernels/14_traps.html", 0): (held, {"case": "that rise", "q": -0.6, "c": 1.0}),
    ("book/kernels/14_further.html", 0): (traps, {"shift": -0.4, "lr": 0.5, "c": 0.25}),
    ("book/kernels/14_further.html", 1): (
        two_tokens,
        {"q1": 0.75, "q2": -1.25, "lr": 0.5, "c": 0.75},
    ),
    ("book/kernels/15_landscapes.html", 0): (
        turned,
        {"turn": 65, "network": "before training", "pair": 7, "radius": 0.2},
    ),
    ("book/kernels/16_text_and_pathfinder.html", 0): (
        compared,
        {"other": "again", "texts": "plain", "seeds": 6, "lr_first": 0.02, "lr_second": 0.05},
    ),
    ("book/start/softmax.html", 0): (scores, {"a1": 1.5, "a2": -0.5, "a3": 0.5, "tau": 2.0}),
    ("book/start/descent_and_curvature.html", 0): (
        surface,
        {"lr": 0.2, "low": 0.2, "angle": 16, "q1": 1.0, "q2": -1.5},
    ),
    ("book/start/tangent_kernel.html", 0): (linearized, {"H": 2, "lr": 0.1, "scale": 2.0}),
    ("book/your_own_model.html", 0): (TEMPERED, {"lr": 0.3}),
    ("book/without_attention.html", 0): (WITHOUT_ATTENTION[0], {"lr": 0.3, "penalty": 0.01}),
    ("book/without_attention.html", 1): (WITHOUT_ATTENTION[1], {"lr": 0.03, "beta": 0.5}),
    **{
        ("book/without_attention.html", k): (WITHOUT_ATTENTION[k], {"lr": lr})
        for k, lr in ((2, 1.0), (3, 0.1), (4, 0.01))
    },
}
SHOWN["book/theory_and_practice.html", 0] = SHOWN["book/multihead/04_further.html", 0]
each_place = pytest.mark.parametrize("place", PLACES, ids=place_id)


@cache
def told(place):
    """A figure, the values of its controls, and what it must show and say there."""
    tell, values = SHOWN[place]
    made = figure(*place)
    return made, values, *tell(made, made.path(**values), made.path(), **values)


def drawn(made, values):
    return as_drawn(made.figure(**values))


def test_every_live_figure_is_told_here():
    assert set(SHOWN) == set(PLACES)


@each_place
def test_a_logarithmic_axis_names_powers_of_ten_or_what_was_chosen(place):
    made = figure(*place).figure()
    for axis in (*made.select_xaxes(), *made.select_yaxes()):
        if axis.type == "log":
            assert axis.exponentformat == "power" or axis.tickvals, axis.plotly_name


@each_place
def test_a_line_shows_what_the_legend_and_the_title_say(place):
    made, values, panels, _ = told(place)
    assert_shows(drawn(made, values), panels)


@each_place
def test_no_line_could_be_taken_for_another(place):
    _, _, panels, _ = told(place)
    assert_all_differ(panels)


@each_place
def test_axes_say_what_they_count(place):
    made, values, panels, _ = told(place)
    assert_axes_say(drawn(made, values), panels)


AROUND_A_NAME = "^guaranteed, |, here$| accuracy$"


@each_place
def test_a_name_has_one_color(place):
    """Of a line that the legend leaves out, a reader takes the name from one that looks like it."""
    made, values, *_ = told(place)
    colors = {}
    for (_, name), traces in by_name(drawn(made, values)).items():
        for trace in traces:
            if trace["type"] != "scatter":
                continue
            color = trace.get("line", {}).get("color") or trace["marker"]["color"]
            if color != GRAY:  # which is what there is to compare with
                colors.setdefault(re.sub(AROUND_A_NAME, "", name), set()).add(color)
    assert all(len(of) == 1 for of in colors.values()), colors


@each_place
def test_a_sentence_says_what_its_words_name(place):
    made, values, _, fragments = told(place)
    spec, results = made.spec, made.drawn(**values)
    sentence = sentence_of(
        spec, {name: control.value for name, control in made.controls.items()} | values, results
    )
    assert_says(sentence, fragments)
