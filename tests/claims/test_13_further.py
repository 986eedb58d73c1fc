"""What the page kernels/13_further says, held against what its cells leave."""

import numpy as np

import mhabook
import mhalib as mha
from mhabook.c13_layer import statements as one_layer
from mhabook.c13_layer.runs import FRACTIONS, ROWS, remaining, steps_needed, tried
from page import Page

page = Page("kernels/13_further")
table = mhabook.stored("dimensions.npz")
KERNELS = ("softmax", "gaussian")


@page.after("train-others")
def test_below_the_threshold_the_loss_stops_and_above_it_goes_to_zero(runs):
    left = {name: run.loss[-1] / run.loss[0] for name, run in runs.items()}
    assert [round(left[f"{name}, D = 24"], 3) for name in ("softmax", "Gaussian")] == [0.081, 0.048]
    assert f"{left['softmax, D = 48']:.0e}" == "5e-07"
    assert 5e-16 < left["Gaussian, D = 48"] < 9e-16


@page.after("train-others")
def test_the_run_keeps_its_promise_at_every_step(promised, runs):
    assert f"{promised[-1]:.0e}" == "3e-13"
    loss = runs["Gaussian, D = 48"].loss
    assert (loss <= loss[0] * promised * (1 + 1e-9)).all()


# --- by dimension ----------------------------------------------------------------------------------------------


@page.after("dimension-table")
def test_the_table_has_eight_seeds_for_each_entry():
    assert len(table) == 496
    assert all(len(remaining(row, "softmax", D)) == 8 for row in ROWS for D in tried(row))


@page.after("dimension-table")
def test_from_tied_starts_the_values_reach_zero_beyond_the_threshold():
    left = medians("values alone, tied")
    assert [f"{x:.2g}" for x in left["softmax"][:3]] == ["0.34", "0.13", "0.0022"]
    assert [f"{x:.2g}" for x in left["gaussian"][:3]] == ["0.3", "0.12", "0.0033"]
    assert [f"{x:.0e}" for x in left["softmax"][3:]] == ["4e-12", "3e-17", "3e-28"]
    assert [f"{x:.0e}" for x in left["gaussian"][3:]] == ["1e-18", "5e-28", "2e-29"]


@page.after("dimension-table")
def test_from_untied_starts_the_values_are_slow_at_every_dimension():
    left = medians("values alone, untied, ½")
    assert [round(x, 2) for x in left["softmax"]] == [0.52, 0.26, 0.14, 0.12, 0.16, 0.12]
    assert [round(x, 2) for x in left["gaussian"]] == [0.44, 0.25, 0.12, 0.09, 0.13, 0.11]


@page.after("dimension-table")
def test_tied_starts_have_larger_least_singular_values():
    least = {(D, tied): table.where(only="WV", D=D, tied=tied, scale=1.0 if tied else 0.5)["sigma"]
             for D in (32, 64) for tied in (False, True)}
    ends = {key: [f"{pick(found):.2g}" for pick in (min, max)] for key, found in least.items()}
    assert ends[64, False] == ["0.0023", "0.12"]
    assert ends[64, True] == ["0.46", "2.3"]
    assert [f"{pick(least[32, tied]):.0e}" for tied in (False, True) for pick in (min, max)] == [
        "9e-05", "1e-02", "2e-03", "3e-01"]


# --- queries, keys and values; queries alone -------------------------------------------------------------------


@page.after("dimension-table")
def test_training_everything_half_the_threshold_is_enough_for_softmax():
    assert max(remaining("queries, keys, values", "softmax", D).max() for D in FRACTIONS) < 1e-27
    assert (remaining("queries, keys, values", "softmax", 16) < 1e-9).all()
    assert max(medians("queries, keys, values")["softmax"]) < 1e-28


