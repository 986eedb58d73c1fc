"""What the page multihead/08_heads_on_real_data says, held against what its cells leave."""

import numpy as np

import mhalib as mha
from mhabook.c08_digits.runs import MAP, at_its_best, at_the_end
from page import Page

page = Page("multihead/08_heads_on_real_data")
UNQUOTED = {
    "what the chapter asks, or leaves open": (
        "title: On real images",
        "title: In practice",
        "train-seen: Why do",
        "idea-text: We think",
        "prove-open: We observe",
        "prove-open: No statement",
        "best-seen: This finding",
    ),
    "what is proved, or defined": (
        "idea-text: The gradient of",
        "prove",
        "prove-moves",
    ),
    "what a cell or a figure does": (
        "train-seen: The gray lines",
        "one-by-one-loop-text",
    ),
    "another page's": (
        "idea-text: A manually",
        "prove-open: One experiment",
        "breaks-steps",
    ),
}


def medians(scale, curve="loss", **setting):
    """The median of eight seeds after 300 steps, for 1, 2, 4, …, 64 heads."""
    return np.median(at_the_end(curve, scale, **setting), axis=1)


def assert_stored(images, steps):
    """One head of the stored runs, trained again on so many images for so many steps."""
    data = mha.data.digits((3, 8), n=int(images), seed=0)
    start = mha.MultiHeadAttention.random(1, 8, 8, scale=0.1, seed=0)
    path = mha.train(start, data, mha.GradientDescent(1.0), int(steps), record=2)
    np.testing.assert_allclose(path.loss[-1], at_the_end("loss", 0.1)[0, 0], rtol=1e-3)


def map_of(scale, *powers):
    """The median loss at the step sizes 2^(power/2): (step sizes, heads)."""
    return np.array([medians(scale, power=lambda H, p=p: p) for p in powers])


@page.after(
    "train",
    says=(
        "images of the handwritten digits 3 and 8. The model reads each image as a sequence of eight tokens",
        "one tenth is small here, and one is large. Gradient descent takes 200 steps on sixty images. How do "
        "sixteen heads compare with one?",
        "initializes one head and trains it on sixty images",
        "After the first few steps, the loss of the single head falls steadily, and its attention matrix keeps "
        "moving",
    ),
)
def test_the_run_is_as_described(data, start, path, live, said):
    *digits, tokens, scale, steps, images, heads, trained = said
    same = mha.data.digits(classes=tuple(map(int, digits)), n=int(images))
    np.testing.assert_array_equal(data.X, same.X)
    assert data.X.shape[:2] == (trained, tokens) and path.steps[-1] == steps
    assert 0.85 * scale < start.W.std() < 1.15 * scale
    assert {case["values"]["H"] for case in live.spec["tries"]} == {1, heads}
    assert {case["values"]["scale"] for case in live.spec["tries"]} == {scale, 1}
    late, moved = path.steps > 5, live.path().moved
    assert (np.diff(path.loss[late]) < 0).all() and (np.diff(moved) > 0).all()


@page.after(
    "train",
    says=(
        "The loss falls more slowly than that of one head and ends {glue:text}`gap_small` times as high, so "
        "the answer to the first question is *higher*. In the end, each head has moved about a quarter as far "
        r"as the single head, which matches $1/\sqrt{16}$. Early in the run, the ratio is far smaller. Other "
        "random seeds hardly change the picture",
    ),
)
def test_sixteen_heads_are_slower_and_move_a_quarter_as_far_and_early_on_less_whatever_the_draw(
    live, said
):
    quarter, one_whole = said
    assert quarter == one_whole / np.sqrt(16)
    for seed in range(4):
        one, sixteen = (live.path(H=H, seed=seed) for H in (1, 16))
        ratio = one.moved[1:] / sixteen.moved[1:]
        assert sixteen.loss[-1] > 2 * one.loss[-1] and abs(ratio[-1] - 1 / quarter) < 0.5
        assert ratio[(one.steps[1:] >= 4) & (one.steps[1:] <= 20)].min() > 1.5 / quarter


