"""What the page multihead/06_a_planted_head says, held against what its cells leave."""

import mhalib as mha
import numpy as np
from mhalib.theory.planted import cosine
from claims.page import Page

page = Page("multihead/06_a_planted_head")


@page.after("train-one-numbers")
def test_train_one_numbers(aligned, end, one):
    assert round(end["W"], 2) == 0.99 and round(end["U"], 2) == 0.99 and one.test_accuracy[-1] == 0.938
    steps_to_half = {name: int(one.steps[aligned[name] > 0.5][0]) for name in "WU"}
    assert aligned["W"][1] == 0 and 0.3 < aligned["U"][1] < 0.4 and steps_to_half["W"] < 40 and steps_to_half["U"] < 40


@page.after("eight-numbers")
def test_eight_numbers(aligned, equal, mixed, one, own):
    assert mixed.loss[-1] < equal.loss[-1] < one.loss[-1] and mixed.test_loss[-1] > 3 * one.test_loss[-1]
    assert (one.test_accuracy[-1], equal.test_accuracy[-1], mixed.test_accuracy[-1]) == (0.938, 0.950, 0.812)
    assert round(aligned["8 heads, zero"]["W"][-1], 3) == 0.995 and aligned["8 heads, random"]["W"].max() < 0.2
    assert np.round(own[0], 2).tolist() == [0.29, 0.88, 0.86, 0.38, -0.32, 0, -0.71, -0.13]
    assert np.round(own[1, [1, 2, 6]], 2).tolist() == [0.79, 0.74, -0.74]


@page.after("own-cosines")
def test_first_look_numbers():
    def looks(seed):
        data = mha.data.planted(n=1000, T=10, d=5, seed=seed)
        teacher, row = data.truth, (data.y[:, None] * data.X.mean(axis=1)).mean(axis=0)
        predicted = mha.theory.planted.seen_in_mean(teacher.W, teacher.U, data.fresh(20_000, seed=3).X).mean(axis=0)
        return cosine(row, predicted), cosine(row, teacher.U.mean(axis=0))
    seen = np.array([looks(seed) for seed in range(5)])
    assert seen[:, 0].min().round(2) == 0.95 and seen[:, 0].max().round(2) <= 0.99
    assert seen[:, 1].min().round(2) == 0.64 and seen[:, 1].max().round(2) == 0.96


@page.after("own-cosines")
def test_prove_numbers(aligned, data, one, own):
    bound = mha.ledger["prop-equal-rows"].function(one[1].U[0], data.truth.U)
    assert (round(bound.rhs, 2), round(bound.lhs, 2)) == (0.38, 0.37)
    assert round(float(np.sqrt((own[0] ** 2).mean())), 2) == 0.54 and round(aligned["8 heads, random"]["W"][-1], 2) == 0.17
    assert round((8 * 16) ** -0.5, 2) == 0.09
    for name in ("prop-alignment-heads", "prop-alignment-start", "prop-equal-rows", "prop-split-decoders"):
        assert mha.ledger[name].check(0).holds and not mha.ledger[name].twin(0).holds


@page.after("verdict-numbers")
def test_verdict_numbers(HEADS, RULES, end, verdicts):
    for T, d in ((10, 5), (5, 5)):
        assert verdicts[T, d, 0.0, "adam", "loss"] == ["faster"] * 4
        assert verdicts[T, d, 0.0, "adam", "test_loss"][:3] == ["faster"] * 3
        assert verdicts[T, d, 0.0, "gd-root", "loss"][1:] == verdicts[T, d, 0.0, "momentum-root", "loss"][2:] + ["mixed"]
    assert verdicts[10, 10, 0.0, "adam", "test_loss"][0] == "slower" and verdicts[10, 10, 0.0, "adam", "loss"][1:] == ["mixed"] * 3
    assert "faster" not in sum([verdicts[T, d, 0.0, rule, c] for T, d in ((10, 5), (5, 5), (10, 10)) for rule in RULES[:2]
                                for c in ("loss", "test_loss")], [])
    assert all(verdicts[10, 5, 0.3, rule, "loss"][:2] == ["faster"] * 2 for rule in RULES)
    assert verdicts[10, 5, 0.3, "adam", "loss"] == ["faster"] * 4 and "faster" not in verdicts[10, 5, 0.3, "adam", "test_loss"][1:]
    assert [round(end[0.3, H], 2) for H in HEADS] == [0.95, 0.81, 0.77] and min(end[0.0, H] for H in HEADS) > 0.94


@page.after("verdict-numbers")
def test_verdict_alignments(HEADS, heads_of):
    ends_W = {H: np.sort(heads_of(T=10, d=5, start=0.3, rule="gd-root")[H]["align_W"][:, -1]) for H in HEADS}
    assert ends_W[1].round(2)[:2].tolist() == [-0.51, 0.09] and ends_W[1][2] > 0.98
    assert [(round(np.median(ends_W[H]), 2), round(ends_W[H].max(), 2)) for H in (4, 16)] == [(0.32, 0.61), (0.13, 0.20)]
    lost = heads_of(T=10, d=10, start=0.0, rule="adam")[16]["align_W"][:, -1]
    assert sorted(np.round(lost, 1).tolist())[0] < 0.5


