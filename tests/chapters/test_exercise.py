"""Exercises that check themselves: the page's JavaScript in V8, held against mhalib and against
readers' mistakes."""

import json
import re
from functools import cache
from keyword import iskeyword
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from py_mini_racer import MiniRacer

import mhabook
import notebooks
from answers import EXACT, TRUTH
from engines import BOOK, exposed
from mhabook.exercises import QUESTIONS, Exercise, Question, Variable
from mhabook.exercises.questions import read

ROOT = Path(__file__).parents[2]
PLACES = [(label, k) for label, questions in QUESTIONS.items() for k in range(len(questions))]
each = pytest.mark.parametrize(("label", "k"), PLACES, ids=lambda part: str(part))
# The exercises whose answer is no number and no formula: kind → labels.
LISTED = {
    "proof": """ex-1-shuffle ex-2-flat ex-2-tied ex-5-rules ex-6-scale ex-6-mirror ex-8-step ex-8-product
        ex-8-distance ex-12-line ex-12-corner ex-12-particles ex-13-outputs ex-14-few ex-14-valley ex-15-values""",
    # Which is better, whether something holds, who is right: of runs, drawings or files that are
    # the reader's own.
    "experiment": """ex-1-counting ex-1-digits ex-3-heads ex-4-momentum ex-6-samples ex-8-kinds ex-8-kernel ex-10-gauge
        ex-12-back ex-13-heads ex-14-rounding ex-14-push ex-15-grid ex-15-line ex-15-chosen ex-16-second ex-16-alone
        ex-16-itself ex-16-choose ex-17-file ex-17-python ex-17-refute ex-sheet-laboratory""",
    "open": """ex-1-rank ex-2-open ex-3-open ex-4-gap ex-5-open ex-6-open ex-8-open ex-9-open ex-10-open ex-12-open
        ex-13-open ex-14-open ex-15-open ex-15-look ex-16-open""",
}
WITHOUT = {kind: labels.split() for kind, labels in LISTED.items()}
TRIED = """function tried(work) {
  const plain = (_, x) => (typeof x === "number" && !Number.isFinite(x) ? String(x) : x);
  try { return JSON.stringify(work(), plain); } catch (fault) {
    if (!("at" in fault)) throw fault;
    return JSON.stringify({ fault: fault.message, at: fault.at, length: fault.length });
  }
}"""


@cache
def v8():
    engine = MiniRacer()
    engine.eval(
        exposed(*(BOOK / "exercises" / f"{name}.js" for name in ("formula", "judge", "widget")))
        + TRIED
    )
    return engine


def tried(work):
    return json.loads(v8().eval(f"tried(() => {work})"))


@cache
def book():
    """The text of all notebooks."""
    return "\n\n".join(notebooks.text(notebooks.read(path)) for path in notebooks.paths())


def solution(label):
    """The text of an exercise's solution: what follows its directive in the book."""
    found = re.search(
        rf"\{{solution(?:-start)?\}} {label}\n(.*?)(?=\{{exercise|\Z)", book(), re.DOTALL
    )
    assert found, f"{label} has no solution"
    return found[1]


@cache
def exercises():
    """Label → title and text of every exercise of the book."""
    every = [
        row for path in notebooks.paths() for row in notebooks.directives(notebooks.read(path))
    ]
    return {
        notebooks.option(body, "label"): f"{title} {re.sub(r'(?m)^:.*$', '', body).strip()}"
        for name, title, body in every
        if name == "exercise"
    }


def judge(question, text):
    return tried(f"judge({json.dumps(question.to_json())}, {json.dumps(text)})")


def evaluate(text, ask="", **values):
    names = json.dumps(list(values))
    return tried(
        f"read({json.dumps(text)}, {names}, {{}}, {json.dumps(ask)}).value({json.dumps(values)})"
    )


def instances(question):
    return tried(f"instances({json.dumps(question.to_json())})")


# --- the answers
# ----------------------------------------------------------------------------------------------


def test_every_question_has_its_truth():
    assert {label: len(truths) for label, truths in TRUTH.items()} == {
        label: len(q) for label, q in QUESTIONS.items()
    }


