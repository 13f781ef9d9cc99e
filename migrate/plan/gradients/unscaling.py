"""Where gradients are unscaled.

Apex leaves unscaled gradients behind its ``with``; natively they stay scaled until
``scaler.unscale_(optimizer)`` or the step. So what reads or changes them in between gets one
``unscale_`` before it, under the condition that controls the step; a clip after every micro-batch
moves under that condition. Where the scale is updated is decided in ``updates.py``.
Source: torch/amp/grad_scaler.py; torch docs, "Automatic Mixed Precision examples".
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import defaultdict

from ...facts.once import once_each
from ...facts.scopes import Scope
from ...facts.sites import Scale
from ...nodes import header, walk
from ...units.degree import scale_free_reader
from ...units.events import events, reaching_scopes
from ...units.lifted import lifted_backwards, lifted_steps
from ...units.readers import is_clip, norms_read, only_clears, reads_gradients, unknown_readers
from ...units.references import handed_on
from ...units.translate import passed
from ...units.unit import Context, Manual, Step, Unit, once_of_unit, scales_in, steps_in
from ..blocks import common, exclusive
from ..inserted import free_name
from ..schedule import Early, Schedule, Unscale
from . import exits
from .added import adds_a_term
from .asked import asks_for_the_step
from .block_ends import block_ends
from .inside import inside_with, scaled_clip
from .looked import looked_at
from .pace import tell_pace
from .reached import (
    always_followed,
    conditions_of,
    holds_any,
    looped_back,
    may_change,
    outside,
    perhaps_in_loop,
    plain_test,
    stored,
    within,
)
from .updates import updates

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_BLOCKS = (ast.With, ast.AsyncWith)  # whose end may read them, too
_SIMPLE = (ast.Expr, ast.Assign, ast.Delete)
_ANOTHER_ADDS = (
    "gradients are looked at here, and another backward adds to them before the step: they stay scaled until then, so "
    "what is looked at is divided by the loss scale"
)
_SIZE_IS_ALL_ONE = (
    "these gradients are still scaled here, as another backward adds to them before the step: only their direction "
    "counts, or they are put back as they were, so the size does not matter"
)
_COMPOUND = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.FunctionDef, ast.ClassDef)


def decide(ctx: Context, unit: Unit) -> Schedule:
    """Where gradients are unscaled, which clips move, and where the scale is updated."""
    schedule = Schedule()
    for scope in reaching_scopes(ctx, unit):
        steps = [*steps_in(ctx, unit, scope), *lifted_steps(ctx, unit, scope)]
        sites = [*scales_in(ctx, unit, scope), *lifted_backwards(ctx, unit, scope)]
        if steps or sites:
            _function(ctx, unit, schedule, scope, steps, sites)
    _check_thrown_away(ctx, unit)
    updates(ctx, unit, schedule)
    exits.decide(ctx, schedule, unit)
    tell_pace(ctx, unit)
    return schedule


def _may_clear(ctx: Context, unit: Unit, loop: ast.stmt) -> bool:
    """Whether gradients are cleared in a round of a loop, or code that is not here may do so."""
    called = [c for n in walk(loop) if isinstance(n, ast.Call) for c in ctx.v.callees(n)]
    apart = any(unknown_readers(ctx, unit, stmt) for stmt in loop.body)  # type: ignore[attr-defined]
    return apart or any(exits.clears(part) for part in (loop, *called))


def _check_thrown_away(ctx: Context, unit: Unit) -> None:
    """A step leaves its gradients unscaled: the next backward would add scaled ones to them."""
    m = ctx.m
    cleared: dict[ast.stmt, bool] = {}
    looped = {site: loops for site in unit.scales if (loops := m.loops(site.call))}
    for step in unit.steps if looped else ():
        around = m.loops(step.anchor)
        for site in scales_in(ctx, unit, m.function(step.call)):
            mine = looped.get(site)
            if mine is None or mine != around:
                continue
            if mine[0] not in cleared:
                cleared[mine[0]] = _may_clear(ctx, unit, mine[0])
            if not cleared[mine[0]]:
                raise Manual(
                    step.call,
                    f"no gradients are cleared in this loop: scaler.step() leaves them unscaled, and the backward in "
                    f"line {site.call.lineno} would add scaled ones to them",
                    "clear the gradients in each round; a decayed sum of them can be kept apart, added after "
                    "scaler.unscale_(optimizer)",
                )


def _readers(ctx: Context, unit: Unit, scope: Scope, sites: list[Scale], steps: list[Step]) -> list[ast.stmt]:
    """The innermost statements of a function that read gradients, those in loops over parameters as the loop; and those
    that call what takes a step, where a decorator of that reads them first."""
    found: list[ast.stmt] = []
    moments = [*(s.call for s in sites), *(s.call for s in steps)]
    backwards = [s.call for s in sites]
    stepping = {ctx.m.statement(s.call) for s in steps if s.call not in backwards and ctx.unnamed.around(s.call)}
    starts = sorted(map(ctx.m.start, moments))

    def visit(body: list[ast.stmt]) -> None:
        for stmt in body:
            if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                if any(reads_gradients(ctx, unit, part) for part in header(stmt)):
                    found.append(stmt)
                continue
            holds = holds_any(ctx, stmt, starts)
            if not holds and ctx.unnamed.at_end(stmt):
                found.append(stmt)
                continue
            if not holds and _plain_arm(ctx, stmt) and not reads_gradients(ctx, unit, stmt):
                continue
            if isinstance(stmt, _COMPOUND) and (holds or not isinstance(stmt, (ast.For, ast.While))):
                if isinstance(stmt, ast.If) and holds and reads_gradients(ctx, unit, stmt.test):
                    if not any(within(ctx, call, stmt.test) for call in moments):
                        found.append(ctx.m.chain_head(stmt))
                if not holds and any(reads_gradients(ctx, unit, part) for part in header(stmt)):
                    found.append(stmt)
                    continue
                for name in ("body", "orelse", "finalbody"):
                    visit(getattr(stmt, name, []))
                for handler in getattr(stmt, "handlers", []):
                    visit(handler.body)
            elif stmt in stepping or (not holds and reads_gradients(ctx, unit, stmt)):
                found.append(stmt)

    visit(ctx.m.body_of(scope))
    return found


@once_each
def _plain_arm(ctx: Context, stmt: ast.stmt) -> bool:
    """Whether a statement is an ``if`` alone, of which can be told at once whether anything in it reads gradients."""
    return isinstance(stmt, ast.If) and not stmt.orelse and not any(isinstance(one, _BLOCKS) for one in walk(stmt))


def _function(
    ctx: Context, unit: Unit, schedule: Schedule, scope: Scope, steps: list[Step], sites: list[Scale]
) -> None:
    m = ctx.m
    first: dict[Step, tuple[int, ast.stmt]] = {}
    read: dict[Step, list[ast.stmt]] = defaultdict(list)
    ends: list[ast.stmt] = []  # readers behind all training
    for reader in _readers(ctx, unit, scope, sites, steps):
        at = m.start(reader)
        before = [s for s in sites if m.start(s.call) < at]
        if sites and not before and not looped_back(ctx, reader, sites):
            if _called_behind(ctx, unit, scope) and (statements := scale_free_reader(ctx, reader)):
                schedule.scale_free += statements
                unit.review(reader, "APX055", _SIZE_IS_ALL_ONE)
            continue
        if any(inside_with(ctx, reader, s) for s in sites):
            if not is_clip(ctx, reader):
                site = next(s for s in sites if inside_with(ctx, reader, s))
                together = any(k.arg == "delay_unscale" for k in site.call.keywords)  # then nothing is put aside
                adds_up = len(sites) > 1 or any(s.within or outside(ctx, unit, reader, s) for s in steps)
                adds_up = adds_up and not together
                if adds_up:
                    raise Manual(
                        reader,
                        "gradients are read or changed inside the scale_loss block, where Apex had put earlier ones "
                        "aside; natively they are all there",
                    )
                continue  # sees scaled gradients in both worlds
            scaled_clip(ctx, unit, schedule, reader, steps)
            continue
        if _plainly(ctx, reader, before) and not _master(ctx, reader):
            continue
        after = [
            s
            for s in steps
            if (m.start(s.call) > at or s.anchor is reader)
            and not any(at < m.start(x.call) < m.start(s.call) and x.optimizer_objects & s.objects for x in sites)
            and not exclusive(ctx, reader, s.call)
        ]
        if not after:
            if only_clears(ctx, reader):
                continue
            if before and not any(s.anchor is t for s in steps for t in m.spine(reader)):
                if _behind_step(ctx, unit, reader, before[-1], steps):
                    continue  # the step has unscaled what it took
                if (step := _training_is_over(ctx, unit, reader, sites, steps)) is not None:
                    places = [*m.spine(reader), *ends] if ends else []
                    if not any(u.before is place for u in schedule.unscales for place in places):
                        ends.append(reader)
                        schedule.unscales.append(_unscale(ctx, step, reader))
                    continue
                if statements := scale_free_reader(ctx, reader):
                    schedule.scale_free += statements
                    unit.review(reader, "APX055", _SIZE_IS_ALL_ONE)
                    continue
                if (step := next((s for s in unit.steps if s in steps and m.start(s.call) > at), None)) is not None:
                    seen = [] if _cleared_between(ctx, scope, reader, step) else looked_at(ctx, unit, reader)
                    if seen:
                        schedule.divided.update((grad, step) for grad in seen)
                        unit.review(reader, "APX054", _ANOTHER_ADDS)
                        continue
                if any(m.start(s.call) > at for s in steps):
                    raise Manual(
                        reader,
                        "gradients are read or changed here, and another backward adds to them before the step: "
                        "unscale_ may run only once per step, so they are still scaled here",
                        "divide what is read by scaler.get_scale() (what is added, multiply by it); scaler.unscale_ "
                        "comes behind the last backward",
                    )
                _step_elsewhere(ctx, unit, schedule, scope, reader, before[-1].optimizers)
            continue
        taken: list[Step] = []  # that always follow: a later one finds other gradients
        for step in sorted(after, key=lambda s: m.start(s.call)):
            if any(step.objects <= one.objects and not exclusive(ctx, one.call, step.call) for one in taken):
                continue
            place = _place(ctx, unit, schedule, reader, step, before)
            read[step].append(reader if place is not None else step.anchor)
            tops = common(ctx, reader, step.anchor)
            if tops is not None and not conditions_of(ctx, unit, tops[1], step) and not m.inside(step.call, reader):
                taken.append(step)
            if place is None:
                continue
            if step not in first or m.start(place) < first[step][0]:
                first[step] = (m.start(place), place)
    _unknown_readers(ctx, unit, scope, steps, sites, first)
    at_end = block_ends(ctx, unit, scope, steps, sites)
    for step, block in at_end.items():
        if step not in first or first[step][0] > m.start(block.body[-1]):
            first.pop(step, None)
            schedule.unscales.append(Unscale(block.body[-1], step.text or "", step.objects, behind=True))
    tests = {early.step: early.test for early in schedule.early.values()} | schedule.asking
    for step, (_, place) in first.items():
        test = tests.get(step)
        if test is None:
            inner = _in_arm(ctx, unit, schedule, place, step, read[step])
            schedule.unscales.append(_unscale(ctx, step, inner))
        elif not any(isinstance(s, ast.If) and s.test is test for s in m.spine(place)):
            raise Manual(
                place,
                "gradients are read after every backward, and here too: unscale_ may run only once per step",
                "move these readers under the step's condition, after scaler.unscale_(optimizer)",
            )
    for step in steps:
        alone = step.own or step.anchor in schedule.moved.values() or perhaps_in_loop(ctx, step)
        if alone and step not in first and step not in at_end:
            schedule.unscales.append(_unscale(ctx, step, step.anchor))


def _cleared_between(ctx: Context, scope: Scope, reader: ast.stmt, step: Step) -> bool:
    """Whether gradients are cleared behind a reader: what was kept of them and is put back (PCGrad) would bring an
    overflow to a step that no longer sees it."""
    since, until = ctx.m.start(reader), ctx.m.start(step.call)
    parts = [node for stmt in ctx.m.body_of(scope) for node in walk(stmt) if isinstance(node, _SIMPLE)]
    return any(since < ctx.m.start(part) < until and exits.clears(part) for part in parts)


def _in_arm(
    ctx: Context, unit: Unit, schedule: Schedule, place: ast.stmt, step: Step, readers: list[ast.stmt]
) -> ast.stmt:
    """The statement in an arm of ``place`` that nothing reads gradients ahead of, where only that arm reads them:
    ``if args.clip > 0:`` is to hold both, and elsewhere the step unscales. Not where the step may not be
    reached, as ``update()`` is due there once gradients are unscaled."""
    m = ctx.m
    until = m.start(step.anchor)
    between = [s for s in m.statements(m.function(place)) if m.start(place) <= m.start(s) < until]
    tops = common(ctx, place, step.anchor)
    if step.text is None or step.anchor is not step.stmt or not readers or tops is None:
        return place
    if step in schedule.late or conditions_of(ctx, unit, tops[1], step):
        return place
    if any(isinstance(s, (ast.Continue, ast.Break, ast.Return, ast.Raise)) for s in between):
        return place
    simple = [s for s in between if not isinstance(s, _COMPOUND)]
    readers = [*readers, *(s for s in simple if unknown_readers(ctx, unit, s))]
    while isinstance(place, ast.If) and not any(m.inside(x.call, place) for x in unit.moments):
        arms = [arm for arm in (place.body, place.orelse) if any(m.inside(r, s) for r in readers for s in arm)]
        inner = [s for arm in arms for s in arm if any(m.inside(r, s) for r in readers)]
        if len(arms) != 1 or not all(any(m.inside(r, s) for s in inner) for r in readers):
            break
        place = inner[0]
    return place


def _unknown_readers(
    ctx: Context,
    unit: Unit,
    scope: Scope,
    steps: list[Step],
    sites: list[Scale],
    first: dict[Step, tuple[int, ast.stmt]],
) -> None:
    """Code that is not here and is handed a model or optimizer between backward and step may read gradients: it gets
    them unscaled where the step follows; else the report says what it gets."""
    m = ctx.m
    if not sites or not steps:
        return
    moments = sorted(map(m.start, [*(s.call for s in sites), *(s.call for s in steps)]))
    begun, ended = min(m.end(s.with_ or s.call) for s in sites), max(m.start(s.call) for s in steps)
    for stmt in m.statements(scope):
        at = m.start(stmt)
        if not begun <= at < ended or holds_any(ctx, stmt, moments):
            continue
        calls = unknown_readers(ctx, unit, stmt)
        if not calls:
            continue
        before = [s for s in sites if m.end(s.with_ or s.call) <= at and not exclusive(ctx, stmt, s.call)]
        before = [s for s in before if not any(_stepped_within(ctx, unit, s, x) for x in steps)]
        after = [s for s in steps if m.start(s.call) > at and not exclusive(ctx, stmt, s.call)]
        if not before or not after:
            continue
        step = min(after, key=lambda s: m.start(s.call))
        if step in first and first[step][0] <= at:
            continue
        again = any(at < m.start(x.call) < m.start(step.call) for x in sites)
        tops = common(ctx, stmt, step.anchor)
        if not again and step.text is not None and tops is not None and not conditions_of(ctx, unit, tops[1], step):
            if not any(m.inside(x.call, tops[0]) for x in sites):
                first[step] = (m.start(tops[0]), tops[0])
                continue
        unit.review(
            calls[0],
            "APX050",
            f"`{m.src(calls[0].func)}` is code of another file and is handed the model or the optimizer between a "
            "backward and the step: gradients are still scaled here, so it must not look at their size",
        )


def _behind_step(ctx: Context, unit: Unit, reader: ast.stmt, site: Scale, steps: list[Step]) -> bool:
    """Whether every path from the backward to a reader takes the step."""
    m = ctx.m
    for step in steps:
        behind = m.start(site.call) < m.start(step.call) or _steps_last(ctx, unit, site, step)
        if behind and m.start(step.call) < m.start(reader):
            tops = common(ctx, reader, step.anchor)
            if tops is None:
                continue
            found = conditions_of(ctx, unit, tops[1], step)
            left = [c for c in found if c in step.within or not m.inside(site.call, c)]
            if all(c in step.within and _asked_again(ctx, unit, reader, step, c) for c in left):
                return True
    return False


def _stepped_within(ctx: Context, unit: Unit, site: Scale, step: Step) -> bool:
    """Whether one call runs each backward and a step behind it, in one function and under no more conditions."""
    m = ctx.m
    if site.call is not step.call:
        return False
    runs = [list(events(ctx, unit, m.scope_of[c], 1)) for c in ctx.v.callees(step.call)]
    if not runs or any(not run for run in runs):
        return False
    for run in runs:
        for at, one in enumerate(run):
            later = [e for e in run[at:] if e.what == "step" and m.function(e.node) is m.function(one.node)]
            if one.what == "backward" and not any(
                set(e.under) <= set(one.under) and not _leaves_between(ctx, one.node, e.node) for e in later
            ):
                return False
    return True


def _leaves_between(ctx: Context, first: ast.AST, last: ast.AST) -> bool:
    """Whether a statement between two of one function leaves it, or the round of a loop."""
    m = ctx.m
    between = (s for s in m.statements(m.function(first)) if m.end(first) <= m.start(s) < m.start(last))
    return any(isinstance(s, (ast.Continue, ast.Break, ast.Return, ast.Raise)) for s in between)


def _steps_last(ctx: Context, unit: Unit, site: Scale, step: Step) -> bool:
    """Whether one call runs the backward and then the step, or neither (a method that only derived classes have)."""
    if site.call is not step.call:
        return False
    last = [_last_event(ctx, unit, callee) for callee in ctx.v.callees(step.call)]
    return any(last) and all(what == "step" for what in last if what)


def _last_event(ctx: Context, unit: Unit, function: ast.AST) -> str:
    """What a function that somebody calls does last of the unit's backwards and steps, if any."""
    known = _last_events(ctx, unit)  # each reader asks
    if function not in known:
        run = list(events(ctx, unit, ctx.m.scope_of[function], 1))
        known[function] = run[-1].what if run else ""
    return known[function]


