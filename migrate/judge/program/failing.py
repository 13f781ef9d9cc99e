"""Exceptions on whose way out gradients are read: a ``finally``, a handler, the end of a block.

Almost any expression may raise. It counts where a reader stands on the way of the exception: an ``int("x")`` between a
backward and the step leaves gradients as they are in that moment, and the reader sees them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property

from ...nodes import header, run_now
from .syntax import around, last_name
from .tree import AnnotatedTree

_TRIES = (ast.Try, getattr(ast, "TryStar", ast.Try))
_BLOCKS = (ast.With, ast.AsyncWith)
# Kinds of calls that are followed, or belong to the protocol: these raise where the judge says so.
_RAISES = frozenset({"", "forward", "loss", "foreign", "state", "scale"})
_HARMLESS = frozenset("print len isinstance issubclass hasattr range enumerate zip id type callable super".split())
_EXITS = frozenset("exit quit".split())


class Failing:
    """The exceptions of one program that readers of gradients see. Asked once all is marked."""

    def __init__(self, tree: AnnotatedTree) -> None:
        self.m, self.marks, self.callees = tree.m, tree.marks, tree.callees

    def may_fail(self, node: ast.AST) -> bool:
        """Whether a piece of code may raise where somebody may look at gradients on the way out."""
        return around(self.m, node) in self._within and any(map(self._raises, run_now(node)))

    def next_may_fail(self, loop: ast.For | ast.AsyncFor) -> bool:
        """The same for what hands a loop its next item."""
        counts = isinstance(loop.iter, ast.Call) and last_name(loop.iter.func) == "range"
        return around(self.m, loop) in self._within and not counts

    def exits(self, node: ast.AST) -> bool:
        """Whether a statement does nothing but end the process: ``sys.exit(1)``."""
        match node:
            case ast.Expr(value=ast.Call(func=func)):
                return last_name(func) in _EXITS
            case _:
                return False

    def looks(self, body: Sequence[ast.AST]) -> bool:
        """Whether gradients are read in a piece of code, or in functions that it runs."""
        nodes = [node for part in body for node in run_now(part)]
        if any(node in self.marks.readers or node in self.marks.ends for node in nodes):
            return True
        called = (node for node in nodes if self.marks.kind.get(node) == "call")
        return any(function in self._looking for node in called for function in self.callees.runs(node))

    @cached_property
    def _looking(self) -> frozenset[ast.AST]:
        """Functions that read gradients, themselves or in others that they run."""
        found: set[ast.AST] = set()
        todo = [around(self.m, stmt) for stmt in (*self.marks.readers, *self.marks.ends)]
        while todo:
            at = todo.pop()
            if at not in found:
                found.add(at)
                todo += [around(self.m, call) for call in self.callees.runners(at)]
        return frozenset(found)

    @cached_property
    def _within(self) -> frozenset[ast.AST]:
        """Functions that an exception may leave towards such a reader."""
        found: set[ast.AST] = set()
        todo: list[ast.AST] = []
        for block, body in self._watched():
            found.add(around(self.m, block))
            todo += [f for part in body for node in run_now(part) for f in self.callees.runs(node)]
        while todo:
            at = todo.pop()
            if at not in found and at in self.marks.functions:
                found.add(at)
                todo += [f for call in self.callees.calls_in.get(at, ()) for f in self.callees.runs(call)]
        return frozenset(found)

    def _watched(self) -> Iterator[tuple[ast.AST, Sequence[ast.AST]]]:
        """Blocks that are left by a reader of gradients where an exception leaves them, with what stands in them."""
        for stmt in self.marks.guarded:
            yield stmt, header(stmt)
        for block in (node for kind in {*_TRIES, *_BLOCKS} for node in self.m.all(kind)):
            if isinstance(block, _TRIES):
                handlers = [stmt for handler in block.handlers for stmt in handler.body]
                if self.looks([*handlers, *block.finalbody]):
                    yield block, [*block.body, *block.orelse, *handlers]
            elif isinstance(block, _BLOCKS):
                if block in self.marks.ends or self.looks([item.context_expr for item in block.items]):
                    yield block, block.body

    def _raises(self, node: ast.AST) -> bool:
        match node:
            case ast.Call(func=func):
                return self.marks.kind.get(node, "") in _RAISES and last_name(func) not in _HARMLESS
            case ast.Subscript(ctx=ast.Load() | ast.Del()):
                return not isinstance(node.slice, ast.Slice)
            case ast.BinOp(op=ast.Div() | ast.FloorDiv() | ast.Mod(), right=right):
                return not isinstance(right, ast.Constant)
            case _:
                return isinstance(node, (ast.Assert, ast.Raise, ast.Await))

