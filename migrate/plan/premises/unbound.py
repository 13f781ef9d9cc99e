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
    m = ctx.m
    for name in ctx.facts.spelled:
        above = m.parent[name]
        if not isinstance(above, ast.Attribute) or above.attr not in _OF_AMP:
            continue
        if m.binding_scope(name.id, m.scope(name)) is not None or _starred(ctx, name):
            continue
        there = next(s for s in ctx.facts.imports if m.file(s) is m.file(name) and _binds(s, name.id))
        raise Manual(
            name,
            f"`{name.id}` has no value here, a NameError: Apex's is imported inside of another function "
            f"(line {there.lineno})",
            f"{m.src(there)} at the top of the file, and run again",
        )


def _binds(stmt: ast.stmt, name: str) -> bool:
    names = stmt.names if isinstance(stmt, (ast.Import, ast.ImportFrom)) else []
    return any((alias.asname or alias.name.split(".")[0]) == name for alias in names)


def _starred(ctx: Context, name: ast.Name) -> bool:
    """Whether a star may give a file the name."""
    stars = (s for s in ctx.m.all(ast.ImportFrom) if ctx.m.file(s) is ctx.m.file(name))
    return any(alias.name == "*" and of_apex(s.module or "") is None for s in stars for alias in s.names)
