"""Recorded formulas as C++: one program for every size, for WebAssembly or the processor.

Samples are the lanes of the processor's registers: a program goes through them a few at a time, and reads like the
formula of one sample. What does not depend on a sample is computed before or after.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mhalib.compiler.javascript import FORMS, LOGADDEXP, Printer, _moved, _placed, _sum, _times
from mhalib.compiler.sizes import PRIMES, Place, Sizes, literal
from mhalib.compiler.trace import Node, Traced, Untraceable, array, beyond, in_order, strictly, topological

OPERATORS = {name: FORMS[name] for name in (
    "id", "output", "reshape", "add", "subtract", "multiply", "divide", "negative")}
FUNCTIONS = {"exp": "exp_({})", "sqrt": "root({})", "absolute": "abs_({})", "logaddexp": "logaddexp_({}, {})",
             "maximum": "larger({}, {})", "minimum": "smaller({}, {})", "where": "where({}, {}, {})",
             "equal": "equal({}, {})", "greater": "greater({}, {})", "greater_equal": "at_least({}, {})",
             "less": "greater({1}, {0})", "less_equal": "at_least({1}, {0})"}
"""Elementwise functions, those of runtime.h."""

PREFIXES = "abcefg"
"""Of the buffers of the first, the second, … entry: no name of an array or a size is one of these and a number."""


class Entry(Printer):
    """The C++ of one function of a program; ``memory`` has the type and length of every buffer."""

    loop = "for (int {0} = 0; {0} < {1}; {0}++) "
    outside = "at_"
    _over = {"sum": ("0.", "sum += {};"), "max": ("-__builtin_inf()", "sum = larger(sum, {});")}

    def _of_samples(self, v):
        return self._sample in self._sizes.loops[v]

    def _lanes(self, v):
        """Whether its values are those of some samples, side by side."""
        return self._sample in super()._shape(v)

    def _sums(self, v):
        """Whether it is a sum over the samples."""
        return self._of_samples(v) and not self._lanes(v)

    def _shape(self, v):
        return ["1" if size == self._sample and v.f != "output" else size for size in super()._shape(v)]

    def _make(self, v, name):
        if v.f == "constant":
            numbers = ", ".join(map(literal, v.detail.ravel().tolist()))
            self.made.append(f"static const double {name}[] = {{{numbers}}};")
            return
        self.memory[name] = "vec" if self._lanes(v) else "double", _times(self._shape(v))
        if self._sums(v):
            self.memory[f"{name}_"] = "vec", _times(self._shape(v))

    def _write_all(self, nodes):
        stage: dict[Node, int] = {}  # in which loop over samples; or, of what is no sample's, before which
        for v in topological(nodes):
            self._refuse(v)
            stage[v] = max((stage[arg] + self._sums(arg) for arg, _ in v.args), default=0)
        for s in range(max(stage.values()) + 1):
            own = [v for v in nodes if stage[v] == s]
            super()._write_all([v for v in own if not self._of_samples(v)])
            if results := [v for v in own if self._sums(v) or (self._lanes(v) and v.f == "output")]:
                self._over_samples(results, nodes)

    def _refuse(self, v):
        """Raise Untraceable for what has no compiled form."""
        sizes, n = self._sizes.loops[v], self._sample
        across = [(loop is not None and sizes[loop] == n) != (size == n) for arg, index in v.args
                  for (loop, _), size in zip(index, Printer._shape(self, arg), strict=True)]
        if sizes.count(n) > 1 or any(across):
            raise Untraceable(f"{v.line}: samples meet each other, which lanes cannot")
        what = "a maximum over samples" if self._sums(v) and v.over == "max" else "concatenate" if beyond(v) else v.f
        if what != v.f or (v.args and v.f not in (*OPERATORS, *FUNCTIONS)):
            raise Untraceable(f"{v.line}: {what} has no compiled form")

    def _over_samples(self, results, nodes):
        needed = [v for v in topological(results) if self._of_samples(v)]
        each = [(self._names[v], f"for (long k = 0; k < {_times(self._shape(v))}; k++) {self._names[v]}")
                for v in results if self._sums(v)]
        self.lines.extend([*(f"{one}_[k] = wide(0.);" for _, one in each),
                           f"for (int sample = 0; sample * LANES < {self._sample}; sample++) {{",
                           f"[[maybe_unused]] const bits real = real_samples(sample, {self._sample});"])
        self.lines.extend(f"const vec *{name} = {name}_ + sample * (long){_times(self._shape(v))};"
                          for v in needed if v.f == "input" and (name := self._names[v]))
        super()._write_all([v for v in nodes if v in needed])
        self.lines.extend(["}", *(f"{one}[k] = fold({name}_[k]);" for name, one in each)])

    def _kind(self, v):
        return ("vec", "wide({})") if self._of_samples(v) else ("double", "{}")

    def _put(self, v, place, value):
        if v.f == "output" and self._lanes(v):  # each lane to its own place
            return f"for (int l = 0; l < LANES && sample * LANES + l < {self._sample}; l++) {place} = {value}[l];"
        return f"{place} += only(real, {value});" if self._sums(v) else super()._put(v, place, value)

    def _write(self, v, name):
        name = f"{name}_" if self._sums(v) else name
        if not self._product(v, name):
            super()._write(v, name)

    def _product(self, v, target):
        """Whether it is written as a product of matrices, or several: of two stored arrays, or views of such."""
        sizes, at = self._sizes.loops[v], self._variables(self._sizes.loops[v])
        size_of = {name: size for (name, _), size in zip(at, sizes, strict=True)}
        out = [at[k][0] for k in v.out if sizes[k] != self._sample]
        gone = [name for name, size in size_of.items() if name not in out and size != self._sample]
        if v.f != "multiply" or v.over != "sum" or len(gone) != 1:
            return False
        factors = [self._viewed(arg, _moved(index, at)) for arg, index in v.args]
        if not self._lanes(v.args[0][0]):  # the first factor is the one of samples: fewer forms of the product
            factors.reverse()
        (A, a), (B, b) = factors
        c = self._terms(v, [at[k] for k in v.out])
        rows, columns = ([k for k in out if k in dict(own) and k not in dict(other)] for own, other in ((a, b), (b, a)))
        if not A or not B or not columns:
            return False
        i, over, j = rows.pop() if rows else None, *gone, columns.pop()
        count, moving = [size_of.get(i, "1")], {i, over, j}
        # Rows of several matrices that lie one behind the other are those of one: of heads, each with a row or two.
        while rows and all(_times(steps[rows[-1]]) == _times([*count, *steps[i]]) for steps in (dict(a), dict(c))):
            moving.add(rows[-1])
            count.insert(0, size_of[rows.pop()])

        def matrix(name, terms, *loops):
            begin = [_sum([term]) for term in terms if term[0] not in moving]
            return f"{' + '.join([name, *begin])}, {', '.join(_times(dict(terms).get(k, ['0'])) for k in loops)}"

        self.lines.append(
            f"{self._round(sizes, [k for k in v.out if at[k][0] not in moving])}"
            f"product({_times(count)}, {size_of[over]}, {size_of[j]}, {matrix(A, a, i, over)}, "
            f"{matrix(B, b, over, j)}, {matrix(target, c, i, j)}{', real' if self._sums(v) else ''});")
        return True

    def _viewed(self, node, at):
        """The name and the terms of what is stored, of which node is a view; no name if it is no view."""
        if node in self._inline and node.f == "id":
            (arg, index), = node.args
            return self._viewed(arg, _moved(index, _placed(node, at)))
        return ("", []) if node in self._inline else (self._names[node], self._terms(node, at))

    def _terms(self, v, at):
        terms = super()._terms(v, at)
        if v.f == "output":
            return [("(sample * LANES + l)" if loop == "sample" else loop, stride) for loop, stride in terms]
        return [term for term in terms if term[0] != "sample"]

    def _form(self, node, args, loops):
        wide = node.f in FUNCTIONS and any(one and one[0] == "sample" for one in loops)
        return (OPERATORS | FUNCTIONS)[node.f].format(*(f"wide({arg})" if wide else arg for arg in args))


@dataclass(eq=False)
class Program:
    """A function of arrays as one program for all sizes, in C++ or JavaScript.

    Raises Untraceable, naming file and line, for what cannot be recorded or printed.

    Parameters
    ----------
    formulas : the function: arrays by name → for each entry of the program, its results by name, the first a number
        that the entry gives back
    shapes : name of an array → the sizes of its axes, such as "n T d"
    sample : the size whose axis is that of the samples
    places : where arrays lie that are parts of a longer one
    number : name of a number > 0 that the formulas get beside the arrays, and of which powers occur
    """

    formulas: Callable[[dict[str, Any]], Mapping[str, Mapping[str, Any]]]
    shapes: Mapping[str, str]
    sample: str
    places: Mapping[str, Place] = field(default_factory=dict)
    number: str | None = None

    def __post_init__(self) -> None:
        sizes = dict.fromkeys(size for shape in self.shapes.values() for size in shape.split())
        self.sizes: tuple[str, ...] = (*sizes, *([self.number] if self.number else []))
        values = [dict(zip(self.sizes, primes, strict=False)) for primes in PRIMES]
        given = [{name: array(name, [own[size] for size in shape.split()]) for name, shape in self.shapes.items()}
                 | ({self.number: float(own[self.number])} if self.number else {}) for own in values]
        with strictly():
            one, two = ({entry: {name: in_order(x, "output", name) for name, x in results.items()}
                         for entry, results in self.formulas(arrays).items()} for arrays in given)
        self._names = Sizes(*([x for results in record.values() for x in results.values()] for record in (one, two)),
                            {size: (values[0][size], values[1][size]) for size in self.sizes})
        self.entries: Mapping[str, Mapping[str, Traced]] = one
        self.arrays: dict[str, str] = {}
        """Name of what is written or read from outside → its length."""
        results = [(name, self._names.loops[x.node]) for results in one.values() for name, x in results.items()]
        for name, shape in [*((name, shape.split()) for name, shape in self.shapes.items()), *results]:
            place = self.places.get(name)
            self.arrays[place.buffer if place else name] = place.length if place else _times(shape)

    def text(self) -> str:
        """The program in C++."""
        printed = {name: Entry(results, PREFIXES[k], self._names, self.places, self.sample)
                   for k, (name, results) in enumerate(self.entries.items())}
        lanes = {name: shape.split()[1:] for name, shape in self.shapes.items() if shape.split()[0] == self.sample}
        memory = {f"at_{name}": ("double", length) for name, length in self.arrays.items()}
        memory |= {f"at_{name}_": ("vec", _times([f"(({self.sample} + LANES - 1) / LANES)", *rest]))
                   for name, rest in lanes.items()}
        for entry in printed.values():
            memory |= entry.memory
        return "\n".join([
            '#include "runtime.h"',
            *(f"static {'double' if size == self.number else 'int'} {size};" for size in self.sizes),
            "static char *base;", *(f"#define at_{name} at_{place.buffer}" for name, place in self.places.items()),
            *(f"static {kind} *{name};" for name, (kind, _) in memory.items()),
            *(f"static double {name};" for name in self._names.named.values()),
            *(one for entry in printed.values() for one in entry.made),
            "API(double, layout)(char *begin, const double *sizes)", "{",
            "double end = (double)(__INTPTR_TYPE__)(base = begin);",
            *(f"[[maybe_unused]] const double {size} = ::{size} = sizes[{k}];" for k, size in enumerate(self.sizes)),
            *(f"{name} = {text};" for text, name in self._names.named.items()),
            *(f"take(end, {name}, {length});" for name, (_, length) in memory.items()),
            "return end - (__INTPTR_TYPE__)begin;", "}",
            *(f"API(long, place_{name})(void) {{ return (char *)at_{name} - base; }}\n"
              f"API(long, length_{name})(void) {{ return (long){length}; }}" for name, length in self.arrays.items()),
            "API(void, loaded)(char *begin, const double *sizes)", "{", "layout(begin, sizes);",
            *(f"pack(at_{name}, at_{name}_, {self.sample}, {_times(rest)});" for name, rest in lanes.items()), "}",
            *(line for name, entry in printed.items() for line in (
                f"API(double, {name})(char *begin, const double *sizes)", "{", "layout(begin, sizes);", *entry.lines,
                f"return {next(iter(entry.at.values()))}[0];", "}")), ""])

    def javascript(self) -> str:
        """The same program as a module of JavaScript, for where no WebAssembly may run."""
        printed = {name: Printer(results, PREFIXES[k], self._names, self.places)
                   for k, (name, results) in enumerate(self.entries.items())}
        return "\n".join([
            "const root = Math.sqrt;", LOGADDEXP, f"export function program([{', '.join(self.sizes)}]) {{",
            *(f"const {name} = new Float64Array({length});" for name, length in self.arrays.items()),
            *(f"const {name} = {place.buffer};" for name, place in self.places.items()),
            *(f"const {name} = {text};" for text, name in self._names.named.items()),
            *(one for entry in printed.values() for one in entry.made), "const run = {",
            *(line for name, entry in printed.items() for line in (
                f"{name}() {{", *entry.lines, f"return {next(iter(entry.at.values()))}[0];", "},")), "};",
            f"return {{ {', '.join(self.arrays)}, loaded() {{}}, call: (name) => run[name]() }};", "}", ""])
