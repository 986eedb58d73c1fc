"""What the page kernels/13_when_gradient_descent_must_succeed says, held against what its cells
leave."""

import numpy as np

import mhalib as mha
from mhabook.c13_layer import statements as one_layer
from page import Page

page = Page("kernels/13_when_gradient_descent_must_succeed")
UNQUOTED = {
    "what is proved, or defined": (
        "idea-text: In two dimensions",
        "idea-text: Three targets",
        "idea-text: Descent converges",
        "idea-text: Two targets",
        "prove",
        "prove-start",
        "prove-almost",
        "breaks-equal",
        "breaks-moving: From",
        "breaks-moving: We prove",
        "breaks-long: With one head",
        "check: The matrix never changes",
        "seen: With that many",
        "seen: - The squared",
        "seen: Other queries",
    ),
    "what a cell or a figure does": (
        "check: The whole",
        "exact-text: Why",
    ),
    "another page's": ("breaks-moving: Nor can", "breaks-moving: The initial loss"),
}
KERNELS = ("softmax", "gaussian")


@page.after(
    "train-values",
    says=(
        "Eight sequences of four tokens are drawn at random, and every token gets a random target, so one head "
        "has 32 numbers to fit",
        "has one row for each of the 32 tokens: its context vector",
        "at most one for each of its 32 rows",
    ),
)
def test_the_numbers_are_those_of_the_data(B, data, said):
    sequences, tokens, *targets = said
    assert data.X.shape[:2] == (sequences, tokens)
    assert [data.y.size, len(B), len(np.linalg.svd(B)[1])] == targets


@page.after(
    "train-values",
    says=(
        "The loss keeps falling and stays below the dotted line",
        "Some of the 32 singular values are missing",
        "The green line has risen, because no values fit every target. The loss of gradient descent falls to "
        "the green line and stays there",
        "the dotted line falls, but it is almost horizontal",
        "There are as many dimensions as targets",
        "With a few more dimensions, both the dotted line and the loss fall faster",
        "the green line also rises as soon as there are fewer dimensions than targets",
    ),
)
def test_zero_can_be_reached_from_32_dimensions_on_under_either_kernel_and_faster_with_more(
    live, said
):
    (targets,) = said
    assert [sum(np.array(live.drawn(D=D)["spectrum"]) > 1e-9) for D in (24, 32, 48)] == [
        24,
        targets,
        targets,
    ]
    usual = live.path()
    assert (np.diff(usual.left) < 0).all() and (usual.left[1:] < usual.guaranteed[1:]).all()
    for kernel in KERNELS:
        few, less, just, *more = (live.path(D=D, kernel=kernel) for D in (24, 31, 32, 33, 40, 48))
        assert (
            few.guaranteed[-1] == less.guaranteed[-1] == 1
            and just.least_loss[-1] < 1e-8 < less.least_loss[-1]
        )
        assert few.left[-1] < 1.05 * few.least_loss[-1] and 0.85 < just.guaranteed[-1] < 1
        for curve in ("guaranteed", "left"):
            assert (np.diff([getattr(path, curve)[-1] for path in (just, *more)]) < 0).all()


@page.after(
    "train-values",
    says=(
        "There are more dimensions than targets, but the run still converges very slowly",
        "All scores are nearly equal, so the four tokens of a sample have almost the same context vector",
        "All singular values except eight, one for each sample, have dropped",
    ),
)
def test_small_queries_and_keys_leave_one_large_singular_value_for_each_sample(data, live, said):
    tokens, samples = map(int, said)
    assert data.X.shape[:2] == (samples, tokens)
    small, first = (np.array(live.drawn(scale=scale)["spectrum"]) for scale in (0.1, 1.0))
    assert small[samples - 1] > 10 * small[samples] and small[samples] < first[-1]
    assert live.path(scale=0.1).left[-1] > 0.5


@page.after(
    "train-values",
    says=(
        "If the keys get a matrix of their own, the smallest singular value drops as well",
        "makes a token attend to itself even more, and the run is faster",
        "Multiplying them by four is too much for softmax: a token may then attend to one of larger norm",
    ),
)
def test_own_keys_are_slower_and_larger_queries_faster_until_softmax_has_too_much(live, said):
    (most,) = said
    for kernel in KERNELS:
        tied, own = (live.drawn(tied=tied, kernel=kernel) for tied in (True, False))
        assert (
            own["spectrum"][-1] < tied["spectrum"][-1] and own["left"][-1] > 100 * tied["left"][-1]
        )
    soft, gauss = (
        [live.path(kernel=kernel, scale=scale).loss[-1] for scale in (1, 2, most)]
        for kernel in KERNELS
    )
    assert soft[1] < soft[0] < soft[2] and max(gauss[1:]) < gauss[0] < soft[0]
    begin, X = live.path(scale=most)[0], mha.data.random_sequences(8, 4, 48).X
    away = begin.weights(X)[:, 0] * (1 - np.eye(4))
    assert away.max() > 0.9
    sample, query, key = np.unravel_index(away.argmax(), away.shape)
    keys = np.linalg.norm(X @ begin.WK[0], axis=-1)
    assert keys[sample, key] > keys[sample, query]


@page.after("say-promise")
def test_the_share_of_the_slowest_direction_makes_up_for_the_steps(needed, promised, s, share):
    assert needed < promised
    spared = np.log(share) / np.log(1 - (s[-1] / s[0]) ** 2) / 2
    assert abs(promised - spared - needed) < 2


@page.after(
    "exact",
    says=(
        "along each of the 32 left singular vectors",
        "the loss after 2,000 steps can be computed without a single step",
    ),
)
def test_the_loss_is_below_its_bound_and_known_from_the_start(R, data, bound, parts, path, said):
    assert [len(parts), path.steps[-1]] == said
    assert (path.loss <= bound * path.loss[0] * (1 + 1e-12)).all()
    for same in (R, parts):
        np.testing.assert_allclose((same**2).sum() / (2 * len(data)), path.loss[-1], rtol=1e-9)


@page.after("long-step", says="the loss still does not increase, because no curvature exceeds $L$")
def test_long_steps_do_not_descend_and_equal_tokens_have_no_rate(L, away, data, start, twice):
    between = mha.train(start, data, mha.GradientDescent(1.9 / L), 300, only="WV")
    assert (np.diff(between.loss) < 0).all() and away.loss[-1] > 1e100
    assert one_layer.value_rate(start, twice) < 1e-25


@page.after("solution-heads", says="One wide head has the better rate here, under both kernels")
def test_below_the_threshold_half_remains_as_predicted_and_one_wide_head_has_the_best_rate(
    best, shares
):
    assert abs(np.mean(shares) - 0.5) < 0.05
    for kernel in (mha.softmax, mha.gaussian):
        assert best[1, kernel] > max(best[2, kernel], best[4, kernel])
