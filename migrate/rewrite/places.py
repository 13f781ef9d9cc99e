"""Where the parts of a statement stand in the text: the end of its header, its ``else``, the blanks in front."""

from __future__ import annotations

import ast
from bisect import bisect_right

from ..facts.module import Module
from ..facts.scopes import Block


def else_line(m: Module, stmt: ast.If | ast.For | ast.While | ast.AsyncFor) -> int:
    """The line that holds the ``else`` of a compound statement."""
    first = stmt.orelse[0]
    for line in range(first.lineno, m.last_line(stmt.body[-1]) - 1, -1):
        if m.line_text(line).lstrip().startswith("else"):
            return line
    return first.lineno


def else_offset(m: Module, stmt: ast.If) -> int:
    """Where the ``else`` of an ``if`` stands in the text."""
    line = else_line(m, stmt)
    return m.starts[line - 1] + m.line_text(line).index("else")


def behind_header(m: Module, block: Block) -> bool:
    """Whether a block stands on the line of its header."""
    first = block.body[0]
    return bool(m.text[m.starts[first.lineno - 1] : m.start(first)].strip())


def blanks_before(m: Module, offset: int) -> int:
    """Where the blanks in front of an offset begin, and the semicolon behind the statement before."""
    while offset and m.text[offset - 1] in " \t;":
        offset -= 1
    return offset


def header_end(m: Module, stmt: ast.With | ast.If | ast.Try) -> int:
    """The last line of a compound statement's header."""
    if isinstance(stmt, ast.Try):
        return stmt.lineno
    ends = (
        [stmt.test]
        if isinstance(stmt, ast.If)
        else [e for i in stmt.items for e in (i.context_expr, i.optional_vars) if e is not None]
    )
    line = max(m.last_line(e) for e in ends)
    while line < stmt.body[0].lineno - 1 and ":" not in _after_expr(m, line, ends):
        line += 1
    return line


def _after_expr(m: Module, line: int, ends: list[ast.expr]) -> str:
    edge = max(m.end(e) for e in ends)
    start = max(m.starts[line - 1], edge)
    stop = m.starts[line] if line < len(m.starts) else len(m.text)
    return m.text[start:stop].split("#")[0]


def signature_end(m: Module, function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The last line of a function's header."""
    args = function.args
    names = [*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg]
    every = [*names, *args.defaults, *args.kw_defaults, function.returns]
    parts = [m.end(part) for part in every if part is not None]
    at = max(parts, default=m.offset(function.lineno, function.col_offset))
    while m.text[at] != ":":
        at = m.text.index("\n", at) if m.text[at] == "#" else at + 1
    return bisect_right(m.starts, at)
