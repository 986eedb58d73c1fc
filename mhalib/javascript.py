"""Recorded formulas as JavaScript: loops over named buffers, in double precision, without any library."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

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

    ``made`` are the buffers to be made once, ``lines`` the statements, and ``at[name]`` where an output lies.
    """

    def __init__(self, outputs: Mapping[str, Traced], prefix: str) -> None:
        order, roots = topological(x.node for x in outputs.values()), {x.node for x in outputs.values()}
        self._names: dict[Node, str] = {}
        self._inline = _inlined(order, roots)
        self.made: list[str] = []
        self.lines: list[str] = []
        for node in order:
            if node.f == "input":
                self._names[node] = str(node.detail)
            elif node.f == "reshape":
                self._names[node] = self._names[node.args[0][0]]
            elif node not in self._inline:
                self._names[node] = name = f"{prefix}{len(self._names)}"
                values = f"Float64Array.of({', '.join(map(_text, node.detail.ravel()))})" if node.f == "constant" else (
                    f"new Float64Array({prod(node.shape)})")
                self.made.append(f"const {name} = {values};")
                if node.f != "constant":
                    self._write(node, name)
        self.at: dict[str, str] = {name: self._names[x.node] for name, x in outputs.items()}

    def _write(self, node, name):
        if node.f == "concatenate":
            joined, begins = node.detail
            for (arg, index), begin in zip(node.args, begins, strict=True):
                axis = next((k for k, (loop, _) in enumerate(index) if loop == joined), None)
                sizes = list(node.loops)
                sizes[joined] = 1 if axis is None else arg.shape[axis]
                place = [(f"i{k}", begin if k == joined else 0) for k in range(len(sizes))]
                value = self._value(arg, [(None if loop is None else f"i{loop}", offset) for loop, offset in index])
                self.lines.append(f"{_loops(range(len(sizes)), sizes)}{name}[{_place(place, node.shape)}] = {value};")
            return
        place = _place([(f"i{k}", 0) for k in node.out], node.shape)
        value = self._body(node, [(f"i{k}", 0) for k in range(len(node.loops))])
        gone = [k for k in range(len(node.loops)) if k not in node.out]
        outer = _loops(node.out, node.loops)
        if not node.over:
            self.lines.append(f"{outer}{name}[{place}] = {value};")
            return
        start, step = ("0", f"s += {value};") if node.over == "sum" else (
            "-Infinity", f"s = Math.max(s, {value});")
        self.lines.append(f"{outer}{{ let s = {start}; {_loops(gone, node.loops)}{step} {name}[{place}] = s; }}")

    def _value(self, node, at):
        """The value of a node at a place, an entry an axis: (loop, offset) or (None, offset)."""
        if node.f == "number":
            return _text(node.detail)
        if node in self._inline:
            loops: list[Any] = [None] * len(node.loops)
            for k, where in zip(node.out, at, strict=True):
                loops[k] = where
            return self._body(node, loops)
        return f"{self._names[node]}[{_place(at, node.shape)}]"

    def _body(self, node, loops):
        def moved(loop, offset):
            return (None, offset) if loop is None else (loops[loop][0], loops[loop][1] + offset)
        return FORMS[node.f].format(*(self._value(arg, [moved(*one) for one in index]) for arg, index in node.args))


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


def _loops(which, sizes):
    return "".join(f"for (let i{k} = 0; i{k} < {sizes[k]}; i{k}++) " for k in which)


def _place(at, shape):
    """The place in a buffer, of which the last axis lies side by side."""
    terms, fixed = [], 0
    for axis, (loop, offset) in enumerate(at):
        stride = prod(shape[axis + 1:])
        fixed += offset * stride
        if loop is not None:
            terms.append(loop if stride == 1 else f"{loop} * {stride}")
    return " + ".join([*terms, *([str(fixed)] if fixed or not terms else [])])


def _text(number):
    value = float(number)
    named = {float("inf"): "Infinity", float("-inf"): "(-Infinity)"}
    return named.get(value) or ("NaN" if value != value else f"({value!r})" if value < 0 else repr(value))
