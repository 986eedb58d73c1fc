"""``train_network``: minibatch steps on a torch network, to the ``Path`` they leave, perhaps from a checkpoint on."""

import warnings
from collections.abc import Iterable
from copy import deepcopy
from itertools import count

import numpy as np

from mhalib._array import require_count, require_seed
from mhalib.data.text import TextDataset
from mhalib.losses import logistic
from mhalib.networks.identity import configuration
from mhalib.networks.samples import Some, arrays, pieces, read
from mhalib.optim import AdamW, GradientDescent
from mhalib.training import Records, minibatches, recorded_steps


def train_network(model, data, optimizer, steps, *, test=None, record=20, batch=32, seed=0, only=None, measured=None,
                  at_once=None, checkpoint=None, report=None):
    """Train a copy of a torch network on minibatches, where the network is: on the CPU, or on a device.

    Parameters
    ----------
    model : the start; it stays as it is. A ``TextTransformer``, or a torch module with ``batch``, ``loss``, ``logits``
        and ``device`` like it. ``model.to("cuda")`` chooses the device
    data : a ``TextDataset`` or ``ByteDataset``, of which the network reads word numbers, or a ``Dataset`` of tokens X
    optimizer : ``GradientDescent``, ``Momentum``, ``Adam`` or ``AdamW``; its ``lr`` may be a ``OneCycle``. The steps
        are those of torch's optimizers
    steps : how many updates, each on ``batch`` samples; every pass over the data has a new order
    test : a second dataset, evaluated at the recorded steps
    record : at most how many steps to record, or the list of them, as in ``train``
    seed : fixes the order of the samples, and what a network draws that draws
    only : the parameters that move: pieces of their dotted names, or parts that the network knows
    measured : where evaluation is costly, how many samples of the training set its curves are of, evenly spaced
    at_once : at most so many samples go through the network together, for the sake of memory; a minibatch goes in
        pieces then. It changes results by rounding alone
    checkpoint : a ``mhabook.Checkpoint``: the state is saved there as it says, and a run that finds its own state goes
        on from it. On a CPU it ends with the same bits as one that was never interrupted
    report : a function of (k, row), called at every step k with a dict that holds ``batch_loss``, the loss of the
        minibatch, and at recorded steps the curves

    Returns
    -------
    Path
        With the curves ``loss`` and ``accuracy``, and ``test_loss`` and ``test_accuracy`` where there is a test set;
        ``path[k]`` is the network at the k-th recorded step. If the loss of a minibatch is not finite, the path ends
        before it, ``path.stopped`` says so, and a ``RuntimeWarning`` too.

    Raises
    ------
    ValueError, TypeError
        if an argument does not fit, or the checkpoint is damaged or of another run, before any step is taken.
    """
    _require_parts(model, data, test)
    require_count(batch=batch, measured=1 if measured is None else measured, at_once=1 if at_once is None else at_once)
    require_seed(seed)
    recorded, only = list(recorded_steps(steps, record)), _listed(only)
    from mhalib.networks.steps import Steps, stream, versions  # whoever has a network has torch already

    run = _Run(Steps(deepcopy(model), optimizer, only), {"": data} | ({} if test is None else {"test_": test}),
               measured, at_once)
    if checkpoint is not None:
        run.keep(checkpoint, configuration(model, data, test, optimizer, steps, batch=batch, record=recorded, seed=seed,
                                           only=only, measured=measured),
                 versions())
    with stream(model, seed):
        run.resume()
        run.go(steps, set(recorded), batch, seed, report)
    if run.stopped:
        warnings.warn(run.stopped, RuntimeWarning, stacklevel=2)
    return run.records.path(run.stopped)


def train_text(model, data, steps, *, lr=0.003, batch=32, weight_decay=0.01, test=None, seed=0, record=20):
    """``train_network`` on sentences by AdamW, with torch's constants.

    Raises
    ------
    ValueError, TypeError
        if an argument does not fit, before any step is taken.
    """
    if not hasattr(model, "loss") or not hasattr(model, "logits") or not hasattr(model, "batch"):
        raise TypeError(f"model: expected a TextTransformer, got {type(model).__name__}")
    for name, part in {"data": data, "test": test}.items():
        if not isinstance(part, TextDataset) and not (name == "test" and part is None):
            raise TypeError(f"{name}: expected a TextDataset such as mhalib.data.reviews(), got {type(part).__name__}")
    GradientDescent(lr)  # refuses a step size that is none
    return train_network(model, data, AdamW(lr, weight_decay=weight_decay), steps, batch=batch, test=test, seed=seed,
                         record=record)


