"""Every built page, as a reader's browser finds it."""

import gzip
from functools import partial

import plotly.offline
import pytest

import axe
from visits import (
    BUILD,
    PATIENCE,
    SHIFTS,
    assert_nothing_moves,
    at_rest,
    built_pages,
    drawn_again,
    eventually,
)

ARTICLE_TEXT = """() => {
  const copy = document.querySelector(".bd-article").cloneNode(true);
  copy.querySelectorAll("pre, code, script, noscript").forEach((node) => node.remove());
  return copy.textContent;
}"""

BARE_MATH = """() => [...document.querySelectorAll(".math")]
  .filter((box) => !box.querySelector("mjx-container")).map((box) => box.textContent)"""

UNDRAWN = """() => [...document.querySelectorAll(".mha-figure")]
  .filter((figure) => {
    const box = figure.querySelector(".main-svg")?.getBoundingClientRect();
    return !(box && box.width > 100 && box.height > 50);
  }).map((figure) => figure.getAttribute("aria-label"))"""

# The lowest contrast of a figure's words against what lies behind it, by WCAG's formula.
LOWEST_CONTRAST = """() => {
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
  const linear = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = (color) => {
    const [r, g, b] = numbers(color).map(linear);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    const color = getComputedStyle(node).backgroundColor;
    return color === "rgba(0, 0, 0, 0)" && node.parentElement ? behind(node.parentElement) : light(color);
  };
  const words = ".xtick text, .ytick text, .gtitle, .xtitle, .ytitle, .legendtext, .slider-label";
  return Math.min(...[...document.querySelectorAll(":is(.mha-figure, .mha-live) :is(" + words + ")")].map((word) => {
    const ink = light(getComputedStyle(word).fill);
    const ground = behind(word.closest(".mha-figure, .mha-live"));
    return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
  }));
}"""

OVERFLOW = """() => {
  const root = document.scrollingElement;
  if (root.scrollWidth <= root.clientWidth) return [];
  const scrolls = (box) => !box.matches(".bd-article") // what stands in it is not the page's
    && (getComputedStyle(box).overflowX !== "visible" || scrolls(box.parentElement));
  const wide = [...document.querySelectorAll(".bd-article *")]
    .filter((node) => node.getBoundingClientRect().right > root.clientWidth + 1 && !scrolls(node.parentElement));
  return ["too wide", ...wide.slice(0, 5).map((node) => node.outerHTML.slice(0, 120))];
}"""

# What a reader may ask of all text by WCAG 1.4.12.
SPACED = """* { letter-spacing: 0.12em !important; line-height: 1.5 !important; word-spacing: 0.16em !important; }
p { margin-bottom: 2em !important; }"""

# Of the code that stands in sight, and of what it prints, whatever is cut at the right: its longest
# line.
CUT = """() => [...document.querySelectorAll(":is(.cell_input, .cell_output) pre")]
  .filter((pre) => pre.scrollWidth > pre.clientWidth && !pre.closest("details"))
  .map((pre) => pre.textContent.split("\\n").sort((a, b) => b.length - a.length)[0])"""


# What offers to fold or to unfold something.
FOLDS = """() => [...document.querySelectorAll("button.toggle-button, details.hide > summary")]
  .filter((one) => one.checkVisibility()).map((one) => one.textContent)"""

# What scrolls sideways, and shows no shadow where there is more of it.
UNSHADED = """() => [...document.querySelectorAll("mjx-container[display=true], .pst-scrollable-table-container")]
  .filter((box) => box.scrollWidth > box.clientWidth + 1)
  .filter((box) => !getComputedStyle(box).backgroundAttachment.includes("local"))
  .map((box) => box.outerHTML.slice(0, 160))"""

