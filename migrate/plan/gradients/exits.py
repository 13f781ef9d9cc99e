"""Ways out between ``unscale_`` and ``update``.

``scaler.unscale_`` may run once between two updates. A step that is left out by ``continue``, ``break``,
``return`` or an exception that somebody catches leaves no ``update`` behind, so that way out gets one of
its own: the overflow, if there was one, has been recorded by ``unscale_``. Where gradients are unscaled only in the
rounds with a step, so is the scale updated in these only.
Source: torch/amp/grad_scaler.py (unscale_, update).
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...facts.names import called_name
from ...facts.scopes import Scope
from ...facts.sites import Scale
from ...flow.objects import Obj
from ...knowledge.gradients import CLEARS
from ...nodes import walk
from ...units.references import handed_on
from ...units.unit import Context, Step, Unit
from ..blocks import common, exclusive, running
from ..schedule import Schedule, Unscale

_DEEP = 3  # functions between a loop and what it runs
_Updated = dict[Scope, list[tuple[Step, ast.stmt]]]  # by function the steps whose update ends there, and behind what
_EXITS = (ast.Continue, ast.Break, ast.Return, ast.Raise)


def decide(ctx: Context, schedule: Schedule, unit: Unit) -> None:
    """Fill ``schedule.exits`` and ``schedule.early_exits``."""
    updated: _Updated = defaultdict(list)
    for one in schedule.updates:
        updated[ctx.m.function(schedule.updated_behind(one))].append((one, schedule.updated_behind(one)))
    for unscale in schedule.unscales:
        ended = _step_of(ctx, updated, unscale)
        if ended is None:
            continue
        step, last = ended
        for leaves in _between(ctx, unscale, last):
            place = _ahead_of_state(ctx, leaves)
            known = any(e is place and _same(s, step) for e, s in schedule.exits)
            if not known and _hoisted(ctx, unit, unscale, leaves):
                schedule.exits.append((place, step))
                review(unit, leaves)
        for leaves in _raised_behind(ctx, unscale, step):
            if not any(e is leaves and _same(s, step) for e, s in schedule.exits):
                schedule.exits.append((leaves, step))
                review(unit, leaves)
    for early in dict.fromkeys(schedule.early.values()):
        at = Unscale(early.before, "", early.step.objects)
        for leaves in _between(ctx, at, schedule.updated_behind(early.step)):
            if _hoisted(ctx, unit, at, leaves):
                schedule.early_exits.append((_ahead_of_state(ctx, leaves), early))
                review(unit, leaves)


def review(unit: Unit, site: ast.stmt) -> None:
    """Name what Apex did behind a step that is left out by the file's own condition."""
    unit.review(
        site,
        "APX060",
        "where this step is left out after an overflow, Apex left the next one out as well (its skip stayed armed); a "
        "GradScaler takes it",
    )


def _ahead_of_state(ctx: Context, leaves: ast.stmt) -> ast.stmt:
    """The statement before which ``update`` goes: that which leaves, or one before it that loads a saved state, which
    is the scale from then on."""
    m = ctx.m
    block, index = m.place[leaves]
    loads = [use for use, dotted in ctx.facts.uses.items() if dotted.endswith(".load_state_dict")]
    for stmt in block.body[:index]:
        run = [stmt, *(f for n in walk(stmt) if isinstance(n, ast.Call) for f in ctx.v.callees(n))]
        if any(m.inside(use, one) for use in loads for one in run):
            return stmt
    return leaves


def _same(one: Step, other: Step) -> bool:
    return bool(one.objects & other.objects)


def _step_of(ctx: Context, updated: _Updated, unscale: Unscale) -> tuple[Step, ast.stmt] | None:
    """The step behind whose update the unscaled gradients' way ends, in the same function; what that update follows."""
    m = ctx.m
    at = m.start(unscale.before)
    behind = [(step, last) for step, last in updated.get(m.function(unscale.before), ()) if m.end(last) > at]
    return min(behind, key=lambda one: m.start(one[0].call), default=None)


