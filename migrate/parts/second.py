"""The second look at a file: what of Apex is left in it once amp is settled.

A file of a program that is left by hand keeps every byte, as it needs Apex in any case; of all others, other scripts
beside it too, the parts of Apex with a counterpart in torch are replaced. What is told stands in the lines of the text
before both looks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ..check.compiles import compiles
from ..check.names import newly_undefined
from ..facts.files import reached_from
from ..facts.module import Module
from ..facts.sites import collect
from ..flow.values import Values
from ..imports.spelled import module_name
from ..imports.taken import takings
from ..imports.tree import leads
from ..knowledge.apex import BUILT, FRAMEWORK_BACKENDS
from ..memory import give_back
from ..model import (
    Applicability,
    Change,
    FileText,
    Finding,
    ModuleResult,
    Outside,
    Settings,
    Severity,
    by_hand,
)
from ..needs import needed
from ..report.placing import merged
from ..rewrite.apply import EditConflict
from ..rewrite.emission import edits_of
from ..rules.common import Stage, Work
from ..rules.discovery import apply_rules
from ..units.conditions import Conditions
from ..units.unit import Context
from ..writing import account, begun, edited
from .sites import Sites
from .spacing import spaced
from .stars import spelled_out

_FRAMEWORK = re.compile(
    rf"\b(?:{'|'.join(FRAMEWORK_BACKENDS)})\s*=\s*[\"']apex[\"']|APEXEngine\b|\bapex[\"']?\s*[:=]\s*True"
)
_MARKERS = ("apex", "amp_C", "APEXEngine")
# What has to stand in a text with a name of Apex in it: an import, or a call that imports by name.
_IMPORTS = re.compile(
    rf"(?:\b(?:from|import)|,)(?:[ \t\f]|\\\r?\n)*(?:apex|{'|'.join(BUILT)})\b|\bimport_module\b|__import__"
)
_TEXTS = "APX093"  # what is said of texts that speak of Apex, once all is settled


def second(files: Sequence[FileText], first: Sequence[ModuleResult], settings: Settings) -> list[ModuleResult]:
    """Replace Apex's other parts in the files of one program, of which ``first`` says what became of amp."""
    texts = [file.text if one.new_text is None else one.new_text for file, one in zip(files, first, strict=True)]
    taken = _Taken(files, texts)
    staying = _staying(files, first)
    found = []
    for number, (file, one) in enumerate(zip(files, first, strict=True)):
        if not one.parsed or not any(marker in texts[number] for marker in _MARKERS):
            found.append(one)
            continue
        exported = file.outside.exported | taken.by_others(number)
        outside = replace(file.outside, exported=exported, unread=frozenset())  # the program's own may read it
        known = replace(file, outside=outside)
        stays = number in staying
        spelled = texts[number] if stays else spelled_out(texts[number], outside.exported)
        result = _again(known, one, spelled, settings, stays)
        if spelled != texts[number] and result.new_text == one.new_text:  # for nothing: the star stays one
            result = _again(known, one, texts[number], settings, stays)
        found.append(result)
        give_back()
    return found


def _staying(files: Sequence[FileText], first: Sequence[ModuleResult]) -> set[int]:
    """The files that may run in one process with one that still needs amp, or with such a file that takes another part
    of Apex: a script that reaches both has Apex in any case."""
    needing = {number for number, one in enumerate(first) if by_hand([one]) or needed([one])}
    if needing:  # amp that nobody uses, in a file beside them
        told = (any(f.severity is Severity.MANUAL for f in one.findings) for one in first)
        needing |= {number for number, manual in enumerate(told) if manual}
    links = [file.links for file in files]
    runs = [reached_from(links, number) for number in range(len(files))] if needing else []
    staying = set(needing)
    while needing:
        together = {number for run in runs if run & needing for number in run}
        needing = {number for number in together - staying if _IMPORTS.search(files[number].text)}
        staying |= together
    return staying


