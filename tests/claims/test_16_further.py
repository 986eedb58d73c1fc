"""What the page kernels/16_further says, held against what its cells leave."""

import inspect

import numpy as np
from scipy import stats

import mhalib as mha
from mhabook.c08_digits.text.words import NOT, SIGN
from mhabook.c16_networks import runs
from mhabook.c16_networks.runs import (
    ADAM,
    GAIN,
    LOUD,
    MOMENTUM,
    NAMES,
    SIXTEEN,
    SMALL,
    chosen,
    final_accuracy,
    gap,
)
from page import Page
from scripts import load

page = Page("kernels/16_further")
UNQUOTED = {
    "what the page contains, questions, and advice": (
        "title: A Pathfinder",
        "task-text: To do much better",
        "sixteen-text: What changes",
        "small-seen: To find out",
        "turn",
        "breaks: A comparison",
        "breaks: With longer training",
        "solution-alone-end",
        "others-seen: But the factor",
        "micro-seen: The difference",
    ),
    "what is proved, or defined": (
        "sweep-text: At initialization",
        "others-seen: All linear maps",
        "table-text: They take",
        "breaks: For a shorter",
        "see-images",
    ),
    "what others published": (
        "breaks: | Text",
        "breaks: | Pathfinder",
        "breaks: The published",
        "breaks: Song et al.",
    ),
    "in tests/claims/test_large_runs.py": ("breaks: The second generates",),
    "what has not been run": ("breaks: The script has not",),
}
words, images = (load(f"book/results/{name}.py") for name in ("words", "micro_pathfinder"))
SOFTMAX, GAUSSIAN, NORMALIZED, LOUDER = NAMES
WORDS = ADAM, MOMENTUM, SMALL, SIXTEEN, GAIN


def pairs_won(*rows, **setting):
    """In how many pairs of runs the Gaussian kernel is ahead of softmax."""
    return int(
        (
            final_accuracy(GAUSSIAN, *rows, **setting) > final_accuracy(SOFTMAX, *rows, **setting)
        ).sum()
    )


def excludes_zero(apart, half):
    return abs(apart) > half


def moved(name, lr, setting):
    """By how much a kernel's mean accuracy at the chosen step size is above that at another one."""
    return final_accuracy(name, **setting).mean() - runs.mean_at(name, lr, setting)


@page.after(
    "sentences",
    says=(
        "A sentence has eight words",
        "The word *not* makes up nearly a quarter of all words, and opinions make up more than a third",
    ),
)
def test_nearly_a_quarter_of_the_words_is_not_and_more_than_a_third_are_opinions(data, said):
    length, quarter, third = said
    spoken = " ".join(data.sentences).split()
    assert {len(sentence.split()) for sentence in data.sentences} == {length}
    assert quarter - 0.01 < np.mean([word == NOT for word in spoken]) < quarter
    assert third < np.mean([word in SIGN for word in spoken]) < third + 0.04


@page.after(
    "figure-small",
    says=(
        "trains on sentences of five words, with one layer of width 32 and 300 steps of Adam",
        "All runs exceed {glue:text}`without_not_short`, the level of a reader who overlooks *not* in sentences of "
        "five words",
    ),
)
def test_all_three_kernels_are_above_the_level_of_a_reader_who_overlooks_not(
    paths, short, starts, said
):
    length, width, steps, again = said
    assert {len(sentence.split()) for sentence in short.sentences} == {length} and again == length
    assert {path.steps[-1] for path in paths.values()} == {steps}
    assert {start.layers[0].attention.out.in_features for start in starts.values()} == {width}
    assert all(
        runs.without_not(short) + 0.05 < path.test_accuracy[-1] <= 1 for path in paths.values()
    )


# Seeds, step sizes, controls


