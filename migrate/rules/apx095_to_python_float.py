"""``apex.fp16_utils.to_python_float(t)`` is ``t.item()``.

The one helper of ``fp16_utils`` that says nothing about precision; scripts descended from Apex's own
example import it by a star.

Source: apex/fp16_utils/fp16util.py at tag 25.05 (to_python_float).
"""

from __future__ import annotations

import ast

from ..units.unit import Context
from .common import Stage, Work

ID = "APX095"
STAGE = Stage.FILE
BEFORE = """\
from apex.fp16_utils import *

losses.update(to_python_float(reduced_loss))
"""
AFTER = """\
losses.update(reduced_loss.item())
"""


def apply(ctx: Context, work: Work) -> None:
    """Rewrite the calls; the import goes with the others that nobody needs (APX010)."""
    m = ctx.m
    star = any(
        isinstance(s, ast.ImportFrom) and s.module == "apex.fp16_utils" and s.names[0].name == "*"
        for s in ctx.facts.imports
    )
    for node in m.all(ast.Call):
        if len(node.args) != 1 or node.keywords:
            continue
        named = any(x.endswith(".to_python_float") for x in ctx.v.apex_names(node.func))
        by_star = (
            star
            and isinstance(node.func, ast.Name)
            and node.func.id == "to_python_float"
            and m.binding_scope("to_python_float", m.scope(node)) is None
        )
        if (named or by_star) and not work.draft.gone(node):
            value = node.args[0]
            simple = isinstance(value, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
            text = m.src(value) if simple else f"({m.src(value)})"
            work.draft.replace(node, f"{text}.item()")
            work.note(None, ID, node, "a tensor's own item()")
