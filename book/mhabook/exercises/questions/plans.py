"""Questions of Part II, chapter 11: the law of data and compute."""

from mhabook.exercises.questions.question import Letter, Question, rounded

kappa = Letter("kappa", 1.2, 30, "the condition number", "κ")

PLANS = {
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
    "ex-11-cheaper": (
        rounded(
            "The samples of the cheapest plan for 10⁻³ with power=1",
            "1231",
            ("law is fit.law, the law of this chapter.", "scaling.plan(1e-3, law, power=1) has n and steps."),
            slips=(("1122", "This is the plan for power=2."),),
        ),
        rounded(
            "The floor's share of the target there",
            "0.846",
            ("scaling.split gives n, K and the share.", "scaling.split(1e-3, law, 1)[2]."),
            slips=(("0.926", "This is the share for power=2."),),
        ),
    ),
    "ex-11-radius": (
        rounded(
            "n times the error of the predictions at r = ½",
            "47.1",
            (
                "With s = values_of(2.0), V has the singular values v = √s · r/√s₁, and U has s/v.",
                "mean_excess(np.diag(s / v), np.diag(v)) + (0.25 - theory.fitted_noise(s, v)) / 2",
            ),
            slips=(("22.9", "This is φ, the error of the parameters."),),
            digits=3,
        ),
        Question(
            "The best of r = 0.1, 0.2, …, 0.6 for the predictions",
            "0.4",
            (),
            ("Compute the number for each of the six.", "It lies near ½, and is not ½."),
            slips=(("0.1", "This is best for the parameters."), ("0.5", "This is close; one neighbor is lower.")),
        ),
    ),
    "ex-11-typical": (
        rounded(
            "ρ of the law for the median",
            "0.773",
            (
                "np.median over the seeds is one run for each n; fit_law wants an axis for seeds in front.",
                "scaling.fit_law(steps, NS, median[None], resamples=1).law.factor",
            ),
            slips=(("0.854", "This is the factor for the mean."),),
        ),
        rounded(
            "φ of the law for the median",
            "1.056",
            ("The same fit's floor.", "It hardly differs from that of the mean."),
            digits=3,
        ),
    ),
    "ex-11-exponent": (
        Question(
            "Guess (a): the power of n of the excess",
            "-2/(1+v^2)",
            (Letter("v", 1.05, 4, "‖V‖"),),
            ("What size has the mean, and what has its square?", "The excess is quadratic in the shift."),
            slips=(("-1/(1+v^2)", "This is the mean; the excess is its square."),),
        ),
        Question(
            "Guess (b): the same at s_max = 2, where ‖V‖ = √2",
            "1-sqrt(3)",
            (),
            (
                "The shift of the optimum is of size n^(−ω), and the excess is its square.",
                "ω(√2) = (√3 − 1)/2.",
            ),
            slips=(("(1-sqrt(3))/2", "This is −ω; the excess is quadratic in the shift."),),
        ),
    ),
}
