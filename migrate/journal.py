"""Writing many files so that a kill at any moment leaves every unit of change old or new.

The protocol, all of it inside the folder that holds every file of the run:

1. The *staging* file lists what is going to be written: file, temporary file beside it, digests.
2. Every new text is written to its temporary file and reaches the disk; no file has changed yet.
3. Renaming the staging file to the *journal* is the moment that counts: a run that is cut short
   before it is rolled back by the next one, one that is cut short after it is finished.
4. Every temporary file replaces its file, which is atomic; then the journal goes.

An advisory lock on the staging file (renaming keeps it) tells a dead run from one that still writes.

A journal that is found may be anybody's: it can name files of its own folder alone, and every one of them is
reached through folders that are no links.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import stops
from .beneath import Tree
from .errors import UserError, reason
from .reading import TooLarge, read_open

if sys.platform != "win32":
    import fcntl

JOURNAL = ".apex2native-journal.json"
STAGING = ".apex2native-staging.json"

_VERSION = 1
_LIMIT = 256 << 20
_LARGEST = 64 << 20  # no file that is written comes near this
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
    """Both names are relative to the folder of the journal, with slashes."""

    path: str
    temporary: str
    old_digest: str
    new_digest: str

    def state(self, tree: Tree) -> str:
        """Where the file stands: "new" already, "old" with the new text beside it, or "other"."""
        now = _digest_of(tree, self.path)
        if now == self.new_digest:
            return "new"
        ready = now == self.old_digest and _digest_of(tree, self.temporary) == self.new_digest
        return "old" if ready and _of_one_owner(tree, self.path, self.temporary) else "other"


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
    entries = {one.path: _planned(root, one, f".apex2native-{token}-{at}.tmp") for at, one in enumerate(flat)}
    planned = [[entries[one.path] for one in group] for group in groups]
    left: tuple[Path, ...] | None = None
    try:
        with stops.held(), _tree(root) as tree, _claim(tree, planned):
            _prepare(tree, flat, planned)
            left = _commit(tree, planned)
    except KeyboardInterrupt as stop:
        if left is None:
            raise
        raise stops.said_of(stop, stops.written(len(left))) from None  # it came with the last file
    return left


def recover(found: Path) -> int:
    """Finish the run that left the journal ``found``, or roll it back; how many files it finished."""
    try:
        with Tree(found.parent) as tree:
            if tree.info(found.name) is None:
                return 0
            descriptor = tree.regular(found.name, os.O_RDWR)
            try:
                return _recover(tree, found, descriptor)
            finally:
                os.close(descriptor)
    except OSError as error:
        raise UserError(
            f"the interrupted run in {found.parent} cannot be finished: {_named(error)}: {reason(error)}; "
            f"mend that, or delete {found} to give the run up."
        ) from error


def _recover(tree: Tree, found: Path, descriptor: int) -> int:
    _lock(descriptor, tree.root)
    named = tree.info(found.name)
    if named is None or not os.path.samestat(named, os.fstat(descriptor)):
        return 0  # its run was alive and has ended well before the lock was ours
    groups = _load(found, descriptor)
    with stops.held():
        finished = _finish(tree, found, groups) if found.name == JOURNAL else 0
        _discard(tree, groups)
        tree.remove(found.name)
        tree.sync(found.name)
    return finished


# ---------------------------------------------------------------- before the moment that counts


def _tree(root: Path) -> Tree:
    if os.open not in os.supports_dir_fd:
        raise UserError("files can be written on a POSIX system only; nothing was written.")
    try:
        return Tree(root)
    except OSError as error:
        raise UserError(f"{_named(error)}: {reason(error)}; nothing was written.") from error


def _planned(root: Path, one: Replacement, temporary: str) -> _Entry:
    path = one.path.relative_to(root)
    return _Entry(
        path.as_posix(), path.with_name(temporary).as_posix(), one.old_digest, digest(one.content())
    )


@contextmanager
def _claim(tree: Tree, groups: Sequence[Sequence[_Entry]]) -> Iterator[None]:
    """Hold the staging file, locked, while the run writes."""
    staging = tree.root / STAGING
    try:
        descriptor = tree.create(STAGING)
    except FileExistsError as error:
        raise UserError(
            f"another run is writing in {tree.root}; nothing was written (if there is none, delete {staging})."
        ) from error
    except OSError as error:
        raise UserError(f"{staging}: {reason(error)}; nothing was written.") from error
    try:
        try:
            _lock(descriptor, tree.root)
            if tree.info(JOURNAL) is not None:  # asked now: while this run holds the other name nobody renames it
                raise UserError(
                    f"an interrupted run in {tree.root} has to be finished first, or another is writing: run again, "
                    f"and if this stays, delete {tree.root / JOURNAL}."
                )
            _write_all(descriptor, json.dumps(_dump(groups)).encode())
            tree.sync(STAGING)
        except BaseException as error:
            tree.remove(STAGING)
            if isinstance(error, OSError):
                raise UserError(f"{staging}: {reason(error)}; nothing was written.") from error
            raise
        yield
    finally:
        os.close(descriptor)


def _prepare(tree: Tree, replacements: Sequence[Replacement], groups: Sequence[Sequence[_Entry]]) -> None:
    """Everything up to the moment that counts; whatever comes before it leaves all as it was."""
    entries = [entry for group in groups for entry in group]
    try:
        for one, entry in zip(replacements, entries, strict=True):
            _stage(tree, one, entry)
            stops.let_in()
        for entry in entries:
            _refuse_if_changed(tree, entry)
        tree.rename(STAGING, JOURNAL)
    except BaseException as error:
        for entry in entries:
            with suppress(OSError):
                tree.remove(entry.temporary)
        tree.remove(STAGING)
        if isinstance(error, OSError):
            raise UserError(f"{_named(error)}: {reason(error)}; nothing was written.") from error
        raise
    tree.sync(JOURNAL)


def _stage(tree: Tree, one: Replacement, entry: _Entry) -> None:
    """Write the new text beside the file, with the file's owner, mode and attributes."""
    old = tree.regular(entry.path)
    try:
        info = os.fstat(old)
        # The superuser may write anything, so the bits are asked too: a file that was locked stays so.
        if not info.st_mode & 0o222 or not tree.may_write(entry.path):
            raise UserError(f"{one.path} is read-only; nothing was written.")
        if info.st_nlink > 1:
            raise UserError(
                f"{one.path} has a second name (a hard link) that would keep the old text; nothing was written: "
                "make it a file of its own first."
            )
        new = tree.create(entry.temporary)
        try:
            made = os.fstat(new)
            if (made.st_uid, made.st_gid) != (info.st_uid, info.st_gid):
                _keep_owner(new, info, one.path)
            os.fchmod(new, stat.S_IMODE(info.st_mode))
            _keep_attributes(old, new)
            _write_all(new, one.content())
        except OSError as error:
            error.filename = error.filename or str(one.path)
            raise
        finally:
            os.close(new)
    finally:
        os.close(old)


