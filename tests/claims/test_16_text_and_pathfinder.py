"""What the page kernels/16_text_and_pathfinder says, held against what its cells leave."""

import numpy as np
from mhalib.data.text.words import NOT
from mhalib.data.text.words import SIGN
from mhalib.data.text.words import score
from claims.page import Page

page = Page("kernels/16_text_and_pathfinder")


@page.after("sentences-numbers")
def test_sentences_numbers(data, right):
    assert all(np.sign(score(s)) == y for s, y in zip(data.sentences, data.y, strict=True)) and abs(data.y.mean()) < 0.02
    said = " ".join(data.sentences).split()
    assert 0.24 < np.mean([word == NOT for word in said]) < 0.25 and 0.36 < np.mean([word in SIGN for word in said]) < 0.37
    assert round(right, 2) == 0.73 and not set(data.sentences) & set(data.fresh(1000).sentences)


@page.after("small-numbers")
def test_small_numbers(ends, short):
    blind = np.array([sum(SIGN.get(word, 0) for word in sentence.split()) for sentence in short.sentences])
    assert round((np.sign(blind) == short.y).mean() + (blind == 0).mean() / 2, 2) == 0.75
    assert all(0.8 < end <= 1 for end in ends.values())


@page.after("table-adam")
def test_adam_numbers(ADAM, GAIN, MOMENTUM, NAMES, SIXTEEN, SMALL, chosen, final_accuracy, gap, of_all, pictures, rates):
    wins = {name: int((final_accuracy("Gaussian", **s) > final_accuracy("softmax", **s)).sum())
            for name, s in {"adam": ADAM, "momentum": MOMENTUM, "small": SMALL, "sixteen": SIXTEEN, "gain": GAIN}.items()}
    wins["pictures"] = int((final_accuracy("Gaussian", pictures) > final_accuracy("softmax", pictures)).sum())
    assert wins == {"adam": 4, "momentum": 3, "small": 3, "sixteen": 4, "gain": 1, "pictures": 4}
    assert [round(x, 3) for x in gap("Gaussian", **ADAM)] == [0.032, 0.053] and abs(gap("Gaussian, rows normalized", **ADAM)[0]) < 0.005
    assert gap("softmax × 4", **ADAM)[0] < 0 and chosen("softmax", **ADAM)["lr"][0] == chosen("Gaussian", **ADAM)["lr"][0] == 0.002
    lost = {name: [final_accuracy(name, **ADAM).mean() - of_all([name], lr=lr, **ADAM)[0][1]["test_accuracy"][:, -1].mean()
                   for lr in (0.001, 0.004, 0.008)] for name in NAMES[:2]}
    assert rates(**ADAM) == [0.001, 0.002, 0.004, 0.008] and (np.array(lost["softmax"]) > lost["Gaussian"]).all()
    fast = [of_all([name], lr=0.004, **ADAM)[0][1]["test_accuracy"][:, -1].mean() for name in ("softmax", "Gaussian")]
    assert [round(float(mean), 3) for mean in fast] == [0.843, 0.922]


@page.after("table-others")
def test_others_numbers(ADAM, GAIN, LOUD, MOMENTUM, NAMES, SIXTEEN, SMALL, chosen, final_accuracy, gap, of_all, rates):
    large = [of_all([name], lr=0.1, **MOMENTUM)[0][1]["test_accuracy"][:, -1].mean() for name in NAMES[:3]]
    assert [round(float(mean), 3) for mean in large] == [0.671, 0.85, 0.711]
    assert round(float(chosen("softmax", **MOMENTUM)["test_accuracy"].max(axis=1).mean() - final_accuracy("softmax", **MOMENTUM).mean()), 3) == 0.035
    assert [round(gap(name, **MOMENTUM)[0], 3) for name in NAMES[1:]] == [0.046, 0.028, 0.028] and round(gap("Gaussian", **SMALL)[0], 3) == 0.012
    assert all(abs(apart) < half for s in (MOMENTUM, SMALL) for apart, half in (gap(name, **s) for name in NAMES[1:]))
    assert [round(gap(name, **GAIN)[0], 3) for name in NAMES[1:3]] == [-0.02, -0.075] and sum(gap("Gaussian, rows normalized", **GAIN)) < 0
    assert (final_accuracy("Gaussian, rows normalized", **GAIN) < final_accuracy("softmax", **GAIN)).all()
    assert [abs(apart) > half for apart, half in (gap(name, **GAIN) for name in LOUD[1:])] == [False, True, False]
    assert [round(final_accuracy(name, **GAIN).mean(), 3) for name in ("Gaussian", "Gaussian × 16")] == [0.926, 0.921]
    assert rates(**SMALL) == rates(**GAIN) == rates(**SIXTEEN) == [0.002] and rates(**MOMENTUM) == [0.025, 0.05, 0.1]
    assert chosen("softmax × 4", **MOMENTUM)["lr"][0] == 0.025
    assert round(final_accuracy("softmax", **GAIN).mean() - final_accuracy("softmax", **ADAM).mean(), 3) == 0.023


