"""Pathfinder: the geometry of what is drawn, and the streams it is drawn from."""

import math
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import mhalib as mha
from checks import assert_refused
from mhalib.data.pathfinder import KINDS, Pathfinder, PathfinderTruth, patches

module = import_module("mhalib.data.pathfinder")  # mha.data.pathfinder is the function


class Recording(module._Canvas):
    """A canvas that remembers what was painted."""

    last, number = None, 0

    def __init__(self, settings):
        super().__init__(settings)
        self.painted, Recording.last, Recording.number = [], self, Recording.number + 1

    def paint(self, start, end, thickness, value):
        super().paint(start, end, thickness, value)
        self.painted.append((np.array(start), np.array(end), thickness, value))


def drawing(kind, connected, seed):
    """One image, its long paths as lists of dashes, its other paths, its circles, and all that was
    painted."""
    settings = KINDS[kind]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_Canvas", Recording)
        image = settings.image(connected, np.random.default_rng(seed))
    painted = Recording.last.painted
    dashes = [
        (a, b)
        for a, b, thickness, value in painted
        if (thickness, value) == (settings.thickness, 0.75)
    ]
    circles = [
        a
        for a, b, thickness, value in painted
        if (thickness, value) == (3.0, 1.0) and (a == b).all()
    ]
    assert len(dashes) + len(circles) == len(painted)
    n, few = settings.dashes, settings.distractor
    long, rest = [dashes[:n], dashes[n : 2 * n]], dashes[2 * n :]
    others = [rest[k : k + few] for k in range(0, len(rest), few)] if few else []
    return image, long, others, circles, painted


DRAWINGS = [
    ("micro", False, 1),
    ("micro", True, 2),
    ("micro", True, 3),
    ("easy", True, 0),
    ("medium", False, 0),
    ("hard", True, 0),
]
SHAPES = {
    "micro": (2, 2.4, 5.0, 12, 0),
    "easy": (6, 2.0, 7.0, 32, 10),
    "medium": (9, 2.0, 7.0, 32, 6),
    "hard": (14, 2.0, 7.0, 32, 5),
}


@pytest.fixture(scope="module", params=DRAWINGS, ids=lambda row: f"{row[0]}, {row[1]}, {row[2]}")
def drawn(request):
    return request.param, drawing(*request.param)


def distance(point, start, end):
    along = end - start
    share = min(max((point - start) @ along / (along @ along), 0), 1) if (along @ along) else 0
    return math.dist(point, start + share * along)


def test_paths_are_dashes_in_a_row(drawn):
    (kind, _, _), (_, long, others, _, _) = drawn
    dashes, length, apart, _, number = SHAPES[kind]
    assert [len(path) for path in long] == [dashes] * 2
    assert len(others) == number
    for path in [*long, *others]:
        headings = [(b - a) / length for a, b in path]
        for (a, b), (after, _), heading, following in zip(
            path, path[1:], headings, headings[1:], strict=False
        ):
            assert math.dist(a, b) == pytest.approx(length, rel=1e-9)
            pivot = b + 1.0 * heading
            assert after == pytest.approx(pivot + 1.0 * following, rel=1e-9)
            assert heading @ following > math.cos(math.pi / 2) + 1e-9
    assert math.dist(long[0][0][0], long[1][0][0]) == pytest.approx(apart, rel=1e-9)


def test_circles_mark_one_path_exactly_if_the_label_says_so(drawn):
    (_, connected, _), (_, (first, second), _, circles, _) = drawn
    expected = [first[0][0], (first if connected else second)[-1][1]]
    assert np.array(circles).tolist() == np.array(expected).tolist()


def test_nothing_touches_another_path_or_the_edge(drawn):
    (kind, _, _), (_, long, others, _, _) = drawn
    size, paths = SHAPES[kind][3], [*long, *others]
    points = {
        k: [a + share * (b - a) for a, b in path for share in (0, 1 / 3, 2 / 3, 1)]
        for k, path in enumerate(paths)
    }
    assert all((p > 1).all() and (p < size - 1).all() for path in points.values() for p in path)
    for k, path in enumerate(paths):
        for later in range(k + 1, len(paths)):
            nearest = min(distance(p, a, b) for p in points[later] for a, b in path)
            assert nearest >= 1.5


def test_pixels_are_means_of_the_darkest_ink(drawn):
    (kind, _, _), (image, _, _, _, painted) = drawn
    size = SHAPES[kind][3]
    assert image.shape == (size, size)
    assert image.min() >= 0 and image.max() <= 1
    rng = np.random.default_rng(0)
    brightest = np.argwhere(image > 0)
    for row, column in [
        *brightest[rng.permutation(len(brightest))[:15]],
        *rng.integers(0, size, (5, 2)),
    ]:
        fine = []
        for at in ((row + i / 2 + 0.25, column + j / 2 + 0.25) for i in (0, 1) for j in (0, 1)):
            point = np.array(at[::-1])  # x runs along a row
            reaches = [
                value * min(max(2 * (thick / 2 - distance(point, a, b)) + 0.5, 0), 1)
                for a, b, thick, value in painted
            ]
            fine.append(max(reaches))
        assert image[row, column] == pytest.approx(np.mean(fine), abs=1e-12)


