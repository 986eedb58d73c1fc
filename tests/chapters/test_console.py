"""What is printed on a console that lacks arrows and Greek letters is written in letters that it
has."""

import os
import subprocess
import sys

from livegrad import console

PROGRAM = """
import sys
from dataclasses import dataclass
import ipywidgets, numpy as np, plotly.graph_objects as go
import mhalib as mha, mhabook
from mhabook.definitions import DEFINITIONS
from mhabook.ledger import along

@dataclass(frozen=True, eq=False, repr=False)
class Θ(mha.models.Vector):
    ω: np.ndarray

def η(λ=0.5):
    return go.Figure()

data = mha.data.tokenized_mixture(n=12, T=4, d=6, M=2, zeta=0.25, seed=0)
heads = mha.MultiHeadAttention.zeros(H=2, T=4, d=6)
figure = mha.live.heads(data)
path = mha.train(heads, data, mha.GradientDescent(lr=0.1), steps=3)
checks = [statement.check(0) for statement in list(mhabook.ledger)[:6]]
things = (
    path, path[-1:], heads, Θ(np.zeros(3)), data, mha.data.digits(n=4), figure, figure.controls,
    mha.data.linear_regression(n=9, d=2, p=2), mha.AttentionRegression.random(d=2, p=2),
    mha.explore(η, λ=(0.1, 0.9)), mha.GradientDescent(0.1), mha.Adam(0.1), mha.StructureAware(),
    mha.native.status(), mhabook.ledger, *mhabook.ledger, *checks, *DEFINITIONS,
    along(path, data, lambda *_: checks[1]), mhabook.laboratory(), mhabook.exercise("ex-11-radius"),
    mhabook.stored("exponents.npz"),
)
for encoding in ("ascii", "latin-1", "cp1252"):
    sys.stdout.reconfigure(encoding=encoding)
    for thing in things:
        print(thing, repr(thing), [thing])
"""


def test_everything_is_printed():
    here = {name: value for name, value in os.environ.items() if name != "LIVEGRAD_FIGURES"}
    command = [sys.executable, "-c", PROGRAM]
    printed = subprocess.run(
        command, capture_output=True, encoding="latin-1", env=here, check=False
    )
    assert printed.returncode == 0, printed.stderr[-800:]
    assert printed.stdout.count("loss 0.693 at step 0 -> ") == 9


def test_where_all_characters_are_there_a_text_stays(monkeypatch):
    text = "‖∇L(θ)‖ ≤ η, λ → ∞"
    assert console.printable(text) == text
    monkeypatch.setattr(sys, "stdout", None)  # without a console
    assert console.printable(text) == text
