"""What is put into lists and dictionaries of one program: ``head.append(p)``, ``groups[name] = p``."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cached_property

from ..facts.module import Module
from ..facts.scopes import Scope

_PUTS = frozenset("append extend insert add update appendleft extendleft setdefault __setitem__".split())


class Filled:
    """All that is put into something, by the name that this begins with: ``groups`` of ``groups["head"].append(p)``."""

    def __init__(self, m: Module) -> None:
        self.m = m

    def into(self, name: str, at: ast.AST) -> list[ast.expr]:
        """What is put into what a name stands for in the function that ``at`` stands in."""
        return self._put.get((self.m.function(at), name), [])

    @cached_property
    def _put(self) -> dict[tuple[Scope, str], list[ast.expr]]:
        found: dict[tuple[Scope, str], list[ast.expr]] = defaultdict(list)
        for node in self.m.of(ast.Call, ast.Assign):
            match node:
                case ast.Call(func=ast.Attribute(value=filled, attr=attr), args=args, keywords=keywords):
                    given = [*args, *(k.value for k in keywords)] if attr in _PUTS else []
                case ast.Assign(targets=[ast.Subscript(value=filled)], value=value):
                    given = [value]
                case _:
                    continue
            if given and (name := _begins(filled)) is not None:
                found[self.m.function(node), name] += given
        return found


def _begins(expr: ast.expr) -> str | None:
    """The name that an item, or what a method gives, begins with."""
    while not isinstance(expr, ast.Name):
        match expr:
            case ast.Subscript(value=inner) | ast.Call(func=ast.Attribute(value=inner)):
                expr = inner
            case _:
                return None
    return expr.id
