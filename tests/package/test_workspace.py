"""The fast workspace equals the plain formula: on every shape and scale, in both libraries, call
after call."""

import numpy as np
import pytest
from hypothesis import given

import oracles
from checks import assert_close
from livegrad.training import minibatches, train
from mhalib.data import from_arrays
from mhalib.losses import logistic
from mhalib.models import multihead_workspace
from mhalib.models.classifier_workspace import ClassifierWorkspace, accuracy
from mhalib.optim import Adam, GradientDescent, Momentum
from optional import torch
from strategies import SIZES, direction, problem, problems, rounding, steepness

in_blocks = pytest.mark.usefixtures("heads_in_blocks")
sizes = pytest.mark.parametrize(
    "sizes",
    [
        SIZES,
        {"n": 7, "T": 2, "d": 6, "H": 3},
        {"n": 1, "T": 5, "d": 1, "H": 4},
        {"n": 3, "T": 6, "d": 2, "H": 1},
    ],
    ids=str,
)


@pytest.fixture(
    scope="module",
    params=[(1 << 22, 1 << 28), (1400, 1 << 28), (1, 1 << 28), (1400, 1100)],
    ids=["one block", "some heads", "single heads", "a few samples"],
)
def heads_in_blocks(request):
    """Heads in one block and in several, and samples in parts."""
    block, held = request.param
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(multihead_workspace, "BLOCK_BYTES", block)
        patch.setattr(multihead_workspace, "HELD_BYTES", held)
        yield block


@pytest.fixture
def in_one_part(monkeypatch):
    monkeypatch.setattr(multihead_workspace, "HELD_BYTES", 1 << 28)


def test_samples_are_divided_into_parts(monkeypatch):
    monkeypatch.setattr(multihead_workspace, "HELD_BYTES", 1100)
    drawn = problem(n=7, T=2, d=6, H=3)
    parts = drawn.model.workspace(drawn.X, drawn.y).parts
    assert [range(7)[part] for part in parts] == [range(2), range(2, 4), range(4, 6), range(6, 7)]


def test_heads_are_divided_into_blocks(heads_in_blocks, in_one_part):
    drawn = problem(n=7, T=2, d=6, H=3)
    columns = [block.columns_W for block in drawn.model.workspace(drawn.X, drawn.y).blocks]
    expected = {1 << 22: [(0, 18)], 1400: [(0, 12), (12, 18)], 1: [(0, 6), (6, 12), (12, 18)]}
    assert [(c.start, c.stop) for c in columns] == expected[heads_in_blocks]


def fast(model, X, y):
    """Loss and gradient by the workspace, the gradient as a model."""
    workspace = model.workspace(X, y)
    loss, grad = workspace.loss_and_grad(workspace.pack(model))
    return loss, workspace.unpack(grad)


def assert_equal_to_the_formula(drawn, rel, size=0.0):
    """The fast result against ``loss_and_grad``."""
    (loss, grad), (plain, expected) = fast(*drawn), drawn.model.loss_and_grad(drawn.X, drawn.y)
    assert_close(loss, plain, rel)
    assert_close(grad.W, expected.W, rel, size)
    assert_close(grad.U, expected.U, rel, size)


@in_blocks
@sizes
def test_workspace_equals_the_formula(sizes):
    assert_equal_to_the_formula(problem(**sizes), 1e-12)


@in_blocks
@given(problems)
def test_workspace_equals_the_formula_at_every_scale(drawn):
    model, X, y = drawn
    size = abs(logistic.slope(model.margins(X, y))).mean() * steepness(model, X)
    assert_equal_to_the_formula(drawn, 1e-14 * rounding(model, X), size)


