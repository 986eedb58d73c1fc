"""The papers' figures: each is listed, each outcome is what its stored table says, each command and
test is there."""

import ast
import re
import shlex
from contextlib import ExitStack
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import mhabook
import mhalib as mha
from mhabook.c08_digits import text as sentences
from mhabook.ledger import MARKS
from mhabook.pages import reproduction
from mhabook.pages.theory_and_practice import SECTIONS
from mhabook.reproduction import FIGURES, STATUSES
from mhabook.tables import stored
from mhalib import data as datasets
from notebooks import directives, option, paths, read, text
from scripts import loaded

ROOT = Path(__file__).parents[2]
AGAINST = ROOT / "book" / "mhabook" / "pages" / "theory_and_practice"
LISTED = {
    "Deora et al. 2023": [
        "Figure 1",
        "Figure 2",
        "Figure 3, left",
        "Figure 3, right",
        "Figure 4",
        "Figure 5, left",
        "Figure 5, right",
        "Figure 6",
    ],
    "Goel et al. 2026": ["Figure 1", "Figure 2"],
    "Song et al. 2024": [
        "1 of 4: one head (a drawing)",
        "2 of 4: text, test accuracy and loss",
        "3 of 4: test accuracy and loss again",
        "4 of 4: landscapes of both tasks",
    ],
}
"""Six figures with two panels in two of them; two figures; four described without a number, in the
account's order."""
KEPT = [figure for figure in FIGURES if figure.table]
each = pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.id)
each_kept = pytest.mark.parametrize("figure", KEPT, ids=lambda figure: figure.id)


@pytest.fixture
def script():
    """A function that loads a script of book/results afresh."""
    with ExitStack() as kept:
        yield lambda name: kept.enter_context(loaded(f"book/results/{name}.py"))


