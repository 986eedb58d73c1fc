"""The examples in the docstrings of the packages run, and give what they say."""

import doctest
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import livegrad as lg
import mhabook
import mhalib as mha

NAMES = sorted(
    ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__")
    for folder in (Path(package.__file__).parent for package in (lg, mha, mhabook))
    for path in folder.rglob("*.py")
    if ">>> " in path.read_text("utf-8")
)


@pytest.mark.parametrize("name", NAMES)
def test_examples_give_what_they_say(name):
    if name == "livegrad.network":
        pytest.importorskip("torch")
    found = doctest.testmod(
        import_module(name), extraglobs={"lg": lg, "mha": mha, "mhabook": mhabook, "np": np}
    )
    assert found.attempted
    assert not found.failed, "the examples above printed something else"


def test_there_are_examples():
    assert len(NAMES) > 15
