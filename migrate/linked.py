"""Files that import from each other, as the programs that a user runs: each is begun with one of them.

Two scripts that share a file of helpers are two programs. Each is migrated by itself, and they have to agree about
what becomes of the files they share; where they do not, all are planned together. Where one has to stay, the others go
if they change nothing that it runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from .engine import migrate_program
from .facts.files import reached_from
from .memory import give_back
from .model import Applicability, FileText, ModuleResult, Settings, Severity, UnitSummary, by_hand, renumbered
from .untouched import runs_as_before, still_fits

MOST_AGAIN = 20  # files that are tried together though one of their programs stays by itself
UNCALLED = "APX023"  # what is said of code that a program does not call
Numbers = tuple[int, ...]  # of the files of one program


def migrate_linked(files: Sequence[FileText], settings: Settings) -> list[ModuleResult]:
    """Migrate files that are linked with each other; a result for each.

    Where one of them does not parse all results say ``parsed=False``: what it needs of the others is not known."""
    programs = _programs(files)
    if len(programs) == 1:
        return migrate_program(files, settings)
    apart = [_by_itself(_part(files, numbers), settings) for numbers in programs]
    if not all(one.parsed for part in apart for one in part):
        return [ModuleResult(None, parsed=False) for _ in files]
    apart = _followed(files, programs, apart, settings)
    found = None if _in_one_process(files, programs, apart) else _agreed(files, programs, apart)
    if found is not None:
        return found
    if any(map(by_hand, apart)) and len(files) > MOST_AGAIN:  # together they would stay as well, after a long time
        return _without_the_staying(files, programs, apart, settings) or migrate_program(files, settings)
    together = migrate_program(files, settings)
    return (by_hand(together) and _without_the_staying(files, programs, apart, settings)) or together


def _followed(
    files: Sequence[FileText],
    programs: Sequence[Numbers],
    apart: list[list[ModuleResult]],
    settings: Settings,
) -> list[list[ModuleResult]]:
    """What becomes of scripts that use Apex's casts and never initialize, beside others that are all migrated: in a run
    of theirs the casts did nothing, so they go with the others' (``register_half_function`` in a script that only
    evaluates)."""
    if any(map(by_hand, apart)) or not any(map(_has_units, apart)):
        return apart
    waits = [not _has_units(part) and any(r.casts_only and r.amp_left is not None for r in part) for part in apart]
    pairs = zip(programs, apart, waits, strict=True)
    return [_by_itself(_told(_part(files, one)), settings) if waiting else part for one, part, waiting in pairs]


def _told(files: list[FileText]) -> list[FileText]:
    """The files of a program, told that who initializes is migrated."""
    return [replace(file, neighbours=replace(file.neighbours, follow=True)) for file in files]


def _by_itself(files: Sequence[FileText], settings: Settings) -> list[ModuleResult]:
    """What becomes of one program. What its analysis took is given back ahead of the next one: several would lie in
    memory side by side."""
    found = migrate_program(files, settings)
    give_back()
    return found


def _programs(files: Sequence[FileText]) -> list[Numbers]:
    """For each file that no other imports it and all that it reaches; where all import each other, one of all."""
    links = [file.links for file in files]
    reached = [reached_from(links, number) for number in range(len(files))]
    found = [mine for one, mine in enumerate(reached) if not any(one in r and r != mine for r in reached)]
    return list(dict.fromkeys(tuple(sorted(one)) for one in found))


def _in_one_process(
    files: Sequence[FileText], programs: Sequence[Numbers], apart: Sequence[Sequence[ModuleResult]]
) -> bool:
    """Whether programs that share what initializes are no scripts: others import from their first files, and a run may
    have several of them, with Apex's casts for all."""
    links = [file.links for file in files]
    training = [numbers for numbers, part in zip(programs, apart, strict=True) if _has_units(part)]
    imported = [
        numbers
        for numbers in training
        if any(files[one].neighbours.exported and len(reached_from(links, one)) == len(numbers) for one in numbers)
    ]
    shared = [one for one in range(len(files)) if sum(one in numbers for numbers in imported) > 1]
    return any("initialize(" in files[one].text for one in shared)


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
    if any(map(by_hand, apart)):
        return None
    results: dict[int, ModuleResult] = {}
    before = 0
    # those that train or evaluate first: a test of a layer has nothing to say of it
    for numbers, part in sorted(zip(programs, apart, strict=True), key=lambda one: not _has_units(one[1])):
        said = dict(zip(numbers, part, strict=True))
        differ = [n for n, one in said.items() if n in results and results[n].new_text != one.new_text]
        if differ and (_has_units(part) or not still_fits(_part(files, numbers), _become(files, numbers, results))):
            return None
        for number, one in said.items():
            mine = _numbered(one, before)
            if number not in results:
                results[number] = mine
            elif number not in differ:
                results[number] = _both(results[number], mine)
        before += _units(part)
    called = {number: _called_somewhere(number, programs, apart) for number in results}
    return _without([results.get(number, ModuleResult(None)) for number in range(len(files))], called)


