"""What the page multihead/01_a_small_attention_model says, held against what its cells leave."""

import numpy as np

from page import Page

page = Page("multihead/01_a_small_attention_model")
HEADS = (1, 2, 4, 8, 16)


@page.after("train")
def test_the_token_gets_most_of_the_weight_and_not_all(path):
    assert abs(path.attention_score[0] - 0.1) < 1e-12
    assert 0.6 < path.attention_score[-1] < 0.9


@page.after("head")
def test_two_tokens_by_hand_have_the_weights_and_readings_of_the_table(head):
    X, first = np.eye(2), np.array([[1.0, 0.0], [0.0, 0.0]])
    U = np.array([[2.0, -1.0], [0.0, 0.0]])  # only the first token is the query
    for score, weight, reading in ((0.0, 0.5, 0.5), (1.1, 0.75, 1.25), (2.2, 0.9, 1.7)):
        assert abs(head(X, score * first, np.array([[1.0, 0.0], [0.0, 0.0]])) - weight) < 0.001
        assert abs(head(X, score * first, U) - reading) < 0.001
    assert 1.999 < head(X, 9 * first, U) < U[0] @ X[0] == 2


@page.after("check-head")
def test_head_is_the_model_of_the_library(data, head, path):
    X, model = data.X[0], path[-1]
    assert abs(head(X, model.W[0], model.U[0]) - model(data.X)[0]) < 1e-12 * abs(
        head(X, model.W[0], model.U[0])
    )


@page.after("check-step")
def test_the_first_step_of_the_decoders_goes_from_one_class_to_the_other(data, grad):
    difference, first = data.truth.mu[1] - data.truth.mu[0], -grad.U[0, 0]
    assert difference @ first / np.linalg.norm(difference) / np.linalg.norm(first) > 0.9


@page.after("check-selection")
def test_every_weight_is_above_its_bound(bound, weight):
    assert (bound <= weight).all()
    assert weight.max() > 0.7


def weights_on_stars(live, **values):
    """Where the queries of the first sample look after the last step: (T, relevant tokens)."""
    drawn = live.drawn(**values)
    stars = [name.endswith("\N{BLACK STAR}") for name in drawn["token_names"]]
    return np.array(drawn["attention"])[:, stars]


@page.after("train")
def test_the_figure_is_the_run_of_the_lines_above_it(live, path):
    np.testing.assert_allclose(live.path().loss[-1], path.loss[-1], rtol=1e-9)


@page.after("train")
def test_as_it_starts_labels_are_right_before_the_weight_rises_and_one_column_fills(live):
    path = live.path()
    most = path.accuracy > 0.9
    assert (
        path.attention_score[most.argmax()] < 0.15
        and path.test_accuracy[path.steps >= 10].min() > 0.9
    )
    column = weights_on_stars(live)[:, 0]
    assert (column > 0.5).sum() >= 8


@page.after("train")
def test_two_tokens_that_carry_the_label_get_equal_weight(live):
    columns = weights_on_stars(live, zeta=0.2)
    np.testing.assert_allclose(columns[:, 0], columns[:, 1], atol=1e-12)
    assert (columns.sum(axis=1) > 0.5).sum() >= 8


@page.after("train")
def test_at_noise_twice_as_long_training_fits_and_does_not_find(live):
    path = live.path(sigma=2.0)
    assert path.accuracy[-1] == 1 and path.loss[-1] < 1e-3
    assert path.test_accuracy[-1] < 0.65
    assert path.attention_score[-1] < path.attention_score[0]


@page.after("train")
def test_at_long_steps_one_of_the_two_vectors_is_found_and_the_other_less_than_before(live, data):
    def by_label(lr):
        weights = (
            (live.path(lr=lr)[-1].attention(data.X)[:, 0] * data.relevant[:, None])
            .sum(axis=2)
            .mean(axis=1)
        )
        return sorted(weights[data.y == label].mean() for label in (-1, 1))

    (low, high), (less, more) = by_label(1.0), by_label(30.0)
    assert high - low < 0.05 and more > 0.99 and less < low
    assert live.path(lr=30.0).loss[-1] < live.path(lr=1.0).loss[-1]


@page.after("train")
def test_the_samples_that_can_be_shown_have_both_labels_and_say_so(live, data):
    shown = live.controls["sample"]
    assert [text[-2:] for text in shown.texts] == [f"{'+' if y > 0 else '−'}1" for y in data.y[:8]]
    assert len({text[-2:] for text in shown.texts}) == 2
    for k, text in zip(shown.values, shown.texts, strict=True):
        before, now = (live.drawn(lr=lr, sample=k)["sample_score"] for lr in (1.0, 30.0))
        assert now < before if text.endswith("+1") else now > 0.98


@page.after("descent-end")
def test_the_loop_ends_where_train_ends(theta, path, data):
    np.testing.assert_allclose(theta.loss(data.X, data.y), path.loss[-1], rtol=1e-9)


@page.after("figure-noise")
def test_training_fits_at_every_noise_level(ends):
    for end in ends:
        assert end.accuracy[-1] == 1
        assert end.loss[-1] < 1e-3


@page.after("figure-noise")
def test_up_to_noise_1_the_relevant_token_is_found_and_beyond_it_is_not(ends, sigmas):
    score = {sigma: end.attention_score[-1] for sigma, end in zip(sigmas, ends, strict=True)}
    right = {sigma: end.test_accuracy[-1] for sigma, end in zip(sigmas, ends, strict=True)}
    assert score[0.5] > score[0.75] > score[1.0] > 0.3 > 0.1 > max(score[1.5], score[2.0])
    assert right[0.5] > right[0.75] > right[1.0] > 0.8 > 0.6 > right[1.5]


@page.after("solution-shuffle")
def test_shuffling_changes_the_trained_logits_by_less_than_a_percent(change, same):
    assert same
    assert 1e-4 < change < 1e-2


@page.after("solution-uniform")
def test_uniform_attention_has_a_thousand_times_the_test_loss(path, share, test, uniform):
    assert 0.97 < share < 0.98
    assert uniform.loss(test.X, test.y) > 1000 * path.test_loss[-1]


@page.after("solution-rank")
def test_a_matrix_of_rank_one_selects_nearly_as_well_with_these_two_vectors(cosines, kept, path):
    assert kept > 0.95 * path.attention_score[-1]
    assert cosines[0] > 0.99
    assert cosines[1] > 0.999
