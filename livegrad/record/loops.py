"""A record as loop nests: statements over named buffers, in no language yet.

A record is lowered once; JavaScript and C++ are two ways to print what comes of it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from reprlib import repr as short
from typing import NamedTuple

import numpy as np

from livegrad.record.sizes import Place, Sizes
from livegrad.record.trace import Node, Traced, Untraceable, topological

At = list[tuple[str | None, int]]
"""A place in an array, an entry an axis: the loop that it follows, or none, and how much is
added."""
SAMPLE = "sample"
"""The loop over samples, which is around all others."""
TAKEN = frozenset(
    re.findall(
        r"\w+",
        """
    sum sample root run program call loaded base begin end sizes real logaddexp LANES await break
    case catch class const continue debugger default delete do else enum export extends false
    finally for function if implements import in instanceof interface let new null package private
    protected public return static super switch this throw true try typeof var void while with
    yield
""",
    )
)
"""Names that printed programs have for something else, and the words of JavaScript."""
# Each level is several calls deep when it is lowered, and Python's recursion is limited.
DEEPEST = 50
"""Expressions within expressions, at most."""


@dataclass(frozen=True, eq=False)
class Buffer:
    """An array of a program: its sizes by name, and where it lies if it is part of a longer one.

    ``kind`` is "input" or "output" of what is read or written from outside, "constant" of numbers
    that the formula has brought along, "made" of what is computed on the way, and "view" of another
    buffer in this shape.
    """

    name: str
    shape: tuple[str, ...]
    kind: str
    place: Place | None = None
    numbers: np.ndarray | None = None
    of: "Buffer | None" = None

    @property
    def is_given(self) -> bool:
        """Whether it is read or written from outside."""
        return self.of.is_given if self.of else self.kind in ("input", "output")


@dataclass(frozen=True)
class Number:
    """A number, or the name of one that depends on sizes."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Read:
    """An entry of a buffer. ``shape`` is that of what the formula reads, which may be a view with
    more axes."""

    buffer: Buffer
    at: At
    shape: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.buffer.name}[{', '.join(map(_shown, self.at))}]"


@dataclass(frozen=True)
class Apply:
    """An elementwise function of expressions, within some loops."""

    f: str
    args: "tuple[Expression, ...]"
    loops: tuple[str | None, ...]

    def __str__(self) -> str:
        return f"{self.f}({', '.join(map(str, self.args))})"


class Bound(NamedTuple):
    """A comparison that holds inside of an array: ``loop >= than`` or ``loop < than``."""

    loop: str
    sign: str
    than: str


@dataclass(frozen=True)
class Inside:
    """A value where all the bounds hold, and 0 elsewhere."""

    bounds: tuple[Bound, ...]
    value: "Expression"

    def __str__(self) -> str:
        return f"({self.value} if {' and '.join(map(' '.join, self.bounds))} else 0)"


Expression = Number | Read | Apply | Inside


class Loop(NamedTuple):
    """``for name in range(size)``."""

    name: str
    size: str


@dataclass(frozen=True, eq=False)
class Assignment:
    """``target[out] = value`` in loops, or a sum or a maximum ``over`` the loops that are not in
    ``out``.

    ``f`` is the step of the record that it was, and ``line`` where in the formula that stands. Of a
    "pick" the value is one of places and of what is read or added up there: the first loop is at
    the place, and nowhere else.
    """

    target: Buffer
    loops: tuple[Loop, ...]
    out: tuple[int, ...]
    over: str | None
    value: Expression
    f: str
    line: str

    @property
    def at(self) -> At:
        """Where in the target it writes."""
        return [(self.loops[k].name, 0) for k in self.out]

    @property
    def gone(self) -> list[Loop]:
        """The loops that are summed over, or that a maximum is taken over."""
        return [loop for k, loop in enumerate(self.loops) if k not in self.out]

    def __str__(self) -> str:
        kept = ", ".join(f"{name} < {size}" for name, size in (self.loops[k] for k in self.out))
        lost = ", ".join(f"{name} < {size}" for name, size in self.gone)
        value = f"{self.over} over {lost} of {self.value}" if lost else self.value
        return f"{f'for {kept}: ' if kept else ''}{Read(self.target, self.at, ())} = {value}"


@dataclass(frozen=True, eq=False)
class Nests:
    """The statements of a program in their order, the buffers made for them, and where each result
    lies."""

    statements: list[Assignment]
    made: list[Buffer]
    results: dict[str, Buffer]

    def __str__(self) -> str:
        return "\n".join(map(str, self.statements))


