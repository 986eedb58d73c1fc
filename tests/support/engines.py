"""The JavaScript of figures in V8, from Python: as it is, with the kernel or without, or changed."""

import json
import re
from functools import cache
from pathlib import Path

from py_mini_racer import MiniRacer

from figures import assert_figure_agrees
from livegrad.live.modules import link

ROOT = Path(__file__).parents[2]
LIVE, ATTENTION = ROOT / "livegrad" / "live", ROOT / "mhalib" / "live"
BOOK = ROOT / "book" / "mhabook"
RUN = """function runAll(engine, spec, values) {
  const training = engine.run(spec, values);
  training.advance();
  return JSON.stringify(training.result, (key, x) => (Number.isFinite(x) || typeof x !== "number" ? x : String(x)));
}"""


def engine(source, kernel=False):
    """A V8 that holds the module of a widget as ``engine``; without the kernel it has no
    WebAssembly."""
    v8 = MiniRacer()
    if not kernel:
        v8.eval("globalThis.WebAssembly = undefined;")
    v8.eval(source.replace("export default", "const engine =") + RUN)
    return v8


def exposed(*files):
    """A text that makes global what modules export."""
    return "\n".join(
        f"Object.assign(globalThis, (() => {{ {link(file)}\nreturn linked(); }})());"
        for file in files
    )


def with_bug(source, right, wrong):
    """The text in which one piece, which it has once, however its lines are broken, stands for
    another."""
    pattern = r"\s*".join(re.escape(piece) for piece in re.findall(r"\w+|[^\w\s]", right))
    changed, count = re.subn(pattern, lambda _: wrong, source)
    assert count == 1, f"{count} times: {right}"
    return changed


@cache
def _of(source, kernel):
    return engine(source, kernel)


def plain(made):
    """The engine of a figure by JavaScript alone."""
    return _of(made._esm, False)


def compiled(made):
    """The same with the kernel."""
    return _of(made._esm, True)


def asked(v8, made, values):
    """What an engine answers for a figure and some values of its controls, the others at the
    start."""
    return v8.eval(f"runAll(engine, {json.dumps(made.spec)}, {json.dumps(made.values | values)})")


def assert_follows(v8, made, values, rel=1e-9):
    """An engine answers for a figure and these values what mhalib computes."""
    assert_figure_agrees(made, values, asked(v8, made, values), rel)
