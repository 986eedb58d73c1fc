"""The type checker reads what both packages say of their types: it refuses what does not fit, and
what says nothing."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = {"livegrad": ROOT, "mhalib": ROOT, "mhabook": ROOT / "book"}
START = """import mhalib as mha
data = mha.data.tokenized_mixture(n=8)
model = mha.MultiHeadAttention.zeros(H=1, T=10, d=8)
rule = mha.GradientDescent(lr=mha.Cosine(0.1, steps=5))
"""
RESEARCH = """# pyright: strict
from dataclasses import dataclass
from typing import assert_type

import livegrad as lg
import mhalib as mha
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class TwoLayers(lg.Vector):
    V: Floats
    w: Floats
    temperature: float = 1.0

    def __call__(self, X: Floats) -> Floats:
        A = mha.softmax(X @ X.mT / self.temperature)
        return np.tanh((A @ X).mean(axis=1) @ self.V) @ self.w

    def loss(self, X: Floats, y: Floats) -> np.float64:
        return np.logaddexp(0, -y * self(X)).mean()


class Signs:
    def start(self, theta: TwoLayers) -> None:
        return None

    def step(self, theta: TwoLayers, grad: TwoLayers, state: None, k: int) -> tuple[TwoLayers, None]:
        return theta - 0.1 * grad.map(np.sign), state


def last(path: lg.Path) -> float:
    return float(path.loss[-1])


def stop(path: mha.Path[TwoLayers]) -> bool:
    return last(path) < 0.01


def run(seed: int, rule: mha.Rule, data: mha.Dataset) -> mha.Path[mha.MultiHeadAttention]:
    start = mha.MultiHeadAttention.random(H=2, T=10, d=8, scale=0.3, seed=seed)
    return mha.train(start, data, rule, steps=20)


data, test = mha.data.tokenized_mixture(n=40).split(test=0.25)
assert_type(data[:3], mha.Dataset)
rng = np.random.default_rng(0)
model = TwoLayers(rng.standard_normal((8, 3)), rng.standard_normal(3))
loss, grad = model.loss_and_grad(data.X, data.y)
assert_type(model - 0.1 * model.hvp(data.X, data.y, grad), TwoLayers)
assert_type(mha.losses.logistic(mha.softmax(model.V)), Floats)
mha.check_gradient(model, data)

rule: mha.Rule = mha.clip(norm=1.0) | mha.Adam(mha.Warmup(0.1, 5) * mha.Cosine(1.0, 40))
path = mha.train(model, data, rule, steps=20, test=test, callback=stop)
path.save("run.npz")
saved: mha.Path[TwoLayers] = mha.load("run.npz", like=model)
path = mha.train(model, data, rule, steps=40, test=test, resume=saved)
signs = mha.train(model, data, Signs(), steps=10)
assert_type(signs, mha.Path[TwoLayers])
assert_type(signs[-1] - path[0], TwoLayers)
assert_type(path.test_loss, Floats)
assert_type(path.steps, NDArray[np.int64])
assert path.state is not None
assert_type(path.state.model, TwoLayers)

ends = mha.landscape.spectrum(path[-1], data, count=2)
assert_type(ends.values, Floats)
assert_type(ends.directions[-1], TwoLayers)
u = mha.landscape.random_direction(path[-1], seed=1)
plane = mha.landscape.slice(path[-1], data, u, ends.directions[-1], resolution=5)
assert_type(plane.loss, Floats)
assert_type(plane.at(0.1, 0.2), TwoLayers)
assert_type(mha.landscape.interpolation(signs[-1], path[-1], data), tuple[Floats, Floats])

runs = [run(seed, rule, data) for seed in range(3)]
bands = mha.plots.bands(runs[0].steps, {"Adam": [each.loss for each in runs]})
print(bands, mha.plots.training(runs[0]), path.stopped)
live = mha.live.figure(model, data, mha.Adam(0.01), steps=20, controls={"lr": [0.01, 0.1]})
assert_type(live.path(lr=0.1)[-1], TwoLayers)
live.save("figure.html")
"""
RIGHT = "path = mha.train(model - 0.1 * model, data, rule, steps=5, record=[0, 5])\nprint(path.loss, path[-1].W)\n"
WRONG = {
    "a word for a number": ("mha.train(model, data, rule, steps='many')", "reportArgumentType"),
    "no steps": ("mha.train(model, data, rule)", "reportCallIssue"),
    "an argument that is none": ("mha.data.tokenized_mixture(samples=8)", "reportCallIssue"),
    "data for the model": ("mha.train(data, data, rule, steps=5)", "reportArgumentType"),
    "a model for the rule": ("mha.train(model, data, model, steps=5)", "reportArgumentType"),
    "a list for an array": ("model.loss([[1.0]], data.y)", "reportArgumentType"),
}


def checked(*arguments, more=ROOT):
    """What the checker of this environment says, with the packages of the working tree."""
    paths = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(map(str, (more, ROOT, ROOT / "book"))),
    }
    return subprocess.run(
        [sys.executable, "-m", "basedpyright", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | paths,
    )


@pytest.mark.xdist_group("types")
def test_calls_that_do_not_fit_are_refused_and_others_are_not(tmp_path):
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}', "utf-8")
    (tmp_path / "right.py").write_text(START + RIGHT, "utf-8")
    (tmp_path / "research.py").write_text(RESEARCH, "utf-8")
    for k, (line, _) in enumerate(WRONG.values()):
        (tmp_path / f"wrong_{k}.py").write_text(f"{START}{line}\n", "utf-8")
    said = checked("-p", tmp_path, "--pythonpath", sys.executable).stdout
    assert "right.py" not in said and "research.py" not in said, said
    for k, (line, rule) in enumerate(WRONG.values()):
        part = said.split(f"wrong_{k}.py\n")[-1].split(".py\n")[0]
        assert rule in part, f"{line}: {said}"


@pytest.mark.xdist_group("types")
@pytest.mark.parametrize("package", PACKAGES)
def test_a_public_function_without_types_is_found(package, tmp_path):
    assert (
        package
        in re.search(r"for package in (.*);", (ROOT / "Makefile").read_text("utf-8"))[1].split()
    )
    shutil.copytree(
        PACKAGES[package] / package,
        tmp_path / package,
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    (tmp_path / package / "planted.py").write_text("def double(x):\n    return 2 * x\n", "utf-8")
    found = checked("--verifytypes", package, "--ignoreexternal", more=tmp_path)
    assert found.returncode == 1 and 'annotation for parameter "x" is missing' in found.stdout, (
        found.stdout
    )
