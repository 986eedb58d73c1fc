"""Chapter 6: what the alignment with a planted head measures, and how large it can be at the start."""

import numpy as np

from mhalib._array import namespace, require, to_numpy
from mhalib.attention import softmax
from mhalib.models import MultiHeadAttention
from mhalib.theory.ledger import Check, statement

CHAPTER = "multihead/06_a_planted_head"


def cosine(a, b):
    """⟨a, b⟩/(‖a‖‖b‖) of two arrays of one shape; 0 if one of them is zero, as W is at θ = 0.

    Raises
    ------
    TypeError, ValueError
        if they are no arrays of one library, or differ in shape.
    """
    namespace(a=a, b=b)
    if a.shape != b.shape:
        raise ValueError(f"a, b: expected arrays of one shape, got {tuple(a.shape)} and {tuple(b.shape)}")
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float((a * b).sum()) / size if size else 0.0


def alignment(model, truth):
    """The cosine of (W_1, …, W_H) with (W*, …, W*), and the same for U: {"W": …, "U": …}.

    It is computed by numpy, whatever the model's arrays are: data in torch keep the teacher that they were drawn from.

    Raises
    ------
    TypeError, ValueError
        if the teacher's W* (d, d) and U* (T, d) are not those of one head with the model's T and d, and finite.

    Source: Deora et al. 2023, caption of Figure 4 [paper].
    """
    pairs = {name: (getattr(model, name), getattr(truth, name)) for name in "WU"}
    return {name: cosine(to_numpy(heads), _repeated(f"truth.{name}", one, heads))
            for name, (heads, one) in pairs.items()}


def _repeated(name, one, heads):
    """An array (p, q) of one head, once for each of ``heads`` (H, p, q)."""
    require(name, one, heads.shape[1:])
    return np.broadcast_to(to_numpy(one), heads.shape)


def alignments(path, truth):
    """``alignment`` at every recorded step of a ``Path``: {"W": array, "U": array}."""
    rows = [alignment(model, truth) for model in path.models]
    return {name: np.array([row[name] for row in rows]) for name in "WU"}


def _heads(seed):
    rng = np.random.default_rng([seed, 61])
    H, p, q = rng.integers(1, 6, size=3)
    return {"heads": 10.0 ** rng.uniform(-2, 2, (H, 1, 1)) * rng.standard_normal((H, p, q)),
            "teacher": rng.standard_normal((p, q))}


def _one_aligned(H=4):
    teacher = np.eye(3)
    return {"heads": np.stack([teacher, *np.zeros((H - 1, 3, 3))]), "teacher": teacher}


@statement(id="prop-alignment-heads", title="Alignment rewards agreement of the heads", mark="ours",
           source="this book", chapter=CHAPTER, assumptions="the teacher is repeated once for each head", random=_heads,
           extremal=(_one_aligned, lambda: {"heads": np.stack([np.eye(3), np.eye(3)]), "teacher": np.eye(3)}),
           broken=lambda seed: _one_aligned(2 + seed) | {"repeated": 1},
           breaks="the teacher is repeated once for each head: it stands in the first place only")
def alignment_of_heads(heads, teacher, repeated=None):
    """|cos| of the concatenated heads with the repeated teacher ≤ √((1/H) Σ_h cos_h²), cos_h that of head h alone.

    heads (H, p, q), teacher (p, q). Equality exactly if cos_h = λ ‖heads_h‖ for one number λ and all h: one
    aligned head beside H − 1 that are zero has 1/√H.

    Raises
    ------
    TypeError, ValueError
        if the shapes are others, an entry is not finite, or the two are not of one library.

    Source: this book.
    """
    require("heads", heads, ("H", "p", "q"))
    namespace(heads=heads, teacher=teacher)
    target = np.array(_repeated("teacher", teacher, heads))
    target[len(heads) if repeated is None else repeated:] = 0
    heads, teacher = to_numpy(heads), to_numpy(teacher)
    own = np.array([cosine(head, teacher) for head in heads])
    return Check(abs(cosine(heads, target)), float(np.sqrt((own ** 2).mean())), "|cos| of all heads ≤ √(mean_h cos_h²)")


def _rows(seed):
    rng = np.random.default_rng([seed, 62])
    T, d = rng.integers(2, 7, size=2)
    return {"U": np.tile(rng.standard_normal(d), (T, 1)), "teacher": rng.standard_normal((T, d)) + rng.integers(2)}


def _mean_rows(seed=0):
    teacher = _rows(seed)["teacher"]
    return {"U": np.tile(teacher.mean(axis=0), (len(teacher), 1)), "teacher": teacher}


@statement(id="prop-equal-rows", title="Equal rows align with the mean row at best", mark="ours", source="this book",
           chapter=CHAPTER, assumptions="all rows of U are equal", random=_rows, extremal=(_mean_rows,),
           broken=lambda seed: (instance := _rows(seed)) | {"U": instance["teacher"]},
           breaks="all rows of U are equal")
def equal_rows(U, teacher):
    """|cos(U, U*)| ≤ √T ‖ū*‖/‖U*‖ for U = 1 vᵀ, ū* the mean row of U* (T, d); equality exactly for v ∥ ū*.

    For a teacher with independent normal entries the square of the bound is 1/T on average.  Source: this book.
    """
    bound = len(teacher) ** 0.5 * np.linalg.norm(teacher.mean(axis=0)) / np.linalg.norm(teacher)
    return Check(abs(cosine(U, teacher)), float(bound), "|cos(1vᵀ, U*)| ≤ √T ‖ū*‖/‖U*‖")


