"""What the page multihead/03_further says, held against what its cells leave."""

from math import comb

import numpy as np
import pytest

import mhabook
import mhalib as mha
from mhabook.c03_first_step import margins, ntk
from mhabook.c03_first_step.max_margin import ntk_margin
from page import Page

page = Page("multihead/03_further")
UNQUOTED = {
    "holds by the statement or the proof beside it": (
        "see-starts: The step differs",
        "prove: Any direction gives",
        "nearest-why: To compute it",
        "nearest-text: By , the direction",
        "breaks-mirrors: With few relevant tokens",
        "breaks-mirrors: Relative to",
        "exact-margin",
        "saturated: With a decoder of norm 1",
        "saturated: The smaller of margins",
        "saturated: The rows of these matrices",
        "saturated: With rows",
        "approach-seen: Without sampling noise",
        "solution-heads-end: This conclusion",
    ),
    "a definition, or what a paper states": (
        "see-table: We judge",
        "good-start",
        "first-phase: This lemma",
    ),
    "a question": ("see-noise-end: What if there are more",),
    "held by the twin of the theorem in the ledger": ("breaks-unequal",),
}


@page.after(
    "data",
    says=(
        "three initializations of four heads",
        "The data are the sixty samples of the chapter",
        "The model now has four heads",
        "There are sixty samples and 1,056 features: for each of four heads, $144$ derivatives with respect "
        "to $W_h$ and $120$",
    ),
)
def test_the_data_and_the_features_are_as_described(data, zero, said):
    starts, H, n, heads, samples, features, four, of_W, of_U = said
    assert starts == len(margins.STARTS)
    assert len(data.X) == n == samples and heads == four == H == len(zero.W)
    assert zero.features(data.X).shape == (n, features)
    assert (zero.W.size, zero.U.size) == (four * of_W, four * of_U)


@page.after(
    "table-starts",
    says=(
        "The number of heads hardly matters: from 1 head to 64, the margin after the step does not change, and "
        "that of the Gaussian initialization changes little",
        "if all heads stepped forward, $Z$ would be $\\sqrt H$, and the logits would grow with the number of heads",
        "The signs matter only for the logits",
    ),
)
def test_the_step_written_out_is_the_library_s_and_its_margin_does_not_depend_on_heads(
    data, one_random_step, starts, table, said
):
    few, most = (int(H) for H in said)
    assert np.array_equal(one_random_step(data, ntk.signs(4, seed=0)).U, starts["first phase"].U)
    for H in (few, most):
        assert ntk_margin(ntk.first_phase(data, H), data).margin == pytest.approx(
            table["first phase"][4], rel=1e-12
        )
        random = ntk_margin(ntk.gaussian_of_equal_norm(data, H), data).margin
        assert random == pytest.approx(table["Gaussian"][4], rel=0.05)
    one, many = (abs(one_random_step(data, np.ones(H))(data.X)).max() for H in (few, most))
    assert many == pytest.approx(most**0.5 * one)


@page.after(
    "table-starts",
    says=(
        "The table lists them for all three initializations",
        "From $U$ alone, all three initializations have the same margin, because attention is uniform in all "
        "three",
        "In all three initializations",
    ),
)
def test_the_starts_are_as_long_and_differ_in_the_margin_from_w(starts, table, said):
    assert {*said} == {len(table)} == {len(starts)}
    assert not any(model.W.any() for model in starts.values())
    zero, gaussian, first = (table[name] for name in ("zero", "Gaussian", "first phase"))
    assert gaussian[0] == pytest.approx(first[0], rel=1e-12)
    assert zero[3] == 0 < gaussian[3] < first[3]
    assert zero[2] == pytest.approx(gaussian[2], rel=1e-12) == pytest.approx(first[2], rel=1e-12)


@page.after(
    "figure-decoders",
    says=(
        "one row of each decoder in terms of the seven patterns",
        "with a remainder that comes from having only sixty samples",
    ),
)
def test_a_row_of_the_step_points_along_the_difference_of_the_relevant_patterns(
    data, starts, patterns, said
):
    assert [len(patterns), len(data.X)] == said
    rows = starts["first phase"].U[:, 0] @ patterns.T
    assert (rows[:, 0] * rows[:, 1] < 0).all()
    assert (abs(rows[:, :2]).min(axis=1) > 2 * abs(rows[:, 2:]).max(axis=1)).all()


