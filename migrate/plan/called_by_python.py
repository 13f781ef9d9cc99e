"""Methods that Python or a library calls by itself, whatever calls of them stand in the program: none of these hands on
one argument more."""

from __future__ import annotations

import ast

from ..facts.names import called_name
from ..facts.once import once_each
from ..nodes import constructs
from ..units.unit import Context

# Fewer than those of `knowledge.host`: `sorted` calls its key.
_CALLS_NOTHING = frozenset(
    "print len isinstance type id str repr vars getattr setattr hasattr super append add insert extend update".split()
)


def called_by_python(ctx: Context, method: ast.AST) -> ast.AST | None:
    """Where a method may be called by nobody who is seen; None where all who call it are: ``__getitem__``, which a
    ``DataLoader`` asks for items, and ``__call__`` of an object that a transformation, or ``map``, is made of."""
    name, owner = getattr(method, "name", ""), ctx.m.class_of(ctx.m.scope_of[method])
    if owner is None or not (name.startswith("__") and name.endswith("__")) or constructs(method):
        return None
    return _handed_on(ctx, owner) if name == "__call__" else method


@once_each
def _handed_on(ctx: Context, owner: ast.ClassDef) -> ast.Call | None:
    """The call of unknown code that is handed an object of a class, which it may call. Who is handed a network hands on
    what it is called with."""
    if ctx.v.has_method(owner, "forward"):
        return None
    for call in ctx.m.all(ast.Call):
        if ctx.v.callees(call) or called_name(call) in _CALLS_NOTHING:
            continue
        for given in (*call.args, *(keyword.value for keyword in call.keywords)):
            if any(o.kind == "instance" and owner in ctx.v.order(o.key) for o in ctx.v.of(given)):  # type: ignore[arg-type]
                return call
    return None
