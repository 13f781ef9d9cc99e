"""Decorators of the program that look at gradients: whoever calls what they decorate has them looked at.

A decorated name holds the function itself here (`values.py`), not what its decorator made of it, so nothing else would
find ``@logged`` over a step, whose wrapper takes a norm first. The decorator of a class, its metaclass and a base's
``__init_subclass__`` may wrap any of its methods, or those whose names they are handed.
"""

from __future__ import annotations

import ast

from ..facts.module import Module
from ..nodes import walk
from .values import Values

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def looking_decorators(m: Module, v: Values, touching: frozenset[ast.AST]) -> dict[ast.AST, list[ast.AST]]:
    """By function the decorators, or what they return, that look at gradients around it."""
    found: dict[ast.AST, list[ast.AST]] = {}
    for cls in m.all(ast.ClassDef) if touching else ():
        named, made = _wrapping(m, v, cls)
        looking = [node for node in made if node in touching]
        for method in cls.body if looking else ():
            if isinstance(method, _FUNCTIONS) and (method.name in named if named else method not in looking):
                found.setdefault(method, []).extend(looking)
    for function in m.scope_of if touching else ():
        for decorator in getattr(function, "decorator_list", ()) if isinstance(function, _FUNCTIONS) else ():
            name = decorator.func if isinstance(decorator, ast.Call) else decorator
            made = [node for obj in v.of(name) for node in _run(m, v, obj.kind, obj.key)]
            looking = [node for node in made if node in touching]
            if looking:
                found.setdefault(function, []).extend(looking)
    return found


def _run(m: Module, v: Values, kind: str, key: object) -> list[ast.AST]:
    """What a decorator runs when the decorated function is called: functions in it, or ``__call__`` of a class."""
    if kind == "function" and isinstance(key, _FUNCTIONS):
        return [key, *_inside(v, key)]
    if kind == "class" and isinstance(key, ast.ClassDef):
        call = m.method(key, "__call__")
        return [call] if call is not None else []
    return []


def _wrapping(m: Module, v: Values, cls: ast.ClassDef) -> tuple[set[str], list[ast.AST]]:
    """The functions that may be wrapped around methods of a class, and the names of those methods where it is handed
    them: what its decorators, its metaclass and ``__init_subclass__`` of its bases define."""
    named, made = set[str](), list[ast.AST]()
    for decorator in cls.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        made += [n for o in v.of(call.func if call else decorator) for n in _run(m, v, o.kind, o.key)]
        said = [a.value for a in (call.args if call else ()) if isinstance(a, ast.Constant)]
        named |= {name for name in said if isinstance(name, str)}
    for one in (o.key for k in cls.keywords if k.arg == "metaclass" for o in v.of(k.value) if o.kind == "class"):
        assert isinstance(one, ast.ClassDef)
        made += [n for method in one.body if isinstance(method, _FUNCTIONS) for n in _inside(v, method)]
    for base in v.order(cls)[1:]:
        begin = m.method(base, "__init_subclass__")
        made += _inside(v, begin) if begin is not None else []
    return named, made


def _inside(v: Values, function: ast.AST) -> list[ast.AST]:
    """The functions that one defines, or one that it calls: ``space[name] = watched(method)``."""
    called = [one for n in walk(function) if isinstance(n, ast.Call) for one in v.callees(n)]
    makers = dict.fromkeys((function, *called))
    return [n for maker in makers for n in walk(maker) if isinstance(n, _FUNCTIONS) and n is not maker]
