"""`make colabpins` renews the pins of Colab's packages from a list, and says what it cannot find
there."""

import re
from pathlib import Path

import pytest

from scripts import load

ROOT = Path(__file__).parents[2]
pins = load(".ci/colab_pins.py")
NOW = pins.PINS.read_text("utf-8")
SHIPPED, OWN = NOW.split(pins.OWN)
OS = "# generated\nUbuntu 26.04.1 LTS\nPython {python}\nR version 4.5.1 (2025-06-13)\n"


@pytest.fixture
def colab(tmp_path):
    """A copy of colab.txt, and lists beside it that say what it says, in Colab's spelling, among
    other packages."""
    lines = sorted(f"{name}=={version}" for name, version in pins.versions(SHIPPED).items())
    (tmp_path / "pip-freeze.txt").write_text(
        "\n".join(
            [
                "# Do not modify this file",
                "absl-py==1.4.0",
                "nbval==9.9",
                *lines,
                "torch @ https://example.org/torch-2.11.0+cpu.whl",
            ]
        )
    )
    (tmp_path / "os-info.txt").write_text(OS.format(python="3.13.15"))
    (tmp_path / "colab.txt").write_text(NOW, "utf-8")
    return tmp_path


def renew(folder):
    return pins.main([f"{folder}/pip-freeze.txt"], folder / "colab.txt")


def test_the_pins_have_a_shape_that_can_be_renewed():
    assert pins.HEADER.search(NOW) and NOW.count(pins.OWN) == 1
    required = pins.versions((ROOT / "requirements.txt").read_text("utf-8"))
    assert pins.versions(OWN).items() <= required.items(), "the book's own versions"
    assert re.search(r"(?m)^# Python: \d+\.\d+$", NOW), ".ci/colab takes its Python from here"


def test_the_same_list_changes_nothing(colab, capsys):
    assert renew(colab) == 0
    assert (colab / "colab.txt").read_text("utf-8") == NOW
    assert capsys.readouterr().out == f"== {len(pins.versions(NOW))} packages, 0 changes\n"


def test_new_versions_are_taken_and_named(colab, capsys):
    path = colab / "pip-freeze.txt"
    path.write_text(
        path.read_text()
        .replace("numpy==2.1.3", "numpy==2.5.0")
        .replace("typing-extensions==4.16.0", "typing_extensions==4.17.0rc1")
    )
    (colab / "os-info.txt").write_text(OS.format(python="3.14.2"))
    assert renew(colab) == 0
    after = (colab / "colab.txt").read_text("utf-8")
    changed = pins.versions(NOW) | {"numpy": "2.5.0", "typing-extensions": "4.17.0rc1"}
    assert pins.versions(after) == changed
    assert list(pins.versions(after)) == list(pins.versions(NOW))
    assert f"# Source: {colab}/pip-freeze.txt\n" in after
    assert "System: Ubuntu 26.04.1 LTS, Python 3.14.2\n# Python: 3.14\n" in after
    assert capsys.readouterr().out.splitlines() == [
        "   numpy 2.1.3 -> 2.5.0",
        "   typing-extensions 4.16.0 -> 4.17.0rc1",
        "   Python 3.13 -> 3.14",
        f"== {len(changed)} packages, 3 changes",
    ]
    assert renew(colab) == 0
    assert (colab / "colab.txt").read_text("utf-8") == after


@pytest.mark.parametrize(
    ("file", "change", "words"),
    [
        (
            "pip-freeze.txt",
            lambda text: re.sub(r"(?m)^(ipython-genutils|numpy)==.*\n", "", text),
            "no version of numpy, ipython-genutils:",
        ),
        (
            "pip-freeze.txt",
            lambda text: text.replace("numpy==", "numpy @ file:///numpy-"),
            "no version of numpy:",
        ),
        (
            "os-info.txt",
            lambda text: text.replace("Python ", "Perl "),
            "names no Ubuntu or no Python",
        ),
    ],
)
def test_what_is_gone_is_named_and_nothing_written(colab, capsys, file, change, words):
    (colab / file).write_text(change((colab / file).read_text()))
    assert renew(colab) == 2
    assert words in capsys.readouterr().err
    assert (colab / "colab.txt").read_text("utf-8") == NOW


@pytest.mark.parametrize(
    "place", ["{}/nowhere/pip-freeze.txt", "http://127.0.0.1:9/pip-freeze.txt", "ftp:pip.txt"]
)
def test_a_list_that_cannot_be_read_is_said_in_a_line(colab, capsys, place):
    assert pins.main([place.format(colab)], colab / "colab.txt") == 2
    said = capsys.readouterr().err
    assert (
        said.startswith("nothing was changed: ")
        and " cannot be read: " in said
        and said.count("\n") == 1
    )
