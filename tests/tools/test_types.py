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
OWN = """
from dataclasses import dataclass
from typing import assert_type
import numpy as np
from numpy.typing import NDArray
import livegrad as lg

Floats = NDArray[np.float64]

@dataclass(frozen=True, eq=False, repr=False)
class Mine(lg.Vector):
    w: Floats

    def loss(self, X: Floats, y: Floats) -> np.float64:
        return np.logaddexp(0, -y * (X.mean(axis=1) @ self.w)).mean()

class Signs:
    def start(self, theta: Mine) -> None:
        return None

    def step(self, theta: Mine, grad: Mine, state: None, k: int) -> tuple[Mine, None]:
        return theta - 0.1 * grad.map(np.sign), state

def last(path: lg.Path) -> float:
    return float(path.loss[-1])

part, test = data.split(test=0.25)
assert_type(part[:3], mha.Dataset)
composed: mha.Rule = mha.clip(norm=1.0) | mha.Adam(mha.Warmup(1.0, 5) * mha.Cosine(0.1, 50))
for each in (composed, Signs()):
    run = mha.train(Mine(np.zeros(8)), part, each, steps=5, test=test)
    assert_type(run, mha.Path[Mine])
    assert_type(run[-1] - 0.1 * run[0], Mine)
    assert_type(run.loss, Floats)
    print(last(run))
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
    (tmp_path / "own.py").write_text(f"# pyright: strict\n{START}{OWN}", "utf-8")
    for k, (line, _) in enumerate(WRONG.values()):
        (tmp_path / f"wrong_{k}.py").write_text(f"{START}{line}\n", "utf-8")
    said = checked("-p", tmp_path, "--pythonpath", sys.executable).stdout
    assert "right.py" not in said and "own.py" not in said, said
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
