"""Which scripts a page of the book loads."""

import base64
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import plotly.graph_objects as go
import pytest
from docutils import nodes

from mhabook._render import figure_html
from scripts import load

bookext = load("book/_ext/bookext.py")
MANAGER = [
    "_static/vendor/require.js",
    "_static/vendor/paths.js",
    "_static/vendor/html-manager/embed-amd.js",
]
LAYOUT, OTHER = ("@jupyter-widgets/base", ""), ("anywidget", "x.Y")
LIVE = ("anywidget", "livegrad.live.widget.LiveFigure")


def script(filename=None, **attributes):
    return SimpleNamespace(filename=filename, attributes=attributes)


def scripts_of(*modules):
    """The scripts of a page that holds one widget of each kind, as the extension leaves them."""
    state = {
        str(k): {"model_module": module, "state": {"_anywidget_id": kind}}
        for k, (module, kind) in enumerate(modules)
    }
    widgets = [
        script(type=bookext.WIDGET_STATE, body=json.dumps({"state": state})),
        *map(script, MANAGER),
    ]
    page = [
        script("_static/figures.js"),
        script(body="const x = 1;"),
        *(widgets if modules else []),
    ]
    app = SimpleNamespace(add_js_file=lambda name, **options: page.append(script(name)))
    context = {"script_files": page}
    bookext.load_live_figures(app, "page", "page.html", context, None)
    return {js.filename for js in context["script_files"] if js.filename}


def test_a_page_of_anywidgets_is_shown_without_the_manager():
    assert scripts_of(LAYOUT, LIVE, LAYOUT, LIVE) == {"_static/figures.js", "live.js"}


@pytest.mark.parametrize(
    ("body", "early"),
    [
        ('<figure class="mha-fallback" data-fallback="1">', True),
        ('<figure class="mha-figure">', False),
        ("", False),
    ],
)
def test_plotly_comes_early_on_a_page_that_trains(body, early):
    app = SimpleNamespace(add_js_file=lambda name, **options: None)
    context = {"body": body, "metatags": "", "pathto": lambda name, resource: f"../{name}"}
    bookext.load_figures(app, "page", "page.html", context, None)
    file = "../_static/vendor/plotly-cartesian.min.js"
    assert (
        context["metatags"]
        == f'<link rel="preload" href="{file}" as="script" fetchpriority="low">\n' * early
    )


def test_code_that_widgets_share_stands_once_on_their_page():
    code = "export default '</script>'"
    body = bookext.said_once(
        json.dumps(
            {"state": {name: {"state": {"_esm": code, "_css": "x", "at": name}} for name in "abc"}}
        )
    )
    assert {name: model["state"] for name, model in json.loads(body)["state"].items()} == {
        "a": {"_esm": code, "at": "a"},
        "b": {"_esm": {"as": "a"}, "at": "b"},
        "c": {"_esm": {"as": "a"}, "at": "c"},
    }
    assert "</script>" not in body


def test_the_style_of_widgets_stands_in_the_head_before_anything_is_painted():
    state = {
        str(k): {"model_module": LIVE[0], "state": {"_anywidget_id": LIVE[1], "_css": css}}
        for k, css in enumerate(("a {}", "b {}", "a {}"))
    }
    context = {
        "script_files": [script(type=bookext.WIDGET_STATE, body=json.dumps({"state": state}))]
    }
    bookext.load_live_figures(
        SimpleNamespace(add_js_file=lambda *_, **__: None), "page", "page.html", context, None
    )
    assert context["metatags"] == "<style>a {}b {}</style>\n"


@pytest.mark.parametrize(
    "modules", [(LAYOUT, ("@jupyter-widgets/controls", "")), (LAYOUT, LIVE, OTHER)]
)
def test_any_other_widget_brings_the_manager(modules):
    assert scripts_of(*modules) == {"_static/figures.js", *MANAGER}


def test_a_page_without_widgets_is_left_alone():
    assert scripts_of() == {"_static/figures.js"}


def test_the_managers_scripts_are_those_of_the_configuration():
    config = (Path(__file__).parents[2] / "_config.yml").read_text("utf-8")
    assert all(name.removeprefix("_static/") in config for name in MANAGER)


def shortened(figure):
    """What a page tells of a figure."""
    context = {"body": figure_html(figure.update_layout(meta={"alt": "</i>"}).to_dict())}
    bookext.shorten_figures(None, "page", "page.html", context, None)
    return json.loads(
        context["body"].split('<script type="application/json">')[1].split("</script>")[0]
    )


def numbers(*y):
    """How a page tells these numbers."""
    told = shortened(go.Figure(go.Scatter(y=np.array(y))))["data"][0]["y"]
    return np.frombuffer(base64.b64decode(told["bdata"]), told["dtype"])


def test_numbers_of_figures_come_in_single_precision_where_it_holds_them():
    y = 1.0, 20001.0, np.nan, -np.inf, 3.0
    assert numbers(*y).dtype == np.float32
    np.testing.assert_array_equal(numbers(*y), y)
    for beyond in (1e300, 1e-50, 1e-42):
        np.testing.assert_array_equal(numbers(0.1, beyond), [0.1, beyond])


