"""Backwards that Apex did not scale, beside one that it did: they are scaled as well, named, or the unit stays."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from ...facts.names import makes_context
from ...facts.once import once
from ...facts.scopes import Scope
from ...facts.sites import Scale
from ...nodes import walk
from ...units.autograd import uncast_functions
from ...units.order import NOT_YET, Order
from ...units.unit import Context, Manual, Unit, scales_in, steps_in
from ..gradients.attacks import asks_for_its_own
from ..gradients.fold import Fold
from ..regions.planner import Planner
from .another_optimizer import of_scheduler, steps_another


def scale_plain_backwards(ctx: Context, unit: Unit) -> None:
    """A plain backward beside a scaled one, of which every gradient goes to the unit's optimizers, is scaled too:
    Apex added its gradients to those that it had unscaled."""
    m = ctx.m
    if not unit.scales or _steps_others(ctx, unit):
        return
    found: list[Scale] = []
    callers = {m.function(c) for s in unit.scales for c in ctx.v.calls.get(m.function(s.call).node, ())}
    if _steps_others(ctx, unit, callers):
        callers = set()
    for node in _plain_backwards(ctx, unit, [], callers):
        if not isinstance(node.func, ast.Attribute):
            continue
        beside, optimizers = _beside(ctx, unit, node, callers)
        alone = isinstance(m.parent[node], ast.Expr) and not node.args
        if beside is None or not alone or _scaled_by_hand(node) or asks_for_its_own(ctx, node):
            continue
        if _scaled_for_another(ctx, unit, node):
            continue
        owner = node.func.value
        held = beside.optimizer_objects
        found.append(Scale(node, owner, optimizers, held, None, None, None))
        unit.review(
            node,
            "APX042",
            f"`{m.src(node)}` was not scaled and now is, as a step takes all its gradients from one scale: an overflow "
            "in it leaves the step out, which Apex did not look at",
        )
    unit.scales += found


def _beside(
    ctx: Context, unit: Unit, node: ast.Call, callers: Collection[Scope]
) -> tuple[Scale | None, ast.expr | None]:
    """The scaled backward that runs in the same round as a plain one, perhaps in a function that one of the ``callers``
    calls beside it, and the optimizer as this function has it."""
    m = ctx.m
    for scale in scales_in(ctx, unit, m.function(node)):
        if _same_round(ctx, scale.call, node):
            return scale, scale.optimizers
    for scale in unit.scales if m.function(node) in callers else ():
        for call in ctx.v.calls.get(m.function(scale.call).node, ()):
            if _same_round(ctx, call, node):
                handed = [*call.args, *(k.value for k in call.keywords)]
                handed += _of_object(ctx, scale, m.function(node))
                own = [one for one in handed if ctx.v.of(one) & scale.optimizer_objects]
                return (scale, own[0]) if own else (None, None)
    return None, None


def _of_object(ctx: Context, scale: Scale, scope: Scope) -> list[ast.expr]:
    """``self.optimizer`` of a scaled backward, where ``scope`` is a method of the same class and may write it too."""
    own = ctx.m.function(scale.call)
    both = ctx.m.class_of(own) is not None and ctx.m.class_of(own) is ctx.m.class_of(scope)
    match scale.optimizers:
        case ast.Attribute(value=ast.Name(id=name)) if both and name == ctx.m.self_name(own) == ctx.m.self_name(scope):
            return [scale.optimizers]
        case _:
            return []


def _backward_functions(ctx: Context) -> set[str]:
    """Names by which the file calls ``torch.autograd.backward``."""
    return {
        alias.asname or alias.name
        for node in ctx.m.all(ast.ImportFrom)
        if node.module == "torch.autograd"
        for alias in node.names
        if alias.name == "backward"
    }


def _steps_others(ctx: Context, unit: Unit, around: Collection[Scope] = ()) -> bool:
    """Whether an optimizer that is not the unit's is stepped where its own are, or around there."""
    near = _reached(ctx, {*(ctx.m.function(s.call) for s in unit.moments), *around})
    for node in (call for scope in near for call in ctx.m.own(scope, ast.Call)):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "step":
            known = ctx.v.of(node.func.value) & unit.optimizer_objects or ctx.v.callees(node)
            if not known and not of_scheduler(ctx, node.func):
                return True
    return False


