"""Functions for sweeps to run, at the top level of a file that other processes can import; and what
tests ask."""

import hashlib
import os
import signal
import sys
import warnings
from functools import partial
from pathlib import Path
from uuid import uuid4

import joblib
import numpy as np
from threadpoolctl import threadpool_info

import mhabook
import mhalib as mha
from livegrad.record import native

SECONDS = 60
"""How long a test waits for what must happen; it does not depend on when."""


def mark(folder, seed):
    """A file that says: this run was started, in this process."""
    if folder is not None:
        (Path(folder) / f"{seed}-{os.getpid()}-{uuid4().hex}").touch()


def trained(*, seed, H, lr, marks=None):
    """A short run of training, with numbers, arrays and words among its results."""
    mark(marks, seed)
    data = mha.data.tokenized_mixture(n=12, T=5, d=6, M=3, zeta=0.2, seed=seed)
    model = mha.MultiHeadAttention.random(H, 5, 6, scale=0.3, seed=seed)
    path = mha.train(model, data, mha.Momentum(lr), steps=20, record=5)
    return {
        "loss": path.loss,
        "final": path.loss[-1],
        "attention": path[-1].attention(data.X)[0].mean(axis=0),
        "steps": path.steps[-1],
        "learned": bool(path.loss[-1] < path.loss[0]),
        "rule": "momentum",
    }


def side_by_side(*, seed, lr):
    """Several rows from one run, each with its own H."""
    return [{"H": H, **trained(seed=seed, H=H, lr=lr)} for H in (1, 3)]


def patient(*, seed, scale, marks, gate):
    """A run that from seed 4 on waits at the gate, a pipe, until its other end is closed."""
    mark(marks, seed)
    if seed >= 4 and Path(gate).exists():
        Path(gate).read_bytes()
    return {"value": scale * np.random.default_rng(seed).standard_normal(3)}


class Untravelled(Exception):
    """An exception that cannot be pickled and made again."""

    def __init__(self, what, where):
        super().__init__(f"{what} at {where}")


def failing(*, seed, H, marks=None):
    """A run that fails at H = 2, seed 1."""
    mark(marks, seed)
    if (H, seed) == (2, 1):
        raise Untravelled("lost", "sea")
    return {"value": H + seed}


def threads(*, seed):
    """How many threads a product may use here."""
    return {
        "threads": max(
            library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
        )
    }


def plain(*, seed, H=1):
    """One number."""
    return {"value": H + seed}


def open_to_all(*, seed, **config):
    """A run that takes any configuration."""
    return {"value": seed}


def misnamed(*, seed, marks):
    """A run whose result no column can be named after."""
    mark(marks, seed)
    return {"file": seed}


def returning(*, seed, H=1, what):
    """Whatever a test wants to see come back from the second seed."""
    return what if seed else {"value": 1.0}


def ragged(*, seed):
    """Curves that end at different steps."""
    return {"curve": np.zeros(3 + seed)}


BUFFER = np.zeros(2)


def reusing(*, seed):
    """A run that returns the same array every time, with other numbers in it."""
    BUFFER[:] = seed
    return {"value": BUFFER}


def edge(*, seed):
    """A run at an edge of stability, which enlarges a difference in the last digit."""
    native.SECONDS = 120.0  # for a compiler, on a machine that may be busy
    data = mha.data.tokenized_mixture(n=40, T=5, d=6, M=3, zeta=0.2, seed=seed)
    start = mha.MultiHeadAttention.random(3, 5, 6, scale=0.3, seed=seed)
    path = mha.train(start, data, mha.Momentum(30.0), 3000, record=20)
    return {"loss": path.loss, "W": path[-1].W, "compiled": "compiled by" in mha.native.status()}


class Stopped:
    """A rule whose user presses Ctrl-C at step 3."""

    def start(self, theta):
        return None

    def step(self, theta, grad, state, k):
        if k == 3:
            raise KeyboardInterrupt
        return theta - 0.1 * grad, state


def stopped(*, seed):
    """A run that is interrupted."""
    data = mha.data.tokenized_mixture(n=12, T=5, d=6, M=3, zeta=0.2, seed=seed)
    path = mha.train(
        mha.MultiHeadAttention.zeros(1, 5, 6),
        data,
        Stopped() if seed else mha.GradientDescent(0.1),
        9,
    )
    return {"loss": path.loss[-1]}


def edges():
    """Print how a run at an edge comes out: by a sweep, once more, and one after the other in this
    process."""
    with joblib.parallel_config(n_jobs=2):
        tables = [mhabook.sweep(edge, {}, 4, progress=False) for _ in range(2)]
    loops = [edge(seed=seed) for seed in range(4)]
    for name in ("loss", "W"):
        columns = [*(table[name] for table in tables), np.stack([loop[name] for loop in loops])]
        print(*(hashlib.sha256(column.tobytes()).hexdigest() for column in columns))
    print(*tables[0]["compiled"], *tables[1]["compiled"], *(loop["compiled"] for loop in loops))


def warning(*, seed):
    """A run that warns."""
    warnings.warn("a warning of a run", RuntimeWarning, stacklevel=1)
    return {"value": seed}


def assert_same(table, other):
    """Equal to the last bit, and in what they say of themselves."""
    assert list(table.columns) == list(other.columns)
    for name, column in table.columns.items():
        assert column.dtype == other[name].dtype
        assert column.tobytes() == other[name].tobytes(), name
    assert table.about == other.about


def started(folder, pid=None):
    """The seeds of the runs that were started, in any process or in one, in order."""
    names = [path.name.split("-") for path in Path(folder).iterdir()]
    return sorted(int(seed) for seed, process, _ in names if pid in (None, int(process)))


def marked(run, tmp_path, **bound):
    """The run, leaving marks in a fresh folder."""
    (tmp_path / "marks").mkdir(exist_ok=True)
    return partial(run, marks=str(tmp_path / "marks"), **bound)


if __name__ == "__main__":  # a sweep in a process of its own, for a test to kill
    import swept

    # which a shell's background job ignores, and its children
    signal.signal(signal.SIGINT, signal.default_int_handler)
    folder = Path(sys.argv[1])
    run = partial(swept.patient, marks=str(folder / "marks"), gate=str(folder / "gate"))
    keep = mhabook.Table.save

    def tell(*arguments):
        keep(*arguments)
        print("kept", flush=True)

    mhabook.Table.save = tell
    mhabook.sweep(run, {"scale": [2.0]}, 12, cache=folder / "cache")
