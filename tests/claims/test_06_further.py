"""What the page multihead/06_further says, held against what its cells leave."""

import numpy as np

import mhalib as mha
from mhabook.c06_planted.statements import alignments, cosine, seen_in_mean
from mhabook.c06_planted.tables import COUNTS, RULES, by_heads
from page import Page

page = Page("multihead/06_further")


@page.after("say-own")
def test_eight_heads_from_a_random_start_fit_best_and_test_worst_of_three_runs(
    aligned, equal, mixed, one, own
):
    assert all(
        aligned[name][kind][-1] > 0.98
        for name in ("1 head, zero", "8 heads, zero")
        for kind in "WU"
    )
    assert aligned["8 heads, random"]["W"].max() < 0.2
    assert mixed.loss[-1] < equal.loss[-1] < one.loss[-1]
    assert mixed.test_loss[-1] > 3 * one.test_loss[-1]
    assert np.flatnonzero(own[0] > 0.8).tolist() == [1, 2]
    assert np.flatnonzero(own[0] < -0.6).tolist() == np.flatnonzero(own[1] < -0.6).tolist() == [6]


@page.after("say-own")
def test_the_first_step_aligns_the_decoder_alone_and_nearly_as_far_as_equal_rows_can_be(
    bound, data, one
):
    aligned = alignments(one, data.truth)
    assert aligned["W"][1] == 0
    assert 0.95 * bound < aligned["U"][1] <= bound


@page.after("say-own")
def test_the_first_row_is_nearer_to_the_mean_row_turned_than_to_the_mean_row():
    for seed in range(5):
        data = mha.data.planted(n=1000, T=10, d=5, seed=seed)
        teacher, row = data.truth, (data.y[:, None] * data.X.mean(axis=1)).mean(axis=0)
        turned = seen_in_mean(teacher.W, teacher.U, data.fresh(20_000, seed=3).X).mean(axis=0)
        assert cosine(row, turned) > max(0.94, cosine(row, teacher.U.mean(axis=0)))


@page.after("table")
def test_the_stored_run_is_the_librarys(again, again_data, row):
    np.testing.assert_allclose(again.loss, row["loss"][0], rtol=1e-8)
    np.testing.assert_allclose(
        alignments(again, again_data.truth)["U"], row["align_U"][0], rtol=1e-7, atol=1e-12
    )


@page.after("verdict-table")
def test_the_verdicts_on_the_captions_are_those_of_the_table_of_claims(verdicts):
    def faster(T, d, start, rule, curve):
        return [word == "faster" for word in verdicts[T, d, start, rule, curve]]

    assert all(faster(T, 5, 0.0, "adam", "loss") == [True] * 4 for T in (5, 10))
    assert verdicts[10, 10, 0.0, "adam", "loss"] == ["faster"] + ["mixed"] * 3
    assert faster(10, 5, 0.0, "adam", "test_loss") == [True] * 3 + [False]
    assert faster(5, 5, 0.0, "adam", "test_loss") == [True] * 4
    assert verdicts[10, 10, 0.0, "adam", "test_loss"] == ["slower"] + ["mixed"] * 3
    assert not any(any(faster(*key)) for key in verdicts if key[2] == 0 and key[3] in RULES[:2])
    assert faster(10, 5, 0.3, "adam", "loss") == [True] * 4
    assert faster(10, 5, 0.3, "adam", "test_loss") == [True] + [False] * 3
    assert faster(10, 5, 0.3, "momentum-root", "loss") == [True] * 2 + [False] * 2
    assert not any(faster(10, 5, 0.3, "momentum-root", "test_loss"))


def full_size(table, start, curve):
    """H → trials: where a curve of gradient descent at T = 10, d = 5 ends."""
    return {
        H: rows[curve][:, -1]
        for H, rows in by_heads(table.where(T=10, d=5, start=start, rule="gd-root")).items()
    }


@page.after("verdict-table")
def test_every_number_of_heads_finds_the_planted_one_from_zero_and_only_one_head_from_a_random_start(
    table,
):
    for rows in by_heads(table.where(start=0.0, rule="gd-root")).values():
        for T, d in {(5, 5), (10, 5), (10, 10)}:
            each = rows.where(T=T, d=d)
            assert min(np.median(each[f"align_{name}"][:, -1]) for name in "WU") > 0.9
    one, four, sixteen = (np.sort(ends) for ends in full_size(table, 0.3, "align_W").values())
    assert (one > 0.98).sum() == 3 and one[0] < -0.4
    assert max(four) < 0.7
    assert np.median(sixteen) < np.median(four) and max(sixteen) < max(four)


