"""One unit, from its sites to everything the rules need to know; raises Manual where a proof is missing."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..facts.scopes import Scope
from ..facts.sites import Initialize, Scale
from ..units import options
from ..units.conditions import Term, reads
from ..units.events import find_steps
from ..units.unit import Context, Manual, Unit
from .another_run import in_another_run
from .backends.foreign import foreign
from .backends.native import Backend, native_backend, unread_scaler
from .backends.saved_as import other_names
from .backends.sides import goes, sides
from .carried import OLD_STATE, handed_for_state, sometimes_imported
from .gradients import unscaling as gradients
from .gradients.beside import in_its_own
from .gradients.fold import Fold, folds
from .home import scaling
from .home.cases import either
from .home.guards import guard_cases, guards, terms_there
from .home.homes import Finder
from .home.own_scales import review_own_scales
from .home.places import Homes
from .home.scaling import class_of
from .home.there import object_there
from .inserted import free_name
from .levels import levels_handed, review_levels
from .overflow import review_overflow_tests
from .precision import hazards
from .precision.filled import review_filled
from .precision.hazards import Hazards
from .precision.policy import tell_policy
from .precision.products import review_products
from .precision.stored import review_stored
from .precision.threads import review_threads
from .precision.traced import review_traced
from .premises import doubts, handed, plain_backwards, premises, unscaled_steps
from .premises.again import review_runs_again
from .premises.called_elsewhere import review_called_elsewhere
from .premises.caught import check_caught
from .premises.handed import Handed
from .premises.hooked import review_products_in_hooks
from .premises.replaced import check_replaced
from .regions.gradless import review_kept_copies
from .regions.has import check_has
from .regions.made import leave_out_makers, not_made
from .regions.marks import Region
from .regions.named import Named, named
from .regions.planner import Planner
from .schedule import Scaler, Schedule
from .unreached import check_one_of_several, review_unreached

_SAVED_ENTRY = (
    "an entry of a saved state is read: the scaler's own is read now, which counts steps where Apex counted backwards; "
    "states that the legacy code saved have it under its old name, and a scaler that is switched off saves none"
)

_LEFT_OUT = "once amp.initialize had run, this was under Apex's casts, and it now runs in float32, because "
_IDLE_STATE = (
    "no loss is scaled by what is read here, so nothing asks for the state of a loss scaler: it is not saved or loaded "
    "any more"
)

_BACKEND = (
    "the native backend of this file serves here too: what runs under autocast is what it says, where Apex's casts "
    "held for the whole process; "
)
_CALLS_COMPARED = "all calls of the model were compared"
_COMPARED = "what is scaled, clipped and stepped was compared with what Apex did on every path that was followed"


def _marks(ctx: Context, scalers: Sequence[Scaler]) -> Iterator[tuple[ast.Call, Scaler]]:
    """Where a program asks whether `amp.initialize` was run for an optimizer, by the mark that Apex leaves there."""
    for node in ctx.m.calls("hasattr"):
        match node:
            case ast.Call(func=ast.Name(id="hasattr"), args=[owner, ast.Constant(value="_amp_stash")]):
                held = ctx.v.of(owner)
                scaler = next((s for s in scalers if held and held <= s.objects), None)
                if scaler is not None:
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


@dataclass(eq=False)
class Plan:
    """All decisions about one unit."""

    ctx: Context
    unit: Unit
    planner: Planner
    folds: list[Fold]
    schedule: Schedule
    state: list[tuple[ast.expr, str]]
    scaled: bool  # False: autocast alone (inference, bfloat16)
    homes: Homes = field(default_factory=Homes)
    always: bool = True  # mixed precision is never off
    enabled_at: dict[Region, str] = field(default_factory=dict)  # "" where autocast is always on
    hoist_enabled: list[str] = field(default_factory=list)
    named: list[Named] = field(default_factory=list)  # conditions that several regions of a function ask
    scaler_at: dict[ast.AST, str] = field(default_factory=dict)  # site, step, unscale or state use -> expression
    backend: Backend | None = None  # a native one of the file's own, which serves in Apex's place
    marks: list[ast.Call] = field(default_factory=list)  # `hasattr(optimizer, "_amp_stash")`
    handed: Handed | None = None  # a model that a library's runner trains
    idle: tuple[ast.stmt, ...] = ()  # what saves or loads amp's state where nothing scales a loss
    hazards: Hazards = field(default_factory=Hazards)
    left_out: frozenset[Initialize] = frozenset()  # initialize calls in arms that go as a whole


def decide(ctx: Context, unit: Unit, state: list[tuple[ast.expr, str]]) -> Plan:
    """Everything about one unit. ``state`` are the uses of the scaler's state that belong to it."""
    scaled = bool(unit.scales) and ctx.settings.dtype == "float16"
    elsewhere = [use for use, _ in state if ctx.m.class_of(ctx.m.function(use)) not in unit.beside]
    backend = native_backend(ctx, unit) if not elsewhere else None
    if unit.foreign:
        return _foreign(ctx, unit, state)
    if unit.beside_native:
        return _beside_native(ctx, unit, state)
    if backend is None and not unit.served:
        premises.check(ctx, unit)
    if state and not scaled and unit.scales:
        raise Manual(
            state[0][0],
            "bfloat16 needs no GradScaler, and this asks for the state of one",
            "drop the state of amp from the checkpoint, or migrate to float16",
        )
    for init in unit.initializes:
        scaled_type = ctx.settings.dtype == "float16"
        read = options.read(ctx.m, ctx.conditions, init, scaled=scaled_type, handed=levels_handed(ctx, init))
        if len(unit.initializes) == 1:
            options.begin_with(ctx.m, ctx.v, init, read)
        unit.options[init.call] = read
        for text in read.reviews:
            unit.review(init.call, "APX021", text)
        for text in read.infos:
            unit.infos.append((init.call, "APX021", text))
    merged: list[Fold] = []
    schedule = Schedule()
    if unit.served and state:
        raise Manual(state[0][0], "amp's state is saved beside the native scaler's: which one is meant is not known")
    if backend is not None or unit.served:
        for said in other_names(ctx, backend) if backend is not None else ():
            unit.review(unit.line_node, "APX070", said)
        made = unread_scaler(ctx, backend) if backend is not None else None
        if made is not None:
            compared = f"what {made}() scales and steps is not read here, and not compared with what Apex did"
        else:
            compared = _COMPARED if unit.initializes[0].optimizers else _CALLS_COMPARED
        unit.review(unit.initializes[0].call, "APX043", _BACKEND + compared)
        return Plan(ctx, unit, Planner(ctx, unit), merged, schedule, state, scaled and not unit.served, backend=backend)
    if unit.scales:
        plain_backwards.scale_plain_backwards(ctx, unit)
        unit.steps = in_its_own(ctx, unit, find_steps(ctx, unit)) if not unit.apart else scaling.steps(ctx, unit)
        if not unit.steps:
            raise Manual(
                unit.scales[0].call,
                "no step() of this optimizer was found in this file; its scaler has to take that step",
                "where the step is taken: scaler.step(optimizer); scaler.update()",
            )
        doubts.check_derived_elsewhere(ctx, unit)
        check_replaced(ctx, unit)
        check_one_of_several(ctx, unit)
        schedule = gradients.decide(ctx, unit)
        merged = folds(ctx, unit, schedule)
        unscaled_steps.check_steps_without_backward(ctx, unit, schedule, merged)
        plain_backwards.check_plain_backwards(ctx, unit, merged)
        premises.check_moves(ctx, unit, schedule, merged)
        check_caught(ctx, unit, schedule)
        doubts.review_hooks(ctx, unit)
        review_called_elsewhere(ctx, unit)
        review_products_in_hooks(ctx, unit)
        review_unreached(ctx, unit)
        review_overflow_tests(ctx, unit, state)
    planner = Planner(ctx, unit)
    if unit.handed:
        plan = Plan(ctx, unit, planner, merged, schedule, state, scaled)
        plan.handed, plan.homes, plan.scaler_at = handed.settle(ctx, unit, schedule, merged, state)
        return plan
    if unit.apart and not scaled:
        raise Manual(unit.line_node, "bfloat16 needs no GradScaler, and the class has nothing else to do")
    if unit.apart and not unit.initializes:
        plan = Plan(ctx, unit, planner, merged, schedule, state, scaled)
        plan.homes, plan.scaler_at = scaling.settle(ctx, unit, schedule, state)
        return plan
    idle = _idle_state(ctx, unit, state)
    planner.plan()
    doubts.review_second_order(ctx, unit, planner)
    plain_backwards.review_trained_apart(ctx, unit, planner)
    doubts.review_switches(ctx, unit)
    review_threads(ctx, unit, planner)
    review_runs_again(ctx, unit)
    review_kept_copies(ctx, unit, planner.scan, map(Region.stmts, planner.regions))
    review_traced(ctx, unit, planner)
    review_levels(ctx, unit)
    plan = Plan(ctx, unit, planner, merged, schedule, state, scaled, idle=idle)
    if unit.apart:
        plan.homes, plan.scaler_at = scaling.settle(ctx, unit, schedule, state)
        _switches(ctx, unit, plan, Finder(ctx, unit, schedule.scalers, planner.order))
    else:
        _homes(ctx, unit, plan)
    if not _never(plan):
        review_products(ctx, unit, planner)
    _asks_for_amp(ctx, unit, plan)
    _review_kept_flags(ctx, unit, plan)
    _check_attributes(ctx, plan)
    _name_conditions(ctx, unit, plan)
    if not _never(plan):
        tell_policy(ctx, unit, planner)
        review_stored(ctx, unit, planner)
        review_filled(ctx, unit, planner)
        plan.hazards = hazards.find(ctx, unit, planner, merged)
    return plan


