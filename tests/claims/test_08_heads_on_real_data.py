"""What the page multihead/08_heads_on_real_data says, held against what its cells leave."""

import mhalib as mha
import numpy as np
from mhalib import theory
from mhalib.models import TextTransformer
from sklearn.linear_model import LogisticRegression
from claims.page import Page

page = Page("multihead/08_heads_on_real_data")


@page.after("load")
def test_load_numbers(table):
    assert len(table) == 1552 and len(np.unique(table["seed"])) == 8 and table["steps"].max() == 300
    sizes = {pair: len(mha.data.digits(pair).fresh()) for pair in ((3, 8), (4, 9))}
    assert sizes == {(3, 8): 157, (4, 9): 161}


@page.after("constant-numbers")
def test_constant_numbers(at_the_end, gain):
    small, large = (at_the_end("loss", scale) for scale in (0.1, 1.0))
    assert np.median(small, axis=1).round(3).tolist() == [0.054, 0.066, 0.081, 0.093, 0.108, 0.125, 0.153]
    assert small[0].max() < 0.065 and small[-1].min() > 0.115
    assert (np.diff(np.median(at_the_end("test_loss", 0.1), axis=1)) > 0).all()
    middle = np.median(large, axis=1)
    assert round(middle[0], 3) == 0.054 and middle[1:].min() > 0.042 and middle[1:].max() < 0.049
    assert at_the_end("test_accuracy", 0.1).mean(axis=1)[[0, -1]].round(3).tolist() == [0.964, 0.942]
    assert round(gain.mean(), 3) == -0.022 and round(gain.std(ddof=1) / 8 ** 0.5, 3) == 0.007


@page.after("figure-map")
def test_map_numbers(POWERS, at_the_end, eta):
    root = {scale: at_the_end("loss", scale, POWERS["η ∝ √H"]) for scale in (0.1, 1.0)}
    assert [np.median(root[scale], axis=1)[[0, -1]].round(3).tolist() for scale in (0.1, 1.0)] == [[0.054, 0.038], [0.054, 0.004]]
    medians_of = {scale: np.array([np.median(at_the_end("loss", scale, lambda H, p=p: p), axis=1) for p in range(-2, 8)])
                  for scale in (0.1, 1.0)}
    assert (np.diff(medians_of[0.1][:7], axis=1) > 0).all() and eta[6] == 4 and medians_of[0.1][6, 0].round(3) == 0.016
    several, single = medians_of[1.0][:, 1:], medians_of[1.0][:, 0]
    assert (several.max(axis=1) / several.min(axis=1))[:9].max() < 1.31 and (single / np.median(several, axis=1))[:7].max() < 1.2
    assert single[8] > 2.5 * several[8].max() and single[9] > 6 * several[9].max() and round(eta[9], 1) == 11.3
    adam = {scale: np.median(at_the_end("loss", scale, rule="adam"), axis=1) for scale in (0.1, 1.0)}
    assert [adam[scale][[0, -1]].round(3).tolist() for scale in (0.1, 1.0)] == [[0.052, 0.007], [0.079, 0.009]]
    assert medians_of[0.1][:, 0].argmin() == 7 == single.argmin() and round(eta[7], 1) == 5.7


@page.after("figure-accuracy")
def test_accuracy_numbers(POWERS, at_the_end, linear, means, spread, table):
    assert means[[0, 3, 6]].round(3).tolist() == [0.969, 0.986, 0.98] and spread.min().round(3) >= 0.007 and spread.max() < 0.0115
    best = at_the_end("test_accuracy", 1.0)[3] - at_the_end("test_accuracy", 1.0)[0]
    assert round(best.mean(), 3) == 0.017 and round(best.std(ddof=1) / 8 ** 0.5, 3) == 0.004
    every = table.where(pair="38").group("rule", "power", "scale", "H")["test_accuracy"][:, -1]
    assert linear["38"].mean().round(3) == 0.989 and every.max() < linear["38"].mean()
    every = table.where(pair="49").group("rule", "power", "scale", "H")["test_accuracy"][:, -1]
    assert linear["49"].mean().round(3) == 0.994 and every.max() < linear["49"].mean()
    gains = [(a[-1] - a[0]).mean() for a in (at_the_end("test_accuracy", scale, power) for scale in (0.1, 1.0) for power in POWERS.values())]
    assert np.round(gains, 3).tolist() == [-0.022, 0.01, 0.011, 0.016]
    assert 1 / 157 < 0.0064 and round((0.97 * 0.03 / 157) ** 0.5, 3) == 0.014


