"""The formulas of a reader's own model as one program: recorded, and printed for a page with or
without WebAssembly."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from livegrad.live.given import Given, doubles_of, require_number, weights_of
from livegrad.model.axes import Axes
from livegrad.model.programs import places, sizes_of
from livegrad.model.vector import Vector
from livegrad.model.weights import layout, with_attributes
from livegrad.record import Program, Untraceable, gradient, webassembly
from livegrad.record.trace import Traced, array, kind_of, recorded, strictly, topological

OTHERS = (23, 29)
"""Other numbers of samples, at one of which formulas are recorded a second time."""


class Formulas:
    """Loss, gradient and curves of a model, as functions of arrays by the names that a program has
    for them.

    Parameters
    ----------
    start : the model
    data : what it is trained on
    curves : name → function of model and data
    numbers : the attributes of the model that a slider sets, and their values
    """

    def __init__(
        self,
        start: Any,
        data: Any,
        curves: Mapping[str, Callable[[Any, Any], Any]],
        numbers: Mapping[str, float],
    ) -> None:
        self.start: Any = start
        self.data: Any = data
        self.curves: Mapping[str, Callable[[Any, Any], Any]] = curves
        self.numbers: Mapping[str, float] = numbers
        self.weights: dict[str, np.ndarray] = weights_of(start)
        self.arrays: dict[str, np.ndarray] = doubles_of(data)
        self.thetas: dict[str, str] = _numbered("theta", self.weights)
        self.inputs: dict[str, str] = _numbered("data", self.arrays)
        self.sets: dict[str, str] = _numbered("set", numbers)
        self.parts: dict[str, slice] = {
            name: part for name, (part, _) in layout(self.weights).items()
        }
        """Where each weight lies in a vector of all."""
        with strictly():
            self.record: dict[str, dict[str, Traced]] = self(self._recording())

    @property
    def loss(self) -> Traced:
        """The recorded loss."""
        return self.record["gradient"]["loss"]

    @property
    def slopes(self) -> dict[str, Traced]:
        """The recorded derivatives, by the names of the weights."""
        return {name: self.record["gradient"][f"d{number}"] for name, number in self.thetas.items()}

    @property
    def measured(self) -> list[Traced]:
        """The recorded curves."""
        return [self.record[f"curve{k}"]["value"] for k in range(len(self.curves))]

    @property
    def read(self) -> dict[str, np.ndarray]:
        """The arrays of the data that loss and curves read, by their names in the program."""
        every = [x.node for results in self.record.values() for x in results.values()]
        found = {v.detail for v in topological(every) if v.f == "input"}
        return {
            number: self.arrays[name] for name, number in self.inputs.items() if number in found
        }

    def __call__(self, a: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """The entries of the program, of recorded arrays by name."""
        theta = {name: a[number] for name, number in self.thetas.items()}
        numbers = {name: a[number] for name, number in self.sets.items()}
        for number in numbers.values():
            number.is_number = True
        model = with_attributes(self.start, theta | numbers)
        data = Given(
            self.data, {name: a[number] for name, number in self.inputs.items() if number in a}
        )
        if type(model).loss_and_grad is Vector.loss_and_grad:
            loss = model.loss(data.X, data.y)
            require_number("loss", loss)
            slopes = dict(zip(theta, gradient(loss, list(theta.values())), strict=True))
        else:
            loss, slopes = _given_gradient(
                model, model.loss_and_grad(data.X, data.y), theta, self.numbers
            )
            require_number("loss", loss)
        entries = {
            "gradient": {"loss": loss}
            | {f"d{self.thetas[name]}": slope for name, slope in slopes.items()},
            "forward": {"loss": loss},
        }
        for k, (name, of) in enumerate(self.curves.items()):
            value = of(model, data)
            require_number(f"curves: {name}", value)
            entries[f"curve{k}"] = {"value": value}
        return entries

    def _recording(self):
        """Arrays that record, of the sizes that weights and data have."""
        return {
            **{
                self.thetas[name]: array(self.thetas[name], a.shape)
                for name, a in self.weights.items()
            },
            **{number: array(number, ()) for number in self.sets.values()},
            **{
                number: array(number, self.arrays[name].shape, self._kind(name))
                for name, number in self.inputs.items()
            },
        }

    def _kind(self, name):
        return kind_of(getattr(self.data, name))

    def values(self, near: Any, numbers: Mapping[str, float]) -> dict[str, np.ndarray]:
        """What the record reads, by its names there, for the weights of a model and values of its
        numbers."""
        return (
            {number: getattr(near, name) for name, number in self.thetas.items()}
            | {number: self.arrays[name] for name, number in self.inputs.items()}
            | {number: np.array(numbers[name]) for name, number in self.sets.items()}
        )

    def vector(self) -> np.ndarray:
        """The weights at the start, one behind the other."""
        return np.concatenate([*self.weights.values()], axis=None)

    def model(self, theta: np.ndarray, numbers: Mapping[str, float]) -> Any:
        """The model of weights that lie one behind the other."""
        found = {name: theta[self.parts[name]].reshape(a.shape) for name, a in self.weights.items()}
        return with_attributes(self.start, {**numbers, **found})

    def program(self) -> Program:
        """Loss, gradient and curves as one program: of any number of samples where the formulas
        allow that, so that samples can stand side by side in a register."""
        samples = len(self.arrays["X"]) if self.arrays["X"].ndim else 0
        open_ended = self._program(samples)
        return open_ended if samples and _is_compiled(open_ended) else self._program(None)

    def _program(self, samples):
        shapes = {self.thetas[name]: sizes_of(a.shape) for name, a in self.weights.items()}
        for number, a in self.read.items():
            of_samples = samples is not None and a.ndim and len(a) == samples
            shapes[number] = sizes_of(["n", *a.shape[1:]] if of_samples else a.shape)
        axes = Axes({number: shapes[number] for number in self.thetas.values()})
        # The second recording needs another size than the data's: what differs shows where n is.
        at = None if samples is None else ({"n": samples}, {"n": OTHERS[samples == OTHERS[0]]})
        return Program(
            self,
            shapes | dict.fromkeys(self.sets.values(), ""),
            "n",
            places(axes, "theta") | places(axes, "slope", "d"),
            kinds={number: self._kind(name) for name, number in self.inputs.items()},
            recorded_at=at,
        )


def _is_compiled(program):
    """Whether formulas can be recorded at another number of samples, and have a compiled form."""
    try:
        _ = program.record
    except Exception:  # they are a reader's, and may raise anything there
        return False
    try:
        program.text()
    except Untraceable:
        return False
    return True


def module(program: Program) -> str:
    """The module of a program for a page: JavaScript, and WebAssembly in hexadecimal digits where
    it can be made."""
    assembled = webassembly.module(program) if program.sizes else None
    return f'{program.javascript()}export const hex = "{(assembled or b"").hex()}";\n'


def _given_gradient(model, answer, theta, scalars):
    """The loss and, by name, the derivatives that a model's ``loss_and_grad`` gave."""
    if not (isinstance(answer, tuple) and len(answer) == 2):
        raise TypeError(
            "loss_and_grad: expected the pair of a loss and a model that holds the derivatives, "
            f"got {type(answer).__name__}"
            + (f" of {len(answer)}" if isinstance(answer, tuple) else "")
        )
    loss, grad = answer
    slopes = {name: getattr(grad, name, None) for name in theta}
    slopes = {
        name: recorded(slope) if isinstance(slope, np.ndarray) else slope
        for name, slope in slopes.items()
    }
    for (name, slope), w in zip(slopes.items(), theta.values(), strict=True):
        if not isinstance(slope, Traced) or slope.shape != w.shape:
            raise TypeError(
                f"loss_and_grad: expected a model whose {name} is an array of shape {w.shape}, the "
                f"derivatives with respect to {name}; got a {type(grad).__name__} "
                + ("without it" if slope is None else f"with {slope!r}")
            )
    for name in scalars:
        if getattr(grad, name, None) is not getattr(model, name):
            raise TypeError(
                f"loss_and_grad: expected derivatives that carry the {name} of the model, as "
                f"dataclasses.replace(self, "
                f"{', '.join(f'{weight}=d{weight}' for weight in theta)}) has it"
            )
    return loss, slopes


def _numbered(prefix, names):
    """Name → how the program calls it. A name itself, which may come from anywhere, is never
    printed."""
    return {name: f"{prefix}_{k}" for k, name in enumerate(names)}
