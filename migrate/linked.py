"""Files that import from each other, as the programs that a user runs: each is begun with one of them.

Two scripts that share a file of helpers are two programs. Each is migrated by itself, and they have to agree about
what becomes of the files they share; where they do not, all are planned together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from migrate.engine import migrate_program
from migrate.facts.module import reached_from
from migrate.model import Applicability, FileText, ModuleResult, Settings, renumbered

Numbers = tuple[int, ...]  # of the files of one program


def migrate_linked(files: Sequence[FileText], settings: Settings) -> list[ModuleResult]:
    """Migrate files that are linked with each other; a result for each."""
    programs = _programs(files)
    if len(programs) == 1:
        return migrate_program(files, settings)
    apart = [migrate_program(_part(files, numbers), settings) for numbers in programs]
    found = _agreed(files, programs, apart)
    return found if found is not None else migrate_program(files, settings)


def _programs(files: Sequence[FileText]) -> list[Numbers]:
    """For each file that no other imports it and all that it reaches; where all import each other, one of all."""
    links = [file.links for file in files]
    reached = [reached_from(links, number) for number in range(len(files))]
    found = [mine for one, mine in enumerate(reached) if not any(one in r and r != mine for r in reached)]
    return list(dict.fromkeys(tuple(sorted(one)) for one in found))


def _part(files: Sequence[FileText], numbers: Numbers) -> list[FileText]:
    """The files of one program, which count each other anew."""
    anew = {number: index for index, number in enumerate(numbers)}
    return [
        replace(files[one], links={name: anew[to] for name, to in files[one].links.items() if to in anew})
        for one in numbers
    ]


def _agreed(
    files: Sequence[FileText], programs: Sequence[Numbers], apart: Sequence[Sequence[ModuleResult]]
) -> list[ModuleResult] | None:
    """What all programs say of each file, units numbered through; None where they would change one differently, or
    where a unit of one stays: it needs the files that it shares as they are."""
    if any(unit.applicability is Applicability.MANUAL for part in apart for one in part for unit in one.units):
        return None
    results: list[ModuleResult | None] = [None] * len(files)
    before = 0
    for numbers, part in zip(programs, apart, strict=True):
        for number, one in zip(numbers, part, strict=True):
            known, mine = results[number], _numbered(one, before)
            if known is not None and known.new_text != mine.new_text:
                return None
            results[number] = mine if known is None else _both(known, mine)
        before += max((unit.number for one in part for unit in one.units), default=0)
    return [one if one is not None else ModuleResult(None) for one in results]


def _numbered(result: ModuleResult, before: int) -> ModuleResult:
    return replace(
        result,
        changes=tuple(renumbered(one, before) for one in result.changes),
        findings=tuple(renumbered(one, before) for one in result.findings),
        units=tuple(replace(unit, number=unit.number + before) for unit in result.units),
    )


def _both(one: ModuleResult, other: ModuleResult) -> ModuleResult:
    """What two programs say of a file that they share: each thing once."""
    said = {(f.rule, f.line, f.message) for f in one.findings}
    more = [f for f in other.findings if (f.rule, f.line, f.message) not in said]
    left = [line for line in (one.amp_left, other.amp_left) if line is not None]
    return replace(
        one,
        findings=tuple(sorted((*one.findings, *more), key=lambda f: (f.line, f.rule, f.message))),
        units=(*one.units, *other.units),
        amp_left=min(left, default=None),
    )
