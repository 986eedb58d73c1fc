"""What the page kernels/15_landscapes says, held against what its cells leave."""

import numpy as np
from mhalib import landscape
from mhalib.theory import landscapes
from claims.page import Page

page = Page("kernels/15_landscapes")


@page.after("figure-planes")
def test_plane_numbers(bowl, saddle, values):
    assert len(values) == 114 and (values < -1e-9).sum() == 33 and values[[0, 1, -1]].round(2).tolist() == [-0.7, -0.41, 35.13]
    middle = {name: np.linalg.eigvalsh(s.derivatives(0, 0)[2]) for name, s in {"bowl": bowl, "saddle": saddle}.items()}
    assert middle["bowl"][0] > 0 > middle["saddle"][1] and bowl.loss[7, 7].round(3) == 0.334 == saddle.loss[7, 7].round(3)
    assert bowl.loss.min().round(3) == 0.333 and saddle.loss.min().round(3) == 0.237
    assert bowl.negative_curvature() == 0 and round(saddle.negative_curvature(), 2) == 0.8


@page.after("figure-stages")
def test_stages_numbers(shown):
    assert shown["loss"].max(axis=(1, 2)).round(2).tolist() == [0.77, 0.64, 0.69, 0.8] and shown["loss"][1].min().round(2) == 0.58
    assert shown["loss"].min(axis=(1, 2)).argsort().tolist() == [0, 3, 2, 1]
    assert shown["kernel"].tolist() == ["softmax", "softmax, scaled", "Gaussian", "Gaussian, normalized"] and shown["off"][2].round(2) == 0.69


@page.after("verdicts")
def test_verdict_numbers(TASKS, pairs, wins):
    counted = {(trains, task, scaled, name): wins(*pair, trains, task=task, scaled=scaled) for name, pair in pairs.items()
               for trains in ("queries and keys", "everything") for task in TASKS for scaled in ("filter", "raw")}
    queries = {key[1:]: count for key, count in counted.items() if key[0] == "queries and keys"}
    assert [queries["words", scaled, "Gaussian : softmax"] for scaled in ("filter", "raw")] == [[1, 0, 0], [2, 0, 0]]
    assert all(queries[task, scaled, "Gaussian : softmax"] == [9, 9, 0] for task in TASKS[1:] for scaled in ("filter", "raw"))
    assert all(count[0] <= 1 and count[1:] == [0, 0] for key, count in queries.items() if key[2] == "Gaussian : scaled")
    assert {n for key, count in queries.items() if key[2] == "normalized : softmax" for n in count} <= set(range(1, 7))
    assert [queries[task, "filter", "scaled : softmax"][:2] for task in TASKS] == [[6, 9], [9, 9], [9, 9]]
    all_move = [count for key, count in counted.items() if key[0] == "everything" and key[3] == "Gaussian : softmax"]
    assert {min(min(count) for count in all_move), max(max(count) for count in all_move)} == {3, 7}
    assert [counted["everything", task, "filter", "Gaussian : softmax"][2] for task in TASKS] == [3, 7, 3]


@page.after("verdicts")
def test_everything_numbers(TASKS, counted, table, wins):
    against = [count for key, count in counted.items() if key[0] == "everything" and key[3] == "Gaussian : scaled"]
    assert (np.min(against), np.max(against), np.sum(np.equal(against, 9))) == (2, 9, 1)
    assert [counted["everything", TASKS[1], scaled, "Gaussian : scaled"][0] for scaled in ("filter", "raw")] == [9, 6]
    assert all(wins("softmax", "Gaussian", "queries and keys", task=task, scaled=scaled)[2] == 9 for task in TASKS for scaled in ("filter", "raw"))
    middles = [[round(float(np.median(table.where(task=task, trains="queries and keys", kernel=kernel, scaled="filter")["loss"][:, 5, 5])), 2)
                for kernel in ("softmax", "Gaussian", "softmax, scaled")] for task in TASKS[1:]]
    shift = {trains: np.max([np.abs(np.subtract(*(counted[trains, task, scaled, "Gaussian : softmax"] for scaled in ("filter", "raw"))))
                             for task in TASKS]) for trains in ("queries and keys", "everything")}
    assert list(shift.values()) == [1, 2]
    assert middles == [[0.4, 0.45, 0.48], [0.59, 0.63, 0.65]] and len(table) == 432


