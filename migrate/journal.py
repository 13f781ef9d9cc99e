"""Writing many files so that a kill at any moment leaves every unit of change old or new.

The protocol, all of it inside the folder that holds every file of the run:

1. The *staging* file lists what is going to be written: file, temporary file beside it, digests.
2. Every new text is written to its temporary file and reaches the disk; no file has changed yet.
3. Renaming the staging file to the *journal* is the moment that counts: a run that is cut short
   before it is rolled back by the next one, one that is cut short after it is finished.
4. Every temporary file replaces its file, which is atomic; then the journal goes.

An advisory lock on the staging file (renaming keeps it) tells a dead run from one that still writes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import signal
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from migrate.errors import UserError, reason

if sys.platform != "win32":
    import fcntl

JOURNAL = ".apex2native-journal.json"
STAGING = ".apex2native-staging.json"

_VERSION = 1
_TEMPORARY = re.compile(r"\.apex2native-[0-9a-f]+-\d+\.tmp")
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Replacement:
    """A file to replace, the digest of what was analysed, and a way to get the new bytes."""

    path: Path
    old_digest: str
    content: Callable[[], bytes]


@dataclass(frozen=True)
class _Entry:
    path: Path
    temporary: Path
    old_digest: str
    new_digest: str

    def state(self) -> str:
        """Where the file stands: "new" already, "old" with the new text beside it, or "other"."""
        now = _digest_of(self.path)
        if now == self.new_digest:
            return "new"
        ready = now == self.old_digest and _digest_of(self.temporary) == self.new_digest
        return "old" if ready else "other"


def digest(data: bytes) -> str:
    """What `Replacement.old_digest` compares."""
    return hashlib.sha256(data).hexdigest()


def write(root: Path, groups: Sequence[Sequence[Replacement]]) -> tuple[Path, ...]:
    """Replace the files of every group, each group wholly or not at all, or nothing of all.

    Returns the files that were left alone because they (or another of their group) were changed
    by someone else in the very moment of writing; every other surprise is a `UserError`.
    """
    token = secrets.token_hex(4)
    flat = [one for group in groups for one in group]
    names = {one.path: one.path.with_name(f".apex2native-{token}-{at}.tmp") for at, one in enumerate(flat)}
    planned = [
        [_Entry(one.path, names[one.path], one.old_digest, digest(one.content())) for one in group]
        for group in groups
    ]
    with _claim(root, planned):
        try:
            for one in flat:
                _stage(one, names[one.path])
            for entry in (entry for group in planned for entry in group):
                _refuse_if_changed(entry.path, entry.old_digest)
            os.rename(root / STAGING, root / JOURNAL)
        except BaseException as error:
            _discard(planned)
            (root / STAGING).unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise UserError(f"{_named(error)}: {reason(error)}; nothing was written.") from error
            raise
        _sync_folder(root)
        try:
            left = _commit(planned)
        except KeyboardInterrupt:  # comes between two groups: what is whole stays, the rest is given up
            _discard(planned)
            (root / JOURNAL).unlink(missing_ok=True)
            raise
        (root / JOURNAL).unlink()
        _sync_folder(root)
    return left


def recover(found: Path) -> int:
    """Finish the run that left the journal ``found``, or roll it back; how many files it finished."""
    try:
        descriptor = os.open(found, os.O_RDWR)
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise UserError(f"{found} of an interrupted run cannot be opened: {reason(error)}.") from error
    try:
        _lock(descriptor, found.parent)
        groups = _load(found)
        finished = 0
        if found.name == JOURNAL:
            finished = _finish(found, groups)
        _discard(groups)
        found.unlink(missing_ok=True)
        _sync_folder(found.parent)
        return finished
    except OSError as error:
        raise UserError(
            f"the interrupted run in {found.parent} cannot be finished: {_named(error)}: {reason(error)}."
        ) from error
    finally:
        os.close(descriptor)


# ---------------------------------------------------------------- before the moment that counts


@contextmanager
def _claim(root: Path, groups: Sequence[Sequence[_Entry]]) -> Iterator[None]:
    """Hold the staging file, locked, while the run writes."""
    staging = root / STAGING
    if (root / JOURNAL).exists():
        raise UserError(f"an interrupted run in {root} has to be finished first: run again.")
    try:
        descriptor = os.open(staging, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise UserError(f"another run is writing in {root}; nothing was written.") from error
    except OSError as error:
        raise UserError(f"{staging}: {reason(error)}; nothing was written.") from error
    try:
        try:
            _lock(descriptor, root)
            _write_all(descriptor, json.dumps(_dump(root, groups)).encode())
            _sync_folder(root)
        except BaseException as error:
            staging.unlink(missing_ok=True)
            if isinstance(error, OSError):
                raise UserError(f"{staging}: {reason(error)}; nothing was written.") from error
            raise
        yield
    finally:
        os.close(descriptor)


def _stage(one: Replacement, temporary: Path) -> None:
    """Write the new text beside the file, with the file's owner, mode and attributes."""
    info = os.stat(one.path)
    # The superuser may write anything, so the bits are asked too: a file that was locked stays so.
    if not info.st_mode & 0o222 or not os.access(one.path, os.W_OK):
        raise UserError(f"{one.path} is read-only; nothing was written.")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        made = os.fstat(descriptor)
        if (made.st_uid, made.st_gid) != (info.st_uid, info.st_gid):
            _keep_owner(descriptor, info, one.path)
        os.chmod(temporary, stat.S_IMODE(info.st_mode))
        _keep_attributes(one.path, temporary)
        _write_all(descriptor, one.content())
    finally:
        os.close(descriptor)


