"""``train_network``: minibatch steps on a torch network, by torch's optimizers, to the ``Path``
they leave."""

import warnings
from collections.abc import Iterable
from copy import deepcopy
from typing import Any

import numpy as np
import torch

from livegrad.arrays import derivatives_on, require_count, require_seed
from livegrad.network import chosen
from livegrad.training import Path, Records, minibatches, recorded_steps
from mhalib.losses import logistic
from mhalib.optim import Adam, AdamW, GradientDescent, Momentum, rate


def train_network(
    model: Any,
    data: Any,
    optimizer: GradientDescent | Momentum | Adam,
    steps: int,
    *,
    test: Any = None,
    record: int | Iterable[int] = 20,
    batch: int = 32,
    seed: int = 0,
    only: str | Iterable[str] | None = None,
    measured: int | None = None,
) -> Path:
    """Train a copy of a torch network on minibatches, where the network is: on the CPU, or on a
    device.

    Raises ValueError or TypeError if an argument does not fit, before any step is taken.

    Returns a ``Path`` with the curves ``loss`` and ``accuracy``, and ``test_loss`` and
    ``test_accuracy`` where there is a test set; ``path[k]`` is the network at the k-th recorded
    step. If the loss of a minibatch is not finite, the path ends before it, ``path.stopped`` says
    so, and a ``RuntimeWarning`` too.

    Parameters
    ----------
    model : the start; it stays as it is. A ``TextTransformer``, or a torch module with ``batch``,
        ``loss``, ``logits`` and ``device`` like it. ``model.to("cuda")`` chooses the device
    data : a ``TextDataset``, of which the network reads word numbers, or a ``Dataset`` of tokens X
    optimizer : ``GradientDescent``, ``Momentum``, ``Adam`` or ``AdamW``; its ``lr`` may be a
        ``OneCycle``. The steps are those of torch's optimizers
    steps : how many updates, each on ``batch`` samples; every pass over the data has a new order
    test : a second dataset, evaluated at the recorded steps
    record : at most how many steps to record, or the list of them, as in ``train``
    seed : fixes the order of the samples, and what a network draws that draws
    only : the parameters that move: pieces of their dotted names, or parts that the network knows
    measured : where evaluation is costly, how many samples of the training set its curves are of,
        evenly spaced
    """
    _require_parts(model, data, test)
    require_count(batch=batch, measured=1 if measured is None else measured)
    require_seed(seed)
    recorded, records, stopped = set(recorded_steps(steps, record)), Records(), None
    model, some = deepcopy(model), _spaced(len(data), measured)
    named = dict(model.named_parameters())
    moving = list(named.values()) if only is None else [named[name] for name in chosen(model, only)]
    rule = _torch_rule(optimizer, moving)
    devices = [model.device] if model.device.type == "cuda" else []
    with torch.random.fork_rng(devices), derivatives_on():
        # for networks that draw; afterwards the global streams are as before
        torch.manual_seed(int(seed))
        # One minibatch more than there are steps: the last network, too, is recorded only where its
        # loss is finite.
        for k, rows in zip(range(steps + 1), minibatches(len(data), batch, seed), strict=False):
            loss = model.loss(*model.batch(*_arrays(data, rows)))
            if not np.isfinite(loss.item()):
                stopped = f"The loss of the minibatch of step {k} is not finite: the step size is too large. Try less."
                break
            if k in recorded:
                row = summary(model, data, some)
                row |= (
                    {}
                    if test is None
                    else {f"test_{name}": value for name, value in summary(model, test).items()}
                )
                records.add(k, deepcopy(model), row)
            if k < steps:
                rule.zero_grad()
                # Gradients of what is held still would cost time and would never be cleared.
                loss.backward(inputs=moving)
                for group in rule.param_groups:
                    group["lr"] = rate(optimizer.lr, k)
                rule.step()
    if stopped:
        warnings.warn(stopped, RuntimeWarning, stacklevel=2)
    return records.path(stopped)


def summary(model: Any, data: Any, rows: Any = slice(None)) -> dict[str, float]:
    """Mean logistic loss and accuracy of a network on a dataset, or on some of its samples."""
    z = data.y[rows] * model.logits(read(data)[rows])
    return {"loss": float(logistic(z).mean()), "accuracy": float((z > 0).mean())}


def read(data: Any) -> np.ndarray:
    """What a network reads of a dataset: word numbers (n, L), or tokens (n, L, width)."""
    return data.tokens if hasattr(data, "tokens") else data.X


def _spaced(n, measured):
    """Samples that are evenly spaced, since files often have one label first; or all."""
    return (
        slice(None)
        if measured is None
        else np.unique(np.rint(np.linspace(0, n - 1, measured)).astype(int))
    )


def _arrays(data, rows):
    """Tokens and labels of some rows, without the padding behind the longest sentence: it costs
    time for nothing."""
    X = read(data)[rows]
    return (X[:, : int(data.lengths[rows].max())] if hasattr(data, "tokens") else X), data.y[rows]


def _torch_rule(rule, parameters):
    if not isinstance(rule, (GradientDescent, Momentum, Adam)):
        raise TypeError(
            f"optimizer: expected GradientDescent, Momentum, Adam or AdamW of mhalib.optim, got "
            f"{rule!r}"
        )
    lr = rate(rule.lr, 0)
    # AdamW is a subclass of Adam, so that it comes first and plain Adam is what is left.
    match rule:
        case GradientDescent():
            return torch.optim.SGD(parameters, lr=lr)
        case Momentum():
            return torch.optim.SGD(parameters, lr=lr, momentum=rule.beta)
        case AdamW():
            return torch.optim.AdamW(
                parameters,
                lr=lr,
                betas=(rule.beta1, rule.beta2),
                eps=rule.eps,
                weight_decay=rule.weight_decay,
            )
    return torch.optim.Adam(parameters, lr=lr, betas=(rule.beta1, rule.beta2), eps=rule.eps)


def _require_parts(model, data, test):
    if not all(
        hasattr(model, name) for name in ("batch", "loss", "logits", "named_parameters", "device")
    ):
        raise TypeError(
            f"model: expected a torch network such as a TextTransformer, got {type(model).__name__}"
        )
    field = getattr(model, "field", None)
    for name, part in {"data": data, "test": test}.items():
        if name == "test" and part is None:
            continue
        if not hasattr(part, "y") or not (hasattr(part, "tokens") or hasattr(part, "X")):
            raise TypeError(
                f"{name}: expected a TextDataset or a Dataset such as "
                "mhabook.c08_digits.text.reviews() or mhalib.data.pathfinder(), "
                f"got {type(part).__name__}"
            )
        if field and not hasattr(part, field):
            raise TypeError(
                f"{name}: expected a dataset with {field}, which a {type(model).__name__} reads, "
                f"got {type(part).__name__}"
            )
