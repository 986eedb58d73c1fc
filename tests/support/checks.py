"""What tests assert of numbers and of refusals. Needs NumPy alone."""

import os
import warnings

import numpy as np
import pytest


def assert_close(got, want, rel, size=0.0):
    """‖got − want‖ ≤ rel · max(‖want‖, size), shapes equal: a tolerance relative to the result,
    never absolute."""
    got, want = as_numpy(got), as_numpy(want)
    assert got.shape == want.shape
    assert np.isfinite(want).all()
    error, allowed = np.linalg.norm(got - want), rel * max(np.linalg.norm(want), size)
    assert np.isfinite(allowed)
    assert error <= allowed, (
        f"error {error:.3g}, allowed {allowed:.3g}, largest entry {abs(want).max(initial=0):.3g}"
    )


def assert_alike(got, want, rel, place="it"):
    """Two pieces of JSON are one but for rounding: names, words and whole numbers are the same, other
    numbers up to ``rel`` of the largest beside them."""
    assert type(got) is type(want), place
    if isinstance(want, dict):
        assert got.keys() == want.keys(), place
        for name in want:
            assert_alike(got[name], want[name], rel, f"{place}, {name}")
    elif isinstance(want, list):
        assert len(got) == len(want), place
        fractions = {k for k, each in enumerate(want) if isinstance(each, float)}
        size = max((abs(want[k]) for k in fractions), default=0.0)
        for k, (one, other) in enumerate(zip(got, want, strict=True)):
            if k in fractions and isinstance(one, float):
                assert abs(one - other) <= rel * size, f"{place}, entry {k}: {one}, not {other}"
            else:
                assert_alike(one, other, rel, f"{place}, entry {k}")
    elif isinstance(want, float):
        assert abs(got - want) <= rel * abs(want), f"{place}: {got}, not {want}"
    else:
        assert got == want, place


def assert_refused(call, error, words):
    """The call raises exactly this error, and each of the words stands in its message."""
    with pytest.raises(error) as raised:
        call()
    assert raised.type is error
    for word in words:
        assert word in str(raised.value)


def as_numpy(a):
    """A number, an array or a tensor of torch, as an array."""
    return a.detach().cpu().numpy() if hasattr(a, "detach") else np.asarray(a)


def missing(what):
    """Skip loudly at a reader's desk; fail in CI, where a skip would pass for a check."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    warnings.warn(what, stacklevel=2)
    pytest.skip(what)
