"""A condition of ``initialize`` that changes between its calls: Apex's casts stayed on once they were, for all that ran
later in the process, also where a later call said no."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...facts.once import once, once_each
from ...facts.sites import Initialize
from ...nodes import walk
from ...units.translate import passed
from ...units.unit import Context, Unit
from ..blocks import exclusive
from .changing import MAX_DEPTH, changes, sites


def review_runs_again(ctx: Context, unit: Unit) -> None:
    """Names the calls of ``initialize`` whose condition a loop changes, or callers that say different things."""
    m = ctx.m
    apart = any(isinstance(s, ast.If) for site in unit.scales for s in m.spine(m.statement(site.call))[1:])
    chosen = any(not isinstance(value, ast.Constant) for init in unit.initializes for value in _options(init.call))
    if unit.scales and not apart and not chosen:
        return  # whatever trains, trains in mixed precision
    for init in unit.initializes:
        for expr in _asked(ctx, init.call):
            if changes(ctx, expr, 0):
                unit.review(
                    init.call,
                    "APX035",
                    f"`{ctx.m.src(expr)}` may change from one call to the next: once Apex was initialized, its casts "
                    "were on for all that ran later in the process; what says no ran under them all the same, and runs "
                    "in float32 now",
                )
                break
        else:
            if (other := _another_before(ctx, init)) is not None:
                unit.review(init.call, "APX035", initialized_before(other))


def initialized_before(other: ast.Call) -> str:
    """What is said where an ``initialize`` elsewhere may have run before."""
    return (
        f"line {other.lineno} may have initialized Apex before, under another condition: its casts were "
        "on then for all that ran later in the process; what says no here ran under them all the same, and "
        "runs in float32 now"
    )


def _another_before(ctx: Context, init: Initialize) -> ast.Call | None:
    """A call of ``initialize`` that may run ahead of another one and asks something else: a pretraining with a flag of
    its own."""
    asked = _all_asked(ctx)
    if not asked[init.call]:
        return None
    for other, words in asked.items():
        if ctx.m.function(other) is ctx.m.function(init.call) or asked[init.call] <= words:
            continue
        if _runs_ahead(ctx, other, init.call):
            return other
    return None


@once
def _all_asked(ctx: Context) -> dict[ast.Call, frozenset[str]]:
    """For each ``initialize`` what the conditions ask on which it hangs."""
    calls = [init.call for init in ctx.facts.initializes]
    words = {call: [_words(ctx, expr, MAX_DEPTH) for expr in _asked(ctx, call)] for call in calls}
    return {call: frozenset[str]().union(*asked) for call, asked in words.items()}


def _words(ctx: Context, expr: ast.expr, depth: int) -> frozenset[str]:
    """What a condition asks, by the last names: ``fp16`` of ``args.fp16``, and what callers hand to a parameter."""
    found: set[str] = set()
    for node in walk(expr):
        match node:
            case ast.Attribute(attr=name):
                found.add(name)
            case ast.Name(id=name) if not isinstance(ctx.m.parent[node], ast.Attribute):
                home = ctx.m.binding_scope(name, ctx.m.scope(node))
                handed = depth and home is not None and home.is_function and name in home.params
                calls = ctx.v.calls[home.node] if handed and home is not None else []
                values = [one for call in calls if home is not None and (one := passed(ctx, call, home, name))]
                given = [_words(ctx, one, depth - 1) for one in values if not isinstance(one, ast.Constant)]
                found |= frozenset[str]().union(*given) if given else {name}
            case _:
                pass
    inner = {n.value.attr for n in walk(expr) if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Attribute)}
    return frozenset(found - inner)


def _runs_ahead(ctx: Context, one: ast.Call, other: ast.Call) -> bool:
    """Whether a function runs one call, itself or further down, above the other."""
    m, theirs = ctx.m, sites(ctx, other)
    for scope, firsts in sites(ctx, one).items():
        for second in theirs.get(scope, ()):
            for first in firsts:
                if m.start(first) < m.start(second) and not _at_another_word(ctx, first, second):
                    if not exclusive(ctx, first, second):
                        return True
    return False


def _at_another_word(ctx: Context, one: ast.AST, other: ast.AST) -> bool:
    """Whether two places of one function hang on one thing being this and that: ``if args.stage == "pretrain"``, and
    further down ``if args.stage == "finetune"``."""
    mine, theirs = _words_asked(ctx, one), _words_asked(ctx, other)
    return any(mine[text] != theirs[text] and not _set_anew(ctx, one, text) for text in mine.keys() & theirs.keys())


def _set_anew(ctx: Context, node: ast.AST, text: str) -> bool:
    """Whether what is asked may change: ``for args in runs:`` gives ``args.stage`` another value, too."""
    given = ctx.assigned[ctx.m.function(node)]
    _, dot, attr = text.rpartition(".")
    return (bool(dot) and attr in _stored(ctx)) or any(f"{text}.".startswith(f"{name}.") for name in given)


@once
def _stored(ctx: Context) -> frozenset[str]:
    """The attributes that are set anywhere in the program."""
    return frozenset(one.attr for one in ctx.m.all(ast.Attribute) if isinstance(one.ctx, ast.Store))


@once_each
def _words_asked(ctx: Context, node: ast.AST) -> dict[str, object]:
    """What has to be which constant where a node runs, by the conditions in whose first arms it stands."""
    found: dict[str, object] = {}
    for guard in ctx.m.spine(node):
        if isinstance(guard, ast.If) and any(ctx.m.inside(node, stmt) for stmt in guard.body):
            match guard.test:
                case ast.Compare(left=(ast.Name() | ast.Attribute()) as asked, ops=[ast.Eq()], comparators=[right]):
                    if isinstance(right, ast.Constant):
                        found[ast.unparse(asked)] = right.value
    return found


def _asked(ctx: Context, call: ast.Call) -> Iterator[ast.expr]:
    """What decides whether a call of ``initialize`` switches mixed precision on, in its own function."""
    for outer in ctx.m.spine(ctx.m.statement(call))[1:]:
        if isinstance(outer, ast.If):
            yield outer.test
    for stmt in ctx.m.spine(ctx.m.statement(call)):
        block, index = ctx.m.place[stmt]
        for before in block.body[:index]:  # `if not fp16: return model, optimizer`: it goes on without
            if isinstance(before, ast.If) and isinstance(end := before.body[-1], ast.Return) and end.value is not None:
                yield before.test
    yield from _options(call)


def _options(call: ast.Call) -> Iterator[ast.expr]:
    """The arguments of ``initialize`` that may say no."""
    yield from (keyword.value for keyword in call.keywords if keyword.arg in ("enabled", "opt_level"))
