"""Files that import from each other, as the programs that a user runs: each is begun with one of them.

Two scripts that share a file of helpers are two programs. Each is migrated by itself, and they have to agree about
what becomes of the files they share; where they do not, all are planned together. Where one has to stay, the others go
if they change nothing that it runs.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from .begun_with import begins_nothing
from .engine import migrate_program
from .errors import Tangled
from .facts.files import reached_from
from .imports.taken import takings
from .limits import begin_anew
from .memory import give_back
from .model import (
    UNSETTLED,
    Applicability,
    FileText,
    Finding,
    Leads,
    ModuleResult,
    Need,
    Settings,
    Severity,
    Standing,
    UnitSummary,
    Waits,
    by_hand,
)
from .needs import waits
from .numbering import last, moved
from .untouched import runs_as_before, still_fits

MOST_AGAIN = 20  # files that are tried together though one of their programs stays by itself
MOST_APART = 8  # programs that share files and are planned one by one; and of more, so many scripts at once
_AMP = re.compile(r"\b(?:amp|apex)\b")
UNCALLED = "APX023"  # what is said of code that a program does not call
Numbers = tuple[int, ...]  # of the files of one program
_Part = tuple[Numbers, Sequence[ModuleResult]]  # a program, and what becomes of it by itself


def migrate_linked(
    files: Sequence[FileText], settings: Settings, standing: Standing = UNSETTLED
) -> list[ModuleResult]:
    """Migrate files that are linked with each other; a result for each.

    Where one of them does not parse all results say ``parsed=False``: whoever hands them on does without that file."""
    programs = _programs(files)
    if len(programs) == 1:
        return migrate_program(files, settings, standing)
    programs, apart = _each(files, programs, settings, standing)
    if not all(one.parsed for part in apart for one in part):
        return [ModuleResult(None, parsed=False) for _ in files]
    apart = _followed(files, programs, apart, settings, standing)
    apart = _heard(files, programs, apart, settings, standing)
    joined = _in_one_process(files, programs, apart)
    found = None if joined else _agreed(files, programs, apart)
    if found is not None:
        return found
    early = any(map(by_hand, apart)) and len(files) > MOST_AGAIN  # together all would stay, after a long time
    found = _without_the_staying(files, programs, apart, settings, standing) if early else None
    together = found or _by_itself(files, settings, standing)
    if found is not None or not by_hand(together):
        return together
    found = None if early else _without_the_staying(files, programs, apart, settings, standing)
    if found is None and not joined:
        found = as_many_as_agree(files, programs, apart, together)
    return found or _without_the_unrun(files, programs, apart, settings, standing) or together


def _each(
    files: Sequence[FileText], programs: Sequence[Numbers], settings: Settings, standing: Standing
) -> tuple[list[Numbers], list[list[ModuleResult]]]:
    """What becomes of each program by itself; of many scripts over the same files (a base of trainers, and sixty that
    derive from it) several are one, if none of it stays: what they share is looked at once for all of them."""
    parts: list[tuple[Numbers, list[ModuleResult]]] = []
    for group in _groups(files, programs):
        one = tuple(sorted({number for numbers in group for number in numbers}))
        found = _unless_tangled(_part(files, one), settings, standing) if len(group) > 1 else None
        if found is not None and not by_hand(found):
            parts.append((one, found))
        else:
            parts += [(numbers, _by_itself(_part(files, numbers), settings, standing)) for numbers in group]
    return [numbers for numbers, _ in parts], [found for _, found in parts]


def _groups(files: Sequence[FileText], programs: Sequence[Numbers]) -> list[list[Numbers]]:
    """The programs that are planned at once: of many those whose files that speak of amp are the same."""
    if len(programs) <= MOST_APART:
        return [[numbers] for numbers in programs]
    speak = {number for number, file in enumerate(files) if _AMP.search(file.text)}
    groups: defaultdict[Numbers, list[Numbers]] = defaultdict(list)
    for numbers in programs:
        groups[tuple(number for number in numbers if number in speak)].append(numbers)
    return [some[at : at + MOST_APART] for some in groups.values() for at in range(0, len(some), MOST_APART)]


def _unless_tangled(files: Sequence[FileText], settings: Settings, standing: Standing) -> list[ModuleResult] | None:
    try:
        return _by_itself(files, settings, standing)
    except Tangled:
        return None


def _followed(
    files: Sequence[FileText],
    programs: Sequence[Numbers],
    apart: list[list[ModuleResult]],
    settings: Settings,
    standing: Standing,
) -> list[list[ModuleResult]]:
    """What becomes of scripts that use Apex's casts and never initialize, beside others that are all migrated: in a run
    of theirs the casts did nothing, so they go with the others' (``register_half_function`` in a script that only
    evaluates)."""
    if any(map(by_hand, apart)) or not any(map(_has_units, apart)):
        return apart
    waiting = [not _has_units(part) and waits(part, Waits.CASTS) for part in apart]
    migrated = replace(standing, leads=Leads.MIGRATED)
    pairs = zip(programs, apart, waiting, strict=True)
    return [_by_itself(_part(files, one), settings, migrated) if led else part for one, part, led in pairs]


def _heard(
    files: Sequence[FileText],
    programs: Sequence[Numbers],
    apart: list[list[ModuleResult]],
    settings: Settings,
    standing: Standing,
) -> list[list[ModuleResult]]:
    """What becomes of each program once it is told what scripts without a unit take of what it changes: they run that
    without casts."""
    idle = [one for one, part in zip(programs, apart, strict=True) if not (_has_units(part) or by_hand(part))]
    found: list[list[ModuleResult]] = []
    for numbers, part in zip(programs, apart, strict=True):
        taken = _taken_of(files, numbers, part, idle) if _has_units(part) and not by_hand(part) else {}
        told = [_told(file, taken.get(number)) for number, file in enumerate(files)] if taken else files
        found.append(_by_itself(_part(told, numbers), settings, standing) if taken else part)
    return found


def _taken_of(
    files: Sequence[FileText], numbers: Numbers, part: Sequence[ModuleResult], idle: Sequence[Numbers]
) -> dict[int, frozenset[str]]:
    """For each file that a program changes, what is taken from it by ``idle`` ones that would run something else."""
    results = dict(zip(numbers, part, strict=True))
    changed = {number for number, one in results.items() if one.new_text is not None}
    found: dict[int, frozenset[str]] = {}
    for other in idle:
        if changed.isdisjoint(other) or runs_as_before(_part(files, other), _become(files, other, results)):
            continue
        for taker in (files[number] for number in other if number not in results):
            meant = {dotted: to for dotted, to in taker.links.items() if to in changed}
            taken = takings(taker.text.encode(), {dotted.rpartition(".")[2] for dotted in meant})
            for dotted, to in meant.items():
                found[to] = found.get(to, frozenset()) | taken.get(dotted, frozenset())
    return {number: names for number, names in found.items() if names}


def _told(file: FileText, taken: frozenset[str] | None) -> FileText:
    if taken is None:
        return file
    return replace(file, outside=replace(file.outside, uncast=taken))


def _by_itself(files: Sequence[FileText], settings: Settings, standing: Standing) -> list[ModuleResult]:
    """What becomes of one program. It has the time of one, and what its analysis took is given back ahead of the next
    one: several would lie in memory side by side."""
    begin_anew()
    found = migrate_program(files, settings, standing)
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
        if any(files[one].outside.exported and len(reached_from(links, one)) == len(numbers) for one in numbers)
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
    # those that train or evaluate first: a test of a layer has nothing to say of it
    parts = sorted(zip(programs, apart, strict=True), key=lambda one: not _has_units(one[1]))
    said = _said(files, parts)
    if said is None:
        return None
    results: dict[int, ModuleResult] = {}
    left: list[tuple[int, ModuleResult]] = []
    before = 0
    for numbers, part in parts:
        for number, one in zip(numbers, part, strict=True):
            mine = moved(one, before)
            if one.new_text == said.get(number):
                results[number] = _both(results[number], mine) if number in results else mine
            elif one.new_text is None:  # another program changes it, amp and all
                left.append((number, replace(mine, needs=None)))
        before += last(part)
    for number, one in left:
        results[number] = _both(results[number], _but_for_changed(one, results[number]))
    called = {number: _called_somewhere(number, programs, apart) for number in results}
    return _without([results.get(number, ModuleResult(None)) for number in range(len(files))], called)


def _but_for_changed(one: ModuleResult, other: ModuleResult) -> ModuleResult:
    """What a program says of a file that it leaves alone, without what it calls work by hand on lines that another one
    changes."""
    changed = {line for change in other.changes for line in range(change.line, change.end_line + 1)}
    found: list[Finding] = []
    for finding in one.findings:
        lines = [line for line in (finding.line, *finding.lines) if line not in changed]
        if finding.severity is not Severity.MANUAL or len(lines) > len(finding.lines):
            found.append(finding)
        elif lines:
            found.append(replace(finding, line=lines[0], end_line=lines[0], lines=tuple(lines[1:])))
    return replace(one, findings=tuple(found))


def _said(files: Sequence[FileText], parts: Sequence[_Part]) -> dict[int, str] | None:
    """What programs, each planned by itself, change each file to; None where they do not agree."""
    found: dict[int, str] = {}
    trained = {number for numbers, part in parts if _has_units(part) for number in numbers}
    for numbers, part in parts:
        for number, one in zip(numbers, part, strict=True):
            if one.new_text is None or (number in trained and not _has_units(part)):
                continue
            if found.setdefault(number, one.new_text) != one.new_text and _has_units(part):
                return None
    return found if all(_bears(_part(files, numbers), part, numbers, found) for numbers, part in parts) else None


def _bears(files: list[FileText], part: Sequence[ModuleResult], numbers: Numbers, said: Mapping[int, str]) -> bool:
    """Whether a program can live with what others change in its files."""
    own = [file.text if one.new_text is None else one.new_text for file, one in zip(files, part, strict=True)]
    new = [said.get(number, file.text) for file, number in zip(files, numbers, strict=True)]
    if own == new:
        return True
    if not _has_units(part):
        return still_fits(files, new)
    return runs_as_before([replace(file, text=text) for file, text in zip(files, own, strict=True)], new)


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
    standing: Standing,
) -> list[ModuleResult] | None:
    """The programs that can go without those that stay; None where that is none, or where one of these would run
    something else then."""
    pairs = list(zip(programs, apart, strict=True))
    going = [(numbers, part) for numbers, part in pairs if _has_units(part) and not by_hand(part)]
    left = [(numbers, part) for numbers, part in pairs if not _has_units(part) or by_hand(part)]
    if not going or not any(by_hand(part) for _, part in left):
        return None
    inside, gone = _together(files, going)
    if gone is None:
        gone = _by_itself(_part(files, inside), settings, standing) if len(going) > 1 else None
    return _beside_the_staying(files, inside, gone, left)


def as_many_as_agree(
    files: Sequence[FileText],
    programs: Sequence[Numbers],
    apart: Sequence[Sequence[ModuleResult]],
    together: Sequence[ModuleResult],
) -> list[ModuleResult] | None:
    """Of programs that would change a file that they share differently the most that agree, where ``together`` all
    would stay; None where those that stay would run something else then."""
    pairs = list(zip(programs, apart, strict=True))
    for some in _agreeing(files, [one for one in pairs if _has_units(one[1]) and not by_hand(one[1])]):
        left = [
            (numbers, part if by_hand(part) or not _has_units(part) else [together[number] for number in numbers])
            for numbers, part in pairs
            if not any(numbers == other for other, _ in some)
        ]
        inside, gone = _together(files, some)
        found = _beside_the_staying(files, inside, gone, left) if left else None
        if found is not None:
            return found
    return None


def _agreeing(files: Sequence[FileText], going: Sequence[_Part]) -> list[list[_Part]]:
    """Groups of programs that agree, those with the most files first."""
    found: dict[tuple[Numbers, ...], list[_Part]] = {}
    for first in going:
        group = [first]
        for one in going:
            if one is not first and _said(files, [*group, one]) is not None:
                group.append(one)
        group.sort(key=lambda part: part[0])
        found[tuple(numbers for numbers, _ in group)] = group
    return sorted(found.values(), key=lambda group: -len({number for numbers, _ in group for number in numbers}))


def _together(files: Sequence[FileText], going: Sequence[_Part]) -> tuple[Numbers, list[ModuleResult] | None]:
    """The files of some programs, and what these say of them; None where they do not agree."""
    inside = tuple(sorted({number for numbers, _ in going for number in numbers}))
    inner = [tuple(map(inside.index, numbers)) for numbers, _ in going]
    return inside, _agreed(_part(files, inside), inner, [found for _, found in going])


def _beside_the_staying(
    files: Sequence[FileText], inside: Numbers, gone: Sequence[ModuleResult] | None, left: Sequence[_Part]
) -> list[ModuleResult] | None:
    """What becomes of all files where those ``inside`` have ``gone``; None where a program that is left would run
    something else then."""
    if gone is None or by_hand(gone):
        return None
    results = dict(zip(inside, gone, strict=True))
    before = last(gone)
    for numbers, found in left:
        part, new = _part(files, numbers), _become(files, numbers, results)
        idle = not _has_units(found) and not by_hand(found)
        if not (still_fits if idle else runs_as_before)(part, new):
            return None
        for number, one in zip(numbers, found, strict=True):
            if number not in results:
                results[number] = moved(one, before)
        before += last(found)
    return [results.get(number, ModuleResult(None)) for number in range(len(files))]


def _without_the_unrun(
    files: Sequence[FileText],
    programs: Sequence[Numbers],
    apart: Sequence[Sequence[ModuleResult]],
    settings: Settings,
    standing: Standing,
) -> list[ModuleResult] | None:
    """All without the programs that stay and that nothing in the tree runs; None where that is none, or where one of
    the others stays as well."""
    pairs = list(zip(programs, apart, strict=True))
    unrun = [(mine, part) for mine, part in pairs if by_hand(part) and _runs_nowhere(files, mine, part)]
    left = [mine for mine in programs if not any(mine == other for other, _ in unrun)]
    if not unrun or not left:
        return None
    inside = tuple(sorted({number for mine in left for number in mine}))
    gone = migrate_linked(_part(files, inside), settings, standing)
    if by_hand(gone) or not _has_units(gone):
        return None
    results = dict(zip(inside, gone, strict=True))
    before = last(gone)
    for mine, part in unrun:
        for number, one in zip(mine, part, strict=True):
            results.setdefault(number, moved(one, before))
        before += last(part)
    return [results[number] for number in range(len(files))]


def _runs_nowhere(files: Sequence[FileText], numbers: Numbers, found: Sequence[ModuleResult]) -> bool:
    """Whether nothing of the tree runs what a program begins with: it only defines functions, of which no file takes
    one, and scales losses of optimizers that nobody initialized (a trainer that was left behind). Where somebody else
    calls these, Apex says that it was not initialized."""
    part = _part(files, numbers)
    links = [file.links for file in part]
    firsts = [one for one in range(len(part)) if len(reached_from(links, one)) == len(part)]
    taken = any(part[one].outside.exported for one in firsts)
    begun = any(word in file.text for file in part for word in ("initialize(", "import_module(", "__import__("))
    return not taken and not begun and all(found[one].units and begins_nothing(part[one].text) for one in firsts)


def _become(files: Sequence[FileText], numbers: Numbers, results: Mapping[int, ModuleResult]) -> list[str]:
    """What the texts of a program's files become."""
    return [
        files[one].text if (known := results.get(one)) is None or known.new_text is None else known.new_text
        for one in numbers
    ]


def _both(one: ModuleResult, other: ModuleResult) -> ModuleResult:
    """What two programs say of a file that they share: each thing once."""
    said = {(f.rule, f.line, f.message) for f in one.findings}
    more = [f for f in other.findings if (f.rule, f.line, f.message) not in said]
    return replace(
        one,
        findings=tuple(sorted((*one.findings, *more), key=lambda f: (f.line, f.rule, f.message))),
        units=(*one.units, *other.units),
        needs=_both_needs(one.needs, other.needs),
    )


def _both_needs(one: Need | None, other: Need | None) -> Need | None:
    if one is None or other is None:
        return one or other
    return Need(min(one.line, other.line), one.waits if one.waits is other.waits else Waits.TRAINING)