@page.after(
    "figure-adam",
    says=(
        "A Transformer with two layers of width 64",
        "softmax with its output multiplied by four",
        "two layers, width 64, hidden width 128, and two heads; each layer",
        "Sentences have eight words, and a run has 800 steps on minibatches of 16",
        "There are two controls in addition to the two kernels",
        "*Softmax × 4* multiplies the softmax weights by four",
        "a line is the median over the four seeds",
        "on 500 *validation* sentences at the end of training, and reports the accuracy on the 1,000 test sentences",
    ),
)
def test_the_runs_on_words_are_those_of_the_script(said, data):
    layers, width, factor, *sizes, length, steps, batch, controls, kernels, loud, same, seeds = (
        said[:-2]
    )
    assert sizes == [layers, width, words.SIZES["hidden"], words.SIZES["H"]]
    assert (words.SIZES["layers"], words.SIZES["d"]) == (layers, width)
    assert {(row["length"], row["steps"]) for row in words.GRID[:4]} == {(length, steps)}
    assert runs.ARMS[LOUDER] == ("softmax", factor) and factor == loud == same
    assert len(NAMES) == controls + kernels
    assert len(final_accuracy(SOFTMAX, **ADAM)) == seeds
    script = inspect.getsource(words.run)
    for number in (f"batch={batch:.0f}", f"fresh({said[-1]:.0f},", f"fresh({said[-2]:.0f},"):
        assert number in script


@page.after(
    "figure-micro",
    says=(
        "12,000 images, Adam (one step size, $\\eta=0.002$), minibatches of 32, 1,500 steps, torch's gain, positions "
        "of standard deviation 0.3",
        "Pixels are scaled to mean 0 and standard deviation 1",
        "After 1,500 steps, the Gaussian kernel has test accuracy",
    ),
)
def test_the_runs_on_images_are_those_of_the_script(pictures, said):
    count, lr, batch, steps, deviation, mean, one, again = said
    assert {*pictures["lr"]} == {lr} and images.STEPS[-1] == steps == again
    assert (mean, one) == (0, 1) and images.SIZES == words.SIZES
    assert f"pathfinder({count:_.0f})" in inspect.getsource(images.draw)
    script = inspect.getsource(images.run)
    for number in (f"batch={batch:.0f}", f"embedding={deviation}"):
        assert number in script


@page.after(
    "table-micro",
    says=(
        "where it is 1, no step size was chosen",
        "(`beta=0.9`, the best of three step sizes); with embeddings of standard deviation 0.02 instead of 1, so",
        "; and with gain 1. The last two blocks were run at a single step size of Adam, 0.002, which",
        "For softmax × 4, the chosen step size is the smallest that was tried, so a smaller one might suit it better",
        "We trained for 1,000 steps at one step size of Adam, 0.002",
        "tried only on eight words with torch's gain and embeddings of standard deviation 1: four with Adam and three "
        "with momentum",
        "Adam has step size 0.002, the best of four for either kernel on eight words at torch's gain",
        "The runs on eight words stop after 800 steps on 16 sentences each, that is, 1.6 passes over 8,000 sentences; "
        "those on sixteen words stop after two passes",
    ),
)
def test_the_step_sizes_that_were_tried_and_chosen(pictures, said):
    single, beta, three, small, usual, gain, blocks, lr, _, long, again, *rest = said
    (
        short,
        deviation,
        four,
        also,
        best,
        of,
        length,
        few,
        steps,
        batch,
        passes,
        size,
        sixteen,
        twice,
    ) = rest
    assert len(runs.rates(pictures)) == single and lr == again == best
    assert (SMALL["embedding"], ADAM["embedding"], GAIN["gain"]) == (small, usual, gain)
    assert deviation == usual and blocks == len((SMALL, GAIN)) and mha.Momentum(lr).beta == beta
    assert [len(runs.rates(**ADAM)), len(runs.rates(**MOMENTUM))] == [four, three] == [of, also]
    assert (ADAM["length"], SIXTEEN["length"]) == (length, sixteen) and few == length == short
    assert steps * batch / size == passes and long * batch / size == twice
    assert {row["steps"] for row in words.GRID if row["length"] == sixteen} == {long}
    assert runs.rates(**ADAM) == [0.001, 0.002, 0.004, 0.008]
    assert runs.rates(**MOMENTUM) == [0.025, 0.05, 0.1]
    assert (
        runs.rates(**SMALL)
        == runs.rates(**GAIN)
        == runs.rates(**SIXTEEN)
        == runs.rates(pictures)
        == [0.002]
    )
    assert chosen(SOFTMAX, **ADAM)["lr"][0] == chosen(GAUSSIAN, **ADAM)["lr"][0] == 0.002
    assert chosen(LOUDER, **MOMENTUM)["lr"][0] == 0.025


