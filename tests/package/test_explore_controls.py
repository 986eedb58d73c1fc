"""What a keyword of mha.explore may be: its control, its start, the error where it is none."""

import math

import ipywidgets
import numpy as np
import plotly.graph_objects as go
import pytest

import mhalib as mha
from checks import assert_refused
from explorers import ALT, Line

pytestmark = pytest.mark.usefixtures("no_running_loop")


@pytest.fixture(autouse=True)
def with_a_kernel(monkeypatch):
    """Here is a notebook, not the book."""
    monkeypatch.delenv("LIVEGRAD_FIGURES", raising=False)


def only(given, default=None):
    """The explorer of one parameter p."""
    return mha.explore(lambda p=default: go.Figure(layout=ALT), p=given)


W = ipywidgets
CONTROLS = {
    # given, the function's default → the widget, its start, some of its traits
    "whole numbers": ((1, 9), None, W.IntSlider, 5, {"min": 1, "max": 9, "step": 1}),
    "default inside": ((1, 9), 2, W.IntSlider, 2, {}),
    "with a step": ((0, 100, 10), None, W.IntSlider, 50, {"step": 10}),
    "around zero": ((-4, 100), None, W.IntSlider, 48, {"min": -4}),
    "a factor of 16": ((1, 16), None, W.IntSlider, 9, {}),
    "doublings": ((1, 64), None, W.SelectionSlider, 8, {"options": (1, 2, 4, 8, 16, 32, 64)}),
    "doublings and the end": (
        (3, 50),
        None,
        W.SelectionSlider,
        12,
        {"options": (3, 6, 12, 24, 48, 50)},
    ),
    "doublings and the default": (
        (1, 32),
        5,
        W.SelectionSlider,
        5,
        {"options": (1, 2, 4, 5, 8, 16, 32)},
    ),
    "every number to 64": ((1, 64, 1), 8, W.IntSlider, 8, {"step": 1}),
    "numpy's numbers": ((np.int64(2), np.int64(8)), None, W.IntSlider, 5, {}),
    "floats": ((0.0, 2.0), None, W.FloatSlider, 1.0, {"min": 0.0, "max": 2.0, "step": 0.02}),
    "one float": ((0, 0.5), 0, W.FloatSlider, 0.0, {"max": 0.5}),
    "floats with a step": ((0.1, 100.0, 0.1), 7, W.FloatSlider, 7.0, {"step": 0.1}),
    "less than a factor of 100": ((0.1, 9.9), None, W.FloatSlider, 5.0, {}),
    "a factor of 100": (
        (0.1, 10.0),
        None,
        W.FloatLogSlider,
        1.0,
        {"min": -1.0, "max": 1.0, "base": 10.0},
    ),
    "logarithmic, default inside": ((0.01, 10.0), 0.5, W.FloatLogSlider, 0.5, {}),
    "whole numbers and the default between two": (
        (0, 10, 4),
        6,
        W.SelectionSlider,
        6,
        {"options": (0, 4, 6, 8, 10)},
    ),
    "floats and the default between two": (
        (0.5, 2.0, 0.5),
        0.7,
        W.SelectionSlider,
        0.7,
        {"options": (0.5, 0.7, 1.0, 1.5, 2.0)},
    ),
    "a list of numbers": ([0.1, 0.5, 2], None, W.SelectionSlider, 0.5, {"options": (0.1, 0.5, 2)}),
    "a list with the default": ([1, 2, 5], 5, W.SelectionSlider, 5, {}),
    "a list of words": (["gd", "adam"], None, W.Dropdown, "gd", {"options": ("gd", "adam")}),
    "a menu with the default": (["gd", "adam"], "adam", W.Dropdown, "adam", {}),
    "a list with the default by rounding": (
        np.linspace(0.1, 1, 10).tolist(),
        0.3,
        W.SelectionSlider,
        0.1 + 0.2,
        {},
    ),
    "a list around zero": ([-0.3, 0.1 - 0.3 + 0.2, 0.3], 0, W.SelectionSlider, 0.1 - 0.3 + 0.2, {}),
    "a default at the end by rounding": ((0.0, 0.3), 0.1 + 0.2, W.FloatSlider, 0.3, {}),
    "a checkbox": (True, None, W.Checkbox, True, {}),
    "a checkbox has no other start": (False, True, W.Checkbox, False, {}),
}


