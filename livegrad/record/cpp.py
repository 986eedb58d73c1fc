"""Loop nests as C++, for WebAssembly or the processor.

Samples are the lanes of the processor's registers: a program goes through them a few at a time, and
reads like the formula of one sample. What does not depend on a sample is computed before or after.
"""

from collections.abc import Iterable, Mapping, Sequence

from livegrad.record.loops import (
    SAMPLE,
    Apply,
    Assignment,
    Buffer,
    Expression,
    Inside,
    Nests,
    Number,
    Read,
    lower,
    product_of,
    reads,
    sum_of,
    terms,
)
from livegrad.record.record import Record
from livegrad.record.sizes import Place, Sizes, literal
from livegrad.record.trace import Node, Traced, Untraceable, topological

OPERATORS = {
    "add": "({} + {})",
    "subtract": "({} - {})",
    "multiply": "({} * {})",
    "divide": "({} / {})",
    "negative": "(-{})",
}
FUNCTIONS = {
    "exp": "exp_({})",
    "sqrt": "root({})",
    "trunc": "trunc_({})",
    "absolute": "abs_({})",
    "logaddexp": "logaddexp_({}, {})",
    "maximum": "larger({}, {})",
    "minimum": "smaller({}, {})",
    "where": "where({}, {}, {})",
    "equal": "equal({}, {})",
    "greater": "greater({}, {})",
    "greater_equal": "at_least({}, {})",
    # With their arguments exchanged two comparisons of runtime.h are enough.
    "less": "greater({1}, {0})",
    "less_equal": "at_least({1}, {0})",
    # By the system's library of mathematics, which WebAssembly does not have.
    **{
        name: f"{name}_({{}})"
        for name in ("arctan", "cos", "erf", "expm1", "log", "log1p", "sin", "tanh")
    },
    "power": "power_({}, {})",
}
"""Elementwise functions, those of runtime.h."""
VIEWS = ("id", "output", "reshape", "concatenate")

OVER = {"sum": ("0.", "sum += {};"), "max": ("-__builtin_inf()", "sum = larger(sum, {});")}
"""How a sum and a maximum begin, and go on."""


SIGNATURE = "(char *begin, const double *sizes)"
"""What the functions of a program are given: where its memory begins, and the values of sizes."""


def module(record: Record) -> str:
    """A program: its memory, and a function for each entry.

    All arrays lie in one piece of memory, whose owner asks ``layout`` how long it is, and ``place_``
    and ``length_`` where an array lies in it. ``loaded`` puts samples side by side.

    Raises as ``entry``.
    """
    entries = {
        name: entry(record.entries[name], prefix, record.numbers, record.places, record.sample)
        for name, prefix in record.prefixes().items()
    }
    memory = _memory(record, entries)
    lines = ['#include "runtime.h"']
    for size in record.sizes:
        lines.append(f"static {'double' if size == record.number else 'int'} {size};")
    lines.append("static char *base;")
    for name, place in record.places.items():
        lines.append(f"#define at_{name} at_{place.buffer}")
    for name, (kind, _) in memory.items():
        lines.append(f"static {kind} *{name};")
    for name in record.numbers.named.values():
        lines.append(f"static double {name};")
    for one in entries.values():
        lines += one.made
    lines += [*_layout(record, memory), *_places(record), *_loaded(record)]
    for name, one in entries.items():
        first = next(iter(one.at.values()))
        # Sizes and pointers are static: the last call may have been for another memory.
        body = ["layout(begin, sizes);", *one.lines, f"return {first}[0];"]
        lines += [f"API(double, {name}){SIGNATURE}", "{", *body, "}"]
    return "\n".join([*lines, ""])


def _memory(record, entries):
    """Name of a pointer → type and number of what it points to, in their order in memory."""
    memory = {f"at_{name}": ("double", length) for name, length in record.arrays.items()}
    for name, rest in record.lanes.items():
        # Rounded up: the last register may be filled in part.
        groups = f"(({record.sample} + LANES - 1) / LANES)"
        memory[f"at_{name}_"] = "vec", product_of([groups, *rest])
    for one in entries.values():
        memory |= one.memory
    return memory


