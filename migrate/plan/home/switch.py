"""A scaler that is disabled until Apex would have been switched on, and made anew there.

Where the scaler is needed before ``initialize`` runs (a first epoch in float32, a method that is called before
``setup()``), or where one condition cannot say when mixed precision is on, the new code does what the old one did:
nothing at first, then, in the place of ``initialize``, a scaler.
"""

from __future__ import annotations

import ast

from ...facts.names import called_name
from ...facts.scopes import Scope
from ...facts.sites import Initialize, opened
from ...nodes import walk
from ...units.conditions import FALSE, conjunction
from ...units.order import Order
from ...units.unit import Context, Unit
from ..schedule import Scaler
from . import named_owners
from .guards import guards
from .places import Creation, Place
from .preparing import prepares


def late(ctx: Context, unit: Unit, order: Order, scaler: Scaler, place: Place, uses: list[ast.AST]) -> bool:
    """Whether a use may run while Apex was not switched on yet, or a round of a loop switches it on for the next."""
    if any(order.early(use) for use in uses) or any(_in_some_round(ctx, scaler, i) for i in unit.initializes):
        return True
    if place.owner is None:
        return False
    if any(_made_without(ctx, place.owner, i) or _returns_above(ctx, i) for i in unit.initializes):
        return True
    if all(init is not None and order.switches(init) for init in _constructors(ctx, place.owner)):
        return False
    if _set_there_alone(ctx, unit, scaler):
        return False
    if any(not order.switches(f.node) and _makes(ctx, place.owner, f) for f in map(ctx.m.function, uses)):
        return True
    # other files may call a method before the one that initializes
    return any(not ctx.v.calls[f.node] and not order.switches(f.node) for f in map(ctx.m.function, uses))


def _makes(ctx: Context, owner: ast.ClassDef, scope: Scope) -> bool:
    """Whether a function makes an object of a class for itself; where nothing in it initializes, none has a scaler."""
    for name in scope.names if scope.is_function else ():
        held = (o.key for o in ctx.v.variable(name, scope) if o.kind == "instance")
        mine = any(isinstance(cls, ast.ClassDef) and owner in hierarchy(ctx, cls) for cls in held)
        given = (ctx.m.parent[store] for store in ctx.m.stores(name, scope))
        if mine and any(isinstance(one, ast.Assign) and isinstance(one.value, ast.Call) for one in given):
            return True
    return False


def _constructors(ctx: Context, owner: ast.ClassDef) -> list[ast.FunctionDef | None]:
    """What makes objects with this attribute: the class's own constructor; where it has none (a mixin) that of each
    class below it, which may call the mixin's ``setup_amp()``."""
    if (init := constructor(owner)) is not None:
        return [init]
    below = [family for c in ctx.m.all(ast.ClassDef) if owner in (family := hierarchy(ctx, c)) and c is not owner]
    return [next(filter(None, map(constructor, family)), None) for family in below] or [None]


def _set_there_alone(ctx: Context, unit: Unit, scaler: Scaler) -> bool:
    """Whether the optimizer's attribute is set where ``initialize`` stands and nowhere else: whoever steps it before
    finds no optimizer, let alone a scaler."""
    m = ctx.m
    functions = {m.function(i.call) for i in unit.initializes}
    mine = [n for n in ctx.given(scaler.objects) if isinstance(n, ast.Attribute)]
    return bool(mine) and all(m.function(n) in functions for n in mine)


def _returns_above(ctx: Context, init: Initialize) -> bool:
    """``if self.ready: return`` above an ``initialize``: a method that is called again, or is asked too early; a
    constructor of objects that are not to train (``if not opt.isTrain: return``)."""
    for stmt in ctx.m.spine(init.call):
        block, index = ctx.m.place[stmt]
        if any(isinstance(s, ast.If) and isinstance(s.body[-1], ast.Return) for s in block.body[:index]):
            return True
    return False


