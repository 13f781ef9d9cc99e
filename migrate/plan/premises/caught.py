"""Exceptions that somebody swallows between a backward and ``update()``: training goes on, the scaler is half-way.

After ``unscale_()`` a GradScaler waits for ``update()``: the next ``unscale_()`` raises, and a ``step()`` that raised
inside is followed by one that takes scaled gradients for unscaled ones. Apex had nothing that waits.
Source: torch/amp/grad_scaler.py (OptState).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.names import called_name, last_name
from ...facts.networks import comes_from_elsewhere, name_elsewhere
from ...facts.swallowing import exit_keeps, false, keeps
from ...nodes import walk
from ...units.references import handed_to
from ...units.unit import Context, Manual, Unit
from ..blocks import calls_that_run, exclusive, running
from ..schedule import Schedule

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MANAGERS = frozenset("contextmanager asynccontextmanager".split())
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_KEEP_TO_THEMSELVES = frozenset("suppress assertRaises assertRaisesRegex raises".split())


def check_caught(ctx: Context, unit: Unit, schedule: Schedule) -> None:
    """Raise Manual where a swallowed exception leaves a backward out that the step is taken without; name the rest."""
    for scale in unit.scales:
        for block in _swallowing(ctx, scale.call):
            if _settled(block, schedule):
                continue
            behind = [s for s in unit.steps if ctx.m.function(s.call) is ctx.m.function(block)]
            if not any(ctx.m.start(s.call) > ctx.m.end(block) for s in behind):
                continue
            if isinstance(block, ast.With):
                raise Manual(
                    block,
                    "an exception that is swallowed here leaves the backward out, and the step is taken all the same: "
                    "with nothing scaled, scaler.step() raises",
                    "take the step inside of this block, too",
                )
            unit.review(
                scale.call,
                "APX061",
                f"where this backward raises and the exception is caught (line {block.lineno}), Apex left gradients "
                "that were still scaled; now they are unscaled with the next ones",
            )
    for place in [*(u.before for u in schedule.unscales), *(s.stmt for s in unit.steps)]:
        around = (b for at in running(ctx, place) for b in _swallowing(ctx, at) if not _settled(b, schedule))
        caught = next((one for one in around if _again(ctx, _within(one)) or _besides(ctx, place, one)), None)
        if caught is not None:
            unit.review(
                place,
                "APX061",
                f"an exception that is caught around this (line {caught.lineno}) leaves the scaler waiting for "
                "update(): the next unscale_() raises, and behind a step() that failed gradients are taken for "
                "unscaled; where it happens (out of memory), go on with a new "
                "GradScaler(init_scale=scaler.get_scale())",
            )
            return


def _settled(block: ast.stmt | ast.Call, schedule: Schedule) -> bool:
    """Whether the handlers of a ``try`` get an ``update()``, catching only what is raised behind ``unscale_()``."""
    places = {place for place, _ in schedule.exits}
    if not isinstance(block, ast.Try) or not block.handlers or block.finalbody:
        return False
    return all(handler.body[0] in places for handler in block.handlers)


def _within(block: ast.stmt | ast.Call) -> ast.stmt | ast.Call:
    """A place in the code that an exception is kept from: a decorated function's is the function's own."""
    return block.body[0] if isinstance(block, _FUNCTIONS) else block


def _again(ctx: Context, block: ast.AST) -> bool:
    """Whether code may run once more: unless it stands in no loop, and its function is called in one place alone, of
    which the same holds. A function without a caller here is somebody's callback, but for a `main`."""
    m, met = ctx.m, set[ast.AST]()
    at: ast.AST = block
    while not _repeats(ctx, at):
        scope = m.function(at)
        if scope.node in met:
            return True  # it calls itself
        met.add(scope.node)
        calls = calls_that_run(ctx, scope.node)
        if scope is m.root(scope) or (not calls and getattr(scope.node, "name", "") == "main"):
            return False
        if len(calls) != 1:
            return True
        at = calls[0]
    return True


