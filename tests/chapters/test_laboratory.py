"""The laboratory: what its controls offer, the lines that it exports, and its runs in V8, which
those lines repeat."""

import json
from functools import cache

import numpy as np
import pytest
from py_mini_racer import MiniRacer

import mhabook
import mhalib as mha
from checks import assert_refused
from engines import BOOK, exposed, with_bug
from figures import stopped_at
from laboratory import LAB, LIVE, SCRIPT, SMALL, asked, asked_run, machine, whole
from mhabook.c17_laboratory import measures, panels
from mhabook.c17_laboratory.controls import CONTROLS, DEFAULTS, resolve, shown
from offered import COMBINATIONS, STARTS, choices

HEADS, REGRESSION = {"model": "heads", "data": "mixture"}, {"model": "regression", "data": "linear"}
LAYER = {"model": "layer", "data": "sequences", "scale": 1.0}


def drawn_settings(seed, **fixed):
    """Settings of all controls, those of SMALL aside, drawn from a seed."""
    rng = np.random.default_rng(seed)
    drawn = {
        control.name: control.values[rng.integers(len(control.values))] for control in CONTROLS
    }
    return resolve(drawn | SMALL | fixed)


def assert_repeats(v8, values, rel=1e-9):
    """The exported lines run, and what they leave is what the browser draws."""
    lines = v8.eval(f"pythonOf(spec, {json.dumps(values)})")
    assert lines == LAB.code(**values)
    result, wanted, path = asked_run(v8, values), LAB.drawn(**values), LAB.path(**values)
    assert result["stopped"] == stopped_at(path) and result["steps"] == wanted["steps"].tolist()
    calm = int((np.maximum.accumulate(path.loss) <= 10 * path.loss[0]).sum())
    for name, curve in result["curves"].items():
        found, right = np.array(curve, dtype=float)[:calm], wanted[name][:calm]
        if values["start"] == "first" and name.endswith("accuracy"):
            found, right = found[votes(path, values)[:calm]], right[votes(path, values)[:calm]]
        precise = 1e-5 if name == "sharpness" else rel
        np.testing.assert_allclose(
            found, right, rtol=precise, atol=1e-12, err_msg=f"{name} at {values}"
        )
    if calm == len(path):
        np.testing.assert_allclose(
            np.array(result["final"]["weights"], float), wanted["weights"], rtol=0, atol=1e-8
        )
    assert result["final"]["tokens"] == wanted["tokens"]


def votes(path, values):
    """Where logits are more than rounding: balanced coins give a first phase whose heads cancel."""
    X = LAB.run(**values)["data"].X
    return np.array([abs(model(X)).max() > 1e-13 for model in path.models])


@pytest.mark.parametrize("combination", COMBINATIONS, ids="-".join)
def test_exported_lines_give_the_curve_that_the_page_draws(combination):
    model, data, rule, schedule = combination
    fixed = {"model": model, "data": data, "optimizer": rule, "schedule": schedule}
    values = drawn_settings(COMBINATIONS.index(combination), **fixed)
    assert {name: values[name] for name in fixed} == fixed
    assert_repeats(whole(), values)


@pytest.mark.parametrize("start", STARTS, ids="-".join)
def test_exported_lines_give_the_curve_from_every_start(start):
    fixed = dict(zip(("model", "data", "start"), start, strict=True))
    values = drawn_settings([STARTS.index(start), 0], **fixed)
    assert {name: values[name] for name in fixed} == fixed
    assert_repeats(whole(), values)


@pytest.mark.parametrize("model", choices("model"))
def test_exported_lines_leave_what_python_trains(model):
    for name in ("data", "classes", "start", "kernel", "keys", "moves", "optimizer", "schedule"):
        for choice in choices(name, model=model):
            values, names = resolve(DEFAULTS | SMALL | {"model": model, name: choice}), {}
            exec(LAB.code(**values), names)
            for left, ours in LAB.run(**values).items():
                assert type(names[left]) is type(ours), f"{left} at {values}"
            assert (names["path"].loss == LAB.path(**values).loss).all(), f"{values}"


