"""What runs the model only where it is read: generator expressions and ``map``."""

from __future__ import annotations

import ast

from ...facts.names import called_name
from ...knowledge.models import MAPPING
from ...units.compute import Compute, generates
from ...units.unit import Context, Manual
from .marks import SCOPES

# Functions that go through what they are handed only when somebody goes through their result.
LAZY = frozenset(
    "map filter zip enumerate iter tqdm trange chain from_iterable islice starmap takewhile dropwhile cycle tee "
    "zip_longest accumulate groupby pairwise batched product".split()
)
_READ_LATER = "a generator calls the model here, and runs it where it is read"


def check(ctx: Context, compute: Compute) -> None:
    """A generator expression runs the model where it is read, which has to be the statement that it stands in."""
    for node in ctx.m.all(ast.GeneratorExp):
        if any(map(compute.forwards, _lazy_parts(node))) and not _read_here(ctx, compute, node):
            raise Manual(node, _READ_LATER, "use a list")
    for call in compute.near:
        if called_name(call) in MAPPING and compute.runs_model(call) and not _read_here(ctx, compute, call):
            raise Manual(call, _READ_LATER, f"list({ctx.m.src(call)})")


def _read_here(ctx: Context, compute: Compute, node: ast.expr) -> bool:
    """Whether all that an expression hands out one by one is read by the statement that it stands in."""
    above = ctx.m.parent[node]
    match above:
        case ast.Call(func=func):
            return node is func or _reads_now(ctx, above) or _read_here(ctx, compute, above)
        case ast.keyword():
            call = ctx.m.parent[above]
            return isinstance(call, ast.Call) and _reads_now(ctx, call)
        case ast.Starred() | ast.Compare():
            return True
        case ast.IfExp(test=test):
            return node is not test and _read_here(ctx, compute, above)
        case ast.comprehension():
            whole = ctx.m.parent[above]
            return not isinstance(whole, ast.GeneratorExp) or _read_here(ctx, compute, whole)
        case ast.Assign(targets=targets):
            return any(isinstance(t, (ast.Tuple, ast.List)) or _is_slice(t) for t in targets)
        case ast.AugAssign(op=ast.Add()):
            return True  # a list takes them all; nothing else adds a generator
        case ast.For(iter=source):
            # its body runs between the items: one region, or none
            return node is source and not compute.forbidden(above) and not isinstance(above, SCOPES)
        case _:
            return False


def _reads_now(ctx: Context, call: ast.Call) -> bool:
    """Whether a call is taken to go through the generator that it is handed before it returns."""
    name = called_name(call)
    held = ctx.v.of(call.func)
    if name in LAZY or any(o.kind in ("class", "instance", "partial") for o in held):
        return False
    return not any(generates(c) for c in ctx.v.callees(call))


def _lazy_parts(node: ast.GeneratorExp) -> list[ast.expr]:
    """What a generator expression computes only when it is read: all but what it goes through first."""
    parts = [node.elt, *(g.iter for g in node.generators[1:])]
    return parts + [test for g in node.generators for test in g.ifs]


def _is_slice(target: ast.expr) -> bool:
    return isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice)
