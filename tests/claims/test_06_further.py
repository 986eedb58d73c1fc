"""What the page multihead/06_further says, held against what its cells leave."""

import numpy as np

import mhabook
import mhalib as mha
from mhabook.c06_planted.statements import alignments, cosine, seen_in_mean
from mhabook.c06_planted.tables import COLUMNS, COUNTS, HEADS, RULES, SETTINGS, by_heads
from page import Page

page = Page("multihead/06_further")


@page.after("train-one")
def test_one_head_from_zero_finds_the_planted_head(end, one):
    assert round(end["W"], 2) == 0.99
    assert round(end["U"], 2) == 0.99
    assert one.test_accuracy[-1] == 0.938


@page.after("train-one")
def test_one_head_from_zero_is_half_aligned_before_step_40(data, one):
    aligned = alignments(one, data.truth)
    assert one.steps[aligned["W"] > 0.5][0] < 40
    assert one.steps[aligned["U"] > 0.5][0] < 40


@page.after("train-one")
def test_the_first_step_aligns_the_decoder_alone(data, one):
    aligned = alignments(one, data.truth)
    assert aligned["W"][1] == 0
    assert 0.3 < aligned["U"][1] < 0.4


@page.after("figure-alignments")
def test_eight_random_heads_fit_best_and_test_worst(equal, mixed, one):
    assert mixed.loss[-1] < equal.loss[-1] < one.loss[-1]
    assert mixed.test_loss[-1] > 3 * one.test_loss[-1]
    assert equal.test_accuracy[-1] == 0.950
    assert mixed.test_accuracy[-1] == 0.812


@page.after("figure-alignments")
def test_eight_heads_find_the_planted_head_from_zero_and_not_from_a_random_start(aligned):
    assert round(aligned["8 heads, zero"]["W"][-1], 3) == 0.995
    assert aligned["8 heads, random"]["W"].max() < 0.2


@page.after("own-cosines")
def test_two_of_eight_heads_come_near_and_one_goes_to_the_opposite(own):
    assert np.round(own[0], 2).tolist() == [0.29, 0.88, 0.86, 0.38, -0.32, 0, -0.71, -0.13]
    assert np.round(own[1, [1, 2, 6]], 2).tolist() == [0.79, 0.74, -0.74]


# Prove: what alignment can be


@page.after("own-cosines")
def test_no_lengths_lift_the_eight_cosines_over_0_54(aligned, own):
    assert round(float(np.sqrt((own[0] ** 2).mean())), 2) == 0.54
    assert round(aligned["8 heads, random"]["W"][-1], 2) == 0.17


@page.after("own-cosines")
def test_eight_heads_start_with_an_alignment_of_0_09():
    assert round((8 * 16) ** -0.5, 2) == 0.09


@page.after("own-cosines")
def test_after_one_step_the_decoder_is_nearly_as_aligned_as_equal_rows_can_be(data, one):
    aligned, teacher = alignments(one, data.truth)["U"][1], data.truth.U
    assert round(aligned, 2) == 0.37
    assert round(len(teacher) ** 0.5 * np.linalg.norm(teacher.mean(axis=0)) / np.linalg.norm(teacher), 2) == 0.38


@page.after("own-cosines")
def test_the_first_row_is_the_mean_row_turned():
    def looks(seed):
        data = mha.data.planted(n=1000, T=10, d=5, seed=seed)
        teacher, row = data.truth, (data.y[:, None] * data.X.mean(axis=1)).mean(axis=0)
        predicted = seen_in_mean(teacher.W, teacher.U, data.fresh(20_000, seed=3).X).mean(axis=0)
        return cosine(row, predicted), cosine(row, teacher.U.mean(axis=0))
    turned, mean_row = np.array([looks(seed) for seed in range(5)]).T
    assert np.round(turned.min(), 2) == 0.95
    assert np.round(turned.max(), 2) == 0.98
    assert np.round(mean_row.min(), 2) == 0.64
    assert np.round(mean_row.max(), 2) == 0.96


@page.after("own-cosines")
def test_the_statements_of_the_page_hold_and_fail_without_their_hypothesis():
    for name in ("prop-alignment-heads", "prop-alignment-start", "prop-equal-rows", "prop-first-look",
                 "prop-split-decoders"):
        assert mhabook.ledger[name].check(0).holds
        assert not mhabook.ledger[name].twin(0).holds


# Check it by number: Figures 4 and 5


@page.after("table")
def test_the_stored_run_is_the_librarys(again, again_data, row):
    np.testing.assert_allclose(again.loss, row["loss"][0], rtol=1e-8)
    np.testing.assert_allclose(alignments(again, again_data.truth)["U"], row["align_U"][0], rtol=1e-7, atol=1e-12)


