"""Files that are written whole or not at all, and folders and files that are the user's own."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO

NO_LINK_NO_WAIT = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Open no link, and wait at no pipe: of systems that know these flags."""


@contextmanager
def whole_file(path: Path, mode: int = 0o666) -> Iterator[BinaryIO]:
    """A file to write beside ``path``, which takes its place at the end; after an error it is
    removed.

    Nobody can know its name beforehand, and "x" follows no link. The umask takes from ``mode`` what
    it takes.
    """
    part = path.with_name(f".{token_hex(8)}.unfinished")
    try:
        with open(part, "xb", opener=partial(os.open, mode=mode)) as file:
            yield file
        os.replace(part, path)
    # BaseException: an interrupt is not to leave the part behind, either.
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def own_folder(folder: Path) -> Path:
    """The folder, made if it is not there, which belongs to this user, and where nobody else may
    write.

    Raises OSError, which says why not.
    """
    if not folder.is_absolute():
        raise NotADirectoryError(f"{folder} is no absolute path")
    for part in (*reversed(folder.parents), folder):
        if not part.exists():
            # mkdir(parents=True) would make those above it with another mode
            part.mkdir(0o700, exist_ok=True)
    found = os.stat(folder)
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(f"{folder} is no folder")
    _require_own(found, folder)
    return folder


@contextmanager
def open_own(path: Path) -> Iterator[BinaryIO]:
    """The file, opened to be read, if it belongs to this user and nobody else may write to it.

    Raises OSError, which says why not: also if it is a link, a pipe or anything else than a file.
    """
    with open(path, "rb", opener=_without_link) as file:
        # Of what was opened: by now the path may name another file.
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise PermissionError(f"{path} is no file")
        _require_own(found, path)
        yield file


def _without_link(path, flags):
    return os.open(path, flags | NO_LINK_NO_WAIT)


def _require_own(found, path):
    if not hasattr(os, "getuid"):
        # Windows has lists of rights instead, which Python does not read; a user's profile is
        # closed to others
        return
    if found.st_uid != os.getuid():
        raise PermissionError(f"{path} belongs to user {found.st_uid}, not to {os.getuid()}")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"others may write to {path}; `chmod go-w {path}` forbids it")
