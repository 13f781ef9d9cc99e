"""Products that O1 left in float32 and that are filled with a number that float16 has not: torch raises then.

``scores = torch.einsum("bid,bjd->bij", q, k).masked_fill(mask, -1e9)``: O1 did not patch `einsum`, autocast runs it in
float16. The old program ran only because q and k were float32; had they been half, it would have raised there too.
"""

from __future__ import annotations

import ast

from ...facts.names import called_name, last_name
from ...facts.once import once
from ...facts.usual_names import home
from ...knowledge.host import HOST_MODULES
from ...knowledge.operations import FILLS, HALF_NOT_AS_GIVEN
from ...units.unit import Context, Unit
from ..regions.coverage import Coverage
from ..regions.tight import last_given
from .policy import far

_RESHAPED = frozenset("view reshape flatten permute transpose contiguous clone squeeze unsqueeze".split())


def review_filled(ctx: Context, unit: Unit, coverage: Coverage) -> None:
    """Name such fills where they run under autocast."""
    if not unit.by_functions:
        return
    for call, product in _fills(ctx):
        if coverage.may_within(call):
            unit.review(
                call,
                "APX037",
                f"`{product}` gives float16 under autocast, where O1 left it in float32, and torch raises where that "
                "is filled with a number that float16 has none for: `.float()` before that, or "
                "`torch.finfo(scores.dtype).min` as the number",
            )


@once
def _fills(ctx: Context) -> list[tuple[ast.Call, str]]:
    """Such fills in the program, and what the product is called."""
    found = []
    for call in ctx.m.all(ast.Call):
        if called_name(call) not in FILLS or not any(map(far, [*call.args, *(k.value for k in call.keywords)])):
            continue
        of_torch = home(call.func) in ("torch", "th")
        filled = call.args[0] if of_torch and call.args else getattr(call.func, "value", None)
        product = half_product(ctx, filled, ctx.m.statement(call)) if isinstance(filled, ast.expr) else None
        if product is not None:
            found.append((call, product))
    return found


def half_product(
    ctx: Context, expr: ast.expr, stmt: ast.stmt, products: frozenset[str] = HALF_NOT_AS_GIVEN
) -> str | None:
    """The product, of those that O1 left as they were given or of others, whose result an expression still is, reshaped
    and times numbers."""
    match expr:
        case ast.Call(func=ast.Attribute(value=inner, attr=name)):
            if name in products:
                return name if last_name(inner) not in HOST_MODULES else None
            return half_product(ctx, inner, stmt, products) if name in _RESHAPED | FILLS else None
        case ast.Call(func=ast.Name(id=name)):
            return name if name in products else None
        case ast.BinOp(op=ast.MatMult()):
            return "matmul" if "matmul" in products else None
        case ast.BinOp(op=ast.Mult() | ast.Div(), left=left, right=right):
            if _number(ctx, right):
                return half_product(ctx, left, stmt, products)
            return half_product(ctx, right, stmt, products) if _number(ctx, left) else None
        case ast.Name(id=name):
            given = last_given(ctx.m, name, stmt)
            match given:
                case ast.Assign(targets=[ast.Name()], value=value):
                    return half_product(ctx, value, given, products)
                case ast.AugAssign(target=ast.Name() as target, op=ast.Mult() | ast.Div(), value=value):
                    return half_product(ctx, target, given, products) if _number(ctx, value) else None
    return None


def _number(ctx: Context, expr: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
    """Whether an expression is a plain number: written out, a power or root of one, an attribute that only ever is."""
    match expr:
        case ast.Constant(value=value):
            return isinstance(value, (int, float))
        case ast.UnaryOp(operand=inner) | ast.BinOp(op=ast.Pow(), right=inner):
            return _number(ctx, inner, seen)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math"))):
            return True
        case ast.BinOp(op=ast.Div(), left=left, right=right):
            return _number(ctx, left, seen) and _number(ctx, right, seen)
        case ast.Attribute(attr=name) if name not in seen:  # `self.scale = args.scale` says nothing
            stores = [node for node in ctx.m.attributes(name) if isinstance(node.ctx, ast.Store)]
            given = [ctx.m.parent[node] for node in stores]
            more = seen | {name}
            return bool(given) and all(isinstance(one, ast.Assign) and _number(ctx, one.value, more) for one in given)
        case _:
            return False
