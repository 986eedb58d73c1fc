"""A run of the laboratory in Python, and the lines that say it.

Both are made of the same texts: a reader sees them with the values of controls filled in, and what
runs has variables in their places.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

import mhalib as mha
from mhabook.c03_first_step import ntk
from mhabook.c17_laboratory.controls import (
    BY_NAME,
    HEADS,
    LAYER,
    LINEAR,
    MIXTURE,
    PLANTED,
    REGRESSION,
    matches,
)

LEFT = ("data", "model", "rule", "path")
"""The names that the lines leave, in their order."""
NTK = {"start": ("first", "gaussian")}
IMPORT, LINES = "import mhalib as mha\n", "\n{data}\n{model}\n{rule}\n{path}\n"

PIECES: dict[str, list[tuple[dict[str, tuple[str, ...]], str]]] = {
    "data": [
        (
            MIXTURE,
            "data = mha.data.tokenized_mixture(\n    n={n}, T={T}, d={d}, M={M}, zeta={relevant} "
            "/ {T}, S={S}, sigma={sigma}, seed={seed})",
        ),
        (
            PLANTED,
            "data = mha.data.planted(\n"
            "    n={n}, T={T}, d={d}, strength={strength}, flip={flip}, seed={seed})",
        ),
        ({"data": ("digits",)}, "data = mha.data.digits(classes={classes}, n={n}, seed={seed})"),
        (
            {"data": ("pathfinder",)},
            "data = mha.data.pathfinder(n={n}, patch={patch}, seed={seed})",
        ),
        (
            LINEAR,
            "data = mha.data.linear_regression(\n    n={tokens}, d={dimension}, p={dimension}, "
            "kappa={kappa}, s_max={s_max}, sigma={noise}, seed={seed})",
        ),
        (
            {"data": ("sequences",)},
            "data = mha.data.random_sequences(N={N}, n={length}, D={D}, seed={seed})",
        ),
        ({}, "data = mha.data.from_file({file})"),
    ],
    "model": [
        ({"start": ("zeros",)}, "model = mha.MultiHeadAttention.zeros({H}, *data.X.shape[1:])"),
        ({"start": ("first",)}, "model = ntk.first_phase(data, {H}, seed={start_seed})"),
        (
            {"start": ("gaussian",)},
            "model = ntk.gaussian_of_equal_norm(data, {H}, seed={start_seed})",
        ),
        (
            HEADS,
            "model = mha.MultiHeadAttention.random(\n"
            "    {H}, *data.X.shape[1:], scale={scale}, seed={start_seed})",
        ),
        (
            {"start": ("spectral",)},
            "whitening = data.whitening()\nU, V = "
            "whitening.whiten(mha.AttentionRegression.spectral(data))\nsigns = (V.sum(axis=0) > "
            "0) * 2.0 - 1.0  # those of the decomposition are the library's affair\nmodel = "
            "mha.AttentionRegression(**whitening.arrays(U * signs, V * signs, data.x))",
        ),
        (
            REGRESSION,
            "model = mha.AttentionRegression.random(\n"
            "    d=data.x.shape[1], p=data.y.shape[1], scale={scale}, seed={start_seed})",
        ),
        (
            {},
            "model = mha.AttentionLayer.random(\n"
            "    D=data.X.shape[2], d={width}, m=data.y.shape[2], H={H}, scale={scale},\n"
            "    tied={keys}, kernel={kernel}, seed={start_seed})",
        ),
    ],
    "kernel": [
        ({"kernel": ("softmax",)}, "mha.softmax"),
        ({"kernel": ("gaussian",)}, "mha.attention.Gaussian({c})"),
        ({}, "mha.attention.NormalizedGaussian({c})"),
    ],
    "rule": [
        ({"optimizer": ("gd",)}, "rule = mha.GradientDescent({rate})"),
        ({"optimizer": ("momentum",)}, "rule = mha.Momentum({rate})"),
        ({"optimizer": ("adam",)}, "rule = mha.Adam({rate})"),
        ({"optimizer": ("adamw",)}, "rule = mha.AdamW({rate}, weight_decay={weight_decay})"),
        ({"optimizer": ("preconditioned",)}, "rule = mha.Preconditioned({rate})"),
        ({}, "rule = mha.StructureAware({rate})"),
    ],
    "rate": [
        ({"schedule": ("constant",)}, "{lr}"),
        ({"schedule": ("root",)}, "mha.InverseRoot({lr})"),
        ({"schedule": ("warmup",)}, "mha.Warmup({lr}, rise={steps} // 10)"),
        ({"schedule": ("cycle",)}, "mha.OneCycle({lr}, steps={steps})"),
        ({}, "mha.Cosine({lr}, steps={steps})"),
    ],
    "path": [
        (
            {"data": ("mixture", "planted")},
            "path = mha.train(model, data, rule, steps={steps}, test=data.fresh(seed=1), "
            "record=40)",
        ),
        (
            {"data": ("digits", "pathfinder")},
            "path = mha.train(model, data, rule, steps={steps}, test=data.fresh(80), record=40)",
        ),
        (
            LAYER | {"moves": ("WQ WK WV", "WV", "WQ")},
            "path = mha.train(model, data, rule, steps={steps}, only={moves}, record=40)",
        ),
        ({}, "path = mha.train(model, data, rule, steps={steps}, record=40)"),
    ],
}
"""Name → pairs of a condition and a text, of which the first that holds is taken. {name} stands for
another of these, or for the value of a control; the names that the lines leave stand for
themselves."""


def run(values: Mapping[str, Any], file: str | None = None) -> dict[str, Any]:
    """What the lines leave for these values of the controls, by name; ``file`` is the path of the
    reader's own data."""
    names: dict[str, Any] = {"mha": mha, "ntk": ntk, "file": file}

    def ready(name):
        """The text of a piece, in which {name} is now a variable of this name."""
        text = _chosen(name, values)
        for inner in re.findall(r"{(\w+)}", text):
            if inner in PIECES:
                names[inner] = eval(ready(inner), names)
            elif inner != "file":
                names[inner] = BY_NAME[inner].in_python(values[inner])
        return re.sub(r"{(\w+)}", r"\1", text)

    # Only texts of PIECES run: values and the name of a file come in as variables, never as code.
    for name in LEFT:
        exec(ready(name), names)
    return {name: names[name] for name in LEFT}


def code(values: Mapping[str, Any], file: str | None = None) -> str:
    """The lines for these values of the controls."""

    def filled(name):
        if name == "file":
            # a file may be called {n}.csv: its name is not filled in
            return json.dumps(file or "", ensure_ascii=False)
        text = _chosen(name, values) or BY_NAME[name].code(values[name])
        return re.sub(r"{(\w+)}", lambda inner: filled(inner[1]), text)

    return filled("lines")


@cache
def to_json() -> dict[str, list[dict[str, Any]]]:
    """All pieces for the browser, and the lines that they fill."""
    lines = [
        (NTK, f"{IMPORT}from mhabook.c03_first_step import ntk\n{LINES}"),
        ({}, IMPORT + LINES),
    ]
    return {
        name: [{"when": when, "text": text} for when, text in choices]
        for name, choices in {"lines": lines, **PIECES}.items()
    }


def _chosen(name, values):
    """The text that the values choose; None of a name that is no piece."""
    return next(
        (choice["text"] for choice in to_json().get(name, ()) if matches(choice["when"], values)),
        None,
    )
