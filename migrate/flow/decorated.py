"""Decorators of the program that look at gradients: whoever calls what they decorate has them looked at.

A decorated name holds the function itself here (`values.py`), not what its decorator made of it, so nothing else would
find ``@logged`` over a step, whose wrapper takes a norm first.
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
    for function in m.scope_of if touching else ():
        for decorator in getattr(function, "decorator_list", ()) if isinstance(function, _FUNCTIONS) else ():
            name = decorator.func if isinstance(decorator, ast.Call) else decorator
            made = [node for obj in v.of(name) for node in _run(m, obj.kind, obj.key)]
            looking = [node for node in made if node in touching]
            if looking:
                found.setdefault(function, []).extend(looking)
    return found


def _run(m: Module, kind: str, key: object) -> list[ast.AST]:
    """What a decorator runs when the decorated function is called: functions in it, or ``__call__`` of a class."""
    if kind == "function" and isinstance(key, _FUNCTIONS):
        return [n for n in walk(key) if isinstance(n, _FUNCTIONS)]
    if kind == "class" and isinstance(key, ast.ClassDef):
        call = m.method(key, "__call__")
        return [call] if call is not None else []
    return []
