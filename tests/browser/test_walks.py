"""A chapter is a walk: its live figure begins within the first three screens, at a desk and on a
phone."""

import pytest

from visits import BUILD, PATIENCE

WALKS = [
    page.relative_to(BUILD).as_posix()
    for page in sorted(BUILD.glob("book/*/[0-9][0-9]_*.html"))
    if not page.stem.endswith("_further")
    and list(page.parent.glob(f"{page.stem[:2]}_further.html"))
]
"""The chapters with a further page."""


@pytest.mark.parametrize("name", WALKS)
def test_the_live_figure_begins_within_three_screens(site, chromium, name):
    """Nothing on a page moves when its figure comes (test_pages), so nobody waits for it."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(site + name)
    for width, height in ((1280, 800), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        top = page.evaluate(
            "() => document.querySelector('.mha-fallback').getBoundingClientRect().top + scrollY"
        )
        assert top < 3 * height, f"{top / height:.1f} screens"
    context.close()
