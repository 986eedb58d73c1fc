"""The command for full size, from end to end at toy size: killed, taken up again, and what it refuses."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import mhabook
import mhalib as mha
from scripts import loaded

SCRIPT = Path(__file__).parents[2] / "book" / "results" / "full_size.py"


@pytest.fixture(scope="module")
def command():
    with loaded(SCRIPT) as module:
        yield module


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Images that are made are kept apart."""
    monkeypatch.chdir(tmp_path)


def kill_after(step, *arguments):
    """Run the command in a process of its own, and kill it without warning once it says that a step is done."""
    environment = os.environ | {"PYTHONPATH": str(SCRIPT.parents[2])}
    with subprocess.Popen([sys.executable, SCRIPT, *arguments], env=environment, stdout=subprocess.PIPE,
                          text=True) as process:
        assert any(line.startswith(f"step {step} ") for line in process.stdout), "it ended before it was killed"
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL


def rows(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def assert_taken_up(command, toy, stopped_at):
    """The run that a step ended goes on from its checkpoint, to the bytes of one that never ended."""
    assert not Path("killed.npz").exists()
    command.main([*toy, "killed.npz"])
    assert Path("killed.npz").read_bytes() == Path("whole.npz").read_bytes()
    again = [row["step"] for row in rows(Path("killed.log.jsonl")) if row["from"]]
    assert again[0] >= stopped_at - 5 and again == list(range(again[0], 31))


def test_a_killed_process_goes_on_to_the_same_bytes(command):
    toy = ["text", "--toy", "--steps", "30", "--seed", "3", "--kernel", "gaussian", "--out"]
    command.main([*toy, "whole.npz"])
    kill_after(12, *toy, "killed.npz")
    assert_taken_up(command, toy, 12)


def test_an_interrupted_run_on_images_goes_on_to_the_same_bytes(command, monkeypatch):
    toy = ["pathfinder", "--toy", "--steps", "30", "--settings", "arena", "--kernel", "normalized", "--scale", "2",
           "--out"]
    command.main([*toy, "whole.npz"])
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(command.Report, "__call__", interrupt_at(17, command.Report.__call__))
        command.main([*toy, "killed.npz"])
    assert_taken_up(command, toy, 17)


def interrupt_at(step, report):
    """A report that presses Ctrl-C at a step."""
    def interrupting(self, k, row):
        if k == step:
            raise KeyboardInterrupt
        report(self, k, row)
    return interrupting


def test_what_is_written_says_what_it_comes_from(command):
    command.main(["pathfinder", "--toy", "--steps", "20", "--out", "runs/toy.npz"])
    table = mhabook.Table.load("runs/toy.npz")
    assert (table["task"][0], table["kernel"][0], table["optimizer"][0]) == ("pathfinder", "softmax", "adam")
    assert table["recorded"][0].tolist() == [0, 5, 10, 15, 20]
    assert set(table.about["versions"]) == {"mhalib", "numpy", "python", "torch"}
    assert "--kernel softmax" in table.about["command"]
    log = rows(Path("runs/toy.log.jsonl"))
    assert [row["step"] for row in log] == list(range(21))
    for name in ("loss", "test_accuracy"):
        assert table[name].shape == (1, 5)
        assert [row[name] for row in log if name in row] == table[name][0].tolist()
    assert all(np.isfinite(row["batch_loss"]) for row in log)


def test_made_images_are_those_of_the_generator(command, monkeypatch):
    monkeypatch.setattr(command, "BLOCK", 3)
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # another process would not find the file as a module
    args = command.arguments(["pathfinder", "--toy", "--out", "a.npz", "--images-number", "7"])
    X, y = command.images(args)
    data = mha.data.pathfinder(7, "micro", 3)
    assert abs(X - data.X).max() <= 0.5 / 255 + 1e-6
    assert (X.dtype, y.tolist()) == (np.float32, data.y.tolist())
    train, test, model = command.pathfinder(args)
    assert (len(train), len(test), model.patches.in_features) == (5, 1, 9)


SIZES = {
    ("text", "paper"): ("Momentum(lr=0.05, beta=0.0)", 32),
    ("pathfinder", "paper"): ("Adam(lr=0.0002, beta1=0.9, beta2=0.999, eps=1e-08)", 128),
    ("text", "arena"): ("AdamW(lr=OneCycle(peak=0.0001, steps=50000, rise=0.0016), beta1=0.9, beta2=0.999, eps=1e-06, "
                        "weight_decay=0.0)", 32),
    ("pathfinder", "arena"): ("AdamW(lr=OneCycle(peak=0.0002, steps=50000, rise=0.00624), beta1=0.9, beta2=0.999, "
                              "eps=1e-06, weight_decay=0.0)", 128)}


def test_results_may_be_kept_at_home(command, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert command.arguments(["text", "--toy", "--out=~/a.npz"]).out == tmp_path / "a.npz"


@pytest.mark.parametrize(("task", "settings"), SIZES)
def test_full_size_is_what_it_says(command, task, settings):
    args = command.arguments([task, "--settings", settings, "--data", ".", "--out", "a.npz"])
    rule, batch = SIZES[task, settings]
    assert (repr(command.rule(args)), args.batch, args.steps) == (rule, batch, 50_000)
    assert (args.length, args.images_number, args.kind, args.patch) == (4096, 200_000, "hard", 1)
    model = mha.models.TextTransformer(257, 8, **command.network(args))
    assert [len(model.layers), model.layers[0].attention.H] == [2, 2]
    assert [list(p.shape) for p in model.layers[0].network.parameters()] == [[128, 64], [128], [64, 128], [64]]


REFUSED = {
    "no data": (["text"], "archive or folder\n\nThe reviews are the \"Large Movie Review Dataset\""),
    "no output": (["text", "--toy", "--out", "a.csv"], "--out: expected a new file that ends in .npz"),
    "no steps": (["text", "--toy", "--steps", "0"], "--steps: expected a whole number ≥ 1"),
    "no step size": (["text", "--toy", "--lr", "0"], "expected --lr > 0"),
    "a rise that does not end": (["text", "--toy", "--rise", "40"], "--rise: expected 0, or more than 1"),
    "another device": (["text", "--toy", "--device", "abacus"], "--device: expected one on which this torch computes"),
    "a device without numbers": (["text", "--toy", "--device", "meta"], "got 'meta': "),
    "patches that leave a rest": (["pathfinder", "--toy", "--patch", "5"], "--patch: expected a divisor of the 12"),
    "a single image": (["pathfinder", "--toy", "--images-number", "1"], "--images-number: expected one to train"),
    "another kernel": (["text", "--toy", "--kernel", "linear"], "invalid choice: 'linear'"),
}


@pytest.mark.parametrize(("arguments", "words"), REFUSED.values(), ids=REFUSED)
def test_arguments_that_do_not_fit_are_refused(command, capsys, arguments, words):
    with pytest.raises(SystemExit):
        command.main([*arguments, *([] if "--out" in arguments else ["--out", "a.npz"])])
    assert words in capsys.readouterr().err


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_refused(command, capsys):
    with pytest.raises(SystemExit):
        command.main(["text", "--toy", "--device", "cuda", "--out", "a.npz"])
    assert "--device: expected one on which this torch computes, got 'cuda': " in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_said_in_a_line(command):
    Path("file").touch()
    with pytest.raises(SystemExit, match="^(FileExists|NotADirectory)Error: "):
        command.main(["text", "--toy", "--out", "file/a.npz"])


def test_results_are_not_overwritten(command, capsys):
    Path("a.npz").write_bytes(b"")
    with pytest.raises(SystemExit):
        command.main(["text", "--toy", "--out", "a.npz"])
    assert "a.npz, which exists" in capsys.readouterr().err


@pytest.mark.parametrize(("task", "words"), [("text", "Large Movie Review Dataset"), ("pathfinder", "lra_release")])
def test_data_that_is_not_there_ends_with_instructions(command, task, words):
    with pytest.raises(SystemExit, match=f"(?s)FileNotFoundError: .*nowhere.*{words}"):
        command.main([task, "--toy", "--patch", "4", "--kind", "hard", "--data", "nowhere", "--out", "a.npz"])


def test_the_state_of_another_run_ends_with_the_difference(command):
    command.main(["text", "--toy", "--steps", "5", "--out", "a.npz"])
    Path("a.npz").unlink()
    with pytest.raises(SystemExit, match="(?s)a.checkpoint belongs to another run: .*seed is 1 here and 0 there"):
        command.main(["text", "--toy", "--steps", "5", "--seed", "1", "--out", "a.npz"])
