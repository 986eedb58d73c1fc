"""The programs of the update rules and of the schedules, as ``make kernel`` prints them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any

from livegrad.model.weights import with_attributes
from livegrad.optim import (
    Adam,
    AdamW,
    Cosine,
    GradientDescent,
    InverseRoot,
    Momentum,
    OneCycle,
    Warmup,
)
from livegrad.record import Program

RULES: dict[type, str] = {GradientDescent: "gd", Momentum: "momentum", Adam: "adam", AdamW: "adamw"}
"""The update rules that a page has, by the names that it knows them by."""
SCHEDULES: dict[type, str] = {
    InverseRoot: "root",
    Warmup: "warmup",
    Cosine: "cosine",
    OneCycle: "cycle",
}
"""The schedules of the step size that a page has."""


def numbers(kinds: Iterable[type]) -> dict[str, float]:
    """The numbers of rules or schedules that are as they are unless something else is said."""
    return {
        f.name: f.default for kind in kinds for f in fields(kind) if isinstance(f.default, float)
    }


def by_name(shapes: Mapping[str, str]) -> dict[str, str]:
    """The sizes of arrays by their names: {"n d": "x y"} is {"x": "n d", "y": "n d"}."""
    return {name: shape for shape, names in shapes.items() for name in names.split()}


def with_numbers(kind: type, arrays: dict[str, Any]) -> Any:
    """A rule or a schedule whose numbers are recorded ones: past the checks of them."""
    return with_attributes(kind.__new__(kind), arrays)


def rules() -> Program:
    """A step of each update rule, with its state in m and v."""

    def formulas(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
        found = {}
        for kind, name in RULES.items():
            rule, moments = with_numbers(kind, a), issubclass(kind, Adam)
            theta, state = rule.step(
                a["theta"], a["grad"], (a["m"], a["v"]) if moments else a["m"], a["k"]
            )
            found[name] = {"theta": theta} | (
                dict(zip("mv", state, strict=True)) if moments else {"m": state}
            )
        return found

    shapes = {"P": "theta grad m v", "": " ".join(["lr k", *numbers(RULES)])}
    return Program(formulas, by_name(shapes), "P")


def schedules() -> Program:
    """The step size of step k by each schedule."""

    def formulas(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
        return {name: {"lr": with_numbers(kind, a)(a["k"])} for kind, name in SCHEDULES.items()}

    return Program(formulas, by_name({"": "k peak steps rise"}), "")


PLAIN: dict[str, tuple[Callable[[], Program], Iterable[type]]] = {
    "rules": (rules, RULES),
    "schedules": (schedules, SCHEDULES),
}
"""Name of the file of a program that is JavaScript alone → what makes it, and whose numbers the
file says, too."""
