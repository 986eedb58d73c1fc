"""The laboratory says what it shows: the legends and titles of its panels, and its sentences, as in
test_legends."""

from functools import cache

import numpy as np
import pytest

import mhabook
import mhalib as mha
from laboratory import LAB, SMALL
from legends import as_drawn
from mhabook.c01_model.instances import token_radius
from mhabook.c02_curvature.bounds import smoothness_constant
from mhabook.c13_layer.statements import least_singular, value_smoothness
from mhabook.c17_laboratory import panels as drawn_panels
from shown import (
    Panel,
    accuracies,
    assert_all_differ,
    assert_axes_say,
    assert_says,
    assert_shows,
    attention_scores,
    cosine,
    each,
    losses,
    sentence_of,
    softmax_of,
)

KINDS = {
    "mixture": {"model": "heads", "data": "mixture"},
    "planted": {"model": "heads", "data": "planted"},
    "digits": {"model": "heads", "data": "digits"},
    "pathfinder": {"model": "heads", "data": "pathfinder"},
    "linear": {"model": "regression", "data": "linear"},
    "sequences": {"model": "layer", "data": "sequences"},
    "own_heads": {"model": "heads"},
    "own_regression": {"model": "regression"},
    "own_layer": {"model": "layer"},
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def own_data(kind):
    """Data of a reader's own, as in a file."""
    if kind == "own_heads":
        data = mha.data.tokenized_mixture(n=8, T=6, d=8, zeta=1 / 6, sigma=0.5, seed=3)
        return {"X": data.X, "y": data.y}
    if kind == "own_regression":
        data = mha.data.linear_regression(n=30, d=3, p=3, seed=3)
        return {"x": data.x, "y": data.y}
    data = mha.data.random_sequences(2, 4, 8, seed=3)
    return {"X": data.X, "y": data.y}


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Kind of data → the settings, the figure there, and the run that it shows."""

    @cache
    def told(kind):
        lab, settings = LAB, SMALL | KINDS[kind] | {"curvature": True, "schedule": "root"}
        if kind.startswith("own"):
            lab, file = mhabook.laboratory(), tmp_path_factory.mktemp("own") / "mine.npz"
            np.savez(file, **own_data(kind))
            lab.read(file)
            settings = settings | {"data": "own"}
        if KINDS[kind]["model"] == "layer":
            settings = settings | {"moves": "WV"}
        settings = lab.settings(**settings)
        return (
            settings,
            as_drawn(lab.figure(**settings)),
            lab.run(**settings),
            lab.drawn(**settings),
        )

    return told


def panels(kind, settings, run):
    """What must stand in each panel, computed from the models that the run left."""
    data, path = run["data"], run["path"]
    lines = BY_MODEL[settings["model"]](kind, data, path)
    logarithmic = {"loss", "largest eigenvalue", "excess"}
    lowest = drawn_panels.PANELS[kind][3][0]
    found = {
        title: Panel(
            "log step" if title == lowest else "log",
            "log" if title in logarithmic else "",
            of,
            path.steps,
        )
        for title, of in lines.items()
    }
    found["step size"] = Panel("log step", "log", {"step size η": rates(path)}, path.steps)
    if settings["model"] == "heads":
        for title, line in opening(settings["steps"]).items():
            if title in found:
                found[title].lines["opening run"] = line
    return found | {
        "attention weights": Panel(
            "key token", "query token", {"heatmap": shown_weights(settings, data, path[-1])}
        )
    }


def rates(path):
    """The step size, which falls like one over the root of the step."""
    return SMALL["lr"] / np.sqrt(path.steps + 1)


def opening(steps):
    """The run that the laboratory opens with, for its first so many steps."""
    run = LAB.run(**LAB.experiments["first"])
    path, data = run["path"], run["data"]
    kept = path.steps <= steps
    lines = {
        "loss": losses(path, data),
        "accuracy": accuracies(path, data),
        "attention score": attention_scores(path, data),
        "largest eigenvalue": sharpness(path, data),
    }
    return {title: (path.steps[kept], line[kept]) for title, line in lines.items()}


def fresh(kind, data):
    """The samples that are tested on."""
    return data.fresh(80) if kind in ("digits", "pathfinder") else data.fresh(seed=1)


def sharpness(path, data, only=None):
    return each(
        path, lambda model: max(mha.landscape.spectrum(model, data, only=only).values[-1], 0)
    )


def norm_of(path, name, order=None):
    return each(path, lambda model: np.linalg.norm(getattr(model, name).squeeze(), order))


def of_heads(kind, data, path):
    R = token_radius(data.X)
    found = {
        "loss": {"training": losses(path, data)},
        "accuracy": {"training": accuracies(path, data)},
    }
    if not kind.startswith("own"):
        found["loss"]["test"] = losses(path, fresh(kind, data))
        found["accuracy"]["test"] = accuracies(path, fresh(kind, data))
    found["largest eigenvalue"] = {
        "eigenvalue": sharpness(path, data),
        "bound ρ": each(path, lambda model: smoothness_constant(model, R)),
        "2/η": 2 / rates(path),
    }
    if kind == "mixture":
        return found | {"attention score": {"attention score": attention_scores(path, data)}}
    if kind == "planted":
        return found | {
            "alignment with the planted head": {
                name: each(
                    path,
                    lambda model, name=name: cosine(
                        getattr(model, name), np.stack([getattr(data.truth, name)] * 2)
                    ),
                )
                for name in "WU"
            }
        }
    sums = {
        name: each(
            path, lambda model, name=name: np.linalg.norm(getattr(model, name), axis=(1, 2)).sum()
        )
        for name in "WU"
    }
    return found | {"norms of the weights": {"W": sums["W"] / 2, "U": sums["U"] / 2**0.5}}


def of_a_regression(kind, data, path):
    tokens = {"effective tokens": each(path, lambda model: model.effective_tokens(data.x).mean())}
    curvature = {
        "eigenvalue": sharpness(path, data),
        "2/η": 2 / rates(path),
    }
    found = {
        "loss": {"training": losses(path, data)},
        "effective tokens": tokens,
        "largest eigenvalue": curvature,
    }
    if kind == "own_regression":
        return found | {"norms of the weights": {name: norm_of(path, name, 2) for name in "AB"}}
    found["loss"]["noise floor"] = np.full(len(path), 0.1**2 * 3 / 2)
    return found | {
        "excess": {"population excess": each(path, lambda model: model.against(data)["excess"])}
    }


def of_a_layer(kind, data, path):
    norms = {
        name: each(path, lambda model, name=name: (getattr(model, name) ** 2).sum() ** 0.5)
        for name in ("WQ", "WK", "WV", "WO")
    }
    return {
        "loss": {"training": losses(path, data)},
        "norms of the weights": norms,
        "largest eigenvalue": {
            "eigenvalue": sharpness(path, data, ["WV"]),
            "bound": each(path, lambda model: value_smoothness(model, data.X)),
            "2/η": 2 / rates(path),
        },
        "smallest singular value of B": {
            "σ_min(B)": each(path, lambda model: least_singular(model.mixed(data.X)))
        },
    }


BY_MODEL = {"heads": of_heads, "regression": of_a_regression, "layer": of_a_layer}


def shown_weights(settings, data, model):
    """The attention weights of the chosen head on the chosen sample; of a regression those of 16
    tokens."""
    if settings["model"] == "regression":
        return softmax_of(data.x @ model.B @ data.x.T)[:16, :16]
    X = data.X[settings["sample"]][None]
    return (model.attention(X) if settings["model"] == "heads" else model.weights(X))[
        0, settings["head"]
    ]


def test_every_kind_of_data_is_told_here():
    assert set(KINDS) == set(drawn_panels.PANELS)


@each_kind
def test_a_line_shows_what_the_legend_and_the_title_say(kind, told):
    settings, figure, run, _ = told(kind)
    wanted = panels(kind, settings, run)
    assert_shows(figure, wanted)
    assert_axes_say(figure, wanted)
    unmoved = {"norms of the weights"} if settings["model"] == "layer" else set()
    assert_all_differ({title: panel for title, panel in wanted.items() if title not in unmoved})


LOSSES = (
    "training loss {}, test loss {}, test accuracy {}",
    "training loss",
    "test loss",
    "test accuracy",
)
LAYER = (
    "loss {}, initially {}; σ_min(B) = {}.",
    "training loss",
    "first training loss",
    "σ_min(B)",
)
# Kind of data → words, and the lines whose numbers stand in them.
SAID = {
    "mixture": [LOSSES, ("attention score {}.", "attention score")],
    "planted": [LOSSES, ("alignment {} in W and {} in U.", "W", "U")],
    "digits": [LOSSES],
    "pathfinder": [LOSSES],
    "linear": [
        (
            "training loss {}, noise floor {}, population excess {}, {} effective tokens.",
            "training loss",
            "noise floor",
            "population excess",
            "effective tokens",
        )
    ],
    "sequences": [LAYER],
    "own_heads": [("training loss {}, accuracy {}.", "training loss", "training accuracy")],
    "own_regression": [
        ("training loss {}, {} effective tokens.", "training loss", "effective tokens")
    ],
    "own_layer": [LAYER],
}


@each_kind
def test_a_sentence_says_what_its_words_name(kind, told):
    settings, _, run, results = told(kind)
    lines = {
        f"{name} {title}" if name in ("training", "test") else name: line
        for title, panel in panels(kind, settings, run).items()
        for name, line in panel.lines.items()
    }
    spec = {
        "summary": LAB.laboratory["drawn"][kind]["says"],
        "controls": [],
        "fixed": {"optimizer": "descent"},
        "curves": LAB.laboratory["drawn"][kind]["curves"],
        "final": [],
    }
    sentence = sentence_of(spec, {}, results)
    for words, *names in SAID[kind]:
        numbers = [
            lines[name.removeprefix("first ")][0 if name.startswith("first ") else -1]
            for name in names
        ]
        assert_says(sentence, [(words, *numbers)])
