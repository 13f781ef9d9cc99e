"""Optimizers behind a wrapper: ``opt = o.optimizer if hasattr(o, "optimizer") else o``, ``opt = LARS(opt)``."""

from __future__ import annotations

import ast

from ..facts.module import Module
from ..knowledge.gradients import WRAPPED_OPTIMIZERS
from .objects import Obj


def unwraps(choice: ast.IfExp) -> bool:
    """Whether a choice is what a wrapper of an optimizer wraps, or the optimizer itself."""
    match choice:
        case ast.IfExp(
            test=ast.Call(func=ast.Name(id="hasattr"), args=[asked, ast.Constant(value=str() as name)]),
            body=ast.Attribute(value=owner, attr=attr),
            orelse=other,
        ):
            same = ast.dump(asked) == ast.dump(owner) == ast.dump(other)
            return name == attr and same and attr in WRAPPED_OPTIMIZERS
        case _:
            return False


def wraps(m: Module, choice: ast.IfExp, obj: Obj) -> bool:
    """Whether an object surely has what the choice asks for: its constructor sets it whatever comes."""
    assert isinstance(choice.body, ast.Attribute)
    if obj.kind != "instance" or not isinstance(obj.key, ast.ClassDef):
        return False
    constructor = m.method(obj.key, "__init__")
    if not isinstance(constructor, ast.FunctionDef):
        return False
    own = m.self_name(m.scope_of[constructor])
    return any(
        isinstance(target, ast.Attribute)
        and target.attr == choice.body.attr
        and isinstance(target.value, ast.Name)
        and target.value.id == own
        for stmt in constructor.body
        if isinstance(stmt, ast.Assign)
        for target in stmt.targets
    )


def taken_by_its_maker(m: Module, name: ast.Name) -> str:
    """The class that a name is handed to, which then takes it: `LARS` in ``opt = LARS(opt)``. What it makes is not what
    it is handed; in a loop that is of the round before."""
    above = m.parent.get(name)
    call = m.parent[above] if isinstance(above, ast.keyword) else above
    stmt = m.parent.get(call) if isinstance(call, ast.Call) else None
    match stmt:
        case ast.Assign(targets=[ast.Name(id=given)], value=ast.Call(func=ast.Name(id=made)) as value):
            return made if value is call and given == name.id and not m.loops(stmt) else ""
        case _:
            return ""
