"""The last name of what a piece of syntax refers to."""

from __future__ import annotations

import ast


def last_name(expr: ast.AST) -> str:
    """``c`` of ``a.b.c``; nothing of what is no dotted name."""
    return expr.attr if isinstance(expr, ast.Attribute) else getattr(expr, "id", "")


def is_none(expr: ast.AST) -> bool:
    """Whether ``None`` is written there."""
    return isinstance(expr, ast.Constant) and expr.value is None


def root_name(expr: ast.AST) -> str:
    """``a`` of ``a.b["c"].d``; nothing of what begins with something else."""
    while isinstance(expr, (ast.Attribute, ast.Subscript)):
        expr = expr.value
    return expr.id if isinstance(expr, ast.Name) else ""


def is_property(function: ast.AST) -> bool:
    """Whether reading an attribute of this name runs a function."""
    return any(last_name(d) in ("property", "cached_property") for d in getattr(function, "decorator_list", ()))


def is_setter(function: ast.AST) -> bool:
    """Whether an assignment to an attribute of this name runs a function."""
    return any(isinstance(d, ast.Attribute) and d.attr == "setter" for d in getattr(function, "decorator_list", ()))


def imports_apex(node: ast.Import | ast.ImportFrom) -> bool:
    """Whether a statement imports Apex, or a part of it."""
    if isinstance(node, ast.ImportFrom):
        return node.level == 0 and (node.module or "").split(".")[0] == "apex"
    return any(a.name.split(".")[0] == "apex" for a in node.names)


def called_name(expr: ast.AST) -> str:
    """``c`` of ``a.b.c(…)``; a decorator or a context need not be called, then its own."""
    return last_name(expr.func if isinstance(expr, ast.Call) else expr)


def makes_context(function: ast.AST) -> bool:
    """Whether a decorator makes a context manager of a generator."""
    marks = getattr(function, "decorator_list", ())
    return any(last_name(mark) in ("contextmanager", "asynccontextmanager") for mark in marks)
