"""``functools.singledispatch``: a call of one function runs any that was registered with it.

``describe(model)`` runs ``@describe.register`` of networks, whatever that is called (mostly ``_``), in whichever file.
"""

from __future__ import annotations

import ast
from collections import defaultdict

from ..facts.module import Module
from ..facts.names import last_name

_GENERIC = ("singledispatch", "singledispatchmethod")


def dispatched(m: Module) -> dict[ast.AST, list[ast.AST]]:
    """For each function that chooses by the class of its argument, those that were registered with it."""
    generic: dict[str, list[ast.AST]] = defaultdict(list)
    functions: list[ast.FunctionDef | ast.AsyncFunctionDef] = [*m.all(ast.FunctionDef), *m.all(ast.AsyncFunctionDef)]
    for node in functions:
        if any(last_name(decorator) in _GENERIC for decorator in node.decorator_list):
            generic[node.name].append(node)
    found: dict[ast.AST, list[ast.AST]] = defaultdict(list)
    if not generic:
        return found
    called = {c.name: c.original for c in m.copied}

    def add(to: ast.expr, function: ast.AST) -> None:
        name = last_name(to)
        for one in generic.get(name) or generic.get(called.get(name, ""), []):
            found[one].append(function)

    for node in functions:
        for decorator in node.decorator_list:
            match decorator:
                case ast.Attribute(value=to, attr="register") | ast.Call(func=ast.Attribute(value=to, attr="register")):
                    add(to, node)
                case _:
                    pass
    for call in m.calls("register"):
        match call:
            case ast.Call(func=ast.Attribute(value=to), args=[_, ast.Lambda() as function]):
                add(to, function)
            case ast.Call(func=ast.Attribute(value=to), args=[_, ast.Name(id=name)]):
                for named in m.defined(name):
                    add(to, named)
            case _:
                pass
    return found
