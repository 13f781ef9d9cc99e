"""Functions that only look something up: ``def use_amp(cfg): return HAS_APEX and cfg.get("precision") == 16``, or only
whether amp can be imported."""

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
    return told(function) if isinstance(function, ast.FunctionDef) and not function.decorator_list else None


def told(function: ast.FunctionDef) -> ast.expr | None:
    """The same of one that may be decorated, such as a property."""
    match function.body:
        case [*said, ast.Return(value=ast.expr() as value)]:
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


def looks_for_amp(function: ast.AST) -> bool | None:
    """What a function says where amp can be imported that does nothing else than to try; None for any other:
    ``try: from apex import amp; found = True; except ImportError: found = False; return found``."""
    if not isinstance(function, ast.FunctionDef) or function.decorator_list or function.args.args:
        return None
    held: dict[str, bool] = {}
    tried = False
    for stmt in function.body:
        match stmt:
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=bool() as value)):
                held[name] = value
            case ast.Try(body=[first, *rest], finalbody=[]) if not tried and _brings_amp(first):
                tried = True
                for line in (*rest, *stmt.orelse):
                    match line:
                        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=bool() as value)):
                            held[name] = value
                        case ast.Return(value=ast.Constant(value=bool() as value)):
                            return value if _only_said(stmt.handlers) else None
                        case _:
                            return None
                if not _only_said(stmt.handlers):
                    return None
            case ast.Return(value=ast.Name(id=name)):
                return held.get(name) if tried else None
            case _:
                return None
    return None


def _brings_amp(stmt: ast.stmt) -> bool:
    match stmt:
        case ast.ImportFrom(module="apex", names=[ast.alias(name="amp")]) | ast.ImportFrom(module="apex.amp"):
            return True
        case ast.Import(names=[ast.alias(name="apex" | "apex.amp")]):
            return True
        case _:
            return False


def _only_said(handlers: list[ast.ExceptHandler]) -> bool:
    """Whether handlers only say that something is not there."""
    said = (ast.Assign, ast.Return, ast.Pass)
    values = [getattr(line, "value", None) for handler in handlers for line in handler.body if isinstance(line, said)]
    whole = len(values) == sum(len(handler.body) for handler in handlers)
    return whole and all(value is None or isinstance(value, ast.Constant) for value in values)
