"""``train_text``: minibatch steps of AdamW on a ``TextTransformer``, to the ``Path`` they leave."""

import warnings
from copy import deepcopy

import numpy as np

from mhalib._array import require_count, require_seed
from mhalib.data.text import TextDataset
from mhalib.losses import logistic
from mhalib.optim import GradientDescent
from mhalib.training import Path, minibatches, recorded_steps


def train_text(model, data, steps, *, lr=0.003, batch=32, weight_decay=0.01, test=None, seed=0, record=20):
    """Train a copy of a ``TextTransformer`` by AdamW on minibatches, where the model is: on the CPU, or on a device.

    Parameters
    ----------
    model : the start; it stays as it is. ``model.to("cuda")`` chooses the device
    data : a ``TextDataset``
    steps : how many updates, each on ``batch`` sentences
    lr, weight_decay : step size and weight decay of AdamW
    test : a second ``TextDataset``, evaluated at the recorded steps
    seed : fixes the order of the sentences
    record : at most how many steps to record, or the list of them, as in ``train``; every one of them evaluates the
        whole training set

    Returns
    -------
    Path
        With the curves ``loss`` and ``accuracy``, and ``test_loss`` and ``test_accuracy`` where there is a test set;
        ``path[k]`` is the model at the k-th recorded step. If the loss of a minibatch is not finite, the path ends
        before it, ``path.stopped`` says so, and a ``RuntimeWarning`` too.

    Raises
    ------
    ValueError, TypeError
        if an argument does not fit, before any step is taken.
    """
    _require_parts(model, data, test, lr, weight_decay)
    require_count(batch=batch)
    require_seed(seed)
    model, recorded = deepcopy(model), set(recorded_steps(steps, record))
    rule, parts = model.optimizer(lr, weight_decay), {"": data} | ({} if test is None else {"test_": test})
    at, models, rows, stopped = [], [], [], None
    for k, chosen in enumerate(minibatches(len(data), batch, seed)):
        loss = _loss(model, data, chosen)
        if not np.isfinite(loss.item()):
            stopped = f"The loss of the minibatch of step {k} is not finite: the step size is too large. Try less."
            break
        if k in recorded:
            at.append(k)
            models.append(deepcopy(model))
            rows.append({prefix + name: value for prefix, part in parts.items()
                         for name, value in summary(model, part).items()})
        if k == steps:
            break
        rule.zero_grad()
        loss.backward()
        rule.step()
    if stopped:
        warnings.warn(stopped, RuntimeWarning, stacklevel=2)
    curves = {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else ())}
    return Path(np.array(at, dtype=int), tuple(models), curves, stopped)


def summary(model, data):
    """Mean logistic loss and accuracy of a model with ``logits`` on a ``TextDataset``."""
    z = data.y * model.logits(data.tokens)
    return {"loss": float(logistic(z).mean()), "accuracy": float((z > 0).mean())}


def _loss(model, data, rows):
    # Padding behind the longest sentence of the batch costs time and does nothing.
    width = int(data.lengths[rows].max())
    return model.loss(*model.batch(data.tokens[rows, :width], data.y[rows]))


def _require_parts(model, data, test, lr, weight_decay):
    if not hasattr(model, "optimizer"):
        raise TypeError(f"model: expected a TextTransformer, got {type(model).__name__}")
    for name, part in {"data": data, "test": test}.items():
        if not isinstance(part, TextDataset) and not (name == "test" and part is None):
            raise TypeError(f"{name}: expected a TextDataset such as mhalib.data.reviews(), got {type(part).__name__}")
    GradientDescent(lr)  # refuses a step size that is none
    if not 0 <= weight_decay < np.inf:
        raise ValueError(f"weight_decay: expected a number ≥ 0, got {weight_decay!r}")
