"""Functions of a file that a second one of the same name replaces before anything can call them.

Research code grows by a new version below the old one: two ``def load_checkpoint`` in one ``utils.py``, of which
all other files take the second.
"""

from __future__ import annotations

import ast

from ..facts.module import Module


def replaced(m: Module, node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a later function takes a file's name from this one, and nothing ran between the two that may use it.

    What is decorated may be known to its decorator, and code of the file's own level that calls may call it.
    """
    block, index = m.place[node]
    if not isinstance(block.owner, ast.Module) or node.decorator_list or len(m.defined(node.name)) < 2:
        return False
    for stmt in block.body[index + 1 :]:
        if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef)) and stmt.name == node.name:
            return not _reads(m, stmt, node.name)
        if _reads(m, stmt, node.name):
            return False
    return False


def _reads(m: Module, stmt: ast.stmt, name: str) -> bool:
    """Whether a statement of a file's own level, run once, uses a name or calls a function of the file."""
    home = m.scope(stmt)
    todo: list[ast.AST] = [stmt]
    while todo:
        node = todo.pop()
        match node:
            case ast.Name(id=used) if used == name:
                return True
            case ast.Call(func=ast.Name(id=called)) if called in home.assigned:
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                todo += [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)]
                continue
            case ast.Lambda():
                continue
            case _:
                todo += ast.iter_child_nodes(node)
    return False
