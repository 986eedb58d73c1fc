"""What the page multihead/02_further says, held against what its cells leave."""

import numpy as np
import pytest

from mhabook.c02_curvature import bounds
from page import Page

page = Page("multihead/02_further")
UNQUOTED = {
    "holds by the statement or the proof beside it": (
        "derivatives",
        "gradient-bounds",
        "check-tight-text",
        "check-tight-figure",
        "third-answer",
        "quasi-convexity",
        "breaks-radius: grows like",
        "seen-further: Every numbered",
    ),
    "what a cell or a figure does": (
        "sliders: The left panel",
        "slider-seen: (The axis begins",
    ),
    "a question": (
        "sliders: What changes",
        "sliders: Raise until",
        "sliders: Will the loss",
        "sliders: Do the bounds",
    ),
}


@page.after(
    "small",
    says=(
        "Take three heads and three tokens in two dimensions, which gives $10$ parameters per head and $30$ in all",
        "For the logit, the lower right corner of each block is zero as well",
    ),
)
def test_mixed_entries_are_hardly_ever_zero_in_the_loss(
    model, data, logit_hessian, loss_hessian, said
):
    heads, T, d, of_head, in_all = (int(number) for number in said)
    assert len(model.W) == heads and data.X.shape[1:] == (T, d)
    assert logit_hessian.shape == (in_all, in_all) and heads * of_head == in_all
    head = np.repeat(np.arange(heads), of_head)
    mixed = head[:, None] != head
    assert abs(logit_hessian[mixed]).max() < 1e-8
    decoder = np.arange(in_all) % of_head >= d * d
    assert abs(logit_hessian[np.ix_(decoder, decoder)]).max() < 1e-8
    assert (abs(loss_hessian[mixed]) > 1e-6).mean() > 0.99


@page.after(
    "figure-shares",
    says="At large $r$, the other kind reaches 0.77 ($4/(3\\sqrt3)$) times $B/\\sqrt H$",
)
def test_short_decoders_use_all_of_either_bound_and_long_ones_all_of_the_sharper(
    decoders, shares, said
):
    share, four, three = said
    assert (
        bounds.DEVIATION == pytest.approx(four / (three * 3**0.5)) == pytest.approx(share, abs=5e-3)
    )
    between = np.max(list(shares.values()), axis=0)
    assert between.max() < 1 + 1e-12
    assert (
        min(shares[f"uniform weights, against {bound}"][0] for bound in ("B", "the sharper one"))
        > 0.99
    )
    assert shares["more on its own kind, against the sharper one"][-1] > 0.99
    assert np.isclose(shares["more on its own kind, against B"][-1], bounds.DEVIATION, rtol=1e-2)
    assert between[(decoders > 0.1) & (decoders < 10)].min() < 0.99


@page.after(
    "run-curvature",
    says=(
        "the samples have eight tokens, two of them relevant, in six dimensions, and four heads",
        "There is negative curvature at every recorded step, and it falls with the loss: the ratio of the "
        "two changes by less "
        "than a factor of 3. From step 1 on, the largest eigenvalue also falls with the loss",
        "We have only observed that negative curvature and loss fall nearly *in proportion*",
    ),
)
def test_negative_curvature_and_the_largest_eigenvalue_fall_with_the_loss(
    data, start, bottom, path, top, said
):
    tokens, relevant, d, heads, two, factor, first = said
    assert data.X.shape[1:] == (tokens, d) and len(start.W) == heads
    assert (data.relevant.sum(axis=1) == relevant).all()
    assert (bottom.lhs > 0).all() and (bottom.lhs < top.lhs).all()
    assert np.ptp(np.log(bottom.lhs / path.loss)) < np.log(factor)
    assert (np.diff(top.lhs[path.steps >= first]) < 0).all()


@page.after(
    "live-curvature",
    says=(
        "With two heads at $\\eta=10$, the largest eigenvalue begins far above the line, and yet the loss "
        "falls: the loss is "
        "not quadratic, and within three steps, the largest eigenvalue drops below the line by itself. With "
        "eight heads at "
        "$\\eta=30$, the first step nearly doubles the loss, but every later step lowers it"
    ),
)
def test_the_line_is_a_warning_about_the_next_few_steps(live, said):
    few, lr, steps, many, large = said
    two, eight = live.path(H=int(few), lr=lr), live.path(H=int(many), lr=large).loss
    assert two.steps[2] == steps and two.sharpness[2] < two.edge[0] < two.sharpness[0] / 2
    assert (np.diff(two.loss) < 0).all()
    assert 1.9 < eight[1] / eight[0] < 2 and (np.diff(eight[1:]) < 0).all()