@page.after("verdict-table")
def test_adam_from_zero_trains_faster_with_more_heads_at_d_5(verdicts):
    assert verdicts[10, 5, 0.0, "adam", "loss"] == ["faster"] * 4
    assert verdicts[5, 5, 0.0, "adam", "loss"] == ["faster"] * 4
    assert verdicts[10, 10, 0.0, "adam", "loss"] == ["faster"] + ["mixed"] * 3


@page.after("verdict-table")
def test_adam_from_zero_tests_faster_with_more_heads_up_to_step_300_at_d_5(verdicts):
    assert verdicts[10, 5, 0.0, "adam", "test_loss"][:3] == ["faster"] * 3
    assert verdicts[10, 5, 0.0, "adam", "test_loss"][3] != "faster"
    assert verdicts[5, 5, 0.0, "adam", "test_loss"] == ["faster"] * 4
    assert verdicts[10, 10, 0.0, "adam", "test_loss"] == ["slower"] + ["mixed"] * 3


@page.after("verdict-table")
def test_with_the_root_nothing_is_faster_from_zero(verdicts):
    for (_, _, start, rule, _), row in verdicts.items():
        if start == 0 and rule in RULES[:2]:
            assert "faster" not in row


@page.after("verdict-table")
def test_with_the_root_gradient_descent_and_momentum_agree_with_a_delay(verdicts):
    for T in (10, 5):
        heavy = verdicts[T, 5, 0.0, "momentum-root", "loss"]
        assert verdicts[T, 5, 0.0, "gd-root", "loss"][1:] == heavy[2:] + ["mixed"]


@page.after("verdict-table")
def test_from_random_starts_training_is_faster_early_and_under_adam_always(verdicts):
    for rule in RULES:
        assert verdicts[10, 5, 0.3, rule, "loss"][:2] == ["faster"] * 2
    assert verdicts[10, 5, 0.3, "adam", "loss"] == ["faster"] * 4


@page.after("verdict-table")
def test_from_random_starts_adam_tests_faster_only_at_step_30(verdicts):
    assert verdicts[10, 5, 0.3, "adam", "test_loss"][0] == "faster"
    assert "faster" not in verdicts[10, 5, 0.3, "adam", "test_loss"][1:]


@page.after("verdict-table")
def test_from_random_starts_momentum_trains_faster_at_steps_30_and_100_and_tests_faster_nowhere(verdicts):
    assert verdicts[10, 5, 0.3, "momentum-root", "loss"][:2] == ["faster"] * 2
    assert "faster" not in verdicts[10, 5, 0.3, "momentum-root", "loss"][2:]
    assert "faster" not in verdicts[10, 5, 0.3, "momentum-root", "test_loss"]


@page.after("verdict-table")
def test_the_median_accuracy_falls_with_the_heads_from_random_starts_alone(table):
    random, zero = (full_size(table, start, "test_accuracy") for start in (0.3, 0.0))
    assert [round(np.median(ends), 2) for ends in random.values()] == [0.95, 0.81, 0.77]
    assert min(np.median(ends) for ends in zero.values()) > 0.94


@page.after("verdict-table")
def test_from_random_starts_one_head_finds_the_planted_one_in_three_trials_of_five(table):
    one = np.sort(full_size(table, 0.3, "align_W")[1])
    assert np.round(one[:2], 2).tolist() == [-0.51, 0.09]
    assert one[2] > 0.98


@page.after("verdict-table")
def test_from_random_starts_four_and_sixteen_heads_find_it_in_none(table):
    ends = full_size(table, 0.3, "align_W")
    assert (round(np.median(ends[4]), 2), round(ends[4].max(), 2)) == (0.32, 0.61)
    assert (round(np.median(ends[16]), 2), round(ends[16].max(), 2)) == (0.13, 0.20)


@page.after("verdict-table")
def test_from_zero_the_median_alignment_is_0_9_and_more_for_every_number_of_heads(table):
    for T, d, start in SETTINGS[:3]:
        for rows in by_heads(table.where(T=T, d=d, start=start, rule="gd-root")).values():
            assert np.median(rows["align_W"][:, -1]) > 0.9
            assert np.median(rows["align_U"][:, -1]) > 0.9


@page.after("verdict-table")
def test_from_zero_single_trials_at_d_10_end_lower(table):
    assert round(by_heads(table.where(T=10, d=10, start=0.0, rule="adam"))[16]["align_W"][:, -1].min(), 1) < 0.5


# A map instead of a best point


@page.after("map-table")
def test_map_from_random_starts_training_is_faster_in_99_verdicts_of_99(marks):
    at_random, from_zero = halves(marks)
    assert all(row[k] == "fff" for row in at_random for k in (0, 2, 4))
    assert len(at_random) == 11
    assert len(from_zero) == 26


@page.after("map-table")
def test_map_no_test_loss_falls_at_all_three_steps(marks):
    assert not any(row[k] == "fff" for row in marks.values() for k in (1, 3, 5))


