"""What the page multihead/01_a_small_attention_model says, held against what its cells leave."""

import numpy as np
import pytest

from page import Page

page = Page("multihead/01_a_small_attention_model")
UNQUOTED = {
    "what the model is not told": ("title: The model is initialized",),
    "what is proved, or defined": (
        "idea-text: Once the decoder",
        "heads-definition",
        "prove-selection: How large",
        "exercise-rank",
    ),
    "what a cell does": (
        "head-definition",
        "check: Gradient descent",
        "check-seen: The three rows",
    ),
    "what is not known, or left out": (
        "breaks-seen: Probably because",
        "breaks-seen: There are two",
        "solution-rank-end: We do not know",
    ),
}


@page.after(
    "train",
    says=(
        "which of ten tokens carries the label",
        "Each sample is a row of ten tokens",
        "for label $+1$, and another for label $-1$",
        "The other nine, the *distracting* tokens, are noisy copies of four other patterns",
        "draws a hundred samples",
        "The relevant token makes up a tenth of this mean, and the labels single out this tenth",
    ),
)
def test_the_data_are_as_described(data, said):
    asked, tokens, label, other, rest, patterns, samples, share = said
    truth = data.truth
    assert data.X.shape[:2] == (samples, tokens) and asked == tokens
    assert set(data.y) == {label, other} and len(truth.nu) == patterns
    assert ((~data.relevant).sum(axis=1) == rest).all()
    np.testing.assert_array_equal(data.X[data.relevant], truth.mu[(data.y + 1).astype(int) // 2])
    assert data.relevant.mean() == share


@page.after(
    "train",
    says=(
        "the head attends equally to all ten tokens: each gets a tenth of the weight. How will 2,000 steps",
        "most but not all of the weight",
        "At the end, most of the attention is on the token that carries the label",
    ),
)
def test_the_token_gets_most_of_the_weight_and_not_all(path, zero, data, said):
    tokens, tenth, steps = said
    np.testing.assert_allclose(zero.attention(data.X), 1 / tokens, rtol=1e-12)
    assert path.steps[-1] == steps
    assert abs(path.attention_score[0] - tenth) < 1e-12
    assert 0.6 < path.attention_score[-1] < 0.9


@page.after(
    "head",
    says=(
        "the scores 1.1 and 0",
        r"so the weights are $\frac34$ and $\frac14$",
        "when the score of the first token rises",
        "| 0 and 0 | 0.5 and 0.5 | (0.5, 0.5) | 0.5 |",
        "| 1.1 and 0 | 0.75 and 0.25 | (0.75, 0.25) | 1.25 |",
        "| 2.2 and 0 | 0.9 and 0.1 | (0.9, 0.1) | 1.7 |",
        r"The reading grows toward $\langle u,x_1\rangle=2$, but no softmax weight is ever zero",
    ),
)
def test_two_tokens_by_hand_have_the_weights_and_readings_of_the_table(head, said):
    X, first = np.eye(2), np.array([[1.0, 0.0], [0.0, 0.0]])
    U = np.array([[2.0, -1.0], [0.0, 0.0]])  # only the first token is the query
    *by_hand, end = said[:4], *np.reshape(said[4:-1], (3, 7)), said[-1]
    (score, zero, *weights), *rows = by_hand
    np.testing.assert_array_equal(rows[1][:4], [score, zero, *weights])
    for score, zero, *weights, reading in rows:
        scores = score * first + zero * first[:, ::-1]
        for j, weight in enumerate(weights):
            read = np.array([np.eye(2)[j % 2], [0.0, 0.0]])
            assert abs(head(X, scores, read) - weight) < 0.001
        assert abs(head(X, scores, U) - reading) < 0.001
    readings = [head(X, score * first, U) for score in range(10)]
    assert (np.diff(readings) > 0).all()
    assert 1.999 < readings[-1] < U[0] @ X[0] == end


@page.after("check-head", says="the library's model, which never overflows, give the same logit")
def test_head_is_the_model_of_the_library(data, head, path):
    X, model = data.X[0], path[-1]
    assert abs(head(X, model.W[0], model.U[0]) - model(data.X)[0]) < 1e-12 * abs(
        head(X, model.W[0], model.U[0])
    )
    assert (1000 * model.W[0] @ X.T).max() > 1000
    assert np.isfinite((1000 * model)(data.X)).all()


@page.after("check-step")
def test_the_first_step_of_the_decoders_goes_from_one_class_to_the_other(data, grad):
    difference, first = data.truth.mu[1] - data.truth.mu[0], -grad.U[0, 0]
    assert difference @ first / np.linalg.norm(difference) / np.linalg.norm(first) > 0.9


@page.after(
    "check-selection",
    says=(
        "This gap gives a lower bound on the weight of the relevant token",
        "Every weight is above its bound",
    ),
)
def test_every_weight_is_above_its_bound(bound, weight):
    assert (bound <= weight).all()
    assert weight.max() > 0.7


@page.after(
    "check-selection",
    says=(
        r"The weight tends to one only as $g\to\infty$: with finite parameters, softmax never selects completely",
        r"Putting half of the weight on one token in ten requires $g=\log9\approx2.2$",
        "decays exponentially in the gap between the scores, but never vanishes",
    ),
)
def test_the_other_weight_decays_exponentially_in_the_gap_and_never_vanishes(selection, said):
    half, tokens = said
    assert abs(np.log(tokens - 1) - 2.2) < 0.05
    assert np.isclose(selection.selected_mass(1 / tokens, np.log(tokens - 1)), half, rtol=1e-12)
    other = 1 - selection.selected_mass(1 / tokens, np.arange(10.0, 21.0))
    assert (other > 0).all()
    np.testing.assert_allclose(other[1:] / other[:-1], np.exp(-1), rtol=1e-3)


def weights_on_stars(live, **values):
    """Where the queries of the first sample look after the last step: (T, relevant tokens)."""
    drawn = live.drawn(**values)
    stars = [name.endswith("\N{BLACK STAR}") for name in drawn["token_names"]]
    return np.array(drawn["attention"])[:, stars]


@page.after("train")
def test_the_figure_is_the_run_of_the_lines_above_it(live, path):
    np.testing.assert_allclose(live.path().loss[-1], path.loss[-1], rtol=1e-9)


@page.after(
    "train",
    says=(
        "Within a few steps, the head classifies nearly all training and test samples correctly. Only then "
        "does the weight on the relevant token rise",
        "The weight on the relevant token rises only after most labels are correct: surer answers still "
        "lower the loss",
    ),
)
def test_as_it_starts_labels_are_right_before_the_weight_rises_and_one_column_fills(live):
    path = live.path()
    most = path.accuracy > 0.9
    assert path.steps[most.argmax()] <= 10
    assert path.loss[-1] < path.loss[most.argmax()] / 10
    assert (
        path.attention_score[most.argmax()] < 0.15
        and path.test_accuracy[path.steps >= 10].min() > 0.9
    )
    column = weights_on_stars(live)[:, 0]
    assert (column > 0.5).sum() >= 8


@page.after("train", says="There are now two relevant tokens, and their columns are equal")
def test_two_tokens_that_carry_the_label_get_equal_weight(live, said):
    columns = weights_on_stars(live, zeta=0.2)
    assert [columns.shape[1]] == said
    np.testing.assert_allclose(columns[:, 0], columns[:, 1], atol=1e-12)
    assert (columns.sum(axis=1) > 0.5).sum() >= 8


@page.after(
    "train",
    says=(
        "On most tokens, the norm of the noise is more than twice the norm of the pattern that it hides",
        "the accuracy is hardly better than chance, and the weight on the relevant token falls *below* the "
        "tenth at which it began",
    ),
)
def test_at_noise_twice_as_long_training_fits_and_does_not_find(live, data, said):
    (times,) = said
    norms = 2.0 * np.linalg.norm(np.random.default_rng(0).standard_normal((10_000, 8)), axis=1)
    pattern = np.linalg.norm(data.truth.nu[0])
    assert 0.8 < (norms > times * pattern).mean() < 0.9
    path = live.path(sigma=2.0)
    assert path.accuracy[-1] == 1 and path.loss[-1] < 1e-3
    assert path.test_accuracy[-1] < 0.65
    assert path.attention_score[-1] < path.attention_score[0] == pytest.approx(0.1)


@page.after(
    "train",
    says=(
        "With a step size thirty times as large, the final training loss is even lower, and the average "
        "weight on the relevant token hardly changes",
        "in samples with one label, the relevant token now gets nearly all of it, and in samples with the "
        "other label, less than before",
    ),
)
def test_at_long_steps_one_of_the_two_vectors_is_found_and_the_other_less_than_before(
    live, data, said
):
    assert [max(case["values"]["lr"] for case in live.spec["tries"])] == said
    scores = [live.path(lr=lr).attention_score[-1] for lr in (1.0, 30.0)]
    assert abs(np.diff(scores)) < 0.05

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


@page.after(
    "figure-noise",
    says=(
        "We increase the noise on the distracting tokens and train for 1,000 steps at each level",
        "At every noise level, the training loss ends near zero",
        "the head has 144 parameters for only a hundred samples",
    ),
)
def test_training_fits_at_every_noise_level(ends, sigmas, path, data, said):
    steps, parameters, samples = said
    assert sorted(sigmas) == sigmas
    assert path[-1].W.size + path[-1].U.size == parameters
    assert len(data.y) == samples
    for end in ends:
        assert end.steps[-1] == steps
        assert end.accuracy[-1] == 1
        assert end.loss[-1] < 1e-3


@page.after(
    "figure-noise",
    says=(
        r"so near $\sigma=0.7$, its norm equals that of the patterns",
        "Around this level, the weight on the relevant token and the test accuracy decrease together",
        "When the norm of the noise is twice that of the patterns, this weight ends below the tenth at "
        "which it started",
    ),
)
def test_up_to_noise_1_the_relevant_token_is_found_and_beyond_it_is_not(ends, sigmas, data, said):
    level, times = said
    noise, pattern = np.sqrt(8) * np.array(sigmas), np.linalg.norm(data.truth.mu[0])
    assert abs(level * np.sqrt(8) / pattern - 1) < 0.05
    assert sigmas[(noise > times * pattern).argmax()] == 1.5 < 1.1 * times * pattern / np.sqrt(8)
    assert all(end.attention_score[0] == pytest.approx(0.1) for end in ends)
    score = {sigma: end.attention_score[-1] for sigma, end in zip(sigmas, ends, strict=True)}
    right = {sigma: end.test_accuracy[-1] for sigma, end in zip(sigmas, ends, strict=True)}
    assert score[0.5] > score[0.75] > score[1.0] > 0.3 > 0.1 > max(score[1.5], score[2.0])
    assert right[0.5] > right[0.75] > right[1.0] > 0.8 > 0.6 > right[1.5]


@page.after(
    "solution-shuffle",
    says=(
        "Later steps make them differ, because the training samples have different tokens at\n"
        "position $t$ than at position $t'$",
        "the logits of the trained model change by less than one percent of the largest logit",
    ),
)
def test_shuffling_changes_the_trained_logits_by_less_than_a_percent(change, same):
    assert same
    assert 1e-4 < change < 1e-2


@page.after(
    "solution-uniform",
    says=(
        "but at a tenth of its strength",
        "The model predicts 99 of the 100 training labels correctly",
        "Its test loss is more than a thousand times that of the full model, because many margins grow much "
        "more slowly without selection",
    ),
)
def test_uniform_attention_has_a_thousand_times_the_test_loss(
    path, fits, share, data, test, uniform, said
):
    tenth, right, samples, factor = said
    assert data.relevant.mean() == tenth
    assert samples == len(data.y) and np.isclose(fits * samples, right)
    assert 0.97 < share < 0.98
    assert factor < uniform.loss(test.X, test.y) / path.test_loss[-1] < 2 * factor
    slow, full = (np.percentile(model(test.X) * test.y, 10) for model in (uniform, path[-1]))
    assert 0 < slow < full / 3


@page.after(
    "solution-rank",
    says=(
        "(cosine above 0.99): it singles out the distracting tokens as queries",
        "(cosine above 0.999): as keys, relevant tokens gain weight and distracting ones lose it",
    ),
)
def test_a_matrix_of_rank_one_selects_nearly_as_well_with_these_two_vectors(
    cosines, kept, path, said
):
    assert kept > 0.95 * path.attention_score[-1]
    for cosine, least in zip(cosines, said, strict=True):
        assert least < cosine < 1 - (1 - least) / 4
