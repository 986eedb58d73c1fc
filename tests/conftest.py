"""What every test runs under: one thread per product, and property tests that never look at a clock."""

import asyncio
import os
import random
import re
import tomllib
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
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run files, and the tests in them, in another order")


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config, items):
    """Keep what shares an open page, or else a file, on one worker: `--dist loadgroup`. Shuffle if asked to."""
    groups = {}
    for item in items:
        groups.setdefault(f"{item.nodeid.split('::')[0]} {page_of(item)}".strip(), []).append(item)
    if config.pluginmanager.hasplugin("xdist"):
        for name, group in groups.items():
            for item in group:
                item.add_marker(pytest.mark.xdist_group(name))
    if (seed := config.getoption("shuffle")) is not None:
        items[:] = shuffled(list(groups.values()), random.Random(seed))


def shuffled(groups, rng):
    """The items of all groups in another order: first the groups, then what is in them; cells keep theirs."""
    rng.shuffle(groups)
    for group in groups:
        if group[0].path.suffix == ".py":
            rng.shuffle(group)
    return [item for group in groups for item in group]


def page_of(item):
    """The page of the built book that a test is about, by its parameters; or nothing."""
    page = re.search(r"[\w/-]+\.html", str(item.callspec.params)) if hasattr(item, "callspec") else None
    return page[0] if page else ""


@pytest.fixture(scope="session")
def address():
    """The repository's address, from the one place that decides it."""
    pyproject = Path(__file__).parent.parent / "pyproject.toml"
    return tomllib.loads(pyproject.read_text("utf-8"))["project"]["urls"]["Repository"]


@pytest.fixture
def no_running_loop():
    """Hide the event loop that Playwright, once a browser test has started it, keeps running in this process."""
    loop = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(loop)
