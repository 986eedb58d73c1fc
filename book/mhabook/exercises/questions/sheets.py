"""Questions of the exercise sheets' own problems."""

from mhabook.exercises.questions.question import Letter, Question, rounded

H = Letter("H", 2, 64, "the number of heads", whole=True)
eta = Letter("eta", 0.02, 2, "the step size", "η")
r = Letter("r", 1.1, 4, "the factor")
q = Letter("q", -2, 2, "the query")
k = Letter("k", 0.3, 2, "the key")

SHEETS = {
    "ex-sheet-weights": (
        Question(
            "The weight of token j",
            "2*j/(T*(T+1))",
            (Letter("j", 1, 5, "which token", whole=True), Letter("T", 5, 12, "how many tokens", whole=True)),
            (
                "e^(log j) = j.",
                "Divide by 1 + 2 + … + T.",
            ),
            slips=(
                ("j", "This is not divided by the sum yet: weights add up to one."),
                ("j/T", "Divide by the sum of all T numbers, not by how many they are."),
            ),
        ),
        Question(
            "The smallest T for which no token has more than a tenth of the weight",
            "19",
            (),
            (
                "Which token has the largest weight?",
                "2/(T + 1) ≤ 1/10.",
            ),
        ),
    ),
    "ex-sheet-copies": (
        Question(
            "The logit of H equal heads",
            "sqrt(H)*phi",
            (H, Letter("phi", -2, 2, "the logit of one of them alone", "φ")),
            ("The sum of H equal numbers carries the factor 1/√H.",),
            slips=(("H*phi", "There is a factor 1/√H in front."), ("phi", "That would be the mean of the heads.")),
        ),
        Question(
            "The factor for each decoder, so that the logit is that of one head again",
            "1/sqrt(H)",
            (H,),
            ("The logit is linear in the decoders.",),
        ),
        Question(
            "The step size of the decoder of the one head that makes the run of eight heads with step size η",
            "eta",
            (eta,),
            (
                "The decoder of the one head is √8 times that of each of the eight.",
                "Each of the eight receives 1/√8 of the gradient; √8 times their step is a step with η.",
            ),
            slips=(("eta/8", "This is for W."), ("sqrt(8)*eta", "The gradient of each decoder has a factor, too.")),
        ),
        Question(
            "The step size of its W",
            "eta/8",
            (eta,),
            ("Equal heads share the gradient.", "The decoder's step size stays η; that of W does not."),
            slips=(("eta", "So it is for the decoder."), ("eta/sqrt(8)", "That is the factor of a decoder's entries.")),
        ),
    ),
    "ex-sheet-quadratic": (
        Question(
            "x after K steps, divided by x at the start",
            "(1-eta*lambda)^K",
            (
                Letter("eta", 0.05, 0.4, "the step size", "η"),
                Letter("lambda", 0.5, 6, "the curvature", "λ"),
                Letter("K", 1, 9, "the steps", whole=True),
            ),
            ("The gradient is λx. What is x − ηλx?",),
            slips=(
                ("1-K*eta*lambda", "Each step multiplies; the factors do not add."),
                ("(1-eta*lambda)^(2*K)", "This is the quotient of the losses."),
            ),
        ),
        Question(
            "The step size from which on the loss does not fall",
            "2/lambda",
            (Letter("lambda", 0.5, 6, "the curvature", "λ"),),
            ("When is |1 − ηλ| = 1?",),
            slips=(("1/lambda", "With this one a single step arrives."),),
        ),
    ),
    "ex-sheet-price": (
        Question(
            "The factor by which the heads of the training theorem grow",
            "r^6",
            (r,),
            (
                "√H is proportional to D₀² B, and B grows with the decoders.",
                "The decoders are bounded by those of the start plus 5 D₀.",
            ),
        ),
        Question(
            "The same for the count that looks at single heads",
            "r^4",
            (r,),
            ("It has D₀² in place of the third power.",),
        ),
    ),
    "ex-sheet-error": (
        Question(
            "The standard error of an accuracy p on M samples",
            "sqrt(p*(1-p)/M)",
            (Letter("p", 0.5, 0.98, "the accuracy"), Letter("M", 100, 2000, "samples", whole=True)),
            ("A sample is right with chance p. What is the variance of a number that is 1 with chance p, else 0?",),
            slips=(("p*(1-p)/M", "This is the variance."), ("sqrt(p*(1-p))/M", "The samples stand under the root.")),
        ),
        rounded("For p = 0.8 and the 872 sentences of a development set", "sqrt(0.16/872)", ("Put the numbers in.",)),
    ),
    "ex-sheet-effective": (
        Question(
            "The effective number of tokens",
            "n*exp(-tau^2)",
            (
                Letter("n", 100, 9000, "tokens", whole=True),
                Letter("tau", 0.1, 1.8, "standard deviation of the scores", "τ"),
            ),
            (
                "Write the sum of squared weights as a quotient of two means over the tokens.",
                "The mean of e^(τg) is exp(tau^2/2), that of e^(2τg) is exp(2*tau^2).",
            ),
            slips=(
                ("n*exp(-tau^2/2)", "The mean of the squares is exp(2*tau^2), and the other mean is squared."),
                ("exp(tau^2)/n", "This is the sum of squared weights; its inverse is asked for."),
            ),
        ),
        rounded("By this formula, for 1,000 tokens and τ = 2", "1000*exp(-4)", ("Put the numbers in.",)),
    ),
    "ex-sheet-halfway": (
        Question(
            "The output under softmax",
            "sigmoid(2*q*k)",
            (q, k),
            (
                "The scores are qk and −qk.",
                "Divide both weights by the first exponential.",
            ),
            slips=(("sigmoid(q*k)", "Only the difference of the two scores counts, and it is 2qk."),),
        ),
        Question(
            "The output under the Gaussian kernel with c = ½",
            "exp(-(q-k)^2/2)",
            (q, k),
            ("Nothing is normalized: the second key has the value 0 and does not count.",),
            slips=(
                ("sigmoid(2*q*k)", "Softmax divides weights by their sum; the Gaussian kernel does not."),
            ),
        ),
        Question(
            "The query above k at which the Gaussian output is ½",
            "k+sqrt(2*log(2))",
            (k,),
            ("Set e^(−(q − k)²/2) to ½.", "(q − k)²/2 is log 2."),
            slips=(("sqrt(2*log(2))", "This is the distance from the key."),),
        ),
        Question(
            "The slope of the softmax output in q",
            "2*k*sigmoid(2*q*k)*sigmoid(-2*q*k)",
            (q, k),
            ("The derivative of sigmoid(w) is sigmoid(w)*(1 - sigmoid(w)).",),
            slips=(("sigmoid(2*q*k)*sigmoid(-2*q*k)", "The argument 2qk has the derivative 2k."),),
        ),
        Question(
            "The slope of the Gaussian output in q",
            "-(q-k)*exp(-(q-k)^2/2)",
            (q, k),
            ("The exponent has the derivative −(q − k).",),
            slips=(("(q-k)*exp(-(q-k)^2/2)", "To the right of the key the output falls."),),
        ),
    ),
}
