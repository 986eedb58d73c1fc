"""Pages carry what of their theme a reader sees, and load nothing else of it."""

import pytest
from sphinx.errors import ExtensionError

from scripts import load

theme = load("book/_ext/theme.py")
FONT = """var ___FONT_AWESOME___ = { styles: {
  fas: { sun: [512, 256, [], "f185", "M1 2z"] }, fab: { github: [496, 512, [], "f09b", "M3 4z"] },
} };"""
SCRIPTS = """<script defer src="../_static/scripts/fontawesome.js?digest=1"></script>
<script src="../_static/figures.js?v=1"></script><script src="../_static/documentation_options.js?v=1"></script>
<script src="../_static/doctools.js?v=1"></script><script>let hint;</script><script async src="a.js"></script>
<script src="../_static/searchtools.js"></script><script src="../searchindex.js"></script>"""


@pytest.fixture(scope="module")
def icons():
    return theme.Icons(FONT)


def set_in(icons, html):
    return theme.lightened(html, icons)


def test_an_icon_is_its_shape(icons):
    made = set_in(icons, '<i class="fab   fa-github fa-lg" aria-hidden="true"></i>')
    assert made == (
        '<svg class="svg-inline--fa fa-github fa-lg" aria-hidden="true" role="img" viewBox="0 0 496 512">'
        '<path fill="currentColor" d="M3 4z"/></svg>'
    )


def test_an_icon_with_a_title_says_it(icons):
    made = set_in(
        icons, '<span class="theme-switch fa-solid fa-sun" data-mode="light" title="Light"></span>'
    )
    assert (
        "<title>Light</title>" in made and 'data-mode="light"' in made and "aria-hidden" not in made
    )


def test_an_icon_without_a_title_is_decoration(icons):
    assert 'aria-hidden="true"' in set_in(icons, '<i class="fas fa-sun"></i>')


def test_an_icon_that_does_not_exist_stops_the_build(icons):
    with pytest.raises(
        ExtensionError, match='expected an icon of Font Awesome, got <i class="fas fa-github">'
    ):
        set_in(icons, '<i class="fas fa-github"></i>')


def test_scripts_wait_and_those_that_no_reader_needs_are_gone(icons):
    assert (
        set_in(icons, SCRIPTS).strip()
        == """
<script src="../_static/figures.js?v=1"></script><script src="../_static/documentation_options.js?v=1"></script>
<script defer src="../_static/doctools.js?v=1"></script><script>let hint;</script><script async src="a.js"></script>
""".strip()
    )


def test_the_page_of_the_search_keeps_its_scripts(icons):
    results = '<div id="search-results"></div>'
    first, rest = SCRIPTS.split("\n", 1)
    assert set_in(icons, SCRIPTS + results).strip() == rest + results
