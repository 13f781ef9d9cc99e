"""A `try` that takes classes of Apex for other files alone: what it has for a missing Apex serves them now."""

from __future__ import annotations

import ast

from ..model import Severity
from ..units.unit import Context
from .common import Work

ID = "APX010"
_SAID = (
    "nobody reads these names in this file: whoever takes them from here gets what stood here for a missing Apex; look "
    "whether its defaults are the same (torch's AdamW decays by 0.01 where FusedAdam did not)"
)


def settle_own_fallbacks(ctx: Context, work: Work) -> None:
    """Leave the handler of such a ``try``, where it gives all names that the imports gave."""
    if work.sites is None or ctx.settings.keep_fused:
        return
    for holder in ctx.m.all(ast.Try):
        if not work.draft.gone(holder) and _stands_in(ctx, work, holder):
            work.draft.rewrite(holder, *(ctx.m.src(stmt) for stmt in holder.handlers[0].body))
            work.note(None, ID, holder, "the guard of the import goes with it")
            work.find(None, ID, Severity.REVIEW, holder, _SAID)


def _stands_in(ctx: Context, work: Work, holder: ast.Try) -> bool:
    if len(holder.handlers) != 1 or holder.orelse or holder.finalbody:
        return False
    taken = [s for s in holder.body if isinstance(s, (ast.Import, ast.ImportFrom)) and s in ctx.facts.imports]
    instead = holder.handlers[0].body
    names = {_local(alias) for stmt in taken for alias in stmt.names}
    same = names == {name for stmt in instead for name in _given(stmt)} and len(taken) == len(holder.body)
    plain = all(stmt.lineno == stmt.end_lineno for stmt in instead)
    amp = any(alias.name in ("amp", "apex") for stmt in taken for alias in stmt.names)
    read = any(isinstance(node.ctx, ast.Load) for name in names for node in ctx.m.named(name))
    exported = ctx.exported(holder)
    return same and plain and not (amp or read) and (names <= exported or "*" in exported)


def _given(stmt: ast.stmt) -> list[str]:
    """The names that an import, or an assignment of a name, gives; for anything else one that nothing is called."""
    match stmt:
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [_local(alias) for alias in names]
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute()):
            return [name]
        case _:
            return ["*"]


def _local(alias: ast.alias) -> str:
    return alias.asname or alias.name.split(".")[0]
