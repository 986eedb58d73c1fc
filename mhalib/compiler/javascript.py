"""Recorded formulas as JavaScript: loops over named buffers, in double precision, without any library."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from reprlib import repr as short

from mhalib.compiler.sizes import Place, Sizes, literal
from mhalib.compiler.trace import Node, Traced, Untraceable, topological

FORMS = {
    **dict.fromkeys(("id", "output", "reshape"), "{}"), "add": "({} + {})", "subtract": "({} - {})",
    "multiply": "({} * {})", "divide": "({} / {})", "negative": "(-{})", "absolute": "Math.abs({})",
    "exp": "Math.exp({})", "log": "Math.log({})", "expm1": "Math.expm1({})", "log1p": "Math.log1p({})",
    "sqrt": "Math.sqrt({})", "power": "Math.pow({}, {})", "tanh": "Math.tanh({})", "arctan": "Math.atan({})",
    "sin": "Math.sin({})", "cos": "Math.cos({})", "logaddexp": "logaddexp({}, {})", "maximum": "Math.max({}, {})",
    "minimum": "Math.min({}, {})", "where": "({} ? {} : {})", "equal": "+({} === {})", "greater": "+({} > {})",
    "less": "+({} < {})", "greater_equal": "+({} >= {})", "less_equal": "+({} <= {})"}
"""Elementwise functions. A comparison gives 0 or 1."""

LOGADDEXP = """const logaddexp = (a, b) =>
  a === b ? a + Math.LN2 : Math.max(a, b) + Math.log1p(Math.exp(-Math.abs(a - b)));"""
DEEPEST = 50
"""Forms within forms, at most."""


class Printer:
    """Statements for the recorded arrays ``outputs``, whose inputs are variables of the same names.

    ``made`` are the buffers to be made once, ``lines`` the statements, and ``at[name]`` where an output lies. Sizes are
    numbers, or the names that ``sizes`` gives them; ``places`` says what lies in a longer array. The loop of size
    ``sample`` is around the statements.
    """

    loop = "for (let {0} = 0; {0} < {1}; {0}++) "
    _over = {"sum": ("0", "sum += {};"), "max": ("-Infinity", "sum = Math.max(sum, {});")}
    """How a sum and a maximum begin, and go on."""
    outside = ""
    """What the names of arrays begin with that are read or written."""

    def __init__(self, outputs: Mapping[str, Traced], prefix: str, sizes: Sizes | None = None,
                 places: Mapping[str, Place] | None = None, sample: str | None = None) -> None:
        order, roots = topological(x.node for x in outputs.values()), {x.node for x in outputs.values()}
        self._sample = sample
        self._places, self._sizes = places or {}, sizes or Sizes([*outputs.values()], [*outputs.values()], {})
        self._names: dict[Node, str] = {}
        self._inline = _inlined(order, roots)
        self.made: list[str] = []
        self.memory: dict[str, tuple[str, str]] = {}
        self.lines: list[str] = []
        for v in order:
            if v.f in ("input", "output"):
                _require_printable(v.detail)
                self._names[v] = f"{self.outside}{v.detail}"
            elif v.f == "reshape":
                self._names[v] = self._names[v.args[0][0]]
            elif v not in self._inline:
                self._names[v] = f"{prefix}{len(self._names)}"
                self._make(v, self._names[v])
        written = [v for v in order if v not in self._inline and v.f not in ("input", "reshape", "constant")]
        self._refuse_lost(written)
        self._write_all(written)
        self.at: dict[str, str] = {name: self._names[x.node] for name, x in outputs.items() if x.node in self._names}

    def _refuse_lost(self, written):
        """Raise Untraceable where a result is written over an array that is read afterwards, or elsewhere in it."""
        lost, place = set(), lambda v: self._places.get(v.detail, (v.detail, "", "0"))[:3:2]
        for v in written:
            at, own = self._variables(self._sizes.loops[v]), {place(v)} if v.f == "output" else set()
            for arg, there in self._inputs(v, at):
                if place(arg) in lost or (place(arg) in own and there != at):
                    raise Untraceable(f"{v.line}: {arg.detail} is read after a result of that name; rename the result")
            lost |= own

    def _inputs(self, v, at):
        """The inputs that a statement reads, and where."""
        for arg, index in v.args:
            there = _moved(index, at)
            if arg in self._inline:
                yield from self._inputs(arg, _placed(arg, there))
            elif arg.f == "reshape":
                arg, there = arg.args[0][0], None
            if arg.f == "input":
                yield arg, there

    def _shape(self, v):
        return [self._sizes.loops[v][k] for k in v.out]

    def _variables(self, sizes):
        """Loops of these sizes, as places: (name, 0)."""
        return [("sample" if size == self._sample else f"i{k}", 0) for k, size in enumerate(sizes)]

    def _make(self, v, name):
        values = f"Float64Array.of({', '.join(map(literal, v.detail.ravel().tolist()))})" if v.f == "constant" else (
            f"new Float64Array({_times(self._shape(v))})")
        self.made.append(f"const {name} = {values};")

    def _write_all(self, nodes):
        for v in nodes:
            self._write(v, self._names[v])

    def _round(self, sizes, which):
        names = self._variables(sizes)
        return "".join(self.loop.format(names[k][0], sizes[k]) for k in which if sizes[k] != self._sample)

    def _write(self, v, name):
        sizes = self._sizes.loops[v]
        at, (kind, typed) = self._variables(sizes), self._kind(v)
        value, place = typed.format(self._body(v, at)), f"{name}[{_sum(self._terms(v, [at[k] for k in v.out]))}]"
        statement = self._put(v, place, "sum" if v.over else value)
        if v.over:
            (first, step), gone = self._over[v.over], [k for k in range(len(sizes)) if k not in v.out]
            statement = (f"{{ {kind} sum = {typed.format(first)}; {self._round(sizes, gone)}{step.format(value)} "
                         f"{statement} }}")
        self.lines.append(self._round(sizes, v.out) + statement)

    def _kind(self, v):
        """The type of a variable for the values of a node, and how a value gets it."""
        return "let", "{}"

    def _put(self, v, place, value):
        return f"{place} = {value};"

    def _value(self, node, at):
        """The value of a node at a place, an entry an axis: (loop, offset) or (None, offset)."""
        if node.f == "number":
            return self._sizes.numbers[node]
        if node in self._inline:
            return self._body(node, _placed(node, at))
        return f"{self._names[node]}[{_sum(self._terms(node, at))}]"

    def _body(self, node, loops):
        args = [self._read(node, arg, index, loops) for arg, index in node.args]
        return self._form(node, args, loops)

    def _read(self, v, arg, index, loops):
        """The value of an argument, which is 0 before its beginning and behind its end."""
        at, inside = _moved(index, loops), []
        for axis, ((loop, offset), (name, moved)) in enumerate(zip(index, at, strict=True)):
            inside += [f"{name or 0} >= {-moved}"] * (offset < 0)
            if loop is not None and v.loops[loop] + offset > arg.shape[axis]:
                inside.append(f"{name or 0} < {self._shape(arg)[axis]} - {moved}")
        value = self._value(arg, at)
        return f"({' && '.join(inside)} ? {value} : 0)" if inside else value

    def _form(self, node, args, loops):
        return f"({' + '.join(args)})" if node.f == "concatenate" else FORMS[node.f].format(*args)

    def _terms(self, v, at):
        """The place in a buffer as terms (loop, factors of its stride), a fixed one without loop."""
        given, shape, terms = self._places.get(v.detail) if v.f in ("input", "output") else None, self._shape(v), []
        for axis, (loop, offset) in enumerate(at):
            stride = [given.strides[axis]] if given else shape[axis + 1:]
            terms += [(loop, stride)] if loop else []
            terms += [("", [str(offset), *stride])] if offset else []
        return [("", [given.begin]), *terms] if given else terms


def _require_printable(name):
    """Check that the name of an array can be printed into a program: it may come from outside."""
    if not (name.isascii() and name.isidentifier()):
        raise ValueError(f"{short(name)}: expected the name of an array in letters of ASCII, digits and _; to carry "
                         "another name into a program, number the arrays")


def _times(sizes):
    """A product, as text that may stand in another."""
    kept = [size for size in sizes if size != "1"]
    return f"({' * '.join(kept)})" if len(kept) > 1 else kept[0] if kept else "1"


def _sum(terms):
    """A place, of its terms (loop, factors of its stride)."""
    return " + ".join(loop if loop and _times(stride) == "1" else f"{loop} * {_times(stride)}" if loop
                      else _times(stride) for loop, stride in terms) or "0"


def _moved(index, loops):
    """Where an argument is read, given where the loops of its node are."""
    return [(None, offset) if loop is None else (loops[loop][0], loops[loop][1] + offset) for loop, offset in index]


def _placed(node, at):
    """Where the loops of an inlined node are, given where its values are read."""
    return [at[node.out.index(k)] for k in range(len(node.loops))]


def _inlined(order: Sequence[Node], roots: set[Node]) -> set[Node]:
    """What is written where it is used: views, and what is used once in a place that has all its loops."""
    uses: dict[Node, int] = Counter()
    depth: dict[Node, int] = Counter()
    covered: dict[Node, bool] = defaultdict(lambda: True)
    read = {arg for v in order if v.f == "reshape" for arg, _ in v.args}
    found = set()
    for v in reversed(order):
        kept = v in roots or v in read or v.over or not v.args or v.f == "reshape"
        view = v.f == "id" and not kept
        if v.f == "number" or view or (not kept and uses[v] == 1 and covered[v] and depth[v] < DEEPEST):
            found.add(v)
        for arg, index in v.args:
            all_loops = {loop for loop, _ in index} >= set(range(len(v.loops)))
            uses[arg] += uses[v] if view else 1
            depth[arg] = max(depth[arg], depth[v] + 1 if v in found else 0)
            covered[arg] = covered[arg] and all_loops and (not view or covered[v])
    return found
