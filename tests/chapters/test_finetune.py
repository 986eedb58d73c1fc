"""The fine-tuning recipe, from end to end, with a stand-in for the pretrained encoder."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import mhalib as mha
from mhalib.models import TextTransformer
from scripts import loaded

SCRIPT = Path(__file__).parents[2] / "book" / "results" / "finetune_sst2.py"
HEADS = 4


@pytest.fixture(scope="module")
def recipe():
    with loaded(SCRIPT) as module:
        yield module


class StandIn(torch.nn.Module):
    """A small Transformer with dropout behind the interface of a pretrained one; it may be killed at a step."""

    def __init__(self, words, dies_after=None):
        super().__init__()
        self.transformer = TextTransformer(words, 23, d=16, H=HEADS, hidden=16).double()
        self.dropout, self.left = torch.nn.Dropout(0.3), dies_after

    def forward(self, tokens, mask):
        assert ((tokens > 0) == mask).all()
        if self.training and self.left is not None:
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
        logits = self.transformer(tokens)
        return self.dropout(logits) if self.training else logits


def stand_in(recipe, dies_after=None):
    """What makes the encoder from the arguments."""
    vocabulary = mha.data.reviews(1).vocabulary

    def load(args):
        network = StandIn(len(vocabulary), dies_after)
        return recipe.Encoder(network, lambda texts: [row[row > 0].tolist() for row in vocabulary.encode(texts)], HEADS,
                              [layer.attention.out for layer in network.transformer.layers])

    return load


@pytest.fixture
def command(tmp_path):
    """A command line on generated sentences, in a folder of its own; further arguments may follow."""
    train = mha.data.reviews(60)
    for name, data in {"train": train, "dev": train.fresh(20)}.items():
        (tmp_path / f"{name}.tsv").write_text(data.tsv(), encoding="utf-8")
    given = {"--data": tmp_path, "--model": tmp_path, "--out": tmp_path / "run.npz", "--steps": 12, "--batch": 16,
             "--lr": 0.01, "--records": 4, "--checkpoint": 3}

    def line(**changes):
        values = given | {f"--{name.replace('_', '-')}": value for name, value in changes.items()}
        return [str(word) for pair in values.items() for word in pair if word is not True]

    return line


def results(path):
    with np.load(path) as file:
        return {name: file[name] for name in file}


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name in found:
        np.testing.assert_array_equal(found[name], expected[name])


def test_the_recipe_runs_from_end_to_end(recipe, command, tmp_path, capsys):
    recipe.main(command(), load=stand_in(recipe))
    found = results(tmp_path / "run.npz")
    assert found["steps"].tolist() == [0, 4, 8, 12]
    assert set(found) == {"steps", "loss", "dev_loss", "dev_accuracy", "config", "versions"}
    assert np.isnan(found["loss"][0])
    assert found["loss"][-1] < found["loss"][1]
    assert ((found["dev_accuracy"] >= 0) & (found["dev_accuracy"] <= 1)).all()
    assert json.loads(str(found["config"]))["lr"] == 0.01
    assert {"torch", "numpy", "mhalib", "python"} <= set(json.loads(str(found["versions"])))
    assert not list(tmp_path.glob("*.checkpoint*"))
    assert capsys.readouterr().out.count("dev accuracy") == 4


def test_the_recipe_learns(recipe, command, tmp_path):
    (tmp_path / "dev.tsv").write_bytes((tmp_path / "train.tsv").read_bytes())
    recipe.main(command(steps=150, records=2, checkpoint=1000), load=stand_in(recipe))
    found = results(tmp_path / "run.npz")
    assert found["loss"][-1] < 0.5 < found["dev_loss"][0]
    assert found["dev_accuracy"][-1] == 1


def test_dev_results_are_those_of_the_network_at_rest(recipe, command, tmp_path):
    kept = {}

    def load(args):
        kept["encoder"] = stand_in(recipe)(args)
        return kept["encoder"]

    recipe.main(command(), load=load)
    dev, network = mha.data.sst2(tmp_path, "dev"), kept["encoder"].network.eval()
    rows = kept["encoder"].tokenize(list(dev.sentences))
    with torch.no_grad():
        z = [y * network(torch.tensor([row]), torch.ones(1, len(row), dtype=bool)).item()
             for row, y in zip(rows, dev.y, strict=True)]
    found = results(tmp_path / "run.npz")
    assert found["dev_loss"][-1] == pytest.approx(np.log1p(np.exp(-np.array(z))).mean(), rel=1e-12)
    assert found["dev_accuracy"][-1] == np.mean(np.array(z) > 0)


@pytest.mark.parametrize("dies_after", [2, 3, 7, 11])
def test_a_killed_run_ends_as_if_nothing_had_happened(recipe, command, tmp_path, dies_after):
    whole = tmp_path / "whole.npz"
    recipe.main(command(out=whole), load=stand_in(recipe))
    with pytest.raises(KeyboardInterrupt):
        recipe.main(command(), load=stand_in(recipe, dies_after))
    assert not (tmp_path / "run.npz").exists()
    assert (tmp_path / "run.checkpoint.pt").exists() is (dies_after >= 3)
    steps_left = 12 - dies_after // 3 * 3
    recipe.main(command(), load=stand_in(recipe, steps_left))  # one step more would kill it again
    assert_same(results(tmp_path / "run.npz"), results(whole))


def test_model_and_results_may_be_at_home(recipe, command, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    args = recipe.arguments(command(model="~", out="~/a.npz"))
    assert (args.out, args.model) == (tmp_path / "a.npz", str(tmp_path))


def test_a_checkpoint_of_another_run_is_refused(recipe, command, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        recipe.main(command(), load=stand_in(recipe, 5))
    with pytest.raises(SystemExit, match=r"run\.checkpoint\.pt belongs to a run with other arguments \(lr, seed\)"):
        recipe.main(command(lr=0.02, seed=1), load=stand_in(recipe))


def test_silenced_heads_are_heads_without_a_say(recipe):
    tokens = torch.as_tensor(mha.data.reviews(5).tokens)
    load, args = stand_in(recipe), SimpleNamespace()
    whole, some, by_hand = load(args), load(args), load(args)
    recipe.silence(whole, HEADS, seed=0)
    recipe.silence(some, 1, seed=0)
    kept = np.random.default_rng([0, 8, 0]).choice(HEADS, 1, replace=False)
    with torch.no_grad():
        weight = by_hand.network.transformer.layers[0].attention.out.weight
        weight.reshape(16, HEADS, 4)[:, np.setdiff1d(range(HEADS), kept)] = 0
        logits = [encoder.network.eval()(tokens, tokens > 0) for encoder in (whole, load(args), some, by_hand)]
    assert torch.equal(logits[0], logits[1])
    assert torch.allclose(logits[2], logits[3], rtol=1e-12)
    assert (logits[2] - logits[0]).abs().max() > 1e-3


def maps(encoder):
    """A copy of the matrices that make queries, keys and values, one behind the other."""
    attention = encoder.network.transformer.layers[0].attention
    return torch.stack([part.weight.detach().clone() for part in (attention.Q, attention.K, attention.V)])


def test_a_silenced_head_does_not_learn(recipe, command, tmp_path):
    kept = {}

    def load(args):
        kept["encoder"] = stand_in(recipe)(args)
        kept["before"] = maps(kept["encoder"])
        return kept["encoder"]

    recipe.main(command(keep_heads=1, weight_decay=0), load=load)
    moved = (maps(kept["encoder"]) - kept["before"]).reshape(3, HEADS, -1).abs().amax(dim=(0, 2)) > 0
    assert moved.sum() == 1
    assert json.loads(str(results(tmp_path / "run.npz")["config"]))["keep_heads"] == 1


def test_too_many_heads_and_unknown_layers_are_refused(recipe):
    encoder = stand_in(recipe)(None)
    with pytest.raises(SystemExit, match="at most the 4 heads of a layer, got 5"):
        recipe.silence(encoder, 5, seed=0)
    encoder.read_outs = []
    with pytest.raises(SystemExit, match="no place where heads meet"):
        recipe.silence(encoder, 2, seed=0)


def test_a_limit_takes_the_first_sentences(recipe, command, monkeypatch):
    seen = {}
    monkeypatch.setattr(recipe, "Run", lambda args, encoder, train, dev: seen.update(train=train) or SimpleNamespace(
        resume=int, train=int, write=int))
    recipe.main(command(limit=7), load=stand_in(recipe))
    assert seen["train"].sentences == mha.data.reviews(60).sentences[:7]


@pytest.mark.parametrize(("changes", "words"), [
    ({"lr": 0}, ["--lr > 0"]), ({"records": 1}, ["--records ≥ 2"]), ({"seed": -1}, ["--seed ≥ 0"]),
    ({"steps": 0}, ["--steps: expected a whole number ≥ 1, got 0"]), ({"keep_heads": 0}, ["--keep-heads: expected"]),
    ({"out": "run.txt"}, ["--out: expected a new file that ends in .npz, got run.txt"]),
    ({"model": "a-name"}, ["--model: a-name is no folder on this machine", "--download"]),
    ({"batch": "many"}, ["--batch: invalid int value"]), ({"lr": "nan"}, ["--lr > 0"]), ({"lr": "inf"}, ["--lr > 0"]),
    ({"device": "abacus"}, ["--device: expected one on which this torch computes, got 'abacus': "])], ids=str)
def test_wrong_arguments_are_named(recipe, command, capsys, changes, words):
    with pytest.raises(SystemExit) as raised:
        recipe.main(command(**changes), load=stand_in(recipe))
    assert raised.value.code == 2
    error = capsys.readouterr().err
    for word in words:
        assert word in error


def test_results_are_not_overwritten(recipe, command, tmp_path, capsys):
    (tmp_path / "run.npz").touch()
    with pytest.raises(SystemExit):
        recipe.main(command(), load=stand_in(recipe))
    assert "run.npz, which exists" in capsys.readouterr().err


def test_absent_data_come_with_instructions(recipe, command, tmp_path):
    (tmp_path / "dev.tsv").unlink()
    with pytest.raises(SystemExit, match="(?s)^FileNotFoundError: .*gluebenchmark.com"):
        recipe.main(command(), load=stand_in(recipe))


def test_a_folder_that_cannot_be_made_is_said_before_the_run(recipe, command, tmp_path):
    with pytest.raises(SystemExit, match="^(FileExists|NotADirectory)Error: "):
        recipe.main(command(out=tmp_path / "dev.tsv" / "run.npz"), load=stand_in(recipe))
    recipe.main(command(out=tmp_path / "new" / "run.npz"), load=stand_in(recipe))
    assert (tmp_path / "new" / "run.npz").exists()


def test_a_seed_that_torch_cannot_take_is_said_in_a_line(recipe, command):
    with pytest.raises(SystemExit, match="^ValueError: "):
        recipe.main(command(seed=10**30), load=stand_in(recipe))


def test_an_absent_package_is_named(recipe, command, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(SystemExit, match="needs the package transformers: pip install transformers"):
        recipe.main(command())


@pytest.mark.parametrize("download", [False, True])
@pytest.mark.parametrize("folder", [False, True])
def test_only_a_name_with_permission_may_be_fetched(recipe, command, tmp_path, monkeypatch, download, folder):
    """With a stand-in for the package transformers, which notes how it is called."""
    asked, vocabulary = [], mha.data.reviews(1).vocabulary

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.config = SimpleNamespace(num_attention_heads=HEADS)
            self.inner = torch.nn.ModuleDict({"attention": torch.nn.ModuleDict({
                "output": torch.nn.ModuleDict({"dense": torch.nn.Linear(8, 8)})})})
            self.words = torch.nn.Embedding(len(vocabulary), 8)

        def forward(self, input_ids, attention_mask):
            read = self.inner["attention"]["output"]["dense"](self.words(input_ids)) * attention_mask[..., None]
            return SimpleNamespace(logits=read.mean(dim=(1, 2))[:, None])

    class Tokenizer:
        pad_token_id = 0

        def __call__(self, texts, truncation, max_length):
            assert truncation
            return {"input_ids": [row[:max_length] for row in vocabulary.encode(texts).tolist()]}

    def automatic(make):
        return SimpleNamespace(from_pretrained=lambda name, **options: asked.append((name, options)) or make())

    monkeypatch.setitem(sys.modules, "transformers", SimpleNamespace(
        AutoTokenizer=automatic(Tokenizer), AutoModelForSequenceClassification=automatic(Model)))
    monkeypatch.setattr(recipe, "version", lambda package: "0")
    model = str(tmp_path) if folder else "a-name"
    line = command(model=model, keep_heads=2, steps=2, **({"download": True} if download else {}))
    if not folder and not download:
        with pytest.raises(SystemExit):
            recipe.main(line)
        assert not asked
        return
    recipe.main(line)
    assert [name for name, _ in asked] == [model, model]
    assert {options["local_files_only"] for _, options in asked} == {folder}
    assert asked[1][1]["num_labels"] == 1
