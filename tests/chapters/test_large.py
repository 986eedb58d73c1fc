"""The recipes for full size, from end to end at toy size: broken off, taken up again, and what they
refuse."""

import sys
from inspect import signature
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import mhabook
from mhabook.c08_digits import sst2, text
from mhabook.pages import large_runs
from scripts import loaded

KERNELS = ("softmax", "gaussian", "normalized")
VOCABULARY = text.reviews(1).vocabulary


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    """A function that runs a recipe in a folder of its own, perhaps until a step breaks it off."""
    monkeypatch.chdir(tmp_path)

    def run(name, line, stopped_at=None):
        with (
            loaded(f"book/results/large/{name}.py") as module,
            pytest.MonkeyPatch.context() as patch,
        ):
            step, left = module.step, iter(range(stopped_at or 0))
            if stopped_at is not None:
                patch.setattr(
                    module,
                    "step",
                    lambda *rest: step(*rest) if next(left, None) is not None else broken(),
                )
            module.main(line.split())

    return run


def broken():
    raise KeyboardInterrupt


def assert_goes_on(recipe, name, line):
    """A run that was broken off ends with the numbers of one that was not."""
    recipe(name, f"{line} --out whole.npz")
    with pytest.raises(KeyboardInterrupt):
        recipe(name, f"{line} --out broken.npz", stopped_at=7)
    assert not Path("broken.npz").exists()
    with pytest.raises(SystemExit, match="run with other arguments"):
        recipe(name, f"{line} --out broken.npz --seed 1")
    # the five steps since the last record, and two
    recipe(name, f"{line} --out broken.npz", stopped_at=7)
    with np.load("whole.npz") as whole, np.load("broken.npz") as other:
        assert all(np.array_equal(whole[key], other[key]) for key in whole.files)
        assert all(
            np.isfinite(whole[key]).all() for key in whole.files if whole[key].dtype.kind == "f"
        )
    with pytest.raises(SystemExit):
        recipe(name, f"{line} --out whole.npz")  # it exists


@pytest.mark.parametrize(
    "line", ["text --toy --kernel gaussian", "pathfinder --toy --kernel normalized --scale 2"]
)
def test_the_networks_of_chapter_16_train_and_go_on(recipe, line):
    assert_goes_on(recipe, "kernels", f"{line} --steps 12 --every 5")
    table = mhabook.Table.load("whole.npz")
    assert table["step"].tolist() == [0, 5, 10, 12]
    assert {"loss", "accuracy", "test_loss", "test_accuracy"} < set(table.columns)


def test_what_a_step_costs_is_measured_for_each_task_and_kernel(tmp_path, capsys):
    out = tmp_path / "cost.npz"
    with loaded("book/results/large/cost.py") as cost:
        cost.main(["--toy", "--out", str(out)])
        with pytest.raises(SystemExit):
            cost.main(["--toy", "--out", str(out)])
    assert "--overwrite" in capsys.readouterr().err
    table = mhabook.Table.load(out)
    asked = [(task, kernel) for task in ("text", "pathfinder") for kernel in KERNELS]
    assert list(zip(table["task"], table["kernel"], strict=True)) == asked
    assert (table["seconds"] > 0).all() and set(table["tokens"]) == {32}


def test_the_page_counts_the_steps_and_the_sizes_of_the_command():
    with loaded("book/results/large/kernels.py") as kernels:
        asked = kernels.arguments(["pathfinder", "--out", "some.npz"])
    assert asked.steps == signature(large_runs.networks).parameters["steps"].default == 50_000
    assert (kernels.SIZES["layers"], kernels.SIZES["d"]) == (2, 64)


@pytest.mark.parametrize("images", [0, 700])
def test_images_are_made_in_blocks(recipe, capsys, images):
    with pytest.raises(SystemExit):
        recipe("kernels", f"pathfinder --images {images} --out some.npz")
    assert f"--images: expected a multiple of 500, got {images}" in capsys.readouterr().err