def _idle_state(ctx: Context, unit: Unit, state: Sequence[tuple[ast.expr, str]]) -> tuple[ast.stmt, ...]:
    """The statements that save or load amp's state where no loss of the program is scaled: nobody asks for it."""
    if ctx.facts.scales or unit.apart or not all(kind in ("state_dict", "load_state_dict") for _, kind in state):
        return ()
    found = tuple(dict.fromkeys(handed.dropped(ctx, use, kind) for use, kind in state))
    for stmt in found:
        unit.review(stmt, "APX070", _IDLE_STATE)
    return found


def forget_covered(plans: Sequence[Plan]) -> None:
    """What one unit leaves out of its regions and another has in one of its own is under autocast all the same: scripts
    that are planned together share functions, and a model of each may be meant."""
    for plan in plans:
        others = [other.planner for other in plans if other is not plan]
        plan.unit.reviews = [
            (site, rule, said)
            for site, rule, said in plan.unit.reviews
            if not (said.startswith(_LEFT_OUT) and any(planner.in_region(site) for planner in others))
        ]


def _foreign(ctx: Context, unit: Unit, state: list[tuple[ast.expr, str]]) -> Plan:
    """Apex's arms behind a library's switch go, and what stands beside them stays as it is."""
    found = foreign(ctx)
    assert found is not None
    for stop, switch in found.stops.items():
        unit.review(
            stop.body[0],
            "APX047",
            f"`{switch}` is a library's switch, which nothing in this tree sets: a run that chooses Apex there stops "
            "here now; have it choose native mixed precision, which the arms beside this are for",
        )
    return Plan(ctx, unit, Planner(ctx, unit), [], Schedule(), state, scaled=False)


