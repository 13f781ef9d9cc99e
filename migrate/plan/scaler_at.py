"""The scaler of each site, step, unscale and use of the state, as it is reached there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from ..facts.sites import Scale
from ..units.order import Order
from ..units.unit import Context, Manual, Unit
from .carried import OLD_STATE, handed_for_state
from .enabled import switches
from .home.homes import Finder
from .home.own_scales import review_own_scales
from .inserted import free_name
from .plan import Plan
from .schedule import Scaler

_SAVED_ENTRY = (
    "an entry of a saved state is read: the scaler's own is read now, which counts steps where Apex counted backwards; "
    "states that the legacy code saved have it under its old name, and a scaler that is switched off saves none"
)


def settle_scalers(ctx: Context, unit: Unit, plan: Plan) -> None:
    """Where each scaler is made and how every use of it comes to it; what the regions are switched on by."""
    taken, scalers = set(ctx.scalers), plan.schedule.scalers
    for scaler in scalers:
        scaler.name = free_name(ctx.m, scaler.name, taken)
        taken.add(scaler.name)
    finder = Finder(ctx, unit, scalers, plan.planner.order)
    if plan.scaled:
        for scale in unit.scales:
            scaler = _scaler_for(scalers, scale)
            plan.scaler_at[scale.call] = finder.reach(scaler, scale.call, scale.optimizers)
        for step in unit.steps:
            scaler = next(s for s in scalers if s.objects & step.objects)
            plan.scaler_at[step.call] = finder.reach(scaler, step.call, step.optimizer)
        for step in plan.schedule.updates:
            last = plan.schedule.updated_behind(step)
            if ctx.m.function(last) is not ctx.m.function(step.call):
                scaler = next(s for s in scalers if s.objects & step.objects)
                plan.scaler_at[last] = finder.reach(scaler, last, None)
        for grad, step in plan.schedule.divided.items():
            scaler = next(s for s in scalers if s.objects & step.objects)
            plan.scaler_at[grad] = finder.reach(scaler, grad, None)
        for unscale in plan.schedule.unscales:
            scaler = next(s for s in scalers if s.objects & unscale.objects)
            same = next((x.optimizer for x in unit.steps if x.text == unscale.optimizer), None)
            here = same if same is not None and ctx.m.function(same) is ctx.m.function(unscale.before) else None
            if here is not None or same is None:
                source = here
            else:
                source = same if _same_text_holds(ctx, same, unscale.before) else None
            plan.scaler_at[unscale.before] = finder.reach(scaler, unscale.before, source)
        for mark, scaler in _marks(ctx, scalers, plan.planner.order):
            plan.marks.append(mark)
            plan.scaler_at[mark] = finder.reach(scaler, mark, mark.args[0])
        for use, kind in plan.state:
            if kind in ("taken", "alias", "set alias", "other"):
                continue
            if kind == "asked":
                if isinstance(use, ast.Attribute) and use.attr == "load_state_dict":
                    unit.review(use, "APX070", OLD_STATE)
                continue
            if kind == "saved":
                _saved_entry(unit, scalers, use)
                continue
            if kind in ("scalers", "entries"):
                names = [finder.reach(scaler, use, None) for scaler in scalers]
                plan.scaler_at[use] = f"[{', '.join(names)}]"
                continue
            if len(scalers) > 1:
                raise Manual(use, "this unit has several scalers; which one's state is meant is not known")
            plan.scaler_at[use] = finder.reach(scalers[0], use, None)
            finder.always_handed(scalers[0], use)  # by a call without an optimizer, too: `load(model, None, path)`
            if kind == "load_state_dict" and not unit.off:
                unit.review(use, "APX070", OLD_STATE)
            if kind == "handed" and not _callee_here(ctx, use):
                unit.review(
                    use,
                    "APX070",
                    "a function of another file was handed apex.amp and now gets the GradScaler: it may only use its "
                    "state_dict() and load_state_dict(), and state that the legacy code saved does not load "
                    "(KeyError: 'scale')",
                )
    switches(ctx, unit, plan, finder)
    plan.homes = finder.finish()
    review_own_scales(ctx, unit, plan.homes)


def _marks(ctx: Context, scalers: Sequence[Scaler], order: Order) -> Iterator[tuple[ast.Call, Scaler]]:
    """Where a program asks whether `amp.initialize` was run for an optimizer, by the mark that Apex leaves there. A
    function that only makes one is told no by any optimizer, as it was by this."""
    for node in ctx.m.calls("hasattr"):
        match node:
            case ast.Call(func=ast.Name(id="hasattr"), args=[owner, ast.Constant(value="_amp_stash")]):
                held = ctx.v.of(owner)
                scaler = next((s for s in scalers if held and held <= s.objects), None)
                scope = ctx.m.function(node)
                made = all(isinstance(o.key, ast.Call) and ctx.m.function(o.key) is scope for o in held)
                if scaler is not None and not (made and scope.is_function and not order.switches(scope.node)):
                    yield node, scaler
            case _:
                pass


def _saved_entry(unit: Unit, scalers: Sequence[Scaler], entry: ast.expr) -> None:
    if len(scalers) > 1:
        raise Manual(entry, "this unit has several scalers; which one's state is meant is not known")
    unit.review(entry, "APX071", _SAVED_ENTRY)
    if isinstance(entry, ast.Subscript) and isinstance(entry.value, ast.Subscript):
        if not isinstance(entry.value.slice, ast.Constant):
            unit.review(entry, "APX071", "an entry for each loss was read here: all are the one of the one scaler now")


def _callee_here(ctx: Context, use: ast.expr) -> bool:
    call = handed_for_state(ctx, use)
    return call is not None and bool(ctx.v.callees(call))


def _same_text_holds(ctx: Context, optimizer: ast.expr, there: ast.stmt) -> bool:
    """Whether an optimizer's expression of another function means the same at ``there``."""
    root = optimizer
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name):
        return False
    one, other = ctx.m.function(optimizer), ctx.m.function(there)
    if root.id == ctx.m.self_name(one) == ctx.m.self_name(other):
        return True
    return ctx.m.binding_scope(root.id, one) is ctx.m.binding_scope(root.id, other)


def _scaler_for(scalers: Sequence[Scaler], scale: Scale) -> Scaler:
    for scaler in scalers:
        if scaler.objects & scale.optimizer_objects:
            return scaler
    raise Manual(scale.call, "no step() of this optimizer was found in this file")
