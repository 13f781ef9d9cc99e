"""Backward, gradient readers and steps of a unit, in the order in which they run."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass

from ..facts.names import called_name
from ..facts.scopes import Scope
from ..facts.sites import Scale, opened
from ..flow.objects import ELEMENT_KEY, Obj
from ..flow.tensors import own_gradient
from ..knowledge import gradients
from ..knowledge.gradients import COLLECTS
from ..nodes import children, header, walk
from .compute import walk_now
from .degree import gives_norm
from .order import NOT_YET, Order
from .references import escape
from .translate import passed, receiver
from .unit import Context, Manual, Step, Unit, once_of_unit, scales_in, steps_in


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
        if not held & scaled or any(o.kind == "apex" for o in held) or _own(ctx, node):
            continue
        if not _without_closure(ctx, node):
            raise Manual(
                node,
                f"{m.src(node)}: a step with arguments (a closure runs the backward itself) has no scaled counterpart",
                "compute the loss outside of step(), then scaler.step(optimizer); or train this optimizer in bfloat16 "
                "without a scaler",
            )
        if _before_any_backward(ctx, unit, node) or order.states(node) == {NOT_YET}:
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
        if isinstance(call, ast.Call) and _taken_by_itself(ctx, node, scaled):
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


def _own(ctx: Context, step: ast.Call) -> bool:
    """Whether an optimizer's own ``step`` calls that of its base: whoever calls the former takes one step."""
    inside = getattr(ctx.m.function(step).node, "name", "") == "step"
    base = step.func.value if isinstance(step.func, ast.Attribute) else None
    return inside and isinstance(base, ast.Call) and called_name(base) == "super"


def _check_other_steps(ctx: Context, scaled: frozenset[Obj]) -> None:
    """Steps that go another way: through a wrapper of the optimizer, a method of its own, or its bound ``step``."""
    m, v = ctx.m, ctx.v
    for node in m.in_order(n for obj in scaled for n in ctx.steps_of.get(obj, ())):
        held = v.of(node.value)
        above = m.parent[node]
        called = isinstance(above, ast.Call) and above.func is node
        if held & scaled and not any(o.kind == "apex" for o in held):
            if node.attr != "step" and called and not _taken_by_itself(ctx, node, scaled):
                raise Manual(node, f"{m.src(node)}() would see gradients that are still scaled")
            if node.attr == "step" and not called and not isinstance(above, ast.Attribute):
                raise Manual(node, f"{m.src(node)} is handed on as a function; who steps when is not known")
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
    if _assigned_in(ctx, scope, arg.id):
        return False
    return all(_fills_none(ctx, call, scope, arg.id, trail | {scope}) for call in calls)


