"""Apex behind a switch that a library's class keeps: ``elif self.use_apex:`` in a class derived from its trainer.

Whether the switch is on is decided where the library reads its options. The library trains with native AMP as well,
and an arm beside Apex's says what this class does then. So Apex's arms go. Where they scaled or initialized, a run that
still chooses Apex stops with a word: what stands beside is for other runs, and would train without a scale. A class
may leave the backward to the library, which scales natively as well: then what steps with its scaler stands beside.
Where a class only clips, the library initializes and scales, and goes on doing so (`clipped`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from ...facts.names import called_name, last_name
from ...facts.once import once
from ...nodes import arms, walk
from ...units.unit import Context, Unit, sites_of
from .arms import scaling_call

_SAYS = "apex"  # what a switch of Apex's has in its name
_HANDED = frozenset("accelerator fabric".split())  # objects of a library that scale what they run backward


@dataclass(frozen=True, eq=False)
class Foreign:
    """``stops`` are Apex's arms that scale or initialize, with the switch that each hangs on; ``dead`` those that run
    behind them, and ``picked`` what one of two values is chosen by."""

    stops: dict[ast.If, str]
    dead: tuple[ast.If, ...]
    picked: tuple[ast.IfExp, ...]


def split(ctx: Context, units: list[Unit]) -> list[Unit] | None:
    """One unit of all sites, where a library's switch decides about each; None where it does not."""
    if not units or ctx.settings.dtype != "float16" or foreign(ctx) is None:
        return None
    return [Unit(1, *sites_of(units), foreign=True)]


def own_split(ctx: Context, units: list[Unit]) -> list[Unit] | None:
    """One unit of all sites, where a switch of the program's own decides about each, beside one for a native side."""
    if not units or ctx.settings.dtype != "float16" or foreign(ctx) is not None or chosen(ctx) is None:
        return None
    return [Unit(1, *sites_of(units), foreign=True)]


@once
def chosen(ctx: Context) -> Foreign | None:
    """What a switch decides about: a library's, or one of the program's own beside one that chooses a whole native
    side."""
    return foreign(ctx) or (_behind(ctx, _is_own) if _native_side(ctx) else None)


@once
def foreign(ctx: Context) -> Foreign | None:
    """What a library's switch decides about, where that is all that uses amp."""
    return _behind(ctx, _is_librarys)


_IsSwitch = Callable[[Context, ast.expr], bool]


def _native_side(ctx: Context) -> bool:
    """Whether a native side that somebody may choose steps, updates and, where somebody clips, unscales, with an
    autocast of its own; or an object of a library does all that."""
    if any(_by_library(node) is not None for node in ctx.m.all(ast.Call)):
        return True
    clips = any(called_name(call).startswith("clip_grad") for call in ctx.m.all(ast.Call))
    wanted = ("step", "update", *(("unscale_",) if clips else ()))
    scalers = all(any(_is_scalers(call, method) for call in ctx.m.calls(method)) for method in wanted)
    return scalers and bool(ctx.m.calls("autocast"))


def _is_own(ctx: Context, node: ast.expr) -> bool:
    """Whether a condition names Apex: ``self.use_apex``, ``backend == "apex"``."""
    match node:
        case ast.Attribute() | ast.Name():
            return _SAYS in last_name(node).lower()
        case ast.Compare(ops=[ast.Eq() | ast.Is()], comparators=[value]):
            return _SAYS in ctx.m.src(value).lower()
        case _:
            return False


def _behind(ctx: Context, is_switch: _IsSwitch) -> Foreign | None:
    """What switches of one kind decide about, where that is all that uses amp."""
    stops: dict[ast.If, str] = {}
    others: list[ast.If] = []
    picked: list[ast.IfExp] = []
    sites = {init.call for init in ctx.facts.initializes} | {scale.call for scale in ctx.facts.scales}
    for use, dotted in ctx.facts.uses.items():
        if not dotted.startswith("apex.amp.") or ctx.m.statement(use) in ctx.facts.imports:
            continue
        found = _arm(ctx, use, is_switch)
        if found is None:
            return None
        owner, switch = found
        if isinstance(owner, ast.IfExp):
            picked.append(owner)
        elif ctx.m.parent[use] in sites:
            stops[owner] = switch
        else:
            others.append(owner)
    if not all(any(_stops_there(ctx, stop, node) for stop in stops) for node in (*others, *picked)):
        return None  # what only clips here may be scaled by the library
    scaled = [stop for stop in stops if any(_within(ctx, s.call, stop.body) for s in ctx.facts.scales)]
    if not (all(_has_native(ctx, stop, is_switch) for stop in scaled) if scaled else _leave_the_backward(ctx, stops)):
        return None
    return Foreign(stops, tuple(node for node in others if node not in stops), tuple(picked))


