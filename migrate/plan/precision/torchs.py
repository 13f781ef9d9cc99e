"""What torch calls something that a program names: by a dotted name, or by one that an import gives it."""

from __future__ import annotations

import ast

from ...facts.module import Module
from ...facts.names import last_name
from ...facts.once import once


def torchs_name(m: Module, node: ast.expr) -> str:
    """``binary_cross_entropy`` for ``F.binary_cross_entropy``, and for ``bce`` where it is imported as that; nothing
    for what is not of torch."""
    if isinstance(node, ast.Name) and (renamed := _renamed(m, node)):
        return renamed
    return last_name(node) if of_torch(m, node) else ""


def of_torch(m: Module, func: ast.expr) -> bool:
    """Whether the first name of a dotted one is imported from torch."""
    while isinstance(func, ast.Attribute):
        func = func.value
    if not isinstance(func, ast.Name):
        return False
    names = _torchs_names(m)
    return func.id in names or "*" in names


@once
def _torchs_names(m: Module) -> frozenset[str]:
    """The names that imports from torch bind somewhere; ``*`` where one takes them all."""
    found = set[str]()
    for node in m.of(ast.Import, ast.ImportFrom):
        if isinstance(node, ast.Import):
            parts = [(alias.asname, alias.name.split(".")[0]) for alias in node.names]
            found |= {asname or top for asname, top in parts if top == "torch"}
        elif isinstance(node, ast.ImportFrom) and _from_torch(node):
            found |= {alias.asname or alias.name for alias in node.names}
    return frozenset(found)


def _renamed(m: Module, node: ast.Name) -> str:
    """What torch calls a name that it is imported by from there: of another file too, where that hands it on."""
    home = m.binding_scope(node.id, m.scope(node))
    for alias in m.declared(node.id):
        if isinstance(alias, ast.alias) and alias.asname and m.binding_scope(node.id, m.scope(alias)) is home:
            above = m.parent[alias]
            if isinstance(above, ast.ImportFrom) and _from_torch(above):
                return alias.name
    return ""


def _from_torch(node: ast.ImportFrom) -> bool:
    return bool(node.module) and str(node.module).split(".")[0] == "torch"
