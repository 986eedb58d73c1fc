"""Chapter 14: the statements on many instances, the line against the layer, the examples, and the stored counts."""

from itertools import pairwise

import numpy as np
import pytest

import mhalib as mha
from mhalib.theory import traps
from mhalib.theory.lines import Line, sides

NAMES = ("prop-values-allow", "prop-star", "thm-waiting", "thm-wells", "prop-rising", "thm-barrier")
KERNELS = {"softmax": mha.softmax, "Gaussian": mha.gaussian, "Gaussian, rows normalized": mha.normalized_gaussian}
kinds = pytest.mark.parametrize("kind", KERNELS)


def problem(seed, n=4):
    rng = np.random.default_rng([seed, 14])
    return 2 * rng.standard_normal(n), rng.standard_normal(n), rng.standard_normal()


@pytest.mark.parametrize("name", NAMES)
def test_statements_hold_and_their_twins_fail(name):
    assert mha.ledger[name].worst(range(150)).holds
    assert not any(mha.ledger[name].twin(seed).holds for seed in range(30))


@kinds
def test_a_line_is_the_layer(kind):
    """Outputs, and the gradient of the loss in the queries."""
    layer, data = traps.example("B2", KERNELS[kind])
    one, q = traps.EXAMPLES["B2"], layer.WQ.ravel()
    line = sides(one["keys"], one["values"])[kind]
    assert line.output(q) == pytest.approx(layer(data.X).ravel(), abs=1e-12)
    gradient = layer.loss_and_grad(data.X, data.y)[1].WQ.ravel()
    assert (line.output(q) - one["y"]) * line.slope(q) == pytest.approx(gradient, abs=1e-12)
    path = mha.train(layer, data, mha.GradientDescent(one["lr"]), 20, only=("WQ",))
    assert line.descend(q, one["y"], one["lr"], 20)[-1] == pytest.approx(path[-1].WQ.ravel(), abs=1e-12)


@kinds
@pytest.mark.parametrize("seed", range(6))
def test_trend_has_the_sign_of_the_slope(kind, seed):
    keys, values, _ = problem(seed)
    line, q = sides(keys, values)[kind], np.linspace(-3, 3, 61)
    slope = line.slope(q)
    sure = abs(slope) > 1e-9
    assert sure.any() and (np.sign(line.trend(q)) == np.sign(slope))[sure].all()


@kinds
@pytest.mark.parametrize("seed", range(6))
def test_minima_and_basins_are_those_of_gradient_flow(kind, seed):
    """Minima and maxima of the loss alternate, and small steps from both sides of a minimum end there."""
    keys, values, y = problem(seed)
    line = sides(keys, values)[kind]
    basins = line.basins(y)
    assert [one for *_, one in basins if one] == line.minima(y)
    assert all(right == left for (_, right, _), (left, _, _) in pairwise(basins))
    for left, right, one in basins:
        if one is not None and -4 < one.q < 4:
            near = np.clip([one.q - 0.02, one.q + 0.02], left, right)
            assert line.loss(near, y).min() >= one.loss - 1e-15
            assert line.loss(one.q, y) == pytest.approx(one.loss, abs=1e-12)
            assert one.spurious == (one.loss > 0)


def test_many_problems_are_each_alone():
    drawn = [problem(seed)[:2] for seed in range(5)]
    many = Line(*(np.array(column) for column in zip(*drawn, strict=True)), mha.gaussian)
    row, q, top = many.turns()
    for k, (keys, values) in enumerate(drawn):
        alone = Line(keys, values, mha.gaussian).turns()
        assert q[row == k].tolist() == alone[1].tolist() and top[row == k].tolist() == alone[2].tolist()


@pytest.mark.parametrize(("name", "kind", "found"), [
    ("B2", "softmax", [(-1.390148, 0), (1.074867, 0.337297)]),
    ("B2", "Gaussian", [(-2.506939, 0), (-2.244090, 0), (0.730457, 0), (2.155990, 0)]),
    ("B3", "Gaussian", [(4.540956, 0), (5.459044, 0)]),
    ("B4", "Gaussian", [(-1.997289, 0.124663), (1.236813, 0), (2.758540, 0)])])
def test_minima_of_the_examples(name, kind, found):
    one = traps.EXAMPLES[name]
    minima = sides(one["keys"], one["values"])[kind].minima(one["y"])
    assert np.allclose([(m.q, m.loss) for m in minima], found, atol=6e-7)


def test_the_barrier_and_the_well_of_the_examples():
    one = traps.EXAMPLES["B2"]
    assert np.allclose(traps.top_means(one["keys"], one["values"]), [1, 1.5, 1 / 3, 1])
    least = sides(one["keys"], one["values"])["softmax"].loss(np.linspace(0, 30, 3001), one["y"]).min()
    assert least > 1 / 8
    keys, values = (np.array(traps.EXAMPLES["B4"][name])[:, None] for name in ("keys", "values"))
    (w, _), (eps, _) = traps.spare(mha.gaussian, keys, values)
    assert (w, eps) == pytest.approx((np.exp(-2), 2 * np.exp(-2)))
    assert 2 * eps < (1 - w) * 1 and eps < 1.5 - 1


def test_distance_to_a_hull():
    square = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    assert [traps.distance_to_hull(square, np.array(y)) for y in ((0.3, 0.6), (2.0, 0.5), (2.0, 3.0))] == pytest.approx(
        [0, 1, 5 ** 0.5], abs=1e-9)


def test_corners_hold_every_output():
    for kernel in KERNELS.values():
        layer = mha.AttentionLayer.random(3, 2, 2, H=2, kernel=kernel, seed=1)
        data = mha.data.random_sequences(2, 2, 3, 2)
        away = [traps.distance_to_hull(traps.corners(layer, x), out)
                for x, outputs in zip(data.X, layer(data.X), strict=True) for out in outputs]
        assert max(away) < 1e-9


def test_directions_move_one_query():
    layer, data = traps.example("B2", mha.softmax)
    moved = layer + 0.5 * traps.query_directions(layer)[2]
    assert (moved(data.X) - layer(data.X)).ravel().nonzero()[0].tolist() == [2]


def test_stored_shares_are_those_of_a_fresh_sample():
    """B2 under softmax: gradient flow arrives from one half of all starts, and the stored runs agree."""
    table = mha.stored("traps.npz")
    limit = {kind: table.where(kind=kind, s=1.0)["limit"][0] for kind in KERNELS}
    assert limit["softmax"] == pytest.approx(0.5, abs=1e-9) and limit["Gaussian"] == pytest.approx(1)
    for kind in KERNELS:
        share = table.where(kind=kind, s=1.0)["arrived"][0][-1]
        assert abs(share - limit[kind]) < 4 * (0.25 / 4000) ** 0.5
