"""Text as bytes: every character a token or several, and no vocabulary to choose."""

import hashlib
from dataclasses import dataclass

import numpy as np

from mhalib._array import require_count, require_labels


@dataclass(frozen=True, eq=False, repr=False)
class ByteRows:
    """Texts as rows of tokens, byte + 1, padded with 0 when they are asked for; in memory they stand end to end.

    ``rows[chosen]``, for one number, a slice or an array of numbers, is as wide as the longest of the chosen texts.
    Numbers below 0 count from the end.

    Raises
    ------
    IndexError
        if there is no text of that number.
    """

    content: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, texts):
        """Rows of byte strings."""
        ends = np.cumsum([0, *map(len, texts)])
        return cls(np.frombuffer(b"".join(texts), dtype=np.uint8), ends)

    def __len__(self):
        return len(self.ends) - 1

    @property
    def lengths(self):
        """How many bytes each text has, (n,)."""
        return np.diff(self.ends)

    def content_of(self, k):
        """The bytes of text k."""
        if not -len(self) <= k < len(self):
            raise IndexError(f"text {k}: expected a number from {-len(self)} to {len(self) - 1}")
        k = range(len(self))[k]
        return self.content[self.ends[k]:self.ends[k + 1]]

    def __getitem__(self, chosen):
        if np.ndim(chosen) == 0 and not isinstance(chosen, slice):
            return self.content_of(chosen).astype(np.int64) + 1
        chosen = np.arange(len(self))[chosen]
        first, lengths = self.ends[chosen], self.lengths[chosen]
        at = np.arange(lengths.max(initial=0))
        inside = at < lengths[:, None]
        places = np.where(inside, first[:, None] + at, 0)
        return np.where(inside, self.content[places].astype(np.int64) + 1, 0)

    def fingerprint(self):
        """A checksum of everything."""
        return hashlib.sha256(self.ends.tobytes() + self.content.tobytes()).hexdigest()


@dataclass(frozen=True, eq=False, repr=False)
class ByteDataset:
    """Labeled texts as bytes: ``tokens[chosen]`` (k, L) of byte + 1, padded with 0, and y (n,) in {−1, +1}."""

    tokens: ByteRows
    y: np.ndarray

    words = 257
    """The number of different tokens, which are padding and all bytes."""

    def __len__(self):
        return len(self.tokens)

    def __repr__(self):
        return (f"ByteDataset(n={len(self)}, at most {self.lengths.max()} bytes, {int((self.y > 0).sum())} labeled +1, "
                f"{len(self.tokens.content) / 1e6:.3g} MB)")

    @property
    def lengths(self):
        """How many bytes each text has, (n,)."""
        return self.tokens.lengths

    def text(self, k):
        """Text k in characters; what a cut or a wrong encoding left of one becomes the sign for that.

        Raises
        ------
        IndexError
            if there is no text k; numbers below 0 count from the end.
        """
        return self.tokens.content_of(k).tobytes().decode(errors="replace")


def from_bytes(texts, y, length=4096):
    """A ``ByteDataset`` of byte strings, each cut off after ``length`` bytes, with labels y (n,) in {−1, +1}.

    Raises
    ------
    TypeError, ValueError
        if labels do not fit, or a text is empty.

    Examples
    --------
    >>> data = mha.data.from_bytes([b"good", b"bad"], [1, -1])
    >>> data.tokens[-1], data.text(-1)
    (array([ 99,  98, 101]), 'bad')
    """
    require_count(length=length)
    texts, y = [text[:length] for text in texts], np.asarray(y, dtype=float)
    if not texts or not all(texts):
        raise ValueError("texts: expected at least one, each with a byte, got "
                         + ("none" if not texts else f"an empty one at position {texts.index(b'')}"))
    require_labels(y, np.empty((len(texts), 1)))
    return ByteDataset(ByteRows.of(texts), y)
