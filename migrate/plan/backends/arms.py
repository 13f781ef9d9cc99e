"""Native AMP of the file's own in the other arm of each guard: ``if with_apex: (scaled by Apex) else: (natively)``.

Where every loss that Apex scales has such an arm, with the same loss, steps and clips, under the guard of
``amp.initialize``, that arm serves both: the guards of the training go, and one autocast and one scaler are left.
Always *review*, as Apex's casts held for the whole process (APX043).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from ...facts.names import called_name
from ...facts.scopes import Scope
from ...facts.sites import Initialize, Scale
from ...nodes import walk
from ...units import options
from ...units.unit import Context, Unit
from ..gradients.fold import only_backward

_CLIPS = ("clip_grad_norm_", "clip_grad_norm", "clip_grad_value_")


@dataclass(frozen=True, eq=False)
class Served:
    """The guards of which the other arm stays."""

    guards: tuple[ast.If, ...]


def split(ctx: Context, units: Sequence[Unit]) -> list[Unit] | None:
    """The units where native arms serve what trains with Apex, and what only initializes a model is apart; None where
    they do not."""
    if sum(bool(unit.scales) for unit in units) != 1 or ctx.settings.dtype != "float16":
        return None
    found: list[Unit] = []
    for unit in units:
        if not unit.scales:
            found.append(unit)
            continue
        training = [init for init in unit.initializes if init.optimizers]
        if len(training) != 1:
            return None
        served = _served(ctx, training[0], unit.scales)
        if served is None:
            return None
        found.append(Unit(0, training, unit.scales, served=served.guards))
        home = frozenset({ctx.m.function(training[0].call).node})
        found += [Unit(0, [init], [], natively=home) for init in unit.initializes if init is not training[0]]
    for number, unit in enumerate(found, 1):
        unit.number = number
    return found


def _served(ctx: Context, init: Initialize, scales: Sequence[Scale]) -> Served | None:
    m = ctx.m
    home, stmt = m.function(init.call), m.statement(init.call)
    above = m.parent[stmt]
    if not isinstance(above, ast.If) or above.orelse or any(m.function(s.call) is not home for s in scales):
        return None
    asked = above.test
    if not isinstance(asked, (ast.Name, ast.Attribute)) or not _settled(ctx, asked, home):
        return None
    guards = [
        node
        for node in m.own(home, ast.If)
        if ast.dump(node.test) == ast.dump(asked) and node.orelse and not m.is_elif(node) and _native(node.orelse)
    ]
    if any(len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If) for node in guards):
        return None  # a third way
    casts = [item.context_expr for n in m.own(home, ast.With) for item in n.items if _is_autocast(item.context_expr)]
    makers = {name for node in guards for name in _scalers(node.orelse)}
    if len(makers) != 1 or not casts or not all(_alike(ctx, node, scales) for node in guards):
        return None
    made = _made(ctx, next(iter(makers)), home)
    if made is None or any(not any(m.inside(s.call, one) for node in guards for one in node.body) for s in scales):
        return None
    on = options.read(m, ctx.conditions, init).enabled
    conditions = {term.text for _, term in on if term.value is not True}
    same = all(_enabled(ctx, call) == conditions and _settled(ctx, call, home) for call in (made, *casts))
    return Served(tuple(guards)) if same and not _used_besides(ctx, init, guards) else None


def _native(arm: Sequence[ast.stmt]) -> bool:
    """Whether an arm has an autocast or a scaler of its own."""
    return bool(_scalers(arm)) or any(
        isinstance(n, ast.With) and any(_is_autocast(i.context_expr) for i in n.items) for s in arm for n in walk(s)
    )


def _is_autocast(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and called_name(node) == "autocast"


def _scalers(arm: Sequence[ast.stmt]) -> set[str]:
    """What a loss is scaled by in an arm: ``scaler`` of ``scaler.scale(loss).backward()``."""
    return {
        ast.unparse(func.value)
        for stmt in arm
        for node in walk(stmt)
        if (func := scaling_call(node)) is not None
    }


def scaling_call(node: ast.AST) -> ast.Attribute | None:
    """``scaler.scale`` of ``scaler.scale(loss).backward()``."""
    match node:
        case ast.Call(func=ast.Attribute(attr="backward", value=ast.Call(func=ast.Attribute(attr="scale") as func))):
            return func
        case _:
            return None


def _made(ctx: Context, name: str, home: Scope) -> ast.Call | None:
    """The one GradScaler that a local name holds, made in any case and of nothing but whether it is on."""
    bound = ctx.m.bindings(name, home)
    if len(bound) != 1 or not name.isidentifier():
        return None
    match ctx.m.statement(bound[0]):
        case ast.Assign(targets=[ast.Name()], value=ast.Call() as call) as stmt if called_name(call) == "GradScaler":
            plain = all(k.arg == "enabled" for k in call.keywords) and len(call.args) <= 1
            return call if plain and ctx.m.block(stmt).owner is home.node else None
        case _:
            return None


def _enabled(ctx: Context, call: ast.expr) -> set[str]:
    """When autocast or a scaler is on: the texts of conditions, none where it always is."""
    assert isinstance(call, ast.Call)
    given = next((k.value for k in call.keywords if k.arg == "enabled"), None)
    if given is None:
        return set()
    term = ctx.conditions.term(given)
    return set() if term.value is True else {term.text}


def _settled(ctx: Context, node: ast.expr, home: Scope) -> bool:
    """Whether what an expression reads has one value for as long as its function runs."""
    names = {n.id for n in walk(node) if isinstance(n, ast.Name)}
    return all(len(ctx.m.bindings(name, ctx.m.binding_scope(name, home))) <= 1 for name in names)


def _alike(ctx: Context, node: ast.If, scales: Sequence[Scale]) -> bool:
    """Whether the two arms of a guard do the same: the same forward, or the same backwards, steps and clips."""
    mine = [s for s in scales if any(ctx.m.inside(s.call, one) for one in node.body)]
    if not mine:
        match node.orelse:
            case [ast.With(items=[item], body=body)] if _is_autocast(item.context_expr):
                return [ast.dump(s) for s in body] == [ast.dump(s) for s in node.body]
            case _:
                return False
    (name,) = _scalers(node.orelse) or {""}
    theirs = [n for s in node.orelse for n in walk(s)]
    losses = [ast.dump(ctx.m.parent[f].args[0]) for n in theirs if (f := scaling_call(n)) is not None]  # type: ignore[attr-defined]
    wanted = [ast.dump(s.loss) for s in mine if s.loss is not None and only_backward(s) is not None]
    stepped = [ast.unparse(n.args[0]) for n in theirs if _calls(n, name, "step") and isinstance(n, ast.Call) and n.args]
    steps = [ast.unparse(n.func.value) for s in node.body for n in walk(s) if _steps(n)]  # type: ignore[attr-defined]
    clips = [[n for s in arm for n in walk(s) if _clips(n)] for arm in (node.body, node.orelse)]
    unscaled = not clips[1] or any(_calls(n, name, "unscale_") for n in theirs)
    updated = sum(_calls(n, name, "update") for n in theirs) == 1
    alike = losses == wanted and len(wanted) == len(mine) and stepped == steps and bool(steps)
    known = all(_only_trains(s) for arm in (node.body, node.orelse) for s in arm)
    return alike and updated and unscaled and len(clips[0]) == len(clips[1]) and known


def _only_trains(stmt: ast.stmt) -> bool:
    """Whether a statement of an arm is a backward, a step, a clip, or what scales."""
    if isinstance(stmt, ast.With):
        return all(map(_only_trains, stmt.body))
    calls = [n for n in walk(stmt) if isinstance(n, ast.Call)]
    return isinstance(stmt, ast.Expr) and bool(calls) and called_name(calls[0]) in (
        "backward", "step", "update", "unscale_", *_CLIPS
    )


def _calls(node: ast.AST, owner: str, method: str) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=value, attr=attr)):
            return attr == method and ast.unparse(value) == owner
        case _:
            return False


def _steps(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step"


def _clips(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and called_name(node) in _CLIPS


def _used_besides(ctx: Context, init: Initialize, guards: Sequence[ast.If]) -> bool:
    """Whether amp is used for more than to initialize models, and to train in Apex's arms."""
    calls = {one.call for one in ctx.facts.initializes}
    return any(
        dotted.startswith("apex.amp.")
        and ctx.m.parent[use] not in calls
        and ctx.m.statement(use) not in ctx.facts.imports
        and not any(ctx.m.inside(use, stmt) for node in guards for stmt in node.body)
        for use, dotted in ctx.facts.uses.items()
    )
