"""What the page preconditioning/10_descent_that_knows_the_structure says, held against what its
cells leave."""

import re
from types import SimpleNamespace

import numpy as np

import mhalib as mha
from mhabook.c10_structure import factorization, figure, idea, runs
from mhabook.c11_data_and_compute.statements import floor_constant
from mhabook.exercises.guess import groups
from page import Page
from scripts import load

page = Page("preconditioning/10_descent_that_knows_the_structure")
UNQUOTED = {
    "questions": (
        "title",
        "predict: By roughly",
    ),
    "what is proved, or defined": (
        "preconditioned",
        "blind: In more dimensions",
        "idea-text: Consider",
        "idea-text: If the target is",
        "conditioning-seen: Near an optimum",
        "conditioning-seen: If its condition",
        "conditioning-seen: Either way",
        "breaks",
        "seen",
    ),
}


@page.after(
    "figure-tokens",
    says="Stretch the tokens so that their variance is 256 times as large along the stretch as across it. The "
    "variance averaged over all directions stays 1, and the targets do not change",
)
def test_the_stretch_of_the_question_is_the_last_of_the_figure_and_keeps_the_mean_variance(said):
    ratio, mean = said
    assert figure.KAPPAS[-1] == ratio
    far = mha.data.linear_regression(n=8, d=3, p=3, kappa=ratio).truth.root
    assert np.isclose(np.linalg.cond(far) ** 2, ratio) and np.isclose((far**2).sum() / 3, mean)


@page.after(
    "figure-tokens",
    says="Each path shows the errors of a layer along the two token directions",
)
def test_the_paths_of_the_picture_lead_the_errors_of_both_directions_to_zero(said):
    (directions,) = said
    for variances in (idea.ISOTROPIC, idea.STRETCHED):
        errors = idea.descent(variances)
        assert errors.shape[1] == directions and abs(errors[-1]).max() < abs(errors[0]).min() / 5


@page.after(
    "train",
    says=(
        "draws two hundred isotropic Gaussian tokens and a small random layer, and chooses two "
        "update rules"
    ),
)
def test_on_round_tokens_both_curves_fall_alike(data, live, path, plain, said, whitened):
    tokens, rules = said
    assert len(data) == tokens
    assert len({plain, whitened}) == rules
    drawn = live.drawn()
    np.testing.assert_allclose(drawn["excess"], path.excess, rtol=1e-9)
    assert (abs(np.log(np.divide(drawn["excess"], drawn["excess_plain"]))) < np.log(2)).all()


@page.after("train")
def test_the_layer_goes_along_and_the_curve_with_whitening_stays_at_every_stretch_and_step_size(
    live,
):
    for lr in (0.1, 0.5, 0.9):
        first = live.drawn(lr=lr)
        for kappa in live.controls["kappa"].values:
            drawn = live.drawn(kappa=kappa, lr=lr)
            np.testing.assert_allclose(drawn["excess"], first["excess"], rtol=1e-6)
            np.testing.assert_allclose(
                drawn["excess_plain"][0], first["excess_plain"][0], rtol=1e-9
            )


@page.after(
    "train",
    says=(
        "The excess of plain descent ends more than twice as high as with the initial settings",
        "The cloud of tokens is 16 times as long as it is wide, and the step size is too large "
        "for its long direction",
    ),
)
def test_plain_descent_ends_higher_diverges_or_crawls(live, said):
    times, longer = said
    stretched = live.spec["tries"][2]["values"]["kappa"]
    assert stretched**0.5 == longer
    round_, little, lot, short = (
        live.drawn(**at)["excess_plain"]
        for at in ({}, {"kappa": 16.0}, {"kappa": 256.0}, {"kappa": 256.0, "plain_lr": 0.1})
    )
    assert times < little[-1] / round_[-1] < 1.4 * times
    gone = np.flatnonzero(np.isnan(lot))
    assert gone[0] < 5 and (np.diff(gone) == 1).all() and gone[-1] == len(lot) - 1
    assert lot[gone[0] - 1] == 10  # where its line leaves the panel
    assert (np.diff(short) < 0).all()
    assert short[-1] > 50 * round_[-1]


