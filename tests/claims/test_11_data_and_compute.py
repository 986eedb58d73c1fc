"""What the page preconditioning/11_data_and_compute says, held against what its cells leave."""

from dataclasses import replace

import numpy as np
import pytest

import mhalib as mha
from mhabook.c11_data_and_compute import idea, scaling
from mhabook.c11_data_and_compute import statements as theory
from page import Page

page = Page("preconditioning/11_data_and_compute")
UNQUOTED = {
    "questions": (
        "title: If you want",
        "predict: How do",
        "prove: Why does",
    ),
    "what is proved, or defined": (
        "see: The layer has",
        "idea-text: But each",
        "prove: For least squares",
        "floor-two-numbers: With infinitely",
        "floor-two-numbers: The sample variance",
        "floor-two-numbers: Off the diagonal",
        "prove-plan: Therefore",
        "breaks: Stronger targets",
        "breaks: Where the floor",
    ),
    "another rule, which no cell runs": ("solution-cheaper-end: The law itself",),
    "what is said above": ("seen",),
}
SIZES = (40, 80, 160, 320)


def ends(run):
    """The mean excess at the end, for every number of samples."""
    return np.array([run.curves[f"excess_{n}"][-1] for n in SIZES])


@page.after(
    "two-budgets",
    says=(
        "The figure shows the errors of two runs that spend the same budget. One takes many steps on few samples, "
        "the other few steps on many samples"
    ),
)
def test_the_two_budgets_of_the_picture_cost_the_same(said):
    costs = [n**2 * K for n, K in (idea.FEW, idea.MANY)]
    assert said == [len(costs)] and len({*costs}) == 1
    assert idea.FEW[0] < idea.MANY[0] and idea.FEW[1] > idea.MANY[1]


@page.after(
    "idea",
    says=(
        "an error that shrinks by the same fraction in every step is a straight line on a logarithmic scale",
        "twice as many samples halve the floor and leave the line unchanged",
        "So the line reaches the floor later, by the number of steps that it needs to fall by half",
    ),
)
def test_twice_the_samples_halve_the_floor_which_the_line_reaches_later(said):
    times, half = said
    steps = idea.crossing(times * 160) - idea.crossing(160)
    assert np.isclose(idea.LAW.factor**steps, half)
    assert np.isclose(idea.LAW(np.inf, times * 160), half * idea.LAW(np.inf, 160))


@page.after(
    "bought",
    says=(
        "A layer learns a linear regression from $n$ samples in thirty whitened steps",
        "The next cell draws 320 samples and a random layer",
        "The figure repeats the run with a half, a quarter, and an eighth of the samples",
        "Each curve is an average over six random draws of the samples, with the same "
        "initialization",
        "all curves fall together at first",
        "The dotted line, for infinitely many samples, never levels off",
    ),
)
def test_all_fall_together_and_end_by_their_samples(data, path, rule, said, shown, start):
    steps, most, *shares, draws = said
    assert len(path.loss) - 1 == steps
    assert len(data) == most
    assert (*(share * most for share in shares[::-1]), most) == SIZES
    others = [data.fresh(len(data), seed=seed) for seed in range(1, int(draws))]
    runs = [mha.train(start, drawn, rule, steps=int(steps)) for drawn in (data, *others)]
    assert np.isclose(np.mean([one.excess[-1] for one in runs]), ends(shown.path())[-1], rtol=1e-6)
    run = shown.path()
    early = [run.curves[f"excess_{n}"][5] for n in SIZES]
    assert max(early) < 1.6 * run.excess_limit[5]
    assert all(1.6 < ratio < 2.5 for ratio in ends(run)[:-1] / ends(run)[1:])
    assert run.excess_limit[-1] < 0.9 * run.excess_limit[-2]
    assert run.excess_limit[-1] < ends(run).min() / 10