@pytest.mark.parametrize("given, default, kind, start, traits", CONTROLS.values(), ids=CONTROLS)
def test_a_keyword_asks_for_its_control(given, default, kind, start, traits):
    explorer = only(given, default)
    widget = explorer.controls["p"]
    assert type(widget) is kind
    assert (
        widget.value == pytest.approx(start) if isinstance(start, float) else widget.value == start
    )
    assert type(explorer.values["p"]) is type(start)
    assert widget.description == "p"
    found = {name: getattr(widget, name) for name in traits}
    assert found | ({"options": values_of(widget)} if "options" in traits else {}) == traits


@pytest.mark.parametrize(
    "given, default",
    [
        ((0.5, 4.0), 1.0),
        ((0.5, 4.0), 0.501),
        ((0.5, 4.0), None),
        ((0.01, 10.0), 0.3),
        ((0.03, 7.0), None),
        ((0.0, 1.0), 1),
    ],
)
def test_a_slider_starts_on_one_of_its_steps_which_are_all_that_it_shows(given, default):
    widget = only(given, default).controls["p"]
    low, value = widget.min, widget.value
    if isinstance(widget, W.FloatLogSlider):
        value = math.log10(value)
    steps = (value - low) / widget.step
    assert steps == pytest.approx(round(steps), abs=1e-9) or value == widget.max
    assert steps >= 1 and (default is None or widget.value == pytest.approx(default))


@pytest.mark.parametrize(
    "given, default, words",
    [
        ((1, 9), 10, "p: the function's default, 10, is not among 1 to 9; the control starts at 5"),
        (
            (1, 9),
            2.5,
            "p: the function's default, 2.5, is not among 1 to 9; the control starts at 5",
        ),
        (
            [0.1, 0.5, 2],
            0.3,
            "p: the function's default, 0.3, is not among 0.1 to 2; the control starts at 0.5",
        ),
        (
            ["gd", "adam"],
            "sgd",
            "p: the function's default, 'sgd', is not among gd or adam; the control starts at gd",
        ),
    ],
)
def test_a_default_that_is_none_of_the_values_is_told(given, default, words):
    with pytest.warns(UserWarning) as told:
        only(given, default)
    assert str(told[0].message) == words
    assert told[0].filename == __file__


def test_a_value_is_set_up_to_rounding():
    explorer = only([0.1, 0.1 + 0.2, 1.0])
    explorer.set(p=0.3)
    assert explorer.values == {"p": 0.1 + 0.2}
    slider = only((0.0, 0.3))
    slider.set(p=0.1 + 0.2)
    assert slider.values == {"p": 0.3}
    with pytest.raises(ValueError, match=r"p: expected one of 0.1, 0.3, 1, got 0.31"):
        explorer.set(p=0.31)


def values_of(widget):
    return tuple(value for _, value in widget.options)


def test_menus_name_functions():
    assert [words for words, _ in only([mha.softmax.__class__, np.sin]).controls["p"].options] == [
        "Softmax",
        "sin",
    ]


def test_a_readers_widget_is_used_as_it_is():
    theirs = W.BoundedIntText(value=4, min=1, max=6)
    explorer = mha.explore(Line(), H=theirs)
    assert explorer.controls["H"] is theirs
    assert explorer.f.calls == [4]
    theirs.value = 6
    assert explorer.f.calls == [4, 6]
    explorer.set(H=9)
    assert explorer.values == {"H": 6}, "the widget has the last word"


def anything(**parameters):
    return go.Figure(layout=ALT)


def test_a_function_may_take_any_parameter():
    assert mha.explore(anything, a=(0, 3), b=True).values == {"a": 2, "b": True}


