"""Chapters 2, 4, 10, and 11: best constants, and the fractions and decimals of proofs."""

from fractions import Fraction
from functools import reduce

import numpy as np

from mhabook.certificates.balls import ball, everywhere, identical, require, roots
from mhabook.certificates.registry import LESS, certificate
from mhalib.data import tokenized_mixture


@certificate("lemma-deviation", "all random variables with |q| ≤ m", better=LESS)
def deviation(factor: Fraction) -> str:
    """E|Y − EY| ≤ 4/(3√3) m² for all of them, by branch and bound over the mean and the variance,
    with the parabola of the proof checked as an identity.

    Not covered: four lines of the proof, namely the chord above a convex function, that the mean of
    a parabola depends on the mean and the variance alone, e ≤ 1 − p² (Bhatia–Davis), and that
    τ(1 − τ)/(1 + τ) increases up to √2 − 1.
    """
    # h(δ) of the proof is −(1 − γ)(δ + α)(δ − the other root), times (α² + e)² on both sides.
    require(
        identical(
            lambda a, e, x: (
                (a * a - e) * (a * x - e) ** 2
                - (a * a + e) ** 2 * (x * x - e)
                + e * (x + a) * ((3 * a * a + e) * x - a * (a * a + 3 * e))
            ),
            6,
            3,
            3,
        ),
        "the parabola",
    )
    best = 4 / ball(27).sqrt()
    claim = best * ball(factor)

    def holds(p, s):
        alpha, beta = 1 + p, 1 - p
        tau = s * beta / alpha  # e/α², at most β/α
        chord = 2 * s * beta * (alpha - s * beta)
        if chord < claim:
            return True
        if not beta * (3 + tau) < alpha * (1 + 3 * tau):
            return False  # the parabola may be below somewhere
        if 2 * alpha * s * beta * (1 - tau) / (1 + tau) < claim:
            return True
        # Up to √2 − 1 the bound increases in τ, so that it is at most its value at s = 1, where
        # 4/(3√3) − 2p(1 − p²) = 2(p − 1/√3)²(p + 2/√3).
        below = 2 * p * beta * alpha < claim or factor >= 1
        return beta / alpha < ball(2).sqrt() - 1 and below

    everywhere(holds, (Fraction(0), Fraction(1)), (Fraction(0), Fraction(1)))
    return f"E|Y − EY| ≤ {best.str(6, radius=False)} m²"


@certificate("prop-1-hessian-sharp", "two tokens ±1 on a line, one head, R²u = 10⁶")
def sharp(factor: Fraction) -> str:
    """No constant below (1 − 10⁻⁶) · 4/(3√3) could stand in the place of 4/(3√3): this instance
    would violate the bound.

    Not covered: that the bound holds, which follows from the certificate of the lemma before it and
    the proof; other numbers of tokens and heads.
    """
    # With w the key–query weight and U = (r, −r)/√2, Φ = √2 r tanh w. At tanh w = 1/√3 the block
    # of w is −√2 r · 4/(3√3), the mixed one has the norm √2 · 2/3.
    best, r = 4 / ball(27).sqrt(), ball(10**6)
    constant = best * ball(1 - Fraction(1, 10**6)) * ball(factor)

    def largest(diagonal, beside):
        """The norm of [[diagonal, beside], [beside, 0]]."""
        return (diagonal + (diagonal * diagonal + 4 * beside * beside).sqrt()) / 2

    require(
        largest(best * r, ball(Fraction(2, 3))) > largest(constant * r, ball(1)),
        f"with {constant.str(6, radius=False)} the bound holds there",
    )
    return "4/(3√3) is the best constant, up to 10⁻⁶ of it"


@certificate("lemma-descent", "all losses ℓ > 0", better=LESS)
def steepest(factor: Fraction) -> str:
    """2(1 − e^{−ℓ}) ≤ 1.2764 √ℓ, so that η‖∇L‖ ≤ 1.2764 √(ηL): the 2 of the lemma is 1.57 times as
    large as needed.

    Not covered: that |ℓ′| = 1 − e^{−ℓ} and that the mean over samples does no harm (Jensen), as in
    the proof; the second claim.
    """
    square = (ball(Fraction("1.2764")) * ball(factor) / 2) ** 2
    # Below ℓ = 0.39 the left side is at most 2ℓ, above 2.6 at most 2.
    require(square > ball(Fraction("0.39")) and square * ball(Fraction("2.6")) > 1, "the ends")
    everywhere(lambda x: (1 - (-x).exp()) ** 2 < square * x, (Fraction("0.39"), Fraction("2.6")))
    return "1.2764 in the place of 2"


