"""Backwards and steps of a unit, in the order in which they run."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from ..facts.once import once, once_each
from ..facts.scopes import Scope
from ..facts.sites import Scale, opened
from ..flow.objects import ELEMENT_KEY, Obj
from ..nodes import children
from .by_name import NOTHING, Said, run_by
from .translate import passed
from .unit import Context, Step, Unit, once_of_unit

MAX_DEPTH = 5  # calls in calls that are opened


@dataclass(frozen=True, eq=False)
class Event:
    """``what`` is "backward" or "step"; ``under`` are the conditions (ifs and loops) it runs under, ``path`` the calls
    that lead to it, each with the function that it runs there."""

    what: str
    objects: frozenset[Obj]
    node: ast.AST
    under: tuple[ast.stmt, ...]
    step: Step | None = None
    path: tuple[tuple[ast.Call, ast.AST], ...] = ()

KEY = "key"  # the kind of what stands for a string that a call hands over
Bound = dict[str, frozenset[Obj]]  # parameters of one call


@once_of_unit
def reaching(ctx: Context, unit: Unit) -> frozenset[ast.AST]:
    """The functions of the module that come to a backward or a step of a unit, in them or in what they call."""
    found: set[ast.AST] = set()
    todo: list[ast.AST] = [ctx.m.function(moment.call).node for moment in unit.moments]
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo += ctx.v.callers.get(node, ())
    return frozenset(found)


def reaching_scopes(ctx: Context, unit: Unit) -> list[Scope]:
    """Their scopes, in the order of the module."""
    found = reaching(ctx, unit)
    return [ctx.m.scope_of[node] for node in ctx.m.in_order(found)]


def events(ctx: Context, unit: Unit, scope: Scope, depth: int = 0, said: Said = NOTHING) -> Iterator[Event]:
    """Backwards and steps of ``unit`` as a run of ``scope`` meets them, calls of this module opened; ``said`` are the
    words that it is handed."""
    bound = {name: frozenset({Obj(KEY, word, word)}) for name, word in said.items()}
    yield from _walk(_run(ctx, unit), ctx.m.body_of(scope), depth, (), bound, ())


@dataclass(frozen=True, eq=False)
class _Run:
    """What `_walk` looks for, and the functions that it may find it in."""

    ctx: Context
    unit: Unit
    backwards: dict[ast.Call, Scale]
    steps: dict[ast.Call, Step]
    reaching: frozenset[ast.AST]
    around: frozenset[ast.stmt]  # the statements in which there is any of it


@once_of_unit
def _run(ctx: Context, unit: Unit) -> _Run:
    backwards = {s.call: s for s in unit.scales}
    steps = {s.call: s for s in unit.steps}
    inside = reaching(ctx, unit)
    entering = [call for node in inside for call in _entering(ctx).get(node, ())]
    around = ctx.m.all_around((*backwards, *steps, *entering))
    return _Run(ctx, unit, backwards, steps, inside, frozenset(around))


@once
def _entering(ctx: Context) -> dict[ast.AST, list[ast.Call]]:
    """For each function the calls that may run it."""
    found = defaultdict[ast.AST, list[ast.Call]](list)
    for call in ctx.m.all(ast.Call):
        for callee in ctx.v.callees(call):
            found[callee].append(call)
    return found


def _held(ctx: Context, expr: ast.expr | None, bound: Bound, otherwise: frozenset[Obj]) -> frozenset[Obj]:
    """What an optimizer of a callee is in one call of it; ``otherwise`` what it may be in any."""
    if isinstance(expr, ast.Name) and expr.id not in bound:
        match [ctx.m.parent[n] for n in ctx.m.bindings(expr.id, ctx.m.function(expr))]:
            case [ast.Assign(targets=[ast.Name()], value=value)]:
                expr = value
    match expr:
        case ast.Name(id=name) if name in bound:
            return bound[name] & otherwise or otherwise
        case ast.Subscript(value=table, slice=ast.Name(id=name)) if name in bound:
            return _entries(ctx, table, bound[name]) & otherwise or otherwise
        case _:
            return otherwise


def _entries(ctx: Context, table: ast.expr, keys: frozenset[Obj]) -> frozenset[Obj]:
    """What a dictionary has under some keys; nothing where another may be meant."""
    held = ctx.v.of(table)
    if not held or not keys or any(o.kind != "dict" or ctx.v.field(o, ELEMENT_KEY) for o in held):
        return frozenset()
    if any(key.kind != KEY for key in keys):
        return frozenset()
    return frozenset().union(*(ctx.v.field(o, key.label) for o in held for key in keys))


def _arguments(ctx: Context, call: ast.Call, callee: Scope, bound: Bound) -> Bound:
    """What one call hands to its callee's parameters."""
    found: Bound = {}
    for name in callee.params:
        arg = passed(ctx, call, callee, name)
        if isinstance(arg, ast.Constant) and isinstance(arg.value, str) and not ctx.m.bindings(name, callee):
            found[name] = frozenset({Obj(KEY, arg.value, arg.value)})
        elif arg is not None:
            held = bound.get(arg.id) if isinstance(arg, ast.Name) else None
            found[name] = held or opened(ctx.v, ctx.v.of(arg))
    return found


