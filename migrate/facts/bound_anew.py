"""Names of imports that the next imports give another value: ``from apex import amp`` above ``from torch.cuda import
amp``."""

from __future__ import annotations

import ast
from itertools import takewhile

from .module import Module
from .once import once


def bound_anew(m: Module, stmt: ast.Import | ast.ImportFrom, name: str) -> bool:
    """Whether a later import of the same block binds a name that nothing but imports stands ahead of: nobody reads what
    the first one gave it."""
    return _last(m)[stmt].get(name, -1) > m.index(stmt)


@once
def _last(m: Module) -> dict[ast.stmt, dict[str, int]]:
    """For each import the names that those in one row with it bind, with the place of the last one that does."""
    found: dict[ast.stmt, dict[str, int]] = {}
    for stmt in (*m.all(ast.Import), *m.all(ast.ImportFrom)):
        if stmt not in found:
            block, index = m.place[stmt]
            row = [*reversed([*takewhile(_imports, reversed(block.body[:index]))])]
            row += takewhile(_imports, block.body[index:])
            last: dict[str, int] = {}
            for one in row:
                last.update(dict.fromkeys(_bound(one), m.index(one)))
            found.update(dict.fromkeys(row, last))
    return found


def _imports(stmt: ast.stmt) -> bool:
    return isinstance(stmt, (ast.Import, ast.ImportFrom))


def _bound(stmt: ast.stmt) -> list[str]:
    """The names that an import binds."""
    assert isinstance(stmt, (ast.Import, ast.ImportFrom))
    whole = isinstance(stmt, ast.Import)
    return [one.asname or (one.name.split(".")[0] if whole else one.name) for one in stmt.names]
