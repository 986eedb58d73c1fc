"""What the page multihead/07_does_it_generalize says, held against what its cells leave."""

import numpy as np
import pytest

import mhalib as mha
from mhabook.c07_generalization.runs import NS, cost_panels, decoder_lengths, measured, steepest
from page import Page
from scripts import load

page = Page("multihead/07_does_it_generalize")
UNQUOTED = {
    "what is proved, or defined": (
        "title",
        "leaving-out-seen: The reason",
        "idea-text: Stacked",
        "stability",
        "symmetrization",
        "generalization: The loss of",
        "generalization: The lemma",
        "generalization: This is",
        "generalization: If and",
        "generalization: It bounds",
        "breaks: The formula falls",
        "below-lipschitz",
        "solution-lipschitz-end: The latter",
        "below-monotone",
        "solution-monotone-end: With the sample",
        "seen: - Leaving out",
        "seen: With enough heads",
        "seen: So with enough heads",
    ),
    "what a cell does": ("check",),
    "another page's": (
        "generalization: Where all",
        "generalization: The [further",
    ),
}


def ended(live, **values):
    """Where the curves of the live figure end."""
    return {name: curve[-1] for name, curve in live.drawn(**values).items() if name != "steps"}


def each_doubling(name, step, start, sigma):
    """By what the median of the stored runs changes when the samples are doubled."""
    middle = np.median(measured(name, step, start, sigma), axis=0)
    return middle[1:] / middle[:-1]


@page.after(
    "data",
    says=(
        "We draw twenty samples",
        "Each has ten tokens: two carry the label",
        "One head is initialized at zero and trained for 500 steps",
        "The next cell trains on all twenty samples. The figure also shows the run without sample 9, the one "
        "that matters most among the twenty",
        "Each sample now has half the weight",
    ),
)
def test_the_run_is_as_described(data, path, live, said):
    samples, tokens, relevant, steps, trained, sample, among, weight = said
    distances = {left: ended(live, left=left)["distance"] for left in live.controls["left"].values}
    assert max(distances, key=distances.get) == sample and samples == among
    assert data.X.shape[:2] == (samples, tokens) and trained == samples
    assert (data.relevant.sum(axis=1) == relevant).all()
    assert path.steps[-1] == steps
    (many,) = (
        case["values"]["samples"]
        for case in live.spec["tries"]
        if case["label"] == "Twice the samples"
    )
    assert samples / many == weight


@page.after(
    "data",
    says=(
        "the thin line shows one tenth of the distance that the run has moved from zero",
        "The dotted line is the sum of the push norms of sample 9",
        "It grows early, while the losses are large, and ends at about a seventh of the distance that the "
        "run on all samples has moved. So among the choices of the first guess, *about a tenth* is the closest",
        "In the right panel, the thick line is the loss of sample 9 in the run without it. It rises for a few "
        "steps and then falls, although this run has never seen the sample",
        "After every step, the loss of sample 9 is smaller in the run on all samples",
        "The second reason is that pushes shrink",
        "runs move apart mostly in the early steps (left panel), because the pushes shrink",
    ),
)
def test_the_figure_is_the_run_above_it_and_its_run_without_the_sample_parts_early(
    live, path, said
):
    part, sample, seventh, tenth, *again = said
    assert again == [sample, sample]
    assert ended(live, left=int(sample)) == ended(live)
    np.testing.assert_allclose(live.path()[-1].U, path[-1].U, rtol=1e-9)
    drawn, end = live.drawn(), ended(live)
    assert np.isclose(end["tenth"], part * end["traveled"], rtol=1e-12)
    early = {
        name: np.interp(50, drawn["steps"], drawn[name]) / end[name]
        for name in ("distance", "traveled", "pushed")
    }
    assert early["distance"] > max(0.7, early["traveled"])
    assert early["pushed"] > 0.5
    assert abs(end["traveled"] / end["distance"] - 1 / seventh) < 0.5
    assert abs(np.log10(end["distance"] / end["traveled"] / tenth)) < 0.5
    assert np.less_equal(drawn["own_loss"], drawn["left_loss"]).all()
    assert 2 < np.argmax(drawn["left_loss"]) < 10 and drawn["left_loss"][-1] < min(
        drawn["left_loss"][:10]
    )
    assert 5 * end["loss"] < end["held_out_loss"] < 0.02 * np.log(2)


