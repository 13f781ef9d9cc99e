"""Names of imports that the next imports give another value: ``from apex import amp`` above ``from torch.cuda import
amp``."""

from __future__ import annotations

import ast

from .module import Module


def bound_anew(m: Module, stmt: ast.Import | ast.ImportFrom, name: str) -> bool:
    """Whether a later import of the same block binds a name that nothing but imports stands ahead of: nobody reads what
    the first one gave it."""
    block, index = m.place[stmt]
    for below in block.body[index + 1 :]:
        if not isinstance(below, (ast.Import, ast.ImportFrom)):
            return False
        whole = isinstance(below, ast.Import)
        if any((one.asname or (one.name.split(".")[0] if whole else one.name)) == name for one in below.names):
            return True
    return False
