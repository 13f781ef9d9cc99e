"""Copies of what holds the scaler while it waits for ``update()``: a snapshot of the trainer behind the clip. Between
``unscale_()`` and ``update()`` a GradScaler is neither copied nor pickled (AssertionError)."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from ...nodes import walk
from ...units.unit import Context, Unit
from ..schedule import Schedule, Unscale

_COPIES = ("deepcopy", "copy", "dumps", "dump", "save")
_OWN_STATE = ("__getstate__", "__deepcopy__", "__copy__", "__reduce__", "__reduce_ex__")
_SAID = (
    "a copy of what holds the GradScaler, between unscale_() and update(): it is neither copied nor pickled there "
    "(AssertionError); leave it out of the copy, or copy behind update()"
)


def tell_copied(ctx: Context, unit: Unit, schedule: Schedule, owners: Collection[ast.ClassDef]) -> None:
    """Name the copies of objects of ``owners``, which hold the scaler, that may be made there."""
    if not schedule.unscales or not owners:
        return
    m = ctx.m
    calls = [call for name in _COPIES for call in m.calls(name) if call.args]
    copies = [call for call in m.in_order(calls) if any(_holds(ctx, one, owners) for one in _copied(ctx, call))]
    for unscale in schedule.unscales if copies else ():
        stmts = _until_step(ctx, unit, unscale)
        functions = _entered(ctx, stmts)
        for call in copies:
            if m.function(call).node in functions or not stmts.isdisjoint(m.spine(call)):
                unit.review(call, "APX020", _SAID)


def _keeps(ctx: Context, cls: object, owners: Collection[ast.ClassDef]) -> bool:
    """Whether objects of a class hold the scaler, and are copied with all that they have."""
    if not isinstance(cls, ast.ClassDef):
        return False
    order = ctx.v.order(cls)
    own = any(ctx.m.method(one, name) is not None for one in order for name in _OWN_STATE)
    return not own and any(one in owners for one in order)


def _copied(ctx: Context, call: ast.Call) -> Iterator[ast.AST]:
    """What a call copies, and what the comprehensions around it go through: ``[copy(v) for v in vars(self)…]``."""
    yield from call.args
    for above in ctx.m.ancestors(call):
        if isinstance(above, ast.stmt):
            return
        if isinstance(above, (ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)):
            yield from (one.iter for one in above.generators)


def _holds(ctx: Context, copied: ast.AST, owners: Collection[ast.ClassDef]) -> bool:
    """Whether an object of these classes, or all that it has, is part of what is copied."""
    m = ctx.m
    for node in walk(copied):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            above = m.parent[node]
            if isinstance(above, ast.Attribute) and above.attr != "__dict__":
                continue  # a part of it
            if any(o.kind == "instance" and _keeps(ctx, o.key, owners) for o in ctx.v.of(node)):
                return True
    return False


def _until_step(ctx: Context, unit: Unit, unscale: Unscale) -> set[ast.stmt]:
    """The statements from where gradients are unscaled up to the step, or to the end of the block."""
    m = ctx.m
    found = set[ast.stmt]()
    steps = {step.anchor for step in unit.steps if step.objects & unscale.objects}
    body = m.block(unscale.before).body[m.index(unscale.before) + unscale.behind :]
    for stmt in body:
        if stmt in steps:
            break
        found.add(stmt)
        if any(stmt in m.spine(step) for step in steps):
            break
    return found


def _entered(ctx: Context, stmts: Collection[ast.stmt]) -> set[ast.AST]:
    """The functions that these statements come to."""
    found = set[ast.AST]()
    todo: list[ast.AST] = [*stmts]
    while todo:
        for call in (node for node in walk(todo.pop()) if isinstance(node, ast.Call)):
            new = set(ctx.v.callees(call)) - found
            found |= new
            todo += new
    return found
