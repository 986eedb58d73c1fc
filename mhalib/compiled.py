"""Recorded formulas as C++: one program for every size, for WebAssembly or the processor.

Samples are the lanes of the processor's registers: a program goes through them a few at a time, and reads like the
formula of one sample. What does not depend on a sample is computed before or after.
"""

from collections.abc import Callable, Mapping
from typing import Any

from mhalib.javascript import LOGADDEXP, Printer, _moved, _placed, _times
from mhalib.sizes import PRIMES, Place, Sizes
from mhalib.trace import Node, Traced, Untraceable, array, strictly, topological

OPERATORS = {"id": "{}", "add": "({} + {})", "subtract": "({} - {})", "multiply": "({} * {})", "divide": "({} / {})",
             "negative": "(-{})"}
FUNCTIONS = {"exp": "exp_({})", "sqrt": "root({})", "absolute": "abs_({})", "logaddexp": "logaddexp_({}, {})",
             "maximum": "larger({}, {})", "minimum": "smaller({}, {})", "where": "where({}, {}, {})",
             "equal": "equal({}, {})", "greater": "greater({}, {})", "greater_equal": "at_least({}, {})",
             "less": "greater({1}, {0})", "less_equal": "at_least({1}, {0})"}
"""Elementwise functions, those of runtime.h."""

PREFIXES = "abcefg"
"""Of the buffers of the first, the second, … entry: no name of an array or a size is one of these and a number."""


