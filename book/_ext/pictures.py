"""Give each figure of the built book a picture that stands where no script runs: ``python
book/_ext/pictures.py``.

plotly draws it, in the Chromium that prints and tests the pages. Without Chromium the alt text
stands alone.
"""

import re
import sys
from collections.abc import Sequence
from contextlib import closing
from html import escape, unescape
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parent))
import chromium
from chromium import PATIENCE, SITE

HTML = Path(__file__).parents[2] / "_build" / "html"
WIDTH = 700  # pixels, as wide as the text of a page at a desk
# What mhabook/_render.py and live/widget.py write; the words of a live figure give way to its
# picture.
WORDS = re.compile(
    r'(?:(?P<box><div class="mha-drawing" style="[^"]*)">)?'
    r'(?P<words>(?P<below><noscript>)?<p class="mha-alt"[^>]*>(?P<alt>.*?)</p>)',
    re.DOTALL,
)
# Names that plotly gives to parts of a picture, and where it uses them.
NAMES = re.compile(r"""(?<=\bid=")[^"]+|(?<=url\(#)[\w-]+|(?<=url\('#)[\w-]+""")
# What a picture can spare: numbers finer than a tenth of a pixel in lines and a hundredth
# elsewhere, font and color of its words, which are the page's, what holds anyway, and names of its
# parts that no style and no test asks for.
NUMBERS = re.compile(r'(?<= )(d|x|y|width|height)="[^"]*"')
SPARED = re.compile(
    r"(?<=[ \";])(font-family: [^;\"]+|fill: rgb\(42, 63, 95\)|vector-effect: none|"
    r"((stroke|fill)-)?opacity: 1|white-space: pre|stroke-miterlimit: 2); ?"
)
CLASS = re.compile(r' class="([^"]*)"')
ASKED = re.compile(
    "(grid|zeroline|hover)layer|[xy]lines-above|slider-.*|[xy]tick|g?title|[xy]title|legendtext"
)
DRAWN = """() => {
  const count = (selector) => document.querySelectorAll(selector).length;
  if (count(".mha-live[data-state=failed]")) throw new Error("a live figure could not train");
  return !count(".mha-figure:not(:has(.main-svg))") && count(".mha-live[data-state=done]") === count(".mha-fallback");
}"""
# Plotly draws a trace that it does not know as one that it does.
UNKNOWN = """() => {
  const known = Plotly.PlotSchema.get().traces, boxes = [...document.querySelectorAll(".js-plotly-plot")];
  return [...new Set(boxes.flatMap((box) => box.data.map((trace) => trace.type ?? "scatter")))]
    .filter((type) => !(type in known));
}"""
# Each picture; of a live figure what stands above and below it, and its height on a desk and on a
# phone, so that the page keeps the room that the figure takes; of a still one its height on a
# phone, where figures.js stacks its panels.
DRAW = """async (width) => {
  const boxes = [...document.querySelectorAll(".js-plotly-plot")], high = (box) => box.layout.height ?? 450;
  const drawn = await Promise.all(boxes.map((box) =>
    Plotly.toImage(box, { width, height: high(box), format: "svg", imageDataOnly: true })));
  const desk = boxes.map(high);
  document.body.style.width = "358px";
  const isWide = (box) => box.closest(".mha-live") && box.layout.width > 358;
  for (let k = 0; k < 3 || boxes.some(isWide); k++) await new Promise(requestAnimationFrame);
  const text = (box, parts) => [...box.closest(".mha-live").querySelectorAll(parts)].map((part) => {
    part.querySelectorAll("input").forEach((input) => {
      if (input.type === "range") input.setAttribute("value", input.value);
      else input.toggleAttribute("checked", input.checked);
    });
    part.querySelectorAll("option").forEach((one) => one.toggleAttribute("selected", one.selected));
    return part.outerHTML.replace(/ (id|for|data-[\\w-]+)="[^"]*"/g, "");
  }).join("");
  const rest = (box, k) => {
    const still = box.closest(".mha-figure");
    if (still) return { phone: window.mhaPhoneHeight(still) };
    return box.closest(".mha-live:has(> .mha-controls)") && {
      above: text(box, ":scope > :is(.mha-tries, .mha-controls, .mha-hint)"),
      below: text(box, ":scope > .mha-live-summary"),
      heights: [desk[k], high(box)],
    };
  };
  return boxes.map((box, k) => ({ svg: drawn[k], ...rest(box, k) }));
}"""


