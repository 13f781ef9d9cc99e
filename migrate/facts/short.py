"""Steps that are written as expressions: ``[o.step() for o in optimizers]``, ``ok and optimizer.step()`` and
``optimizer.step() if ok else None``.

As statements of their own they are a loop and an ``if``, and are read as such: the tree gets these in their place, each
at the position of what was written. The text stays; `rewrite.draft` writes the ``if`` out where a line joins the step.
"""

from __future__ import annotations

import ast
import re

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_MAY_BE = re.compile(r"\band\b[^#\n]{0,400}\.step\(|\.step\([^()]*(?:\([^()]*\)[^()]*)*\)\s*(?:for|if)\b")


def lengthen(tree: ast.Module, text: str) -> set[ast.stmt]:
    """Put loops and ``if`` in the place of such steps; what was put there."""
    found: set[ast.stmt] = set()
    if not _MAY_BE.search(text):
        return found
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if not isinstance(block, list):
                continue
            for index, stmt in enumerate(block):
                long = _long(stmt, text) if isinstance(stmt, (ast.Expr, ast.Assign)) else None
                if long is not None:
                    block[index] = ast.copy_location(long, stmt)
                    found.add(long)
            todo += block
    return found


def _long(stmt: ast.AST, text: str) -> ast.stmt | None:
    """The statement that an expression stands for."""
    match stmt:
        case ast.Expr(
            value=ast.ListComp(
                elt=ast.Call(func=ast.Attribute(attr="step")) as step,
                generators=[ast.comprehension(target=ast.Name() as target, iter=over, ifs=[], is_async=0)],
            )
        ) | ast.Assign(
            targets=[ast.Name(id="_")],
            value=ast.ListComp(
                elt=ast.Call(func=ast.Attribute(attr="step")) as step,
                generators=[ast.comprehension(target=ast.Name() as target, iter=over, ifs=[], is_async=0)],
            ),
        ):
            return ast.For(target=target, iter=over, body=[_alone(step)], orelse=[])
        case ast.Expr(
            value=ast.BoolOp(op=ast.And(), values=[*tests, ast.Call(func=ast.Attribute(attr="step")) as step])
        ) if _written_out(tests[-1], step, text):
            whole = tests[0] if len(tests) == 1 else _all_of(tests)
            return ast.If(test=whole, body=[_alone(step)], orelse=[])
        case ast.Expr(
            value=ast.IfExp(
                test=test,
                body=ast.Call(func=ast.Attribute(attr="step")) as step,
                orelse=ast.Constant(value=None | bool() | int()),
            )
        ) if (step.lineno, step.col_offset) == (stmt.lineno, stmt.col_offset):
            return ast.If(test=test, body=[_alone(step)], orelse=[])
        case _:
            return None


def _alone(step: ast.expr) -> ast.Expr:
    return ast.copy_location(ast.Expr(value=step), step)


def _all_of(tests: list[ast.expr]) -> ast.expr:
    whole = ast.copy_location(ast.BoolOp(op=ast.And(), values=tests), tests[0])
    whole.end_lineno, whole.end_col_offset = tests[-1].end_lineno, tests[-1].end_col_offset
    return whole


def _written_out(test: ast.expr, step: ast.expr, text: str) -> bool:
    """Whether nothing but ``and`` stands between the last test, in parentheses or not, and the step."""
    if test.end_lineno != step.lineno or test.end_col_offset is None:
        return False
    between = ast.Constant(None, lineno=step.lineno, col_offset=test.end_col_offset)
    between.end_lineno, between.end_col_offset = step.lineno, step.col_offset
    said = ast.get_source_segment(text, between)
    return said is not None and said.replace(")", "").strip() == "and"