def _layout(record, memory):
    """The function that sets sizes, numbers and pointers, and gives the length of the memory."""
    lines = [f"API(double, layout){SIGNATURE}", "{"]
    lines.append("double end = (double)(__INTPTR_TYPE__)(base = begin);")
    for k, size in enumerate(record.sizes):
        # A local double hides the static int, so that no product of sizes overflows.
        lines.append(f"[[maybe_unused]] const double {size} = ::{size} = sizes[{k}];")
    for text, name in record.numbers.named.items():
        lines.append(f"{name} = {text};")
    for name, (_, length) in memory.items():
        lines.append(f"take(end, {name}, {length});")
    return [*lines, "return end - (__INTPTR_TYPE__)begin;", "}"]


def _places(record):
    """The functions that say where an array lies, and how long it is."""
    lines = []
    for name, length in record.arrays.items():
        lines.append(f"API(long, place_{name})(void) {{ return (char *)at_{name} - base; }}")
        lines.append(f"API(long, length_{name})(void) {{ return (long){length}; }}")
    return lines


def _loaded(record):
    """The function that is called when arrays of samples have been written."""
    lines = [f"API(void, loaded){SIGNATURE}", "{", "layout(begin, sizes);"]
    for name, rest in record.lanes.items():
        lines.append(f"pack(at_{name}, at_{name}_, {record.sample}, {product_of(rest)});")
    return [*lines, "}"]


def entry(
    outputs: Mapping[str, Traced],
    prefix: str,
    sizes: Sizes,
    places: Mapping[str, Place],
    sample: str,
) -> "Entry":
    """The C++ of one function of a program.

    Raises Untraceable for what has no compiled form, and as ``loops.lower``.
    """
    for v in topological(x.node for x in outputs.values()):
        _require_lanes(v, sizes, sample)
    return Entry(lower(outputs, prefix, sizes, places, sample), sample)


def _require_lanes(v: Node, sizes: Sizes, sample: str) -> None:
    """Raise Untraceable for what has no compiled form."""
    loops = sizes.loops[v]
    if v.f == "reshape":
        shapes = loops, [sizes.loops[v.args[0][0]][k] for k in v.args[0][0].out]
        if any(sample in shape for shape in shapes) and not all(
            shape[0] == sample and sample not in shape[1:] for shape in shapes
        ):
            raise Untraceable(f"{v.line}: a reshape of the axis of samples has no compiled form")
        return
    # An axis of samples is read in the loop over samples and in no other, or one lane would
    # need the number of another.
    across = [
        (loop is not None and loops[loop] == sample) != (size == sample)
        or (size == sample and offset != 0)
        for arg, index in v.args
        for (loop, offset), size in zip(index, [sizes.loops[arg][k] for k in arg.out], strict=True)
    ]
    is_place = v.f == "pick" and loops[0] == sample
    if loops.count(sample) > 1 or any(across) or is_place:
        raise Untraceable(f"{v.line}: samples meet each other, which lanes cannot")
    is_maximum = v.over == "max" and sample in loops and sample not in [loops[k] for k in v.out]
    what = "a maximum over samples" if is_maximum else v.f
    if what != v.f or (v.args and v.f not in ("pick", *VIEWS, *OPERATORS, *FUNCTIONS)):
        raise Untraceable(f"{v.line}: {what} has no compiled form")


