"""Conditions that ask whether Apex is there: `if amp is not None`, `APEX_AVAILABLE and args.fp16`. It is now."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..nodes import walk
from ..rewrite.places import else_offset
from ..units.available import Key
from ..units.loaded import asks_loaded
from ..units.unit import Context
from .common import Work


def apex_tests(ctx: Context) -> Iterator[ast.expr]:
    """The outermost conditions that ask whether Apex is there."""
    m = ctx.m
    for node in m.of(ast.BoolOp, ast.UnaryOp, ast.Compare, ast.Name, ast.Call, ast.Attribute):
        assert isinstance(node, ast.expr)
        above = m.parent.get(node)
        if isinstance(above, (ast.BoolOp,)) or (isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not)):
            continue
        if isinstance(node, (ast.Name, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            continue
        plain = isinstance(node, (ast.Name, ast.Attribute, ast.Call))
        if plain and not (isinstance(above, (ast.If, ast.While, ast.IfExp, ast.Assert)) and above.test is node):
            continue
        if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
            continue
        if _asks(ctx, node):
            yield node


def _asks(ctx: Context, expr: ast.expr) -> bool:
    if ctx.conditions.constant(expr) is not None and not isinstance(expr, ast.Constant):
        return True
    if isinstance(expr, ast.BoolOp):
        return any(_asks(ctx, x) for x in expr.values)
    return isinstance(expr, ast.UnaryOp) and isinstance(expr.op, ast.Not) and _asks(ctx, expr.operand)


def asking_parts(ctx: Context, test: ast.expr) -> Iterator[ast.expr]:
    """The parts of a condition that ask whether Apex is there: what stands beside them is kept, with what it reads."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from asking_parts(ctx, value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from asking_parts(ctx, test.operand)
    elif _asks(ctx, test):
        yield test


def about(ctx: Context, test: ast.expr, names: set[Key]) -> bool:
    m = ctx.m
    return any(
        isinstance(n, ast.Name) and (m.binding_scope(n.id, m.scope(n)), n.id) in names for n in walk(test)
    ) or any(
        asks_loaded(n) or (isinstance(n, (ast.Attribute, ast.Call)) and ctx.conditions.constant(n)) for n in walk(test)
    )


def fold_test(ctx: Context, work: Work, test: ast.expr) -> None:
    m, draft = ctx.m, work.draft
    term = ctx.conditions.term(test)
    above = m.parent[test]
    work.note(
        None, "APX011", m.statement(test) if not isinstance(above, ast.If) else test, "Apex is no longer asked for"
    )
    if isinstance(above, ast.If) and above.test is test and term.value is not None:
        elif_next = len(above.orelse) == 1 and isinstance(above.orelse[0], ast.If) and m.is_elif(above.orelse[0])
        if not term.value and not above.orelse:
            draft.delete(above)
        elif not term.value and elif_next:
            draft.cut(m.start(above), m.start(above.orelse[0]) + (0 if m.is_elif(above) else len("el")))
        elif not term.value and m.is_elif(above):
            draft.cut(m.start(above), else_offset(m, above))
        elif term.value and m.is_elif(above) and not elif_next:
            draft.cut(m.start(above), m.end(test))
            draft.insert_at(m.start(above), "else")
            for stmt in above.orelse:
                draft.delete(stmt)
        elif term.value and not m.is_elif(above):
            draft.unwrap(above)
            _drop_behind(ctx, work, above)
        elif not term.value and above.orelse and not elif_next and not m.is_elif(above):
            draft.unwrap(above, "orelse")
        else:
            draft.replace(test, term.text)
    elif isinstance(above, ast.Assert) and above.test is test and term.value:
        draft.delete(above)
    elif isinstance(above, ast.IfExp) and above.test is test and term.value is not None:
        _keep_branch(ctx, work, above, above.body if term.value else above.orelse)
    elif not _cut_constants(ctx, work, test):
        draft.replace(test, term.text)


def _drop_behind(ctx: Context, work: Work, stmt: ast.If) -> None:
    """What stands behind an arm that always leaves is not reached any more."""
    block, index = ctx.m.place[stmt]
    dead = block.body[index + 1 :]
    if isinstance(stmt.body[-1], (ast.Return, ast.Raise)) and ctx.m.owns_lines(stmt.body[-1]):
        for one in dead:
            if not work.draft.gone(one):
                work.draft.delete(one)
                work.note(None, "APX011", one, "it was for where Apex is not there")


def _keep_branch(ctx: Context, work: Work, choice: ast.IfExp, kept: ast.expr) -> None:
    """Leave one branch of ``a if test else b``; what another rule writes in it stands, where no parentheses part it."""
    m = ctx.m
    if kept is choice.body and m.text[m.end(kept) : m.start(choice.test)].split() == ["if"]:
        work.draft.cut(m.end(kept), m.end(choice))
    elif kept is choice.orelse and m.end(kept) == m.end(choice):
        work.draft.cut(m.start(choice), m.start(kept))
    else:
        work.draft.replace(choice, m.src(kept))


def _cut_constants(ctx: Context, work: Work, test: ast.expr) -> bool:
    """Take what is always true off the front of an ``and``, where that leaves one value; so what another rule writes
    in there stands. The same for each arm of an ``or`` that asks."""
    asking = [test]
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        asking = [arm for arm in test.values if _asks(ctx, arm)]
    if not all(_one_is_left(ctx, arm) for arm in asking):
        return False
    for arm in asking:
        assert isinstance(arm, ast.BoolOp)
        first, last = arm.values[0], arm.values[-1]
        work.draft.replace(first, "")
        work.draft.cut(ctx.m.end(first), ctx.m.start(last))
        _cut_brackets(work, arm, last)
    return True


def _one_is_left(ctx: Context, test: ast.expr) -> bool:
    """Whether all values of an ``and`` but the last are always true, and nothing but that word is between them."""
    m = ctx.m
    if not (isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)):
        return False
    *front, last = test.values
    pairs = list(zip(test.values, test.values[1:], strict=False))
    plain = all(m.text[m.end(one) : m.start(other)].split() == ["and"] for one, other in pairs)
    return plain and not _asks(ctx, last) and all(map(ctx.conditions.constant, front))


def _cut_brackets(work: Work, test: ast.expr, left: ast.expr) -> None:
    """Brackets of its own around an ``and`` of which one value is left: ``True if (args.amp) else False``."""
    m = work.m
    begin, end = m.start(test), m.end(test)
    alone = isinstance(m.parent[test], (ast.If, ast.While, ast.IfExp, ast.Assert, ast.Assign, ast.Return, ast.BoolOp))
    plain = isinstance(left, (ast.Name, ast.Attribute, ast.Call, ast.Subscript))
    if alone and plain and "\n" not in m.text[begin:end] and m.text[begin - 1 : begin] == "(" and m.text[end] == ")":
        if m.text[begin - 2 : begin - 1] == " " and not m.text[end + 1 : end + 2].isalnum():
            work.draft.cut(begin - 1, begin)
            work.draft.cut(end, end + 1)
