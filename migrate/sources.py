"""Which files a run looks at.

Directories are walked in a fixed order and only files whose bytes hold the word ``apex`` go on;
nothing is parsed here and no text is kept. What cannot be looked at becomes a finding, never a crash.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from .copies import copies
from .errors import UserError, reason
from .journal import JOURNAL, STAGING
from .model import ALONE, FileResult, Finding, Outside, Severity
from .notebooks.cells import code_cells
from .packaging.files import Beside, chosen, kind
from .reading import LOOK_LIMIT, NOTEBOOK, SOURCE_LIMIT, read, windows

RULE = "APX001"

_SKIPPED = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv", "site-packages"}
    | {".tox", ".nox", ".eggs", ".mypy_cache", ".ruff_cache", ".pytest_cache"}
)
# A folder named build may hold sources; these names inside it say that it is output.
_BUILD_OUTPUT = re.compile(r"lib|(lib|temp|bdist)\..*|CMakeCache\.txt")
_SOURCES = (".py", NOTEBOOK)
_MARKERS = (b"apex", b"APEXEngine", b"amp_C")
_WORD = re.compile(rb"\bapex\b")
# Lines with amp in them, and what is called of it where it came from somewhere else.
_AMP = re.compile(rb"^[^#\n]*\b(?:amp|fp16_utils)\b", re.M)
_CALLS = re.compile(
    rb"\bamp\.(?:initialize|scale_loss|master_params|state_dict|load_state_dict)\b|\bscale_loss\s*\("
)
_ATTRIBUTE = re.compile(rb"(?<!torch)(?<!cuda)(?<!apex)\.amp\b|[\"']amp[\"']")
_DEEPEST = 200  # folders in one another


@dataclass(frozen=True)
class Source:
    """A file to analyse: the name the report prints and the place it lies at, links resolved.

    ``outside`` is what the rest of the tree has to do with it."""

    shown: str
    location: str
    size: int
    outside: Outside = ALONE
    mentions: bool = True  # apex, by name
    uses_amp: bool = False
    spells_amp: bool = False


@dataclass(frozen=True)
class Selection:
    """What a walk found. ``journals`` are the traces of an interrupted run."""

    scanned: int
    candidates: tuple[Source, ...]
    problems: tuple[FileResult, ...]
    journals: tuple[Path, ...]
    python: Mapping[str, str] = field(default_factory=dict)  # every Python file of the walk, and what reports call it
    amp: tuple[Source, ...] = ()  # files that use amp, from Apex or from wherever they have it
    notebooks: Mapping[str, str] = field(default_factory=dict)  # likewise
    spelling: frozenset[str] = frozenset()  # Python files that read or set an attribute called ``amp``
    beside: tuple[Beside, ...] = ()  # files that surround the code, not looked into yet

    def locations(self) -> dict[str, str]:
        """Where the files lie, by the names that reports have for them."""
        known = {shown: at for each in (self.python, self.notebooks) for at, shown in each.items()}
        known |= {one.shown: one.location for one in self.beside}
        return known | {one.shown: one.location for one in self.candidates}


@dataclass(frozen=True)
class _Entry:
    kind: Literal["file", "beside", "outside", "broken", "unreadable", "journal"]
    shown: str
    location: str
    detail: str = ""


def collect(paths: Sequence[str], exclude: Sequence[str] = ()) -> Selection:
    """Every file below ``paths`` that mentions Apex, sorted by the name the report prints."""
    missing = [path for path in paths if not os.path.exists(path)]
    if missing:
        named = printable(missing[0]) or "of an empty name"
        raise UserError(f"there is no file or directory {named}.")
    scanned = 0
    candidates: list[Source] = []
    problems: list[FileResult] = []
    journals: list[Path] = []
    handled: set[str] = set()
    python: dict[str, str] = {}
    notebooks: dict[str, str] = {}
    amp: list[Source] = []
    spelling: set[str] = set()
    beside: list[Beside] = []
    for entry in _entries(paths, exclude):
        if entry.kind == "journal":
            journals.append(Path(entry.location))
            continue
        # One walk meets nothing twice but a script that several links name: a set of all names is not needed.
        if len(paths) > 1 or not entry.location.endswith(_SOURCES):
            if entry.location in handled:
                continue
            handled.add(entry.location)
        if entry.kind == "beside":
            beside.append(Beside(entry.shown, entry.location))
            continue
        scanned += entry.kind == "file"
        if entry.kind == "file" and entry.location.endswith(".py"):
            python[entry.location] = entry.shown
        elif entry.kind == "file" and entry.location.endswith(NOTEBOOK):
            notebooks[entry.location] = entry.shown
        found = _look(entry)
        if isinstance(found, Source):
            if found.spells_amp:
                spelling.add(found.location)
            if found.uses_amp:
                amp.append(found)
            if found.mentions:
                candidates.append(found)
        elif found is not None:
            problems.append(found)
    folders = copies(python, paths)
    problems += [_of_copy(source) for source in candidates if source.location.startswith(folders)]
    candidates = [source for source in candidates if not source.location.startswith(folders)]
    amp = [source for source in amp if not source.location.startswith(folders)]
    python = {at: shown for at, shown in python.items() if not at.startswith(folders)}  # what imports it has Apex's
    return Selection(
        scanned=scanned,
        candidates=tuple(sorted(candidates, key=lambda source: source.shown)),
        problems=tuple(sorted(problems, key=lambda result: result.path)),
        journals=tuple(dict.fromkeys(journals)),
        python=python,
        amp=tuple(sorted(amp, key=lambda source: source.shown)),
        notebooks=notebooks,
        spelling=frozenset(spelling),
        beside=tuple(one for one in beside if not one.location.startswith(folders)),
    )


def _of_copy(source: Source) -> FileResult:
    """What is said of a file of a copy of Apex."""
    finding = Finding(
        rule=RULE,
        severity=Severity.INFO,
        line=1,
        end_line=1 if source.shown.endswith(NOTEBOOK) else max(len(read(source.location).splitlines()), 1),
        message="part of a copy of Apex, which is left as it is",
        suggestion="Where no other file needs Apex any more, the copy can go.",
    )
    return FileResult(path=source.shown, status="unchanged", findings=(finding,))


def only_folder(paths: Sequence[str]) -> str:
    """The one directory of ``paths`` that holds all of them, which names are relative to; empty where there is none.

    Beside a file elsewhere such names could be mistaken for its."""
    roots = {os.path.realpath(path) for path in paths if os.path.isdir(path)}
    root = roots.pop() if len(roots) == 1 else ""
    return root if all(_within(os.path.realpath(path), root) for path in paths) else ""


def printable(path: str) -> str:
    """A path as a report may hold it: with slashes, and bytes that are no UTF-8 spelt out."""
    return os.fsencode(path).decode("utf-8", "backslashreplace").replace(os.sep, "/")


def problem(
    path: str,
    message: str,
    suggestion: str | None = None,
    *,
    status: Literal["unchanged", "unparseable"] = "unchanged",
    severity: Severity = Severity.MANUAL,
    line: int = 1,
    rule: str = RULE,
) -> FileResult:
    """The result of a file that could not be looked into."""
    finding = Finding(
        rule=rule, severity=severity, line=line, end_line=line, message=message, suggestion=suggestion
    )
    return FileResult(path=path, status=status, findings=(finding,))


def mentions_apex(data: bytes) -> bool:
    """Whether ``apex`` stands in ``data`` as a word of its own."""
    return _WORD.search(data) is not None


# ---------------------------------------------------------------- walking


def _entries(paths: Sequence[str], exclude: Sequence[str]) -> Iterator[_Entry]:
    roots: dict[str, str] = {}
    for path in paths:
        if os.path.isdir(path):
            roots.setdefault(os.path.realpath(path), path)
    places = dict.fromkeys(map(os.path.realpath, paths))
    for place in places:
        yield from _journals_above(place)
    only_root = only_folder(paths)
    for root, given in roots.items():
        yield from _walk(root, "", "" if only_root else given, tuple(roots), exclude)
    for path in paths:
        location = os.path.realpath(path)
        if location in roots:
            continue
        shown = os.path.relpath(location, only_root) if only_root else path
        if not _excluded(shown, exclude):
            source = location.endswith(_SOURCES) or kind(location) is None
            yield _Entry("file" if source else "beside", printable(shown), location)


def _walk(
    folder: str, relative: str, prefix: str, roots: tuple[str, ...], exclude: Sequence[str]
) -> Iterator[_Entry]:
    if relative.count(os.sep) >= _DEEPEST:
        shown = printable(os.path.join(prefix, relative))
        yield _Entry("unreadable", shown, folder, "its folders are nested too deeply")
        return
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        yield _Entry("unreadable", printable(os.path.join(prefix, relative) or "."), folder, reason(error))
        return
    if relative and _is_output(relative, entries):
        return
    others = [one.name for one in entries if not one.name.endswith(_SOURCES)]
    besides = set(chosen(os.path.basename(folder), others))
    for entry in entries:
        below = os.path.join(relative, entry.name)
        if exclude and _excluded(below, exclude):
            continue
        shown = os.path.join(prefix, below)
        if entry.is_symlink():
            yield from _link(entry, printable(shown), roots)
        elif entry.is_dir(follow_symlinks=False):
            if entry.name not in _SKIPPED:
                yield from _walk(entry.path, below, prefix, roots, exclude)
        elif entry.name in (JOURNAL, STAGING):
            yield _Entry("journal", shown, entry.path)
        elif entry.name.endswith(_SOURCES):
            yield _Entry("file", printable(shown), entry.path)
        elif entry.name in besides and entry.is_file(follow_symlinks=False):
            yield _Entry("beside", printable(shown), entry.path)


def _link(entry: os.DirEntry[str], shown: str, roots: tuple[str, ...]) -> Iterator[_Entry]:
    """A link inside the tree is handled under its target's own name, one out of it never followed."""
    target = os.path.realpath(entry.path)
    is_source = entry.name.endswith(_SOURCES)
    if not os.path.exists(target):
        if is_source:
            yield _Entry("broken", shown, entry.path)
    elif not any(_within(target, root) for root in roots):
        if is_source or os.path.isdir(target):
            yield _Entry("outside", shown, target)
    elif is_source and os.path.isfile(target) and not target.endswith(_SOURCES):
        yield _Entry("file", shown, target)


