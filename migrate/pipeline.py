"""From a selection of files to what became of each.

Which programs there are, what becomes of each (`analysis.py`, in processes: `workers.py`), and what that means for
those that share something with them. Whatever order programs come back in, results are sorted by path and units
numbered in that order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from .ambiguous import unclear_imports
from .analysis import Engine, analyse_file
from .answers import may_be_answered
from .begun import may_be_initialized
from .components import Component, components, run_by_others, scattered, single, widened
from .imports.tree import Imports
from .journal import digest
from .model import (
    TOGETHER,
    Applicability,
    FileResult,
    Finding,
    Leads,
    Settings,
    Severity,
    Standing,
    UnitSummary,
    Waits,
    by_hand,
)
from .needs import needed, unused, waits
from .notebooks.callers import told
from .numbering import moved, numbered
from .outcome import Analysed, Outcome, Texts
from .reading import NOTEBOOK
from .sources import RULE as NOT_ANALYSED
from .sources import Selection, Source
from .spool import Spool
from .workers import results_of
from .wrapped import asking, still_wraps

Progress = Callable[[int, int], None]

HANDED = "APX044"


def analyse(
    selection: Selection,
    settings: Settings,
    spool: Spool,
    *,
    jobs: int,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run the engine over every candidate; texts of changed files go into ``spool``."""
    imports = Imports(selection.python, selection.notebooks)
    joined = components(selection, imports)
    inside = {source.location for program in joined for source in program.sources}
    alone = [single(source, selection, imports) for source in _files(selection) if source.location not in inside]
    if not (joined or alone):  # nobody waits for an engine that has nothing to do
        return Outcome(selection.scanned, tuple(map(Analysed, selection.problems)))
    chosen = engine or _default_engine()
    settled: list[Analysed] = []  # files of programs that are migrated together
    ready: dict[Source, Analysed] = {}  # files by themselves
    stuck: list[tuple[Component, tuple[FileResult, ...]]] = []
    wider: dict[Component, Component | None] = {}  # programs that are stuck, with the files around them
    tried: dict[Component, tuple[FileResult, ...]] = {}
    added: deque[Component] = deque()
    count = 0
    for program, results in results_of([*joined, *alone], settings, jobs, chosen, added):
        if program in tried:
            tried[program] = results
            continue
        if len(program.sources) == 1:
            _keep(ready, program, results, spool)
        elif any(map(_migrated, results)) and not by_hand(results):
            settled += _together(program, results, spool)
        if by_hand(results) or (len(program.sources) > 1 and not any(map(_migrated, results))):
            stuck.append((program, results))
            wider[program] = around = widened(program, selection, imports)
            if around is not None:
                tried[around] = ()
                added.append(around)
        count += sum(source.mentions for source in program.sources)
        if progress is not None:
            progress(count, len(selection.candidates))
    stuck.sort(key=lambda one: one[0].sources[0].shown)
    for program, found in list(stuck):
        more = wider[program]
        if more is None or (program, found) not in stuck:  # settled with another one
            continue
        if not _may_change(more, tried[more], settled, ready, selection, imports):
            continue
        if by_hand(tried[more]) and any(map(_migrated, found)):
            continue  # a part goes either way
        within = _all_within(more, stuck, selection)
        if within is not None:
            stuck = _take(more, tried[more], within, stuck, ready, settled, spool)
    for at, (program, found) in enumerate(stuck):
        said = _as_wider_says(program, found, wider.get(program), tried)
        if said is not found:
            stuck[at] = program, said
            if len(program.sources) == 1:
                _keep(ready, program, said, spool)
    stuck = _by_runners(stuck, ready, settled, selection, imports, settings, jobs, chosen, spool)
    dissolved: list[Component] = []
    why: dict[str, Finding] = {}  # a file is looked at by itself
    unled: list[tuple[Component, tuple[FileResult, ...]]] = []  # casts, and nobody who trains
    for program, results in stuck:
        if len(program.sources) > 1 and any(map(_not_together, results)):
            own = {source.location for source in program.sources}
            dissolved += [single(s, selection, imports) for s in _files(selection) if s.location in own]
            why |= {one.path: one.findings[0] for one in results if one.findings and _not_together(one)}
        elif len(program.sources) > 1 and (unused(results) or any(one.asks for one in results)):
            unled.append((program, results))
        elif len(program.sources) > 1:
            settled += _together(program, results, spool)
    for program, results in results_of(dissolved, settings, jobs, chosen):
        _keep(ready, program, results, spool)
    _settle(imports, ready, settings, chosen, spool)
    _settle_casts(selection, imports, ready, settled, unled, settings, jobs, chosen, spool)
    done = [*(Analysed(result) for result in selection.problems), *settled, *ready.values()]
    done = [_with_reason(one, why) for one in done]
    done = _with_unclear_imports(done, selection, imports)
    done = _with_questions(done, spool)
    done = _with_notebooks(done, selection, imports, spool)
    done.sort(key=lambda one: one.result.path)
    return Outcome(selection.scanned, tuple(numbered(done)))


