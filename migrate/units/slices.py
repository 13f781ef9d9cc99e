"""What a statement defines and reads: names, attributes and items by their text, calls of methods opened."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field

from ..facts.scopes import Block
from ..knowledge.operations import OWNER_WRITES
from ..nodes import walk
from .compute import walk_now
from .frames import said
from .unit import Context


@dataclass
class _Places:
    """By text the statements of a block that may assign it, as far as they were asked."""

    of: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    told: int = 0


class Slices:
    """Definitions and reads of one module's statements, with the attributes that methods set."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.loose = False  # whether any method that is called for its effect changes its object
        self._sets: dict[ast.AST, frozenset[str]] = {}
        self._texts: dict[ast.expr, str] = {}
        self._defines: dict[tuple[ast.stmt, bool], frozenset[str]] = {}
        self._places: dict[tuple[Block, bool], _Places] = defaultdict(_Places)

    def defines(self, stmt: ast.stmt) -> frozenset[str]:
        """Texts (``loss``, ``self.loss_G``) that a statement may assign, nested statements included: each loss asks all
        that stand above it."""
        known = self._defines.get((stmt, self.loose))
        if known is None:
            known = self._defines[stmt, self.loose] = frozenset(self._defined(stmt))
        return known

    def _defined(self, stmt: ast.stmt) -> set[str]:
        found: set[str] = set()
        for node in walk_now(stmt):
            match node:
                case ast.Name(id=name, ctx=ast.Store()):
                    found.add(name)
                case ast.Attribute(ctx=ast.Store()):
                    found.add(self._says(node))
                case ast.Subscript(value=value, ctx=ast.Store()):
                    found.add(self._says(value))
                case ast.Call(func=ast.Attribute(value=owner, attr=attr)) if attr in OWNER_WRITES:
                    found.add(self._says(owner))
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner))) if self.loose:
                    found.add(self._says(owner))
                case _:
                    pass
            if isinstance(node, ast.Call):
                found |= self._set_by(node)
        return found

    def above(self, block: Block, index: int, needed: set[str]) -> int | None:
        """The last statement of a block ahead of ``index`` that may assign one of the texts: many losses ask."""
        near = max(0, index - len(needed))
        for number in range(index - 1, near - 1, -1):  # where many are needed, one of them is set close by
            if not needed.isdisjoint(self.defines(block.body[number])):
                return number
        index = near
        places = self._places[block, self.loose]
        for number in range(places.told, index):
            for text in self.defines(block.body[number]):
                places.of[text].append(number)
        places.told = max(places.told, index)
        found = -1
        for text in needed:
            numbers = places.of.get(text, ())
            at = bisect_left(numbers, index)
            found = max(found, numbers[at - 1] if at else -1)
        return found if found >= 0 else None

    def certain(self, stmt: ast.stmt) -> set[str]:
        """Names that a plain assignment surely replaces."""
        if isinstance(stmt, ast.Assign):
            return {
                t.id
                for target in stmt.targets
                for t in walk(target)
                if isinstance(t, ast.Name) and isinstance(t.ctx, ast.Store)
            }
        return set()

    def reads(self, node: ast.AST) -> set[str]:
        """Texts that a statement or expression reads."""
        found: set[str] = set()
        for n in walk_now(node):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load):
                found.add(n.id)
            elif isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load):
                found.add(self._says(n))
        return found

    def _says(self, expr: ast.expr) -> str:
        """The text of an expression; of each link of a chain of calls it is asked again and again."""
        text = self._texts.get(expr)
        if text is None:
            text = self._texts[expr] = said(expr)
        return text

    def _set_by(self, call: ast.Call) -> set[str]:
        """Attributes of the receiver that a method of this module sets, as the caller would write them."""
        if not isinstance(call.func, ast.Attribute):
            return set()
        base = self._says(call.func.value)
        found: set[str] = set()
        for callee in self.ctx.v.callees(call):
            found |= {f"{base}.{attr}" for attr in self.attributes_set(callee)}
        return found

    def attributes_set(self, node: ast.AST) -> frozenset[str]:
        """Attributes of its own instance that a method sets, itself or through other methods."""
        if node in self._sets:
            return self._sets[node]
        self._sets[node] = frozenset()
        first = self.ctx.m.self_name(self.ctx.m.scope_of[node])
        found: set[str] = set()
        if first is not None:
            for n in walk(node):
                if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store):
                    if isinstance(n.value, ast.Name) and n.value.id == first:
                        found.add(n.attr)
                elif isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute):
                    if isinstance(n.func.value, ast.Name) and n.func.value.id == first:
                        for callee in self.ctx.v.callees(n):
                            found |= self.attributes_set(callee)
        self._sets[node] = frozenset(found)
        return self._sets[node]
