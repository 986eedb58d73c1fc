"""Questions of the pages before the first chapter: softmax, descent and curvature, the tangent kernel."""

from mhabook.exercises.questions.question import Letter, Question, rounded

u0 = Letter("u0", -2, 2, symbol="u₀")
w0 = Letter("w0", -2, 2, symbol="w₀")
x = Letter("x", -3, 3)
other = Letter("xp", -3, 3, symbol="x′")
H = Letter("H", 2, 9, "the number of heads", whole=True)
m = Letter("m", 0.3, 6, "the margin that is wanted")
gamma = Letter("gamma", 0.2, 3, "the margin of the features", "γ")

START = {
    "ex-softmax-gap": (
        Question(
            "The gap g with which the first token has the weight p",
            "log(p*(T-1)/(1-p))",
            (Letter("p", 0.05, 0.98, "its weight"), Letter("T", 2, 60, "how many tokens", whole=True)),
            (
                "The weight is e^g/(e^g + T − 1).",
                "Set it to p, and solve for e^g before you take the logarithm.",
            ),
            slips=(
                ("log(p/(1-p))", "This is the gap for two tokens; here T − 1 others share what is left."),
                ("log(p*T/(1-p))", "The token itself is none of the others: there are T − 1 of them."),
            ),
        ),
        rounded("The gap for p = 0.9 and T = 10", "log(81)", ("The logarithm is natural.",), digits=3),
    ),
    "ex-softmax-cooling": (
        rounded(
            "m′(1) for v = a = (1, 0, −1)",
            "(e+1/e)/(e+1+1/e)-((e-1/e)/(e+1+1/e))^2",
            (
                "A covariance of a with itself is a variance: the mean of a², less the square of the mean of a.",
                "The weights are 0.665, 0.245 and 0.090.",
            ),
            slips=(
                ("(e+1/e)/(e+1+1/e)", "This is the mean of a²; subtract the square of the mean."),
                ("(e-1/e)/(e+1+1/e)", "This is m(1) itself; its derivative is asked for."),
            ),
            digits=3,
        ),
    ),
    "ex-softmax-fastest": (
        Question(
            "The weight π₁ at which ∂π₁/∂a₁ is largest",
            "1/2",
            (),
            ("The derivative is π₁(1 − π₁).",),
            slips=(("1/4", "This is the derivative there; the weight is asked for."),),
        ),
        Question("The derivative there", "1/4", (), ("Put the weight into π₁(1 − π₁).",)),
        rounded(
            "How many times smaller it is at π₁ = 0.99",
            "0.25/0.0099",
            ("What is π₁(1 − π₁) at 0.99?",),
            slips=(("0.0099/0.25", "The other way round: how many times smaller?"),),
            digits=3,
        ),
    ),
    "ex-softmax-slope": (
        Question(
            "The largest slope ∂m/∂a₁",
            "(v1-vbar)/4",
            (
                Letter("v1", 0, 4, "what the token offers", "v₁"),
                Letter("vbar", -4, 0, "the mean of the others", "v̄"),
            ),
            (
                "The other weights keep their ratios, so m = π₁v₁ + (1 − π₁)v̄.",
                "Only π₁ depends on a₁, and its derivative is π₁(1 − π₁).",
            ),
            slips=(("v1-vbar", "This is the derivative with respect to π₁; a₁ moves π₁ by π₁(1 − π₁) at most."),),
        ),
        rounded(
            "The same in the figure, with v = (2, 1, −1) and the other scores 0 and −1",
            "(2-(1-1/e)/(1+1/e))/4",
            ("The other two have the weights 1/(1 + 1/e) and (1/e)/(1 + 1/e) among themselves.",),
            slips=(("1/2", "The mean of the others is a weighted one: their scores are 0 and −1."),),
            digits=3,
        ),
        rounded(
            "The score a₁ at which the figure has it",
            "log(1+1/e)",
            (
                "There π₁ is ½.",
                "So e^a₁ is as large as the exponentials of the other two scores together.",
            ),
            digits=3,
        ),
    ),
    "ex-descent-two": (
        Question(
            "The step size up to which descent comes down",
            "1/2",
            (),
            ("Each coordinate is multiplied by 1 − ηλ. For which η is that −1 for the larger curvature?",),
            slips=(
                ("8", "This is the border of the flat direction; the steep one has left long before."),
                ("1/4", "With this one the steep coordinate arrives in a single step."),
            ),
        ),
        Question(
            "The step size with the smallest largest factor",
            "8/17",
            (),
            (
                "The factors of both directions are equal in size there, and differ in sign.",
                "1 − η/4 = 4η − 1.",
            ),
            slips=(("1/4", "Here the steep factor is 0 and the flat one 15/16. A longer step balances them."),),
        ),
        Question(
            "The largest factor there, in size",
            "15/17",
            (),
            ("Put the step size into 1 − η/4.",),
            slips=(
                ("-15/17", "Its size is asked for."),
                ("15/16", "This is the flat factor at η = ¼."),
            ),
        ),
    ),
    "ex-descent-steps": (
        Question(
            "The K at which the flat coordinate has kept the share ε",
            "log(eps)/log(1-eta*lambda)",
            (
                Letter("eps", 0.001, 0.5, "the share", "ε"),
                Letter("eta", 0.1, 0.9, "the step size", "η"),
                Letter("lambda", 0.05, 0.9, "the curvature", "λ"),
            ),
            (
                "After K steps the coordinate has been multiplied by (1 − ηλ)^K.",
                "Set this to ε and take logarithms; K need not be whole here.",
            ),
            slips=(
                ("log(1/eps)/(eta*lambda)", "This is the estimate for small ηλ. The exact number has log(1 − ηλ)."),
                ("log(eps)/log(eta*lambda)", "A step multiplies by 1 − ηλ."),
            ),
        ),
        Question(
            "The number of steps for ε = 1/1000 in the valley, with η = 1",
            "135",
            (),
            ("The flat direction has λ = 0.05.",),
            slips=(
                ("log(1/1000)/log(0.95)", "Steps are whole: take the next one."),
                ("134", "After 134 steps it is still a little above one thousandth."),
                ("139", "This is from the estimate for small ηλ; the factor 0.95 itself needs fewer."),
            ),
        ),
    ),
    "ex-descent-leaving": (
        Question(
            "The number of steps until the distance is above 0.1",
            "52",
            (),
            (
                "The curvature is negative: 1 − ηλ = 1 + 0.5·0.5.",
                "The distance has to grow by the factor 10⁵.",
            ),
            slips=(
                ("log(10^5)/log(1.25)", "Steps are whole: take the next one."),
                ("51", "After 51 steps it is still below 0.1."),
            ),
        ),
        rounded(
            "How many more steps a start costs that is a thousand times nearer",
            "log(1000)/log(1.25)",
            ("Which K has 1.25^K = 1000?",),
        ),
    ),
    "ex-descent-h": (
        Question(
            "The h at which h² and ε/h are equal",
            "eps^(1/3)",
            (Letter("eps", 1e-16, 1e-14, "the rounding", "ε"),),
            ("The formula errs by about h², rounding by about ε/h.", "h³ = ε."),
            slips=(("sqrt(eps)", "So it would be for a difference on one side, which errs by h."),),
        ),
    ),
    "ex-tangent-product": (
        Question(
            "The kernel Θ(x, x′)",
            "(u0^2+w0^2)*x*xp",
            (u0, w0, x, other),
            (
                "The gradient in (u, w) is (w₀x, u₀x).",
                "The kernel is the inner product of the gradients of two samples.",
            ),
            slips=(
                ("u0*w0*x*xp", "Multiply the gradients entry by entry, and add the two products."),
                ("(u0^2+w0^2)*x^2", "One gradient belongs to x, the other to x′."),
            ),
        ),
        Question(
            "The model minus its linearization, after a move by (δu, δw)",
            "x*du*dw",
            (x, Letter("du", -1, 1, symbol="δu"), Letter("dw", -1, 1, symbol="δw")),
            (
                "Write (u₀ + δu)(w₀ + δw)x out. Which of its terms has the linearization not?",
                "The linearization has no product of two moves.",
            ),
        ),
        Question(
            "The kernel for u₀ = 2, w₀ = 1, x = 3, x′ = −1",
            "-15",
            (),
            ("Put the numbers in.",),
            slips=(("15", "The two samples have different signs."),),
        ),
    ),
    "ex-tangent-wide": (
        Question(
            "The norm ‖∇²Φ‖₂",
            "abs(x)/sqrt(H)",
            (x, H),
            (
                "Only u_h and w_h of the same head meet in a product: there is a block for each head.",
                "A block is x/√H times the matrix with rows (0, 1) and (1, 0).",
            ),
            slips=(
                ("x/sqrt(H)", "A norm is not negative, and x may be."),
                ("abs(x)/H", "The factor in front of Φ is 1/√H, and the Hessian is linear in Φ."),
                ("abs(x)", "This is for one head."),
            ),
        ),
        Question(
            "The mean of the kernel Θ(x, x′) over the starts",
            "2*x*xp",
            (H, x, other),
            (
                "The kernel is a mean over the heads: the factor 1/√H enters twice.",
                "𝔼u_h² = 𝔼w_h² = 1.",
            ),
            slips=(
                ("x*xp", "Both u_h² and w_h² have the mean 1."),
                ("2*H*x*xp", "The factor 1/√H in Φ enters the kernel squared."),
            ),
        ),
    ),
    "ex-tangent-way": (
        Question(
            "The length of the move along θ* after which every sample has a margin of at least m",
            "m/gamma",
            (m, gamma),
            ("A move of length D along θ* raises every margin by at least γD.",),
            slips=(("m*gamma", "A larger margin of the features means a shorter way."),),
        ),
        Question(
            "The number of heads H at which κ = B/√H is γ²/m",
            "B^2*m^2/gamma^4",
            (Letter("B", 0.5, 5, "the constant of the curvature"), m, gamma),
            ("Solve B/√H = γ²/m for √H.", "√H is Bm/γ². Square it."),
            slips=(("B*m/gamma^2", "This is √H."),),
        ),
    ),
    "ex-tangent-still": (
        rounded(
            "The share of the kernel that has changed after 200 steps, with 4 heads",
            "0.4723",
            (
                "mha.train(start, data, step, steps=200)[-1] is the model at the end.",
                "Θ is features @ features.T with features = model.features(data.X); np.linalg.norm gives ‖·‖_F.",
            ),
        ),
        rounded(
            "The same with 64 heads",
            "0.0456",
            ("mha.MultiHeadAttention.random(H=64, T=4, d=4, seed=0) is the start.",),
        ),
    ),
}
