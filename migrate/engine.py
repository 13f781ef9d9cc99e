"""One program's migration: collect facts, decide units, edit, check."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from .check.asked_once import asked_otherwise
from .check.compiles import compiles
from .check.names import undefined_names
from .check.problem import Problem
from .check.protocol import new_problems
from .facts.elsewhere import Elsewhere
from .facts.files import File
from .facts.from_others import amp_of_others
from .facts.module import Module
from .facts.once import once
from .facts.sites import collect
from .flow.values import Values
from .judge.state import UNFED, UNMADE
from .judge.verdict import Verdict
from .model import (
    ALONE,
    TOGETHER,
    UNSETTLED,
    Applicability,
    Change,
    FileText,
    Finding,
    Leads,
    ModuleResult,
    Outside,
    Settings,
    Severity,
    Standing,
    UnitSummary,
)
from .parts.second import second
from .plan.backends import arms, foreign, sides
from .plan.backends.outdated import outdated
from .plan.bare import assign_state, unresolved
from .plan.decide import decide, forget_covered
from .plan.home import scaling
from .plan.idle_imports import idle_imports
from .plan.left import lines_left, needs
from .plan.plan import Plan
from .plan.premises import handed
from .plan.regions.within import placed
from .plan.unread import Unread, dead_options, lost_readers, unread_locals
from .plan.unread import unread as find_unread
from .report.placing import told
from .rewrite.apply import EditConflict
from .rewrite.emission import edits_of
from .rewrite.trace import Run
from .rules.apx090_remaining import of_nobody
from .rules.common import Stage, Work
from .rules.discovery import apply_rules
from .units.conditions import Conditions
from .units.unfilled import fill
from .units.unit import Context, Manual, Unit, group
from .validate import validate
from .writing import account, begun, came_from, describe, drop_names, edited

# Plans of all units or of none, why units stay, and which of them their author asked to leave alone.
_Decided = tuple[list[Plan], list[tuple[Unit, Manual]], list[tuple[Unit, Manual]]]
_ROUNDS = 4  # of parameters that nothing reads once another is gone
_IGNORE = re.compile(r"#\s*apex2native:\s*ignore\b")


@dataclass(frozen=True)
class _Attempt:
    """One attempt: the new text of each file, or why it did not hold."""

    texts: tuple[str, ...] | None
    work: Work
    problem: str | None = None
    runs: tuple[Run, ...] = ()  # which characters of all texts together stood where in the old ones


def migrate_module(
    text: str, settings: Settings, outside: Outside = ALONE, standing: Standing = UNSETTLED
) -> ModuleResult:
    """Migrate one module's text (decoded, without BOM, newlines as they are).

    ``outside`` is what other files have to do with it. Text that does not parse gives
    ``parsed=False``; nothing is raised for bad input.
    """
    file = FileText(text, outside=outside)
    return second([file], migrate_program([file], settings, standing), settings)[0]


def migrate_program(
    files: Sequence[FileText], settings: Settings, standing: Standing = UNSETTLED
) -> list[ModuleResult]:
    """Migrate amp in the files of one program together; a result for each. Apex's other parts are `second`'s.

    Where one of several does not parse all results say ``parsed=False``."""
    if not any("apex" in file.text or "amp" in file.text for file in files):
        return [ModuleResult(None) for _ in files]
    try:
        links, names = [file.links for file in files], [file.name for file in files]
        m = Module(*(file.text for file in files), links=links, names=names)
    except (SyntaxError, ValueError, RecursionError):
        return [ModuleResult(None, parsed=False) for _ in files]
    v = Values(m)
    facts = collect(m, v, reduce(Elsewhere.with_, (file.outside.elsewhere for file in files)))
    own = tuple(file.outside.own for file in files)
    if not facts.imports and not facts.uses and not amp_of_others(m, facts, own):
        return [ModuleResult(None, findings=of_nobody(m, v, file)) for file in m.files]
    taken = m.handed_on([file.outside.exported for file in files])
    spelled = any(file.outside.spelled for file in files)
    scalers = frozenset().union(*(file.outside.scalers for file in files))
    conditions = Conditions(m, v, facts, keep_fused=settings.keep_fused)
    unled = standing.leads is Leads.NOBODY
    switched = frozenset().union(*(file.outside.switched for file in files))
    public = tuple(file.outside.importable for file in files)
    ctx = Context(
        m, v, facts, conditions, settings, taken, spelled, scalers, unled, switched, own, standing.answered,
        importable=public, uncast=m.handed_on([file.outside.uncast for file in files]),
        unread=tuple(file.outside.unread for file in files),
        packaged=tuple(file.outside.packaged for file in files),
    )  # fmt: skip
    fill(ctx)
    later = next((file.outside.later for file in files if file.outside.later is not None), None)
    if standing.stays is None and later is not None:
        why = f"{later}, which this imports, may run a model in another thread or in a generator"
        standing = replace(standing, stays=why)
    tried, known = _tried(ctx, standing), frozenset[str]()
    while more := tried.asks - known:
        known |= more
        again = _tried(ctx, standing, known, tried)
        if not again.plans and not again.held and not again.asks - known:
            break
        tried = again
    refused = any(unit.beside_native for unit in tried.units)  # the native side does something else than Apex's did
    if tried.manual and not tried.ignored and not refused and (way := foreign.own_split(ctx, tried.units)) is not None:
        again = _tried(ctx, standing, known, way=way)
        tried = again if again.plans or again.held else tried
    units, plans, held, manual = tried.units, tried.plans, tried.held, tried.manual
    ignored, attempt = tried.ignored, tried.attempt
    if settings.safe_only and any(p.unit.reviews for p in plans):  # what only the comparison found
        held, plans = plans, []
    if units and not plans:
        attempt = _nothing(ctx)  # what serves a unit that stays, stays: its import, its state
    if manual and not plans and (obstacle := sides.obstacle(ctx)) is not None:
        manual = [(unit, obstacle) for unit, _ in manual]
    manual += ignored
    return _results(ctx, units, plans, held, manual, attempt)


@dataclass(frozen=True)
class _Tried:
    """What came of one way to migrate a program."""

    units: list[Unit]
    plans: list[Plan]
    held: list[Plan]
    manual: list[tuple[Unit, Manual]]
    ignored: list[tuple[Unit, Manual]]
    attempt: _Attempt
    asks: frozenset[str] = frozenset()  # what the judge found that a more careful plan may do without
    judged: tuple[object, ...] = ()  # what the judge was asked


def _tried(
    ctx: Context,
    standing: Standing,
    known: frozenset[str] = frozenset(),
    before: _Tried | None = None,
    way: list[Unit] | None = None,
) -> _Tried:
    """Plans, their text, and what the checks and the judge say of it. ``known`` is what came of the attempt ``before``:
    then scalers are made, switched off, ahead of all that may ask them, and anew where Apex was switched on; and steps
    ask whether a backward waits for them. Where that changes nothing the judge is not asked again."""
    found = [] if outdated(ctx) else group(ctx.facts, ctx.m)
    units, (plans, manual, ignored) = (
        (way, _decide(ctx, way, standing.stays, known)) if way is not None else _grouped(ctx, found, standing, known)
    )
    held: list[Plan] = []
    if ctx.settings.safe_only and any(p.unit.reviews for p in plans):
        held, plans = plans, []
    whole = not manual and not held and not ignored
    attempt = _write(ctx, plans, whole=whole, follow=standing.leads is not Leads.UNKNOWN and not units)
    if ctx.unled and not units and attempt.texts is not None:
        _tell_unled(ctx, attempt.work)
    if attempt.problem is not None:
        why = attempt.problem
        manual += [(p.unit, Manual(p.unit.line_node, f"the result did not pass the checks: {why}")) for p in plans]
        plans, attempt = [], _nothing(ctx)
    asks = frozenset[str]()
    judged: tuple[object, ...] = ()
    if plans and attempt.texts is not None:
        judged = attempt.texts, [plan.unit.reviews.copy() for plan in plans]
        if before is not None and judged == before.judged:
            return before
        verdict = validate(ctx, plans, attempt.texts, attempt.runs)
        if wrong := _judged(plans, verdict):
            manual += wrong
            plans, attempt = [], _nothing(ctx)
            asks = frozenset({UNMADE, UNFED}) & {difference.kind for difference in verdict.differences}
    return _Tried(units, plans, held, manual, ignored, attempt, asks, judged)


def _tell_unled(ctx: Context, work: Work) -> None:
    """Casts that nothing which is read here leads to hold where autocast is on, and no more where Apex's are."""
    for use, dotted in ctx.facts.uses.items():
        if dotted.startswith("apex.amp.") and work.draft.gone(use):
            said = (
                "no training code that is read here leads to this, and nothing in this tree needs apex.amp any more: "
                "inputs are cast where autocast is on; under the amp of an older Apex in somebody else's code not"
            )
            work.find(None, "APX080", Severity.REVIEW, use, said)


