"""Chapter 4: heads in groups, the chain of the training theorem, and the live figure of theory
against practice."""

import numpy as np
import pytest

import mhabook
import mhalib as mha
from checks import assert_close, assert_refused
from engines import assert_follows, plain
from mhabook.c01_model.instances import token_radius
from mhabook.c02_curvature import bounds
from mhabook.c03_first_step.first_phase import first_phase, mirrored
from mhabook.c04_convergence import chain, starts
from mhabook.c04_convergence import statements as convergence
from mhabook.c04_convergence.figure import nearer, theory_and_practice
from mhalib.models import HeadGroups
from mhalib.models.head_groups import groups_of_equal_heads
from strategies import grouped, problem

seeds = pytest.mark.parametrize("seed", range(8))
THEOREMS = {
    False: (chain.ball_constants, chain.heads_needed),
    True: (chain.head_constants, chain.fewer_heads_needed),
}


@seeds
def test_the_chain_counts_groups_as_their_heads(seed):
    few, data = grouped(seed)
    heads = few.expand()
    grad, grad_6 = (model.loss_and_grad(data.X, data.y)[1] for model in (few, heads))
    assert chain.logit_slopes(few, grad, data.X) == pytest.approx(
        heads.features(data.X) @ grad_6.ravel(), rel=1e-11
    )
    assert chain.decoder_sizes(few) == pytest.approx(chain.decoder_sizes(heads), rel=1e-14)
    assert chain.head_distance(few, 0 * few) == pytest.approx(
        chain.head_distance(heads, 0 * heads), rel=1e-14
    )


def test_groups_train_like_their_heads():
    few, _ = grouped()
    drawn = problem(n=5, T=4)
    data = mha.data.from_arrays(drawn.X, drawn.y, np.arange(20).reshape(5, 4) % 3 == 0)
    once, one_by_one = (
        mha.train(model, data, mha.GradientDescent(0.5), 20) for model in (few, few.expand())
    )
    for name, curve in one_by_one.curves.items():
        assert_close(once.curves[name], curve, 1e-12)
    assert_close(once[-1].expand().ravel(), one_by_one[-1].ravel(), 1e-12)


def test_equal_heads_are_found():
    few, _ = grouped()
    assert groups_of_equal_heads(few.expand()) == ([0, 3, 4], [0, 0, 0, 1, 2, 2])


def test_a_hundred_billion_heads_lose_no_digits_that_matter():
    data = mha.data.tokenized_mixture(n=10, T=10, d=7, M=5, zeta=0.2, S=1.0, sigma=0.0)
    path = mha.train(
        starts.first_phase_groups(data, (55 * 10**9, 56 * 10**9)),
        data,
        mha.GradientDescent(0.3),
        30,
    )
    model, exact = path[-1], np.longdouble
    X, W, U, N = (
        np.asarray(a, exact) for a in (data.X, model.W, model.U, np.array(model.copies, float))
    )
    E = np.exp(X[:, None] @ W @ X[:, None].swapaxes(2, 3))
    read = (E / E.sum(axis=3, keepdims=True) * (U @ X[:, None].swapaxes(2, 3))).sum(axis=(2, 3))
    assert_close(model(data.X), np.asarray((read * N).sum(axis=1) / np.sqrt(N.sum()), float), 1e-9)


@seeds
def test_constants_of_groups_are_those_of_their_heads(seed):
    (few, _), R = grouped(seed), 1.3
    for constant in (bounds.gradient_constant, bounds.hessian_constant, bounds.smoothness_constant):
        assert constant(few, R) == pytest.approx(constant(few.expand(), R), rel=1e-14)


def test_constants_of_the_neighborhoods_are_the_formulas():
    start, _ = grouped()
    (largest, mean), R = chain.decoder_sizes(start), 1.3
    ball, head = chain.ball_constants(start, R, 0.7), chain.head_constants(start, R)
    found = [ball.B, head.B, ball.G, head.G]
    assert found == pytest.approx(
        [
            chain.curvature(4, R, largest + 3.5),
            chain.curvature(4, R, largest + 0.5 / 1.69),
            chain.steepness(4, R, mean + 3.5 / 6**0.5),
            chain.steepness(4, R, mean + 0.5 / 1.69),
        ],
        rel=1e-14,
    )


