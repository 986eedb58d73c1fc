"""The figures of Song et al. 2024, which we know from one account without numbers: two kernels on
two tasks."""

import numpy as np

from mhabook.c12_two_kernels import statements as two_kernels
from mhabook.c15_landscapes import statements as landscapes
from mhabook.c16_networks import statements as networks
from mhabook.reproduction.figures import Figure, Outcome
from mhabook.studies import Table

PAPER, TRANSFORMERS = "Song et al. 2024", networks.FURTHER
NETWORK = "Two layers, embedding 64, hidden width 128, two heads"
UNKNOWN = "step sizes, starts, steps, batches, every number"
SIZES = ('SIZES = {"d": 64, "H": 2, "layers": 2, "hidden": 128}',)
TOY = "tests/chapters/test_reproduction.py::test_scripts_run_at_toy_size"
FULL = "tests/chapters/test_large.py::test_the_networks_of_chapter_16_train_and_go_on"


def accuracy(table: Table, kernel: str) -> np.ndarray:
    """Test accuracies at the end, a number for each seed, at the step size that does best on
    validation samples."""
    rows = table.where(kernel=kernel, scale=1.0)
    tried = [rows.where(lr=lr) for lr in np.unique(rows["lr"])]
    best = max(tried, key=lambda runs: np.nan_to_num(runs["validation_accuracy"][:, -1]).mean())
    return best["test_accuracy"][:, -1].astype(float)


def compared(table: Table) -> tuple[float, float, int, int]:
    """Mean accuracies of softmax and Gaussian attention; in how many seeds of how many the Gaussian
    is ahead."""
    softmax, gaussian = (accuracy(table, kernel) for kernel in ("softmax", "gaussian"))
    return softmax.mean(), gaussian.mean(), int((gaussian > softmax).sum()), len(softmax)


def tried(rows: Table) -> str:
    """How many step sizes an accuracy is the best of."""
    number = len(np.unique(rows["lr"]))
    return f"best of {number} step sizes" if number > 1 else "one step size"


def words(table: Table) -> Outcome:
    """Text."""
    table = table.where(rule="adam", embedding=1.0, length=8)
    small, large = (table.where(gain=gain) for gain in np.unique(table["gain"]))
    found = {"starts as in torch": small, "√3 times larger": large}
    sentences = [
        f"{name}, softmax {s:.3f} and Gaussian {g:.3f}, ahead in {k} of {n} seeds, {tried(rows)}"
        for name, rows in found.items()
        for s, g, k, n in [compared(rows)]
    ]
    return Outcome(
        f"On generated sentences of eight words, mean accuracy under Adam: "
        f"{'; '.join(sentences)}. In "
        "these few runs the order turns with the start.",
        compared(small)[2] > compared(large)[2],
    )


def pictures(table: Table) -> Outcome:
    """Pathfinder."""
    softmax, gaussian, ahead, of = compared(table)
    normalized = accuracy(table, "normalized").mean()
    return Outcome(
        f"On micro-Pathfinder, nine patches, one step size: softmax {softmax:.3f}, Gaussian "
        f"{gaussian:.3f} in the mean, the Gaussian ahead in {ahead} of {of} seeds. With "
        f"normalized rows it has {normalized:.3f}.",
        ahead == of and softmax < normalized < gaussian,
    )


def lower(table: Table, kernel: str, other: str) -> int:
    """In how many slices one kernel has the lower maximum."""
    one, two = (table.where(kernel=name)["loss"].max(axis=(1, 2)) for name in (kernel, other))
    return int((one < two).sum())


def slices(table: Table) -> Outcome:
    """Landscapes."""
    tasks = list(dict.fromkeys(table["task"].tolist()))
    wins = [lower(table.where(task=task), "Gaussian", "softmax") for task in tasks]
    control = [lower(table.where(task=task), "Gaussian", "softmax, scaled") for task in tasks]
    scaled = [lower(table.where(task=task), "softmax, scaled", "softmax") for task in tasks]
    of = len(table.where(task=tasks[0], kernel="softmax"))
    return Outcome(
        "Where queries and keys move, the Gaussian slice has the lower maximum in "
        + ", ".join(f"{k} of {of} ({task})" for k, task in zip(wins, tasks, strict=True))
        + ". Against a softmax scaled down to the same row sums it has in "
        + ", ".join(map(str, control))
        + ". The scaled softmax has it against softmax in "
        + ", ".join(map(str, scaled))
        + ".",
        min(wins) < of / 2 < max(wins) and max(control) <= 1,
    )