@once_of_unit
def _last_events(ctx: Context, unit: Unit) -> dict[ast.AST, str]:
    """Those of the functions that were looked at."""
    return {}


def _asked_again(ctx: Context, unit: Unit, reader: ast.stmt, step: Step, condition: ast.stmt) -> bool:
    """Whether a condition of the step in the function that ``step`` calls is a parameter, and the reader stands under
    an ``if`` that asks what was passed for it."""
    m = ctx.m
    callee = m.function(condition)
    if not isinstance(condition, ast.If) or not isinstance(condition.test, ast.Name):
        return False
    inner = [s for s in steps_in(ctx, unit, callee) if s.objects & step.objects]
    taken = inner and all(any(m.inside(s.call, x) for x in condition.body) for s in inner)
    arg = passed(ctx, step.call, callee, condition.test.id) if condition.test.id in callee.params else None
    if not taken or not isinstance(arg, ast.Name) or stored(ctx, callee, condition.test.id, m.start(condition)):
        return False
    for outer in m.spine(reader):
        if isinstance(outer, ast.If) and any(m.inside(reader, x) for x in outer.body):
            if isinstance(outer.test, ast.Name) and outer.test.id == arg.id:
                return not stored(ctx, m.function(reader), arg.id, m.start(reader), m.start(step.call))
    return False


