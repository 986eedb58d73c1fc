"""What the page multihead/08_further says, held against what its cells leave."""

import numpy as np
from sklearn.linear_model import LogisticRegression

import mhabook
import mhalib as mha
from mhabook.c02_curvature import bounds, loss_bounds
from mhabook.c08_digits import text
from mhabook.c08_digits.runs import POWERS, at_its_best
from page import Page
from scripts import load

page = Page("multihead/08_further")


def error(differences):
    """The standard error of a mean over seeds."""
    return differences.std(axis=-1, ddof=1) / differences.shape[-1] ** 0.5


@page.after("figure-constant")
def test_more_heads_are_slower_from_a_small_start_alone(at_the_end):
    small, large = at_the_end("loss", 0.1), np.median(at_the_end("loss", 1.0), axis=1)
    assert (np.diff(np.median(small, axis=1)) > 0).all() and small[0].max() < small[-1].min()
    assert (
        np.diff(np.median(at_the_end("test_loss", 0.1), axis=1)) > 0
    ).all() and large.max() < 1.4 * large.min()


@page.after("figure-root")
def test_with_a_step_size_that_grows_and_with_adam_more_heads_end_lower(at_the_end):
    for scale in (0.1, 1.0):
        for setting in ({"power": POWERS["η ∝ √H"]}, {"rule": "adam"}):
            ends = np.median(at_the_end("loss", scale, **setting), axis=1)
            assert ends[-1] < ends[0]


@page.after("best")
def test_from_a_large_start_one_head_is_behind_early_late_and_on_held_out_images():
    (early_small, early), (test_small, test) = (
        [np.median(at_its_best(scale, curve, step)[1], axis=0) for scale in (0.1, 1.0)]
        for curve, step in (("loss", 111), ("test_loss", 300))
    )
    assert (
        early[0] > 1.5 * early[1:].max()
        and 1.7 < test[0] / test[2:].max() < test[0] / test[2:].min() < 2.3
    )
    assert (
        early_small[6] < early_small[0] < early_small[5]
        and test_small.max() < 1.2 * test_small.min()
    )


@page.after("figure-accuracy")
def test_the_accuracy_moves_as_much_with_the_seed_as_with_the_heads(at_the_end, spread, means):
    settings = [(scale, power) for scale in (0.1, 1.0) for power in POWERS.values()]
    gains = [
        (a[-1] - a[0]).mean()
        for a in (at_the_end("test_accuracy", *setting) for setting in settings)
    ]
    assert gains[0] < 0 < min(gains[1:])
    assert (
        spread.max() / 2 < min(map(abs, gains))
        and max(map(abs, gains)) < 2.5 * spread.max()
        and means.argmax() == 3
    )


@page.after("figure-accuracy")
def test_no_setting_is_as_accurate_as_logistic_regression(linear, table):
    for pair in ("38", "49"):
        every = table.where(pair=pair).group("rule", "power", "scale", "H")["test_accuracy"][:, -1]
        assert every.max() < linear[pair].mean()


@page.after("figure-gram")
def test_with_more_heads_every_start_has_the_same_gram_matrix(away):
    assert away[0.1][0] < away[1.0][0] / 3
    assert 5 < away[1.0][0] / away[1.0][-1] < 11


def final(compared, scale):
    """The last losses of the run and of the frozen run, for 1, 8 and 64 heads."""
    return np.array([(run[-1], frozen[-1]) for _, run, frozen in compared[scale].values()]).T


@page.after("figure-frozen")
def test_more_heads_follow_their_first_order_longer(compared):
    (small, small_frozen), (large, large_frozen) = final(compared, 0.1), final(compared, 1.0)
    assert (
        (np.diff(small) > 0).all() and (small < small_frozen).all() and np.ptp(small_frozen) < 0.02
    )
    assert large[-1] < large_frozen[-1] < 1.1 * large[-1] < small[-1] / 2


@page.after("figure-frozen")
def test_from_a_small_start_the_gradients_in_W_are_small(hundred):
    def share(scale):
        squares = (
            mha.MultiHeadAttention.random(64, 8, 8, scale).features(hundred.X).reshape(100, 64, -1)
            ** 2
        )
        return squares[..., :64].sum() / squares.sum()

    assert share(0.1) < 0.002 and share(1.0) > 0.05


@page.after("thrown")
def test_after_very_long_steps_one_head_lacks_attention_that_can_learn(sixty, long):
    def end(model, **more):
        return mha.train(model, sixty, long, 198, record=[0, 198], **more).loss[-1]

    for seed in range(4):
        one, many = (
            mha.train(mha.MultiHeadAttention.random(H, 8, 8, 0.1, seed), sixty, long, 2)[-1]
            for H in (1, 16)
        )
        eased = mha.MultiHeadAttention(one.W / 10, one.U)
        assert end(eased) < 3 * end(many) < 0.003
        assert end(one) > 0.1, (
            "this run jumps to its end: rounding decides where between 0.2 and 10"
        )
        assert min(end(model, only="U") for model in (one, many, eased)) > 0.2