def lower(
    outputs: Mapping[str, Traced],
    prefix: str,
    sizes: Sizes | None = None,
    places: Mapping[str, Place] | None = None,
    sample: str | None = None,
) -> Nests:
    """The loop nests of recorded arrays, whose inputs are buffers of the same names.

    Sizes are numbers, or the names that ``sizes`` gives them; ``places`` says what lies in a longer
    array. The loop of size ``sample`` is called so.

    Raises Untraceable where a result would be written over what is read later, or a part of a
    longer array is read in another shape; ValueError for the name of an array that cannot be
    printed.

    Examples
    --------
    >>> from livegrad.record import array
    >>> a, b = array("a", (3, 5)), array("b", (5, 4))
    >>> print(lower({"c": np.exp(a) @ b}, "made"))
    for i0 < 3, i1 < 5: made1[i0, i1] = exp(a[i0, i1])
    for i0 < 3, i2 < 4: made3[i0, i2] = sum over i1 < 5 of multiply(made1[i0, i1], b[i1, i2])
    """
    return _Lowering(
        outputs,
        prefix,
        sizes or Sizes([*outputs.values()], [*outputs.values()], {}),
        places or {},
        sample,
    ).nests(outputs)


def reads(value: Expression) -> Iterator[Read]:
    """What an expression reads, from left to right."""
    if isinstance(value, Read):
        yield value
    elif isinstance(value, Inside):
        yield from reads(value.value)
    elif isinstance(value, Apply):
        for arg in value.args:
            yield from reads(arg)


def terms(buffer: Buffer, shape: Sequence[str], at: At) -> list[tuple[str, list[str]]]:
    """A place in a buffer as terms: a loop and the factors of its stride, and what is fixed without
    a loop."""
    found: list[tuple[str, list[str]]] = []
    for axis, (loop, offset) in enumerate(at):
        stride = [buffer.place.strides[axis]] if buffer.place else [*shape[axis + 1 :]]
        if loop:
            found.append((loop, stride))
        if offset:
            found.append(("", [str(offset), *stride]))
    return [("", [buffer.place.begin]), *found] if buffer.place else found


def product_of(sizes: Sequence[str]) -> str:
    """A product, as text that may stand in another."""
    kept = [size for size in sizes if size != "1"]
    return f"({' * '.join(kept)})" if len(kept) > 1 else kept[0] if kept else "1"


def sum_of(parts: Sequence[tuple[str, list[str]]]) -> str:
    """A place, of its terms."""
    return " + ".join(map(_term, parts)) or "0"


def _term(part):
    loop, stride = part
    factor = product_of(stride)
    if not loop:
        return factor
    return loop if factor == "1" else f"{loop} * {factor}"


def _shown(part):
    loop, offset = part
    return f"{loop} + {offset}" if loop and offset else loop or str(offset)


def _row_by_row(shape: Sequence[str]) -> list[str]:
    """The strides of an array whose rows lie one behind the other."""
    return [product_of(shape[axis + 1 :]) for axis in range(len(shape))]


