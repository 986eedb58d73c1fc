"""What chapter 10 compares: plain and structure-aware descent from the same points, tuned, with
each part left out.

``python book/results/descent.py`` writes descent.npz (d = 5, 10), descent_wide.npz (d = 20) and
descent_parts.npz, in some forty minutes of one core. A row is one run: its instance (d, n, seed),
method, start and step size, with losses, population excess, ‖V‖ and effective tokens at the steps
``at``. A seed fixes instance, samples, start and minibatches. ``random`` starts have N(0, 1)
entries in A and B; ``spectral`` starts are factors of the least-squares fit.

Fixed before the first run: plain descent gets, for each d, the constant step size of the grid with
the smallest mean excess at the last step over all seeds, of those where no run diverged.
Structure-aware descent gets no tuning.
"""

import numpy as np

import mhalib as mha
from mhabook.studies import write_tables
from mhalib.whitening import Whitening

SAMPLES = {5: 1000, 10: 1000, 20: 1500}
GD_RATES = (0.05, 0.1, 0.15, 0.2, 0.3)
SGD_RATES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3)
BATCH, KEPT = 32, 45
RULES = {
    "gd": mha.GradientDescent,
    "sgd": mha.GradientDescent,
    "SA1": mha.Preconditioned,
    "SA2": mha.StructureAware,
    "SA2 minibatch": mha.StructureAware,
}


def problem(d, seed):
    """The instance of a row."""
    return mha.data.linear_regression(
        n=SAMPLES[d], d=d, p=d, kappa=16, s_max=0.4, kappa_M=4, sigma=0.1, seed=seed
    )


def begin(start, data, seed):
    """The starting point of a row."""
    (_, d), p = data.x.shape, data.y.shape[1]
    return (
        mha.AttentionRegression.spectral(data)
        if start == "spectral"
        else mha.AttentionRegression.random(d, p, seed=seed)
    )


def run(*, d, method, start, lr, steps, seed):
    """One run, recorded at some forty steps."""
    data = problem(d, seed)
    # each step at first, where SA2 arrives; then geometrically, for the long run of plain descent
    record = sorted({*range(21), *np.rint(np.geomspace(20, steps, KEPT - 20)).astype(int).tolist()})
    batch = BATCH if method in ("sgd", "SA2 minibatch") else None
    return measured(
        mha.train(
            begin(start, data, seed),
            data,
            RULES[method](lr),
            steps,
            record=record,
            batch=batch,
            seed=seed,
        ),
        data,
    )


def part(*, d, left_out, seed):
    """Forty steps of SA2 from a random start with one of its parts left out."""
    data, record = problem(d, seed), list(range(0, 41, 5))
    without = {
        "nothing": {},
        "renormalization": {"radius": np.inf},
        "regularizer": {"balance": 0},
        "whitening": {"whitening": Whitening.none(d)},
    }
    rule = mha.StructureAware(0.5, **without[left_out])
    return measured(mha.train(begin("random", data, seed), data, rule, 40, record=record), data)


def measured(path, data):
    """The curves of a row, filled up with not-a-number to one length."""
    v = [np.linalg.norm(data.truth.root @ model.B @ data.truth.root, 2) for model in path.models]
    curves = {
        "loss": path.loss,
        "excess": path.excess,
        "effective_tokens": path.effective_tokens,
        "v": np.array(v),
    }
    row = {"diverged": path.stopped is not None}
    for name, curve in ({"at": path.steps} | curves).items():
        row[name] = np.full(KEPT, np.nan)
        row[name][: len(curve)] = curve
    return row


def grid(d):
    """All rows of one d but for the seeds."""
    far = 600 if d == 20 else 500
    plain = [{"method": "gd", "start": "random", "lr": lr, "steps": far} for lr in GD_RATES]
    plain += [{"method": "sgd", "start": "random", "lr": lr, "steps": 5000} for lr in SGD_RATES]
    ours = [
        {"method": "SA2", "start": "random", "lr": 0.5, "steps": 60},
        {"method": "SA2", "start": "spectral", "lr": 0.5, "steps": 60},
        {"method": "SA1", "start": "spectral", "lr": 0.5, "steps": 60},
        {"method": "gd", "start": "spectral", "lr": 0.15, "steps": 60},
        {"method": "SA2 minibatch", "start": "random", "lr": 0.1, "steps": 200},
    ]
    return [{"d": d} | row for row in ours + plain]


if __name__ == "__main__":
    cells = [
        {"d": d, "left_out": left_out}
        for d in (5, 20)
        for left_out in ("nothing", "renormalization", "regularizer", "whitening")
    ]
    longer = [
        {"d": d, "method": "gd", "start": "random", "lr": 0.1, "steps": 1500} for d in (5, 10)
    ]
    write_tables(
        __file__,
        __doc__,
        descent_parts=(part, cells, 5),
        descent_wide=(run, grid(20), 3),
        descent=(run, [row for d in (5, 10) for row in grid(d)] + longer, 5),
    )