def _starts(seed, H=None, repeat=1):
    rng = np.random.default_rng([seed, 63])
    H, p = rng.integers(1, 6) if H is None else H, rng.integers(4, 30)
    starts = rng.standard_normal((DRAWS, H // repeat, p))
    return {"starts": np.tile(starts, (1, repeat, 1)), "teacher": rng.standard_normal(p)}


DRAWS = 300
"""How many starts the check of the mean square takes."""


@statement(id="prop-alignment-start", title="A random start is hardly aligned", mark="ours", source="this book",
           chapter=CHAPTER, assumptions="all entries of all heads are independent N(0, s²)", random=_starts,
           broken=lambda seed: _starts(seed, H=16, repeat=16),
           breaks="all entries of all heads are independent: the heads are copies of one")
def alignment_at_start(starts, teacher):
    """E cos² = 1/m for m = Hp parameters in H heads, whatever the teacher; Var cos² = 2(m − 1)/(m²(m + 2)).

    lhs is the distance of the mean of cos² over the draws ``starts`` (draws, H, p) from 1/m in standard errors, rhs 5.
    Source: this book.
    """
    draws, H, p = starts.shape
    m = H * p
    target = np.tile(teacher, (H, 1))
    squared = np.array([cosine(start, target) ** 2 for start in starts])
    error = (2 * (m - 1) / (m * m * (m + 2)) / draws) ** 0.5
    return Check(float(abs(squared.mean() - 1 / m) / error), 5.0, "E cos² = 1/(Hp), in standard errors")


def _split(seed, other_W=0.0):
    rng = np.random.default_rng([seed, 64])
    T, d = rng.integers(2, 6, size=2)
    teacher = MultiHeadAttention.random(1, T, d, seed=seed)
    V = 10.0 ** rng.uniform(-1, 1) * rng.standard_normal((T, d))
    W = teacher.W + other_W * rng.standard_normal((2, d, d))
    return {"teacher": teacher, "V": V, "W": W, "X": rng.standard_normal((5, T, d))}


@statement(id="prop-split-decoders", title="The same function, differently aligned", mark="ours", source="this book",
           chapter=CHAPTER, assumptions="both heads have the teacher's W", random=_split,
           broken=lambda seed: _split(seed, other_W=1.0), breaks="both heads have the teacher's W")
def split_decoders(teacher, V, W, X):
    """Heads (W*, U* + V) and (W*, U* − V) have √2 times the teacher's logits, and alignment 1/√(1 + ‖V‖²/‖U*‖²) in U.

    lhs is the larger of the two errors, that of the logits relative to √T R (‖U*‖ + ‖V‖), rhs 1e-12.
    Source: this book.
    """
    model = MultiHeadAttention(W, np.concatenate([teacher.U + V, teacher.U - V]))
    U, size = np.linalg.norm(teacher.U), np.linalg.norm(V)
    scale = X.shape[1] ** 0.5 * np.linalg.norm(X, axis=2).max() * (U + size)
    logits = abs(model(X) - 2 ** 0.5 * teacher(X)).max() / scale
    aligned = cosine(model.U, np.broadcast_to(teacher.U, model.U.shape))
    return Check(float(max(logits, abs(aligned - (1 + (size / U) ** 2) ** -0.5))), 1e-12,
                 "Φ = √2 Φ*, cos(U, U*) = 1/√(1 + ‖V‖²/‖U*‖²)")


SAMPLES = 2000
"""How many samples the check of a mean takes."""


def seen_in_mean(W, U, X):
    """(1/T) Σ_t (I + W Cov_{s_t}(x)) u_t for each sample, (n, d): the derivative of Φ along a common shift, over T."""
    A = softmax(X @ W @ X.mT)
    read = A * (U @ X.mT - (A @ X * U).sum(axis=2, keepdims=True))  # Cov_{s_t}(x) u_t = Σ_j x_j read_tj
    return U.mean(axis=0) + (X.mT @ read.sum(axis=1)[..., None])[..., 0] @ W.T / len(U)


def _teachers(seed, length=1.0):
    rng = np.random.default_rng([seed, 65])
    T, d = rng.integers(2, 6, size=2)
    return {"W": 10.0 ** rng.uniform(-2, 0.5) * rng.standard_normal((d, d)), "U": 1 + rng.standard_normal((T, d)),
            "X": length * rng.standard_normal((SAMPLES, T, d))}


@statement(id="prop-first-look", title="What the mean token says about the teacher", mark="ours", source="this book",
           chapter=CHAPTER, assumptions="tokens are independent N(0, I)", random=_teachers,
           broken=lambda seed: _teachers(seed, length=2.0), breaks="tokens are N(0, I): they are twice as long")
def first_look(W, U, X):
    """E[Φ*(X) x̄] = (I + W* C) ū*, C = E Cov_{s_t}(x), ū* the mean row of U* (T, d); W* (d, d), X (n, T, d).

    lhs is the largest distance of the two sample means in standard errors, rhs 5.  Source: this book.
    """
    logits = (softmax(X @ W @ X.mT) @ X * U).sum(axis=(1, 2))
    away = logits[:, None] * X.mean(axis=1) - seen_in_mean(W, U, X)
    error = away.std(axis=0) / len(X) ** 0.5
    return Check(float((abs(away.mean(axis=0)) / error).max()), 5.0, "E[Φ* x̄] = (I + W*C) ū*, in standard errors")
