"""From a selection of files to what became of each: decode, run the engine, encode.

Programs (mostly of one file) are independent of each other, so many are spread over processes; whatever order they
come back in, results are sorted by path and units numbered in that order.
"""

from __future__ import annotations

import ast
import multiprocessing
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue

from . import memory, stops
from .components import Component, components, scattered, single, widened
from .errors import Tangled, reason
from .facts.mentions import mentions
from .journal import digest
from .model import (
    Applicability,
    Change,
    FileResult,
    FileText,
    Finding,
    ModuleResult,
    Neighbours,
    Settings,
    by_hand,
    renumbered,
)
from .notebooks.callers import told
from .notebooks.notebook import migrate_notebook
from .reach import Imports
from .reading import NOTEBOOK, read
from .sources import Selection, Source, mentions_apex, problem
from .spool import Slot, Spool
from .textio import Undecodable, decode, encode, looks_like_python_2

Engine = Callable[[str, Settings, Neighbours], ModuleResult]
Progress = Callable[[int, int], None]

INTERNAL_ERROR, HANDED = "APX000", "APX044"

_WORTH_PROCESSES = 8  # below, starting them takes longer than they save
MOST_SECONDS = 120  # of CPU, for one file
MOST_MEMORY = 2 << 30  # bytes that one program may take, beside what the process has
_RECURSION_LIMIT = 4000  # long chains of elif or + nest deeply; the C stack bears this on every version


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
    chosen = engine or _default_engine()
    imports = Imports(selection.python, selection.notebooks)
    joined = components(selection, imports)
    inside = {source.location for program in joined for source in program.sources}
    alone = [single(source, selection, imports) for source in selection.candidates if source.location not in inside]
    settled: list[Analysed] = []  # files of programs that are migrated together
    ready: dict[Source, Analysed] = {}  # files by themselves
    stuck: list[tuple[Component, tuple[FileResult, ...]]] = []
    wider: dict[Component, Component | None] = {}  # programs that are stuck, with the files around them
    tried: dict[Component, tuple[FileResult, ...]] = {}
    added: deque[Component] = deque()
    count = 0
    for program, results in _results([*joined, *alone], settings, jobs, chosen, added):
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
        if more is not None and _may_change(more, tried[more], settled, selection, imports):
            if by_hand(tried[more]) and any(map(_migrated, found)):
                continue  # a part goes either way
            settled += _together(more, tried[more], spool)
            stuck.remove((program, found))
            for source in program.sources:
                ready.pop(source, None)
    stuck = _by_runners(stuck, ready, settled, selection, imports, settings, jobs, chosen, spool)
    dissolved: list[Component] = []
    unled: list[tuple[Component, tuple[FileResult, ...]]] = []  # casts, and nobody who trains
    for program, results in stuck:
        if len(program.sources) > 1 and any(result.status == "unparseable" for result in results):
            own = {source.location for source in program.sources}
            dissolved += [single(s, selection, imports) for s in selection.candidates if s.location in own]
        elif len(program.sources) > 1 and any(_unused(one) or one.asks for one in results):
            unled.append((program, results))
        elif len(program.sources) > 1:
            settled += _together(program, results, spool)
    for program, results in _results(dissolved, settings, jobs, chosen):
        _keep(ready, program, results, spool)
    _settle(imports, ready, settings, chosen, spool)
    _settle_casts(selection, ready, settled, unled, settings, jobs, chosen, spool)
    done = [*(Analysed(result) for result in selection.problems), *settled, *ready.values()]
    done = _with_notebooks(done, selection, imports, spool)
    done.sort(key=lambda one: one.result.path)
    return Outcome(selection.scanned, tuple(_numbered(done)))


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
    apart = {s.location: s for s, one in ready.items() if s.location in amp and one.result.amp_left is not None}
    apart |= {s.location: s for program, _ in stuck for s in program.sources if s.location in amp}
    for program, results in _results(scattered(apart.values(), selection, imports), settings, jobs, engine):
        own = {source.location for source in program.sources}
        left = [one for one, _ in stuck if not own.isdisjoint(s.location for s in one.sources)]
        strangers = {s.location for one in left for s in one.sources if s.location in amp} - own
        whole = not by_hand(results) and all(one.amp_left is None for one in results)
        handed = any(change.rule == HANDED for one in results for change in one.changes)
        if strangers or not whole or not handed:
            continue
        settled += _together(program, results, spool)
        stuck = [one for one in stuck if one[0] not in left]
        for source in [s for s in ready if s.location in own]:
            del ready[source]
    return stuck


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


