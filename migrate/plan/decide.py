"""One unit, from its sites to everything the rules need to know; raises Manual where a proof is missing."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial

from ..units import options
from ..units.in_sight import in_sight
from ..units.steps import find_steps
from ..units.unit import Context, Manual, Unit
from .backends.foreign import chosen, foreign
from .backends.native import native_backend, unread_scaler
from .backends.saved_as import other_names
from .backends.sides import goes, sides
from .carried import OLD_STATE
from .conditions import asks_for_amp, check_attributes, check_scales, name_conditions, review_kept_flags
from .enabled import switches
from .gradients import unscaling as gradients
from .gradients.beside import in_its_own
from .gradients.fold import Fold, folds
from .gradients.half_gradients import review_half_gradients
from .home import scaling
from .home.copied import tell_copied
from .home.homes import Finder
from .home.listed_names import review_scaled_names
from .levels import review_levels
from .looked_into import review_looks
from .overflow import review_overflow_tests, review_unchecked
from .patched_forward import review_patched_forward
from .plan import Plan
from .precision import hazards
from .precision.added import review_added
from .precision.by_name import tell_taken
from .precision.filled import review_filled
from .precision.instantiated import review_instantiated
from .precision.own_input import review_own_input
from .precision.policy import tell_policy
from .precision.products import review_products
from .precision.response_norms import review_response_norms
from .precision.shown_types import review_shown_types
from .precision.sparse import review_sparse_products
from .precision.stored import review_stored
from .precision.threads import review_threads
from .precision.traced import review_traced
from .precision.wide_products import review_wide_products
from .premises import doubts, handed, plain_backwards, premises, unscaled_steps
from .premises.again import review_runs_again
from .premises.anew import review_anew
from .premises.called_elsewhere import review_called_elsewhere
from .premises.caught import check_caught
from .premises.filled_groups import review_filled_groups
from .premises.fused import review_fused
from .premises.fused_state import review_fused_state
from .premises.guarded_once import check_guarded_once
from .premises.hooked import review_products_in_hooks
from .premises.loaded import check_loaded
from .premises.replaced import check_replaced
from .premises.said_before import check_said_before
from .premises.unhooked import review_unhooked
from .premises.unmarked_functions import review_unmarked_functions
from .premises.untrained import review_public_evaluations, review_untrained
from .regions.coverage import Coverage
from .regions.gradless import review_kept_copies
from .regions.marks import Region
from .regions.planner import Planner
from .saved_contents import review_saved_contents
from .scaler_at import settle_scalers
from .schedule import Schedule
from .unreached import check_one_of_several, review_unreached

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
        read = options.read(ctx.m, ctx.conditions, init, scaled_type, partial(in_sight, ctx))
        if len(unit.initializes) == 1:
            options.begin_with(ctx.m, ctx.v, init, read)
        unit.options[init.call] = read
        for text in read.reviews:
            unit.review(init.call, "APX021", text)
        for text in read.infos:
            unit.infos.append((init.call, "APX021", text))
    if unit.off:
        unit.reviews = [said for said in unit.reviews if said[1] != "APX041"]  # no step is left out, none raises
    if state:
        review_looks(ctx, unit)
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
        check_guarded_once(ctx, unit)
        check_loaded(ctx)
        check_said_before(ctx, unit)
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
        review_scaled_names(ctx, unit)
        review_filled_groups(ctx, unit)
        review_fused(ctx, unit)
        review_fused_state(ctx, unit)
        review_unhooked(ctx, unit)
        review_products_in_hooks(ctx, unit)
        review_unmarked_functions(ctx, unit)
        review_unreached(ctx, unit)
        review_overflow_tests(ctx, unit, state)
        review_saved_contents(ctx, unit, state)
        if scaled:
            review_unchecked(unit)
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
    review_patched_forward(ctx, unit, planner)
    doubts.review_second_order(ctx, unit, planner)
    plain_backwards.review_trained_apart(ctx, unit, planner)
    doubts.review_switches(ctx, unit)
    review_untrained(ctx, unit, planner)
    review_threads(ctx, unit, planner)
    review_runs_again(ctx, unit)
    review_anew(ctx, unit, planner.ahead, planner.order)
    review_kept_copies(ctx, unit, planner.scan, map(Region.stmts, planner.regions))
    review_traced(ctx, unit, planner)
    review_instantiated(ctx, unit, planner)
    review_levels(ctx, unit)
    review_half_gradients(ctx, unit)
    plan = Plan(ctx, unit, planner, merged, schedule, state, scaled, idle=idle)
    if unit.apart:
        plan.homes, plan.scaler_at = scaling.settle(ctx, unit, schedule, state)
        switches(ctx, unit, plan, Finder(ctx, unit, schedule.scalers, planner.order))
    else:
        settle_scalers(ctx, unit, plan)
    review_public_evaluations(ctx, unit, plan)
    tell_copied(ctx, unit, schedule, plan.homes.owners)
    if not _never(plan):
        review_products(ctx, unit, planner)
    asks_for_amp(ctx, unit, plan)
    review_kept_flags(ctx, unit, plan)
    check_attributes(ctx, plan)
    check_scales(ctx, plan)
    name_conditions(ctx, unit, plan)
    if not _never(plan):
        coverage = Coverage(ctx, planner)
        plan.hazards = hazards.find(ctx, unit, coverage, merged)
        widened = {one.node for one in plan.hazards.operands}
        written = widened | review_wide_products(ctx, unit, coverage)
        tell_policy(ctx, unit, coverage, written)
        tell_taken(ctx, unit, coverage)
        review_stored(ctx, unit, coverage, widened)
        review_filled(ctx, unit, coverage)
        review_added(ctx, unit, coverage)
        review_sparse_products(ctx, unit, coverage)
        review_own_input(ctx, unit)
        review_response_norms(ctx, unit, coverage, widened)
        review_shown_types(ctx, unit, coverage, written)
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
            said
            for said in plan.unit.reviews
            if not (said in plan.uncovered and any(planner.in_region(said[0]) for planner in others))
        ]


def _foreign(ctx: Context, unit: Unit, state: list[tuple[ast.expr, str]]) -> Plan:
    """Apex's arms behind a library's switch go, and what stands beside them stays as it is."""
    found = chosen(ctx)
    assert found is not None
    for stop, switch in found.stops.items():
        whose = "is a library's switch, which nothing in this tree sets" if found is foreign(ctx) else "chooses Apex"
        unit.review(
            stop.body[0],
            "APX047",
            f"`{switch}` {whose}: a run that chooses Apex there stops here now; have it choose native mixed precision, "
            "which the arms beside this are for",
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