def _same_round(ctx: Context, scaled: ast.Call, plain: ast.Call) -> bool:
    """Whether two backwards run in the same round of the same loop, the plain one perhaps several times."""
    m = ctx.m
    around, inner = m.loops(scaled), m.loops(plain)
    return m.function(scaled) is m.function(plain) and inner[max(len(inner) - len(around), 0) :] == around


def _differentiated(ctx: Context, node: ast.Call) -> str:
    """What a backward starts from, as the file says it."""
    method = isinstance(node.func, ast.Attribute) and ctx.m.src(node.func.value) not in ("torch.autograd", "autograd")
    start = node.func.value if method and isinstance(node.func, ast.Attribute) else (node.args or [node.func])[0]
    return ctx.m.src(start)


def _scaled_by_hand(node: ast.Call) -> bool:
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    return isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute) and owner.func.attr == "scale"


def check_plain_backwards(ctx: Context, unit: Unit, folded: list[Fold]) -> None:
    """An unscaled backward beside a scaled one would mix scaled and unscaled gradients; one in a function of its own
    may train something else, and one behind all training only asks for gradients (GradCAM, a saliency map), which the
    comparison finds out."""
    own = {ctx.m.function(moment.call) for moment in unit.moments}
    for node in _plain_backwards(ctx, unit, folded):
        if _scaled_by_hand(node):
            raise Manual(node, "native AMP and Apex stand side by side: one backend has to go first")
        mixed = Manual(
            node,
            f"`{ctx.m.src(node)}` runs beside a scaled backward of the same step: its gradients would not be scaled",
            f"where the same optimizer takes its gradients: scaler.scale({_differentiated(ctx, node)}).backward()",
        )
        told = _behind_training(ctx, unit, node) or asks_for_its_own(ctx, node) or steps_another(ctx, unit, node)
        told = told or _scaled_for_another(ctx, unit, node)
        if ctx.m.function(node) in own and not told:
            raise mixed
        unit.unless_proved.append(mixed)


