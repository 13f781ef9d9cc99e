"""Who lists all names of a function: ``log(locals())``, ``{k: v for k, v in locals().items() if k.endswith("loss")}``.
The scaler may be among them from now on, and the scaled loss, which native code has no name for, is not any more."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.scopes import Scope
from ...units.unit import Context, Unit


def lists_names(ctx: Context, scope: Scope, name: str) -> Iterator[ast.Call]:
    """The calls that list the names of a function, and whose answer may hold this one."""
    m = ctx.m
    for call in m.in_order([*m.calls("locals"), *m.calls("vars"), *m.calls("dir")]):
        if isinstance(call.func, ast.Name) and not call.args and m.function(call) is scope:
            written = _written(ctx, call)
            if name in written if written is not None else not _asks_for_one(m.parent[call]):
                yield call


def _asks_for_one(above: ast.AST) -> bool:
    match above:
        case ast.Subscript() | ast.Attribute(attr="get" | "update" | "setdefault"):
            return True
        case ast.Compare(ops=[ast.In() | ast.NotIn()]):
            return True
        case _:
            return False


def _written(ctx: Context, call: ast.Call) -> str | None:
    """The text whose fields are what is asked for: ``"{loss}".format(**locals())``, ``"%(loss)s" % vars()``."""
    m = ctx.m
    above = m.parent[call]
    if isinstance(above, ast.keyword) and above.arg is None:
        above = m.parent[above]
    match above:
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format" | "format_map")):
            return text
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod()):
            return text
        case _:
            return None


def review_scaled_names(ctx: Context, unit: Unit) -> None:
    """Name what lists a scaled loss, of which native code has none under a name."""
    for site in unit.scales:
        if site.alias and site.with_ is not None and isinstance(site.item and site.item.optional_vars, ast.Name):
            for call in lists_names(ctx, ctx.m.function(site.call), site.alias):
                said = f"this lists `{site.alias}` no more: natively no name holds the scaled loss"
                unit.review(call, "APX020", said)
