"""What the page kernels/13_when_gradient_descent_must_succeed says, held against what its cells
leave."""

import numpy as np

import mhalib as mha
from mhabook.c13_layer import statements as one_layer
from page import Page

page = Page("kernels/13_when_gradient_descent_must_succeed")
KERNELS = ("softmax", "gaussian")


@page.after("train-values")
def test_zero_can_be_reached_from_32_dimensions_on_under_either_kernel_and_faster_with_more(live):
    for kernel in KERNELS:
        few, less, just, *more = (live.path(D=D, kernel=kernel) for D in (24, 31, 32, 33, 40, 48))
        assert (
            few.guaranteed[-1] == less.guaranteed[-1] == 1
            and just.least_loss[-1] < 1e-8 < less.least_loss[-1]
        )
        assert few.left[-1] < 1.05 * few.least_loss[-1] and 0.85 < just.guaranteed[-1] < 1
        for curve in ("guaranteed", "left"):
            assert (np.diff([getattr(path, curve)[-1] for path in (just, *more)]) < 0).all()


@page.after("train-values")
def test_small_queries_and_keys_leave_one_large_singular_value_for_each_sample(live):
    small, first = (np.array(live.drawn(scale=scale)["spectrum"]) for scale in (0.1, 1.0))
    assert small[7] > 10 * small[8] and small[8] < first[-1]
    assert live.path(scale=0.1).left[-1] > 0.5


@page.after("train-values")
def test_own_keys_are_slower_and_larger_queries_faster_until_softmax_has_too_much(live):
    for kernel in KERNELS:
        tied, own = (live.drawn(tied=tied, kernel=kernel) for tied in (True, False))
        assert (
            own["spectrum"][-1] < tied["spectrum"][-1] and own["left"][-1] > 100 * tied["left"][-1]
        )
    soft, gauss = (
        [live.path(kernel=kernel, scale=scale).loss[-1] for scale in (1, 2, 4)]
        for kernel in KERNELS
    )
    assert soft[1] < soft[0] < soft[2] and max(gauss[1:]) < gauss[0] < soft[0]
    begin = live.path(scale=4)[0]
    weights = begin.weights(mha.data.random_sequences(8, 4, 48).X)[:, 0]
    assert (weights * (1 - np.eye(4))).max() > 0.9


@page.after("say-promise")
def test_the_share_of_the_slowest_direction_makes_up_for_the_steps(needed, promised, s, share):
    assert needed < promised
    spared = np.log(share) / np.log(1 - (s[-1] / s[0]) ** 2) / 2
    assert abs(promised - spared - needed) < 2


@page.after("exact")
def test_the_loss_is_below_its_bound_and_known_from_the_start(R, data, bound, parts, path):
    assert (path.loss <= bound * path.loss[0] * (1 + 1e-12)).all()
    for same in (R, parts):
        np.testing.assert_allclose((same**2).sum() / (2 * len(data)), path.loss[-1], rtol=1e-9)


@page.after("long-step")
def test_long_steps_do_not_descend_and_equal_tokens_have_no_rate(L, away, data, start, twice):
    between = mha.train(start, data, mha.GradientDescent(1.9 / L), 300, only="WV")
    assert (np.diff(between.loss) < 0).all() and away.loss[-1] > 1e100
    assert one_layer.value_rate(start, twice) < 1e-25


@page.after("solution-heads")
def test_below_the_threshold_half_remains_as_predicted_and_one_wide_head_has_the_best_rate(
    best, shares
):
    assert abs(np.mean(shares) - 0.5) < 0.05
    for kernel in (mha.softmax, mha.gaussian):
        assert best[1, kernel] > max(best[2, kernel], best[4, kernel])
