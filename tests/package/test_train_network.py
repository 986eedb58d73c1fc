"""Training torch networks: rules, which parameters move, pieces of a minibatch, runs that go on where they ended."""

import json
from dataclasses import dataclass, replace
from io import BytesIO

import numpy as np
import pytest
import torch

import mhalib as mha
from mhabook.studies import Checkpoint
from mhabook.studies.files import pack, seal, unpack, unseal
from mhalib.models import PatchTransformer, TextTransformer
from mhalib.training import minibatches
from oracles import assert_close, assert_refused

DATA = mha.data.reviews(21)
TEST = DATA.fresh(7)
START = TextTransformer(len(DATA.vocabulary), DATA.tokens.shape[1], d=8, H=2, layers=2, hidden=5)
STEPS = 11
RULES = {"gradient descent": mha.GradientDescent(0.1), "momentum": mha.Momentum(0.1), "Adam": mha.Adam(0.01),
         "AdamW, one cycle": mha.AdamW(mha.OneCycle(0.02, STEPS, rise=0.3), weight_decay=0.2)}
rules = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


class Killed(Exception):
    pass


def run(rule=RULES["Adam"], model=START, data=DATA, killed_at=None, **options):
    """A short run, which may be killed at a step."""
    def report(k, row):
        if k == killed_at:
            raise Killed

    options = {"test": TEST, "batch": 4, "record": [0, 2, 7, STEPS], "seed": 3} | options
    return mha.train_network(model, data, rule, STEPS, report=report, **options)


def assert_same_path(path, other):
    """Two paths are equal, bit by bit."""
    assert path.steps.tolist() == other.steps.tolist()
    assert list(path.curves) == list(other.curves)
    assert [curve.tolist() for curve in path.curves.values()] == [curve.tolist() for curve in other.curves.values()]
    for one, two in zip(path.models, other.models, strict=True):
        assert all(torch.equal(p, q) for p, q in zip(one.parameters(), two.parameters(), strict=True))


def moved(path):
    """The parameters that differ between the ends of a path."""
    ends = zip(path[0].named_parameters(), path[-1].parameters(), strict=True)
    return {name for (name, before), after in ends if not torch.equal(before, after)}


# --- steps ---------------------------------------------------------------------------------------------------


@rules
def test_steps_are_those_of_the_rule(rule):
    model = TextTransformer(len(DATA.vocabulary), DATA.tokens.shape[1], d=4, H=2, hidden=3).double()
    path = run(rule, model, record=STEPS + 1)
    theta = {name: p.detach().clone() for name, p in model.named_parameters()}
    states = {name: rule.start(p) for name, p in theta.items()}
    for k, rows in zip(range(STEPS), minibatches(len(DATA), 4, 3), strict=False):
        model.load_state_dict(theta)
        loss = model.loss(*model.batch(DATA.tokens[rows], DATA.y[rows]))
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        for (name, p), g in zip(theta.items(), gradients, strict=True):
            theta[name], states[name] = rule.step(p, g, states[name], k)
    flat = [torch.cat([p.detach().ravel() for p in parameters])
            for parameters in (path[-1].parameters(), theta.values())]
    # Where a gradient is zero but for rounding (the keys' biases), Adam divides rounding by rounding.
    assert_close(*flat, 1e-4 if hasattr(rule, "beta1") else 1e-12)


def test_images_are_trained_on_as_sentences_are():
    data = mha.data.pathfinder(12)
    path = run(model=PatchTransformer(16, 9, d=8, H=2, hidden=5), data=data, test=mha.data.pathfinder(5, seed=1))
    z = data.y * path[-1].logits(data.X)
    assert path.loss[-1] == pytest.approx(np.log1p(np.exp(-z)).mean(), rel=1e-12)
    assert len(moved(path)) == len(list(path[0].parameters()))


def test_only_the_chosen_parameters_move():
    attention = {f"layers.{k}.attention.{part}.{kind}" for k in (0, 1) for part in "QKV" for kind in ("weight", "bias")}
    for only, expected in ((("WQ", "WK"), {name for name in attention if ".V." not in name}),
                           ("WV", {name for name in attention if ".V." in name}),
                           (["layers.1.norm_2", "positions"], {"layers.1.norm_2.weight", "layers.1.norm_2.bias",
                                                               "positions.weight"})):
        path = run(mha.AdamW(0.01, weight_decay=0.5), only=only)
        assert moved(path) == expected
        assert all(p.requires_grad for p in path[-1].parameters())


