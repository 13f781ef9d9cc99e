"""Imports of Python's own modules that only what went has read: ``import importlib.util`` of ``find_spec("apex")``."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence

from ..check.compiles import parse
from ..nodes import walk
from ..units.public import listed
from ..units.unit import Context


def idle_imports(ctx: Context, new: Sequence[str]) -> Iterator[tuple[ast.Import | ast.ImportFrom, list[ast.alias]]]:
    """Imports whose names were read in the old texts and are not in the ``new`` ones. Only such as change nothing by
    being imported, and that nobody takes from their file."""
    m = ctx.m
    for file in m.files:
        if new[file.number] == file.text:
            continue
        now = parse(new[file.number])
        assert now is not None  # as it has passed the checks
        read, texts = _read(now), _texts(now)
        before = _read(file.tree)
        starred = any(file.scope in scope.stars for scope in m.scope_of.values())
        for stmt in (n for n in walk(file.tree) if isinstance(n, (ast.Import, ast.ImportFrom))):
            if starred or isinstance(m.parent[stmt], ast.Try) or not _own(stmt):
                continue
            gone = [
                alias
                for alias in stmt.names
                if (name := alias.asname or alias.name.split(".")[0]) in before - read
                and not any(re.search(rf"\b{re.escape(name)}\b", text) for text in texts)
                and not (ctx.exported(stmt) & {name, "*"} or listed(ctx, file.scope, name) or _taken(ctx, stmt, name))
            ]
            if gone:
                yield stmt, gone


def _own(stmt: ast.Import | ast.ImportFrom) -> bool:
    """Whether an import is of Python's own modules alone."""
    if isinstance(stmt, ast.ImportFrom):
        modules = [stmt.module or ""] if not stmt.level else [""]
    else:
        modules = [alias.name for alias in stmt.names]
    return all(
        name.split(".")[0] in sys.stdlib_module_names - {"__future__", "this", "antigravity"} for name in modules
    )


def _read(tree: ast.AST) -> set[str]:
    """The names that a text reads, or says without giving them a value."""
    return {n.id for n in walk(tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Store)}


def _texts(tree: ast.AST) -> list[str]:
    """What might be code in quotes: annotations, what `eval` runs."""
    return [
        n.value for n in walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str) and len(n.value) < 200
    ]


def _taken(ctx: Context, stmt: ast.stmt, name: str) -> bool:
    """Whether another file of the program takes a name from this one."""
    home = ctx.m.file(stmt).scope
    if any(c.source is home and c.original == name for c in ctx.m.copied):
        return True
    return any(scope.linked.get(name) is home for scope in ctx.m.scope_of.values() if scope is not home)
