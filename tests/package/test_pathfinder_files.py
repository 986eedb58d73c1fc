"""Pathfinder from the files of the Long Range Arena, and what is said where they are not what they should be."""

import sys

import numpy as np
import pytest
from PIL import Image

import mhalib as mha
from mhalib.data.pathfinder import patches
from oracles import assert_refused

FOLDER = "curv_contour_length_14"


@pytest.fixture
def images():
    """Three images as bytes."""
    return np.random.default_rng(0).integers(0, 256, (3, 32, 32), dtype=np.uint8)


@pytest.fixture
def arena(tmp_path, images):
    """A small copy of the folder: two lists, of which 10 comes after 9."""
    place = tmp_path / "pathfinder32" / FOLDER
    (place / "metadata").mkdir(parents=True)
    lists = {"9": [(0, 1)], "10": [(1, 0), (2, 1)]}
    for batch, rows in lists.items():
        (place / "imgs" / batch).mkdir(parents=True)
        lines = [f"imgs/{batch} sample_{k}.png {k} {label} 1.0 14 2 1.0" for k, label in rows]
        (place / "metadata" / f"{batch}.npy").write_text("\n".join([*lines, ""]))
        for k, _ in rows:
            Image.fromarray(images[k]).save(place / "imgs" / batch / f"sample_{k}.png")
    return tmp_path / "pathfinder32"


def test_images_are_read_in_the_order_of_the_lists(arena, images):
    data = mha.data.pathfinder_files(arena)
    assert data.y.tolist() == [1, -1, 1]
    assert data.X.dtype == data.y.dtype == np.float32
    assert (images.reshape(3, 1024, 1) / np.float32(255) == data.X).all()
    assert mha.data.pathfinder_files(str(arena), n=2).y.tolist() == [1, -1]


def test_patches_are_cut_as_the_generator_cuts_them(arena, images):
    data = mha.data.pathfinder_files(arena, patch=8)
    assert data.X.shape == (3, 16, 64)
    assert (data.X[1] == patches(images[1] / np.float32(255), 8)).all()


def test_a_file_of_zero_bytes_is_left_out(arena):
    (arena / FOLDER / "imgs/10/sample_1.png").write_bytes(b"")
    assert mha.data.pathfinder_files(arena).y.tolist() == [1, 1]


def test_images_in_color_become_gray(arena, images):
    path = arena / FOLDER / "imgs/9/sample_0.png"
    Image.fromarray(np.repeat(images[0][..., None], 3, axis=2)).save(path)
    assert (mha.data.pathfinder_files(arena).X[0].ravel() == images[0].ravel() / np.float32(255)).all()


@pytest.mark.parametrize(("kind", "place"), [("hard", FOLDER), ("medium", "curv_contour_length_9"),
                                             ("easy", "curv_baseline")])
def test_a_missing_folder_says_where_it_comes_from(tmp_path, kind, place):
    assert_refused(lambda: mha.data.pathfinder_files(tmp_path, kind), FileNotFoundError,
                   [str(tmp_path / place / "metadata"), "got none", "google-research/long-range-arena", "lra_release",
                    "pathfinder32", "mhalib downloads nothing", "makes images of the same kind"])


def test_a_missing_image_is_named(arena):
    (arena / FOLDER / "imgs/10/sample_1.png").unlink()
    assert_refused(lambda: mha.data.pathfinder_files(arena), FileNotFoundError,
                   ["do not match: 1 images that the lists name, but that are not there", "imgs/10/sample_1.png"])


def test_an_image_in_no_list_is_named(arena):
    path = arena / FOLDER / "metadata/9.npy"
    path.write_text("")
    assert_refused(lambda: mha.data.pathfinder_files(arena), ValueError,
                   ["1 images that are there, but in no list", "imgs/9/sample_0.png"])


LINES = {"no label": "imgs/9 sample_0.png 0", "a label 2": "imgs/9 sample_0.png 0 2 1.0", "no image": "a b 0 1",
         "an empty line": ""}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_malformed_line_is_named(arena, line):
    path = arena / FOLDER / "metadata/10.npy"
    path.write_text(f"imgs/10 sample_1.png 1 0 1.0\n{line}\n")
    assert_refused(lambda: mha.data.pathfinder_files(arena), ValueError,
                   [f"{path}, line 2", "the label 0 or 1", repr(line)])


def test_a_list_of_numpy_is_refused(arena):
    path = arena / FOLDER / "metadata/9.npy"
    np.save(path, np.arange(3))
    assert_refused(lambda: mha.data.pathfinder_files(arena), ValueError, [str(path), "expected lines of text"])


@pytest.mark.parametrize(("content", "words"), [
    (b"hello", ["expected an image, got a file that cannot be read"]),
    (b"\x89PNG\r\n\x1a\n", ["expected an image, got a file that cannot be read"]),
    (None, ["expected 32 × 32 pixels, got 33 × 32"])], ids=["no image", "cut off", "another size"])
def test_a_file_that_is_no_such_image_is_named(arena, content, words):
    path = arena / FOLDER / "imgs/10/sample_1.png"
    if content is None:
        Image.fromarray(np.zeros((32, 33), dtype=np.uint8)).save(path)
    else:
        path.write_bytes(content)
    assert_refused(lambda: mha.data.pathfinder_files(arena), ValueError, [str(path), *words])


def test_an_image_that_breaks_off_is_named(arena):
    path = arena / FOLDER / "imgs/10/sample_1.png"
    path.write_bytes(path.read_bytes()[:-200])
    assert_refused(lambda: mha.data.pathfinder_files(arena), ValueError, [str(path), "expected an image"])


def test_without_pillow_it_says_what_to_install(arena, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    assert_refused(lambda: mha.data.pathfinder_files(arena), ImportError, ["Pillow: pip install pillow"])


BAD = {
    "another kind": (lambda: mha.data.pathfinder_files(".", "micro"), ["kind: expected one of ('easy', 'medium'"]),
    "patches that do not tile": (lambda: mha.data.pathfinder_files(".", patch=3), ["a divisor of the 32 pixels"]),
    "no patch": (lambda: mha.data.pathfinder_files(".", patch=0), ["patch: expected a whole number ≥ 1"]),
    "no image": (lambda: mha.data.pathfinder_files(".", n=0), ["n: expected a whole number ≥ 1"]),
}


@pytest.mark.parametrize(("call", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_named(call, words):
    assert_refused(call, ValueError, words)
