"""What the page kernels/15_further says, held against what its cells leave."""

import numpy as np

import mhalib as mha
from mhabook.c15_landscapes import smoothness
from mhabook.c15_landscapes.runs import TASKS, measures_of, wins
from page import Page
from scripts import load

page = Page("kernels/15_further")
landscapes = load("book/results/landscapes.py")
UNQUOTED = {
    "what the page contains, and questions": (
        "title: This page",
        "title: Multiply",
        "verdicts-read: Is the",
        "turn: Before",
        "turn: For which",
    ),
    "what is proved, or defined": (
        "three-measures",
        "two-stage: So the first",
        "prove-filter: A random direction",
        "prove-maximum",
        "runs: A count",
        "breaks-stages: If training",
        "solution-grid-text: Differences",
    ),
    "what the paper shows": ("two-stage: The paper",),
    "how a script was run": ("runs: The runs are stored",),
    "what we measured earlier": ("verdicts-read: In an earlier",),
}
ALONE, ALL = "queries and keys", "everything"
EACH = [(task, scaled) for task in TASKS for scaled in ("filter", "raw")]


def measured(cut):
    """The three measures of a slice, by differences."""
    return smoothness.by_differences(cut.loss, cut.a, cut.b)


def counts(kernel, other, trains=ALONE):
    """Three numbers of slices in which a kernel has less than another, for each task and scaling:
    (3, 2, 3)."""
    found = [wins(kernel, other, trains, task=task, scaled=scaled) for task, scaled in EACH]
    return np.reshape(found, (3, 2, 3))


def filtered(table, kernel, task):
    return table.where(task=task, trains=ALONE, kernel=kernel, scaled="filter")


@page.after(
    "figure-planes",
    says=(
        "We cut the layer of the chapter along two planes. The first is spanned by two random directions, the second "
        "by the two eigenvectors of the full Hessian",
        "on a slope that has negative curvature at most of its points",
    ),
)
def test_the_random_plane_is_a_bowl_and_the_chosen_one_bends_down(
    bowl, saddle, drawn, chosen, said
):
    assert [len((bowl, saddle)), len(drawn), len(chosen)] == said
    shares = [smoothness.by_formula(cut).negative_curvature for cut in (bowl, saddle)]
    assert shares[0] == 0 and shares[1] > 0.5
    assert np.linalg.eigvalsh(saddle.derivatives(0, 0)[2])[1] < 0
    assert bowl.loss[7, 7] - bowl.loss.min() < 0.05 * (saddle.loss[7, 7] - saddle.loss.min())


@page.after(
    "figure-stages",
    says=(
        "*words* task (sixteen words",
        "once with a first stage of 150 steps and once with 800",
        "*micro-Pathfinder* (nine patches), with 400 steps in the first stage",
        "Each network has two layers of width 32 with two heads",
        "with each of four kernels, for 200 steps on words and 300 on micro-Pathfinder, all with Adam and a step size "
        "of 0.002",
        "its loss is computed on 64 training samples",
        "are scaled in one of two ways",
        "Two of the four kernels are controls",
    ),
)
def test_the_stages_are_those_of_the_script(table, said):
    words, short, long, patches, micro, layers, width, heads, kernels, *rest = said
    after, last, lr, samples, ways, controls, of = rest
    steps = landscapes.STEPS
    assert [*steps.values()] == [(short, after), (long, after), (micro, last)]
    assert lr == landscapes.LR and samples == landscapes.SAMPLES
    assert len(landscapes.KERNELS) == kernels == of and controls == 2
    assert len({*table["scaled"]}) == ways
    texts, _, network = landscapes.problem("words", 0)
    assert texts.tokens.shape[1] == words and mha.data.pathfinder(2).X.shape[1] == patches
    attention = network.layers[0].attention
    assert (len(network.layers), attention.out.in_features, attention.H) == (layers, width, heads)
    assert sum(weights.numel() for weights in network.parameters()) < 20_000


