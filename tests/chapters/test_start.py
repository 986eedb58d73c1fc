"""The pages before the first chapter: a loss of two numbers, a linearized model, and the formulas
of their figures."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

import mhalib as mha
from checks import assert_refused
from engines import asked, assert_follows, plain
from mhabook.start import figure_linearized, figure_scores, figure_surface, figure_words
from mhabook.start.linearized import Linearized
from mhabook.start.surface import Surface

SURFACES = [
    Surface((1.3, 0.2), (0.8, 0.6)),
    Surface((2.0, -0.7), (0.28, 0.96)),
    Surface((0.5, 0.0)),
]
each_surface = pytest.mark.parametrize("surface", SURFACES, ids=str)
DATA = mha.data.tokenized_mixture(n=7, T=4, d=5, M=3, zeta=0.25, sigma=0.5, seed=2)
START = mha.MultiHeadAttention.random(3, 4, 5, scale=0.7, seed=1)
DISPLACEMENT = np.random.default_rng(4).standard_normal(START.ravel().size) / 3
MADE = {
    "scores": figure_scores.scores(),
    "surface": figure_surface.surface(steps=9),
    "linearized": figure_linearized.linearized(n=5, steps=6),
    "words": figure_words.words(),
}
# Where each part of the programs counts.
SETTINGS = {
    "scores": [{}, {"tau": 0.5}, {"a2": 2.0}],
    "surface": [
        {},
        {"low": -0.5, "angle": 16},
        {"lr": 2.1, "q1": 2.0},
        {"lr": 1.0, "low": 1.0},
    ],
    "linearized": [{}],
    "words": [{}],
}


@pytest.mark.parametrize(
    ("name", "values"),
    [(name, values) for name, settings in SETTINGS.items() for values in settings],
    ids=str,
)
def test_the_figures_follow_mhalib(name, values):
    assert_follows(plain(MADE[name]), MADE[name], values)


def test_bars_say_what_the_colors_of_the_words_mean():
    heatmap, bars, _ = MADE["words"].figure().data
    assert (heatmap.zmin, heatmap.zmax) == (0, 1)
    axis = MADE["words"].figure().layout.xaxis
    zero, one = (axis.tickvals[axis.ticktext.index(weight)] for weight in ("0", "1"))
    feet, ends, gaps = np.reshape(np.array(bars.x, float), (10, 3)).T
    assert (feet == zero).all() and np.isnan(gaps).all() and zero > heatmap.x[-1] + 1
    np.testing.assert_allclose((ends - zero) / (one - zero), np.array(heatmap.z)[-1], atol=1e-12)
    assert np.argmax(ends) == 5 and heatmap.y[5] == bars.y[15] == bars.y[16]


def test_what_is_measured_last_is_measured_at_every_step_of_a_run_that_is_watched():
    run = json.loads(asked(plain(MADE["words"]), MADE["words"], {"lr": 1.0}))
    weights, bars = run["curves"]["weights"], [final["bars"] for final in run["finals"]]
    ends = np.reshape(np.array(bars, float), (101, 10, 3))[..., 1]
    np.testing.assert_allclose(ends, 107 + 36 * np.array(weights), atol=1e-9)
    assert run["final"]["bars"] == bars[-1] != bars[0]


@each_surface
def test_gradient_and_hessian_of_a_surface_are_its_derivatives(surface):
    for theta in np.random.default_rng(0).uniform(-2, 2, (20, 2)):
        steps = 1e-5 * np.eye(2)
        slope = [(surface.loss(theta + step) - surface.loss(theta - step)) / 2e-5 for step in steps]
        bend = [
            (surface.gradient(theta + step) - surface.gradient(theta - step)) / 2e-5
            for step in steps
        ]
        np.testing.assert_allclose(surface.gradient(theta), slope, atol=1e-8)
        np.testing.assert_allclose(surface.hessian(theta), bend, atol=1e-8)


@each_surface
def test_curvatures_of_a_surface_are_those_at_its_center(surface):
    values, vectors = np.linalg.eigh(surface.hessian())
    assert values == pytest.approx(sorted(surface.curvatures))
    assert abs(vectors[:, 1] @ surface.direction) == pytest.approx(1)
    points = np.random.default_rng(1).uniform(-3, 3, (50, 2))
    assert (surface.loss(points) >= 0).all()
    largest = max(np.linalg.norm(surface.hessian(theta), 2) for theta in points)
    assert largest <= max(map(abs, surface.curvatures)) + 1e-12


@pytest.mark.parametrize("kind", [tuple, list, np.array])
def test_a_surface_takes_any_two_numbers_in_an_order(kind):
    surface = Surface(kind([1.0, 0.25]), kind([0.8, 0.6]))
    assert (
        surface == Surface((1.0, 0.25), (0.8, 0.6))
        and len({surface, Surface((1, 0.25), (0.8, 0.6))}) == 1
    )


def test_descent_in_a_bowl_is_its_closed_form():
    surface = SURFACES[0]
    points = surface.descend((0.5, 2.0), lr=1.4, steps=30)
    found, begin = surface.coordinates(points), surface.coordinates(points[0])
    for coordinate, first, curvature in zip(found, begin, surface.curvatures, strict=True):
        np.testing.assert_allclose(
            coordinate, first * (1 - 1.4 * curvature) ** np.arange(31), rtol=1e-9
        )


def test_descent_on_a_ridge_rests_at_the_saddle_and_beside_it_does_not():
    ridge, beside = (
        Surface((1.0, -0.5)).descend((1.0, second), 0.5, 200)[-1] for second in (0.0, 1e-6)
    )
    assert abs(ridge).max() < 1e-12 and beside == pytest.approx([0, 1], abs=1e-6)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: Surface((0.0, 1.0)), ["curvatures: expected the first to be > 0", "0.0"]),
        (lambda: Surface((1.0, np.nan)), ["curvatures: expected two numbers", "nan"]),
        (lambda: Surface((1.0, 1.0), (1.0, 1.0)), ["direction: expected length 1", "1.41421"]),
        (lambda: Surface((1.0, 1.0), 1.0), ["direction: expected two numbers", "1.0"]),
        (lambda: Surface([1.0, 0.5, 0.2]), ["curvatures: expected two numbers", "[1.0, 0.5, 0.2]"]),
        (lambda: Surface("12"), ["curvatures: expected two numbers", "'12'"]),
        (lambda: Surface(np.eye(2)), ["curvatures: expected two numbers"]),
        (lambda: Surface([[1.0], 0.5]), ["curvatures: expected two numbers"]),
        (lambda: Surface({1.0, 0.5}), ["curvatures: expected two numbers"]),
        (
            lambda: SURFACES[0].descend((1.0,), 0.1, 3),
            ["start: expected two finite numbers", "(1.0,)"],
        ),
        (
            lambda: SURFACES[0].descend((1.0, 1.0), -0.1, 3),
            ["lr: expected a positive number", "-0.1"],
        ),
        (lambda: SURFACES[0].descend((1.0, 1.0), 0.1, 0), ["steps: expected a whole number", "0"]),
        (lambda: Linearized(DISPLACEMENT[:-1], START), ["V: expected shape (135,)", "(134,)"]),
        (lambda: figure_surface.surface(steps=0), ["steps: expected"]),
        (lambda: figure_linearized.linearized(n=0), ["n: expected"]),
    ],
)
def test_bad_input_is_refused(call, words):
    assert_refused(call, ValueError, words)


@pytest.mark.parametrize(
    "call", [lambda: Linearized.at(DATA), lambda: Linearized(DISPLACEMENT, DATA)]
)
def test_what_is_no_start_is_refused(call):
    assert_refused(call, TypeError, ["start: expected a MultiHeadAttention", "got Dataset"])


def test_a_linearization_touches_the_model_at_its_start():
    tangent = Linearized.at(START)
    assert (tangent(DATA.X) == START(DATA.X)).all()
    errors = [
        abs(moved(DATA.X) - moved.moved()(DATA.X)).max()
        for moved in (Linearized(step * DISPLACEMENT, START) for step in (1e-2, 1e-3))
    ]
    assert errors[0] / errors[1] == pytest.approx(100, rel=0.1), "the difference is of second order"


def test_gradient_of_a_linearization_is_its_derivative():
    point = Linearized(DISPLACEMENT, START)
    along = np.random.default_rng(5).standard_normal(DISPLACEMENT.size)
    loss, grad = point.loss_and_grad(DATA.X, DATA.y)
    ends = [
        Linearized(DISPLACEMENT + step * along, START).loss(DATA.X, DATA.y)
        for step in (-1e-5, 1e-5)
    ]
    assert grad.V @ along == pytest.approx((ends[1] - ends[0]) / 2e-5, rel=1e-7)
    assert loss == pytest.approx(np.logaddexp(0, -DATA.y * point(DATA.X)).mean(), rel=1e-12)


def test_the_hessian_of_a_linearization_is_the_derivative_of_its_gradient():
    point = Linearized(DISPLACEMENT, START)
    V, W = np.random.default_rng(6).standard_normal((2, DISPLACEMENT.size))
    along = point.with_arrays(V=V)
    ends = [(point + step * along).loss_and_grad(DATA.X, DATA.y)[1].V for step in (-1e-5, 1e-5)]
    image = point.hvp(DATA.X, DATA.y, along)
    np.testing.assert_allclose(
        image.V, (ends[1] - ends[0]) / 2e-5, rtol=1e-6, atol=1e-9 * abs(image.V).max()
    )
    assert image.dot(point.with_arrays(V=W)) == pytest.approx(
        point.hvp(DATA.X, DATA.y, point.with_arrays(V=W)).dot(along), rel=1e-10
    )
    there = point.map(torch.as_tensor).hvp(
        *(torch.as_tensor(a) for a in (DATA.X, DATA.y)), along.map(torch.as_tensor)
    )
    np.testing.assert_allclose(there.V.numpy(), image.V, rtol=1e-10, atol=1e-13)
    assert_refused(
        lambda: point.hvp(DATA.X, DATA.y, START),
        TypeError,
        ["V: expected a direction like Linearized"],
    )


def test_the_spectrum_of_a_linearization_is_that_of_its_full_hessian():
    point = Linearized(DISPLACEMENT, START)
    found = mha.landscape.spectrum(point, DATA, 2)
    wanted = np.linalg.eigvalsh(mha.landscape.hessian(point, DATA))
    np.testing.assert_allclose(found.values, wanted[[0, 1, -2, -1]], atol=1e-10 * wanted[-1])
    features, z = START.features(DATA.X), DATA.y * point(DATA.X)
    written = features.T @ np.diag(1 / (4 * len(z) * np.cosh(z / 2) ** 2)) @ features
    np.testing.assert_allclose(mha.landscape.hessian(point, DATA), written, atol=1e-12 * wanted[-1])


def test_a_linearization_goes_to_torch_with_its_start():
    point = Linearized(DISPLACEMENT, START)
    there = point.map(torch.as_tensor)
    assert {type(a) for a in (there.V, there.start.W, there.start.U)} == {torch.Tensor}
    assert float(there.loss(*(torch.as_tensor(a) for a in (DATA.X, DATA.y)))) == pytest.approx(
        float(point.loss(DATA.X, DATA.y)), rel=1e-12
    )
    single = point.map(lambda a: a.astype("float32"))
    path = mha.train(single, DATA.map(lambda a: a.astype("float32")), mha.GradientDescent(0.4), 3)
    assert path[-1].V.dtype == path[-1].start.W.dtype == np.float32
    assert ((2 * point).start, (point + point).start) == (START, START), "numbers scale V alone"


def test_training_a_linearization_is_descent_with_the_kernel():
    path = mha.train(Linearized.at(START), DATA, mha.GradientDescent(0.4), 25, record=2)
    kernel, logits = START.features(DATA.X) @ START.features(DATA.X).T, START(DATA.X)
    for _ in range(25):
        logits = logits + 0.4 / len(DATA) * kernel @ (DATA.y / (1 + np.exp(DATA.y * logits)))
    np.testing.assert_allclose(path[-1](DATA.X), logits, rtol=1e-10)
    assert path.norm_V[-1] == pytest.approx(np.linalg.norm(path[-1].V))


def test_a_linearization_takes_torch_by_the_same_lines():
    here, there = Linearized(DISPLACEMENT, START), DATA.map(torch.as_tensor)
    loss, grad = here.loss_and_grad(DATA.X, DATA.y)
    point = Linearized(torch.as_tensor(DISPLACEMENT), START.map(torch.as_tensor))
    other, slope = point.loss_and_grad(there.X, there.y)
    assert float(other) == pytest.approx(loss, rel=1e-12)
    np.testing.assert_allclose(slope.V.numpy(), grad.V, rtol=1e-10, atol=1e-14)


def test_summaries_name_every_control():
    for made in MADE.values():
        assert all(f"{{{name}}}" in made.spec["summary"] for name in made.controls)


def test_tangents_at_two_starts_have_no_sum():
    here, there = (mha.MultiHeadAttention.random(2, 4, 3, seed=seed) for seed in (1, 2))
    tangent = Linearized.at(here)
    with pytest.raises(ValueError, match="start: expected two Linearized with the same start"):
        tangent - Linearized.at(there)
    again = Linearized.at(here.map(np.copy))
    assert (tangent - again).norm() == 0
    assert (tangent - replace(Linearized.at(there), start=here)).norm() == 0