@pytest.mark.parametrize(
    "rho, reference_loss, start_loss, largest",
    [(100.0, 0.1, 0.1, 0.01), (0.01, 2.0, 0.1, 9 / 14), (0.01, 0.1, 30.0, 0.3)],
)
def test_the_largest_step_is_the_least_of_three(rho, reference_loss, start_loss, largest):
    constants = chain.Constants(1.0, 1.0, 1.0, rho)
    assert chain.largest_step(constants, 3.0, reference_loss, start_loss, 7) == pytest.approx(
        largest, rel=1e-15
    )


@seeds
@pytest.mark.parametrize("grouped_first", [True, False])
def test_constants_hold_in_the_whole_neighborhood(seed, grouped_first):
    drawn, rng, R = problem(seed, H=3), np.random.default_rng(seed), 1.3
    start = HeadGroups(drawn.model.W, drawn.model.U, (1, 1, 4)) if grouped_first else drawn.model
    distance, step = rng.uniform(0.1, 2), start.map(lambda a: rng.standard_normal(a.shape))
    one_head = step._with(
        {name: a * np.array([1.0, 0, 0])[:, None, None] for name, a in step.arrays().items()}
    )
    for away in (step, one_head):
        far = start + 5 * distance / away.norm() * away
        far_head = start + 0.5 / R**2 / chain.head_distance(start + away, start) * away
        for model, constants in (
            (far, chain.ball_constants(start, R, distance)),
            (far_head, chain.head_constants(start, R)),
        ):
            largest, mean = chain.decoder_sizes(model)
            assert chain.steepness(4, R, mean) <= constants.G * (1 + 1e-12)
            assert chain.curvature(4, R, largest) <= constants.B * (1 + 1e-12)
    assert constants.kappa == constants.B / start.sizes[0] ** 0.5
    assert constants.rho == pytest.approx(constants.G**2 / 4 + constants.kappa, rel=1e-15)


@pytest.mark.parametrize("per_head", [False, True])
def test_random_instances_satisfy_the_hypotheses(per_head):
    for seed in range(100):
        start, reference, data, lr, steps = starts.near(seed, per_head).values()
        R, distance = token_radius(data.X), (reference - start).norm()
        constants_of, needed = THEOREMS[per_head]
        constants = constants_of(start, R) if per_head else constants_of(start, R, distance)
        assert constants.kappa * distance**2 <= 7 / 64
        assert start.sizes[0] >= needed(distance, chain.decoder_sizes(start)[0], start.sizes[1], R)
        losses = (model.loss(data.X, data.y) for model in (reference, start))
        assert 0 < lr <= chain.largest_step(constants, distance, *losses, steps) * (1 + 1e-12)
        assert not per_head or chain.head_distance(reference, start) <= 0.5 / R**2


def test_learnable_instances_satisfy_the_hypotheses():
    for seed in range(100):
        start, direction, data, steps, lr = starts.learnable(seed).values()
        reference = chain.reference_along(start, direction, data, steps)
        constants = chain.ball_constants(start, token_radius(data.X), reference.distance)
        assert steps >= 5
        assert constants.kappa * reference.distance**2 <= 7 / 64
        assert lr <= (1 + 1e-6) / constants.rho


@seeds
def test_the_links_are_what_they_are_called(seed):
    start, reference, data, lr, steps = starts.near(seed).values()
    run = chain.follow(start, reference, data, lr, steps)
    path = mha.train(start, data, mha.GradientDescent(lr), steps)
    assert_close(run.loss, path.loss, 1e-12)
    assert_close(run.squared_gradient, path.grad_norm**2, 1e-11)
    for k in (0, steps):
        model = path[k]
        _, grad = model.loss_and_grad(data.X, data.y)
        assert run.product[k] == pytest.approx(grad.dot(model - reference), rel=1e-9)
        assert run.from_start[k] == pytest.approx((model - start).norm(), rel=1e-6)
        assert run.from_reference[k] == pytest.approx((model - reference).norm(), rel=1e-9)
        assert run.head_distance[k] == pytest.approx(chain.head_distance(model, start), rel=1e-6)
    assert run.distance == run.from_reference[0]
    assert run.reference_loss == reference.loss(data.X, data.y)


