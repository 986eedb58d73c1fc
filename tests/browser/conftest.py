"""A Chromium that reads the built book from a local server, with every other host out of reach."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

import widgets
from checks import missing
from scripts import load
from visits import BUILD, KINDS, NO_BUILD, NOT_OPENED, PATIENCE, Visit, begins_with


class Quiet(SimpleHTTPRequestHandler):
    """Serve files, and leave the log to the tests."""

    def log_message(self, *args):
        pass


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """What is the same code for all pages is tested on a page of each kind, and on the others every
    week."""
    for item in items:
        if item.get_closest_marker("of_each_kind"):
            given = item.callspec.params
            page = given["visit"] if "visit" in given else given["name"]
            if not begins_with(page or "", KINDS):
                item.add_marker("weekly")


@pytest.fixture(scope="session")
def site():
    """Serve the built book and give its address."""
    if not BUILD.is_dir():
        missing(NO_BUILD)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=BUILD))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def chromium():
    """Start one browser for all pages."""
    ours = load("book/_ext/chromium.py")
    if ours.path() is None:
        missing(f"{NOT_OPENED}: {ours.ABSENT}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = ours.launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def new_visit(site, chromium):
    """Give the way to open a page."""
    return partial(Visit, chromium, site)


@pytest.fixture(scope="session")
def open_page(new_visit):
    """Give the page of a name, its dropdowns closed; tests that need the same one after each other
    share it."""
    last = None

    def open_one(name):
        nonlocal last
        if last is None or last.name != name:
            if last is not None:
                last.context.close()
            last = new_visit(name).open()
        return last.show(dropdowns=False)

    yield open_one
    if last is not None:
        last.context.close()


@pytest.fixture(scope="module")
def open_widget(chromium):
    """Give the way to open a page with one kind of widget alone (``widgets.open_one``)."""
    context = chromium.new_context(viewport={"width": 900, "height": 900})
    context.set_default_timeout(PATIENCE)
    yield partial(widgets.open_one, context)
    context.close()