def _is_output(folder: str, entries: Sequence[os.DirEntry[str]]) -> bool:
    names = [entry.name for entry in entries]
    if "pyvenv.cfg" in names:
        return True
    return os.path.basename(folder) == "build" and any(map(_BUILD_OUTPUT.fullmatch, names))


def _journals_above(path: str) -> Iterator[_Entry]:
    """Journals lie in a folder that holds all files of their run, so perhaps above ``path``.

    In a folder such as /tmp anybody may have put one: those of other users do not count there."""
    ours = {getattr(os, "geteuid", int)(), os.stat(path).st_uid}
    for folder in Path(path).parents:
        for name in (JOURNAL, STAGING):
            location = folder / name
            with suppress(OSError):
                info = os.lstat(location)
                if stat.S_ISREG(info.st_mode) and info.st_uid in ours:
                    yield _Entry("journal", str(location), str(location))


def _within(location: str, root: str) -> bool:
    return location == root or location.startswith(root.rstrip(os.sep) + os.sep)


def _excluded(relative: str, patterns: Sequence[str]) -> bool:
    """A pattern without a slash fits any part of the path, one with a slash the path or a folder of it."""
    parts = relative.replace(os.sep, "/").removeprefix("./").split("/")
    leading = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    for raw in patterns:
        pattern = raw.removeprefix("./").rstrip("/")
        if "/" not in pattern:
            fits = any(fnmatchcase(part, pattern) for part in parts)
        else:
            spellings = {pattern, pattern.removeprefix("**/"), pattern.removeprefix("/")}
            fits = any(fnmatchcase(head, one) for head in leading for one in spellings)
        if fits:
            return True
    return False


