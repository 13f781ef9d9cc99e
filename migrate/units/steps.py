"""The steps of a unit: every `step()` of an optimizer whose loss is scaled."""

from __future__ import annotations

import ast

from ..facts.names import called_name
from ..facts.scopes import Scope
from ..facts.sites import opened
from ..flow.objects import Obj
from ..knowledge import gradients
from ..nodes import walk
from .order import NOT_YET, Order
from .references import escape
from .translate import passed
from .unit import Context, Manual, Step, Unit, scales_in
from .untrained import never_trained

_NAMES = frozenset("__name__ __qualname__".split())


def find_steps(ctx: Context, unit: Unit) -> list[Step]:
    """Every ``step()`` of an optimizer whose loss is scaled. Raises Manual where one cannot be carried over."""
    m, v = ctx.m, ctx.v
    scaled: frozenset[Obj] = frozenset().union(*(s.optimizer_objects for s in unit.scales))
    steps: list[Step] = []
    order = Order(ctx, unit)
    _check_other_steps(ctx, scaled)
    for node in ctx.touching(scaled):
        if not (isinstance(node.func, ast.Attribute) and node.func.attr == "step"):
            continue
        held = v.of(node.func.value)
        if not held & scaled or any(o.kind == "apex" for o in held) or _own(ctx, node, scaled):
            continue
        if not _without_closure(ctx, node):
            if _overridden(ctx, node):
                continue
            raise Manual(
                node,
                f"{m.src(node)}: a step with arguments (a closure runs the backward itself) has no scaled counterpart",
                "compute the loss outside of step(), then scaler.step(optimizer); or train this optimizer in bfloat16 "
                "without a scaler",
            )
        if _before_any_backward(ctx, unit, node) or order.states(node) == {NOT_YET}:
            continue
        if never_trained(ctx, order, node, held & scaled):
            continue
        stmt = m.statement(node)
        if not _stands_alone(ctx, node, stmt):
            raise Manual(node, f"the value of {m.src(node)} is used; scaler.step() gives the optimizer's, or None")
        foreign = {o for o in held - scaled if o.kind in ("call", "instance")}
        if foreign and any(_looks_scheduler(o) for o in foreign):
            raise Manual(node, f"{m.src(node)} steps an optimizer or something else; which one is not known here")
        anchor = _anchor(ctx, unit, node, stmt)
        steps.append(Step(node, node.func.value, held & scaled, stmt, anchor, m.src(node.func.value)))
    return [*steps, *_steps_of_its_own(ctx, scaled)]


def _steps_of_its_own(ctx: Context, scaled: frozenset[Obj]) -> list[Step]:
    """Calls of methods by which an optimizer of this program changes its parameters, and that are not ``step``."""
    found: list[Step] = []
    for node in ctx.m.in_order(n for obj in scaled for n in ctx.steps_of.get(obj, ())):
        call = ctx.m.parent[node]
        if isinstance(call, ast.Call) and _taken_by_itself(ctx, node, scaled) and not _of_itself(ctx, node, scaled):
            stmt, held = ctx.m.statement(call), ctx.v.of(node.value) & scaled
            found.append(Step(call, node.value, held, stmt, stmt, ctx.m.src(node.value), own=True))
    return found


def _taken_by_itself(ctx: Context, method: ast.Attribute, scaled: frozenset[Obj]) -> bool:
    """Whether a method is a function of this program in which no step of the same optimizer is taken, and its call
    a statement: what it does, it did under Apex whether gradients had overflowed or not."""
    call = ctx.m.parent[method]
    if method.attr == "step" or not isinstance(call, ast.Call) or call.func is not method:
        return False
    callees = ctx.v.callees(call)
    steps = [n for f in callees for n in walk(f) if isinstance(n, ast.Attribute) and n.attr == "step"]
    known = {ctx.v.callee(o) for o in ctx.v.of(method)} == set(callees)
    stmt = ctx.m.statement(call)
    alone = isinstance(stmt, ast.Expr) and stmt.value is call
    return bool(callees) and known and alone and not any(ctx.v.of(n.value) & scaled for n in steps)