@page.after("table-sixteen")
def test_sixteen_numbers(SIXTEEN, gap):
    assert [round(x, 3) for x in gap("Gaussian", **SIXTEEN)] == [0.049, 0.050]
    assert [round(x, 3) for x in gap("Gaussian, rows normalized", **SIXTEEN)] == [0.048, 0.060]
    assert gap("softmax × 4", **SIXTEEN)[0] < 0


@page.after("table-micro")
def test_micro_numbers(NAMES, final_accuracy, gap, pictures, rates):
    assert rates(pictures) == [0.002] and len(pictures) == 16
    assert [round(final_accuracy(name, pictures).mean(), 3) for name in NAMES[:3]] == [0.648, 0.729, 0.702]
    assert all(apart > half for apart, half in (gap(name, pictures) for name in NAMES[1:3])) and gap("softmax × 4", pictures)[0] < 0
    assert 0.6 < gap("Gaussian, rows normalized", pictures)[0] / gap("Gaussian", pictures)[0] < 0.72


@page.after("mean-weights")
def test_mean_weights_numbers(weight):
    assert weight.round(4).tolist() == [0.0079, 0.1682]
    assert (1 / weight).round().tolist() == [127, 6] and [round(1 / (n * weight[0]), 3) for n in (8, 4096)] == [15.868, 0.031]
    assert np.outer([8, 16, 1024, 4096], weight).round(2).tolist() == [[0.06, 1.35], [0.13, 2.69], [8.07, 172.25], [32.27, 689.0]]


@page.after("measured-sums")
def test_measured_sums_numbers(measured, weight):
    errors = measured.std(axis=1, ddof=1) / 24 ** 0.5
    assert (abs(measured.mean(axis=1) - 8 * weight) < 3 * errors).all()


@page.after("flattery")
def test_flattery_numbers(ADAM, bound, exact, final_accuracy):
    assert (round(bound, 3), round(exact, 3)) == (0.033, 0.014) and round((0.09 / 1000) ** 0.5, 3) == 0.009
    assert [round((share / 1000) ** 0.5, 3) for share in (0.1, 0.01)] == [0.01, 0.003] and round(final_accuracy("softmax", **ADAM).std(ddof=1), 3) == 0.034


@page.after("explore")
def test_published_numbers(ADAM, GAIN, MOMENTUM, NAMES, SIXTEEN, SMALL, final_accuracy, pictures, table):
    ours = [[100 * final_accuracy(name, rows, **s).mean() for name in NAMES[:3]]
            for rows, s in ((table, ADAM), (table, GAIN), (table, SMALL), (table, MOMENTUM), (table, SIXTEEN), (pictures, {}))]
    shown = [[92.2, 95.5, 92.6], [94.6, 92.6, 87.0], [79.5, 80.7, 80.8], [87.5, 92.2, 90.3], [82.1, 87.0, 86.9], [64.8, 72.9, 70.2]]
    assert abs(np.array(ours) - shown).max() < 0.051 and round(1 - 0.95 ** 6, 2) == 0.26


@page.after("solution-second")
def test_solution_second(second, weight):
    assert abs(second.mean() - 8 * weight[0]) < 3 * second.std(ddof=1) / 24 ** 0.5


@page.after("solution-alone")
def test_solution_alone(first, second):
    assert first + second > 0


@page.after("solution-best")
def test_solution_best_numbers(ADAM, NAMES, chosen):
    last, best = np.array([[a[:, -1].mean(), a.max(axis=1).mean()] for a in (chosen(name, **ADAM)["test_accuracy"] for name in NAMES)]).T
    assert (best - last).max() < 0.005 and (np.argsort(last) == np.argsort(best)).all()
