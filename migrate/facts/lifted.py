"""Names of Apex that one function imports and another reads, where they have no value: a NameError.

A trainer imports amp in its ``__init__``, under ``if args.fp16``, and scales the loss in another method. What that line
is to do is plain, so the program is read as if the import were the file's own (``global amp``), and the plan says so.
Where a star may give the file any name, that holds for what only amp has.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..knowledge.apex import of_apex
from .scopes import Scope
from .syntax import Syntax

_AMPS_ALONE = frozenset(("initialize", "scale_loss", "master_params"))  # nothing else is asked for these
_OF_AMP = _AMPS_ALONE | {"state_dict", "load_state_dict"}


def lift(m: Syntax, root: Scope, nodes: Sequence[ast.AST]) -> list[ast.Name]:
    """Give a file's own scope the names of amp that functions import for others; the reads that had no value."""
    inner = [n for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom)) and m.scope(n) is not root]
    bound = [(name, stmt) for stmt in inner for name in _bound(stmt)]
    if not bound:
        return []
    asked = _AMPS_ALONE if any(_star(n) for n in nodes) else _OF_AMP
    names = {name for name, _ in bound}
    read = [n for n in nodes if isinstance(n, ast.Name) and n.id in names and isinstance(n.ctx, ast.Load)]
    lost = [n for n in read if m.binding_scope(n.id, m.scope(n)) is None]
    lifted = {n.id for n in lost if _asks_amp(m, n, asked)}
    for name, stmt in bound:
        if name in lifted and m.scope(stmt).is_function:
            m.scope(stmt).outer.add(name)
            m.scope(stmt).globals.add(name)
            root.bind(name)
    return [n for n in lost if n.id in lifted and root.binds(n.id)]


def _bound(stmt: ast.Import | ast.ImportFrom) -> list[str]:
    """What an import binds to Apex or its amp."""
    if isinstance(stmt, ast.Import):
        return [a.asname or "apex" for a in stmt.names if a.name in ("apex", "apex.amp")]
    return [a.asname or a.name for a in stmt.names if (stmt.module, a.name, stmt.level) == ("apex", "amp", 0)]


def _star(node: ast.AST) -> bool:
    """Whether an import may give the file any name."""
    stars = isinstance(node, ast.ImportFrom) and of_apex(node.module or "") is None
    return stars and any(alias.name == "*" for alias in node.names)  # type: ignore[attr-defined]


def _asks_amp(m: Syntax, name: ast.Name, asked: frozenset[str]) -> bool:
    """Whether what is read of a name is one of some functions: ``amp.scale_loss``, ``apex.amp.scale_loss``."""
    above = m.parent[name]
    if isinstance(above, ast.Attribute) and above.attr == "amp":
        above = m.parent[above]
    return isinstance(above, ast.Attribute) and above.attr in asked
