"""What the page kernels/12_further says, held against what its cells leave."""

import numpy as np

import mhalib as mha
from mhabook.c12_two_kernels import statements as two_kernels
from page import Page

page = Page("kernels/12_further")
UNQUOTED = {
    "what the page contains": (
        "title: This page",
        "title: Two shifts",
        "title: The next",
        "title: Next come",
    ),
    "what is proved, or defined": (
        "prove-force",
        "prove-flat: The output",
        "sliders: The right panel",
        "prove-lost",
        "rank-asks",
        "rank-computer",
        "prove-width",
        "solution-open-end: So the kernels",
    ),
    "questions": (
        "sliders: The query at 3",
        "sliders: Drag",
        "sliders: Move",
        "sliders: Make",
    ),
}


@page.after(
    "outputs",
    says=(
        "the three keys of the chapter, at −2, 0, and 1",
        "Give the three keys of the chapter the values 1, 2, and −1",
        "A target of 1.5 is within reach of the Gaussian kernel",
        "For a target of −0.9, the reverse holds: softmax and the control reach it, far out on the right",
        "and farther out, all Gaussian weights fall",
        "On the right, all three curves level off",
        "Far to the right of our three keys, the softmax weight of the second key falls like $e^{-q}$",
        "returns slowly under both kernels, and the output is much flatter under the Gaussian kernel than under "
        "softmax",
    ),
)
def test_each_kernel_reaches_a_target_that_the_other_does_not(
    outputs, keys, queries, values, gauss, said
):
    count, *places, again = said[:5]
    *given, high, low, curves, also = said[5:]
    assert count == again == also == len(keys) and places == [*keys.ravel()] and given == [*values]
    assert [output.max() > high for output in outputs.values()] == [False, True, False]
    assert [output.min() < low for output in outputs.values()] == [True, False, True]
    assert (np.diff(gauss[queries[:, 0] > 1], axis=0) < 0).all()
    assert len(outputs) == curves
    assert np.allclose([out[-1] for out in outputs.values()], [-1, 0, -1], atol=0.1)
    away = np.array([[6.0], [6.1]])
    steep = [abs(np.diff(k(k.scores(away, keys)) @ values)) for k in two_kernels.KERNELS]
    assert steep[1] < 0.05 * steep[0]
    second = mha.softmax(mha.softmax.scores(away, keys))[:, 1]
    assert np.isclose(second[1] / second[0], np.exp(-0.1), rtol=0.01)


@page.after(
    "far-rank",
    says=(
        "take six tokens on a line, from −1 to 1, as queries and as keys",
        "Scores of rank one give weights of rank six with both kernels",
        "For tokens from $-4$ to $4$, the smallest singular values are",
        "All Gaussian weights are below $10^{-260}$",
    ),
)
def test_both_ranks_are_full_and_the_gaussian_matrix_may_be_nearly_zero(
    pair, far, tokens, at_four, least, scales, said
):
    count, first, last, rank, low, high, ten = said
    assert len(tokens) == count and [first, last] == [tokens[0], tokens[-1]]
    assert [np.linalg.matrix_rank(S) for S in pair] == [rank, rank]
    assert at_four == [f"{np.interp(high, scales, row):.3f}" for row in least.values()]
    assert low == -high and 0 < far[1].max() < ten**-260 < 0.99 < far[0].max()


@page.after(
    "jacobians",
    says=(
        "For example, take three tokens with values in three dimensions and queries in four. The next cell prints the "
        "singular values of the Jacobians of the three tokens",
        "There are two nonzero singular values with softmax and three with the Gaussian kernel",
    ),
)
def test_normalization_costs_a_direction(J, X, said):
    tokens, values, d, printed, soft, gauss = said
    assert X.shape[1] == tokens == printed
    assert np.shape(J) == (2, tokens, values, d)
    assert [{*(np.linalg.svd(one)[1] > 1e-10).sum(axis=1)} for one in J] == [{soft}, {gauss}]


