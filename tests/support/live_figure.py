"""A live figure on an open page, of the book or of JupyterLab: moved, and held to what mhalib
computes."""

import numpy as np

from figures import figure, followed, pictured
from legends import by_name
from visits import frames

DRAWN = """(root) => {
  const { data, layout } = root.querySelector(".js-plotly-plot"),
    places = Object.entries(layout).filter(([name]) => /^([xy]axis\\d*|annotations)$/.test(name));
  return JSON.parse(JSON.stringify({
    layout: Object.fromEntries(places),
    data: data.map(({ type, name, visible, xaxis, yaxis, x, y, z }) => (
      { type, name, visible, xaxis, yaxis, x: x && Array.from(x), y: y && Array.from(y), z })),
  }));
}"""
# Where the ink of every line ends, less where its last point belongs, in pixels; lines that leave
# the frame aside.
ENDS = """(root) => {
  const box = root.querySelector(".js-plotly-plot");
  return [...box.querySelectorAll(".scatterlayer .trace")].flatMap((drawn) => {
    const { index } = drawn.__data__[0].trace, { x, y, xaxis = "x", yaxis = "y" } = box.data[index];
    const at = (axis) => box._fullLayout[axis[0] + "axis" + axis.slice(1)];
    const [right, up] = [at(xaxis).d2p(x[x.length - 1]), at(yaxis).d2p(y[y.length - 1])];
    const line = drawn.querySelector("path.js-line");
    if (line === null || !(up <= at(yaxis)._length)) return [];
    const ink = line.getAttribute("d").match(/-?[\\d.]+,-?[\\d.]+$/)[0].split(",");
    return [[index, Number(ink[0]) - right, Number(ink[1]) - up]];
  });
}"""


class Live:
    """One live figure on an open page."""

    def __init__(self, visit, page, k):
        self.page, self.at, self.made = visit.page, (page, k), figure(page, k)
        self.root = visit.page.locator(".mha-live").nth(k)
        sliders = [name for name, control in self.made.controls.items() if control.kind == "slider"]
        self.slider = "lr" if "lr" in sliders else sliders[0]

    def input(self, name):
        return self.root.locator(f"[data-control={name}]")

    def settle(self):
        """Wait for the last run to be drawn; two frames later, so that a move just made has
        begun."""
        frames(self.page, 2)
        self.root.and_(self.page.locator("[data-state=done]")).wait_for()

    def press_reset(self):
        self.root.get_by_role("button", name="Reset").click()

    def reset(self):
        self.press_reset()
        self.settle()

    def assert_draws(self, **values):
        """Every line and picture is mhalib's, for these values and the others at the start.

        What belongs together is found by the title of its panel and its name in the legend; the run
        before, which test_saved looks at, depends on what was set before.
        """
        self.settle()
        right, loss = pictured(self.made, values)
        wanted, found = by_name(right), by_name(self.root.evaluate(DRAWN))
        if not values:  # the lines of the default settings are not drawn under themselves
            spec = self.made.spec
            default = {
                spec["figure"]["data"][part["trace"]]["name"]
                for part in spec["draw"]
                if part.get("once")
            }
            wanted = {place: traces for place, traces in wanted.items() if place[1] not in default}
        assert {place for place in found if place[1] != "the run before"} == set(wanted)
        same = followed(self.made, values)
        kept = same & (loss > 1e-12)
        for place, traces in wanted.items():
            for drawn, trace in zip(found[place], traces, strict=True):
                if same.all() or np.shape(trace.get("y")) == same.shape:
                    assert_same_numbers(drawn, trace, kept, f"{place} at {values}")
        ends = self.root.evaluate(ENDS)
        assert ends and all(abs(right) < 1 and abs(up) < 1 for _, right, up in ends), (values, ends)

    def drag(self, name, value):
        """Move a control by mouse: a slider by its thumb, a menu by its entry, a switch by a
        click."""
        control, input = self.made.controls[name], self.input(name)
        if control.kind == "choice":
            input.select_option(control.texts[control.values.index(value)])
        elif control.kind == "switch":
            input.set_checked(value)
        else:
            self.slide(input, control.values.index(value) / (len(control.values) - 1))

    def slide(self, input, share, hops=4):
        input.scroll_into_view_if_needed()
        box, now = input.bounding_box(), input.evaluate("(node) => node.value / node.max")
        x, y = (
            (lambda part: box["x"] + 8 + part * (box["width"] - 16)),
            box["y"] + box["height"] / 2,
        )
        self.page.mouse.move(x(now), y)
        self.page.mouse.down()
        self.page.mouse.move(x(share), y, steps=hops)
        self.page.mouse.up()

    def type(self, name, value):
        """Move a control by keyboard alone."""
        control, input = self.made.controls[name], self.input(name)
        at, last = control.values.index(value), len(control.values) - 1
        input.focus()
        if control.kind == "switch":
            if input.is_checked() != value:
                input.press("Space")
            return
        arrow = "ArrowDown" if control.kind == "choice" else "ArrowRight"
        for key in ["End"] if at == last else ["Home", *[arrow] * at]:
            input.press(key)


def assert_same_numbers(drawn, trace, kept, where):
    """Two traces have the same numbers; those of a run are compared in the records that are
    ``kept``."""
    for part in "xyz":
        if trace.get(part) is None:
            continue
        found, right = (np.array(one[part], dtype=float) for one in (drawn, trace))
        these = kept if right.shape == kept.shape else ...
        if part == "z":
            np.testing.assert_allclose(found, right, rtol=0, atol=1e-9, err_msg=where)
        else:
            rounding = 1e-14 * np.nanmax(abs(right), initial=1)
            np.testing.assert_allclose(
                found[these], right[these], rtol=1e-9, atol=rounding, err_msg=f"{part} of {where}"
            )