def _training_is_over(ctx: Context, unit: Unit, reader: ast.stmt, sites: list[Scale], steps: list[Step]) -> Step | None:
    """The step whose gradients a reader behind all training sees, where each step throws its own away: what is there
    was not unscaled by a step."""
    m = ctx.m
    if looped_back(ctx, reader, sites) or not steps or any(m.start(s.call) > m.start(reader) for s in steps):
        return None
    for step in steps:
        block, index = m.place[step.anchor]
        if not any(exits.clears(stmt) for stmt in block.body[index + 1 :]):
            return None
    return steps[-1]


def _called_behind(ctx: Context, unit: Unit, scope: Scope) -> bool:
    """Whether a function is called behind a scaled backward of its caller (AWP: a second one, of weights that were
    moved)."""
    m = ctx.m
    calls, sites = ctx.v.calls[scope.node], [s.call for s in unit.scales]
    return any(m.function(s) is m.function(c) and m.start(s) < m.start(c) for c in calls for s in sites)


def _plainly(ctx: Context, reader: ast.stmt, before: list[Scale]) -> bool:
    """Whether a reader stands in the arm that ran without mixed precision: where the other one scales, and nothing does
    in its own (two trainings in the arms of one ``if`` each have theirs)."""
    partings = [parting for s in before if (parting := ctx.m.parting(reader, s.call)) is not None]
    beside = [s.call for s in before if partings and not exclusive(ctx, reader, s.call)]
    return any(not any(ctx.m.inside(call, parting) for call in beside) for parting in partings)


