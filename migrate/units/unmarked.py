"""Arguments that ``torch.amp.custom_fwd`` breaks: it sets two attributes on what a function is handed first, and a
number, a text or a list takes none; and it goes through all that can be gone through, of which it makes a generator.

Source: torch/amp/autocast_mode.py (``custom_fwd``, ``_cast``).
"""

from __future__ import annotations

import ast

from ..facts.names import last_name
from ..flow.arguments import default_of
from ..flow.objects import MODULE_LISTS, Obj, tuple_fields
from .translate import passed
from .unit import Context

_LITERALS = (ast.Constant, ast.JoinedStr, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp)
_ROWS = MODULE_LISTS | frozenset("range map zip filter iter pack_padded_sequence pack_sequence PackedSequence".split())
_MAX_DEPTH = 3  # from a parameter to what callers hand over, and so on


def may_take_none(ctx: Context, expr: ast.expr, depth: int = _MAX_DEPTH) -> bool:
    """Whether an expression may be something that is written out here and takes no attribute."""
    match expr:
        case ast.UnaryOp(operand=inner):
            return may_take_none(ctx, inner, depth)
        case ast.IfExp(body=one, orelse=other):
            return may_take_none(ctx, one, depth) or may_take_none(ctx, other, depth)
        case ast.Name() if not any(one.kind in ("seq", "dict") for one in ctx.v.of(expr)):
            return any(may_take_none(ctx, one, depth - 1) for one in _given(ctx, expr)) if depth else False
        case _:
            return isinstance(expr, _LITERALS) or any(one.kind in ("seq", "dict") for one in ctx.v.of(expr))


def torn(ctx: Context, expr: ast.expr) -> bool:
    """Whether an expression may be something that can be gone through and is no list, tuple, dictionary or text."""
    return isinstance(expr, ast.GeneratorExp) or any(_is_row(ctx, one) for one in ctx.v.of(expr))


def is_row(ctx: Context, cls: ast.ClassDef) -> bool:
    """Whether objects of a class can be gone through."""
    bases = {last_name(base) for one in ctx.v.order(cls) for base in one.bases}
    return ctx.v.has_method(cls, "__iter__") or not bases.isdisjoint({*_ROWS, "NamedTuple"})


def _is_row(ctx: Context, obj: Obj) -> bool:
    if obj.kind == "instance" and isinstance(obj.key, ast.ClassDef):
        return is_row(ctx, obj.key)
    if obj.kind != "call" or not isinstance(obj.key, ast.Call):
        return False
    return obj.label in _ROWS or any(tuple_fields(made) is not None for made in ctx.v.of(obj.key.func))


def _given(ctx: Context, name: ast.Name) -> list[ast.expr]:
    """What a name is given in its function, or what callers and defaults give a parameter."""
    m, home = ctx.m, ctx.m.binding_scope(name.id, ctx.m.scope(name))
    if home is None:
        return []
    above = [m.parent[one] for one in m.stores(name.id, home)]
    found = [one.value for one in above if isinstance(one, (ast.Assign, ast.AnnAssign)) and one.value is not None]
    if home.is_function and name.id in home.params:
        calls = ctx.v.calls[home.node]
        handed = [passed(ctx, call, home, name.id) for call in calls]
        default = default_of(home.node, name.id)
        found += [one for one in handed if one is not None]
        found += [default] if default is not None and (None in handed or not calls) else []
    return found
