"""What the page multihead/06_further says, held against what its cells leave."""

import numpy as np
import pytest

import mhalib as mha
from mhabook.c06_planted.statements import alignments, cosine, seen_in_mean
from mhabook.c06_planted.tables import COUNTS, RULES, by_heads
from page import Page

page = Page("multihead/06_further")
STEPS = [30, 100, 300, 600]
"""The steps of the verdicts."""
UNQUOTED = {
    "held where the page comes to it": ("title",),
    "holds by the statement or the proof beside it, or another chapter's": (
        "own-seen: This need not",
        "own-seen: With these eight cosines",
        "prove-start",
        "prove-from-zero: They stay",
    ),
    "what the captions say, or what we know of them": (
        "check: The captions",
        "check: The caption",
        "check: We know",
        "claims: |",
        "claims: Random initialization: the medians fall",
    ),
    "what a cell, a figure or a stored script does": (
        "train-one-seen",
        "figure-4-text: The upper panels",
        "verdict-text: In the tables",
        "samples-axis: We trained",
        "samples-axis-seen: We did not try",
        "figure-5-text: Next",
    ),
    "an explanation, and no result": (
        "claims: With",
        "claims: Under Adam",
    ),
    "a question, or a guess": (
        "eight-seen: Has any",
        "samples-axis: What happens",
        "breaks-more: Other teachers may",
    ),
}


@page.after(
    "say-own",
    says=(
        "One head trains from zero for 600 steps with step size $0.3$, and eight heads train with "
        "$0.3\\sqrt8$, which scales as in the paper's Figure 4",
        "Now eight heads train, once from zero and once from a random initialization, whose entries are all "
        "normal with "
        "standard deviation $0.3$",
        "From zero, eight heads are as good as one",
        "From the random initialization, the training loss is the lowest of the three, but the test loss is "
        "more than three "
        "times that of one head",
        "Two heads, the second and the third, have come close to the planted head",
        "The other five have learned something else",
    ),
)
def test_eight_heads_from_a_random_start_fit_best_and_test_worst_of_three_runs(
    aligned, equal, mixed, fast, one, own, unequal, said
):
    steps, lr, eight, factor, _, heads, scale, same, runs, times, near, others = said
    assert one.steps[-1] == steps and fast.lr == pytest.approx(factor * eight**0.5) and lr == factor
    assert eight == heads == same == len(unequal.W) and len(aligned) == runs
    assert 0.9 * scale < np.std(unequal.W) < 1.1 * scale
    assert all(
        aligned[name][kind][-1] > 0.98
        for name in ("1 head, zero", "8 heads, zero")
        for kind in "WU"
    )
    assert equal.test_accuracy[-1] > one.test_accuracy[-1] - 0.01
    assert aligned["8 heads, random"]["W"].max() < 0.2
    assert mixed.loss[-1] < equal.loss[-1] < one.loss[-1]
    assert mixed.test_loss[-1] > times * one.test_loss[-1]
    assert np.flatnonzero(own[0] > 0.8).tolist() == [1, 2]
    assert np.flatnonzero(own[0] < -0.6).tolist() == np.flatnonzero(own[1] < -0.6).tolist() == [6]
    assert near + 1 + others == eight and (abs(own[0]) > 0.6).sum() == near + 1


@page.after(
    "say-own",
    says="Little more is possible before $W$ moves: only afterward can the rows of $U$ distinguish positions",
)
def test_the_first_step_aligns_the_decoder_alone_and_nearly_as_far_as_equal_rows_can_be(
    bound, data, one
):
    aligned = alignments(one, data.truth)
    assert aligned["W"][1] == 0
    assert 0.95 * bound < aligned["U"][1] <= bound


@page.after(
    "say-own",
    says="On five data sets with $n=1000$, $T=10$, and $d=5$, the row after the first step points nearly along "
    "$(I+W^*C)\\bar u^*$, with cosines above 0.94. On each, the row is less closely aligned with $\\bar u^*$ itself",
)
def test_the_first_row_is_nearer_to_the_mean_row_turned_than_to_the_mean_row(said):
    *sizes, least = said
    sets, n, T, d = (int(size) for size in sizes)
    for seed in range(sets):
        data = mha.data.planted(n=n, T=T, d=d, seed=seed)
        teacher, row = data.truth, (data.y[:, None] * data.X.mean(axis=1)).mean(axis=0)
        turned = seen_in_mean(teacher.W, teacher.U, data.fresh(20_000, seed=3).X).mean(axis=0)
        assert cosine(row, turned) > max(least, cosine(row, teacher.U.mean(axis=0)))