@certificate("lemma-one-point", "all κD² ≤ 7/16", better=LESS, exact=True)
def one_point(factor: Fraction) -> str:
    """ι ≤ 28/121 < ¼, so that ¾ and 5/4 could be 93/121 and 149/121, in exact fractions.

    Not covered: the inequality with ι, which is in the proof.
    """
    x = Fraction(7, 16)
    iota = (x / 2) / (1 - x / 8)  # 4x/(8 − x), which increases
    require(iota <= Fraction(28, 121) * factor, f"ι reaches {iota}")
    require(1 - iota >= Fraction(3, 4) and 1 + iota <= Fraction(5, 4), "¾ and 5/4")
    return "ι ≤ 28/121; ¾ ≤ 93/121; 149/121 ≤ 5/4"


@certificate("thm-1-training", "the constants of its chain", better=LESS, exact=True)
def chain(factor: Fraction) -> str:
    """√H ≥ (64/7) D₀² B gives κ(2D₀)² ≤ 7/16; 1 + 5/2 + 1/2 = 2²; and 2/3, 5/3, 1/3 are 1, 5/2, ½
    over 3/2: in exact fractions, none of which could be smaller in this proof.

    Not covered: the induction over the steps; whether another proof has smaller constants.
    """
    asked = Fraction(64, 7) * factor
    require(4 / asked <= Fraction(7, 16), f"κ(2D₀)² may be {4 / asked}")
    require(1 + Fraction(5, 2) + Fraction(1, 2) <= 4 * factor, "the run may leave 2D₀")
    sums = (1, Fraction(5, 2), Fraction(1, 2))
    rates = (Fraction(2, 3), Fraction(5, 3), Fraction(1, 3))
    pairs = zip(sums, rates, strict=True)
    require(all(one / Fraction(3, 2) <= rate * factor for one, rate in pairs), "the rate")
    return "64/7 · 7/64 = 1; 4 · 7/64 = 7/16; 2/3, 5/3, 1/3"


@certificate("thm-1-fewer-heads", "the constants of its chain", better=LESS, exact=True)
def fewer_heads(factor: Fraction) -> str:
    """No head moves farther than (11/3)(7/64) = 77/192 < ½ in units of R⁻², in exact fractions.

    Not covered: the induction over the steps; that a head comes near this distance.
    """
    total = Fraction(2, 3) + Fraction(5, 3) + Fraction(4, 3)
    moved = total * Fraction(7, 64)
    require(moved <= Fraction(77, 192) * factor < Fraction(1, 2), f"a head may move {moved}")
    return "11/3 · 7/64 = 77/192 < ½"


@certificate("lemma-reference", "all K ≥ 1", better=LESS)
def reference(factor: Fraction) -> str:
    """e^{−½ + 7/128} < 0.641, the factor of 1/K in the loss of the reference.

    Not covered: that the margins are what the proof says.
    """
    found = ball(Fraction(-1, 2) + Fraction(7, 128)).exp()
    require(found < ball(Fraction("0.641") * factor), f"it is {found.str(6, radius=False)}")
    return found.str(5, radius=False)


HEADS = {"thm-1-training": 102_775_442_592, "thm-1-fewer-heads": 59_926_040}


