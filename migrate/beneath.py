"""Files reached by directory descriptors, so that no link on the way is followed.

A path can be checked, and become another one before it is used: whoever may write to the tree puts a
link in the place of a folder. So every folder on the way is opened by itself and refused if it is a
link, and what is done to a file is done relative to the folder that is held open.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

# To pass through a folder takes no right to list it.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
# Opening must neither wait (for the writer of a pipe) nor make a terminal ours.
_FILE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NOCTTY", 0)
_NO_FOLDER = "this is a symbolic link or no directory, so it was not entered"
NOT_REGULAR = "this is no regular file"


class Tree:
    """What lies below ``root``, a real path. Names are relative to it, with slashes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._descriptor = _enter(root.parts[1:], os.open(root.anchor, _FOLDER), root)

    def regular(self, name: str, flags: int = os.O_RDONLY) -> int:
        """A descriptor of a file that is there and is nothing but a file."""
        with self._folder_of(name) as (folder, last):
            return _regular(last, flags, folder)

    def create(self, name: str) -> int:
        """A descriptor of a file that was not there before, for writing."""
        with self._folder_of(name) as (folder, last):
            return os.open(last, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FILE, 0o600, dir_fd=folder)

    def info(self, name: str) -> os.stat_result | None:
        """What lies there, links not followed; None for nothing."""
        try:
            with self._folder_of(name) as (folder, last):
                return os.stat(last, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def may_write(self, name: str) -> bool:
        with self._folder_of(name) as (folder, last):
            return os.access(last, os.W_OK, dir_fd=folder)

    def rename(self, old: str, new: str) -> None:
        """Give a file another name in its folder, one that is free."""
        with self._folder_of(new) as (folder, last):
            os.rename(old.rpartition("/")[2], last, src_dir_fd=folder, dst_dir_fd=folder)

    def replace(self, old: str, new: str) -> None:
        """Put ``old`` in the place of ``new``, in one step; both lie in one folder."""
        with self._folder_of(new) as (folder, last):
            os.replace(old.rpartition("/")[2], last, src_dir_fd=folder, dst_dir_fd=folder)

    def remove(self, name: str) -> None:
        """Make sure that there is no such file."""
        try:
            with self._folder_of(name) as (folder, last):
                os.unlink(last, dir_fd=folder)
        except FileNotFoundError:
            return

    def sync(self, name: str) -> None:
        """Make a rename of ``name`` durable; not every file system can."""
        try:
            with self._folder_of(name) as (folder, _):
                descriptor = os.open(".", os.O_RDONLY, dir_fd=folder)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
        except OSError:
            return

    @contextmanager
    def _folder_of(self, name: str) -> Iterator[tuple[int, str]]:
        """The folder that holds ``name``, open, and the last part of the name."""
        path = self.root / name
        *folders, last = name.split("/")
        folder = _enter(folders, os.dup(self._descriptor), path.parent)
        try:
            yield folder, last
        except OSError as error:
            error.filename = str(path)
            raise
        finally:
            os.close(folder)

    def __enter__(self) -> Tree:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)


def open_regular(path: Path) -> int:
    """A descriptor, for reading, of the regular file at a real path."""
    if os.open not in os.supports_dir_fd:
        return os.open(path, os.O_RDONLY)
    folder = _enter(path.parts[1:-1], os.open(path.anchor, _FOLDER), path.parent)
    try:
        return _regular(path.name, os.O_RDONLY, folder)
    except OSError as error:
        error.filename = str(path)
        raise
    finally:
        os.close(folder)


def _enter(folders: Sequence[str], at: int, path: Path) -> int:
    """A descriptor of the folder that is reached from ``at``, which is closed."""
    for folder in folders:
        try:
            below = os.open(folder, _FOLDER, dir_fd=at)
        except OSError as error:
            if error.errno in (errno.ENOTDIR, errno.ELOOP):
                raise NotADirectoryError(error.errno, _NO_FOLDER, str(path)) from error
            error.filename = str(path)
            raise
        finally:
            os.close(at)
        at = below
    return at


def _regular(name: str, flags: int, folder: int) -> int:
    # A device may do something as soon as it is opened, so it is looked at before, and again afterwards.
    _refuse_others(os.stat(name, dir_fd=folder, follow_symlinks=False))
    descriptor = os.open(name, flags | _FILE, dir_fd=folder)
    try:
        _refuse_others(os.fstat(descriptor))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _refuse_others(info: os.stat_result) -> None:
    if not stat.S_ISREG(info.st_mode):
        raise OSError(errno.EINVAL, NOT_REGULAR)