def _judged(plans: list[Plan], verdict: Verdict) -> list[tuple[Unit, Manual]]:
    """Why the units stay after all: a path on which the new text is another program."""
    unmade = any(difference.kind in (UNMADE, UNFED) for difference in verdict.differences)  # which no doubt is about
    if (verdict.unknown is not None or verdict.differences) and not unmade:
        if doubts := [(plan.unit, doubt) for plan in plans for doubt in plan.unit.unless_proved]:
            return doubts
    if verdict.differences:  # found where one run of the program began, though another could not be followed to its end
        first = min(verdict.differences, key=lambda one: one.kind not in (UNMADE, UNFED))
        said = f"the result would not be the same program: {first.said}"
        return [(plan.unit, Manual(plan.unit.line_node, said)) for plan in plans]
    if verdict.unknown is not None:
        for plan in plans:
            why = f"not every path of this could be compared with the old one: {verdict.unknown}"
            plan.unit.review(plan.unit.line_node, "APX092", why)
    return []


# ---------------------------------------------------------------- deciding


def _grouped(
    ctx: Context, units: list[Unit], standing: Standing, known: frozenset[str]
) -> tuple[list[Unit], _Decided]:
    """The first of several ways to part a program into units that leads to plans, with what was decided; where none
    does, the plain one."""
    split = scaling.apart(ctx, units, ctx.unled)
    if split is not None and any(unit.initializes and not unit.apart for unit in split):
        units, split = split, None  # a native backend serves: Apex's goes
    served = foreign.split(ctx, units) or sides.split(ctx, units) or arms.split(ctx, units)
    early = split is not None and scaling.is_called(ctx, split)  # who calls it stays as it is
    for way in (served, split if early else None):
        if way is not None and (decided := _decide(ctx, way, standing.stays, known))[0]:
            return way, decided
    plain = _decide(ctx, units, standing.stays, known)
    if plain[1]:
        one = handed.joined(ctx, units) if standing.scattered else None
        for way in ([one] if one is not None else None, None if early else split):
            if way is not None and (decided := _decide(ctx, way, standing.stays, known))[0]:
                return way, decided
    return units, plain