@page.after(
    "table",
    says=(
        "We trained models of three sizes $(T,d)$ from zero, and models of one size from a random "
        "initialization of scale "
        "$0.3$, with $H=1,4,16$. The step sizes are $0.3\\sqrt H$ for gradient descent, $0.03\\sqrt H$ for "
        "momentum, and "
        "$0.01$ for Adam"
    ),
)
def test_the_stored_runs_are_the_librarys(table, again, again_data, row, said):
    sizes, scale, *heads, of_gd, of_momentum, of_adam = said
    zero, random = (table.where(start=start) for start in (0.0, scale))
    assert [
        len({*zip(rows["T"].tolist(), rows["d"].tolist(), strict=True)}) for rows in (zero, random)
    ] == [sizes, 1]
    assert [*np.unique(table["H"])] == heads
    most = int(max(heads))
    rules = {
        "gd-root": mha.GradientDescent(of_gd * most**0.5),
        "momentum-root": mha.Momentum(of_momentum * most**0.5),
        "adam": mha.Adam(of_adam),
    }
    for name, rule in rules.items():
        stored = table.where(T=5, d=5, start=0.0, rule=name, seed=0, H=most)
        early = [k for k in stored["steps"][0] if k <= 30]
        start = mha.MultiHeadAttention.zeros(most, 5, 5)
        path = mha.train(start, again_data, rule, 30, record=early)
        np.testing.assert_allclose(path.loss, stored["loss"][0][: len(early)], rtol=1e-8)
    np.testing.assert_allclose(again.loss, row["loss"][0], rtol=1e-8)
    np.testing.assert_allclose(
        alignments(again, again_data.truth)["U"], row["align_U"][0], rtol=1e-7, atol=1e-12
    )


@page.after(
    "verdict-table",
    says=(
        "more heads are *faster* if the loss decreases from $H=1$ to 4 and from 4 to 16 in at least four of "
        "the five trials. "
        "They are *slower* if it increases both times in at least four trials",
        "from zero: yes at all four steps for $(T,d)=(10,5)$ and $(5,5)$; mixed for $(10,10)$ from step 100. Random "
        "initialization: yes | reproduced on most of our data",
        "from zero: yes up to step 300 for $(10,5)$, at all four steps for $(5,5)$; for $(10,10)$ slower at "
        "step 30, then "
        "mixed. Random initialization: only at step 30 | reproduced from zero at $d=5$, up to step 300",
        "more heads are faster in both | from zero: at no step. Random initialization: in training at steps "
        "30 and 100, in "
        "test at none",
    ),
)
def test_the_verdicts_on_the_captions_are_those_of_the_table_of_claims(table, verdicts, said):
    *heads, least, trials, again = said[:7]
    train, test, momentum = said[7:15], said[15:27], said[27:]
    assert sorted({*heads}) == [*by_heads(table)] and again == least
    assert len({*table["seed"]}) == trials
    # four trials of five are enough, and three are not
    losses = table.where(T=10, d=5, start=0.0, rule="adam")
    change = np.diff([rows["test_loss"] for rows in by_heads(losses).values()], axis=0)
    falls = (change < 0).all(axis=0).sum(axis=0)[[[*table["steps"][0]].index(k) for k in STEPS]]
    found = [word == "faster" for word in verdicts[10, 5, 0.0, "adam", "test_loss"]]
    assert found == (falls >= least).tolist()
    four, T, d, same, also, large, wide, mixed_from = train
    assert (len(STEPS), STEPS[1]) == (four, mixed_from)
    assert (T, d, same, also, large, wide) == (10, 5, 5, 5, 10, 10)
    last, *sizes, early, only, size, until = test
    assert sizes == [10, 5, 4, 5, 5, 10, 10]
    assert (STEPS[2], STEPS[0], STEPS[0], 5, STEPS[2]) == (last, early, only, size, until)
    assert momentum == STEPS[:2]

    def faster(T, d, start, rule, curve):
        return [word == "faster" for word in verdicts[T, d, start, rule, curve]]

    assert all(faster(T, 5, 0.0, "adam", "loss") == [True] * 4 for T in (5, 10))
    assert verdicts[10, 10, 0.0, "adam", "loss"] == ["faster"] + ["mixed"] * 3
    assert faster(10, 5, 0.0, "adam", "test_loss") == [True] * 3 + [False]
    assert faster(5, 5, 0.0, "adam", "test_loss") == [True] * 4
    assert verdicts[10, 10, 0.0, "adam", "test_loss"] == ["slower"] + ["mixed"] * 3
    assert not any(any(faster(*key)) for key in verdicts if key[2] == 0 and key[3] in RULES[:2])
    assert faster(10, 5, 0.3, "adam", "loss") == [True] * 4
    assert faster(10, 5, 0.3, "adam", "test_loss") == [True] + [False] * 3
    assert faster(10, 5, 0.3, "momentum-root", "loss") == [True] * 2 + [False] * 2
    assert not any(faster(10, 5, 0.3, "momentum-root", "test_loss"))


