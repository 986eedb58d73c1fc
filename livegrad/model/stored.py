"""Models, and values made of models, arrays and numbers, in one NPZ file: arrays as its members, and
all else as JSON in the member ``about``. Nothing is pickled, and no class is imported by the name
that stands in a file.
"""

import io
import json
import sys
import warnings
import zipfile
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from livegrad.arrays import Array, as_tensor, is_array, is_tensor, shown, to_numpy
from livegrad.model.weights import attributes, field_names, weights, with_attributes, with_weights
from livegrad.vouched import PACKAGES

FORMAT = 1
"""The number of what is written here; a reader of files refuses a larger one."""
NUMBERS = "biufc"
"""The kinds of numpy's dtypes that are stored: all others would be pickled, or are no numbers."""

KINDS = ("array", "number", "tensor", "point", "series", "list", "tuple", "dict", "object")
"""What a value may be in the JSON of a file, beside numbers, words and None."""


class Series(NamedTuple):
    """Models of one class and shape, stored as one array for each weight."""

    models: tuple[Any, ...]


def save(file: str | PathLike[str], kind: str, model: Any, parts: dict[str, Any]) -> None:
    """Write values to a file, among them points like ``model``; ``kind`` says what they are.

    Raises TypeError if a value is none that a file can hold; ValueError if the name of the file has
    another ending than .npz; FileNotFoundError if there is no such folder.
    """
    from livegrad.record._files import whole_file  # loads what a bare import leaves out

    path = writable("file", file)
    packed = _Packed(model)
    about = {
        "livegrad": FORMAT,
        "kind": kind,
        "versions": {
            "livegrad": sys.modules[__name__.partition(".")[0]].__version__,
            "numpy": np.__version__,
        },
        "model": packed.settings(model),
        "parts": {name: packed.value(part, name) for name, part in parts.items()},
    }
    with whole_file(path) as out, zipfile.ZipFile(out, "w") as archive:
        for name, a in {"about": np.array(json.dumps(about)), **packed.arrays}.items():
            # Of a fixed date, so that the same values give the same bytes.
            member = zipfile.ZipInfo(f"{name}.npy")
            with archive.open(member, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, a, allow_pickle=False)


def load(file: str | PathLike[str], like: Any = None) -> tuple[str, dict[str, Any]]:
    """The kind and the values of a file that ``save`` wrote, and points as those of ``like``.

    Raises ValueError if it is damaged, another file, or of a later format; TypeError if it asks for
    another ``like``; FileNotFoundError if there is none.
    """
    path = _path("file", file)
    if like is not None and (isinstance(like, type) or not weights(like)):
        raise TypeError(f"like: expected a model of the class that was saved, got {shown(like)}")
    about, arrays = _contents(path)
    if about["livegrad"] > FORMAT:
        raise ValueError(
            f"file: expected format {FORMAT} or an earlier one, got {path.name!r} of format "
            f"{about['livegrad']}, which livegrad {about['versions']['livegrad']} wrote; update "
            "livegrad, for example with pip install --upgrade"
        )
    template = _template(about["model"], arrays, like)
    try:
        reader = _Unpacked(arrays, template, like)
        return about["kind"], {name: reader.value(part) for name, part in about["parts"].items()}
    except ImportError:  # of torch, which a caller can mend
        raise
    except Exception as error:
        raise _damaged(path, repr(error)) from None


def writable(name: str, file: str | PathLike[str]) -> Path:
    """The path of a file that ``save`` may write, the argument of this name.

    Raises as ``save``, and TypeError if it is no path.
    """
    path = _path(name, file)
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"{name}: expected a folder that is there, got {str(path.parent)!r}; make it first"
        )
    return path


def _path(name, file):
    if not isinstance(file, (str, PathLike)) or "\0" in str(file):
        raise TypeError(f"{name}: expected the path of a file, got {shown(file)}")
    path = Path(file).expanduser()
    if path.suffix != ".npz" or path.is_dir():
        raise ValueError(
            f"{name}: expected the path of a file that ends in .npz, got {path.name!r}"
        )
    return path


