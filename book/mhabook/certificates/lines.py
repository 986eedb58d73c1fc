"""Chapter 14: every minimum of the loss of a query on a line, none missed."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from mhabook.certificates.balls import Ball, ball, near, require, roots
from mhabook.certificates.registry import certificate


@dataclass(frozen=True)
class Task:
    """Keys and values on a line, a target, and the width c of a Gaussian kernel: of softmax,
    ``None``. ``means`` says whether the weights are divided by their sum.

    Up to a positive factor, the output less y, and its slope, are sums of p(q) e^{a + bq}, p
    linear. For a Gaussian kernel that is not divided, y is such a term but for e^{cq²}.
    """

    keys: Sequence[int]
    values: Sequence[int]
    y: Fraction
    c: Fraction | None = None
    means: bool = True

    @property
    def mirrored(self) -> "Task":
        """The same task seen from the other side."""
        return Task([-k for k in self.keys], self.values, self.y, self.c, self.means)

    def weight(self, j: int, q: Ball) -> Ball:
        """That of one key, but for the factor e^{−cq²}."""
        k = self.keys[j]
        return (k * q).exp() if self.c is None else (ball(self.c) * k * (2 * q - k)).exp()

    @property
    def pace(self) -> Fraction:
        """How fast the logarithm of a weight changes, for the key 1."""
        return Fraction(1) if self.c is None else 2 * self.c

    def slope(self, q: Ball, order: int = 0) -> Ball:
        """A positive multiple of o′, or the derivative of that.

        Means: Σ_{i<j} w_i w_j (u_j − u_i)(k_j − k_i), else Σ_j w_j u_j (k_j − q).
        """
        k, u, total = self.keys, self.values, ball(0)
        pace = ball(self.pace)
        if self.means:
            for i, j in self.pairs:
                part = (u[j] - u[i]) * (k[j] - k[i]) * self.weight(i, q) * self.weight(j, q)
                total += part * (pace * (k[i] + k[j])) ** order
            return total
        for j in range(len(k)):
            factor = (k[j] - q) * pace * k[j] - 1 if order else k[j] - q
            total += u[j] * self.weight(j, q) * factor
        return total

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of keys whose values differ."""
        u = self.values
        return [(i, j) for i, j in combinations(range(len(u)), 2) if u[i] != u[j]]

    def off(self, q: Ball, order: int = 0) -> Ball:
        """A positive multiple of o − y, or the derivative of that."""
        pace, y, total = ball(self.pace), ball(self.y), ball(0)
        for j, (k, u) in enumerate(zip(self.keys, self.values, strict=True)):
            reading = u - y if self.means else ball(u)
            total += reading * self.weight(j, q) * (pace * k) ** order
        if self.means:
            return total
        c = ball(self.c)
        return total - y * (c * q * q).exp() * (2 * c * q) ** order

    def loss(self, q: Ball) -> Ball:
        """½(o − y)²."""
        over = (
            sum((self.weight(j, q) for j in range(len(self.keys))), ball(0))
            if self.means
            else (ball(self.c) * q * q).exp()
        )
        off = self.off(q) / over
        return off * off / 2

    def ends(self, far: Fraction) -> bool:
        """Whether neither o = y nor o′ = 0 for any q ≥ ``far``: the leading term, or the leading
        pair, outweighs all others at ``far``, and more so beyond."""
        k, u, q = self.keys, self.values, ball(far)
        order = sorted(range(len(k)), key=lambda j: -k[j])
        if self.means:
            if u[order[0]] == self.y:
                return False
            terms = [((u[j] - self.y), k[j], self.weight(j, q)) for j in order]
            slopes = [
                ((u[j] - u[i]) * (k[j] - k[i]), k[i] + k[j], self.weight(i, q) * self.weight(j, q))
                for i, j in self.pairs
            ]
            return _leads(terms) and _leads(slopes)
        first = next(j for j in order if u[j])
        # |o| falls beyond all keys, and so does (q − k_j) w_j over that of the last key.
        reach = sum((abs(u[j]) * self.weight(j, q) for j in order), ball(0))
        rest = sum(
            (abs(u[j]) * (q - k[j]) * self.weight(j, q) for j in order if j != first), ball(0)
        )
        small = reach < abs(ball(self.y)) * (ball(self.c) * q * q).exp()
        return bool(
            far > max(k) and small and rest < abs(u[first]) * (q - k[first]) * self.weight(first, q)
        )

    def minima(self) -> list[tuple[Ball, Ball]]:
        """Every local minimum of the loss over all real q, as a place and a loss: exactly 0 where
        the output meets the target."""
        require(self.ends(END) and self.mirrored.ends(END), "the ends of the line")
        turns = roots(self.slope, lambda q: self.slope(q, 1), -END, END + 1)
        met = roots(self.off, lambda q: self.off(q, 1), -END, END + 1)
        require(all(self.slope(q) != 0 for q in met), "the output turns at the target")
        found = [(q, ball(0)) for q in met]
        for q in turns:
            # The loss has the second derivative (o − y) o″ there.
            bend = self.off(q) * self.slope(q, 1)
            require(bend != 0, f"the kind of the turn at {q}")
            if bend > 0:
                found.append((q, self.loss(q)))
        return sorted(found, key=lambda one: float(one[0].mid()))


END = Fraction(49, 4)
"""Beyond this the leading terms decide."""


def _leads(terms):
    """Whether the term of the largest exponent outweighs the others: (factor, exponent, weight)."""
    top = max(exponent for _, exponent, _ in terms)
    lead = [one for one in terms if one[1] == top]
    rest = sum((abs(ball(f)) * w for f, e, w in terms if e != top), ball(0))
    return bool(abs(sum((ball(f) * w for f, _, w in lead), ball(0))) > rest)


