"""Every public function with every argument replaced in turn by wrong values: taken, or refused by
its name."""

import re
import warnings

import numpy as np
import plotly.graph_objects as go
import pytest

import mhalib as mha
from strategies import problem

MODEL, X, Y = problem(n=4, T=3, d=2, H=2)
DATA = mha.data.from_arrays(X, Y)
LAYER = mha.AttentionLayer.random(D=2, d=2, m=1)
REGRESSION = mha.data.linear_regression(n=6, d=2, p=1)
PATH = mha.train(MODEL, DATA, mha.GradientDescent(0.1), 3)
U, V = (mha.landscape.random_direction(MODEL, seed=seed) for seed in (1, 2))
SCORES = np.zeros((3, 3))
WRONG = {
    "None": None,
    "a word": "a",
    "NaN": np.nan,
    "infinity": np.inf,
    "−1": -1,
    "0": 0,
    "1j": 1j,
    "True": True,
    "a list": [1],
    "a dict": {},
    "an object": object(),
    "a huge whole number": 10**400,
    "a huge number": 1e300,
    "another shape": np.arange(35.0).reshape(5, 7),
    "nothing": np.empty((0, 3)),
    "words": np.array(["a", "b"]),
    "a function": lambda *given: "x",
    "a class": dict,
    "a model": MODEL,
    "a data set": DATA,
}
"""What no argument should be, or few."""


def drawn(lr=0.3):
    return go.Figure()


