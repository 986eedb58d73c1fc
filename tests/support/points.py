"""A small layer and a small torch network, with data for them: points at which landscapes are cut."""

import torch

import mhalib as mha


def layer(kernel=mha.softmax, **sizes):
    """A small layer, and sequences for it."""
    model = mha.AttentionLayer.random(**{"D": 4, "d": 3, "m": 2, "H": 2} | sizes, kernel=kernel, seed=1)
    return model, mha.data.random_sequences(N=3, n=4, D=4, m=2, seed=2)


def network(kernel=mha.softmax):
    """A small network in double precision with biases that are not zero, and sentences for it."""
    data = mha.data.words(6, length=5)
    model = mha.models.TextTransformer(len(data.vocabulary), 5, d=4, H=2, layers=2, hidden=3, kernel=kernel).double()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return model, data
