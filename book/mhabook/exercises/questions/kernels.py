"""Questions of Part III: two kernels, one layer, traps, slices, networks."""

from mhabook.exercises.questions.question import Letter, Question, rounded

c = Letter("c", 0.1, 2, "the width of the kernel")
d = Letter("d", 2, 40, "the dimension", whole=True)
eta = Letter("eta", 0.001, 0.5, "the step size", "η")
psi = Letter("psi", 0.2, 20, "the factor", "ψ")
sigma = Letter("sigma", 0.2, 1.2, "standard deviation of queries and keys", "σ")
samples = Letter("N", 3, 20, "samples", whole=True)
dimension = Letter("D", 2, 9, "dimension of a token", whole=True)

KERNELS = {
    "ex-12-turn": (
        Question(
            "The dimension of the group that softmax does not see",
            "d^2",
            (d,),
            ("Every invertible M leaves QKᵀ unchanged. How many free entries has it?",),
        ),
        Question(
            "The dimension of the group that the Gaussian kernel does not see",
            "d*(d-1)/2",
            (d,),
            (
                "With k = 0 the length of Mᵀq must be that of q.",
                "The orthogonal matrices: one rotation for each pair of axes.",
            ),
            slips=(
                (
                    "d*(d+1)/2",
                    "The orthogonal matrices satisfy d(d+1)/2 equations; their dimension is what is left of d².",
                ),
            ),
        ),
    ),
    "ex-12-lift": (
        Question(
            "The last entry of q̃, if k̃ = (k, ‖k‖²) and q̃ = (2c q, ?)",
            "-c",
            (c,),
            (
                "Write −c‖q − k‖² out. Which term does not depend on the key?",
                "−c‖q − k‖² = 2c q·k − c‖k‖² − c‖q‖², and softmax does not see the last term.",
            ),
            slips=(("c", "Mind the sign: long keys get less weight."),),
        ),
    ),
    "ex-12-equal": (
        Question(
            "F under softmax",
            "0",
            (),
            ("All value errors of the query are equal.", "What is the covariance of anything with a constant?"),
        ),
        Question(
            "F under the Gaussian kernel, for one key k and d = 1",
            "2*c*u*r*(k-q)*exp(-c*(q-k)^2)",
            (
                c,
                Letter("u", 0.3, 2, "the value"),
                Letter("r", -2, 2, "the residual"),
                Letter("q", -1, 1, "the query"),
                Letter("k", -1, 1, "the key"),
            ),
            (
                "F is the derivative of ½r² with respect to q, and the output is u e^(−c(q−k)²).",
                "r times the derivative of the output.",
            ),
            slips=(
                ("-2*c*u*r*(k-q)*exp(-c*(q-k)^2)", "This is the way the query moves; F is the derivative."),
                ("c*u*r*(k-q)*exp(-c*(q-k)^2)", "The square brings a factor 2."),
            ),
        ),
    ),
    "ex-12-third": (
        Question(
            "How many singular values of this Jacobian are not zero",
            "2",
            (),
            (
                "The divided weights sum to one, so their derivatives sum to zero.",
                "Three tokens: the output moves along differences of three values.",
            ),
            slips=(("3", "This is the Gaussian kernel without the division."),),
        ),
    ),
    "ex-13-one": (
        Question(
            "α = L under the Gaussian kernel",
            "o^2*x^2*exp(-2*c*r^2/sqrt(d))",
            (Letter("o", 0.3, 2, "‖W^O‖"), Letter("x", 0.3, 2, "‖x‖"), Letter("r", 0.1, 1.5, "‖q − k‖"), c, d),
            (
                "B is the row e^(−c r²/√d) xᵀ. What is its squared length?",
                "α and L are squared singular values of B and of W^O, multiplied.",
            ),
            slips=(("o^2*x^2*exp(-c*r^2/sqrt(d))", "The weight enters squared."), ("o^2*x^2", "This is softmax.")),
        ),
    ),
    "ex-13-below": (
        Question(
            "The least mean loss, relative to that of the output zero",
            "1-H*D/(N*n)",
            (
                Letter("H", 1, 4, "heads", whole=True),
                Letter("D", 2, 6, "dimension", whole=True),
                Letter("N", 5, 9, "samples", whole=True),
                Letter("n", 5, 8, "tokens", whole=True),
            ),
            (
                "Y is standard normal in a space of dimension Nn. What is the mean squared length of its part that a "
                "subspace of dimension HD cannot reach?",
            ),
            slips=(("H*D/(N*n)", "This is the part that can be fitted."),),
        ),
    ),
    "ex-13-below-code": (
        rounded(
            "The ratio for D = 16, predicted and, in the mean over the seeds, found",
            "1/2",
            (
                "One head, eight samples of four tokens: put the numbers into 1 − HD/(Nn).",
                "To check, np.linalg.lstsq gives the values that fit best; the rest is what cannot be reached.",
            ),
            digits=1,
        ),
    ),
    "ex-13-rank": (
        Question(
            "The largest rank of B under softmax",
            "min(N,D)",
            (samples, dimension),
            ("The weight of a single key is 1, in both heads.", "B is twice the same block."),
            slips=(("min(N,2*D)", "The two blocks are equal: the second adds no rank."),),
        ),
        Question(
            "The largest rank of B under the Gaussian kernel",
            "min(N,2*D)",
            (samples, dimension),
            ("The weight of sample i in head h is a number of its own.", "B = [Γ₁X Γ₂X] with two diagonal matrices."),
            slips=(("min(N,D)", "The two blocks differ: row i of each has its own factor."),),
        ),
    ),
    "ex-14-b1": (
        Question(
            "The least output that a query can have in B1, under softmax",
            "2/3",
            (),
            (
                "Which key has the value 0, and how much weight can it get at most?",
                "The key 0 is the mean of 1 and −1, so its weight is at most 1/3.",
            ),
        ),
        Question(
            "The least loss f",
            "1/24",
            (),
            ("Three tokens, each with ½(output − ½)².",),
            slips=(("1/72", "This is one token; there are three."),),
        ),
    ),
    "ex-14-stretch": (
        Question(
            "Keys k and queries q with this width see what stretched keys s·k and queries s·q see with width c",
            "s^2*c",
            (Letter("s", 0.3, 3, "the stretch"), c),
            ("The Gaussian kernel depends on c‖q − k‖².",),
            slips=(
                ("s*c", "The distance enters squared."),
                ("c/s^2", "The other way round: a larger spread is a narrower kernel."),
            ),
        ),
    ),
    "ex-15-two": (
        Question(
            "The curvature at the origin along (cos φ, sin φ)",
            "-sin(2*phi)",
            (Letter("phi", 0.1, 3, "the angle", "φ"),),
            (
                "Multiply the Hessian from both sides with the direction.",
                "−2 cos φ sin φ.",
            ),
            slips=(("sin(2*phi)", "Mind the sign: f = ½ − xy + …"),),
        ),
        Question(
            "The slice: f at the point t·(1, −1)",
            "(t^2+1)^2/2",
            (Letter("t", -2, 2),),
            ("Here xy = −t².",),
            slips=(("(t^2-1)^2/2", "This is the slice along (1, 1)."),),
        ),
    ),
    "ex-15-chance": (
        Question(
            "The β for p weights",
            "1/(2^(2/(p-2))-1)",
            (Letter("p", 4, 3000, "the number of weights", whole=True),),
            (
                "A random plane misses the way down with the chance (β/(β + γ))^((p−2)/2). Put ½ for it, and γ = 1.",
                "(1 + 1/β)^((p−2)/2) = 2.",
            ),
        ),
        rounded("The β for p = 10,002", "1/(2^(1/5000)-1)", ("Nearly 5000/log 2.",), digits=3),
    ),
    "ex-16-one": (
        Question(
            "The number of tokens at which a row sums to one on average",
            "(1+4*c*sigma^2/sqrt(d))^(d/2)",
            (c, sigma, d),
            (
                "A row of n weights has the mean n times that of one weight.",
                "n times (1 + 4cσ²/√d)^(−d/2) is 1.",
            ),
            slips=(("(1+4*c*sigma^2/sqrt(d))^(-d/2)", "This is the mean weight; n is its inverse."),),
        ),
        rounded("The same for d = 32, c = ½, gain 1", "(1+2/sqrt(32))^16", ("Gain 1 means σ = 1.",), digits=3),
    ),
    "ex-16-wide": (
        Question(
            "The limit of the mean weight for c = c₀/√d and d → ∞",
            "exp(-2*c0*sigma^2)",
            (Letter("c0", 0.1, 1.5, symbol="c₀"), sigma),
            (
                "Put c = c₀/√d into (1 + 4cσ²/√d)^(−d/2).",
                "(1 + x/d)^(−d/2) tends to e^(−x/2).",
            ),
        ),
    ),
    "ex-16-factor": (
        Question(
            "Gradient descent: the step size that ψW^V sees",
            "psi^2*eta",
            (eta, psi),
            (
                "The gradient in W^V is ψ times that in ψW^V.",
                "W^V moves by ηψ times the gradient in ψW^V. By how much does ψW^V move?",
            ),
            slips=(("psi*eta", "This moves W^V; ψW^V moves ψ times as far."),),
        ),
        Question(
            "Adam: how far its first step moves an entry of ψW^V",
            "psi*eta",
            (eta, psi),
            ("Adam's first step moves every entry of W^V by η.", "The size of the gradient does not matter."),
            slips=(("psi^2*eta", "Adam does not see the size of a gradient."),),
        ),
    ),
    "ex-16-best": (
        rounded(
            "Softmax × 4: by how much the best is higher than the last",
            "0.00275",
            (
                'chosen("softmax × 4", **ADAM)["test_accuracy"] has a row for each seed.',
                "Take the largest of each row and the last of each row, and the means of both.",
            ),
            digits=1,
        ),
    ),
}
