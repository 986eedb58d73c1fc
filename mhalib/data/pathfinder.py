"""Pathfinder: two dashed paths among distractors; do the two circles mark the ends of one path?

The generator follows the description of the Long Range Arena's Pathfinder task; none of its code is
used.
"""

from dataclasses import dataclass, replace

import numpy as np

from livegrad.arrays import (
    LARGE,
    is_number,
    is_whole,
    require_count,
    require_number,
    require_seed,
    shown,
)
from mhalib.data.dataset import Dataset

TURNS = np.linspace(-np.pi, np.pi, 72, endpoint=False)
TRIES = 40
"""How often a path is begun anew before its image is."""
DRAWINGS = 500
"""How often an image is begun anew before its settings are held to be impossible; a hard one needs
a few."""


@dataclass(frozen=True)
class Pathfinder:
    """The settings of the generator, lengths in pixels.

    A path has ``dashes`` dashes of ``length``, each ``margin`` + ``margin`` behind the last, turned
    by δ with chance ∝ cos²(min(continuity |δ|, π/2)). Nothing comes nearer than ``margin`` to what
    is drawn, or than ``padding`` to the edge. Circles of ``radius`` mark two ends; the second path
    begins ``apart`` from the first. ``distractors`` paths of ``distractor`` dashes have no circle.
    ``size`` pixels a side, each the mean of ``antialias`` by ``antialias`` samples.

    Raises ValueError if a number is outside of its range.
    """

    size: int = 32
    dashes: int = 14
    length: float = 2.0
    thickness: float = 0.5
    margin: float = 1.0
    radius: float = 1.5
    apart: float = 7.0
    continuity: float = 1.0
    distractor: int = 4
    distractors: int = 5
    contrast: float = 0.75
    padding: float = 1.0
    antialias: int = 2

    def __post_init__(self) -> None:
        require_count(size=self.size, dashes=self.dashes, antialias=self.antialias)
        for name in ("length", "thickness"):
            require_number(name, getattr(self, name), above=0, below=LARGE)
        for name in ("margin", "radius", "apart", "continuity", "padding"):
            require_number(name, getattr(self, name), least=0, below=LARGE)
        if not (is_whole(self.distractors) and self.distractors >= 0):
            raise ValueError(
                f"distractors: expected a whole number ≥ 0, got {shown(self.distractors)}"
            )
        least = 1 if self.distractors else 0
        if not (is_whole(self.distractor) and self.distractor >= least):
            raise ValueError(
                f"distractor: expected a whole number ≥ {least}, got {shown(self.distractor)}"
            )
        if not (is_number(self.contrast) and 0 <= self.contrast <= 1):
            raise ValueError(f"contrast: expected a number from 0 to 1, got {shown(self.contrast)}")

    def image(self, connected: bool, rng: np.random.Generator) -> np.ndarray:
        """One image (size, size) with values in [0, 1], whose circles mark one path or two.

        Raises ValueError if the paths find no room in many drawings.
        """
        for _ in range(DRAWINGS):
            drawing = self._drawing(rng)
            if drawing is not None:
                canvas, first, second = drawing
                # Both labels have the same kind of drawing; only the place of the second circle
                # tells them apart.
                ends = (first[0], (first if connected else second)[1])
                for end in ends:
                    canvas.paint(end, end, 2 * self.radius, 1.0)
                return canvas.pixels()
        raise ValueError(
            f"kind: expected settings whose paths find room, got {self}, of which {DRAWINGS} "
            "drawings failed; make the image larger, or the paths fewer or shorter"
        )

    def _drawing(self, rng):
        """The canvas with all paths, and (begin, end) of the two long ones; None if one did not
        find room."""
        canvas = _Canvas(self)
        first = self._path(canvas, rng, self.dashes)
        begin = None if first is None else self._beside(first[0], rng)
        second = None if begin is None else self._path(canvas, rng, self.dashes, begin)
        if second is None:
            return None
        others = (self._path(canvas, rng, self.distractor) for _ in range(self.distractors))
        return None if any(path is None for path in others) else (canvas, first, second)

    def _beside(self, place, rng):
        """A point ``apart`` from a place, inside the image; None if there is none among a few."""
        for angle in rng.uniform(0, 2 * np.pi, TRIES):
            there = place + self.apart * np.array([np.cos(angle), np.sin(angle)])
            if (there > self.padding).all() and (there < self.size - self.padding).all():
                return there
        return None

    def _path(self, canvas, rng, dashes, begin=None):
        """Draw a path, and return where it begins and ends; None if it found no room."""
        for _ in range(TRIES):
            at = rng.uniform(self.padding, self.size - self.padding, 2) if begin is None else begin
            segments = self._segments(canvas, rng, dashes, at)
            if segments is not None:
                for start, end in segments:
                    canvas.paint(start, end, self.thickness, self.contrast)
                # Only a whole path takes room: a try that failed leaves no trace.
                canvas.taken += segments
                return segments[0][0], segments[-1][1]
        return None

    def _segments(self, canvas, rng, dashes, at):
        """The dashes of one path from a point on, each by a turn for which there is room; None if
        there was none."""
        heading, segments = rng.uniform(-np.pi, np.pi), []
        for k in range(dashes):
            turns = TURNS if k else np.zeros(1)
            angles = heading + turns
            towards = np.stack([np.cos(angles), np.sin(angles)], axis=1)
            begin = at + (self.margin * towards if k else 0)
            end = begin + self.length * towards
            chance = np.cos(np.minimum(self.continuity * abs(turns), np.pi / 2)) ** 2
            chance = chance * canvas.free(begin, end, segments)
            # cos² at π/2 is about 4e-33 in doubles and not zero: were only such turns free, one
            # would be drawn.
            if not chance.sum() > 1e-9:
                return None
            j = rng.choice(len(turns), p=chance / chance.sum())
            segments.append((np.broadcast_to(begin, end.shape)[j], end[j]))
            heading, at = angles[j], end[j] + self.margin * towards[j]
        return segments


