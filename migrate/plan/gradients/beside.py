"""What takes a step in the place of another, where both are never taken: an arm with a native scaler of the file's own,
and a method of an object of another class."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...facts.names import called_name
from ...nodes import walk
from ...units.events import Event
from ...units.unit import Context, Step, Unit


def steps_natively(ctx: Context, step: Step, arm: Sequence[ast.stmt]) -> bool:
    """Whether an arm always hands the optimizer of ``step`` to another object's ``step``: a native scaler's.

    ``if use_native: scaler.step(optimizer); scaler.update()`` with ``else: optimizer.step()``: every run takes a step
    there, so the condition decides who takes it, not whether."""
    return any(isinstance(stmt, ast.Expr) and _hands(ctx, step, stmt.value) for stmt in arm)


def _hands(ctx: Context, step: Step, call: ast.expr) -> bool:
    match call:
        case ast.Call(func=ast.Attribute(attr="step", value=owner), args=[handed, *_]):
            mine = bool(ctx.v.of(handed) & step.objects) or _wraps(step, handed)
            return mine and not ctx.v.of(owner) & step.objects
        case _:
            return False


def steps_either_way(stmt: ast.stmt) -> bool:
    """``if closure is None: self.optimizer.step()`` and ``else: self.optimizer.step(closure)``: no condition."""
    if not isinstance(stmt, ast.If):
        return False
    receivers = []
    for arm in (stmt.body, stmt.orelse):
        match arm:
            case [ast.Expr(value=ast.Call(func=ast.Attribute(attr="step", value=receiver)))]:
                receivers.append(ast.dump(receiver))
            case _:
                return False
    return receivers[0] == receivers[1]


def _wraps(step: Step, handed: ast.expr) -> bool:
    """Whether an object is the one whose method takes a step: it wraps the optimizer."""
    match step.anchor:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="step", value=wrapper))):
            return ast.dump(wrapper) == ast.dump(handed)
        case _:
            return False


def instead(one: Event, other: Event) -> bool:
    """Whether one call leads to this step or to the other: to methods of one name, of objects of several classes, each
    of which runs a backward of its own ahead of its step (``self.scaler(loss, optimizer)``, with Apex or without)."""
    runs = dict(other.path)
    return any(
        runs.get(call, method) is not method and _trains(method) and _trains(runs[call]) for call, method in one.path
    )


def chosen(one: Event, other: Event) -> bool:
    """Whether one call leads to this step or to the other, by the method that it runs: never to both."""
    runs = dict(other.path)
    return any(runs.get(call, method) is not method for call, method in one.path)


def in_its_own(ctx: Context, unit: Unit, steps: list[Step]) -> list[Step]:
    """The steps without those of methods that train without scaling in the place of one that scales: a plain backward
    and the step behind it were as plain under Apex."""
    m = ctx.m
    scaling = {m.function(scale.call).node for scale in unit.scales}
    found = []
    for step in steps:
        own = m.function(step.call).node
        calls = ctx.v.calls.get(own, ()) if own not in scaling and _trains(own) else ()
        if not calls or not all(scaling & set(ctx.v.callees(call)) for call in calls):
            found.append(step)
    return found


def _trains(method: ast.AST) -> bool:
    return any(isinstance(n, ast.Call) and called_name(n) == "backward" for n in walk(method))