def _of_itself(ctx: Context, method: ast.Attribute, scaled: frozenset[Obj]) -> bool:
    """Whether an optimizer's own ``step`` calls a method of the same object (``self.second_step()``): a part of that
    step, which Apex left out, and a scaler does, as a whole."""
    m, scope = ctx.m, ctx.m.function(method)
    inside = getattr(scope.node, "name", "") == "step"
    if not inside or not isinstance(method.value, ast.Name) or method.value.id != m.self_name(scope):
        return False
    return _is_method_of(ctx, scope, ctx.v.of(method.value) & scaled)


def _own(ctx: Context, step: ast.Call, scaled: frozenset[Obj]) -> bool:
    """Whether an optimizer's own ``step`` calls that of its base, or of the optimizer that it wraps
    (``self.optimizer.step()`` of a LARS): whoever calls the former takes one step."""
    m, scope = ctx.m, ctx.m.function(step)
    if getattr(scope.node, "name", "") != "step" or not isinstance(step.func, ast.Attribute):
        return False
    match step.func.value:
        case ast.Call() as base:
            return called_name(base) == "super"
        case ast.Attribute(value=ast.Name(id=name)) if name == m.self_name(scope):
            return _is_method_of(ctx, scope, scaled)
        case _:
            return False


def _is_method_of(ctx: Context, scope: Scope, objects: frozenset[Obj]) -> bool:
    """Whether a function is a method of one of several objects."""
    classes = (o.key for o in objects if o.kind == "instance" and isinstance(o.key, ast.ClassDef))
    return any(ctx.m.class_of(scope) in ctx.v.order(cls) for cls in classes)


def _check_other_steps(ctx: Context, scaled: frozenset[Obj]) -> None:
    """Steps that go another way: through a wrapper of the optimizer, a method of its own, or its bound ``step``."""
    m, v = ctx.m, ctx.v
    for node in m.in_order(n for obj in scaled for n in ctx.steps_of.get(obj, ())):
        held = v.of(node.value)
        above = m.parent[node]
        called = isinstance(above, ast.Call) and above.func is node
        if held & scaled and not any(o.kind == "apex" for o in held):
            if _of_itself(ctx, node, scaled):
                continue
            if node.attr != "step" and called and not _taken_by_itself(ctx, node, scaled):
                raise Manual(node, f"{m.src(node)}() would see gradients that are still scaled")
            if node.attr == "step" and not called and not isinstance(above, ast.Attribute):
                raise Manual(node, f"{m.src(node)} is handed on as a function; who steps when is not known")
            if node.attr == "step" and isinstance(above, ast.Attribute) and above.attr in _NAMES:
                raise Manual(
                    above,
                    "a step that Apex leaves out is known here by its name (skip_step, which Apex puts in its place); "
                    "a GradScaler says so behind update() only",
                    "compare scaler.get_scale() before and behind update(): it is smaller where the step was left out",
                )
        elif called and node.attr == "step" and not held & scaled:
            for obj in held:
                if obj.kind != "call" or not isinstance(obj.key, ast.Call) or _looks_scheduler(obj):
                    continue
                takes = obj.key.args and opened(v, v.of(obj.key.args[0])) & scaled
                if takes and gradients.OPTIMIZER_WRAPPERS.fit(obj.label):
                    raise Manual(
                        node,
                        f"{m.src(node.value)} wraps the optimizer and steps it; its gradients would still be scaled",
                    )


def _before_any_backward(ctx: Context, unit: Unit, step: ast.Call) -> bool:
    """Whether a step runs before the first scaled backward of its function: it has no scaled gradients to take."""
    m = ctx.m
    sites = scales_in(ctx, unit, m.function(step))
    if not sites or any(m.start(s.call) < m.start(step) for s in sites):
        return False
    loops = set(m.loops(step))
    return not any(loops & set(m.loops(s.call)) for s in sites)


def _without_closure(ctx: Context, call: ast.Call) -> bool:
    """Whether a step runs no closure: it is handed nothing, or what is None in every call."""
    given = [*call.args, *(k.value for k in call.keywords)]
    if any(k.arg is None for k in call.keywords) or any(isinstance(a, ast.Starred) for a in call.args):
        return False
    return all(always_none(ctx, arg) for arg in given)


