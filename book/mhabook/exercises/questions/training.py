"""Questions of Part I, chapters 5 to 8: heads against speed, a planted head, stability, random starts."""

from mhabook.exercises.questions.question import Letter, Question, rounded

eta = Letter("eta", 0.02, 2, "the step size", "η")
H = Letter("H", 2, 64, "the number of heads", whole=True)
beta = Letter("beta", 0.1, 0.95, "how much momentum keeps", "β")
decay = Letter("lambda", 0.001, 0.5, "the weight decay", "λ")

TRAINING = {
    "ex-5-factor": (
        Question(
            "The step size of W, with the factor H^(−a) in front",
            "eta/H",
            (eta, H, Letter("a", 0, 1.5, "the exponent")),
            ("Write the loss as a function of the one W that all heads share. Each head gets an equal part of it.",),
            slips=(("eta", "Each of the H equal heads receives only its share of the gradient."),),
        ),
        Question(
            "The step size of the one decoder Ũ = H^(1−a) U_h",
            "eta*H^(1-2*a)",
            (eta, H, Letter("a", 0, 1.5, "the exponent")),
            (
                "By the chain rule U_h receives 1/H of the gradient with respect to the common U_h, and that is "
                "H^(1−a) times the gradient in Ũ.",
                "So U_h moves by eta*H^(−a) times the gradient in Ũ. By how much does Ũ move?",
            ),
            slips=(
                ("eta*H^(-a)", "This is how U_h moves; Ũ is H^(1−a) times U_h."),
                ("eta", "This is so for a = ½ only."),
            ),
        ),
    ),
    "ex-5-decay": (
        Question(
            "The decay that W sees, written with its own step size η/H",
            "H*lambda",
            (H, decay),
            (
                "The term −ηλW is the same with any number of heads. Which step size stands in front of the gradient?",
                "ηλ = (η/H)·(Hλ).",
            ),
            slips=(
                ("lambda", "This is what Ũ sees."),
                ("lambda/H", "The other way round: the gradient got smaller, the decay did not."),
            ),
        ),
        Question(
            "The decay that Ũ sees",
            "lambda",
            (H, decay),
            ("Its step size is η, whatever H is.", "Its decay is ηλ a step, that of every entry."),
        ),
    ),
    "ex-5-momentum": (
        Question(
            "W after two steps of momentum, divided by W after two steps of gradient descent",
            "1",
            (beta,),
            (
                "Which gradients has W met in the first step and in the second?",
                "The first is zero, so the memory has nothing to add in the second.",
            ),
            slips=(("1+beta", "The memory of W is empty: its first gradient is zero."),),
        ),
        Question(
            "How many times longer later steps become, while the gradient stays the same",
            "1/(1-beta)",
            (beta,),
            ("m tends to the number with m = βm + ∇L.", "1 + β + β² + …"),
            slips=(("1+beta", "This is so after two steps; the sum goes on."),),
        ),
    ),
    "ex-5-short": (
        Question(
            "‖W_h‖ after k short steps, divided by what it is after two",
            "k*(k-1)/2",
            (Letter("k", 2, 40, "the number of steps", whole=True),),
            (
                "The decoder after j steps is j times that of one step, and W receives in step j + 1 a multiple of it.",
                "Add 1 + 2 + … + (k − 1).",
            ),
            slips=(
                ("k*(k+1)/2", "The first step does not move W: the decoder is still zero."),
                ("k^2/4", "Nearly, for many steps. The sum is exact."),
            ),
        ),
    ),
    "ex-5-largest": (Question("m²(1 − m²)/4 is at most", "1/16", (), ("Put x for m². Where is x(1 − x) largest?",)),),
    "ex-6-one": (
        Question(
            "The alignment, if the first head is W* and the others are as in the exercise",
            "1/H",
            (H,),
            (
                "The inner product with the planted head, repeated H times, gets something from the first head alone.",
                "It is ‖W*‖², and both stacks of heads have the length √H ‖W*‖.",
            ),
            slips=(("1/sqrt(H)", "This is the bound. It would need the other heads to be zero."),),
        ),
        Question(
            "The alignment, if the first head is a·W*",
            "a/sqrt(H*(a^2+H-1))",
            (Letter("a", 0.3, 9, "the length of the first head, in ‖W*‖"), H),
            (
                "What is the length of the stack of heads now?",
                "Its square is a² + H − 1, times ‖W*‖².",
            ),
        ),
    ),
    "ex-6-prune": (
        rounded(
            "The test accuracy of the second head alone",
            "0.797",
            (
                "Heads are counted from one: the second is model.W[[1]] with model.U[[1]].",
                "The factor √8 changes no sign, so it can be left out.",
            ),
            slips=(("0.812", "This is the accuracy of all eight heads."),),
        ),
    ),
    "ex-7-convex": (
        Question(
            "The constant in the bound on the distance of two runs, instead of 3/2",
            "1",
            (),
            ("How far can one step drive two models apart, if all eigenvalues of I − ηQ lie in [0, 1]?",),
        ),
        Question(
            "The constant in front of η Σ L_k, with 𝔼 G²/n, in the bound on the gap",
            "2",
            (),
            ("In the chapter it is 3, twice the constant of the stability bound.",),
        ),
        Question(
            "The constant in front of D₀², in the bound on η Σ L_k",
            "1/2",
            (),
            (
                "From exercise 4.2: 2η Σ_{k=1}^K L_k ≤ D₀² + 2ηK L(θ).",
                "Add 2η(L₀ − L_K) and divide by two.",
            ),
        ),
    ),
    "ex-7-replace": (
        Question(
            "The constant in front of 𝔼 G²/n · η Σ L_k, in the bound on the gap",
            "3",
            (),
            (
                "The two runs are each one sample away from the run without sample i.",
                "One difference of losses, with twice the distance, instead of two differences.",
            ),
            slips=(("3/2", "The run with a fresh sample is as far from θ^{−i} as the other one: two distances add."),),
        ),
    ),
    "ex-7-lipschitz": (
        Question(
            "The bound on the distance of the two runs after K steps, if ‖∇ℓ_i‖ ≤ G is all we know",
            "3/2*eta*G*K/n",
            (
                eta,
                Letter("G", 0.5, 9, "the bound on a gradient"),
                Letter("n", 5, 300, "samples", whole=True),
                Letter("K", 10, 2000, "steps", whole=True),
            ),
            (
                "Leaving sample i out changes one step by at most η G/n.",
                "The constant 3/2 of the theorem stays; the sum of the losses becomes K.",
            ),
            slips=(("eta*G*K/n", "Pushes of earlier steps may grow: the theorem has 3/2 in front."),),
        ),
    ),
    "ex-7-samples": (
        rounded(
            "Predicted without the logarithm: the factor from the target log 2 to 0.1",
            "log(2)/0.1",
            ("The form is 1/(γ²n) then.", "n is inversely proportional to the target."),
        ),
        rounded(
            "Computed: the factor from the target 0.693 to 0.1, at ζ = 0.2",
            "10.4",
            (
                "generalization.samples_needed(zeta=0.2, target=0.1).samples is one of the two numbers.",
                "The default target is 0.693.",
            ),
        ),
        Question(
            "Predicted without the logarithm: the factor for half of ζ",
            "4",
            (),
            ("γ is proportional to ζ.", "n is proportional to 1/γ²."),
            slips=(("2", "The margin enters squared."),),
        ),
        rounded(
            "Computed: the factor as ζ falls from 0.2 to 0.1, at the target 0.693",
            "4.59",
            ("Call samples_needed with zeta=0.1 and with zeta=0.2.", "Divide the first by the second."),
        ),
    ),
    "ex-7-estimate": (
        rounded(
            "σ = 0.3: the larger of the two divided by the smaller, at the step where this is most",
            "4.28",
            (
                "Take means over the samples: runs.left_loss.mean(axis=1), and the same of left_test_loss.",
                "The test loss is the larger one.",
            ),
        ),
        rounded(
            "The same for σ = 1",
            "1.27",
            ("Take noisy_runs in place of runs.", "Here the estimate is the larger one."),
        ),
    ),
    "ex-7-monotone": (
        Question(
            "The constant in place of 3",
            "3/2",
            (),
            (
                "Which of the two differences in the lemma would not be positive?",
                "One of the two is left, and each has half of the bound.",
            ),
            slips=(("1", "Half of 3 is wanted."),),
        ),
    ),
    "ex-8-mean": (
        Question(
            "The typical size of Φ′ at a random start, divided by that of Φ",
            "1/sqrt(H)",
            (H,),
            ("Φ′ is 1/H times a sum, Φ is 1/√H times the same sum.",),
            slips=(("1/H", "Φ has the factor 1/√H already."),),
        ),
        Question(
            "With Φ the first-order change of the logits is η times Θ times slopes. "
            "What stands in place of η with Φ′ at the step size ηH?",
            "eta",
            (eta, H),
            (
                "The Gram matrix of Φ′ is that of Φ, divided by how much?",
                "By H. And the step size is ηH.",
            ),
        ),
    ),
    "ex-8-nine": (
        rounded(
            "The mean difference of test accuracies, 64 heads less one, from the small start at η = 1",
            "-0.035",
            (
                'at_the_end("test_accuracy", 0.1, pair="49") has a row for each number of heads.',
                "Take the last row less the first, and its mean over the seeds.",
            ),
        ),
    ),
}
