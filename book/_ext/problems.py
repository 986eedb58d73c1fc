"""Problems of the sheets whose numbers are drawn: two or three a week, the same for one seed, others
for another. kit.py writes them and, in ``make kit`` alone, their solutions.

A kind of problem draws its numbers so that those of the solution are nice, computes these with the
book's own functions, and says both in words: paragraphs with TeX between dollars, of which those of
a part begin with "(a) ". Each part is worth what its ``parts`` say (marking.py).
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from html import escape

import marking
import numpy as np

import mhalib as mha
from mhabook.c02_curvature.bounds import curvature
from mhabook.c03_first_step.max_margin import max_margin
from mhabook.c04_convergence.chain import CURVED
from mhabook.c14_traps.statements import top_means
from mhalib.whitening import Whitening


@dataclass(frozen=True)
class Problem:
    """A problem with its solution; what was drawn, and what is to be found; what its parts count, and
    an error that many make, with what it still earns."""

    title: str
    ask: str
    solution: str
    given: dict
    found: dict
    parts: list
    error: str


def counted(**earns):
    """The parts of a problem: for each, what earns a point."""
    return [marking.Part(name, tuple((1, each) for each in rows)) for name, rows in earns.items()]


def drawn(week, seed):
    """The problems of week ``week`` for a seed."""
    rng = np.random.default_rng([seed, week])
    return [kind(rng) for kind in KINDS[week]]


def html(text, setter):
    """Paragraphs with TeX between dollars as HTML."""
    paragraphs = [re.split(r"\$([^$]+)\$", each) for each in text.split("\n\n")]
    for parts in paragraphs:
        parts[::2] = [escape(words, quote=False) for words in parts[::2]]
        parts[1::2] = [setter.set(tex, False) for tex in parts[1::2]]
    return "".join(f"<p>{''.join(parts)}</p>" for parts in paragraphs)


def number(x, digits=2):
    """A number with so many decimals at most, as TeX; with three where these are exact."""
    digits = 3 if digits < 3 and round(float(x), 3) == round(float(x), 9) else digits
    said = f"{round(float(x), digits) + 0:.{digits}f}".rstrip("0").rstrip(".")
    return f"{{{said}}}" if x < 0 else said  # its sign stands close to it


def numbers(xs, between=",\\ ", digits=2):
    return between.join(number(x, digits) for x in np.ravel(xs))


def weights_of(xs):
    """Weights with as many decimals as it takes for what is said to add up to 1."""
    fits = (k for k in (2, 3, 4) if abs(np.round(xs, k).sum() - 1) < 1e-9)
    return numbers(xs, digits=next(fits, 4))


def fraction(x):
    """A rational number as TeX."""
    exact = Fraction(float(x)).limit_denominator(1000)
    above, below = abs(exact.numerator), exact.denominator
    said = str(above) if below == 1 else rf"\frac{{{above}}}{{{below}}}"
    return f"{{-{said}}}" if exact < 0 else said


def row(xs):
    return f"({numbers(xs)})"


def matrix(rows):
    lines = r" \\ ".join(numbers(each, " & ") for each in rows)
    return rf"\begin{{pmatrix}} {lines} \end{{pmatrix}}"


# --- week 1
# --------------------------------------------------------------------------------------------------


def weights(rng):
    products = np.zeros(3)
    while len({*products}) < 3 or np.ptp(products) > 3:
        X = rng.integers(-1, 3, (3, 2)).astype(float)
        products = X @ X[0]
    model = mha.MultiHeadAttention(np.log(2) * np.eye(2)[None], np.zeros((1, 3, 2)))
    A = model.attention(X[None])[0, 0, 0]
    parts = 2 ** (products - products.min())
    tokens = ",\\ ".join(f"x_{j}={row(x)}^\\top" for j, x in enumerate(X, 1))
    powers = ",\\ ".join(f"2^{{{number(product)}}}" for product in products)
    shares = ",\\ ".join(map(fraction, A))
    average = ",\\ ".join(map(fraction, A @ X))
    return Problem(
        "The weights of three tokens",
        f"A head with $W=(\\log2)\\,I$ has the tokens ${tokens}$.\n\n"
        "(a) Compute the scores that the first token gives to all three, and their attention weights, "
        "as fractions.\n\n"
        "(b) Compute the weighted average that attention returns for the first token.\n\n"
        "(c) What must be added to the third score to double the ratio of the third weight to the "
        "first?",
        f"(a) The scores are $(\\log2)\\,x_1^\\top x_j$, with $x_1^\\top x_j={numbers(products)}$. Their "
        f"exponentials are ${powers}$, in the proportions ${numbers(parts, ':')}$. So the weights are "
        f"${shares}$.\n\n"
        f"(b) The average is $\\sum_js_jx_j=({average})^\\top$.\n\n"
        "(c) The ratio of two weights is $e$ to the difference of their scores, so it doubles when "
        "$\\log2$ is added.",
        {"X": X},
        {"weights": A, "output": A @ X},
        counted(a=["the scores", "the weights"], b=["the average"], c=["$\\log2$"]),
        "In (a), the scores are divided by their sum, not their exponentials: 1 of 2 points, and (b) is "
        "marked as it follows.",
    )


def first_step(rng):
    means = np.zeros((2, 2))
    while (means[0] == means[1]).all():
        X = rng.integers(-2, 4, (2, 2, 2)).astype(float)
        means = X.mean(axis=1)
    y, eta = np.array([1.0, -1.0]), float(rng.choice([1, 2, 4]))
    zero = mha.MultiHeadAttention.zeros(1, 2, 2)
    after = zero - eta * zero.loss_and_grad(X, y)[1]
    u, logits = after.U[0, 0], after(X)
    samples = " and ".join(f"$X_{i}={matrix(x)}$" for i, x in enumerate(X, 1))
    judged = y * logits
    wrong = [
        f"Sample {i} is "
        f"{'on the decision boundary' if judged[i - 1] == 0 else 'classified wrongly'} "
        f"(logit ${number(logits[i - 1])}$, label ${number(y[i - 1])}$)."
        for i in (1, 2)
        if judged[i - 1] <= 0
    ]
    verdict = " ".join(wrong) or "Both samples are classified correctly."
    return Problem(
        "The first step of a decoder",
        f"One head is initialized at zero. Its two samples are {samples}, with one token a row, and "
        f"the labels $1$ and $-1$. It takes one step of gradient descent with step size "
        f"${number(eta)}$ on the mean logistic loss.\n\n"
        "(a) What are its decoder and its $W$ then?\n\n"
        "(b) What are the two logits?\n\n"
        "(c) Are both samples classified correctly?",
        f"(a) The mean tokens are $\\bar x_1={row(means[0])}^\\top$ and "
        f"$\\bar x_2={row(means[1])}^\\top$. At zero, all weights are $\\frac12$, and the logistic "
        "loss has the slope $-\\frac12$. So each row of the decoder moves by "
        f"$\\frac\\eta2\\cdot\\frac12(\\bar x_1-\\bar x_2)={row(u)}^\\top$. "
        "$W$ stays zero, because its gradient is proportional to the "
        "decoder.\n\n"
        "(b) With $W=0$, the weighted average of every query is $\\bar x_i$, so the logit of sample $i$ is "
        f"$2\\,u^\\top\\bar x_i$ with the row $u$ of the decoder: ${numbers(logits)}$.\n\n"
        f"(c) {verdict}",
        {"X": X, "y": y, "eta": eta},
        {"decoder": after.U[0], "logits": logits},
        counted(
            a=["the two equal rows of the decoder", "$W=0$, with the reason"],
            b=["both logits"],
            c=["the sign of each logit is compared with its label"],
        ),
        "In (a), the mean over the two samples is forgotten, so that the decoder is twice as large: 1 of "
        "2 points, and (b) and (c) are marked as they follow.",
    )


def score_to_raise(rng):
    parts, values = np.ones(3), np.zeros(3)
    while len({*parts}) < 3 or len({*values}) < 3 or not slopes_differ(parts, values):
        parts = rng.choice([1.0, 2, 3, 4, 5, 6], 3)
        values = rng.integers(-4, 7, 3).astype(float)
    shares = mha.softmax(np.log(parts))
    mean, slopes = shares @ values, slopes_of(parts, values)
    best = int(slopes.argmax())
    farthest = int(abs(values - mean).argmax())
    scores = ",\\ ".join(f"\\log{number(part)}" if part > 1 else "0" for part in parts)
    in_fractions, of_scores = (",\\ ".join(map(fraction, each)) for each in (shares, slopes))
    if best == farthest:
        why = "Its token also has the value farthest from $m$."
    elif values[farthest] < mean:
        why = f"The value farthest from $m$ is that of token {farthest + 1}, but it lies below $m$."
    else:
        why = f"The value farthest from $m$ is that of token {farthest + 1}, but its weight is smaller."
    return Problem(
        "Which score to raise",
        f"Three tokens have the scores $a_1,a_2,a_3={scores}$ and the values $v_1,v_2,v_3={numbers(values)}$. "
        "Softmax turns the scores into the weights $s_j$, and $m=\\sum_js_jv_j$.\n\n"
        "(a) Compute the weights and $m$, as fractions.\n\n"
        "(b) Show that $\\partial m/\\partial a_j=s_j\\,(v_j-m)$, and compute all three.\n\n"
        "(c) One score may be raised by a small number. Which one raises $m$ most, and does its token have "
        "the value farthest from $m$?",
        f"(a) The exponentials are ${numbers(parts)}$, so the weights are "
        f"${in_fractions}$, and $m={fraction(mean)}$.\n\n"
        "(b) Since $\\partial s_k/\\partial a_j=s_k\\,(\\mathbf 1[k=j]-s_j)$, the derivative is "
        "$s_jv_j-s_j\\sum_ks_kv_k=s_j\\,(v_j-m)$. The three are "
        f"${of_scores}$; they add up to zero.\n\n"
        f"(c) The score of token {best + 1}, with the largest derivative. {why}",
        {"parts": parts, "values": values},
        {"weights": shares, "mean": mean, "slopes": slopes, "best": best},
        counted(
            a=["the weights and their mean"],
            b=["the derivative of a weight, and with it that of $m$", "the three numbers"],
            c=["the token, with both answers"],
        ),
        "In (b), only $s_j$ is differentiated, and the other weights are kept, which gives "
        "$s_j\\,(1-s_j)\\,v_j$: 1 of 2 points for the numbers that follow, and (c) is marked as it follows.",
    )


def slopes_of(parts, values):
    """How fast the weighted mean of the values changes with each score, the logarithm of a part."""
    shares = mha.softmax(np.log(parts))
    return shares * (values - shares @ values)


def slopes_differ(parts, values):
    """Has one score the largest of these, by more than rounding, and one value the largest distance?"""
    shares = mha.softmax(np.log(parts))
    slopes, apart = slopes_of(parts, values), abs(values - shares @ values)
    return all(np.diff(np.sort(each))[-1] > 0.01 for each in (slopes, apart))


# --- week 2
# --------------------------------------------------------------------------------------------------


def step_size(rng):
    small, more = int(rng.integers(1, 5)), int(rng.integers(1, 4))
    # eigenvectors (2, 1) and (1, −2), eigenvalues small + 5 more and small
    A = np.array([[small + 4 * more, 2 * more], [2 * more, small + more]], float)
    low, high = np.linalg.eigvalsh(A)
    limit, best, factor = 2 / high, 2 / (low + high), (high - low) / (high + low)
    return Problem(
        "The step sizes of a quadratic",
        f"Gradient descent minimizes $\\frac12x^\\top Ax$ with $A={matrix(A)}$.\n\n"
        "(a) For which step sizes does it converge from every initialization?\n\n"
        "(b) By what factor does a step multiply each of the two eigencoordinates at "
        f"$\\eta={number(0.1)}$?\n\n"
        "(c) Which step size makes the larger absolute value of the two factors smallest, and how "
        "small?",
        f"(a) The trace is ${number(np.trace(A))}$ and the determinant ${number(np.linalg.det(A))}$, so "
        f"the eigenvalues are ${number(high)}$ and ${number(low)}$, with the eigenvectors "
        "$(2,1)^\\top$ and $(1,-2)^\\top$. A step multiplies each eigencoordinate by $1-\\eta\\lambda$, so "
        f"descent converges for $0<\\eta<2/\\lambda_{{\\max}}={number(limit)}$.\n\n"
        f"(b) At $\\eta=0.1$, the factors are ${number(1 - 0.1 * high)}$ and ${number(1 - 0.1 * low)}$.\n\n"
        "(c) The larger absolute value is smallest where both are equal, at "
        f"$\\eta=2/(\\lambda_{{\\min}}+\\lambda_{{\\max}})={number(best)}$, namely ${number(factor)}$.",
        {"A": A},
        {"limit": limit, "best": best, "factor": factor},
        counted(
            a=["both eigenvalues", "the limit"],
            b=["both factors"],
            c=["the step size with its factor"],
        ),
        "In (a), the limit is $1/\\lambda_{\\max}$, where the factor is 0 and not $-1$: 1 of 2 points.",
    )


def heads_for_hessian(rng):
    s, T = float(rng.choice([2, 4])), int(rng.choice([4, 9, 16]))
    R, most = float(rng.choice([1, 2])), float(rng.choice([0.5, 1, 2]))
    u = (s - 1 / s) / R**2  # then the square root below is s + 1/s
    r, B = R**2 * u, curvature(T, R, u)
    heads = round((B / most) ** 2)
    return Problem(
        "Heads for a flat logit",
        f"A sample has $T={T}$ tokens of norm at most $R={number(R)}$, and no decoder has a norm above "
        f"$u={number(u, 4)}$.\n\n"
        "(a) Compute the constant $B$ of the bound on the Hessian of the logit (chapter 2).\n\n"
        f"(b) From how many heads on is this bound at most ${number(most)}$?\n\n"
        "(c) How does that number change if $R$ doubles and $R^2u$ stays the same?",
        f"(a) $r=R^2u={number(r)}$, so $\\sqrt{{r^2+4}}={number(s + 1 / s)}$ and "
        f"$\\frac12(r+\\sqrt{{r^2+4}})={number(s)}$. This gives "
        f"$B=\\sqrt T\\,R^3\\cdot{number(s)}={number(B)}$.\n\n"
        f"(b) $B/\\sqrt H\\le{number(most)}$ holds for $H\\ge({number(B)}/{number(most)})^2={heads}$.\n\n"
        "(c) If $R$ doubles, $B$ grows by the factor $2^3=8$, and the number of heads by $64$.",
        {"T": T, "R": R, "u": u, "most": most},
        {"B": B, "heads": heads},
        counted(a=["$r$ and the square root", "$B$"], b=["the number of heads"], c=["64"]),
        "The square is forgotten in (b) and (c): no point for (b), and 1 for (c), where 8 follows from it.",
    )


def leaving_a_saddle(rng):
    up, down = float(rng.choice([2, 4])), float(rng.choice([2, 5, 10]))
    eta = 1 / (2 * max(up, down))
    factors = np.array([1 - eta * up, 1 + eta * down])
    far, near = int(rng.integers(6, 12)), int(rng.integers(2, 5))
    steps = int(np.ceil(far * np.log(2) / np.log(factors[1]) - 1e-9))
    more = near * np.log(10) / np.log(factors[1])
    return Problem(
        "Leaving a saddle",
        f"Gradient descent with step size $\\eta={fraction(eta)}$ on $\\frac12({number(up)}x^2-{number(down)}y^2)$ "
        f"starts at $x_0=1$ and $y_0=2^{{-{far}}}$.\n\n"
        "(a) By what factors does a step multiply $x$ and $y$?\n\n"
        "(b) After how many steps is $y\\ge1$ for the first time?\n\n"
        f"(c) About how many more steps does it take from $y_0=2^{{-{far}}}\\cdot10^{{-{near}}}$?\n\n"
        "(d) For which $y_0$ does descent stay near the saddle forever? Why does a random initialization "
        "not do so?",
        f"(a) $x$ by $1-{number(up)}\\,\\eta={fraction(factors[0])}$, and $y$ by $1+{number(down)}\\,\\eta="
        f"{fraction(factors[1])}$.\n\n"
        f"(b) $y_k=\\bigl({fraction(factors[1])}\\bigr)^k\\,2^{{-{far}}}\\ge1$ holds if "
        f"$k\\ge{far}\\log2/\\log{fraction(factors[1])}$, so after ${steps}$ steps.\n\n"
        f"(c) ${near}\\log10/\\log{fraction(factors[1])}$, about ${more:.0f}$. The number of steps grows like the "
        "logarithm of $1/y_0$.\n\n"
        "(d) For $y_0=0$ alone. A random $y_0$ with a density is zero with probability zero.",
        {"up": up, "down": down, "eta": eta, "far": far, "near": near},
        {"factors": factors, "steps": steps, "more": more},
        counted(
            a=["both factors"],
            b=["the number of steps"],
            c=["the number"],
            d=["$y_0=0$, and that it has probability zero"],
        ),
        "In (a), the sign of the second curvature is forgotten, so that $y$ shrinks: no point for (a) and (b); "
        "(d) does not depend on it.",
    )


# --- week 3
# --------------------------------------------------------------------------------------------------


def margin(rng):
    legs = np.array([(3, 4), (4, 3), (5, 0), (0, 5), (3, -4), (4, -3), (-3, 4), (-4, 3)], float)
    plus, minus = legs[rng.choice(len(legs), 2, replace=False)]
    T = int(rng.choice([4, 9]))
    if (plus == -minus).all():  # then one direction is as good as the other mean token
        minus = -minus[::-1]
    X = np.repeat(np.stack([plus, minus])[:, None], T, axis=1)
    best = max_margin(mha.MultiHeadAttention.zeros(1, T, 2).features(X), np.array([1.0, -1.0]))
    apart = plus - minus
    return Problem(
        "The margin of two samples",
        f"One head at zero has two samples of $T={T}$ tokens. The mean tokens are "
        f"${row(plus)}^\\top$, label $1$, and ${row(minus)}^\\top$, label $-1$.\n\n"
        "(a) What are the tangent features of the two samples?\n\n"
        "(b) In which direction is their margin largest, and how large is it?\n\n"
        "(c) What margin remains if only the first row of the decoder may move?",
        "(a) At zero, only the decoder has a derivative: the feature of a sample has the mean token "
        "$\\bar x_i$ in each of its $T$ rows.\n\n"
        "(b) Both features have the norm $5\\sqrt T$, so the nearest point to zero between $y_1\\varphi_1$ "
        "and $y_2\\varphi_2$ is their midpoint: each row of the best direction is along "
        f"$\\bar x_1-\\bar x_2={row(apart)}^\\top$. "
        f"The margin is $\\frac12\\sqrt T\\,\\|\\bar x_1-\\bar x_2\\|=\\frac12\\cdot{number(T**0.5)}"
        f"\\cdot{number(np.linalg.norm(apart))}={number(best.margin)}$.\n\n"
        f"(c) With one row in place of $T$, it is smaller by the factor $\\sqrt T={number(T**0.5)}$: "
        f"${number(best.margin / T**0.5)}$.",
        {"plus": plus, "minus": minus, "T": T},
        {"margin": best.margin, "one row": best.margin / T**0.5},
        counted(
            a=["the mean token in every row, and no derivative of $W$"],
            b=["the direction", "the margin"],
            c=["the factor $1/\\sqrt T$"],
        ),
        "In (b), the margin is the whole distance of the two points, not half of it: 1 of 2 points, and "
        "(c) is marked as it follows.",
    )


def stalled(rng):
    high, low = (
        float(each) for each in rng.choice([(0.4, 0.04), (0.6, 0.04), (0.6, 0.12), (0.4, 0.08)])
    )
    D, B = float(rng.choice([2, 3, 4])), 7.0 * int(rng.choice([1, 2, 3]))
    eta, fall = float(rng.choice([0.1, 0.2, 0.5])), float(rng.choice([0.01, 0.02, 0.05]))
    heads = round((D**2 * B / (4 * CURVED)) ** 2)
    inner = 0.75 * high - 1.25 * low
    nearer = 2 * eta * (inner - fall)
    steps = int(np.floor(D**2 / nearer + 1e-9))
    return Problem(
        "A run that stalls",
        f"A run stalls: before each of its steps, the loss is at least ${number(high)}$, and no step lowers it by "
        f"more than ${number(fall)}$. A good model with the loss $L(\\theta)={number(low)}$ is at the distance "
        f"$D={number(D)}$ from $\\theta_0$. The constant of all Hessians is $B={number(B)}$, and the step size is "
        f"$\\eta={number(eta)}\\le1/\\rho$.\n\n"
        "(a) From how many heads on does the lemma about the negative gradient (chapter 4) apply at the "
        "distance $D$?\n\n"
        "(b) Let there be as many. How small can the norm of the gradient be at $\\theta_0$?\n\n"
        "(c) By how much does a step reduce the squared distance to the good model, at least?\n\n"
        "(d) For how many steps can this go on at most, and why does the lemma apply to all of them?",
        f"(a) $\\kappa D^2=BD^2/\\sqrt H\\le\\frac7{{16}}$ holds for $\\sqrt H\\ge\\frac{{16}}7D^2B="
        f"{number(heads**0.5)}$, so for $H\\ge{heads}$.\n\n"
        "(b) The inner product of $\\nabla L(\\theta_0)$ with $\\theta_0-\\theta$ is at least "
        f"$\\frac34\\cdot{number(high)}-\\frac54\\cdot{number(low)}={number(inner)}$, and at most $D$ times the norm "
        f"of the gradient. So this norm is at least ${number(inner, 3)}/{number(D)}={number(inner / D, 3)}$.\n\n"
        "(c) $\\|\\theta_{k+1}-\\theta\\|^2=\\|\\theta_k-\\theta\\|^2-2\\eta\\langle\\nabla L(\\theta_k),"
        "\\theta_k-\\theta\\rangle+\\eta^2\\|\\nabla L(\\theta_k)\\|^2$. By the descent lemma, the last term is at "
        f"most $2\\eta$ times the decrease of the loss. So the squared distance falls by at least $2\\cdot"
        f"{number(eta)}\\,({number(inner)}-{number(fall)})={number(nearer, 4)}$.\n\n"
        f"(d) It begins at $D^2={number(D**2)}$ and cannot fall below zero, so at most ${number(D**2)}/"
        f"{number(nearer, 4)}$, that is ${steps}$ steps. The distance never exceeds $D$, so the lemma applies "
        "at each of them.",
        {"high": high, "low": low, "D": D, "B": B, "eta": eta, "fall": fall},
        {"heads": heads, "slope": inner / D, "nearer": nearer, "steps": steps},
        counted(
            a=["the number of heads"],
            b=["the lemma and the Cauchy–Schwarz inequality"],
            c=["the three terms, with both lemmas", "the number"],
            d=["the number of steps, and that the distance only falls"],
        ),
        "In (c), the squared gradient is left out: 1 of 2 points, and (d) is marked as it follows.",
    )


# --- week 4
# --------------------------------------------------------------------------------------------------


def two_step_sizes(rng):
    H, eta = int(rng.choice([4, 16, 25])), float(rng.choice([0.1, 0.2, 0.4]))
    root = H**0.5
    found = {
        "one step size": (eta, eta / H),
        "times root": (eta * root, eta / root),
        "adam": (eta * root, eta),
    }
    same, larger, adam = (
        f"${number(for_decoder, 3)}$ and ${number(for_attention, 3)}$"
        for for_decoder, for_attention in found.values()
    )
    return Problem(
        "The step sizes of equal heads",
        f"${H}$ heads start at zero. One head reproduces their run with two step sizes, for its decoder "
        "and for $W$. Which are they\n\n"
        f"(a) under gradient descent with step size $\\eta={number(eta)}$?\n\n"
        "(b) under gradient descent with $\\eta\\sqrt H$?\n\n"
        "(c) under Adam with $\\eta$ (leave $\\varepsilon$ aside)?\n\n"
        "(d) In which of the three cases is their product the same for every number of heads?",
        f"(a) Gradient descent: $\\eta$ and $\\eta/H$, that is {same}.\n\n"
        f"(b) With $\\eta\\sqrt H$: $\\eta\\sqrt H$ and $\\eta/\\sqrt H$, that is {larger}.\n\n"
        "(c) A step of Adam does not depend on the scale of the gradient. So every entry of $W$ and of "
        "each decoder moves as it does in one head, and the one decoder, $\\sqrt H$ times that of a "
        f"head, moves $\\sqrt H$ times as far: $\\eta\\sqrt H$ and $\\eta$, that is {adam}.\n\n"
        "(d) The products are $\\eta^2/H$, $\\eta^2$, and $\\eta^2\\sqrt H$: only the second is the same "
        f"for every number of heads, ${number(eta**2)}$.",
        {"H": H, "eta": eta},
        found,
        counted(
            a=["both step sizes"],
            b=["both step sizes"],
            c=["both step sizes"],
            d=["the second case"],
        ),
        "In (b), only one of the two step sizes is multiplied by $\\sqrt H$: no point for (b), and (d) is "
        "marked as it follows.",
    )


def left_out(rng):
    n, G = int(rng.choice([50, 100, 200])), int(rng.choice([2, 4, 5]))
    eta = float(rng.choice([0.1, 0.2, 0.5]))
    falls = np.sort(rng.choice(np.arange(1, 14), 4, replace=False))[::-1] / 20
    losses, mine = falls, falls + 0.1
    distance, gap = 1.5 * eta * G / n * mine.sum(), 3 * eta * G**2 / n * losses.sum()
    return Problem(
        "Two runs, and a gap",
        f"A run of four steps with step size $\\eta={number(eta)}$ on $n={n}$ samples has the training "
        f"losses ${numbers(losses)}$ before its steps. Sample $i$ has the losses ${numbers(mine)}$. "
        f"Gradients of logits have norm at most $G={G}$, and the hypotheses of the stability theorem "
        "of chapter 7 hold.\n\n"
        "(a) How far apart can the run and the run without sample $i$ be after four steps?\n\n"
        "(b) How large can the expected gap between test and training loss be, if these losses are "
        "typical?",
        f"(a) The losses of sample $i$ add up to ${number(mine.sum())}$, so "
        "$\\|\\theta_4-\\theta_4^{-i}\\|\\le\\frac32\\,\\frac{\\eta G}n\\sum_{j<4}\\ell_i(\\theta_j)"
        f"={number(distance, 4)}$.\n\n"
        "(b) The expected gap is at most the mean of $2G\\,\\|\\theta_4-\\theta_4^{-i}\\|$ over the samples. "
        "By (a), it is at most $\\frac{3\\eta G^2}n$ times the expected sum of the training losses, because "
        "these are the means of the $\\ell_i$. Here this is"
        f" ${number(3 * eta * G**2 / n, 4)}\\cdot{number(losses.sum())}={number(gap, 4)}$.",
        {"n": n, "G": G, "eta": eta, "losses": losses, "mine": mine},
        {"distance": distance, "gap": gap},
        counted(
            a=["the sum of the losses of sample $i$", "the bound"],
            b=["the factor $3\\eta G^2/n$, and the sum of the training losses"],
        ),
        "In (a), the training losses are added, not those of sample $i$: 1 of 2 points.",
    )


def alignment(rng):
    ways = np.array(
        [(1, 0), (2, 0), (0, 1), (0, -2), (2, 2), (1, -1), (2, 1), (-1, 1), (2, -2), (1, 2)], float
    )
    heads = np.zeros((3, 2))
    # The alignment is positive, and that of the mean of different heads is larger, and not 1.
    while heads[:, 0].sum() <= 0 or heads[:, 1].sum() == 0:
        heads = ways[rng.choice(len(ways), 3, replace=False)]
    square, along = (heads**2).sum(), heads[:, 0].sum()
    cosine = along / np.sqrt(3 * square)
    equal = heads.mean(axis=0)
    agreed = equal[0] / np.linalg.norm(equal)
    said = ",\\ ".join(f"W_{h}={combined(*each)}" for h, each in enumerate(heads, 1))
    return Problem(
        "The alignment of three heads",
        "The planted matrix $W^*$ and a matrix $V$ have norm 1 and are orthogonal to each other. Three heads have "
        f"${said}$.\n\n"
        "(a) Compute the alignment of $W$.\n\n"
        "(b) All three heads are replaced by their mean. What is the alignment then?\n\n"
        "(c) Show that the alignment cannot fall by this if it is positive.",
        f"(a) The inner product of the stacked vectors is ${number(along)}$. Their norms are "
        f"$\\sqrt{{{number(square)}}}$ and $\\sqrt3$. So the alignment is "
        f"${number(along)}/\\sqrt{{{number(3 * square)}}}={number(cosine, 3)}$.\n\n"
        f"(b) The mean is ${combined(*equal, fraction)}$. Three equal heads have the cosine of one of them with $W^*$, "
        f"${number(agreed, 3)}$.\n\n"
        "(c) The inner product is the same, because that of each head with $W^*$ enters through their sum. The "
        "norm of the heads does not grow: $\\|\\bar W\\|^2\\le\\frac13\\sum_h\\|W_h\\|^2$, because the square "
        "is convex.",
        {"heads": heads},
        {"alignment": cosine, "of the mean": agreed},
        counted(
            a=["the inner product and both norms"],
            b=["the cosine of the mean"],
            c=["the same inner product, and a norm that is no larger"],
        ),
        "In (a), $W^*$ is not repeated, so that the factor $\\sqrt3$ is missing: no point for (a); the other parts do "
        "not depend on it.",
    )


def combined(along, across, said=number):
    """A multiple of W* plus one of V, as TeX."""
    terms = [(along, "W^*"), (across, "V")]
    shown = [
        ("-" if x < 0 else "+") + ("" if abs(x) == 1 else said(abs(x)) + "\\,") + name
        for x, name in terms
        if x
    ]
    return "".join(shown).removeprefix("+")


# --- week 5
# --------------------------------------------------------------------------------------------------


def whitened_step(rng):
    wide, narrow = 4.0, float(rng.choice([0.25, 1]))
    moment, eta = np.diag([wide, narrow]), float(rng.choice([0.1, 0.2]))
    slope = rng.choice([-4.0, -2.0, 2.0, 4.0], 2)
    whitening = Whitening.roots(moment)
    # a row of ∇_A L, pulled to U and back: ∇_A L Σ̂^{−1/2} Σ̂^{−1/2}
    step = -eta * slope @ whitening.inverse @ whitening.inverse
    plain = -eta * slope
    return Problem(
        "A plain step and a preconditioned step",
        f"Inputs have the second moment $\\hat\\Sigma={matrix(moment)}$. At the current matrices, "
        f"$A$ has one row, and $\\nabla_AL={row(slope)}$.\n\n"
        f"(a) By what does a step of gradient descent with step size ${number(eta)}$ change $A$, and by "
        "what a preconditioned step with the same step size?\n\n"
        "(b) How does each change $U=A\\hat\\Sigma^{1/2}$?\n\n"
        "(c) The first input is now measured in a unit half as large. What are $\\hat\\Sigma$ and "
        "$\\nabla_AL$ then, and which of the two steps makes the same change of $A$, expressed in the "
        "new unit?",
        f"(a) Plain: $-\\eta\\nabla_AL={row(plain)}$. Preconditioned: $-\\eta\\nabla_AL\\,"
        f"\\hat\\Sigma^{{-1}}={row(step)}$.\n\n"
        f"(b) $\\hat\\Sigma^{{1/2}}$ is diagonal with ${numbers(np.diag(whitening.root))}$, so $U$ changes "
        f"by ${row(plain @ whitening.root)}$ and by ${row(step @ whitening.root)}$.\n\n"
        "(c) The first input is twice as large a number, so its entry of $\\hat\\Sigma$ is "
        f"${number(4 * wide)}$, the first entry of $A$ is half as large, and that of the gradient "
        f"twice as large, ${number(2 * slope[0])}$.\n\n"
        f"The same change would be ${number(step[0] / 2, 4)}$ for the preconditioned step and "
        f"${number(plain[0] / 2)}$ for the plain one. The preconditioned step makes it, "
        f"$-\\eta\\cdot{number(2 * slope[0])}/{number(4 * wide)}$; the plain step makes "
        f"${number(2 * plain[0])}$.",
        {"moment": moment, "eta": eta, "slope": slope},
        {"plain": plain, "preconditioned": step, "of U": step @ whitening.root},
        counted(
            a=["the plain step", "the preconditioned step"],
            b=["both changes of $U$"],
            c=[
                "the new $\\hat\\Sigma$ and gradient",
                "the preconditioned step, and why not the other",
            ],
        ),
        "In (a), the gradient is multiplied by $\\hat\\Sigma^{-1/2}$, not by $\\hat\\Sigma^{-1}$: 1 of 2 "
        "points, and (b) is marked as it follows.",
    )


def tilted(rng):
    pairs = np.array([(1, 1), (4, 0.5), (0.25, 2), (2, 1), (0.5, 2)])  # variance, b: τ² is whole
    variances, b = rng.choice(pairs, 2, replace=False).T
    b = b * rng.choice([-1, 1], 2)
    n = int(rng.choice([1000, 2000, 5000]))
    mean, square = variances * b, variances @ b**2
    count = n * np.exp(-square)
    return Problem(
        "A tilted mean, and how many tokens share it",
        f"Tokens are Gaussian with mean zero and covariance $\\Sigma={matrix(np.diag(variances))}$. "
        f"A query gives the token $x$ the score $b^\\top x$ with $b={row(b)}^\\top$.\n\n"
        "(a) Toward which vector does the weighted average of the tokens tend as their number "
        "grows?\n\n"
        f"(b) What is the effective number of tokens, about, if there are ${n}$?\n\n"
        "(c) By what factor does that number change if the query is halved?",
        f"(a) The average tends to $\\Sigma b={row(mean)}^\\top$.\n\n"
        f"(b) The variance of a score is $\\tau^2=b^\\top\\Sigma b={number(square)}$. "
        f"The effective number is about $n\\,e^{{-\\tau^2}}={n}\\,e^{{-{number(square)}}}$, "
        f"that is about ${count:.0f}$.\n\n"
        "(c) If the query is halved, $\\tau^2$ is a quarter as large, and the number grows by the factor "
        f"$e^{{\\frac34\\tau^2}}$, that is ${number(np.exp(0.75 * square), 1)}$.",
        {"variances": variances, "b": b, "n": n},
        {"mean": mean, "count": count},
        counted(a=["$\\Sigma b$"], b=["the variance, and the number"], c=["the factor"]),
        "In (c), $\\tau^2$ is halved with the query: no point for (c). In (b), $\\|b\\|^2$ in place of "
        "$b^\\top\\Sigma b$: no point, and (c) is marked as it follows.",
    )


# --- week 6
# --------------------------------------------------------------------------------------------------


def two_kernels(rng):
    left, right = -float(rng.choice([1, 1.5, 2])), float(rng.choice([1, 1.5, 2]))
    q = float(rng.choice([-0.5, -0.3, 0.3, 0.5]))
    keys, query = np.array([[left], [0.0], [right]]), np.array([[q]])
    soft, gauss = (kernel(kernel.scores(query, keys))[0] for kernel in (mha.softmax, mha.gaussian))
    outer = "right" if q > 0 else "left"
    return Problem(
        "A key in the middle, in numbers",
        f"Three keys on a line are at ${number(left)}$, $0$, and ${number(right)}$, and the query is "
        f"at ${number(q)}$.\n\n"
        "(a) Compute the softmax weights and the Gaussian weights with $c=\\frac12$, to two "
        "decimals.\n\n"
        "(b) Which key has the largest weight under each kernel?\n\n"
        "(c) Is there a query at which the middle key has strictly the largest softmax weight?",
        f"(a) The softmax scores $qk_j$ are ${numbers(q * keys)}$, and the weights ${weights_of(soft)}$. "
        "The Gaussian weights, which are not divided by their sum, are "
        f"$e^{{-\\frac12(q-k_j)^2}}$, that is ${numbers(gauss)}$.\n\n"
        f"(b) The largest weight is that of the {outer} key under softmax, and that of the middle key under "
        "the Gaussian kernel.\n\n"
        "(c) No query selects the middle key under softmax: $q\\cdot0=0$ is never above both $qk_1$ and "
        "$qk_3$, which have opposite signs.",
        {"keys": keys, "q": q},
        {"softmax": soft, "gaussian": gauss},
        counted(
            a=["the softmax weights", "the Gaussian weights"],
            b=["both keys"],
            c=["no, with the reason"],
        ),
        "In (a), the Gaussian weights are divided by their sum: 1 of 2 points. The answer to (b) is the "
        "same.",
    )


def barrier(rng):
    trapped = not rng.integers(2)
    while True:
        keys = np.sort(rng.choice(np.arange(1, 7), 4, replace=False))[::-1].astype(float)
        values = rng.choice(np.arange(-3, 7), 4, replace=False).astype(float)
        means, start = top_means(keys, values), float(rng.choice([0.5, 1, 2]))
        best, first = means.max(), float(mha.softmax(start * keys) @ values)
        target, rises, second = np.floor(best) + 1, means[-1] <= means[0], values[1] > values[0]
        # queries left of zero meet the target, the start is held on the right, and of the last claim
        # both hypotheses hold, or one
        drawn_so = rises and second if trapped else rises != second
        if values[-1] > target and first > means[-1] + 0.1 and 4 * best % 1 == 0 and drawn_so:
            break
    least = 0.5 * (target - best) ** 2
    follows = (
        "Both hypotheses hold, so the loss has a strict local minimum there. By (c), it is spurious."
        if trapped
        else f"The {'second' if rises else 'first'} does not hold, so the claim says nothing here. The "
        "query misses the target all the same, by (c)."
    )
    return Problem(
        "What a query cannot reach",
        f"Four keys on a line, ${numbers(keys)}$, have the values ${numbers(values)}$. A query is "
        f"trained under softmax by gradient flow toward the target ${number(target)}$, with the loss "
        f"$\\frac12(o-y)^2$. It starts at $q_0={number(start)}$, where the output is "
        f"${number(first)}$.\n\n"
        "(a) Compute the means $A_i$ of the values of the $i$ largest keys.\n\n"
        "(b) Between which numbers does the output lie for $q\\ge0$, and which lower bound on the "
        "loss follows?\n\n"
        "(c) Why does the query never reach the target, although other queries have this output?\n\n"
        "(d) Do the hypotheses of the last claim of the barrier theorem hold, so that the loss has a "
        "strict local minimum at some $q>0$?",
        f"(a) $A_1,\\dots,A_4={numbers(means)}$.\n\n"
        f"(b) The output lies between ${number(means.min())}$ and ${number(best)}$, below the "
        f"target. So the loss is at least $\\frac12({number(target)}-{number(best)})^2"
        f"={number(least, 4)}$.\n\n"
        f"(c) At the start, the output exceeds $A_4={number(means[-1])}$, so the query stays on $q>0$, "
        "where (b) holds. As $q\\to-\\infty$, the output tends to the value of the smallest key, "
        f"${number(values[-1])}$. This is above the target and $A_4$ is below it, so some $q<0$ meets it."
        "\n\n"
        f"(d) The claim asks for $A_4\\le A_1$, here ${number(means[-1])}$ and ${number(means[0])}$, and "
        f"for a second largest key with a larger value than the largest, here ${number(values[1])}$ and "
        f"${number(values[0])}$. {follows}",
        {"keys": keys, "values": values, "target": target, "start": start},
        {"means": means, "first": first, "least": least, "traps": trapped},
        counted(
            a=["the four means"],
            b=["the smallest and the largest of them, and the bound"],
            c=[
                "the output at the start exceeds $A_4$, so the query stays on $q>0$",
                "queries left of zero meet the target, because the smallest key has a value above it",
            ],
            d=["both hypotheses are checked"],
        ),
        "In (a), the means begin with the smallest key: no point for (a), and the other parts are marked "
        "as they follow.",
    )


KINDS = {
    1: (weights, first_step, score_to_raise),
    2: (step_size, heads_for_hessian, leaving_a_saddle),
    3: (margin, stalled),
    4: (two_step_sizes, left_out, alignment),
    5: (whitened_step, tilted),
    6: (two_kernels, barrier),
}
