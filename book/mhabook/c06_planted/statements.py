"""Chapter 6: what the alignment with a planted head measures, and how large it can be at the
start."""

from functools import cache
from typing import Any

import numpy as np

from livegrad.arrays import Array, as_number, namespace, require, to_numpy
from livegrad.training import Path
from mhabook.ledger import TINY, Check, Checks, statement
from mhalib.attention import softmax
from mhalib.data.planted import Planted
from mhalib.models import MultiHeadAttention

CHAPTER, FURTHER = "multihead/06_a_planted_head", "multihead/06_further"
REPEATED, EQUAL = "the teacher is repeated once for each head", "all rows of U are equal"
INDEPENDENT = "all entries of all heads are independent N(0, s²)"
SPLIT = "both heads have the teacher's W"
NORMAL = "tokens are independent N(0, I)"
# How many starts or teachers a check of a mean takes, and how many standard errors it allows: of a
# million sound ones about one fails.
DRAWS, ERRORS = 4000, 5.0


def cosine(a: Array, b: Array) -> float:
    """⟨a, b⟩/(‖a‖‖b‖) of two arrays of one shape; 0 if one of them is zero, as W is at θ = 0.

    Raises TypeError, ValueError if they are no arrays of one library, or differ in shape.
    """
    namespace(a=a, b=b)
    if a.shape != b.shape:
        raise ValueError(
            f"a, b: expected arrays of one shape, got {tuple(a.shape)} and {tuple(b.shape)}"
        )
    a, b = to_numpy(a), to_numpy(b)
    size = np.linalg.norm(a) * np.linalg.norm(b)
    # No condition on ``size``: the compiler of the live figures records it without a value.
    return as_number((a * b).sum() / np.where(size == 0, 1.0, size))


def alignment(model: MultiHeadAttention, truth: Planted) -> dict[str, float]:
    """The cosine of (W_1, …, W_H) with (W*, …, W*), and the same for U: {"W": …, "U": …}.

    It is computed by numpy, whatever the model's arrays are: data in torch keep the teacher that
    they were drawn from.

    Raises TypeError, ValueError if the teacher's W* (d, d) and U* (T, d) are not those of one head
    with the model's T and d, and finite. Source: Deora et al. 2023, caption of Figure 4 [paper].
    """
    pairs = {name: (getattr(model, name), getattr(truth, name)) for name in "WU"}
    return {
        name: cosine(to_numpy(heads), _repeated(f"truth.{name}", one, heads))
        for name, (heads, one) in pairs.items()
    }


def _repeated(name, one, heads):
    """An array (p, q) of one head, once for each of ``heads`` (H, p, q)."""
    require(name, one, heads.shape[1:])
    return np.broadcast_to(to_numpy(one), heads.shape)


def alignments(path: Path, truth: Planted) -> dict[str, np.ndarray]:
    """``alignment`` at every recorded step of a ``Path``: {"W": array, "U": array}."""
    rows = [alignment(model, truth) for model in path.models]
    return {name: np.array([row[name] for row in rows]) for name in "WU"}


def _heads(seed):
    rng = np.random.default_rng([seed, 61])
    H, p, q = rng.integers(1, 6, size=3)
    return {
        "heads": 10.0 ** rng.uniform(-2, 2, (H, 1, 1)) * rng.standard_normal((H, p, q)),
        "teacher": rng.standard_normal((p, q)),
    }


def _one_aligned(H=4):
    # One head that is the teacher beside zeros: cos² and the mean of cos_h² are both 1/H.
    teacher = np.eye(3)
    return {"heads": np.stack([teacher, *np.zeros((H - 1, 3, 3))]), "teacher": teacher}


def _agreement(heads, target, teacher):
    """The checks of ``alignment_of_heads``, with a target (H, p, q) that need not be the repeated
    teacher."""
    heads, teacher = to_numpy(heads), to_numpy(teacher)
    own = np.array([cosine(head, teacher) for head in heads])
    size = np.linalg.norm(heads, axis=(1, 2))
    unlike = (np.triu(np.outer(size, own) - np.outer(own, size)) ** 2).sum() / (
        len(heads) * (size @ size)
    )
    cos, mean = cosine(heads, target), float((own**2).mean())
    return (
        Check(abs(cos), mean**0.5, "|cos| of all heads ≤ √(mean_h cos_h²)"),
        Check(abs(mean - cos**2 - unlike), 1e-12, "equality exactly if cos_h = λ ‖W_h‖"),
    )


