"""Regions without the work of the host: loading, moving and printing stay outside where that can be.

A run of statements goes under autocast from its first computation to its last. Where a loop or an arm in it also
loads data, moves it or logs, the region goes inside, around what computes there. Only what no cast of autocast
reaches is left out, so the values stay the same. So is an arm of a condition that has an autocast of its own.
"""

from __future__ import annotations

import ast

from ...facts.module import Module
from ...facts.names import called_name
from ...facts.networks import library
from ...facts.scopes import Block
from ...knowledge.host import (
    HOST_MODULES,
    NEUTRAL_CONTEXTS,
    NO_NETWORK_LIBRARIES,
    OF_NOTE,
    TELLS,
    UNTOUCHED,
    WATCHERS,
)
from ...units.compute import Compute, walk_now

Span = tuple[Block, int, int]

# Statements of the host's work between two computations, up to which one region holds both.
MAX_BETWEEN = 4
# Regions that one statement may be taken apart into.
MAX_PARTS = 4
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Global, ast.Nonlocal)
_SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete)


class Tight:
    """Takes the regions of one unit apart where they hold the host's work."""

    def __init__(self, m: Module, compute: Compute) -> None:
        self.m, self.compute = m, compute
        self._parts: dict[ast.stmt, list[Span] | None] = {}

    def spans(self, block: Block, first: int, last: int) -> list[Span]:
        """Statements ``first`` to ``last`` as the regions that they need; themselves where nothing can be left out."""
        found: list[Span] = []
        start: int | None = None
        end = first
        for i in range(first, last + 1):
            stmt = block.body[i]
            parts = self._taken_apart(stmt)
            if parts is not None or isinstance(stmt, _SCOPES):
                if start is not None:
                    found.append((block, start, end))
                found += parts or []
                start = None
            elif self._wanted(stmt):
                if start is not None and self._apart(block.body[end + 1 : i]):
                    found.append((block, start, end))
                    start = None
                start = i if start is None else start
                end = i
        if start is not None:
            found.append((block, start, end))
        return found or [(block, first, last)]

    def of_note(self, stmt: ast.stmt) -> bool:
        """Whether a statement, or one in it, does work of the host that a reader would not look for in a region."""
        return any(self._simply_of_note(s) for s in walk_now(stmt) if isinstance(s, ast.stmt))

    def many(self, stmts: list[ast.stmt]) -> bool:
        """Whether statements have more lines than a region should hold that could leave them out."""
        return sum((s.end_lineno or s.lineno) - s.lineno + 1 for s in stmts) > MAX_BETWEEN

    def _apart(self, between: list[ast.stmt]) -> bool:
        return self.many(between) and any(map(self.of_note, between))

    def _wanted(self, stmt: ast.stmt) -> bool:
        """Whether a statement computes something that autocast matters for, or may."""
        if isinstance(stmt, _SIMPLE):
            return self._computes(stmt)
        if own_autocast(stmt) and isinstance(self.m.parent[stmt], ast.If):
            return False  # one inside of another is what its own says
        return self._header_computes(stmt) or any(map(self._wanted, _inner(stmt)))

    def _taken_apart(self, stmt: ast.stmt) -> list[Span] | None:
        """The regions inside of a statement that holds others; None where it stays whole."""
        if stmt not in self._parts:
            self._parts[stmt] = self._inside(stmt)
        return self._parts[stmt]

    def _inside(self, stmt: ast.stmt) -> list[Span] | None:
        bodies = _bodies(stmt)
        beside = isinstance(stmt, ast.If) and any(map(own_autocast, _inner(stmt)))
        if not bodies or not (beside or self.of_note(stmt)) or self._header_computes(stmt):
            return None
        found: list[Span] = []
        for body in bodies:
            if any(map(self._wanted, body)):
                found += self.spans(self.m.block(body[0]), 0, len(body) - 1)
        whole = any(self.m.is_elif(block.body[first]) for block, first, _ in found)  # nothing stands around an ``elif``
        return found if 0 < len(found) <= MAX_PARTS and not whole else None

    def _header_computes(self, stmt: ast.stmt) -> bool:
        match stmt:
            case ast.With(items=items):
                return not all(_neutral(i.context_expr) for i in items)
            case ast.If(test=header) | ast.While(test=header) | ast.For(iter=header):
                return self._computes(header)
            case ast.Raise():  # an exception's own words are nothing that trains
                return self.compute.forwards(stmt)
            case ast.Try() | ast.Pass() | ast.Break() | ast.Continue() | ast.Import() | ast.ImportFrom():
                return False
            case _ if isinstance(stmt, _SCOPES):
                return False
            case _:
                return self._computes(stmt)

    def _computes(self, node: ast.AST) -> bool:
        if self.compute.forwards(node):
            return True
        return any(self._one_computes(n) for n in walk_now(node))

    def _one_computes(self, node: ast.AST) -> bool:
        """The same for one node, whatever stands in it."""
        if isinstance(node, ast.Call):
            idle = _of_the_host(node) or (called_name(node) in UNTOUCHED and not self.compute.ctx.v.callees(node))
            idle = idle or self._tells_numbers(node) or _root(node.func) in HOST_MODULES | NO_NETWORK_LIBRARIES
            idle = idle or library(self.compute.ctx.v, node.func) in NO_NETWORK_LIBRARIES  # plt.figure()
            idle = idle or self._sets_mode(node)
            return not idle and self.compute.computes(node)
        return self.compute.computes(node)

    def _simply_of_note(self, stmt: ast.stmt) -> bool:
        if isinstance(stmt, ast.For) and not self._computes(stmt.iter) and "loader" in ast.unparse(stmt.iter).lower():
            return True
        if not isinstance(stmt, _SIMPLE) or self._computes(stmt):
            return False
        if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Call) and self._tells_numbers(stmt.value):
            return True
        return any(isinstance(n, ast.Call) and (_of_the_host(n) or called_name(n) in OF_NOTE) for n in walk_now(stmt))

    def _sets_mode(self, call: ast.Call) -> bool:
        """``model.train()``, ``model.eval()``, of a network that has no such method of its own."""
        match call:
            case ast.Call(func=ast.Attribute(value=owner, attr="train" | "eval")):
                return self.compute.is_model(self.compute.ctx.v.of(owner)) and not self.compute.ctx.v.callees(call)
            case _:
                return False

    def _tells_numbers(self, call: ast.Call) -> bool:
        """Whether something is called for its effect, with Python's numbers alone: ``meter["loss"](loss.item())``."""
        stmt, given = self.m.parent[call], [*call.args, *(k.value for k in call.keywords)]
        return isinstance(stmt, ast.Expr) and bool(given) and all(self._number(arg, stmt) for arg in given)

    def _number(self, expr: ast.expr, stmt: ast.stmt) -> bool:
        match expr:
            case ast.Constant():
                return True
            case ast.Call(func=ast.Attribute(attr="item"), args=[]):
                return not self._computes(expr)
            case ast.Name(id=name):
                given = last_given(self.m, name, stmt)
                taken = given.value if isinstance(given, ast.Assign) and len(given.targets) == 1 else None
                return isinstance(taken, ast.Call) and ast.unparse(taken.func).endswith(".item")
            case _:
                return False