@page.after("solution-third", says="No, there are only two again")
def test_the_third_direction_is_weak_under_the_gaussian_kernel_and_lost_if_rows_are_divided(
    X, bound, free, J12, said
):
    (two,) = said
    assert (np.linalg.svd(J12)[1] > 1e-8).sum() == two
    thin, full = (
        np.linalg.svd(two_kernels.token_jacobians(layer, X))[1][0] for layer in (bound, free)
    )
    assert max(thin[:, 2].max(), np.linalg.svd(J12)[1][2]) < 1e-8
    assert 0.01 < full[:, 2].min() < full[:, 2].max() < full[:, 0].min() / 10


@page.after(
    "live",
    says=(
        "The figure shows the same three keys",
        "When the query is at 3, softmax and the control push it back to the left",
        "Moving the outer keys outward raises the peak of the control to 1, and a smaller $c$ lowers it below one "
        "half. The softmax peak stays at about a third, and the Gaussian peak is 1 in every case",
        "its weight tends to 1 on the right",
        "The Gaussian kernel pulls the query in, because its weights have to grow",
        "Compare the right panel at $c=0.125$ and $c=2$: under a wider kernel, the force reaches farther",
    ),
)
def test_forces_and_hills_of_the_three_kernels(live, keys, said):
    count, query, peak, half, third, top, one, wider, narrow = said
    assert len(keys) == count and live.controls["q"].value == query

    def seen(what, **values):
        drawn = live.drawn(**values)
        return np.array(
            [np.max(drawn[f"{kernel}_{what}"]) for kernel in ("soft", "gauss", "between")]
        )

    assert np.sign(seen("here_force")).tolist() == [-1, 1, -1]
    assert np.sign(seen("here_force", values="equal").round(12)).tolist() == [0, -1, 0]
    apart, usual, wide = seen("weight", k1=-5.0, k3=5.0), seen("weight"), seen("weight", c=wider)
    assert peak >= apart[2] > 0.99 > 0.6 > usual[2] > half > wide[2]
    for peaks in (apart, usual, wide):
        assert abs(peaks[0] - third) < 0.015 and abs(peaks[1] - top) < 0.01
    reach = [abs(np.array(live.drawn(c=c)["gauss_force"]))[[0, -1]] for c in (wider, narrow)]
    assert (reach[0] > 100 * reach[1]).all()
    assert one >= seen("weight", k2=3.0).min() > 0.99


@page.after(
    "solution-back-between",
    says=(
        "at 4, the output is negative but nearly zero, and increases to the right",
        "From 0.5, between the keys, it reaches the target",
    ),
)
def test_from_4_all_but_the_gaussian_query_arrive_and_from_between_the_keys_it_does(
    ends, loss, outputs, queries, keys, said
):
    far, near = said
    at = abs(queries[:, 0] - far).argmin()
    assert -0.02 < outputs["Gaussian"][at] < 0 < np.diff(outputs["Gaussian"])[at - 1]
    assert keys[1] < near < keys[2] and ends["Gaussian"][0] > far
    assert [bool(last < 1e-12) for _, last in ends.values()] == [True, False, True]
    assert loss < 1e-12


@page.after(
    "solution-open",
    says=(
        "the smallest singular value is larger under the Gaussian kernel than under softmax in nearly all layers; at "
        "the large scale, this holds in a third of them",
        "the median weight is about 0.7 under the Gaussian kernel and $\\frac15$ under softmax",
    ),
)
def test_the_control_has_the_least_directions_of_softmax_and_the_gaussian_ones_go_with_the_scale(
    medians, ratio, said
):
    third, gauss, soft = said
    assert abs(ratio[2.0] - third) < 0.07 and ratio[0.5] > 0.95
    for kernel, median in ((mha.gaussian, gauss), (mha.softmax, soft)):
        weights = [
            mha.AttentionLayer.random(6, 4, 2, scale=0.5, kernel=kernel, seed=seed).weights(
                mha.data.random_sequences(1, 5, 6, 2, seed=seed).X
            )
            for seed in range(200)
        ]
        assert abs(np.median(weights) / median - 1) < 0.03
    assert medians[0.5][1] / medians[0.5][0] > 4
    assert all(1 < medians[scale][2] / medians[scale][0] < 1.5 for scale in (0.5, 2.0))