@in_blocks
@pytest.mark.parametrize("dtype, W, rel", [("float64", 500.0, 1e-9), ("float32", 60.0, 1e-2)])
def test_scores_beyond_the_range_of_exp_are_shifted(dtype, W, rel):
    drawn = problem(W=W).map(lambda a: a.astype(dtype))
    tokens = drawn.X[:, None]
    assert abs(tokens @ drawn.model.W @ tokens.mT).max() > np.log(np.finfo(dtype).max)
    slope = abs(logistic.slope(drawn.model.margins(drawn.X, drawn.y))).mean()
    assert_equal_to_the_formula(drawn, rel, slope * steepness(drawn.model, drawn.X))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("share", [0.49, 0.51, 0.89, 0.91, 1.5])
def test_no_score_makes_long_decoders_overflow(dtype, sign, share):
    """One score at every share of the largest exponent, times readings of 1e5."""
    model, X, y = problem(n=1, T=2, d=2, H=1, W=0.0).map(lambda a: a.astype(dtype))
    X[:], model.U[:] = [[1, 0], [0.9, 0]], [[1e5, 0], [1e5, 0]]
    model.W[0, 0, 0] = sign * share * np.log(np.finfo(dtype).max)
    assert_equal_to_the_formula(
        problem()._replace(model=model, X=X, y=-y / y),
        1e-4 if dtype == "float32" else 1e-12,
        size=1e5,
    )


@in_blocks
@pytest.mark.parametrize("W", [0.5, 60.0], ids=["in range", "shifted"])
def test_single_precision_stays_single(W):
    drawn = problem(W=W).map(lambda a: a.astype("float32"))
    workspace = drawn.model.workspace(drawn.X, drawn.y)
    loss, grad = workspace.loss_and_grad(workspace.pack(drawn.model))
    assert {
        a.dtype.name for a in (loss, grad, workspace.unpack(grad).W, workspace.unpack(grad).U)
    } == {"float32"}


@in_blocks
@pytest.mark.parametrize("W", [0.5, 500.0], ids=["in range", "shifted"])
def test_torch_equals_numpy(W):
    drawn = problem(W=W)
    (loss, grad), (value, theirs) = fast(*drawn), fast(*drawn.map(torch.tensor))
    assert isinstance(theirs.W, torch.Tensor)
    assert_close(value, loss, 1e-12)
    assert_close(theirs.ravel(), grad.ravel(), 1e-12 * rounding(drawn.model, drawn.X))


def addresses(workspace):
    """Where the buffers of a workspace lie."""
    return [
        {name: id(value) for name, value in vars(part).items() if isinstance(value, np.ndarray)}
        for part in (workspace, *workspace.blocks)
    ]


@in_blocks
def test_buffers_are_used_again_and_results_stay_right(in_one_part):
    model, X, y = problem()
    workspace = model.workspace(X, y)
    buffers = addresses(workspace)
    first = workspace.loss_and_grad(workspace.pack(model))[1]
    for seed in range(4):
        other = direction(model, seed)
        loss, grad = workspace.loss_and_grad(workspace.pack(other))
        workspace.logits(workspace.pack(model))  # a forward pass in between leaves no trace
        workspace.summary(workspace.pack(model))
        assert grad is first
        assert_close(loss, other.loss(X, y), 1e-13)
        assert_close(workspace.unpack(grad).ravel(), other.loss_and_grad(X, y)[1].ravel(), 1e-12)
    assert addresses(workspace) == buffers


def test_theta_is_read_only_read():
    model, X, y = problem()
    workspace = model.workspace(X, y)
    theta = workspace.pack(model)
    before, tokens, labels = theta.copy(), X.copy(), y.copy()
    workspace.loss_and_grad(theta)
    for now, then in ((theta, before), (X, tokens), (y, labels), (model.W, problem().model.W)):
        assert_close(now, then, 0)


@sizes
@pytest.mark.parametrize(
    "library", [lambda a: a, lambda a: torch.tensor(a)], ids=["numpy", "torch"]
)
def test_what_is_packed_and_unpacked_is_the_same_and_owns_its_memory(sizes, library):
    model, X, y = problem(**sizes).map(library)
    workspace = model.workspace(X, y)
    theta = workspace.pack(model)
    back = workspace.unpack(theta)
    theta[:] = 7
    assert_close(back.ravel(), model.ravel(), 0)
    assert_close(model.W, problem(**sizes).model.W, 0)


