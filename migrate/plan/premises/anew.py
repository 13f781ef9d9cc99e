"""What runs ahead of ``initialize`` in a function that a process runs anew: from the second time on Apex's casts were
on there, as they were for all that ran once they had been switched on (folds, seeds, stages)."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import combinations

from ...facts.names import called_name, root_name
from ...facts.scopes import Scope
from ...knowledge.models import MAPPING
from ...nodes import walk
from ...units.order import NOT_YET, Order
from ...units.references import handed_to
from ...units.translate import passed
from ...units.unit import Context, Unit
from ..blocks import exclusive

_GENERATED = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
OF_NEW_OBJECT = (
    "this runs for objects that are made anew, ahead of amp.initialize for each of them: once it had run for the "
    "first, its casts were on here for all that followed, too, and this runs in float32 now, as its own scaler is off"
)
TOLD = (
    "{again} runs more than once: from the second time on this ran under the casts that amp.initialize had left on for "
    "the whole process, and it runs in float32 now"
)


def review_anew(ctx: Context, unit: Unit, ahead: Iterable[ast.Call], order: Order) -> None:
    """Names the calls of models that run ahead of ``initialize``, one for each function."""
    if not any(options.levels & {"O1", "?"} for options in unit.options.values()):
        return
    told: set[Scope] = set()
    for call in ahead:
        scope = ctx.m.function(call)
        again = _run_anew(ctx, call, order) if scope not in told else None
        if again is not None:
            told.add(scope)
            unit.review(call, "APX035", TOLD.format(again=f"{getattr(again.node, 'name', 'this')}()"))


def _run_anew(ctx: Context, node: ast.AST, order: Order) -> Scope | None:
    """A function that runs more than once in a process, of those on the way to a node in which ``initialize`` runs
    behind it; None where all run once."""
    met, todo = set[Scope](), [node]
    while todo:
        at = todo.pop()
        scope = ctx.m.function(at)
        if scope in met or NOT_YET not in order.states(at):
            continue
        met.add(scope)
        if not order.switches(scope.node):
            todo += ctx.v.calls[scope.node] if scope.is_function else ()
        elif repeated(ctx, scope):
            return scope
    return None


def repeated(ctx: Context, scope: Scope, met: frozenset[Scope] = frozenset()) -> bool:
    """Whether one process may run a function more than once: it is called in a loop, at several places, or by itself;
    ``met`` are the functions that it was asked for."""
    if scope in met:
        return True
    if not scope.is_function:
        return False
    calls = [call for call in ctx.v.calls[scope.node] if not ctx.m.idle(call)]
    if any(called_name(one) in MAPPING for one in handed_to(ctx, scope.node)):
        return True
    several = any(ctx.m.in_one_run(a, b) and not exclusive(ctx, a, b) for a, b in combinations(calls, 2))
    return several or any(_in_rounds(ctx, c) or repeated(ctx, ctx.m.function(c), met | {scope}) for c in calls)


def _in_rounds(ctx: Context, call: ast.AST) -> bool:
    """Whether a call stands in a loop, or in what is generated."""
    return bool(ctx.m.loops(call)) or any(isinstance(outer, _GENERATED) for outer in ctx.m.ancestors(call))


def of_new_object(ctx: Context, unit: Unit, stmt: ast.stmt, order: Order, enabled: str) -> bool:
    """Whether the scaler that a condition asks (``trainer.scaler.is_enabled()``) is that of an object which is made
    anew before each ``initialize`` of several: it is off there, where an earlier object had left Apex's casts on."""
    met = set[tuple[ast.AST, str]]()
    todo: list[tuple[ast.AST, str]] = [(stmt, name) for name in _owners(unit, enabled)]
    while todo:
        at, name = one = todo.pop()
        if one in met or NOT_YET not in order.states(at):
            continue
        met.add(one)
        scope = ctx.m.function(at)
        if name == ctx.m.self_name(scope):
            todo += [(call, root) for call in ctx.v.calls[scope.node] if (root := _root_of_owner(call))]
        elif scope.is_function and name in scope.params:
            given = [(call, passed(ctx, call, scope, name)) for call in ctx.v.calls[scope.node]]
            todo += [(call, value.id) for call, value in given if isinstance(value, ast.Name)]
        else:
            made = [one for one in ctx.m.bindings(name, scope) if not _initialized(ctx, unit, one)]
            if any(_made_anew(ctx, at, one) for one in made):
                return True
    return False


def _owners(unit: Unit, enabled: str) -> Iterator[str]:
    """Whose scaler it is; where that is a name of its own, the optimizers that it serves."""
    for node in walk(ast.parse(enabled, mode="eval")):
        match node:
            case ast.Attribute(value=ast.Name(), attr="is_enabled"):
                yield from (one.id for init in unit.initializes for one in init.optimizers if isinstance(one, ast.Name))
            case ast.Attribute(attr="is_enabled") if root := root_name(node):
                yield root
            case _:
                pass


def _root_of_owner(call: ast.AST) -> str:
    """``trainer`` of ``trainer.evaluate(loader)``."""
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return ""
    return call.func.value.id if isinstance(call.func.value, ast.Name) else ""


def _initialized(ctx: Context, unit: Unit, name: ast.AST) -> bool:
    """Whether a name is given what ``initialize`` gives back: the same objects."""
    return any(ctx.m.statement(name) is ctx.m.statement(init.call) for init in unit.initializes)


def _made_anew(ctx: Context, at: ast.AST, made: ast.AST) -> bool:
    """Whether an object is made in the loop that a node stands in, or in a function that runs more than once."""
    together = set(ctx.m.loops(at)) & set(ctx.m.loops(made))
    return bool(together) or repeated(ctx, ctx.m.function(made))