def sections(path):
    """The anchors that Sphinx gives to the headings of a notebook."""
    headings = re.findall(r"(?m)^#+ (.*)$", text(read(path)))
    return {re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-") for heading in headings}


def test_every_figure_of_the_papers_is_listed_once():
    assert [(figure.paper, figure.name) for figure in FIGURES] == [
        (paper, name) for paper, names in LISTED.items() for name in names
    ]
    assert len({figure.id for figure in FIGURES}) == len(FIGURES)


@each
def test_the_setting_has_a_mark_and_the_model_is_the_one_that_ran(figure):
    marks = re.findall(r"\[([\w-]+)\]", figure.setting)
    assert marks and set(marks) <= set(MARKS)
    source = (ROOT / figure.command.split()[-1]).read_text("utf-8") if figure.command else None
    for model in figure.models:
        assert attrgetter(model)(SimpleNamespace(mha=mha, mhabook=mhabook))
        assert source is None or re.search(rf"\b{model.split('.')[-1]}[.(]", source)


def test_the_page_has_every_figure_with_its_status_setting_parameters_and_command():
    tables = reproduction.overview().splitlines(), reproduction.settings().splitlines()
    entries = reproduction.details({figure.id: figure.measured() for figure in FIGURES}).split(
        ":class: figure-entry"
    )
    assert len(entries) == len(FIGURES) + 1
    for figure, entry in zip(FIGURES, entries[1:], strict=True):
        short, long = ([row for row in rows if f"(#{figure.id})" in row] for rows in tables)
        assert len(short) == len(long) == 1
        assert figure.status in short[0] and figure.command in short[0]
        assert figure.status in long[0] and figure.setting in long[0]
        assert all(model in long[0] for model in figure.models)
        assert (
            figure.setting in entry
            and figure.command in entry
            and all(part in entry for part in figure.fixed)
        )
        assert not figure.table or all(made in entry for made in figure.versions)


@each
def test_outcomes_are_those_behind_the_status(figure):
    outcome = figure.measured()
    assert outcome.holds, outcome.words
    assert figure.status in STATUSES
    assert figure.mark in MARKS
    assert "nan" not in outcome.words


@each
def test_the_section_is_in_the_chapter(figure):
    assert figure.section in sections(ROOT / "book" / f"{figure.chapter}.ipynb")


@each
def test_the_named_tests_exist(figure):
    assert figure.tests
    for name in figure.tests:
        path, function = name.split("[")[0].split("::")
        found = ast.walk(ast.parse((ROOT / path).read_text("utf-8")))
        assert function in {node.name for node in found if isinstance(node, ast.FunctionDef)}, name


def _without_layout(code):
    """Python without spaces, breaks of lines, and commas at an end."""
    return re.sub(r",([)\]}])", r"\1", re.sub(r"\s+", "", code))


@each_kept
def test_parameters_are_those_of_the_script(figure):
    source = (ROOT / figure.command.split()[-1]).read_text("utf-8")
    assert all(_without_layout(parameter) in _without_layout(source) for parameter in figure.fixed)
    configurations = stored(figure.table).about["configurations"]
    for name, values in figure.parameters().items():
        if name in configurations[0]:
            assert set(values) <= {config[name] for config in configurations}
        assert set(np.atleast_1d(figure.rows.get(name, values)).tolist()) == set(values)


@pytest.mark.parametrize(
    "figure", [figure for figure in FIGURES if figure.full], ids=lambda figure: figure.id
)
def test_commands_for_the_full_size_are_understood(figure, script, tmp_path):
    (tmp_path / "train" / "pos").mkdir(parents=True)
    python, path, *arguments = shlex.split(figure.full.replace("FOLDER", str(tmp_path)))
    assert python == "python"
    assert (
        script(Path(path).relative_to("book/results").with_suffix(""))
        .arguments(arguments)
        .out.suffix
        == ".npz"
    )


def test_a_stored_trial_is_made_again(script):
    module = script("planted")
    module.HEADS = (1, 16)
    config = {"T": 5, "d": 5, "start": 0.0, "rule": "momentum-root", "seed": 0}
    for row in module.run(**config):
        kept = stored("planted.npz").where(**config, H=row["H"])
        for column, values in row.items():
            np.testing.assert_allclose(
                values, kept[column][0], rtol=1e-6, atol=1e-12, err_msg=column
            )


@pytest.mark.parametrize(
    ("method", "start", "lr"), [("SA2", "spectral", 0.5), ("gd", "random", 0.15)]
)
def test_the_first_steps_of_a_stored_run_are_made_again(script, method, start, lr):
    module = script("descent")
    data, rule = module.problem(5, 0), module.RULES[method](lr)
    row = module.measured(
        mha.train(module.begin(start, data, 0), data, rule, 2, record=[0, 1, 2]), data
    )
    kept = stored("descent.npz").where(d=5, method=method, start=start, lr=lr, seed=0)
    for curve in ("loss", "excess", "effective_tokens"):
        np.testing.assert_allclose(row[curve][:3], kept[curve][0, :3], rtol=1e-9, err_msg=curve)


@pytest.fixture
def few_sentences(monkeypatch):
    """The words task with few sentences, whatever number is asked for."""
    make, kind = sentences.words, sentences.TextDataset
    fresh = kind.fresh
    monkeypatch.setattr(sentences, "words", lambda n, *rest, **named: make(80, *rest, **named))
    monkeypatch.setattr(kind, "fresh", lambda self, n, **named: fresh(self, 20, **named))


def toy_words(module):
    return module.run(
        length=8,
        kernel="gaussian",
        scale=1.0,
        rule="adam",
        lr=0.01,
        embedding=1.0,
        gain=1.0,
        steps=8,
        seed=0,
    )


def toy_pictures(module):
    module.images = lambda part: datasets.pathfinder(40)
    module.STEPS = (0, 1, 2)
    return module.run(kernel="gaussian", scale=1.0, lr=0.01, seed=0)


def toy_slices(module):
    module.STEPS, module.PAIRS, module.RESOLUTION = {"words": (2, 2)}, 1, 3
    return module.run(first="softmax", task="words", seed=0)[0]


@pytest.mark.parametrize(
    ("name", "toy"),
    [("words", toy_words), ("micro_pathfinder", toy_pictures), ("landscapes", toy_slices)],
)
def test_scripts_run_at_toy_size(script, few_sentences, name, toy):
    row = toy(script(name))
    table = stored(f"{name}.npz")
    assert set(row) <= set(table.columns)
    assert np.isfinite(row["loss"]).all()


@pytest.fixture(scope="module")
def rows():
    """The calls by which the page "Theory against practice" makes its rows."""
    found = [
        node
        for path in AGAINST.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
    ]
    return [
        node
        for node in found
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Row"
    ]


def named(node):
    return any(isinstance(each, ast.Name) for each in ast.walk(node))


def test_theory_against_practice_has_a_row_for_every_theorem(rows):
    stated = [directive for path in paths() for directive in directives(read(path))]
    theorems = {option(body, "label") for kind, _, body in stated if kind == "prf:theorem"}
    assert len(theorems) == sum(entry.id.startswith("thm-") for entry in mhabook.ledger)
    assert theorems <= {call.args[0].value for call in rows}


def test_theory_against_practice_computes_its_factors(rows):
    """A row without a factor says so in a word; the others have a quotient of two numbers that the
    page has."""
    for label, factor in ((call.args[1].value, call.args[4]) for call in rows):
        quotients = [
            node
            for node in ast.walk(factor)
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
        ]
        assert named(factor) or factor.value in ("equality", "limit"), label
        assert all(named(node.left) and named(node.right) for node in quotients), label


def test_theory_against_practice_leads_to_sections_that_exist(rows):
    assert {mhabook.ledger[call.args[0].value].chapter for call in rows} == set(SECTIONS)
    for chapter, section in SECTIONS.items():
        assert section in sections(ROOT / "book" / f"{chapter}.ipynb"), (
            f"{chapter} has no section {section}"
        )
