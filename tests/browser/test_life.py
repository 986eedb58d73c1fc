"""How a live figure comes up, and what it leaves when its view is closed or its cell is run again:
nothing."""

import json
import threading
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from livegrad.live.widget import PLOTLY
from visits import frames
from widgets import CLOSE, FINISHED, MADE, MOUNT

LIVE_JS = Path(__file__).parents[2] / "book" / "_static" / "live.js"
LIVE = ("figure", "laboratory")


@pytest.fixture(scope="module")
def pages(open_widget):
    """Open one page for each kind."""
    return cache(open_widget)


@pytest.fixture(scope="module")
def mounted(open_widget, request):
    """Give a page with a view of a kind; nothing goes wrong on it."""
    page = open_widget(request.param)
    page.evaluate(MOUNT)
    yield page
    assert not page.complaints


# Drawing ends when it is told to.
HELD = """() => {
  window.whole = Plotly.react;
  window.finish = null;
  Plotly.react = async (...all) => {
    await whole(...all);
    await new Promise((go) => { window.finish = go; });
  };
}"""
MOVE = """() => {
  const slider = [...shown.el.querySelectorAll("input[type=range]")].at(-1);
  slider.value = slider.max;
  slider.dispatchEvent(new Event("input"));
}"""


def test_the_first_thing_drawn_is_a_run(open_widget):
    page = open_widget("figure")
    page.evaluate("""() => {
      const whole = Plotly.react;
      window.drawings = 0;
      Plotly.react = (...all) => {
        drawings++;
        return whole(...all);
      };
      document.addEventListener("mha-drawn", () => { window.drawingsOfFirst ??= drawings; });
    }""")
    page.evaluate(MOUNT)
    page.wait_for_function(FINISHED)
    assert page.evaluate("drawingsOfFirst") == 1
    page.close()


DRAWN = """() => [...shown.el.querySelectorAll(".mlayer, .mlayer .trace, .mlayer path, .mlayer image")]
  .map((node) => [node.localName, node.getAttribute("class"), node.getAttribute("d")])"""


def test_lines_that_moved_alone_lie_among_all_others_as_if_all_were_drawn(open_widget):
    page = open_widget("figure")
    page.evaluate(MOUNT)
    page.wait_for_function(FINISHED)
    move = MOVE.replace("at(-1)", "at(0)")
    page.evaluate(move)  # the line of the default settings comes
    page.wait_for_function(FINISHED)
    page.evaluate("""() => {
      window.drawings = 0;
      Plotly.react = () => { drawings++; };
    }""")
    page.evaluate(move.replace("slider.max", "slider.max - 1"))
    page.wait_for_function(FINISHED)
    alone = page.evaluate(DRAWN)
    assert page.evaluate("drawings") == 0
    page.evaluate("() => Plotly.redraw(shown.el.querySelector('.mha-live-plot'))")
    assert alone == page.evaluate(DRAWN)
    page.close()


# Where the dots at the ends of lines are, where the ink of the broad lines ends, and what stands beside them.
SEEN = """() => {
  const { el } = shown,
    middle = (node) => {
      const { x, y, width, height } = node.getBoundingClientRect();
      return [x + width / 2, y + height / 2];
    },
    tip = (line) => {
      const { x, y } = line.getPointAtLength(line.getTotalLength()).matrixTransform(line.getScreenCTM());
      return [x, y];
    };
  return {
    dots: [...el.querySelectorAll(".mha-ends circle")].map(middle),
    tips: [...el.querySelectorAll(".scatterlayer .js-line[style*='stroke-width: 3px']")].map(tip),
    numbers: [...el.querySelectorAll(".mha-ends text:not(.mha-before) .mha-number")].map((node) => node.textContent),
  };
}"""


def test_a_broad_line_ends_in_a_dot_with_the_number_of_the_sentence(open_widget):
    page = open_widget("own")
    page.evaluate(MOUNT)
    for press in range(3):
        if press:
            page.locator(".mha-tries button").nth(press - 1).click()
            frames(page, 2)
        page.wait_for_function(FINISHED)
        seen = page.evaluate(SEEN)
        assert seen["dots"] and len(seen["dots"]) == len(seen["tips"])
        for dot, tip in zip(sorted(seen["dots"]), sorted(seen["tips"]), strict=True):
            assert dot == pytest.approx(tip, abs=1)
        said = page.locator(".mha-live-summary").text_content()
        now = [number for number in seen["numbers"] if number]
        assert now and all(number in said for number in now), (now, said)
    page.close()


