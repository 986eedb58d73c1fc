"""Files that appear whole or not at all."""

import errno
import os
import stat

import pytest

from livegrad.record import _files
from livegrad.record._files import open_own, own_folder, whole_file


def test_a_file_appears_whole(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"before")
    with whole_file(path) as file:
        file.write(b"af")
        assert path.read_bytes() == b"before"
        file.write(b"ter")
    assert path.read_bytes() == b"after" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("before", [None, b"before"], ids=["new", "there"])
def test_after_an_error_everything_is_as_it_was(before, tmp_path):
    path = tmp_path / "file"
    if before:
        path.write_bytes(before)
    with pytest.raises(OSError, match="No space left"), whole_file(path) as file:
        file.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [before] * bool(before)


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path):
    with whole_file(tmp_path / ("n" * 255)) as file:
        file.write(b"data")


@pytest.mark.skipif(os.name == "nt", reason="links and modes of POSIX")
def test_a_link_that_was_planted_is_not_followed(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "token_hex", lambda length: "known")
    other = tmp_path / "other"
    other.write_bytes(b"not to be written over")
    (tmp_path / ".known.unfinished").symlink_to(other)
    with pytest.raises(FileExistsError), whole_file(tmp_path / "file") as file:
        file.write(b"data")
    assert other.read_bytes() == b"not to be written over"


@pytest.mark.skipif(os.name == "nt", reason="links and modes of POSIX")
def test_a_file_has_the_mode_that_a_new_one_has(tmp_path):
    (tmp_path / "plain").touch()
    for name, mode in {"usual": 0o666, "own": 0o600}.items():
        with whole_file(tmp_path / name, mode) as file:
            file.write(b"data")
    usual, own, plain = (
        stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("usual", "own", "plain")
    )
    assert usual == plain and own == 0o600


def test_an_own_folder_is_a_folder(tmp_path):
    (tmp_path / "file").touch()
    assert own_folder(tmp_path / "new" / "folder").is_dir()
    for wrong in (tmp_path / "file", tmp_path / "file" / "folder"):
        with pytest.raises(OSError):
            own_folder(wrong)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(OSError), open_own(tmp_path):
        pass
