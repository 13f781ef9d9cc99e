"""Names that may hold native autocast itself: ``amp_autocast = torch.autocast``, beside ``suppress`` in another arm."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cached_property

from ...facts.module import Module
from ...flow.values import Values
from .syntax import last_name


class Autocasting:
    """Those of one program, by their names: which of them holds autocast on a path, the run says."""

    def __init__(self, m: Module, v: Values) -> None:
        self.m, self.v = m, v

    def means(self, expr: ast.AST) -> bool:
        """Whether an expression is autocast itself, not a call of it."""
        if last_name(expr) != "autocast" or not isinstance(getattr(expr, "ctx", None), ast.Load):
            return False
        if isinstance(expr, ast.Attribute):
            return True
        return isinstance(expr, ast.Name) and not self._given(expr)

    def _given(self, name: ast.Name) -> bool:
        """Whether the program gives a name a value itself: an import is none."""
        home = self.m.binding_scope(name.id, self.m.function(name))
        return home is not None and (home.parent is not None or bool(self.m.bindings(name.id, home)))

    def enters(self, expr: ast.expr) -> bool:
        """Whether ``with`` may enter what a name for autocast gives when it is called."""
        return isinstance(expr, ast.Call) and last_name(expr.func) in self._names

    @cached_property
    def _names(self) -> frozenset[str]:
        """Names, attributes and parameters that are given autocast, or what is given autocast."""
        into: dict[str, set[str]] = defaultdict(set)
        found: set[str] = set()
        for node in self.m.of(ast.Assign, ast.AnnAssign, ast.Call):
            for name, value in self._gives(node):
                for part in _choices(value):
                    if self.means(part):
                        found.add(name)
                    elif isinstance(part, (ast.Name, ast.Attribute)):
                        into[last_name(part)].add(name)
        todo = list(found)
        while todo:
            for more in into.get(todo.pop(), set()) - found:
                found.add(more)
                todo.append(more)
        return frozenset(found)

    def _gives(self, node: ast.AST) -> list[tuple[str, ast.expr]]:
        """The names that a statement or call gives a value."""
        match node:
            case ast.Assign(targets=targets, value=value):
                return [(last_name(t), value) for t in targets if isinstance(t, (ast.Name, ast.Attribute))]
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return [(last_name(target), value)]
            case ast.Call(args=args, keywords=keywords):
                found = [(k.arg, k.value) for k in keywords if k.arg is not None]
                for callee in self.v.callees(node):
                    scope = self.m.scope_of[callee]
                    found += zip([n for n in scope.params if n != self.m.self_name(scope)], args, strict=False)
                return found
            case _:
                return []


def _choices(value: ast.expr) -> list[ast.AST]:
    """What a value may be: either arm of a choice, and what a ``partial`` is made of."""
    match value:
        case ast.IfExp(body=one, orelse=other):
            return [*_choices(one), *_choices(other)]
        case ast.Call(func=func, args=[first, *_]) if last_name(func) == "partial":
            return [first]
        case ast.Name() | ast.Attribute():
            return [value]
        case _:
            return []
