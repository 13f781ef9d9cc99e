"""What is marked to run under autocast: statements of a block, and parts of one that get a line of their own."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from ...facts.scopes import Block

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Global, ast.Nonlocal)


@dataclass(eq=False)
class Region:
    """Statements ``first`` to ``last`` of a block run under autocast."""

    block: Block
    first: int
    last: int
    why: str

    def stmts(self) -> list[ast.stmt]:
        return self.block.body[self.first : self.last + 1]


@dataclass(eq=False)
class Hoist:
    """A loss computed in the argument itself: it gets a name, under autocast, before the statement."""

    stmt: ast.stmt
    expr: ast.expr
    name: str


@dataclass(eq=False)
class Marks:
    block: Block
    spans: list[tuple[int, int, str]] = field(default_factory=list)