@page.after("seen-often")
def test_seen_numbers(data, first, lowest, spectrum, start):
    assert (lowest < 0).sum() == 0 and spectrum.mean().round(2) == 1.32 and abs(landscapes.missed(114, 1, 1) / 1.4e-17 - 1) < 0.01
    assert (np.linalg.eigvalsh(landscape.hessian(start, data)) < -1e-9).sum() == 45
    spreads = [np.sqrt(2 * (np.linalg.eigvalsh(landscape.hessian(network, data)) ** 2).sum()) / 114 for network in (start, first)]
    assert np.round(spreads, 2).tolist() == [0.27, 0.66] and np.linalg.eigvalsh(landscape.hessian(start, data)).mean().round(2) == 0.23


@page.after("rescaled-print")
def test_rescaled_numbers(filtered, raw):
    assert np.allclose(filtered[0].loss, filtered[1].loss, rtol=1e-9) and round(raw[1].loss.max() / raw[0].loss.max()) == 742


@page.after("figure-far")
def test_far_numbers(data, far):
    assert ((data.y ** 2).sum() / 12).round(2) == 2.16 and abs(far["Gaussian"][-1] - 2.1564) < 1e-4
    assert [round(max(losses), 1) for losses in far.values()] == [11.7, 3.2, 6.5] and [round(losses[-1], 1) for losses in far.values()] == [10.1, 2.2, 5.8]


@page.after("off")
def test_off_numbers(TASKS, measures_of, table):
    medians = {task: [round(float(np.median(measures_of(kernel, "queries and keys", task=task)[:, 0])), 2) for kernel in
                      ("softmax", "Gaussian")] for task in TASKS}
    assert medians == {"words": [0.57, 0.65], "words, longer": [0.7, 0.62], "micro-Pathfinder": [0.76, 0.69]}
    still = table.where(kernel="Gaussian", trains="queries and keys", scaled="filter")
    assert len(still) == 27 and abs(still["loss"].max(axis=(1, 2)) - still["off"]).max() < 0.011
    off = {task: float(np.median(still.where(task=task)["off"]).round(2)) for task in TASKS}
    assert off == {"words": 0.65, "words, longer": 0.62, "micro-Pathfinder": 0.69}
    fall = {task: float(np.median(still.where(task=task)["off"])) - float(np.median(table.where(
        task=task, kernel="softmax", trains="queries and keys", scaled="filter")["loss"][:, 5, 5])) for task in TASKS}
    short = table.where(task="words", kernel="softmax", trains="queries and keys", scaled="filter")
    assert len(short) == 9 and (short["loss"].max(axis=(1, 2)) < short["off"]).sum() == 8
    assert [round(fall[task], 2) for task in ("words", "micro-Pathfinder")] == [0.18, 0.10]


@page.after("turn-slices")
def test_turn_numbers(cut_of, ends):
    near, far_off = ({name: landscape.smoothness(*(lambda cut: (cut.loss, cut.a, cut.b))(cut_of(end, radius, 0, "filter")))
                      for name, end in ends.items()} for radius in (0.1, 4.0))
    assert all(s.negative_curvature == 0 for s in near.values()) and all(s.negative_curvature > 0.7 for s in far_off.values())
    assert [round(s.maximum, 1) for s in far_off.values()] == [10.8, 3.0, 11.0]


@page.after("radius")
def test_radius_numbers(growing, table):
    grown = [landscape.smoothness(cut.loss, cut.a, cut.b) for cut in growing.values()]
    assert [round(s.negative_curvature, 2) for s in grown] == [0.02, 0.11, 0.21, 0.23]
    assert table["accuracy"].min().round(2) == 0.56 and table["accuracy"].max().round(2) == 0.75


@page.after("solution-line")
def test_solution_line_numbers(with_other, with_softmax):
    assert (np.diff(with_softmax) > 0).all() and (np.diff(with_other) < 0).all()


@page.after("solution-chosen")
def test_solution_chosen_numbers(cut, spectrum):
    assert spectrum[0] < 0 and round(cut.smoothness().negative_curvature, 2) == 0.8
