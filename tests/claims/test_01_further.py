"""What the page multihead/01_further says, held against what its cells leave."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from page import Page

page = Page("multihead/01_further")


@page.after("runs")
def test_distracting_queries_look_at_the_relevant_token_more_than_it_looks_at_itself(data, path):
    weights, star = path[-1].attention(data.X)[:, 0], data.relevant
    itself, others = (
        weights[asking[:, :, None] & star[:, None]].mean() for asking in (star, ~star)
    )
    assert others > 0.8 > 0.4 > itself


@page.after("figure-rows")
def test_rows_2_and_5_get_more_than_half_of_every_heads_weight_and_show_the_open_bows(
    digit_path, digits, held_out
):
    rows_seen = digit_path[-1].attention(held_out.X).mean(axis=(0, 2))  # (H, T)
    assert rows_seen[:, [2, 5]].sum(axis=1).min() > 0.5
    three, eight = (digits.X[digits.y == label][:, [2, 5], 2:4].mean(axis=0) for label in (-1, 1))
    assert three.max() < 0.3 < 0.4 < eight.min()


@page.after("figure-rows")
def test_logistic_regression_does_as_well_and_about_as_well_from_either_part(
    digit_path, digits, held_out
):
    def accuracy(*rows):
        linear = LogisticRegression(max_iter=50_000).fit(
            digits.X[:, rows].reshape(200, -1), digits.y
        )
        return linear.score(held_out.X[:, rows].reshape(157, -1), held_out.y)

    assert accuracy(*range(8)) >= digit_path.test_accuracy[-1]
    assert abs(accuracy(2, 5) - accuracy(0, 1, 3, 4, 6, 7)) < 0.02


@page.after("solution-counting")
def test_with_four_patterns_distracting_queries_are_ahead_with_eighteen_the_relevant_one(shares):
    assert shares[0, 0] > shares[0, 1]
    assert shares[2, 0] < shares[2, 1]


@page.after("solution-digits")
def test_the_seeds_matter_more_than_the_number_of_heads_and_no_pair_of_rows_gets_half(
    accuracies, weights
):
    assert np.ptp(accuracies.mean(axis=1)) < np.ptp(accuracies, axis=1).min() / 2
    assert np.sort(weights, axis=1)[:, -2:].sum(axis=1).max() < 0.5


def scores_and_losses(live, **values):
    paths = [live.path(H=H, **values) for H in (1, 2, 4, 8, 16)]
    return [path.attention_score[-1] for path in paths], [path.loss[-1] for path in paths]


@page.after("live-heads")
def test_more_heads_attend_less_up_to_step_size_3_and_not_at_10_and_are_slower_at_1(live):
    # (η, what, H)
    ends = np.array([scores_and_losses(live, lr=lr) for lr in (0.3, 1.0, 3.0, 10.0)])
    assert (np.diff(ends[:3, 0]) < 0).all()
    assert ends[3, 0, 0] < ends[3, 0, 1]
    assert (np.diff(ends[1, 1]) > 0).all()


@page.after("live-heads")
def test_under_adam_more_heads_have_a_lower_loss_and_a_lower_score(live):
    scores, losses = scores_and_losses(live, optimizer="adam", lr=0.01)
    assert (np.diff(losses) < 0).all()
    assert scores[-1] < scores[0]