# Of each of several panels with numbers along their axes: its share of the width, and whether
# Python put it there.
PANELS = """() => [...document.querySelectorAll(".mha-figure")].flatMap((figure) => {
  const { layout } = JSON.parse(figure.querySelector("script").textContent);
  const { _plots, width } = figure.querySelector(".js-plotly-plot")._fullLayout;
  const panels = Object.values(_plots).map(({ xaxis, yaxis }) => [xaxis, yaxis]).filter(([x]) => x.showticklabels);
  return panels.length < 2 ? [] : panels.map((axes) => [axes[0]._length / width,
    axes.every(({ _name, domain }) => String(domain) === String(layout[_name].domain ?? [0, 1]))]);
})"""


def count(visit, selector):
    return visit.page.locator(selector).count()


@pytest.fixture(scope="module", params=built_pages())
def visit(request, open_page):
    """Give a built page, in whatever state the last test left it."""
    return open_page(request.param)


@pytest.fixture
def closed(visit):
    """Give the page as it opens: light, and every dropdown closed."""
    return visit.show(dropdowns=False)


@pytest.fixture
def opened(visit):
    """Give the page with every dropdown open."""
    return visit.show()


@pytest.fixture
def phone(visit):
    """Give the page as wide as a phone, every dropdown open."""
    return visit.show(width=390)


@pytest.fixture
def dark(visit):
    """Give the page after its own button was pressed until the theme is dark."""
    return visit.show(theme="dark")


@pytest.fixture
def unscripted(visit, chromium):
    """Give the page as a browser without JavaScript shows it."""
    context = chromium.new_context(
        viewport={"width": 1280, "height": 900}, java_script_enabled=False
    )
    page = context.new_page()
    page.goto(visit.site + visit.name)
    yield page
    context.close()


@pytest.mark.of_each_kind
def test_nothing_moves_on_a_desk(visit):
    # the first test of a page, for those below open boxes and change its size
    drawn_again(lambda: assert_nothing_moves(visit.page), visit.load)


@pytest.mark.of_each_kind
def test_nothing_moves_on_a_phone(visit, chromium):
    context = chromium.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    context.set_default_timeout(PATIENCE)
    context.add_init_script(SHIFTS)
    # a figure is drawn when it comes near
    context.add_init_script("window.requestIdleCallback = () => {}")

    def look():
        page = context.new_page()
        page.goto(visit.site + visit.name, wait_until="load")
        at_rest(page)
        assert_nothing_moves(page)

    drawn_again(look)
    context.close()


def test_a_page_whose_assets_are_there_weighs_less_than_325_kilobytes(visit):
    assert len(gzip.compress((BUILD / visit.name).read_bytes(), 6)) < 325_000


def test_nothing_is_asked_of_another_host_and_nothing_fails(visit):
    assert not visit.failures


def test_the_console_is_silent(visit):
    assert not visit.complaints


def test_mathematics_is_typeset(visit):
    assert not visit.page.evaluate(BARE_MATH)
    assert count(visit, "mjx-merror, [data-mml-node=merror]") == 0


RAW = (r"\(", r"\[", "$$", r"\begin{", "```", "|--", "{doc}", "{ref}", "prf:ref", "{cite")


def test_no_tex_and_no_markdown_is_left_raw(visit):
    text = visit.page.evaluate(ARTICLE_TEXT) if count(visit, ".bd-article") else ""
    assert not [mark for mark in RAW if mark in text.replace("|–", "|--")]


def test_what_unfolds_is_called_by_its_title(visit):
    assert count(visit, ".bd-article [aria-label='Toggle hidden content']") == 0


def test_every_figure_says_what_it_shows(visit):
    labels = [
        figure.get_attribute("aria-label") for figure in visit.page.locator(".mha-figure").all()
    ]
    assert all(label and label.strip() for label in labels)


def test_plotly_is_loaded_where_there_is_a_figure_and_is_that_of_the_wheel(visit):
    drawn = count(visit, ".mha-figure, .mha-live") > 0
    version = visit.page.evaluate("() => window.Plotly?.version")
    assert version == (plotly.offline.get_plotlyjs_version() if drawn else None)


