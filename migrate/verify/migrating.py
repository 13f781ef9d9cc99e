"""The new tree where the user names none: a scratch copy that is migrated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import config, journal
from ..errors import UserError
from ..model import Applicability, FileResult, Finding, Severity
from ..pipeline import analyse
from ..sources import collect
from ..spool import Spool


@dataclass(frozen=True)
class Migrated:
    """What became of the copy."""

    changed: int  # files
    units: Mapping[str, int]  # of each applicability
    named: tuple[tuple[str, Finding], ...]  # what a review finding names: its differences are expected
    manual: tuple[tuple[str, Finding], ...]


def migrate(tree: Path, origin: Path, options: Mapping[str, Any]) -> Migrated:
    """Migrate the copy ``tree`` of ``origin`` in place, as ``apex2native --write`` does."""
    chosen = config.with_options(config.load([str(origin)]), options)
    selection = collect([str(tree)], chosen.exclude)
    with Spool() as spool:
        outcome = analyse(selection, chosen.settings, spool, jobs=1)
        if outcome.crashed:
            raise UserError("the migration itself failed: run apex2native on this tree, which says more.")
        groups = [
            [journal.Replacement(one.location, one.old_digest, _text(spool, one.new)) for one in group]
            for group in outcome.groups()
        ]
        if groups:
            journal.write(tree, groups)
    files: tuple[FileResult, ...] = tuple(outcome.results)
    units = {one.value: 0 for one in Applicability}
    for file in files:
        for unit in file.units:
            units[unit.applicability.value] += 1
    return Migrated(len(outcome.changed), units, _findings(files, Severity.REVIEW), _findings(files, Severity.MANUAL))


def _text(spool: Spool, key: Any) -> Any:
    return lambda: spool.get(key)


def _findings(files: tuple[FileResult, ...], severity: Severity) -> tuple[tuple[str, Finding], ...]:
    return tuple((file.path, found) for file in files for found in file.findings if found.severity is severity)
