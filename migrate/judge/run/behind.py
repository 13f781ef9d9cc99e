"""What stands behind ``super()``: what the classes behind this one define, and nothing of the object's own."""

from __future__ import annotations

import ast

from ..program.program import Program
from ..program.syntax import last_name

_KNOWN = frozenset({"object", "ABC", "Generic", "Protocol"})  # without an attribute that training may ask for


class Behind:
    """Says what one program finds there."""

    def __init__(self, program: Program) -> None:
        self.m, self.v = program.m, program.v
        self._lacking: dict[ast.Attribute, bool] = {}

    def lacks(self, expr: ast.Attribute) -> bool:
        """Whether ``super().optimizer`` raises, as only the object itself has an attribute of that name."""
        if not isinstance(expr.value, ast.Call) or last_name(expr.value.func) != "super":
            return False
        if expr not in self._lacking:
            self._lacking[expr] = self._finds_nothing(expr)
        return self._lacking[expr]

    def _finds_nothing(self, expr: ast.Attribute) -> bool:
        cls = self.m.class_of(self.m.function(expr))
        if cls is None or expr.attr.startswith("__"):
            return False
        orders = (self.v.order(one) for one in self.m.all(ast.ClassDef))
        classes = {one for order in orders if cls in order for one in order[order.index(cls) :]}
        if any(expr.attr in self.m.scope_of[one].names for one in classes - {cls}):
            return False
        return all(self._is_here(base) for one in classes for base in one.bases)

    def _is_here(self, base: ast.expr) -> bool:
        """Whether a base is a class of the program, or one of which it is known what it has."""
        held = self.v.of(base)
        here = bool(held) and all(o.kind == "class" and isinstance(o.key, ast.ClassDef) for o in held)
        return here or last_name(base.value if isinstance(base, ast.Subscript) else base) in _KNOWN
