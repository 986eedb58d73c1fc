"""Loop nests as JavaScript: in double precision, without any library."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from livegrad.record.loops import (
    Apply,
    Assignment,
    Buffer,
    Expression,
    Inside,
    Loop,
    Number,
    Read,
    lower,
    product_of,
    sum_of,
    terms,
)
from livegrad.record.record import Record
from livegrad.record.sizes import Place, Sizes, literal
from livegrad.record.trace import Traced

FORMS = {
    "add": "({} + {})",
    "subtract": "({} - {})",
    "multiply": "({} * {})",
    "divide": "({} / {})",
    "negative": "(-{})",
    "absolute": "Math.abs({})",
    "exp": "Math.exp({})",
    "log": "Math.log({})",
    "expm1": "Math.expm1({})",
    "log1p": "Math.log1p({})",
    "sqrt": "Math.sqrt({})",
    "power": "Math.pow({}, {})",
    "tanh": "Math.tanh({})",
    "erf": "erf({})",
    "trunc": "Math.trunc({})",
    "arctan": "Math.atan({})",
    "sin": "Math.sin({})",
    "cos": "Math.cos({})",
    "logaddexp": "logaddexp({}, {})",
    "maximum": "Math.max({}, {})",
    "minimum": "Math.min({}, {})",
    "where": "({} ? {} : {})",
    # A comparison gives 0 or 1.
    "equal": "+({} === {})",
    "greater": "+({} > {})",
    "less": "+({} < {})",
    "greater_equal": "+({} >= {})",
    "less_equal": "+({} <= {})",
}
"""Elementwise functions."""

# Equal infinities are a case of their own: their difference is NaN.
LOGADDEXP = """const logaddexp = (a, b) =>
  a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));"""

# A series of positive terms near 0, and far from it 1 less a continued fraction.
ERF = """const erf = (x) => {
  const a = Math.abs(x), e = Math.exp(-a * a);
  if (a > 6) return Math.sign(x);
  if (a > 2) {
    let below = 0;
    for (let k = 60; k > 0; k--) below = k / 2 / (a + below);
    return Math.sign(x) * (1 - e / (1.7724538509055159 * (a + below)));
  }
  let sum = a;
  for (let term = a, k = 3; term > 1e-18 * sum; k += 2) sum += term *= (2 * a * a) / k;
  return Math.sign(x) * 1.1283791670955126 * e * sum;
};"""

OVER = {"sum": ("0", "sum += {};"), "max": ("-Infinity", "sum = Math.max(sum, {});")}
"""How a sum and a maximum begin, and go on."""


class Printed(NamedTuple):
    """The buffers to be made once, the statements, and the name of the array in which each result
    lies."""

    made: list[str]
    lines: list[str]
    at: dict[str, str]


def printed(
    outputs: Mapping[str, Traced],
    prefix: str,
    sizes: Sizes | None = None,
    places: Mapping[str, Place] | None = None,
) -> Printed:
    """Statements for recorded arrays, whose inputs are variables of the same names.

    The arguments are those of ``loops.lower``, which also says what it raises.
    """
    nests = lower(outputs, prefix, sizes, places)
    results = {name: buffer.name for name, buffer in nests.results.items()}
    return Printed(
        [_made(one) for one in nests.made], [_statement(one) for one in nests.statements], results
    )


def _made(buffer: Buffer) -> str:
    if buffer.numbers is None:
        return f"const {buffer.name} = new Float64Array({product_of(buffer.shape)});"
    numbers = ", ".join(map(literal, buffer.numbers.ravel().tolist()))
    return f"const {buffer.name} = Float64Array.of({numbers});"


UNROLLED = 16
"""Up to so many products are added up in one expression: no loop, and no variable to count."""


def _statement(one: Assignment) -> str:
    if one.f == "pick":
        return _pick(one)
    place = _place(one.target, one.target.shape, one.at)
    outer = _loops([one.loops[k] for k in one.out])
    if short := _short_sum(one):
        return f"{outer}{place} = {short};"
    value = _expression(one.value)
    body = f"{place} = {value};"
    if one.over:
        first, step = OVER[one.over]
        body = f"{{ let sum = {first}; {_loops(one.gone)}{step.format(value)} {place} = sum; }}"
    return outer + body


def _pick(one: Assignment) -> str:
    """What is read at places, or added up there; NaN at one that the axis does not have."""
    (at, size), place = one.loops[0], _place(one.target, one.target.shape, one.at)
    places, value = map(_expression, one.value.args)  # pyright: ignore[reportAttributeAccessIssue]
    found = f"let {at} = {places}; if ({at} < 0) {at} += {size};"
    inside = f"{at} >= 0 && {at} < {size}"
    outer, inner = (
        _loops([loop for loop in loops if loop.name != at])
        for loops in ([one.loops[k] for k in one.out], one.gone)
    )
    if 0 in one.out:
        return (
            f"{one.target.name}.fill(0); "
            f"{outer}{inner}{{ {found} if ({inside}) {place} += {value}; }}"
        )
    return (
        f"{outer}{{ let sum = 0; {inner}{{ {found} sum += {inside} ? {value} : NaN; }} "
        f"{place} = sum; }}"
    )


def _short_sum(one: Assignment) -> str:
    """A sum over one loop of a few rounds, term by term in its order; or nothing."""
    if one.over != "sum" or one.f != "multiply" or len(one.gone) != 1:
        return ""
    name, size = one.gone[0]
    if not (size.isdigit() and int(size) <= UNROLLED) or _has_bounds(one.value):
        return ""
    return " + ".join(_expression(_at_round(one.value, name, k)) for k in range(int(size)))


def _has_bounds(value: Expression) -> bool:
    """Whether a part of an expression is read only inside of an array: its loop has to be there."""
    if isinstance(value, Inside):
        return True
    return isinstance(value, Apply) and any(map(_has_bounds, value.args))


def _at_round(value: Expression, name: str, k: int) -> Expression:
    """An expression in one round of a loop."""
    if isinstance(value, Read):
        at = [(None, offset + k) if loop == name else (loop, offset) for loop, offset in value.at]
        return replace(value, at=at)
    if isinstance(value, Apply):
        return replace(value, args=tuple(_at_round(arg, name, k) for arg in value.args))
    return value


def _loops(loops: Sequence[Loop]) -> str:
    return "".join(f"for (let {name} = 0; {name} < {size}; {name}++) " for name, size in loops)


def _place(buffer, shape, at):
    return f"{buffer.name}[{sum_of(terms(buffer, shape, at))}]"


def _expression(value: Expression) -> str:
    if isinstance(value, Number):
        return value.text
    if isinstance(value, Inside):
        bounds = " && ".join(map(" ".join, value.bounds))
        return f"({bounds} ? {_expression(value.value)} : 0)"
    if isinstance(value, Apply):
        args = [_expression(arg) for arg in value.args]
        # Parts that are 0 beyond their ends are joined by a sum.
        return f"({' + '.join(args)})" if value.f == "concatenate" else FORMS[value.f].format(*args)
    return _place(value.buffer, value.buffer.shape, value.at)


def module(record: Record) -> str:
    """A program as a module: ``program(sizes)`` gives its arrays, and ``call(entry)``.

    Raises as ``loops.lower``.
    """
    entries = {
        name: printed(record.entries[name], prefix, record.numbers, record.places)
        for name, prefix in record.prefixes().items()
    }
    # `Sizes.text` writes root(…) for both languages.
    lines = ["const root = Math.sqrt;", LOGADDEXP]
    lines.append(f"export function program([{', '.join(record.sizes)}]) {{")
    for name, length in record.arrays.items():
        lines.append(f"const {name} = new Float64Array({length});")
    for name, place in record.places.items():
        lines.append(f"const {name} = {place.buffer};")
    for text, name in record.numbers.named.items():
        lines.append(f"const {name} = {text};")
    if any("erf(" in line for entry in entries.values() for line in entry.lines):
        lines.insert(0, ERF)
    for entry in entries.values():
        lines += entry.made
    lines.append("const run = {")
    for name, entry in entries.items():
        first = next(iter(entry.at.values()))
        lines += [f"{name}() {{", *entry.lines, f"return {first}[0];", "},"]
    arrays = ", ".join(record.arrays)
    # As of the compiled program, whose `loaded` packs samples: here there is nothing to pack.
    lines += ["};", f"return {{ {arrays}, loaded() {{}}, call: (name) => run[name]() }};", "}", ""]
    return "\n".join(lines)
