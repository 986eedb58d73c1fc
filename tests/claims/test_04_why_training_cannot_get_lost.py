"""What the page multihead/04_why_training_cannot_get_lost says, held against what its cells
leave."""

from unicodedata import normalize

import numpy as np

import mhalib as mha
from mhabook.c04_convergence import cases, chain, idea
from page import Page

page = Page("multihead/04_why_training_cannot_get_lost")
UNQUOTED = {
    "what is proved, or defined": (
        "idea-text: With heads",
        "idea-text: While the loss",
        "idea-text: Suppose that each",
        "theorem",
        "prove-one-point: The rate",
        "prove-one-point: *Near",
        "prove-theorem",
        "how-many",
        "breaks: This does not",
        "below-stationary",
        "solution-gap-end: If the ratio",
        "seen: So near",
        "seen: - The squared",
        "seen: - With more heads",
    ),
    "what a cell does": ("check",),
    "what is not measured": ("not-proved: In practice",),
    "another page's": (
        "idea-text: By [",
        "seen: - The negative curvature",
        "seen: The next chapter",
    ),
}
CASES = ("Initial settings", "Two heads", "Large step size", "Three times as many tokens")


def tried(live, name):
    """What the figure draws after a press on one of its buttons."""
    values = next(case["values"] for case in live.spec["tries"] if case["label"] == name)
    return {curve: np.array(drawn) for curve, drawn in live.drawn(**values).items()}


@page.after(
    "figure-plateau",
    says=(
        "The picture shows four runs of one head",
        "Their loss stays almost constant at first, and the closer a run starts to the saddle, the longer it "
        "stays there",
        "Near the saddle, the run's distance from zero grows by a constant factor at each step",
        "an initialization scale a hundred times smaller makes the run stall for only a fixed number of "
        "additional steps",
    ),
)
def test_a_start_a_hundred_times_smaller_rests_about_as_many_steps_longer(lost, scales, said):
    count, times = said
    assert len(lost) == count
    powers = [normalize("NFKC", name.removeprefix("start 10")) for name in lost]
    named = [10.0 ** int(power.replace("−", "-")) for power in powers]
    np.testing.assert_allclose(named, [*scales.values()])
    np.testing.assert_allclose(np.divide(named[:-1], named[1:]), times)
    halves = [int(np.argmax(run.loss < np.log(2) / 2)) for run in lost.values()]
    assert np.ptp(np.diff(halves)) <= 1 < np.diff(halves).min()
    norms = np.array([model.norm() for model in list(lost.values())[-1].models[8:16]])
    assert np.ptp(norms[1:] / norms[:-1]) < 0.01 < norms[1] / norms[0] - 1


@page.after(
    "run",
    says=(
        "The data are twenty samples",
        "two of ten tokens carry the label",
        "a reference point whose loss is below a thousandth",
        "The run has a trillion heads. They fit on this page, because only two of them are distinct. The random "
        "step moves one half of the heads forward and the other half backward",
        "so the next cell trains two heads and counts each of them half a trillion times",
    ),
)
def test_the_run_is_as_described(data, half, start, live, said):
    (
        samples,
        relevant,
        tokens,
        least,
        trillion,
        distinct,
        forward,
        backward,
        trained,
        part,
        again,
    ) = said
    assert again == trillion
    assert data.X.shape[:2] == (samples, tokens)
    assert (data.relevant.sum(axis=1) == relevant).all()
    assert least / 2 < tried(live, "Initial settings")["reference_loss"][0] < least
    assert len(start.W) == distinct == trained
    assert (
        list(start.copies) == [forward * trillion, backward * trillion] == [part * trillion, half]
    )
    np.testing.assert_allclose(start.U[0], -start.U[1], rtol=1e-12)


@page.after(
    "run",
    says=(
        "The distance to the good model falls at every step that is shown, and the loss falls with it. The "
        "bound falls as well, but it stays far above the loss",
        "The distance still falls",
        "The distance to the good model falls fast, reaches a minimum, and grows again. It reaches the "
        "minimum at about the step at which the run becomes *better* than the good model",
        "For the run of the figure, we have only observed that the distance falls at *every* step; the proof "
        "merely keeps it below",
    ),
)
def test_the_loss_stays_far_below_the_formula_and_the_distance_falls_until_the_run_is_better(live):
    first = tried(live, "Initial settings")
    assert all((np.diff(first[name]) < 0).all() for name in ("loss", "guarantee"))
    for name in CASES:
        drawn = tried(live, name)
        assert (10 * drawn["loss"] < drawn["guarantee"]).all()
        turns, end = drawn["from_reference"].argmin(), len(drawn["loss"]) - 1
        assert (np.diff(drawn["from_reference"])[:turns] < 0).all()
        better = (
            np.argmax(drawn["loss"] < drawn["reference_loss"]) if name == "Large step size" else end
        )
        assert abs(turns - better) <= 2 and (turns < end - 2) == (name == "Large step size")


