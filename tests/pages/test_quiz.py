"""The quizzes: every number that is an answer is computed here, and learning platforms can read
their files."""

import io
import math
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import mhalib as mha
from scripts import load

quiz = load("book/_ext/quiz.py")
built = load("book/_ext/built.py")
ROOT = Path(__file__).parents[2]
WEEKS = range(1, 7)
QUESTIONS = [asked for k in WEEKS for asked in quiz.questions(k)]
right = {
    asked.ask: next(choice.text for choice in asked.choices if choice.right) for asked in QUESTIONS
}


def answer(beginning):
    (found,) = [text for ask, text in right.items() if ask.startswith(beginning)]
    return found


def test_each_week_has_five_questions_with_one_right_answer_of_three_or_four_and_a_word_on_each():
    assert [len(quiz.questions(k)) for k in WEEKS] == [5] * 6
    assert len(right) == len(QUESTIONS)
    for asked in QUESTIONS:
        assert sum(choice.right for choice in asked.choices) == 1 and 3 <= len(asked.choices) <= 4
        assert all(choice.why for choice in asked.choices)
        assert len({choice.text for choice in asked.choices}) == len(asked.choices)


def test_a_week_without_a_quiz_is_refused():
    with pytest.raises(ValueError, match="quiz: expected the number of a week, 1 to 6, got '7'"):
        quiz.questions("7")


# --- the numbers, computed
# ------------------------------------------------------------------------------------


def test_softmax_of_two_tokens():
    assert answer("Of two tokens") == "4/5"
    assert mha.softmax(np.array([math.log(4), 0.0]))[0] == pytest.approx(4 / 5)


def test_the_score_that_takes_half_of_the_weight():
    assert answer("One token in ten") == "log 9, about 2.2"
    assert mha.softmax(np.array([math.log(9)] + [0.0] * 9))[0] == pytest.approx(1 / 2)
    assert round(math.log(9), 1) == 2.2


def falls(rate, curvature=4.0):
    return abs(1 - rate * curvature) < 1


def test_the_step_size_from_which_a_quadratic_does_not_fall():
    assert answer("Gradient descent on ½λx²") == "1/2"
    assert falls(0.499) and not falls(0.5) and abs(1 - 2 * 4) == 7


def test_sixteen_times_the_heads_divide_the_hessian_of_the_logit_by_four():
    assert answer("A model gets 16 times") == "It falls to a quarter."
    rng = np.random.default_rng(0)
    x, W, U = rng.normal(size=(1, 4, 3)), rng.normal(size=(1, 3, 3)), rng.normal(size=(1, 4, 3))
    norms = [curvature(x, np.repeat(W, H, 0), np.repeat(U, H, 0)) for H in (1, 16)]
    assert norms[0] == pytest.approx(4 * norms[1], rel=1e-5)


def curvature(x, W, U, step=1e-3):
    """The logit's second difference along the first head's parameters, for a fixed direction in
    them."""
    rng = np.random.default_rng(1)
    way = mha.MultiHeadAttention(np.zeros_like(W), np.zeros_like(U))
    way.W[0], way.U[0] = rng.normal(size=W.shape[1:]), rng.normal(size=U.shape[1:])
    model = mha.MultiHeadAttention(W, U)
    ahead, here, behind = (float((model + t * way)(x)[0]) for t in (step, 0, -step))
    return abs(ahead - 2 * here + behind) / step**2


def test_slopes_of_three_losses_against_their_heights():
    """At a margin of 6: that of the squared loss is far larger than its height near its zero, at
    1."""
    assert answer("With which loss does the argument").startswith("The squared loss")
    z = 6.0
    assert math.exp(-z) / (1 + math.exp(-z)) <= math.log1p(math.exp(-z))
    margin = 1 + 1e-3
    assert abs(margin - 1) > 1000 * (margin - 1) ** 2 / 2


def test_two_margins_at_right_angles():
    assert answer("Two orthogonal directions") == "5"
    assert 3 / 5 * 3 + 4 / 5 * 4 == 5
    assert max(3 * math.cos(a) + 4 * math.sin(a) for a in np.linspace(0, math.pi / 2, 1001)) <= 5


def test_step_sizes_of_nine_equal_heads():
    """The run of nine heads is that of one with η for its decoder and η/9 for attention."""
    assert answer("Nine heads start at zero").startswith("η for the decoder, η/9")
    assert answer("For which step size do nine identical heads") == "3η"
    data = mha.data.tokenized_mixture(n=12, T=4, d=5, M=2, zeta=0.25, S=1.0, sigma=0.1, seed=0)
    nine, one = mha.MultiHeadAttention.zeros(9, 4, 5), mha.MultiHeadAttention.zeros(1, 4, 5)
    for _ in range(5):
        nine = nine - 0.3 * nine.loss_and_grad(data.X, data.y)[1]
        grad = one.loss_and_grad(data.X, data.y)[1]
        one = one - mha.MultiHeadAttention(0.3 / 9 * grad.W, 0.3 * grad.U)
    assert np.allclose(nine(data.X), one(data.X), rtol=1e-10, atol=0)
    assert 3 * 3 / 9 == 1


def test_tokens_that_a_query_reads():
    assert answer("The scores of a query") == "18,000"
    assert round(1e6 * math.exp(-4), -3) == 18_000
    assert [round(1e6 * math.exp(-x), -1) for x in (2, 8)] == [135_340, 340]


