"""Conditions that ask whether a counted loop is in its last round.

Of ``for i in range(n)``, where the loop sets neither ``i`` nor ``n``, ``i == n - 1``, ``i + 1 < n`` and ``(i + 1) % n``
all ask one thing, and the end of the loop is its answer. So do those of ``for i, x in enumerate(xs)`` that ask
``len(xs)``. A sum of names and numbers is written as how often each name is in it.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass

from ...facts.module import Module
from ...facts.names import called_name, last_name
from ...facts.scopes import Scope
from ...knowledge.words import Patterns
from ...nodes import walk
from .callees import Callees
from .marks import Marks

Sum = dict[str, int]  # a name, or "" for the number, -> how often

LAST_ROUND = "the last round"
_RESIZES = Patterns("append* extend* insert pop* remove clear add discard update setdefault")  # another `len()` then


@dataclass(frozen=True)
class _Count:
    """What counts the rounds of a loop: a name, what it is in the first round (None: not written) and in the last."""

    name: str
    first: int | None
    last: Sum


def last_rounds(m: Module) -> dict[ast.Compare, tuple[ast.For, bool]]:
    """Comparisons that ask for the last round of a loop, with the loop and what they are in that round."""
    found: dict[ast.Compare, tuple[ast.For, bool]] = {}
    moving: _Moving | None = None
    for loop in m.all(ast.For):
        count = _counted(loop)
        if count is None:
            continue
        tests = [n for stmt in loop.body for n in walk(stmt) if isinstance(n, ast.Compare) and len(n.ops) == 1]
        asked = {test: (loop, holds) for test in tests if (holds := _in_last(test, count)) is not None}
        if asked:
            moving = moving or _Moving.of(m)
            if moving.leaves(m, loop):
                found |= asked
    return found


def asked_ahead(m: Module) -> frozenset[str]:
    """What a window is asked of before it is counted: ``n`` of ``n % p == p - 1`` and of ``(n + 1) % p == 0``."""
    found: set[str] = set()
    for test in m.all(ast.Compare):
        match test:
            case ast.Compare(left=ast.BinOp(left=ast.BinOp(left=counted, op=ast.Add()), op=ast.Mod())):
                found.add(last_name(counted))
            case ast.Compare(left=ast.BinOp(left=counted, op=ast.Mod(), right=by), comparators=[at]):
                one, other = _sum(by), _sum(at)
                if one is not None and other is not None and _added(one, {"": -1}) == other:
                    found.add(last_name(counted))
            case _:
                pass
    return frozenset(found - {""})


def counters(loop: ast.AST, marks: Marks, callees: Callees) -> frozenset[str]:
    """The names and attributes to which a loop adds a number, in its own text or in that of functions it runs."""
    found: set[str] = set()
    met: set[ast.AST] = set()
    todo = [loop]
    while todo:
        at = todo.pop()
        if at in met:
            continue
        met.add(at)
        for node in walk(at):
            match node:
                case ast.AugAssign(target=ast.Name() | ast.Attribute() as target, op=ast.Add(), value=ast.Constant()):
                    found.add(last_name(target))
                case ast.Call():
                    todo += [one for one in callees.runs(node) if one in marks.functions]
    return frozenset(found)


def _counted(loop: ast.For) -> _Count | None:
    match loop:
        case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=args, keywords=[])):
            if not 1 <= len(args) <= 2:
                return None
            begin = args[0] if len(args) == 2 else None
            end, first = _sum(args[-1]), begin.value if isinstance(begin, ast.Constant) else None
            first = 0 if begin is None else first if isinstance(first, int) else None
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=name), _]),
            iter=ast.Call(func=ast.Name(id="enumerate"), args=[ast.Name() | ast.Attribute() as source], keywords=[]),
        ):
            end, first = {f"len({ast.unparse(source)})": 1}, 0
        case _:
            return None
    return None if end is None or name in end else _Count(name, first, _added(end, {"": -1}))


def _sum(expr: ast.expr) -> Sum | None:
    """An expression as a sum of names and numbers; None where it is something else."""
    match expr:
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            return {"": number}
        case ast.Name() | ast.Attribute() | ast.Call(func=ast.Name(id="len"), args=[ast.Name() | ast.Attribute()]):
            return {ast.unparse(expr): 1}
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            one, other = _sum(left), _sum(right)
            if one is None or other is None:
                return None
            return _added(one, other if isinstance(op, ast.Add) else _negative(other))
        case _:
            return None


def _added(one: Sum, other: Sum) -> Sum:
    found = Counter(one)
    found.update(other)
    return {name: number for name, number in found.items() if number}


def _in_last(test: ast.Compare, count: _Count) -> bool | None:
    """What a comparison is in the last round, where it is the contrary in all others; None of one that is not so."""
    (op,), (right,) = test.ops, test.comparators
    match test.left, op, right:
        case ast.BinOp(left=left, op=ast.Mod(), right=by), ast.Eq() | ast.NotEq(), ast.Constant(value=0):
            return isinstance(op, ast.Eq) if _divides_last(_sum(left), _sum(by), count) else None
    one, other = _sum(test.left), _sum(right)
    if one is None or other is None:
        return None
    left_over = _added(one, _negative(other))
    below = _added({count.name: 1}, _negative(count.last))  # 0 in the last round, and less before
    match op:
        case ast.Eq() | ast.NotEq() if left_over in (below, _negative(below)):
            return isinstance(op, ast.Eq)
        case ast.Lt() | ast.GtE() if left_over == below:
            return isinstance(op, ast.GtE)
        case ast.Gt() | ast.LtE() if left_over == _negative(below):
            return isinstance(op, ast.LtE)
        case _:
            return None


def _divides_last(counted: Sum | None, by: Sum | None, count: _Count) -> bool:
    """Whether what is divided is the divisor in the last round, and before it less than that, and more than 0."""
    if counted is None or count.first is None:
        return False
    more = _added(counted, {count.name: -1})  # a number, if it is anything
    return not more.keys() - {""} and count.first + more.get("", 0) > 0 and by == _added(count.last, more)


def _negative(one: Sum) -> Sum:
    return {name: -number for name, number in one.items()}


@dataclass(frozen=True)
class _Moving:
    """Names of files that functions set, and attributes that methods set which are no constructors."""

    names: frozenset[tuple[Scope | None, str]]
    attributes: frozenset[str]

    @classmethod
    def of(cls, m: Module) -> _Moving:
        names = [n for n in m.all(ast.Name) if not isinstance(n.ctx, ast.Load) and m.scope(n).is_function]
        stored = [n for n in m.all(ast.Attribute) if not isinstance(n.ctx, ast.Load)]
        later = {n.attr for n in stored if getattr(m.function(n).node, "name", "") != "__init__"}
        homes = {(m.binding_scope(n.id, m.scope(n)), n.id) for n in names}
        return cls(frozenset(pair for pair in homes if pair[0] and not pair[0].is_function), frozenset(later))

    def leaves(self, m: Module, loop: ast.For) -> bool:
        """Whether a loop's count stays as the loop's head says."""
        read = [n for n in (*walk(loop.iter), *walk(loop.target)) if isinstance(n, (ast.Name, ast.Attribute))]
        names = {n.id for n in read if isinstance(n, ast.Name)}
        inside = [n for stmt in loop.body for n in walk(stmt) if isinstance(n, ast.Name)]
        if any(n.id in names and not isinstance(n.ctx, ast.Load) for n in inside):
            return False
        if any((m.binding_scope(name, m.scope(loop)), name) in self.names for name in names):
            return False
        texts = {ast.unparse(n) for n in read}
        calls = [n for stmt in loop.body for n in walk(stmt) if isinstance(n, ast.Call)]
        if any(_RESIZES.fit(called_name(c)) and ast.unparse(getattr(c.func, "value", c)) in texts for c in calls):
            return False
        return self.attributes.isdisjoint(n.attr for n in read if isinstance(n, ast.Attribute))
