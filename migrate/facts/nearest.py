"""Which import gave a name its value where it is read: the last one in the block, not every one of the file.

``from apex.parallel import DistributedDataParallel`` in one arm and ``from torch.nn.parallel import
DistributedDataParallel`` in the other are two classes by one name, and each arm calls its own.
"""

from __future__ import annotations

import ast

from .module import Module
from .scopes import Scope


def import_of(m: Module, use: ast.expr) -> ast.alias | None:
    """The import that surely bound the name that ``use`` begins with, where it runs just before, in the same function;
    None where another may have, or none did."""
    root = use
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return None
    name, home = root.id, m.scope(root)
    if len(m.declared(name)) < 2 or m.binding_scope(name, home) is not home or (home, name) in m.set_inside:
        return None
    given = _given(m, name, home)
    for stmt in m.spine(root):
        before = m.block(stmt).body[: m.index(stmt)]
        above = [node for node in given if isinstance(node, ast.alias) and m.parent[node] in before]
        if above:
            last = max(above, key=m.start)
            return last if not any(_between(m, node, last, root) for node in given) else None
    return None


def _given(m: Module, name: str, home: Scope) -> list[ast.AST]:
    """All that binds a name of a scope, or takes it away."""
    declared = [node for node in m.declared(name) if m.binding_scope(name, m.scope(m.statement(node))) is home]
    return [*m.bindings(name, home), *declared]


def _between(m: Module, node: ast.AST, last: ast.alias, use: ast.AST) -> bool:
    """Whether ``node`` may give the name something else behind the import and ahead of its use: it stands between, or
    in a loop that goes round to the use and not to the import."""
    if node is last:
        return False
    if m.start(last) < m.start(node) < m.start(use):
        return True
    return any(not m.inside(last, loop) and m.inside(node, loop) for loop in m.loops(use))
