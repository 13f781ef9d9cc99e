"""What each region under autocast is switched on by: the text of its ``enabled=``."""

from __future__ import annotations

import ast

from ..facts.files import File
from ..facts.scopes import Scope
from ..facts.sites import Initialize, Scale
from ..units.conditions import Term, reads
from ..units.order import ON, Order
from ..units.references import callers_known
from ..units.unit import Context, Manual, Unit
from .another_run import in_another_run
from .arms import beyond_its_arms
from .home.cases import either
from .home.guards import around, guard_cases, guards, terms_there
from .home.homes import Finder
from .home.scaling import class_of
from .home.there import object_there
from .other_objects import of_other_objects
from .plan import Plan
from .premises.again import initialized_before
from .premises.anew import OF_NEW_OBJECT, of_new_object
from .regions.made import leave_out_makers, made_in, not_made
from .regions.marks import Region
from .schedule import Scaler

_LEFT_OUT = "once amp.initialize had run, this was under Apex's casts, and it now runs in float32, because "


def switches(ctx: Context, unit: Unit, plan: Plan, finder: Finder) -> None:
    """What each region under autocast is switched on by."""
    sources = [pair for init in unit.initializes for pair in _own_guards(ctx, unit, init)]
    early = [x for x in (*_calls(unit), *plan.planner.statements) if plan.planner.order.early(x)]
    plan.always = all(t.value for _, t in sources) and not early and not finder.late()
    _lift(ctx, unit, plan, finder)
    for region in list(plan.planner.regions):
        stmt = region.block.body[region.first]
        if region.why == "evaluation" and _never(ctx, unit, stmt):
            plan.planner.leave_out(region)
            continue
        before = finder.snapshot()
        try:
            plan.enabled_at[region] = _enabled(ctx, unit, plan, finder, stmt, evaluates=region.why == "evaluation")
            _check_made(ctx, plan, region, plan.enabled_at[region])
            asks_scaler = ".is_enabled()" in plan.enabled_at[region]  # that of its own object is off
            if region.why == "evaluation" and not asks_scaler and (told := of_other_objects(ctx, unit, stmt)):
                unit.review(stmt, "APX035", told)
            if asks_scaler and of_new_object(ctx, unit, stmt, plan.planner.order, plan.enabled_at[region]):
                unit.review(stmt, "APX035", OF_NEW_OBJECT)
        except Manual as missing:
            finder.restore(before)
            elsewhere = unit.scales or _beside_others(ctx, plan, stmt)
            another = [] if elsewhere else _on_by_another(ctx, unit, stmt)
            if region.why != "evaluation" or not (elsewhere or another):
                raise
            plan.planner.leave_out(region)
            plan.enabled_at.pop(region, None)
            if another:
                unit.review(stmt, "APX035", initialized_before(another[0].call))
                continue
            said = f"{_LEFT_OUT}{missing.message}; to keep the casts, wrap it in torch.autocast"
            unit.review(stmt, "APX031", said)
            plan.uncovered.append((stmt, "APX031", said))
    for hoist in plan.planner.hoists:
        enabled = _enabled(ctx, unit, plan, finder, hoist.stmt)
        block, index = ctx.m.place[hoist.stmt]
        _check_made(ctx, plan, Region(block, index, index, "loss"), enabled)
        plan.hoist_enabled.append(enabled)


def _calls(unit: Unit) -> list[ast.Call]:
    return [x.call for x in unit.moments]


def _beside_others(ctx: Context, plan: Plan, stmt: ast.stmt) -> bool:
    """Whether a region where nothing trains is one of several, in a function that the program does not call."""
    scope = ctx.m.function(stmt)
    return scope.is_function and not ctx.v.calls[scope.node] and len(plan.planner.regions) > 1


def _on_by_another(ctx: Context, unit: Unit, stmt: ast.stmt) -> list[Initialize]:
    """The ``initialize`` calls of a unit where one of another unit runs ahead of an evaluation, and none of these:
    whether they left casts on hangs on what the process did before."""
    others = (init for init in ctx.facts.initializes if init not in unit.initializes)
    own = any(_runs_ahead(ctx, init, stmt) for init in unit.initializes)
    return unit.initializes if not own and any(_runs_ahead(ctx, init, stmt) for init in others) else []


