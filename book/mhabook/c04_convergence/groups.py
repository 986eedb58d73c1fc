"""Groups of identical heads: any number of heads in F groups is F heads with other decoders and
other step sizes."""

from collections.abc import Sequence

import numpy as np

from mhabook.c01_model.instances import token_radius
from mhabook.ledger import Check, Checks, statement
from mhalib.data import Dataset, from_arrays
from mhalib.models import HeadGroups, MultiHeadAttention

CHAPTER = "multihead/04_why_training_cannot_get_lost"
FURTHER = "multihead/04_further"


def _groups(seed, largest=5):
    rng = np.random.default_rng([seed, 41])
    n, T, d = rng.integers(2, 5, size=3)
    X = rng.standard_normal((n, T, d))
    copies = tuple(rng.integers(1, largest, size=rng.integers(1, 4)).tolist())
    start = MultiHeadAttention.random(len(copies), T, d, scale=rng.choice([0.1, 1.0]), seed=seed)
    data = from_arrays(X / token_radius(X), np.where(rng.random(n) < 0.5, -1.0, 1.0))
    return {
        "heads": HeadGroups(start.W, start.U, copies).expand(),
        "copies": copies,
        "data": data,
        "lr": float(rng.uniform(0.1, 1.0)),
    }


def _unequal(seed):
    instance = _groups(seed)
    H = sum(instance["copies"]) + 1
    copies = (instance["copies"][0] + 1, *instance["copies"][1:])
    return instance | {
        "heads": MultiHeadAttention.random(H, *instance["heads"].sizes[1:], seed=seed),
        "copies": copies,
    }


def _equal_in_groups(heads, copies, **_):
    first = np.repeat(np.cumsum((0, *copies))[:-1], copies)
    return {
        "the heads of a group start equal": not (
            heads - MultiHeadAttention(heads.W[first], heads.U[first])
        ).norm()
    }


@statement(
    id="prop-groups",
    title="Groups of identical heads",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions="the heads of a group start equal",
    random=_groups,
    broken=_unequal,
    breaks="the heads of a group start equal",
    hypotheses=_equal_in_groups,
)
def groups(
    heads: MultiHeadAttention, copies: Sequence[int], data: Dataset, lr: float, steps: int = 20
) -> Checks:
    """H heads in groups of N_f equal ones are F heads (W_f, √(F/H) N_f U_f) with step sizes η/N_f
    and η F N_f/H.

    ``heads`` holds all H heads, group after group. lhs is the largest distance of a head from its
    group's after ``steps`` steps, relative to the norm of the H-head model, and then that of their
    logits, rhs 1e-11.

    Source: this book.
    """
    first, H, F = np.cumsum((0, *copies))[:-1], sum(copies), len(copies)
    N = np.array(copies, dtype=float)[:, None, None]
    few = MultiHeadAttention(heads.W[first], (F / H) ** 0.5 * N * heads.U[first])
    for _ in range(steps):
        heads = heads - lr * heads.loss_and_grad(data.X, data.y)[1]
        _, grad = few.loss_and_grad(data.X, data.y)
        few = MultiHeadAttention(few.W - lr / N * grad.W, few.U - lr * F * N / H * grad.U)
    told = HeadGroups(few.W, few.U / ((F / H) ** 0.5 * N), tuple(copies)).expand()
    logits = heads(data.X)
    return (
        Check(
            (heads - told).norm() / heads.norm(), 1e-11, "H heads in F groups = F heads, rescaled"
        ),
        Check(
            float(abs(few(data.X) - logits).max() / abs(logits).max()),
            1e-11,
            "Φ of H heads = Φ of F heads",
        ),
    )
