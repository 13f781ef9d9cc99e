"""What names and attributes of one program are assigned."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from ..facts.module import Module
from ..facts.scopes import Scope
from ..nodes import walk


class Assigned:
    """All assignments of one program, by what they give a value."""

    def __init__(self, m: Module) -> None:
        self.m = m

    def in_scope(self, name: str, scope: Scope) -> list[tuple[ast.AST, ast.expr]]:
        """All that a name of a function or file is ever given in it, with the targets."""
        return self._names.get((scope, name), [])

    def to(self, name: str, at: ast.AST) -> list[tuple[ast.AST, ast.expr]]:
        """What is assigned to a name in the function that ``at`` stands in, with the targets."""
        return self._names.get((self.m.function(at), name), [])

    def row(self, name: str, value: ast.expr) -> int | None:
        """Which item of a value that is taken apart a name is given; None where it is given all of it."""
        above = self.m.parent[value]
        target = above.targets[0] if isinstance(above, ast.Assign) and len(above.targets) == 1 else None
        if not isinstance(target, (ast.Tuple, ast.List)) or any(isinstance(one, ast.Starred) for one in target.elts):
            return None
        at = [number for number, one in enumerate(target.elts) if isinstance(one, ast.Name) and one.id == name]
        return at[0] if len(at) == 1 else None

    def stored(self, attr: str) -> list[tuple[ast.Attribute, ast.expr]]:
        """What attributes of a name are given, on any object."""
        return self._attributes.get(attr, [])

    @property
    def attributes(self) -> Iterator[tuple[ast.Attribute, ast.expr]]:
        """Every attribute that is given something, with that."""
        return (one for each in self._attributes.values() for one in each)

    @cached_property
    def _names(self) -> dict[tuple[Scope, str], list[tuple[ast.AST, ast.expr]]]:
        found: dict[tuple[Scope, str], list[tuple[ast.AST, ast.expr]]] = defaultdict(list)
        for target, value in _assignments(self.m):
            if isinstance(target, ast.Name):
                found[self.m.function(target), target.id].append((target, value))
        return found

    @cached_property
    def _attributes(self) -> dict[str, list[tuple[ast.Attribute, ast.expr]]]:
        found: dict[str, list[tuple[ast.Attribute, ast.expr]]] = defaultdict(list)
        for target, value in _assignments(self.m):
            if isinstance(target, ast.Attribute):
                found[target.attr].append((target, value))
        return found


def _assignments(m: Module) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Every name and attribute that a module assigns, with the value: the whole one, where it is not written out."""
    for node in m.of(ast.Assign, ast.AugAssign, ast.For, ast.AnnAssign, ast.NamedExpr):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _paired(target, value)
            case ast.AugAssign(target=target, value=value) | ast.For(target=target, iter=value):
                yield from _paired(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                yield from _paired(target, value)
            case _:
                pass


def _paired(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.AST, ast.expr]]:
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        if len(target.elts) == len(value.elts):
            for one, each in zip(target.elts, value.elts, strict=True):
                yield from _paired(one, each)
            return
    for node in walk(target):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store):
            yield node, value
