"""Questions of Part II, chapters 9 and 10: tilted averages, factorization."""

from mhabook.exercises.questions.question import Letter, Question, rounded

tau = Letter("tau", -1.5, 1.5, "the tilt", "τ")
v = Letter("v", 0.05, 0.68)

PRECONDITIONING = {
    "ex-9-moments": (
        Question(
            "𝔼 g² e^(τg)",
            "exp(tau^2/2)*(1+tau^2)",
            (tau,),
            (
                "Under the weights e^(τg)/𝔼 e^(τg) the variable g is normal again. With which mean and variance?",
                "Mean τ, variance 1. The second moment of that, times 𝔼 e^(τg) = exp(tau^2/2).",
            ),
            slips=(
                ("1+tau^2", "This is the mean under the tilted density; multiply by 𝔼 e^(τg)."),
                ("tau^2*exp(tau^2/2)", "The second moment is the squared mean plus the variance."),
            ),
        ),
        Question(
            "𝔼 (g − τ)² e^(2τg)",
            "exp(2*tau^2)*(1+tau^2)",
            (tau,),
            ("Tilted by 2τ, g has the mean 2τ. And g − τ?",),
            slips=(("1+tau^2", "This is the mean under the tilted density; multiply by 𝔼 e^(2τg)."),),
        ),
    ),
    "ex-9-mean": (
        Question(
            "The limit of f(x), for d = p = 1",
            "A*(mu+Sigma*B*x)",
            (
                Letter("A", 0.3, 2, "what reads out"),
                Letter("B", -1, 1, "what makes the scores"),
                Letter("mu", -2, 2, "the mean of the tokens", "μ"),
                Letter("Sigma", 0.2, 2, "their variance", "Σ"),
                Letter("x", -1.5, 1.5, "the query"),
            ),
            (
                "Write a token as μ + x′. Which part of its score is the same for all tokens?",
                "The weights are those of the x′, whose mean under them tends to ΣBx.",
            ),
            slips=(
                ("A*Sigma*B*x", "What is averaged has a mean of its own."),
                ("A*(mu+Sigma*B*(x-mu))", "x is the query here, given as it is."),
            ),
        ),
    ),
    "ex-9-threshold": (
        Question(
            "𝔼 e^(v²z²), where it is finite",
            "1/sqrt(1-2*v^2)",
            (v,),
            (
                "The integrand is e^(−(½ − v²)z²)/√(2π).",
                "∫ e^(−az²) dz = √(π/a).",
            ),
            slips=(("1/(1-2*v^2)", "A Gaussian integral on a line has a square root."),),
        ),
        Question(
            "The second threshold: the v from which on the variance is infinite",
            "1/2",
            (),
            ("The variance needs the mean of the square of e^(v²z²).",),
            slips=(("1/sqrt(2)", "This is the first threshold, that of the mean."),),
        ),
    ),
    "ex-9-queries": (
        Question(
            "The u from which the error is derived to come",
            "(1+4/v^2)^(-1/4)",
            (Letter("v", 0.75, 5, "‖V‖"),),
            ("u² = y*.", "A fourth root: y* is one over a square root."),
            slips=(("1/sqrt(1+4/v^2)", "This is y* = u²."),),
        ),
        Question(
            "Where half of the mean error lies for v = 1 at n = 10⁶, as u, to two percent",
            "0.571",
            (),
            (
                "Sum query_error(1e6, v*z)[0]*exp(-z*z/2) over a fine grid of z > 0.",
                "u = v z/√(2 ln n) where the sum passes half of its total.",
            ),
            tolerance=0.025,
        ),
        Question(
            "The same for v = 2",
            "1.018",
            (),
            ("Only v changes.", "The derived number is 0.84; this one is larger."),
            tolerance=0.025,
        ),
    ),
    "ex-9-largest": (
        rounded(
            "𝔼 Σ_j π_j² at n = 10⁶",
            "0.543",
            (
                "finite_context.query_error(n, tau) gives the error and this number.",
                "tau is 2*np.sqrt(2*np.log(1e6)).",
            ),
        ),
        rounded(
            "How many tokens share the weight, nearly",
            "2",
            ("One over the sum of squared weights.", "The sums lie between 0.51 and 0.57."),
            digits=1,
        ),
    ),
    "ex-9-own": (
        Question(
            "The power of n, where v − v²/2 is above ¼",
            "-1/(2*v-v^2)",
            (Letter("v", 0.35, 1.65),),
            (
                "At z = s√(2 ln n), with k = v − v²/2, the exponent is −s² − 2 + 4ks² up to s² = 1/(2k), then −s².",
                "For 4k > 1 it rises up to s² = 1/(2k), and falls from there.",
            ),
            slips=(("-2", "This is the value at s = 0, the largest for 4k ≤ 1 only."),),
        ),
        Question(
            "The power of n, where v − v²/2 is below ¼",
            "-2",
            (),
            ("The exponent falls in s everywhere.", "Its largest value is that at s = 0."),
        ),
    ),
    "ex-10-scalar": (
        Question(
            "The largest eigenvalue of ∇²Q at the origin",
            "s",
            (Letter("s", 0.2, 4),),
            ("Near the origin Q is ½s² − s·uv, plus terms of fourth order.",),
        ),
        Question(
            "The two equal eigenvalues of ∇²Q at (√s, √s)",
            "2*s",
            (Letter("s", 0.2, 4),),
            ("Add the Hessians of ½(uv − s)² and of ⅛(u² − v²)² there.",),
            slips=(("s", "Each of the two parts has the eigenvalue 2s, in directions of its own."),),
        ),
    ),
    "ex-10-spectrum": (
        Question(
            "How many of the eight eigenvalues are equal to 3?",
            "3",
            (),
            ("For p = d the eigenvalues other than zero are the sums s_i + s_j. Where does 2 + 1 come up?",),
        ),
        Question(
            "The best step size near the optimum",
            "1/3",
            (),
            ("Between the smallest positive eigenvalue a and the largest b the best one is 2/(a + b).",),
        ),
        Question(
            "The same for singular values s₁ > s₂ in place of 2 and 1: the factor per step",
            "(s1-s2)/(s1+s2)",
            (Letter("s1", 2, 5, symbol="s₁"), Letter("s2", 0.2, 1.9, symbol="s₂")),
            (
                "The curvature that matters lies between 2 s₂ and 2 s₁.",
                "The factor is (b − a)/(b + a).",
            ),
        ),
    ),
    "ex-10-escape": (
        Question(
            "How long the run stays, for s = s_j, in the flow of Q",
            "log(1000)/s",
            (Letter("s", 0.05, 2),),
            ("When is 10⁻³ e^(st) of order 1?",),
        ),
        Question(
            "How long at least at the flat saddle, in the flow of L, for s = s′ = s_j and g = 10",
            "100*log(1000)/(3*s^2)",
            (Letter("s", 0.05, 2),),
            ("The rate is at most 3 s²/g² instead of s.",),
            tolerance=0.01,
        ),
    ),
    "ex-10-drift": (
        Question(
            "The power of η with which the change of D falls",
            "1",
            (),
            ("A step changes D by terms of order η².", "A run of length 5 has 5/η steps."),
            slips=(("2", "This is the change in one step; a run of fixed length has 5/η of them."),),
        ),
    ),
    "ex-10-minibatch": (
        Question(
            "The steps of the full batch that cost as many weights as K steps with b of n queries",
            "K*b/n",
            (
                Letter("K", 20, 900, "steps", whole=True),
                Letter("b", 8, 64, "queries of a step", whole=True),
                Letter("n", 100, 900, "tokens", whole=True),
            ),
            ("A query meets all n tokens: b queries cost bn weights.", "A step of the full batch costs n²."),
            slips=(("K*b^2/n^2", "All tokens stay in the context; only the queries get fewer."),),
        ),
    ),
}
