"""``Finished``: the runs of a sweep that are done, one file each."""

import hashlib
import json
import warnings
from functools import partial
from inspect import getsource, unwrap
from pathlib import Path

import joblib

from mhabook.studies.files import pack, seal, unpack, unseal, write


def inner(run):
    """The function itself, also of a ``partial``."""
    return run.func if isinstance(run, partial) else run


def name(run):
    """Where the function is from and what it is called."""
    return f"{inner(run).__module__}.{inner(run).__qualname__}"


def origin(run, mhalib):
    """What results depend on besides configuration and seed: the function's name and source, what is bound to it."""
    try:
        function = unwrap(inner(run))
        if function.__code__.co_filename == "<string>":  # from exec; Python 3.13 reads the text of `python -c` for it
            raise OSError
        source = getsource(function)
    except (OSError, TypeError):
        raise ValueError("cache: the source of run cannot be read, so a change of it would go unnoticed; "
                         "put the function into a file or a notebook, or sweep without a cache") from None
    bound = [joblib.hash((run.args, run.keywords))] if isinstance(run, partial) else []
    return {"function": name(run), "source": hashlib.sha256(source.encode()).hexdigest(), "bound": bound,
            "mhalib": mhalib}


class Finished:
    """A folder of finished runs. What is damaged or of another run is named in a warning, and not used.

    A file is a checksum and an npz; it is named by a hash of origin, configuration and seed, and repeats them inside.
    """

    def __init__(self, folder, origin):
        self.folder, self.origin = Path(folder).expanduser(), origin

    def path(self, config, seed):
        """The file of a run."""
        return self.folder / (hashlib.sha256(self._identity(config, seed).encode()).hexdigest()[:32] + ".run")

    def load(self, config, seed):
        """The parts that a run returned and the versions it ran on; None if it has to run."""
        path = self.path(config, seed)
        if not path.exists():
            return None
        try:
            arrays, about = unpack(unseal(path.read_bytes()))
            if about.get("identity") != self._identity(config, seed):
                raise ValueError("it belongs to another run")
        except ValueError as error:
            warnings.warn(f"cache: {path} is not used, and its run done again: {error}", RuntimeWarning, stacklevel=3)
            return None
        parts = [{} for _ in range(about["parts"])]
        for name, array in arrays.items():
            part, column = name.split("/", 1)
            parts[int(part)][column] = array
        return parts, about["versions"]

    def save(self, config, seed, parts, versions):
        """Write the file of a run."""
        arrays = {f"{k}/{name}": array for k, part in enumerate(parts) for name, array in part.items()}
        about = {"identity": self._identity(config, seed), "parts": len(parts), "versions": versions}
        write(self.path(config, seed), seal(pack(arrays, about)))

    def _identity(self, config, seed):
        return json.dumps(self.origin | {"configuration": config, "seed": seed}, sort_keys=True)
