"""The state of the laboratory's page, in V8: what becomes of it when a reader, a link, a file or
Python moves it."""

import json

import numpy as np
import pytest

from laboratory import LAB, asked, whole
from mhabook.c17_laboratory.controls import BEGINNINGS, CONTROLS, DEFAULTS, resolve

RESET, LR = {"is": "reset"}, {"is": "set", "name": "lr", "value": 0.5}
MINE = {"file": "mine.csv", "kind": "regression", "sum": "1", "words": "a few tokens"}
THEIRS = {"file": "theirs.csv", "kind": "regression", "sum": "2"}
TO_THEIRS = {
    "is": "link",
    "values": DEFAULTS | {"model": "regression", "data": "own", "lr": 0.1},
    "file": "theirs.csv",
    "sum": "2",
}
ON_THEIRS = {"is": "python", "values": TO_THEIRS["values"], "theirs": THEIRS}


def after(*events, values=DEFAULTS, theirs=None):
    """The state of a page that begins at ``values``, where Python knows of the file ``theirs``,
    after some events."""
    begin = f"begin(spec, {json.dumps(values)}, {json.dumps(theirs or {})})"
    return asked(
        whole(), f"{json.dumps(events)}.reduce((state, event) => next(spec, state, event), {begin})"
    )


def chosen(name, value):
    return {"is": "set", "name": name, "value": value}


def opened(**changes):
    return {"is": "file", "own": MINE | changes}


def assert_said(state, *words):
    assert not [word for word in words if word not in state["note"]], state["note"]


def test_at_the_start_nobody_has_moved_anything():
    state = after()
    assert state["values"] == DEFAULTS and (state["by"], state["touched"], state["note"]) == (
        "",
        False,
        "",
    )


@pytest.mark.parametrize("seed", range(4))
def test_after_any_moves_the_values_are_offered_beside_each_other(seed):
    rng, own = np.random.default_rng(seed), ("", "regression")[seed % 2]
    moves = [
        chosen(c.name, c.values[rng.integers(len(c.values))]) for c in rng.choice(CONTROLS, 100)
    ]
    values = after(*([opened()] if own else []), *moves)["values"]
    assert values == resolve(values, own)


@pytest.mark.parametrize("model", BEGINNINGS)
def test_a_model_begins_where_its_training_succeeds(model):
    assert after(chosen("lr", 1000.0), chosen("model", model))["values"] == resolve(
        DEFAULTS | {"lr": 1000.0, "model": model} | BEGINNINGS[model]
    )


def test_an_experiment_is_named_until_the_next_move():
    state = after(LR, {"is": "experiment", "name": "edge"})
    assert state["values"] == LAB.experiments["edge"] and state["experiment"] == "edge"
    assert after(LR, {"is": "experiment", "name": "edge"}, RESET) == after(RESET)


def test_a_reset_leads_to_the_run_that_the_laboratory_opens_with():
    state = after(LR, RESET)
    assert state["values"] == LAB.values and state["experiment"] == "first"


@pytest.mark.parametrize(
    "event", [RESET, LR, opened(), TO_THEIRS, ON_THEIRS], ids=lambda event: event["is"]
)
def test_a_move_drops_what_was_said_and_found_of_the_values_before(event):
    done = "{ ...begin(spec, spec.begins, {}), result: {}, wrong: 'too large', note: 'copied', experiment: 'edge' }"
    state = asked(whole(), f"next(spec, {done}, {json.dumps(event)})")
    assert state["result"] is None and state["wrong"] == "" and state["note"] != "copied"


# --- runs
# -----------------------------------------------------------------------------------------------------------


def shown(frame):
    """What is concluded of a frame of the values that stand, or of others."""
    whole().eval(f"var before = begin(spec, {json.dumps(DEFAULTS)}, {{}}); 0")
    drawn = (
        f"{{ is: 'drawn', frame: {{ done: true, steps: [0], values: before.values, {frame} }} }}"
    )
    return asked(
        whole(),
        f"(({{ result, wrong }}) => [result && result.steps, wrong])(next(spec, before, {drawn}))",
    )


