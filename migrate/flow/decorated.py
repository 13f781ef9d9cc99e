"""What decorators of the program run around functions: whoever calls what they decorate runs that, too.

A decorated name holds the function itself here (`values.py`), not what its decorator made of it, so nothing else would
find ``@logged`` over a step, whose wrapper takes a norm first. The decorator of a class, its metaclass and a base's
``__init_subclass__`` may wrap any of its methods, or those whose names they are handed.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ..facts.module import Module
from ..facts.names import last_name
from ..facts.scopes import Scope
from ..nodes import positional_parameters, walk
from .objects import Obj
from .values import Values

Function = ast.FunctionDef | ast.AsyncFunctionDef
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
    for function, made in Decorated(m, v).made.items():
        around = [node for decorator in function.decorator_list for node in _run(m, v, decorator)]
        around += [node for node in made if node is not function]
        if around:
            found.setdefault(function, []).extend(dict.fromkeys(around))
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


def _run(m: Module, v: Values, decorator: ast.expr) -> list[ast.AST]:
    """What a decorator runs when the decorated function is called: itself, what made it and the functions in these, or
    ``__call__`` of a class."""
    parts = [decorator, decorator.func] if isinstance(decorator, ast.Call) else [decorator]
    run: list[ast.AST] = []
    for obj in v.in_order(obj for part in parts for obj in v.of(part)):
        if obj.kind == "class" and isinstance(obj.key, ast.ClassDef):
            run += v.functions(Obj("instance", obj.key, obj.key.name))
        else:
            run += v.functions(obj)
    return [node for one in dict.fromkeys(run) for node in (one, *_inside(v, one))]


def _wrapping(
    m: Module, v: Values, cls: ast.ClassDef, begins: Mapping[ast.ClassDef, ast.AST]
) -> tuple[set[str], list[ast.AST]]:
    """The functions that may be wrapped around methods of a class, and the names of those methods where it is handed
    them: what its decorators, its metaclass and ``__init_subclass__`` of its bases (``begins``, of all) define."""
    named, made = set[str](), list[ast.AST]()
    for decorator in cls.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        made += _run(m, v, decorator)
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


class Decorated:
    """The calls that decorators bring about, one by one: what a decorated name runs (``made``, by the function), and
    what the parameters of decorators are handed. A decorator that is not here is taken to give back what it is handed.
    """

    def __init__(self, m: Module, v: Values) -> None:
        self.m, self.v = m, v
        self.made: dict[Function, list[ast.AST]] = {}
        self._handed: dict[tuple[Scope, str], dict[ast.AST, None]] = {}
        for function in m.scope_of:
            if isinstance(function, _FUNCTIONS) and function.decorator_list:
                made: list[ast.AST] = [function]
                for decorator in reversed(function.decorator_list):
                    each = [self._by(obj, made) for obj in v.in_order(v.of(decorator))]
                    made = [*dict.fromkeys(one for some in each for one in some)] or made
                self.made[function] = made

    def run_by(self, call: ast.Call) -> list[ast.AST]:
        """Functions of this program that a call may run."""
        handed = [one for key in self._parameters(call.func) for one in self._handed.get(key, ())]
        found = dict.fromkeys(handed)
        for callee in self.v.run_by(call):
            if callee not in found:
                made = self.made.get(callee, []) if isinstance(callee, _FUNCTIONS) else []
                found.update(dict.fromkeys(made))
                if not made or last_name(call.func) != getattr(callee, "name", ""):  # else it is what was made of it
                    found[callee] = None
        return [*found]

    def _by(self, obj: Obj, handed: list[ast.AST]) -> list[ast.AST]:
        """What one that may be the decorator makes of what it is handed."""
        m, callee = self.m, self.v.callee(obj)
        if not isinstance(callee, (*_FUNCTIONS, ast.Lambda)):
            return handed
        scope = m.scope_of[callee]
        names = positional_parameters(callee)
        names = names[1 if obj.kind != "function" and m.self_name(scope) in names[:1] else 0 :]
        if not names:
            return handed
        self._handed.setdefault((scope, names[0]), {}).update(dict.fromkeys(handed))
        if obj.kind == "class" and isinstance(obj.key, ast.ClassDef):
            return self.v.functions(Obj("instance", obj.key, obj.key.name)) or handed
        given = [callee.body] if isinstance(callee, ast.Lambda) else [r.value for r in m.own(scope, ast.Return)]
        return [one for value in given if value is not None for one in self._given(value, (scope, names[0]), handed)]

    def _given(self, value: ast.expr, parameter: tuple[Scope, str], handed: list[ast.AST]) -> list[ast.AST]:
        """What a decorator gives back: what it was handed, a function, an object that is called, or what code that is
        not here makes of either (``wraps(f)(inner)``)."""
        if parameter in self._parameters(value):
            return handed
        found: list[ast.AST] = []
        for obj in self.v.in_order(self.v.of(value)):
            if obj.kind == "call" and isinstance(obj.key, ast.Call):
                for arg in obj.key.args:
                    found += self._given(arg, parameter, handed)
            elif obj.kind != "param":
                found += self.v.functions(obj)
        return found or handed

    def _parameters(self, func: ast.expr) -> list[tuple[Scope, str]]:
        """The parameters that an expression is, or holds what they are handed."""
        held = [obj.key for obj in self.v.of(func) if obj.kind == "param"]
        if isinstance(func, ast.Name):
            home = self.m.binding_scope(func.id, self.m.scope(func))
            held += [(home, func.id)] if home is not None and func.id in home.params else []
        return held  # type: ignore[return-value]