def _lift(ctx: Context, unit: Unit, plan: Plan, finder: Finder) -> None:
    """An evaluation whose function can say neither the condition nor be handed the scaler is wrapped where it is
    called."""
    for _ in range(20):
        for region in plan.planner.regions:
            stmt = region.block.body[region.first]
            if region.why == "evaluation" and isinstance(_said(ctx, unit, stmt), str):
                if _reached(ctx, unit, plan, finder, stmt):
                    continue
                near = any(ctx.m.function(s.call) is ctx.m.function(stmt) for s in unit.moments)
                if not (near and plan.scaled) and plan.planner.lift(region):
                    break
        else:
            return


def _reached(ctx: Context, unit: Unit, plan: Plan, finder: Finder, stmt: ast.stmt) -> bool:
    """Whether the scaler, which says the condition, is at hand at ``stmt`` or may be handed on to there."""
    if not _scaling(unit, plan) or not all(i.optimizers for i in unit.initializes):
        return False
    before = finder.snapshot()
    try:
        _check_alone(ctx, stmt)
        finder.reach(finder.scalers[0], stmt, None)
    except Manual:
        return False
    finally:
        finder.restore(before)
    return True


def _scaling(unit: Unit, plan: Plan) -> bool:
    """Whether a scaler is there that is on wherever mixed precision is, and off elsewhere."""
    return plan.scaled and not unit.apart and not any(o.unscaled for o in unit.options.values())


def _own_guards(ctx: Context, unit: Unit, init: Initialize) -> list[tuple[ast.expr, Term]]:
    """All conditions of an initialize; where its callers disagree, at least that there is one."""
    try:
        return guards(ctx, unit, init, None)
    except Manual:
        return [(init.call, Term("…"))]


def _enabled(ctx: Context, unit: Unit, plan: Plan, finder: Finder, stmt: ast.stmt, *, evaluates: bool = False) -> str:
    """The text of ``enabled=`` for a region at ``stmt``; "" where it is always on."""
    _check_alone(ctx, stmt)
    if plan.always:
        return ""
    if any(t.value is False for init in unit.initializes for _, t in unit.options_of(init).enabled):
        return "False" if len(unit.initializes) == 1 else _ambiguous(unit)
    if _switched_on_above(ctx, unit, stmt):
        return ""
    scope = ctx.m.function(stmt)
    scaling = _scaling(unit, plan)
    near = any(ctx.m.function(s.call) is scope for s in unit.moments) and scaling
    # an evaluation may be under casts where only a model was handed over, and the scaler is off
    apart = evaluates and not all(i.optimizers for i in unit.initializes)
    if near and not (apart and isinstance(_said(ctx, unit, stmt), Term)):
        return _near(ctx, unit, finder, stmt)
    if scaling and all(i.optimizers for i in unit.initializes):
        at_hand = finder.at_hand(finder.scalers[0], stmt)
        if at_hand is not None:
            finder.used(finder.scalers[0], stmt)
            return _asked(finder, finder.scalers[0], stmt, at_hand)
        if plan.planner.order.early(stmt):
            return f"{finder.reach(finder.scalers[0], stmt, None)}.is_enabled()"
    said = _said(ctx, unit, stmt)
    if isinstance(said, str) and not (scaling and _reached(ctx, unit, plan, finder, stmt)):
        said = _said(ctx, unit, stmt, ways=True)
    if unit.apart and isinstance(said, str):
        there = object_there(ctx, unit, class_of(ctx, unit), stmt)
        if there is not None:
            return there
    if not isinstance(said, str) and said.value is not False:
        for other in _cases(ctx, unit, stmt, ways=True)[2]:
            unit.review(stmt, "APX035", initialized_before(other.call))
        return "" if said.value else _bool(said)
    if not isinstance(said, str):
        raise Manual(stmt, "the condition of mixed precision is never true here")
    if scaling:
        return f"{finder.reach(finder.scalers[0], stmt, None)}.is_enabled()"
    raise Manual(
        stmt,
        f"the condition `{said}` under which mixed precision is on cannot be said here",
        f'with torch.autocast("cuda", dtype=torch.float16, enabled={said}): …',
    )