@page.after("map-table")
def test_map_numbers(COLUMNS, HEADS, RULES, chart, marks, settings):
    at_random = [row for setting, row in marks.items() if setting[6] > 0]
    from_zero = [row for setting, row in marks.items() if setting[6] == 0]
    assert all(row[k] == "fff" for row in at_random for k in (0, 2, 4)) and len(at_random) == 11 and len(from_zero) == 26
    assert not any(row[k] == "fff" for row in marks.values() for k in (1, 3, 5))
    adam_zero = ["".join(row[4] for row in from_zero).count(letter) for letter in "fsm"]
    test_zero = ["".join(row[k] for row in from_zero for k in (1, 3, 5)).count(letter) for letter in "fsm"]
    root_zero = ["".join(row[k] for row in from_zero for k in (0, 2)).count(letter) for letter in "fsm"]
    ends_at = {(setting, rule, H): np.median(chart.where(**dict(zip(COLUMNS, setting, strict=True)), rule=rule, H=H)["align_W"])
               for setting in settings if setting[0] == 200 and setting[6] == 0 for rule in RULES for H in HEADS}
    clear = sorted(end for (setting, *_), end in ends_at.items() if setting[4] == 1)
    assert round(clear[0], 2) == 0.70 and clear[1] > 0.87 and clear[-1] < 0.985
    small = {key: end for key, end in ends_at.items() if key[0][2] == 3 and key[1:] == ("gd-root", 1)}
    assert min(small.values()) > 0.975 and max(end for key, end in ends_at.items() if key[0][4] < 1 and key not in small) < 0.84
    tests_random = ["".join(row[k] for row in at_random for k in (1, 3, 5)).count(letter) for letter in "fsm"]


@page.after("samples-axis-table")
def test_samples_axis_numbers(COUNTS, by_n, from_zero):
    all_faster = [(key, n) for key, row in by_n.items() for n, pair in zip(COUNTS, row, strict=True) if pair == ["ffff"] * 2]
    assert all_faster == [(("adam", 5, 5), 1000), (("adam", 5, 5), 2000), (("adam", 10, 5), 2000)]
    assert not any("f" in word for key, row in by_n.items() if key[0] != "adam" for pair in row[2:] for word in pair)
    pairs = [row[2:4] for row in from_zero] + [pair for key, row in by_n.items() if key[0] == "momentum-root" for pair in row]
    assert not any(train == test_ == "f" for pair in pairs for train, test_ in zip(*pair, strict=True))
    assert by_n["adam", 10, 10][3] == ["ffff", "mmmm"] and by_n["adam", 10, 10][0] == ["ffff", "ssss"]


@page.after("live")
def test_live_numbers(live):
    settings = {"default": {}, "start": {"start": "random"}, "heads": {"H": 8}, "both": {"H": 8, "start": "random"}, "few": {"n": 25},
                "root": {"H": 8, "scaling": "root"}}
    moved = {name: live.drawn(**changes) for name, changes in settings.items()}
    assert [round(run["align_W"][-1], 2) for run in moved.values()] == [0.94, 0.94, 0.86, 0.09, 0.60, 0.94]
    assert moved["few"]["test_loss"][-1] > 3 * moved["default"]["test_loss"][-1]


@page.after("live")
def test_breaks_numbers(adam_zero, chart, heads_of, marks, root_zero, steps, test_zero, tests_random):
    def median_end(curve, H, **changed):
        chosen = {"n": 200, "T": 10, "d": 5, "strength": 1.0, "margin": 0.0, "flip": 0.0, "rule": "gd-root", "lr": 1.0}
        return np.median(chart.where(**chosen | changed, H=H)[curve].reshape(5, -1)[:, -1])
    full = heads_of(T=10, d=5, start=0.0, rule="gd-root")[1]["align_W"][:, list(steps).index(300)]
    found = [np.median(full), median_end("align_W", 1, start=0.0, n=400), median_end("align_W", 1, start=0.0)]
    assert found[0] > 0.99 and np.round(found[1:], 2).tolist() == [0.91, -0.13]
    ends_1, ends_16 = (heads_of(T=10, d=5, start=0.3, rule="gd-root")[H] for H in (1, 16))
    missed = ends_1["align_W"][:, -1] < 0.9
    assert [one["test_accuracy"][missed, -1].round(2).tolist() for one in (ends_1, ends_16)] == [[0.66, 0.71], [0.74, 0.76]]
    crowd = [median_end("test_accuracy", H, start=0.3) for H in (1, 16)]
    assert np.round(crowd, 2).tolist() == [0.60, 0.65]
    assert [adam_zero, test_zero, root_zero, tests_random] == [[49, 0, 29], [7, 112, 115], [41, 22, 93], [24, 4, 71]]
    losers = {setting[5] for setting, row in marks.items() if setting[6] > 0 and "s" in row[1] + row[3] + row[5]}
    assert losers == {0.2}


@page.after("solution-one")
def test_solution_one(one_of):
    assert np.isclose(one_of(4, 1.0).lhs, 1 / 4) and np.isclose(one_of(4, 1.0).rhs, 1 / 2)


@page.after("solution-samples")
def test_solution_samples(found_by_n):
    assert np.median(found_by_n, axis=0)[1] < 0.9 < np.median(found_by_n, axis=0)[2] and found_by_n[:, 3:].min() > 0.9


@page.after("solution-prune")
def test_solution_prune(accuracy_of, alone, without):
    assert max(without[1:3]) < 0.78 < min(without[:1] + without[3:]) and round(alone[1], 3) == 0.797
    assert round(accuracy_of(list(range(8))), 2) == 0.81 and round(accuracy_of([1, 2]), 3) == 0.819


@page.after("solution-open")
def test_solution_open(found_from):
    assert [round(end[0], 2) for end in found_from.values()] == [0.99, 0.86, 0.36, 0.17]
