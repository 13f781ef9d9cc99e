"""Calls that take a step or run a backward of a unit in another function, as the caller says it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from ..facts.names import called_name
from ..facts.once import once_each
from ..facts.scopes import Scope
from ..facts.sites import Scale
from .by_name import NOTHING, Said, run_by, said_to
from .compute import walk_now
from .events import events, reaching
from .translate import passed, receiver
from .unit import Context, Step, Unit, steps_in


def lifted_steps(
    ctx: Context,
    unit: Unit,
    scope: Scope,
    depth: int = 0,
    within: frozenset[ast.AST] | None = None,
    said: Said = NOTHING,
) -> list[Step]:
    """Calls in ``scope`` that take a step of the unit in another function of the module, one of ``within``; ``said``
    are the words that it is handed."""
    m = ctx.m
    within = reaching(ctx, unit) if within is None else within
    found: list[Step] = []
    if not _calls_any(ctx, scope, within):
        return found
    for node in _calls(ctx, scope):
        for callee in (c for c in run_by(ctx, node, said) if c in within):
            inner = m.scope_of[callee]
            steps = [*steps_in(ctx, unit, inner)]
            if depth < 2:
                steps += lifted_steps(ctx, unit, inner, depth + 1, within, said_to(ctx, node, callee, said))
            at = m.statement(node)
            for step in steps:
                ifs = tuple(x for x in m.spine(step.anchor)[1:] if isinstance(x, (ast.If, ast.For, ast.While)))
                text = _said_by_caller(ctx, node, inner, step.text)
                over = _said_by_caller(ctx, node, inner, _over(ctx, step))
                found.append(Step(node, step.optimizer, step.objects, at, at, text, (*ifs, *step.within), over))
    return found


@once_each
def _calls(ctx: Context, scope: Scope) -> Sequence[ast.Call]:
    """The calls that a function runs itself: not those of a lambda or a class in it. Each unit asks."""
    every = (node for stmt in ctx.m.body_of(scope) for node in walk_now(stmt))
    return [n for n in every if isinstance(n, ast.Call) and ctx.m.function(n) is scope]


def _calls_any(ctx: Context, scope: Scope, functions: Collection[ast.AST]) -> bool:
    """Whether a call in ``scope`` may run one of some functions."""
    return any(callee in functions for call in ctx.calls_in.get(scope, ()) for callee in ctx.v.callees(call))


def _over(ctx: Context, step: Step) -> str | None:
    """What the loop around a step goes over, where each round steps what the loop gives it."""
    loop = step.anchor
    if not isinstance(loop, ast.For):
        return step.over
    plain = isinstance(loop.target, ast.Name) and step.text == loop.target.id
    return ctx.m.src(loop.iter) if plain and isinstance(loop.iter, (ast.Name, ast.Attribute)) else None


def _said_by_caller(ctx: Context, call: ast.Call, callee: Scope, text: str | None) -> str | None:
    """An optimizer's text in a callee as the caller of ``call`` writes it."""
    if text is None:
        return None
    root, _, rest = text.partition(".")
    if root == ctx.m.self_name(callee):
        if not isinstance(call.func, ast.Attribute):
            return None
        owner: str | None = ctx.m.src(call.func.value)
        if called_name(call.func.value) == "super":  # which has no attributes of an object
            owner = ctx.m.self_name(ctx.m.function(call))
        elif not receiver(ctx, call, callee):  # `Base.step(self)`
            handed = passed(ctx, call, callee, root)
            owner = ctx.m.src(handed) if handed is not None else None
        return owner + (f".{rest}" if rest else "") if owner is not None else None
    if root in callee.params:
        arg = passed(ctx, call, callee, root)
        if arg is None:
            return None
        return ctx.m.src(arg) + (f".{rest}" if rest else "")
    known = ctx.m.binding_scope(root, ctx.m.scope(call))
    return text if known is ctx.m.binding_scope(root, callee) else None


def lifted_backwards(ctx: Context, unit: Unit, scope: Scope) -> list[Scale]:
    """Calls in ``scope`` that run a scaled backward of the unit in another function of the module."""
    m = ctx.m
    within = reaching(ctx, unit)
    found: list[Scale] = []
    if not _calls_any(ctx, scope, within):
        return found
    for node in _calls(ctx, scope):
        callees = [c for c in ctx.v.callees(node) if c in within]
        runs = ((m.scope_of[c], said_to(ctx, node, c, NOTHING)) for c in callees)
        for event in (e for inner, words in runs for e in events(ctx, unit, inner, 1, words)):
            if event.what == "backward":
                found.append(Scale(node, None, None, event.objects, None, None, None))
    return found