class _Canvas:
    """An image in the making, at ``antialias`` times its resolution, and where no further dash may
    go."""

    def __init__(self, settings: Pathfinder) -> None:
        self.settings, fine = settings, settings.size * settings.antialias
        # The middles of the fine samples, in pixels of the image.
        at = (np.arange(fine) + 0.5) / settings.antialias
        self.x, self.y = np.meshgrid(at, at)
        self.ink, self.taken = np.zeros((fine, fine)), []

    def paint(self, start: np.ndarray, end: np.ndarray, thickness: float, value: float) -> None:
        """A segment with round ends, or a disc where they are one point."""
        # In fine samples: over the width of one the ink fades from full to none at the edge.
        reach = (
            thickness / 2 - _distance(self.x, self.y, start, end)
        ) * self.settings.antialias + 0.5
        # The maximum and not the sum, so that strokes which overlap are no brighter than one.
        self.ink = np.maximum(self.ink, value * np.clip(reach, 0, 1))

    def free(
        self, begin: np.ndarray, end: np.ndarray, own: list[tuple[np.ndarray, np.ndarray]]
    ) -> np.ndarray:
        """Which dashes of a batch (k, 2) → (k, 2) are inside and keep their distance from
        everything drawn."""
        s, size = self.settings, self.settings.size
        along = np.linspace(0, 1, 4)[:, None, None]
        points = begin + along * (end - begin)
        inside = ((points > s.padding) & (points < size - s.padding)).all(axis=(0, 2))
        clear = [s.margin + s.thickness] * len(self.taken + own)
        if own:
            clear[-1] = s.margin  # a sharp turn brings a dash a little nearer to the one before it
        for (start, stop), least in zip(self.taken + own, clear, strict=True):
            inside &= (_distance(points[..., 0], points[..., 1], start, stop) >= least).all(axis=0)
        return inside

    def pixels(self) -> np.ndarray:
        """The image at its own resolution."""
        a, size = self.settings.antialias, self.settings.size
        return self.ink.reshape(size, a, size, a).mean(axis=(1, 3))


