"""The laboratory in V8: its engine, the pieces of its face that need no page, and Python's own beside them."""

import json
from functools import cache
from pathlib import Path

from py_mini_racer import MiniRacer

import mhabook
from agreement import RUN
from mhabook.c17_laboratory.figure import ENGINE
from mhalib.live.face import engine

LIVE = Path(__file__).parents[2] / "mhalib" / "live"
SCRIPT = engine(more=ENGINE, run="laboratory")
HERE = LIVE.parent.parent / "book" / "mhabook" / "c17_laboratory"
PIECES = "\n".join(file.read_text("utf-8") for file in (
    LIVE / "widget.js", HERE / "files.js", HERE / "links.js", HERE / "state.js"))
SMALL = {"n": 8, "H": 2, "T": 6, "N": 2, "D": 8, "tokens": 30, "steps": 50, "lr": 0.05, "scale": 0.3, "sigma": 0.5,
         "curvature": False}
LAB = mhabook.laboratory()


def machine(source=SCRIPT):
    """A V8 with the laboratory's engine and the pieces of its face that need no page."""
    v8 = MiniRacer()
    carried = f"const spec = {json.dumps(LAB.laboratory)}; const made = makeEngine(null);"
    v8.eval("\n".join([source, PIECES, RUN, carried]))
    return v8


@cache
def whole():
    return machine()


def asked(v8, expression):
    return json.loads(v8.eval(f"JSON.stringify({expression})"))


def asked_run(v8, values):
    return json.loads(v8.eval(f"runAll(made, spec, {json.dumps(values)})"))
