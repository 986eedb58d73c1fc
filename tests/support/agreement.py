"""The table of runs on which the browser's engine and mhalib must agree: shapes, starts, rules, step sizes."""

import json
import warnings
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

import mhalib as mha
from mhabook.c02_curvature import loss_bounds
from mhabook.frames import mixture_draws
from mhabook.ledger import along
from mhalib.live.frames import RULES as OFFERED
from mhalib.live.payload import arrays
from mhalib.models.multihead import normals

DECAY = 0.1
RULES = OFFERED | {"adamw": lambda lr: mha.AdamW(lr, weight_decay=DECAY)}
CURVES = ("loss", "grad_norm", "accuracy", "attention_score", "norm_W", "norm_U", "test_loss")
SPECTRUM = ("sharpness", "negative_curvature", "smoothness_bound", "weak_convexity_bound")
RUN = """function runAll(engine, spec, values) {
  const training = engine.run(spec, values);
  training.advance();
  return JSON.stringify(training.result, (key, x) => (Number.isFinite(x) || typeof x !== "number" ? x : String(x)));
}"""


@dataclass(frozen=True)
class Case:
    """One run: sizes, start (scale 0: zeros), rule, step size, and how many of its steps are compared."""

    n: int = 17
    T: int = 5
    d: int = 6
    M: int = 3
    H: int = 3
    zeta: float = 0.2
    sigma: float = 0.3
    scale: float = 0.0
    optimizer: str = "gd"
    lr: float = 0.3
    steps: int = 120
    shortcut: bool = True
    spectrum: bool = False

    def __str__(self):
        changed = [f"{name}={value}" for name, value in vars(self).items() if value != getattr(Case, name)]
        return " ".join(changed) or "default"

    @property
    def data(self):
        sizes = {name: getattr(self, name) for name in ("n", "T", "d", "M", "zeta", "sigma")}
        return mha.data.tokenized_mixture(**sizes, seed=3)

    @property
    def curves(self):
        return CURVES + (SPECTRUM if self.spectrum else ())

    @property
    def record(self):
        return list(range(0, self.steps + 1, 1 if self.steps <= 20 else 10))

    def spec(self):
        """What the engine reads: the training set as draws, the test set as arrays."""
        stream = normals(self.H * (self.d ** 2 + self.T * self.d), 5).tolist()
        return {"model": "multihead", "test": arrays(self.data.fresh(seed=1)), "record": self.record,
                "data": mixture_draws(self.data.truth, self.n, (3, 1)),
                "start": {"kind": "normal", "stream": stream} if self.scale else {"kind": "zeros"},
                "fixed": {"H": self.H, "scale": self.scale, "optimizer": self.optimizer, "weight_decay": DECAY,
                          "shortcut": self.shortcut},
                "curves": self.curves, "final": ["attention", "token_names", "test_accuracy"]}

    def values(self):
        return {"lr": self.lr, "zeta": self.zeta, "sigma": self.sigma}

    def path(self):
        """The same run by mhalib."""
        data, rule = self.data, RULES[self.optimizer](self.lr)
        model = mha.MultiHeadAttention.zeros(self.H, self.T, self.d)
        if self.scale:
            model = mha.MultiHeadAttention.random(self.H, self.T, self.d, scale=self.scale, seed=5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # the diverging ones say so
            path = mha.train(model, data, rule, self.steps, test=data.fresh(seed=1), record=self.record)
        return replace(path, curves=path.curves | (self._spectrum(path, data) if self.spectrum else {}))

    def _spectrum(self, path, data):
        hessians = (sum(loss_bounds.loss_hessian(model, data)) for model in path.models)
        ends = np.array([np.linalg.eigvalsh(hessian)[[0, -1]] for hessian in hessians])
        bounds = {"smoothness_bound": loss_bounds.smoothness,
                  "weak_convexity_bound": loss_bounds.self_bounded_weak_convexity}
        return {"sharpness": ends[:, 1], "negative_curvature": -ends[:, 0]} | {
            name: along(path, data, bound).rhs for name, bound in bounds.items()}


SHAPES = ({}, {"n": 1, "T": 2, "d": 3, "M": 1, "zeta": 0.5, "H": 2},
          {"n": 24, "T": 8, "d": 7, "M": 5, "zeta": 0.25, "H": 1})
STABLE = [Case(scale=scale, optimizer=rule, lr=lr, **shape) for shape, scale, rule, lr in
          product(SHAPES, (0.0, 0.5), RULES, (0.03, 0.3))]
STABLE += [Case(H=16, shortcut=shortcut, optimizer=rule) for shortcut in (True, False) for rule in RULES]
STABLE += [Case(scale=scale, H=H, spectrum=True) for scale, H in ((0.1, 1), (0.5, 3), (2.0, 2))]
STABLE += [Case(sigma=0.0), Case(sigma=2.0, zeta=0.6), Case(n=100, T=10, d=8, M=4, zeta=0.1, H=4, steps=200)]
# Above the threshold of stability each step enlarges what rounding left: the first 20 steps are compared.
UNSTABLE = [Case(scale=scale, optimizer=rule, lr=lr, steps=20) for scale, rule, lr in
            product((0.0, 1.0), ("gd", "momentum", "adam"), (10.0, 100.0))]
DIVERGING = [Case(optimizer=rule, lr=lr) for rule, lr in product(("gd", "momentum"), (1e200, 1e308))]
DIVERGING += [Case(scale=0.5, optimizer=rule, lr=1e308) for rule in ("gd", "momentum", "adam")]
TABLE = [*STABLE, *UNSTABLE, *DIVERGING]


def assert_agrees(case, result):
    """The engine's result is mhalib's path: 1e-9 of each value, wherever the loss is above 1e-12."""
    path, result = case.path(), json.loads(result)
    assert result["stopped"] == stopped_at(path)
    assert result["steps"] == path.steps.tolist()
    if not len(path):
        return
    above = path.loss > 1e-12
    for name in case.curves:
        expected, found = path.curves[name], np.array(result["curves"][name], dtype=float)
        np.testing.assert_allclose(found[above], expected[above], rtol=1e-9, atol=0, err_msg=f"{name} of {case}")
    attention = path[-1].attention(case.data.X[:1])[0].mean(axis=0)
    np.testing.assert_allclose(result["final"]["attention"], attention, rtol=0, atol=1e-9)
    assert result["final"]["test_accuracy"] == path.test_accuracy[-1]
    starred = [name.endswith("★") for name in result["final"]["token_names"]]
    assert starred == case.data.relevant[0].tolist()


def stopped_at(path):
    """The step at which mhalib's run ended early, or None."""
    if path.stopped is None:
        return None
    words = path.stopped.replace(")", " ").split()
    return int(words[words.index("step") + 1])
