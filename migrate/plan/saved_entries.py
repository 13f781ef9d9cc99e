"""Entries of a state that amp saved, read in ways that a GradScaler's has an answer to, and in others."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts.module import Module
from ..nodes import walk
from ..units.unit import Manual

# What a saved state calls its entries, before and after.
SAVED = {"loss_scale": "scale", "unskipped": "_growth_tracker"}


def scale_entry(m: Module, use: ast.expr) -> ast.expr | None:
    """The whole of ``amp.state_dict()["loss_scaler0"]["loss_scale"]`` around its ``amp.state_dict``."""
    entry = m.parent[m.parent[use]]
    whole = m.parent.get(entry)
    if (
        isinstance(entry, ast.Subscript)
        and entry.value is m.parent[use]
        and isinstance(whole, ast.Subscript)
        and whole.value is entry
        and isinstance(whole.ctx, ast.Load)
        and isinstance(whole.slice, ast.Constant)
        and whole.slice.value == "loss_scale"
    ):
        return whole
    return None


def all_entries(m: Module, use: ast.expr) -> tuple[ast.Call, list[ast.Subscript]] | None:
    """``amp.state_dict().values()`` that a loop goes over for the scales alone: the call, and every
    ``entry["loss_scale"]``."""
    call = m.parent[use]
    values = m.parent.get(call)
    whole = m.parent.get(values) if values is not None else None
    loop = m.parent.get(whole) if whole is not None else None
    if not (isinstance(values, ast.Attribute) and values.attr == "values" and isinstance(whole, ast.Call)):
        return None
    if not isinstance(loop, (ast.For, ast.comprehension)) or loop.iter is not whole:
        return None
    if not isinstance(loop.target, ast.Name):
        return None
    within = loop if isinstance(loop, ast.For) else m.parent[loop]
    reads: list[ast.Subscript] = []
    for node in walk(within):
        if isinstance(node, ast.Name) and node.id == loop.target.id and isinstance(node.ctx, ast.Load):
            read = m.parent[node]
            if not (isinstance(read, ast.Subscript) and isinstance(read.ctx, ast.Load)):
                return None
            if not (isinstance(read.slice, ast.Constant) and read.slice.value == "loss_scale"):
                return None
            reads.append(read)
    return whole, reads


def saved_entries(m: Module) -> Iterator[ast.Subscript]:
    """``saved["loss_scaler0"]["loss_scale"]`` and ``…["unskipped"]`` of a state that was kept."""
    for node in m.all(ast.Subscript):
        if is_saved_entry(node):
            assert isinstance(node.value, ast.Subscript)
            if not isinstance(node.value.value, ast.Call):
                yield node


def is_saved_entry(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.slice, ast.Constant)
        and node.slice.value in SAVED
        and isinstance(node.value, ast.Subscript)
        and (_constant(node.value.slice) == "loss_scaler0" or _numbered(node.value.slice))
    )


def _constant(expr: ast.expr) -> object:
    return expr.value if isinstance(expr, ast.Constant) else None


def _numbered(key: ast.expr) -> bool:
    """``"loss_scaler%d" % i`` and the other ways to write it: an entry for each loss. All of them become the one of
    the one scaler, which the report says where there are several losses."""
    match key:
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mod()):
            return text in ("loss_scaler%d", "loss_scaler%s", "loss_scaler%i")
        case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Add(), right=ast.Call(func=ast.Name(id="str"))):
            return text == "loss_scaler"
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format"), args=[_]):
            return text in ("loss_scaler{}", "loss_scaler{:d}", "loss_scaler{0}")
        case ast.JoinedStr(values=[ast.Constant(value="loss_scaler"), ast.FormattedValue()]):
            return True
        case _:
            return False


def unknown_entries(m: Module) -> Iterator[Manual]:
    """Entries of Apex's state that are read, or made, in another way."""
    for node in m.all(ast.Constant):
        if not (isinstance(node.value, str)):
            continue
        prefix, named, number = node.value.partition("loss_scaler")
        if prefix or not named or not number.isdigit():
            continue
        above = m.parent[node]
        if isinstance(above, ast.Subscript) and is_saved_entry(m.parent[above]):
            continue
        if isinstance(above, ast.Subscript) and isinstance(above.value, ast.Call) and _read(m.parent[above]):
            continue  # of the state itself: looked at there
        yield Manual(
            node,
            f'"{node.value}" is an entry of Apex\'s own state, which a GradScaler\'s does not have',
            'saved["scale"] for the loss scale of a saved state, scaler.get_scale() for the current one',
        )


def _read(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
