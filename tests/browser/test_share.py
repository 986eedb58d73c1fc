"""What a reader takes away of a figure: images, a link with its settings, a view of it alone in a
strict frame."""

import re
from xml.etree import ElementTree

import pytest

from visits import BUILD, DRAWN, built_pages, eventually

WIDE = 1600
# the laboratory has a menu of its own
MARKS = ('class="mha-figure"', 'class="mha-fallback"', 'class="mha-idea"')
SHARING = [
    page
    for page in built_pages()
    if page
    and not page.endswith("17_laboratory.html")
    and any(mark in (BUILD / page).read_text("utf-8") for mark in MARKS)
]
ALONE = sorted(path.name for path in (BUILD / "figures").glob("*.html"))
# The code around a figure alone is one: every sixth is opened at each push, all of them every week.
SOME_ALONE = [
    pytest.param(name, marks=pytest.mark.weekly if k % 6 else ()) for k, name in enumerate(ALONE)
]
SPEC = "() => JSON.parse(document.getElementById('state').textContent).spec.controls"
LIVE = ".mha-live[data-state=done]"
NOW = """(name) => new URLSearchParams(document.querySelector('.mha-live').mhaLink().split('?')[1]).get(name)"""
IN_SIGHT = (
    "() => Math.abs(document.querySelector('.mha-live').getBoundingClientRect().top) < innerHeight"
)
SIZES = """(root) => {
  const svg = root.querySelector(".main-svg").getBoundingClientRect();
  const size = (word) => parseFloat(getComputedStyle(word).fontSize);
  const letters = Math.min(...Array.from(root.querySelectorAll(".xtick text"), size));
  return [Math.round(svg.width), Math.round(svg.height), Math.round(letters)];
}"""
FRAME = """<!doctype html><title>elsewhere</title><body style="margin: 0">"""


@pytest.fixture
def sharing(new_visit):
    """Give the way to open a page whose clipboard can be read."""
    opened = []

    def open_one(name):
        visit = new_visit(name)
        opened.append(visit)
        visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
        return visit.open()

    yield open_one
    for visit in opened:
        visit.context.close()


def saved(page, menu, item):
    menu.locator("summary").click()
    with page.expect_download() as got:
        menu.get_by_role("button", name=item).click()
    menu.locator("summary").press("Escape")
    return got.value.suggested_filename, got.value.path().read_bytes()


def copied(page, menu, item):
    menu.locator("summary").click()
    menu.get_by_role("button", name=item).click()
    menu.get_by_role("status").filter(has_text="copied").wait_for()
    menu.locator("summary").press("Escape")
    return page.evaluate("() => navigator.clipboard.readText()")


@pytest.mark.of_each_kind
@pytest.mark.parametrize("name", SHARING or [None])
def test_every_figure_of_a_page_is_saved_as_svg_and_as_a_png_for_a_slide(sharing, name):
    page = sharing(name).page
    menus = page.locator(".mha-menu").all()
    assert (
        len(menus)
        == page.locator(".mha-figure, .mha-live:not(.mha-laboratory), .mha-idea").count()
        > 0
    )
    names = set()
    for menu in menus:
        file, svg = saved(page, menu, "Save as SVG")
        names.add(file)
        drawing = ElementTree.fromstring(svg)
        assert drawing.tag.endswith("svg") and len(list(drawing.iter())) > 5
        across = float(drawing.get("viewBox").split()[2])
        _, png = saved(page, menu, "Save as PNG")
        wide = int.from_bytes(png[16:20])
        assert png[:8] == b"\x89PNG\r\n\x1a\n" and wide >= WIDE, file
        letters = [float(size) for size in re.findall(r"font-size: ([\d.]+)px", svg.decode())]
        assert min(letters) * wide / across >= 14, file
    assert len(names) == len(menus), "each has a name of its own"


def test_a_saved_picture_of_a_live_figure_says_its_settings(sharing):
    page = sharing("book/multihead/05_more_heads_slower_or_faster.html").page
    live = page.locator(".mha-live").first
    live.locator("input[type=range]").first.press("End")
    live.locator("select").first.select_option(index=1)
    page.locator(LIVE).first.wait_for()
    controls = live.locator(".mha-control").all()
    _, svg = saved(page, live.locator(".mha-menu"), "Save as SVG")
    words = "".join(ElementTree.fromstring(svg).itertext())
    chosen = live.locator("select").first.evaluate("(menu) => menu.selectedOptions[0].textContent")
    values = [chosen, *live.locator(".mha-value").all_inner_texts()]
    assert len(controls) > 2 and all(f": {value}" in words for value in values)
    assert all(each.locator("label").inner_text() in words for each in controls)


