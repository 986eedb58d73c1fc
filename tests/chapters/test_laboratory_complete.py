"""The laboratory offers what mhalib has, and its page names what it leaves out."""

import re

import pytest

import mhabook
import mhalib as mha
from mhabook.c03_first_step.figure import STARTS
from mhabook.c17_laboratory.controls import DEFAULTS, resolve
from notebooks import BOOK, read, text
from offered import choices

LAB = mhabook.laboratory()
TEXT = {"from_sentences", "words", "reviews"}
NETWORKS = {"NetworkPoint", "PatchTransformer", "TextTransformer"}
LEFT_OUT = (
    {
        "Backtracking",
        "clip",
        "HeadGroups",
        "PopulationRegression",
        "Linearized",
        "Surface",
        "from_arrays",
        "regression_from_arrays",
    }
    | TEXT
    | NETWORKS
)
FOR_TWO_MATRICES = {"Preconditioned", "StructureAware"}


def written(pattern, name, **values):
    """What the exported lines have in the place of a pattern, over all choices of a control."""
    lines = (
        LAB.code(**resolve(DEFAULTS | values | {name: choice}))
        for choice in choices(name, **values)
    )
    return {found for line in lines for found in re.findall(pattern, line)}


def anywhere(pattern, name):
    """The same for every model."""
    return set().union(*(written(pattern, name, model=model) for model in choices("model")))


def classes_of_optim(method):
    """The classes of mhalib.optim that have a method: ``step`` of update rules, ``__call__`` of
    schedules."""
    return {
        name
        for name in mha.optim.__all__
        if is_class(part := getattr(mha.optim, name)) and method in dir(part)
    }


def is_class(part):
    """Whether it is a class, and no protocol, which types alone know."""
    return isinstance(part, type) and not getattr(part, "_is_protocol", False)


@pytest.mark.parametrize("model", choices("model"))
def test_every_update_rule_of_mhalib_is_offered(model):
    left_out = LEFT_OUT | (set() if model == "regression" else FOR_TWO_MATRICES)
    assert (
        written(r"rule = mha\.(\w+)", "optimizer", model=model)
        == classes_of_optim("step") - left_out
    )


@pytest.mark.parametrize("model", choices("model"))
def test_every_schedule_of_mhalib_is_offered(model):
    assert (
        written(r"rule = mha\.\w+\(mha\.(\w+)", "schedule", model=model)
        == classes_of_optim("__call__") - LEFT_OUT
    )


def test_every_generator_of_mhalib_is_offered():
    makers = {name for name in mha.data.__all__ if not isinstance(getattr(mha.data, name), type)}
    assert anywhere(r"data = mha\.data\.(\w+)", "data") | {"from_file"} == makers - LEFT_OUT


def test_every_model_of_mhalib_is_offered():
    assert {type(LAB.run(model=model)["model"]).__name__ for model in choices("model")} == (
        {*mha.models.__all__} - LEFT_OUT - {"Vector"}
    )


def test_every_kernel_of_mhalib_is_offered():
    layer = {"model": "layer", "data": "sequences"}
    offered = {
        type(LAB.run(**layer, kernel=kernel)["model"].kernel)
        for kernel in choices("kernel", **layer)
    }
    assert offered == {
        part
        for part in vars(mha.attention).values()
        if is_class(part) and part.__module__ == "mhalib.attention"
    }


def test_every_start_that_a_model_has_is_offered():
    models = (mha.MultiHeadAttention, mha.AttentionRegression, mha.AttentionLayer)
    begins = {
        f"{cls.__name__}.{name}"
        for cls in models
        for name, part in vars(cls).items()
        if isinstance(part, classmethod)
    }
    assert anywhere(r"mha\.((?:Multi|Attention)\w+\.[a-z]+)", "start") == begins


@pytest.mark.parametrize("theirs", STARTS)
def test_every_start_of_the_third_chapter_is_offered(theirs):
    start = {"zero": "zeros"}.get(theirs, theirs)
    for seed in range(4):
        run = LAB.run(start=start, start_seed=seed, H=1, steps=50)
        assert (run["model"] - STARTS[theirs](run["data"], seed)).norm() == 0


def test_the_page_names_what_is_left_out():
    page = text(read(BOOK / "laboratory" / "17_laboratory.ipynb"))
    assert not {name for name in LEFT_OUT | FOR_TWO_MATRICES if f"`{name}`" not in page}