def _made_without(ctx: Context, owner: ast.ClassDef, init: Initialize) -> bool:
    """Whether a subclass initializes, and instances are made of classes beside it that never do: here, in files that
    have nothing to do with amp, or by whoever takes a base that trains by itself (``Learner``, ``ApexLearner``)."""
    m = ctx.m
    own = m.class_of(m.function(init.call))
    if own is None or own is owner or owner not in hierarchy(ctx, own):
        return False
    if ctx.exported(owner) & {owner.name, "*"} or any(m.class_of(m.function(c)) is owner for c in ctx.trained_apart):
        return True
    classes = [c for c in ctx.made_classes if owner in hierarchy(ctx, c)]
    return any(own not in hierarchy(ctx, c) for c in classes)


def _in_some_round(ctx: Context, scaler: Scaler, init: Initialize) -> bool:
    """Whether an ``initialize`` runs in some rounds of a loop that all go on with the same optimizer."""
    m = ctx.m
    made = [o.key for o in scaler.objects if isinstance(o.key, ast.AST)]
    spine = m.spine(init.call)
    for loop in m.loops(init.call):
        guarded = any(isinstance(s, ast.If) for s in spine[: spine.index(loop)]) and not prepares(ctx, loop, init.call)
        if guarded and not any(m.inside(x, loop) for x in made):
            return True
    return False


def creations(
    ctx: Context, unit: Unit, scaler: Scaler, place: Place, uses: list[ast.AST]
) -> list[Creation] | None:
    """The disabled scaler and those that take its place; None where an ``initialize`` does not reach it."""
    training = [i for i in unit.initializes if i.optimizers]
    names = [_named(ctx, scaler, place, init) for init in training]
    if not training or any(name is None for name in names):
        return None
    first = _disabled(ctx, scaler, place, training, uses)
    if first is None:
        return None
    found = [first]
    for init, name in zip(training, names, strict=True):
        stmt = ctx.m.statement(init.call)
        enabled = conjunction([term for _, term in unit.options_of(init).enabled])
        if (top := _made_here_alone(ctx, place, init)) is not None:
            stmt, enabled = top, conjunction([term for _, term in guards(ctx, unit, init, top)])
        if enabled.value is not False and name is not None:
            found.append(Creation(scaler, stmt, name, enabled, before=isinstance(stmt, ast.Return), init=init))
    at_once = len(found) == 2 and first.before and found[1].anchor is first.anchor and not found[1].before
    return found[1:] if at_once else found


def _made_here_alone(ctx: Context, place: Place, init: Initialize) -> ast.stmt | None:
    """The statement of a constructor that initializes, where that does not run its base's, which has a scaler that is
    switched off: its objects have none but the one that is made here, in any case."""
    m = ctx.m
    scope = m.function(init.call)
    own = m.class_of(scope)
    if own is None or own is place.owner or getattr(scope.node, "name", "") != "__init__":
        return None
    if any(called_name(c) == "__init__" for c in m.own(scope, ast.Call)):
        return None
    return next((stmt for stmt in m.spine(init.call) if m.parent[stmt] is scope.node), None)


def training_calls(ctx: Context, unit: Unit, scope: Scope) -> list[ast.AST]:
    """What of a function scales a loss or takes a step: such calls, and those of functions that do."""
    m, v = ctx.m, ctx.v
    functions: set[ast.AST] = set()
    todo: list[ast.AST] = [x.call for x in unit.moments]
    found: list[ast.AST] = []
    while todo:
        call = todo.pop()
        function = m.function(call)
        if function is scope:
            found.append(call)
        elif function.node not in functions:
            functions.add(function.node)
            todo += v.calls.get(function.node, ())
    return found