@page.after("figure-stages", says="The figure shows the second of three seeds")
def test_two_slices_have_hills_above_the_gaussian_plain_and_deeper_hollows(shown, table, said):
    assert {*shown["seed"]} == {1} and {*table["seed"]} == {*range(int(said[0]))}
    assert shown["kernel"].tolist() == [
        "softmax",
        "softmax, scaled",
        "Gaussian",
        "Gaussian, normalized",
    ]
    high, low = (ends(shown["loss"], axis=(1, 2)) for ends in (np.max, np.min))
    assert high.argsort().tolist() == [1, 2, 0, 3] and low.argsort().tolist() == [0, 3, 2, 1]
    assert abs(high[2] / shown["off"][2] - 1) < 0.02


@page.after(
    "verdicts",
    says=(
        "With three seeds and three pairs of directions, there are nine slices for each line",
        "counts in how many of nine slices the first kernel has the smaller value: a lower maximum, a smaller mean "
        "gradient, or less negative curvature. Nine means that the first kernel is smoother in all nine slices",
        "The nine slices are not independent: the three slices of a seed share one network",
        "After the short first stage, the Gaussian slice is rougher by all three measures: its maximum is lower than "
        "the softmax maximum in at most two slices of nine, and the other two measures are lower in none",
        "After the longer first stage, and on micro-Pathfinder, its maximum and its mean gradient are lower in all "
        "nine slices. Yet in all nine, it has negative curvature in *more* places than the softmax slice. So the "
        "Gaussian slice is lower and flatter, but not more convex",
        "the Gaussian slice was lower and flatter than the softmax slice in two settings of three, and rougher in the "
        "third, words after a short first stage. It was more convex in none of the three",
        "All this comes from three small networks for each setting",
    ),
)
def test_the_gaussian_slice_is_rougher_after_the_short_stage_elsewhere_lower_and_flatter_but_curved_down(
    table, said
):
    seeds, pairs, *nines, two, nine, _, all_nine, every, fewer, three, none_of, nets = said
    *nines, of_seed, measures = nines
    assert len({*table["seed"]}) == seeds == nets and len({*table["pair"]}) == pairs == of_seed
    assert {*nines, nine, all_nine, every} == {seeds * pairs}
    short, *elsewhere = counts("Gaussian", "softmax")
    assert short[:, 0].max() == two and (short[:, 1:] == 0).all() and short.shape[1] == measures
    assert (np.array(elsewhere) == [all_nine, all_nine, 0]).all()
    assert (counts("softmax", "Gaussian")[..., 2] == every).all()
    assert len(elsewhere) == fewer and len(TASKS) == three == none_of


@page.after(
    "verdicts",
    says=(
        "is smoother than the Gaussian kernel: the Gaussian maximum is lower in at most one slice of nine, and the "
        "other two measures are lower in none",
        "The normalized Gaussian kernel is smoother than softmax in some slices and rougher in others, with counts "
        "from one to six",
        "With filter normalization, the scaled softmax has a lower maximum than softmax in 6, 9, and 9 of nine slices "
        "(words, words longer, and micro-Pathfinder), and a lower mean gradient in all",
        "So a smaller output is enough to flatten the slice and, after the longer first stage and on "
        "micro-Pathfinder, to lower it as well",
        "the scaled softmax has learned the least",
        "On *words, longer* and on",
        "A softmax with a smaller output was smoother than the Gaussian kernel in all three",
    ),
)
def test_a_smaller_output_is_enough_and_the_distance_is_not(table, said):
    nine, _, most, *scaled, of, tasks = said
    assert nine == of == 9 and tasks == len(TASKS)
    against_scaled = counts("Gaussian", "softmax, scaled")
    normalized = counts("Gaussian, normalized", "softmax")
    assert against_scaled[..., 0].max() <= 1 and (against_scaled[..., 1:] == 0).all()
    assert (normalized.min(), normalized.max()) == (1, most)
    assert counts("softmax, scaled", "softmax")[:, 0, :2].tolist() == [
        [count, nine] for count in scaled
    ]
    for task in TASKS[1:]:
        middles = [
            np.median(filtered(table, kernel, task)["loss"][:, 5, 5])
            for kernel in ("softmax", "Gaussian", "softmax, scaled")
        ]
        assert middles == sorted(middles)