@page.after(
    "data",
    says=(
        "The run without sample 0 ends much closer to the run on all samples than the run without sample 9 "
        "does, although the pushes of sample 0 are only a quarter smaller",
        "When left out, sample 0 ends with half the test loss, whereas sample 9 ends slightly above the test "
        "loss",
        "The pushes of sample 9 and the distance between the two runs fall by about two fifths, whereas the "
        "gap falls by little more than a quarter",
    ),
)
def test_another_sample_matters_less_than_it_pushes_and_twice_the_samples_halve_neither_distance_nor_gap(
    live, said
):
    left, kept, same, quarter, left_again, half, kept_again, *said = said
    sample, runs, fifths, more = said
    assert left == same == left_again and kept == kept_again == sample and runs == 2
    first, other, many = (
        ended(live, left=int(kept)),
        ended(live, left=int(left)),
        ended(live, samples=40),
    )
    assert other["distance"] < 0.4 * first["distance"]
    assert abs(1 - other["pushed"] / first["pushed"] - quarter) < 0.05
    assert (
        0.8 * half * other["held_out_loss"]
        < other["left_loss"]
        < 1.2 * half * other["held_out_loss"]
    )
    assert other["left_loss"] < 0.5 * other["held_out_loss"]
    assert first["held_out_loss"] < first["left_loss"] < 1.1 * first["held_out_loss"]
    assert all(
        0.35 < 1 - many[name] / first[name] < 0.5
        and abs(1 - many[name] / first[name] - fifths) < 0.08
        for name in ("pushed", "distance")
    )
    gaps = [end["held_out_loss"] - end["loss"] for end in (first, many)]
    assert more < 1 - gaps[1] / gaps[0] < more + 0.05


@page.after(
    "data",
    says=(
        "The norm of the noise on a token is now nearly three times the norm of the pattern",
        "exceeds the sum of the norms of the sample's pushes. The loss of the left-out sample *rises*, and "
        "after a few steps the test loss rises as well",
        "can be smaller than the sum of the pushes or, with large noise, larger",
        "A loss that rises on these samples while the training loss falls is a sign of memorization",
    ),
)
def test_long_noise_parts_the_runs_farther_than_the_pushes_and_the_fresh_losses_rise(
    live, data, said
):
    (times,) = said
    pattern = np.linalg.norm(data.truth.mu[0])
    assert 0.9 * times < np.sqrt(8) / pattern < times
    assert ended(live)["distance"] < ended(live)["pushed"]
    drawn, end = live.drawn(sigma=1.0), ended(live, sigma=1.0)
    assert end["loss"] < drawn["loss"][0]
    assert end["distance"] > max(end["pushed"], end["traveled"] / 2)
    assert end["loss"] < ended(live)["loss"]
    late = np.array(drawn["steps"]) > 5
    assert (np.diff(drawn["left_loss"]) > 0).all() and (
        np.diff(np.array(drawn["held_out_loss"])[late]) > 0
    ).all()
    assert min(end["left_loss"], end["held_out_loss"]) > np.log(2)


@page.after(
    "idea",
    says=(
        "Predict the numbers 1, 2, and 6 by their mean, 3. The errors are 2, 1, and 3",
        r"The other two have the means 4, $\frac72$, and $\frac32$, which miss the left-out number by 3, "
        r"$\frac32$, and $\frac92$, so every error is $\frac32$ times as large as before",
        "With a hundred numbers, therefore, the error on a new number is only a little larger than",
    ),
)
def test_a_mean_misses_the_number_that_is_left_out_by_half_more(said):
    given, mean, errors = np.array(said[:3]), said[3], said[4:7]
    others, means, misses, factor, many = said[7], said[8:11], said[11:14], said[14], said[15]
    assert given.mean() == mean and abs(given - mean).tolist() == errors
    assert len(given) - 1 == others
    left = [np.delete(given, i).mean() for i in range(3)]
    assert left == means and abs(given - left).tolist() == misses
    np.testing.assert_allclose(np.divide(misses, errors), factor)
    assert 0.005 < many / (many - 1) - 1 < 0.02


@page.after(
    "idea",
    says=(
        r"which is less than $\ell$: at the loss $\log2\approx0.69$, it is $\frac12$, and at the loss $0.01$, "
        "it is just below $0.01$"
    ),
)
def test_the_slope_of_the_loss_is_less_than_the_loss(said):
    half, loss, bound = said
    losses = np.linspace(0.01, 5, 100)
    assert (-np.expm1(-losses) < losses).all()
    assert np.isclose(-np.expm1(-np.log(2)), half) and abs(np.log(2) - 0.69) < 0.005
    assert 0.99 * bound < -np.expm1(-loss) < bound


