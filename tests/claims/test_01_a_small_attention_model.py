"""What the page multihead/01_a_small_attention_model says, held against what its cells leave."""

import numpy as np
import pytest

import mhabook
import mhalib as mha
from mhabook.c01_model import selection
from page import Page

page = Page("multihead/01_a_small_attention_model")
HEADS = (1, 2, 4, 8, 16)


@page.after("train")
def test_the_attention_score_rises_from_0_1_to_0_8(path):
    assert abs(path.attention_score[0] - 0.1) < 1e-12
    assert 0.79 < path.attention_score[-1] < 0.81


@page.after("train")
def test_the_loss_ends_near_zero_and_every_test_label_is_right(path):
    assert 2.5e-5 < path.loss[-1] < 3.5e-5
    assert path.test_accuracy[-1] == 1


@page.after("train")
def test_distracting_queries_look_at_the_relevant_token_more_than_it_looks_at_itself(data, path):
    weights, star = path[-1].attention(data.X)[:, 0], data.relevant
    itself, others = (weights[asking[:, :, None] & star[:, None]].mean() for asking in (star, ~star))
    assert round(itself, 2) == 0.28
    assert round(others, 2) == 0.86


@page.after("figure-training")
def test_every_label_is_right_from_step_10_on_and_the_loss_keeps_falling(path):
    assert path.accuracy[path.steps >= 10].min() == 1
    assert (np.diff(path.loss[path.steps >= 10]) < 0).all()


@page.after("figure-training")
def test_after_two_steps_most_labels_are_right_and_attention_has_hardly_moved(path):
    assert path.steps[2] == 2
    assert path.accuracy[2] == 0.96
    assert round(path.attention_score[2], 2) == 0.11


@page.after("check-head")
def test_head_is_the_model_of_the_library(data, head, path):
    X, model = data.X[0], path[-1]
    assert abs(head(X, model.W[0], model.U[0]) - model(data.X)[0]) < 1e-12 * abs(head(X, model.W[0], model.U[0]))


@page.after("check-step")
def test_at_zero_only_the_decoders_have_a_gradient_and_its_rows_are_equal(grad):
    assert abs(grad.W).max() == 0
    assert np.ptp(grad.U, axis=(0, 1)).max() < 1e-15


@page.after("check-step")
def test_the_first_step_of_the_decoders_goes_from_one_class_to_the_other(data, grad):
    difference, first = data.truth.mu[1] - data.truth.mu[0], -grad.U[0, 0]
    assert round(difference @ first / np.linalg.norm(difference) / np.linalg.norm(first), 2) == 0.93


@page.after("check-selection")
def test_every_weight_is_above_its_bound(bound, weight):
    assert (bound <= weight).all()
    assert weight.max() > 0.7


@pytest.mark.parametrize("name", ["lemma-selection", "prop-head-scale", "prop-first-step", "prop-equal-heads",
                                  "thm-collapse"])
def test_each_statement_holds_and_fails_without_its_hypothesis(name):
    assert mhabook.ledger[name].chapter == page.name
    assert mhabook.ledger[name].check(0).holds
    assert not mhabook.ledger[name].twin(0).holds


def test_these_are_all_statements_of_the_chapter():
    assert sum(statement.chapter == page.name for statement in mhabook.ledger) == 5


def weights_on_stars(live, **values):
    """Where the queries of the first sample look after the last step: (T, relevant tokens)."""
    drawn = live.drawn(**values)
    stars = [name.endswith("\N{BLACK STAR}") for name in drawn["token_names"]]
    return np.array(drawn["attention"])[:, stars]


@page.after("live-mixture")
def test_with_two_relevant_tokens_the_loss_falls_faster_and_the_score_is_0_83(live):
    one, two = live.path(), live.path(zeta=0.25)
    assert two.loss[-1] < one.loss[-1]
    assert round(one.attention_score[-1], 2) == 0.79
    assert round(two.attention_score[-1], 2) == 0.83


@page.after("live-mixture")
def test_with_two_relevant_tokens_queries_look_at_both_with_equal_weight(live):
    weights = weights_on_stars(live, zeta=0.25)
    assert weights.shape == (8, 2)
    assert np.ptp(weights, axis=1).max() < 1e-9
    assert weights.min() > 0.38
    assert weights.max() < 0.48


