"""What the page start/sheets says, held against what its cells leave, and against what makes its
sheets."""

import numpy as np

import mhalib as mha
from page import Page
from scripts import load

page = Page("start/sheets")
course = load("book/_ext/course.py")
marking = load("book/_ext/marking.py")
problems = load("book/_ext/problems.py")
FOUND = course.course()
WEEKS = FOUND["weeks"]
UNQUOTED = {
    "what is proved": (
        "solution-price-start: (a) is proportional",
        "solution-error-start: (a) The accuracy",
        "solution-effective-start: (d) The reason",
        "solution-halfway-start: Under softmax",
        "solution-halfway-start: (e) Under softmax",
        "solution-halfway-start: Under the Gaussian kernel",
        "solution-halfway-start: From 5",
        "solution-halfway-start: From 6",
        "solution-copies-start: The signs",
    ),
    "what another page shows": (
        "solution-quadratic-start: This threshold",
        "solution-effective-start: (c) In the live figure",
        "solution-laboratory-start: Here is one example",
    ),
    "what a class has to find out": ("title: Your class",),
}


@page.after(
    "imports",
    says=(
        "Most problems come from other pages of the book",
        "Each sheet adds one or two new problems",
        "S3.6 is the sixth problem of sheet 3.",
    ),
)
def test_sheets_take_most_problems_from_the_book_and_count_on(said):
    most, week = said
    added = [len(each["own"]) for each in WEEKS]
    assert {*added} == {1, most}
    assert sum(added) < sum(len(each["sheet"]) for each in WEEKS)
    (first, *_) = WEEKS[int(week) - 1]["own"]
    assert course.own_numbers(FOUND)[first] == ("S3", 6)


@page.after(
    "imports",
    says=("Most problems need only pencil and paper.", "a point is worth about five minutes"),
)
def test_most_problems_are_by_hand_and_points_are_minutes(said):
    counts = [marking.parts(label) for week in WEEKS for label in course.problems(week)]
    by_hand = [parts for parts in counts if not any(each.needs for each in parts)]
    assert len(by_hand) > len(counts) / 2
    (minutes,) = said
    points = marking.points(counts[0])
    assert marking.effort(counts[0]).startswith(f"about {minutes * points:.0f} minutes")


@page.after("imports", says="adds two or three problems whose numbers are drawn from a seed")
def test_two_or_three_problems_of_a_sheet_are_drawn(said):
    assert {len(kinds) for kinds in problems.KINDS.values()} == {*said}


@page.after(
    "solution-weights",
    says=(
        "The last token has the largest weight",
        "which first falls to $\\frac1{10}$ at $T=19$",
    ),
)
def test_of_nineteen_tokens_the_last_has_a_tenth_of_the_weight(j, weights, said):
    (T,) = said
    assert len(j) == T == 1 + weights.argmax()
    np.testing.assert_allclose(weights[-1], 0.1)
    assert mha.softmax(np.log(j[:-1]))[-1] > 0.1


@page.after("solution-copies", says="has the standard deviation $|\\varphi|$ for every number")
def test_heads_with_random_signs_have_logits_of_the_size_of_one(data, eight, one, logits):
    np.testing.assert_allclose(eight(data.X), one(data.X), rtol=1e-9)
    mean, spread = (found(axis=0) / abs(one(data.X)) for found in (logits.mean, logits.std))
    assert abs(mean).max() < 5 / len(logits) ** 0.5 and abs(spread - 1).max() < 0.05


@page.after("solution-quadratic", says="The loss decreases as long as")
def test_a_quadratic_falls_below_two_over_its_curvature(x, eta, curvature):
    assert ((abs(x) < 1) == (eta < 2 / curvature)).all()
    np.testing.assert_allclose(x, (1 - eta * curvature) ** 5)


@page.after(
    "solution-price",
    says=(
        "and $H$ grows by the factor $r^6$",
        "its decoder hardly grows",
        "and $H$ grows by the factor $r^4$",
    ),
)
def test_twice_the_distance_takes_sixty_four_or_sixteen_times_the_heads(factors):
    np.testing.assert_allclose(factors, [2**6, 2**4], rtol=0.01)


@page.after("solution-error", says="The difference of 0.02 is less than two standard errors")
def test_the_standard_error_of_an_accuracy(formula, right, said):
    difference, times = said
    assert difference < times * formula
    assert abs(right.mean(axis=1).std() / formula - 1) < 0.02


