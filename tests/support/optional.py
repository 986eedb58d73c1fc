"""Libraries that a test may need and a machine may lack: with ``from optional import torch`` a test
that comes to use torch is skipped where it is not installed, and so is a file that uses it before
its first test.
"""

import pytest


class Optional:
    """A library that is imported when something of it is asked for."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, part):
        if part.startswith("_"):  # pytest looks at every name of a file of tests
            raise AttributeError(part)
        return getattr(pytest.importorskip(self._name), part)


torch = Optional("torch")
nbclient = Optional("nbclient")
nbformat = Optional("nbformat")
session = Optional("jupyter_client.session")
