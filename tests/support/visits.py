"""How tests look at the built book: pages opened in Chromium, and waiting by frames instead of by a
clock."""

from pathlib import Path

BUILD = Path(__file__).parents[2] / "_build" / "html"
NOT_OPENED = "NO PAGE WAS OPENED"  # tests/conftest.py says it once more at the very end
NO_BUILD = f"{NOT_OPENED}: no built book at _build/html, run `make book` first"


PATIENCE = 240_000
"""How many milliseconds a busy machine may take for what an idle one does at once."""


# Where the axes of a figure begin and end.
RANGES = """(box) => Object.entries(box._fullLayout).filter(([key]) => /^[xy]axis\\d*$/.test(key))
  .map(([key, { range }]) => [key, ...range])"""
STALLED = "Chromium draws no more frames of this page"
# The next frame. Once in some thousand openings Chromium stops drawing a page, in the midst of scrolling it:
# it is in sight, others are drawn, and neither input nor a picture wakes it, but loading it again does. So
# nobody waits for a frame for ever.
FRAME = f"""const frame = () => new Promise((drawn, failed) => {{
  const late = setTimeout(() => failed(new Error("{STALLED}")), {PATIENCE});
  requestAnimationFrame(() => {{ clearTimeout(late); drawn(); }});
}});"""
FRAMES = """async (count) => {
  FRAME
  while (count-- > 0) await frame();
}""".replace("FRAME", FRAME)
AT_REST = """async (calm) => {
  FRAME
  const boxes = () => [...document.querySelectorAll(".main-svg, .bd-article > *, .mha-live")]
    .map((el) => Object.values(el.getBoundingClientRect().toJSON()).join()).join()
    + document.getElementsByTagName("*").length;
  for (let still = 0, before = ""; still < calm; ) {
    await frame();
    const now = boxes();
    still = now === before ? still + 1 : 0;
    before = now;
  }
}""".replace("FRAME", FRAME)
# What moves on a page without its reader's doing: how much, from where to where, and what it is.
SHIFTS = """window.shifts = [];
new PerformanceObserver((list) => list.getEntries().filter((entry) => !entry.hadRecentInput).forEach((entry) => {
  const name = (node) => (node?.outerHTML ?? node?.data ?? "").slice(0, 80);
  const moved = ({ node, previousRect: from, currentRect: to }) => `${name(node)}: `
    + [from, to].map((box) => [box.x, box.y, box.width, box.height].map(Math.round)).join(" → ");
  window.shifts.push([entry.value, ...entry.sources.map(moved)]);
})).observe({ type: "layout-shift", buffered: true });"""
TO_THE_END = """async () => {
  FRAME
  const page = document.scrollingElement;
  for (let y = 0; y < page.scrollHeight; y += innerHeight / 2) {
    window.scrollTo(0, y);
    await frame();
  }
}""".replace("FRAME", FRAME)


def frames(page, count):
    """Let the page draw so many frames: a busy machine draws late, and the page gets the time it
    needs."""
    page.evaluate(FRAMES, count)


def at_rest(page):
    """Wait until a page has looked the same for so many frames that nothing it had put off is still
    to come."""
    page.evaluate(AT_REST, 20)