@page.after("reviews-numbers")
def test_reviews_numbers(folder, reviews):
    read = mha.data.sst2(folder, min_count=1)
    assert read.sentences == reviews.sentences and (read.y == reviews.y).all()
    def bags(data):
        counts = np.zeros((len(data), len(data.vocabulary)))
        np.add.at(counts, (np.arange(len(data))[:, None], data.tokens), data.mask)
        return counts
    held_out = [mha.data.reviews(1000, seed).fresh(500) for seed in range(4)]
    bag_scores = [LogisticRegression(max_iter=5000).fit(bags(train), train.y).score(bags(test), test.y)
                  for train, test in zip((mha.data.reviews(1000, seed) for seed in range(4)), held_out, strict=True)]
    assert min(bag_scores) > 0.57 and max(bag_scores) < 0.63
    bag_of_words = float(np.mean(bag_scores))


@page.after("transformer")
def test_transformer_numbers(reviews):
    counted = {H: sum(p.numel() for p in TextTransformer(len(reviews.vocabulary), 23, H=H).parameters()) for H in (1, 4, 16)}
    assert set(counted.values()) == {11233}


@page.after("figure-text")
def test_text_numbers(texts):
    ends = {lr: np.array([texts.where(lr=lr, H=H)["test_accuracy"][:, -1] for H in (1, 2, 4, 8, 16)]) for lr in (0.003, 0.01)}
    ends = {lr: values.astype(float) for lr, values in ends.items()}
    assert ends[0.003].mean(axis=1).min() > 0.78 and ends[0.003].mean(axis=1).max() < 0.80
    assert ends[0.01].mean(axis=1).round(2).tolist() == [0.85, 0.93, 0.91, 0.92, 0.94]
    assert ends[0.003].std(axis=1, ddof=1).min().round(3) >= 0.037 and ends[0.01].std(axis=1, ddof=1).min() > 0.02
    assert max(ends[0.003].std(axis=1, ddof=1).max(), ends[0.01].std(axis=1, ddof=1).max()) < 0.0505
    pairs = ends[0.01][1:] - ends[0.01][0]
    assert [pairs.mean(axis=1).min().round(2), pairs.mean(axis=1).max().round(2)] == [0.06, 0.08]
    assert (pairs.std(axis=1, ddof=1) / 8 ** 0.5).max() < 0.021
    assert texts.where(lr=0.003)["accuracy"][:, -1].min() > 0.97
    among = ends[0.01][1:].mean(axis=1)
    assert np.ptp(among) < 0.026 and abs(ends[0.003].mean(axis=1) - ends[0.003].mean(axis=1)[0]).max() < 0.0125
    steps_apart = ends[0.01].mean() - ends[0.003].mean()
    assert 0.11 < steps_apart < 0.13


@page.after("figure-gram")
def test_gram_numbers(away):
    assert 0.1 < away[1.0][0] < 0.3 and away[0.1][0] < 0.03 and 5 < away[1.0][0] / away[1.0][-1] < 11


@page.after("check-move")
def test_move_numbers(moved):
    assert np.round(moved[0][[0, -1]], 2).tolist() == [4.81, 0.57] and np.round(moved[1][[0, -1]], 2).tolist() == [4.81, 2.31]
    assert 8 < moved[0][0] / moved[0][-1] < 9 and round(moved[1][0] / moved[1][-1], 1) == 2.1