def _master(ctx: Context, stmt: ast.stmt) -> bool:
    return any(
        isinstance(n, ast.Call) and any(x.endswith(".master_params") for x in ctx.v.apex_names(n.func))
        for n in walk(stmt)
    )


def _unscale(ctx: Context, step: Step, place: ast.stmt) -> Unscale:
    if step.text is None and step.over is not None:
        each = free_name(ctx.m, "optimizer", set())
        return Unscale(place, each, step.objects, f"for {each} in {step.over}:")
    if step.text is None:
        raise Manual(place, "gradients are read here, and the optimizer that steps later cannot be named here")
    loop = None
    if step.anchor is not step.stmt and isinstance(step.anchor, ast.For) and place is not step.stmt:
        loop = _loop_header(ctx, step.anchor)
    return Unscale(place, step.text, step.objects, loop)


def _loop_header(ctx: Context, loop: ast.For) -> str:
    """The header of a loop over optimizers, without a count that nobody there needs."""
    target, source = loop.target, loop.iter
    if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "enumerate":
        if isinstance(target, ast.Tuple) and len(target.elts) == 2 and source.args:
            target, source = target.elts[1], source.args[0]
    return f"for {ctx.m.src(target)} in {ctx.m.src(source)}:"


@once_of_unit
def _blocks_in_order(ctx: Context, unit: Unit) -> tuple[list[Scale], list[int]]:
    """The losses of a unit that are scaled by a block, and where."""
    blocks = sorted((s for s in unit.scales if s.with_ is not None), key=lambda s: ctx.m.start(s.call))
    return blocks, [ctx.m.start(s.call) for s in blocks]


