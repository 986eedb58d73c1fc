"""What the page preconditioning/11_further says, held against what its cells leave."""

import inspect
import re

import numpy as np

import mhalib as mha
from mhabook.c09_tilting.statements import exponent, mean_excess
from mhabook.c10_structure import contraction
from mhabook.c11_data_and_compute import finite_descent, scaling
from mhabook.c11_data_and_compute import statements as theory
from mhabook.c11_data_and_compute.runs import SMALL, values_of
from page import Page
from scripts import load

page = Page("preconditioning/11_further")
data_and_compute = load("book/results/data_and_compute.py")
UNQUOTED = {
    "what the page contains": ("title", "gap-turn: Increase", "turn: Watch", "turn: Then try"),
    "what is proved, derived, or defined": (
        "starts-seen: A run leaves",
        "prove-fitted: This step",
        "prove-fitted: For small",
        "prove-fitted: For larger , the constant",
        "prove-fitted: **[ours]** The larger",
        "prove-fitted: For larger , a few",
        "finite-text",
        "finite-two-errors",
        "finite-gradient: With high",
        "finite-gradient: The first two",
        "finite-descent",
        "finite-measured: *Measured*",
        "solution-radius-end: For the predictions",
        "below-exponent",
    ),
    "what we do not know, or advise": (
        "finite-gradient: We do not know",
        "fit-seen: So take",
        "plan-seen: The plan is only",
    ),
    "how a script was run": ("one-seen: The next figure shows",),
    "another page's": ("unrenormalized-seen: So when",),
}


@page.after(
    "figure-one",
    says=(
        "after the first step, the excess is larger than with infinitely many samples",
        "From step 3 to step 15, the two curves stay close together, although one run uses 500 noisy samples",
        "Both runs stall near a saddle around step 15",
    ),
)
def test_the_samples_do_not_slow_the_run_down_and_end_it(everything, path, data, said):
    begin, end, curves, n, around = said
    assert len(data.x) == n and curves == len((path, everything)) and end == around
    behind = path.excess / everything.excess
    assert behind[1] > 3 and behind[int(begin) : int(end) + 1].max() < 1.5
    assert behind[int(begin) - 1] > 1.5
    slow = -np.diff(np.log(everything.excess))
    assert abs(slow[:25].argmin() - around) < 4, slow[:25].argmin()
    behind = path.excess / everything.excess
    assert path.excess[50] > 0.9 * path.excess[30] > 1e5 * everything.excess[50]


@page.after(
    "floors",
    says=(
        "Each line is the mean over eight random seeds",
        "After 10 steps, more samples hardly help. After 50 steps, doubling the number of samples roughly halves",
        "at 500 samples, is explained below: one of the eight runs stays near a saddle for all 50 steps",
        "each step multiplies the mean excess by about {glue:text}`mean_factor`, not by 0.5625",
    ),
)
def test_first_the_samples_hardly_help_and_at_the_end_they_halve(NS, means, stored_runs, said):
    seeds, early, late, n, again, last, factor = said
    assert len(stored_runs("SA2", 0.4)) == seeds == again and late == last
    assert factor == (1 - 2 * 0.5 / 4) ** 2 < 0.9 * (means[4, 40] / means[4, 20]) ** (1 / 20)
    assert means[0, int(early)] < 1.5 * means[1:, int(early)].min()
    ends = NS * means[:, int(late)]
    assert NS[ends.argmax()] == n
    assert ends.max() < 1.35 * ends.min() and ends.argmax() == 1
    assert (np.sort(500 * stored_runs("SA2", 0.4)[:, 1, 50])[-2:] > 3).tolist() == [False, True]


