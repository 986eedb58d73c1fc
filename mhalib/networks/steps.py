"""``Steps``: one update of a torch network after the other, by torch's optimizers, and the state they are in."""

from contextlib import contextmanager

import torch

from mhalib.models.network import chosen
from mhalib.optim import Adam, AdamW, GradientDescent, Momentum, rate


def require_device(device):
    """Raises: ValueError, unless torch computes there."""
    try:
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError) as error:
        said = str(error).split("\n")[0]
        raise ValueError(f"device: expected one on which this torch computes, got {device!r}: {said}") from error


class Steps:
    """A network, the optimizer of an update rule, and which of the network's parameters move."""

    def __init__(self, model, rule, only=None):
        self.model, self.rule, self.all = model, rule, only is None
        named = dict(model.named_parameters())
        self.moving = named if only is None else {name: named[name] for name in chosen(model, only)}
        self.optimizer = _optimizer(rule, list(self.moving.values()))

    def loss(self, pieces):
        """The mean loss of a minibatch in pieces, each a pair (X, y) of arrays."""
        with torch.no_grad():
            return self._sum(pieces, lambda part: None)

    def loss_and_grad(self, pieces):
        """The same, with its gradient left in the parameters that move."""
        self.optimizer.zero_grad()
        return self._sum(pieces, lambda part: part.backward(inputs=None if self.all else list(self.moving.values())))

    def _sum(self, pieces, use):
        n, total = sum(len(y) for _, y in pieces), 0.0
        for X, y in pieces:
            part = self.model.loss(*self.model.batch(X, y))
            part = part if len(pieces) == 1 else part * (len(y) / n)
            use(part)
            total += part.item()
        return total

    def step(self, k):
        """Update k = 0, 1, 2, … along the gradient that was left."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate(self.rule.lr, k)
        self.optimizer.step()

    def arrays(self):
        """All that the next step depends on, as numpy arrays by name."""
        found = {f"model/{name}": value for name, value in self.model.state_dict().items()}
        for name, parameter in self.moving.items():
            state = self.optimizer.state.get(parameter, {})
            found |= {f"optimizer/{name}/{key}": value for key, value in state.items() if value is not None}
        return {name: value.detach().cpu().numpy() for name, value in found.items()} | _random(self.model)

    def restore(self, arrays):
        """Go to the state of ``arrays()``."""
        load(self.model, arrays, "model/")
        state = {}
        for k, name in enumerate(self.moving):
            prefix = f"optimizer/{name}/"
            own = {key.removeprefix(prefix): torch.tensor(a) for key, a in arrays.items() if key.startswith(prefix)}
            state |= {k: own} if own else {}
        self.optimizer.load_state_dict({"state": state, "param_groups": self.optimizer.state_dict()["param_groups"]})
        torch.set_rng_state(torch.tensor(arrays["random/cpu"]))
        if "random/cuda" in arrays and self.model.device.type == "cuda":
            torch.cuda.set_rng_state(torch.tensor(arrays["random/cuda"]), self.model.device)


def load(model, arrays, prefix):
    """Give a network the parameters that stand under a prefix; returns it."""
    model.load_state_dict({name.removeprefix(prefix): torch.tensor(array) for name, array in arrays.items()
                           if name.startswith(prefix)})
    return model


@contextmanager
def stream(model, seed):
    """Random numbers of torch from a seed, for networks that draw; afterwards the global streams are as before."""
    devices = [model.device] if model.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(int(seed))
        yield


def versions():
    """What computes here besides numpy, and its version."""
    return {"torch": torch.__version__}


def _random(model):
    found = {"random/cpu": torch.get_rng_state().numpy()}
    if model.device.type == "cuda":
        found["random/cuda"] = torch.cuda.get_rng_state(model.device).numpy()
    return found


def _optimizer(rule, parameters):
    lr = rate(rule.lr, 0) if hasattr(rule, "lr") else None
    match rule:
        case GradientDescent():
            return torch.optim.SGD(parameters, lr=lr)
        case Momentum():
            return torch.optim.SGD(parameters, lr=lr, momentum=rule.beta)
        case AdamW():
            return torch.optim.AdamW(parameters, lr=lr, betas=(rule.beta1, rule.beta2), eps=rule.eps,
                                     weight_decay=rule.weight_decay)
        case Adam():
            return torch.optim.Adam(parameters, lr=lr, betas=(rule.beta1, rule.beta2), eps=rule.eps)
    raise TypeError(f"optimizer: expected GradientDescent, Momentum, Adam or AdamW of mhalib.optim, got {rule!r}")
