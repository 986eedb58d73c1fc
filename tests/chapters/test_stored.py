"""The tables that come with the book are found in a clone, and in its repository where there is no clone."""

import io
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import mhabook

module, address = import_module("mhabook.tables"), import_module("mhabook._address")
RESULTS = Path(__file__).parents[2] / "book" / "results"
ADDRESS = "https://example.org/book"


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """Far from any clone, with mhalib in site-packages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "__file__", str(tmp_path / "site-packages" / "mhabook" / "tables.py"))
    monkeypatch.setattr(module, "repository", lambda: ADDRESS)
    return tmp_path


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.npz")), ids=lambda path: path.name)
def test_every_table_of_the_book_says_where_it_comes_from(path):
    table = mhabook.stored(path.name)
    assert len(table) > 0
    python, script, *_ = table.about["command"].split()
    assert python == "python" and script.startswith("book/results/")
    assert (RESULTS / Path(script).name).exists()
    assert {"numpy", "python", "mhalib"} <= set(table.about["versions"][0])


def test_a_clone_around_the_notebook_comes_first(elsewhere, monkeypatch):
    folder = elsewhere / "book" / "results"
    (elsewhere / "book" / "multihead").mkdir(parents=True)
    folder.mkdir()
    mhabook.Table({"loss": np.array([1.0, 2.0])}).save(folder / "own.npz")
    monkeypatch.chdir(elsewhere / "book" / "multihead")
    assert mhabook.stored("own.npz")["loss"].tolist() == [1.0, 2.0]


def test_without_a_clone_the_repository_is_asked(elsewhere, monkeypatch, capsys):
    mhabook.Table({"loss": np.array([3.0])}).save(elsewhere / "theirs.npz")
    data = (elsewhere / "theirs.npz").read_bytes()
    asked = []
    monkeypatch.setattr(module, "urlopen", lambda address, timeout: asked.append(address) or io.BytesIO(data))
    assert mhabook.stored("far.npz")["loss"].tolist() == [3.0]
    assert asked == [f"{ADDRESS}/raw/main/book/results/far.npz"]
    assert asked[0] in capsys.readouterr().out


def test_a_table_that_is_nowhere_is_named(elsewhere, monkeypatch):
    def unreachable(address, timeout):
        raise OSError("no network")

    monkeypatch.setattr(module, "urlopen", unreachable)
    with pytest.raises(FileNotFoundError, match=r"missing.npz is not in book/results.*no network"):
        mhabook.stored("missing.npz")


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
