"""What the figures of mha.plots say in words, and the paper they are drawn on."""

import numpy as np
import pytest

import livegrad
import mhalib as mha
from livegrad.live import frames


@pytest.mark.parametrize(("asked", "paper"), [("book", "rgba(0,0,0,0)"), ("", "white")])
def test_a_notebook_draws_on_white_paper_and_what_a_script_colors_is_clear(
    monkeypatch, asked, paper
):
    monkeypatch.setenv("LIVEGRAD_FIGURES", asked)
    layout, live = mha.plots.curves([1, 2], {"a": [1.0, 2.0]}).layout, frames.panels("a").layout
    assert (layout.paper_bgcolor, layout.plot_bgcolor) == (paper, paper)
    assert (live.paper_bgcolor, live.plot_bgcolor) == ("rgba(0,0,0,0)", "rgba(0,0,0,0)")


def test_the_words_for_a_run_begin_where_its_lines_do():
    """Step 0 has no place on a logarithmic axis."""
    path = livegrad.Path(np.array([0, 1, 10]), (), {"loss": np.array([9.0, 4.0, 2.0])}, None)
    figure = mha.plots.training(path, "A run")
    words = figure.layout.meta["alt"]
    assert words == "A run: from step 1 to 10, training loss falls from 4 to 2."
    assert [title.text for title in figure.layout.annotations] == ["loss"], "nothing beside it"


def test_the_words_for_attention_give_the_share_that_a_query_has_for_the_relevant_tokens():
    A = [[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.25, 0.75]]
    words = mha.plots.attention(A, [False, True, True]).layout.meta["alt"]
    assert words == (
        "Attention weights of 3 queries on 3 keys, the largest 0.75. "
        "On average 75% of the weight is on the relevant tokens 1, 2."
    )


def test_the_lines_of_a_run_are_named_by_what_they_show():
    """All five curves differ, so that no line could stand for another."""
    curves = {
        name: np.array([0.9, 0.5, 0.1]) * k
        for k, name in enumerate(
            ("loss", "test_loss", "attention_score", "accuracy", "test_accuracy"), start=1
        )
    }
    path = livegrad.Path(np.array([1, 2, 3]), (), curves, None)
    figure = mha.plots.training(path)
    assert [title.text for title in figure.layout.annotations] == ["loss", "share"]
    assert {(line.yaxis, line.name): line.y.tolist() for line in figure.data} == {
        ("y", "training loss"): path.loss.tolist(),
        ("y", "test loss"): path.test_loss.tolist(),
        ("y2", "weight on relevant token"): path.attention_score.tolist(),
        ("y2", "training accuracy"): path.accuracy.tolist(),
        ("y2", "test accuracy"): path.test_accuracy.tolist(),
    }


def test_a_star_marks_the_rows_of_relevant_tokens():
    figure = mha.plots.tokens(np.arange(12.0).reshape(4, 3), [0, 1, 0, 1])
    assert figure.layout.yaxis.ticktext == ("0", "1★", "2", "3★")
    assert figure.layout.yaxis.autorange == "reversed", "the first on top"
    assert figure.layout.meta["alt"].endswith(", with a star at the relevant tokens 1, 3.")


def test_a_band_goes_between_two_quantiles_of_the_runs():
    """Five runs in a turned order, so that no run is a quantile at every step."""
    x, ranks = np.array([1.0, 2.0, 4.0]), np.arange(5.0)
    runs = np.stack([ranks + 1, 10 * (np.roll(ranks, 2) + 1), 7 - np.roll(ranks, 4)], axis=1)
    figure = mha.plots.bands(x, {"loss": runs})
    band, line = figure.data
    np.testing.assert_allclose(line.y, [3, 30, 5])
    np.testing.assert_allclose(band.x, [1, 2, 4, 4, 2, 1])
    np.testing.assert_allclose(band.y, [4, 40, 6, 4, 20, 2])
    assert (band.fill, band.fillcolor) == ("toself", line.line.color)
    assert figure.layout.meta["alt"] == "over step, loss rises from 3 to 5, the median of 5 runs."
    whole, _ = mha.plots.bands(x, {"loss": runs}, between=(0, 1)).data
    np.testing.assert_allclose(whole.y, [5, 50, 7, 3, 10, 1])


def test_a_band_leaves_out_what_a_log_axis_does_not_show():
    band, line = livegrad.plots.bands([0, 1, 2], {"a": [[0.0, 1.0, 2.0]] * 2}).data
    assert band.x.tolist() == [1, 2, 2, 1]
    np.testing.assert_array_equal(line.y, [np.nan, 1, 2])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"named": {"a": [[1.0, 2.0, 3.0]]}}, "a row of 2 values for each run"),
        ({"named": {"a": [[1.0, 2.0], [1.0]]}}, "a run that stopped early has fewer"),
        ({"named": {"a": [1.0, 2.0]}}, "expected a matrix"),
        ({"between": (0.7, 0.2)}, "between: expected a pair of shares"),
        ({"between": (0, 2)}, "between: expected a pair of shares"),
        ({"between": 0.5}, "between: expected a pair of shares"),
    ],
)
def test_what_makes_no_band_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        mha.plots.bands([0, 1], **{"named": {"a": [[1.0, 2.0]]}} | given)


def test_a_curve_has_its_own_name():
    figure = mha.plots.curves(
        [1, 2], {"a": [1.0, 2.0], "b": ([5, 6], [3.0, 4.0])}, "x", "y", log_y=False
    )
    assert [(line.name, line.x.tolist(), line.y.tolist()) for line in figure.data] == [
        ("a", [1, 2], [1, 2]),
        ("b", [5, 6], [3, 4]),
    ]
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("x", "y")


@pytest.mark.parametrize(
    ("count", "rows"), [(1, [1]), (2, [2]), (3, [3]), (4, [2, 2]), (5, [2, 2, 1])]
)
def test_up_to_three_panels_stand_in_one_row_and_more_in_rows_of_two(count, rows):
    figure = mha.plots.slices({f"panel {k}": np.eye(2) for k in range(count)}, [0, 1])
    tops = [figure.layout[f"yaxis{trace.yaxis[1:]}"].domain[1] for trace in figure.data]
    assert [tops.count(top) for top in dict.fromkeys(tops)] == rows
    # All axes along x are named below the last panel of their column, all along y at the left.
    named = [
        [figure.layout[f"{letter}axis{trace.yaxis[1:]}"].title.text for trace in figure.data]
        for letter in "xy"
    ]
    assert named == [
        [None] * (count - rows[0]) + ["a"] * rows[0],
        [("b", *[None] * (rows[0] - 1))[k % rows[0]] for k in range(count)],
    ]
