"""Fine-tune a pretrained encoder on SST-2, with all of its heads or with some: an optional recipe.

    python book/results/finetune_sst2.py --data FOLDER --model FOLDER --out all-heads.npz
    python book/results/finetune_sst2.py --data FOLDER --model FOLDER --keep-heads 3 --out three-heads.npz

It is the question of Figure 6 of Deora et al. 2023: SST-2 with RoBERTa models, the number of heads varied, AdamW. Of
that figure we know its caption and no curve. The learning rate 5e-6 is inferred, and how the paper varied the heads we
do not know: here ``--model`` takes any encoder, and ``--keep-heads K`` keeps K heads of every layer, drawn by the seed,
and silences the others for good. We could not run the recipe on the real model and data: it was run from end to end
with a small stand-in encoder on generated sentences, and with a RoBERTa of some thirty thousand random ones.

Nothing is downloaded silently. ``--data`` is a local folder with SST-2's train.tsv and dev.tsv (mhalib.data.sst2 says
where they come from). ``--model`` is a local folder with a saved model and its tokenizer; a name that is no folder is
fetched by the package transformers, and only if ``--download`` is given.

A run is fixed by its arguments. It leaves a checkpoint beside ``--out`` every ``--checkpoint`` steps; the same command
takes it up again and ends with the same numbers. The file holds steps, loss (mean of the minibatches since the last
record), dev_loss, dev_accuracy, the configuration and the versions.
"""

import argparse
import json
import os
import sys
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

import mhalib as mha
from mhalib.networks.steps import require_device
from mhalib.training import minibatches

READ_OUT = ("attention.output.dense", "attention.out_lin")
"""Where heads leave a layer, in the words of BERT and RoBERTa, and of DistilBERT."""


@dataclass
class Encoder:
    """A network from (tokens, mask) to logits (n,), its tokenizer, and where its heads meet.

    ``tokenize`` turns sentences into lists of numbers. ``read_outs`` are the linear maps, one a layer, whose inputs are
    the outputs of ``heads`` heads side by side.
    """

    network: torch.nn.Module
    tokenize: Any
    heads: int
    read_outs: list
    padding: int = 0


