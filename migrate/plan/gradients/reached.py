"""Whether a step is reached from a place: the conditions and loops between them."""

from __future__ import annotations

import ast
from bisect import bisect_left

from ...facts.scopes import Scope
from ...facts.sites import Scale
from ...nodes import walk
from ...units.lifted import lifted_steps
from ...units.unit import Context, Step, Unit, steps_in
from ..blocks import common
from .beside import steps_either_way, steps_natively


def holds_any(ctx: Context, stmt: ast.stmt, starts: list[int]) -> bool:
    """Whether one of several nodes lies in a statement; ``starts`` say where they begin, in order."""
    return bisect_left(starts, ctx.m.start(stmt)) < bisect_left(starts, ctx.m.end(stmt))


def within(ctx: Context, node: ast.AST, stmt: ast.AST) -> bool:
    return ctx.m.start(stmt) <= ctx.m.start(node) < ctx.m.end(stmt)


def _chain(ctx: Context, top: ast.stmt, inner: ast.stmt) -> list[ast.stmt]:
    """Statements from ``top`` down to the parent of ``inner``."""
    spine = ctx.m.spine(inner)
    return [s for s in spine[1:] if ctx.m.inside(s, top)]


def conditions_of(ctx: Context, unit: Unit, top: ast.stmt, step: Step) -> list[ast.stmt]:
    """Ifs and loops between ``top`` and a step that decide whether it is taken."""
    found = [stmt for stmt in step.within if not steps_either_way(stmt)]
    if step.anchor is top:
        return found
    for stmt in _chain(ctx, top, step.anchor):
        if isinstance(stmt, ast.If):
            arms = [
                any(s.objects & step.objects and any(ctx.m.inside(s.call, x) for x in arm) for s in unit.steps)
                or steps_natively(ctx, step, arm)
                or any(ctx.m.inside(step.anchor, x) for x in arm)
                for arm in (stmt.body, stmt.orelse)
            ]
            if not all(arms):
                found.append(stmt)
        elif isinstance(stmt, (ast.For, ast.AsyncFor, ast.While)):
            found.append(stmt)
    return found


def always_followed(ctx: Context, unit: Unit, scope: Scope) -> bool:
    """Whether each call of a function has a step of its caller's behind it, which is taken every time."""
    calls = ctx.v.calls[scope.node]
    return bool(calls) and all(_followed(ctx, unit, call) for call in calls)


def _followed(ctx: Context, unit: Unit, call: ast.Call) -> bool:
    m = ctx.m
    stmt, caller = m.statement(call), m.function(call)
    for step in (*steps_in(ctx, unit, caller), *lifted_steps(ctx, unit, caller)):
        tops = common(ctx, stmt, step.anchor) if m.start(step.call) > m.start(call) else None
        if tops is not None:
            rounds = [x for x in m.loops(stmt) if m.inside(x, tops[0]) and not m.inside(step.call, x)]
            if not rounds and not conditions_of(ctx, unit, tops[1], step):
                return True
    return False


def looped_back(ctx: Context, reader: ast.stmt, sites: list[Scale]) -> bool:
    """Whether a reader above every backward still runs behind one: both stand in one loop, the step first."""
    loops = set(ctx.m.loops(reader))
    return any(loops & set(ctx.m.loops(s.call)) for s in sites)


def outside(ctx: Context, unit: Unit, reader: ast.stmt, step: Step) -> bool:
    """Whether a step is taken under a condition that a statement is not under."""
    tops = common(ctx, reader, step.anchor)
    return tops is None or bool(conditions_of(ctx, unit, tops[1], step))


def perhaps_in_loop(ctx: Context, step: Step) -> bool:
    """Whether a loop over optimizers leaves some of their steps out."""
    m = ctx.m
    if not isinstance(step.anchor, ast.For) or step.anchor is step.stmt:
        return False
    ifs = any(isinstance(s, ast.If) for s in m.spine(step.stmt) if m.inside(s, step.anchor))
    skips = any(
        isinstance(n, (ast.Continue, ast.Break)) and m.start(n) < m.start(step.call)
        for n in walk(step.anchor)
        if isinstance(n, ast.stmt) and m.loops(n)[:1] == [step.anchor]
    )
    return ifs or skips


def plain_test(test: ast.expr) -> bool:
    """Whether a condition does nothing when it is asked once more."""
    plain = (ast.Name, ast.Attribute, ast.Constant, ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare)
    parts = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)
    nodes = list(walk(test))
    lengths = [n for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "len"]
    return all(isinstance(n, (*plain, *parts)) or n in lengths for n in nodes)


def may_change(ctx: Context, expr: ast.expr, since: ast.stmt, until: ast.stmt) -> bool:
    """Whether what an expression reads may be given another value between two statements of its function, there or in
    a function that is called there: ``self.n += 1``."""
    m = ctx.m
    read = {ast.unparse(n) for n in walk(expr) if isinstance(n, (ast.Name, ast.Attribute))}
    attributes = {n.attr for n in walk(expr) if isinstance(n, ast.Attribute)}
    low, high = m.end(since), m.start(until)
    for node in walk(m.function(since).node):
        if not isinstance(node, (ast.Name, ast.Attribute, ast.Call)) or not low <= m.start(node) < high:
            continue
        if isinstance(node, ast.Call):
            inner = [n for function in ctx.v.callees(node) for n in walk(function) if isinstance(n, ast.Attribute)]
            if any(n.attr in attributes and not isinstance(n.ctx, ast.Load) for n in inner):
                return True
        elif not isinstance(node.ctx, ast.Load) and ast.unparse(node) in read:
            return True
    return False


def stored(ctx: Context, scope: Scope, name: str, until: int, since: int = 0) -> bool:
    """Whether a name is bound anew in a function between two places."""
    return any(
        isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
        for n in walk(scope.node)
        if isinstance(n, ast.Name) and since <= ctx.m.start(n) < until
    )
