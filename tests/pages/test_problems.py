"""The problems of the sheets whose numbers are drawn: what is to be found, computed in another way,
is what their solutions say, in words and numbers."""

import re
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import mhalib as mha
from scripts import load

problems = load("book/_ext/problems.py")
SEEDS = range(12)


def sheets(week):
    return [problems.drawn(week, seed) for seed in SEEDS]


def of(kind):
    """(given, found) of a kind of problem for each seed."""
    (week,) = [
        k for k, kinds in problems.KINDS.items() if kind in [each.__name__ for each in kinds]
    ]
    place = [each.__name__ for each in problems.KINDS[week]].index(kind)
    return [(pair[place].given, pair[place].found) for pair in sheets(week)]


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("week", range(1, 7))
def test_one_seed_gives_one_sheet_and_two_seeds_give_two(week):
    texts = [[(each.ask, each.solution) for each in pair] for pair in sheets(week)]
    assert texts[3] == [(each.ask, each.solution) for each in problems.drawn(week, 3)]
    assert all(len({str(text[k]) for text in texts}) > 3 for k in range(len(texts[0])))
    assert texts[0] != texts[1]


@pytest.mark.parametrize("week", range(1, 7))
def test_a_solution_has_two_to_six_lines_and_nice_numbers(week):
    for pair in sheets(week):
        for each in pair:
            assert 2 <= len(each.solution.split("\n\n")) <= 6
            assert each.ask.count("$") % 2 == each.solution.count("$") % 2 == 0
            text = each.ask + each.solution
            assert not re.search(r"[${ ]-?(nan|inf|-0)\b[^.]", text)


@pytest.mark.parametrize("week", range(1, 7))
def test_a_solution_has_the_parts_that_are_asked_for_and_counted(week):
    for each in problems.drawn(week, 0):
        asked, solved = (re.findall(r"(?m)^\((\w)\) ", said) for said in (each.ask, each.solution))
        assert asked == solved == [part.name for part in each.parts]
        assert 3 <= sum(part.points for part in each.parts) <= 5
        assert re.search(r"\bno point\b|\b1 of 2 points\b", each.error)
        assert set(re.findall(r"\((\w)\)", each.error)) <= {*asked}


def test_weights_of_three_tokens():
    for given, found in of("weights"):
        powers = [2 ** (x @ given["X"][0]) for x in given["X"]]
        close(found["weights"], np.array(powers) / sum(powers))
        close(
            found["output"],
            sum(p * x for p, x in zip(powers, given["X"], strict=True)) / sum(powers),
        )


def test_weights_as_a_solution_says_them_add_up_to_one():
    for (first, *_), (last, *_) in zip(sheets(1), sheets(6), strict=True):
        fractions = re.search(r"the weights are \$([^$]+)\$", first.solution)[1]
        said = [
            Fraction(int(a), int(b)) for a, b in re.findall(r"frac\{(\d+)\}\{(\d+)\}", fractions)
        ]
        assert len(said) == 3 and sum(said) == 1, fractions
        close([float(each) for each in said], first.found["weights"])
        decimals = re.search(r"the weights \$([^$]+)\$", last.solution)[1]
        assert abs(sum(map(float, decimals.split(",\\ "))) - 1) < 1e-9, decimals


def test_a_sample_on_the_wrong_side_is_named_with_its_logit():
    for _, problem, _ in sheets(1):
        said = re.findall(r"Sample (\d) is classified wrongly", problem.solution)
        wrong = problem.given["y"] * problem.found["logits"] < 0
        assert said == [str(i) for i in (1, 2) if wrong[i - 1]]


def test_a_number_is_exact_where_three_decimals_are():
    said = [problems.number(x) for x in (0.125, -0.375, 0.5, 1 / 3, 1.53125)]
    assert said == ["0.125", "{-0.375}", "0.5", "0.33", "1.53"]


def test_a_rational_number_is_a_fraction_unless_it_is_whole():
    said = [problems.fraction(x) for x in (8 / 13, -1.5, 2, -0.0)]
    assert said == [r"\frac{8}{13}", r"{-\frac{3}{2}}", "2", "0"]


def test_first_step_of_a_decoder():
    for given, found in of("first_step"):
        X, y, eta = (given[name] for name in ("X", "y", "eta"))
        row = eta * sum(y[i] * X[i].mean(axis=0) for i in (0, 1)) / 4  # n = 2, slope −1/2
        close(found["decoder"], [row, row])
        close(found["logits"], [X[i].sum(axis=0) @ row for i in (0, 1)])


def norm_of_step(eta, A):
    return np.linalg.norm(np.eye(2) - eta * A, 2)


