"""Bad input: each call, the error it must raise, and the words that the message must have."""

import numpy as np
import pytest

import mhabook
import mhalib as mha
from checks import assert_refused
from livegrad.examples.logistic_regression import LogisticRegression, clouds
from mhabook.c01_model import selection
from mhabook.c02_curvature import bounds, loss_bounds
from mhabook.c03_first_step import max_margin
from mhabook.c04_convergence import starts
from mhabook.c04_convergence import statements as convergence
from mhabook.c05_heads import collapse
from mhabook.c06_planted import statements as planted
from mhabook.c09_tilting import finite_context
from mhabook.c09_tilting import statements as tilting
from mhabook.c10_structure import factorization
from mhabook.c11_data_and_compute import statements as data_and_compute
from mhabook.c13_layer import statements as one_layer
from mhabook.c15_landscapes import smoothness
from optional import torch
from strategies import direction, problem

MODEL, X, Y = problem(n=5, T=4, d=3, H=2)
DATA = mha.data.from_arrays(X, Y)
STEP = mha.GradientDescent(0.1)
OWN, OF_OWN = LogisticRegression(np.zeros(2)), clouds()
EQUAL = mha.data.from_arrays(np.repeat(X[:, :1], 3, axis=1), Y)
mixture, digits, train = mha.data.tokenized_mixture, mha.data.digits, mha.train


