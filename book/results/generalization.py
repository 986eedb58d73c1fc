"""What chapter 7 measures: the test–train gap and leave-one-out runs, early stopping, and the
number of heads.

``python book/results/generalization.py`` writes generalization_gap.npz, generalization_stop.npz and
generalization_heads.npz (some nine minutes of one core). A row is one run. All runs are gradient
descent on the tokenized mixture, with 1,000 fresh samples as the test set; a seed fixes patterns,
samples and start.
"""

import numpy as np

import mhalib as mha
from mhabook.c01_model.instances import token_radius
from mhabook.c04_convergence import chain, starts
from mhabook.c07_generalization.leave_one_out import leave_one_out
from mhabook.c07_generalization.statements import gap_bound
from mhabook.studies import write_tables

GAP_STEPS = [0, 10, 30, 100, 300, 1000]
STOP_STEPS = sorted({0, *np.rint(np.geomspace(1, 2000, 40)).astype(int).tolist()})
HEAD_STEPS = sorted({0, *np.rint(np.geomspace(1, 1000, 24)).astype(int).tolist()})
MANY = 2 * 10**13


def gap(*, start, n, sigma, seed, left=4):
    """A run on n samples and ``left`` of its leave-one-out runs: losses, and what the two theorems
    make of them.

    ``start`` = "zero" is one head from zero with η = 1; "many" is 2·10¹³ heads after a first phase
    on 100 samples of their own, with η = 0.3.
    """
    data, model, lr = problem(start, n, sigma, seed)
    test = data.fresh(1000, seed=1)
    run = leave_one_out(
        model, data, lr, GAP_STEPS[-1], test=test, left=range(left), record=GAP_STEPS
    )
    return {
        "steps": run.steps,
        "loss": run.path.loss,
        "test_loss": run.path.test_loss,
        "G": run.G,
        "left_gap": (run.left_loss - run.loss).mean(axis=1),
        "first_part": (run.path.test_loss[:, None] - run.left_test_loss).mean(axis=1),
        "left_loss": run.left_loss.mean(axis=1),
        "own_loss": run.loss.mean(axis=1),
        # doubles end at exp(709): a factor that is larger is written as exp(700)
        "paid": (run.loss * np.exp(np.minimum(1.5 * run.G**2 * run.received, 700))).mean(axis=1),
        "total": run.total,
        "distance": run.distance.mean(axis=1),
        "bound": run.bound.mean(axis=1),
        "share": worst(run.distance[1:] / run.bound[1:]),
        "expansion": worst(run.expansion),
        "promise": promise(model, data, lr) if start == "many" else np.full(len(GAP_STEPS), np.nan),
    }


def worst(ratios):
    """The largest ratio of any left-out sample at each recorded step; none at step 0."""
    return np.concatenate([[np.nan], ratios.max(axis=1)])


def problem(start, n, sigma, seed):
    """The data, the start and the step size of ``gap``."""
    data = mha.data.tokenized_mixture(n=n, T=10, d=8, M=4, zeta=0.2, S=1.0, sigma=sigma, seed=seed)
    if start == "zero":
        return data, mha.MultiHeadAttention.zeros(1, 10, 8), 1.0
    return data, starts.first_phase_groups(data.fresh(100, seed=2), (MANY // 2, MANY // 2)), 0.3


def promise(model, data, lr):
    """The bound of the generalization theorem at every recorded step k > 0, with the reference for
    K = k."""
    found, R, start_loss = [np.nan], token_radius(data.X), float(model.loss(data.X, data.y))
    for k in GAP_STEPS[1:]:
        reference = chain.reference_along(
            model, starts.mixture_witness(data, model.copies), data, k
        )
        constants = chain.ball_constants(model, R, reference.distance)
        loss = float(reference.model.loss(data.X, data.y))
        if lr > chain.largest_step(constants, reference.distance, loss, start_loss, k):
            raise ValueError(f"the step size {lr} is larger than the theorem allows")
        if (
            chain.heads_needed(reference.distance, chain.decoder_sizes(model)[0], model.sizes[1], R)
            > MANY
        ):
            raise ValueError(f"the theorem asks for more than {MANY} heads")
        found.append(gap_bound(constants.G, reference.distance, loss, start_loss, lr, k, len(data)))
    return np.array(found)


def stop(*, n, sigma, seed):
    """One head from zero, η = 0.5, on the mixture of chapter 1 with noise σ: its curves over 2,000
    steps."""
    data = mha.data.tokenized_mixture(n=n, sigma=sigma, seed=seed)
    return curves(mha.MultiHeadAttention.zeros(1, 10, 8), data, 0.5, STOP_STEPS)


def heads(*, start, scaling, H, sigma, seed):
    """H heads on 100 samples of that mixture, step size 0.5 or 0.15√H, from zero or from random
    entries of size 0.1."""
    data = mha.data.tokenized_mixture(n=100, sigma=sigma, seed=seed)
    zero = mha.MultiHeadAttention.zeros(H, 10, 8)
    model = (
        zero if start == "zero" else mha.MultiHeadAttention.random(H, 10, 8, scale=0.1, seed=seed)
    )
    return curves(model, data, 0.5 if scaling == "constant" else 0.15 * H**0.5, HEAD_STEPS)


def curves(model, data, lr, steps):
    """Losses, test accuracy and attention score of a run at the given steps."""
    path = mha.train(
        model, data, mha.GradientDescent(lr), steps[-1], test=data.fresh(1000, seed=1), record=steps
    )
    names = ("loss", "test_loss", "test_accuracy", "attention_score")
    return {name: path.curves[name] for name in names} | {"steps": path.steps}


GAP = [
    {"start": "zero", "n": n, "sigma": sigma}
    for sigma in (0.0, 0.3, 1.0)
    for n in (8, 16, 32, 64, 128, 256)
]
GAP += [{"start": "many", "n": n, "sigma": 0.0} for n in (8, 16, 32, 64, 128, 256)]
STOP = {"sigma": [0.5, 0.75, 1.0, 1.5, 2.0], "n": [100, 400]}
HEADS = [
    {"start": start, "scaling": scaling, "H": H, "sigma": sigma}
    for sigma in (0.3, 1.0)
    for scaling in ("constant", "root")
    for start, most in (("zero", 64), ("random", 16))
    for H in (1, 2, 4, 8, 16, 32, 64)
    if most >= H
]

if __name__ == "__main__":
    write_tables(
        __file__,
        __doc__,
        generalization_gap=(gap, GAP, 8),
        generalization_stop=(stop, STOP, 10),
        generalization_heads=(heads, HEADS, 10),
    )
