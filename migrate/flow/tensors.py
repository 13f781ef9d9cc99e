"""Tensors that a program makes for itself: a perturbation, a copy of an input, an input from the loader.

No optimizer holds such a tensor, so Apex never unscaled its ``grad`` and a GradScaler does not either: what reads it
sees the same in both. Where it comes from and where it goes has to be known: every assignment of its name makes a
tensor, and no use hands it to somebody who may give it to an optimizer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..facts.module import Module
from ..facts.names import called_name
from ..facts.scopes import Scope
from ..knowledge.tensors import KEEPS, LOADERS, MAKES, NO_LOADERS, SAME
from ..nodes import walk
from .values import Values

_USED_UP = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Subscript, ast.Expr, ast.FormattedValue, ast.AugAssign)
_TESTS = (ast.If, ast.While, ast.Assert)


def own_gradient(m: Module, v: Values, node: ast.Attribute) -> bool:
    """Whether ``node``, ``x.grad``, is the gradient of a tensor that no optimizer holds."""
    return isinstance(node.value, ast.Name) and _Own(m, v).name(node.value)


class _Own:
    """One question: names and expressions that were met before are taken to be as they should (by induction)."""

    def __init__(self, m: Module, v: Values) -> None:
        self.m, self.v = m, v
        self.seen: set[object] = set()

    def name(self, node: ast.Name) -> bool:
        """Whether all that a name holds was made here and stays here."""
        scope = self.m.binding_scope(node.id, self.m.scope(node))
        if scope is None or isinstance(scope.node, ast.ClassDef):
            return False
        if (scope, node.id) in self.seen:
            return True
        self.seen.add((scope, node.id))
        stored = self._uses(scope, node.id, ast.Store)
        if node.id in scope.params and not self._handed(scope, node.id):
            return False
        known = bool(stored) or node.id in scope.params
        return known and all(self._stored(n) for n in stored) and self._name_stays(scope, node.id)

    def _uses(self, scope: Scope, name: str, how: type[ast.expr_context]) -> list[ast.Name]:
        return [n for n in self.m.uses(name, scope) if isinstance(n.ctx, how)]

    # ------------------------------------------------------------ where it comes from

    def _handed(self, scope: Scope, name: str) -> bool:
        """Whether every call in this file hands such a tensor to a parameter."""
        calls = self.v.calls.get(scope.node, [])
        handed = [arg for call in calls for param, arg in self._arguments(call, scope) if param == name]
        return bool(calls) and len(handed) == len(calls) and all(self._fresh(arg) for arg in handed)

    def _stored(self, node: ast.Name) -> bool:
        above = self.m.parent[node]
        match above:
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                return self._fresh(value)
            case ast.AugAssign():
                return True
            case ast.For() | ast.AsyncFor():
                return self._loaded(above)
            case ast.Tuple(elts=targets):
                return self._in_tuple(above, targets.index(node))
            case _:
                return False

    def _in_tuple(self, target: ast.Tuple, number: int) -> bool:
        above = self.m.parent[target]
        if isinstance(above, ast.Assign) and isinstance(above.value, ast.Tuple):
            return len(above.value.elts) == len(target.elts) and self._fresh(above.value.elts[number])
        while isinstance(above, ast.Tuple):
            above = self.m.parent[above]
        return isinstance(above, (ast.For, ast.AsyncFor)) and self._loaded(above)

    def _loaded(self, loop: ast.For | ast.AsyncFor) -> bool:
        """Whether a loop goes over batches of data."""
        source = self.m.src(loop.iter)
        return LOADERS.fit(source) and not NO_LOADERS.fit(source)

    def _fresh(self, expr: ast.expr) -> bool:
        """Whether the value of an expression is a tensor of its own, no parameter and no part of a model."""
        match expr:
            case ast.BinOp() | ast.Constant(value=None) | ast.Attribute(attr="data"):
                return True
            case ast.UnaryOp(op=ast.USub()):
                return True
            case ast.Name():
                return self.name(expr)
            case ast.IfExp(body=one, orelse=other):
                return self._fresh(one) and self._fresh(other)
            case ast.Call(func=ast.Attribute(attr=name)) if name in MAKES:
                return True
            case ast.Call(func=ast.Name(id="Variable") | ast.Attribute(attr="Variable"), args=[_, *_]):
                return True  # detached from what it is made of
            case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in SAME or name.endswith("_"):
                return self._fresh(inner)
            case ast.Call():
                callees = self.v.callees(expr)
                return bool(callees) and all(self._gives_fresh(callee) for callee in callees)
            case _:
                return False

    def _gives_fresh(self, function: ast.AST) -> bool:
        """Whether a function of the file returns such tensors only."""
        if function in self.seen:
            return True
        self.seen.add(function)
        inside = [n for n in walk(function) if self.m.function(n).node is function]
        given = [n.value for n in inside if isinstance(n, ast.Return)]
        plain = isinstance(function, ast.FunctionDef) and not any(isinstance(n, ast.Yield) for n in inside)
        return plain and bool(given) and all(value is not None and self._fresh(value) for value in given)

    # ------------------------------------------------------------ where it goes

    def _stays(self, node: ast.AST) -> bool:
        """Whether nobody keeps the value of an expression of whom more is not known."""
        if node in self.seen:
            return True
        self.seen.add(node)
        above = self.m.parent[node]
        match above:
            case ast.Attribute(attr=name):
                call = self.m.parent[above]
                itself = isinstance(call, ast.Call) and call.func is above and (name in SAME or name.endswith("_"))
                return not itself or self._stays(call)
            case ast.Assign(targets=targets):
                return all(self._called_so(t) for t in targets)
            case ast.Tuple(elts=values):
                return self._unpacked(above, values.index(node))  # type: ignore[arg-type]
            case ast.IfExp(test=test):
                return node is test or self._stays(above)
            case ast.Dict(keys=keys, values=values):
                return self._spread(above, keys[values.index(node)])  # type: ignore[arg-type]
            case ast.keyword():
                call = self.m.parent[above]
                return isinstance(call, ast.Call) and above.arg is not None and self._taken(call, node)
            case ast.Call():
                return self._taken(above, node)
            case ast.Return():
                calls = self.v.calls.get(self.m.function(node).node, [])
                return bool(calls) and all(self._stays(call) for call in calls)
            case _:
                return isinstance(above, (*_USED_UP, *_TESTS))

    def _unpacked(self, value: ast.Tuple, number: int) -> bool:
        """``a, b = x, y``: what ``y`` is called from now on."""
        above = self.m.parent[value]
        match above:
            case ast.Assign(targets=[ast.Tuple(elts=targets)]) if len(targets) == len(value.elts):
                return self._called_so(targets[number])
            case _:
                return False

    def _spread(self, row: ast.Dict, key: ast.expr | None) -> bool:
        """``inputs = {"inputs_embeds": x}``, of which nothing else becomes than ``model(**inputs)``."""
        assigned = self.m.parent[row]
        if not isinstance(key, ast.Constant) or not isinstance(assigned, ast.Assign):
            return False
        if not all(isinstance(t, ast.Name) for t in assigned.targets):
            return False
        named = [t for t in assigned.targets if isinstance(t, ast.Name)]
        scopes = [(self.m.binding_scope(t.id, self.m.scope(t)), t.id) for t in named]
        return all(
            scope is not None and all(self._handed_by_key(use, key.value) for use in self._uses(scope, name, ast.Load))
            for scope, name in scopes
        )

    def _handed_by_key(self, use: ast.Name, key: object) -> bool:
        """Whether a use of a dictionary hands what it has under ``key`` to who does not keep it, or does not take it
        out."""
        above = self.m.parent[use]
        if isinstance(above, ast.Subscript):
            return above.value is use and isinstance(above.ctx, (ast.Store, ast.Del))
        call = self.m.parent[above]
        if not (isinstance(above, ast.keyword) and above.arg is None and isinstance(call, ast.Call)):
            return False
        callees = self.v.callees(call)
        scopes = [self.m.scope_of[callee] for callee in callees]
        if not callees:
            return _keeps_nothing(call)
        return all(key in scope.params and self._name_stays(scope, str(key)) for scope in scopes)

    def _taken(self, call: ast.Call, node: ast.AST) -> bool:
        """Whether the function that a value is handed to does not keep it. Classes and collections do."""
        callees = self.v.callees(call)
        if not callees:
            return (called_name(call) == "Variable" and self._stays(call)) or _keeps_nothing(call)
        for callee in callees:
            scope = self.m.scope_of[callee]
            params = [param for param, arg in self._arguments(call, scope) if arg is node]
            if not params or not all(p in scope.params and self._name_stays(scope, p) for p in params):
                return False
        return True

    def _name_stays(self, scope: Scope | None, name: str) -> bool:
        if (scope, name, "uses") in self.seen:
            return True
        self.seen.add((scope, name, "uses"))
        return scope is not None and all(self._stays(n) for n in self._uses(scope, name, ast.Load))

    def _called_so(self, target: ast.AST) -> bool:
        """Whether what is assigned to ``target`` stays."""
        if not isinstance(target, ast.Name):
            return False
        return self._name_stays(self.m.binding_scope(target.id, self.m.scope(target)), target.id)

    def _arguments(self, call: ast.Call, callee: Scope) -> Iterator[tuple[str, ast.expr]]:
        """The arguments of a call by the parameters they fill; nothing behind a ``*``."""
        names = [n for n in callee.params if n != self.m.self_name(callee)]
        for name, arg in zip(names, call.args, strict=False):
            if isinstance(arg, ast.Starred):
                break
            yield name, arg
        for keyword in call.keywords:
            if keyword.arg is not None:
                yield keyword.arg, keyword.value


def _keeps_nothing(call: ast.Call) -> bool:
    """Whether a function of which nothing else is known does not sound as if it kept what it is handed."""
    name = called_name(call)
    return not (KEEPS.fit(name) or name[:1].isupper())
