"""Gradients that are looked at where no ``.grad`` stands: by special methods, or by an attribute's name in a string.

``print(stats)`` runs ``__str__``, ``v["weight"]`` ``__getitem__``, a ``with`` ``__exit__``; ``getattr(p, "grad")`` and
``getattr(p, what)`` of a parameter read what they do not spell as an attribute.
"""

from __future__ import annotations

import ast

from ..facts.module import Module
from ..facts.names import called_name
from ..nodes import walk
from .values import Obj, Values

_BY_NAME = frozenset("__init__ __new__ __call__ __del__ __init_subclass__ __post_init__ __setattr__".split())
_ASKS = frozenset("getattr __getattribute__ attrgetter".split())
_LISTS = frozenset("parameters named_parameters".split())


class Unnamed:
    """Answers for one module; what it takes to answer is looked up once."""

    def __init__(self, m: Module, v: Values) -> None:
        self.v = v
        self._named = any(constant.value == "grad" for constant in m.all(ast.Constant))
        self._special: list[tuple[ast.ClassDef, ast.FunctionDef]] = [
            (cls, method)
            for cls in m.all(ast.ClassDef)
            for method in cls.body
            if isinstance(method, ast.FunctionDef) and _special(method.name)
            if any(isinstance(n, ast.Attribute) and "grad" in n.attr for n in walk(method))
        ]

    def run_by(self, node: ast.AST) -> list[ast.FunctionDef]:
        """The special methods with gradients in them that using a name, an attribute or a new object may run."""
        if not self._special or not isinstance(node, (ast.Name, ast.Attribute, ast.Call)):
            return []
        held = [o.key for o in self.v.of(node) if o.kind == "instance" and isinstance(o.key, ast.ClassDef)]
        classes = {cls for made in held for cls in self.v.order(made)}
        return [method for cls, method in self._special if cls in classes]

    def spells(self, call: ast.Call) -> bool:
        """Whether a call asks for an attribute that is ``grad``, or may be: of a parameter by any name, of anything
        where the name is written somewhere else."""
        if called_name(call) not in _ASKS:
            return False
        if any(isinstance(arg, ast.Constant) and arg.value == "grad" for arg in call.args):
            return True
        if called_name(call) != "getattr" or len(call.args) < 2 or isinstance(call.args[1], ast.Constant):
            return False
        return self._named or any(map(_of_parameters, self.v.of(call.args[0])))


def _special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in _BY_NAME


def _of_parameters(obj: Obj) -> bool:
    """Whether an object is an item of what lists parameters."""
    while obj.kind == "path":
        obj = obj.key[0]  # type: ignore[index]
        if obj.kind == "call" and isinstance(obj.key, ast.Call) and called_name(obj.key) in _LISTS:
            return True
    return False
