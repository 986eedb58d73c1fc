"""What a run is in words: all that its optimizer and its network hold, and nothing of where they lie in memory."""

from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pytest
import torch

import mhalib as mha
from mhalib.networks.identity import describe

RULES = (mha.GradientDescent(0.1), mha.Adam(0.01), mha.AdamW(mha.OneCycle(0.02, 11, rise=0.3), weight_decay=0.2))


class Bent:
    """Something of one's own that prints as an address."""

    def __init__(self, factor=1.0, inner=mha.softmax):
        self.factor, self.inner = factor, inner

    def rate(self, k):
        return 0.01 * self.factor


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


@dataclass
class Silent:
    a: float = field(repr=False)
    b: object = None

    def __repr__(self):
        return "Silent"


class Loop:
    def __init__(self, a):
        self.a, self.own = a, self


def slow(k, by=1):
    return 0.01 / by


MAKERS = {  # what has one number, in all its forms: two numbers are two descriptions, and equal ones one
    "rules with a function": lambda a: mha.AdamW(slow, weight_decay=a),
    "another constant of such a rule": lambda a: mha.Adam(lambda k: 0.01, eps=a),
    "rules with a method": lambda a: mha.Adam(Bent(a).rate),
    "rules with a part of a function": lambda a: mha.Adam(partial(slow, by=a)),
    "schedules": lambda a: mha.Adam(mha.OneCycle(a, 11, rise=0.3)),
    "kernels of one's own": Bent,
    "kernels in kernels": lambda a: Bent(1.0, Bent(a)),
    "slots": Slotted,
    "fields that do not print": Silent,
    "fields that hold an object": lambda a: Silent(1.0, Slotted(a)),
    "what holds itself": Loop,
    "long arrays": lambda a: Slotted(np.r_[np.zeros(5000), a, np.zeros(5000)]),
    "long tensors": lambda a: Slotted(torch.cat([torch.zeros(5000), torch.tensor([a]), torch.zeros(5000)])),
    "lists and dicts": lambda a: {"x": [1, (a, None)], "at 0x": {2, 1}},
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_description_says_all_that_a_thing_holds(make):
    again, same, other = describe(make(0.25)), describe(make(0.25)), describe(make(0.5))
    assert again == same != other
    assert " at 0x" not in again.replace("'at 0x'", "")


def test_a_description_is_a_repr_where_that_says_all():
    for thing in (*RULES, mha.gaussian, (8,), [1.5, "a"], None, True, torch.float32, {"a": (1, 2)}, {3}):
        assert describe(thing) == repr(thing)
    assert describe({"b", "a"}) == "{'a', 'b'}" and describe(np.float64(0.5)) == "0.5"
    assert describe(mha.Adam(slow)) == "Adam(lr=slow, beta1=0.9, beta2=0.999, eps=1e-08)"
