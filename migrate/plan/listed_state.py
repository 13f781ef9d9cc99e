"""amp among the things whose states are saved: ``{"net": net, "opt": opt, "amp": amp}``, of each of which a loop asks
``state_dict()``. There the GradScaler stands in amp's place, as it has both methods, and the loop stays.

A place where such a thing is asked for its state and may be something else than amp is no use of amp's state alone:
what is written there for the scaler would be asked of the others, too.
"""

from __future__ import annotations

import ast

from ..facts.names import called_name
from ..facts.once import once
from ..units.unit import Context
from .carried import AMP, FILLS, MADE_BY_NAME, becomes_true, through_parameter

_STATE = ("state_dict", "load_state_dict")
_MAKES = MADE_BY_NAME | FILLS | {"update"}


def among_others(ctx: Context, use: ast.expr) -> bool:
    """Whether a state is asked for of what may be something else than amp."""
    if not isinstance(use, ast.Attribute) or use.attr not in _STATE:
        return False
    held = ctx.v.of(use.value)
    if not held or all(o.kind == "apex" for o in held):
        return isinstance(use.value, ast.Name) and _gone_over(ctx, use.value)
    return True


def _gone_over(ctx: Context, name: ast.Name) -> bool:
    """Whether a name is bound by a loop or a comprehension: what else that goes over need not be known."""
    m = ctx.m
    for store in m.stores(name.id, m.binding_scope(name.id, m.scope(name))):
        above: ast.AST = m.parent[store]
        while isinstance(above, (ast.Tuple, ast.List, ast.Starred)):
            above = m.parent[above]
        if isinstance(above, (ast.For, ast.AsyncFor, ast.comprehension)):
            return True
    return False


def asks_the_scaler(ctx: Context, use: ast.expr) -> bool:
    """Whether a use reads what will hold the scaler: a parameter that takes it, or one of the things it is among."""
    return through_parameter(ctx, use) or (among_others(ctx, use) and bool(listed(ctx)))


@once
def listed(ctx: Context) -> frozenset[ast.expr]:
    """Where amp is put among things that are asked for their states, and nothing else is asked of it there."""
    if not any(among_others(ctx, use) for use in ctx.facts.uses):
        return frozenset()
    return frozenset(use for use, d in ctx.facts.uses.items() if d in AMP and becomes_true(ctx, use) and _put(ctx, use))


def _put(ctx: Context, use: ast.expr) -> bool:
    """Whether what holds amp is put into a container here."""
    above = ctx.m.parent[use]
    word = None
    if isinstance(above, ast.keyword):
        word, above = above.arg, ctx.m.parent[above]
    match above:
        case ast.Dict() | ast.List() | ast.Tuple() | ast.Set():
            return True
        case ast.Assign(targets=targets):
            return any(isinstance(target, ast.Subscript) for target in targets)
        case ast.Call():
            return called_name(above) in _MAKES or (word is not None and _takes_any(ctx, above, word))
        case _:
            return False


def _takes_any(ctx: Context, call: ast.Call, word: str) -> bool:
    """Whether functions of the program find what they are handed by a name among others: ``**parts``."""
    callees = ctx.v.callees(call)
    return bool(callees) and all(
        isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef))
        and f.args.kwarg is not None
        and word not in {p.arg for p in (*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs)}
        for f in callees
    )