def workbench(browser: Browser, folder: Path) -> Page:
    """A page that has read plotly.js, for one page of the book after the other: reading it takes
    longer than drawing.

    Of what a page asks for it gets figures.js and live.js alone.
    """
    page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page.set_default_timeout(PATIENCE)
    page.route("**/*", lambda route: route.abort())
    page.route(
        "**/figures.js*", lambda route: route.fulfill(path=folder / "_static" / "figures.js")
    )
    page.route("**/live.js*", lambda route: route.fulfill(path=folder / "_static" / "live.js"))
    page.route(SITE, lambda route: route.fulfill(body="", content_type="text/html"))
    page.goto(SITE)
    page.add_script_tag(path=folder / "_static" / "vendor" / "plotly-cartesian.min.js")
    return page


def pictures(bench: Page, html: str) -> list[dict[str, Any]]:
    """The figures of a page as plotly draws them, in their order, each an ``<svg>``, and what is
    around a live one.

    Raises ValueError where a figure has a trace that the page's plotly.js does not know.
    """
    bench.set_content(html)
    bench.wait_for_function(DRAWN)
    if unknown := bench.evaluate(UNKNOWN):
        raise ValueError(
            f"the page's plotly.js cannot draw {', '.join(unknown)}: vendor another of its bundles"
        )
    return bench.evaluate(DRAW, WIDTH)


def placed(html: str, drawn: list[dict[str, Any]]) -> str:
    """The page with its pictures.

    Raises ValueError where a figure has none.
    """
    if len(WORDS.findall(html)) != len(drawn):
        raise ValueError(
            f"the page has {len(WORDS.findall(html))} figures, and {len(drawn)} pictures"
        )
    numbered = enumerate(drawn)

    def put(words: re.Match[str]) -> str:
        number, made = next(numbered)
        svg = picture(made["svg"], number, unescape(words["alt"]))
        box = f'{words["box"]}; --phone: {made["phone"]}px">' if words["box"] else ""
        return box + room(svg, **made) + (words["words"] if words["below"] else "")

    return WORDS.sub(put, html)


def room(
    picture: str, above: str = "", below: str = "", heights: Sequence[int] = (), **made: Any
) -> str:
    """A picture with what stands around it in its live figure, for the eye alone and out of the
    keyboard's reach."""
    if not heights:
        return picture
    high = 'style="--desk: {}px; --phone: {}px" '.format(*heights)
    around = [
        f'<div class="mha-around" inert aria-hidden="true">{part}</div>' for part in (above, below)
    ]
    return picture.replace("<svg ", f"<svg {high}", 1).join(around)


def picture(svg: str, number: int, alt: str) -> str:
    """A picture as a part of a page: as wide as there is room, with alt text, and with names that
    no other has."""
    names: dict[str, str] = {}
    svg = CLASS.sub(named, NUMBERS.sub(rounded, SPARED.sub("", svg)))
    svg = NAMES.sub(
        lambda name: names.setdefault(name[0], f"mha-picture-{number}-{len(names)}"), svg
    )
    box = re.search(r'viewBox="[^"]*"', svg)[0]
    return re.sub(
        "<svg[^>]*>",
        f'<svg class="mha-picture" role="img" aria-label="{escape(alt)}" {box}>',
        svg,
        count=1,
    )


def rounded(attribute: re.Match[str]) -> str:
    """Its numbers with one decimal in a line, with two elsewhere."""
    return re.sub(rf"(\.\d{{{1 if attribute[1] == 'd' else 2}}})\d+", r"\1", attribute[0])


def named(attribute: re.Match[str]) -> str:
    """Those of its names that something asks for."""
    names = " ".join(filter(ASKED.fullmatch, attribute[1].split()))
    return f' class="{names}"' if names else ""


def fill(folder: Path, browser: Browser) -> int:
    """Give all pages of a built book their pictures; returns how many."""
    bench, total = workbench(browser, folder), 0
    for path in sorted(folder.rglob("*.html")):
        html = path.read_text("utf-8")
        if WORDS.search(html) and 'class="mha-picture"' not in html:
            drawn = pictures(bench, html)
            path.write_text(placed(html, drawn), "utf-8")
            still = [made["svg"] for made in drawn if not made.get("heights")]
            # the page's menu of a figure says where it is (figure_menu.js)
            for number, svg in enumerate(still, 1):
                file = folder / "figures" / f"{path.stem}-{number}.svg"
                file.parent.mkdir(exist_ok=True)
                file.write_text(
                    re.sub(r'^(<svg [^>]*?style=")', r"\1background: white; ", svg), "utf-8"
                )
            total += len(drawn)
    bench.close()
    return total


def main(folder: Path = HTML) -> None:
    if chromium.path() is None:
        print(
            "   no Chromium (`make chromium` says how to get it): where no script runs, figures "
            "are their alt text"
        )
        return
    with sync_playwright() as playwright, closing(chromium.launch(playwright)) as browser:
        print(f"   {fill(folder, browser)} pictures")


if __name__ == "__main__":
    main()
