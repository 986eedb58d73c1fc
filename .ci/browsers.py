"""Open every page of the built book in Firefox or in WebKit, Safari's engine: `.ci/browsers.py
firefox [PAGE ...]`.

Pages are opened as a reader opens them, from the disk. Every slider of every live figure goes to
both ends, every field gets its answer, and the page is made as narrow as the browser lets it.

Firefox needs geckodriver; WebKit is WebKitGTK with its driver and a screen: on Debian and Ubuntu
`apt install webkit2gtk-driver xvfb`, then `xvfb-run make browsers BROWSER=webkit`.
"""

import json
import os
import sys
from pathlib import Path

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.webkitgtk.options import Options as WebKitOptions

from mhabook.exercises import QUESTIONS

BUILD = Path(__file__).resolve().parents[1] / "_build" / "html"
PATIENCE = 3600  # seconds for a page: the laboratory has a hundred moves
# Lists what is wrong with a page, and counts what was looked at.
LOOK = """(answers) => (async () => {
  const faults = [], all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const soon = (milliseconds) => new Promise((go) => setTimeout(go, milliseconds));
  window.addEventListener("error", ({ message }) => message.includes("ResizeObserver") || faults.push(message));
  for (const box of all("details")) box.open = true;

  const typeset = (box) => box.querySelector("mjx-container") && !box.querySelector("mjx-merror");
  const plain = all(".math").filter((box) => !typeset(box)).length;
  if (plain) faults.push(`${plain} formulas are not typeset`);
  const asked = new Set(all("mjx-c").flatMap((letter) => getComputedStyle(letter).fontFamily.split(", ")));
  const absent = () => [...document.fonts].filter(({ family, status }) =>
    ["MJXTEX", "MJXTEX-I"].includes(family) && asked.has(family) && status !== "loaded"); // of letters and digits
  for (let k = 0; k < 1200 && absent().length; k++) await soon(50);
  if (absent().length) faults.push(`formulas lack ${absent().map((font) => font.family).join(", ")}`);

  const widgets = all("script[type='application/vnd.jupyter.widget-view+json']").length;
  const came = () => all(".jupyter-widgets > *").length;
  for (let k = 0; k < 1200 && came() < widgets; k++) await soon(50);
  if (came() < widgets) faults.push(`only ${came()} of ${widgets} widgets came`);

  const parts = all(".mha-part"), figures = all(".mha-live");
  for (const part of parts) {
    const asked = part.querySelector("label").textContent, input = part.querySelector("input");
    input.value = answers[asked];
    input.dispatchEvent(new Event("input", { bubbles: true }));
    all("button", part).find((button) => button.textContent === "Check").click();
    await soon(5);
    const said = part.querySelector("[role=status]").textContent;
    if (!said.startsWith("Right")) faults.push(`${asked}: ${said}`);
  }

  let moves = 0;
  for (const figure of figures) {
    const settled = async (what) => {
      for (let k = 0; k < 1200 && !/done|failed/.test(figure.dataset.state); k++) await soon(50);
      const { state, place } = figure.dataset, words = figure.querySelector(".mha-live-summary").textContent;
      const ended = `${figure.getAttribute("aria-label")}, ${what}: ${state} in the ${place}. ${words}`;
      if (state !== "done" || !words) faults.push(ended);
    };
    await settled("at the start");
    for (const slider of all("input[type=range]", figure)) {
      const was = slider.value;
      const move = (value) => {
        slider.value = value;
        slider.dispatchEvent(new Event("input", { bubbles: true }));
      };
      for (const value of [slider.min, slider.max]) {
        move(value);
        await soon(30);
        await settled(`${slider.dataset.control} at ${value} of ${slider.max}`);
        moves++;
      }
      move(was); // its run is ended by the next move
    }
  }
  return [faults, parts.length, figures.length, moves];
})()"""
WIDER = "const root = document.documentElement; return [root.clientWidth, root.scrollWidth - root.clientWidth]"


def start(name):
    """Start a browser by its driver."""
    os.environ |= {"SE_AVOID_STATS": "true"}  # selenium reports no use
    if name == "firefox":
        options = webdriver.FirefoxOptions()
        options.add_argument("--headless")
        driver = webdriver.Firefox(options=options)
    else:
        options = WebKitOptions()
        # The small browser beside the library. Its sandbox needs rights that containers lack; the
        # pages are ours.
        options.binary_location = str(next(Path("/usr/lib").glob("*/webkit*gtk-*/MiniBrowser")))
        options.add_argument("--automation")
        # or each error is "Script error."
        options.add_argument("--allow-file-access-from-file-urls=true")
        os.environ |= {"WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1"}
        driver = webdriver.WebKitGTK(options=options)
    driver.set_script_timeout(PATIENCE)
    # or it gives up the page after two minutes
    driver.command_executor.client_config.timeout = 2 * PATIENCE
    return driver


def look(driver, path, answers):
    """Open a page; what is wrong with it, and how many fields, figures and moves were tried."""
    driver.set_window_size(1100, 900)
    driver.get(path.as_uri())
    call = f"const done = arguments[1]; ({LOOK})(arguments[0]).then(done, (error) => done([[String(error)], 0, 0, 0]))"
    faults, *counts = driver.execute_async_script(call, answers)
    driver.set_window_size(390, 900)
    width, beyond = driver.execute_script(WIDER)
    return faults + [f"scrolls sideways at {width} pixels"] * (beyond > 0), counts


def main():
    name, *pages = sys.argv[1:] or ["firefox"]
    if name not in ("firefox", "webkit"):
        raise SystemExit(f"expected firefox or webkit, got {name}")
    if not BUILD.is_dir():
        raise SystemExit("no built book at _build/html: run `make book` first")
    paths = [BUILD / page for page in pages] or sorted(
        p for p in BUILD.rglob("*.html") if "_static" not in p.parts
    )
    answers = {
        question.ask: question.answer for questions in QUESTIONS.values() for question in questions
    }
    try:
        driver = start(name)
    except (WebDriverException, StopIteration) as error:
        raise SystemExit(f"{name} or its driver cannot be started: {error}\n{__doc__}") from error
    print(f"== {name} {driver.capabilities['browserVersion']}")
    total, failed = [0, 0, 0], 0
    for path in paths:
        faults, counts = look(driver, path, answers)
        total = [a + b for a, b in zip(total, counts, strict=True)]
        failed += bool(faults)
        print(
            path.relative_to(BUILD),
            *counts,
            json.dumps(faults, ensure_ascii=False) if faults else "",
            flush=True,
        )
    driver.quit()
    print(
        "{} pages, {} fields, {} live figures, {} moves: {} pages with faults".format(
            len(paths), *total, failed
        )
    )
    raise SystemExit(failed > 0)


if __name__ == "__main__":
    main()
