"""Calls that run a function of the program or something else: ``self.module(x)`` of a copy of any network."""

from __future__ import annotations

import ast

from ...flow.objects import Obj
from ...flow.values import Values


def may_run_another(v: Values, call: ast.Call) -> bool:
    """Whether what a call runs may be the result of unknown code as well, which knows nothing of one argument more.
    What wraps a function of the program (``DataParallel(model)``) hands its arguments on to it."""
    held = v.of(call.func)
    own = frozenset(obj for obj in held if v.functions(obj))
    return bool(own) and any(obj.kind == "call" and not _made_of(v, obj, own, frozenset()) for obj in held - own)


def _made_of(v: Values, obj: Obj, own: frozenset[Obj], seen: frozenset[Obj]) -> bool:
    """Whether a call of unknown code is handed, or asked of, nothing to call but what is the program's own."""
    if obj in own or obj in seen:
        return True
    if obj.kind != "call" or not isinstance(obj.key, ast.Call):
        return False
    func = obj.key.func
    given = [func.value] if isinstance(func, ast.Attribute) else []
    given += [*obj.key.args, *(k.value for k in obj.key.keywords)]
    inside = frozenset(one for expr in given for one in v.of(expr) if one.kind in ("call", "instance", "function"))
    return bool(inside) and all(_made_of(v, one, own, seen | {obj}) for one in inside)