def _beside_native(ctx: Context, unit: Unit, state: list[tuple[ast.expr, str]]) -> Plan:
    """What chose Apex chooses the native side behind the same switch."""
    found = sides(ctx)
    assert found is not None
    unit.review(
        unit.line_node,
        "APX048",
        f"what chose Apex (`{found.switch}`) chooses the native side beside it now: what runs under autocast is what "
        f"it says, where Apex's casts held for the whole process; {_COMPARED}; Apex's levels and options mean nothing "
        "any more (at O0 nothing was cast or scaled)",
    )
    for use, kind in state:
        if kind == "load_state_dict":
            unit.review(use, "APX070", OLD_STATE)
    dead = frozenset(init for init in unit.initializes if goes(ctx, found, init.call))
    for init in unit.initializes:
        unit.options[init.call] = options.read(ctx.m, ctx.conditions, init)
        if init not in dead:
            unit.review(
                init.call,
                "APX048",
                f"this hangs on another condition than `{found.switch}`: where only this one held, Apex's casts were "
                "on, and the model runs in float32 now",
            )
    return Plan(ctx, unit, Planner(ctx, unit), [], Schedule(), state, scaled=False, left_out=dead)


def _never(plan: Plan) -> bool:
    """Whether autocast is off for good in all of the unit's regions (O0)."""
    said = [*plan.enabled_at.values(), *plan.hoist_enabled]
    return bool(said) and all(s == "False" for s in said)


