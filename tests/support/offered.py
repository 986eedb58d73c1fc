"""What the laboratory offers: the choices of a control beside those of others, and their
combinations."""

from itertools import product

from mhabook.c17_laboratory.controls import BY_NAME, DEFAULTS, resolve


def choices(name, **values):
    """What a control offers beside these values of others."""
    return BY_NAME[name].offered(resolve(DEFAULTS | values))


# Every third is enough: they hold every rule on all data, and gd, momentum and both of Adam with
# every schedule.
COMBINATIONS = [
    (model, *rest)
    for model in choices("model")
    for rest in product(*(choices(name, model=model) for name in ("data", "optimizer", "schedule")))
][::3]
STARTS = [
    (model, data, start)
    for model in choices("model")
    for data in choices("data", model=model)
    for start in choices("start", model=model, data=data, tokens=30)
]
