"""Uses of amp that a file has from another one which is not read with it: by a star, or by amp's name."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from ..knowledge.apex import ONLY_AMP_OF_APEX
from .module import Module
from .sites import Facts


def amp_of_others(m: Module, facts: Facts, own: Sequence[Collection[str]]) -> list[ast.Name]:
    """Names called ``amp`` that are asked for what only Apex's has, and whose value an import of another file of the
    tree gives; ``own`` are the imports of each file that lead to some (empty where amp is settled already)."""
    return [
        name
        for name in (m.named("amp") if own else ())
        if isinstance(above := m.parent[name], ast.Attribute)
        and above.attr in ONLY_AMP_OF_APEX
        and above not in facts.uses
        and name not in facts.uses
        and _given(m, name, own[m.file(name).number])
    ]


def _given(m: Module, name: ast.Name, own: Collection[str]) -> bool:
    home = m.binding_scope(name.id, m.scope(name))
    taken = "*" if home is None else name.id
    for stmt in m.all(ast.ImportFrom):
        dotted = f"{'.' * stmt.level}{stmt.module or ''}"
        if m.file(stmt) is not m.file(name) or dotted not in own:
            continue
        module = f"{dotted}{'' if dotted.endswith('.') else '.'}{name.id}" in own  # a file called amp
        if not module and any(taken == (alias.asname or alias.name) for alias in stmt.names):
            return True
    return False