def _place(
    ctx: Context, unit: Unit, schedule: Schedule, reader: ast.stmt, step: Step, sites: list[Scale]
) -> ast.stmt | None:
    """The statement before which ``unscale_`` goes for this reader; None where the reader moves instead.

    Where gradients are thrown away before the next backward, taken or not, ``update()`` comes ``late``: behind the
    condition of the step."""
    m = ctx.m
    tops = common(ctx, reader, step.anchor)
    if tops is None:
        return reader
    mine, theirs = tops
    conditions = conditions_of(ctx, unit, theirs, step)
    conditions += [x for x in m.loops(reader) if m.inside(x, mine) and not m.inside(step.call, x)]
    if not conditions:
        blocks, starts = _blocks_in_order(ctx, unit)
        above = blocks[bisect_left(starts, m.start(mine)) : bisect_left(starts, m.start(reader))]
        site = next((s for s in reversed(above) if m.inside(s.call, mine)), None)
        if site is None or site.with_ is None:
            return mine
        beside = common(ctx, reader, site.with_)  # the backward stands in there too: right behind it
        return reader if beside is None else beside[0]
    if len(conditions) == 1 and isinstance(conditions[0], ast.If) and isinstance(mine, ast.If):
        same = ast.dump(mine.test) == ast.dump(conditions[0].test) and any(m.inside(reader, s) for s in mine.body)
        if same and not may_change(ctx, mine.test, mine, conditions[0]):
            inner = next(s for s in mine.body if m.inside(reader, s))
            return inner
    looped = any(m.inside(x, mine) for x in m.loops(reader)) or any(isinstance(c, _LOOPS) for c in conditions)
    in_header = mine is reader and mine is theirs  # the condition of the step reads gradients itself
    apart = mine is not theirs or in_header
    inside = [s for s in unit.steps if s.objects & step.objects and _runs_in(ctx, s, theirs)]
    known = step in unit.steps or (inside and not step.within)
    if known and not looped and apart and exits.thrown_away(ctx, mine, theirs, sites):
        schedule.late.update(dict.fromkeys(inside, theirs))  # one update() for all arms
        exits.review(unit, step.stmt)
        return mine
    if is_clip(ctx, reader):
        schedule.moved[reader] = step.anchor
        unit.review(
            reader,
            "APX052",
            "gradients were clipped after every backward, the step is taken under a condition (line "
            f"{conditions[0].lineno}): the clip moves under that condition and now acts once, on the sum; also with "
            "mixed precision off",
        )
        return None
    if step in unit.steps and not in_header and (calls := norms_read(ctx, reader)):
        schedule.rescaled_clips.update((call, step) for call in calls)
        early = _early(ctx, schedule, reader, step, conditions, sites)
        if early is not None:
            schedule.early.update((call, early) for call in calls)
        until = "scaled until then" if early is None else "scaled in the rounds without one"
        unit.review(
            reader,
            "APX054",
            "the norm of gradients is used after every backward, while the step is taken under a condition: they stay "
            f"{until}, so the norm is divided by the loss scale there, and a clip acts at its threshold times it",
        )
        return None
    if step in unit.steps and not in_header and (added := adds_a_term(ctx, reader)) is not None:
        call, factor = added
        schedule.rescaled_clips[call], schedule.factors[call] = step, factor
        early = _early(ctx, schedule, reader, step, conditions, sites)
        if early is not None:
            schedule.early[call] = early
        until = "scaled until then" if early is None else "scaled in the rounds without one"
        unit.review(
            reader,
            "APX054",
            "a term is added to gradients after every backward, while the step is taken under a condition: they stay "
            f"{until}, so what the term is multiplied with is multiplied with the loss scale there",
        )
        return None
    if step in unit.steps and not in_header and (seen := looked_at(ctx, unit, reader)):
        schedule.divided.update((grad, step) for grad in seen)
        unit.review(
            reader,
            "APX054",
            "gradients are looked at after every backward, while the step is taken under a condition: they stay scaled "
            "until then, so what is looked at is divided by the loss scale",
        )
        return None
    if step in unit.steps and not in_header:
        if (test := asks_for_the_step(ctx, reader, conditions, step)) is not None:
            if step not in schedule.asking:
                schedule.unscales.append(Unscale(reader, step.text or "", step.objects, f"if {m.src(test)}:"))
            schedule.asking[step] = test
            return None
    raise Manual(
        reader,
        "gradients are read after every backward, but the optimizer steps under a condition: unscale_ may run only "
        "once per step, so they cannot be unscaled here",
        "move this reader under the step's condition, after scaler.unscale_(optimizer)",
    )


