"""Loops that only initialize: over networks and their optimizers, ahead of training.

Where such a loop has no round there is no network either, and training without `initialize` was an error. So it has a
round; and as mixed precision is a state of the process, one round does what all of them do.
"""

from __future__ import annotations

import ast

from ...facts.module import Module
from ...nodes import walk
from .callees import Callees
from .marks import Marks
from .syntax import YIELDS

Comprehension = (ast.ListComp, ast.SetComp, ast.DictComp)
_LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise, *YIELDS)


def preparing(m: Module, marks: Marks) -> frozenset[ast.AST]:
    """Loops that initialize and do nothing else in training."""
    found = {n for call, kind in marks.kind.items() if kind == "initialize" for n in m.ancestors(call)}
    return frozenset(n for n in found if isinstance(n, ast.For) and _only(n, marks, {"initialize"}))


def begins_some(loop: ast.AST, marks: Marks, callees: Callees) -> bool:
    """Whether a loop does nothing but call what initializes: ``members = [Member(lr) for lr in rates]``."""
    if not isinstance(loop, (ast.For, *Comprehension)) or not _only(loop, marks, {"call"}):
        return False
    kinds: set[str] = set()
    seen: set[ast.AST] = set()
    todo = [n for n in walk(loop) if marks.kind.get(n) == "call"]
    while todo:
        for function in callees.runs(todo.pop()):
            if function not in seen:
                seen.add(function)
                kinds |= callees.by_function[function]
                todo += callees.calls_in[function]
    return kinds - {"call"} == {"initialize"}


def _only(loop: ast.AST, marks: Marks, kinds: set[str]) -> bool:
    inside = list(walk(loop))
    if getattr(loop, "orelse", None) or any(isinstance(n, _LEAVES) for n in inside):
        return False
    return {marks.kind.get(n) for n in inside} - {None} == kinds and not any(n in marks.readers for n in inside)
