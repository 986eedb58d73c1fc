"""Draw book/_static/readme.png, the picture of the README, anew: ``python book/_ext/readme_picture.py``."""

import tempfile
from pathlib import Path

import chromium
from playwright.sync_api import sync_playwright
from plotly.subplots import make_subplots

import mhalib as mha

TARGET = Path(__file__).parents[1] / "_static" / "readme.png"


def picture():
    """Chapter 1 in two panels: the losses of one head, and where its queries look in the end."""
    data = mha.data.tokenized_mixture()
    zero = mha.MultiHeadAttention.zeros(H=1, T=10, d=8)
    path = mha.train(zero, data, mha.GradientDescent(lr=1.0), steps=2000, test=data.fresh(300))
    heat = mha.plots.attention(path[-1].attention(data.X)[0, 0], data.relevant[0])
    titles = "the loss of one attention head", "where its ten queries look; ★ carries the label"
    figure = make_subplots(rows=1, cols=2, subplot_titles=titles, horizontal_spacing=0.14)
    figure.add_traces(mha.plots.training(path).data[:2], rows=1, cols=1)
    figure.add_trace(heat.data[0], row=1, col=2)
    figure.update_xaxes(type="log", title="step", exponentformat="power", dtick=1, col=1)
    figure.update_yaxes(type="log", exponentformat="power", dtick=1, col=1)
    figure.update_xaxes(heat.layout.xaxis, col=2)
    figure.update_yaxes(heat.layout.yaxis, col=2)
    return mha.plots.finish(figure, "see the README").update_layout(width=1000, height=400, paper_bgcolor="white")


def save(figure, target):
    """Photograph a figure in headless Chromium."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "figure.html"
        figure.write_html(page_file, include_plotlyjs=True)
        browser = chromium.launch(playwright)
        page = browser.new_page(viewport={"width": 1030, "height": 430})
        page.goto(page_file.as_uri())
        page.locator(".main-svg").first.wait_for()
        page.locator(".plot-container").screenshot(path=target)
        browser.close()


if __name__ == "__main__":
    save(picture(), TARGET)