@page.after("figure-jump")
def test_the_curvature_at_the_start_does_not_know_the_number_of_heads(at_the_end):
    tops = at_the_end("top", 0.1)
    assert tops.min() > 2 and tops.max() < 2.9 and np.ptp(np.median(tops, axis=1)) < 0.15


@page.after("figure-jump")
def test_no_run_diverges(table):
    assert (
        np.isfinite(table["loss"]).all()
        and np.isfinite(mhabook.stored("digits_long.npz")["loss"]).all()
    )


@page.after("figure-jump")
def test_the_squared_loss_of_the_margin_would_diverge(hundred):
    model, squared = mha.MultiHeadAttention.random(64, 8, 8, 0.1), bounds.MarginSquared()
    for _ in range(3):
        model = model - 8.0 * model.unravel(loss_bounds.loss_gradient(model, hundred, squared))
    assert squared(model.margins(hundred.X, hundred.y)).mean() > 1e6


@page.after("live-digits")
def test_in_the_figure_more_heads_fit_more_slowly_from_a_small_start_and_to_fit_is_not_to_generalize(
    live,
):
    one, sixteen = (live.path(H=H) for H in (1, 16))
    assert one.loss[-1] < sixteen.loss[-1] / 2 and one.test_loss[-1] < sixteen.test_loss[-1]
    assert abs(live.path(scale=1.0, H=16).loss[-1] / live.path(scale=1.0).loss[-1] - 1) < 0.15
    root, long = live.path(H=16, scaling="root"), live.path(lr=3.0)
    assert long.loss[-1] < root.loss[-1] and root.test_loss[-1] < long.test_loss[-1]


@page.after("live-digits")
def test_in_the_figure_an_image_or_two_is_all_there_is_to_see(live):
    right = np.array(
        [
            [round(80 * live.path(seed=seed, **values).test_accuracy[-1]) for seed in range(4)]
            for values in ({"H": 1}, {"H": 4}, {"H": 16}, {"scale": 1.0})
        ]
    )
    assert (right[:3] == right[0, 0] + np.array([[0], [1], [0]])).all() and np.ptp(right[3]) == 2


@page.after("tsv")
def test_counts_of_words_do_not_tell_the_label():
    def bags(data):
        counts = np.zeros((len(data), len(data.vocabulary)))
        np.add.at(counts, (np.arange(len(data))[:, None], data.tokens), data.mask)
        return counts

    training = [text.reviews(1000, seed) for seed in range(4)]
    regression = LogisticRegression(solver="newton-cholesky", tol=1e-8)
    scores = [
        regression.fit(bags(train), train.y).score(bags(train.fresh(500)), train.fresh(500).y)
        for train in training
    ]
    assert min(scores) > 0.57 and max(scores) < 0.63


@page.after("figure-text")
def test_one_head_is_behind_at_the_larger_step_size_alone_and_the_step_does_more(texts):
    small, large = (
        np.array(
            [texts.where(lr=lr, H=H)["test_accuracy"][:, -1] for H in (1, 2, 4, 8, 16)], dtype=float
        )
        for lr in (0.003, 0.01)
    )
    assert np.ptp(small.mean(axis=1)) < 0.0125
    pairs = large[1:] - large[0]
    assert (pairs.mean(axis=1) > 3 * error(pairs)).all()
    assert np.ptp(large[1:].mean(axis=1)) < large[1:].std(axis=1, ddof=1).max()
    assert large.mean() - small.mean() > pairs.mean(axis=1).max()


@page.after("solution-kinds")
def test_the_page_counts_as_the_script_of_the_stored_runs(fresh, kinds, trained):
    shares = load("book/results/text.py").shares(trained, fresh)
    assert kinds[4] == [shares["negated"], shares["plain"], shares["shuffled"]]


@page.after("kinds-stored")
def test_one_head_gets_negations_wrong_and_what_is_learned_sits_in_the_order(kinds_stored, texts):
    one, four = (kinds_stored.where(kernel="softmax", H=H) for H in (1, 4))
    assert (four["negated"] > one["negated"]).all() and (four["plain"] - one["plain"]).mean() < 0.03
    for H, runs in ((1, one), (4, four)):
        assert np.allclose(
            runs["all"], texts.where(lr=0.01, H=H)["test_accuracy"][:, -1], atol=1e-6
        )
        assert (
            0.6 < runs["shuffled"].mean() < 0.65 and (runs["all"] - runs["shuffled"]).min() > 0.15
        )


@page.after("solution-kernel")
def test_the_gaussian_kernel_fits_as_well_and_does_worse_on_fresh_sentences(kinds_stored):
    gaussian, softmax = (
        kinds_stored.where(kernel=kernel, H=4) for kernel in ("gaussian", "softmax")
    )
    assert softmax["accuracy"].mean() - gaussian["accuracy"].mean() < 0.02
    assert (gaussian["all"] < softmax["all"]).all()
