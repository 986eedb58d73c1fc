"""Questions of Part II: tilted averages, factorization, data and compute."""

from mhalib.live.exercises.questions.question import Letter, Question, rounded

tau = Letter("tau", -1.5, 1.5, "the tilt", "τ")
v = Letter("v", 0.05, 0.68)
kappa = Letter("kappa", 1.2, 30, "the condition number", "κ")

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
    "ex-11-rate": (
        Question(
            "The best η",
            "kappa/(1+kappa)",
            (kappa,),
            (
                "The factors lie between 1 − 2η and 1 − 2η/κ. Where is the larger of the two absolute values least?",
                "Where they are opposite: 2η − 1 = 1 − 2η/κ.",
            ),
        ),
        Question(
            "The largest factor then",
            "(kappa-1)/(kappa+1)",
            (kappa,),
            ("Put the best η into 1 − 2η/κ.",),
            slips=(("((kappa-1)/(kappa+1))^2", "This is the factor of the excess, which is a square."),),
        ),
    ),
    "ex-11-rows": (
        Question(
            "The late factor of the excess",
            "(1-eta/kappa)^2",
            (Letter("eta", 0.05, 0.5, "the step size", "η"), kappa),
            (
                "In these rows only U corrects an error. What becomes of column i in a step?",
                "It is multiplied by 1 − η s_i/s₁, the last one by 1 − η/κ. The excess is quadratic.",
            ),
            slips=(
                ("1-eta/kappa", "This is the factor of the error; the excess is quadratic in it."),
                ("(1-2*eta/kappa)^2", "This is the factor inside the range of M, where U and V both correct."),
            ),
        ),
    ),
    "ex-11-tenth": (
        Question(
            "The number of steps that a tenth of the error adds, in the limit",
            "log(10)/log(1/rho)",
            (Letter("rho", 0.3, 0.97, "the factor per step", "ρ"),),
            (
                "What remains of the run is a·ρ^K.",
                "ρ to the power of the added steps is 1/10.",
            ),
        ),
        rounded("The same for ρ = 0.854", "log(10)/log(1/0.854)", ("Natural logarithms, or any other.",)),
    ),
}