def _defaults_to_none(function: ast.FunctionDef, name: str) -> bool:
    args = function.args
    positional = [*args.posonlyargs, *args.args]
    defaults = list(zip(positional[len(positional) - len(args.defaults) :], args.defaults, strict=True))
    keyword = [(p, d) for p, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
    return any(p.arg == name and isinstance(d, ast.Constant) and d.value is None for p, d in (*defaults, *keyword))


def _assigned_in(ctx: Context, scope: Scope, name: str) -> bool:
    m = ctx.m
    return bool(m.bindings(name, scope))


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


# ---------------------------------------------------------------- order

MAX_DEPTH = 5  # calls in calls that are opened

@dataclass(frozen=True, eq=False)
class Event:
    """``what`` is "backward" or "step"; ``under`` are the conditions (ifs and loops) it runs under, ``path`` the calls
    that lead to it, each with the function that it runs there."""

    what: str
    objects: frozenset[Obj]
    node: ast.AST
    under: tuple[ast.stmt, ...]
    step: Step | None = None
    path: tuple[tuple[ast.Call, ast.AST], ...] = ()

KEY = "key"  # the kind of what stands for a string that a call hands over
Bound = dict[str, frozenset[Obj]]  # parameters of one call


@once_of_unit
def reaching(ctx: Context, unit: Unit) -> frozenset[ast.AST]:
    """The functions of the module that come to a backward or a step of a unit, in them or in what they call."""
    found: set[ast.AST] = set()
    todo: list[ast.AST] = [ctx.m.function(moment.call).node for moment in unit.moments]
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo += ctx.v.callers.get(node, ())
    return frozenset(found)


def reaching_scopes(ctx: Context, unit: Unit) -> list[Scope]:
    """Their scopes, in the order of the module."""
    found = reaching(ctx, unit)
    return [ctx.m.scope_of[node] for node in ctx.m.in_order(found)]


def events(ctx: Context, unit: Unit, scope: Scope, depth: int = 0) -> Iterator[Event]:
    """Backwards and steps of ``unit`` as a run of ``scope`` meets them, calls of this module opened."""
    yield from _walk(_run(ctx, unit), ctx.m.body_of(scope), depth, (), {}, ())


@dataclass(frozen=True, eq=False)
class _Run:
    """What `_walk` looks for, and the functions that it may find it in."""

    ctx: Context
    unit: Unit
    backwards: dict[ast.Call, Scale]
    steps: dict[ast.Call, Step]
    reaching: frozenset[ast.AST]


@once_of_unit
def _run(ctx: Context, unit: Unit) -> _Run:
    backwards = {s.call: s for s in unit.scales}
    steps = {s.call: s for s in unit.steps}
    return _Run(ctx, unit, backwards, steps, reaching(ctx, unit))


def _held(ctx: Context, expr: ast.expr | None, bound: Bound, otherwise: frozenset[Obj]) -> frozenset[Obj]:
    """What an optimizer of a callee is in one call of it; ``otherwise`` what it may be in any."""
    if isinstance(expr, ast.Name) and expr.id not in bound:
        match [ctx.m.parent[n] for n in ctx.m.bindings(expr.id, ctx.m.function(expr))]:
            case [ast.Assign(targets=[ast.Name()], value=value)]:
                expr = value
    match expr:
        case ast.Name(id=name) if name in bound:
            return bound[name] & otherwise or otherwise
        case ast.Subscript(value=table, slice=ast.Name(id=name)) if name in bound:
            return _entries(ctx, table, bound[name]) & otherwise or otherwise
        case _:
            return otherwise


def _entries(ctx: Context, table: ast.expr, keys: frozenset[Obj]) -> frozenset[Obj]:
    """What a dictionary has under some keys; nothing where another may be meant."""
    held = ctx.v.of(table)
    if not held or not keys or any(o.kind != "dict" or ctx.v.field(o, ELEMENT_KEY) for o in held):
        return frozenset()
    if any(key.kind != KEY for key in keys):
        return frozenset()
    return frozenset().union(*(ctx.v.field(o, key.label) for o in held for key in keys))


def _arguments(ctx: Context, call: ast.Call, callee: Scope, bound: Bound) -> Bound:
    """What one call hands to its callee's parameters."""
    found: Bound = {}
    for name in callee.params:
        arg = passed(ctx, call, callee, name)
        if isinstance(arg, ast.Constant) and isinstance(arg.value, str) and not ctx.m.bindings(name, callee):
            found[name] = frozenset({Obj(KEY, arg.value, arg.value)})
        elif arg is not None:
            held = bound.get(arg.id) if isinstance(arg, ast.Name) else None
            found[name] = held or opened(ctx.v, ctx.v.of(arg))
    return found


def _walk(
    run: _Run,
    body: list[ast.stmt],
    depth: int,
    under: tuple[ast.stmt, ...],
    bound: Bound,
    path: tuple[tuple[ast.Call, ast.AST], ...],
) -> Iterator[Event]:
    """``bound`` says what this call's parameters hold, where that is less than what any call's may."""
    ctx = run.ctx
    for stmt in body:
        if isinstance(stmt, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        suites = [getattr(stmt, name, []) for name in ("body", "orelse", "finalbody")]
        suites += [h.body for h in getattr(stmt, "handlers", [])]
        nested = {id(s) for suite in suites for s in suite}
        for node in _own_nodes(stmt, nested):
            if isinstance(node, ast.Call):
                if node in run.backwards:
                    scale = run.backwards[node]
                    held = _held(ctx, scale.optimizers, bound, scale.optimizer_objects)
                    yield Event("backward", held, node, under, path=path)
                elif node in run.steps:
                    step = run.steps[node]
                    yield Event("step", _held(ctx, step.optimizer, bound, step.objects), node, under, step, path)
                elif depth < MAX_DEPTH:
                    for callee in ctx.v.callees(node):
                        if callee in run.reaching:
                            scope = ctx.m.scope_of[callee]
                            handed = _arguments(ctx, node, scope, bound)
                            opened_ = (*path, (node, callee))
                            yield from _walk(run, ctx.m.body_of(scope), depth + 1, under, handed, opened_)
        inner = (*under, stmt) if isinstance(stmt, (ast.If, ast.For, ast.While, ast.AsyncFor)) else under
        for suite in suites:
            yield from _walk(run, suite, depth, inner, bound, path)


def _own_nodes(stmt: ast.stmt, nested: set[int]) -> Iterator[ast.AST]:
    """Expression nodes of a statement's own header, in source order."""
    todo: list[ast.AST] = [stmt]
    found: list[ast.AST] = []
    while todo:
        node = todo.pop()
        if id(node) in nested or isinstance(node, (ast.ExceptHandler, ast.Lambda)):
            continue
        found.append(node)
        todo.extend(children(node))
    calls = [n for n in found if isinstance(n, ast.expr)]
    return iter(sorted(calls, key=lambda n: (n.end_lineno or 0, n.end_col_offset or 0)))


# ---------------------------------------------------------------- gradient readers


def lifted_steps(
    ctx: Context, unit: Unit, scope: Scope, depth: int = 0, within: frozenset[ast.AST] | None = None
) -> list[Step]:
    """Calls in ``scope`` that take a step of the unit in another function of the module, one of ``within``."""
    m = ctx.m
    within = reaching(ctx, unit) if within is None else within
    found: list[Step] = []
    for stmt in m.body_of(scope):
        for node in walk_now(stmt):
            if not isinstance(node, ast.Call) or m.function(node) is not scope:
                continue
            for callee in (c for c in ctx.v.callees(node) if c in within):
                inner = m.scope_of[callee]
                steps = [*steps_in(ctx, unit, inner)]
                if depth < 2:
                    steps += lifted_steps(ctx, unit, inner, depth + 1, within)
                at = m.statement(node)
                for step in steps:
                    ifs = tuple(x for x in m.spine(step.anchor)[1:] if isinstance(x, (ast.If, ast.For, ast.While)))
                    text = _said_by_caller(ctx, node, inner, step.text)
                    over = _said_by_caller(ctx, node, inner, _over(ctx, step))
                    found.append(Step(node, step.optimizer, step.objects, at, at, text, (*ifs, *step.within), over))
    return found


def _over(ctx: Context, step: Step) -> str | None:
    """What the loop around a step goes over, where each round steps what the loop gives it."""
    loop = step.anchor
    if not isinstance(loop, ast.For):
        return step.over
    plain = isinstance(loop.target, ast.Name) and step.text == loop.target.id
    return ctx.m.src(loop.iter) if plain and isinstance(loop.iter, (ast.Name, ast.Attribute)) else None


def _said_by_caller(ctx: Context, call: ast.Call, callee: Scope, text: str | None) -> str | None:
    """An optimizer's text in a callee as the caller of ``call`` writes it."""
    if text is None:
        return None
    root, _, rest = text.partition(".")
    if root == ctx.m.self_name(callee):
        if not isinstance(call.func, ast.Attribute):
            return None
        owner: str | None = ctx.m.src(call.func.value)
        if called_name(call.func.value) == "super":  # which has no attributes of an object
            owner = ctx.m.self_name(ctx.m.function(call))
        elif not receiver(ctx, call, callee):  # `Base.step(self)`
            handed = passed(ctx, call, callee, root)
            owner = ctx.m.src(handed) if handed is not None else None
        return owner + (f".{rest}" if rest else "") if owner is not None else None
    if root in callee.params:
        arg = passed(ctx, call, callee, root)
        if arg is None:
            return None
        return ctx.m.src(arg) + (f".{rest}" if rest else "")
    known = ctx.m.binding_scope(root, ctx.m.scope(call))
    return text if known is ctx.m.binding_scope(root, callee) else None


def lifted_backwards(ctx: Context, unit: Unit, scope: Scope) -> list[Scale]:
    """Calls in ``scope`` that run a scaled backward of the unit in another function of the module."""
    m = ctx.m
    within = reaching(ctx, unit)
    found: list[Scale] = []
    if not any(callee in within for call in ctx.calls_in.get(scope, ()) for callee in ctx.v.callees(call)):
        return found
    for stmt in m.body_of(scope):
        for node in walk_now(stmt):
            if isinstance(node, ast.Call) and m.function(node) is scope:
                callees = [c for c in ctx.v.callees(node) if c in within]
                for event in (e for c in callees for e in events(ctx, unit, m.scope_of[c], 1)):
                    if event.what == "backward":
                        found.append(Scale(node, None, None, event.objects, None, None, None))
    return found


def is_clip(ctx: Context, stmt: ast.stmt) -> bool:
    """Whether a statement is one call that clips gradients."""
    if not isinstance(stmt, ast.Expr) or not isinstance(stmt.value, ast.Call):
        return False
    return gradients.CLIP.fit(ctx.m.src(stmt.value.func))


def unknown_readers(ctx: Context, unit: Unit, stmt: ast.stmt) -> list[ast.Call]:
    """Calls of code that is not here and is handed a model or optimizer of the unit, its parameters, or an object that
    holds one; of a compound statement those in its header. A function of this program that makes one counts, too."""
    return [
        node
        for part in header(stmt)
        for node in walk(part)
        if isinstance(node, ast.Call) and _unknown_reader(ctx, unit, node)
    ]


def _unknown_reader(ctx: Context, unit: Unit, call: ast.Call) -> bool:
    v = ctx.v
    if v.apex_names(call.func):
        return False
    watched = unit.optimizer_objects | unit.model_objects
    name = called_name(call)
    if callees := v.callees(call):
        if gradients.NO_READER.fit(name) or name[:1].isupper():
            return False
        inner = [n for f in callees for s in _body(f) for n in walk(s) if isinstance(n, ast.Call)]
        return any(_takes_parameters(ctx, n, watched) and not v.callees(n) for n in inner)
    if name == "apply" and isinstance(call.func, ast.Attribute) and opened(v, v.of(call.func.value)) & watched:
        known = all(v.callee(o) is not None for a in call.args for o in v.of(a))
        return not known or not any(v.of(a) for a in call.args)
    if gradients.NO_READER.fit(name) or hasattr(builtins, name) or name[:1].isupper():
        return False
    if _takes_parameters(ctx, call, watched):
        return True
    held = [v.of(a) for a in [*call.args, *(k.value for k in call.keywords)]]
    if isinstance(call.func, ast.Attribute):
        held.append(frozenset(o for o in v.of(call.func.value) if _made_of(ctx, o, watched)))
    return any(_has(ctx, h, watched) or any(_made_of(ctx, o, watched) for o in h) for h in held)


def _takes_parameters(ctx: Context, call: ast.Call, watched: frozenset[Obj]) -> bool:
    """Whether a call whose name does not say what it does is handed parameters of a model or optimizer."""
    v, name = ctx.v, called_name(call)
    said = gradients.NO_READER.fit(name) or gradients.ABOUT_GRADIENTS.fit(name)
    if said or hasattr(builtins, name) or name[:1].isupper():
        return False
    for arg in [*call.args, *(k.value for k in call.keywords)]:
        for node in [arg, *(o.key for o in opened(v, v.of(arg)) if o.kind == "call")]:
            match node:
                case ast.Call(func=ast.Attribute(value=owner, attr="parameters" | "named_parameters")):
                    pass
                case ast.Attribute(value=owner, attr="param_groups"):
                    pass
                case _:
                    continue
            if opened(v, v.of(owner)) & watched:
                return True
    return False


def _made_of(ctx: Context, obj: Obj, watched: frozenset[Obj]) -> bool:
    """Whether an object was made by a call of unknown code that was handed a model or optimizer."""
    if obj in watched or obj.kind != "call" or not isinstance(obj.key, ast.Call) or ctx.v.callees(obj.key):
        return False
    made, name = obj.key, called_name(obj.key)
    known = gradients.SCHEDULERS.fit(obj.label) or gradients.KEEPERS.fit(name) or not name[:1].isupper()
    if known or ctx.v.apex_names(made.func):
        return False
    return any(_has(ctx, ctx.v.of(a), watched) for a in [*made.args, *(k.value for k in made.keywords)])


def _has(ctx: Context, held: frozenset[Obj], watched: frozenset[Obj]) -> bool:
    """Whether a model or optimizer is among some objects, or kept by one of this program's: ``Handler(self)``."""
    v = ctx.v
    mine = [o for o in held if o.kind == "instance"]
    return bool(opened(v, held) & watched) or any(
        opened(v, v.field(o, name)) & watched for o in mine for name in v.attributes(o)
    )


def norms_read(ctx: Context, stmt: ast.stmt) -> list[ast.Call]:
    """The calls of a statement that give the norm of gradients, clipped by it or not, where it reads them in no
    other way; empty where it does."""
    if isinstance(stmt, (ast.For, ast.While, ast.With, ast.Try)):
        return []
    nodes = list(walk(stmt))
    if any(isinstance(n, ast.Attribute) and n.attr == "grad" for n in nodes):
        return []
    readers = [n for n in nodes if isinstance(n, ast.Call) and gradients.ABOUT_GRADIENTS.fit(called_name(n))]
    clips = [n for n in readers if called_name(n) in gradients.CLIPS_NORM and clip_bound(n) is not None]
    norms = [n for n in readers if gradients.GIVES_NORM.fit(called_name(n)) and len(n.args) == 1 and not n.keywords]
    known = [n for n in (*clips, *norms) if not ctx.v.callees(n)]
    known += [n for n in readers if (inner := ctx.v.callees(n)) and all(gives_norm(ctx, f) for f in inner)]
    return known if len(known) == len(readers) else []


def clip_bound(call: ast.Call) -> ast.expr | None:
    """The threshold of a clip."""
    named = next((k.value for k in call.keywords if k.arg in ("max_norm", "clip_value")), None)
    return named if named is not None or len(call.args) < 2 else call.args[1]


def reads_gradients(ctx: Context, unit: Unit, stmt: ast.AST, depth: int = 0) -> bool:
    """Whether a statement reads or changes gradients, or hands model or optimizer to someone who may."""
    m, v = ctx.m, ctx.v
    watched = unit.optimizer_objects | unit.model_objects
    for node in walk(stmt):
        if isinstance(node, ast.Attribute) and node.attr == "grad" and _looks(ctx, node):
            return True
        if depth < 3:
            unseen = [*ctx.unnamed.run_by(node), *ctx.unnamed.properties(node)]
            bodies = [s for function in unseen for s in _body(function)]
            if any(reads_gradients(ctx, unit, s, depth + 1) for s in bodies):
                return True
        if ctx.unnamed.spells(node):
            return True
        if isinstance(node, ast.Attribute) and gradients.MADE_OF_GRADIENTS.fit(node.attr):
            above = m.parent[node]
            if v.of(node.value) & watched and not (isinstance(above, ast.Call) and above.func is node):
                return True
        if not isinstance(node, ast.Call):
            continue
        name = called_name(node)
        if any(n.endswith(".master_params") for n in v.apex_names(node.func)) and not _kept(ctx, node):
            return True
        if gradients.CLIP.fit(name) and gradients.CLIPPED.fit(name + m.src(node)):
            return True
        if isinstance(node.func, ast.Attribute) and gradients.CLIP_METHODS.fit(name):
            if not _bounds_values(ctx, node, watched):
                return True
        callees = v.callees(node)
        for callee in [*callees, *_handed_functions(ctx, node)]:
            if any(ctx.m.inside(s.call, callee) for s in unit.steps):
                continue  # readers before that step are found there
            body: list[ast.AST] = [callee.body] if isinstance(callee, ast.Lambda) else [*_body(callee)]
            if depth < 3 and any(reads_gradients(ctx, unit, s, depth + 1) for s in body):
                return True
        if callees or gradients.NO_READER.fit(name) or depth:
            continue
        for arg in [*node.args, *(k.value for k in node.keywords)]:
            taken = opened(v, v.of(arg))
            if isinstance(arg, ast.Call) and isinstance(arg.func, ast.Attribute) and "parameters" in arg.func.attr:
                taken = v.of(arg.func.value)
            if taken & watched and gradients.ABOUT_GRADIENTS.fit(name):
                return True
    return False


def _handed_functions(ctx: Context, call: ast.Call) -> list[ast.AST]:
    """The functions of this program that a call is handed, to call them itself: ``map(norm, model.parameters())``."""
    handed = [*call.args, *(k.value for k in call.keywords)]
    held = {o for a in handed for o in ctx.v.of(a) if o.kind in ("function", "method", "partial")}
    return ctx.m.in_order({node for o in held for node in ctx.v.functions(o)})


def _bounds_values(ctx: Context, call: ast.Call, watched: frozenset[Obj]) -> bool:
    """Whether a method called ``clip`` puts bounds to data, as numpy's and torch's do: ``boxes.clip(0, 1)``."""
    if called_name(call) not in ("clip", "clip_") or not (call.args or call.keywords):
        return False
    assert isinstance(call.func, ast.Attribute)
    said = " ".join(ctx.m.src(x) for x in (call.func.value, *call.args))
    held = [ctx.v.of(x) for x in (call.func.value, *call.args)]
    return not gradients.OF_GRADIENTS.fit(said) and not any(opened(ctx.v, h) & watched for h in held)


def _kept(ctx: Context, call: ast.Call) -> bool:
    """Whether parameters are only collected here; who reads their gradients later is found there."""
    above = ctx.m.parent[call]
    while isinstance(above, (ast.IfExp, ast.keyword, ast.Call)):
        if isinstance(above, ast.Call) and called_name(above) not in COLLECTS:
            break
        above = ctx.m.parent[above]
    if isinstance(above, ast.Call):
        return bool(ctx.v.callees(above))  # what a function of the file does with them is looked at there
    return isinstance(above, (ast.Assign, ast.AnnAssign))


def _looks(ctx: Context, node: ast.Attribute) -> bool:
    """Whether a gradient's value matters: not where one only asks whether it is there or throws it away, nor that of
    a tensor that no optimizer holds, which Apex left scaled as well."""
    if isinstance(node.ctx, ast.Del) or _all_go(ctx, node):
        return False
    return not is_none_test(ctx, node) and not _is_torch_grad(node) and not own_gradient(ctx.m, ctx.v, node)


def is_none_test(ctx: Context, node: ast.Attribute) -> bool:
    """Whether one only asks whether a gradient is there: ``p.grad is None``."""
    above = ctx.m.parent[node]
    return isinstance(above, ast.Compare) and all(isinstance(o, (ast.Is, ast.IsNot)) for o in above.ops)


def _all_go(ctx: Context, node: ast.Attribute) -> bool:
    """Whether all gradients of a model are thrown away: ``for p in model.parameters(): p.grad = None``."""
    match ctx.m.parent[node]:
        case ast.Assign(value=ast.Constant(value=None)):
            loop = next(iter(ctx.m.loops(node)), None)
        case _:
            return False
    match loop:
        case ast.For(iter=ast.Call(func=ast.Attribute(value=model, attr="parameters"))):
            return bool(ctx.v.of(model) & ctx.initialized.keys())
        case _:
            return False


def only_clears(ctx: Context, stmt: ast.stmt) -> bool:
    """Whether a statement does no more to gradients than to throw some away."""
    grads = [n for n in walk(stmt) if isinstance(n, ast.Attribute) and n.attr == "grad" and _looks(ctx, n)]
    values = [getattr(ctx.m.parent[n], "value", None) for n in grads if isinstance(n.ctx, ast.Store)]
    return bool(grads) and len(values) == len(grads) and all(isinstance(v, ast.Constant) for v in values)


def _is_torch_grad(node: ast.Attribute) -> bool:
    """``autograd.grad``, not ``p.grad``."""
    return isinstance(node.value, (ast.Name, ast.Attribute)) and (
        getattr(node.value, "id", "") in ("autograd", "torch") or getattr(node.value, "attr", "") == "autograd"
    )


def _body(node: ast.AST) -> list[ast.stmt]:
    return node.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else []
