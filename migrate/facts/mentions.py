"""Where a file that was not followed imports Apex and uses what it took from there, by names alone."""

from __future__ import annotations

import ast

from ..knowledge.apex import of_apex
from ..nodes import walk
from .text import parsed


def mentions(text: str) -> tuple[int, ...]:
    """The lines, in order; none where the text does not parse."""
    tree = parsed(text)
    if tree is None:
        return ()
    nodes = list(walk(tree))
    lines: set[int] = set()
    names: set[str] = set()
    for node in nodes:
        match node:
            case ast.Import(names=aliases):
                taken = [alias for alias in aliases if of_apex(alias.name) is not None]
            case ast.ImportFrom(module=str() as module, names=aliases, level=0) if of_apex(module) is not None:
                taken = aliases
            case _:
                continue
        names |= {alias.asname or alias.name.split(".")[0] for alias in taken}
        lines |= {node.lineno for _ in taken}
    lines |= {node.lineno for node in nodes if isinstance(node, ast.Name) and node.id in names}
    return tuple(sorted(lines))
