"""A figure saved as one file: it opens from a disk, with the network cut, and trains there."""

from types import SimpleNamespace

import numpy as np
import pytest

import mhalib as mha
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
    assert file.stat().st_size < 1.8e6
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
        np.testing.assert_allclose(drawn, figure.path(**{name: value}).loss, rtol=1e-9)
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
            ".filter((line) => line.line.width === 1.5 && line.visible !== 'legendonly' && line.yaxis !== 'y2')"
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