def full_size(table, start, curve):
    """H → trials: where a curve of gradient descent at T = 10, d = 5 ends."""
    return {
        H: rows[curve][:, -1]
        for H, rows in by_heads(table.where(T=10, d=5, start=start, rule="gd-root")).items()
    }


@page.after(
    "verdict-table",
    says=(
        "The next figure is Figure 4 on our data with $T=10$ and $d=5$: bands cover five trials",
        "one head finds it in three of five trials. In one of the other two, its $W$ ends closer to $-W^*$ "
        "than to $W^*$. "
        "Four and sixteen heads find the planted head in no trial, and sixteen are less aligned than four",
        "from zero: both alignments reach 0.9 or more in the median, for every $H$ (single trials at "
        "$(10,10)$ are lower)",
    ),
)
def test_every_number_of_heads_finds_the_planted_one_from_zero_and_only_one_head_from_a_random_start(
    table, said
):
    _, *size, trials, finds, of_trials, missed, four, sixteen, many, few, least, T, d = said
    assert (size, [T, d]) == ([10, 5], [10, 10]) and (four, sixteen) == (few, many) == (4, 16)
    assert finds + missed == trials
    lowest = table.where(T=T, d=d, start=0.0, rule="gd-root")
    assert min(lowest[f"align_{name}"][:, -1].min() for name in "WU") < least
    for rows in by_heads(table.where(start=0.0, rule="gd-root")).values():
        for T, d in {(5, 5), (10, 5), (10, 10)}:
            each = rows.where(T=T, d=d)
            assert min(np.median(each[f"align_{name}"][:, -1]) for name in "WU") > least
    one, four, sixteen = (np.sort(ends) for ends in full_size(table, 0.3, "align_W").values())
    assert len(one) == trials == of_trials and (one > 0.98).sum() == finds and one[0] < -0.4
    assert max(four) < 0.7
    assert np.median(sixteen) < np.median(four) and max(sixteen) < max(four)


def halves(marks):
    """The rows of the map: from random starts, from zero. In a row training and test alternate, for
    three rules."""
    return (
        [row for setting, row in marks.items() if setting[6] > 0],
        [row for setting, row in marks.items() if setting[6] == 0],
    )


def counts(rows, places):
    """How many verdicts are faster, slower, mixed."""
    letters = "".join(row[k] for row in rows for k in places)
    return [letters.count(letter) for letter in "fsm"]