def has_minima(task: Task, claim: str, factor: Fraction) -> None:
    """Require that the minima of a task are those claimed, "place loss, place loss", and no
    others."""
    found, claims = task.minima(), [one.split() for one in claim.split(", ")]
    require(len(found) == len(claims), f"{len(found)} minima")
    for (q, loss), (at, height) in zip(found, claims, strict=True):
        near(q, at, factor, "a minimum")
        require(loss.is_zero() == (height == "0"), "whether the target is met")
        near(loss, height if height != "0" else "0.0", factor, "a loss")


def _told(claim):
    """The minima of a claim in words."""
    words = []
    for one in claim.split(", "):
        at, height = one.split()
        words.append(f"{at.replace('-', '−')} (loss {height})")
    return ", ".join(words)


UP_AND_DOWN = {"keys": (-2, -1, 1, 2), "values": (3, -2, 2, 1), "y": Fraction(2)}
RISING = {"keys": (-2, 2), "values": (1, 2), "y": Fraction(3, 2)}
THREE = {"keys": (1, -1, 0), "values": (1, 1, 0), "y": Fraction(1, 2)}
HALF = Fraction(1, 2)


@certificate("thm-barrier", "the first task of chapter 14, all real q, three kernels")
def barrier(factor: Fraction) -> str:
    """Softmax has exactly two minima on the whole line, of which one is a trap; the Gaussian kernel
    (c = ½) has four, all with loss 0; divided by its sum, it has two, one of them a trap.

    Not covered: other tasks; that flow stays on its side, which is in the proof.
    """
    claims = {
        "softmax": "-1.39015 0, 1.07487 0.337297",
        "Gaussian": "-2.50694 0, -2.24409 0, 0.73046 0, 2.15599 0",
        "divided by its sum": "-2.88630 0, 1.41826 0.168944",
    }
    tasks = (
        Task(**UP_AND_DOWN),
        Task(**UP_AND_DOWN, c=HALF, means=False),
        Task(**UP_AND_DOWN, c=HALF),
    )
    for task, claim in zip(tasks, claims.values(), strict=True):
        has_minima(task, claim, factor)
    return "; ".join(f"{kernel}: {_told(claim)}" for kernel, claim in claims.items())


@certificate("thm-wells", "the second task of chapter 14, Gaussian kernel, c = ½, all real q")
def trap(factor: Fraction) -> str:
    """The conditions hold at the left key, with w = e⁻², ε = 2w; and the line has exactly three
    minima, of which the one at that key is a trap.

    Not covered: other tasks; that flow stays in the ball.
    """
    w = ball(-2).exp()
    require(2 * w < HALF.numerator / ball(2) and 4 * w < 1 - w, "the conditions")
    claim = "-1.99729 0.124663, 1.23681 0, 2.75854 0"
    has_minima(Task(**RISING, c=HALF, means=False), claim, factor)
    return _told(claim)


@certificate("prop-rising", "the second task of chapter 14, softmax, all real q")
def no_trap(factor: Fraction) -> str:
    """The line has exactly one minimum, at 0, where the output is the target and its slope is 1 =
    χ Var(k).

    Not covered: other tasks; that flow from every start tends to it.
    """
    task = Task(**RISING)
    has_minima(task, "0.00000 0", factor)
    # o′ is this over the square of the sum of the weights, 2 at q = 0.
    require(task.slope(ball(0)) / 4 >= ball(factor), "the slope is 1")
    return "one minimum, at 0"


@certificate("prop-width", "the example B1, Gaussian kernel, c = ¾ and 1, all real q")
def width(factor: Fraction) -> str:
    """For both widths, the line has exactly three minima, of which the one at 0 is a trap.

    Not covered: the identity of the statement; other widths, such as c = ½, where o′ has a triple
    zero at 0.
    """
    claims = {
        Fraction(3, 4): "-1.96327 0, 0.00000 0.098894, 1.96327 0",
        Fraction(1): "-1.83295 0, 0.00000 0.027791, 1.83295 0",
    }
    for c, claim in claims.items():
        has_minima(Task(**THREE, c=c, means=False), claim, factor)
    return "; ".join(f"c = {c}: {_told(claim)}" for c, claim in claims.items())


@certificate("prop-inside-hull", "the example B1, softmax, all real q")
def inside(factor: Fraction) -> str:
    """The output is at least ⅔ for every q, and ⅔ at 0 alone: no query meets the target ½, and the
    least loss of one query is 1/72.

    Not covered: other keys; more dimensions.
    """
    has_minima(Task(**THREE), "0.00000 0.013889", factor)
    task = Task(**THREE)
    require(task.slope(ball(0)).is_zero(), "the turn is at 0")
    require(
        abs(task.loss(ball(0)) * 72 - ball(factor)) < ball(Fraction(1, 10**30)), "the least loss"
    )
    return "⅔ ≤ o(q); loss ≥ 1/72"


@certificate("thm-waiting", "the example B3: ℓ₀ = 6, ℓ = 3, c = ½, η = 1")
def wait(factor: Fraction) -> str:
    """t* lies between 2,001,830 and 2,001,831, so that the query is not within 3 of the key for
    2,001,830 steps.

    Not covered: when it arrives.
    """
    near_, far = ball(3), ball(6)
    rise = (far * far / 2).exp() - (near_ * near_ / 2).exp()
    pull = ball(Fraction(9, 10)) + (-near_ * near_ / 2).exp()
    found, claim = rise / (far * far * pull), ball(2_001_830 * factor)
    require(claim <= found < claim + 1, f"it is {found.str(9, radius=False)}")
    return "2,001,830 steps"
