"""Questions of Part I, chapters 1 and 2: the model, and its curvature."""

from mhabook.exercises.questions.question import Letter, Question, rounded

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
    "ex-1-uniform": (
        rounded(
            "The share of the 100 training labels that it gets right",
            "0.99",
            (
                "Each step uses grad.U and leaves W at zero.",
                "At η = 1 such a step is model - mha.MultiHeadAttention(0 * grad.W, grad.U).",
            ),
            slips=(("1", "One label stays wrong."),),
        ),
        rounded(
            "Its test loss after 2,000 steps",
            "0.0504",
            ("The test set is data.fresh(n=300, seed=1).", "model.loss(test.X, test.y) is the mean loss."),
        ),
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
    "ex-2-power": (
        rounded(
            "The largest eigenvalue of the loss's Hessian at the start of the run",
            "0.44721",
            (
                "start.hvp(data.X, data.y, V) is the Hessian times V, again a model.",
                "Divide V by its norm, multiply, and repeat: V.dot of the product tends to the eigenvalue.",
            ),
            digits=4,
        ),
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
}