@page.after(
    "live-curvature",
    says=(
        "When $H$ goes from $1$ to $8$, which of the six curves become lower",
        "Make the initialization scale ten times as large",
        "At ten times the scale, the decoders are larger, so both bounds grow, more than thirtyfold for "
        "every number of "
        "heads. On these data, the measured curvature changes by a factor of less than three in either direction",
    ),
)
def test_ten_times_the_scale_multiplies_the_bounds_and_hardly_what_they_bound(live, said):
    fewest, most, _, ten, same, factor = said
    heads, scale = live.controls["H"].values, live.controls["scale"].value
    assert [heads[0], heads[-1], ten] == [fewest, most, same]
    for H in heads:
        base, large = (live.path(H=H, scale=size).curves for size in (scale, ten * scale))
        for name in ("sharpness", "negative_curvature"):
            assert 1 / factor < large[name][0] / base[name][0] < factor
        for name in ("smoothness_bound", "weak_convexity_bound"):
            assert large[name][0] > 30 * base[name][0]


@page.after(
    "logit-table",
    says=(
        "including those for sixteen heads, which the slider does not offer",
        "At initialization, more heads mean less negative curvature.** The negative curvature decreases with "
        "each doubling of "
        "$H$, and so does its bound",
        "gives the norm of the *logit's* Hessian at step 0\nfor $H=1,2,4,8,16$: from one head to sixteen, it "
        "falls by about a "
        "factor of 4",
    ),
)
def test_at_the_start_only_the_negative_curvature_and_its_bound_fall_with_the_heads(
    live, logit, runs, said
):
    most, step, *heads, same, factor = said
    assert heads == [*runs] and step == runs[most][0].steps[0]
    assert same == most == max(runs) > max(live.controls["H"].values)
    largest, rho, negative, bound = (
        np.array([getattr(run[part], side)[0] for run in runs.values()])
        for part in (1, 2)
        for side in ("lhs", "rhs")
    )
    assert (np.diff(negative) < 0).all() and (np.diff(bound) < 0).all()
    assert max(np.ptp(np.log(largest)), np.ptp(np.log(rho))) < 0.25
    assert 0.8 * factor < logit[1].lhs / logit[most].lhs < 1.2 * factor


@page.after(
    "logit-table",
    says=(
        "At step 400, the order is reversed.** Runs with more heads end with a larger loss, and with it a larger top "
        "eigenvalue. Their decoders are smaller, however, and so is $\\rho$. Relative to the loss, the "
        "negative curvature is "
        "still smaller with sixteen heads than with one"
    ),
)
def test_at_the_end_more_heads_have_more_loss_a_larger_eigenvalue_and_a_smaller_bound(runs, said):
    step, most = said
    assert most == max(runs) and all(path.steps[-1] == step for path, *_ in runs.values())
    ends = np.array([(path.loss[-1], top.lhs[-1], -top.rhs[-1]) for path, top, _ in runs.values()])
    assert (np.diff(ends, axis=0) > 0).all()
    ratio = {H: bottom.lhs[-1] / path.loss[-1] for H, (path, _, bottom) in runs.items()}
    assert ratio[most] < ratio[1]


@page.after(
    "logit-table",
    says=(
        "Throughout the runs, both bounds are more than a hundred times the quantities that they bound. The "
        "ratio of $\\rho$ to "
        "the largest eigenvalue grows to thousands",
        "are more than a hundred times too large",
    ),
)
def test_both_bounds_are_more_than_a_hundred_times_what_they_bound(runs, said):
    for _, *both in runs.values():
        assert all((check.rhs > max(said) * check.lhs).all() for check in both)
    assert min((top.rhs / top.lhs)[-1] for _, top, _ in runs.values()) > 1000


@page.after("figure-unnormalized")
def test_softmax_keeps_the_gradient_bounded_and_unnormalized_weights_do_not(lines):
    assert max(lines["softmax"]) < 0.25
    assert lines["no normalization"][-1] > 1000


@page.after(
    "twin",
    says="If the norms of tokens are twice the $R$ that you used, the Hessian bound can be too small by a "
    "factor of 8 to 32",
)
def test_tokens_of_twice_the_norm_need_a_bound_8_to_32_times_as_large(said):
    twice, least, most = said
    small, large = (
        bounds.curvature(8, twice, u) / bounds.curvature(8, 1.0, u) for u in (1e-6, 1e6)
    )
    assert [small, large] == pytest.approx([least, most], rel=1e-4)


@page.after("solution-worst", says="searches from twenty random starting points")
def test_no_search_finds_more_than_the_best_constant(starts, best, said):
    assert [len(starts)] == said and 0.999 * bounds.DEVIATION < best < bounds.DEVIATION + 1e-9