def test_digits_that_no_eye_tells_are_zero():
    y = np.append(np.geomspace(1e-30, 1e30, 99), [np.nan, -np.inf])
    np.testing.assert_allclose(numbers(*y), y, rtol=2.0**-14)
    assert not (numbers(*y).view(np.uint32) & 0x3FF).any()
    told = shortened(go.Figure(go.Scatter(y=y.astype(np.float32))))["data"][0]["y"]
    assert base64.b64decode(told["bdata"]) == numbers(*y).tobytes(), (
        "they may come in single precision"
    )
    close = 1 + 1e-3 * np.linspace(0, 1, 9)  # on an axis from 1 to 1.001 they would be seen
    np.testing.assert_allclose(numbers(*close), close, rtol=1e-7)
    np.testing.assert_allclose(numbers(0.1, 0.1), 0.1, rtol=1e-7)


def test_a_frame_tells_what_moves():
    traces = [
        [go.Scatter(x=[1, 2], y=[y, 2], name="a", line={"width": width})]
        for y, width in ((1, 3), (1, 4))
    ]
    told = shortened(go.Figure(traces[0], frames=[go.Frame(data=trace) for trace in traces]))
    assert [sorted(frame["data"][0]) for frame in told["frames"]] == [["line", "y"]] * 2
    assert told["data"][0].keys() > {"x", "y", "name", "line"}


def test_a_figure_brings_of_its_template_what_its_traces_ask_for():
    told = shortened(go.Figure(go.Heatmap(z=[[1]]), layout={"template": "plotly_white"}))
    template = told["layout"]["template"]
    assert list(template["data"]) == ["heatmap"]
    assert template["layout"]["xaxis"] and not {"geo", "polar", "scene", "ternary"} & set(
        template["layout"]
    )


def test_a_widget_says_what_is_missing_where_no_script_runs():
    def shown(output):
        view = '<script type="application/vnd.jupyter.widget-view+json">\n{}\n</script>'
        return f"<div>{output}</div>\n<div>{view}</div>"

    context = {"body": shown("text") + shown('<figure class="mha-fallback"></figure>') + shown("")}
    bookext.say_what_needs_scripts(None, "page", "page.html", context, None)
    said = context["body"].split("</script>")
    assert [part.startswith(bookext.STILL) for part in said] == [False, False, True, False]
    assert [part.startswith(bookext.UNCHECKED) for part in said] == [False, True, False, True]


def test_no_word_of_a_figure_ends_its_script():
    context = {"body": figure_html(go.Figure(layout={"meta": {"alt": "</i>"}}).to_dict())}
    bookext.shorten_figures(None, "page", "page.html", context, None)
    assert (
        "<"
        not in context["body"].split('<script type="application/json">')[1].split("</script>")[0]
    )


def test_bars_of_formulas_and_code_stay_as_they_are():
    said = r"""The slope |ℓ′| of ``clip | rule``,

.. math:: L - \tfrac12 \|\nabla L\|^2, \qquad
          |z| \le 1

where |z| is short.

>>> clip | rule
clip | rule
"""
    lines = said.split("\n")
    load("book/_ext/reference.py").read_docstring(None, "class", "", None, None, lines)
    assert "\n".join(lines) == said.replace("|ℓ′|", r"\|ℓ′\|").replace("where |z|", r"where \|z\|")


def test_a_question_leads_to_the_first_live_figure_and_a_page_without_reading_time_does_not():
    figure = '<figure class="mha-fallback"><figcaption>{}</figcaption></figure>'
    question = "<h1>A title</h1>\n<p>Why?</p>"
    said = f"{question}<p>Because.</p><p><em>Reading time: 25 minutes.</em></p>"
    figures = figure.format("Who &amp; where") + figure.format("Another")

    def led(body):
        context = {"body": body}
        bookext.lead_to_the_figure(None, "page", "page.html", context, None)
        return context["body"]

    way = '<a class="mha-to-figure" href="#who-where" title="To the live figure">Try it.</a>'
    assert led(said + figures) == said.replace("Why?", f"Why? {way}") + figures
    assert led(said) == said
    assert (
        led(question + figures + "<p><em>Reading time:")
        == f"{question}{figures}<p><em>Reading time:"
    )
    assert led(question + figures) == question + figures


def test_what_prepares_a_picture_is_folded_below_it_and_other_cells_stay():
    def cell(*tags, **options):
        return nodes.container(classes=["cell", *tags], **options)

    prepares, picture = cell("tag_hide-cell", hide_mode="all"), cell("tag_remove-input")
    other, code = cell("tag_hide-cell", hide_mode="all"), cell()
    last = cell("tag_hide-cell", hide_mode="all")
    section = nodes.section("", prepares, picture, other, code, last)
    bookext.put_code_below_pictures(None, nodes.Element("", section))
    assert list(section) == [picture, prepares, other, code, last]