@page.after("live-mixture")
def test_at_noise_2_training_fits_and_does_not_find(live):
    noisy = live.path(sigma=2.0)
    assert noisy.loss[-1] < 1e-3
    assert round(noisy.test_loss[-1], 1) == 2.2
    assert 3 < noisy.test_loss[-1] / np.log(2) < 3.2
    assert round(noisy.test_accuracy[-1], 2) == 0.59
    assert round(noisy.attention_score[-1], 2) == 0.05


@page.after("live-mixture")
def test_at_noise_2_the_column_of_the_relevant_token_is_blank(live):
    weights = weights_on_stars(live, sigma=2.0)
    assert weights.shape == (8, 1)
    assert weights.max() < 5e-4


@page.after("live-mixture")
def test_at_step_size_10_the_loss_jumps_to_14_and_ends_300_times_lower(live):
    base, fast = live.path(), live.path(lr=10.0)
    assert round(fast.loss.max()) == 14
    assert fast.steps[fast.loss.argmax()] == 2
    assert 300 < base.loss[-1] / fast.loss[-1] < 400


def weights_by_label(live, lr):
    """The mean weight on the relevant token in the samples with label +1, and in those with label −1."""
    sample = mha.data.tokenized_mixture(n=64, T=8, zeta=0.125)
    weight = (live.path(lr=lr)[-1].attention(sample.X)[:, 0] * sample.relevant[:, None]).sum(axis=2).mean(axis=1)
    return [round(weight[sample.y == label].mean(), 2) for label in (1, -1)]


@page.after("live-mixture")
def test_up_to_step_size_3_samples_of_both_labels_are_looked_at(live):
    assert weights_by_label(live, 1.0) == [0.80, 0.79]
    assert min(weights_by_label(live, 3.0)) > 0.9


@page.after("live-mixture")
def test_at_step_sizes_10_and_30_one_vector_is_found_and_the_other_is_not(live):
    assert mha.data.tokenized_mixture(n=64, T=8, zeta=0.125).y[0] == 1
    assert weights_by_label(live, 10.0) == [0.99, 0.62]
    assert weights_by_label(live, 30.0) == [1.00, 0.13]
    assert live.path(lr=30.0).loss[-1] < 1e-22


@page.after("figure-noise")
def test_training_fits_at_every_noise_level(ends):
    for end in ends:
        assert end.accuracy[-1] == 1
        assert end.loss[-1] < 1e-3


@page.after("figure-noise")
def test_up_to_noise_1_the_relevant_token_is_found_and_beyond_it_is_not(ends, sigmas):
    score = {sigma: end.attention_score[-1] for sigma, end in zip(sigmas, ends, strict=True)}
    right = {sigma: end.test_accuracy[-1] for sigma, end in zip(sigmas, ends, strict=True)}
    assert round(score[0.75], 2) == 0.58
    assert round(right[0.75], 2) == 0.97
    assert round(score[1.0], 2) == 0.38
    assert round(right[1.0], 2) == 0.83
    assert score[1.5] < 0.1
    assert score[2.0] < 0.1
    assert round(right[1.5], 3) == 0.555


@page.after("solution-half")
def test_the_gap_for_0_8_of_the_weight_is_3_6(eps, gap):
    assert np.allclose(selection.selected_mass(0.1, gap), 1 - eps)
    assert round(gap[1], 1) == 3.6


@page.after("solution-shuffle")
def test_shuffling_changes_the_trained_logits_by_less_than_a_percent(change, same):
    assert same
    assert 1e-4 < change < 1e-2


@page.after("solution-uniform")
def test_uniform_attention_fits_and_has_a_thousand_times_the_test_loss(fits, path, share, test, uniform):
    assert fits == 0.99
    assert 0.97 < share < 0.98
    assert uniform.loss(test.X, test.y) > 1000 * path.test_loss[-1]


@page.after("solution-rank")
def test_a_matrix_of_rank_one_selects_nearly_as_well_with_these_two_vectors(cosines, kept):
    assert round(kept, 2) == 0.79
    assert cosines[0] > 0.99
    assert cosines[1] > 0.999
