"""The figure of the laboratory: its controls, its runs by mhalib, the lines that repeat them."""

import warnings
import zlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from os import PathLike
from pathlib import Path as File
from typing import Any

import numpy as np
import plotly.graph_objects as go
import traitlets

from livegrad.console import printed
from livegrad.live.drawing import placed, places, put
from livegrad.live.modules import widget_module
from livegrad.live.widget import LiveFigure, Widget, mark
from livegrad.training import Path, recorded_steps
from mhabook._address import is_placeholder, repository, web_address
from mhabook.c17_laboratory import code, measures, panels
from mhabook.c17_laboratory.controls import (
    BEGINNINGS,
    BY_NAME,
    CONTROLS,
    DEFAULTS,
    Choice,
    resolve,
    shown,
)
from mhabook.c17_laboratory.experiments import EXPERIMENTS, TRIES
from mhalib.data import Dataset, RegressionDataset, SequenceDataset, from_file
from mhalib.data.digits import bundled

HERE = files("mhabook.c17_laboratory")
RECORDED = 40
KINDS = {Dataset: "heads", RegressionDataset: "regression", SequenceDataset: "layer"}
TITLE = "The laboratory"
PAGE = "book/laboratory/17_laboratory.html"
ALT = (
    "Five panels over 2,000 steps of gradient descent on a tokenized mixture, with one head that starts "
    "at zero; the axis of the steps is logarithmic. Training and test loss fall, and both accuracies "
    "reach 1. The attention on the relevant token rises from a tenth to four fifths. The largest "
    "eigenvalue of the Hessian starts just above 2/η and then falls, far below its bound. Beside the "
    "loss stand the attention weights of one sample: the column of the starred token is lit."
)
OPENS: dict[str, Any] = DEFAULTS | EXPERIMENTS["first"]["values"]
"""What the controls stand at before anyone has moved them: the run of chapter 1."""
STOPPED = (
    "The loss stopped being finite at step {stopped}: the step size is too large here. The curve "
    "shows the steps before it. Lower the step size η, or choose warm-up."
)


@printed
class Laboratory(Widget):
    """The laboratory of the last chapter. Made by ``mhabook.laboratory``.

    ``values`` is where the controls stand, in Python as in the browser, and can be set; ``code()``
    gives the lines of Python that repeat the run, and ``path()`` the ``Path`` that these lines
    leave. ``own`` says which file of the reader is open, in either of them: its name, its checksum,
    and the model that it is for.
    """

    _esm = widget_module(File(str(HERE)) / "widget.js")
    _css = LiveFigure._css + (HERE / "widget.css").read_text("utf-8")
    laboratory: "traitlets.Dict[str, Any]" = traitlets.Dict().tag(sync=True)
    values: "traitlets.Dict[str, Any]" = traitlets.Dict().tag(sync=True)
    own: "traitlets.Dict[str, str]" = traitlets.Dict().tag(sync=True)

    def __init__(self) -> None:
        self._file, self._sum, self._last = None, None, {}
        super().__init__(laboratory=_description() | {"fallback": mark(TITLE, ALT)}, values=OPENS)

    @property
    def experiments(self) -> dict[str, dict[str, Any]]:
        """Name → the values of all controls in a guided experiment."""
        return {name: DEFAULTS | experiment["values"] for name, experiment in EXPERIMENTS.items()}

    @property
    def controls(self) -> dict[str, Choice]:
        """The controls by name, each with its label, its values, and the one at the start."""
        return BY_NAME

    def __repr__(self) -> str:
        stand = ", ".join(
            f"{name} = {self.values[name]}" for name in shown(self.values, self._kind)
        )
        return f"Laboratory({stand})"

    @property
    def _kind(self):
        """The model that the reader's file is for, or "" without one."""
        return self.own.get("kind", "")

    def settings(self, **values: Any) -> dict[str, Any]:
        """The controls as they stand with some values changed, each replaced that is not offered
        beside the others.

        Raises ValueError for a name that no control has, or a value that it cannot take.
        """
        for name in values:
            if name not in DEFAULTS:
                raise ValueError(
                    f"{name}: no such control; the laboratory has {', '.join(DEFAULTS)}"
                )
        changed = {name: BY_NAME[name].match(value) for name, value in values.items()}
        return resolve(self.values | changed, self._kind)

    def read(self, path: str | PathLike[str]) -> None:
        """Train on the CSV or NPZ file of a path, as ``mha.data.from_file`` reads it; chooses the
        model that it fits.

        The file stays with Python. A page that shows the laboratory says so, and trains on it once
        it is opened there.

        Raises FileNotFoundError or ValueError as ``mha.data.from_file``.
        """
        # Read first, so that a file that does not fit changes nothing.
        kind, file = KINDS[type(from_file(path))], File(path).expanduser()
        self._file, self._sum, self._last = str(path), f"{zlib.crc32(file.read_bytes()):x}", {}
        begin = {} if kind == self.values["model"] else BEGINNINGS[kind]
        # Before `values`, whose validation offers "own" only for the model that `own` names.
        self.own = {"file": file.name, "kind": kind, "sum": self._sum}
        self.values = begin | {"model": kind, "data": "own"}

    def code(self, **values: Any) -> str:
        """The lines of Python that repeat the run, for the controls as they stand, or for other
        values.

        Raises ValueError as ``settings``, and on a file that was opened in the browser and not by
        ``read``.
        """
        settings = self.settings(**values)
        if settings["data"] == "own" and self.own["sum"] != self._sum:
            raise ValueError(
                f"data: the file {self.own['file']!r} was opened in the browser; lab.read(path) "
                "reads it in Python too"
            )
        return code.code(settings, self._file)

    def path(self, **values: Any) -> Path:
        """The ``Path`` of the run: what the lines of ``code`` leave under that name; raises as
        ``code``."""
        return self.run(**values)["path"]

    def run(self, **values: Any) -> dict[str, Any]:
        """All names that the lines of ``code`` leave: data, model, rule, path; raises as
        ``code``."""
        lines = self.code(**values)
        # The lines say all that a run depends on but the content of a file, and `read` empties
        # this.
        if lines not in self._last:
            with warnings.catch_warnings():
                # of a run that diverges; its path says so
                warnings.simplefilter("ignore", RuntimeWarning)
                self._last = {lines: code.run(self.settings(**values), self._file)}
        return self._last[lines]

    def drawn(self, **values: Any) -> dict[str, Any]:
        """What is drawn, by name: ``steps``, the curves, and what is shown of the last model; by
        mhalib."""
        settings, run = self.settings(**values), self.run(**values)
        path, known = run["path"], measures.CURVES
        names = panels.curves(kind_of(settings))
        curves = {
            name: known[name](path, run, settings) if name in known else path.curves[name]
            for name in names
            if name != "sharpness" or settings["curvature"]
        }
        labels = measures.tokens(run["data"], settings)
        return {
            "steps": path.steps,
            **curves,
            "tokens": labels,
            "places": list(range(len(labels))),
            "weights": measures.weights(path[-1], run["data"], settings),
            **measures.edge_label(settings["optimizer"]),
            **measures.told(settings),
        }

    def figure(self, **values: Any) -> go.Figure:
        """The figure as a plotly figure that stands still, drawn from mhalib's own run."""
        settings, drawn = self.settings(**values), self.drawn(**values)
        kind, first = kind_of(settings), _beginning(_opening(), settings["steps"])
        figure = panels.frame(kind, panels.below(settings))
        # a curvature that is not measured has no points
        known = dict.fromkeys(panels.curves(kind), [np.nan] * len(drawn["steps"])) | drawn
        for place in places(figure):
            put(figure, place, first if place.get("once") else known)
        if settings == OPENS:
            figure.update_traces(visible=False, selector={"name": panels.BASELINE})
        figure.update_traces(meta=None)
        return go.Figure(placed(figure)).update_layout(
            meta={"alt": self._in_words(settings, drawn)}
        )

    def _in_words(self, settings, drawn):
        if settings == OPENS:
            return ALT
        steps, loss, rule = drawn["steps"], drawn["loss"], BY_NAME["optimizer"]
        came = (
            f"Over {steps[-1]} steps of {rule.texts[rule.values.index(settings['optimizer'])]} "
            f"the training loss goes from {loss[0]:.3g} to {loss[-1]:.3g}."
            if len(steps)
            else "Nothing was recorded."
        )
        kind = kind_of(settings)
        beside = f"{panels.BASELINE_ALT} " if panels.compared(kind) else ""
        return f"{panels.alt(kind, panels.below(settings))} {beside}{came}"

    def _captions(self):
        return self.laboratory

    def _frame(self):
        return self.figure(**OPENS).to_plotly_json()

    @traitlets.validate("values")
    def _known_values(self, proposal):
        return self.settings(
            **{name: value for name, value in proposal["value"].items() if name in DEFAULTS}
        )


