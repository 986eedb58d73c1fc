"""What the page your_own_model says, held against what its cells leave."""

import tempfile
from pathlib import Path

import numpy as np
import pytest

import mhalib as mha
from page import Page

page = Page("your_own_model")
UNQUOTED = {
    "what the model is, or a question": ("title",),
    "what the library does, which its own tests hold": (
        "python: At a point",
        "python: Tied",
        "more",
    ),
    "how long a run takes, which depends on the machine": ("compiled",),
}


@page.after("figure")
def test_a_head_of_temperature_1_is_that_of_chapter_1(TemperedHead, data):
    model = mha.MultiHeadAttention.random(1, 10, 8, scale=0.3, seed=0)
    same = TemperedHead(model.W[0], model.U[0], np.zeros(()))
    (loss, grad), (right, closed) = (one.loss_and_grad(data.X, data.y) for one in (same, model))
    assert float(loss) == pytest.approx(float(right), rel=1e-12)
    np.testing.assert_allclose(grad.W, closed.W[0], atol=1e-12)
    np.testing.assert_allclose(grad.U, closed.U[0], atol=1e-12)


@page.after(
    "compare", says="At step size 1, the temperature falls to {glue:text}`temperature` in 300 steps"
)
def test_the_temperature_falls_and_the_weights_find_more_than_without_it(path, rule, said, without):
    assert [rule.lr, path.steps[-1]] == said
    assert path.temperature[-1] < path.temperature.max() <= 1
    assert path.score[-1] > without.attention_score[-1]
    assert (np.diff(path.loss) < 0).all()


@page.after("refused")
def test_a_loss_that_branches_on_its_value_is_refused_though_it_is_computed_right(
    Branching, TemperedHead, data, rule
):
    zeros = np.zeros((8, 8)), np.zeros((10, 8)), np.zeros(())
    branching, plain = Branching(*zeros), TemperedHead(*zeros)
    assert branching.loss(data.X, data.y) == plain.loss(data.X, data.y) > 0.1
    with pytest.raises(TypeError, match="line 4: a branch on the values of an array"):
        mha.live.figure(branching, data, rule)


@page.after("refused", says="writes one file of about 1 MB")
def test_a_saved_figure_has_about_a_megabyte(figure, said):
    with tempfile.TemporaryDirectory() as folder:
        figure.save(file := Path(folder) / "figure.html")
        assert [file.stat().st_size / 1e6] == pytest.approx(said, abs=0.1)


@page.after("figure")
def test_what_is_drawn_beside_the_loss_is_the_score_and_the_temperature(
    score, temperature, TemperedHead, data
):
    zero = mha.MultiHeadAttention.zeros(1, 10, 8)
    model = TemperedHead(zero.W[0], zero.U[0], np.array(np.log(2.0)))
    assert temperature(model, data) == pytest.approx(0.5)
    assert score(model, data) == pytest.approx(data.relevant.mean())
