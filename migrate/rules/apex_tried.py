"""The `try` around an import of Apex, with its handlers, its flags and its fallbacks."""

from __future__ import annotations

import ast

from ..facts.module import Module
from ..knowledge.apex import EXTENSIONS
from ..nodes import walk
from ..units.available import Key
from ..units.public import handed_on
from ..units.unit import Context
from .common import Work

ID = "APX010"
_NO_IMPORT = ("ImportError", "ModuleNotFoundError")


def set_in(ctx: Context, key: Key, tries: set[ast.AST]) -> bool:
    """Whether a flag is set in a try that still imports something of Apex."""
    return any(a in tries for node in ctx.m.stores(key[1], key[0]) for a in ctx.m.ancestors(node))


def told_beside(ctx: Context, doomed: dict[ast.stmt, list[ast.alias]]) -> set[Key]:
    """What such a try sets beside an import of Apex of which nothing stays, a constant here and everywhere else:
    whether Apex is there, and mostly something else as well (``if torch.cuda.is_available():`` around it)."""
    m = ctx.m
    found: set[Key] = set()
    for stmt in doomed:
        holder = m.parent[stmt]
        if not isinstance(holder, ast.Try) or len(doomed[stmt]) < len(stmt.names):  # type: ignore[attr-defined]
            continue
        for one in (*holder.body, *holder.orelse):
            match one:
                case ast.Assign(targets=[ast.Name(id=name) as target], value=ast.Constant()):
                    home = m.binding_scope(name, m.scope(target))
                    stores = [m.statement(n) for n in m.stores(name, home)]
                    if all(isinstance(s, ast.Assign) and isinstance(s.value, ast.Constant) for s in stores):
                        found.add((home, name))
    return found


def remove_flags(
    ctx: Context, work: Work, flags: set[Key], doomed: dict[ast.stmt, list[ast.alias]]
) -> set[Key]:
    """Flags that nobody reads go, and are handed back; others become a plain ``True``."""
    m, draft = ctx.m, work.draft
    dropped: set[Key] = set()
    for home, name in sorted(flags, key=lambda key: key[1]):
        reads = [
            n
            for n in m.all(ast.Name)
            if n.id == name
            and isinstance(n.ctx, ast.Load)
            and m.binding_scope(name, m.scope(n)) is home
            and not draft.gone(n)
        ]
        stores = [
            m.statement(n)
            for n in m.all(ast.Name)
            if n.id == name
            and isinstance(n.ctx, ast.Store)
            and m.binding_scope(name, m.scope(n)) is home
        ]
        exported = home is not None and ctx.exported(home.node) & {name, "*"}
        if not reads and not exported and not handed_on(ctx, home, name):
            dropped.add((home, name))
            for stmt in stores:
                if not draft.gone(stmt) and isinstance(stmt, ast.Assign) and len(stmt.targets) == 1:
                    draft.delete(stmt)
                    work.note(None, "APX011", stmt, f"{name} is no longer read")
    for stmt in doomed:
        holder = m.parent[stmt]
        served = draft.deleted(stmt) or len(doomed[stmt]) == len(stmt.names)  # type: ignore[attr-defined]
        if isinstance(holder, ast.Try) and stmt in holder.body and not draft.gone(holder) and served:
            _settle_try(ctx, work, holder, alone=len(doomed) == len(ctx.facts.imports))
    return dropped