def test_the_links_are_the_inequalities():
    """On made-up numbers, each side written once more by hand."""
    rng = np.random.default_rng(0)
    squared, product, from_start, from_reference = rng.random((4, 4))
    loss = np.array([0.5, 0.2, 0.9, 0.4])
    run = chain.Chain(loss, squared, product, from_start, from_reference, from_start, 0.3, 0.7)
    found, D0 = chain.links(run), from_reference[0]
    assert_close(found["descent"].lhs, 0.35 * squared[:3], 1e-15)
    assert_close(found["descent"].rhs, loss[:3] - loss[1:], 1e-15)
    assert_close(found["one point"].lhs, 0.75 * loss, 1e-15)
    assert_close(found["one point"].rhs, product + 0.375, 1e-15)
    assert found["regret"].lhs[2] == pytest.approx(1.05 * loss[1:].sum())
    assert found["regret"].rhs[2] == pytest.approx(
        D0**2 - from_reference[3] ** 2 + 2.5 * 0.7 * 3 * 0.3 + 0.35 * (loss[0] - loss[3])
    )
    assert_close(
        found["bounded iterates"].lhs, np.maximum(from_reference / 2, from_start / 3), 1e-15
    )
    assert (found["bounded iterates"].rhs == D0).all()
    # the second loss is above the mean so far, the third below
    assert found["rate"].lhs.tolist() == [0.2, 0.9, 0.5]
    assert found["rate"].rhs[1] == pytest.approx(2 / 3 * D0**2 / (0.7 * 2) + 0.5 + loss[0] / 6)


def test_the_constants_of_the_proof():
    assert convergence.share_lost(7 / 16) == pytest.approx(28 / 121, rel=1e-15)
    assert convergence.share_lost(8 / 17) == pytest.approx(1 / 4, rel=1e-15)
    u = np.geomspace(1e-3, 1e3, 50)
    for R in (0.1, 1.0, 3.0):
        assert (R**2 * chain.steepness(4, R, u) <= chain.curvature(4, R, u)).all()


def test_the_demand_of_the_mixture():
    demand = convergence.mixture_demand(T=10, zeta=0.2, S=1.0, M=5, K=100, delta=0.05)
    assert demand.heads == pytest.approx(8.4e10, rel=0.01)
    assert demand.fewer_heads == pytest.approx(5.2e7, rel=0.01)
    assert demand.margin == pytest.approx(0.44925, rel=1e-4)
    # H ~ D₀⁶ and D₀⁴.
    for function, power in ((chain.heads_needed, 6), (chain.fewer_heads_needed, 4)):
        one, two = (function(distance, 0.5, 10, 1.0) for distance in (1e3, 2e3))
        assert two / one == pytest.approx(2**power, rel=1e-2)


def test_the_demand_of_samples_counts_their_sampling_noise():
    """The bound on the logits is that of the samples, not of the mixture: the coins exceed it as
    rarely as they may."""
    data = mha.data.tokenized_mixture(n=100, T=10, d=7, M=5, zeta=0.2, S=1.0, sigma=0.0, seed=0)
    demand = convergence.sample_demand(data, K=100, delta=0.5)
    mixture = convergence.mixture_demand(K=100, delta=0.5)
    one = abs(first_phase(data, H=1)(data.X)).max()
    assert demand.largest_logit == pytest.approx(one * (2 * np.log(4)) ** 0.5, rel=1e-12)
    assert demand.largest_logit == pytest.approx(1.355 * mixture.largest_logit, rel=1e-3)
    quiet = convergence.sample_demand(mirrored(data), K=100, delta=0.5)
    assert tuple(quiet) == pytest.approx(tuple(mixture), rel=1e-9)


