"""A small torch Transformer over words or patches, for labels −1 and +1, into which any attention
kernel can be put.

A network of several layers is where autograd earns its keep, and torch's optimizers, devices and
modules come with it: this file and the steps of ``train_network`` are torch's. The models of mhalib
differentiate by formula.
"""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from livegrad.arrays import require_count, require_seed
from mhalib.attention import softmax

WEIGHTS = {"WQ": "Q", "WK": "K", "WV": "V", "WO": "out"}
"""Names of weights in ``AttentionLayer``, and which part of a ``MultiHead`` each is."""


class Kernel(Protocol):
    """What a network asks of its attention: scores of queries and keys, and weights of scores."""

    def scores(self, Q: Any, K: Any, /) -> Any:
        """Scores S (…, q, k)."""

    def __call__(self, S: Any, /) -> Any:
        """Weights (…, q, k)."""


class MultiHead(nn.Module):
    """Self-attention with H heads of width d/H: Q, K, V from each token, one kernel, one output
    map.

    ``kernel`` gives scores from queries and keys and weights from scores, as ``mha.softmax`` and
    ``mha.gaussian`` do. A padded key has the score −∞; a kernel must turn that into the weight 0.
    ``scale`` multiplies all weights.
    """

    def __init__(self, d: int, H: int, kernel: Kernel, scale: float = 1.0) -> None:
        super().__init__()
        self.H: int = H
        self.kernel: Kernel = kernel
        self.scale: float = scale
        self.Q: nn.Linear = nn.Linear(d, d)
        self.K: nn.Linear = nn.Linear(d, d)
        self.V: nn.Linear = nn.Linear(d, d)
        self.out: nn.Linear = nn.Linear(d, d)

    def weights(self, Q: torch.Tensor, K: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Attention weights (n, H, L, L) of queries and keys (n, H, L, d/H), and no weight on
        padding."""
        S = self.kernel.scores(Q, K)
        return self.scale * self.kernel(S.masked_fill(~mask[:, None, None, :], -torch.inf))

    def split(self, X: torch.Tensor) -> Iterator[torch.Tensor]:
        """Queries, keys and values (n, H, L, d/H) of tokens X (n, L, d)."""
        (n, L, d), maps = X.shape, (self.Q, self.K, self.V)
        weight, bias = (
            torch.cat([getattr(part, name) for part in maps]) for name in ("weight", "bias")
        )
        QKV = functional.linear(X, weight, bias)  # one product in place of three
        return (
            part.reshape(n, L, self.H, d // self.H).transpose(1, 2) for part in QKV.chunk(3, dim=-1)
        )

    def forward(self, X: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """What each token reads (n, L, d)."""
        Q, K, V = self.split(X)
        return self.out((self.weights(Q, K, mask) @ V).transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """One pre-norm layer: X ← X + attention(norm X), then X ← X + network(norm X), token by
    token."""

    def __init__(self, d: int, H: int, hidden: int, kernel: Kernel, scale: float = 1.0) -> None:
        super().__init__()
        self.norm_1: nn.LayerNorm = nn.LayerNorm(d)
        self.norm_2: nn.LayerNorm = nn.LayerNorm(d)
        self.attention: MultiHead = MultiHead(d, H, kernel, scale)
        self.network: nn.Sequential = nn.Sequential(
            nn.Linear(d, hidden), nn.GELU(), nn.Linear(hidden, d)
        )

    def forward(self, X: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Tokens (n, L, d) to tokens."""
        X = X + self.attention(self.norm_1(X), mask)
        return X + self.network(self.norm_2(X))


class Transformer(nn.Module):
    """What ``TextTransformer`` and ``PatchTransformer`` share: all but how a token becomes a
    vector.

    A subclass makes that part in ``_read_in`` and applies it in ``_embed``; ``field`` names the
    array of a dataset that it reads.
    """

    field: str
    unit: str
    advice: str

    def __init__(
        self,
        sizes: dict[str, int],
        length: int,
        *,
        d: int = 32,
        H: int = 4,
        layers: int = 1,
        hidden: int = 64,
        kernel: Kernel = softmax,
        scale: float = 1.0,
        gain: float = 1.0,
        embedding: float = 1.0,
        seed: int = 0,
    ) -> None:
        super().__init__()
        require_count(**sizes, length=length, d=d, H=H, layers=layers, hidden=hidden)
        require_seed(seed)
        if d % H:
            raise ValueError(
                f"H: expected a number of heads that divides the width d = {d}, got {H}"
            )
        for name, factor in {"scale": scale, "gain": gain, "embedding": embedding}.items():
            if not 0 < factor < np.inf:
                raise ValueError(f"{name}: expected a positive number, got {factor!r}")
        self.length = length
        # modules draw when they are made; what they drew is replaced below
        with torch.random.fork_rng(devices=[]):
            self._read_in(d, **sizes)
            self.positions: nn.Embedding = nn.Embedding(length, d)
            self.layers: nn.ModuleList = nn.ModuleList(
                Layer(d, H, hidden, kernel, scale) for _ in range(layers)
            )
            self.norm: nn.LayerNorm = nn.LayerNorm(d)
            self.read: nn.Linear = nn.Linear(d, 1)
        self._start(torch.Generator().manual_seed(int(seed)), gain, embedding)

    @torch.no_grad()
    def _start(self, generator, gain, embedding):
        # With gain 1 linear maps keep the size of what they get; biases and norms start neutral.
        for module in self.modules():
            if isinstance(module, nn.Linear):
                module.weight.normal_(0, gain * module.in_features**-0.5, generator=generator)
                module.bias.zero_()
            elif isinstance(module, nn.Embedding):
                module.weight.normal_(0, embedding, generator=generator)

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return self.read.weight.device

    def parts(self) -> dict[str, list[str]]:
        """Parameters by the names that ``AttentionLayer`` has for weights: {"WQ":
        ["layers.0.attention.Q.weight", …]}.

        Each name stands for that map in every layer, with its bias.
        """
        names = [name for name, _ in self.named_parameters()]
        return {
            weight: [name for name in names if f".attention.{part}." in name]
            for weight, part in WEIGHTS.items()
        }

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Logits (n,) of inputs (n, L) or (n, L, width)."""
        X, mask = self._embed(tokens)
        for layer in self.layers:
            X = layer(X, mask)
        # The mean is over the words: a longer padding must not change a logit.
        total = self.norm(X).masked_fill(~mask[..., None], 0).sum(dim=1)
        return self.read(total / mask.sum(dim=1, keepdim=True))[:, 0]

    @torch.no_grad()
    def attention(self, tokens: np.ndarray) -> list[np.ndarray]:
        """Attention weights of every layer, a list of arrays (n, H, L, L), queries before keys."""
        X, mask = self._embed(self.batch(tokens))
        found = []
        for layer in self.layers:
            Q, K, _ = layer.attention.split(layer.norm_1(X))
            found.append(layer.attention.weights(Q, K, mask).cpu().numpy())
            X = layer(X, mask)
        return found

    def _positions(self, tokens):
        if tokens.shape[1] > self.length:
            raise ValueError(
                f"tokens: expected at most {self.length} {self.unit}, got "
                f"{tokens.shape[1]}{self.advice}"
            )
        return self.positions.weight[: tokens.shape[1]]

    def batch(self, *arrays: np.ndarray) -> Any:
        """Arrays as tensors where the model is, numbers in the model's precision; one array gives
        one tensor."""
        kinds = [
            torch.int64 if np.issubdtype(a.dtype, np.integer) else self.read.weight.dtype
            for a in arrays
        ]
        tensors = [
            torch.as_tensor(a, dtype=kind, device=self.device)
            for a, kind in zip(arrays, kinds, strict=True)
        ]
        return tensors if len(tensors) > 1 else tensors[0]

    def loss(self, tokens: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Mean logistic loss of labels y (n,) in {−1, +1}, a tensor to differentiate."""
        # softplus is log(1 + e^{−z}) without overflow at a large negative margin.
        return functional.softplus(-y * self(tokens)).mean()

    @torch.no_grad()
    def logits(self, tokens: np.ndarray, rows: int = 512) -> np.ndarray:
        """Logits (n,) as an array, a block of ``rows`` inputs at a time."""
        blocks = [self(self.batch(tokens[k : k + rows])).cpu() for k in range(0, len(tokens), rows)]
        return torch.cat(blocks).double().numpy()


class TextTransformer(Transformer):
    """Words to a logit: embeddings, pre-norm attention layers, the mean over the words, one linear
    reading.

    H heads share a *fixed* width: each has d/H coordinates, so the number of parameters does not
    depend on H.

    Raises ValueError if a size is no whole number ≥ 1, H does not divide d, or a factor is not
    positive; and where it reads, if a sentence has no word, too many, or one whose number is not
    below ``words``.

    Parameters
    ----------
    words : size of the vocabulary; number 0 is padding
    length : the most tokens a sentence may have
    d, H : width of a token, number of heads; H divides d
    layers, hidden : number of layers, width of their networks
    kernel : from queries and keys to weights: ``mha.softmax``, ``mha.gaussian``, or one of your own
        like them
    scale : factor on all attention weights, so on what every attention layer reads
    gain : factor on all linear maps at the start, whose entries are N(0, gain² / number of inputs);
        torch's own start has that variance at 1/√3
    embedding : standard deviation of the entries of the vectors of words and positions at the start
    seed : fixes the start; torch's global random state is not touched

    Source: Vaswani et al. 2017, with the normalization before each part.
    """

    field: str = "tokens"
    unit: str = "a sentence"
    advice: str = "; encode with length="

    def __init__(self, words: int, length: int, **options: Any) -> None:
        super().__init__({"words": words}, length, **options)

    def _read_in(self, d, words):
        self.words: nn.Embedding = nn.Embedding(words, d)

    def _embed(self, tokens):
        positions, mask, words = self._positions(tokens), tokens > 0, self.words.num_embeddings
        known = (tokens >= 0) & (tokens < words)
        # one question, since a device answers it late
        if not (known.all() & mask.any(dim=1).all()):
            if not known.all():
                raise ValueError(
                    f"tokens: expected word numbers below {words} and none below 0, "
                    f"got {int(tokens[~known][0])}"
                )
            raise ValueError("tokens: expected a word in every sentence, got one of padding alone")
        return self.words(tokens) + positions, mask


class PatchTransformer(Transformer):
    """Patches of an image to a logit: ``TextTransformer`` with a linear map in place of the
    embedding of words.

    Raises ValueError as ``TextTransformer``.

    Parameters
    ----------
    width : numbers in a patch, patch² pixels
    length : the most patches an image may have
    options : those of ``TextTransformer``; ``embedding`` is for positions alone
    """

    field: str = "X"
    unit: str = "patches an image"
    advice: str = ""

    def __init__(self, width: int, length: int, **options: Any) -> None:
        super().__init__({"width": width}, length, **options)

    def _read_in(self, d, width):
        self.patches: nn.Linear = nn.Linear(width, d)

    def _embed(self, tokens):
        mask = torch.ones(tokens.shape[:2], dtype=torch.bool, device=tokens.device)
        return self.patches(tokens) + self._positions(tokens), mask