def test_a_tilted_gaussian():
    assert answer("Tokens are N(0, 1)") == "N(1.5, 1)"
    x = np.linspace(-12, 12, 20001)
    density = np.exp(-(x**2) / 2 + 1.5 * x)
    density /= density.sum()
    mean = density @ x
    assert mean == pytest.approx(1.5) and density @ (x - mean) ** 2 == pytest.approx(1)


@pytest.mark.parametrize(("variance", "expected"), [(9, 90), (1, 2)])
def test_the_curvature_along_a_coordinate(variance, expected):
    """Of ½(uv − 1)² at u = v = 1 in the layer's own a and b, where u = σ a and v = σ² b; by central
    differences."""
    assert answer("One coordinate of the tokens") == "45" and 90 / 2 == 45
    scale = np.array([variance**0.5, variance])

    def loss(layer):
        u, v = scale * layer
        return (u * v - 1) ** 2 / 2

    optimum, step = 1 / scale, 1e-4
    moves = step * np.eye(2)
    hessian = [
        [
            (
                loss(optimum + a + b)
                - loss(optimum + a - b)
                - loss(optimum - a + b)
                + loss(optimum - a - b)
            )
            / (4 * step**2)
            for a in moves
        ]
        for b in moves
    ]
    assert np.linalg.eigvalsh(hessian)[-1] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("distance", [1.0, 10.0])
def test_a_key_in_the_middle_of_two(distance):
    assert answer("A key lies exactly halfway") == "1/3"
    assert answer("The two outer keys are moved").endswith("does not change.")
    keys = np.array([-distance, 0.0, distance])
    weights = [mha.softmax(q * keys)[1] for q in np.linspace(-3, 3, 601)]
    assert max(weights) == pytest.approx(1 / 3)


def test_both_kernels_have_one_rank():
    assert answer("A softmax matrix has rank 5") == "5"
    q, k = np.random.default_rng(0).normal(size=(2, 5, 2))
    matrices = np.exp(q @ k.T), np.exp(-((q[:, None] - k) ** 2).sum(-1) / 2)
    assert [np.linalg.matrix_rank(matrix) for matrix in matrices] == [5, 5]


# --- the files
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", WEEKS)
def test_the_gift_file_reads_back(k):
    """By the rules of the format: a category, then titles, questions, and in braces choices, each
    with its feedback."""
    category, *entries = quiz.gift(k).strip().split("\n\n")
    assert category == f"$CATEGORY: How Attention Learns/Week {k}"
    for asked, entry in zip(quiz.questions(k), entries, strict=True):
        top, *lines, end = entry.split("\n")
        assert end == "}" and top.endswith(" {")
        assert unescaped(top.split("::")[2].removesuffix(" {")) == asked.ask
        for choice, line in zip(asked.choices, lines, strict=True):
            said, why = divided(line.strip()[1:])
            assert (line.strip()[0] == "=", said, why) == (choice.right, choice.text, choice.why)


def divided(line):
    """A choice and what is said of it: the first # that is not escaped stands between."""
    at = next(j for j, letter in enumerate(line) if letter == "#" and line[j - 1] != "\\")
    return unescaped(line[:at]), unescaped(line[at + 1 :])


def unescaped(text):
    found, letters = "", iter(text)
    for letter in letters:
        assert letter not in "~=#{}:", f"{letter} is not escaped in {text}"
        found += next(letters) if letter == "\\" else letter
    return found


def test_signs_of_the_format_are_escaped():
    assert quiz.plain("a = {b}: ~#\\n") == r"a \= \{b\}\: \~\#\\n"


@pytest.mark.parametrize("k", WEEKS)
def test_the_qti_package_is_whole(k):
    """Its manifest names all its items; of each item the right answer is one of its choices, each
    with what is said."""
    archive = zipfile.ZipFile(io.BytesIO(quiz.qti(k)))
    manifest = ElementTree.fromstring(archive.read("imsmanifest.xml"))
    test, *named = [each.get("href") for each in manifest.iter() if each.tag.endswith("}resource")]
    assert (
        sorted([test, *named, "imsmanifest.xml"]) == sorted(archive.namelist()) and len(named) == 5
    )
    references = ElementTree.fromstring(archive.read(test)).iter(
        f"{{{quiz.SPACE}}}assessmentItemRef"
    )
    assert [each.get("href") for each in references] == named
    for asked, name in zip(quiz.questions(k), named, strict=True):
        item, space = ElementTree.fromstring(archive.read(name)), f"{{{quiz.SPACE}}}"
        choices = {each.get("identifier"): each.text for each in item.iter(f"{space}simpleChoice")}
        said = {each.get("identifier"): each.text for each in item.iter(f"{space}modalFeedback")}
        (correct,) = [each.text for each in item.iter(f"{space}value")]
        assert choices[correct] == right[asked.ask] and list(choices.values()) == [
            each.text for each in asked.choices
        ]
        assert (
            list(said.values()) == [each.why for each in asked.choices]
            and said.keys() == choices.keys()
        )


def test_the_package_is_the_same_whenever_it_is_made():
    assert quiz.qti(2) == quiz.qti(2)


@pytest.mark.skipif(not built.HTML.exists(), reason="no built book")
@pytest.mark.parametrize("see", sorted({asked.see for asked in QUESTIONS}))
def test_where_it_stands_is_a_place_of_the_book(see):
    page, label = see.split("/")
    if label == "idea":
        built.section(page, "the-idea")
    else:
        built.element(page, {"seen": "what-we-have-seen"}.get(label, label))
