"""Methods of what a call hands over that code of another file calls: ``Rollout(policy, 8)``, whose constructor does
``policy.act(…)``."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ..flow.objects import Obj
from ..flow.values import Values
from .elsewhere import Elsewhere
from .networks import comes_from_elsewhere, name_elsewhere
from .sites import opened


def asked_elsewhere(
    v: Values, call: ast.Call, elsewhere: Elsewhere, meant: Callable[[frozenset[Obj]], bool]
) -> list[ast.AST]:
    """Those of objects of this program that are ``meant``, as the text of the called function or constructor says."""
    if not comes_from_elsewhere(v, call.func):
        return []
    asked = elsewhere.methods.get(name_elsewhere(v, call.func), frozenset())
    found: list[ast.AST] = []
    for at, given in (*enumerate(call.args), *((k.arg, k.value) for k in call.keywords)) if asked else ():
        names = [name for where, name in asked if where == at]
        for obj in v.in_order(opened(v, v.of(given))) if names else ():
            owner = obj.key if obj.kind == "instance" and meant(frozenset({obj})) else None
            for cls in v.order(owner) if isinstance(owner, ast.ClassDef) else ():
                found += [method for name in names if (method := v.m.method(cls, name)) is not None]
    return found
