"""The JavaScript of figures in V8, from Python: its paths are mhalib's, without the kernel and with
it."""

import json
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from py_mini_racer import MiniRacer

import mhalib as mha
from engines import LIVE, asked, assert_follows, compiled, engine, exposed, plain
from figures import FIGURES, PLACES, corners, different_runs, expected, figure, place_id
from livegrad.live.frames import RULES, chosen_rule
from livegrad.live.spec import Control
from livegrad.live.widget import LiveFigure
from mhabook.c01_model.figure import finding
from mhabook.c10_structure import figure as c10
from mhabook.c11_data_and_compute import figure as c11
from mhabook.c13_layer import figure as c13
from mhalib.live.heads import ENTRY
from mhalib.models.multihead import normals

CONTROLS = {
    "H": (3, 1, 2, 16),
    "lr": (0.3, 30.0, 1e300, 1e308),
    "optimizer": tuple(RULES),
    "start": ("zero", "random"),
    "shortcut": (True, False),
    "scaling": ("constant", "root"),
    "sigma": (0.3, 2.0),
    "sample": (0, 2),
}


def heads(n=17, T=5, d=6, M=3, S=2.0, zeta=0.2, steps=60):
    """A figure of heads with everything that shipped figures have apart: controls, starts,
    measures; few records."""
    record, controls = [0, 1, *range(10, steps + 1, 10)], CONTROLS | {"zeta": (zeta,)}

    def run(values):
        data = mha.data.tokenized_mixture(n, T, d, M, zeta, S, values["sigma"], seed=3)
        zero, random = mha.MultiHeadAttention.zeros, mha.MultiHeadAttention.random
        start = (
            random(values["H"], T, d, 0.5, seed=5)
            if values["start"] == "random"
            else zero(values["H"], T, d)
        )
        return mha.train(
            start, data, chosen_rule(values), steps, test=data.fresh(seed=1), record=record
        )

    starts = {
        "zero": {"kind": "zeros"},
        "random": {"kind": "normal", "stream": normals(16 * d * (d + T), 5).tolist()},
    }
    return LiveFigure(
        replace(
            finding(
                mha.data.tokenized_mixture(n, T, d, M, zeta, S, seed=3),
                mha.MultiHeadAttention.zeros(1, T, d),
                mha.GradientDescent(1.0),
            )._description,
            tries={},
            train=run,
            record=tuple(record),
            fixed={"scale": 0.5},
            start={"by": "start", "choices": starts},
            controls=tuple(
                Control(name, name, values, values[0]) for name, values in controls.items()
            ),
            curves=(
                "loss",
                "test_loss",
                "accuracy",
                "test_accuracy",
                "attention_score",
                "grad_norm",
                "norm_W",
                "norm_U",
            ),
            final=("attention", "token_names", "sample_score"),
        ),
        ENTRY,
    )


HEADS, SINGLE = heads(), heads(n=1, T=22, d=3, M=1, zeta=15 / 22)
SETTINGS = [
    (HEADS, {"H": 16, "optimizer": rule, "shortcut": shortcut})
    for rule, shortcut in product(RULES, (True, False))
]
RANDOM = {"start": "random", "scaling": "root", "sample": 2}
SETTINGS += [(HEADS, RANDOM | {"optimizer": rule}) for rule in RULES]
SETTINGS += [(HEADS, {"lr": 30.0}), (SINGLE, {"H": 2, "sigma": 2.0, "start": "random"})]
DIVERGING = [(HEADS, {"lr": 1e300, "optimizer": rule}) for rule in ("gd", "momentum")]
DIVERGING += [(HEADS, {"lr": 1e308, "start": "random", "optimizer": rule}) for rule in RULES]
# The first of these stops after a loss of zero, at a step that is not recorded: U is infinite, with
# the right sign.
DIVERGING += [
    (heads(n=1, T=1, d=3, M=1, S=0.01, zeta=1.0), {"lr": 1e308, "H": 1, "optimizer": "adam"}),
    (c10.descent(n=60, steps=20), {"optimizer": "preconditioned", "s_max": 2.0}),
    (c11.data_and_compute(n=80, steps=20), {"optimizer": "preconditioned", "s_max": 2.0}),
    (c13.layer(steps=1000), {"lr": 2.5, "N": 2, "n": 2, "D": 8}),
]
both = pytest.mark.parametrize("v8", [plain, compiled])


@both
@pytest.mark.parametrize("made, values", SETTINGS, ids=[str(values) for _, values in SETTINGS])
def test_engine_follows_mhalib(v8, made, values):
    assert_follows(v8(made), made, values)


@both
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("made, values", DIVERGING, ids=[str(values) for _, values in DIVERGING])
def test_a_diverging_run_stops_where_mhalibs_does(v8, made, values):
    assert_follows(v8(made), made, values)
    assert expected(made, values)[1] is not None