@page.after(
    "verdicts",
    says=(
        "lie between three and seven of nine, for every measure",
        "the counts are three on *words* and on *micro-Pathfinder*, and seven on *words, longer*",
        "because each comes from only three networks",
        "Against the scaled softmax, the counts of the Gaussian kernel range from two to nine; the nine occurs once, "
        "for a maximum, and with raw directions, it becomes six",
    ),
)
def test_where_everything_moves_there_is_no_verdict(said):
    least, most, _, low, high, _, two, nine, once, six = said
    found, scaled = counts("Gaussian", "softmax", ALL), counts("Gaussian", "softmax, scaled", ALL)
    assert (found.min(), found.max()) == (least, most)
    assert found[:, 0, 2].tolist() == [low, high, low]
    assert (scaled.min(), scaled.max(), (scaled == once).sum()) == (two, nine, 1)
    assert scaled[1, :, 0].tolist() == [nine, six]


@page.after(
    "verdicts",
    says="by at most one when only queries and keys move, and by at most two when everything moves",
)
def test_the_scaling_of_directions_changes_counts_by_one_or_two(said):
    changes = [
        np.ptp(counts("Gaussian", "softmax", trains), axis=1).max() for trains in (ALONE, ALL)
    ]
    assert changes == [1, *said]


@page.after(
    "rescaled-print",
    says=(
        "Write the network after 30 steps in another way: multiply the values by 10, and divide the output matrices "
        "by 10",
        "one network, written in two ways, has raw slices",
    ),
)
def test_filter_normalized_slices_agree_and_raw_ones_differ_by_a_factor_of_hundreds(
    filtered, raw, first, twin, said
):
    _, times, over, ways = said
    assert np.array_equal(twin.WV, times * first.WV) and np.array_equal(twin.WO, first.WO / over)
    assert len(raw) == ways
    assert np.allclose(filtered[0].loss, filtered[1].loss, rtol=1e-9)
    assert 200 < raw[1].loss.max() / raw[0].loss.max() < 1000


@page.after(
    "figure-far",
    says=(
        "The Gaussian curve rises, then settles on the plateau. The softmax curve rises much farther, as does the "
        "normalized Gaussian curve",
        "So along this line, the Gaussian maximum is the lowest of the three, by a factor of two",
        "On the way there, it may rise above the plateau, as it does in the layer of the chapter",
    ),
)
def test_the_gaussian_curve_rises_above_its_plateau_and_settles_on_it_and_the_others_do_not(
    data, far, said
):
    count, times = said
    assert len(far) == count
    plateau = (data.y**2).sum() / 12
    assert abs(far["Gaussian"][-1] / plateau - 1) < 1e-3 and max(far["Gaussian"]) > 1.4 * plateau
    for name in ("softmax", "Gaussian, normalized"):
        assert max(far[name]) > times * max(far["Gaussian"]) and far[name][-1] > 2 * plateau


@page.after(
    "off",
    says=(
        "In all 27 filter-normalized slices of these networks, the Gaussian maximum is within two percent of the loss "
        "without attention. The median softmax maximum is below the loss without attention on words after the short "
        "first stage: in eight of the nine filter-normalized slices there, even the worst attention is better than "
        "none. The median exceeds that loss on words after the longer first stage, and on micro-Pathfinder",
        "The reason is not that less was learned through attention: between no attention and the center of the softmax "
        "slice, the median loss falls more on these words than on micro-Pathfinder",
        "In the slices of the small networks with two layers",
    ),
)
def test_the_stored_gaussian_maxima_are_the_loss_without_attention_and_softmax_is_on_either_side(
    table, said
):
    slices, percent, eight, nine, _ = said
    assert slices == nine * len(TASKS)
    falls = {}
    for k, task in enumerate(TASKS):
        gauss, soft = (filtered(table, kernel, task) for kernel in ("Gaussian", "softmax"))
        assert (
            len(gauss) == nine
            and abs(gauss["loss"].max(axis=(1, 2)) / gauss["off"] - 1).max() < percent / 100
        )
        wrong = np.median(measures_of("softmax", ALONE, task=task)[:, 0])
        none = np.median(gauss["off"])
        assert (wrong < none) == (k == 0)
        falls[task] = none - np.median(soft["loss"][:, 5, 5])
        assert k or (soft["loss"].max(axis=(1, 2)) < soft["off"]).sum() == eight
    assert falls["words"] > 1.5 * falls["micro-Pathfinder"]