@statement(
    id="prop-alignment-heads",
    title="Alignment rewards agreement of the heads",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions=f"W* ≠ 0; some W_h ≠ 0; {REPEATED}",
    by_proof="the same for U",
    random=_heads,
    extremal=(
        _one_aligned,
        lambda: {"heads": np.stack([np.eye(3), np.eye(3)]), "teacher": np.eye(3)},
    ),
    # Against a target in the first place only, the same heads have |cos| = 1, above √(1/H).
    broken=lambda seed: _one_aligned(2 + seed),
    breaks=f"{REPEATED}: it stands in the first place only",
    false_claim=lambda heads, teacher: _agreement(
        heads, np.stack([teacher, *0 * heads[1:]]), teacher
    ),
    hypotheses=lambda heads, teacher: {"W* ≠ 0": teacher.any(), "some W_h ≠ 0": heads.any()},
    refused=(lambda: {"heads": np.zeros((2, 3, 3)), "teacher": np.eye(3)},),
)
def alignment_of_heads(heads: Array, teacher: Array) -> Checks:
    """|cos| of the concatenated heads with the repeated teacher ≤ √((1/H) Σ_h cos_h²), cos_h that
    of head h alone.

    heads (H, p, q), teacher (p, q). Equality exactly if cos_h = λ ‖heads_h‖ for one number λ and
    all h, because what is missing in the squares is Σ_{h<k} (‖heads_h‖ cos_k − ‖heads_k‖ cos_h)²/(H
    Σ_h ‖heads_h‖²): the second check, whose lhs is the error and rhs 1e-12.

    Raises TypeError, ValueError if the shapes are others, an entry is not finite, or the two are
    not of one library.

    Source: this book.
    """
    require("heads", heads, ("H", "p", "q"))
    namespace(heads=heads, teacher=teacher)
    return _agreement(heads, _repeated("teacher", teacher, heads), teacher)


def _rows(seed):
    rng = np.random.default_rng([seed, 62])
    T, d = rng.integers(2, 7, size=2)
    instance = {
        "U": np.tile(rng.standard_normal(d), (T, 1)),
        "teacher": rng.standard_normal((T, d)) + rng.integers(2),
    }
    return instance | {"teachers": rng.standard_normal((DRAWS, T, d))}


def _mean_rows(seed=0):
    instance = _rows(seed)
    teacher = instance["teacher"]
    return instance | {"U": np.tile(teacher.mean(axis=0), (len(teacher), 1))}


def _many_teachers():
    teachers = np.random.default_rng(0).standard_normal((150_000, 2, 2))
    return _rows(0) | {"teachers": teachers}


def equal_rows_bound(teacher: Array) -> Any:
    """√T ‖ū*‖/‖U*‖ with ū* the mean row of U* (..., T, d), for each of the teachers."""
    rows = np.linalg.norm(teacher.mean(axis=-2), axis=-1)
    return teacher.shape[-2] ** 0.5 * rows / np.linalg.norm(teacher, axis=(-2, -1))


