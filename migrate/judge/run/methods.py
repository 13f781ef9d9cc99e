"""Methods that are values: ``self.backward = self.amp_backward if args.fp16 else self.plain_backward``."""

from __future__ import annotations

import ast

from ..program.program import Program
from ..terms import Term


class Methods:
    """Says of an attribute which method of one program it reads."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._found: dict[ast.Attribute, Term | None] = {}

    def of(self, expr: ast.Attribute) -> Term | None:
        """The method that an attribute reads by its own name and is not called at once; None of any other attribute,
        and of one to which the program gives something."""
        if expr not in self._found:
            self._found[expr] = self._method(expr)
        return self._found[expr]

    def _method(self, expr: ast.Attribute) -> Term | None:
        m, held = self.program.m, self.program.v.of(expr)
        above = m.parent.get(expr)
        if not held or any(o.kind != "method" for o in held) or (isinstance(above, ast.Call) and above.func is expr):
            return None
        functions = {o.key[1] for o in held}  # type: ignore[index]
        if len(functions) != 1 or any(not isinstance(n.ctx, ast.Load) for n in m.attributes(expr.attr)):
            return None
        (function,) = functions
        if getattr(function, "name", "") != expr.attr:
            return None
        return ("obj", frozenset({("function", self.program.naming.place(function))}))