def _named(ctx: Context, scaler: Scaler, place: Place, init: Initialize) -> str | None:
    """How the function of an ``initialize`` calls the scaler; None where it cannot."""
    m = ctx.m
    scope = m.function(init.call)
    if not isinstance(m.parent[init.call], (ast.stmt, ast.Tuple)):
        return None  # part of an expression that may leave it out
    if (by_name := named_owners.said(ctx, scaler, place, scope)) is not None:
        return f"{by_name}.{scaler.name}"
    if place.scope is not None:
        return scaler.name if scope is place.scope else None
    own = m.class_of(scope)
    if own is None or place.owner is None or place.owner not in hierarchy(ctx, own):
        return _beside_optimizer(ctx, scaler, place, init)
    return f"{m.self_name(scope)}.{scaler.name}" if m.self_name(scope) else None


def _beside_optimizer(ctx: Context, scaler: Scaler, place: Place, init: Initialize) -> str | None:
    """``optim.scaler`` where ``initialize`` is handed ``optim.optimizer``, an attribute of the place's own class."""
    optimizer = init.optimizers[0] if len(init.optimizers) == 1 else None
    if not isinstance(optimizer, ast.Attribute) or place.owner is None:
        return None
    held = ctx.v.of(optimizer.value)
    own = [o for o in held if o.kind == "instance" and isinstance(o.key, ast.ClassDef)]
    if not own or len(own) < len(held) or any(place.owner not in hierarchy(ctx, o.key) for o in own):  # type: ignore[arg-type]
        return None
    return f"{ctx.m.src(optimizer.value)}.{scaler.name}"


def hierarchy(ctx: Context, cls: ast.ClassDef) -> list[ast.ClassDef]:
    """A class and its bases in this file."""
    found, todo = [], [cls]
    while todo:
        at = todo.pop(0)
        if at not in found:
            found.append(at)
            held = [o for base in at.bases for o in ctx.v.in_order(ctx.v.of(base))]
            todo += [o.key for o in held if o.kind == "class" and isinstance(o.key, ast.ClassDef)]
    return found


def kin(ctx: Context, cls: ast.ClassDef) -> list[ast.ClassDef]:
    """A class with its bases, and what derives from it: whose methods an object may have that is one of the class."""
    derived = [one for one in ctx.m.all(ast.ClassDef) if cls in ctx.v.order(one)[1:]]
    return [*hierarchy(ctx, cls), *derived]


def slots(ctx: Context, cls: ast.ClassDef) -> ast.Tuple | ast.List | None:
    """The ``__slots__`` of a class whose instances have no other attributes."""
    found: list[ast.expr | None] = []
    for one in hierarchy(ctx, cls):
        here = [s.value for s in one.body if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == "__slots__"]
        found.append(here[0] if here else None)
    own = found[0]
    return own if isinstance(own, (ast.Tuple, ast.List)) and None not in found else None


def constructor(cls: ast.ClassDef) -> ast.FunctionDef | None:
    """The ``__init__`` that a class defines itself."""
    return next((s for s in cls.body if isinstance(s, ast.FunctionDef) and s.name == "__init__"), None)


def _disabled(
    ctx: Context, scaler: Scaler, place: Place, inits: list[Initialize], uses: list[ast.AST]
) -> Creation | None:
    """The disabled scaler, where it dominates all uses."""
    m = ctx.m
    if (declared := named_owners.declaration(ctx, scaler, place)) is not None:
        return Creation(scaler, declared, scaler.name, FALSE)
    if place.scope is not None:
        near = [i.call for i in inits] + [u for u in uses if _within(ctx, u, place.scope)]
        anchor = _first(ctx, place.scope, near, [o.key for o in scaler.objects if isinstance(o.key, ast.AST)])
        return Creation(scaler, anchor, scaler.name, FALSE, before=True)
    assert place.owner is not None
    init = constructor(place.owner)
    if init is None or (_begun_ahead(ctx, inits, place.owner, init) and slots(ctx, place.owner) is None):
        return Creation(scaler, _class_anchor(place.owner), scaler.name, FALSE, before=True)
    own = m.self_name(m.scope_of[init]) or "self"
    for stmt in init.body:
        stored = [n for n in walk(stmt) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]
        leaves = any(isinstance(n, ast.Return) and m.function(n).node is init for n in walk(stmt))
        if leaves or any(opened(ctx.v, ctx.v.of(n)) & scaler.objects for n in stored) or _runs_own(ctx, stmt):
            return Creation(scaler, stmt, f"{own}.{scaler.name}", FALSE, before=True)
    return Creation(scaler, init.body[-1], f"{own}.{scaler.name}", FALSE)