def _not_together(result: FileResult) -> bool:
    """Whether a file could not be looked at with the others of its program, though it may be by itself."""
    return result.status == "unparseable" and all(one.severity is Severity.INFO for one in result.findings)


def _files(selection: Selection) -> list[Source]:
    """The files that mention Apex, and those that have its amp by way of another file."""
    return [*selection.candidates, *(source for source in selection.amp if not source.mentions)]


def _by_runners(
    stuck: list[tuple[Component, tuple[FileResult, ...]]],
    ready: dict[Source, Analysed],
    settled: list[Analysed],
    selection: Selection,
    imports: Imports,
    settings: Settings,
    jobs: int,
    engine: Engine,
    spool: Spool,
) -> list[tuple[Component, tuple[FileResult, ...]]]:
    """Settle files that no import joins, as a library's runner trains; the programs that stay stuck."""
    amp = {source.location for source in selection.amp}
    apart = {s.location: s for s, one in ready.items() if s.location in amp and needed([one.result])}
    apart |= {s.location: s for program, _ in stuck for s in program.sources if s.location in amp}

    def settle(tried: Iterable[Component]) -> None:
        nonlocal stuck
        for program, results in results_of(list(tried), settings, jobs, engine):
            within = _all_within(program, stuck, selection)
            whole = not by_hand(results) and not needed(results)
            handed = any(change.rule == HANDED for one in results for change in one.changes)
            if within is not None and whole and handed:
                stuck = _take(program, results, within, stuck, ready, settled, spool)

    settle(scattered(apart.values(), selection, imports))
    settle(one for program, _ in stuck if (one := run_by_others(program, imports)) is not None)
    return stuck


def _take(
    program: Component,
    results: Sequence[FileResult],
    within: list[tuple[Component, tuple[FileResult, ...]]],
    stuck: list[tuple[Component, tuple[FileResult, ...]]],
    ready: dict[Source, Analysed],
    settled: list[Analysed],
    spool: Spool,
) -> list[tuple[Component, tuple[FileResult, ...]]]:
    """Settle a program in the place of those that lie in it, and of its files by themselves; what is still stuck."""
    settled += _together(program, results, spool, {one.result.path for one in settled})
    own = {source.location for source in program.sources}
    for source in [s for s in ready if s.location in own]:
        del ready[source]
    return [one for one in stuck if one not in within]