@page.after(
    "bought",
    says=(
        "With a smaller step size, all curves fall more slowly. The two lowest curves for "
        "finitely many samples are still falling at the end, close together: these runs need "
        "more steps, and more samples would hardly help"
    ),
)
def test_with_shorter_steps_more_samples_hardly_lower_the_excess(said, shown):
    (lowest,) = said
    usual = shown.path()
    assert lowest == 2
    run = shown.path(lr=0.2)
    assert 1 < ends(run)[2] / ends(run)[3] < 1.3
    assert all(run.curves[f"excess_{n}"][10] > 1.5 * usual.curves[f"excess_{n}"][10] for n in SIZES)
    for n in SIZES[-int(lowest) :]:
        late = run.curves[f"excess_{n}"]
        assert late[-1] < 0.95 * late[-3]
    assert run.excess_320[-1] < 0.9 * run.excess_320[-3]


@page.after(
    "bought",
    says=(
        "The curves end only somewhat lower than with noise",
        "So most of the floor comes from attention itself",
    ),
)
def test_most_of_the_floor_is_not_the_noise_of_the_targets(shown):
    assert (ends(shown.path(sigma=0.0)) < ends(shown.path())).all()
    assert (ends(shown.path(sigma=0.0)) > 0.6 * ends(shown.path())).all()


@page.after(
    "bought",
    says=(
        "The strongest direction of the target is unchanged, and the weaker directions become "
        "equally strong",
        "The line for infinitely many samples falls more steeply than before, but the floors are "
        "higher, because every direction contributes to them",
    ),
)
def test_equal_directions_fall_faster_and_end_higher(shown):
    run, equal = shown.path(), shown.path(kappa_M=1.0)
    assert equal.excess_limit[15] < run.excess_limit[15] / 10
    assert (ends(equal) > 2 * ends(run)).all()


@page.after(
    "bought",
    says=(
        "The lowest curve even dips and rises again, which the law derived below does not do",
        "It ends below the dotted line of the right panel, as an average over only six draws may",
    ),
)
def test_with_equal_directions_the_lowest_curve_dips_and_ends_below_the_formula(said, shown):
    (draws,) = said
    equal = shown.path(kappa_M=1.0).excess_320
    assert draws == 6
    assert (
        equal.min()
        < 0.8 * equal[-1]
        < equal[-1]
        < theory.floor_constant([0.4] * 3, 3, 3, 0.1) / 320
    )


@page.after(
    "law",
    says=(
        "Here they are 0.4, 0.2, and 0.1; the largest is $s_{\\max}$ and the smallest is "
        "$s_{\\min}$"
    ),
)
def test_the_late_factor_is_the_derived_one(data, rho, said, shown):
    np.testing.assert_allclose(data.truth.singular_values, said)
    limit = shown.path().excess_limit
    assert (limit[30] / limit[10]) ** (1 / 20) == pytest.approx(rho, rel=0.01)


@page.after(
    "law",
    says=(
        "Half of this, divided by $n$, is only {glue:text}`share` percent of the derived floor",
        "with this approximation, $\\Psi$ would be 0.70. The formula for scores of any size",
        "compared with 0.09 for the noise",
    ),
)
def test_the_parts_of_the_floor(data, phi, psi, s, said, share):
    half, small, noise = said
    assert np.isclose(s.sum() ** 2 + (s**2).sum(), small, atol=0.005)
    assert np.isclose(9 * data.sigma**2, noise)
    assert np.isclose(share, half * noise / phi, rtol=0.02)
    assert np.isclose(phi, half * (noise + psi))


@page.after(
    "law",
    says=(
        "If each part is half of $\\varepsilon$",
        "Ten more steps multiply the first part by $0.81^{10}\\approx\\frac18$, so the second part may grow to",
        "That requires hardly more than half as many samples, and each step costs less than a third as much",
        "So if the plan has four steps or more, ten more steps lower its cost",
    ),
)
def test_ten_more_steps_are_cheaper_than_samples(rho, said):
    part, more, factor, half, third, fewest, same = said
    assert same == more and factor == pytest.approx(rho)
    assert rho**more == pytest.approx(1 / 8, rel=0.05)
    samples = part / (1 - part / 8)
    assert half < samples < 1.1 * half
    assert 0.8 * third < samples**2 < third
    cheaper = [(K + more) * samples**2 < K for K in (fewest - 1, fewest)]
    assert cheaper == [False, True]