def _switched_on_above(ctx: Context, unit: Unit, stmt: ast.stmt) -> bool:
    """Whether a block around ``stmt`` has run an ``initialize`` that hangs on nothing further."""
    for init in unit.initializes:
        block, index = ctx.m.place[ctx.m.statement(init.call)]
        whole = any(ctx.m.block(s) is block and ctx.m.place[s][1] > index for s in ctx.m.spine(stmt))
        if whole and all(term.value for _, term in unit.options_of(init).enabled) and not init.optimizers:
            return ctx.m.function(init.call) is ctx.m.function(stmt)
    return False


def _check_made(ctx: Context, plan: Plan, region: Region, enabled: str) -> None:
    """The object that ``enabled`` is read from has to be there where the region begins, or is asked for as well: where
    nobody hands an optimizer on, nothing trains."""
    owner = not_made(ctx, region, enabled)
    if owner is not None and not made_in(ctx, region, owner) and plan.enabled_at.get(region) == enabled:
        plan.enabled_at[region] = f"{owner} is not None and {enabled}"
    elif owner is not None and not leave_out_makers(ctx, region, enabled, plan.planner.compute.forwards):
        raise Manual(
            region.block.body[region.first],
            f"`{enabled}` says whether mixed precision is on, and `{owner}` may not be there yet",
            f"make sure that `{owner}` is made before this, or read the condition from elsewhere",
        )


def _check_alone(ctx: Context, stmt: ast.stmt) -> None:
    """An autocast of the file's own around a region: the inner one, switched off, would switch the outer off."""
    for outer in ctx.m.spine(stmt)[1:]:
        if isinstance(outer, (ast.With, ast.AsyncWith)):
            for item in outer.items:
                if "autocast" in ctx.m.src(item.context_expr).lower():
                    raise Manual(
                        stmt,
                        f"`{ctx.m.src(item.context_expr)}` stands around this already: two backends side by side",
                        "keep the native one: let its autocast and its scaler serve this case too, and drop Apex's arm",
                    )


def _near(ctx: Context, unit: Unit, finder: Finder, stmt: ast.stmt) -> str:
    """The condition that the scaler of a function that scales or steps says."""
    scope = ctx.m.function(stmt)
    for site in unit.moments:
        if ctx.m.function(site.call) is scope:
            optimizer = site.optimizers if isinstance(site, Scale) else site.optimizer
            scaler = next(s for s in finder.scalers if s.objects & _objects(site))
            return _asked(finder, scaler, stmt, finder.reach(scaler, stmt, optimizer))
    return f"{finder.reach(finder.scalers[0], stmt, None)}.is_enabled()"


def _asked(finder: Finder, scaler: Scaler, stmt: ast.stmt, reached: str) -> str:
    """Whether a scaler is on: one that is None in calls that hand no optimizer on is off."""
    there = "" if finder.always_handed(scaler, stmt) else f"{reached} is not None and "
    return f"{there}{reached}.is_enabled()"


def _objects(site: object) -> frozenset[object]:
    return site.optimizer_objects if isinstance(site, Scale) else site.objects  # type: ignore[attr-defined]


def _said(ctx: Context, unit: Unit, stmt: ast.stmt, *, ways: bool = False) -> Term | str:
    """The unit's condition as the function of ``stmt`` can say it, without what already holds there; ``ways``: also
    where several ways lead to an ``initialize``, each under conditions of its own."""
    cases, unsaid, _ = _cases(ctx, unit, stmt, ways=ways)
    return next(iter(unsaid.values())) if unsaid else either(cases)


def _never(ctx: Context, unit: Unit, stmt: ast.stmt) -> bool:
    """Whether the arms around a statement deny every way in which casts may be on there."""
    awake = _awake(ctx, unit, ctx.m.function(stmt))
    return bool(awake) and all(_cases_of(ctx, unit, init, stmt, ways=True) == [] for init in awake)


def _cases(
    ctx: Context, unit: Unit, stmt: ast.stmt, *, ways: bool = False
) -> tuple[list[list[Term]], dict[Initialize, str], list[Initialize]]:
    """The ways in which casts may be on by the time of ``stmt``, each with its conditions; the ``initialize`` calls of
    which it cannot say them; and, not among these, such that only another part of the process runs, where one runs
    ahead of it in any case."""
    scope = ctx.m.function(stmt)
    awake = _awake(ctx, unit, scope)
    found = {init: _cases_of(ctx, unit, init, stmt, ways) for init in awake}
    unsaid = {init: said for init, said in found.items() if isinstance(said, str)}
    others: list[Initialize] = []
    if unsaid and any(_runs_ahead(ctx, init, stmt) for init in awake if init not in unsaid):
        others = [init for init in unsaid if not _runs_ahead(ctx, init, stmt)]
    cases = [one for said in found.values() if not isinstance(said, str) for one in said]
    return cases, {init: said for init, said in unsaid.items() if init not in others}, others


