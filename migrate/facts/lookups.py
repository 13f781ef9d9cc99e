"""The nodes of a program by kind, by name, by function: each is put in order once, when it is first asked for."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TypeVar

from .names import called_name
from .scopes import Scope
from .syntax import Syntax

Node = TypeVar("Node", bound=ast.AST)


class Lookups(Syntax):
    """Finds nodes without a walk through all of them."""

    def all(self, kind: type[Node]) -> Sequence[Node]:
        """The nodes of just this class, in order. Loops over every node of the module would be most of a run's time."""
        return self._by_kind.get(kind, ())  # type: ignore[return-value]

    def of(self, *kinds: type[ast.AST]) -> list[ast.AST]:
        """The nodes of just these classes, in order."""
        wanted = frozenset(kinds)
        return [node for node in self.nodes if type(node) in wanted]

    @cached_property
    def _by_kind(self) -> dict[type[ast.AST], list[ast.AST]]:
        found: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        for node in self.nodes:
            found[type(node)].append(node)
        return found

    def named(self, name: str) -> Sequence[ast.Name]:
        """Where a name stands, in order."""
        return self._by_name.get(name, ())

    @cached_property
    def _by_name(self) -> dict[str, list[ast.Name]]:
        found: dict[str, list[ast.Name]] = defaultdict(list)
        for node in self.all(ast.Name):
            found[node.id].append(node)
        return found

    def loads(self, name: str, scope: Scope | None) -> Sequence[ast.Name]:
        """Where a name that belongs to ``scope`` is read, in order."""
        if name not in self._loads:
            by_scope: dict[Scope | None, list[ast.Name]] = defaultdict(list)
            for node in self.named(name):
                if isinstance(node.ctx, ast.Load):
                    by_scope[self.binding_scope(name, self.scope(node))].append(node)
            self._loads[name] = by_scope
        return self._loads[name].get(scope, ())

    @cached_property
    def _loads(self) -> dict[str, dict[Scope | None, list[ast.Name]]]:
        return {}

    def uses(self, name: str, scope: Scope | None) -> Sequence[ast.Name]:
        """Where a name that belongs to ``scope`` is read or bound, in order."""
        return self.in_order((*self.loads(name, scope), *self.bindings(name, scope)))

    def attributes(self, attr: str) -> Sequence[ast.Attribute]:
        """Where an attribute of this name stands, in order."""
        return self._by_attribute.get(attr, ())

    @cached_property
    def _by_attribute(self) -> dict[str, list[ast.Attribute]]:
        found: dict[str, list[ast.Attribute]] = defaultdict(list)
        for node in self.all(ast.Attribute):
            found[node.attr].append(node)
        return found

    def reads(self, target: ast.Name | ast.Attribute) -> Sequence[ast.Name | ast.Attribute]:
        """Where variables, or attributes, of the name of a target are read, in order."""
        kind, name = (ast.Name, target.id) if isinstance(target, ast.Name) else (ast.Attribute, target.attr)
        return self._read.get((kind, name), ())

    @cached_property
    def _read(self) -> dict[tuple[type, str], list[ast.Name | ast.Attribute]]:
        found: dict[tuple[type, str], list[ast.Name | ast.Attribute]] = defaultdict(list)
        for name in self.all(ast.Name):
            if isinstance(name.ctx, ast.Load):
                found[ast.Name, name.id].append(name)
        for attribute in self.all(ast.Attribute):
            if isinstance(attribute.ctx, ast.Load):
                found[ast.Attribute, attribute.attr].append(attribute)
        return found

    def calls(self, name: str) -> Sequence[ast.Call]:
        """The calls of a function or method of this name, in order."""
        return self._by_callee.get(name, ())

    @cached_property
    def _by_callee(self) -> dict[str, list[ast.Call]]:
        found: dict[str, list[ast.Call]] = defaultdict(list)
        for call in self.all(ast.Call):
            found[called_name(call)].append(call)
        return found

    def defined(self, name: str) -> Sequence[ast.AST]:
        """The functions of this name."""
        return self._by_definition.get(name, ())

    @cached_property
    def _by_definition(self) -> dict[str, list[ast.AST]]:
        found: dict[str, list[ast.AST]] = defaultdict(list)
        functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = [*self.all(ast.FunctionDef)]
        functions += self.all(ast.AsyncFunctionDef)
        for node in functions:
            found[node.name].append(node)
        return found

    def own(self, scope: Scope, kind: type[Node]) -> Sequence[Node]:
        """The nodes of just this class whose `function` is ``scope``, in order."""
        return self._by_function.get((scope, kind), ())  # type: ignore[return-value]

    @cached_property
    def _by_function(self) -> dict[tuple[Scope, type[ast.AST]], list[ast.AST]]:
        found: dict[tuple[Scope, type[ast.AST]], list[ast.AST]] = defaultdict(list)
        for node in self.nodes:
            found[self.function(node), type(node)].append(node)
        return found

    def bindings(self, name: str, scope: Scope | None) -> Sequence[ast.Name]:
        """Where a name that belongs to ``scope`` is bound or deleted, in order."""
        return self._by_binding.get((scope, name), ())

    @cached_property
    def _by_binding(self) -> dict[tuple[Scope | None, str], list[ast.Name]]:
        found: dict[tuple[Scope | None, str], list[ast.Name]] = defaultdict(list)
        for node in self.all(ast.Name):
            if not isinstance(node.ctx, ast.Load):
                found[self.binding_scope(node.id, self.scope(node)), node.id].append(node)
        return found

    def stores(self, name: str, scope: Scope | None) -> list[ast.Name]:
        """Where a name that belongs to ``scope`` is given something, in order."""
        return [n for n in self.bindings(name, scope) if isinstance(n.ctx, ast.Store)]

    @cached_property
    def used_inside(self) -> frozenset[tuple[Scope | None, str]]:
        """The names, each with the scope that it belongs to, that stand in scopes inside of that one as well."""
        return self._inside(self.all(ast.Name))

    @cached_property
    def set_inside(self) -> frozenset[tuple[Scope | None, str]]:
        """Those that are given something there."""
        return self._inside([node for node in self.all(ast.Name) if isinstance(node.ctx, ast.Store)])

    def _inside(self, nodes: Iterable[ast.Name]) -> frozenset[tuple[Scope | None, str]]:
        places = {(self.scope(node), node.id) for node in nodes}
        found = ((scope, self.binding_scope(name, scope), name) for scope, name in places)
        return frozenset((home, name) for scope, home, name in found if home is not scope)

    def strings(self, text: str) -> Sequence[ast.Constant]:
        """Where a string is written out, in order."""
        return self._by_string.get(text, ())

    @cached_property
    def _by_string(self) -> dict[str, list[ast.Constant]]:
        found: dict[str, list[ast.Constant]] = defaultdict(list)
        for node in self.all(ast.Constant):
            if isinstance(node.value, str):
                found[node.value].append(node)
        return found

    def declared(self, name: str) -> Sequence[ast.AST]:
        """Imports, functions and classes that bind a name."""
        return self._by_declaration.get(name, ())

    @cached_property
    def _by_declaration(self) -> dict[str, list[ast.AST]]:
        found: dict[str, list[ast.AST]] = defaultdict(list)
        for alias in self.all(ast.alias):
            found[alias.asname or alias.name.split(".")[0]].append(alias)
        for function in self.all(ast.FunctionDef):
            found[function.name].append(function)
        for cls in self.all(ast.ClassDef):
            found[cls.name].append(cls)
        return found

    def statements(self, scope: Scope) -> Sequence[ast.stmt]:
        """The statements whose `function` is ``scope``, those of a block after the one that holds it."""
        return self._statements.get(scope, ())

    @cached_property
    def _statements(self) -> dict[Scope, list[ast.stmt]]:
        found: dict[Scope, list[ast.stmt]] = defaultdict(list)
        for stmt in self.place:
            found[self.function(stmt)].append(stmt)
        return found

    def in_order(self, nodes: Iterable[Node]) -> list[Node]:
        """Different nodes as they follow each other in `nodes`."""
        return sorted(set(nodes), key=self._rank.__getitem__)

    @cached_property
    def outer_names(self) -> frozenset[str]:
        """Names that some function declares global or nonlocal."""
        return frozenset(name for scope in self.scope_of.values() for name in scope.outer)

    @cached_property
    def bound_names(self) -> frozenset[str]:
        """Names that are bound in some scope."""
        return frozenset(name for scope in self.scope_of.values() for name in scope.names)

    @cached_property
    def words(self) -> frozenset[str]:
        """Every name that is bound or read somewhere in the module, and every attribute."""
        imported = {a.asname or a.name.split(".")[0] for a in self.all(ast.alias)}
        return frozenset({*self.bound_names, *imported, *self._by_name, *self._by_attribute})

    @cached_property
    def parameters(self) -> frozenset[str]:
        """The names of all parameters of its functions."""
        return frozenset(n.arg for n in self.all(ast.arg))

    @cached_property
    def variables(self) -> frozenset[str]:
        """The names of all its variables, read or bound."""
        return frozenset(self._by_name)
