"""Gradients that are read whenever somebody else likes: a method that a base of another file calls, a thread, a task.

``class WithNorm(logging.Filter)`` looks at the model each time that something is logged, ``Thread(target=watch)``
while training goes on, ``create_task(watch(model))`` wherever training waits. When that is does not stand in the
program: between a backward and the step gradients are scaled now, where Apex had unscaled them.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Set

from ...facts.names import called_name, last_name
from ...facts.once import once
from ...knowledge.gradients import SCHEDULERS
from ...units.events import reaching
from ...units.readers import reads_gradients
from ...units.unit import Context, Unit

_ABSTRACT = frozenset("ABC Protocol Generic NamedTuple TypedDict Enum Function Optimizer Dataset".split())
_UNTIL_ALL_END = ("gather", "wait_for", "shield")
_THREADS = ("Thread", "Timer", "run_in_executor")


def review_called_elsewhere(ctx: Context, unit: Unit) -> None:
    """Name what reads gradients at a time that is not known."""
    trains = reaching(ctx, unit)
    for node in (call for name in _THREADS for call in ctx.m.calls(name)):
        handed = [*node.args, *(k.value for k in node.keywords)]
        held = {obj for arg in handed for obj in ctx.v.of(arg) if obj.kind in ("function", "method", "partial")}
        functions = ctx.m.in_order({f for obj in held for f in ctx.v.functions(obj)} - trains)
        if any(reads_gradients(ctx, unit, function) for function in functions):
            _say(unit, node, f"`{called_name(node)}` runs")
    for call in _tasks(ctx, trains):
        if any(reads_gradients(ctx, unit, function) for function in ctx.v.callees(call)):
            _say(unit, call, "the event loop runs")
    for method, base in _called_by_bases(ctx):
        if method not in trains and reads_gradients(ctx, unit, method):
            _say(unit, method, f"`{base}`, whose code is not here, calls")


def _tasks(ctx: Context, trains: Set[ast.AST]) -> list[ast.Call]:
    """The coroutines that run wherever a training one waits: nobody waits for them where they are made."""
    if not any(isinstance(function, ast.AsyncFunctionDef) for function in trains):
        return []
    coroutines = [f for f in ctx.m.all(ast.AsyncFunctionDef) if f not in trains]
    return [call for f in coroutines for call in ctx.v.calls.get(f, ()) if not _waited_for(ctx, call, trains)]


def _waited_for(ctx: Context, call: ast.Call, trains: Set[ast.AST]) -> bool:
    """Whether a coroutine is over before training goes on: ``await watch()``, ``asyncio.run(main())``."""
    above = ctx.m.parent[call]
    if not isinstance(above, ast.Call):
        return isinstance(above, (ast.Await, ast.AsyncFor))
    if called_name(above) in _UNTIL_ALL_END and isinstance(ctx.m.parent[above], ast.Await):
        beside = [f for one in above.args if isinstance(one, ast.Call) for f in ctx.v.callees(one)]
        return trains.isdisjoint(beside)
    return called_name(above) in ("run", "run_until_complete")


@once
def _called_by_bases(ctx: Context) -> list[tuple[ast.stmt, str]]:
    """Methods that nothing in the program calls, of classes that it makes objects of and that have a base elsewhere,
    each with that base."""
    made = {obj.key for call in ctx.m.all(ast.Call) for obj in ctx.v.of(call) if obj.kind == "instance"}
    return [
        (method, last_name(cls.bases[0]))
        for cls in ctx.m.all(ast.ClassDef)
        if cls in made and derives_elsewhere(ctx, cls)
        for one in ctx.v.order(cls)
        for method in one.body
        if _left_to_others(ctx, method)
    ]


def derives_elsewhere(ctx: Context, cls: ast.ClassDef) -> bool:
    """Whether a class has a base that is not in the program, whose methods may be called or may call its own."""
    return any(_unknown(base) for one in ctx.v.order(cls) for base in _foreign(ctx, one))


def _foreign(ctx: Context, cls: ast.ClassDef) -> list[ast.expr]:
    """The bases of a class that are not in the program."""
    return [base for base in cls.bases if not any(obj.kind == "class" for obj in ctx.v.of(base))]


def _unknown(base: ast.expr) -> bool:
    """Whether a base may call methods of what derives from it: torch's networks call only what runs them."""
    name = last_name(base)
    known = name in _ABSTRACT or hasattr(builtins, name) or name.endswith(("Module", "Mixin")) or SCHEDULERS.fit(name)
    return not known


def _left_to_others(ctx: Context, method: ast.stmt) -> bool:
    """Whether nothing in the program calls a method."""
    if not isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) or method.name.startswith("__"):
        return False
    return not ctx.v.calls.get(method)


def _say(unit: Unit, node: ast.stmt | ast.expr, who: str) -> None:
    unit.review(
        node,
        "APX056",
        f"{who} this whenever it likes, and it looks at gradients: where that is between a backward and the step, they "
        "are scaled, where Apex had unscaled them",
    )