@pytest.mark.parametrize("values", [HEADS, REGRESSION, LAYER | {"H": 2, "head": 1}], ids=str)
def test_the_weights_at_every_recorded_step_are_those_of_python(values):
    values = resolve(DEFAULTS | SMALL | {"curvature": True} | values)
    found, run, path = asked_run(whole(), values)["finals"], LAB.run(**values), LAB.path(**values)
    wanted = [measures.weights(model, run["data"], values) for model in path.models]
    np.testing.assert_allclose([at["weights"] for at in found], wanted, rtol=0, atol=1e-8)
    assert np.ptp(wanted, axis=0).max() > 1e-4


@pytest.mark.parametrize("moves", choices("moves", model="layer"))
def test_weight_decay_leaves_weights_that_do_not_move(moves):
    values = {"optimizer": "adamw", "weight_decay": 1.0, "moves": moves}
    assert_repeats(whole(), resolve(DEFAULTS | SMALL | LAYER | values))


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"start": "first", "H": 2},
        {"start": "gaussian"},
        {"data": "digits", "n": 16, "start": "zeros"},
        {"model": "regression", "data": "linear", "tokens": 10},
        *(
            {
                "model": "layer",
                "data": "sequences",
                "kernel": kernel,
                "moves": moves,
                "H": 2,
                "keys": "queries",
                "scale": 1.0,
            }
            for kernel, moves in (
                ("softmax", "WQ WK WV WO"),
                ("gaussian", "WQ WK WV WO"),
                ("normalized", "WQ"),
                ("normalized", "WQ WK WV"),
                ("gaussian", "WV"),
            )
        ),
    ],
    ids=str,
)
def test_curvature_is_that_of_the_hessian(values):
    assert_repeats(whole(), resolve(DEFAULTS | SMALL | {"curvature": True} | values))


@pytest.mark.parametrize(("rule", "name"), [("gd", "2/η"), ("momentum", "3.8/η"), ("adam", None)])
def test_the_legend_names_the_edge_of_the_rule_alone(rule, name):
    figure = LAB.figure(**SMALL | {"curvature": True}, optimizer=rule)
    edge = next(trace for trace in figure.data if (trace.name or "").endswith("/η"))
    assert edge.visible is bool(name) and (edge.name == name or not name)
    assert {"edge": edge.name, "has_edge": edge.visible} == LAB.laboratory["looks"][rule]


@pytest.mark.parametrize(
    ("values", "lines"),
    [
        ({"curvature": True}, ["eigenvalue", "bound ρ"]),
        ({"curvature": False}, []),
        ({"curvature": False, "schedule": "root"}, ["bound ρ"]),
        (
            {"model": "layer", "data": "sequences", "curvature": True, "moves": "WQ"},
            ["eigenvalue"],
        ),
        (
            {"model": "layer", "data": "sequences", "curvature": True, "moves": "WV"},
            ["eigenvalue", "bound"],
        ),
    ],
    ids=str,
)
def test_lines_are_there_that_were_measured_and_mean_something(values, lines):
    traces = LAB.figure(**SMALL | values).data
    known = {"eigenvalue", "bound ρ", "bound"}
    assert [
        trace.name for trace in traces if trace.name in known and trace.visible is not False
    ] == lines


@pytest.mark.parametrize("kind", panels.PANELS)
def test_a_line_is_named_in_the_legend_of_its_panel(kind):
    figure = panels.frame(kind, "schedule")
    named = [trace for trace in figure.data if trace.showlegend]
    assert named and not [trace for trace in named if trace.legend[6:] != trace.yaxis[1:]]
    for trace in named:
        axes = [figure.layout[f"{letter}axis{trace.yaxis[1:]}"] for letter in "xy"]
        legend = figure.layout[trace.legend]
        assert (legend.x, legend.y) == (axes[0].domain[0], axes[1].domain[1])
        assert (legend.yanchor, legend.orientation) == ("bottom", "h")


@pytest.mark.parametrize(
    ("model", "data"), sorted({combination[:2] for combination in COMBINATIONS})
)
def test_a_figure_is_described_by_its_own_panels(model, data):
    figure = LAB.figure(**SMALL, schedule="cosine", model=model, data=data)
    words, loss = (
        figure.layout.meta["alt"],
        LAB.path(**SMALL, schedule="cosine", model=model, data=data).loss,
    )
    assert len(figure.layout.annotations) == 6 and all(
        title.text in words for title in figure.layout.annotations
    )
    assert f"from {loss[0]:.3g} to {loss[-1]:.3g}." in words