class Entry(Printer):
    """The C++ of one function of a program, which computes ``outputs``; samples are the loops of size ``sample``."""

    loop = "for (int {0} = 0; {0} < {1}; {0}++) "

    def __init__(self, outputs: Mapping[str, Traced], prefix: str, sizes: Sizes, places: Mapping[str, Place],
                 sample: str) -> None:
        self._sample, self._outputs = sample, outputs
        self.memory: dict[str, tuple[str, str]] = {}
        """Name of a buffer → type and length."""
        super().__init__(outputs, prefix, sizes, places)

    def _input(self, name):
        return f"at_{name}"

    def _of_samples(self, v):
        return self._sample in self._loops(v)

    def _lanes(self, v):
        """Whether its values are those of some samples, side by side."""
        return self._sample in super()._shape(v)

    def _sums(self, v):
        """Whether it is a sum over the samples."""
        found = self._of_samples(v) and not self._lanes(v)
        if found and v.over != "sum":
            raise Untraceable(f"{v.line}: a maximum over samples has no compiled form")
        return found

    def _shape(self, v):
        return [size for size in super()._shape(v) if size != self._sample]

    def _make(self, v, name):
        if v.f == "constant":
            self.made.append(f"static const double {name}[] = {{{', '.join(map(repr, v.detail.ravel().tolist()))}}};")
            return
        self.memory[name] = "vec" if self._lanes(v) else "double", _times(self._shape(v))
        if self._sums(v):
            self.memory[f"{name}_"] = "vec", _times(self._shape(v))

    def _write_all(self, nodes):
        stage: dict[Node, int] = {}  # in which loop over samples; or, of what is no sample's, before which
        for v in topological(x.node for x in self._outputs.values()):
            stage[v] = max((stage[arg] + self._sums(arg) for arg, _ in v.args), default=0)
        for s in range(max(stage.values()) + 1):
            super()._write_all([v for v in nodes if stage[v] == s and not self._of_samples(v)])
            sums = [v for v in nodes if stage[v] == s and self._sums(v)]
            seen = {name: x for name, x in self._outputs.items() if self._lanes(x.node) and stage[x.node] == s}
            if sums or seen:
                self._over_samples(sums, seen, nodes)
        self.lines.extend(self.given(name, x) for name, x in self._outputs.items() if not self._lanes(x.node))

    def _over_samples(self, sums, seen, nodes):
        needed = [v for v in topological([*sums, *(x.node for x in seen.values())]) if self._of_samples(v)]
        each = [f"for (long k = 0; k < {_times(self._shape(v))}; k++) {self._names[v]}" for v in sums]
        self.lines.extend([*(f"{one}_[k] = wide(0.);" for one in each),
                           f"for (int sample = 0; sample * LANES < {self._sample}; sample++) {{",
                           f"const bits real = real_samples(sample, {self._sample});"])
        self.lines.extend(f"const vec *{name} = {name}_ + sample * (long){_times(self._shape(v))};"
                          for v in needed if v.f == "input" and (name := self._names[v]))
        super()._write_all([v for v in nodes if v in needed])
        self.lines.extend(self.given(name, x) for name, x in seen.items())
        self.lines.append("}")
        self.lines.extend(f"{one}[k] = fold({self._names[v]}_[k]);" for one, v in zip(each, sums, strict=True))

    def _write(self, v, name):
        sizes, sums = self._loops(v), self._sums(v)
        if v.f == "concatenate":
            raise Untraceable(f"{v.line}: concatenate has no compiled form")
        if sizes.count(self._sample) > 1:
            raise Untraceable(f"{v.line}: samples meet each other, which lanes cannot")
        at = [("sample" if size == self._sample else f"i{k}", 0) for k, size in enumerate(sizes)]
        out, gone = ([k for k, size in enumerate(sizes) if (k in v.out) == inside and size != self._sample]
                     for inside in (True, False))
        out.sort(key=v.out.index)
        target = f"{name}_" if sums else name
        if v.over == "sum" and len(gone) == 1 and self._product(v, target, out, gone[0], at):
            return
        kind, wide = ("vec", "wide({})") if self._of_samples(v) else ("double", "{}")
        value, begin = wide.format(self._body(v, at)), ""
        if gone:
            first, step = ("0.", f"sum += {value};") if v.over == "sum" else (
                "-__builtin_inf()", f"sum = larger(sum, {value});")
            begin, value = f"{kind} sum = {wide.format(first)}; {self._round(v, gone)}{step} ", "sum"
        put = f"+= only(real, {value})" if sums else f"= {value}"
        place = f"{target}[{self._at(v, [at[k] for k in v.out])}]"
        self.lines.append(f"{self._round(v, out)}{{ {begin}{place} {put}; }}")

    def _product(self, v, target, out, over, at):
        """Whether it is written as a product of matrices, or several: of two stored arrays, or views of such."""
        stored = [arg.f != "number" and (arg not in self._inline or arg.f == "id") for arg, _ in v.args]
        if v.f != "multiply" or not all(stored):
            return False
        factors = [(*self._viewed(arg, _moved(index, at)), {loop for loop, _ in index}) for arg, index in v.args]
        if not self._lanes(v.args[0][0]):  # the first factor is the one of samples: fewer forms of the product
            factors.reverse()
        (A, a, one), (B, b, two) = factors
        rows, columns = [k for k in out if k in one - two], [k for k in out if k in two - one]
        if not A or not B or not rows or not columns:
            return False
        i, j = rows[-1], columns[-1]

        def matrix(name, terms, *loops):
            moving = {f"i{k}" for k in loops}
            begin = [f"{loop} * {stride}" if loop else stride for loop, stride in terms if loop not in moving]
            steps = [next((stride for loop, stride in terms if loop == f"i{k}"), "0") for k in loops]
            return f"{' + '.join([name, *begin])}, {', '.join(steps)}"

        sizes, c = self._loops(v), self._terms(v, [at[k] for k in v.out])
        self.lines.append(
            f"{self._round(v, [k for k in out if k not in (i, j)])}product({sizes[i]}, {sizes[over]}, {sizes[j]}, "
            f"{matrix(A, a, i, over)}, {matrix(B, b, over, j)}, {matrix(target, c, i, j)}"
            f"{', real' if self._sums(v) else ''});")
        return True

    def _viewed(self, node, at):
        """The name and the terms of what is stored, of which node is a view; no name if it is no view."""
        if node not in self._inline:
            return self._names[node], self._terms(node, at)
        if node.f != "id":
            return "", []
        (arg, index), = node.args
        return self._viewed(arg, _moved(index, _placed(node, at)))

    def _terms(self, v, at):
        sizes = super()._shape(v)
        if any((loop == "sample") != (size == self._sample) for size, (loop, _) in zip(sizes, at, strict=True)):
            raise Untraceable(f"{v.line}: samples meet each other, which lanes cannot")
        return super()._terms(v, [one for one in at if one[0] != "sample"])

    def _form(self, node, args, loops):
        if node.f not in OPERATORS and node.f not in FUNCTIONS:
            raise Untraceable(f"{node.line}: {node.f} has no compiled form")
        wide = node.f in FUNCTIONS and any(one and one[0] == "sample" for one in loops)
        return (OPERATORS | FUNCTIONS)[node.f].format(*(f"wide({arg})" if wide else arg for arg in args))

    def given(self, name: str, x: Traced) -> str:
        """The statement that writes an output where it is asked for; of samples, each lane to its own place."""
        if not self._lanes(x.node):
            return super().given(name, x)
        shape, order = Printer._shape(self, x.node), [k for group in x.groups for k in group]
        at = ["sample" if size == self._sample else f"i{k}" for k, size in enumerate(shape)]
        value = self._value(x.node, [(var, 0) for var in at])
        place = " + ".join(f"{'(sample * LANES + l)' if at[k] == 'sample' else at[k]} * "
                           + _times([shape[j] for j in order[place + 1:]]) for place, k in enumerate(order))
        loops = "".join(self.loop.format(at[k], shape[k]) for k in order if at[k] != "sample")
        return (f"{loops}for (int l = 0; l < LANES && sample * LANES + l < {self._sample}; l++) "
                f"{self._input(name)}[{place}] = {value}[l];")


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

    def __init__(self, formulas: Callable[[dict[str, Any]], Mapping[str, Mapping[str, Any]]], shapes: Mapping[str, str],
                 sample: str, places: Mapping[str, Place] | None = None, number: str | None = None) -> None:
        self.formulas: Callable[[dict[str, Any]], Mapping[str, Mapping[str, Any]]] = formulas
        self.shapes: Mapping[str, str] = shapes
        self.sample: str = sample
        self._places = places or {}
        self.sizes: tuple[str, ...] = tuple(dict.fromkeys(size for shape in shapes.values() for size in shape.split()))
        values: list[dict[str, Any]] = [dict(zip(self.sizes, primes, strict=False)) for primes in PRIMES]
        if number:
            self.sizes = (*self.sizes, number)
            values = [own | {number: x} for own, x in zip(values, (0.37, 0.83), strict=True)]
        self._number = number
        with strictly():
            one, two = (self._record(own) for own in values)
        self._names = Sizes(*([x for results in record.values() for x in results.values()] for record in (one, two)),
                            {size: (values[0][size], values[1][size]) for size in self.sizes})
        self.entries: Mapping[str, Mapping[str, Traced]] = one
        self.arrays: dict[str, str] = {}
        """Name of what is written or read from outside → its length."""
        for name, shape in shapes.items():
            self._add(name, shape.split())
        for name, x in [both for results in one.values() for both in results.items()]:
            self._add(name, [self._names.loops[x.node][k] for k in x.node.out])

    def _record(self, sizes):
        arrays = {name: array(name, [sizes[size] for size in shape.split()]) for name, shape in self.shapes.items()}
        found = self.formulas({self._number: sizes.get(self._number)} | arrays)
        return {name: dict(results) for name, results in found.items()}

    def _add(self, name, shape):
        place = self._places.get(name)
        self.arrays[place.buffer if place else name] = place.length if place else _times(shape)

    def _buffer(self, name):
        return self._places[name].buffer if name in self._places else name

    def text(self) -> str:
        """The program in C++."""
        printed = {name: Entry(results, PREFIXES[k], self._names, self._places, self.sample)
                   for k, (name, results) in enumerate(self.entries.items())}
        lanes = {name: shape.split()[1:] for name, shape in self.shapes.items() if shape.split()[0] == self.sample}
        memory = {f"at_{name}": ("double", length) for name, length in self.arrays.items()}
        memory |= {f"at_{name}_": ("vec", _times([f"(({self.sample} + LANES - 1) / LANES)", *rest]))
                   for name, rest in lanes.items()}
        numbers = {}
        for entry in printed.values():
            memory |= entry.memory
            numbers |= {name: text for text, name in entry.numbers.items()}
        alias = [f"#define at_{name} at_{place.buffer}" for name, place in self._places.items() if name in self.shapes]
        return "\n".join([
            '#include "runtime.h"',
            *(f"static {'double' if size == self._number else 'int'} {size};" for size in self.sizes),
            "static char *base;", *alias,
            *(f"static {kind} *{name};" for name, (kind, _) in memory.items()),
            *(f"static double {name};" for name in numbers), *(one for e in printed.values() for one in e.made),
            "API(double, layout)(char *begin, const double *sizes)", "{",
            "double end = (double)(__INTPTR_TYPE__)(base = begin);",
            *(f"[[maybe_unused]] const double {size} = ::{size} = sizes[{k}];" for k, size in enumerate(self.sizes)),
            *(f"{name} = {text};" for name, text in numbers.items()),
            *(f"take(end, {name}, {length});" for name, (_, length) in memory.items()),
            "return end - (__INTPTR_TYPE__)begin;", "}",
            *(f"API(long, place_{name})(void) {{ return (char *)at_{name} - base; }}\n"
              f"API(long, length_{name})(void) {{ return (long){length}; }}" for name, length in self.arrays.items()),
            "API(void, loaded)(char *begin, const double *sizes)", "{", "layout(begin, sizes);",
            *(f"pack(at_{name}, at_{name}_, {self.sample}, {_times(rest)});" for name, rest in lanes.items()), "}",
            *(line for name, entry in printed.items() for line in (
                f"API(double, {name})(char *begin, const double *sizes)", "{", "layout(begin, sizes);", *entry.lines,
                f"return at_{self._first(name)}[0];", "}")), ""])

    def javascript(self) -> str:
        """The same program as a module of JavaScript, for where no WebAssembly may run."""
        printed = {name: Printer(results, PREFIXES[k], self._names, self._places)
                   for k, (name, results) in enumerate(self.entries.items())}
        numbers = {name: text for entry in printed.values() for text, name in entry.numbers.items()}
        return "\n".join([
            "const root = Math.sqrt;", LOGADDEXP, f"export function program([{', '.join(self.sizes)}]) {{",
            *(f"const {name} = new Float64Array({length});" for name, length in self.arrays.items()),
            *(f"const {name} = {place.buffer};" for name, place in self._places.items() if name in self.shapes),
            *(f"const {name} = {text};" for name, text in numbers.items()),
            *(one for entry in printed.values() for one in entry.made), "const run = {",
            *(line for name, entry in printed.items() for line in (
                f"{name}() {{", *entry.lines, *(entry.given(k, x) for k, x in self.entries[name].items()),
                f"return {self._first(name)}[0];", "},")), "};",
            f"return {{ {', '.join(self.arrays)}, loaded() {{}}, call: (name) => run[name]() }};", "}", ""])

    def _first(self, entry):
        return self._buffer(next(iter(self.entries[entry])))