@page.after(
    "table-micro",
    says=(
        "The Gaussian kernel is ahead of softmax in all four pairs of runs, by {glue:text}`adam`",
        "With momentum, the Gaussian kernel is ahead of softmax in three of four pairs",
        "The Gaussian kernel is ahead of softmax in all four pairs, by {glue:text}`sixteen` on average, with an "
        "interval of half-width",
        "Softmax is ahead of the Gaussian kernel in three of four pairs",
        "In all, the Gaussian kernel is ahead of softmax in 18 of 20 pairs of runs with torch's gain, and in 1 of 4 "
        "with gain 1",
        "of the five settings with torch's gain, only two compare several step sizes",
        "with initial weights larger by a factor of $\\sqrt3$, which we tried on eight words only, softmax is ahead",
        "We have four seeds, one generated task",
    ),
)
def test_the_gaussian_kernel_is_ahead_in_18_of_20_pairs_and_in_1_of_4_with_gain_1(pictures, said):
    adam, three, four, sixteen, _, _, gain, of, won, pairs, *rest = said
    alone, each, _, settings, several, length, seeds = rest
    words_won = [pairs_won(**setting) for setting in WORDS]
    assert words_won == [adam, three, 3, sixteen, alone] and gain == of - alone
    assert pairs_won(pictures) == 4 and sum(words_won[:-1]) + 4 == won
    assert len(final_accuracy(SOFTMAX, pictures)) == four == seeds == each == of
    assert settings * four == pairs and len(WORDS[:-1]) + 1 == settings
    tried = [len(runs.rates(**setting)) for setting in WORDS[:-1]] + [len(runs.rates(pictures))]
    assert sum(count > 1 for count in tried) == several and GAIN["length"] == length


@page.after(
    "table-micro",
    says=(
        "the half-width of its 95 % interval by Student's $t$ for four seeds",
        "Each interval is meant for a single comparison, but this page makes 18",
        "This last comparison is the only one in the three blocks whose interval excludes zero",
        "With four seeds each, most of these differences have intervals that contain zero",
        "Four seeds give a standard error with three degrees of freedom",
    ),
)
def test_intervals_exclude_zero_on_micro_pathfinder_and_for_the_control_at_gain_1(pictures, said):
    _, percent, seeds, comparisons, blocks, again, also, freedom = said
    quantile = stats.t.ppf(0.5 + percent / 200, freedom)
    assert abs(runs.QUANTILE[seeds] - quantile) < 1e-3
    assert seeds == again == also == freedom + 1 and blocks == len((MOMENTUM, SMALL, GAIN))
    assert comparisons == 3 * len((*WORDS, pictures))
    assert not any(excludes_zero(*gap(GAUSSIAN, **setting)) for setting in WORDS)
    assert not any(
        excludes_zero(*gap(name, **setting)) for setting in (MOMENTUM, SMALL) for name in NAMES[1:]
    )
    assert not excludes_zero(*gap(NORMALIZED, **SIXTEEN))
    assert [excludes_zero(*gap(name, **GAIN)) for name in LOUD[1:]] == [False, True, False]
    assert all(
        apart > half for apart, half in (gap(name, pictures) for name in (GAUSSIAN, NORMALIZED))
    )


@page.after(
    "table-adam",
    says=(
        "Its row-normalized control hardly differs from softmax here",
        "softmax loses more than the Gaussian kernel does: at 0.004, softmax",
    ),
)
def test_with_adam_the_control_is_level_with_softmax_and_softmax_loses_more_at_other_step_sizes(
    said,
):
    assert said[0] in runs.rates(**ADAM)
    assert abs(gap(NORMALIZED, **ADAM)[0]) < 0.005
    assert all(moved(SOFTMAX, lr, ADAM) > moved(GAUSSIAN, lr, ADAM) for lr in (0.001, 0.004, 0.008))


