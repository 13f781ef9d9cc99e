"""What the tests of the shell share: trees of files, and the tool as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from migrate.imports.tree import Imports

PROJECT = Path(__file__).resolve().parents[2]
LEGACY = "import apex\n"
NATIVE = "import torch\n"
#: A file that tells others whether amp is there.
ASKS = """\
try:
    from apex import amp

    _has_apex = True
except ImportError:
    _has_apex = False


def is_apex_available():
    return _has_apex
"""


def tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write ``files`` below ``root``; text is written as it is, in UTF-8."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def environment(**extra: str) -> dict[str, str]:
    """The environment without what changes colours or git, and with the project importable."""
    dropped = ("NO_COLOR", "FORCE_COLOR", "COLUMNS")
    kept = {key: value for key, value in os.environ.items() if key not in dropped and key[:4] != "GIT_"}
    return {**kept, "PYTHONPATH": str(PROJECT), **extra}


def tool(*arguments: str | Path, cwd: Path | None = None, **extra: str) -> subprocess.CompletedProcess[str]:
    """``apex2native`` with the fake engine, in a process of its own."""
    return subprocess.run(
        command(*arguments), cwd=cwd, env=environment(**extra), capture_output=True, text=True, timeout=60
    )


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "tests.shell.fake", *map(str, arguments)]


def report_of(*arguments: str | Path, cwd: Path | None = None) -> dict[str, Any]:
    """The JSON report that a run prints."""
    loaded: dict[str, Any] = json.loads(tool(*arguments, "--format", "json", cwd=cwd).stdout)
    return loaded


def leftovers(root: Path) -> list[Path]:
    """Whatever of the tool's own still lies in a tree."""
    return sorted(root.rglob(".apex2native*"))


def git(root: Path, *words: str) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    run = subprocess.run(
        ["git", *identity, *words], cwd=root, env=environment(), capture_output=True, text=True, check=True
    )
    return run.stdout


def repository(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """A git repository in which ``files`` are committed."""
    tree(root, files)
    git(root, "init", "--quiet")
    git(root, "add", "--all", "--force")
    git(root, "commit", "--quiet", "--message", "all of it")
    return root


def exported(users: Sequence[str], wanted: Sequence[str]) -> dict[str, frozenset[str]]:
    """For each file of ``wanted`` the names that ``users`` take from it."""
    imports = Imports([*users, *wanted])
    return {location: imports.taken(location, wanted) for location in wanted}
