"""The page of the package (book/api.md) shows every name that the package offers."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import mhalib as mha

PAGE = (Path(__file__).parent.parent / "book" / "api.md").read_text("utf-8")
MODULES = ("data", "models", "landscape", "plots", "live", "sweeps", "optim", "theory")


def looked_up(name):
    """The object of a name such as ``mhalib.data.planted.Planted`` or ``Momentum.step``."""
    *path, last = name.removeprefix("mhalib.").split(".")
    for k in range(len(path), -1, -1):
        try:
            found = import_module(".".join(["mhalib", *path[:k]]))
        except ModuleNotFoundError:
            continue
        for part in [*path[k:], last]:
            found = getattr(found, part)
        return found


def shown():
    """The objects that the page shows, one by one or as members of a module."""
    for kind, name in re.findall(r"\.\. auto(class|function|module|method|data):: ([\w.]+)", PAGE):
        thing = import_module(name) if kind == "module" else looked_up(name)
        yield thing
        if kind == "module":
            yield from (value for value in vars(thing).values() if getattr(value, "__module__", "") == thing.__name__)


SHOWN = list(shown())


def is_shown(thing):
    return any(thing is other for other in SHOWN) or any(type(thing) is other for other in SHOWN)


def public(module):
    """The names that a module offers: functions and classes of its own or of the files of its folder."""
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    return [name for name in names if getattr(getattr(module, name), "__module__", "").startswith(module.__name__)]


@pytest.mark.parametrize("name", [name for name in mha.__all__ if not inspect.ismodule(getattr(mha, name))])
def test_every_name_of_the_package_is_shown(name):
    assert is_shown(getattr(mha, name)), f"book/api.md does not show mha.{name}"


@pytest.mark.parametrize("module", MODULES)
def test_every_name_of_its_modules_is_shown(module):
    module = import_module(f"mhalib.{module}")
    missing = [name for name in public(module) if not is_shown(getattr(module, name))]
    assert not missing, f"book/api.md does not show, of {module.__name__}: {', '.join(missing)}"


@pytest.mark.parametrize("module", sorted({statement.function.__module__ for statement in mha.ledger}))
def test_every_file_of_statements_is_shown(module):
    assert f".. automodule:: {module}\n   :members:" in PAGE, f"book/api.md does not show {module}"