def _decide(ctx: Context, units: list[Unit], stays: str | None, known: frozenset[str]) -> _Decided:
    """Plans of all units, or of none; why units stay; and which of them their author asked to leave alone.

    Apex's casts and scales are a state of the process: one unit that stays would find it taken down."""
    plans: list[Plan] = []
    manual: list[tuple[Unit, Manual]] = []
    ignored: list[tuple[Unit, Manual]] = []
    obstacle = unresolved(ctx)
    state = assign_state(ctx, units)
    for unit in units:
        unit.ahead, unit.flagged = UNMADE in known, UNFED in known
        try:
            _ignored(ctx, units, unit)
        except Manual as asked:
            ignored.append((unit, asked))
            continue
        try:
            if obstacle is not None:
                raise obstacle
            if stays is not None:
                raise Manual(unit.line_node, stays, "migrate both by hand, together")
            plans.append(decide(ctx, unit, state[unit.number]))
        except Manual as missing:
            manual.append((unit, missing))
    served = [plan for plan in plans if plan.backend is not None]
    if served and any(plan.backend is None and not plan.unit.apart for plan in plans):
        why = "another unit of this program is not served by a native backend of the file's own"
        manual += [(plan.unit, Manual(plan.unit.line_node, why)) for plan in served]
        plans = [plan for plan in plans if plan.backend is None]
    if manual:
        why = _together(*manual[0])
        manual += [(p.unit, Manual(p.unit.line_node, why)) for p in plans]
        return [], manual, ignored
    for unit, _ in ignored:
        for plan in plans:
            if plan.state:
                why = "amp's state is shared with a unit that is left alone"
                return [], [(p.unit, Manual(plan.state[0][0], why)) for p in plans], ignored
            plan.unit.review(
                plan.unit.line_node,
                "APX091",
                f"the loop of line {_line(unit.line_node)} is left to Apex, whose casts hold for the whole process: "
                "run both in one process and this one has them too",
            )
    forget_covered(plans)
    return plans, [], ignored


