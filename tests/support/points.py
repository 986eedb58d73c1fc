"""What landscapes are cut at: a small layer and a small torch network with data, and known
functions of two numbers."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

import mhalib as mha
from livegrad import landscape
from livegrad.model.vector import Vector
from optional import torch


def layer(kernel=mha.softmax, **sizes):
    """A small layer, and sequences for it."""
    model = mha.AttentionLayer.random(
        **{"D": 4, "d": 3, "m": 2, "H": 2} | sizes, kernel=kernel, seed=1
    )
    return model, mha.data.random_sequences(N=3, n=4, D=4, m=2, seed=2)


def network(kernel=mha.softmax):
    """A small network in double precision with biases that are not zero, and sentences for it."""
    pytest.importorskip("torch")
    from mhabook.c08_digits import TextTransformer, text

    data = text.words(6, length=5)
    model = TextTransformer(
        len(data.vocabulary), 5, d=4, H=2, layers=2, hidden=3, kernel=kernel
    ).double()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn(
                parameter.shape, generator=generator, dtype=torch.float64
            )
    return model, data


def point_of(model):
    """A network as a point of a landscape."""
    from livegrad.network import NetworkPoint

    return NetworkPoint.of(model)


NOTHING = SimpleNamespace(X=None, y=None)


@dataclass(frozen=True, eq=False, repr=False)
class Known(Vector):
    """A function of two numbers, as a model: a torch expression, so its derivatives are
    autograd's."""

    at: np.ndarray
    function: object = field(default=None)

    def loss(self, X, y):
        return self.function(*self.at)

    def loss_and_grad(self, X, y):
        at = torch.tensor(self.at, requires_grad=True)
        value = self.function(*at)
        return value.item(), self._with(
            {"at": torch.autograd.grad(value, at, materialize_grads=True)[0].numpy()}
        )

    def hvp(self, X, y, V):
        hessian = torch.autograd.functional.hessian(
            lambda at: self.function(*at), torch.tensor(self.at)
        )
        return self._with({"at": hessian.numpy() @ V.at})


def on_plane(function, radius=2.0, resolution=21):
    """The slice that shows a function of two numbers as it is, around 0."""
    x, y = (Known(np.eye(2)[k], function) for k in range(2))
    return landscape.slice(0.0 * x, NOTHING, x, y, radius, resolution)