@statement(
    id="prop-equal-rows",
    title="Equal rows align with the mean row at best",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions=f"{EQUAL}; U ≠ 0; U* ≠ 0",
    random=_rows,
    # In the second, five standard errors of the variance are 1.4 % of it.
    extremal=(_mean_rows, _many_teachers),
    broken=lambda seed: (instance := _rows(seed)) | {"U": instance["teacher"]},
    breaks=EQUAL,
    hypotheses=lambda U, teacher, **_: {
        EQUAL: (U[0] == U).all(),
        "U ≠ 0": U.any(),
        "U* ≠ 0": teacher.any(),
    },
    refused=(lambda: (rows := _rows(0)) | {"teacher": 0 * rows["teacher"]},),
)
def equal_rows(U: Array, teacher: Array, teachers: Array) -> Checks:
    """|cos(U, U*)| ≤ √T ‖ū*‖/‖U*‖ for U = 1 vᵀ, ū* the mean row of U* (T, d); equality exactly for
    v ∥ ū* or ū* = 0.

    The second check is |cos(U, U*)| = √T ‖ū*‖/‖U*‖ · |cos(v, ū*)|, lhs the error and rhs 1e-12. The
    others: for ``teachers`` (draws, T, d) with independent normal entries the square of the bound
    has mean 1/T and variance 2(T − 1)/(T²(Td + 2)); lhs is the distance of what they have from it
    in standard errors, and rhs 5. Source: this book.
    """
    (draws, T, d) = teachers.shape
    found = abs(cosine(U, teacher))
    bound = float(equal_rows_bound(teacher))
    turned = bound * abs(cosine(U[0], teacher.mean(axis=0)))
    away = equal_rows_bound(teachers) ** 2 - 1 / T
    variance = 2 * (T - 1) / (T * T * (T * d + 2))
    return (
        Check(found, bound, "|cos(1vᵀ, U*)| ≤ √T ‖ū*‖/‖U*‖"),
        Check(abs(found - turned), 1e-12, "equality exactly for v ∥ ū* or ū* = 0"),
        Check(
            # One row is its mean: the square is 1, up to rounding.
            float(abs(away.mean())) / max((variance / draws) ** 0.5, 1e-12),
            ERRORS,
            "the square of the bound is 1/T on average, in standard errors",
        ),
        Check(
            float(abs((away**2).mean() - variance))
            / max(float((away**2).std()) / draws**0.5, 1e-12),
            ERRORS,
            "its variance is 2(T − 1)/(T²(Td + 2)), in standard errors",
        ),
    )


