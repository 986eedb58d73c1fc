"""The small Transformer: its formula, its masks, its gradients, its heads; and training it on
minibatches."""

import math
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch

import mhalib as mha
from checks import assert_close, assert_refused
from livegrad.training import minibatches
from mhabook.c08_digits import PatchTransformer, TextTransformer, text, train_network
from mhabook.c08_digits.network_training import summary

ROOT = Path(__file__).parents[2]
WORDS, LENGTH = 11, 7
KERNELS = {"softmax": mha.softmax, "gaussian": mha.gaussian, "normalized": mha.normalized_gaussian}
kernels = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


def small(H=2, layers=2, kernel=mha.softmax, seed=3, **sizes):
    """A model in double precision with biases and norms that are not those of a start."""
    sizes = {"d": 8, "hidden": 5, "H": H, "layers": layers, "kernel": kernel, "seed": seed} | sizes
    model = TextTransformer(WORDS, LENGTH, **sizes).double()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.3 * torch.randn(
                parameter.shape, generator=generator, dtype=torch.float64
            )
    return model


def sentences(n=4, seed=0):
    """Random sentences of 1 to LENGTH words, padded, and labels."""
    rng = np.random.default_rng(seed)
    lengths = np.append(rng.integers(1, LENGTH, size=n - 1), LENGTH)
    tokens = rng.integers(1, WORDS, size=(n, LENGTH)) * (np.arange(LENGTH) < lengths[:, None])
    return tokens, np.where(rng.random(n) < 0.5, -1.0, 1.0)


def oracle(model, words, kernel):
    """The logit of one sentence without padding: one head, one query, one key at a time."""
    P = {name: parameter.detach().numpy() for name, parameter in model.named_parameters()}
    return oracle_of(model, np.array([P["words.weight"][word] for word in words]), kernel)


def oracle_of(model, read_in, kernel, scale=1.0):
    """The logit of tokens that are vectors already, before their positions are added."""
    P = {name: parameter.detach().numpy() for name, parameter in model.named_parameters()}
    width = read_in.shape[1] // model.layers[0].attention.H
    X = read_in + P["positions.weight"][: len(read_in)]
    for k in range(len(model.layers)):
        at = f"layers.{k}."
        Z = normalized(X, P, at + "norm_1.")
        Q, K, V = (
            Z @ P[f"{at}attention.{part}.weight"].T + P[f"{at}attention.{part}.bias"]
            for part in "QKV"
        )
        read = np.zeros_like(X)
        for h in range(model.layers[0].attention.H):
            own = slice(h * width, (h + 1) * width)
            for t in range(len(X)):
                weights = kernel([(Q[t, own], K[j, own]) for j in range(len(X))])
                read[t, own] = scale * sum(w * V[j, own] for j, w in enumerate(weights))
        X = X + read @ P[at + "attention.out.weight"].T + P[at + "attention.out.bias"]
        Z = (
            normalized(X, P, at + "norm_2.") @ P[at + "network.0.weight"].T
            + P[at + "network.0.bias"]
        )
        Z = Z * (1 + np.vectorize(math.erf)(Z / 2**0.5)) / 2
        X = X + Z @ P[at + "network.2.weight"].T + P[at + "network.2.bias"]
    return normalized(X, P, "norm.").mean(axis=0) @ P["read.weight"][0] + P["read.bias"][0]


def normalized(X, P, at):
    away = X - X.mean(axis=1, keepdims=True)
    return (
        away / np.sqrt((away**2).mean(axis=1, keepdims=True) + 1e-5) * P[at + "weight"]
        + P[at + "bias"]
    )


def softmax_of(pairs):
    powers = np.exp([q @ k / len(q) ** 0.5 for q, k in pairs])
    return powers / powers.sum()


def gaussian_of(pairs):
    return [np.exp(-0.5 * ((q - k) ** 2).sum() / len(q) ** 0.5) for q, k in pairs]


