"""The notebook extension: a reader's numbers are not held against the book's."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

from mhalib import notebook


def test_asserts_count_until_the_extension_is_loaded():
    shell = InteractiveShell()
    with pytest.raises(AssertionError):
        shell.run_cell("assert 1 == 2").raise_error()
    notebook.load_ipython_extension(shell)
    shell.run_cell("if True:\n    assert 1 == 2\nfound = 3").raise_error()
    assert shell.user_ns["found"] == 3