# ---------------------------------------------------------------- scaler and enabled


def _homes(ctx: Context, unit: Unit, plan: Plan) -> None:
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
        for mark, scaler in _marks(ctx, scalers):
            plan.marks.append(mark)
            plan.scaler_at[mark] = finder.reach(scaler, mark, mark.args[0])
        for use, kind in plan.state:
            if kind in ("taken", "alias", "set alias", "other"):
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
            if kind == "load_state_dict":
                unit.review(
                    use,
                    "APX070",
                    OLD_STATE,
                )
            if kind == "handed" and not _callee_here(ctx, use):
                unit.review(
                    use,
                    "APX070",
                    "a function of another file was handed apex.amp and now gets the GradScaler: it may only use its "
                    "state_dict() and load_state_dict(), and state that the legacy code saved does not load "
                    "(KeyError: 'scale')",
                )
    _switches(ctx, unit, plan, finder)
    plan.homes = finder.finish()
    review_own_scales(ctx, unit, plan.homes)


def _switches(ctx: Context, unit: Unit, plan: Plan, finder: Finder) -> None:
    """What each region under autocast is switched on by."""
    sources = [pair for init in unit.initializes for pair in _own_guards(ctx, unit, init)]
    early = [x for x in (*_calls(unit), *plan.planner.statements) if plan.planner.order.early(x)]
    plan.always = all(t.value for _, t in sources) and not early and not finder.late()
    _lift(ctx, unit, plan, finder)
    for region in list(plan.planner.regions):
        stmt = region.block.body[region.first]
        before = finder.snapshot()
        try:
            plan.enabled_at[region] = _enabled(ctx, unit, plan, finder, stmt, evaluates=region.why == "evaluation")
            _check_made(ctx, plan, region, plan.enabled_at[region])
        except Manual as missing:
            finder.restore(before)
            if region.why != "evaluation" or not unit.scales:
                raise
            plan.planner.leave_out(region)
            plan.enabled_at.pop(region, None)
            unit.review(
                stmt,
                "APX031",
                f"{_LEFT_OUT}{missing.message}; to keep the casts, wrap it in torch.autocast",
            )
    for hoist in plan.planner.hoists:
        enabled = _enabled(ctx, unit, plan, finder, hoist.stmt)
        block, index = ctx.m.place[hoist.stmt]
        _check_made(ctx, plan, Region(block, index, index, "loss"), enabled)
        plan.hoist_enabled.append(enabled)


def _calls(unit: Unit) -> list[ast.Call]:
    return [x.call for x in unit.moments]


def _callee_here(ctx: Context, use: ast.expr) -> bool:
    call = handed_for_state(ctx, use)
    return call is not None and bool(ctx.v.callees(call))


def _asks_for_amp(ctx: Context, unit: Unit, plan: Plan) -> None:
    """A condition on amp itself (imported only at times) cannot outlive the import, unless that leaves a flag."""
    bound: set[str] = set()
    said = [c.anchor for c in plan.homes.creations] + [r.block.body[r.first] for r in plan.enabled_at]
    scopes = {ctx.m.scope(one) for one in said}
    for stmt in ctx.facts.imports:
        for alias in stmt.names:  # type: ignore[attr-defined]
            name = alias.asname or alias.name.split(".")[0]
            home = ctx.m.binding_scope(name, ctx.m.scope(stmt))
            here = any(ctx.m.binding_scope(name, scope) is home for scope in scopes)  # not another one's name
            if here and not sometimes_imported(ctx, home, name):
                bound.add(name)
    texts = [c.enabled.text for c in plan.homes.creations] + list(plan.enabled_at.values())
    for text in texts:
        if text and not reads(text).isdisjoint(bound):
            raise Manual(
                unit.line_node,
                f"mixed precision is on where `{text}`, and that name is only imported at times",
                "give the condition a name of its own, such as use_amp, and test that",
            )


