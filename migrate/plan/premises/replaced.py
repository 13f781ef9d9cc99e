"""A function that has a part in training and is replaced while the program runs: `engine.backward = plain`.

Which of the two runs at a call is not followed, and the one that takes its place may train in its own way."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...flow.objects import Obj
from ...flow.spelled import listed_names
from ...units.unit import Context, Manual, Unit

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def check_replaced(ctx: Context, unit: Unit) -> None:
    """Raise Manual where a function with a site or a step of a unit is given anew to its module, class or object."""
    parts = [site.call for site in unit.sites] + [step.call for step in unit.steps]
    for function in dict.fromkeys(ctx.m.function(node).node for node in parts):
        if not isinstance(function, _FUNCTIONS):
            continue
        for node, owner in _stores(ctx, function.name):
            own = any(_function(ctx, obj, function.name) is function for obj in ctx.v.of(owner))
            if own and function is not ctx.m.function(node).node:
                raise Manual(
                    node,
                    f"{function.name}(), which has a part in training, is replaced here; which of the two runs is not "
                    "known",
                    "migrate what takes its place by hand, or choose between two functions by a condition",
                )


def _stores(ctx: Context, name: str) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Where an attribute of this name is given something: the place, and whose attribute it is."""
    for node in ctx.m.attributes(name):
        if isinstance(node.ctx, ast.Store):
            yield node, node.value
    for call in ctx.m.calls("setattr"):
        if len(call.args) == 3 and name in listed_names(ctx.m, call.args[1]):
            yield call, call.args[0]
    for call in ctx.m.calls("object"):  # mock.patch.object(engine, "backward", plain)
        patches = isinstance(call.func, ast.Attribute) and "patch" in ast.unparse(call.func.value)
        if patches and len(call.args) > 1 and isinstance(call.args[1], ast.Constant) and call.args[1].value == name:
            yield call, call.args[0]


def _function(ctx: Context, obj: Obj, name: str) -> ast.AST | None:
    """The function that an attribute of an object is by its definition."""
    match obj.kind, obj.key:
        case "module", ast.Module() as tree:
            home = ctx.m.scope_of[tree]
            found = (d for d in ctx.m.declared(name) if isinstance(d, _FUNCTIONS) and ctx.m.scope(d) is home)
            return next(found, None)
        case "class" | "instance", ast.ClassDef() as cls:
            return ctx.v.inherited(cls, name)
        case _:
            return None
