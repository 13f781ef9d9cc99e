"""Files that a run may begin with: those that do something when they are loaded."""

from __future__ import annotations

import ast

from .facts.text import parsed

_DEFINES = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign)
_NOTHING = (ast.Pass, ast.Raise, ast.Global)


def begins_nothing(text: str) -> bool:
    """Whether a file only defines what others may import, and no tests: no run begins with it."""
    tree = parsed(text)
    if tree is None:
        return False
    return _defines_alone(tree.body) and any(isinstance(one, (ast.FunctionDef, ast.ClassDef)) for one in tree.body)


def _defines_alone(body: list[ast.stmt]) -> bool:
    for stmt in body:
        match stmt:
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if name.lower().startswith("test"):
                return False
            case ast.If(test=test):
                named = any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(test))
                if named or not _defines_alone([*stmt.body, *stmt.orelse]):
                    return False
            case ast.Try():
                handled = [inner for handler in stmt.handlers for inner in handler.body]
                if not _defines_alone([*stmt.body, *handled, *stmt.orelse, *stmt.finalbody]):
                    return False
            case _ if not isinstance(stmt, (*_DEFINES, *_NOTHING)):
                return False
    return True
