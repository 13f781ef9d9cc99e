"""Dictionaries whose items are attributes: ``objs = Munch(net=net)``, ``objs.net``."""

from __future__ import annotations

import ast

from ..facts.names import last_name
from ..nodes import walk
from .objects import Obj

_DICTS = frozenset("dict OrderedDict defaultdict UserDict".split())
_READS = ("__getattr__", "__getattribute__")


def items_are_attributes(cls: ast.ClassDef) -> bool:
    """Whether a class of the program is one: a dictionary that looks for an attribute among its items, by a method, by
    ``__getattr__ = dict.get`` or since ``self.__dict__ = self``."""
    if not any(last_name(base) in _DICTS for base in cls.bases):
        return False
    for stmt in cls.body:
        match stmt:
            case ast.FunctionDef(name=name) if name in _READS:
                return True
            case ast.Assign(targets=[ast.Name(id=name)]) if name in _READS:
                return True
            case ast.FunctionDef(name="__init__") if any(map(_is_its_own, walk(stmt))):
                return True
    return False


def has_items_alone(cls: ast.ClassDef) -> bool:
    """Whether such a class has no methods but those that Python calls: its objects are their items."""
    methods = (stmt.name for stmt in cls.body if isinstance(stmt, ast.FunctionDef))
    return len(cls.bases) == 1 and all(name.startswith("__") and name.endswith("__") for name in methods)


def attr_is_item(obj: Obj, attr: str) -> bool:
    """Whether an attribute of an object may be any item that was put under a name that is not written out."""
    return obj.kind == "dict" and obj.label != "dict" and isinstance(obj.key, ast.Call) and not hasattr(dict, attr)


def _is_its_own(node: ast.AST) -> bool:
    """``self.__dict__ = self``."""
    match node:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id=one), attr="__dict__")], value=ast.Name(id=other)):
            return one == other
        case _:
            return False