@page.after(
    "solution-effective",
    says=("of 1,000 tokens at $\\tau=2$", "which is usually several times as large"),
)
def test_most_draws_have_several_times_as_many_tokens_as_the_formula_says(formula, median, said):
    n, tau = said
    assert formula == n * np.exp(-(tau**2))
    assert 2 * formula < median < 4 * formula


@page.after(
    "solution-effective",
    says=(
        "these are scores of four standard deviations",
        "of 100 samples of a thousand tokens contain no score this large",
        "Without such scores, the sum of squared weights is smaller, so the effective number is "
        "larger: its median over 2,000 samples is",
    ),
)
def test_samples_without_a_large_score_have_more_effective_tokens(draws, counted, said):
    large, _, tokens, samples = said
    assert draws.shape == (samples, tokens)
    without = draws.max(axis=1) < large
    assert np.median(counted[without]) > np.median(counted[~without])


@page.after(
    "solution-halfway",
    says=(
        "the output is $\\frac12$ at $q=0$, and it rises toward 1",
        "it is $\\frac12$ at $q=k\\pm\\sqrt{2\\log2}$, is 1 only at the key $k$, and falls to zero",
    ),
)
def test_where_the_outputs_are_one_half(q, soft, gauss, said):
    half, origin, one, again, peak = said
    assert q[0] == origin
    np.testing.assert_allclose([soft[0], gauss[2]], [half, again])
    assert (np.diff(soft) > 0).all() and (soft < one).all()
    np.testing.assert_allclose(gauss[1], peak)
    assert gauss[[0, 2]].max() < peak


@page.after(
    "solution-halfway",
    says=(
        "| start | 3 | 5 | 6 |",
        "| softmax, $1-o\\approx e^{-2q}$ | $2\\cdot10^{-3}$ | $5\\cdot10^{-5}$ | $6\\cdot10^{-6}$ |",
        "| Gaussian, $1-o=1-e^{-(q-1)^2/2}$ | $0.9$ | $1$ | $1$ |",
        "| Gaussian, length of the first step | $0.2$ | $1\\cdot10^{-3}$ | $2\\cdot10^{-5}$ |",
    ),
)
def test_distances_and_first_steps_to_one_digit(apart, first, said):
    soft, gauss, steps = said[4:7], said[-6:-3], said[-3:]
    powers = [[1e-3, 1e-5, 1e-6], [1, 1, 1], [1, 1e-3, 1e-5]]
    for found, digits, power in zip((*apart, first), (soft, gauss, steps), powers, strict=True):
        one_digit = [float(f"{x:.0e}") for x in found]
        np.testing.assert_allclose(one_digit, np.multiply(digits, power))


@page.after(
    "solution-halfway",
    says=(
        "After 1,000 steps, every softmax output is within $0.003$ of 1.",
        "The Gaussian queries from 3 and 5 have reached the target as well, whereas that from 6 "
        "has an output below",
    ),
)
def test_every_softmax_query_arrives_and_of_the_gaussian_ones_those_that_start_near(g, s, said):
    steps, near, one, *starts = said
    assert (one - s).max() < near
    q = np.array(starts)
    for _ in range(int(steps)):
        output = np.exp(-((q - 1) ** 2) / 2)
        q = q - (1 - output) * (q - 1) * output
    np.testing.assert_allclose(g, np.exp(-((q - 1) ** 2) / 2), rtol=1e-9)
    assert (one - g[:2]).max() < 0.001
    assert g[2:].max() < 1e-5


@page.after(
    "solution-laboratory",
    says=(
        "starts with sixteen heads at zero, the other with sixteen random heads.",
        "the decoders of all heads are still equal after 100 steps",
        "From the random initialization, they are not.",
    ),
)
def test_heads_that_start_equal_stay_equal_and_others_do_not(starts, ends, spreads, data, said):
    *counts, steps = said
    assert [len(start.U) for start in starts] == counts
    after = mha.train(starts[0], data, mha.GradientDescent(0.3), int(steps))[-1]
    np.testing.assert_array_equal(after.U, ends[0].U)
    assert not starts[0].U.any() and ends[0].U.any()
    assert spreads[0] == 0 and spreads[1] > 0.1