def halves(marks):
    """The rows of the map: from random starts, from zero. In a row training and test alternate, for
    three rules."""
    return (
        [row for setting, row in marks.items() if setting[6] > 0],
        [row for setting, row in marks.items() if setting[6] == 0],
    )


def counts(rows, places):
    """How many verdicts are faster, slower, mixed."""
    letters = "".join(row[k] for row in rows for k in places)
    return [letters.count(letter) for letter in "fsm"]


@page.after("map-table")
def test_the_two_halves_of_the_map(marks):
    at_random, from_zero = halves(marks)
    train, test = (0, 2, 4), (1, 3, 5)
    assert counts(at_random, train)[1:] == [0, 0]
    assert counts(at_random, test)[2] > sum(counts(at_random, test)) / 2
    assert {
        setting[5] for setting, row in marks.items() if setting[6] > 0 and counts([row], test)[1]
    } == {0.2}
    assert (
        counts(from_zero, [4])[0] > sum(counts(from_zero, [4])) / 2
        and counts(from_zero, [4])[1] == 0
    )
    assert counts(from_zero, train[:2])[2] > sum(counts(from_zero, train[:2])) / 2
    assert counts(from_zero, test)[1] > 10 * counts(from_zero, test)[0]
    assert not any(row[k] == "fff" for row in marks.values() for k in test)


def map_end(chart, curve, H, **changed):
    """The median after 300 steps of gradient descent, at the center of the map but for what is
    changed."""
    chosen = {
        "n": 200,
        "T": 10,
        "d": 5,
        "strength": 1.0,
        "margin": 0.0,
        "flip": 0.0,
        "rule": "gd-root",
        "lr": 1.0,
    }
    return np.median(chart.where(**chosen | changed, H=H)[curve].reshape(5, -1)[:, -1])


@page.after("map-table")
def test_with_200_samples_few_trials_from_zero_find_the_head(chart):
    found = chart.where(n=200, start=0.0)["align_W"] > 0.9
    assert 0 < found.mean() < 0.25


@page.after("samples-axis-table")
def test_along_n_adam_is_faster_everywhere_where_samples_are_plenty_and_the_root_never(by_n, marks):
    everywhere = [
        (*key, n)
        for key, row in by_n.items()
        for n, pair in zip(COUNTS, row, strict=True)
        if pair == ["ffff"] * 2
    ]
    assert everywhere == [("adam", 5, 5, 1000), ("adam", 5, 5, 2000), ("adam", 10, 5, 2000)]
    assert [by_n["adam", 10, 10][k] for k in (0, 3)] == [["ffff", "ssss"], ["ffff", "mmmm"]]
    rooted = {key: row for key, row in by_n.items() if key[0] != "adam"}
    assert not any("f" in word for row in rooted.values() for pair in row[2:] for word in pair)
    pairs = [row[2:4] for row in halves(marks)[1]]
    pairs += [pair for key, row in rooted.items() if key[0] == "momentum-root" for pair in row]
    assert not any(
        train == test == "f" for pair in pairs for train, test in zip(*pair, strict=True)
    )


@page.after("live")
def test_sliders_a_random_start_hides_the_head_from_eight_heads_and_few_samples_from_one(live):
    ends = {
        name: live.drawn(**values)
        for name, values in {
            "one": {},
            "random": {"scale": 0.3},
            "eight": {"H": 8},
            "longer": {"H": 8, "lr": 0.1},
            "few": {"n": 25},
            "different": {"H": 8, "scale": 0.3},
        }.items()
    }
    found = {name: end["align_W"][-1] for name, end in ends.items()}
    assert abs(found["random"] - found["one"]) < 0.02 and abs(found["longer"] - found["one"]) < 0.02
    assert found["different"] < 0.2 < found["few"] < found["eight"] < found["one"]
    assert ends["few"]["test_accuracy"][-1] < ends["one"]["test_accuracy"][-1]


@page.after("samples-axis-table")
def test_one_head_needs_samples_and_more_random_heads_help_where_one_would_not_find_the_teacher(
    chart, steps, table
):
    full = by_heads(table.where(T=10, d=5, start=0.0, rule="gd-root"))[1]["align_W"][
        :, list(steps).index(300)
    ]
    assert np.median(full) > 0.98 > map_end(chart, "align_W", 1, start=0.0, n=400) > 0.9
    assert map_end(chart, "align_W", 1, start=0.0) < 0
    assert map_end(chart, "test_accuracy", 16, start=0.3) > map_end(
        chart, "test_accuracy", 1, start=0.3
    )
    ends, missed = full_size(table, 0.3, "test_accuracy"), full_size(table, 0.3, "align_W")[1] < 0.9
    assert np.median(ends[16]) < np.median(ends[4]) < np.median(ends[1])
    assert (ends[16][missed] > ends[1][missed]).all()