def _runs_in(ctx: Context, step: Step, stmt: ast.stmt) -> bool:
    """Whether a step is only taken within a statement: it stands there, or all calls of its function do, a method of an
    object that wraps the optimizer."""
    m, own = ctx.m, ctx.m.function(step.call)
    if own is m.function(stmt) or not own.is_function or handed_on(ctx, own.node):
        return m.inside(step.call, stmt)
    calls = ctx.v.calls[own.node]
    return bool(calls) and all(m.inside(call, stmt) for call in calls)


def stays_in_place(ctx: Context, unit: Unit, schedule: Schedule, clip: ast.stmt) -> bool:
    """A clip after every micro-batch that cannot move under the step's condition acts where it stood, at its threshold
    times the loss scale; False where that cannot be said. Only a clip by the norm: it makes NaN of an overflow, which
    the step sees, while one by value would make a good gradient of it."""
    anchor, calls = schedule.moved[clip], norms_read(ctx, clip)
    step = next((s for s in unit.steps if s.anchor is anchor), None)
    if step is None or not calls:
        return False
    del schedule.moved[clip]
    schedule.rescaled_clips.update((call, step) for call in calls)
    if anchor not in schedule.moved.values() and not perhaps_in_loop(ctx, step):
        schedule.unscales = [u for u in schedule.unscales if u.before is not anchor]  # nobody reads them there
    tops = common(ctx, clip, anchor)
    conditions = conditions_of(ctx, unit, tops[1], step) if tops is not None else []
    early = _early(ctx, schedule, clip, step, conditions, unit.scales)
    if early is not None:
        schedule.early.update((call, early) for call in calls)
        schedule.unscales = [u for u in schedule.unscales if not _comes_behind(ctx, u, early)]
    until = "scaled until then" if early is None else "scaled in the rounds without one"
    unit.reviews = [one for one in unit.reviews if one[:2] != (clip, "APX052")]
    unit.review(
        clip,
        "APX054",
        "gradients are clipped after every backward, while the step is taken under a condition: they stay "
        f"{until}, so the clip acts at its threshold times the loss scale there",
    )
    return True


