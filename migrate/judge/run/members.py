"""Members of enumerations: what is ``AmpType.APEX`` is not ``AmpType.PYTORCH``."""

from __future__ import annotations

import ast

from ..program.program import Program
from ..program.syntax import last_name
from ..terms import Term, member

_ENUMERATIONS = frozenset({"Enum", "StrEnum", "IntEnum"})


class Members:
    """Those of one program's enumerations."""

    def __init__(self, program: Program) -> None:
        self.v = program.v
        self._of: dict[ast.Attribute, Term | None] = {}

    def of(self, expr: ast.Attribute) -> Term | None:
        """The member that an expression stands for; None where it is none."""
        if expr not in self._of:
            self._of[expr] = self._member(expr)
        return self._of[expr]

    def _member(self, expr: ast.Attribute) -> Term | None:
        held = self.v.of(expr.value)
        cls = next(iter(held)).key if len(held) == 1 and isinstance(expr.ctx, ast.Load) else None
        if not isinstance(cls, ast.ClassDef) or not any(last_name(base) in _ENUMERATIONS for base in cls.bases):
            return None
        names = [t.id for s in cls.body if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)]
        values = [s.value for s in cls.body if isinstance(s, ast.Assign)]
        # a member of another one's value is that member by another name
        apart = all(isinstance(v, ast.Call) for v in values) or len({ast.dump(v) for v in values}) == len(values)
        return member(cls.name, expr.attr) if apart and names.count(expr.attr) == 1 else None
