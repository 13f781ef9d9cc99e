"""What a format is given, and how it names files: as whoever opens it at the top of the repository finds them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..model import Finding
from ..outcome import Analysed, Outcome
from ..sources import only_folder, printable
from ..spool import Spool


@dataclass(frozen=True)
class Given:
    """A run's outcome. ``paths`` are what the run was given, ``locations`` where the files of its results lie;
    ``written`` says that they have been changed already."""

    outcome: Outcome
    spool: Spool
    paths: Sequence[str]
    locations: Mapping[str, str]
    written: bool

    @cached_property
    def base(self) -> str:
        """The folder that the paths of results start from."""
        return only_folder(self.paths) or os.path.realpath("")

    @cached_property
    def root(self) -> str:
        """The root of the git work tree that holds everything, else the folder that the paths of results start from."""
        real = [os.path.realpath(path) for path in self.paths]
        common = Path(os.path.commonpath([one if os.path.isdir(one) else os.path.dirname(one) for one in real]))
        top = next((one for one in (common, *common.parents) if (one / ".git").exists()), None)
        return self.base if top is None else str(top)

    def name(self, path: str) -> str:
        """A result's file, from the root, as the file system has it: not the name of a link to it."""
        location = self.locations.get(path) or os.path.join(self.base, path)
        inside = os.path.relpath(location, self.root)
        return path if inside.split(os.sep)[0] == os.pardir else inside

    def path(self, path: str) -> str:
        """The same, to be read."""
        return printable(self.name(path))

    def texts(self, one: Analysed) -> tuple[bytes, bytes] | None:
        """The bytes of a changed file before and after."""
        return None if one.texts is None else (self.spool.get(one.texts.old), self.spool.get(one.texts.new))

    def findings(self) -> Iterator[tuple[str, Finding]]:
        """Every finding with the path of its result."""
        for file in self.outcome.results:
            for finding in file.findings:
                yield file.path, finding


def places(finding: Finding) -> list[int]:
    """The first line of a finding, and its further ones."""
    return [finding.line, *sorted(set(finding.lines) - {finding.line})]
