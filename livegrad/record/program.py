"""A function of arrays as one program for all sizes: recorded twice, its sizes named, and
printed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from livegrad.record import cpp, javascript
from livegrad.record.loops import product_of
from livegrad.record.record import Record
from livegrad.record.sizes import PRIMES, Place, Sizes
from livegrad.record.trace import array, in_order, strictly


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
    kinds : name of an array → bool or int, where it has no floats: by truth values a formula may
        choose, and whole numbers are indices
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
    kinds: Mapping[str, type] = field(default_factory=dict)
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
    def record(self) -> Record:
        """The formulas, recorded at two sets of sizes: the first, with what both tell of its
        numbers."""
        if len(self.sizes) > len(PRIMES[0]):
            raise ValueError(
                f"shapes: expected at most {len(PRIMES[0])} different sizes, got "
                f"{len(self.sizes)}: {', '.join(self.sizes)}"
            )
        values = self.recorded_at or [
            dict(zip(self.sizes, primes, strict=False)) for primes in PRIMES
        ]
        with strictly():
            first, second = map(self._results, values)
            one, two = map(_outputs, (first, second))
        sizes = Sizes(
            _flat(one),
            _flat(two),
            {size: (values[0][size], values[1][size]) for size in self.sizes},
        )
        lengths = {name: product_of(shape.split()) for name, shape in self.shapes.items()}
        for results in one.values():
            lengths |= {name: product_of(sizes.loops[x.node]) for name, x in results.items()}
        arrays: dict[str, str] = {}
        for name, length in lengths.items():
            place = self.places.get(name)
            arrays[place.buffer if place else name] = place.length if place else length
        lanes = {
            name: shape.split()[1:]
            for name, shape in self.shapes.items()
            if shape.split()[:1] == [self.sample]
        }
        # An axis of length 1 is none of a recorded array, so its stride is not asked for, either.
        kept = {
            name: [size != "1" for size in shape.split()] for name, shape in self.shapes.items()
        }
        for results in first.values():
            kept |= {name: [size != 1 for size in np.shape(x)] for name, x in results.items()}
        places = {
            name: place.only(kept[name]) for name, place in self.places.items() if name in kept
        }
        return Record(one, sizes, arrays, self.sizes, self.number, self.sample, places, lanes)

    def _results(self, values: Mapping[str, int]) -> Mapping[str, Mapping[str, Any]]:
        given: dict[str, Any] = {
            name: array(name, self.shape(name, values), self.kinds.get(name, float))
            for name in self.shapes
        }
        if self.number:
            given[self.number] = float(values[self.number])
        return self.formulas(given)

    def text(self) -> str:
        """The program in C++."""
        return self._cpp

    @cached_property
    def _cpp(self):
        return cpp.module(self.record)

    def javascript(self) -> str:
        """The same program as a module of JavaScript, for where no WebAssembly may run."""
        return javascript.module(self.record)


def _outputs(results):
    """The results of a formula as the outputs of a program."""
    return {
        entry: {name: in_order(x, "output", name) for name, x in found.items()}
        for entry, found in results.items()
    }


def _flat(record):
    """All results of a record, one after the other."""
    return [x for results in record.values() for x in results.values()]