@page.after(
    "map-table",
    says=(
        "Each group of three letters gives the verdicts at steps 30, 100, and 300: **f**aster, **s**lower",
        "**From random initializations**, training is faster with more heads in every row, under every "
        "optimizer, at every "
        "step. On test samples, most verdicts are *mixed*; the few *slower* ones are for data with wrong "
        "labels. **From "
        "zero**, most training verdicts under Adam are *faster* and none is *slower*, whereas most of those "
        "under gradient "
        "descent and momentum are *mixed*. On test samples, more heads are slower far more often than "
        "faster. In no row of the "
        "map does a test loss fall with $H$ at all three steps",
        "Where the head is not found, training only overfits, usually faster with more heads",
    ),
)
def test_the_two_halves_of_the_map(chart, marks, said):
    letters, *steps, all_steps = said
    assert steps == STEPS[:3] and letters == all_steps == chart["loss"].shape[1]
    at_random, from_zero = halves(marks)
    train, test = (0, 2, 4), (1, 3, 5)
    assert counts(at_random, train)[1:] == [0, 0]
    assert counts(at_random, test)[2] > sum(counts(at_random, test)) / 2
    assert {
        setting[5] for setting, row in marks.items() if setting[6] > 0 and counts([row], test)[1]
    } == {0.2}
    assert (
        counts(from_zero, [4])[0] > sum(counts(from_zero, [4])) / 2
        and counts(from_zero, [4])[1] == 0
    )
    assert counts(from_zero, train[:2])[2] > sum(counts(from_zero, train[:2])) / 2
    assert counts(from_zero, test)[1] > 10 * counts(from_zero, test)[0]
    assert not any(row[k] == "fff" for row in marks.values() for k in test)


def map_end(chart, curve, H, **changed):
    """The median after 300 steps of gradient descent, at the center of the map but for what is
    changed."""
    chosen = {
        "n": 200,
        "T": 10,
        "d": 5,
        "strength": 1.0,
        "margin": 0.0,
        "flip": 0.0,
        "rule": "gd-root",
        "lr": 1.0,
    }
    return np.median(chart.where(**chosen | changed, H=H)[curve].reshape(5, -1)[:, -1])


@page.after(
    "map-table",
    says="Most rows from zero have $n=200$, and few of their runs find the planted head",
)
def test_with_200_samples_few_trials_from_zero_find_the_head(chart, marks, said):
    (n,) = said
    from_zero = [setting[0] for setting in marks if setting[6] == 0]
    assert from_zero.count(n) > len(from_zero) / 2
    found = chart.where(n=n, start=0.0)["align_W"] > 0.9
    assert 0 < found.mean() < 0.25


@page.after(
    "samples-axis-table",
    says=(
        "The letters give the verdicts at steps 30, 100, 300, and 600",
        "Under Adam, more heads are faster at all four steps, in training *and* in test, at $(T,d)=(5,5)$ "
        "with 1,000 and 2,000 "
        "samples and at $(10,5)$ with 2,000. These sample sizes are 20 to 40 times the number of parameters "
        "of one head, "
        "$p=d^2+Td$ (50 and 75). With fewer samples, the test losses no longer have this order at every "
        "step. At $(10,10)$, "
        "where $p=200$, the "
        "test loss rises with $H$ at 250 samples; at 2,000, which is ten times $p$, its verdict is *mixed*",
        "Under gradient descent and momentum, no verdict at 1,000 or 2,000 samples is *faster*",
    ),
)
def test_along_n_adam_is_faster_everywhere_where_samples_are_plenty_and_the_root_never(
    by_n, marks, said
):
    assert said[:4] == STEPS and said[4] == len(STEPS)
    T, d, some, more, wide, same, most, least, times, small, large, *said = said[5:]
    assert [T * d + d * d, wide * same + same * same] == [small, large]
    assert [some / small, more / small] == [least, times] and least < most / large < times
    *size, p, fewest, many, ten, from_, to = said
    assert size == [10, 10] and p == 10 * 10 + 10 * 10 and many == ten * p
    assert (fewest, many, from_, to) == (COUNTS[0], COUNTS[3], COUNTS[2], COUNTS[3])
    everywhere = [
        (*key, n)
        for key, row in by_n.items()
        for n, pair in zip(COUNTS, row, strict=True)
        if pair == ["ffff"] * 2
    ]
    assert everywhere == [("adam", T, d, some), ("adam", T, d, more), ("adam", wide, same, most)]
    assert [by_n["adam", 10, 10][k] for k in (0, 3)] == [["ffff", "ssss"], ["ffff", "mmmm"]]
    rooted = {key: row for key, row in by_n.items() if key[0] != "adam"}
    assert not any("f" in word for row in rooted.values() for pair in row[2:] for word in pair)
    pairs = [row[2:4] for row in halves(marks)[1]]
    pairs += [pair for key, row in rooted.items() if key[0] == "momentum-root" for pair in row]
    assert not any(
        train == test == "f" for pair in pairs for train, test in zip(*pair, strict=True)
    )


