"""A function as a flat list of operations, so that a run of it can stop anywhere and be compared."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field


@dataclass(eq=False)
class Label:
    """A place in the code, filled in when it is reached. ``looks``: gradients are read from there on, before anything
    else goes on."""

    at: int = -1
    looks: bool = False


@dataclass(eq=False)
class Op:
    """One operation. ``pad`` is where an exception goes on, None where it leaves the function."""

    kind: str
    node: ast.AST
    target: Label | None = None
    pad: Label | None = None
    value: ast.expr | None = None
    name: str = ""


@dataclass(eq=False)
class Code:
    """The operations of one function (or of a module's body)."""

    node: ast.AST
    ops: list[Op] = field(default_factory=list)
    generator: bool = False
