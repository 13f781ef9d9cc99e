"""Uses of amp where no import reaches: Apex's name is bound in another function only (`facts/lifted.py`).

A trainer that imports amp in its ``__init__`` and scales the loss in another method stops there with a NameError. What
such a line is to do is plain, and it does so once it is migrated, which is said.
"""

from __future__ import annotations

import ast

from ...knowledge.apex import of_apex
from ...units.unit import Context, Unit


def check_bound(ctx: Context, unit: Unit) -> None:
    """Name the uses of amp that have no value in the legacy code, once a file."""
    for name in {ctx.m.file(n).number: n for n in reversed(ctx.m.lifted)}.values():
        there = next(s for s in ctx.facts.imports if ctx.m.file(s) is ctx.m.file(name) and _binds(s, name.id))
        unit.review(
            name,
            "APX010",
            f"`{name.id}` has no value here, a NameError{_but_for(ctx, name)}: Apex's is imported inside of another "
            f"function (line {there.lineno}); what is written in its place runs",
        )


def _but_for(ctx: Context, name: ast.Name) -> str:
    """What else may give a name a value."""
    file = ctx.m.file(name)
    for stmt in ctx.m.all(ast.ImportFrom):
        if ctx.m.file(stmt) is file and of_apex(stmt.module or "") is None and stmt.names[0].name == "*":
            return f" (unless `{ctx.m.src(stmt)}` brings one)"
    return ""


def asked_elsewhere(ctx: Context, stmt: ast.stmt, name: str) -> bool:
    """Whether an import of one function binds a name that others of its file read, where it has no value."""
    file = ctx.m.file(stmt)
    return any(
        n.id == name and ctx.m.file(n) is file and ctx.m.binding_scope(n.id, ctx.m.scope(n)) is None
        for n in ctx.facts.spelled
    )


def _binds(stmt: ast.stmt, name: str) -> bool:
    names = stmt.names if isinstance(stmt, (ast.Import, ast.ImportFrom)) else []
    return any((alias.asname or alias.name.split(".")[0]) == name for alias in names)
