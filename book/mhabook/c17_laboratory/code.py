"""A run of the laboratory in Python: the pieces that it is built of, and the lines that say it.

The lines are the text of the pieces themselves, with the values of the controls where the arguments stand; so what the
page shows is what runs.
"""

import ast
import inspect
import json
import re
import sys
from collections.abc import Mapping
from functools import cache
from textwrap import dedent
from typing import Any

import mhalib as mha
from mhabook.c03_first_step import ntk
from mhabook.c17_laboratory.controls import BY_NAME, HEADS, LAYER, LINEAR, MIXTURE, PLANTED, REGRESSION, matches

LEFT = ("data", "model", "rule", "path")
"""The names that the lines leave."""
NTK, IMPORT, LINES = {"start": ("first", "gaussian")}, "import mhalib as mha\n", "\n{data}\n{model}\n{rule}\n{path}\n"


def _spectral(data):
    whitening = data.whitening()
    U, V = whitening.whiten(mha.AttentionRegression.spectral(data))
    signs = (V.sum(axis=0) > 0) * 2.0 - 1.0  # those of the decomposition are the library's affair
    return mha.AttentionRegression(**whitening.arrays(U * signs, V * signs, data.x))


# Name → (condition, piece) pairs, of which the first that holds is taken. Its arguments are other pieces, or values of
# controls; a lambda begins on a line of its own.
PIECES: dict[str, Any] = {
    "data": (
        (MIXTURE, lambda n, T, d, M, relevant, S, sigma, seed: mha.data.tokenized_mixture(
            n=n, T=T, d=d, M=M, zeta=relevant / T, S=S, sigma=sigma, seed=seed)),
        (PLANTED, lambda n, T, d, strength, flip, seed: mha.data.planted(
            n=n, T=T, d=d, strength=strength, flip=flip, seed=seed)),
        ({"data": ("digits",)}, lambda classes, n, seed: mha.data.digits(classes=classes, n=n, seed=seed)),
        ({"data": ("pathfinder",)}, lambda n, patch, seed: mha.data.pathfinder(n=n, patch=patch, seed=seed)),
        (LINEAR, lambda tokens, dimension, kappa, s_max, noise, seed: mha.data.linear_regression(
            n=tokens, d=dimension, p=dimension, kappa=kappa, s_max=s_max, sigma=noise, seed=seed)),
        ({"data": ("sequences",)}, lambda N, length, D, seed: mha.data.random_sequences(N=N, n=length, D=D, seed=seed)),
        ({}, lambda file: mha.data.from_file(file))),
    "model": (
        ({"start": ("zeros",)}, lambda data, H: mha.MultiHeadAttention.zeros(H, *data.X.shape[1:])),
        ({"start": ("first",)}, lambda data, H, start_seed: ntk.first_phase(data, H, seed=start_seed)),
        ({"start": ("gaussian",)}, lambda data, H, start_seed: ntk.gaussian_of_equal_norm(data, H, seed=start_seed)),
        (HEADS, lambda data, H, scale, start_seed: mha.MultiHeadAttention.random(
            H, *data.X.shape[1:], scale=scale, seed=start_seed)),
        ({"start": ("spectral",)}, _spectral),
        (REGRESSION, lambda data, scale, start_seed: mha.AttentionRegression.random(
            d=data.x.shape[1], p=data.y.shape[1], scale=scale, seed=start_seed)),
        ({}, lambda data, width, H, scale, keys, kernel, start_seed: mha.AttentionLayer.random(
            D=data.X.shape[2], d=width, m=data.y.shape[2], H=H, scale=scale,
            tied=keys, kernel=kernel, seed=start_seed))),
    "kernel": (
        ({"kernel": ("softmax",)}, lambda: mha.softmax),
        ({"kernel": ("gaussian",)}, lambda c: mha.attention.Gaussian(c)),
        ({}, lambda c: mha.attention.NormalizedGaussian(c))),
    "rule": (
        ({"optimizer": ("gd",)}, lambda rate: mha.GradientDescent(rate)),
        ({"optimizer": ("momentum",)}, lambda rate: mha.Momentum(rate)),
        ({"optimizer": ("adam",)}, lambda rate: mha.Adam(rate)),
        ({"optimizer": ("adamw",)}, lambda rate, weight_decay: mha.AdamW(rate, weight_decay=weight_decay)),
        ({"optimizer": ("preconditioned",)}, lambda rate: mha.Preconditioned(rate)),
        ({}, lambda rate: mha.StructureAware(rate))),
    "rate": (
        ({"schedule": ("constant",)}, lambda lr: lr),
        ({"schedule": ("root",)}, lambda lr: mha.InverseRoot(lr)),
        ({"schedule": ("warmup",)}, lambda lr, steps: mha.Warmup(lr, rise=steps // 10)),
        ({"schedule": ("cycle",)}, lambda lr, steps: mha.OneCycle(lr, steps=steps)),
        ({}, lambda lr, steps: mha.Cosine(lr, steps=steps))),
    "path": (
        ({"data": ("mixture", "planted")}, lambda data, model, rule, steps:
            mha.train(model, data, rule, steps=steps, test=data.fresh(seed=1), record=40)),
        ({"data": ("digits", "pathfinder")}, lambda data, model, rule, steps:
            mha.train(model, data, rule, steps=steps, test=data.fresh(80), record=40)),
        (LAYER | {"moves": ("WQ WK WV", "WV", "WQ")}, lambda data, model, rule, steps, moves:
            mha.train(model, data, rule, steps=steps, only=moves, record=40)),
        ({}, lambda data, model, rule, steps: mha.train(model, data, rule, steps=steps, record=40))),
}


def run(values: Mapping[str, Any], file: str | None = None) -> dict[str, Any]:
    """What the lines leave for these values of the controls, by name; ``file`` is the path of the reader's own data."""
    made = {"file": file}

    def value(name):
        if name in made:
            return made[name]
        if name not in PIECES:
            return BY_NAME[name].in_python(values[name])
        piece = next(piece for condition, piece in PIECES[name] if matches(condition, values))
        made[name] = piece(*map(value, _arguments(piece)))
        return made[name]

    return {name: value(name) for name in LEFT}


def code(values: Mapping[str, Any], file: str | None = None) -> str:
    """The lines for these values of the controls."""

    def filled(name):
        if name == "file":
            return json.dumps(file or "", ensure_ascii=False)  # a file may be called {n}.csv: its name is not filled in
        texts = (choice["text"] for choice in to_json().get(name, ()) if matches(choice["when"], values))
        text = next(texts, None) or BY_NAME[name].code(values[name])
        return re.sub(r"{(\w+)}", lambda inner: filled(inner[1]), text)

    return filled("lines")


@cache
def to_json() -> dict[str, list[dict[str, Any]]]:
    """The pieces as text for the browser, in which {name} is another of these, or the value of a control in Python."""
    texts = {"lines": [(NTK, f"{IMPORT}from mhabook.c03_first_step import ntk\n{LINES}"), ({}, IMPORT + LINES)]}
    texts |= {name: [(when, _text(piece, name)) for when, piece in choices] for name, choices in PIECES.items()}
    return {name: [{"when": when, "text": text} for when, text in choices] for name, choices in texts.items()}


def _text(piece, name):
    """The text of a piece, with {argument} for each argument that the lines do not leave."""
    line = piece.__code__.co_firstlineno
    text = f"return {_lambdas()[line]}" if line in _lambdas() else dedent(inspect.getsource(piece).partition("\n")[2])
    for argument in set(_arguments(piece)) - set(LEFT):
        text = re.sub(rf"(?<![\w.]){argument}(?![\w=])", f"{{{argument}}}", text)
    return re.sub("\n {8,}", "\n    ", text).replace("return ", f"{name} = " if name in LEFT else "").strip()


def _arguments(piece):
    return piece.__code__.co_varnames[:piece.__code__.co_argcount]


@cache
def _lambdas():
    """Line → the text of the lambda that begins there."""
    source = inspect.getsource(sys.modules[__name__])
    return {node.lineno: ast.get_source_segment(source, node.body)
            for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Lambda)}
