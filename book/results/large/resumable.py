"""What the two recipes share: a run that is measured now and then, and goes on where it was
killed."""

import os

import numpy as np
import torch


def train(args, settings, model, rule, measure, update):
    """The rows of ``measure()``, at every ``args.every`` steps and after the last; ``update(k)`` is
    step k.

    With each row, what the run needs to go on is saved beside ``args.out``. Raises SystemExit where
    that is of other ``settings``.
    """
    kept, first, rows = args.out.with_suffix(".checkpoint.pt"), 0, []
    if kept.exists():
        saved = torch.load(kept, map_location=args.device, weights_only=True)
        if saved["settings"] != settings:
            raise SystemExit(
                f"{kept} belongs to a run with other arguments; remove it, or choose another --out"
            )
        first, rows = saved["step"], saved["rows"]
        model.load_state_dict(saved["model"])
        rule.load_state_dict(saved["rule"])
    for k in range(first, args.steps + 1):
        if (k % args.every == 0 or k == args.steps) and (not rows or rows[-1]["step"] < k):
            rows.append({"step": k} | measure())
            print(rows[-1], flush=True)
            state = {
                "settings": settings,
                "step": k,
                "rows": rows,
                "model": model.state_dict(),
                "rule": rule.state_dict(),
            }
            torch.save(state, kept.with_suffix(".unfinished"))
            os.replace(kept.with_suffix(".unfinished"), kept)
        if k < args.steps:
            update(k)
    return rows


def minibatch(args, k, n):
    """The samples of step k, of n: drawn by the seed and the step alone, wherever the run was taken
    up."""
    return np.random.default_rng([args.seed, 7, k]).integers(n, size=args.batch)
