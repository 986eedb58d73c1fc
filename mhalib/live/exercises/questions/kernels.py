"""Questions of Part III: two kernels, one layer, traps, slices, networks."""

from mhalib.live.exercises.questions.question import Letter, Question, rounded

c = Letter("c", 0.1, 2, "the width of the kernel")
d = Letter("d", 2, 40, "the dimension", whole=True)
sigma = Letter("sigma", 0.2, 1.2, "standard deviation of queries and keys", "σ")

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
}
