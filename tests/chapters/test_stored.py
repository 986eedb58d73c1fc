"""The tables that come with the book, in a clone; tests/tools/test_wheel.py looks at those of the
wheel."""

from importlib import import_module
from pathlib import Path

import pytest

import mhabook

address = import_module("mhabook._address")
RESULTS = Path(__file__).parents[2] / "book" / "results"
ADDRESS = "https://example.org/book"


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.npz")), ids=lambda path: path.name)
def test_every_table_of_the_book_says_where_it_comes_from(path):
    table = mhabook.stored(path.name)
    assert len(table) > 0
    python, script, *_ = table.about["command"].split()
    assert python == "python" and script.startswith("book/results/")
    assert (RESULTS / Path(script).relative_to("book/results")).exists()
    assert {"numpy", "python", "mhalib"} <= set(table.about["versions"][0])


def test_a_table_that_is_nowhere_is_named_with_those_that_are():
    with pytest.raises(
        FileNotFoundError, match=r"^name: expected one of .*heads\.npz.*, got 'missing\.npz'$"
    ):
        mhabook.stored("missing.npz")
    with pytest.raises(FileNotFoundError, match="^name: expected one of"):
        mhabook.stored("../results/heads.npz")


def test_the_address_is_that_of_the_package(monkeypatch):
    class Metadata:
        def get_all(self, name):
            return ["Home, https://example.org", f"Repository, {ADDRESS}/"]

    monkeypatch.setattr(address, "metadata", lambda name: Metadata())
    assert address.repository() == ADDRESS


def test_a_package_that_is_not_installed_has_no_address(monkeypatch):
    def missing(name):
        raise address.PackageNotFoundError(name)

    monkeypatch.setattr(address, "metadata", missing)
    assert address.repository() == "" and address.web_address("") == ""
