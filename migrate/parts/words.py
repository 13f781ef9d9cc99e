"""Names of torch in a file's own words: ``nn.LayerNorm`` where the file calls ``torch.nn`` nn."""

from __future__ import annotations

import ast

from ..facts.files import File
from ..facts.module import Module
from ..rewrite.templates import Templates


def native(m: Module, file: File, templates: Templates, dotted: str) -> str:
    """How a file spells a dotted name of torch: by the longest part of it that the file has a name for. Any other name
    is what it is."""
    if not dotted.startswith("torch."):
        return dotted
    known = _called(m, file)
    part, behind = dotted, list[str]()
    while part != "torch":
        if part in known:
            return ".".join([known[part], *behind])
        part, _, last = part.rpartition(".")
        behind.insert(0, last)
    return ".".join([templates.torch, *behind])


def _called(m: Module, file: File) -> dict[str, str]:
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