def _words(bound: Bound) -> dict[str, str]:
    """The parameters of a call that are a word."""
    held = ((name, objects) for name, objects in bound.items() if len(objects) == 1)
    return {name: one.label for name, objects in held for one in objects if one.kind == KEY}


def _walk(
    run: _Run,
    body: list[ast.stmt],
    depth: int,
    under: tuple[ast.stmt, ...],
    bound: Bound,
    path: tuple[tuple[ast.Call, ast.AST], ...],
) -> Iterator[Event]:
    """``bound`` says what this call's parameters hold, where that is less than what any call's may."""
    ctx = run.ctx
    for stmt in body:
        if stmt not in run.around or isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for node in _own_calls(ctx, stmt):
            if node in run.backwards:
                scale = run.backwards[node]
                held = _held(ctx, scale.optimizers, bound, scale.optimizer_objects)
                yield Event("backward", held, node, under, path=path)
            elif node in run.steps:
                step = run.steps[node]
                yield Event("step", _held(ctx, step.optimizer, bound, step.objects), node, under, step, path)
            elif depth < MAX_DEPTH:
                for callee in run_by(ctx, node, _words(bound)):
                    if callee in run.reaching:
                        scope = ctx.m.scope_of[callee]
                        handed = _arguments(ctx, node, scope, bound)
                        opened_ = (*path, (node, callee))
                        yield from _walk(run, ctx.m.body_of(scope), depth + 1, under, handed, opened_)
        inner = (*under, stmt) if isinstance(stmt, (ast.If, ast.For, ast.While, ast.AsyncFor)) else under
        for suite in _suites(stmt):
            yield from _walk(run, suite, depth, inner, bound, path)


def _suites(stmt: ast.stmt) -> list[list[ast.stmt]]:
    """The statements that a statement holds."""
    suites = [getattr(stmt, name, []) for name in ("body", "orelse", "finalbody")]
    return suites + [h.body for h in getattr(stmt, "handlers", [])]


@once_each
def _own_calls(ctx: Context, stmt: ast.stmt) -> list[ast.Call]:
    """The calls of a statement's own header, in the order in which they end; each unit comes by."""
    nested = {id(inner) for suite in _suites(stmt) for inner in suite}
    found, todo = list[ast.Call](), list[ast.AST]([stmt])
    while todo:
        node = todo.pop()
        if id(node) in nested or isinstance(node, (ast.ExceptHandler, ast.Lambda)):
            continue
        if isinstance(node, ast.Call):
            found.append(node)
        todo.extend(children(node))
    return sorted(found, key=lambda call: (call.end_lineno or 0, call.end_col_offset or 0))