def _called_somewhere(
    number: int, programs: Sequence[Numbers], apart: Sequence[Sequence[ModuleResult]]
) -> set[tuple[int, str]]:
    """What one program says that it does not call, and another with the file does: the line and the words."""
    parts = [part[mine.index(number)] for mine, part in zip(programs, apart, strict=True) if number in mine]
    said = [{(f.line, f.message) for f in one.findings if f.rule == UNCALLED} for one in parts]
    return {one for each in said for one in each if not all(one in other for other in said)}


def _without(results: Sequence[ModuleResult], called: Mapping[int, set[tuple[int, str]]]) -> list[ModuleResult]:
    """The results without what was said of code that is called after all; what was *review* only for that is safe."""
    if not any(called.values()):
        return list(results)
    left = [
        replace(one, findings=tuple(f for f in one.findings if (f.line, f.message) not in called.get(number, ())))
        for number, one in enumerate(results)
    ]
    reviewed = {f.unit for one in left for f in one.findings if f.severity is Severity.REVIEW}
    asked = {f.unit for one in results for f in one.findings if f.rule == UNCALLED} - reviewed
    return [replace(one, units=tuple(_safe(u) if u.number in asked else u for u in one.units)) for one in left]


def _safe(unit: UnitSummary) -> UnitSummary:
    return replace(unit, applicability=Applicability.SAFE)


def _has_units(part: Sequence[ModuleResult]) -> bool:
    return any(one.units for one in part)


def _without_the_staying(
    files: Sequence[FileText],
    programs: Sequence[Numbers],
    apart: Sequence[Sequence[ModuleResult]],
    settings: Settings,
) -> list[ModuleResult] | None:
    """The programs that can go without those that stay; None where that is none, or where one of these would run
    something else then."""
    pairs = list(zip(programs, apart, strict=True))
    going = [(numbers, part) for numbers, part in pairs if _has_units(part) and not by_hand(part)]
    left = [(numbers, part) for numbers, part in pairs if not _has_units(part) or by_hand(part)]
    if not going or not any(by_hand(part) for _, part in left):
        return None
    inside = tuple(sorted({number for numbers, _ in going for number in numbers}))
    inner = [tuple(map(inside.index, numbers)) for numbers, _ in going]
    part = _part(files, inside)
    gone = _agreed(part, inner, [found for _, found in going])
    if gone is None:
        gone = migrate_program(part, settings) if len(going) > 1 else None
    if gone is None or by_hand(gone):
        return None
    results = dict(zip(inside, gone, strict=True))
    before = _units(gone)
    for numbers, found in left:
        if not runs_as_before(_part(files, numbers), _become(files, numbers, results)):
            return None
        for number, one in zip(numbers, found, strict=True):
            if number not in results:
                results[number] = _numbered(one, before)
        before += _units(found)
    return [results.get(number, ModuleResult(None)) for number in range(len(files))]


def _units(part: Iterable[ModuleResult]) -> int:
    return max((unit.number for one in part for unit in one.units), default=0)


def _become(files: Sequence[FileText], numbers: Numbers, results: Mapping[int, ModuleResult]) -> list[str]:
    """What the texts of a program's files become."""
    return [
        files[one].text if (known := results.get(one)) is None or known.new_text is None else known.new_text
        for one in numbers
    ]


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