def _keep_owner(descriptor: int, info: os.stat_result, path: Path) -> None:
    try:
        os.fchown(descriptor, info.st_uid, info.st_gid)
    except OSError as error:
        raise UserError(f"{path} belongs to another user or group; nothing was written.") from error


def _keep_attributes(old: int, new: int) -> None:
    """Access control lists live in extended attributes; a file system without them has none to keep."""
    if sys.platform != "linux":
        return
    with suppress(OSError):
        for name in os.listxattr(old):
            with suppress(OSError):
                os.setxattr(new, name, os.getxattr(old, name))


def _refuse_if_changed(tree: Tree, entry: _Entry) -> None:
    if _digest_of(tree, entry.path) != entry.old_digest:
        raise UserError(
            f"{tree.root / entry.path} was changed while it was analysed; nothing was written, run again."
        )


def _discard(tree: Tree, groups: Sequence[Sequence[_Entry]]) -> None:
    for group in groups:
        for entry in group:
            tree.remove(entry.temporary)


# ---------------------------------------------------------------- after it


def _commit(tree: Tree, groups: Sequence[Sequence[_Entry]]) -> tuple[Path, ...]:
    """Replace group by group; a signal that comes between two leaves those that are whole."""
    left: list[Path] = []
    written = 0
    try:
        for group in groups:
            stops.let_in()
            if any(_digest_of(tree, entry.path) != entry.old_digest for entry in group):
                left += [tree.root / entry.path for entry in group]
                _discard(tree, [group])
            else:
                _replace(tree, group)
                written += len(group)
    except KeyboardInterrupt as stop:
        _discard(tree, groups)
        tree.remove(JOURNAL)
        of = sum(map(len, groups))
        raise stops.said_of(stop, f" after {written} of {of} files were written; run again for the rest") from None
    except OSError as error:
        raise UserError(
            f"{_named(error)}: {reason(error)}; run again with --write to finish what was begun."
        ) from error
    tree.remove(JOURNAL)
    tree.sync(JOURNAL)
    return tuple(left)


