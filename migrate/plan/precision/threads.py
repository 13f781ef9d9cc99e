"""Models that run in another thread: autocast is the thread's own, and does not reach there; Apex's casts were the
process's.

Source: torch.autocast is thread-local (torch docs, "Working with multiple GPUs").
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.names import called_name
from ...facts.networks import handed_elsewhere, library
from ...facts.sites import opened
from ...knowledge.host import POOL_METHODS, STARTS_THREADS
from ...knowledge.models import NOT_RUN_BY_METHOD
from ...units.unit import Context, Unit
from ..regions.planner import Planner


def review_threads(ctx: Context, unit: Unit, planner: Planner) -> None:
    """Name each call that hands a model of the unit to what another thread will run."""
    named = (call for name in sorted(STARTS_THREADS | POOL_METHODS) for call in ctx.m.calls(name))
    applied = (call for call in ctx.m.calls("apply") if _of_a_pool(call))
    for call in ctx.m.in_order((*named, *applied)):
        method = isinstance(call.func, ast.Attribute)
        if ctx.v.callees(call) or planner.early(call) or not (method or called_name(call) in STARTS_THREADS):
            continue
        if library(ctx.v, call.func) == "itertools":
            continue  # `starmap`, which runs what it is handed itself
        runs = next(_functions(call), None)
        given = (expr for expr in _handed(call) if not _runs_nothing(expr))
        handed = [held for expr in given for held in opened(ctx.v, ctx.v.of(expr))]
        methods = any(map(planner.compute.runs_called, _run(call)))
        if runs is not None and (methods or planner.compute.is_model(frozenset(handed))):
            unit.review(
                call,
                "APX035",
                f"`{ast.unparse(runs)}` runs in another thread, which autocast around this call does not reach, as "
                "Apex's casts did: to keep them, put torch.autocast inside of it",
            )
    _review_others(ctx, unit, planner)


def _review_others(ctx: Context, unit: Unit, planner: Planner) -> None:
    """Name the calls of functions of other files that have another thread run what they are handed."""
    if not (threading := ctx.facts.elsewhere.threading):
        return
    for call in ctx.m.all(ast.Call):
        for expr in handed_elsewhere(ctx.v, call, threading):
            model = not _runs_nothing(expr) and planner.compute.is_model(opened(ctx.v, ctx.v.of(expr)))
            if model or planner.compute.runs_called(expr):
                unit.review(
                    call,
                    "APX035",
                    f"`{called_name(call)}` has another thread run `{ast.unparse(expr)}`, which autocast around this "
                    "call does not reach, as Apex's casts did: to keep them, put torch.autocast inside of it",
                )


def _runs_nothing(expr: ast.expr) -> bool:
    """A method of a network's that runs nothing of it: ``net.state_dict``."""
    return isinstance(expr, ast.Attribute) and NOT_RUN_BY_METHOD.fit(expr.attr)


def _of_a_pool(call: ast.Call) -> bool:
    """``pool.apply(net, (x,))``: a function and the tuple of what it is handed; not ``net.apply(init)``, nor the
    ``apply`` of an own autograd function."""
    handed = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "args")]
    return any(isinstance(expr, (ast.Tuple, ast.List)) for expr in handed)


def _run(call: ast.Call) -> Iterator[ast.expr]:
    """What is run there: the functions, and those that a ``partial`` fills."""
    for expr in _functions(call):
        while isinstance(expr, ast.Call) and called_name(expr) == "partial" and expr.args:
            expr = expr.args[0]
        yield expr


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