def _comes_behind(ctx: Context, unscale: Unscale, early: Early) -> bool:
    """Whether an ``unscale_`` stands in the rounds in which another one has come before it, at the clip."""
    asked = any(isinstance(s, ast.If) and s.test is early.test for s in ctx.m.spine(unscale.before))
    return asked and bool(unscale.objects & early.step.objects)


def _early(
    ctx: Context, schedule: Schedule, reader: ast.stmt, step: Step, conditions: list[ast.stmt], sites: list[Scale]
) -> Early | None:
    """Where gradients can be unscaled right behind the backward in the rounds in which the step is taken; None where
    its condition cannot be asked there."""
    m = ctx.m
    if len(conditions) != 1 or not isinstance(conditions[0], ast.If):
        return None
    test, within = conditions[0].test, [with_ for site in sites if (with_ := site.with_) is not None]
    behind = [pair[0] for with_ in within if (pair := common(ctx, reader, with_)) is not None and pair[1] is with_]
    if len(behind) != 1 or not any(m.inside(step.call, stmt) for stmt in conditions[0].body) or not plain_test(test):
        return None
    names = {n.id for n in walk(test) if isinstance(n, ast.Name)}
    scope, first, last = m.function(reader), m.start(behind[0]), m.start(conditions[0])
    stores = [n for name in names for n in m.bindings(name, m.binding_scope(name, scope))]
    if any(first <= m.start(n) < last or m.function(n) is not scope for n in stores):
        return None
    if may_change(ctx, test, behind[0], conditions[0]):
        return None
    known = next((one for one in schedule.early.values() if one.before is behind[0]), None)
    return known or Early(behind[0], test, step, free_name(m, "loss_scale", set()))