def _together(unit: Unit, missing: Manual) -> str:
    """Why a unit stays that could have been migrated."""
    where = _line(missing.node)
    return (
        f"the unit of line {_line(unit.line_node)} stays (line {where}: {missing.message}), and Apex's casts are a "
        f"state of the process: {TOGETHER}"
    )


def _line(node: ast.AST) -> int:
    line: int = node.lineno  # type: ignore[attr-defined]
    return line


@once
def _says_ignore(ctx: Context) -> bool:
    """Whether a comment asks to leave something alone."""
    return _IGNORE.search(ctx.m.text) is not None


def _ignored(ctx: Context, units: list[Unit], unit: Unit) -> None:
    """Raise where a comment on one of a unit's lines asks to leave it alone.

    What is no site of its own (``amp.master_params``) belongs to the units of its function, if there are any."""
    if not _says_ignore(ctx):
        return
    calls = {site.call for one in units for site in one.sites}
    mine = {site.call for site in unit.sites}
    uses: list[ast.expr] = [site.call for site in unit.sites]
    for use in ctx.facts.uses:
        above = ctx.m.parent[use]
        here = {c for c in calls if ctx.m.function(c) is ctx.m.function(use)}
        if above not in calls and (not here or here & mine):
            uses.append(use)
    for use in uses:
        for line in range(use.lineno, (use.end_lineno or use.lineno) + 1):
            if _IGNORE.search(ctx.m.line_text(line)):
                raise Manual(use, "left alone: `# apex2native: ignore`")


# ---------------------------------------------------------------- writing


def _nothing(ctx: Context) -> _Attempt:
    """The text as it is."""
    return _Attempt(None, begun(ctx))


def _write(ctx: Context, plans: list[Plan], whole: bool = False, follow: bool = False) -> _Attempt:
    """The outcome, without the parameters and local variables that nothing reads any more once it is written."""
    attempt = _write_once(ctx, plans, [], [], {}, whole, follow)
    handed = [p.function.node for plan in plans for p in plan.homes.parameters]
    unread: list[Unread] = []
    gone: list[ast.Assign] = []
    idle: dict[ast.Import | ast.ImportFrom, list[ast.alias]] = {}
    for _ in range(_ROUNDS):
        if not plans or attempt.texts is None or attempt.problem is not None:
            break
        more = [one for one in find_unread(ctx, attempt.texts, handed, unread) if _stands(attempt.work, one)]
        dead = [one for one in unread_locals(ctx, attempt.texts) if not attempt.work.draft.gone(one)]
        new = [one for one in idle_imports(ctx, attempt.texts) if idle.get(one[0]) != one[1]]
        new = [one for one in new if not attempt.work.draft.gone(one[0])]
        if not more and not dead and not new:
            break
        unread += more
        gone += dead
        idle.update(new)
        shorter = _write_once(ctx, plans, unread, gone, idle, whole, follow)
        if shorter.problem is not None:
            break
        attempt = shorter
    if plans and attempt.texts is not None and attempt.problem is None:
        _tell_unread(ctx, attempt.work, attempt.texts, unread)
    return attempt