@pytest.mark.parametrize(
    "id",
    [
        "lemma-regret",
        "lemma-bounded-iterates",
        "thm-1-training",
        "thm-1-fewer-heads",
        "cor-2-mixture",
    ],
)
def test_no_random_instance_is_nearer_than_the_recorded_ones(id):
    statement = mhabook.ledger[id]
    recorded = min(statement.on(make()).slack for make in statement.extremal)
    assert recorded <= min(statement.on(statement.random(seed)).slack for seed in range(200))


def test_a_row_fails_where_one_of_its_claims_does():
    """On made-up runs: the loss rises once, though both distances and the mean stay far below their
    bounds."""
    near = np.array([1.0, 1.1, 1.2, 1.3])
    run = chain.Chain(np.array([0.5, 0.2, 0.3, 0.1]), near, near, 0.5 * near, near, near, 0.1, 0.01)
    assert [check.holds for check in chain.stays_near(run)] == [True, True, False]
    assert [check.holds for check in chain.converges(run)] == [False, True]
    for changes in ({"from_reference": near**3}, {"from_start": 3 * near}):
        assert sum(not check.holds for check in chain.stays_near(run._replace(**changes))) == 2
    assert not chain.converges(run._replace(loss=400 * run.loss))[1].holds


@seeds
def test_first_phase_groups_are_one_randomized_step(seed):
    """Step size 2√H ε_h on head h, from zero."""
    data, (plus, minus) = mha.data.tokenized_mixture(n=20, seed=seed), (3, 2)
    zero = mha.MultiHeadAttention.zeros(5, 10, 8)
    _, grad = zero.loss_and_grad(data.X, data.y)
    sign = np.repeat([1.0, -1.0], (plus, minus))[:, None, None]
    after = mha.MultiHeadAttention(-2 * 5**0.5 * sign * grad.W, -2 * 5**0.5 * sign * grad.U)
    assert_close(
        starts.first_phase_groups(data, (plus, minus)).expand().ravel(), after.ravel(), 1e-14
    )


def test_coins_are_fair():
    """200 tosses of a million coins each: the sum of the z-scores is beyond 4 once in 16,000."""
    scores = [
        (plus - minus) / 1e3
        for plus, minus in (starts.coin_tosses(10**6, seed) for seed in range(200))
    ]
    assert abs(np.sum(scores)) / 200**0.5 < 4
    assert 0.8 < np.std(scores) < 1.2


def test_the_run_that_the_theorem_speaks_of():
    """103 billion heads: every hypothesis holds, every link holds, and attention does not move."""
    data = mha.data.tokenized_mixture(n=100, T=10, d=7, M=5, zeta=0.2, S=1.0, sigma=0.0, seed=0)
    start = starts.first_phase_groups(data, starts.coin_tosses(103 * 10**9, seed=0))
    reference = chain.reference_along(start, starts.mixture_witness(data, start.copies), data, 100)
    constants = chain.ball_constants(start, 1.0, reference.distance)
    assert constants.kappa * reference.distance**2 <= chain.CURVED
    run = chain.follow(start, reference.model, data, 0.33, 100)
    assert run.lr <= chain.largest_step(
        constants, run.distance, run.reference_loss, run.loss[0], 100
    )
    assert run.reference_loss < 1 / 100
    assert all((link.slack > 0).all() for link in chain.links(run).values())
    assert run.head_distance[-1] < 2e-5


def test_a_reference_needs_a_direction_that_separates():
    start, direction, data, steps, _ = starts.learnable(0).values()
    with pytest.raises(ValueError, match="direction: expected y"):
        chain.reference_along(start, -direction, data, steps)
    twice = chain.reference_along(start, 2.0 * direction, data, steps)
    assert twice.distance == pytest.approx((twice.model - start).norm(), rel=1e-9)


def test_models_too_far_apart_are_refused():
    model, data, other = starts.hump(0.1).values()
    with pytest.raises(ValueError, match=r"κD² < 8, got κD² = "):
        convergence.one_point(model, model + 10 * (other - model), data)