@page.after(
    "train",
    says=(
        "Plain descent is slow, but not stuck: set *number of steps* to 600, and its curve comes "
        "close to that of whitened descent"
    ),
)
def test_on_tokens_stretched_a_little_ten_times_the_steps_bring_plain_descent_near_the_others(
    live, said
):
    (most,) = said
    assert live.controls["steps"].values[-1] == most == 10 * live.controls["steps"].value
    far, round_ = (live.drawn(kappa=kappa, steps=int(most)) for kappa in (16.0, 1.0))
    plain = np.array(far["excess_plain"])
    # Rounding decides when the curve jumps, and where in an oscillation it ends.
    assert plain[-1] < 0.8 * plain[60]
    assert plain[-1] < 1.5 * min(round_["excess_plain"][-1], far["excess"][-1])
    assert (np.diff(plain[60:]) > 0).any()


def plain_run(data, start, plain, record):
    """Plain descent on tokens that are stretched a little: the data, and the layers at the steps
    of ``record``."""
    little = mha.data.linear_regression(n=200, d=3, p=3, kappa=16)
    back = data.truth.root @ np.linalg.inv(little.truth.root)
    there = mha.AttentionRegression(start.A @ back, back.T @ start.B @ back)
    return little, mha.train(there, little, plain, record[-1], record=record).models


@page.after(
    "train",
    says=(
        "$A$ grows along the direction of largest variance, and with it the curvature of the "
        "loss, until the step size is too large."
    ),
)
def test_the_largest_curvature_grows_until_the_step_size_is_too_large_for_it(data, start, plain):
    little, models = plain_run(data, start, plain, [60, 200, 300])
    early, later, last = (mha.landscape.spectrum(model, little).values[-1] for model in models)
    assert early < later < 2 / plain.lr < last


def largest_curvature_in_B(model, data, move=1e-4):
    """The largest eigenvalue of the Hessian with respect to B alone."""

    def gradient(step):
        moved = mha.AttentionRegression(model.A, model.B + step.reshape(model.B.shape))
        return moved.loss_and_grad(data.x, data.y)[1].B.ravel()

    steps = move * np.eye(model.B.size)
    hessian = np.array([gradient(step) - gradient(-step) for step in steps]) / (2 * move)
    return np.linalg.eigvalsh((hessian + hessian.T) / 2)[-1]


@page.after("train", says=("so it grows with $A$, as it did in the live figure"))
def test_it_is_nearly_that_in_B_and_grows_like_the_square_of_A_along_the_largest_variance(
    data, start, plain
):
    little, models = plain_run(data, start, plain, [100, 200])
    longest = np.linalg.eigh(little.truth.root)[1][:, -1]
    sizes = [np.linalg.norm(model.A @ longest) for model in models]
    largest = [mha.landscape.spectrum(model, little).values[-1] for model in models]
    assert sizes[1] > 1.1 * sizes[0]
    assert np.isclose(largest[1] / largest[0], (sizes[1] / sizes[0]) ** 2, rtol=0.05)
    for model, value in zip(models, largest, strict=True):
        assert np.isclose(largest_curvature_in_B(model, little), value, rtol=0.1)


@page.after(
    "train",
    says=(
        "With two hundred training tokens, the curves level off above zero, at a floor",
        "But why does the figure's curve, with its two hundred tokens, not move",
    ),
)
def test_the_curves_flatten_at_the_floor_of_two_hundred_tokens(data, path, said):
    assert said == [len(data)] * 2
    floor = floor_constant(data.truth.singular_values, 3, 3, data.sigma) / len(data)
    assert np.isclose(path.excess[-1], floor, rtol=0.1)
    assert np.isclose(path.excess[-1], path.excess[-10], rtol=0.1)


