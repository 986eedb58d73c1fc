"""``import mhalib`` is light: what is slow to import waits until it is asked for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import mhalib as mha

ROOT = Path(__file__).parents[2]


def imported_with(statement):
    """The top-level modules that a fresh interpreter holds after a statement."""
    code = f"{statement}\nimport sys\nprint(*{{name.split('.')[0] for name in sys.modules}})"
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT
    )
    return set(run.stdout.split())


@pytest.mark.parametrize(
    "statement", ["import mhalib", "import mhalib; mhalib.data.tokenized_mixture(n=2).fresh(1)"]
)
def test_import_leaves_the_slow_ones_out(statement):
    modules = imported_with(statement)
    assert {"mhalib", "numpy"} <= modules
    assert not modules & {
        "torch",
        "plotly",
        "scipy",
        "sklearn",
        "ipywidgets",
        "anywidget",
        "joblib",
        "pandas",
    }


def test_the_compiler_comes_with_the_first_run():
    loaded = "import sys; print('livegrad.record' in sys.modules)"
    run = (
        "data = mha.data.tokenized_mixture(n=4, T=4, d=5, M=2, zeta=0.25); mha.train("
        "mha.MultiHeadAttention.zeros(1, 4, 5), data, mha.GradientDescent(1.0), 1)"
    )
    for before, there in (
        ("import mhalib as mha", "False"),
        (f"import mhalib as mha; {run}", "True"),
    ):
        code = f"{before}; {loaded}"
        said = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT
        ).stdout
        assert said.strip() == there


@pytest.mark.long
def test_warming_up_needs_no_run_before(tmp_path):
    code = "import mhalib as mha; print(mha.native.warm())"
    said = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"XDG_CACHE_HOME": str(tmp_path), "LIVEGRAD_COMPILED": "1"},
    ).stdout
    assert "MultiHeadAttention: " in said and "AttentionLayer(Gaussian" in said


def test_every_name_is_there():
    for name in mha.__all__:
        assert hasattr(mha, name), name
    assert isinstance(mha.__version__, str)


def test_oracles_know_nothing_of_ours():
    words = (ROOT / "tests" / "support" / "oracles.py").read_text("utf-8")
    assert not any(package in words for package in ("livegrad", "mhalib", "mhabook"))


def test_an_unknown_name_says_so():
    with pytest.raises(AttributeError, match="no attribute 'plotz'"):
        _ = mha.plotz


@pytest.mark.parametrize(
    "statement",
    [
        "import mhalib; mhalib.live",
        "from mhabook.c02_curvature import figure",
        "import mhabook; mhabook.exercise('ex-1-half')",
    ],
)
def test_what_is_a_widget_names_the_package_that_it_needs(statement):
    code = f"import sys\nsys.path[:0] = ['.', 'book']\nsys.modules['anywidget'] = None\n{statement}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.stderr.splitlines()[-1].startswith(
        "ImportError: live figures and fields for answers are widgets: pip install anywidget"
    )
