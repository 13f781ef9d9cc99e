"""Optimizers behind a wrapper: ``opt = o.optimizer if hasattr(o, "optimizer") else o``."""

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
