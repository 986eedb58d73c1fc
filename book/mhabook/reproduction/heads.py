"""The figures of Deora et al. 2023: heads against speed, planted heads, and heads on text."""

import numpy as np

from mhabook.c04_convergence import groups
from mhabook.c05_heads import collapse
from mhabook.c06_planted import statements as planted
from mhabook.c08_digits import random_start
from mhabook.ledger import ledger
from mhabook.reproduction.figures import Figure, Outcome, by_heads, ends
from mhabook.studies import Table

PAPER = "Deora et al. 2023"
SPEED, PLANTED = collapse.FURTHER, planted.FURTHER
CHAIN = (
    "lemma-descent",
    "lemma-one-point",
    "lemma-regret",
    "lemma-bounded-iterates",
    "thm-1-training",
)
MIXTURE = ("n=100, T=10, d=8, M=4, zeta=0.1, S=2.0, sigma=0.2", "fresh(n=300, seed=1)")
TEACHER = ("n=1000", "fresh(n=3000, seed=1)")
HEADS_TESTS = ("tests/chapters/test_heads_figures.py::test_stored_curves_are_made_by_the_script",)
PLANTED_TESTS = ("tests/chapters/test_reproduction.py::test_a_stored_trial_is_made_again",)
LAYER = "One attention layer of H heads, each with W and U [recalled]"
MIXED = f"{LAYER}. The tokenized mixture, 100 training and 300 test samples, 5 trials, from zero [second-hand]"
HIDDEN = f"{LAYER}. A planted head, 1,000 training and 3,000 test samples, 5 trials [second-hand]"
HEADS = "mha.MultiHeadAttention"
UNKNOWN = "T, d, M, ζ, S, σ, the list of H, the number of steps, every curve"


def chain() -> Outcome:
    """Figure 1."""
    return Outcome(
        f"Our own drawing of the chain leads to {len(CHAIN)} statements, each proved and checked.",
        all(ledger[id].check(0).holds for id in CHAIN),
    )


def minus(number: float) -> str:
    """Two digits, with the sign of a formula."""
    return f"{number:.2f}".replace("-", "−")


def constant_step(table: Table) -> Outcome:
    """Figure 2."""
    steps, heads = table["steps"][0], np.unique(table["H"])
    ordered = [
        (np.diff(by_heads(table, c)[..., steps >= 2], axis=0) > 0).all()
        for c in ("loss", "test_loss")
    ]
    late = steps >= steps[-1] / 2
    tails = [
        np.polyfit(
            np.log(steps[late]), np.log(np.median(table.where(H=H)["loss"], axis=0)[late]), 1
        )[0]
        for H in heads[[0, -1]]
    ]
    more = ends(table, "loss")[-1] / ends(table, "loss")[0]
    return Outcome(
        f"More heads are slower in each of the {len(np.unique(table['seed']))} trials, in "
        f"training and in test, from step 2 on. With {heads[-1]} heads the training loss ends "
        f"{more:.1f} times as high as with one. On logarithmic axes the loss ends with slope "
        f"{minus(tails[0])} for one head and {minus(tails[1])} for {heads[-1]}; 1/t has −1.",
        all(ordered) and more > 1 and max(abs(t + 1) for t in tails) < 0.3,
    )


def root_step(table: Table) -> Outcome:
    """Figure 3, left."""
    loss, test = (ends(table, curve) / ends(table, curve)[0] for curve in ("loss", "test_loss"))
    heads, best = np.unique(table["H"]), int(loss.argmin())
    return Outcome(
        f"Up to {heads[best]} heads more are a little faster, then it turns: the median training "
        f"loss ends at {loss[best]:.2f} times that of one head with {heads[best]}, at "
        f"{loss[-1]:.2f} times with {heads[-1]}, and the test loss there at {test[-1]:.2f} "
        f"times. With more relevant tokens the claim "
        "holds: see the section on other shares of relevant tokens on the same page.",
        0 < best < len(heads) - 1 and loss[1:].max() < 1,
    )


def adam(table: Table) -> Outcome:
    """Figure 3, right."""
    steps = table["steps"][0]
    falls = {
        c: np.all(np.diff(by_heads(table, c), axis=0) < 0, axis=0)  # (trials, steps)
        for c in ("loss", "test_loss")
    }
    always = {c: steps[falls[c].all(axis=0)] for c in falls}
    since = steps[np.flatnonzero(~falls["loss"].all(axis=0))[-1] + 1]
    loss, last = ends(table, "loss"), falls["test_loss"][:, -1]
    return Outcome(
        f"In training each doubling of heads is faster in every trial from step {since} on, and "
        f"{table['H'].max()} heads end {loss[0] / loss[-1]:.1f} times lower than one. The test "
        f"loss is in this order in every trial from step {always['test_loss'][0]} to "
        f"{always['test_loss'][-1]}, and at step {steps[-1]} in {last.sum()} trials of "
        f"{len(last)}: reproduced early, differs late.",
        since < 100 and not last.all(),
    )