CALLS = {
    "Adam": (mha.Adam, {"lr": 0.1, "beta1": 0.9, "beta2": 0.9, "eps": 1e-8}),
    "AdamW": (mha.AdamW, {"lr": 0.1, "weight_decay": 0.1}),
    "AttentionLayer": (mha.AttentionLayer, LAYER.arrays() | {"kernel": mha.softmax}),
    "AttentionLayer.random": (
        mha.AttentionLayer.random,
        {
            "D": 2,
            "d": 2,
            "m": 1,
            "H": 1,
            "scale": 1.0,
            "tied": True,
            "kernel": mha.gaussian,
            "seed": 0,
            "dtype": "float32",
        },
    ),
    "AttentionRegression": (mha.AttentionRegression, {"A": X[0, :1], "B": X[0, :2]}),
    "AttentionRegression.random": (
        mha.AttentionRegression.random,
        {"d": 2, "p": 1, "scale": 1.0, "seed": 0, "dtype": "float32"},
    ),
    "AttentionRegression.spectral": (mha.AttentionRegression.spectral, {"data": REGRESSION}),
    "Backtracking": (mha.Backtracking, {"lr": 1.0, "shrink": 0.5}),
    "Cosine": (mha.Cosine, {"peak": 0.1, "steps": 9}),
    "GradientDescent": (mha.GradientDescent, {"lr": 0.1}),
    "InverseRoot": (mha.InverseRoot, {"peak": 0.1}),
    "Momentum": (mha.Momentum, {"lr": 0.1, "beta": 0.9}),
    "MultiHeadAttention": (mha.MultiHeadAttention, {"W": MODEL.W, "U": MODEL.U}),
    "MultiHeadAttention.__call__": (lambda X: MODEL(X), {"X": X}),
    "MultiHeadAttention.hvp": (MODEL.hvp, {"X": X, "y": Y, "V": MODEL}),
    "MultiHeadAttention.loss": (MODEL.loss, {"X": X, "y": Y}),
    "MultiHeadAttention.loss_and_grad": (MODEL.loss_and_grad, {"X": X, "y": Y}),
    "MultiHeadAttention.unravel": (MODEL.unravel, {"vector": MODEL.ravel()}),
    "MultiHeadAttention.random": (
        mha.MultiHeadAttention.random,
        {"H": 1, "T": 2, "d": 2, "scale": 1.0, "seed": 0, "dtype": "float32"},
    ),
    "MultiHeadAttention.zeros": (
        mha.MultiHeadAttention.zeros,
        {"H": 1, "T": 2, "d": 2, "dtype": "float32"},
    ),
    "OneCycle": (mha.OneCycle, {"peak": 0.1, "steps": 90, "rise": 0.1}),
    "Preconditioned": (
        mha.Preconditioned,
        {"lr": 0.1, "balance": 1.0, "whitening": REGRESSION.whitening()},
    ),
    "StructureAware": (
        mha.StructureAware,
        {"lr": 0.1, "balance": 1.0, "whitening": None, "radius": 0.5},
    ),
    "Warmup": (mha.Warmup, {"peak": 0.1, "rise": 3}),
    "clip": (mha.clip, {"norm": 0.1}),
    "clip |": (lambda rule: mha.clip(0.1) | rule, {"rule": mha.Adam(0.1)}),
    "train": (
        mha.train,
        {
            "model": MODEL,
            "data": DATA,
            "optimizer": mha.GradientDescent(0.1),
            "steps": 2,
            "test": DATA,
            "record": 2,
            "batch": 2,
            "seed": 0,
            "only": "W",
            "resume": None,
            "checkpoint": None,
            "every": None,
        },
    ),
    "load": (mha.load, {"file": "none.csv"}),
    "Path.save": (PATH.save, {"file": "none.csv"}),
    "MultiHeadAttention.save": (MODEL.save, {"file": "none.csv"}),
    "explore": (lambda lr: mha.explore(drawn, lr=lr), {"lr": (0.1, 0.5)}),
    "gaussian": (lambda S: mha.gaussian(S), {"S": SCORES}),
    "gaussian.scores": (mha.gaussian.scores, {"Q": X, "K": X}),
    "gaussian.vjp": (mha.gaussian.vjp, {"A": SCORES, "dA": SCORES}),
    "normalized_gaussian": (lambda S: mha.normalized_gaussian(S), {"S": SCORES}),
    "softmax": (lambda S: mha.softmax(S), {"S": SCORES}),
    "softmax.scores": (mha.softmax.scores, {"Q": X, "K": X}),
    "softmax.vjp": (mha.softmax.vjp, {"A": SCORES, "dA": SCORES}),
    "losses.logistic": (lambda z: mha.losses.logistic(z), {"z": Y}),
    "losses.logistic.slope": (mha.losses.logistic.slope, {"z": Y}),
    "data.Pathfinder": (
        mha.data.Pathfinder,
        {
            "size": 12,
            "dashes": 2,
            "length": 2.4,
            "thickness": 0.5,
            "margin": 1.0,
            "radius": 1.5,
            "apart": 5.0,
            "continuity": 1.0,
            "distractor": 1,
            "distractors": 1,
            "contrast": 0.5,
            "padding": 1.0,
            "antialias": 2,
        },
    ),
    "data.digits": (mha.data.digits, {"classes": (3, 8), "n": 5, "seed": 0}),
    "data.from_arrays": (mha.data.from_arrays, {"X": X, "y": Y, "relevant": np.ones((4, 3))}),
    "data.from_file": (mha.data.from_file, {"path": "none.csv"}),
    "data.linear_regression": (
        mha.data.linear_regression,
        {
            "n": 5,
            "d": 2,
            "p": 2,
            "kappa": 2.0,
            "s_max": 0.4,
            "kappa_M": 2.0,
            "sigma": 0.1,
            "seed": 0,
        },
    ),
    "data.pathfinder": (mha.data.pathfinder, {"n": 1, "kind": "micro", "patch": 4, "seed": 0}),
    "data.planted": (
        mha.data.planted,
        {"n": 2, "T": 2, "d": 2, "strength": 1.0, "margin": 0.1, "flip": 0.1, "seed": 0},
    ),
    "data.random_sequences": (
        mha.data.random_sequences,
        {"N": 2, "n": 3, "D": 2, "m": 1, "seed": 0, "teacher": LAYER},
    ),
    "data.regression_from_arrays": (mha.data.regression_from_arrays, {"x": X[0], "y": X[1]}),
    "data.SequenceDataset": (mha.data.SequenceDataset, {"X": X, "y": X}),
    "data.tokenized_mixture": (
        mha.data.tokenized_mixture,
        {"n": 2, "T": 4, "d": 6, "M": 2, "zeta": 0.25, "S": 2.0, "sigma": 0.1, "seed": 0},
    ),
    "Dataset.fresh": (mha.data.tokenized_mixture(n=2).fresh, {"n": 2, "seed": 1}),
    "Dataset.__getitem__": (lambda data: DATA[data], {"data": [0, 1]}),
    "Dataset.split": (DATA.split, {"test": 0.5, "seed": 0}),
    "landscape.random_direction": (
        mha.landscape.random_direction,
        {"model": MODEL, "seed": 0, "only": "W", "normalize": "whole"},
    ),
    "landscape.direction": (mha.landscape.direction, {"model": MODEL, "vector": np.ones(20)}),
    "landscape.slice": (
        mha.landscape.slice,
        {"model": MODEL, "data": DATA, "u": U, "v": V, "radius": 1.0, "resolution": 2},
    ),
    "landscape.Slice.at": (
        mha.landscape.slice(MODEL, DATA, U, V, resolution=1).at,
        {"a": 0.0, "b": 1.0},
    ),
    "landscape.Slice.coordinates": (
        mha.landscape.slice(MODEL, DATA, U, V, resolution=1).coordinates,
        {"model": MODEL},
    ),
    "landscape.hessian": (mha.landscape.hessian, {"model": MODEL, "data": DATA, "only": "W"}),
    "landscape.spectrum": (
        mha.landscape.spectrum,
        {
            "model": MODEL,
            "data": DATA,
            "count": 1,
            "only": "W",
            "seed": 0,
            "tol": 1e-6,
            "maxiter": 30,
            "ends": "high",
            "start": V,
        },
    ),
    "landscape.sharpness": (
        mha.landscape.sharpness,
        {
            "path": PATH,
            "data": DATA,
            "points": 2,
            "only": "W",
            "seed": 0,
            "tol": 1e-3,
            "maxiter": 30,
        },
    ),
    "landscape.density": (
        mha.landscape.density,
        {"model": MODEL, "data": DATA, "probes": 2, "steps": 3, "only": "W", "seed": 0},
    ),
    "landscape.interpolation": (
        mha.landscape.interpolation,
        {"first": MODEL, "second": U, "data": DATA, "resolution": 2},
    ),
    "plots.curves": (
        mha.plots.curves,
        {
            "x": [1, 2, 3],
            "named": {"a": [1.0, 2.0, 3.0]},
            "xlabel": "x",
            "ylabel": "y",
            "log_x": False,
            "log_y": True,
            "title": "t",
            "alt": "words",
        },
    ),
    "plots.bands": (
        mha.plots.bands,
        {"x": [1, 2], "named": {"a": [[1.0, 2.0]]}, "between": (0.25, 0.75), "title": "t"},
    ),
    "plots.training": (mha.plots.training, {"path": PATH, "title": "t", "alt": "words"}),
    "plots.matrix": (
        mha.plots.matrix,
        {
            "Z": SCORES,
            "xlabel": "x",
            "ylabel": "y",
            "title": "t",
            "alt": "words",
            "diverging": True,
            "colorbar": "c",
            "height": 99,
            "log": True,
        },
    ),
    "plots.attention": (
        mha.plots.attention,
        {"A": SCORES, "relevant": [True, False, True], "title": "t", "alt": "words"},
    ),
    "plots.tokens": (
        mha.plots.tokens,
        {"X": X[0], "relevant": [True, False, True], "title": "t", "alt": "words"},
    ),
    "plots.slices": (
        mha.plots.slices,
        {
            "panels": {"a": SCORES},
            "at": [0, 1, 2],
            "colorbar": "c",
            "xlabel": "x",
            "ylabel": "y",
            "title": "t",
            "alt": "words",
        },
    ),
}


def complaint(call, name, given):
    """What is wrong with how a call meets its arguments, or None."""
    try:
        call(**given)
    except (ValueError, TypeError) as error:
        words = str(error)
        is_misfit = hasattr(given[name], "__len__") or hasattr(given[name], "arrays")
        # what does not fit may be said of what it should fit
        named = "|".join(given if is_misfit else [name])
        is_named = re.match(rf"({named}|expected .*\b{name})\b", words)
        is_short = len(words) <= 400 and "array([" not in words and "\n" not in words
        return None if is_named and is_short else f"{type(error).__name__}: {words[:200]}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return None


@pytest.mark.parametrize("call, right", CALLS.values(), ids=CALLS)
def test_a_wrong_argument_is_taken_or_refused_by_its_name(call, right, monkeypatch):
    # the book asks a figure of a reader's for words, too
    monkeypatch.delenv("LIVEGRAD_FIGURES", raising=False)
    complaints = {}
    for name in right:
        for kind, wrong in WRONG.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = complaint(call, name, right | {name: wrong})
            if found:
                complaints[f"{name} = {kind}"] = found
    assert not complaints, "\n".join(
        f"{argument}: {found}" for argument, found in complaints.items()
    )
