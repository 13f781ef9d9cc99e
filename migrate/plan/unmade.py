"""Code with amp's state that nothing in the program runs: a class of which no object is made, a function or a method
that nobody calls.

A script often imports a file for one helper and leaves alone another that saves ``amp.state_dict()``: no optimizer
leads to the scaler there. Whoever makes such an object, or calls such a function, hands the scaler over from then on.
"""

from __future__ import annotations

import ast

from ..facts.scopes import Scope
from ..facts.sites import opened
from ..knowledge.words import Patterns
from ..units.references import escape
from ..units.unit import Context
from .home import switch

_OPTIMIZER = Patterns("*optim* opt")


def unmade(ctx: Context, scope: Scope) -> tuple[Scope, ast.Assign | None, str | None] | None:
    """What takes the scaler for the code of ``scope``: a function or method that is never called, or the constructor of
    a class that is never used, then with its statement behind which the object keeps the scaler; and the parameter
    behind which it comes, None for the last. None where somebody may run that code."""
    cls = ctx.m.class_of(scope)
    if cls is None:
        node = scope.node
        if isinstance(node, ast.FunctionDef) and isinstance(ctx.m.parent[node], ast.Module) and _unused(ctx, node):
            return scope, None, next(iter(_optimizers(scope)), None)
        return None
    if _uncalled(ctx, cls, scope):
        return scope, None, None
    init = switch.constructor(cls)
    if init is None or ctx.m.self_name(scope) is None or not _unused(ctx, cls) or ctx.v.calls[init]:
        return None
    inner = ctx.m.scope_of[init]
    kept = {arg: stmt for stmt in init.body if isinstance(stmt, ast.Assign) and (arg := _kept(ctx, inner, stmt))}
    for name in (*_optimizers(inner), *kept):
        if name in kept:
            return inner, kept[name], name if _OPTIMIZER.fit(name) else None
    return None


def _unused(ctx: Context, node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Whether a function or class is only defined, and perhaps imported."""
    bases = [] if isinstance(node, ast.FunctionDef) else [b for b in node.bases if ctx.m.src(b) != "object"]
    if node.decorator_list or bases or escape(ctx, node) is not None or node.name.startswith("test"):
        return False
    uses: list[ast.Name | ast.Attribute] = [*ctx.m.named(node.name), *ctx.m.attributes(node.name)]
    return all(_is_another(ctx, node, use) for use in uses) and not ctx.m.strings(node.name)


def _uncalled(ctx: Context, cls: ast.ClassDef, scope: Scope) -> bool:
    """Whether a method of a class of which objects are made is called on none of them, as far as all are known that it
    is called on."""
    m, node, exported = ctx.m, scope.node, ctx.exported(scope.node)
    if not isinstance(node, ast.FunctionDef) or node.decorator_list or m.self_name(scope) is None:
        return False
    init = switch.constructor(cls)
    made = any(o.kind == "class" and o.key is cls for call in m.all(ast.Call) for o in ctx.v.of(call.func))
    if not made or (init is not None and not ctx.v.calls[init]) or ctx.v.calls[node] or exported & {cls.name, "*"}:
        return False
    if any(m.class_of(m.function(text)) is not cls for text in m.strings(node.name)):
        return False
    outside = [arg for call in m.all(ast.Call) if not ctx.v.callees(call) for arg in call.args]
    if any(_is_instance(ctx, cls, arg) for arg in outside):
        return False  # whoever is handed one may call it
    return all(ctx.v.of(use.value) and not _is_instance(ctx, cls, use.value) for use in m.attributes(node.name))


def _is_instance(ctx: Context, cls: ast.ClassDef, expr: ast.expr) -> bool:
    """Whether an expression may be an object of a class, or hold one."""
    held = (o.key for o in opened(ctx.v, ctx.v.of(expr)) if o.kind == "instance")
    return any(isinstance(made, ast.ClassDef) and cls in ctx.v.order(made) for made in held)


def _is_another(ctx: Context, node: ast.AST, use: ast.Name | ast.Attribute) -> bool:
    """Whether a name of that spelling is something else: ``torch.save``, a class of that name of another file."""
    if held := ctx.v.of(use):
        return all(o.key is not node for o in held)
    root: ast.expr = use
    while isinstance(root, ast.Attribute):
        root = root.value
    imported = {alias.asname or alias.name.split(".")[0] for alias in ctx.m.all(ast.alias)}
    return root is not use and isinstance(root, ast.Name) and root.id in imported


def _optimizers(scope: Scope) -> list[str]:
    return [name for name in scope.params if _OPTIMIZER.fit(name)]


def _kept(ctx: Context, init: Scope, stmt: ast.Assign) -> str | None:
    """The parameter of a constructor that a statement puts into an attribute of the object."""
    match stmt:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=own))], value=ast.Name(id=given)):
            return given if own == ctx.m.self_name(init) and given in init.params else None
    return None