@page.after(
    "live",
    says=(
        "with half of its samples and under momentum",
        "Which single control lowers the alignment most: eight heads, an eighth of the samples",
        "With eight heads, the random initialization removes nearly all of the alignment. Of the three "
        "single controls, an "
        "eighth of the samples lowers the alignment most, and test accuracy falls too. Eight heads from zero "
        "end a little "
        "lower than one, because at a constant $\\eta$, their $W$ is slower; with step size $0.1$ instead of "
        "$0.03$, a factor "
        "of roughly $\\sqrt8$, they end where one head does",
    ),
)
def test_sliders_a_random_start_hides_the_head_from_eight_heads_and_few_samples_from_one(
    data, few, live, said
):
    half, heads, part, same, _, same_part, again, lr, base = said
    assert len(few) == half * len(data) and (same, again, same_part) == (heads, heads, part)
    assert live.controls["lr"].value == base
    ends = {
        name: live.drawn(**values)
        for name, values in {
            "one": {},
            "random": {"scale": 0.3},
            "eight": {"H": int(heads)},
            "longer": {"H": int(heads), "lr": lr},
            "few": {"n": int(part * len(few))},
            "different": {"H": int(heads), "scale": 0.3},
        }.items()
    }
    found = {name: end["align_W"][-1] for name, end in ends.items()}
    assert abs(found["random"] - found["one"]) < 0.02 and abs(found["longer"] - found["one"]) < 0.02
    assert found["different"] < 0.2 < found["few"] < found["eight"] < found["one"]
    assert ends["few"]["test_accuracy"][-1] < ends["one"]["test_accuracy"][-1]


@page.after(
    "samples-axis-table",
    says=(
        "At $T=10$, $d=5$, and $n=1000$, with the step sizes of the full-size runs, gradient descent from "
        "zero with one head "
        "has found the teacher after 300 steps in the median trial. On the map, it comes near the teacher "
        "with $n=400$, but not "
        "with $n=200$",
        "Many heads are not always worse.** When data are too scarce to find the head, many random heads "
        "predict *better* than "
        "one: with $n=200$, the median test accuracy after 300 steps of gradient descent is higher with "
        "sixteen heads than with "
        "one. With $n=1000$ and 600 steps, it is lower with sixteen heads. But in the two trials with "
        "$n=1000$ in which one "
        "head did not find the teacher, sixteen predict better",
    ),
)
def test_one_head_needs_samples_and_more_random_heads_help_where_one_would_not_find_the_teacher(
    chart, steps, table, said
):
    T, d, n, at, enough, few, *said = said
    scarce, after, many, plenty, last, same, trials, again, sixteen = said
    assert [T, d, few] == [10, 5, scarce] and n == plenty == again and at == after
    assert last == steps[-1] and many == same == sixteen == 16
    full = by_heads(table.where(T=10, d=5, start=0.0, rule="gd-root"))[1]["align_W"][
        :, list(steps).index(at)
    ]
    assert np.median(full) > 0.98 > map_end(chart, "align_W", 1, start=0.0, n=enough) > 0.9
    assert map_end(chart, "align_W", 1, start=0.0) < 0
    assert map_end(chart, "test_accuracy", 16, start=0.3) > map_end(
        chart, "test_accuracy", 1, start=0.3
    )
    ends, missed = full_size(table, 0.3, "test_accuracy"), full_size(table, 0.3, "align_W")[1] < 0.9
    assert np.median(ends[16]) < np.median(ends[4]) < np.median(ends[1])
    assert missed.sum() == trials and (ends[16][missed] > ends[1][missed]).all()


@page.after(
    "samples-axis-table",
    says=(
        "so with $d=5$, its scores have standard deviation 5",
        "the rows of the map with strength 0.2 and 3",
        "the verdicts concern only three numbers of heads, five trials, and at most 600 steps",
    ),
)
def test_the_teacher_is_one_kind(chart, table, said):
    d, deviation, weak, strong, heads, trials, last = said
    assert {weak, strong} <= {*chart["strength"].tolist()}
    assert (len({*table["H"]}), len({*table["seed"]})) == (heads, trials)
    assert table["steps"][0][-1] == last
    # a query and a key times d² entries of variance 1 each
    assert (d * d) ** 0.5 == deviation