def _between(ctx: Context, unscale: Unscale, update: ast.stmt) -> list[ast.stmt]:
    """Statements that leave between an unscale and its update."""
    m = ctx.m
    found: list[ast.stmt] = []
    here = m.function(unscale.before)
    for node in (one for kind in _EXITS for one in m.own(here, kind)):
        if not m.start(unscale.before) < m.start(node) < m.end(update) or exclusive(ctx, unscale.before, node):
            continue
        if isinstance(node, (ast.Continue, ast.Break)):
            loop = next(iter(m.loops(node)), None)
            if loop is None or loop is unscale.before or not m.inside(unscale.before, loop):
                continue
        if isinstance(node, ast.Raise) and not _caught(ctx, node):
            continue
        found.append(node)
    return found


def _raised_behind(ctx: Context, unscale: Unscale, step: Step) -> Iterator[ast.stmt]:
    """The beginnings of handlers of what only functions behind an unscale raise: a helper that finds a bad norm. Ahead
    of the step again only where the handler does not go on to it."""
    m = ctx.m
    for tried in m.spine(unscale.before):
        if not isinstance(tried, ast.Try) or not any(m.inside(unscale.before, s) for s in tried.body):
            continue
        for handler in tried.handlers:
            leaves = isinstance(handler.body[-1], (ast.Continue, ast.Break, ast.Return))
            steps = any(m.inside(step.call, s) for s in tried.body)
            raised = _raised(ctx, handler)
            if (leaves or steps) and raised and all(_run_behind(ctx, one, unscale, tried) for one in raised):
                yield handler.body[0]


def _raised(ctx: Context, handler: ast.ExceptHandler) -> list[ast.Raise]:
    """Where the exceptions of a handler are raised; none where they are not the program's own, with none of their kind
    under them, as others may raise them, too."""
    v = ctx.v
    types = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    held = [v.of(one) if one is not None else frozenset[Obj]() for one in types]
    classes = {o.key for objects in held for o in objects if o.kind == "class" and isinstance(o.key, ast.ClassDef)}
    own = all(objects and all(o.kind == "class" and o.key in classes for o in objects) for objects in held)
    derived = any(not classes.isdisjoint(v.order(c)[1:]) for c in ctx.m.all(ast.ClassDef))
    if not own or derived:
        return []
    found = list[ast.Raise]()
    for node in ctx.m.all(ast.Raise):
        given = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        if given is not None and any(o.key in classes for o in v.of(given)):
            found.append(node)
    return found


def _run_behind(ctx: Context, node: ast.AST, unscale: Unscale, tried: ast.Try) -> bool:
    """Whether a function is only called in the body of a ``try`` behind an unscale."""
    m = ctx.m
    scope = m.function(node)
    if scope is m.function(tried) or not scope.is_function or handed_on(ctx, scope.node):
        return False
    calls = ctx.v.calls[scope.node]
    return bool(calls) and all(
        m.start(call) >= m.start(unscale.before) and any(m.inside(call, s) for s in tried.body) for call in calls
    )


def _hoisted(ctx: Context, unit: Unit, unscale: Unscale, leaves: ast.stmt) -> bool:
    """Whether ``unscale_`` has run on every way to an exit on which a loss was scaled: it may stand in the arm that
    scales, where the other one has a backward without a scale."""
    pair = common(ctx, unscale.before, leaves)
    if pair is None:
        return False
    m = ctx.m
    spine = m.spine(unscale.before)
    between = spine[: spine.index(pair[0]) + 1]
    return all(_scales_here(ctx, unit, one, outer) for one, outer in pairwise(between))