def laboratory() -> Laboratory:
    """The laboratory: model, kernel, data, start, rule and schedule in the reader's hands."""
    return Laboratory()


def kind_of(values: Mapping[str, Any]) -> str:
    """Which panels are drawn."""
    return f"own_{values['model']}" if values["data"] == "own" else values["data"]


@cache
def _description():
    """What the browser reads."""
    web = web_address(repository())
    return {
        "title": TITLE,
        "alt": ALT,
        "stopped": STOPPED,
        "page": "" if not web or is_placeholder(web) else web + PAGE,
        "controls": [control.to_json() for control in CONTROLS],
        "code": code.to_json(),
        "experiments": EXPERIMENTS,
        "tries": TRIES,
        "begins": BEGINNINGS,
        "images": _images(),
        "drawn": panels.to_json(),
        "template": panels.template(),
        "opening": _opening(),
        "beside": panels.BASELINE_ALT,
        "looks": {rule: measures.edge_label(rule) for rule in BY_NAME["optimizer"].values},
        "records": {
            str(count): list(recorded_steps(count, RECORDED)) for count in BY_NAME["steps"].values
        },
    }


@cache
def _opening():
    """The run that the laboratory opens with: ``steps``, and what other runs are compared with."""
    run = code.run(OPENS, None)
    path, known = run["path"], measures.CURVES
    return {"steps": path.steps.tolist()} | {
        name: (known[name](path, run, OPENS) if name in known else path.curves[name]).tolist()
        for name in panels.compared(OPENS["data"])
    }


def _beginning(curves, steps):
    """The curves of a run for its first so many steps."""
    count = sum(step <= steps for step in curves["steps"])
    return {name: curve[:count] for name, curve in curves.items()}


def _images():
    """The digits that the controls offer, 64 characters an image, "A" for 0."""
    images, labels = bundled()
    kept = np.isin(labels, BY_NAME["classes"].python)
    pixels = "".join(chr(65 + int(pixel)) for pixel in images[kept].ravel())
    return {"pixels": pixels, "labels": "".join(map(str, labels[kept]))}
