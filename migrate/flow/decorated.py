"""What decorators of the program run around functions: whoever calls what they decorate runs that, too.

A decorated name holds the function itself here (`values.py`), not what its decorator made of it, so nothing else would
find ``@logged`` over a step, whose wrapper takes a norm first. The decorator of a class, its metaclass and a base's
``__init_subclass__`` may wrap any of its methods, or those whose names they are handed.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ..facts.module import Module
from ..nodes import walk
from .values import Values

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def wrappers(m: Module, v: Values) -> dict[ast.AST, list[ast.AST]]:
    """By function what its decorators, or those of its class, run around it."""
    found: dict[ast.AST, list[ast.AST]] = {}
    begins = {cls: begin for cls in m.all(ast.ClassDef) if (begin := m.method(cls, "__init_subclass__")) is not None}
    for cls in m.all(ast.ClassDef):
        named, made = _wrapping(m, v, cls, begins)
        for method in cls.body if made else ():
            if isinstance(method, _FUNCTIONS) and (method.name in named if named else method not in made):
                found.setdefault(method, []).extend(made)
    for function in m.scope_of:
        for decorator in getattr(function, "decorator_list", ()) if isinstance(function, _FUNCTIONS) else ():
            name = decorator.func if isinstance(decorator, ast.Call) else decorator
            made = [node for obj in v.of(name) for node in _run(m, v, obj.kind, obj.key)]
            if made:
                found.setdefault(function, []).extend(made)
    return found


def calls_wrapped(m: Module, v: Values, around: dict[ast.AST, list[ast.AST]]) -> dict[ast.AST, list[ast.Call]]:
    """By function the calls in the `wrappers` around it that may run it: of what a function was handed, or keeps."""
    return {
        function: [n for one in made for n in walk(one) if isinstance(n, ast.Call) and _of_handed(m, v, n)]
        for function, made in around.items()
    }


def _of_handed(m: Module, v: Values, call: ast.Call) -> bool:
    """Whether what is called is a parameter of a function, or an attribute that holds nothing of the program."""
    match call.func:
        case ast.Name(id=name):
            scope = m.binding_scope(name, m.scope(call))
            return scope is not None and name in scope.params
        case ast.Attribute(value=ast.Name(id=name)):
            return name == m.self_name(m.function(call)) and not v.callees(call)
        case _:
            return False


def _run(m: Module, v: Values, kind: str, key: object) -> list[ast.AST]:
    """What a decorator runs when the decorated function is called: functions in it, or ``__call__`` of a class."""
    if kind == "function" and isinstance(key, _FUNCTIONS):
        return [key, *_inside(v, key)]
    if kind == "class" and isinstance(key, ast.ClassDef):
        call = m.method(key, "__call__")
        return [call] if call is not None else []
    return []


def _wrapping(
    m: Module, v: Values, cls: ast.ClassDef, begins: Mapping[ast.ClassDef, ast.AST]
) -> tuple[set[str], list[ast.AST]]:
    """The functions that may be wrapped around methods of a class, and the names of those methods where it is handed
    them: what its decorators, its metaclass and ``__init_subclass__`` of its bases (``begins``, of all) define."""
    named, made = set[str](), list[ast.AST]()
    for decorator in cls.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        made += [n for o in v.of(call.func if call else decorator) for n in _run(m, v, o.kind, o.key)]
        said = [a.value for a in (call.args if call else ()) if isinstance(a, ast.Constant)]
        named |= {name for name in said if isinstance(name, str)}
    for one in (o.key for k in cls.keywords if k.arg == "metaclass" for o in v.of(k.value) if o.kind == "class"):
        assert isinstance(one, ast.ClassDef)
        made += [n for method in one.body if isinstance(method, _FUNCTIONS) for n in _inside(v, method)]
    for base in v.order(cls)[1:] if begins else ():
        made += _inside(v, begins[base]) if base in begins else []
    return named, made


def _inside(v: Values, function: ast.AST) -> list[ast.AST]:
    """The functions that one defines, or one that it calls: ``space[name] = watched(method)``."""
    called = [one for n in walk(function) if isinstance(n, ast.Call) for one in v.callees(n)]
    makers = dict.fromkeys((function, *called))
    return [n for maker in makers for n in walk(maker) if isinstance(n, _FUNCTIONS) and n is not maker]