def layer() -> Outcome:
    """The architecture."""
    return Outcome(
        "Chapter 12 defines the layer, and its gradient is tested against automatic "
        "differentiation.",
        True,
    )


FIGURES = (
    Figure(
        "song2024-architecture",
        PAPER,
        "1 of 4: one head (a drawing)",
        "Tokens, queries, keys and values, softmax, the output matrix, then MLP layers.",
        "second-hand",
        "not knowable",
        "the drawing",
        two_kernels.CHAPTER,
        "the-layer-of-this-part",
        layer,
        ("tests/package/test_layer.py::test_gradient_is_autograds",),
        setting="One attention head: inner products of queries and keys, softmax, values, an "
        "output matrix, then MLP layers [second-hand]",
        models=("mha.AttentionLayer",),
    ),
    Figure(
        "song2024-text",
        PAPER,
        "2 of 4: text, test accuracy and loss",
        "Both kernels on text classification, bands "
        "over runs: the Gaussian kernel has the higher accuracy and the lower loss, and is faster.",
        "second-hand",
        "not run",
        UNKNOWN,
        TRANSFORMERS,
        "seeds-step-sizes-controls",
        words,
        (TOY, FULL),
        "words.npz",
        {
            "rule": "adam",
            "length": 8,
            "embedding": 1.0,
            "kernel": ["softmax", "gaussian"],
            "scale": 1.0,
        },
        SIZES,
        "python book/results/large/kernels.py text --data FOLDER --kernel gaussian --out "
        "text-0.npz",
        setting=f"{NETWORK}; reviews of IMDb, by SGD [second-hand]",
        models=("mhabook.c08_digits.TextTransformer",),
    ),
    Figure(
        "song2024-pathfinder",
        PAPER,
        "3 of 4: test accuracy and loss again",
        "The same for a second task. The "
        "account repeats the words of the first figure; elsewhere the second task is Pathfinder.",
        "second-hand",
        "not run",
        UNKNOWN,
        TRANSFORMERS,
        "pathfinder",
        pictures,
        (TOY, FULL),
        "micro_pathfinder.npz",
        {"kernel": ["softmax", "gaussian", "normalized"], "scale": 1.0},
        SIZES,
        "python book/results/large/kernels.py pathfinder --kernel softmax --seed 1 --out "
        "pathfinder-1.npz",
        setting=f"{NETWORK}; Pathfinder, by Adam [second-hand]",
        models=("mhabook.c08_digits.PatchTransformer",),
    ),
    Figure(
        "song2024-landscapes",
        PAPER,
        "4 of 4: landscapes of both tasks",
        "Slices after two stages of training, in which only the kernel of the second differs: "
        "the Gaussian landscape is the more favorable one.",
        "second-hand",
        "in part",
        "which weights move, the directions and their scale, the kernel of the first stage, "
        "every number",
        landscapes.FURTHER,
        "two-stages-four-kernels",
        slices,
        (TOY,),
        "landscapes.npz",
        {"trains": "queries and keys", "scaled": "filter"},
        (
            "text.words(4000, seed=seed)",
            "mha.data.pathfinder(2000, seed=seed)",
            '"d": 32, "H": 2, "layers": 2, "hidden": 64',
            'STEPS = {"words": (150, 200), "words, longer": (800, 200), "micro-Pathfinder": (400, 300)}',
            "LR, PAIRS, RADIUS, RESOLUTION, SAMPLES = 0.002, 3, 1.0, 11, 64",
        ),
        setting="The networks of both tasks, trained in two stages [second-hand]",
        models=("mhabook.c08_digits.TextTransformer", "mhabook.c08_digits.PatchTransformer"),
    ),
)
