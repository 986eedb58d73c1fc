"""What the page multihead/03_what_one_random_step_knows says, held against what its cells leave."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import mhalib as mha
from mhabook.c03_first_step import figure_step, ntk
from mhabook.c03_first_step.max_margin import ntk_margin
from page import Page

page = Page("multihead/03_what_one_random_step_knows")
UNQUOTED = {
    "what is proved, or defined": (
        "title: A small move",
        "title: The *margin*",
        "train-seen: The best move has",
        "by-hand: If moves along",
        "theorem",
        "margin-seen: Whichever way",
        "cannot: If two samples",
        "prove-margins",
    ),
    "what a cell does": ("exercise-open",),
    "another page's": (
        "margin-seen: With more heads",
        "breaks: Such a margin",
    ),
}


def signed_points(live, **values):
    """The points of the figure, U and W, times their labels: (2, n)."""
    drawn = live.drawn(**values)
    return np.array(
        [[*drawn[f"plus_{part}"], *(-np.array(drawn[f"minus_{part}"]))] for part in "UW"]
    )


@page.after(
    "train",
    says=(
        "In the figure, two of ten tokens are *relevant*",
        "Three models have one head each",
        "draws sixty samples without noise",
        "a disc for the label $+1$, a ring for $-1$",
        "At each setting, the three models are drawn at one scale",
        "plots the margins of all three models",
        "but the rows are random: from a relevant token, some of the ten queries read a positive number and "
        "others a negative one. To help, the token's weight would have to rise at the former queries and fall "
        "at the latter",
    ),
)
def test_the_data_and_the_models_are_as_described(data, live, said):
    relevant, tokens, models, samples, plus, minus, kinds, lines, queries = said
    assert data.X.shape[:2] == (samples, tokens) and tokens == queries
    assert (data.relevant.sum(axis=1) == relevant).all()
    drawn = live.drawn()
    assert sum(name.startswith("over_") for name in drawn) == models == lines == kinds
    reaches = {
        live.drawn(initialization=kind, sigma=0.3)["reach"][1] for kind in figure_step.STARTS
    }
    assert len(reaches) == 1
    (U,) = live.path(initialization="gaussian")[0].U
    assert {*np.sign(U @ data.truth.mu[1])} == {minus, plus}
    for label, name in ((plus, "plus_U"), (minus, "minus_U")):
        assert len(drawn[name]) == (data.y == label).sum()


@page.after(
    "train",
    says=(
        "no move of attention changes any logit, and after it, moving attention can separate two labels",
        "But moving the decoder separates the labels just as well as after the step",
        "So more weight on a relevant token now raises the logit of a positive sample and lowers that of a "
        'negative one: "look more at relevant tokens" is a second move that separates the labels',
        "the combined margin is at least the hypotenuse of a right triangle",
    ),
)
def test_the_step_tells_every_label_in_both_ways_and_before_it_attention_tells_none(
    live, step, data, said
):
    assert [len(set(data.y))] == said
    np.testing.assert_allclose(live.path()[-1].U, step.U, rtol=1e-12)
    assert (signed_points(live) > 0).all()
    assert not signed_points(live, initialization="zero")[1].any()
    before, after = (live.path(initialization=kind) for kind in ("zero", "first"))
    assert before.margin[0] == before.margin_U[0] == pytest.approx(after.margin_U[0], rel=1e-12)
    assert after.margin[0] > np.hypot(after.margin_U[0], after.margin_W[0])


@page.after("train", says="the maximum margin is half the width of the band")
def test_the_band_is_twice_as_wide_as_the_margin(live, said):
    drawn, (half,) = live.drawn(), said
    below, border, above = (
        np.array([drawn[f"{line}_{part}"] for part in "UW"])
        for line in ("below", "border", "above")
    )
    along = (border[:, 1] - border[:, 0]) / np.linalg.norm(border[:, 1] - border[:, 0])
    across = above[:, 0] - below[:, 0]
    width = abs(along[0] * across[1] - along[1] * across[0])
    assert half * width == pytest.approx(drawn["margin"][0], rel=1e-6)


@page.after(
    "say-train",
    says=(
        "So no move of attention helps all samples by much: the margin of attention alone is "
        "{glue:text}`random_W`, instead of {glue:text}`step_W`",
        "A random decoder of the same norm gains hardly anything in our noiseless data",
    ),
)
def test_attention_alone_has_a_narrow_margin_with_a_random_decoder_which_adds_hardly_anything(
    live, data, step, random_decoder, random_W, alone, of_moves
):
    drawn = live.path(initialization="gaussian")
    assert drawn.margin_W[0] == pytest.approx(random_W, rel=1e-9)
    assert np.linalg.norm(random_decoder.U) == pytest.approx(np.linalg.norm(step.U))
    assert 0 < 10 * random_W < alone[1]
    assert 1 < ntk_margin(random_decoder, data).margin / of_moves.U < 1.01


@page.after("say-train", says="The noiseless samples of the figure contain such pairs")
def test_the_samples_hold_a_pair_and_have_the_largest_margin_at_zero(data, zero, of_moves):
    assert ntk.has_a_pair(data)
    assert ntk_margin(zero, data).margin == pytest.approx(of_moves.U, rel=1e-9)


@page.after(
    "train",
    says=(
        "Noise makes all samples different, and attention has 144 entries to fit sixty of them one by one",
        r"in the figure, at $\sigma=1$, shuffled labels have nearly half the margin of the true ones, and with "
        "the random decoder, nearly nine tenths",
    ),
)
def test_shuffled_labels_are_never_separated_at_zero_but_by_noise_after_the_step_and_a_random_decoder(
    live, zero, rule, said
):
    entries, n, sigma, half, most = said
    assert zero.W.size == entries
    true, shuffled = (live.drawn(sigma=sigma, labels=labels) for labels in figure_step.LABELS)
    for kind, share in (("first", half), ("gaussian", most)):
        ratio = shuffled[f"over_{kind}"][-1] / true[f"over_{kind}"][-1]
        assert share - 0.06 < ratio < share
    for seed in range(10):
        data = mha.data.tokenized_mixture(int(n), 10, 12, 5, 0.2, 2.0, sigma, seed)
        models = mha.train(zero, data, rule, steps=1)[-1], ntk.gaussian_of_equal_norm(data, 1, seed)
        own = replace(data, y=np.random.default_rng(seed).permutation(data.y))
        assert ntk_margin(zero, own).margin == 0
        first, random = (
            ntk_margin(model, own).margin / ntk_margin(model, data).margin for model in models
        )
        assert 0.25 < first < random


@page.after(
    "train",
    says="now the tokens say nothing about them, and yet the same two margins grow with the noise",
)
def test_with_shuffled_labels_the_margins_that_are_drawn_grow_with_the_noise(
    live, step, data, said
):
    shuffled = live.drawn(labels="shuffled")
    (count,) = said
    zero, *both = (np.array(shuffled[f"over_{kind}"]) for kind in ("zero", "gaussian", "first"))
    assert (
        count == len(both)
        and (zero < 1e-6).all()
        and all((np.diff(margins) > 0).all() for margins in both)
    )
    own = replace(data, y=np.random.default_rng(0).permutation(data.y))
    assert max(ntk_margin(step, own).margin, both[1][0]) < 1e-6
    noisy = live.path(labels="shuffled", sigma=1.0)
    noisy_data = mha.data.tokenized_mixture(60, 10, 12, 5, 0.2, 2.0, 1.0, 0)
    np.testing.assert_array_equal(noisy_data.y, data.y)
    wanted = ntk_margin(noisy[-1], replace(noisy_data, y=own.y)).margin
    assert noisy.margin[0] == pytest.approx(wanted, rel=1e-9)


@page.after(
    "moves-end",
    says=(
        "The margin in the figure is larger",
        r"the best move of attention has a larger margin than $\hat W$",
        "sampling noise adds less than 0.01",
    ),
)
def test_the_best_move_of_attention_has_the_larger_margin_and_sampling_noise_adds_a_hundredth_at_most(
    start, pairs, after, of_moves, said
):
    (hundredth,) = said
    without_noise = ntk_margin(start, pairs).margin
    assert of_moves.both < without_noise - 0.1
    assert hundredth / 2 < float(after) - without_noise < hundredth


@page.after(
    "train",
    says=(
        "noise lowers all three margins at first. In this draw, only the model at zero loses its margin "
        "completely: there, a sample is only its mean token, which has twelve entries. The other two margins "
        "stop falling, and that of the random decoder even rises",
    ),
)
def test_under_noise_only_the_start_at_zero_loses_its_margin(live, data, said):
    lines, entries, left = said
    assert left == lines - 1 and data.X.shape[2] == entries
    drawn = live.drawn(sigma=0.5)
    assert sum(name.startswith("over_") for name in drawn) == lines
    zero, random, first = (
        np.array(drawn[f"over_{kind}"]) for kind in ("zero", "gaussian", "first")
    )
    assert (zero < random).all() and (random < first).all()
    assert all((np.diff(margins[:5]) < 0).all() for margins in (zero, random, first))
    assert zero[-1] == 0 < random.min()
    assert random[-1] > 1.2 * random.min() and first[-1] > first[-2]


@page.after("moves-end")
def test_the_two_moves_have_the_margins_of_the_formulas_on_every_sample(U, W, start, psi):
    np.testing.assert_allclose(start.U, np.broadcast_to(psi, start.U.shape), atol=1e-14)
    right = ntk.mixture_margins(T=10, zeta=0.2, S=2.0, M=5)
    np.testing.assert_allclose(U, right.U, rtol=1e-12)
    np.testing.assert_allclose(W, right.W, rtol=1e-12)


@page.after(
    "small",
    says=(
        "The three vectors are orthogonal and have norm 2. Each of the decoder's two rows",
        r"in which each token has the weight $\frac12$. Add $\frac14(\mu_+-\mu_-)$ to both rows of the "
        "decoder, a move of norm 1",
        "so the logit rises by 1. In the second sample, it falls by 1, so the margin is **1**",
        r"each readout rises from zero to $\frac14\cdot\frac12\langle\mu_+,\mu_+\rangle=\frac12$",
    ),
)
def test_by_hand_the_decoder_has_margin_1_before_the_step(said):
    count, norm, rows, weight, quarter, length, *ones, part, readout = said
    X, y, zero = by_hand_samples(norm)
    assert X.shape[2] == count and zero.U.shape[1] == rows
    np.testing.assert_allclose(zero.attention(X), weight)
    move = np.outer([1, 1], quarter * (X[0, 0] - X[1, 0]))
    assert np.linalg.norm(move) == pytest.approx(length)
    assert move[0] @ (X[0].mean(axis=0)) == readout and part == quarter
    _, dU = zero.logit_gradients(X)
    up, down = np.einsum("nhtd,td->n", dU, move)
    margin = ntk_margin(zero, SimpleNamespace(X=X, y=y)).margin
    np.testing.assert_allclose([up, -down, margin], ones)


@page.after(
    "small",
    says=(
        "With step size 2, the multiple is 1, so the step is exactly the move above",
        r"The inner product of each row is now $+1$ with $\mu_+$, $-1$ with $\mu_-$, and zero with $\nu$",
        r"Their scores rise at the speed $4\cdot4=16$",
        r"so for a move of norm 1, the speed is $16/\sqrt{96}=1.63$",
        r"a softmax weight of $\frac12$ grows at $\frac12(1-\frac12)=\frac14$ of the speed of its own score",
        r"There are two queries, so the margin of this move is $2\cdot\frac14\cdot1.63=$ **0.82**",
        "(The best move of attention also lowers the other score and has the margin 1.58.)",
    ),
)
def test_by_hand_attention_has_margin_0_82_after_the_step(by_hand, said):
    lr, multiple, plus, minus, four, speed, *said = said
    norm_1, same, scaled, half, weight, whole, quarter, queries, count, margin, best = said
    X, y, zero = by_hand_samples(2.0)
    _, grad = zero.loss_and_grad(X, y)
    step = zero - lr * grad
    row = multiple * (X[0, 0] - X[1, 0]) / 4
    np.testing.assert_allclose(step.U[0], [row, row], atol=1e-15)
    np.testing.assert_allclose(X[:, 0] @ row, [plus, minus])
    assert X[0, 1] @ row == 0
    b = X[:, 0].sum(axis=0)
    a = b + X[0, 1]
    assert a @ X[0, 0] == b @ X[0, 0] == four and four**2 == speed == same
    look = np.outer(a, b) / np.linalg.norm(np.outer(a, b))
    assert np.linalg.norm(look) == pytest.approx(norm_1)
    assert X[0, 0] @ look @ X[0, 0] == pytest.approx(scaled, abs=0.005)
    assert half == weight == zero.attention(X)[0, 0, 0, 0]
    assert weight * (whole - weight) == quarter
    assert queries == count == X.shape[1]
    dW, _ = step.logit_gradients(X)
    np.testing.assert_allclose(y * np.einsum("nhtd,td->n", dW, look), by_hand.W)
    assert pytest.approx(margin, abs=0.005) == by_hand.W
    lower = np.outer(a, b - 2 * X[0, 1])
    rates = y * np.einsum("nhtd,td->n", dW, lower / np.linalg.norm(lower))
    assert (rates > 1.7 * by_hand.W).all()
    assert ntk_margin(step, SimpleNamespace(X=X, y=y), "W").margin == pytest.approx(best, abs=0.005)


@page.after(
    "small",
    says=(
        r"the legs of a right triangle with hypotenuse $\sqrt{1^2+0.82^2}=1.29$. The move of norm 1 along the "
        "hypotenuse takes 1/1.29 of the first move and 0.82/1.29 of the second. In each sample",
        "rates add up to the length of the hypotenuse, so the margin of this move is **1.29**",
    ),
)
def test_by_hand_the_two_margins_are_legs_of_a_right_triangle(by_hand, said):
    leg, whole, norm, first, below, second, again, margin = said
    assert whole == below == again == margin and leg == second
    assert np.hypot(first / below, second / again) == pytest.approx(norm, abs=0.01)
    assert by_hand.both == pytest.approx(np.hypot(by_hand.U, by_hand.W))
    assert [first, second, margin] == pytest.approx([*by_hand], abs=0.005)


def by_hand_samples(norm):
    """The two samples of two tokens, their labels, and the model at zero."""
    plus, minus, nu = norm * np.eye(3)
    X = np.array([[plus, nu], [minus, nu]])
    return X, np.array([1.0, -1.0]), mha.MultiHeadAttention.zeros(H=1, T=2, d=3)


@page.after(
    "solution-by-hand",
    says=(
        "=0.707$ and",
        "=0.088$.",
        "Here this ratio is $S^3/8$, which is 1 at $S=2$ and larger for larger $S$",
    ),
)
def test_the_margin_of_attention_exceeds_that_of_the_decoder_beyond_2(at_one, at_two, said):
    decoder, attention, eight, ratio, S = said
    assert pytest.approx([decoder, attention], abs=5e-4) == [at_one.U, at_one.W]
    for size, margins in ((1, at_one), (S, at_two)):
        assert pytest.approx(size**3 / eight) == margins.W / margins.U
    assert pytest.approx(ratio) == at_two.W / at_two.U


@page.after(
    "solution-open",
    says=(
        "None of the changes with equal rows increases the margin",
        "With different rows, some changes do increase it",
    ),
)
def test_only_rows_that_differ_beat_the_step(all_rows, equal_rows, known):
    assert equal_rows < known < all_rows