@page.after("dimension-table")
def test_training_everything_the_gaussian_kernel_is_less_reliable():
    left = {D: np.sort(remaining("queries, keys, values", "gaussian", D)) for D in FRACTIONS}
    assert left[16][-2:].round(4).tolist() == [0.0064, 0.0075]
    assert left[16][-3] < 1e-9
    assert [int((left[D] > 1e-5).sum()) for D in FRACTIONS] == [2, 0, 1, 0, 1, 0]
    assert left[48][-2] < 1e-9
    middle = medians("queries, keys, values")["gaussian"]
    assert f"{middle[0]:.0e}" == "6e-11"
    assert max(middle[1:]) < 1e-28


@page.after("dimension-table")
def test_training_everything_most_runs_succeed_below_the_threshold():
    done = [sum((remaining("queries, keys, values", kernel, D) < 1e-9).sum() for kernel in KERNELS) for D in (16, 24)]
    assert done == [14, 16]


@page.after("dimension-table")
def test_training_the_queries_neither_kernel_is_always_ahead():
    left = {kernel: np.array([[remaining(row, kernel, D) for D in tried(row)] for row in [*ROWS][3:]])
            for kernel in KERNELS}
    assert (left["gaussian"] < left["softmax"]).sum(axis=2).tolist() == [[3, 5, 4], [4, 5, 4]]
    counts = {kernel: (int((x < 1e-8).sum()), int((x > 1e-3).sum()), x.size) for kernel, x in left.items()}
    assert counts == {"softmax": (18, 23, 48), "gaussian": (7, 11, 48)}


@page.after("dimension-table")
def test_medians_of_training_the_queries_are_far_from_those_of_the_first_table():
    middle = {kernel: [x for row in [*ROWS][3:] for x in medians(row)[kernel]] for kernel in KERNELS}
    assert [f"{pick(middle['softmax']):.0e}" for pick in (min, max)] == ["2e-07", "4e-03"]
    assert [f"{pick(middle['gaussian']):.0e}" for pick in (min, max)] == ["5e-06", "3e-04"]


# --- by start --------------------------------------------------------------------------------------------------


@page.after("scale-table")
def test_small_tied_starts_keep_half_of_the_loss():
    assert [round(left_at_48(kernel, True, 0.1), 2) for kernel in KERNELS] == [0.57, 0.54]


@page.after("scale-table")
def test_large_tied_starts_suit_the_gaussian_kernel_and_not_softmax():
    assert max(left_at_48(kernel, True, 1.0) for kernel in KERNELS) < 1e-16
    assert max(left_at_48("gaussian", True, scale) for scale in (4.0, 8.0)) < 1e-28
    assert [round(left_at_48("softmax", True, scale), 4) for scale in (4.0, 8.0)] == [0.0017, 0.0005]


@page.after("scale-table")
def test_large_untied_starts_suit_softmax_and_not_the_gaussian_kernel():
    assert [f"{left_at_48(kernel, False, 4.0):.2g}" for kernel in KERNELS] == ["0.034", "0.94"]


@page.after("scale-table")
def test_on_a_line_softmax_nears_a_singular_matrix():
    line = np.linspace(-1, 1, 6)[:, None]
    least = [np.linalg.svd(mha.softmax(mha.softmax.scores(s * line, s * line)))[1][-1] for s in (4, 8)]
    assert round(least[0], 3) == 0.003
    assert f"{least[1]:.0e}" == "9e-10"


@page.after("scale-table")
def test_at_the_threshold_a_positive_rate_may_be_worth_nothing():
    X = mha.data.random_sequences(8, 4, 32).X
    least = [one_layer.least_singular(mha.AttentionLayer.random(32, 8, 1, scale=scale, kernel=kernel).mixed(X))
             for scale in (1.0, 4.0) for kernel in (mha.softmax, mha.gaussian)]
    assert [f"{x:.0e}" for x in least[:3]] == ["1e-04", "2e-05", "4e-08"]
    assert least[3] < 1e-20


# --- the statements, the promise, and how near the start must be -----------------------------------------------


@page.after("check-ledger")
def test_every_statement_holds_and_its_twin_fails(mine):
    assert len(mine) == 7
    for row in mine:
        for seed in range(3):
            assert row.check(seed).holds
            assert not row.twin(seed).holds


