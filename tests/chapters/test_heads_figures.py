"""Figures 2 and 3: what is stored is what the scripts compute, the plane is the collapse, the live
figure the path."""

from pathlib import Path

import numpy as np
import pytest

import mhabook
import mhalib as mha
from mhabook.c05_heads.figure import step_sizes, width
from mhabook.c05_heads.figure_two_steps import two_steps
from scripts import load

RESULTS = Path(__file__).parents[2] / "book" / "results"
CURVES = ("loss", "test_loss", "norm_W", "norm_U", "attention_score")


def script(name):
    return load(RESULTS / f"{name}.py")


def stored(name):
    return mhabook.Table.load(RESULTS / f"{name}.npz")


def assert_same_rows(rows, table, rel=1e-9):
    for row in rows:
        kept = table.where(H=row["H"])
        assert len(kept) == 1
        for name in CURVES:
            np.testing.assert_allclose(row[name], kept[name][0], rtol=rel, atol=1e-15)


def test_stored_curves_are_complete():
    table = stored("heads")
    assert sorted(np.unique(table["rule"])) == sorted(script("heads").RULES)
    assert len(table) == 5 * 5 * 7 and table["steps"].shape == (175, len(script("heads").STEPS))
    assert all(np.isfinite(table[name]).all() for name in CURVES)
    assert table.about["command"] == "python book/results/heads.py"


@pytest.mark.parametrize("rule", ["gd", "adam"])
def test_stored_curves_are_made_by_the_script(rule):
    module = script("heads")
    module.HEADS = (1, 16)
    assert_same_rows(module.run(rule=rule, seed=3), stored("heads").where(rule=rule, seed=3))


def test_rules_grow_as_the_figures_say():
    rules = script("heads").RULES
    for name, power in (
        ("gd", 0),
        ("gd-root", 0.5),
        ("adam", 0),
        ("momentum", 0),
        ("momentum-root", 0.5),
    ):
        assert rules[name](16).lr / rules[name](1).lr == pytest.approx(16**power)


def test_random_starts_are_made_by_the_script():
    module = script("heads_random")
    module.HEADS = (1, 2)
    table = stored("heads_random").where(scale=0.1, rule="gd-root", seed=2)
    rows = module.run(scale=0.1, rule="gd-root", seed=2)
    assert_same_rows(rows, table)
    for row in rows:
        kept = table.where(H=row["H"])["head_scores"][0]
        assert np.isfinite(kept).sum() == row["H"]
        assert np.nanmean(kept) == pytest.approx(row["attention_score"][-1], rel=1e-9)


@pytest.mark.parametrize(
    ("rule", "H", "lr"), [("gd", 8, 0.5), ("momentum", 8, 0.5), ("adam", 64, 0.0625)]
)
def test_a_pair_of_step_sizes_is_heads_and_a_step_size(rule, H, lr):
    """The collapse theorem, backwards: η_u/η_w = H, or its square root under Adam."""
    module = script("heads_plane")
    found, update = module.heads_and_rule(rule, 0.5, 0.0625)
    assert (found, update.lr) == (H, lr)
    row = stored("heads_plane").where(rule=rule, seed=1, eta_U=0.5, eta_W=0.0625)
    data = mha.data.tokenized_mixture(seed=1)
    again = module.ends(data, data.fresh(n=300, seed=1), found, update)
    np.testing.assert_allclose(again["loss"], row["loss"][0], rtol=1e-6)
    assert row["H"].tolist() == [H]


def test_the_plane_has_no_pair_twice():
    table = stored("heads_plane")
    keys = list(zip(table["rule"], table["seed"], table["eta_U"], table["eta_W"], strict=True))
    assert len(set(keys)) == len(keys) == 3 * 12 * (11 + 11 + 7)
    assert (table["eta_W"] <= table["eta_U"]).all()