def test_text_needs_the_reviews(recipe, tmp_path, capsys):
    with pytest.raises(SystemExit):
        recipe("kernels", "text --out toy.npz")
    assert "--data: expected the folder aclImdb" in capsys.readouterr().err
    for part in ("train", "test"):
        for label, words in (("neg", "dull"), ("pos", "fine")):
            (tmp_path / "aclImdb" / part / label).mkdir(parents=True)
            for k in range(3):
                (tmp_path / "aclImdb" / part / label / f"{k}_7.txt").write_text(
                    f"a {words} film {k}", "utf-8"
                )
    recipe("kernels", "text --data aclImdb --out real.npz --steps 40 --every 20 --batch 6 --lr 1")
    assert mhabook.Table.load("real.npz")["test_accuracy"][-1] == 1


class StandIn(torch.nn.Module):
    """What a pretrained encoder is to the recipe: one layer in which four heads meet, with
    dropout."""

    def __init__(self):
        super().__init__()
        self.config = SimpleNamespace(num_attention_heads=4)
        layer = torch.nn.ModuleDict(
            {"output": torch.nn.ModuleDict({"dense": torch.nn.Linear(8, 8)})}
        )
        self.inner, self.dropout = torch.nn.ModuleDict({"attention": layer}), torch.nn.Dropout(0.3)
        self.words = torch.nn.Embedding(len(VOCABULARY), 8)

    def forward(self, input_ids, attention_mask):
        read = (
            self.inner["attention"]["output"]["dense"](self.words(input_ids))
            * attention_mask[..., None]
        )
        return SimpleNamespace(logits=self.dropout(read).mean(dim=(1, 2))[:, None])


class Tokenizer:
    pad_token_id = 0

    def __call__(self, texts, truncation, max_length):
        return {"input_ids": [row[:max_length] for row in VOCABULARY.encode(texts).tolist()]}


@pytest.fixture
def encoder(tmp_path, monkeypatch):
    """SST-2's files with generated sentences, and a stand-in for the package transformers; the
    models that it gave."""
    data, given = text.reviews(60), []
    for name, part in {"train": data, "dev": data.fresh(20)}.items():
        (tmp_path / f"{name}.tsv").write_text(sst2.tsv(part), encoding="utf-8")

    def pretrained(name, **options):
        assert options["local_files_only"]
        given.append(StandIn())
        return given[-1]

    monkeypatch.setitem(
        sys.modules,
        "transformers",
        SimpleNamespace(
            AutoTokenizer=SimpleNamespace(
                from_pretrained=lambda name, local_files_only: Tokenizer()
            ),
            AutoModelForSequenceClassification=SimpleNamespace(from_pretrained=pretrained),
        ),
    )
    return given


FINE = "--data . --model . --lr 0.01 --steps 12 --every 5 --weight-decay 0"


def test_an_encoder_is_fine_tuned_and_goes_on(recipe, encoder):
    assert_goes_on(recipe, "finetune_sst2", FINE)


def test_a_silenced_head_does_not_learn(recipe, encoder):
    recipe("finetune_sst2", f"{FINE} --keep-heads 1 --out one.npz")
    torch.manual_seed(0)
    weight, before = (
        model.inner["attention"]["output"]["dense"].weight.detach()
        for model in (encoder[-1], StandIn())
    )
    moved = (weight - before).reshape(8, 4, 2).abs().amax(dim=(0, 2)) > 0
    assert (
        moved.tolist()
        == np.isin(range(4), np.random.default_rng([0, 8, 0]).choice(4, 1, replace=False)).tolist()
    )
    with pytest.raises(SystemExit, match="--keep-heads: expected a number from 1 to 4"):
        recipe("finetune_sst2", f"{FINE} --keep-heads 5 --out five.npz")


def test_an_absent_package_is_named(recipe, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(
        SystemExit, match="needs the package transformers: pip install transformers"
    ):
        recipe("finetune_sst2", f"{FINE} --out one.npz")
