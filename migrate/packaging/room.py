"""From the files beside the code to what a report says of them, and to their new texts."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .. import textio
from ..errors import Tangled, reason
from ..journal import digest
from ..limits import guarded
from ..model import Applicability, Change, FileResult, Finding, Severity
from ..outcome import Analysed, Outcome, Texts
from ..reading import SOURCE_LIMIT, read
from ..sources import Selection
from ..spool import Spool
from . import docker, inis, lines, requirements, setups, tomls, yamls
from .code import Code
from .files import Beside, Kind, bulky, kind
from .mention import FIXED, FOUND, About, Mention
from .needs import Needs
from .texts import Text, decode, without

_LOOKS: Mapping[Kind, Callable[[str], list[Mention]]] = {
    Kind.REQUIREMENTS: requirements.look,
    Kind.SETUP_PY: setups.look,
    Kind.SETUP_CFG: inis.look,
    Kind.TOML: tomls.look,
    Kind.YAML: yamls.look,
    Kind.DOCKER: docker.look,
    Kind.DATA: lines.look_at_data,
    Kind.SUBMODULES: lines.look,
    Kind.SHELL: lines.look,
    Kind.CONFIG: lines.look,
    Kind.DOCS: lines.look,
}
_MARKS = (b"\xff\xfe", b"\xfe\xff")  # of UTF-16, where words look otherwise
_NOT_KNOWN = "what it says of Apex is not known"
_BULKY = 256 * 1024  # JSON and text of that size is data


@dataclass(frozen=True)
class _Looked:
    """One file that speaks of Apex, or may."""

    beside: Beside
    data: bytes
    text: Text
    mentions: tuple[Mention, ...]


def around(outcome: Outcome, selection: Selection, spool: Spool, *, fix: bool) -> Outcome:
    """The outcome with what surrounds the code: findings, and with ``fix`` the files that need no Apex any more."""
    looked: list[_Looked] = []
    unread: list[FileResult] = []
    for beside in _besides(selection):
        try:
            found = _look(beside)
        except OSError as error:
            unread.append(_unread(beside, f"this file cannot be read, so {_NOT_KNOWN}: {reason(error)}"))
            continue
        except (Tangled, RecursionError, MemoryError):
            unread.append(_unread(beside, f"this file is too tangled to follow, so {_NOT_KNOWN}"))
            continue
        if found is not None:
            looked.append(found)
    if not looked:
        return outcome
    code = Code(selection, outcome, spool)
    sure = any(mention.sure for one in looked for mention in one.mentions)
    kept = [
        (one, tuple(m for m in one.mentions if code.counts(m, one.beside.location, one.text.text, sure)))
        for one in looked
    ]
    kept = [(one, mentions) for one, mentions in kept if mentions]
    if not kept:
        return outcome
    others = ((one.beside.shown, m.line) for one, mentions in kept for m in mentions if m.needs)
    needs = code.needs(others, selection)
    files = {one.result.path: one for one in outcome.files}
    for one, mentions in kept:
        shown = one.beside.shown
        files[shown] = _told(one, mentions, needs, files.get(shown), spool, fix=fix)
    for result in unread:
        files.setdefault(result.path, Analysed(result))
    return replace(outcome, files=tuple(sorted(files.values(), key=lambda one: one.result.path)))


# ---------------------------------------------------------------- what is looked at


def _besides(selection: Selection) -> Iterator[Beside]:
    """The files to look at: those of a copy of Apex in the tree are its own."""
    roots = _copies(selection)
    setup = [Beside(shown, at) for at, shown in selection.python.items() if os.path.basename(at) == "setup.py"]
    for one in [*selection.beside, *setup]:
        if not any(one.location.startswith(root) for root in roots):
            yield one


def _copies(selection: Selection) -> list[str]:
    """The folders that hold Apex itself."""
    ends = [os.path.join(os.sep, "apex", part, "__init__.py") for part in ("amp", "parallel", "normalization")]
    found = (location.removesuffix(end) for location in selection.python for end in ends if location.endswith(end))
    return sorted({root + os.sep for root in found})


def _look(beside: Beside) -> _Looked | None:
    # The name that the walk found counts: a path that leads elsewhere by now is refused by the reader.
    what = kind(beside.location)
    size = os.stat(beside.location, follow_symlinks=False).st_size
    if what is None or size > (_BULKY if bulky(beside.location) else SOURCE_LIMIT):
        return None
    data = read(beside.location)
    if not (lines.hinted(data) or data.startswith(_MARKS)):
        return None
    text = _python(data) if what is Kind.SETUP_PY else decode(data)
    if text is None:
        return None
    with guarded():
        mentions = tuple(_LOOKS[what](text.text))
    return _Looked(beside, data, text, mentions) if mentions else None


def _python(data: bytes) -> Text | None:
    try:
        text, encoding = textio.decode(data)
    except textio.Undecodable:
        return None
    return Text(text, encoding)  # this encoding writes its own mark


def _unread(beside: Beside, message: str) -> FileResult:
    return FileResult(beside.shown, "unchanged", findings=(Finding(FOUND, Severity.INFO, 1, 1, message),))


# ---------------------------------------------------------------- what is said of it


def _told(
    one: _Looked, mentions: Sequence[Mention], needs: Needs, before: Analysed | None, spool: Spool, *, fix: bool
) -> Analysed:
    """What becomes of one file; ``before`` is what the engine made of it, where it is Python."""
    fixed = [m for m in mentions if m.cut is not None] if fix and needs.gone else []
    rest = [m for m in mentions if m not in fixed]
    told = before or Analysed(FileResult(one.beside.shown, "unchanged"))
    findings = (*told.result.findings, *_findings(rest, needs, fix=fix))
    if not fixed:
        return replace(told, result=replace(told.result, findings=findings))
    text, mentioned = one.text, fixed
    if told.texts is not None:  # what the engine made of setup.py is what is edited
        text = _python(spool.get(told.texts.new)) or one.text
        mentioned = [m for m in setups.look(text.text) if m.cut is not None]
    new = text.encode(without(text.text, [m.cut for m in mentioned if m.cut is not None]))
    old = told.texts.old if told.texts is not None else spool.put(one.data)
    texts = Texts(Path(one.beside.location), digest(one.data), old, spool.put(new))
    changes = (*told.result.changes, *map(_change, fixed))
    return replace(told, texts=texts, result=replace(told.result, status="changed", changes=changes, findings=findings))


def _change(mention: Mention) -> Change:
    message = "what installs Apex goes: no file needs it any more"
    return Change(FIXED, None, mention.line, mention.end_line, Applicability.SAFE, message)


def _findings(mentions: Sequence[Mention], needs: Needs, *, fix: bool) -> Iterator[Finding]:
    """One finding for each kind of mention."""
    found: dict[tuple[About, bool], list[int]] = defaultdict(list)
    for mention in mentions:
        found[mention.about, mention.cut is not None].append(mention.line)
    for (about, editable), all_lines in found.items():
        first, *rest = sorted(set(all_lines))
        message = f"{about.value}; {needs}"
        if editable and fix:
            message += ", so --fix-packaging leaves this"
        hint = _hint(about, editable, fix=fix) if needs.gone else None
        yield Finding(FOUND, Severity.INFO, first, first, message, suggestion=hint, lines=tuple(rest))


def _hint(about: About, editable: bool, *, fix: bool) -> str | None:
    if editable:
        return None if fix else "--fix-packaging takes it out."
    if about is About.OPTION:
        return "See what the code makes of them now: natively a level says no more than on or off."
    if about in (About.REQUIRES, About.INSTALLS):
        return "To be taken out by hand, as what else relies on it is not known."
    return None