def _as_wider_says(
    program: Component,
    found: tuple[FileResult, ...],
    more: Component | None,
    tried: Mapping[Component, Sequence[FileResult]],
) -> tuple[FileResult, ...]:
    """Why a program stays: where it was tried with the files around it and stayed as well, in the words of that. A call
    that nobody makes in the small one may stand there, and something else be in the way."""
    around = {s.location: one for s, one in zip(more.sources, tried[more], strict=False)} if more is not None else {}
    said = [around.get(source.location) for source in program.sources]
    if not by_hand(found) or any(map(_migrated, found)) or None in said:
        return found
    told = [one for one in said if one is not None]
    if any(len(one.units) != len(own.units) or _migrated(one) for one, own in zip(told, found, strict=True)):
        return found
    elsewhere = any(_stays_for_another(finding) for one in told for finding in one.findings)
    if elsewhere or not any(finding.severity is Severity.MANUAL for one in told for finding in one.findings):
        return found
    numbers = sorted({unit.number for one in told for unit in one.units})
    low = numbers[0] - 1
    if numbers != [*range(low + 1, low + 1 + len(numbers))]:
        return found
    alike = [moved(one, -low) for one in told]
    return tuple(replace(own, findings=one.findings, units=one.units) for one, own in zip(alike, found, strict=True))


def _with_reason(one: Analysed, why: Mapping[str, Finding]) -> Analysed:
    """A file that was looked at by itself, with why it was: beside what stays by hand there, or with each unit that is
    migrated, which nobody compared with what the others do."""
    result = one.result
    if result.path not in why:
        return one
    left = next((f for f in result.findings if f.severity is Severity.MANUAL), None)
    if left is not None:
        told = replace(why[result.path], line=left.line, end_line=left.line)
        return replace(one, result=replace(result, findings=(*result.findings, told)))
    said = tuple(_apart(why[result.path], unit) for unit in result.units)
    units = tuple(replace(unit, applicability=Applicability.REVIEW) for unit in result.units)  # none is manual
    return replace(one, result=replace(result, findings=(*result.findings, *said), units=units))


def _apart(why: Finding, unit: UnitSummary) -> Finding:
    message = (
        f"{why.message.rstrip('.')}: whether the others evaluate what it trains, or look at its gradients, is known by "
        "their texts alone"
    )
    return Finding("APX092", Severity.REVIEW, unit.line, unit.line, message, unit=unit.number)


def _stays_for_another(finding: Finding) -> bool:
    unread = finding.rule == NOT_ANALYSED and finding.severity is Severity.MANUAL
    return TOGETHER in finding.message or unread


def _all_within(
    program: Component, stuck: list[tuple[Component, tuple[FileResult, ...]]], selection: Selection
) -> list[tuple[Component, tuple[FileResult, ...]]] | None:
    """The stuck programs that share a file with this one; None where one of them uses amp in a file that is not in it:
    written would be half of that one."""
    own = {source.location for source in program.sources}
    amp = {source.location for source in selection.amp}
    sharing = [one for one in stuck if not own.isdisjoint(s.location for s in one[0].sources)]
    strangers = {s.location for one, _ in sharing for s in one.sources if s.location in amp} - own
    return None if strangers else sharing


def _with_questions(done: list[Analysed], spool: Spool) -> list[Analysed]:
    """What is known, and who asks for torch's wrapper beside a file that goes on wrapping in Apex's."""
    wraps = min((one.result.path for one in done if still_wraps(one.result)), default=None)
    if wraps is None:
        return done
    return [
        one if one.texts is None else replace(one, result=asking(one.result, spool.get(one.texts.old), wraps))
        for one in done
    ]


def _with_unclear_imports(done: list[Analysed], selection: Selection, imports: Imports) -> list[Analysed]:
    """What is known, and which imports of a file that stays may mean one of several others."""
    more = unclear_imports([one.result for one in done], selection, imports)
    return [
        replace(one, result=replace(one.result, findings=(*one.result.findings, *more.get(one.result.path, ()))))
        for one in done
    ]