def assert_nothing_left(page):
    """What was opened is closed, nothing is drawn any more, and nothing went wrong."""
    frames(page, 2)
    assert set(page.evaluate("() => Object.values(window.counts)")) == {0}, page.evaluate(
        "() => window.counts"
    )
    assert (
        page.evaluate("() => [window.turns, window.drawnAfter]") == [0, 0] and not page.complaints
    )


@pytest.mark.parametrize("kind", LIVE)
def test_a_view_that_is_closed_leaves_nothing(pages, kind):
    page = pages(kind)
    for moment in ("at once", "as it draws", "in a run", "at rest"):
        if moment == "as it draws":
            page.evaluate(HELD)
        page.evaluate(MOUNT)
        if moment == "as it draws":
            page.wait_for_function("() => window.finish")
        if moment in ("in a run", "at rest"):
            page.wait_for_function(FINISHED)
            page.evaluate(MOVE)
        if moment == "at rest":
            page.wait_for_function(FINISHED)
            page.wait_for_function("() => window.counts.addresses === 0")
        page.evaluate(CLOSE)
        if moment == "as it draws":
            page.evaluate("() => { Plotly.react = whole; finish(); }")
        assert_nothing_left(page)


# What the kernel sends, to every view that still listens.
ANSWER = """(source) => {
  const buffers = [new TextEncoder().encode(source)];
  for (const { heard } of [former, shown])
    for (const hear of [...heard["msg:custom"] ?? []]) hear({ plotly: true }, buffers);
}"""


def test_a_figure_that_asks_the_kernel_for_plotly_gets_it_unless_it_is_closed(open_widget):
    page = open_widget("figure", with_plotly=False)
    page.evaluate(MOUNT)
    page.evaluate("() => { window.former = shown; }")
    page.evaluate(CLOSE)
    page.evaluate(MOUNT)
    page.evaluate(ANSWER, PLOTLY.read_text("utf-8"))
    page.wait_for_function(FINISHED)
    page.evaluate(CLOSE)
    assert_nothing_left(page)


def test_an_answer_that_a_busy_kernel_gives_late_is_taken(open_widget):
    page = open_widget("figure", with_plotly=False)
    page.clock.install()
    page.evaluate(MOUNT)
    page.clock.fast_forward("10:00:00")
    assert page.locator(".mha-live").get_attribute("data-state") == "loading"
    assert "a running kernel sends" in page.locator(".mha-live-summary").inner_text()
    page.evaluate("() => { window.former = shown; }")
    page.evaluate(ANSWER, PLOTLY.read_text("utf-8"))
    page.wait_for_function(FINISHED)
    assert "in 20 steps" in page.locator(".mha-live-summary").inner_text()


@pytest.mark.parametrize("kind", LIVE)
def test_a_default_frame_that_comes_after_the_figure_is_hidden_as_long_as_that_stands(pages, kind):
    page = pages(kind)
    page.evaluate(MOUNT)
    page.wait_for_function(FINISHED)
    page.evaluate("""() => {
      const frame = document.createElement("figure");
      frame.dataset.fallback = (state.spec ?? state.laboratory).fallback;
      frame.textContent = "as it was";
      document.body.append(frame);
    }""")
    assert page.get_by_text("as it was").is_hidden()
    page.evaluate(CLOSE)
    assert page.get_by_text("as it was").is_visible()


FRAME = """() => {
  const frame = document.createElement("figure");
  frame.dataset.fallback = state.spec.fallback;
  frame.textContent = "as it was";
  document.body.append(frame);
}"""