def normalized_of(pairs):
    return np.array(gaussian_of(pairs)) / sum(gaussian_of(pairs))


by_hand = pytest.mark.parametrize(
    ("kernel", "by_hand"),
    [
        (mha.softmax, softmax_of),
        (mha.gaussian, gaussian_of),
        (mha.normalized_gaussian, normalized_of),
    ],
    ids=KERNELS,
)


@pytest.mark.parametrize("H", [1, 2, 8])
@by_hand
def test_logits_are_the_formula(H, kernel, by_hand):
    model, (tokens, _) = small(H, kernel=kernel), sentences()
    expected = [oracle(model, row[row > 0], by_hand) for row in tokens]
    assert_close(model.logits(tokens), np.array(expected), 1e-12)


@by_hand
def test_logits_of_patches_are_the_formula(kernel, by_hand):
    model = PatchTransformer(
        6, 5, d=8, H=2, layers=2, hidden=5, kernel=kernel, scale=1.7, seed=3
    ).double()
    X = np.random.default_rng(4).random((3, 5, 6))
    with torch.no_grad():
        model.patches.bias += 0.3 * torch.arange(8)
    weight, bias = (
        parameter.detach().numpy() for parameter in (model.patches.weight, model.patches.bias)
    )
    assert_close(
        model.logits(X),
        np.array([oracle_of(model, x @ weight.T + bias, by_hand, 1.7) for x in X]),
        1e-12,
    )


@kernels
def test_padding_does_not_change_a_logit(kernel):
    model, (tokens, _) = small(kernel=kernel), sentences(6)
    together = model.logits(tokens)
    alone = [model.logits(row[row > 0][None])[0] for row in tokens]
    assert_close(together, np.array(alone), 1e-13)


@kernels
def test_the_vector_of_padding_is_never_read_and_never_moved(kernel):
    model, (tokens, y) = small(kernel=kernel), sentences(6)
    before = model.logits(tokens)
    model.loss(*model.batch(tokens, y)).backward()
    gradient = model.words.weight.grad
    assert (gradient[0] == 0).all()
    unused = sorted(set(range(WORDS)) - set(tokens.ravel().tolist()))
    assert (gradient[unused] == 0).all()
    used = sorted(set(tokens.ravel().tolist()) - {0})
    assert (gradient[used].norm(dim=1) > 0).all()
    with torch.no_grad():
        model.words.weight[0] += 100
    assert_close(model.logits(tokens), before, 0)


@kernels
def test_every_parameter_has_the_derivative_as_gradient(kernel):
    model, (tokens, y) = small(kernel=kernel), sentences()
    batch = model.batch(tokens, y)
    model.loss(*batch).backward()
    generator = torch.Generator().manual_seed(5)
    for name, parameter in model.named_parameters():
        direction = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        ends = []
        for side in (1e-5, -2e-5, 1e-5):  # ahead, behind, and back
            with torch.no_grad():
                parameter += side * direction
                ends.append(model.loss(*batch).item())
        slope, along = (ends[0] - ends[1]) / 2e-5, (parameter.grad * direction).sum().item()
        assert slope == pytest.approx(along, rel=1e-6, abs=1e-9), name
        assert torch.isfinite(parameter.grad).all()


def test_without_positions_the_order_of_the_words_does_not_count():
    model, order = small(), [3, 0, 6, 1, 5, 2, 4]
    tokens = sentences()[0][-1:]
    assert abs(model.logits(tokens[:, order]) - model.logits(tokens)).max() > 1e-3
    with torch.no_grad():
        model.positions.weight.zero_()
    assert_close(model.logits(tokens[:, order]), model.logits(tokens), 1e-13)


def test_heads_permute():
    model, (tokens, _) = small(H=4), sentences()
    before, order = model.logits(tokens), [2, 0, 3, 1]
    coordinates = np.arange(8).reshape(4, 2)[order].ravel()
    with torch.no_grad():
        for layer in model.layers:
            for part in (layer.attention.Q, layer.attention.K, layer.attention.V):
                part.weight.copy_(part.weight[coordinates])
                part.bias.copy_(part.bias[coordinates])
            layer.attention.out.weight.copy_(layer.attention.out.weight[:, coordinates])
    assert_close(model.logits(tokens), before, 1e-13)


