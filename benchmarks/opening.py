"""How long a page that is opened cold lets its reader wait for its first live curve: `make
opening`.

Every page is opened so many times in a fresh context of Chromium: as the machine is, and as a
slower one on a slower line (10 Mbit/s, 40 ms, a processor four times slower), from a server that
compresses as those of published books do. Other built books can be named, to be compared: all are
opened in turn, so that a busy moment hits all alike. Nothing is judged; the medians are for
reading, and they hold for the machine at that moment.
"""

import argparse
import gzip
import json
import os
import statistics
import sys
import threading
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "book" / "_ext"))
import chromium  # noqa: E402

BUILD = ROOT / "_build" / "html"
PAGES = (
    "index",
    "multihead/01_a_small_attention_model",
    "multihead/04_why_training_cannot_get_lost",
    "laboratory/17_laboratory",
)
LINE = {
    "offline": False,
    "latency": 40,
    "downloadThroughput": 10e6 / 8,
    "uploadThroughput": 10e6 / 8,
}
NAMES = (
    "first paint",
    "parsed",
    "plotly asked",
    "plotly came",
    "plotly ran",
    "live curve",
    "kB",
    "shift × 1000",
    "of it busy",
)
COMPRESSED = {".html", ".css", ".js", ".json", ".svg"}
WATCH = """
  window.seen = { shift: 0 };
  performance.mark("opened");
  new PerformanceObserver((list) => list.getEntries().forEach(({ value, hadRecentInput }) => {
    if (!hadRecentInput) seen.shift += value;
  })).observe({ type: "layout-shift", buffered: true });
  let loaded;
  Object.defineProperty(window, "Plotly", { configurable: true, get: () => loaded, set: (value) => {
    loaded = value;
    seen.executed ??= performance.now();
  } });
  document.addEventListener("mha-drawn", ({ detail }) => {
    if (!detail.done || seen.live) return;
    seen.live = performance.now();
    performance.mark("live curve");
  });
"""
FOUND = """() => {
  const files = performance.getEntriesByType("resource"), plotly = files.find(({ name }) => name.includes("/plotly-"));
  const [page] = performance.getEntriesByType("navigation");
  return {
    "first paint": performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN,
    parsed: page.domInteractive, "plotly asked": plotly?.startTime ?? NaN, "plotly came": plotly?.responseEnd ?? NaN,
    "plotly ran": seen.executed, "live curve": seen.live,
    "kB": [page, ...files].reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0) / 1e3,
    "shift × 1000": 1000 * seen.shift,
  };
}"""


class Handler(SimpleHTTPRequestHandler):
    """Serves files, those of text compressed."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        if path.suffix not in COMPRESSED or not path.is_file():
            super().do_GET()
            return
        body = packed(path)
        self.send_response(200)
        for name, value in (
            ("Content-Type", self.guess_type(path)),
            ("Content-Encoding", "gzip"),
            ("Content-Length", str(len(body))),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


@cache
def packed(path):
    """A file as it travels."""
    return gzip.compress(path.read_bytes(), 6)


def serve(build):
    """Serve a built book; gives its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=build))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}/book/"


def opening(browser, address, slow):
    """What is measured of one opening: name → milliseconds, or what the name says."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(120_000)
    page.add_init_script(WATCH)
    if slow:
        line = context.new_cdp_session(page)
        line.send("Network.enable")
        line.send("Network.emulateNetworkConditions", LINE)
        line.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    browser.start_tracing(page=page, categories=["blink.user_timing"])
    page.goto(address, wait_until="commit")
    page.wait_for_function("() => seen.live", polling=100)
    found = page.evaluate(FOUND) | {
        "of it busy": busy(json.loads(browser.stop_tracing())["traceEvents"])
    }
    context.close()
    return found


def busy(events):
    """How long the page's thread computed until then: on a busy machine this varies less than the
    wait."""
    live = next(event for event in events if event["name"] == "live curve")
    *_, opened = (
        event for event in events if event["name"] == "opened" and event["tid"] == live["tid"]
    )
    return (live["tts"] - opened["tts"]) / 1e3


def compare(browser, sites, page, slow, rounds):
    """Print the medians of one page, a line for each built book."""
    found = {name: [] for name in sites}
    for _ in range(rounds):
        for name, site in sites.items():
            found[name].append(opening(browser, f"{site}{page}.html", slow))
    for name, openings in found.items():
        middle = [statistics.median(one[key] for one in openings) for key in openings[0]]
        print(
            f"{page.rpartition('/')[2][:14]:<15}{'slow' if slow else 'as it is':<9}{name[-20:]:<21}"
            + "".join(f"{value:>13,.0f}" for value in middle),
            flush=True,
        )


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.opening", description=__doc__)
    parser.add_argument(
        "builds", nargs="*", type=Path, default=[BUILD], help="built books (default _build/html)"
    )
    parser.add_argument("--pages", nargs="+", default=PAGES, help="below book/, without .html")
    parser.add_argument("--rounds", type=int, default=5, help="openings of each (default 5)")
    parser.add_argument(
        "--slow", action="store_true", help="on the slower line and processor alone"
    )
    options = parser.parse_args()
    if missing := [build for build in options.builds if not (build / "book").is_dir()]:
        raise SystemExit(f"expected a built book, got {missing[0]}: run `make book` first")
    sites = {str(build): serve(build) for build in options.builds}
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        print(
            f"medians of {options.rounds} openings, milliseconds; {os.cpu_count()} cores, load "
            f"{os.getloadavg()[0]:.1f}\n{'':<45}" + "".join(f"{name:>13}" for name in NAMES)
        )
        for slow in (True,) if options.slow else (False, True):
            for page in options.pages:
                compare(browser, sites, page, slow, options.rounds)
        browser.close()


if __name__ == "__main__":
    main()