@page.after("promise")
def test_the_runs_are_faster_than_promised(data, runs):
    """The page reads the steps between recorded ones; here every step is recorded."""
    found = {}
    for name in ("softmax", "Gaussian"):
        begin = runs[f"{name}, D = 48"][0]
        L, rate = one_layer.value_smoothness(begin, data.X), one_layer.value_rate(begin, data.X)
        path = mha.train(begin, data, mha.GradientDescent(1 / L), 2000, only="WV", record=range(2001))
        steps = int(np.argmax(path.loss <= 1e-6 * path.loss[0]))
        found[name] = steps, round(np.log(1e-6) / np.log(1 - rate / L) / 2 / steps, 1)
    assert found == {"softmax": (1882, 1.4), "Gaussian": (546, 1.7)}
    assert steps_needed(runs["Gaussian, D = 48"]) == 546


@page.after("near")
def test_the_theorem_allows_a_first_loss_a_hundred_million_times_as_small(allowed, data, radius, start):
    assert f"{radius:.1e}" == "2.8e-03"
    assert f"{allowed:.0e}" == "2e-08"
    first = start.loss(data.X, data.y)
    assert round(float(first), 1) == 2.4
    assert f"{first / allowed:.0e}" == "1e+08"


@page.after("near")
def test_near_targets_are_fitted_within_a_small_part_of_the_radius(data, lr, radius, start):
    close = one_layer.near(start, data.X)
    path = mha.train(start, close, mha.GradientDescent(lr), 500, only=("WQ", "WK", "WV"))
    assert round((path[-1] - start).norm() / radius, 2) == 0.06
    assert path.loss[-1] < 2e-9 * path.loss[0]
    assert round(lr * one_layer.smoothness(start, close, radius), -1) == 460


# --- the sliders -----------------------------------------------------------------------------------------------


@page.after("live")
def test_at_the_threshold_the_guarantee_nearly_vanishes_and_below_it_is_gone(live):
    first, wide, low = live.drawn(), live.drawn(D=32), live.drawn(D=24)
    least = [round(float(one[f"{kernel}_least"]), 2) for one in (first, wide) for kernel in KERNELS]
    assert least == [0.56, 1.12, 0.04, 0.11]
    assert [round(float(wide[f"{kernel}_guarantee"]), 2) for kernel in KERNELS] == [0.99, 0.96]
    for kernel in KERNELS:
        assert low[f"{kernel}_least"] == 0
        assert min(low[f"{kernel}_spectrum"]) > 0.4


@page.after("live")
def test_at_scale_4_only_tied_keys_have_a_guarantee(live):
    tied, untied = live.drawn(scale=4.0), live.drawn(tied=False, scale=4.0)
    assert [f"{one['gaussian_guarantee']:.0e}" for one in (tied, untied)] == ["1e-04", "1e+00"]
    assert [f"{one['softmax_guarantee']:.2g}" for one in (tied, untied)] == ["0.88", "1"]


@page.after("live")
def test_steps_below_two_over_l_descend_and_longer_ones_do_not(live):
    long, longer = live.drawn(lr=1.5), live.drawn(lr=2.5)
    assert max(long[kernel][-1] for kernel in KERNELS) < 0.0021
    assert min(longer[kernel][-1] for kernel in KERNELS) > 1e100


@page.after("live")
def test_training_everything_succeeds_without_a_guarantee(live):
    everything = live.drawn(moves="WQ WK WV", D=16)
    assert [f"{everything[kernel][-1]:.1g}" for kernel in KERNELS] == ["0.0008", "0.003"]


@page.after("live")
def test_four_narrow_heads_have_a_smaller_least_singular_value_than_a_wide_one(live):
    four, wide = live.drawn(D=8, H=4), live.drawn(D=32)
    assert all(four[f"{kernel}_least"] < 0.7 * wide[f"{kernel}_least"] for kernel in KERNELS)


# --- where it breaks, and solutions ----------------------------------------------------------------------------


@page.after("far-start")
def test_large_untied_gaussian_starts_see_nothing(data, far):
    assert np.median(far.weights(data.X).max(axis=-1)) < 1e-11