def test_live_figures_need_no_widget_manager(visit):
    widgets = count(visit, "script[type='application/vnd.jupyter.widget-view+json']")
    asked = {url.split("?")[0].split("/")[-1] for url in visit.requests}
    assert ("live.js" in asked) == (widgets > 0)
    assert not asked & {"require.js", "paths.js", "embed-amd.js"}
    visit.page.wait_for_function(
        "(n) => document.querySelectorAll('.jupyter-widgets').length === n", arg=widgets
    )


def test_plotly_comes_early_where_something_trains(visit):
    early = count(visit, "link[rel=preload][href$='/plotly-cartesian.min.js']")
    assert early == (count(visit, ".mha-fallback") > 0)


def test_of_the_theme_a_page_asks_for_nothing_that_it_does_not_show(visit):
    asked = {url.split("?")[0].split("/")[-1] for url in visit.requests}
    assert "fontawesome.js" not in asked
    assert ("searchindex.js" in asked) == (visit.name == "search.html")


def test_every_image_has_alt_text(visit):
    assert count(visit, "img:not([alt])") == 0
    assert count(visit, ".bd-article img[alt='']:not(.mha-thumbnail)") == 0


@pytest.mark.of_each_kind
def test_every_figure_shows_a_picture_without_javascript(unscripted):
    boxes = [figure.bounding_box() for figure in unscripted.locator(".mha-figure").all()]
    pictures = unscripted.locator(".mha-drawing > svg[role=img]").all()
    assert len(pictures) == len(boxes)
    for picture, box in zip(pictures, boxes, strict=True):
        inner = picture.bounding_box()
        assert picture.is_visible()
        assert picture.get_attribute("aria-label").strip()
        assert 300 < inner["width"] <= box["width"]
        assert 60 < inner["height"] < 1050  # three rows of panels are the tallest
        *_, width, height = map(float, picture.get_attribute("viewBox").split())
        assert abs(inner["width"] * height - inner["height"] * width) < 2 * width, "it is stretched"
        assert inner["y"] - box["y"] < 100, "the empty drawing stands above it"


def test_every_slider_moves_by_keyboard(closed):
    state = """(input) => {
      const figure = input.previousElementSibling, frames = figure._transitionData._frames;
      const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
      const kinds = { f4: Float32Array, f8: Float64Array };
      const flat = (a) => Array.from(a).flatMap((row) => ArrayBuffer.isView(row) ? Array.from(row) : row);
      const numbers = (a) => a?.bdata ? Array.from(new kinds[a.dtype](bytes(a.bdata).buffer)) : flat(a ?? []);
      const values = ({ data }) => JSON.stringify(data.map(({ y, z }) => [numbers(y), numbers(z)]));
      const drawn = values(figure);
      const shows = frames.findIndex((frame) => values(frame) === drawn);
      return [shows, figure.layout.sliders[0].active ?? 0, input.getAttribute("aria-valuetext"), frames.length];
    }"""

    def assert_shows(keys, key):
        shown, active, words, frames = keys.evaluate(state)
        assert shown == active == {"End": frames - 1, "Home": 0, "ArrowRight": 1}[key]
        assert words

    for keys in closed.page.locator(".mha-keys").all():
        keys.focus()
        for key in ("End", "Home", "ArrowRight"):
            closed.page.keyboard.press(key)
            eventually(closed.page, partial(assert_shows, keys, key))
        for key in ("Home", "End", "Home", "End"):  # faster than it draws: the last one counts
            closed.page.keyboard.press(key)
        eventually(closed.page, partial(assert_shows, keys, key))
    assert count(closed, ".slider-container") == count(closed, ".mha-keys")


HANDS = 3
"""How many boxes of a page a mouse opens: they are of one make, and a hand is slow. A script clicks
on the others."""
OPEN = "(box) => box.open ?? !box.classList.contains('toggle-hidden')"
CLICK = f"""(boxes, [hands, inside]) => boxes.slice(hands).map((box) => {{
  const open = {OPEN}, before = open(box);
  box.querySelector(inside).click();
  return open(box) !== before;
}})"""