def _scales_here(ctx: Context, unit: Unit, stmt: ast.stmt, outer: ast.stmt) -> bool:
    """Whether a statement stands in the arm of a condition that scales a loss, beside one that does not."""
    if not isinstance(outer, ast.If):
        return False
    arm, other = (outer.body, outer.orelse) if stmt in outer.body else (outer.orelse, outer.body)
    sites = {site.call for site in unit.scales}
    plain = [n for one in other for n in walk(one) if isinstance(n, ast.Call) and called_name(n) == "backward"]
    return any(n in sites for one in arm for n in walk(one)) and any(n not in sites for n in plain)


def _caught(ctx: Context, node: ast.AST) -> bool:
    """Whether an exception may be caught in this file, and training go on."""
    m = ctx.m
    return any(
        isinstance(outer, ast.Try) and outer.handlers and any(m.inside(at, s) for s in outer.body)
        for at in running(ctx, node)
        for outer in m.spine(at)
    )


# ---------------------------------------------------------------- gradients thrown away


def clears(stmt: ast.AST) -> bool:
    """Whether a statement throws gradients away: ``zero_grad``, or ``p.grad = None``, ``del p.grad`` in a loop."""
    for node in walk(stmt):
        if isinstance(node, ast.Call):
            if CLEARS.fit(called_name(node)):
                return True
        none = isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant) and node.value.value is None
        if isinstance(node, ast.Delete) or (isinstance(node, ast.Assign) and none):
            if any(isinstance(t, ast.Attribute) and t.attr == "grad" for t in node.targets):
                return True
    return False


def thrown_away(ctx: Context, reader: ast.stmt, behind: ast.stmt, sites: list[Scale]) -> bool:
    """Whether gradients that a step may leave out never meet those of the next backward: they are cleared in each
    round, before the backward or behind the step's condition (``behind``, in one block with ``reader``)."""
    m = ctx.m
    block, index = m.place[behind]
    if any(_clears_always(ctx, stmt) for stmt in block.body[index + 1 :]):
        return True
    before = [site for site in sites if m.start(site.call) < m.start(reader)]
    if any(_cleared_ahead(ctx, site.call, m.loops(reader)) for site in before):
        return True
    return bool(before) and not m.loops(reader) and _by_callers(ctx, m.function(reader), _DEEP)


def _cleared_ahead(ctx: Context, node: ast.AST, loops: Sequence[ast.AST]) -> bool:
    """Whether gradients are cleared ahead of ``node``, in the same round of the innermost of ``loops``."""
    m = ctx.m
    for stmt in m.spine(node):
        if loops and (stmt is loops[0] or not m.inside(stmt, loops[0])):
            break
        around, at = m.place[stmt]
        if any(_clears_always(ctx, s) for s in around.body[:at]):
            return True
    return False


def _by_callers(ctx: Context, scope: Scope, deep: int) -> bool:
    """Whether each caller of a function clears gradients ahead of it: ``optimizer.pre_step()`` in the loop, and the
    backward with its step in a method of the base class."""
    calls = ctx.v.calls[scope.node] if scope.is_function and deep and not handed_on(ctx, scope.node) else []
    return bool(calls) and all(
        _cleared_ahead(ctx, call, loops)
        or (not loops and _by_callers(ctx, ctx.m.function(call), deep - 1))
        for call in calls
        for loops in [ctx.m.loops(call)]
    )


def _clears_always(ctx: Context, stmt: ast.stmt, deep: int = _DEEP) -> bool:
    """As `clears`, and on every path through the statement, or in all that one of its calls may run."""
    if isinstance(stmt, (ast.If, ast.While, ast.Try, ast.FunctionDef, ast.ClassDef)):
        return False
    if clears(stmt) or not deep or not isinstance(stmt, (ast.Expr, ast.Assign)):
        return clears(stmt)
    runs = [ctx.v.callees(node) for node in walk(stmt) if isinstance(node, ast.Call)]
    return any(run and all(_clears_in(ctx, function, deep - 1) for function in run) for run in runs)


def _clears_in(ctx: Context, function: ast.AST, deep: int) -> bool:
    body = function.body if isinstance(function, ast.FunctionDef) else []
    return any(_clears_always(ctx, stmt, deep) for stmt in body)