@dataclass
class _Lowering:
    """The buffers of nodes, and the expressions that read them."""

    outputs: Mapping[str, Traced]
    prefix: str
    sizes: Sizes
    places: Mapping[str, Place]
    sample: str | None
    buffers: dict[Node, Buffer] = field(default_factory=dict)

    def nests(self, outputs):
        order = topological(x.node for x in outputs.values())
        roots = {x.node for x in outputs.values()}
        self.inline = _inlined(order, roots)
        for v in order:
            if v not in self.inline or v.f == "reshape":
                self.buffers[v] = self.buffer(v)
        statements = [
            self.statement(v)
            for v in order
            if v not in self.inline and v.f not in ("input", "reshape", "constant")
        ]
        self.refuse_lost(statements)
        made = [b for b in self.buffers.values() if b.kind in ("made", "constant")]
        results = {
            name: self.buffers[x.node] for name, x in outputs.items() if x.node in self.buffers
        }
        return Nests(statements, made, results)

    def buffer(self, v):
        shape = self.shape(v)
        if v.f in ("input", "output"):
            _require_printable(v.detail)
            return Buffer(v.detail, shape, v.f, self.places.get(v.detail))
        if v.f == "reshape":
            of = self.buffers[v.args[0][0]]
            # A part of a longer array has its strides: its numbers need not lie one behind the other.
            if of.place and list(of.place.strides) != _row_by_row(of.shape):
                raise Untraceable(
                    f"{v.line}: {of.name}, which lies in a longer array, is read in another "
                    f"shape; read 1.0 * {of.name}"
                )
            place = of.place and of.place._replace(strides=_row_by_row(shape))
            return Buffer(of.name, shape, "view", place, of=of)
        name = f"{self.prefix}{len(self.buffers)}"
        return Buffer(
            name,
            shape,
            "constant" if v.f == "constant" else "made",
            numbers=v.detail if v.f == "constant" else None,
        )

    def shape(self, v):
        return tuple(self.sizes.loops[v][k] for k in v.out)

    def statement(self, v):
        names = [
            SAMPLE if size == self.sample else f"i{k}" for k, size in enumerate(self.sizes.loops[v])
        ]
        value = self.body(v, [(name, 0) for name in names])
        loops = tuple(map(Loop, names, self.sizes.loops[v]))
        return Assignment(self.buffers[v], loops, v.out, v.over, value, v.f, v.line)

    def body(self, v, loops):
        """The value of a node, given where its loops are."""
        args = tuple(self.read(v, arg, index, loops) for arg, index in v.args)
        if v.f in ("id", "output", "reshape"):
            return args[0]
        return Apply(v.f, args, tuple(loop for loop, _ in loops))

    def read(self, v, arg, index, loops):
        """An argument at its index, which is 0 before its beginning and past its end."""
        at, bounds = _moved(index, loops), []
        for axis, ((loop, offset), (name, moved)) in enumerate(zip(index, at, strict=True)):
            # Its own offset says whether a bound is needed; `moved` adds the offsets around it.
            if offset < 0:
                bounds.append(Bound(name or "0", ">=", str(-moved)))
            if loop is not None and v.loops[loop] + offset > arg.shape[axis]:
                bounds.append(Bound(name or "0", "<", f"{self.shape(arg)[axis]} - {moved}"))
        value = self.value(arg, at)
        return Inside(tuple(bounds), value) if bounds else value

    def value(self, v, at):
        """The value of a node at a place."""
        if v.f == "number":
            return Number(self.sizes.numbers[v])
        if v not in self.inline:
            return Read(self.buffers[v], at, self.shape(v))
        # What is inlined reduces nothing, so that each of its loops is an axis of its result.
        value = self.body(v, [at[v.out.index(k)] for k in range(len(v.loops))])
        return replace(value, shape=self.shape(v)) if isinstance(value, Read) else value

    def refuse_lost(self, statements):
        """Refuse a result that is written over an array that is read afterwards, or elsewhere in
        it."""
        lost = set()
        for one in statements:
            own = {_lies(one.target)} if one.target.kind == "output" else set()
            at = [(loop.name, 0) for loop in one.loops]
            for read in reads(one.value):
                base = read.buffer.of or read.buffer
                # A statement may read an entry that it then writes, as W = W − η · slope does.
                if base.kind == "input" and (
                    _lies(base) in lost
                    or (_lies(base) in own and (read.buffer.of or read.at != at))
                ):
                    raise Untraceable(
                        f"{one.line}: {base.name} is read after a result of that name; rename "
                        f"the result"
                    )
            lost |= own


def _lies(buffer):
    """In which array a buffer lies, and where that begins."""
    return (buffer.place.buffer, buffer.place.begin) if buffer.place else (buffer.name, "0")


def _moved(index, loops):
    """Where an argument is read, given where the loops of its node are."""
    return [
        (None, offset) if loop is None else (loops[loop][0], loops[loop][1] + offset)
        for loop, offset in index
    ]


def _require_printable(name):
    """Check that the name of an array can be printed into a program: it may come from outside."""
    if not (name.isascii() and name.isidentifier()):
        raise ValueError(
            f"{short(name)}: expected the name of an array in letters of ASCII, digits and _; to "
            "carry another name into a program, number the arrays"
        )
    if name in TAKEN or re.fullmatch(r"i\d+", name):
        raise ValueError(
            f"{name}: expected a name that programs do not use themselves; take {name}_"
        )


def _inlined(order: Sequence[Node], roots: set[Node]) -> set[Node]:
    """The nodes that are written where they are used, and have no array of their own.

    These are numbers and views, and what is used once, by a statement that has all loops of it: in
    a statement with fewer or more loops it would be computed again in each round. The nodes are
    visited from the results backward, so whoever uses a node has been visited before it.
    """
    uses: dict[Node, int] = Counter()  # in how many places it is read; a view counts as its places
    depth: dict[Node, int] = Counter()  # how many expressions it would stand within
    # whether all that read it have all loops
    covered: dict[Node, bool] = defaultdict(lambda: True)
    # A reshape is a view of memory, and of a pick each lane reads at a place of its own: so what
    # they read has to be stored.
    read = {arg for v in order if v.f in ("reshape", "pick") for arg, _ in v.args}
    found = set()
    for v in reversed(order):
        kept = v in roots or v in read or v.over or not v.args or v.f == "reshape"
        view = v.f == "id" and not kept
        if (
            v.f == "number"
            or view
            or (not kept and uses[v] == 1 and covered[v] and depth[v] < DEEPEST)
        ):
            found.add(v)
        for arg, index in v.args:
            # Read without one of the loops, it would be computed again in every round of that.
            all_loops = {loop for loop, _ in index} >= set(range(len(v.loops)))
            uses[arg] += uses[v] if view else 1
            depth[arg] = max(depth[arg], depth[v] + 1 if v in found else 0)
            covered[arg] = covered[arg] and all_loops and (not view or covered[v])
    return found
