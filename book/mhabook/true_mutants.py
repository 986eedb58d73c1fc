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
MORE_COLUMNS = "More heads add columns to B, so that neither its rank nor σ_min(B) falls."
SIGN = "The label enters as yℓ′, and the bound asks for |yℓ′| = |ℓ′| alone."

TRUE: dict[str, dict[str, tuple[str, ...]]] = {
    "lemma-selection": {
        "By Jensen's inequality Σ e^s over the relevant tokens is at least that of their mean score.": (
            "selection: scores[relevant].min() → scores[relevant].mean()",
        )
    },
    "lemma-logistic": {
        "Without ℓ″ the claim 1 − ℓ″ ≤ 1 says 1 ≤ 1.": ("self_bounded_slope: 1 - curvature → 1",)
    },
    "prop-1-hessian": {
        "In this row the factor is 1.": (
            "hessian_constant: deviation * decoder_sizes(model)[0] → decoder_sizes(model)[0]",
        )
    },
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
        "In this row the factor is 1.": (
            "hessian_constant: deviation * decoder_sizes(model)[0] → decoder_sizes(model)[0]",
        ),
    },
    "cor-1-smoothness": {SIGN: ("loss_hessian: y * loss.slope(z) → loss.slope(z)",)},
    "cor-1-weak-convexity": {SIGN: ("loss_hessian: y * loss.slope(z) → loss.slope(z)",)},
    "cor-1-self-bounded": {SIGN: ("loss_hessian: y * loss.slope(z) → loss.slope(z)",)},
    "cor-1-quasi-convexity": {
        "At κD² = 8 the bound is infinite.": ("short_segment: curvature < 8 → curvature <= 8",)
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
        FEWER: (
            "distance_of_runs: kappa * (distance[:-1] ** 2).max(initial=0) > 7 / 4 → kappa * (distance[:-1] ** 2).max(initial=0) >= 7 / 4",
        )
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
        "If N has a rank below d, s_min is 0, and δ(Z) ≤ ¼√s_min leaves the optimum alone, where nothing moves.": (
            "without: N has rank d",
        )
    },
    "thm-finite-gradient": {
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
