"""Claims in other rounding environments: with ``--nudged``, every random number is its neighbor."""

import numpy as np
import pytest


class Neighbors(np.random.Generator):
    """Draws as ``default_rng`` does, and moves every float of a draw to the next one away from
    zero."""

    def random(self, *args, **options):
        return away(super().random(*args, **options))

    def uniform(self, *args, **options):
        return away(super().uniform(*args, **options))

    def standard_normal(self, *args, **options):
        return away(super().standard_normal(*args, **options))

    def normal(self, *args, **options):
        return away(super().normal(*args, **options))


def away(x):
    return np.nextafter(x, np.copysign(np.inf, x))


@pytest.fixture(scope="session", autouse=True)
def draws(request):
    """The random numbers of the pages: NumPy's own, or their neighbors."""
    if not request.config.getoption("--nudged"):
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        default_rng = np.random.default_rng
        patch.setattr(
            np.random, "default_rng", lambda seed=None: Neighbors(default_rng(seed).bit_generator)
        )
        yield
