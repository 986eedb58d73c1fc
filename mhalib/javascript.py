"""Recorded formulas as JavaScript: loops over named buffers, in double precision, without any library."""

from collections.abc import Mapping, Sequence
from typing import Any

from mhalib.sizes import Place, Sizes
from mhalib.trace import Node, Traced, topological

FORMS = {
    "id": "{}", "add": "({} + {})", "subtract": "({} - {})", "multiply": "({} * {})", "divide": "({} / {})",
    "negative": "(-{})", "power": "Math.pow({}, {})", "exp": "Math.exp({})", "log": "Math.log({})",
    "sqrt": "Math.sqrt({})", "tanh": "Math.tanh({})", "sin": "Math.sin({})", "cos": "Math.cos({})",
    "log1p": "Math.log1p({})", "expm1": "Math.expm1({})", "arctan": "Math.atan({})", "absolute": "Math.abs({})",
    "logaddexp": "logaddexp({}, {})", "maximum": "Math.max({}, {})",
    "minimum": "Math.min({}, {})", "where": "({} ? {} : {})", "equal": "+({} === {})", "greater": "+({} > {})",
    "less": "+({} < {})", "greater_equal": "+({} >= {})", "less_equal": "+({} <= {})"}
"""Elementwise functions. A comparison gives 0 or 1."""

LOGADDEXP = """const logaddexp = (a, b) =>
  a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));"""


class Printer:
    """Statements for the recorded arrays ``outputs``, whose inputs are variables of the same names.

    ``made`` are the buffers to be made once, ``lines`` the statements, and ``at[name]`` where an output lies. Sizes are
    numbers, or the names that ``sizes`` gives them; ``places`` says what lies in a longer array.
    """

    loop = "for (let {0} = 0; {0} < {1}; {0}++) "

    def __init__(self, outputs: Mapping[str, Traced], prefix: str, sizes: Sizes | None = None,
                 places: Mapping[str, Place] | None = None) -> None:
        order, roots = topological(x.node for x in outputs.values()), {x.node for x in outputs.values()}
        self._sizes, self._places, self._prefix = sizes, places or {}, prefix
        self._names: dict[Node, str] = {}
        self._inline = _inlined(order, roots)
        self.numbers: dict[str, str] = {}
        """Text of a number that depends on sizes → its name."""
        self.made: list[str] = []
        self.lines: list[str] = []
        for v in order:
            if v.f == "input":
                self._names[v] = self._input(v.detail)
            elif v.f == "reshape":
                self._names[v] = self._names[v.args[0][0]]
            elif v not in self._inline:
                self._names[v] = f"{prefix}{len(self._names)}"
                self._make(v, self._names[v])
        self._write_all([v for v in order if v not in self._inline and v.f not in ("input", "reshape", "constant")])
        self.at: dict[str, str] = {name: self._names[x.node] for name, x in outputs.items() if x.node in self._names}

    def _input(self, name):
        return name

    def _loops(self, v):
        """The sizes of the loops of a node, as text."""
        return self._sizes.loops[v] if self._sizes else [str(size) for size in v.loops]

    def _shape(self, v):
        return [self._loops(v)[k] for k in v.out]

    def _make(self, v, name):
        values = f"Float64Array.of({', '.join(map(_text, v.detail.ravel()))})" if v.f == "constant" else (
            f"new Float64Array({_times(self._shape(v))})")
        self.made.append(f"const {name} = {values};")

    def _write_all(self, nodes):
        for v in nodes:
            self._write(v, self._names[v])

    def _round(self, v, which, sizes=None):
        return "".join(self.loop.format(f"i{k}", (sizes or self._loops(v))[k]) for k in which)

    def _write(self, v, name):
        if v.f == "concatenate":
            joined, begins = v.detail
            for (arg, index), begin in zip(v.args, begins, strict=True):
                axis = next((k for k, (loop, _) in enumerate(index) if loop == joined), None)
                sizes = list(self._loops(v))
                sizes[joined] = "1" if axis is None else self._shape(arg)[axis]
                place = [(f"i{k}", begin if k == joined else 0) for k in range(len(sizes))]
                value = self._value(arg, [(None if loop is None else f"i{loop}", offset) for loop, offset in index])
                self.lines.append(f"{self._round(v, range(len(sizes)), sizes)}{name}[{self._at(v, place)}] = {value};")
            return
        place = self._at(v, [(f"i{k}", 0) for k in v.out])
        value = self._body(v, [(f"i{k}", 0) for k in range(len(v.loops))])
        outer, inner = self._round(v, v.out), self._round(v, [k for k in range(len(v.loops)) if k not in v.out])
        if not v.over:
            self.lines.append(f"{outer}{name}[{place}] = {value};")
            return
        start, step = ("0", f"s += {value};") if v.over == "sum" else ("-Infinity", f"s = Math.max(s, {value});")
        self.lines.append(f"{outer}{{ let s = {start}; {inner}{step} {name}[{place}] = s; }}")

    def _value(self, node, at):
        """The value of a node at a place, an entry an axis: (loop, offset) or (None, offset)."""
        if node.f == "number":
            text = self._sizes.numbers[node] if self._sizes else _text(node.detail)
            if " " in text:
                return self.numbers.setdefault(text, f"{self._prefix}n{len(self.numbers)}")
            return f"({text})" if text.startswith("-") else text
        if node in self._inline:
            return self._body(node, _placed(node, at))
        return f"{self._names[node]}[{self._at(node, at)}]"

    def _body(self, node, loops):
        args = [self._value(arg, _moved(index, loops)) for arg, index in node.args]
        return self._form(node, args, loops)

    def _form(self, node, args, loops):
        return FORMS[node.f].format(*args)

    def _terms(self, v, at):
        """The place in a buffer as terms (loop, stride), a fixed one without loop; the last axis is contiguous."""
        given, shape = self._places.get(v.detail) if v.f == "input" else None, self._shape(v)
        terms = [("", given.begin)] if given else []
        for axis, (loop, offset) in enumerate(at):
            stride = given.strides[axis] if given else _times(shape[axis + 1:])
            terms += [(loop, stride)] if loop else []
            terms += [("", _times([str(offset), *[stride] * (stride != "1")]))] if offset else []
        return terms

    def _at(self, v, at):
        return " + ".join(loop if loop and stride == "1" else f"{loop} * {stride}" if loop else stride
                          for loop, stride in self._terms(v, at)) or "0"

    def given(self, name: str, x: Traced) -> str:
        """The statement that writes an output where it is asked for."""
        shape, order = self._shape(x.node), [k for group in x.groups for k in group]
        place = self._places.get(name) or Place(
            name, "", "0", [_times([shape[j] for j in order[k + 1:]]) for k in range(len(order))])
        at = " + ".join([place.begin, *(f"i{k} * {stride}" for k, stride in zip(order, place.strides, strict=True))])
        value = self._value(x.node, [(f"i{k}", 0) for k in range(len(shape))])
        return f"{self._round(x.node, order, shape)}{self._input(place.buffer)}[{at}] = {value};"


