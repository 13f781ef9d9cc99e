"""Models that run in another thread: autocast is the thread's own, and does not reach there; Apex's casts were the
process's.

Source: torch.autocast is thread-local (torch docs, "Working with multiple GPUs").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.names import called_name
from ...facts.sites import opened
from ...knowledge.host import POOL_METHODS, STARTS_THREADS
from ...units.unit import Context, Unit
from ..regions.planner import Planner


def review_threads(ctx: Context, unit: Unit, planner: Planner) -> None:
    """Name each call that hands a model of the unit to what another thread will run."""
    named = (call for name in sorted(STARTS_THREADS | POOL_METHODS) for call in ctx.m.calls(name))
    for call in ctx.m.in_order(named):
        method = isinstance(call.func, ast.Attribute)
        if ctx.v.callees(call) or planner.early(call) or not (method or called_name(call) in STARTS_THREADS):
            continue
        runs = next(_functions(call), None)
        handed = [held for expr in _handed(call) for held in opened(ctx.v, ctx.v.of(expr))]
        if runs is not None and planner.compute.is_model(frozenset(handed)):
            unit.review(
                call,
                "APX035",
                f"`{ast.unparse(runs)}` runs in another thread, which autocast around this call does not reach, as "
                "Apex's casts did: to keep them, put torch.autocast inside of it",
            )


def _functions(call: ast.Call) -> Iterator[ast.expr]:
    yield from (keyword.value for keyword in call.keywords if keyword.arg in ("target", "func"))
    yield from call.args[:2]


def _handed(call: ast.Call) -> Iterator[ast.expr]:
    """What the function gets: arguments, those in a tuple of arguments, and what a ``partial`` has bound."""
    for expr in (*call.args, *(keyword.value for keyword in call.keywords)):
        yield expr
        if isinstance(expr, (ast.Tuple, ast.List)):
            yield from expr.elts
        elif isinstance(expr, ast.Call) and called_name(expr) == "partial":
            yield from _handed(expr)