def test_a_link_restores_the_settings_and_says_what_it_cannot_set(sharing):
    visit = sharing("book/multihead/05_more_heads_slower_or_faster.html")
    page = visit.page
    live = page.locator(".mha-live").first
    live.locator("input[type=range]").first.press("End")
    live.locator("select").first.select_option(index=1)
    page.locator(LIVE).first.wait_for()
    link = copied(page, live.locator(".mha-menu"), "Copy link")
    assert link == page.evaluate(
        "() => location.href + document.querySelector('.mha-live').mhaLink()"
    )
    there = sharing(link.removeprefix(visit.site)).page
    assert (
        there.evaluate("() => document.querySelector('.mha-live').mhaLink()")
        == "#" + link.split("#")[1]
    )
    there.wait_for_function(IN_SIGHT)
    for wrong, words in (
        ("nothing=1", "“nothing”, which this figure does not have"),
        ("H=77", "to “77”, which is no"),
    ):
        there.evaluate(
            "(hash) => { location.hash = hash; }", f"{link.split('#')[1].split('?')[0]}?{wrong}"
        )
        there.locator(".mha-hint", has_text=words).wait_for()


def test_the_embed_code_of_a_still_figure_shows_its_picture(sharing):
    visit = sharing("book/multihead/08_heads_on_real_data.html")
    page = visit.page
    code = copied(page, page.locator(".mha-figure .mha-menu").first, "Copy embed code")
    where = page.evaluate("() => [location.href.split('#')[0], document.title]")
    page.set_content(FRAME + code)
    credit = page.get_by_role("link")
    assert [credit.get_attribute("href"), credit.inner_text()] == where
    page.wait_for_function("() => document.images[0].complete")
    assert page.evaluate(
        "() => document.images[0].naturalWidth > 300 && document.images[0].alt.length > 50"
    )


def test_a_page_on_a_disk_offers_no_link_and_says_why(chromium):
    context = chromium.new_context()
    page = context.new_page()
    page.goto((BUILD / "book/multihead/05_more_heads_slower_or_faster.html").as_uri())
    menu = page.locator(".mha-live .mha-menu").first
    menu.locator("summary").click()
    assert menu.get_by_role("status").inner_text().startswith("This page was opened from a disk")
    offered = menu.get_by_role("button").all_inner_texts()
    assert offered[:2] == ["Save as SVG", "Save as PNG"] and not {
        "Copy link",
        "Copy embed code",
    } & {*offered}
    context.close()


@pytest.mark.parametrize("name", SOME_ALONE or [None])
def test_a_live_figure_alone_fits_a_strict_frame_and_trains_there_and_from_a_disk(
    new_visit, chromium, name
):
    visit = new_visit(f"figures/{name}")
    page = visit.page
    page.set_viewport_size({"width": 800, "height": 600})
    page.goto(visit.site + "404")  # a page of this server
    visit.failures.clear()
    visit.complaints.clear()
    page.set_content(
        f'{FRAME}<iframe src="/figures/{name}" width="760" height="560" sandbox="allow-scripts" '
        'style="border: 0"></iframe>'
    )
    frame = page.frame_locator("iframe")
    frame.locator(LIVE).wait_for()
    low = frame.locator(".mha-live-picture").evaluate("(box) => box.getBoundingClientRect().bottom")
    assert low <= 560 and frame.locator(".js-plotly-plot .main-svg").first.is_visible()
    assert frame.locator("html").evaluate("(root) => root.scrollWidth") <= 760
    assert not visit.failures and not visit.complaints
    visit.context.close()

    context = chromium.new_context(offline=True)
    alone = context.new_page()
    alone.goto((BUILD / "figures" / name).as_uri())
    alone.locator(LIVE).wait_for()
    first = alone.evaluate(SPEC)[0]
    value = next(each for each in reversed(first["values"]) if each != first["value"])
    alone.evaluate(
        "([name, value]) => { location.hash = `?${name}=${value}`; }", [first["name"], str(value)]
    )
    alone.locator(LIVE).wait_for()
    assert alone.evaluate(NOW, first["name"]) == str(value)
    context.close()