def _damaged(path, reason):
    words = (reason.splitlines() or ["nothing"])[0][:120]
    return ValueError(
        f"file: expected a whole file of a path or a model, got {path.name!r}: {words}; take a copy "
        "that is whole, or train again and save"
    )


def _contents(path):
    """What the file says about itself, and its arrays by name."""
    try:
        with zipfile.ZipFile(path) as archive:
            # A member is read to its end: only there its checksum is compared.
            found = {name.removesuffix(".npy"): archive.read(name) for name in archive.namelist()}
        arrays = {name: _array(content) for name, content in found.items()}
        about = json.loads(str(arrays.pop("about"))) if "about" in arrays else None
    except FileNotFoundError:
        raise
    # a damaged archive fails in zipfile, zlib, struct and numpy, each with errors of its own
    except Exception as error:
        raise _damaged(path, f"{error}") from None
    if not isinstance(about, dict) or not isinstance(about.get("livegrad"), int):
        raise ValueError(
            f"file: expected one that path.save or model.save wrote, got {path.name!r} with "
            f"{', '.join(arrays)[:80] or 'nothing'}; numpy.load reads arrays of any kind"
        )
    return about, arrays


def _array(content):
    stream = io.BytesIO(content)
    with warnings.catch_warnings():
        # a damaged header is first taken for one that Python 2 wrote
        warnings.simplefilter("ignore")
        return np.lib.format.read_array(stream, allow_pickle=False)


def _name(kind):
    return f"{kind.__module__}.{kind.__qualname__}"


def _of_a_package(name):
    """The frozen dataclass of this name, in a module that is loaded, of a package whose authors
    vouch for it; or None."""
    module, _, own = name.rpartition(".")
    if module.partition(".")[0] not in PACKAGES:
        return None
    found = getattr(sys.modules.get(module), own, None)
    is_frozen = (
        isinstance(found, type) and is_dataclass(found) and found.__dataclass_params__.frozen
    )
    return found if is_frozen else None


class _Packed:
    """Values as JSON, whose arrays are members of an archive by the name of where they stand."""

    def __init__(self, model: Any) -> None:
        self.kind = type(model)
        self.arrays: dict[str, np.ndarray] = {}

    def settings(self, model):
        """What a model is beside its weights; ``left`` are the names of what a file cannot hold."""
        said = {
            "class": _name(type(model)),
            "weights": list(weights(model)),
            "others": {},
            "left": [],
        }
        for name, value in attributes(model).items():
            if name in said["weights"]:
                continue
            try:
                said["others"][name] = self.value(value, f"settings.{name}")
            except TypeError:
                if getattr(type(model), name, None) is not value:  # nor its default
                    said["left"].append(name)
        return said

    def value(self, value, where):
        """A value, at ``where``."""
        if value is None or type(value) in (bool, int, float, str):
            return value
        if is_array(value):
            return self.array(value, where)
        if isinstance(value, Series):
            return {"series": self.series(value.models, where)}
        if type(value) is self.kind:
            return {"point": self.arrays_of(weights(value), where)}
        if type(value) in (list, tuple):
            items = [self.value(item, f"{where}.{k}") for k, item in enumerate(value)]
            return {type(value).__name__: items}
        if type(value) is dict and all(type(key) in (str, int) for key in value):
            # Words that are no names could be taken for another place.
            names = [key if str(key).isidentifier() else k for k, key in enumerate(value)]
            items = zip(value.items(), names, strict=True)
            return {"dict": [[key, self.value(one, f"{where}.{k}")] for (key, one), k in items]}
        if _of_a_package(_name(type(value))) is type(value):
            own = {f.name: getattr(value, f.name) for f in fields(value)}
            if all(type(number) in (bool, int, float, str) for number in own.values()):
                return {"object": [_name(type(value)), own]}
        raise TypeError(
            f"{where}: expected numbers, words, arrays and models, and lists, tuples and dicts of "
            f"them, which a file can hold, got {shown(value)}; what a rule remembers can be left "
            "out by dataclasses.replace(path, state=None).save(file)"
        )

    def arrays_of(self, named, where):
        return {name: self.array(a, f"{where}.{name}") for name, a in named.items()}

    def series(self, models, where):
        """The weights of all models, stacked."""
        each = [weights(model) for model in models]
        shapes = [{name: (a.shape, a.dtype) for name, a in one.items()} for one in each]
        if any(type(m) is not self.kind for m in models) or any(one != shapes[0] for one in shapes):
            raise TypeError(f"{where}: expected models of one class and of one shape")
        tensors = [name for name, a in each[0].items() if is_tensor(a)]
        stacked = {name: np.stack([to_numpy(one[name]) for one in each]) for name in each[0]}
        said = self.arrays_of(stacked, where)
        return said | {name: {"tensor": said[name]} for name in tensors}

    def array(self, a, where):
        """An array, its order in memory too: products of matrices round otherwise in another."""
        if is_tensor(a):
            return {"tensor": self.array(to_numpy(a), where)}
        if isinstance(a, np.generic):
            return {"number": self.array(np.asarray(a), where)}
        if type(a) is not np.ndarray or a.dtype.kind not in NUMBERS:
            raise TypeError(f"{where}: expected an array of numbers, got {shown(a)}")
        axes = sorted(range(a.ndim), key=lambda axis: -a.strides[axis])
        self.arrays[where] = np.ascontiguousarray(a.transpose(axes)).reshape(
            [a.shape[axis] for axis in axes]
        )
        return {"array": [where, axes]}


