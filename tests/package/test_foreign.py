"""Data as readers bring them: what has one meaning is taken, the rest refused with what to do."""

import array
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

import mhalib as mha
from checks import assert_close, assert_refused
from optional import torch
from strategies import problem

MODEL, X, Y = problem(n=4, T=3, d=2, H=2)
WHOLE = np.arange(24).reshape(4, 3, 2) - 5
MASK = np.ma.masked_array(X, X > 0.5)
from_arrays, regression = mha.data.from_arrays, mha.data.regression_from_arrays


class Frame:
    """What frames and series share with pandas: ``to_numpy``, here of the numbers as they were
    given."""

    def __init__(self, numbers):
        self.numbers = numbers

    def to_numpy(self):
        return self.numbers


class Other:
    """An array of another library, which numpy can ask."""

    def __init__(self, numbers):
        self.numbers = numbers

    def __array__(self, dtype=None, copy=None):
        if self.numbers is None:
            raise RuntimeError("ask for .get() first")
        return self.numbers


def mapped(numbers, folder):
    """The same numbers in a file that is mapped to memory."""
    np.save(folder / "X.npy", numbers)
    return np.load(folder / "X.npy", mmap_mode="r")


def locked(numbers):
    numbers = numbers.copy()
    numbers.flags.writeable = False
    return numbers


TOKENS = {
    "lists": lambda X: X.tolist(),
    "tuples of lists": lambda X: tuple(X.tolist()),
    "a list of arrays": list,
    "a frame": Frame,
    "objects that are numbers": lambda X: X.astype(object),
    "a frame of objects": lambda X: Frame(X.astype(object)),
    "another library": Other,
    "another order of bytes": lambda X: X.astype(">f8"),
    "read-only": locked,
    "every other column": lambda X: np.repeat(X, 2, axis=2)[..., ::2],
    "Fortran's order": np.asfortranarray,
}


@pytest.mark.parametrize("bring", TOKENS.values(), ids=TOKENS)
def test_tokens_with_one_meaning_are_taken(bring):
    data = from_arrays(bring(X), Y)
    assert type(data.X) is np.ndarray
    assert data.X.dtype == np.float64 and data.X.dtype.isnative
    assert_close(data.X, X, 0)
    assert_close(MODEL.loss(data.X, data.y), MODEL.loss(X, Y), 1e-15)


def test_a_file_mapped_to_memory_is_not_read_into_it(tmp_path):
    there = mapped(X, tmp_path)
    data = from_arrays(there, Y)
    assert type(data.X) is np.ndarray
    assert np.shares_memory(data.X, there)


@pytest.mark.parametrize(
    "numbers",
    [WHOLE, WHOLE.astype("u1"), WHOLE > 0, WHOLE.tolist(), torch.tensor(WHOLE)],
    ids=["int64", "uint8", "bool", "lists", "torch"],
)
def test_whole_numbers_and_truth_values_become_floats(numbers):
    data = from_arrays(
        numbers, Y.tolist() if not isinstance(numbers, torch.Tensor) else torch.tensor(Y)
    )
    assert str(data.X.dtype).removeprefix("torch.") == "float64"
    assert_close(data.X, np.asarray(numbers).astype(float), 0)


