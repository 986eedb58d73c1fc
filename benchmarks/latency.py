"""How long a reader waits for a live figure of the built book, in Chromium: `make latency`.

For every live figure, over 50 moves of a slider to another value: from the slider's event to the
first frame drawn, and to the whole curve. At last, the longest tasks of the laboratory
(`blocks.py`). How long a page takes to its first curve is measured by `opening.py`. Nothing is
judged; the numbers are for reading, and they hold for the machine at that moment.
"""

import os
import statistics
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks import blocks

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "book" / "_ext"))
import chromium  # noqa: E402

BUILD = ROOT / "_build" / "html"
MOVES = 50
MOVE = """async (root, [control, moves]) => {
  const input = root.querySelector(`[data-control=${control}]`), waits = [];
  for (let k = 0; k < moves; k++) {
    const before = Number(input.value), others = Number(input.max);
    input.value = (before + 1 + ((7 * k) % others)) % (others + 1); // another value, in a fixed order
    const began = performance.now();
    let first = null;
    await new Promise((done) => {
      const hear = ({ detail }) => {
        first ??= performance.now() - began;
        if (!detail.done) return;
        root.removeEventListener("mha-drawn", hear);
        waits.push([first, performance.now() - began]);
        done();
      };
      root.addEventListener("mha-drawn", hear);
      input.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await new Promise((go) => setTimeout(go, 250)); // the kernel's copy of the values is saved meanwhile
  }
  return waits;
}"""


def row(label, values):
    """Print the name, the minimum, the median and the 95th percentile of a list of milliseconds."""
    p95 = statistics.quantiles(values, n=20)[-1]
    print(f"  {label:<52}{min(values):>8.0f}{statistics.median(values):>8.0f}{p95:>8.0f}")


def measure_page(browser, site, path):
    """Print the rows of one page."""
    page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page.goto(f"{site}/{path.relative_to(BUILD).as_posix()}")
    page.wait_for_selector(".mha-live", timeout=60_000)
    print(f"{path.stem}: {path.stat().st_size / 1e6:.2f} MB")
    for root in page.locator(".mha-live").all():
        page.wait_for_function(
            "(root) => root.dataset.state === 'done'", arg=root.element_handle(), timeout=60_000
        )
        title = root.locator(".mha-live-title").inner_text()
        for control in root.locator("input[type=range]").all():
            name = control.get_attribute("data-control")
            first, whole = zip(*root.evaluate(MOVE, [name, MOVES]), strict=True)
            row(f"{title[:30]}: {name}, first frame", first)
            row(f"{' ' * len(title[:30])}  {name}, whole curve", whole)
            root.get_by_role("button", name="Reset").click()
            page.wait_for_timeout(500)
    page.close()


def main():
    """Serve the built book and measure every page that holds a live figure."""
    pages = [
        path
        for path in sorted(BUILD.rglob("book/**/*.html"))
        if "mha-fallback" in path.read_text("utf-8")
    ]
    if not pages:
        raise SystemExit("no built book with live figures at _build/html: run `make book` first")
    quiet = type("Quiet", (SimpleHTTPRequestHandler,), {"log_message": lambda *args: None})
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(quiet, directory=BUILD))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(
        f"milliseconds over {MOVES} moves; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n"
        f"{'':<54}{'min':>8}{'p50':>8}{'p95':>8}"
    )
    with sync_playwright() as playwright:
        browser, site = chromium.launch(playwright), f"http://127.0.0.1:{server.server_port}"
        for path in pages:
            measure_page(browser, site, path)
        blocks.measure(browser, site)
        browser.close()


if __name__ == "__main__":
    main()