@page.after(
    "say-distance", says="With twenty other samples (`seed=3`), the distance exceeds the sum"
)
def test_with_other_samples_some_runs_end_farther_than_their_samples_pushed(
    another, exception, farther, said
):
    n, seed = map(int, said)
    same = mha.data.tokenized_mixture(n, 10, 8, 4, 0.2, 1.0, 0.3, seed)
    np.testing.assert_array_equal(another.X, same.X)
    assert 0 < farther == (exception.expansion[-1] > 1).sum() < n / 2


@page.after(
    "pushes",
    says=(
        "The distance is largest for sample 9",
        "For none of the twenty samples does the distance exceed the sum of the pushes",
    ),
)
def test_runs_by_hand_are_those_of_the_library_and_none_ends_farther_than_its_sample_pushed(
    run, runs, distance, everyone, path, said
):
    largest, samples = said
    assert distance.argmax() == largest and len(distance) == samples
    np.testing.assert_allclose(run(everyone).U, path[-1].U, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(runs.distance[-1], distance, rtol=1e-9)
    assert distance.argmax() == 9 and runs.expansion[-1].max() < 1


@pytest.mark.parametrize(
    ("step", "start", "sigma", "most"),
    [
        (1000, "zero", 0.0, 0.5),
        (1000, "many", 0.0, 0.5),
        (1000, "zero", 0.3, 0.6),
        (10, "zero", 1.0, 0.7),
    ],
)
def test_the_gap_falls_and_on_average_a_doubling_takes_this_much_of_it(step, start, sigma, most):
    kept = each_doubling("gap", step, start, sigma)
    assert kept.max() < 1 and np.prod(kept) < most ** len(kept)


@page.after(
    "figure-gap",
    says=(
        r"Without noise, in the first two panels, the gap falls faster than the dotted line $\frac1n$",
        "doubling the number of samples leaves *about a third* of the gap",
        r"Without noise, the measured gap falls on average faster than $\frac1n$",
    ),
)
def test_without_noise_a_doubling_leaves_about_a_third_of_the_gap_on_average_but_not_each(
    settings, said
):
    panels, third = said
    quiet = [case for case in settings.values() if case[1] == 0][: int(panels)]
    assert [*settings.values()][: int(panels)] == quiet == [("zero", 0.0), ("many", 0.0)]
    for case in quiet:
        kept = each_doubling("gap", 1000, *case)
        assert np.prod(kept) < 0.5 ** len(kept)
        assert third - 0.03 < np.prod(kept) ** (1 / len(kept)) < third + 0.06
        assert kept.min() < 0.25 < 0.5 < kept.max()


@page.after(
    "figure-gap",
    says=(
        "The next figure shows the gap for eight training sets of each size",
        "The step size is 1 for one head and 0.3 for many heads. Each line is the median of the eight gaps",
        "There, the heads form two groups of identical heads",
    ),
)
def test_the_stored_runs_have_these_training_sets_and_step_sizes(settings, said):
    sets, one, many, medians, groups = said
    assert all(len(measured("gap", 1000, *case)) == sets == medians for case in settings.values())
    problem = load("book/results/generalization.py").problem
    (_, _, lr), (_, start, lr_many) = (problem(kind, 8, 0.0, 0) for kind in ("zero", "many"))
    assert (lr, lr_many, len(start.copies)) == (one, many, groups)


@page.after(
    "figure-gap",
    says=(
        "slows this decrease for large $n$, but the gap still falls with every doubling",
        "After ten steps, the gap still falls with every doubling",
    ),
)
def test_with_a_little_noise_or_few_steps_the_gap_falls_but_more_slowly(said):
    (steps,) = said
    little = each_doubling("gap", 1000, "zero", 0.3)
    assert max(little.max(), each_doubling("gap", int(steps), "zero", 1.0).max()) < 1
    assert little[-1] > each_doubling("gap", 1000, "zero", 0.0)[-1]


@page.after(
    "figure-gap",
    says=(
        r"in all stored runs below, the sum of the training loss and the formula "
        r"$\frac{3G^2}n\eta\sum_kL_k$ exceeds $\log2$"
    ),
)
def test_training_loss_and_formula_together_exceed_what_a_guess_has_at_every_recorded_step(
    settings,
):
    for case in settings.values():
        for step in (10, 30, 100, 300, 1000):
            formula = 3 * steepest(*case) ** 2 * measured("total", step, *case) / NS
            assert (formula + measured("loss", step, *case)).min() > np.log(2)


@page.after(
    "figure-cost",
    says=(
        "After a thousand steps, the model *interpolates* every training set, that is, it classifies all of "
        "its samples correctly, and the gap *grows* with every doubling. So the answer to the third question "
        "is that the gap does not fall",
        "Without noise, fitting 256 samples costs nearly the same as fitting 8",
        "With large noise, every doubling increases the cost by half or more",
        "Fitting a few noisy samples costs *less* than fitting as many clean ones",
        "and $G$ then grows with $n$",
        "times as large with 256 samples as with 8. So the formula *grows* with every doubling, as the gap "
        "does. In the other settings, the formula falls",
        "The losses along the run and $G$ grow with $n$, and so does the gap",
    ),
)
def test_under_long_noise_the_gap_the_cost_and_the_formula_grow_at_every_doubling(settings, said):
    steps, most, least, half, *ends = said
    assert [most, least] == ends == [NS[-1], NS[0]]
    assert each_doubling("gap", int(steps), "zero", 1.0).min() > 1
    assert 1 + half < each_doubling("total", 1000, "zero", 1.0).min() < 1 + 1.5 * half
    assert (
        measured("loss", 1000, "zero", 1.0).max()
        < 0.01
        < 0.4
        < measured("loss", 10, "zero", 1.0)[:, -1].min()
    )
    assert all(
        0.95 < each_doubling("total", 1000, start, 0.0).min() < 1.1 for start in ("zero", "many")
    )
    assert (np.diff(steepest("zero", 1.0).mean(axis=0)) > 0).all()
    costs, formulas = (
        {name: np.median(runs, axis=0) for name, runs in panel.items()}
        for panel in cost_panels(settings).values()
    )
    loud, *quiet = formulas.pop("one head, σ = 1"), *formulas.values()
    assert (np.diff(loud) > 0).all() and all((np.diff(formula) < 0).all() for formula in quiet)
    assert (costs["one head, σ = 1"] < costs["one head, σ = 0"])[:3].all()
    assert measured("gap", 1000, "zero", 1.0).min() > np.log(2)


def test_the_more_noisy_samples_there_are_to_memorize_the_longer_is_the_decoder():
    loud = decoder_lengths(1.0)
    assert (np.diff(loud.mean(axis=0)) > 0).all()
    data = mha.data.tokenized_mixture(n=8, T=10, d=8, M=4, zeta=0.2, S=1.0, sigma=1.0)
    path = mha.train(mha.MultiHeadAttention.zeros(1, 10, 8), data, mha.GradientDescent(1.0), 1000)
    np.testing.assert_allclose(np.linalg.norm(path[-1].U), loud[0, 0], rtol=1e-9)


@page.after(
    "solution-lipschitz",
    says=("At the end, the bound without the losses is many times as large as the bound with them"),
)
def test_the_bound_without_the_losses_is_many_times_as_large(with_losses, without):
    assert without[-1] > 5 * with_losses[-1]


@page.after(
    "solution-estimate",
    says=(
        "For a single training set of twenty samples, the ratio can be far from one. This happens with "
        r"$\sigma=0.3$, where the test loss comes from rare samples that are not among the twenty"
    ),
)
def test_the_estimate_can_be_far_from_the_test_loss(data, noisy, ratios, said):
    samples, sigma, same = said
    assert len(data.y) == len(noisy.y) == samples == same
    ratio = ratios[f"σ = {sigma}"]
    assert max(ratio.max(), 1 / ratio.min()) > 2


@page.after(
    "solution-monotone",
    says=(
        r"With $\sigma=1$, the sign of the difference changes with $n$, and all but one of the means over "
        "eight training sets are within two standard errors of zero"
    ),
)
def test_one_sample_more_helps_but_for_much_noise(helps, noisy, said):
    sigma, sets, errors = said
    assert [*helps.values()] == [True, True, True, False] and [*helps][-1] == ("zero", sigma)
    assert len(noisy) == sets
    signs = np.sign(noisy.mean(axis=0))
    assert signs.min() < 0 < signs.max()
    error = noisy.std(axis=0, ddof=1) / len(noisy) ** 0.5
    far = abs(noisy.mean(axis=0)) / error
    assert (far < errors).sum() == noisy.shape[1] - 1
    assert errors / 1.3 < np.sort(far)[-2] < errors