def _review_kept_flags(ctx: Context, unit: Unit, plan: Plan) -> None:
    """A condition of mixed precision that goes on asking whether Apex is there, as imports beside it stay."""
    texts = [c.enabled.text for c in plan.homes.creations] + list(plan.enabled_at.values())
    for flag in sorted(ctx.conditions.kept_flags.intersection(*[set().union(*map(reads, filter(None, texts)))])):
        unit.review(
            unit.line_node,
            "APX020",
            f"`{flag}` is set beside imports of Apex that stay, and mixed precision hangs on it: without Apex it is "
            "off, as it was; once these imports are gone, drop the flag",
        )


def _check_attributes(ctx: Context, plan: Plan) -> None:
    """Each object that a scaler's condition may be read from has what is read: not only one of two backends."""
    for creation in plan.homes.creations:
        check_has(ctx, creation.anchor, creation.enabled.text)


def _name_conditions(ctx: Context, unit: Unit, plan: Plan) -> None:
    """What several regions of a function ask gets a name there."""
    regions = {region: region.block.body[region.first] for region in plan.planner.regions}
    hoists = [hoist.stmt for hoist in plan.planner.hoists]
    said = [*((stmt, plan.enabled_at[region]) for region, stmt in regions.items())]
    said += zip(hoists, plan.hoist_enabled, strict=True)
    plan.named = named(ctx.m, said, unit.number)

    def short(stmt: ast.stmt, text: str) -> str:
        here = (one.name for one in plan.named if one.text == text and one.function is ctx.m.function(stmt))
        return next(here, text)

    plan.enabled_at = {region: short(stmt, plan.enabled_at[region]) for region, stmt in regions.items()}
    plan.hoist_enabled = [short(*pair) for pair in zip(hoists, plan.hoist_enabled, strict=True)]


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
    """The object that ``enabled`` is read from has to be there where the region begins."""
    owner = not_made(ctx, region, enabled)
    if owner is not None and not leave_out_makers(ctx, region, enabled, plan.planner.compute.forwards):
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
    scope = ctx.m.function(stmt)
    cases: list[list[Term]] = []
    for init in _awake(ctx, unit, scope):
        around = set(ctx.m.ancestors(stmt))
        try:
            several = ways and ctx.m.function(init.call) is not scope
            every = guard_cases(ctx, unit, init, scope) if several else [guards(ctx, unit, init, None, scope)]
        except Manual as missing:  # its callers disagree
            own = guards(ctx, unit, init, None, ctx.m.function(init.call))
            return next((term.text for _, term in own if term.value is None), missing.message)
        for one in every:
            sources = [
                (expr, term)
                for expr, term in one
                if not (ctx.m.parent.get(expr) in around and isinstance(ctx.m.parent[expr], ast.If))
            ]
            said = terms_there(ctx, sources, scope)
            if isinstance(said, str):
                return said
            cases.append([term for term in said if not _moves_on(ctx, term, stmt)])
    return either(cases)


def _awake(ctx: Context, unit: Unit, scope: Scope) -> list[Initialize]:
    """The ``initialize`` calls that may run in a process that comes to a function: where it holds one itself, not those
    that only the main block of an imported file leads to, nor those of another arm of what is run."""
    mine = [init for init in unit.initializes if ctx.m.function(init.call) is scope]
    awake = [init for init in unit.initializes if init in mine or not _asleep(ctx, init.call, frozenset())]
    awake = [init for init in awake if init in mine or not in_another_run(ctx, ctx.m.function(init.call), scope)]
    return awake if mine else unit.initializes


def _asleep(ctx: Context, node: ast.AST, seen: frozenset[Scope]) -> bool:
    """Whether only main blocks of imported files lead to a node."""
    scope = ctx.m.function(node)
    if ctx.m.idle(node) or scope in seen or not scope.is_function:
        return ctx.m.idle(node) or scope in seen
    calls = ctx.v.calls[scope.node]
    return bool(calls) and all(_asleep(ctx, call, seen | {scope}) for call in calls)


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
