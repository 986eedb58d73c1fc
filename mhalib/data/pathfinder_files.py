"""Pathfinder images of the Long Range Arena, read from its files in a local folder."""

from pathlib import Path

import numpy as np

from mhalib._array import require_count
from mhalib.data.dataset import Dataset
from mhalib.data.pathfinder import patches

FOLDERS = {"easy": "curv_baseline", "medium": "curv_contour_length_9", "hard": "curv_contour_length_14"}
INSTRUCTIONS = """\
The images come with the Long Range Arena: its page
https://github.com/google-research/long-range-arena says where the archive
lra_release is. Unpack it, and name its folder pathfinder32, which holds

    curv_baseline/            easy
    curv_contour_length_9/    medium
    curv_contour_length_14/   hard

each with images imgs/K/sample_NUMBER.png and lists of them metadata/K.npy.
Those lists are text, whatever their name: the folder, the file, a number
and the label 0 or 1 of an image, with more behind, on a line for each.
mhalib downloads nothing by itself. mha.data.pathfinder("hard", patch=1)
makes images of the same kind without any file."""


def pathfinder_files(folder, kind="hard", patch=1, n=None):
    """Pathfinder images of the Long Range Arena from a folder on this machine, labeled +1 where one path connects.

    Parameters
    ----------
    folder : the folder ``pathfinder32``
    kind : "easy", "medium" or "hard"
    patch : pixels a side of a patch; 1 makes every pixel a token, as the benchmark does
    n : only the first so many; without it, all 200,000, which take 0.8 GB

    Returns
    -------
    Dataset
        X (n, (32/patch)², patch²) in single precision with values in [0, 1], and y (n,), in the order of the lists.

    Raises
    ------
    FileNotFoundError
        with instructions, if the folder or an image is not there.
    ValueError
        naming the file, if a list and the images do not match, or an image has another size or cannot be read.
        A file of zero bytes, of which the benchmark has one (easy), is left out.
    ImportError
        if Pillow, which reads the images, is not installed.

    Source: Tay et al. 2021, with images from the generator of Linsley et al. 2018.
    """
    if kind not in FOLDERS:
        raise ValueError(f"kind: expected one of {tuple(FOLDERS)}, got {kind!r}")
    require_count(patch=patch, n=1 if n is None else n)
    if SIZE % patch:
        raise ValueError(f"patch: expected a divisor of the {SIZE} pixels of a side, got {patch}")
    place = Path(folder).expanduser() / FOLDERS[kind]
    lists = sorted((place / "metadata").glob("*.npy"), key=lambda path: (len(path.stem), path.stem))
    if not lists:
        raise FileNotFoundError(f"expected lists {place / 'metadata' / 'K.npy'}, got none.\n\n{INSTRUCTIONS}")
    listed = [row for path in lists for row in _rows(path, place)]
    _require_match(place, {image for image, _ in listed})
    listed = [(image, y) for image, y in listed if image.stat().st_size][:n]
    X = np.empty((len(listed), (SIZE // patch) ** 2, patch ** 2), dtype=np.float32)
    read = _reader()
    for k, (image, _) in enumerate(listed):
        X[k] = patches(read(image) / np.float32(255), patch)
    return Dataset(X, np.array([y for _, y in listed], dtype=np.float32))


SIZE = 32
"""Pixels a side."""


def _rows(path, place):
    """Images and labels ±1 of one list."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path}: expected lines of text, as in the Long Range Arena, got other bytes; lists that "
                         "numpy.save wrote are not read") from None
    for number, line in enumerate(lines, 1):
        folder, file, _, label, *_ = line.split() + 4 * [""]
        if label not in ("0", "1") or not file.endswith(".png"):
            raise ValueError(f"{path}, line {number}: expected a folder, a file *.png, a number and the label 0 or 1, "
                             f"got {line!r:.80}")
        yield place / folder / file, 1.0 if label == "1" else -1.0


def _require_match(place, listed):
    """Check that the lists name the images that are there."""
    there = set((place / "imgs").glob("*/*.png"))
    for images, error, words in ((listed - there, FileNotFoundError, "the lists name, but that are not there"),
                                 (there - listed, ValueError, "are there, but in no list")):
        if images:
            raise error(f"{place}: the lists in metadata/ and the images in imgs/ do not match: {len(images)} images "
                        f"that {words}, the first {min(images).relative_to(place)}.\n\n{INSTRUCTIONS}")


def _reader():
    """The function from the path of an image to its pixels (32, 32)."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ModuleNotFoundError as error:
        raise ImportError("mhalib.data.pathfinder_files reads images with Pillow: pip install pillow") from error

    def read(path):
        try:
            with Image.open(path) as image:
                pixels = np.asarray(image.convert("L"))
        except (UnidentifiedImageError, OSError, SyntaxError) as error:
            raise ValueError(f"{path}: expected an image, got a file that cannot be read ({error})") from error
        if pixels.shape != (SIZE, SIZE):
            raise ValueError(f"{path}: expected {SIZE} × {SIZE} pixels, got {pixels.shape[1]} × {pixels.shape[0]}")
        return pixels
    return read