def _with_notebooks(
    done: list[Analysed], selection: Selection, imports: Imports, spool: Spool
) -> list[Analysed]:
    """What is known, and what notebooks have to hand functions that take more now."""
    if not selection.notebooks:
        return done
    changed = [
        (str(one.texts.location), one.result.path, spool.get(one.texts.old), spool.get(one.texts.new))
        for one in done
        if one.texts is not None and one.result.path.endswith(".py")
    ]
    for location, findings in told(changed, selection.notebooks, imports).items():
        path = selection.notebooks[location]
        known = next((one for one in done if one.result.path == path), Analysed(FileResult(path, "unchanged")))
        more = replace(known, result=replace(known.result, findings=(*known.result.findings, *findings)))
        done = [*(one for one in done if one is not known), more]
    return done


def _keep(ready: dict[Source, Analysed], program: Component, results: Sequence[FileResult], spool: Spool) -> None:
    """Keep what there is to tell of a file by itself."""
    (source,), (result,) = program.sources, results
    if _tells(result):
        ready[source] = _put_away(result, Path(source.location), spool)


def _together(
    program: Component, results: Sequence[FileResult], spool: Spool, told: Collection[str] = ()
) -> list[Analysed]:
    """The files of one program, to be written all or none. ``told`` are files that another one tells of."""
    name = min(result.path for result in results)
    return [
        replace(_put_away(result, Path(source.location), spool), program=name)
        for source, result in zip(program.sources, results, strict=True)
        if _tells(result) and (result.new is not None or result.path not in told)
    ]


def _may_change(
    program: Component,
    results: Sequence[FileResult],
    settled: Sequence[Analysed],
    ready: Mapping[Source, Analysed],
    selection: Selection,
    imports: Imports,
) -> bool:
    """Whether a program that was widened is migrated, and changes no file that belongs to others too, unless these are
    migrated: a second run would change it for the same reasons."""
    if not any(map(_migrated, results)):
        return False
    files = {source.location for source in program.sources}
    changed = {
        source.location for source, result in zip(program.sources, results, strict=True) if result.new is not None
    }
    if {result.path for result in results if result.new is not None} & {one.result.path for one in settled}:
        return False
    helpers = changed - {source.location for source in selection.amp}
    others = {source.location for source in selection.amp} - files
    native = _native([*settled, *ready.values()])
    left = others - native
    native = {one for one in native & others if imports.beside(one, left) is None}  # those beside others may stay, too
    return not helpers or not any(imports.reached(other, helpers) for other in others - native)


def _native(found: Iterable[Analysed]) -> set[str]:
    """Files that are migrated and need amp no more."""
    return {str(one.texts.location) for one in found if one.texts is not None and not needed([one.result])}


def _tells(result: FileResult) -> bool:
    return result.status != "unchanged" or bool(result.findings or result.changes)


def _settle(
    imports: Imports, ready: dict[Source, Analysed], settings: Settings, engine: Engine, spool: Spool
) -> None:
    """Settle what files owe each other.

    Units stay where a connected file still needs amp, as half a migration would break them; a file whose
    casts serve only units that are migrated follows them."""
    left = {s.location for s, a in ready.items() if needed([a.result])}
    if not left or not any(_migrated(a.result) for a in ready.values()):
        return
    casts = {s.location for s, a in ready.items() if waits([a.result], Waits.CASTS)}
    stuck = left - casts

    def again(source: Source, standing: Standing) -> None:
        del ready[source]
        found = analyse_file(source, settings, engine, standing)
        ready[source] = _put_away(found, Path(source.location), spool)

    while True:
        shown = {s.location: a.result for s, a in ready.items()}
        for source in _movable(ready, stuck):
            other = imports.beside(source.location, stuck)
            if other is not None:
                again(source, Standing(stays=_still_needs(shown[other])))
                stuck.add(source.location)
                break
        else:
            used = {c for c in casts - stuck if any(imports.reached(one, (c,)) for one in stuck)}
            if not used:
                break
            stuck |= used  # a unit that stays uses these casts, so they stay, and so does who else uses them
    for source in [s for s in ready if s.location in casts - stuck]:
        if any(imports.reached(one.location, (source.location,)) for one in _movable(ready, stuck)):
            again(source, Standing(Leads.MIGRATED))


