"""`import torch`, where the file has no name for it."""

from __future__ import annotations

import ast

from ..units.unit import Context
from .common import Work

ID = "APX010"


def add_torch(ctx: Context, work: Work) -> None:
    """``import torch`` for each file that had no name for it."""
    for file in ctx.m.files:
        if work.templates[file.number].needs_import:
            _add_torch_to(file.tree.body, work)


def _add_torch_to(body: list[ast.stmt], work: Work) -> None:
    top = [s for s in _ahead(body) if isinstance(s, (ast.Import, ast.ImportFrom))]
    top = [s for s in top if not (isinstance(s, ast.ImportFrom) and s.module == "__future__")]
    near = [s for s in top if _mentions_torch(s)]
    if near:
        work.draft.before(near[0], "import torch")
        work.note(None, ID, near[0], "import torch is added")
    elif top:
        live = [s for s in top if not work.draft.gone(s)] or top
        outside = [s for s in live if not (isinstance(s, ast.ImportFrom) and s.level)]
        anchor = outside[-1] if outside else live[0]
        if outside:
            work.draft.after(anchor, "import torch")
        else:  # all of them are of the file's own package, which comes last
            work.draft.before(anchor, "import torch", "")
        work.note(None, ID, anchor, "import torch is added")
    else:
        first = body[0]
        future = [s for s in body if isinstance(s, ast.ImportFrom)]
        if future:
            work.draft.after(future[-1], "import torch")
        else:
            first = body[1] if _is_text(first) and len(body) > 1 else first
            apart = 2 if isinstance(first, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else 1
            work.draft.before(first, "import torch", *[""] * apart)
        work.note(None, ID, first, "import torch is added")


def _ahead(body: list[ast.stmt]) -> list[ast.stmt]:
    """What stands ahead of the first class or function: what is written for a class of Apex stands there, too."""
    made = (n for n, s in enumerate(body) if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)))
    return body[: next(made, len(body))]


def _is_text(stmt: ast.stmt) -> bool:
    return isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Constant) and isinstance(stmt.value.value, str)


def _mentions_torch(stmt: ast.Import | ast.ImportFrom) -> bool:
    if isinstance(stmt, ast.ImportFrom):
        return (stmt.module or "").split(".")[0] == "torch" and stmt.level == 0
    return any(a.name.split(".")[0] == "torch" for a in stmt.names)
