"""A function of arrays as one program for all sizes: recorded twice, its sizes named, and
printed."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mhalib.compiler import cpp
from mhalib.compiler.javascript import LOGADDEXP, printed
from mhalib.compiler.loops import product_of
from mhalib.compiler.sizes import PRIMES, Place, Sizes
from mhalib.compiler.trace import Traced, array, in_order, strictly

PREFIXES = "abcefg"
"""Of the buffers of the first, the second, … entry: no name of an array or a size is one of these
and a number."""


def _prefix(k):
    return PREFIXES[k] if k < len(PREFIXES) else f"h{k}_"


class Recorded(NamedTuple):
    """A program's formulas, recorded: entry → its results by name, the names of their sizes, and
    the length of each array that is written or read from outside."""

    entries: Mapping[str, Mapping[str, Traced]]
    sizes: Sizes
    arrays: dict[str, str]


@dataclass(eq=False)
class Program:
    """A function of arrays as one program for all sizes, in C++ or JavaScript.

    It is recorded when it is first asked for what depends on that. Raises Untraceable then, naming
    file and line, for what cannot be recorded or printed.

    Parameters
    ----------
    formulas : the function, of numpy's arrays, too: arrays by name → for each entry of the program
        its results by name, the first a number that the entry gives back
    shapes : name of an array → the sizes of its axes, such as "n T d"; a size that is always the
        same is a number
    sample : the size whose axis is that of the samples
    places : where arrays lie that are parts of a longer one
    number : name of a number > 0 that the formulas get beside the arrays, and of which powers occur
    name : what ``native`` calls it
    masks : the names of arrays that are True and False: of these a formula may choose
    recorded_at : two values for each size; others, which are primes, if not said
    sources : the files that its formulas stand in. While these are what they were, ``native`` finds
        it in its cache without recording it; without them it is known by its text
    examples : arrays of two or more sizes, by name, at which ``native`` compares it with numpy;
        random ones if not said
    """

    formulas: Callable[[dict[str, Any]], Mapping[str, Mapping[str, Any]]]
    shapes: Mapping[str, str]
    sample: str
    places: Mapping[str, Place] = field(default_factory=dict)
    number: str | None = None
    name: str = ""
    masks: Collection[str] = ()
    recorded_at: tuple[Mapping[str, int], Mapping[str, int]] | None = None
    sources: Sequence[Path] = ()
    examples: Sequence[Mapping[str, np.ndarray]] = ()

    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of the sizes, in their order, and of the number."""
        found = dict.fromkeys(
            size for shape in self.shapes.values() for size in shape.split() if not size.isdigit()
        )
        return (*found, *([self.number] if self.number else []))

    @cached_property
    def digest(self) -> str:
        """The hash of what the program is made of."""
        made_of = [path.read_bytes() for path in self.sources] or [self.text().encode()]
        return sha256(b"".join(made_of)).hexdigest()[:24]

    @cached_property
    def title(self) -> str:
        """What ``native`` calls it: the name, and a part of the digest where the name alone is
        ambiguous."""
        return self.name if self.sources else f"{self.name} {self.digest[:6]}"

    def shape(self, name: str, values: Mapping[str, float]) -> tuple[int, ...]:
        """The shape of an array, given the values of sizes."""
        return tuple(
            int(size) if size.isdigit() else int(values[size]) for size in self.shapes[name].split()
        )

    @cached_property
    def recorded(self) -> Recorded:
        """The formulas, recorded at two sets of sizes: the first record, and what the two tell of
        its numbers."""
        if len(self.sizes) > len(PRIMES[0]):
            raise ValueError(
                f"shapes: expected at most {len(PRIMES[0])} different sizes, got "
                f"{len(self.sizes)}: {', '.join(self.sizes)}"
            )
        values = self.recorded_at or [
            dict(zip(self.sizes, primes, strict=False)) for primes in PRIMES
        ]
        with strictly():
            one, two = map(self._record, values)
        sizes = Sizes(
            _results(one),
            _results(two),
            {size: (values[0][size], values[1][size]) for size in self.sizes},
        )
        lengths = {name: product_of(shape.split()) for name, shape in self.shapes.items()}
        for results in one.values():
            lengths |= {name: product_of(sizes.loops[x.node]) for name, x in results.items()}
        arrays: dict[str, str] = {}
        for name, length in lengths.items():
            place = self.places.get(name)
            arrays[place.buffer if place else name] = place.length if place else length
        return Recorded(one, sizes, arrays)

    def _record(self, values: Mapping[str, int]) -> dict[str, dict[str, Traced]]:
        given: dict[str, Any] = {
            name: array(name, self.shape(name, values), mask=name in self.masks)
            for name in self.shapes
        }
        if self.number:
            given[self.number] = float(values[self.number])
        return {
            entry: {name: in_order(x, "output", name) for name, x in results.items()}
            for entry, results in self.formulas(given).items()
        }

    def text(self) -> str:
        """The program in C++."""
        recorded, numbers, arrays = self.recorded
        entries = {
            name: cpp.entry(results, _prefix(k), numbers, self.places, self.sample)
            for k, (name, results) in enumerate(recorded.items())
        }
        lanes = {
            name: shape.split()[1:]
            for name, shape in self.shapes.items()
            if shape.split()[:1] == [self.sample]
        }
        memory = {f"at_{name}": ("double", length) for name, length in arrays.items()}
        memory |= {
            f"at_{name}_": ("vec", product_of([f"(({self.sample} + LANES - 1) / LANES)", *rest]))
            for name, rest in lanes.items()
        }
        for entry in entries.values():
            memory |= entry.memory
        return "\n".join(
            [
                '#include "runtime.h"',
                *(
                    f"static {'double' if size == self.number else 'int'} {size};"
                    for size in self.sizes
                ),
                "static char *base;",
                *(f"#define at_{name} at_{place.buffer}" for name, place in self.places.items()),
                *(f"static {kind} *{name};" for name, (kind, _) in memory.items()),
                *(f"static double {name};" for name in numbers.named.values()),
                *(one for entry in entries.values() for one in entry.made),
                "API(double, layout)(char *begin, const double *sizes)",
                "{",
                "double end = (double)(__INTPTR_TYPE__)(base = begin);",
                *(
                    f"[[maybe_unused]] const double {size} = ::{size} = sizes[{k}];"
                    for k, size in enumerate(self.sizes)
                ),
                *(f"{name} = {text};" for text, name in numbers.named.items()),
                *(f"take(end, {name}, {length});" for name, (_, length) in memory.items()),
                "return end - (__INTPTR_TYPE__)begin;",
                "}",
                *(
                    f"API(long, place_{name})(void) {{ return (char *)at_{name} - base; }}\n"
                    f"API(long, length_{name})(void) {{ return (long){length}; }}"
                    for name, length in arrays.items()
                ),
                "API(void, loaded)(char *begin, const double *sizes)",
                "{",
                "layout(begin, sizes);",
                *(
                    f"pack(at_{name}, at_{name}_, {self.sample}, {product_of(rest)});"
                    for name, rest in lanes.items()
                ),
                "}",
                *(
                    line
                    for name, entry in entries.items()
                    for line in (
                        f"API(double, {name})(char *begin, const double *sizes)",
                        "{",
                        "layout(begin, sizes);",
                        *entry.lines,
                        f"return {next(iter(entry.at.values()))}[0];",
                        "}",
                    )
                ),
                "",
            ]
        )

    def javascript(self) -> str:
        """The same program as a module of JavaScript, for where no WebAssembly may run."""
        recorded, numbers, arrays = self.recorded
        entries = {
            name: printed(results, _prefix(k), numbers, self.places)
            for k, (name, results) in enumerate(recorded.items())
        }
        return "\n".join(
            [
                "const root = Math.sqrt;",
                LOGADDEXP,
                f"export function program([{', '.join(self.sizes)}]) {{",
                *(f"const {name} = new Float64Array({length});" for name, length in arrays.items()),
                *(f"const {name} = {place.buffer};" for name, place in self.places.items()),
                *(f"const {name} = {text};" for text, name in numbers.named.items()),
                *(one for entry in entries.values() for one in entry.made),
                "const run = {",
                *(
                    line
                    for name, entry in entries.items()
                    for line in (
                        f"{name}() {{",
                        *entry.lines,
                        f"return {next(iter(entry.at.values()))}[0];",
                        "},",
                    )
                ),
                "};",
                f"return {{ {', '.join(arrays)}, loaded() {{}}, call: (name) => run[name]() }};",
                "}",
                "",
            ]
        )


def _results(record):
    """All results of a record, one after the other."""
    return [x for results in record.values() for x in results.values()]