BAD = {
    "no function": (
        lambda: mha.explore(3, H=(1, 4)),
        TypeError,
        ["f: expected a function", "got 3"],
    ),
    "no control": (
        lambda: mha.explore(Line()),
        ValueError,
        ["controls: expected at least one", "got none"],
    ),
    "no such parameter": (
        lambda: mha.explore(Line(), h=(1, 4)),
        ValueError,
        ["controls: expected parameters of line(H, slope)", "'h'"],
    ),
    "a parameter left bare": (
        lambda: mha.explore(lambda a, b: None, a=(1, 4)),
        ValueError,
        ["controls: expected parameters of <lambda>(a, b)", "'b'"],
    ),
    "reversed": (
        lambda: mha.explore(Line(), H=(4, 1)),
        ValueError,
        ["H: expected", "min < max", "got (4, 1)"],
    ),
    "empty range": (
        lambda: mha.explore(Line(), H=(4, 4)),
        ValueError,
        ["H: expected", "got (4, 4)"],
    ),
    "not a number": (
        lambda: mha.explore(Line(), H=(0, float("nan"))),
        ValueError,
        ["H: expected finite", "nan"],
    ),
    "step of zero": (
        lambda: mha.explore(Line(), H=(1, 4, 0)),
        ValueError,
        ["step > 0", "got (1, 4, 0)"],
    ),
    "four numbers": (
        lambda: mha.explore(Line(), H=(1, 2, 3, 4)),
        TypeError,
        ["(min, max, step)", "(1, 2, 3, 4)"],
    ),
    "words for ends": (
        lambda: mha.explore(Line(), H=("a", "b")),
        TypeError,
        ["H: expected (min, max)", "('a', 'b')"],
    ),
    "truth for ends": (
        lambda: mha.explore(Line(), H=(False, True)),
        TypeError,
        ["H: expected (min, max)"],
    ),
    "empty list": (
        lambda: mha.explore(Line(), H=[]),
        ValueError,
        ["H: expected a list with at least one", "got []"],
    ),
    "a list of arrays": (
        lambda: mha.explore(Line(), H=[np.ones(2), np.zeros(2)]),
        TypeError,
        ["H: expected a list of numbers, words", "got one with an ndarray of shape (2,)"],
    ),
    "a number alone": (
        lambda: mha.explore(Line(), H=3),
        TypeError,
        ["H: expected (min, max), a list", "got 3"],
    ),
    "a word": (lambda: mha.explore(Line(), H="3"), TypeError, ["H: expected", "got '3'"]),
    "no figure": (
        lambda: mha.explore(lambda H: None, H=(1, 4)),
        TypeError,
        ["f: expected a function that returns a plotly figure", "returns None"],
    ),
    "a figure with frames": (
        lambda: mha.explore(framed, k=(1, 4)),
        ValueError,
        ["without frames", "got one with 2"],
    ),
    "set elsewhere": (
        lambda: mha.explore(Line(), H=(1, 4)).set(h=1),
        ValueError,
        ["h: expected one of the controls H", "got 1"],
    ),
    "set outside": (
        lambda: mha.explore(Line(), H=(1, 4)).set(H=5),
        ValueError,
        ["H: expected 1 to 4", "got 5"],
    ),
    "set between": (
        lambda: mha.explore(Line(), H=(1, 32)).set(H=6),
        ValueError,
        ["H: expected one of 1, 2, 3, 4, 8, 16, 32", "got 6"],
    ),
    "set unwhole": (
        lambda: mha.explore(Line(), H=(1, 4)).set(H=1.5),
        ValueError,
        ["H: expected 1 to 4", "got 1.5"],
    ),
    "set to a truth value": (
        lambda: mha.explore(Line(), H=(1, 4)).set(H=True),
        ValueError,
        ["got True"],
    ),
}


def framed(k):
    return go.Figure(frames=[go.Frame(name=str(n * k)) for n in (1, 2)])


@pytest.mark.parametrize("call, error, words", BAD.values(), ids=BAD)
def test_bad_input_is_named(call, error, words):
    assert_refused(call, error, words)


@pytest.mark.parametrize(
    "given, ends",
    [
        ((0.01, 10.0), [0.01, 10.0]),
        (["a", "b", "c"], ["a", "b", "c"]),
        ([4, 1, 2], [4, 2]),
        (False, [False, True]),
        (W.FloatLogSlider(value=1, min=-1, max=2), [0.1, 100]),
        (W.Dropdown(options=[("x", 1), ("y", 2)]), [1, 2]),
        (W.IntRangeSlider(value=(1, 2)), []),
        (W.Text("a"), []),
        (W.BoundedIntText(value=2, min=1, max=3), [1, 3]),
        (W.Checkbox(), [False, True]),
        (W.SelectMultiple(options=["a", "b"]), []),
    ],
)
def test_check_tries_the_ends_of_each_control(given, ends):
    calls = []
    explorer = mha.explore(lambda p: calls.append(p) or go.Figure(), p=given)
    calls.clear()
    explorer.check()
    assert calls == [explorer.values["p"], *ends]


def test_a_logarithmic_slider_keeps_to_its_ends():
    low, high = 0.03, 7.7
    explorer = only((low, high))
    slider = explorer.controls["p"]
    assert slider.min == math.log10(low)
    for moved_to, end in (
        (10.0**slider.min, low),
        (10.0**slider.max, high),
        (low / 2, low),
        (2 * high, high),
    ):
        slider.value = moved_to
        assert low <= explorer.values["p"] <= high
        assert explorer.values["p"] == pytest.approx(end)