FEW, DATA = grouped()
BAD = {
    "too few copies": (
        lambda: HeadGroups(FEW.W, FEW.U, (1, 2)),
        ["W: expected shape (2, d, d)", "(3, 3, 3)"],
    ),
    "no copy": (
        lambda: HeadGroups(FEW.W, FEW.U, (1, 0, 2)),
        ["copies: expected whole numbers ≥ 1", "(1, 0, 2)"],
    ),
    "half a copy": (lambda: HeadGroups(FEW.W, FEW.U, (1, 0.5, 2)), ["copies: expected", "0.5"]),
    "sum of other copies": (
        lambda: FEW + HeadGroups(FEW.W, FEW.U, (1, 1, 1)),
        ["other: expected", "(3, 1, 2)"],
    ),
    "product with single heads": (
        lambda: FEW.dot(FEW.few()),
        ["other: expected HeadGroups", "MultiHeadAttention"],
    ),
    "no step": (
        lambda: chain.follow(FEW, FEW, DATA, 0.1, 0),
        ["steps: expected a whole number ≥ 1", "0"],
    ),
    "no head": (lambda: starts.coin_tosses(0, seed=0), ["H: expected a whole number ≥ 1", "0"]),
    "no step of a figure": (
        lambda: theory_and_practice(steps=0),
        ["steps: expected a whole number ≥ 1", "0"],
    ),
}


@pytest.mark.parametrize("call, words", BAD.values(), ids=BAD)
def test_bad_input_is_named(call, words):
    assert_refused(call, ValueError, words)


FIGURE = theory_and_practice(n=6, steps=30)


@pytest.mark.parametrize("values", [{}, {"S": 2.0, "H": 2, "zeta": 0.4}], ids=str)
def test_the_figure_follows_mhalib(values):
    assert_follows(plain(FIGURE), FIGURE, values)


def without_noise(**given):
    return mha.data.tokenized_mixture(
        **{"n": 6, "T": 5, "d": 6, "M": 3, "zeta": 0.4, "S": 1.5, "sigma": 0.0, "seed": 3} | given
    )


def near(**given):
    """The figure of a small run; ``given`` in the place of its arguments."""
    data = without_noise()
    right = {
        "data": data,
        "start": starts.first_phase_groups(data, (40, 40)),
        "rule": mha.GradientDescent(0.2),
    }
    return nearer(**right | {"steps": 40} | given)


def test_the_figure_begins_with_the_run_that_it_was_given():
    data = without_noise()
    path = mha.train(
        starts.first_phase_groups(data, (40, 40)), data, mha.GradientDescent(0.2), steps=40
    )
    assert_close(near().path()[-1].U, path[-1].U, 1e-12)


@pytest.mark.parametrize("values", [{}, {"H": 2, "zeta": 0.8}], ids=str)
def test_the_figure_of_the_good_model_follows_mhalib(values):
    assert_follows(plain(near()), near(), values)


@pytest.mark.parametrize(
    "said, given",
    {
        "start: expected first_phase_groups": {"start": mha.MultiHeadAttention.zeros(2, 5, 6)},
        "start: expected first_phase_groups.*": {
            "start": starts.first_phase_groups(without_noise(), (40, 41))
        },
        "start: expected first_phase_groups.*got": {
            "start": starts.first_phase_groups(without_noise(n=8), (40, 40))
        },
        "rule: expected GradientDescent": {"rule": mha.Adam(0.1)},
        "data: expected a mixture without noise": {
            "data": without_noise(sigma=0.1),
            "start": starts.first_phase_groups(without_noise(sigma=0.1), (40, 40)),
        },
        "data: expected the samples of a tokenized_mixture": {
            "data": mha.data.planted(n=6, T=5, d=6)
        },
        "steps: expected a whole number": {"steps": 0},
    }.items(),
)
def test_what_the_figure_of_the_good_model_cannot_move_is_refused(said, given):
    with pytest.raises((TypeError, ValueError), match=said):
        near(**given)