def test_of_equal_figures_each_hides_the_frame_before_it(open_widget):
    page = open_widget("figure")
    frames = page.get_by_text("as it was")

    def hidden():
        return [frame.is_hidden() for frame in frames.all()]

    for k in range(2):
        page.evaluate(FRAME)
        assert hidden() == [True] * k + [False], "a frame stands until its own figure does"
        page.evaluate("() => { window.former = window.shown; }")
        page.evaluate(MOUNT)
        page.wait_for_function(
            f"() => document.querySelectorAll('.mha-live[data-state=done]').length === {k + 1}"
        )
    assert hidden() == [True, True]
    page.evaluate(CLOSE)
    assert hidden() == [True, False]
    page.evaluate("() => former.close()")
    assert hidden() == [False, False]
    page.close()


def test_a_figure_that_is_drawn_before_it_is_put_into_the_page_finds_its_frame(open_widget):
    page = open_widget("figure")
    page.evaluate(FRAME)
    page.evaluate("""() => {
      document.body.append = () => {};
      window.shown = mount(made, state);
      delete document.body.append;
    }""")
    assert page.get_by_text("as it was").is_visible()
    page.evaluate("() => document.body.append(shown.el)")
    page.get_by_text("as it was").wait_for(state="hidden")
    page.close()


REFUSING = "() => { window.asked = true; throw new Error('no kernel'); }"
HOSTS = {
    "leaves out what speaks to a kernel": "{ get, set: () => { window.asked = true; } }",
    "refuses it": "{ get, "
    + ", ".join(f"{name}: {REFUSING}" for name in ("on", "off", "set", "send"))
    + " }",
}


@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
@pytest.mark.parametrize("kind", LIVE)
def test_a_figure_lives_on_a_page_whose_model(pages, kind, host):
    """MyST's own directive and marimo give a model of this kind."""
    page = pages(kind)
    page.evaluate(f"""() => {{
      const get = (name) => structuredClone(state[name]), el = document.createElement("div");
      document.body.append(el);
      window.shown = {{ el, close: made.render({{ model: {host}, el }}) }};
      window.asked = false;
    }}""")
    page.wait_for_function(FINISHED)
    page.evaluate("""() => {
      window.redrawn = false;
      shown.el.firstChild.addEventListener("mha-drawn", ({ detail }) => { window.redrawn = detail.done; });
    }""")
    page.evaluate(MOVE)
    page.wait_for_function("() => redrawn")
    # the values go to the kernel when nothing has moved for a while
    page.wait_for_function("() => asked")
    page.evaluate(CLOSE)
    assert not page.complaints


@pytest.mark.parametrize("kind", LIVE)
def test_a_frame_that_cannot_be_drawn_says_so(pages, kind):
    page = pages(kind)
    page.evaluate("""() => {
      window.whole = Plotly.react;
      Plotly.react = async () => { throw new Error("no room"); };
      window.shown = mount(made, state);
    }""")
    page.wait_for_function('() => shown.el.querySelector("[data-state=failed]")')
    assert "could not train: no room" in page.locator(".mha-live-summary").inner_text()
    page.evaluate(CLOSE)
    page.evaluate("() => { Plotly.react = whole; }")
    assert not page.complaints


@pytest.mark.parametrize("mounted", MADE, indirect=True)
def test_what_takes_the_focus_keeps_its_keys_from_jupyterlab(mounted):
    takes = mounted.evaluate("""() => [...shown.el.querySelectorAll("button, input, select, summary, [tabindex]")]
      .map((node) => [node.tagName, node.dataset.lmSuppressShortcuts])""")
    assert takes and all(keeps == "true" for _, keeps in takes), takes


@pytest.mark.parametrize("mounted", ["own"], indirect=True)
def test_a_button_sets_a_telling_case_and_says_that_it_is_set(mounted):
    pressed = """() => [...shown.el.querySelectorAll(".mha-tries [aria-pressed]")]
      .map((one) => one.getAttribute("aria-pressed"))"""
    mounted.wait_for_function(FINISHED)
    assert mounted.evaluate(pressed) == ["true", "false"]
    mounted.get_by_role("button", name="Ten times the step").click()
    mounted.wait_for_function(FINISHED)
    assert mounted.evaluate(pressed) == ["false", "true"]
    assert "η = 10:" in mounted.locator(".mha-live-summary").text_content()
    mounted.get_by_role("slider", name="step size η").press("ArrowLeft")
    assert mounted.evaluate(pressed) == ["true", "false"]


