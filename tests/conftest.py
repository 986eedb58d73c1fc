"""What every test runs under: one thread per product, and property tests that never look at a clock."""

import asyncio
import os
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
