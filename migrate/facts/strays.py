"""Calls of amp by a name that nothing binds, or of what somebody hands over: no import of Apex leads there."""

from __future__ import annotations

import ast
from collections.abc import Container

from ..flow.values import Values
from ..knowledge.apex import ONLY_AMP_OF_APEX
from .module import Module


def strays(m: Module, v: Values, known: Container[ast.expr]) -> list[ast.Call]:
    """``amp.scale_loss(…)`` and ``self.amp.scale_loss(…)``, where ``known`` uses of Apex do not name it."""
    found: list[ast.Call] = []
    for call in (one for name in sorted(ONLY_AMP_OF_APEX) for one in m.calls(name)):
        match call.func:
            case ast.Attribute(value=ast.Name(id="amp") as amp):
                mine = _never_bound(m, amp)
            case ast.Attribute(value=ast.Attribute(attr="amp", value=ast.Name(id=base)) as amp):
                made = any(one.kind in ("call", "instance") for one in v.of(amp))  # by a class of somebody else's
                mine = not (made or v.callees(call) or any(isinstance(d, ast.alias) for d in m.declared(base)))
            case _:
                continue
        if mine and call.func not in known:
            found.append(call)
    return m.in_order(found)


def _never_bound(m: Module, name: ast.Name) -> bool:
    """Whether nothing in its file gives a name a value, as far as that is written."""
    scope = m.scope(name)
    stars = any(a.name == "*" for stmt in m.all(ast.ImportFrom) if m.file(stmt) is m.file(name) for a in stmt.names)
    return m.binding_scope(name.id, scope) is None and not stars
