"""Several multi-head classifiers on one batch, as one workspace: their heads are columns of the same products."""

import numpy as np

from mhalib._array import as_like, to_numpy
from mhalib.losses import logistic
from mhalib.models.multihead_workspace import Heads, MultiHeadWorkspace, equal_heads
from mhalib.models.workspace import Workspace


class MultiHeadFleet(MultiHeadWorkspace):
    """Losses (R,) and gradients of R ``MultiHeadAttention`` models, with any numbers of heads, on one batch.

    θ is one matrix as in ``MultiHeadWorkspace``, with the groups of equal heads of all models one after another. Each
    model has logits Φ_r = H_r^{−1/2} Σ v of its own heads, (R, n) together. Nothing passes from one model to another,
    not even a number that is not finite.
    """

    def __init__(self, models, X, y):
        Workspace.__init__(self, models[0], X, y)
        grouped = [equal_heads(model) for model in models]
        sizes = [len(first) for first, _ in grouped]
        self.models, self.firsts = models, [first for first, _ in grouped]
        self.starts = np.cumsum([0, *sizes])  # the groups of run r: from starts[r] to starts[r + 1]
        self.run_of = np.repeat(np.arange(len(models)), sizes)
        self.members = [start + np.array(member) for start, (_, member) in zip(self.starts[:-1], grouped, strict=True)]
        self.H = as_like(np.array([[model.sizes[0]] for model in models]), X)
        copies = np.concatenate([np.bincount(member) for _, member in grouped])
        self.copies = as_like(copies, X)
        self._arrange(copies)

    def _block(self, batch, first, copies):
        return _FleetHeads(batch, first, copies, self.groups, self.run_of[first:first + len(copies)], len(self.models))

    def pack(self, models):
        """θ of the models, a copy (d, G (d + T))."""
        own = [(model.W[first], model.U[first]) for model, first in zip(models, self.firsts, strict=True)]
        return self._columns(*(self.xp.concatenate(parts) for parts in zip(*own, strict=True)))

    def unpack(self, theta):
        """The models of θ, each with all of its heads."""
        return [self._with_heads(model, theta, member)
                for model, member in zip(self.models, self.members, strict=True)]

    def columns_of(self, runs):
        """The columns of θ that belong to the given runs, in the order of a fleet of these runs alone."""
        groups = np.flatnonzero(np.isin(self.run_of, runs))[:, None]
        return np.concatenate([(groups * self.d + np.arange(self.d)).ravel(),
                               self.groups * self.d + (groups * self.T + np.arange(self.T)).ravel()])

    def along_columns(self, values):
        """One value a run (R,), as one value a column of θ."""
        of_groups = np.asarray(values, dtype=float)[self.run_of]
        return as_like(np.concatenate([np.repeat(of_groups, self.d), np.repeat(of_groups, self.T)]), self.X)

    def summary(self, theta, relevant=None):
        """Loss, accuracy and attention score of every run, (R,) each, from one forward pass."""
        z = self.y * self.logits(theta)
        summary = {"loss": logistic(z).sum(axis=-1) / self.n, "accuracy": z > 0}
        if relevant is not None:
            weights = sum(block.weight_on(relevant) for block in self.blocks)
            summary["attention_score"] = weights / (self.n * self.T * self.H[:, 0])
        summary = {name: to_numpy(values) for name, values in summary.items()}
        return summary | {"accuracy": summary["accuracy"].mean(axis=-1)}

    def norms(self, theta, grad):
        """norm_W, norm_U and the norm of the gradient of every run, (R,) each, as ``MultiHeadAttention`` has them."""
        W, U = (to_numpy((part * part).sum(axis=(0, 2))) for part in self._parts(theta).values())
        dW, dU = (to_numpy((part * part).sum(axis=(0, 2))) for part in self._parts(grad).values())
        copies, H = to_numpy(self.copies), to_numpy(self.H)[:, 0]
        sums = {name: np.add.reduceat(copies * values, self.starts[:-1])
                for name, values in (("norm_W", W ** 0.5), ("norm_U", U ** 0.5), ("grad_norm", dW + dU))}
        return {"norm_W": sums["norm_W"] / H, "norm_U": sums["norm_U"] / H ** 0.5,
                "grad_norm": sums["grad_norm"] ** 0.5}


class _FleetHeads(Heads):
    """A block of heads of several runs: what is summed over heads, is summed for each run, (R, n)."""

    def __init__(self, batch, first, copies, all_heads, run_of, runs):
        super().__init__(batch, first, copies, all_heads)
        T, self.run_of, self.runs = batch.X.shape[1], run_of, runs
        self.columns = {run: slice(T * np.searchsorted(run_of, run), T * np.searchsorted(run_of, run, "right"))
                        for run in np.unique(run_of)}

    def summed(self, rows):
        """Σ_h,t of a value for each head and query (n, H T), for each run: (R, n)."""
        # One product with a matrix of zeros and copies would carry the NaN of a run to all others.
        sums = self.xp.zeros_like(self.xp.new_empty((self.runs, len(rows)), rows))
        for run, at in self.columns.items():
            sums[run] = rows[:, at] @ self.copies[at]
        return sums

    def for_heads(self, g):
        """g (R, n) of the run of each head, so that it multiplies what the head has."""
        return g[self.run_of].mT[:, :, None]