@page.after(
    "law-whole",
    says="We read $a$ off the figure's run on infinitely many samples, at step 30. In practice, this run is not",
)
def test_the_amplitude_is_that_of_the_last_step(a, rho, said, shown):
    (step,) = said
    assert np.isclose(a * rho**step, shown.path().excess_limit[int(step)])


@page.after(
    "one-direction-run",
    says=(
        "Now suppose that a small sample of tokens has variance 1.1",
        "which is too large by a tenth. The training loss cannot",
        "Take the first coordinate of the tokens, give it mean 0 and variance 1.1, and train on",
    ),
)
def test_a_variance_a_tenth_too_large_leaves_a_layer_a_tenth_too_weak(ended, said, x):
    variance, tenth, mean, same = said
    assert np.isclose(variance - 1, tenth)
    assert np.isclose(x.var(), variance) and same == variance
    assert abs(x.mean() - mean) < 1e-12
    assert abs(variance * ended.A.item() * ended.B.item() / 0.1 - 1) < 0.02


@page.after(
    "figure-law",
    says=(
        "At first, the runs are above the law, because they are still far from the optimum",
        "From about the eighth step on, they agree with the law to within 20 percent",
        "At the last step, the averages over two hundred draws lie above the law, by less than "
        "two standard errors",
    ),
)
def test_over_many_draws_the_runs_follow_the_law_from_the_eighth_step_on(drawn, law, said, steps):
    percent, draws, errors = said
    assert all(10 * len(batches) == draws for batches in drawn.values())
    off, above = [], []
    for n, batches in drawn.items():
        share = batches / law(steps, n)
        assert (share.mean(axis=0)[:4] > 1.5).all()
        off.append(abs(share.mean(axis=0)[8:] - 1).max())
        above.append((share[:, -1].mean() - 1) / share[:, -1].std(ddof=1) * len(share) ** 0.5)
    assert 0.8 * percent / 100 < max(off) < percent / 100
    assert min(above) > 0 and 0.6 * errors < max(above) < errors


@page.after("figure-law", says=("The live figure's six draws happen to end below the law"))
def test_six_draws_may_end_below_the_law_or_above_it(drawn, law, said, shown, steps):
    (draws,) = said
    assert draws == 6
    assert all(ends(shown.path()) < law(30, np.array(SIZES)))
    assert any(drawn[320][:, -1] > law(30, 320))


@page.after(
    "buy",
    says=(
        "Draw that many samples, take that many steps, and repeat this eight times",
        "a single run may differ from it by half",
    ),
)
def test_the_plan_is_what_the_library_says_and_reaches_its_target(
    K, best, ends, n, plan, said, target
):
    times, half = said
    assert len(ends) == times
    assert (n[best], K[best]) == (plan.n, plan.steps)
    assert abs(np.mean(ends) - target) < 2 * np.std(ends, ddof=1) / times**0.5
    assert 0.6 * half < np.std(ends, ddof=1) / target < 1.6 * half


@page.after(
    "plan",
    says=(
        "The floor makes up more than 0.7 of $\\varepsilon$ for every $\\varepsilon<a$, and nearly "
        "all of it when $\\varepsilon$ is small",
        "In the cheapest plan, most of the error is due to the samples",
    ),
)
def test_the_floor_has_most_of_every_target_below_the_start(law, said):
    (least,) = said
    shares = [scaling.split(share * law.amplitude, law)[2] for share in (0.999, 0.5, 0.1, 0.01)]
    assert 1.05 * least > shares[0] > least and shares[-1] > 0.9 and (np.diff(shares) > 0).all()


