"""Functions that only look something up: ``def use_amp(cfg): return HAS_APEX and cfg.get("precision") == 16``."""

from __future__ import annotations

import ast

from ..nodes import walk
from .names import called_name

_PLAIN = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.IfExp, ast.Call,
    ast.Tuple, ast.List, ast.Set, ast.expr_context, ast.boolop, ast.unaryop, ast.cmpop,
)  # fmt: skip
_LOOKS = frozenset("bool getattr hasattr isinstance len int str get".split())


def predicate(function: ast.AST) -> ast.expr | None:
    """What a function gives back that computes one answer from what it is handed, and does nothing else."""
    match function:
        case ast.FunctionDef(decorator_list=[], body=[*said, ast.Return(value=ast.expr() as value)]):
            only = all(isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) for s in said)
            return value if only and not _splats(function) and all(map(_looks_up, walk(value))) else None
        case _:
            return None


def _splats(function: ast.FunctionDef) -> bool:
    return function.args.vararg is not None or function.args.kwarg is not None


def _looks_up(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return called_name(node) in _LOOKS and not node.keywords
    return isinstance(node, _PLAIN)