def _times(sizes):
    """A product, as text that may stand in another."""
    return "1" if not sizes else sizes[0] if len(sizes) == 1 else f"({' * '.join(sizes)})"


def _moved(index, loops):
    """Where an argument is read, given where the loops of its node are."""
    return [(None, offset) if loop is None else (loops[loop][0], loops[loop][1] + offset) for loop, offset in index]


def _placed(node, at):
    """Where the loops of an inlined node are, given where its values are read."""
    loops: list[Any] = [None] * len(node.loops)
    for k, where in zip(node.out, at, strict=True):
        loops[k] = where
    return loops


def _inlined(order: Sequence[Node], roots: set[Node]) -> set[Node]:
    """What is written where it is used: views, and what is used once in a place that has all its loops."""
    uses: dict[Node, int] = {}
    covered: dict[Node, bool] = {}
    read = {arg for v in order if v.f == "reshape" for arg, _ in v.args}
    found = set()
    for v in reversed(order):
        kept = v in roots or v in read or v.over or not v.args or v.f in ("concatenate", "reshape")
        view = v.f == "id" and not kept
        if v.f == "number" or view or (not kept and uses[v] == 1 and covered[v]):
            found.add(v)
        for arg, index in v.args:
            all_loops = {loop for loop, _ in index} >= set(range(len(v.loops)))
            uses[arg] = uses.get(arg, 0) + (uses[v] if view else 1)
            covered[arg] = covered.get(arg, True) and all_loops and (not view or covered[v])
    return found


def _text(number):
    value = float(number)
    named = {float("inf"): "Infinity", float("-inf"): "(-Infinity)"}
    return named.get(value) or ("NaN" if value != value else f"({value!r})" if value < 0 else repr(value))
