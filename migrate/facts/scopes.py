"""Scopes and the names that they bind, and blocks of statements."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
ScopeNode = ast.Module | ast.ClassDef | FunctionNode


@dataclass(eq=False)
class Scope:
    """A module, class, function or lambda, and the names it binds."""

    node: ScopeNode
    parent: Scope | None
    names: set[str] = field(default_factory=set)
    outer: set[str] = field(default_factory=set)  # declared global or nonlocal
    globals: set[str] = field(default_factory=set)
    params: tuple[str, ...] = ()
    assigned: set[str] = field(default_factory=set)  # names that are bound by more than a `from … import`
    linked: dict[str, Scope] = field(default_factory=dict)  # names of other files, by the file's own scope
    stars: list[Scope] = field(default_factory=list)  # files of which all names are imported

    @property
    def is_function(self) -> bool:
        return isinstance(self.node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))

    def bind(self, *names: str) -> None:
        self.names.update(names)
        self.assigned.update(names)

    def binds(self, name: str) -> bool:
        """Whether a file's own scope knows a name, from another file perhaps."""
        return name in self.names or self._holder(name) is not None

    def origin(self, name: str) -> Scope:
        """The scope of the file that a name of a file comes from, which others may have handed on."""
        return self._holder(name) or self

    def _holder(self, name: str) -> Scope | None:
        """The first scope on the ways of a name that has it; stars may go in circles (a package and its parts)."""
        todo, seen = [self], {self}
        known: Scope | None = None
        while todo:
            at = todo.pop()
            if name in at.names:
                return at
            linked = at.linked.get(name)
            known = known or (at if linked is not None else None)
            onward = [one for one in ([linked] if linked is not None else at.stars) if one not in seen]
            seen.update(onward)
            todo += reversed(onward)
        return known


@dataclass(frozen=True, eq=False)
class Block:
    """A list of statements under one header (or a module's own)."""

    owner: ast.AST
    field_name: str
    body: list[ast.stmt]