@page.after("map-table")
def test_map_verdicts_are_counted_right(marks):
    at_random, from_zero = halves(marks)
    assert counts(row[k] for row in at_random for k in (1, 3, 5)) == [24, 4, 71]
    assert counts(row[4] for row in from_zero) == [49, 0, 29]
    assert counts(row[k] for row in from_zero for k in (0, 2)) == [41, 22, 93]
    assert counts(row[k] for row in from_zero for k in (1, 3, 5)) == [7, 112, 115]


@page.after("map-table")
def test_map_from_random_starts_a_test_loss_is_slower_only_with_wrong_labels(marks):
    assert {setting[5] for setting, row in marks.items()
            if setting[6] > 0 and "s" in row[1] + row[3] + row[5]} == {0.2}


@page.after("map-table")
def test_map_with_a_margin_of_1_the_head_is_nearly_found(chart, marks):
    ends = median_alignments(chart, marks)
    clear = sorted(end for (setting, *_), end in ends.items() if setting[4] == 1)
    assert round(clear[0], 2) == 0.70
    assert clear[1] > 0.87
    assert clear[-1] < 0.985


@page.after("map-table")
def test_map_without_a_margin_only_one_head_at_d_3_finds_it(chart, marks):
    ends = median_alignments(chart, marks)
    small = {key: end for key, end in ends.items() if key[0][2] == 3 and key[1:] == ("gd-root", 1)}
    assert min(small.values()) > 0.975
    assert max(end for key, end in ends.items() if key[0][4] < 1 and key not in small) < 0.84


@page.after("samples-axis-table")
def test_along_n_adam_is_faster_at_all_steps_in_training_and_test_where_samples_are_plenty(by_n):
    everywhere = [(key, n) for key, row in by_n.items() for n, pair in zip(COUNTS, row, strict=True)
                  if pair == ["ffff"] * 2]
    assert everywhere == [(("adam", 5, 5), 1000), (("adam", 5, 5), 2000), (("adam", 10, 5), 2000)]


@page.after("samples-axis-table")
def test_along_n_with_the_root_no_verdict_is_faster_from_1000_samples_on(by_n):
    for (rule, *_), row in by_n.items():
        if rule != "adam":
            assert not any("f" in word for pair in row[2:] for word in pair)


@page.after("samples-axis-table")
def test_along_n_adam_at_d_10_is_slower_in_test_with_250_samples_and_mixed_with_2000(by_n):
    assert by_n["adam", 10, 10][0] == ["ffff", "ssss"]
    assert by_n["adam", 10, 10][3] == ["ffff", "mmmm"]


@page.after("samples-axis-table")
def test_momentum_is_nowhere_faster_in_training_and_test_at_once_from_zero(by_n, marks):
    pairs = [row[2:4] for row in halves(marks)[1]]
    pairs += [pair for key, row in by_n.items() if key[0] == "momentum-root" for pair in row]
    assert not any(train == test == "f" for pair in pairs for train, test in zip(*pair, strict=True))


# Move the sliders


@page.after("live")
def test_sliders_a_random_start_hides_the_head_from_eight_heads_and_few_samples_from_one(live):
    def end(**values):
        return round(live.drawn(**values)["align_W"][-1], 2)
    assert end() == end(start="random") == end(H=8, scaling="root") == 0.94
    assert end(H=8) == 0.86
    assert end(n=25) == 0.60
    assert end(H=8, start="random") == 0.09


@page.after("live")
def test_sliders_with_an_eighth_of_the_samples_the_test_loss_more_than_triples(live):
    assert live.drawn(n=25)["test_loss"][-1] > 3 * live.drawn()["test_loss"][-1]


# Where it breaks


@page.after("map-table")
def test_one_head_needs_samples(chart, steps, table):
    full = by_heads(table.where(T=10, d=5, start=0.0, rule="gd-root"))[1]["align_W"][:, list(steps).index(300)]
    assert np.median(full) > 0.99
    assert round(map_end(chart, "align_W", 1, start=0.0, n=400), 2) == 0.91
    assert round(map_end(chart, "align_W", 1, start=0.0), 2) == -0.13


@page.after("map-table")
def test_with_200_samples_sixteen_random_heads_predict_better_than_one(chart):
    assert [round(map_end(chart, "test_accuracy", H, start=0.3), 2) for H in (1, 16)] == [0.60, 0.65]


@page.after("map-table")
def test_where_one_random_head_misses_the_teacher_sixteen_predict_better(table):
    missed = full_size(table, 0.3, "align_W")[1] < 0.9
    accuracy = full_size(table, 0.3, "test_accuracy")
    assert np.round(accuracy[1][missed], 2).tolist() == [0.66, 0.71]
    assert np.round(accuracy[16][missed], 2).tolist() == [0.74, 0.76]


# Exercises
