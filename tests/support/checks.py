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
