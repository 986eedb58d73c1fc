"""What an exercise that checks itself is: its questions, the letters of an answer, and the answer."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Letter:
    """A letter that an answer may use: a number between ``low`` and ``high``, a ``whole`` one or any.

    ``symbol`` is how the chapter writes it, where that is not how one types it; a reader may type either.
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
    letters : what may occur in it; none where the answer is a number
    hints : one after the other, from a nudge to nearly all
    tolerance : the relative difference that still counts as right
    digits : to how many digits a number is wanted; 0 where it can be given exactly, and one that is not whole also
        rounded to three
    slips : (formula, words) of mistakes that one expects, with what to say of them
    """

    ask: str
    answer: str
    letters: tuple[Letter, ...] = ()
    hints: tuple[str, ...] = ()
    tolerance: float = 1e-6
    digits: int = 0
    slips: tuple[tuple[str, str], ...] = ()

    def to_json(self):
        """What the browser reads."""
        found = asdict(self)
        return found | {"variables": found.pop("letters")}


def rounded(ask, answer, hints=(), slips=(), digits=2):
    """A question whose answer is a number, wanted to so many significant digits."""
    return Question(ask, answer, (), hints, slips=slips, digits=digits)