@once
def clipped(ctx: Context) -> tuple[ast.Call, ...]:
    """The calls of ``amp.master_params`` behind a library's switch, where a program asks nothing else of amp."""
    uses = [use for use, dotted in ctx.facts.uses.items() if dotted.startswith("apex.amp.")]
    uses = [use for use in uses if ctx.m.statement(use) not in ctx.facts.imports]
    calls = [ctx.m.parent[use] for use in uses]
    if not all(call in ctx.master_params for call in calls) or any(_arm(ctx, u, _is_librarys) is None for u in uses):
        return ()
    return tuple(call for call in calls if isinstance(call, ast.Call) and len(call.args) == 1)


def _leave_the_backward(ctx: Context, stops: Iterable[ast.If]) -> bool:
    """Whether all that initializes stands in classes that step by the library's scaler and leave the backward to it."""
    native = [call for call in ctx.m.calls("step") if _is_scalers(call, "step")]
    return not ctx.facts.scales and all(any(_stops_there(ctx, stop, call) for call in native) for stop in stops)


def _is_scalers(call: ast.Call, method: str) -> bool:
    """``self.scaler.step(self.optimizer)``, ``self.scaler.update()``"""
    match call:
        case ast.Call(func=ast.Attribute(value=owner), args=args) if len(args) == (method != "update"):
            return "scaler" in last_name(owner).lower()
        case _:
            return False


def _stops_there(ctx: Context, stop: ast.If, node: ast.AST) -> bool:
    """Whether an object that comes to a node has the method that stops as well: one class derives from the other."""
    one, other = (ctx.m.class_of(ctx.m.function(x)) for x in (stop, node))
    if one is None or other is None:
        return ctx.m.function(stop) is ctx.m.function(node)
    return one in ctx.v.order(other) or other in ctx.v.order(one)


def _within(ctx: Context, node: ast.AST, body: list[ast.stmt]) -> bool:
    return any(ctx.m.inside(node, stmt) for stmt in body)


def _arm(ctx: Context, use: ast.expr, is_switch: _IsSwitch) -> tuple[ast.If | ast.IfExp, str] | None:
    """The innermost condition on a library's switch that a node stands under, with the switch."""
    below: ast.AST = use
    for outer in ctx.m.ancestors(use):
        if isinstance(outer, (ast.If, ast.IfExp)) and (below is outer.body or below in _statements(outer)):
            for part in required(outer.test):
                if is_switch(ctx, part):
                    return outer, ctx.m.src(part)
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return None
        below = outer
    return None


def _statements(node: ast.If | ast.IfExp) -> list[ast.stmt]:
    return node.body if isinstance(node, ast.If) else []