def spoiled(a, value):
    """The array with one entry replaced."""
    return np.where(np.arange(a.size).reshape(a.shape) == a.size // 2, value, a)


def single(a):
    return a.astype("float32")


MODELS = {
    "W of wrong rank": (
        lambda: mha.MultiHeadAttention(MODEL.W[0], MODEL.U),
        ValueError,
        ["W: expected shape (H, d, d)", "got (3, 3)"],
    ),
    "W not square": (
        lambda: mha.MultiHeadAttention(MODEL.W[:, :2], MODEL.U),
        ValueError,
        ["W (H, d, d) and U (H, T, d)", "(2, 2, 3)", "(2, 4, 3)"],
    ),
    "heads differ": (
        lambda: mha.MultiHeadAttention(MODEL.W[:1], MODEL.U),
        ValueError,
        ["same H and d", "(1, 3, 3)", "(2, 4, 3)"],
    ),
    "dimensions differ": (
        lambda: mha.MultiHeadAttention(MODEL.W, MODEL.U[..., :2]),
        ValueError,
        ["same H and d", "(2, 3, 3)", "(2, 4, 2)"],
    ),
    "NaN in W": (
        lambda: mha.MultiHeadAttention(spoiled(MODEL.W, np.nan), MODEL.U),
        ValueError,
        ["W: expected finite numbers", "NaN"],
    ),
    "infinity in U": (
        lambda: mha.MultiHeadAttention(MODEL.W, spoiled(MODEL.U, np.inf)),
        ValueError,
        ["U: expected finite numbers", "infinity"],
    ),
    "lists": (
        lambda: mha.MultiHeadAttention(MODEL.W.tolist(), MODEL.U),
        TypeError,
        ["W: expected a numpy array or a torch tensor", "got list; np.array(W, float) makes one"],
    ),
    "complex": (
        lambda: mha.MultiHeadAttention(MODEL.W, MODEL.U * 1j),
        TypeError,
        [
            "U: expected floating-point numbers of shape (H, T, d)",
            "complex128; take U.real or abs(U)",
        ],
    ),
    "half precision": (
        lambda: mha.MultiHeadAttention(MODEL.W.astype("f2"), MODEL.U),
        TypeError,
        ["W: expected", "single or double precision", "float16; W.astype(float) has them"],
    ),
    "a dtype of whole numbers": (
        lambda: mha.MultiHeadAttention.zeros(1, 4, 3, dtype=int),
        TypeError,
        ["dtype: expected np.float64 or np.float32", "got the class int"],
    ),
    "a dtype of torch": (
        lambda: mha.MultiHeadAttention.random(1, 4, 3, dtype=torch.float32),
        TypeError,
        ["dtype: expected", "model.map(torch.as_tensor) takes a model to torch"],
    ),
    "an infinite scale": (
        lambda: mha.MultiHeadAttention.random(1, 4, 3, scale=1e200),
        ValueError,
        ["scale: expected", "below 1e+100", "got 1e+200"],
    ),
    "tied by a word": (
        lambda: mha.AttentionLayer.random(4, 3, 1, tied="no"),
        TypeError,
        ["tied: expected True or False, got 'no'"],
    ),
    "a spectral start of no data": (
        lambda: mha.AttentionRegression.spectral(DATA),
        TypeError,
        ["data: expected a RegressionDataset", "got a Dataset", "regression_from_arrays"],
    ),
    "libraries mixed": (
        lambda: mha.MultiHeadAttention(MODEL.W, torch.tensor(MODEL.U)),
        TypeError,
        ["mixed", "W is numpy", "U is torch"],
    ),
    "dtypes mixed": (
        lambda: mha.MultiHeadAttention(MODEL.W, single(MODEL.U)),
        TypeError,
        ["one dtype", "W has float64", "U has float32"],
    ),
    "d fractional": (
        lambda: mha.MultiHeadAttention.zeros(H=1, T=4, d=3.0),
        ValueError,
        ["d: expected", "got 3.0"],
    ),
    "seed a word": (
        lambda: mha.MultiHeadAttention.random(H=1, T=4, d=3, seed="a"),
        ValueError,
        ["seed:", "'a'"],
    ),
    "vector in torch": (
        lambda: MODEL.unravel(torch.zeros(42, dtype=torch.float64)),
        TypeError,
        ["vector is torch"],
    ),
    "sum of two dtypes": (lambda: MODEL + MODEL.map(single), TypeError, ["one dtype", "float32"]),
    "inner product with data": (
        lambda: MODEL.dot(DATA),
        TypeError,
        ["other: expected a MultiHeadAttention", "Dataset"],
    ),
    "one head has no mixed derivatives": (
        lambda: loss_bounds.block_diagonal(problem(H=1).model, DATA),
        ValueError,
        ["two heads or more"],
    ),
    **{
        f"no gradient in W but rounding, {rule!r}": (
            lambda data=data, rule=rule: collapse.collapse(data, rule, 7),
            ValueError,
            ["data: expected samples whose tokens differ"],
        )
        for data, rule in (
            (EQUAL, mha.GradientDescent(0.3)),
            (EQUAL, mha.Adam(0.03)),
            (mha.data.from_arrays(np.where([True, False, False], 0.3, X), Y), mha.Adam(0.03)),
        )
    },
    "all tokens relevant": (
        lambda: selection.selection(np.ones(3), np.ones(3, bool)),
        ValueError,
        ["relevant: expected some tokens marked and some not"],
    ),
}
BATCHES = {
    "X of wrong rank": (
        lambda: MODEL(X[0]),
        ValueError,
        ["X: expected shape (n, 4, 3)", "got (4, 3)"],
    ),
    "T mismatched": (
        lambda: MODEL.attention(X[:, :2]),
        ValueError,
        ["X: expected shape (n, 4, 3)", "got (5, 2, 3)"],
    ),
    "no example": (lambda: MODEL(X[:0]), ValueError, ["no empty axis", "got (0, 4, 3)"]),
    "NaN in X": (
        lambda: MODEL(spoiled(X, np.nan)),
        ValueError,
        ["X: expected finite numbers", "(5, 4, 3)"],
    ),
    "X a list": (
        lambda: MODEL(X.tolist()),
        TypeError,
        ["X: expected a numpy array or a torch tensor", "got list"],
    ),
    "X of objects": (
        lambda: MODEL(X.astype(object)),
        TypeError,
        ["X: expected real numbers", "dtype object; X.astype(float) has them"],
    ),
    "X in another order of bytes": (
        lambda: MODEL(X.astype(">f8")),
        TypeError,
        ["X: expected floating-point", ">f8; X.astype(float) has them"],
    ),
    "X of whole numbers in torch": (
        lambda: MODEL.map(torch.as_tensor)(torch.ones(5, 4, 3, dtype=int)),
        TypeError,
        ["X: expected floating-point", "torch.int64; X.double() has them"],
    ),
    "X sparse in torch": (
        lambda: MODEL.map(torch.as_tensor)(torch.tensor(X).to_sparse()),
        TypeError,
        ["X: expected a dense tensor", "X.to_dense() makes one"],
    ),
    "X in torch": (
        lambda: MODEL(torch.tensor(X)),
        TypeError,
        ["mixed", "X is torch", "W is numpy", "as_tensor"],
    ),
    "X in float32": (
        lambda: MODEL(single(X)),
        TypeError,
        ["one dtype", "X has float32", "W has float64"],
    ),
    "labels 0 and 1": (
        lambda: MODEL.loss(X, (Y + 1) / 2),
        ValueError,
        ["y: expected labels −1 and +1", "got 0, 1", "use y = 2.0 * y - 1"],
    ),
    "NaN in y": (
        lambda: MODEL.loss_and_grad(X, spoiled(Y, np.nan)),
        ValueError,
        ["y: expected finite numbers"],
    ),
    "labels of truth values": (
        lambda: MODEL.loss(X, Y > 0),
        TypeError,
        ["y: expected labels −1 and +1", "dtype bool; use y = 2.0 * y - 1"],
    ),
    "no batch": (lambda: MODEL.loss(None, Y), TypeError, ["X: expected a numpy array", "NoneType"]),
    "labels integer": (
        lambda: MODEL.loss(X, Y.astype(int)),
        TypeError,
        ["y: expected floating-point", "int64; y.astype(float)"],
    ),
    "labels in torch": (
        lambda: MODEL.loss(X, torch.tensor(Y)),
        TypeError,
        ["mixed", "y is torch", "X is numpy"],
    ),
    "labels in float32": (
        lambda: MODEL.hvp(X, single(Y), MODEL),
        TypeError,
        ["y has float32", "X has float64"],
    ),
    "direction no model": (
        lambda: MODEL.hvp(X, Y, MODEL.ravel()),
        TypeError,
        ["V: expected a direction like MultiHeadAttention(W (2, 3, 3), U (2, 4, 3)", "ndarray"],
    ),
    "direction too small": (
        lambda: MODEL.hvp(X, Y, direction(problem(H=1).model)),
        ValueError,
        ["U (2, 4, 3)", "got MultiHeadAttention(W (1, 3, 3), U (1, 4, 3)"],
    ),
    "direction in torch": (
        lambda: MODEL.hvp(X, Y, MODEL.map(torch.tensor)),
        TypeError,
        ["mixed", "V is torch"],
    ),
    "direction in float32": (
        lambda: MODEL.hvp(X, Y, MODEL.map(single)),
        TypeError,
        ["V has float32"],
    ),
    "workspace of wrong labels": (
        lambda: MODEL.workspace(X, Y[:3]),
        ValueError,
        ["y: expected shape (5,)"],
    ),
    "workspace of wrong tokens": (
        lambda: MODEL.workspace(X[:, :2], Y),
        ValueError,
        ["X: expected shape (n, 4, 3)"],
    ),
    "features of wrong tokens": (
        lambda: MODEL.features(X[..., :2]),
        ValueError,
        ["X: expected shape (n, 4, 3)"],
    ),
    "kernel of mixed libraries": (
        lambda: mha.gaussian.scores(X, torch.tensor(X)),
        TypeError,
        ["mixed"],
    ),
    "kernel of no key": (
        lambda: mha.softmax(np.ones((2, 0))),
        ValueError,
        ["S: expected scores", "got (2, 0)"],
    ),
    "kernel of two dimensions": (
        lambda: mha.softmax.scores(X, X[..., :2]),
        ValueError,
        ["Q, K: expected queries", "same d", "got (5, 4, 3) and (5, 4, 2)"],
    ),
    "a pullback that would be broadcast": (
        lambda: mha.softmax.vjp(X, X[0]),
        ValueError,
        ["A, dA: expected dA of the shape of A", "(5, 4, 3) and dA (4, 3)"],
    ),
}
DATASETS = {
    "ζT not whole": (
        lambda: mixture(T=10, zeta=0.25),
        ValueError,
        ["zeta * T to be a whole number", "zeta = 0.25", "T = 10", "2.5"],
    ),
    "ζ = 0": (lambda: mixture(zeta=0.0), ValueError, ["zeta: expected", "between 1 and T"]),
    "ζ > 1": (lambda: mixture(T=5, zeta=1.2), ValueError, ["zeta: expected", "6"]),
    "too many patterns": (lambda: mixture(M=7, d=8), ValueError, ["M + 2 = 9", "d = 8"]),
    "n = 0": (lambda: mixture(n=0), ValueError, ["n: expected a whole number ≥ 1", "got 0"]),
    "S = 0": (lambda: mixture(S=0.0), ValueError, ["S: expected a finite number > 0", "got 0.0"]),
    "σ negative": (
        lambda: mixture(sigma=-0.1),
        ValueError,
        ["sigma: expected a finite number ≥ 0", "-0.1"],
    ),
    "a strength that would never end": (
        lambda: mha.data.planted(n=4, strength=1e308),
        ValueError,
        ["strength: expected", "below 1e+100", "1e+308"],
    ),
    "a path of no dash": (
        lambda: mha.data.Pathfinder(dashes=0),
        ValueError,
        ["dashes: expected", "got 0"],
    ),
    "a teacher of other sizes": (
        lambda: mha.data.random_sequences(
            N=2, n=3, D=2, teacher=mha.AttentionLayer.random(5, 2, 1)
        ),
        ValueError,
        ["teacher: expected targets (N, n, m) of tokens (2, 3, 2)", "X: expected shape (N, n, 5)"],
    ),
    "random sequences of which there are no more": (
        lambda: mha.data.random_sequences().fresh(),
        ValueError,
        ["fresh: expected", "got SequenceDataset(N=8, n=4"],
    ),
    "a sample that is none": (
        lambda: DATA[[9]],
        ValueError,
        ["data[kept]: expected", "5 samples", "got [9]"],
    ),
    "one sample without its axis": (
        lambda: DATA[3],
        ValueError,
        ["data[kept]: expected", "got 3; data[[0]] has the first one"],
    ),
    "no sample": (lambda: DATA[5:], ValueError, ["data[kept]: expected", "got a slice"]),
    "a share of no sample": (
        lambda: DATA.split(test=0.05),
        ValueError,
        ["test: expected a share that leaves samples on both sides, got 0.05 of 5"],
    ),
    "a share of all samples": (lambda: DATA.split(test=1), ValueError, ["test: expected", "got 1"]),
    "a split without a seed": (lambda: DATA.split(seed=None), ValueError, ["seed: expected"]),
    "no fresh sample": (lambda: mixture(n=2).fresh(n=0), ValueError, ["n: expected", "got 0"]),
    "too many digits": (
        lambda: digits(classes=(3, 8), n=357),
        ValueError,
        ["n: expected fewer than the 357 images", "(3, 8)", "got 357"],
    ),
    "no digit": (lambda: digits(n=0), ValueError, ["n: expected a whole number ≥ 1"]),
    "one class": (lambda: digits(classes=(3, 3)), ValueError, ["two different digits", "(3, 3)"]),
    "no such class": (lambda: digits(classes=(3, 10)), ValueError, ["from 0 to 9", "(3, 10)"]),
    "too many fresh digits": (
        lambda: digits(n=200).fresh(n=158),
        ValueError,
        ["at most the 157 held-out", "158"],
    ),
    "fresh from arrays": (
        lambda: DATA.fresh(3),
        ValueError,
        ["fresh:", "from arrays", "no source"],
    ),
    "marks of other values": (
        lambda: mha.data.from_arrays(X, Y, 2 * np.ones((5, 4))),
        ValueError,
        ["relevant: expected marks", "got 2"],
    ),
    "a digit twice": (
        lambda: digits(classes=(3, 3, 8)),
        ValueError,
        ["two different digits", "(3, 3, 8)"],
    ),
    "a set of digits": (lambda: digits(classes={3, 8}), ValueError, ["two different digits"]),
    "no seed": (
        lambda: mixture(seed=None),
        ValueError,
        ["seed: expected a whole number ≥ 0", "None"],
    ),
    "seed negative": (lambda: digits(seed=-1), ValueError, ["seed: expected", "-1"]),
    "fresh seed fractional": (
        lambda: mixture(n=2).fresh(2, seed=1.5),
        ValueError,
        ["seed: expected", "1.5"],
    ),
    "one digit": (
        lambda: digits(classes=3),
        ValueError,
        ["classes: expected two different digits", "got 3"],
    ),
    "marks a list": (
        lambda: mha.data.from_arrays(X, Y, [[1]]),
        ValueError,
        ["relevant: expected", "(1, 1)"],
    ),
    "marks in words": (
        lambda: mha.data.from_arrays(X, Y, np.full((5, 4), "a")),
        TypeError,
        ["relevant: expected real numbers", "<U1"],
    ),
}
RUNS = {
    "lr = 0": (
        lambda: mha.GradientDescent(0.0),
        ValueError,
        ["lr: expected a positive number", "0.0"],
    ),
    "lr negative": (
        lambda: mha.Momentum(-0.1),
        ValueError,
        ["lr: expected a positive number", "-0.1"],
    ),
    "lr NaN": (
        lambda: mha.Adam(float("nan")),
        ValueError,
        ["lr: expected a positive number", "nan"],
    ),
    "lr infinite": (lambda: mha.GradientDescent(float("inf")), ValueError, ["lr: expected", "inf"]),
    "momentum of 1": (
        lambda: mha.Momentum(0.1, beta=1.0),
        ValueError,
        ["beta: expected a finite number ≥ 0 and below 1", "1.0"],
    ),
    "beta1 negative": (lambda: mha.Adam(0.1, beta1=-0.1), ValueError, ["beta1: expected", "-0.1"]),
    "beta2 of 1": (lambda: mha.Adam(0.1, beta2=1), ValueError, ["beta2: expected", "got 1"]),
    "lr a truth value": (
        lambda: mha.GradientDescent(True),
        ValueError,
        ["lr: expected a positive number", "True"],
    ),
    "lr function negative": (
        lambda: train(MODEL, DATA, mha.GradientDescent(lambda k: 1.0 - k), 5),
        ValueError,
        ["lr: expected a function that returns numbers ≥ 0", "-1.0", "step 2"],
    ),
    "eps of 0": (
        lambda: mha.Adam(0.1, eps=0.0),
        ValueError,
        ["eps: expected a finite number > 0", "0.0"],
    ),
    "lr beyond all floats": (
        lambda: mha.GradientDescent(10**400),
        ValueError,
        ["lr: expected a positive number", "got a whole number of 401 digits"],
    ),
    "lr function of words": (
        lambda: train(MODEL, DATA, mha.GradientDescent(lambda k: "x"), 2),
        ValueError,
        ["lr: expected a function that returns numbers ≥ 0", "got 'x' at step 0"],
    ),
    "lr function of nothing": (
        lambda: mha.GradientDescent(lambda: 0.1),
        ValueError,
        ["lr: expected a function of the step alone", "takes ()"],
    ),
    "lr function of more": (
        lambda: mha.Adam(lambda k, loss: 0.1),
        ValueError,
        ["lr: expected a function of the step alone", "takes (k, loss)"],
    ),
    "weights in torch, data in numpy": (
        lambda: train(OWN.map(torch.as_tensor), OF_OWN, STEP, 1),
        TypeError,
        ["from one library", "w is torch", "data.X is numpy"],
    ),
    "weights in single, data in double precision": (
        lambda: train(OWN.map(lambda a: a.astype("float32")), OF_OWN, STEP, 1),
        TypeError,
        ["expected one dtype", "w has float32", "data.y has float64", "astype("],
    ),
    "the same in torch": (
        lambda: train(
            OWN.map(torch.as_tensor), OF_OWN.map(torch.as_tensor).map(torch.Tensor.float), STEP, 1
        ),
        TypeError,
        ["expected one dtype", "w has torch.float64", "data.X has torch.float32", "a.float()"],
    ),
    "weights without numbers, data with": (
        lambda: train(
            OWN.map(lambda a: torch.empty(a.shape, device="meta")),
            OF_OWN.map(torch.as_tensor),
            STEP,
            1,
        ),
        TypeError,
        ["on one device", "w is on meta", "data.X is on cpu"],
    ),
    "whitening a word": (
        lambda: mha.StructureAware(whitening="a"),
        TypeError,
        ["whitening: expected a Whitening or None", "'a'"],
    ),
    "seed a word without minibatches": (
        lambda: train(MODEL, DATA, STEP, 1, seed="a"),
        ValueError,
        ["seed: ", "'a'"],
    ),
    "data that require a gradient": (
        lambda: train(MODEL, DATA.map(lambda a: torch.tensor(a, requires_grad=True)), STEP, 2),
        TypeError,
        ["X: expected numbers", "X.detach()"],
    ),
    "a run without numbers": (
        lambda: train(
            *(a.map(lambda a: torch.tensor(a, device="meta")) for a in (MODEL, DATA)), STEP, 2
        ),
        TypeError,
        ["X: expected numbers", "meta device"],
    ),
    "a run in bfloat16": (
        lambda: train(
            *(a.map(lambda a: torch.tensor(a).bfloat16()) for a in (MODEL, DATA)), STEP, 2
        ),
        TypeError,
        ["expected floating-point", "bfloat16"],
    ),
    "labels for a rule that whitens": (
        lambda: mha.StructureAware().on(DATA),
        TypeError,
        ["data: expected a RegressionDataset", "got a Dataset"],
    ),
    "only a number": (
        lambda: train(MODEL, DATA, STEP, 2, only=5),
        TypeError,
        ["only: expected some of ('W', 'U')"],
    ),
    "only an array": (
        lambda: MODEL.only(X),
        TypeError,
        ["only: expected", "got an ndarray of shape (5, 4, 3)"],
    ),
    "a slice of no data": (
        lambda: mha.landscape.slice(MODEL, None, MODEL, MODEL),
        TypeError,
        ["data: expected a dataset with arrays X and y", "got None", "livegrad.Samples"],
    ),
    "a Hessian of no model": (
        lambda: mha.landscape.hessian(None, DATA),
        TypeError,
        ["model: expected a model such as", "got None"],
    ),
    "a line from a number": (
        lambda: mha.landscape.interpolation(3.0, MODEL, DATA),
        TypeError,
        ["first: expected a model such as", "got 3.0"],
    ),
    "a line to another size": (
        lambda: mha.landscape.interpolation(MODEL, problem(T=5).model, DATA),
        ValueError,
        ["second: expected a point like MultiHeadAttention(W (2, 3, 3)", "U (2, 5, 3)"],
    ),
    "a direction of words": (
        lambda: mha.landscape.direction(MODEL, "abc"),
        TypeError,
        ["vector: expected", "'abc'"],
    ),
    "no matrix": (
        lambda: mha.plots.matrix(np.zeros((0, 3))),
        ValueError,
        ["Z: expected a matrix, not empty", "(0, 3)"],
    ),
    "attention of all heads": (
        lambda: mha.plots.attention(MODEL.attention(X)),
        ValueError,
        ["A: expected a matrix", "got shape (5, 2, 4, 4)"],
    ),
    "curves of two lengths": (
        lambda: mha.plots.curves([1, 2, 3], {"loss": [1.0, 0.5]}),
        ValueError,
        ["named: expected for loss as many values as there are x, 3, got 2"],
    ),
    "an array for a model": (
        lambda: train(X, DATA, STEP, 5),
        TypeError,
        ["model: expected a model", "got ndarray"],
    ),
    "record of nothing": (
        lambda: train(MODEL, DATA, STEP, 5, record=[]),
        ValueError,
        ["record: expected", "none"],
    ),
    "record a word": (
        lambda: train(MODEL, DATA, STEP, 5, record="all"),
        ValueError,
        ["record: expected", "'a'"],
    ),
    "an array for a dataset": (
        lambda: train(MODEL, X, STEP, 5),
        TypeError,
        ["data: expected a dataset", "got ndarray", "livegrad.Samples"],
    ),
    "an array for a test set": (
        lambda: train(MODEL, DATA, STEP, 5, test=X),
        TypeError,
        ["test: expected a dataset"],
    ),
    "record between steps": (
        lambda: train(MODEL, DATA, STEP, 5, record=[0, 1.5]),
        ValueError,
        ["record: expected whole numbers between 0 and 5", "1.5"],
    ),
    "record a fraction": (
        lambda: train(MODEL, DATA, STEP, 5, record=2.5),
        TypeError,
        ["record: expected", "2.5"],
    ),
    "steps negative": (
        lambda: train(MODEL, DATA, STEP, steps=-1),
        ValueError,
        ["steps: expected", "-1"],
    ),
    "steps fractional": (
        lambda: train(MODEL, DATA, STEP, steps=2.5),
        ValueError,
        ["steps: expected", "2.5"],
    ),
    "record of one": (
        lambda: train(MODEL, DATA, STEP, 5, record=1),
        ValueError,
        ["record: expected at least 2", "1"],
    ),
    "record beyond the end": (
        lambda: train(MODEL, DATA, STEP, 5, record=[0, 6]),
        ValueError,
        ["record: expected whole numbers between 0 and 5", "6"],
    ),
    "record before the start": (
        lambda: train(MODEL, DATA, STEP, 5, record=[-1]),
        ValueError,
        ["record:", "-1"],
    ),
    "data that do not fit": (
        lambda: train(problem(T=5).model, DATA, STEP, 5),
        ValueError,
        ["X: expected shape (n, 5, 3)", "got (5, 4, 3)"],
    ),
    "test that does not fit": (
        lambda: train(MODEL, DATA, STEP, 5, test=mixture(n=2)),
        ValueError,
        ["X: expected shape (n, 4, 3)", "got (2, 10, 8)"],
    ),
    "data in torch": (lambda: train(MODEL, DATA.map(torch.tensor), STEP, 5), TypeError, ["mixed"]),
    "data in float32": (lambda: train(MODEL, DATA.map(single), STEP, 5), TypeError, ["one dtype"]),
    "test in torch": (
        lambda: train(MODEL, DATA, STEP, 5, test=DATA.map(torch.tensor)),
        TypeError,
        ["mixed"],
    ),
    "unknown curve": (
        lambda: train(MODEL, DATA, STEP, 5).losses,
        AttributeError,
        ["no curve 'losses'", "it recorded accuracy, grad_norm, loss, norm_U, norm_W"],
    ),
    "unknown statement": (
        lambda: mhabook.ledger["prop-7"],
        KeyError,
        ["no statement 'prop-7'", "prop-1-gradient"],
    ),
    "unknown name": (lambda: mha.no_such_thing, AttributeError, ["no attribute 'no_such_thing'"]),
}
SHORT = mha.data.planted(n=5, T=1, d=3).truth  # the teacher of samples of one token
REGRESSION = {"A": X[0, :2], "B": X[1, :3], "x": X[2], "y": X[3, :, :2]}  # n = 4, d = 3, p = 2
CORNERS = {"features": X[0], "y": np.ones(4), "theta": np.eye(3)[0], "weights": np.full(4, 0.25)}
START = starts.near(0)
NEAR = mha.AttentionLayer.random(12, 2, 1), mha.data.random_sequences(2, 3, 12).X
AXIS = np.arange(3.0)


def gradient(**change):
    return tilting.gradient(**REGRESSION | change)


def margin(**change):
    return max_margin.margin_is_a_distance(**CORNERS | change)


def trained(lr):
    return convergence.training(**START | {"lr": lr})


def segment(points):
    return loss_bounds.quasi_convexity(MODEL, MODEL, DATA, points=points)


def cost(N=X[0, :2], V=X[1, :3]):
    return factorization.regularized_excess(X[0, :2], V, N)


def late(target, lr=0.5):
    return data_and_compute.late_eigenvalues(target, lr)


def differences(loss):
    return smoothness.differences(loss, AXIS, AXIS)


STATEMENTS = {
    "a teacher of other tokens": (
        lambda: planted.alignment(MODEL, SHORT),
        ValueError,
        ["truth.U: expected shape (4, 3)", "got (1, 3)"],
    ),
    "a cosine of two shapes": (
        lambda: planted.cosine(np.ones((3, 3)), np.ones(3)),
        ValueError,
        ["a, b: expected arrays of one shape, got (3, 3) and (3,)"],
    ),
    "a cosine of two libraries": (
        lambda: planted.cosine(np.ones(3), torch.ones(3)),
        TypeError,
        ["mixed", "a is numpy", "b is torch"],
    ),
    "heads against a row": (
        lambda: planted.alignment_of_heads(MODEL.W, np.ones(3)),
        ValueError,
        ["teacher: expected shape (3, 3)", "got (3,)"],
    ),
    "heads that are no heads": (
        lambda: planted.alignment_of_heads(MODEL.W[0], np.ones(3)),
        ValueError,
        ["heads: expected shape (H, p, q)", "got (3, 3)"],
    ),
    "heads of two libraries": (
        lambda: planted.alignment_of_heads(MODEL.W, torch.ones(3, 3)),
        TypeError,
        ["mixed", "heads is numpy", "teacher is torch"],
    ),
    "targets of one sample": (
        lambda: gradient(y=np.ones((1, 2))),
        ValueError,
        ["y: expected shape (4, 2)", "(1, 2)"],
    ),
    "targets in torch": (
        lambda: gradient(y=torch.tensor(REGRESSION["y"])),
        TypeError,
        ["mixed", "y is torch"],
    ),
    "scores of another dimension": (
        lambda: gradient(B=np.eye(2)),
        ValueError,
        ["B: expected shape (3, 3)", "(2, 2)"],
    ),
    "tokens of another dimension": (
        lambda: gradient(x=np.ones((4, 2))),
        ValueError,
        ["x: expected shape (n, 3)"],
    ),
    "outputs of no rank": (
        lambda: gradient(A=np.ones(3)),
        ValueError,
        ["A: expected shape (p, d)", "got (3,)"],
    ),
    "a target of one row": (
        lambda: cost(np.ones((1, 3))),
        ValueError,
        ["N: expected shape (2, 3)", "got (1, 3)"],
    ),
    "a factor of another dimension": (
        lambda: cost(V=np.ones((2, 3))),
        ValueError,
        ["V: expected shape (3, 3)", "(2, 3)"],
    ),
    "a target in float32": (
        lambda: cost(single(X[0, :2])),
        TypeError,
        ["one dtype", "N has float32"],
    ),
    "one label for all": (
        lambda: margin(y=np.ones(1)),
        ValueError,
        ["y: expected shape (4,)", "got (1,)"],
    ),
    "a matrix of directions": (
        lambda: margin(theta=np.eye(3)),
        ValueError,
        ["theta: expected shape (3,)", "(3, 3)"],
    ),
    "a column of weights": (
        lambda: margin(weights=np.ones((4, 1))),
        ValueError,
        ["weights: expected shape (4,)"],
    ),
    "a direction in torch": (
        lambda: margin(theta=torch.ones(3, dtype=float)),
        TypeError,
        ["mixed", "theta is torch"],
    ),
    "features in torch alone": (
        lambda: max_margin.max_margin(torch.tensor(X[0]), np.ones(4)),
        TypeError,
        ["mixed", "y is numpy", "features is torch"],
    ),
    "scores beyond a quadrature": (
        lambda: tilting.tilting(np.array([6.1]), np.eye(1)),
        ValueError,
        ["b, Sigma: expected", "up to 6", "40 nodes", "got 6.1"],
    ),
    "scores beyond that of a query": (
        lambda: finite_context.query(np.array([5.0, 0]), np.eye(2)),
        ValueError,
        ["b, Sigma: expected", "τ = √(bᵀΣb) up to 3", "got 5"],
    ),
    "scores beyond that of a share": (
        lambda: tilting.effective(np.array([0, 1.0]), 16 * np.eye(2)),
        ValueError,
        ["b, Sigma: expected", "up to 3", "got 4"],
    ),
    "scores of a row": (
        lambda: finite_context.query(np.ones((1, 2)), np.eye(2)),
        ValueError,
        ["b: expected shape (d,)"],
    ),
    "a covariance of other tokens": (
        lambda: finite_context.query(np.ones(2), np.eye(3)),
        ValueError,
        ["Sigma: expected shape (2, 2)", "got (3, 3)"],
    ),
    "no covariance": (
        lambda: tilting.tilting(np.ones(2), -np.eye(2)),
        ValueError,
        ["Sigma: expected", "definite"],
    ),
    "a covariance that is not symmetric": (
        lambda: tilting.tilting(np.ones(2), np.array([[1, 0.1], [0, 1]])),
        ValueError,
        ["Sigma: expected a symmetric", "0.1"],
    ),
    "R negative": (
        lambda: bounds.sharp_hessian_bound(MODEL, DATA, R=-3),
        ValueError,
        ["R: expected a finite number ≥ 0", "got -3"],
    ),
    "R NaN": (
        lambda: selection.head_scale(MODEL, DATA, R=np.nan),
        ValueError,
        ["R: expected", "got nan"],
    ),
    "R infinite": (
        lambda: loss_bounds.smoothness(MODEL, DATA, R=np.inf),
        ValueError,
        ["R: expected", "got inf"],
    ),
    "lr NaN in a theorem": (
        lambda: trained(np.nan),
        ValueError,
        ["lr: expected a finite number > 0", "got nan"],
    ),
    "lr negative in one step": (
        lambda: convergence.descent(MODEL, DATA, -0.1),
        ValueError,
        ["lr:", "-0.1"],
    ),
    "a loss below zero": (
        lambda: one_layer.near(*NEAR, share=-1),
        ValueError,
        ["share: expected", "got -1"],
    ),
    "eigenvalues of a vector": (
        lambda: late(np.ones(3)),
        ValueError,
        ["target: expected shape (p, d)", "got (3,)"],
    ),
    "eigenvalues of nothing": (
        lambda: late(np.ones((0, 2))),
        ValueError,
        ["target: expected", "empty", "(0, 2)"],
    ),
    "eigenvalues of zero": (
        lambda: late(np.zeros((2, 3))),
        ValueError,
        ["target: expected", "not zero", "(2, 3)"],
    ),
    "eigenvalues of no step": (
        lambda: late(np.eye(2), np.nan),
        ValueError,
        ["lr: expected", "got nan"],
    ),
    "a segment of no point": (
        lambda: segment(0),
        ValueError,
        ["points: expected a whole number ≥ 1", "got 0"],
    ),
    "a segment of one point": (
        lambda: segment(1),
        ValueError,
        ["points: expected a whole number ≥ 2", "got 1"],
    ),
    "a stack of grids": (
        lambda: differences(np.zeros((3, 3, 2))),
        ValueError,
        ["loss: expected a matrix", "(3, 3, 2)"],
    ),
    "a complex grid": (
        lambda: differences(1j * np.ones((3, 3))),
        ValueError,
        ["loss: expected", "complex128"],
    ),
}
CALLS = MODELS | BATCHES | DATASETS | RUNS | STATEMENTS


def test_no_two_calls_share_a_name():
    assert len(CALLS) == sum(map(len, (MODELS, BATCHES, DATASETS, RUNS, STATEMENTS)))


@pytest.mark.parametrize("call, error, words", CALLS.values(), ids=CALLS)
def test_bad_input_is_named(call, error, words):
    assert_refused(call, error, words)
