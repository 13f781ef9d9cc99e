"""What the names of a loop's target go through."""

from __future__ import annotations

import ast

from ..nodes import walk


def gone_through(target: ast.expr, source: ast.expr, name: str) -> ast.expr:
    """What a name of a loop's target goes through: its own one of those that ``zip`` and ``enumerate`` join."""
    made = source.func.id if isinstance(source, ast.Call) and isinstance(source.func, ast.Name) else ""
    if not isinstance(source, ast.Call) or not isinstance(target, (ast.Tuple, ast.List)):
        return source
    pairs = list(zip(target.elts, source.args, strict=False)) if made == "zip" else []
    if made == "enumerate" and len(target.elts) == 2 and source.args:
        pairs = [(target.elts[1], source.args[0])]
    for one, given in pairs:
        if name in {n.id for n in walk(one) if isinstance(n, ast.Name)}:
            return gone_through(one, given, name)
    return source
