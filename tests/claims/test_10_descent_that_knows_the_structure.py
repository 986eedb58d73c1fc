"""What the page preconditioning/10_descent_that_knows_the_structure says, held against what its cells leave."""

import numpy as np

import mhalib as mha
from page import Page

page = Page("preconditioning/10_descent_that_knows_the_structure")


@page.after("lesson")
def test_the_rule_of_the_page_is_that_of_the_library(data, start, structure_aware):
    rule, grad = mha.StructureAware().on(data), start.loss_and_grad(data.x, data.y)[1]
    by_hand = structure_aware(*rule.whitening.whiten(start), *rule.whitening.pull(grad))
    after = rule.whitening.whiten(rule.step(start, grad, None, 0)[0])
    for mine, theirs in zip(by_hand, after, strict=True):
        assert np.allclose(mine, theirs, rtol=1e-12, atol=1e-13)


@page.after("conditioning")
def test_conditioning_costs_plain_descent_thousands_of_steps(steps):
    by_kappa = [steps.where(kappa=kappa) for kappa in (1.0, 16.0, 256.0)]
    assert [int(np.median(table["one"])) for table in by_kappa] == [17, 117, 3045]
    assert [int(np.median(table["two"])) for table in by_kappa] == [15, 47, 607]
    assert round(np.median(by_kappa[-1]["condition"])) == 824


@page.after("conditioning")
def test_conditioning_costs_whitened_descent_nothing(steps):
    assert (steps.where(kappa=1.0)["whitened"] == steps.where(kappa=256.0)["whitened"]).all()
    assert int(np.median(steps["whitened"])) == 15
    assert steps["whitened"].min() == 14
    assert steps["whitened"].max() == 17