def _begun_ahead(ctx: Context, inits: list[Initialize], owner: ast.ClassDef, base: ast.FunctionDef) -> bool:
    """Whether a constructor of a class below initializes, itself or by what it calls, ahead of the base's constructor:
    what that sets would take the place of the scaler."""
    m = ctx.m
    below = [init for c in ctx.m.all(ast.ClassDef) if c is not owner and (init := constructor(c)) is not None]
    for init in below:
        scope = m.scope_of[init]
        run = {call: _run_by(ctx, call) for call in m.own(scope, ast.Call)}
        behind = [call for call, found in run.items() if base in found]
        functions = {m.function(i.call).node for i in inits}
        begun = [i.call for i in inits if m.function(i.call) is scope]
        begun += [call for call, found in run.items() if functions & found - {base}]
        if any(m.start(one) < m.start(call) for one in begun for call in behind if one is not call):
            return True
    return False


def _run_by(ctx: Context, call: ast.Call) -> set[ast.AST]:
    """The functions that a call runs, with those that they call."""
    found: set[ast.AST] = set()
    todo: list[ast.Call] = [call]
    while todo:
        new = [f for f in ctx.v.callees(todo.pop()) if f not in found]
        found.update(new)
        todo += [c for f in new if f in ctx.m.scope_of for c in ctx.m.own(ctx.m.scope_of[f], ast.Call)]
    return found


def _runs_own(ctx: Context, stmt: ast.stmt) -> bool:
    """Whether a statement calls functions of this file: they may need the scaler."""
    return any(isinstance(n, ast.Call) and ctx.v.callees(n) for n in walk(stmt))


def _class_anchor(cls: ast.ClassDef) -> ast.stmt:
    """The first statement of a class behind its docstring."""
    first = cls.body[0]
    docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return cls.body[1] if docstring and len(cls.body) > 1 else first


def _within(ctx: Context, node: ast.AST, scope: Scope) -> bool:
    at: Scope | None = ctx.m.function(node)
    while at is not None and at is not scope:
        at = at.parent
    return at is scope


def _first(ctx: Context, scope: Scope, nodes: list[ast.AST], made: list[ast.AST]) -> ast.stmt:
    """The first statement of the innermost block of ``scope`` that holds all of ``nodes``; outside of loops that go
    on with the same optimizer."""
    m = ctx.m
    spines = [_spine(ctx, node, scope) for node in nodes]
    blocks = [[m.block(s) for s in spine] for spine in spines]
    common = next(b for b in blocks[0] if all(any(x is b for x in others) for others in blocks))
    tops = [next(s for s in spine if m.block(s) is common) for spine in spines]
    anchor = min(tops, key=m.start)
    for loop in [s for s in m.spine(anchor) if isinstance(s, (ast.For, ast.AsyncFor, ast.While))]:
        if not any(m.inside(x, loop) for x in made):
            anchor = loop
    block, index = m.place[anchor]
    runs = (s for s in block.body[index:] if not isinstance(s, ast.FunctionDef) or s.decorator_list)
    return next(runs, anchor)  # a definition runs nothing of what is in it


def _spine(ctx: Context, node: ast.AST, scope: Scope) -> list[ast.stmt]:
    """Statements of ``scope`` around a node, innermost first, also where it lies in a function or class defined
    there."""
    m = ctx.m
    while m.function(node) is not scope:
        node = m.function(node).node
    found = m.spine(node)
    while isinstance(owner := m.block(found[-1]).owner, ast.ClassDef) and owner is not scope.node:
        found += m.spine(owner)
    return found
