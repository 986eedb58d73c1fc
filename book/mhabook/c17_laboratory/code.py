"""The lines of Python that repeat a run of the laboratory, said once for Python and for the browser."""

import json
import re

from mhabook.c17_laboratory.controls import CONTROLS, holds

# Name → (condition, text) pairs, of which the first that holds is taken. {name} is another of these, or the value of a
# control in Python.
PARTS = {
    "lines": (({}, "{imports}\n\ndata = {made}\n{begin}\nrule = {rule}\n"
                   "path = mha.train(model, data, rule, steps={steps}{only}{test}, record=40)"),),
    "imports": (({"start": ("first", "gaussian")}, "import mhalib as mha\nfrom mhabook.c03_first_step import ntk"),
                ({}, "import mhalib as mha")),
    "made": (
        ({"data": ("mixture",)}, "mha.data.tokenized_mixture(\n    n={n}, T={T}, d={d}, M={M}, "
                                 "zeta={relevant} / {T}, S={S}, sigma={sigma}, seed={seed})"),
        ({"data": ("planted",)}, "mha.data.planted(\n    n={n}, T={T}, d={d}, strength={strength}, flip={flip}, "
                                 "seed={seed})"),
        ({"data": ("digits",)}, "mha.data.digits(classes={classes}, n={n}, seed={seed})"),
        ({"data": ("pathfinder",)}, "mha.data.pathfinder(n={n}, patch={patch}, seed={seed})"),
        ({"data": ("linear",)}, "mha.data.linear_regression(\n    n={tokens}, d={dimension}, p={dimension}, "
                                "kappa={kappa}, s_max={s_max}, sigma={noise}, seed={seed})"),
        ({"data": ("sequences",)}, "mha.data.random_sequences(N={N}, n={length}, D={D}, seed={seed})"),
        ({}, "mha.data.from_file({file})")),
    "begin": (
        ({"start": ("zeros",)}, "model = mha.MultiHeadAttention.zeros({H}, *data.X.shape[1:])"),
        ({"start": ("first",)}, "model = ntk.first_phase(data, {H}, seed={start_seed})"),
        ({"start": ("gaussian",)}, "model = ntk.gaussian_of_equal_norm(data, {H}, seed={start_seed})"),
        ({"model": ("heads",)}, "model = mha.MultiHeadAttention.random(\n    {H}, *data.X.shape[1:], scale={scale}, "
                                "seed={start_seed})"),
        ({"start": ("spectral",)},
         "whitening = data.whitening()\nU, V = whitening.whiten(mha.AttentionRegression.spectral(data))\n"
         "signs = (V.sum(axis=0) > 0) * 2.0 - 1.0  # those of the decomposition are the library's affair\n"
         "model = mha.AttentionRegression(**whitening.arrays(U * signs, V * signs, data.x))"),
        ({"model": ("regression",)}, "model = mha.AttentionRegression.random(\n    d=data.x.shape[1], "
                                     "p=data.y.shape[1], scale={scale}, seed={start_seed})"),
        ({}, "model = mha.AttentionLayer.random(\n    D=data.X.shape[2], d={width}, m=data.y.shape[2], H={H}, "
             "scale={scale},\n    tied={keys}, kernel={kernel}, seed={start_seed})")),
    "rule": (
        ({"optimizer": ("gd",)}, "mha.GradientDescent({rate})"), ({"optimizer": ("momentum",)}, "mha.Momentum({rate})"),
        ({"optimizer": ("adam",)}, "mha.Adam({rate})"),
        ({"optimizer": ("adamw",)}, "mha.AdamW({rate}, weight_decay={decay})"),
        ({"optimizer": ("preconditioned",)}, "mha.Preconditioned({rate})"), ({}, "mha.StructureAware({rate})")),
    "rate": (
        ({"schedule": ("constant",)}, "{lr}"), ({"schedule": ("root",)}, "mha.InverseRoot({lr})"),
        ({"schedule": ("warmup",)}, "mha.Warmup({lr}, rise={steps} // 10)"),
        ({"schedule": ("cycle",)}, "mha.OneCycle({lr}, steps={steps})"), ({}, "mha.Cosine({lr}, steps={steps})")),
    "only": (({"model": ("heads", "regression")}, ""), ({"moves": ("WQ WK WV WO",)}, ""), ({}, ", only={moves}")),
    "test": (({"data": ("mixture", "planted")}, ", test=data.fresh(seed=1)"),
             ({"data": ("digits", "pathfinder")}, ", test=data.fresh(80)"), ({}, "")),
}


def code(values, file=None):
    """The lines for these values of the controls; ``file`` is the name of the reader's own file."""
    codes = {control.name: control.codes[control.values.index(values[control.name])] for control in CONTROLS}

    def filled(name):
        if name == "file":
            return json.dumps(file or "", ensure_ascii=False)  # a file may be called {n}.csv: its name is not filled in
        parts = (text for condition, text in PARTS.get(name, ()) if holds(condition, values))
        return re.sub(r"{(\w+)}", lambda inner: filled(inner[1]), next(parts, codes.get(name)))

    return filled("lines") + "\n"


def to_json():
    """What the browser reads."""
    return {name: [{"when": when, "text": text} for when, text in choices] for name, choices in PARTS.items()}
