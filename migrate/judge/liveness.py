"""Which local names a function may still read at each of its operations: the others need not be remembered.

Backward dataflow over the operations; an exception may leave each of them for its pad.
Source: Aho, Lam, Sethi, Ullman, Compilers, section 9.2.5.
"""

from __future__ import annotations

import ast

from ..nodes import walk
from .code import Code, Op

_FORKS = frozenset({"aside", "branch", "round", "handler", "case", "perhaps", "known", "resume", "again"})
_ENDS = frozenset({"return", "raise"})


def live_names(code: Code) -> tuple[frozenset[str], ...]:
    """For each operation the names that it or what follows may read."""
    ops = code.ops
    uses = [_read(op) for op in ops]
    kills = [_bound(op) for op in ops]
    follow = [_following(number, op) for number, op in enumerate(ops)]
    before: list[frozenset[str]] = [frozenset() for _ in ops]
    changed = True
    while changed:
        changed = False
        for number in range(len(ops) - 1, -1, -1):
            after = frozenset[str]().union(*(before[n] for n in follow[number] if n < len(ops)))
            found = uses[number] | (after - kills[number])
            if found != before[number]:
                before[number] = found
                changed = True
    return tuple(before)


def _following(number: int, op: Op) -> list[int]:
    found = [op.pad.at] if op.pad is not None else []
    if op.kind in _ENDS:
        return found
    if op.kind == "jump":
        assert op.target is not None
        return [*found, op.target.at]
    if op.kind in _FORKS:
        assert op.target is not None
        found.append(op.target.at)
    return [*found, number + 1]


def _read(op: Op) -> frozenset[str]:
    roots: list[ast.AST] = [op.value] if op.value is not None else []
    match op.kind, op.node:
        case ("bind" | "havoc", ast.Attribute() | ast.Subscript() | ast.Tuple() | ast.List()):
            roots.append(op.node)
        case ("round" | "generate" | "resume" | "items", (ast.For() | ast.AsyncFor()) as loop):
            roots.append(loop.target)
            if op.kind == "items":
                roots.append(loop.iter)
        case ("enter", ast.withitem(context_expr=expr)):
            roots.append(expr)
        case ("aside", ast.If(test=test)):
            roots.append(test)
        case ("call" | "branch" | "perhaps" | "known" | "read" | "clear", node):
            roots.append(node)
        case ("raise", ast.Raise(exc=ast.expr() as exc)):
            roots.append(exc)
        case _:
            pass
    return frozenset(
        n.id for root in roots for n in walk(root) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    )


def _bound(op: Op) -> frozenset[str]:
    match op.kind, op.node:
        case ("bind" | "havoc", ast.Name(id=name)):
            return frozenset({name})
        case ("enter", ast.withitem(optional_vars=ast.Name(id=name))):
            return frozenset({name})
        case ("round" | "resume", ast.For(target=target) | ast.AsyncFor(target=target)):
            return frozenset(n.id for n in walk(target) if isinstance(n, ast.Name))
        case _:
            return frozenset()
