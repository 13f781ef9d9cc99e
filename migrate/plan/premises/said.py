"""What is written of a flag: the constants that a loop goes over, and what an object is made with."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...facts.module import Module
from ...flow.arguments import default_of
from ...units.translate import passed
from ...units.unit import Context
from .command_lines import said_on


def off_first(m: Module, source: ast.expr, attr: str = "") -> bool:
    """Whether a loop goes over constants, those that say no first: ``for fp16 in (False, True)``; or, where an
    attribute is asked for, ``for argv in ([], ["--fp16"])``."""
    items = source.elts if isinstance(source, (ast.Tuple, ast.List)) else []
    said = [_says(m, item, attr) for item in items]
    return bool(said) and None not in said and said == sorted(map(bool, said))


def _says(m: Module, item: ast.expr, attr: str) -> bool | None:
    """Whether an item switches mixed precision on; None where that is not written."""
    match item:
        case ast.Constant(value=value) if value in (False, True):
            return bool(value)
        case ast.Constant(value="O0" | "O1" | "O2" | "O3" as level):
            return level != "O0"
        case ast.List(elts=words) | ast.Tuple(elts=words) if attr and all(isinstance(x, ast.Constant) for x in words):
            return said_on(m, [str(word.value) for word in words if isinstance(word, ast.Constant)], attr)
        case _:
            return None


def given_once(ctx: Context, value: ast.expr) -> ast.expr | None:
    """What a name is given, where that is one thing; anything else itself."""
    if not isinstance(value, ast.Name):
        return value
    home = ctx.m.binding_scope(value.id, ctx.m.scope(value))
    above = [ctx.m.parent[n] for n in ctx.m.stores(value.id, home)] if home is not None else []
    return above[0].value if len(above) == 1 and isinstance(above[0], ast.Assign) else None


def off_before_on(said: Sequence[tuple[int, bool]]) -> bool:
    """Whether nothing in a text says no below what says yes."""
    flags = [on for _, on in sorted(said)]
    return flags == sorted(flags)


def made_with(ctx: Context, value: ast.expr, attr: str) -> bool | None:
    """What an attribute of an object is that is made with it: `Config(fp16=True)`, `parse(["--fp16"])`; None where that
    is not written."""
    value = given_once(ctx, value) or value
    if isinstance(value, ast.Dict):
        pairs = zip(value.keys, value.values, strict=True)
        said = [one for key, one in pairs if isinstance(key, ast.Constant) and key.value == attr]
        return bool(said[-1].value) if said and isinstance(said[-1], ast.Constant) else None
    if not isinstance(value, ast.Call):
        return None
    for keyword in value.keywords:
        if keyword.arg == attr:
            return bool(keyword.value.value) if isinstance(keyword.value, ast.Constant) else None
    if any(keyword.arg is None for keyword in value.keywords):
        return None
    for arg in value.args:
        if (words := _command_line(ctx, arg)) is not None:
            return said_on(ctx.m, words, attr)
    classes = [o.key for o in ctx.v.of(value.func) if o.kind == "class" and isinstance(o.key, ast.ClassDef)]
    given = next((one for cls in classes if (one := _given_to(ctx, value, cls, attr)) is not None), None)
    return bool(given.value) if isinstance(given, ast.Constant) else None


def _command_line(ctx: Context, arg: ast.expr) -> list[str] | None:
    """The words of a list that is written out, or of a parameter's default that no caller says anything else for."""
    written = _written_list(ctx, arg)
    words = [e.value for e in written.elts if isinstance(e, ast.Constant)] if written is not None else []
    known = [word for word in words if isinstance(word, str)]
    return known if written is not None and len(known) == len(words) else None


def _written_list(ctx: Context, arg: ast.expr) -> ast.List | ast.Tuple | None:
    m = ctx.m
    match arg:
        case ast.List():
            return arg
        case ast.Call(func=ast.Name(id="list"), args=[ast.Name() as inner]) | (ast.Name() as inner):
            home = m.binding_scope(inner.id, m.scope(inner))
            if home is None or inner.id not in home.params or m.stores(inner.id, home):
                return None
            default, calls = default_of(home.node, inner.id), ctx.v.calls[home.node]
            said = any(passed(ctx, call, home, inner.id) for call in calls)
            return default if isinstance(default, (ast.List, ast.Tuple)) and not said else None
        case _:
            return None


def _given_to(ctx: Context, call: ast.Call, cls: ast.ClassDef, attr: str) -> ast.expr | None:
    """What a call hands the constructor of a class by the name of an attribute, or a dataclass by the place of its
    field; else what stands there as a default."""
    made = ctx.m.method(cls, "__init__")
    if made is not None:
        scope = ctx.m.scope_of[made]
        return (passed(ctx, call, scope, attr) or default_of(made, attr)) if attr in scope.params else None
    fields = [(stmt.target, stmt.value) for stmt in cls.body if isinstance(stmt, ast.AnnAssign)]
    for place, (target, default) in enumerate(fields):
        if isinstance(target, ast.Name) and target.id == attr:
            return call.args[place] if place < len(call.args) else default
    return None
