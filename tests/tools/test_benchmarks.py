"""The benchmarks compare with what is installed, and name what is not."""

import sys
from types import ModuleType

import pytest

import benchmarks

MAKERS = {"ours": 1, "jax scan": 2, "jax eager": 3, "torch": 4}
NEEDS = {"jax scan": "jax", "jax eager": "jax", "torch": "torch"}


@pytest.mark.parametrize(
    ("jax", "stay"), [(ModuleType("jax"), set(MAKERS)), (None, {"ours", "torch"})]
)
def test_a_missing_competitor_is_named_once_and_left_out(monkeypatch, capsys, jax, stay):
    monkeypatch.setitem(sys.modules, "jax", jax)
    assert benchmarks.installed(MAKERS, NEEDS).keys() == stay
    said = capsys.readouterr().out
    assert said.count("\n") == said.count("not compared: jax is not installed") == (jax is None)


def test_a_competitor_without_what_it_needs_is_left_out(tmp_path, monkeypatch, capsys):
    (tmp_path / "half_of_it.py").write_text("import nothing_of_that_name")
    monkeypatch.syspath_prepend(tmp_path)
    assert benchmarks.installed(MAKERS, {"ours": "half_of_it"}) == {
        k: v for k, v in MAKERS.items() if k != "ours"
    }
    assert (
        "half_of_it is not installed, or not whole (No module named 'nothing"
        in capsys.readouterr().out
    )