def _settle_try(ctx: Context, work: Work, holder: ast.Try, alone: bool) -> None:
    """A try whose import went: what is left of its body cannot fail, so it stands alone. Where no other import of
    Apex is left (``alone``), so does what showed Python the way to it."""
    draft, m = work.draft, ctx.m
    for stmt in holder.body if work.sites is not None else ():
        if isinstance(stmt, ast.Import) and _asks_for_build(ctx, stmt):
            draft.delete(stmt)
            work.note(None, ID, stmt, "a module that only a build of Apex has is no longer asked for")
    rest = [s for s in (*holder.body, *holder.orelse) if not draft.deleted(s) and not (alone and _way_to_apex(m, s))]
    if not rest and not holder.finalbody:
        draft.delete(holder)
        work.note(None, ID, holder, "the guard of the import goes with it")
    elif rest and not holder.finalbody and all(
        harmless(s) or work.native_lines(s) or (s in holder.orelse and _moves(ctx, work, holder, s)) for s in rest
    ):
        lines: list[str] = []
        for before, s in zip([None, *rest], rest, strict=False):
            apart = isinstance(s, ast.Expr) and before is not None and not isinstance(before, ast.Expr)
            lines += [*([""] if apart else []), *(work.native_lines(s) or [m.src(s)])]
        draft.rewrite(holder, *lines)
    elif work.sites is not None and holder.orelse and all(map(draft.deleted, holder.body)) and not holder.finalbody:
        if _waits(work, holder):
            draft.unwrap(holder, "orelse")
            work.note(None, ID, holder, "the guard of the import goes with it")
    elif work.sites is not None and rest and not (holder.finalbody or holder.orelse or not _waits(work, holder)):
        draft.unwrap(holder)
        work.note(None, ID, holder, "the guard of the import goes with it")
        _drop_default(ctx, work, holder, rest)


def _moves(ctx: Context, work: Work, holder: ast.Try, stmt: ast.stmt) -> bool:
    """Whether a statement behind an import that cannot fail any more may stand beside it as it is."""
    untouched = work.sites is not None and not any(ctx.m.inside(use, stmt) for use in ctx.facts.uses)
    return isinstance(stmt, ast.Expr) and stmt.lineno == stmt.end_lineno and untouched and _waits(work, holder)


def _drop_default(ctx: Context, work: Work, holder: ast.Try, rest: list[ast.stmt]) -> None:
    """``USE = None`` right above ``USE = "apex"`` stood for a failed import."""
    block, index = ctx.m.place[holder]
    above = block.body[index - 1] if index else None
    if not (isinstance(above, ast.Assign) and isinstance(above.value, ast.Constant)):
        return
    told = {ast.dump(s.targets[0]) for s in rest if isinstance(s, ast.Assign) and len(s.targets) == 1}
    if len(above.targets) == 1 and ast.dump(above.targets[0]) in told and not work.draft.gone(above):
        work.draft.delete(above)
        work.note(None, "APX011", above, "its value comes right behind it")


def _way_to_apex(m: Module, stmt: ast.stmt) -> bool:
    """``sys.path.append("./apex")``: Apex lies in a folder of the repository."""
    match stmt:
        case ast.Expr(value=ast.Call(func=func, args=[*_, ast.Constant(value=str(path))])):
            shown = m.src(func) in ("sys.path.append", "sys.path.insert")
            return shown and path.rstrip("/").split("/")[-1] == "apex"
        case _:
            return False


def harmless(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Pass) or (isinstance(stmt, ast.Assign) and isinstance(stmt.value, ast.Constant))


def _asks_for_build(ctx: Context, stmt: ast.Import) -> bool:
    """Whether an import brings in nothing but modules of Apex's build, which nobody reads."""
    names = {alias.asname or alias.name for alias in stmt.names}
    read = any(isinstance(n.ctx, ast.Load) for name in names for n in ctx.m.named(name))
    return all(alias.name in EXTENSIONS for alias in stmt.names) and not read


def _waits(work: Work, holder: ast.Try) -> bool:
    """Whether a try only waits for an import to fail, and imports nothing any more but torch's."""
    kinds = [handler.type for handler in holder.handlers]
    names = [n for kind in kinds for n in (kind.elts if isinstance(kind, ast.Tuple) else [kind])]
    imports = (n for stmt in holder.body for n in walk(stmt) if isinstance(n, (ast.Import, ast.ImportFrom)))
    return all(isinstance(n, ast.Name) and n.id in _NO_IMPORT for n in names) and all(
        work.draft.gone(one) or work.native_lines(one) for one in imports
    )


def remove_fallbacks(ctx: Context, work: Work, names: set[Key]) -> None:
    """``amp = None`` before or beside the import has nothing left to stand in for."""
    m, draft = ctx.m, work.draft
    for node in m.all(ast.Assign):
        if isinstance(node.value, ast.Constant) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name) and not draft.gone(node) and node.value.value in (None, False):
                if (m.binding_scope(target.id, m.scope(target)), target.id) in names:
                    draft.delete(node)
                    work.note(None, "APX011", node, f"{target.id} is no longer read")
