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
from typing import Any

import yaml

from mhabook.exercises import curves

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


def place_of_guess(guess: dict[str, Any]) -> str:
    """The place of one guess beside its result."""
    if "curve" not in guess:
        return f"You said: <strong>{YOURS}</strong>"
    return f"You drew the solid line; the dashed one is the result. {curves.copy(guess['curve'], result=True)}"
