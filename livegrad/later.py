"""Names of a package that are imported when they are asked for: what they stand on takes long to
import."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

Getattr = Callable[[str], Any]


def later(package: str, homes: Mapping[str, str]) -> Getattr:
    """The ``__getattr__`` of ``package``: ``homes`` says which of its modules has a name, or is
    what is asked for; the module of another package is written with a dot.

    It raises AttributeError for any other name, and ImportError that says what to install, where
    that is missing.
    """

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            home = homes[name]
            module = import_module(home if "." in home else f"{package}.{home}")
        except ModuleNotFoundError as error:
            missing = {"yaml": "pyyaml"}.get(error.name or "", error.name)
            raise ImportError(f"{package}.{name} needs {missing}: pip install {missing}") from error
        return module if name == home else getattr(module, name)

    return get
