"""Classes whose objects take no attribute but their own: no scaler can be kept there."""

from __future__ import annotations

import ast

from ...facts.names import called_name, last_name
from ...nodes import walk
from ...units.unit import Context
from .switch import hierarchy, kin

_SLOTTED = frozenset({"define", "frozen", "mutable"})  # attrs' newer decorators, slotted where nothing else is said


def why_closed(ctx: Context, cls: ast.ClassDef) -> str | None:
    """Why an object of a class takes no attribute that the class does not declare; None where it does. A ``__slots__``
    that is written out is none: it gets one more name."""
    family = hierarchy(ctx, cls)
    for decorator in cls.decorator_list:
        if said := _decorated(decorator):
            return f"@{ctx.m.src(decorator)} {said}"
    if any(last_name(base) == "NamedTuple" for one in family for base in one.bases):
        return "a NamedTuple has no other attributes"
    for one in kin(ctx, cls):
        own = ctx.m.method(one, "__setattr__")
        if own is not None and any(isinstance(node, ast.Raise) for node in walk(own)):
            return f"{one.name}.__setattr__ may refuse it"
    return None


def _decorated(decorator: ast.expr) -> str | None:
    """What a decorator that makes a record of a class says against further attributes."""
    name = called_name(decorator)
    options = {k.arg: k.value for k in decorator.keywords} if isinstance(decorator, ast.Call) else {}
    said = {key for key, value in options.items() if not isinstance(value, ast.Constant) or value.value}
    if "frozen" in said or (name == "frozen" and "frozen" not in options):
        return "lets nothing be set"
    slotted = "slots" in said or (name in _SLOTTED and "slots" not in options)
    return "leaves room for the declared names alone" if slotted else None