def test_which_score_to_raise():
    up = 1e-6
    for given, found in of("score_to_raise"):
        scores, values = np.log(given["parts"]), given["values"]
        raised = scores + up * np.array([[0, 0, 0], *np.eye(3), *-np.eye(3)])
        means = (np.exp(raised) @ values) / np.exp(raised).sum(axis=1)
        close(found["mean"], means[0])
        np.testing.assert_allclose(found["slopes"], (means[1:4] - means[4:]) / (2 * up), atol=1e-8)
        assert found["best"] == means[1:4].argmax()
    texts = [three[2] for three in sheets(1)]
    for one in texts:
        token = int(re.search(r"of token (\d), with", one.solution)[1])
        parts, values = one.given["parts"], one.given["values"]
        far = abs(values - one.found["mean"]).argmax()
        assert ("also has" in one.solution) == (far == token - 1)
        if far != token - 1:
            assert ("lies below" in one.solution) == (values[far] < one.found["mean"])
            assert "lies below" in one.solution or parts[far] < parts[token - 1]


def test_leaving_a_saddle():
    for given, found in of("leaving_a_saddle"):
        x, y, eta = 1.0, 0.5 ** given["far"], given["eta"]

        def steps_to_one(y, eta=eta, given=given):
            k = 0
            while y < 1 - 1e-9:
                k, y = k + 1, y + eta * given["down"] * y
            return k

        close(found["factors"], [x - eta * given["up"] * x, 1 + eta * given["down"]])
        assert abs(found["factors"][0]) < 1 < found["factors"][1]
        assert found["steps"] == steps_to_one(y)
        more = steps_to_one(y * 0.1 ** given["near"]) - steps_to_one(y)
        assert abs(found["more"] - more) <= 1


def test_step_sizes_of_a_quadratic():
    for given, found in of("step_size"):
        A, start = given["A"], np.array([1.0, 0.3])
        for eta, falls in ((0.99 * found["limit"], True), (1.01 * found["limit"], False)):
            end = np.linalg.matrix_power(np.eye(2) - eta * A, 2000) @ start
            assert (np.linalg.norm(end) < 1) == falls
        best = minimize_scalar(partial(norm_of_step, A=A), bounds=(0, 1), method="bounded")
        assert abs(best.x - found["best"]) < 1e-4 and abs(best.fun - found["factor"]) < 1e-4


def test_heads_for_a_flat_logit():
    for given, found in of("heads_for_hessian"):
        T, R, u = given["T"], given["R"], given["u"]
        block = T**0.5 * R**3 * np.linalg.eigvalsh([[R**2 * u, 1], [1, 0]])[-1]
        close(found["B"], block)
        assert block / found["heads"] ** 0.5 <= given["most"] * (1 + 1e-12)
        assert block / (found["heads"] - 1) ** 0.5 > given["most"]


def test_margin_of_two_samples():
    angle = np.linspace(0, 2 * np.pi, 100_001)
    directions = np.stack([np.cos(angle), np.sin(angle)])
    for given, found in of("margin"):
        one_row = np.minimum(given["plus"] @ directions, -given["minus"] @ directions).max()
        assert abs(found["one row"] - one_row) < 1e-4
        close(found["margin"], found["one row"] * given["T"] ** 0.5)


def test_a_run_that_stalls():
    for given, found in of("stalled"):
        D, B, eta, fall = (given[name] for name in ("D", "B", "eta", "fall"))
        assert B * D**2 / found["heads"] ** 0.5 <= 7 / 16 < B * D**2 / (found["heads"] - 1) ** 0.5
        inner = 0.75 * given["high"] - 1.25 * given["low"]
        close(found["slope"] * D, inner)
        square, steps = D**2, 0
        change = -2 * eta * inner + 2 * eta * fall  # the expansion of the square, term by term
        while square + change >= -1e-9:
            square, steps = square + change, steps + 1
        assert steps == found["steps"] > 1
        assert fall < inner, "else no step need come nearer"


