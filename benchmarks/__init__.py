"""Ratios against what a user would write otherwise; every competitor is checked before it is
timed."""

import statistics
import time
from importlib import import_module

SIZES = {"slider": (64, 8, 16), "paper": (100, 10, 50)}
"""Name → (n, T, d)."""


def installed(makers, needs):
    """The competitors whose library can be imported; says of each that is missing why it is not
    compared.

    ``needs`` is {competitor: package}; one that it does not name needs nothing special.
    """
    lacking = {}
    for package in sorted({needs[name] for name in makers if name in needs}):
        try:
            import_module(package)
        except ImportError as error:
            lacking[package] = error
            print(f"not compared: {package} is not installed, or not whole ({error})")
    return {name: make for name, make in makers.items() if needs.get(name) not in lacking}


def cpu(run, *arguments):
    """CPU seconds of one call."""
    begun = time.process_time()
    run(*arguments)
    return time.process_time() - begun


def medians(runs, rounds):
    """Median CPU seconds of each run over interleaved rounds, so that a noisy moment hits all
    alike."""
    times = [{name: cpu(run) for name, run in runs.items()} for _ in range(rounds)]
    return {name: statistics.median(found[name] for found in times) for name in runs}