@page.after(
    "idea",
    says=(
        "| 1 | 1 + 1 = 2 | 2 |",
        "| 4 | 4 + 16 = 20 | 2 |",
        "| 16 | 16 + 256 = 272 | 2 |",
        "For variances 4 and 1, it must stay below 2 over the largest curvature, $2/20$",
        "The other coordinate has curvature 2, so near the optimum, a step multiplies its error "
        "by 1 minus twice the step size",
        "With a step size below $2/20$, its error shrinks by less than a fifth per step",
        "with variance 4, and of the narrow one",
        "In $u$ and $v$, both curvatures are 2, so a step size of $\\frac12$ suits both "
        "coordinates",
    ),
)
def test_the_curvature_of_the_table_is_that_of_the_layer_of_two_numbers(said):
    table, rest = np.reshape(said[:15], (3, 5)), said[15:]
    wide, narrow, over, edge, other, one, times, same, fifth, drawn, both, step = rest

    def excess(variance, a, b):
        return mha.models.regression.excess(
            *(np.array([[x]]) for x in (a, b, variance, variance**-0.5))
        )

    for variance, first, second, curvature, whitened in table:
        assert [first, second] == [variance, variance**2]
        assert whitened == both == other
        a, b, way = variance**-0.5, 1 / variance, np.array([variance**0.5, variance])
        move = 1e-4 * way / np.linalg.norm(way)
        assert np.isclose(
            2 * excess(variance, a + move[0], b + move[1]) / 1e-8, curvature, rtol=1e-2
        )
    variance, a, b = 3.0, 0.7, 0.2
    below, at, above = (excess(variance, a, b + step) for step in (-0.1, 0, 0.1))
    assert np.isclose((above - 2 * at + below) / 0.1**2, variance**3 * a**2, rtol=1e-9)
    assert (wide, narrow) == idea.VARIANCES and drawn == wide
    (most,) = table[table[:, 0] == wide, 3]
    assert other == both == times and step == 1 / both
    assert over / most == edge == same and one - fifth == 1 - both * edge
    assert len(idea.descent(idea.VARIANCES)) > 3 * len(idea.descent((1.0, 1.0)))


@page.after(
    "twin-run",
    says="Take the tokens 1, 2, and −2 and the stretched tokens 10, 20, and −20, and divide each set by its "
    "root mean square. Both sets become the same three numbers",
)
def test_three_tokens_and_their_multiples_are_the_same_once_whitened(said):
    few, far, count = np.array(said[:3]), np.array(said[3:6]), said[6]
    assert len(few) == count
    np.testing.assert_allclose(few / (few**2).mean() ** 0.5, far / (far**2).mean() ** 0.5)


@page.after(
    "twin-run",
    says=(
        "Sixty steps on the stretched tokens end at the same loss as sixty steps on the "
        "isotropic ones",
        "In the library's run, all sixty losses are the same",
    ),
)
def test_the_losses_on_stretched_tokens_are_those_on_round_ones(
    C, data, far, path, said, theta, twin
):
    assert said == [len(path.loss) - 1, len(path.loss) - 1, len(twin.loss) - 1]
    assert np.allclose(data.x @ C.T, far.x, rtol=1e-9, atol=1e-12)
    assert np.allclose(data.y, far.y, rtol=1e-9, atol=1e-12)
    assert abs(twin.loss - path.loss).max() < 1e-9 < path.loss[-1]
    assert np.isclose(theta.loss(far.x, far.y), path.loss[-1], rtol=1e-9)


@page.after("twin-run")
def test_a_layer_left_behind_begins_lower_and_ends_higher(left, twin):
    assert left.loss[0] < twin.loss[0] / 1.2
    assert left.loss[-1] > 1.05 * twin.loss[-1]


def steeper(length, seed):
    """How much larger the ratio of the curvatures at the optimum is on stretched tokens, all
    ``length`` times as long.

    On round tokens the ratio is 4 at every length.
    """
    condition = load("book/results/conditioning.py").condition
    data = mha.data.linear_regression(n=1, d=5, p=5, kappa=256, s_max=0.4, kappa_M=4, seed=seed)
    root, kept = length * data.truth.root, data.M / length
    return (
        condition(SimpleNamespace(Sigma=root @ root, M=kept), kept @ root, np.linalg.inv(root)) / 4
    )


@page.after(
    "say-conditioning",
    says=(
        "It depends on the targets and on the mean variance, here 1.",
        "In $A$ and $B$, at the optimum near which the run starts, this ratio is "
        "{glue:text}`steeper` times as large for the most anisotropic tokens as for isotropic "
        "ones",
    ),
)
def test_longer_tokens_make_the_ratio_larger(far_ratio, round_ratio, said):
    (mean,) = said
    here = []
    for seed in range(5):
        short, page_s, long = (steeper(length, seed) for length in (0.3, mean**0.5, 3.0))
        assert short < page_s < long
        here.append(page_s)


