"""What the text says of names and attributes, whoever runs it."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cached_property

from ...facts.module import Module
from ...flow.objects import Obj
from ...flow.spelled import attribute_name
from ...flow.values import Values
from ...nodes import walk
from ..state import Key
from .marks import Marks
from .naming import Naming
from .syntax import FUNCTIONS, last_name

# Methods that leave a dictionary or list as it is, and functions that only read what they are handed.
_ASKING = frozenset("get items keys values copy index count __contains__ __len__".split())
_READING = frozenset(
    "print len str repr dict list sorted isinstance hasattr getattr bool any all enumerate zip format deepcopy dump "
    "dumps info debug warning pformat pprint Namespace SimpleNamespace".split()
)

# Calls of mixed precision, which leave what a model holds (``self.args = args``) as it is; only one program has them.
_OF_ONE_SIDE = frozenset({"initialize", "amp", "create", "scaler", "step"})

NAMESPACES = frozenset("SimpleNamespace Namespace".split())


class Definitions:
    """Closures, class constants, and attributes that are set, of one program."""

    def __init__(self, m: Module, v: Values, naming: Naming, marks: Marks) -> None:
        self.m, self.v, self.naming, self.marks = m, v, naming, marks

    def outlived(self, function: ast.AST) -> frozenset[str]:
        """Names of a function that functions defined inside read, which may outlive a run of it."""
        return self._holders.get(function, frozenset())

    @cached_property
    def _holders(self) -> dict[ast.AST, frozenset[str]]:
        found: dict[ast.AST, frozenset[str]] = defaultdict(frozenset)
        for inner in self.marks.functions:
            if isinstance(inner, (*FUNCTIONS, ast.Lambda)):
                outer = self.m.function(inner).node
                found[outer] |= {n.id for n in walk(inner) if isinstance(n, ast.Name)}
        return dict(found)

    def class_constant(self, keys: frozenset[Key], attr: str) -> ast.Constant | None:
        """The constant that a class gives an attribute that no code sets."""
        if len(keys) != 1 or attr in self._stored or "*" in self._stored:
            return None
        return self._class_constants.get((*keys, attr))

    def sets(self, attr: str) -> bool:
        """Whether code of the file sets an attribute of that name."""
        return attr in self._stored

    @cached_property
    def _stored(self) -> set[str]:
        """Names of attributes that code sets; ``*`` where it is not written which."""
        found = {n.attr for n in self.m.all(ast.Attribute) if isinstance(n.ctx, ast.Store)}
        for call in self.m.all(ast.Call):
            if last_name(call.func) in ("setattr", "__setattr__") and len(call.args) >= 2:
                name = attribute_name(call.args[-2])
                found.add("*" if "*" in name else name)
            elif last_name(call.func) == "update" and isinstance(call.func, ast.Attribute):
                if isinstance(call.func.value, ast.Attribute) and call.func.value.attr == "__dict__":
                    found.add("*")
        return found

    @cached_property
    def filled(self) -> frozenset[str]:
        """Names of dictionaries that are asked for a key, or whether they are empty, and given items by their keys:
        ``if "optimizer" not in state: setup(state)``."""
        given = {last_name(n.value) for n in self.m.all(ast.Subscript) if isinstance(n.ctx, ast.Store)}
        asked = {last_name(n.operand) for n in self.m.all(ast.UnaryOp) if isinstance(n.op, ast.Not)}
        for test in self.m.all(ast.Compare):
            if len(test.ops) == 1 and isinstance(test.ops[0], (ast.In, ast.NotIn)):
                asked.add(last_name(test.comparators[0]))
        return frozenset(given & asked) - {""}

    @cached_property
    def changing(self) -> frozenset[ast.AST]:
        """Lists, dictionaries (``**kwargs`` too) and namespaces that are written down in the text and do not stay as
        they are there: an item or attribute is set, a method is called that may set one, or code that is not here is
        handed it."""
        touched: set[Obj] = set()
        handed: set[Obj] = set()
        for call in self.m.all(ast.Call):
            if isinstance(call.func, ast.Attribute) and call.func.attr not in _ASKING:
                touched |= self.v.of(call.func.value)
            mixed = self.marks.kind.get(call) in _OF_ONE_SIDE
            if not mixed and last_name(call.func) not in _READING and not self.v.callees(call):
                for arg in [*call.args, *(k.value for k in call.keywords if k.arg is not None)]:
                    handed |= self.v.of(arg.value if isinstance(arg, ast.Starred) else arg)
        for item in self.m.all(ast.Subscript):
            if not isinstance(item.ctx, ast.Load):
                touched |= self.v.of(item.value)
        for attribute in self.m.all(ast.Attribute):
            if not isinstance(attribute.ctx, ast.Load) or attribute.attr == "__dict__":
                touched |= self.v.of(attribute.value)
        for stmt in self.m.all(ast.AugAssign):
            touched |= self._held(stmt.target)
        touched |= self._with_parts(handed)
        return frozenset(o.key for o in touched if isinstance(o.key, ast.AST) and _written_down(o.key))

    def _held(self, target: ast.Name | ast.Attribute | ast.Subscript) -> set[Obj]:
        """What a target of ``+=`` held before: a list takes more items."""
        if isinstance(target, ast.Name):
            return set(self.v.variable(target.id, self.m.scope(target)))
        owners = self.v.of(target.value)
        if isinstance(target, ast.Attribute):
            return {held for owner in owners for held in self.v.field(owner, target.attr)}
        return {held for owner in owners for name in self.v.attributes(owner) for held in self.v.field(owner, name)}

    def _with_parts(self, objects: set[Obj]) -> set[Obj]:
        """Objects, and what they hold in their items and attributes."""
        found, todo = set(objects), list(objects)
        while todo:
            at = todo.pop()
            inner = {held for name in self.v.attributes(at) for held in self.v.field(at, name)} - found
            found |= inner
            todo += inner
        return found

    @cached_property
    def _class_constants(self) -> dict[tuple[object, ...], ast.Constant]:
        found: dict[tuple[object, ...], ast.Constant] = {}
        for node in self.m.all(ast.ClassDef):
            for stmt in node.body:
                targets = stmt.targets if isinstance(stmt, ast.Assign) else []
                for target in targets:
                    if isinstance(target, ast.Name) and isinstance(stmt.value, ast.Constant):  # type: ignore[attr-defined]
                        found[(("instance", self.naming.place(node)), target.id)] = stmt.value  # type: ignore[attr-defined]
        return found


def makes_record(call: ast.Call) -> bool:
    """Whether a namespace or a dictionary is made of what a call is handed by name: ``dict(opt=opt)``."""
    named = isinstance(call.func, ast.Name) and call.func.id == "dict" and all(k.arg for k in call.keywords)
    return (named or last_name(call.func) in NAMESPACES) and not call.args


def _written_down(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return makes_record(node)
    return isinstance(node, (ast.List, ast.Dict, ast.arg))
