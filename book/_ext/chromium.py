"""The browser that prints, photographs and tests the pages: where it is, and how it is started."""

import os
import shutil

# As .ci/chromium looks for it.
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
# where the tools' pages seem to stand: answered from files, and no host is asked
SITE = "http://book.invalid/"
PATIENCE = 600_000  # milliseconds that a busy machine may take for what an idle one does at once


def path():
    """The browser that the environment variable CHROMIUM names, or else the first one on PATH; None
    without any."""
    if named := os.environ.get("CHROMIUM"):
        return shutil.which(named)
    return next(filter(None, map(shutil.which, NAMES)), None)


def launch(playwright):
    """Start it by Playwright; without a browser the program ends with a line that says so."""
    if (found := path()) is None:
        raise SystemExit("no Chromium: `make chromium` says how to get it")
    return playwright.chromium.launch(executable_path=found, args=FLAGS)