@pytest.mark.parametrize(
    ("schedule", "curvature", "without"),
    [
        ("constant", False, {"largest eigenvalue", "step size"}),
        ("constant", True, {"step size"}),
        ("warmup", False, set()),
        ("warmup", True, set()),
    ],
)
def test_what_says_nothing_of_a_run_has_no_panel(schedule, curvature, without):
    values = LAB.settings(**SMALL | {"schedule": schedule, "curvature": curvature})
    figure, page = LAB.figure(**values), asked(whole(), f"frameOf(spec, {json.dumps(values)})")
    drawn, there = (
        {title["text"] for title in one["annotations"]}
        for one in (figure.to_plotly_json()["layout"], page["figure"]["layout"])
    )
    assert drawn == there and {"loss", "largest eigenvalue", "step size"} - drawn == without
    assert figure.layout.height == page["figure"]["layout"]["height"]


def test_the_opening_run_stands_beside_another_and_not_beside_itself():
    def steps_of(figure):
        return [
            line.x[-1]
            for line in figure.data
            if line.name == "opening run" and line.visible is None
        ]

    assert not steps_of(LAB.figure(**LAB.experiments["first"]))
    assert len(steps_of(LAB.figure(**LAB.experiments["edge"]))) == 4
    assert max(steps_of(LAB.figure(**LAB.experiments["edge"]))) <= 200
    assert not steps_of(LAB.figure(**LAB.experiments["conditioned"])), "its loss is another one"


def test_the_words_for_the_default_figure_are_true():
    drawn = LAB.drawn(**LAB.experiments["first"])
    assert LAB.values == LAB.experiments["first"] and drawn["steps"][-1] == 2000
    assert drawn["accuracy"][-1] == drawn["test_accuracy"][-1] == 1
    assert 2 < drawn["sharpness"][0] <= drawn["sharpness"].max() < 2.2
    assert drawn["sharpness"][-1] < 0.01
    assert (drawn["smoothness_bound"] > 30 * drawn["sharpness"]).all()
    assert set(drawn["stability_edge"]) == {2}
    assert all(drawn[name][-1] < drawn[name][0] / 100 for name in ("loss", "test_loss"))
    score = drawn["attention_score"]
    assert score[0] == pytest.approx(0.1) and score[-1] == pytest.approx(0.8, abs=0.01)
    lit = [token.endswith("★") for token in drawn["tokens"]].index(True)
    assert (np.argmax(drawn["weights"], axis=1) == lit).all()


@pytest.mark.parametrize("seed", [[0], [5, 0], [7, 2, 1, 3], [4294967295, 1, 2, 3, 4, 5]], ids=str)
def test_the_page_draws_numpys_random_numbers(seed):
    def found(call):
        return asked(v8, f"defaultRng({seed}).{call}")

    v8, rng = random_machine(), lambda: np.random.default_rng(seed)
    assert found("random(500)") == rng().random(500).tolist()
    for count in (1, 3, 4, 1000):
        assert found(f"integers(501, {count})") == rng().integers(count, size=501).tolist()
    assert found("permutation(357)") == rng().permutation(357).tolist()
    # 2,000 normals beyond the ziggurat's edges among them.
    np.testing.assert_allclose(
        found("normals(150000)"), rng().standard_normal(150000), rtol=0, atol=1e-14
    )


@cache
def random_machine():
    v8 = MiniRacer()
    v8.eval(exposed(LIVE / "engine" / "numpy_random.js"))
    return v8


# Where each part of the programs counts.
PARTS = [
    *(
        HEADS | values
        for values in (
            {},
            {"data": "planted", "strength": 3.0, "n": 32},
            {"data": "planted", "flip": 0.4},
            {"data": "digits"},
            {"data": "pathfinder"},
            {"data": "pathfinder", "n": 32, "seed": 4},
            {"schedule": "cosine"},
            {"schedule": "cycle"},
            {"optimizer": "adamw", "weight_decay": 0.1},
            {"start": "first", "H": 8},
            {"start": "gaussian"},
        )
    ),
    REGRESSION,
    REGRESSION | {"schedule": "root", "optimizer": "structure_aware"},
    REGRESSION | {"curvature": True},
    LAYER | {"schedule": "warmup"},
    LAYER | {"optimizer": "adamw", "weight_decay": 0.1, "moves": "WV"},
    LAYER | {"kernel": "normalized"},
    LAYER | {"curvature": True},
]


@pytest.mark.parametrize("values", PARTS, ids=str)
def test_exported_lines_give_the_curve_of_every_part(values):
    assert_repeats(whole(), resolve(DEFAULTS | SMALL | values))