@certificate("cor-2-mixture", "the mixture of chapter 4, further, K = 100, δ = 0.05", better=LESS)
def head_counts(factor: Fraction) -> str:
    """The theorem requires exactly 102,775,442,592 heads, and that with fewer heads 59,926,040: one
    less is too few. The patterns are exactly orthonormal here, and the samples are those of seed 0.

    Not covered: that the theorem needs as many; other samples.
    """
    data = tokenized_mixture(n=100, T=10, d=7, M=5, zeta=0.2, S=1.0, sigma=0.0)
    patterns = np.concatenate([data.truth.mu, data.truth.nu])
    # How often each of μ₋, μ₊, ν_1, …, ν_5 is a token of each sample: whole numbers.
    counts = np.rint(data.X.sum(axis=1) @ patterns.T).astype(int).tolist()
    T, n = sum(counts[0]), len(counts)
    labels = [int(y) for y in data.y]
    psi = [
        Fraction(sum(y * row[k] for y, row in zip(labels, counts, strict=True)), n * T)
        for k in range(len(patterns))
    ]
    means = [[Fraction(one, T) for one in row] for row in counts]
    read = [_dot(psi, mean) for mean in means]
    # y⟨∇Φ, ·⟩ along the decoders and along the keys of the witness, but for √(T/2), and for
    # T/√(2(M + 2)): the covariance of ψᵀx and (μ₊ + μ₋)ᵀx over the tokens of a sample.
    along_U = [y * (mean[1] - mean[0]) for y, mean in zip(labels, means, strict=True)]
    along_W = [
        y * (psi[0] * mean[0] + psi[1] * mean[1] - one * (mean[0] + mean[1]))
        for y, mean, one in zip(labels, means, read, strict=True)
    ]
    zeta = Fraction(1, 5)
    root, key = ball(Fraction(T, 2)).sqrt(), T / ball(2 * len(patterns)).sqrt()
    gamma_U, gamma_W = ball(zeta) * root, ball(zeta**2 * (1 - zeta) / 2) * key
    gamma = (gamma_U * gamma_U + gamma_W * gamma_W).sqrt()
    margins = [
        (gamma_U * root * ball(u) + gamma_W * key * ball(w)) / gamma
        for u, w in zip(along_U, along_W, strict=True)
    ]
    margin = reduce(lambda least, one: least.min(one), margins)
    logit = T * max(map(abs, read))
    largest = ball(logit) * (2 * ball(40).log()).sqrt()
    distance = (largest + ball(Fraction(1, 2)) + ball(100).log()) / margin
    decoder = (T * ball(_dot(psi, psi))).sqrt()
    found = {}
    for id, further in (("thm-1-training", 5 * distance), ("thm-1-fewer-heads", ball("1/2"))):
        r = decoder + further
        B = ball(T).sqrt() * (r + (r * r + 4).sqrt()) / 2
        asked = (ball(Fraction(64, 7)) * distance * distance * B) ** 2
        heads = HEADS[id] * factor
        require(asked <= ball(heads), f"{id} requires {asked.str(12, radius=False)}")
        require(asked > ball(heads - 1), f"{id} requires {asked.str(12, radius=False)}")
        found[id] = f"{HEADS[id]:,}"
    return " and ".join(found.values())


def _dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


@certificate("thm-local-rate", "the decimals of its proof, all κ ≥ 1", better=LESS)
def contraction(factor: Fraction) -> str:
    """½ · (9/8)(√2 + ¼) ≤ 0.937, ½√2 ≤ 0.708, and with 21/128 they give less than 6.357, for which
    the theorem has 13/2; (g − h)(g − 2h)/4 ≥ (21/128) g² for h ≤ g/8; and 21/32 · 2/13 > 1/10.

    Not covered: the geometry of the proof. None of the constants is the best.
    """
    root = ball(2).sqrt()
    first, second = (ball(Fraction(word) * factor) for word in ("0.937", "0.708"))
    require(root * 9 / 16 + ball(Fraction(9, 64)) <= first and root / 2 <= second, "the norms")
    least = (1 - Fraction(1, 8)) * (1 - Fraction(2, 8)) / 4  # it decreases in h
    require(least >= Fraction(21, 128) / factor, f"the least is {least}")
    total = first * first / ball(least) + 2 * second * second
    require(total < ball(Fraction("6.357") * factor), f"the sum is {total.str(6, radius=False)}")
    require(Fraction(21, 32) * Fraction(2, 13) > Fraction(1, 10), "the rate")
    return f"{total.str(5, radius=False)} ≤ 13/2; 21/128"


@certificate("prop-plan", "q = 2, all 0 < ε < a, all φ > 0 and 0 < ρ < 1")
def plan(factor: Fraction) -> str:
    """The samples make up more than 0.7153 of ε in the cheapest plan: 1 − 1/t for the one t > 1 with
    t − 1 = 2 ln(at/ε), which increases with a/ε, from the zero of t − 1 − 2 ln t on.

    Not covered: other q.
    """

    def off(t):
        return t - 1 - 2 * t.log()

    # It decreases from 0 at t = 1 to t = 2, and increases above.
    zeros = roots(off, lambda t: 1 - 2 / t, Fraction(2), Fraction(50))
    require(len(zeros) == 1, f"{len(zeros)} zeros")
    share = 1 - 1 / zeros[0]
    require(share > ball(Fraction("0.7153") * factor), f"it is {share.str(6, radius=False)}")
    return f"more than {share.str(4, radius=False)} of ε"
