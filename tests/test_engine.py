"""The browser's engine in V8, from Python: its paths are mhalib's, in plain JavaScript and with the kernel."""

import json
from functools import cache
from pathlib import Path

import pytest
from py_mini_racer import MiniRacer

from agreement import DIVERGING, RUN, STABLE, TABLE, UNSTABLE, Case, assert_agrees

LIVE = Path(__file__).parent.parent / "mhalib" / "live"
ENGINE = (LIVE / "engine.js").read_text("utf-8")
DECODE = """function bytesOf(text) { return Uint8Array.from(JSON.parse(text)); }"""
# One character, or one sign, each; the words around it say where.
BUGS = {
    "gradient of the scores": ("G[k] * (P[at + k] - v[row + t]);", "G[k] * (P[at + k] + v[row + t]);"),
    "gradient never cleared": ("      grad.fill(0);", "      grad.fill;"),
    "decoder's gradient transposed": ("product(G, 0, X", "product(D, 0, X"),
    "heads scaled by H": ("(y[i] * copies * phi) / Math.sqrt(H)", "(y[i] * copies * phi) / (H)"),
    "softmax one row off": ("row < from + TT; row += T", "row < from + TT - T; row += T"),
    "momentum forgets": ("m[i] = beta * m[i] + grad[i]", "m[i] = beta * m[i] - grad[i]"),
    "Adam without its second correction": ("Math.sqrt(v[i] / c2)", "Math.sqrt(v[i] / c1)"),
    "Hessian-vector product": ("dg * A[at + k];", "dg + A[at + k];"),
    "mixture's noise": ("+ sigma * normal", "- sigma * normal"),
}


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


def run(v8, case):
    return v8.eval(f"runAll(engine, {json.dumps(case.spec())}, {json.dumps(case.values())})")


@pytest.mark.parametrize("case", TABLE, ids=str)
def test_plain_engine_follows_mhalib(case):
    assert_agrees(case, run(plain(), case))


@pytest.mark.parametrize("case", TABLE, ids=str)
def test_engine_with_kernel_follows_mhalib(case):
    assert_agrees(case, run(compiled(), case))


@pytest.mark.parametrize("case", DIVERGING, ids=str)
def test_diverging_runs_do_diverge(case):
    assert case.path().stopped


@pytest.mark.parametrize("case", UNSTABLE, ids=str)
def test_unstable_runs_are_unstable(case):
    loss = case.path().loss
    assert (loss[1:] > loss[:-1]).any()


@pytest.mark.parametrize("case", STABLE, ids=str)
def test_stable_runs_come_down(case):
    loss = case.path().loss
    assert loss[-1] < loss[0]


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_seen(bug):
    right, wrong = BUGS[bug]
    assert ENGINE.count(right) == 1
    v8 = engine(ENGINE.replace(right, wrong))
    cases = [Case(scale=0.5, spectrum=True), Case(optimizer="momentum", scale=0.5), Case(optimizer="adam", scale=0.5)]
    with pytest.raises(AssertionError):
        for case in cases:
            assert_agrees(case, run(v8, case))


@pytest.mark.parametrize("rule", ["gd", "momentum", "adam"])
def test_counting_one_head_is_training_all(rule):
    cases = [Case(H=16, optimizer=rule, shortcut=shortcut) for shortcut in (True, False)]
    once, all_heads = (json.loads(run(plain(), case)) for case in cases)
    assert once["curves"]["loss"] == pytest.approx(all_heads["curves"]["loss"], rel=1e-11)


def test_the_hessian_of_counted_heads_is_refused():
    with pytest.raises(Exception, match="more directions than one head"):
        run(plain(), Case(spectrum=True))


def test_slices_end_where_the_whole_run_ends():
    case, v8 = Case(scale=0.5), plain()
    arguments = f"{json.dumps(case.spec())}, {json.dumps(case.values())}"
    sliced = v8.eval(f"""(() => {{
        const training = engine.run({arguments});
        let slices = 0;
        while (!training.result.done) {{ training.advance(1); slices++; }}
        return JSON.stringify([slices, training.result]);
    }})()""")
    slices, result = json.loads(sliced)
    assert slices > 1
    assert result == json.loads(run(v8, case))
