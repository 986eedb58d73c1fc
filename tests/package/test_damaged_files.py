"""Files that were damaged, or made to harm: each is read as it was, or refused with a
ValueError."""

import contextlib
import io
import re
import zipfile

import numpy as np
import pytest

import mhalib as mha
from checks import assert_refused
from mhalib.data.files import NUMBER

RNG = np.random.default_rng(0)
X = RNG.standard_normal((6, 5, 4))
Y = np.where(np.arange(6) % 2, 1.0, -1.0)


def written(save=np.savez_compressed, **arrays):
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def npy(shape, content=b"", order="False"):
    """The bytes of a member whose header claims this shape."""
    header = f"{{'descr': '<f8', 'fortran_order': {order}, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + content


def archive(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        for name, content in members.items():
            out.writestr(f"{name}.npy", content)
    return file.getvalue()


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_archive_with_a_flipped_bit_is_refused_or_read_as_it_was(save, tmp_path):
    whole, path, flips = written(save, X=X, y=Y), tmp_path / "damaged.npz", 400
    for at, bit in zip(
        RNG.integers(len(whole), size=flips), RNG.integers(8, size=flips), strict=True
    ):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << bit
        path.write_bytes(damaged)
        with contextlib.suppress(ValueError):
            data = mha.data.from_file(path)
            assert np.array_equal(data.X, X) and np.array_equal(data.y, Y)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_an_archive_that_was_cut_off_is_refused(save, tmp_path):
    whole, path = written(save, X=X, y=Y), tmp_path / "cut.npz"
    for end in range(0, len(whole), 37):
        path.write_bytes(whole[:end])
        with pytest.raises(ValueError, match=r"^(path|X|y): expected"):
            mha.data.from_file(path)


HARMFUL = {
    "a header that claims a terabyte": npy((10**12,), b"\0" * 64),
    "a header that claims more than there is": npy((6, 5, 4), b"\0" * 64),
    "a header that claims less than there is": npy((2, 1, 4), X.tobytes()),
    "a negative size": npy((-6, 5, 4), X.tobytes()),
    "brackets without end": npy("(" * 90, b""),
    "a header that is a program": npy("__import__('os').system('true')", b""),
    "no header": b"\x93NUMPY\x01\x00",
    "nothing": b"",
    "a pickle": io.BytesIO(),
}
np.save(HARMFUL["a pickle"], np.array([{}], object), allow_pickle=True)
HARMFUL["a pickle"] = HARMFUL["a pickle"].getvalue()


@pytest.mark.parametrize("content", HARMFUL.values(), ids=HARMFUL)
def test_an_array_that_is_none_is_refused(content, tmp_path):
    path = tmp_path / "harmful.npz"
    path.write_bytes(archive(X=content, y=npy((6,), Y.tobytes())))
    assert_refused(lambda: mha.data.from_file(path), ValueError, ["X: expected an array"])


def test_an_encrypted_archive_is_refused(tmp_path):
    path, whole = tmp_path / "secret.npz", bytearray(written(np.savez, X=X, y=Y))
    for begin in [match.start() for match in re.finditer(b"PK\x01\x02", bytes(whole))]:
        whole[begin + 8] |= 1
    path.write_bytes(whole)
    assert_refused(
        lambda: mha.data.from_file(path),
        ValueError,
        ["path: expected a whole NPZ file", "encrypted"],
    )


@pytest.mark.parametrize(
    "path, error, words",
    [
        (3, TypeError, "path: expected the path of a file, got 3"),
        ("a\0.csv", TypeError, "path: expected the path"),
        (".", ValueError, "path: expected a file, got the folder"),
        ("a.txt", ValueError, "ends in .csv or .npz"),
    ],
)
def test_a_path_that_is_none_is_named(path, error, words):
    assert_refused(lambda: mha.data.from_file(path), error, [words])


NUMBERS = ["1", "-1", "+1", "1.", "1.5", ".5", "1e3", "1.e-3", ".5E+07", "00.10"]
NO_NUMBERS = ["", ".", "+", "e3", "1e", "1.2.3", "1 2", "0x10", "1_0", "--1", "1e1.5", "１"]


def test_a_cell_is_a_number_or_none():
    every = [*NUMBERS, *NO_NUMBERS, "nan", "inf"]
    assert [text for text in every if NUMBER.fullmatch(text)] == NUMBERS


def test_a_cell_of_a_million_digits_is_refused_at_once(tmp_path):
    """Where digits can be matched in two ways, this takes the square of their number: days."""
    path = tmp_path / "digits.csv"
    path.write_text("x1,y\n" + "1" * 1_000_000 + "x,1\n")
    assert_refused(
        lambda: mha.data.from_file(path),
        ValueError,
        ["line 2, column x1, got '11111111111111111111'"],
    )