@page.after(
    "figure-gradient",
    says="every query attend more to the label's pattern and less to the distracting patterns",
)
def test_every_query_asks_for_the_label_s_pattern_and_not_for_distractors(data, gradient, patterns):
    entries, (own, other) = patterns @ gradient @ patterns.T, (1, 0) if data.y[0] > 0 else (0, 1)
    singular = np.linalg.svd(entries, compute_uv=False)
    assert singular[1] < 1e-12 * singular[0]
    shown = entries[abs(entries).max(axis=1) > 1e-12]
    assert abs(entries[:, other]).max() < 1e-12
    assert (data.y[0] * shown[:, own] > 0).all()
    assert (data.y[0] * shown[:, 2:] <= 1e-12).all()


@page.after(
    "table-noise",
    says=(
        "With $\\sigma=0.5$, a noise vector has norm about $0.5\\sqrt{12}\\approx1.7$, whereas a pattern has norm "
        "$2$. We draw twenty data sets of sixty samples",
        "the minimum, the median, and the maximum of the twenty margins",
        "In each of the twenty data sets, the three margins have the same order, and the margin at zero "
        "shrinks the most",
        "With sixty samples and more than a hundred features",
    ),
)
def test_noise_keeps_the_order_of_the_starts_and_zero_loses_most_in_every_dataset(
    noise_table, zero, data, said
):
    sigma, deviation, norm, sets, n, margin_count, all_sets, three, samples, features = said
    assert deviation == sigma and norm == pytest.approx(np.linalg.norm(data.truth.mu[0]))
    assert {len(found) for found in noise_table.values()} == {sets} == {margin_count} == {all_sets}
    assert n == samples and len(noise_table) == 2 * three and zero.W[0].size > features
    again = margins.over_datasets(margins.STARTS["first phase"], sigma, int(n), 1)
    np.testing.assert_allclose(again, noise_table["first phase", sigma][:1], rtol=1e-9)
    names = ("zero", "Gaussian", "first phase")
    zero, gaussian, first = (noise_table[name, 0.5] for name in names)
    assert ((zero < gaussian) & (gaussian < first)).all()
    lost = [noise_table[name, 0.0] - noise_table[name, 0.5] for name in names]
    assert (lost[0] > np.maximum(*lost[1:])).all()


@page.after(
    "say-fresh",
    says=(
        "In {glue:text}`sets` new data sets, a step of one head increases the margin",
        "A decoder of the same norm with random rows gains {glue:text}`random_gain` at most",
        "and {glue:text}`most_row_gain` at most",
        "but on average, most of it comes from the direction of the row",
    ),
)
def test_random_rows_gain_little_one_random_row_more_and_the_step_most(gain):
    assert (gain["random"] > 0).all()
    assert (10 * gain["random"] < gain["after"]).all()
    assert (gain["row"] < gain["after"]).all()
    assert 4 * gain["random"].mean() < gain["row"].mean() < gain["after"].mean() / 2


@page.after(
    "say-fresh",
    says=(
        "give each of the four heads one Gaussian row",
        "In the median over twenty seeds",
        "{glue:text}`many_rows_gain` of the gain of the step, on average over five random seeds",
        "With one Gaussian row per head, repeated at all positions, 64 heads",
    ),
)
def test_one_gaussian_row_a_head_gains_a_part_of_what_the_step_gains(
    data, step, starts, shares, many_shares, said
):
    heads, seeds, five, many = said
    assert (len(starts["Gaussian"].U), len(shares), len(many_shares)) == (heads, seeds, five)
    for H, found in ((heads, shares), (many, many_shares)):
        again = margins.gain_with_one_gaussian_row(data, step, int(H), 0)
        assert found[0] == pytest.approx(again, rel=1e-6)
    assert np.mean(many_shares) < 0.7


@page.after(
    "say-fresh",
    says="in some data sets, a random decoder with five times this norm gains more than the step",
)
def test_a_longer_random_decoder_beats_the_step_in_some_data_sets(anew, said):
    (times,) = said
    longer = margins.over_datasets(
        lambda data, seed: times * ntk.gaussian_of_equal_norm(data, 1, seed), sigma=0.0
    )
    assert 0 < (longer > anew["after"]).sum() < len(longer) / 2


