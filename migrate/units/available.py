"""Functions that only say whether amp is there, and names that keep what they said.

``def is_apex_available(): try: from apex import amp; found = True … return found``, ``HAS_APEX = is_apex_available()``.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from ..facts.module import Module
from ..facts.predicates import looks_for_amp
from ..facts.scopes import Scope

Key = tuple[Scope | None, str]


def kept(m: Module, constant: Callable[[ast.expr], bool | None]) -> Iterator[tuple[Key, bool]]:
    """The names of files that hold what such a function said, and nothing else."""
    for file in m.files:
        for stmt in file.tree.body:
            match stmt:
                case ast.Assign(targets=[ast.Name(id=name) as target], value=ast.Call(args=[], keywords=[]) as call):
                    scope = m.binding_scope(name, m.scope(target))
                    said = constant(call) if len(m.stores(name, scope)) == 1 else None
                    if said is not None:
                        yield (scope, name), said
                case _:
                    pass


def unasked(m: Module, gone: Callable[[ast.AST], bool]) -> Iterator[tuple[Key, ast.FunctionDef]]:
    """Functions of files that only look for amp, and of whom nothing that stays asks any more."""
    for node in (stmt for file in m.files for stmt in file.tree.body):
        if not isinstance(node, ast.FunctionDef) or looks_for_amp(node) is None:
            continue
        named = {node.name} | {c.name for c in m.copied if c.original == node.name}
        if all(gone(n) for name in named for n in m.named(name)) and not any(map(m.attributes, named)):
            yield (m.scope(node), node.name), node


def taken_unasked(
    m: Module, asks: Callable[[str], bool], gone: Callable[[ast.AST], bool]
) -> Iterator[tuple[ast.ImportFrom, list[ast.alias]]]:
    """Imports of such functions from libraries that only questions which went had asked."""
    for stmt in m.all(ast.ImportFrom):
        here = m.file(stmt)

        def unread(name: str, here: object = here) -> bool:
            reads = [n for n in m.named(name) if m.file(n) is here]
            return bool(reads) and all(map(gone, reads))

        found = [a for a in stmt.names if a.asname is None and asks(a.name) and unread(a.name)]
        if found:
            yield stmt, found
