"""Each rule of the book accepts a good notebook and catches a bad one."""

import inspect

import pytest

import book_rules as rules


def markdown(source, cell_id="words"):
    return {"cell_type": "markdown", "id": cell_id, "metadata": {}, "source": source}


def python(source, *tags, cell_id="code", outputs=(), count=None, **metadata):
    return {
        "cell_type": "code",
        "id": cell_id,
        "metadata": {"tags": list(tags), **metadata},
        "source": source,
        "outputs": list(outputs),
        "execution_count": count,
    }


def notebook(*cells, kernel="python3"):
    return {"cells": list(cells), "metadata": {"kernelspec": {"name": kernel}}}


HEADINGS = ["Predict", "See it", "The idea", "Check it by number", "Where it breaks"]
HEADINGS += ["Exercises", "What we have seen", "Sources"]
EXERCISE = "```{{exercise}} Title\n:label: ex-{0}\nWhy?\n```\n```{{solution}} ex-{0}\n:class: dropdown\nSo.\n```\n"
THEOREM = "```{prf:theorem} Smoothness [ours]\n:label: smooth\nIt is smooth.\n```"
TEXT_OUTPUT = {"output_type": "execute_result", "data": {"text/plain": "3"}}
CHAPTER = notebook(
    markdown("\n\n".join(f"## {heading}" for heading in HEADINGS), "sections"),
    markdown("\n".join(EXERCISE.format(i) for i in range(5)) + THEOREM, "exercises"),
    markdown("word " * 60 + "![a falling curve](curve.png)", "prose"),
    python("def twice(x):\n    return 2 * x", cell_id="lesson"),
    python("model = mha.MultiHeadAttention.random(H=2, T=3, d=4)", cell_id="model"),
    markdown("````{solution-start} ex-1\n:class: dropdown\n````", "solution-starts"),
    python("for step in range(3):\n    print(step)", cell_id="solution"),
    markdown("````{solution-end}\n````", "solution-ends"),
    python("1 + 2", cell_id="sum"),
)
LONG, LONGEST = "\n".join("x = 1" for _ in range(9)), "\n".join("x = 1" for _ in range(16))
NESTED = "::::{admonition} Outer\n:::{prf:lemma} Bound\n:label: bound\nText.\n:::\n::::"


def reversed_sections():
    return markdown("\n\n".join(f"## {heading}" for heading in reversed(HEADINGS)))


BAD = {
    "unknown_tags": [python("x", "remove_input"), python("x", "hide-imput")],
    "unstable_ids": [python("x", cell_id="Cell_1"), python("x", cell_id="")],
    "stored_outputs": [
        python("x", outputs=[TEXT_OUTPUT]),
        python("x", count=3),
    ],
    "assertions": [python("assert f(1) == 2"), python("if x:\n    assert x", "remove-cell")],
    "emoji": [markdown("Well done \U0001f389"), python("x  # \u26a0")],
    "long_visible_cells": [python(LONG)],
    "cut_code": [python("x = 1  # " + 80 * "-")],
    "long_hidden_cells": [python(LONGEST, "remove-cell"), python(LONGEST, "hide-input")],
    "visible_loops": [(python("for x in y:\n    x"), python("while x:\n    x", cell_id="second"))],
    "visible_definitions": [
        (python("def f(x):\n    return x"), python("class A: pass", cell_id="second")),
        python("f = lambda x: x"),
    ],
    "visible_plotting": [
        python("go.Figure()"),
        python("import plotly.express as p"),
        python("px.line(y)"),
    ],
    "visible_randomness": [
        python("np.random.rand(3)"),
        python("from numpy.random import default_rng"),
        python("rng = np.random.default_rng(0)"),
        python("import random"),
        python("torch.manual_seed(0)"),
    ],
    "thin_prose": [python("x"), (markdown("$$" + "word " * 60 + "$$"), python("x"))],
    "sections_out_of_order": [reversed_sections(), markdown("## Predict\n\n## See\n\n## Sources")],
    "missing_exercises": [
        markdown("\n".join(EXERCISE.format(i) for i in range(4))),
        markdown("```{exercise}\n:label: alone\nWhy?\n```"),
        markdown("\n".join(EXERCISE.format(i) for i in range(5)).replace(":class: dropdown", "")),
    ],
    "unmarked_statements": [
        markdown(THEOREM.replace("[ours]", "")),
        markdown("```{prf:definition} Margin\nA number.\n```"),
        markdown(NESTED),
        markdown(THEOREM.replace("It is", "**[ours]** it is")),
    ],
    "unclosed_fences": [
        markdown(THEOREM.replace("```{", "````{")),
        markdown(NESTED.removesuffix("::::")),
    ],
    "broken_dropdowns": [markdown("```{prf:proof}\n:class: dropdown\nSo.\n```")],
    "pictures_without_alt": [markdown("![](curve.png)"), markdown("```{figure} curve.png\n```")],
    "figures_without_mhabook": [
        python("mha.plots.training(path)"),
        python("mha.explore(f, H=(1, 4))"),
    ],
    "bluster": [markdown("Clearly, it holds."), markdown("This is obviously so.")],
}


def is_rule(function):
    return next(iter(inspect.signature(function).parameters)) == "notebook"


HELPERS = {"visible_nodes", "lessons", "mentions"}
OURS = [
    f for _, f in inspect.getmembers(rules, inspect.isfunction) if f.__module__ == rules.__name__
]
RULES = [f for f in OURS if is_rule(f) and f.__name__ not in HELPERS]


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.__name__)
def test_good_notebook_passes(rule):
    assert rule(CHAPTER) == []


@pytest.mark.parametrize(("name", "cells"), [(name, cells) for name in BAD for cells in BAD[name]])
def test_bad_notebook_is_caught(name, cells):
    bad = notebook(*cells) if isinstance(cells, tuple) else notebook(cells)
    assert getattr(rules, name)(bad)


def test_every_rule_has_a_bad_example():
    elsewhere = {"foreign_kernel"}
    assert {rule.__name__ for rule in RULES} == set(BAD) | elsewhere


def test_kernel_of_one_machine_is_caught():
    assert rules.foreign_kernel(notebook(kernel="my-env"))


def test_id_used_twice_is_caught():
    assert rules.unstable_ids(notebook(markdown("a"), markdown("b")))


def test_second_definition_is_caught():
    lesson = python("def f(x):\n    return x", cell_id="one")
    again = python("def g(x):\n    return x", cell_id="two")
    assert rules.visible_definitions(notebook(lesson)) == []
    assert rules.visible_definitions(notebook(lesson, again))


def test_what_a_cell_hands_to_explore_is_the_readers():
    lesson = python("def g(x):\n    return x", cell_id="one")
    own, other = (
        python(f"def f(H=1):\n    return H\n\nmha.explore({name}, H=(1, 4))") for name in "fg"
    )
    assert rules.visible_definitions(notebook(lesson, own)) == []
    assert rules.visible_definitions(notebook(lesson, other))


def test_function_with_two_homes_is_caught():
    helper = notebook(python("def helper(x):\n    return x", "remove-cell"))
    assert rules.repeated_functions({"a.ipynb": helper, "b.ipynb": notebook()}) == []
    assert rules.repeated_functions({"a.ipynb": helper, "b.ipynb": helper})