@page.after(
    "say-noise",
    says=(
        "For the sixty samples above, the formula says",
        "some of our data sets (fewer than half) have misclassified samples",
    ),
)
def test_in_more_than_half_of_the_data_sets_a_step_of_one_head_sets_all_labels_right(
    data, chance, noise_size, said
):
    n, half = said
    assert len(data.X) == n and chance[0] == noise_size(data.truth, n) ** 0.5
    zero, rule = mha.MultiHeadAttention.zeros(H=1, T=10, d=12), mha.GradientDescent(lr=2.0)
    drawn = [mha.data.tokenized_mixture(60, 10, 12, 5, 0.2, 2.0, 0.0, seed) for seed in range(20)]
    right = [
        (mha.train(zero, data, rule, steps=1)[-1].margins(data.X, data.y) > 0).all()
        for data in drawn
    ]
    assert half < np.mean(right) < 1


def test_noisy_samples_are_never_a_pair():
    """Of a hundred samples with one distracting token each: without noise they hold a pair, and
    with mirrors."""
    quiet, noisy = (
        mha.data.tokenized_mixture(n=100, T=4, d=4, M=2, zeta=0.75, S=1.0, sigma=sigma, seed=0)
        for sigma in (0.0, 0.1)
    )
    assert ntk.has_a_pair(quiet)
    assert ntk.has_a_pair(ntk.mirrored(noisy))
    assert not ntk.has_a_pair(noisy)


@page.after(
    "noise-and-samples",
    says=(
        "shows the mean margin over five data sets",
        "At zero, no move separates 400 samples, so the line for zero ends earlier",
    ),
)
def test_under_noise_margins_fall_with_more_samples_and_at_zero_to_nothing(fall, counts, said):
    sets, samples = (int(count) for count in said)
    assert all((np.diff(line) < 0).all() for line in fall.values())
    for n, mean in ((counts[0], fall["before the step"][0]), (samples, 0)):
        found = margins.over_datasets(margins.STARTS["zero"], 0.5, n, sets)
        assert found.mean() == pytest.approx(mean, rel=1e-9)


@page.after(
    "noise-and-samples",
    says=(
        "although the features span only 156 dimensions, 12 from the decoder and 144 from attention",
        "With four random decoders, attention adds up to 144 per head, 588 in all",
    ),
)
def test_with_equal_rows_gradients_span_fewer_dimensions_than_there_are_samples_and_four_random_decoders_more(
    said,
):
    equal, decoder, attention, four, per_head, random = said
    assert equal == decoder + attention and random == decoder + four * per_head
    many = mha.data.tokenized_mixture(n=800, T=10, d=12, M=5, zeta=0.2, S=2.0, sigma=0.5)
    ranks = {
        name: np.linalg.matrix_rank(make(many, 0).features(many.X))
        for name, make in margins.STARTS.items()
    }
    assert (ranks["first phase"], ranks["Gaussian"]) == (equal, random)


@page.after("nearest-end", says="does this for the samples after the step of four heads")
def test_the_walk_in_the_hull_closes_in_on_the_largest_margin(step, least, most, exact, said):
    assert [len(step.U)] == said
    assert least < exact < most < 1.001 * least


@page.after(
    "rare",
    says="With one relevant token in a hundred, and a hundred samples, most of the step is sampling noise",
)
def test_for_a_rare_pattern_the_step_is_mostly_chance(rare, ratio, said):
    tokens, samples = said
    assert rare.X.shape[:2] == (samples, tokens) and (rare.relevant.sum(axis=1) == 1).all()
    assert ratio > 5


def chance_and_bound(H, plus):
    """P(|Z| ≥ z), and the δ whose bound is z, for the z that ``plus`` heads forward and the others
    backward leave."""
    z = abs(2 * plus - H) / H**0.5
    chance = sum(comb(H, k) for k in range(H + 1) if abs(2 * k - H) >= abs(2 * plus - H)) / 2**H
    return chance, 2 * np.exp(-z * z / 2)


