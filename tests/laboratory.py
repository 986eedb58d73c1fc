"""The laboratory in V8: its engine, the pieces of its face that need no page, and Python's own beside them."""

import json
from functools import cache
from pathlib import Path

from py_mini_racer import MiniRacer

import mhalib as mha
from agreement import RUN
from mhalib.live.face import engine
from mhalib.live.lab.figure import ENGINE

LIVE = Path(__file__).parent.parent / "mhalib" / "live"
SCRIPT = engine(more=ENGINE, run="laboratory")
PIECES = "\n".join((LIVE / f"{name}.js").read_text("utf-8") for name in ("widget", "lab/files", "lab/links"))
SMALL = {"n": 8, "H": 2, "T": 6, "N": 2, "D": 8, "tokens": 30, "steps": 50, "lr": 0.05, "scale": 0.3, "sigma": 0.5,
         "curvature": False}
LAB = mha.live.laboratory()


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