@each
def test_an_answer_is_what_mhalib_computes_or_its_solution_says(label, k):
    question, truth = QUESTIONS[label][k], TRUTH[label][k]
    if isinstance(truth, str):
        assert truth in solution(label)
        return
    function, tolerance = truth if isinstance(truth, tuple) else (truth, EXACT)
    for values in instances(question)[:6]:
        wanted = function(**{name + "_" * iskeyword(name): value for name, value in values.items()})
        assert evaluate(question.answer, **values) == pytest.approx(
            wanted, rel=tolerance, abs=min(tolerance, 1e-6)
        )


@each
def test_an_answer_is_right_and_a_common_mistake_is_named(label, k):
    question = QUESTIONS[label][k]
    assert judge(question, question.answer)["right"]
    for formula, words in question.common_mistakes:
        result = judge(question, formula)
        assert not result["right"] and result["mistake"] == words


@each
def test_instances_tell_variables_apart(label, k):
    question = QUESTIONS[label][k]
    drawn = instances(question)
    assert len(drawn) == (24 if question.variables else 1)
    for variable in question.variables:
        values = [row[variable.name] for row in drawn]
        assert min(values) >= variable.low and max(values) <= variable.high and len(set(values)) > 1
        assert not variable.whole or all(value == int(value) for value in values)
    assert all(np.isfinite(float(evaluate(question.answer, **row))) for row in drawn)


# --- which exercises have fields
# ------------------------------------------------------------------------------


def test_every_exercise_has_a_field_or_a_reason_not_to():
    reasons = [label for labels in WITHOUT.values() for label in labels]
    assert len(reasons) == len(set(reasons)) and not set(reasons) & set(QUESTIONS)
    assert set(reasons) | set(QUESTIONS) == set(exercises())


@pytest.mark.parametrize(
    "kind, label", [(kind, label) for kind, labels in WITHOUT.items() for label in labels]
)
def test_a_reason_shows_in_the_exercise(kind, label):
    text, runs = exercises()[label], f"{{solution-start}} {label}\n" in book()
    assert bool(re.match(r" ?\*?Open\b", text)) == (kind == "open")
    if kind == "proof":
        assert "Show" in text or not runs
    if kind == "experiment":
        assert runs or label in ("ex-17-file", "ex-17-refute"), (
            "found by running code, or in the laboratory"
        )


# --- the language
# ---------------------------------------------------------------------------------------------


VALUES = {
    "2*u": 4,
    "1 + 2*3": 7,
    "-2^2": -4,
    "2^3^2": 512,
    "2^-1": 0.5,
    "8/2/2": 2,
    "1-2-3": -4,
    "-u*-w": -2,
    "2**3": 8,
    "−u·w": 2,
    "6÷3×2": 4,
    "[u+1]*2": 6,
    ".5 + 1.": 1.5,
    "2e-1*u": 0.4,
    "2E1": 20,
    "ln(e)": 1,
    "sin(π/2)": 1,
    "min(u,w) + max(u, w, 7)": 6,
    "sigmoid(0)": 0.5,
    "abs(w)*sqrt(4)": 2,
    "1/0": "Infinity",
    "sqrt(w)": "NaN",
    "cos(0)+tanh(0)+exp(0)+log(1)": 2,
    "σ'(0)": 1 / 4,
    "σ''(log(2))": -2 / 27,
    "σ″(-log(2))": 2 / 27,
    "binom(6, 3)": 20,
    "binom(-1/2, 2)": 3 / 8,
    "binom(u, 0)": 1,
    "binom(2, w)": "NaN",
    "binom(1/2, 1e9)": "NaN",
    "(5 choose 2)/u": 5,
    "C(3,2)": 3,
    "minus one half": -0.5,
    "three quarters·ten": 7.5,
    "u^w + uʷ": 1,
}


@pytest.mark.parametrize("text, value", VALUES.items())
def test_a_formula_has_its_value(text, value):
    found = evaluate(text, u=2, w=-1)
    assert found == (value if isinstance(value, str) else pytest.approx(value))


