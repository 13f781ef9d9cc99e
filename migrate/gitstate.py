"""Whether git could bring back the files that are going to be written."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from migrate.errors import UserError

_BATCH = 500
# Variables a hook inherits that would point git at another repository or index than the file's own.
_FOREIGN = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
_SHOWN = 5


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


def _unsaved(top: Path, files: Sequence[Path]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for start in range(0, len(files), _BATCH):
        names = [os.path.relpath(file, top) for file in files[start : start + _BATCH]]
        found += _status(top, names)
    return found


def _status(top: Path, names: Sequence[str]) -> list[tuple[str, str]]:
    environment = {key: value for key, value in os.environ.items() if key not in _FOREIGN}
    environment |= {"GIT_LITERAL_PATHSPECS": "1", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    # A repository's own configuration may name a program to run as file-system monitor.
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(top), "status", "--porcelain=v1", "-z"]
    command += ["--untracked-files=all", "--ignored=matching", "--no-renames", "--", *names]
    try:
        run = subprocess.run(command, env=environment, capture_output=True, check=False)
    except OSError as error:
        raise UserError(
            f"{top} is a git work tree but git cannot be run, so nothing was written: "
            "install git, or say --allow-dirty."
        ) from error
    if run.returncode != 0:
        said = os.fsdecode(run.stderr).strip().partition("\n")[0]
        raise UserError(f"nothing was written, because git says: {said} (or say --allow-dirty).")
    records = [os.fsdecode(record) for record in run.stdout.split(b"\0") if record]
    return [(record[3:], _state(record[:2])) for record in records]


def _state(code: str) -> str:
    return {"??": "untracked", "!!": "ignored, so untracked"}.get(code, "uncommitted changes")