def click(box, inside, **where):
    """Click on a part of a box: does it open, if it was closed, and close, if it was open?"""
    before = box.evaluate(OPEN)
    box.locator(inside).first.click(**where)
    return box.evaluate(OPEN) != before


@pytest.mark.of_each_kind
def test_every_details_box_opens_and_closes(closed):
    boxes = closed.page.locator(".bd-article details")
    # a mouse finds no box within a closed one, and the code of a figure only by the figure's menu
    seen = closed.page.locator(".bd-article details:not(details details):visible")
    by_mouse = seen.all()[:HANDS]
    assert count(closed, ".bd-article details[open]:not(.mha-group)") == 0
    # the laboratory's groups close first, and open again
    assert all(click(box, "> summary") for box in by_mouse)
    assert all(boxes.evaluate_all(CLICK, [0, ":scope > summary"]))
    assert all(boxes.evaluate_all(CLICK, [0, ":scope > summary"]))
    assert all(click(box, "> summary") for box in reversed(by_mouse))


@pytest.mark.of_each_kind
def test_every_dropdown_opens_and_closes(closed):
    boxes = closed.page.locator(".bd-article .admonition.toggle")
    by_mouse = boxes.all()[:HANDS]
    assert count(closed, ".bd-article .admonition.toggle:not(.toggle-hidden)") == 0
    # A reader opens it at the edge of its title, and closes it by what stands there: a link, a
    # formula.
    title, in_title = "> .admonition-title", "> .admonition-title > *"
    assert all(click(box, title, position={"x": 4, "y": 4}) for box in by_mouse)
    assert all(boxes.evaluate_all(CLICK, [HANDS, f":scope {title}"]))
    assert all(boxes.evaluate_all(CLICK, [HANDS, f":scope {in_title}"]))
    assert all(click(box, in_title) for box in reversed(by_mouse))


def test_every_figure_is_drawn(opened):
    assert not opened.page.evaluate(UNDRAWN)


def test_words_of_figures_are_readable_in_light(opened):
    if count(opened, ".mha-figure"):
        assert opened.page.evaluate(LOWEST_CONTRAST) >= 4.5


@pytest.mark.of_each_kind
def test_axe_finds_nothing_serious_but_for_colors(opened):
    assert not axe.serious(opened.page, without=axe.COLORS)


@pytest.mark.of_each_kind
def test_axe_finds_no_faint_color_in_light(opened):
    assert not axe.serious(opened.page, axe.COLORS)


def test_a_desk_never_scrolls_sideways(opened):
    assert not opened.page.evaluate(OVERFLOW)


def test_no_code_in_sight_scrolls_sideways_on_a_desk(opened):
    assert not opened.page.evaluate(CUT)


def test_no_figure_offers_to_upload_itself(visit):
    assert count(visit, ".mha-figure .modebar-btn") == 0


def test_a_window_at_four_times_its_size_scrolls_one_way(visit):
    assert not visit.show(width=320).page.evaluate(OVERFLOW)


@pytest.mark.of_each_kind
def test_and_so_it_does_with_words_further_apart(visit):
    page = visit.show(width=320).page
    spaced = page.add_style_tag(content=SPACED)
    at_rest(page)
    found = page.evaluate(OVERFLOW)
    spaced.evaluate("(style) => style.remove()")
    assert not found


def test_what_scrolls_is_within_reach_of_the_keyboard(phone):
    eventually(phone.page, lambda: axe.assert_within_reach(phone.page))


def test_a_phone_never_scrolls_sideways(phone):
    assert not phone.page.evaluate(OVERFLOW)


def test_what_is_cut_at_the_edge_of_a_phone_has_a_shadow_there(phone):
    assert not phone.page.evaluate(UNSHADED)