def test_a_run_is_concluded_at_its_end_if_its_values_still_stand():
    assert shown("") == [[0], ""]
    assert shown("done: false") == shown("values: { ...before.values }") == [None, ""]


def test_a_run_that_is_not_finite_at_the_start_has_failed():
    result, wrong = shown("steps: []")
    assert result is None and wrong.startswith("the numbers are not finite at the start. Lower")
    assert after({"is": "failed", "wrong": "no plotly"})["wrong"] == "no plotly"


# --- links and files
# ------------------------------------------------------------------------------------------------


def test_a_link_restores_what_it_says_or_says_what_is_wrong():
    values = resolve(DEFAULTS | {"model": "layer", "kernel": "gaussian"})
    state = after(LR, {"is": "link", "values": values, "experiment": "far"})
    assert (state["values"], state["experiment"], state["by"]) == (values, "far", "link")
    state = after(LR, {"is": "link", "wrong": "This is no link."})
    assert state["values"] == LAB.values and state["note"] == "This is no link."


@pytest.mark.parametrize(
    ("own", "changes"),
    [
        (None, {"model": "layer", "kernel": "gaussian", "H": 4}),
        (MINE | {"file": "a & b=1.csv"}, {"model": "regression", "data": "own", "lr": 0.1}),
    ],
    ids=["drawn", "own"],
)
def test_a_copied_link_has_every_control_and_the_checksum_of_a_file(own, changes):
    values = resolve(DEFAULTS | changes, own and own["kind"])
    found = asked(whole(), f"readLink(spec, linkOf(spec, {json.dumps(values)}, {json.dumps(own)}))")
    assert found["values"] == values and (found.get("file"), found["sum"]) == (
        own and own["file"],
        own and own["sum"],
    )


def read_of(link):
    """What the laboratory hears of a link."""
    return asked(whole(), f"readLink(spec, {json.dumps(link)})")


@pytest.mark.parametrize(
    ("foreign", "words"),
    [
        ("lr=abc", "step size η to “abc”, which is not offered"),
        ("H=3", "to “3”, which is not offered"),
        ("nonsense=3", "“nonsense”, which the laboratory does not have"),
        ("experiment=none", "the experiment to “none”, which is not offered"),
        ("experiment=__proto__", "the experiment to “__proto__”, which"),
        ("__proto__=heads", "“__proto__”, which the laboratory does not have"),
        ("constructor=1&hasOwnProperty=1", "“constructor” and “hasOwnProperty”, which"),
        ("%E0%A4%A", "which the laboratory does not have"),
        ("sum=mine", "the checksum of its file to “mine”"),
        ("fbclid=IwAR1x", "“fbclid”, which the laboratory does not have"),
    ],
)
def test_what_a_link_sets_and_the_laboratory_lacks_is_named_and_the_rest_is_set(foreign, words):
    found = read_of(f"#laboratory=1&amp;model%3Dlayer%26{foreign}&seed=1).")
    assert found["values"] == DEFAULTS | {"model": "layer", "seed": 1}
    assert words in found["left"] and found["left"].endswith("The rest is set.")
    assert_said(after({"is": "link", **found}), found["left"])


def test_what_is_left_of_a_link_to_a_file_is_named_beside_the_file():
    state = after(TO_THEIRS | {"left": "The link sets “x”."})
    assert_said(state, "The link sets “x”. This link is of a run on the file “theirs.csv”")


@pytest.mark.parametrize("link", ["", "#", "#further-reading", "#__proto__=1", "#utm_source=rss"])
def test_a_link_that_sets_nothing_here_is_none_of_the_laboratory(link):
    assert read_of(link) is None


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ({}, "a run on the file “theirs.csv”, which stayed with its owner"),
        ({"file": None}, "a run on a file, which"),
    ],
)
def test_a_link_to_a_file_waits_for_it(file, words):
    state = after(TO_THEIRS | file)
    assert_said(state, words)
    assert state["values"] == resolve(TO_THEIRS["values"]) and state["values"]["data"] != "own"


