"""A figure saved as one file: it opens from a disk, with the network cut, and trains there."""

from types import SimpleNamespace

import numpy as np
import pytest

import mhalib as mha
from figures import figure as of_the_book
from own import FIGURES, LINE_DATA, Line

SCRIPT = "</script><script>document.title = 'taken over'</script>"
NAMES = ("z = 0;document.title = 'taken over'//", SCRIPT, "<!-- <script>", "test-set")


def strange():
    """A figure that was handed names, and a title, that would be programs."""
    data, start = SimpleNamespace(X=LINE_DATA.X, y=LINE_DATA.y), Line(np.zeros(3))
    vars(data).update({name: np.arange(20.0) for name in NAMES})
    curves = {
        name: lambda model, data, k=k: (vars(data)[NAMES[k]] * (data.X @ model.w)).sum()
        for k, name in enumerate(("__proto__", "constructor", "größe", "test_loss"))
    }
    return mha.live.figure(
        start, data, mha.GradientDescent(lr=0.1), 20, None, curves, f"<!-- <script> {SCRIPT}"
    )


def heads():
    return mha.live.heads(mha.data.tokenized_mixture(n=6, T=4, d=6, M=2, zeta=0.25), steps=12)


MADE = FIGURES | {"heads": heads, "names that would be programs": strange}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_a_saved_figure_trains_from_a_disk_without_a_network(chromium, tmp_path, make):
    figure, file, complaints = make(), tmp_path / "figure.html", []
    figure.save(file)
    assert file.stat().st_size < 0.95e6
    context = chromium.new_context(offline=True)
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.goto(file.as_uri())
    page.locator(".mha-live[data-state=done]").wait_for()
    name, control = next(iter(figure.controls.items()))
    for key, value in (("Home", control.values[0]), ("End", control.values[-1])):
        page.locator("input[type=range]").first.press(key)
        page.locator(".mha-live[data-state=done]").wait_for()
        drawn = page.evaluate(
            "() => Array.from(document.querySelector('.js-plotly-plot').data[1].y)"
        )
        # step 0 is not drawn where its axis does not show it
        found, loss = np.array(drawn, dtype=float)[1:], figure.path(**{name: value}).loss[1:]
        np.testing.assert_allclose(found, loss, rtol=1e-9)
    said = page.locator(".mha-live-summary").inner_text()
    assert not any(word in said for word in ("{", "undefined", "NaN")), said
    assert complaints == [] and page.title() == figure.spec["title"]
    assert page.locator(".mha-live-title").inner_text() == figure.spec["title"]
    context.close()


def test_the_default_run_and_the_run_before_stay_beside_the_run(chromium, tmp_path):
    figure, file = heads(), tmp_path / "figure.html"
    figure.save(file)
    page = chromium.new_page()
    page.goto(file.as_uri())

    def gray():
        """What is drawn of gray lines in the first panel: name → its last loss."""
        page.locator(".mha-live[data-state=done]").wait_for()
        return page.evaluate(
            "() => Object.fromEntries(document.querySelector('.js-plotly-plot').data"
            ".filter((line) => line.line.width === 1.5 && line.visible !== false && line.yaxis !== 'y2')"
            ".map((line) => [line.name, line.y.at(-1)]))"
        )

    def loss(heads):
        return pytest.approx(float(figure.path(H=heads).loss[-1]), rel=1e-9)

    assert gray() == {}, "at the start they would lie under the run"
    slider = page.locator("input[type=range]").first
    slider.press("ArrowRight")
    assert gray() == {"default settings": loss(1)}, "the run before was the default one"
    slider.press("ArrowRight")
    assert gray() == {"default settings": loss(1), "the run before": loss(2)}
    page.get_by_role("button", name="Reset").click()
    assert gray() == {}
    page.close()


NAMED = """() => {
  const box = document.querySelector(".js-plotly-plot"), place = (node) => node.getBoundingClientRect();
  const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom - 4 && b.top < a.bottom - 4;
  const words = [...box.querySelectorAll(".legendtext, .annotation-text, .mha-ends text, .xtick text, .xtitle")];
  const over = words.filter((one) => words.some((two) => two !== one && meet(place(one), place(two))));
  const legends = [...box.querySelectorAll("g")].filter(({ classList }) => /^legend\\d*$/.test(classList[0]));
  const above = (one) => {
    const k = one.classList[0].slice(6), { left, top } = place(box);
    const { xaxis, yaxis } = box._fullLayout._plots[`x${k}y${k}`];
    return [place(one).left - left - xaxis._offset, place(one).bottom - top - yaxis._offset].map(Math.round);
  };
  const named = [...box.querySelectorAll(".mha-ends text")], ends = named.map((one) => one.textContent);
  const lies = (line, { left, right, top, bottom }) => {
    const to = line.getScreenCTM(), long = line.getTotalLength();
    return Array.from({ length: long }, (_, k) => line.getPointAtLength(k).matrixTransform(to))
      .some(({ x, y }) => x > left && x < right && y > top + 4 && y < bottom - 4);
  };
  const lines = [...box.querySelectorAll(".scatterlayer .js-line")];
  const on = named.filter((one) => lines.some((line) => lies(line, place(one)))).map((one) => one.textContent);
  return { on, over: over.map((one) => one.textContent), above: legends.map(above), ends };
}"""
PICTURES = {
    "two rows of panels": ("book/kernels/14_further.html", 0),
    "names in two panels": ("book/multihead/04_why_training_cannot_get_lost.html", 0),
    "names of one panel": ("book/multihead/01_a_small_attention_model.html", 0),
}


@pytest.mark.parametrize("place", PICTURES.values(), ids=PICTURES)
def test_the_names_of_lines_stand_on_their_panel_or_in_it_and_touch_nothing(
    chromium, tmp_path, place
):
    file = tmp_path / "figure.html"
    of_the_book(*place).save(file)
    page = chromium.new_page()
    for width, height in ((716, 1100), (716, 700), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(file.as_uri())
        for key in ("", "ArrowLeft", "ArrowLeft"):  # with the gray lines of two runs before
            if key:
                page.locator("input[type=range]").first.press(key)
            page.locator(".mha-live[data-state=done]").wait_for()
            found = page.evaluate(NAMED)
            assert not found["over"], f"{width} px: {found['over']}"
            assert found["ends"] and set(map(tuple, found["above"])) <= {(0, 0)}, width
    page.close()


def test_the_names_of_lines_lie_on_no_line_where_there_is_room(chromium, tmp_path):
    file = tmp_path / "figure.html"
    of_the_book(*PICTURES["names in two panels"]).save(file)
    page = chromium.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page.goto(file.as_uri())
    page.locator(".mha-live[data-state=done]").wait_for()
    found = page.evaluate(NAMED)
    assert len(found["ends"]) > 4
    assert not [text for text in found["on"] if " " in text], "a number alone has no such space"
    page.close()
