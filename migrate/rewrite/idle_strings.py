"""Strings that stand as statements, as comments: nobody reads them, so their lines move with the code around."""

from __future__ import annotations

import ast
import re

from ..nodes import walk

_BEGINS = re.compile(r"^[ \t]+[rRuU]?(?:\"\"\"|''')", re.M)
_DESCRIBED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def idle_string_lines(text: str) -> frozenset[int]:
    """The lines of a text that begin within a string which is a statement by itself; docstrings are none."""
    if not _BEGINS.search(text):
        return frozenset()
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    found = set[int]()
    for node in walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if not isinstance(block, list):
                continue
            for at, stmt in enumerate(block):
                described = at == 0 and isinstance(node, _DESCRIBED)
                match stmt:
                    case ast.Expr(value=ast.Constant(value=str()) as string) if not described:
                        found.update(range(string.lineno + 1, (string.end_lineno or string.lineno) + 1))
    return frozenset(found)