@page.after("say-conditioning")
def test_the_first_guess_has_the_numbers_of_the_steps(least, most):
    why = groups()["chapter-10"]["1"]["why"]
    said = [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", why)]
    np.testing.assert_allclose(said, [most / least, most, least], rtol=0.02)


@page.after(
    "conditioning",
    says=(
        "For the most anisotropic tokens, plain descent needs about {glue:text}`plain` steps, "
        "which is {glue:text}`factor` times as many",
        "Now take infinitely many tokens in five dimensions, so that the excess can fall to zero",
        "Descent starts near an optimum and stops when the excess is below $10^{-10}$",
    ),
)
def test_plain_descent_needs_steps_as_its_valley_narrows_and_begins_where_whitened_descent_stays(
    said, steps
):
    dimensions, base = said
    d, study = int(dimensions), load("book/results/conditioning.py")
    assert base**-10 == study.TARGET
    data = mha.data.linear_regression(n=1, d=d, p=d, kappa=256, s_max=0.4, kappa_M=4, seed=0)
    root = data.truth.root
    (stored,) = steps.where(kappa=256.0, seed=0)["condition"]
    assert np.isclose(study.condition(data, data.M @ root, np.linalg.inv(root)), stored)
    tables = {kappa: steps.where(kappa=kappa) for kappa in (1.0, 16.0, 256.0)}
    narrower, longer = (
        np.median(tables[256.0][name]) / np.median(tables[1.0][name])
        for name in ("condition", "one")
    )
    assert 0.7 < longer / narrower < 1.4
    assert (tables[256.0]["two"] > 10 * tables[1.0]["one"]).all()
    for kappa, table in tables.items():
        assert (table["two"] <= table["one"]).all()
        counts = [runs.whitened_count(kappa, 4.0, int(seed)) for seed in tables[1.0]["seed"]]
        assert counts == tables[1.0]["one"].tolist()


@page.after(
    "stretched-target", says=("The number of steps grows with the *condition number of the target*")
)
def test_a_stretched_target_costs_whitened_descent_steps(grown):
    steps = np.divide(grown[1:], grown[:-1])
    assert (steps > 1.5).all()
    assert (steps < 3.5).all()


@page.after(
    "stretched-target",
    says=(
        "Late in a run, the whitened steps per halving of the excess are nearly proportional to this "
        "condition number",
        "The early steps hardly depend on it, so the total grows more slowly",
    ),
)
def test_late_the_steps_are_in_proportion_to_the_condition_number_of_the_target_and_early_they_are_not():
    def median(kappa_M, excess):
        return np.median([runs.whitened_count(1.0, kappa_M, seed, excess) for seed in range(5)])

    early = [median(kappa_M, 1e-4) for kappa_M in (4, 16, 64)]
    late = [median(kappa_M, 1e-14) - median(kappa_M, 1e-12) for kappa_M in (4, 16, 64)]
    assert max(early) <= min(early) + 1
    assert all(3 < more / fewer < 5 for fewer, more in zip(late, late[1:], strict=False))


@page.after(
    "solution-gauge",
    says=(
        "All three layers are optimal for infinitely many tokens. With 200 tokens, their losses "
        "differ"
    ),
)
def test_turned_optima_differ_on_finitely_many_tokens(far, own, said, to_A, turns):
    assert said == [len(turns), len(far)]
    losses = []
    for turn in turns:
        U, V = factorization.optimum(far.M @ own, turn)
        losses.append(mha.AttentionRegression(U @ to_A, to_A @ V @ to_A).loss(far.x, far.y))
    assert np.ptp(losses) > 1e-4


@page.after(
    "solution-minibatch",
    says=(
        "A minibatch step computes 40 of 200 rows of weights, so sixty such steps cost as much "
        "as twelve full steps",
        "The minibatch steps end within a few percent of the loss after sixty full steps, "
        "whereas the loss after twelve full steps is much higher",
        "So here a gradient from forty queries is nearly as useful as one from all 200",
    ),
)
def test_a_fifth_of_the_queries_ends_where_all_end_and_far_below_a_fifth_of_the_steps(
    far, said, there, twin, whitened
):
    batch, tokens, steps, full, *again = said
    assert batch * steps == len(far) * full and len(far) == tokens
    assert again == [steps, full, batch, tokens]
    batch, steps, full = int(batch), int(steps), int(full)
    for seed in range(6):
        end = mha.train(there, far, whitened, steps=steps, batch=batch, seed=seed).loss[-1]
        assert np.isclose(end, twin.loss[steps], rtol=0.05)
        assert twin.loss[full] > 1.3 * end