def test_pieces_of_a_minibatch_are_the_minibatch():
    model = TextTransformer(len(DATA.vocabulary), 23, d=8, H=2, hidden=5).double()
    whole, pieces = (run(mha.Momentum(0.1), model, batch=10, at_once=size) for size in (None, 3))
    assert_close(pieces.loss, whole.loss, 1e-12)
    assert_close(torch.cat([p.ravel() for p in pieces[-1].parameters()]),
                 torch.cat([p.ravel() for p in whole[-1].parameters()]), 1e-12)
    largest = []
    model.loss = lambda X, y: largest.append(len(y)) or type(model).loss(model, X, y)
    run(model=model, batch=10, at_once=3)
    assert set(largest) == {1, 3}


def test_curves_may_be_of_some_samples():
    path = run(measured=5)
    rows = [0, 5, 10, 15, 20]
    z = DATA.y[rows] * path[-1].logits(DATA.tokens[rows])
    assert path.loss[-1] == pytest.approx(np.log1p(np.exp(-z)).mean(), rel=1e-12)
    assert path.test_loss.tolist() == run().test_loss.tolist()
    assert run(measured=50).loss.tolist() == run().loss.tolist()


def test_every_step_is_reported():
    rows = {}
    path = mha.train_network(START, DATA, mha.Adam(0.01), 5, record=[0, 5], report=rows.__setitem__)
    assert list(rows) == [0, 1, 2, 3, 4, 5]
    assert set(rows[3]) == {"batch_loss"}
    assert rows[5] == {"batch_loss": rows[5]["batch_loss"], "loss": path.loss[-1], "accuracy": path.accuracy[-1]}


def test_training_leaves_the_start_and_the_global_stream_alone():
    before = [p.clone() for p in START.parameters()]
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    run()
    assert torch.equal(torch.rand(3), expected)
    assert all(torch.equal(p, q) for p, q in zip(before, START.parameters(), strict=True))


@pytest.mark.parametrize(("n", "batch"), [(10, 3), (6, 6), (4, 9)])
def test_minibatches_can_begin_anywhere(n, batch):
    stream = minibatches(n, batch, seed=2)
    rows = [next(stream).tolist() for _ in range(12)]
    for first in range(9):
        later = minibatches(n, batch, seed=2, first=first)
        assert [next(later).tolist() for _ in range(3)] == rows[first:first + 3]


def test_one_cycle_is_that_of_torch():
    for peak, steps, rise in ((0.3, 50, 0.3), (2e-4, 1000, 0.08)):
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        theirs = torch.optim.lr_scheduler.OneCycleLR(optimizer, peak, steps, pct_start=rise, anneal_strategy="linear",
                                                     cycle_momentum=False)
        ours = mha.OneCycle(peak, steps, rise)
        for k in range(steps):
            assert ours(k) == pytest.approx(theirs.get_last_lr()[0], rel=1e-9)
            optimizer.step()
            if k < steps - 1:
                theirs.step()


# --- checkpoints ---------------------------------------------------------------------------------------------


