"""Theory: one function per numbered statement, each registered in the ledger with a check that runs."""

# The order of the book, which is the order of the ledger.
# isort: off
from mhalib.theory import (
    selection,
    collapse,
    derivatives,
    bounds,
    loss_bounds,
    max_margin,
    first_phase,
    ntk,
    convergence,
    early_steps,
    late_steps,
    planted,
    leave_one_out,
    generalization,
    random_start,
    tilting,
    finite_context,
    factorization,
    stationary,
    contraction,
    data_and_compute,
    scaling,
    two_kernels,
    one_layer,
    reach,
    traps,
    landscapes,
    networks,
)

# isort: on
from mhalib.theory.bounds import gradient_bound, gradient_constant, hessian_bound, hessian_constant, smoothness_constant
from mhalib.theory.ledger import Along, Check, along, ledger
from mhalib.theory.loss_bounds import (
    loss_gradient,
    loss_hessian,
    quasi_convexity,
    self_bounded_gradient,
    self_bounded_weak_convexity,
    smoothness,
    weak_convexity,
)

__all__ = ["Along", "Check", "along", "bounds", "collapse", "contraction", "convergence", "data_and_compute",
           "derivatives", "early_steps", "factorization", "finite_context", "first_phase", "generalization",
           "gradient_bound", "gradient_constant", "hessian_bound", "hessian_constant", "landscapes", "late_steps",
           "leave_one_out", "ledger", "loss_bounds", "loss_gradient", "loss_hessian", "max_margin", "networks", "ntk",
           "one_layer", "planted", "quasi_convexity", "random_start", "reach", "scaling", "selection",
           "self_bounded_gradient", "self_bounded_weak_convexity", "smoothness", "smoothness_constant", "stationary",
           "tilting", "traps", "two_kernels", "weak_convexity"]
