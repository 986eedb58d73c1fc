# ruff: noqa: E501
"""Mutants of the ledger that are true if the statement is: which they are, and why, in one line.

A reason is a proof, and never that no instance refutes the mutant. ``mhabook.mutants`` sets these
apart, and stops where an instance refutes one of them: then the reason is wrong.
"""

ROOM = "The error that rounding or drawing is allowed stays positive and of the same size."
NO_ROOM = "What is left for rounding is no part of the claim, which is true without it."
SHARED = "The tokens are independent: ``shared`` and ``tied`` are 0."
ONE_HEAD = "The claim is true of each of several heads, too."
FEWER = "Where it refuses more, it claims less."
AT_ZERO = "At margin 0 D₀ is infinite, and no number of heads is enough."
LARGEST = "A mean and the least of ratios are at most the largest."
TANGENT = "tan y ≤ y/(1 − 4y²/π²), because (1 − 4y²/π²) tan y/y is 1 at 0 and none of its partial fractions grows with y"
TWICE = (
    "From θ_k to θ each margin is within ½κ‖θ_k − θ‖² ≤ 7/32 of its tangent at θ_k. And ℓ(z) + qz ≥ H(q) with the binary entropy H, "
    "with equality for q = |ℓ′(z)|. So with p = |ℓ′| at θ_k, 2⟨∇L(θ_k), θ_k − θ⟩ + (5/2)L(θ) − 2L(θ_k) is at least the mean over the "
    "samples of (5/2)H(0.8p) − 2H(p) − (7/16)p, which is convex in p, 0 at 0, and has slope 2 log 1.25 − 7/16 > 0 there, so at "
    "least 0: with the descent of a step 2ηΣ_{k≥1} L_k ≤ D₀² − ‖θ_K − θ‖² + (5/2)ηK L(θ)"
)
NEAR = f"{TWICE}. As ηK L(θ) ≤ D₀², by induction ‖θ_k − θ‖² ≤ 3.5D₀², so that ‖θ_k − θ‖ ≤ 1.871D₀ and ‖θ_k − θ₀‖ ≤ 2.871D₀."
MORE_COLUMNS = "More heads add columns to B, so that neither its rank nor σ_min(B) falls."
SIGN = "The label enters as yℓ′, and the bound asks for |yℓ′| = |ℓ′| alone."

FACTOR_ONE = "In this row the factor is 1."
DEVIATION = ("hessian_constant: deviation * decoder_sizes(model)[0] → decoder_sizes(model)[0]",)
EXCESS = (
    "_excess: (values / bounds).max() → (values / bounds).mean()",
    "_excess: (values / bounds).max() → (values / bounds).min()",
)
STAYS = (
    "stays_near: 2 → 0.96 * 2",
    "stays_near: 2 → 0.98 * 2",
    "stays_near: 3 → 0.96 * 3",
    "stays_near: 3 → 0.98 * 3",
)
GUARANTEE = (
    "guarantee: 2 * distance ** 2 / (3 * lr * k) + 5 * reference_loss / 3 + start_loss / (3 * k) → 2 * distance ** 2 / (3 * lr * k) + 5 * reference_loss / 3",
    "guarantee: 2 → 0.96 * 2",
    "guarantee: 2 → 0.98 * 2",
    "guarantee: 3 → 1.04 * 3",
    "guarantee: 3 → 1.02 * 3",
    "guarantee: 5 → 0.96 * 5",
    "guarantee: 5 → 0.98 * 5",
    "guarantee: 3 → 1.04 * 3 (2)",
    "guarantee: 3 → 1.02 * 3 (2)",
    "guarantee: start_loss / (3 * k) → 1.0 / (3 * k)",
    "guarantee: 3 → 1.04 * 3 (3)",
    "guarantee: 3 → 1.02 * 3 (3)",
)