def _keep_owner(descriptor: int, info: os.stat_result, path: Path) -> None:
    if sys.platform == "win32":
        return
    try:
        os.fchown(descriptor, info.st_uid, info.st_gid)
    except OSError as error:
        raise UserError(f"{path} belongs to another user or group; nothing was written.") from error


def _keep_attributes(path: Path, temporary: Path) -> None:
    """Access control lists live in extended attributes; a file system without them has none to keep."""
    if sys.platform != "linux":
        return
    with suppress(OSError):
        for name in os.listxattr(path):
            with suppress(OSError):
                os.setxattr(temporary, name, os.getxattr(path, name))


def _refuse_if_changed(path: Path, old_digest: str) -> None:
    if _digest_of(path) != old_digest:
        raise UserError(f"{path} was changed while it was analysed; nothing was written, run again.")


def _discard(groups: Sequence[Sequence[_Entry]]) -> None:
    for group in groups:
        for entry in group:
            entry.temporary.unlink(missing_ok=True)


# ---------------------------------------------------------------- after it


def _commit(groups: Sequence[Sequence[_Entry]]) -> tuple[Path, ...]:
    left: list[Path] = []
    for group in groups:
        with _uninterrupted():
            if any(_digest_of(entry.path) != entry.old_digest for entry in group):
                left += [entry.path for entry in group]
                _discard([group])
            else:
                _replace(group)
    return tuple(left)


def _replace(group: Sequence[_Entry]) -> None:
    for entry in group:
        try:
            os.replace(entry.temporary, entry.path)
        except OSError as error:
            raise UserError(
                f"{entry.path}: {reason(error)}; run again with --write to finish what was begun."
            ) from error
    for folder in {entry.path.parent for entry in group}:
        _sync_folder(folder)


def _finish(journal: Path, groups: Sequence[Sequence[_Entry]]) -> int:
    """Finish every group that can be; a group of which nothing was written yet may be given up."""
    todo: list[list[_Entry]] = []
    for group in groups:
        states = [entry.state() for entry in group]
        if "other" not in states:
            todo.append([entry for entry, state in zip(group, states, strict=True) if state == "old"])
        elif "new" in states:
            odd = next(entry for entry, state in zip(group, states, strict=True) if state == "other")
            raise UserError(
                f"{odd.path} was changed after a run was interrupted that had written other files of its "
                f"unit: bring it back, or delete {journal} to give that run up."
            )
    for pending in todo:
        _replace(pending)
    return sum(map(len, todo))


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits until a group is whole."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# ---------------------------------------------------------------- the journal as a file


def _dump(root: Path, groups: Sequence[Sequence[_Entry]]) -> dict[str, Any]:
    def one(entry: _Entry) -> dict[str, str]:
        return {
            "path": entry.path.relative_to(root).as_posix(),
            "temporary": entry.temporary.name,
            "old": entry.old_digest,
            "new": entry.new_digest,
        }

    return {"journal": _VERSION, "groups": [[one(entry) for entry in group] for group in groups]}


def _load(found: Path) -> list[list[_Entry]]:
    """The groups of a journal; a staging file that was cut short has not led to anything yet."""
    try:
        data = json.loads(found.read_bytes())
        if data["journal"] != _VERSION:
            raise ValueError
        return [[_entry(found.parent, one) for one in group] for group in data["groups"]]
    except (ValueError, KeyError, TypeError) as error:
        if found.name == STAGING:
            return []
        raise UserError(f"{found} is no journal of this version: remove it if no run needs it.") from error


def _entry(root: Path, one: dict[str, str]) -> _Entry:
    relative = PurePosixPath(one["path"])
    if relative.is_absolute() or ".." in relative.parts or not _TEMPORARY.fullmatch(one["temporary"]):
        raise ValueError
    path = root / relative
    return _Entry(path, path.with_name(one["temporary"]), one["old"], one["new"])


def _lock(descriptor: int, root: Path) -> None:
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UserError(f"another run is writing in {root}; nothing was written.") from error
    except OSError:
        return  # some network file systems know no locks


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    os.fsync(descriptor)


def _sync_folder(folder: Path) -> None:
    """Make a rename durable; not every file system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _digest_of(path: Path) -> str | None:
    try:
        with open(path, "rb") as stream:
            total = hashlib.sha256()
            while chunk := stream.read(_CHUNK):
                total.update(chunk)
            return total.hexdigest()
    except FileNotFoundError:
        return None


def _named(error: OSError) -> str:
    return str(error.filename) if error.filename is not None else "the file system"
