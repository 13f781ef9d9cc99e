"""Uses of amp where no import reaches: Apex's name is bound in another function only.

A trainer that imports amp in its ``__init__`` and scales the loss in another method stops there with a NameError. What
such a line would do is plain, but nothing but an import of the whole file makes it do so.
"""

from __future__ import annotations

import ast

from ...knowledge.apex import of_apex
from ...units.unit import Context, Manual

_OF_AMP = frozenset(("initialize", "scale_loss", "master_params", "state_dict", "load_state_dict"))


def check_bound(ctx: Context) -> None:
    """Raise Manual at the first use of a name that only another function of its file has from Apex."""
    for name in ctx.facts.spelled:
        if (said := unbound_amp(ctx, name)) is not None:
            raise Manual(name, *said)


def unbound_amp(ctx: Context, site: ast.AST) -> tuple[str, str] | None:
    """What is to be said of a use of amp that has no value, or of the import that gives it none, and what would."""
    if isinstance(site, (ast.Import, ast.ImportFrom)):
        read = [n for n in ctx.facts.spelled if _binds(site, n.id) and ctx.m.file(n) is ctx.m.file(site)]
        return next((told for n in read if (told := unbound_amp(ctx, n)) is not None), None)
    above = ctx.m.parent[site]
    if not isinstance(site, ast.Name) or not isinstance(above, ast.Attribute) or above.attr not in _OF_AMP:
        return None
    if site not in ctx.facts.spelled or not _unbound(ctx, site):
        return None
    there = next(s for s in ctx.facts.imports if ctx.m.file(s) is ctx.m.file(site) and _binds(s, site.id))
    said = (
        f"`{site.id}` has no value here, a NameError: Apex's is imported inside of another function "
        f"(line {there.lineno})"
    )
    return said, f"{ctx.m.src(there)} at the top of the file, and run again"


def asked_elsewhere(ctx: Context, stmt: ast.stmt, name: str) -> bool:
    """Whether an import of one function binds a name that others of its file read, where it has no value."""
    file = ctx.m.file(stmt)
    return any(n.id == name and ctx.m.file(n) is file and _unbound(ctx, n) for n in ctx.facts.spelled)


def _unbound(ctx: Context, name: ast.Name) -> bool:
    return ctx.m.binding_scope(name.id, ctx.m.scope(name)) is None and not _starred(ctx, name)


def _binds(stmt: ast.stmt, name: str) -> bool:
    names = stmt.names if isinstance(stmt, (ast.Import, ast.ImportFrom)) else []
    return any((alias.asname or alias.name.split(".")[0]) == name for alias in names)


def _starred(ctx: Context, name: ast.Name) -> bool:
    """Whether a star may give a file the name."""
    stars = (s for s in ctx.m.all(ast.ImportFrom) if ctx.m.file(s) is ctx.m.file(name))
    return any(alias.name == "*" and of_apex(s.module or "") is None for s in stars for alias in s.names)