def _tell_unread(ctx: Context, work: Work, texts: Sequence[str], gone: Sequence[Unread]) -> None:
    """Parameters and options that stay although nothing reads them any more."""
    for function, parameters in lost_readers(ctx, texts, gone):
        owner = ctx.m.class_of(ctx.m.scope_of[function]) if function.name == "__init__" else None
        for one in parameters:
            said = f"{one.arg}, a parameter of {(owner or function).name}(), is not read any more"
            work.find(None, "APX011", Severity.INFO, one, said)
    for call, option in dead_options(ctx, texts):
        work.find(None, "APX011", Severity.INFO, call, f"the option {option} of the command line is not read any more")


def _stands(work: Work, one: Unread) -> bool:
    """Whether what is cut for a parameter is not gone or moved already."""
    draft = work.draft
    flags = [node for node in one.nodes if draft.replaced.get(node) == "True"]  # amp, only asked for now
    stand = [work.m.parent[node] if node in flags else node for node in one.nodes]
    return not any(draft.gone(node) for node in (one.function, *stand))


def _write_once(
    ctx: Context,
    plans: list[Plan],
    unread: list[Unread],
    gone: list[ast.Assign],
    idle: Mapping[ast.Import | ast.ImportFrom, list[ast.alias]],
    whole: bool,
    follow: bool,
) -> _Attempt:
    """All rules of ``plans`` on one draft, then the checks on its outcome; ``whole``: no unit of the file stays."""
    work = begun(ctx, migrated=bool(plans))
    work.placed = placed(ctx.m, plans)
    for plan in plans:
        apply_rules(Stage.UNIT, plan, work)
    if plans or follow:
        apply_rules(Stage.CASTS, ctx, work)
    for one in unread:  # ahead of the imports: a flag that was only handed over goes with its guard
        _drop(work, one)
    for stmt in gone:
        work.draft.delete(stmt)
        work.note(None, "APX011", stmt, "nothing reads this any more")
    apply_rules(Stage.FILE, ctx, work)
    apply_rules(Stage.TIDY, ctx, work)
    describe(ctx, work, plans, unread)
    for taken, names in idle.items():
        drop_names(work, taken, names)
    if not work.draft.touched():
        return _Attempt(None, work)
    try:
        edits = edits_of(work.draft)
        account(ctx, work, edits)
        texts, runs = edited(ctx, work, edits)
    except EditConflict as conflict:
        return _Attempt(None, work, f"edits collide ({conflict})")
    except ValueError as error:
        return _Attempt(None, work, str(error))
    left = lines_left(ctx, work) if whole and plans else {}
    if left:
        first = min(ctx.m.files[number].first + line - 1 for number, line in left.items())
        return _Attempt(texts, work, f"line {first} still uses amp, in a way that has no counterpart here")
    lost = _lost(ctx, texts)
    if lost is not None:
        return _Attempt(texts, work, f"{lost} is imported from a file that no longer has it")
    for file, new in zip(ctx.m.files, texts, strict=True):
        if new == file.text:
            continue
        problems = [*compiles(file.text, new)]
        if not problems:
            alone = len(ctx.m.files) == 1
            problems = [*undefined_names(file.text, new), *new_problems(file.text, new, alone)]
        if problems:
            return _Attempt(texts, work, _said(problems[0], file))
    again = asked_otherwise([file.text for file in ctx.m.files], texts)
    if again is not None:
        return _Attempt(texts, work, _said(again[1], ctx.m.files[again[0]]))
    return _Attempt(texts, work, runs=runs)


def _said(problem: Problem, file: File) -> str:
    """A fault of one file, with all lines that it names counted through the files of the program."""
    above = file.first - 1
    message = re.sub(r"\bline (\d+)", lambda found: f"line {int(found[1]) + above}", problem.message)
    return f"line {problem.line + above}: {message}"


def _lost(ctx: Context, texts: Sequence[str]) -> str | None:
    """A name that one of several files still imports from another, where it is bound no more."""
    if len(texts) < 2:
        return None
    try:
        missing = ctx.m.rewritten(texts).missing
    except (SyntaxError, ValueError):
        return None  # each file's own check says so
    return next((name for number, name in missing if (number, name) not in ctx.m.missing), None)


