"""What a picture shows and says, held to what must stand in it."""

import json
import re
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from py_mini_racer import MiniRacer

from engines import LIVE, exposed
from legends import axis_of, by_name


@dataclass
class Panel:
    """What stands under a title: the words along its axes, "log" where they are logarithmic, and
    what is drawn.

    ``lines`` is name → y over ``over``, or (x, y), or a matrix; a list of these where several have
    the name. ``ticks`` is "x" or "y" → the words at 0, 1, 2, …; ``rounded`` is by how much the
    figure rounds what it draws.
    """

    x: str
    y: str
    lines: dict[str, Any]
    over: Any = None
    ticks: dict[str, list[str]] = field(default_factory=dict)
    rounded: float = 0.0


def each(path, measure):
    """A measure of every recorded model."""
    return np.array([measure(model) for model in path.models])


def losses(path, data):
    return each(path, lambda model: model.loss(data.X, data.y))


def accuracies(path, data):
    return each(path, lambda model: (np.sign(model(data.X)) == data.y).mean())


def attention_scores(path, data):
    """The attention on relevant tokens, over all samples, heads and queries."""
    return each(
        path,
        lambda model: (model.attention(data.X) * data.relevant[:, None, None]).sum(axis=-1).mean(),
    )


def cosine(a, b):
    return (a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b) if a.any() else 0.0


def softmax_of(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def all_lines(panels):
    """(title, name) → pairs of x and y, or a matrix alone."""
    found = {}
    for title, panel in panels.items():
        for name, given in panel.lines.items():
            every = given if isinstance(given, list) and np.ndim(given[0]) else [given]
            found[title, name] = [
                line if isinstance(line, tuple) or np.ndim(line) == 2 else (panel.over, line)
                for line in every
            ]
    return found


def assert_shows(figure, panels):
    """Under every title every line has the numbers that its name says, and no other line is
    there."""
    found, wanted = by_name(figure), all_lines(panels)
    assert set(found) == set(wanted)
    for name, lines in wanted.items():
        for trace, line in zip(found[name], lines, strict=True):
            parts = dict(zip("xy", line, strict=True)) if isinstance(line, tuple) else {"z": line}
            for part, right in parts.items():
                drawn, right = np.array(trace[part], float), np.array(right, float)
                if part == "y" and _leaves_step_0_out(figure["layout"], trace):
                    right = np.where(np.array(trace["x"], float) > 0, right, np.nan)
                off = panels[name[0]].rounded + 1e-9 * np.nanmax(abs(right), initial=0)
                np.testing.assert_allclose(
                    drawn, right, rtol=1e-6, atol=off, err_msg=f"{part} of {name}"
                )


def _leaves_step_0_out(layout, trace):
    """Whether the axis across is logarithmic, and the other one fits what is drawn."""
    return (
        axis_of(layout, trace, "x").get("type") == "log"
        and axis_of(layout, trace, "y").get("range") is None
    )


def assert_all_differ(panels):
    """No two lines of a panel are so alike that one could stand for the other."""
    lines = [
        (name, np.atleast_2d(np.array(line, float)))
        for name, every in all_lines(panels).items()
        for line in every
    ]
    for (name, line), (other_name, other) in combinations(lines, 2):
        if name[0] == other_name[0] and line.shape == other.shape and line.size:
            apart = np.nanmax(abs(line - other), axis=1) / np.nanmax(abs(line) + abs(other), axis=1)
            assert np.nanmax(apart) > 1e-4, (name, other_name)


def assert_axes_say(figure, panels):
    """The axes of every panel have its words and ticks, and show part of each line."""
    for (title, name), traces in by_name(figure).items():
        for trace in traces:
            axes = {letter: axis_of(figure["layout"], trace, letter) for letter in "xy"}
            assert [axis_words(axis) for axis in axes.values()] == [
                panels[title].x,
                panels[title].y,
            ], title
            for letter, axis in axes.items():
                assert_in_sight(axis, trace.get(letter), (title, name))
            for letter, ticks in panels[title].ticks.items():
                assert list(axes[letter]["ticktext"]) == ticks
                assert list(axes[letter]["tickvals"]) == list(range(len(ticks)))


def axis_words(axis):
    """The title of an axis, after "log" where it is logarithmic."""
    title = axis.get("title", {}).get("text") or ""
    return f"log {title}".strip() if axis.get("type") == "log" else title


def assert_in_sight(axis, numbers, name):
    """An axis with a range has room for part of a line at least."""
    if axis.get("range") is None or numbers is None or np.isnan(np.array(numbers, float)).all():
        return
    low, high = (
        10 ** np.array(axis["range"], float)
        if axis.get("type") == "log"
        else np.array(axis["range"], float)
    )
    numbers = np.array(numbers, float)
    # An end of a range that is left open is no number.
    assert not (np.nanmin(numbers) > high or np.nanmax(numbers) < low), name


@cache
def _speaker():
    v8 = MiniRacer()
    v8.eval(exposed(LIVE / "widget.js"))
    return v8


def _six_digits(number):
    return f"{number:.6g}" if isinstance(number, (int, float, np.number)) else number


def sentence_of(spec, values, results):
    """The sentence that a page says of results by name, with six digits of every number."""
    ends = {
        name: (results[name][0], results[name][-1])
        for name in spec["curves"]
        if np.ndim(results[name]) == 1
    }
    result = {
        "steps": [int(results["steps"][-1])],
        "stopped": None,
        "curves": {name: [_six_digits(x) for x in pair] for name, pair in ends.items()},
        "final": {
            name: _six_digits(results[name])
            for name in spec["final"]
            if np.ndim(results[name]) == 0
        },
    }
    return _speaker().eval(
        f"sentence({json.dumps(spec)}, {json.dumps(values)}, {json.dumps(result)})"
    )


def assert_says(sentence, fragments):
    """Words and numbers, ("loss {}", 0.5), stand in the sentence; a negative number has a minus
    sign, not a hyphen."""
    for words, *numbers in fragments:
        said = words.format(*(re.sub("^-", "−", _six_digits(number)) for number in numbers))
        assert said in sentence, f"{said}\nis not in\n{sentence}"
