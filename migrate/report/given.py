"""What a format is given, and how it names files: as whoever opens it at the top of the repository finds them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..model import Finding
from ..pipeline import Analysed, Outcome
from ..spool import Spool


@dataclass(frozen=True)
class Given:
    """A run's outcome. ``base`` is the folder that the paths of results start from; ``written`` says that the files
    have been changed already."""

    outcome: Outcome
    spool: Spool
    base: Path
    written: bool

    @cached_property
    def top(self) -> Path | None:
        """The root of the git work tree that holds ``base``."""
        real = Path(os.path.realpath(self.base))
        return next((one for one in (real, *real.parents) if (one / ".git").exists()), None)

    def path(self, path: str) -> str:
        """A result's path, from the top of the work tree where there is one."""
        if self.top is None:
            return path
        real = os.path.join(os.path.realpath(self.base), path)
        inside = os.path.relpath(real, self.top)
        return path if inside.startswith("..") else inside

    def texts(self, one: Analysed) -> tuple[bytes, bytes] | None:
        """The bytes of a changed file before and after."""
        return None if one.texts is None else (self.spool.get(one.texts.old), self.spool.get(one.texts.new))

    def findings(self) -> Iterator[tuple[str, Finding]]:
        """Every finding with its path."""
        for file in self.outcome.results:
            for finding in file.findings:
                yield self.path(file.path), finding


def base_of(paths: list[str]) -> Path:
    """The folder that results' paths start from: the one PATH that is a directory, else the current one."""
    return Path(paths[0]) if len(paths) == 1 and os.path.isdir(paths[0]) else Path()


def places(finding: Finding) -> list[int]:
    """The first line of a finding, and its further ones."""
    return [finding.line, *sorted(set(finding.lines) - {finding.line})]
