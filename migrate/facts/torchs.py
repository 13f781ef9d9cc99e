"""What a file calls modules, classes and functions of torch."""

from __future__ import annotations

import ast

from .files import File
from .module import Module


def called(m: Module, file: File) -> dict[str, str]:
    """The names that a file's own level gives to modules of torch, where nothing else takes them."""
    found: dict[str, str] = {}
    for stmt in file.tree.body:
        if isinstance(stmt, ast.Import):
            pairs = [(alias.name, alias.asname) for alias in stmt.names if alias.asname]
        elif isinstance(stmt, ast.ImportFrom) and stmt.level == 0 and stmt.module:
            pairs = [(f"{stmt.module}.{alias.name}", alias.asname or alias.name) for alias in stmt.names]
        else:
            continue
        for dotted, local in pairs:
            if local and dotted.startswith("torch.") and not _taken(m, file, local):
                found.setdefault(dotted, local)
    return found


def _taken(m: Module, file: File, name: str) -> bool:
    """Whether a name is given another value somewhere in the file."""
    return any(m.file(node) is file for node in m.named(name) if isinstance(node.ctx, ast.Store)) or any(
        name in scope.names for scope in m.scope_of.values() if scope is not file.scope and m.root(scope) is file.scope
    )


def spelled_out(m: Module, file: File, tree: ast.AST) -> str:
    """A piece of a file with names of torch in full, so that ``nn.Linear(2, 2)`` and ``torch.nn.Linear(2, 2)`` are the
    same."""
    local = {name: dotted for dotted, name in called(m, file).items()}
    return ast.dump(_InFull(local).visit(tree))


class _InFull(ast.NodeTransformer):
    def __init__(self, local: dict[str, str]) -> None:
        self.local = local

    def visit_Name(self, node: ast.Name) -> ast.expr:
        dotted = self.local.get(node.id)
        return node if dotted is None else ast.parse(dotted, mode="eval").body
