"""Data from a planted head, and how its alignment is measured."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import mhalib as mha
from checks import assert_close
from engines import assert_follows, plain
from mhabook.c06_planted import figure as c06
from mhabook.c06_planted import statements as theory

SIZES = {"n": 40, "T": 4, "d": 3}


def teacher_as_model(truth):
    return mha.MultiHeadAttention(truth.W[None], truth.U[None])


@given(st.integers(0, 1000))
def test_labels_are_the_signs_of_the_planted_head(seed):
    data = mha.data.planted(**SIZES, seed=seed)
    logits = teacher_as_model(data.truth)(data.X)
    assert_close(
        data.truth.logits(data.X), logits, 1e-12 * np.linalg.norm(data.truth.U) * abs(data.X).max()
    )
    assert (data.y == np.sign(logits)).all()


def test_scores_beyond_the_range_of_exp_do_no_harm():
    data = mha.data.planted(**SIZES, strength=300.0)
    assert np.isfinite(data.truth.logits(data.X)).all()
    assert_close(data.truth.logits(data.X), teacher_as_model(data.truth)(data.X), 1e-9)


@given(st.integers(1, 60), st.integers(1, 60), st.sampled_from([0.0, 1.0]))
def test_the_first_samples_do_not_depend_on_how_many_are_drawn(few, more, margin):
    first, both = (
        mha.data.planted(n=n, T=4, d=3, margin=margin, flip=0.2) for n in (few, few + more)
    )
    assert_close(both.X[:few], first.X, 0)
    assert_close(both.y[:few], first.y, 0)
    assert_close(both.fresh(few, seed=4).X, first.fresh(few, seed=4).X, 0)


@pytest.mark.parametrize("margin", [0.0, 0.5, 1.9])
def test_no_logit_is_closer_to_zero_than_the_margin(margin):
    data = mha.data.planted(n=3000, T=4, d=3, margin=margin)
    sizes = abs(data.truth.logits(data.X)) / data.truth.scale
    assert len(data) == 3000
    assert sizes.min() >= margin
    assert sizes.min() < margin + 0.02


def test_the_scale_is_the_logits_root_mean_square():
    truth = mha.data.planted(**SIZES).truth
    fresh = truth.logits(np.random.default_rng(99).standard_normal((20_000, 4, 3))) / truth.scale
    # A ratio of two estimates of one mean square, 20,000 and 10,000 samples; 5 standard errors of
    # it.
    spread = (fresh**2).std() * (1 / 20_000 + 1 / 10_000) ** 0.5
    assert abs((fresh**2).mean() - 1) < 5 * spread


def test_a_share_of_the_labels_is_turned():
    straight, turned = (mha.data.planted(n=4000, T=4, d=3, flip=flip) for flip in (0.0, 0.1))
    assert_close(straight.X, turned.X, 0)
    wrong = (straight.y != turned.y).mean()
    assert abs(wrong - 0.1) < 5 * (0.1 * 0.9 / 4000) ** 0.5


def test_a_seed_is_a_teacher_and_fresh_keeps_it():
    one, again, other = (mha.data.planted(**SIZES, seed=seed) for seed in (1, 1, 2))
    assert_close(one.X, again.X, 0)
    assert abs(one.truth.W - other.truth.W).max() > 0.1
    fresh = one.fresh(7, seed=3)
    assert fresh.truth is one.truth
    assert fresh.X.shape == (7, 4, 3)
    assert not {x.tobytes() for x in one.X} & {x.tobytes() for x in fresh.X}


def test_strength_scales_the_key_query_matrix_alone():
    weak, strong = (mha.data.planted(**SIZES, strength=strength).truth for strength in (0.5, 2.0))
    assert_close(strong.W, 4 * weak.W, 1e-15)
    assert_close(strong.U, weak.U, 0)


@pytest.mark.parametrize(
    "change",
    [
        {"strength": -1.0},
        {"margin": 2.0},
        {"margin": -0.1},
        {"flip": 0.5},
        {"flip": float("nan")},
        {"n": 0},
        {"T": 2.5},
    ],
    ids=str,
)
def test_what_is_out_of_range_is_refused(change):
    with pytest.raises((ValueError, TypeError), match=next(iter(change))):
        mha.data.planted(**SIZES | change)


def test_alignment_is_the_cosine_of_the_concatenation():
    truth, model = mha.data.planted(**SIZES).truth, mha.MultiHeadAttention.random(3, 4, 3, seed=5)
    for name in "WU":
        ours = getattr(model, name).ravel()
        theirs = np.concatenate([getattr(truth, name).ravel()] * 3)
        expected = ours @ theirs / np.linalg.norm(ours) / np.linalg.norm(theirs)
        assert_close(theory.alignment(model, truth)[name], expected, 1e-14)
    assert theory.alignment(0.0 * model, truth) == {"W": 0.0, "U": 0.0}
    assert_close(theory.alignment(2.0 * teacher_as_model(truth), truth)["W"], 1.0, 1e-15)


def test_the_alignment_of_a_model_in_torch_is_the_same():
    """Its data keep the teacher in numpy."""
    truth, model = mha.data.planted(**SIZES).truth, mha.MultiHeadAttention.random(3, 4, 3, seed=5)
    assert theory.alignment(model.map(torch.tensor), truth) == theory.alignment(model, truth)
    both = theory.alignment_of_heads(torch.tensor(model.W), torch.tensor(truth.W))
    assert both == theory.alignment_of_heads(model.W, truth.W)


def test_alignments_follow_a_path():
    data = mha.data.planted(**SIZES)
    path = mha.train(mha.MultiHeadAttention.zeros(2, 4, 3), data, mha.GradientDescent(0.3), 12)
    curves = theory.alignments(path, data.truth)
    assert curves["U"].shape == path.steps.shape
    assert curves["W"][:2].tolist() == [0.0, 0.0]  # the first step moves only the decoders
    assert curves["W"][-1] == theory.alignment(path[-1], data.truth)["W"]
    assert 0 < curves["U"][1] <= theory.equal_rows_bound(data.truth.U)


def test_the_alignment_of_a_random_start_has_the_stated_variance():
    rng, m = np.random.default_rng(7), 12
    draws = rng.standard_normal((20_000, m))
    squared = draws[:, 0] ** 2 / (draws**2).sum(axis=1)
    variance = 2 * (m - 1) / (m * m * (m + 2))
    assert abs(squared.mean() - 1 / m) < 5 * (variance / 20_000) ** 0.5
    assert abs(squared.var() / variance - 1) < 0.1


@pytest.mark.parametrize("m", [2, 3, 12, 145])
def test_a_coordinate_of_a_uniform_direction_has_the_moments_of_its_distribution(m):
    """Its square has the beta distribution with parameters ½ and (m − 1)/2: moments by their
    recursion."""
    expected = np.cumprod([(1 + 2 * k) / (m + 2 * k) for k in range(4)])
    assert_close(
        np.array([theory.direction_moment(m, 2 * k) for k in range(1, 5)]), expected, 1e-12
    )
    assert abs(theory.direction_moment(m, 3)) < 1e-15


def test_what_the_teacher_shows_is_the_same_by_sampling():
    """The formula at full size, with tokens drawn: 40,000 samples, 5 standard errors."""
    W, U, X = (
        np.random.default_rng([3, k]).standard_normal(shape)
        for k, shape in enumerate([(3, 3), (4, 3), (40_000, 4, 3)])
    )
    logits = mha.MultiHeadAttention(W[None], U[None])(X)
    away = logits[:, None] * X.mean(axis=1) - theory.seen_in_mean(W, U, X)
    assert (abs(away.mean(axis=0)) < 5 * away.std(axis=0) / len(X) ** 0.5).all()


FEW, ZERO = mha.data.planted(n=24, T=3, d=2, seed=1), mha.MultiHeadAttention.zeros(3, 3, 2)
STEP = mha.GradientDescent(0.3)


@pytest.mark.parametrize("rule", [STEP, mha.Momentum(0.05), mha.Adam(0.02)])
def test_the_figure_is_the_run_of_its_lines(rule):
    made = c06.planted(FEW, ZERO, rule, steps=12)
    assert_close(
        made.path().loss, mha.train(ZERO, FEW, rule, 12, record=made.path().steps).loss, 1e-12
    )
    assert made.controls["H"].value == 3
    assert rule.lr in made.controls["lr"].values


def test_the_figure_starts_where_the_random_start_of_its_seed_does():
    made = c06.planted(FEW, ZERO, STEP, steps=12)
    assert_close(
        made.path(scale=0.3)[0].U, mha.MultiHeadAttention.random(3, 3, 2, scale=0.3, seed=1).U, 0
    )


@pytest.mark.parametrize(
    "data, start, rule, words",
    [
        (FEW.X, ZERO, STEP, "data: expected a Dataset"),
        (
            mha.data.from_arrays(FEW.X, FEW.y),
            ZERO,
            STEP,
            "data: expected samples of mhalib.data.planted",
        ),
        (FEW, ZERO + 1, STEP, "start: expected MultiHeadAttention.zeros"),
        (FEW, mha.MultiHeadAttention.zeros(1, 4, 2), STEP, "X"),
        (FEW, ZERO, mha.Momentum(0.1, 0.5), "rule: expected GradientDescent, Momentum or Adam"),
    ],
)
def test_the_figure_refuses_what_its_controls_cannot_move(data, start, rule, words):
    with pytest.raises((TypeError, ValueError), match=words):
        c06.planted(data, start, rule)


def test_the_alignment_of_a_random_start_follows_mhalib():
    made = c06.planted(FEW, ZERO, STEP, steps=12)
    assert_follows(plain(made), made, {"H": 2, "scale": 0.3})
