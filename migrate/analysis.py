"""From the bytes of one program's files to what becomes of them: decode, run the engine, encode."""

from __future__ import annotations

import ast
import os
import re
import sys
import traceback
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from . import memory
from .components import Component
from .errors import Tangled, reason
from .facts.files import reached_from
from .facts.mentions import mentions
from .imports.taken import takings
from .limits import guarded
from .model import (
    UNSETTLED,
    Applicability,
    FileResult,
    FileText,
    Finding,
    ModuleResult,
    Outside,
    Settings,
    Severity,
    Standing,
)
from .notebooks.notebook import migrate_notebook
from .outcome import INTERNAL_ERROR
from .reading import NOTEBOOK, read
from .sources import Source, mentions_apex, problem
from .textio import Undecodable, decode, encode, looks_like_python_2

Engine = Callable[[str, Settings, Outside, Standing], ModuleResult]


def analyse_program(program: Component, settings: Settings, engine: Engine) -> tuple[FileResult, ...]:
    """What becomes of the files of a program; whatever happens, a result for each.

    A file that does not parse is left out, and is one that is not here for the others. Where several cannot be analysed
    together all are ``unparseable``: each by itself says why, or is well."""
    found = _analysed(program, settings, engine)
    if not any(result.status == "unparseable" and not result.findings for result in found):
        return found  # or it is told why
    broken = {number: told for number, source in enumerate(program.sources) if (told := _broken(source)) is not None}
    if not 0 < len(broken) < len(program.sources):
        return found
    rest = _unread(program, broken).without(broken)
    left = _analysed(rest, settings, engine)
    why = _stays_beside(program, broken, left)
    if why is not None:
        left = _analysed(replace(rest, standing=replace(rest.standing, stays=why)), settings, engine)
    following = iter(left)
    return tuple(broken[number] if number in broken else next(following) for number in range(len(program.sources)))


def _broken(source: Source) -> FileResult | None:
    """What is told of a file that Python cannot read."""
    line = 1
    try:
        text = decode(read(source.location))[0]
        ast.parse(text)
    except SyntaxError as error:
        if source.mentions:
            return _unparseable(source.shown, text, ModuleResult(None, parsed=False))
        line, why = max(error.lineno or 1, 1), error.msg
    except (OSError, Undecodable, ValueError) as error:
        why = reason(error) if isinstance(error, OSError) else str(error)
    except (RecursionError, MemoryError):
        return None
    else:
        return None
    if source.mentions:
        return None
    version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    said = f"{version} cannot read this file ({why}), so the program was looked at without it."
    return problem(source.shown, said, severity=Severity.INFO, line=line)


def _unread(program: Component, broken: Collection[int]) -> Component:
    """A program of which some files count as others: what they take from its files is taken by somebody unknown."""
    outside = [source.outside for source in program.sources]
    for number in broken:
        links = program.links[number]
        try:
            taken = takings(read(program.sources[number].location), {name.rpartition(".")[2] for name in links})
        except OSError:
            taken = dict.fromkeys(links, frozenset({"*"}))
        for dotted, to in links.items():
            names = taken.get(dotted, frozenset())
            unread = frozenset() if "*" in names else outside[to].unread
            outside[to] = replace(outside[to], exported=outside[to].exported | names, unread=unread)
    pairs = zip(program.sources, outside, strict=True)
    return replace(program, sources=tuple(replace(source, outside=about) for source, about in pairs))


def _stays_beside(program: Component, broken: Collection[int], left: Sequence[FileResult]) -> str | None:
    """Why the files that can be read have to stay: one that cannot uses amp in a process in which a unit of them was
    migrated. Nobody knows what it does there."""
    kept = [number for number in range(len(program.sources)) if number not in broken]
    migrated = {
        number
        for number, result in zip(kept, left, strict=True)
        if any(unit.applicability is not Applicability.MANUAL for unit in result.units)
    }
    reached = [reached_from(program.links, number) for number in range(len(program.sources))]
    for number in broken:
        source = program.sources[number]
        process = {one for mine in reached if number in mine for one in mine}
        if source.uses_amp and not migrated.isdisjoint(process):
            return f"{source.shown}, which Python cannot read, uses Apex's amp and may run in one process with this"
    return None


def _analysed(program: Component, settings: Settings, engine: Engine) -> tuple[FileResult, ...]:
    """The same of all files as they are."""
    memory.give_back()  # of the program before this one
    if len(program.sources) == 1:
        return (analyse_file(program.sources[0], settings, engine, program.standing),)
    from .engine import migrate_program
    from .linked import migrate_linked
    from .parts.second import second

    try:
        old = [read(source.location) for source in program.sources]
        decoded = [decode(data) for data in old]
    except (OSError, Undecodable):
        return tuple(FileResult(source.shown, "unparseable") for source in program.sources)
    texts = [
        FileText(text, source.shown, source.outside, links)
        for (text, _), source, links in zip(decoded, program.sources, program.links, strict=True)
    ]
    migrate = migrate_program if program.standing.scattered else migrate_linked
    try:
        with guarded():
            migrated = migrate(texts, settings, program.standing)
            results = second(texts, migrated, settings)
        new = [
            None if result.new_text is None else encode(result.new_text, encoding)
            for result, (_, encoding) in zip(results, decoded, strict=True)
        ]
    except (RecursionError, MemoryError):
        return tuple(FileResult(source.shown, "unparseable") for source in program.sources)
    except Tangled as why:
        said = f"this file was looked at by itself: the {len(program.sources)} files of its program are too tangled to "
        told = (Finding("APX001", Severity.INFO, 1, 1, f"{said}follow together ({why})."),)
        return tuple(FileResult(source.shown, "unparseable", findings=told) for source in program.sources)
    except Exception as error:
        what = _last_line(error)
        return tuple(
            internal_error(source.shown, what) if source.mentions else FileResult(source.shown, "unchanged")
            for source in program.sources
        )
    return tuple(
        _file_result(source, data, result, changed)
        for source, data, result, changed in zip(program.sources, old, results, new, strict=True)
    )


def analyse_file(
    source: Source, settings: Settings, engine: Engine, standing: Standing = UNSETTLED
) -> FileResult:
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
        with guarded():
            if notebook:
                result = migrate_notebook(text, settings, source.outside, engine, standing)
            else:
                result = engine(text, settings, source.outside, standing)
            if not result.parsed:
                return _unparseable(source.shown, text, result)
        new = None if result.new_text is None else encode(result.new_text, encoding)
    except (RecursionError, MemoryError):  # the parser reports a full stack as the latter
        return problem(
            source.shown,
            "this file is nested too deeply to be analysed: an expression, a chain of elif, or calls within calls.",
            "Break the longest of them up and run again.",
        )
    except Tangled as why:
        told = problem(
            source.shown,
            f"this file is too tangled to follow: {why}.",
            "Move its training loop into a file of its own and run again, or migrate it by hand.",
        )
        return told if notebook else _with_sites(told, mentions(text))
    except Exception as error:
        return internal_error(source.shown, _last_line(error))
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
        needs=result.needs,
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
    return internal_error(shown, "the engine rejects what Python parses")


def internal_error(shown: str, what: str) -> FileResult:
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
