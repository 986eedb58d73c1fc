"""A row of the page: a condition or a promise, beside what was seen."""

from typing import NamedTuple, TypeAlias


class Row(NamedTuple):
    """What is asked or promised, what was seen, and how many times the first is beyond the second,
    or a word."""

    statement: str
    label: str
    asks: str
    runs: str
    factor: float | str


Rows: TypeAlias = list[Row]


def power(number: float) -> str:
    """A number as a reader takes it in: 0.033, 2,573, 4.3·10¹¹."""
    if 0.01 < number < 1e5:
        return f"{number:,.0f}" if number >= 100 else f"{number:.2g}"
    digits, exponent = f"{number:.1e}".split("e")
    return f"{digits}·10{str(int(exponent)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"
