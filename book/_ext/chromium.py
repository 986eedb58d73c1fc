"""The browser that prints and tests the pages: where it is, and how it is started. ``python
book/_ext/chromium.py`` looks for it, and installs one where none starts.

A browser counts if it starts. One that is there may not: a stub that asks for a snap, a build whose
libraries are missing.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
OWN = Path(sys.prefix) / "browsers"  # where Playwright's own is put
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
# where the tools' pages seem to stand: answered from files, and no host is asked
SITE = "http://book.invalid/"
PATIENCE = 600_000  # milliseconds that a busy machine may take for what an idle one does at once
ABSENT = "no Chromium that starts: `make chromium` gets one, or says how to"
HOW = """To get one:
   Debian:         apt install chromium
   Ubuntu, others: .venv/bin/playwright install-deps chromium (as root; it installs the libraries that
                   the downloaded browser needs; Ubuntu's own Chromium is a snap: snap install chromium)
   macOS:          brew install --cask google-chrome
   or give the path of a Chrome in the environment variable CHROMIUM."""


def candidates() -> Iterator[str]:
    """What the environment variable CHROMIUM names, and nothing else; or the browsers on PATH, then
    Playwright's own."""
    if named := os.environ.get("CHROMIUM"):
        yield from filter(None, [shutil.which(named)])
        return
    yield from filter(None, map(shutil.which, NAMES))
    yield from map(str, sorted(OWN.glob("*/*/*headless?shell*")))


@cache
def refusal(path: str) -> str:
    """What a browser says that does not start; nothing of one that does."""
    command = [path, "--headless", *FLAGS, "--dump-dom", "about:blank"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE / 10_000)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0 and "<html>" in done.stdout:
        return ""
    said = done.stderr.strip() or done.stdout.strip() or f"it ends with status {done.returncode}"
    return said.splitlines()[-1][:200]


def path() -> str | None:
    """The first browser that starts; None without any."""
    return next((each for each in candidates() if not refusal(each)), None)


def launch(playwright):
    """Start it by Playwright; without a browser the program ends with a line that says so."""
    if (found := path()) is None:
        raise SystemExit(ABSENT)
    return playwright.chromium.launch(executable_path=found, args=FLAGS)


def install() -> None:
    """Install Debian's package, where this may be done; else Playwright's own into the environment.

    What fails is seen by what is there afterward.
    """
    if shutil.which("apt-get") and os.geteuid() == 0:
        print("== installing Chromium (apt-get install chromium-headless-shell, or chromium)")
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "update", "-qq"], env=quiet)
        for name in ("chromium-headless-shell", "chromium"):
            command = ["apt-get", "install", "-qq", "-y", "--no-install-recommends", name]
            subprocess.run(command, env=quiet, stdout=subprocess.DEVNULL)
            if path():
                return
    print("== loading Playwright's Chromium into .venv (0.3 GB)")
    here = os.environ | {"PLAYWRIGHT_BROWSERS_PATH": str(OWN)}
    command = [sys.executable, "-m", "playwright", "install", "--only-shell", "chromium"]
    done = subprocess.run(command, env=here, capture_output=True, text=True)
    if done.returncode:
        print(f"   {(done.stderr.strip() or done.stdout.strip()).splitlines()[0]}", file=sys.stderr)


def main() -> int:
    """Say where the browser is. Where none can be had, a desk goes on without; a hosted run, which
    would test no page, fails."""
    if not path() and "CHROMIUM" not in os.environ:
        install()
    if found := path():
        print(f"== Chromium at {found}")
        return 0
    if not [*candidates()] and "CHROMIUM" in os.environ:
        print(f"   CHROMIUM names {os.environ['CHROMIUM']}, which is not there", file=sys.stderr)
    for each in candidates():
        print(f"   {each} does not start: {refusal(each)}", file=sys.stderr)
    print(
        f"== No working Chromium was found: the tests of pages are skipped, and nothing can be printed.\n{HOW}",
        file=sys.stderr,
    )
    return os.environ.get("CI") == "true"


if __name__ == "__main__":
    sys.exit(main())
