"""Masks with numbers that float16 has not, and products that they are added to in place, as far as the text of a file
tells: which files have to be read together to know."""

from __future__ import annotations

import ast
import re

from ..knowledge.operations import FILLS, NATIVE_HALF
from ..nodes import walk
from .names import called_name
from .stores import Function, own
from .text import parsed

_FAR = rb"(?:\d+(?:\.\d*)?e\+?(?:[5-9]|[1-9]\d)|\d{6,}(?:\.\d*)?|\w*\.?finfo\([^\n()]*\)\.m)"
_FILLING = b"|".join(one.encode() for one in sorted(FILLS | {"full", "full_like", "new_full", "where"}))
# What makes one: a fill, a factor, a constant of the file.
MAKES_FAR = re.compile(
    rb"\b(?:" + _FILLING + rb")\((?:[^\n]{0,400}|(?:[^\n]{0,120}\n){1,5}[ \t]*)[-, (]" + _FAR
    + rb"|\*[ \t]*\(?-[ \t]*" + _FAR + rb"|-" + _FAR + rb"[ \t]*\*"
    rb"|\*[ \t]*(?:\w+\.)?finfo\(|^\w+[ \t]*(?::[^=\n]+)?=[ \t]*-[ \t]*" + _FAR,
    re.M,
)
MAY_ADD = re.compile(rb"^[ \t]+\w+[ \t]*[-+]=[ \t]*(?!\d)\S", re.M)


def adds_to_products(text: str) -> bool:
    """Whether something is added in place to what a product gave."""
    tree = parsed(text)
    return tree is not None and any(_adds(own(one)) for one in walk(tree) if isinstance(one, Function))


def _adds(nodes: list[ast.AST]) -> bool:
    added = {
        n.target.id
        for n in nodes
        if isinstance(n, ast.AugAssign) and isinstance(n.op, (ast.Add, ast.Sub)) and isinstance(n.target, ast.Name)
    }
    given = [n for n in nodes if isinstance(n, ast.Assign) and added]
    return any(
        isinstance(target, ast.Name) and target.id in added and any(map(_multiplies, walk(stmt.value)))
        for stmt in given
        for target in stmt.targets
    )


def _multiplies(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    return isinstance(node, ast.Call) and called_name(node) in NATIVE_HALF
