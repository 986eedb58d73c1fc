"""What every test runs under: one thread per product, and property tests that never look at a
clock."""

import asyncio
import os
import random
import re
import tempfile
import tomllib
from itertools import count, repeat
from pathlib import Path

# Before the first import of numpy: two workers with two threads each fight over two cores.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

unhurried = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}
settings.register_profile("default", **unhurried)
# The same examples in every run: a hosted run that fails must fail again.
settings.register_profile("ci", derandomize=True, **unhurried)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "default")


def pytest_addoption(parser):
    parser.addoption(
        "--shuffle",
        type=int,
        metavar="SEED",
        help="run files, and the tests in them, in another order",
    )
    parser.addoption(
        "--part", metavar="K/N", help="the K-th of N parts of the tests, which N machines may share"
    )
    parser.addoption(
        "--every-chapter",
        action="store_true",
        help="on every page what else one of each kind is for",
    )
    parser.addoption(
        "--nudged", action="store_true", help="claims: move every random number to its neighbor"
    )


def unit(nodeid):
    """What stays on one worker, in its order: the tests of one page of the book, or of a file.

    The tests of a page share the page, opened once, and what mhalib computes for its live figures.
    """
    page = re.match(
        r"tests/(?:browser/test_(?:live|pages|touch)|chapters/test_engine)\.py.*?\[([\w/-]+\.html)",
        nodeid,
    )
    return page[1] if page else nodeid.split("::")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Hand out units instead of files, so that no worker is left alone with the live figures.

    Groups of xdist's own (``--dist loadgroup``) tear the cells of a notebook apart: nbval's items
    do not stay in them.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByUnit(LoadScopeScheduling):
        _split_scope = staticmethod(unit)

    return ByUnit(config, log)


def pytest_configure(config):
    """Let the kernels of notebooks listen on files, where the system has them.

    A manager picks free ports and lets go of them until its kernel has begun: the browser beside it
    may take one, and the kernel dies (jupyter_client issue 276).
    """
    if not (config.getoption("nbval", False) or config.getoption("nbval_lax", False)):
        return
    import nbval.kernel
    from jupyter_client.manager import KernelManager

    if os.name == "posix":
        sockets = tempfile.TemporaryDirectory(prefix="kernels-")
        config.add_cleanup(sockets.cleanup)
        names = map("{}/{}".format, repeat(sockets.name), count())
        nbval.kernel.KernelManager = lambda **rest: KernelManager(
            transport="ipc", ip=next(names), **rest
        )


def _part(text):
    """K and N of ``--part K/N``."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    k, n = map(int, found.groups()) if found else (0, 0)
    if not 1 <= k <= n:
        raise pytest.UsageError(f"--part: expected K/N with K from 1 to N, such as 2/5, got {text}")
    return k, n


def pytest_collection_modifyitems(config, items):
    """Let the solutions of notebooks run, as a reader may ask. Leave out what is marked weekly, or
    belongs to another part. Shuffle, if asked to.

    The units, the files in a unit, the tests in a file are shuffled; the cells of a notebook stay.
    """
    if not config.getoption("every_chapter"):
        later = {item for item in items if item.get_closest_marker("weekly")}
        items[:] = [item for item in items if item not in later]
        config.hook.pytest_deselected(items=list(later))
    if part := config.getoption("part"):
        k, n = _part(part)
        units = {
            name: place
            for place, name in enumerate(dict.fromkeys(unit(item.nodeid) for item in items))
        }
        others = {item for item in items if units[unit(item.nodeid)] % n != k - 1}
        items[:] = [item for item in items if item not in others]
        config.hook.pytest_deselected(items=list(others))
    for item in items:
        if hasattr(item, "cell"):
            item.cell.source = item.cell.source.replace(
                "show_solution = False", "show_solution = True"
            )
    if (seed := config.getoption("shuffle")) is not None:
        rng, drawn = random.Random(seed), {}

        def place(item):
            names = unit(item.nodeid), item.path, item.nodeid if item.path.suffix == ".py" else ""
            return [drawn.setdefault(names[:k], rng.random()) for k in (1, 2, 3)]

        items.sort(key=place)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session):
    """Say below all else that no page was opened: a number of skipped tests does not."""
    done = yield
    if reporter := session.config.pluginmanager.get_plugin("terminalreporter"):
        skipped = [report.longrepr[-1] for report in reporter.stats.get("skipped", ())]
        unseen = [words for words in skipped if "NO PAGE WAS OPENED" in words]
        if unseen:
            reporter.write_line(f"== {len(unseen)} tests of pages did not run. {unseen[0]}")
    return done


@pytest.fixture(scope="session")
def address():
    """The repository's address, from the one place that decides it."""
    pyproject = Path(__file__).parent.parent / "pyproject.toml"
    return tomllib.loads(pyproject.read_text("utf-8"))["project"]["urls"]["Repository"]


@pytest.fixture
def no_running_loop():
    """Hide the event loop that Playwright, once a browser test has started it, keeps running in
    this process."""
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(loop)
