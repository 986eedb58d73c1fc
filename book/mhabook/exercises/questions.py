"""What an exercise that checks itself asks: its questions, read from the ``questions.yml`` beside
each chapter."""

import json
from dataclasses import asdict, dataclass, fields, replace
from importlib.resources import files
from importlib.resources.abc import Traversable

import yaml


@dataclass(frozen=True)
class Variable:
    """A letter that an answer may use: a number between ``low`` and ``high``, a ``whole`` one or
    any.

    ``symbol`` is how the chapter writes it, where that is not how one types it; a reader may type
    either.
    """

    name: str
    low: float
    high: float
    meaning: str = ""
    symbol: str = ""
    whole: bool = False


@dataclass(frozen=True)
class Question:
    """One field: what is asked, and the answer as a formula that a reader could have typed.

    Parameters
    ----------
    ask : the question, in plain words; it seeds the instances too
    answer : the formula, in the language that formula.js reads
    variables : what may occur in it; none where the answer is a number
    hints : one after the other, from a nudge to nearly all
    tolerance : the relative difference that still counts as right
    digits : to how many digits a number is wanted; 0 where it can be given exactly, and one that is
        not whole also rounded to three
    common_mistakes : (formula, words) of mistakes that one expects, with what to say of them
    """

    ask: str
    answer: str
    variables: tuple[Variable, ...] = ()
    hints: tuple[str, ...] = ()
    tolerance: float = 1e-6
    digits: int = 0
    common_mistakes: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, object]:
        """What the browser reads."""
        return asdict(self)


_NUMBERS = {"low", "high", "whole", "tolerance", "digits"}
_SHAPES = {"variables": list, "hints": list, "common_mistakes": dict}


def read(folder: Traversable) -> dict[str, tuple[Question, ...]]:
    """The questions of the exercises of one folder, by label: what its ``questions.yml`` says.

    Under each label stands a list of questions, with the parameters of ``Question`` as keys;
    ``common_mistakes`` maps formulas to words. An entry of a question's ``variables`` describes
    one, or names one that stands under the file's own ``variables``, for several questions.

    Raises ValueError naming file and label, for an unknown or a missing key, an unknown variable,
    or a value of the wrong kind.
    """
    # every scalar is read as text: an answer may be 0 or 1/2
    with (folder / "questions.yml").open("rb") as file:
        found = yaml.load(file, getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    where = f"{folder.name}/questions.yml"
    found.pop("guesses", None)  # those of "Predict", for book/_ext/guesses.py
    shared = {
        name: _made(Variable, {"name": name} | entry, f"{where}, variable {name}")
        for name, entry in found.pop("variables", {}).items()
    }
    return {
        label: tuple(_question(entry, shared, f"{where}, {label}") for entry in entries)
        for label, entries in found.items()
    }


def _question(entry, shared, where):
    plain = _made(Question, entry, where)
    unknown = [name for name in plain.variables if isinstance(name, str) and name not in shared]
    if unknown:
        raise ValueError(f"{where}: {unknown[0]} does not stand under the variables of the file")
    variables = (
        shared[each] if isinstance(each, str) else _made(Variable, each, where)
        for each in plain.variables
    )
    return replace(
        plain,
        variables=tuple(variables),
        hints=tuple(plain.hints),
        common_mistakes=tuple(dict(plain.common_mistakes).items()),
    )


def _made(kind, entry, where):
    known = [field.name for field in fields(kind)]
    given = list(entry) if isinstance(entry, dict) else [repr(entry)]
    if not set(given) <= set(known):
        raise ValueError(f"{where}: expected keys among {', '.join(known)}, got {', '.join(given)}")
    for key, value in entry.items():
        if not isinstance(value, _SHAPES.get(key, str)):
            raise ValueError(
                f"{where}, {key}: expected a {_SHAPES.get(key, str).__name__}, got {value!r}"
            )
    try:
        return kind(
            **{key: json.loads(value) if key in _NUMBERS else value for key, value in entry.items()}
        )
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{where}: expected a number, or true or false, got {error.doc!r}"
        ) from None
    except TypeError as error:  # a key is missing
        raise ValueError(f"{where}: {error}") from None


_FOLDERS = sorted(files("mhabook").iterdir(), key=lambda folder: folder.name)
QUESTIONS: dict[str, tuple[Question, ...]] = {
    label: questions
    for folder in _FOLDERS
    if (folder / "questions.yml").is_file()
    for label, questions in read(folder).items()
}
"""Label of an exercise → its questions."""
