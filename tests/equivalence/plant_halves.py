"""Plants violations of invariant 7 into right native code: a half value reaches what Apex cast and nothing does now.

`plant.py` plants what spoils steps and scales; this one needs to know which `.float()` a migration wrote, by what they
stand behind, and what torch's lists are. The rest is read off the lines.

    drop-float       a `.float()` that the migration wrote behind a half value is gone
    work-outside     the end of a region, which computes in float32 with what the region has made, stands behind it
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from migrate.knowledge import operations, results

from .plant import Planted, Source

_LISTED = operations.O1_FLOAT | (operations.O1_FLOAT_FUNCTIONAL - {"cross_entropy"})


def planted_halves(text: str, widened: Set[str]) -> list[Planted]:
    """``widened``: what the migration put `.float()` behind, as `ast.unparse` has it."""
    source = Source(text)
    found = [*_drop_float(source, widened), *_work_outside(source)]
    for one in found:
        ast.parse(one.text)
    return found


def _drop_float(s: Source, widened: Set[str]) -> Iterator[Planted]:
    for node in ast.walk(s.tree):
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr="float"), args=[]) if plain(value) in widened:
                last, line = node.end_lineno, value.end_lineno
                if last is None or line != last:
                    continue
                row = s.lines[last - 1].encode()
                spoilt = (row[: value.end_col_offset] + row[node.end_col_offset :]).decode()
                if spoilt.count("(") - spoilt.count(")") == s.lines[last - 1].count("(") - s.lines[last - 1].count(")"):
                    yield Planted("drop-float", last, s.edit((last, last, [spoilt])))


def plain(node: ast.expr) -> str:
    """As it read before other `.float()` were written into it."""
    return ast.unparse(node).replace(".float()", "")


def _work_outside(s: Source) -> Iterator[Planted]:
    for one in s.regions():
        if one.body[0].lineno == one.lineno:
            continue
        for first in range(1, len(one.body)):
            made = {name for stmt in one.body[:first] for name in _made(stmt)}
            if any(_computes(stmt, made) for stmt in one.body[first:]):
                moved = [line for stmt in one.body[first:] for line in s.at(stmt, s.indent(one))]
                begin, end = one.body[first].lineno, one.body[-1].end_lineno
                assert end is not None
                yield Planted("work-outside", begin, s.edit((begin, end, moved)))


def _made(stmt: ast.stmt) -> Iterator[str]:
    """Names that are given what a call gave that is no loss, and nothing that autocast runs in float32."""
    match stmt:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
            called = getattr(call.func, "attr", getattr(call.func, "id", ""))
            if called not in operations.FLOAT_RESULTS | operations.INTEGER | {"float"} and not results.loss(called):
                yield name
        case _:
            pass


def _computes(stmt: ast.stmt, made: Set[str]) -> bool:
    """Whether a statement computes with such a name, at once, what O1 ran in float32."""
    return any(_is_made(operand, made) for node in ast.walk(stmt) for operand in _operands(node))


def _operands(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.BinOp(op=ast.Pow(), left=left):
            return [left]
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch" | "F" | "functional"), attr=name), args=args):
            return args[:1] if name in _LISTED else []
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in operations.O1_FLOAT:
            return [value]
        case _:
            return []


def _is_made(node: ast.expr, made: Set[str]) -> bool:
    """A name that was made, or arithmetic of such and numbers."""
    match node:
        case ast.Name(id=name):
            return name in made
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
            sides = [side for side in (left, right) if not isinstance(side, ast.Constant)]
            return bool(sides) and all(_is_made(side, made) for side in sides)
        case _:
            return False