def _step_elsewhere(
    ctx: Context, unit: Unit, schedule: Schedule, scope: Scope, reader: ast.stmt, optimizer: ast.expr | None
) -> None:
    """A reader in the function that runs the backward, the step in a caller: proved where it follows at once. A clip
    by the norm can act on scaled gradients, whenever the step comes."""
    m = ctx.m
    calls = ctx.v.calls[scope.node] if always_followed(ctx, unit, scope) else []
    site = next(iter(scales_in(ctx, unit, scope)), unit.scales[0])
    steps = [s for s in unit.steps if s.objects & site.optimizer_objects]
    later = steps[0] if steps and all(m.function(s.call) is not scope for s in steps) else None
    apart = later is not None and m.function(site.call) is scope and ctx.v.calls[scope.node]
    if not calls and later is not None and apart and (norms := norms_read(ctx, reader)):
        schedule.rescaled_clips.update((call, later) for call in norms)
        unit.review(
            reader,
            "APX054",
            "gradients are clipped here, and the step is taken in another function, perhaps not every time: they stay "
            "scaled until then, so the clip acts at its threshold times the loss scale",
        )
        return
    if not calls and later is not None and apart and (seen := looked_at(ctx, unit, reader)):
        schedule.divided.update((grad, later) for grad in seen)
        unit.review(
            reader,
            "APX054",
            "gradients are looked at here, and the step is taken in another function, perhaps not every time: they "
            "stay scaled until then, so what is looked at is divided by the loss scale",
        )
        return
    if not calls or optimizer is None:
        raise Manual(
            reader,
            "gradients are read or changed here, and the step is taken in another function, perhaps not every time",
            "call scaler.unscale_(optimizer) once before this line, under the condition that controls the step",
        )
    if not any(u.before is reader for u in schedule.unscales):
        schedule.unscales.append(Unscale(reader, m.src(optimizer), site.optimizer_objects))
