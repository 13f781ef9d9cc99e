"""Which local names a function may still read at each of its operations: the others need not be remembered.

Backward dataflow over the operations; an exception may leave each of them for its pad.
Source: Aho, Lam, Sethi, Ullman, Compilers, section 9.2.5.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..facts.names import called_name
from ..nodes import walk
from .code import Code, Op

_FORKS = frozenset("aside branch round handler case perhaps known unknown resume again thrown".split())
_ENDS = frozenset({"return", "raise"})


@dataclass(frozen=True)
class Live:
    """For each operation of a function the names that it or what follows may read, as bits: there are many of both."""

    bits: Mapping[str, int]
    masks: Sequence[int]
    names: Sequence[str]

    def at(self, number: int, name: str) -> bool:
        """Whether a name may be read by an operation or behind it."""
        return bool(self.masks[number] & self.bits.get(name, 0))

    def died(self, before: int, number: int) -> list[object]:
        """The names that may be read by one operation or behind it, and not by another."""
        left, found = self.masks[before] & ~self.masks[number], list[object]()
        while left:
            found.append(self.names[(left & -left).bit_length() - 1])
            left &= left - 1
        return found


def live_names(code: Code) -> Live:
    """What may still be read where."""
    ops = code.ops
    bits: dict[str, int] = {}

    def mask(names: frozenset[str]) -> int:
        found = 0
        for name in names:
            found |= bits.setdefault(name, 1 << len(bits))
        return found

    first = _first_parameter(code.node)
    filled = _filled(ops)
    uses = [mask(_read(op, first) | filled if op.kind == "call" else _read(op, first)) for op in ops]
    kills = [mask(_bound(op)) for op in ops]
    before = [0 for _ in ops]

    def at(number: int) -> int:
        return before[number] if number < len(ops) else 0

    changed = True
    while changed:
        changed = False
        for number, op in reversed(list(enumerate(ops))):
            found = uses[number]
            if op.kind not in _ENDS and op.kind != "jump":
                found |= at(number + 1) & ~kills[number]
            # what an operation binds is not bound where it goes another way, or raises
            for label in (op.target if op.kind in _FORKS or op.kind == "jump" else None, op.pad):
                found |= at(label.at) if label is not None else 0
            if found != before[number]:
                before[number] = found
                changed = True
    return Live(bits, before, list(bits))


def _first_parameter(node: ast.AST) -> frozenset[str]:
    """What ``super()`` reads without a word: the object whose method is run."""
    args = node.args if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
    return frozenset(one.arg for one in (*args.posonlyargs, *args.args)[:1]) if args is not None else frozenset()


def _filled(ops: Sequence[Op]) -> frozenset[str]:
    """What a ``partial`` is made with, which is read once more where that is called."""
    values = [op.value for op in ops if op.value is not None]
    made = [n for value in values for n in walk(value) if isinstance(n, ast.Call) and called_name(n) == "partial"]
    return frozenset(n.id for call in made for n in walk(call) if isinstance(n, ast.Name))


def _read(op: Op, first: frozenset[str]) -> frozenset[str]:
    roots: list[ast.AST] = [op.value] if op.value is not None else []
    match op.kind, op.node:
        case ("bind" | "havoc" | "count", ast.Attribute() | ast.Subscript() | ast.Tuple() | ast.List()):
            roots.append(op.node)
        case ("count", ast.Name(id=name)):
            return frozenset({name})
        case ("round" | "generate" | "resume" | "items", (ast.For() | ast.AsyncFor()) as loop):
            roots.append(loop.target)
            if op.kind == "items":
                roots.append(loop.iter)
        case ("enter" | "generate", ast.withitem(context_expr=expr)):
            roots.append(expr)
        case ("aside", ast.If(test=test)):
            roots.append(test)
        case ("call" | "branch" | "perhaps" | "known" | "unknown" | "read" | "clear", node):
            roots.append(node)
        case ("raise", ast.Raise(exc=ast.expr() as exc)):
            roots.append(exc)
        case _:
            pass
    names = [n for root in roots for n in walk(root) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    found = frozenset(n.id for n in names)
    return found | first if "super" in found else found


def _bound(op: Op) -> frozenset[str]:
    match op.kind, op.node:
        case ("bind" | "havoc", ast.Name(id=name)):
            return frozenset({name})
        case ("import", ast.Import(names=aliases) | ast.ImportFrom(names=aliases)):
            return frozenset((alias.asname or alias.name).split(".")[0] for alias in aliases)
        case ("handler", ast.ExceptHandler(name=str(name))):
            return frozenset({name})
        case ("enter" | "resume", ast.withitem(optional_vars=ast.Name(id=name))) if op.name != "end":
            return frozenset({name})
        case ("round" | "resume", ast.For(target=target) | ast.AsyncFor(target=target)):
            return frozenset(n.id for n in walk(target) if isinstance(n, ast.Name))
        case _:
            return frozenset()
