"""Which node of the old text a node of the new text comes from.

Edits are by position, so text outside of them is its own origin. Inside a replaced piece the words
that both sides share are matched; a call that a rule wrote anew somewhere else (a loss computed on a
line of its own) belongs to the vanished call that reads the same.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cached_property

from ..facts.module import Module
from ..facts.names import called_name
from ..nodes import walk
from ..rewrite.trace import Run

_KINDS = [kind for kind in vars(ast).values() if isinstance(kind, type)]
_BEGINS = frozenset(kind for kind in _KINDS if issubclass(kind, (ast.stmt, ast.ExceptHandler)))
_SPANS = frozenset(kind for kind in _KINDS if issubclass(kind, (ast.expr, ast.arg)))


class Origin:
    """Maps nodes of the new module to nodes of the old one."""

    def __init__(self, old: Module, new: Module, runs: Sequence[Run]) -> None:
        self.old, self.new = old, new
        self._runs = sorted(runs, key=lambda run: run.new)
        self._starts = [run.new for run in self._runs]
        self._found: dict[ast.AST, ast.AST] = {}
        self._match()

    def of(self, node: ast.AST) -> ast.AST | None:
        """The old node that ``node`` of the new module comes from."""
        return self._found.get(node)

    @cached_property
    def kept(self) -> frozenset[ast.AST]:
        """The old nodes that stand in the new module."""
        return frozenset(self._found.values())

    def _offset(self, at: int) -> int | None:
        index = bisect_right(self._starts, at) - 1
        if index < 0:
            return None
        run = self._runs[index]
        return run.old + at - run.new if at < run.new + run.length else None

    def _match(self) -> None:
        known = {key: node for node in self.old.nodes if (key := _key(self.old, node, _here)) is not None}
        taken: set[ast.AST] = set()
        orphans: list[ast.Call] = []
        for node in self.new.nodes:
            key = _key(self.new, node, self._offset)
            source = known.get(key) if key is not None else None
            if source is not None:
                self._found[node] = source
                taken.add(source)
            elif isinstance(node, ast.Call):
                orphans.append(node)
        if not orphans:
            return
        by_text: dict[str, list[ast.Call]] = defaultdict(list)
        names = {called_name(call) for call in orphans}
        for old in self.old.all(ast.Call):
            if called_name(old) in names:
                by_text[ast.dump(old)].append(old)
        for call in orphans:
            same = by_text.get(ast.dump(call), [])
            source = next((one for one in same if one not in taken), same[0] if same else None)
            if source is not None:
                taken.add(source)
                self._pair(call, source)

    def _pair(self, new: ast.AST, old: ast.AST) -> None:
        """Two calls that read the same, and all that is in them."""
        for one, other in zip(walk(new), walk(old), strict=False):
            self._found.setdefault(one, other)


def _here(position: int) -> int:
    return position


def _key(m: Module, node: ast.AST, at: Callable[[int], int | None]) -> tuple[object, ...] | None:
    """What tells a node of the old text from all others: its kind and place, in offsets of the old text."""
    kind = type(node)
    if kind is ast.Call:
        last = at(m.end(node.func) - 1)  # type: ignore[attr-defined]
        return None if last is None else (kind, last)
    if kind in _BEGINS:
        first = at(m.start(node))
        return None if first is None else (kind, first)
    if kind in _SPANS:
        first, last = at(m.start(node)), at(m.end(node) - 1)
        return None if first is None or last is None else (kind, first, last)
    return None
