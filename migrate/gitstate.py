"""Whether git could bring back the files that are going to be written.

The repository's own configuration may name programs: filters, a monitor of the file system, hooks, helpers
that fetch objects which are missing. So git is asked one thing alone, which blobs the last commit holds under
these names, and is kept from fetching. The files are compared with those blobs here, byte for byte.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .errors import UserError
from .reading import SOURCE_LIMIT, read

_BATCH = 500
_SHOWN = 5
_PATIENCE = 60  # seconds; a pipe in the place of a file of git's would be waited for without an end
_QUIET = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "safe.bareRepository": "explicit",  # a folder of the target that only looks like a repository
}
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "none",  # unlike protocol.allow, no configuration stands above it
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


def refuse_unsaved(files: Sequence[Path]) -> None:
    """Raise `UserError` if a file inside a git work tree holds anything that git does not have."""
    unsaved = [entry for top, group in _by_work_tree(files).items() for entry in _unsaved(top, group)]
    if not unsaved:
        return
    some = ", ".join(f"{path} ({state})" for path, state in unsaved[:_SHOWN])
    more = f" and {len(unsaved) - _SHOWN} more" if len(unsaved) > _SHOWN else ""
    raise UserError(
        f"nothing was written, because git could not bring back {some}{more}: "
        "commit first, or say --allow-dirty."
    )


def _by_work_tree(files: Sequence[Path]) -> dict[Path, list[Path]]:
    tops: dict[Path, Path | None] = {}
    grouped: dict[Path, list[Path]] = {}
    for file in files:
        folder = file.parent
        if folder not in tops:
            tops[folder] = next((one for one in (folder, *folder.parents) if (one / ".git").exists()), None)
        top = tops[folder]
        if top is not None:
            grouped.setdefault(top, []).append(file)
    return grouped


def _unsaved(top: Path, files: Sequence[Path]) -> Iterator[tuple[str, str]]:
    for start in range(0, len(files), _BATCH):
        names = {os.path.relpath(file, top): file for file in files[start : start + _BATCH]}
        committed = _committed(top, list(names))
        for name, file in names.items():
            blob = committed.get(name)
            if blob is None:
                yield name, "not committed"
            elif not _holds(blob, read(file, SOURCE_LIMIT)):
                yield name, "uncommitted changes"


def _holds(blob: str, data: bytes) -> bool:
    """Whether ``blob`` is the id of ``data``, or of it with the line ends that git may have put in."""
    return blob in (_blob_id(data, len(blob)), _blob_id(data.replace(b"\r\n", b"\n"), len(blob)))


def _blob_id(data: bytes, length: int) -> str:
    whole = b"blob %d\0" % len(data) + data
    return (hashlib.sha256 if length == 64 else hashlib.sha1)(whole, usedforsecurity=False).hexdigest()


def _committed(top: Path, names: Sequence[str]) -> Mapping[str, str]:
    """The ids of the blobs that the last commit holds under ``names``."""
    said = _git(top, "ls-tree", "-z", "--full-tree", "HEAD", "--", *names)
    found: dict[str, str] = {}
    for record in said.split(b"\0"):
        about, _, name = record.partition(b"\t")
        words = about.split()  # mode, kind and id
        if words[1:2] == [b"blob"]:
            found[os.fsdecode(name)] = words[2].decode("ascii")
    return found


def _git(top: Path, *words: str) -> bytes:
    """What git prints; nothing where nothing was ever committed."""
    path = _absolute_path()
    program = shutil.which("git", path=path)
    if program is None:
        raise UserError(
            f"{top} is a git work tree but git cannot be run, so nothing was written: "
            "install git, or say --allow-dirty."
        )
    command = [program, "--no-pager", "--literal-pathspecs", "-C", str(top)]
    for key, value in _QUIET.items():
        command += ["-c", f"{key}={value}"]
    # Variables that a hook inherits, or that somebody set, would point git elsewhere or name programs.
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment = kept | {"PATH": path} | _ENVIRONMENT
    try:
        run = subprocess.run(
            [*command, *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except OSError as error:
        raise UserError(f"nothing was written, because git cannot be run in {top} (or say --allow-dirty).") from error
    except subprocess.TimeoutExpired as error:
        raise UserError(
            f"nothing was written, because git did not answer in {top}: "
            "look for pipes or devices in its .git, or say --allow-dirty."
        ) from error
    if run.returncode == 0:
        return run.stdout
    lines = os.fsdecode(run.stderr).strip().split("\n")
    said = next((line for line in lines if line.startswith("fatal: ")), lines[0])  # warnings may stand before it
    if "Not a valid object name HEAD" in said:
        return b""
    raise UserError(f"nothing was written, because git says: {said} (or say --allow-dirty).")


def _absolute_path() -> str:
    """The folders programs are looked for in, without those that depend on where one stands."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join(folder for folder in folders if os.path.isabs(folder))
