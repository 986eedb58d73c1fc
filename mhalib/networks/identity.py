"""What a training run is: the configuration that a checkpoint repeats, so that no run takes up the state of another."""

import numpy as np

from mhalib.models.settings import checksum, describe, settings
from mhalib.networks.samples import read


def configuration(model, data, test, optimizer, steps, **arguments):
    """Everything that the numbers of a run depend on, in words and checksums that JSON can hold."""
    start = {name: value.detach().cpu().numpy() for name, value in model.state_dict().items()}
    return settings(model) | {name: plain(value) for name, value in arguments.items()} | {
        "steps": int(steps), "optimizer": describe(optimizer), "rates": rates(optimizer, steps),
        "network": type(model).__name__, "parameters": {name: list(array.shape) for name, array in start.items()},
        "start": checksum(*start.values()), "data": _samples(data), "test": None if test is None else _samples(test)}


def rates(optimizer, steps):
    """Eleven of the step sizes where they are a function, which need not print as what it is."""
    if not callable(getattr(optimizer, "lr", None)):
        return None
    return [float(optimizer.lr(int(k))) for k in np.linspace(0, max(steps - 1, 0), 11)]


def _samples(data):
    return f"{len(data)} samples, checksum {checksum(read(data), data.y)}"


def plain(value):
    """Numbers and lists as JSON has them."""
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value
