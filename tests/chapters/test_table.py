"""``Table``: rows found, grouped, and kept in a file."""

import os
import zipfile
from functools import partial
from pathlib import Path

import joblib
import numpy as np
import pytest

import swept
from checks import assert_refused
from mhabook.studies import Table, sweep
from swept import assert_same

RESULTS = Path(__file__).parents[2] / "book" / "results"


@pytest.fixture(scope="module")
def expected():
    with joblib.parallel_config(n_jobs=1):
        return sweep(swept.trained, {"H": [1, 3], "lr": [0.1, 0.5]}, seeds=3)


def test_where_keeps_the_rows_that_match(expected):
    part = expected.where(H=3, lr=0.5)
    assert part["seed"].tolist() == [0, 1, 2]
    assert np.array_equal(part["loss"], expected["loss"][-3:])
    assert expected.where(seed=[0, 2])["seed"].tolist() == [0, 2] * 4
    assert len(expected.where(rule="momentum")) == 12


def test_groups_are_reduced_over_the_other_columns(expected):
    means = expected.group("lr", "H")
    assert means["rows"].tolist() == [3] * 4
    assert list(zip(means["H"], means["lr"], strict=True)) == [
        (1, 0.1),
        (1, 0.5),
        (3, 0.1),
        (3, 0.5),
    ]
    assert np.allclose(means["loss"][1], expected["loss"][3:6].mean(axis=0), rtol=1e-15)
    assert means["attention"].shape == (4, 5, 5)
    assert not {"seed", "rule"} & set(means.columns)
    assert means.about == expected.about


def test_groups_take_any_reduction(expected):
    low, high = (expected.group("H", by=by) for by in (np.min, np.max))
    assert np.array_equal(high["loss"][1], expected["loss"][6:].max(axis=0))
    assert (low["loss"] <= high["loss"]).all()
    assert expected.group(by=np.median)["rows"].tolist() == [12]
    assert expected.group("H", by=partial(np.quantile, q=0.5))["learned"].tolist() == [1, 1]


def test_a_saved_table_is_the_same(expected, tmp_path):
    expected.save(tmp_path / "deep" / "table.npz", command="python table.py")
    table = Table.load(tmp_path / "deep" / "table.npz")
    assert table.about["command"] == "python table.py"
    assert_same(table, Table(expected.columns, expected.about | {"command": "python table.py"}))
    with np.load(tmp_path / "deep" / "table.npz") as stored:
        assert np.array_equal(stored["loss"], expected["loss"])


def test_a_table_may_be_kept_at_home(expected, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    expected.save("~/kept/table.npz")
    assert (tmp_path / "kept" / "table.npz").exists()
    assert_same(Table.load("~/kept/table.npz"), expected)


def test_equal_tables_are_equal_files(expected, tmp_path):
    expected.save(tmp_path / "a.npz")
    Table.load(tmp_path / "a.npz").save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_a_damaged_table_is_named(expected, tmp_path):
    path = tmp_path / "table.npz"
    expected.save(path)
    whole = path.read_bytes()
    for data in (b"", b"words", whole[:-9], whole[:400] + bytes([whole[400] ^ 1]) + whole[401:]):
        path.write_bytes(data)
        with pytest.raises(ValueError, match="table.npz: damaged"):
            Table.load(path)


def test_no_flipped_bit_is_read_as_another_table(tmp_path):
    """Every bit of an archive: its columns, and its directory, from which columns may be lost."""
    columns = {"H": np.array([1, 2]), "loss": np.array([0.1, 0.2]), "rule": np.array(["a", "b"])}
    table = Table(columns, {"command": "run"})
    path = tmp_path / "table.npz"
    table.save(path)
    whole, refused = path.read_bytes(), 0
    for k in range(8 * len(whole)):
        flipped = bytearray(whole)
        flipped[k // 8] ^= 1 << k % 8
        path.write_bytes(flipped)
        try:
            found = Table.load(path)
        except ValueError as error:
            assert "table.npz: damaged" in str(error)
            refused += 1
        else:  # dates, rights, or what is said twice
            assert_same(found, table)
    assert refused > 4 * len(whole)


def test_no_cut_table_is_read(tmp_path):
    path = tmp_path / "table.npz"
    Table({"loss": np.array([0.1, 0.2])}).save(path)
    whole = path.read_bytes()
    for cut in [
        *(whole[:k] for k in range(len(whole))),
        *(whole[k:] for k in range(1, len(whole))),
    ]:
        path.write_bytes(cut)
        with pytest.raises(ValueError, match="table.npz: damaged"):
            Table.load(path)


@pytest.mark.parametrize(
    "columns",
    [{"loss": np.array([None])}, {"loss": np.ones(2), "H": np.ones(3)}, {}],
    ids=["objects", "two lengths", "nothing"],
)
def test_an_archive_that_is_no_table_is_named(columns, tmp_path):
    np.savez(tmp_path / "other.npz", about=np.array("{}"), **columns)
    with pytest.raises(ValueError, match="other.npz: damaged, or not made by mhalib"):
        Table.load(tmp_path / "other.npz")


def test_a_table_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    def full(part, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        Table({"loss": np.ones(2)}).save(tmp_path / "table.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_file_keeps_every_kind(tmp_path):
    columns = {
        "b": np.array([True]),
        "i": np.array([3]),
        "f": np.float32([np.nan]),
        "U": np.array(["ζ"]),
    }
    table = Table(columns, {"ζ": 1})
    table.save(tmp_path / "table.npz")
    assert_same(Table.load(tmp_path / "table.npz"), table)


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.npz")), ids=lambda path: path.name)
def test_tables_of_the_book_are_saved_to_the_same_bytes(path, tmp_path):
    Table.load(path).save(tmp_path / path.name)
    with zipfile.ZipFile(path) as kept, zipfile.ZipFile(tmp_path / path.name) as saved:
        assert [(entry.filename, kept.read(entry)) for entry in kept.infolist()] == [
            (entry.filename, saved.read(entry)) for entry in saved.infolist()
        ]


def test_a_table_shows_its_size_and_shapes(expected):
    assert (
        repr(expected)
        == "Table(12 rows of H, lr, seed, loss (4,), final, attention (5, 5), steps, learned, rule)"
    )


CALLS = {
    "columns of two lengths": (
        lambda: Table({"a": np.ones(2), "b": np.ones(3)}),
        ValueError,
        ["same length"],
    ),
    "no columns": (lambda: Table({}), ValueError, ["columns: expected one or more"]),
    "a reserved column": (
        lambda: Table({"about": np.ones(2)}),
        ValueError,
        ["about cannot name a column: about, allow_pickle, file are reserved"],
    ),
    "an unknown column": (
        lambda: Table({"a": np.ones(2)})["b"],
        KeyError,
        ["no column 'b'; there are a"],
    ),
    "a group of none": (lambda: Table({"a": np.ones(2)}).group("b"), KeyError, ["no column 'b'"]),
    "no such row": (
        lambda: Table({"a": np.arange(2)}).where(a=5),
        ValueError,
        ["no row has a=5", "a takes 0, 1"],
    ),
}


@pytest.mark.parametrize("call, error, words", CALLS.values(), ids=CALLS)
def test_bad_input_is_named(call, error, words):
    assert_refused(call, error, words)
