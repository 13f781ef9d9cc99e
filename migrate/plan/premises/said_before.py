"""A parameter that says that who calls a function initialized amp itself: ``if do_apex and not apexed: initialize``.

With Apex the loss was scaled then as well, by what the caller had begun; the scaler that is made here would be off."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from ...facts.scopes import Scope
from ...facts.sites import Initialize
from ...flow.arguments import default_of
from ...units.translate import passed
from ...units.unit import Context, Manual, Unit

_BEFORE = re.compile(r"(?i)initiali[sz]ed|apexed|amped|already")


def check_said_before(ctx: Context, unit: Unit) -> None:
    """Raise Manual where such a parameter may be handed in true, by code that is not read here or by a call that is."""
    for init in unit.initializes:
        scope = ctx.m.function(init.call)
        name = _said(ctx, init)
        calls = ctx.v.calls[scope.node] if name is not None else []
        if name is None or (calls and all(_says_no(ctx, call, scope, name.id) for call in calls)):
            continue
        function = getattr(scope.node, "name", "this function")
        raise Manual(
            name,
            f"where {name.id} is handed in true, who calls {function}() initialized amp itself and the loss is scaled "
            "by that; the scaler that is made here would be off then",
            f"scaler = torch.amp.GradScaler(…, enabled=…) at the top of {function}() for both cases, and no "
            "amp.initialize in what calls it",
        )


def _said(ctx: Context, init: Initialize) -> ast.Name | None:
    """The parameter, as the condition around an ``initialize`` asks for it; None where there is none, or where no loss
    is scaled in that function once it holds."""
    m = ctx.m
    scope = m.function(init.call)
    sites = [site.call for site in ctx.facts.scales if m.function(site.call) is scope]
    for guard in _guards(ctx, init.call) if scope.is_function else ():
        for name in map(_denied, _conjuncts(guard.test)):
            if name is not None and name.id in scope.params and _told(ctx, guard, name):
                if any(not _only_without(ctx, site, name.id) for site in sites):
                    return name
    return None


def _guards(ctx: Context, node: ast.AST) -> Iterator[ast.If]:
    """The conditions of its function under whose first arm a node stands."""
    for guard in ctx.m.spine(node):
        if isinstance(guard, ast.If) and any(ctx.m.inside(node, stmt) for stmt in guard.body):
            yield guard


def _conjuncts(test: ast.expr) -> Sequence[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _denied(part: ast.expr) -> ast.Name | None:
    match part:
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name() as name):
            return name
        case _:
            return None


def _told(ctx: Context, guard: ast.If, name: ast.Name) -> bool:
    """Whether a parameter that is denied says that amp was initialized: it is set beside that, or its name says so."""
    above = [ctx.m.parent[store] for store in ctx.m.stores(name.id, ctx.m.function(name))]
    if not above:
        return _BEFORE.search(name.id) is not None
    set_there = [s for s in above if isinstance(s, ast.Assign) and s in guard.body]
    return len(set_there) == len(above) and all(ast.unparse(s.value) == "True" for s in set_there)


def _only_without(ctx: Context, site: ast.AST, name: str) -> bool:
    """Whether a loss is scaled only where a parameter does not hold."""
    denied = (_denied(one) for guard in _guards(ctx, site) for one in _conjuncts(guard.test))
    return any(one is not None and one.id == name for one in denied)


def _says_no(ctx: Context, call: ast.Call, scope: Scope, name: str) -> bool:
    """Whether a call hands a parameter what is not true, or leaves it to a default that is not."""
    handed = passed(ctx, call, scope, name) or default_of(scope.node, name)
    return isinstance(handed, ast.Constant) and not handed.value