def _runs_ahead(ctx: Context, init: Initialize, stmt: ast.stmt) -> bool:
    """Whether the function of ``stmt`` runs an ``initialize`` ahead of it, in any case."""
    order = Order(ctx, Unit(0, [init], []))
    return order.switches(ctx.m.function(stmt).node) and order.states(stmt) == {ON}


def _cases_of(ctx: Context, unit: Unit, init: Initialize, stmt: ast.stmt, ways: bool) -> list[list[Term]] | str:
    scope = ctx.m.function(stmt)
    init = _weakest(ctx, unit, init, scope)
    above = set(ctx.m.ancestors(stmt))
    try:
        several = ways and ctx.m.function(init.call) is not scope
        every = guard_cases(ctx, unit, init, scope) if several else [guards(ctx, unit, init, None, scope)]
    except Manual as missing:  # its callers disagree
        own = guards(ctx, unit, init, None, ctx.m.function(init.call))
        return next((term.text for _, term in own if term.value is None), missing.message)
    cases: list[list[Term]] = []
    for one in every:
        sources = [
            (expr, term)
            for expr, term in one
            if not (ctx.m.parent.get(expr) in above and isinstance(ctx.m.parent[expr], ast.If))
        ]
        said = terms_there(ctx, sources, scope)
        if isinstance(said, str):
            return said
        left = beyond_its_arms(ctx, [term for term in said if not _moves_on(ctx, term, stmt)], stmt)
        if left is not None:
            cases.append(left)
    return cases


def _weakest(ctx: Context, unit: Unit, init: Initialize, there: Scope) -> Initialize:
    """Another ``initialize`` of the same function that runs wherever this one does and hangs on less: what runs later,
    in another function, is under casts where that ran (``if teacher: if fp16: initialize(teacher)``, and then
    ``if fp16: …``). Else this one."""
    home = ctx.m.function(init.call)
    if home is there or not home.is_function:
        return init
    mine = _conditions(ctx, init)
    for other in ctx.facts.initializes:
        beside = ctx.m.function(other.call) is home and _alike(init, other)
        if beside and _conditions(ctx, other) < mine:
            if not _runs_between(ctx, init.call, other.call, there):
                unit.options.setdefault(other.call, unit.options_of(init))
                return other
    return init


def _alike(one: Initialize, other: Initialize) -> bool:
    """Whether two calls say the same beside what they are handed."""
    said = [sorted((str(k.arg), ast.dump(k.value)) for k in site.call.keywords) for site in (one, other)]
    return said[0] == said[1]


def _conditions(ctx: Context, init: Initialize) -> frozenset[str]:
    return frozenset(term.text for _, term in around(ctx, init, init.call, None) if term.value is not True)


def _runs_between(ctx: Context, first: ast.Call, last: ast.Call, scope: Scope) -> bool:
    """Whether what stands between two calls of a function may run another one."""
    low, high = ctx.m.start(first), ctx.m.start(last)
    todo = [c for c in ctx.calls_in.get(ctx.m.function(first), ()) if low <= ctx.m.start(c) <= high]
    met: set[ast.AST] = set()
    while todo:
        for function in ctx.v.callees(todo.pop()):
            if function not in met:
                met.add(function)
                todo += ctx.calls_in.get(ctx.m.scope_of[function], ()) if function in ctx.m.scope_of else ()
    return scope.node in met


def _awake(ctx: Context, unit: Unit, scope: Scope) -> list[Initialize]:
    """The ``initialize`` calls that may run in a process that comes to a function: where it holds one itself, or where
    its file begins every such process, not those that only the main block of an imported file leads to, nor those of
    another arm of what is run."""
    own = ctx.m.file(scope.node)
    mine = [init for init in unit.initializes if ctx.m.function(init.call) is scope]
    beside = [init for init in unit.initializes if _in_one_run(ctx, own, ctx.m.file(init.call))]
    if not mine and not _begins_here(ctx, scope):
        return [init for init in beside if not in_another_run(ctx, ctx.m.function(init.call), scope)]
    reached = {*ctx.m.reached(own)} if not mine else {ctx.m.file(init.call) for init in beside}
    awake = [
        init
        for init in beside
        if init in mine
        or (ctx.m.file(init.call) is own and not mine)
        or (ctx.m.file(init.call) in reached and not _asleep(ctx, init.call, own, frozenset()))
    ]
    return [init for init in awake if init in mine or not in_another_run(ctx, ctx.m.function(init.call), scope)]


