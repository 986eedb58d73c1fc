"""Figures of the book: alt text or an error, no CDN, the same HTML twice."""

import json
import subprocess
import sys

import plotly.graph_objects as go
import plotly.io
import pytest

import mhalib as mha
from mhabook import _render


@pytest.fixture(autouse=True)
def same_renderers():
    """Leave plotly's renderers as they were."""
    default = plotly.io.renderers.default
    yield
    plotly.io.renderers.default = default


def figure(**meta):
    return go.Figure(go.Scatter(y=[1, 3, 2]), layout={"meta": meta or None}).to_dict()


@pytest.mark.parametrize("meta", [{}, {"alt": ""}, {"alt": "  "}, {"title": "a line"}])
def test_a_figure_without_alt_text_is_refused(meta):
    with pytest.raises(ValueError, match="a figure of the book needs alt text"):
        _render.figure_html(figure(**meta))


def test_alt_text_is_the_label_and_stands_without_javascript():
    html = _render.figure_html(figure(alt='the "loss" & <steps>'))
    words = "the &quot;loss&quot; &amp; &lt;steps&gt;"
    assert f'role="group" aria-label="{words}"' in html
    assert f'<noscript><p class="mha-alt" aria-hidden="true">{words}</p></noscript>' in html


def test_the_title_becomes_a_caption_that_wraps():
    html = _render.figure_html(
        go.Figure(layout={"title": "drag & see", "meta": {"alt": "a"}}).to_dict()
    )
    assert "<figcaption>drag &amp; see</figcaption>" in html
    assert "drag & see" not in html, "the title is drawn a second time"
    assert "figcaption" not in _render.figure_html(figure(alt="a"))


def test_a_pointer_that_is_pulled_over_a_figure_does_not_zoom():
    drawn = _render.figure_html(mha.plots.curves([1, 2], {"loss": [1.0, 0.5]}, alt="a").to_dict())
    assert '"dragmode":false' in drawn and drawn.count('"fixedrange":true') == 2


def test_no_other_host_is_named():
    html = _render.figure_html(figure(alt="a line"))
    assert "http" not in html
    assert "<script src" not in html


def test_two_builds_give_the_same_page():
    assert _render.figure_html(figure(alt="a")) == _render.figure_html(figure(alt="a"))


def test_a_box_is_as_high_as_its_drawing():
    high = figure(alt="a")
    high["layout"]["height"] = 380
    assert 'class="mha-drawing" style="height: 380px"' in _render.figure_html(high)
    assert 'class="mha-drawing" style="height: 450px"' in _render.figure_html(figure(alt="a")), (
        "plotly's own height"
    )


def test_the_page_is_told_the_whole_figure_and_no_word_of_it_ends_the_script():
    moving = go.Figure(
        go.Scatter(y=[1], name="</script>"), frames=[go.Frame(name="4", data=[go.Scatter(y=[4])])]
    )
    html = _render.figure_html(moving.update_layout(meta={"alt": "a"}).to_dict())
    told = json.loads(
        html.split('<script type="application/json">')[1].removesuffix("</script></figure>")
    )
    assert told["data"][0]["name"] == "</script>"
    assert [frame["name"] for frame in told["frames"]] == ["4"]
    assert html.count("</script>") == 1


def test_the_book_asks_for_its_renderer_by_environment(monkeypatch):
    plotly.io.renderers.default = "json"
    monkeypatch.delenv("LIVEGRAD_FIGURES", raising=False)
    _render.use_book_renderer_if_asked()
    assert plotly.io.renderers.default == "json"
    monkeypatch.setenv("LIVEGRAD_FIGURES", "book")
    _render.use_book_renderer_if_asked()
    assert plotly.io.renderers.default == "book"
    bundle = plotly.io.renderers["book"].to_mimebundle(figure(alt="a line"))
    assert list(bundle) == ["text/html"]


def test_importing_mhabook_does_not_import_plotly_where_no_page_is_made(monkeypatch):
    monkeypatch.delenv("LIVEGRAD_FIGURES", raising=False)
    code = "import sys, mhabook; assert 'plotly' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