def _together(program: Component, results: Sequence[FileResult], spool: Spool) -> list[Analysed]:
    """The files of one program, to be written all or none."""
    name = min(result.path for result in results)
    return [
        replace(_put_away(result, Path(source.location), spool), program=name)
        for source, result in zip(program.sources, results, strict=True)
        if _tells(result)
    ]


def _may_change(
    program: Component,
    results: Sequence[FileResult],
    settled: Sequence[Analysed],
    selection: Selection,
    imports: Imports,
) -> bool:
    """Whether a program that was widened is migrated, and changes no file that belongs to others too."""
    if not any(map(_migrated, results)):
        return False
    files = {source.location for source in program.sources}
    changed = {
        source.location for source, result in zip(program.sources, results, strict=True) if result.new is not None
    }
    if changed & {str(one.texts.location) for one in settled if one.texts is not None}:
        return False
    helpers = changed - {source.location for source in selection.amp}
    others = [source.location for source in selection.amp if source.location not in files]
    return not helpers or not any(imports.reached(other, helpers) for other in others)


def _tells(result: FileResult) -> bool:
    return result.status != "unchanged" or bool(result.findings or result.changes)


def _settle(
    imports: Imports, ready: dict[Source, Analysed], settings: Settings, engine: Engine, spool: Spool
) -> None:
    """Settle what files owe each other.

    Units stay where a connected file still needs amp, as half a migration would break them; a file whose
    casts serve only units that are migrated follows them."""
    left = {s.location for s, a in ready.items() if a.result.amp_left is not None}
    if not left or not any(_migrated(a.result) for a in ready.values()):
        return
    casts = {s.location for s, a in ready.items() if a.result.casts_only}
    stuck = left - casts

    def again(source: Source, neighbours: Neighbours) -> None:
        del ready[source]
        changed = replace(source, neighbours=neighbours)
        ready[changed] = _put_away(analyse_file(changed, settings, engine), Path(source.location), spool)

    while True:
        shown = {s.location: a.result for s, a in ready.items()}
        for source in _movable(ready, stuck):
            other = imports.beside(source.location, stuck)
            if other is not None:
                again(source, replace(source.neighbours, hold=_still_needs(shown[other])))
                stuck.add(source.location)
                break
        else:
            needed = {c for c in casts - stuck if any(imports.reached(one, (c,)) for one in stuck)}
            if not needed:
                break
            stuck |= needed  # a unit that stays uses these casts, so they stay, and so does who else uses them
    for source in [s for s in ready if s.location in casts - stuck]:
        if any(imports.reached(one.location, (source.location,)) for one in _movable(ready, stuck)):
            again(source, replace(source.neighbours, follow=True))