def _in_one_run(ctx: Context, one: File, other: File) -> bool:
    """Whether a run may have two files: no run has two scripts of which neither imports the other."""
    return any({one, other} <= {root, *ctx.m.reached(root)} for root in ctx.m.roots)


def _begins_here(ctx: Context, scope: Scope) -> bool:
    """Whether every process that comes to a function began with its file: no other imports it, or only its own main
    block leads there."""
    if len(ctx.m.files) == 1:
        return False
    here = ctx.m.file(scope.node) not in ctx.m.imported
    return here or (scope.is_function and callers_known(ctx, scope) and _led_to_by_main(ctx, scope, frozenset()))


def _led_to_by_main(ctx: Context, scope: Scope, seen: frozenset[Scope]) -> bool:
    """Whether a function is called, and only from the main block of its own file, or from functions that are so."""
    calls = ctx.v.calls[scope.node] if scope.is_function else []
    own = ctx.m.file(scope.node)
    return bool(calls) and all(
        ctx.m.file(call) is own and (ctx.m.idle(call) or _led_to(ctx, call, seen | {scope})) for call in calls
    )


def _led_to(ctx: Context, call: ast.Call, seen: frozenset[Scope]) -> bool:
    scope = ctx.m.function(call)
    return scope not in seen and _led_to_by_main(ctx, scope, seen)


def _asleep(ctx: Context, node: ast.AST, begun: File, seen: frozenset[Scope]) -> bool:
    """Whether only main blocks of imported files lead to a node, and not that of the file that began the process."""
    scope = ctx.m.function(node)
    idle = ctx.m.idle(node) and ctx.m.file(node) is not begun
    if idle or scope in seen or not scope.is_function:
        return idle or scope in seen
    calls = ctx.v.calls[scope.node]
    if not calls:
        return _nobody_runs(ctx, scope)
    return all(_asleep(ctx, call, begun, seen | {scope}) for call in calls)


def _nobody_runs(ctx: Context, scope: Scope) -> bool:
    """Whether a function of a file is there for no one in the program: its name stands nowhere, in no text either."""
    node = scope.node
    if not isinstance(node, ast.FunctionDef) or not isinstance(ctx.m.parent[node], ast.Module) or node.decorator_list:
        return False
    if ctx.m.named(node.name) or ctx.m.attributes(node.name) or not callers_known(ctx, scope):
        return False
    if not _runs_by_itself(ctx.m.file(node)):  # whoever runs it begins with one of its functions
        return False
    return not any(isinstance(n.value, str) and node.name in n.value for n in ctx.m.all(ast.Constant))


def _runs_by_itself(file: File) -> bool:
    """Whether a file does something where it stands: an entry point of a package only defines what others call."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    others = (s for s in file.tree.body if not isinstance(s, (*functions, ast.Import, ast.ImportFrom)))
    named = (ast.Assign, ast.AnnAssign)
    return any(not isinstance(s, named) and not isinstance(getattr(s, "value", None), ast.Constant) for s in others)


def _moves_on(ctx: Context, term: Term, stmt: ast.stmt) -> bool:
    """Whether a condition reads what a loop gives another value by the time that a statement runs: Apex's casts stay
    on behind the round that switched them on."""
    scope = ctx.m.function(stmt)
    for name in reads(term.text):
        bound = [n for n in ctx.m.bindings(name, ctx.m.binding_scope(name, scope)) if ctx.m.function(n) is scope]
        loops = [{x for x in ctx.m.ancestors(n) if isinstance(x, (ast.For, ast.AsyncFor, ast.While))} for n in bound]
        around = set(ctx.m.ancestors(stmt))
        if any(one and (len(bound) > 1 or not one <= around) for one in loops):
            return True
    return False


def _bool(term: Term) -> str:
    return term.text if term.boolean else f"bool({term.text})"


def _ambiguous(unit: Unit) -> str:
    raise Manual(unit.line_node, "one initialize call is O0, another is not")