@pytest.mark.parametrize("H", [1, 2, 4])
def test_attention_is_a_distribution_over_the_words(H):
    model, (tokens, _) = small(H), sentences()
    weights = model.attention(tokens)
    assert [A.shape for A in weights] == [(4, H, LENGTH, LENGTH)] * 2
    for A in weights:
        assert_close(A.sum(axis=-1), np.ones((4, H, LENGTH)), 1e-12)
        assert (A[np.broadcast_to((tokens == 0)[:, None, None, :], A.shape)] == 0).all()
        assert (A[np.broadcast_to((tokens > 0)[:, None, None, :], A.shape)] > 0).all()


def test_heads_share_one_width():
    sizes = {
        H: [p.shape for p in TextTransformer(WORDS, LENGTH, H=H).parameters()]
        for H in (1, 2, 4, 8, 32)
    }
    assert all(shapes == sizes[1] for shapes in sizes.values())


def test_all_numbers_of_heads_start_at_the_same_parameters():
    one, eight = (TextTransformer(WORDS, LENGTH, H=H, seed=2) for H in (1, 8))
    for ours, theirs in zip(one.parameters(), eight.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    tokens = sentences()[0]
    assert abs(one.logits(tokens) - eight.logits(tokens)).max() > 1e-3


def test_the_start_is_of_the_size_it_says():
    model = TextTransformer(4000, 4000, d=32, hidden=4000)
    network = model.layers[0].network
    for weights, deviation in (
        (model.words.weight, 1),
        (model.positions.weight, 1),
        (network[0].weight, 32**-0.5),
        (network[2].weight, 4000**-0.5),
    ):
        # 128,000 numbers: ten standard errors
        assert weights.std().item() == pytest.approx(deviation, rel=0.02)
        assert abs(weights.mean().item()) < 0.02 * deviation
    assert all(
        (module.bias == 0).all()
        for module in model.modules()
        if isinstance(module, torch.nn.Linear)
    )


def test_gain_and_embedding_are_factors_on_the_start():
    one, other = (
        TextTransformer(WORDS, LENGTH, layers=2, **options, seed=2)
        for options in ({}, {"gain": 0.5, "embedding": 0.02, "scale": 4})
    )
    for (name, ours), theirs in zip(one.named_parameters(), other.parameters(), strict=True):
        factor = (
            0.02 if name in ("words.weight", "positions.weight") else 1 if "norm" in name else 0.5
        )
        assert torch.equal(factor * ours, theirs) or torch.allclose(
            factor * ours, theirs, rtol=1e-6, atol=0
        ), name


def test_scale_is_a_factor_on_what_attention_gives():
    one, four = (small(layers=1, scale=scale) for scale in (1.0, 4.0))
    tokens = sentences()[0]
    assert_close(four.attention(tokens)[0], 4 * one.attention(tokens)[0], 1e-14)
    with torch.no_grad():
        four.layers[0].attention.V.weight /= 4
        four.layers[0].attention.V.bias /= 4
    assert_close(four.logits(tokens), one.logits(tokens), 1e-13)


def test_parts_are_the_weights_of_attention():
    model = small()
    parts = model.parts()
    assert parts["WQ"] == [
        f"layers.{k}.attention.Q.{kind}" for k in range(2) for kind in ("weight", "bias")
    ]
    assert set(parts) == {"WQ", "WK", "WV", "WO"}
    assert (
        sum(map(len, parts.values()))
        == len({name for names in parts.values() for name in names})
        == 16
    )


def test_the_start_is_seeded_and_leaves_the_global_stream_alone():
    torch.manual_seed(0)
    undisturbed = torch.rand(3)
    torch.manual_seed(0)
    first, again, other = (TextTransformer(WORDS, LENGTH, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(torch.rand(3), undisturbed)
    assert torch.equal(first.words.weight, again.words.weight)
    assert torch.equal(first.layers[0].network[0].weight, again.layers[0].network[0].weight)
    assert not torch.equal(first.words.weight, other.words.weight)


def test_a_kernel_of_ones_own_can_be_put_in():
    @dataclass(frozen=True)
    class Uniform:
        def scores(self, Q, K):
            return 0 * Q @ K.mT

        def __call__(self, S):
            return mha.softmax(S)

    tokens = sentences()[0]
    A = small(kernel=Uniform()).attention(tokens)[0]
    assert_close(A[-1], np.full((2, LENGTH, LENGTH), 1 / LENGTH), 1e-12)


def test_logits_in_blocks_are_the_logits():
    model, (tokens, _) = small(), sentences(9)
    assert_close(model.logits(tokens, rows=4), model.logits(tokens), 1e-13)


# --- training
# -----------------------------------------------------------------------------------------------

DATA = text.reviews(20)
RULE = mha.AdamW(0.003)


def start(seed=0, **sizes):
    return TextTransformer(
        len(DATA.vocabulary), DATA.tokens.shape[1], **{"d": 16, "hidden": 16} | sizes, seed=seed
    )


@pytest.mark.parametrize("H", [1, 4])
@kernels
def test_it_overfits_twenty_sentences(H, kernel):
    path = train_network(start(H=H, kernel=kernel), DATA, mha.AdamW(0.01), 200, batch=10)
    assert path.accuracy[-1] == 1
    assert path.loss[-1] < 0.02 < 0.5 < path.loss[0]


def test_training_is_seeded_and_leaves_the_start_as_it_is():
    model = start()
    before = [parameter.clone() for parameter in model.parameters()]
    first, again, other = (
        train_network(model, DATA, RULE, 12, batch=7, seed=seed) for seed in (1, 1, 2)
    )
    assert first.loss.tolist() == again.loss.tolist()
    assert first.loss[-1] != other.loss[-1]
    assert all(torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True))


def test_a_path_of_text_holds_curves_and_models():
    test = DATA.fresh(15)
    path = train_network(start(), DATA, RULE, 30, test=test, record=[0, 3, 30])
    assert path.steps.tolist() == [0, 3, 30]
    assert set(path.curves) == {"loss", "accuracy", "test_loss", "test_accuracy"}
    for k in range(3):
        for prefix, data in (("", DATA), ("test_", test)):
            z = data.y * path[k].logits(data.tokens)
            assert path.curves[prefix + "loss"][k] == pytest.approx(
                np.log1p(np.exp(-z)).mean(), rel=1e-12
            )
            assert path.curves[prefix + "accuracy"][k] == (z > 0).mean()
    assert path.stopped is None
    assert len(path) == 3


def test_one_step_is_a_step_of_adamw():
    model = start().double()
    path = train_network(model, DATA, mha.AdamW(0.02, weight_decay=0.1), 1, batch=20)
    tokens, y = model.batch(DATA.tokens, DATA.y)
    model.loss(tokens, y).backward()
    for before, after in zip(model.parameters(), path[-1].parameters(), strict=True):
        g = before.grad
        expected = (1 - 0.02 * 0.1) * before - 0.02 * g / (abs(g) + 1e-8)
        # softmax does not see the bias of the keys: rounding alone
        assert_close(after, expected, 1e-9, size=0.02)


@pytest.mark.parametrize(("n", "batch"), [(10, 3), (6, 6), (4, 9)])
def test_minibatches_go_through_all_rows_in_new_orders(n, batch):
    stream = minibatches(n, batch, seed=1)
    a_pass = -(-n // batch)
    passes = [[row for _ in range(a_pass) for row in next(stream).tolist()] for _ in range(3)]
    assert [sorted(rows) for rows in passes] == [list(range(n))] * 3
    assert passes[0] != passes[1]
    again = minibatches(n, batch, seed=1)
    assert [row for _ in range(a_pass) for row in next(again).tolist()] == passes[0]


def test_a_run_that_diverges_keeps_what_came_before():
    with pytest.warns(RuntimeWarning, match="loss of the minibatch of step .* is not finite"):
        path = train_network(start(), DATA, mha.AdamW(1e30), 50, record=51)
    assert 1 <= len(path) < 51
    assert np.isfinite(path.loss).all()
    assert "Try less" in path.stopped


def test_summary_is_loss_and_accuracy_of_the_logits():
    model = start()
    z = DATA.y * model.logits(DATA.tokens)
    assert summary(model, DATA) == {
        "loss": pytest.approx(np.log1p(np.exp(-z)).mean(), rel=1e-12),
        "accuracy": (z > 0).mean(),
    }


BAD = {
    "no heads": (lambda: start(H=0), ValueError, ["H: expected a whole number ≥ 1"]),
    "heads do not divide the width": (
        lambda: start(H=3),
        ValueError,
        ["divides the width d = 16", "got 3"],
    ),
    "no word": (lambda: TextTransformer(0, 5), ValueError, ["words: expected"]),
    "no gain": (lambda: start(gain=0), ValueError, ["gain: expected a positive number"]),
    "no scale": (lambda: start(scale=-1.0), ValueError, ["scale: expected a positive number"]),
    "too many patches": (
        lambda: PatchTransformer(4, 2).logits(np.ones((1, 3, 4))),
        ValueError,
        ["at most 2 patches an image", "got 3"],
    ),
    "no patches": (lambda: PatchTransformer(0, 2), ValueError, ["width: expected"]),
    "no seed": (lambda: start(seed=-1), ValueError, ["seed: expected"]),
    "sentences too long": (
        lambda: start().logits(np.ones((2, 30), int)),
        ValueError,
        ["at most 23", "got 30", "length="],
    ),
    "a word that is not in the vocabulary": (
        lambda: TextTransformer(10, 5, d=8, H=2).logits(np.array([[3, 9], [1, 12]])),
        ValueError,
        ["tokens: expected word numbers below 10", "got 12"],
    ),
    "a word below none": (
        lambda: TextTransformer(10, 5, d=8, H=2).logits(np.array([[3, -1]])),
        ValueError,
        ["tokens: expected word numbers below 10", "got -1"],
    ),
    "training on a larger vocabulary": (
        lambda: train_network(TextTransformer(10, 23, d=8, H=2), DATA, RULE, 3),
        ValueError,
        ["tokens: expected word numbers below 10"],
    ),
    "padding alone": (
        lambda: start().logits(np.zeros((2, 5), int)),
        ValueError,
        ["a word in every sentence"],
    ),
    "steps negative": (
        lambda: train_network(start(), DATA, RULE, -3),
        ValueError,
        ["steps: expected", "-3"],
    ),
}


@pytest.mark.parametrize(("call", "error", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_named(call, error, words):
    assert_refused(call, error, words)


def test_the_names_wait_for_torch():
    code = (
        "import sys\nfrom mhabook import c08_digits\nassert 'torch' not in "
        "sys.modules\nc08_digits.TextTransformer; assert 'torch' in sys.modules; "
        "sys.modules['torch'] = None\nfor name in ('transformer', 'network_training'): "
        "sys.modules.pop(f'mhabook.c08_digits.{name}', None)\nfor name in (*c08_digits.__all__, "
        "'Nothing'):\n    try: getattr(c08_digits, name)\n    except (ImportError, "
        "AttributeError) as error: print(error)"
    )
    found = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, ROOT / "book")))}
    run = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=found
    )
    assert run.stdout.splitlines() == [
        *(
            f"mhabook.c08_digits.{name} needs torch: pip install torch"
            for name in ("PatchTransformer", "TextTransformer", "train_network")
        ),
        "module 'mhabook.c08_digits' has no attribute 'Nothing'",
    ]