class _Taken:
    """What the texts of a program take from each other; each is looked at once."""

    def __init__(self, files: Sequence[FileText], texts: Sequence[str]) -> None:
        self._files, self._texts = files, texts
        self._known: list[dict[str, frozenset[str]]] = []

    def by_others(self, number: int) -> frozenset[str]:
        """The names that all texts but one take from its file."""
        if len(self._texts) == 1:
            return frozenset()
        if not self._known:
            names = {module_name(file.name) for file in self._files}
            self._known = [takings(text.encode("utf-8", "replace"), names) for text in self._texts]
        found = frozenset[str]()
        for user, known in enumerate(self._known):
            if user != number:
                found = found.union(*(names for dotted, names in known.items() if self._leads(user, dotted, number)))
        return found

    def _leads(self, user: int, dotted: str, number: int) -> bool:
        """Whether an import of one file leads to another; one that is new, or that leads to no file, may do so."""
        file = self._files[user]
        if dotted in file.links or dotted in file.outside.own:
            return file.links.get(dotted) == number
        return leads(dotted, self._files[number].name, None)


def _again(file: FileText, first: ModuleResult, text: str, settings: Settings, stays: bool) -> ModuleResult:
    """What becomes of one file in the second look; ``stays``: nothing but a list of what is left."""
    told = _FRAMEWORK.search(text) is not None
    if not told and not _IMPORTS.search(text):
        return first
    ctx = _context(text, file.outside, settings)
    named = [*ctx.facts.uses.values(), *(name for names in ctx.facts.imports.values() for name in names)]
    if not told and not any(map(_part, named)):
        return first
    work = begun(ctx)
    work.sites = Sites(ctx)
    new, problem = (None, "") if stays else _replaced(ctx, work)
    if new is None:  # what was found on the way is still true
        again = begun(ctx)
        again.sites, again.findings = work.sites, work.findings if not problem else []
        work = again
    if problem:
        why = f"what would take the place of Apex's parts did not pass the checks: {problem}"
        work.find(None, "APX090", Severity.MANUAL, next(iter(ctx.facts.imports)), why)
    work.texts, work.migrated = (text if new is None else new,), new is not None
    work.untouched = "stays with amp, which the program still needs" if stays else ""
    apply_rules(Stage.REPORT, ctx, work)
    return _merged(file, first, new, work)


def _context(text: str, outside: Outside, settings: Settings) -> Context:
    m = Module(text)
    v = Values(m)
    facts = collect(m, v, outside.elsewhere)
    taken = m.handed_on([outside.exported])
    conditions = Conditions(m, v, facts, keep_fused=settings.keep_fused, parts=True)
    return Context(
        m,
        v,
        facts,
        conditions,
        settings,
        taken,
        outside.spelled,
        outside.scalers,
        counted=outside.counted,
        leading=outside.own,
        spoken=outside.spoken,
    )


def _part(dotted: str) -> bool:
    """Whether a name of Apex belongs to another part than amp, or is the whole package."""
    return dotted.split(".")[1:2] != ["amp"]


def _replaced(ctx: Context, work: Work) -> tuple[str | None, str]:
    """The new text, None where nothing is replaced; and what would be broken, where that is why."""
    apply_rules(Stage.PARTS, ctx, work)
    apply_rules(Stage.TIDY, ctx, work)
    if not work.draft.touched():
        return None, ""
    try:
        edits = edits_of(work.draft)
        account(ctx, work, edits)
        (new,), _ = edited(ctx, work, edits)
    except (EditConflict, ValueError) as error:
        return None, str(error)
    new = spaced(new, {name for _, name in work.defined})
    old = ctx.m.text
    broken = [*compiles(old, new)] or [*newly_undefined(old, new)]
    if broken:
        return None, broken[0].message
    return (None if new == old else new), ""


def _merged(file: FileText, first: ModuleResult, new: str | None, work: Work) -> ModuleResult:
    """Both looks as one result, in the lines of the text before them."""
    origin = first.origin

    def line(number: int) -> int:
        return origin[min(number, len(origin)) - 1] if origin else number

    changes = [
        Change(
            noted.rule,
            None,
            line(noted.line),
            max(line(noted.line), line(noted.end_line)),
            Applicability.REVIEW if noted.review else Applicability.SAFE,
            noted.message,
        )
        for _, noted in work.noted
        if new is not None
    ]
    findings = [
        replace(
            found,
            line=line(found.line),
            end_line=max(line(found.line), line(found.end_line)),
            lines=tuple(sorted({line(one) for one in found.lines} - {line(found.line)})),
        )
        for found in work.findings
    ]
    before: list[Finding] = [one for one in first.findings if new is None or one.rule != _TEXTS]
    text = first.new_text if new is None else new
    return replace(
        first,
        new_text=None if text == file.text else text,
        changes=tuple(dict.fromkeys((*first.changes, *changes))),
        findings=tuple(merged([*before, *findings])),
    )


__all__ = ["second"]
