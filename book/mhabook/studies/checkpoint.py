"""``Checkpoint``: the state of a long run in one file, for the same run to go on from."""

import warnings
from pathlib import Path

import numpy as np

from mhabook.studies.files import pack, seal, unpack, unseal, write
from mhabook.studies.task import versions
from mhalib._array import require_count


class Checkpoint:
    """A file that ``train_network`` keeps its state in, written in one piece every ``every`` steps and at the end.

    Who is killed while it writes leaves the state before. The file repeats the configuration of its run, and a checksum
    of everything: the state of another run is refused, and so is a damaged one. It holds numbers alone, no code.

    Parameters
    ----------
    path : the file
    every : how many steps lie between two states

    Raises
    ------
    ValueError
        if ``every`` is no whole number ≥ 1.
    """

    def __init__(self, path, every=500):
        require_count(every=every)
        self.path, self.every = Path(path).expanduser(), every

    def load(self, configuration, libraries):
        """The arrays and the description of the state that was saved last, or None if there is no file.

        ``libraries`` are names and versions of what computes besides numpy; if they changed, a warning says so.

        Raises
        ------
        ValueError
            if the file is damaged, or of a run of another configuration; what differs is named.
        """
        if not self.path.exists():
            return None
        try:
            arrays, about = unpack(unseal(self.path.read_bytes()))
        except ValueError as error:
            raise ValueError(f"checkpoint: {self.path} cannot be used: {error}. Remove it to begin anew") from error
        found = about["configuration"]
        differing = [f"{name} is {_short(configuration.get(name))} here and {_short(found.get(name))} there"
                     for name in sorted(configuration.keys() | found.keys())
                     if configuration.get(name) != found.get(name)]
        if differing:
            raise ValueError(f"checkpoint: {self.path} belongs to another run: {'; '.join(differing)}. Choose another "
                             "file, or remove this one")
        if about["versions"] != versions() | libraries:
            warnings.warn(f"checkpoint: {self.path} was written on other versions ({about['versions']}): the run goes "
                          "on, but its bits need not be those of a run without a break", RuntimeWarning, stacklevel=4)
        return arrays, about

    def save(self, configuration, libraries, arrays, about):
        """Write a state."""
        about = about | {"configuration": configuration, "versions": versions() | libraries}
        write(self.path, seal(pack(arrays, about, np.savez)))  # weights hardly shrink, and a run waits meanwhile


def _short(value):
    text = str(value)
    return text if len(text) <= 80 else f"{text[:60]} … ({len(text)} letters)"
