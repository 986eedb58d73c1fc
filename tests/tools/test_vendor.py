"""The third-party files that the book and live figures bring along are those of the manifests, no
more, no fewer."""

import shutil
from importlib import metadata
from pathlib import Path

import plotly.offline
import pytest

from scripts import load

vendor = load("book/_ext/vendor.py")
MANIFEST = vendor.manifest(vendor.VENDOR) + vendor.manifest(vendor.FIGURES)


def test_files_are_those_of_the_manifest(tmp_path):
    assert vendor.faults(vendor.VENDOR, vendor.KEPT) + vendor.faults(vendor.FIGURES) == []
    copy = Path(shutil.copytree(vendor.VENDOR, tmp_path / "vendor"))
    (copy / "require.js").write_text("changed")
    (copy / "anywidget.js").unlink()
    (copy / "paths.js").unlink()
    (copy / "extra.js").write_text("")
    assert vendor.faults(copy, vendor.KEPT) == [
        "anywidget.js: listed, but not there",
        "paths.js: listed, but not there",
        "extra.js: there, but not listed",
        "require.js: not the file of the manifest",
    ]


@pytest.mark.parametrize("name", ["anywidget", "ipywidgets"])
def test_the_pages_widget_code_is_that_of_the_installed_package(name, tmp_path):
    work = next(work for work in MANIFEST if work["name"] == name)
    assert work["version"] == metadata.version(name)
    fetched = {to: file | {"sha256": ""} for to, file in work["files"].items()}
    vendor.fetch(work | {"files": fetched}, tmp_path)
    assert fetched == work["files"]
    with pytest.raises(SystemExit, match=f"^{name} {work['version']} has no file nothing$"):
        vendor.fetch(work | {"files": {"x": {"from": "nothing"}}}, tmp_path)


def test_the_pages_plotly_is_that_of_the_wheel():
    work = next(work for work in MANIFEST if work["name"].startswith("plotly.js"))
    assert work["version"] == plotly.offline.get_plotlyjs_version()


def test_every_package_has_its_license_text():
    texts = {
        path.name for folder in (vendor.VENDOR, vendor.FIGURES) for path in folder.rglob("*.txt")
    }
    names = "mathjax", "plotly", "requirejs", "jupyter-widgets", "anywidget", "fontawesome"
    assert texts >= {f"{name}.txt" for name in names}


def test_scripts_name_no_source_map():
    assert not [
        path.name
        for folder in (vendor.VENDOR, vendor.FIGURES)
        for path in folder.rglob("*.js")
        if b"sourceMappingURL=" in path.read_bytes()[-300:]
    ]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (None, "fetching needs npm, which is not on PATH$"),
        (
            "echo 'npm warn old' >&2; echo 'npm error code ENOTFOUND' >&2; echo 'npm error "
            "offline' >&2; exit 1",
            "npm could not fetch x@1: npm error code ENOTFOUND npm error offline$",
        ),
        ("exit 3", "npm could not fetch x@1: Command .* returned non-zero exit status 3.$"),
    ],
)
def test_what_npm_says_is_said_in_a_line(tmp_path, monkeypatch, script, words):
    if script:
        (tmp_path / "npm").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match=f"^{words}"):
        vendor.npm_files("x", "1")
