"""Named arrays and a description of them in one file, which appears whole or not at all."""

import hashlib
import io
import json
import os
import zipfile
import zlib
from pathlib import Path

import numpy as np

RESERVED = ("about", "allow_pickle", "file")
"""Names that no array can have, since ``numpy.savez`` or this module uses them."""


def pack(arrays, about, save=np.savez_compressed):
    """The bytes of an npz file that holds the arrays and, as ``about``, their description in JSON."""
    buffer = io.BytesIO()
    save(buffer, about=np.array(json.dumps(about, sort_keys=True)), **arrays)
    return buffer.getvalue()


def unpack(data):
    """Arrays and description from the bytes that ``pack`` made.

    Raises
    ------
    ValueError
        if the bytes are damaged or something else.
    """
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        return arrays, json.loads(str(arrays.pop("about")))
    except (AttributeError, EOFError, KeyError, NotImplementedError, OSError, TypeError, ValueError,
            zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"damaged, or not made by mhalib ({type(error).__name__}: {error})") from error


def seal(data):
    """The data behind their checksum."""
    return hashlib.sha256(data).hexdigest().encode() + b"\n" + data


def unseal(sealed):
    """The data behind a checksum.

    Raises
    ------
    ValueError
        if the checksum is not theirs.
    """
    data = sealed[65:]
    if sealed != seal(data):
        raise ValueError("damaged: its content does not have its checksum")
    return data


def write(path, data):
    """Write a file in one piece: who is killed meanwhile leaves the old file, or none."""
    path = Path(path).expanduser()
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.unfinished")
    unfinished.write_bytes(data)
    os.replace(unfinished, path)