@page.after(
    "say-large",
    says=(
        "In the end, the heads have moved as little as they did from the small initialization",
        "Sixteen heads end at {glue:text}`gap_large` times the loss of one",
        "With other random seeds, the difference is larger, but never as large as from the small "
        "initialization, and on 200 images",
    ),
)
def test_from_a_large_start_sixteen_heads_move_as_little_and_are_less_far_behind_whatever_the_draw(
    live, gaps, from_large, said
):
    heads, images = said
    assert len(from_large[1].W) == heads
    assert_stored(images, 300)
    for seed in range(4):
        (small_one, large_one), (small, large) = (
            [live.path(H=H, scale=scale, seed=seed) for scale in (0.1, 1.0)] for H in (1, 16)
        )
        assert large.moved[-1] < 1.2 * small.moved[-1]
        assert large.loss[-1] / large_one.loss[-1] < 0.75 * small.loss[-1] / small_one.loss[-1]
    assert gaps[0] > 3 and gaps[1] < 1.15


@page.after(
    "train",
    says=(
        "The step size is 30. The second step moves attention very far, and attention stays there: most "
        "tokens give nearly all of their weight to one token. The loss jumps up and down and ends higher than "
        "with the initial settings",
        "But attention moves only about a tenth as far as with one head, and then the loss falls below that "
        "of every run above",
    ),
)
def test_steps_of_thirty_are_too_long_for_one_head_and_the_best_for_sixteen(live, data, said):
    lr, tenth = said
    assert max(case["values"]["lr"] for case in live.spec["tries"]) == lr
    for seed in range(4):
        one, sixteen = (live.path(H=H, lr=lr, seed=seed) for H in (1, 16))
        assert one.loss[-1] > live.path(seed=seed).loss[-1]
        assert 0.8 / tenth < one.moved[-1] / sixteen.moved[-1] < 1.25 / tenth
        assert one.moved[2] > 0.5 * one.moved[-1] > 5 * one.moved[1]
        assert (one[-1].attention(data.X).max(axis=-1) > 0.99).mean() > 0.7
        shown = [
            live.path(seed=seed),
            *(live.path(H=16, scale=scale, seed=seed) for scale in (0.1, 1.0)),
            one,
        ]
        assert sixteen.loss[-1] < min(path.loss[-1] for path in shown)


@page.after(
    "second-step",
    says=(
        "Take two steps from zero with one, four, and sixteen heads",
        r"A single head moves its decoder $\sqrt H$ times as far as each of $H$ heads does, and its attention "
        "matrix $H$ times as far",
        "it moves at first only $1/H$ as far as with a single head",
    ),
)
def test_from_zero_decoders_move_by_one_root_and_attention_by_two(U, W, paths, said):
    steps, four, sixteen, share = said
    assert all(path.steps[-1] == steps for path in paths)
    assert [len(path[0].W) for path in paths] == [1, four, sixteen]
    np.testing.assert_allclose(
        [U[0] / U, W[0] / W], [[1, four**0.5, sixteen**0.5], [1, four, sixteen]]
    )
    np.testing.assert_allclose(W / W[0], share / np.array([1, 4, 16]))