def required(test: ast.expr) -> Iterator[ast.expr]:
    """What has to be true for a condition to be."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for value in test.values:
            yield from required(value)
    else:
        yield test


def _is_librarys(ctx: Context, node: ast.expr) -> bool:
    """Whether an expression is a switch that nothing in the tree sets: an attribute of an object whose class derives
    from one that is not here, or a name that is imported from elsewhere."""
    name, m = last_name(node), ctx.m
    if _SAYS not in name.lower() or name in ctx.switched:
        return False
    match node:
        case ast.Attribute(value=ast.Name(id=owner)):
            scope = m.function(node)
            cls = m.class_of(scope)
            return cls is not None and owner == m.self_name(scope) and _is_inherited(ctx, cls, name)
        case ast.Name():
            home = m.binding_scope(name, m.function(node))
            return home is m.file(node).scope and not m.bindings(name, home) and _is_taken(ctx, node, name)
        case _:
            return False


def _is_taken(ctx: Context, node: ast.Name, name: str) -> bool:
    """Whether a name of a file is an import of something that is not here."""
    here = ctx.m.file(node)
    stmts = [s for s in ctx.m.all(ast.ImportFrom) if ctx.m.file(s) is here and any(name == _bound(a) for a in s.names)]
    return bool(stmts) and not any(stmt in ctx.facts.imports for stmt in stmts)


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name


def derives_from_elsewhere(ctx: Context, cls: ast.ClassDef) -> bool:
    """Whether a class has a base that is not in the program."""
    bases = [base for one in ctx.v.order(cls) for base in one.bases]
    here = (any(held.kind == "class" for held in ctx.v.of(base)) or last_name(base) == "object" for base in bases)
    return not all(here)


def _is_inherited(ctx: Context, cls: ast.ClassDef, name: str) -> bool:
    """Whether an attribute comes from a base that is not in the program: nothing here gives it a value."""
    if not derives_from_elsewhere(ctx, cls):
        return False
    order = ctx.v.order(cls)
    stores = [n for n in ctx.m.attributes(name) if isinstance(n.ctx, (ast.Store, ast.Del))]
    said = {n.id for one in order for s in one.body for n in walk(s) if isinstance(n, ast.Name)}
    methods = {s.name for one in order for s in one.body if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef))}
    spelled = any(n.value == name for n in ctx.m.all(ast.Constant))
    return not stores and not spelled and name not in said | methods


def _has_native(ctx: Context, stop: ast.If, is_switch: _IsSwitch) -> bool:
    """Whether an arm beside Apex's runs the same loss backward by a scaler, or by what scales for it. Where the program
    chooses, either is chosen by itself: that arm has a condition of its own, or Apex is asked for by its name."""
    losses = [ast.dump(s.loss) for s in ctx.facts.scales if s.loss is not None and _within(ctx, s.call, stop.body)]
    own = {node for stmt in stop.body for node in walk(stmt)}
    head = ctx.m.chain_head(stop)
    beside = [node for node in walk(head) if node not in own]
    asked = [part for part in required(stop.test) if is_switch(ctx, part)]
    if is_switch is _is_own and not all(_asked_by_name(ctx, part) for part in asked):
        asked_for = (stmt for test, body in arms(head) if test is not None for stmt in body)
        beside = [node for stmt in asked_for for node in walk(stmt) if node not in own]
    found = {loss for node in beside if (loss := scaled_loss(node)) is not None}
    return bool(losses) and found >= set(losses)


def _asked_by_name(ctx: Context, switch: ast.expr) -> bool:
    """Whether a run is told to have Apex in so many words: ``backend == "apex"``, or a flag that is set below that."""
    if isinstance(switch, ast.Compare):
        return True
    if not isinstance(switch, ast.Attribute):
        return False
    on = []
    for node in ctx.m.attributes(switch.attr):
        if isinstance(node.ctx, ast.Store):
            stmt = ctx.m.statement(node)
            if not isinstance(stmt, ast.Assign) or not isinstance(stmt.value, ast.Constant):
                return False
            if stmt.value.value:
                on.append(stmt)
    return bool(on) and all(_below_its_name(ctx, stmt) for stmt in on)


def _below_its_name(ctx: Context, stmt: ast.stmt) -> bool:
    below: ast.AST = stmt
    for outer in ctx.m.ancestors(stmt):
        if isinstance(outer, ast.If) and below in outer.body:
            if any(isinstance(part, ast.Compare) and _is_own(ctx, part) for part in required(outer.test)):
                return True
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return False
        below = outer
    return False


def scaled_loss(node: ast.AST) -> str | None:
    """The loss that a call runs backward scaled natively."""
    if scaling_call(node) is not None:
        assert isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        inner = node.func.value
        assert isinstance(inner, ast.Call)
        return ast.dump(inner.args[0]) if inner.args else None
    match node:
        case ast.Call():
            return _by_library(node)
        case _:
            return None


def _by_library(call: ast.Call) -> str | None:
    """The loss that an object of a library scales and runs backward: ``self.accelerator.backward(loss)``."""
    match call:
        case ast.Call(func=ast.Attribute(attr="backward", value=owner), args=[loss]) if called_name(owner) in _HANDED:
            return ast.dump(loss)
        case _:
            return None