class Entry:
    """The C++ of loop nests. ``memory`` has the type and length of every buffer, ``made`` the
    constants, ``lines`` the statements, and ``at`` the name of the array in which each result
    lies."""

    def __init__(self, nests: Nests, sample: str) -> None:
        self._sample, self._nests = sample, nests
        self._writer = {
            one.target.name: one for one in nests.statements if one.target.kind == "made"
        }
        self.made: list[str] = []
        self.memory: dict[str, tuple[str, str]] = {}
        self.lines: list[str] = []
        for buffer in nests.made:
            self._make(buffer)
        self._write_by_stages()
        self.at: dict[str, str] = {
            name: self._name(buffer) for name, buffer in nests.results.items()
        }

    # What belongs to samples

    def _is_of_samples(self, one: Assignment) -> bool:
        return any(loop.size == self._sample for loop in one.loops)

    def _has_lanes(self, buffer: Buffer) -> bool:
        """Whether its values are those of some samples, side by side."""
        return self._sample in buffer.shape

    def _sums(self, one: Assignment) -> bool:
        """Whether it is a sum over the samples."""
        return self._is_of_samples(one) and not self._has_lanes(one.target)

    # Buffers

    def _name(self, buffer: Buffer) -> str:
        return f"at_{buffer.name}" if buffer.is_given else buffer.name

    def _shape(self, buffer: Buffer) -> list[str]:
        """The sizes of a buffer in memory, where samples stand side by side in one register."""
        # What is made on the way holds one register of samples, which the next round overwrites.
        is_whole = buffer.kind == "output"
        return [size if is_whole or size != self._sample else "1" for size in buffer.shape]

    def _make(self, buffer: Buffer) -> None:
        if buffer.numbers is not None:
            numbers = ", ".join(map(literal, buffer.numbers.ravel().tolist()))
            self.made.append(f"static const double {buffer.name}[] = {{{numbers}}};")
            return
        length = product_of(self._shape(buffer))
        self.memory[buffer.name] = "vec" if self._has_lanes(buffer) else "double", length
        # Each lane adds up its own samples; `fold` adds the lanes after the loop.
        if self._sums(self._writer[buffer.name]):
            self.memory[f"{buffer.name}_"] = "vec", length

    def _terms(self, buffer: Buffer, at):
        found = terms(buffer, self._shape(buffer), at)
        if buffer.kind == "output":  # each lane has a place of its own
            return [
                ("(sample * LANES + l)" if loop == SAMPLE else loop, stride)
                for loop, stride in found
            ]
        return [term for term in found if term[0] != SAMPLE]

    # Statements

    def _write_by_stages(self) -> None:
        """Print the statements in stages, each with one loop over samples.

        A sum over samples is known when its loop has ended. So a statement that reads one belongs
        to the next stage. Within a stage, what does not depend on samples comes before the loop.
        """
        stage: dict[Assignment, int] = {}
        for one in self._nests.statements:
            stage[one] = max((stage[w] + self._sums(w) for w in self._written_for(one)), default=0)
        for number in range(max(stage.values()) + 1):
            own = [one for one in self._nests.statements if stage[one] == number]
            for one in own:
                if not self._is_of_samples(one):
                    self._write(one)
            results = [
                one
                for one in own
                if self._sums(one) or (one.target.kind == "output" and self._has_lanes(one.target))
            ]
            if results:
                self._over_samples(results)

    def _written_for(self, one: Assignment) -> Iterable[Assignment]:
        """The statements whose buffers a statement reads."""
        return [
            self._writer[read.buffer.name]
            for read in reads(one.value)
            if read.buffer.name in self._writer and not read.buffer.is_given
        ]

    def _needed_for(
        self, results: Iterable[Assignment]
    ) -> tuple[set[Assignment], dict[str, Buffer]]:
        """All that some statements stand on: the statements, and the inputs in the order in which
        they are met."""
        needed: set[Assignment] = set()
        inputs: dict[str, Buffer] = {}

        def visit(one):
            if one in needed:
                return
            needed.add(one)
            for read in reads(one.value):
                buffer = read.buffer.of or read.buffer
                if buffer.kind == "input":
                    inputs.setdefault(buffer.name, buffer)
                elif buffer.name in self._writer and not self._sums(self._writer[buffer.name]):
                    visit(self._writer[buffer.name])  # a sum is known from the stage before

        for one in results:
            visit(one)
        return needed, inputs

    def _over_samples(self, results: Sequence[Assignment]) -> None:
        needed, inputs = self._needed_for(results)
        each = [
            (name, f"for (long k = 0; k < {product_of(self._shape(one.target))}; k++) {name}")
            for one in results
            if self._sums(one)
            for name in [self._name(one.target)]
        ]
        self.lines += [f"{loop}_[k] = wide(0.);" for _, loop in each]
        self.lines += [
            f"for (int sample = 0; sample * LANES < {self._sample}; sample++) {{",
            f"[[maybe_unused]] const bits real = real_samples(sample, {self._sample});",
        ]
        for buffer in inputs.values():
            if self._has_lanes(buffer):
                name, length = self._name(buffer), product_of(self._shape(buffer))
                self.lines.append(f"const vec *{name} = {name}_ + sample * (long){length};")
        # What an earlier stage made of samples is made again: only the last register of it is left.
        for one in self._nests.statements:
            if one in needed and self._is_of_samples(one):
                self._write(one)
        self.lines += ["}", *(f"{loop}[k] = fold({name}_[k]);" for name, loop in each)]

    def _write(self, one: Assignment) -> None:
        name = self._name(one.target) + ("_" if self._sums(one) else "")
        write = self._pick if one.f == "pick" else self._plain
        self.lines.append(self._product(one, name) or write(one, name))

    def _plain(self, one: Assignment, name: str) -> str:
        kind, typed = ("vec", "wide({})") if self._is_of_samples(one) else ("double", "{}")
        value = typed.format(self._expression(one.value))
        place = f"{name}[{sum_of(self._terms(one.target, one.at))}]"
        body = self._put(one, place, "sum" if one.over else value)
        if one.over:
            first, step = OVER[one.over]
            body = f"{{ {kind} sum = {typed.format(first)}; {self._loops(one.gone)}{step.format(value)} {body} }}"
        return self._loops([one.loops[k] for k in one.out]) + body

    def _pick(self, one: Assignment, name: str) -> str:
        """What is read at places, or added up there, each lane at its own; NaN at one that the axis
        does not have."""
        (at, size), is_wide = one.loops[0], self._is_of_samples(one)
        kind, typed = ("vec", "wide({})") if is_wide else ("double", "{}")
        places, value = map(self._expression, one.value.args)  # pyright: ignore[reportAttributeAccessIssue]
        place = f"{name}[{sum_of(self._terms(one.target, one.at))}]"
        every = [one.loops[k] for k in one.out]
        outer, inner = (
            self._loops([loop for loop in loops if loop.name != at]) for loops in (every, one.gone)
        )
        lane, lanes = ("[l]", "for (int l = 0; l < LANES; l++) ") if is_wide else ("", "")
        found = (
            f"const {kind} at = {typed.format(places)}; {lanes}{{ "
            f"const int {at} = place(at{lane}, {size});"
        )
        value = f"lane({value}, {'l' if is_wide else '0'})"
        if 0 in one.out:
            real = " && real[l]" if self._sums(one) else ""
            zero = "" if real else f"{self._loops(every)}{place} = {typed.format('0.')}; "
            return f"{zero}{outer}{inner}{{ {found} if ({at} >= 0{real}) {place}{lane} += {value}; }} }}"
        return (
            f"{outer}{{ {kind} sum = {typed.format('0.')}; {inner}{{ {found} "
            f'sum{lane} += {at} < 0 ? __builtin_nan("") : {value}; }} }} '
            f"{self._put(one, place, 'sum')} }}"
        )

    def _put(self, one: Assignment, place: str, value: str) -> str:
        # each lane to its own place
        if one.target.kind == "output" and self._has_lanes(one.target):
            return f"for (int l = 0; l < LANES && sample * LANES + l < {self._sample}; l++) {place} = {value}[l];"
        # Lanes past the last sample repeat it, and are not to be counted.
        return f"{place} += only(real, {value});" if self._sums(one) else f"{place} = {value};"

    def _loops(self, loops) -> str:
        return "".join(
            f"for (int {name} = 0; {name} < {size}; {name}++) "
            for name, size in loops
            if name != SAMPLE
        )

    def _expression(self, value) -> str:
        if isinstance(value, Number):
            return value.text
        if isinstance(value, Inside):
            inner = self._expression(value.value)
            inner, zero = (f"wide({inner})", "wide(0.)") if _is_wide(value) else (inner, "0.")
            return f"({' && '.join(map(' '.join, value.bounds))} ? {inner} : {zero})"
        if isinstance(value, Read):
            return f"{self._name(value.buffer)}[{sum_of(self._terms(value.buffer, value.at))}]"
        args = [self._expression(arg) for arg in value.args]
        if value.f == "concatenate":
            # Parts that are 0 beyond their ends are joined by a sum.
            return f"({' + '.join(args)})"
        if value.f in OPERATORS:
            return OPERATORS[value.f].format(*args)
        # Operators take numbers and lanes together; the functions of runtime.h take one kind.
        is_wide = SAMPLE in value.loops
        return FUNCTIONS[value.f].format(*(f"wide({arg})" if is_wide else arg for arg in args))

    def _product(self, one: Assignment, target: str) -> str:
        """A statement as a product of matrices, or of several, if it is one: of two stored arrays,
        or views of such."""
        sizes = {loop.name: loop.size for loop in one.loops}
        out = [one.loops[k].name for k in one.out if one.loops[k].name != SAMPLE]
        gone = [loop.name for loop in one.gone if loop.name != SAMPLE]
        if (
            one.f != "multiply"
            or one.over != "sum"
            or len(gone) != 1
            or not isinstance(one.value, Apply)
        ):
            return ""
        factors = one.value.args
        if not all(isinstance(factor, Read) for factor in factors):
            return ""
        left, right = factors  # pyright: ignore[reportAssignmentType]
        # the first factor is the one of samples: fewer forms of the product
        if self._sample not in left.shape:
            left, right = right, left
        a, b = (self._terms(factor.buffer, factor.at) for factor in (left, right))
        c = self._terms(one.target, one.at)
        rows = [k for k in out if k in dict(a) and k not in dict(b)]
        columns = [k for k in out if k in dict(b) and k not in dict(a)]
        if not columns:
            return ""
        i, over, j = rows.pop() if rows else None, *gone, columns.pop()
        count, moving = [sizes.get(i, "1")], {i, over, j}
        # Rows of several matrices that lie one behind the other are those of one: of heads, each
        # with a row or two.
        while rows and all(_is_behind(steps, rows[-1], i, count) for steps in (dict(a), dict(c))):
            moving.add(rows[-1])
            count.insert(0, sizes[rows.pop()])

        def matrix(name, own, *loops):
            begin = [sum_of([term]) for term in own if term[0] not in moving]
            # A loop that a matrix does not know moves it by 0.
            steps = ", ".join(product_of(dict(own).get(loop, ["0"])) for loop in loops)
            return f"{' + '.join([name, *begin])}, {steps}"

        around = self._loops([one.loops[k] for k in one.out if one.loops[k].name not in moving])
        real = ", real" if self._sums(one) else ""
        return (
            f"{around}product({product_of(count)}, {sizes[over]}, {sizes[j]}, "
            f"{matrix(self._name(left.buffer), a, i, over)}, "
            f"{matrix(self._name(right.buffer), b, over, j)}, {matrix(target, c, i, j)}{real});"
        )


def _is_wide(value: Expression) -> bool:
    """Whether an expression has the values of some samples, side by side."""
    if isinstance(value, Read):
        return SAMPLE in [loop for loop, _ in value.at]
    if isinstance(value, Apply):
        return SAMPLE in value.loops and (
            value.f not in (*OPERATORS, "concatenate") or any(map(_is_wide, value.args))
        )
    return isinstance(value, Inside) and _is_wide(value.value)


def _is_behind(steps, outer, inner, count):
    """Whether one round of the outer loop is as far as ``count`` rounds of the inner one."""
    return product_of(steps[outer]) == product_of([*count, *steps[inner]])