@page.after(
    "second-step",
    says=(
        "With four heads, a step moves each decoder half as far as that of a single head, as the first two "
        "panels of the next picture show",
        r"The logit adds the four half moves and divides by $\sqrt4$, which makes one whole move",
        r"the factor $1/\sqrt H$ appears twice",
        "each of four attention matrices moves a quarter as far as that of a single head. This move changes "
        "the logit through the decoder, which after one step has only half the norm. So each head adds "
        r"$\frac12\times\frac14$. Four such terms, divided by $\sqrt4$, give a quarter, as the third panel "
        "shows",
        r"the decoders need not grow first, and attention has only its own factor: four moves of $\frac12$, "
        r"divided by $\sqrt4$, again make one whole move",
    ),
)
def test_four_half_moves_make_a_whole_one_and_four_eighths_a_quarter(U, W, said):
    heads, half, panels, count, each, whole, roots, *said = said
    matrices, quarter, norm, factor, terms, fourth, moves, part = said
    assert heads == count == matrices == terms == moves == 4
    assert half == each == norm == factor == part
    assert np.isclose(U[1] / U[0], half) and np.isclose(W[1] / W[0], quarter)
    assert panels == roots == 2 and count * each / np.sqrt(4) == whole == moves * part / np.sqrt(4)
    assert quarter == half**roots and terms * factor * quarter / np.sqrt(4) == fourth


@page.after("one-by-one-end", says="sixteen heads share nothing but the derivatives of the loss")
def test_heads_that_share_the_slopes_alone_train_as_the_model_does(
    trained, together, data, heads, said
):
    assert [len(heads)] == said
    np.testing.assert_allclose(trained(data.X), together, atol=1e-9)


@page.after(
    "check-move",
    says=(
        "on average in 300 steps on 200 images, for 1, 2, 4, …, 64 heads? The next cell shows means over "
        "eight stored runs",
        "for a step size that grows like",
        r"From one head to 64, the first row falls by a factor of {glue:text}`falls`, whereas $\sqrt{64}=8$. "
        r"It falls roughly like $1/\sqrt H$, but more slowly at first and faster later",
        "but the row falls by a factor of",
        "The bound lies far above both rows",
    ),
)
def test_a_head_of_many_moves_less_by_the_root_of_their_number(moved, data, said):
    steps, images, *heads, runs, most, root_of_it, _ = said
    assert_stored(images, steps)
    sizes = 2 ** np.arange(len(moved[0]))
    assert [*sizes[:3], sizes[-1]] == heads and sizes[-1] == most == root_of_it**2
    assert at_the_end("moved_W", 0.1).shape == (len(sizes), runs)
    constant, root = moved
    least = steps * np.sqrt(8) * np.linalg.norm(data.X, axis=2).max()
    assert least / np.sqrt(most) > 20 * constant[0] and least > 20 * root[0]
    powers = -np.diff(np.log2(constant))
    assert (
        powers[0] > 0.3
        and powers[-1] < 0.75
        and (np.diff(powers) > 0).all()
        and abs(powers.mean() - 0.5) < 0.03
    )
    assert (np.diff(root) < 0).all() and root[0] / root[-1] < 3


@page.after(
    "figure-map",
    says=(
        "The next figure plots the loss after 300 steps against the step size. Lines are medians over eight "
        "seeds, and bands extend from the lowest run to the highest",
        "From the small initialization, fewer heads have a lower loss at every step size up to four. Up to "
        "this step size, all lines fall as the step size grows. Beyond it, the single-head line is the first "
        r"to rise, from either initialization. At $\eta=32$, the order is reversed: the more heads, the lower "
        "the loss",
        "At the same step size, up to 4, more heads train more slowly from a small initialization. From a "
        "large one, the number of heads matters much less",
    ),
)
def test_the_order_of_the_heads_is_reversed_at_long_steps(said):
    steps, seeds, four, reversed_at, same = said
    assert_stored(200, steps)
    assert at_the_end("loss", 0.1).shape[1] == seeds and four == same
    small, large = map_of(0.1, *range(-2, 7)), map_of(1.0, *range(-2, 7))
    short = 2 ** (np.arange(-2, 7) / 2) <= four
    assert (np.diff(small[short], axis=1) > 0).all() and (np.diff(small[short], axis=0) < 0).all()
    assert not (np.diff(small, axis=1) > 0).all() or not (np.diff(small, axis=0) < 0).all()
    assert (large.max(axis=1) / large.min(axis=1))[short].max() < 1.6
    for scale in (0.1, 1.0):
        one, eight, many = map_of(scale, 2 * np.log2(reversed_at))[0, [0, 3, 6]]
        assert one > eight > many
        lines = map_of(scale, *MAP)[:, [0, 3, 6]]
        first, *later = ([*(np.diff(line) > 0), True].index(True) for line in lines.T)
        assert first < min(later)