@pytest.mark.parametrize(
    "text, at, words",
    [
        ("", 0, "Type a number"),
        ("u 2", 2, "operation is missing"),
        ("x+1", 0, "letters here are u, w"),
        ("sin^2(w)", 0, "sin\\(…\\)"),
        ("exp(w", 3, "never closed"),
        ("w)", 1, "never opened"),
        ("2*()", 2, "nothing in these"),
        ("1,234", 1, "either"),
        ("min(u)", 0, "two numbers"),
        ("√2u", 0, "parentheses"),
        ("u*sin′(w)", 2, "derivative"),
        ("y=3", 1, "equals sign"),
        ("u≤2", 1, "inequality"),
        ("|u", 0, "partner"),
        ("\\frac u2", 0, "fraction"),
        ("*u", 0, "before"),
        ("u*", 1, "after"),
        ("(u*)", 3, "before this parenthesis"),
        ("u # w", 2, "means nothing"),
        ("log(u,w)", 5, "comma"),
        ("constructor", 0, "“constructor” is not known"),
        ("2*toString", 2, "not known"),
        ("alert(1)", 0, "not known"),
        ("5%%", 2, "after a number"),
        ("(5%%)", 3, "after a number"),
        ("(u of w)", 3, "99/100"),
        ("2u choose 2", 3, "parentheses of its own"),
    ],
)
def test_a_fault_says_where_it_is_and_what_to_do(text, at, words):
    fault = tried(f"read({json.dumps(text)}, ['u', 'w'])")
    assert fault["at"] == at
    assert re.search(words, fault["fault"])


SPELLINGS = yaml.safe_load((ROOT / "tests/support/answers/spellings.yml").read_text("utf-8"))


def asked(place):
    label, k = place.split()
    return QUESTIONS[label][int(k)]


@pytest.mark.parametrize("place", SPELLINGS["right"])
def test_an_answer_is_right_however_readers_write_it(place):
    for text in SPELLINGS["right"][place].splitlines():
        assert judge(asked(place), text).get("right"), text


@pytest.mark.parametrize("place", SPELLINGS["wrong"])
def test_a_wrong_answer_is_judged_however_readers_write_it(place):
    part = json.dumps(asked(place).to_json())
    for text, words in SPELLINGS["wrong"][place].items():
        assert words in tried(f"differs({part}, judge({part}, {json.dumps(text)}))"), text


@pytest.mark.parametrize("place", SPELLINGS["refused"])
def test_what_is_not_read_is_refused_with_a_sentence(place):
    for text, words in SPELLINGS["refused"][place].items():
        assert words in judge(asked(place), text).get("fault", ""), text


@pytest.mark.parametrize(
    "text, reading",
    [
        ("1/2 x", "(1/2)*x"),
        ("u/2w", "(u/2)*w"),
        ("2u(1+w)", "2*u*(1+w)"),
        ("uw^2", "u*w^2"),
        ("u^2w", "u^2*w"),
        ("ln 2/u", "log(2)/u"),
        ("√u^2", "sqrt(u^2)"),
        ("50%", "50/100"),
        ("\\frac{u}{2w}", "u/(2*w)"),
        ("e^-2u", "e^(-2)*u"),
        ("0,5 u", "0.5*u"),
        ("-2u", "-2*u"),
        ("2|u-w|", "2*abs(u-w)"),
        ("u-(w-x)", None),
        ("u*w", None),
        ("2(u-(w-x))", "2*(u-(w-x))"),
        ("2½ u", "(2+1/2)*u"),
        ("|u|x|w|", "abs(u)*x*abs(w)"),
        ("uσ'(w)", "u*sigmoid′(w)"),
        ("C(u,2)", "binom(u, 2)"),
        ("u choose 2", "binom(u, 2)"),
        ("uʷ⁺¹x", "u^(w+1)*x"),
        ("u^Tx", "u*x"),
        ("ux'", "u*x"),
        ("u^T^2", "u^2"),
        ("two thirds u", "(2/3)*u"),
        ("2 of 3", "2/3"),
        ("2/u steps", "2/u"),
        ("nine", "9"),
        ("uʷ", "u^w"),
    ],
)
def test_what_may_be_read_in_two_ways_is_shown_as_it_was_read(text, reading):
    ask = "The number of steps, for d = 1"
    made = tried(f"read({json.dumps(text)}, ['u', 'w', 'x'], {{}}, {json.dumps(ask)})")
    assert made["reading"] == reading
    values = {"u": 1.7, "w": 0.6, "x": 2.3}
    assert reading is None or evaluate(reading, **values) == pytest.approx(
        evaluate(text, ask, **values)
    )


