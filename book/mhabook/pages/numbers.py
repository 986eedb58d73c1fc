"""The numbers that the book gives to its statements and definitions: Definition 1.1, Lemma 1.4,
Theorem 4.7."""

from mhabook.definitions import DEFINITIONS
from mhabook.ledger import ledger

IN_CHAPTERS = {
    1: "def-mixture def-head def-model prop-first-step lemma-selection prop-head-scale",
    2: "lemma-1-blocks prop-1-hessian lemma-logistic cor-1-self-bounded lemma-1-derivatives "
    "prop-1-gradient prop-1-gradient-sharp lemma-deviation prop-1-hessian-sharp prop-1-recalled "
    "cor-1-gradient cor-1-smoothness cor-1-weak-convexity cor-1-quasi-convexity",
    3: "def-ntk prop-zero-margin prop-ntk-margins def-good-init lemma-margin-distance "
    "lemma-uniform-features lemma-first-phase lemma-sampling-noise prop-start-logits "
    "thm-exact-margin prop-saturated",
    4: "lemma-one-point thm-1-training prop-groups def-neighborhood lemma-descent lemma-regret "
    "lemma-bounded-iterates thm-1-fewer-heads lemma-linearization lemma-reference cor-2-mixture",
    5: "prop-equal-heads thm-collapse thm-slow-attention prop-second-step prop-second-step-adam "
    "thm-many-heads prop-pull prop-lever",
    6: "def-planted def-alignment prop-alignment-heads prop-split-decoders prop-alignment-start "
    "prop-equal-rows prop-first-look",
    7: "def-leave-one-out thm-2-stability lemma-symmetrization thm-2-generalization "
    "lemma-expansion lemma-leave-one-out lemma-log-lipschitz thm-2-left-out cor-2-test-loss",
    8: "prop-head-moves prop-random-gram prop-first-order",
    9: "def-regression-layer lemma-tilting prop-effective-tokens prop-population-loss "
    "prop-regression-gradient prop-query-error prop-mean-error lemma-exact-error "
    "lemma-query-rate thm-exponent prop-renormalization",
    10: "prop-factorization prop-preconditioned prop-blind prop-optimum-spectrum "
    "def-preconditioned prop-blind-variants def-structure-aware prop-conserved "
    "prop-balance-decays prop-balanced-stationary prop-saddles prop-flat-saddles lemma-lift "
    "thm-local-rate def-spectral-start prop-scale-free",
    11: "prop-plan prop-late-factor prop-mean-over-starts prop-least-squares "
    "prop-spectral-excess prop-fitted-noise lemma-every-tilt lemma-gradient-gap "
    "thm-finite-gradient thm-finite-descent",
    12: "def-kernel-layer prop-inside-hull lemma-same-rank prop-normalized-gaussian "
    "prop-query-force prop-flat prop-jacobian-rank prop-shift prop-width",
    13: "thm-values lemma-tied-start prop-almost-every-start prop-larger-is-better "
    "lemma-kernel-moves thm-neighborhood thm-queries",
    14: "thm-barrier thm-wells prop-rising prop-values-allow prop-star thm-waiting",
    15: "prop-mean-curvature prop-interlacing prop-missed-saddle prop-filter-scale "
    "prop-gaussian-plateau",
    16: "prop-same-test prop-best-of prop-mean-weight prop-loudness",
}
"""The ids of each chapter in the order of its page; in the ledger's own order a file's statements
stand together."""
KINDS = {
    "cor": "Corollary",
    "def": "Definition",
    "lemma": "Lemma",
    "prop": "Proposition",
    "thm": "Theorem",
}
NUMBERS = {
    id: f"{KINDS[id.split('-')[0]]} {chapter}.{k}"
    for chapter, ids in IN_CHAPTERS.items()
    for k, id in enumerate(ids.split(), 1)
}
"""Id → number, in the order of the book."""
CHAPTERS = {entry.id: entry.chapter for entry in (*ledger, *DEFINITIONS)}
"""Id → the page that it stands on."""


def chapter_number(chapter: str) -> int:
    """The number of a chapter's page: 4 for ``multihead/04_why_training_cannot_get_lost``."""
    return int(chapter.split("/")[1][:2])
