"""Real input: scikit-learn's bundled 8 × 8 handwritten digits, each image a sequence of eight
rows."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from livegrad.arrays import is_whole, require_count, require_seed, shown
from mhalib.data.dataset import Dataset


@dataclass(frozen=True, eq=False)
class HeldOut:
    """The images that training does not see; ``sample`` draws from them without replacement."""

    X: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    classes: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many images are held out."""
        return len(self.y)

    def sample(self, n: int, seed: int) -> Dataset:
        """n different held-out images in an order fixed by ``seed``."""
        require_count(n=n)
        require_seed(seed)
        if n > len(self.y):
            raise ValueError(
                f"n: expected at most the {len(self.y)} held-out images of {self.classes}, got {n}"
            )
        chosen = np.random.default_rng([seed, 2]).permutation(len(self.y))[:n]
        return Dataset(self.X[chosen], self.y[chosen], truth=self)


def digits(classes: Sequence[int] = (3, 8), n: int = 200, seed: int = 0) -> Dataset:
    """n images of two handwritten digits as T = 8 row tokens of d = 8 pixels, scaled to [0, 1].

    Raises ImportError if scikit-learn is not installed; ValueError if the classes are not two
    different digits, or n leaves no image to hold out.

    Parameters
    ----------
    classes : two different digits; the first gets label −1, the second +1
    n : number of training images, drawn at random; the rest is held out, and ``fresh`` draws from
        it
    seed : fixes which images train

    Source: the UCI optical recognition of handwritten digits test set, as bundled with scikit-learn
    (1,797 images, about 180 a digit).

    Examples
    --------
    >>> data = mha.data.digits(classes=(3, 8), n=50, seed=0)
    >>> data.X.shape, float(data.X.min()), float(data.X.max())
    ((50, 8, 8), 0.0, 1.0)
    """
    are_digits = isinstance(classes, Sequence) and all(
        is_whole(digit) and 0 <= digit <= 9 for digit in classes
    )
    if not are_digits or not len(classes) == len(set(classes)) == 2:
        raise ValueError(
            f"classes: expected two different digits from 0 to 9, got {shown(classes)}"
        )
    require_count(n=n)
    require_seed(seed)
    images, target = bundled()
    keep = np.isin(target, classes)
    X, y = images[keep] / 16, np.where(target[keep] == classes[1], 1.0, -1.0)
    if n >= len(y):
        raise ValueError(
            f"n: expected fewer than the {len(y)} images of {tuple(classes)}, so that some are "
            f"held out, got {n}"
        )
    order = np.random.default_rng([seed, 1]).permutation(len(y))
    held_out = HeldOut(X[order[n:]], y[order[n:]], tuple(classes))
    return Dataset(X[order[:n]], y[order[:n]], truth=held_out)


def bundled() -> tuple[np.ndarray, np.ndarray]:
    """All images (1797, 8, 8) with pixels 0 … 16, and their digits (1797,)."""
    try:
        from sklearn.datasets import load_digits
    except ModuleNotFoundError as error:
        # A module that scikit-learn itself misses is a broken installation, which says so better.
        if error.name.split(".")[0] != "sklearn":
            raise
        raise ImportError(
            "mhalib.data.digits reads the images bundled with scikit-learn: "
            "pip install scikit-learn"
        ) from error
    bunch = load_digits()
    return bunch.images, bunch.target
