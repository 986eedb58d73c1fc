"""What the page multihead/01_further says, held against what its cells leave."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import mhabook
from page import Page

page = Page("multihead/01_further")
FEW = (1, 2, 4, 8, 16)


@page.after("runs")
def test_distracting_queries_look_at_the_relevant_token_more_than_it_looks_at_itself(data, path):
    weights, star = path[-1].attention(data.X)[:, 0], data.relevant
    itself, others = (weights[asking[:, :, None] & star[:, None]].mean() for asking in (star, ~star))
    assert others > 0.8 > 0.4 > itself


@pytest.mark.parametrize("name", ["prop-head-scale"])
def test_each_statement_holds_and_fails_without_its_hypothesis(name):
    assert mhabook.ledger[name].chapter == page.name
    assert mhabook.ledger[name].check(0).holds
    assert not mhabook.ledger[name].twin(0).holds


@page.after("digits-train")
def test_152_of_157_digits_are_right(digit_path, held_out):
    assert len(held_out) == 157
    assert digit_path.test_accuracy[-1] == 152 / 157


@page.after("figure-rows")
def test_rows_2_and_5_get_more_than_half_of_every_heads_weight(digit_path, held_out):
    rows_seen = digit_path[-1].attention(held_out.X).mean(axis=(0, 2))  # (H, T)
    assert rows_seen[:, [2, 5]].sum(axis=1).min() > 0.5


@page.after("figure-rows")
def test_there_the_left_sides_of_the_bows_are_open_in_a_3_and_closed_in_an_8(digits):
    three, eight = (digits.X[digits.y == label][:, [2, 5], 2:4].mean(axis=0) for label in (-1, 1))
    assert three.max() < 0.25
    assert eight.min() > 0.45


@page.after("figure-rows")
def test_logistic_regression_does_as_well_from_all_pixels_and_from_either_part(digits, held_out):
    def right(*rows):
        seen, unseen = (part.X[:, rows].reshape(len(part), -1) for part in (digits, held_out))
        linear = LogisticRegression(max_iter=50_000, tol=1e-8).fit(seen, digits.y)
        return round(157 * linear.score(unseen, held_out.y))

    assert right(*range(8)) == 155
    assert right(2, 5) == 151
    assert right(0, 1, 3, 4, 6, 7) == 152


@page.after("solution-counting")
def test_with_four_patterns_distracting_queries_are_ahead_with_eighteen_the_relevant_one(shares):
    assert shares[0, 0] > shares[0, 1]
    assert shares[2, 0] < shares[2, 1]


@page.after("solution-digits")
def test_the_seeds_matter_more_than_the_number_of_heads(accuracies):
    assert np.ptp(accuracies.mean(axis=1)) < np.ptp(accuracies, axis=1).min() / 2


@page.after("solution-digits")
def test_no_pair_of_rows_gets_half_of_any_heads_weight(weights):
    assert np.sort(weights, axis=1)[:, -2:].sum(axis=1).max() < 0.5


@page.after("live-heads")
def test_more_heads_are_slower_at_one_step_size(live):
    ends = [live.path(H=H) for H in FEW]
    losses = [path.loss[-1] for path in ends]
    assert round(ends[0].attention_score[-1], 2) == 0.79
    assert round(ends[-1].attention_score[-1], 2) == 0.40
    assert losses == sorted(losses)
    assert round(losses[-1] / losses[0], 1) == 3.3


@page.after("live-heads")
def test_more_heads_attend_less_at_three_step_sizes(live):
    for lr in (0.3, 1.0, 3.0):
        scores = [live.path(H=H, lr=lr).attention_score[-1] for H in FEW]
        assert scores == sorted(scores, reverse=True)


@page.after("live-heads")
def test_at_step_size_10_two_heads_attend_more_than_one(live):
    assert round(live.path(H=1, lr=10.0).attention_score[-1], 2) == 0.79
    assert round(live.path(H=2, lr=10.0).attention_score[-1], 2) == 0.96


@page.after("live-heads")
def test_heads_from_zero_stay_equal(live):
    assert max(np.ptp(live.path(H=H)[-1].W, axis=0).max() for H in FEW) < 1e-12


@page.after("live-heads")
def test_under_adam_more_heads_have_a_lower_loss_and_a_lower_score(live):
    ends = [live.path(H=H, optimizer="adam", lr=0.01) for H in FEW]
    losses = [path.loss[-1] for path in ends]
    assert losses == sorted(losses, reverse=True)
    assert round(losses[0] / losses[-1]) == 5
    assert ends[-1].attention_score[-1] < ends[0].attention_score[-1]
