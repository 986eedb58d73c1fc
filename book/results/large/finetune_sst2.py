"""Fine-tune a pretrained encoder on SST-2, with all of its heads or with some: an optional recipe in plain torch.

    python book/results/large/finetune_sst2.py --data FOLDER --model FOLDER --out all.npz
    python book/results/large/finetune_sst2.py --data FOLDER --model FOLDER --keep-heads 3 --out three.npz

It is the question of Figure 6 of Deora et al. 2023: SST-2 with RoBERTa models, the number of heads varied, AdamW. Of
that figure we know its caption and no curve. The learning rate 5e-6 is inferred, and how the paper varied the heads we
do not know: here ``--model`` takes any encoder, and ``--keep-heads K`` keeps K heads of every layer, drawn by the seed,
and silences the others for good. We could not run the recipe on the real model and data: it was run from end to end
with a small stand-in for an encoder, on generated sentences.

Nothing is downloaded. ``--data`` is a local folder with SST-2's train.tsv and dev.tsv (mhabook.c08_digits.sst2 says
where they come from), ``--model`` one with a model and its tokenizer as the package transformers saves them.

A run is fixed by its arguments. Every ``--every`` steps it is measured on the dev set, and what it needs to go on is
saved beside ``--out``; the same command takes it up again and ends with the same numbers on a CPU.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import resumable  # beside this file
import torch
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

import mhalib as mha
from mhabook.c08_digits import sst2

READ_OUT = ("attention.output.dense", "attention.out_lin")
"""Where heads leave a layer, in the words of BERT and RoBERTa, and of DistilBERT."""


def arguments(argv=None):
    """The parsed command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", required=True, type=Path, help="folder with SST-2's train.tsv and dev.tsv"
    )
    parser.add_argument(
        "--model", required=True, type=Path, help="folder with a saved encoder and its tokenizer"
    )
    parser.add_argument(
        "--out", required=True, type=Path, help="the .npz file to write; it must not exist yet"
    )
    parser.add_argument(
        "--keep-heads", type=int, help="how many heads of every layer stay (default: all)"
    )
    parser.add_argument(
        "--steps", type=int, default=6300, help="updates; 6300 of 32 sentences are three passes"
    )
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=5e-6)
    parser.add_argument("--weight-decay", type=float, default=0.01)
    parser.add_argument("--length", type=int, default=128, help="tokens at which a sentence is cut")
    parser.add_argument(
        "--every", type=int, default=300, help="steps between two evaluations on the dev set"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu", help="cpu, cuda, …")
    args = parser.parse_args(argv)
    if args.out.suffix != ".npz" or args.out.exists():
        parser.error(f"--out: expected a new file that ends in .npz, got {args.out}")
    return args


def pretrained(args):
    """The tokenizer and the model, with a new reading of one logit on top."""
    try:
        from transformers import AutoModelForSequenceClassification, AutoTokenizer
    except ModuleNotFoundError as error:
        raise SystemExit(
            f"fine-tuning a pretrained encoder needs the package {error.name.split('.')[0]}: "
            "pip install transformers"
        ) from error
    torch.manual_seed(args.seed)  # the new reading starts at random
    model = AutoModelForSequenceClassification.from_pretrained(
        str(args.model), num_labels=1, ignore_mismatched_sizes=True, local_files_only=True
    )
    return AutoTokenizer.from_pretrained(str(args.model), local_files_only=True), model


def silence(model, keep, seed):
    """Keep ``keep`` heads of every layer, drawn at random, and put zeros where the others
    report."""
    heads = model.config.num_attention_heads
    read_outs = [module for name, module in model.named_modules() if name.endswith(READ_OUT)]
    if not read_outs or not 0 < keep <= heads:
        raise SystemExit(
            f"--keep-heads: expected a number from 1 to {heads}, and layers as in BERT, RoBERTa "
            f"and DistilBERT; got {keep} and {len(read_outs)} such layers"
        )
    for k, read_out in enumerate(read_outs):
        kept = np.random.default_rng([seed, 8, k]).choice(heads, keep, replace=False)
        mask = torch.as_tensor(
            np.repeat(np.isin(np.arange(heads), kept), read_out.in_features // heads)
        )
        read_out.register_forward_pre_hook(
            lambda _, inputs, mask=mask: (inputs[0] * mask.to(inputs[0]), *inputs[1:])
        )


def logits(model, rows, padding, device):
    """Logits of sentences, which are lists of numbers."""
    tokens = pad_sequence(
        [torch.as_tensor(row) for row in rows], batch_first=True, padding_value=padding
    )
    mask = pad_sequence([torch.ones(len(row), dtype=torch.long) for row in rows], batch_first=True)
    return model(input_ids=tokens.to(device), attention_mask=mask.to(device)).logits[:, 0]


@torch.no_grad()
def evaluate(model, rows, y, padding, device):
    """Mean logistic loss and accuracy on all rows."""
    model.eval()
    blocks = [
        logits(model, rows[k : k + 64], padding, device).cpu().double()
        for k in range(0, len(rows), 64)
    ]
    model.train()
    z = torch.as_tensor(y) * torch.cat(blocks)
    return {
        "dev_loss": functional.softplus(-z).mean().item(),
        "dev_accuracy": (z > 0).double().mean().item(),
    }


def encoded(args, tokenizer, split):
    """The sentences of a split as lists of numbers, and their labels."""
    data = sst2.load(args.data, split)
    return tokenizer(list(data.sentences), truncation=True, max_length=args.length)[
        "input_ids"
    ], data.y


def train(args, tokenizer, model):
    """The recorded rows."""
    (rows, y), dev = (encoded(args, tokenizer, split) for split in ("train", "dev"))
    rule = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)

    def update(k):
        # dropout draws the same, wherever the run was taken up
        torch.manual_seed(args.seed * 1_000_003 + k)
        chosen = resumable.minibatch(args, k, len(rows))
        step(model, rule, [rows[i] for i in chosen], y[chosen], tokenizer.pad_token_id, args.device)

    return resumable.train(
        args,
        settings(args),
        model,
        rule,
        lambda: evaluate(model, *dev, tokenizer.pad_token_id, args.device),
        update,
    )


def step(model, rule, rows, y, padding, device):
    """One update along the gradient of a minibatch."""
    rule.zero_grad()
    signs = torch.as_tensor(y, dtype=torch.float32, device=device)
    functional.softplus(-signs * logits(model, rows, padding, device)).mean().backward()
    rule.step()


def settings(args):
    """What the numbers depend on."""
    return {
        name: str(value)
        for name, value in vars(args).items()
        if name not in ("out", "data", "device")
    }


def main(argv=None):
    """Run the recipe."""
    args = arguments(argv)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    tokenizer, model = pretrained(args)
    if args.keep_heads is not None:
        silence(model, args.keep_heads, args.seed)
    recorded = train(args, tokenizer, model.to(args.device).train())
    versions = {"mhalib": mha.__version__, "torch": torch.__version__, "numpy": np.__version__}
    steps = np.array([row.pop("step") for row in recorded])
    np.savez(
        args.out,
        config=json.dumps(settings(args)),
        versions=json.dumps(versions),
        steps=steps,
        **{name: np.array([row[name] for row in recorded]) for name in recorded[0]},
    )


if __name__ == "__main__":
    main()