@page.after("frozen-numbers")
def test_frozen_numbers(lasts, share):
    assert [round(x, 3) for x in (*lasts[0.1][64], *lasts[0.1][1], *lasts[1.0][64])] == [0.203, 0.252, 0.058, 0.234, 0.067, 0.07]
    assert all(run < still for scale in lasts for run, still in lasts[scale].values())
    assert np.ptp([still for _, still in lasts[0.1].values()]) < 0.02
    assert share[0.1] < 0.002 and round(share[1.0], 2) == 0.07


@page.after("live-digits")
def test_live_numbers(live):
    def ends_of(**values):
        path = live.path(**values)
        return np.array([path.loss[-1], path.test_loss[-1], path.test_accuracy[-1], path.loss.max()])
    one, many = ends_of(), ends_of(H=16)
    assert [one[0].round(3), many[0].round(3)] == [0.037, 0.113]
    assert [ends_of(scale=1.0)[0].round(3), ends_of(scale=1.0, H=16)[0].round(3)] == [0.041, 0.044]
    rooted, larger = ends_of(H=16, scaling="root"), ends_of(lr=3.0)
    assert [rooted[0].round(3), larger[0].round(4)] == [0.023, 0.0096]
    assert [rooted[3].round(1), larger[3].round(1)] == [5.0, 4.1] and rooted[1] < larger[1]
    assert [rooted[1].round(2), larger[1].round(2)] == [0.11, 0.18]
    shares = np.array([[ends_of(H=H, seed=seed)[2] for seed in range(4)] for H in (1, 4, 16)])
    assert (shares == [[0.9625] * 4, [0.975] * 4, [0.9625] * 4]).all()
    large_start = np.array([ends_of(scale=1.0, seed=seed)[2] for seed in range(4)])
    assert large_start.tolist() == [0.9875, 0.975, 0.9625, 0.9625]


@page.after("figure-jump")
def test_jump_numbers(STARTS, at_the_end, highest, hundred, table):
    tops = at_the_end("top", 0.1)
    assert tops.min() > 2 and tops.max() < 2.9 and np.ptp(np.median(tops, axis=1)) < 0.15 and round(2 / np.median(tops), 2) == 0.74
    assert [round(float(highest[f"η ∝ √H, {size} start"][-1])) for size in STARTS] == [18, 19]
    assert [round(float(highest[f"η ∝ √H, {size} start"][0])) for size in STARTS] == [1, 2]
    assert highest["constant η, small start"].min() > 0.9 and highest["constant η, large start"].max() < 5.2
    assert np.isfinite(table["loss"]).all()
    model, squared = mha.MultiHeadAttention.random(64, 8, 8, 0.1), theory.bounds.MarginSquared()
    for _ in range(3):
        model = model - 8.0 * model.unravel(theory.loss_gradient(model, hundred, squared))
    assert squared(model.margins(hundred.X, hundred.y)).mean() > 1e6


@page.after("solution-nine")
def test_solution_nine(at_the_end, rows):
    assert list(rows.values()) == [(-0.035, 0.005), (0.006, 0.003), (0.009, 0.004), (0.009, 0.003)]
    assert (np.diff(np.median(at_the_end("loss", 0.1, pair="49"), axis=1)) > 0).all()


@page.after("solution-kinds")
def test_solution_kinds(kinds, right):
    assert kinds[4][0] > kinds[1][0] + 0.2 and kinds[4][1] < kinds[1][1] + 0.1 and right.mean() > 0.9
    assert max(kinds[1][2], kinds[4][2]) < 0.7


@page.after("solution-kernel")
def test_solution_kernel(gaussian_path):
    assert gaussian_path.accuracy[-1] > 0.95 and 0.65 < gaussian_path.test_accuracy[-1] < 0.8
