"""What stands on a page before any of its script files has come."""

import pytest

LOGOS = "() => [...document.querySelectorAll('.navbar-brand img')].filter((logo) => logo.checkVisibility()).length"


@pytest.fixture
def bare(site, chromium):
    """Give the way to open a page none of whose script files comes, for a system in light or
    dark."""
    contexts = []

    def open_one(scheme, chosen=None):
        contexts.append(context := chromium.new_context(color_scheme=scheme))
        context.route("**/*.js*", lambda route: route.abort())
        if chosen:
            context.add_init_script(f"localStorage.mode = localStorage.theme = '{chosen}'")
        page = context.new_page()
        page.goto(f"{site}book/multihead/05_more_heads_slower_or_faster.html")
        return page

    yield open_one
    for context in contexts:
        context.close()


@pytest.mark.parametrize(
    ("scheme", "chosen", "theme"),
    [
        ("light", None, "light"),
        ("dark", None, "dark"),
        ("dark", "light", "light"),
        ("light", "dark", "dark"),
        ("dark", "auto", "dark"),
    ],
)
def test_the_theme_is_that_of_the_reader(bare, scheme, chosen, theme):
    page = bare(scheme, chosen)
    assert page.evaluate("() => document.documentElement.dataset.theme") == theme
    assert page.evaluate("() => getComputedStyle(document.documentElement).colorScheme") == theme
    assert page.evaluate(LOGOS) == 1


def test_formulas_are_set_in_their_fonts(bare):
    page = bare("light")
    page.evaluate("() => document.fonts.ready.then(() => null)")
    assert page.evaluate(
        "() => document.fonts.check('16px MJXTEX') && document.fonts.check('16px MJXTEX-I')"
    )
    box = page.locator(".bd-article p > .math mjx-container").first.bounding_box()
    assert box["width"] > 5 and box["height"] > 5


def test_icons_are_there(bare):
    page = bare("light")
    icons = page.locator(".bd-header-article svg.svg-inline--fa:visible")
    assert icons.count() > 3 and all(
        box["width"] > 5 for box in (icon.bounding_box() for icon in icons.all())
    )


# What stands in a fold: which of it takes room, and which of it the browser lays out.
FOLDED = """(parts) => parts.map((part) => [part.offsetHeight, getComputedStyle(part).contentVisibility])"""


def test_what_will_be_folded_is_folded_and_is_not_laid_out(bare):
    folded = (
        bare("light")
        .locator(".bd-article .admonition.dropdown > .admonition-title ~ *")
        .evaluate_all(FOLDED)
    )
    assert len(folded) > 10 and folded == [[0, "hidden"]] * len(folded)
