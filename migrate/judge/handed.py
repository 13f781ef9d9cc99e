"""Whether every call of a function to which the migration gave a parameter hands it over: one that does not would raise
on whatever path it is met."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..flow.objects import unbound
from ..nodes import named_parameters, needed, positional_parameters
from .program.program import Program
from .verdict import Difference

_MAY_HAND_ON = frozenset({"function", "method", "class"})  # kinds of what a decorator of the program's is
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def not_handed(after: Program) -> Iterator[Difference]:
    """The calls of the new program that leave out a parameter, where their function was given one."""
    m, v = after.m, after.v
    functions: list[_Function] = [*m.all(ast.FunctionDef), *m.all(ast.AsyncFunctionDef)]
    before = ((one, after.naming.twin(one)) for one in functions)
    had = {one: {*named_parameters(old)} for one, old in before if isinstance(old, _Function)}
    grown = {one: names for one, names in had.items() if not names.issuperset(needed(one))}
    for call in m.all(ast.Call) if grown else ():
        held = v.of(call.func)
        meant = {one for obj in held for one in v.functions(obj)}
        if len(held) == len(meant) == 1 and (function := meant.pop()) in grown:
            left = _left_out(after, call, function)
            if left and grown[function].isdisjoint(left):  # else it raised before, too
                message = f"`{m.src(call.func)}` would be called without its `{left[0]}`"
                yield Difference("crash", after.naming.line(call), message)


def _left_out(after: Program, call: ast.Call, function: _Function) -> list[str]:
    """The parameters without a default that are handed over neither by their place nor by their name. Those that a row,
    a dictionary or a decorator of the program's may bring are not looked for."""
    m, v = after.m, after.v
    held = v.of(call.func)
    parts = [o.key for o in held if o.kind == "partial" and isinstance(o.key, ast.Call)]
    given = [*(arg for part in parts for arg in part.args[1:]), *call.args]
    named = {keyword.arg for one in (call, *parts) for keyword in one.keywords}
    decorators = {o.kind for one in function.decorator_list for o in v.of(one)}
    if any(isinstance(arg, ast.Starred) for arg in given) or None in named or decorators & _MAY_HAND_ON:
        return []
    if any(map(unbound, held)):
        return []
    scope = m.scope_of[function]
    bound = m.self_name(scope) is not None or m.class_name(scope) is not None
    left = positional_parameters(function)[bound + len(given) :] + [one.arg for one in function.args.kwonlyargs]
    return [name for name in left if name not in named and name in needed(function)]
