"""The third-party files that the book serves itself are those of the manifest, no more, no fewer."""

import json
import shutil
from importlib import metadata
from pathlib import Path

import pytest

from scripts import load

ROOT = Path(__file__).parents[2]
vendor = load("book/_ext/vendor.py")
MANIFEST = json.loads((vendor.VENDOR / "manifest.json").read_text())


@pytest.fixture
def copy(tmp_path):
    """Give a copy of the files, to be spoilt."""
    return Path(shutil.copytree(vendor.VENDOR, tmp_path / "vendor"))


def test_files_are_those_of_the_manifest():
    assert vendor.faults() == []


def test_a_changed_file_is_found(copy):
    (copy / "require.js").write_text("changed")
    assert vendor.faults(copy) == ["require.js: not the file of the manifest"]


def test_a_missing_file_is_found(copy):
    (copy / "anywidget.js").unlink()
    (copy / "paths.js").unlink()
    assert vendor.faults(copy) == [f"{name}: listed, but not there" for name in ("anywidget.js", "paths.js")]


def test_an_unlisted_file_is_found(copy):
    (copy / "extra.js").write_text("")
    assert vendor.faults(copy) == ["extra.js: there, but not listed"]


def test_the_manifest_is_that_of_the_command():
    for package, entry in zip(vendor.PACKAGES, MANIFEST, strict=True):
        assert (package.name, package.version, package.license) == tuple(
            entry[key] for key in ("name", "version", "license")
        )


@pytest.mark.parametrize("name", ["anywidget", "ipywidgets"])
def test_the_pages_widget_code_is_that_of_the_installed_package(name):
    entry = next(entry for entry in MANIFEST if entry["name"] == name)
    assert entry["version"] == metadata.version(name)


def test_every_package_has_its_license_text():
    texts = {path.name for path in (vendor.VENDOR / "licenses").glob("*.txt")}
    assert texts >= {f"{name}.txt" for name in ("mathjax", "requirejs", "jupyter-widgets", "anywidget", "fontawesome")}


def test_scripts_name_no_source_map():
    assert not [path.name for path in vendor.VENDOR.rglob("*.js") if b"sourceMappingURL=" in path.read_bytes()[-300:]]


def test_a_missing_npm_is_said_in_a_line(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="^fetching needs npm, which is not on PATH$"):
        vendor.npm_files(vendor.PACKAGES[1])


@pytest.mark.parametrize(("script", "words"), [
    ("echo 'npm warn old' >&2; echo 'npm error code ENOTFOUND' >&2; echo 'npm error offline' >&2; exit 1",
     "npm error code ENOTFOUND npm error offline$"),
    ("exit 3", "Command .* returned non-zero exit status 3.$")])
def test_what_npm_says_is_said_in_a_line(tmp_path, monkeypatch, script, words):
    npm = tmp_path / "npm"
    npm.write_text(f"#!/bin/sh\n{script}\n")
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match=f"^npm could not fetch requirejs@2.3.8: {words}"):
        vendor.npm_files(vendor.PACKAGES[1])
