"""The guesses of "Predict", and their fields.

A group, such as ``chapter-6``, stands in the ``questions.yml`` of its chapter: number of a guess →
what is asked, and the choices where there are some, or the curve that is to be drawn
(``curves.py``).
Beside choices stand ``why``, a sentence, and the ``answer``, where the page confirms one of them.
Where one guesses is neither.
"""

from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import traitlets
import yaml

from livegrad.live.modules import widget_module
from livegrad.live.widget import Shown
from mhabook.exercises import curves

HERE = Path(__file__).parent
YOURS = '<span class="mha-your-guess"></span>'
"""What a page puts the reader's guess into."""


@cache
def groups() -> dict[str, dict[str, dict[str, Any]]]:
    """Name of a group → number → {ask, choices, answer, why}, in the order of the book.

    Raises ValueError naming group and number, for an answer that is not one of the choices.
    """
    folders = sorted(
        files("mhabook").iterdir(), key=lambda folder: (folder.name != "start", folder.name)
    )
    texts = [folder / "questions.yml" for folder in folders if (folder / "questions.yml").is_file()]
    found = (yaml.load(text.read_text("utf-8"), yaml.BaseLoader) for text in texts)
    return {
        name: checked(name, group)
        for each in found
        for name, group in each.get("guesses", {}).items()
    }


def checked(name: str, group: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """A group whose answers are choices."""
    for number, guess in group.items():
        choices = guess.get("choices", [])
        if "answer" in guess and guess["answer"] not in choices:
            raise ValueError(
                f"{name} {number}: expected an answer among {choices}, got {guess['answer']!r}"
            )
    return group


def field(name: str, number: str, guess: dict[str, Any]) -> str:
    """The field of one guess: its choices, axes to draw in, or a line to write on."""
    name, asked = f'name="{name}-{number}"', f"{number}. {escape(guess['ask'])}"
    if "curve" in guess:
        return (
            f'<fieldset class="mha-guess"><legend>{asked}</legend>{curves.sliders(guess["curve"], name)}'
            f'<span class="mha-names">{curves.HOW}</span></fieldset>'
        )
    if "choices" not in guess:
        return f'<label class="mha-guess">{asked} <input type="text" {name} autocomplete="off"></label>'
    choices = "".join(
        f'<label><input type="radio" {name} value="{escape(choice)}"> {escape(choice)}</label>'
        for choice in guess["choices"]
    )
    return f'<fieldset class="mha-guess"><legend>{asked}</legend>{choices}</fieldset>'


def fields(name: str, and_where: str = "") -> str:
    """The fields of a group; their guesses come back beside the results, ``and_where`` else."""
    group = "".join(field(name, number, guess) for number, guess in groups()[name].items())
    return (
        f'<div class="mha-guesses" id="guesses-{name}" role="group" aria-label="Your guesses">{group}'
        f'<p class="mha-names">Your guesses stay in this browser. They come back beside the results'
        f"{and_where}.</p></div>"
    )


def place_of_guess(name: str, number: str, guess: dict[str, Any], said: str) -> str:
    """The place of one guess beside its result, hidden while there is none; ``said`` goes before
    what was asked."""
    return (
        f'<p class="mha-guessed" id="said-{name}-{number}" data-guess="{name}-{number}" hidden>'
        f'{said} <span class="mha-names">{number}. {escape(guess["ask"])}</span></p>'
    )


def on_a_page(guess: dict[str, Any]) -> str:
    """What a page of the book says of a guess; the text above it has the answer, and the builder
    draws the result of a curve."""
    if "curve" not in guess:
        return f"You said: <strong>{YOURS}</strong>"
    return (
        "You drew the solid line; the dashed one is the result. "
        f"{curves.copy(guess['curve'], result=True)}"
    )


def in_a_notebook(guess: dict[str, Any]) -> str:
    """What a notebook says of a guess, and the answer, where it was one of several choices."""
    if "curve" in guess:
        return f"You drew this line; the figure above has the result. {curves.copy(guess['curve'])}"
    answer = (
        f" The answer: <strong>{escape(guess['answer'])}</strong>." if "answer" in guess else ""
    )
    return f"You said: <strong>{YOURS}</strong>.{answer}"


class Guesses(Shown):
    """The fields of the guesses of a chapter, or some of them beside their results. Made by
    ``mhabook.guesses``.

    The browser keeps what is guessed, as it does on the pages of the book; Python does not hear it.
    """

    _esm = widget_module(HERE / "guess_widget.js")
    _css = (HERE / "guess.css").read_text("utf-8")
    guesses: "traitlets.Dict[str, str]" = traitlets.Dict().tag(sync=True)

    def __init__(self, name: str, asked: dict[str, dict[str, Any]], said: bool) -> None:
        self._asked = asked
        places = (
            place_of_guess(name, number, guess, in_a_notebook(guess))
            for number, guess in asked.items()
        )
        html, ends = ("".join(places), "-".join(asked)) if said else (fields(name), "asked")
        super().__init__(guesses={"html": html, "fallback": f"{name}-{ends}"})

    def fallback(self) -> str:
        """What is asked, for a notebook that is read and not run."""
        asked = "".join(f"<li>{escape(words)}</li>" for words in self._words())
        return f'<ul data-fallback="{self.guesses["fallback"]}">{asked}</ul>'

    def _words(self):
        return [
            " ".join([guess["ask"], " · ".join(guess.get("choices", ()))]).strip()
            for guess in self._asked.values()
        ]

    def __repr__(self) -> str:
        return f"One guesses on the book's page: {'; '.join(self._words())}"


def guesses(name: str, *numbers: str) -> Guesses:
    """The fields of the guesses that a page of the book asks for, by the name of their group:
    ``mhabook.guesses("chapter-6")``.

    With numbers it shows beside a result what was guessed there, and the answers:
    ``mhabook.guesses("chapter-6", "1", "2")``.

    Raises
    ------
    ValueError
        for a name that no group has, or a number that is not in it.
    """
    for given, known in (
        (name, groups()),
        *((number, groups().get(name, {})) for number in numbers),
    ):
        if given not in known:
            raise ValueError(f"expected one of {', '.join(known)}, got {given!r}")
    group = groups()[name]
    return Guesses(name, {number: group[number] for number in numbers} or group, bool(numbers))
