"""Methods that are called by a name that the caller says: ``tell("after_step")``, ``getattr(hook, name)(self)``."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import MappingProxyType

from ..facts.scopes import Scope
from .translate import passed
from .unit import Context

Said = Mapping[str, str]  # the parameters of a function that are a word, in one call of it
NOTHING: Said = MappingProxyType({})


def said_to(ctx: Context, call: ast.Call, function: ast.AST, said: Said) -> dict[str, str]:
    """The words that a call hands to a function; ``said`` are those that its own function was handed."""
    scope = ctx.m.scope_of[function]
    found: dict[str, str] = {}
    for name in scope.params:
        if ctx.m.bindings(name, scope):
            continue
        match passed(ctx, call, scope, name):
            case ast.Constant(value=str(word)):
                found[name] = word
            case ast.Name(id=inner) if inner in said:
                found[name] = said[inner]
            case _:
                pass
    return found


def run_by(ctx: Context, call: ast.Call, said: Said) -> list[ast.AST]:
    """The functions that a call may run, where the words are known that its function was handed."""
    callees = ctx.v.callees(call)
    word = said.get(_name_of(ctx, call.func)) if said and callees else None
    if word is None:
        return callees
    return [one for one in callees if getattr(one, "name", word) == word]


def _name_of(ctx: Context, func: ast.expr) -> str:
    """The parameter by whose word something is found that is called; empty where it is found in another way."""
    if isinstance(func, ast.Name):
        scope = ctx.m.binding_scope(func.id, ctx.m.scope(func))
        if not isinstance(scope, Scope) or func.id in scope.params:
            return ""
        match [ctx.m.parent[n] for n in ctx.m.bindings(func.id, scope)]:
            case [ast.Assign(targets=[ast.Name()], value=value)]:
                func = value
    match func:
        case ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Name(id=name), *_]):
            return name
        case _:
            return ""
