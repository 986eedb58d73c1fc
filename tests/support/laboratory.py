"""The laboratory in V8: its engine, the pieces of its face that need no page, and Python's own
beside them."""

import json
from functools import cache

import mhabook
from engines import BOOK, LIVE, engine, exposed

HERE = BOOK / "c17_laboratory"
SMALL = {
    "n": 8,
    "H": 2,
    "T": 6,
    "N": 2,
    "D": 8,
    "tokens": 30,
    "steps": 50,
    "lr": 0.05,
    "scale": 0.3,
    "sigma": 0.5,
    "curvature": False,
}
LAB = mhabook.laboratory()
SCRIPT = LAB._esm
PIECES = exposed(LIVE / "widget.js", *(HERE / f"{name}.js" for name in ("files", "links", "state")))


def machine(source=SCRIPT):
    """A V8 with the laboratory's engine and the pieces of its face that need no page."""
    v8 = engine(source)
    v8.eval(f"{PIECES}\nconst made = engine, spec = {json.dumps(LAB.laboratory)};")
    return v8


@cache
def whole():
    return machine()


def asked(v8, expression):
    return json.loads(v8.eval(f"JSON.stringify({expression})"))


def asked_run(v8, values):
    return json.loads(v8.eval(f"runAll(made, spec, {json.dumps(values)})"))
