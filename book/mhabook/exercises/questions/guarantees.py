"""Questions of Part I, chapters 3 and 4: what a start knows, and the training theorem."""

from mhabook.exercises.questions.question import Letter, Question, rounded

GUARANTEES = {
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
    "ex-3-kernel": (
        Question(
            "The entry of the Gram matrix for samples i and j",
            "T*a+T^2*a*b",
            (
                Letter("T", 2, 12, "tokens", whole=True),
                Letter("a", -1, 1.5, "⟨x̄_i, x̄_j⟩"),
                Letter("b", 0.1, 2, "⟨C_iψ, C_jψ⟩"),
            ),
            (
                "Add what U contributes and what W contributes; ε_h² = 1, and 1/H times H is 1.",
                "In U a feature is 𝟏x̄ᵀ, in W it is T x̄(Cψ)ᵀ, up to sign and the factor 1/√H.",
            ),
            slips=(
                ("T*a", "This is the part of U."),
                ("T*a+T*a*b", "A feature in W has the factor T, and two of them are multiplied."),
            ),
        ),
        Question(
            "B_Φ with H equal signs, divided by that of one head",
            "sqrt(H)",
            (Letter("H", 2, 64, "the number of heads", whole=True),),
            ("The logit is H^(−1/2) times the sum over the heads.", "With equal signs all heads say the same."),
            slips=(
                ("H", "There is the factor 1/√H in front of the sum."),
                ("1", "So it would be for the mean of the heads."),
            ),
        ),
    ),
    "ex-3-needs": (
        Question(
            "What y⟨ψ, μ_y − ν_j⟩ has to be",
            "zeta*S^2/2",
            (Letter("zeta", 0.05, 0.9, "the relevant share", "ζ"), Letter("S", 0.3, 3, "norm of the patterns")),
            (
                "It is so for ψ = ψ₀ = ½ζ(μ₊ − μ₋). Compute it there.",
                "⟨ψ₀, ν_j⟩ = 0, and ⟨μ₊ − μ₋, μ_y⟩ = yS².",
            ),
            slips=(("zeta*S^2", "ψ₀ has a factor ½."),),
        ),
        Question(
            "The dimension of the set of all such ψ",
            "d-M-1",
            (
                Letter("d", 12, 30, "the dimension", whole=True),
                Letter("M", 2, 9, "distracting patterns", whole=True),
            ),
            (
                "Two such ψ differ by a vector that is orthogonal to all μ_y − ν_j.",
                "These differences of M + 2 orthogonal patterns span a space of dimension M + 1.",
            ),
            slips=(("d-M-2", "The sum ξ of all patterns may be added as well: it does not vary along the tokens."),),
        ),
    ),
    "ex-3-infinite": (
        Question(
            "What W contributes to the limit of the Gram matrix, for samples i and j",
            "s^2*x*c",
            (
                Letter("s", 0.1, 2, "standard deviation of the decoders' entries"),
                Letter("x", 0.2, 3, "⟨X_i, X_j⟩"),
                Letter("c", 0.1, 2, "tr(C_iC_j)"),
            ),
            (
                "Head h contributes ⟨X_iᵀU_hC_i, X_jᵀU_hC_j⟩/H. The law of large numbers replaces the mean by 𝔼.",
                "𝔼 UᵀQU = s² tr(Q) I for any matrix Q.",
            ),
            slips=(("s*x*c", "The decoder enters both features: its variance is s²."),),
        ),
        rounded(
            "The maximum margin of the limit, for the data of chapter 3",
            "0.911",
            (
                "s² is the mean of the squared entries of ntk.first_phase(data, H=4).U[0].",
                "Add T⟨x̄_i, x̄_j⟩, take eigenvectors times roots of eigenvalues as features, and call max_margin.",
            ),
            slips=(("0.894", "This is the margin of U alone."),),
            digits=3,
        ),
    ),
    "ex-3-length": (
        Question(
            "The exact margin after a first phase with c times the step size",
            "sqrt(gU^2+(c*gW)^2)",
            (Letter("gU", 0.2, 2, "γ_U"), Letter("gW", 0.1, 2, "γ_W*, at c = 1"), Letter("c", 0.1, 9, "the factor")),
            (
                "Which of the two parts of the features knows the length of the decoder?",
                "The features in W are multiplied by c, those in U do not change. In the theorem both parts are least "
                "at the same samples, so their squares add up.",
            ),
            slips=(
                ("c*sqrt(gU^2+gW^2)", "The features in U at W = 0 are mean tokens: they do not grow with the step."),
                ("gU+c*gW", "Both parts are least at the same samples, and they are orthogonal: their squares add up."),
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
            "The new number of heads, divided by the old one",
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
    "ex-4-stationary": (
        rounded(
            "The largest share of the right side that the loss uses along the large run",
            "0.224",
            (
                "chained holds reference_loss, from_reference, squared_gradient and loss.",
                "Divide chained.loss by 5/3 of the reference's loss plus 4/3 of distance times norm of the gradient.",
            ),
        ),
    ),
    "ex-4-begin": (
        Question(
            "The smallest K for which the bound is below log 2, at η = 0.33, to two percent",
            "731",
            (),
            (
                "chain.guarantee gives the bound; its arguments are D₀, the loss 1/K of the reference, log 2, η and K.",
                "D₀ = (½ + log K)/γ with γ = demand.margin. Try K = 500 and K = 1000.",
            ),
            tolerance=0.02,
        ),
    ),
    "ex-4-share": (
        Question(
            "The predicted power of two",
            "6",
            (),
            (
                "D₀ doubles when γ is halved.",
                "√H is proportional to D₀³, if the decoders at the start are short.",
            ),
            slips=(("3", "This is the power of √H."), ("1", "This is the power of D₀.")),
        ),
        rounded(
            "The computed power, from ζ = 0.1 to 0.05",
            "5.68",
            (
                "convergence.mixture_demand(T=20, zeta=0.1).heads is one of the two numbers.",
                "np.log2 of their quotient.",
            ),
        ),
    ),
}