@pytest.mark.parametrize(
    ("name", "rule", "grows"),
    [
        ("one step size", mha.GradientDescent, False),
        ("times root", mha.GradientDescent, True),
        ("adam", partial(mha.Adam, eps=1e-300), False),  # the problem leaves ε aside
    ],
)
def test_equal_heads_move_as_one_head_with_two_step_sizes(name, rule, grows):
    data = mha.data.tokenized_mixture(n=6, T=4, d=8, zeta=0.25, seed=1)
    for given, found in of("two_step_sizes"):
        H, eta = given["H"], given["eta"] / 10
        many, one = (mha.MultiHeadAttention.zeros(heads, 4, 8) for heads in (H, 1))
        for_decoder, for_attention = (each / 10 for each in found[name])
        step = eta * H**0.5 if grows else eta
        many_rule, rules = rule(step), (rule(for_decoder), rule(for_attention))
        states = [r.start(m) for r, m in ((many_rule, many), (rules[0], one), (rules[1], one))]
        for k in range(3):
            many, states[0] = many_rule.step(
                many, many.loss_and_grad(data.X, data.y)[1], states[0], k
            )
            grad = one.loss_and_grad(data.X, data.y)[1]
            decoder, states[1] = rules[0].step(one, grad, states[1], k)
            attention, states[2] = rules[1].step(one, grad, states[2], k)
            one = mha.MultiHeadAttention(attention.W, decoder.U)
        np.testing.assert_allclose(many.W[0], one.W[0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(H**0.5 * many.U[0], one.U[0], rtol=1e-9, atol=1e-12)


def test_two_runs_and_a_gap():
    for given, found in of("left_out"):
        n, G, eta = given["n"], given["G"], given["eta"]
        close(found["distance"], sum(1.5 * eta * G / n * loss for loss in given["mine"]))
        close(found["gap"], sum(2 * G * 1.5 * eta * G / n * loss for loss in given["losses"]))


def test_the_alignment_of_three_heads():
    rng = np.random.default_rng(0)
    planted, other = np.linalg.qr(rng.standard_normal((9, 2)))[0].T.reshape(2, 3, 3)
    for given, found in of("alignment"):
        heads = np.einsum("hk,kij->hij", given["heads"], np.stack([planted, other]))
        three = np.stack([planted] * 3)
        for W, cosine in (
            (heads, found["alignment"]),
            (np.stack([heads.mean(axis=0)] * 3), found["of the mean"]),
        ):
            close(cosine, (W * three).sum() / np.linalg.norm(W) / np.linalg.norm(three))
        assert 0 < found["alignment"] < found["of the mean"] < 1


def test_a_preconditioned_step_is_the_same_in_every_unit():
    for given, found in of("whitened_step"):
        eta, slope, S = given["eta"], given["slope"], given["moment"]
        root = np.diag(np.diag(S) ** 0.5)
        of_U = -eta * np.linalg.solve(root, slope)  # a plain step in U
        close(found["of U"], of_U)
        close(found["preconditioned"], np.linalg.solve(root, of_U))
        close(found["plain"], -eta * slope)
        C = np.diag([2.0, 1.0])
        other = -eta * np.linalg.solve(C @ S @ C, C @ slope)
        close(C @ other, found["preconditioned"])


def test_a_tilted_mean_and_its_effective_tokens():
    for given, found in of("tilted"):
        x = np.random.default_rng(0).standard_normal((400_000, 2)) * given["variances"] ** 0.5
        weights = np.exp(x @ given["b"])
        mean = weights @ x / weights.sum()
        assert abs(mean - found["mean"]).max() < 0.25, "of a sample, and heavy-tailed"
        close(found["mean"], given["variances"] * given["b"])
        square = (given["b"] ** 2 * given["variances"]).sum()
        assert square in (2, 3, 4), "its exponential is looked up"
        close(found["count"], given["n"] / np.exp(square))


def test_two_kernels_at_three_keys():
    for given, found in of("two_kernels"):
        q, keys = given["q"], given["keys"][:, 0]
        close(found["softmax"], np.exp(q * keys) / np.exp(q * keys).sum())
        close(found["gaussian"], np.exp(-((q - keys) ** 2) / 2))
        assert found["softmax"].argmax() == (2 if q > 0 else 0) and found["gaussian"].argmax() == 1


def test_what_a_query_cannot_reach():
    right, left = np.linspace(0, 60, 4001)[:, None], np.linspace(-60, 0, 4001)[:, None]
    for given, found in of("barrier"):
        keys, values, y, q = (given[name] for name in ("keys", "values", "target", "start"))
        close(found["means"], [values[:n].mean() for n in range(1, 5)])  # the largest key is first
        outputs = (mha.softmax(right * keys) * values).sum(axis=1)
        assert found["means"].min() - 1e-12 <= outputs.min()
        assert outputs.max() <= found["means"].max() + 1e-12 < y
        close(found["least"], 0.5 * (y - found["means"].max()) ** 2)
        close(found["first"], values @ np.exp(q * keys) / np.exp(q * keys).sum())
        for _ in range(2000):
            S = mha.softmax(q * keys)
            q -= 0.02 * (S @ values - y) * (S * keys @ values - S @ keys * (S @ values))
            assert q > 0
        assert (mha.softmax(left * keys) * values).sum(axis=1).max() > y, "another query meets it"
        if found["traps"]:
            best = outputs[1:-1] > np.maximum(outputs[0], outputs[-1])
            assert best.any(), "the output rises and falls, and the loss falls and rises"
    assert len({found["traps"] for _, found in of("barrier")}) == 2
