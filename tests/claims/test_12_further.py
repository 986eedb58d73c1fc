"""What the page kernels/12_further says, held against what its cells leave."""

import numpy as np

from mhabook.c12_two_kernels import statements as two_kernels
from page import Page

page = Page("kernels/12_further")


@page.after("outputs")
def test_each_kernel_reaches_a_target_that_the_other_does_not(outputs):
    assert [output.max() > 1.5 for output in outputs.values()] == [False, True, False]
    assert [output.min() < -0.9 for output in outputs.values()] == [True, False, True]


@page.after("far-rank")
def test_both_ranks_are_full_and_the_gaussian_matrix_may_be_nearly_zero(pair, far):
    assert [np.linalg.matrix_rank(S) for S in pair] == [6, 6]
    assert 0 < far[1].max() < 1e-260 < 0.99 < far[0].max()


@page.after("solution-third")
def test_the_third_direction_is_weak_under_the_gaussian_kernel_and_lost_if_rows_are_divided(
    X, bound, free, J12
):
    thin, full = (
        np.linalg.svd(two_kernels.token_jacobians(layer, X))[1][0] for layer in (bound, free)
    )
    assert max(thin[:, 2].max(), np.linalg.svd(J12)[1][2]) < 1e-8
    assert 0.01 < full[:, 2].min() < full[:, 2].max() < full[:, 0].min() / 10


@page.after("live")
def test_forces_and_hills_of_the_three_kernels(live):
    def seen(what, **values):
        drawn = live.drawn(**values)
        return np.array(
            [np.max(drawn[f"{kernel}_{what}"]) for kernel in ("soft", "gauss", "between")]
        )

    assert np.sign(seen("here_force")).tolist() == [-1, 1, -1]
    assert np.sign(seen("here_force", values="equal").round(12)).tolist() == [0, -1, 0]
    apart, usual, wide = seen("weight", k1=-5.0, k3=5.0), seen("weight"), seen("weight", c=0.125)
    assert apart[2] > 0.99 > 0.6 > usual[2] > 0.5 > wide[2]
    assert seen("weight", k2=3.0).min() > 0.99


@page.after("solution-back-between")
def test_from_4_all_but_the_gaussian_query_arrive_and_from_between_the_keys_it_does(ends, loss):
    assert [bool(last < 1e-12) for _, last in ends.values()] == [True, False, True]
    assert loss < 1e-12


@page.after("solution-open")
def test_the_control_has_the_least_directions_of_softmax_and_the_gaussian_ones_go_with_the_scale(
    medians, ratio
):
    assert ratio[2.0] < 0.4 < 0.95 < ratio[0.5]
    assert medians[0.5][1] / medians[0.5][0] > 4
    assert all(1 < medians[scale][2] / medians[scale][0] < 1.5 for scale in (0.5, 2.0))