@page.after(
    "rare",
    says="Among models with up to three hundred heads, it is closest to equality with two heads and "
    "$\\delta=2/e\\approx0.74$, for which the true probability is $0.5$",
)
def test_the_bound_on_the_logits_is_nearest_with_two_heads_and_the_row_has_that_instance(said):
    largest, two, of_e, probability = said
    chance, delta = chance_and_bound(int(two), 0)
    assert chance == probability and delta == pytest.approx(of_e / np.e)
    others = (
        chance_and_bound(H, plus)
        for H in range(1, int(largest) + 1)
        if two != H
        for plus in range(H // 2 + 1)
    )
    assert max(p / bound for p, bound in others if bound <= 1) < 0.6 < chance / delta
    statement = mhabook.ledger["prop-start-logits"]
    nearest = statement.on(statement.extremal[0]())
    assert (nearest.lhs, nearest.rhs) == pytest.approx((chance, delta))


@page.after(
    "exact-by-hand-too",
    says=(
        "Let $T=4$, $\\zeta=\\frac12$, $M=2$, and $S=1$. In the most even sample, each pattern occurs once",
        "=0.140$ and $\\gamma^*=0.721$",
    ),
)
def test_the_exact_margins_by_hand(said):
    T, zeta, M, S, of_W, of_both = said
    assert T * (1 - zeta) == M
    exact = ntk.exact_margins(T=int(T), zeta=zeta, S=S, M=int(M))
    assert [exact.W, exact.both] == pytest.approx([of_W, of_both], abs=5e-4)


@page.after(
    "even",
    says=(
        "Twenty are enough, ten of each label",
        "Each sample has eight distracting tokens, among which three of the five patterns occur twice and two "
        "occur once",
    ),
)
def test_twenty_even_samples_have_the_exact_margin(even, start, sizes, said):
    n, of_each, distracting, several, patterns, twice, two = said
    assert len(even.y) == n and (even.y > 0).sum() == (even.y < 0).sum() == of_each
    shown = np.einsum("ntd,md->nmt", even.X, even.truth.nu) > 1
    assert shown.shape[1] == patterns and (shown.sum(axis=(1, 2)) == distracting).all()
    for k, count in ((twice, several), (1, two)):
        assert ((shown.sum(axis=2) == k).sum(axis=1) == count).all()
    exact = ntk.exact_margins(**sizes).both
    assert ntk_margin(start, even).margin == pytest.approx(exact, rel=1e-9)


@page.after(
    "approach",
    says=(
        "As the number of samples grows, both conditions of the theorem come closer to being met: the "
        "sampling noise vanishes, and the most even samples occur",
        "by how much the maximum margin of noise-free samples exceeds $\\gamma^*$",
        "the margin never falls below $\\gamma^*$ and exceeds it by {glue:text}`most_excess` at most",
        "Sampling noise affects the witness more than the maximum margin",
        "On the sixty samples, the margins of the witness scatter around $\\gamma$",
        "The *maximum* margin hardly changes",
    ),
)
def test_margins_approach_the_exact_one_from_above_and_those_of_the_witness_scatter(
    data, step, sizes, excess, no_chance, table, exact, said
):
    assert [len(data.X)] == said
    assert excess.min() > 0 and no_chance.min() > -1e-12
    assert excess.mean(axis=1)[-1] < excess.mean(axis=1)[0] / 8
    of_witness = data.y * (step.features(data.X) @ ntk.witness(step, data.truth).ravel())
    gamma = ntk.mixture_margins(**sizes).both
    assert of_witness.min() < gamma < of_witness.max()
    assert np.ptp(of_witness) / gamma > 4 * (table["first phase"][4] / exact.both - 1) > 0


@page.after(
    "figure-saturated",
    says=(
        "a fraction $\\zeta$, here a fifth, of the margin that attention can reach",
        "As the strength $\\Gamma$ of $\\hat W$ grows, the margin of the same unit-norm decoder is multiplied by a "
        "factor that tends to $1/\\zeta=5$",
    ),
)
def test_moved_attention_gains_a_factor_that_tends_to_one_over_the_share(
    exact, limit, reached, sizes, said
):
    fifth, one, factor = said
    assert fifth == sizes["zeta"] == pytest.approx(exact.U / limit)
    assert one / fifth == factor == pytest.approx(sizes["S"] * (sizes["T"] / 2) ** 0.5 / exact.U)
    assert reached[0] == pytest.approx(exact.U, rel=1e-12) and (np.diff(reached) > 0).all()
    assert 0.97 < reached[-1] / limit < 1


@page.after(
    "live",
    says=(
        "The bars show the maximum margins of forty samples, namely twenty samples and their mirrors",
        "the other two end at $\\gamma_W^*$ and at $\\gamma^*$ or a little above, because forty samples need not "
        "contain the most even ones",
        "for the three initializations",
        "As the norm $S$ increases from $0.5$ to $3$, where does the $W$ bar overtake the $U$ bar? As the "
        "fraction $\\zeta$ increases from $0.1$ to $0.9$, where is the $W$ bar longest",
        "The margin of $U$ grows like $S$, and that of $W$ grows like $S^4$",
        "Moving attention gives four factors",
        "for small norms and exceeds it only at the largest norm on the slider",
        "the last bar ends slightly above $\\gamma^*$, and the $U$ bar does not change",
        "There are forty samples and more than a hundred features",
    ),
)
def test_what_the_sliders_show(live, said):
    n, twenty, two, bars, three, *ends, power, samples, features = said
    (model,) = live.path()
    assert n == bars == samples == 2 * twenty and model.W.size >= features
    assert live.spec["data"]["n"] == n
    lengths, shares = (
        {value: live.drawn(**{name: value}) for value in live.controls[name].values}
        for name in ("S", "zeta")
    )
    assert ends == [min(lengths), max(lengths), min(shares), max(shares)]
    small, large = (lengths[S]["exact"] for S in (1.0, 2.0))
    assert (large[0] / small[0], large[1] / small[1]) == pytest.approx((2, 2**power))
    drawn = live.drawn()
    assert sum(name.startswith("over_") for name in drawn) == three
    found = [drawn[f"margin_{part}"][0] for part in "UW"] + [drawn["margin"][0]]
    assert found[0] == pytest.approx(drawn["exact"][0])
    above = np.array(found[1:]) / drawn["exact"][1:]
    assert len(above) == two and (above > 1 - 1e-9).all() and (above < 1.01).all()
    assert [S for S, found in lengths.items() if found["margin_W"][0] > found["margin_U"][0]] == [
        max(lengths)
    ]
    assert max(shares, key=lambda zeta: shares[zeta]["exact"][1]) == 0.7
    gaussian = {
        S: found["over_gaussian"][0] / found["over_first"][0] for S, found in lengths.items()
    }
    assert gaussian[0.5] > 0.999 and gaussian[3.0] < 0.5
    plain = live.drawn(mirror=False)
    assert plain["margin"][0] > plain["gamma_star"] and plain["margin_U"][0] == pytest.approx(
        plain["exact"][0]
    )
    for kind in ("first", "gaussian"):
        assert live.drawn()[f"over_{kind}"][-1] > live.drawn()[f"over_{kind}"][-2]


@page.after(
    "say-live",
    says="as large as at half that noise, on average over ten random seeds",
)
def test_random_labels_are_separated_and_more_widely_at_the_largest_noise(live, half, whole, said):
    part, seeds = said
    largest = max(live.controls["sigma"].values)
    for mean, sigma in ((half, part * largest), (whole, largest)):
        found = margins.of_random_labels(sigma, int(seeds))
        assert (found > 0).all() and found.mean() == pytest.approx(mean, rel=1e-9)
    assert half < whole


@page.after(
    "solution-infinite",
    says="Gaussian rows that all differ gain as little in the limit as with 64 heads",
)
def test_infinitely_many_gaussian_heads_gain_as_little_as_64(data, table, infinite, many, said):
    (H,) = said
    assert many == ntk_margin(ntk.gaussian_of_equal_norm(data, int(H)), data).margin
    zero, step = table["zero"][4], table["first phase"][4]
    assert zero < min(infinite, many) and max(infinite, many) - zero < 0.1 * (step - zero)


@page.after(
    "solution-heads",
    says=(
        "A larger step gives a larger margin",
        "From $c=1$ to the best $c$, the larger margin lowers the number of heads by more than the larger "
        "logits and decoders raise it",
    ),
)
def test_a_larger_step_needs_fewer_heads_up_to_the_best(c, exact, heads_asked, best, said):
    assert (np.diff(np.hypot(exact.U, c * exact.W)) > 0).all()
    (one,) = said
    before = heads_asked[(c >= one) & (c <= c[best])]
    assert len(before) > 1 and (np.diff(before) < 0).all()
    assert (np.diff(heads_asked[best:]) > 0).all()