def last_given(m: Module, name: str, stmt: ast.stmt) -> ast.stmt | None:
    """The statement above another that gave a name its value, in its block or around it."""
    for at in m.spine(stmt):
        block, index = m.place[at]
        for before in reversed(block.body[:index]):
            if any(isinstance(n.ctx, ast.Store) and m.inside(n, before) for n in m.named(name)):
                return before
    return None


def own_autocast(stmt: ast.stmt) -> bool:
    """Whether a statement is a block under an autocast of the file's own."""
    items = stmt.items if isinstance(stmt, (ast.With, ast.AsyncWith)) else []
    return any(isinstance(i.context_expr, ast.Call) and called_name(i.context_expr) == "autocast" for i in items)


def _bodies(stmt: ast.stmt) -> list[list[ast.stmt]]:
    match stmt:
        case ast.If() | ast.For() | ast.While():
            bodies = [stmt.body, stmt.orelse]
        case ast.With():
            bodies = [stmt.body]
        case ast.Try():
            bodies = [stmt.body, *(h.body for h in stmt.handlers), stmt.orelse, stmt.finalbody]
        case _:
            bodies = []
    return [b for b in bodies if b]


def _inner(stmt: ast.stmt) -> list[ast.stmt]:
    return [s for body in _bodies(stmt) for s in body]


def _neutral(context: ast.expr) -> bool:
    """Whether a context manager says nothing about casts."""
    return isinstance(context, ast.Call) and called_name(context) in NEUTRAL_CONTEXTS


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _of_the_host(call: ast.Call) -> bool:
    """Whether a call prints, logs or asks for the next batch."""
    if called_name(call) in TELLS:
        return True
    root: ast.AST = call.func
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        if isinstance(root, ast.Attribute) and root.attr in WATCHERS and root is not call.func:
            return True
        root = root.value
    return isinstance(root, ast.Name) and root.id in WATCHERS and isinstance(call.func, ast.Attribute)