@page.after(
    "table-micro",
    says=(
        "Multiplying the weights by four does not help softmax",
        "this is only a hint. Softmax × 4 is behind softmax",
        "when the rows are normalized. Softmax × 4 is behind softmax",
    ),
)
def test_four_times_the_weights_do_not_help_softmax(pictures, said):
    assert {*said} == {runs.ARMS[LOUDER][1]}
    assert max(gap(LOUDER, **ADAM)[0], gap(LOUDER, **SIXTEEN)[0], gap(LOUDER, pictures)[0]) < 0


# The other optimizer, the other starts


@page.after(
    "table-others",
    says=(
        "the row-normalized kernel is ahead of softmax by {glue:text}`momentum_normalized`, and softmax × 4 by",
        "At the largest step size, 0.1, softmax falls to",
        "the Gaussian kernel tolerates larger step sizes than these two",
        "With small embeddings, the two kernels hardly differ",
    ),
)
def test_with_momentum_both_controls_are_ahead_and_the_gaussian_kernel_bears_larger_steps(said):
    factor, lr, *_ = said
    assert runs.ARMS[LOUDER][1] == factor and max(runs.rates(**MOMENTUM)) == lr
    assert abs(gap(GAUSSIAN, **SMALL)[0]) < 0.015
    assert all(gap(name, **MOMENTUM)[0] > 0 for name in NAMES[1:])
    assert (
        moved(GAUSSIAN, lr, MOMENTUM)
        < min(moved(name, lr, MOMENTUM) for name in (SOFTMAX, NORMALIZED)) / 2
    )


@page.after(
    "table-others",
    says=(
        "With gain 1, the order is reversed",
        "With gain 1, softmax is ahead on average",
        "and of the row-normalized kernel in all four, by",
    ),
)
def test_with_gain_1_softmax_is_ahead_and_of_the_control_in_all_pairs(said):
    gain, again, four = said
    assert GAIN["gain"] == gain == again and len(final_accuracy(NORMALIZED, **GAIN)) == four
    assert gap(GAUSSIAN, **GAIN)[0] < 0
    assert (final_accuracy(NORMALIZED, **GAIN) < final_accuracy(SOFTMAX, **GAIN)).all()


@page.after(
    "table-others",
    says=(
        "A factor of 16 offsets this difference at initialization, and the accuracy hardly changes",
        "about as much as changing the kernel does",
    ),
)
def test_the_gain_moves_softmax_about_as_much_as_the_kernel_does_and_a_factor_of_16_moves_little(
    said,
):
    assert said == [runs.ARMS["Gaussian × 16"][1]]
    assert -gap(GAUSSIAN, **GAIN)[0] < runs.moved_by_gain(SOFTMAX) < gap(GAUSSIAN, **ADAM)[0]
    assert (
        abs(
            final_accuracy("Gaussian × 16", **GAIN).mean() - final_accuracy(GAUSSIAN, **GAIN).mean()
        )
        < 0.01
    )


# Sixteen words, and Pathfinder


@page.after(
    "table-micro",
    says=(
        "two thirds of the difference remain when the rows are normalized",
        "Sixteen words are harder to learn than eight, and each row of attention weights is longer",
        "keeps a third of its advantage over softmax on micro-Pathfinder and none of it on sixteen words",
    ),
)
def test_the_distance_makes_the_whole_difference_on_sixteen_words_and_two_thirds_on_images(
    pictures, said
):
    two_thirds, length, short, third, again = said
    assert two_thirds + third == 1 and SIXTEEN["length"] == length == again
    assert ADAM["length"] == short
    for name in NAMES:
        at_eight = runs.mean_at(name, 0.002, ADAM)
        assert final_accuracy(name, **SIXTEEN).mean() < at_eight - 0.05
    assert 0.95 < gap(NORMALIZED, **SIXTEEN)[0] / gap(GAUSSIAN, **SIXTEEN)[0] < 1
    assert abs(gap(NORMALIZED, pictures)[0] / gap(GAUSSIAN, pictures)[0] - two_thirds) < 0.06


# Check by number