@pytest.mark.parametrize(
    "labels",
    [Y.astype(int), Y.astype("i1"), Y.astype(int).tolist(), Frame(Y.astype(int))],
    ids=["int64", "int8", "lists", "a series"],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_labels_of_whole_numbers_take_the_precision_of_the_tokens(labels, dtype):
    data = from_arrays(X.astype(dtype), labels)
    assert data.X.dtype == data.y.dtype == dtype
    assert data.y.tolist() == Y.tolist()


def test_labels_of_whole_numbers_in_torch_take_the_precision_of_the_tokens():
    data = from_arrays(torch.tensor(X, dtype=torch.float32), torch.tensor(Y).to(torch.int8))
    assert data.y.dtype == torch.float32 and data.y.tolist() == Y.tolist()


@pytest.mark.parametrize(
    "tokens", [torch.tensor(X), torch.tensor(X, device="meta")], ids=["cpu", "meta"]
)
def test_tensors_are_taken_as_they_are(tokens):
    labels = torch.tensor(Y, device=tokens.device)
    data = from_arrays(tokens, labels)
    assert data.X is tokens and data.y is labels


def test_a_range_is_a_list_of_numbers():
    assert regression([[1], [2]], np.reshape(range(2), (2, 1))).y.tolist() == [[0.0], [1.0]]
    assert mha.plots.curves(range(3), {"a": range(1, 4)}).data[0].x.tolist() == [0, 1, 2]


def test_marks_are_taken_as_tokens_are():
    marks = WHOLE[..., 0] > 4
    for brought in (marks.tolist(), Frame(marks), marks.astype(int).tolist()):
        relevant = from_arrays(X, Y, brought).relevant
        assert relevant.dtype == bool and (relevant == marks).all()
    assert (
        from_arrays(torch.tensor(X), torch.tensor(Y), torch.tensor(marks)).relevant.tolist()
        == marks.tolist()
    )


def test_what_has_a_cure_is_taken_after_it():
    y = Y > 0
    assert from_arrays(X, 2.0 * y - 1).y.tolist() == Y.tolist()
    y = y.astype(int).tolist()
    assert from_arrays(X, 2.0 * np.array(y) - 1).y.tolist() == Y.tolist()
    y = np.where(Y > 0, "yes", "no")
    assert from_arrays(X, np.where(y == "yes", 1.0, -1.0)).y.tolist() == Y.tolist()
    assert from_arrays(X, Y[:, None].ravel()).y.tolist() == Y.tolist()
    assert_close(from_arrays(MASK.filled(0.0), Y).X, np.where(X > 0.5, 0, X), 0)


SPARSE = scipy.sparse.csr_array(X[0])
REFUSED = {
    "a mask": (
        lambda: from_arrays(MASK, Y),
        TypeError,
        ["X: expected an array without a mask", "X.filled(value)"],
    ),
    "a mask in a list": (
        lambda: from_arrays(list(MASK), Y),
        TypeError,
        ["X: expected an array without a mask"],
    ),
    "a mask in a frame": (
        lambda: from_arrays(Frame(MASK), Y),
        TypeError,
        ["X: expected an array without a mask"],
    ),
    "a sparse array": (
        lambda: regression(SPARSE, Y[:3, None]),
        TypeError,
        ["x: expected a dense array", "x.toarray() makes one"],
    ),
    "a sparse tensor": (
        lambda: from_arrays(torch.tensor(X).to_sparse(), torch.tensor(Y)),
        TypeError,
        ["X: expected a dense tensor", "torch.sparse_coo", "X.to_dense() makes one"],
    ),
    "a gradient": (
        lambda: from_arrays(torch.tensor(X, requires_grad=True), torch.tensor(Y)),
        TypeError,
        ["X: expected numbers", "requires a gradient; X.detach()"],
    ),
    "bfloat16": (
        lambda: from_arrays(torch.tensor(X).bfloat16(), torch.tensor(Y).bfloat16()),
        TypeError,
        ["X: expected single or double precision", "bfloat16; X.float()"],
    ),
    "extended precision": (
        lambda: from_arrays(X.astype(np.longdouble), Y),
        TypeError,
        ["X: expected single or double precision", "X.astype(float)"],
    ),
    "complex": (
        lambda: from_arrays(X + 0j, Y),
        TypeError,
        ["X: expected real numbers", "complex128; take X.real"],
    ),
    "complex in torch": (
        lambda: from_arrays(torch.tensor(X + 0j), torch.tensor(Y)),
        TypeError,
        ["X: ", "X.real"],
    ),
    "a frame in a formula": (
        lambda: MODEL(Frame(X)),
        TypeError,
        ["X: expected a numpy array", "got Frame; X.to_numpy() makes one"],
    ),
    "a column of labels in torch": (
        lambda: from_arrays(torch.tensor(X), torch.tensor(Y)[:, None]),
        ValueError,
        ["the column (4, 1); y.ravel() is a row of it"],
    ),
    "a series of words": (
        lambda: from_arrays(X, Frame(np.array(["yes", "no"] * 2, object))),
        TypeError,
        [
            "y: expected numbers, got objects",
            "'yes'; for labels",
            "np.where(y == 'yes', 1.0, -1.0)",
        ],
    ),
    "a series with a gap": (
        lambda: from_arrays(X, Frame(np.array([1, None, 1, -1], object))),
        TypeError,
        ["y: expected numbers, got objects, among them None"],
    ),
    "times": (
        lambda: from_arrays(X.astype("M8[s]"), Y),
        TypeError,
        ["X: expected real numbers", "take differences"],
    ),
    "durations": (
        lambda: from_arrays(X.astype("m8[s]"), Y),
        TypeError,
        ["X: ", "divide by a unit"],
    ),
    "named columns": (
        lambda: from_arrays(np.zeros(4, [("a", float), ("b", int)]), Y),
        TypeError,
        ["X: expected real numbers", "structured_to_unstructured(X)"],
    ),
    "labels 0 and 1": (
        lambda: from_arrays(X, (Y > 0).astype(float)),
        ValueError,
        ["y: expected labels −1 and +1, got 0, 1; for labels 0/1 use y = 2.0 * y - 1"],
    ),
    "labels of truth": (lambda: from_arrays(X, Y > 0), ValueError, ["use y = 2.0 * y - 1"]),
    "two other labels": (
        lambda: from_arrays(X, np.where(Y > 0, 8, 3)),
        ValueError,
        ["got 3, 8; y = 2.0 * (y == 8) - 1 makes +1 of 8"],
    ),
    "a list of three labels": (
        lambda: from_arrays(X, [0, 1, 2, 0]),
        ValueError,
        ["got 0, 1, 2; y = 2.0 * (np.array(y) == 2) - 1"],
    ),
    "a list of words": (
        lambda: from_arrays(X, ["yes", "no", "no", "yes"]),
        TypeError,
        ["np.where(np.array(y) == 'yes', 1.0, -1.0)"],
    ),
    "a column of labels": (
        lambda: from_arrays(X, Y[:, None]),
        ValueError,
        ["y: expected shape (4,), got the column (4, 1); np.ravel(y)"],
    ),
    "a row of targets": (
        lambda: regression(X[0], Y[:3]),
        ValueError,
        ["y: expected shape (3, p)", "np.reshape(y, (-1, 1))"],
    ),
    "tokens without sequences": (
        lambda: from_arrays(X[0], Y),
        ValueError,
        ["X: expected shape (n, T, d)", "got (3, 2)", "regression_from_arrays"],
    ),
    "an empty list": (
        lambda: from_arrays([], []),
        ValueError,
        ["X: expected shape (n, T, d)", "got (0,)"],
    ),
    "lists of several lengths": (
        lambda: from_arrays([[[1.0], [2.0]], [[3.0]]], [1, -1]),
        ValueError,
        [
            "X: expected lists of one length, got several lengths; pad the short ones with zeros, "
            "and mark in one more feature what is there, for the loss to leave out the rest, as "
            "the model Padded of the API page does"
        ],
    ),
    "arrays of several lengths": (
        lambda: from_arrays(np.array([X[0], X[0, :1]], object), [1, -1]),
        TypeError,
        ["X: expected numbers", "np.stack(X)", "else pad the short ones", "the model Padded of"],
    ),
    "a list of tensors": (
        lambda: from_arrays(list(torch.tensor(X)), Y),
        TypeError,
        ["X: ", "torch.stack(X)"],
    ),
    "a list of frames": (
        lambda: from_arrays([Frame(X[0])] * 4, Y),
        TypeError,
        ["X: expected lists", "a Frame"],
    ),
    "whole numbers beyond floats": (
        lambda: from_arrays(WHOLE * 2**58, Y),
        ValueError,
        ["X: expected whole numbers below 2**53", "X.astype(float) rounds them"],
    ),
    "huge numbers in a list": (
        lambda: from_arrays([[[10**400]]], [1]),
        ValueError,
        ["X: expected whole numbers below 2**53", "a whole number of 401 digits"],
    ),
    "huge fractions": (
        lambda: from_arrays([[[Fraction(10**400)]]], [1]),
        ValueError,
        ["X: expected"],
    ),
    "a library that refuses": (
        lambda: from_arrays(Other(None), Y),
        TypeError,
        ["X: expected what numpy can read, got an Other: ask for .get() first"],
    ),
    "a buffer": (lambda: from_arrays(array.array("d", [1.0]), Y), TypeError, ["X: expected"]),
    "a file's name": (
        lambda: from_arrays("X.npy", Y),
        TypeError,
        ["X: expected a numpy array", "got 'X.npy'"],
    ),
    "two libraries": (
        lambda: from_arrays(X, torch.tensor(Y)),
        TypeError,
        ["mixed", "y is torch, X is numpy"],
    ),
    "two devices": (
        lambda: from_arrays(torch.tensor(X), torch.tensor(Y, device="meta")),
        TypeError,
        ["expected all tensors on one device", "y is on meta, X is on cpu"],
    ),
}


@pytest.mark.parametrize("call, error, words", REFUSED.values(), ids=REFUSED)
def test_what_has_no_meaning_or_two_is_refused(call, error, words):
    assert_refused(call, error, words)


DEVICES = {
    "the model elsewhere": lambda model, X, y: model.loss(X.to("meta"), y.to("meta")),
    "the tokens elsewhere": lambda model, X, y: model.loss_and_grad(X.to("meta"), y),
    "the labels elsewhere": lambda model, X, y: model.loss_and_grad(X, y.to("meta")),
    "a direction elsewhere": lambda model, X, y: model.hvp(X, y, model.map(lambda a: a.to("meta"))),
    "half a model elsewhere": lambda model, X, y: mha.MultiHeadAttention(
        model.W, model.U.to("meta")
    ),
    "queries elsewhere": lambda model, X, y: mha.gaussian.scores(X.to("meta"), X),
    "the model of a run elsewhere": lambda model, X, y: mha.train(
        model.map(lambda a: a.to("meta")), mha.data.Dataset(X, y), mha.GradientDescent(0.1), 2
    ),
    "another point elsewhere": lambda model, X, y: model + model.map(lambda a: a.to("meta")),
}


@pytest.mark.parametrize("call", DEVICES.values(), ids=DEVICES)
def test_tensors_on_two_devices_are_named(call):
    model, tokens, labels = (problem(n=4, T=3, d=2, H=2)).map(torch.tensor)
    with pytest.raises(
        TypeError, match="expected all tensors on one device.*is on (meta|cpu).*is on (meta|cpu)"
    ):
        call(model, tokens, labels)


def test_numbers_in_a_mask_are_read_nowhere():
    """Loss 0.997 for 2.027: numpy's functions read what is masked."""
    for call in (
        MODEL,
        MODEL.attention,
        lambda X: MODEL.loss(X, Y),
        lambda X: MODEL.loss_and_grad(X, Y),
        lambda X: MODEL.hvp(X, Y, MODEL),
        lambda S: mha.softmax(S),
        lambda z: mha.losses.logistic(z),
        lambda X: mha.train(MODEL, mha.data.Dataset(X, Y), mha.GradientDescent(0.1), 2),
        lambda Z: mha.plots.matrix(Z[0]),
        lambda X: mha.gaussian.scores(X, X),
    ):
        with pytest.raises(
            TypeError, match=r"expected an array without a mask, got a masked one of shape"
        ):
            call(MASK)