@rules
@pytest.mark.parametrize("killed_at", [2, 7, 10])
def test_a_killed_run_goes_on_bit_by_bit(tmp_path, rule, killed_at):
    expected, checkpoint = run(rule), Checkpoint(tmp_path / "run", every=3)
    with pytest.raises(Killed):
        run(rule, killed_at=killed_at, checkpoint=checkpoint)
    steps = []
    resumed = mha.train_network(START, DATA, rule, STEPS, test=TEST, batch=4, record=[0, 2, 7, STEPS], seed=3,
                                checkpoint=checkpoint, report=lambda k, row: steps.append(k))
    assert steps == list(range(killed_at // 3 * 3, STEPS + 1))
    assert_same_path(resumed, expected)
    assert_same_path(run(rule, checkpoint=checkpoint, killed_at=0), expected)  # what is finished is not done again


class Noisy(TextTransformer):
    """A network that draws while it trains."""

    def loss(self, tokens, y):
        return super().loss(tokens, y) * (1 + 0.3 * torch.rand((), device=self.device))


def test_random_numbers_of_a_network_go_on_too(tmp_path):
    model, checkpoint = Noisy(len(DATA.vocabulary), 23, d=8, H=2, hidden=5), Checkpoint(tmp_path / "run", every=3)
    expected = run(model=model)
    with pytest.raises(Killed):
        run(model=model, killed_at=8, checkpoint=checkpoint)
    torch.manual_seed(9)
    assert_same_path(run(model=model, checkpoint=checkpoint), expected)


def test_part_of_a_network_goes_on_bit_by_bit(tmp_path):
    expected, checkpoint = run(only=("WQ", "WK")), Checkpoint(tmp_path / "run", every=3)
    with pytest.raises(Killed):
        run(only=("WQ", "WK"), killed_at=7, checkpoint=checkpoint)
    assert_same_path(run(only=("WQ", "WK"), checkpoint=checkpoint), expected)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A file that a run left."""
    path = tmp_path_factory.mktemp("saved") / "run"
    run(checkpoint=Checkpoint(path))
    return path


OTHER = {
    "rule": ({"rule": mha.Adam(0.02)}, ["optimizer is Adam(lr=0.02", "and Adam(lr=0.01"]),
    "schedule": ({"rule": mha.Adam(lambda k: 0.01)}, ["rates is"]),
    "seed": ({"seed": 4}, ["seed is 4 here and 3 there"]),
    "batch": ({"batch": 5}, ["batch is 5 here and 4 there"]),
    "recorded steps": ({"record": [0, STEPS]}, ["record is [0, 11] here and [0, 2, 7, 11] there"]),
    "what moves": ({"only": ("WQ",)}, ["only is ['WQ'] here and None there"]),
    "data": ({"data": mha.data.reviews(21, seed=1)}, ["data is 21 samples, checksum"]),
    "labels": ({"data": replace(DATA, y=-DATA.y)}, ["data is 21 samples, checksum"]),
    "test": ({"test": None}, ["test is None here"]),
    "start": ({"model": TextTransformer(len(DATA.vocabulary), 23, d=8, H=2, layers=2, hidden=5, seed=1)}, ["start is"]),
    "heads": ({"model": TextTransformer(len(DATA.vocabulary), 23, d=8, H=4, layers=2, hidden=5)},
              ["network.layers.0.attention.H is 4 here and 2 there"]),
    "kernel": ({"model": TextTransformer(len(DATA.vocabulary), 23, d=8, H=2, layers=2, hidden=5, kernel=mha.gaussian)},
               ["network.layers.1.attention.kernel is Gaussian(c=0.5) here and Softmax() there"]),
    "size": ({"model": TextTransformer(len(DATA.vocabulary), 23, d=8, H=2, layers=2, hidden=6)}, ["parameters is"]),
}


@dataclass(frozen=True, repr=False)
class Bent(type(mha.softmax)):
    """A kernel of one's own, which prints without its factor."""

    factor: float = 1.0

    def __call__(self, S):
        return super().__call__(self.factor * S)


def slow(k):
    return 0.01


@pytest.mark.parametrize("change", [{"rule": mha.AdamW(slow, weight_decay=0.5)},
                                    {"model": TextTransformer(len(DATA.vocabulary), 23, d=8, H=2, kernel=Bent(2.0))}],
                         ids=["decay", "kernel"])
def test_a_run_with_another_constant_is_another_run(tmp_path, change):
    model = TextTransformer(len(DATA.vocabulary), 23, d=8, H=2, kernel=Bent(1.0))
    same, checkpoint = {"rule": mha.AdamW(slow, weight_decay=0.0), "model": model}, Checkpoint(tmp_path / "run")
    path = run(checkpoint=checkpoint, **same)
    assert_same_path(run(checkpoint=checkpoint, killed_at=0, **same), path)
    assert_refused(lambda: run(checkpoint=checkpoint, **same | change), ValueError, ["belongs to another run"])


@pytest.mark.parametrize("only", [{"WK", "WQ"}, ["WQ", "WK", "WQ"], (name for name in ("WQ", "WK"))],
                         ids=["set", "list", "iterator"])
def test_what_moves_is_kept_in_one_order(tmp_path, only):
    checkpoint = Checkpoint(tmp_path / "run", every=3)
    with pytest.raises(Killed):
        run(only=only, killed_at=7, checkpoint=checkpoint)
    assert_same_path(run(only=("WQ", "WK"), checkpoint=checkpoint), run(only=("WQ", "WK")))


def test_a_path_may_begin_at_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    run(checkpoint=Checkpoint("~/kept/run"))
    assert (tmp_path / "kept" / "run").exists()


@pytest.mark.parametrize(("change", "words"), OTHER.values(), ids=OTHER)
def test_the_state_of_another_run_is_refused(saved, change, words):
    before = saved.read_bytes()
    assert_refused(lambda: run(checkpoint=Checkpoint(saved), **change), ValueError,
                   [str(saved), "belongs to another run", *words, "remove this one"])
    assert saved.read_bytes() == before


DAMAGE = {"cut off": lambda b: b[:-9], "empty": lambda b: b"", "a bit turned": lambda b: b[:999] + b"?" + b[1000:],
          "another checksum": lambda b: b"0" * 64 + b[64:], "something else": lambda b: b"hello",
          "sealed, but no archive": lambda b: seal(b"hello")}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_refused(saved, tmp_path, damage):
    path = tmp_path / "run"
    path.write_bytes(damage(saved.read_bytes()))
    assert_refused(lambda: run(checkpoint=Checkpoint(path)), ValueError, [str(path), "cannot be used", "damaged",
                                                                              "Remove it to begin anew"])


def test_other_versions_are_named_in_a_warning(saved, tmp_path):
    arrays, about = unpack(unseal(saved.read_bytes()))
    assert about["versions"]["torch"] == torch.__version__
    path = tmp_path / "run"
    path.write_bytes(seal(pack(arrays, about | {"versions": about["versions"] | {"torch": "1.0"}})))
    with pytest.warns(RuntimeWarning, match=r"other versions .*'torch': '1.0'"):
        run(checkpoint=Checkpoint(path))


def test_a_checkpoint_holds_no_code(saved):
    with np.load(BytesIO(unseal(saved.read_bytes())), allow_pickle=False) as stored:
        assert all(stored[name].dtype.kind in "fiuU" for name in stored.files)
        assert json.loads(str(stored["about"]))["step"] == STEPS


def test_a_run_killed_while_it_writes_leaves_the_state_before(saved, tmp_path, monkeypatch):
    path = tmp_path / "run"
    path.write_bytes(saved.read_bytes())
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(Killed))
    with pytest.raises(Killed):
        run(checkpoint=Checkpoint(path))
    assert path.read_bytes() == saved.read_bytes()


def test_a_run_that_diverges_leaves_a_state_before(tmp_path):
    checkpoint = Checkpoint(tmp_path / "run", every=1)
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="not finite"):
            path = run(mha.GradientDescent(1e30), checkpoint=checkpoint, record=STEPS + 1)
        assert np.isfinite(path.loss).all() and "Try less" in path.stopped


