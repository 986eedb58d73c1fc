"""Draw book/_static/readme.gif, the picture of the README, anew: ``python
book/_ext/readme_picture.py``."""

import io
import tempfile
from pathlib import Path

import chromium
from PIL import Image
from playwright.sync_api import sync_playwright

from mhabook.start import figure_words

TARGET = Path(__file__).parents[1] / "_static" / "readme.gif"
BEGINNING = """(count) => {
  const box = document.querySelector(".js-plotly-plot"), whole = (box.whole ??= structuredClone(box.data));
  const cut = ({ x, y, z }) => ({ x: x.slice(0, count), ...(z ? { z: z.slice(0, count) } : { y: y.slice(0, count) }) });
  return Plotly.react(box, whole.map((trace) => ({ ...trace, ...cut(trace) })), box.layout).then(() => null);
}"""


def picture():
    """The live figure of the first page, as mhalib draws it."""
    return (
        figure_words.words()
        .figure()
        .update_layout(width=800, height=400, paper_bgcolor="white", font_size=14)
    )


def photographed(figure, counts):
    """A figure in headless Chromium with so many of its steps, a picture each."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page_file = Path(folder) / "figure.html"
        figure.write_html(page_file, include_plotlyjs=True)
        browser = chromium.launch(playwright)
        page = browser.new_page(viewport={"width": 830, "height": 430})
        page.goto(page_file.as_uri())
        page.locator(".main-svg").first.wait_for()
        for count in counts:
            page.evaluate(BEGINNING, count)
            yield Image.open(io.BytesIO(page.locator(".plot-container").screenshot()))
        browser.close()


def save(pictures, target):
    """A film of 128 colors that rests at its end and begins anew."""
    first, *others = [
        picture.convert("RGB").quantize(128, dither=Image.Dither.NONE) for picture in pictures
    ]
    first.save(
        target,
        save_all=True,
        append_images=others,
        duration=[80] * len(others) + [4000],
        loop=0,
        optimize=True,
    )


if __name__ == "__main__":
    save(photographed(picture(), range(1, figure_words.STEPS + 2, 2)), TARGET)