def _settle_casts(
    selection: Selection,
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
    alone = [s for s, a in ready.items() if _unused(a.result) or a.result.asks]
    others = [*settled, *(a for s, a in ready.items() if s not in alone)]
    needed = any(a.result.status == "unparseable" or a.result.amp_left is not None for a in others)
    needed |= selection.scanned < 2

    def may(results: Sequence[FileResult]) -> bool:
        return not needed or not any(map(_unused, results))  # an answer that nobody reads is wanted by nobody

    again = [_unled(Component((s,), ({},))) for s in alone if may((ready[s].result,))]
    again += [_unled(program) for program, results in programs if may(results)]
    found = list(_results(again, settings, jobs, engine))
    if any(result.amp_left is not None for _, results in found for result in results):
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


def _unused(result: FileResult) -> bool:
    """Whether what is left of amp in a file waits for somebody who initializes."""
    return (result.casts_only or result.by_itself) and result.amp_left is not None


def _unled(program: Component) -> Component:
    told = [replace(s, neighbours=replace(s.neighbours, follow=True, unled=True)) for s in program.sources]
    return replace(program, sources=tuple(told))


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
    return f"{result.path}, line {result.amp_left}, is connected with this and still needs amp to be initialized"


def _default_engine() -> Engine:
    from .engine import migrate_module

    return migrate_module


def _put_away(result: FileResult, location: Path, spool: Spool) -> Analysed:
    if result.new is None:
        return Analysed(result)
    texts = Texts(location, digest(result.old), spool.put(result.old), spool.put(result.new))
    return Analysed(replace(result, old=b"", new=None), texts)


def _numbered(files: Sequence[Analysed]) -> Iterator[Analysed]:
    """Units are numbered within their program by the engine, here over the whole tree."""
    numbers = 0
    begins: dict[str, int] = {}
    most: dict[str, int] = defaultdict(int)
    for one in files:
        most[one.program] = max([most[one.program], *(unit.number for unit in one.result.units)])
    for one in files:
        result = one.result
        before = begins.get(one.program, numbers)
        yield replace(
            one,
            result=replace(
                result,
                changes=tuple(sorted((renumbered(each, before) for each in result.changes), key=_order)),
                findings=tuple(sorted((renumbered(each, before) for each in result.findings), key=_order)),
                units=tuple(replace(unit, number=unit.number + before) for unit in result.units),
            ),
        )
        if not one.program:
            numbers += max((unit.number for unit in result.units), default=0)
        elif one.program not in begins:
            begins[one.program] = numbers
            numbers += most[one.program]


def _order(item: Change | Finding) -> tuple[int, int, int, str, str]:
    return (item.cell or 0, item.line, item.end_line, item.rule, item.message)


# ---------------------------------------------------------------- processes


def _results(
    programs: Sequence[Component],
    settings: Settings,
    jobs: int,
    engine: Engine,
    added: deque[Component] | None = None,
) -> Iterator[tuple[Component, tuple[FileResult, ...]]]:
    """What becomes of programs, and of those that the caller adds for what became of others."""
    added = deque() if added is None else added
    if jobs == 1 or sum(len(one.sources) for one in programs) < _WORTH_PROCESSES:
        added.extendleft(reversed(programs))
        while added:
            program = added.popleft()
            yield program, analyse_program(program, settings, engine)
        return
    # Large ones first, so that no process is left with one at the end.
    waiting = sorted(programs, key=lambda program: -program.size)
    lost: list[Component] = []
    yield from _gather(min(jobs, len(waiting)), waiting, added, settings, engine, lost)
    for program in sorted(lost, key=lambda program: program.sources[0].shown):
        yield program, _alone(program, settings, engine)
    while added:
        program = added.popleft()
        yield program, _alone(program, settings, engine)


def _gather(
    size: int,
    waiting: Sequence[Component],
    added: deque[Component],
    settings: Settings,
    engine: Engine,
    lost: list[Component],
) -> Iterator[tuple[Component, tuple[FileResult, ...]]]:
    """Results as they come; the programs of a pool that broke are appended to ``lost``."""
    futures: dict[Future[tuple[FileResult, ...]], Component] = {}
    done: SimpleQueue[Future[tuple[FileResult, ...]]] = SimpleQueue()
    with _pool(size) as pool:
        todo = deque(waiting)
        while todo or futures:
            for program in todo:
                try:
                    future = _submitted(pool, program, settings, engine)
                except BrokenProcessPool:
                    lost.append(program)
                else:
                    futures[future] = program
                    future.add_done_callback(done.put)
            todo.clear()
            if futures:
                future = done.get()
                program = futures.pop(future)  # or the texts of all files would be held until the end
                try:
                    results = future.result()
                except BrokenProcessPool:
                    lost.append(program)
                else:
                    yield program, results
            while added:
                todo.append(added.popleft())


def _alone(program: Component, settings: Settings, engine: Engine) -> tuple[FileResult, ...]:
    """A process died and took others' work along: try each program in a process of its own."""
    with _pool(1) as pool:
        try:
            return _submitted(pool, program, settings, engine).result()
        except BrokenProcessPool:
            why = "the process that analysed this file died"
            return tuple(_internal_error(source.shown, why) for source in program.sources)


@contextmanager
def _pool(size: int) -> Iterator[ProcessPoolExecutor]:
    """Processes that end with the block, whatever ends it, and with this process, should it be killed."""
    # Where it is safe, forked processes share what is imported already and start at once.
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else None)
    reader, writer = context.Pipe(duplex=False)  # nothing is ever written: its end tells of this process's
    with reader, writer:
        pool = ProcessPoolExecutor(
            size, mp_context=context, initializer=_begin_worker, initargs=(reader, writer)
        )
        try:
            yield pool
        except BaseException:  # Ctrl-C: nobody waits for what the processes are still at
            for process in multiprocessing.active_children():
                process.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _begin_worker(parent: Connection, ours: Connection) -> None:
    stops.begin_worker(parent, ours)
    memory.begin()


