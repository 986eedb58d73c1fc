"""Questions of Part I, chapters 1 to 4: the model, its curvature, its start, its training theorem."""

from mhalib.live.exercises.questions.question import Letter, Question, rounded

u = Letter("u", 0.4, 3, "the decoder's entry")
w = Letter("w", -3, 3, "the key–query product")

MULTIHEAD = {
    "ex-1-two-tokens": (
        Question(
            "∂Φ/∂w, for any w",
            "u*sigmoid(w)*(1-sigmoid(w))",
            (u, w),
            (
                "Only the weight that query 1 gives to token 1 depends on w, and this weight is sigmoid(w).",
                "The derivative of sigmoid(w) is sigmoid(w)*(1 - sigmoid(w)).",
            ),
            slips=(
                ("sigmoid(w)*(1-sigmoid(w))", "The decoder multiplies what is read: where is u?"),
                ("u*sigmoid(w)", "This is Φ itself; its derivative is asked for."),
            ),
        ),
        Question(
            "The w at which it is largest",
            "0",
            (),
            (
                "With s = sigmoid(w) it is u*s*(1 - s). For which s between 0 and 1 is s*(1 - s) largest?",
                "At s = 1/2. Which w has sigmoid(w) = 1/2?",
            ),
            slips=(("1/2", "This is the sigmoid there; w itself is asked for."),),
        ),
        Question("How large it is there", "u/4", (u,), ("Put sigmoid(w) = 1/2 into the derivative.",)),
    ),
    "ex-1-half": (
        Question(
            "The gap g that puts weight 1 − ε on a share ζ of tokens",
            "log((1-eps)/eps*(1-zeta)/zeta)",
            (Letter("eps", 0.01, 0.6, symbol="ε"), Letter("zeta", 0.03, 0.6, symbol="ζ")),
            (
                "With the gap g a relevant token has the weight exp(g) times that of another. Write down the share of "
                "all relevant tokens together.",
                "Solve zeta*exp(g)/(zeta*exp(g) + 1 - zeta) = 1 - eps for exp(g), then take the logarithm.",
            ),
            slips=(
                (
                    "log((1-eps)/eps)",
                    "This is the gap for two sorts of tokens that are equally many; here one token in 1/ζ is relevant.",
                ),
            ),
        ),
        rounded("The gap for ζ = 0.1 and ε = 0.01", "log(99*9)", ("The logarithm is natural.",)),
    ),
    "ex-2-two-tokens": (
        Question(
            "The entry ∂²Φ/∂w² of the Hessian",
            "u*sigmoid(w)*(1-sigmoid(w))*(1-2*sigmoid(w))",
            (u, w),
            (
                "Φ = u*sigmoid(w); differentiate twice in w.",
                "With s = sigmoid(w) the first derivative is u*s*(1 - s), and s itself changes by s*(1 - s).",
            ),
            slips=(("u*sigmoid(w)*(1-sigmoid(w))", "This is the first derivative."),),
        ),
        Question("The entry ∂²Φ/∂w∂u", "sigmoid(w)*(1-sigmoid(w))", (w,), ("Φ is linear in u.",)),
    ),
    "ex-2-worst": (
        Question(
            "𝔼|Y − 𝔼Y| for q = ±1 with mean p",
            "2*p*(1-p^2)",
            (Letter("p", 0.02, 0.98, "the mean of q"),),
            (
                "q = −1 has probability (1 − p)/2. What is Y = (q − p)² for each of the two values? Its mean?",
                "𝔼Y = 1 − p². The two deviations contribute equally, so twice one of them is enough.",
            ),
            slips=(
                ("p*(1-p^2)", "The other value of q contributes as much again."),
                ("1-p^2", "This is 𝔼Y; its mean absolute deviation is asked for."),
            ),
        ),
        Question("The p > 0 at which it is largest", "1/sqrt(3)", (), ("Set the derivative of p − p³ to zero.",)),
    ),
    "ex-2-step": (
        rounded(
            "1/ρ at the start of the run",
            "0.01697",
            (
                "theory.smoothness(start, data) measures the left side, λ_max, and computes the right side, ρ.",
                "They are its .lhs and .rhs.",
            ),
        ),
        rounded("2/λ_max there", "4.4721", ("λ_max is the left side of the same check.",)),
    ),
    "ex-3-by-hand": (
        Question(
            "γ_U for T = 4, ζ = ½, M = 2, as a function of S",
            "S/sqrt(2)",
            (Letter("S", 0.3, 3, "norm of the patterns"),),
            ("γ_U = ζ S √(T/2).",),
        ),
        Question(
            "The quotient γ_W/γ_U, as a function of S",
            "S^3/8",
            (Letter("S", 0.3, 3, "norm of the patterns"),),
            (
                "γ_W has the factor ζ²(1 − ζ)T S⁴, divided by 2 √(M + 2) and by √2.",
                "γ_W/γ_U = ζ(1 − ζ) √T S³/(2 √(M + 2)); put the numbers in.",
            ),
            slips=(("S^4/8", "γ_W grows like S⁴, but γ_U grows like S."),),
        ),
        Question("The S from which on γ_W exceeds γ_U", "2", (), ("Where is the quotient 1?",)),
    ),
    "ex-3-length": (
        Question(
            "The exact margin after a first phase with c times the step size",
            "sqrt(gU^2+(c*gW)^2)",
            (Letter("gU", 0.2, 2, "γ_U"), Letter("gW", 0.1, 2, "γ_W*, at c = 1"), Letter("c", 0.1, 9, "the factor")),
            (
                "Which of the two parts of the features knows the length of the decoder?",
                "The features in W are multiplied by c, those in U do not change, and margins add like the sides of a "
                "right angle.",
            ),
            slips=(
                ("c*sqrt(gU^2+gW^2)", "The features in U at W = 0 are mean tokens: they do not grow with the step."),
                ("gU+c*gW", "The two parts are orthogonal: their squares add up."),
            ),
        ),
    ),
    "ex-4-constant": (
        Question(
            "The largest κD² with ι ≤ ¼",
            "8/17",
            (),
            (
                "Put x for κD²: x/2 ≤ (1 − x/8)/4.",
                "So x/2 + x/32 = 1/4.",
            ),
            slips=(
                ("7/16", "This is the constant of the text. The condition leaves a little more room."),
                ("1/2", "The denominator 1 − κD²/8 is not 1."),
            ),
        ),
        rounded(
            "The factor by which H falls",
            "(17/2*7/64)^2",
            (
                "√H ≥ 64/7 · D₀² B becomes √H ≥ 17/2 · D₀² B.",
                "H is the square of it.",
            ),
            slips=(("17/2*7/64", "This is the factor of √H."),),
            digits=3,
        ),
    ),
    "ex-4-convex": (
        Question(
            "The constant in front of D₀²/(ηK), instead of ⅔",
            "1/2",
            (),
            (
                "Sum the inequality for one step over all steps: what is left of the squared distances?",
                "2ηK L(θ_K) ≤ D₀² + 2ηK L(θ), because the losses fall.",
            ),
        ),
        Question("The constant in front of L(θ), instead of 5/3", "1", (), ("Divide the last inequality by 2ηK.",)),
    ),
    "ex-4-begin": (
        rounded(
            "The smallest K for which the bound is below log 2",
            "729",
            (
                "chain.guarantee gives the bound; its arguments are D₀, the loss 1/K of the reference, log 2, η and K.",
                "D₀ = (½ + log K)/γ with γ = demand.margin. Try K = 500 and K = 1000.",
            ),
            digits=3,
        ),
    ),
}
