"""What the page multihead/01_a_small_attention_model says, held against what its cells leave."""

import mhalib as mha
import numpy as np
from claims.page import Page

page = Page("multihead/01_a_small_attention_model")


@page.after("train-numbers")
def test_train_numbers(A, data, head, path, star):
    assert 0.79 < path.attention_score[-1] < 0.81 and path.test_accuracy[-1] == 1
    assert 2.5e-5 < path.loss[-1] < 3.5e-5 and abs(path.attention_score[0] - 0.1) < 1e-12
    X, W, U = data.X[0], path[-1].W[0], path[-1].U[0]
    assert path.steps[2] == 2 and path.accuracy[2] == 0.96 and round(path.attention_score[2], 2) == 0.11
    own, others = A[star[:, :, None] & star[:, None]].mean(), A[~star[:, :, None] & star[:, None]].mean()
    assert round(own, 2) == 0.28 and round(others, 2) == 0.86 and path.accuracy[path.steps >= 10].min() == 1
    assert abs(head(X, W, U) - path[-1](data.X)[0]) < 1e-12 * abs(head(X, W, U))  # the lesson is the library's model


@page.after("digits-numbers")
def test_digits_numbers(digit_path, digits, held_out, left):
    from sklearn.linear_model import LogisticRegression
    assert len(held_out) == 157 and digit_path.test_accuracy[-1] == 152 / 157
    rows_seen = digit_path[-1].attention(held_out.X).mean(axis=(0, 2))  # (H, T): mean weight on each row of the image
    assert rows_seen[:, [2, 5]].sum(axis=1).min() > 0.5
    assert left[0].max() < 0.25 < 0.45 < left[1].min()  # columns 2 and 3 of rows 2 and 5: white in a 3, dark in an 8
    for rows, right in ((range(8), 155), ([2, 5], 151), ([0, 1, 3, 4, 6, 7], 152)):
        flat = [part.X[:, list(rows)].reshape(len(part), -1) for part in (digits, held_out)]
        linear = LogisticRegression(max_iter=5000).fit(flat[0], digits.y)
        assert round(157 * linear.score(flat[1], held_out.y)) == right


@page.after("check-numbers")
def test_check_numbers(bound, difference, first, grad, weight):
    assert abs(grad.W).max() == 0 and np.ptp(grad.U, axis=(0, 1)).max() < 1e-15
    assert round(difference @ first / np.linalg.norm(difference) / np.linalg.norm(first), 2) == 0.93
    assert (bound <= weight).all() and weight.max() > 0.7
    for name in ("lemma-selection", "prop-head-scale", "prop-first-step", "prop-equal-heads", "thm-collapse"):
        assert mha.ledger[name].check(0).holds and not mha.ledger[name].twin(0).holds


@page.after("live-mixture-numbers")
def test_live_mixture_numbers(end, live):
    one, two, noisy, fast = end(), end(zeta=0.25), end(sigma=2.0), end(lr=10.0)
    assert two[0] < one[0] and round(one[2], 2) == 0.79 and round(two[2], 2) == 0.83
    pair = live.drawn(zeta=0.25)
    rows = np.array(pair["attention"])[:, [name.endswith("\N{BLACK STAR}") for name in pair["token_names"]]]
    assert rows.shape == (8, 2) and np.ptp(rows, axis=1).max() < 1e-9 and rows.min() > 0.38 and rows.max() < 0.48
    assert noisy[0] < 1e-3 and round(noisy[1], 1) == 2.2 and round(noisy[2], 2) == 0.05 and round(noisy[3], 2) == 0.59
    lost = live.drawn(sigma=2.0)
    stars = [name.endswith("\N{BLACK STAR}") for name in lost["token_names"]]
    assert sum(stars) == 1 and np.array(lost["attention"])[:, stars].max() < 5e-4
    hot = live.path(lr=10.0)
    assert round(hot.loss.max()) == 14 and hot.steps[hot.loss.argmax()] == 2 and 300 < one[0] / fast[0] < 400


