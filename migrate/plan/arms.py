"""What the arms around a region say already of its condition: what holds in one need not be asked there once more, and
where one denies it casts were never on (``if kind == "a":`` beside an ``initialize`` under ``elif kind == "b":``)."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..nodes import walk
from ..units.conditions import Term, conjuncts, negation
from ..units.unit import Context


def beyond_its_arms(ctx: Context, case: Sequence[Term], stmt: ast.stmt) -> list[Term] | None:
    """The conditions of one way to an ``initialize`` that the arms around a statement leave open; None where they deny
    one of them."""
    holds = {term.text for term in _holding(ctx, stmt)}
    parts = conjuncts(list(case))
    said = [_compared(term.text) for term in parts]
    equal = {left: value for left, same, value in filter(None, said) if same}
    told = {left: value for left, same, value in filter(None, map(_compared, holds)) if same}
    found: list[Term] = []
    for term, compared in zip(parts, said, strict=True):
        if term.text in holds:
            continue
        if negation(term).text in holds:
            return None
        if compared is not None:
            left, same, value = compared
            if left in told and same and told[left] != value:
                return None
            if not same and any(left in known and known[left] != value for known in (told, equal)):
                continue
        found.append(term)
    return found


def _holding(ctx: Context, stmt: ast.stmt) -> Iterator[Term]:
    """What the arms around a statement say, as long as nothing in them changes it."""
    inner = stmt
    for outer in ctx.m.spine(stmt)[1:]:
        if isinstance(outer, ast.If) and not _changes(outer):
            if inner in outer.body:
                yield from conjuncts([ctx.conditions.term(outer.test)])
            elif not (isinstance(outer.test, ast.BoolOp) and isinstance(outer.test.op, ast.And)):
                yield negation(ctx.conditions.term(outer.test))
        inner = outer


def _changes(stmt: ast.If) -> bool:
    """Whether an arm gives what its condition reads another value."""
    read = {_name(node) for node in walk(stmt.test)} - {""}
    arms = (node for one in (*stmt.body, *stmt.orelse) for node in walk(one))
    return any(not isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and _name(node) in read for node in arms)


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _compared(text: str) -> tuple[str, bool, object] | None:
    """What is compared with which text, and whether it has to be the same: ``args.kind == "a"``."""
    match ast.parse(text, mode="eval").body:
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() as op], comparators=[ast.Constant(value=str(value))]):
            return ast.unparse(left), isinstance(op, ast.Eq), value
        case _:
            return None
