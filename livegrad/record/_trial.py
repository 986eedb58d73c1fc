"""Ask a compiled program for its results: here, or as a script in a process of its own, which may
crash or hang.

It imports Python's own modules alone, so that such a process begins within some hundredths of a
second.
"""

import ctypes
import json
import sys
from collections.abc import Sequence
from typing import Any


def place(functions: ctypes.CDLL, name: str) -> tuple[int, int]:
    """Where an array begins in the memory that was laid out last, in bytes, and how many numbers it
    has."""
    found = []
    for what in ("place", "length"):
        function = getattr(functions, f"{what}_{name}")
        function.restype = ctypes.c_long
        found.append(function())
    return found[0], found[1]


def answers(
    functions: ctypes.CDLL, questions: Sequence[dict[str, Any]]
) -> list[dict[str, dict[str, list[float]]]]:
    """For each question its answer: name of an entry → name of an array → its numbers after the
    call.

    A question has ``sizes``, ``arrays`` to load, name → numbers, and ``entries``, name → the arrays
    asked for.
    """
    return [_answer(functions, **question) for question in questions]


def _answer(functions, sizes, arrays, entries):
    sizes = (ctypes.c_double * len(sizes))(*sizes)
    functions.layout.restype = ctypes.c_double
    memory = ctypes.create_string_buffer(int(functions.layout(None, sizes)) + 64)
    begin = ctypes.addressof(memory)
    begin += -begin % 64
    arguments = ctypes.c_void_p(begin), sizes

    def array(name):
        functions.layout(*arguments)
        at, length = place(functions, name)
        return (ctypes.c_double * length).from_address(begin + at)

    for name, numbers in arrays.items():
        array(name)[:] = numbers
    functions.loaded(*arguments)
    answer = {}
    for entry, names in entries.items():
        function = getattr(functions, entry)
        function.restype = ctypes.c_double
        function(*arguments)
        answer[entry] = {name: list(array(name)) for name in names}
    return answer


def main(library: str, asked: str, answered: str) -> None:
    """Ask a library the questions of one file, and write the answers into another."""
    functions = ctypes.CDLL(library)
    # `native.Library` calls this first: if it crashes or exits, then in this process.
    functions.lanes()
    with open(asked, encoding="utf-8") as file:
        questions = json.load(file)
    found = answers(functions, questions)
    with open(answered, "w", encoding="utf-8") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