def test_a_letter_that_an_answer_lacks_is_named():
    largest = QUESTIONS["ex-1-two-tokens"][2]
    assert judge(largest, "1/4")["missing"] == ["u"] and judge(largest, "u/3")["missing"] == []
    # a, which our answer lacks as well
    assert judge(QUESTIONS["ex-5-factor"][0], "eta*H")["missing"] == []


def test_a_letter_may_be_typed_as_the_chapter_writes_it():
    found = {
        each
        for questions in QUESTIONS.values()
        for question in questions
        for each in question.variables
    }
    for each in (each for each in found if each.symbol):
        assert judge(Question("how", f"2*{each.name}", (each,)), f"{each.symbol}+{each.symbol}")[
            "right"
        ]
    prime = Question("how", "2*xp", (Variable("xp", 1, 2, symbol="x′"),))
    assert judge(prime, "2*x'")["right"]


def test_a_wrong_answer_tells_where_and_not_what_is_right():
    question = Question("what", "u+w^2", (Variable("u", 1, 2), Variable("w", 0, 9, whole=True)))
    result = judge(question, "u+w")
    assert not result["right"] and 0 < result["off"] < 24 and result["mistake"] is None
    assert (
        result["first"]["yours"] == result["first"]["values"]["u"] + result["first"]["values"]["w"]
    )


def test_other_ways_to_write_an_answer_are_right():
    question = QUESTIONS["ex-1-two-tokens"][0]
    for text in ("u*exp(-w)/(1+exp(-w))^2", "u/(2+exp(w)+exp(-w))", "u/4*(1-tanh(w/2)^2)"):
        assert judge(question, text)["right"]


NUMBERS = [(label, k) for label, k in PLACES if not QUESTIONS[label][k].variables]


@pytest.mark.parametrize(("label", "k"), NUMBERS, ids=lambda part: str(part))
def test_a_number_counts_when_it_is_rounded_to_the_wanted_digits_and_a_whole_one_has_to_be_exact(
    label, k
):
    question = QUESTIONS[label][k]
    value, digits = float(evaluate(question.answer)), question.digits or 3
    if value == int(value) and not question.digits:
        wanted, off = value, max(1e-3, 2 * question.tolerance * abs(value))
    else:
        unit = 10 ** (np.floor(np.log10(abs(value))) + 1 - digits)
        wanted, off = unit * round(value / unit), 2 * max(unit, question.tolerance * abs(value))
    for typed, right in ((value, True), (wanted, True), (value + off, False), (value - off, False)):
        assert judge(question, f"{typed:.9g}")["right"] is right


@pytest.mark.parametrize(("label", "k"), NUMBERS, ids=lambda part: str(part))
def test_a_field_says_to_how_many_digits_a_number_is_wanted(label, k):
    question = QUESTIONS[label][k]
    exact = float(evaluate(question.answer)).is_integer()
    if question.digits:
        wanted = f"A number, to {question.digits} digit{'s' * (question.digits > 1)}"
    elif exact or question.tolerance > 1e-3:  # what is asked says how near: to two percent
        wanted = "A number, or a formula for it"
    else:
        wanted = "A number, to 3 digits, or a formula for it"
    assert tried(f"lettersOf({json.dumps(question.to_json())})") == wanted


@pytest.mark.parametrize(
    "label, k, text, right, almost",
    [
        ("ex-1-half", 1, "6.8", True, True),
        ("ex-1-half", 1, "6.79", True, True),
        ("ex-1-half", 1, "log(891)", True, True),
        ("ex-1-half", 1, "6.7", False, True),
        ("ex-1-half", 1, "7", False, True),
        ("ex-1-half", 1, "8", False, False),
        ("ex-descent-two", 1, "0.471", True, True),
        ("ex-descent-two", 1, "0.475", False, True),
        ("ex-descent-two", 1, "0.5", False, False),
        ("ex-sheet-effective", 1, "16", False, False),
        ("ex-sheet-effective", 1, "19", False, True),
        ("ex-9-queries", 1, "1.07", False, False),
        ("ex-descent-steps", 1, "136", False, False),
        ("ex-sheet-halfway", 2, "k+1.17741002", True, True),
        ("ex-sheet-halfway", 2, "k+1.177", False, True),
        ("ex-sheet-halfway", 2, "k+1.2", False, False),
    ],
)
def test_what_is_rounded_too_far_is_told_from_what_is_wrong(label, k, text, right, almost):
    result = judge(QUESTIONS[label][k], text)
    assert (result["right"], result["almost"]) == (right, almost)


