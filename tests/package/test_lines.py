"""What is refused is told by the line of the reader's formula, wherever that stands."""

import importlib
import sys
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

import mhalib as mha
from livegrad.record import trace

MODEL = """from dataclasses import dataclass
import numpy as np, statistics, mhalib as mha

@dataclass
class Kept:
    of: object

@dataclass(frozen=True, eq=False)
class Model(mha.models.Vector):
    w: np.ndarray

    def loss(self, X, y):
        z = X @ self.w - y
        return ({})
"""
LINE = 14
ASKS = {
    "a function of numpy": "np.median(z**2)",
    "another library": "statistics.fmean(z)",
    "this package, with what it cannot record": "mha.softmax(z.astype('float32')).sum()",
    "what a dataclass compares": "0.0 if Kept(z) == Kept(z + 1) else 1.0",
}


def executed(text, folder):
    made = {}
    exec(text, made)
    return made["Model"]


def compiled(text, folder):
    made = {"__name__": "anything"}
    exec(compile(text, "<mine>", "exec"), made)
    return made["Model"]


def in_a_folder_of_packages(text, folder):
    (folder / "my-packages").mkdir()
    return imported(text, folder / "my-packages", folder / "my-packages" / "own_lines.py")


def imported(text, path, file):
    file.write_text(text)
    return found(path)


def found(path):
    sys.path.insert(0, str(path))
    try:
        sys.modules.pop("own_lines", None)
        importlib.invalidate_caches()
        return importlib.import_module("own_lines").Model
    finally:
        sys.path.remove(str(path))


def in_an_archive(text, folder):
    with zipfile.ZipFile(folder / "own.zip", "w") as archive:
        archive.writestr("own_lines.py", text)
    return found(folder / "own.zip")


def in_a_cell(text, folder):
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # whose place it takes
        shell = InteractiveShell()
        shell.run_cell(text).raise_error()
    return shell.user_ns["Model"]


PLACES = [executed, compiled, in_a_folder_of_packages, in_an_archive, in_a_cell]


@pytest.mark.parametrize("asks", ASKS)
@pytest.mark.parametrize("place", PLACES)
def test_the_line_is_that_of_the_formula(place, asks, tmp_path):
    model = place(MODEL.format(ASKS[asks]), tmp_path)
    assert_named(model)


@pytest.mark.parametrize("asks", ASKS)
def test_a_formula_that_is_installed_has_its_own_line(asks, tmp_path, monkeypatch):
    monkeypatch.setattr(trace, "_INSTALLED", (*trace._INSTALLED, f"{tmp_path}/"))
    assert_named(imported(MODEL.format(ASKS[asks]), tmp_path, tmp_path / "own_lines.py"))


def assert_named(model):
    file = model.loss.__code__.co_filename.rpartition("/")[2]
    data = SimpleNamespace(X=np.eye(3), y=np.ones(3))
    with pytest.raises(TypeError) as error:
        mha.train(model(np.zeros(3)), data, mha.GradientDescent(0.1), 5)
    assert str(error.value).startswith(f"{file}, line {LINE}: ")


def test_a_formula_of_the_package_has_its_own_line():
    from mhalib.models import multihead

    heads = mha.MultiHeadAttention.random(H=2, T=4, d=6, seed=0)
    with trace.strictly():
        loss, _ = heads.map(lambda a: trace.array("a", a.shape)).loss_and_grad(
            trace.array("X", (5, 4, 6)), trace.array("y", (5,))
        )
    lines = {v.line.partition(",")[0] for v in trace.topological([loss.node]) if v.args}
    assert multihead.__file__.rpartition("/")[2] in lines
    assert "test_lines.py" not in lines
