"""Fields below an exercise: the reader types a number or a formula, the page compares it with the
answer."""

from difflib import get_close_matches
from html import escape
from pathlib import Path
from typing import Any

import traitlets

from livegrad.console import printed
from livegrad.live.modules import widget_module
from livegrad.live.widget import Shown
from livegrad.pages import book_is_asked
from mhabook.exercises.questions import QUESTIONS, Question

HERE = Path(__file__).parent


@printed
class Exercise(Shown):
    """Fields below an exercise that say whether an answer is right. Made by ``mhabook.exercise``.

    An answer is compared with the book's at drawn values of its variables, by the page itself: no
    kernel is asked, and nothing is sent. The browser keeps what was typed. Whoever reads the page's
    source finds the answers there.
    """

    _esm = widget_module(HERE / "widget.js")
    _css = (HERE / "widget.css").read_text("utf-8")
    exercise: "traitlets.Dict[str, Any]" = traitlets.Dict().tag(sync=True)

    def __init__(self, label: str, questions: tuple[Question, ...]) -> None:
        super().__init__(
            exercise={"label": label, "parts": [question.to_json() for question in questions]}
        )

    def fallback(self) -> str:
        """The questions, for a notebook that is read and not run; a page of the book always has the
        fields."""
        if book_is_asked():
            return ""
        asked = "".join(f"<li>{escape(part['ask'])}</li>" for part in self.exercise["parts"])
        return (
            f'<div class="mha-asked" data-fallback="{self.exercise["label"]}"><p>Check your answer: run this cell, '
            f"and a field for it stands here.</p><ul>{asked}</ul></div>"
        )

    def __repr__(self) -> str:
        asked = "; ".join(part["ask"] for part in self.exercise["parts"])
        return f"Answers are checked on the book's page: {asked}"


def exercise(label: str) -> Exercise:
    """The fields that check the answers of an exercise of the book, by its label:
    ``mhabook.exercise("ex-1-half")``.

    Raises
    ------
    TypeError
        for a label that is no string.
    ValueError
        for a label of no exercise, or of one whose answer is no number and no formula.
    """
    if not isinstance(label, str):
        raise TypeError(
            f"label: expected the label of an exercise, a string, got {type(label).__name__}"
        )
    if label not in QUESTIONS:
        near = get_close_matches(label, QUESTIONS, n=3, cutoff=0.3) or list(QUESTIONS)[:3]
        raise ValueError(
            f"label: expected that of an exercise with answers to check, such as "
            f"{', '.join(near)}, got {label!r}"
        )
    return Exercise(label, QUESTIONS[label])
