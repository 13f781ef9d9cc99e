"""Decorators of packages that are not in the tree: ``@S.inject`` over a training step, ``@profiler.trace()``.

What they do is not read. Where all calls of the function in the program hand it all that it asks for, it is taken to be
called with these arguments, and to hand on one more; the unit is *review*. One that hands the function to somebody who
calls it by himself (a registry, a hook, a command line) calls it without that argument.
"""

from __future__ import annotations

import ast

from ...facts.names import called_name
from ...facts.scopes import Scope
from ...knowledge.words import Patterns
from ...nodes import required
from ...units.translate import passed
from ...units.unit import Context, Unit

# Who calls what it decorates by himself, or reads its source.
_CALLS = Patterns(
    "*regist* *hook* *callback* *handler* on on_* *event* *task* *command* *fixture* *route* *listen* *subscri*",
    "*click* *job* *export* *script* *compile* *dispatch* *cache* jit trace main option argument capture",
)


def handed_on(ctx: Context, unit: Unit, scope: Scope, decorator: ast.expr) -> bool:
    """Whether a decorator of another package may be taken to hand on what its function is called with; it is told."""
    node = scope.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    if any(_CALLS.fit(part) for part in _spelled(decorator)) or not _foreign(ctx, decorator):
        return False
    calls = ctx.v.calls[node]
    if not calls or not all(_complete(ctx, call, scope) for call in calls):
        return False
    unit.review(
        decorator,
        "APX022",
        f"`{ctx.m.src(decorator)}` is not in this tree: it is taken to call {node.name}() with the arguments of each "
        "call, of which the scaler is one more now",
    )
    return True


def _spelled(decorator: ast.expr) -> list[str]:
    """The names along ``S.inject(…)``."""
    func = decorator.func if isinstance(decorator, ast.Call) else decorator
    found = [called_name(decorator) or ""]
    while isinstance(func, ast.Attribute):
        found.append(func.attr)
        func = func.value
    return [*found, func.id] if isinstance(func, ast.Name) else found


def _foreign(ctx: Context, decorator: ast.expr) -> bool:
    """Whether a decorator is a name, or of a name, that the file imports from outside of the tree."""
    root = decorator.func if isinstance(decorator, ast.Call) else decorator
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    m, home = ctx.m, ctx.m.file(decorator)
    known = ctx.v.of(root) or any(o.kind != "call" for o in ctx.v.of(decorator))
    if known or m.binding_scope(root.id, m.scope(root)) is not home.scope:
        return False
    aliases = [one for one in m.declared(root.id) if m.file(one) is home]
    own = ctx.own[home.number] if ctx.own else frozenset()
    return len(aliases) == 1 and isinstance(aliases[0], ast.alias) and not _means(ctx, aliases[0]) & own


def _means(ctx: Context, alias: ast.alias) -> set[str]:
    """The dotted names of modules that an import may mean."""
    stmt = ctx.m.parent[alias]
    if not isinstance(stmt, ast.ImportFrom):
        return {alias.name, alias.name.split(".")[0]}
    module = "." * stmt.level + (stmt.module or "")
    return {module, f"{module}{'' if module.endswith('.') else '.'}{alias.name}"}


def _complete(ctx: Context, call: ast.Call, scope: Scope) -> bool:
    """Whether a call hands a function all that it asks for, each by its own."""
    node = scope.node
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return False
    args = node.args
    asked = required(node)
    asked += [p.arg for p, default in zip(args.kwonlyargs, args.kw_defaults, strict=True) if default is None]
    own = ctx.m.self_name(scope)
    return all(name == own or passed(ctx, call, scope, name) is not None for name in asked)