def _starts(seed, H=None, repeat=1):
    rng = np.random.default_rng([seed, 63])
    H, p = rng.integers(1, 6) if H is None else H, rng.integers(4, 30)
    starts = rng.standard_normal((DRAWS, H // repeat, p))
    return {"starts": np.tile(starts, (1, repeat, 1)), "teacher": rng.standard_normal(p)}


def _many_starts():
    starts = np.random.default_rng(0).standard_normal((150_000, 2, 2))
    return {"starts": starts, "teacher": np.array([1.0, -2.0])}


# The 200 nodes are eigenvalues of a matrix, and the same for every m.
_leggauss = cache(np.polynomial.legendre.leggauss)


def direction_moment(m: int, power: int) -> float:
    """E c^power for a coordinate c = sin φ of a uniform direction in ℝᵐ, m ≥ 2: the density of φ is
    ∝ cos^{m−2} φ."""
    # In φ the integrand is smooth for every m ≥ 2; in c the density (1 − c²)^{(m−3)/2} has poles at
    # ±1 for m = 2. The quotient spares its constant.
    nodes, weights = _leggauss(200)
    angles = np.pi / 2 * nodes
    density = weights * np.cos(angles) ** (m - 2)
    return float((density * np.sin(angles) ** power).sum() / density.sum())


@statement(
    id="prop-alignment-start",
    title="A random initialization is hardly aligned",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions=f"{INDEPENDENT}; Hp ≥ 2; the teacher ≠ 0",
    random=_starts,
    # In four dimensions every angle counts, and five standard errors are 1.3 % of the mean.
    extremal=(_many_starts,),
    slack=(None,),
    broken=lambda seed: _starts(seed, H=16, repeat=16),
    breaks="all entries of all heads are independent: the heads are copies of one",
    hypotheses=lambda starts, teacher: {
        INDEPENDENT: starts.shape[1] == 1 or (starts[:, 0] != starts[:, 1]).any(),
        "the teacher ≠ 0": teacher.any(),
        "Hp ≥ 2": starts[0].size >= 2,
    },
    refused=(
        lambda: _starts(0) | {"teacher": np.zeros(19)},
        lambda: {"starts": np.ones((4000, 1, 1)), "teacher": np.ones(1)},
    ),
)
def alignment_at_start(starts: Array, teacher: Array) -> Checks:
    """E cos = 0, E cos² = 1/m, Var cos² = 2(m − 1)/(m²(m + 2)) for m = Hp parameters in H heads,
    whatever the teacher.

    Two checks measure by how many standard errors the means of cos and of cos² over the draws
    ``starts`` (draws, H, p) miss 0 and 1/m: lhs, and rhs is 5. The others compare mean square and
    variance of a coordinate of a uniform direction, by quadrature, with the formulas: lhs is the
    relative error, rhs 1e-9. Source: this book.
    """
    draws, H, p = starts.shape
    m, flat = H * p, starts.reshape(draws, H * p)
    cos = (
        flat
        @ np.tile(teacher, H)
        / (np.linalg.norm(flat, axis=1) * H**0.5 * np.linalg.norm(teacher))
    )
    variance, mean = 2 * (m - 1) / (m * m * (m + 2)), direction_moment(m, 2)
    found = direction_moment(m, 4) - mean**2
    return (
        # cos has the variance E cos² = 1/m, so its mean over the draws has the error 1/√(m draws).
        Check(float(abs(cos.mean()) * (m * draws) ** 0.5), ERRORS, "E cos = 0, in standard errors"),
        Check(
            float(abs((cos**2).mean() - 1 / m) / (variance / draws) ** 0.5),
            ERRORS,
            "E cos² = 1/(Hp), in standard errors",
        ),
        Check(abs(m * mean - 1), 1e-9, "E cos² = 1/(Hp) for a uniform direction"),
        Check(
            abs(found / variance - 1),
            1e-9,
            "Var cos² = 2(m − 1)/(m²(m + 2)) for a uniform direction",
        ),
    )


def _split(seed, other_W=0.0):
    rng = np.random.default_rng([seed, 64])
    T, d = rng.integers(2, 6, size=2)
    teacher = MultiHeadAttention.random(1, T, d, seed=seed)
    V = 10.0 ** rng.uniform(-1, 1) * rng.standard_normal((T, d))
    W = teacher.W + other_W * rng.standard_normal((2, d, d))
    return {"teacher": teacher, "V": V, "W": W, "X": rng.standard_normal((5, T, d))}


@statement(
    id="prop-split-decoders",
    title="The same function, differently aligned",
    mark="ours",
    source="this book",
    chapter=CHAPTER,
    assumptions=SPLIT,
    by_proof="the labels are the teacher's",
    random=_split,
    breaks=SPLIT,
    broken=lambda seed: _split(seed, other_W=1.0),
    hypotheses=lambda teacher, W, **_: {SPLIT: (W == teacher.W).all()},
)
def split_decoders(teacher: MultiHeadAttention, V: Array, W: Array, X: Array) -> Checks:
    """Heads (W*, U* + V) and (W*, U* − V) have √2 times the teacher's logits, and alignment 1/√(1 +
    ‖V‖²/‖U*‖²) in U.

    In each check lhs is the error, that of the logits relative to √T R (‖U*‖ + ‖V‖), and rhs 1e-12.
    Source: this book.
    """
    model = MultiHeadAttention(W, np.concatenate([teacher.U + V, teacher.U - V]))
    U, size = np.linalg.norm(teacher.U), np.linalg.norm(V)
    scale = X.shape[1] ** 0.5 * np.linalg.norm(X, axis=2).max() * (U + size)
    logits = abs(model(X) - 2**0.5 * teacher(X)).max() / scale
    aligned = cosine(model.U, np.broadcast_to(teacher.U, model.U.shape))
    return (
        Check(float(logits), 1e-12, "Φ = √2 Φ*"),
        Check(
            float(abs(aligned - (1 + (size / U) ** 2) ** -0.5)),
            1e-12,
            "cos(U, U*) = 1/√(1 + ‖V‖²/‖U*‖²)",
        ),
    )


def seen_in_mean(W: Array, U: Array, X: Array) -> np.ndarray:
    """(1/T) Σ_t (I + W Cov_{s_t}(x)) u_t for each sample, (n, d): the derivative of Φ along a
    common shift, over T."""
    A = softmax(X @ W @ X.mT)
    # Cov_{s_t}(x) u_t = Σ_j x_j read_tj
    read = A * (U @ X.mT - (A @ X * U).sum(axis=2, keepdims=True))
    return U.mean(axis=0) + (X.mT @ read.sum(axis=1)[..., None])[..., 0] @ W.T / len(U)


def turned_mean_row(W: Array, U: Array, C: Array) -> np.ndarray:
    """(I + W C) ū, with ū the mean row of U (T, d)."""
    mean = U.mean(axis=0)
    return mean + W @ C @ mean


def _teachers(seed, length=1.0):
    rng = np.random.default_rng([seed, 65])
    # The mean token is integrated over a grid of nodes^d points.
    T, d = rng.integers(2, 6), 2
    return {
        "W": 10.0 ** rng.uniform(-2, -0.5) * rng.standard_normal((d, d)),
        "U": 1 + rng.standard_normal((T, d)),
        "X": length * rng.standard_normal((T, d)),
        "length": length,
    }


def _mean_tokens(T, d, length, nodes=48, reach=7.5):
    """Nodes (nodes^d, d) and weights of a trapezoidal rule for the mean of T independent N(0,
    length² I) tokens."""
    # On a Gaussian the trapezoidal rule converges faster than any power of the step; the ends cut
    # off densities below e^{−7.5²/2} = 6e-13.
    line = np.linspace(-reach, reach, nodes)
    grid = np.stack(np.meshgrid(*[line] * d, indexing="ij"), axis=-1).reshape(-1, d)
    weights = np.exp(-(grid**2).sum(axis=1) / 2)
    return length / T**0.5 * grid, weights / weights.sum()


@statement(
    id="prop-first-look",
    title="What the mean token says about the teacher",
    mark="ours",
    source="this book",
    chapter=FURTHER,
    assumptions=NORMAL,
    random=_teachers,
    broken=lambda seed: _teachers(seed, length=2.0),
    breaks=f"{NORMAL}: they are twice as long",
    hypotheses=lambda length, **_: {NORMAL: length == 1},
)
def first_look(W: Array, U: Array, X: Array, length: float) -> Checks:
    """E[Φ*(X) x̄] = (I + W* C) ū*, C = E Cov_{s_t}(x), which is one for all t; ū* the mean row of
    U* (T, d), W* (d, d).

    Nothing is sampled: given how the tokens X (T, d) differ from their mean, up to a cyclic shift,
    both expectations are sums over the T shifts and integrals over the mean token, which is N(0,
    I/T) and independent of the differences. The statement is the mean of these. In each check lhs
    is the relative error, and rhs 1e-9. Source: this book.
    """
    T, d = X.shape
    means, weights = _mean_tokens(T, d, length)
    shifts = np.stack([np.roll(X - X.mean(axis=0), k, axis=0) for k in range(T)])
    tokens = shifts[:, None] + means[:, None]  # (shifts, nodes, T, d)
    A = softmax(tokens @ W @ tokens.mT)
    read = A @ tokens
    second = A @ (tokens[..., :, None] * tokens[..., None, :]).reshape(*tokens.shape[:3], d * d)
    covariances = second.reshape(*read.shape, d) - read[..., :, None] * read[..., None, :]
    C = np.einsum("n,sntde->tde", weights, covariances) / T
    seen = weights * (read * U).sum(axis=(2, 3)).mean(axis=0) @ means
    expected = turned_mean_row(W, U, C.mean(axis=0))
    # One token has no covariance, and rows with mean 0 no product with the mean token: then what
    # rounding leaves is compared with what cancels.
    spread = max(abs(C).max(), 1e-3 * abs(tokens).max() ** 2, TINY)
    size = max(abs(expected).max(), 1e-3 * abs(U).max(), TINY)
    return (
        Check(float(abs(C - C[0]).max() / spread), 1e-9, "E Cov_{s_t}(x) is the same for every t"),
        Check(float(abs(seen - expected).max() / size), 1e-9, "E[Φ* x̄] = (I + W*C) ū*"),
    )
