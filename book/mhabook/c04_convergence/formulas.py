"""The program of chapter 4's live figure: the first phase in two groups, the reference, and what
the theorem says."""

from typing import Any

import numpy as np

from livegrad.arrays import Array
from livegrad.record import Place, Program
from mhabook.c01_model.instances import token_radius
from mhabook.c02_curvature.bounds import decoder_sizes
from mhabook.c03_first_step.ntk import mixture_margins, witness_of
from mhabook.c04_convergence import chain
from mhabook.c04_convergence.starts import first_phase_groups
from mhalib.data import Dataset
from mhalib.data.mixture import Mixture
from mhalib.models import HeadGroups


def theorem_curves(
    start: HeadGroups, reference: chain.Reference, data: Dataset, steps: int, grid: Array
) -> dict[str, Any]:
    """What the theorem says of a start and a reference, by the names of the figure; heads asked for
    over ``grid``."""
    (H, T, _), R, D0 = start.sizes, token_radius(data.X), reference.distance
    decoder, constants = decoder_sizes(start)[0], chain.ball_constants(start, R, D0)
    losses = [model.loss(data.X, data.y) for model in (reference.model, start)]
    (one, line), (two, fewer) = (
        [function(D, decoder, T, R) for D in (D0, grid)]
        for function in (chain.heads_needed, chain.fewer_heads_needed)
    )
    return {
        "distance": D0,
        "margin": reference.margin,
        "limit": 3 * D0,
        "reference_loss": losses[0],
        "start_loss": losses[1],
        "largest_step": chain.largest_step(constants, D0, *losses, steps),
        "heads_needed": one,
        "fewer_heads_needed": two,
        "heads_line": line,
        "fewer_line": fewer,
        "asked_at": np.stack([D0, D0]),
        "asked": np.stack([one, two]),
        "run_line": H + 0 * grid,
    }


def formulas(a: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """H heads in two groups at the start, the reference for ``steps`` steps, and the guarantee
    after k of them."""
    data, T = Dataset(a["X"], a["y"]), a["X"].shape[1]
    start = first_phase_groups(data, (a["H"] / 2,) * 2)
    mixture = Mixture(
        np.stack([a["minus"], a["plus"]]), a["nu"], T, a["zeta"] * T, sigma=0.0, seed=0
    )
    margins = mixture_margins(T, a["zeta"], a["S"], a["patterns"])
    # The groups' signs, in the order of ``first_phase_groups``.
    toward = witness_of(margins, np.array([1.0, -1.0]), mixture)
    direction = HeadGroups(toward.W, toward.U, start.copies)
    reference = chain.reference_along(start, direction, data, a["steps"])
    ends = {
        f"{name}_{part}": getattr(model, part)
        for name, model in (("first", start), ("reference", reference.model))
        for part in "WU"
    }
    promised = chain.guarantee(a["distance"], a["reference_loss"], a["start_loss"], a["lr"], a["k"])
    return {
        "theorem": theorem_curves(start, reference, data, a["steps"], a["grid"]) | ends,
        "promise": {"guarantee": promised},
    }


def program() -> Program:
    """Models in the order of ``ravel``."""
    places = {
        f"{name}_{part}": Place(name, "2 * (d * d + T * d)", begin, ("(d * d + T * d)", "d", "1"))
        for name in ("first", "reference")
        for part, begin in (("W", "0"), ("U", "d * d"))
    }
    shapes = {"X": "n T d", "y": "n", "minus": "d", "plus": "d", "nu": "M d", "grid": "D"}
    numbers = [
        "H",
        "zeta",
        "S",
        "patterns",
        "steps",
        "lr",
        "k",
        "distance",
        "reference_loss",
        "start_loss",
    ]
    return Program(formulas, shapes | dict.fromkeys(numbers, ""), "n", places)