# ---------------------------------------------------------------- looking into one file


def _look(entry: _Entry) -> Source | FileResult | None:
    if entry.kind == "unreadable":
        return problem(entry.shown, f"this directory cannot be read: {entry.detail}.")
    if entry.kind == "broken":
        return problem(
            entry.shown, "this symbolic link leads nowhere, so nothing was read.", severity=Severity.REVIEW
        )
    if entry.kind == "outside":
        return problem(
            entry.shown,
            "this symbolic link leads out of the tree and was not followed.",
            "If what it leads to uses Apex, name it as a PATH of its own.",
            severity=Severity.REVIEW,
        )
    try:
        return _look_into(entry)
    except OSError as error:
        return problem(
            entry.shown,
            f"this file cannot be read: {reason(error)}.",
            "Make it readable and run again, or leave it out with --exclude.",
        )


def _look_into(entry: _Entry) -> Source | FileResult | None:
    info = os.stat(entry.location)
    if not stat.S_ISREG(info.st_mode):
        return problem(entry.shown, "this is no regular file, so nothing was read.", severity=Severity.REVIEW)
    if info.st_size > SOURCE_LIMIT:
        return _large(entry, info.st_size)
    data = read(entry.location)
    mentions = any(marker in data for marker in _MARKERS)
    if entry.shown.endswith(NOTEBOOK):
        return _notebook(entry, data) if mentions else None
    uses = (_AMP if mentions else _CALLS).search(data) is not None
    spells = b".amp" in data and _ATTRIBUTE.search(data) is not None
    if not (mentions or uses or spells):
        return None
    return Source(entry.shown, entry.location, info.st_size, ALONE, mentions, uses, spells)


def _large(entry: _Entry, size: int) -> FileResult | None:
    """A file that is no source to be migrated is looked at in pieces, and a huge one not to its end."""
    if any(map(mentions_apex, windows(entry.location))):
        return problem(
            entry.shown,
            f"this file mentions apex and is larger than {SOURCE_LIMIT >> 20} MB, so it was not analysed.",
            "Move the training code out of it, or migrate it by hand.",
        )
    if size <= LOOK_LIMIT:
        return None
    return problem(
        entry.shown,
        f"this file is larger than {LOOK_LIMIT >> 20} MB, so only its beginning was looked at; "
        "apex is not mentioned there.",
        severity=Severity.REVIEW,
    )


def _notebook(entry: _Entry, data: bytes) -> Source | FileResult | None:
    """Only code counts: an image in an output may well spell the word in base64."""
    try:
        cells = code_cells(data.decode("utf-8"))
    except ValueError:
        if not mentions_apex(data):
            return None
        why = "this mentions apex and is no notebook of format 4."
        return problem(entry.shown, why, "Save it as one (jupyter nbconvert --to notebook) and run again.")
    if not any(mentions_apex(cell.source.encode("utf-8", "replace")) for cell in cells):
        return None
    return Source(entry.shown, entry.location, len(data), ALONE)