def _scaled_for_another(ctx: Context, unit: Unit, node: ast.Call) -> bool:
    """Whether Apex scales a backward for an optimizer of another unit, whose own scaler scales it now: where its
    gradients reach this unit's, they had a scale under Apex as well. So it is with what stands in the other arm of
    that unit's guard."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    others = [s for s in ctx.facts.scales if s not in unit.scales and s.with_ is not None]
    scaled = isinstance(owner, ast.Name) and any(
        s.alias == owner.id and ctx.m.inside(node, s.with_) for s in others if s.with_ is not None
    )
    return scaled or any(_other_arm(ctx, s.with_, node) for s in others if s.with_ is not None)


def _other_arm(ctx: Context, with_: ast.With, node: ast.Call) -> bool:
    """Whether a backward stands where the guard around a ``scale_loss`` leaves that out."""
    guard = ctx.m.parent[with_]
    if not isinstance(guard, ast.If):
        return False
    other = guard.orelse if with_ in guard.body else guard.body
    return any(ctx.m.inside(node, stmt) for stmt in other)


def _behind_training(ctx: Context, unit: Unit, node: ast.Call) -> bool:
    """Whether all backwards and steps of a function stand above a node, each in a loop that it is not in."""
    m = ctx.m
    mine = [moment.call for moment in unit.moments if m.function(moment.call) is m.function(node)]
    around = set(m.loops(node))
    return all(m.end(call) <= m.start(node) and set(m.loops(call)) - around for call in mine)


def _plain_backwards(
    ctx: Context, unit: Unit, folded: list[Fold], around: Collection[Scope] = ()
) -> Iterator[ast.Call]:
    """Backwards without a scale that may run in the same process as scaled ones of the unit, or in functions
    ``around``."""
    m = ctx.m
    dropped = [s for f in folded for s in (f.stmt.orelse if f.arm == "body" else f.stmt.body)]
    places = _reached(ctx, {*(m.function(s.call) for s in unit.moments), *around})
    aliases = {s.alias for s in unit.scales}
    withs = {s.with_ for s in unit.scales if s.with_ is not None}
    sites = {s.call for s in unit.scales}
    scaled = {m.function(s.call).node for s in unit.scales}
    functions = _backward_functions(ctx)
    order = Order(ctx, unit)
    for node in m.in_order(call for scope in places for call in m.own(scope, ast.Call)):
        by_name = isinstance(node.func, ast.Name) and node.func.id in functions
        if not by_name and not (isinstance(node.func, ast.Attribute) and node.func.attr == "backward"):
            continue
        if node in sites or any(m.inside(node, s) for s in dropped):
            continue
        own = m.function(node).node
        if own not in scaled and any(scaled & set(ctx.v.callees(c)) for c in ctx.v.calls.get(own, ())):
            continue  # another class's, or another function's in its place
        if not withs.isdisjoint(m.ancestors(node)):
            continue
        if ctx.v.callees(node):
            continue  # a method of that name: the backward is in there
        names = aliases | _handed_out(ctx, unit, node)
        if any(isinstance(n, ast.Name) and n.id in names for n in walk(node)):
            continue
        if order.states(node) == {NOT_YET} or amp_off(ctx, unit, node) or _thrown_away(ctx, unit, node):
            continue
        yield node


def _handed_out(ctx: Context, unit: Unit, node: ast.AST) -> set[str]:
    """Names of a scaled loss around a backward that a context manager of the program yields: it goes by another name
    where Apex hands it out."""
    scaled = {site.with_: site.alias for site in unit.scales if site.with_ is not None}
    found: set[str] = set()
    for outer in ctx.m.ancestors(node):
        for item in outer.items if isinstance(outer, ast.With) else ():
            if isinstance(item.context_expr, ast.Call) and isinstance(item.optional_vars, ast.Name):
                functions = [f for f in ctx.v.callees(item.context_expr) if makes_context(f)]
                yields = [n for f in functions for n in walk(f) if isinstance(n, ast.Yield)]
                if any(_yields(ctx, one, with_, alias) for one in yields for with_, alias in scaled.items()):
                    found.add(item.optional_vars.id)
    return found


def _yields(ctx: Context, node: ast.Yield, with_: ast.With, alias: str | None) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == alias and ctx.m.inside(node, with_)


def review_trained_apart(ctx: Context, unit: Unit, planner: Planner) -> None:
    """What the file trains without amp ran under O1's casts all the same, once they were on."""
    m = ctx.m
    if not any(o.levels & {"O1", "?"} for o in unit.options.values()):
        return
    decorated = {one.backward for one in uncast_functions(ctx) if one.marked}
    for node in ctx.trained_apart:
        scope = m.function(node)
        sites = [m.function(call).node for call in m.calls(getattr(scope.node, "name", ""))]
        if scope.node in decorated or (sites and decorated.issuperset(sites)):
            continue  # it runs under autocast where its forward did
        if not any(m.in_one_run(node, init.call) for init in unit.initializes):
            continue  # a script of its own, which shares files with the one that initializes
        if any(m.function(r.block.body[r.first]) is scope for r in planner.regions) or planner.covered(scope):
            continue
        calls = ctx.v.calls[scope.node]
        if all(planner.early(c) or amp_off(ctx, unit, c) for c in calls) and calls:
            continue
        name = getattr(scope.node, "name", "this function")
        unit.review(
            node,
            "APX031",
            f"{name}() trains without amp; called once amp.initialize had been, it ran under Apex's casts, and now "
            "runs in float32 as it says",
        )


