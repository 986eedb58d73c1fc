"""The guided experiments of the laboratory: for each, what the controls are set to; the others
have their own values."""

_FIRST = {"n": 100, "T": 10, "H": 1, "start": "zeros", "steps": 2000}
_LAYER = {"model": "layer", "data": "sequences", "H": 1, "scale": 1.0, "steps": 1000}
_REGRESSION = {"model": "regression", "data": "linear", "scale": 1.0, "steps": 100}

EXPERIMENTS = {
    "first": {
        "title": "0 · the run of chapter 1",
        "values": _FIRST,
        "moves": ["training"],
    },
    "edge": {
        "title": "1 · a step above the edge",
        "values": {"lr": 20.0, "steps": 200},
        "moves": ["training"],
    },
    "equal": {
        "title": "2 · sixteen identical heads",
        "values": _FIRST | {"H": 16, "steps": 500, "curvature": False},
        "moves": ["model", "picture"],
    },
    "narrow": {
        "title": "3 · too few unknowns",
        "values": _LAYER | {"moves": "WV", "D": 16, "lr": 0.2},
        "moves": ["data"],
    },
    "far": {
        "title": "4 · queries far from every key",
        "values": _LAYER
        | {"kernel": "gaussian", "moves": "WQ", "scale": 10.0, "lr": 0.1, "steps": 500},
        "moves": ["model"],
    },
    "conditioned": {
        "title": "5 · badly conditioned tokens",
        "values": _REGRESSION | {"kappa": 256.0, "tokens": 200, "lr": 0.1},
        "moves": ["data", "training"],
    },
    "few": {
        "title": "6 · fewer tokens than dimensions",
        "values": _REGRESSION
        | {"tokens": 5, "dimension": 6, "optimizer": "preconditioned", "lr": 0.05},
        "moves": ["training"],
    },
    "labels": {
        "title": "7 · wrong labels",
        "values": {
            "data": "planted",
            "flip": 0.3,
            "optimizer": "adam",
            "lr": 0.02,
            "curvature": False,
        },
        "moves": ["data"],
    },
}
"""Name → its title, the values that it sets, and the groups of the controls that its text moves; a
test asks of each what its chapter says."""

TRIES = ("edge", "equal", "labels")
"""Those that have buttons of their own."""
