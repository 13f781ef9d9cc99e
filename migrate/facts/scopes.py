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
        return name in self.names or name in self.linked or any(scope.binds(name) for scope in self.stars)

    def origin(self, name: str) -> Scope:
        """The scope of the file that a name of a file comes from, which others may have handed on."""
        source, seen = self, {self}
        while name not in source.names:
            onward = [source.linked[name]] if name in source.linked else source.stars
            following = next((s for s in onward if s not in seen and s.binds(name)), None)
            if following is None:
                break
            seen.add(following)
            source = following
        return source


@dataclass(frozen=True, eq=False)
class Block:
    """A list of statements under one header (or a module's own)."""

    owner: ast.AST
    field_name: str
    body: list[ast.stmt]