def _submitted(
    pool: ProcessPoolExecutor, program: Component, settings: Settings, engine: Engine
) -> Future[tuple[FileResult, ...]]:
    with stops.held():  # a process that is born here must not answer them before it is set up
        return pool.submit(analyse_program, program, settings, engine)


# ---------------------------------------------------------------- one program


def analyse_program(program: Component, settings: Settings, engine: Engine) -> tuple[FileResult, ...]:
    """What becomes of the files of a program; whatever happens, a result for each.

    Where several cannot be analysed together all are ``unparseable``: each by itself says why, or is well."""
    memory.give_back()  # of the program before this one
    if len(program.sources) == 1:
        return (analyse_file(program.sources[0], settings, engine),)
    from .engine import migrate_program
    from .linked import migrate_linked
    from .parts.second import second

    try:
        old = [read(source.location) for source in program.sources]
        decoded = [decode(data) for data in old]
    except (OSError, Undecodable):
        return tuple(FileResult(source.shown, "unparseable") for source in program.sources)
    texts = [
        FileText(text, source.shown, source.neighbours, links)
        for (text, _), source, links in zip(decoded, program.sources, program.links, strict=True)
    ]
    apart = any(source.neighbours.scattered for source in program.sources)
    try:
        with _guarded():
            migrated = migrate_program(texts, settings) if apart else migrate_linked(texts, settings)
            results = second(texts, migrated, settings)
        new = [
            None if result.new_text is None else encode(result.new_text, encoding)
            for result, (_, encoding) in zip(results, decoded, strict=True)
        ]
    except (RecursionError, MemoryError, Tangled):
        return tuple(FileResult(source.shown, "unparseable") for source in program.sources)
    except Exception as error:
        what = _last_line(error)
        return tuple(
            _internal_error(source.shown, what) if source.mentions else FileResult(source.shown, "unchanged")
            for source in program.sources
        )
    return tuple(
        _file_result(source, data, result, changed)
        for source, data, result, changed in zip(program.sources, old, results, new, strict=True)
    )


def analyse_file(source: Source, settings: Settings, engine: Engine) -> FileResult:
    """What becomes of one file; whatever happens, a result."""
    notebook = source.location.endswith(NOTEBOOK)
    try:
        data = read(source.location)
    except OSError as error:
        return problem(source.shown, f"this file cannot be read: {reason(error)}.")
    try:
        text, encoding = (data.decode(), "utf-8") if notebook else decode(data)
    except Undecodable as error:
        if not mentions_apex(data):
            return FileResult(source.shown, "unchanged")
        return problem(
            source.shown,
            f"this file mentions apex but is not Python source text: {error}.",
            "Store it in the encoding it declares (UTF-8 where it declares none), or migrate it by hand.",
            status="unparseable",
        )
    try:
        with _guarded():
            if notebook:
                result = migrate_notebook(text, settings, source.neighbours, engine)
            else:
                result = engine(text, settings, source.neighbours)
        if not result.parsed:
            return _unparseable(source.shown, text, result)
        new = None if result.new_text is None else encode(result.new_text, encoding)
    except (RecursionError, MemoryError):  # the parser reports a full stack as the latter
        return problem(
            source.shown,
            "the expressions of this file are nested too deeply to be analysed.",
            "Break the longest expression up and run again.",
        )
    except Tangled as why:
        told = problem(
            source.shown,
            f"this file is too tangled to follow: {why}.",
            "Move its training loop into a file of its own and run again, or migrate it by hand.",
        )
        return told if notebook else _with_sites(told, mentions(text))
    except Exception as error:
        return _internal_error(source.shown, _last_line(error))
    return _file_result(source, data, result, new)