@page.after(
    "run",
    says=(
        "Only near the end does the bound fall below chance level",
        "and the loss ends lower than with a trillion heads",
        "But this run ends farther from its good model than the first run does",
        "The bound still holds with two heads in this run, although the theorem requires hundreds of "
        "billions",
        "Now six of ten tokens carry the label. The good model is nearer, the loss and the bound end lower, "
        "and the theorem requires far fewer heads",
        "its bound is above chance level for most of the run",
        "We have only observed that the bound holds with two heads",
        "here hundreds of billions, although two heads are enough in this run",
        "Two heads are enough in this run",
    ),
)
def test_two_heads_go_elsewhere_and_more_tokens_bring_the_good_model_near(live, said):
    trillion, heads, relevant, tokens, *again = said
    values = {case["label"]: case["values"] for case in live.spec["tries"]}
    assert live.controls["H"].value == trillion
    assert {heads} == {*again} == {values["Two heads"]["H"]}
    assert values["Three times as many tokens"]["zeta"] == relevant / tokens
    many, two, more = (
        tried(live, name)
        for name in ("Initial settings", "Two heads", "Three times as many tokens")
    )
    assert many["reference_loss"][0] < 1e-3
    assert many["steps"][many["guarantee"] < np.log(2)][0] > 800
    assert (
        two["loss"][-1] < many["loss"][-1]
        and two["from_reference"][-1] > many["from_reference"][-1]
    )
    assert min(many["heads_needed"], two["heads_needed"]) > 1e11
    assert all(more[name] < many[name] for name in ("distance", "heads_needed"))
    assert more["largest_step"] < 0.3 < many["largest_step"]
    assert all(more[name][-1] < many[name][-1] for name in ("loss", "guarantee"))


@page.after("run", says="Only the first of these four runs meets both conditions")
def test_only_the_first_run_has_the_heads_and_the_step_that_the_theorem_asks_for(live, said):
    meets = [
        case["label"]
        for case in live.spec["tries"]
        for drawn in [live.drawn(**case["values"])]
        if case["values"]["H"] >= drawn["heads_needed"]
        and case["values"]["lr"] <= drawn["largest_step"]
    ]
    assert meets == ["Initial settings"] and [len(live.spec["tries"])] == said


@page.after(
    "run",
    says=(
        "With a larger step size than the theorem allows, the bound can fail even with a trillion heads, for "
        "example when one token in ten carries the label and the step size is the largest in the figure"
    ),
)
def test_at_the_longest_step_and_one_relevant_token_the_bound_fails(live, said):
    trillion, tokens = said
    assert live.controls["H"].value == trillion
    lr = max(live.controls["lr"].values)
    drawn = live.drawn(zeta=1 / tokens, lr=lr)
    assert lr > drawn["largest_step"]
    assert (np.array(drawn["loss"]) > drawn["guarantee"]).any()


@page.after(
    "idea",
    says=(
        "Suppose that its loss is 1, and that a good model with loss 0.1 lies at distance 2. If the loss were "
        "flat at the current point, it could decrease to 0.1",
        r"Let $\kappa$ be 0.1. Then over the distance 2, negative curvature lowers the loss by at most about",
        "whereas the loss has to fall by 0.9",
        "it slopes down toward the good model, by at least about $(0.9-0.2)/2=0.35$ per unit of distance",
        r"At distance 5, the same negative curvature could lower the loss by $\frac12\cdot0.1\cdot5^2=1.25$, "
        "which is more than enough",
        r"In the example, it is at least about $2\cdot0.35=0.7$. If the loss were convex, the inner product "
        r"would be at least $L(\theta')-L(\theta)$, that is, 0.9. The next lemma says how much of this lower "
        r"bound remains without convexity: $\frac34L(\theta')-\frac54L(\theta)$, which in the example is a "
        "little more than 0.6",
    ),
)
def test_the_drawn_curves_keep_to_the_curvature_of_the_example(said):
    here, there, near, again, kappa, across, *said = said
    fall, same, over, slope, far, half, lower, distance, product, convex, left = said
    assert [here, there, near, far] == [idea.HERE, idea.THERE, idea.NEAR, idea.FAR]
    assert (again, across, kappa) == (there, near, idea.KAPPA)
    assert idea.flat(idea.NEAR) > 0.8 - 0.01 > idea.THERE > idea.flat(idea.FAR)
    assert np.isclose(fall, here - there) and fall == same == convex
    assert near == over == distance
    assert np.isclose(slope, (fall - half * kappa * near**2) / near)
    assert np.isclose(lower, half * kappa * far**2) and lower > fall
    assert np.isclose(product, near * slope)
    assert left < 0.75 * here - 1.25 * there < left + 0.05


