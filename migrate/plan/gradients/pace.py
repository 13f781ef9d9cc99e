"""How fast the loss scale moves: Apex at each backward, a GradScaler at each step. Said once for a unit of which a step
may take the gradients of several backwards."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...facts.scopes import Scope
from ...facts.sites import Scale
from ...nodes import walk
from ...units.events import reaching_scopes
from ...units.lifted import lifted_backwards, lifted_steps
from ...units.unit import Context, Step, Unit, scales_in
from ..blocks import common, exclusive
from . import exits
from .reached import conditions_of

_SAID = (
    "where several backwards go into this step, the loss scale moves at another pace: Apex halved it at each backward "
    "with an overflow, doubled it after 2000 without one, up to 2**24; a GradScaler halves it once a step and doubles "
    "it after 2000 steps, without a bound (growth_interval says after how many)"
)


def tell_pace(ctx: Context, unit: Unit) -> None:
    """Say it at the first such step, where the loss scale may move."""
    if not unit.fixed_scale:
        step = next(_of_several(ctx, unit), None) or next(_of_windows(ctx, unit), None)
        if step is not None:
            unit.infos.append((step.call, "APX060", _SAID))


def _of_several(ctx: Context, unit: Unit) -> Iterator[Step]:
    """Steps that take several backwards of their own function, or of those that it calls."""
    by_scope: dict[Scope, list[Step]] = defaultdict(list)
    for step in unit.steps:
        by_scope[ctx.m.function(step.call)].append(step)
    for scope, steps in by_scope.items():
        every = [*scales_in(ctx, unit, scope), *lifted_backwards(ctx, unit, scope)]
        sites = sorted(every, key=lambda site: ctx.m.start(site.call))
        begins = [ctx.m.start(site.call) for site in sites]
        deepest = max((len(ctx.m.loops(site.call)) for site in sites), default=0)
        ends = sorted(ctx.m.start(step.call) for step in steps)
        for step in steps:
            until = ctx.m.start(step.call)
            since = ends[bisect_left(ends, until) - 1] if until != ends[0] else -1
            before = sites[bisect_right(begins, since) : bisect_left(begins, until)]  # that no step before it takes
            if deepest > len(ctx.m.loops(step.anchor)) or _waits(ctx, unit, step, sites) or _several(ctx, before):
                yield step


def _waits(ctx: Context, unit: Unit, step: Step, sites: Sequence[Scale]) -> bool:
    """Whether a condition around a step decides how many backwards it takes."""
    if not any(isinstance(one, ast.If) for one in (*ctx.m.spine(step.anchor), *step.within)):
        return False
    for site in sites:
        tops = common(ctx, ctx.m.statement(site.call), step.anchor)
        apart = tops is not None and any(isinstance(c, ast.If) for c in conditions_of(ctx, unit, tops[1], step))
        if apart and not _cleared_each_round(ctx, unit, site):
            return True
    return False


def _several(ctx: Context, sites: Sequence[Scale]) -> bool:
    """Whether two of some backwards run one behind the other: if all stand in different arms, so do neighbours."""
    in_order = sorted((one.call for one in sites), key=ctx.m.start)
    return any(not exclusive(ctx, one, other) for one, other in pairwise(in_order))


def _of_windows(ctx: Context, unit: Unit) -> Iterator[Step]:
    """Steps that stand in another function than their backwards: where their callers call them once in several rounds,
    or behind what runs its backwards in a loop."""
    m = ctx.m
    taken = {step.call: step for step in unit.steps}
    for scope in reaching_scopes(ctx, unit):
        sites = [*scales_in(ctx, unit, scope), *lifted_backwards(ctx, unit, scope)]
        looped = [site for site in sites if _looped(ctx, unit, site)]
        for step in lifted_steps(ctx, unit, scope) if sites else ():
            if not _counted(ctx, step) and not looped:
                continue
            apart = [s for s in sites if m.statement(s.call) is not step.anchor and s.optimizer_objects & step.objects]
            if any(_in_window(ctx, unit, s, step) or (s in looped and _ahead(ctx, s, step)) for s in apart):
                inner = (n for callee in ctx.v.callees(step.call) for n in walk(callee) if n in taken)
                yield next((taken[n] for n in inner if isinstance(n, ast.Call)), step)


def _counted(ctx: Context, step: Step) -> bool:
    """Whether a condition around a step counts rounds, be it of mixed precision or not."""
    around = (*ctx.m.spine(step.anchor), *step.within)
    return any(isinstance(n, ast.Mod) for stmt in around if isinstance(stmt, ast.If) for n in walk(stmt.test))


def _in_window(ctx: Context, unit: Unit, site: Scale, step: Step) -> bool:
    """Whether rounds are counted until a step is taken, and gradients are not cleared in each."""
    tops = common(ctx, ctx.m.statement(site.call), step.anchor)
    tests = [c.test for c in conditions_of(ctx, unit, tops[1], step) if isinstance(c, ast.If)] if tops else []
    if tops is None or not any(isinstance(n, ast.Mod) for test in tests for n in ast.walk(test)):
        return False
    block, index = ctx.m.place[tops[1]]
    others = [stmt for at, stmt in enumerate(block.body) if at != index]
    called = [c for s in others for n in walk(s) if isinstance(n, ast.Call) for c in ctx.v.callees(n)]
    return not (_cleared_each_round(ctx, unit, site) or any(map(exits.clears, called)))


def _looped(ctx: Context, unit: Unit, site: Scale) -> bool:
    """Whether a call runs backwards in a loop and neither clears gradients nor steps."""
    callees = ctx.v.callees(site.call)
    if any(exits.clears(c) or any(s.call in walk(c) for s in unit.steps) for c in callees):
        return False
    return any(ctx.m.inside(s.call, c) and ctx.m.loops(s.call) for s in unit.scales for c in callees)


def _ahead(ctx: Context, site: Scale, step: Step) -> bool:
    """Whether a call stands ahead of a step, in its block."""
    m, stmt = ctx.m, ctx.m.statement(site.call)
    return m.start(stmt) <= m.start(step.anchor) and m.block(stmt).body is m.block(step.anchor).body


def _cleared_each_round(ctx: Context, unit: Unit, site: Scale) -> bool:
    """Whether all gradients are cleared in each round in which a backward runs, be the step taken or not."""
    m, loops = ctx.m, ctx.m.loops(site.call)
    for call in m.calls("zero_grad") if loops else ():
        if m.loops(call) != loops or not isinstance(call.func, ast.Attribute):
            continue
        around = m.spine(call)[1 : m.spine(call).index(loops[0])]
        mine = ctx.v.of(call.func.value) & (site.optimizer_objects | unit.model_objects)
        if mine and all(isinstance(outer, (ast.With, ast.AsyncWith)) for outer in around):
            return True
    return False