BAD = {
    "no network": ({"model": mha.MultiHeadAttention.zeros(1, 2, 2)}, TypeError, ["model: expected a torch network"]),
    "no data": ({"data": None}, TypeError, ["data: expected a TextDataset or a Dataset", "NoneType"]),
    "images for a network of words": ({"data": mha.data.pathfinder(3)}, TypeError,
                                      ["data: expected a dataset with tokens, which a TextTransformer reads"]),
    "another test": ({"test": 3}, TypeError, ["test: expected a TextDataset or a Dataset", "int"]),
    "a rule of numbers": ({"rule": mha.Backtracking()}, TypeError, ["optimizer: expected GradientDescent, Momentum"]),
    "no rule": ({"rule": 0.1}, TypeError, ["optimizer: expected GradientDescent", "0.1"]),
    "nothing moves": ({"only": ()}, ValueError, ["only: expected the name of a parameter, got none"]),
    "no such parameter": ({"only": ("WX",)}, ValueError, ["only: expected names among WQ, WK", "got 'WX'"]),
    "a number moves": ({"only": 3}, TypeError, ["only: expected names of parameters, got [3]"]),
    "no batch": ({"batch": 0}, ValueError, ["batch: expected"]),
    "pieces of nothing": ({"at_once": 0}, ValueError, ["at_once: expected"]),
    "nothing measured": ({"measured": 0}, ValueError, ["measured: expected"]),
    "no seed": ({"seed": -1}, ValueError, ["seed: expected"]),
}


@pytest.mark.parametrize(("change", "error", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_named(change, error, words):
    assert_refused(lambda: run(**change), error, words)


RATES = {
    "a peak that is a function": (lambda: mha.OneCycle(lambda k: 1.0, 10), ["peak: expected a positive number"]),
    "no peak": (lambda: mha.OneCycle(0.0, 10), ["peak: expected a positive number"]),
    "one step": (lambda: mha.OneCycle(0.1, 1), ["steps: expected a whole number ≥ 2"]),
    "no rise": (lambda: mha.OneCycle(0.1, 10), ["rise: expected a share of the steps between one step and all",
                                                "got 0.1 of 10 steps, which is 1"]),
    "no fall": (lambda: mha.OneCycle(0.1, 10, rise=1.0), ["rise: expected"]),
    "weights that grow": (lambda: mha.AdamW(0.1, weight_decay=-0.1), ["weight_decay: expected a number ≥ 0"]),
    "no state between": (lambda: Checkpoint("run", every=0), ["every: expected a whole number ≥ 1"]),
}


@pytest.mark.parametrize(("call", "words"), RATES.values(), ids=RATES)
def test_bad_constants_are_named(call, words):
    assert_refused(call, ValueError, words)