def _besides(ctx: Context, place: ast.AST, block: ast.stmt | ast.Call) -> bool:
    """Whether what runs in a block that is left by an exception may be called behind it, too."""
    m, met = ctx.m, set[ast.AST]()
    at, end = place, m.function(_within(block))
    while (scope := m.function(at)) is not end:
        calls = calls_that_run(ctx, scope.node)
        if not calls or scope.node in met:
            return bool(calls)  # where there is none, it was handed on
        met.add(scope.node)
        at = next((call for call in calls if m.inside(call, block)), calls[0])
        ahead = [call for call in calls if m.function(call) is end and m.end(call) <= m.start(block)]
        if any(call is not at and call not in ahead and not exclusive(ctx, at, call) for call in calls):
            return True
    return False


def _repeats(ctx: Context, node: ast.AST) -> bool:
    """Whether a loop, a comprehension or a lambda stands around a node within its function."""
    m = ctx.m
    if m.loops(node) or isinstance(m.scope(node).node, ast.Lambda):
        return True
    statement = m.statement(node)
    return any(isinstance(outer, _COMPREHENSIONS) for outer in m.ancestors(node) if m.inside(outer, statement))


def _swallowing(ctx: Context, node: ast.AST) -> Iterator[ast.stmt | ast.Call]:
    """The blocks of a function around a node behind which it goes on where something in them raises, and the function
    itself where a context manager is its decorator."""
    function = ctx.m.function(node).node
    if isinstance(function, _FUNCTIONS) and any(_swallows(ctx, one) for one in function.decorator_list):
        yield function
    yield from _kept(ctx, node, function)
    for stmt in ctx.m.spine(node):
        if _goes_on_behind(ctx, stmt, node):
            yield stmt
        elif isinstance(stmt, ast.With) and any(_swallows(ctx, item.context_expr) for item in stmt.items):
            if any(ctx.m.inside(node, s) for s in stmt.body):
                yield stmt


def _kept(ctx: Context, node: ast.AST, function: ast.AST) -> Iterator[ast.Call]:
    """Where a function of another file runs this one and keeps what it raises, or a pool that is asked for it; where
    ``gather`` hands back what tasks raised."""
    for call in handed_to(ctx, function):
        submitted = called_name(call) == "submit" and any(not asked.args for asked in ctx.m.calls("exception"))
        if submitted or _elsewhere(ctx, call):
            yield call
    for outer in ctx.m.ancestors(node):
        if isinstance(outer, ast.Call) and any(_keeps_raised(k) for k in outer.keywords):
            yield outer
        if isinstance(outer, ast.stmt):
            break


def _keeps_raised(keyword: ast.keyword) -> bool:
    return keyword.arg == "return_exceptions" and not false(keyword.value)


def _goes_on_behind(ctx: Context, stmt: ast.stmt, node: ast.AST) -> bool:
    """Whether a statement is a ``try`` with a node in its body behind which training goes on."""
    return isinstance(stmt, ast.Try) and any(ctx.m.inside(node, s) for s in stmt.body) and keeps(stmt)


def _swallows(ctx: Context, manager: ast.expr) -> bool:
    """Whether a context manager keeps exceptions to itself: ``suppress``, a class whose ``__exit__`` says so, or a
    generator with a ``try`` around its ``yield``."""
    if isinstance(manager, ast.Call) and called_name(manager) in _KEEP_TO_THEMSELVES:
        return True
    made = ctx.v.callees(manager) if isinstance(manager, ast.Call) else ()
    if any(_around_yield(ctx, function) for function in made):
        return True
    classes = [o.key for o in ctx.v.of(manager) if o.kind == "instance" and isinstance(o.key, ast.ClassDef)]
    exits = [ctx.m.method(one, "__exit__") for cls in classes for one in ctx.v.order(cls)]
    return any(function is not None and exit_keeps(function) for function in exits) or _elsewhere(ctx, manager)


def _elsewhere(ctx: Context, made: ast.expr) -> bool:
    """Whether a function or class of another file keeps exceptions to itself, by its text."""
    func = made.func if isinstance(made, ast.Call) else made
    return comes_from_elsewhere(ctx.v, func) and name_elsewhere(ctx.v, func) in ctx.facts.elsewhere.swallowing


def _around_yield(ctx: Context, function: ast.AST) -> bool:
    """Whether a function is a context manager that goes on where its block raises."""
    if not isinstance(function, _FUNCTIONS) or not any(last_name(d) in _MANAGERS for d in function.decorator_list):
        return False
    yields = [n for n in walk(function) if isinstance(n, ast.Yield) and ctx.m.function(n).node is function]
    return any(_goes_on_behind(ctx, stmt, one) for one in yields for stmt in ctx.m.spine(one))
