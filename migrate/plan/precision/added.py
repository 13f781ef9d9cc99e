"""Masks that are added in place to half scores, with numbers that float16 has not: ``scores += (1 - mask) * -1e9``.

O1 made a new float32 tensor of the sum. Under autocast it stays half, as it is in place, and -1e9 is -inf there: a row
of which all is masked has no softmax but NaN. ``scores.add_(mask)`` was half under O1 as well.
"""

from __future__ import annotations

import ast

from ...facts.names import called_name, last_name
from ...facts.once import once
from ...knowledge.operations import FILLS, KEEP, NATIVE_HALF
from ...nodes import walk
from ...units.translate import passed
from ...units.unit import Context, Unit
from ..regions.coverage import Coverage
from ..regions.tight import last_given
from .filled import half_product
from .policy import far

_MAKES = FILLS | frozenset("full full_like new_full where".split())
_MAX_STEPS = 8  # from name to name and from function to function


def review_added(ctx: Context, unit: Unit, coverage: Coverage) -> None:
    """Name such sums where they run under autocast."""
    if not unit.by_functions:
        return
    for stmt in _sums(ctx):
        if coverage.may_within(stmt):
            unit.review(
                stmt,
                "APX037",
                "this sum stays float16 under autocast, where O1 made a new float32 tensor of it: a number that "
                "float16 has none for is -inf there, and a softmax over nothing else gives NaN; `a = a.float() + b` "
                "keeps it",
            )


@once
def _sums(ctx: Context) -> list[ast.AugAssign]:
    """Such sums in the program."""
    return [
        stmt
        for stmt in ctx.m.all(ast.AugAssign)
        if isinstance(stmt.op, (ast.Add, ast.Sub))
        and isinstance(stmt.target, ast.Name)
        and half_product(ctx, stmt.target, stmt, NATIVE_HALF) is not None
        and _far(ctx, stmt.value, stmt)
    ]


def _far(ctx: Context, expr: ast.expr, stmt: ast.stmt, steps: int = _MAX_STEPS) -> bool:
    """Whether a tensor is made with a number that float16 has not, and not cast since."""
    if not steps:
        return False
    match expr:
        case ast.Call(func=func, args=args) if called_name(expr) in _MAKES:
            inner = func.value if isinstance(func, ast.Attribute) else None
            handed = [*args, *(k.value for k in expr.keywords)]
            number = any(_far_number(ctx, one) for one in handed)
            return number or (inner is not None and _far(ctx, inner, stmt, steps - 1))
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in KEEP - {"half"} or _moved(expr):
            return _far(ctx, inner, stmt, steps - 1)
        case ast.Call() if made := ctx.v.callees(expr):
            results = (n for f in made for n in walk(f) if isinstance(n, ast.Return) and n.value is not None)
            return any(_far(ctx, n.value, n, steps - 1) for n in results)  # type: ignore[arg-type]
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            return _far_number(ctx, left) or _far_number(ctx, right)
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return any(_far(ctx, value, ctx.m.statement(value), steps - 1) for value in _kept(ctx, name))
        case ast.Subscript(value=inner):
            return _far(ctx, inner, stmt, steps - 1)
        case ast.Name(id=name):
            given = last_given(ctx.m, name, stmt)
            if isinstance(given, ast.Assign) and len(given.targets) == 1:
                parts = _given_to(ctx, given.targets[0], given.value, name)
                return any(_far(ctx, one, ctx.m.statement(one), steps - 1) for one in parts)
            return given is None and _handed_far(ctx, expr, steps - 1)
        case _:
            return False


def _given_to(ctx: Context, target: ast.expr, value: ast.expr, name: str) -> list[ast.expr]:
    """What an assignment gives a name: of a tuple its own part, be it one that a function gives back."""
    if isinstance(target, ast.Name):
        return [value]
    at = next((i for i, one in enumerate(getattr(target, "elts", ())) if getattr(one, "id", "") == name), None)
    wholes = [value]
    if isinstance(value, ast.Call):
        wholes = [n.value for f in ctx.v.callees(value) for n in walk(f) if isinstance(n, ast.Return) and n.value]
    tuples = [one.elts for one in wholes if isinstance(one, ast.Tuple)]
    return [elts[at] for elts in tuples if at is not None and at < len(elts)]


def _far_number(ctx: Context, expr: ast.expr) -> bool:
    """Whether a number, or the name of a constant, is one that float16 has not."""
    if not isinstance(expr, ast.Name):
        return far(expr)
    scope = ctx.m.binding_scope(expr.id, ctx.m.scope(expr))
    given = [ctx.m.parent[n] for n in ctx.m.bindings(expr.id, scope)] if scope is not None else []
    return len(given) == 1 and isinstance(given[0], ast.Assign) and far(given[0].value)


def _kept(ctx: Context, name: str) -> list[ast.expr]:
    """What an attribute is given: by an assignment, or as a buffer."""
    given = [ctx.m.parent[n] for n in ctx.m.attributes(name) if isinstance(n.ctx, ast.Store)]
    found = [stmt.value for stmt in given if isinstance(stmt, ast.Assign)]
    for call in ctx.m.calls("register_buffer"):
        match call.args:
            case [ast.Constant(value=str(said)), value, *_] if said == name:
                found.append(value)
    return found


def _moved(call: ast.Call) -> bool:
    """``mask.to(x.device)``, not ``mask.to(x.dtype)`` or ``mask.to(x)``."""
    where = [*call.args, *(k.value for k in call.keywords)]
    return called_name(call) == "to" and all("device" in (last_name(one) or "") for one in where)


def _handed_far(ctx: Context, name: ast.Name, steps: int) -> bool:
    """Whether a parameter is handed such a tensor."""
    scope = ctx.m.binding_scope(name.id, ctx.m.scope(name))
    if scope is None or name.id not in scope.params:
        return False
    handed = ((call, passed(ctx, call, scope, name.id)) for call in ctx.v.calls.get(scope.node, ()))
    return any(one is not None and _far(ctx, one, ctx.m.statement(call), steps) for call, one in handed)