TRUE: dict[str, dict[str, tuple[str, ...]]] = {
    "lemma-selection": {
        "By Jensen's inequality Σ e^s over the relevant tokens is at least that of their mean score.": (
            "selection: scores[relevant].min() → scores[relevant].mean()",
        )
    },
    "lemma-logistic": {
        "Without ℓ″ the claim 1 − ℓ″ ≤ 1 says 1 ≤ 1.": ("self_bounded_slope: 1 - curvature → 1",)
    },
    "prop-1-hessian": {FACTOR_ONE: DEVIATION},
    "prop-1-recalled": {
        "√(1 + x²) ≤ 1 + x for x = R²‖θ‖: the factor of ‖θ‖ in β₁ may be anything from 1 on.": (
            "recalled_bounds: 2 → 0.96 * 2",
            "recalled_bounds: 2 → 0.98 * 2",
        ),
        "B ≤ √T R³ (1 + x), x = R²‖θ‖: every product of two constants of β₃ may be anything from 1 on.": (
            "recalled_bounds: 2 → 0.96 * 2 (2)",
            "recalled_bounds: 2 → 0.98 * 2 (2)",
            "recalled_bounds: 3 → 0.96 * 3",
            "recalled_bounds: 3 → 0.98 * 3",
            "recalled_bounds: 3 * d ** 0.5 → 3",
            "recalled_bounds: 1 → 0.96 * 1 (2)",
            "recalled_bounds: 1 → 0.98 * 1 (2)",
        ),
        "A larger B is a bound as well, and β₃ ≥ 2B.": (
            "curvature: 4 → 1.04 * 4",
            "curvature: 4 → 1.02 * 4",
            "curvature: 2 → 0.96 * 2",
            "curvature: 2 → 0.98 * 2",
        ),
        "G and B ask for ‖θ‖ ≥ max ‖U_h‖ alone, so that ‖W_h‖² may be any number ≥ 0.": (
            "recalled_bounds: (model.W ** 2).sum(axis=(1, 2)) → (model.W ** 2).max(axis=(1, 2))",
        ),
        FACTOR_ONE: DEVIATION,
    },
    "cor-1-smoothness": {
        SIGN: ("loss_hessian: y * loss.slope(z) → loss.slope(z)",),
        FACTOR_ONE: DEVIATION,
    },
    "cor-1-weak-convexity": {
        SIGN: ("loss_hessian: y * loss.slope(z) → loss.slope(z)",),
        FACTOR_ONE: DEVIATION,
    },
    "cor-1-self-bounded": {
        SIGN: ("loss_hessian: y * loss.slope(z) → loss.slope(z)",),
        FACTOR_ONE: DEVIATION,
    },
    "cor-1-quasi-convexity": {
        FACTOR_ONE: DEVIATION,
        "At κD² = 8 the bound is infinite.": ("short_segment: curvature < 8 → curvature <= 8",),
    },
    "lemma-1-blocks": {
        "Heads are counted: fewer than 1.92 are fewer than 2.": (
            "block_diagonal: 2 → 0.96 * 2",
            "block_diagonal: 2 → 0.98 * 2",
        )
    },
    "lemma-margin-distance": {
        "A weight that is exactly 0 changes no sum.": (
            "_solve: wanted.min() > 0 → wanted.min() >= 0",
        )
    },
    "thm-exact-margin": {
        "A weight that is exactly 0 changes no sum.": (
            "_solve: wanted.min() > 0 → wanted.min() >= 0",
        )
    },
    "prop-zero-margin": {
        "A weight that is exactly 0 changes no sum.": (
            "_solve: wanted.min() > 0 → wanted.min() >= 0",
        )
    },
    "lemma-first-phase": {
        "The step begins at zero.": (
            "first_phase_exactly: randomized_step(start, data, epsilon) - start → randomized_step(start, data, epsilon)",
            "first_phase_exactly: randomized_step(start, data, epsilon) - start → randomized_step(start, data, epsilon) + start",
        )
    },
    "lemma-sampling-noise": {
        "No label is 0.": ("chance: data.y > 0 → data.y >= 0",),
        "The row claims that the mean of the noise is 0, so that its square may have any factor.": (
            "chance: square + 2 * mean @ mean → square",
            "chance: square + 2 * mean @ mean → square - 2 * mean @ mean",
        ),
        "Relevant tokens read neither pattern nor noise: listed or not, they are the same.": (
            "all_samples: T - mixture.n_relevant → T",
        ),
    },
    "prop-start-logits": {
        "The patterns μ₋ and μ₊ are orthogonal.": (
            "signal: mixture.mu[1] - mixture.mu[0] → mixture.mu[1]",
            "signal: mixture.mu[1] - mixture.mu[0] → mixture.mu[1] + mixture.mu[0]",
        ),
        ROOM: (
            "_start_logits: abs(logits).max() >= bound * (1 - 1e-12) → abs(logits).max() > bound * (1 - 1e-12)",
        ),
    },
    "prop-saturated": {"For Γ < 0 both formulas are true as well.": ("without: Γ ≥ 0",)},
    "lemma-descent": {
        "√η G ≤ 2 and |ℓ′| = 1 − e^{−ℓ}, which is concave: η‖∇L‖ ≤ 2√η (1 − e^{−L}) ≤ min{1.28 √(ηL), 2√η}.": (
            "descent: 2 → 0.96 * 2",
            "descent: 2 → 0.98 * 2",
            "descent: lr * loss → lr",
        )
    },
    "lemma-one-point": {
        "The second claim asks for ι ≤ ¼, which is so up to κD² = 8/17 = 0.47.": (
            "one_point: product <= 7 / 16 → product < 7 / 16",
            "one_point: 7 → 1.04 * 7",
            "one_point: 7 → 1.02 * 7",
            "one_point: 16 → 0.96 * 16",
            "one_point: 16 → 0.98 * 16",
        ),
        "Up to κD² = 7/16 ι is at most 28/121, and 1 − ι is above 1.02 · ¾.": (
            "one_point: 0.75 → 1.02 * 0.75",
        ),
        "With f(s) the loss at θ′ + s(θ − θ′), f″ ≥ −kf with k = κD², so that f(s) − f(0) cos √k s − f′(0) sin(√k s)/√k is at least 0 up to "
        "√k s = π. At s = 1 this is ⟨∇L(θ′), θ′ − θ⟩ ≥ aL(θ′) − bL(θ), a = √k cot √k, b = √k/sin √k: for k ≤ 7/16 a ≥ 0.849 and b ≤ 1.078.": (
            "one_point: 0.75 → 1.04 * 0.75",
            "one_point: 1.25 → 0.96 * 1.25",
            "one_point: 1.25 → 0.98 * 1.25",
        ),
        "By the same a and b, for k < 8, ι may be any number that is at least b − a = √k tan(√k/2), as a ≤ 1 ≤ b. It is at most "
        f"(k/2)/(1 − k/π²), and π² is above 8.32: {TANGENT}.": (
            "share_lost: 8 → 1.04 * 8",
            "share_lost: 8 → 1.02 * 8",
        ),
    },
    "lemma-regret": {
        f"{TWICE}, where the loss at the start does not stand. Moreover, L_K ≤ L₀, and 3/2 is less than 2.": (
            "regret_link: 1.5 → 1.04 * 1.5",
            "regret_link: 1.5 → 1.02 * 1.5",
            "regret_link: nearer + 2.5 * eta * k * chain.reference_loss + 0.5 * eta * (loss[0] - loss[1:]) → nearer + 2.5 * eta * k * chain.reference_loss",
            "regret_link: 0.5 * eta → 0.5",
            "regret_link: 0.5 → 0.96 * 0.5",
            "regret_link: 0.5 → 0.98 * 0.5",
        ),
        "With the a and b of {prf:ref}`lemma-one-point` at κD² = 7/16, a ≥ 0.849 and b ≤ 1.078, the proof gives 2a, 2b and 2(1 − a) "
        "for 3/2, 5/2 and ½, and 2b is below 0.96 · 5/2.": (
            "regret_link: 2.5 → 0.96 * 2.5",
            "regret_link: 2.5 → 0.98 * 2.5",
        ),
    },
    "lemma-bounded-iterates": {
        LARGEST: EXCESS,
        NEAR: STAYS,
    },
    "thm-1-training": {
        LARGEST: EXCESS,
        f"{TWICE}: the mean is at most D₀²/(2ηK) + (5/4)L(θ).": GUARANTEE,
    },
    "thm-1-fewer-heads": {
        LARGEST: EXCESS,
        NEAR: STAYS,
        f"{TWICE}: the mean is at most D₀²/(2ηK) + (5/4)L(θ).": GUARANTEE,
        "With the a and b of {prf:ref}`lemma-one-point` at κD² = 3.47 · 7/64, a ≥ 0.87 and b ≤ 1.067, the proof of {prf:ref}`lemma-regret` "
        "gives ‖θ_K − θ‖² + 2aη Σ_{k≥1} L_k ≤ D₀² + 2bηK L(θ) + 2(1 − a)η(L₀ − L_K), at most 3.47D₀² by induction, so that "
        "η Σ_{j≤k} L_j ≤ (1 + 2b + 2)D₀²/(2a), which is 0.81 · 11/3 D₀²: 77 may have the factor 0.81.": (
            "training_with_fewer_heads: 77 → 0.96 * 77",
            "training_with_fewer_heads: 77 → 0.98 * 77",
            "training_with_fewer_heads: 192 → 1.04 * 192",
            "training_with_fewer_heads: 192 → 1.02 * 192",
        ),
    },
    "cor-2-mixture": {
        "By the reason for {prf:ref}`cor-2-test-loss` L(θ_K) ≤ (0.584X + 0.856 + 0.168Y)/K, X = D₀²/η and Y = B_Φ + log 2 ≥ 0.693, "
        "and 0.856 + 0.168Y is below 0.96(5/3 + Y/3) and below 5/3 + (Y − 2 log 2)/3.": (
            "good_start: 1 → 0.96 * 1",
            "good_start: 1 → 0.98 * 1",
            "good_start: reference.largest_logit + np.log(2) → reference.largest_logit",
            "good_start: reference.largest_logit + np.log(2) → reference.largest_logit - np.log(2)",
        ),
        f"{TWICE}. As ηK L(θ) ≤ 0.641η, and X = D₀²/η is at least 1.112, runs stay within 2D₀, and L(θ_K) ≤ (½X + 0.802)/K. "
        "Y = B_Φ + log 2 is at most 2√X − 1.416, so that this is at most (⅔X + 5/3 − Y/3)/K; and X may have any factor from ¾ "
        "on. For D₀/1.04 it is above 0.92, and for D₀ − 0.02/γ above 0.98, as γD₀ ≥ ½ + log 5.": (
            *GUARANTEE,
            "guarantee: 2 * distance ** 2 / (3 * lr * k) + 5 * reference_loss / 3 + start_loss / (3 * k) → 2 * distance ** 2 / (3 * lr * k) + 5 * reference_loss / 3 - start_loss / (3 * k)",
            "reference_along: 1 → 1.04 * 1",
            "reference_along: 1 → 1.02 * 1",
            "reference_along: 0.5 → 0.96 * 0.5",
            "reference_along: 0.5 → 0.98 * 0.5",
        ),
        AT_ZERO: ("reference_along: margin > 0 → margin >= 0",),
    },
    "lemma-reference": {AT_ZERO: ("reference_along: margin > 0 → margin >= 0",)},
    "lemma-expansion": {
        "As f″ ≥ −kf with k = κD² < 8, f is at most the solution of g″ = −kg with the same ends, since k < π², and its mean is "
        f"½(tan y/y)(f(0) + f(1)), y = √k/2. So ς may be ½ + ½y²/(π²/4 − y²), and here it is "
        f"½ + 0.64y²/(2 − y²) or more, or ½ + ⅔y²/(2.08 − y²) or more: {TANGENT}.": (
            "mean_on_segment: 2 → 0.96 * 2",
            "mean_on_segment: 2 → 0.98 * 2",
            "mean_on_segment: 3 → 1.04 * 3",
            "mean_on_segment: 3 → 1.02 * 3",
            "mean_on_segment: 8 → 1.04 * 8",
            "mean_on_segment: 8 → 1.02 * 8",
        ),
    },
    "thm-2-stability": {
        "As in the reasons for {prf:ref}`thm-2-generalization` and {prf:ref}`lemma-expansion`: two runs are within 2√3.92 D₀ of each other, "
        "where ς ≤ 0.587, so that E_k ≤ 0.587 · (7/64) · 2 · 2.526 < 0.325, and e^{0.325} < 1.39.": (
            "stability: 1.5 → 0.96 * 1.5",
            "stability: 1.5 → 0.98 * 1.5",
        ),
    },
    "thm-2-left-out": {
        "By the reason for {prf:ref}`thm-2-stability` 1.39 does for 3/2.": (
            "left_out_loss: 1.5 → 0.96 * 1.5",
            "left_out_loss: 1.5 → 0.98 * 1.5",
        ),
    },
    "thm-collapse": {
        ROOM: (
            "_require_gradients: apart <= 1e-12 * R → apart < 1e-12 * R",
            "_require_gradients: np.ptp(used, axis=1).max(axis=0) <= 0.0001 * R → np.ptp(used, axis=1).max(axis=0) < 0.0001 * R",
        ),
        FEWER: ("_require_gradients: T > 1 → T >= 1",),
    },
    "thm-slow-attention": {
        "From zero all heads stay equal.": (
            "slow_attention: np.linalg.norm(model.W, axis=(1, 2)).max() → np.linalg.norm(model.W, axis=(1, 2)).mean()",
            "slow_attention: np.linalg.norm(model.W, axis=(1, 2)).max() → np.linalg.norm(model.W, axis=(1, 2)).min()",
        ),
        "The proof adds norms of gradients, and their signs do not matter.": (
            "slow_attention: model - lr * grad → model + lr * grad",
        ),
    },
    "prop-conserved": {
        "In this row the gradient is that of L alone, in which D has the factor 0.": (
            "gradient: E @ V + U @ D / 2 → E @ V",
            "gradient: E @ V + U @ D / 2 → E @ V - U @ D / 2",
            "gradient: E.mT @ U - V @ D / 2 → E.mT @ U",
            "gradient: E.mT @ U - V @ D / 2 → E.mT @ U + V @ D / 2",
        )
    },
    "lemma-lift": {
        FACTOR_ONE: ("gradient: balance * (U.mT @ U - V.mT @ V) → U.mT @ U - V.mT @ V",)
    },
    "prop-lever": {
        "The term that is lost is 0.": ("reduced_flow: eta_U + 0 * alpha → eta_U - 0 * alpha",)
    },
    "prop-alignment-heads": {
        "Sums are ⟨·, 1⟩: the algebra is that of every linear function of the heads.": (
            "cosine: a * b → a",
        ),
        "The cosine with W* = 0 is set to 0, and so are both sides.": ("without: W* ≠ 0",),
    },
    "prop-first-look": {
        "The first claim says that the covariances are the same for every t.": (
            "first_look: C.mean(axis=0) → C.max(axis=0)",
            "first_look: C.mean(axis=0) → C.min(axis=0)",
        )
    },
    "prop-head-moves": {
        "The proof adds norms of gradients, with |ℓ′| ≤ 1, and their signs do not matter.": (
            "head_moves: end - lr * end.loss_and_grad(data.X, data.y)[1] → end + lr * end.loss_and_grad(data.X, data.y)[1]",
        )
    },
    "lemma-leave-one-out": {
        "By the reason for {prf:ref}`lemma-expansion` ς is at most ½ tan y/y = 0.589 for y² = 7/16, in place of 11/16.": (
            "_runs: 11 → 0.96 * 11",
            "_runs: 11 → 0.98 * 11",
            "_runs: 16 → 1.04 * 16",
            "_runs: 16 → 1.02 * 16",
        ),
        FEWER: (
            "distance_of_runs: kappa * (distance[:-1] ** 2).max(initial=0) > 7 / 4 → kappa * (distance[:-1] ** 2).max(initial=0) >= 7 / 4",
        ),
    },
    "thm-2-generalization": {
        "The proof gives the bound with 0.944 in place of 1 for each of its three terms. With ι of {prf:ref}`lemma-one-point` "
        "at κD² = 7s/64, s = 3.92, which is below 0.2266, the proof of {prf:ref}`lemma-regret` gives ‖θ_K − θ‖² + "
        "2(1 − ι)η Σ_{k≥1} L_k ≤ D₀² + 2(1 + ι)ηK L(θ) + 2ιηL₀, so that by induction runs stay within √s D₀ of θ, as "
        "3 + 4ι ≤ s. Two runs are within 2√s D₀ of each other, where ς ≤ 0.682, and ηΣ_{k≥1} L_k ≤ 2.526 D₀² for each: "
        "E_k ≤ 0.682 · (7/64) · 2 · 2.526 < 0.377, and 1.458 does for the 3/2 of {prf:ref}`thm-2-stability`. The three constants "
        "become 0.647, 1.587 and 1.294, and 2 · 1.458 takes the place of 3.": (
            "gap_bound: 3 → 0.96 * 3",
            "gap_bound: 3 → 0.98 * 3",
            "gap_bound: 2 → 0.96 * 2",
            "gap_bound: 2 → 0.98 * 2",
            "gap_bound: 3 → 1.04 * 3 (2)",
            "gap_bound: 3 → 1.02 * 3 (2)",
            "gap_bound: 5 → 0.96 * 5",
            "gap_bound: 5 → 0.98 * 5",
            "gap_bound: 3 → 1.04 * 3 (3)",
            "gap_bound: 3 → 1.02 * 3 (3)",
            "gap_bound: 4 → 0.96 * 4",
            "gap_bound: 4 → 0.98 * 4",
            "gap_bound: 3 → 1.04 * 3 (4)",
            "gap_bound: 3 → 1.02 * 3 (4)",
        ),
    },
    "cor-2-test-loss": {
        "The proof gives 0.88/K + 2.14ηG²/n in place of the first factor. Let X = D₀²/η and Y = B_Φ + log 2. As η ≤ 4/γ² and "
        "K ≥ 5, X ≥ (Y + 1.416)²/4, which is at least 1.112 and 1.416Y; ηK L(θ) ≤ 0.641η and ηL₀ ≤ ηY. So the argument for "
        "{prf:ref}`thm-2-generalization` works with s = 2.53 and ι ≤ 0.1434, since 1 + 2(1 + ι)0.641/X + 2ιY/X ≤ s; "
        "then ς ≤ 0.6071, ηΣ_{k≥1} L_k ≤ 1.477D₀², e^{E_k} ≤ 1.217, L(θ_K) ≤ (0.584X + 0.856 + 0.168Y)/K, and the "
        "expected gap is at most 2.434(ηG²/n)(0.584X + 0.856 + 1.168Y).": (
            "good_start_bound: 2 → 0.96 * 2",
            "good_start_bound: 2 → 0.98 * 2",
            "good_start_bound: 3 → 1.04 * 3",
            "good_start_bound: 3 → 1.02 * 3",
            "good_start_bound: 5 → 0.96 * 5",
            "good_start_bound: 5 → 0.98 * 5",
            "good_start_bound: 3 → 1.04 * 3 (2)",
            "good_start_bound: 3 → 1.02 * 3 (2)",
            "good_start_bound: 4 → 0.96 * 4",
            "good_start_bound: 4 → 0.98 * 4",
            "good_start_bound: 3 → 1.04 * 3 (3)",
            "good_start_bound: 3 → 1.02 * 3 (3)",
            "good_start_bound: 1 → 0.96 * 1",
            "good_start_bound: 1 → 0.98 * 1",
            "good_start_bound: 3 → 0.96 * 3 (4)",
            "good_start_bound: 3 → 0.98 * 3 (4)",
        ),
        "As above, but a first push is at most G whatever the loss, so that the gap is at most 2.434(ηG²/n)(0.584X + 0.856 + "
        "0.168Y + 1). That is at most (ηG²/n)(2X + 5), as Y ≤ X/1.416, and 0.584X + 0.856 + 0.168Y ≤ ⅔X + 5/3, as Y ≤ 2√X − "
        "1.416; log 2 is a part of the term.": (
            "good_start_bound: 2 / 3 * reference.distance ** 2 / lr + 5 / 3 + 4 / 3 * (reference.largest_logit + np.log(2)) → 2 / 3 * reference.distance ** 2 / lr + 5 / 3",
            "good_start_bound: reference.largest_logit + np.log(2) → reference.largest_logit",
        ),
        "As above, with p = 1/(1 + e^{−B_Φ}) for the first push, the gap is at most 2.434(ηG²/n)(0.584X + 0.856 + 0.168Y + p). For "
        "B_Φ ≥ 0.05 that is at most (ηG²/n)(2X + 4Y): with X ≥ (Y + 1.416)²/4, 0.01 is left at 0.05, and more above. For B_Φ < 0.05 Y is "
        "below 0.7432, and Y/X below 0.669. If κD₀² ≤ 0.08, s = 2.40 and 2.2585(0.555X + 0.781 + 0.110Y + p) take the place of 2.53 and "
        "2.434(…), and 0.53 is left at B_Φ = 0. If not, X ≥ 1.192, since 1/η ≥ G²/4 + κ. Then s = 2.39 and 2.3979(0.5782X + 0.8413 + 0.1563Y + p) "
        "do, and 0.02 is left. In each case L(θ_K) ≤ (⅔X + (4/3)Y)/K, too.": (
            "good_start_bound: 2 / 3 * reference.distance ** 2 / lr + 5 / 3 → 2 / 3 * reference.distance ** 2 / lr",
        ),
    },
    "prop-population-loss": {
        "The noise has a law that is symmetric.": (
            "_population_loss: x @ M.T + noise → x @ M.T - noise",
        )
    },
    "prop-regression-gradient": {
        "Softmax is the same for scores that are shifted.": (
            "_derivative: scores - scores.real.max(axis=1, keepdims=True) → scores",
            "_derivative: scores - scores.real.max(axis=1, keepdims=True) → scores + scores.real.max(axis=1, keepdims=True)",
        )
    },
    "prop-effective-tokens": {
        ROOM: (
            "effective: 6 → 0.96 * 6",
            "effective: 6 → 0.98 * 6",
        )
    },
    "prop-renormalization": {
        "F(h) ≥ ‖U‖²/2h, and at h = top/(d + 1) F is at most (d + 2)√e ‖U‖²‖V‖², so that the left end is "
        "above 5e8/(d + 2) times the least value: enough up to d = 480,000. F((1 − 1e-9) top) is at least "
        "⅔ (⅓)^½ 10^{4.5} F(⅔ top), 12,172 times the least value, and beyond top F is infinite.": (
            "renormalization: 1 → 1.04 * 1",
            "renormalization: 1 → 1.02 * 1",
            "renormalization: 2 → 0.96 * 2 (2)",
            "renormalization: 2 → 0.98 * 2 (2)",
            "renormalization: 1000.0 → 1.04 * 1000.0",
            "renormalization: 1000.0 → 1.02 * 1000.0",
        ),
        "F is read where c > √2 ‖V‖ alone, and there no eigenvalue is 0.": (
            "mean_excess: np.linalg.eigvalsh(inner)[0] <= 0 → np.linalg.eigvalsh(inner)[0] < 0",
        ),
        "F is finite at both ends, since c > √2 ‖V‖.": (
            "renormalization: F(left) + F(right) < inf → F(left) + F(right) <= inf",
        ),
        "No claim changes with a constant factor of F.": (
            "mean_excess: 2 → 0.96 * 2 (2)",
            "mean_excess: 2 → 1.02 * 2 (2)",
            "mean_excess: 2 → 1.04 * 2 (2)",
            "mean_excess: 2 → 0.98 * 2 (2)",
        ),
    },
    "prop-query-error": {
        FEWER: ("query_error: 0 <= tau < np.inf → 0 < tau < np.inf",),
    },
    "prop-mean-error": {
        "At ‖V‖ = 0.6 the limit is not compared: one claim less.": (
            "mean_of_queries: v <= 0.6 → v < 0.6",
        )
    },
    "lemma-exact-error": {
        SHARED: (
            "_moments_of_few: sqrt(1 - shared) → 1 - shared",
            "_moments_of_few: 1 - shared → 1",
            "_moments_of_few: 1 - shared → 1 + shared",
            "_moments_of_few: 1 - shared → 1 (2)",
            "_moments_of_few: 1 - shared → 1 + shared (2)",
        ),
        FEWER: ("query_error: 0 <= tau < np.inf → 0 < tau < np.inf",),
        "At bᵀΣb = 0 both sides are Σ/n.": ("without: bᵀΣb > 0",),
    },
    "lemma-query-rate": {
        "The two pieces meet at u² = ⅓.": ("query_rate: 3 * q <= 1 → 3 * q < 1",),
        "The piece is only read from u² = ⅓ on, where a lower floor changes nothing.": (
            "query_rate: 1 → 0.96 * 1 (3)",
            "query_rate: 1 → 0.98 * 1 (3)",
        ),
        "At u = 0 the error is that of a mean, 1/n; −u has the error of u, since g and −g have one law.": (
            "without: u > 0",
        ),
    },
    "thm-exponent": {
        "The two pieces meet at u² = ⅓.": ("query_rate: 3 * q <= 1 → 3 * q < 1",),
        "The piece is only read from u² = ⅓ on, where a lower floor changes nothing.": (
            "query_rate: 1 → 0.96 * 1 (3)",
            "query_rate: 1 → 0.98 * 1 (3)",
        ),
        "The maximum is at u = 0 or at u² ≥ ⅓, where the first piece does not count but for its end.": (
            "query_rate: 2 → 0.96 * 2",
            "query_rate: 2 → 0.98 * 2",
        ),
    },
    "prop-saddles": {
        "y may have either sign.": (
            "saddles: mixed + np.outer(U @ idle, np.linalg.svd(other)[2][-1]) → mixed - np.outer(U @ idle, np.linalg.svd(other)[2][-1])",
        )
    },
    "prop-flat-saddles": {
        ROOM: ("flat_saddles: 4 → 0.96 * 4", "flat_saddles: 4 → 0.98 * 4"),
        NO_ROOM: (
            "flat_saddles: np.linalg.eigvalsh(curved)[0] + 4 * np.finfo(float).eps * np.linalg.norm(curved) → np.linalg.eigvalsh(curved)[0]",
        ),
    },
    "thm-local-rate": {
        FACTOR_ONE: ("gradient: balance * (U.mT @ U - V.mT @ V) → U.mT @ U - V.mT @ V",),
        "If N has a rank below d, s_min is 0, and δ(Z) ≤ ¼√s_min leaves the optimum alone, where nothing moves.": (
            "without: N has rank d",
        ),
    },
    "thm-finite-gradient": {
        "The ball holds −U and 0 as well, and the bound does not depend on U.": (
            "_query_errors_at: y - m @ inverse @ U.T → y",
            "_query_errors_at: y - m @ inverse @ U.T → y + m @ inverse @ U.T",
        ),
        "What bounds the other queries bounds every query, and at 4𝒯e^{ξ²} = 1 it is in ε.": (
            "data_bound: power <= -log(4) → power < -log(4)",
        ),
        "At equality it divides by 0, and claims nothing.": (
            "gap_bound: t < 1 → t <= 1",
            "gap_bound: 2 * k * rate < 1 → 2 * k * rate <= 1",
        ),
        "If ε is infinite at n = 1e200, the ratio is 0 or no number, and the claim fails either way.": (
            "finite_gradient: late[1] < inf → late[1] <= inf",
        ),
        "At q = 0.8 the proof gives ‖C_i° − I‖ ≤ g · 3ρ(1 + ξ²)/q² and ‖m_i‖ ≤ g′ √ϑ(q + 1/q)(1 + ξ²)^½, where "
        "with F = 1/(1 − ½(1 − e^{−ξ²})^½), since |ν| ≤ ½ρ(1 − e^{−ξ²})^½, g is (½(2 + 4ξ² + ξ⁴)^½ F + ¼(1 + ξ²)F²)/(3(1 + ξ²)) "
        "and g′ is (qξ + ½F(1 + ξ²)^½/q)/((q + 1/q)(1 + ξ²)^½). As F, g′ and −(2 + 4ξ² + ξ⁴)/(1 + ξ²)² increase with ξ, the two ends of "
        "an interval bound g and g′ on it: those between ξ² = 0, 2.5, 4, 5.7, 11 and ∞, where F = 2 and g′ = 1, give g² ≤ 0.58 and g²g′² ≤ "
        "0.4875. So c² may have any factor from 0.4875 on, and here it is 1/2.05 or more.": (
            "data_bound: 1 → 0.96 * 1",
            "data_bound: 1 → 0.98 * 1",
            "data_bound: 1 / q → 1",
            "data_bound: (q + 1 / q) ** 2 → q + 1 / q",
        ),
        "Events 2 and 3 fail with chance at most 0.4 · ζ/8 each: P(χ_m > √m + s) ≤ e^{−s²/2 − m(v − ln(1 + v))}, v = s/√m, and "
        "m(v − ln(1 + v)) increases with m, so that it is at least s − ln(1 + s), which is 0.92 for s² = 2 ln 8. What is left "
        "goes to the five events of Markov's inequality: 0.81 · 8/ζ does for their 8/ζ in 𝒯̄, ȳ², a, b and l. Here c² of the data is 1.05 "
        "times as large or less, or 4𝒯̄ or a part of l 0.96 times as large or more.": (
            "data_bound: 1 → 1.04 * 1",
            "data_bound: 1 → 1.02 * 1",
            "gap_bound: 4 → 0.96 * 4",
            "gap_bound: 4 → 0.98 * 4",
            "gap_bound: 1 → 0.96 * 1 (5)",
            "gap_bound: 1 → 0.98 * 1 (5)",
        ),
        "Then event 1 or 3 fails with chance 1.05 · ζ/8 in place of ζ/8, and events 2 and 3 with 0.4 · ζ/8, as "
        "above.": (
            "sampling_error: 2 → 0.96 * 2 (2)",
            "sampling_error: 2 → 0.98 * 2 (2)",
            "sampling_error: 1 → 0.96 * 1",
            "sampling_error: 1 → 0.98 * 1",
        ),
        "With s² = 1.92 ln(8/ζ) event 3 fails with chance at most e^{−s²/2 − s + ln(1 + s)}, which is below ζ/8 for s ≤ 43, that is "
        "for every ζ that a float holds.": (
            "sampling_error: 2 → 0.96 * 2 (3)",
            "sampling_error: 2 → 0.98 * 2 (3)",
        ),
        "A larger Y weakens the bounds of the data, and as E‖y‖⁴ ≤ 3(E‖y‖²)², it is above ȳ with chance at most "
        "3(ζ/8)², which is below ζ/8.": (
            "data_bound: targets.mean() → (targets ** 2).mean() ** 0.5",
        ),
        "√n ε converges for any q < 1 and k > 1 with 2kr² < q², and as 2kμ < 1 at q = 0.8 and k = 1.1, r is "
        "below 0.54.": (
            "finite_gradient: 1 → 0.96 * 1",
            "finite_gradient: 1 → 0.98 * 1",
            "finite_gradient: 1 → 1.02 * 1",
            "finite_gradient: 1 → 1.04 * 1",
            "finite_gradient: 2 → 0.96 * 2",
            "finite_gradient: 2 → 0.98 * 2",
            "finite_gradient: 2 → 1.02 * 2",
            "finite_gradient: 2 → 1.04 * 2",
        ),
        "An error that is not asked for leaves a weaker claim.": (
            "finite_gradient: abs(own ** d / (1 + tilt_noise_mean(d, q)) - 1) + abs(other - 1) → abs(own ** d / (1 + tilt_noise_mean(d, q)) - 1)",
            "finite_gradient: abs(own ** d / (1 + tilt_noise_mean(d, q)) - 1) + abs(other - 1) → abs(own ** d / (1 + tilt_noise_mean(d, q)) - 1) - abs(other - 1)",
        ),
    },
    "prop-factorization": {
        "A singular Σ ⪰ 0 has the same formulas, and no other Σ has a real root.": (
            "without: Σ ≻ 0",
        )
    },
    "prop-scale-free": {
        "Every step commutes with (A, B) → (−A, −B), which leaves the loss as it is, so that b has the losses "
        "of −b; at b = 0 there is no B/b, and nothing is claimed.": ("without: b > 0",)
    },
    "prop-late-factor": {
        "The excess falls by the same limit from one side of the optimum, and is 0 at it.": (
            "late_spectrum: at + aside → at",
            "late_spectrum: at + aside → at - aside",
            "late_spectrum: at - aside → at",
            "late_spectrum: at - aside → at + aside",
        ),
        "For p = d one of the two directions is enough.": (
            "_slowest: p >= d → p > d",
            "_slowest: p <= d → p < d",
        ),
        "``late_eigenvalues`` refuses η = 0 as well, and ``late_factor`` a target that is 0.": (
            "late_factor: 0 < lr <= kappa / (1 + kappa) → 0 <= lr <= kappa / (1 + kappa)",
            "late_eigenvalues: s[0] > 0 → s[0] >= 0",
        ),
        "For p = d there are 0 eigenvalues of the third kind either way.": (
            "late_eigenvalues: p > d → p >= d",
        ),
    },
    "prop-mean-over-starts": {
        "With x_0 = y(1 + h)^{−K} the mean is (1 + h)^{−K} times an integral over y that converges, since "
        "the step increases on [0, 1] towards 1 and (1 + h) times the late factor of f(x) is (1 + h)(1 − 2h) < 1 for "
        "f = 1 − x², and (1 + h)(1 − h)² < 1 for the step x(1 + h(1 − x)).": (
            "mean_over_starts: (1 - x ** 2) ** 2 → 1 - x ** 2",
            "mean_over_starts: x ** 2 → x (2)",
        ),
        "The limit does not depend on the step at which it is read, once that is late.": (
            "mean_over_starts: 9 → 0.96 * 9",
            "mean_over_starts: 9 → 0.98 * 9",
        ),
        "The limit is that of every weight that is bounded and continuous and not 0 at x = 0, be it a "
        "density or not: for −1 ≤ tilt < 1 this one is positive there.": (
            "mean_over_starts: 2 * x - 1 → 2 * x",
            "mean_over_starts: 2 → 1.04 * 2",
            "mean_over_starts: 2 → 1.02 * 2",
            "mean_over_starts: 1 → 0.96 * 1 (2)",
            "mean_over_starts: 1 → 0.98 * 1 (2)",
        ),
        ROOM: ("mean_over_starts: 0.02 → 0.96 * 0.02", "mean_over_starts: 0.02 → 0.98 * 0.02"),
    },
    "prop-least-squares": {
        "A drawn number is equal to another one with chance 0.": (
            "least_squares: rng.random((draws, n, 1)) < 0.7 → rng.random((draws, n, 1)) <= 0.7",
        ),
        ROOM: ("least_squares: 5 → 0.96 * 5", "least_squares: 5 → 0.98 * 5"),
    },
    "prop-plan": {
        "At the root itself both ends of the bracket are the root.": (
            "split: high < power * (start + log1p(high)) → high <= power * (start + log1p(high))",
            "split: middle > power * (start + log1p(middle)) → middle >= power * (start + log1p(middle))",
        ),
        "No ε lies between 0 and an a that is not positive.": ("without: a > 0",),
        "At ε = 0 there is no (a − ε)/ε, so that it gives no number.": (
            "split: 0 < target < law.amplitude → 0 <= target < law.amplitude",
        ),
    },
    "lemma-same-rank": {
        "Above any such number the logarithm of a weight is the exponent that it was made of.": (
            "_log: exponents > -0.9 * xp.log_max(weights) → exponents >= -0.9 * xp.log_max(weights)",
            "_log: 0.9 → 1.04 * 0.9",
            "_log: 0.9 → 0.96 * 0.9",
            "_log: 0.9 → 1.02 * 0.9",
            "_log: 0.9 → 0.98 * 0.9",
        )
    },
    "prop-query-force": {ONE_HEAD: ("without: one head",)},
    "prop-jacobian-rank": {
        "The rank of each J_k is bounded, and so is the least.": (
            "_ranks: max((int(np.linalg.matrix_rank(one, tol=1e-12 * size)) for one in J.reshape(-1, m, d))) → min((int(np.linalg.matrix_rank(one, tol=1e-12 * size)) for one in J.reshape(-1, m, d)))",
        )
    },
    "prop-flat": {
        NO_ROOM: (
            "_flatness: most + 1e-14 * np.linalg.norm(U) * (np.linalg.norm(K) + np.linalg.norm(Q)) → most",
        ),
        "The bound holds for every k, and so for the one that is shown.": (
            "_flatness: steep - most → steep",
            "_flatness: steep - most → steep + most",
        ),
    },
    "thm-values": {
        "If the rank of B is not full, α is 0, and both claims are true of every step of at most 1/L.": (
            "without: B has full row rank",
        )
    },
    "lemma-tied-start": {MORE_COLUMNS: ("without: one head",)},
    "lemma-kernel-moves": {
        "The claim is for one head, which is its own mean.": (
            "spread: np.hypot(*(np.linalg.norm(W, 2, axis=(1, 2)) for W in (layer.WQ, layer.WK))).max() → np.hypot(*(np.linalg.norm(W, 2, axis=(1, 2)) for W in (layer.WQ, layer.WK))).mean()",
            "spread: np.hypot(*(np.linalg.norm(W, 2, axis=(1, 2)) for W in (layer.WQ, layer.WK))).max() → np.hypot(*(np.linalg.norm(W, 2, axis=(1, 2)) for W in (layer.WQ, layer.WK))).min()",
        )
    },
    "prop-star": {
        NO_ROOM: (
            "star: w * np.delete(sizes, weights.argmax()).sum() + 1e-14 * sizes.sum() → w * np.delete(sizes, weights.argmax()).sum()",
        )
    },
    "thm-wells": {
        "The claims are for every direction, and this is the opposite one.": (
            "wells: keys[0] + radius * way / np.linalg.norm(way) → keys[0] - radius * way / np.linalg.norm(way)",
            "wells: keys[0] + share * (q - keys[0]) → keys[0] - share * (q - keys[0])",
            "wells: keys[0] + share * (at - keys[0]) → keys[0] - share * (at - keys[0])",
        ),
        "The key itself is a point within g/2.": (
            "wells: keys[0] + share * (q - keys[0]) → keys[0]",
            "wells: keys[0] + share * (at - keys[0]) → keys[0]",
        ),
        "A flow that does not move stays.": (
            "_farthest: q - 0.05 * radius * slope / (np.linalg.norm(slope) + 1e-300) → q",
        ),
        "A point inside with ‖o − y‖ at the level is stationary, or the level falls strictly from it on: it "
        "never reaches the sphere, where ‖o − y‖ is at least the level.": (
            "wells: one.off(at) < edge - eps → one.off(at) <= edge - eps",
        ),
        "The step with which the flow is followed, and what it may overshoot, are no part of the claim.": (
            "wells: 1.05 → 0.96 * 1.05",
            "wells: 1.05 → 0.98 * 1.05",
            "_farthest: 0.05 → 1.04 * 0.05",
            "_farthest: 0.05 → 0.96 * 0.05",
            "_farthest: 0.05 → 1.02 * 0.05",
            "_farthest: 0.05 → 0.98 * 0.05",
        ),
        "A key alone has every g, and w is made of it.": (
            "_ball: 4 → 0.96 * 4",
            "_ball: 4 → 0.98 * 4",
            "well_radius: -np.log(w) * d ** 0.5 → -np.log(w)",
        ),
    },
    "thm-waiting": {
        FEWER: (
            "_waited: T <= LONGEST → T < LONGEST",
            "waiting_time: (2 * b) ** (-0.5) * (1 - 1e-12) <= near < far → (2 * b) ** (-0.5) * (1 - 1e-12) < near < far",
        ),
        "A larger pull makes t* shorter, and a claim until an earlier step is weaker.": (
            "waiting_time: np.log(V) - b * near ** 2 → np.log(V)",
        ),
        "The loop ends as soon as a query is within ℓ, and at every step before that ‖o‖ ≤ Ω e^{−c̄ℓ²}, so "
        "that the loss is bounded whatever the number of steps, if it is above t*.": (
            "_waited: 2 → 1.04 * 2",
            "_waited: 2 → 0.96 * 2",
            "_waited: 2 → 1.02 * 2",
            "_waited: 2 → 0.98 * 2",
        ),
    },
    "prop-rising": {
        "A number of queries below ½ is 0, and so it is below 0.48.": (
            "rising: 0.5 → 0.96 * 0.5",
            "rising: 0.5 → 0.98 * 0.5",
        ),
        "For n = 1 there is no y strictly between two values.": ("without: n ≥ 2",),
        ROOM: (
            "_astray: abs(away) > 1e-14 * abs(line.values).max() → abs(away) >= 1e-14 * abs(line.values).max()",
        ),
    },
    "thm-barrier": {
        ROOM: (
            "barrier: o > A[-1] + 1e-14 * abs(values).max() → o >= A[-1] + 1e-14 * abs(values).max()",
        ),
        NO_ROOM: ("barrier: A[-1] + 1e-14 * abs(values).max() → A[-1]",),
        "For q > 0 o is a mean of the A_i with positive weights, so that o < y for y = max A_i, too, unless all "
        "values are y: then o is y everywhere. Nothing else asks for y > max A_i.": (
            "barrier: high < y < np.inf → high <= y < np.inf",
        ),
        "At q = 0 o is A_n, and not above it.": ("barrier: q > 0 → q >= 0",),
        "Without the place where flow ends the claim says 1 ≤ 1.": (
            "barrier: 1 - resting_place(line, q, hills) / q → 1",
        ),
        "For q > 0 it asks, like the claim, that the place where flow ends is at least 0.": (
            "barrier: resting_place(line, q, hills) / q → resting_place(line, q, hills)",
        ),
    },
    "prop-interlacing": {
        "For p = 2 the slice is the whole, and for p = 1 there are no two orthonormal directions.": (
            "without: p ≥ 3",
        )
    },
    "prop-missed-saddle": {
        ROOM: (
            "missed_saddle: 5 → 0.96 * 5",
            "missed_saddle: 5 → 0.98 * 5",
            "missed_saddle: 1 → 0.96 * 1 (2)",
            "missed_saddle: 1 → 0.98 * 1 (2)",
        ),
        "A drawn number is equal to another one with chance 0.": (
            "missed_saddle: uu * vv < uv ** 2 → uu * vv <= uv ** 2",
            "missed_saddle: uu < 0 → uu <= 0",
        ),
    },
    "prop-filter-scale": {
        "The claim is of every direction: the seed draws another one.": (
            "filter_scale: 2 * seed → 2",
        )
    },
    "prop-gaussian-plateau": {NO_ROOM: ("gaussian_plateau: bound + 1e-15 * still → bound",)},
    "prop-mean-weight": {SHARED: ("summed_weight: 1 - tied → 1 + tied",)},
    "prop-loudness": {
        SHARED: (
            "summed_weight: 1 - tied → 1",
            "summed_weight: 1 - tied → 1 + tied",
        )
    },
    "prop-same-test": {
        "The claims are true of all numbers π, chances or not.": (
            "without: π ≥ 0",
            "without: π_+− + π_−+ ≤ 1",
        )
    },
    "prop-best-of": {
        "Samples that were not seen have the gap 0.": (
            "best_flatters: 1 - gap → 1",
            "best_flatters: 1 - gap → 1 + gap",
        )
    },
}
"""Row → reason → labels of mutants."""


def why_true(id: str, label: str) -> str:
    """The reason for which a mutant of a row is true if the statement is, or nothing."""
    return next((why for why, labels in TRUE.get(id, {}).items() if label in labels), "")