@pytest.mark.parametrize("scaling", ["constant", "root"])
def test_live_width_is_the_run_of_its_controls(scaling):
    figure = width(n=6, T=4, d=6, M=2, steps=20, seed=3)
    path = figure.path(H=16, lr=0.3, scaling=scaling, optimizer="momentum", zeta=0.5, sigma=0.4)
    data = mha.data.tokenized_mixture(n=6, T=4, d=6, M=2, zeta=0.5, sigma=0.4, seed=3)
    rule = mha.Momentum(1.2 if scaling == "root" else 0.3)
    expected = mha.train(
        mha.MultiHeadAttention.zeros(16, 4, 6), data, rule, 20, test=data.fresh(seed=1), record=50
    )
    assert path.steps.tolist() == expected.steps.tolist()
    for name in CURVES:
        np.testing.assert_allclose(path.curves[name], expected.curves[name], rtol=1e-12)


def test_live_width_draws_every_curve_once_moving():
    spec = width(n=6, T=4, d=6, M=2, steps=20).spec
    moving = [place["y"] for place in spec["draw"] if not place.get("once")]
    assert sorted(moving) == sorted(CURVES)
    axes = {place["y"]: spec["figure"]["data"][place["trace"]]["yaxis"] for place in spec["draw"]}
    assert axes == {
        "loss": "y",
        "test_loss": "y",
        "norm_W": "y2",
        "norm_U": "y3",
        "attention_score": "y4",
    }


def test_live_width_refuses_a_run_of_no_steps():
    with pytest.raises(ValueError, match="steps: expected a whole number"):
        width(steps=0)


def multiples(values):
    return mhabook.plots.multiples(
        [0, 1, 10], {"loss": {"one": values}, "share": {"one": values / 100}}
    )


def test_multiples_draw_medians_and_bands():
    values = np.array([[3.0, 2, 1], [5, 4, 3], [40, 30, 20]])
    band, line = multiples(values).data[:2]
    assert line.y[1:].tolist() == [4, 3] and line.name == "one"
    assert band.y.tolist() == [30, 20, 1, 2] and band.x.tolist() == [1, 10, 10, 1]


def test_the_edge_of_a_band_is_off_by_less_than_a_pixel():
    values = np.append(np.geomspace(1e-30, 1e30, 999), np.nan)
    found = mhabook.plots._coarse(values.astype(np.float32))
    assert 0 < np.nanmax(abs(found / values - 1)) <= 1 / 512 and np.isnan(found[-1])


def test_multiples_have_one_legend_and_an_axis_for_shares():
    figure = multiples(np.array([[3.0, 2, 1], [5, 4, 3]]))
    shown = [trace.name for trace in figure.data if trace.showlegend]
    assert shown == ["one"]
    assert figure.layout.yaxis.type == "log" and figure.layout.yaxis2.type == "linear"
    assert "one ends at 2" in figure.layout.meta["alt"]


def test_a_name_has_one_look_in_all_panels_and_one_entry_in_the_legend():
    values = np.array([[3.0, 2, 1]])
    panels = {"a": ("one", "two"), "b": ("two", "three"), "c": ("four", "one", "three")}
    guides = [
        (panel, name, [1, 2], [1, 2])
        for panel, name in (("b", "early"), ("c", "late"), ("c", "early"))
    ]
    figure = mhabook.plots.multiples(
        [0, 1, 10], {panel: dict.fromkeys(lines, values) for panel, lines in panels.items()}, guides
    )
    lines = [trace for trace in figure.data if trace.fill is None]
    looks = {
        name: {(line.line.color, line.line.dash) for line in lines if line.name == name}
        for name in ("one", "two", "three", "four")
    }
    assert all(len(look) == 1 for look in looks.values()) and len(set.union(*looks.values())) == 4
    bands = [trace.fillcolor for trace in figure.data if trace.fill]
    assert bands == [line.line.color for line in lines[: len(bands)]]
    assert [(line.name, line.yaxis) for line in lines if line.showlegend] == [
        ("one", "y"),
        ("two", "y"),
        ("three", "y2"),
        ("four", "y3"),
        ("early", "y2"),
        ("late", "y3"),
    ]


@pytest.mark.parametrize(
    "value, words",
    [
        (89_123.0, "89,000"),
        (1e10, "10,000,000,000"),
        (0.05, "0.05"),
        (2.0, "2"),
        (0.0, "0"),
        (999.6, "1,000"),
        (-1234.0, "-1,200"),
        (0.00012345, "0.00012"),
        (1.234e-7, "1.2 times 10 to the power minus 7"),
        (3.46e20, "3.5 times 10 to the power 20"),
        (np.inf, "inf"),
    ],
)
def test_numbers_in_words_can_be_read_aloud(value, words):
    assert (
        mhabook.plots.dots({"heads": value}, "asked").layout.meta["alt"] == f"asked: heads {words}."
    )


