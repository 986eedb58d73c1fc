"""What the reader of the laboratory can choose, and when which choice is there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from livegrad.console import printed
from livegrad.live.spec import Control

GENERATED = ("mixture", "planted", "digits", "pathfinder")


@printed
@dataclass(frozen=True)
class Choice(Control):
    """A control that is there only ``when`` the others stand at given values, and so is each of its
    ``entries``.

    ``when`` = {name: values}, ``entries`` = {value: {name: values}}; both speak of controls before
    this one, and of ``own``, which is "fits" if the reader's file is for the chosen model.
    ``python`` has each value as Python takes it, where that is another.
    """

    when: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    entries: dict[Any, dict[str, tuple[Any, ...]]] = field(default_factory=dict)
    python: tuple[Any, ...] = ()
    group: str = "data"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.python:
            object.__setattr__(self, "python", self.values)

    def offered(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """The values that can be chosen where the controls before stand at ``values``; none if it
        is not there."""
        if not matches(self.when, values):
            return ()
        return tuple(value for value in self.values if matches(self.entries.get(value, {}), values))

    def in_python(self, value: Any) -> Any:
        """What Python has for a value."""
        return self.python[self.values.index(value)]

    def code(self, value: Any) -> str:
        """A value, written in Python."""
        return repr(self.in_python(value)).replace("'", '"')

    def to_json(self) -> dict[str, Any]:
        """What the browser reads."""
        entries = [self.entries.get(value, {}) for value in self.values]
        return super().to_json() | {
            "when": self.when,
            "entries": entries,
            "codes": [*map(self.code, self.values)],
            "group": self.group,
        }


def matches(conditions: Mapping[str, tuple[Any, ...]], values: Mapping[str, Any]) -> bool:
    """Whether every named value is one of those that a condition lists."""
    return all(values.get(name, "") in allowed for name, allowed in conditions.items())


def resolve(values: Mapping[str, Any], own: str = "") -> dict[str, Any]:
    """The same values, each that is not offered replaced by its control's own, or by the first that
    is offered.

    ``own`` is the model that the reader's file is for, or "" without one.
    """
    values = dict(values)
    # Conditions speak of controls before alone, so that one pass in order settles all.
    for control in CONTROLS:
        offered = control.offered(_with(values, own))
        if offered and values[control.name] not in offered:
            values[control.name] = control.value if control.value in offered else offered[0]
    return values


def shown(values: Mapping[str, Any], own: str = "") -> list[str]:
    """The names of the controls that are there."""
    return [control.name for control in CONTROLS if control.offered(_with(values, own))]


def _with(values, own):
    return values | {"own": "fits" if own == values["model"] else ""}


def _slider(name, label, values, value, when, group="data", **more):
    return Choice(name, label, tuple(values), value, when=when, group=group, **more)


def _menu(name, label, texts, value, when=None, group="data", **more):
    return Choice(
        name,
        label,
        tuple(texts),
        value,
        tuple(texts.values()),
        "choice",
        when=when or {},
        group=group,
        **more,
    )


HEADS, REGRESSION, LAYER = ({"model": (name,)} for name in ("heads", "regression", "layer"))
MADE = {"data": GENERATED}
SEQUENCES = LAYER | {"data": ("sequences",)}
MIXTURE, PLANTED, LINEAR = ({"data": (name,)} for name in ("mixture", "planted", "linear"))
# Parsed and not multiplied, so that each is the float that its digits say.
STEP_SIZES = tuple(float(f"{digit}e{power}") for power in range(-4, 3) for digit in (1, 2, 5)) + (
    1000.0,
)
SEEDS = tuple(range(10))

CONTROLS = (
    _menu(
        "model",
        "model",
        {
            "heads": "multi-head classifier",
            "regression": "attention regression",
            "layer": "single attention layer",
        },
        "heads",
        group="model",
    ),
    _menu(
        "data",
        "data",
        {
            "mixture": "tokenized mixture",
            "planted": "planted head",
            "digits": "handwritten digits",
            "pathfinder": "Pathfinder images",
            "linear": "linear regression",
            "sequences": "random sequences",
            "own": "your own file",
        },
        "mixture",
        entries={
            **dict.fromkeys(GENERATED, HEADS),
            "linear": REGRESSION,
            "sequences": LAYER,
            "own": {"own": ("fits",)},
        },
    ),
    _slider(
        "n",
        "samples n",
        (4, 8, 16, 32, 64, 100, 200, 500, 1000),
        64,
        MADE,
        entries=dict.fromkeys(
            (500, 1000), {"data": ("mixture", "planted")}
        ),  # as many as one likes
    ),
    _menu(
        "classes",
        "digits",
        {"3 8": "3 against 8", "0 1": "0 against 1", "4 9": "4 against 9", "1 7": "1 against 7"},
        "3 8",
        {"data": ("digits",)},
        python=((3, 8), (0, 1), (4, 9), (1, 7)),
    ),
    _slider("patch", "patch size", (2, 3, 4, 6), 4, {"data": ("pathfinder",)}),
    _slider("T", "tokens T", (4, 6, 8, 10), 8, {"data": ("mixture", "planted")}),
    _slider("d", "dimensions d", (6, 8, 10, 12), 8, {"data": ("mixture", "planted")}),
    _slider("M", "patterns M", (1, 2, 4), 4, MIXTURE),
    _slider("relevant", "relevant tokens", (1, 2, 3, 4), 1, MIXTURE),
    _slider("S", "signal S", (0.25, 0.5, 1.0, 2.0, 4.0), 2.0, MIXTURE),
    _slider("sigma", "noise σ", (0.0, 0.1, 0.2, 0.5, 1.0, 2.0), 0.2, MIXTURE),
    _slider("strength", "teacher's strength", (0.1, 0.3, 1.0, 3.0), 1.0, PLANTED),
    _slider("flip", "wrong labels", (0.0, 0.1, 0.2, 0.3, 0.4), 0.0, PLANTED),
    _slider("tokens", "tokens n", (3, 5, 10, 30, 60, 100, 200, 400), 100, LINEAR),
    _slider("dimension", "dimensions d", (2, 3, 4, 5, 6), 3, LINEAR),
    _slider("kappa", "κ(Σ)", (1.0, 4.0, 16.0, 64.0, 256.0), 16.0, LINEAR),
    _slider("s_max", "sₘₐₓ", (0.1, 0.2, 0.4, 0.7, 1.0, 2.0), 0.4, LINEAR),
    _slider("noise", "noise σ", (0.0, 0.1, 0.3, 1.0), 0.1, LINEAR),
    _slider("N", "samples N", (1, 2, 4, 8, 12), 8, SEQUENCES),
    _slider("length", "tokens n", (1, 2, 3, 4, 6), 4, SEQUENCES),
    _slider("D", "dimension D", (4, 8, 16, 24, 32, 48), 32, SEQUENCES),
    _slider("seed", "data seed", SEEDS, 0, {"data": (*GENERATED, "linear", "sequences")}),
    _slider("H", "heads H", (1, 2, 4, 8, 16), 4, {"model": ("heads", "layer")}, "model"),
    _slider("width", "head width", (2, 4, 8), 8, LAYER, "model"),
    _menu(
        "kernel",
        "kernel",
        {"softmax": "softmax", "gaussian": "Gaussian", "normalized": "Gaussian, normalized"},
        "softmax",
        LAYER,
        "model",
    ),
    _slider(
        "c",
        "kernel's c",
        (0.05, 0.1, 0.25, 0.5, 1.0, 2.0),
        0.5,
        LAYER | {"kernel": ("gaussian", "normalized")},
        "model",
    ),
    _menu(
        "start",
        "initialization",
        {
            "normal": "random",
            "zeros": "zero",
            "first": "first phase",
            "gaussian": "Gaussian decoders",
            "spectral": "spectral",
        },
        "normal",
        group="model",
        entries={
            **dict.fromkeys(("zeros", "first", "gaussian"), HEADS),
            "spectral": REGRESSION | LINEAR | {"tokens": (10, 30, 60, 100, 200, 400)},
        },
    ),
    _slider(
        "scale",
        "initialization scale",
        (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
        0.3,
        {"start": ("normal",)},
        "model",
    ),
    _slider(
        "start_seed",
        "initialization seed",
        SEEDS,
        0,
        {"start": ("normal", "first", "gaussian")},
        "model",
    ),
    _menu(
        "keys",
        "keys",
        {"own": "their own", "queries": "= queries"},
        "own",
        LAYER,
        "model",
        python=(False, True),
    ),
    _menu(
        "moves",
        "trained",
        {
            "WQ WK WV WO": "all weights",
            "WQ WK WV": "queries, keys, values",
            "WV": "values",
            "WQ": "queries",
        },
        "WQ WK WV WO",
        LAYER,
        "model",
        python=(None, ("WQ", "WK", "WV"), ("WV",), ("WQ",)),
    ),
    _menu(
        "optimizer",
        "update rule",
        {
            "gd": "gradient descent",
            "momentum": "momentum 0.9",
            "adam": "Adam",
            "adamw": "AdamW",
            "preconditioned": "SA1: whitened",
            "structure_aware": "SA2: renormalized",
        },
        "gd",
        group="training",
        entries={"preconditioned": REGRESSION, "structure_aware": REGRESSION},
    ),
    _slider(
        "weight_decay",
        "weight decay",
        (0.001, 0.01, 0.1, 1.0),
        0.01,
        {"optimizer": ("adamw",)},
        "training",
    ),
    _slider("lr", "step size η", STEP_SIZES, 1.0, {}, "training"),
    _menu(
        "schedule",
        "schedule",
        {
            "constant": "constant",
            "root": "1/√t",
            "warmup": "warm-up",
            "cosine": "cosine",
            "cycle": "one cycle",
        },
        "constant",
        group="training",
    ),
    _slider("steps", "steps", (50, 100, 200, 500, 1000, 2000), 500, {}, "training"),
    Choice("curvature", "measure curvature", (False, True), True, kind="switch", group="training"),
    _slider("sample", "sample shown", tuple(range(8)), 0, {"model": ("heads", "layer")}, "picture"),
    _slider("head", "head shown", tuple(range(16)), 0, {"model": ("heads", "layer")}, "picture"),
)
BY_NAME = {control.name: control for control in CONTROLS}
DEFAULTS = {control.name: control.value for control in CONTROLS}
BEGINNINGS = {
    "heads": {"lr": 1.0, "H": 4, "scale": 0.3},
    "regression": {"lr": 0.1, "scale": 1.0},
    "layer": {"lr": 0.1, "H": 1, "scale": 1.0},
}
"""What choosing a model sets: values at which its training succeeds."""
