"""Figures of the book: alt text or an error, no CDN, the same HTML twice."""

import json
import subprocess
import sys

import numpy as np
import plotly.graph_objects as go
import plotly.io
import pytest

import mhalib as mha
from mhalib import _render
from mhalib.live import frames


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


@pytest.mark.parametrize(("asked", "paper"), [("book", "rgba(0,0,0,0)"), ("", "white")])
def test_a_notebook_draws_on_white_paper_and_what_a_script_colors_is_clear(monkeypatch, asked, paper):
    monkeypatch.setenv("MHALIB_FIGURES", asked)
    layout, live = mha.plots.curves([1, 2], {"a": [1.0, 2.0]}).layout, frames.panels("a").layout
    assert (layout.paper_bgcolor, layout.plot_bgcolor) == (paper, paper)
    assert (live.paper_bgcolor, live.plot_bgcolor) == ("rgba(0,0,0,0)", "rgba(0,0,0,0)")


def test_the_title_becomes_a_caption_that_wraps():
    html = _render.figure_html(go.Figure(layout={"title": "drag & see", "meta": {"alt": "a"}}).to_dict())
    assert "<figcaption>drag &amp; see</figcaption>" in html
    assert "drag & see" not in html, "the title is drawn a second time"
    assert "figcaption" not in _render.figure_html(figure(alt="a"))


def test_a_pointer_that_is_pulled_over_a_figure_does_not_zoom():
    drawn = _render.figure_html(mha.plots.curves([1, 2], {"loss": [1.0, 0.5]}, alt="a").to_dict())
    assert '"dragmode":false' in drawn and drawn.count('"fixedrange":true') == 2


def test_the_words_for_a_run_begin_where_its_lines_do():
    """Step 0 has no place on a logarithmic axis."""
    path = mha.training.Path(np.array([0, 1, 10]), (), {"loss": np.array([9.0, 4.0, 2.0])}, None)
    words = mha.plots.training(path, "A run").layout.meta["alt"]
    assert words == "A run: from step 1 to 10, training loss falls from 4 to 2."


def test_the_words_for_attention_give_the_share_that_a_query_has_for_the_relevant_tokens():
    A = [[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.25, 0.75]]
    words = mha.plots.attention(A, [False, True, True]).layout.meta["alt"]
    assert words == ("Attention weights of 3 queries on 3 keys, the largest 0.75. "
                     "On average 75% of the weight is on the relevant tokens 1, 2.")


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
    assert 'class="mha-drawing" style="height: 450px"' in _render.figure_html(figure(alt="a")), "plotly's own height"


def test_the_page_is_told_the_whole_figure_and_no_word_of_it_ends_the_script():
    moving = go.Figure(go.Scatter(y=[1], name="</script>"), frames=[go.Frame(name="4", data=[go.Scatter(y=[4])])])
    html = _render.figure_html(moving.update_layout(meta={"alt": "a"}).to_dict())
    told = json.loads(html.split('<script type="application/json">')[1].removesuffix("</script></figure>"))
    assert told["data"][0]["name"] == "</script>"
    assert [frame["name"] for frame in told["frames"]] == ["4"]
    assert html.count("</script>") == 1


def test_the_book_asks_for_its_renderer_by_environment(monkeypatch):
    plotly.io.renderers.default = "json"
    monkeypatch.delenv("MHALIB_FIGURES", raising=False)
    _render.use_book_renderer_if_asked()
    assert plotly.io.renderers.default == "json"
    monkeypatch.setenv("MHALIB_FIGURES", "book")
    _render.use_book_renderer_if_asked()
    assert plotly.io.renderers.default == "book"
    bundle = plotly.io.renderers["book"].to_mimebundle(figure(alt="a line"))
    assert list(bundle) == ["text/html"]


def test_importing_the_renderer_does_not_import_plotly():
    code = "import sys, mhalib._render; assert 'plotly' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
