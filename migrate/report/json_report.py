"""The JSON report: what other programs read. ``schema.json`` beside this file describes it."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from .. import __version__
from ..errors import UserError, reason
from ..model import Applicability, Change, FileResult, Finding

SCHEMA_VERSION = 1
TOOL = "apex2native"
_SOURCES = (".py", ".pyi", ".ipynb", "pyproject.toml")
_BEGINS = re.compile(rb"\s*(?:\{\s*\"schema\"|\Z)")  # a report, or nothing
Mode = Literal["dry-run", "write"]


def build(files: Sequence[FileResult], *, scanned: int, mode: Mode) -> dict[str, Any]:
    """The report as plain data, its keys in the order in which it is written."""
    units = Counter(unit.applicability for file in files for unit in file.units)
    return {
        "schema": SCHEMA_VERSION,
        "tool": {"name": TOOL, "version": __version__},
        "mode": mode,
        "summary": {
            "files_scanned": scanned,
            "files_changed": sum(file.status == "changed" for file in files),
            "units": {one.value: units[one] for one in Applicability},
        },
        "files": [_file(file) for file in files],
    }


def render(report: dict[str, Any]) -> str:
    """The report as text; the same input gives the same bytes."""
    return json.dumps(report, indent=2) + "\n"


def schema() -> dict[str, Any]:
    """The published JSON Schema of the report."""
    text = resources.files(__package__).joinpath("schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def check_destination(name: str, targets: Sequence[str]) -> None:
    """Refuse a place that cannot take the report before any work is done, such as a source file."""
    path = Path(name)
    real = os.path.realpath(name)
    if path.is_dir():
        raise UserError(f"the report cannot be written to {name}: it is a directory.")
    if real.endswith(_SOURCES) or real in map(os.path.realpath, targets):
        raise UserError(f"the report cannot be written to {name}: that is the name of a source file.")
    if not path.parent.is_dir():
        raise UserError(f"the report cannot be written to {name}: there is no directory {path.parent}.")
    if _is_trap(name, targets):
        raise UserError(f"the report cannot be written to {name}: it is a link, or no file, of the target.")
    if path.is_file() and not _BEGINS.match(_head(path)):
        raise UserError(f"the report cannot be written to {name}: what is there is no report, and would be lost.")


def _head(path: Path) -> bytes:
    """How a file begins; nothing of one that cannot be read, which is told where it is written."""
    with suppress(OSError), open(path, "rb") as stream:
        return stream.read(64)
    return b""


def _is_trap(name: str, targets: Sequence[str]) -> bool:
    """Whether the place lies in the target, and what the target has put there leads elsewhere."""
    folders = [target if os.path.isdir(target) else os.path.dirname(target) for target in targets]
    spelled = [*map(os.path.abspath, folders), *map(os.path.realpath, folders)]
    if not any(Path(os.path.abspath(name)).is_relative_to(folder) for folder in spelled):
        return False
    real = Path(os.path.realpath(name))
    leads_out = not any(real.is_relative_to(os.path.realpath(folder)) for folder in folders)
    return leads_out or (real.exists() and not real.is_file())


def write(report: dict[str, Any], name: str, but: str = "") -> None:
    """Write the report so that its readers see the old one or the new one, never a part.

    ``but`` is what a refusal has to add."""
    # A link or a device such as /dev/stdout stays what it is.
    path = Path(os.path.realpath(name))
    text = render(report)
    temporary = path.with_name(f".{TOOL}-{secrets.token_hex(4)}.tmp")
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
            return
        try:
            with open(temporary, "x", encoding="utf-8") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(temporary, path)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise UserError(f"the report cannot be written to {name}: {reason(error)}{but}.") from error


def _file(file: FileResult) -> dict[str, Any]:
    return {
        "path": file.path,
        "status": file.status,
        "changes": [_change(one) for one in file.changes],
        "findings": [_finding(one) for one in file.findings],
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "rule": change.rule,
        "unit": change.unit,
        "line": change.line,
        "end_line": change.end_line,
        "cell": change.cell,
        "applicability": change.applicability.value,
        "message": change.message,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "unit": finding.unit,
        "severity": finding.severity.value,
        "line": finding.line,
        "end_line": finding.end_line,
        "lines": list(finding.lines),
        "cell": finding.cell,
        "message": finding.message,
        "suggestion": finding.suggestion,
    }