u, w, x = (Variable(name, 0.5, 3) for name in "uwx")


@pytest.mark.parametrize(
    "answer, typed, meant",
    [
        ("u^(1/2)*w", "u^1/2*w", "u^(1/2)*w"),
        ("w*u^(-1/2)", "w*u^-1/2", "w*u^(-1/2)"),
        ("u^(1-2*w)", "u**1-2*w", "u**(1-2*w)"),
        ("u^(w/x)", "u^w/x", "u^(w/x)"),
        ("(1+u)*exp(w^(x/2))", "(1+u)*exp(w^x/2)", "(1+u)*exp(w^(x/2))"),
        ("u/(w*x)", "u/w*x", "u/(w*x)"),
        ("1-u/(w*(1+x))", "1-u/w*(1+x)", "1-u/(w*(1+x))"),
        ("(u-w)/(u+w)", "u-w/u+w", "(u-w)/(u+w)"),
        ("max(u, (w-x)/2)", "max(u, w - x ÷ 2)", "max(u,(w - x)÷(2))"),
        ("u/(w*x)", "u/w/x", None),
        ("u/(w*-x)", "u/w*-x", "u/(w*-x)"),
        ("u/(w^--2)", "u/-w*-2", None),
        ("u^2/2", "u^2/3", None),
        ("u*w", "u*w+1", None),
    ],
)
def test_a_formula_that_lacks_parentheses_is_told_where(answer, typed, meant):
    result = judge(Question("what", answer, (u, w, x)), typed)
    assert result["meant"] == meant
    if meant:
        assert judge(Question("what", answer, (u, w, x)), meant)["right"]


@given(
    st.recursive(
        st.sampled_from(["u", "w", "2", "-x", "1.5"]),
        lambda inner: st.one_of(
            st.tuples(
                inner, st.sampled_from(["+", "-", "*", "/", "^", "*-", "/-", "^-"]), inner
            ).map("".join),
            inner.map("({})".format),
            inner.map("exp({})".format),
            st.tuples(inner, inner).map("max({0[0]}, {0[1]})".format),
        ),
        max_leaves=8,
    )
)
def test_what_can_be_read_is_judged(typed):
    assert "fault" not in judge(Question("what", "u/(w*x)", (u, w, x)), typed)


def test_a_long_formula_is_judged_at_once():
    typed = "+".join(["u/w*x"] * 200)
    assert judge(Question("what", "u", (u, w, x)), typed)["meant"] is None


DEEP = "This formula is nested too deep: 100 levels are read at most."
LONG = "This formula is too long: it has {} characters, and 2000 are read at most."


@pytest.mark.parametrize(
    "text, at, words",
    [
        ("(" * 900 + "1" + ")" * 900, 100, DEEP),
        ("-" * 1999 + "1", 100, DEEP),
        ("2" + "^2" * 999, 200, DEEP),
        ("|" * 1000 + "1" + "|" * 999, 100, DEEP),
        ("exp(" * 399 + "1" + ")" * 399, 400, DEEP),
        ("ln " * 600 + "2", 300, DEEP),
        ("(" * 5000 + "1" + ")" * 5000, 0, LONG.format(10_001)),
        ("1" + "+1" * 20_000, 0, LONG.format(40_001)),
        ("min(" + "1," * 100_000 + "1)", 0, LONG.format(200_006)),
        ("1" * 2001, 0, LONG.format(2001)),
    ],
)
def test_a_formula_that_no_stack_would_hold_is_refused_in_words(text, at, words):
    fault = judge(Question("what", "u", (u, w, x)), text)
    assert fault["at"] == at and fault["fault"].startswith(words)


@pytest.mark.parametrize(
    "text, value",
    [
        ("(" * 99 + "1" + ")" * 99, 1),
        ("-" * 98 + "1", 1),
        ("1" + "+1" * 999, 1000),
        ("1" + "*1" * 999, 1),
        ("max(" + "1," * 990 + "7)", 7),
        ("u" * 2000, "Infinity"),
    ],
)
def test_the_deepest_and_longest_formulas_have_their_value(text, value):
    assert len(text) <= 2000 and evaluate(text, u=2) == value