def verdicts(table: Table, curve: str, steps: tuple[int, ...] = (30, 100, 300, 600)) -> list[bool]:
    """Whether the curve falls along H, strictly and in at least four of five trials, at each of the
    steps."""
    at = [list(table["steps"][0]).index(step) for step in steps]
    return (
        (np.diff(by_heads(table, curve)[..., at], axis=0) < 0).all(axis=0).sum(axis=0) >= 4
    ).tolist()


def sizes(table: Table) -> list[Table]:
    """The rows of each (T, d, start)."""
    settings = ((10, 5, 0.0), (5, 5, 0.0), (10, 10, 0.0), (10, 5, 0.3))
    return [table.where(T=T, d=d, start=start) for T, d, start in settings]


def planted_root(table: Table) -> Outcome:
    """Figure 4."""
    *zero, random = sizes(table)
    found = {name: ends(zero[0], f"align_{name}") for name in "WU"}
    mixed = {name: ends(random, f"align_{name}") for name in "WU"}
    norm_W, norm_U = (ends(zero[0], f"norm_{name}")[[0, -1]] for name in "WU")
    faster = np.array([[verdicts(rows, curve) for curve in ("loss", "test_loss")] for rows in zero])
    heads, least = ", ".join(map(str, np.unique(table["H"]))), min(map(min, found.values()))
    return Outcome(
        "With T = 10 and d = 5 the alignments of W and U end, in the median, above "
        f"{np.floor(100 * least) / 100:.2f} from zero for every H. From a random start that of W "
        f"ends at {', '.join(f'{a:.2f}' for a in mixed['W'])} for H = {heads}, and that of U at "
        f"{', '.join(f'{a:.2f}' for a in mixed['U'])}. From zero the average norm of W ends at "
        f"{norm_W[0]:.1f} with one head and {norm_W[1]:.1f} with {table['H'].max()}, that of U at "
        f"{norm_U[0]:.1f} and {norm_U[1]:.1f}; more heads are faster in {faster.sum()} of "
        f"{faster.size} comparisons: three sizes, training and test, four steps.",
        least > 0.9
        and (np.diff(mixed["W"]) < 0).all()
        and norm_W[1] < norm_W[0]
        and norm_U[1] > norm_U[0]
        and faster.sum() < faster.size / 2,
    )


def planted_momentum(table: Table) -> Outcome:
    """Figure 5, left."""
    *zero, random = [
        [verdicts(rows, curve) for curve in ("loss", "test_loss")] for rows in sizes(table)
    ]
    yes, of = np.sum(zero), np.size(zero)
    return Outcome(
        f"From zero, more heads are faster in {yes} of {of} comparisons: three sizes, training "
        f"and test, four steps. From a random start they are in training at {sum(random[0])} of "
        f"4 steps, in test at {sum(random[1])}.",
        yes == 0 and not any(random[1]),
    )


def planted_adam(table: Table) -> Outcome:
    """Figure 5, right."""
    train, test = (
        [sum(verdicts(rows, curve)) for rows in sizes(table)] for curve in ("loss", "test_loss")
    )
    return Outcome(
        "With at least four trials of five as the rule, more heads are faster in training at "
        f"{train[0]}, {train[1]} and {train[2]} of 4 steps from zero, for (T, d) = (10, 5), (5, "
        f"5) and (10, 10), and at {train[3]} from a random start; in test at {test[0]}, "
        f"{test[1]}, {test[2]} and {test[3]}. So on most of our data in training, and in test "
        "only at the first two sizes.",
        train[:2] == [4, 4] and train[2] < 4 and min(test[:2]) >= 3,
    )


def text(table: Table) -> Outcome:
    """In place of Figure 6: the book's own small Transformer."""
    mean = [table.where(H=H)["test_accuracy"][:, -1].mean() for H in np.unique(table["H"])]
    return Outcome(
        "The fine-tuning of an encoder on SST-2 was not run. In its place stands a small "
        "Transformer on "
        f"generated reviews: at the step size 0.01 its mean test accuracy is {mean[0]:.2f} with "
        f"one head, between {min(mean[1:]):.2f} and {max(mean[1:]):.2f} with more.",
        mean[0] < min(mean[1:]),
    )