def test_plane_draws_powers_of_two_and_paths_on_them():
    Z = np.array([[1.0, 2.0, 3.0], [4.0, np.nan, 6.0]])
    figure = mhabook.plots.plane(
        [0.5, 1, 2], [0.25, 4], Z, {"path": ([1, 2], [0.25, 1])}, "x", "y", "loss"
    )
    assert figure.data[0].x.tolist() == [-1, 0, 1] and figure.data[0].y.tolist() == [-2, 2]
    assert figure.data[1].x.tolist() == [0, 1] and figure.data[1].y.tolist() == [-2, 0]
    assert figure.layout.xaxis.ticktext == ("1/2", "2")
    assert "from 1 to 6" in figure.layout.meta["alt"]


FEW = mha.data.tokenized_mixture(n=6, T=4, d=6, M=2, zeta=0.25, seed=1)
ZERO = mha.MultiHeadAttention.zeros(3, 4, 6)


@pytest.mark.parametrize("rule", [mha.GradientDescent(0.7), mha.Momentum(0.05), mha.Adam(0.02)])
def test_the_figure_of_step_sizes_is_the_run_of_its_lines(rule):
    made = step_sizes(FEW, ZERO, rule, steps=12)
    np.testing.assert_allclose(made.path().loss, mha.train(ZERO, FEW, rule, 12).loss, rtol=1e-12)
    assert made.controls["H"].value == 3 and rule.lr in made.controls["lr"].values


@pytest.mark.parametrize(
    "data, start, rule, words",
    [
        (FEW.X, ZERO, mha.Adam(0.1), "data: expected a Dataset"),
        (
            mha.data.from_arrays(FEW.X, FEW.y),
            ZERO,
            mha.Adam(0.1),
            "data: expected samples that say which",
        ),
        (
            FEW,
            mha.MultiHeadAttention.random(1, 4, 6),
            mha.Adam(0.1),
            "start: expected MultiHeadAttention.zeros",
        ),
        (FEW, ZERO, mha.Momentum(0.1, 0.5), "rule: expected GradientDescent, Momentum or Adam"),
        (
            FEW,
            ZERO,
            mha.GradientDescent(lambda k: 0.1),
            "rule: expected GradientDescent, Momentum or Adam",
        ),
        (FEW, ZERO, mha.AdamW(0.1), "rule: expected GradientDescent, Momentum or Adam"),
    ],
)
def test_the_figure_of_step_sizes_refuses_what_its_controls_cannot_move(data, start, rule, words):
    with pytest.raises(TypeError, match=words):
        step_sizes(data, start, rule)


def test_the_figure_of_two_step_sizes_begins_as_64_heads_and_has_one_head():
    one, lr = mha.MultiHeadAttention.zeros(1, 4, 6), 0.7
    made = two_steps(FEW, one, mha.GradientDescent(lr), steps=12)
    for case, (H, scale) in zip(made.spec["tries"], ((1, 1), (64, 1), (64, 8)), strict=True):
        path = made.path(**case["values"])
        many = mha.MultiHeadAttention.zeros(H, 4, 6)
        rule = mha.GradientDescent(scale * lr)
        np.testing.assert_allclose(path.loss, mha.train(many, FEW, rule, 12).loss, rtol=1e-12)
    assert made.values == made.spec["tries"][1]["values"]
    np.testing.assert_allclose(made.path(eta_u=lr, eta_w=lr).loss, made.figure().data[3].y)


@pytest.mark.parametrize(
    "data, start, rule, words",
    [
        (FEW.X, ZERO, mha.GradientDescent(0.1), "data: expected a Dataset"),
        (FEW, ZERO, mha.GradientDescent(0.1), "start: expected one head, got 3"),
        (
            FEW,
            mha.MultiHeadAttention.zeros(1, 4, 6),
            mha.Adam(0.1),
            "rule: expected GradientDescent",
        ),
    ],
)
def test_the_figure_of_two_step_sizes_refuses_what_its_point_cannot_move(data, start, rule, words):
    with pytest.raises(TypeError, match=words):
        two_steps(data, start, rule)