class _Unpacked:
    """The values of what ``_Packed`` says."""

    def __init__(self, arrays: dict[str, np.ndarray], template: Any, like: Any) -> None:
        self.arrays, self.template = arrays, template
        moving = {} if like is None else weights(like)
        self.beside: Array | None = next(filter(is_tensor, moving.values()), None)

    def value(self, said):
        """One value."""
        if not isinstance(said, dict):
            return said
        ((kind, content),) = said.items()
        if kind not in KINDS:
            raise KeyError(kind)
        return getattr(self, f"_{kind}")(content)

    def _array(self, content):
        name, axes = content
        return self.arrays[name].transpose(np.argsort(axes)) if axes else self.arrays[name]

    def _number(self, content):
        return self.value(content)[()]

    def _tensor(self, content):
        return as_tensor(self.value(content), self.beside)

    def _point(self, content):
        return with_weights(self.template, {name: self.value(a) for name, a in content.items()})

    def _series(self, content):
        stacked = {name: self.value(a) for name, a in content.items()}
        count: Iterable[int] = range(len(next(iter(stacked.values()))))
        return [
            with_weights(self.template, {name: a[k] for name, a in stacked.items()}) for k in count
        ]

    def _list(self, content):
        return [self.value(item) for item in content]

    def _tuple(self, content):
        return tuple(self._list(content))

    def _dict(self, content):
        return {key: self.value(value) for key, value in content}

    def _object(self, content):
        name, own = content
        return _of_a_package(name)(**own)


def _template(said, arrays, like):
    """A model like the one that was saved, in all but its weights.

    Raises TypeError if that asks for a ``like``, or for another.
    """
    name, own = said["class"], said["class"].rpartition(".")[2]
    if like is not None and type(like).__qualname__.rpartition(".")[2] != own:
        raise TypeError(
            f"like: expected a {own}, which the file holds, got a {type(like).__name__}"
        )
    kind = _of_a_package(name)
    if like is None and kind is None:
        raise TypeError(
            f"like: expected a model of the class {own}, because the file holds its numbers and no "
            "code, got None; write load(file, like=model)"
        )
    if like is None and said["left"]:
        raise TypeError(
            f"like: expected a {own} with the {', '.join(said['left'])} that the file cannot hold, "
            "got None; write load(file, like=model)"
        )
    blank = object.__new__(kind) if like is None else like
    known = field_names(kind) if like is None else weights(like)
    if not set(said["weights"]) <= set(known):
        raise ValueError(
            f"like: expected a {own} with the weights {', '.join(said['weights'])}, as the file "
            f"has, got one with {', '.join(known)}"
        )
    reader = _Unpacked(arrays, None, like)
    return with_attributes(blank, {k: reader.value(v) for k, v in said["others"].items()})
