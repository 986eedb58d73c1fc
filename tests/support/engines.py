"""The browser's engine in V8, from Python: as it is, with the kernel, or with a bug in it."""

import json
from functools import cache
from pathlib import Path

import pytest
from py_mini_racer import MiniRacer

from agreement import RUN
from figures import assert_figure_agrees
from mhalib.live.face import engine as source_of_the_engine

LIVE = Path(__file__).parents[2] / "mhalib" / "live"
ENGINE = source_of_the_engine()
DECODE = """function bytesOf(text) { return Uint8Array.from(JSON.parse(text)); }"""


def engine(source=ENGINE, kernel=False):
    """A V8 that holds the engine."""
    v8 = MiniRacer()
    v8.eval(f"{source}\n{DECODE}\n{RUN}")
    v8.eval((LIVE / "kernel.js").read_text("utf-8"))
    compiled = f'makeKernel(bytesOf("{list((LIVE / "kernel.wasm").read_bytes())}"))' if kernel else "null"
    v8.eval(f"const kernel = {compiled}; const engine = makeEngine(kernel);")
    assert v8.eval("kernel !== null") is kernel
    return v8


@cache
def plain():
    return engine()


@cache
def compiled():
    return engine(kernel=True)


def broken(bug):
    """An engine in which one piece of text, which it has once, stands for another."""
    right, wrong = bug
    assert ENGINE.count(right) == 1
    return engine(ENGINE.replace(right, wrong))


def asked(v8, made, values):
    """What an engine answers for a figure and some values of its controls, the others at the start."""
    return v8.eval(f"runAll(engine, {json.dumps(made.spec)}, {json.dumps(made.values | values)})")


def assert_follows(v8, made, values, rel=1e-9):
    """An engine answers for a figure and these values what mhalib computes."""
    assert_figure_agrees(made, values, asked(v8, made, values), rel)


def assert_bug_is_seen(bug, made, *settings):
    """With the bug an engine disagrees at one of the settings."""
    v8 = broken(bug)
    with pytest.raises((AssertionError, TypeError)):  # a wrong formula may also break the computation off
        for values in settings:
            assert_follows(v8, made, values)