def test_a_link_is_restored_by_its_file_and_by_another_with_a_warning():
    for own, words in (
        (opened(sum="2"), "“mine.csv” is open: a few tokens. It stays"),
        (opened(), "not the file of the link"),
    ):
        state = after(TO_THEIRS, own)
        assert_said(state, words)
        assert state["values"] == TO_THEIRS["values"] and state["awaited"] is None


def test_a_file_for_another_model_than_the_links_is_trained_on_anew():
    state = after(TO_THEIRS, opened(kind="heads"))
    assert_said(state, "It stays on this machine", "is of another model, and is not restored")
    assert (state["values"]["model"], state["values"]["data"]) == ("heads", "own")


@pytest.mark.parametrize(
    "leave", [RESET, LR, {"is": "experiment", "name": "equal"}], ids=lambda event: event["is"]
)
def test_a_link_that_was_left_waits_for_no_file(leave):
    state = after(TO_THEIRS, leave, opened(kind="heads"))
    assert "link" not in state["note"] and state["awaited"] is None and state["values"]["lr"] != 0.1


def test_a_link_to_the_file_that_is_open_does_not_wait():
    state = after(opened(sum="2"), RESET, TO_THEIRS)
    assert state["values"] == TO_THEIRS["values"] and state["note"] == ""


# --- with Python behind the page
# ------------------------------------------------------------------------------------


def heard(*events, **more):
    """What Python is told after some events."""
    return asked(whole(), f"told({json.dumps(after(*events, **more))})")


def test_python_moves_the_controls_and_is_not_told_so():
    state = after({"is": "python", "values": resolve(DEFAULTS | {"model": "layer"}), "theirs": {}})
    assert (state["values"]["model"], state["by"], state["touched"]) == ("layer", "python", False)


@pytest.mark.parametrize(("changes", "name"), [({}, "edge"), ({"lr": 0.5}, "")])
def test_the_menu_names_the_experiment_that_python_has_set(changes, name):
    values = LAB.experiments["edge"] | changes
    state = after({"is": "python", "values": values, "theirs": {}}, values=LAB.values)
    assert state["experiment"] == name


def test_a_file_that_is_in_python_and_here_is_trained_on():
    state = after(opened(sum="2"), ON_THEIRS)
    assert state["values"] == TO_THEIRS["values"] and state["lent"] is None and state["note"] == ""


@pytest.mark.parametrize(
    "state",
    [
        lambda *events: after(ON_THEIRS, *events),
        lambda *events: after(opened(), ON_THEIRS, *events),
        lambda *events: after(*events, values=TO_THEIRS["values"], theirs=THEIRS),
    ],
    ids=["no file", "another file", "a new view"],
)
def test_a_file_that_python_alone_has_stays_in_python(state):
    assert_said(state(), "“theirs.csv” is open in Python or in another view, and not here")
    assert state()["values"]["data"] == "linear" and state()["own"] is None
    assert_said(state(LR), "is open in Python")
    assert asked(whole(), f"told({json.dumps(state(LR))})") == TO_THEIRS["values"] | {"lr": 0.5}
    assert (
        state(opened(sum="2"))["values"]["data"] == "own" and state(opened(sum="2"))["lent"] is None
    )


@pytest.mark.parametrize(
    "leave",
    [RESET, chosen("model", "heads"), chosen("data", "linear"), {"is": "link", "wrong": "no link"}],
)
def test_the_reader_may_leave_the_file_that_python_has(leave):
    state = after(ON_THEIRS, leave)
    assert state["lent"] is None and "in Python" not in state["note"]
    assert heard(ON_THEIRS, leave) == state["values"]