def test_only_circles_are_brighter_than_the_contrast(drawn):
    (kind, _, _), (image, _, _, circles, _) = drawn
    for row, column in np.argwhere(image > 0.75):
        assert min(math.dist((column + 0.5, row + 0.5), circle) for circle in circles) < 1.5 + 1
    assert (image > 0.9).sum() >= 2 * 4  # discs of radius 1.5
    assert image[[0, -1]].max() <= 0.75 or kind == "micro"


# --- streams
# -------------------------------------------------------------------------------------------------


class Blank(Pathfinder):
    """Images that cost nothing."""

    def image(self, connected, rng):
        return np.full((self.size, self.size), float(connected))


def test_labels_are_uniform():
    data = mha.data.pathfinder(10_000, Blank(size=1), patch=1)
    # four standard deviations: one false alarm in 16,000
    assert abs((data.y > 0).sum() - 5000) < 4 * 50
    assert (data.X[:, 0, 0] == (data.y > 0)).all()


def test_image_i_is_the_same_for_every_n():
    many, few = (mha.data.pathfinder(n, seed=4) for n in (7, 3))
    assert (many.X[:3] == few.X).all() and (many.y[:3] == few.y).all()
    part = many.truth.draw(2, (4, 9), first=5)
    assert (many.X[5:] == part.X).all() and (part.y == many.y[5:]).all()


def test_images_are_seeded_and_fresh_ones_are_new():
    data, again, other = (mha.data.pathfinder(4, seed=seed) for seed in (0, 0, 1))
    assert (data.X == again.X).all()
    drawn = [data, other, data.fresh(4), data.fresh(4, seed=2), other.fresh(4)]
    images = {image.tobytes() for part in drawn for image in part.X}
    assert len(images) == 20
    assert (data.fresh(4).X[:2] == data.fresh(2).X).all()
    assert isinstance(data.truth, PathfinderTruth)


@pytest.mark.parametrize("patch", [1, 2, 4, 12])
def test_patches_tile_the_image(patch):
    image = np.arange(144.0).reshape(12, 12)
    tokens, k = patches(image, patch), 12 // patch
    assert tokens.shape == (k * k, patch * patch)
    for token, row in enumerate(tokens):
        top, left = patch * (token // k), patch * (token % k)
        assert row.tolist() == image[top : top + patch, left : left + patch].ravel().tolist()


def test_patches_are_those_of_the_image():
    whole, tokens = (mha.data.pathfinder(2, patch=patch) for patch in (12, 3))
    assert (np.stack([patches(image.reshape(12, 12), 3) for image in whole.X]) == tokens.X).all()
    assert tokens.X.shape == (2, 16, 9)
    assert repr(tokens).startswith("Dataset(n=2, T=16, d=9")


def test_an_image_that_finds_no_room_is_begun_again(monkeypatch):
    monkeypatch.setattr(module, "_Canvas", Recording)
    monkeypatch.setattr(Recording, "number", 0)
    crowded = replace(KINDS["micro"], distractor=1, distractors=4)
    image = crowded.image(True, np.random.default_rng(0))
    assert Recording.number > 1
    assert sum(value == 0.75 for *_, value in Recording.last.painted) == 2 * 2 + 4
    assert (image > 0.9).any()


def test_paths_that_find_no_room_are_refused(monkeypatch):
    monkeypatch.setattr(module, "DRAWINGS", 3)
    assert_refused(
        lambda: mha.data.pathfinder(1, replace(KINDS["micro"], dashes=9)),
        ValueError,
        ["kind: expected settings whose paths find room", "dashes=9", "3 drawings failed"],
    )


BAD = {
    "another kind": (
        lambda: mha.data.pathfinder(1, "simple"),
        ["kind: expected one of", "'micro'", "got 'simple'"],
    ),
    "no kind": (
        lambda: mha.data.pathfinder(1, 3),
        ["kind: expected one of", "or a Pathfinder", "got 3"],
    ),
    "no image": (lambda: mha.data.pathfinder(0), ["n: expected a whole number ≥ 1"]),
    "no patch": (lambda: mha.data.pathfinder(1, patch=0), ["patch: expected a whole number ≥ 1"]),
    "patches that do not tile": (
        lambda: mha.data.pathfinder(1, patch=5),
        ["a divisor of the 12 pixels", "got 5"],
    ),
    "no seed": (lambda: mha.data.pathfinder(1, seed=-1), ["seed: expected"]),
    "no fresh image": (lambda: mha.data.pathfinder(1).fresh(0), ["n: expected"]),
}


@pytest.mark.parametrize(("call", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_named(call, words):
    assert_refused(call, ValueError, words)
