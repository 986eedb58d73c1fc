"""Which scripts a page of the book loads."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from scripts import load

bookext = load("book/_ext/bookext.py")
MANAGER = ["_static/vendor/require.js", "_static/vendor/paths.js", "_static/vendor/html-manager/embed-amd.js"]
LAYOUT, OTHER = ("@jupyter-widgets/base", ""), ("anywidget", "x.Y")
LIVE = ("anywidget", "mhalib.live.widget.LiveFigure")


def script(filename=None, **attributes):
    return SimpleNamespace(filename=filename, attributes=attributes)


def scripts_of(*modules):
    """The scripts of a page that holds one widget of each kind, as the extension leaves them."""
    state = {str(k): {"model_module": module, "state": {"_anywidget_id": kind}}
             for k, (module, kind) in enumerate(modules)}
    widgets = [script(type=bookext.WIDGET_STATE, body=json.dumps({"state": state})), *map(script, MANAGER)]
    page = [script("_static/figures.js"), script(body="const x = 1;"), *(widgets if modules else [])]
    app = SimpleNamespace(add_js_file=lambda name, **options: page.append(script(name)))
    context = {"script_files": page}
    bookext.load_live_figures(app, "page", "page.html", context, None)
    return {js.filename for js in context["script_files"] if js.filename}


def test_a_page_of_anywidgets_is_shown_without_the_manager():
    assert scripts_of(LAYOUT, LIVE, LAYOUT, LIVE) == {"_static/figures.js", "live.js"}


def test_code_that_widgets_share_stands_once_on_their_page():
    code = "export default '</script>'"
    body = bookext.said_once(json.dumps({"state": {name: {"state": {"_esm": code, "_css": css, "at": name}}
                                                   for name, css in ("ax", "by", "cx")}}))
    assert {name: model["state"] for name, model in json.loads(body)["state"].items()} == {
        "a": {"_esm": code, "_css": "x", "at": "a"},
        "b": {"_esm": {"as": "a"}, "_css": "y", "at": "b"},
        "c": {"_esm": {"as": "a"}, "_css": {"as": "a"}, "at": "c"}}
    assert "</script>" not in body


@pytest.mark.parametrize("modules", [(LAYOUT, ("@jupyter-widgets/controls", "")), (LAYOUT, LIVE, OTHER)])
def test_any_other_widget_brings_the_manager(modules):
    assert scripts_of(*modules) == {"_static/figures.js", *MANAGER}


def test_a_page_without_widgets_is_left_alone():
    assert scripts_of() == {"_static/figures.js"}


def test_the_managers_scripts_are_those_of_the_configuration():
    config = (Path(__file__).parents[2] / "_config.yml").read_text("utf-8")
    assert all(name.removeprefix("_static/") in config for name in MANAGER)
