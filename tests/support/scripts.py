"""Files that belong to no package, as modules: what makes the results, the pages and the checks."""

import importlib.util
import sys
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]


@contextmanager
def loaded(path, name=None):
    """A file, named from the root of the repository, as a fresh module that is found by its name
    meanwhile."""
    name = name or Path(path).stem
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    module, before = importlib.util.module_from_spec(spec), sys.modules.get(name)
    sys.modules[name] = module  # dataclasses look their module up, and sweeps their function
    sys.path.insert(0, str((ROOT / path).parent))  # as Python does for a script
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str((ROOT / path).parent))
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before


def load(path, name=None):
    """The same for good, where nobody looks the module up."""
    with loaded(path, name) as module:
        return module
