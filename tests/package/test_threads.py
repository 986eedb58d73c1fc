"""Threads of one process record, train and are interrupted each for itself."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest

import mhalib as mha
from livegrad.walk import interrupts_raised

rng = np.random.default_rng(0)
X = rng.standard_normal((30, 3))
DATA = SimpleNamespace(X=X, y=X @ [1.0, -2.0, 0.5])
RULE = mha.GradientDescent(lr=0.1)


@dataclass(frozen=True, eq=False, repr=False)
class Line(mha.models.Vector):
    """A straight line, which does something of its own while it is recorded."""

    w: np.ndarray
    meanwhile: object = None

    def loss(self, X, y):
        z = X @ self.w
        if self.meanwhile and not isinstance(z, np.ndarray):
            self.meanwhile(z)
        return ((np.tanh(z) - y) ** 2).mean() / 2


def refused(z):
    """Ask for what a record cannot tell, and go on."""
    with suppress(TypeError):
        float(z.sum())


def test_a_refusal_in_one_thread_is_not_heard_in_another():
    entered, gone_on = Event(), Event()

    def wait(_):
        entered.set()
        assert gone_on.wait(60)

    def ask(z):
        assert entered.wait(60)
        refused(z)
        gone_on.set()

    with ThreadPoolExecutor(2) as pool:
        good, bad = (
            pool.submit(Line(np.zeros(3), meanwhile).loss_and_grad, DATA.X, DATA.y)
            for meanwhile in (wait, ask)
        )
        np.testing.assert_array_equal(
            good.result()[1].w, Line(np.zeros(3)).loss_and_grad(DATA.X, DATA.y)[1].w
        )
        with pytest.raises(TypeError, match=r"^test_threads.py, line \d+: float\(\)"):
            bad.result()


def test_a_recording_that_begins_does_not_forgive_a_refusal_in_another():
    asked, begun = Event(), Event()

    def ask(z):
        refused(z)
        asked.set()
        assert begun.wait(60)

    def begin(_):
        assert asked.wait(60)
        begun.set()

    with ThreadPoolExecutor(2) as pool:
        bad, good = (
            pool.submit(Line(np.zeros(3), meanwhile).loss_and_grad, DATA.X, DATA.y)
            for meanwhile in (ask, begin)
        )
        good.result()
        with pytest.raises(TypeError, match=r"float\(\)"):
            bad.result()


def test_a_recording_within_another_is_judged_by_itself():
    def inner_is_refused(_):
        with pytest.raises(TypeError, match=r"float\(\)"):
            Line(np.zeros(3), refused).loss_and_grad(DATA.X, DATA.y)

    def inner_is_right(z):
        refused(z)
        Line(np.ones(3)).loss_and_grad(DATA.X, DATA.y)

    Line(np.zeros(3), inner_is_refused).loss_and_grad(DATA.X, DATA.y)
    with pytest.raises(TypeError, match=r"float\(\)"):
        Line(np.zeros(3), inner_is_right).loss_and_grad(DATA.X, DATA.y)


def test_runs_side_by_side_give_the_same_bits_as_alone():
    mixture = mha.data.tokenized_mixture(n=20, T=4, d=6, M=2, zeta=0.25, seed=0)
    heads = mha.MultiHeadAttention.random(H=2, T=4, d=6, seed=0)
    runs = [
        (start, data, mha.GradientDescent(lr), 30)
        for lr in (0.05, 0.1, 0.2, 0.4)
        for start, data in ((Line(np.zeros(3)), DATA), (heads, mixture))
    ]

    def losses(run):
        return mha.train(*run).loss

    alone = [losses(run) for run in runs]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(losses, runs * 3))
    np.testing.assert_array_equal(together, alone * 3)


def test_figures_made_side_by_side_are_those_made_alone():
    def made(decay):
        line = Line(np.full(3, decay))
        return mha.live.figure(line, DATA, RULE, steps=20, controls={"lr": [0.03, 0.1]}).spec

    alone = [made(decay) for decay in (0.1, 0.2, 0.3)]
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(made, (0.1, 0.2, 0.3))) == alone


def test_one_thread_that_keeps_no_half_run_leaves_another_as_it_was():
    from livegrad.walk import _interrupts_raise

    inside, outside = Event(), Event()

    def held():
        with interrupts_raised():
            inside.set()
            assert outside.wait(60)

    with ThreadPoolExecutor(1) as pool:
        with interrupts_raised():
            whole = pool.submit(held)
            assert inside.wait(60)
        outside.set()
        whole.result()
    assert not _interrupts_raise.get()