def test_pack_puts_the_columns_of_each_head_side_by_side():
    model, X, y = problem()
    columns = [*(W.T for W in model.W), *(U.T for U in model.U)]
    assert_close(model.workspace(X, y).pack(model), np.hstack(columns), 0)


@in_blocks
@pytest.mark.parametrize(
    "library", [lambda a: a, lambda a: torch.tensor(a)], ids=["numpy", "torch"]
)
def test_summary_equals_the_plain_workspace(library):
    model, X, y = problem(W=2.0).map(library)
    relevant = library((np.random.default_rng(5).random(X.shape[:2]) < 0.4) * 1.0)
    workspace = model.workspace(X, y)
    plain = ClassifierWorkspace(model, X, y).summary(model, relevant)
    assert workspace.summary(workspace.pack(model), relevant) == pytest.approx(plain, rel=1e-12)
    assert workspace.summary(workspace.pack(model)).keys() == {"loss", "accuracy"}


@in_blocks
@pytest.mark.parametrize("U", [1.0, 3000.0], ids=["divided by its g", "g too small to divide by"])
@pytest.mark.parametrize(
    "library", [lambda a: a, lambda a: torch.tensor(a)], ids=["numpy", "torch"]
)
def test_summary_after_a_gradient_is_that_of_its_theta(library, U, monkeypatch, in_one_part):
    model, X, y = problem(W=2.0, U=U)
    y = np.sign(model(X)) if U > 1 else y  # every margin is large: slopes below 1e-200
    other, relevant = direction(model), (np.random.default_rng(5).random(X.shape[:2]) < 0.4) * 1.0
    model, other, X, y, relevant = (
        model.map(library),
        other.map(library),
        *map(library, (X, y, relevant)),
    )
    workspace = model.workspace(X, y)
    theta = workspace.pack(model)
    workspace.loss_and_grad(workspace.pack(other))
    workspace.loss_and_grad(theta)
    passes = []
    monkeypatch.setattr(
        workspace, "_forward", lambda theta, ask=workspace._forward: passes.append(1) or ask(theta)
    )
    plain = ClassifierWorkspace(model, X, y).summary(model, relevant)
    assert workspace.summary(theta, relevant) == pytest.approx(plain, rel=1e-12)
    assert len(passes) == (U > 1)
    plain = ClassifierWorkspace(other, X, y).summary(other, relevant)
    assert workspace.summary(workspace.pack(other), relevant) == pytest.approx(plain, rel=1e-12)


def test_attention_score_is_the_mean_weight_on_relevant_tokens():
    model, X, y = problem(W=2.0)
    relevant = np.random.default_rng(5).random(X.shape[:2]) < 0.4
    X_, W = oracles.tensors(X, model.W)
    scores = [
        float(oracles.attention(x, W_h)[:, marks].sum(axis=1).mean())
        for x, marks in zip(X_, torch.tensor(relevant), strict=True)
        for W_h in W
    ]
    summary = ClassifierWorkspace(model, X, y).summary(model, relevant)
    assert summary["attention_score"] == pytest.approx(np.mean(scores), rel=1e-12)


def with_copies(drawn, heads=(0, 1, 0, 2, 1, 0)):
    """A problem whose heads are copies of one another."""
    model = drawn.model
    return drawn._replace(model=type(model)(model.W[list(heads)], model.U[list(heads)]))


