"""Arms of conditions that never run: they go with their headers."""

from __future__ import annotations

import ast

from ..rewrite.places import else_offset
from .common import Work


def drop_body(work: Work, node: ast.If) -> None:
    """The body of a condition goes with its header: the whole condition, or one arm of a chain."""
    m, draft = work.m, work.draft
    last = m.last_line(node.body[-1])
    match node.orelse:
        case [] if m.is_elif(node):
            draft.cut(m.starts[node.lineno - 1], m.starts[last])
        case []:
            draft.delete(node)
        case [ast.If() as following] if m.is_elif(following):
            draft.cut(m.start(node), m.start(following) + (0 if m.is_elif(node) else len("el")))
        case _ if m.is_elif(node):
            draft.cut(m.start(node), else_offset(m, node))
        case _:
            draft.unwrap(node, "orelse")
