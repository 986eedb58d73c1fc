"""The JavaScript of figures in V8, from Python: its paths are mhalib's, without the kernel and with it."""

import json
from functools import cache

import numpy as np
import pytest
from py_mini_racer import MiniRacer

from agreement import DIVERGING, RULES, STABLE, TABLE, UNSTABLE, Case, assert_agrees
from engines import LIVE, assert_follows, broken, compiled, exposed, plain
from figures import FIGURES, PLACES, corners, different_runs, figure, place_id

# One character, or one sign, each; the words around it say where.
BUGS = {
    "gradient scaled": ("slope[k] * this.fromOne[k];", "slope[k] * this.toOne[k];"),
    "heads scaled by H": ("root = Math.sqrt(this.copies)", "root = this.copies"),
    "state not kept": ("m[i0] = b5[i0];", ""),
    "step of another number": ("k: [k]", "k: [k + 1]"),
    "a rule's own number": ("values[key] ?? number", "number"),
    "Hessian-vector product": ('this.program.call("product"); out.set(this.program.along)',
                               'this.program.call("product"); out.set(this.program.slope)'),
    "mixture's noise": ("+ sigma * normal", "- sigma * normal"),
}


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
    v8 = broken(BUGS[bug])
    cases = [Case(scale=0.5, spectrum=True), Case(H=16, shortcut=True),
             *(Case(optimizer=rule, scale=0.5) for rule in RULES)]
    with pytest.raises(AssertionError):
        for case in cases:
            assert_agrees(case, run(v8, case))


@pytest.mark.parametrize("rule", RULES)
def test_counting_one_head_is_training_all(rule):
    cases = [Case(H=16, optimizer=rule, shortcut=shortcut) for shortcut in (True, False)]
    once, all_heads = (json.loads(run(plain(), case)) for case in cases)
    assert once["curves"]["loss"] == pytest.approx(all_heads["curves"]["loss"], rel=1e-11)


@pytest.mark.parametrize("v8", [plain, compiled])
def test_the_hessian_of_counted_heads_is_refused(v8):
    with pytest.raises(Exception, match="more directions than one head"):
        run(v8(), Case(spectrum=True))


# A figure that stands on two pages is compared once.
ONCE = {FIGURES[page][k]: (page, k) for page, k in PLACES}.values()
every_live_figure = pytest.mark.parametrize("place", ONCE, ids=place_id)


@every_live_figure
def test_every_live_figure_follows_mhalib(place):
    made = figure(*place)
    for values in different_runs(made):
        assert_follows(compiled(made), made, values)
    for values in corners(made, count=1):
        # In a corner the run may be unstable, and enlarge what rounding left.
        assert_follows(compiled(made), made, values, rel=1e-6)


def test_figures_that_use_the_kernel_follow_mhalib_without_it():
    users = [made for made in (figure(*place) for place in ONCE) if "// heads.wasm" in made._esm]
    assert {made.spec["model"] for made in users} == {"multihead", "groups", "leave_one_out", "linearized"}
    for made in users:
        assert_follows(plain(made), made, {})


@cache
def spectrum():
    v8 = MiniRacer()
    v8.eval(exposed(LIVE / "engine" / "spectrum.js"))
    return v8


def ends(matrix):
    """The ends of a symmetric matrix's spectrum, as the engine finds them from products with it."""
    product = "(v, out) => rows.forEach((row, i) => { out[i] = row.reduce((sum, x, j) => sum + x * v[j], 0); })"
    return spectrum().eval(f"(() => {{ const rows = {json.dumps(matrix.tolist())};"
                           f"return spectrumEnds({product}, rows.length).join(' '); }})()").split()


@pytest.mark.parametrize(("low", "high"), [(-1e-4, 1), (-1, 1e-4), (0.5, 1), (-2, -1), (-3e-7, 5e-6), (2, 2), (0, 0)])
@pytest.mark.parametrize("size", [1, 2, 3, 12, 168])
def test_spectrum_ends_are_the_eigenvalues(low, high, size):
    basis = np.linalg.qr(np.random.default_rng(size).standard_normal((size, size)))[0]
    half = basis * np.linspace(low, high, size) @ basis.T / 2
    found = np.array(ends(half + half.T), dtype=float)
    np.testing.assert_allclose(found, np.linalg.eigvalsh(half + half.T)[[0, -1]], rtol=1e-9)


@pytest.mark.parametrize("v8", [plain, compiled])
@pytest.mark.parametrize(("H", "scale"), [(1, 0.03), (2, 0.3), (16, 0.3), (16, 3.0)])
def test_curvature_is_that_of_the_dense_hessian(v8, H, scale):
    # The sizes of the figure, up to 1344 parameters; two steps apart the small eigenvalues have moved together.
    case = Case(n=40, T=8, d=6, zeta=0.25, H=H, scale=scale, lr=1.0, steps=2, spectrum=True)
    assert_agrees(case, run(v8(), case))


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
