"""What the page preconditioning/09_attention_is_a_tilted_average says, held against what its cells
leave."""

import numpy as np
import pytest

from mhabook.c09_tilting import idea, runs
from mhabook.exercises.guess import groups
from page import Page

page = Page("preconditioning/09_attention_is_a_tilted_average")
UNQUOTED = {
    "what is proved, or defined": (
        "prove",
        "prove-effective: It decreases",
        "prove-effective: Squaring",
        "prove-effective: The formula, a limit",
        "effective-seen: A query whose",
        "prove-population",
        "tilt-seen: Averaged over queries",
        "tilt-seen: Beyond this threshold",
        "tilt-seen: For larger",
        "tilt-seen: So two heads",
        "tilt-seen: For larger",
        "seen",
        "solution-largest-end: The limit of one half",
        "solution-open-end: Moreover",
    ),
    "what a cell or a figure does": (
        "predict",
        "see",
        "prove-effective: The next figure",
        "check",
        "mean-text",
        "spread-text",
        "loss-text",
    ),
    "another page's": ("tilt-seen: See the",),
}


@page.after(
    "tokens",
    says="The amber histogram is again a Gaussian, farther to the right: the weights have shifted the cloud "
    "and left its width nearly unchanged",
)
def test_the_weights_of_the_cell_move_the_cloud_by_about_the_query_and_hardly_change_its_width(
    live, data, outputs
):
    width = np.cov(data.x[:, 0], aweights=np.exp(data.x[:, 0]), ddof=0) ** 0.5
    np.testing.assert_allclose(live.drawn()["outputs"], outputs[:, 0], rtol=1e-12)
    assert 0.9 < width / data.x.std() < 1.1
    assert 0.9 < live.drawn()["output"] < 1


@page.after(
    "tokens",
    says=(
        "The Gaussian shifts twice as far as before, into a region with few tokens",
        "the output falls short of the query",
        "most of the thousand hardly count",
        "Most of the weight goes to the few largest tokens, and the output cannot exceed the largest",
    ),
)
def test_farther_out_few_tokens_count_and_the_output_ends_near_the_largest(live, data, said):
    times, tokens = said
    usual, second, *_ = (live.drawn(**case["values"])["limit"] for case in live.spec["tries"])
    assert second == times * usual
    assert len(data.x) == tokens
    far, beyond, last = live.drawn(x=2.0), live.drawn(x=4.0), np.sort(data.x[:, 0])
    assert far["effective"] < 1000 / 15
    assert far["output"] < 0.95 * far["limit"]
    assert np.exp(4 * last[-5:]).sum() > 0.7 * np.exp(4 * last).sum()
    assert 0.85 * last[-1] < beyond["output"] < last[-1] < beyond["limit"]


@page.after("tokens")
def test_uniform_tokens_lean_against_their_end_and_their_limit_bends(live):
    box = live.drawn(tokens="box")
    assert np.argmax(box["tilted"]) == max(np.flatnonzero(box["tilted"]))
    assert np.argmax(box["weighted"]) // 2 == 12  # the bar from 1 to 1.5, the last whole one
    slopes = np.diff(box["limits"]) / 0.1
    assert slopes[50] > 0.99 > 0.1 > slopes[-1]


@page.after("idea")
def test_the_pictures_tilt_as_they_say():
    x, mean = np.linspace(-4, 4, 9), idea.softmax_weights(idea.tokens()) @ idea.tokens()
    tilted = idea.bell(x) * np.exp(idea.TILT * x - idea.TILT**2 / 2)
    np.testing.assert_allclose(tilted, idea.bell(x - idea.TILT), rtol=1e-12)
    assert mean @ idea.QUERY > 0.9 * np.linalg.norm(mean) * np.linalg.norm(idea.QUERY)


@page.after(
    "figure-effective",
    says=(
        "Around zero, the output follows the line of slope 1",
        "The curve for a thousand tokens bends",
        "is larger than a thousand",
        "More tokens help little: increasing their number from a thousand to a million increases "
        "$\\sqrt{2\\ln n}$ by less than half",
    ),
)
def test_the_output_leaves_the_line_and_the_count_is_above_the_formula_far_out(
    data, formula, outputs, queries, read, said
):
    slope, tokens, bent, before, after, part = said
    near = abs(queries[:, 0]) < 1
    assert np.polyfit(queries[near, 0], outputs[near, 0], 1)[0] == pytest.approx(slope, abs=0.05)
    assert len(data.x) == tokens == before
    assert bent < np.exp(2 * 2**2) < 5 * bent
    assert 0.8 * part < np.sqrt(np.log(after) / np.log(before)) - 1 < part
    x, away = abs(queries[:, 0]), abs(outputs - queries)[:, 0]
    assert away[x <= 1.5].max() < 0.15 < 1 < away[x > 4.5].min()
    assert (np.diff(read[50:]) < 0).all()
    assert (read > formula)[x > 1.5].all()


@page.after("say-effective")
def test_the_third_guess_has_the_number_of_the_page(read):
    assert groups()["chapter-9"]["3"]["why"].startswith(f"{read[70]:.0f} of the thousand")


@page.after("loss", says="They differ by a few hundredths")
def test_what_is_by_hand_is_the_librarys_and_near_its_limit(
    K, b, by_hand, layer, library, limit, many, mean, said, spread, x
):
    (hundredth,) = said
    np.testing.assert_allclose(mean, layer.means(x[None], many.x)[0], rtol=1e-12)
    assert np.isclose(by_hand, library, rtol=1e-12)
    assert abs(mean - many.Sigma @ b).max() < 0.03
    assert 2 * hundredth < abs(spread - many.Sigma).max() < 8 * hundredth
    assert abs(by_hand / (1e5 * np.exp(-b @ many.Sigma @ b)) - 1) < 0.1
    assert abs(limit / ((K**2).sum() / 2 + 0.015) - 1) < 0.02


@page.after("figure-tilt")
def test_a_tilt_moves_the_normal_density_and_heaps_up_the_uniform_one_at_its_end(g):
    drawn = runs.densities(g)
    assert np.allclose(drawn["normal, tilted by attention"][30:], drawn["normal"][:-30], atol=2e-3)
    assert np.argmax(drawn["uniform, tilted by attention"]) == max(np.flatnonzero(drawn["uniform"]))


@page.after(
    "solution-largest",
    says=(
        "The effective number is about two for every $n$",
        "falls toward one half",
    ),
)
def test_about_two_tokens_share_the_weight_far_beyond_the_edge(said, shares):
    number, limit = said
    values = [*shares.values()]
    assert limit + 0.08 > values[0] > values[1] > values[2] > values[3] > limit
    assert values[3] < limit + 0.02
    assert all(0.8 * number < 1 / value < number for value in values)


@page.after(
    "solution-open",
    says=(
        "The excess training loss falls, but more slowly than {prf:ref}`thm-exponent` says for fresh queries: "
        "like $n$ to a power of about $-0.25$ between these sizes, whereas $\\omega(1)=0.618$",
        "and the improvement is larger for smaller $n$",
    ),
)
def test_the_excess_falls_by_a_power_of_about_a_quarter_and_its_own_token_helps_a_query(
    fresh, gaps, said
):
    power, _, proved = said
    assert abs(np.diff(np.log(list(gaps.values()))) / np.log(4) - power).max() < 0.04
    assert power > -proved == pytest.approx(-(5**0.5 - 1) / 2, abs=5e-4)
    assert gaps[250] / fresh[250] < gaps[1000] / fresh[1000] < gaps[4000] / fresh[4000] < 1