def _with_sites(result: FileResult, lines: tuple[int, ...]) -> FileResult:
    """What is told of a file as a whole, at each of these lines."""
    if not lines:
        return result
    every = (replace(one, line=lines[0], end_line=lines[0], lines=lines) for one in result.findings)
    return replace(result, findings=tuple(every))


def _file_result(source: Source, data: bytes, result: ModuleResult, new: bytes | None) -> FileResult:
    if not result.parsed:
        return FileResult(source.shown, "unparseable")
    return FileResult(
        path=source.shown,
        status="unchanged" if new is None or new == data else "changed",
        changes=result.changes,
        findings=result.findings,
        units=result.units,
        amp_left=result.amp_left,
        casts_only=result.casts_only,
        by_itself=result.by_itself,
        asks=result.asks,
        old=b"" if new is None or new == data else data,
        new=None if new == data else new,
    )


def _unparseable(shown: str, text: str, result: ModuleResult) -> FileResult:
    if result.findings:
        return FileResult(shown, "unparseable", findings=result.findings)
    if not re.search(r"\bapex\b", text):
        return FileResult(shown, "unchanged")
    version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    try:
        ast.parse(text)
    except SyntaxError as error:
        line = max(error.lineno or 1, 1)
        if looks_like_python_2(error, text):
            message = f"this file mentions apex and is written in Python 2: {version} cannot parse it."
            suggestion = "Move it to Python 3 first (2to3, then a look at its diff), then run again."
        else:
            message = f"this file mentions apex and {version} cannot parse it: {error.msg}."
            suggestion = "Mend the syntax, or run with the Python version the file is written for."
        return problem(shown, message, suggestion, status="unparseable", line=line)
    except (ValueError, RecursionError, MemoryError) as error:
        message = f"this file mentions apex and {version} cannot parse it: {error}."
        return problem(shown, message, status="unparseable")
    return _internal_error(shown, "the engine rejects what Python parses")


def _internal_error(shown: str, what: str) -> FileResult:
    return problem(
        shown,
        f"internal error, so this file was left alone: {what}.",
        "This is a fault of apex2native: please report it with the line of code it names.",
        rule=INTERNAL_ERROR,
    )


def _last_line(error: Exception) -> str:
    what = traceback.format_exception_only(error)[-1].strip()
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{what} ({os.path.basename(where.filename)}, line {where.lineno}, in {where.name})"


@contextmanager
def _guarded() -> Iterator[None]:
    """What the analysis of a program runs under."""
    with warnings.catch_warnings(), _deep_recursion(), _limited_time(), _limited_memory():
        warnings.simplefilter("ignore")  # the files' own, such as invalid escapes
        yield


@contextmanager
def _limited_time() -> Iterator[None]:
    """End the work on a file that takes longer than any should: seconds of CPU, so that a busy machine says the same.

    Bounds on facts and on states come first; this is for what they do not see."""
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(number: int, frame: object) -> None:
        raise Tangled(f"it was given {MOST_SECONDS} seconds")

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def _limited_memory() -> Iterator[None]:
    """End the work on a file that takes more than any should, where the system has such a bound: on Linux."""
    if sys.platform != "linux":
        yield
        return
    import resource

    had = _address_space()
    before = resource.getrlimit(resource.RLIMIT_AS)
    bounds = [had + MOST_MEMORY, *(one for one in before if one != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_AS, (min(bounds), before[1]))
    try:
        yield
    except MemoryError:
        if _address_space() - had > MOST_MEMORY // 2:  # else it is the parser, which says so of a full stack
            raise Tangled(f"it was given {MOST_MEMORY >> 20} megabytes of memory") from None
        raise
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _address_space() -> int:
    """Bytes that this process has mapped."""
    with open("/proc/self/statm", encoding="ascii") as told:
        return int(told.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Raise Python's recursion limit for a while, never lower it."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
