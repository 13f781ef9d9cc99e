"""What is added to gradients after every backward: ``p.grad.data.add_(s * p.sign())``, network slimming's L1.

Where the step is taken under a condition the gradients stay scaled until then. A function that does nothing with them
but add terms that are all multiplied with one of its parameters adds those of scaled gradients where it is handed that
much more: the loss scale times what it was handed."""

from __future__ import annotations

import ast

from ...flow.arguments import argument
from ...nodes import positional_parameters, walk
from ...units.unit import Context

_ADDS = ("add_", "sub_")


def adds_a_term(ctx: Context, stmt: ast.stmt) -> tuple[ast.Call, ast.expr] | None:
    """The one call of a statement that only adds to gradients, and the argument that all terms are multiplied with."""
    match stmt:
        case ast.Expr(value=ast.Call() as call):
            pass
        case _:
            return None
    callees = [*ctx.v.callees(call)]
    function = callees[0] if len(callees) == 1 else None
    if not isinstance(function, ast.FunctionDef) or not _alone_in(ctx, function, call):
        return None
    if (name := _factor_of_all(function)) is None:
        return None
    names = positional_parameters(function)
    own = ctx.m.self_name(ctx.m.scope_of[function])
    if own is not None and own in names:
        names.remove(own)
    given = argument(call, names.index(name), name) if name in names else None
    return (call, given) if given is not None else None


def _alone_in(ctx: Context, function: ast.FunctionDef, call: ast.Call) -> bool:
    """Whether all calls of a function stand beside this one, each a statement: ``if parallel: f(net.module, s)``."""
    scope = ctx.m.function(call)
    return all(ctx.m.function(c) is scope and isinstance(ctx.m.parent[c], ast.Expr) for c in ctx.v.calls[function])


def _factor_of_all(function: ast.FunctionDef) -> str | None:
    """The parameter that each term is multiplied with, and that has no other use; None where gradients are read in any
    other way, or set."""
    terms: list[ast.expr] = []
    grads: set[ast.AST] = set()
    for node in walk(function):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=name), args=[term], keywords=[])) if (
                name in _ADDS and (grad := _grad(owner)) is not None
            ):
                terms.append(term)
                grads.add(grad)
    every = {n for n in walk(function) if isinstance(n, ast.Attribute) and n.attr == "grad"}
    if not terms or every != grads or any(isinstance(n, ast.Constant) and n.value == "grad" for n in walk(function)):
        return None
    shared = set.intersection(*(set(_names(term)) for term in terms)) & {*positional_parameters(function)}
    uses = {name: [n for n in walk(function) if isinstance(n, ast.Name) and n.id == name] for name in shared}
    return next((name for name, found in uses.items() if len(found) == len(terms)), None)


def _grad(owner: ast.expr) -> ast.Attribute | None:
    """``p.grad`` of ``p.grad.data``."""
    if isinstance(owner, ast.Attribute) and owner.attr == "data":
        owner = owner.value
    return owner if isinstance(owner, ast.Attribute) and owner.attr == "grad" else None


def _names(term: ast.expr) -> list[str]:
    """The names among the factors of a product."""
    match term:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return [*_names(left), *_names(right)]
        case ast.Name(id=name):
            return [name]
        case _:
            return []