def test_every_figure_fits_a_phone(phone):
    assert not phone.page.evaluate(UNDRAWN)
    widths = [figure.bounding_box()["width"] for figure in phone.page.locator(".main-svg").all()]
    assert all(width <= 390 for width in widths)


@pytest.mark.of_each_kind
def test_panels_of_a_figure_stand_one_below_the_other_on_a_phone_and_as_they_were_on_a_desk(phone):
    shares = [share for share, _ in phone.page.evaluate(PANELS)]
    assert all(share > 0.5 for share in shares)
    there = [is_there for _, is_there in phone.show().page.evaluate(PANELS)]
    assert len(there) == len(shares) and all(there)


@pytest.mark.of_each_kind
def test_words_of_figures_are_readable_in_dark(dark):
    assert dark.page.evaluate("() => document.documentElement.dataset.theme") == "dark"
    if count(dark, ".mha-figure"):
        assert dark.page.evaluate(LOWEST_CONTRAST) >= 4.5


@pytest.mark.of_each_kind
def test_axe_finds_no_faint_color_in_dark(dark):
    assert not axe.serious(dark.page, axe.COLORS)


@pytest.mark.of_each_kind
def test_paper_is_white_and_figures_know_it(dark):
    theme = "() => document.documentElement.dataset.theme"
    dark.page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    at_rest(dark.page)
    assert dark.page.evaluate(theme) == "light"
    assert not count(dark, ".mha-figure") or dark.page.evaluate(LOWEST_CONTRAST) >= 4.5
    dark.page.emulate_media(media="print")
    assert not dark.page.evaluate(FOLDS), "paper does not unfold"
    dark.page.emulate_media(media="screen")
    dark.page.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    assert dark.page.evaluate(theme) == "dark"


def test_search_finds_a_word(new_visit):
    visit = new_visit("search.html?q=attention").open()
    visit.page.wait_for_selector("#search-results li a")
    assert not visit.failures + visit.complaints
    visit.context.close()


IN_THE_LIST = """() => {
  const place = (node) => node.getBoundingClientRect(), list = document.querySelector(".bd-sidebar-primary");
  const { top, bottom } = place([...list.querySelectorAll("li.active > a")].pop());
  return top >= place(list.querySelector(".sidebar-primary-item")).bottom && bottom <= innerHeight;
}"""


def test_the_list_of_pages_shows_the_place_of_its_reader(new_visit, site):
    """Where the page before has left it, the entry of the last page is below the window, and that of
    the first one above."""
    visit = new_visit("book/multihead/01_a_small_attention_model.html").open()
    for name in ("multihead/08_heads_on_real_data", "kernels/16_further", "index"):
        visit.page.goto(f"{site}book/{name}.html")
        assert visit.page.evaluate(IN_THE_LIST), name
    visit.context.close()


def test_the_link_to_the_text_shows_for_the_keyboard_alone(new_visit):
    visit = new_visit("book/accessibility.html").open()
    shown = "() => getComputedStyle(document.querySelector('.skip-link')).opacity"
    assert visit.page.evaluate(shown) == "0"
    visit.page.keyboard.press("Tab")
    assert visit.page.evaluate("() => document.activeElement.hash") == "#main-content"
    assert visit.page.evaluate(shown) == "1"
    visit.context.close()


# At its first opening a page gets no frame, and what waits for one is patient for a moment alone.
ASLEEP = """
sessionStorage.opened = Number(sessionStorage.opened ?? 0) + 1;
if (sessionStorage.opened === "1") {
  const later = window.setTimeout;
  window.requestAnimationFrame = () => 0;
  window.setTimeout = (call, wait, ...rest) => later(call, wait === PATIENCE ? 1 : wait, ...rest);
}""".replace("PATIENCE", str(PATIENCE))


def test_a_page_that_chromium_stops_drawing_is_loaded_again(new_visit):
    visit = new_visit("book/accessibility.html")
    visit.page.add_init_script(ASLEEP)
    assert visit.open().page.evaluate("() => sessionStorage.opened") == "2"
    visit.context.close()
