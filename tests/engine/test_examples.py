"""livegrad alone: its five examples train in Python, and by their own JavaScript, to the same curves;
nothing of the book is there."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from py_mini_racer import MiniRacer

import livegrad as lg
from livegrad.examples.two_layer_network import start, wave

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "livegrad" / "examples"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")
# What each is to show, of its curves.
SHOWN = {
    "logistic_regression": lambda path: path.length[-1] > 5 and (path.margin[1:] > 0).all(),
    "matrix_factorization": lambda path: path.unseen[-1] < 0.1 * path.unseen[0],
    "mixture": lambda path: abs(path.gap[-1] - 4) < 0.5 and abs(path.share[-1] - 0.7) < 0.1,
    "recurrence": lambda path: path.loss[-1] < 0.1 * path.loss[0],
    "two_layer_network": lambda path: path.loss[-1] < 0.01 * path.loss[0],
}


def figure(name):
    return import_module(f"livegrad.examples.{name}").figure()


def in_the_page(made, values):
    """The curves of a run by the figure's JavaScript."""
    v8 = MiniRacer()
    v8.eval(
        "globalThis.WebAssembly = undefined;" + made._esm.replace("export default", "const of =")
    )
    run = f"const run = of.run({json.dumps(made.spec)}, {json.dumps(values)}); run.advance();"
    return json.loads(v8.eval(f"{run} JSON.stringify(run.result)"))


@pytest.mark.parametrize("name", NAMES)
def test_an_example_trains_in_its_page_as_in_python(name):
    made = figure(name)
    lowest = {key: min(control.values) for key, control in made.controls.items()}
    for values in (made.values, made.values | lowest):
        path, found = made.path(**values), in_the_page(made, values)
        assert found["steps"] == path.steps.tolist()
        early = path.steps <= 100  # a recurrence enlarges rounding
        for curve, numbers in found["curves"].items():
            np.testing.assert_allclose(
                np.array(numbers)[early], path.curves[curve][early], rtol=1e-7, atol=1e-12
            )


@pytest.mark.parametrize("name", NAMES)
def test_an_example_shows_what_it_says(name):
    assert SHOWN[name](figure(name).path())


def calls(steps):
    """How many calls of the engine's functions a run takes that records its two ends."""
    found = []

    def see(frame, event, _):
        if event == "call" and frame.f_globals["__name__"].startswith("livegrad."):
            found.append(frame.f_code.co_qualname)

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        lg.train(
            start(), wave(), lg.GradientDescent(lr=0.1), steps, record=[0, steps], compiled=False
        )
    finally:
        sys.setprofile(before)
    return len(found)


def test_a_further_step_of_a_model_with_a_loss_alone_is_few_calls():
    calls(1)  # what is done once in a process
    assert calls(50) - calls(40) <= 10 * 20


def test_an_example_is_one_screen():
    assert len(NAMES) == 5
    for name in NAMES:
        assert len((FOLDER / f"{name}.py").read_text("utf-8").splitlines()) <= 60


def test_the_engine_needs_nothing_of_the_book(tmp_path):
    code = (
        "import sys; sys.modules |= dict.fromkeys(['mhalib', 'mhabook', 'sklearn', 'torch'])\n"
        "from runpy import run_module\n"
        f"for name in {NAMES}: run_module(f'livegrad.examples.{{name}}', run_name='__main__')"
    )
    subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}"],
        cwd=tmp_path,
        check=True,
    )
    assert sorted(path.stem for path in tmp_path.glob("*.html")) == NAMES