def eventually(page, check):
    """What ``check`` asserts holds now, or soon: a busy machine draws late."""
    for _ in range(PATIENCE // 10 // 100):
        try:
            return check()
        except AssertionError:
            frames(page, 6)
    return check()


def drawn_again(look, load=lambda: None):
    """What ``look`` finds; where Chromium has stopped drawing its page, ``load`` loads that again, and
    ``look`` looks again, twice at most."""
    for _ in range(2):
        try:
            return look()
        except Exception as error:
            if STALLED not in str(error):
                raise
            load()
    return look()


def assert_nothing_moves(page):
    """Scroll an opened page to its end; all of its shifts together are below the fifth of what
    Chromium calls good."""
    page.evaluate(TO_THE_END)
    page.wait_for_function(DRAWN, polling=50)
    at_rest(page)
    shifts = sorted(page.evaluate("shifts"), reverse=True)
    assert sum(value for value, *_ in shifts) <= 0.02, shifts[:5]


KINDS = (
    "index",
    "01_a",
    "09_att",
    "14_further",
    "15_land",
    "17_lab",
    "your_own",
    "ledger",
    "sheets",
    "quiz",
    "guesses",
    "class",
    "where_this",
    "api.",
    "search",
)
"""How the pages begin of which each stands for its kind: for what is the same code on all of a
kind."""


def begins_with(page, kinds):
    """Whether the file of a page begins as one of the kinds."""
    return page.split("/")[-1].startswith(kinds)


def built_pages():
    """List the pages of the built book; one None stands for a book that was not built."""
    pages = sorted(path.relative_to(BUILD).as_posix() for path in BUILD.rglob("*.html"))
    others = ("_static/", "figures/", "kit/")
    return [page for page in pages if page != "index.html" and not page.startswith(others)] or [
        None
    ]


# Not the browser's "network idle": once in a few hundred openings a request that was dropped keeps
# it waiting for ever.
DRAWN = """() => {
  const count = (selector) => document.querySelectorAll(selector).length;
  return count(".mha-figure:not(:has(.main-svg))") === 0
    && count("script[type='application/vnd.jupyter.widget-view+json']") === count(".jupyter-widgets")
    && count(".mha-live:not([data-state=done], [data-state=failed])") === 0;
}"""
SET_DROPDOWNS = """(shown) => {
  const shut = ".bd-article details:not(.mha-group)"; // the laboratory's groups of controls stand open
  document.querySelectorAll(shut).forEach((box) => { box.open = shown; });
  document.querySelectorAll(".bd-article .admonition.toggle").forEach((box) => {
    if (box.classList.contains("toggle-hidden") === shown) box.querySelector("button.toggle-button").click();
  });
}"""


class Visit:
    """One page opened in a fresh context: what it asked for, what failed, what it complained of."""

    def __init__(self, browser, site, name):
        self.name, self.requests, self.failures, self.complaints = name, [], [], []
        self.site, self.shown = site, {"dropdowns": False, "theme": "light", "width": 1280}
        self.context = browser.new_context(
            viewport={"width": self.shown["width"], "height": 900},
            color_scheme="light",
            reduced_motion="reduce",
        )
        self.context.set_default_timeout(PATIENCE)
        self.context.route("**/*", self.pass_if_local)
        self.page = page = self.context.new_page()
        page.add_init_script(SHIFTS)
        page.on("response", self.note_response)
        page.on("requestfailed", lambda request: self.failures.append(f"failed: {request.url}"))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on(
            "console",
            lambda said: self.complaints.append(said.text) if said.type == "error" else None,
        )

    def pass_if_local(self, route):
        """Let the book's own files through, abort everything else; an abort counts as a failure."""
        local = route.request.url.startswith(self.site)
        route.continue_() if local else route.abort()

    def note_response(self, response):
        self.requests.append(response.url.removeprefix(self.site))
        if response.status >= 400:
            self.failures.append(f"{response.status}: {response.url}")

    def open(self):
        """Load the page and wait for its figures and its fonts."""
        return drawn_again(self.load)

    def load(self):
        """Load the page once."""
        self.page.goto(self.site + self.name, wait_until="load")
        self.page.wait_for_function(DRAWN, polling=50)  # not by frames, which may not come
        self.page.evaluate("() => document.fonts.ready.then(() => null)")
        at_rest(self.page)  # plotly and what is hidden are put in order a moment later
        return self

    def show(self, dropdowns=True, theme="light", width=1280):
        """Bring the page into a state that a test needs; what is so already costs nothing."""
        now = self.shown
        if now["dropdowns"] != dropdowns:
            self.page.evaluate(SET_DROPDOWNS, dropdowns)
        if now["width"] != width:
            self.page.set_viewport_size({"width": width, "height": 900})
        if now["dropdowns"] != dropdowns or now["width"] != width:
            # plotly redraws a moment after the last change of size, and what was folded had none
            at_rest(self.page)
        if now["theme"] != theme:
            self.choose(theme)
        now.update(dropdowns=dropdowns, theme=theme, width=width)
        return self

    def choose(self, theme):
        """Press the page's own button until the theme is there, and leave the button, whose tooltip
        goes then."""
        mode = "() => document.documentElement.dataset.mode"
        for _ in range(3):
            if self.page.evaluate(mode) != theme:
                self.page.locator("button.theme-switch-button:visible").first.click()
        assert self.page.evaluate(mode) == theme
        self.page.mouse.move(0, 0)
        self.page.evaluate("() => document.activeElement.blur()")
        self.page.wait_for_function("() => !document.querySelector('.tooltip')")
        at_rest(self.page)