def test_page_and_python_offer_the_same():
    for seed in range(60):
        rng, own = np.random.default_rng(seed), ("", "heads", "regression", "layer")[seed % 4]
        drawn = {
            control.name: control.values[rng.integers(len(control.values))] for control in CONTROLS
        }
        kept = resolve(drawn, own)
        assert (
            asked(whole(), f"resolve(spec.controls, {json.dumps(drawn)}, {json.dumps(own)})")
            == kept
        )
        there = f"(c) => offered(c, {json.dumps(kept)}, {json.dumps(own)}).length"
        assert asked(whole(), f"spec.controls.filter({there}).map((c) => c.name)") == shown(
            kept, own
        )
        assert resolve(kept, own) == kept


def test_an_entry_that_does_not_apply_is_not_offered():
    assert resolve(DEFAULTS | {"data": "own"})["data"] == "mixture"
    assert resolve(DEFAULTS | {"data": "own"}, "heads")["data"] == "own"
    assert resolve(DEFAULTS | {"model": "regression", "start": "zeros"})["start"] == "normal"
    assert "kernel" not in shown(DEFAULTS) and "kernel" in shown(
        resolve(DEFAULTS | {"model": "layer"})
    )


def test_the_first_experiment_is_the_run_of_chapter_1_and_its_column_has_most_weight():
    settings = LAB.experiments["first"]
    data = mha.data.tokenized_mixture(n=100, T=10, d=8, M=4, zeta=0.1, S=2.0, sigma=0.2)
    zero, descent = mha.MultiHeadAttention.zeros(H=1, T=10, d=8), mha.GradientDescent(lr=1.0)
    theirs = mha.train(zero, data, descent, steps=2000, record=40)
    assert (LAB.path(**settings).loss == theirs.loss).all()
    weights, (column,) = LAB.drawn(**settings)["weights"], np.flatnonzero(data.relevant[0])
    rest = np.delete(weights, column, axis=1).max(axis=1)
    assert ((weights[:, column] > 0.5) & (weights[:, column] > rest)).sum() >= 8


@pytest.mark.parametrize("name", LAB.experiments)
def test_an_experiment_is_offered_as_it_stands(name):
    assert resolve(LAB.experiments[name]) == LAB.experiments[name]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: LAB.path(heads=2), ["heads: no such control", "model, data"]),
        (lambda: LAB.code(H=3), ["H: expected one of 1, 2", "got 3"]),
        (lambda: LAB.path(model="heads", data="own"), None),
    ],
)
def test_unknown_settings_are_refused(call, words):
    if words:
        assert_refused(call, ValueError, words)
    else:
        assert call().loss[0] > 0, "without a file the data are generated"


def test_values_can_be_set_from_python():
    lab = mhabook.laboratory()
    lab.values = {"model": "layer", "lr": 0.02}
    assert (lab.values["data"], lab.values["lr"]) == ("sequences", 0.02)
    assert "AttentionLayer" in lab.code() and "data = sequences" in repr(lab)


@pytest.mark.parametrize(("shape", "rows"), [((5, 7), 5), ((7, 5), 5), ((1, 3), 1)])
def test_singular_values_say_that_they_are_at_work(shape, rows):
    v8, A = MiniRacer(), np.random.default_rng(0).standard_normal(shape)
    v8.eval(exposed(BOOK / "live" / "engine" / "singular.js"))
    v8.eval("var told = 0; globalThis.alive = () => { told++; }; 0")
    found = asked(v8, f"singularValues({A.ravel().tolist()}, {shape[0]}, {shape[1]})")
    np.testing.assert_allclose(found, np.linalg.svd(A)[1], rtol=1e-12)
    assert v8.eval("told") >= rows and v8.eval("told") % rows == 0


def test_the_constants_of_a_layer_are_computed_once_a_step():
    right = "function valueConstants("
    counted = f"{right}...all) {{ globalThis.count = (globalThis.count ?? 0) + 1; return counted(...all); }}\n"
    v8 = machine(with_bug(SCRIPT, right, counted + "function counted("))
    result = asked_run(v8, resolve(DEFAULTS | SMALL | LAYER))
    assert {"least_singular", "value_smoothness"} <= set(result["curves"]) and len(
        result["steps"]
    ) > 10
    assert v8.eval("count") == len(result["steps"])