def _replace(tree: Tree, group: Sequence[_Entry]) -> None:
    for entry in group:
        tree.replace(entry.temporary, entry.path)
    for path in {entry.path.rpartition("/")[0]: entry.path for entry in group}.values():
        tree.sync(path)


def _finish(tree: Tree, journal: Path, groups: Sequence[Sequence[_Entry]]) -> int:
    """Finish every group that can be; a group of which nothing was written yet may be given up."""
    todo: list[list[_Entry]] = []
    for group in groups:
        states = [entry.state(tree) for entry in group]
        if "other" not in states:
            todo.append([entry for entry, state in zip(group, states, strict=True) if state == "old"])
        elif "new" in states:
            odd = next(entry for entry, state in zip(group, states, strict=True) if state == "other")
            raise UserError(
                f"{tree.root / odd.path} was changed after a run was interrupted that had written other files of "
                f"its unit: bring it back, or delete {journal} to give that run up."
            )
    for pending in todo:
        _replace(tree, pending)
    return sum(map(len, todo))


# ---------------------------------------------------------------- the journal as a file


def _dump(groups: Sequence[Sequence[_Entry]]) -> dict[str, Any]:
    def one(entry: _Entry) -> dict[str, str]:
        return {
            "path": entry.path,
            "temporary": entry.temporary.rpartition("/")[2],
            "old": entry.old_digest,
            "new": entry.new_digest,
        }

    return {"journal": _VERSION, "groups": [[one(entry) for entry in group] for group in groups]}


def _load(found: Path, descriptor: int) -> list[list[_Entry]]:
    """The groups of a journal; a staging file that was cut short has not led to anything yet."""
    try:
        data = json.loads(read_open(descriptor, str(found), _LIMIT))
        if data["journal"] != _VERSION:
            raise ValueError
        return [[_entry(one) for one in group] for group in data["groups"]]
    except (ValueError, KeyError, TypeError, RecursionError, TooLarge) as error:
        if found.name == STAGING:
            return []
        raise UserError(
            f"{found} is no journal of this version: delete it if no run of another one needs it."
        ) from error


def _entry(one: dict[str, str]) -> _Entry:
    path, temporary = one["path"], one["temporary"]
    parts = path.split("/") if isinstance(path, str) else []
    if not parts or not {"", ".", ".."}.isdisjoint(parts) or b"\0" in os.fsencode(path):
        raise ValueError
    if not isinstance(temporary, str) or not _TEMPORARY.fullmatch(temporary):
        raise ValueError
    return _Entry(path, "/".join([*parts[:-1], temporary]), one["old"], one["new"])


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


def _digest_of(tree: Tree, name: str) -> str | None:
    """The digest of a file; None where nothing is there, or nothing that a run has written."""
    info = tree.info(name)
    if info is None or not stat.S_ISREG(info.st_mode) or info.st_size > _LARGEST:
        return None
    descriptor = tree.regular(name)
    try:
        total = hashlib.sha256()
        while chunk := os.read(descriptor, _CHUNK):
            total.update(chunk)
        return total.hexdigest()
    finally:
        os.close(descriptor)


def _of_one_owner(tree: Tree, *names: str) -> bool:
    """Whether files belong to one user, as what a run has written belongs to whom its file did: where many may write
    (/tmp), somebody else's text does not take a file's place."""
    return len({info.st_uid for name in names if (info := tree.info(name)) is not None}) == 1


def _named(error: OSError) -> str:
    return str(error.filename) if error.filename is not None else "the file system"
