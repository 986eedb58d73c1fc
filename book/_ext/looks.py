"""The first screen of every chapter of the built book, side by side in sheets to look at: light and
dark, at a desk and on a phone, in _build/looks: ``python book/_ext/looks.py``."""

import io
from itertools import product
from pathlib import Path

import chromium
from course import course
from PIL import Image
from playwright.sync_api import sync_playwright

BUILT = Path(__file__).parents[2] / "_build"
SCREENS = {"desk": (1280, 800), "phone": (390, 844)}
ACROSS = 4
SMALL = 0.5  # of its width a screen has in a sheet
DONE = "() => [...document.querySelectorAll('.mha-live')].every(({ dataset }) => dataset.state !== 'loading')"


def screens(browser, size, theme):
    """The first screen of each page, when its live figures stand."""
    width, height = SCREENS[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, is_mobile=size == "phone"
    )
    page = context.new_page()
    for file in ["book/index", *course()["pages"]]:
        page.goto((BUILT / "html" / f"{file}.html").as_uri())
        page.wait_for_function(DONE)
        yield Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    context.close()


def sheet(pictures):
    """Pictures of one size, in rows."""
    wide, high = (round(SMALL * side) for side in pictures[0].size)
    rows = -(-len(pictures) // ACROSS)
    paper = Image.new("RGB", (ACROSS * (wide + 8), rows * (high + 8)), "#808080")
    for k, picture in enumerate(pictures):
        row, column = divmod(k, ACROSS)
        paper.paste(picture.resize((wide, high)), (column * (wide + 8), row * (high + 8)))
    return paper


def main():
    """Write the four sheets."""
    (BUILT / "looks").mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        for size, theme in product(SCREENS, ("light", "dark")):
            path = BUILT / "looks" / f"{size}-{theme}.png"
            sheet([*screens(browser, size, theme)]).save(path)
            print(path.relative_to(BUILT.parent), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
