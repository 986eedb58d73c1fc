"""The alignment with a planted head, for the live figures of chapter 6 and of the laboratory."""

from types import SimpleNamespace
from typing import Any

from livegrad.model.programs import places
from livegrad.record import Program
from mhabook.c06_planted.statements import alignment
from mhalib.models import MultiHeadAttention


def program() -> Program:
    """``alignment``, an entry for W and one for U."""

    def formulas(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
        planted = SimpleNamespace(W=a["plantedW"], U=a["plantedU"])
        found = alignment(MultiHeadAttention(a["W"], a["U"]), planted)
        return {name: {"cosine": value} for name, value in found.items()}

    shapes = {"W": "H d d", "U": "H T d", "plantedW": "d d", "plantedU": "T d"}
    return Program(formulas, shapes, "H", places(MultiHeadAttention.axes, "theta"))