@in_blocks
@pytest.mark.parametrize(
    "library", [lambda a: a, lambda a: torch.tensor(a)], ids=["numpy", "torch"]
)
def test_equal_heads_are_computed_once_and_counted(library):
    drawn = with_copies(problem(W=1.0, H=3)).map(library)
    workspace = drawn.model.workspace(drawn.X, drawn.y)
    assert workspace.pack(drawn.model).shape == (drawn.X.shape[2], 3 * sum(drawn.X.shape[1:]))
    assert_equal_to_the_formula(drawn, 1e-12)
    grad = workspace.loss_and_grad(workspace.pack(drawn.model))[1]
    assert workspace.grad_norm(grad) == pytest.approx(
        drawn.model.loss_and_grad(drawn.X, drawn.y)[1].norm(), rel=1e-12
    )
    relevant = library((np.random.default_rng(5).random(drawn.X.shape[:2]) < 0.4) * 1.0)
    plain = ClassifierWorkspace(*drawn[:3]).summary(drawn.model, relevant)
    assert workspace.summary(workspace.pack(drawn.model), relevant) == pytest.approx(
        plain, rel=1e-12
    )


def test_copies_are_given_back_in_their_order():
    drawn = with_copies(problem(H=3))
    workspace = drawn.model.workspace(drawn.X, drawn.y)
    assert_close(workspace.unpack(workspace.pack(drawn.model)).ravel(), drawn.model.ravel(), 0)


def test_a_workspace_refuses_a_model_whose_copies_differ():
    drawn = with_copies(problem(H=3))
    with pytest.raises(ValueError, match="counts 6 heads as 3"):
        drawn.model.workspace(drawn.X, drawn.y).pack(direction(drawn.model))


@pytest.mark.parametrize(
    "rule", [GradientDescent(0.5), Momentum(0.2), Adam(0.03)], ids=lambda r: type(r).__name__
)
def test_a_run_with_copies_is_the_run_of_the_plain_formula(rule):
    drawn = with_copies(problem(H=3, U=0.3, W=0.3))
    (model, X, y), data = drawn[:3], from_arrays(drawn.X, drawn.y)
    state = rule.start(model)
    for k in range(30):
        model, state = rule.step(model, model.loss_and_grad(X, y)[1], state, k)
    assert_close(train(drawn.model, data, rule, 30)[-1].ravel(), model.ravel(), 1e-11)


@pytest.mark.parametrize(
    "library", [lambda a: a, lambda a: torch.tensor(a)], ids=["numpy", "torch"]
)
@pytest.mark.parametrize("n, batch", [(17, 5), (32, 8)])
@pytest.mark.parametrize("d", [3, 8, 9])
def test_minibatches_from_equal_heads_take_the_steps_of_the_plain_formula(d, n, batch, library):
    # at such sizes a matrix product may round equal heads differently
    drawn = problem(n=n, T=5, d=d, H=2)
    data = from_arrays(drawn.X, drawn.y).map(library)
    start = model = type(drawn.model).zeros(2, 5, d).map(library)
    rows = minibatches(n, batch, seed=1)
    for _, some in zip(range(20), rows, strict=False):
        model = model - 0.5 * model.loss_and_grad(data.X[some], data.y[some])[1]
    assert_close(
        train(start, data, GradientDescent(0.5), 20, batch=batch, seed=1)[-1].ravel(),
        model.ravel(),
        1e-11,
    )


def test_what_is_a_copy_by_construction_is_packed_unchecked():
    drawn = with_copies(problem(H=3))
    workspace = drawn.model.workspace(drawn.X, drawn.y)
    lost = drawn.model.with_arrays(W=drawn.model.W * np.nan)
    theta = workspace.pack_unchecked(lost)
    assert np.isnan(theta).any() and theta.shape == workspace.pack(drawn.model).shape
    assert_close(workspace.pack_unchecked(drawn.model), workspace.pack(drawn.model), 0)


def test_the_plain_workspace_is_the_model_itself():
    model, X, y = problem()
    workspace = ClassifierWorkspace(model, X, y)
    assert workspace.unpack(workspace.pack(model)) is model
    assert_close(workspace.logits(model), model(X), 0)
    assert_close(workspace.loss_and_grad(model)[1].ravel(), model.loss_and_grad(X, y)[1].ravel(), 0)


def test_a_logit_of_zero_is_not_correct():
    assert accuracy(np.array([1.0, -1.0, 1.0, -1.0]), np.array([2.0, -3.0, 0.0, 1.0])) == 0.5
