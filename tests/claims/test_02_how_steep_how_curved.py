"""What the page multihead/02_how_steep_how_curved says, held against what its cells leave."""

import mhalib as mha
import numpy as np
from mhalib import theory
from claims.page import Page

page = Page("multihead/02_how_steep_how_curved")


@page.after("small")
def test_small_numbers(data, logit_hessian, loss_hessian, model):
    assert model.sizes[0] == 3 and len(logit_hessian) == 30 == len(model.ravel())
    head = np.repeat(np.arange(3), 10)
    mixed = head[:, None] != head
    assert (logit_hessian[mixed] == 0).all() and (abs(loss_hessian[mixed]) > 1e-6).mean() > 0.99
    assert np.allclose(loss_hessian, model.hessian(data.X, data.y), atol=1e-7 * abs(loss_hessian).max())


@page.after("run-curvature")
def test_run_numbers(bottom, path, top):
    ratio = bottom.lhs / path.loss
    assert path.loss[0] / path.loss[-1] > 100 and bottom.lhs[0] / bottom.lhs[-1] > 100
    assert ratio.max() / ratio.min() < 3 and bottom.lhs.min() > 0 and (top.lhs / path.loss).max() / 5 < (top.lhs / path.loss).min()
    assert (bottom.lhs < top.lhs).all()  # so the eigenvalue of largest size, which is the left side, is the largest
    kappa = bottom.rhs / path.loss
    assert round(kappa[0]) == 12 and round(kappa[-1]) == 21 and round(bottom.rhs[0] / bottom.rhs[-1], -1) == 170


@page.after("check-shares")
def test_check_shares(decoders, shares):
    assert max(map(max, shares.values())) < 1 + 1e-12
    between = np.max(list(shares.values()), axis=0)[(decoders > 0.1) & (decoders < 10)]
    assert 0.7 < between.min() < between.max() < 0.995
    assert shares["uniform attention, B bound"][0] > 0.99 and shares["mean 1/√3 attention, sharper bound"][-1] > 0.99
    assert 0.76 < shares["mean 1/√3 attention, B bound"][-1] < 0.77


@page.after("figure-shares")
def test_check_ledger():
    assert abs(theory.gradient_bound(**theory.instances.equal_tokens()).slack) < 1e-12
    assert abs(theory.hessian_bound(**theory.instances.opposite_tokens()).slack) < 1e-12
    for s in mha.ledger:
        if s.chapter.endswith("02_how_steep_how_curved"):
            assert s.check(1).holds and not s.twin(1).holds, s.id


@page.after("live-curvature")
def test_live_curvature_numbers(curvature):
    base, large = curvature.path(), curvature.path(scale=3.0)
    assert round(base.sharpness[0], 2) == 0.44 and base.edge[0] == 2
    steep = curvature.path(lr=10.0)
    assert steep.edge[0] < steep.sharpness[0] / 2 and (np.diff(steep.loss) < 0).all()
    assert steep.sharpness[2] < steep.edge[0] < steep.sharpness[1] and list(steep.steps[:3]) == [0, 1, 3]
    assert 60 < large.smoothness_bound[0] / base.smoothness_bound[0] < 70
    assert 35 < large.weak_convexity_bound[0] / base.weak_convexity_bound[0] < 45
    assert abs(large.sharpness[0] / base.sharpness[0] - 1) < 0.1 and large.negative_curvature[0] < 2 * base.negative_curvature[0]
    for H in (1, 4, 8):
        now, ten = (curvature.path(H=H, scale=size) for size in (0.3, 3.0))
        assert 0.38 < ten.sharpness[0] / now.sharpness[0] < 0.75
        assert 1.8 < ten.negative_curvature[0] / now.negative_curvature[0] < 2.7
    jump = curvature.path(H=8, lr=30.0).loss
    assert round(jump[0], 2) == 0.76 and round(jump[1], 2) == 1.47 and (np.diff(jump[1:]) < 0).all()


@page.after("slider-runs")
def test_slider_runs(curvature, runs):
    eight = curvature.path(H=8)
    assert np.isclose(eight.sharpness[[0, -1]], runs[8][1].lhs[[0, -1]], rtol=1e-9).all()


@page.after("logit-runs")
def test_logit_runs(data, logit, runs):
    assert 3.2 < logit[1].lhs / logit[16].lhs < 4.8 and round(logit[4].rhs / logit[4].lhs) == 20
    steep = theory.gradient_bound(runs[4][0][0], data)
    assert round(steep.rhs / steep.lhs) == 6
    tops, bottoms = ({H: run[k] for H, run in runs.items()} for k in (1, 2))
    ends = {H: run[0].loss[-1] for H, run in runs.items()}
    assert all(0.38 < top.lhs[0] < 0.45 and 47 < top.rhs[0] < 59 for top in tops.values())
    assert round(bottoms[1].lhs[0], 2) == 0.09 and round(bottoms[16].lhs[0], 2) == 0.04
    assert tops[16].lhs[-1] > 3 * tops[1].lhs[-1] and bottoms[16].lhs[-1] > 2 * bottoms[1].lhs[-1]
    assert ends[16] > 4 * ends[1] and tops[1].rhs[-1] > 4 * tops[16].rhs[-1]
    assert round(bottoms[1].lhs[-1] / ends[1], 2) == 0.12 and round(bottoms[16].lhs[-1] / ends[16], 2) == 0.06


@page.after("logit-runs")
def test_logit_distances(runs):
    assert all((bottom.lhs < top.lhs).all() for _, top, bottom in runs.values())
    assert all((top.lhs <= top.rhs).all() and (bottom.lhs <= bottom.rhs).all() for _, top, bottom in runs.values())
    first = {H: (top.rhs / top.lhs)[0] for H, (_, top, _) in runs.items()}
    assert all(100 < value < 150 for value in first.values())
    loose = np.concatenate([bottom.rhs / bottom.lhs for _, _, bottom in runs.values()])
    assert loose.min() > 120 and loose.max() < 470
    last = [(top.rhs / top.lhs)[-1] for _, top, _ in runs.values()]
    assert min(last) > 7_000 and 100_000 < max(last) < 120_000


@page.after("unnormalized")
def test_unnormalized(lines):
    assert max(lines["softmax"]) < 0.25 and lines["no normalization"][-1] > 1000


@page.after("squared-runs")
def test_squared_runs(both):
    assert np.ptp(np.log(both["logistic"][1])) < np.log(2) and both["squared"][1][-1] > 5 * both["squared"][1][0]


@page.after("solution-flat")
def test_solution_flat(constant, path, top):
    assert (top.lhs <= constant * path.loss).all()
    assert (top.lhs / path.loss)[-8:].min() > 1.9 and (top.lhs / path.loss).max() < 2.1


@page.after("solution-step")
def test_solution_step(check, largest):
    assert largest == 7.5 and largest * check.rhs > 400 and 1 < largest * check.lhs / 2 < 2


@page.after("solution-power")
def test_solution_power(products):
    assert products < 100


@page.after("solution-worst")
def test_solution_worst(best):
    assert 0.7690 < best < theory.bounds.DEVIATION + 1e-12


@page.after("solution-open")
def test_solution_open(factors):
    assert factors.min() > 1 and factors.argmax() == 1 and factors[1] > 10