def test_a_page_of_a_figure_is_not_heavy():
    import gzip

    sizes = {name: len(gzip.compress((BUILD / "figures" / name).read_bytes())) for name in ALONE}
    assert max(sizes.values()) < 1.3e6, sizes


def test_on_the_whole_screen_a_figure_is_as_high_as_there_is_room_and_then_as_it_was(sharing):
    page = sharing("book/multihead/01_a_small_attention_model.html").page
    for root in (page.locator(".mha-live").first, page.locator(".mha-figure").nth(1)):
        root.scroll_into_view_if_needed()
        root.locator(".mha-menu").wait_for()
        before = root.evaluate(SIZES)
        menu = root.locator(".mha-menu")
        menu.locator("summary").click()
        menu.get_by_role("button", name="Full screen").click()

        def fills_the_screen(root=root, least=before[2]):
            width, height, letters = root.evaluate(SIZES)
            below, free = root.evaluate("(node) => [node.scrollHeight, innerHeight]")
            assert width > 1150 and height > 0.6 * free and below <= free and letters > least

        eventually(page, fills_the_screen)
        page.evaluate("() => document.exitFullscreen()")
        eventually(page, lambda root=root, before=before: same(root.evaluate(SIZES), before))


def test_a_screen_that_is_refused_is_said_in_the_menu(sharing):
    page = sharing("book/multihead/01_a_small_attention_model.html").page
    menu = page.locator(".mha-live .mha-menu").first
    page.evaluate(
        "() => { Element.prototype.requestFullscreen = () => Promise.reject(new Error('not "
        "here')); }"
    )
    menu.locator("summary").click()
    menu.get_by_role("button", name="Full screen").click()
    said = menu.locator("[role=status]")
    said.wait_for()
    assert said.text_content() == "This did not work: not here."


def same(found, wanted):
    assert found == wanted


SEEN = """(button) => {
  const { left, bottom } = button.getBoundingClientRect();
  return document.elementFromPoint(left + 5, bottom - 3) === button;
}"""
CODE = ".cell:has(.mha-idea) + .cell.tag_hide-cell > details.hide"


def test_the_menu_of_a_picture_shows_its_code_and_nothing_else_stands_below_it(sharing):
    page = sharing("book/preconditioning/11_data_and_compute.html").page
    menu, code = page.locator(".mha-idea .mha-menu").first, page.locator(CODE).first
    assert code.is_hidden() and not page.locator(".mha-idea figcaption a:visible").count()
    menu.evaluate("(node) => node.scrollIntoView({ block: 'center', behavior: 'instant' })")
    menu.locator("summary").press("Enter")
    show = menu.get_by_role("button", name="Show code")
    assert show.evaluate(SEEN)
    show.press("Enter")
    code.locator("pre").first.wait_for()
    assert code.locator("summary").evaluate("(node) => node === document.activeElement")
    menu.locator("summary").press("Enter")
    menu.get_by_role("button", name="Save as SVG").wait_for()
    assert not menu.get_by_role("button", name="Show code").count()
    page.keyboard.press("Escape")
    code.locator("summary").press("Enter")
    code.wait_for(state="hidden")
    assert menu.locator("summary").evaluate("(node) => node === document.activeElement")


def test_code_has_a_fold_of_its_own_where_no_menu_comes(chromium, site):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site}book/preconditioning/11_data_and_compute.html")
    page.locator(CODE).first.locator("summary").click()
    assert page.locator(CODE).first.locator("pre").first.is_visible()
    context.close()


def test_the_menu_needs_no_pointer(sharing):
    page = sharing("book/multihead/01_a_small_attention_model.html").page
    menu = page.locator(".mha-live .mha-menu").first
    menu.locator("summary").press("Enter")
    menu.get_by_role("button", name="Save as SVG").wait_for()
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.textContent") == "Save as SVG"
    page.keyboard.press("Escape")
    assert page.evaluate("() => document.activeElement.textContent") == "Share"
    assert page.evaluate(DRAWN)
