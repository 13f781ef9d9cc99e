"""Options of ``initialize`` that may only be asked for where it ran: ``params["amp"]["loss_scale"]`` below
``if "amp" in params:``. A GradScaler is made in any case, and what it is made of is not to raise."""

from __future__ import annotations

import ast

from ...facts.sites import Initialize
from ...nodes import walk
from ...units.conditions import Term, conjunction
from ...units.unit import Context
from .guards import around

_CONVERTS = frozenset("float int bool str".split())


def guarded(ctx: Context, init: Initialize, anchor: ast.stmt, option: str) -> Term | None:
    """The condition that has to hold before an option is looked at ahead of ``anchor``; None where it may be at any
    time."""
    if ctx.m.function(anchor) is not ctx.m.function(init.call):
        return None
    terms = [(test, term) for test, term in around(ctx, init, init.call, anchor) if term.value is None]
    if not any(_settles(test, ast.parse(option, mode="eval").body) for test, _ in terms):
        return None
    return conjunction([term for _, term in terms])


def _settles(test: ast.expr, option: ast.expr) -> bool:
    """Whether looking at an option may raise where a condition does not hold: an item, what is called, or an attribute
    of something that the condition asks for (``if cfg.amp:`` and ``cfg.amp.loss_scale``)."""
    asked = {ast.unparse(one) for one in walk(test) if isinstance(one, ast.expr)}
    for node in walk(option):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in _CONVERTS:
                continue
            case ast.Subscript() | ast.Call():
                return True
            case ast.Attribute(value=owner, attr=attr):
                if isinstance(owner, ast.Attribute) and ast.unparse(owner) in asked:
                    return True
                if f"hasattr({ast.unparse(owner)}, {attr!r})" in asked:
                    return True
            case _:
                pass
    return False