TAKEN = {
    "the browser says so": '[["pointerdown"], ["pointercancel"]]',
    "it goes upward": '[["pointerdown"], ["pointermove", { clientY: -20 }], ["pointerup"]]',
}


@pytest.mark.parametrize("events", TAKEN.values(), ids=TAKEN)
@pytest.mark.parametrize("mounted", ["figure"], indirect=True)
def test_a_slider_from_which_the_page_takes_the_finger_goes_back_even_if_it_moves_late(
    mounted, events
):
    slider = mounted.locator("input[type=range]").first
    before = slider.input_value()
    slider.evaluate(f"""(input) => {{
      for (const [name, where] of {events})
        input.dispatchEvent(new PointerEvent(name, {{ pointerType: "touch", ...where }}));
      input.value = input.value === input.max ? input.min : input.max;
      input.dispatchEvent(new Event("input"));
    }}""")
    assert slider.input_value() == before
    slider.press("ArrowLeft")
    slider.press("ArrowLeft")
    assert slider.input_value() != before, "keys move it as before"


lab = pytest.mark.parametrize("mounted", ["laboratory"], indirect=True)


@lab
def test_the_file_that_was_opened_last_is_the_one_that_trains(mounted):
    mounted.wait_for_function(FINISHED)
    mounted.evaluate("""() => {
      const { arrayBuffer } = Blob.prototype;
      const later = new Promise((go) => { window.letGo = go; });
      Blob.prototype.arrayBuffer = async function () {
        if (this.name === "slow.csv") await later;
        return arrayBuffer.call(this);
      };
      for (const name of ["slow.csv", "quick.csv"]) {
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(["x1,x2,y1\\n1,2,3\\n2,1,0\\n0,1,1\\n"], name));
        const init = { dataTransfer, bubbles: true, cancelable: true };
        shown.el.firstChild.dispatchEvent(new DragEvent("drop", init));
      }
    }""")
    note = mounted.locator(".mha-note")
    note.filter(has_text="“quick.csv” is open").wait_for()
    mounted.evaluate("async () => { letGo(); await new Promise((go) => setTimeout(go)); }")
    assert "quick.csv" in note.inner_text()
    assert 'from_file("quick.csv")' in mounted.locator(".mha-lines").text_content()


@lab
def test_a_figure_that_cannot_be_saved_says_so(mounted):
    mounted.wait_for_function(FINISHED)
    mounted.evaluate("() => { Plotly.toImage = async () => { throw new Error('no memory'); }; }")
    mounted.get_by_role("button", name="figure, PNG").click()
    mounted.locator(".mha-note").filter(has_text="no memory").wait_for()


@pytest.fixture
def half_a_page():
    """Serve a page with one widget, of which the second half waits until it is asked for."""
    module = "export default { render: ({ el }) => { el.id = 'live'; } };"
    state, view = {"state": {"m": {"state": {"_esm": module}}}}, json.dumps({"model_id": "m"})
    script = '<script type="application/vnd.jupyter.widget-{}+json">{}</script>'.format
    page = f'<script src="/live.js"></script>{script("state", json.dumps(state))}<div>{script("view", view)}</div>'
    at, wanted = page.index(view) + 8, threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            script = self.path == "/live.js"
            self.send_response(200)
            self.send_header(
                "Content-Type", "text/javascript" if script else "text/html; charset=utf-8"
            )
            self.end_headers()
            self.wfile.write(LIVE_JS.read_bytes() if script else page[:at].encode())
            if script:
                return
            self.wfile.flush()
            wanted.wait()
            self.wfile.write(page[at:].encode())

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/page", wanted
    wanted.set()
    server.shutdown()


def test_a_figure_of_which_the_browser_has_read_a_part_waits_for_the_rest(chromium, half_a_page):
    address, rest = half_a_page
    page, complaints = chromium.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address, wait_until="commit")
    page.wait_for_function(
        "() => document.querySelector('script[type*=widget-view]')?.textContent", polling=10
    )
    rest.set()
    page.locator("#live").wait_for(state="attached")
    assert not complaints
    page.close()
