"""What a reader's browser and server may forbid or choose: scripts, storage, colors. A page works,
or says why not."""

import pytest

from visits import PATIENCE, at_rest

CHAPTER, LABORATORY = "book/multihead/06_a_planted_head.html", "book/laboratory/17_laboratory.html"
INLINE = "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:"
STRICT = INLINE.replace("script-src 'self' 'unsafe-inline'", "script-src 'self'")
TRAINED = "() => document.querySelector('.mha-live[data-state=done]')"
SAID = "() => document.querySelector('.mha-live .mha-live-summary').textContent"
REFUSED = "This cannot run here: the page's server forbids its code"


@pytest.fixture
def open_under(site, chromium):
    """Open a page with a policy of its server, or with other wishes; what it complains of is in
    ``page.complaints``."""
    contexts = []

    def open_one(name, policy=None, **wishes):
        contexts.append(context := chromium.new_context(reduced_motion="reduce", **wishes))
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.complaints = []
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        if policy:
            page.route("**/*.html", lambda route: forbid(route, policy))
        page.goto(site + name, wait_until="load")
        return page

    yield open_one
    for context in contexts:
        context.close()


def forbid(route, policy):
    """Answer with the page under a policy."""
    answer = route.fetch()
    route.fulfill(response=answer, headers=answer.headers | {"content-security-policy": policy})


# --- a policy of the server
# -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        (CHAPTER, INLINE),
        (CHAPTER, f"{STRICT}; script-src-elem 'self' blob:; worker-src blob:"),
        # it trains for a minute and a half
        pytest.param(LABORATORY, INLINE, marks=pytest.mark.weekly),
    ],
)
def test_under_a_policy_that_lets_its_code_run_a_figure_trains_and_answers_are_checked(
    open_under, name, policy
):
    page = open_under(name, policy)
    page.wait_for_function(TRAINED)
    slider = page.locator(".mha-live input[type=range]:visible").first
    before = page.evaluate(SAID)
    slider.press(
        "ArrowRight" if slider.input_value() == slider.get_attribute("min") else "ArrowLeft"
    )
    page.wait_for_function(f"(before) => ({SAID})() !== before", arg=before)
    page.wait_for_function(TRAINED)
    for box in page.locator(".mha-part").all():
        box.locator("input").fill("1")
        box.get_by_role("button", name="Check").click()
        assert box.locator(".mha-verdict").inner_text()
    assert not page.complaints


@pytest.mark.parametrize("name", [CHAPTER, LABORATORY])
def test_a_policy_that_forbids_their_code_is_named_in_place_of_controls_and_fields(
    open_under, name
):
    page = open_under(name, STRICT)
    page.locator(".mha-fallback .mha-refused").wait_for()
    at_rest(page)
    assert page.locator(".mha-live, .mha-part, .mha-around:visible").count() == 0
    assert page.locator(".mha-fallback .mha-picture").is_visible()
    views = page.locator("script[type='application/vnd.jupyter.widget-view+json']").count()
    words = page.locator(".mha-refused").all_inner_texts()
    assert len(words) == views and all(
        said.startswith(REFUSED) and "from your disk" in said for said in words
    )
    assert not page.complaints


def test_a_figure_whose_library_does_not_come_says_so(open_under, chromium, site):
    context = chromium.new_context()
    page, complaints = context.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.route("**/plotly-cartesian*", lambda route: route.abort())
    page.goto(site + CHAPTER)
    page.locator(".mha-fallback .mha-refused").filter(has_text="Load the page again").wait_for(
        timeout=PATIENCE
    )
    at_rest(page)
    assert page.locator(".mha-live, .mha-around:visible").count() == 0
    assert page.locator(".mha-fallback .mha-picture").is_visible()
    assert (
        page.locator(".mha-figure .mha-picture").count() == page.locator(".mha-figure").count()
    ), "pictures stand"
    assert not complaints
    context.close()


# --- a frame that may keep nothing
# ----------------------------------------------------------------------------

KEYS = "() => [localStorage, sessionStorage].map((kept) => [kept instanceof Storage, Object.keys(kept).sort()])"


@pytest.fixture
def framed(open_under, site):
    """The chapter in a frame that may run scripts and nothing else, as courses show pages; nothing
    goes wrong in it."""
    page = open_under("search.html")
    page.set_content(
        f'<iframe sandbox="allow-scripts" src="{site}{CHAPTER}" width="1200" height="800"></iframe>'
    )
    frame = page.locator("iframe").element_handle().content_frame()
    frame.wait_for_function(TRAINED)
    yield frame
    assert not page.complaints


def test_in_a_frame_that_keeps_nothing_a_figure_trains_and_the_theme_is_switched(framed):
    theme = "() => document.documentElement.dataset.mode"
    seen = [framed.evaluate(theme)]
    for _ in range(3):
        framed.locator("button.theme-switch-button:visible").first.click()
        seen.append(framed.evaluate(theme))
    assert seen[0] == seen[3] == "auto" and set(seen) == {"auto", "light", "dark"}
    assert framed.evaluate(KEYS) == [[False, ["mode", "theme"]], [False, []]]


def test_in_a_frame_that_keeps_nothing_a_guess_stands_until_the_page_is_left_and_the_page_says_so(
    framed,
):
    framed.get_by_label("0.7", exact=True).check()
    assert framed.locator("#said-chapter-6-1 strong").inner_text() == "0.7"
    assert "keeps nothing for this page" in framed.locator(".mha-unkept").inner_text()


def test_where_storage_is_allowed_it_is_the_browsers(open_under):
    page = open_under(CHAPTER)
    assert [kept for kept, _ in page.evaluate(KEYS)] == [True, True]


# --- colors that the system chooses
# ---------------------------------------------------------------------------

# The colors of the words and lines of figures, and those that the system has for words.
INKS = """(selector) => {
  const probe = document.createElement("span");
  probe.style.color = "CanvasText";
  document.body.append(probe);
  const wanted = getComputedStyle(probe).color, shown = [...document.querySelectorAll(selector)];
  probe.remove();
  return [shown.length, shown.map((node) => getComputedStyle(node)[node.matches("text, text *") ? "fill" : "stroke"])
    .filter((ink) => ink !== wanted)];
}"""
INKED = ".main-svg :is(.xtick text, .ytick text, .xtitle, .ytitle, .legendtext, .gridlayer path)"


@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_and_axes_take_the_colors_that_the_system_forces(open_under, theme, scheme):
    page = open_under(CHAPTER, forced_colors="active", color_scheme=scheme)
    page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
    page.wait_for_function(TRAINED)
    page.wait_for_function("() => !document.querySelector('.mha-figure:not(:has(.main-svg))')")
    count, others = page.evaluate(INKS, INKED)
    assert count > 10 and others == []
