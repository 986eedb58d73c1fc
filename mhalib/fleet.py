"""``fleet``: many runs on one dataset, their heads in the same matrix products."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from mhalib._array import to_numpy
from mhalib.models import MultiHeadAttention
from mhalib.models.multihead_fleet import MultiHeadFleet
from mhalib.optim import Adam, GradientDescent, Momentum, rate
from mhalib.training import Recorder, Records, reason, recorded_steps, relevant_tokens, run

ELEMENTWISE = (GradientDescent, Momentum, Adam)
"""Rules θ ← θ − η_k D in which D is computed for each parameter by itself, so that one step serves several runs."""


def fleet(models, data, optimizers, steps, *, test=None, record=200):
    """``[train(model, data, optimizer, steps) for …]``, equal to rounding, and faster where the models are small.

    Runs of ``MultiHeadAttention`` under one kind of rule (``GradientDescent``, ``Momentum`` or ``Adam``, each run with
    its own ``lr``) take their steps together, as one larger model whose heads are theirs, in whatever numbers. A run of
    another model or under a rule of your own is trained by itself.

    Parameters
    ----------
    models : the starting points, one a run; or one for all runs
    data, steps, test, record : as in ``train``, the same for all runs
    optimizers : the update rules, one a run; or one for all runs

    Returns
    -------
    list of Path
        In the order of the runs. A run that diverges ends as in ``train``, with its warning, and the others go on.

    Raises
    ------
    ValueError, TypeError
        if something does not fit, before any step is taken.

    Examples
    --------
    >>> data = mha.data.tokenized_mixture(n=20, seed=0)
    >>> starts = [mha.MultiHeadAttention.zeros(H=1, T=10, d=8)] * 2
    >>> slow, fast = mha.fleet(starts, data, [mha.GradientDescent(lr=0.1), mha.GradientDescent(lr=1.0)], steps=50)
    >>> bool(fast.loss[-1] < slow.loss[-1])
    True
    """
    runs = _runs(models, optimizers)
    recorded = list(recorded_steps(steps, record))
    together = {}
    for k, (model, rule) in enumerate(runs):
        _require(k, model, data, rule, test)
        alike = type(model) is MultiHeadAttention and type(rule) in ELEMENTWISE
        together.setdefault(replace(rule, lr=1.0) if alike else k, []).append(k)
    paths = [None] * len(runs)
    for members in together.values():
        found = _train([runs[k] for k in members], data, steps, test, recorded)
        for k, path in zip(members, found, strict=True):
            paths[k] = path
    for k, path in enumerate(paths):
        if path.stopped:
            warnings.warn(f"run {k}: {path.stopped}", RuntimeWarning, stacklevel=2)
    return paths


def _runs(models, optimizers):
    """The pairs of model and rule, one or the other given once for all."""
    models, rules = (list(given) if isinstance(given, Iterable) else given for given in (models, optimizers))
    count = next((len(given) for given in (models, rules) if isinstance(given, list)), 1)
    models, rules = (given if isinstance(given, list) else [given] * count for given in (models, rules))
    if not count or len(models) != len(rules):
        raise ValueError("models, optimizers: expected as many models as optimizers, at least one, or one for all; "
                         f"got {len(models)} and {len(rules)}")
    return list(zip(models, rules, strict=True))


def _require(k, model, data, rule, test):
    try:
        Recorder(model, data, rule, test)
    except (TypeError, ValueError) as error:
        raise type(error)(f"run {k}: {error}") from None


def _train(runs, data, steps, test, recorded):
    """The paths of runs that take their steps together."""
    if len(runs) == 1:
        (model, rule), = runs
        return [run(model, data, rule, steps, test, recorded)]
    members = [_Member(model, rule, Records()) for model, rule in runs]
    crew, recorded, k = _Crew(members, data, test), set(recorded), 0
    theta = before = crew.space.pack([member.model for member in members])
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        state = crew.direction.start(theta)
        while k <= steps and crew:
            losses, grad = crew.space.loss_and_grad(theta)
            lost = np.flatnonzero(~np.isfinite(to_numpy(losses))).tolist()
            if lost:
                if k and k - 1 not in recorded:  # keep the last step that was finite
                    crew.record(k - 1, before, crew.space.loss_and_grad(before)[1], lost)
                crew, columns = crew.without(lost, k)
                theta, before, state = (_columns(part, columns) for part in (theta, before, state))
                continue
            if k in recorded:
                crew.record(k, theta, grad)
            if k < steps:
                before = theta
                theta, state = crew.step(theta, grad, state, k)
            k += 1
    return [member.records.path(member.stopped) for member in members]


@dataclass
class _Member:
    model: MultiHeadAttention
    rule: object
    records: Records
    stopped: str | None = None


class _Crew:
    """The runs that still go on, side by side in one workspace."""

    def __init__(self, members, data, test):
        models = [member.model for member in members]
        self.members, self.data, self.test = members, data, test
        self.space = MultiHeadFleet(models, data.X, data.y)
        self.test_space = None if test is None else MultiHeadFleet(models, test.X, test.y)
        self.relevant, self.direction = relevant_tokens(data), replace(members[0].rule, lr=1.0)
        self.rates = None if any(callable(member.rule.lr) for member in members) else self._rates(0)

    def step(self, theta, grad, state, k):
        """θ − η_k D, with η_k the step size of each run and D what a step of size 1 would subtract."""
        minus, state = self.direction.step(0.0, grad, state, k)
        return theta + (self._rates(k) if self.rates is None else self.rates) * minus, state

    def _rates(self, k):
        return self.space.along_columns([rate(member.rule.lr, k) for member in self.members])

    def without(self, lost, k):
        """The crew that goes on, None if there is none, and its columns of θ; the lost are told why they end at k."""
        for r in lost:
            member = self.members[r]
            member.stopped = reason(k, member.rule, member.records)
        kept = [r for r in range(len(self.members)) if r not in lost]
        crew = _Crew([self.members[r] for r in kept], self.data, self.test) if kept else None
        return crew, self.space.columns_of(kept)

    def record(self, k, theta, grad, runs=None):
        """Measure all runs at step k, and write it down for some or all."""
        rows = self.space.summary(theta, self.relevant) | self.space.norms(theta, grad)
        if self.test_space is not None:
            rows |= {f"test_{name}": values for name, values in self.test_space.summary(theta).items()}
        models = self.space.unpack(theta)
        for r in range(len(self.members)) if runs is None else runs:
            self.members[r].records.add(k, models[r], {name: float(values[r]) for name, values in rows.items()})


def _columns(part, columns):
    """Some columns of θ, or of all of a rule's state."""
    if isinstance(part, tuple):
        return tuple(_columns(each, columns) for each in part)
    return None if part is None else part[:, columns]
