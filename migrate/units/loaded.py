"""Whether Apex was imported, asked of Python: ``"apex" in sys.modules``."""

from __future__ import annotations

import ast

from ..facts.module import Module
from ..knowledge.apex import of_apex


def asks_loaded(expr: ast.AST) -> bool:
    """``"apex" in sys.modules``, ``"apex.amp" not in modules``."""
    match expr:
        case ast.Compare(left=ast.Constant(value=str(name)), ops=[ast.In() | ast.NotIn()], comparators=[table]):
            return of_apex(name) is not None and _is_modules(table)
        case _:
            return False


def loaded_at_once(m: Module) -> bool:
    """Whether a program imports Apex only as its files begin: then it was imported wherever that is asked."""
    later = [stmt for kind in (ast.Import, ast.ImportFrom) for stmt in m.all(kind) if m.function(stmt).is_function]
    named = [a.name for stmt in later if isinstance(stmt, ast.Import) for a in stmt.names]
    named += [stmt.module or "" for stmt in later if isinstance(stmt, ast.ImportFrom) and not stmt.level]
    return all(of_apex(name) is None for name in named)


def _is_modules(table: ast.expr) -> bool:
    return ast.unparse(table) in ("sys.modules", "modules", "sys.modules.keys()")
