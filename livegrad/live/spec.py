"""What a live figure is, said once for Python and for the browser."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import plotly.graph_objects as go

from livegrad.arrays import matching
from livegrad.console import printed
from livegrad.live.drawing import floored, placed, places, put
from livegrad.live.legends import legends_above
from livegrad.plots import decades
from livegrad.training import Path


@printed
@dataclass(frozen=True)
class Control:
    """One control of a live figure: a slider over given values, a menu (``choice``), or a
    ``switch``.

    Every value is written down, so that Python and the browser mean the same number by it. One that
    ``measures`` only chooses what is measured of the last model, ``FigureSpec.final``: where it
    alone has moved, a page trains no new run.
    """

    name: str
    label: str
    values: tuple[Any, ...]
    value: Any
    texts: tuple[str, ...] = ()
    kind: str = "slider"
    measures: bool = False

    def __post_init__(self) -> None:
        if self.value not in self.values:
            raise ValueError(
                f"{self.name}: expected the value at the start to be one of {self.values}, "
                f"got {self.value!r}"
            )
        if not self.texts:
            texts = (
                f"{value:g}" if isinstance(value, float) else str(value) for value in self.values
            )
            object.__setattr__(self, "texts", tuple(re.sub("^-", "−", text) for text in texts))

    def match(self, value: Any) -> Any:
        """The one of ``values`` that equals ``value``, up to rounding; ValueError if there is
        none."""
        same = matching(self.values, value)
        if not same:
            raise ValueError(
                f"{self.name}: expected one of {', '.join(map(repr, self.values))}, got {value!r}"
            )
        return same[0]

    def to_json(self) -> dict[str, Any]:
        """What the browser reads."""
        return {
            "name": self.name,
            "label": self.label,
            "values": list(self.values),
            "value": self.value,
            "texts": list(self.texts),
            "kind": self.kind,
            "measures": self.measures,
        }


@dataclass(frozen=True)
class FigureSpec:
    """A live figure: what is trained, from where, under which controls, and what is drawn of it.

    Parameters
    ----------
    title, alt : the figure's caption, and in words what its default frame shows
    model, data, start, test : the names under which the engine knows the formulas, and the numbers
        they start from: ``data`` = {"kind": "mixture", …draws}, ``start`` = {"kind": "zeros"};
        ``test`` like ``data``, or None. Where a control decides between several: {"by": its name,
        "choices": {value: …}}
    controls, fixed : what the reader can change, and the other values that the run reads
    record : the recorded steps; the last of them ends the run. Where a control decides, as with
        ``data``: {"by": its name, "choices": {value: steps}}
    curves, final : names of what is measured at every recorded step, and of the last model alone;
        where a reader points at a step in a panel over ``"steps"``, of the model of that step: the
        page trains once more then, and keeps them
    frame : the plotly figure, styled but without the numbers that are drawn. Each trace says in its
        ``meta`` what it shows, part → name, ``{"x": "steps", "y": "loss"}``, and beside that

        - ``"once": True``: the numbers are those at the start for good, as a line to compare with
        - ``"xaxis": {"ticktext": name}``: what is measured sets a part of the trace's axis; likewise ``"yaxis"``
        - ``"drag": {"x": "q"}``: a pointer can take its points; pulled along x they move the slider ``q``, as far as
          the point would move; likewise along y
        - ``"guess": name``: it is what the reader has drawn on the page under this name; in Python it is nothing
    summary, stopped : the sentence that says the result, and the one for a run that diverged;
        ``{loss}`` is replaced by the last number of that curve, ``{first_loss}`` by its first,
        ``{lr}`` by the value of that control
    no_slope : the sentence for a run that ended because its gradient was NaN or infinite where its
        loss was not
    train : values → ``Path``, the same run by Python, with every name of ``curves`` among its
        curves
    measure : name → function of (path, values), for each name of ``final`` that is no curve
    tries : telling cases as buttons, words → the values that they set: ``{"Ten times the step":
        {"lr": 10.0}}``; the other controls go to where they start
    watched : in how many seconds the first run is shown, step by step, to a reader who has nothing
        against motion, with ``final`` of the model at each recorded step; 0: as fast as it goes
    """

    title: str
    alt: str
    model: str
    data: dict[str, Any]
    start: dict[str, Any]
    controls: tuple[Control, ...]
    fixed: dict[str, Any]
    record: tuple[int, ...] | dict[str, Any]
    curves: tuple[str, ...]
    frame: go.Figure
    summary: str
    train: Callable[[dict[str, Any]], Path]
    final: tuple[str, ...] = ()
    measure: dict[str, Callable[..., Any]] = field(default_factory=dict)
    test: dict[str, Any] | None = None
    tries: dict[str, dict[str, Any]] = field(default_factory=dict)
    watched: float = 0
    stopped: str = (
        "The loss stopped being finite at step {stopped}: the step size is too large here. "
        "The curve shows the steps before it."
    )
    no_slope: str = (
        "The gradient is NaN or infinite at step {steps}, where the loss is not: a smaller step "
        "size does not help. The curve shows the steps before it."
    )
    _last: dict[Any, Path] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        known = {"steps", *self.curves, *self.final}
        for k, trace in enumerate(self.frame.data):
            numbers = trace.z if trace.type == "heatmap" else trace.y
            if numbers is None and not trace.meta:
                raise ValueError(
                    f"frame: {self._called(k)} has no numbers, and no meta that says what it shows"
                )
        for place in self.draw:
            shown = self._called(place["trace"]) if "trace" in place else place["layout"]
            names = {
                name for part, name in place.items() if part not in ("trace", "once", "layout")
            }
            _require_known(names, known, f"frame: {shown} shows", "what is measured is")
        sliders = {control.name for control in self.controls if control.kind == "slider"}
        for place in self.drag:
            names = {name for part, name in place.items() if part != "trace"}
            _require_known(
                names,
                sliders,
                f"frame: {self._called(place['trace'])} is dragged along",
                "the sliders are",
            )
        known |= {
            *self.fixed,
            "stopped",
            *(f"first_{name}" for name in self.curves),
            *(c.name for c in self.controls),
        }
        said = set(re.findall(r"{(\w+)}", self.summary + self.stopped + self.no_slope))
        _require_known(said, known, "summary: knows nothing of", "it can say")
        for words, changes in self.tries.items():
            try:
                self.values(changes)
            except ValueError as error:
                raise ValueError(f"tries: {words}: {error}") from None

    def _called(self, k):
        return f"trace {k} ({self.frame.data[k].name})"

    @property
    def draw(self) -> tuple[dict[str, Any], ...]:
        """Where what is measured goes: ``places`` of the frame."""
        return places(self.frame)

    @property
    def drag(self) -> tuple[dict[str, Any], ...]:
        """Points that a pointer can take, and the sliders that they move: ``{"trace": 3, "x":
        "q"}``."""
        moved = ((k, (trace.meta or {}).get("drag")) for k, trace in enumerate(self.frame.data))
        return tuple({"trace": k} | sliders for k, sliders in moved if sliders)

    @property
    def guesses(self) -> tuple[dict[str, Any], ...]:
        """Lines that the reader may have drawn, and their names: ``{"trace": 3, "guess":
        "chapter-1-1b"}``."""
        named = ((k, (trace.meta or {}).get("guess")) for k, trace in enumerate(self.frame.data))
        return tuple({"trace": k, "guess": name} for k, name in named if name)

    @property
    def defaults(self) -> dict[str, Any]:
        """The values at the start."""
        return {control.name: control.value for control in self.controls}

    def values(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """The values at the start with some changed; ValueError for a name or a value that no
        control has."""
        known = {control.name: control for control in self.controls}
        for name in changes:
            if name not in known:
                raise ValueError(f"{name}: no such control; this figure has {', '.join(known)}")
        return self.defaults | {name: known[name].match(value) for name, value in changes.items()}

    def path(self, values: dict[str, Any]) -> Path:
        """The run for these values, by Python. The last one is remembered: it is often asked for
        twice."""
        key = tuple(sorted(values.items()))
        if key not in self._last:
            run = self.train(values)
            self._last.clear()
            self._last[key] = run
        return self._last[key]

    def results(self, values: dict[str, Any]) -> dict[str, Any]:
        """What the browser draws for these values, by Python: steps, curves and last measures by
        name."""
        path = self.path(values)
        if not len(path):
            raise ValueError(f"there is nothing to draw: {path.stopped}")
        final = {
            name: self.measure[name](path, values)
            if name in self.measure
            else float(path.curves[name][-1])
            for name in self.final
        }
        return (
            {"steps": path.steps.tolist()}
            | {name: path.curves[name].tolist() for name in self.curves}
            | final
        )

    def figure(self, values: dict[str, Any]) -> go.Figure:
        """The figure for these values, complete, drawn from the run in Python."""
        first, now = self.results(self.defaults), None
        figure = go.Figure(self.frame)
        for place in self.draw:
            if not place.get("once") and now is None:
                now = first if values == self.defaults else self.results(values)
            put(figure, place, first if place.get("once") else now)
        return (
            legends_above(decades(placed(floored(figure))))
            .update_traces(meta=None)
            .update_layout(title=None, meta={"alt": self.alt})
        )

    def to_json(self) -> dict[str, Any]:
        """What the browser reads: everything but Python's own functions."""
        # By plotly's own encoder, which knows arrays, and writes NaN as null.
        figure = json.loads(str(self.figure(self.defaults).to_json()))
        return {
            "title": self.title,
            "model": self.model,
            "data": self.data,
            "start": self.start,
            "test": self.test,
            "controls": [control.to_json() for control in self.controls],
            "fixed": self.fixed,
            "record": self.record if isinstance(self.record, dict) else list(self.record),
            "curves": list(self.curves),
            "final": list(self.final),
            "figure": {"data": figure["data"], "layout": figure["layout"]},
            "draw": list(self.draw),
            "drag": list(self.drag),
            "guesses": list(self.guesses),
            "watched": self.watched,
            "tries": [
                {"label": words, "values": self.values(changes)}
                for words, changes in self.tries.items()
            ],
            "summary": self.summary,
            "stopped": self.stopped,
            "noSlope": self.no_slope,
        }


def _require_known(names, known, what, instead):
    unknown = names - known
    if unknown:
        raise ValueError(
            f"{what} {', '.join(sorted(unknown))}; {instead} {', '.join(sorted(known))}"
        )
