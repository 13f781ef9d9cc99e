"""What a run found, file by file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .model import FileResult
from .spool import Slot

INTERNAL_ERROR = "APX000"


@dataclass(frozen=True)
class Texts:
    """The bytes of a changed file before and after, put away in the spool."""

    location: Path
    old_digest: str
    old: Slot
    new: Slot


@dataclass(frozen=True)
class Analysed:
    """One file's result; ``texts`` only where it changes."""

    result: FileResult
    texts: Texts | None = None
    program: str = ""  # the first file of the several that are one program


@dataclass(frozen=True)
class Outcome:
    """What a whole run found: the files worth listing, sorted by path."""

    scanned: int
    files: tuple[Analysed, ...]

    @property
    def results(self) -> tuple[FileResult, ...]:
        return tuple(one.result for one in self.files)

    @property
    def changed(self) -> tuple[Analysed, ...]:
        return tuple(one for one in self.files if one.texts is not None)

    def groups(self) -> list[list[Texts]]:
        """What has to be written together: files of one program, or that share a unit, directly or through others."""
        groups: list[tuple[set[int | str], list[Texts]]] = []
        for one in self.files:
            if one.texts is None:
                continue
            units: set[int | str] = {change.unit for change in one.result.changes if change.unit is not None}
            units |= {one.program} if one.program else set()
            texts = [one.texts]
            joined = [group for group in groups if group[0] & units] if units else []
            for group in joined:
                groups.remove(group)
                units |= group[0]
                texts = group[1] + texts
            groups.append((units, texts))
        return [texts for _, texts in groups]

    @property
    def crashed(self) -> bool:
        return any(found.rule == INTERNAL_ERROR for one in self.results for found in one.findings)