@page.after(
    "turn-slices",
    says=(
        "The layer of this chapter goes through two stages: 30 steps with softmax, then 60 with",
        "with a radius of 0.1, all three slices are bowls, and none has negative curvature anywhere. With a radius of "
        "4, they have negative curvature on more than 70 percent of their area, whatever the kernel. At that radius, "
        "the Gaussian maximum is less than a third of either of the other two maxima",
    ),
)
def test_near_slices_are_bowls_and_far_ones_curve_down(cut_of, data, ends, first, start, said):
    _, before, after, small, three, large, percent, third, _ = said
    assert np.array_equal(mha.train(start, data, mha.Backtracking(), int(before))[-1].WQ, first.WQ)
    again = mha.train(first, data, mha.Backtracking(), int(after), only=("WQ", "WK"))[-1]
    assert np.array_equal(again.WQ, ends["softmax"].WQ) and len(ends) == three
    near, far = (
        {name: measured(cut_of(end, radius, 0, "filter")) for name, end in ends.items()}
        for radius in (small, large)
    )
    assert all(cut.negative_curvature == 0 for cut in near.values())
    assert all(cut.negative_curvature > percent / 100 for cut in far.values())
    assert all(
        far["Gaussian"].maximum < third * far[name].maximum for name in ("softmax", "normalized")
    )


@page.after(
    "radius",
    says=(
        "of the layer after 30 steps, at several radii",
        "The larger the radius, the larger the fraction with negative curvature",
        "but only one of the kernels computes the function that the first stage has learned. With the other three "
        "kernels",
        "from eleven points per side by central differences, so they miss ridges that are narrower than a fifth of the "
        "radius",
        "fewer than twenty thousand weights and are trained for at most a thousand steps",
        "test accuracies lie between 0.56 and 0.75, whereas guessing gives one half",
        "three for each line of the table",
    ),
)
def test_a_larger_radius_shows_more_negative_curvature_and_no_network_has_mastered_its_task(
    growing, table, said
):
    _, others, points, fifth, _, thousand, least, most, half, three = said
    shares = [measured(cut).negative_curvature for cut in growing.values()]
    assert shares == sorted(shares) and shares[-1] > 2 * shares[0]
    found = [table["accuracy"].min(), table["accuracy"].max()]
    assert np.allclose(found, [least, most], atol=0.006), found
    assert len({*table["kernel"]}) == 1 + others and table["loss"].shape[1:] == (points, points)
    assert np.isclose(np.diff(table["a"][0])[0], fifth * landscapes.RADIUS)
    assert max(map(sum, landscapes.STEPS.values())) <= thousand and len({*table["seed"]}) == three


@page.after("solution-grid")
def test_the_mean_gradient_by_differences_leaves_out_the_rim(bowl):
    assert measured(bowl).maximum == smoothness.by_formula(bowl).maximum
    assert measured(bowl).mean_gradient < smoothness.by_formula(bowl).mean_gradient


@page.after(
    "solution-line",
    says=(
        "There is no barrier at the nine points. Under each kernel, the loss only increases",
        "So, as far as a straight line can show",
    ),
)
def test_the_loss_only_grows_away_from_the_end_of_its_own_kernel(with_other, with_softmax, said):
    assert [len(with_softmax)] == said
    assert (np.diff(with_softmax) > 0).all()
    assert (np.diff(with_other) < 0).all()
