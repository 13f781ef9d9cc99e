"""Say a condition of one function in another: the same objects under the names they have there."""

from __future__ import annotations

import ast

from migrate.facts.module import Scope
from migrate.units.unit import Context


def translate(ctx: Context, expr: ast.expr, text: str, there: Scope) -> str | None:
    """``text`` (what is left of ``expr``) as it reads in scope ``there``; None where a name has no counterpart."""
    here = ctx.m.scope(expr)
    renamed: dict[str, str] = {}
    for node in ast.walk(expr):
        if isinstance(node, ast.Name):
            said = _name(ctx, node, here, there)
            if said is None:
                return None
            renamed[node.id] = said
    if all(old == new for old, new in renamed.items()):
        return text
    return _substitute(text, renamed)


def _substitute(text: str, renamed: dict[str, str]) -> str | None:
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return None

    class Rename(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            new = renamed.get(node.id)
            return ast.parse(new, mode="eval").body if new is not None else node

    return ast.unparse(Rename().visit(tree)).replace("'", '"')


def _name(ctx: Context, node: ast.Name, here: Scope, there: Scope) -> str | None:
    m, v = ctx.m, ctx.v
    home, other = m.binding_scope(node.id, here), m.binding_scope(node.id, there)
    if home is other:
        return node.id if home is None or _always_there(ctx, node.id, home, there) else None
    held = v.variable(node.id, here)
    reachable = other is not None and _always_there(ctx, node.id, other, there)
    if held and reachable and held & v.variable(node.id, there):
        return node.id
    if held:
        for name in _visible(there):
            if held & v.variable(name, there) and "self" not in (name,):
                return name
    if home is not None and home.is_function and node.id in home.params:
        return _argument(ctx, node.id, home, there)
    return None


def _always_there(ctx: Context, name: str, home: Scope, there: Scope) -> bool:
    """Whether a global is bound when ``there`` runs: not only in the main block, unless it is read there already."""
    m = ctx.m
    if home.is_function:
        return True
    stores = [
        n
        for n in m.nodes
        if isinstance(n, (ast.Name, ast.alias, ast.FunctionDef, ast.ClassDef)) and _binds(n) == name
        and m.binding_scope(name, m.scope(n)) is home
    ]
    if any(not _in_main_block(ctx, n) for n in stores):
        return True
    reads = [n for n in m.nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    return any(m.function(n) is there for n in reads)


def _binds(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            return name
        case ast.alias(name=name, asname=alias):
            return alias or name.split(".")[0]
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name
        case _:
            return None


def _in_main_block(ctx: Context, node: ast.AST) -> bool:
    return any(
        isinstance(a, ast.If) and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(a.test))
        for a in ctx.m.ancestors(node)
    )


def _visible(there: Scope) -> list[str]:
    names = [*there.params, *sorted(there.names - set(there.params))]
    return names


def _argument(ctx: Context, name: str, home: Scope, there: Scope) -> str | None:
    """What ``there`` hands to parameter ``name`` of the function ``home`` that it calls."""
    texts: set[str] = set()
    for call in ctx.v.calls[home.node]:
        if ctx.m.function(call) is not there:
            return None
        arg = passed(ctx, call, home, name)
        if arg is None or not isinstance(arg, (ast.Name, ast.Attribute, ast.Compare)):
            return None
        texts.add(ctx.m.src(arg))
    return texts.pop() if len(texts) == 1 else None


def passed(ctx: Context, call: ast.Call, callee: Scope, name: str) -> ast.expr | None:
    """The argument that ``call`` hands to parameter ``name``; None where it hands none (or by splat)."""
    node = callee.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    positional = [p.arg for p in (*node.args.posonlyargs, *node.args.args)]
    if name not in positional:
        return None
    index = positional.index(name) - receiver(ctx, call, callee)
    part = partial_of(ctx, call)
    if part is not None:
        given = len(part.args) - 1
        if index < given:
            return part.args[index + 1]
        for keyword in part.keywords:
            if keyword.arg == name:
                return keyword.value
        index -= given
    if 0 <= index < len(call.args) and not any(isinstance(a, ast.Starred) for a in call.args[: index + 1]):
        return call.args[index]
    return None


def receiver(ctx: Context, call: ast.Call, callee: Scope) -> int:
    """1 where the call's first parameter is filled by the object in front of the dot."""
    if ctx.m.self_name(callee) is None:
        return 0
    kinds = {o.kind for o in ctx.v.of(call.func)}
    return 0 if kinds == {"function"} else 1


def partial_of(ctx: Context, call: ast.Call) -> ast.Call | None:
    """The ``functools.partial(...)`` that ``call`` goes through, if it does."""
    for obj in ctx.v.of(call.func):
        if obj.kind == "partial":
            assert isinstance(obj.key, ast.Call)
            return obj.key
    return None
