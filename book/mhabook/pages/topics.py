"""Words by which a reader looks for statements that do not contain them: the ledger's table is
filtered by them."""

TOPICS = {
    "convergence, convergence rate": "lemma-descent lemma-regret lemma-bounded-iterates "
    "thm-1-training thm-1-fewer-heads cor-2-mixture prop-balance-decays thm-local-rate "
    "prop-late-factor prop-mean-over-starts thm-values thm-neighborhood thm-queries",
    "neural tangent kernel, NTK, lazy training, linearized model": "def-ntk "
    "lemma-margin-distance def-good-init lemma-uniform-features prop-ntk-margins "
    "thm-exact-margin prop-zero-margin prop-saturated lemma-linearization lemma-reference "
    "cor-2-mixture prop-random-gram prop-first-order prop-head-moves",
    "max margin, maximum margin, support vector machine, SVM, separable": "def-ntk "
    "lemma-margin-distance def-good-init prop-ntk-margins thm-exact-margin prop-zero-margin "
    "prop-saturated cor-2-mixture",
    "descent lemma": "lemma-descent",
    "edge of stability, sharpness, learning rate, largest step size": "cor-1-smoothness "
    "lemma-descent "
    "prop-optimum-spectrum",
    "generalization, test error, overfitting, algorithmic stability": "def-leave-one-out "
    "lemma-expansion lemma-leave-one-out thm-2-stability lemma-symmetrization "
    "thm-2-generalization thm-2-left-out cor-2-test-loss",
    "sample complexity, finite samples, scaling law": "lemma-sampling-noise prop-mean-error "
    "thm-exponent prop-least-squares prop-spectral-excess prop-fitted-noise "
    "thm-finite-gradient thm-finite-descent prop-plan",
    "saddle point, stationary point, critical point": "prop-balanced-stationary prop-saddles "
    "prop-flat-saddles prop-missed-saddle",
    "local minimum, local minima, spurious minimum, trap, stuck": "prop-values-allow prop-star "
    "thm-waiting thm-wells "
    "prop-rising thm-barrier",
    "plateau, vanishing gradient, flat region": "prop-flat thm-waiting prop-gaussian-plateau",
    "Lipschitz, smoothness": "prop-1-gradient prop-1-gradient-sharp prop-1-hessian "
    "prop-1-hessian-sharp cor-1-smoothness lemma-log-lipschitz",
    "curvature, eigenvalue, second derivative": "lemma-1-derivatives lemma-1-blocks "
    "prop-1-hessian prop-1-hessian-sharp cor-1-smoothness cor-1-weak-convexity "
    "cor-1-self-bounded prop-optimum-spectrum prop-mean-curvature prop-interlacing",
    "Polyak–Łojasiewicz, Polyak-Lojasiewicz, PL inequality": "thm-values thm-neighborhood "
    "thm-queries",
    "overparameterization, width, number of heads, many heads": "lemma-1-blocks prop-equal-heads "
    "thm-collapse prop-1-hessian prop-groups thm-1-training thm-1-fewer-heads thm-many-heads "
    "prop-random-gram prop-first-order prop-head-moves",
    "heads needed, how many heads": "lemma-bounded-iterates thm-1-training thm-1-fewer-heads "
    "lemma-reference cor-2-mixture",
    "1/√H, square root of the number of heads": "def-model prop-first-step lemma-1-blocks "
    "prop-1-hessian prop-1-hessian-sharp cor-1-weak-convexity cor-1-self-bounded "
    "prop-first-order prop-head-moves",
    "initialization, random start": "prop-head-scale thm-collapse def-good-init "
    "lemma-first-phase prop-start-logits prop-alignment-start prop-random-gram "
    "def-spectral-start prop-mean-over-starts lemma-tied-start prop-almost-every-start",
    "preconditioner, preconditioning, whitening, condition number": "prop-preconditioned "
    "def-preconditioned def-structure-aware prop-blind prop-blind-variants prop-scale-free "
    "prop-late-factor",
    "matrix factorization, low rank": "prop-factorization prop-conserved prop-balance-decays "
    "prop-balanced-stationary prop-saddles prop-flat-saddles prop-optimum-spectrum lemma-lift "
    "thm-local-rate",
    "conservation law, invariant, gradient flow": "prop-lever prop-conserved",
    "symmetry, invariance": "prop-equal-heads thm-collapse prop-split-decoders prop-blind "
    "prop-blind-variants prop-scale-free prop-shift prop-filter-scale",
    "expressivity, expressive power, representable": "prop-inside-hull lemma-same-rank "
    "prop-jacobian-rank prop-values-allow "
    "prop-star",
    "linear regression, least squares": "def-regression-layer prop-population-loss "
    "prop-least-squares",
    "teacher, student, feature learning": "def-planted def-alignment prop-alignment-heads "
    "prop-alignment-start prop-equal-rows prop-first-look prop-split-decoders",
    "loss landscape, visualization": "prop-mean-curvature prop-interlacing prop-missed-saddle "
    "prop-filter-scale prop-gaussian-plateau",
    "statistical test, significance, model selection": "prop-same-test prop-best-of",
}
"""What a reader may type → the ids of the statements that it is about."""


def topics(id: str) -> str:
    """All that leads to a statement, as one text."""
    return ", ".join(words for words, ids in TOPICS.items() if id in ids.split())
