"""What only evaluates, or only reads gradients: it need not be followed on every path."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from ...facts.module import Module
from ...nodes import walk
from .callees import Callees
from .marks import Marks
from .syntax import EXITS, FUNCTIONS, YIELDS, around, asks_if_enabled

_NO_GRAD = re.compile(r"\bno_grad\b|\binference_mode\b")


class Evaluation:
    """Conditions, loops and functions of one program in which no training happens."""

    def __init__(self, m: Module, marks: Marks, callees: Callees) -> None:
        self.m, self.marks, self.callees = m, marks, callees
        self.asides: set[ast.stmt] = set()  # conditions on which, in both programs, only evaluation hangs
        self.loud: set[ast.stmt] = set()  # loops in which more happens in the other program
        self._only_evaluates: dict[ast.AST, bool] = {}

    # ------------------------------------------------------------ conditions

    def only_evaluation(self, stmt: ast.If) -> bool:
        """Whether nothing hangs on a condition but that models are evaluated."""
        if stmt not in self.marks.relevant:
            return False
        for node in (n for arm in (stmt.body, stmt.orelse) for s in arm for n in walk(s)):
            kind = self.marks.kind.get(node, "")
            if kind == "call":
                if not all(self.evaluates_only(f) for f in self.callees.runs(node) if f in self.marks.functions):
                    return False
            elif kind not in ("", "forward", "loss") and not asks_if_enabled(node):
                return False
            if isinstance(node, EXITS) and not self._own_loop(node, stmt):
                return False
            if isinstance(node, YIELDS) or node in self.marks.readers or node in self.marks.clearers:
                return False
        return not any(self.marks.kind.get(n) for n in walk(stmt.test))

    # ------------------------------------------------------------ loops

    def only_reads(self, stmt: ast.stmt) -> bool:
        """A loop in which nothing happens but that gradients are read or cleared; that of a generator lets others train
        in between."""
        if not isinstance(stmt, (ast.For, ast.While)) or stmt in self.loud:
            return False
        touched = False
        for node in walk(stmt):
            if node in self.marks.kind or (isinstance(node, EXITS) and not self._own_loop(node, stmt)):
                return False
            if isinstance(node, (ast.With, *FUNCTIONS, ast.ClassDef, *YIELDS)):
                return False
            touched = touched or node in self.marks.readers or node in self.marks.clearers
        return touched

    def reading(self, stmt: ast.stmt) -> tuple[bool, bool]:
        """Whether gradients are read, and whether they are cleared, anywhere in a loop."""
        nodes = list(walk(stmt))
        return any(n in self.marks.readers for n in nodes), any(n in self.marks.clearers for n in nodes)

    def _own_loop(self, node: ast.AST, stmt: ast.stmt) -> bool:
        loops = [s for s in self.m.spine(node) if isinstance(s, (ast.For, ast.While))]
        return isinstance(node, (ast.Break, ast.Continue)) and bool(loops) and self.m.inside(loops[0], stmt)

    # ------------------------------------------------------------ functions

    def evaluates_only(self, function: ast.AST, trail: frozenset[ast.AST] = frozenset()) -> bool:
        """Whether a function does no more than run models and compute losses, also in functions that it calls."""
        if function in trail:
            return True
        if function not in self._only_evaluates:
            kinds = self.callees.kinds_in.get(function, [])
            fine = not self.callees.touches(function)
            fine = fine and all(k in ("forward", "loss", "call") or asks_if_enabled(n) for n, k in kinds)
            raised = [n for n in walk(function) if isinstance(n, ast.Raise) and n in self.marks.relevant]
            fine = fine and not any(around(self.m, n) is function for n in raised)
            inner = {
                c
                for call in self.callees.calls_in[function]
                for c in self.callees.runs(call)
                if c in self.marks.functions
            }
            fine = fine and all(self.evaluates_only(c, trail | {function}) for c in inner)
            self._only_evaluates[function] = fine
        return self._only_evaluates[function]

    def without_gradients(self, node: ast.AST) -> bool:
        """Whether a ``no_grad`` stands around a node in its function, or above the function."""
        for outer in self.m.ancestors(node):
            if isinstance(outer, (ast.With, ast.AsyncWith)):
                if any(_NO_GRAD.search(self.m.src(i.context_expr)) for i in outer.items):
                    return True
            elif isinstance(outer, FUNCTIONS):
                return any(_NO_GRAD.search(self.m.src(d)) for d in outer.decorator_list)
        return False


def find_asides(old: Evaluation, new: Evaluation, twin: Callable[[ast.AST], ast.AST | None]) -> None:
    """Find the conditions on which only evaluation hangs in both programs; ``twin`` leads to the old one."""
    for stmt in new.m.of(ast.For, ast.While, ast.If):
        if isinstance(stmt, (ast.For, ast.While)):
            source = twin(stmt)
            if isinstance(source, (ast.For, ast.While)) and new.only_reads(stmt) != old.only_reads(source):
                new.loud.add(stmt)
                old.loud.add(source)
        elif isinstance(stmt, ast.If):
            source = twin(stmt)
            if isinstance(source, ast.If) and new.only_evaluation(stmt) and old.only_evaluation(source):
                new.asides.add(stmt)
                old.asides.add(source)