def summary(model, data, rows=512):
    """Mean logistic loss and accuracy of a network on a dataset, ``rows`` samples at a time."""
    z = data.y * model.logits(read(data), rows=rows)
    return {"loss": float(logistic(z).mean()), "accuracy": float((z > 0).mean())}


class _Run:
    """A training run between two steps."""

    def __init__(self, steps, parts, measured, at_once):
        self.steps, self.parts, self.measured, self.at_once = steps, parts, measured, at_once
        self.k, self.records, self.stopped, self.checkpoint = 0, Records(), None, None

    def keep(self, checkpoint, *identity):
        """Save the state to a checkpoint from now on, under the configuration and the versions of the run."""
        self.checkpoint, self.identity = checkpoint, identity

    def resume(self):
        """Go to the state that the checkpoint holds, if it holds one."""
        saved = self.checkpoint and self.checkpoint.load(*self.identity)
        if not saved:
            return
        from mhalib.networks.steps import load

        arrays, about = saved
        for j, (at, row) in enumerate(zip(about["recorded"], about["rows"], strict=True)):
            self.records.add(at, load(deepcopy(self.steps.model), arrays, f"recorded/{j}/"), dict(row))
        self.k = about["step"]
        self.steps.restore(arrays)

    def save(self):
        """Write the state before step k."""
        arrays = self.steps.arrays()
        for j, model in enumerate(self.records.models):
            arrays |= {f"recorded/{j}/{name}": value.cpu().numpy() for name, value in model.state_dict().items()}
        rows = [list(row.items()) for row in self.records.rows]  # lists keep the order of the curves
        self.checkpoint.save(*self.identity, arrays, {"step": self.k, "recorded": self.records.steps, "rows": rows})

    def go(self, steps, recorded, batch, seed, report):
        """All steps that are left."""
        data = self.parts[""]
        order, began = minibatches(len(data), batch, seed, first=self.k), self.k
        for k, rows in zip(count(self.k), order, strict=False):
            self.k = k
            if self.checkpoint and k > began and k % self.checkpoint.every == 0:
                self.save()
            batches = [arrays(data, piece) for piece in pieces(rows, self.at_once)]
            loss = (self.steps.loss_and_grad if k < steps else self.steps.loss)(batches)
            if not np.isfinite(loss):
                self.stopped = f"The loss of the minibatch of step {k} is not finite: the step size is too large. " \
                               "Try less."
                return
            row = self.measure() if k in recorded and k not in self.records.steps else {}
            if row:
                self.records.add(k, deepcopy(self.steps.model), row)
            if report:
                report(k, {"batch_loss": loss} | row)
            if k == steps:
                break
            self.steps.step(k)
        if self.checkpoint:
            self.save()

    def measure(self):
        """The curves of this moment."""
        found = {}
        for prefix, part in self.parts.items():
            part = part if prefix or self.measured is None else Some(part, self.measured)
            row = summary(self.steps.model, part, **({} if self.at_once is None else {"rows": self.at_once}))
            found |= {prefix + name: value for name, value in row.items()}
        return found


def _listed(only):
    """Names in an order, whatever they came in: a set has none of its own, and JSON no set."""
    if only is None or isinstance(only, str):
        return only
    only = list(only) if isinstance(only, Iterable) else [only]
    if not all(isinstance(name, str) for name in only):
        raise TypeError(f"only: expected names of parameters, got {only!r:.80}")
    return sorted(set(only))


def _require_parts(model, data, test):
    if not all(hasattr(model, name) for name in ("batch", "loss", "logits", "named_parameters", "device")):
        raise TypeError(f"model: expected a torch network such as a TextTransformer, got {type(model).__name__}")
    field = getattr(model, "field", None)
    for name, part in {"data": data, "test": test}.items():
        if name == "test" and part is None:
            continue
        if not hasattr(part, "y") or not (hasattr(part, "tokens") or hasattr(part, "X")):
            raise TypeError(f"{name}: expected a TextDataset or a Dataset such as mhalib.data.reviews() or "
                            f"mhalib.data.pathfinder(), got {type(part).__name__}")
        if field and not hasattr(part, field):
            raise TypeError(f"{name}: expected a dataset with {field}, which a {type(model).__name__} reads, "
                            f"got {type(part).__name__}")
