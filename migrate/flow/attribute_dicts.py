"""Dictionaries whose items are attributes: ``objs = Munch(net=net)``, ``objs.net``."""

from __future__ import annotations

import ast

from ..facts.names import last_name
from ..nodes import walk
from .objects import Obj

_DICTS = frozenset("dict OrderedDict defaultdict UserDict".split())
_OF_ITEMS = frozenset(
    "__init__ __getattr__ __getattribute__ __setattr__ __delattr__ __getitem__ __setitem__ __missing__ __getstate__ "
    "__setstate__ __copy__ __deepcopy__ __repr__ __str__ __dir__".split()
)
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
    """Whether objects of such a class are no more than their items: it has no methods but those that read, set, copy
    or show them, and takes what a dictionary does."""
    methods = [stmt for stmt in cls.body if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef))]
    given = [m.args for m in methods if m.name == "__init__"]
    plain = all(len(args.args) == 1 and not args.posonlyargs and not args.kwonlyargs for args in given)
    return plain and len(cls.bases) == 1 and _OF_ITEMS.issuperset(method.name for method in methods)


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
