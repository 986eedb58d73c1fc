"""Records as loop nests, as they are read and refused; their printers are tested in test_trace and
test_compiled."""

import numpy as np
import pytest

from checks import assert_close
from livegrad.record import Place, Program, array
from livegrad.record.loops import lower
from livegrad.record.trace import Untraceable

A, B = array("a", (3, 5)), array("b", (5, 4))
SHOWN = {
    "a product": (
        {"c": A @ B},
        ["for i0 < 3, i2 < 4: m2[i0, i2] = sum over i1 < 5 of multiply(a[i0, i1], b[i1, i2])"],
    ),
    "what is used once is written there": (
        {"c": np.log(1 + np.exp(A)).sum(axis=1)},
        ["for i0 < 3: m1[i0] = sum over i1 < 5 of log(add(1.0, exp(a[i0, i1])))"],
    ),
    "what is used twice is stored": (
        {"c": np.exp(A) * np.exp(A).sum(axis=1, keepdims=True)},
        [
            "for i0 < 3, i1 < 5: m1[i0, i1] = exp(a[i0, i1])",
            "for i0 < 3: m2[i0] = sum over i1 < 5 of m1[i0, i1]",
            "for i0 < 3, i1 < 5: m3[i0, i1] = multiply(m1[i0, i1], m2[i0])",
        ],
    ),
    "a transpose and a slice are places": (
        {"c": A.T[1:3] + 0.0 * B[1:3, :3]},
        ["for i0 < 2, i1 < 3: m2[i0, i1] = add(a[i1, i0 + 1], multiply(0.0, b[i0 + 1, i1]))"],
    ),
    "beyond its ends an array is 0": (
        {"c": np.concatenate([A[:, :2], A], axis=1)},
        [
            "for i0 < 3, i1 < 7: m1[i0, i1] = concatenate((a[i0, i1] if i1 < 2 - 0 else 0), "
            "(a[i0, i1 + -2] if i1 >= 2 else 0))"
        ],
    ),
    "a maximum": ({"c": A.max()}, ["m1[] = max over i0 < 3, i1 < 5 of a[i0, i1]"]),
}


@pytest.mark.parametrize("outputs, lines", SHOWN.values(), ids=SHOWN)
def test_nests_are_read_as_loops(outputs, lines):
    assert str(lower(outputs, "m")).split("\n") == lines


def test_sizes_have_the_names_of_the_program():
    program = Program(
        lambda a: {"step": {"loss": (a["X"] @ a["w"]).sum() / len(a["X"])}},
        {"X": "n d", "w": "d"},
        sample="n",
    )
    text = str(lower(program.record.entries["step"], "m", program.record.numbers, sample="n"))
    assert "sample < n" in text and "< d" in text
    assert "< 11" not in text and "< 7" not in text, "no size of a record is left"


def parts(formula):
    """A program of a matrix W (d, d) and a vector u (d), that lie one behind the other, for each of
    H heads."""
    strides = {"W": ("(d * d + d)", "d", "1"), "u": ("(d * d + d)", "1")}
    places = {
        name: Place("theta", "H * (d * d + d)", begin, strides[name])
        for name, begin in (("W", "0"), ("u", "d * d"))
    }
    return Program(
        lambda a: {"step": {"loss": formula(a["W"], a["u"]).sum()}},
        {"y": "n", "W": "H d d", "u": "H d"},
        "n",
        places,
    )


def turned(W):
    """The numbers of W (H, d, d), row by row, as (d, H, d): another array, unless H = d."""
    H, d, _ = W.shape
    return W.reshape(d, H, d)


def test_a_part_of_a_longer_array_in_another_shape_is_refused_for_it_does_not_lie_so():
    with pytest.raises(
        Untraceable,
        match=r"W, which lies in a longer array, is read in another shape; read 1.0 \* W",
    ):
        parts(lambda W, u: np.exp(turned(W))).javascript()
    assert "theta" in parts(lambda W, u: np.exp(turned(1.0 * W))).javascript()
    assert "theta" in parts(lambda W, u: W @ u[:, :, None]).javascript()


def test_what_is_written_over_is_not_read_later():
    program = Program(lambda a: {"step": {"a": a["a"] * 2, "b": a["a"] + 1}}, {"a": "n"}, "n")
    with pytest.raises(
        Untraceable, match="a is read after a result of that name; rename the result"
    ):
        program.javascript()


def test_a_nest_is_what_numpy_computes():
    """Its statements, run one after the other in Python."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((3, 5)), rng.standard_normal((5, 4))
    nests = lower({"c": np.tanh(A @ B).sum(axis=0)}, "m")
    found = {"a": a, "b": b}
    for one in nests.statements:
        sizes = [int(loop.size) for loop in one.loops]
        values = np.zeros(sizes)
        for index in np.ndindex(*sizes):
            values[index] = valued(
                one.value, found, {loop.name: k for loop, k in zip(one.loops, index, strict=True)}
            )
        gone = tuple(k for k in range(len(sizes)) if k not in one.out)
        found[one.target.name] = values.sum(gone) if one.over else values
    assert_close(found[nests.results["c"].name], np.tanh(a @ b).sum(axis=0), 1e-14)


def valued(value, arrays, loops):
    """An expression without bounds, at some places of its loops."""
    if hasattr(value, "buffer"):
        return arrays[value.buffer.name][
            tuple((loops[loop] if loop else 0) + offset for loop, offset in value.at)
        ]
    return getattr(np, value.f)(*(valued(arg, arrays, loops) for arg in value.args))


@pytest.mark.parametrize("name", ["sum", "i0", "new", "sample"])
def test_a_name_that_programs_have_themselves_is_refused(name):
    with pytest.raises(
        ValueError,
        match=f"{name}: expected a name that programs do not use themselves; take {name}_",
    ):
        lower({"c": 2 * array(name, (3,))}, "m")


def test_more_sizes_than_there_are_primes_are_refused():
    shapes = {f"a{k}": f"h{k}" for k in range(8)}
    with pytest.raises(
        ValueError, match="shapes: expected at most 7 different sizes, got 8: h0, h1"
    ):
        _ = Program(lambda a: {"step": {"loss": a["a0"].sum()}}, shapes, "h0").record