@both
def test_the_hessian_of_counted_heads_is_refused(v8):
    spec = HEADS.spec | {"curves": ["sharpness"]}
    with pytest.raises(Exception, match="more directions than one head"):
        v8(HEADS).eval(f"runAll(engine, {json.dumps(spec)}, {json.dumps(HEADS.values)})")


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
    assert {made.spec["model"] for made in users} == {
        "multihead",
        "groups",
        "leave_one_out",
        "linearized",
        "two_steps",
    }
    for made in {made.spec["model"]: made for made in users}.values():
        assert_follows(plain(made), made, {})


@cache
def spectrum():
    v8 = MiniRacer()
    v8.eval(exposed(LIVE / "engine" / "spectrum.js"))
    return v8


def ends(matrix):
    """The ends of a symmetric matrix's spectrum, as the engine finds them from products with it."""
    product = "(v, out) => rows.forEach((row, i) => { out[i] = row.reduce((sum, x, j) => sum + x * v[j], 0); })"
    return (
        spectrum()
        .eval(
            f"(() => {{ const rows = {json.dumps(matrix.tolist())};"
            f"return spectrumEnds({product}, rows.length).join(' '); }})()"
        )
        .split()
    )


@pytest.mark.parametrize(
    ("low", "high"),
    [(-1e-4, 1), (-1, 1e-4), (0.5, 1), (1e-4, 1), (-2, -1), (-3e-7, 5e-6), (2, 2), (0, 0)],
)
@pytest.mark.parametrize("size", [1, 2, 3, 12, 168])
def test_spectrum_ends_are_the_eigenvalues(low, high, size):
    basis = np.linalg.qr(np.random.default_rng(size).standard_normal((size, size)))[0]
    # Those at equal ratios are found late: by then directions that rounding brings back would have
    # crowded them out.
    half = basis * (np.geomspace if low > 0 else np.linspace)(low, high, size) @ basis.T / 2
    found = np.array(ends(half + half.T), dtype=float)
    np.testing.assert_allclose(found, np.linalg.eigvalsh(half + half.T)[[0, -1]], rtol=1e-9)


C01, C16 = (
    figure(next(page for page in FIGURES if f"/{chapter}_" in page), 0) for chapter in ("01", "16")
)


def in_order(v8, made, *all_values):
    """What one engine answers for one figure at one setting after the other."""
    return v8.eval(f"""(() => {{
        const spec = {json.dumps(made.spec)};
        return JSON.stringify({json.dumps([made.values | values for values in all_values])}
            .map((values) => JSON.parse(runAll(engine, spec, values))));
    }})()""")


@pytest.mark.parametrize(
    "made, settings",
    [
        (C01, ({}, {"sample": 3}, {"sample": 3, "lr": 0.3}, {"sample": 1, "lr": 0.3})),
        (
            C16,
            (
                {"seeds": 2},
                {"seeds": 3, "lr_second": 0.05},
                {"seeds": 3, "lr_second": 0.05, "other": "again"},
                {"seeds": 2, "texts": "plain"},
            ),
        ),
    ],
    ids=("chapter 1", "chapter 16"),
)
def test_what_ran_before_does_not_matter(made, settings):
    v8 = compiled(made)
    assert json.loads(in_order(v8, made, *settings)) == [
        json.loads(asked(v8, made, values)) for values in settings
    ]


def counted(made, *all_values):
    """How often a gradient is computed for one setting after the other, and how many problems are
    made."""
    v8 = engine(made._esm, kernel=True)
    v8.eval("""const Real = WebAssembly.Instance;
        let calls = 0, problems = 0;
        WebAssembly.Instance = function (module) {
          problems++;
          const { exports } = new Real(module);
          const gradient = (...given) => (calls++, exports.gradient(...given));
          return { exports: { ...exports, gradient } };
        };""")
    return json.loads(
        v8.eval(f"""(() => {{
        const spec = {json.dumps(made.spec)};
        return JSON.stringify({json.dumps([made.values | values for values in all_values])}.map((values) => {{
            calls = problems = 0;
            runAll(engine, spec, values);
            return [calls, problems];
        }}));
    }})()""")
    )


def test_what_no_control_has_moved_is_not_trained_again():
    steps = C01.spec["record"][-1]
    gradients = [k for k, _ in counted(C01, {}, {"sample": 3}, {"sigma": 0.5})]
    assert gradients == [steps + 1, 0, steps + 1]
    each = C16.spec["record"][-1] + 1
    faster = {"seeds": 3, "lr_first": 0.05}
    found = counted(C16, {"seeds": 2}, {"seeds": 3}, faster, {"seeds": 2})
    # A problem for each network, and one for each kernel, on which all networks are tested.
    assert found == [[4 * each, 4 + 2], [2 * each, 2], [3 * each, 0], [2 * each, 0]]


def test_slices_end_where_the_whole_run_ends():
    v8 = plain(HEADS)
    slices, result = json.loads(
        v8.eval(f"""(() => {{
        const training = engine.run({json.dumps(HEADS.spec)}, {json.dumps(HEADS.values)});
        let slices = 0;
        while (!training.result.done) {{ training.advance(1); slices++; }}
        return JSON.stringify([slices, training.result]);
    }})()""")
    )
    assert slices > 1
    assert result == json.loads(asked(v8, HEADS, {}))