def _thrown_away(ctx: Context, unit: Unit, node: ast.Call) -> bool:
    """Whether a backward's gradients are zeroed in its own block, and no step of the unit stands there."""
    m = ctx.m
    here = m.function(node)
    if scales_in(ctx, unit, here) or steps_in(ctx, unit, here) or _takes_a_step(ctx, unit, here):
        return False
    block, index = m.place[m.statement(node)]
    return any(
        isinstance(n, ast.Attribute) and n.attr == "zero_grad" for s in block.body[index + 1 :] for n in walk(s)
    )


def _takes_a_step(ctx: Context, unit: Unit, scope: Scope) -> bool:
    """Whether a function steps the unit's optimizer, as far as its own text says so."""
    called = (call.func for call in ctx.m.own(scope, ast.Call))
    return any(
        isinstance(func, ast.Attribute) and func.attr == "step" and bool(ctx.v.of(func.value) & unit.optimizer_objects)
        for func in called
    )


def _reached(ctx: Context, scopes: set[Scope]) -> set[Scope]:
    """``scopes`` and the functions of the module that they call, directly or not."""
    found, todo, below = set(scopes), list(scopes), _called_scopes(ctx)
    while todo:
        for inner in below.get(todo.pop(), ()):
            if inner not in found:
                found.add(inner)
                todo.append(inner)
    return found


@once
def _called_scopes(ctx: Context) -> dict[Scope, list[Scope]]:
    """For each function, those that it calls."""
    found: dict[Scope, list[Scope]] = {}
    for scope, calls in ctx.calls_in.items():
        found[scope] = [ctx.m.scope_of[callee] for call in calls for callee in ctx.v.callees(call)]
    return found


def amp_off(ctx: Context, unit: Unit, node: ast.AST) -> bool:
    """Whether ``node`` lies in the arm of a guard whose other arm scales the loss, behind an arm under
    Apex's own guard that is left for good, or under the negated guard."""
    m = ctx.m
    below: ast.AST = node
    guards_: set[str] = set()
    for init in unit.initializes:
        for outer in m.ancestors(init.call):
            if isinstance(outer, ast.If):
                guards_.add(ast.dump(outer.test))
    for outer in m.ancestors(node):
        if isinstance(outer, ast.If):
            mine = outer.body if below in outer.body else outer.orelse
            other = outer.orelse if mine is outer.body else outer.body
            if not other and _leaves(mine):
                block, index = m.place[outer]
                other = block.body[index + 1 :]  # what runs where this arm was not taken
            if any(_scales(ctx, unit, x) for x in other):
                return True
            if mine is outer.orelse and ast.dump(outer.test) in guards_:
                return True
            test = outer.test
            if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and ast.dump(test.operand) in guards_:
                return mine is outer.body
        below = outer
    return any(
        _leaves(arm.body) and ast.dump(arm.test) in guards_ and any(_scales(ctx, unit, x) for x in arm.body)
        for stmt in m.spine(node)
        for arm in m.place[stmt][0].body[: m.place[stmt][1]]
        if isinstance(arm, ast.If)
    )


def _leaves(arm: list[ast.stmt]) -> bool:
    return isinstance(arm[-1], (ast.Return, ast.Continue, ast.Raise, ast.Break))


def _scales(ctx: Context, unit: Unit, stmt: ast.stmt) -> bool:
    """Whether a statement scales a loss of the unit, itself or in a function that it calls."""
    if any(ctx.m.inside(s.call, stmt) for s in unit.scales):
        return True
    called = {ctx.m.scope_of[c] for n in walk(stmt) if isinstance(n, ast.Call) for c in ctx.v.callees(n)}
    scopes = {ctx.m.function(s.call) for s in unit.scales}
    return bool(called) and not scopes.isdisjoint(_reached(ctx, called))
