"""Uses of amp that belong to no single call: its state, and amp handed around as an object."""

from __future__ import annotations

import ast
from collections import defaultdict

from migrate.facts.module import Module
from migrate.knowledge.apex import RESOLVED
from migrate.knowledge.host import CHECKPOINTS
from migrate.units.translate import receiver
from migrate.units.unit import Context, Manual, Unit


def assign_state(ctx: Context, units: list[Unit]) -> dict[int, list[tuple[ast.expr, str]]]:
    """Uses of the scaler's state, by the unit they belong to: the only one that trains, or the one next to them."""
    found: dict[int, list[tuple[ast.expr, str]]] = defaultdict(list)
    training = [u for u in units if u.scales] or units
    for use, dotted in ctx.facts.uses.items():
        kind = state_kind(dotted)
        if kind in ("state_dict", "load_state_dict") and through_parameter(ctx, use):
            kind = "taken"
        elif dotted in ("apex", "apex.amp") and not _is_test(ctx, use) and handed_for_state(ctx, use) is not None:
            kind = "handed"
        if kind == "state_dict" and scale_entry(ctx.m, use) is not None:
            kind = "entry"
        if kind is None or not training:
            continue
        unit = training[0]
        if len(training) > 1:
            near = [u for u in training if any(_same_function(ctx, use, s.call) for s in u.sites)]
            unit = near[0] if near else unit
        found[unit.number].append((use, kind))
    return found


def _same_function(ctx: Context, one: ast.AST, other: ast.AST) -> bool:
    return ctx.m.function(one) is ctx.m.function(other)


def state_kind(dotted: str) -> str | None:
    """ "state_dict", "load_state_dict", or "scale" for a read of the loss scale; None for anything else."""
    tail = dotted.removeprefix("apex.amp.").removeprefix("frontend.")
    if tail in ("state_dict", "load_state_dict"):
        return tail
    if tail.startswith(("_amp_state.loss_scalers", "_amp_state._amp_state.loss_scalers")):
        return "scale"
    return None


def unresolved(ctx: Context) -> Manual | None:
    """The first use of amp in this module that no rule resolves: then all its units stay."""
    m = ctx.m
    for use, dotted in ctx.facts.uses.items():
        if not (dotted == "apex" or dotted.startswith("apex.amp")):
            continue
        tail = dotted.split(".")[-1]
        above = m.parent[use]
        if dotted in ("apex", "apex.amp"):
            problem = _object(ctx, use, above)
            if problem is not None:
                return problem
            continue
        if state_kind(dotted) or tail in RESOLVED:
            called = isinstance(above, ast.Call) and above.func is use
            decorates = isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)) and use in above.decorator_list
            if state_kind(dotted) == "scale":
                if _reads_scale(ctx, use):
                    continue
                return Manual(use, f"{ctx.m.src(use)} is used for more than one loss scale", "scaler.get_scale()")
            if tail == "state_dict" and isinstance(above, ast.Call) and called:
                inside = _looks_inside(ctx, use, above)
                if inside is not None:
                    return Manual(
                        inside,
                        f"{ctx.m.src(inside)} reads Apex's own entries, which a GradScaler's state does not have",
                        "scaler.get_scale() for the loss scale",
                    )
            if called or decorates:
                continue
            return Manual(use, f"{ctx.m.src(use)} is handed on as an object here; who calls it is not known")
        if tail == "init" and isinstance(above, ast.Call):
            problem = _handle(ctx, above)
            if problem is not None:
                return problem
            continue
        if ctx.conditions.constant(use) is not None and _is_test(ctx, use):
            continue
        if isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id == "hasattr":
            continue
        return Manual(use, f"{dotted} has no counterpart in native AMP", _suggestion(tail))
    return None


def scale_entry(m: Module, use: ast.expr) -> ast.expr | None:
    """The whole of ``amp.state_dict()["loss_scaler0"]["loss_scale"]`` around its ``amp.state_dict``."""
    entry = m.parent[m.parent[use]]
    whole = m.parent.get(entry)
    if (
        isinstance(entry, ast.Subscript)
        and entry.value is m.parent[use]
        and isinstance(whole, ast.Subscript)
        and whole.value is entry
        and isinstance(whole.ctx, ast.Load)
        and isinstance(whole.slice, ast.Constant)
        and whole.slice.value == "loss_scale"
    ):
        return whole
    return None


def _looks_inside(ctx: Context, use: ast.expr, call: ast.Call) -> ast.expr | None:
    """Where the state's entries are read, by their keys or all of them, other than as `scale_entry`."""
    for node in ctx.m.nodes:
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            direct = node.value is call
            if direct and scale_entry(ctx.m, use) is not None:
                continue
            if direct or any(o.key is call for o in ctx.v.of(node.value)):
                return node
    return None


def _reads_scale(ctx: Context, use: ast.expr) -> bool:
    """``….loss_scalers[i].loss_scale()`` or ``….loss_scalers[i]._loss_scale``."""
    item = ctx.m.parent[use]
    if not isinstance(item, ast.Subscript) or item.value is not use:
        return False
    read = ctx.m.parent[item]
    return isinstance(read, ast.Attribute) and read.attr in ("loss_scale", "_loss_scale")


