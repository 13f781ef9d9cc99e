"""Where the loss scale is updated: behind the last step of its block, with one scaler or one for each optimizer."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import defaultdict

from ...flow.objects import Obj
from ...units.events import Event, events, reaching_scopes
from ...units.lifted import lifted_backwards
from ...units.unit import Context, Manual, Step, Unit
from ..blocks import exclusive
from ..schedule import NO_CHECKS, Scaler, Schedule
from .beside import chosen, instead
from .shared import Taken


def updates(ctx: Context, unit: Unit, schedule: Schedule) -> None:
    """Decide which scalers there are, and the steps that an ``update()`` follows; raises Manual where no order of them
    is right."""
    groups: dict[int, list[Step]] = defaultdict(list)
    for step in unit.steps:
        groups[id(ctx.m.block(schedule.updated_behind(step)))].append(step)
    every: frozenset[Obj] = frozenset().union(*(s.objects for s in unit.steps))
    schedule.scalers = [Scaler(every)]
    _check_one_step(ctx, unit, schedule)
    for eager in (True, False):  # after each step that nothing scaled waits behind, else after the last of its block
        schedule.updates = [s for group in groups.values() for s in _last_of(ctx, unit, schedule, group, eager)]
        if not _pending(ctx, unit, schedule):
            return
    if (last := _behind_all(ctx, unit)) is not None:
        schedule.late.update(dict.fromkeys(unit.steps, last))
        schedule.updates = unit.steps[-1:]
        return
    _apart(ctx, unit, schedule, groups)


def _behind_all(ctx: Context, unit: Unit) -> ast.stmt | None:
    """Of optimizers that share the one loss of a round, where one always steps and another may be left out (``if epoch
    >= warm:``): the statement of the round with the last step. Gradients of both are cleared in each round."""
    m = ctx.m
    anchors = [step.anchor for step in unit.steps]
    always = next((a for a in anchors if all(_in_block_of(ctx, a, other) for other in anchors)), None)
    site = unit.scales[0]
    if always is None or len(unit.scales) > 1 or site.with_ is None or any(step.own for step in unit.steps):
        return None
    if m.loops(site.call) != m.loops(always) or not all(
        _cleared_in_each(ctx, unit, step, always) for step in unit.steps
    ):
        return None
    tops = [next(s for s in m.spine(a) if m.block(s) is m.block(always)) for a in anchors]
    return max(tops, key=m.start)


def _in_block_of(ctx: Context, always: ast.stmt, other: ast.stmt) -> bool:
    """Whether a statement stands in the block of another one, or below one that does, with no loop between."""
    m = ctx.m
    return any(m.block(s) is m.block(always) for s in m.spine(other)) and m.loops(always) == m.loops(other)


def _cleared_in_each(ctx: Context, unit: Unit, step: Step, always: ast.stmt) -> bool:
    """Whether the gradients of an optimizer are cleared wherever one always steps."""
    m = ctx.m
    return any(
        isinstance(call.func, ast.Attribute)
        and m.block(m.statement(call)) is m.block(always)
        and bool(ctx.v.of(call.func.value) & (step.objects | unit.model_objects))
        for call in m.calls("zero_grad")
    )


def _last_of(ctx: Context, unit: Unit, schedule: Schedule, group: list[Step], eager: bool) -> list[Step]:
    """The steps of one block that an update follows: the last, each after which an optimizer comes round again, and
    (``eager``) each with another backward behind it, so that the scale moves as often as Apex moved it."""
    group = sorted(group, key=lambda s: ctx.m.start(s.call))
    backwards = _backwards_around(ctx, unit, group) if eager and len(group) > 1 else []
    found: list[Step] = []
    since: set[Obj] = set()
    for number, step in enumerate(group):
        following = group[number + 1] if number + 1 < len(group) else None
        since |= step.objects
        if following is None:
            found.append(step)
        elif schedule.updated_behind(following) is schedule.updated_behind(step):
            continue
        elif following.objects & since or _backward_between(ctx, backwards, step, following):
            found.append(step)
            since = set()
    return found


def _check_one_step(ctx: Context, unit: Unit, schedule: Schedule) -> None:
    """A second step with the gradients of one backward would divide them by the scale once more."""
    for run in _runs(ctx, unit):
        taken = Taken(ctx)
        backwards: list[Event] = []
        for event in run:
            if event.what == "backward":
                taken.forget(event.objects)
                backwards.append(event)
                continue
            backward = next((one for one in reversed(backwards) if not instead(event, one)), None)
            loops = [s for s in event.under if isinstance(s, (ast.For, ast.While))]
            anchor = event.step.anchor if event.step is not None else None
            earlier = [e for e in taken.of(event.objects) if not chosen(event, e)]
            again = any(not _apart_in(ctx, e.node, event.node) for e in earlier)
            around = backward is not None and any(x not in backward.under and x is not anchor for x in loops)
            if again and not around and _asked(ctx, event):
                unit.review(
                    event.node,
                    "APX060",
                    "this step may come with no backward since the last one, by its own condition alone: Apex did "
                    f"nothing then, scaler.step() raises ({NO_CHECKS})",
                )
            elif again or around:
                missing = Manual(
                    event.node,
                    "this step may run again with no gradients of a new backward; natively a step has to follow a "
                    "scaled backward of its own",
                    "step once for each scaled backward, or keep the gradients unscaled by hand",
                )
                if event.step is None or event.step not in unit.steps:
                    raise missing
                schedule.unfed[event.step] = missing
            taken.check(event)
            taken.add(event)


def _asked(ctx: Context, step: Event) -> bool:
    """Whether a step stands under a condition."""
    return any(isinstance(s, ast.If) for s in step.under) or _left_ahead(ctx, step.node)


def _left_ahead(ctx: Context, step: ast.AST) -> bool:
    """Whether the function of a step may be left ahead of it: ``if not self.pending: return``."""
    block, index = ctx.m.place[ctx.m.spine(step)[-1]]
    return any(
        isinstance(stmt, ast.If) and not stmt.orelse and isinstance(stmt.body[-1], ast.Return)
        for stmt in block.body[:index]
    )


def _apart_in(ctx: Context, one: ast.AST, other: ast.AST) -> bool:
    """Whether no run takes two steps one behind the other: arms of one ``if``, or an arm that is left for good."""
    if exclusive(ctx, one, other):
        return True
    for stmt in ctx.m.spine(one):
        arm = ctx.m.block(stmt)
        if isinstance(arm.owner, ast.If) and isinstance(arm.body[-1], (ast.Continue, ast.Break, ast.Return, ast.Raise)):
            return not ctx.m.inside(other, arm.owner) and ctx.m.loops(one) == ctx.m.loops(other)
    return False


def _backwards_around(ctx: Context, unit: Unit, group: list[Step]) -> list[int]:
    """Where backwards begin, those that the functions of some steps run in others as well; in order."""
    functions = dict.fromkeys(ctx.m.function(step.call) for step in group)
    sites = [*unit.scales, *(s for scope in functions for s in lifted_backwards(ctx, unit, scope))]
    return sorted(ctx.m.start(site.call) for site in sites)


def _backward_between(ctx: Context, backwards: list[int], step: Step, following: Step) -> bool:
    first = bisect_left(backwards, ctx.m.end(step.anchor))
    return first < len(backwards) and backwards[first] < ctx.m.start(following.anchor)


def _runs(ctx: Context, unit: Unit) -> list[list[Event]]:
    """The events of each function that no other function of the unit calls."""
    runs = [(s, list(events(ctx, unit, s))) for s in reaching_scopes(ctx, unit)]
    runs = [(s, r) for s, r in runs if any(e.what == "step" for e in r)]
    holding: dict[ast.AST, list[frozenset[ast.AST]]] = defaultdict(list)
    for nodes in (frozenset(e.node for e in run) for _, run in runs):
        for node in nodes:
            holding[node].append(nodes)
    return [r for _, r in runs if not _covered(r, holding)]


def _covered(run: list[Event], holding: dict[ast.AST, list[frozenset[ast.AST]]]) -> bool:
    """Whether another run meets all that one does, and more; ``holding`` are the nodes of those that meet one."""
    mine = {e.node for e in run}
    return any(mine < other for other in holding[run[0].node])


def _pending(ctx: Context, unit: Unit, schedule: Schedule) -> bool:
    """Whether an update may come while an optimizer holds scaled gradients that it has not stepped with."""
    optimizers = {frozenset(s.objects) for s in unit.steps}
    if len(optimizers) < 2:
        return False
    after = {s.call for s in schedule.updates}
    for run in _runs(ctx, unit):
        waiting: set[Obj] = set()
        for _ in range(2):  # what one iteration leaves behind, the next finds
            for event in run:
                if event.what == "backward":
                    waiting |= event.objects
                    continue
                waiting -= event.objects
                if event.node in after and waiting:
                    return True
            waiting |= _unstepped(run)
    return False


def _unstepped(run: list[Event]) -> set[Obj]:
    """Optimizers whose step may be left out although their backward ran."""
    left: set[Obj] = set()
    for event in run:
        if event.what == "backward":
            takers = [e for e in run if e.what == "step" and e.objects & event.objects]
            if not any(set(e.under) <= set(event.under) for e in takers):
                left |= event.objects
    return left


def _apart(ctx: Context, unit: Unit, schedule: Schedule, groups: dict[int, list[Step]]) -> None:
    """One scaler for each optimizer, where each loss goes to one optimizer only."""
    kinds: list[frozenset[Obj]] = []
    for step in unit.steps:
        if frozenset(step.objects) not in kinds:
            kinds.append(frozenset(step.objects))
    overlapping = any(a & b for i, a in enumerate(kinds) for b in kinds[:i])
    shared = any(sum(bool(s.optimizer_objects & k) for k in kinds) > 1 for s in unit.scales)
    if overlapping or shared:
        raise Manual(
            unit.steps[0].call,
            "optimizers that share a loss step under different conditions: one scaler's update() could come between "
            "another's backward and step",
            "step them together, or scale each loss with a scaler of its own",
        )
    names = []
    for kind in kinds:
        step = next(s for s in unit.steps if s.objects == kind)
        names.append(scaler_name(ctx.m.src(step.optimizer)))
    if len(set(names)) < len(names):
        names = [f"scaler_{i + 1}" for i in range(len(kinds))]
    schedule.scalers = [Scaler(kind, name) for kind, name in zip(kinds, names, strict=True)]
    schedule.updates = []
    for group in groups.values():
        for kind in kinds:
            mine = [s for s in group if s.objects == kind]
            schedule.updates += mine
    unit.review(
        unit.scales[0].call,
        "APX060",
        "the optimizers step apart, so each gets a scaler of its own; Apex shared one loss scale between them",
    )


def scaler_name(optimizer: str) -> str:
    """``scaler_g`` for ``optimizer_g``, ``scaler_D`` for ``optD``: the optimizer's own mark."""
    last = optimizer.split(".")[-1]
    for word in ("optimizer", "optimiser", "optim", "opt"):
        at = last.lower().find(word)
        if at >= 0:
            mark = (last[:at] + last[at + len(word) :]).strip("_")
            return f"scaler_{mark}" if mark else "scaler"
    return f"scaler_{last}" if last.isidentifier() else "scaler"
