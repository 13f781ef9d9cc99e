"""Which objects have a scaler that a class of the program keeps: its own, and those of classes derived from it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from ...facts.sites import opened
from ...flow.objects import Obj
from ...flow.values import Values
from ...nodes import constructs
from ...units.unit import Context
from ..schedule import Scaler
from .places import Place


def keeps(v: Values, scaler: Scaler, owner: ast.ClassDef, held: Obj) -> bool:
    """Whether an object has the scaler that a class keeps: one of its own, or of a class derived from it that has the
    optimizer, as the base gave it one."""
    if held.kind != "instance" or held.key is owner:
        return held.kind == "instance"
    family = v.order(held.key) if isinstance(held.key, ast.ClassDef) else ()
    return owner in family and any(opened(v, v.field(held, attr)) & scaler.objects for attr in v.attributes(held))


def behind(v: Values, scaler: Scaler, owners: Collection[ast.ClassDef], name: str, held: Obj) -> Iterator[str]:
    """How the scaler is reached by way of an attribute of an object: ``evaluator.trainer.scaler``."""
    for attr in sorted(v.attributes(held)) if held.kind == "instance" else ():
        kept = v.field(held, attr) if attr.isidentifier() else ()
        if any(keeps(v, scaler, owner, one) for one in kept for owner in owners):
            yield f"{name}.{attr}.{scaler.name}"


def inherit(v: Values, scaler: Scaler, objects: Iterable[Obj], attr: str) -> bool:
    """Whether all objects that a method may be called on have an attribute with the optimizer."""
    own = [o for o in objects if o.kind == "instance"]
    return bool(own) and all(opened(v, v.field(o, attr)) & scaler.objects for o in own)


def set_by_names(ctx: Context, place: Place) -> list[ast.stmt]:
    """The statements that give the only object of a class whatever that is handed, in its own constructor:
    ``setattr(self, key, value)`` in a loop, ``self.__dict__.update(kwargs)``. (Of several each would have a scaler
    of its own, where Apex may have had one for all.)"""
    m = ctx.m
    owner = Obj("class", place.owner, place.owner.name) if place.owner is not None else None
    if owner is None or sum(owner in ctx.v.of(call.func) for call in m.calls(owner.label)) != 1:
        return []
    found: list[ast.Call] = []
    for call in [*m.calls("setattr"), *m.calls("update")]:
        scope = m.function(call)
        match call:
            case ast.Call(func=ast.Name(), args=[ast.Name(id=own), _, _]):
                pass
            case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id=own), attr="__dict__"))):
                pass
            case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="vars"), args=[ast.Name(id=own)]))):
                pass
            case _:
                continue
        if m.class_of(scope) is place.owner and constructs(scope.node):
            found += [call] if own == m.self_name(scope) else []
    return [m.spine(m.statement(call))[-1] for call in found]


def record_with(v: Values, scaler: Scaler, held: frozenset[Obj]) -> bool:
    """Whether one of several objects has an optimizer in an attribute (a record, a namespace), or is a list of such."""
    return any(v.field(o, attr) & scaler.objects for o in opened(v, held) for attr in v.attributes(o))