@page.after(
    "say-tenth",
    says=(
        "For a tenth of the excess, you need ten times as many samples, but only about "
        "$\\ln10/\\ln\\frac1\\rho$ more steps, which is eleven for our run",
        "The cost is multiplied by a hundred, and by the ratio of the new to the old number of "
        "steps",
        "What about a tenth of this excess? The plan that the law gives, which we have not run, "
        "has {glue:text}`more` times as many samples and {glue:text}`later` more steps",
        "Reducing a small error to a tenth requires ten times as many samples, but only a few "
        "more steps",
    ),
)
def test_a_tenth_takes_ten_times_the_samples_and_a_few_more_steps(plan, rho, said, target, tenth):
    part, samples, more, cost, *same = said
    assert same == [part, part, samples]
    assert part * samples == 1 and cost == samples**2
    assert abs(np.log(samples) / np.log(1 / rho) - more) < 0.1
    assert np.isclose(tenth.cost / plan.cost, cost * tenth.steps / plan.steps, rtol=0.1)
    assert 0.95 * part * target < tenth.excess <= part * target
    assert 0.9 * samples < tenth.n / plan.n < samples
    assert abs(tenth.steps - plan.steps - np.log(samples) / np.log(1 / rho)) < 3


@page.after(
    "figure-breaks",
    says=(
        "For the strong target, the line rises overall, although the runs have converged",
        "Eight runs per point are too few to say how fast it rises with $n$",
        "stored runs of SA1 in five dimensions, initialized at a least-squares fit",
    ),
)
def test_a_strong_target_is_not_level_though_its_runs_have_settled(ends_of, runs, said):
    count, dimensions = said
    assert len(runs.stored_runs("SA1", 2.0)) == count
    assert len(runs.values_of(2.0)) == dimensions
    weak, strong = ends_of[0.4], ends_of[2.0]
    assert weak.max() < 1.4 * weak.min() and strong[-1] > 1.8 * strong[0]
    late = runs.stored_runs("SA1", 2.0).mean(axis=0)
    assert (abs(late[:, 40] / late[:, 30] - 1) < 0.04).all()


@page.after(
    "say-sixty",
    says=(
        "The next figure shows runs from five initializations, of which this is the first, with "
        "infinitely many samples",
        "as two of these five runs do, and its excess falls by the factor $\\rho$ only after",
        "Of sixty initializations, {glue:text}`late` need more than twice the {glue:text}`first` "
        "steps that the first one needs to reach an excess of 0.0005",
        "when read off at step 100, it ranges from 0.05 to more than 100,000 in these five runs",
        "a larger $a$ adds steps in proportion to its logarithm, and hardly changes the number "
        "of samples",
    ),
)
def test_the_amplitude_varies_widely_and_costs_steps_rather_than_samples(
    amplitudes, arrived, falling, law, rho, said
):
    shown, stalled, same, starts, times, excess, step, least, most, five = said
    assert len(amplitudes) == shown == same == five
    assert len(falling) == starts
    np.testing.assert_array_equal(arrived, (falling > excess).sum(axis=1))
    assert 0.25 < (arrived > times * arrived[0]).mean() < 0.35
    assert (falling[:5, 50] > rho**5 * falling[:5, 40]).sum() == stalled
    np.testing.assert_allclose(amplitudes, falling[:5, int(step)] / rho**step)
    assert abs(amplitudes.min() / least - 1) < 0.1 and most < amplitudes.max() < 3 * most
    plans = [scaling.plan(0.001, replace(law, amplitude=a)) for a in amplitudes]
    n, K = np.array([[plan.n, plan.steps] for plan in plans]).T
    assert n.max() < 1.06 * n.min() and K.max() > 3 * K.min()


@page.after("say-sixty")
def test_a_run_that_has_left_its_saddle_falls_by_the_factor_or_faster(falling, shown, rho):
    np.testing.assert_allclose(falling[0, :31], shown.path().excess_limit, rtol=1e-9)
    for run in falling:
        late = np.flatnonzero((run < 1e-4) & (run > 1e-8))
        if len(late) > 10:
            assert (run[late[-1]] / run[late[0]]) ** (1 / np.ptp(late)) < rho + 0.02


@page.after(
    "solution-cheaper",
    says="samples are cheaper, so the plan uses more of them and fewer steps, and leaves a larger fraction of the "
    "error to the steps",
)
def test_a_cheaper_step_buys_more_samples_and_fewer_steps(law, target):
    plans = [scaling.plan(target, law, power=power) for power in (2, 1)]
    floors = [scaling.split(target, law, power)[2] for power in (2, 1)]
    assert plans[0].n < plans[1].n and plans[0].steps > plans[1].steps and floors[0] > floors[1]