def arguments(argv=None):
    """The parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder with SST-2's train.tsv and dev.tsv")
    parser.add_argument("--model", required=True, help="folder with a saved encoder, or its name with --download")
    parser.add_argument("--out", required=True, type=Path, help="the .npz file to write; it must not exist yet")
    parser.add_argument("--download", action="store_true", help="let transformers fetch a model that is no folder")
    parser.add_argument("--keep-heads", type=int, help="how many heads of every layer stay (default: all)")
    parser.add_argument("--steps", type=int, default=6300, help="updates; 6300 of 32 sentences are three passes")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=5e-6)
    parser.add_argument("--weight-decay", type=float, default=0.01)
    parser.add_argument("--length", type=int, default=128, help="tokens at which a sentence is cut")
    parser.add_argument("--limit", type=int, help="train on the first so many sentences only")
    parser.add_argument("--records", type=int, default=20, help="evaluations on the dev set, both ends included")
    parser.add_argument("--checkpoint", type=int, default=500, help="steps between two checkpoints")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu", help="cpu, cuda, …")
    args = parser.parse_args(argv)
    args.out, args.model = args.out.expanduser(), os.path.expanduser(args.model)  # a name has no ~
    refuse(parser, args)
    return args


def refuse(parser, args):
    """End with a message if the arguments do not fit."""
    for name in ("steps", "batch", "length", "limit", "checkpoint", "keep_heads"):
        value = getattr(args, name)
        if value is not None and value < 1:
            parser.error(f"--{name.replace('_', '-')}: expected a whole number ≥ 1, got {value}")
    if not 0 < args.lr < np.inf or not 0 <= args.weight_decay < np.inf or args.records < 2 or args.seed < 0:
        parser.error("expected --lr > 0, --weight-decay ≥ 0, --records ≥ 2 and --seed ≥ 0")
    if args.out.suffix != ".npz" or args.out.exists():
        parser.error(f"--out: expected a new file that ends in .npz, got {args.out}"
                     + (", which exists" if args.out.exists() else ""))
    if not Path(args.model).is_dir() and not args.download:
        parser.error(f"--model: {args.model} is no folder on this machine; name a folder that holds a saved model and "
                     "its tokenizer, or add --download to let transformers fetch the model of that name")
    try:
        require_device(args.device)
    except ValueError as error:
        parser.error(f"--{error}")


def load_pretrained(args):
    """The ``Encoder`` of a model saved by transformers, with a new reading of one logit on top."""
    try:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
    except ModuleNotFoundError as error:
        raise SystemExit(f"fine-tuning a pretrained encoder needs the package {error.name.split('.')[0]}: "
                         "pip install transformers") from error
    local = {"local_files_only": not args.download or Path(args.model).is_dir()}
    torch.manual_seed(args.seed)  # the new reading starts at random
    tokenizer = AutoTokenizer.from_pretrained(args.model, **local)
    model = AutoModelForSequenceClassification.from_pretrained(args.model, num_labels=1,
                                                               ignore_mismatched_sizes=True, **local)
    read_outs = [module for name, module in model.named_modules() if name.endswith(READ_OUT)]

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, tokens, mask):
            return self.model(input_ids=tokens, attention_mask=mask.long()).logits[:, 0]

    return Encoder(Network(), lambda texts: tokenizer(texts, truncation=True, max_length=args.length)["input_ids"],
                   model.config.num_attention_heads, read_outs, tokenizer.pad_token_id)


def silence(encoder, keep, seed):
    """Keep ``keep`` heads of every layer, drawn at random, and put zeros where the others report."""
    if not encoder.read_outs:
        raise SystemExit("--keep-heads: found no place where heads meet; the recipe knows the layers of BERT, RoBERTa "
                         "and DistilBERT")
    if keep > encoder.heads:
        raise SystemExit(f"--keep-heads: expected at most the {encoder.heads} heads of a layer, got {keep}")
    for k, read_out in enumerate(encoder.read_outs):
        kept = np.random.default_rng([seed, 8, k]).choice(encoder.heads, keep, replace=False)
        mask = np.repeat(np.isin(np.arange(encoder.heads), kept), read_out.in_features // encoder.heads)
        weights = torch.as_tensor(mask, dtype=read_out.weight.dtype, device=read_out.weight.device)
        read_out.register_forward_pre_hook(lambda _, inputs, weights=weights: (inputs[0] * weights, *inputs[1:]))


def batch_of(encoder, rows, device):
    """Lists of numbers as padded tokens and their mask, where the network is."""
    tokens = torch.full((len(rows), max(map(len, rows))), encoder.padding)
    mask = torch.zeros(tokens.shape, dtype=torch.bool)
    for k, row in enumerate(rows):
        tokens[k, :len(row)], mask[k, :len(row)] = torch.as_tensor(row), True
    return tokens.to(device), mask.to(device)


@torch.no_grad()
def evaluate(encoder, rows, y, device, batch=64):
    """Mean logistic loss and accuracy on all rows."""
    encoder.network.eval()
    blocks = [encoder.network(*batch_of(encoder, rows[k:k + batch], device)).cpu() for k in range(0, len(rows), batch)]
    encoder.network.train()
    z = torch.as_tensor(y) * torch.cat(blocks).double()
    return {"dev_loss": functional.softplus(-z).mean().item(), "dev_accuracy": (z > 0).double().mean().item()}


class Run:
    """A fine-tuning run that can be interrupted: network, optimizer, step, recorded rows."""

    def __init__(self, args, encoder, train, dev):
        self.args, self.encoder, self.path = args, encoder, args.out.with_suffix(".checkpoint.pt")
        self.rows, self.y = encoder.tokenize(list(train.sentences)), train.y
        self.dev_rows, self.dev_y = encoder.tokenize(list(dev.sentences)), dev.y
        self.optimizer = torch.optim.AdamW(encoder.network.parameters(), lr=args.lr, weight_decay=args.weight_decay)
        self.step, self.recorded, self.since = 0, [], []
        self.config = {name: value for name, value in vars(args).items()
                       if name not in ("data", "out", "download", "checkpoint", "device")}

    def resume(self):
        """Take up the checkpoint that an earlier run of the same configuration has left, if there is one."""
        if not self.path.exists():
            return
        saved = torch.load(self.path, map_location="cpu", weights_only=True)
        changed = {name for name in self.config if saved["config"].get(name) != self.config[name]}
        if changed:
            raise SystemExit(f"{self.path} belongs to a run with other arguments ({', '.join(sorted(changed))}); "
                             "remove it, or choose another --out")
        self.encoder.network.load_state_dict(saved["network"])
        self.optimizer.load_state_dict(saved["optimizer"])
        self.step, self.recorded, self.since = saved["step"], saved["recorded"], saved["since"]
        torch.set_rng_state(saved["random"])
        if self.args.device.startswith("cuda"):
            torch.cuda.set_rng_state(saved["random_cuda"], self.args.device)

    def save(self):
        """Write the checkpoint; a run killed meanwhile finds the one before."""
        cuda = self.args.device.startswith("cuda")
        state = {"config": self.config, "step": self.step, "recorded": self.recorded, "since": self.since,
                 "network": self.encoder.network.state_dict(), "optimizer": self.optimizer.state_dict(),
                 "random": torch.get_rng_state(),
                 "random_cuda": torch.cuda.get_rng_state(self.args.device) if cuda else None}
        unfinished = self.path.with_suffix(".unfinished")
        torch.save(state, unfinished)
        os.replace(unfinished, self.path)

    def train(self):
        """All remaining steps."""
        args, network = self.args, self.encoder.network
        records = set(np.rint(np.linspace(0, args.steps, args.records)).astype(int).tolist())
        network.train()
        for rows in islice(minibatches(len(self.rows), args.batch, args.seed), self.step, args.steps + 1):
            if self.step in records:
                self.record()
            if self.step == args.steps:
                break
            tokens, mask = batch_of(self.encoder, [self.rows[i] for i in rows], args.device)
            y = torch.as_tensor(self.y[rows], dtype=torch.float32, device=args.device)
            loss = functional.softplus(-y * network(tokens, mask)).mean()
            if not torch.isfinite(loss):
                raise SystemExit(f"the loss of step {self.step} is not finite: try a smaller --lr")
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.step += 1
            self.since.append(loss.item())
            if self.step % args.checkpoint == 0:
                self.save()

    def record(self):
        """Evaluate, print a line, keep the row."""
        row = {"steps": self.step, "loss": float(np.mean(self.since)) if self.since else float("nan")}
        row |= evaluate(self.encoder, self.dev_rows, self.dev_y, self.args.device)
        self.since = []
        self.recorded.append(row)
        print("step {steps}: loss {loss:.4f}, dev loss {dev_loss:.4f}, dev accuracy {dev_accuracy:.4f}".format(**row),
              flush=True)

    def write(self):
        """The results with configuration and versions; the checkpoint has done its work."""
        columns = {name: np.array([row[name] for row in self.recorded]) for name in self.recorded[0]}
        versions = {"python": sys.version.split()[0], "mhalib": mha.__version__, "torch": torch.__version__,
                    "numpy": np.__version__}
        if "transformers" in sys.modules:
            versions["transformers"] = version("transformers")
        np.savez(self.args.out, config=json.dumps(self.config), versions=json.dumps(versions), **columns)
        self.path.unlink(missing_ok=True)


def main(argv=None, load=load_pretrained):
    """Run the recipe; ``load`` makes the ``Encoder`` from the arguments."""
    args = arguments(argv)
    try:
        run = prepared(args, load)
    except (OSError, ValueError, ImportError) as error:
        raise SystemExit(f"{type(error).__name__}: {error}") from error
    run.train()
    run.write()


def prepared(args, load):
    """The run before its next step: data, encoder, and the checkpoint, if there is one."""
    args.out.parent.mkdir(parents=True, exist_ok=True)
    train, dev = (mha.data.sst2(args.data, split) for split in ("train", "dev"))
    encoder = load(args)
    if args.keep_heads is not None:
        silence(encoder, args.keep_heads, args.seed)
    encoder.network.to(args.device)
    if args.limit is not None:
        train = mha.data.from_sentences(train.sentences[:args.limit], train.y[:args.limit])
    torch.manual_seed(args.seed)
    run = Run(args, encoder, train, dev)
    run.resume()
    return run


if __name__ == "__main__":
    main()
