"""What the page start/softmax says, held against what its cells leave."""

import mhalib as mha
import numpy as np
from claims.page import Page

page = Page("start/softmax")


@page.after("weights-numbers")
def test_weights_numbers(a, pi):
    assert pi.round(3).tolist() == [0.665, 0.245, 0.09] and np.allclose(mha.softmax(a + 1000), pi, rtol=1e-12)
    raised = mha.softmax(a + [1, 0, 0])
    assert abs(raised[1] / raised[2] - pi[1] / pi[2]) < 1e-12 and raised.round(3).tolist() == [0.844, 0.114, 0.042]
    assert mha.softmax(a / 10).round(3).tolist() == [0.367, 0.332, 0.301] and 1 - mha.softmax(10 * a)[0] < 5e-5
    assert abs(mha.softmax(np.array([0.7, -0.4]))[0] - 1 / (1 + np.exp(-1.1))) < 1e-15


@page.after("check-derivative")
def test_check_numbers(R, a, h, moved, pi, v):
    assert abs(moved / (2 * h) - R).max() < 1e-9 and abs(R.sum(axis=1)).max() < 1e-15
    slope = (mha.softmax(a + h * np.eye(3)) - mha.softmax(a - h * np.eye(3))) @ v / (2 * h)
    assert np.allclose(slope, pi * (v - pi @ v), atol=1e-9) and round(pi @ v, 3) == 1.485
    random = [mha.softmax(row) for row in 9 * np.random.default_rng(0).standard_normal((500, 4))]
    assert max(np.linalg.norm(np.diag(p) - np.outer(p, p), 2) for p in random) <= 0.5
    assert abs(np.linalg.norm(np.diag([0.5, 0.5]) - 0.25, 2) - 0.5) < 1e-15


@page.after("live-scores")
def test_live_scores_numbers(live):
    def weight_mean_slope(**values):
        drawn = live.drawn(**values)
        return [round(drawn[name], 3) for name in ("weight_1", "mean", "tilt")]
    slopes = {a1: live.drawn(a1=a1)["tilt"] for a1 in live.controls["a1"].values}
    assert max(slopes, key=slopes.get) == 0.5 and weight_mean_slope(a1=0.5) == [0.547, 1.303, 0.381]
    assert weight_mean_slope() == [0.665, 1.485, 0.342]
    cold = live.drawn(tau=0.1)
    assert cold["tilt"] < 1e-3 and abs(np.array(cold["jacobian"])).max() < 1e-4
    close = live.drawn(tau=0.1, a1=0.0)
    assert round(close["tilt"], 1) == 2.5 and close["weight_1"] == close["weight_2"]
    assert live.drawn(a2=1.0)["mean"] < live.drawn()["mean"] and live.drawn(a3=0.0)["mean"] < live.drawn()["mean"]
    assert np.allclose(live.drawn(shift=1000.0)["over"], live.drawn()["over"], rtol=1e-12)


@page.after("solution-slope")
def test_solution_numbers(a, mean, pi):
    assert round(pi @ a ** 2 - (pi @ a) ** 2, 3) == 0.424 and round(float(np.log(81)), 2) == 4.39
    assert round(0.25 / 0.0099, 1) == 25.3 and round((2 - mean) / 4, 3) == 0.384 and round(float(np.log(1 + np.exp(-1))), 3) == 0.313
    assert mha.ledger["lemma-selection"].check(0).holds