def _overridden(ctx: Context, call: ast.Call) -> bool:
    """Whether a call stands in a method of a base that nobody runs: each class of its objects has one of its own by
    that name, and no ``super()`` asks for this one."""
    m, scope = ctx.m, ctx.m.function(call)
    owner, own = m.class_of(scope), m.self_name(scope)
    if owner is None or own is None or ctx.v.calls[scope.node] or escape(ctx, scope.node) is not None:
        return False
    name = getattr(scope.node, "name", "")
    called = {o.key for one in m.all(ast.Call) for o in ctx.v.of(one.func) if o.kind == "class"}
    made = [o.key for o in ctx.v.variable(own, scope) if o.key in called and isinstance(o.key, ast.ClassDef)]
    found = (next((f for c in ctx.v.order(cls) if (f := m.method(c, name)) is not None), None) for cls in made)
    return bool(made) and all(method is not scope.node for method in found)


def always_none(ctx: Context, arg: ast.expr, trail: frozenset[Scope] = frozenset()) -> bool:
    """Whether an argument is None: written so, or a parameter with that default that no call fills otherwise."""
    m = ctx.m
    if isinstance(arg, ast.Constant):
        return arg.value is None
    scope = m.binding_scope(arg.id, m.scope(arg)) if isinstance(arg, ast.Name) else None
    if not isinstance(arg, ast.Name) or scope is None or scope in trail:
        return False
    function = scope.node
    if not isinstance(function, ast.FunctionDef) or not _defaults_to_none(function, arg.id):
        return False
    owner = m.class_of(scope)
    names = {"*", function.name, *([owner.name] if owner is not None else [])}
    calls = ctx.v.calls[function]
    if names & ctx.exported(function) or not calls or escape(ctx, function) is not None:
        return False
    if m.bindings(arg.id, scope):
        return False
    return all(_fills_none(ctx, call, scope, arg.id, trail | {scope}) for call in calls)


def _defaults_to_none(function: ast.FunctionDef, name: str) -> bool:
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    defaults = list(zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True))
    keyword = [(p, d) for p, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
    return any(p.arg == name and isinstance(d, ast.Constant) and d.value is None for p, d in (*defaults, *keyword))


def _fills_none(ctx: Context, call: ast.Call, callee: Scope, name: str, trail: frozenset[Scope]) -> bool:
    """Whether a call leaves a parameter to its default, or hands it None."""
    splat = any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
    given = passed(ctx, call, callee, name)
    return not splat and (given is None or always_none(ctx, given, trail))


def _stands_alone(ctx: Context, call: ast.Call, stmt: ast.stmt) -> bool:
    """Whether a step is a statement, or gives what is assigned or returned: the value of ``scaler.step()`` is the
    same, as Apex's steps give what the optimizer gives too, and nothing where they are left out."""
    if isinstance(stmt, ast.Expr) and isinstance(stmt.value, ast.Tuple):  # `a.step(), b.step()`
        return call in stmt.value.elts
    if isinstance(stmt, (ast.Expr, ast.Return)):
        return stmt.value is call
    if not isinstance(stmt, (ast.Assign, ast.AnnAssign)):
        return False
    value = stmt.value
    arms = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
    return any(arm is call for arm in arms)


def _looks_scheduler(obj: Obj) -> bool:
    return gradients.SCHEDULERS.fit(obj.label)


def _anchor(ctx: Context, unit: Unit, call: ast.Call, stmt: ast.stmt) -> ast.stmt:
    """The loop over the optimizers around a step, else the step; also where each round has the backward of the one
    that it steps: Apex moved the loss scale at each of them."""
    assert isinstance(call.func, ast.Attribute)
    names = {n.id for n in walk(call.func.value) if isinstance(n, ast.Name)}
    for outer in ctx.m.spine(stmt)[1:]:
        if isinstance(outer, ast.For):
            targets = {n.id for n in walk(outer.target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            return outer if targets & names and not _backward_in_round(ctx, unit, call, outer) else stmt
    return stmt


def _backward_in_round(ctx: Context, unit: Unit, step: ast.Call, loop: ast.For) -> bool:
    """Whether the rounds of a loop scale a loss for the very optimizer that they step, each ahead of its step."""
    assert isinstance(step.func, ast.Attribute)
    m, text, loops = ctx.m, ctx.m.src(step.func.value), ctx.m.loops(step)
    return any(
        m.loops(site.call) == loops
        and m.inside(site.call, loop)
        and m.start(site.call) < m.start(step)
        and site.optimizers is not None
        and m.src(site.optimizers) == text
        for site in unit.scales
    )