def test_a_word_that_can_be_parted_in_millions_of_ways_is_not_tried_in_all():
    """Each pair is two letters or one: 2^900 ways, of which two say that the word is not one
    product."""
    fault = tried(f"read({json.dumps('ab' * 900)}, ['a', 'b', 'ab'])")
    assert fault["fault"].startswith("“abababababababababab…” is not known here")


def test_a_sign_of_two_units_is_shown_whole():
    fault = tried('read("2*😀", [])')
    assert (fault["fault"], fault["at"], fault["length"]) == ("“😀” means nothing here.", 2, 2)


# --- the widget
# -----------------------------------------------------------------------------------------------


def test_every_exercise_is_asked_below_itself_and_every_page_asks():
    """The cell stands between the exercise and its solution, and every label has its place."""
    found = {}
    for path in notebooks.paths():
        cells = notebooks.read(path)["cells"]
        for before, cell, after in zip(cells, cells[1:], cells[2:], strict=False):
            for label in re.findall(r'mhabook\.exercise\("([^"]+)"\)', notebooks.source(cell)):
                assert f":label: {label}\n" in notebooks.source(before), (
                    f"{label}: not below its exercise"
                )
                solved = re.search(rf"\{{solution(-start)?\}} {label}\n", notebooks.source(after))
                assert solved, f"{label}: not above its solution"
                assert label not in found and "remove-input" in cell["metadata"]["tags"]
                found[label] = path.stem
    assert set(found) == set(QUESTIONS)
    assert {f"{k:02}" for k in range(1, 18)} <= {stem[:2] for stem in found.values()}
    assert {"softmax", "descent_and_curvature", "tangent_kernel"} <= set(found.values())


def test_the_widget_carries_its_questions_and_no_spec():
    made = mhabook.exercise("ex-1-half")
    assert [part["ask"] for part in made.exercise["parts"]] == [
        question.ask for question in QUESTIONS["ex-1-half"]
    ]
    assert "spec" not in made.get_state()
    assert "The gap g" in repr(made)


def test_module_is_one_text_without_eval_or_imports():
    source = Exercise._esm
    assert str(source).count("export default") == 1
    assert not re.search(r"\beval\(|new Function|\bimport\b|fetch\(", str(source))


@pytest.mark.parametrize(
    "bad, error, words",
    [
        (1, TypeError, "label: expected the label of an exercise, a string, got int"),
        ("ex-1-hlaf", ValueError, "label: expected .* such as ex-1-half.*, got 'ex-1-hlaf'"),
        ("?", ValueError, "label: expected .* such as ex-1"),
    ],
)
def test_labels_that_no_question_has_are_refused(bad, error, words):
    with pytest.raises(error, match=words):
        mhabook.exercise(bad)


# --- the files of questions
# -----------------------------------------------------------------------------------

ENTRY = """
variables: {u: {low: 0.5, high: 3}}
ex-0:
  - ask: how much
    answer: 2*u
    variables: [u]
    hints: [twice]
"""


@pytest.mark.parametrize(
    "before, after, words",
    [
        (
            "hints",
            "hnits",
            ": expected keys among ask, answer, .*, got ask, answer, variables, hnits",
        ),
        ("    answer: 2*u\n", "", ": .* missing 1 required .*'answer'"),
        ("[u]", "[w]", ": w does not stand under the variables of the file"),
        (
            "[u]",
            "[{name: u, low: 1, hihg: 3}]",
            ": expected keys among name, low, .*, got name, low, hihg",
        ),
        ("[twice]", "twice", ", hints: expected a list, got 'twice'"),
        ("2*u", "{2: u}", ", answer: expected a str, got"),
        ("- ask: how much", "- digits: two", ": expected a number, or true or false, got 'two'"),
        ("ex-0:\n  -", "ex-0:\n   ", ": expected keys among ask, .*, got 'ask'"),
    ],
)
def test_a_wrong_entry_is_named_by_its_file_and_label(tmp_path, before, after, words):
    (tmp_path / "questions.yml").write_text(ENTRY, "utf-8")
    assert read(tmp_path) == {
        "ex-0": (Question("how much", "2*u", (Variable("u", 0.5, 3),), ("twice",)),)
    }
    (tmp_path / "questions.yml").write_text(ENTRY.replace(before, after), "utf-8")
    with pytest.raises(ValueError, match=f"^{tmp_path.name}/questions.yml, ex-0{words}"):
        read(tmp_path)