@page.after(
    "figure-best",
    says=(
        "is chosen from the runs with the *other seven*: of all stored step sizes, it is the one at which the "
        "worst of these seven ends lowest",
        "Now many heads win, so the answer to the third question is *lower*. From the large initialization, "
        "the median loss of one head ends about {glue:text}`best_ratio` times as high as that of 64",
        "From the small initialization, 64 heads end with a far larger loss than 32. From the large one, the "
        "step size chosen for the largest numbers of heads is the largest stored, so a larger one might be "
        "better. Finally, eight seeds are few",
        r"the chosen step sizes are mostly $4\sqrt H$ up to sixteen heads",
        "With a step size chosen for each number of heads, many heads reach a lower loss than one",
        "on digits, with eight seeds",
    ),
)
def test_at_a_step_size_that_other_seeds_chose_sixteen_heads_and_more_end_lower_than_one(said):
    others, same, most, worse, before, seeds, factor, up_to, stored = said
    (small_sizes, small), (large_sizes, large) = at_its_best(0.1), at_its_best(1.0)
    assert small.shape == (seeds, 1 + np.log2(most)) and most == worse == 2 * before
    assert others == same == seeds - 1 and stored == seeds
    rooted = int(1 + np.log2(up_to))
    ratios = np.median(small_sizes, axis=0) / 2 ** (np.arange(7) / 2)
    np.testing.assert_allclose(ratios[:rooted], factor)
    assert not np.allclose(ratios[rooted], factor)
    assert rooted == 5
    small_medians, large_medians = (np.median(ends, axis=0) for ends in (small, large))
    assert (
        small_medians[0] > 2 * small_medians[4:].max()
        and large_medians[0] > 2 * large_medians[1:].max()
    )
    assert small_medians[-1] > 20 * small_medians[-2] and small_medians.argmin() == 5
    assert (large_sizes[:, -1] == 256).all()
    assert (small[:, [2, 6]] > 0.1).sum(axis=0).tolist() == [1, 1] and (
        large[:, 4] > 0.1
    ).sum() == 1


@page.after(
    "solution-nine",
    says=(
        "64 heads are worse than one, by several standard errors and about twice the standard deviation of a "
        "single run. The training loss again rises with every doubling of the number of heads. In the other "
        "three settings, 64 heads are better than one, by at most one percentage point and by two to three "
        "standard errors",
    ),
)
def test_four_against_nine_shows_the_same(rows, ends, said):
    heads, times, settings, same, least, most = said
    assert len(medians(0.1, pair="49")) == 1 + np.log2(heads) and heads == same
    worse, *better = (mean / error for mean, error in rows.values())
    assert len(better) == settings
    assert worse < -6 and all(least - 0.1 < gain < most + 0.1 for gain in better)
    assert max([*rows.values()][1:])[0] <= 0.01
    spread = ends[0.1, "constant η"].std(axis=1, ddof=1)
    assert times - 0.3 < -rows[0.1, "constant η"][0] / spread.mean() < times + 0.5
    assert max(abs(mean) for mean, _ in rows.values()) < 0.04
    assert (np.diff(medians(0.1, pair="49")) > 0).all()


def test_what_takes_two_moves_is_divided_by_the_root():
    """The exercise on products: one step, term by term."""
    (u, w), step, H = np.random.default_rng(0).random((2, 9)), 0.3, 9
    logit, after = (u * w).sum() / 3, ((u + step * w / 3) * (w + step * u / 3)).sum() / 3
    assert np.isclose(after, logit + step * (u**2 + w**2).mean() + step**2 * logit / H)