def _drop(work: Work, one: Unread) -> None:
    """A parameter goes from the header of its function and from all calls."""
    for start, end in one.cuts:
        work.draft.cut(start, end)
    why = f"{one.name} of {one.function.name}() is no longer read"
    work.note_header(None, "APX011", one.function, why)
    for node in one.nodes:
        work.note(None, "APX011", work.m.statement(node), why)


# ---------------------------------------------------------------- reporting


def _results(
    ctx: Context,
    units: list[Unit],
    plans: list[Plan],
    held: list[Plan],
    manual: list[tuple[Unit, Manual]],
    attempt: _Attempt,
) -> list[ModuleResult]:
    work = attempt.work
    grade: dict[int | None, Applicability] = {None: Applicability.SAFE}
    for plan in plans:
        unit = plan.unit
        grade[unit.number] = Applicability.REVIEW if unit.reviews else Applicability.SAFE
        for node, rule, difference in unit.reviews:
            work.find(unit.number, rule, Severity.REVIEW, node, difference)
        for node, rule, note in unit.infos:
            work.find(unit.number, rule, Severity.INFO, node, note)
    for plan in held:
        grade[plan.unit.number] = Applicability.REVIEW
        other = next(p.unit for p in held if p.unit.reviews)
        reasons = "; ".join(d for _, _, d in plan.unit.reviews) or (
            f"the unit of line {_line(other.line_node)} is, and the units of a file are migrated together"
        )
        _stays(ctx, work, plan.unit, Severity.REVIEW, f"held back by --safe-only: {reasons}", None, None)
    for unit, missing in manual:
        grade[unit.number] = Applicability.MANUAL
        _stays(ctx, work, unit, Severity.MANUAL, missing.message, missing.suggestion, missing.node)
    work.untouched = _untouched(units, manual, held)
    work.texts = attempt.texts
    apply_rules(Stage.REPORT, ctx, work)
    changes = {
        Change(n.rule, unit, n.line, n.end_line, grade.get(unit, Applicability.SAFE), n.message)
        for unit, n in work.noted
    }
    summaries = [
        UnitSummary(u.number, grade.get(u.number, Applicability.MANUAL), _line(u.line_node)) for u in units
    ]
    imported = any(name.startswith("apex.amp") for names in ctx.facts.imports.values() for name in names)
    asks = imported and not units and not any(d.startswith("apex.amp.") for d in ctx.facts.uses.values())
    origins = came_from(ctx.m, attempt.texts, attempt.runs) if attempt.texts is not None else [()] * len(ctx.m.files)
    results, left = [], needs(ctx, work, units, bool(manual))
    for file, said in zip(ctx.m.files, told(ctx.m.files, ctx.m.names, changes, work.findings, summaries), strict=True):
        new = attempt.texts[file.number] if attempt.texts is not None else file.text
        results.append(
            ModuleResult(
                new if new != file.text else None,
                said.changes if new != file.text else (),
                said.findings,
                said.units,
                needs=left.get(file.number),
                asks=asks,
                origin=origins[file.number],
            )
        )
    return results


def _untouched(units: list[Unit], manual: list[tuple[Unit, Manual]], held: list[Plan]) -> str:
    if manual or held:
        return "left as it is: it belongs to a unit that stays (APX091)"
    if not units:
        return "the training code of this amp stands in another file, and no import that is followed leads there"
    return "this use of apex.amp has no counterpart that could be proved"


def _stays(
    ctx: Context,
    work: Work,
    unit: Unit,
    severity: Severity,
    message: str,
    suggestion: str | None,
    node: ast.AST | None,
) -> None:
    """A finding for a unit that stays, at the site that decided it, with the unit's other sites as lines."""
    site = node if node is not None else unit.line_node
    line = site.lineno  # type: ignore[attr-defined]
    end = line if isinstance(site, ast.stmt) and hasattr(site, "body") else ctx.m.last_line(site)
    lines: set[int] = set()
    for one in unit.sites:
        lines.update(range(one.call.lineno, (one.call.end_lineno or one.call.lineno) + 1))
    lines -= set(range(line, end + 1))
    work.findings.append(
        Finding(
            "APX091",
            severity,
            line,
            end,
            message,
            unit=unit.number,
            suggestion=suggestion,
            lines=tuple(sorted(lines)),
        )
    )