def _handle(ctx: Context, init: ast.Call) -> Manual | None:
    """The old API's handle: fine where it only wraps optimizers, or is never used again."""
    m, v = ctx.m, ctx.v
    for node in m.nodes:
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            if any(o.key is init for o in v.of(node)):
                above = m.parent[node]
                if isinstance(above, ast.Attribute) and above.attr == "wrap_optimizer":
                    continue
                return Manual(
                    above,
                    f"{m.src(above)} belongs to the old API of amp; its handle.scale_loss raises in Apex 25.05 itself",
                    _suggestion("init"),
                )
    return None


def _suggestion(tail: str) -> str | None:
    if tail in ("init", "AmpHandle"):
        return "the old API has no scaler: use torch.autocast and torch.amp.GradScaler around the training step"
    if tail in ("promote_function", "register_promote_function"):
        return "cast the arguments to the widest of their types by hand"
    return None


def _is_test(ctx: Context, expr: ast.expr) -> bool:
    above = ctx.m.parent[expr]
    if isinstance(above, (ast.If, ast.While, ast.IfExp, ast.Assert)):
        return above.test is expr
    return isinstance(above, (ast.BoolOp, ast.UnaryOp, ast.Compare))


def _object(ctx: Context, use: ast.expr, above: ast.AST) -> Manual | None:
    """amp used as an object: fine in a condition, or kept in a variable, all of whose uses are resolved.

    A variable that holds amp or nothing becomes a flag; a parameter that only serves amp's state takes the
    GradScaler."""
    if _is_test(ctx, use) or holds_flag(ctx, use):
        return None
    if isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id in ("hasattr", "bool"):
        return None
    if handed_for_state(ctx, use) is not None:
        return None
    return Manual(
        use,
        f"{ctx.m.src(use)} is handed on as an object here; what is done with it is not known",
        "hand on the GradScaler instead: it has state_dict() and load_state_dict() too",
    )


def holds_flag(ctx: Context, use: ast.expr) -> bool:
    """Whether amp is stored or returned here, so that what holds it can hold ``True`` instead."""
    above = ctx.m.parent[use]
    if isinstance(above, ast.IfExp) and above.test is not use:
        other = above.orelse if above.body is use else above.body
        if not isinstance(other, ast.Constant):
            return False
        above = ctx.m.parent[above]
    if isinstance(above, ast.Assign):
        return all(_only_apex_or_nothing(ctx, target) for target in above.targets)
    return isinstance(above, ast.Return)


def _only_apex_or_nothing(ctx: Context, target: ast.expr) -> bool:
    """Whether a variable that holds amp is never given anything else than amp or a constant."""
    for node in ctx.m.nodes:
        if not isinstance(node, (ast.Name, ast.Attribute)) or not isinstance(node.ctx, ast.Store):
            continue
        same = (
            isinstance(node, ast.Name) and isinstance(target, ast.Name) and node.id == target.id
        ) or (isinstance(node, ast.Attribute) and isinstance(target, ast.Attribute) and node.attr == target.attr)
        if not same:
            continue
        above = ctx.m.parent[node]
        value = above.value if isinstance(above, ast.Assign) else None
        arms = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
        for arm in arms:
            held = ctx.v.of(arm) if arm is not None else frozenset()
            known = isinstance(arm, ast.Constant) or (bool(held) and all(o.kind == "apex" for o in held))
            if not known:
                return isinstance(target, ast.Attribute) and not isinstance(node, ast.Attribute)
    return True


def handed_for_state(ctx: Context, use: ast.expr) -> ast.Call | None:
    """The call that hands amp to a function of this module which only asks for its state."""
    m = ctx.m
    at: ast.AST = use
    above = m.parent[at]
    if isinstance(above, ast.IfExp) and above.test is not use:
        at, above = above, m.parent[above]
    name: str | None = None
    if isinstance(above, ast.keyword):
        name, above = above.arg, m.parent[above]
    if not isinstance(above, ast.Call):
        return None
    callees = ctx.v.callees(above)
    if not callees:
        return above if saves(above) else None
    for callee in callees:
        scope = m.scope_of[callee]
        if not isinstance(callee, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return None
        positional = [p.arg for p in (*callee.args.posonlyargs, *callee.args.args)]
        if name is None and at in above.args:
            index = above.args.index(at) + receiver(ctx, above, scope)
            name = positional[index] if index < len(positional) else None
        if name is None or not _only_state(ctx, callee, name):
            return None
    return above


def saves(call: ast.Call) -> bool:
    """Whether a call of another file's function, by its name, saves or restores a state."""
    func = call.func
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    return CHECKPOINTS.fit(name)


def _only_state(ctx: Context, function: ast.AST, name: str) -> bool:
    """Whether a parameter is only asked for its state, or whether it is there."""
    m = ctx.m
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            above = m.parent[node]
            if isinstance(above, ast.Attribute) and above.attr in ("state_dict", "load_state_dict"):
                continue
            if not _is_test(ctx, node):
                return False
    return True


def through_parameter(ctx: Context, use: ast.expr) -> bool:
    """Whether a use reads a parameter, which the callers fill with the scaler."""
    root = use
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    scope = ctx.m.binding_scope(root.id, ctx.m.scope(root))
    return scope is not None and scope.is_function and root.id in scope.params