@page.after("live-mixture-numbers")
def test_live_mixture_split(live):
    sample = mha.data.tokenized_mixture(n=64, T=8, zeta=0.125)
    split = {}
    for lr in (1.0, 3.0, 10.0, 30.0):
        weight = (live.path(lr=lr)[-1].attention(sample.X)[:, 0] * sample.relevant[:, None]).sum(axis=2).mean(axis=1)
        split[lr] = [round(weight[group].mean(), 2) for group in (sample.y > 0, sample.y < 0)]
    assert sample.y[0] == 1 and split[1.0] == [0.80, 0.79] and min(split[3.0]) > 0.9
    assert split[10.0] == [0.99, 0.62] and split[30.0] == [1.0, 0.13] and live.path(lr=30.0).loss[-1] < 1e-22


@page.after("live-heads")
def test_live_heads_numbers(heads):
    by_heads = {H: heads.path(H=H) for H in (1, 2, 4, 8, 16)}
    final = {H: run.attention_score[-1] for H, run in by_heads.items()}
    assert round(final[1], 2) == 0.79 and round(final[16], 2) == 0.40
    losses = [run.loss[-1] for run in by_heads.values()]
    assert losses == sorted(losses) and round(losses[-1] / losses[0], 1) == 3.3
    for lr in (0.3, 1.0, 3.0):
        ordered = [heads.path(H=H, lr=lr).attention_score[-1] for H in (1, 2, 4, 8, 16)]
        assert ordered == sorted(ordered, reverse=True)
    assert round(heads.path(lr=10.0).attention_score[-1], 2) == 0.79 and round(heads.path(H=2, lr=10.0).attention_score[-1], 2) == 0.96
    assert max(np.ptp(run[-1].W, axis=0).max() for run in by_heads.values()) < 1e-12
    adam = [heads.path(H=H, optimizer="adam", lr=0.01) for H in (1, 2, 4, 8, 16)]
    assert all(later.loss[-1] < run.loss[-1] for run, later in zip(adam, adam[1:], strict=False))
    assert round(adam[0].loss[-1] / adam[-1].loss[-1]) == 5 and adam[-1].attention_score[-1] < adam[0].attention_score[-1]


@page.after("figure-noise")
def test_noise_numbers(ends, sigmas):
    assert all(end.accuracy[-1] == 1 and end.loss[-1] < 1e-3 for end in ends)
    found = {sigma: (round(end.attention_score[-1], 2), round(end.test_accuracy[-1], 3))
             for sigma, end in zip(sigmas, ends, strict=True)}
    assert found[0.75] == (0.58, 0.972) and found[1.0] == (0.38, 0.83)
    assert found[1.5][0] < 0.1 and found[2.0][0] < 0.1 and round(found[1.5][1], 2) == 0.56


@page.after("solution-half")
def test_solution_half(eps, gap):
    assert np.allclose(mha.theory.selection.selected_mass(0.1, gap), 1 - eps) and round(gap[1], 1) == 3.6


@page.after("solution-shuffle")
def test_solution_shuffle(change, data, first, order):
    assert np.allclose(first(data.X[:, order]), first(data.X), rtol=1e-12)
    assert 1e-4 < change < 1e-2


@page.after("solution-uniform")
def test_solution_uniform(fits, path, share, test, uniform):
    assert fits == 0.99 and 0.97 < share < 0.98 and uniform.loss(test.X, test.y) > 1000 * path.test_loss[-1]


@page.after("solution-counting")
def test_solution_counting(shares):
    assert shares[0, 0] > shares[0, 1] and shares[2, 0] < shares[2, 1]


@page.after("solution-digits")
def test_solution_digits(accuracies, weights):
    assert np.ptp(accuracies.mean(axis=1)) < np.ptp(accuracies, axis=1).min() / 2
    assert np.sort(weights, axis=1)[:, -2:].sum(axis=1).max() < 0.5


@page.after("solution-rank")
def test_solution_rank(cosines, kept):
    assert round(kept, 2) == 0.79 and cosines[0] > 0.99 and cosines[1] > 0.999
