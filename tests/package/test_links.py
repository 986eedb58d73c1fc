"""Links to a figure's settings, as they come back from mail programs, networks and sentences, in V8."""

import json
from urllib.parse import quote

import pytest
from py_mini_racer import MiniRacer

from engines import LIVE, exposed

NAME = "more-heads"
CONTROLS = [
    {"name": "H", "label": "heads", "values": [1, 16, 64]},
    {"name": "lr", "label": "step size", "values": [0.1, 0.3]},
    {"name": "rule", "label": "rule", "values": ["gd", "adam", "a & b = 1 (%)."]},
    {"name": "noise", "label": "noise", "values": [False, True]},
]
SET = {"H": 64, "lr": 0.3, "rule": "adam", "noise": True}
LINK = f"#{NAME}?H=64&lr=0.3&rule=adam&noise=true"
NOTHING = {"values": {}, "left": ""}


@pytest.fixture(scope="module")
def v8():
    context = MiniRacer()
    context.eval(exposed(LIVE / "link.js", LIVE / "address.js"))
    return context


def told(v8, link, alone=False):
    """What a figure hears of a link: {values, left}, or None."""
    figure = {"name": NAME, "controls": CONTROLS, "alone": alone}
    return json.loads(
        v8.eval(f"JSON.stringify(readLink({json.dumps(figure)}, {json.dumps(link)}))")
    )


def test_a_link_is_read_as_it_is_written(v8):
    odd = {"H": 1, "lr": 0.1, "rule": "a & b = 1 (%).", "noise": False}
    for values in (SET, odd):
        figure = json.dumps({"name": NAME, "controls": CONTROLS})
        link = v8.eval(f"linkOf({figure}, {json.dumps(values)})")
        assert told(v8, link) == {"values": values, "left": ""}


CHANGED = {
    "as it was copied": LINK,
    "&amp;": LINK.replace("&", "&amp;"),
    "&amp;amp;": LINK.replace("&", "&amp;amp;"),
    "&#038;": LINK.replace("&", "&#038;"),
    "%3F": LINK.replace("?", "%3F"),
    "%26": LINK.replace("&", "%26"),
    "%3d": LINK.replace("=", "%3d"),
    "all escaped": "#" + quote(LINK[1:], safe=""),
    "escaped twice": "#" + quote(quote(LINK[1:], safe=""), safe=""),
    "escaped behind the first": LINK.replace("&lr=", "%2526lr%253D"),
    "a full stop": LINK + ".",
    "a comma": LINK + ",",
    "a bracket and a full stop": LINK + ").",
    "a quotation mark": LINK + "”",
    "an escaped quotation mark": LINK + "%22%3E",
    "an asterisk of Markdown": LINK + "**",
    "a space and a space of no width": LINK + "%20%E2%80%8B",
    "an & without a setting": LINK + "&",
    "a text fragment": LINK + ":~:text=Heads,more",
    "numbers as others write them": LINK.replace("0.3", ".30").replace("64", "64.0"),
    "set twice": LINK.replace("?", "?H=1&lr=0.1&"),
}


@pytest.mark.parametrize("link", CHANGED.values(), ids=CHANGED)
def test_a_link_survives_what_others_do_to_it(v8, link):
    assert told(v8, link) == {"values": SET, "left": ""}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("&fbclid=IwAR1x", "“fbclid”, which this figure does not have."),
        ("?utm_source=a&utm_medium=b", "“utm_source” and “utm_medium”, which this figure"),
        ("&a=1&b=2&c=3&d=4&e=5", "“a”, “b”, “c” and 2 more, which this figure does not have."),
        ("&to=https%3A%2F%2Fa.b%2F%3Fc%3Dd", "“to”, which"),
        ("&H=77", "heads to “77”, which is not offered."),
        ("&x=1&lr=nan", "“x”, which this figure does not have, and step size to “nan”, which"),
        ("&%E0%A4%A", "“%E0%A4%A”, which"),
        ("&__proto__=1", "“__proto__”, which this figure does not have."),
        ("&constructor", "“constructor”, which"),
        ("&hasOwnProperty=H", "“hasOwnProperty”, which"),
        ("&rule=constructor", "rule to “constructor”, which is not offered."),
        ("&" + 30 * "long", "“longlonglonglonglong…”, which"),
    ],
)
def test_what_is_not_known_is_named_and_the_rest_is_set(v8, more, words):
    found = told(v8, LINK + more)
    assert found["values"] == SET
    assert found["left"].startswith("The link sets ") and words in found["left"]
    assert found["left"].endswith(" The rest is set.")


def test_a_link_that_sets_nothing_says_so(v8):
    found = told(v8, f"#{NAME}?H=77")
    words = "The link sets heads to “77”, which is not offered. Nothing is set."
    assert found == {"values": {}, "left": words}


@pytest.mark.parametrize("link", [f"#{NAME}", f"#{NAME}?", f"#{NAME}.", f"#{quote(NAME + '?')}"])
def test_a_link_to_a_figure_without_settings_is_meant_for_it(v8, link):
    assert told(v8, link) == NOTHING


FOREIGN = [
    "",
    "#",
    "#other?H=64",
    "#other",
    "#utm_source=rss",
    "#?a=1",
    "#__proto__",
    "#constructor",
]


@pytest.mark.parametrize("link", [*FOREIGN, "#hasOwnProperty?H=64", "#%", "#guesses=%7B%7D"])
def test_a_link_to_something_else_is_left_alone(v8, link):
    assert told(v8, link) is None


def test_without_a_name_a_link_is_meant_for_whom_it_sets_and_for_a_figure_alone(v8):
    assert told(v8, "#?H=64") == told(v8, "#H=64", alone=True) == {"values": {"H": 64}, "left": ""}
    assert "“a”" in told(v8, "#?a=1", alone=True)["left"]
    assert told(v8, "", alone=True) is None


def test_however_often_a_link_was_escaped_it_is_read_at_once(v8):
    assert told(v8, f"#{NAME}?H=64&a={'%25' * 2000}&b={'%2525' * 2000}")["values"] == {"H": 64}
    assert told(v8, f"#{'%' + '25' * 5000}3F") is None