@page.after(
    "say-weights",
    says=(
        "heads of width 32, as on this page",
        "For eight tokens, a Gaussian row sums to {glue:text}`eight` with gain 1, a sixteenth of the softmax sum",
        "Sixteen tokens double both sums. So which of the two kernels has the larger sum depends on the initialization",
        "At 4,096 tokens, the Gaussian sum exceeds the softmax sum of one with both gains",
        "At eight tokens, a factor of 16 makes up for the small sum of the weights at gain 1",
        "At 4,096 bytes, where long reviews are cut",
        "and at the 1,024 pixels of a Pathfinder image",
        "whereas softmax rows sum to 1",
        "The script uses gain 1 by default; `--gain 0.577` is torch's gain",
    ),
)
def test_gaussian_rows_sum_to_a_sixteenth_with_gain_1_and_to_more_than_softmax_where_there_are_many_tokens(
    weight, wide, networks, gains, said
):
    d, n, _, gain, double, _, many, again, factor, same, review, pixels, one, start, torch = said
    assert np.allclose(weight, networks.mean_weight(gains, int(d))) and wide == weight[0]
    assert words.SIZES["d"] / words.SIZES["H"] == d and gains[0] == gain == same == start
    assert gains[1].round(3) == torch and double == 2 * n and review == many
    assert n == again and abs(1 / (n * wide) - factor) < 0.2
    assert n * wide < one < n * weight[1]
    assert (many * weight > one).all() and (pixels * weight).min() > one


@page.after(
    "solution-second",
    says=(
        "initializes twenty-four networks with each gain and computes, on 64 sentences of eight words",
        "within three standard errors",
    ),
)
def test_both_layers_of_networks_start_with_these_sums(measured, second, weight, data, said):
    networks, sentences, length, errors = said
    assert measured.shape[1] == networks and len(data.sentences[0].split()) == length
    assert f"tokens[:{sentences:.0f}]" in inspect.getsource(runs.row_sums)
    for sums, mean in ((measured[0], weight[0]), (measured[1], weight[1]), (second, weight[0])):
        assert abs(sums.mean() - length * mean) < errors * sums.std(ddof=1) / networks**0.5


@page.after(
    "say-table",
    says=(
        "| Words, 8, Adam, torch's gain",
        "`adam_percent_2` | **[ours]**, four seeds, best of four step sizes",
        "| Words, 8, Adam, gain 1",
        "`gain_percent_2` | **[ours]**, four seeds",
        "| Words, 8, Adam, embeddings 0.02",
        "`small_percent_2` | **[ours]**, four seeds",
        "| Words, 8, momentum, torch's gain",
        "`momentum_percent_2` | **[ours]**, four seeds, best of three step sizes",
        "| Words, 16, Adam, torch's gain",
        "`sixteen_percent_2` | **[ours]**, four seeds",
        "| Micro-Pathfinder, 9 patches",
        "`micro_percent_2` | **[ours]**, four seeds",
    ),
)
def test_the_rows_of_the_table_are_of_the_settings_that_they_name(few, pictures, said):
    def seeds(rows=None, **setting):
        return len(final_accuracy(SOFTMAX, rows, **setting))

    assert said == [
        *(ADAM["length"], seeds(**ADAM), len(runs.rates(**ADAM))),
        *(GAIN["length"], GAIN["gain"], seeds(**GAIN)),
        *(SMALL["length"], SMALL["embedding"], seeds(**SMALL)),
        *(MOMENTUM["length"], seeds(**MOMENTUM), len(runs.rates(**MOMENTUM))),
        *(SIXTEEN["length"], seeds(**SIXTEEN)),
        *(few.X.shape[1], seeds(pictures)),
    ]


@page.after("solution-best")
def test_the_last_accuracy_is_nearly_the_best_and_in_the_same_order():
    accuracies = [chosen(name, **ADAM)["test_accuracy"] for name in NAMES]
    last, best = (
        np.array([choose(one) for one in accuracies])
        for choose in (lambda one: one[:, -1].mean(), lambda one: one.max(axis=1).mean())
    )
    assert (best - last).max() < 0.005
    assert (np.argsort(last) == np.argsort(best)).all()