@page.after(
    "finite-table",
    says=(
        "The next cell compares the gap of gradients with two bounds for our family",
        "With four times as many samples, the measured gap is about half as large, or less",
        "The bound from the data is about a thousand times as large as the measured gap",
        "is larger still by many orders of magnitude, since Markov's inequality is used five times",
        "At 250 samples and $r=0.36$, the theorem says nothing",
        "For this family, the $n_0$ that our constants give is above $10^{16}$",
    ),
)
def test_the_gap_of_gradients_falls_and_its_bounds_are_far_above_it(found, said):
    bounds, times, half, above, _, few, wide, ten = said
    assert {n // 250 for _, n in found} == {1, times, times**2}
    for r in (0.2, wide):
        measured, from_data, before = np.array([found[r, n] for n in (250, 1000, 4000)]).T
        assert (measured[1:] < (half + 0.1) * measured[:-1]).all()
        assert (
            abs(np.log2(from_data / measured / above)).max() < 1
            and len((from_data, before)) == bounds
        )
        assert (before > 1000 * from_data).all()
    assert [key for key, gaps in found.items() if np.isinf(gaps[2])] == [(wide, few)]
    family = values_of(0.1)
    assert found[0.36, 250][0] > found[0.2, 250][0]
    assert family[0] ** 0.5 + family[-1] ** 0.5 / 4 < 0.36
    assert ten**16 < finite_descent.enough_samples(family, 5, 0.1) < ten**17


@page.after(
    "live-gap",
    says=(
        "with 40 to 640 samples. Each number is a mean over four draws",
        "At $r=0.1$, the gap falls about like $1/n$, faster than the theorem says",
        "it is nearly the mean of the tokens, of order",
        "At $r=0.6$, the gap falls more slowly than $n^{-1/2}$",
        "At $r=1$, beyond the limit, 16 times as many samples reduce the gap by less than a third",
        "the power does not jump at $1/\\sqrt2$: it changes gradually",
    ),
)
def test_the_power_of_the_gap_changes_gradually(live, data, said):
    few, many, draws, small, _, slow, root, beyond, times, share, _ = said
    fixed, radii = live.spec["fixed"], live.controls["r"].values
    assert [few, many] == [fixed["sizes"][k] for k in (0, -1)] and times == many / few
    assert len(live.spec["data"]["streams"]) == draws and slow < 0.5**0.5 < beyond
    drawn = {r: live.drawn(r=r) for r in (small, slow, beyond)}
    assert abs(drawn[small]["power"][0] + 1) < 0.1
    assert drawn[slow]["power"][0] > -1 / root + 0.05
    assert drawn[beyond]["last"][0] > (1 - share) * drawn[beyond]["first"][0]
    steepness = np.diff(live.drawn()["powers"]) / np.diff(radii)
    assert steepness[np.searchsorted(radii, 0.5**0.5) - 1] < 0.6 * steepness.max()
    z = data.x @ data.whitening().inverse
    weights = np.exp(small * z @ z.T)
    error = weights @ z / weights.sum(axis=1, keepdims=True) - small * z
    assert np.linalg.norm(error - z.mean(axis=0)) < 0.1 * np.linalg.norm(error)


@page.after(
    "figure-starts",
    says=(
        "The next figure uses 4,000 initializations with infinitely many samples",
        "Between steps 20 and 40, a step multiplies the mean by a much larger factor, near $1/(1+\\eta/\\kappa)$",
        "the flatter of the two dotted lines",
        "For $\\kappa=8$, it falls somewhat faster, because steps 20 to 40",
        "The mean falls more slowly than every run, which explains why a good initialization helps",
        "the mean over random initializations falls more slowly than the median run: near the rate of "
        "{prf:ref}`prop-mean-over-starts` for $\\kappa=2$, and faster than this rate for $\\kappa=8$",
    ),
)
def test_the_mean_over_starts_falls_more_slowly_than_the_median(starts, said):
    count, begin, end, _, _, _, large, again, last, small, also = said
    begin, end = int(begin), int(end)
    assert count == 500 * len(starts.where(kappa=4.0)["mean"])
    assert (begin, end, large) == (again, last, also)
    assert [small, large] == [starts["kappa"].min(), starts["kappa"].max()]
    for kappa, nearest in {2.0: 0.01, 4.0: 0.02, 8.0: 0.03}.items():
        rows = starts.where(kappa=kappa)
        mean, median = rows["mean"].mean(axis=0), np.median(rows["median"], axis=0)
        late = (1 - 1 / kappa) ** 2
        assert abs((median[60] / median[50]) ** 0.1 - late) < 0.015
        assert (
            late
            < theory.slow_mean(kappa) - nearest
            < (mean[end] / mean[begin]) ** (1 / (end - begin))
            < theory.slow_mean(kappa)
        )


@page.after(
    "predicted",
    says=(
        "the mean excess of 400 runs of SA1 on 100 samples agrees, within its error, with $\\phi/n$ at "
        "$\\|V\\|=0.5$",
        "At $\\|V\\|=0.7$, it is only about two thirds of $\\phi/n$",
    ),
)
def test_the_first_order_is_late_for_larger_keys(said):
    """d = p = 1, SA1 from the spectral start, 400 runs on 100 samples: n times the excess, as
    shares of φ.

    The sign of the start, which LAPACK chooses, moves both means by a standard error.
    """
    count, n, small, large, share = said
    means, errors = {}, {}
    for v in (small, large):
        ends = []
        for seed in range(int(count)):
            data = mha.data.linear_regression(
                n=int(n), d=1, p=1, s_max=v**2, kappa=1.0, kappa_M=1.0, seed=seed
            )
            start = mha.AttentionRegression.spectral(data)
            path = mha.train(start, data, mha.StructureAware(radius=np.inf), steps=6, record=[6])
            ends.append(n * path.excess[-1] / theory.floor_constant([v**2], 1, 1, 0.1))
        means[v], errors[v] = np.mean(ends), np.std(ends) / count**0.5
    assert abs(means[small] - 1) < 2 * errors[small]
    assert abs(means[large] - share) < 0.13
    assert means[large] < 1 - 3 * errors[large]


@page.after(
    "floor-table",
    says=(
        "the excess of least squares on our instance is a little more than $0.01\\cdot25/2=0.125$, divided by $n$",
        "So most of the floor does not come from the noise of the targets",
        "All slopes in $n$ agree with $-1$ within two standard errors",
        "At $s_{\\max}=0.4$, the floor is about eight times that of least squares",
    ),
)
def test_the_measured_floors_are_the_derived_ones(NS, S_MAX, ends, predicted, said):
    noise, two, least, exponent, errors, s_max, times = said
    assert np.isclose(noise * 25 / two, least)
    for s in S_MAX:
        each, slope = (NS * ends[s]).mean(axis=1), scaling.slope(NS, ends[s])
        assert abs(each.mean() - predicted[s]) < each.std(ddof=1) / 8**0.5
        assert abs(slope.value - exponent) < errors * slope.error
    assert times < predicted[s_max] / least < times + 0.5


@page.after(
    "unrenormalized",
    says=(
        "somewhat larger than the theorem allows",
        "Its floors at $s_{\\max}=0.2$ and $0.4$ should be near those of SA2",
        "At $s_{\\max}=0.2$ and $0.4$, there is a floor constant near the derived one, and the slope is $-1$ within "
        "its error",
        "At $s_{\\max}=2$, $n$ times the excess does not converge: it roughly doubles between 250 and 4,000 samples",
        "Descent makes the excess *worse* than the spectral start's, which is close to its formula",
        "The predictions are affected even more",
        "over new queries falls with a slope near the exponent",
        "With renormalization, its slope at the same $s_{\\max}$ is $-1$ within the uncertainty",
        "Without it, the $1/n$ law fails where $s_{\\max}$ is above one, and descent from the spectral start ends with "
        "a larger excess than it started with",
    ),
)
def test_without_renormalization_a_large_target_has_no_floor(
    NS, S_MAX, stored_runs, values_of, said
):
    *small, low, high, slope, large, few, many, same, _ = said
    assert small == [low, high] == [*S_MAX[:2]] and [few, many] == [NS[0], NS[-1]]
    assert contraction.LARGEST < 0.2
    slopes = {s: scaling.slope(NS, stored_runs("SA1", s)[:, :, 40]) for s in S_MAX}
    for s in small:
        floor = (NS * stored_runs("SA1", s)[:, :, 40]).mean()
        assert abs(floor / theory.floor_constant(values_of(s), 5, 5, 0.1) - 1) < 0.2
        assert abs(slopes[s].value - slope) < slopes[s].error
    assert slopes[large].value - slope > 2 * slopes[2.0].error
    began, ended = ((NS * stored_runs("SA1", large)[:, :, k]).mean(axis=0) for k in (0, 40))
    assert abs(began / theory.spectral_constant(values_of(large), 5, 5, 0.1) - 1).max() < 0.35
    assert ended.min() > 3 * began.max() and 1.8 < ended[-1] / ended[0] < 2.5
    off = scaling.slope(NS, stored_runs("SA1", large, "attention_excess"))
    assert abs(off.value - exponent(2**0.5)) < 2 * off.error
    assert off.value > slopes[large].value
    back = scaling.slope(NS, stored_runs("SA2", large)[:, :, 50])
    assert abs(back.value - same) < 2 * back.error, back


@page.after(
    "fit-table",
    says=(
        "at every size and every step from 10 on, by least squares in the logarithm",
        "and the fit is repeated 200 times",
        "The law agrees with the means to within 13 percent",
        "All three intervals for $\\rho$ contain $1/(1+\\eta/\\kappa)$",
        "The late factor $0.5625$ lies far outside, because the floor is reached before most runs are in their "
        "last phase",
        "Eight random seeds are few for a bootstrap",
        "This law was fitted to runs with 250 to 4,000 samples and 10 to 50 steps",
    ),
)
def test_the_law_is_near_the_means_and_its_intervals_hold_what_is_derived(
    fits, predicted, steps, stored_runs, NS, said
):
    begin, resamples, percent, three, _, _, late, seeds, *sizes, first, last = said
    assert [begin, first, last] == [steps[0], steps[0], steps[-1]]
    assert sizes == [NS[0], NS[-1]] and len(stored_runs("SA2", 0.4)) == seeds
    assert inspect.signature(scaling.fit_law).parameters["resamples"].default == resamples
    assert len(fits) == three
    assert percent - 1 < 100 * max(found.misfit for found in fits.values()) < percent
    for s, found in fits.items():
        low, high = found.interval("factor")
        assert late + 0.18 < low < theory.slow_mean(4) < high
        low, high = found.interval("floor")
        assert low < predicted[s] < high


@page.after(
    "live-data",
    says=(
        "with four numbers of tokens, from 40 to 320",
        "to 1: the dotted curve, for infinitely many tokens, falls steeply within ten steps. The floors rise with",
        "Set $s_{\\max}=2$, and then the radius $r$ to $\\infty$: without renormalization, the excess with 320 tokens "
        "ends more than five times as high as with it",
        "each curve begins within a factor of about two of its final value",
    ),
)
def test_the_three_changes_of_the_live_figure(live, said):
    count, least, most, even_kappa, ten, s_max, tokens, times, factor = said
    sizes = sorted(int(key[7:]) for key in live.drawn() if re.fullmatch(r"excess_\d+", key))
    assert len(sizes) == count and [sizes[0], sizes[-1], tokens] == [least, most, most]
    base, even, near = live.drawn(), live.drawn(kappa_M=even_kappa), live.drawn(start="spectral")
    assert even["excess_limit"][int(ten)] < base["excess_limit"][int(ten)] / 200
    assert even["excess_320"][-1] > 1.5 * base["excess_320"][-1]
    large, free = live.drawn(s_max=s_max), live.drawn(s_max=s_max, radius=1e9)
    assert free["excess_320"][-1] > times * large["excess_320"][-1]
    assert all(
        1 / factor < near[f"excess_{n}"][-1] / near[f"excess_{n}"][0] < factor + 0.1 for n in sizes
    )


@page.after(
    "proportion",
    says=(
        "With 1,000 samples, the planner rejects an excess of 0.001, because the floor alone is above this target",
        "For a tenth of this target, the cheapest plan costs more than a hundred times as much: the samples account "
        "for a factor of almost a hundred",
    ),
)
def test_the_whole_plan_has_nearly_the_proportion_of_the_proposition(
    floor, rest, cheapest, law, said
):
    n, target, share, cost, almost = said
    assert law.floor / n > target and floor > 0.8 * target
    finer = scaling.plan(share * target, law)
    assert finer.cost > cost * cheapest.cost
    assert 0.8 * almost < (finer.n / cheapest.n) ** 2 < almost
    assert abs(floor / rest / (2 * cheapest.steps * np.log(1 / law.factor)) - 1) < 0.1


@page.after(
    "limits-table",
    says=(
        "eight random seeds at each of eight sizes, of which six are printed",
        "On average over 250, 500, and 1,000 samples, all rows except the last are within 20 percent of the derived "
        "$\\phi$",
        "a mean over only eight seeds, can be off by somewhat more",
        "and noise as large as $\\sigma=1$, for which the error of least squares is nearly all of the floor",
        "The law fails in three cases",
        "At $n=12$, the constant is several times as large as the derived one, and with $d=10$, most of these runs "
        "fail altogether",
        "The first-order approximation in $1/n$ needs $n$ well above $d$, and even more samples when $V$ is larger",
        "With $d=10$ and 64 samples, the constant is still more than twice the derived one",
        "From a spectral start, the excess has hardly any room to fall",
    ),
)
def test_the_floor_holds_beyond_the_family_and_not_with_few_samples(derived, floors, said):
    seeds, sizes, _, *large_n, percent, again, sigma, _, few, d, _, wide, n, times = said
    assert floors["as before"].shape == (seeds, sizes) and seeds == again
    assert [*SMALL[5:]] == large_n and SMALL[0] == few and SMALL[3] == n and d == wide == 10
    assert data_and_compute.LIMITS["sigma 1"] == {"sigma": sigma}
    assert 0.9 * derived["σ = 1"] < 25 * sigma**2 / 2
    for name in derived:
        large = floors[name][:, 5:].mean(axis=1)
        if "∞" not in name:
            assert abs(large.mean() - derived[name]) < 2.6 * large.std(ddof=1) / 8**0.5
            assert abs(large.mean() / derived[name] - 1) < percent / 100
    many = floors["d = p = 10"]
    assert floors["as before"].mean(axis=0)[0] > 5 * derived["as before"]
    assert np.median(many[:, 0]) > 1000 and many.mean(axis=0)[3] > times * derived["d = p = 10"]


@page.after(
    "solution-radius",
    says=(
        "The best $r$ lies between 0.4 and 0.5",
        "At $r=\\frac12$, the stored runs lie below the formula and approach it as the number of samples grows",
    ),
)
def test_the_error_of_the_predictions_rises_toward_the_formula(s, NS, stored_runs, said):
    def lost(r):
        v = s**0.5 * r / s[0] ** 0.5
        return mean_excess(np.diag(s / v), np.diag(v)) + (0.25 - theory.fitted_noise(s, v)) / 2

    low, high, half = said
    grid = np.linspace(0.2, 0.65, 46)
    best = 10 * grid[np.argmin([lost(r) for r in grid])]
    assert (low, high) == (np.floor(best) / 10, np.ceil(best) / 10)
    seen = (NS * stored_runs("SA2", 2.0, "attention_excess")).mean(axis=0)
    assert (np.diff(seen) > 0).all() and 0.85 < seen[-1] / lost(half) < 1


@page.after(
    "solution-typical",
    says="With the median, $\\rho$ is smaller and $\\phi$ hardly changes",
)
def test_with_the_median_the_factor_is_smaller_and_the_floor_hardly_changes(typical, law):
    assert typical.law.factor < law.factor - 0.05
    assert abs(typical.law.floor / law.floor - 1) < 0.1


@page.after(
    "solution-exponent",
    says="The measured exponent is within one standard error of both predictions. Deciding between them would require "
    "$n$ to grow by factors of ten and SA1 to end closer to $\\|V\\|=\\sqrt2$ than it does here, where the mean of "
    "$\\|V\\|$ over the random seeds ends between 1.46 and 1.58",
)
def test_the_exponent_agrees_with_both_guesses(stored_runs, measured, said):
    _, least, most = said
    norms = stored_runs("SA1", 2.0, "norm_V").mean(axis=0)
    assert [norms.min().round(2), norms.max().round(2)] == [least, most]
    for predicted in (-2 / 3, 2 * exponent(2**0.5)):
        assert abs(measured.value - predicted) < measured.error