FIGURES = (
    Figure(
        "deora2023-figure-1",
        PAPER,
        "Figure 1",
        "A schema of the training proof; its stations, as others tell: "
        "weak convexity, quasi-convexity, regret, bounded iterates.",
        "paper",
        "not knowable",
        "the drawing",
        groups.FURTHER,
        "prove-the-chain",
        chain,
        tuple(ledger[id].test for id in CHAIN),
        setting=LAYER,
        models=(HEADS,),
    ),
    Figure(
        "deora2023-figure-2",
        PAPER,
        "Figure 2",
        "Tokenized mixture, gradient descent with a constant step "
        "size: more heads are slower, and a circled part of the curves falls like 1/t.",
        "paper",
        "reproduced",
        UNKNOWN,
        SPEED,
        "figure-2-a-constant-step-size",
        constant_step,
        HEADS_TESTS,
        "heads.npz",
        {"rule": "gd"},
        (*MIXTURE, "mha.GradientDescent(1.0)"),
        setting=f"{MIXED}; a constant step size [paper], 1 [second-hand]",
        models=(HEADS,),
    ),
    Figure(
        "deora2023-figure-3-left",
        PAPER,
        "Figure 3, left",
        "The same with a step size that grows like √H: more "
        "heads are faster, in training and in test.",
        "paper",
        "in part",
        f"{UNKNOWN}, the base step size",
        SPEED,
        "figure-3-left-a-step-size-that-grows-like-sqrt-h",
        root_step,
        HEADS_TESTS,
        "heads.npz",
        {"rule": "gd-root"},
        (*MIXTURE, "mha.GradientDescent(0.3 * H ** 0.5)"),
        setting=f"{LAYER}. The tokenized mixture, step size growing like √H [paper]",
        models=(HEADS,),
    ),
    Figure(
        "deora2023-figure-3-right",
        PAPER,
        "Figure 3, right",
        "The same under Adam with a constant step size: more "
        "heads are faster, in training and in test.",
        "paper",
        "in part",
        f"{UNKNOWN}, the step size",
        SPEED,
        "figure-3-right-adam",
        adam,
        HEADS_TESTS,
        "heads.npz",
        {"rule": "adam"},
        (*MIXTURE, "mha.Adam(0.01)"),
        setting=f"{LAYER}. The tokenized mixture, Adam with a constant step size [paper]",
        models=(HEADS,),
    ),
    Figure(
        "deora2023-figure-4",
        PAPER,
        "Figure 4",
        "Planted head, step size growing like √H: convergence, average "
        "norms, and the alignments of W and U with the teacher.",
        "paper",
        "not knowable",
        "T, d, the teacher, the start, the step size, every curve",
        PLANTED,
        "figures-4-and-5-of-the-paper",
        planted_root,
        PLANTED_TESTS,
        "planted.npz",
        {"rule": "gd-root"},
        (*TEACHER, "mha.GradientDescent(0.3 * H ** 0.5)"),
        setting=f"{HIDDEN}; step size growing like √H [paper]",
        models=(HEADS,),
    ),
    Figure(
        "deora2023-figure-5-left",
        PAPER,
        "Figure 5, left",
        "Planted head, momentum with a step size that grows like √H: more heads are faster.",
        "paper",
        "differs",
        "T, d, the teacher, the start, step size, momentum",
        PLANTED,
        "figures-4-and-5-of-the-paper",
        planted_momentum,
        PLANTED_TESTS,
        "planted.npz",
        {"rule": "momentum-root"},
        (*TEACHER, "mha.Momentum(0.03 * H ** 0.5)"),
        setting=f"{HIDDEN}; momentum with a step size growing like √H [paper]",
        models=(HEADS,),
    ),
    Figure(
        "deora2023-figure-5-right",
        PAPER,
        "Figure 5, right",
        "Planted head, Adam with a constant step size: more heads are faster.",
        "paper",
        "in part",
        "T, d, the teacher, the start, the step size",
        PLANTED,
        "figures-4-and-5-of-the-paper",
        planted_adam,
        PLANTED_TESTS,
        "planted.npz",
        {"rule": "adam"},
        (*TEACHER, "mha.Adam(0.01)"),
        setting=f"{HIDDEN}; Adam with a constant step size [paper]",
        models=(HEADS,),
    ),
    Figure(
        "deora2023-figure-6",
        PAPER,
        "Figure 6",
        "SST-2 with RoBERTa models, the number of heads varied.",
        "paper",
        "not run",
        "how the heads were varied, every curve; the learning rate 5e-6 of AdamW is inferred",
        random_start.FURTHER,
        "what-we-know-of-figure-6",
        text,
        ("tests/chapters/test_large.py::test_an_encoder_is_fine_tuned_and_goes_on",),
        "text.npz",
        {"lr": 0.01},
        ("text.reviews(1000, seed)", "data.fresh(500)"),
        "python book/results/large/finetune_sst2.py --data FOLDER --model FOLDER --keep-heads 3 "
        "--out three.npz",
        setting="RoBERTa models on SST-2 [paper]",
        models=("mhabook.c08_digits.TextTransformer",),
    ),
)