def _settle_casts(
    selection: Selection,
    imports: Imports,
    ready: dict[Source, Analysed],
    settled: list[Analysed],
    programs: Sequence[tuple[Component, tuple[FileResult, ...]]],
    settings: Settings,
    jobs: int,
    engine: Engine,
    spool: Spool,
) -> None:
    """Settle casts, classes that scale what they are called with, and questions whether amp is there, that no import
    joins to training: where nothing else in the tree needs Apex's amp any more, whoever uses them is migrated, or never
    switched amp on. One file is no tree."""
    alone = [s for s, a in ready.items() if unused([a.result]) or a.result.asks]
    others = [*settled, *(a for s, a in ready.items() if s not in alone)]
    wanted = any(a.result.status == "unparseable" or needed([a.result]) for a in others)
    wanted |= selection.scanned < 2

    def may(results: Sequence[FileResult]) -> bool:
        return not wanted or not unused(results)  # an answer that nobody reads is wanted by nobody

    texts = [a.texts for a in (*settled, *ready.values()) if a.texts is not None]
    now = {str(text.location): partial(spool.get, text.new) for text in texts}

    def answered(program: Component, results: Sequence[FileResult]) -> bool:
        asking = [s.location for s, one in zip(program.sources, results, strict=True) if one.asks]
        return not wanted and all(may_be_answered(one, imports, now) for one in asking)

    native = _native([*settled, *ready.values()])

    def led(program: Component, results: Sequence[FileResult]) -> bool:
        saving = [source.location for source in program.sources] if waits(results, Waits.STATE) else []
        return bool(saving) and may_be_initialized(saving, selection, imports, native)

    whole = [*((Component((s,), ({},)), (ready[s].result,)) for s in alone), *programs]
    chosen = [one for one in whole if may(one[1]) and not led(*one)]
    again = [_unled(program, answered(program, results)) for program, results in chosen]
    found = list(results_of(again, settings, jobs, engine))
    if any(needed(results) for _, results in found):
        found = []
    tried = {source.location for program, _ in found for source in program.sources}
    left = [one for one in programs if one[0].sources[0].location not in tried]
    for program, results in [*found, *left]:
        if len(program.sources) > 1:
            settled += _together(program, results, spool)
            continue
        (old,) = (s for s in alone if s.location == program.sources[0].location)
        del ready[old]
        _keep(ready, program, results, spool)


def _unled(program: Component, answered: bool) -> Component:
    return replace(program, standing=Standing(Leads.NOBODY, answered=answered))


def _movable(ready: dict[Source, Analysed], stuck: set[str]) -> list[Source]:
    """Files with units that are migrated as things are."""
    return [
        s
        for s, a in ready.items()
        if s.location not in stuck and _migrated(a.result) and not s.location.endswith(NOTEBOOK)
    ]


def _migrated(result: FileResult) -> bool:
    return any(unit.applicability is not Applicability.MANUAL for unit in result.units)


def _still_needs(result: FileResult) -> str:
    """Why what runs in one process with a file that stays has to stay as well, by the finding that says what is missing
    there: the nearest to the line that needs amp."""
    line = result.needs.line if result.needs is not None else 1
    manual = [one for one in result.findings if one.severity is Severity.MANUAL]
    why = min(manual, key=lambda one: (abs(one.line - line), one.line), default=None)
    at, rule = (why.line, f" ({why.rule})") if why is not None else (line, "")
    return f"{result.path}, line {at}, stays{rule} and may run in one process with this: Apex casts all of a process"


def _default_engine() -> Engine:
    from .engine import migrate_module

    return migrate_module


def _put_away(result: FileResult, location: Path, spool: Spool) -> Analysed:
    if result.new is None:
        return Analysed(result)
    texts = Texts(location, digest(result.old), spool.put(result.old), spool.put(result.new))
    return Analysed(replace(result, old=b"", new=None), texts)