def _distance(x, y, start, end):
    """Distances of points (x, y) from a segment."""
    along = end - start
    square = float(along @ along)
    share = (
        0.0
        if square == 0
        else np.clip(((x - start[0]) * along[0] + (y - start[1]) * along[1]) / square, 0, 1)
    )
    return np.hypot(x - start[0] - share * along[0], y - start[1] - share * along[1])


HARD = Pathfinder()
KINDS = {
    "hard": HARD,
    "medium": replace(HARD, dashes=9, distractor=3, distractors=6),
    "easy": replace(HARD, dashes=6, distractor=2, distractors=10),
    "micro": Pathfinder(size=12, dashes=2, length=2.4, apart=5.0, distractor=0, distractors=0),
}


@dataclass(frozen=True, eq=False)
class PathfinderTruth:
    """Where Pathfinder images come from; draws ``fresh`` ones."""

    settings: Pathfinder
    patch: int
    seed: int

    def sample(self, n: int, seed: int) -> Dataset:
        """n new images; no two seeds share theirs."""
        require_seed(seed)
        return self.draw(n, (self.seed, 8, seed))

    def draw(self, n: int, seed: tuple[int, ...], first: int = 0) -> Dataset:
        """The ``Dataset`` of n images from the streams of ``seed``, a tuple: image ``first``, the
        one after it, …

        An image depends on its number and the seed alone.
        """
        require_count(n=n)
        y, X = np.empty(n), []
        for i in range(n):
            rng = np.random.default_rng([*seed, first + i])
            y[i] = 1.0 if rng.random() < 0.5 else -1.0
            X.append(patches(self.settings.image(y[i] > 0, rng), self.patch))
        return Dataset(np.stack(X), y, truth=self)


def patches(image: np.ndarray, patch: int) -> np.ndarray:
    """The tokens of an image (size, size): its patches, row by row, each a row of patch² pixels."""
    k = image.shape[0] // patch
    return image.reshape(k, patch, k, patch).swapaxes(1, 2).reshape(k * k, patch * patch)


def pathfinder(
    n: int = 100, kind: str | Pathfinder = "micro", patch: int = 4, seed: int = 0
) -> Dataset:
    """n Pathfinder images cut into patches, labeled +1 where the two circles mark the ends of one
    path, else −1.

    Raises ValueError if there is no such kind, or the patches do not tile the image.

    Returns a ``Dataset``: X (n, (size/patch)², patch²) with values in [0, 1], y (n,), and truth,
    which draws ``fresh`` images.

    Parameters
    ----------
    n : how many images
    kind : "micro" (12 × 12, two dashes a path, no distractors), "easy", "medium", "hard" (32 × 32,
        with 6, 9, 14 dashes a path, and distractors), or a ``Pathfinder`` of your own
    patch : pixels a side of a patch; 1 makes every pixel a token
    seed : fixes the images

    Source: the task of Long Range Arena (Tay et al. 2021); the generator is this book's.

    Examples
    --------
    >>> data = mha.data.pathfinder(n=4, kind="micro", patch=4, seed=0)
    >>> data.X.shape, data.y.shape
    ((4, 9, 16), (4,))
    """
    require_count(n=n, patch=patch)
    require_seed(seed)
    settings = KINDS.get(kind) if isinstance(kind, str) else kind
    if not isinstance(settings, Pathfinder):
        raise ValueError(f"kind: expected one of {tuple(KINDS)} or a Pathfinder, got {shown(kind)}")
    if settings.size % patch:
        raise ValueError(
            f"patch: expected a divisor of the {settings.size} pixels of a side, got {patch}"
        )
    return PathfinderTruth(settings, patch, seed).draw(n, (seed, 9))
