"""axe-core, which looks for what shuts readers out: missing names, low contrasts, roles that
lie."""

from importlib.resources import files

# Taken out while it looks, for it needs minutes for them: formulas, which MathJax wrote, which are
# most of a page's elements, and in none of which it ever found anything; code of which every kind
# of token stands higher up on the page, in a box of the same kind; and all but the first forty
# entries of the page of the package, which are of one pattern. That what scrolls is a stop of the
# keyboard has a test of its own. Where only colors are asked for, drawings go as well: axe does not
# measure their words, and a test of the pages does.
RUN = """async ([rules, without]) => {
  const finite = document.getAnimations().filter((a) => a.effect?.getComputedTiming().endTime < Infinity);
  await Promise.allSettled(finite.map((animation) => animation.finished));
  const entries = [...document.querySelectorAll("section > dl.py > dd")].slice(40);
  const kinds = new Set();
  const repeats = (pre) => {
    const place = [pre, pre.parentElement, pre.parentElement.parentElement].map((box) => box.className).join(" in ");
    const before = kinds.size;
    [pre, ...pre.querySelectorAll("*")].forEach((token) => kinds.add(`${token.className} in ${place}`));
    return kinds.size === before;
  };
  const code = [...document.querySelectorAll("pre")].filter((pre) => pre.checkVisibility()).filter(repeats);
  const silent = document.querySelectorAll(rules ? "mjx-container, svg" : "mjx-container");
  const emptied = [...silent, ...code, ...entries].map((box) => [box, [...box.childNodes]]);
  emptied.forEach(([box]) => box.replaceChildren());
  try {
    const { violations } = await axe.run(document, {
      resultTypes: ["violations"], elementRef: false, preload: false,
      ...(rules && { runOnly: { type: "rule", values: rules } }),
      rules: Object.fromEntries(without.map((name) => [name, { enabled: false }])),
    });
    return violations.filter(({ impact }) => impact === "serious" || impact === "critical").flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)}: ${failureSummary.slice(0, 300)}`));
  } finally {
    emptied.reverse().forEach(([box, parts]) => box.replaceChildren(...parts));
  }
}"""

# Boxes that scroll sideways, and that the keyboard cannot reach.
UNREACHED = """() => [...document.querySelectorAll(".bd-article *")].filter((box) =>
  box.scrollWidth > box.clientWidth + 1 && box.clientWidth > 0 && /auto|scroll/.test(getComputedStyle(box).overflowX)
  && box.tabIndex < 0 && !box.querySelector("a[href], button, input, select, [tabindex='0']"))
  .map((box) => box.outerHTML.slice(0, 160))"""


def assert_within_reach(page):
    """The keyboard reaches whatever scrolls sideways, or something in it."""
    assert not page.evaluate(UNREACHED)


COLORS = ["color-contrast", "link-in-text-block"]
"""The rules that another theme can break."""


def serious(page, rules=None, without=()):
    """What axe finds serious or critical on a page as it stands, by all of its rules, by some, or
    without some."""
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text("utf-8") + "; 0")
    return page.evaluate(RUN, [rules, [*without]])