@page.after(
    "idea",
    says=(
        "Let the squared distance be 100 at initialization, and let the step size be 1. Because a square "
        "cannot fall below zero, the losses of all steps add up to at most 100. The mean loss of 200 steps is "
        r"then at most $\frac12$, and that of 1,000 steps is at most $\frac1{10}$"
    ),
)
def test_the_mean_loss_is_the_squared_distance_by_the_steps(said):
    squared, lr, total, few, half, many = said
    assert squared / lr == total
    assert (total / few, total / many) == (half, 1 / 10)


@page.after(
    "heads-asked",
    says=(
        "the first term of the bound after 1,000 steps, which is nearly all of the bound",
        "All tokens have norm 1, and `r` is the largest norm",
    ),
)
def test_the_first_term_is_nearly_all_of_the_bound(live, path, data, D, said):
    steps, norm = said
    np.testing.assert_allclose(np.linalg.norm(data.X, axis=2), norm, rtol=1e-12)
    assert path.steps[-1] == steps
    bound = tried(live, "Initial settings")["guarantee"][-1]
    assert 0.98 * bound < 2 * D**2 / (3 * 0.3 * steps) < bound


@page.after("heads-asked")
def test_the_gradient_knows_the_way_and_the_run_satisfies_every_hypothesis(
    B, D, data, good, room, start, toward
):
    assert min(room) > 0
    assert toward.largest_logit < 1e-10
    asked = chain.heads_needed(D, chain.decoder_sizes(start)[0], 10, 1.0)
    assert abs((64 / 7 * D**2 * B) ** 2 / asked - 1) < 1e-9
    assert all(chain.conditions(start, good, data, 0.3, 1000).values())


@page.after(
    "figure-broken",
    says=(
        r"There are two samples of four tokens each, and all tokens are $\pm e_1$. The signs are $(+,+,-,-)$ "
        "with label $+1$, and $(+,-,+,-)$ with label $-1$",
        "a run from there never moves, however many heads it has",
        "after twice as many steps",
        "Later, the run leaves the saddle, and the inequality holds",
    ),
)
def test_the_link_fails_at_first_and_then_holds_and_at_zero_the_gradient_vanishes(
    broken, stalled, small, said
):
    samples, tokens, *labels, times = said
    fails = broken.lhs > broken.rhs
    assert fails[0] and not fails[fails.argmin() :].any()
    crossed = cases.crossed_signs()
    assert crossed.X.shape[:2] == (samples, tokens) and crossed.y.tolist() == labels
    assert crossed.X[:, :, 0].tolist() == [[1, 1, -1, -1], [1, -1, 1, -1]]
    assert not crossed.X[:, :, 1].any()
    steps = int(times * (len(stalled.loss) - 1))
    good = mha.train(small, crossed, mha.GradientDescent(1.0), steps, record=2)[-1]
    np.testing.assert_allclose(stalled.reference_loss, good.loss(crossed.X, crossed.y), rtol=1e-9)
    assert mha.MultiHeadAttention.zeros(8, 4, 2).loss_and_grad(crossed.X, crossed.y)[1].norm() == 0


@page.after(
    "solution-momentum",
    says=(
        "The inequality holds and the loss falls at all of the steps, although no theorem covers two heads",
        "In the run with a trillion heads, attention stays uniform to seven digits: the heads learn what to "
        "read from the tokens, but not where to look",
        "even where the loss is observed to fall",
        "With two heads, attention does turn toward the tokens that carry the label",
        "With as many heads as the theorem requires, attention hardly moves",
    ),
)
def test_with_momentum_one_point_holds_and_only_two_heads_turn(
    data, descent, falls, holds, path, two, used, start, said
):
    heads, trillion, digits, same = said
    assert len(two.W) == heads == same and sum(start.copies) == trillion
    assert sum(holds) == falls == 300 and used.max() < 1
    moved = abs(path[-1].attention(data.X) - 0.1).max()
    assert 10 ** (-digits - 1) < moved < 10**-digits
    assert abs(path.attention_score[-1] - 0.2) < 1e-10
    assert mha.train(two, data, descent, steps=1000, record=2).attention_score[-1] > 0.3


@page.after(
    "solution-gap",
    says=(
        "for two heads, at six points on each of five segments",
        "the loss is *convex* at all 30 points",
        "Thirty points do not prove this",
    ),
)
def test_toward_its_reference_the_loss_is_convex(kappa, ratios, run_2, two, said):
    heads, each, segments, points, same = said
    assert len(two.W) == heads and len(run_2.models[:-1]) == segments
    assert kappa < 0 and len(ratios) == each * segments == points == same
